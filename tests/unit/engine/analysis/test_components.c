/* Every part of analysis against recorded answers (analysis_cases.h), on hostile bytes, and without memory.
 */
#include "common/base/memory_account.h"
#include "common/base/rand.h"
#include "engine/analysis/analysis.h"
#include "engine/analysis/offset_map.h"
#include "tests/unit/engine/analysis/analysis_cases.h"

#include <check.h>
#include <stdio.h>

static struct analysis *registry(const char *json, struct errmsg *em)
{
    struct arena arena;
    struct json v;
    struct settings s;
    struct analysis_env env = {0};
    struct analysis *a = NULL;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&s, &arena);
    if (json != NULL) {
        ck_assert_int_eq(json_parse(&v, str_of(json), &arena, &json_limits_default, em), ERR_OK);
        ck_assert_int_eq(settings_from_json(&s, &v, STR("index"), em), ERR_OK);
    }
    enum err e = analysis_new(&a, &s, &env, em);
    ck_assert((e == ERR_OK) == (a != NULL));
    arena_fini(&arena);
    return a;
}

static enum err ask(struct analysis *a, const char *body, struct arena *arena, struct buf *out,
                    struct errmsg *em)
{
    struct arena parsed;
    struct json v;
    struct jsonw w;
    struct analyze_context cx = {.analysis = a, .max_token_count = 10000};
    arena_init(&parsed, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(json_parse(&v, str_of(body), &parsed, &json_limits_default, em), ERR_OK);
    buf_reset(out);
    jsonw_init(&w, out, false);
    enum err e = analyze_request(&cx, &v, arena, &w, em);
    arena_fini(&parsed);
    return e;
}

static void compact(struct buf *b, const struct json *tokens)
{
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct json *t = &tokens->items[i], *length = json_get(t, "positionLength");
        struct str text = json_text(json_get(t, "token"));
        buf_z(b, i > 0 ? " " : "");
        for (size_t k = 0; k < text.n; k++) {
            if (text.p[k] == '\n') {
                buf_z(b, "\\n");
            } else {
                buf_char(b, text.p[k] == ' ' ? '~' : text.p[k]);
            }
        }
        buf_printf(b, "|%.*s-%.*s|%.*s", STR_ARG(json_text(json_get(t, "start_offset"))),
                   STR_ARG(json_text(json_get(t, "end_offset"))),
                   STR_ARG(json_text(json_get(t, "position"))));
        if (length != NULL) {
            buf_printf(b, ":%.*s", STR_ARG(json_text(length)));
        }
        buf_printf(b, "|%.*s", STR_ARG(json_text(json_get(t, "type"))));
    }
}

START_TEST(recorded)
{
    ERR_LOCAL(em);
    struct analysis *a = registry(NULL, &em);
    struct buf out, got;
    buf_init(&out, NULL, BUF_UNLIMITED);
    buf_init(&got, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < ARRAY_LEN(analysis_cases); i++) {
        struct arena arena;
        struct json v;
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        err_clear(&em);
        enum err e = ask(a, analysis_cases[i].body, &arena, &out, &em);
        buf_reset(&got);
        buf_z(&got, "");
        if (e != ERR_OK) {
            buf_printf(&got, "! %s", err_type(err_code(&em)));
        } else {
            ck_assert_int_eq(json_parse(&v, buf_view(&out), &arena, &json_limits_default, &em), ERR_OK);
            compact(&got, json_get(&v, "tokens"));
        }
        ck_assert_msg(str_is(buf_view(&got), analysis_cases[i].want), "%s\n  want %s\n  got  %s",
                      analysis_cases[i].body, analysis_cases[i].want, got.p);
        arena_fini(&arena);
    }
    buf_fini(&out);
    buf_fini(&got);
    analysis_unref(a);
}
END_TEST

/* Each request again with an arena that refuses its 1st, 2nd, 3rd ... chunk: an error or the same answer,
 * never less. */
START_TEST(without_memory)
{
    ERR_LOCAL(em);
    struct analysis *a = registry(NULL, &em);
    struct buf out, whole;
    buf_init(&out, NULL, BUF_UNLIMITED);
    buf_init(&whole, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < ARRAY_LEN(analysis_cases); i++) {
        struct arena arena;
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        enum err want = ask(a, analysis_cases[i].body, &arena, &whole, &em);
        arena_fini(&arena);
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
            struct alloc_failing failing;
            alloc_failing_init(&failing, n);
            arena_init(&arena, &failing.base, ARENA_UNLIMITED);
            enum err e = ask(a, analysis_cases[i].body, &arena, &out, &em);
            fired = failing.fired;
            ck_assert_msg(fired || (e == want && (e != ERR_OK || str_eq(buf_view(&out), buf_view(&whole)))),
                          "%s", analysis_cases[i].body);
            ck_assert_msg(e != ERR_OK || str_eq(buf_view(&out), buf_view(&whole)), "%s: %s",
                          analysis_cases[i].body, out.p);
            arena_fini(&arena);
        }
    }
    buf_fini(&out);
    buf_fini(&whole);
    analysis_unref(a);
}
END_TEST

/* A text that grows without end comes to the ceiling of its request, and its offsets never wrap. */
START_TEST(expansion_is_bounded)
{
    static const char *const bodies[] = {"{\"tokenizer\":\"keyword\",\"char_filter\":[{\"type\":\"pattern_"
                                         "replace\",\"pattern\":\"a\",\"replacement\":\"%s\"}],"
                                         "\"text\":\"%s\"}",
                                         "{\"tokenizer\":\"keyword\",\"char_filter\":[{\"type\":\"mapping\","
                                         "\"mappings\":[\"a=>%s\"]}],\"text\":\"%s\"}",
                                         "{\"tokenizer\":\"keyword\",\"filter\":[{\"type\":\"pattern_"
                                         "replace\",\"pattern\":\"a\",\"replacement\":\"%s\"}],"
                                         "\"text\":\"%s\"}"};
    static char many_b[5001], many_a[5001];
    struct memory_limits limits = {.heap = GIB, .request_bytes = 2 * MIB};
    for (unsigned i = 0; i < MEMORY_PARTS; i++) {
        limits.limit[i] = MEMORY_UNLIMITED;
    }
    ERR_LOCAL(em);
    struct analysis *a = registry(NULL, &em);
    struct arena arena;
    struct remap r;
    memory_limits_set(&limits);
    memset(many_b, 'b', sizeof(many_b) - 1);
    memset(many_a, 'a', sizeof(many_a) - 1);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct buf body, out;
        buf_init(&body, NULL, BUF_UNLIMITED);
        buf_init(&out, NULL, BUF_UNLIMITED);
        const char *first = strstr(bodies[i], "%s"), *second = strstr(first + 2, "%s");
        buf_add(&body, bodies[i], (size_t)(first - bodies[i]));
        buf_z(&body, many_b);
        buf_add(&body, first + 2, (size_t)(second - first - 2));
        buf_z(&body, many_a);
        buf_z(&body, second + 2);
        memory_request_arena(&arena);
        ck_assert_int_eq(ask(a, body.p, &arena, &out, &em), ERR_NO_MEMORY);
        ck_assert(str_starts(str_of(err_reason(&em)), STR("[request] Data too large")));
        arena_fini(&arena);
        buf_fini(&body);
        buf_fini(&out);
    }
    memory_request_arena(&arena);
    remap_init(&r, STR("aaaa"), &arena);
    for (size_t i = 1; i <= 4; i++) {
        for (unsigned k = 0; k < 1000; k++) {
            remap_replace(&r, i, str_mk(many_b, 5000));
        }
    }
    ck_assert((r.failed || r.out.failed) && r.out.cap <= 2 * MIB + 1);
    remap_fini(&r);
    arena_fini(&arena);
    limits.request_bytes = GIB;
    memory_limits_set(&limits);
    analysis_unref(a);
}
END_TEST

static void check_tokens(const struct token_list *l, size_t length, const char *name)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct token *t = &l->v[i];
        ck_assert_msg(t->start <= t->end && t->end <= length, "%s: %u-%u of %zu", name, t->start, t->end,
                      length);
        ck_assert_msg(t->pos_inc >= 0 && t->type != NULL, "%s: increment %d", name, t->pos_inc);
    }
}

static const char hostile_settings[] =
    "{\"analysis\":{\"char_filter\":{\"m\":{\"type\":\"mapping\",\"mappings\":[\"a=>bcd\","
    "\"\\u4e0a\\u6d77=>x\",\"ef=>\"]},"
    "\"p\":{\"type\":\"pattern_replace\",\"pattern\":\"[a-c]+\",\"replacement\":\"\\u4e0a$0\"}},"
    "\"filter\":{\"s\":{\"type\":\"synonym_graph\",\"synonyms\":[\"a,b c\",\"d e=>f\"]},"
    "\"w\":{\"type\":\"word_delimiter_graph\",\"catenate_all\":true,\"preserve_original\":true}},"
    "\"analyzer\":{\"one\":{\"tokenizer\":\"standard\",\"char_filter\":[\"html_strip\",\"m\",\"p\"],"
    "\"filter\":[\"lowercase\",\"s\","
    "\"flatten_graph\",\"shingle\"]},\"two\":{\"tokenizer\":\"whitespace\",\"char_filter\":[\"p\",\"html_"
    "strip\"],\"filter\":[\"w\","
    "\"asciifolding\",\"cjk_width\",\"german_normalization\",\"edge_ngram\"]},\"three\":{\"tokenizer\":"
    "\"classic\"},"
    "\"four\":{\"tokenizer\":\"uax_url_email\",\"filter\":[\"reverse\",\"trim\",\"apostrophe\"]},"
    "\"five\":{\"tokenizer\":\"ngram\",\"filter\":[\"cjk_bigram\",\"uppercase\",\"decimal_digit\"]},"
    "\"six\":{\"tokenizer\":\"path_hierarchy\",\"filter\":[\"ngram\",\"unique\"]},\"seven\":{"
    "\"tokenizer\":\"thai\"}}}}";
static const char *const hostile_analyzers[] = {
    "one",    "two",    "three",      "four", "five",        "six",     "seven",  "standard", "english",
    "french", "german", "portuguese", "cjk",  "fingerprint", "pattern", "simple", "russian"};
static const char *const hostile_bits[] = {"<",
                                           ">",
                                           "</b>",
                                           "<!--",
                                           "&#x1F600;",
                                           "&",
                                           "a",
                                           "b",
                                           "c",
                                           "上",
                                           "海",
                                           "😀",
                                           "é",
                                           " ",
                                           "\xff",
                                           "\xe4",
                                           "\xf0\x9f",
                                           "\xcc\x81",
                                           "'",
                                           "\"",
                                           "א",
                                           "#",
                                           "\xef\xb8\x8f",
                                           "\xe2\x83\xa3",
                                           "🏽",
                                           "\xe2\x80\x8d",
                                           "1",
                                           ".",
                                           "/",
                                           "-",
                                           "@",
                                           "x.com",
                                           "http://",
                                           "\n",
                                           "İ",
                                           "ß"};

/* Text is UTF-8 when it comes from JSON; whatever else comes must do no harm. */
START_TEST(hostile_bytes)
{
    ERR_LOCAL(em);
    struct analysis *a = registry(hostile_settings, &em);
    struct rng rng;
    rng_seed(&rng, 20);
    ck_assert_msg(a != NULL, "%s", err_reason(&em));
    for (unsigned round = 0; round < 3000; round++) {
        struct arena arena;
        struct token_list l;
        char text[256];
        size_t n = 0;
        for (uint64_t k = rng_below(&rng, 20); k > 0; k--) {
            const char *bit = hostile_bits[rng_below(&rng, ARRAY_LEN(hostile_bits))];
            memcpy(text + n, bit, strlen(bit));
            n += strlen(bit);
        }
        const char *name = hostile_analyzers[rng_below(&rng, ARRAY_LEN(hostile_analyzers))];
        const struct analyzer *an = analysis_analyzer(a, str_of(name));
        ck_assert_msg(an != NULL, "%s", name);
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        token_list_init(&l, &arena);
        ck_assert_msg(analyzer_run(an, str_mk(text, n), &l, &em) == ERR_OK, "%s: %s", name, err_reason(&em));
        check_tokens(&l, n, name);
        arena_fini(&arena);
    }
    analysis_unref(a);
}
END_TEST

START_TEST(definitions_refused)
{
    static const struct {
        const char *settings;
        enum err want;
    } cases[] = {
        {"{\"analysis\":{\"analyzer\":{\"a\":{\"tokenizer\":\"nope\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"analyzer\":{\"_a\":{\"tokenizer\":\"standard\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"analyzer\":{\"default_index\":{\"tokenizer\":\"standard\"}}}}",
         ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"analyzer\":{\"a\":{\"type\":\"nope\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"analyzer\":{\"a\":{\"filter\":\"lowercase\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"filter\":{\"x\":\"lowercase\"}}}", ERR_SETTINGS},
        {"{\"analysis\":{\"filter\":{\"x\":{\"a\":\"b\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"filter\":{\"x\":{\"type\":\"length\",\"min\":\"y\"}}}}", ERR_SETTINGS},
        {"{\"analysis\":{\"normalizer\":{\"x\":{\"filter\":\"stop\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"normalizer\":{\"x\":{\"char_filter\":\"html_strip\"}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"analysis\":{\"char_filter\":{\"x\":{\"type\":\"pattern_replace\",\"pattern\":\"(\"}}}}",
         ERR_PATTERN_SYNTAX},
        {"{\"analysis\":{\"analyzer\":{\"a\":{\"tokenizer\":\"standard\",\"filter\":\"synonym\"}}}}",
         ERR_ILLEGAL_ARGUMENT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ERR_LOCAL(em);
        struct analysis *a = registry(cases[i].settings, &em);
        ck_assert_msg(a == NULL && err_code(&em) == cases[i].want, "%s: %s", cases[i].settings,
                      err_reason(&em));
    }
}
END_TEST

START_TEST(defaults_and_normalizers)
{
    ERR_LOCAL(em);
    struct arena arena;
    struct str out;
    struct analysis *a = registry(
        "{\"analysis\":{\"analyzer\":{\"default\":{\"type\":\"english\"},\"gap\":{\"tokenizer\":\"standard\","
        "\"position_increment_gap\":7}},\"normalizer\":{\"n\":{\"filter\":[\"lowercase\",\"asciifolding\"]}}}"
        "}",
        &em);
    ck_assert_ptr_nonnull(a);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    ck_assert_ptr_eq(analysis_default(a), analysis_analyzer(a, STR("default")));
    ck_assert_ptr_eq(analysis_default_search(a), analysis_default(a));
    ck_assert_ptr_null(analysis_analyzer(a, STR("nope")));
    ck_assert_ptr_eq(analysis_analyzer(a, STR("french")), analysis_analyzer(a, STR("french")));
    ck_assert_int_eq(analysis_analyzer(a, STR("gap"))->position_increment_gap, 7);
    ck_assert_int_eq(
        analyzer_normalize(analysis_normalizer(a, STR("n")), STR("Éclair THE"), &arena, &out, &em), ERR_OK);
    ck_assert(str_is(out, "eclair the"));
    /* wildcard terms: lower case, but neither stemmed nor dropped */
    ck_assert_int_eq(analyzer_normalize(analysis_default(a), STR("The Running"), &arena, &out, &em), ERR_OK);
    ck_assert(str_is(out, "the running"));
    ck_assert_ptr_nonnull(analysis_normalizer(a, STR("lowercase")));
    arena_fini(&arena);
    analysis_unref(analysis_ref(a));
    analysis_unref(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("components");
    TCase *tc = tcase_create("all");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, recorded);
    tcase_add_test(tc, without_memory);
    tcase_add_test(tc, expansion_is_bounded);
    tcase_add_test(tc, hostile_bytes);
    tcase_add_test(tc, definitions_refused);
    tcase_add_test(tc, defaults_and_normalizers);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
