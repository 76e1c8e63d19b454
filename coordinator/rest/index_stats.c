/* Statistics of the shards of indices: _stats, _segments. */
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/stats.h"

#include <stdio.h>

static void shard_key(struct jsonw *w, uint32_t shard)
{
    char name[12];
    snprintf(name, sizeof(name), "%u", shard);
    jw_k(w, name);
}

/* ---- _stats ------------------------------------------------------------------------------------------ */

struct stats_rq {
    unsigned metrics;
    struct str level;
    bool by_index, by_shard;
    bool named;     /* what is there by name is asked for */
    bool no_memory; /* met while the sums were made */
};

struct sums { /* of the primaries, of all copies */
    struct shard_stats primaries, total;
};

static void add_sums(struct sums *to, const struct broadcast *bc, uint32_t i)
{
    const struct shard_stats *s = bc->acts[i].stats;
    bool primary = bc->asked[i].primary;
    stats_add(&to->total, s);
    if (primary) {
        stats_add(&to->primaries, s);
    }
    struct stats_rq *q = bc->user;
    if (q->named
        && (!stats_add_named(&to->total, s, bc->r->arena)
            || (primary && !stats_add_named(&to->primaries, s, bc->r->arena)))) {
        q->no_memory = true;
    }
}

static void write_sums(const struct stats_out *o, const struct sums *s, unsigned metrics)
{
    static const char *const keys[] = {"primaries", "total"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        jw_kobj(o->w, keys[i]);
        stats_write(o, i == 0 ? &s->primaries : &s->total, metrics);
        jw_obj_end(o->w);
    }
}

static bool same_index(const struct broadcast *bc, uint32_t a, uint32_t b)
{
    return str_eq(bc->acts[a].rq.shard.index, bc->acts[b].rq.shard.index);
}

static bool same_shard(const struct broadcast *bc, uint32_t a, uint32_t b)
{
    return same_index(bc, a, b) && bc->acts[a].rq.shard.shard == bc->acts[b].rq.shard.shard;
}

/* The copies of the shard whose acts begin at `at`; returns where the next one's begin. */
static uint32_t write_shard_stats(const struct stats_out *o, const struct broadcast *bc, uint32_t at,
                                  unsigned metrics)
{
    uint32_t end = at;
    bool open = false;
    for (; end < bc->n && same_shard(bc, at, end); end++) {
        if (bc->acts[end].stats == NULL) {
            continue;
        }
        if (!open) {
            shard_key(o->w, bc->acts[at].rq.shard.shard);
            jw_arr(o->w);
            open = true;
        }
        jw_obj(o->w);
        stats_write_shard(o, &bc->asked[end], bc->acts[end].stats, metrics);
        jw_obj_end(o->w);
    }
    if (open) {
        jw_arr_end(o->w);
    }
    return end;
}

/* The index whose acts begin at `at`; returns where the next one's begin. */
static uint32_t write_index_stats(const struct stats_out *o, const struct broadcast *bc, uint32_t at,
                                  const struct stats_rq *q)
{
    struct jsonw *w = o->w;
    struct sums sum = {0};
    uint32_t end = at, answered = 0;
    for (; end < bc->n && same_index(bc, at, end); end++) {
        if (bc->acts[end].stats != NULL) {
            add_sums(&sum, bc, end);
            answered++;
        }
    }
    if (answered == 0) {
        return end;
    }
    jw_key(w, bc->acts[at].rq.shard.index);
    jw_obj(w);
    jw_kstr(w, "uuid", bc->acts[at].rq.shard.uuid);
    write_sums(o, &sum, q->metrics);
    if (q->by_shard) {
        jw_kobj(w, "shards");
        for (uint32_t i = at; i < end;) {
            i = write_shard_stats(o, bc, i, q->metrics);
        }
        jw_obj_end(w);
    }
    jw_obj_end(w);
    return end;
}

/* Only the printing of the answer reads the level: a missing index is reported first. */
static enum err check_level(struct rest *r, struct str level)
{
    if (str_is(level, "cluster") || str_is(level, "indices") || str_is(level, "shards")) {
        return ERR_OK;
    }
    return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                   "level parameter must be one of [cluster] or [indices] or [shards] but was [%.*s]",
                   STR_ARG(level));
}

static void stats_done(struct broadcast *bc)
{
    const struct stats_rq *q = bc->user;
    struct rest *r = rest_of(bc->r);
    if (check_level(r, q->level) != ERR_OK) {
        broadcast_fini(bc);
        rest_fail(r, NULL);
        return;
    }
    struct sums all = {0};
    struct buf b;
    struct jsonw w;
    struct stats_out o = stats_out_detailed(r, &w);
    jsonw_start(&w, &b);
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL) {
            add_sums(&all, bc, i);
        }
    }
    jw_obj(&w);
    broadcast_write_shards(bc, &w);
    jw_kobj(&w, "_all");
    write_sums(&o, &all, bc->n > bc->failed + bc->absent ? q->metrics : 0);
    jw_obj_end(&w);
    if (q->by_index) {
        jw_kobj(&w, "indices");
        for (uint32_t i = 0; i < bc->n;) {
            i = write_index_stats(&o, bc, i, q);
        }
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    bool no_memory = q->no_memory;
    broadcast_fini(bc);
    if (no_memory) {
        buf_fini(&b);
        rest_no_memory(r);
        return;
    }
    rest_send(r, 200, &b);
}

static void stats(struct rest *r)
{
    struct shard_act a = {.action = SHARD_STATS};
    struct stats_rq *q = ARENA_NEW(r->arena, struct stats_rq);
    struct str level = rest_param(r, "level");
    level = level.p != NULL ? level : STR("indices");
    struct expand_options o = EXPAND_OPTIONS_STATS;
    enum err e = q != NULL ? rest_index_options(r, &o) : err_no_memory(&r->em);
    e = e == ERR_OK ? stats_metrics(r, rest_param(r, "metric"), "metric", &q->metrics) : e;
    e = e == ERR_OK ? stats_details(r, q->metrics, false) : e;
    if (e == ERR_OK && (q->metrics & stats_metric("segments")) != 0) {
        e = rest_check_bool(r, "include_unloaded_segments"); /* there are none */
    }
    e = e == ERR_OK ? rest_bool(r, "forbid_closed_indices", true, &o.forbid_closed) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    q->level = level;
    q->named = rest_given(r, "groups") || rest_given(r, "completion_fields") || rest_given(r, "fields");
    q->by_shard = str_is(level, "shards");
    q->by_index = q->by_shard || str_is(level, "indices");
    rest_broadcast_path(r, &o, &a, stats_done, q);
}

/* ---- _segments --------------------------------------------------------------------------------------- */

static void write_copy_segments(struct jsonw *w, const struct rest *r, const struct shard_copy *c,
                                struct str text)
{
    struct json tree;
    int64_t committed = 0, searched = 0;
    ERR_LOCAL(em);
    if (json_parse(&tree, text, r->arena, &json_limits_default, &em) == ERR_OK
        && json_is(&tree, JSON_OBJECT)) {
        for (size_t i = 0; i < tree.n; i++) {
            const struct json *s = &tree.members[i].value, *in = json_get(s, "committed"),
                              *q = json_get(s, "search");
            committed += in != NULL && in->b;
            searched += q != NULL && q->b;
        }
    }
    jw_obj(w);
    stats_write_routing(w, c, false);
    jw_ki64(w, "num_committed_segments", committed);
    jw_ki64(w, "num_search_segments", searched);
    jw_k(w, "segments");
    jw_raw(w, text);
    jw_obj_end(w);
}

/* The copies of the shard whose acts begin at `at`; returns where the next one's begin. */
static uint32_t write_shard_segments(struct jsonw *w, const struct broadcast *bc, uint32_t at)
{
    uint32_t end = at;
    bool open = false;
    for (; end < bc->n && same_shard(bc, at, end); end++) {
        if (bc->acts[end].segments.n == 0) {
            continue;
        }
        if (!open) {
            shard_key(w, bc->acts[at].rq.shard.shard);
            jw_arr(w);
            open = true;
        }
        write_copy_segments(w, rest_of(bc->r), &bc->asked[end], bc->acts[end].segments);
    }
    if (open) {
        jw_arr_end(w);
    }
    return end;
}

static void segments_done(struct broadcast *bc)
{
    struct rest *r = rest_of(bc->r);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    broadcast_write_shards(bc, &w);
    jw_kobj(&w, "indices");
    for (uint32_t i = 0; i < bc->n;) {
        uint32_t at = i;
        jw_key(&w, bc->acts[at].rq.shard.index);
        jw_obj(&w);
        jw_kobj(&w, "shards");
        while (i < bc->n && same_index(bc, at, i)) {
            i = write_shard_segments(&w, bc, i);
        }
        jw_obj_end(&w);
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    broadcast_fini(bc);
    rest_send(r, 200, &b);
}

static void segments(struct rest *r)
{
    struct shard_act a = {.action = SHARD_SEGMENTS};
    bool verbose;
    if (rest_bool(r, "verbose", false, &verbose) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (verbose) {
        rest_idle(r, "verbose"); /* of Lucene's memory, which is none here */
    }
    rest_broadcast_path(r, &EXPAND_OPTIONS_STATS, &a, segments_done, NULL);
}

const struct route routes_index_stats[] = {
    {M_GET, "/_stats", stats},         {M_GET, "/_stats/{metric}", stats},
    {M_GET, "/{index}/_stats", stats}, {M_GET, "/{index}/_stats/{metric}", stats},
    {M_GET, "/_segments", segments},   {M_GET, "/{index}/_segments", segments},
};
const size_t routes_index_stats_n = ARRAY_LEN(routes_index_stats);
