/* Indices: create, read, delete; mappings; analysis. */
#include "coordinator/rest/meta.h"

#include "engine/mapping/field_class.h"

#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "common/settings/setting_read.h"
#include "engine/mapping/mapping.h"

/* ---- create -------------------------------------------------------------------------------------------- */

static void created_active(struct active_wait *wait, bool active)
{
    struct rest *r = rest_of(wait->r);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "acknowledged", true);
    jw_kbool(&w, "shards_acknowledged", active);
    jw_kstr(&w, "index", wait->names[0]);
    jw_obj_end(&w);
    rest_meta_free(wait->user);
    rest_send(r, 200, &b);
}

static void created(struct rest *r, struct meta_request *rq)
{
    rest_meta_wait_active(r, rq, created_active);
}

/* What is no object is taken for compressed bytes that it cannot be. */
static enum err not_content(struct rest *r)
{
    err_set(&r->em, ERR_NOT_X_CONTENT,
            "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes");
    err_about_status(&r->em, 500);
    return ERR_NOT_X_CONTENT;
}

/* Of several unknown keys the one that Elasticsearch's hash map gives first. A body with mappings is copied into
 * a map that is made for so many keys. */
static enum err check_keys(struct rest *r, const struct json *body)
{
    const struct str *first = NULL;
    uint32_t buckets = java_map_buckets(body->n), at = 0;
    if (json_is(json_get(body, "mappings"), JSON_OBJECT)) {
        for (buckets = 1; buckets < body->n + body->n / 3 + 1;) {
            buckets *= 2;
        }
    }
    for (uint32_t i = 0; i < body->n; i++) {
        const struct str *key = &body->members[i].key;
        bool known = str_is(*key, "settings") || str_is(*key, "mappings") || str_is(*key, "aliases");
        uint32_t here = java_map_bucket(*key, buckets);
        if (!known && (first == NULL || here < at)) {
            first = key;
            at = here;
        }
    }
    return first == NULL ? ERR_OK
                         : err_set(&r->em, ERR_PARSE, "unknown key [%.*s] for create index", STR_ARG(*first));
}

static enum err check_create_body(struct rest *r, const struct json *body)
{
    const struct json *v;
    if (body != NULL && body->type != JSON_OBJECT) {
        return not_content(r);
    }
    if (body != NULL && check_keys(r, body) != ERR_OK) {
        return ERR_PARSE;
    }
    v = json_get(body, "settings");
    if (v != NULL && v->type != JSON_OBJECT) {
        return err_set(&r->em, ERR_PARSE, "key [settings] must be an object");
    }
    v = json_get(body, "aliases");
    if (json_is(v, JSON_NULL)) {
        return not_content(r);
    }
    v = json_get(body, "mappings");
    if (json_is(v, JSON_NULL)) {
        return err_set(&r->em, ERR_NULL_POINTER, "mappings is null");
    }
    return v == NULL || v->type == JSON_OBJECT
               ? ERR_OK
               : err_set(&r->em, ERR_CLASS_CAST, "mappings must be an object");
}

/* Takes the type from around the mapping: "mappings":{"_doc":{...}} with include_type_name, an error
 * without. */
static enum err take_type(struct rest *r, bool typed, const struct json *body, struct json *out)
{
    const struct json *v = json_get(body, "mappings");
    bool is_doc = v != NULL && v->n == 1 && str_is(v->members[0].key, "_doc")
                  && v->members[0].value.type == JSON_OBJECT;
    *out = *body;
    if (!typed && is_doc) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "The mapping definition cannot be nested under a type [_doc] unless include_type_name "
                       "is set to true.");
    }
    if (typed && json_get(v, "_default_") != NULL) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "[_default_] mappings are not allowed on new indices and should no longer be used.");
    }
    if (typed && v != NULL && v->n == 1 && v->members[0].value.type == JSON_OBJECT) {
        if (!is_doc && !str_is(v->members[0].key, "properties")) {
            return rest_other_type(r, v->members[0].key);
        }
        return json_put(out, r->arena, STR("mappings"), v->members[0].value) ? ERR_OK : err_no_memory(&r->em);
    }
    return ERR_OK;
}

/* The copies to wait for cannot be more than there will be. */
static enum err check_active(struct rest *r, const struct json *body, int32_t wanted)
{
    const enum setting_id id = SET_INDEX_NUMBER_OF_REPLICAS;
    const struct json *s = json_get(body, "settings"), *v = json_get(s, "number_of_replicas");
    int64_t replicas = setting_i64(NULL, id);
    v = v != NULL ? v : json_get(s, setting_rows[id].name);
    v = v != NULL ? v : json_path(s, setting_rows[id].name);
    if (v != NULL && !num_parse_i64(json_text(v), &replicas)) {
        return ERR_OK; /* refused elsewhere */
    }
    if (replicas < INT32_MAX && wanted > replicas + 1) {
        return err_set(
            &r->em, ERR_ILLEGAL_ARGUMENT,
            "invalid wait_for_active_shards[%d]: cannot be greater than number of shard copies [%lld]",
            wanted, (long long)replicas + 1);
    }
    return ERR_OK;
}

static void put_index(struct rest *r)
{
    const struct json *body = NULL;
    struct json untyped = {0};
    int64_t timeout_ms;
    int32_t wanted;
    bool typed;
    struct str index;
    enum err e =
        resolve_date_math(rest_param(r, "index"), clock_wall_ms(r->co->o.clock), r->arena, &index, &r->em);
    e = e == ERR_OK ? rest_meta_timeouts(r, &timeout_ms) : e;
    e = e == ERR_OK ? rest_active_shards(r, &wanted) : e;
    e = e == ERR_OK ? rest_bool(r, "include_type_name", false, &typed) : e;
    e = e == ERR_OK ? rest_body(r, &body) : e;
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        e = err_wrap(&r->em, ERR_PARSE, "Failed to parse content to map");
    }
    e = e == ERR_OK ? check_create_body(r, body) : e;
    if (e == ERR_OK && body != NULL) {
        e = take_type(r, typed, body, &untyped);
    }
    e = e == ERR_OK ? check_active(r, body, wanted) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_CREATE_INDEX, &index, 1) : NULL;
    if (rq == NULL) {
        return;
    }
    rq->text = r->body;
    rq->provided = rest_param(r, "index");
    rq->timeout_ms = timeout_ms;
    if (body != NULL) {
        rq->body = untyped;
    }
    rest_meta_then(r, rq, created);
}

/* ---- read ---------------------------------------------------------------------------------------------- */

static void write_aliases(struct jsonw *w, const struct index_meta *m)
{
    jw_obj(w);
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        jw_key(w, m->aliases[i].name);
        alias_write(&m->aliases[i], w);
    }
    jw_obj_end(w);
}

/* A mapping, below its one type where the request asks for types. */
static void write_mapping(struct jsonw *w, const struct index_meta *m, bool typed)
{
    if (typed) {
        jw_obj(w);
        if (m->mapping.n > 0) {
            jw_k(w, "_doc");
            jw_raw(w, m->mapping);
        }
        jw_obj_end(w);
    } else {
        jw_raw(w, index_mapping_text(m));
    }
}

/* The targets that the path names, under the defaults of reads, once every other parameter has been read.
 * false: answered. */
static bool targets(struct rest *r, const struct index_target **t, uint32_t *n)
{
    struct expand_options o = EXPAND_OPTIONS_READ;
    struct str expression = rest_param(r, "index");
    o.allow_no_indices = true;
    o.unblocked = 1U << BLOCK_METADATA_READ;
    enum err e = rest_index_options(r, &o);
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    e = e == ERR_OK ? rest_check_bool(r, "local") : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return false;
    }
    e = e == ERR_OK
            ? resolve_indices(r->state, expression, &o, clock_wall_ms(r->co->o.clock), r->arena, t, n, &r->em)
            : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    }
    return e == ERR_OK;
}

static void get_index(struct rest *r)
{
    const struct index_target *t;
    uint32_t n;
    bool flat, defaults, typed;
    enum err e = rest_bool(r, "flat_settings", false, &flat);
    e = e == ERR_OK ? rest_bool(r, "include_defaults", false, &defaults) : e;
    e = e == ERR_OK ? rest_bool(r, "include_type_name", false, &typed) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!targets(r, &t, &n)) {
        return;
    }
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        const struct index_meta *m = t[i].meta;
        jw_key(&w, m->name);
        jw_obj(&w);
        jw_k(&w, "aliases");
        write_aliases(&w, m);
        jw_k(&w, "mappings");
        write_mapping(&w, m, typed);
        jw_k(&w, "settings");
        e = index_settings_write(r, m, NULL, 0, flat, &w);
        if (e == ERR_OK && defaults) {
            jw_k(&w, "defaults");
            e = index_defaults_write(r, m, NULL, 0, flat, &w);
        }
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    rest_send_or_fail(r, e, &b);
}

static void delete_index(struct rest *r)
{
    struct expand_options o = {false, true, EXPAND_OPEN | EXPAND_CLOSED, false, true, 0};
    if (rest_param(r, "index").n == 0) { /* nothing named is not everything */
        err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: index / indices is missing;");
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_meta_indices(r, META_DELETE_INDEX, &o);
    if (rq != NULL) {
        rest_meta_acknowledge(r, rq);
    }
}

/* ---- mappings ------------------------------------------------------------------------------------------ */

/* The types that a path asks mappings of; n == 0: of all. */
struct asked_types {
    const struct str *v;
    uint32_t n;
};

static bool asked_for(const struct asked_types *types, struct str type)
{
    for (uint32_t i = 0; i < types->n; i++) {
        if (str_glob(types->v[i], type)) {
            return true;
        }
    }
    return types->n == 0;
}

static enum err read_types(struct rest *r, struct asked_types *types)
{
    struct str whole = rest_param(r, "type");
    enum err e = rest_list(r, "type", &types->v, &types->n);
    if (e == ERR_OK && types->n == 1 && (str_is(whole, "_all") || str_is(whole, "*"))) {
        types->n = 0;
    }
    return e;
}

/* No index has a mapping of these types. */
static enum err types_missing(struct rest *r, const struct asked_types *types)
{
    struct buf b;
    buf_init(&b, NULL, 64 * KIB);
    for (uint32_t i = 0; i < types->n; i++) {
        buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(types->v[i]));
    }
    enum err e = err_set(&r->em, ERR_TYPE_MISSING, "type[[%.*s]] missing", STR_ARG(buf_view(&b)));
    err_about_index(&r->em, STR("_all"), STR("_na_"));
    buf_fini(&b);
    return e;
}

/* Prints the names of requested types that do not exist. false: all exist. */
static bool write_missing_types(struct rest *r, struct jsonw *w, const struct asked_types *types)
{
    struct buf b;
    uint32_t n = 0;
    buf_init(&b, NULL, 64 * KIB);
    for (uint32_t i = 0; i < types->n; i++) {
        if (!str_is(types->v[i], "_doc") && str_find(types->v[i], '*', 0) == SIZE_MAX) {
            buf_printf(&b, "%s%.*s", n++ > 0 ? "," : "", STR_ARG(types->v[i]));
        }
    }
    if (n > 0) {
        struct str names = arena_str(r->arena, buf_view(&b));
        jw_k(w, "error");
        jw_strf(w, "type%s [%.*s] missing", n > 1 ? "s" : "", STR_ARG(names));
        jw_ki64(w, "status", 404);
    }
    buf_fini(&b);
    return n > 0;
}

static void get_mapping(struct rest *r)
{
    const struct index_target *t;
    uint32_t n, kept = 0;
    struct asked_types types;
    struct buf b;
    struct jsonw w;
    bool typed;
    enum err e = rest_bool(r, "include_type_name", false, &typed);
    if (e == ERR_OK && !typed && rest_has(r, "type") && r->method != HTTP_M_HEAD) {
        e = err_set(
            &r->em, ERR_ILLEGAL_ARGUMENT,
            "Types cannot be provided in get mapping requests, unless include_type_name is set to true.");
    }
    e = e == ERR_OK ? read_types(r, &types) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!targets(r, &t, &n)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    bool missing = write_missing_types(r, &w, &types);
    for (uint32_t i = 0; i < n; i++) {
        if (types.n > 0 && (t[i].meta->mapping.n == 0 || !asked_for(&types, STR("_doc")))) {
            continue;
        }
        kept++;
        jw_key(&w, t[i].meta->name);
        jw_obj(&w);
        jw_k(&w, "mappings");
        write_mapping(&w, t[i].meta, typed);
        jw_obj_end(&w);
    }
    jw_obj_end(&w);
    if (types.n > 0 && kept == 0) {
        buf_fini(&b);
        types_missing(r, &types);
        rest_fail(r, NULL);
        return;
    }
    rest_send(r, missing ? 404 : 200, &b);
}

/* A mapping that is put under a type of its own. */
static enum err foreign_type(struct rest *r)
{
    struct str type = rest_param(r, "type");
    return str_is(type, "_doc")
               ? ERR_OK
               : err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                         "Rejecting mapping update to [%.*s] as the final mapping would have more than 1 "
                         "type: [_doc, %.*s]",
                         STR_ARG(rest_param(r, "index")), STR_ARG(type));
}

/* Types stand in the path where include_type_name says so, and nowhere else. */
static enum err check_type(struct rest *r, bool typed, const struct json *body)
{
    if (typed && !rest_has(r, "type")) {
        return err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: mapping type is missing;");
    }
    if (!typed && rest_has(r, "type")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "Types cannot be provided in put mapping requests, unless the include_type_name "
                       "parameter is set to true.");
    }
    if (typed) {
        return foreign_type(r);
    }
    if (json_is(body, JSON_OBJECT) && body->n == 1 && str_is(body->members[0].key, "_doc")
        && body->members[0].value.type == JSON_OBJECT) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "Types cannot be provided in put mapping requests, unless the include_type_name "
                       "parameter is set to true.");
    }
    return ERR_OK;
}

/* The request about the indices that documents for the path's names would go to. NULL: answered. */
static struct meta_request *write_indices(struct rest *r, struct expand_options *o)
{
    const struct str *given;
    uint32_t n;
    int64_t master_ms;
    enum err e = rest_list(r, "index", &given, &n);
    struct str *names = ARENA_ARRAY(r->arena, struct str, n);
    e = e == ERR_OK && names == NULL ? err_no_memory(&r->em) : e;
    e = e == ERR_OK ? rest_index_options(r, o) : e;
    e = e == ERR_OK ? rest_meta_timeouts(r, &master_ms) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return NULL;
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        const struct index_meta *m;
        const struct alias_meta *alias;
        e = resolve_write(r->state, given[i], clock_wall_ms(r->co->o.clock), r->arena, &m, &alias, &names[i],
                          &r->em);
        names[i] = e == ERR_OK && m != NULL ? m->name : names[i];
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return NULL;
    }
    struct meta_request *rq = rest_meta(r, META_PUT_MAPPING, names, n);
    if (rq != NULL) {
        rq->timeout_ms = master_ms;
    }
    return rq;
}

static void put_mapping(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    const struct json *body;
    bool typed, write_only;
    o.allow_no_indices = false;
    enum err e = rest_bool(r, "write_index_only", false, &write_only);
    e = e == ERR_OK ? rest_bool(r, "include_type_name", false, &typed) : e;
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        e = err_wrap(&r->em, ERR_PARSE, "Failed to parse content to map");
    }
    if (e == ERR_OK && body->type != JSON_OBJECT) {
        e = not_content(r);
    }
    e = e == ERR_OK ? check_type(r, typed, body) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = write_only ? write_indices(r, &o) : rest_meta_indices(r, META_PUT_MAPPING, &o);
    if (rq != NULL) { /* with a type in the path, the body may have the same around the mapping */
        const struct json *inner = typed && body->n == 1 ? json_get(body, "_doc") : NULL;
        rq->body = json_is(inner, JSON_OBJECT) ? *inner : *body;
        rest_meta_acknowledge(r, rq);
    }
}

/* ---- _analyze ------------------------------------------------------------------------------------------ */

static enum field_analysis field_analyzer(void *self, struct str field, const struct analyzer **out)
{
    const struct mapping *m = self;
    struct str key;
    const struct field *f = m != NULL ? mapping_field(m, field) : NULL;
    f = f == NULL && m != NULL ? mapping_keyed(m, field, &key) : f;
    *out = NULL;
    if (f == NULL || f->class->is_object) {
        return FIELD_UNMAPPED;
    }
    *out = f->class->is_analysed ? f->analyzer : f->normalizer;
    return f->normalizer != NULL ? FIELD_ANALYZED : f->class->analysis;
}

static void analyze(struct rest *r)
{
    struct str index = rest_param(r, "index");
    const struct json *body;
    const struct index_meta *m = NULL;
    struct analyze_context cx = {.field_analyzer = field_analyzer};
    enum err e = rest_body(r, &body);
    if (e == ERR_OK && body == NULL) {
        e = err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    cx.has_index = index.p != NULL;
    e = e == ERR_OK ? analyze_check(&cx, body, r->arena, &r->em) : e;
    if (e == ERR_ACTION_VALIDATION) { /* said of a whole request: parameters that nobody knows come first */
        struct errmsg why = r->em;
        if (rest_ready(r)) {
            rest_fail(r, &why);
        }
        return;
    }
    if (e == ERR_OK && index.p != NULL) {
        struct expand_options o = {false, false, EXPAND_OPEN, true, false, 1U << BLOCK_READ};
        const struct index_target *t;
        e = resolve_single(r->state, index, &o, clock_wall_ms(r->co->o.clock), r->arena, &t, &r->em);
        m = e == ERR_OK ? t->meta : NULL;
    }
    if (!rest_goes_on(r, e)) {
        return;
    }
    struct buf b;
    struct jsonw w;
    struct analysis *a = r->co->o.analysis(r->co->o.self, m != NULL ? m->uuid : STR(""));
    struct mapping *mapping = m != NULL ? r->co->o.mapping(r->co->o.self, m->uuid) : NULL;
    cx.analysis = a;
    cx.has_index = m != NULL;
    cx.index_name = index;
    cx.self = mapping;
    jsonw_start(&w, &b);
    cx.max_token_count = setting_i64(m != NULL ? &m->settings : NULL, SET_INDEX_ANALYZE_MAX_TOKEN_COUNT);
    if (e == ERR_OK) {
        struct stop st = {.asked = op_client_gone, .self = r->http};
        stop_enter(&st);
        e = a != NULL ? analyze_request(&cx, body, r->arena, &w, &r->em)
                      : err_set(&r->em, ERR_NO_SHARD, "no analysis registry is at hand");
        stop_leave(&st);
        e = st.on ? err_set(&r->em, ERR_CANCELLED, "task cancelled") : e;
    }
    analysis_unref(a);
    mapping_unref(mapping);
    rest_send_or_fail(r, e, &b);
}

const struct route routes_index[] = {
    {M_PUT, "/{index}", put_index},
    {M_GET | M_HEAD, "/{index}", get_index},
    {M_DELETE, "/{index}", delete_index},
    {M_DELETE, "/", delete_index},
    {M_GET, "/{index}/_mapping", get_mapping},
    {M_GET, "/{index}/_mappings", get_mapping},
    {M_GET, "/{index}/{type}/_mapping", get_mapping},
    {M_GET | M_HEAD, "/{index}/_mapping/{type}", get_mapping},
    {M_GET, "/{index}/_mappings/{type}", get_mapping},
    {M_GET, "/_mapping", get_mapping},
    {M_GET, "/_mappings", get_mapping},
    {M_GET, "/_mapping/{type}", get_mapping},
    {M_PUT | M_POST, "/{index}/_mapping", put_mapping},
    {M_PUT | M_POST, "/{index}/_mappings", put_mapping},
    {M_PUT | M_POST, "/{index}/{type}/_mapping", put_mapping},
    {M_PUT | M_POST, "/{index}/{type}/_mappings", put_mapping},
    {M_PUT | M_POST, "/{index}/_mapping/{type}", put_mapping},
    {M_PUT | M_POST, "/{index}/_mappings/{type}", put_mapping},
    {M_PUT | M_POST, "/_mapping/{type}", put_mapping},
    {M_PUT | M_POST, "/_mappings/{type}", put_mapping},
    {M_GET | M_POST, "/_analyze", analyze},
    {M_GET | M_POST, "/{index}/_analyze", analyze},
};
const size_t routes_index_n = ARRAY_LEN(routes_index);
