#include "proto/remote_shards.h"

#include "proto/remote.h"
#include "proto/shard_bytes.h"
#include "proto/shard_ops.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define CANCEL_MS 60000 /* a node that is present, and silent for as long, did not get the request */

/* A call to another node, in its request's arena. */
struct outgoing {
    struct transport_rq t; /* first: done() gets it */
    struct remote_shards *owner;
    struct shard_rq *rq;
    struct transport_peer to;
    uint64_t id;
    bool cancel_sent, lost;      /* of the thread that checks it */
    bool looked_at, ended;       /* under the lock: its end waits for the look; and has come */
    struct outgoing *next, **at; /* under the lock */
};

/* A call of another node's. The request's own struct follows. */
struct incoming {
    struct remote_shards *owner;
    struct transport_call *call;
    uint64_t id;
    _Atomic bool cancelled;
    struct incoming *next, **at; /* under the lock */
    _Alignas(max_align_t) struct shard_rq rq;
};

struct remote_shards {
    struct remote_shards_opts o;
    struct remote_service cancelling;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* n_in is 0 */
    struct outgoing *out;
    struct incoming *in;
    size_t n_out, n_in;
    void (*begin)(void *self, struct shard_rq *rq); /* NULL: nobody listens */
    void *listener;
    bool stopping;
    uint64_t next_id;
};

static const struct executor *pool_of(const struct remote_shards *r, const struct shard_op *op)
{
    return op->write_pool ? r->o.writes : r->o.reads;
}

/* ---- calls to other nodes ------------------------------------------------------------------------------ */

/* Under the lock. */
static void unlink_out(struct remote_shards *r, struct outgoing *c)
{
    *c->at = c->next;
    if (c->next != NULL) {
        c->next->at = c->at;
    }
    r->n_out--;
}

static void remote_shards_finish(struct outgoing *c)
{
    struct transport_rq *t = &c->t;
    struct shard_rq *rq = c->rq;
    if (c->lost && err_is(&t->error)) {
        err_set(&rq->error, ERR_NODE_DISCONNECTED, "[%.*s] disconnected", STR_ARG(c->to.address));
    } else if (err_is(&t->error)) {
        err_copy(&rq->error, &t->error);
    } else {
        struct str bytes = arena_str(&rq->arena, t->answer);
        struct bytes_in in = bytes_in(bytes);
        in.bad |= bytes.p == NULL;
        if (!in.bad) {
            rq->op->decode_answer(rq, &in);
            in.bad |= bytes_left(&in) != 0;
        }
        if (in.bad) {
            err_set(&rq->error, ERR_CORRUPT, "an answer of [%.*s] cannot be read", STR_ARG(c->to.address));
        }
    }
    transport_rq_fini(t);
    shard_rq_answer(rq);
}

static void answered(struct transport_rq *t)
{
    struct outgoing *c = (struct outgoing *)t;
    struct remote_shards *r = c->owner;
    pthread_mutex_lock(&r->lock);
    bool waits = c->ended = c->looked_at; /* who looks finishes it */
    if (!waits) {
        unlink_out(r, c);
    }
    pthread_mutex_unlock(&r->lock);
    if (!waits) {
        remote_shards_finish(c);
    }
}

/* The task that asks, if it is one. */
static void put_parent(struct buf *b, const struct shard_rq *rq)
{
    put_varint(b, rq->parent);
    if (rq->parent != 0) {
        put_str(b, rq->parent_node);
        put_opt_str(b, rq->opaque_id);
    }
}

static void get_parent(struct bytes_in *in, struct shard_rq *rq)
{
    rq->parent = get_varint(in);
    if (rq->parent != 0) {
        rq->parent_node = get_str(in);
        rq->opaque_id = get_opt_str(in);
    }
}

void remote_shards_call(struct remote_shards *r, const struct transport_peer *to, struct shard_rq *rq)
{
    shard_rq_take(rq);
    struct outgoing *c = ARENA_NEW(&rq->arena, struct outgoing);
    if (c == NULL) {
        err_no_memory(&rq->error);
        shard_rq_answer(rq);
        return;
    }
    *c = (struct outgoing){
        .t = {.cls = TRANSPORT_DATA,
              .kind = rq->op->kind,
              .timeout_ms = rq->op->timeout_ms > 0 ? rq->op->timeout_ms : rq->op->timeout_of(rq),
              .on = pool_of(r, rq->op),
              .done = answered},
        .owner = r,
        .rq = rq,
        .to = {arena_str(&rq->arena, to->address), arena_str(&rq->arena, to->ephemeral_id)}};
    pthread_mutex_lock(&r->lock);
    c->id = ++r->next_id;
    pthread_mutex_unlock(&r->lock);
    buf_init(&c->t.payload, NULL, TRANSPORT_DATA_BYTES_MAX);
    put_varint(&c->t.payload, c->id);
    put_parent(&c->t.payload, rq);
    rq->op->encode(rq, &c->t.payload);
    if (c->t.payload.failed || c->to.address.p == NULL || c->to.ephemeral_id.p == NULL) {
        buf_fini(&c->t.payload);
        err_no_memory(&rq->error);
        shard_rq_answer(rq);
        return;
    }
    pthread_mutex_lock(&r->lock);
    c->at = &r->out;
    c->next = r->out;
    if (r->out != NULL) {
        r->out->at = &c->next;
    }
    r->out = c;
    r->n_out++;
    pthread_mutex_unlock(&r->lock);
    r->o.transport->send(r->o.transport->self, &c->to, &c->t);
}

/* ---- second thoughts ----------------------------------------------------------------------------------- */

MESSAGE(CANCEL_QUERY, cancel_query, "internal:transport/cancel", TRANSPORT_DATA, MESSAGE_ON_WRITES, CANCEL_MS,
        &codec_number, &codec_nothing);

/* Without the lock: what is asked here has locks of its own. */
static void check_call(struct remote_shards *r, struct outgoing *c,
                       bool (*gone)(void *self, struct str ephemeral_id), void *self)
{
    if (!c->cancel_sent && shard_rq_cancelled(c->rq)) {
        c->cancel_sent = true;
        remote_tell(r->o.transport, &c->to, &message_cancel_query, &c->id,
                    r->o.writes); /* lost: it is only slower */
    }
    if (!c->lost && gone(self, c->to.ephemeral_id)) {
        c->lost = true;
        r->o.transport->cancel(r->o.transport->self, &c->t);
    }
}

size_t remote_shards_look(struct remote_shards *r, bool (*gone)(void *self, struct str ephemeral_id),
                          void *self)
{
    struct outgoing *ended = NULL;
    pthread_mutex_lock(&r->lock);
    size_t n = r->n_out;
    for (struct outgoing *c = r->out, *next; c != NULL; c = next) {
        if (!c->looked_at) { /* else somebody else is at it */
            c->looked_at = true;
            pthread_mutex_unlock(&r->lock);
            check_call(r, c, gone, self);
            pthread_mutex_lock(&r->lock);
            c->looked_at = false;
        }
        next = c->next;
        if (c->ended && !c->looked_at) {
            unlink_out(r, c);
            c->next = ended;
            ended = c;
        }
    }
    pthread_mutex_unlock(&r->lock);
    while (ended != NULL) {
        struct outgoing *c = ended;
        ended = c->next;
        remote_shards_finish(c);
    }
    return n;
}

/* ---- calls of other nodes ------------------------------------------------------------------------------ */

static void served(struct shard_rq *rq)
{
    struct incoming *c = CONTAINER_OF(rq, struct incoming, rq);
    struct remote_shards *r = c->owner;
    const struct transport *t = r->o.transport;
    struct buf b;
    pthread_mutex_lock(&r->lock); /* a neighbour that goes writes `at`, too */
    if (c->at != NULL) {
        *c->at = c->next;
        if (c->next != NULL) {
            c->next->at = c->at;
        }
    }
    pthread_mutex_unlock(&r->lock);
    buf_init(&b, NULL, TRANSPORT_DATA_BYTES_MAX);
    rq->op->encode_answer(rq, &b);
    if (b.failed) {
        ERR_LOCAL(em);
        buf_fini(&b);
        err_no_memory(&em);
        t->refuse(t->self, c->call, &em);
    } else {
        t->reply(t->self, c->call, &b);
    }
    shard_rq_fini(rq);
    free(c);
    pthread_mutex_lock(&r->lock);
    if (--r->n_in == 0) {
        pthread_cond_broadcast(&r->idle);
    }
    pthread_mutex_unlock(&r->lock);
}

static bool call_cancelled(void *self)
{
    const struct incoming *c = self;
    return c->cancelled;
}

/* What may be cancelled is found again by its number. */
static void keep_call(struct remote_shards *r, struct incoming *c)
{
    c->rq.cancelled = call_cancelled;
    c->rq.cancel_self = c;
    pthread_mutex_lock(&r->lock);
    c->at = &r->in;
    c->next = r->in;
    if (r->in != NULL) {
        r->in->at = &c->next;
    }
    r->in = c;
    pthread_mutex_unlock(&r->lock);
}

static const struct shard_op *op_of(uint16_t kind)
{
    for (size_t i = 0; i < ARRAY_LEN(shard_ops); i++) {
        if (shard_ops[i]->kind == kind) {
            return shard_ops[i];
        }
    }
    return NULL; /* none was set up to be served */
}

/* NULL: *em says why not. */
static struct incoming *admit(struct remote_shards *r, const struct shard_op *op, struct errmsg *em)
{
    struct incoming *c = calloc(1, offsetof(struct incoming, rq) + MAX_OF(op->size, sizeof(c->rq)));
    if (c == NULL) {
        err_no_memory(em);
        return NULL;
    }
    pthread_mutex_lock(&r->lock);
    bool stopping = r->stopping;
    r->n_in += !stopping;
    pthread_mutex_unlock(&r->lock);
    if (stopping) {
        err_set(em, ERR_NODE_CLOSED, "node closed");
        free(c);
        return NULL;
    }
    return c;
}

static void serve(void *self, struct transport_call *call)
{
    struct remote_shards *r = self;
    const struct shard_op *op = op_of(call->kind);
    ERR_LOCAL(em);
    struct incoming *c = admit(r, op, &em);
    if (c == NULL) {
        r->o.transport->refuse(r->o.transport->self, call, &em);
        return;
    }
    struct bytes_in in = bytes_in(call->payload);
    shard_rq_init(&c->rq, op, served, NULL);
    c->owner = r;
    c->call = call;
    c->id = get_varint(&in);
    get_parent(&in, &c->rq);
    op->decode(&c->rq, &in);
    if (in.bad || bytes_left(&in) != 0) {
        err_set(&c->rq.error, ERR_CORRUPT, "a request to a shard cannot be read");
        served(&c->rq);
        return;
    }
    if (op->cancellable) {
        keep_call(r, c);
    }
    if (r->begin != NULL && c->rq.parent != 0) {
        r->begin(r->listener, &c->rq);
    }
    r->o.local->serve(r->o.local->self, &c->rq);
}

static void cancel_query(void *self, struct remote_rq *rq)
{
    struct remote_shards *r = self;
    const uint64_t *id = remote_body(rq);
    pthread_mutex_lock(&r->lock);
    for (struct incoming *c = r->in; c != NULL; c = c->next) {
        c->cancelled |= c->id == *id && str_eq(c->call->from, rq->call->from);
    }
    pthread_mutex_unlock(&r->lock);
    remote_reply(rq, NULL);
}

enum err remote_shards_new(struct remote_shards **out, const struct remote_shards_opts *opts,
                           struct errmsg *em)
{
    static const struct remote_row rows[] = {{&message_cancel_query, cancel_query}};
    struct remote_shards *r = calloc(1, sizeof(*r));
    *out = r;
    if (r == NULL) {
        return err_no_memory(em);
    }
    r->o = *opts;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->idle, NULL);
    const struct transport *t = opts->transport;
    for (size_t i = 0; i < ARRAY_LEN(shard_ops); i++) {
        t->serve(t->self, shard_ops[i]->kind, pool_of(r, shard_ops[i]), serve, r);
    }
    /* Not where searches run: those to be cancelled may be what fills it. */
    r->cancelling = (struct remote_service){
        .transport = t, .self = r, .rows = rows, .n = 1, .pools = {[MESSAGE_ON_WRITES] = opts->writes}};
    remote_serve(&r->cancelling);
    return ERR_OK;
}

void remote_shards_listen(struct remote_shards *r, void (*begin)(void *self, struct shard_rq *rq), void *self)
{
    r->begin = begin;
    r->listener = self;
}

bool remote_shards_stop(struct remote_shards *r, unsigned wait_s)
{
    struct timespec until;
    int over = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_s;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    while (r->n_in > 0 && over == 0) {
        over = wait_s == 0 ? pthread_cond_wait(&r->idle, &r->lock)
                           : pthread_cond_timedwait(&r->idle, &r->lock, &until);
    }
    bool idle = r->n_in == 0;
    pthread_mutex_unlock(&r->lock);
    return idle;
}

void remote_shards_free(struct remote_shards *r)
{
    if (r != NULL) {
        pthread_cond_destroy(&r->idle);
        pthread_mutex_destroy(&r->lock);
        free(r);
    }
}
