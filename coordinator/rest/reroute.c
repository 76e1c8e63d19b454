/* Orders of operators: POST _cluster/reroute, _cluster/allocation/explain, voting exclusions. */
#include "coordinator/rest/cluster_state.h"
#include "coordinator/rest/meta.h"

#include "master/orders.h"

#define LOOK_AGAIN_MS 50

/* ---- reroute ------------------------------------------------------------------------------------------- */

struct reroute_rq {
    unsigned parts; /* of the state, in the answer */
    bool explain, flat;
};

static void rerouted(struct rest *r, struct meta_request *rq)
{
    const struct reroute_rq *q = r->user;
    struct str explanations;
    struct cluster_state *simulated = NULL;
    struct buf b;
    struct jsonw w;
    if (!err_is(&rq->error) && !meta_reroute_response(rq->response, &explanations, &simulated)) {
        err_set(&rq->error, ERR_INTERNAL, "what the master has done cannot be read");
    }
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    if (simulated != NULL) {
        cluster_state_unref(r->state);
        r->state = simulated;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", true);
    jw_k(&w, "state");
    enum err e = state_write_all(r, q->parts, q->flat, &w);
    if (q->explain) {
        jw_k(&w, "explanations");
        jw_raw(&w, explanations.n > 0 ? explanations : STR("[]"));
    }
    jw_obj_end(&w);
    rest_meta_free(rq);
    rest_send_or_fail(r, e, &b);
}

static enum err read_flag(struct rest *r, const char *name, unsigned bit, unsigned *options)
{
    bool on;
    enum err e = rest_bool(r, name, false, &on);
    *options |= e == ERR_OK && on ? bit : 0;
    return e;
}

static void reroute(struct rest *r)
{
    struct reroute_rq *q = ARENA_NEW(r->arena, struct reroute_rq);
    const struct json *body = NULL;
    struct reroute_command *commands;
    uint32_t n;
    unsigned options = 0;
    int64_t timeout_ms;
    if (q == NULL) {
        rest_no_memory(r);
        return;
    }
    struct str metric = rest_param(r, "metric");
    q->parts = state_parts(metric) & (metric.p == NULL ? ~state_parts(STR("metadata")) : ~0U);
    enum err e = read_flag(r, "dry_run", META_DRY_RUN, &options);
    e = e == ERR_OK ? read_flag(r, "explain", META_SAY_WHY, &options) : e;
    e = e == ERR_OK ? read_flag(r, "retry_failed", META_RETRY_FAILED, &options) : e;
    e = e == ERR_OK ? rest_bool(r, "flat_settings", false, &q->flat) : e;
    e = e == ERR_OK ? rest_meta_timeouts(r, &timeout_ms) : e;
    e = e == ERR_OK ? rest_body(r, &body) : e;
    e = e == ERR_OK ? reroute_parse(&commands, &n, body, r->body, r->arena, &r->em) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_REROUTE, NULL, 0) : NULL;
    if (rq == NULL) {
        return;
    }
    q->explain = (options & META_SAY_WHY) != 0;
    rq->options = options | (q->parts != 0 ? META_WANT_STATE : 0);
    rq->timeout_ms = timeout_ms;
    rq->text = r->body;
    rq->body = body != NULL ? *body : json_mk_object();
    r->user = q;
    rest_meta_then(r, rq, rerouted);
}

/* ---- explain ------------------------------------------------------------------------------------------- */

static void explained(struct rest *r, struct meta_request *rq)
{
    struct buf b;
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, rq->response);
    rest_meta_free(rq);
    rest_send(r, 200, &b);
}

static void explain_allocation(struct rest *r)
{
    const struct json *body = NULL;
    struct explain_question question = {.shard = 0};
    unsigned options = 0;
    enum err e = read_flag(r, "include_yes_decisions", META_INCLUDE_YES, &options);
    e = e == ERR_OK ? read_flag(r, "include_disk_info", META_INCLUDE_DISK, &options) : e;
    e = e == ERR_OK ? rest_body(r, &body) : e;
    e = e == ERR_OK ? explain_parse(&question, body, r->body, &r->em) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_EXPLAIN, NULL, 0) : NULL;
    if (rq != NULL) {
        rq->options = options;
        rq->timeout_ms = MASTER_TIMEOUT_MS;
        rq->text = r->body;
        if (body != NULL) {
            rq->body = *body;
        }
        rest_meta_then(r, rq, explained);
    }
}

/* ---- voting exclusions --------------------------------------------------------------------------------- */

struct exclusions_rq {
    struct rest *r;
    struct delay delay;
    int64_t deadline_ms;
    bool removal; /* the nodes have to leave; else they have to vote no more */
    void (*then)(struct exclusions_rq *q);
};

static bool excluded_there(const struct cluster_state *s)
{
    const struct coordination_part *c = s->coordination;
    for (uint32_t i = 0; c != NULL && i < c->n_exclusions; i++) {
        if (cluster_node(s, c->exclusions[i].node_id) != NULL) {
            return true;
        }
    }
    return false;
}

static void send_nothing(struct rest *r)
{
    struct buf b;
    buf_init(&b, NULL, KIB);
    rest_send_text(r, 200, "text/plain; charset=UTF-8", &b);
}

static void too_late(struct exclusions_rq *q)
{
    struct rest *r = q->r;
    struct buf b;
    const struct coordination_part *c = r->state->coordination;
    buf_init(&b, NULL, 64 * KIB);
    for (uint32_t i = 0; c != NULL && i < c->n_exclusions; i++) {
        buf_printf(&b, "%s{%.*s}{%.*s}", i > 0 ? ", " : "", STR_ARG(c->exclusions[i].node_name),
                   STR_ARG(c->exclusions[i].node_id));
    }
    err_set(&r->em, ERR_TIMEOUT,
            q->removal ? "timed out waiting for removal of nodes; if nodes should not be removed, set "
                         "waitForRemoval to false. [%.*s]"
                       : "timed out waiting for voting config exclusions [%.*s] to take effect",
            STR_ARG(buf_view(&b)));
    buf_fini(&b);
    rest_fail(r, NULL);
}

static void look(void *arg)
{
    struct exclusions_rq *q = arg;
    struct rest *r = q->r;
    cluster_state_unref(r->state);
    r->state = r->co->o.state(r->co->o.self);
    int64_t left = q->deadline_ms - clock_mono_ms(r->co->o.clock);
    if (!(q->removal ? excluded_there(r->state) : exclusions_pending(r->state))) {
        q->then(q);
    } else if (left <= 0 || delays_stopped(r->co->delays)) {
        too_late(q);
    } else {
        delays_add(r->co->delays, &q->delay, MIN_OF(left, LOOK_AGAIN_MS), look, q);
    }
}

static void take_effect(struct exclusions_rq *q)
{
    send_nothing(q->r);
}

static struct exclusions_rq *new_exclusions(struct rest *r)
{
    struct exclusions_rq *q = ARENA_NEW(r->arena, struct exclusions_rq);
    if (q == NULL) {
        rest_no_memory(r);
        return NULL;
    }
    q->r = r;
    r->user = q;
    return q;
}

static void added(struct rest *r, struct meta_request *rq)
{
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    rest_meta_free(rq);
    look(r->user);
}

static void add_exclusions(struct rest *r)
{
    static const char *const kinds[] = {"node_names", "node_ids", "node_name"};
    static const unsigned options[] = {META_BY_NAME, META_BY_ID, 0};
    const struct str *v = NULL;
    uint32_t n = 0, given = 0, kind = 0;
    int64_t timeout_ms;
    struct exclusions_rq *q = new_exclusions(r);
    if (q == NULL) {
        return;
    }
    enum err e = rest_time_as(r, "timeout", "RestAddVotingConfigExclusionAction.timeout", MASTER_TIMEOUT_MS,
                              &timeout_ms);
    if (e == ERR_OK && timeout_ms < 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "timeout [%.*s] must be non-negative",
                    STR_ARG(rest_param(r, "timeout")));
    }
    for (uint32_t i = 0; e == ERR_OK && i < ARRAY_LEN(kinds); i++) {
        const struct str *list;
        uint32_t count;
        e = rest_list(r, kinds[i], &list, &count);
        if (e == ERR_OK && count > 0 && list[0].n > 0) {
            v = list;
            n = count;
            kind = i;
            given++;
        }
    }
    if (e == ERR_OK && given != 1) {
        e = err_set(
            &r->em, ERR_ILLEGAL_ARGUMENT,
            "Please set node identifiers correctly. One and only one of [node_name], [node_names] and "
            "[node_ids] has to be set");
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    q->deadline_ms = clock_mono_ms(r->co->o.clock) + timeout_ms;
    q->then = take_effect;
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_EXCLUDE_VOTERS, v, n) : NULL;
    if (rq != NULL) {
        rq->options = options[kind];
        rq->timeout_ms = MASTER_TIMEOUT_MS;
        rest_meta_then(r, rq, added);
    }
}

static void cleared(struct rest *r, struct meta_request *rq)
{
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
    } else {
        send_nothing(r);
    }
    rest_meta_free(rq);
}

static void clear(struct exclusions_rq *q)
{
    struct meta_request *rq = rest_meta(q->r, META_CLEAR_EXCLUSIONS, NULL, 0);
    if (rq != NULL) {
        rest_meta_then(q->r, rq, cleared);
    }
}

static void clear_exclusions(struct rest *r)
{
    bool wait;
    struct exclusions_rq *q = new_exclusions(r);
    if (q == NULL) {
        return;
    }
    if (rest_bool(r, "wait_for_removal", true, &wait) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    q->removal = true;
    q->then = clear;
    q->deadline_ms = clock_mono_ms(r->co->o.clock) + MASTER_TIMEOUT_MS;
    if (wait) {
        look(q);
    } else {
        clear(q);
    }
}

const struct route routes_reroute[] = {
    {M_POST, "/_cluster/reroute", reroute},
    {M_GET | M_POST, "/_cluster/allocation/explain", explain_allocation},
    {M_POST, "/_cluster/voting_config_exclusions", add_exclusions},
    {M_POST, "/_cluster/voting_config_exclusions/{node_name}", add_exclusions},
    {M_DELETE, "/_cluster/voting_config_exclusions", clear_exclusions},
};
const size_t routes_reroute_n = ARRAY_LEN(routes_reroute);
