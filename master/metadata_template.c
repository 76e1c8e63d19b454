/* Templates: legacy, composable, and the components those are made of; put and deleted. */
#include "master/template_int.h"

#include "common/base/jsonr.h"

/* ---- put ----------------------------------------------------------------------------------------------- */

/* A value as Java shows its objects: lists and objects may be patterns as well. */
static void put_java_text(struct buf *b, const struct json *v)
{
    bool list = v->type == JSON_ARRAY;
    if (!list && v->type != JSON_OBJECT) {
        buf_str(b, v->type == JSON_NULL ? STR("null") : json_text(v));
        return;
    }
    buf_char(b, list ? '[' : '{');
    for (uint32_t i = 0; i < v->n; i++) {
        buf_z(b, i > 0 ? ", " : "");
        if (!list) {
            buf_str(b, v->members[i].key);
            buf_char(b, '=');
        }
        put_java_text(b, list ? &v->items[i] : &v->members[i].value);
    }
    buf_char(b, list ? ']' : '}');
}

static struct str java_text(const struct json *v, struct arena *a)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_java_text(&b, v);
    struct str text = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return text;
}

static enum err read_patterns(struct template_meta *t, const struct json *v, struct errmsg *em)
{
    const struct str *given = NULL;
    uint32_t n = 0;
    struct arena *a = &t->part.arena;
    if (v != NULL && !jr_strings(v, a, &given, &n)) {
        return err_no_memory(em);
    }
    t->patterns = ARENA_ARRAY(a, struct str, n);
    for (uint32_t i = 0; t->patterns != NULL && i < n; i++) {
        bool text = v == NULL || v->type != JSON_ARRAY || given[i].p != NULL || v->items[i].type == JSON_NULL;
        t->patterns[i] = text ? arena_str(a, given[i]) : java_text(&v->items[i], a);
        if (t->patterns[i].p == NULL) {
            return err_no_memory(em);
        }
        t->n_patterns++;
    }
    return t->patterns != NULL ? ERR_OK : err_no_memory(em);
}

static enum err fill(struct template_meta *t, struct meta_request *rq, struct errmsg *em)
{
    const struct json *body = &rq->body,
                      *order = json_get(body, t->kind == TEMPLATE_LEGACY ? "order" : "priority");
    const struct json *patterns = json_get(body, "index_patterns");
    struct buf out;
    struct jsonw w;
    t->name = arena_str(&t->part.arena, rq->names[0]);
    if (patterns == NULL && t->kind == TEMPLATE_LEGACY) {
        patterns = json_get(body, "template");
    }
    if (order != NULL) {
        (void)jr_long(order, &t->order, NULL);
    }
    enum err e = t->name.p != NULL ? read_patterns(t, patterns, em) : err_no_memory(em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    e = t->kind == TEMPLATE_LEGACY ? template_write_legacy(&w, t, body, rq->type, &rq->arena, em)
                                   : template_write_modern(&w, t, body, &rq->arena, em);
    if (e == ERR_OK) {
        t->body = out.failed ? STR_NULL : arena_str(&t->part.arena, buf_view(&out));
        e = t->body.p != NULL ? ERR_OK : err_no_memory(em);
    }
    buf_fini(&out);
    return e;
}

static enum err check(const struct metadata_env *env, const struct cluster_state *cur,
                      const struct template_meta *t, struct meta_request *rq, struct errmsg *em)
{
    bool there = cluster_template(cur, t->kind, t->name) != NULL;
    if (t->kind == TEMPLATE_LEGACY && t->n_patterns == 0) {
        return err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: 1: index patterns are missing;");
    }
    if (rq->create_only && there) {
        const char *what = t->kind == TEMPLATE_LEGACY       ? "index_template"
                           : t->kind == TEMPLATE_COMPOSABLE ? "index template"
                                                            : "component template";
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s] already exists", what, STR_ARG(t->name));
    }
    if (t->kind == TEMPLATE_COMPOSABLE && t->order < 0) {
        return err_set(em, ERR_ACTION_VALIDATION,
                       "Validation Failed: 1: index template priority must be >= 0;");
    }
    if (t->kind == TEMPLATE_COMPOSABLE && t->n_patterns == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "There must be at least one pattern, zero given");
    }
    enum err e = template_check_name(t->name, em);
    e = e == ERR_OK ? template_check_patterns(t, em) : e;
    if (e == ERR_OK && t->kind == TEMPLATE_COMPOSABLE) {
        e = template_check_components(cur, t, &rq->body, em);
        e = e == ERR_OK ? template_check_rivals(cur, t, em) : e;
    }
    return e == ERR_OK ? template_check_recipe(env, cur, t, &rq->body, rq->type, &rq->arena, em) : e;
}

static bool same_template(const struct template_meta *a, const struct template_meta *b)
{
    return a != NULL && a->order == b->order && str_eq(a->body, b->body);
}

/* The template that META_PUT_TEMPLATE asks for, checked against the state; the caller's. */
static enum err template_check(const struct metadata_env *env, const struct cluster_state *cur,
                               struct meta_request *rq, struct template_meta **out, struct errmsg *em)
{
    *out = NULL;
    if (rq->body.type != JSON_OBJECT) {
        return err_set(em, ERR_PARSE, "a template must be an object");
    }
    enum err e = template_check_shape(&rq->body, rq->text, rq->template_kind, em);
    struct template_meta *t = e == ERR_OK ? template_meta_new() : NULL;
    if (t == NULL) {
        return e == ERR_OK ? err_no_memory(em) : e;
    }
    t->kind = rq->template_kind;
    e = fill(t, rq, em);
    e = e == ERR_OK ? check(env, cur, t, rq, em) : e;
    if (e != ERR_OK) {
        state_part_unref(&t->part);
        return e;
    }
    *out = t;
    return ERR_OK;
}

enum err meta_put_template(const struct metadata_env *env, const struct cluster_state *cur,
                           struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    struct template_meta *t;
    enum err e = template_check(env, cur, rq, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    if ((rq->options & META_DRY_RUN) != 0 || same_template(cluster_template(cur, t->kind, t->name), t)) {
        state_part_unref(&t->part);
        return ERR_OK;
    }
    rq->changed = true;
    return state_put_template(b, t) ? ERR_OK : err_no_memory(em);
}

enum err metadata_with_template(const struct cluster_state *cur, struct str name, const struct json *body,
                                struct str text, struct cluster_state **out, struct errmsg *em)
{
    struct meta_request rq;
    struct template_meta *t;
    struct state_builder b;
    meta_request_init(&rq, META_PUT_TEMPLATE, NULL, NULL);
    rq.template_kind = TEMPLATE_COMPOSABLE;
    rq.names = &name;
    rq.n_names = 1;
    rq.body = *body;
    rq.text = text;
    enum err e = template_check(NULL, cur, &rq, &t, em);
    meta_request_fini(&rq);
    *out = NULL;
    if (e != ERR_OK) {
        return e;
    }
    if (!state_builder_init(&b, cur)) {
        state_part_unref(&t->part);
        return err_no_memory(em);
    }
    if (!state_put_template(&b, t)) {
        state_builder_fini(&b);
        return err_no_memory(em);
    }
    *out = state_builder_seal(&b, cur->state_uuid);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

/* ---- delete -------------------------------------------------------------------------------------------- */

/* Index templates that name a component, separated by commas; n == 0: none. */
static struct str users_of(const struct cluster_state *cur, struct str component, struct arena *arena)
{
    struct str users = STR("");
    for (uint32_t i = 0; i < cur->n_templates; i++) {
        const struct template_meta *t = cur->templates[i];
        struct json body;
        if (t->kind != TEMPLATE_COMPOSABLE
            || json_parse(&body, t->body, arena, &json_limits_default, NULL) != ERR_OK) {
            continue;
        }
        const struct json *parts = json_get(&body, "composed_of");
        for (uint32_t k = 0; json_is(parts, JSON_ARRAY) && k < parts->n; k++) {
            if (str_eq(json_text(&parts->items[k]), component)) {
                users = arena_printf(arena, "%.*s%s%.*s", STR_ARG(users), users.n > 0 ? ", " : "",
                                     STR_ARG(t->name));
                break;
            }
        }
    }
    return users;
}

static enum err delete_matching(const struct cluster_state *cur, struct meta_request *rq, struct str pattern,
                                struct state_builder *b, struct errmsg *em)
{
    bool found = false;
    for (uint32_t i = 0; i < cur->n_templates; i++) {
        const struct template_meta *t = cur->templates[i];
        if (t->kind != rq->template_kind || !str_glob(pattern, t->name)) {
            continue;
        }
        struct str users = t->kind == TEMPLATE_COMPONENT ? users_of(cur, t->name, &rq->arena) : STR("");
        if (users.n > 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "component templates [%.*s] cannot be removed as they are still in use by index "
                           "templates [%.*s]",
                           STR_ARG(t->name), STR_ARG(users));
        }
        found = rq->changed = true;
        state_remove_template(b, t->kind, t->name);
    }
    if (!found && !str_is(pattern, "*")) {
        return err_set(em, ERR_TEMPLATE_MISSING, "index_template [%.*s] missing", STR_ARG(pattern));
    }
    return ERR_OK;
}

enum err meta_delete_template(const struct cluster_state *cur, struct meta_request *rq,
                              struct state_builder *b, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_names; i++) {
        e = delete_matching(cur, rq, rq->names[i], b, em);
    }
    return e;
}
