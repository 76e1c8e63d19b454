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

/* Copies of an index: those that there should be, and what became of them. */
struct flushed {
    uint32_t total, successful, failed;
};

static uint32_t copies_of(const struct index_meta *m)
{
    return m->n_shards * (1 + m->n_replicas);
}

static struct flushed flushed_of(const struct broadcast *bc, const struct index_meta *m)
{
    struct flushed f = {.total = copies_of(m)};
    for (uint32_t i = 0; i < bc->n; i++) {
        const struct shard_rq *rq = &bc->acts[i].rq;
        bool here = str_eq(rq->shard.uuid, m->uuid);
        f.successful += here && !err_is(&rq->error);
        f.failed += here && broadcast_failed(rq);
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

static void write_flush_failures(struct jsonw *w, const struct broadcast *bc, const struct index_meta *m)
{
    jw_karr(w, "failures");
    for (uint32_t shard = 0; m->closed && shard < m->n_shards; shard++) {
        write_flush_failure(w, shard, STR("closed"));
    }
    for (uint32_t i = 0; i < bc->n; i++) {
        const struct shard_rq *rq = &bc->acts[i].rq;
        if (str_eq(rq->shard.uuid, m->uuid) && broadcast_failed(rq)) {
            write_flush_failure(w, rq->shard.shard, str_of(err_reason(&rq->error)));
        }
    }
    jw_arr_end(w);
}

static void synced_answer(struct broadcast *bc)
{
    struct rest *r = rest_of(bc->r);
    struct flushed all = {0};
    struct buf b;
    struct jsonw w;
    for (uint32_t i = 0; i < bc->n_targets; i++) {
        struct flushed f = flushed_of(bc, bc->targets[i].meta);
        all.total += f.total;
        all.successful += f.successful;
        all.failed += f.failed;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_k(&w, "_shards");
    write_flushed(&w, &all);
    jw_obj_end(&w);
    for (uint32_t i = 0; i < bc->n_targets; i++) {
        const struct index_meta *m = bc->targets[i].meta;
        struct flushed f = flushed_of(bc, m);
        jw_key(&w, m->name);
        write_flushed(&w, &f);
        if (f.failed > 0) {
            write_flush_failures(&w, bc, m);
        }
        jw_obj_end(&w);
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
