/* Every part that reads or makes many tokens asks whether its work is to end, and ends soon when it is. */
#include "common/base/stop.h"
#include "engine/analysis/analysis.h"

#include <check.h>
#include <stdio.h>
#include <time.h>

enum { TOKENS = 100000, DELIMITERS = 200000 };

struct asker {
    unsigned asked, yes_from;
    double when; /* the processor's time at the first yes */
};

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool ask(void *self)
{
    struct asker *a = self;
    if (++a->asked < a->yes_from) {
        return false;
    }
    a->when = used();
    return true;
}

/* Runs the parts over the text; one token too many ends it before anything is printed. */
static enum err run(const char *parts, struct str text, struct asker *a)
{
    struct settings none = {0};
    struct analysis_env env = {0};
    struct analysis *analysis;
    struct arena arena;
    struct buf request, out;
    struct jsonw w;
    struct json body;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    buf_init(&request, NULL, BUF_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(analysis_new(&analysis, &none, &env, NULL), ERR_OK);
    buf_printf(&request, "{%s,\"text\":\"", parts);
    buf_str(&request, text);
    buf_z(&request, "\"}");
    ck_assert_int_eq(json_parse(&body, buf_view(&request), &arena, &json_limits_default, NULL), ERR_OK);
    struct analyze_context cx = {.analysis = analysis, .max_token_count = 0};
    struct stop s = {.asked = ask, .self = a};
    jsonw_init(&w, &out, false);
    ERR_LOCAL(em);
    stop_enter(&s);
    enum err e = analyze_request(&cx, &body, &arena, &w, &em);
    stop_leave(&s);
    ck_assert_msg(e == ERR_OK || e == ERR_NO_MEMORY || e == ERR_ILLEGAL_STATE || s.on, "%s: %s", parts,
                  err_reason(&em));
    buf_fini(&request);
    buf_fini(&out);
    arena_fini(&arena);
    analysis_unref(analysis);
    return e;
}

static struct str repeated(const char *what, size_t n, struct buf *b)
{
    buf_reset(b);
    for (size_t i = 0; i < n; i++) {
        buf_z(b, what);
    }
    return buf_view(b);
}

static unsigned asks(const char *parts, struct str text)
{
    struct asker a = {.yes_from = UINT32_MAX};
    run(parts, text, &a);
    return a.asked;
}

/* Each over words; more than its tokenizer alone asks. */
static const char *const filters[] = {
    "\"lowercase\"",
    "\"uppercase\"",
    "{\"type\":\"lowercase\",\"language\":\"turkish\"}",
    "{\"type\":\"lowercase\",\"language\":\"irish\"}",
    "\"asciifolding\"",
    "\"decimal_digit\"",
    "\"reverse\"",
    "\"trim\"",
    "{\"type\":\"truncate\",\"length\":3}",
    "\"apostrophe\"",
    "{\"type\":\"elision\",\"articles\":[\"l\"]}",
    "\"classic\"",
    "\"unique\"",
    "\"remove_duplicates\"",
    "\"delimited_payload\"",
    "\"ngram\"",
    "\"edge_ngram\"",
    "{\"type\":\"edge_ngram\",\"side\":\"back\"}",
    "\"shingle\"",
    "{\"type\":\"common_grams\",\"common_words\":[\"one\"]}",
    "\"fingerprint\"",
    "\"cjk_bigram\"",
    "\"cjk_width\"",
    "\"stemmer\"",
    "\"snowball\"",
    "\"kstem\"",
    "\"porter_stem\"",
    "{\"type\":\"keyword_marker\",\"keywords\":[\"one\"]}",
    "\"keyword_repeat\"",
    "{\"type\":\"stemmer_override\",\"rules\":[\"one => two\"]}",
    "{\"type\":\"synonym\",\"synonyms\":[\"one, two, three\"]}",
    "{\"type\":\"synonym_graph\",\"synonyms\":[\"one, two, three\"]}",
    "{\"type\":\"multiplexer\",\"filters\":[\"lowercase\",\"uppercase\"]}",
    "\"word_delimiter\"",
    "\"word_delimiter_graph\"",
    "\"flatten_graph\"",
    "\"stop\"",
    "{\"type\":\"keep\",\"keep_words\":[\"one\"]}",
    "{\"type\":\"keep_types\",\"types\":[\"word\"]}",
    "{\"type\":\"pattern_replace\",\"pattern\":\"n\",\"replacement\":\"m\"}",
    "{\"type\":\"pattern_capture\",\"patterns\":[\"(n)\"]}",
    "\"length\"",
    "\"german_normalization\"",
    "\"arabic_normalization\"",
    "\"persian_normalization\"",
    "\"serbian_normalization\"",
    "\"scandinavian_normalization\"",
    "\"scandinavian_folding\"",
};

START_TEST(filters_ask)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct str text = repeated("one ", TOKENS, &b);
    unsigned least = TOKENS / STOP_WORK, before = asks("\"tokenizer\":\"whitespace\"", text);
    ck_assert_uint_ge(before, least);
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        char parts[256];
        snprintf(parts, sizeof(parts), "\"tokenizer\":\"whitespace\",\"filter\":[%s]", filters[i]);
        unsigned n = asks(parts, text);
        ck_assert_msg(n >= before + least, "%s: %u and %u", filters[i], before, n);
    }
    buf_fini(&b);
}
END_TEST

static const char *const tokenizers[] = {
    "\"standard\"",
    "\"uax_url_email\"",
    "\"classic\"",
    "\"whitespace\"",
    "\"letter\"",
    "\"lowercase\"",
    "{\"type\":\"char_group\",\"tokenize_on_chars\":[\" \"]}",
    "\"ngram\"",
    "{\"type\":\"edge_ngram\",\"token_chars\":[\"letter\"]}",
    "\"pattern\"",
    "{\"type\":\"pattern\",\"pattern\":\" \"}",
    "{\"type\":\"simple_pattern\",\"pattern\":\"one\"}",
    "{\"type\":\"simple_pattern_split\",\"pattern\":\" \"}",
    "{\"type\":\"path_hierarchy\",\"delimiter\":\" \"}",
    "{\"type\":\"path_hierarchy\",\"delimiter\":\" \",\"reverse\":true}",
    "\"thai\"",
};

START_TEST(tokenizers_ask)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct str text = repeated("one ", TOKENS, &b);
    for (size_t i = 0; i < ARRAY_LEN(tokenizers); i++) {
        char parts[256];
        snprintf(parts, sizeof(parts), "\"tokenizer\":%s", tokenizers[i]);
        unsigned n = asks(parts, text);
        ck_assert_msg(n >= TOKENS / STOP_WORK, "%s: %u", tokenizers[i], n);
    }
    buf_fini(&b);
}
END_TEST

/* What would take seconds to hours. */
static const struct {
    const char *parts, *piece;
    size_t n;
} long_ones[] = {
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[\"uppercase\"]", "/a", DELIMITERS},
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[\"lowercase\"]", "/A", DELIMITERS},
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[\"ngram\"]", "/a", DELIMITERS},
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[\"word_delimiter_graph\"]", "/a", DELIMITERS},
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[\"stemmer\"]", "/a", DELIMITERS},
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[\"stop\",\"asciifolding\"]", "/a", DELIMITERS},
    {"\"tokenizer\":\"path_hierarchy\",\"filter\":[{\"type\":\"pattern_replace\",\"pattern\":\"a\","
     "\"replacement\":\"b\"}]",
     "/a", DELIMITERS},
    {"\"tokenizer\":\"keyword\",\"filter\":[\"edge_ngram\",\"word_delimiter\",\"flatten_graph\"]", "aB-",
     DELIMITERS},
    {"\"tokenizer\":{\"type\":\"simple_pattern\",\"pattern\":\"a*b\"}", "aa", DELIMITERS},
    {"\"tokenizer\":\"classic\"", "a_", DELIMITERS},
    {"\"tokenizer\":{\"type\":\"uax_url_email\",\"max_token_length\":1000000}", "a!", DELIMITERS},
    {"\"tokenizer\":\"keyword\",\"filter\":[{\"type\":\"multiplexer\",\"filters\":[\"word_delimiter\"]}]",
     "a1", DELIMITERS},
    {"\"tokenizer\":\"keyword\",\"char_filter\":[\"html_strip\"]", "<script><!-- ", DELIMITERS},
};

START_TEST(long_ones_end)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < ARRAY_LEN(long_ones); i++) {
        struct asker a = {.yes_from = 20};
        struct str text = repeated(long_ones[i].piece, long_ones[i].n, &b);
        run(long_ones[i].parts, text, &a);
        double end = used();
        ck_assert_msg(a.asked < a.yes_from || end - a.when < 0.1, "%s: %.3f s", long_ones[i].parts,
                      end - a.when);
    }
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stops of analysis");
    TCase *tc = tcase_create("all");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, filters_ask);
    tcase_add_test(tc, tokenizers_ask);
    tcase_add_test(tc, long_ones_end);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
