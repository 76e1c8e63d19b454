/* buffer_write.h - declarations shared by the writers of an index buffer. */
#ifndef INDEX_BUFFER_WRITE_H
#define INDEX_BUFFER_WRITE_H

#include "engine/index/buffer_int.h"
#include "engine/index/column_write.h"
#include "engine/index/directory_write.h"

struct writing {
    struct index_buffer *b;
    struct seg_out *out;
    struct directory dir;
    struct buf meta;              /* of the field at hand */
    uint32_t *order;              /* term numbers, by field, then by bytes */
    const uint32_t **field_terms; /* by field number: where its run of `order` begins */
};

/* buffer_columns.c: the sections of a field's values; each appends to w->meta. */
void buffer_write_nums(struct writing *w, const struct buffer_field *f);
void buffer_write_ords(struct writing *w, const struct buffer_field *f);
void buffer_write_sorted(struct writing *w, const struct buffer_field *f);
void buffer_write_bytes(struct writing *w, const struct value_stream *s, enum section_kind kind);
/* f is the field "_id"; NULL: there is none. */
void buffer_write_ids(struct writing *w, const struct buffer_field *f);

#endif
