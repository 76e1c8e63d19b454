#include "coordinator/rest/by_query_params.h"

#include "common/base/num.h"
#include "coordinator/core/active.h"
#include "engine/mapping/java.h"
#include "engine/query/query.h"

#include <math.h>

/* ---- parameters ---------------------------------------------------------------------------------------- */

enum err by_query_max_docs(struct by_query_spec *s, int32_t n, bool identical, struct errmsg *em)
{
    if (identical && s->max_docs != MAX_DOCS_ALL && s->max_docs != n) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[max_docs] set to two different values [%d] and [%d]",
                       (int)s->max_docs, (int)n);
    }
    if (n < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[max_docs] parameter cannot be negative, found [%d]",
                       (int)n);
    }
    if (n < s->slices) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[max_docs] should be >= [slices]");
    }
    s->max_docs = n;
    return ERR_OK;
}

enum err by_query_conflicts(struct by_query_spec *s, struct str v, struct errmsg *em)
{
    s->proceed = str_is(v, "proceed");
    if (!s->proceed && !str_is(v, "abort")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "conflicts may only be \"proceed\" or \"abort\" but was [%.*s]", STR_ARG(v));
    }
    return ERR_OK;
}

static enum err slices(struct by_query_rq *q)
{
    struct str v = rest_param(q->r, "slices");
    struct errmsg *em = &q->r->em;
    int32_t n = 1;
    if (v.p == NULL) {
        return ERR_OK;
    }
    if (str_is(v, "auto")) {
        q->s->slices = 0;
        return ERR_OK;
    }
    if (!num_parse_i32(v, &n)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT,
                        "[slices] must be a positive integer or the string \"auto\", but was [%.*s]",
                        STR_ARG(v));
    }
    if (n < 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[slices] must be a positive integer or the string \"auto\", but was [%.*s]",
                       STR_ARG(v));
    }
    q->s->slices = n;
    if (q->s->max_docs != MAX_DOCS_ALL && q->s->max_docs < n) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[max_docs] should be >= [slices]");
    }
    return ERR_OK;
}

enum err by_query_rate(struct rest *r, float *out)
{
    static const char text[] =
        "[requests_per_second] must be a float greater than 0. Use -1 to disable throttling.";
    struct str v = rest_param(r, "requests_per_second");
    float f = -1;
    if (v.p != NULL && !num_parse_float(v, &f)) {
        if (v.n == 0) {
            err_set(&r->em, ERR_NUMBER_FORMAT, "empty String");
        } else {
            err_set(&r->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
        }
        return err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", text);
    }
    if (f == -1) {
        f = INFINITY;
    }
    if (!(f > 0)) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", text);
    }
    *out = f;
    return ERR_OK;
}

enum err by_query_common(struct by_query_rq *q)
{
    struct rest *r = q->r;
    struct by_query_spec *s = q->s;
    int32_t n;
    enum err e = rest_bool(r, "refresh", false, &s->refresh);
    e = e == ERR_OK ? rest_time(r, "timeout", 60000, &s->timeout_ms) : e;
    e = e == ERR_OK ? slices(q) : e;
    e = e == ERR_OK ? by_query_rate(r, &s->per_second) : e;
    e = e == ERR_OK ? rest_active_shards(r, &s->active) : e;
    e = e == ERR_OK ? rest_bool(r, "wait_for_completion", true, &q->wait) : e;
    if (e == ERR_OK && rest_has(r, "max_docs")) {
        e = rest_int(r, "max_docs", 0, &n);
        e = e == ERR_OK ? by_query_max_docs(s, n, true, &r->em) : e;
    }
    return e;
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

enum err by_query_body(struct by_query_rq *q, const struct json **out)
{
    struct rest *r = q->r;
    struct str source = STR_NULL;
    size_t extra;
    r->body_read = true;
    if (r->body.n == 0 && rest_given(r, "source")) {
        source = rest_param(r, "source");
        rest_accept(r, "source_content_type");
    }
    *out = NULL;
    struct str text = arena_str(q->arena, r->body.n > 0 ? r->body : source);
    struct json *tree = ARENA_NEW(q->arena, struct json);
    if (tree == NULL || text.p == NULL) {
        return err_no_memory(&r->em);
    }
    r->body = text;
    if (str_trim(text).n == 0) {
        return ERR_OK;
    }
    enum err e = json_parse_until(tree, &extra, text, q->arena, &json_limits_default, &r->em);
    if (e != ERR_OK && extra == SIZE_MAX) {
        return e;
    }
    *out = tree;
    return ERR_OK;
}

static bool listed(const char *const *names, struct str key)
{
    for (; names != NULL && *names != NULL; names++) {
        if (str_is(key, *names)) {
            return true;
        }
    }
    return false;
}

/* As a Java map of the value prints: members in its order. */
static bool put_value(struct jsonw *w, const struct json *v, const char *const *without, struct arena *a)
{
    bool ok = true;
    if (v->type == JSON_ARRAY) {
        jw_arr(w);
        for (uint32_t i = 0; ok && i < v->n; i++) {
            ok = put_value(w, &v->items[i], NULL, a);
        }
        jw_arr_end(w);
    } else if (v->type == JSON_OBJECT) {
        const struct json_member **order = java_order(v, a);
        jw_obj(w);
        for (uint32_t i = 0; order != NULL && ok && i < v->n; i++) {
            if (!listed(without, order[i]->key)) {
                jw_key(w, order[i]->key);
                ok = put_value(w, &order[i]->value, NULL, a);
            }
        }
        jw_obj_end(w);
        ok = ok && order != NULL;
    } else {
        jw_value(w, v);
    }
    return ok;
}

enum err by_query_search(struct by_query_rq *q, const struct json *body, const char *const *without)
{
    struct json *tree = ARENA_NEW(q->arena, struct json);
    struct buf b;
    struct jsonw w;
    if (tree == NULL) {
        return err_no_memory(&q->r->em);
    }
    search_source_init(&q->source);
    *tree = json_mk_object();
    q->s->search.tree = tree;
    if (!json_is(body, JSON_OBJECT)) {
        return ERR_OK; /* anything else reads as an empty map */
    }
    jsonw_start(&w, &b);
    bool ok = put_value(&w, body, without, q->arena) && !b.failed;
    struct str text = ok ? arena_str(q->arena, buf_view(&b)) : STR_NULL;
    buf_fini(&b);
    if (text.p == NULL) {
        return err_no_memory(&q->r->em);
    }
    enum err e = json_parse(tree, text, q->arena, &json_limits_default, &q->r->em);
    return e == ERR_OK ? search_source_parse(&q->source, tree, text, q->arena, &q->r->em) : e;
}

enum err by_query_reparse(struct by_query_rq *q, const struct json *tree)
{
    struct json *kept = ARENA_NEW(q->arena, struct json);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_value(&w, tree);
    struct str text = b.failed ? STR_NULL : arena_str(q->arena, buf_view(&b));
    buf_fini(&b);
    if (kept == NULL || text.p == NULL) {
        return err_no_memory(&q->r->em);
    }
    q->s->search.tree = kept;
    search_source_init(&q->source);
    enum err e = json_parse(kept, text, q->arena, &json_limits_default, &q->r->em);
    return e == ERR_OK ? search_source_parse(&q->source, kept, text, q->arena, &q->r->em) : e;
}

/* ---- going --------------------------------------------------------------------------------------------- */

/* The parameters are in the HTTP request's memory; the operation may outlive it. */
static bool by_query_keep(struct arena *a, struct str *s)
{
    if (s->p != NULL) {
        *s = arena_str(a, *s);
        return s->p != NULL;
    }
    return true;
}

static void by_query_answer(void *arg, int status, struct buf *body, bool failed)
{
    struct rest *r = arg;
    r->unfiltered = failed;
    rest_send(r, status, body);
}

static void send_task(struct rest *r, uint64_t task)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_k(&w, "task");
    jw_strf(&w, "%.*s:%llu", STR_ARG(r->co->o.node_id), (unsigned long long)task);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

enum err by_query_stored(struct by_query_rq *q, struct str id)
{
    const struct script_meta *m = cluster_script(q->r->state, id);
    if (m == NULL) {
        return err_set(&q->r->em, ERR_RESOURCE_NOT_FOUND, "unable to find script [%.*s] in cluster state",
                       STR_ARG(id));
    }
    q->s->script = arena_str(q->arena, m->source);
    q->s->lang = arena_str(q->arena, m->lang);
    q->s->script_id = arena_str(q->arena, id);
    bool kept = q->s->script.p != NULL && q->s->lang.p != NULL && q->s->script_id.p != NULL;
    return kept ? ERR_OK : err_no_memory(&q->r->em);
}

void by_query_go(struct by_query_rq *q, enum err e)
{
    struct rest *r = q->r;
    rest_accept(r, "human");
    if (e == ERR_OK && !rest_ready(r)) {
        by_query_free(q->op);
        return;
    }
    e = e == ERR_OK ? by_query_validate(q->s, &q->source, &r->em) : e;
    if (e == ERR_OK
        && !(by_query_keep(q->arena, &q->s->search.index) && by_query_keep(q->arena, &q->s->search.routing)
             && by_query_keep(q->arena, &q->s->search.preference)
             && by_query_keep(q->arena, &q->s->pipeline))) {
        e = err_no_memory(&r->em);
    }
    if (e != ERR_OK) {
        by_query_free(q->op);
        rest_fail(r, NULL);
        return;
    }
    if (q->remote != NULL && q->refuse_remote(q) != ERR_OK) {
        by_query_free(q->op);
        rest_fail(r, NULL);
        return;
    }
    struct str human = rest_param(r, "human");
    q->s->human = human.p != NULL && !str_is(human, "false");
    q->s->answer = by_query_answer;
    q->s->arg = r;
    uint64_t task;
    bool wait = q->wait; /* a waiting client may be answered meanwhile */
    if (by_query_run(q->op, wait ? NULL : &task, &r->em) != ERR_OK) {
        rest_fail(r, NULL);
    } else if (!wait) {
        send_task(r, task);
    }
}
