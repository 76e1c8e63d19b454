/* Queries that documents hold: whatever a random one matches has one of the terms that it needs, or the query is a candidate for all;
 * and with little memory it is refused, and nothing else happens. */
#include "engine/query/held_query.h"
#include "engine/query/percolate.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdio.h>

struct held_rig {
    struct settings settings;
    struct analysis *analysis;
    struct mapping *mapping;
    struct arena arena; /* of what lives throughout */
    struct rng rng;
};

static const struct json *json_of(struct str text, struct arena *a)
{
    struct json *j = ARENA_NEW(a, struct json);
    ck_assert(j != NULL && json_parse(j, text, a, &json_limits_default, NULL) == ERR_OK);
    return j;
}

static void held_open(struct held_rig *r, uint64_t seed)
{
    struct analysis_env env = {0};
    rng_seed(&r->rng, seed);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    settings_init(&r->settings, &r->arena);
    ck_assert_int_eq(analysis_new(&r->analysis, &r->settings, &env, NULL), ERR_OK);
    const struct json *body = json_of(STR("{\"properties\":{\"q\":{\"type\":\"percolator\"},\"t\":{\"type\":"
                                          "\"text\"},\"k\":{\"type\":\"keyword\"},"
                                          "\"n\":{\"type\":\"integer\"},\"o\":{\"type\":\"nested\","
                                          "\"properties\":{\"k\":{\"type\":\"keyword\"}}}}}"),
                                      &r->arena);
    ck_assert_int_eq(mapping_new(&r->mapping, body, r->analysis, &r->settings, NULL), ERR_OK);
}

static void held_close(struct held_rig *r)
{
    mapping_unref(r->mapping);
    analysis_unref(r->analysis);
    arena_fini(&r->arena);
}

static struct query_context context(const struct held_rig *r, struct arena *a)
{
    return (struct query_context){.mapping = r->mapping,
                                  .arena = a,
                                  .index_name = STR("i"),
                                  .index_uuid = STR("u"),
                                  .clauses_max = 1024,
                                  .depth_max = QUERY_DEPTH_MAX,
                                  .index_settings = &r->settings,
                                  .allow_expensive = true};
}

static void put_words(struct rng *rng, struct buf *b, unsigned most)
{
    for (unsigned i = 0, n = 1 + (unsigned)rng_below(rng, most); i < n; i++) {
        buf_printf(b, "%sw%u", i > 0 ? " " : "", (unsigned)rng_below(rng, 6));
    }
}

static void put_query(struct rng *rng, struct buf *b, unsigned depth)
{
    static const char *const occurs[] = {"must", "filter", "should", "must_not"};
    unsigned kind = (unsigned)rng_below(rng, depth > 0 ? 12 : 8);
    switch (kind) {
    case 0:
        buf_printf(b, "{\"term\":{\"k\":\"w%u\"}}", (unsigned)rng_below(rng, 6));
        break;
    case 1:
        buf_printf(b, "{\"terms\":{\"k\":[\"w%u\",\"w%u\"]}}", (unsigned)rng_below(rng, 6),
                   (unsigned)rng_below(rng, 6));
        break;
    case 2:
    case 3:
        buf_z(b, kind == 2 ? "{\"match\":{\"t\":\"" : "{\"match_phrase\":{\"t\":\"");
        put_words(rng, b, 3);
        buf_z(b, "\"}}");
        break;
    case 4:
        buf_printf(b, "{\"range\":{\"n\":{\"gte\":%u}}}", (unsigned)rng_below(rng, 4));
        break;
    case 5:
        buf_z(b, rng_below(rng, 2) == 0 ? "{\"match_all\":{}}" : "{\"match_none\":{}}");
        break;
    case 6:
        buf_printf(b, "{\"match_phrase_prefix\":{\"t\":\"w%u w\"}}", (unsigned)rng_below(rng, 6));
        break;
    case 7:
        buf_printf(b, "{\"nested\":{\"path\":\"o\",\"query\":{\"term\":{\"o.k\":\"w%u\"}}}}",
                   (unsigned)rng_below(rng, 6));
        break;
    case 8:
        buf_z(b, "{\"dis_max\":{\"queries\":[");
        put_query(rng, b, depth - 1);
        buf_char(b, ',');
        put_query(rng, b, depth - 1);
        buf_z(b, "]}}");
        break;
    case 9:
        buf_z(b, "{\"constant_score\":{\"filter\":");
        put_query(rng, b, depth - 1);
        buf_z(b, "}}");
        break;
    default:
        buf_z(b, "{\"bool\":{");
        for (unsigned i = 0; i < ARRAY_LEN(occurs); i++) {
            buf_printf(b, "%s\"%s\":[", i > 0 ? "," : "", occurs[i]);
            for (unsigned k = 0, n = (unsigned)rng_below(rng, 3); k < n; k++) {
                buf_z(b, k > 0 ? "," : "");
                put_query(rng, b, depth - 1);
            }
            buf_char(b, ']');
        }
        if (rng_below(rng, 3) == 0) {
            buf_printf(b, ",\"minimum_should_match\":%u", (unsigned)rng_below(rng, 3));
        }
        buf_z(b, "}}");
    }
}

/* {"percolate": ...} of random documents. */
static void put_percolate(struct rng *rng, struct buf *b)
{
    buf_z(b, "{\"percolate\":{\"field\":\"q\",\"documents\":[");
    for (unsigned i = 0, n = 1 + (unsigned)rng_below(rng, 3); i < n; i++) {
        buf_z(b, i > 0 ? ",{\"t\":\"" : "{\"t\":\"");
        put_words(rng, b, 4);
        buf_printf(b, "\",\"k\":\"w%u\",\"n\":%u,\"new\":\"w1\"", (unsigned)rng_below(rng, 6),
                   (unsigned)rng_below(rng, 4));
        if (rng_below(rng, 2) == 0) {
            buf_printf(b, ",\"o\":[{\"k\":\"w%u\"}]", (unsigned)rng_below(rng, 6));
        }
        buf_char(b, '}');
    }
    buf_z(b, "]}}");
}

static bool is_candidate(const struct percolate *p, const struct held_query *held)
{
    const struct query *docs = p->candidates->one.child;
    for (uint32_t i = 0; i < held->n; i++) {
        for (uint32_t k = 0; k < docs->terms.n; k++) {
            if (str_eq(held->terms[i], docs->terms.v[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool matches_any(const struct percolate *p, const struct query *q, struct arena *a)
{
    struct weight_context cx = percolate_context(p, a);
    const struct weight *w;
    struct scorer *s;
    ck_assert_int_eq(weight_new(&w, &cx, q, NEED_NO_SCORES, NULL), ERR_OK);
    ck_assert_int_eq(weight_scorer(w, &p->leaf, a, &s, NULL), ERR_OK);
    while (s != NULL && s->ops->next(s) != DOC_END) {
        if (scorer_accepts(s)) {
            return true;
        }
    }
    return false;
}

START_TEST(candidates_hold_all_that_match)
{
    struct held_rig r;
    struct held_query_reader reader;
    unsigned n_matches = 0, n_left_out = 0;
    held_open(&r, 7);
    held_query_reader_init(&reader, STR("i"), STR("u"), &r.settings, 0, false);
    for (int round = 0; round < 3000; round++) {
        struct arena a;
        struct buf text, docs;
        struct held_query held = {0};
        const struct query *percolate, *q;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        buf_init(&text, NULL, BUF_UNLIMITED);
        buf_init(&docs, NULL, BUF_UNLIMITED);
        put_query(&r.rng, &text, 3);
        put_percolate(&r.rng, &docs);
        struct query_context cx = context(&r, &a);
        const struct json *tree = json_of(buf_view(&text), &a);
        ck_assert_int_eq(reader.base.read(&reader.base, r.mapping, tree, buf_view(&text), &a, &held, NULL),
                         ERR_OK);
        ck_assert_int_eq(query_build(&percolate, &cx, json_of(buf_view(&docs), &a), NULL), ERR_OK);
        ck_assert_int_eq(held_query_build(&q, &cx, tree, buf_view(&text), NULL), ERR_OK);
        const struct percolate *p = percolate_of(percolate);
        cx.view = &p->view;
        bool matches = matches_any(p, q, &a), candidate = is_candidate(p, &held);
        ck_assert_msg(!matches || candidate, "%.*s of %.*s", STR_ARG(buf_view(&text)),
                      STR_ARG(buf_view(&docs)));
        n_matches += matches;
        n_left_out += !candidate;
        buf_fini(&text);
        buf_fini(&docs);
        arena_fini(&a);
    }
    ck_assert_uint_gt(n_matches, 300);
    ck_assert_uint_gt(n_left_out, 300);
    held_close(&r);
}
END_TEST

START_TEST(little_memory)
{
    struct held_rig r;
    bool whole = false;
    struct str text = STR(
        "{\"percolate\":{\"field\":\"q\",\"documents\":[{\"t\":\"a b\",\"u\":1},{\"o\":[{\"k\":\"x\"}]}]}}");
    held_open(&r, 9);
    for (size_t room = 0; !whole && room < 4 * MIB; room += 4 * KIB) {
        struct arena a;
        const struct query *q;
        arena_init(&a, NULL, room);
        struct query_context cx = context(&r, &a);
        enum err e = query_build(&q, &cx, json_of(text, &r.arena), NULL);
        ck_assert(e == ERR_OK || e == ERR_NO_MEMORY);
        whole = e == ERR_OK;
        arena_fini(&a);
    }
    ck_assert(whole);
    held_close(&r);
}
END_TEST

/* The terms that a query needs, one behind the other; NUL is shown as ':'. */
static struct str needed(const struct held_rig *r, const char *query, struct arena *a)
{
    struct held_query_reader reader;
    struct held_query held = {0};
    struct buf b;
    held_query_reader_init(&reader, STR("i"), STR("u"), &r->settings, 0, false);
    ck_assert_int_eq(
        reader.base.read(&reader.base, r->mapping, json_of(str_of(query), a), str_of(query), a, &held, NULL),
        ERR_OK);
    buf_init(&b, a->alloc, BUF_UNLIMITED);
    for (uint32_t i = 0; i < held.n; i++) {
        for (size_t k = 0; k < held.terms[i].n; k++) {
            buf_char(&b, held.terms[i].p[k] == 0 ? ':' : held.terms[i].p[k]);
        }
        buf_char(&b, ' ');
    }
    struct str s = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return s;
}

START_TEST(terms_of_kinds)
{
    static const struct {
        const char *query, *terms;
    } cases[] = {
        {"{\"term\":{\"k\":\"a\"}}", "k:a "},
        {"{\"match\":{\"t\":\"a b\"}}", "t:a t:b "},
        {"{\"match\":{\"t\":{\"query\":\"a bbb\",\"operator\":\"and\"}}}", "t:bbb "},
        {"{\"match_phrase\":{\"t\":\"a bbb\"}}", "t:bbb "},
        {"{\"range\":{\"n\":{\"gte\":1}}}", "* "},
        {"{\"match_all\":{}}", "* "},
        {"{\"match_none\":{}}", ""},
        {"{\"prefix\":{\"k\":\"a\"}}", "* "},
        {"{\"bool\":{\"must\":[{\"range\":{\"n\":{\"gte\":1}}},{\"term\":{\"k\":\"a\"}}]}}", "k:a "},
        {"{\"bool\":{\"must\":{\"match\":{\"t\":\"a b\"}},\"filter\":{\"term\":{\"k\":\"a\"}}}}", "k:a "},
        {"{\"bool\":{\"should\":[{\"range\":{\"n\":{\"gte\":1}}},{\"term\":{\"k\":\"a\"}}]}}", "* "},
        {"{\"bool\":{\"must_not\":{\"term\":{\"k\":\"a\"}}}}", "* "},
        {"{\"bool\":{\"must_not\":{\"term\":{\"k\":\"a\"}},\"should\":{\"term\":{\"k\":\"b\"}}}}", "k:b "},
        {"{\"bool\":{\"filter\":{\"match_all\":{}},\"should\":{\"term\":{\"k\":\"b\"}}}}", "* "},
        {"{\"nested\":{\"path\":\"o\",\"query\":{\"term\":{\"o.k\":\"b\"}}}}", "o.k:b "},
        {"{\"ids\":{\"values\":[\"1\"]}}", "* "},
    };
    struct held_rig r;
    held_open(&r, 8);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str got = needed(&r, cases[i].query, &r.arena);
        ck_assert_msg(str_is(got, cases[i].terms), "%s: %.*s", cases[i].query, STR_ARG(got));
    }
    held_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("held_query");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, candidates_hold_all_that_match);
    tcase_add_test(c, little_memory);
    tcase_add_test(c, terms_of_kinds);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
