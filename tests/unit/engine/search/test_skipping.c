/* Skipping changes nothing: the first k of a search that may leave documents out equal, bit for bit, the
 * first k of one that looks at all of them; and totals are as exact as promised. Random documents, random
 * queries, several segments, deletions. */
#include "engine/index/engine.h"
#include "engine/search/search_cost.h"
#include "tests/seams/clock_sim.h"
#include "tests/seams/fs_mem.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCS  9000
#define WORDS 60

struct shard_rig {
    struct fs_mem *disk;
    struct clock_sim clock;
    struct settings settings;
    struct analysis *analysis;
    struct mapping *mapping;
    struct engine *engine;
    struct arena arena; /* of what lives throughout */
    struct rng rng;
};

static const struct json *json_of(const char *text, struct arena *a)
{
    struct json *j = ARENA_NEW(a, struct json);
    ck_assert(j != NULL && json_parse(j, str_of(text), a, &json_limits_default, NULL) == ERR_OK);
    return j;
}

/* Low numbers are frequent; each word's frequency within a document varies too. */
static unsigned random_word(struct rng *r)
{
    double x = rng_double(r);
    return (unsigned)(x * x * x * WORDS);
}

static void random_text(struct rng *r, char *to, size_t size)
{
    unsigned n = 1 + (unsigned)rng_below(r, rng_below(r, 8) == 0 ? 150 : 25);
    size_t at = 0;
    for (unsigned i = 0; i < n && at + 8 < size; i++) {
        at += (size_t)snprintf(to + at, size - at, "w%u ", random_word(r));
    }
}

static void index_one(struct shard_rig *rig, unsigned i)
{
    char text[1200], source[1500], id[16];
    struct arena a;
    struct parsed_doc doc;
    struct engine_result res;
    struct engine_op op = ENGINE_OP_INIT;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    random_text(&rig->rng, text, sizeof(text));
    snprintf(source, sizeof(source), "{\"body\":\"%s\",\"tag\":\"t%u\",\"n\":%u}", text,
             (unsigned)rng_below(&rig->rng, 4), (unsigned)rng_below(&rig->rng, 1000));
    snprintf(id, sizeof(id), "%u", i);
    struct source_to_parse in = {
        .index_name = STR("i"), .id = str_of(id), .source = str_of(source), .dynamic_allowed = true};
    ck_assert_int_eq(document_parse(&doc, rig->mapping, &in, &a, NULL), ERR_OK);
    op.kind = OP_INDEX;
    op.origin = ORIGIN_PRIMARY;
    op.primary_term = 1;
    op.id = in.id;
    op.source = in.source;
    op.doc = &doc;
    ck_assert_int_eq(engine_apply(rig->engine, &op, &res, NULL), ERR_OK);
    arena_fini(&a);
}

static void delete_one(struct shard_rig *rig, unsigned i)
{
    char id[16];
    struct engine_result res;
    struct engine_op op = ENGINE_OP_INIT;
    snprintf(id, sizeof(id), "%u", i);
    op.kind = OP_DELETE;
    op.origin = ORIGIN_PRIMARY;
    op.primary_term = 1;
    op.id = str_of(id);
    ck_assert_int_eq(engine_apply(rig->engine, &op, &res, NULL), ERR_OK);
}

static void rig_open(struct shard_rig *rig, uint64_t seed, unsigned docs, bool deletions)
{
    memset(rig, 0, sizeof(*rig));
    rng_seed(&rig->rng, seed);
    arena_init(&rig->arena, NULL, ARENA_UNLIMITED);
    rig->disk = fs_mem_new();
    clock_sim_init(&rig->clock, 1600000000000);
    settings_init(&rig->settings, &rig->arena);
    struct analysis_env env = {0};
    ck_assert_int_eq(analysis_new(&rig->analysis, &rig->settings, &env, NULL), ERR_OK);
    const struct json *body =
        json_of("{\"properties\":{\"body\":{\"type\":\"text\"},\"tag\":{\"type\":\"keyword\"},"
                "\"n\":{\"type\":\"integer\"}}}",
                &rig->arena);
    ck_assert_int_eq(mapping_new(&rig->mapping, body, rig->analysis, &rig->settings, NULL), ERR_OK);
    const struct fs *fs = fs_mem_fs(rig->disk);
    fs->make_dir(fs->self, "/shard", NULL);
    struct engine_opts o = {.fs = fs,
                            .clock = &rig->clock.base,
                            .dir = "/shard",
                            .index_uuid = "u",
                            .mode = ENGINE_CREATE,
                            .mapping = rig->mapping};
    engine_settings_init(&o.settings, NULL);
    ck_assert_int_eq(engine_open(&rig->engine, &o, NULL), ERR_OK);
    for (unsigned i = 0; i < docs; i++) {
        index_one(rig, i);
        if (deletions && i % 7 == 3) {
            delete_one(rig, (unsigned)rng_below(&rig->rng, i));
        }
        if (rng_below(&rig->rng, 3000) == 0) {
            ck_assert_int_eq(engine_refresh(rig->engine, NULL, NULL), ERR_OK);
        }
    }
    ck_assert_int_eq(engine_refresh(rig->engine, NULL, NULL), ERR_OK);
}

static void rig_close(struct shard_rig *rig)
{
    engine_close(rig->engine);
    mapping_unref(rig->mapping);
    analysis_unref(rig->analysis);
    fs_mem_free(rig->disk);
    arena_fini(&rig->arena);
}

/* ---- queries ---- */

static void words_into(struct rng *r, char *to, size_t size, unsigned n)
{
    size_t at = 0;
    to[0] = '\0';
    for (unsigned i = 0; i < n; i++) {
        at += (size_t)snprintf(to + at, size - at, "%sw%u", i > 0 ? " " : "", random_word(r));
    }
}

static void random_query(struct rng *r, char *to, size_t size, unsigned depth)
{
    char words[200], a[900], b[900];
    unsigned n = 1 + (unsigned)rng_below(r, 5);
    words_into(r, words, sizeof(words), n);
    switch (rng_below(r, depth > 0 ? 9 : 5)) {
    case 0:
        snprintf(to, size, "{\"match\":{\"body\":{\"query\":\"%s\",\"operator\":\"and\"}}}", words);
        return;
    case 1:
        words_into(r, words, sizeof(words), 2 + (unsigned)rng_below(r, 2));
        snprintf(to, size, "{\"match_phrase\":{\"body\":{\"query\":\"%s\",\"slop\":%u}}}", words,
                 rng_below(r, 3) == 0 ? 2U : 0U);
        return;
    case 2:
        snprintf(to, size, "{\"match\":{\"body\":{\"query\":\"%s\",\"minimum_should_match\":%u}}}", words,
                 1 + (unsigned)rng_below(r, n));
        return;
    case 3:
        snprintf(to, size, "{\"term\":{\"body\":\"w%u\"}}", random_word(r));
        return;
    case 4:
        snprintf(to, size, "{\"match\":{\"body\":\"%s\"}}", words);
        return;
    case 5:
        random_query(r, a, sizeof(a), depth - 1);
        snprintf(to, size, "{\"bool\":{\"must\":%s,\"filter\":{\"term\":{\"tag\":\"t1\"}}}}", a);
        return;
    case 6:
        random_query(r, a, sizeof(a), depth - 1);
        random_query(r, b, sizeof(b), 0);
        snprintf(to, size,
                 "{\"bool\":{\"must\":%s,\"should\":%s,\"must_not\":{\"range\":{\"n\":{\"lt\":300}}}}}", a,
                 b);
        return;
    case 7:
        random_query(r, a, sizeof(a), depth - 1);
        random_query(r, b, sizeof(b), 0);
        snprintf(to, size, "{\"dis_max\":{\"tie_breaker\":0.3,\"queries\":[%s,%s]}}", a, b);
        return;
    default:
        random_query(r, a, sizeof(a), depth - 1);
        snprintf(to, size,
                 "{\"function_score\":{\"query\":%s,\"functions\":[{\"filter\":{\"term\":{\"tag\":\"t2\"}},"
                 "\"weight\":3}]}}",
                 a);
    }
}

static struct search_shard shard_of(const struct shard_rig *rig, struct view *v)
{
    return (struct search_shard){.index_name = STR("i"),
                                 .index_uuid = STR("u"),
                                 .node_id = STR("n"),
                                 .view = v,
                                 .index_settings = &rig->settings,
                                 .scope = {.index_boost = 1, .n_shards = 1}};
}

static void search(const struct shard_rig *rig, struct view *v, const char *body, struct arena *a,
                   struct query_result *out)
{
    struct search_source source = {0};
    ERR_LOCAL(em);
    struct search_shard shard = shard_of(rig, v);
    enum err e = search_source_parse(&source, json_of(body, a), str_of(body), a, &em);
    ck_assert_msg(e == ERR_OK, "%s: %s", body, err_reason(&em));
    e = search_query_phase(out, &shard, &source, a, &em);
    ck_assert_msg(e == ERR_OK, "%s: %s", body, err_reason(&em));
}

static void compare(const struct shard_rig *rig, struct view *v, const char *query, unsigned k,
                    unsigned track)
{
    char body[2200];
    struct arena a;
    struct query_result some, all;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    snprintf(body, sizeof(body), "{\"size\":%u,\"track_total_hits\":%u,\"query\":%s}", k, track, query);
    search(rig, v, body, &a, &some);
    snprintf(body, sizeof(body), "{\"size\":10000,\"track_total_hits\":true,\"query\":%s}", query);
    search(rig, v, body, &a, &all);
    ck_assert_int_eq(all.relation, TOTAL_EQ);
    ck_assert_uint_eq((unsigned)all.total, all.n);
    if (some.relation == TOTAL_EQ) {
        ck_assert_int_eq(some.total, all.total);
    } else {
        ck_assert(all.total > track && some.total <= all.total);
    }
    ck_assert_msg(some.n == MIN_OF(k, all.n), "%s: %u documents of %u", query, some.n, MIN_OF(k, all.n));
    for (uint32_t i = 0; i < some.n; i++) {
        ck_assert_msg(some.docs[i].doc == all.docs[i].doc
                          && memcmp(&some.docs[i].score, &all.docs[i].score, sizeof(float)) == 0,
                      "%s: place %u of %u: document %u (%a), want %u (%a)", query, i, some.n,
                      some.docs[i].doc, (double)some.docs[i].score, all.docs[i].doc,
                      (double)all.docs[i].score);
    }
    arena_fini(&a);
}

START_TEST(skipping_changes_nothing)
{
    static const unsigned ks[] = {1, 3, 10, 100, 1000};
    static const unsigned tracks[] = {1, 20, 500, 10000};
    struct shard_rig rig;
    const char *rounds = getenv("COUNT");
    rig_open(&rig, (uint64_t)_i, _i == 0 ? 90 : DOCS, _i % 2 == 1);
    struct view *v = engine_view_ref(rig.engine);
    for (int i = 0, n = rounds != NULL ? atoi(rounds) : 400; i < n; i++) {
        char query[2000];
        random_query(&rig.rng, query, sizeof(query), 2);
        compare(&rig, v, query, ks[rng_below(&rig.rng, 5)], tracks[rng_below(&rig.rng, 4)]);
    }
    view_unref(v);
    rig_close(&rig);
}
END_TEST

/* What a search is told to cost before it runs; and the query that was built for that gives the same answer. */
static uint64_t cost_of(const struct shard_rig *rig, struct view *v, const char *body)
{
    struct arena a;
    struct search_source source = {0};
    ERR_LOCAL(em);
    struct search_shard shard = shard_of(rig, v);
    struct search_context cx;
    const struct query *q;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    search_source_init(&source);
    ck_assert_int_eq(search_source_parse(&source, json_of(body, &a), str_of(body), &a, &em), ERR_OK);
    search_context_init(&cx, &shard, &source, &a);
    uint64_t cost = search_cost(&cx, &q);
    if (cost != SEARCH_COST_UNKNOWN) {
        struct query_result built, plain;
        shard.query = q;
        ck_assert_int_eq(search_query_phase(&built, &shard, &source, &a, &em), ERR_OK);
        shard.query = NULL;
        ck_assert_int_eq(search_query_phase(&plain, &shard, &source, &a, &em), ERR_OK);
        ck_assert(built.total == plain.total && built.n == plain.n);
        for (uint32_t i = 0; i < plain.n; i++) {
            ck_assert(built.docs[i].doc == plain.docs[i].doc && built.docs[i].score == plain.docs[i].score);
        }
    }
    arena_fini(&a);
    return cost;
}

START_TEST(costs_follow_frequencies)
{
    struct shard_rig rig;
    rig_open(&rig, 9, DOCS, false);
    struct view *v = engine_view_ref(rig.engine);
    uint64_t least = SEARCH_COST_UNKNOWN, sum = 0;
    for (unsigned w = 0; w < 3; w++) {
        struct arena a;
        struct query_result res;
        char body[200];
        arena_init(&a, NULL, ARENA_UNLIMITED);
        snprintf(body, sizeof(body),
                 "{\"size\":0,\"track_total_hits\":true,\"query\":{\"match\":{\"body\":\"w%u\"}}}", w * 9);
        search(&rig, v, body, &a, &res);
        ck_assert_uint_eq(cost_of(&rig, v, body), (uint64_t)res.total / 8);
        least = MIN_OF(least, (uint64_t)res.total);
        sum += (uint64_t)res.total;
        arena_fini(&a);
    }
    ck_assert_uint_eq(cost_of(&rig, v, "{\"size\":0,\"query\":{\"match\":{\"body\":\"w0 w9 w18\"}}}"),
                      sum / 8);
    ck_assert_uint_eq(
        cost_of(
            &rig, v,
            "{\"size\":0,\"query\":{\"match\":{\"body\":{\"query\":\"w0 w9 w18\",\"operator\":\"and\"}}}}"),
        3 * least);
    ck_assert_uint_gt(
        cost_of(&rig, v, "{\"query\":{\"term\":{\"tag\":\"nowhere\"}}}"),
        cost_of(&rig, v, "{\"stored_fields\":\"_none_\",\"query\":{\"term\":{\"tag\":\"nowhere\"}}}"));
    static const char *const expensive[] = {
        "{\"query\":{\"prefix\":{\"body\":\"w1\"}}}",
        "{\"query\":{\"bool\":{\"must\":[{\"term\":{\"tag\":\"none\"}},{\"wildcard\":{\"body\":\"*1\"}}]}}}",
        "{\"query\":{\"term\":{\"tag\":\"t1\"}},\"sort\":[\"n\"]}",
        "{\"query\":{\"term\":{\"tag\":\"t1\"}},\"aggs\":{\"a\":{\"max\":{\"field\":\"n\"}}}}",
        "{\"query\":{\"term\":{\"tag\":\"t1\"}},\"highlight\":{\"fields\":{\"body\":{}}}}",
        "{\"query\":{\"range\":{\"n\":{\"gte\":\"no number\"}}}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(expensive); i++) {
        ck_assert_msg(cost_of(&rig, v, expensive[i]) == SEARCH_COST_UNKNOWN, "%s", expensive[i]);
    }
    view_unref(v);
    rig_close(&rig);
}
END_TEST

/* What is counted from whole windows of documents, and what is given one by one (which a bound on their number asks for), come
 * to the same. */
START_TEST(windows_count_alike)
{
    static const char *const aggs[] = {
        "{\"date_histogram\":{\"field\":\"n\",\"fixed_interval\":\"7ms\"}}",
        "{\"date_histogram\":{\"field\":\"n\",\"fixed_interval\":\"300ms\",\"offset\":\"+13ms\"}}",
        "{\"terms\":{\"field\":\"tag\"},\"aggs\":{\"s\":{\"stats\":{\"field\":\"n\"}}}}",
        "{\"terms\":{\"field\":\"tag\"}}",
    };
    struct shard_rig rig;
    rig_open(&rig, (uint64_t)_i + 20, _i == 0 ? 90 : 3000, _i == 2);
    struct view *v = engine_view_ref(rig.engine);
    for (size_t i = 0; i < ARRAY_LEN(aggs); i++) {
        char bodies[2][600], words[40];
        struct arena a;
        struct query_result res[2];
        arena_init(&a, NULL, ARENA_UNLIMITED);
        words_into(&rig.rng, words, sizeof(words), 2);
        for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
            char *body = bodies[one_by_one];
            snprintf(body, sizeof(bodies[0]),
                     "{\"size\":0,%s\"query\":{\"match\":{\"body\":\"%s\"}},\"aggs\":{\"a\":%s}}",
                     one_by_one ? "\"terminate_after\":1000000," : "", words, aggs[i]);
            search(&rig, v, body, &a, &res[one_by_one]);
        }
        ck_assert(res[0].aggs.n > 0);
        ck_assert_msg(str_eq(res[0].aggs, res[1].aggs), "%s", aggs[i]);
        arena_fini(&a);
    }
    view_unref(v);
    rig_close(&rig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("skipping");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, skipping_changes_nothing, 0, 4);
    tcase_add_test(c, costs_follow_frequencies);
    tcase_add_loop_test(c, windows_count_alike, 0, 3);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
