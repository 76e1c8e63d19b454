/* core_trace_int.h - what the files of core_trace share: a course as it is kept, and how each kind of core is played. */
#ifndef SIM_CORE_TRACE_INT_H
#define SIM_CORE_TRACE_INT_H

#include "common/base/bytes.h"
#include "common/cluster/state.h"
#include "tests/sim/core_trace.h"

enum core { CORE_QUORUM, CORE_GROUP, CORE_FOLLOWER, CORE_TARGET, CORE_SOURCE, CORES };

#define CALL_EFFECT 100 /* others are the kinds of events, or functions */
#define CALL_NEW    101

/* The course of one core: records of a call, its input, its output. */
struct core_trace {
    struct core_trace *next;
    enum core core;
    const void *at; /* where it is; NULL: it is gone */
    unsigned node;
    bool idle; /* it is as a fresh one still */
    uint64_t n;
    struct buf tape;
    unsigned call; /* of the record that is being made */
    struct buf in, out;
    const void **objects; /* of the driver, by number; NULL: free */
    size_t n_objects;
    struct buf tracker; /* of a group, as it was left */
    struct cluster_state **states;
    size_t n_states;
};

/* A kind of core. `fresh` is what play() gets; strings are borrowed from the tape. */
struct core_player {
    const char *name;
    const char *const *calls, *const *effects;
    void *(*fresh)(const struct core_trace *c);
    void (*play)(void *core, unsigned call, struct bytes_in *in, struct buf *out);
    void (*end)(void *core);
};
extern const struct core_player quorum_player, group_player, follower_player, target_player, source_player;

/* Notes it; then in->in and out->out are filled, and trace_end() keeps them. NULL: only the last in words are kept, or nothing. fresh:
 * the core is as a new one. */
struct core_trace *trace_begin(enum core core, const void *at, unsigned call, bool fresh);
void trace_end(struct core_trace *c, bool idle); /* NULL ok */
/* An effect: notes what it is. */
void trace_effect(enum core core, unsigned kind);
/* The course that has that object; NULL: none. */
const void *trace_core_with(enum core core, const void *object);
/* The number of an object; *known: it had one. */
size_t trace_object(struct core_trace *c, const void *object, bool *known);
void trace_forget(struct core_trace *c, const void *object);

static inline bool trace_is_zero(const void *p, size_t n)
{
    const char *at = p;
    for (size_t i = 0; i < n; i++) {
        if (at[i] != 0) {
            return false;
        }
    }
    return true;
}

/* NULL and "" are two things. */
static inline void put_text(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    put_str(b, s);
}
static inline struct str get_text(struct bytes_in *in)
{
    bool there = get_bool(in);
    struct str s = get_str(in);
    return there ? s : STR_NULL;
}
void put_error(struct buf *b, const struct errmsg *em); /* NULL: none */
const struct errmsg *get_error(struct bytes_in *in, struct errmsg *em);

#endif
