/* Cluster health, at once or when a condition holds: a waiting request checks each state that is applied here. */
#include "common/cluster/health.h"
#include "coordinator/rest/rest.h"

#include "common/base/num.h"
#include "coordinator/rest/master_view.h"

#include <stdio.h>

#define LOOK_AGAIN_MS 1000 /* disconnected clients and ended tasks, which no state shows */

/* ---- what is waited for -------------------------------------------------------------------------------- */

enum compare { AT_LEAST, AT_MOST, ABOVE, BELOW, EXACTLY };

struct health_rq {
    struct rest *r;
    struct expand_options options;
    struct str indices;
    bool by_index, by_shard, local;
    bool want_events; /* nothing waits at the master */
    const struct master_view *view;
    struct state_wait wait;
    bool want_status, want_no_relocating, want_no_initializing, want_nodes, want_all_active;
    enum health status;
    int32_t active;
    enum compare nodes_compare;
    int32_t nodes;
    int64_t deadline_ms, master_timeout_ms; /* monotonic */
    /* what the last look found */
    const struct index_target *t;
    uint32_t n;
    struct shards_health found;
    bool missing, absent; /* what is named, by the request's options; by strict ones: it is waited for */
};

static enum err parse_nodes(struct rest *r, struct str v, enum compare *how, int32_t *n)
{
    static const struct {
        const char *before, *after;
        enum compare how;
    } forms[] = {{">=", "", AT_LEAST},   {"<=", "", AT_MOST},   {">", "", ABOVE},    {"<", "", BELOW},
                 {"ge(", ")", AT_LEAST}, {"le(", ")", AT_MOST}, {"gt(", ")", ABOVE}, {"lt(", ")", BELOW}};
    *how = EXACTLY;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (str_starts(v, str_of(forms[i].before)) && str_ends(v, str_of(forms[i].after))) {
            v = str_slice(v, strlen(forms[i].before), v.n - strlen(forms[i].after));
            *how = forms[i].how;
            break;
        }
    }
    return num_parse_i32(v, n) ? ERR_OK
                               : err_set(&r->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
}

static enum err parse_active(struct health_rq *q, struct str v)
{
    struct rest *r = q->r;
    if (v.p == NULL) {
        return ERR_OK;
    }
    if (str_is(v, "all")) {
        q->want_all_active = true;
        return ERR_OK;
    }
    if (!num_parse_i32(v, &q->active)) {
        err_set(&r->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
        return err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "cannot parse ActiveShardCount[%.*s]", STR_ARG(v));
    }
    return q->active >= 0 ? ERR_OK
                          : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "shard count cannot be a negative value");
}

static enum err parse_events(struct health_rq *q)
{
    struct rest *r = q->r;
    static const char *const priorities[] = {"immediate", "urgent", "high", "normal", "low", "languid"};
    struct str v = rest_param(r, "wait_for_events");
    q->want_events = v.p != NULL;
    for (size_t i = 0; v.p != NULL && i < ARRAY_LEN(priorities); i++) {
        if (str_eq_nocase(v, str_of(priorities[i]))) {
            return ERR_OK;
        }
    }
    return v.p == NULL ? ERR_OK
                       : err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                                 "No enum constant org.elasticsearch.common.Priority.%.*s",
                                 STR_ARG(arena_upper(r->arena, v)));
}

static enum err parse(struct health_rq *q)
{
    struct rest *r = q->r;
    int64_t timeout;
    struct str status = rest_param(r, "wait_for_status"), nodes = rest_param(r, "wait_for_nodes"),
               level = rest_param(r, "level");
    q->options =
        (struct expand_options){true, true, EXPAND_OPEN | EXPAND_CLOSED | EXPAND_HIDDEN, false, false, 0};
    q->indices = rest_param(r, "index");
    q->by_shard = str_eq_nocase(level, STR("shards"));
    q->by_index = q->by_shard || str_eq_nocase(level, STR("indices"));
    enum err e = rest_index_options(r, &q->options);
    e = e == ERR_OK ? rest_time(r, "timeout", MASTER_TIMEOUT_MS, &timeout) : e;
    e = e == ERR_OK ? rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &q->master_timeout_ms) : e;
    e = e == ERR_OK ? rest_bool(r, "local", false, &q->local) : e;
    if (e == ERR_OK && status.p != NULL && !health_parse(status, &q->status)) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "No enum constant org.elasticsearch.cluster.health.ClusterHealthStatus.%.*s",
                    STR_ARG(arena_upper(r->arena, status)));
    }
    q->want_status = status.p != NULL;
    e = e == ERR_OK ? rest_bool(r, "wait_for_no_relocating_shards", false, &q->want_no_relocating) : e;
    e = e == ERR_OK ? rest_bool(r, "wait_for_no_initializing_shards", false, &q->want_no_initializing) : e;
    if (e == ERR_OK && rest_has(r, "wait_for_relocating_shards")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "wait_for_relocating_shards has been removed, use wait_for_no_relocating_shards "
                    "[true/false] instead");
    }
    e = e == ERR_OK ? parse_active(q, rest_param(r, "wait_for_active_shards")) : e;
    e = e == ERR_OK ? parse_events(q) : e;
    q->want_nodes = nodes.n > 0;
    e = e == ERR_OK && q->want_nodes ? parse_nodes(r, nodes, &q->nodes_compare, &q->nodes) : e;
    q->deadline_ms = clock_mono_ms(r->co->o.clock) + (e == ERR_OK ? timeout : 0);
    return e;
}

static bool nodes_met(const struct health_rq *q)
{
    int64_t n = health_nodes(q->r->state, 0);
    switch (q->nodes_compare) {
    case AT_LEAST:
        return n >= q->nodes;
    case AT_MOST:
        return n <= q->nodes;
    case ABOVE:
        return n > q->nodes;
    case BELOW:
        return n < q->nodes;
    case EXACTLY:
        break;
    }
    return n == q->nodes;
}

/* Looks at the request's state: what it finds goes to the request. */
static enum err health_evaluate(struct health_rq *q)
{
    struct rest *r = q->r;
    const struct expand_options strict = {false, true, EXPAND_OPEN | EXPAND_CLOSED, false, false, 0};
    const struct index_target *ignored;
    uint32_t n_ignored;
    int64_t now = clock_wall_ms(r->co->o.clock);
    enum err e = resolve_indices(r->state, q->indices, &q->options, now, r->arena, &q->t, &q->n, &r->em);
    q->found = (struct shards_health){.status = HEALTH_GREEN};
    q->missing = false;
    if (e == ERR_INDEX_NOT_FOUND) {
        q->n = 0;
        q->missing = true;
    } else if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < q->n; i++) {
        struct shards_health h = index_health(r->state, q->t[i].meta);
        health_add(&q->found, &h);
    }
    if (q->indices.n > 0) { /* what is named has to be there, whatever the options say */
        q->absent =
            resolve_indices(r->state, q->indices, &strict, now, r->arena, &ignored, &n_ignored, &r->em)
            != ERR_OK;
        q->missing |= q->absent;
    }
    err_clear(&r->em);
    return ERR_OK;
}

static bool met(const struct health_rq *q)
{
    const struct shards_health *h = &q->found;
    enum health status = q->missing || cluster_master(q->r->state) == NULL ? HEALTH_RED : h->status;
    return !q->absent && (!q->want_status || status <= q->status)
           && (!q->want_no_relocating || h->relocating == 0)
           && (!q->want_no_initializing || h->initializing == 0) && (int64_t)h->active >= q->active
           && (!q->want_all_active || h->initializing + h->unassigned == 0)
           && (!q->want_nodes || nodes_met(q)) && (!q->want_events || q->view->pending->queue.n == 0);
}

/* ---- answering ----------------------------------------------------------------------------------------- */

static void write_counts(struct jsonw *w, const struct shards_health *h)
{
    jw_ki64(w, "active_primary_shards", h->primaries);
    jw_ki64(w, "active_shards", h->active);
    jw_ki64(w, "relocating_shards", h->relocating);
    jw_ki64(w, "initializing_shards", h->initializing);
    jw_ki64(w, "unassigned_shards", h->unassigned);
}

static void write_shards(struct jsonw *w, const struct cluster_state *s, const struct index_meta *m)
{
    jw_kobj(w, "shards");
    for (uint32_t i = 0; i < m->n_shards; i++) {
        char name[12];
        snprintf(name, sizeof(name), "%u", i);
        jw_kobj(w, name);
        struct shards_health h = shard_health(s, m, i);
        jw_kz(w, "status", health_name(h.status));
        jw_kbool(w, "primary_active", h.primaries > 0);
        jw_ki64(w, "active_shards", h.active);
        jw_ki64(w, "relocating_shards", h.relocating);
        jw_ki64(w, "initializing_shards", h.initializing);
        jw_ki64(w, "unassigned_shards", h.unassigned);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

static void write_indices(struct jsonw *w, const struct health_rq *q)
{
    jw_kobj(w, "indices");
    for (uint32_t i = 0; i < q->n; i++) {
        const struct index_meta *m = q->t[i].meta;
        struct shards_health h = index_health(q->r->state, m);
        jw_key(w, m->name);
        jw_obj(w);
        jw_kz(w, "status", health_name(h.status));
        jw_ki64(w, "number_of_shards", m->n_shards);
        jw_ki64(w, "number_of_replicas", m->n_replicas);
        write_counts(w, &h);
        if (q->by_shard) {
            write_shards(w, q->r->state, m);
        }
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

static void answer(const struct health_rq *q, bool timed_out)
{
    struct rest *r = q->r;
    struct shards_health all = cluster_health(r->state);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kstr(&w, "cluster_name", r->co->o.cluster_name);
    bool led = cluster_master(r->state) != NULL;
    jw_kz(&w, "status", health_name(q->missing || !led ? HEALTH_RED : q->found.status));
    jw_kbool(&w, "timed_out", timed_out);
    jw_ki64(&w, "number_of_nodes", health_nodes(r->state, 0));
    jw_ki64(&w, "number_of_data_nodes", health_nodes(r->state, ROLE_DATA));
    write_counts(&w, &q->found);
    jw_ki64(&w, "delayed_unassigned_shards", all.delayed);
    jw_ki64(&w, "number_of_pending_tasks", q->view->pending->queue.n);
    jw_ki64(&w, "number_of_in_flight_fetch", q->view->pending->queue.fetching);
    jw_ki64(&w, "task_max_waiting_in_queue_millis", master_view_longest_ms(q->view));
    /* Of the whole cluster, unless what was asked for is all there. */
    jw_kdouble(&w, "active_shards_percent_as_number",
               q->found.status == HEALTH_GREEN ? 100.0 : health_percent(&all));
    if (q->by_index) {
        write_indices(&w, q);
    }
    jw_obj_end(&w);
    rest_send(r, timed_out ? 408 : 200, &b);
}

static void health_recheck(void *arg);

static void wait_or_answer(struct health_rq *q, uint64_t seen);

static void health_check(struct health_rq *q, uint64_t seen)
{
    if (health_evaluate(q) != ERR_OK) {
        rest_fail(q->r, NULL);
    } else {
        wait_or_answer(q, seen);
    }
}

/* The queue is read again: all tasks that were in it when the request came have ended by then. */
static void asked_again(struct master_view *v)
{
    struct health_rq *q = v->user;
    q->view = v;
    health_check(q, state_waits_seen(&q->r->co->state_waits));
}

static void health_recheck(void *arg)
{
    struct health_rq *q = arg;
    struct rest *r = q->r;
    uint64_t seen = state_waits_seen(&r->co->state_waits);
    int64_t left = q->deadline_ms - clock_mono_ms(r->co->o.clock);
    if (q->want_events && q->view->pending->queue.n > 0 && left > 0) {
        rest_ask_master(r, q->local, left, asked_again, q);
        return;
    }
    struct cluster_state *now = r->co->o.state(r->co->o.self);
    if (now == r->state) { /* the arena grows with states, not with time */
        cluster_state_unref(now);
        wait_or_answer(q, seen);
        return;
    }
    cluster_state_unref(r->state);
    r->state = now;
    health_check(q, seen);
}

static void wait_or_answer(struct health_rq *q, uint64_t seen)
{
    struct rest *r = q->r;
    int64_t left = q->deadline_ms - clock_mono_ms(r->co->o.clock);
    if (met(q)) {
        answer(q, false);
    } else if (left <= 0 || http_aborted(r->http) || delays_stopped(r->co->delays)) {
        answer(q, true);
    } else {
        state_waits_add(&r->co->state_waits, &q->wait, seen, MIN_OF(left, LOOK_AGAIN_MS), health_recheck, q);
    }
}

static void health(struct rest *r)
{
    struct health_rq *q = ARENA_NEW(r->arena, struct health_rq);
    if (q == NULL) {
        rest_no_memory(r);
        return;
    }
    q->r = r;
    if (parse(q) != ERR_OK) {
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        rest_ask_master(r, q->local, q->master_timeout_ms, asked_again, q);
    }
}

const struct route routes_health[] = {
    {M_GET, "/_cluster/health", health},
    {M_GET, "/_cluster/health/{index}", health},
};
const size_t routes_health_n = ARRAY_LEN(routes_health);
