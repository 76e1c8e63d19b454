#include "master/quorum_driver.h"

#include "common/base/invariant.h"
#include "common/base/later.h"
#include "master/state_pack.h"
#include "proto/remote.h"

#include <stdlib.h>

#define PERSIST_RETRY_MS 1000

struct held {
    struct held *next;
    struct quorum_effect effect;
};

struct quorum_driver {
    struct quorum_driver_opts o;
    struct quorum *q;
    struct remote_service served;
    struct timer *timer;
    int64_t timer_ms;
    bool draining, stopping;
    void (*stopped)(void *arg);
    void *stopped_arg;
    struct later end;   /* run == NULL: it has not stopped yet */
    uint32_t under_way; /* requests, disk writes, applies */
    /* effects that wait for the disk, by ticket */
    struct held *held, **held_last;
    uint64_t durable;
    /* the write that is out, and what waits behind it */
    bool writing;
    uint64_t write_ticket, write_term, next_ticket, next_term;
    struct cluster_state *write_state, *next_state; /* NULL: as before */
    struct errmsg write_error;                      /* of the last write, in write_arena */
    struct arena write_arena;
    struct timer *retry;
    /* the state that is being applied, and the newest behind it */
    struct cluster_state *applying, *next_apply;
    /* the last state's bytes, for all who get the same */
    struct cluster_state *sent, *sent_base;
    struct buf sent_bytes;
    struct {
        uint64_t version;
        int64_t ns;
    } arrived[4]; /* states that were accepted last, by version % 4 */
};

static void drain(struct quorum_driver *d);

static int64_t now_ms(const struct quorum_driver *d)
{
    return clock_mono_ms(d->o.clock);
}

static void ended(struct later *l)
{
    struct quorum_driver *d = CONTAINER_OF(l, struct quorum_driver, end);
    d->stopped(d->stopped_arg);
}

static void end_if_idle(struct quorum_driver *d)
{
    if (d->stopping && d->under_way == 0 && d->stopped != NULL && d->end.run == NULL) {
        later(&d->end, ended);
    }
}

static void left_one(struct quorum_driver *d)
{
    d->under_way--;
    end_if_idle(d);
}

/* What cannot be refused. */
static void step(struct quorum_driver *d, const struct quorum_event *e)
{
    struct quorum_event at = *e;
    at.now = now_ms(d);
    (void)quorum_step(d->q, &at, NULL);
}

/* ---- requests and answers ---- */

struct request {
    struct remote_call call;
    struct quorum_driver *d;
    uint64_t id;
};

static void request_done(struct remote_call *call)
{
    struct request *r = CONTAINER_OF(call, struct request, call);
    struct quorum_driver *d = r->d;
    if (!d->stopping) {
        if (!err_is(&call->error)) {
            step(d, &(struct quorum_event){.kind = EVENT_ANSWER, .id = r->id, .message = call->answer});
        } else {
            step(d, &(struct quorum_event){.kind = EVENT_FAILED, .id = r->id, .error = &call->error});
        }
        drain(d);
    }
    remote_call_fini(call);
    free(r);
    left_one(d);
}

static void receive(void *self, struct remote_rq *rq);

#define ROW(NAME, name, number) {&message_##name, receive},
static const struct remote_row rows[] = {QUORUM_MESSAGES(ROW)};

static const struct message *message_of(enum message_kind kind)
{
    const struct remote_row *r = rows;
    while (r->message->kind != kind) {
        r++;
    }
    return r->message;
}

/* The state's bytes, packed: as a difference where there is a base. Made once for all followers. */
static struct str state_bytes(struct quorum_driver *d, const struct quorum_effect *e)
{
    if (d->sent != e->state || d->sent_base != e->base) {
        cluster_state_unref(d->sent);
        cluster_state_unref(d->sent_base);
        d->sent = cluster_state_ref(e->state);
        d->sent_base = e->base != NULL ? cluster_state_ref(e->base) : NULL;
        struct buf raw;
        buf_init(&raw, NULL, BUF_UNLIMITED);
        if (e->base != NULL) {
            cluster_state_diff(e->base, e->state, &raw);
        } else {
            cluster_state_encode(e->state, &raw);
        }
        buf_reset(&d->sent_bytes);
        state_pack(buf_view(&raw), &d->sent_bytes);
        buf_fini(&raw);
    }
    return buf_view(&d->sent_bytes);
}

static void send_request(struct quorum_driver *d, struct quorum_effect *e)
{
    struct request *r = calloc(1, sizeof(*r));
    ERR_LOCAL(em);
    if (r == NULL) {
        err_no_memory(&em);
        step(d, &(struct quorum_event){.kind = EVENT_FAILED, .id = e->id, .error = &em});
        return;
    }
    r->d = d;
    r->id = e->id;
    r->call = (struct remote_call){.on = d->o.loop, .done = request_done, .timeout_ms = e->timeout_ms};
    if (e->kind == EFFECT_PUBLISH) {
        e->message.state = state_bytes(d, e);
        e->message.base_uuid = e->base != NULL ? e->base->state_uuid : STR_NULL;
    }
    d->under_way++;
    remote_ask(d->o.transport, &e->peer, message_of(e->message.kind), &e->message, &r->call);
}

static void answer(struct quorum_effect *e)
{
    if (e->kind == EFFECT_REFUSE) {
        remote_refuse(e->call, &e->error);
    } else {
        remote_reply(e->call, &e->message);
    }
}

static void receive(void *self, struct remote_rq *rq)
{
    struct quorum_driver *d = self;
    struct quorum_message *m = remote_body(rq);
    ERR_LOCAL(em);
    enum err e = d->stopping ? err_set(&em, ERR_NODE_CLOSED, "this node is stopping") : ERR_OK;
    if (e == ERR_OK && m->kind != (enum message_kind)rq->message->kind) {
        e = err_set(&em, ERR_CORRUPT, "a message of another kind than its frame says");
    }
    if (e == ERR_OK && m->kind == MESSAGE_PUBLISH) {
        e = state_unpack(&m->state, m->state, &rq->arena, &em);
    }
    if (e != ERR_OK) {
        remote_refuse(rq, &em);
    } else {
        step(d, &(struct quorum_event){.kind = EVENT_REQUEST, .message = m, .call = rq});
        drain(d);
    }
}

static void peer_lost(void *arg, const struct transport_peer *peer)
{
    struct quorum_driver *d = arg;
    if (!d->stopping) {
        step(d, &(struct quorum_event){.kind = EVENT_LOST, .ephemeral_id = peer->ephemeral_id});
        drain(d);
    }
}

/* ---- the disk ---- */

static void perform(struct quorum_driver *d, struct quorum_effect *e);
static void write_next(struct quorum_driver *d);

static void release_held(struct quorum_driver *d)
{
    while (d->held != NULL && d->held->effect.ticket <= d->durable) {
        struct held *h = d->held;
        d->held = h->next;
        d->held_last = d->held == NULL ? &d->held : d->held_last;
        perform(d, &h->effect);
        quorum_effect_fini(&h->effect);
        free(h);
    }
}

static void retry_write(void *arg)
{
    struct quorum_driver *d = arg;
    d->retry = NULL;
    write_next(d);
}

static void written(void *arg)
{
    struct quorum_driver *d = arg;
    d->writing = false;
    /* nothing was promised: what waits for it goes on waiting, and the next try writes all */
    if (err_is(&d->write_error)) {
        log_error(d->o.log, "master", "the cluster state cannot be written: %s", err_reason(&d->write_error));
        if (d->next_state == NULL) {
            d->next_state = d->write_state;
        } else {
            cluster_state_unref(d->write_state);
        }
        d->next_ticket = MAX_OF(d->next_ticket, d->write_ticket);
        d->next_term = MAX_OF(d->next_term, d->write_term);
        d->write_state = NULL;
        d->retry = d->stopping ? NULL : timer_start(d->o.timers, PERSIST_RETRY_MS, retry_write, d);
    } else {
        cluster_state_unref(d->write_state);
        d->write_state = NULL;
        d->durable = d->write_ticket;
        if (!d->stopping) {
            release_held(d);
            step(d, &(struct quorum_event){.kind = EVENT_DURABLE, .number = d->durable});
            write_next(d);
            drain(d);
        }
    }
    left_one(d);
}

/* On the disk's executor. */
static void write_state(void *arg)
{
    struct quorum_driver *d = arg;
    if (state_log_write(d->o.disk_log, d->write_term, d->write_state, &d->write_error) == ERR_OK) {
        err_clear(&d->write_error);
    }
    executor_submit_force(d->o.loop, written, d);
}

static void write_next(struct quorum_driver *d)
{
    if (d->writing || d->retry != NULL || d->next_ticket <= d->durable) {
        return;
    }
    d->writing = true;
    arena_fini(&d->write_arena);
    d->write_error = err_in(&d->write_arena);
    d->write_ticket = d->next_ticket;
    d->write_term = d->next_term;
    d->write_state = d->next_state;
    d->next_state = NULL;
    d->under_way++;
    if (!executor_submit_force(d->o.disk, write_state, d)) {
        err_set(&d->write_error, ERR_NODE_CLOSED, "this node is stopping");
        written(d);
    }
}

/* ---- applying ---- */

static void apply_next(struct quorum_driver *d);

static void applied_on_loop(void *arg)
{
    struct quorum_driver *d = arg;
    uint64_t version = d->applying->version;
    cluster_state_unref(d->applying);
    d->applying = NULL;
    if (!d->stopping) {
        step(d, &(struct quorum_event){.kind = EVENT_APPLIED, .number = version});
        apply_next(d);
        drain(d);
    }
    left_one(d);
}

static void applied(void *arg)
{
    struct quorum_driver *d = arg;
    executor_submit_force(d->o.loop, applied_on_loop, d);
}

static void apply_next(struct quorum_driver *d)
{
    if (d->applying == NULL && d->next_apply != NULL) {
        d->applying = d->next_apply;
        d->next_apply = NULL;
        d->under_way++;
        d->o.events.apply(d->o.events.self, d->applying, applied, d);
    }
}

/* ---- effects ---- */

static void note_arrival(struct quorum_driver *d, uint64_t version)
{
    size_t at = version % ARRAY_LEN(d->arrived);
    if (d->arrived[at].version != version) { /* a state is written again when it is committed */
        d->arrived[at].version = version;
        d->arrived[at].ns = d->o.clock->mono_ns(d->o.clock->self);
    }
}

int64_t quorum_driver_arrived_ns(const struct quorum_driver *d, uint64_t version)
{
    size_t at = version % ARRAY_LEN(d->arrived);
    return d->arrived[at].version == version ? d->arrived[at].ns : 0;
}

static void perform(struct quorum_driver *d, struct quorum_effect *e)
{
    const struct quorum_events *ev = &d->o.events;
    switch (e->kind) {
    case EFFECT_SEND:
    case EFFECT_PUBLISH:
        send_request(d, e);
        break;
    case EFFECT_REPLY:
    case EFFECT_REFUSE:
        answer(e);
        break;
    case EFFECT_PERSIST:
        d->next_ticket = e->ticket;
        d->next_term = e->term;
        if (e->state != NULL) {
            note_arrival(d, e->state->version);
            cluster_state_unref(d->next_state);
            d->next_state = cluster_state_ref(e->state);
        }
        write_next(d);
        break;
    case EFFECT_APPLY: /* what came between was contained in it */
        cluster_state_unref(d->next_apply);
        d->next_apply = cluster_state_ref(e->state);
        apply_next(d);
        break;
    case EFFECT_MODE:
        ev->mode(ev->self, e->mode, e->term, e->mode == QUORUM_FOLLOWER ? &e->node : NULL);
        break;
    case EFFECT_JOINED:
        ev->change(ev->self, CHANGE_JOINED, &e->node, STR_NULL, NULL);
        break;
    case EFFECT_LEFT:
        ev->change(ev->self, CHANGE_LEFT, &e->node, e->text, NULL);
        break;
    case EFFECT_RECONFIGURE:
        ev->change(ev->self, CHANGE_VOTERS, NULL, STR_NULL, &e->config);
        break;
    case EFFECT_PUBLISHED:
        ev->published(ev->self, e->version, e->ok ? NULL : &e->error);
        break;
    case EFFECT_ACKED:
        ev->acked(ev->self, e->version, e->ok);
        break;
    case EFFECT_CONNECT:
        d->o.transport->connect(d->o.transport->self, &e->peer);
        break;
    case EFFECT_FORGET:
        d->o.transport->forget(d->o.transport->self, &e->peer);
        break;
    }
}

static void hold(struct quorum_driver *d, struct quorum_effect *e)
{
    struct held *h = malloc(sizeof(*h));
    if (h == NULL) { /* as good as lost on the way */
        if (e->kind == EFFECT_REPLY || e->kind == EFFECT_REFUSE) {
            ERR_LOCAL(em);
            err_no_memory(&em);
            remote_refuse(e->call, &em);
        }
        quorum_effect_fini(e);
        return;
    }
    h->next = NULL;
    h->effect = *e;
    *d->held_last = h;
    d->held_last = &h->next;
}

static void tick(void *arg)
{
    struct quorum_driver *d = arg;
    d->timer = NULL;
    step(d, &(struct quorum_event){.kind = EVENT_TICK});
    drain(d);
}

static void set_timer(struct quorum_driver *d)
{
    int64_t wake = quorum_wake_ms(d->q);
    if (d->timer != NULL && wake == d->timer_ms) {
        return;
    }
    if (d->timer != NULL) {
        timer_cancel(d->o.timers, d->timer);
    }
    d->timer_ms = wake;
    d->timer = wake == INT64_MAX ? NULL : timer_start(d->o.timers, MAX_OF(wake - now_ms(d), 0), tick, d);
}

static void drain(struct quorum_driver *d)
{
    struct quorum_effect e;
    if (d->draining) { /* an effect's callback took a step: its effects come behind */
        return;
    }
    d->draining = true;
    while (quorum_effect(d->q, &e)) {
        if (e.kind != EFFECT_PERSIST && e.ticket > d->durable) {
            hold(d, &e);
            continue;
        }
        perform(d, &e);
        quorum_effect_fini(&e);
    }
    d->draining = false;
    INVARIANT(quorum_invariant(d->q));
    set_timer(d);
}

/* ---- life ---- */

enum err quorum_driver_new(struct quorum_driver **out, const struct quorum_driver_opts *opts,
                           struct errmsg *em)
{
    struct quorum_driver *d = calloc(1, sizeof(*d));
    *out = NULL;
    if (d == NULL) {
        return err_no_memory(em);
    }
    d->o = *opts;
    d->held_last = &d->held;
    buf_init(&d->sent_bytes, NULL, BUF_UNLIMITED);
    enum err e = quorum_new(&d->q, &opts->quorum, em);
    if (e != ERR_OK) {
        quorum_driver_free(d);
        return e;
    }
    d->served = (struct remote_service){.transport = d->o.transport,
                                        .self = d,
                                        .rows = rows,
                                        .n = ARRAY_LEN(rows),
                                        .pools = {[MESSAGE_ON_LOOP] = d->o.loop}};
    remote_serve(&d->served);
    d->o.transport->watch(d->o.transport->self, d->o.loop, peer_lost, d);
    *out = d;
    return ERR_OK;
}

void quorum_driver_start(struct quorum_driver *d, const struct str *seeds, uint32_t n_seeds)
{
    step(d, &(struct quorum_event){.kind = EVENT_START, .seeds = seeds, .n_seeds = n_seeds});
    drain(d);
}

/* What would have been an answer refuses; anything else is dropped. */
static void turn_away(struct quorum_effect *e, const struct errmsg *em)
{
    if (e->kind == EFFECT_REPLY || e->kind == EFFECT_REFUSE) {
        remote_refuse(e->call, em);
    }
    quorum_effect_fini(e);
}

void quorum_driver_stop(struct quorum_driver *d, void (*done)(void *arg), void *arg)
{
    struct quorum_effect e;
    ERR_LOCAL(em);
    err_set(&em, ERR_NODE_CLOSED, "this node is stopping");
    d->stopping = true;
    if (d->timer != NULL) {
        timer_cancel(d->o.timers, d->timer);
        d->timer = NULL;
    }
    if (d->retry != NULL) {
        timer_cancel(d->o.timers, d->retry);
        d->retry = NULL;
    }
    while (d->held != NULL) {
        struct held *h = d->held;
        d->held = h->next;
        turn_away(&h->effect, &em);
        free(h);
    }
    d->held_last = &d->held;
    quorum_refuse_waiting(d->q, &em);
    while (quorum_effect(d->q, &e)) {
        turn_away(&e, &em);
    }
    d->stopped = done;
    d->stopped_arg = arg;
    end_if_idle(d);
}

void quorum_driver_free(struct quorum_driver *d)
{
    if (d != NULL) {
        cluster_state_unref(d->next_state);
        cluster_state_unref(d->next_apply);
        cluster_state_unref(d->sent);
        cluster_state_unref(d->sent_base);
        buf_fini(&d->sent_bytes);
        arena_fini(&d->write_arena);
        quorum_free(d->q);
        free(d);
    }
}

enum err quorum_driver_publish(struct quorum_driver *d, struct cluster_state *state, struct errmsg *em)
{
    enum err e = quorum_step(
        d->q, &(struct quorum_event){.kind = EVENT_PUBLISH, .now = now_ms(d), .state = state}, em);
    drain(d);
    return e;
}

bool quorum_driver_hand_over(struct quorum_driver *d)
{
    ERR_LOCAL(em);
    enum err e = quorum_step(d->q, &(struct quorum_event){.kind = EVENT_HAND_OVER, .now = now_ms(d)}, &em);
    drain(d);
    return e == ERR_OK;
}

void quorum_driver_not_reconfigured(struct quorum_driver *d)
{
    step(d, &(struct quorum_event){.kind = EVENT_NOT_RECONFIGURED});
}

struct quorum *quorum_driver_core(struct quorum_driver *d)
{
    return d->q;
}
