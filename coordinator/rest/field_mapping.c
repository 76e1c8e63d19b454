/* GET _mapping/field/{fields}: the definitions of single fields, by their dotted names. */
#include "common/base/path_join.h"
#include "coordinator/rest/meta.h"
#include "coordinator/rest/types.h"

/* What include_defaults shows of the types that have them; JSON members. */
static const struct {
    const char *type, *defaults;
} type_defaults[] = {
    {"boolean",
     "{\"boost\":1.0,\"doc_values\":true,\"index\":true,\"null_value\":null,\"store\":false,\"meta\":{}}"},
    {"date", "{\"index\":true,\"doc_values\":true,\"store\":false,\"format\":\"strict_date_optional_time||"
             "epoch_millis\",\"locale\":\"\","
             "\"null_value\":null,\"ignore_malformed\":false,\"boost\":1.0,\"meta\":{}}"},
    {"keyword", "{\"index\":true,\"doc_values\":true,\"store\":false,\"null_value\":null,\"eager_global_"
                "ordinals\":false,"
                "\"ignore_above\":2147483647,\"index_options\":\"docs\",\"norms\":false,\"similarity\":null,"
                "\"normalizer\":null,"
                "\"split_queries_on_whitespace\":false,\"boost\":1.0,\"meta\":{}}"},
    {"text",
     "{\"boost\":1.0,\"index\":true,\"store\":false,\"meta\":{},\"index_options\":\"positions\",\"term_"
     "vector\":\"no\","
     "\"norms\":true,\"analyzer\":\"default\",\"search_analyzer\":\"default\",\"search_quote_analyzer\":"
     "\"default\","
     "\"similarity\":null,\"eager_global_ordinals\":false,\"position_increment_gap\":100,\"fielddata\":false,"
     "\"fielddata_frequency_filter\":{\"min\":0.0,\"max\":2147483647.0,\"min_segment_size\":0},\"index_"
     "prefixes\":null,"
     "\"index_phrases\":false}"},
    {"rank_feature", "{\"positive_score_impact\":true,\"meta\":{}}"},
    {"rank_features", "{\"meta\":{}}"},
    {"dense_vector", "{\"meta\":{}}"},
    {"wildcard", "{\"ignore_above\":2147483647,\"null_value\":null,\"meta\":{}}"},
    {"geo_point",
     "{\"doc_values\":true,\"index\":true,\"store\":false,\"ignore_malformed\":false,\"ignore_z_value\":true,"
     "\"null_value\":null,\"meta\":{}}"},
    {"ip", "{\"index\":true,\"doc_values\":true,\"store\":false,\"ignore_malformed\":false,\"null_value\":"
           "null,\"meta\":{}}"},
};
static const char number_defaults[] =
    "{\"index\":true,\"doc_values\":true,\"store\":false,\"ignore_malformed\":false,\"coerce\":true,"
    "\"null_value\":null,\"meta\":{}}";

static const char *const root_fields[] = {"_doc_count", "_feature", "_field_names", "_id",
                                          "_ignored",   "_index",   "_routing",     "_seq_no",
                                          "_source",    "_type",    "_version"};

struct field_printer {
    struct rest *r;
    struct jsonw *w;
    const struct str *names;
    uint32_t n_names;
    bool defaults;
    enum err e;
    struct str type; /* that fields are printed below; n == 0: none */
    bool opened;     /* and it stands there */
};

static bool field_requested(const struct field_printer *k, struct str path)
{
    for (uint32_t i = 0; i < k->n_names; i++) {
        if (str_glob(k->names[i], path)) {
            return true;
        }
    }
    return false;
}

static const char *defaults_of(struct str type)
{
    static const char *const numbers[] = {"long",   "integer", "short",      "byte",
                                          "double", "float",   "half_float", "unsigned_long"};
    for (size_t i = 0; i < ARRAY_LEN(type_defaults); i++) {
        if (str_is(type, type_defaults[i].type)) {
            return type_defaults[i].defaults;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (str_is(type, numbers[i])) {
            return number_defaults;
        }
    }
    return NULL;
}

/* The definition with what it leaves out. */
static enum err write_definition(struct field_printer *k, const struct json *field)
{
    const struct json *type = json_get(field, "type");
    const char *text = k->defaults && json_is(type, JSON_STRING) ? defaults_of(type->s) : NULL;
    struct json defaults;
    jw_obj(k->w);
    enum err e = text != NULL
                     ? json_parse(&defaults, str_of(text), k->r->arena, &json_limits_default, &k->r->em)
                     : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < field->n; i++) {
        const struct json *v = &field->members[i].value;
        jw_key(k->w, field->members[i].key);
        if (!str_is(field->members[i].key, "fields") || v->type != JSON_OBJECT) {
            jw_value(k->w, v);
            continue;
        }
        jw_obj(k->w);
        for (uint32_t f = 0; e == ERR_OK && f < v->n; f++) { /* multi-fields, which have none of their own */
            jw_key(k->w, v->members[f].key);
            e = write_definition(k, &v->members[f].value);
        }
        jw_obj_end(k->w);
    }
    for (uint32_t i = 0; e == ERR_OK && text != NULL && i < defaults.n; i++) {
        if (json_get_str(field, defaults.members[i].key) == NULL) {
            jw_key(k->w, defaults.members[i].key);
            jw_value(k->w, &defaults.members[i].value);
        }
    }
    jw_obj_end(k->w);
    return e;
}

/* The type stands around the first of its fields. */
static void open_type(struct field_printer *k)
{
    if (k->type.n > 0 && !k->opened) {
        jw_key(k->w, k->type);
        jw_obj(k->w);
        k->opened = true;
    }
}

static void write_field(struct field_printer *k, struct str path, struct str name, const struct json *field)
{
    open_type(k);
    jw_key(k->w, path);
    jw_obj(k->w);
    jw_kstr(k->w, "full_name", path);
    jw_kobj(k->w, "mapping");
    if (field != NULL) {
        jw_key(k->w, name);
        k->e = write_definition(k, field);
    }
    jw_obj_end(k->w);
    jw_obj_end(k->w);
}

/* The one metadata field that shows what it is set to. */
static void write_source(struct field_printer *k, const struct json *given)
{
    static const char *const params[] = {"enabled", "includes", "excludes"};
    open_type(k);
    jw_kobj(k->w, "_source");
    jw_kz(k->w, "full_name", "_source");
    jw_kobj(k->w, "mapping");
    jw_kobj(k->w, "_source");
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        const struct json *v = given != NULL ? json_get(given, params[i]) : NULL;
        if (v == NULL && !k->defaults) {
            continue;
        }
        jw_k(k->w, params[i]);
        if (v != NULL) {
            jw_value(k->w, v);
        } else if (i == 0) {
            jw_bool(k->w, true);
        } else {
            jw_arr(k->w);
            jw_arr_end(k->w);
        }
    }
    jw_obj_end(k->w);
    jw_obj_end(k->w);
    jw_obj_end(k->w);
}

static void fields_walk(struct field_printer *k, struct str prefix, const struct json *fields)
{
    for (uint32_t i = 0; k->e == ERR_OK && json_is(fields, JSON_OBJECT) && i < fields->n; i++) {
        const struct json_member *m = &fields->members[i];
        struct str path = prefix.n > 0 ? path_join(k->r->arena, prefix, m->key) : m->key;
        if (path.p == NULL) {
            k->e = err_no_memory(&k->r->em);
            return;
        }
        const struct json *type = json_get(&m->value, "type");
        bool is_object =
            type == NULL || str_is(json_text(type), "nested") || str_is(json_text(type), "object");
        if (!is_object && field_requested(k, path)) {
            write_field(k, path, m->key, &m->value);
        }
        fields_walk(k, path, json_get(&m->value, is_object ? "properties" : "fields"));
    }
}

static void write_index(struct field_printer *k, const struct index_meta *m, bool typed)
{
    struct json mapping;
    jw_key(k->w, m->name);
    jw_obj(k->w);
    jw_kobj(k->w, "mappings");
    k->type = typed ? index_type(m) : STR("");
    k->opened = false;
    k->e = json_parse(&mapping, index_mapping_text(m), k->r->arena, &json_limits_default, &k->r->em);
    for (size_t i = 0; k->e == ERR_OK && m->mapping.n > 0 && i < ARRAY_LEN(root_fields); i++) {
        bool is_source = str_is(STR("_source"), root_fields[i]);
        if (is_source && field_requested(k, STR("_source")) && json_get(&mapping, "_source") != NULL) {
            write_source(k, json_get(&mapping, "_source"));
        } else if (field_requested(k, str_of(root_fields[i]))) {
            write_field(k, str_of(root_fields[i]), STR_NULL, NULL);
        }
    }
    if (k->e == ERR_OK) {
        fields_walk(k, STR(""), json_get(&mapping, "properties"));
    }
    if (k->opened) {
        jw_obj_end(k->w);
    }
    jw_obj_end(k->w);
    jw_obj_end(k->w);
}

static void get_field_mapping(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_READ;
    const struct index_target *t;
    uint32_t n;
    bool typed;
    struct buf b;
    struct jsonw w;
    struct field_printer k = {.r = r, .w = &w};
    enum err e = rest_bool(r, "include_defaults", false, &k.defaults);
    e = e == ERR_OK ? rest_check_bool(r, "local") : e;
    e = e == ERR_OK ? rest_type_named(r, NAMED_IN_FIELD_MAPPING, &typed) : e;
    if (e == ERR_OK && !typed && rest_has(r, "type")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "Types cannot be specified unless include_type_name is set to true.");
    }
    struct str type = rest_param(r, "type");
    bool any = type.n == 0 || str_is(type, "_all");
    e = e == ERR_OK ? rest_list(r, "fields", &k.names, &k.n_names) : e;
    e = e == ERR_OK ? rest_index_options(r, &o) : e;
    if (!rest_targets(r, e, &o, &t, &n)) {
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    uint32_t readable = 0;
    for (uint32_t i = 0; k.e == ERR_OK && i < n; i++) { /* an index that hides its metadata is left out */
        if (t[i].meta->closed
            || (!any && !str_glob(type, index_type(t[i].meta)))) { /* it is not looked into */
            continue;
        }
        if (index_block_check(r->state, t[i].meta, BLOCK_METADATA_READ, NULL) == ERR_OK) {
            write_index(&k, t[i].meta, typed);
            readable++;
        }
    }
    jw_obj_end(&w);
    if (k.e != ERR_OK) {
        buf_fini(&b);
        rest_fail(r, NULL);
        return;
    }
    rest_send(r, readable == 0 ? 404 : 200, &b);
}

const struct route routes_field_mapping[] = {
    {M_GET, "/_mapping/field/{fields}", get_field_mapping},
    {M_GET, "/_mapping/{type}/field/{fields}", get_field_mapping},
    {M_GET, "/{index}/_mapping/field/{fields}", get_field_mapping},
    {M_GET, "/{index}/_mapping/{type}/field/{fields}", get_field_mapping},
};
const size_t routes_field_mapping_n = ARRAY_LEN(routes_field_mapping);
