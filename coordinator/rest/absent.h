/* absent.h - paths of Elasticsearch 7.12.1 that Serai lacks: they are refused by name, never taken for an index or a document. Pure. */
#ifndef COORDINATOR_REST_ABSENT_H
#define COORDINATOR_REST_ABSENT_H

#include "common/base/str.h"

/* The part of a path that names something that is not built ("_snapshot"); STR_NULL: none does. To be asked where no route
 * spells the path's parts out. */
struct str absent_part(const struct str *parts, unsigned n);

#endif
