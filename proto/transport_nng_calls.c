/* Requests that come in: the connections that others have dialed, and the calls that wait for an answer. */
#include "proto/err_bytes.h"
#include "proto/transport_nng_int.h"

#include <stdlib.h>

#define GREETING_MS    3000 /* for the preface of whoever connects */
#define STRANGERS_MAX  256  /* connections without one yet */
#define ACCEPT_WAIT_MS 100  /* after one that failed: no file descriptors, mostly */
#define ANSWERS_MAX \
    ((size_t)32 << 20) /* bytes of answers that wait on a connection, before it is read no further */

/* Requests that one process works on at a time, by class; more are answered "busy". */
static const uint32_t calls_max[TRANSPORT_CLASSES] = {8192, 4096, 256};

/* A connection that came. */
struct accepted {
    struct accepted *next, **at;
    struct transport_nng *t;
    struct tnng_conn *conn;
    bool greeted, given_up;
    int64_t since;
    enum transport_class cls;
};

/* A request that came. */
struct inbound {
    struct transport_call call;
    struct transport_nng *t;
    struct tnng_conn *conn; /* a reference */
    uint64_t id;
    struct buf frame; /* holds what call borrows */
    bool counted;
    const struct served *served;
};

/* ---- answers ---- */

static void inbound_free(struct inbound *in)
{
    struct transport_nng *t = in->t;
    tnng_conn_unref(in->conn);
    buf_fini(&in->frame);
    pthread_mutex_lock(&t->lock);
    t->calls[in->call.cls] -= in->counted;
    t->open_calls--;
    pthread_cond_broadcast(&t->quiet);
    pthread_mutex_unlock(&t->lock);
    free(in);
}

static struct tnng_out *refusal(struct frame *f, const struct errmsg *why)
{
    struct buf b;
    ERR_LOCAL(em);
    buf_init(&b, NULL, KIB * 16);
    errmsg_encode(why, &b);
    f->flags |= FRAME_REFUSAL;
    f->payload = buf_view(&b);
    struct tnng_out *out = tnng_out_new(f, &b, &em);
    buf_fini(&b);
    return out;
}

/* payload NULL: refused, why says why. If the caller has gone, nobody is told. */
static void answer(struct inbound *in, struct buf *payload, const struct errmsg *why)
{
    ERR_LOCAL(em);
    struct frame f = {.flags = FRAME_ANSWER,
                      .cls = (uint8_t)in->call.cls,
                      .kind = in->call.kind,
                      .from = str_of(in->t->ephemeral_id),
                      .target = in->call.from};
    struct tnng_out *out = NULL;
    if (payload != NULL) {
        f.payload = buf_view(payload);
        out = tnng_out_new(&f, payload, &em);
        why = &em; /* too long, or no memory: says that */
    }
    if (out == NULL) {
        out = refusal(&f, why);
    }
    if (out != NULL) {
        tnng_out_set_id(out, in->id);
        if (tnng_conn_queue(in->conn, out, SIZE_MAX) == ERR_OK) {
            tnng_conn_flush(in->conn);
        } else {
            tnng_out_free(out);
        }
    }
    inbound_free(in);
}

static void refuse(struct inbound *in, enum err code, const char *why)
{
    ERR_LOCAL(em);
    err_set(&em, code, "%s", why);
    answer(in, NULL, &em);
}

void transport_nng_reply(UNUSED void *self, struct transport_call *call, struct buf *payload)
{
    answer(call->slot, payload, NULL);
    buf_fini(payload);
}

void transport_nng_refuse(UNUSED void *self, struct transport_call *call, const struct errmsg *error)
{
    answer(call->slot, NULL, error);
}

/* ---- requests ---- */

static void handle_call(void *arg)
{
    struct inbound *in = arg;
    in->served->handle(in->served->arg, &in->call);
}

static void take_call(struct inbound *in)
{
    struct transport_nng *t = in->t;
    struct frame f;
    ERR_LOCAL(em);
    if (frame_decode(&f, buf_view(&in->frame), &em) != ERR_OK) {
        answer(in, NULL, &em);
        return;
    }
    in->call.kind = f.kind;
    in->call.from = f.from;
    in->call.payload = f.payload;
    if (f.cls != in->call.cls || f.kind >= KINDS || t->served[f.kind].handle == NULL || f.flags != 0) {
        refuse(in, ERR_ILLEGAL_ARGUMENT, "this node does not know what was asked");
        return;
    }
    if (f.target.n > 0 && !str_is(f.target, t->ephemeral_id)) {
        refuse(in, ERR_NODE_NOT_CONNECTED, "another process lives here now");
        return;
    }
    in->served = &t->served[f.kind];
    pthread_mutex_lock(&t->lock);
    t->stats.received++;
    in->counted = t->calls[f.cls] < calls_max[f.cls];
    t->calls[f.cls] += in->counted;
    t->stats.refused_busy += !in->counted;
    pthread_mutex_unlock(&t->lock);
    if (!in->counted) {
        refuse(in, ERR_REJECTED, "too many requests between nodes");
    } else if (!executor_submit(in->served->where, handle_call, in)) {
        refuse(in, ERR_REJECTED, "this node is too busy");
    }
}

/* ---- connections ---- */

static void greeted(void *arg, UNUSED struct tnng_conn *c, enum transport_class cls)
{
    struct accepted *a = arg;
    pthread_mutex_lock(&a->t->lock);
    a->greeted = true;
    a->cls = cls;
    a->t->n_strangers--;
    pthread_mutex_unlock(&a->t->lock);
}

static void asked(void *arg, struct tnng_conn *c, uint64_t id, struct buf *frame)
{
    struct accepted *a = arg;
    struct transport_nng *t = a->t;
    struct inbound *in = calloc(1, sizeof(*in));
    pthread_mutex_lock(&t->lock);
    bool take = in != NULL && !t->stopping;
    t->open_calls += take;
    pthread_mutex_unlock(&t->lock);
    if (!take) { /* without memory the caller learns nothing but that the connection went */
        free(in);
        buf_fini(frame);
        tnng_conn_close(c);
        return;
    }
    in->t = t;
    in->conn = c;
    tnng_conn_ref(c);
    in->id = id;
    in->frame = *frame;
    in->call.cls = a->cls;
    in->call.from = STR("");
    in->call.slot = in;
    take_call(in);
}

static void gone(void *arg, struct tnng_conn *c)
{
    struct accepted *a = arg;
    struct transport_nng *t = a->t;
    pthread_mutex_lock(&t->lock);
    *a->at = a->next;
    if (a->next != NULL) {
        a->next->at = a->at;
    }
    t->n_accepted--;
    t->n_strangers -= !a->greeted;
    pthread_cond_broadcast(&t->quiet);
    pthread_mutex_unlock(&t->lock);
    free(a);
    tnng_conn_unref(c);
}

static const struct tnng_conn_events events = {greeted, asked, gone};

/* The lock is held. The stream is taken. */
static void add_accepted(struct transport_nng *t, nng_stream *stream)
{
    struct accepted *a = t->n_strangers < STRANGERS_MAX && !t->stopping ? calloc(1, sizeof(*a)) : NULL;
    if (a == NULL) {
        nng_stream_close(stream);
        nng_stream_free(stream);
        return;
    }
    a->conn = tnng_conn_new(stream, false, TRANSPORT_CONTROL, &events, a);
    if (a->conn == NULL) {
        free(a);
        return;
    }
    a->t = t;
    a->since = tnng_mono_ms();
    a->next = t->accepted;
    a->at = &t->accepted;
    if (a->next != NULL) {
        a->next->at = &a->next;
    }
    t->accepted = a;
    t->n_accepted++;
    t->n_strangers++;
    transport_nng_wake(t, a->since + GREETING_MS);
    tnng_conn_pause_above(a->conn, ANSWERS_MAX);
    tnng_conn_start(a->conn);
}

void tnng_calls_accept(struct transport_nng *t)
{
    t->accepting = true;
    t->accept_again = NEVER;
    nng_stream_listener_accept(t->listener, t->accept);
}

void tnng_calls_accept_event(void *transport)
{
    struct transport_nng *t = transport;
    int rv = nng_aio_result(t->accept);
    pthread_mutex_lock(&t->lock);
    t->accepting = false;
    if (rv == 0) {
        add_accepted(t, nng_aio_get_output(t->accept, 0));
    }
    if (rv == 0 && !t->stopping) {
        tnng_calls_accept(t);
    } else if (!t->stopping) {
        t->accept_again = tnng_mono_ms() + ACCEPT_WAIT_MS;
        transport_nng_wake(t, t->accept_again);
    }
    pthread_cond_broadcast(&t->quiet);
    pthread_mutex_unlock(&t->lock);
}

int64_t tnng_calls_tend(struct transport_nng *t, int64_t now)
{
    if (!t->stopping && now >= t->accept_again) {
        tnng_calls_accept(t);
    }
    int64_t wake = t->stopping ? NEVER : t->accept_again;
    for (struct accepted *a = t->n_strangers > 0 ? t->accepted : NULL; a != NULL; a = a->next) {
        if (a->greeted || a->given_up) {
            continue;
        }
        if (now - a->since >= GREETING_MS) {
            a->given_up = true;
            tnng_conn_close(a->conn);
        } else {
            wake = MIN_OF(wake, a->since + GREETING_MS);
        }
    }
    return wake;
}

void tnng_calls_close(struct transport_nng *t)
{
    for (struct accepted *a = t->accepted; a != NULL; a = a->next) {
        tnng_conn_close(a->conn);
    }
}
