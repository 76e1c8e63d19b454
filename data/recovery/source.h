/* source.h - a recovery on the side that gives: a pure core, one a target.
 *
 * The target asks; this decides what it is answered: which way it recovers, which batch of operations it gets, whether it is in sync,
 * whether this copy's place is handed to it, and when it is forgotten. No clock, thread, file or message here. */
#ifndef DATA_RECOVERY_SOURCE_H
#define DATA_RECOVERY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define SOURCE_SESSION_MS       1800000 /* a target that is silent for so long is forgotten */
#define SOURCE_FINALIZE_WAIT_MS 1000    /* then the target is asked to look at its own checkpoint again */
/* More operations than this, and more than a tenth of the documents: files are quicker. */
#define SOURCE_OPS_ALWAYS 20000

/* What the source has, and what the target says that it has. */
struct source_choice {
    int64_t from;         /* the first operation that the target lacks; below 0: all */
    bool same_history;    /* its numbers mean the same operations */
    int64_t max_seq_no;   /* the last one here */
    int64_t history_from; /* the first one that is here still */
    uint64_t docs;
};
/* Are operations enough? Else files. */
bool source_by_operations(const struct source_choice *c);

struct source {
    uint64_t batch; /* the number of the last one, plus one */
    bool begun;     /* operations are being sent: it gets every write */
    bool reading;   /* a batch */
    bool waits;     /* FINALIZE is answered when it has caught up */
    bool in_sync;
    bool handing_over; /* HANDOFF is answered when no write is under way */
};

enum source_answer {
    SOURCE_ANSWER,      /* what was asked for */
    SOURCE_ANSWER_LAST, /* the batch before: its answer was lost */
    SOURCE_BEGIN,       /* the target gets every write, and the history is opened; then SOURCE_READ */
    SOURCE_READ,        /* the next batch, off the strand; then source_read() */
    SOURCE_LATER,       /* it is kept: source_look() says when it is answered */
    SOURCE_BUSY,        /* refused, and asked again */
    SOURCE_NOT_NEXT,    /* refused: no such batch */
    SOURCE_GONE         /* refused: the target is not a copy any more */
};

/* The target has asked for that. */
enum source_answer source_ask_ops(struct source *s, uint64_t batch);
/* caught_up: it is a copy still, and has what it says; in_sync: that is enough. */
enum source_answer source_ask_finalize(struct source *s, bool caught_up, bool in_sync);
/* moves_here: the state has this copy move to the target. */
enum source_answer source_ask_handoff(struct source *s, bool moves_here);
/* SOURCE_BEGIN has been done, and the batch is being read; it has been. */
void source_begun(struct source *s);
void source_read(struct source *s, bool ok);
/* Nothing is under way any more: SOURCE_LATER of a handover is answered now, if one waits. */
bool source_drained(struct source *s);

struct source_view {
    bool tracked;      /* the target is a copy on a node */
    bool in_sync;      /* by the tracker */
    bool handing_over; /* another copy takes this one's place: nobody else becomes in sync */
    int64_t silent_ms; /* since its last message */
};
enum source_look {
    SOURCE_GOES_ON,
    SOURCE_FINALIZES, /* FINALIZE is answered, with in_sync */
    SOURCE_OVER       /* the target is forgotten */
};
/* Something has changed, or (tick) time has passed. */
enum source_look source_look(struct source *s, const struct source_view *v, bool tick);

#endif
