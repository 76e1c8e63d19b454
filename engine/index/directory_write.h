/* directory_write.h - the last section of a segment: names, statistics and headers of what all others hold.
 */
#ifndef INDEX_DIRECTORY_WRITE_H
#define INDEX_DIRECTORY_WRITE_H

#include "engine/index/seg_out.h"

struct directory {
    struct seg_out *out;
    struct buf stored, ids; /* what their writers said */
    struct buf fields;
    uint32_t n_fields;
    uint32_t roots; /* section number plus one; 0: every document is a root */
};

struct directory_field {
    struct str name;
    uint32_t has, doc_count;
    uint64_t sum_df, sum_ttf, n_terms;
};

void directory_init(struct directory *d, struct seg_out *out);
void directory_fini(struct directory *d);
/* Fields in the order of their names; `meta` is what the writers of the field's sections appended, in the
 * order of read_field() in directory_read.c. */
void directory_add(struct directory *d, const struct directory_field *f, const struct buf *meta);
/* Writes the directory and ends the segment. */
enum err directory_finish(struct directory *d, uint32_t doc_count);

/* One byte a document, and which documents have one when not all do. */
void norms_write(struct seg_out *o, const uint8_t *norms, const uint64_t *present, uint32_t doc_count,
                 struct buf *meta);

#endif
