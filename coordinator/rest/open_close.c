/* Opening and closing indices. */
#include "coordinator/rest/meta.h"

/* Which of the names were open when the request came, for the answer: the state moves on. */
struct close_call {
    struct str *closed;
    uint32_t n;
};

static void opened_active(struct active_wait *wait, bool active)
{
    struct rest *r = rest_of(wait->r);
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, KIB);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", true);
    jw_kbool(&w, "shards_acknowledged", active);
    jw_obj_end(&w);
    rest_meta_free(wait->user);
    rest_send(r, 200, &b);
}

static void opened(struct rest *r, struct meta_request *rq)
{
    rest_meta_wait_active(r, rq, opened_active);
}

/* Nothing named is not everything: that is said once the parameters are read. false: answered. */
static bool is_named(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    int64_t timeout_ms;
    if (rest_param(r, "index").n > 0) {
        return true;
    }
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_index_options(r, &o) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return false;
    }
    if (e == ERR_OK) {
        err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: index is missing;");
    }
    rest_fail(r, NULL);
    return false;
}

static void open_index(struct rest *r)
{
    struct expand_options o = {false, true, EXPAND_CLOSED, false, false, 0};
    int32_t wanted;
    if (rest_active_shards(r, &wanted) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!is_named(r)) {
        return;
    }
    struct meta_request *rq = rest_meta_indices(r, META_OPEN_INDEX, &o);
    if (rq != NULL) {
        rest_meta_then(r, rq, opened);
    }
}

static void closed(struct rest *r, struct meta_request *rq)
{
    const struct close_call *c = r->user;
    struct buf b;
    struct jsonw w;
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", true);
    jw_kbool(&w, "shards_acknowledged", c->n > 0);
    jw_kobj(&w, "indices");
    for (uint32_t i = 0; i < c->n; i++) {
        jw_key(&w, c->closed[i]);
        jw_obj(&w);
        jw_kbool(&w, "closed", true);
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_meta_free(rq);
    rest_send(r, 200, &b);
}

static enum err closing_allowed(struct rest *r)
{
    if (cluster_setting_bool(r->state, SET_CLUSTER_INDICES_CLOSE_ENABLE)) {
        return ERR_OK;
    }
    return err_set(&r->em, ERR_ILLEGAL_STATE,
                   "closing indices is disabled - set [cluster.indices.close.enable: true] to enable it. "
                   "NOTE: closed indices still "
                   "consume a significant amount of diskspace");
}

/* "index-setting" is a word for the default here, and deprecated in 7.x's answers. */
static enum err check_wait(struct rest *r)
{
    int32_t wanted;
    struct str v = rest_param(r, "wait_for_active_shards");
    return str_is(v, "index-setting") ? ERR_OK : rest_active_shards(r, &wanted);
}

static void close_index(struct rest *r)
{
    struct expand_options o = {false, true, EXPAND_OPEN, false, false, 0};
    struct close_call *c = ARENA_NEW(r->arena, struct close_call);
    enum err e = c != NULL ? check_wait(r) : err_no_memory(&r->em);
    e = e == ERR_OK ? closing_allowed(r) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!is_named(r)) {
        return;
    }
    struct meta_request *rq = rest_meta_indices(r, META_CLOSE_INDEX, &o);
    if (rq == NULL) {
        return;
    }
    c->closed = ARENA_ARRAY(r->arena, struct str, rq->n_names);
    if (c->closed == NULL) {
        rest_meta_free(rq);
        rest_no_memory(r);
        return;
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *m = cluster_index(r->state, rq->names[i]);
        if (m != NULL && !m->closed) {
            struct str name = arena_str(r->arena, m->name);
            c->closed[c->n] = name;
            c->n += name.p != NULL;
        }
    }
    r->user = c;
    rest_meta_then(r, rq, closed);
}

const struct route routes_open_close[] = {
    {M_POST, "/_open", open_index},
    {M_POST, "/{index}/_open", open_index},
    {M_POST, "/_close", close_index},
    {M_POST, "/{index}/_close", close_index},
};
const size_t routes_open_close_n = ARRAY_LEN(routes_open_close);
