#include "coordinator/rest/types.h"

#define REMOVAL "[types removal] "
#define NAMED(request)                            \
    REMOVAL "Using include_type_name in " request \
            " requests is deprecated. The parameter will be removed in the next major version."
#define SPECIFIED(request) REMOVAL "Specifying types in " request " requests is deprecated."

static const char *const texts[DEPRECATED_USES] = {
    [TYPED_INDEX] =
        REMOVAL "Specifying types in document index requests is deprecated, use the typeless endpoints "
                "instead (/{index}/_doc/{id}, /{index}/_doc, or /{index}/_create/{id}).",
    [TYPED_GET] = REMOVAL "Specifying types in document get requests is deprecated, use the "
                          "/{index}/_doc/{id} endpoint instead.",
    [TYPED_SOURCE] = SPECIFIED("get_source and exist_source"),
    [TYPED_DELETE] = REMOVAL "Specifying types in document index requests is deprecated, use the "
                             "/{index}/_doc/{id} endpoint instead.",
    [TYPED_UPDATE] = REMOVAL "Specifying types in document update requests is deprecated, use the endpoint "
                             "/{index}/_update/{id} instead.",
    [TYPED_BULK] = SPECIFIED("bulk"),
    [TYPED_MGET] = SPECIFIED("multi get"),
    [TYPED_SEARCH] = SPECIFIED("search"),
    [TYPED_MSEARCH] = SPECIFIED("multi search"),
    [TYPED_MSEARCH_TEMPLATE] = SPECIFIED("multi search template"),
    [TYPED_COUNT] = SPECIFIED("count"),
    [TYPED_EXPLAIN] = REMOVAL "Specifying a type in explain requests is deprecated.",
    [TYPED_VALIDATE] = SPECIFIED("validate query"),
    [TYPED_REINDEX] = SPECIFIED("reindex"),
    [TYPED_EXISTS] = "Type exists requests are deprecated, as types have been deprecated.",
    [NAMED_IN_CREATE] = NAMED("create index"),
    [NAMED_IN_GET_INDEX] = REMOVAL "Using `include_type_name` in get indices requests is deprecated. The "
                                   "parameter will be removed in the next major version.",
    [NAMED_IN_PUT_MAPPING] = NAMED("put mapping"),
    [NAMED_IN_GET_MAPPING] = NAMED("get mapping"),
    [NAMED_IN_FIELD_MAPPING] = NAMED("get field mapping"),
    [NAMED_IN_PUT_TEMPLATE] = REMOVAL "Specifying include_type_name in put index template requests is "
                                      "deprecated. The parameter will be removed in the next major version.",
    [NAMED_IN_GET_TEMPLATE] = REMOVAL "Specifying include_type_name in get index template requests is "
                                      "deprecated. The parameter will be removed in the next major version.",
    [NAMED_IN_ROLLOVER] = NAMED("rollover index"),
};

void rest_deprecated(struct rest *r, enum deprecated_use use)
{
    rest_warn(r, texts[use]);
}

struct str rest_type(struct rest *r, enum deprecated_use use)
{
    struct str type = rest_param(r, "type");
    if (type.p != NULL) {
        rest_deprecated(r, use);
    }
    return type;
}

enum err rest_type_named(struct rest *r, enum deprecated_use use, bool *out)
{
    if (rest_has(r, "include_type_name")) {
        rest_deprecated(r, use);
    }
    return rest_bool(r, "include_type_name", false, out);
}

/* ---- what is found ---- */

static bool any_typed(const struct cluster_state *s)
{
    uint32_t i = 0;
    while (i < s->n_indices && s->indices[i]->type.n == 0) {
        i++;
    }
    return i < s->n_indices;
}

static bool names_doc(struct str types)
{
    struct str rest = types;
    bool there = false;
    while (rest.n > 0) {
        there |= str_is(str_cut(rest, ',', &rest), "_doc");
    }
    return there;
}

/* {"bool":{"must":query,"filter":{"terms":{"_type":[types]}}}} */
static bool filtered(struct str types, const struct json *query, struct arena *arena, struct json *out)
{
    struct json list = {.type = JSON_ARRAY}, terms = json_mk_object(), filter = json_mk_object(),
                parts = json_mk_object(), all = json_mk_object();
    struct str rest = types;
    size_t n = 1;
    for (size_t at = str_find(types, ',', 0); at != SIZE_MAX; at = str_find(types, ',', at + 1)) {
        n++;
    }
    list.items = ARENA_ARRAY(arena, struct json, n);
    if (list.items == NULL) {
        return false;
    }
    while (rest.p != NULL) {
        list.items[list.n++] = json_mk_str(str_cut(rest, ',', &rest));
    }
    *out = json_mk_object();
    return json_put(&all, arena, STR("match_all"), json_mk_object())
           && json_put(&terms, arena, STR("_type"), list) && json_put(&filter, arena, STR("terms"), terms)
           && json_put(&parts, arena, STR("must"), query != NULL ? *query : all)
           && json_put(&parts, arena, STR("filter"), filter) && json_put(out, arena, STR("bool"), parts);
}

enum err rest_types_limit(const struct cluster_state *s, struct str types, const struct json *tree,
                          struct arena *arena, struct json *out, bool *changed, struct errmsg *em)
{
    bool typed = any_typed(s);
    struct json query = json_mk_object();
    *changed = types.n > 0 && (typed || !names_doc(types));
    if (!*changed) { /* all that there is, is meant */
        return ERR_OK;
    }
    bool ok = json_copy(out, tree, arena);
    if (ok && typed) {
        ok = filtered(types, json_get(out, "query"), arena, &query);
    } else if (ok) {
        ok = json_put(&query, arena, STR("match_none"), json_mk_object());
    }
    return ok && json_put(out, arena, STR("query"), query) ? ERR_OK : err_no_memory(em);
}
