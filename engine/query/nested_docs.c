#include "engine/query/nested_docs.h"
#include "engine/query/query_ops.h"

struct asked {
    const struct mapping *mapping;
    const struct field *path; /* NULL: nested objects; else: documents that are no objects of this path */
};

static bool field_may(const struct asked *a, struct str name)
{
    if (str_starts(name, STR("_"))) { /* whatever a metadata field does */
        return true;
    }
    const struct field *f = mapping_field(a->mapping, name);
    if (a->path == NULL || f == NULL) {
        return f != NULL && f->nested != NULL;
    }
    return f->nested == NULL || f->nested->include_in_parent || f->nested->include_in_root
           || f->nested != a->path;
}

static bool may(const struct asked *a, const struct query *q);

static bool clauses_may(const struct asked *a, const struct query *q)
{
    bool required = false, any = false;
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        const struct bool_clause *c = &q->boolean.v[i];
        if (c->occur == OCCUR_MUST || c->occur == OCCUR_FILTER) {
            required = true;
            if (!may(a, c->query)) {
                return false;
            }
        } else if (c->occur == OCCUR_SHOULD) {
            any = any || may(a, c->query);
        }
    }
    return required || any;
}

static bool may(const struct asked *a, const struct query *q)
{
    switch (q->ops->kind) {
    case KIND_match_none:
        return false;
    case KIND_nested: /* it gives the documents that hold what it found */
        return a->path != NULL;
    case KIND_constant:
    case KIND_boost:
        return may(a, q->one.child);
    case KIND_terms: /* a set of points may be anywhere */
        return (q->field != NULL && q->field->type == FT_IP) || field_may(a, q->field_name);
    case KIND_term:
    case KIND_num_range:
    case KIND_geo_box:
        return field_may(a, q->field_name);
    case KIND_term_range: /* addresses are points */
        return q->field == NULL || q->field->type != FT_IP || field_may(a, q->field_name);
    case KIND_bool:
        return q->boolean.common != NULL || clauses_may(a, q);
    default:
        return true;
    }
}

bool query_may_match_nested(const struct mapping *m, const struct query *q)
{
    return may(&(struct asked){.mapping = m}, q);
}

bool query_may_match_others(const struct mapping *m, const struct query *q, const struct field *path)
{
    return may(&(struct asked){m, path}, q);
}
