/* The check whether a shard can match a search. It is little work, and is done on the calling thread. */
#include "data/search/search_int.h"

void search_answer_can_match(struct shard_can_match *rq, struct shard *sh, struct view *v)
{
    rq->matches = true;
    if (rq->rq.context == 0 && sh->upkeep.refresh_owed) { /* a search would see more than this view has */
        return;
    }
    if (search_body_read(&rq->rq, &rq->body) != ERR_OK) {
        return; /* the search itself will say so */
    }
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    search_describe(&d, sh, v, settings, &rq->scope);
    struct shard_stop st;
    shard_stop_begin(&st, sh->service, &rq->rq);
    search_can_match(&rq->matches, &d, rq->body.source, &rq->rq.arena, &rq->rq.error);
    shard_stop_end(&st, &rq->rq);
    state_part_unref(&settings->part);
}
