/* completion.h - the section of a segment that serves one completion field.
 *
 * Entries are (analysed path, weight, input, document), sorted by path bytes, then weight descending, then
 * input, then document; those that differ in their document alone are kept together. Paths are UTF-8 with
 * Lucene's separator U+001F between positions; where the field has contexts, the context's number, its value
 * and U+001D stand before, as in Lucene's ContextSuggestField. Blocks of entries carry their greatest weight,
 * and so do groups of blocks, so that the best k of a prefix are found without reading the prefix's whole
 * range.
 *
 * Nothing here knows mappings: the index buffer and the merger hand entries in, engine/suggest reads them. */
#ifndef ENGINE_INDEX_COMPLETION_H
#define ENGINE_INDEX_COMPLETION_H

#include "engine/index/segment.h"

struct completion_entry {
    struct str path;
    struct str input; /* as typed: the option's text */
    uint32_t weight;
    doc_id doc;
};

/* Collects entries in any order; strings are copied. */
struct completion_writer;
enum err completion_writer_new(struct completion_writer **out, const struct allocator *alloc,
                               struct errmsg *em);
void completion_writer_free(struct completion_writer *w); /* NULL ok */
enum err completion_writer_add(struct completion_writer *w, const struct completion_entry *e,
                               struct errmsg *em);
size_t completion_writer_bytes(const struct completion_writer *w);
/* Sorts and appends the section to `out`; the writer is empty afterwards. */
enum err completion_writer_finish(struct completion_writer *w, struct buf *out, struct errmsg *em);

/* Walks all entries in order: for merging. Strings are valid until the next call; false at the end or on
 * corrupt bytes (then *corrupt). */
struct completion_iter {
    struct bytes_in in;
    struct buf path;
    struct completion_entry entry;
    uint64_t left; /* groups */
    bool corrupt;
    uint32_t in_block;
    struct bytes_in docs; /* gaps to the group's further documents */
    doc_id doc;           /* the one before them; entry.doc is the caller's to change */
};
void completion_iter_init(struct completion_iter *it, struct str section);
void completion_iter_fini(struct completion_iter *it);
bool completion_iter_next(struct completion_iter *it);

#endif
