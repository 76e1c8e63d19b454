#include "engine/query/query_ops.h"

bool nested_by_field(const struct nested_question *n, const struct query *q)
{
    if (str_starts(q->field_name, STR("_"))) { /* whatever a metadata field does */
        return true;
    }
    bool of_key = q->field != NULL && q->field->key_prefix.n > 0;
    const struct field *f = of_key ? q->field : mapping_field(n->mapping, q->field_name);
    if (n->path == NULL || f == NULL) {
        return f != NULL && f->nested != NULL;
    }
    return f->nested == NULL || f->nested->include_in_parent || f->nested->include_in_root
           || f->nested != n->path;
}

bool nested_may(const struct nested_question *n, const struct query *q)
{
    return q->ops->may == NULL || q->ops->may(n, q);
}

bool query_may_match_nested(const struct mapping *m, const struct query *q)
{
    return nested_may(&(struct nested_question){.mapping = m}, q);
}

bool query_may_match_others(const struct mapping *m, const struct query *q, const struct field *path)
{
    return nested_may(&(struct nested_question){m, path}, q);
}
