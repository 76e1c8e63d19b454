/* segment_writer.h - making segments: from documents, and from other segments.
 *
 * An index buffer inverts documents in memory under a budget. It is written out as a segment when refresh
 * asks, and starts over empty. One thread at a time owns a buffer (the shard's strand). Merging reads
 * immutable segments and may run on any thread. Both produce the same format through the same section
 * writers. */
#ifndef ENGINE_INDEX_SEGMENT_WRITER_H
#define ENGINE_INDEX_SEGMENT_WRITER_H

#include "engine/index/segment.h"
#include "engine/mapping/document.h"

/* What the buffer adds by itself, so that document_parse() need not:
 *   _seq_no, _primary_term, _version   numeric columns of every document, nested ones too
 *   _id            term and binary column of the root; a document with an empty id (a no-op's tombstone) has
 * none _routing       term and binary column of a root that has one _ignored       terms _field_names   the
 * paths of a document's fields that have neither column nor norms _nested_path   term of each nested
 * document: the path of its object _tombstone     numeric column of a tombstone, 1 */
struct doc_meta {
    int64_t seq_no;
    int64_t primary_term;
    int64_t version;
};

struct index_buffer;

enum err index_buffer_new(struct index_buffer **out, const struct allocator *alloc, struct errmsg *em);
void index_buffer_free(struct index_buffer *b); /* NULL ok */
/* From here on, until the buffer is written: how often a document has an exact term counts as well. */
void index_buffer_count_terms(struct index_buffer *b, bool counts);
/* Adds a document with its nested ones; *root is the root's number in the segment to come. On failure the
 * buffer is as it was. ERR_ILLEGAL_ARGUMENT for an immense term (over 32766 bytes). */
enum err index_buffer_add(struct index_buffer *b, const struct parsed_doc *doc, const struct doc_meta *meta,
                          doc_id *root, struct errmsg *em);
/* Adds the tombstone of a delete or, with an empty id, of a no-op: a root with `_id` and what meta says, without source. It is
 * for the caller to see that it never lives. Else as index_buffer_add(). */
enum err index_buffer_add_tombstone(struct index_buffer *b, struct str id, const struct doc_meta *meta,
                                    doc_id *root, struct errmsg *em);
uint32_t index_buffer_docs(const struct index_buffer *b);
size_t index_buffer_bytes(const struct index_buffer *b); /* memory held */
/* The source and routing of a buffered root document, for real-time gets; borrowed until the buffer changes.
 */
bool index_buffer_stored(const struct index_buffer *b, doc_id root, struct str *source, struct str *routing);
const struct doc_meta *index_buffer_meta(const struct index_buffer *b, doc_id root);
/* Writes all of it as a segment into `out` and empties the buffer (also on failure). `deleted` (may be NULL)
 * marks documents that died in the buffer already: they are left out of postings order no more than any
 * deleted document: they stay, and the caller keeps their bits in the live bitmap. */
enum err index_buffer_write(struct index_buffer *b, struct buf *out, struct errmsg *em);

struct merge_source {
    struct segment *segment;
    const uint64_t *live; /* bitmap of live documents, NULL: all */
};
/* Merges into a new segment, dropping what is not live. Appends the bytes to a file made at `path` (not
 * synced), in bounded memory: sections stream. remap, when not NULL, receives per source an array (in
 * `arena`) of new numbers, DOC_END for dropped ones. `cancel` is polled. Bodies of the sources are verified
 * on the way. */
struct merge_io {
    const struct fs *fs;
    const char *path; /* NULL: into `memory` */
    struct buf *memory;
    bool (*cancelled)(void *self);
    void *self;
};
enum err segment_merge(const struct merge_source *sources, size_t n, const struct merge_io *io,
                       struct arena *arena, doc_id ***remap, struct errmsg *em);

#endif
