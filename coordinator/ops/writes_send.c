/* The items of a set of writes, sent to the primaries of their shards, again and again where it takes that. */
#include "common/base/hash.h"
#include "common/base/memory_account.h"
#include "common/base/time_text.h"
#include "common/cluster/health.h"
#include "coordinator/core/active.h"
#include "coordinator/core/ask.h"
#include "coordinator/core/retry.h"
#include "coordinator/ops/writes_int.h"

/* ---- a shard's part, as a task of the coordinating node ---- */

static void shard_describe(const struct task *t, struct buf *out)
{
    const struct write_try *w = CONST_CONTAINER_OF(t, struct write_try, task);
    shard_op_write.describe(&w->rq->rq, out);
}

static void shard_status(UNUSED const struct task *t, struct jsonw *w)
{
    jw_obj(w);
    jw_kz(w, "phase", "waiting_on_primary");
    jw_obj_end(w);
}

static const struct task_ops part_ops = {.describe = shard_describe, .status = shard_status};

/* ---- what comes back ---- */

static void copy_answer(struct write_entry *e, const struct write_item *it)
{
    struct str id = e->item.id, routing = e->item.routing;
    e->item = *it;
    e->item.id = id;
    e->item.routing = routing;
}

static void ended(struct later *l)
{
    struct write_set *w = CONTAINER_OF(l, struct write_set, end);
    w->done(w);
}

void writes_finish(struct write_set *w)
{
    if (w->named) {
        op_names_end(&w->r->co->op_names, &w->names);
        w->named = false;
    }
    tasks_end(w->r->co->tasks, &w->task);
    later(&w->end, ended);
}

static void gather(struct write_set *w)
{
    for (uint32_t i = 0; i < w->n_shard_writes; i++) {
        struct shard_write *sw = &w->shard_writes[i];
        struct write_entry **entries = sw->rq.user;
        for (uint32_t k = 0; k < sw->n; k++) {
            copy_answer(entries[k], &sw->items[k]);
            entries[k]->copies_ok = sw->copies_ok;
            entries[k]->copies_failed = sw->copies_failed;
            if (err_is(&sw->rq.error)) {
                entries[k]->item.error = &sw->rq.error;
            }
        }
        w->forced_refresh |= sw->forced_refresh;
    }
    writes_finish(w);
}

#define LOOKS_MAX     50 /* a state that is known to be there is on its way, or this node is not in the cluster */
#define LOOK_AGAIN_MS 100

/* ---- one shard's items: sent until the primary has answered, as long as the request allows ---- */

int64_t writes_time_left(const struct write_set *w)
{
    return w->timeout_ms - (clock_mono_ms(w->r->co->o.clock) - w->since_ms);
}

static struct write_try *try_of(const struct shard_write *sw)
{
    const struct write_set *w = sw->set;
    return &w->tries[sw - w->shard_writes];
}

static void one_less(struct shard_write *sw)
{
    struct write_set *w = sw->set;
    tasks_end(w->r->co->tasks, &try_of(sw)->task);
    if (--w->pending == 0) {
        gather(w);
    }
}

static void attempt(struct shard_write *sw)
{
    struct write_set *w = sw->set;
    struct coordinator *co = w->r->co;
    try_of(sw)->seen = state_waits_seen(&co->state_waits);
    sw->timeout_ms = MAX_OF(writes_time_left(w), (int64_t)1);
    sw->settled_below = w->named ? op_names_settled(&co->op_names) : 0;
    ask_write(co, sw);
}

static void put_time(struct buf *b, int64_t ms)
{
    time_put_ns(b, MIN_OF(ms, INT64_MAX / 1000000) * 1000000);
}

/* Ends the items of a shard with what the buffer says; frees that. */
static void unavailable(struct errmsg *em, struct buf *why)
{
    err_set(em, ERR_UNAVAILABLE_SHARDS, "%.*s", STR_ARG(buf_view(why)));
    buf_fini(why);
}

static void fail_unavailable(struct shard_write *sw)
{
    struct write_set *w = sw->set;
    struct buf b;
    buf_init(&b, NULL, 4 * KIB);
    buf_printf(&b, "[%.*s][%u] primary shard is not active Timeout: [", STR_ARG(sw->rq.shard.index),
               sw->rq.shard.shard);
    put_time(&b, w->timeout_ms);
    buf_printf(&b, "], %s%s", err_reason(&sw->rq.error),
               sw->retry ? "; whether it was applied is unknown" : "");
    unavailable(&sw->rq.error, &b);
    one_less(sw);
}

static void fail_inactive(struct shard_write *sw, const struct active_wait *wait)
{
    const struct write_set *w = sw->set;
    const struct index_meta *m = w->meta_of[sw - w->shard_writes];
    int32_t wanted = active_wanted(m, wait->wanted);
    struct buf b;
    buf_init(&b, NULL, 4 * KIB);
    buf_printf(&b, "[%.*s][%u] Not enough active copies to meet shard count of [", STR_ARG(m->name),
               sw->rq.shard.shard);
    if (wait->wanted == ACTIVE_ALL) {
        buf_z(&b, "ALL");
    } else {
        buf_i64(&b, wanted);
    }
    buf_printf(&b, "] (have %d, needed %d). Timeout: [",
               (int)shard_health(w->r->state, m, sw->rq.shard.shard).active, wanted);
    put_time(&b, wait->timeout_ms);
    buf_z(&b, "]");
    unavailable(&sw->inactive, &b);
}

/* The index may have gone meanwhile. */
static bool index_exists(const struct shard_write *sw)
{
    const struct write_set *w = sw->set;
    struct cluster_state *now = w->r->co->o.state(w->r->co->o.self);
    bool there = cluster_index_by_uuid(now, sw->rq.shard.uuid) != NULL;
    cluster_state_unref(now);
    return there;
}

static void again(void *arg)
{
    struct shard_write *sw = arg;
    struct write_set *w = sw->set;
    const struct http_request *http = w->r->http;
    if (!index_exists(sw)) {
        err_set(&sw->rq.error, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(sw->rq.shard.index));
        err_about_index(&sw->rq.error, sw->rq.shard.index, sw->rq.shard.uuid);
        one_less(sw);
        return;
    }
    if (writes_time_left(w) <= 0 || delays_stopped(w->r->co->delays)
        || (http != NULL && http_aborted(http))) {
        fail_unavailable(sw);
        return;
    }
    err_clear(&sw->rq.error);
    for (uint32_t i = 0; i < sw->n; i++) {
        sw->items[i].error = NULL;
        sw->items[i].get = STR_NULL;
    }
    attempt(sw);
}

/* Who writes fields that are new sees them in the mapping then, through this node, too. */
static void see_mapping(void *arg)
{
    struct shard_write *sw = arg;
    struct write_set *w = sw->set;
    struct coordinator *co = w->r->co;
    struct write_try *t = try_of(sw);
    uint64_t seen = state_waits_seen(&co->state_waits);
    struct cluster_state *now = co->o.state(co->o.self);
    const struct index_meta *m = cluster_index(now, sw->rq.shard.index);
    bool behind = m != NULL && str_eq(m->uuid, sw->rq.shard.uuid) && m->mapping_version < sw->mapping_version;
    cluster_state_unref(now);
    if (behind && t->looks++ < LOOKS_MAX && !delays_stopped(co->delays)) {
        state_waits_add(&co->state_waits, &t->wait, seen, LOOK_AGAIN_MS, see_mapping, sw);
    } else {
        one_less(sw);
    }
}

/* Is another copy active, that is the primary now or will be when the one that was asked has failed? */
static bool has_successor(const struct shard_write *sw)
{
    struct coordinator *co = ((const struct write_set *)sw->set)->r->co;
    struct cluster_state *now = co->o.state(co->o.self);
    const struct index_routing *r = cluster_routing(now, sw->rq.shard.index);
    uint32_t shard = sw->rq.shard.shard;
    bool found = false;
    for (uint32_t i = 0; r != NULL && str_eq(r->uuid, sw->rq.shard.uuid) && i < r->shards[shard].n; i++) {
        const struct shard_copy *c = &r->shards[shard].copies[i];
        found |= (c->state == COPY_STARTED || c->state == COPY_RELOCATING) && !str_eq(c->node, sw->rq.node);
    }
    cluster_state_unref(now);
    return found;
}

static void shard_done(struct shard_rq *rq)
{
    struct shard_write *sw = (struct shard_write *)rq;
    struct write_set *w = sw->set;
    enum retry_write what = retry_write(&rq->error);
    if (!err_is(&rq->error)) {
        see_mapping(sw);
        return;
    }
    if (what == RETRY_ELSEWHERE) {
        what = has_successor(sw) ? RETRY_UNKNOWN : RETRY_NOT;
    }
    if (what == RETRY_NOT || (what == RETRY_UNKNOWN && !w->named)) {
        one_less(sw);
        return;
    }
    struct write_try *t = try_of(sw);
    int64_t left = MAX_OF(writes_time_left(w), (int64_t)0);
    sw->retry |= what == RETRY_UNKNOWN;
    int64_t pause = retry_pause_ms(++t->n);
    state_waits_add(&w->r->co->state_waits, &t->wait, t->seen, MIN_OF(left, pause), again, sw);
}

/* Too few copies: nothing may be written. A lone update is asked for nevertheless: it may be one that changes
 * nothing. */
static void send_one(struct active_wait *wait, bool active)
{
    struct shard_write *sw = wait->user;
    struct write_set *w = sw->set;
    if (!active) {
        fail_inactive(sw, wait);
        if (w->n > 1 || sw->n == 0 || sw->items[0].kind != WRITE_UPDATE) {
            err_copy(&sw->rq.error, &sw->inactive);
            one_less(sw);
            return;
        }
    }
    attempt(sw);
}

/* The shards that a request writes to, in the order of their first items. */
struct groups {
    uint32_t n;
    struct write_entry **first; /* of each */
    uint32_t *of;               /* of each item that is to be written */
};

/* Finds the shard of each item in a table of those found before: items and shards can be many. */
static bool group_items(const struct write_set *w, struct groups *g)
{
    struct arena *arena = w->r->arena;
    size_t slots_n = 2;
    while (slots_n < 2 * (size_t)w->n) {
        slots_n *= 2;
    }
    uint32_t *slots = ARENA_ARRAY(arena, uint32_t, slots_n);
    *g = (struct groups){.first = ARENA_ARRAY(arena, struct write_entry *, w->n),
                         .of = ARENA_ARRAY(arena, uint32_t, w->n)};
    if (slots == NULL || g->first == NULL || g->of == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        struct write_entry *e = &w->v[i];
        if (write_is_over(e)) {
            continue;
        }
        size_t k = (hash_str(e->meta->uuid) + (uint32_t)e->shard * 2654435761U) & (slots_n - 1);
        while (slots[k] != 0
               && (g->first[slots[k] - 1]->shard != e->shard
                   || !str_eq(g->first[slots[k] - 1]->meta->uuid, e->meta->uuid))) {
            k = (k + 1) & (slots_n - 1);
        }
        if (slots[k] == 0) {
            g->first[g->n++] = e;
            slots[k] = g->n;
        }
        g->of[i] = slots[k] - 1;
    }
    return true;
}

/* What is sent to one shard, without the items. */
static void begin_shard_write(struct write_set *w, uint32_t at, const struct write_entry *e)
{
    struct shard_write *sw = &w->shard_writes[at];
    shard_rq_init(&sw->rq, &shard_op_write, shard_done, NULL);
    sw->rq.shard = (struct shard_ref){e->meta->name, e->meta->uuid, e->shard};
    sw->inactive = err_in(&sw->rq.arena);
    sw->refresh = w->refresh;
    sw->op_session = w->named ? w->r->co->op_names.session : 0;
    sw->set = w;
    struct write_try *t = &w->tries[at];
    t->rq = sw;
    t->task = (struct task){.ops = &part_ops,
                            .action = "indices:data/write/bulk[s]",
                            .type = "transport",
                            .opaque_id = w->task.opaque_id,
                            .parent = w->task.id};
    sw->rq.opaque_id = w->task.opaque_id;
    w->meta_of[at] = e->meta;
    w->waits[at] = (struct active_wait){.r = w->r,
                                        .names = &sw->rq.shard.index,
                                        .n_names = 1,
                                        .one_shard = true,
                                        .shard = e->shard,
                                        .wanted = w->active,
                                        .timeout_ms = w->timeout_ms,
                                        .then = send_one,
                                        .user = sw};
}

/* Makes room for them, and for what belongs to each; false: no memory. */
static bool make_shard_writes(struct write_set *w, uint32_t n)
{
    struct arena *arena = w->r->arena;
    w->shard_writes = ARENA_ARRAY(arena, struct shard_write, MAX_OF(n, 1U));
    w->tries = ARENA_ARRAY(arena, struct write_try, MAX_OF(n, 1U));
    w->waits = ARENA_ARRAY(arena, struct active_wait, MAX_OF(n, 1U));
    w->meta_of = ARENA_ARRAY(arena, const struct index_meta *, MAX_OF(n, 1U));
    return w->shard_writes != NULL && w->tries != NULL && w->waits != NULL && w->meta_of != NULL;
}

/* Each item goes to its shard's; false: no memory. */
static bool fill_shard_writes(struct write_set *w, const struct groups *g)
{
    struct arena *arena = w->r->arena;
    for (uint32_t i = 0; i < g->n; i++) {
        begin_shard_write(w, i, g->first[i]);
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->shard_writes[g->of[i]].n += !write_is_over(&w->v[i]);
    }
    for (uint32_t i = 0; i < g->n; i++) {
        struct shard_write *sw = &w->shard_writes[i];
        sw->items = ARENA_ARRAY(arena, struct write_item, sw->n);
        sw->rq.user = ARENA_ARRAY(arena, struct write_entry *, sw->n);
        if (sw->items == NULL || sw->rq.user == NULL) {
            return false;
        }
        sw->n = 0;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        struct shard_write *sw = &w->shard_writes[g->of[i]];
        if (!write_is_over(&w->v[i])) {
            sw->items[sw->n] = w->v[i].item;
            ((struct write_entry **)sw->rq.user)[sw->n++] = &w->v[i];
        }
    }
    w->n_shard_writes = g->n;
    return true;
}

static void fail_all(struct write_set *w)
{
    ERR_LOCAL(em);
    err_no_memory(&em);
    for (uint32_t i = 0; i < w->n; i++) {
        if (!write_is_over(&w->v[i])) {
            writes_fail(w, &w->v[i], &em);
        }
    }
}

void writes_send(struct write_set *w)
{
    struct op_env *r = w->r;
    struct groups g;
    if (r->co->o.remote != NULL) { /* a node that is alone never sends anything twice */
        op_names_begin(&r->co->op_names, &w->names, w->n);
        w->named = true;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->v[i].item.op_counter = w->names.first + i;
    }
    bool ok = group_items(w, &g) && make_shard_writes(w, g.n) && fill_shard_writes(w, &g);
    if (!ok) {
        fail_all(w);
    }
    if (!ok || w->n_shard_writes == 0) {
        writes_finish(w);
        return;
    }
    w->pending = w->n_shard_writes;
    uint32_t n = w->n_shard_writes; /* w may be gone after the last call */
    struct active_wait *waits = w->waits;
    for (uint32_t i = 0; i < n; i++) {
        tasks_begin(r->co->tasks, &w->tries[i].task);
        w->shard_writes[i].rq.parent = w->tries[i].task.id;
    }
    for (uint32_t i = 0; i < n; i++) {
        active_wait_begin(&waits[i]);
    }
}
