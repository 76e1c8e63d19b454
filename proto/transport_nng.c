#include "proto/transport_nng.h"

#include "proto/err_bytes.h"
#include "proto/frame.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/util/platform.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define KINDS            256
#define CONNECT_MS       1000 /* how long requests wait for a connection that was never there */
#define RECONNECT_MIN_MS 20
#define RECONNECT_MAX_MS 1000
#define IDLE_RECEIVERS   8  /* contexts that wait for requests */
#define SPARE_SLOTS      16 /* a link keeps for later requests */

/* Requests that one process works on at a time, by class; more are answered "busy". */
static const uint32_t calls_max[TRANSPORT_CLASSES] = {8192, 4096, 256};
static const size_t bytes_max[TRANSPORT_CLASSES] = {TRANSPORT_CONTROL_BYTES_MAX, TRANSPORT_DATA_BYTES_MAX,
                                                    TRANSPORT_DATA_BYTES_MAX};

struct link;

/* A request on its way: one context of its link's socket. */
struct slot {
    struct slot *next, **at; /* in the link's active list, or its spare one (next alone) */
    struct link *link;
    nng_ctx ctx;
    nng_aio *aio;
    nng_aio *wait; /* SLOT_WAITING's: an aio that has slept reports later time-outs as success */
    enum { SLOT_WAITING /* for a connection */, SLOT_SENDING, SLOT_RECEIVING } phase;
    nng_msg *msg;      /* to send */
    nng_time deadline; /* 0: none */
    int aborted;       /* why; 0: not. An abort between two phases would be lost otherwise */
    struct transport_rq *rq;
};

/* To one peer, for one class. */
struct link {
    struct link *next;
    struct transport_nng *t;
    char address[64], ephemeral_id[FRAME_ID_BYTES + 1];
    enum transport_class cls;
    nng_socket socket;
    nng_dialer dialer;
    nng_time opened;
    /* closing: out of the list; closed: its socket is gone, only slots are left */
    bool up, was_up, closing, closed;
    struct slot *active, *spare;
    unsigned n_spare;
};

/* A request that came, or a context that waits for one. */
struct inbound {
    struct transport_nng *t;
    nng_ctx ctx;
    nng_aio *aio;
    enum { INBOUND_RECEIVING, INBOUND_WORKING, INBOUND_ANSWERING } phase;
    nng_msg *msg; /* holds what call borrows */
    struct transport_call call;
    const struct served *served;
};

struct served {
    const struct executor *where;
    void (*handle)(void *arg, struct transport_call *call);
    void *arg;
};

struct transport_nng {
    struct transport api;
    const struct log *log;
    char ephemeral_id[FRAME_ID_BYTES + 1];
    nng_socket rep;
    nng_listener listener;
    unsigned port;
    struct served served[KINDS];
    const struct executor *watch_on;
    void (*lost)(void *arg, const struct transport_peer *peer);
    void *lost_arg;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t quiet;
    struct link *links;
    uint32_t n_links; /* those that are closing too */
    uint32_t receiving, inbounds, slots, calls[TRANSPORT_CLASSES];
    bool stopping;
    struct transport_nng_stats stats;
};

static enum err nng_failed(struct errmsg *em, enum err code, const char *what, int rv)
{
    return err_set(em, code, "%s: %s", what, nng_strerror(rv));
}

/* ---- requests that go out ---- */

static void run_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static void hand_over(struct transport_rq *rq)
{
    buf_fini(&rq->payload);
    if (!executor_submit_force(rq->on, run_done, rq)) {
        run_done(rq); /* its executor is gone: shutting down */
    }
}

/* Takes the slot off its request. The lock is held. */
static struct transport_rq *detach(struct slot *s)
{
    struct transport_rq *rq = s->rq;
    *s->at = s->next;
    if (s->next != NULL) {
        s->next->at = s->at;
    }
    s->rq = NULL;
    rq->slot = NULL;
    return rq;
}

static void slot_free(struct slot *s)
{
    struct transport_nng *t = s->link->t;
    nng_ctx_close(s->ctx);
    nng_aio_reap(s->aio);
    nng_aio_reap(s->wait);
    nng_msg_free(s->msg);
    free(s);
    t->slots--;
    pthread_cond_broadcast(&t->quiet);
}

/* The lock is held. */
static void slot_spare(struct slot *s)
{
    struct link *l = s->link;
    nng_msg_free(s->msg);
    s->msg = NULL;
    if (l->n_spare < SPARE_SLOTS && !l->closing && !l->t->stopping) {
        s->next = l->spare;
        l->spare = s;
        l->n_spare++;
    } else {
        slot_free(s);
    }
}

static void link_free_if_done(struct link *l)
{
    struct transport_nng *t = l->t;
    if (l->closed && l->active == NULL) {
        free(l);
        t->n_links--;
        pthread_cond_broadcast(&t->quiet);
    }
}

static void end_request(struct slot *s, enum err code, const char *why)
{
    struct link *l = s->link;
    struct transport_nng *t = l->t;
    struct errmsg em;
    err_set(&em, code, "[%s] %s", l->address, why);
    pthread_mutex_lock(&t->lock);
    struct transport_rq *rq = detach(s);
    rq->error = em;
    slot_spare(s);
    link_free_if_done(l);
    pthread_mutex_unlock(&t->lock);
    hand_over(rq);
}

static void take_answer(struct slot *s, nng_msg *msg)
{
    struct link *l = s->link;
    struct transport_nng *t = l->t;
    struct transport_rq *rq = s->rq;
    struct frame f;
    struct errmsg em;
    enum err e = frame_decode(&f, str_mk(nng_msg_body(msg), nng_msg_len(msg)), &em);
    if (e == ERR_OK && ((f.flags & FRAME_ANSWER) == 0 || f.kind != rq->kind)) {
        e = err_set(&em, ERR_CORRUPT, "[%s] answered another question", l->address);
    }
    if (e == ERR_OK && (f.flags & FRAME_REFUSAL) != 0) {
        struct bytes_in in = bytes_in(f.payload);
        errmsg_decode(&em, &in);
        e = in.bad || em.n == 0
                ? err_set(&em, ERR_CORRUPT, "[%s] sent a refusal that cannot be read", l->address)
                : err_code(&em);
    } else if (e == ERR_OK) {
        buf_init(&rq->answer_memory, NULL, BUF_UNLIMITED);
        buf_str(&rq->answer_memory, f.payload);
        rq->answer = buf_view(&rq->answer_memory);
        e = rq->answer_memory.failed ? err_no_memory(&em) : ERR_OK;
    }
    nng_msg_free(msg);
    pthread_mutex_lock(&t->lock);
    detach(s);
    if (e != ERR_OK) {
        rq->error = em;
    }
    slot_spare(s);
    link_free_if_done(l);
    pthread_mutex_unlock(&t->lock);
    hand_over(rq);
}

/* Ends what the slot is at; its event comes later. The lock is held. */
static void slot_abort(struct slot *s, int why)
{
    s->aborted = why;
    nng_aio_abort(s->phase == SLOT_WAITING ? s->wait : s->aio, why);
}

static void set_deadline(struct slot *s)
{
    nng_time now = nng_clock();
    nng_aio_set_timeout(s->aio, s->deadline == 0 ? NNG_DURATION_INFINITE
                                                 : (nng_duration)(s->deadline > now ? s->deadline - now : 0));
}

/* The lock is held, the link is up. */
static void start_sending(struct slot *s)
{
    s->phase = SLOT_SENDING;
    nng_aio_set_msg(s->aio, s->msg);
    set_deadline(s);
    nng_ctx_send(s->ctx, s->aio);
}

static void fail_by_result(struct slot *s, int rv)
{
    switch (rv) {
    case NNG_ETIMEDOUT:
        if (s->phase == SLOT_WAITING) {
            end_request(s, ERR_NODE_NOT_CONNECTED, "not connected");
        } else {
            end_request(s, ERR_RECEIVE_TIMEOUT, "did not answer in time");
        }
        break;
    case NNG_ECANCELED:
        end_request(s, ERR_CANCELLED, "request cancelled");
        break;
    case NNG_ECLOSED:
        end_request(s, s->phase == SLOT_WAITING ? ERR_NODE_NOT_CONNECTED : ERR_NODE_DISCONNECTED,
                    "connection closed");
        break;
    case NNG_ENOMEM:
        end_request(s, ERR_NO_MEMORY, "out of memory");
        break;
    default:
        end_request(s, ERR_NODE_DISCONNECTED, "disconnected");
    }
}

/* NNG's thread: the wait for a connection is over. */
static void wait_event(void *arg)
{
    struct slot *s = arg;
    struct transport_nng *t = s->link->t;
    int rv = nng_aio_result(s->wait);
    pthread_mutex_lock(&t->lock);
    bool go = rv == NNG_EAGAIN && s->link->up && s->aborted == 0;
    if (go) {
        start_sending(s);
    }
    rv = s->aborted != 0 ? s->aborted : rv;
    pthread_mutex_unlock(&t->lock);
    if (!go) {
        fail_by_result(s, rv == 0 || rv == NNG_EAGAIN ? NNG_ETIMEDOUT : rv);
    }
}

/* NNG's thread: the slot's send or receive is over. */
static void slot_event(void *arg)
{
    struct slot *s = arg;
    struct transport_nng *t = s->link->t;
    int rv = nng_aio_result(s->aio);
    if (rv != 0) {
        fail_by_result(s, rv);
        return;
    }
    if (s->phase == SLOT_RECEIVING) {
        take_answer(s, nng_aio_get_msg(s->aio));
        return;
    }
    pthread_mutex_lock(&t->lock);
    s->msg = NULL; /* gone with the send */
    s->phase = SLOT_RECEIVING;
    int aborted = s->aborted;
    if (aborted == 0) {
        set_deadline(s);
        nng_ctx_recv(s->ctx, s->aio);
    }
    pthread_mutex_unlock(&t->lock);
    if (aborted != 0) {
        fail_by_result(s, aborted);
    }
}

/* ---- links ---- */

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

static void tell_lost(struct link *l)
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

static void connection_changed(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
    struct link *l = arg;
    struct transport_nng *t = l->t;
    (void)pipe;
    pthread_mutex_lock(&t->lock);
    bool lost =
        event == NNG_PIPE_EV_REM_POST && l->up && l->cls == TRANSPORT_CONTROL && !l->closing && !t->stopping;
    l->up = event == NNG_PIPE_EV_ADD_POST;
    l->was_up |= l->up;
    for (struct slot *s = l->active; s != NULL; s = s->next) {
        if (l->up && s->phase == SLOT_WAITING) {
            nng_aio_abort(s->wait, NNG_EAGAIN);
        } else if (!l->up && s->phase == SLOT_SENDING) { /* it would go to whoever answers there next */
            nng_aio_abort(s->aio, NNG_ECONNRESET);
        }
    }
    if (lost) {
        tell_lost(l);
    }
    pthread_mutex_unlock(&t->lock);
}

static bool same_peer(const struct link *l, const struct transport_peer *p)
{
    return str_is(p->address, l->address) && str_is(p->ephemeral_id, l->ephemeral_id);
}

static struct link *find_link(struct transport_nng *t, const struct transport_peer *p,
                              enum transport_class cls)
{
    for (struct link *l = t->links; l != NULL; l = l->next) {
        if (l->cls == cls && !l->closing && same_peer(l, p)) {
            return l;
        }
    }
    return NULL;
}

static int open_socket(struct link *l)
{
    char url[96];
    snprintf(url, sizeof(url), "tcp://%s", l->address);
    int rv = nng_req0_open(&l->socket);
    if (rv != 0) {
        return rv;
    }
    rv = nng_socket_set_ms(l->socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
    rv = rv == 0 ? nng_socket_set_size(l->socket, NNG_OPT_RECVMAXSZ, bytes_max[l->cls] + FRAME_HEADER_MAX)
                 : rv;
    rv = rv == 0 ? nng_socket_set_ms(l->socket, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS) : rv;
    rv = rv == 0 ? nng_socket_set_ms(l->socket, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS) : rv;
    rv = rv == 0 ? nng_pipe_notify(l->socket, NNG_PIPE_EV_ADD_POST, connection_changed, l) : rv;
    rv = rv == 0 ? nng_pipe_notify(l->socket, NNG_PIPE_EV_REM_POST, connection_changed, l) : rv;
    rv = rv == 0 ? nng_dialer_create(&l->dialer, l->socket, url) : rv;
    rv = rv == 0 ? nng_dialer_start(l->dialer, NNG_FLAG_NONBLOCK) : rv;
    if (rv != 0) {
        nng_close(l->socket);
    }
    return rv;
}

/* The lock is held. NULL: em says why. */
static struct link *get_link(struct transport_nng *t, const struct transport_peer *p,
                             enum transport_class cls, struct errmsg *em)
{
    struct link *l = find_link(t, p, cls);
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
    l->opened = nng_clock();
    memcpy(l->address, p->address.p, p->address.n);
    memcpy(l->ephemeral_id, p->ephemeral_id.p != NULL ? p->ephemeral_id.p : "", p->ephemeral_id.n);
    int rv = open_socket(l);
    if (rv != 0) {
        nng_failed(em, ERR_NODE_NOT_CONNECTED, l->address, rv);
        free(l);
        return NULL;
    }
    l->next = t->links;
    t->links = l;
    t->n_links++;
    return l;
}

static struct slot *get_slot(struct link *l, struct errmsg *em)
{
    struct slot *s = l->spare;
    if (s != NULL) {
        l->spare = s->next;
        l->n_spare--;
        return s;
    }
    s = calloc(1, sizeof(*s));
    if (s == NULL) {
        err_no_memory(em);
        return NULL;
    }
    if (nng_aio_alloc(&s->aio, slot_event, s) != 0 || nng_aio_alloc(&s->wait, wait_event, s) != 0
        || nng_ctx_open(&s->ctx, l->socket) != 0) {
        nng_aio_free(s->aio);
        nng_aio_free(s->wait);
        free(s);
        err_no_memory(em);
        return NULL;
    }
    s->link = l;
    l->t->slots++;
    return s;
}

static nng_msg *message_of(const struct frame *f, struct errmsg *em)
{
    nng_msg *msg = NULL;
    struct buf b;
    buf_init(&b, NULL, bytes_max[f->cls] + FRAME_HEADER_MAX);
    frame_encode(f, &b);
    if (f->payload.n > bytes_max[f->cls]) {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "a message of [%zu] bytes is over the limit of [%zu]", f->payload.n,
                bytes_max[f->cls]);
    } else if (b.failed || nng_msg_alloc(&msg, 0) != 0 || nng_msg_append(msg, b.p, b.n) != 0) {
        nng_msg_free(msg);
        msg = NULL;
        err_no_memory(em);
    }
    buf_fini(&b);
    return msg;
}

/* The lock is held. */
static enum err begin_request(struct transport_nng *t, const struct transport_peer *to,
                              struct transport_rq *rq, nng_msg *msg, struct errmsg *em)
{
    struct link *l = get_link(t, to, rq->cls, em);
    if (l == NULL) {
        return err_code(em);
    }
    nng_time now = nng_clock();
    if (!l->up && (l->was_up || now - l->opened > CONNECT_MS)) {
        return err_set(em, ERR_NODE_NOT_CONNECTED, "[%s] not connected", l->address);
    }
    struct slot *s = get_slot(l, em);
    if (s == NULL) {
        return err_code(em);
    }
    s->msg = msg;
    s->aborted = 0;
    s->rq = rq;
    rq->slot = s;
    s->deadline = rq->timeout_ms > 0 ? now + (nng_time)rq->timeout_ms : 0;
    s->next = l->active;
    s->at = &l->active;
    if (s->next != NULL) {
        s->next->at = &s->next;
    }
    l->active = s;
    t->stats.sent++;
    t->stats.sent_bytes += nng_msg_len(msg);
    if (l->up) {
        start_sending(s);
    } else {
        s->phase = SLOT_WAITING;
        nng_sleep_aio((nng_duration)MIN_OF(CONNECT_MS, s->deadline == 0 ? CONNECT_MS : rq->timeout_ms),
                      s->wait);
    }
    return ERR_OK;
}

static void send_request(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct transport_nng *t = self;
    struct errmsg em;
    struct frame f = {.cls = (uint8_t)rq->cls,
                      .kind = rq->kind,
                      .from = str_of(t->ephemeral_id),
                      .target = to->ephemeral_id,
                      .payload = buf_view(&rq->payload)};
    err_clear(&rq->error);
    rq->answer = STR_NULL;
    buf_init(&rq->answer_memory, NULL, BUF_UNLIMITED);
    rq->slot = NULL;
    nng_msg *msg = message_of(&f, &em);
    enum err e = err_code(&em);
    if (msg != NULL) {
        pthread_mutex_lock(&t->lock);
        e = begin_request(t, to, rq, msg, &em);
        pthread_mutex_unlock(&t->lock);
    }
    if (e != ERR_OK) {
        nng_msg_free(msg);
        rq->error = em;
        hand_over(rq);
    }
}

static void cancel_request(void *self, struct transport_rq *rq)
{
    struct transport_nng *t = self;
    pthread_mutex_lock(&t->lock);
    struct slot *s = rq->slot;
    if (s != NULL) {
        slot_abort(s, NNG_ECANCELED);
    }
    pthread_mutex_unlock(&t->lock);
}

static void connect_peer(void *self, const struct transport_peer *to)
{
    struct transport_nng *t = self;
    struct errmsg em;
    pthread_mutex_lock(&t->lock);
    for (int cls = 0; cls < (to->ephemeral_id.n > 0 ? TRANSPORT_CLASSES : 1); cls++) {
        get_link(t, to, (enum transport_class)cls, &em);
    }
    pthread_mutex_unlock(&t->lock);
}

/* Takes a link out of the list. The lock is held. */
static void unlist(struct link *l)
{
    l->closing = true;
    for (struct link **at = &l->t->links; *at != NULL; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
    }
    for (struct slot *s = l->active; s != NULL; s = s->next) {
        slot_abort(s, NNG_ECLOSED);
    }
}

/* The lock is not held: NNG waits for callbacks that take it. */
static void close_link(struct link *l)
{
    struct transport_nng *t = l->t;
    nng_close(l->socket);
    pthread_mutex_lock(&t->lock);
    while (l->spare != NULL) {
        struct slot *s = l->spare;
        l->spare = s->next;
        slot_free(s);
    }
    l->closed = true;
    link_free_if_done(l);
    pthread_mutex_unlock(&t->lock);
}

static void forget_peer(void *self, const struct transport_peer *to)
{
    struct transport_nng *t = self;
    for (int cls = 0; cls < TRANSPORT_CLASSES; cls++) {
        pthread_mutex_lock(&t->lock);
        struct link *l = find_link(t, to, (enum transport_class)cls);
        if (l != NULL) {
            unlist(l);
        }
        pthread_mutex_unlock(&t->lock);
        if (l != NULL) {
            close_link(l);
        }
    }
}

/* ---- requests that come in ---- */

static void receive_more(struct transport_nng *t);

/* The lock is held. */
static void inbound_free(struct inbound *in)
{
    struct transport_nng *t = in->t;
    nng_ctx_close(in->ctx);
    nng_aio_reap(in->aio);
    nng_msg_free(in->msg);
    free(in);
    t->inbounds--;
    pthread_cond_broadcast(&t->quiet);
}

static void answer(struct inbound *in, uint8_t flags, struct str payload)
{
    struct transport_nng *t = in->t;
    struct errmsg em;
    struct frame f = {.flags = (uint8_t)(FRAME_ANSWER | flags),
                      .cls = (uint8_t)in->call.cls,
                      .kind = in->call.kind,
                      .from = str_of(t->ephemeral_id),
                      .target = in->call.from,
                      .payload = payload};
    nng_msg *msg = message_of(&f, &em);
    if (msg == NULL && flags != FRAME_REFUSAL) { /* too long, or no memory: say that */
        struct buf b;
        buf_init(&b, NULL, KIB * 4);
        errmsg_encode(&em, &b);
        answer(in, FRAME_REFUSAL, buf_view(&b));
        buf_fini(&b);
        return;
    }
    pthread_mutex_lock(&t->lock);
    in->phase = INBOUND_ANSWERING;
    if (msg == NULL || t->stopping) {
        nng_msg_free(msg);
        inbound_free(in);
    } else {
        nng_aio_set_msg(in->aio, msg);
        nng_ctx_send(in->ctx, in->aio);
    }
    pthread_mutex_unlock(&t->lock);
}

static void refuse(struct inbound *in, const struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, KIB * 16);
    errmsg_encode(em, &b);
    answer(in, FRAME_REFUSAL, buf_view(&b));
    buf_fini(&b);
}

static void handle_call(void *arg)
{
    struct inbound *in = arg;
    in->served->handle(in->served->arg, &in->call);
}

static void refuse_uncounted(struct inbound *in, enum err code, const char *why)
{
    struct errmsg em;
    err_set(&em, code, "%s", why);
    refuse(in, &em);
}

static void leave_count(struct inbound *in)
{
    pthread_mutex_lock(&in->t->lock);
    in->t->calls[in->call.cls]--;
    pthread_mutex_unlock(&in->t->lock);
}

static void take_call(struct inbound *in)
{
    struct transport_nng *t = in->t;
    struct frame f;
    struct errmsg em;
    in->phase = INBOUND_WORKING;
    if (frame_decode(&f, str_mk(nng_msg_body(in->msg), nng_msg_len(in->msg)), &em) != ERR_OK) {
        in->call = (struct transport_call){.from = STR("")};
        refuse(in, &em);
        return;
    }
    in->call = (struct transport_call){.cls = f.cls < TRANSPORT_CLASSES ? (enum transport_class)f.cls
                                                                        : TRANSPORT_CONTROL,
                                       .kind = f.kind,
                                       .from = f.from,
                                       .payload = f.payload,
                                       .slot = in};
    if (f.cls >= TRANSPORT_CLASSES || f.kind >= KINDS || t->served[f.kind].handle == NULL
        || f.payload.n > bytes_max[f.cls]) {
        refuse_uncounted(in, ERR_ILLEGAL_ARGUMENT, "this node does not know what was asked");
        return;
    }
    if (f.target.n > 0 && !str_is(f.target, t->ephemeral_id)) {
        refuse_uncounted(in, ERR_NODE_NOT_CONNECTED, "another process lives here now");
        return;
    }
    in->served = &t->served[f.kind];
    pthread_mutex_lock(&t->lock);
    t->stats.received++;
    t->stats.received_bytes += nng_msg_len(in->msg);
    bool busy = t->calls[f.cls] >= calls_max[f.cls];
    t->calls[f.cls] += busy ? 0 : 1;
    t->stats.refused_busy += busy;
    pthread_mutex_unlock(&t->lock);
    if (busy) {
        refuse_uncounted(in, ERR_REJECTED, "too many requests between nodes");
    } else if (!executor_submit(in->served->where, handle_call, in)) {
        leave_count(in);
        refuse_uncounted(in, ERR_REJECTED, "this node is too busy");
    }
}

/* NNG's thread: a request has come, or an answer has gone. */
static void inbound_event(void *arg)
{
    struct inbound *in = arg;
    struct transport_nng *t = in->t;
    int rv = nng_aio_result(in->aio);
    if (in->phase == INBOUND_RECEIVING && rv == 0) {
        pthread_mutex_lock(&t->lock);
        t->receiving--;
        pthread_mutex_unlock(&t->lock);
        in->msg = nng_aio_get_msg(in->aio);
        receive_more(t);
        take_call(in);
        return;
    }
    if (in->phase == INBOUND_ANSWERING && rv != 0) {
        nng_msg_free(nng_aio_get_msg(in->aio)); /* not sent: whoever asked is gone */
    }
    pthread_mutex_lock(&t->lock);
    bool again = !t->stopping && rv != NNG_ECLOSED
                 && (in->phase == INBOUND_RECEIVING || t->receiving < IDLE_RECEIVERS);
    t->receiving -= in->phase == INBOUND_RECEIVING;
    if (again) {
        nng_msg_free(in->msg);
        in->msg = NULL;
        in->phase = INBOUND_RECEIVING;
        t->receiving++;
        nng_ctx_recv(in->ctx, in->aio);
    } else {
        inbound_free(in);
    }
    pthread_mutex_unlock(&t->lock);
}

static bool receive_one(struct transport_nng *t)
{
    struct inbound *in = calloc(1, sizeof(*in));
    if (in == NULL || nng_aio_alloc(&in->aio, inbound_event, in) != 0) {
        free(in);
        return false;
    }
    if (nng_ctx_open(&in->ctx, t->rep) != 0) {
        nng_aio_free(in->aio);
        free(in);
        return false;
    }
    in->t = t;
    t->inbounds++;
    t->receiving++;
    nng_ctx_recv(in->ctx, in->aio);
    return true;
}

/* There are always some that wait; without memory for more, those that are answered come back. */
static void receive_more(struct transport_nng *t)
{
    pthread_mutex_lock(&t->lock);
    while (!t->stopping && t->receiving < IDLE_RECEIVERS && receive_one(t)) {
    }
    pthread_mutex_unlock(&t->lock);
}

static void reply_call(void *self, struct transport_call *call, struct buf *payload)
{
    struct inbound *in = call->slot;
    (void)self;
    leave_count(in);
    if (payload->failed) {
        struct errmsg em;
        err_no_memory(&em);
        refuse(in, &em);
    } else {
        answer(in, 0, buf_view(payload));
    }
    buf_fini(payload);
}

static void refuse_call(void *self, struct transport_call *call, const struct errmsg *error)
{
    (void)self;
    leave_count(call->slot);
    refuse(call->slot, error);
}

static void serve(void *self, uint16_t kind, const struct executor *where,
                  void (*handle)(void *arg, struct transport_call *call), void *arg)
{
    struct transport_nng *t = self;
    t->served[kind] = (struct served){where, handle, arg};
}

static void watch(void *self, const struct executor *on,
                  void (*lost)(void *arg, const struct transport_peer *peer), void *arg)
{
    struct transport_nng *t = self;
    t->watch_on = on;
    t->lost = lost;
    t->lost_arg = arg;
}

/* ---- life ---- */

static enum err listen_on(struct transport_nng *t, const struct transport_nng_opts *o, struct errmsg *em)
{
    int rv = 0;
    for (unsigned port = o->port_first; port <= o->port_last; port++) {
        char url[300];
        snprintf(url, sizeof(url), "tcp://%.*s:%u", STR_ARG(o->host), port);
        rv = nng_listener_create(&t->listener, t->rep, url);
        rv = rv == 0 ? nng_listener_start(t->listener, 0) : rv;
        if (rv == 0) {
            int bound = (int)port;
            t->port = nng_listener_get_int(t->listener, NNG_OPT_TCP_BOUND_PORT, &bound) == 0 ? (unsigned)bound
                                                                                             : port;
            return ERR_OK;
        }
        nng_listener_close(t->listener);
        if (rv != NNG_EADDRINUSE) {
            break;
        }
    }
    return err_set(em, ERR_IO, "Failed to bind to [%.*s:%u-%u]: %s", STR_ARG(o->host), o->port_first,
                   o->port_last, nng_strerror(rv));
}

enum err transport_nng_new(struct transport_nng **out, const struct transport_nng_opts *opts,
                           struct errmsg *em)
{
    struct transport_nng *t = calloc(1, sizeof(*t));
    *out = NULL;
    if (t == NULL) {
        return err_no_memory(em);
    }
    if (opts->ephemeral_id.n > FRAME_ID_BYTES) {
        free(t);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "an ephemeral id has at most %d bytes", FRAME_ID_BYTES);
    }
    t->log = opts->log;
    memcpy(t->ephemeral_id, opts->ephemeral_id.p, opts->ephemeral_id.n);
    t->api = (struct transport){.self = t,
                                .send = send_request,
                                .cancel = cancel_request,
                                .serve = serve,
                                .reply = reply_call,
                                .refuse = refuse_call,
                                .connect = connect_peer,
                                .forget = forget_peer,
                                .watch = watch};
    int rv = nng_rep0_open(&t->rep);
    rv = rv == 0 ? nng_socket_set_size(t->rep, NNG_OPT_RECVMAXSZ, TRANSPORT_DATA_BYTES_MAX + FRAME_HEADER_MAX)
                 : rv;
    if (rv != 0) {
        free(t);
        return nng_failed(em, ERR_IO, "transport", rv);
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->quiet, NULL);
    enum err e = listen_on(t, opts, em);
    if (e != ERR_OK) {
        transport_nng_stop(t);
        transport_nng_free(t);
        return e;
    }
    *out = t;
    return ERR_OK;
}

void transport_nng_start(struct transport_nng *t)
{
    receive_more(t);
}

unsigned transport_nng_port(const struct transport_nng *t)
{
    return t->port;
}

void transport_nng_stop(struct transport_nng *t)
{
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    while (t->links != NULL) {
        struct link *l = t->links;
        unlist(l);
        pthread_mutex_unlock(&t->lock);
        close_link(l);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    nng_close(t->rep);
}

void transport_nng_free(struct transport_nng *t)
{
    if (t == NULL) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    while (t->n_links > 0 || t->slots > 0 || t->inbounds > 0) {
        pthread_cond_wait(&t->quiet, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->quiet);
    free(t);
}

const struct transport *transport_nng_api(struct transport_nng *t)
{
    return &t->api;
}

void transport_nng_stats(struct transport_nng *t, struct transport_nng_stats *out)
{
    pthread_mutex_lock(&t->lock);
    *out = t->stats;
    out->peers = out->connections = 0;
    for (const struct link *l = t->links; l != NULL; l = l->next) {
        out->peers += l->cls == TRANSPORT_CONTROL;
        out->connections += l->up;
    }
    pthread_mutex_unlock(&t->lock);
}
