/* stop.h - the cancellation of long work.
 *
 * A function that begins work for a client (a search on a shard, the reduction of shard results, the analysis of a text)
 * sets on its thread the conditions that end the work: a function that is called now and then (is the client gone, was the
 * task cancelled, does the node stop), and a deadline. The functions below it, however deep, check them in every loop that
 * may be long, and leave the loop early. Their results are then useless: they may be incomplete or wrong, but must be safe
 * to free. The function that began the work checks once more at the end, and answers accordingly. docs/decisions/stopping.md.
 *
 * The current stop belongs to the thread, so no function in between has to hand it down. A thread without one is never
 * stopped. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include "common/base/clock.h"

struct stop {
    bool (*asked)(void *self); /* NULL: nobody */
    void *self;
    const struct clock *clock; /* with `deadline_ns`; NULL: no time is set */
    int64_t deadline_ns;       /* of the clock's mono_ns */
    bool within;               /* the one that held before ends this work too */
    /* what happened */
    bool on;   /* it is to end; never taken back */
    bool late; /* because of the deadline */
    uint32_t polls;
    size_t work;         /* since it was looked at, by stop_worked() */
    struct stop *before; /* what held before */
};

extern _Thread_local struct stop *stop_of_thread; /* for the functions below alone */

/* From here to stop_leave() `s`, which is the caller's, ends what runs on this thread. They nest. */
void stop_enter(struct stop *s);
void stop_leave(struct stop *s);
/* Is the work to end? Costs some 50 ns: for steps of a microsecond and more. */
bool stop_now(void);
/* Did somebody find that already? Costs next to nothing. */
static inline bool stop_is_on(void)
{
    const struct stop *s = stop_of_thread;
    return s != NULL && s->on;
}
/* The same for inner loops: looks only every 256th time. */
static inline bool stop_often(void)
{
    struct stop *s = stop_of_thread;
    return s != NULL && (s->on || ((++s->polls & 255) == 0 && stop_now()));
}

#define STOP_WORK 4096 /* between two looks; of a few nanoseconds each */
/* The same for loops whose steps differ: `n` says what this one is worth, in units of some nanoseconds. */
static inline bool stop_worked(size_t n)
{
    struct stop *s = stop_of_thread;
    if (s == NULL || s->on) {
        return s != NULL;
    }
    s->work += n;
    if (s->work < STOP_WORK) {
        return false;
    }
    s->work = 0;
    return stop_now();
}

#endif
