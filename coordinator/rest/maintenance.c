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
    {M_GET | M_POST, "/_refresh", refresh}, {M_GET | M_POST, "/{index}/_refresh", refresh},
    {M_GET | M_POST, "/_flush", flush},     {M_GET | M_POST, "/{index}/_flush", flush},
    {M_POST, "/_forcemerge", force_merge},  {M_POST, "/{index}/_forcemerge", force_merge},
    {M_POST, "/_cache/clear", clear_cache}, {M_POST, "/{index}/_cache/clear", clear_cache},
};
const size_t routes_maintenance_n = ARRAY_LEN(routes_maintenance);
