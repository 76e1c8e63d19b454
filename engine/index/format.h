/* format.h - the constants of the segment format, for its writer and its reader; docs/segment-format.md describes every
 * byte. */
#ifndef INDEX_FORMAT_H
#define INDEX_FORMAT_H

#include "engine/index/segment.h"

#define SEG_MAGIC        0x5241524553474553ULL /* "SEGSERAR" read as little-endian */
#define SEG_END_MAGIC    0x444E455241524553ULL /* "SERAREND" */
#define SEG_VERSION      2
#define SEG_VERSION_1    1 /* still read: a checksum a section, none a block */
#define SEG_HEADER_BYTES 16
#define SEG_FOOTER_BYTES 64
#define SEG_ENTRY_BYTES  32 /* of the section table */
#define SEG_ALIGN        16 /* where sections begin */
/* Every block of so many bytes of the file, sections' and those between, has a checksum of its own. */
#define SEG_BLOCK_SHIFT 14
#define SEG_BLOCK_BYTES ((size_t)1 << SEG_BLOCK_SHIFT)
/* What a writer holds of the open section before it goes out; in version 1 also the pieces of a section's checksum, each
 * hash the seed of the next. */
#define SEG_HASH_BYTES ((size_t)64 << 10)

#define SEG_DOCS_MAX       ((uint32_t)INT32_MAX - 128) /* Lucene's limit, roughly */
#define SEG_TERM_BYTES_MAX 32766

enum section_kind {
    SECTION_FIELDS = 1, /* the directory: names, statistics, headers of everything else */
    SECTION_ROOTS,
    SECTION_POSTINGS,
    SECTION_POSITIONS,
    SECTION_TERMS,
    SECTION_NORMS,
    SECTION_NUMS,
    SECTION_ORDS,
    SECTION_BYTES,
    SECTION_RANGES,
    SECTION_POINTS,
    SECTION_GEO,
    SECTION_STORED,
    SECTION_IDS,
    SECTION_COMPLETION,
    SECTION_KINDS
};

/* Terms a block of the dictionary holds; the last one may hold fewer. */
#define TERMS_BLOCK 32
/* Numbers a block of points holds, and boxes that one box of the next level of the geo tree holds. */
#define POINTS_BLOCK 128
#define GEO_FAN      16

/* How a numeric column keeps its values. */
enum num_encoding { NUM_SCALED, NUM_TABLE };
#define NUM_TABLE_MAX 256

#endif
