/* trace_group.h - the calls of a primary's core: kept and played by trace_group.c, intercepted by trace_group_calls.c. */
#ifndef SIM_TRACE_GROUP_H
#define SIM_TRACE_GROUP_H

#include "data/replication/group.h"

struct core_trace;

enum group_call {
    CALL_BEGIN,
    CALL_SERVE,
    CALL_STOP,
    CALL_FORGET_GONE,
    CALL_END_LEASE,
    CALL_REPORT_LOST,
    CALL_CHECK_ACTIVE,
    CALL_MOVED,
    CALL_LEAVE,
    CALL_DRAIN,
    CALL_UNDRAIN,
    CALL_STILL_QUIET,
    CALL_EXPIRE,
    CALL_TICK,
    CALL_ENTER,
    CALL_OF_COPY, /* from here on a copy comes first */
    CALL_ADD = CALL_OF_COPY,
    CALL_PLACE,
    CALL_REPORT,
    CALL_MISSED,
    CALL_REPORTED,
    CALL_SEND,
    CALL_OF_REQUEST,
    CALL_SENT = CALL_OF_REQUEST,
    CALL_SPOIL,
    CALL_WAIT,
    CALL_DROP,
    CALL_OF_MESSAGE,
    CALL_FAILED = CALL_OF_MESSAGE,
    CALL_ANSWERED
};

struct core_trace *trace_group_begin(const struct group *g, unsigned call); /* NULL ok */
void trace_group_end(struct core_trace *c, const struct group *g);
void trace_put_copy(struct core_trace *c, const struct group_copy *x);
void trace_put_request(struct core_trace *c, const struct group_request *r);
void trace_put_message(struct core_trace *c, const struct group_message *m);
void trace_put_parked(struct core_trace *c, const struct group_parked *p);
void trace_put_group_effect(struct core_trace *c, bool any, const struct group_effect *e);

#endif
