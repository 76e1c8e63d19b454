/* _update_by_query and _delete_by_query: requests into operations. */
#include "coordinator/rest/by_query_params.h"
#include "coordinator/rest/search.h"

#include "engine/mapping/java.h"

/* ---- scripts, as this request has them ----------------------------------------------------------------- */

static enum err script_text(const struct json_member *m, struct str *out, struct errmsg *em)
{
    if (m->value.type != JSON_STRING) {
        return err_set(em, ERR_PARSE, "Value must be of type String: [%.*s]", STR_ARG(m->key));
    }
    *out = m->value.s;
    return ERR_OK;
}

static enum err script_object(struct by_query_rq *q, const struct json *v)
{
    struct by_query_spec *s = q->s;
    struct errmsg *em = &q->r->em;
    struct str id = STR_NULL;
    bool lang = false;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (str_is(m->key, "lang")) {
            lang = true;
            e = script_text(m, &s->lang, em);
        } else if (str_is(m->key, "source") || str_is(m->key, "inline")) {
            e = script_text(m, &s->script, em);
        } else if (str_is(m->key, "id") || str_is(m->key, "stored")) {
            e = script_text(m, &id, em);
        } else if (str_is(m->key, "params") || str_is(m->key, "options")) {
            if (m->value.type != JSON_OBJECT) {
                e = err_set(em, ERR_PARSE, "Value must be of type Map: [%.*s]", STR_ARG(m->key));
            } else if (str_is(m->key, "params")) {
                s->params = &m->value;
            }
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    if (s->script.p == NULL && id.p != NULL) {
        return lang ? err_set(em, ERR_ILLEGAL_ARGUMENT, "[lang] cannot be specified for stored scripts")
                    : by_query_stored(q, id);
    }
    return s->script.p != NULL
               ? ERR_OK
               : err_set(em, ERR_PARSE, "Expected one of [source] or [id] fields, but found none");
}

static enum err read_script(struct by_query_rq *q, const struct json *v)
{
    struct by_query_spec *s = q->s;
    if (v == NULL || v->type == JSON_NULL) {
        return ERR_OK;
    }
    s->has_script = true;
    s->lang = STR("painless");
    if (v->type == JSON_STRING) {
        s->script = v->s;
        return ERR_OK;
    }
    return v->type == JSON_OBJECT
               ? script_object(q, v)
               : err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT, "Script value should be a String or a Map");
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static enum err bad_cast(const struct json *v, const char *to, struct errmsg *em)
{
    return err_set(em, ERR_CLASS_CAST, "class %s cannot be cast to class %s", java_class(v), to);
}

static enum err read_options(struct by_query_rq *q, const struct json *body)
{
    const struct json *conflicts = json_get(body, "conflicts"), *max = json_get(body, "max_docs");
    struct errmsg *em = &q->r->em;
    enum err e = ERR_OK;
    if (conflicts != NULL && conflicts->type != JSON_NULL) {
        e = conflicts->type == JSON_STRING ? by_query_conflicts(q->s, conflicts->s, em)
                                           : bad_cast(conflicts, "java.lang.String", em);
    }
    if (e == ERR_OK && max != NULL && max->type != JSON_NULL) {
        int32_t n;
        if (max->type != JSON_NUMBER) {
            return bad_cast(max, "java.lang.Number", em);
        }
        e = jr_int(max, &n, em);
        e = e == ERR_OK ? by_query_max_docs(q->s, n, true, em) : e;
    }
    if (e == ERR_OK && q->s->kind == BY_QUERY_UPDATE) {
        e = read_script(q, json_get(body, "script"));
    }
    return e;
}

static enum err read_body(struct by_query_rq *q)
{
    static const char *const update[] = {"conflicts", "max_docs", "script", NULL};
    static const char *const delete[] = {"conflicts", "max_docs", NULL};
    const struct json *body;
    enum err e = by_query_body(q, &body);
    e = e == ERR_OK ? read_options(q, body) : e;
    return e == ERR_OK ? by_query_search(q, body, q->s->kind == BY_QUERY_UPDATE ? update : delete) : e;
}

/* ---- parameters ---------------------------------------------------------------------------------------- */

static bool put_number(struct by_query_rq *q, struct json *tree, const char *key, int32_t n)
{
    struct json v = {.type = JSON_NUMBER, .s = arena_printf(q->arena, "%d", (int)n)};
    return v.s.p != NULL && json_put(tree, q->arena, str_of(key), v);
}

/* What these requests have beside a search's parameters. */
static enum err own_params(struct by_query_rq *q, struct json *tree)
{
    struct rest *r = q->r;
    struct str conflicts = rest_param(r, "conflicts"), timeout = rest_param(r, "search_timeout");
    int32_t n;
    int64_t ms;
    bool ok = true;
    enum err e = ERR_OK;
    if (q->s->kind == BY_QUERY_UPDATE) {
        struct str pipeline = rest_param(r, "pipeline");
        q->s->pipeline = str_is(pipeline, "_none") ? STR_NULL : pipeline;
    }
    if (conflicts.p != NULL) {
        e = by_query_conflicts(q->s, conflicts, &r->em);
    }
    if (e == ERR_OK && rest_has(r, "size")) {
        e = rest_int(r, "size", -1, &n);
        e = e == ERR_OK && n != -1 ? by_query_max_docs(q->s, n, true, &r->em) : e;
    }
    if (e == ERR_OK && rest_has(r, "scroll_size")) {
        e = rest_int(r, "scroll_size", 0, &n);
        if (e == ERR_OK && n < 0) {
            e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[size] parameter cannot be negative, found [%d]",
                        (int)n);
        }
        ok = e != ERR_OK || put_number(q, tree, "size", n);
    }
    if (e == ERR_OK && timeout.p != NULL) {
        e = rest_time(r, "search_timeout", 0, &ms);
        ok = ok && (e != ERR_OK || json_put(tree, q->arena, STR("timeout"), json_mk_str(timeout)));
    }
    return e == ERR_OK && !ok ? err_no_memory(&r->em) : e;
}

static enum err body_size(struct by_query_rq *q)
{
    const struct json *size = json_get(q->s->search.tree, "size");
    int32_t n;
    if (size != NULL && jr_int(size, &n, &q->r->em) == ERR_OK && n < 0) {
        return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT, "[size] parameter cannot be negative, found [%d]",
                       (int)n);
    }
    return ERR_OK;
}

static void run(struct rest *r, enum by_query_kind kind)
{
    struct by_query_rq q = {.r = r, .wait = true};
    struct json tree = json_mk_object();
    bool changed;
    q.op = by_query_new(&r->env, &q.s, &q.arena);
    if (q.op == NULL) {
        rest_no_memory(r);
        return;
    }
    q.s->kind = kind;
    enum err e = read_body(&q);
    e = e == ERR_OK ? body_size(&q) : e;
    if (e == ERR_OK && !json_copy(&tree, q.s->search.tree, r->arena)) {
        e = err_no_memory(&r->em);
    }
    e = e == ERR_OK ? rest_search_params(r, &q.s->search, &tree, true, &changed) : e;
    e = e == ERR_OK ? own_params(&q, &tree) : e;
    e = e == ERR_OK ? by_query_common(&q) : e;
    e = e == ERR_OK ? by_query_reparse(&q, &tree) : e;
    by_query_go(&q, e);
}

static void update_by_query(struct rest *r)
{
    run(r, BY_QUERY_UPDATE);
}

static void delete_by_query(struct rest *r)
{
    run(r, BY_QUERY_DELETE);
}

const struct route routes_by_query[] = {
    {M_POST, "/{index}/_update_by_query", update_by_query},
    {M_POST, "/{index}/{type}/_update_by_query", update_by_query},
    {M_POST, "/{index}/_delete_by_query", delete_by_query},
    {M_POST, "/{index}/{type}/_delete_by_query", delete_by_query},
};
const size_t routes_by_query_n = ARRAY_LEN(routes_by_query);
