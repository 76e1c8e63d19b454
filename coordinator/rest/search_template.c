/* _search/template and _render/template. */
#include "coordinator/rest/search_template.h"

#include "common/base/memory_account.h"
#include "common/base/stop.h"
#include "coordinator/rest/search_int.h"
#include "coordinator/rest/types.h"
#include "engine/script/contexts.h"
#include "engine/template/template.h"

#define PARSER "search_template"

/* ---- the request ---------------------------------------------------------------------------------------- */

static enum err read_flag(const struct json_member *m, struct str text, bool *out, struct errmsg *em)
{
    enum err e = jr_expect(text, PARSER, m, JR_BOOL | JR_STRING, em);
    if (e != ERR_OK) {
        return e;
    }
    return jr_bool(&m->value, out, em) == ERR_OK ? ERR_OK
                                                 : jr_wrap_field(text, m->value.off, PARSER, m->key, em);
}

static enum err read_source(struct template_request *q, const struct json_member *m, struct str text,
                            struct arena *arena, struct errmsg *em)
{
    enum err e = jr_expect(text, PARSER, m, JR_STRING | JR_OBJECT, em);
    if (e != ERR_OK) {
        return e;
    }
    q->stored = false;
    q->script = m->value.type == JSON_STRING ? m->value.s : template_text(&m->value, arena);
    return q->script.p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err read_member(struct template_request *q, const struct json_member *m, struct str text,
                            struct arena *arena, struct errmsg *em)
{
    static const char *const known[] = {"params", "id",     "explain",  "profile",
                                        "source", "inline", "template", NULL};
    enum err e;
    if (str_is(m->key, "params")) {
        e = jr_expect(text, PARSER, m, JR_OBJECT, em);
        q->params = &m->value;
        return e;
    }
    if (str_is(m->key, "id")) {
        e = jr_expect(text, PARSER, m, JR_STRING, em);
        q->stored = true;
        q->script = e == ERR_OK ? m->value.s : q->script;
        return e;
    }
    if (str_is(m->key, "explain") || str_is(m->key, "profile")) {
        return read_flag(m, text, str_is(m->key, "explain") ? &q->explain : &q->profile, em);
    }
    return str_is(m->key, "source") || str_is(m->key, "inline") || str_is(m->key, "template")
               ? read_source(q, m, text, arena, em)
               : jr_unknown_field(text, m->key_off, PARSER, m->key, known, em);
}

enum err template_request_read(struct template_request *out, const struct json *body, struct str text,
                               struct arena *arena, struct errmsg *em)
{
    *out = (struct template_request){.script = STR_NULL};
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(text, body->off, em, "[" PARSER "] Expected START_OBJECT but was: %s",
                          json_token_name(body));
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        e = read_member(out, &body->members[i], text, arena, em);
    }
    return e;
}

/* ---- the text ------------------------------------------------------------------------------------------- */

/* Languages that a stored script may have, and no template. */
static enum err other_language(const struct script_meta *m, struct errmsg *em)
{
    if (script_lang(m->lang) == LANG_EXPRESSION) {
        struct script *s;
        enum err e = script_compile(&s, &(struct script_text){m->source, m->lang, m->id}, SCRIPT_SCORE, em);
        if (e != ERR_OK) {
            return e;
        }
        script_unref(s);
        err_set(em, ERR_ILLEGAL_ARGUMENT,
                "expression engine does not know how to handle script context [template]");
    } else {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "templates in [%.*s] are not offered here", STR_ARG(m->lang));
    }
    return err_wrap(em, ERR_GENERAL_SCRIPT, "Failed to compile stored script [%.*s] using lang [%.*s]",
                    STR_ARG(m->id), STR_ARG(m->lang));
}

static enum err find_source(const struct template_request *q, const struct cluster_state *state,
                            struct template_source *out, struct errmsg *em)
{
    *out = (struct template_source){.text = {q->script, STR("mustache"), STR_NULL}};
    if (!q->stored) {
        return script_check_size(&out->text, em);
    }
    const struct script_meta *m = cluster_script(state, q->script);
    if (m == NULL) {
        return err_set(em, ERR_RESOURCE_NOT_FOUND, "unable to find script [%.*s] in cluster state",
                       STR_ARG(q->script));
    }
    *out = (struct template_source){.text = {m->source, m->lang, m->id}, .content_type = m->content_type};
    return script_lang(m->lang) == LANG_MUSTACHE ? ERR_OK : other_language(m, em);
}

enum err template_request_render(const struct template_request *q, const struct cluster_state *state,
                                 struct arena *arena, struct str *out, struct errmsg *em)
{
    struct template_source source;
    struct template *t;
    struct buf b;
    enum err e = find_source(q, state, &source, em);
    e = e == ERR_OK ? template_compile(&t, &source, arena, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    memory_request_buf(&b);
    e = template_render(t, q->params, &b, arena, em);
    *out = e == ERR_OK ? arena_str(arena, buf_view(&b)) : STR_NULL;
    buf_fini(&b);
    return e == ERR_OK && out->p == NULL ? err_no_memory(em) : e;
}

/* ---- the search ----------------------------------------------------------------------------------------- */

static bool says(const struct json *tree, const char *key, bool flag)
{
    const struct json *v = json_get(tree, key);
    return flag ? json_is(v, JSON_BOOL) && v->b : v == NULL;
}

/* What the request says of these two holds, whatever the text says. */
static enum err set_flags(const struct template_request *q, struct arena *arena, struct search_opts *o,
                          struct errmsg *em)
{
    struct json own, *tree = ARENA_NEW(arena, struct json);
    struct buf b;
    struct jsonw w;
    if (says(o->tree, "explain", q->explain) && says(o->tree, "profile", q->profile)) {
        return ERR_OK;
    }
    if (tree == NULL || !json_copy(&own, o->tree, arena)
        || !json_put(&own, arena, STR("explain"), json_mk_bool(q->explain))
        || !json_put(&own, arena, STR("profile"), json_mk_bool(q->profile))) {
        return err_no_memory(em);
    }
    jsonw_start(&w, &b);
    jw_value(&w, &own);
    o->body = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
    buf_fini(&b);
    o->tree = tree;
    return o->body.p == NULL ? err_no_memory(em) : json_parse(tree, o->body, arena, &json_limits_default, em);
}

/* The text's tree, checked. */
static enum err read_search(const struct template_request *q, const struct cluster_state *state,
                            struct arena *arena, struct search_opts *o, struct errmsg *em)
{
    struct json *tree = ARENA_NEW(arena, struct json);
    struct search_source probe;
    o->tree = tree;
    enum err e = tree != NULL ? template_request_render(q, state, arena, &o->body, em) : err_no_memory(em);
    if (e == ERR_OK && str_trim(o->body).n == 0) {
        return err_set_at(em, ERR_PARSING, 1, 0, "Expected [START_OBJECT] but found [null]");
    }
    e = e == ERR_OK ? json_parse_first(tree, o->body, arena, &json_limits_default, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (tree->type != JSON_OBJECT && tree->type != JSON_ARRAY && tree->end < o->body.n
        && (unsigned char)o->body.p[tree->end] > ' ') { /* "1a" is no number with something behind it */
        e = json_parse(tree, o->body, arena, &json_limits_default, em);
    }
    if (e == ERR_OK && tree->type != JSON_OBJECT) {
        e = jr_fail(o->body, tree->off, em, "Expected [START_OBJECT] but found [%s]", json_token_name(tree));
    }
    if (e != ERR_OK) {
        return e;
    }
    o->body.n = tree->end;
    search_source_init(&probe);
    return search_source_parse(&probe, tree, o->body, arena, em);
}

enum err template_request_search(const struct template_request *q, const struct cluster_state *state,
                                 struct arena *arena, struct search_opts *o, struct errmsg *em)
{
    enum err e = read_search(q, state, arena, o, em);
    return e == ERR_OK ? set_flags(q, arena, o, em) : e;
}

/* ---- templates of a request's own ----------------------------------------------------------------------- */

static enum err read_form(const struct json *form, struct template_request *out, struct arena *arena,
                          struct errmsg *em)
{
    const struct json *id = json_get(form, "id"), *lang = json_get(form, "lang"),
                      *source = json_get(form, "source");
    source = source != NULL ? source : json_get(form, "inline");
    id = id != NULL ? id : json_get(form, "stored");
    *out = (struct template_request){.stored = id != NULL, .script = json_text(id)};
    if (id != NULL) {
        return ERR_OK;
    }
    if (lang != NULL && !str_is(json_text(lang), "mustache")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "templates in [%.*s] are not offered here",
                       STR_ARG(json_text(lang)));
    }
    if (source == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "must specify either [source] for an inline script or [id] for a stored script");
    }
    out->script = source->type == JSON_OBJECT ? template_text(source, arena) : json_text(source);
    return out->script.p != NULL ? ERR_OK : err_no_memory(em);
}

enum err named_templates_check(const struct named_template *v, uint32_t n, const struct cluster_state *state,
                               struct arena *arena, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct template_request q;
        struct template_source source;
        struct template *t;
        e = read_form(v[i].script, &q, arena, em);
        e = e == ERR_OK ? find_source(&q, state, &source, em) : e;
        e = e == ERR_OK ? template_compile(&t, &source, arena, em) : e;
    }
    return e;
}

enum err named_template_body(const struct named_template *v, uint32_t n, struct str id,
                             const struct json *params, struct rest *r, const struct json **out)
{
    struct template_request q;
    struct search_opts o = {0};
    struct stop st = {.asked = op_client_gone, .self = r->http};
    uint32_t i = n;
    while (i > 0 && !str_eq(v[i - 1].id, id)) { /* of several by one id the last one counts */
        i--;
    }
    enum err e = i > 0 ? read_form(v[i - 1].script, &q, r->arena, &r->em)
                       : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "there is no template [%.*s]", STR_ARG(id));
    if (e != ERR_OK) {
        return e;
    }
    q.params = params;
    stop_enter(&st);
    e = read_search(&q, r->state, r->arena, &o, &r->em);
    stop_leave(&st);
    *out = o.tree;
    return e;
}

/* ---- handlers ------------------------------------------------------------------------------------------- */

static enum err read_request(struct rest *r, struct template_request *q)
{
    const struct json *body;
    enum err e = rest_body(r, &body);
    if (e == ERR_OK && body == NULL) {
        e = err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    return e == ERR_OK ? template_request_read(q, body, r->body, r->arena, &r->em) : e;
}

/* Is there a template at all? */
static enum err check_given(struct rest *r, const struct template_request *q)
{
    return q->script.n > 0
               ? ERR_OK
               : err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: %s",
                         q->script.p != NULL ? "1: template is missing;" : TEMPLATE_TWICE_MISSING);
}

static void searched(struct search_call *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    int status;
    jsonw_start(&w, &b);
    search_write(c, &w, &status);
    r->unfiltered = status >= 400;
    search_free(c);
    rest_send(r, status, &b);
}

static enum err respect_type(struct rest *r, struct search_opts *o)
{
    struct json own;
    bool changed;
    enum err e =
        rest_types_limit(r->state, rest_type(r, TYPED_SEARCH), o->tree, r->arena, &own, &changed, &r->em);
    return e == ERR_OK && changed ? rest_search_body(r, &own, o) : e;
}

static enum err make_search(struct rest *r, const struct template_request *q, struct search_opts *o)
{
    struct stop st = {.asked = op_client_gone, .self = r->http};
    enum err e = check_given(r, q);
    stop_enter(&st);
    e = e == ERR_OK ? template_request_search(q, r->state, r->arena, o, &r->em) : e;
    stop_leave(&st);
    return e == ERR_OK ? respect_type(r, o) : e;
}

static void search_template(struct rest *r)
{
    struct template_request q;
    struct json unused = json_mk_object(); /* what the URL says of a body: the template's takes its place */
    bool changed;
    struct search_call *c = search_new(&r->env);
    enum err e = c != NULL ? rest_search_params(r, &c->o, &unused, false, &changed) : err_no_memory(&r->em);
    e = e == ERR_OK ? read_request(r, &q) : e;
    if (e == ERR_OK && q.profile) {
        rest_idle(r, "profile");
    }
    if (e == ERR_OK && !rest_ready(r)) {
        search_free(c);
        return;
    }
    e = e == ERR_OK ? make_search(r, &q, &c->o) : e;
    if (e != ERR_OK) {
        if (c != NULL) {
            search_free(c);
        }
        rest_fail(r, NULL);
        return;
    }
    c->done = searched;
    c->o.here = true;
    search_run(c);
}

static enum err render_text(struct rest *r, const struct template_request *q, struct str *out)
{
    struct stop st = {.asked = op_client_gone, .self = r->http};
    enum err e = check_given(r, q);
    stop_enter(&st);
    e = e == ERR_OK ? template_request_render(q, r->state, r->arena, out, &r->em) : e;
    stop_leave(&st);
    return e;
}

static void render_template(struct rest *r)
{
    struct template_request q;
    struct str id = rest_param(r, "id"), text;
    struct buf b;
    struct jsonw w;
    enum err e = read_request(r, &q);
    if (id.p != NULL) {
        q.stored = true;
        q.script = id;
    }
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? render_text(r, &q, &text) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    memory_request_buf(&b);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_k(&w, "template_output");
    jw_raw(&w, text);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

const struct route routes_search_template[] = {
    {M_GET | M_POST, "/_search/template", search_template},
    {M_GET | M_POST, "/{index}/_search/template", search_template},
    {M_GET | M_POST, "/{index}/{type}/_search/template", search_template},
    {M_GET | M_POST, "/_render/template", render_template},
    {M_GET | M_POST, "/_render/template/{id}", render_template},
};
const size_t routes_search_template_n = ARRAY_LEN(routes_search_template);
