/* The courses of primaries and their copies, kept and played again: see core_trace.h. What the driver changes of the tracker is
 * kept as the tracker is then. */
#include "tests/sim/trace_group.h"
#include "tests/sim/core_trace_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- keeping ------------------------------------------------------------------------------------------------- */

static bool is_idle(const struct group *g)
{
    size_t from = offsetof(struct group, leads);
    return trace_is_zero((const char *)g + from, sizeof(*g) - from);
}

static void put_tracker(struct buf *b, const struct tracker *t)
{
    put_text(b, t->own);
    put_varint(b, t->term);
    put_zigzag(b, t->global_checkpoint);
    put_varint(b, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct tracked *c = &t->v[i];
        put_str(b, c->allocation_id);
        put_text(b, c->node);
        put_zigzag(b, c->local_checkpoint);
        put_zigzag(b, c->floor);
        put_u8(b, (uint8_t)(c->in_sync | c->tracked << 1 | c->catching_up << 2));
    }
}

struct core_trace *trace_group_begin(const struct group *g, unsigned call)
{
    struct core_trace *c = g != NULL ? trace_begin(CORE_GROUP, g, call, is_idle(g)) : NULL;
    if (c != NULL) {
        struct buf now;
        buf_init(&now, NULL, BUF_UNLIMITED);
        put_tracker(&now, &g->tracker);
        bool changed = !str_eq(buf_view(&now), buf_view(&c->tracker));
        put_bool(&c->in, changed);
        if (changed) {
            put_str(&c->in, buf_view(&now));
        }
        buf_fini(&now);
    }
    return c;
}

void trace_group_end(struct core_trace *c, const struct group *g)
{
    if (c != NULL) {
        buf_reset(&c->tracker);
        put_tracker(&c->tracker, &g->tracker);
        put_zigzag(&c->out, g->tracker.global_checkpoint);
        put_u8(&c->out, (uint8_t)(g->leads | g->active << 1 | g->deposed << 2 | g->handing_over << 3));
        put_varint(&c->out, g->requests);
        trace_end(c, is_idle(g));
    }
}

static bool put_object(struct core_trace *c, const void *object)
{
    bool known = true;
    put_bool(&c->in, object != NULL);
    if (object != NULL) {
        put_varint(&c->in, trace_object(c, object, &known));
        put_bool(&c->in, known);
    }
    return known;
}

void trace_put_copy(struct core_trace *c, const struct group_copy *x)
{
    if (!put_object(c, x)) {
        put_str(&c->in, x->allocation_id);
        put_bool(&c->in, x->placed);
    }
}

void trace_put_request(struct core_trace *c, const struct group_request *r)
{
    if (!put_object(c, r)) {
        put_varint(&c->in, r->sends);
        put_u8(&c->in, (uint8_t)r->outcome);
    }
    if (r != NULL) {
        put_zigzag(&c->in, r->needs);
    }
}

void trace_put_message(struct core_trace *c, const struct group_message *m)
{
    if (!put_object(c, m)) {
        put_u8(&c->in, (uint8_t)m->kind);
        put_bool(&c->in, m->last);
    }
}

void trace_put_parked(struct core_trace *c, const struct group_parked *p)
{
    put_object(c, p);
}

static void put_number(struct core_trace *c, const void *object)
{
    bool known = true;
    put_varint(&c->out, object != NULL ? trace_object(c, object, &known) + 1 : 0);
}

void trace_put_group_effect(struct core_trace *c, bool any, const struct group_effect *e)
{
    put_bool(&c->out, any);
    if (!any) {
        return;
    }
    put_u8(&c->out, (uint8_t)e->kind);
    put_u8(&c->out, (uint8_t)e->outcome);
    put_number(c, e->copy);
    put_number(c, e->message);
    put_number(c, e->request);
    put_number(c, e->parked);
    if (e->kind == GROUP_REPORT) {
        put_str(&c->out, str_of(e->copy->why));
    }
    const void *gone = e->kind == GROUP_MESSAGE_OVER   ? (const void *)e->message
                       : e->kind == GROUP_REQUEST_OVER ? (const void *)e->request
                       : e->kind == GROUP_COPY_OVER    ? (const void *)e->copy
                       : e->kind == GROUP_UNPARK       ? (const void *)e->parked
                                                       : NULL;
    if (gone != NULL) {
        trace_forget(c, gone);
    }
}

/* ---- playing ------------------------------------------------------------------------------------------------- */

#define OBJECTS_MAX 8192

struct played {
    struct group g;
    void *objects[OBJECTS_MAX]; /* by the numbers that they were given */
};

static void *fresh(const struct core_trace *c)
{
    struct played *p = calloc(1, sizeof(*p));
    (void)c;
    arena_init(&p->g.tracker.arena, NULL, ARENA_UNLIMITED);
    return p;
}

static void get_tracker(struct tracker *t, struct bytes_in *in)
{
    arena_reset(&t->arena);
    t->own = get_text(in);
    t->term = get_varint(in);
    t->global_checkpoint = get_zigzag(in);
    t->n = (uint32_t)get_varint(in);
    t->v = ARENA_ARRAY(&t->arena, struct tracked, t->n);
    for (uint32_t i = 0; i < t->n && !in->bad; i++) {
        struct tracked *c = &t->v[i];
        c->allocation_id = get_str(in);
        c->node = get_text(in);
        c->local_checkpoint = get_zigzag(in);
        c->floor = get_zigzag(in);
        uint8_t flags = get_u8(in);
        c->in_sync = (flags & 1) != 0;
        c->tracked = (flags & 2) != 0;
        c->catching_up = (flags & 4) != 0;
    }
}

/* The object of that number; *known: it has come before. */
static void *get_object(struct played *p, struct bytes_in *in, size_t size, bool *known)
{
    *known = true;
    if (!get_bool(in)) {
        return NULL;
    }
    size_t number = (size_t)get_varint(in) % OBJECTS_MAX;
    *known = get_bool(in);
    if (!*known) {
        free(p->objects[number]);
        p->objects[number] = calloc(1, size);
    }
    return p->objects[number];
}

static struct group_copy *get_copy(struct played *p, struct bytes_in *in)
{
    bool known;
    struct group_copy *c = get_object(p, in, sizeof(*c), &known);
    if (!known) {
        c->allocation_id = get_str(in);
        c->placed = get_bool(in);
    }
    return c;
}

static struct group_request *get_request(struct played *p, struct bytes_in *in)
{
    bool known;
    struct group_request *r = get_object(p, in, sizeof(*r), &known);
    if (!known) {
        r->sends = (uint32_t)get_varint(in);
        r->outcome = (enum group_outcome)get_u8(in);
    }
    if (r != NULL) {
        r->needs = get_zigzag(in);
    }
    return r;
}

static struct group_message *get_message(struct played *p, struct bytes_in *in)
{
    bool known;
    struct group_message *m = get_object(p, in, sizeof(*m), &known);
    if (!known) {
        m->kind = (enum group_message_kind)get_u8(in);
        m->last = get_bool(in);
    }
    return m;
}

static size_t number_of(const struct played *p, const void *object)
{
    for (size_t i = 0; object != NULL && i < OBJECTS_MAX; i++) {
        if (p->objects[i] == object) {
            return i + 1;
        }
    }
    return 0;
}

static void play_effect(struct played *p, struct buf *out)
{
    struct group_effect e;
    bool any = group_effect(&p->g, &e);
    put_bool(out, any);
    if (!any) {
        return;
    }
    const void *const of[] = {e.copy, e.message, e.request, e.parked};
    put_u8(out, (uint8_t)e.kind);
    put_u8(out, (uint8_t)e.outcome);
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        put_varint(out, number_of(p, of[i]));
    }
    if (e.kind == GROUP_REPORT) {
        put_str(out, str_of(e.copy->why));
    }
}

/* Calls whose first argument is a message. */
static void play_message(struct group *g, unsigned call, struct group_message *m, struct bytes_in *in)
{
    if (call == CALL_FAILED) {
        const char *why = get_str(in).p; /* with its end */
        bool absent = get_bool(in);
        group_failed(g, m, why, absent, get_zigzag(in));
    } else {
        int64_t local = get_zigzag(in), global = get_zigzag(in);
        group_answered(g, m, local, global, get_zigzag(in));
    }
}

/* Calls whose first argument is a copy. */
static void play_copy(struct played *p, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct group *g = &p->g;
    struct group_copy *c = get_copy(p, in);
    bool yes;
    switch (call) {
    case CALL_ADD:
        group_add(g, c);
        break;
    case CALL_PLACE:
        group_place(c, get_bool(in));
        break;
    case CALL_REPORT:
        group_report(c, get_str(in).p);
        break;
    case CALL_MISSED: {
        struct group_request *r = get_request(p, in);
        group_missed(c, r, get_str(in).p);
        break;
    }
    case CALL_REPORTED:
        yes = get_bool(in);
        group_reported(g, c, yes, get_bool(in));
        break;
    default: { /* CALL_SEND */
        struct group_message *m = get_message(p, in);
        m->request = get_request(p, in);
        put_bool(out, group_send(g, c, m));
    }
    }
}

/* Calls whose first argument is a request. */
static void play_request(struct played *p, unsigned call, struct bytes_in *in)
{
    struct group_request *r = get_request(p, in);
    switch (call) {
    case CALL_SENT:
        group_sent(r);
        break;
    case CALL_SPOIL:
        group_spoil(r, (enum group_outcome)get_u8(in));
        break;
    case CALL_WAIT:
        group_wait(&p->g, r, get_zigzag(in));
        break;
    default:
        group_abandon(&p->g, r);
    }
}

/* Calls of the whole. */
static void play_group(struct played *p, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct group *g = &p->g;
    bool known;
    int64_t at = get_zigzag(in), more = get_zigzag(in);
    switch (call) {
    case CALL_BEGIN:
        group_begin(g);
        break;
    case CALL_SERVE:
        group_serve(g, at != 0);
        break;
    case CALL_STOP:
        group_stop(g);
        break;
    case CALL_FORGET_GONE:
        group_forget_gone(g, at);
        break;
    case CALL_END_LEASE:
        group_end_lease(g);
        break;
    case CALL_REPORT_LOST:
        group_report_lost(g);
        break;
    case CALL_CHECK_ACTIVE:
        group_check_active(g);
        break;
    case CALL_MOVED:
        group_checkpoint_moved(g);
        break;
    case CALL_LEAVE:
        group_leave(g);
        break;
    case CALL_DRAIN:
        group_drain(g);
        break;
    case CALL_UNDRAIN:
        group_undrain(g);
        break;
    case CALL_STILL_QUIET:
        put_bool(out, group_still_quiet(g));
        break;
    case CALL_EXPIRE:
        group_expire(g, at);
        break;
    case CALL_TICK:
        group_tick(g, at, more);
        break;
    default: { /* CALL_ENTER */
        struct group_parked *parked = get_object(p, in, sizeof(*parked), &known);
        put_u8(out, (uint8_t)group_enter(g, parked, at));
    }
    }
}

static void play(void *core, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct played *p = core;
    if (get_bool(in)) {
        struct bytes_in tracker = bytes_in(get_str(in));
        get_tracker(&p->g.tracker, &tracker);
    }
    if (call == CALL_EFFECT) {
        play_effect(p, out);
    } else if (call >= CALL_OF_COPY && call < CALL_OF_REQUEST) {
        play_copy(p, call, in, out);
    } else if (call >= CALL_OF_REQUEST && call < CALL_OF_MESSAGE) {
        play_request(p, call, in);
    } else if (call >= CALL_OF_MESSAGE) {
        play_message(&p->g, call, get_message(p, in), in);
    } else {
        play_group(p, call, in, out);
    }
    put_zigzag(out, p->g.tracker.global_checkpoint);
    put_u8(out, (uint8_t)(p->g.leads | p->g.active << 1 | p->g.deposed << 2 | p->g.handing_over << 3));
    put_varint(out, p->g.requests);
}

static void end(void *core)
{
    struct played *p = core;
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        free(p->objects[i]);
    }
    arena_fini(&p->g.tracker.arena);
    free(p);
}

static const char *const calls[] = {[CALL_BEGIN] = "begins to lead",
                                    [CALL_SERVE] = "serves",
                                    [CALL_STOP] = "stops",
                                    [CALL_FORGET_GONE] = "copies may be gone",
                                    [CALL_END_LEASE] = "all copies are there",
                                    [CALL_REPORT_LOST] = "copies may be lost",
                                    [CALL_CHECK_ACTIVE] = "active?",
                                    [CALL_MOVED] = "the checkpoint moved",
                                    [CALL_LEAVE] = "a request ends",
                                    [CALL_DRAIN] = "drain",
                                    [CALL_UNDRAIN] = "undrain",
                                    [CALL_STILL_QUIET] = "still quiet?",
                                    [CALL_EXPIRE] = "time-outs",
                                    [CALL_TICK] = "tick",
                                    [CALL_ENTER] = "a request comes",
                                    [CALL_ADD] = "a copy comes",
                                    [CALL_PLACE] = "a copy has a place",
                                    [CALL_REPORT] = "a copy has failed",
                                    [CALL_MISSED] = "a copy misses a request",
                                    [CALL_REPORTED] = "the master has answered",
                                    [CALL_SEND] = "a message goes",
                                    [CALL_SENT] = "a request is sent",
                                    [CALL_SPOIL] = "a request cannot end well",
                                    [CALL_WAIT] = "a request waits",
                                    [CALL_DROP] = "a request is dropped",
                                    [CALL_FAILED] = "a message failed",
                                    [CALL_ANSWERED] = "a message is answered"};
static const char *const effects[] = {[GROUP_MOVED] = "the checkpoint moved",
                                      [GROUP_MESSAGE_OVER] = "a message is over",
                                      [GROUP_WAKE] = "a request goes on",
                                      [GROUP_REQUEST_OVER] = "a request is over",
                                      [GROUP_CANCEL] = "cancel",
                                      [GROUP_REPORT] = "report a copy",
                                      [GROUP_SEND_RESYNC] = "send history",
                                      [GROUP_SEND_CHECKPOINT] = "tell the checkpoint",
                                      [GROUP_UNPARK] = "a request may ask again",
                                      [GROUP_QUIET] = "quiet",
                                      [GROUP_COPY_OVER] = "a copy is over"};

const struct core_player group_player = {"primary", calls, effects, fresh, play, end};
