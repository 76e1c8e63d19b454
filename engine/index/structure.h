/* structure.h - is a segment what a writer makes, and not only bytes whose checksums are right?
 *
 * Everything is decoded, and parts that say the same are held against each other, as Lucene's CheckIndex does: the directory's
 * counts against terms, postings, norms and columns; dictionaries against their look-up; ordinals against postings;
 * impacts against the frequencies that they bound; points against columns; the table of ids against the ids. For
 * `index.shard.check_on_startup: true`, `serai-node check` and tests. Takes as long as reading every document; ends
 * early where stop.h says so. Any thread. */
#ifndef ENGINE_INDEX_STRUCTURE_H
#define ENGINE_INDEX_STRUCTURE_H

#include "engine/index/segment.h"

/* ERR_CORRUPT names the field and the error; ERR_NODE_CLOSED: the check was stopped. */
enum err segment_check_structure(const struct segment *s, struct errmsg *em);
/* Asserts it of one that was just made, unless its bytes did not get where they belong. */
void segment_invariant(const struct segment *s);

#endif
