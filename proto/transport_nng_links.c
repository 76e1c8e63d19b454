/* Links: to whom there is a connection, and how it comes back. Only the keeper dials, with a dialer of its own for each attempt, since one
 * that has been told to give up may give its next attempt the end of the last. */
#include "proto/transport_nng_int.h"

#include <stdio.h>
#include <stdlib.h>

#define STEADY_MS 1000 /* a connection that lasted as long is dialed again at once when it goes */
#define MISSES_MAX \
    3 /* requests in a row without an answer in time or a sign of life: the connection is closed */

/* An attempt at a connection. */
struct dial {
    struct dial *next; /* once it is over */
    struct transport_nng *t;
    nng_stream_dialer *dialer;
    nng_aio *aio;
    bool done, aborted;
    int result;
    nng_stream *stream;
};

/* ---- attempts ---- */

/* NNG's thread. */
static void dialed(void *arg)
{
    struct dial *d = arg;
    struct transport_nng *t = d->t;
    pthread_mutex_lock(&t->lock);
    d->done = true;
    d->result = nng_aio_result(d->aio);
    d->stream = d->result == 0 ? nng_aio_get_output(d->aio, 0) : NULL;
    transport_nng_wake(t, 0);
    pthread_mutex_unlock(&t->lock);
}

static void dial_free(struct dial *d)
{
    nng_aio_free(d->aio);
    if (d->dialer != NULL) {
        nng_stream_dialer_close(d->dialer);
        nng_stream_dialer_free(d->dialer);
    }
    free(d);
}

void tnng_dials_free(struct dial *over)
{
    while (over != NULL) {
        struct dial *d = over;
        over = d->next;
        dial_free(d);
    }
}

static struct dial *dial_begin(struct link *l)
{
    char url[96];
    snprintf(url, sizeof(url), "tcp://%s", l->address);
    struct dial *d = calloc(1, sizeof(*d));
    if (d == NULL) {
        return NULL;
    }
    d->t = l->t;
    if (nng_stream_dialer_alloc(&d->dialer, url) != 0 || nng_aio_alloc(&d->aio, dialed, d) != 0) {
        dial_free(d);
        return NULL;
    }
    nng_stream_dialer_dial(d->dialer, d->aio);
    return d;
}

/* ---- what connections tell ---- */

struct lost_call {
    struct transport_nng *t;
    char address[64], ephemeral_id[FRAME_ID_BYTES + 1];
};

static void run_lost(void *arg)
{
    struct lost_call *c = arg;
    struct transport_peer peer = {str_of(c->address), str_of(c->ephemeral_id)};
    c->t->lost(c->t->lost_arg, &peer);
    free(c);
}

static void report_lost(const struct link *l)
{
    struct transport_nng *t = l->t;
    struct lost_call *c = t->lost != NULL && l->ephemeral_id[0] != 0 ? malloc(sizeof(*c)) : NULL;
    if (c == NULL) {
        return;
    }
    c->t = t;
    memcpy(c->address, l->address, sizeof(c->address));
    memcpy(c->ephemeral_id, l->ephemeral_id, sizeof(c->ephemeral_id));
    if (!executor_submit_force(t->watch_on, run_lost, c)) {
        free(c);
    }
}

/* The next attempt: at once after a connection that lasted, else later each time, counted from the beginning of this one. */
static void plan_dial(struct link *l, bool lasted, int64_t now)
{
    l->redial_ms = lasted || l->redial_ms == 0 ? REDIAL_MIN_MS : MIN_OF(l->redial_ms * 2, REDIAL_MAX_MS);
    l->next_dial = MAX_OF(now + REDIAL_MIN_MS, (lasted ? now : l->attempt_begun) + l->redial_ms);
    transport_nng_wake(l->t, l->next_dial);
}

static void greeted(void *arg, struct tnng_conn *c, UNUSED enum transport_class cls)
{
    struct link *l = arg;
    struct transport_nng *t = l->t;
    struct slot *ended = NULL;
    pthread_mutex_lock(&t->lock);
    if (!l->closing && !l->given_up) {
        l->up = l->was_up = true;
        l->up_since = tnng_mono_ms();
        l->misses = 0;
        tnng_slots_connected(l, &ended);
    }
    pthread_mutex_unlock(&t->lock);
    tnng_conn_flush(c);
    tnng_slots_hand_over(ended);
}

static void tnng_link_answered(void *arg, UNUSED struct tnng_conn *c, uint64_t id, struct buf *frame)
{
    tnng_slot_answered(arg, id, frame);
}

static void gone(void *arg, struct tnng_conn *c)
{
    struct link *l = arg;
    struct transport_nng *t = l->t;
    struct slot *ended = NULL;
    pthread_mutex_lock(&t->lock);
    int64_t now = tnng_mono_ms();
    if (l->up && l->cls == TRANSPORT_CONTROL && !l->closing && !t->stopping) {
        report_lost(l);
    }
    tnng_slots_disconnected(l, c, &ended);
    plan_dial(l, l->up && now - l->up_since >= STEADY_MS, now);
    l->up = false;
    l->conn = NULL;
    transport_nng_wake(t, 0);
    pthread_mutex_unlock(&t->lock); /* the link may be freed now */
    tnng_slots_hand_over(ended);
    tnng_conn_unref(c);
}

static const struct tnng_conn_events events = {greeted, tnng_link_answered, gone};

/* ---- links ---- */

struct link *tnng_link_find(struct transport_nng *t, const struct transport_peer *p, enum transport_class cls)
{
    for (struct link *l = t->links; l != NULL; l = l->next) {
        if (l->cls == cls && !l->closing && str_is(p->address, l->address)
            && str_is(p->ephemeral_id, l->ephemeral_id)) {
            return l;
        }
    }
    return NULL;
}

struct link *tnng_link_get(struct transport_nng *t, const struct transport_peer *p, enum transport_class cls,
                           struct errmsg *em)
{
    struct link *l = tnng_link_find(t, p, cls);
    if (l != NULL || t->stopping) {
        err_set(em, ERR_NODE_CLOSED, "this node is stopping");
        return l;
    }
    if (p->address.n >= sizeof(l->address) || p->ephemeral_id.n > FRAME_ID_BYTES) {
        err_set(em, ERR_NODE_NOT_CONNECTED, "[%.*s] is no address", STR_ARG(p->address));
        return NULL;
    }
    l = calloc(1, sizeof(*l));
    if (l == NULL) {
        err_no_memory(em);
        return NULL;
    }
    l->t = t;
    l->cls = cls;
    l->opened = l->next_dial = tnng_mono_ms();
    memcpy(l->address, p->address.p, p->address.n);
    memcpy(l->ephemeral_id, p->ephemeral_id.p != NULL ? p->ephemeral_id.p : "", p->ephemeral_id.n);
    l->next = t->links;
    t->links = l;
    transport_nng_wake(t, 0);
    return l;
}

void tnng_link_close(struct link *l, struct slot **ended)
{
    l->closing = true;
    tnng_slots_closed(l, ended);
    if (l->conn != NULL) {
        tnng_conn_close(l->conn);
    }
    transport_nng_wake(l->t, 0);
}

/* Whether a request waits that was sent no later than `since`, and nothing has come after it. */
static bool is_silent(const struct link *l, int64_t since)
{
    const struct slot *first = NULL;
    for (const struct slot *s = l->slots; s != NULL; s = s->next) {
        first = s->sent && (first == NULL || s->sent_ms < first->sent_ms) ? s : first;
    }
    return first != NULL && first->sent_ms <= since && tnng_conn_received_ms(l->conn) < first->sent_ms;
}

/* A connection that was cut off sends again later and later, also when it no longer is cut off: one that stays silent is given up, and
 * with it the others to the same process that are as silent. A single slow answer says nothing. */
void tnng_link_missed(struct link *l, const struct slot *s, int64_t now)
{
    if (l->cls != TRANSPORT_CONTROL || l->conn == NULL || tnng_conn_received_ms(l->conn) >= s->sent_ms) {
        return;
    }
    if (l->misses > 0 && tnng_conn_received_ms(l->conn) >= l->silent_since) {
        l->misses = 0;
    }
    if (l->misses > 0 && s->sent_ms < l->missed_at) {
        return; /* sent before the last one was missed: counted with it */
    }
    l->silent_since = l->misses == 0 ? s->sent_ms : l->silent_since;
    l->missed_at = now;
    if (++l->misses < MISSES_MAX) {
        return;
    }
    for (struct link *other = l->t->links; other != NULL; other = other->next) {
        bool same = strcmp(l->address, other->address) == 0
                    && strcmp(l->ephemeral_id, other->ephemeral_id) == 0 && other->conn != NULL;
        if (same && (other == l || is_silent(other, s->sent_ms))) {
            tnng_conn_close(other->conn);
        }
    }
}

/* ---- the keeper ---- */

static void take_dial(struct link *l, int64_t now, struct dial **over)
{
    struct dial *d = l->dial;
    l->dial = NULL;
    d->next = *over;
    *over = d;
    if (d->stream != NULL && !l->closing && !l->given_up) {
        l->conn = tnng_conn_new(d->stream, true, l->cls, &events, l);
    } else if (d->stream != NULL) {
        nng_stream_close(d->stream);
        nng_stream_free(d->stream);
    }
    if (l->conn != NULL) {
        tnng_conn_start(l->conn);
    } else {
        plan_dial(l, false, now);
    }
}

static void give_up(struct link *l)
{
    l->given_up = true;
    if (l->dial != NULL) {
        nng_aio_abort(l->dial->aio, NNG_ETIMEDOUT);
    } else if (l->conn != NULL) {
        tnng_conn_close(l->conn);
    }
}

static int64_t tend(struct link *l, int64_t now, struct dial **over)
{
    if (l->dial != NULL && l->dial->done) {
        take_dial(l, now, over);
    }
    if (l->dial == NULL && l->conn == NULL && !l->closing && now >= l->next_dial) {
        l->attempt_begun = now;
        l->given_up = false;
        l->dial = dial_begin(l);
        if (l->dial == NULL) {
            plan_dial(l, false, now);
        }
    }
    bool trying = (l->dial != NULL || l->conn != NULL) && !l->up && !l->given_up;
    if (trying && (l->closing || now - l->attempt_begun >= ATTEMPT_MS)) {
        give_up(l);
        trying = false;
    }
    if (trying) {
        return l->attempt_begun + ATTEMPT_MS;
    }
    return l->dial == NULL && l->conn == NULL ? l->next_dial : NEVER;
}

int64_t tnng_links_tend(struct transport_nng *t, int64_t now, struct dial **over)
{
    int64_t wake = NEVER;
    for (struct link **at = &t->links, *l; (l = *at) != NULL;) {
        int64_t next = tend(l, now, over);
        if (l->closing && l->dial == NULL && l->conn == NULL) {
            *at = l->next;
            free(l);
            continue;
        }
        wake = MIN_OF(wake, next);
        at = &l->next;
    }
    return wake;
}
