/* ignored.h - `_ignored`: the names of a document's fields that were not indexed as they came. Pure reads of
 * a segment. */
#ifndef ENGINE_INDEX_IGNORED_H
#define ENGINE_INDEX_IGNORED_H

#include "engine/index/segment.h"

/* The names in `arena`, in the order in which Elasticsearch keeps them (that of a Java HashSet); *n is 0 when
 * there are none. */
enum err segment_ignored(const struct segment *s, doc_id doc, struct arena *arena, struct str **out,
                         uint32_t *n, struct errmsg *em);

#endif
