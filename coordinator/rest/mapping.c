/* Mappings: read and put. */
#include "coordinator/rest/mapping.h"
#include "coordinator/rest/meta.h"
#include "coordinator/rest/types.h"

enum err rest_not_content(struct rest *r)
{
    err_set(&r->em, ERR_NOT_X_CONTENT,
            "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes");
    err_about_status(&r->em, 500);
    return ERR_NOT_X_CONTENT;
}

void rest_write_mapping(struct jsonw *w, const struct index_meta *m, bool typed)
{
    if (typed) {
        jw_obj(w);
        if (m->mapping.n > 0) {
            jw_key(w, index_type(m));
            jw_raw(w, m->mapping);
        }
        jw_obj_end(w);
    } else {
        jw_raw(w, index_mapping_text(m));
    }
}

bool rest_metadata_targets(struct rest *r, const struct index_target **t, uint32_t *n)
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

static bool type_there(const struct index_target *t, uint32_t n, struct str type)
{
    uint32_t i = 0;
    while (i < n && (t[i].meta->mapping.n == 0 || !str_glob(type, index_type(t[i].meta)))) {
        i++;
    }
    return i < n;
}

/* Prints the names of requested types that do not exist. false: all exist. */
static bool write_missing_types(struct rest *r, struct jsonw *w, const struct asked_types *types,
                                const struct index_target *t, uint32_t n_targets)
{
    struct buf b;
    uint32_t n = 0;
    buf_init(&b, NULL, 64 * KIB);
    for (uint32_t i = 0; i < types->n; i++) {
        if (!type_there(t, n_targets, types->v[i])) {
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
    enum err e = rest_type_named(r, NAMED_IN_GET_MAPPING, &typed);
    if (rest_has(r, "type") && r->method == HTTP_M_HEAD) {
        rest_deprecated(r, TYPED_EXISTS);
    }
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
    if (!rest_metadata_targets(r, &t, &n)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    bool missing = write_missing_types(r, &w, &types, t, n);
    for (uint32_t i = 0; i < n; i++) {
        if (types.n > 0 && (t[i].meta->mapping.n == 0 || !asked_for(&types, index_type(t[i].meta)))) {
            continue;
        }
        kept++;
        jw_key(&w, t[i].meta->name);
        jw_obj(&w);
        jw_k(&w, "mappings");
        rest_write_mapping(&w, t[i].meta, typed);
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
        struct str type = rest_param(r, "type");
        return type.n > 0 && type.p[0] == '_' && !str_is(type, "_doc")
                   ? err_set(&r->em, ERR_INVALID_TYPE_NAME,
                             "Document mapping type name can't start with '_', found: [%.*s]", STR_ARG(type))
                   : ERR_OK;
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

/* The type that the path, or the mapping in the body, stands under. A typeless request may have around the mapping what each of its
 * indices has for a type. */
static void put_typed(struct rest *r, struct meta_request *rq, const struct json *body)
{
    struct str type = rest_param(r, "type");
    bool single = body->n == 1 && body->members[0].value.type == JSON_OBJECT;
    struct str key = single ? body->members[0].key : STR_NULL;
    bool wrapped = single && type.p != NULL && str_eq(key, type);
    if (single && !wrapped && (type.p == NULL || str_is(type, "_doc"))) {
        wrapped = rq->n_names > 0;
        for (uint32_t i = 0; i < rq->n_names && wrapped; i++) {
            const struct index_meta *m = cluster_index(r->state, rq->names[i]);
            wrapped = m != NULL && m->type.n > 0 && str_eq(m->type, key);
        }
    }
    rq->type = type.p == NULL || (str_is(type, "_doc") && !(wrapped && str_eq(key, type))) ? STR("") : type;
    rq->body = wrapped ? body->members[0].value : *body;
}

static void put_mapping(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    const struct json *body;
    bool typed, write_only;
    o.allow_no_indices = false;
    enum err e = rest_bool(r, "write_index_only", false, &write_only);
    e = e == ERR_OK ? rest_type_named(r, NAMED_IN_PUT_MAPPING, &typed) : e;
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        e = err_wrap(&r->em, ERR_PARSE, "Failed to parse content to map");
    }
    if (e == ERR_OK && body->type != JSON_OBJECT) {
        e = rest_not_content(r);
    }
    e = e == ERR_OK ? check_type(r, typed, body) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = write_only ? write_indices(r, &o) : rest_meta_indices(r, META_PUT_MAPPING, &o);
    if (rq != NULL) {
        put_typed(r, rq, body);
        rest_meta_acknowledge(r, rq);
    }
}

const struct route routes_mapping[] = {
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
};
const size_t routes_mapping_n = ARRAY_LEN(routes_mapping);
