/* search_int.h - what the files of a search share: its steps in order, each of which ends in the next.
 *
 * search.c prepares, search_shards.c chooses, search_scatter.c asks, search_gather.c reduces and fetches,
 * search_expand.c searches the groups of a collapse, search_write.c prints. A step runs on whichever thread
 * the last answer came on. */
#ifndef COORDINATOR_SEARCH_INT_H
#define COORDINATOR_SEARCH_INT_H

#include "coordinator/search.h"

/* The search is a task from here to search_done(). */
void search_begin(struct search_call *c);
/* Shards ask now and then whether to go on: a client that has gone needs no answer either. */
bool search_cancelled(void *call);
/* The search is over: its owner hears of it. *c may be gone afterwards. */
void search_done(struct search_call *c);
/* The same with an error; c->error says which (none: no memory). */
void search_fail(struct search_call *c);

/* ---- search_shards.c ---- */
enum err search_check_boosts(struct search_call *c);
enum err search_choose_shards(struct search_call *c);

/* ---- search_scatter.c ---- */
void search_gather_stats(struct search_call *c);
void search_scatter(struct search_call *c);

/* ---- search_gather.c ---- */
void search_queried(struct shard_rq *rq); /* done() of the query phase */

/* ---- search_expand.c ---- */
/* The page is complete but for the groups' documents: fetches them when the request wants them, then
 * finishes. */
void search_expand(struct search_call *c);
void search_expansion_free(struct expansion *x); /* NULL ok */

/* ---- search_write.c ---- */
void search_write_hits(struct search_call *c, struct jsonw *w); /* the member "hits" */

/* ---- scroll_id.c ---- */
void search_scroll_id(struct search_call *c); /* sets c->scroll_id when there is to be one */

#endif
