/* Would Elasticsearch have rewritten a query on this shard? It shows: an aggregation whose filter was rewritten, or that of one
 * below it, answers with an empty `meta` where none was given. */
#include "engine/aggs/collect.h"

#include "engine/mapping/field_class.h"

static bool any_rewritten(struct agg_run *r, const struct json *list)
{
    bool any = list != NULL && list->type == JSON_OBJECT && query_is_rewritten(r, list);
    for (uint32_t i = 0; list != NULL && list->type == JSON_ARRAY && i < list->n; i++) {
        any = query_is_rewritten(r, &list->items[i]) || any;
    }
    return any;
}

static uint32_t count_none(const struct json *list, uint32_t *of)
{
    uint32_t none = 0, n = list == NULL ? 0 : list->type == JSON_ARRAY ? list->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        none += json_get(list->type == JSON_ARRAY ? &list->items[i] : list, "match_none") != NULL;
    }
    *of += n;
    return none;
}

static bool bool_rewritten(struct agg_run *r, const struct json *b)
{
    const struct json *must = json_get(b, "must"), *filter = json_get(b, "filter"),
                      *should = json_get(b, "should");
    const struct json *must_not =
        json_get(b, "must_not") != NULL ? json_get(b, "must_not") : json_get(b, "mustNot");
    uint32_t required = 0, optional = 0, refused = 0;
    uint32_t none = count_none(must, &required) + count_none(filter, &required),
             none_of = count_none(should, &optional);
    count_none(must_not, &refused);
    if (required + optional + refused == 0 || none > 0
        || (required == 0 && optional > 0 && none_of == optional)) {
        return true;
    }
    bool any = any_rewritten(r, must);
    any = any_rewritten(r, filter) || any;
    any = any_rewritten(r, should) || any;
    return any_rewritten(r, must_not) || any;
}

/* The field that a leaf names: {"field": ...} beside options that no field is called by. */
static const struct field *field_of(struct agg_run *r, const struct json *body, bool *named)
{
    *named = false;
    for (uint32_t i = 0; i < body->n; i++) {
        struct str key = body->members[i].key;
        if (!str_is(key, "boost") && !str_is(key, "_name")) {
            *named = true;
            return mapping_field_in(r->cx->query.mapping, key, r->arena);
        }
    }
    return NULL;
}

/* A range of dates that all of the shard's lie in, or none: then it was built as something else. */
static bool dates_decided(struct agg_run *r, const struct json *query)
{
    const struct query *q;
    ERR_LOCAL(em);
    return query_build(&q, &r->cx->query, query, &em) == ERR_OK && q->ops != &q_num_range;
}

static bool leaf_rewritten(struct agg_run *r, const struct json *query, struct str kind,
                           const struct json *body)
{
    bool named;
    const struct field *f = field_of(r, body, &named);
    bool range = str_is(kind, "range"), terms = str_is(kind, "terms");
    if (!named) {
        return false;
    }
    bool date = f != NULL && range && field_is_date(f);
    if (f == NULL || (f->class == &field_class_meta_index && !range)) {
        return true;
    }
    if (date) {
        const struct json *bounds = json_get_str(body, f->path);
        return (bounds == NULL || bounds->n > 0) && f->index && dates_decided(r, query);
    }
    const struct json *list = terms ? json_get_str(body, f->path) : NULL;
    return list != NULL && list->type == JSON_ARRAY && list->n == 0;
}

static bool exists_rewritten(struct agg_run *r, const struct json *body)
{
    const struct json *name = json_get(body, "field");
    const struct field **found;
    size_t n = 0;
    if (name == NULL || mapping_field_in(r->cx->query.mapping, json_text(name), r->arena) != NULL) {
        return false;
    }
    return mapping_match(r->cx->query.mapping, json_text(name), r->arena, &found, &n) && n == 0;
}

static bool function_score_rewritten(struct agg_run *r, const struct json *body)
{
    const struct json *functions = json_get(body, "functions");
    bool any = any_rewritten(r, json_get(body, "query"));
    for (uint32_t i = 0; functions != NULL && functions->type == JSON_ARRAY && i < functions->n; i++) {
        any = any_rewritten(r, json_get(&functions->items[i], "filter")) || any;
    }
    return any;
}

bool query_is_rewritten(struct agg_run *r, const struct json *query)
{
    static const char *const leaves[] = {"term", "terms", "range", "prefix", "wildcard", "fuzzy"};
    if (query->type != JSON_OBJECT || query->n == 0 || query->members[0].value.type != JSON_OBJECT) {
        return false;
    }
    struct str kind = query->members[0].key;
    const struct json *body = &query->members[0].value;
    for (size_t i = 0; i < ARRAY_LEN(leaves); i++) {
        if (str_is(kind, leaves[i])) {
            return leaf_rewritten(r, query, kind, body);
        }
    }
    if (str_is(kind, "bool")) {
        return bool_rewritten(r, body);
    }
    if (str_is(kind, "exists")) {
        return exists_rewritten(r, body);
    }
    if (str_is(kind, "function_score")) {
        return function_score_rewritten(r, body);
    }
    if (str_is(kind, "boosting")) {
        bool positive = any_rewritten(r, json_get(body, "positive"));
        return any_rewritten(r, json_get(body, "negative")) || positive;
    }
    if (str_is(kind, "ids")) {
        const struct json *values = json_get(body, "values");
        return values != NULL && values->type == JSON_ARRAY && values->n == 0;
    }
    const char *inner = str_is(kind, "constant_score") ? "filter"
                        : str_is(kind, "dis_max")      ? "queries"
                        : str_is(kind, "nested")       ? "query"
                                                       : NULL;
    return str_is(kind, "wrapper") || (inner != NULL && any_rewritten(r, json_get(body, inner)));
}
