/* Refresh, flush, force-merge, clearing of caches: one action to every shard of the indices named. */
#include "coordinator/rest/broadcast.h"

static void maintenance_answer(struct broadcast *bc)
{
    struct rest *r = rest_of(bc->r);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    broadcast_write_shards(bc, &w);
    jw_obj_end(&w);
    broadcast_fini(bc);
    rest_send(r, 200, &b);
}

static void broadcast(struct rest *r, const struct shard_act *model, unsigned unblocked)
{
    struct expand_options o = EXPAND_OPTIONS_SEARCH;
    o.unblocked = unblocked;
    rest_broadcast_path(r, &o, model, maintenance_answer, NULL);
}

static void refresh(struct rest *r)
{
    struct shard_act a = {.action = SHARD_REFRESH};
    broadcast(r, &a, 0);
}

static void flush(struct rest *r)
{
    struct shard_act a = {.action = SHARD_FLUSH};
    if (rest_bool(r, "force", false, &a.force) != ERR_OK
        || rest_bool(r, "wait_if_ongoing", true, &a.wait_if_ongoing) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (a.force && !a.wait_if_ongoing) {
        err_set(&r->em, ERR_ACTION_VALIDATION,
                "Validation Failed: 1: wait_if_ongoing must be true for a force flush;");
        rest_fail(r, NULL);
        return;
    }
    broadcast(r, &a, 0);
}

/* ---- _flush/synced ------------------------------------------------------------------------------------- */

/* What became of an index's copies; `at`: its first act, of `n`. */
struct flushed {
    uint32_t total, successful, failed, at, n;
};

/* Of the target, whose acts begin at `at`. */
static struct flushed flushed_of(const struct broadcast *bc, uint32_t target, uint32_t at)
{
    const struct index_meta *m = bc->targets[target].meta;
    struct flushed f = {.total = m->n_shards * (1 + m->n_replicas), .at = at};
    for (; at + f.n < bc->n && str_eq(bc->acts[at + f.n].rq.shard.uuid, m->uuid); f.n++) {
        const struct shard_rq *rq = &bc->acts[at + f.n].rq;
        f.successful += !err_is(&rq->error);
        f.failed += broadcast_failed(rq);
    }
    f.failed = m->closed ? f.total : f.failed;
    return f;
}

static void write_flushed(struct jsonw *w, const struct flushed *f)
{
    jw_obj(w);
    jw_ki64(w, "total", f->total);
    jw_ki64(w, "successful", f->successful);
    jw_ki64(w, "failed", f->failed);
}

static void write_flush_failure(struct jsonw *w, uint32_t shard, struct str reason)
{
    jw_obj(w);
    jw_ki64(w, "shard", shard);
    jw_kstr(w, "reason", reason);
    jw_obj_end(w);
}

static void write_flushed_index(struct jsonw *w, const struct broadcast *bc, const struct index_meta *m,
                                const struct flushed *f)
{
    jw_key(w, m->name);
    write_flushed(w, f);
    if (f->failed > 0) {
        jw_karr(w, "failures");
        for (uint32_t shard = 0; m->closed && shard < m->n_shards; shard++) {
            write_flush_failure(w, shard, STR("closed"));
        }
        for (uint32_t i = f->at; i < f->at + f->n; i++) {
            const struct shard_rq *rq = &bc->acts[i].rq;
            if (broadcast_failed(rq)) {
                write_flush_failure(w, rq->shard.shard, str_of(err_reason(&rq->error)));
            }
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static void synced_answer(struct broadcast *bc)
{
    struct rest *r = rest_of(bc->r);
    struct flushed all = {0}, *of = ARENA_ARRAY(r->arena, struct flushed, bc->n_targets);
    struct buf b;
    struct jsonw w;
    for (uint32_t i = 0, at = 0; of != NULL && i < bc->n_targets; at += of[i++].n) {
        of[i] = flushed_of(bc, i, at);
        all.total += of[i].total;
        all.successful += of[i].successful;
        all.failed += of[i].failed;
    }
    if (of == NULL) {
        broadcast_fini(bc);
        rest_no_memory(r);
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_k(&w, "_shards");
    write_flushed(&w, &all);
    jw_obj_end(&w);
    for (uint32_t i = 0; i < bc->n_targets; i++) {
        write_flushed_index(&w, bc, bc->targets[i].meta, &of[i]);
    }
    jw_obj_end(&w);
    broadcast_fini(bc);
    rest_send(r, all.failed > 0 ? 409 : 200, &b);
}

/* Since Elasticsearch 7.6 it is a flush whose answer has another form. */
static void synced_flush(struct rest *r)
{
    struct shard_act a = {.action = SHARD_FLUSH, .wait_if_ongoing = true};
    struct expand_options o = EXPAND_OPTIONS_SEARCH;
    o.ignore_unavailable = true;
    o.forbid_closed = false;
    rest_broadcast_path(r, &o, &a, synced_answer, NULL);
}

/* ---- others -------------------------------------------------------------------------------------------- */

static void force_merge(struct rest *r)
{
    struct shard_act a = {.action = SHARD_FORCE_MERGE, .flush_after = true};
    enum err e = rest_int(r, "max_num_segments", -1, &a.max_segments);
    e = e == ERR_OK ? rest_bool(r, "only_expunge_deletes", false, &a.only_expunge_deletes) : e;
    e = e == ERR_OK ? rest_bool(r, "flush", true, &a.flush_after) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    broadcast(r, &a, 1U << BLOCK_METADATA_WRITE);
}

static void clear_cache(struct rest *r)
{
    struct shard_act a = {.action = SHARD_CLEAR_CACHE};
    static const char *const which[] = {"query", "fielddata", "request"};
    rest_accept(r, "fields"); /* of the data that is not kept */
    if (rest_check_bools(r, which, ARRAY_LEN(which)) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    broadcast(r, &a, 1U << BLOCK_METADATA_WRITE);
}

const struct route routes_maintenance[] = {
    {M_GET | M_POST, "/_refresh", refresh},
    {M_GET | M_POST, "/{index}/_refresh", refresh},
    {M_GET | M_POST, "/_flush", flush},
    {M_GET | M_POST, "/{index}/_flush", flush},
    {M_GET | M_POST, "/_flush/synced", synced_flush},
    {M_GET | M_POST, "/{index}/_flush/synced", synced_flush},
    {M_POST, "/_forcemerge", force_merge},
    {M_POST, "/{index}/_forcemerge", force_merge},
    {M_POST, "/_cache/clear", clear_cache},
    {M_POST, "/{index}/_cache/clear", clear_cache},
};
const size_t routes_maintenance_n = ARRAY_LEN(routes_maintenance);
