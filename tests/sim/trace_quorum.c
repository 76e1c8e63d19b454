/* The courses of coordination, kept and played again: see core_trace.h. Random numbers are kept as they are at each step; who
 * else draws from them does not matter. */
#include "master/quorum.h"
#include "tests/sim/core_trace_int.h"

#include <stdlib.h>
#include <string.h>

#define CALL_REFUSE_WAITING (EVENT_HAND_OVER + 1)

enum err __real_quorum_new(struct quorum **out, const struct quorum_opts *o, struct errmsg *em);
void __real_quorum_free(struct quorum *q);
enum err __real_quorum_step(struct quorum *q, const struct quorum_event *e, struct errmsg *em);
void __real_quorum_refuse_waiting(struct quorum *q, const struct errmsg *em);
bool __real_quorum_effect(struct quorum *q, struct quorum_effect *out);
enum err __wrap_quorum_new(struct quorum **out, const struct quorum_opts *o, struct errmsg *em);
void __wrap_quorum_free(struct quorum *q);
enum err __wrap_quorum_step(struct quorum *q, const struct quorum_event *e, struct errmsg *em);
void __wrap_quorum_refuse_waiting(struct quorum *q, const struct errmsg *em);
bool __wrap_quorum_effect(struct quorum *q, struct quorum_effect *out);

/* The random numbers of each core; the step does not say. */
static struct source_of_numbers {
    const struct quorum *q;
    const struct rng *rng;
} numbers[256];
static size_t n_numbers;

static const struct rng *rng_of(const struct quorum *q)
{
    for (size_t i = n_numbers; i > 0; i--) {
        if (numbers[i - 1].q == q) {
            return numbers[i - 1].rng;
        }
    }
    return NULL;
}

static void put_rng(struct buf *b, const struct rng *r)
{
    static const struct rng none;
    r = r != NULL ? r : &none;
    for (size_t i = 0; i < ARRAY_LEN(r->s); i++) {
        put_u64(b, r->s[i]);
    }
}

static void get_rng(struct bytes_in *in, struct rng *r)
{
    for (size_t i = 0; i < ARRAY_LEN(r->s); i++) {
        r->s[i] = get_u64(in);
    }
}

/* ---- keeping ------------------------------------------------------------------------------------------------- */

/* By its number; 0: none. */
static void put_state(struct core_trace *c, struct cluster_state *s)
{
    if (s != NULL) {
        c->states = realloc(c->states, (c->n_states + 1) * sizeof(struct cluster_state *));
        c->states[c->n_states++] = cluster_state_ref(s);
    }
    put_varint(&c->in, s != NULL ? c->n_states : 0);
}

static void put_message(struct buf *b, const struct quorum_message *m)
{
    struct buf bytes;
    buf_init(&bytes, NULL, BUF_UNLIMITED);
    if (m != NULL) {
        message_join.request->encode(m, &bytes);
    }
    put_str(b, buf_view(&bytes));
    buf_fini(&bytes);
}

static void put_new(struct core_trace *c, const struct quorum_opts *o)
{
    struct quorum_message self = {.from = o->local, .cluster_name = o->cluster_name, .term = o->term};
    put_message(&c->in, &self);
    put_state(c, o->accepted);
    put_varint(&c->in, o->n_initial_masters);
    for (uint32_t i = 0; i < o->n_initial_masters; i++) {
        put_str(&c->in, o->initial_masters[i]);
    }
    put_str(&c->in, str_mk((const char *)&o->settings, sizeof(o->settings)));
}

static void put_step(struct core_trace *c, const struct quorum_event *e, const struct rng *rng)
{
    struct buf *b = &c->in;
    put_rng(b, rng);
    put_zigzag(b, e->now);
    put_varint(b, e->id);
    put_varint(b, e->number);
    put_u64(b, (uint64_t)(uintptr_t)e->call);
    put_message(b, e->message);
    put_error(b, e->error);
    put_text(b, e->ephemeral_id);
    put_state(c, e->state);
    put_varint(b, e->n_seeds);
    for (uint32_t i = 0; i < e->n_seeds; i++) {
        put_str(b, e->seeds[i]);
    }
}

static void put_version(struct buf *b, const struct cluster_state *s)
{
    put_bool(b, s != NULL);
    if (s != NULL) {
        put_varint(b, s->term);
        put_varint(b, s->version);
        put_str(b, s->state_uuid);
    }
}

static void put_effect(struct buf *b, bool any, const struct quorum_effect *e)
{
    put_bool(b, any);
    if (!any) {
        return;
    }
    put_u8(b, (uint8_t)e->kind);
    put_varint(b, e->ticket);
    put_varint(b, e->id);
    put_zigzag(b, e->timeout_ms);
    put_text(b, e->peer.address);
    put_text(b, e->peer.ephemeral_id);
    put_text(b, e->node.id);
    put_text(b, e->node.ephemeral_id);
    put_message(b, e->kind <= EFFECT_REPLY ? &e->message : NULL);
    put_version(b, e->state);
    put_version(b, e->base);
    put_varint(b, e->term);
    put_varint(b, e->version);
    put_u8(b, (uint8_t)e->mode);
    put_bool(b, e->ok);
    put_u64(b, (uint64_t)(uintptr_t)e->call);
    put_error(b, err_is(&e->error) ? &e->error : NULL);
    put_text(b, e->text);
    put_varint(b, e->config.n);
    for (uint32_t i = 0; i < e->config.n; i++) {
        put_str(b, e->config.v[i]);
    }
}

enum err __wrap_quorum_new(struct quorum **out, const struct quorum_opts *o, struct errmsg *em)
{
    enum err e = __real_quorum_new(out, o, em);
    struct core_trace *c = e == ERR_OK ? trace_begin(CORE_QUORUM, *out, CALL_NEW, true) : NULL;
    if (c != NULL) {
        numbers[n_numbers++ % ARRAY_LEN(numbers)] = (struct source_of_numbers){*out, o->rng};
        n_numbers = MIN_OF(n_numbers, ARRAY_LEN(numbers) - 1);
        put_new(c, o);
    }
    trace_end(c, false);
    return e;
}

void __wrap_quorum_free(struct quorum *q)
{
    struct core_trace *c = trace_begin(CORE_QUORUM, q, CALL_EFFECT, false);
    if (c != NULL) {
        c->at = NULL;
    }
    __real_quorum_free(q);
}

enum err __wrap_quorum_step(struct quorum *q, const struct quorum_event *e, struct errmsg *em)
{
    struct core_trace *c = trace_begin(CORE_QUORUM, q, e->kind, false);
    if (c != NULL) {
        put_step(c, e, rng_of(q));
    }
    enum err r = __real_quorum_step(q, e, em);
    if (c != NULL) {
        put_varint(&c->out, r);
        put_rng(&c->out, rng_of(q));
    }
    trace_end(c, false);
    return r;
}

void __wrap_quorum_refuse_waiting(struct quorum *q, const struct errmsg *em)
{
    struct core_trace *c = trace_begin(CORE_QUORUM, q, CALL_REFUSE_WAITING, false);
    if (c != NULL) {
        put_error(&c->in, em);
    }
    __real_quorum_refuse_waiting(q, em);
    trace_end(c, false);
}

bool __wrap_quorum_effect(struct quorum *q, struct quorum_effect *out)
{
    struct core_trace *c = trace_begin(CORE_QUORUM, q, CALL_EFFECT, false);
    bool any = __real_quorum_effect(q, out);
    if (any) {
        trace_effect(CORE_QUORUM, out->kind);
    }
    if (c != NULL) {
        put_effect(&c->out, any, out);
    }
    trace_end(c, false);
    return any;
}

/* ---- playing ------------------------------------------------------------------------------------------------- */

struct played {
    struct quorum *q;
    struct rng rng;
    const struct core_trace *course;
    struct arena arena; /* of one step */
};

static void *fresh(const struct core_trace *c)
{
    struct played *p = calloc(1, sizeof(*p));
    p->course = c;
    arena_init(&p->arena, NULL, ARENA_UNLIMITED);
    return p;
}

static struct cluster_state *get_state(const struct played *p, struct bytes_in *in)
{
    size_t number = (size_t)get_varint(in);
    return number > 0 && number <= p->course->n_states ? p->course->states[number - 1] : NULL;
}

static const struct quorum_message *get_message(struct played *p, struct bytes_in *in)
{
    struct str bytes = get_str(in);
    struct quorum_message *m = ARENA_NEW(&p->arena, struct quorum_message);
    if (bytes.n == 0) {
        return NULL;
    }
    in->bad |= !codec_read(message_join.request, m, bytes, &p->arena);
    return m;
}

static struct str *get_texts(struct played *p, struct bytes_in *in, uint32_t *n)
{
    *n = (uint32_t)get_varint(in);
    struct str *v = ARENA_ARRAY(&p->arena, struct str, *n);
    for (uint32_t i = 0; i < *n && !in->bad; i++) {
        v[i] = get_str(in);
    }
    return v;
}

static void play_new(struct played *p, struct bytes_in *in)
{
    const struct quorum_message *self = get_message(p, in);
    struct quorum_opts o = {
        .local = self->from, .cluster_name = self->cluster_name, .term = self->term, .rng = &p->rng};
    o.accepted = get_state(p, in);
    o.initial_masters = get_texts(p, in, &o.n_initial_masters);
    struct str settings = get_str(in);
    memcpy(&o.settings, settings.p, MIN_OF(settings.n, sizeof(o.settings)));
    in->bad |= quorum_new(&p->q, &o, NULL) != ERR_OK;
}

static void play_step(struct played *p, unsigned kind, struct bytes_in *in, struct buf *out)
{
    struct quorum_event e = {.kind = (enum quorum_event_kind)kind};
    ERR_LOCAL(error);
    ERR_LOCAL(em);
    get_rng(in, &p->rng);
    e.now = get_zigzag(in);
    e.id = get_varint(in);
    e.number = get_varint(in);
    e.call = (void *)(uintptr_t)get_u64(in);
    e.message = get_message(p, in);
    e.error = get_error(in, &error);
    e.ephemeral_id = get_text(in);
    e.state = get_state(p, in);
    e.seeds = get_texts(p, in, &e.n_seeds);
    put_varint(out, quorum_step(p->q, &e, &em));
    put_rng(out, &p->rng);
}

static void play(void *core, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct played *p = core;
    arena_reset(&p->arena);
    if (call == CALL_NEW) {
        play_new(p, in);
    } else if (call == CALL_EFFECT) {
        struct quorum_effect e;
        bool any = quorum_effect(p->q, &e);
        put_effect(out, any, &e);
        if (any) {
            quorum_effect_fini(&e);
        }
    } else if (call == CALL_REFUSE_WAITING) {
        ERR_LOCAL(em);
        quorum_refuse_waiting(p->q, get_error(in, &em));
    } else {
        play_step(p, call, in, out);
    }
}

static void end(void *core)
{
    struct played *p = core;
    quorum_free(p->q);
    arena_fini(&p->arena);
    free(p);
}

static const char *const calls[] = {
    [EVENT_START] = "start",         [EVENT_TICK] = "tick",
    [EVENT_REQUEST] = "a request",   [EVENT_ANSWER] = "an answer",
    [EVENT_FAILED] = "no answer",    [EVENT_LOST] = "a connection is lost",
    [EVENT_DURABLE] = "durable",     [EVENT_APPLIED] = "applied",
    [EVENT_PUBLISH] = "publish",     [EVENT_NOT_RECONFIGURED] = "not reconfigured",
    [EVENT_HAND_OVER] = "hand over", [CALL_REFUSE_WAITING] = "refuse who waits"};
static const char *const effects[] = {[EFFECT_PERSIST] = "persist",     [EFFECT_SEND] = "send",
                                      [EFFECT_PUBLISH] = "publish",     [EFFECT_REPLY] = "reply",
                                      [EFFECT_REFUSE] = "refuse",       [EFFECT_APPLY] = "apply",
                                      [EFFECT_MODE] = "another mode",   [EFFECT_JOINED] = "a node joined",
                                      [EFFECT_LEFT] = "a node left",    [EFFECT_RECONFIGURE] = "reconfigure",
                                      [EFFECT_PUBLISHED] = "published", [EFFECT_ACKED] = "acked",
                                      [EFFECT_CONNECT] = "connect",     [EFFECT_FORGET] = "forget"};

const struct core_player quorum_player = {"coordination", calls, effects, fresh, play, end};
