/* seg_int.h - declarations shared by the readers of a segment: its sections and its directory of fields.
 */
#ifndef INDEX_SEG_INT_H
#define INDEX_SEG_INT_H

#include <stdatomic.h>

#include "engine/index/bitpack.h"
#include "engine/index/format.h"

struct section {
    const uint8_t *p; /* NULL: none */
    size_t n;
    uint64_t hash; /* version 1 */
    uint32_t kind;
};

/* The checksums of a file's blocks, and which blocks were found right. */
struct seg_checks {
    const uint8_t *sums;     /* u64 a block */
    size_t bytes;            /* that the blocks make up, from the file's begin */
    _Atomic uint64_t *right; /* a bit a block; NULL: nothing is to be checked */
    _Atomic uint64_t damage; /* where the first wrong block was come upon: offset plus one; 0: none */
};

/* Documents to runs of values: shared by numeric and binary columns. */
struct value_index {
    const uint64_t *present; /* NULL: every document has a value */
    const uint32_t *ranks;
    const uint8_t *starts; /* NULL: one value each */
    uint8_t start_width;
    uint32_t doc_count; /* documents with a value */
    uint64_t n_values;
};

struct column_meta {
    bool there;
    struct section section;
    struct value_index index;
    int64_t min, max;
    uint64_t gcd;
    uint8_t width;
    const uint8_t *table, *data;
};

struct bytes_meta {
    bool there;
    struct value_index index;
    struct str head; /* the section's bytes before the addresses */
    uint8_t width;   /* of addresses */
    const uint8_t *addresses, *data;
    uint64_t data_n;
};

struct points_meta {
    bool there, single; /* single: no document has two */
    uint64_t n;
    uint32_t n_blocks;
    int64_t min, max;
    const uint8_t *firsts, *offsets; /* i64 and u64 a block */
    const uint8_t *data, *end;
};

struct geo_meta {
    bool there;
    uint64_t n;
    uint32_t n_leaves;
    const uint8_t *boxes;   /* four i32 each; the leaves' first, then level by level up to the root */
    const uint8_t *offsets; /* u64 a leaf */
    const uint8_t *data, *end;
    uint64_t n_boxes;
};

struct field_impl {
    struct section terms, postings, positions;
    struct str prefix;
    uint64_t n_blocks;
    const uint8_t *keys, *offsets, *blocks;
    size_t blocks_n;
    struct section norms_section;
    const uint8_t *norms;
    const uint64_t *norms_present;
    struct column_meta nums, ords;
    struct bytes_meta bytes, ranges;
    struct points_meta points;
    struct geo_meta geo;
    struct section completion;
};

struct stored_meta {
    struct section section;
    uint32_t n_blocks;
    struct str dictionary;     /* raw bytes that every block is compressed against */
    const uint8_t *first_docs; /* u32 a block */
    const uint8_t *offsets;    /* u64 a block, and the end */
    const uint8_t *data;
    size_t data_n;
    size_t
        block_max; /* bytes of the largest block, packed; of very many blocks, of the average one. A hint: nothing is verified */
};

struct ids_meta {
    uint32_t n_slots; /* a power of two; 0: no table */
    const uint8_t *tags, *docs;
};

struct segment {
    _Atomic uint32_t refs;
    const uint8_t *p;
    size_t n;
    const struct fs *fs; /* mapped through it; NULL: memory */
    struct fs_map map;
    void *memory;                  /* the bytes at p, where the segment owns them; else NULL */
    const struct allocator *alloc; /* of the memory */
    uint64_t unique;
    uint32_t doc_count;
    uint32_t n_sections, n_fields;
    const char *path; /* of the file; NULL: memory */
    struct seg_checks *checks;
    struct section *sections;
    struct seg_field *fields; /* by name */
    struct field_impl *impls;
    const uint64_t *roots;
    struct stored_meta stored;
    struct ids_meta ids;
    const struct bytes_meta *id_bytes, *routing_bytes; /* columns of _id and _routing; NULL: none */
    struct arena arena;
    size_t accounted; /* of the node's memory, as `accounting` */
};

static inline const struct field_impl *impl_of(const struct seg_field *f)
{
    return f->impl;
}

/* Checks the blocks of n bytes that were not found right yet. */
bool seg_check_blocks(const struct segment *s, const uint8_t *p, size_t n);
/* Are n bytes of the segment what was written? To be asked before they are read. When not, the segment counts as damaged
 * from now on (segment_damage()), and what is read elsewhere of them is of no account. */
static inline bool seg_check(const struct segment *s, const void *p, size_t n)
{
    const _Atomic uint64_t *right = s->checks->right;
    if (right == NULL) {
        return true;
    }
    size_t from = (size_t)((const uint8_t *)p - s->p);
    size_t first = from >> SEG_BLOCK_SHIFT, last = (from + n - (n > 0)) >> SEG_BLOCK_SHIFT;
    if (LIKELY(first == last
               && ((atomic_load_explicit(&right[first >> 6], memory_order_acquire) >> (first & 63)) & 1)
                      != 0)) {
        return true;
    }
    return seg_check_blocks(s, p, n);
}
/* What was read at a place means nothing, whatever its checksum says: the segment counts as damaged. Returns false. */
bool seg_broken(const struct segment *s, const void *at);
static inline bool seg_check_section(const struct segment *s, const struct section *section)
{
    return section->n == 0 || seg_check(s, section->p, section->n);
}

/* Reads the directory; false: damaged. */
bool seg_read_directory(struct segment *s, struct bytes_in in);
/* The section that a directory entry names (number plus one, 0: none) if it is of the kind; sets in->bad
 * otherwise. */
struct section seg_get_section(const struct segment *s, struct bytes_in *in, enum section_kind kind);

bool column_meta_read(struct column_meta *c, const struct segment *s, struct bytes_in *meta,
                      enum section_kind kind);
bool bytes_meta_read(struct bytes_meta *b, const struct segment *s, struct bytes_in *meta,
                     enum section_kind kind);
bool points_meta_read(struct points_meta *m, const struct segment *s, struct bytes_in *meta);
bool geo_meta_read(struct geo_meta *m, const struct segment *s, struct bytes_in *meta);
bool stored_meta_read(struct stored_meta *m, const struct segment *s, struct bytes_in *meta);
bool ids_meta_read(struct ids_meta *m, const struct segment *s, struct bytes_in *meta);

/* Number of values of doc, and the first one's index; never reaches past n_values. */
uint32_t value_index_seek(const struct value_index *x, doc_id doc, uint64_t *first);
void column_init(struct num_column *c, const struct seg_field *f, const struct column_meta *m);
bool bytes_meta_value(const struct segment *s, const struct bytes_meta *b, doc_id doc, uint32_t i,
                      struct str *out);

/* Walk all points in the order they are kept in, for merging; zero but for `field` before the first call. */
struct points_iter {
    const struct seg_field *field;
    uint32_t block, at, n;
    bool corrupt;
    int64_t values[POINTS_BLOCK];
    doc_id docs[POINTS_BLOCK];
};
bool points_iter_next(struct points_iter *it, int64_t *value, doc_id *doc);

struct geo_iter {
    const struct seg_field *field;
    uint32_t leaf, at, n;
    bool corrupt;
    uint32_t lat[POINTS_BLOCK], lon[POINTS_BLOCK];
    doc_id docs[POINTS_BLOCK];
};
bool geo_iter_next(struct geo_iter *it, int32_t *lat, int32_t *lon, doc_id *doc);

static inline unsigned popcount64(uint64_t v)
{
    /* Baseline x86-64 has no instruction for it; this beats libgcc's call. */
    v -= (v >> 1) & 0x5555555555555555ULL;
    v = (v & 0x3333333333333333ULL) + ((v >> 2) & 0x3333333333333333ULL);
    return (unsigned)((((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL) >> 56);
}

#endif
