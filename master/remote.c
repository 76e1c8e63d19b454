/* What other nodes ask of the master: their requests and words on shards become tasks of its queue. */
#include "master/cluster_int.h"

#include "common/base/bytes.h"
#include "master/meta_bytes.h"

#include <stdlib.h>

struct remote {
    struct cluster *c;
    struct transport_call *call;
    struct meta_request rq;
    bool has_rq;
};

static void remote_end(struct remote *r, struct buf *answer, const struct errmsg *error)
{
    const struct transport *tr = r->c->o.transport;
    if (error != NULL) {
        tr->refuse(tr->self, r->call, error);
    } else {
        tr->reply(tr->self, r->call, answer);
    }
    if (r->has_rq) {
        meta_request_fini(&r->rq);
    }
    cluster_left(r->c);
    free(r);
}

static void remote_done(struct task *t, uint64_t version)
{
    struct remote *r = t->user;
    struct errmsg em = t->error;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    task_free(t);
    if (em.n > 0 && (!r->has_rq || next_master_may(err_code(&em)))) {
        remote_end(r, NULL, &em);
        return;
    }
    if (r->has_rq) {
        r->rq.error = em;
        meta_answer_encode(&r->rq, version, &b);
    } else {
        put_varint(&b, version);
    }
    remote_end(r, &b, NULL);
}

static void unused_done(struct meta_request *rq)
{
    (void)rq; /* the task's done() answers */
}

static enum err remote_task(struct remote *r, struct task **out, struct errmsg *em)
{
    struct bytes_in in = bytes_in(r->call->payload);
    bool meta = r->call->kind == MESSAGE_META;
    struct task *t = task_new(meta ? TASK_META : TASK_SHARD);
    *out = t;
    if (t == NULL) {
        return err_no_memory(em);
    }
    if (meta) {
        meta_request_init(&r->rq, META_CREATE_INDEX, unused_done, NULL);
        r->has_rq = true;
        t->rq = &r->rq;
        return meta_request_decode(&r->rq, r->call->payload, em);
    }
    uint8_t kind = get_u8(&in);
    struct shard_event e = {.kind = (enum shard_event_kind)kind, .index_uuid = get_str(&in)};
    e.shard = (uint32_t)get_varint(&in);
    e.allocation_id = get_str(&in);
    e.primary_term = get_varint(&in);
    e.why = get_str(&in);
    if (in.bad || kind > SHARD_EVENT_STALE) {
        return err_set(em, ERR_CORRUPT, "a word on a shard cannot be read");
    }
    return shard_event_keep(&t->event, &e, &t->arena) ? ERR_OK : err_no_memory(em);
}

static void receive(void *arg, struct transport_call *call)
{
    struct cluster *c = arg;
    const struct transport *tr = c->o.transport;
    struct errmsg em;
    struct task *t = NULL;
    struct remote *r = c->mode == QUORUM_LEADER && !c->stopping ? calloc(1, sizeof(*r)) : NULL;
    if (r == NULL) {
        err_set(&em, ERR_NOT_MASTER, "this node is not the master");
        tr->refuse(tr->self, call, &em);
        return;
    }
    r->c = c;
    r->call = call;
    cluster_under_way(c);
    if (remote_task(r, &t, &em) != ERR_OK) {
        if (t != NULL) {
            task_free(t);
        }
        remote_end(r, NULL, &em);
        return;
    }
    t->done = remote_done;
    t->user = r;
    batch_add(c, t);
}

void cluster_serve(struct cluster *c)
{
    static const enum message_kind kinds[] = {MESSAGE_META, MESSAGE_SHARD_STARTED, MESSAGE_SHARD_FAILED,
                                              MESSAGE_MARK_STALE};
    const struct transport *tr = c->o.transport;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        tr->serve(tr->self, (uint16_t)kinds[i], c->o.loop, receive, c);
    }
}
