/* Writes on a primary: parsed on the pool, applied on the shard's strand, answered once they are durable.
 *
 * A request walks: parse (pool) -> apply (strand) -> sync (pool, grouped), and the other copies (replication.h) ->
 * refresh, if asked for -> done.
 * Where a document needs fields that the mapping lacks, the request waits for the master's new state beside
 * the strand, and its item is parsed again. A big request goes between the pool and the strand slice by
 * slice: a parsed document is a hundred times the size of its source, so that the memory of a slice is what
 * stays in the processor's cache, whatever a bulk holds. */
#include "data/replication/replication.h"
#include "data/service/service_int.h"
#include "data/service/update.h"

#include "common/base/memory_account.h"

#include <stdlib.h>

/* The values of parsed documents point into the mapping that parsed them. */
struct held_mapping {
    struct mapping *m;
    struct held_mapping *next;
};

struct write_run {
    struct shard_waiter waiter; /* first; its location is what must be on disk */
    uint64_t written;           /* the location of its newest operation */
    struct shard_write *rq;
    struct shard *sh;
    uint32_t slice, slice_end; /* the items under way: [slice, slice_end) */
    struct parsed_doc *docs;   /* of each; id.p == NULL: not parsed (a delete, an update, a failure) */
    struct arena scratch;      /* of the slice: docs and what is in them */
    uint32_t at;               /* the next item to parse, or to apply */
    bool applying;
    uint32_t mapping_rounds;   /* of the current item */
    bool begun;                /* it was admitted on the strand */
    struct fanout *fanout;     /* NULL: nothing goes elsewhere */
    int64_t *parse_ns;         /* of each item, for the slow log; NULL: it is off */
    struct held_mapping *held; /* newest first */
};

#define SLICE_SOURCE_BYTES 32768   /* a slice ends with the document that reaches it */
#define TURN_NS            5000000 /* updates give way to others on the strand after that */
#define MAPPING_ROUNDS_MAX 8       /* a document asks for fields once; more means that it never gets them */

static void finish(struct write_run *r)
{
    struct shard_write *rq = r->rq;
    arena_fini(&r->scratch);
    rq->copies_ok = 1;
    if (r->fanout != NULL) {
        fanout_count(r->fanout, &rq->copies_ok, &rq->copies_failed);
        fanout_drop(r->fanout);
    }
    if (r->begun) {
        replication_leave(r->sh);
    }
    for (struct held_mapping *h = r->held; h != NULL; h = h->next) {
        mapping_unref(h->m);
    }
    rq->mapping_version = r->sh->index->mapping_version;
    shard_unref(r->sh);
    shard_rq_answer(&rq->rq);
}

static void fail_all(struct write_run *r, const struct errmsg *em)
{
    r->rq->rq.error = *em;
    finish(r);
}

static void fail_item(struct write_run *r, struct write_item *it, const struct errmsg *em)
{
    it->error = memory_keep_error(&r->rq->rq.arena, em);
}

static void name_shard(const struct write_run *r, struct errmsg *em)
{
    err_about_index(em, r->sh->index->name, r->sh->index->uuid);
    err_about_shard(em, (int)r->sh->number);
}

/* ---- parsing ------------------------------------------------------------------------------------------- */

static void parse_task(void *arg);
static void apply_task(void *arg);

/* Goes on with a request that was admitted. */
static void resume(struct write_run *r)
{
    if (r->applying) {
        shard_post_back(r->sh, apply_task, r);
    } else {
        executor_submit_force(r->sh->service->o.write_pool, parse_task, r);
    }
}

static void mapping_updated(void *arg, const struct errmsg *error)
{
    struct write_run *r = arg;
    if (error != NULL) {
        fail_item(r, &r->rq->items[r->at], error);
        r->at++;
        r->mapping_rounds = 0;
    }
    resume(r);
}

/* Sends the fields that the document wants to the master. The run goes on in mapping_updated(). */
static void ask_for_fields(struct write_run *r, const struct json *update)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, update);
    struct data_service *s = r->sh->service;
    if (b.failed || ++r->mapping_rounds > MAPPING_ROUNDS_MAX) {
        struct errmsg em;
        err_set(&em, ERR_ILLEGAL_STATE, "dynamic mapping of [%.*s] does not settle",
                STR_ARG(r->sh->index->name));
        buf_fini(&b);
        mapping_updated(r, &em);
        return;
    }
    s->o.update_mapping(s->o.node_self, r->sh->index->name, r->sh->index->uuid, buf_view(&b), mapping_updated,
                        r);
    buf_fini(&b);
}

/* Borrowed: held until the request ends. */
static struct mapping *newest_mapping(struct write_run *r)
{
    struct mapping *m = index_mapping(r->sh->index, NULL);
    if (r->held != NULL && r->held->m == m) {
        mapping_unref(m);
        return m;
    }
    struct held_mapping *h = ARENA_NEW(&r->rq->rq.arena, struct held_mapping);
    if (h == NULL) {
        mapping_unref(m);
        return NULL;
    }
    *h = (struct held_mapping){m, r->held};
    r->held = h;
    return m;
}

/* What took long has come to its end, or the node has, which ended it. */
static enum err until_end(struct stop *st, enum err e, struct errmsg *em)
{
    stop_leave(st);
    return st->on ? err_set(em, ERR_NODE_CLOSED, "the node closes") : e;
}

static enum err parse_source(struct write_run *r, const struct write_item *it, struct str source,
                             struct parsed_doc *doc, struct errmsg *em)
{
    struct mapping *m = newest_mapping(r);
    struct source_to_parse in = {.index_name = r->sh->index->name,
                                 .id = it->id,
                                 .routing = it->routing,
                                 .source = source,
                                 .dynamic_allowed = true};
    if (m == NULL) {
        return err_no_memory(em);
    }
    const struct clock *clock = r->sh->service->o.clock;
    int64_t since = r->parse_ns != NULL ? clock->mono_ns(clock->self) : 0;
    struct stop st = {.asked = data_ends, .self = r->sh->service};
    stop_enter(&st);
    enum err e = until_end(&st, document_parse(doc, m, &in, &r->scratch, em), em);
    if (r->parse_ns != NULL) {
        r->parse_ns[r->at] = clock->mono_ns(clock->self) - since;
    }
    return e;
}

/* The items from `from` on whose sources fill a slice. false: no memory. */
static bool begin_slice(struct write_run *r, uint32_t from)
{
    const struct shard_write *rq = r->rq;
    size_t bytes = 0;
    arena_reset(&r->scratch);
    r->slice = r->slice_end = r->at = from;
    while (r->slice_end < rq->n && bytes < SLICE_SOURCE_BYTES) {
        bytes += sizeof(struct parsed_doc) + rq->items[r->slice_end++].source.n;
    }
    r->docs = ARENA_ARRAY(&r->scratch, struct parsed_doc, r->slice_end - from);
    r->applying = false;
    return r->docs != NULL;
}

/* A delete makes an index's mapping too. */
static bool lacks_mapping(struct write_run *r)
{
    struct mapping *m = newest_mapping(r);
    return m != NULL && mapping_is_absent(m);
}

/* false: fields are asked for, and the request goes on when they are there. */
static bool parse_slice(struct write_run *r)
{
    for (; r->at < r->slice_end; r->at++, r->mapping_rounds = 0) {
        struct write_item *it = &r->rq->items[r->at];
        struct parsed_doc *doc = &r->docs[r->at - r->slice];
        struct errmsg em;
        if (it->kind == WRITE_DELETE && lacks_mapping(r)) {
            struct json none = json_mk_object();
            ask_for_fields(r, &none);
            return false;
        }
        if (it->kind != WRITE_INDEX) {
            continue;
        }
        if (parse_source(r, it, it->source, doc, &em) != ERR_OK) {
            fail_item(r, it, &em);
            continue;
        }
        if (doc->mapping_update != NULL) {
            ask_for_fields(r, doc->mapping_update);
            return false;
        }
    }
    return true;
}

static void parse_task(void *arg)
{
    struct write_run *r = arg;
    bool guarded = memory_guard(true), parsed = parse_slice(r);
    memory_guard(guarded);
    if (parsed) {
        r->at = r->slice;
        r->applying = true;
        resume(r);
    }
}

/* ---- applying ------------------------------------------------------------------------------------------ */

/* What the item gets for an answer, and the other copies for an operation. */
static void take_result(struct write_run *r, struct write_item *it, const struct engine_op *op,
                        const struct engine_result *res)
{
    static const enum write_outcome outcomes[] = {
        [OUTCOME_CREATED] = WRITE_CREATED, [OUTCOME_UPDATED] = WRITE_UPDATED,
        [OUTCOME_DELETED] = WRITE_DELETED, [OUTCOME_NOT_FOUND] = WRITE_NOT_FOUND,
        [OUTCOME_NOOP] = WRITE_NOOP,
    };
    it->outcome = outcomes[res->outcome];
    it->seq_no = res->seq_no;
    it->primary_term = res->primary_term;
    it->result_version = res->version;
    r->written = MAX_OF(r->written, res->location);
    r->waiter.location = MAX_OF(r->waiter.location, res->location);
    if (r->fanout != NULL && res->repeated) {
        fanout_needs(r->fanout, res->seq_no);
    } else if (r->fanout != NULL) {
        fanout_add(r->fanout, op, res);
    }
}

static enum err apply_op(struct write_run *r, struct write_item *it, struct engine_op *op, struct errmsg *em)
{
    struct engine_result res;
    struct engine *en = r->sh->engine;
    enum err e = engine_apply(en, op, &res, em);
    if (e == ERR_REJECTED) { /* the buffer is full: make room, once */
        e = engine_spill(en, em);
        e = e == ERR_OK ? engine_apply(en, op, &res, em) : e;
    }
    if (e == ERR_OK) {
        take_result(r, it, op, &res);
    }
    return e;
}

static struct engine_op base_op(const struct write_run *r, const struct write_item *it)
{
    struct engine_op op = ENGINE_OP_INIT;
    op.origin = ORIGIN_PRIMARY;
    op.id = it->id;
    op.routing = it->routing;
    op.primary_term = (int64_t)replication_tracker(r->sh)->term;
    op.version = it->create && it->version == VERSION_ANY ? VERSION_MUST_BE_NEW : it->version;
    op.version_type = (enum version_type)it->version_type;
    op.if_seq_no = it->if_seq_no;
    op.if_primary_term = it->if_primary_term;
    op.auto_id_ms = it->auto_id_ms;
    op.retry = r->rq->retry;
    if (it->op_counter != 0) {
        op.op_id = (struct op_id){r->rq->op_session, it->op_counter};
        op.settled_below = r->rq->settled_below;
    }
    op.mapping_version = r->sh->index->mapping_version;
    return op;
}

/* A no-op in the place of an operation that failed. */
static void skip_seq_no(struct write_run *r, const struct write_item *it, const char *why)
{
    struct errmsg em;
    struct engine_op op = base_op(r, it);
    struct write_item none = *it;
    op.kind = OP_NOOP;
    op.op_id = (struct op_id){0, 0}; /* a retry fails again */
    op.version = VERSION_ANY;
    op.version_type = VERSION_INTERNAL;
    op.if_seq_no = SEQ_UNASSIGNED;
    op.reason = str_of(why);
    if (apply_op(r, &none, &op, &em) != ERR_OK) {
        log_error(r->sh->service->o.log, "data", "no-op on [%.*s][%u]: %s", STR_ARG(r->sh->index->name),
                  r->sh->number, em.frame[0].reason);
    }
}

static enum err apply_index(struct write_run *r, struct write_item *it, const struct parsed_doc *doc,
                            struct str source, struct errmsg *em)
{
    struct engine_op op = base_op(r, it);
    op.kind = OP_INDEX;
    op.source = source;
    op.doc = doc;
    const struct clock *clock = r->sh->service->o.clock;
    int64_t since = r->parse_ns != NULL ? clock->mono_ns(clock->self) : 0;
    enum err e = apply_op(r, it, &op, em);
    if (e == ERR_ILLEGAL_ARGUMENT) { /* the index cannot hold the document; its sequence number is spent */
        skip_seq_no(r, it, em->frame[0].reason);
    } else if (e == ERR_OK && r->parse_ns != NULL) {
        slowlog_index(r->sh, r->parse_ns[r->at] + clock->mono_ns(clock->self) - since, it, source);
    }
    return e;
}

static enum err apply_delete(struct write_run *r, struct write_item *it, struct errmsg *em)
{
    struct engine_op op = base_op(r, it);
    op.kind = OP_DELETE;
    return apply_op(r, it, &op, em);
}

/* The "get" object of an update's answer. */
static enum err write_get(struct write_run *r, struct write_item *it, struct str source, struct errmsg *em)
{
    if (!it->want_get) {
        return ERR_OK;
    }
    struct arena *a = &r->rq->rq.arena;
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    enum err e = source_get_object(it, source, a, &w, em);
    if (e == ERR_OK) {
        it->get = arena_str(a, buf_view(&b));
        e = b.failed || it->get.p == NULL ? err_no_memory(em) : ERR_OK;
    }
    buf_fini(&b);
    return e;
}

/* The same of a retry, whose document was changed by the first try. */
static enum err get_written(struct write_run *r, struct write_item *it, struct errmsg *em)
{
    struct engine_doc current;
    enum err e =
        it->want_get ? engine_get(r->sh->engine, it->id, true, &r->rq->rq.arena, &current, em) : ERR_OK;
    return e == ERR_OK && it->want_get && current.found ? write_get(r, it, current.source, em) : e;
}

/* What the item was answered from must last, too: whoever is told of a conflict may rely on it. */
static void confirm(struct write_run *r)
{
    if (!r->sh->index->async) {
        r->waiter.location = MAX_OF(r->waiter.location, engine_location(r->sh->engine));
    }
    if (r->fanout != NULL) {
        fanout_confirm(r->fanout);
    }
}

static void answer_noop(struct write_item *it, const struct engine_doc *current)
{
    it->outcome = WRITE_NOOP;
    it->seq_no = current->found ? current->seq_no : SEQ_UNASSIGNED;
    it->primary_term = current->primary_term;
    it->result_version = current->found ? current->version : -1;
    it->want_get |= !current->found; /* that nothing is there is always said */
}

/* The document is the one that the item names by its sequence number, if it names one. */
static enum err check_expected(const struct write_item *it, const struct engine_doc *current,
                               struct errmsg *em)
{
    if (!current->found || it->if_seq_no == SEQ_UNASSIGNED
        || (it->if_seq_no == current->seq_no && it->if_primary_term == current->primary_term)) {
        return ERR_OK;
    }
    return err_set(em, ERR_CONFLICT,
                   "[%.*s]: version conflict, required seqNo [%lld], primary term [%lld]. current "
                   "document has seqNo [%lld] and "
                   "primary term [%lld]",
                   STR_ARG(it->id), (long long)it->if_seq_no, (long long)it->if_primary_term,
                   (long long)current->seq_no, (long long)current->primary_term);
}

/* Reads, changes and writes in one turn of the strand: nothing can come between. *wait: new fields were asked
 * for. */
static enum err apply_update(struct write_run *r, struct write_item *it, bool *wait, struct errmsg *em)
{
    struct arena *a = &r->rq->rq.arena;
    struct engine_doc current;
    struct update_plan plan;
    struct engine_op name = base_op(r, it);
    struct engine_result before;
    *wait = false;
    if (engine_done_before(r->sh->engine, &name, &before)) {
        take_result(r, it, &name, &before);
        return get_written(r, it, em);
    }
    enum err e = engine_get(r->sh->engine, it->id, true, a, &current, em);
    e = e == ERR_OK ? check_expected(it, &current, em) : e;
    struct update_input in = {.item = it,
                              .current = &current,
                              .index_name = r->sh->index->name,
                              .now_ms = clock_wall_ms(r->sh->service->o.clock)};
    if (e == ERR_OK) {
        struct stop st = {.asked = data_ends, .self = r->sh->service};
        stop_enter(&st);
        e = until_end(&st, update_plan_make(&plan, &in, a, em), em);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct write_item one = *it; /* the change itself is unconditional: the strand holds the document still */
    one.version = VERSION_ANY;
    one.if_seq_no = SEQ_UNASSIGNED;
    one.create = false;
    one.auto_id_ms = -1;
    if (current.found && !(one.reroutes && one.routing.p != NULL)) {
        one.routing = current.routing;
    }
    if (plan.result == UPDATE_NOOP) {
        r->sh->noop_updates++;
        answer_noop(it, &current);
        confirm(r);
        return write_get(r, it, plan.source, em);
    }
    if (r->rq->inactive.n > 0) {
        *em = r->rq->inactive;
        return err_code(em);
    }
    if (plan.result == UPDATE_DELETE) {
        e = apply_delete(r, &one, em);
    } else {
        struct parsed_doc doc;
        e = parse_source(r, &one, plan.source, &doc, em);
        if (e == ERR_OK && doc.mapping_update != NULL) {
            *wait = true;
            ask_for_fields(r, doc.mapping_update);
            return ERR_OK;
        }
        e = e == ERR_OK ? apply_index(r, &one, &doc, plan.source, em) : e;
    }
    it->outcome = one.outcome;
    it->seq_no = one.seq_no;
    it->primary_term = one.primary_term;
    it->result_version = one.result_version;
    if (e != ERR_OK) {
        return e;
    }
    return write_get(r, it, plan.result == UPDATE_DELETE ? current.source : plan.source, em);
}

static void refreshed(struct shard_waiter *w, const struct errmsg *error)
{
    (void)error; /* it was promised a place on disk, and has it */
    finish((struct write_run *)w);
}

/* Everything is applied, and durable on all copies. */
static void durable(struct write_run *r)
{
    struct shard *sh = r->sh;
    struct errmsg em;
    shard_wrote(sh);
    if (!shard_readable(sh, &em)) { /* it failed meanwhile; what was promised is kept */
        finish(r);
        return;
    }
    if (r->rq->refresh == REFRESH_NOW || (r->rq->refresh == REFRESH_CHANGED && r->written > 0)) {
        bool changed;
        if (shard_refresh(sh, &changed, &em) != ERR_OK) {
            fail_all(r, &em);
            return;
        }
        r->rq->forced_refresh = true;
        shard_ref(sh);
        finish(r);
        shard_maintain(sh);
        shard_unref(sh);
        return;
    }
    if (r->rq->refresh == REFRESH_WAIT && engine_refreshed(sh->engine) < r->written && !sh->life.leaving) {
        r->waiter.location = r->written;
        r->waiter.wake = refreshed;
        shard_wait_refreshed(sh, &r->waiter);
        return;
    }
    finish(r);
}

static int64_t deadline_of(const struct write_run *r)
{
    return r->rq->timeout_ms > 0 ? clock_mono_ms(r->sh->service->o.clock) + r->rq->timeout_ms : 0;
}

static void copies_have_it(struct shard_waiter *w, const struct errmsg *error)
{
    struct write_run *r = (struct write_run *)w;
    if (error != NULL) {
        fail_all(r, error);
    } else {
        durable(r);
    }
}

/* Applied, and then the copy went: what says that nothing was written must not be said. */
static void fail_applied(struct write_run *r, const struct errmsg *error)
{
    struct errmsg em = *error;
    enum err e = err_code(error);
    if (e == ERR_NO_SHARD || e == ERR_NOT_PRIMARY || e == ERR_REJECTED) {
        err_set(&em, ERR_STALE_TERM, "whether the operations are kept is unknown: %s",
                error->frame[0].reason);
    }
    fail_all(r, &em);
}

/* This copy has it on disk. */
static void on_disk(struct shard_waiter *w, const struct errmsg *error)
{
    struct write_run *r = (struct write_run *)w;
    struct errmsg em;
    err_clear(&em);
    if (error != NULL) {
        fail_applied(r, error);
    } else if (r->fanout == NULL) {
        durable(r);
    } else if (fanout_settled(r->fanout, &em)) {
        copies_have_it(w, em.n > 0 ? &em : NULL);
    } else {
        w->wake = copies_have_it;
        fanout_wait(r->fanout, w, deadline_of(r));
    }
}

static void wait_until_durable(struct write_run *r)
{
    struct engine *en = r->sh->engine;
    if (r->waiter.location <= engine_durable(en) || r->sh->index->async) {
        on_disk(&r->waiter, NULL);
        return;
    }
    r->waiter.wake = on_disk;
    shard_wait_durable(r->sh, &r->waiter);
}

static void unparked(struct shard_waiter *w, const struct errmsg *error)
{
    if (error != NULL) {
        fail_all((struct write_run *)w, error);
    } else {
        apply_task(w);
    }
}

/* May the slice be applied? Else the request is parked, or has ended. */
static bool may_apply(struct write_run *r)
{
    struct shard *sh = r->sh;
    struct errmsg *em = &r->rq->rq.error;
    bool can = shard_writable(sh, em);
    if (can && r->begun && replication_tracker(sh) == NULL) {
        can = false;
        err_set(em, ERR_NOT_PRIMARY, "shard [%.*s][%u] is not the primary any more", STR_ARG(sh->index->name),
                sh->number);
    }
    if (can && !r->begun) {
        r->waiter.wake = unparked;
        enum admission a = replication_enter(sh, &r->waiter, deadline_of(r), em);
        if (a == PARKED) {
            return false;
        }
        r->begun = can = a == ADMITTED;
    }
    if (can && r->fanout == NULL) { /* a copy may have come since the slice before */
        r->fanout = fanout_new(sh, em);
        can = em->n == 0;
    }
    if (can) {
        return true;
    }
    /* Items that were applied before: nobody knows whether they are there afterwards. */
    if (r->written > 0) {
        bool led = err_code(em) == ERR_NOT_PRIMARY;
        struct errmsg why = *em;
        err_set(em, led ? ERR_STALE_TERM : ERR_IO, "shard [%.*s][%u] failed during the request: %s",
                STR_ARG(sh->index->name), sh->number, why.frame[0].reason);
    }
    finish(r);
    return false;
}

/* The copy cannot write any more (its disk is full): it fails, and whoever sent the request asks the next primary. */
static void fail_engine(struct write_run *r, const struct errmsg *why)
{
    struct shard *sh = r->sh;
    struct errmsg em = *why;
    if (err_code(why) != ERR_IO) {
        err_set(&em, ERR_IO, "the shard copy failed: %s", why->frame[0].reason);
    }
    name_shard(r, &em);
    shard_ref(sh); /* r is answered */
    fail_all(r, &em);
    shard_check(sh);
    shard_unref(sh);
}

/* What was applied goes to the other copies; the rest of the slice comes later. */
static void pause(struct write_run *r)
{
    if (r->fanout != NULL) {
        fanout_send(r->fanout, REFRESH_NONE, true, false);
    }
}

static void apply_task(void *arg)
{
    struct write_run *r = arg;
    struct shard_write *rq = r->rq;
    const struct clock *clock = r->sh->service->o.clock;
    int64_t since = clock->mono_ns(clock->self);
    uint32_t first = r->at;
    if (!may_apply(r)) {
        return;
    }
    for (; r->at < r->slice_end; r->at++, r->mapping_rounds = 0) {
        struct write_item *it = &rq->items[r->at];
        struct errmsg em;
        enum err e = ERR_OK;
        bool wait = false;
        if (it->error != NULL) {
            continue;
        }
        if (it->kind == WRITE_UPDATE && r->at > first && clock->mono_ns(clock->self) - since > TURN_NS) {
            pause(r); /* scripts may take long: others on the strand first */
            resume(r);
            return;
        }
        err_clear(&em);
        if (it->kind == WRITE_INDEX) {
            e = apply_index(r, it, &r->docs[r->at - r->slice], it->source, &em);
        } else if (it->kind == WRITE_DELETE) {
            e = apply_delete(r, it, &em);
        } else {
            e = apply_update(r, it, &wait, &em);
        }
        if (wait) {
            pause(r);
            return;
        }
        if (e != ERR_OK && engine_failure(r->sh->engine, &em) != ERR_OK) { /* no item is to blame */
            fail_engine(r, &em);
            return;
        }
        if (e != ERR_OK) {
            if (e == ERR_CONFLICT || e == ERR_DOCUMENT_MISSING || e == ERR_SOURCE_MISSING) {
                name_shard(r, &em);
                confirm(r);
            }
            fail_item(r, it, &em);
        }
    }
    shard_buffer_changed(r->sh);
    if (r->fanout != NULL) {
        fanout_send(r->fanout, rq->refresh == REFRESH_CHANGED ? REFRESH_NOW : rq->refresh, false,
                    r->slice_end == rq->n);
    }
    if (r->slice_end < rq->n) {
        if (begin_slice(r, r->slice_end)) {
            resume(r);
        } else {
            struct errmsg em;
            err_no_memory(&em);
            fail_all(r, &em);
        }
        return;
    }
    arena_fini(&r->scratch);
    struct shard *sh = r->sh;
    shard_ref(sh); /* r may be answered below */
    wait_until_durable(r);
    shard_check(sh);
    shard_unref(sh);
}

void data_write(struct data_service *s, struct shard_write *rq)
{
    struct shard *sh = shard_find(s, &rq->rq.shard, &rq->rq.error);
    struct write_run *r = sh != NULL ? ARENA_NEW(&rq->rq.arena, struct write_run) : NULL;
    if (r == NULL) {
        if (sh != NULL) {
            err_no_memory(&rq->rq.error);
            shard_unref(sh);
        }
        shard_rq_answer(&rq->rq);
        return;
    }
    *r = (struct write_run){.rq = rq, .sh = sh};
    memory_request_arena(&r->scratch);
    if (!begin_slice(r, 0)) {
        struct errmsg em;
        err_no_memory(&em);
        fail_all(r, &em);
        return;
    }
    if (sh->index->slow.on[SLOW_INDEX]) {
        r->parse_ns = ARENA_ARRAY(&rq->rq.arena, int64_t, rq->n);
    }
    if (!executor_submit(s->o.write_pool, parse_task, r)) {
        struct errmsg em;
        err_set(&em, ERR_REJECTED, "rejected execution of write on shard [%.*s][%u]: queue is full",
                STR_ARG(sh->index->name), sh->number);
        fail_all(r, &em);
    }
}
