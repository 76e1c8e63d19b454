/* Requests of other nodes to the master: they, and events of shards, become tasks of its queue. */
#include "master/cluster_int.h"

#include "master/master_messages.h"

/* A task for another node, in its request's arena. */
struct remote {
    struct cluster *c;
    struct remote_rq *call;
    struct meta_request *rq; /* the call's; NULL: an event */
};

static void release(void *rq)
{
    meta_request_fini(rq);
}

static void refuse(struct remote *r, const struct errmsg *error)
{
    struct cluster *c = r->c;
    remote_refuse(r->call, error);
    cluster_left(c);
}

static void task_done(struct task *t, uint64_t version)
{
    struct remote *r = t->user;
    struct cluster *c = r->c;
    ERR_LOCAL(em);
    err_copy(&em, &t->error);
    task_free(t);
    if (err_is(&em) && (r->rq == NULL || next_master_may(err_code(&em)))) {
        refuse(r, &em);
        return;
    }
    if (r->rq != NULL) {
        struct meta_answer answer = {.changed = r->rq->changed,
                                     .acknowledged = r->rq->acknowledged,
                                     .response = r->rq->response,
                                     .version = version,
                                     .error = em};
        remote_reply(r->call, &answer);
    } else {
        remote_reply(r->call, &version);
    }
    cluster_left(c);
}

static void unused_done(struct meta_request *rq)
{
    (void)rq; /* the task's done() answers */
}

static void receive(void *self, struct remote_rq *rq)
{
    struct cluster *c = self;
    ERR_LOCAL(em);
    if (c->mode != QUORUM_LEADER || c->stopping) {
        err_set(&em, ERR_NOT_MASTER, "this node is not the master");
        remote_refuse(rq, &em);
        return;
    }
    bool meta = rq->message == &message_meta;
    struct remote *r = ARENA_NEW(&rq->arena, struct remote);
    struct task *t = r != NULL ? task_new(meta ? TASK_META : TASK_SHARD) : NULL;
    if (t == NULL) {
        err_no_memory(&em);
        remote_refuse(rq, &em);
        return;
    }
    *r = (struct remote){.c = c, .call = rq};
    cluster_under_way(c);
    t->done = task_done;
    t->user = r;
    if (meta) {
        r->rq = t->rq = remote_body(rq);
        r->rq->done = unused_done;
        arena_init(&r->rq->arena, NULL, ARENA_UNLIMITED);
        r->rq->error = err_in(&r->rq->arena);
        if (!arena_defer(&rq->arena, release, r->rq)) {
            task_free(t);
            err_no_memory(&em);
            refuse(r, &em);
            return;
        }
    } else {
        t->event = *(const struct shard_event *)remote_body(rq);
    }
    batch_add(c, t);
}

void cluster_serve(struct cluster *c)
{
    static const struct remote_row rows[] = {{&message_meta, receive},
                                             {&message_shard_started, receive},
                                             {&message_shard_failed, receive},
                                             {&message_mark_stale, receive},
                                             {&message_list_copies, lookup_receive},
                                             {&message_disk_usage, disk_watch_receive},
                                             {&message_pending_tasks, pending_receive}};
    _Static_assert(ARRAY_LEN(rows) == MESSAGE_COUNT(MASTER_MESSAGES), "a message that nobody serves");
    c->served =
        (struct remote_service){.transport = c->o.transport,
                                .self = c,
                                .rows = rows,
                                .n = ARRAY_LEN(rows),
                                .pools = {[MESSAGE_ON_LOOP] = c->o.loop, [MESSAGE_ON_READS] = c->o.compute}};
    remote_serve(&c->served);
}
