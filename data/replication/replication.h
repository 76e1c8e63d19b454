/* replication.h - the writes of a shard on all of its copies: what the primary sends, waits for, and has taken back; what
 * a replica does with it.
 *
 * A request's operations go to every copy that tracker_sends_to(), in one message a copy unless they are many; the request
 * is answered when all of them have everything on their disks (or the master has taken those that failed out of the in-sync
 * set), and this copy too. A copy that the master promotes first re-sends what lies above the global checkpoint; until the
 * other copies in sync have it, requests wait. A copy that has operations the new primary has not, or others under the same
 * sequence numbers, refuses: it leaves the in-sync set before it forgets anything, and recovers as any copy does. So no
 * moment exists in which a copy in sync lacks an acknowledged write, whatever crashes then.
 *
 * Everything here runs on the shard's strand, but for what parses. Nothing is allocated or sent for a shard whose only
 * copy this is. */
#ifndef DATA_REPLICATION_REPLICATION_H
#define DATA_REPLICATION_REPLICATION_H

#include "data/replication/group.h"
#include "data/shard/shard.h"

/* ---- the role -------------------------------------------------------------------------------------------------- */

/* After shard_take_role(): the role is as the state says, the engine is the copy's or not there. Begins, keeps or ends leading;
 * learns of copies that came or went. */
void replication_follow(struct shard *sh, const struct cluster_state *state);
/* The engine goes: requests whose outcome depends on other copies, and messages, end. */
void replication_stop(struct shard *sh);
/* The shard's part; no request or message is out when it is freed. NULL part ok. */
enum err replication_new(struct shard *sh, struct errmsg *em);
void replication_free(struct shard *sh);
/* What a primary knows of the copies; NULL: this one does not lead. Borrowed until the strand's task ends. */
const struct tracker *replication_tracker(const struct shard *sh);
/* One of the other copies; NULL: there is none such, or this one does not lead. */
const struct tracked *replication_copy(const struct shard *sh, struct str allocation_id);
/* Now and then: idle copies get the global checkpoint; requests whose time is up are answered. */
void replication_tick(struct shard *sh, int64_t now_ms);
/* This copy's disk has more, or a flush wants to know: the global checkpoint of a primary may move. */
void replication_persisted(struct shard *sh);
/* A new mapping is applied: messages may wait for it. */
void replication_mapping_changed(struct shard *sh);
/* A sync has ended, or a refresh has made room: messages may wait for that. */
void replication_room(struct shard *sh);
/* What history must stay. */
void replication_retain(struct shard *sh);
/* Registers the handlers; the transport has not started. */
void replication_serve(struct data_service *s);

/* ---- recovery of other copies (of a leading primary) ------------------------------------------------------------ */

/* The copy gets every write from now on; operations up to engine_max_seq_no() it gets by its recovery. false: it is not
 * in the routing. */
bool replication_track(struct shard *sh, struct str allocation_id, struct str node);
/* It has everything up to its local checkpoint on its disk. *now: it is in sync; else ask again: it gets the rest as
 * writes. false: it is not tracked any more. */
bool replication_catch_up(struct shard *sh, struct str allocation_id, int64_t local_checkpoint, bool *now);
/* New requests wait from now on; drained(arg) runs on the strand (never inside the call) once none is under way and all
 * copies have answered. Then every copy in sync has every operation. */
void replication_drain(struct shard *sh, void (*drained)(void *arg), void *arg);
/* The handover failed for certain: requests go on. */
void replication_undrain(struct shard *sh);
bool replication_handing_over(const struct shard *sh); /* between the two */
/* A copy has everything up to there on its disk, as the primary before this one knew. */
void replication_advance(struct shard *sh, struct str allocation_id, int64_t local_checkpoint);
/* A recovery has given this copy the history of that term's primary. */
void replication_took_history(struct shard *sh, uint64_t term);

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* A request that waits until it may begin. */
struct parked_request {
    struct group_parked p; /* first */
    struct shard_waiter *waiter;
};

enum admission { ADMITTED, PARKED, REFUSED };
/* May a request begin to write? PARKED: p->waiter is woken later, without an error: ask again; with one: its time is up. REFUSED: em
 * says why; nothing was written. ADMITTED: replication_leave() when it has ended. */
enum admission replication_enter(struct shard *sh, struct parked_request *p, int64_t deadline_ms,
                                 struct errmsg *em);
void replication_leave(struct shard *sh);

/* What a request sends to the other copies. */
struct fanout;
/* NULL: there is no other copy (or no memory: em). */
struct fanout *fanout_new(struct shard *sh, struct errmsg *em);
/* An operation that was applied here, with the result's numbers. */
void fanout_add(struct fanout *f, const struct engine_op *op, const struct engine_result *res);
/* A retry of an operation that was applied before: the request ends when all copies have that. */
void fanout_needs(struct fanout *f, int64_t seq_no);
/* An item is refused, or left as it is, for what this copy has: true only while it is the primary, and once all copies
 * have what was looked at. The request ends when both is known. */
void fanout_confirm(struct fanout *f);
/* Sends what was added since. Not `last`: only when it is much, or `hurry`. */
void fanout_send(struct fanout *f, enum refresh_policy refresh, bool hurry, bool last);
/* What copies have shows in searches, also of those that recover and that nobody who asks for a refresh knows yet. One that
 * does not do it has missed nothing, and stays. */
void fanout_refresh(struct fanout *f);
/* Do all copies have everything (or is it known that they will not: *em)? */
bool fanout_settled(const struct fanout *f, struct errmsg *em);
/* Woken when fanout_settled(), at the latest at deadline_ms (0: none), then with ERR_TIMEOUT. */
void fanout_wait(struct fanout *f, struct shard_waiter *w, int64_t deadline_ms);
/* Copies that have it, this one included; that failed. */
void fanout_count(const struct fanout *f, uint32_t *ok, uint32_t *failed);
void fanout_free(struct fanout *f); /* the request has ended; NULL ok */

/* Asserts what always holds of a shard that no task works on. */
void replication_invariant(const struct shard *sh);

#endif
