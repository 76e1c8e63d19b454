/* search_int.h - declarations shared by the files of a search: its steps in order, each of which ends in the next.
 *
 * search.c prepares, search_shards.c chooses, search_scatter.c asks, search_gather.c reduces and fetches,
 * search_expand.c searches the groups of a collapse, search_write.c prints. A step runs on whichever thread
 * the last answer came on. */
#ifndef COORDINATOR_OPS_SEARCH_INT_H
#define COORDINATOR_OPS_SEARCH_INT_H

#include "common/base/stop.h"
#include "coordinator/ops/search.h"

/* The search is a task from here to search_done(). */
void search_begin(struct search_call *c);
/* Shards ask now and then whether to go on: a client that has gone needs no answer either. */
bool search_cancelled(void *call);
/* Work for the call on this thread ends when the call does (common/base/stop.h). It must not answer the call meanwhile. */
void search_stop_begin(struct search_call *c, struct stop *st);
/* e, or ERR_CANCELLED, which the call's error then says. */
enum err search_stop_end(struct search_call *c, struct stop *st, enum err e);
/* The request belongs to the search: it is cancelled with it, and its task is a child of the search's task. */
void search_part(struct search_call *c, struct shard_rq *rq);
/* The search is over: done() is called later (common/base/later.h). */
void search_done(struct search_call *c);
/* The same with an error; c->error says which (none: no memory). */
void search_fail(struct search_call *c);

/* ---- search_shards.c ---- */
enum err search_check_boosts(struct search_call *c);
enum err search_choose_shards(struct search_call *c);
/* Refuses what the preference makes impossible, and a search that has to be whole and cannot be. */
enum err search_check_copies(struct search_call *c);
/* The name of the search's first phase. */
const char *search_first_phase(const struct search_call *c);
/* One of the shards that are asked, of an index. */
void search_ask(struct search_call *c, struct shard_query *q, const struct index_meta *m, uint32_t shard);

struct search_body search_body_of(const struct search_call *c);

/* ---- search_can_match.c ---- */
/* Are the shards asked first whether they can match at all? */
bool search_prefilters(const struct search_call *c);
/* Asks them, leaves out those that cannot, and searches the others. */
void search_filter_shards(struct search_call *c);

/* ---- search_scatter.c ---- */
void search_gather_stats(struct search_call *c);
void search_scatter(struct search_call *c);
/* Sends n_shards requests of one phase, an array of structs of `size` bytes that begin with them; c may be gone
 * afterwards. */
void search_send(struct search_call *c, struct shard_rq *first, size_t size);

/* The request of another phase goes to the same copy and context. */
void search_same_shard(struct search_call *c, struct shard_rq *rq, const struct shard_rq *as);

/* ---- search_gather.c ---- */
void search_queried(struct shard_rq *rq); /* done() of the query phase */

/* ---- search_expand.c ---- */
/* The page is complete but for the groups' documents: fetches them when the request wants them, then
 * finishes. */
void search_expand(struct search_call *c);
void search_expansion_free(struct expansion *x); /* NULL ok */

/* ---- search_write.c ---- */
void search_write_hits(struct search_call *c, struct jsonw *w); /* the member "hits" */

/* ---- pit.c ---- */
/* The checks of a request with a point in time. */
enum err pit_check(struct search_call *c);
/* Its contexts are looked up, and its sort gets the tiebreaker of points in time: the body is another then. */
enum err pit_prepare(struct search_call *c);
enum err pit_choose_shards(struct search_call *c);
/* Sets c->pit_id when the search opened a point in time or read one. */
void pit_answer(struct search_call *c);

/* ---- scroll_id.c ---- */
void search_scroll_id(struct search_call *c); /* sets c->scroll_id when there is to be one */

#endif
