/* column_write.h - writing values by document: numbers, byte strings, points.
 *
 * Writers read their values from a source as often as they need (widths first, then bits), so that nothing is
 * gathered in memory. The index buffer and merging are such sources. One thread. */
#ifndef INDEX_COLUMN_WRITE_H
#define INDEX_COLUMN_WRITE_H

#include "engine/index/bitpack.h"
#include "engine/index/seg_out.h"

/* Numbers by ascending document; a document's are ascending. */
struct num_source {
    void *self;
    void (*rewind)(void *self);
    /* false at the end. *v is valid until the next call; *n > 0. */
    bool (*next)(void *self, doc_id *doc, const int64_t **v, uint32_t *n);
};

struct bytes_source {
    void *self;
    void (*rewind)(void *self);
    /* One value at a time; those of a document in order. */
    bool (*next)(void *self, doc_id *doc, struct str *v);
};

/* Writes one section and appends what the directory keeps to meta. doc_count is the segment's. */
void num_column_write(struct seg_out *o, const struct num_source *src, enum section_kind kind,
                      uint32_t doc_count, struct buf *meta);
void bytes_column_write(struct seg_out *o, const struct bytes_source *src, enum section_kind kind,
                        uint32_t doc_count, struct buf *meta);

/* (value, document) pairs in the order of value, then document. */
struct point_source {
    void *self;
    bool (*next)(void *self, int64_t *value, doc_id *doc);
};
/* `single`: no document has two values. */
void points_write(struct seg_out *o, const struct point_source *src, bool single, struct buf *meta);

/* Geo points in the order of geo_curve(). */
struct geo_entry {
    int32_t lat, lon;
    doc_id doc;
};
struct geo_source {
    void *self;
    bool (*next)(void *self, struct geo_entry *e);
};
void geo_write(struct seg_out *o, const struct geo_source *src, struct buf *meta);
/* Place of a point on a Hilbert curve over the encoded plane: near on the curve is near on the map. */
uint64_t geo_curve(int32_t lat, int32_t lon);

/* ---- parts shared by the writers ---- */

/* Gathers which documents have how many values. */
struct index_gather {
    struct seg_out *out;
    uint32_t doc_count; /* of the segment */
    uint64_t *present;
    uint32_t docs; /* with values */
    uint64_t n_values;
    uint32_t last;
    bool multi, any;
};

enum err index_gather_init(struct index_gather *g, struct seg_out *o, uint32_t doc_count);
void index_gather_fini(struct index_gather *g);
static inline void index_gather_add(struct index_gather *g, doc_id doc, uint32_t n)
{
    bool again = g->any && g->last == doc;
    g->docs += !again;
    g->multi |= again || n > 1;
    g->any = true;
    g->last = doc;
    g->n_values += n;
    bits_set(g->present, doc);
}
/* Puts counts into meta, and bitmap and ranks into the open section. The starts (when multi) are written by
 * the caller, as seg_bits of index_gather_width(), docs + 1 of them. */
void index_gather_write(struct index_gather *g, struct buf *meta);
static inline unsigned index_gather_width(const struct index_gather *g)
{
    return bits_field_width(bits_width(g->n_values));
}

#endif
