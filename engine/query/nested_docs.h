/* nested_docs.h - the kinds of documents that a query may match, by the rules of Elasticsearch's NestedHelper. It decides where a filter
 * stands beside a query: one that keeps nested objects out, or one that lets those of a path in alone. */
#ifndef QUERY_NESTED_DOCS_H
#define QUERY_NESTED_DOCS_H

#include "engine/query/query.h"

/* May it match objects below a nested field (mightMatchNestedDocs)? */
bool query_may_match_nested(const struct mapping *m, const struct query *q);
/* May it match other documents than the objects of this path (mightMatchNonNestedDocs)? */
bool query_may_match_others(const struct mapping *m, const struct query *q, const struct field *path);

/* ---- for the rows of kinds ---- */

struct nested_question {
    const struct mapping *mapping;
    const struct field *path; /* NULL: nested objects; else: documents that are no objects of this path */
};
bool nested_may(const struct nested_question *n, const struct query *q);
/* What the field of the query has to say. */
bool nested_by_field(const struct nested_question *n, const struct query *q);

#endif
