/* Templates: legacy ones, composable ones, and components. */
#include "coordinator/rest/meta.h"
#include "coordinator/rest/types.h"
#include "engine/mapping/java.h"

static const char *names_of(enum template_kind kind)
{
    return kind == TEMPLATE_COMPOSABLE ? "index template" : "component template";
}

/* ---- put, delete --------------------------------------------------------------------------------------- */

static enum err refuse_several(struct rest *r, const struct json *mappings)
{
    struct buf names;
    buf_init(&names, NULL, 16 * KIB);
    for (uint32_t i = 0; i < mappings->n; i++) {
        buf_printf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(mappings->members[i].key));
    }
    enum err e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Cannot put multiple mappings: [%.*s]",
                         STR_ARG(buf_view(&names)));
    buf_fini(&names);
    return e;
}

/* A legacy template's mapping stands under a type's name where that is announced: *inner is what stands there, NULL: the mapping is
 * as it is given. */
static enum err take_type(struct rest *r, const struct json *body, struct str *type,
                          const struct json **inner)
{
    const struct json *m = json_get(body, "mappings");
    bool typed = false;
    enum err e = rest_type_named(r, NAMED_IN_PUT_TEMPLATE, &typed);
    bool given = json_is(m, JSON_OBJECT) && m->n > 0;
    *inner = NULL;
    if (e != ERR_OK || !given) {
        return e;
    }
    bool single = m->n == 1 && m->members[0].value.type == JSON_OBJECT;
    if (!typed && single && str_is(m->members[0].key, "_doc")) {
        return err_set(
            &r->em, ERR_ILLEGAL_ARGUMENT,
            "The mapping definition cannot be nested under a type [_doc] unless include_type_name is set to "
            "true.");
    }
    if (typed && m->n > 1) {
        return refuse_several(r, m);
    }
    if (typed && !single) {
        return err_set(
            &r->em, ERR_ILLEGAL_ARGUMENT,
            "Malformed [mappings] section for type [%.*s], should include an inner object describing "
            "the mapping",
            STR_ARG(m->members[0].key));
    }
    if (typed) {
        *type = str_is(m->members[0].key, "_doc") ? STR("") : m->members[0].key;
        *inner = &m->members[0].value;
    }
    return ERR_OK;
}

/* A legacy template's order: a whole number, or the text of one. */
static enum err check_order(struct rest *r, const struct json *body)
{
    const struct json *v = json_get(body, "order");
    int32_t n;
    if (v == NULL || v->type == JSON_NULL) {
        return ERR_OK;
    }
    return java_int(v, &n, r->arena, &r->em);
}

static void put(struct rest *r, enum template_kind kind)
{
    const struct json *body;
    int64_t timeout_ms;
    bool create;
    struct str name = rest_param(r, "name");
    struct str order = STR_NULL, type = STR("");
    const struct json *inner = NULL;
    enum err e = rest_bool(r, "create", false, &create);
    if (kind == TEMPLATE_LEGACY) {
        order = rest_param(r, "order");
        e = e == ERR_OK ? rest_check_int(r, "order") : e;
    }
    e = e == ERR_OK ? rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &timeout_ms) : e;
    rest_accept(r, "cause"); /* of the change, for those who look at the queue meanwhile */
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    if ((e == ERR_JSON || e == ERR_JSON_EOF) && kind == TEMPLATE_LEGACY) {
        e = err_wrap(&r->em, ERR_PARSE, "Failed to parse content to map");
    } else if ((e == ERR_JSON || e == ERR_JSON_EOF) && kind == TEMPLATE_COMPONENT) {
        e = err_wrap(&r->em, ERR_X_CONTENT, "[1:1] [component_template] failed to parse object");
    }
    e = e == ERR_OK && kind == TEMPLATE_LEGACY ? take_type(r, body, &type, &inner) : e;
    e = e == ERR_OK && kind == TEMPLATE_LEGACY ? check_order(r, body) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_PUT_TEMPLATE, &name, 1) : NULL;
    if (rq == NULL) {
        return;
    }
    rq->body = *body;
    rq->type = type;
    rq->text = r->body;
    rq->template_kind = kind;
    rq->create_only = create;
    rq->timeout_ms = timeout_ms;
    bool ok = inner == NULL || json_put(&rq->body, &rq->arena, STR("mappings"), *inner);
    if (!ok
        || (order.p != NULL && kind == TEMPLATE_LEGACY && rq->body.type == JSON_OBJECT
            && json_get(body, "order") == NULL
            && !json_put(&rq->body, &rq->arena, STR("order"),
                         (struct json){.type = JSON_NUMBER, .s = order}))) {
        rest_meta_free(rq);
        rest_no_memory(r);
        return;
    }
    rest_meta_acknowledge(r, rq);
}

static void put_legacy(struct rest *r)
{
    put(r, TEMPLATE_LEGACY);
}

static void put_composable(struct rest *r)
{
    put(r, TEMPLATE_COMPOSABLE);
}

static void put_component(struct rest *r)
{
    put(r, TEMPLATE_COMPONENT);
}

static void delete (struct rest *r, enum template_kind kind)
{
    int64_t timeout_ms;
    struct str name = rest_param(r, "name");
    if (rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &timeout_ms) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_DELETE_TEMPLATE, &name, 1) : NULL;
    if (rq != NULL) {
        rq->template_kind = kind;
        rq->timeout_ms = timeout_ms;
        rest_meta_acknowledge(r, rq);
    }
}

static void delete_legacy(struct rest *r)
{
    delete (r, TEMPLATE_LEGACY);
}

static void delete_composable(struct rest *r)
{
    delete (r, TEMPLATE_COMPOSABLE);
}

static void delete_component(struct rest *r)
{
    delete (r, TEMPLATE_COMPONENT);
}

/* ---- get ----------------------------------------------------------------------------------------------- */

/* How templates are shown. */
struct template_format {
    bool flat, typed; /* settings; mappings below the name of their type */
};

/* The mapping with its type around it, or without. */
static enum err show_type(struct rest *r, struct json *body, bool typed)
{
    const struct json *given = json_get(body, "mappings");
    struct json outer = json_mk_object();
    struct str type;
    const struct json *inner = mapping_untyped(given, &type);
    if (!json_is(given, JSON_OBJECT) || given->n == 0 || (typed && inner != given)) {
        return ERR_OK;
    }
    bool ok = !typed || json_put(&outer, r->arena, STR("_doc"), *given);
    return ok && json_put(body, r->arena, STR("mappings"), typed ? outer : *inner) ? ERR_OK
                                                                                   : err_no_memory(&r->em);
}

/* A template's body; its settings flat where asked for. */
static enum err write_body(struct rest *r, const struct template_meta *t, struct template_format how,
                           struct jsonw *w)
{
    struct json body;
    struct settings s;
    if (t->kind != TEMPLATE_LEGACY) { /* others are always shown nested */
        jw_raw(w, t->body);
        return ERR_OK;
    }
    enum err e = json_parse(&body, t->body, r->arena, &json_limits_default, &r->em);
    const struct json *given = e == ERR_OK && how.flat ? json_get(&body, "settings") : NULL;
    settings_init(&s, r->arena);
    if (given != NULL) {
        e = settings_from_json(&s, given, STR(""), &r->em);
        struct json out = json_mk_object();
        for (size_t i = 0; e == ERR_OK && i < s.n; i++) {
            struct json v = json_mk_str(s.v[i].value);
            if (s.v[i].is_list) {
                v = (struct json){
                    .type = JSON_ARRAY, .n = s.v[i].n, .items = ARENA_ARRAY(r->arena, struct json, s.v[i].n)};
                for (uint32_t k = 0; v.items != NULL && k < v.n; k++) {
                    v.items[k] = json_mk_str(s.v[i].items[k]);
                }
            }
            e = (v.type != JSON_ARRAY || v.items != NULL) && json_put(&out, r->arena, s.v[i].key, v)
                    ? ERR_OK
                    : err_no_memory(&r->em);
        }
        e = e == ERR_OK && !json_put(&body, r->arena, STR("settings"), out) ? err_no_memory(&r->em) : e;
    }
    e = e == ERR_OK ? show_type(r, &body, how.typed) : e;
    if (e == ERR_OK) {
        jw_value(w, &body);
    }
    return e;
}

static bool named(const struct str *names, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_glob(names[i], name)) {
            return true;
        }
    }
    return n == 0;
}

static enum err write_one(struct rest *r, const struct template_meta *t, struct template_format how,
                          struct jsonw *w)
{
    if (t->kind == TEMPLATE_LEGACY) {
        jw_key(w, t->name);
        return write_body(r, t, how, w);
    }
    jw_obj(w);
    jw_kstr(w, "name", t->name);
    jw_k(w, t->kind == TEMPLATE_COMPOSABLE ? "index_template" : "component_template");
    enum err e = write_body(r, t, how, w);
    jw_obj_end(w);
    return e;
}

static enum err write_all(struct rest *r, enum template_kind kind, const struct str *names, uint32_t n,
                          struct template_format how, struct jsonw *w, uint32_t *found)
{
    enum err e = ERR_OK;
    *found = 0;
    jw_obj(w);
    if (kind != TEMPLATE_LEGACY) {
        jw_karr(w, kind == TEMPLATE_COMPOSABLE ? "index_templates" : "component_templates");
    }
    for (uint32_t i = 0; e == ERR_OK && i < r->state->n_templates; i++) {
        const struct template_meta *t = r->state->templates[i];
        if (t->kind == kind && named(names, n, t->name)) {
            (*found)++;
            e = write_one(r, t, how, w);
        }
    }
    if (kind != TEMPLATE_LEGACY) {
        jw_arr_end(w);
    }
    jw_obj_end(w);
    return e;
}

static void get(struct rest *r, enum template_kind kind)
{
    const struct str *names;
    uint32_t n, found;
    struct template_format how = {false, false};
    struct buf b;
    struct jsonw w;
    enum err e = rest_bool(r, "flat_settings", false, &how.flat);
    e = e == ERR_OK ? rest_check_bool(r, "local") : e;
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    if (kind == TEMPLATE_LEGACY) {
        e = e == ERR_OK ? rest_type_named(r, NAMED_IN_GET_TEMPLATE, &how.typed) : e;
    }
    e = e == ERR_OK ? rest_list(r, "name", &names, &n) : e;
    struct str whole = rest_param(r, "name"); /* only legacy templates are asked for by lists */
    if (kind != TEMPLATE_LEGACY && whole.p != NULL) {
        names = &whole;
        n = 1;
    }
    if (!rest_reads_state(r, e)) {
        return;
    }
    jsonw_start(&w, &b);
    e = write_all(r, kind, names, n, how, &w, &found);
    bool absent = found == 0 && n > 0;
    bool exact = n > 0 && str_find(names[0], '*', 0) == SIZE_MAX;
    if (e == ERR_OK && absent && exact && kind != TEMPLATE_LEGACY && r->method != HTTP_M_HEAD) {
        e = err_set(&r->em, ERR_RESOURCE_NOT_FOUND, "%s matching [%.*s] not found", names_of(kind),
                    STR_ARG(names[0]));
    }
    if (e != ERR_OK) {
        buf_fini(&b);
        rest_fail(r, NULL);
        return;
    }
    if (r->method == HTTP_M_HEAD) {
        buf_reset(&b);
        rest_send_text(r, absent || (kind == TEMPLATE_LEGACY && found == 0) ? 404 : 200,
                       "application/json; charset=UTF-8", &b);
        return;
    }
    rest_send(r, absent ? 404 : 200, &b);
}

static void get_legacy(struct rest *r)
{
    get(r, TEMPLATE_LEGACY);
}

static void get_composable(struct rest *r)
{
    get(r, TEMPLATE_COMPOSABLE);
}

static void get_component(struct rest *r)
{
    get(r, TEMPLATE_COMPONENT);
}

/* ---- simulate ------------------------------------------------------------------------------------------ */

static void write_recipe(struct jsonw *w, const struct index_recipe *x)
{
    jw_kobj(w, "template");
    jw_k(w, "settings");
    settings_write(&x->settings, w, false);
    if (x->mapping.type == JSON_OBJECT) {
        jw_k(w, "mappings");
        jw_value(w, &x->mapping);
    }
    jw_kobj(w, "aliases");
    for (uint32_t i = 0; i < x->n_aliases; i++) {
        jw_key(w, x->aliases[i].name);
        alias_write(&x->aliases[i], w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static bool matches(const struct template_meta *t, struct str index)
{
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        if (str_glob(t->patterns[i], index)) {
            return true;
        }
    }
    return false;
}

/* The other templates that would match as well: by an index's name, or by patterns that a template shares
 * with them. */
static void write_overlapping(struct rest *r, const struct template_meta *chosen, struct str index,
                              struct jsonw *w)
{
    jw_karr(w, "overlapping");
    for (uint32_t i = 0; i < r->state->n_templates; i++) {
        const struct template_meta *t = r->state->templates[i];
        bool same = t->kind == chosen->kind && str_eq(t->name, chosen->name);
        if (same || t->kind == TEMPLATE_COMPONENT
            || !(index.p != NULL ? matches(t, index) : templates_overlap(t, chosen))) {
            continue;
        }
        jw_obj(w);
        jw_kstr(w, "name", t->name);
        jw_karr(w, "index_patterns");
        for (uint32_t k = 0; k < t->n_patterns; k++) {
            jw_str(w, t->patterns[k]);
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* The state with the template that the body describes, should there be one. */
static enum err with_body(struct rest *r, struct str name, struct cluster_state **out)
{
    const struct json *body;
    *out = cluster_state_ref(r->state);
    enum err e = rest_body(r, &body);
    if (e != ERR_OK || body == NULL) {
        return e;
    }
    struct cluster_state *next;
    e = metadata_with_template(r->state, name, body, r->body, &next, &r->em);
    if (e == ERR_OK) {
        cluster_state_unref(*out);
        *out = next;
    }
    return e;
}

static void answer_simulation(struct rest *r, const struct cluster_state *s, const struct template_meta *t,
                              struct str index)
{
    struct index_recipe x;
    struct json body;
    struct buf b;
    struct jsonw w;
    enum err e = ERR_OK;
    jsonw_start(&w, &b);
    jw_obj(&w);
    if (t != NULL) {
        e = json_parse(&body, t->body, r->arena, &json_limits_default, &r->em);
        e = e == ERR_OK ? index_recipe_of_template(&x, s, &body, r->arena, &r->em) : e;
        if (e == ERR_OK) {
            write_recipe(&w, &x);
            write_overlapping(r, t, index, &w);
        }
    }
    jw_obj_end(&w);
    rest_send_or_fail(r, e, &b);
}

/* A name that no template has: what the body describes goes by it. */
static struct str made_up(struct rest *r, const char *what)
{
    uint64_t now = (uint64_t)r->co->o.clock->mono_ns(r->co->o.clock->self);
    return arena_printf(r->arena, "%s_%022llx", what, (unsigned long long)now);
}

static void answer_index(struct rest *r, struct str name)
{
    struct str index = rest_param(r, "name");
    struct cluster_state *s;
    if (with_body(r, name, &s) != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        answer_simulation(r, s, template_for_index(s, index, false), index);
    }
    cluster_state_unref(s);
}

static void answer_template(struct rest *r, struct str name)
{
    struct cluster_state *s;
    enum err e = with_body(r, name, &s);
    const struct template_meta *t = cluster_template(s, TEMPLATE_COMPOSABLE, name);
    if (e == ERR_OK && t == NULL) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "unable to simulate template [%.*s] that does not exist",
                    STR_ARG(name));
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        answer_simulation(r, s, t, STR_NULL);
    }
    cluster_state_unref(s);
}

static void checked(struct rest *r, struct meta_request *rq, void (*answer)(struct rest *r, struct str name))
{
    if (err_is(&rq->error)) {
        rest_fail(r, &rq->error);
    } else {
        answer(r, rq->names[0]);
    }
    rest_meta_free(rq);
}

static void index_checked(struct rest *r, struct meta_request *rq)
{
    checked(r, rq, answer_index);
}

static void template_checked(struct rest *r, struct meta_request *rq)
{
    checked(r, rq, answer_template);
}

/* The master checks the template of a body as if it were to be kept. */
static void simulate_body(struct rest *r, const struct json *body, struct str name,
                          void (*then)(struct rest *r, struct meta_request *rq))
{
    struct meta_request *rq = rest_meta(r, META_PUT_TEMPLATE, &name, 1);
    if (rq != NULL) {
        rq->body = *body;
        rq->text = r->body;
        rq->template_kind = TEMPLATE_COMPOSABLE;
        rq->options = META_DRY_RUN;
        rest_meta_then(r, rq, then);
    }
}

/* The body, should there be one; false: answered. */
static bool simulation_ready(struct rest *r, const struct json **body)
{
    enum err e = rest_check_time(r, "master_timeout");
    e = e == ERR_OK ? rest_body(r, body) : e;
    if (e == ERR_OK && *body != NULL) {
        rest_accept(r, "cause");
        e = rest_check_bool(r, "create"); /* the name is taken by nothing */
    }
    return rest_reads_state(r, e);
}

static void simulate_index(struct rest *r)
{
    const struct json *body;
    (void)rest_param(r, "name");
    if (!simulation_ready(r, &body)) {
        return;
    }
    if (body == NULL) {
        answer_index(r, STR_NULL);
    } else {
        simulate_body(r, body, made_up(r, "simulate_index_template"), index_checked);
    }
}

static void simulate(struct rest *r)
{
    const struct json *body;
    struct str name = rest_param(r, "name");
    if (!simulation_ready(r, &body)) {
        return;
    }
    if (name.p == NULL && body == NULL) {
        err_set(&r->em, ERR_ACTION_VALIDATION,
                "Validation Failed: 1: either index name or index template body must be specified for "
                "simulation;");
        rest_fail(r, NULL);
        return;
    }
    name = name.p != NULL ? name : made_up(r, "simulate_template");
    if (body == NULL) {
        answer_template(r, name);
    } else {
        simulate_body(r, body, name, template_checked);
    }
}

const struct route routes_template[] = {
    {M_PUT | M_POST, "/_template/{name}", put_legacy},
    {M_GET | M_HEAD, "/_template/{name}", get_legacy},
    {M_GET, "/_template", get_legacy},
    {M_DELETE, "/_template/{name}", delete_legacy},
    {M_PUT | M_POST, "/_index_template/{name}", put_composable},
    {M_GET | M_HEAD, "/_index_template/{name}", get_composable},
    {M_GET, "/_index_template", get_composable},
    {M_DELETE, "/_index_template/{name}", delete_composable},
    {M_PUT | M_POST, "/_component_template/{name}", put_component},
    {M_GET | M_HEAD, "/_component_template/{name}", get_component},
    {M_GET, "/_component_template", get_component},
    {M_DELETE, "/_component_template/{name}", delete_component},
    {M_POST, "/_index_template/_simulate_index/{name}", simulate_index},
    {M_POST, "/_index_template/_simulate", simulate},
    {M_POST, "/_index_template/_simulate/{name}", simulate},
};
const size_t routes_template_n = ARRAY_LEN(routes_template);
