/* The functions in the place of those of data/replication/group.c: what comes in is kept, and what follows. */
#include "tests/sim/core_trace_int.h"
#include "tests/sim/trace_group.h"

#include <string.h>

/* Calls that take at most two numbers. */
#define CALL(name, call, at, more, ...)                    \
    {                                                      \
        struct core_trace *c = trace_group_begin(g, call); \
        put_numbers(c, at, more);                          \
        __real_##name(__VA_ARGS__);                        \
        trace_group_end(c, g);                             \
    }

static void put_numbers(struct core_trace *c, int64_t at, int64_t more)
{
    if (c != NULL) {
        put_zigzag(&c->in, at);
        put_zigzag(&c->in, more);
    }
}

/* As C's texts are read again. */
static void put_c_text(struct buf *b, const char *s)
{
    put_str(b, str_mk(s, strlen(s) + 1));
}

#define PLAIN_CALLS(X)                       \
    X(group_begin, CALL_BEGIN)               \
    X(group_stop, CALL_STOP)                 \
    X(group_end_lease, CALL_END_LEASE)       \
    X(group_report_lost, CALL_REPORT_LOST)   \
    X(group_check_active, CALL_CHECK_ACTIVE) \
    X(group_checkpoint_moved, CALL_MOVED)    \
    X(group_leave, CALL_LEAVE)               \
    X(group_drain, CALL_DRAIN)               \
    X(group_undrain, CALL_UNDRAIN)
#define PLAIN_CALL(name, call)           \
    void __real_##name(struct group *g); \
    void __wrap_##name(struct group *g); \
    void __wrap_##name(struct group *g) CALL(name, call, 0, 0, g)
PLAIN_CALLS(PLAIN_CALL)

void __real_group_serve(struct group *g, bool promoted);
void __wrap_group_serve(struct group *g, bool promoted);
void __wrap_group_serve(struct group *g, bool promoted)
    CALL(group_serve, CALL_SERVE, promoted, 0, g, promoted)

        void __real_group_forget_gone(struct group *g, int64_t now_ms);
void __wrap_group_forget_gone(struct group *g, int64_t now_ms);
void __wrap_group_forget_gone(struct group *g, int64_t now_ms)
    CALL(group_forget_gone, CALL_FORGET_GONE, now_ms, 0, g, now_ms)

        void __real_group_expire(struct group *g, int64_t now_ms);
void __wrap_group_expire(struct group *g, int64_t now_ms);
void __wrap_group_expire(struct group *g, int64_t now_ms)
    CALL(group_expire, CALL_EXPIRE, now_ms, 0, g, now_ms)

        void __real_group_tick(struct group *g, int64_t now_ms, int64_t max_seq_no);
void __wrap_group_tick(struct group *g, int64_t now_ms, int64_t max_seq_no);
void __wrap_group_tick(struct group *g, int64_t now_ms, int64_t max_seq_no)
    CALL(group_tick, CALL_TICK, now_ms, max_seq_no, g, now_ms, max_seq_no)

        bool __real_group_still_quiet(struct group *g);
bool __wrap_group_still_quiet(struct group *g);
bool __wrap_group_still_quiet(struct group *g)
{
    struct core_trace *c = trace_group_begin(g, CALL_STILL_QUIET);
    put_numbers(c, 0, 0);
    bool quiet = __real_group_still_quiet(g);
    if (c != NULL) {
        put_bool(&c->out, quiet);
    }
    trace_group_end(c, g);
    return quiet;
}

enum group_admission __real_group_enter(struct group *g, struct group_parked *p, int64_t deadline_ms);
enum group_admission __wrap_group_enter(struct group *g, struct group_parked *p, int64_t deadline_ms);
enum group_admission __wrap_group_enter(struct group *g, struct group_parked *p, int64_t deadline_ms)
{
    struct core_trace *c = trace_group_begin(g, CALL_ENTER);
    put_numbers(c, deadline_ms, 0);
    if (c != NULL) {
        trace_put_parked(c, p);
    }
    enum group_admission a = __real_group_enter(g, p, deadline_ms);
    if (c != NULL) {
        put_u8(&c->out, (uint8_t)a);
        if (a != GROUP_PARKED) {
            trace_forget(c, p);
        }
    }
    trace_group_end(c, g);
    return a;
}

/* ---- copies -------------------------------------------------------------------------------------------------- */

static struct core_trace *begin_of_copy(const struct group *g, const struct group_copy *x,
                                        enum group_call call)
{
    struct core_trace *c = trace_group_begin(g != NULL ? g : trace_core_with(CORE_GROUP, x), call);
    if (c != NULL) {
        trace_put_copy(c, x);
    }
    return c;
}

void __real_group_add(struct group *g, struct group_copy *x);
void __wrap_group_add(struct group *g, struct group_copy *x);
void __wrap_group_add(struct group *g, struct group_copy *x)
{
    struct core_trace *c = begin_of_copy(g, x, CALL_ADD);
    __real_group_add(g, x);
    trace_group_end(c, g);
}

void __real_group_place(struct group_copy *x, bool placed);
void __wrap_group_place(struct group_copy *x, bool placed);
void __wrap_group_place(struct group_copy *x, bool placed)
{
    struct core_trace *c = begin_of_copy(NULL, x, CALL_PLACE);
    if (c != NULL) {
        put_bool(&c->in, placed);
    }
    __real_group_place(x, placed);
    trace_group_end(c, c != NULL ? c->at : NULL);
}

void __real_group_report(struct group_copy *x, const char *why);
void __wrap_group_report(struct group_copy *x, const char *why);
void __wrap_group_report(struct group_copy *x, const char *why)
{
    struct core_trace *c = begin_of_copy(NULL, x, CALL_REPORT);
    if (c != NULL) {
        put_c_text(&c->in, why);
    }
    __real_group_report(x, why);
    trace_group_end(c, c != NULL ? c->at : NULL);
}

void __real_group_missed(struct group_copy *x, struct group_request *r, const char *why);
void __wrap_group_missed(struct group_copy *x, struct group_request *r, const char *why);
void __wrap_group_missed(struct group_copy *x, struct group_request *r, const char *why)
{
    struct core_trace *c = begin_of_copy(NULL, x, CALL_MISSED);
    if (c != NULL) {
        trace_put_request(c, r);
        put_c_text(&c->in, why);
    }
    __real_group_missed(x, r, why);
    trace_group_end(c, c != NULL ? c->at : NULL);
}

void __real_group_reported(struct group *g, struct group_copy *x, bool out, bool deposed);
void __wrap_group_reported(struct group *g, struct group_copy *x, bool out, bool deposed);
void __wrap_group_reported(struct group *g, struct group_copy *x, bool out, bool deposed)
{
    struct core_trace *c = begin_of_copy(g, x, CALL_REPORTED);
    if (c != NULL) {
        put_bool(&c->in, out);
        put_bool(&c->in, deposed);
    }
    __real_group_reported(g, x, out, deposed);
    trace_group_end(c, g);
}

bool __real_group_send(struct group *g, struct group_copy *x, struct group_message *m);
bool __wrap_group_send(struct group *g, struct group_copy *x, struct group_message *m);
bool __wrap_group_send(struct group *g, struct group_copy *x, struct group_message *m)
{
    struct core_trace *c = begin_of_copy(g, x, CALL_SEND);
    if (c != NULL) {
        trace_put_message(c, m);
        trace_put_request(c, m->request);
    }
    bool sent = __real_group_send(g, x, m);
    if (c != NULL) {
        put_bool(&c->out, sent);
    }
    trace_group_end(c, g);
    return sent;
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

/* One of which no core has heard yet is told of by what it is when one does. */
static struct core_trace *begin_of_request(const struct group *g, const struct group_request *r,
                                           enum group_call call)
{
    struct core_trace *c = trace_group_begin(g != NULL ? g : trace_core_with(CORE_GROUP, r), call);
    if (c != NULL) {
        trace_put_request(c, r);
    }
    return c;
}

void __real_group_sent(struct group_request *r);
void __wrap_group_sent(struct group_request *r);
void __wrap_group_sent(struct group_request *r)
{
    struct core_trace *c = begin_of_request(NULL, r, CALL_SENT);
    __real_group_sent(r);
    trace_group_end(c, c != NULL ? c->at : NULL);
}

void __real_group_spoil(struct group_request *r, enum group_outcome outcome);
void __wrap_group_spoil(struct group_request *r, enum group_outcome outcome);
void __wrap_group_spoil(struct group_request *r, enum group_outcome outcome)
{
    struct core_trace *c = begin_of_request(NULL, r, CALL_SPOIL);
    if (c != NULL) {
        put_u8(&c->in, (uint8_t)outcome);
    }
    __real_group_spoil(r, outcome);
    trace_group_end(c, c != NULL ? c->at : NULL);
}

void __real_group_wait(struct group *g, struct group_request *r, int64_t deadline_ms);
void __wrap_group_wait(struct group *g, struct group_request *r, int64_t deadline_ms);
void __wrap_group_wait(struct group *g, struct group_request *r, int64_t deadline_ms)
{
    struct core_trace *c = begin_of_request(g, r, CALL_WAIT);
    if (c != NULL) {
        put_zigzag(&c->in, deadline_ms);
    }
    __real_group_wait(g, r, deadline_ms);
    trace_group_end(c, g);
}

void __real_group_abandon(struct group *g, struct group_request *r);
void __wrap_group_abandon(struct group *g, struct group_request *r);
void __wrap_group_abandon(struct group *g, struct group_request *r)
{
    struct core_trace *c = begin_of_request(g, r, CALL_DROP);
    __real_group_abandon(g, r);
    trace_group_end(c, g);
}

/* ---- messages ------------------------------------------------------------------------------------------------ */

static struct core_trace *begin_of_message(const struct group *g, const struct group_message *m,
                                           enum group_call call)
{
    struct core_trace *c = trace_group_begin(g, call);
    if (c != NULL) {
        trace_put_message(c, m);
    }
    return c;
}

void __real_group_failed(struct group *g, struct group_message *m, const char *why, bool absent,
                         int64_t now_ms);
void __wrap_group_failed(struct group *g, struct group_message *m, const char *why, bool absent,
                         int64_t now_ms);
void __wrap_group_failed(struct group *g, struct group_message *m, const char *why, bool absent,
                         int64_t now_ms)
{
    struct core_trace *c = begin_of_message(g, m, CALL_FAILED);
    if (c != NULL) {
        put_c_text(&c->in, why);
        put_bool(&c->in, absent);
        put_zigzag(&c->in, now_ms);
    }
    __real_group_failed(g, m, why, absent, now_ms);
    trace_group_end(c, g);
}

void __real_group_answered(struct group *g, struct group_message *m, int64_t local_checkpoint,
                           int64_t global_checkpoint, int64_t max_seq_no);
void __wrap_group_answered(struct group *g, struct group_message *m, int64_t local_checkpoint,
                           int64_t global_checkpoint, int64_t max_seq_no);
void __wrap_group_answered(struct group *g, struct group_message *m, int64_t local_checkpoint,
                           int64_t global_checkpoint, int64_t max_seq_no)
{
    struct core_trace *c = begin_of_message(g, m, CALL_ANSWERED);
    if (c != NULL) {
        put_zigzag(&c->in, local_checkpoint);
        put_zigzag(&c->in, global_checkpoint);
        put_zigzag(&c->in, max_seq_no);
    }
    __real_group_answered(g, m, local_checkpoint, global_checkpoint, max_seq_no);
    trace_group_end(c, g);
}

bool __real_group_effect(struct group *g, struct group_effect *out);
bool __wrap_group_effect(struct group *g, struct group_effect *out);
bool __wrap_group_effect(struct group *g, struct group_effect *out)
{
    struct core_trace *c = trace_group_begin(g, CALL_EFFECT);
    bool any = __real_group_effect(g, out);
    if (any) {
        trace_effect(CORE_GROUP, out->kind);
    }
    if (c != NULL) {
        trace_put_group_effect(c, any, out);
    }
    trace_group_end(c, g);
    return any;
}
