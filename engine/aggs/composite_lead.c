/* The values of a composite's first source that Elasticsearch visits once per document.
 *
 * Where it can, it walks the points of the leading field instead of the documents: then a document that has two
 * values in one bucket of that source is met once, else as often as it has values there. Answers show which. */
#include "engine/aggs/composite.h"

#include "engine/mapping/field_class.h"

static const struct json *only(const struct json *clauses)
{
    return json_is(clauses, JSON_ARRAY) ? (clauses->n == 1 ? &clauses->items[0] : NULL) : clauses;
}

/* The query without what Lucene takes away around it. */
static const struct json *bare(const struct json *q)
{
    while (json_is(q, JSON_OBJECT) && q->n == 1) {
        const struct json *body = &q->members[0].value;
        if (str_is(q->members[0].key, "constant_score")) {
            q = json_get(body, "filter");
            continue;
        }
        if (!str_is(q->members[0].key, "bool") || !json_is(body, JSON_OBJECT) || body->n != 1) {
            return q;
        }
        const struct json *filter = json_get(body, "filter"), *must = json_get(body, "must");
        q = only(filter != NULL ? filter : must);
    }
    return NULL;
}

/* The search is for all documents, or for those with values of the field in a range. */
static bool asks_for_all(const struct agg_run *r, struct str path)
{
    const struct json *q = r->cx->source->query;
    if (r->cx->shard->scope.n_alias_filters > 0) {
        return false;
    }
    if (q != NULL) {
        q = bare(q);
        if (q == NULL) {
            return false;
        }
        const struct json_member *m = &q->members[0];
        if (str_is(m->key, "range")) {
            return json_get_str(&m->value, path) != NULL;
        }
        if (str_is(m->key, "exists")) {
            const struct json *name = json_get(&m->value, "field");
            return name != NULL && str_eq(json_text(name), path);
        }
        if (!str_is(m->key, "match_all")) {
            return false;
        }
    }
    return !mapping_has_nested(r->cx->query.mapping); /* else a filter for root documents stands beside it */
}

bool composite_lead_once(const struct agg_run *r, const struct agg *a, const struct field *f, bool from_start)
{
    const struct composite_source *s = &composite_params(a)->v[0];
    if (a->parent->type != &agg_type_root || f == NULL || !f->index || s->vs.script != NULL || s->descending
        || (s->missing_bucket && from_start) || (s->kind != COMPOSITE_TERMS && s->kind != COMPOSITE_DATE)) {
        return false;
    }
    /* Not of integers: Elasticsearch looks for them under another name than they have. */
    bool whole = f->class->is_numeric && field_is_whole(f) && f->class->num != NUM_INTEGER;
    return (whole || field_is_date(f)) && asks_for_all(r, f->path);
}
