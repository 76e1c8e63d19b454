/* types.h - the names that 7.x gives the one type of an index: the warnings of requests that have them, and what they leave to find. */
#ifndef COORDINATOR_REST_TYPES_H
#define COORDINATOR_REST_TYPES_H

#include "coordinator/rest/rest.h"

/* What a request does that is deprecated; each has one text (types.c). */
enum deprecated_use {
    TYPED_INDEX,
    TYPED_GET,
    TYPED_SOURCE,
    TYPED_DELETE,
    TYPED_UPDATE,
    TYPED_BULK,
    TYPED_MGET,
    TYPED_SEARCH,
    TYPED_MSEARCH,
    TYPED_MSEARCH_TEMPLATE,
    TYPED_COUNT,
    TYPED_EXPLAIN,
    TYPED_VALIDATE,
    TYPED_REINDEX,
    TYPED_EXISTS,
    NAMED_IN_CREATE, /* include_type_name */
    NAMED_IN_GET_INDEX,
    NAMED_IN_PUT_MAPPING,
    NAMED_IN_GET_MAPPING,
    NAMED_IN_FIELD_MAPPING,
    NAMED_IN_PUT_TEMPLATE,
    NAMED_IN_GET_TEMPLATE,
    NAMED_IN_ROLLOVER,
    DEPRECATED_USES
};

/* The answer gets the Warning header of the use, once. */
void rest_deprecated(struct rest *r, enum deprecated_use use);
/* The type of the path, whose use is deprecated; p == NULL: none. */
struct str rest_type(struct rest *r, enum deprecated_use use);
/* include_type_name, whose use is deprecated. The error is in r->em. */
enum err rest_type_named(struct rest *r, enum deprecated_use use, bool *out);
/* The body of a search that finds documents of these types (with commas; n == 0: of any) alone: a copy of `tree` in `arena` with another
 * query. *changed: it was needed. ERR_NO_MEMORY. */
enum err rest_types_limit(const struct cluster_state *s, struct str types, const struct json *tree,
                          struct arena *arena, struct json *out, bool *changed, struct errmsg *em);

#endif
