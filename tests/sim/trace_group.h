/* trace_group.h - the doors of a primary's core, as they are kept (trace_group.c) and where they are found (trace_group_doors.c). */
#ifndef SIM_TRACE_GROUP_H
#define SIM_TRACE_GROUP_H

#include "data/replication/group.h"

struct core_trace;

enum group_door {
    DOOR_BEGIN,
    DOOR_SERVE,
    DOOR_STOP,
    DOOR_FORGET_GONE,
    DOOR_END_LEASE,
    DOOR_REPORT_LOST,
    DOOR_CHECK_ACTIVE,
    DOOR_MOVED,
    DOOR_LEAVE,
    DOOR_DRAIN,
    DOOR_UNDRAIN,
    DOOR_STILL_QUIET,
    DOOR_EXPIRE,
    DOOR_TICK,
    DOOR_ENTER,
    DOOR_OF_COPY, /* from here on a copy comes first */
    DOOR_ADD = DOOR_OF_COPY,
    DOOR_PLACE,
    DOOR_REPORT,
    DOOR_MISSED,
    DOOR_REPORTED,
    DOOR_SEND,
    DOOR_OF_REQUEST,
    DOOR_SENT = DOOR_OF_REQUEST,
    DOOR_SPOIL,
    DOOR_WAIT,
    DOOR_DROP,
    DOOR_OF_MESSAGE,
    DOOR_FAILED = DOOR_OF_MESSAGE,
    DOOR_ANSWERED
};

struct core_trace *trace_group_begin(const struct group *g, unsigned door); /* NULL ok */
void trace_group_end(struct core_trace *c, const struct group *g);
void trace_put_copy(struct core_trace *c, const struct group_copy *x);
void trace_put_request(struct core_trace *c, const struct group_request *r);
void trace_put_message(struct core_trace *c, const struct group_message *m);
void trace_put_parked(struct core_trace *c, const struct group_parked *p);
void trace_put_group_effect(struct core_trace *c, bool any, const struct group_effect *e);

#endif
