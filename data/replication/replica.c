/* The replica's side of replication: what its primary sends is parsed on the pool, and given to the core (follower.h) on the strand;
 * what the core wants done is done here. */
#include "data/replication/replication_int.h"
#include "engine/query/held_query.h"

#include <stdlib.h>

#define MAPPING_WAIT_MS 30000 /* the state with a mapping that a document needs */

struct replica_run {            /* in its call's arena */
    struct shard_waiter waiter; /* first */
    struct follower_message m;
    struct data_service *s;
    struct remote_rq *call;
    struct shard *sh;                  /* a reference */
    const struct replication_msg *msg; /* the call's */
    struct parsed_doc *docs;           /* of each operation; NULL: not parsed yet */
    struct mapping *mapping;           /* that parsed them */
    const struct errmsg *error;        /* what has failed here; in the arena */
};

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* error NULL: it is done. */
static void end(struct replica_run *r, const struct errmsg *error)
{
    struct shard *sh = r->sh;
    struct mapping *mapping = r->mapping;
    if (error != NULL) {
        remote_refuse(r->call, error);
    } else {
        const struct engine *en = sh->engine;
        struct replication_answer a = {engine_persisted_checkpoint(en), engine_max_seq_no(en),
                                       engine_persisted_global_checkpoint(en)};
        remote_reply(r->call, &a);
    }
    mapping_unref(mapping);
    shard_unref(sh);
}

static void explain(const struct replica_run *r, struct errmsg *em)
{
    const struct shard *sh = r->sh;
    const struct follower_message *m = &r->m;
    long long seq_no = m->seq_no, mine = m->here, theirs = m->there;
    unsigned long long term = r->msg->term;
    switch (m->why) {
    case FOLLOWER_FAILED:
        err_copy(em, r->error);
        break;
    case FOLLOWER_NOT_HERE:
        err_set(em, ERR_NO_SHARD, "copy [%.*s] of shard [%.*s][%u] is not here",
                STR_ARG(r->msg->allocation_id), STR_ARG(sh->index->name), sh->number);
        break;
    case FOLLOWER_CLOSING:
        err_set(em, ERR_NO_SHARD, "the shard is closing");
        break;
    case FOLLOWER_STOPPED:
        err_set(em, ERR_NO_SHARD, "shard [%.*s][%u] is not here any more", STR_ARG(sh->index->name),
                sh->number);
        break;
    case FOLLOWER_NO_MAPPING:
        err_set(em, ERR_TIMEOUT, "the mapping of an operation has not come in time");
        break;
    case FOLLOWER_STALE_TERM:
        err_set(em, ERR_STALE_TERM, "operation primary term [%llu] is too old (current [%lld])", term,
                theirs);
        break;
    case FOLLOWER_NO_HISTORY:
        err_set(em, ERR_ILLEGAL_STATE, "the history of term [%llu] is not here yet", term);
        break;
    case FOLLOWER_DIVERGED:
        err_set(em, ERR_ILLEGAL_STATE, "the copy has diverged");
        break;
    case FOLLOWER_OTHER_TERM:
        err_set(em, ERR_ILLEGAL_STATE, "operation [%lld] is of term [%lld] here, of term [%lld] there",
                seq_no, mine, theirs);
        break;
    case FOLLOWER_HAS_MORE:
        err_set(em, ERR_ILLEGAL_STATE, "operations up to [%lld] here, up to [%lld] there", mine, theirs);
        break;
    case FOLLOWER_HAS_TOO_MANY:
        err_set(em, ERR_ILLEGAL_STATE, "[%lld] operations above the global checkpoint", mine);
        break;
    }
}

static void refuse_with_reason(struct replica_run *r)
{
    struct shard *sh = r->sh;
    ERR_LOCAL(em);
    explain(r, &em);
    if (r->m.diverges) {
        log_info(sh->service->o.log, "data",
                 "shard [%.*s][%u] has diverged from its primary of term %llu: %s", STR_ARG(sh->index->name),
                 sh->number, (unsigned long long)r->msg->term, err_reason(&em));
    }
    end(r, &em);
}

/* ---- what the core wants ------------------------------------------------------------------------------------------- */

/* What was done with a message has come to that. */
static void came(struct replica_run *r, enum follower_event_kind what, const struct errmsg *error)
{
    r->error = error != NULL ? err_keep(&r->call->arena, error) : NULL;
    replica_step(r->sh, &(struct follower_event){.kind = what,
                                                 .message = &r->m,
                                                 .error = error != NULL ? err_code(error) : ERR_OK});
}

/* Of which terms the operations here are; 0: there is none of that number. */
static enum err read_terms(struct shard *sh, int64_t from, int64_t to, int64_t *terms, struct errmsg *em)
{
    struct engine_history *h = NULL;
    enum err e = terms != NULL ? engine_history_open(&h, sh->engine, from, to, em) : err_no_memory(em);
    bool more = e == ERR_OK;
    while (e == ERR_OK && more) {
        struct engine_op op;
        e = engine_history_next(h, &op, &more, em);
        if (e == ERR_OK && more) {
            terms[op.seq_no - from] = op.primary_term;
        }
    }
    engine_history_close(h);
    for (int64_t at = from; e == ERR_OK && at <= to; at++) {
        if (terms[at - from] == 0 && engine_has_processed(sh->engine, at)) {
            e = err_set(em, ERR_ILLEGAL_STATE, "operation [%lld] is not in the history any more",
                        (long long)at);
        }
    }
    return e;
}

static void read_own(struct replica_run *r, int64_t from, int64_t to)
{
    struct replication *p = r->sh->replication;
    size_t n = (size_t)(to - from) + 1;
    ERR_LOCAL(em);
    free(p->own_terms);
    p->own_terms = calloc(n, sizeof(*p->own_terms));
    if (read_terms(r->sh, from, to, p->own_terms, &em) != ERR_OK) {
        came(r, FOLLOWER_OWN, &em);
    } else {
        replica_step(r->sh, &(struct follower_event){
                                .kind = FOLLOWER_OWN, .message = &r->m, .own = p->own_terms, .n = n});
    }
}

static enum err apply_one(struct replica_run *r, size_t at, struct errmsg *em)
{
    struct engine_op *op = &r->msg->ops[at];
    struct engine_result res;
    op->origin = r->m.resync ? ORIGIN_RECOVERY : ORIGIN_REPLICA;
    op->doc = op->kind == OP_INDEX ? &r->docs[at] : NULL;
    struct engine *en = r->sh->engine;
    enum err e = engine_apply(en, op, &res, em);
    if (e == ERR_REJECTED && engine_spill(en, em) == ERR_OK) {
        e = engine_apply(en, op, &res, em);
    }
    return e;
}

static void apply(struct replica_run *r)
{
    ERR_LOCAL(em);
    enum err e = ERR_OK;
    size_t n = 0;
    while (e == ERR_OK && r->m.at + n < r->msg->n) {
        e = apply_one(r, r->m.at + n, &em);
        n += e == ERR_OK;
    }
    r->error = e != ERR_OK && e != ERR_REJECTED ? err_keep(&r->call->arena, &em) : NULL;
    replica_step(r->sh,
                 &(struct follower_event){.kind = FOLLOWER_APPLIED, .message = &r->m, .n = n, .error = e});
}

static void kept(struct shard_waiter *w, const struct errmsg *error)
{
    came((struct replica_run *)w, FOLLOWER_KEPT, error);
}

static void keep(struct replica_run *r)
{
    struct shard *sh = r->sh;
    engine_set_global_checkpoint(sh->engine, r->msg->global_checkpoint);
    sh->replication->retain_from = r->msg->retain_from;
    r->waiter.location = engine_location(sh->engine);
    shard_buffer_changed(sh);
    if (sh->index->async || engine_durable(sh->engine) >= r->waiter.location) {
        if (r->msg->n == 0) {
            shard_start_sync(sh); /* the global checkpoint, some time */
        }
        kept(&r->waiter, NULL);
        return;
    }
    r->waiter.wake = kept;
    shard_wait_durable(sh, &r->waiter);
}

static void shown(struct shard_waiter *w, const struct errmsg *error)
{
    came((struct replica_run *)w, FOLLOWER_SHOWN, error);
}

static void show(struct replica_run *r)
{
    struct shard *sh = r->sh;
    ERR_LOCAL(em);
    shard_wrote(sh);
    if (r->msg->refresh == REFRESH_WAIT && engine_refreshed(sh->engine) < r->waiter.location
        && !sh->life.leaving) {
        r->waiter.wake = shown;
        shard_wait_refreshed(sh, &r->waiter);
        return;
    }
    bool failed = r->msg->refresh == REFRESH_NOW && shard_refresh(sh, NULL, &em) != ERR_OK;
    sh->replication->maintains |= r->msg->refresh == REFRESH_NOW && !failed;
    shown(&r->waiter, failed ? &em : NULL);
}

static void parse_task(void *arg);
static void parsed_task(void *arg);

static void perform(struct shard *sh, const struct follower_effect *e)
{
    struct replica_run *r = e->message != NULL ? CONTAINER_OF(e->message, struct replica_run, m) : NULL;
    bool of_engine = e->kind >= FOLLOWER_READ && e->kind <= FOLLOWER_REPLY;
    if (of_engine && sh->engine == NULL) {
        came(r, FOLLOWER_LOST, NULL);
        return;
    }
    switch (e->kind) {
    case FOLLOWER_NOTHING:
        break;
    case FOLLOWER_PARSE:
        executor_submit_force(r->s->o.write_pool, parse_task, r);
        break;
    case FOLLOWER_RETURN:
        shard_post_back(sh, parsed_task, r);
        break;
    case FOLLOWER_READ:
        read_own(r, e->from, e->to);
        break;
    case FOLLOWER_APPLY:
        apply(r);
        break;
    case FOLLOWER_KEEP:
        keep(r);
        break;
    case FOLLOWER_SHOW:
        show(r);
        break;
    case FOLLOWER_REPLY:
        end(r, NULL);
        break;
    case FOLLOWER_REFUSE:
        refuse_with_reason(r);
        break;
    case FOLLOWER_SYNC:
        if (sh->engine != NULL) {
            shard_start_sync(sh);
        }
        break;
    }
}

static struct follower_view view_of(const struct shard *sh)
{
    bool open = shard_is_open(sh);
    return (struct follower_view){.copy = open && sh->life.of_role ? sh->role.allocation_id : STR_NULL,
                                  .term = (uint64_t)sh->role.term,
                                  .primary = sh->role.primary,
                                  .initializing = sh->role.initializing,
                                  .leads = sh->replication->group.leads,
                                  .leaving = sh->life.leaving,
                                  .mapping_version = sh->index->mapping_version,
                                  .max_seq_no = open ? engine_max_seq_no(sh->engine) : SEQ_NONE,
                                  .global_checkpoint =
                                      open ? engine_global_checkpoint(sh->engine) : SEQ_NONE};
}

void replica_step(struct shard *sh, const struct follower_event *e)
{
    struct replication *p = sh->replication;
    struct follower_view v = view_of(sh);
    struct follower_effect effect;
    follower_step(&p->follower, e, &v);
    if (p->follows) {
        return; /* who is at it goes on */
    }
    shard_ref(sh);
    p->follows = true;
    while (follower_effect(&p->follower, &effect)) {
        perform(sh, &effect);
    }
    p->follows = false;
    if (!follower_has_own(&p->follower)) {
        free(p->own_terms);
        p->own_terms = NULL;
    }
    if (p->maintains) {
        p->maintains = false;
        shard_maintain(sh);
    }
    shard_unref(sh);
}

void replication_mapping_changed(struct shard *sh)
{
    replica_step(sh, &(struct follower_event){.kind = FOLLOWER_MAPPING});
}

void replication_room(struct shard *sh)
{
    replica_step(sh, &(struct follower_event){.kind = FOLLOWER_ROOM});
}

void replication_took_history(struct shard *sh, uint64_t term)
{
    replica_step(sh, &(struct follower_event){.kind = FOLLOWER_HISTORY, .term = term});
}

/* ---- parsing --------------------------------------------------------------------------------------------------------- */

static void parsed_task(void *arg)
{
    struct replica_run *r = arg;
    struct shard *sh = shard_ref(r->sh);
    came(r, FOLLOWER_PARSED, NULL);
    shard_check(sh);
    shard_unref(sh);
}

static void unparsed_task(void *arg)
{
    came(arg, FOLLOWER_UNPARSED, NULL);
}

static enum err parse(struct replica_run *r, struct errmsg *em)
{
    enum err e = ERR_OK;
    r->docs = ARENA_ARRAY(&r->call->arena, struct parsed_doc, r->msg->n);
    r->mapping = index_mapping(r->sh->index, NULL);
    if (r->docs == NULL) {
        return err_no_memory(em);
    }
    struct stop st = {.asked = data_ends, .self = r->s};
    struct settings_part *settings = index_settings(r->sh->index);
    struct held_query_reader queries;
    shard_query_reader(&queries, r->sh, settings, true);
    stop_enter(&st);
    for (size_t i = 0; i < r->msg->n && e == ERR_OK; i++) {
        const struct engine_op *op = &r->msg->ops[i];
        struct source_to_parse in = {.index_name = r->sh->index->name,
                                     .id = op->id,
                                     .routing = op->routing,
                                     .source = op->source,
                                     .dynamic_allowed = true,
                                     .queries = &queries.base};
        e = op->kind == OP_INDEX ? document_parse(&r->docs[i], r->mapping, &in, &r->call->arena, em) : ERR_OK;
    }
    bool ends = stop_now();
    stop_leave(&st);
    state_part_unref(&settings->part);
    return ends ? err_set(em, ERR_NODE_CLOSED, "the node closes")
                : e; /* the primary does not know whether it is here */
}

static void parse_task(void *arg)
{
    struct replica_run *r = arg;
    ERR_LOCAL(em);
    if (r->sh->index->mapping_version < r->msg->mapping_version) {
        shard_post_back(r->sh, unparsed_task, r);
    } else if (parse(r, &em) != ERR_OK) {
        end(r, &em);
    } else {
        shard_post_back(r->sh, parsed_task, r);
    }
}

/* On the write pool. */
static void handle(void *self, struct remote_rq *call)
{
    struct data_service *s = self;
    const struct replication_msg *m = remote_body(call);
    struct replica_run *r = ARENA_NEW(&call->arena, struct replica_run);
    struct shard_ref which = {STR_NULL, m->uuid, m->shard};
    ERR_LOCAL(em);
    struct shard *sh = NULL;
    if (r == NULL) {
        err_no_memory(&em);
    } else {
        sh = shard_find(s, &which, &em);
    }
    if (sh == NULL) {
        remote_refuse(call, &em);
        return;
    }
    r->s = s;
    r->call = call;
    r->sh = sh;
    r->msg = r->m.msg = m;
    r->m.resync = call->message == &message_resync;
    r->m.deadline_ms = clock_mono_ms(s->o.clock) + MAPPING_WAIT_MS;
    parse_task(r);
}

void replication_serve(struct data_service *s)
{
    static const struct remote_row rows[] = {
        {&message_replicate, handle}, {&message_resync, handle}, {&message_global_checkpoint, handle}};
    _Static_assert(ARRAY_LEN(rows) == MESSAGE_COUNT(REPLICATION_MESSAGES), "a message that nobody serves");
    /* Its primary has admitted it: a queue that is full must not cost the copy its place. */
    s->admitted = *s->o.write_pool;
    if (s->o.write_pool->submit_force != NULL) {
        s->admitted.submit = s->o.write_pool->submit_force;
    }
    s->replicated = (struct remote_service){.transport = s->o.transport,
                                            .self = s,
                                            .rows = rows,
                                            .n = ARRAY_LEN(rows),
                                            .pools = {[MESSAGE_ON_WRITES] = &s->admitted}};
    if (s->o.transport != NULL) {
        remote_serve(&s->replicated);
    }
}
