/* The thread's own reason to end, and looking at it. */
#include "common/base/stop.h"

_Thread_local struct stop *stop_of_thread;

void stop_enter(struct stop *s)
{
    s->before = stop_of_thread;
    stop_of_thread = s;
}

void stop_leave(struct stop *s)
{
    assert(stop_of_thread == s);
    stop_of_thread = s->before;
}

static bool stop_look(struct stop *s)
{
    if (s->on) {
        return true;
    }
    if ((s->within && s->before != NULL && stop_look(s->before)) || (s->asked != NULL && s->asked(s->self))) {
        s->on = true;
    } else if (s->clock != NULL && s->clock->mono_ns(s->clock->self) > s->deadline_ns) {
        s->on = s->late = true;
    }
    return s->on;
}

bool stop_now(void)
{
    return stop_of_thread != NULL && stop_look(stop_of_thread);
}
