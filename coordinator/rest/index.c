/* Indices: create, read, delete; analysis. */
#include "coordinator/rest/mapping.h"
#include "coordinator/rest/meta.h"
#include "coordinator/rest/types.h"

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
        return rest_not_content(r);
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
        return rest_not_content(r);
    }
    v = json_get(body, "mappings");
    if (json_is(v, JSON_NULL)) {
        return err_set(&r->em, ERR_NULL_POINTER, "mappings is null");
    }
    return v == NULL || v->type == JSON_OBJECT
               ? ERR_OK
               : err_set(&r->em, ERR_CLASS_CAST, "mappings must be an object");
}

/* Takes the type from around the mapping: "mappings":{"hotel":{...}} with include_type_name, an error
 * without. */
static enum err take_type(struct rest *r, bool typed, const struct json *body, struct json *out,
                          struct str *type)
{
    const struct json *v = json_get(body, "mappings");
    bool single = v != NULL && v->n >= 1 && v->members[0].value.type == JSON_OBJECT;
    *out = *body;
    if (!typed && single && v->n == 1 && str_is(v->members[0].key, "_doc")) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "The mapping definition cannot be nested under a type [_doc] unless include_type_name "
                       "is set to true.");
    }
    if (typed && json_get(v, "_default_") != NULL) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "[_default_] mappings are not allowed on new indices and should no longer be used.");
    }
    if (typed && v != NULL && v->n == 0) { /* no type, no mapping */
        return json_put(out, r->arena, STR("mappings"), (struct json){.type = JSON_NULL})
                   ? ERR_OK
                   : err_no_memory(&r->em);
    }
    if (typed && v != NULL && !single) {
        return err_set(&r->em, ERR_CLASS_CAST, "a mapping must be an object");
    }
    if (typed && single) {
        *type = v->members[0].key;
        if (type->n == 0) {
            return type_name_check(*type, &r->em);
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
    struct str index, type = STR("");
    enum err e =
        resolve_date_math(rest_param(r, "index"), clock_wall_ms(r->co->o.clock), r->arena, &index, &r->em);
    e = e == ERR_OK ? rest_meta_timeouts(r, &timeout_ms) : e;
    e = e == ERR_OK ? rest_active_shards(r, &wanted) : e;
    e = e == ERR_OK ? rest_type_named(r, NAMED_IN_CREATE, &typed) : e;
    e = e == ERR_OK ? rest_body(r, &body) : e;
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        e = err_wrap(&r->em, ERR_PARSE, "Failed to parse content to map");
    }
    e = e == ERR_OK ? check_create_body(r, body) : e;
    if (e == ERR_OK && body != NULL) {
        e = take_type(r, typed, body, &untyped, &type);
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
    rq->type = type;
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

static void get_index(struct rest *r)
{
    const struct index_target *t;
    uint32_t n;
    bool flat, defaults, typed;
    enum err e = rest_bool(r, "flat_settings", false, &flat);
    e = e == ERR_OK ? rest_bool(r, "include_defaults", false, &defaults) : e;
    e = e == ERR_OK ? rest_type_named(r, NAMED_IN_GET_INDEX, &typed) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_metadata_targets(r, &t, &n)) {
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
        rest_write_mapping(&w, m, typed);
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
    {M_PUT, "/{index}", put_index},         {M_GET | M_HEAD, "/{index}", get_index},
    {M_DELETE, "/{index}", delete_index},   {M_DELETE, "/", delete_index},
    {M_GET | M_POST, "/_analyze", analyze}, {M_GET | M_POST, "/{index}/_analyze", analyze},
};
const size_t routes_index_n = ARRAY_LEN(routes_index);
