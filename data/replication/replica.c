/* The replica's side of replication: what its primary sends is parsed on the pool, applied on the strand, answered when it
 * is on disk; and what a new primary re-sends. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define MAPPING_WAIT_MS 30000         /* the state with a mapping that a document needs */
#define HISTORY_OPS_MAX (1024 * 1024) /* above the global checkpoint: a copy with more recovers */

struct replica_run {
    struct shard_waiter waiter; /* first */
    struct data_service *s;
    struct transport_call *call;
    struct shard *sh; /* a reference; NULL: not found yet */
    struct arena arena;
    struct replication_msg msg;
    struct parsed_doc *docs; /* of each operation; NULL: not parsed yet */
    struct mapping *mapping; /* that parsed them */
    size_t at;
    bool resync;
    bool for_mapping; /* what it waits for */
    int64_t deadline_ms;
    struct replica_run *next;
};

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void end(struct replica_run *r)
{
    if (r->sh != NULL) {
        shard_unref(r->sh);
    }
    mapping_unref(r->mapping);
    arena_fini(&r->arena);
    free(r);
}

static void refuse(struct replica_run *r, const struct errmsg *em)
{
    const struct transport *tr = r->s->o.transport;
    tr->refuse(tr->self, r->call, em);
    end(r);
}

static void reply(struct replica_run *r)
{
    const struct transport *tr = r->s->o.transport;
    const struct engine *en = r->sh->engine;
    struct replication_answer a = {engine_persisted_checkpoint(en), engine_max_seq_no(en),
                                   engine_persisted_global_checkpoint(en)};
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    replication_answer_encode(&a, &b);
    if (b.failed) {
        struct errmsg em;
        buf_fini(&b);
        err_no_memory(&em);
        refuse(r, &em);
        return;
    }
    tr->reply(tr->self, r->call, &b);
    end(r);
}

static bool here(struct replica_run *r, struct errmsg *em)
{
    struct shard *sh = r->sh;
    if (shard_readable(sh, em) && sh->life.of_role && str_eq(sh->role.allocation_id, r->msg.allocation_id)) {
        return true;
    }
    err_set(em, ERR_NO_SHARD, "copy [%.*s] of shard [%.*s][%u] is not here", STR_ARG(r->msg.allocation_id),
            STR_ARG(sh->index->name), sh->number);
    return false;
}

/* ---- the end: on disk, in searches ---------------------------------------------------------------------------------- */

static void searchable(struct shard_waiter *w, const struct errmsg *error)
{
    struct replica_run *r = (struct replica_run *)w;
    struct errmsg em;
    if (error == NULL && here(r, &em)) {
        reply(r);
    } else {
        refuse(r, error != NULL ? error : &em);
    }
}

static void on_disk(struct shard_waiter *w, const struct errmsg *error)
{
    struct replica_run *r = (struct replica_run *)w;
    struct shard *sh = r->sh;
    struct errmsg em;
    if (error != NULL || !here(r, &em)) {
        refuse(r, error != NULL ? error : &em);
        return;
    }
    shard_wrote(sh);
    if (r->msg.refresh == REFRESH_NOW) {
        if (shard_refresh(sh, NULL, &em) != ERR_OK) {
            refuse(r, &em);
            return;
        }
        shard_ref(sh);
        reply(r);
        shard_maintain(sh);
        shard_unref(sh);
    } else if (r->msg.refresh == REFRESH_WAIT && engine_refreshed(sh->engine) < w->location
               && !sh->life.leaving) {
        w->wake = searchable;
        shard_wait_refreshed(sh, w);
    } else {
        reply(r);
    }
}

static void applied(struct replica_run *r)
{
    struct shard *sh = r->sh;
    r->waiter.location = engine_location(sh->engine);
    shard_buffer_changed(sh);
    if (sh->index->async || engine_durable(sh->engine) >= r->waiter.location) {
        if (r->msg.n == 0) {
            shard_start_sync(sh); /* the global checkpoint, some time */
        }
        on_disk(&r->waiter, NULL);
        return;
    }
    r->waiter.wake = on_disk;
    shard_wait_durable(sh, &r->waiter);
}

/* ---- waiting for a mapping, or for room -------------------------------------------------------------------------------- */

static void parse_task(void *arg);
static void apply_task(void *arg);

static void wait_for(struct replica_run *r, bool mapping)
{
    if (r->sh->life.leaving) {
        struct errmsg em;
        err_set(&em, ERR_NO_SHARD, "the shard is closing");
        refuse(r, &em);
        return;
    }
    r->for_mapping = mapping;
    r->next = r->sh->replication->replica.waiting;
    r->sh->replication->replica.waiting = r;
}

static void resume(struct shard *sh, bool mapping)
{
    for (struct replica_run **at = &sh->replication->replica.waiting; *at != NULL;) {
        struct replica_run *r = *at;
        if (r->for_mapping != mapping || (mapping && sh->index->mapping_version < r->msg.mapping_version)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (mapping) {
            executor_submit_force(r->s->o.write_pool, parse_task, r);
        } else {
            shard_post_back(sh, apply_task, r);
        }
    }
}

void replication_mapping_changed(struct shard *sh)
{
    resume(sh, true);
}

void replication_room(struct shard *sh)
{
    resume(sh, false);
}

void replica_give_up(struct shard *sh)
{
    struct replica_run *list = sh->replication->replica.waiting;
    sh->replication->replica.waiting = NULL;
    while (list != NULL) {
        struct replica_run *r = list;
        struct errmsg em;
        list = r->next;
        err_set(&em, ERR_NO_SHARD, "shard [%.*s][%u] is not here any more", STR_ARG(sh->index->name),
                sh->number);
        refuse(r, &em);
    }
}

void replica_tick(struct shard *sh, int64_t now_ms)
{
    resume(sh, true);
    resume(sh, false);
    for (struct replica_run **at = &sh->replication->replica.waiting; *at != NULL;) {
        struct replica_run *r = *at;
        if (r->deadline_ms > now_ms) {
            at = &r->next;
            continue;
        }
        struct errmsg em;
        err_set(&em, ERR_TIMEOUT, "%s has not come in time",
                r->for_mapping ? "the mapping of an operation" : "room for an operation");
        *at = r->next;
        refuse(r, &em);
    }
}

/* ---- a new primary's history --------------------------------------------------------------------------------------------- */

/* Which operations are here from that one on, and of which terms. */
static enum err read_own(struct shard *sh, int64_t from, struct errmsg *em)
{
    struct replica_side *rs = &sh->replication->replica;
    int64_t max = engine_max_seq_no(sh->engine);
    struct engine_history *h = NULL;
    free(rs->own_terms);
    rs->own_terms = NULL;
    rs->own_from = from;
    rs->n_own = 0;
    if (max < from) {
        return ERR_OK;
    }
    if (max - from >= HISTORY_OPS_MAX) {
        return err_set(em, ERR_ILLEGAL_STATE, "[%lld] operations above the global checkpoint",
                       (long long)(max - from + 1));
    }
    rs->n_own = (size_t)(max - from) + 1;
    rs->own_terms = calloc(rs->n_own, sizeof(*rs->own_terms));
    enum err e =
        rs->own_terms != NULL ? engine_history_open(&h, sh->engine, from, max, em) : err_no_memory(em);
    bool more = e == ERR_OK;
    while (e == ERR_OK && more) {
        struct engine_op op;
        e = engine_history_next(h, &op, &more, em);
        if (e == ERR_OK && more) {
            rs->own_terms[op.seq_no - from] = op.primary_term;
        }
    }
    engine_history_close(h);
    for (size_t i = 0; e == ERR_OK && i < rs->n_own; i++) {
        if (rs->own_terms[i] == 0 && engine_has_processed(sh->engine, from + (int64_t)i)) {
            e = err_set(em, ERR_ILLEGAL_STATE, "operation [%lld] is not in the history any more",
                        (long long)from + (int64_t)i);
        }
    }
    return e;
}

/* Does what is here go with what the new primary has? Nothing is forgotten here: a copy with other operations than its
 * primary has to leave the in-sync set first. */
static enum err compare(const struct shard *sh, const struct replication_msg *m, struct errmsg *em)
{
    const struct replica_side *rs = &sh->replication->replica;
    for (size_t i = 0; i < m->n; i++) {
        int64_t at = m->ops[i].seq_no - rs->own_from;
        if (at >= 0 && (uint64_t)at < rs->n_own && rs->own_terms[at] != 0
            && rs->own_terms[at] != m->ops[i].primary_term) {
            return err_set(
                em, ERR_ILLEGAL_STATE, "operation [%lld] is of term [%lld] here, of term [%lld] there",
                (long long)m->ops[i].seq_no, (long long)rs->own_terms[at], (long long)m->ops[i].primary_term);
        }
    }
    if (rs->own_from + (int64_t)rs->n_own - 1 > m->max_seq_no) {
        return err_set(em, ERR_ILLEGAL_STATE, "operations up to [%lld] here, up to [%lld] there",
                       (long long)(rs->own_from + (int64_t)rs->n_own - 1), (long long)m->max_seq_no);
    }
    return ERR_OK;
}

static enum err enter_resync(struct shard *sh, const struct replication_msg *m, struct errmsg *em)
{
    struct replica_side *rs = &sh->replication->replica;
    enum err e = ERR_OK;
    if (rs->resync_term != m->term) {
        /* What an earlier primary sent and this strand has not seen is refused from now on. */
        rs->resync_term = m->term;
        rs->diverged = false;
        /* What either knows to be everywhere is the same in both. */
        e = read_own(sh, MAX_OF(m->global_checkpoint, engine_global_checkpoint(sh->engine)) + 1, em);
    } else if (rs->diverged) {
        return err_set(em, ERR_ILLEGAL_STATE, "the copy has diverged");
    }
    e = e == ERR_OK ? compare(sh, m, em) : e;
    if (e != ERR_OK) {
        log_info(sh->service->o.log, "data",
                 "shard [%.*s][%u] has diverged from its primary of term %llu: %s", STR_ARG(sh->index->name),
                 sh->number, (unsigned long long)m->term, em->frame[0].reason);
        free(rs->own_terms);
        rs->own_terms = NULL;
        rs->n_own = 0;
        rs->diverged = true;
    }
    return e;
}

static void leave_resync(struct shard *sh, const struct replication_msg *m)
{
    struct replica_side *rs = &sh->replication->replica;
    if (m->last) {
        rs->term = m->term;
        free(rs->own_terms);
        rs->own_terms = NULL;
        rs->n_own = 0;
    }
}

/* ---- applying -------------------------------------------------------------------------------------------------------- */

/* Is the sender this copy's primary? */
static enum err check_sender(struct replica_run *r, struct errmsg *em)
{
    struct shard *sh = r->sh;
    struct replica_side *rs = &sh->replication->replica;
    const struct replication_msg *m = &r->msg;
    uint64_t newest = MAX_OF(MAX_OF(rs->term, rs->resync_term), (uint64_t)sh->role.term);
    if (!here(r, em)) {
        return err_code(em);
    }
    if (m->term < newest || (sh->role.primary && m->term == newest)) {
        return err_set(em, ERR_STALE_TERM, "operation primary term [%llu] is too old (current [%llu])",
                       (unsigned long long)m->term, (unsigned long long)newest);
    }
    if (r->resync) {
        return enter_resync(sh, m, em);
    }
    if (m->term > rs->term && sh->role.initializing) {
        rs->term = m->term; /* its recovery gives it that primary's history */
    }
    if (m->term > rs->term) {
        return err_set(em, ERR_ILLEGAL_STATE, "the history of term [%llu] is not here yet",
                       (unsigned long long)m->term);
    }
    return ERR_OK;
}

static enum err apply_one(struct replica_run *r, struct errmsg *em)
{
    struct engine_op *op = &r->msg.ops[r->at];
    struct engine_result res;
    op->origin = r->resync ? ORIGIN_RECOVERY : ORIGIN_REPLICA;
    op->doc = op->kind == OP_INDEX ? &r->docs[r->at] : NULL;
    struct engine *en = r->sh->engine;
    enum err e = engine_apply(en, op, &res, em);
    if (e == ERR_REJECTED && engine_spill(en, em) == ERR_OK) {
        e = engine_apply(en, op, &res, em);
    }
    return e;
}

static void apply_task(void *arg)
{
    struct replica_run *r = arg;
    struct shard *sh = r->sh;
    struct errmsg em;
    enum err e = check_sender(r, &em);
    for (; e == ERR_OK && r->at < r->msg.n; r->at += e == ERR_OK) {
        e = apply_one(r, &em);
    }
    if (e == ERR_REJECTED) { /* too much waits for the disk; the end of a sync looks again */
        wait_for(r, false);
        shard_start_sync(sh);
        return;
    }
    if (e != ERR_OK) {
        shard_ref(sh);
        refuse(r, &em);
        shard_check(sh);
        shard_unref(sh);
        return;
    }
    if (r->resync) {
        leave_resync(sh, &r->msg);
    }
    engine_set_global_checkpoint(sh->engine, r->msg.global_checkpoint);
    sh->replication->replica.retain_from = r->msg.retain_from;
    shard_ref(sh);
    applied(r);
    shard_check(sh);
    shard_unref(sh);
}

/* ---- parsing --------------------------------------------------------------------------------------------------------- */

static void mapping_missing(void *arg)
{
    struct replica_run *r = arg;
    if (r->sh->index->mapping_version >= r->msg.mapping_version) {
        executor_submit_force(r->s->o.write_pool, parse_task, r);
        return;
    }
    wait_for(r, true);
}

static enum err parse(struct replica_run *r, struct errmsg *em)
{
    enum err e = ERR_OK;
    r->docs = ARENA_ARRAY(&r->arena, struct parsed_doc, r->msg.n);
    r->mapping = index_mapping(r->sh->index, NULL);
    if (r->docs == NULL) {
        return err_no_memory(em);
    }
    struct stop st = {.asked = data_ends, .self = r->s};
    stop_enter(&st);
    for (size_t i = 0; i < r->msg.n && e == ERR_OK; i++) {
        const struct engine_op *op = &r->msg.ops[i];
        struct source_to_parse in = {.index_name = r->sh->index->name,
                                     .id = op->id,
                                     .routing = op->routing,
                                     .source = op->source,
                                     .dynamic_allowed = true};
        e = op->kind == OP_INDEX ? document_parse(&r->docs[i], r->mapping, &in, &r->arena, em) : ERR_OK;
    }
    bool ends = stop_now();
    stop_leave(&st);
    return ends ? err_set(em, ERR_NODE_CLOSED, "the node closes")
                : e; /* the primary does not know whether it is here */
}

static void parse_task(void *arg)
{
    struct replica_run *r = arg;
    struct errmsg em;
    if (r->sh->index->mapping_version < r->msg.mapping_version) {
        shard_post_back(r->sh, mapping_missing, r);
    } else if (parse(r, &em) != ERR_OK) {
        refuse(r, &em);
    } else {
        shard_post_back(r->sh, apply_task, r);
    }
}

/* On the write pool. */
static void handle(void *arg, struct transport_call *call)
{
    struct data_service *s = arg;
    struct replica_run *r = calloc(1, sizeof(*r));
    struct errmsg em;
    if (r == NULL) {
        err_no_memory(&em);
        s->o.transport->refuse(s->o.transport->self, call, &em);
        return;
    }
    r->s = s;
    r->call = call;
    r->resync = call->kind == MESSAGE_RESYNC;
    r->deadline_ms = clock_mono_ms(s->o.clock) + MAPPING_WAIT_MS;
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    if (replication_msg_decode(&r->msg, call->payload, &r->arena, &em) != ERR_OK) {
        refuse(r, &em);
        return;
    }
    struct shard_ref which = {STR_NULL, r->msg.uuid, r->msg.shard};
    r->sh = shard_find(s, &which, &em);
    if (r->sh == NULL) {
        refuse(r, &em);
        return;
    }
    parse_task(r);
}

void replication_serve(struct data_service *s)
{
    static const uint16_t kinds[] = {MESSAGE_REPLICATE, MESSAGE_RESYNC, MESSAGE_GLOBAL_CHECKPOINT};
    const struct transport *tr = s->o.transport;
    /* Its primary has admitted it: a queue that is full must not cost the copy its place. */
    s->admitted = *s->o.write_pool;
    if (s->o.write_pool->submit_force != NULL) {
        s->admitted.submit = s->o.write_pool->submit_force;
    }
    for (size_t i = 0; tr != NULL && i < sizeof(kinds) / sizeof(*kinds); i++) {
        tr->serve(tr->self, kinds[i], &s->admitted, handle, s);
    }
}
