/* The choice of searches that run on the calling thread. docs/decisions/small-searches.md says why. */
#include "data/search/search_int.h"
#include "engine/search/search_cost.h"

#define SMALL_COST 16384 /* documents to be looked at: a tenth of a millisecond, give or take */

bool search_is_small(struct shard_query *rq, struct shard *sh, struct view *v, const struct query **q)
{
    struct search_context cx;
    struct search_shard d;
    if (rq->body.source == NULL || rq->scope.n_shards != 1 || !rq->fetch || rq->rq.context != 0
        || rq->scope.scroll || rq->keep || rq->dfs != NULL || rq->scope.n_alias_filters > 0) {
        return false;
    }
    struct settings_part *settings = index_settings(sh->index);
    rq->rq.arena.bytes_max = sh->service->searches->request_bytes_max;
    search_describe(&d, sh, v, settings, &rq->scope);
    search_context_init(&cx, &d, rq->body.source, &rq->rq.arena);
    bool small = !sh->index->analyzes_long && search_cost(&cx, q) <= SMALL_COST;
    state_part_unref(&settings->part);
    return small;
}
