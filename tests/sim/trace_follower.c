/* The courses of copies that follow a primary, kept and played again: see core_trace.h. */
#include "data/replication/follower.h"
#include "tests/sim/core_trace_int.h"

#include <stdlib.h>

void __real_follower_step(struct follower *f, const struct follower_event *e, const struct follower_view *v);
bool __real_follower_effect(struct follower *f, struct follower_effect *out);
void __wrap_follower_step(struct follower *f, const struct follower_event *e, const struct follower_view *v);
bool __wrap_follower_effect(struct follower *f, struct follower_effect *out);

/* What the core reads of a message. */
static void put_message(struct buf *b, const struct follower_message *m)
{
    const struct replication_msg *msg = m->msg;
    put_text(b, msg->allocation_id);
    put_varint(b, msg->term);
    put_zigzag(b, msg->global_checkpoint);
    put_zigzag(b, msg->max_seq_no);
    put_varint(b, msg->mapping_version);
    put_bool(b, msg->last);
    put_bool(b, m->resync);
    put_zigzag(b, m->deadline_ms);
    put_varint(b, msg->n);
    for (size_t i = 0; i < msg->n; i++) {
        put_zigzag(b, msg->ops[i].seq_no);
        put_zigzag(b, msg->ops[i].primary_term);
    }
}

struct played_message {
    struct follower_message m; /* first */
    struct replication_msg msg;
    struct engine_op *ops;
};

static struct played_message *get_message(struct bytes_in *in)
{
    struct played_message *p = calloc(1, sizeof(*p));
    p->m.msg = &p->msg;
    p->msg.allocation_id = get_text(in);
    p->msg.term = get_varint(in);
    p->msg.global_checkpoint = get_zigzag(in);
    p->msg.max_seq_no = get_zigzag(in);
    p->msg.mapping_version = get_varint(in);
    p->msg.last = get_bool(in);
    p->m.resync = get_bool(in);
    p->m.deadline_ms = get_zigzag(in);
    p->msg.n = (size_t)get_varint(in);
    p->msg.ops = p->ops = calloc(p->msg.n + 1, sizeof(*p->ops));
    for (size_t i = 0; i < p->msg.n && !in->bad; i++) {
        p->ops[i].seq_no = get_zigzag(in);
        p->ops[i].primary_term = get_zigzag(in);
    }
    return p;
}

/* ---- keeping ------------------------------------------------------------------------------------------------- */

static void put_step(struct core_trace *c, const struct follower_event *e, const struct follower_view *v)
{
    struct buf *b = &c->in;
    bool known = true;
    put_bool(b, e->message != NULL);
    if (e->message != NULL) {
        put_varint(b, trace_object(c, e->message, &known));
        put_bool(b, known);
        if (!known) {
            put_message(b, e->message);
        }
    }
    put_varint(b, e->error);
    put_text(b, e->id);
    put_varint(b, e->term);
    put_varint(b, e->n);
    put_bool(b, e->own != NULL);
    for (size_t i = 0; e->own != NULL && i < e->n; i++) {
        put_zigzag(b, e->own[i]);
    }
    put_zigzag(b, e->now_ms);
    put_text(b, v->copy);
    put_varint(b, v->term);
    put_u8(b, (uint8_t)(v->primary | v->initializing << 1 | v->leads << 2 | v->leaving << 3));
    put_varint(b, v->mapping_version);
    put_zigzag(b, v->max_seq_no);
    put_zigzag(b, v->global_checkpoint);
}

static void put_effect(struct buf *b, bool any, const struct follower_effect *f, size_t number)
{
    put_bool(b, any);
    if (any) {
        put_u8(b, (uint8_t)f->kind);
        put_bool(b, f->message != NULL);
        put_zigzag(b, f->from);
        put_zigzag(b, f->to);
    }
    if (any && f->message != NULL) {
        const struct follower_message *m = f->message;
        put_varint(b, number);
        put_varint(b, m->at);
        put_u8(b, (uint8_t)(f->kind == FOLLOWER_REFUSE ? m->why : FOLLOWER_FAILED));
        put_bool(b, m->diverges);
    }
}

/* The message is the driver's again: it may be gone before the core hears of it. */
static bool gives_back(const struct follower_effect *f)
{
    return f->kind == FOLLOWER_PARSE || f->kind == FOLLOWER_REPLY || f->kind == FOLLOWER_REFUSE;
}

void __wrap_follower_step(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    struct core_trace *c = trace_begin(CORE_FOLLOWER, f, e->kind, trace_is_zero(f, sizeof(*f)));
    if (c != NULL) {
        put_step(c, e, v);
    }
    __real_follower_step(f, e, v);
    trace_end(c, trace_is_zero(f, sizeof(*f)));
}

bool __wrap_follower_effect(struct follower *f, struct follower_effect *out)
{
    struct core_trace *c = trace_begin(CORE_FOLLOWER, f, CALL_EFFECT, false);
    bool any = __real_follower_effect(f, out), known = true;
    if (any) {
        trace_effect(CORE_FOLLOWER, out->kind);
    }
    if (c != NULL) {
        put_effect(&c->out, any, out,
                   any && out->message != NULL ? trace_object(c, out->message, &known) : 0);
        if (any && gives_back(out)) {
            trace_forget(c, out->message);
        }
    }
    trace_end(c, trace_is_zero(f, sizeof(*f)));
    return any;
}

/* ---- playing ------------------------------------------------------------------------------------------------- */

#define MESSAGES_MAX 4096

struct played {
    struct follower f;
    struct played_message *messages[MESSAGES_MAX];
    int64_t *own;
};

static void *fresh(const struct core_trace *c)
{
    (void)c;
    return calloc(1, sizeof(struct played));
}

static void drop(struct played *p, size_t number)
{
    if (p->messages[number] != NULL) {
        free(p->messages[number]->ops);
        free(p->messages[number]);
        p->messages[number] = NULL;
    }
}

static void get_step(struct played *p, struct follower_event *e, struct follower_view *v, struct bytes_in *in)
{
    if (get_bool(in)) {
        size_t number = (size_t)get_varint(in) % MESSAGES_MAX;
        if (!get_bool(in)) {
            drop(p, number);
            p->messages[number] = get_message(in);
        }
        e->message = &p->messages[number]->m;
    }
    e->error = (enum err)get_varint(in);
    e->id = get_text(in);
    e->term = get_varint(in);
    e->n = (size_t)get_varint(in);
    if (get_bool(in)) {
        free(p->own);
        e->own = p->own = calloc(e->n + 1, sizeof(*p->own));
        for (size_t i = 0; i < e->n && !in->bad; i++) {
            p->own[i] = get_zigzag(in);
        }
    }
    e->now_ms = get_zigzag(in);
    v->copy = get_text(in);
    v->term = get_varint(in);
    uint8_t flags = get_u8(in);
    v->primary = (flags & 1) != 0;
    v->initializing = (flags & 2) != 0;
    v->leads = (flags & 4) != 0;
    v->leaving = (flags & 8) != 0;
    v->mapping_version = get_varint(in);
    v->max_seq_no = get_zigzag(in);
    v->global_checkpoint = get_zigzag(in);
}

static void play(void *core, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct played *p = core;
    if (call != CALL_EFFECT) {
        struct follower_event e = {.kind = (enum follower_event_kind)call};
        struct follower_view v = {0};
        get_step(p, &e, &v, in);
        follower_step(&p->f, &e, &v);
        follower_invariant(&p->f);
        return;
    }
    struct follower_effect f;
    size_t number = 0;
    bool any = follower_effect(&p->f, &f);
    while (any && f.message != NULL
           && (p->messages[number] == NULL || &p->messages[number]->m != f.message)) {
        number++;
    }
    put_effect(out, any, &f, number);
    if (any && gives_back(&f)) {
        drop(p, number);
    }
}

static void end(void *core)
{
    struct played *p = core;
    for (size_t i = 0; i < MESSAGES_MAX; i++) {
        drop(p, i);
    }
    free(p->own);
    free(p);
}

static const char *const calls[] = {[FOLLOWER_COPY] = "another copy",   [FOLLOWER_HISTORY] = "has a history",
                                    [FOLLOWER_UNPARSED] = "not parsed", [FOLLOWER_PARSED] = "parsed",
                                    [FOLLOWER_OWN] = "own operations",  [FOLLOWER_APPLIED] = "applied",
                                    [FOLLOWER_KEPT] = "kept",           [FOLLOWER_SHOWN] = "shown",
                                    [FOLLOWER_LOST] = "no engine",      [FOLLOWER_MAPPING] = "a mapping",
                                    [FOLLOWER_ROOM] = "room",           [FOLLOWER_TICK] = "tick",
                                    [FOLLOWER_STOP] = "the engine goes"};
static const char *const effects[] = {
    [FOLLOWER_NOTHING] = "nothing",   [FOLLOWER_PARSE] = "parse", [FOLLOWER_RETURN] = "come again",
    [FOLLOWER_READ] = "read its own", [FOLLOWER_APPLY] = "apply", [FOLLOWER_KEEP] = "keep",
    [FOLLOWER_SHOW] = "show",         [FOLLOWER_REPLY] = "reply", [FOLLOWER_REFUSE] = "refuse",
    [FOLLOWER_SYNC] = "sync"};

const struct core_player follower_player = {"copy", calls, effects, fresh, play, end};
