/* recovery.h - bringing a copy of a shard to another node.
 *
 * The target asks, the source (the node of the primary) answers: what it has to send, chunks of files, batches of
 * operations, the end, and for the relocation of a primary the handing over (docs/cluster.md, "Recovery";
 * proto/recovery_bytes.h). The target decides about retries, speed and failure; a source keeps what it has promised
 * (files, operations) until the target has ended or has been silent for a while. Both live on their
 * shard's strand; files are read and written, engines opened, on the pools. Everything that waits for time waits for
 * the tick: 100 ms. */
#ifndef DATA_RECOVERY_RECOVERY_H
#define DATA_RECOVERY_RECOVERY_H

#include "data/shard/shard.h"
#include "proto/recovery_bytes.h"

#define RECOVERY_OPS_BYTES ((size_t)512 << 10) /* a batch ends with the operation that reaches it */
#define RECOVERY_PARK_MS   5000 /* how long a source waits for the state that names the target */

/* ---- the node's (recovery.c) ---- */

/* Says to the transport what is served; before it starts. */
enum err recovery_init(struct data_service *s, struct errmsg *em);
void recovery_fini(struct data_service *s); /* once no shard is left */
/* indices.recovery.max_bytes_per_sec. Any thread. */
void recovery_take_settings(struct data_service *s, const struct cluster_state *state);
/* Any thread, every 100 ms: lets wait what is over the limit, and no longer. */
void recovery_tick(struct data_service *s);

/* Bytes may pass; or wait for the tick, as what passed before has to be made up for. Any thread. */
enum recovery_way { RECOVERY_IN, RECOVERY_OUT };
bool recovery_may_pass(struct data_service *s, enum recovery_way way, size_t bytes);

/* ---- a shard's; strand ---- */

/* The copy that belongs here is on another node. Ends in shard_tell_started() or shard_fail(). */
void recovery_begin(struct shard *sh);
/* A copy begins to be opened, empty or from this disk; it has been. */
void recovery_note_opening(struct shard *sh, bool empty);
void recovery_note_opened(struct shard *sh);
/* Something has changed: the role, the mapping, what is durable, the copies' checkpoints; or time has passed. */
void recovery_step(struct shard *sh, bool tick);
/* The engine goes, or the copy is the primary no more: those that recover from it begin again elsewhere. */
void recovery_sessions_free(struct shard *sh);
/* The strand is dead: nothing of a recovery ends any more. The caller has a reference. */
void recovery_abandon(struct shard *sh);

/* The shard's part; no session or target is left when it is freed. NULL part ok. */
enum err recovery_new(struct shard *sh, struct errmsg *em);
void recovery_free(struct shard *sh);
/* How the copy came to be. Borrowed. */
const struct shard_recovery *recovery_figures(const struct shard *sh);
/* Asserts what always holds of a shard that no task works on. */
void recovery_invariant(const struct shard *sh);

#endif
