/* active.h - waiting until enough copies of shards are active (wait_for_active_shards).
 *
 * A waiting request checks the applied state at intervals; it does not see every state in between. */
#ifndef COORDINATOR_CORE_ACTIVE_H
#define COORDINATOR_CORE_ACTIVE_H

#include "coordinator/core/delays.h"
#include "coordinator/core/op_env.h"

enum { ACTIVE_DEFAULT = -2, ACTIVE_ALL = -1 };
/* A value of wait_for_active_shards (p == NULL: none): a number of copies, or one of the above. */
enum err active_parse(struct str v, int32_t *out, struct errmsg *em);
/* The copies that `wanted` means for an index: ACTIVE_DEFAULT is its own setting, ACTIVE_ALL each of them. */
int32_t active_wanted(const struct index_meta *m, int32_t wanted);

struct active_wait {
    struct op_env *r;
    const struct str *names; /* concrete indices; the caller's, for as long as it takes */
    uint32_t n_names;
    bool one_shard; /* only this one of the index's */
    uint32_t shard;
    int32_t wanted;
    int64_t timeout_ms;
    void (*then)(struct active_wait *w,
                 bool active); /* once, on any thread, never inside active_wait_begin() */
    void *user;
    int64_t deadline_ms;
    struct state_wait wait;
    struct later end; /* when nothing has to be waited for */
};
/* Begins waiting, from any thread: calls then(true) once all of the indices have what is wanted (an index
 * that is not there any more is not waited for), then(false) after the timeout. `w` stays the caller's until
 * then. */
void active_wait_begin(struct active_wait *w);

#endif
