#include "proto/remote_shards.h"

#include "proto/shard_bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define GET_MS    60000   /* a node that is there and silent for as long has lost the request */
#define SEARCH_MS 1800000 /* the same of what may rightly take long */

/* A call to another node, in its request's arena. */
struct outgoing {
    struct transport_rq t; /* first: done() gets it */
    struct remote_shards *owner;
    struct shard_rq *rq;
    struct transport_peer to;
    uint64_t id;
    bool cancel_sent, lost;
    struct outgoing *next, **at; /* under the lock */
};

/* A call of another node's. */
struct incoming {
    union {
        struct shard_rq rq; /* first: done() gets it */
        struct shard_write write;
        struct shard_get get;
        struct shard_query query;
        struct shard_fetch fetch;
        struct shard_act act;
        struct shard_explain explain;
        struct shard_free free;
    };
    struct remote_shards *owner;
    struct transport_call *call;
    uint64_t id;
    _Atomic bool cancelled;
    struct incoming *next, **at; /* under the lock */
};

struct remote_shards {
    struct remote_shards_opts o;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* n_in is 0 */
    struct outgoing *out;
    struct incoming *in;
    size_t n_out, n_in;
    void (*begin)(void *self, uint16_t kind, struct shard_rq *rq); /* NULL: nobody listens */
    void *listener;
    bool stopping;
    uint64_t next_id;
};

/* ---- each kind's bytes --------------------------------------------------------------------------------- */

static void encode_request(uint16_t kind, const struct shard_rq *rq, struct buf *b)
{
    switch (kind) {
    case MESSAGE_SHARD_WRITE:
        shard_write_encode((const struct shard_write *)rq, b);
        break;
    case MESSAGE_SHARD_GET:
        shard_get_encode((const struct shard_get *)rq, b);
        break;
    case MESSAGE_SHARD_QUERY:
        shard_query_encode((const struct shard_query *)rq, b);
        break;
    case MESSAGE_SHARD_FETCH:
        shard_fetch_encode((const struct shard_fetch *)rq, b);
        break;
    case MESSAGE_SHARD_ACT:
        shard_act_encode((const struct shard_act *)rq, b);
        break;
    case MESSAGE_SHARD_EXPLAIN:
        shard_explain_encode((const struct shard_explain *)rq, b);
        break;
    default:
        shard_free_encode((const struct shard_free *)rq, b);
        break;
    }
}

static void decode_answer(uint16_t kind, struct shard_rq *rq, struct bytes_in *in)
{
    switch (kind) {
    case MESSAGE_SHARD_WRITE:
        shard_write_answer_decode((struct shard_write *)rq, in);
        break;
    case MESSAGE_SHARD_GET:
        shard_get_answer_decode((struct shard_get *)rq, in);
        break;
    case MESSAGE_SHARD_QUERY:
        shard_query_answer_decode((struct shard_query *)rq, in);
        break;
    case MESSAGE_SHARD_FETCH:
        shard_fetch_answer_decode((struct shard_fetch *)rq, in);
        break;
    case MESSAGE_SHARD_ACT:
        shard_act_answer_decode((struct shard_act *)rq, in);
        break;
    case MESSAGE_SHARD_EXPLAIN:
        shard_explain_answer_decode((struct shard_explain *)rq, in);
        break;
    default:
        shard_free_answer_decode((struct shard_free *)rq, in);
        break;
    }
    in->bad |= bytes_left(in) != 0;
}

static void decode_request(uint16_t kind, struct incoming *c, struct bytes_in *in)
{
    switch (kind) {
    case MESSAGE_SHARD_WRITE:
        shard_write_decode(&c->write, in);
        break;
    case MESSAGE_SHARD_GET:
        shard_get_decode(&c->get, in);
        break;
    case MESSAGE_SHARD_QUERY:
        shard_query_decode(&c->query, in);
        break;
    case MESSAGE_SHARD_FETCH:
        shard_fetch_decode(&c->fetch, in);
        break;
    case MESSAGE_SHARD_ACT:
        shard_act_decode(&c->act, in);
        break;
    case MESSAGE_SHARD_EXPLAIN:
        shard_explain_decode(&c->explain, in);
        break;
    default:
        shard_free_decode(&c->free, in);
        break;
    }
    in->bad |= bytes_left(in) != 0;
}

static void encode_answer(const struct incoming *c, struct buf *b)
{
    switch (c->call->kind) {
    case MESSAGE_SHARD_WRITE:
        shard_write_answer_encode(&c->write, b);
        break;
    case MESSAGE_SHARD_GET:
        shard_get_answer_encode(&c->get, b);
        break;
    case MESSAGE_SHARD_QUERY:
        shard_query_answer_encode(&c->query, b);
        break;
    case MESSAGE_SHARD_FETCH:
        shard_fetch_answer_encode(&c->fetch, b);
        break;
    case MESSAGE_SHARD_ACT:
        shard_act_answer_encode(&c->act, b);
        break;
    case MESSAGE_SHARD_EXPLAIN:
        shard_explain_answer_encode(&c->explain, b);
        break;
    default:
        shard_free_answer_encode(&c->free, b);
        break;
    }
}

/* ---- calls to other nodes ------------------------------------------------------------------------------ */

static void unlink_out(struct remote_shards *r, struct outgoing *c)
{
    pthread_mutex_lock(&r->lock);
    *c->at = c->next;
    if (c->next != NULL) {
        c->next->at = c->at;
    }
    r->n_out--;
    pthread_mutex_unlock(&r->lock);
}

static void answered(struct transport_rq *t)
{
    struct outgoing *c = (struct outgoing *)t;
    struct shard_rq *rq = c->rq;
    unlink_out(c->owner, c);
    if (c->lost && t->error.n > 0) {
        err_set(&rq->error, ERR_NODE_DISCONNECTED, "[%.*s] disconnected", STR_ARG(c->to.address));
    } else if (t->error.n > 0) {
        rq->error = t->error;
    } else {
        struct str bytes = arena_str(&rq->arena, t->answer);
        struct bytes_in in = bytes_in(bytes);
        in.bad |= bytes.p == NULL;
        if (!in.bad) {
            decode_answer(t->kind, rq, &in);
        }
        if (in.bad) {
            err_set(&rq->error, ERR_CORRUPT, "an answer of [%.*s] cannot be read", STR_ARG(c->to.address));
        }
    }
    buf_fini(&t->answer_memory);
    shard_rq_answer(rq);
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

static void send(struct remote_shards *r, const struct transport_peer *to, uint16_t kind,
                 const struct executor *on, int64_t timeout_ms, struct shard_rq *rq)
{
    shard_rq_take(rq);
    struct outgoing *c = ARENA_NEW(&rq->arena, struct outgoing);
    if (c == NULL) {
        err_no_memory(&rq->error);
        shard_rq_answer(rq);
        return;
    }
    *c = (struct outgoing){
        .t = {.cls = TRANSPORT_DATA, .kind = kind, .timeout_ms = timeout_ms, .on = on, .done = answered},
        .owner = r,
        .rq = rq,
        .to = {arena_str(&rq->arena, to->address), arena_str(&rq->arena, to->ephemeral_id)}};
    pthread_mutex_lock(&r->lock);
    c->id = ++r->next_id;
    pthread_mutex_unlock(&r->lock);
    err_clear(&c->t.error);
    buf_init(&c->t.payload, NULL, TRANSPORT_DATA_BYTES_MAX);
    put_varint(&c->t.payload, c->id);
    put_parent(&c->t.payload, rq);
    encode_request(kind, rq, &c->t.payload);
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

void remote_write(struct remote_shards *r, const struct transport_peer *to, struct shard_write *rq)
{
    send(r, to, MESSAGE_SHARD_WRITE, r->o.writes, MAX_OF(rq->timeout_ms, (int64_t)1000), &rq->rq);
}

void remote_get(struct remote_shards *r, const struct transport_peer *to, struct shard_get *rq)
{
    send(r, to, MESSAGE_SHARD_GET, r->o.writes, GET_MS, &rq->rq);
}

void remote_query(struct remote_shards *r, const struct transport_peer *to, struct shard_query *rq)
{
    send(r, to, MESSAGE_SHARD_QUERY, r->o.reads, SEARCH_MS, &rq->rq);
}

void remote_fetch(struct remote_shards *r, const struct transport_peer *to, struct shard_fetch *rq)
{
    send(r, to, MESSAGE_SHARD_FETCH, r->o.reads, SEARCH_MS, &rq->rq);
}

void remote_act(struct remote_shards *r, const struct transport_peer *to, struct shard_act *rq)
{
    send(r, to, MESSAGE_SHARD_ACT, r->o.writes, SEARCH_MS, &rq->rq);
}

void remote_explain(struct remote_shards *r, const struct transport_peer *to, struct shard_explain *rq)
{
    send(r, to, MESSAGE_SHARD_EXPLAIN, r->o.reads, GET_MS, &rq->rq);
}

void remote_free_contexts(struct remote_shards *r, const struct transport_peer *to, struct shard_free *rq)
{
    send(r, to, MESSAGE_FREE_CONTEXTS, r->o.reads, GET_MS, &rq->rq);
}

/* ---- second thoughts ----------------------------------------------------------------------------------- */

static void cancel_told(struct transport_rq *t)
{
    buf_fini(&t->answer_memory);
    free(t);
}

static void send_cancel(struct remote_shards *r, const struct outgoing *c)
{
    struct transport_rq *x = calloc(1, sizeof(*x));
    if (x == NULL) {
        return; /* it is only slower */
    }
    *x = (struct transport_rq){.cls = TRANSPORT_DATA,
                               .kind = MESSAGE_CANCEL_QUERY,
                               .timeout_ms = GET_MS,
                               .on = r->o.writes,
                               .done = cancel_told};
    err_clear(&x->error);
    buf_init(&x->payload, NULL, KIB);
    put_varint(&x->payload, c->id);
    r->o.transport->send(r->o.transport->self, &c->to, x);
}

size_t remote_shards_look(struct remote_shards *r, bool (*gone)(void *self, struct str ephemeral_id),
                          void *self)
{
    pthread_mutex_lock(&r->lock); /* what is in the list has not ended: its maker is still there */
    size_t n = r->n_out;
    for (struct outgoing *c = r->out; c != NULL; c = c->next) {
        if (!c->cancel_sent && shard_rq_cancelled(c->rq)) {
            c->cancel_sent = true;
            send_cancel(r, c);
        }
        if (!c->lost && gone(self, c->to.ephemeral_id)) {
            c->lost = true;
            r->o.transport->cancel(r->o.transport->self, &c->t);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return n;
}

/* ---- calls of other nodes ------------------------------------------------------------------------------ */

static void served(struct shard_rq *rq)
{
    struct incoming *c = (struct incoming *)rq;
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
    encode_answer(c, &b);
    if (b.failed) {
        struct errmsg em;
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

static void serve_free(struct remote_shards *r, struct shard_free *rq)
{
    rq->freed = rq->all_scrolls ? r->o.local->free_all_contexts(r->o.local->self) : 0;
    for (uint32_t i = 0; i < rq->n; i++) {
        rq->freed += r->o.local->free_context(r->o.local->self, rq->contexts[i]);
    }
    served(&rq->rq);
}

static void serve_call(struct remote_shards *r, struct incoming *c)
{
    const struct shard_api *api = r->o.local;
    uint16_t kind = c->call->kind;
    if (kind == MESSAGE_SHARD_QUERY || kind == MESSAGE_SHARD_FETCH) {
        keep_call(r, c);
    }
    if (r->begin != NULL && c->rq.parent != 0) {
        r->begin(r->listener, kind, &c->rq);
    }
    switch (kind) {
    case MESSAGE_SHARD_WRITE:
        api->write(api->self, &c->write);
        break;
    case MESSAGE_SHARD_GET:
        api->get(api->self, &c->get);
        break;
    case MESSAGE_SHARD_QUERY:
        api->query(api->self, &c->query);
        break;
    case MESSAGE_SHARD_FETCH:
        api->fetch(api->self, &c->fetch);
        break;
    case MESSAGE_SHARD_ACT:
        api->act(api->self, &c->act);
        break;
    case MESSAGE_SHARD_EXPLAIN:
        api->explain(api->self, &c->explain);
        break;
    default:
        serve_free(r, &c->free);
        break;
    }
}

/* NULL: *em says why not. */
static struct incoming *admit(struct remote_shards *r, struct errmsg *em)
{
    struct incoming *c = calloc(1, sizeof(*c));
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
    struct errmsg em;
    struct incoming *c = admit(r, &em);
    if (c == NULL) {
        r->o.transport->refuse(r->o.transport->self, call, &em);
        return;
    }
    struct bytes_in in = bytes_in(call->payload);
    shard_rq_init(&c->rq, served, NULL);
    if (call->kind
        == MESSAGE_SHARD_ACT) { /* statistics, or what makes room: who may ask was seen to where it was asked */
        shard_rq_exempt(&c->rq);
    }
    c->owner = r;
    c->call = call;
    c->id = get_varint(&in);
    get_parent(&in, &c->rq);
    decode_request(call->kind, c, &in);
    if (in.bad) {
        err_set(&c->rq.error, ERR_CORRUPT, "a request to a shard cannot be read");
        served(&c->rq);
    } else {
        serve_call(r, c);
    }
}

static void cancel_query(void *self, struct transport_call *call)
{
    struct remote_shards *r = self;
    struct bytes_in in = bytes_in(call->payload);
    struct buf none;
    uint64_t id = get_varint(&in);
    pthread_mutex_lock(&r->lock);
    for (struct incoming *c = r->in; c != NULL; c = c->next) {
        c->cancelled |= c->id == id && str_eq(c->call->from, call->from);
    }
    pthread_mutex_unlock(&r->lock);
    buf_init(&none, NULL, 0);
    r->o.transport->reply(r->o.transport->self, call, &none);
}

enum err remote_shards_new(struct remote_shards **out, const struct remote_shards_opts *opts,
                           struct errmsg *em)
{
    static const struct {
        uint16_t kind;
        bool write;
    } kinds[] = {{MESSAGE_SHARD_WRITE, true},   {MESSAGE_SHARD_GET, true}, {MESSAGE_SHARD_QUERY, false},
                 {MESSAGE_SHARD_FETCH, false},  {MESSAGE_SHARD_ACT, true}, {MESSAGE_SHARD_EXPLAIN, false},
                 {MESSAGE_FREE_CONTEXTS, false}};
    struct remote_shards *r = calloc(1, sizeof(*r));
    *out = r;
    if (r == NULL) {
        return err_no_memory(em);
    }
    r->o = *opts;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->idle, NULL);
    const struct transport *t = opts->transport;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        t->serve(t->self, kinds[i].kind, kinds[i].write ? opts->writes : opts->reads, serve, r);
    }
    /* Not where searches run: those to be cancelled may be what fills it. */
    t->serve(t->self, MESSAGE_CANCEL_QUERY, opts->writes, cancel_query, r);
    return ERR_OK;
}

void remote_shards_listen(struct remote_shards *r,
                          void (*begin)(void *self, uint16_t kind, struct shard_rq *rq), void *self)
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
