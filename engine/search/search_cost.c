#include "engine/search/search_cost.h"

#include "engine/collect/whole_query.h"

#define TEXT_BYTES_MAX 2048 /* of a request: queries may take longer to read than to run */
#define HIT_COST       500  /* of a hit that is read and printed */
#define BARE_HIT_COST  16   /* of one that shows nothing that is stored */
#define STORED_BYTES_MAX \
    (64 * KIB)        /* packed, of what a hit may have to be read of: more takes longer than such a search */
#define SKIP_RATIO  8 /* a single term's documents to those looked at, where its total is known beforehand */
#define COUNT_RATIO 8 /* a document that is only counted costs so much less than one that is scored */

/* Is all that the query asks whether any of some terms is there? */
static bool any_of_terms(const struct query *q)
{
    bool all = q->ops == &q_bool && q->boolean.min_should <= 1;
    for (uint32_t i = 0; all && i < q->boolean.n; i++) {
        all = q->boolean.v[i].occur == OCCUR_SHOULD && q->boolean.v[i].query->ops == &q_term;
    }
    return all;
}

/* Requests of nothing but a query and a page of its hits, best first. */
static bool is_plain(const struct search_context *cx)
{
    const struct search_source *s = cx->source;
    return s->text.n <= TEXT_BYTES_MAX && cx->shard->scope.n_alias_filters == 0 && !cx->shard->scope.scroll
           && s->agg_spec == NULL && s->suggest_spec == NULL && s->highlight_spec == NULL
           && s->post_filter == NULL && s->n_sort == 0 && s->n_rescore == 0 && s->n_script_fields == 0
           && s->n_fields == 0 && s->n_docvalue_fields == 0 && s->collapse.field.p == NULL
           && s->search_after == NULL && s->slice == NULL && !s->names && !s->nested_hits && !s->explain
           && !s->profile && s->from >= 0 && s->size >= 0;
}

static const struct json *member(const struct json *o, const char *key)
{
    return o->type == JSON_OBJECT ? json_get(o, key) : NULL;
}

static bool is_kind(struct str s, const char *const *kinds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(s, kinds[i])) {
            return true;
        }
    }
    return false;
}

/* Words that are looked for as they are: nothing is expanded over the fields or the terms that there are. */
static bool plain_match(const struct json *body)
{
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json *v = &body->members[i].value;
        if (member(v, "fuzziness") != NULL || member(v, "analyzer") != NULL
            || str_is(body->members[i].key, "fuzziness") || str_is(body->members[i].key, "analyzer")) {
            return false;
        }
    }
    return true;
}

static bool plain_multi_match(const struct json *body)
{
    const struct json *fields = member(body, "fields"), *type = member(body, "type");
    if (fields == NULL || fields->type != JSON_ARRAY || fields->n == 0 || !plain_match(body)
        || (type != NULL && str_find_str(json_text(type), STR("prefix")) != SIZE_MAX)) {
        return false;
    }
    for (uint32_t i = 0; i < fields->n; i++) {
        if (fields->items[i].type != JSON_STRING || str_find_str(fields->items[i].s, STR("*")) != SIZE_MAX) {
            return false;
        }
    }
    return true;
}

#define DEPTH_MAX 8

static bool plain_query(const struct json *q, unsigned depth);

/* All queries below the keys, which hold one or a list of them. */
static bool plain_clauses(const struct json *body, const char *const *keys, size_t n_keys, unsigned depth)
{
    for (size_t k = 0; k < n_keys; k++) {
        const struct json *v = member(body, keys[k]);
        bool many = v != NULL && v->type == JSON_ARRAY;
        for (uint32_t i = 0; v != NULL && i < (many ? v->n : 1); i++) {
            if (!plain_query(many ? &v->items[i] : v, depth + 1)) {
                return false;
            }
        }
    }
    return true;
}

static bool plain_functions(const struct json *body, unsigned depth)
{
    static const char *const query[] = {"query"}, *const filter[] = {"filter"};
    const struct json *functions = member(body, "functions");
    for (uint32_t i = 0; functions != NULL && functions->type == JSON_ARRAY && i < functions->n; i++) {
        if (!plain_clauses(&functions->items[i], filter, 1, depth)) {
            return false;
        }
    }
    return plain_clauses(body, query, 1, depth);
}

/* Is it plain to see that building the query takes no longer than its text is long? What is not known may take long. */
static bool plain_query(const struct json *q, unsigned depth)
{
    static const char *const simple[] = {"match_all", "match_none", "term",  "terms",
                                         "ids",       "range",      "exists"};
    static const char *const words[] = {"match", "match_phrase"};
    static const char *const parts[] = {"must",     "should",   "filter", "must_not",
                                        "positive", "negative", "queries"};
    static const char *const compounds[] = {"bool", "constant_score", "boosting", "dis_max"};
    if (depth > DEPTH_MAX || q->type != JSON_OBJECT || q->n != 1 || q->members[0].value.type != JSON_OBJECT) {
        return false;
    }
    struct str kind = q->members[0].key;
    const struct json *body = &q->members[0].value;
    if (is_kind(kind, simple, ARRAY_LEN(simple))) {
        return true;
    }
    if (is_kind(kind, words, ARRAY_LEN(words))) {
        return plain_match(body);
    }
    if (str_is(kind, "multi_match")) {
        return plain_multi_match(body);
    }
    if (is_kind(kind, compounds, ARRAY_LEN(compounds))) {
        return plain_clauses(body, parts, ARRAY_LEN(parts), depth);
    }
    return str_is(kind, "function_score") && plain_functions(body, depth);
}

/* Does it take long to read any of the documents? */
static bool stores_much(const struct view *v)
{
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        if (segment_stored_max(v->leaves[i].segment) > STORED_BYTES_MAX) {
            return true;
        }
    }
    return false;
}

uint64_t search_cost(const struct search_context *cx, const struct query **q)
{
    const struct search_source *s = cx->source;
    const struct view *v = cx->shard->view;
    struct errmsg em;
    *q = NULL;
    if (!is_plain(cx) || (s->query != NULL && !plain_query(s->query, 0))
        || (s->size > 0 && !s->stored_none && stores_much(v))) {
        return SEARCH_COST_UNKNOWN;
    }
    err_clear(&em);
    if (whole_query(q, cx, QUERY_RUN, &em) != ERR_OK) {
        *q = NULL;
        return SEARCH_COST_UNKNOWN;
    }
    uint64_t cost = query_cost(v, *q), hits = (uint64_t)s->from + (uint64_t)s->size;
    if ((*q)->ops == &q_term && !s->has_min_score && s->terminate_after == 0) {
        cost /= SKIP_RATIO;
    } else if (hits == 0 && !s->has_min_score && any_of_terms(*q)) {
        cost /= COUNT_RATIO;
    }
    return cost_add(cost, cost_times(hits, s->stored_none ? BARE_HIT_COST : HIT_COST));
}
