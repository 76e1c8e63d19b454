/* _reindex: requests into operations. */
#include "coordinator/rest/by_query_params.h"

#include "common/base/jsonr_object.h"
#include "coordinator/ops/get.h"
#include "coordinator/rest/types.h"
#include "engine/index/engine.h"
#include "engine/mapping/java.h"

/* ---- parsers of objects, as Elasticsearch's ObjectParser goes about it --------------------------------- */

static enum err wrong_token(struct by_query_rq *q, const char *parser, const struct json_member *m)
{
    return jr_fail_xc(q->r->body, m->value.off, &q->r->em, "[%s] %.*s doesn't support values of type: %s",
                      parser, STR_ARG(m->key), json_token_name(&m->value));
}

static enum err wrap(struct by_query_rq *q, const char *parser, const struct json_member *m, enum err e)
{
    return e == ERR_OK ? e : jr_wrap_field(q->r->body, m->value.off, parser, m->key, &q->r->em);
}

/* ---- dest ---------------------------------------------------------------------------------------------- */

static enum err set_dest(struct jr_reader *rd, void *to, const char *field, const struct json *value)
{
    struct by_query_spec *s = to;
    const struct str key = str_of(field), v = value->s;
    if (str_is(key, "index")) {
        s->dest = v;
    } else if (str_is(key, "routing")) {
        s->dest_routing = v;
        s->routing = str_is(v, "discard")       ? ROUTING_DISCARD
                     : v.n > 0 && v.p[0] == '=' ? ROUTING_SET
                                                : ROUTING_KEEP;
        if (s->routing == ROUTING_SET) {
            s->dest_routing = str_slice(v, 1, v.n);
        } else if (str_is(v, "keep")) {
            s->dest_routing = STR_NULL;
        }
    } else if (str_is(key, "op_type")) {
        s->dest_create = str_eq_nocase(v, STR("create"));
        if (!s->dest_create && !str_eq_nocase(v, STR("index"))) {
            return err_set(rd->em, ERR_ILLEGAL_ARGUMENT, "opType must be 'create' or 'index', found: [%.*s]",
                           STR_ARG(v));
        }
    } else if (str_is(key, "type")) {
        s->dest_type = v;
    } else if (str_is(key, "pipeline")) {
        s->pipeline = str_is(v, "_none") ? STR_NULL : v;
    } else if (str_is(key, "version_type")) {
        return get_version_type(v, &s->dest_version_type, rd->em);
    }
    return ERR_OK;
}

static enum err read_dest(struct by_query_rq *q, const struct json *dest)
{
    static const struct jr_field fields[] = {{"index", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"type", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"routing", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"op_type", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"pipeline", JR_BY_READER(JR_STRING), JR_SETTER},
                                             {"version_type", JR_BY_READER(JR_STRING), JR_SETTER}};
    static const struct jr_object object = {"dest", fields, ARRAY_LEN(fields), set_dest, NULL};
    struct jr_reader rd = {.text = q->r->body, .arena = q->arena, .em = &q->r->em};
    return jr_read_object(&rd, &object, q->s, dest);
}

/* ---- source -------------------------------------------------------------------------------------------- */

static enum err read_index(struct by_query_rq *q, const struct json *v)
{
    struct buf b;
    if (v == NULL || v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type == JSON_STRING) {
        q->s->search.index = v->s;
        return ERR_OK;
    }
    if (v->type != JSON_ARRAY) {
        struct str text = java_text(v, q->arena);
        return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT,
                       "Expected [index] to be a list or a string but was [%.*s]", STR_ARG(text));
    }
    buf_init(&b, NULL, MIB);
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->items[i].type == JSON_NULL) {
            buf_fini(&b);
            return err_set(&q->r->em, ERR_NULL_POINTER, "index must not be null");
        }
        if (v->items[i].type != JSON_STRING) {
            buf_fini(&b);
            return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT, "[index] has to be a list of texts");
        }
        buf_z(&b, i > 0 ? "," : "");
        java_put_text(&b, &v->items[i]);
    }
    q->s->search.index = b.failed ? STR_NULL : arena_str(q->arena, buf_view(&b));
    buf_fini(&b);
    return q->s->search.index.p != NULL ? ERR_OK : err_no_memory(&q->r->em);
}

/* Documents of other clusters: nothing here may be asked for them. What is wrong with the request is said
 * first. */
static enum err refuse_remote(const struct json *v, struct errmsg *em)
{
    static const char *const known[] = {"host",           "username",        "password", "headers",
                                        "socket_timeout", "connect_timeout", "query"};
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        return err_set(em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map", java_class(v));
    }
    const struct json *host = json_get(v, "host");
    if (host == NULL) {
        return err_set(em, ERR_NULL_POINTER, "[host] must be specified to reindex from a remote cluster");
    }
    for (uint32_t i = 0; i < v->n; i++) {
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_LEN(known); k++) {
            is_known |= str_is(v->members[i].key, known[k]);
        }
        if (!is_known) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unsupported fields in [remote]: [%.*s]",
                           STR_ARG(v->members[i].key));
        }
    }
    struct str text = json_text(host), port;
    size_t scheme = str_find_str(text, STR("://"));
    struct str address = scheme == SIZE_MAX ? text : str_slice(text, scheme + 3, text.n);
    (void)str_cut(address, ':', &port);
    if (scheme == SIZE_MAX || port.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [%.*s]",
                       STR_ARG(text));
    }
    return ERR_OK;
}

static enum err not_whitelisted(struct by_query_rq *q)
{
    struct str text = json_text(json_get(q->remote, "host"));
    size_t scheme = str_find_str(text, STR("://"));
    struct str rest, address = str_cut(str_slice(text, scheme + 3, text.n), '/', &rest);
    return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] not whitelisted in reindex.remote.whitelist",
                   STR_ARG(address));
}

/* The types of a list or of a text, with commas. */
static enum err read_type(struct by_query_rq *q, const struct json *v)
{
    struct buf b;
    struct json own;
    bool changed;
    if (v == NULL) {
        return ERR_OK;
    }
    rest_deprecated(q->r, TYPED_REINDEX);
    buf_init(&b, NULL, MIB);
    bool list = v->type == JSON_ARRAY;
    for (uint32_t i = 0; i < (list ? v->n : 1); i++) {
        buf_z(&b, i > 0 ? "," : "");
        buf_str(&b, json_text(list ? &v->items[i] : v));
    }
    struct str types = b.failed ? STR_NULL : arena_str(q->arena, buf_view(&b));
    buf_fini(&b);
    if (types.p == NULL) {
        return err_no_memory(&q->r->em);
    }
    enum err e = rest_types_limit(q->r->state, types, q->s->search.tree, q->arena, &own, &changed, &q->r->em);
    return e == ERR_OK && changed ? by_query_reparse(q, &own) : e;
}

static enum err read_source(struct by_query_rq *q, const struct json *v)
{
    static const char *const own[] = {"remote", "index", "type", NULL}, *const of_remote[] = {"remote",
                                                                                              "index", "type",
                                                                                              "query", NULL};
    const struct json *remote = json_get(v, "remote");
    q->s->is_remote = json_is(remote, JSON_OBJECT); /* the query is for the other cluster to read */
    enum err e = remote != NULL ? refuse_remote(remote, &q->r->em) : ERR_OK;
    e = e == ERR_OK ? read_index(q, json_get(v, "index")) : e;
    e = e == ERR_OK ? by_query_search(q, v, q->s->is_remote ? of_remote : own) : e;
    return e == ERR_OK ? read_type(q, json_get(v, "type")) : e;
}

/* ---- script -------------------------------------------------------------------------------------------- */

static enum err script_member(struct by_query_rq *q, const struct json_member *m, struct str *id)
{
    static const char *const known[] = {"source", "id",     "lang",   "options",
                                        "params", "inline", "stored", NULL};
    struct by_query_spec *s = q->s;
    bool source = str_is(m->key, "source") || str_is(m->key, "inline"),
         stored = str_is(m->key, "id") || str_is(m->key, "stored");
    bool object = str_is(m->key, "params") || str_is(m->key, "options");
    if (!source && !stored && !object && !str_is(m->key, "lang")) {
        return jr_unknown_field(q->r->body, m->key_off, "script", m->key, known, &q->r->em);
    }
    bool template = source && m->value.type == JSON_OBJECT;
    if (object ? m->value.type != JSON_OBJECT : m->value.type != JSON_STRING && !template) {
        return wrong_token(q, "script", m);
    }
    if (str_is(m->key, "params")) {
        s->params = &m->value;
    } else if (str_is(m->key, "options")
               && m->value.n > (json_get(&m->value, "content_type") != NULL ? 1U : 0U)) {
        return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT, "illegal compiler options [%.*s=...] specified",
                       STR_ARG(m->value.members[0].key));
    } else if (!object) {
        if ((source && id->p != NULL) || (stored && s->script.p != NULL)) {
            err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT,
                    "must only use one of [source, id] when specifying a script");
            return wrap(q, "script", m, ERR_ILLEGAL_ARGUMENT);
        }
        s->script_template = template ? &m->value : s->script_template;
        *(source ? &s->script : stored ? id : &s->lang) = template ? STR("{}") : m->value.s;
    }
    return ERR_OK;
}

static enum err read_script(struct by_query_rq *q, const struct json *v, struct str *id)
{
    q->s->has_script = true;
    q->s->lang = STR("painless");
    for (uint32_t i = 0; i < v->n; i++) {
        enum err e = script_member(q, &v->members[i], id);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->s->script.p == NULL && id->p == NULL) {
        return err_set(&q->r->em, ERR_ILLEGAL_ARGUMENT,
                       "must specify either [source] for an inline script or [id] for a stored script");
    }
    return ERR_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static enum err member(struct by_query_rq *q, const struct json_member *m, struct str *script_id)
{
    static const char *const known[] = {"source", "dest", "size", "max_docs", "script", "conflicts", NULL};
    bool object = str_is(m->key, "source") || str_is(m->key, "dest") || str_is(m->key, "script");
    bool number = str_is(m->key, "size") || str_is(m->key, "max_docs");
    struct errmsg *em = &q->r->em;
    int32_t n;
    if (object && m->value.type != JSON_OBJECT) {
        return wrong_token(q, "reindex", m);
    }
    if (str_is(m->key, "source")) { /* it is read as a whole: its errors are reported behind it */
        uint32_t line, col;
        json_place(q->r->body, m->value.end - 1, &line, &col);
        return read_source(q, &m->value) == ERR_OK
                   ? ERR_OK
                   : err_wrap(em, ERR_X_CONTENT, "[%u:%u] [reindex] failed to parse field [source]", line,
                              col);
    }
    if (str_is(m->key, "dest")) {
        if (json_get(&m->value, "type") != NULL) {
            rest_deprecated(q->r, TYPED_REINDEX);
        }
        return wrap(q, "reindex", m, read_dest(q, &m->value));
    }
    if (str_is(m->key, "script")) {
        return wrap(q, "reindex", m, read_script(q, &m->value, script_id));
    }
    if (number) {
        if (m->value.type != JSON_NUMBER && m->value.type != JSON_STRING) {
            return wrong_token(q, "reindex", m);
        }
        enum err e = jr_int(&m->value, &n, em);
        return wrap(q, "reindex", m, e == ERR_OK ? by_query_max_docs(q->s, n, true, em) : e);
    }
    if (str_is(m->key, "conflicts")) {
        return m->value.type != JSON_STRING ? wrong_token(q, "reindex", m)
                                            : wrap(q, "reindex", m, by_query_conflicts(q->s, m->value.s, em));
    }
    return jr_unknown_field(q->r->body, m->key_off, "reindex", m->key, known, em);
}

static enum err read_body(struct by_query_rq *q)
{
    const struct json *body;
    struct rest *r = q->r;
    struct str script_id = STR_NULL;
    enum err e = by_query_body(q, &body);
    if (e == ERR_OK && body == NULL) {
        return err_set(&r->em, ERR_PARSE, "request body is required");
    }
    if (e == ERR_OK && body->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, body->off, &r->em, "[reindex] Expected START_OBJECT but was: %s",
                          json_token_name(body));
    }
    e = e == ERR_OK ? by_query_search(q, NULL, NULL) : e;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        e = member(q, &body->members[i], &script_id);
    }
    const struct json *remote = e == ERR_OK ? json_path(body, "source.remote") : NULL;
    q->remote = json_is(remote, JSON_OBJECT) ? remote : NULL;
    q->refuse_remote = not_whitelisted;
    if (e == ERR_OK && script_id.p != NULL) {
        return by_query_stored(q, script_id);
    }
    return e;
}

static void reindex(struct rest *r)
{
    struct by_query_rq q = {.r = r, .wait = true};
    q.op = by_query_new(&r->env, &q.s, &q.arena);
    if (q.op == NULL) {
        rest_no_memory(r);
        return;
    }
    q.s->kind = BY_QUERY_REINDEX;
    enum err e = ERR_OK;
    if (rest_has(r, "pipeline")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "_reindex doesn't support [pipeline] as a query parameter. Specify it in the [dest] "
                    "object instead.");
    }
    e = e == ERR_OK ? read_body(&q) : e;
    e = e == ERR_OK ? rest_time(r, "scroll", BY_QUERY_SCROLL_MS, &q.s->search.scroll_ms) : e;
    e = e == ERR_OK ? rest_bool(r, "require_alias", false, &q.s->require_alias) : e;
    e = e == ERR_OK ? by_query_common(&q) : e;
    by_query_go(&q, e);
}

const struct route routes_reindex[] = {
    {M_POST, "/_reindex", reindex},
};
const size_t routes_reindex_n = ARRAY_LEN(routes_reindex);
