/* _scripts: what the cluster stores under an id. */
#include "coordinator/rest/stored_script.h"

#include "coordinator/rest/meta.h"
#include "engine/mapping/java.h"
#include "engine/script/contexts.h"
#include "engine/template/template.h"

#define PARSER "stored script source"

void stored_script_write(struct jsonw *w, const struct script_meta *m)
{
    jw_obj(w);
    jw_kstr(w, "lang", m->lang);
    jw_kstr(w, "source", m->source);
    if (m->content_type.p != NULL) {
        jw_kobj(w, "options");
        jw_kstr(w, "content_type", m->content_type);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* ---- the body ------------------------------------------------------------------------------------------ */

static enum err read_options(struct rest *r, const struct json *v, struct script_meta *m)
{
    const struct json *type = json_get(v, "content_type");
    if (v->n > (type != NULL ? 1U : 0U)) {
        const struct json ordered = java_ordered(v, r->arena);
        struct str text = java_text(&ordered, r->arena);
        return text.p == NULL ? err_no_memory(&r->em)
                              : err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                                        "illegal compiler options [%.*s] specified", STR_ARG(text));
    }
    m->content_type = type != NULL ? json_text(type) : m->content_type;
    return ERR_OK;
}

/* A source that is an object is the template of a body. */
static enum err object_source(struct rest *r, const struct json *v, struct script_meta *m)
{
    m->source = template_text(v, r->arena);
    if (m->content_type.p == NULL) {
        m->content_type = STR(TEMPLATE_JSON);
    }
    return m->source.p != NULL ? ERR_OK : err_no_memory(&r->em);
}

static enum err read_member(struct rest *r, const struct json_member *m, struct script_meta *out)
{
    enum err e = ERR_OK;
    if (str_is(m->key, "lang")) {
        e = jr_expect(r->body, PARSER, m, JR_STRING, &r->em);
        out->lang = e == ERR_OK ? m->value.s : out->lang;
    } else if (str_is(m->key, "source") || str_is(m->key, "code")) {
        e = jr_expect(r->body, PARSER, m, JR_STRING | JR_OBJECT, &r->em);
        if (e == ERR_OK && m->value.type == JSON_OBJECT) {
            return object_source(r, &m->value, out);
        }
        out->source = e == ERR_OK ? m->value.s : out->source;
    } else if (str_is(m->key, "options")) {
        e = jr_expect(r->body, PARSER, m, JR_OBJECT, &r->em);
    }
    return e;
}

/* Members of other names are not looked at, as in Elasticsearch. */
static enum err read_script(struct rest *r, const struct json *v, struct script_meta *out)
{
    const struct json *options = json_get(v, "options");
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = read_member(r, &v->members[i], out);
    }
    if (e != ERR_OK) {
        return e;
    }
    bool template = out->lang.p != NULL && str_is(out->lang, "mustache");
    const char *wrong = out->lang.p == NULL               ? "must specify lang for stored script"
                        : out->lang.n == 0                ? "lang cannot be empty"
                        : out->source.p == NULL           ? "must specify source for stored script"
                        : out->source.n == 0 && !template ? "source cannot be empty"
                                                          : NULL;
    return wrong != NULL     ? err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", wrong)
           : options != NULL ? read_options(r, options, out)
                             : ERR_OK;
}

static enum err read_body(struct rest *r, struct script_meta *out)
{
    const struct json *body;
    enum err e = rest_body(r, &body);
    if (e != ERR_OK || body == NULL) {
        return e != ERR_OK ? e : err_set(&r->em, ERR_PARSE, "request body is required");
    }
    if (body->type != JSON_OBJECT) {
        return jr_fail(r->body, body->off, &r->em, "unexpected token [%s], expected [{]",
                       json_token_name(body));
    }
    if (body->n == 0) { /* a template of nothing */
        *out = (struct script_meta){.lang = STR("mustache"), .source = STR("")};
        return ERR_OK;
    }
    const struct json_member *m = &body->members[0];
    if (!str_is(m->key, "script")) {
        return jr_fail(r->body, m->key_off, &r->em, "unexpected field [%.*s], expected [script]",
                       STR_ARG(m->key));
    }
    if (m->value.type != JSON_OBJECT) {
        return jr_fail(r->body, m->value.off, &r->em, "unexpected token [%s], expected [{, <source>]",
                       json_token_name(&m->value));
    }
    return read_script(r, &m->value, out);
}

/* ---- put ----------------------------------------------------------------------------------------------- */

/* A template compiles for the contexts of templates. */
static enum err check_template(struct rest *r, const struct script_meta *m, struct str context)
{
    struct template *t;
    const struct template_source source = {.text = {m->source, m->lang, STR_NULL}};
    for (size_t i = 0; i < script_purposes_n; i++) {
        if (!str_is(context, script_purposes[i].name)) {
            continue;
        }
        return (script_purposes[i].langs & LANG_MUSTACHE) != 0
                   ? template_compile(&t, &source, r->arena, &r->em)
                   : err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                             "mustache engine does not know how to handle context [%.*s]", STR_ARG(context));
    }
    return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Unknown context [%.*s]", STR_ARG(context));
}

static enum err check_context(struct rest *r, const struct script_meta *m, struct str context)
{
    const struct script_text t = {m->source, m->lang, STR_NULL};
    return script_lang(m->lang) == LANG_MUSTACHE ? check_template(r, m, context)
                                                 : script_context_check(&t, context, &r->em);
}

static enum err check_stored(struct rest *r, const struct script_meta *m, struct str context)
{
    int64_t most = cluster_setting_i64(r->state, SET_SCRIPT_MAX_SIZE_IN_BYTES);
    if (str_find(m->id, '#', 0) != SIZE_MAX) {
        return err_set(&r->em, ERR_ACTION_VALIDATION,
                       "Validation Failed: 1: id cannot contain '#' for stored script;");
    }
    if (r->body.n > (size_t)most) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "exceeded max allowed stored script size in bytes [%lld] with size [%zu] for script "
                       "[%.*s]",
                       (long long)most, r->body.n, STR_ARG(m->id));
    }
    if (script_lang(m->lang) == 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "unable to put stored script with unsupported lang [%.*s]", STR_ARG(m->lang));
    }
    if (context.p == NULL) {
        return ERR_OK;
    }
    enum err e = check_context(r, m, context);
    return e == ERR_OK || e == ERR_SCRIPT || e == ERR_NO_MEMORY
               ? e
               : err_wrap(&r->em, ERR_ILLEGAL_ARGUMENT, "failed to parse/compile stored script [%.*s]",
                          STR_ARG(m->id));
}

static bool put_text(struct meta_request *rq, const char *key, struct str s)
{
    struct str copy = arena_str(&rq->arena, s);
    return copy.p != NULL && json_put(&rq->body, &rq->arena, str_of(key), json_mk_str(copy));
}

static void send_script(struct rest *r, const struct script_meta *m, int64_t timeout_ms)
{
    struct meta_request *rq = rest_meta(r, META_PUT_SCRIPT, &m->id, 1);
    if (rq == NULL) {
        return;
    }
    rq->timeout_ms = timeout_ms;
    rq->body = json_mk_object();
    if (!put_text(rq, "lang", m->lang) || !put_text(rq, "source", m->source)
        || (m->content_type.p != NULL && !put_text(rq, "content_type", m->content_type))) {
        rest_meta_free(rq);
        rest_no_memory(r);
        return;
    }
    rest_meta_acknowledge(r, rq);
}

static void put_script(struct rest *r)
{
    struct script_meta m = {0};
    int64_t timeout_ms = MASTER_TIMEOUT_MS;
    struct str id = rest_param(r, "id"), context = rest_param(r, "context");
    enum err e = read_body(r, &m);
    m.id = id;
    e = e == ERR_OK ? rest_meta_timeouts(r, &timeout_ms) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? check_stored(r, &m, context) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        send_script(r, &m, timeout_ms);
    }
}

/* ---- get, delete --------------------------------------------------------------------------------------- */

static void get_script(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    struct str id = rest_param(r, "id");
    if (!rest_reads_state(r, rest_check_time(r, "master_timeout"))) {
        return;
    }
    const struct script_meta *m = cluster_script(r->state, id);
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kstr(&w, "_id", id);
    jw_kbool(&w, "found", m != NULL);
    if (m != NULL) {
        jw_k(&w, "script");
        stored_script_write(&w, m);
    }
    jw_obj_end(&w);
    rest_send(r, m != NULL ? 200 : 404, &b);
}

static void delete_script(struct rest *r)
{
    int64_t timeout_ms;
    struct str id = rest_param(r, "id");
    if (rest_meta_timeouts(r, &timeout_ms) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_DELETE_SCRIPT, &id, 1) : NULL;
    if (rq != NULL) {
        rq->timeout_ms = timeout_ms;
        rest_meta_acknowledge(r, rq);
    }
}

/* ---- what there is ------------------------------------------------------------------------------------- */

static void write_languages(struct jsonw *w)
{
    const char *name;
    jw_karr(w, "types_allowed");
    jw_z(w, "inline");
    jw_z(w, "stored");
    jw_arr_end(w);
    jw_karr(w, "language_contexts");
    for (unsigned i = 0; (name = script_lang_name(i)) != NULL; i++) {
        jw_obj(w);
        jw_kz(w, "language", name);
        jw_karr(w, "contexts");
        for (size_t k = 0; k < script_purposes_n; k++) {
            if ((script_purposes[k].langs & script_lang(str_of(name))) != 0) {
                jw_z(w, script_purposes[k].name);
            }
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* "type name, type name" */
static void write_params(struct jsonw *w, struct str params)
{
    jw_karr(w, "params");
    while (params.n > 0) {
        struct str one = str_trim(str_cut(params, ',', &params)), name;
        struct str type = str_cut(one, ' ', &name);
        jw_obj(w);
        jw_kstr(w, "type", type);
        jw_kstr(w, "name", name);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* "type name(params)" */
static void write_method(struct jsonw *w, struct str method)
{
    struct str params, name, type = str_cut(str_cut(method, '(', &params), ' ', &name);
    jw_obj(w);
    jw_kstr(w, "name", name);
    jw_kstr(w, "return_type", type);
    write_params(w, str_slice(params, 0, params.n - 1));
    jw_obj_end(w);
}

static void write_contexts(struct jsonw *w)
{
    jw_karr(w, "contexts");
    for (size_t i = 0; i < script_purposes_n; i++) {
        struct str rest = str_of(script_purposes[i].methods);
        jw_obj(w);
        jw_kz(w, "name", script_purposes[i].name);
        jw_karr(w, "methods");
        while (rest.n > 0) {
            write_method(w, str_cut(rest, ';', &rest));
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void send_list(struct rest *r, void (*write)(struct jsonw *w))
{
    struct buf b;
    struct jsonw w;
    if (!rest_ready(r)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    write(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void get_languages(struct rest *r)
{
    send_list(r, write_languages);
}

static void get_contexts(struct rest *r)
{
    send_list(r, write_contexts);
}

const struct route routes_stored_script[] = {
    {M_GET, "/_scripts/{id}", get_script},
    {M_PUT | M_POST, "/_scripts/{id}", put_script},
    {M_PUT | M_POST, "/_scripts/{id}/{context}", put_script},
    {M_DELETE, "/_scripts/{id}", delete_script},
    {M_GET, "/_script_language", get_languages},
    {M_GET, "/_script_context", get_contexts},
};
const size_t routes_stored_script_n = ARRAY_LEN(routes_stored_script);
