/* offset_map.h - building a character filter's output together with the way back to its input.
 *
 * A filter copies stretches of its input and replaces others. Inside a replacement Lucene counts in UTF-16
 * units: the first ones lie on those of the replaced text, one by one, what exceeds it lies on its last unit.
 */
#ifndef ENGINE_ANALYSIS_OFFSET_MAP_H
#define ENGINE_ANALYSIS_OFFSET_MAP_H

#include "engine/analysis/component.h"

struct remap {
    struct arena *arena;
    struct str in;
    struct buf out;
    struct offset_step *steps;
    size_t n, cap;
    size_t at; /* input consumed */
    bool failed;
};

void remap_init(struct remap *r, struct str in, struct arena *arena);
/* Copies the input up to byte `to`. */
void remap_copy(struct remap *r, size_t to);
/* Puts `with` in place of the input from here up to byte `to`. */
void remap_replace(struct remap *r, size_t to, struct str with);
/* Copies the rest and makes the output the filtered text, its map composed with the one that was there. Frees
 * r. */
enum err remap_end(struct remap *r, struct filtered_text *t, struct errmsg *em);
/* Frees r after an error. */
void remap_fini(struct remap *r);

#endif
