#include "coordinator/ops/writes_ingest.h"
#include "coordinator/ops/writes_int.h"

#include "common/base/hash.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/cluster/blocks.h"
#include "common/settings/setting_read.h"
#include "coordinator/core/active.h"
#include "coordinator/core/meta.h"
#include "coordinator/core/resolve.h"
#include "coordinator/core/routing_required.h"
#include "engine/index/engine.h"

/* ---- ids ----------------------------------------------------------------------------------------------- */

struct str writes_auto_id(struct op_env *r)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    struct coordinator *c = r->co;
    uint64_t counter = c->next_auto_id++;
    char id[20];
    /* Fifteen bytes: what identifies this node's run, the time, and a counter; ids made together share
     * prefixes, which the term dictionary likes. */
    uint64_t words[2] = {((uint64_t)clock_wall_ms(c->o.clock) << 20) ^ (counter >> 24),
                         hash_u64(c->id_seed) << 24 | (counter & 0xFFFFFF)};
    for (int i = 0; i < 20; i++) {
        uint64_t *w = &words[i / 10];
        id[i] = alphabet[(*w >> 54) & 63];
        *w <<= 6;
    }
    if (id[0] == '-' || id[0] == '_') {
        id[0] = 'x';
    }
    return arena_str(r->arena, str_mk(id, sizeof(id)));
}

/* ---- resolving ----------------------------------------------------------------------------------------- */

void writes_fail(struct write_set *w, struct write_entry *e, const struct errmsg *em)
{
    e->error = err_keep(w->r->arena, em);
}

static bool auto_create_allowed(const struct cluster_state *s, struct str index)
{
    struct str rule = cluster_setting(s, SET_ACTION_AUTO_CREATE_INDEX), rest = rule;
    if (str_is(rule, "true") || str_is(rule, "false")) {
        return str_is(rule, "true");
    }
    while (rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        bool minus = one.n > 0 && one.p[0] == '-';
        if (minus || (one.n > 0 && one.p[0] == '+')) {
            one = str_slice(one, 1, one.n);
        }
        if (str_glob(one, index)) {
            return !minus;
        }
    }
    return false;
}

static enum err missing_index(const struct write_entry *e, bool auto_create_off, struct errmsg *em)
{
    if (auto_create_off) {
        err_set(em, ERR_INDEX_NOT_FOUND, "no such index [%.*s] and [action.auto_create_index] is [false]",
                STR_ARG(e->index));
    } else {
        return index_expression_missing(e->index, em);
    }
    err_about_index(em, e->index, STR("_na_"));
    return ERR_INDEX_NOT_FOUND;
}

static enum err not_an_alias(const struct write_entry *e, struct errmsg *em)
{
    err_set(em, ERR_INDEX_NOT_FOUND,
            "no such index [%.*s] and [require_alias] request flag is [true] and [%.*s] is not an alias",
            STR_ARG(e->target), STR_ARG(e->target));
    err_about_index(em, e->target, STR("_na_"));
    return ERR_INDEX_NOT_FOUND;
}

static enum err make_id(struct op_env *r, struct write_entry *e, struct errmsg *em)
{
    e->item.id = writes_auto_id(r);
    e->item.auto_id_ms = clock_wall_ms(r->co->o.clock);
    e->item.create = true;
    e->item.if_seq_no = SEQ_UNASSIGNED; /* nothing has a made id: there is nothing to compare with */
    e->item.if_primary_term = 0;
    return e->item.id.p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err resolve(struct write_set *w, struct write_entry *e, struct errmsg *em)
{
    const struct alias_meta *alias;
    struct op_env *r = w->r;
    enum err err = resolve_write(r->state, e->target, clock_wall_ms(r->co->o.clock), r->arena, &e->meta,
                                 &alias, &e->index, em);
    if (err != ERR_OK || e->meta == NULL) {
        return err;
    }
    if (e->require_alias && alias == NULL) {
        return not_an_alias(e, em);
    }
    if (alias != NULL && alias->index_routing.p != NULL) {
        if (e->item.routing.p != NULL && !str_eq(e->item.routing, alias->index_routing)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Alias [%.*s] has index routing associated with it [%.*s], and was provided with "
                           "routing value [%.*s], "
                           "rejecting operation",
                           STR_ARG(alias->name), STR_ARG(alias->index_routing), STR_ARG(e->item.routing));
        }
        e->item.routing = alias->index_routing;
    }
    if (e->item.routing.p == NULL && routing_required(e->meta->mapping)) {
        err_set(em, ERR_ROUTING_MISSING, "routing is required for [%.*s]/[%.*s]/[%.*s]",
                STR_ARG(e->meta->name), STR_ARG(write_item_type(&e->item)),
                STR_ARG(e->item.id.p != NULL ? e->item.id : STR("null")));
        err_about_index(em, e->meta->name, STR("_na_"));
        return ERR_ROUTING_MISSING;
    }
    if (e->auto_id && e->item.id.p == NULL) {
        err = make_id(r, e, em);
    }
    err = err == ERR_OK ? index_block_check(r->state, e->meta, BLOCK_WRITE, em) : err;
    if (err != ERR_OK) {
        return err;
    }
    e->shard = shard_of(e->meta, e->item.id, e->item.routing);
    return ERR_OK;
}

/* ---- auto-create --------------------------------------------------------------------------------------- */

static void next_missing(struct write_set *w);

/* An index that cannot be made fails all that name it, deletes among them. */
static void fail_same(struct write_set *w, const struct write_entry *e, const struct errmsg *em)
{
    const struct str target = e->target, index = e->index;
    for (uint32_t i = 0; i < w->n; i++) {
        if (!write_is_over(&w->v[i]) && str_eq(w->v[i].target, target)) {
            w->v[i].index = index;
            writes_fail(w, &w->v[i], em);
        }
    }
}

static void created(struct meta_call *call)
{
    struct write_set *w = call->arg;
    if (err_is(&call->rq.error)) {
        fail_same(w, &w->v[w->creating], &call->rq.error);
    }
    meta_call_free(call);
    next_missing(w);
}

/* Does the entry make its index when it is missing? A delete only with external versions. */
static bool creates(const struct write_entry *e)
{
    return e->item.kind != WRITE_DELETE || e->item.version_type != VERSION_INTERNAL;
}

/* Makes the index that the entry lacks, and goes on after that: true. Else *em says why not. */
static bool create_for(struct write_set *w, struct write_entry *e, struct errmsg *em)
{
    struct op_env *r = w->r;
    if (index_name_check(e->index, em) != ERR_OK) {
        fail_same(w, e, em);
        return false;
    }
    if (!auto_create_allowed(r->state, e->index)) {
        missing_index(e, true, em);
        fail_same(w, e, em);
        return false;
    }
    struct meta_call *call = meta_call_new(r, META_CREATE_INDEX, &e->index, 1);
    if (call == NULL) {
        err_no_memory(em);
        writes_fail(w, e, em);
        return false;
    }
    call->rq.auto_create = true;
    meta_call_send(call, created, w);
    return true;
}

/* Resolves the other entries, after the creation of missing indices. */
static void resolve_others(struct write_set *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        struct write_entry *e = &w->v[i];
        ERR_LOCAL(em);
        if (write_is_over(e) || creates(e)) {
            continue;
        }
        err_clear(&em);
        enum err err = resolve(w, e, &em);
        if (err == ERR_OK && e->meta == NULL) {
            err = missing_index(e, false, &em);
        }
        if (err != ERR_OK) {
            writes_fail(w, e, &em);
        }
    }
}

/* An index that one of the request wants to be an alias is not made for the others either. */
static bool refuse_index(struct write_set *w, const struct write_entry *e)
{
    const struct str target = e->target, index = e->index;
    bool wanted = false;
    for (uint32_t i = 0; i < w->n && !wanted; i++) {
        wanted =
            !w->v[i].dropped && w->v[i].require_alias && creates(&w->v[i]) && str_eq(w->v[i].target, target);
    }
    for (uint32_t i = 0; wanted && i < w->n; i++) {
        struct write_entry *x = &w->v[i];
        ERR_LOCAL(em);
        if (!write_is_over(x) && str_eq(x->target, target)) {
            x->index = index;
            err_clear(&em);
            if (x->require_alias) {
                not_an_alias(x, &em);
            } else {
                missing_index(x, false, &em);
            }
            writes_fail(w, x, &em);
        }
    }
    return wanted;
}

static void next_missing(struct write_set *w)
{
    for (; w->creating < w->n; w->creating++) {
        struct write_entry *e = &w->v[w->creating];
        ERR_LOCAL(em);
        if (write_is_over(e) || !creates(e)) {
            continue;
        }
        err_clear(&em);
        enum err err = resolve(w, e, &em);
        if (err == ERR_OK && e->meta == NULL
            && delays_stopped(w->r->co->delays)) { /* no more indices are made */
            err = err_set(&em, ERR_NODE_CLOSED, "node closed");
        }
        if (err == ERR_OK && e->meta == NULL) {
            if (refuse_index(w, e)) {
                continue;
            }
            if (create_for(w, e, &em)) {
                return;
            }
            continue;
        }
        if (err != ERR_OK) {
            writes_fail(w, e, &em);
        }
    }
    resolve_others(w);
    writes_send(w);
}

/* ---- without a master, nothing is written: its successor may name another primary ---- */

#define MASTER_AGAIN_MS 1000 /* when no state comes */

static bool has_master(const struct op_env *r)
{
    return r->co->o.remote == NULL || r->state->nodes == NULL || r->state->nodes->master.p != NULL;
}

static void refuse_all(struct write_set *w)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_CLUSTER_BLOCK, "blocked by: [SERVICE_UNAVAILABLE/2/no master];");
    err_about_status(&em, 503);
    for (uint32_t i = 0; i < w->n; i++) {
        writes_fail(w, &w->v[i], &em);
    }
    w->blocked = true;
    writes_finish(w);
}

static void with_master(void *arg)
{
    struct write_set *w = arg;
    struct coordinator *co = w->r->co;
    uint64_t seen = state_waits_seen(&co->state_waits);
    if (!has_master(w->r)) {
        op_env_renew(w->r);
    }
    int64_t left = writes_time_left(w);
    if (has_master(w->r)) {
        next_missing(w);
    } else if (left <= 0 || delays_stopped(co->delays)) {
        refuse_all(w);
    } else {
        state_waits_add(&co->state_waits, &w->master_wait, seen, MIN_OF(left, (int64_t)MASTER_AGAIN_MS),
                        with_master, w);
    }
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void describe(const struct task *t, struct buf *out)
{
    const struct write_set *w =
        (const struct write_set *)(const void *)((const char *)t - offsetof(struct write_set, task));
    buf_printf(out, "requests[%u], indices[", w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        bool seen = false;
        for (uint32_t k = i; k-- > 0 && !seen && i - k < 100;) { /* bulks name few indices, mostly in runs */
            seen = str_eq(w->v[k].target, w->v[i].target);
        }
        if (!seen) {
            buf_printf(out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(w->v[i].target));
        }
    }
    buf_char(out, ']');
}

static const struct task_ops task_ops = {.describe = describe};

void writes_run(struct write_set *w)
{
    w->task = (struct task){
        .ops = &task_ops, .action = "indices:data/write/bulk", .type = "transport", .parent = w->parent_task};
    w->task.opaque_id = op_opaque_id(w->r);
    tasks_begin(w->r->co->tasks, &w->task);
    w->creating = 0;
    w->since_ms = clock_mono_ms(w->r->co->o.clock);
    w->n_shard_writes = 0;
    if (writes_ingest_plan(w)) {
        writes_ingest(w, with_master);
    } else {
        with_master(w);
    }
}

void writes_fini(struct write_set *w)
{
    for (uint32_t i = 0; i < w->n_shard_writes; i++) {
        shard_rq_fini(&w->shard_writes[i].rq);
    }
    w->n_shard_writes = 0;
}

/* ---- results ------------------------------------------------------------------------------------------- */

static const char *outcome_name(enum write_outcome o)
{
    static const char *const names[] = {"created", "updated", "deleted", "not_found", "noop"};
    return names[o];
}

int writes_status(const struct write_entry *e)
{
    const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
    if (em != NULL) {
        return err_http_status(em);
    }
    return e->dropped                           ? 200
           : e->item.outcome == WRITE_CREATED   ? 201
           : e->item.outcome == WRITE_NOT_FOUND ? 404
                                                : 200;
}

/* What a pipeline has dropped is shown as a document that did not change, without numbers. */
static void write_dropped(struct jsonw *w, const struct write_entry *e)
{
    jw_kstr(w, "_index", e->target);
    jw_kstr(w, "_type", write_item_type(&e->item));
    jw_kstr(w, "_id", e->item.id.p != NULL ? e->item.id : STR("auto-generated"));
    jw_ki64(w, "_version", e->item.create ? -4 : -3);
    jw_kz(w, "result", "noop");
    jw_k(w, "_shards");
    jw_obj(w);
    jw_ki64(w, "total", 0);
    jw_ki64(w, "successful", 0);
    jw_ki64(w, "failed", 0);
    jw_obj_end(w);
}

void writes_result(struct jsonw *w, const struct write_entry *e, bool forced_refresh, bool in_bulk)
{
    if (e->dropped) {
        write_dropped(w, e);
        return;
    }
    jw_kstr(w, "_index", e->meta->name);
    jw_kstr(w, "_type", write_item_type(&e->item));
    jw_kstr(w, "_id", e->item.id);
    jw_ki64(w, "_version", e->item.result_version);
    jw_kz(w, "result", outcome_name(e->item.outcome));
    bool noop = e->item.outcome == WRITE_NOOP;
    if (forced_refresh && (!noop || in_bulk)) {
        jw_kbool(w, "forced_refresh", true);
    }
    jw_kobj(w, "_shards");
    jw_ki64(w, "total", noop && !in_bulk ? 0 : 1 + (int64_t)e->meta->n_replicas);
    jw_ki64(w, "successful", noop && !in_bulk ? 0 : MAX_OF(e->copies_ok, 1U));
    jw_ki64(w, "failed", noop && !in_bulk ? 0 : e->copies_failed);
    jw_obj_end(w);
    if (e->item.seq_no >= 0) {
        jw_ki64(w, "_seq_no", e->item.seq_no);
        jw_ki64(w, "_primary_term", e->item.primary_term);
    }
    if (e->item.get.n > 0) {
        jw_k(w, "get");
        jw_raw(w, e->item.get);
    }
}
