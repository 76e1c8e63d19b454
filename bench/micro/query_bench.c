/* query_bench.c - queries over one segment of one shard, without HTTP: the ten best by score, and counts.
 *
 * Documents of 5 to 400 words, words by a law like Zipf's, from a seed. Times are the thread's CPU time, everything from the
 * request's JSON to the ten documents' numbers. query_bench [documents, default 50000] */
#include "bench/micro/bench.h"
#include "common/base/rand.h"
#include "engine/index/engine.h"
#include "engine/search/search.h"
#include "tests/seams/clock_sim.h"
#include "tests/seams/fs_mem.h"

#include <math.h>
#include <stdlib.h>

#define WORDS  20000
#define ROUNDS 300

struct rig {
    struct fs_mem *disk;
    struct clock_sim clock;
    struct settings settings;
    struct analysis *analysis;
    struct mapping *mapping;
    struct engine *engine;
    struct arena arena;
    struct rng rng;
};

static void must(enum err e, const struct errmsg *em)
{
    if (e != ERR_OK) {
        fprintf(stderr, "%s\n", err_reason(em));
        exit(1);
    }
}

static void index_one(struct rig *r, unsigned i)
{
    struct arena a;
    struct buf source;
    struct parsed_doc doc;
    struct engine_result res;
    struct engine_op op = ENGINE_OP_INIT;
    ERR_LOCAL(em);
    char id[16];
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&source, NULL, BUF_UNLIMITED);
    buf_printf(&source, "{\"n\":%u,\"body\":\"", i);
    for (uint64_t k = 0, n = 5 + rng_below(&r->rng, 396); k < n; k++) {
        buf_printf(&source, "w%u ", (unsigned)(pow(rng_double(&r->rng), 4) * WORDS));
    }
    buf_str(&source, STR("\"}"));
    snprintf(id, sizeof(id), "%u", i);
    struct source_to_parse in = {
        .index_name = STR("i"), .id = str_of(id), .source = buf_view(&source), .dynamic_allowed = true};
    must(document_parse(&doc, r->mapping, &in, &a, &em), &em);
    op.kind = OP_INDEX;
    op.origin = ORIGIN_PRIMARY;
    op.primary_term = 1;
    op.id = in.id;
    op.source = in.source;
    op.doc = &doc;
    must(engine_apply(r->engine, &op, &res, &em), &em);
    if (i % 1000 == 0) {
        must(engine_sync(r->engine, &em), &em);
    }
    buf_fini(&source);
    arena_fini(&a);
}

static void merge(struct rig *r)
{
    struct engine_merge_wish wish = {.max_segments = 1};
    struct engine_merge *m;
    ERR_LOCAL(em);
    must(engine_refresh(r->engine, NULL, &em), &em);
    must(engine_merge_plan(r->engine, &wish, &m, &em), &em);
    if (m != NULL) {
        engine_merge_run(m);
        must(engine_merge_commit(r->engine, m, &em), &em);
        must(engine_refresh(r->engine, NULL, &em), &em);
    }
}

static void open_rig(struct rig *r, unsigned docs)
{
    struct json body;
    ERR_LOCAL(em);
    struct analysis_env env = {0};
    rng_seed(&r->rng, 42);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    r->disk = fs_mem_new();
    clock_sim_init(&r->clock, 0);
    settings_init(&r->settings, &r->arena);
    must(analysis_new(&r->analysis, &r->settings, &env, &em), &em);
    must(json_parse(&body,
                    STR("{\"properties\":{\"body\":{\"type\":\"text\"},\"n\":{\"type\":\"integer\"}}}"),
                    &r->arena, &json_limits_default, &em),
         &em);
    must(mapping_new(&r->mapping, &body, r->analysis, &r->settings, &em), &em);
    const struct fs *fs = fs_mem_fs(r->disk);
    fs->make_dir(fs->self, "/shard", NULL);
    struct engine_opts o = {.fs = fs,
                            .clock = &r->clock.base,
                            .dir = "/shard",
                            .index_uuid = "u",
                            .mode = ENGINE_CREATE,
                            .mapping = r->mapping};
    engine_settings_init(&o.settings, NULL);
    must(engine_open(&r->engine, &o, &em), &em);
    for (unsigned i = 0; i < docs; i++) {
        index_one(r, i);
    }
    merge(r);
}

/* A word of about the given rank. */
static unsigned word(struct rng *r, unsigned rank)
{
    return rank + (unsigned)rng_below(r, rank / 4 + 2);
}

/* %u in `form` becomes a frequent word, then rarer ones. */
static void measure(const struct rig *r, struct view *v, const char *what, const char *form)
{
    char body[512];
    struct rng rng;
    ERR_LOCAL(em);
    double begin = now();
    uint64_t hits = 0;
    rng_seed(&rng, 7);
    for (int i = 0; i < ROUNDS; i++) {
        struct arena a;
        struct json tree;
        struct search_source source;
        struct query_result out;
        struct search_shard shard = {.index_name = STR("i"),
                                     .index_uuid = STR("u"),
                                     .node_id = STR("n"),
                                     .view = v,
                                     .index_settings = &r->settings,
                                     .scope = {.index_boost = 1, .n_shards = 1},
                                     .max_buckets = 65535};
        arena_init(&a, NULL, ARENA_UNLIMITED);
        char *at = body;
        unsigned rank = 2;
        for (const char *f = form; *f != '\0'; f++) {
            if (*f == '%') {
                at += snprintf(at, 16, "w%u", word(&rng, rank));
                rank *= 12;
            } else {
                *at++ = *f;
            }
        }
        *at = '\0';
        must(json_parse(&tree, str_of(body), &a, &json_limits_default, &em), &em);
        search_source_init(&source);
        must(search_source_parse(&source, &tree, str_of(body), &a, &em), &em);
        must(search_query_phase(&out, &shard, &source, &a, &em), &em);
        hits += out.n;
        arena_fini(&a);
    }
    line(what, (now() - begin) * 1e6 / ROUNDS, hits == 0 ? "us, nothing found" : "us");
}

int main(int argc, char **argv)
{
    static struct rig r;
    open_rig(&r, argc > 1 ? (unsigned)atoi(argv[1]) : 50000);
    struct view *v = engine_view_ref(r.engine);
    measure(&r, v, "a frequent term", "{\"query\":{\"match\":{\"body\":\"%\"}}}");
    measure(&r, v, "one of three terms", "{\"query\":{\"match\":{\"body\":\"% % %\"}}}");
    measure(&r, v, "  exact total", "{\"track_total_hits\":true,\"query\":{\"match\":{\"body\":\"% % %\"}}}");
    measure(&r, v, "  100 best", "{\"size\":100,\"query\":{\"match\":{\"body\":\"% % %\"}}}");
    measure(&r, v, "both of two terms",
            "{\"query\":{\"match\":{\"body\":{\"query\":\"% %\",\"operator\":\"and\"}}}}");
    measure(&r, v, "a phrase of two", "{\"query\":{\"match_phrase\":{\"body\":\"% %\"}}}");
    measure(&r, v, "  with slop", "{\"query\":{\"match_phrase\":{\"body\":{\"query\":\"% %\",\"slop\":3}}}}");
    measure(&r, v, "a term, sorted by number",
            "{\"query\":{\"match\":{\"body\":\"%\"}},\"sort\":[{\"n\":\"desc\"}]}");
    measure(&r, v, "a term, from 9,000", "{\"from\":9000,\"query\":{\"match\":{\"body\":\"%\"}}}");
    view_unref(v);
    engine_close(r.engine);
    mapping_unref(r.mapping);
    analysis_unref(r.analysis);
    fs_mem_free(r.disk);
    arena_fini(&r.arena);
    return 0;
}
