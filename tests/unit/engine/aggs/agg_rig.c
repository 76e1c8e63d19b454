#include "tests/unit/engine/aggs/agg_rig.h"

#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "engine/analysis/analysis.h"
#include "engine/analysis/component.h"
#include "engine/mapping/document.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

const char *const ar_words[AR_WORDS] = {"0",   "10",         "9",   "Zebra", "ant",  "bee",
                                        "cat", "cherry pie", "été", "上海",  "北京", "😀"};

static const char mapping_text[] =
    "{'properties':{'k':{'type':'keyword'},'i':{'type':'integer'},'d':{'type':'double'},'t':{'type':'date'},"
    "'b':{'type':'boolean'},'g':{'type':'geo_point'},'ip':{'type':'ip'},'x':{'type':'text','fielddata':true},"
    "'p':{'type':'nested','properties':{'n':{'type':'integer'},'w':{'type':'keyword'}}}}}";

const char *ar_json(struct agg_rig *r, const char *text)
{
    struct str s = arena_str(&r->arena, str_of(text));
    ck_assert_ptr_nonnull(s.p);
    char *p = (char *)(uintptr_t)s.p;
    for (size_t i = 0; i < s.n; i++) {
        p[i] = p[i] == '\'' ? '"' : p[i];
    }
    return p;
}

static int cmp_u32(const void *a, const void *b)
{
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static int cmp_i32(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}

static void make_doc(struct agg_rig *r, struct ar_doc *d)
{
    struct rng *g = &r->rng;
    *d = (struct ar_doc){.b = rng_below(g, 3) == 0, .ip = (uint32_t)rng_below(g, 256)};
    for (uint32_t n = (uint32_t)rng_below(g, AR_VALUES + 1), i = 0; i < n; i++) {
        uint32_t w = (uint32_t)rng_below(g, 1 + rng_below(g, AR_WORDS));
        bool there = false;
        for (uint32_t k = 0; k < d->n_words; k++) {
            there |= d->words[k] == w;
        }
        if (!there) {
            d->words[d->n_words++] = w;
        }
    }
    qsort(d->words, d->n_words, sizeof(d->words[0]), cmp_u32);
    d->n_i = (uint32_t)rng_below(g, AR_VALUES + 1);
    for (uint32_t i = 0; i < d->n_i; i++) {
        d->i[i] = (int32_t)rng_below(g, 80) - 30;
    }
    qsort(d->i, d->n_i, sizeof(d->i[0]), cmp_i32);
    d->has_d = rng_below(g, 10) > 0;
    d->d = (double)((int64_t)rng_below(g, 20000) - 6000) / 64; /* sums are exact in any order */
    d->has_t = rng_below(g, 10) > 0;
    d->t = 1585353600000 + (int64_t)rng_below(g, 40ULL * 86400000); /* around the end of March 2020 */
    d->has_point = rng_below(g, 10) > 0;
    d->lat = (double)rng_below(g, 120) - 60;
    d->lon = (double)rng_below(g, 340) - 170;
    d->n_parts = (uint32_t)rng_below(g, AR_VALUES + 1);
    for (uint32_t i = 0; i < d->n_parts; i++) {
        d->parts[i] = (struct ar_part){(int32_t)rng_below(g, 9), (uint32_t)rng_below(g, 4)};
    }
}

static void write_doc(const struct ar_doc *d, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_k(&w, "k");
    jw_arr(&w);
    for (uint32_t i = 0; i < d->n_words; i++) {
        jw_z(&w, ar_words[d->words[i]]);
    }
    jw_arr_end(&w);
    jw_k(&w, "i");
    jw_arr(&w);
    for (uint32_t i = 0; i < d->n_i; i++) {
        jw_i64(&w, d->i[i]);
    }
    jw_arr_end(&w);
    if (d->has_d) {
        jw_kdouble(&w, "d", d->d);
    }
    if (d->has_t) {
        jw_ki64(&w, "t", d->t);
    }
    jw_kbool(&w, "b", d->b);
    if (d->has_point) {
        jw_k(&w, "g");
        jw_arr(&w);
        jw_double(&w, d->lon);
        jw_double(&w, d->lat);
        jw_arr_end(&w);
    }
    jw_k(&w, "ip");
    jw_strf(&w, "10.0.0.%u", d->ip);
    jw_k(&w, "p");
    jw_arr(&w);
    for (uint32_t i = 0; i < d->n_parts; i++) {
        jw_obj(&w);
        jw_ki64(&w, "n", d->parts[i].n);
        jw_kz(&w, "w", ar_words[d->parts[i].word]);
        jw_obj_end(&w);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
}

static enum err parse_op(void *self, const struct engine_op *op, struct arena *arena, struct parsed_doc *out,
                         struct errmsg *em)
{
    struct agg_rig *r = self;
    struct source_to_parse in = {.index_name = STR("rig"),
                                 .id = op->id,
                                 .routing = op->routing,
                                 .source = op->source,
                                 .dynamic_allowed = true};
    return document_parse(out, r->mapping, &in, arena, em);
}

static void open_shard(struct agg_rig *r, uint32_t s)
{
    char dir[32];
    ERR_LOCAL(em);
    const struct fs *fs = fs_mem_fs(r->disk);
    snprintf(dir, sizeof(dir), "/shard%u", s);
    struct engine_opts o = {.fs = fs,
                            .clock = &r->clock.base,
                            .dir = dir,
                            .index_uuid = "uuid",
                            .shard = s,
                            .mode = ENGINE_CREATE,
                            .mapping = r->mapping,
                            .mapping_version = 1,
                            .parse = parse_op,
                            .parse_self = r,
                            .user_data = STR("history")};
    engine_settings_init(&o.settings, NULL);
    ck_assert_int_eq(engine_open(&r->engines[s], &o, &em), ERR_OK);
}

static void add_doc(struct agg_rig *r, uint32_t n)
{
    char id[16];
    struct buf b;
    struct engine_result res;
    ERR_LOCAL(em);
    make_doc(r, &r->docs[n]);
    buf_init(&b, NULL, BUF_UNLIMITED);
    write_doc(&r->docs[n], &b);
    snprintf(id, sizeof(id), "%u", n);
    struct engine_op op = ENGINE_OP_INIT;
    op.kind = OP_INDEX;
    op.primary_term = 1;
    op.id = str_of(id);
    op.source = buf_view(&b);
    ck_assert_msg(engine_apply(r->engines[n % r->n_shards], &op, &res, &em) == ERR_OK, "%s", err_reason(&em));
    buf_fini(&b);
}

static void refresh(struct agg_rig *r)
{
    for (uint32_t s = 0; s < r->n_shards; s++) {
        bool changed;
        ck_assert_int_eq(engine_refresh(r->engines[s], &changed, NULL), ERR_OK);
    }
}

void ar_init(struct agg_rig *r, uint64_t seed, uint32_t n_shards, uint32_t n, uint32_t segment)
{
    *r = (struct agg_rig){.n_shards = n_shards, .n = n, .max_buckets = 65535};
    struct analysis_env env = {0};
    struct json tree;
    ERR_LOCAL(em);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    rng_seed(&r->rng, seed);
    clock_sim_init(&r->clock, 1600000000000);
    r->disk = fs_mem_new();
    settings_init(&r->settings, &r->arena);
    ck_assert_int_eq(analysis_new(&r->analysis, &r->settings, &env, &em), ERR_OK);
    struct str text = str_of(ar_json(r, mapping_text));
    ck_assert_int_eq(json_parse(&tree, text, &r->arena, &json_limits_default, &em), ERR_OK);
    ck_assert_msg(mapping_new(&r->mapping, &tree, r->analysis, &r->settings, &em) == ERR_OK, "%s",
                  err_reason(&em));
    for (uint32_t s = 0; s < n_shards; s++) {
        open_shard(r, s);
    }
    for (uint32_t i = 0; i < n; i++) {
        add_doc(r, i);
        if (segment > 0 && i % segment == segment - 1) {
            refresh(r);
        }
    }
    refresh(r);
    for (uint32_t s = 0; s < n_shards; s++) {
        r->views[s] = engine_view_ref(r->engines[s]);
        ck_assert_ptr_nonnull(r->views[s]);
    }
}

void ar_fini(struct agg_rig *r)
{
    for (uint32_t s = 0; s < r->n_shards; s++) {
        view_unref(r->views[s]);
        engine_close(r->engines[s]);
    }
    mapping_unref(r->mapping);
    analysis_unref(r->analysis);
    fs_mem_free(r->disk);
    arena_fini(&r->arena);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static enum err ask_shard(struct agg_rig *r, struct ar_run *run, uint32_t s)
{
    struct search_shard d = {
        .index_name = STR("rig"),
        .index_uuid = STR("uuid"),
        .shard = (int32_t)s,
        .view = r->views[s],
        .index_settings = &r->settings,
        .max_buckets = r->max_buckets,
        .scope = {.slot = s, .index_boost = 1, .now_ms = 1600000000000, .n_shards = r->n_shards}};
    struct query_result res;
    enum err e = search_query_phase(&res, &d, &run->source, &run->arena, &run->em);
    run->partials[s] = e == ERR_OK ? res.aggs : STR_NULL;
    return e;
}

enum err ar_reduce(struct agg_rig *r, struct ar_run *run, const struct str *partials, uint32_t n)
{
    struct buf b;
    struct jsonw w;
    struct aggs_reduce_opts o = {.typed_keys = r->typed_keys, .max_buckets = r->max_buckets};
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    enum err e = aggs_reduce(run->source.agg_spec, partials, n, &o, &run->arena, &w, &run->em);
    if (e == ERR_OK) {
        run->text = arena_str(&run->arena, buf_view(&b));
        e = run->text.p == NULL
                ? ERR_NO_MEMORY
                : json_parse(&run->answer, run->text, &run->arena, &json_limits_default, &run->em);
    }
    buf_fini(&b);
    return e;
}

enum err ar_run_with(struct agg_rig *r, struct ar_run *run, const char *body, const struct allocator *alloc)
{
    const char *text = ar_json(r, body);
    struct json *tree = ARENA_NEW(&r->arena, struct json);
    *run = (struct ar_run){.text = STR("")};
    arena_init(&run->arena, alloc, ARENA_UNLIMITED);
    run->em = err_in(&run->arena);
    ck_assert_msg(json_parse(tree, str_of(text), &r->arena, &json_limits_default, &run->em) == ERR_OK, "%s",
                  text);
    search_source_init(&run->source);
    enum err e = search_source_parse(&run->source, tree, str_of(text), &run->arena, &run->em);
    run->source.size = 0;
    for (uint32_t s = 0; e == ERR_OK && s < r->n_shards; s++) {
        e = ask_shard(r, run, s);
    }
    return e == ERR_OK ? ar_reduce(r, run, run->partials, r->n_shards) : e;
}

enum err ar_run(struct agg_rig *r, struct ar_run *run, const char *body)
{
    return ar_run_with(r, run, body, NULL);
}

void ar_run_fini(struct ar_run *run)
{
    arena_fini(&run->arena);
}

const struct json *ar_at(const struct ar_run *run, const char *path)
{
    const struct json *v = &run->answer;
    struct str rest = str_of(path);
    while (rest.p != NULL && rest.n > 0) {
        struct str name = str_cut(rest, '.', &rest);
        int64_t at = -1;
        if (v->type == JSON_ARRAY && num_parse_i64(name, &at)) {
            v = at >= 0 && at < (int64_t)v->n ? &v->items[at] : NULL;
        } else {
            v = json_get_str(v, name);
        }
        ck_assert_msg(v != NULL, "%s is not in %.*s", path, STR_ARG(run->text));
    }
    return v;
}

double ar_num(const struct ar_run *run, const char *path)
{
    return json_double(ar_at(run, path));
}

void ar_expect(struct agg_rig *r, const char *body, const char *answer)
{
    struct ar_run run;
    enum err e = ar_run(r, &run, body);
    ck_assert_msg(e == ERR_OK, "%s: %s", body, err_reason(&run.em));
    const char *want = ar_json(r, answer);
    ck_assert_msg(str_is(run.text, want), "%s\n gave %.*s\n want %s", body, STR_ARG(run.text), want);
    ar_run_fini(&run);
}

void ar_refused(struct agg_rig *r, const char *body, enum err code)
{
    struct ar_run run;
    enum err e = ar_run(r, &run, body);
    ck_assert_msg(e == code, "%s: %d, want %d (%s)", body, (int)e, (int)code,
                  e != ERR_OK ? err_reason(&run.em) : "fine");
    ar_run_fini(&run);
}
