/* follower.h - a copy of a shard as it follows its primary: which messages count, what is done with them and in which order, how each
 * is answered. A pure core.
 *
 * No clock, thread, message or memory of its own here: the driver makes messages, and embeds these structs. follower_step() takes what
 * has happened; follower_effect() gives what follows, one thing after another, until there is nothing more. One thing at a time is done
 * with a message, and its end is an event; the last one is FOLLOWER_REPLY or FOLLOWER_REFUSE.
 *
 * A copy follows one history. A new primary first re-sends what lies above the global checkpoint. Older primaries are refused from the
 * first part of that on, its own writes until the last part is here. A copy that has other operations than the new primary forgets
 * nothing: it refuses, until it is out of the in-sync set and recovers. */
#ifndef DATA_REPLICATION_FOLLOWER_H
#define DATA_REPLICATION_FOLLOWER_H

#include "data/replication/replication_bytes.h"

#define FOLLOWER_ID_BYTES 64            /* of allocation ids */
#define FOLLOWER_OWN_MAX  (1024 * 1024) /* operations above the global checkpoint: a copy with more recovers */

enum follower_effect_kind {
    FOLLOWER_NOTHING,
    FOLLOWER_PARSE,  /* off the strand; then FOLLOWER_PARSED, if it can be read */
    FOLLOWER_RETURN, /* others on the strand first; then FOLLOWER_PARSED */
    FOLLOWER_READ,   /* the operations that are here, `from` to `to`; then FOLLOWER_OWN */
    FOLLOWER_APPLY,  /* its operations from `at` on; then FOLLOWER_APPLIED */
    FOLLOWER_KEEP,   /* all are applied: they become durable, if they must; then FOLLOWER_KEPT */
    FOLLOWER_SHOW,   /* searches see them, if they must; then FOLLOWER_SHOWN */
    FOLLOWER_REPLY,  /* the last one, as */
    FOLLOWER_REFUSE, /* this one: because of `why` */
    FOLLOWER_SYNC /* of no message: nothing can be applied before the log is synced; FOLLOWER_ROOM some time */
};

enum follower_refusal {
    FOLLOWER_FAILED,      /* the driver's error */
    FOLLOWER_NOT_HERE,    /* the copy that is meant */
    FOLLOWER_CLOSING,     /* nothing may wait here any more */
    FOLLOWER_STOPPED,     /* while it waited */
    FOLLOWER_NO_MAPPING,  /* has come in time */
    FOLLOWER_STALE_TERM,  /* there is a primary of term `there` */
    FOLLOWER_NO_HISTORY,  /* of that term */
    FOLLOWER_DIVERGED,    /* it is known that the copy has */
    FOLLOWER_OTHER_TERM,  /* `seq_no` is of term `here`, there of term `there` */
    FOLLOWER_HAS_MORE,    /* up to `here`, there up to `there` */
    FOLLOWER_HAS_TOO_MANY /* `here` operations above the global checkpoint */
};

/* What a message is in. */
enum follower_state {
    FOLLOWER_AWAY, /* not handed to the core, or given back to be parsed */
    FOLLOWER_READING,
    FOLLOWER_APPLYING,
    FOLLOWER_KEEPING,
    FOLLOWER_SHOWING,
    FOLLOWER_FOR_MAPPING, /* it waits for that */
    FOLLOWER_FOR_ROOM,
    FOLLOWER_ENDED
};

struct follower_message {
    /* the driver's */
    const struct replication_msg *msg;
    bool resync;
    int64_t deadline_ms; /* of a wait for a mapping */
    /* the core's */
    struct follower_message *next; /* waiting, or due */
    enum follower_state state;
    enum follower_effect_kind due;
    enum follower_refusal why;
    bool diverges; /* it has shown that the copy has diverged */
    size_t at;     /* its first operation that is not applied */
    int64_t seq_no, here, there;
};

struct follower {
    char id[FOLLOWER_ID_BYTES]; /* the copy that this is about */
    uint64_t term;              /* of the newest primary whose history is this copy's */
    uint64_t resync_term;       /* of the one that is re-sending its history; 0: none has */
    bool diverged;              /* from that one's history */
    const int64_t *
        own; /* terms of the operations from own_from on, as they were when that began; 0: none. The driver's */
    size_t n_own;
    int64_t own_from;
    struct follower_message *waiting; /* newest first */
    struct follower_message *due;     /* oldest first */
    bool syncs;
};

enum follower_event_kind {
    FOLLOWER_COPY,     /* the state has the copy `id` here; its primary is of `term` */
    FOLLOWER_HISTORY,  /* it has that of the primary of `term`: by a recovery, or because it leads */
    FOLLOWER_UNPARSED, /* `message`: there was no mapping for it */
    FOLLOWER_PARSED,   /* `message` */
    FOLLOWER_OWN,      /* `own`, `n`; or an error. They stay until follower_has_own() says no */
    FOLLOWER_APPLIED,  /* `n` operations, and why no more: ERR_REJECTED: no room before a sync */
    FOLLOWER_KEPT,     /* or an error */
    FOLLOWER_SHOWN,    /* or an error */
    FOLLOWER_LOST,     /* there was no engine for what was due */
    FOLLOWER_MAPPING,  /* a newer one is here */
    FOLLOWER_ROOM,     /* a sync has ended */
    FOLLOWER_TICK,     /* it is now_ms */
    FOLLOWER_STOP      /* the engine goes */
};

struct follower_event {
    enum follower_event_kind kind;
    struct follower_message *message;
    enum err error;
    struct str id;
    uint64_t term;
    const int64_t *own;
    size_t n;
    int64_t now_ms;
};

/* What the driver knows. */
struct follower_view {
    struct str copy; /* that is open here; p == NULL: none */
    uint64_t term;   /* as the state has it */
    bool primary, initializing;
    bool leads;   /* writes begin here */
    bool leaving; /* nothing may wait */
    uint64_t mapping_version;
    int64_t max_seq_no, global_checkpoint; /* of the engine, when a copy is open */
};

struct follower_effect {
    enum follower_effect_kind kind;
    struct follower_message *message;
    int64_t from, to;
};

void follower_step(struct follower *f, const struct follower_event *e, const struct follower_view *v);
bool follower_effect(struct follower *f, struct follower_effect *out);
static inline bool follower_has_own(const struct follower *f)
{
    return f->own != NULL;
}
void follower_invariant(const struct follower *f);

#endif
