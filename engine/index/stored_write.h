/* stored_write.h - sources and stored fields of documents, in compressed blocks; and the table that finds a
 * document by its _id. One thread. */
#ifndef INDEX_STORED_WRITE_H
#define INDEX_STORED_WRITE_H

#include "engine/index/column_write.h"

/* What is kept of a document. */
void stored_record_source(struct buf *to, struct str source); /* p == NULL: none */
void stored_record_begin_values(struct buf *to, size_t n);
void stored_record_num(struct buf *to, struct str field, int64_t v);
void stored_record_bytes(struct buf *to, struct str field, struct str v);

struct stored_writer {
    struct seg_out *out;
    struct buf raw;  /* the block being filled */
    struct buf held; /* whole blocks that wait for the dictionary: length, bytes */
    struct buf first_docs, offsets, packed;
    doc_id first_doc;
    bool decided;
    struct buf dictionary;
    void *primed, *state; /* LZ4 streams: with the dictionary loaded, and at work */
    uint32_t n_blocks;
};

/* Opens the section. */
void stored_writer_init(struct stored_writer *w, struct seg_out *out);
void stored_writer_fini(struct stored_writer *w);
/* Documents in order; record may be empty (nested documents). */
void stored_writer_doc(struct stored_writer *w, doc_id doc, struct str record);
void stored_writer_finish(struct stored_writer *w, struct buf *meta);

/* The table over a segment's ids; `docs` of them come from the source. */
void ids_write(struct seg_out *o, const struct bytes_source *src, uint32_t docs, struct buf *meta);

#endif
