/* Refresh, flush, force-merge: one action to every shard of the indices named. */
#include "coordinator/rest/rest.h"

struct broadcast {
    struct rest *r;
    struct shard_act *acts;
    uint32_t n, copies;
    _Atomic uint32_t pending;
};

static void answer(struct broadcast *bc)
{
    struct rest *r = bc->r;
    struct buf b;
    struct jsonw w;
    uint32_t failed = 0;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    for (uint32_t i = 0; i < bc->n; i++) {
        failed += bc->acts[i].rq.error.n > 0;
    }
    jw_obj(&w);
    jw_k(&w, "_shards");
    jw_obj(&w);
    jw_ki64(&w, "total", bc->copies);
    jw_ki64(&w, "successful", bc->n - failed);
    jw_ki64(&w, "failed", failed);
    jw_obj_end(&w);
    jw_obj_end(&w);
    for (uint32_t i = 0; i < bc->n; i++) {
        shard_rq_fini(&bc->acts[i].rq);
    }
    rest_send(r, 200, &b);
}

static void acted(struct shard_rq *rq)
{
    struct broadcast *bc = rq->user;
    if (--bc->pending == 0) {
        answer(bc);
    }
}

static void broadcast(struct rest *r, const struct shard_act *model)
{
    struct expand_options o = {false, true, EXPAND_OPEN, true, false};
    const struct index_target *t;
    uint32_t n;
    struct broadcast *bc = ARENA_NEW(r->arena, struct broadcast);
    enum err e = bc != NULL ? rest_index_options(r, &o) : err_no_memory(&r->em);
    e = e == ERR_OK ? resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock), r->arena, &t, &n, &r->em) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    uint32_t shards = 0;
    bc->r = r;
    for (uint32_t i = 0; i < n; i++) {
        shards += t[i].meta->n_shards;
        bc->copies += t[i].meta->n_shards * (1 + t[i].meta->n_replicas);
    }
    bc->acts = ARENA_ARRAY(r->arena, struct shard_act, shards);
    if (bc->acts == NULL || shards == 0) {
        answer(bc);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t s = 0; s < t[i].meta->n_shards; s++) {
            struct shard_act *a = &bc->acts[bc->n++];
            *a = *model;
            shard_rq_init(&a->rq, acted, bc);
            a->rq.shard = (struct shard_ref){t[i].meta->name, t[i].meta->uuid, s};
        }
    }
    bc->pending = bc->n;
    struct shard_act *acts = bc->acts; /* bc may be gone after the last call */
    const struct shard_api *api = r->co->o.shards;
    for (uint32_t i = 0; i < shards; i++) {
        api->act(api->self, &acts[i]);
    }
}

static void refresh(struct rest *r)
{
    struct shard_act a = {.action = SHARD_REFRESH};
    broadcast(r, &a);
}

static void flush(struct rest *r)
{
    struct shard_act a = {.action = SHARD_FLUSH};
    if (rest_bool(r, "force", false, &a.force) != ERR_OK || rest_bool(r, "wait_if_ongoing", true, &a.wait_if_ongoing) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    broadcast(r, &a);
}

static void force_merge(struct rest *r)
{
    struct shard_act a = {.action = SHARD_FORCE_MERGE, .flush_after = true};
    enum err e = rest_int(r, "max_num_segments", -1, &a.max_segments);
    e = e == ERR_OK ? rest_bool(r, "only_expunge_deletes", false, &a.only_expunge_deletes) : e;
    e = e == ERR_OK ? rest_bool(r, "flush", true, &a.flush_after) : e;
    if (e == ERR_OK && a.only_expunge_deletes && a.max_segments != -1) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION,
                    "Validation Failed: 1: cannot set only_expunge_deletes and max_num_segments at the same time, those two parameters are "
                    "mutually exclusive;");
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    broadcast(r, &a);
}

const struct route routes_maintenance[] = {
    {M_GET | M_POST, "/_refresh", refresh},
    {M_GET | M_POST, "/{index}/_refresh", refresh},
    {M_GET | M_POST, "/_flush", flush},
    {M_GET | M_POST, "/{index}/_flush", flush},
    {M_POST, "/_forcemerge", force_merge},
    {M_POST, "/{index}/_forcemerge", force_merge},
};
const size_t routes_maintenance_n = ARRAY_LEN(routes_maintenance);
