/* completion_paths.h - the forms in which a completion field indexes and looks up a text.
 *
 * As Lucene's ConcatenateGraphFilter: every path through the token graph, tokens joined by U+001F where
 * separators are preserved; a hole (a removed stop word, text behind the last token) leaves a separator of
 * its own. Pure. */
#ifndef ENGINE_MAPPING_COMPLETION_PATHS_H
#define ENGINE_MAPPING_COMPLETION_PATHS_H

#include "engine/analysis/analysis.h"

#define COMPLETION_SEPARATOR         0x1F
#define COMPLETION_CONTEXT_SEPARATOR 0x1D  /* between a context and the path that it qualifies */
#define COMPLETION_PATHS_MAX         10000 /* of one text; more are dropped */

struct completion_options {
    const struct analyzer *analyzer;
    bool preserve_separators, preserve_position_increments;
};

/* The distinct paths, in `arena`. No tokens: none. */
enum err completion_paths(const struct completion_options *o, struct str text, struct arena *arena,
                          const struct str **out, uint32_t *n, struct errmsg *em);

/* The length of geohashes whose cells are at most `metres` across. */
uint32_t geohash_levels_for(double metres);

#endif
