/* source_filter.h - a document's source cut down to what _source patterns name.
 *
 * Patterns are dotted paths with `*` for any run of characters, dots included, as Elasticsearch's
 * XContentMapValues.filter reads them: a pattern that matches an object keeps (or drops) all below it.
 * Pure. */
#ifndef ENGINE_MAPPING_SOURCE_FILTER_H
#define ENGINE_MAPPING_SOURCE_FILTER_H

#include "common/base/json.h"
#include "common/base/jsonw.h"

struct source_patterns {
    const struct str *includes, *excludes;
    uint32_t n_includes, n_excludes; /* no includes: everything */
};

/* Writes the filtered form of `source` as a value. Paths longer than the ceiling of 8 KiB are dropped. */
void source_filter_write(const struct json *source, const struct source_patterns *p, struct jsonw *w);

#endif
