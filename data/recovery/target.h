/* target.h - the course of a recovery, on the side that receives: a pure core.
 *
 * It decides what is done next, from what is on disk to a copy that is in sync: which question is put to the source, which part of
 * which file or which batch of operations comes next, what is tried again, and when it fails. No clock, thread, file or message
 * here: target_step() takes what has happened, target_effect() gives what is to be done. What is `out` (a request, a job) has its
 * end reported by one event; everything else has its outcome reported before the next effect is asked for.
 *
 * A source that does not answer, or has become another node, is no failure: with the next tick the recovery goes on, or begins
 * again, with whatever the state then says. What is on disk stays what it was until all that takes its place is there. */
#ifndef DATA_RECOVERY_TARGET_H
#define DATA_RECOVERY_TARGET_H

#include "common/base/err.h"

#define TARGET_CHUNKS_MAX   4 /* parts of files on their way at a time */
#define TARGET_FAILURES_MAX 3 /* of the source's side, in a row */

enum target_step {
    TARGET_OPEN,     /* what is on disk already is opened, to see how far it goes */
    TARGET_ASK,      /* START */
    TARGET_LOOK,     /* which of the source's files are here? */
    TARGET_COPY,     /* the others */
    TARGET_INSTALL,  /* the files become the copy */
    TARGET_ROLLBACK, /* or: what is here goes back to what all copies have */
    TARGET_TAKE,     /* the engine is the shard's */
    TARGET_OPS,
    TARGET_APPLY,
    TARGET_SYNC,
    TARGET_FINALIZE,
    TARGET_HANDOFF,
    TARGET_DONE,
    TARGET_CLOSE /* the engine is not what is needed any more: from the beginning */
};
enum target_end { TARGET_GOES_ON, TARGET_AGAIN, TARGET_FAILS, TARGET_CANCELLED };

enum target_effect_kind {
    /* jobs, out: */
    TARGET_DO_OPEN,     /* the copy on disk; TARGET_OPENED */
    TARGET_DO_LOOK,     /* closes the engine; TARGET_LOOKED */
    TARGET_DO_WRITE,    /* the first `n` chunks; TARGET_WRITTEN */
    TARGET_DO_INSTALL,  /* opens the engine; TARGET_INSTALLED */
    TARGET_DO_ROLLBACK, /* TARGET_ROLLED_BACK */
    TARGET_DO_YIELD,    /* others on the strand first; TARGET_RESUMED */
    /* questions, out; TARGET_LOST when there is no answer to read: */
    TARGET_DO_START, /* TARGET_STARTED; or at once TARGET_NO_SOURCE */
    TARGET_DO_CHUNK, /* `slot`: TARGET_CHUNK or TARGET_CHUNK_LOST; or at once, unless `again`, TARGET_CHUNK_HELD */
    TARGET_DO_OPS,      /* `batch`; TARGET_GOT_OPS */
    TARGET_DO_FINALIZE, /* TARGET_FINALIZED */
    TARGET_DO_HANDOFF,  /* TARGET_HANDED_OVER */
    /* at once: */
    TARGET_DO_TAKE,    /* TARGET_TAKEN */
    TARGET_DO_APPLY,   /* operations of the batch; TARGET_APPLIED or TARGET_UNREADABLE or TARGET_NOT_YET */
    TARGET_DO_SYNC,    /* all that there is when `first`; TARGET_SYNCED or TARGET_NOT_YET */
    TARGET_DO_CLOSE,   /* the shard's engine; TARGET_CLOSED or TARGET_BUSY */
    TARGET_DO_ABANDON, /* what is out ends soon; no event */
    TARGET_DO_RESET,   /* parts of files, and of answers, are forgotten; no event */
    TARGET_DO_LEAVE    /* the last one: see `end`; TARGET_GOES_ON: the copy is complete */
};

struct target_effect {
    enum target_effect_kind kind;
    unsigned n, slot;
    bool again, first;
    uint64_t batch;
    enum target_end end;
};

enum target_event_kind {
    TARGET_CHANGED,     /* something has: what waits for no tick looks again */
    TARGET_TICK,        /* time has passed */
    TARGET_SOURCE_GONE, /* it is another process by now, or on another node */
    TARGET_LOST,        /* a question got no answer, `error` */
    TARGET_UNREADABLE,  /* an answer makes no sense, out or not */
    TARGET_OPENED,      /* `error`; has_engine */
    TARGET_NO_SOURCE,
    TARGET_STARTED, /* session's term; by_files */
    TARGET_LOOKED,  /* `error`; n_files, bytes, have */
    TARGET_CHUNK,   /* `slot` */
    TARGET_CHUNK_LOST,
    TARGET_CHUNK_HELD,  /* over the limit of bytes a second */
    TARGET_WRITTEN,     /* `error` */
    TARGET_INSTALLED,   /* the same */
    TARGET_ROLLED_BACK, /* the same */
    TARGET_RESUMED,
    TARGET_TAKEN,
    TARGET_GOT_OPS, /* batch, n_ops, more */
    TARGET_APPLIED, /* n_ops of them; `error`: why no more */
    TARGET_NOT_YET,
    TARGET_SYNCED,
    TARGET_FINALIZED, /* in_sync; moves: this one takes the primary's place */
    TARGET_HANDED_OVER,
    TARGET_CLOSED,
    TARGET_BUSY
};

struct target_event {
    enum target_event_kind kind;
    const struct errmsg *error; /* NULL: none */
    union {
        bool has_engine; /* TARGET_OPENED */
        unsigned slot;   /* TARGET_CHUNK, TARGET_CHUNK_LOST */
        struct {
            uint64_t term;
            bool by_files;
        } started;
        struct { /* borrowed until the next one */
            const uint64_t *bytes;
            const bool *have;
            size_t n;
        } files;
        struct {
            uint64_t batch, n;
            bool more;
        } ops;
        struct {
            bool in_sync, moves;
        } finalized;
    };
};

/* What the state wants, as the driver knows it. */
struct target_view {
    bool wanted;   /* this copy, from another one */
    uint64_t term; /* of the primary */
};

enum chunk_state { CHUNK_ASKED, CHUNK_HERE, CHUNK_LOST, CHUNK_AGAIN };
struct target_chunk {
    enum chunk_state state;
    size_t file;
    uint64_t offset;
    uint32_t length;
};

struct target {
    enum target_step step;
    enum target_end end; /* comes true once nothing is out */
    struct errmsg why;   /* TARGET_FAILS; in memory of the driver's */
    unsigned out;        /* questions and jobs */
    bool waits;          /* for the tick */
    bool idle;           /* until something has changed */
    bool abandoned;      /* what is out was told to end */
    bool yields;
    unsigned failures; /* of the source's side, in a row */
    bool has_engine;   /* open, not the shard's yet */
    bool taken;        /* it is the shard's now */
    bool no_history;   /* files are wanted whatever is here */
    uint64_t term;     /* of the primary that is the source */
    uint32_t chunk_bytes;
    /* files */
    const uint64_t *bytes;
    const bool *have;
    size_t n_files;
    size_t file; /* the next to ask for */
    uint64_t offset;
    struct target_chunk chunks[TARGET_CHUNKS_MAX]; /* a ring, in the order of the bytes */
    unsigned first, n_chunks, n_writing;
    /* operations */
    uint64_t batch, left;
    bool more, syncing;
};

/* chunk_bytes: the largest part of a file that is asked for. why: holds what it fails with. */
void target_init(struct target *t, uint32_t chunk_bytes, struct arena *why);
void target_step(struct target *t, const struct target_event *e);
/* What is to be done; false: nothing before the next event. Nothing more comes after TARGET_DO_LEAVE. */
bool target_effect(struct target *t, const struct target_view *v, struct target_effect *out);
void target_invariant(const struct target *t);

#endif
