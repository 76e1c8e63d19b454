/* Whether a search need look at a shard. Little work: it is done on the thread that asks. */
#include "data/data_int.h"

void shard_can_match(struct shard_query *rq, struct shard *sh, struct view *v)
{
    rq->matches = true;
    if (rq->context == 0 && sh->refresh_owed) { /* a search would see more than this view has */
        return;
    }
    enum err e = rq->source == NULL ? search_parse_adapted(rq) : ERR_OK;
    if (e != ERR_OK) {
        return; /* the search itself will say so */
    }
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    shard_describe(&d, sh, v, settings);
    d.alias_filters = rq->alias_filters;
    d.n_alias_filters = rq->n_alias_filters;
    d.now_ms = rq->now_ms;
    struct shard_stop st;
    shard_stop_begin(&st, sh->service, &rq->rq);
    search_can_match(&rq->matches, &d, rq->source, &rq->rq.arena, &rq->rq.error);
    shard_stop_end(&st, &rq->rq);
    state_part_unref(&settings->part);
}
