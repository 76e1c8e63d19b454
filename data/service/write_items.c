/* Writes: an item becomes an operation of the engine, on the strand. */
#include "data/service/update.h"
#include "data/service/write_int.h"

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
    ERR_LOCAL(em);
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
                  r->sh->number, err_reason(&em));
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
        skip_seq_no(r, it, err_reason(em));
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

void write_confirm(struct write_run *r)
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
    if (!str_is(it->type, "_all") && write_type_differs(r, it)) { /* nothing of that type is here */
        current.found = false;
    }
    e = e == ERR_OK ? check_expected(it, &current, em) : e;
    struct update_input in = {.item = it,
                              .current = &current,
                              .index_name = r->sh->index->name,
                              .now_ms = clock_wall_ms(r->sh->service->o.clock)};
    if (e == ERR_OK) {
        struct stop st = {.asked = data_ends, .self = r->sh->service};
        stop_enter(&st);
        e = write_until_end(&st, update_plan_make(&plan, &in, a, em), em);
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
        write_confirm(r);
        return write_get(r, it, plan.source, em);
    }
    if (err_is(&r->rq->inactive)) {
        err_copy(em, &r->rq->inactive);
        return err_code(em);
    }
    if (plan.result == UPDATE_DELETE) {
        e = apply_delete(r, &one, em);
    } else {
        struct parsed_doc doc;
        e = write_parse_source(r, &one, plan.source, &doc, em);
        if (e == ERR_OK && write_type_differs(r, it)) { /* the master says what is wrong with it */
            struct json none = json_mk_object();
            *wait = true;
            write_ask_for_fields(r, &none);
            return ERR_OK;
        }
        if (e == ERR_OK && doc.mapping_update != NULL) {
            *wait = true;
            write_ask_for_fields(r, doc.mapping_update);
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

enum err write_apply_item(struct write_run *r, struct write_item *it, bool *wait, struct errmsg *em)
{
    *wait = false;
    switch (it->kind) {
    case WRITE_INDEX:
        return apply_index(r, it, &r->docs[r->at - r->slice], it->source, em);
    case WRITE_DELETE:
        return apply_delete(r, it, em);
    case WRITE_UPDATE:
        return apply_update(r, it, wait, em);
    }
    return ERR_OK;
}
