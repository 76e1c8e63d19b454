#include "proto/remote.h"

#include <stdlib.h>

/* ---- calls --------------------------------------------------------------------------------------------- */

static void read_answer(struct remote_call *c)
{
    const struct codec *codec = c->message->answer;
    if (c->answer == NULL) {
        c->answer = arena_alloc(&c->arena, codec->size);
    }
    if (c->answer == NULL) {
        err_no_memory(&c->error);
    } else if (!codec_read(codec, c->answer, c->t.answer, &c->arena)) {
        c->unreadable = true;
        err_set(&c->error, ERR_CORRUPT, "the answer to a message [%s] cannot be read", c->message->action);
    }
}

static void answered(struct transport_rq *t)
{
    struct remote_call *c = CONTAINER_OF(t, struct remote_call, t);
    err_copy(&c->error, &t->error);
    if (!err_is(&c->error)) {
        read_answer(c);
    }
    c->done(c);
}

/* What is too large for the lane of heartbeats does not hold them up. */
static enum transport_class lane_of(const struct message *m, size_t bytes)
{
    return m->lane == TRANSPORT_CONTROL && bytes > TRANSPORT_CONTROL_BYTES_MAX / 2 ? TRANSPORT_DATA : m->lane;
}

void remote_ask(const struct transport *tr, const struct transport_peer *to, const struct message *m,
                const void *rq, struct remote_call *c)
{
    struct buf b;
    buf_init(&b, NULL, TRANSPORT_DATA_BYTES_MAX);
    m->request->encode(rq, &b);
    arena_init(&c->arena, NULL, ARENA_UNLIMITED);
    c->error = err_in(&c->arena);
    c->unreadable = false;
    c->message = m;
    c->t = (struct transport_rq){.cls = lane_of(m, b.n),
                                 .kind = m->kind,
                                 .payload = b,
                                 .timeout_ms =
                                     c->timeout_ms != 0 ? MAX_OF(c->timeout_ms, (int64_t)0) : m->timeout_ms,
                                 .on = c->on,
                                 .done = answered};
    tr->send(tr->self, to, &c->t);
}

void remote_call_fini(struct remote_call *c)
{
    transport_rq_fini(&c->t);
    arena_fini(&c->arena);
}

static void tell_done(struct remote_call *c)
{
    remote_call_fini(c);
    free(c);
}

void remote_tell(const struct transport *tr, const struct transport_peer *to, const struct message *m,
                 const void *rq, const struct executor *on)
{
    struct remote_call *c = calloc(1, sizeof(*c));
    if (c != NULL) {
        c->on = on;
        c->done = tell_done;
        remote_ask(tr, to, m, rq, c);
    }
}

/* ---- service ------------------------------------------------------------------------------------------- */

static void remote_end(struct remote_rq *rq)
{
    arena_fini(&rq->arena);
    free(rq);
}

void remote_reply_bytes(struct remote_rq *rq, struct buf *answer)
{
    if (answer->failed) {
        ERR_LOCAL(em);
        buf_fini(answer);
        err_no_memory(&em);
        remote_refuse(rq, &em);
        return;
    }
    rq->transport->reply(rq->transport->self, rq->call, answer);
    remote_end(rq);
}

void remote_reply(struct remote_rq *rq, const void *answer)
{
    struct buf b;
    buf_init(&b, NULL, TRANSPORT_DATA_BYTES_MAX);
    rq->message->answer->encode(answer, &b);
    remote_reply_bytes(rq, &b);
}

void remote_refuse(struct remote_rq *rq, const struct errmsg *error)
{
    rq->transport->refuse(rq->transport->self, rq->call, error);
    remote_end(rq);
}

static const struct remote_row *row_of(const struct remote_service *s, uint16_t kind)
{
    const struct remote_row *r = s->rows;
    while (r->message->kind != kind) { /* one of them: others are not sent here */
        r++;
    }
    return r;
}

static void receive(void *arg, struct transport_call *call)
{
    struct remote_service *s = arg;
    const struct remote_row *row = row_of(s, call->kind);
    const struct codec *codec = row->message->request;
    struct remote_rq *rq = calloc(1, sizeof(*rq) + codec->size);
    ERR_LOCAL(em);
    if (rq == NULL) {
        err_no_memory(&em);
        s->transport->refuse(s->transport->self, call, &em);
        return;
    }
    rq->message = row->message;
    rq->call = call;
    rq->transport = s->transport;
    arena_init(&rq->arena, NULL, ARENA_UNLIMITED);
    if (!codec_read(codec, rq->body, call->payload, &rq->arena)) {
        err_set(&em, ERR_CORRUPT, "a message [%s] cannot be read", row->message->action);
        remote_refuse(rq, &em);
        return;
    }
    row->serve(s->self, rq);
}

void remote_serve(struct remote_service *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct message *m = s->rows[i].message;
        s->transport->serve(s->transport->self, m->kind, s->pools[m->pool], receive, s);
    }
}
