/* retry.h - the meaning of a failed request to a copy, and the choice of the next copy. Pure. */
#ifndef COORDINATOR_CORE_RETRY_H
#define COORDINATOR_CORE_RETRY_H

#include "common/base/err.h"
#include "coordinator/core/copies.h"

/* Could another copy answer what this one could not? */
bool retry_read(const struct errmsg *em);
/* The copy was not there, or not ready: that says nothing of the request. */
bool retry_unavailable(const struct errmsg *em);

enum retry_write {
    RETRY_NOT,      /* the answer stands */
    RETRY_FRESH,    /* nothing was written; another node may be the primary's now */
    RETRY_UNKNOWN,  /* it may have been written: again, as a retry under the same names */
    RETRY_ELSEWHERE /* the same, if there is another copy: the one that was asked fails for good */
};
enum retry_write retry_write(const struct errmsg *em);
/* How long to wait for another state before the n-th repetition (from 1) goes out without one. */
int64_t retry_pause_ms(uint32_t n);

/* One reading request on its way through the copies of a shard. */
struct retry_reads {
    struct copies copies;
    uint32_t at;         /* the next one */
    uint64_t version;    /* of the state that the copies are from */
    struct errmsg *kept; /* the caller's error if no copy answers; NULL: none yet */
    struct str kept_node;
};
/* p == NULL: all have been asked. */
struct str retry_next(struct retry_reads *t);
/* A copy failed: the error is kept (in `arena`) unless it says less than the one that is. */
void retry_failed(struct retry_reads *t, struct str node, const struct errmsg *em, struct arena *arena);
/* The copies of a later state: those that were not asked yet come next. */
void retry_renew(struct retry_reads *t, const struct copies *now);

#endif
