/* Which searches run on the thread that has them in hand. docs/decisions/small-searches.md says why. */
#include "data/data_int.h"
#include "engine/search/search_cost.h"

#define SMALL_COST 16384 /* documents to be looked at: a tenth of a millisecond, give or take */

bool search_is_small(struct shard_query *rq, struct shard *sh, struct view *v, const struct query **q)
{
    struct search_context cx;
    struct search_shard d;
    if (rq->source == NULL || rq->n_shards != 1 || !rq->fetch || rq->context != 0 || rq->scroll || rq->keep
        || rq->dfs_only || rq->dfs != NULL || rq->n_alias_filters > 0) {
        return false;
    }
    struct settings_part *settings = index_settings(sh->index);
    rq->rq.arena.bytes_max = sh->service->request_bytes_max;
    shard_describe(&d, sh, v, settings);
    d.n_shards = rq->n_shards;
    d.index_boost = rq->index_boost;
    d.now_ms = rq->now_ms;
    d.refuse_expensive = rq->refuse_expensive;
    struct errmsg em;
    err_clear(&em);
    bool small = search_context_init(&cx, &d, rq->source, &rq->rq.arena, &em) == ERR_OK
                 && search_cost(&cx, q) <= SMALL_COST;
    state_part_unref(&settings->part);
    return small;
}
