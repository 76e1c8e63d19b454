/* state_log.h - the term and the last accepted cluster state of a node, on disk.
 *
 * One file, <dir>/state-<n>.log: a snapshot, then differences as they are accepted; past a few times the
 * snapshot's size a new file begins with a new snapshot and takes the old one's place. Writing a state costs
 * what has changed in it. docs/store-format.md draws the bytes. One thread at a time. */
#ifndef MASTER_STATE_LOG_H
#define MASTER_STATE_LOG_H

#include "common/base/fs.h"
#include "common/cluster/state.h"

struct state_log;

/* Reads what is there, or begins: *state NULL, *term 0. A torn last record never was; ERR_CORRUPT when one is
 * damaged, or the file is not there or shorter than the seal says (master/state_seal.h): a promise to other nodes may
 * have been lost with it. *state is a reference for the caller. `dir` is made. */
enum err state_log_open(struct state_log **out, const struct fs *fs, const char *dir, uint64_t *term,
                        struct cluster_state **state, struct errmsg *em);
/* The same without changing anything: for who looks at the folder of a node that is not running. */
enum err state_log_read(const struct fs *fs, const char *dir, uint64_t *term, struct cluster_state **state,
                        struct errmsg *em);
/* Durable when it returns ERR_OK. state NULL: the one of before. After an error nothing is known of what is
 * on disk, until a later write succeeds. */
enum err state_log_write(struct state_log *l, uint64_t term, struct cluster_state *state, struct errmsg *em);
void state_log_close(struct state_log *l); /* NULL ok */

#endif
