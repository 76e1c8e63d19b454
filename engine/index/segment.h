/* segment.h - reading one immutable segment.
 *
 * A segment is a run of bytes, mapped from a file or held in memory, in the format of docs/segment-format.md.
 * It holds documents numbered from 0: nested documents before their root. It never changes; deletions live
 * beside it (live.h bitmaps, one per point-in-time view). Reference-counted; every reading function is safe
 * from any thread, and safe on any bytes: opening verifies the header, the footer, the section table and the
 * directory; the rest is verified block by block when it is first read (segment_damage()); decoders check bounds.
 *
 * What a field has in a segment, it has independently of mappings: readers go by name and capability. */
#ifndef ENGINE_INDEX_SEGMENT_H
#define ENGINE_INDEX_SEGMENT_H

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/fs.h"

typedef uint32_t doc_id;   /* within a segment */
#define DOC_END UINT32_MAX /* sorts after every document */

struct segment;

/* Maps the file and verifies its frame (not the sections' bodies). The mapping goes with the last reference.
 */
enum err segment_open(struct segment **out, const struct fs *fs, const char *path, struct errmsg *em);
/* The same over bytes in memory, which the segment takes (freed with `alloc`). */
enum err segment_open_memory(struct segment **out, char *bytes, size_t n, const struct allocator *alloc,
                             struct errmsg *em);
struct segment *segment_ref(struct segment *s);
void segment_unref(struct segment *s); /* NULL ok */
/* Checks every block's checksum, also of those that were checked before; ERR_CORRUPT names file, section and offset. */
enum err segment_verify(const struct segment *s, struct errmsg *em);
/* Has a reader come upon bytes that are not what was written? Then ERR_CORRUPT, with file, section and offset: what was
 * read since the segment was opened is of no account. Blocks are checked when they are first read: who answers from a
 * segment asks this afterwards. */
enum err segment_damage(const struct segment *s, struct errmsg *em);
/* The file is not there any more, or not as long as it was: it counts as damaged from now on. */
void segment_look(const struct segment *s);
/* Verified blocks may be damaged by now, if their pages came from the disk again: each block is verified again with its next read.
 * Any thread. */
void segment_doubt(const struct segment *s);
uint32_t segment_doc_count(const struct segment *s); /* all, deleted and nested ones too */
size_t segment_bytes(const struct segment *s);
/* A hash that depends on every byte of the file: what tells it from another one of its name. Costs nothing. */
uint64_t segment_footer(const struct segment *s);
bool segment_in_memory(const struct segment *s);
uint64_t segment_unique(
    const struct segment *s); /* a number no other segment of this process has: cache keys */
/* Bitmap of root documents; NULL when all are roots (no nested documents in it). */
const uint64_t *segment_roots(const struct segment *s);

/* ---- fields
 * ------------------------------------------------------------------------------------------------ */

enum {
    SEG_TERMS = 1 << 0, /* postings */
    SEG_FREQS = 1 << 1,
    SEG_POSITIONS = 1 << 2,
    SEG_OFFSETS = 1 << 3,
    SEG_NORMS = 1 << 4,
    SEG_NUMS = 1 << 5,   /* numeric column */
    SEG_ORDS = 1 << 6,   /* ordinals column over the field's own dictionary */
    SEG_POINTS = 1 << 7, /* sorted numbers for ranges */
    SEG_GEO = 1 << 8,    /* k-d tree */
    SEG_BYTES = 1 << 9,  /* binary column */
    SEG_COMPLETION = 1 << 10,
    SEG_RANGES = 1 << 11 /* range fields */
};

struct seg_field {
    struct str name;
    uint32_t has;       /* SEG_* */
    uint32_t doc_count; /* documents with at least one term */
    uint64_t sum_df;    /* sum of document frequencies */
    uint64_t sum_ttf;   /* sum of total term frequencies (of document frequencies without SEG_FREQS) */
    uint64_t n_terms;
    const struct segment *segment;
    const void *impl; /* readers' own */
    /* A view of the terms that begin with `prefix`, which shows them without it, and with the ordinals of the whole; n == 0: all. */
    struct str prefix;
    uint64_t ord_lo, ord_hi; /* of the view */
};

uint32_t segment_field_count(const struct segment *s);
const struct seg_field *segment_field_at(const struct segment *s, uint32_t i);
const struct seg_field *segment_field(const struct segment *s,
                                      struct str name); /* NULL: no such field here */

struct field;
/* A field of the mapping: all of its terms, or a view in the arena where it is the field of one key. NULL: none here, or no room. */
const struct seg_field *segment_field_of(const struct segment *s, const struct field *f, struct arena *arena);

/* ---- terms
 * -------------------------------------------------------------------------------------------------- */

struct term_info {
    uint32_t doc_freq;
    uint64_t total_freq;
    uint64_t ord;
    uint64_t postings_at, positions_at; /* readers' own */
};

/* Exact look-up. */
bool seg_term(const struct seg_field *f, struct str term, struct term_info *out);

/* One block of the dictionary, opened; readers' own. */
struct terms_block {
    const uint8_t *infos;
    struct bytes_in in; /* its terms */
    uint64_t postings_base, positions_base;
    uint32_t n;
    uint8_t width[4];
};

/* Walks a field's terms in byte order. The term's bytes are valid until the next move. */
struct term_iter {
    const struct seg_field *field;
    struct str term; /* p == NULL: at the end */
    struct term_info info;
    /* readers' own */
    uint64_t block;    /* the open one; UINT64_MAX: none yet */
    uint32_t in_block; /* terms of it that were read */
    struct terms_block b;
    struct buf bytes;
};
/* Positioned before the first term. _fini frees the term's buffer. */
void term_iter_init(struct term_iter *it, const struct seg_field *f);
void term_iter_fini(struct term_iter *it);
bool term_iter_next(struct term_iter *it);
/* To the first term >= target; false: none. */
bool term_iter_seek(struct term_iter *it, struct str target);
/* The term with an ordinal, into `out` (which is reset). false: out of range or corrupt. */
bool seg_term_by_ord(const struct seg_field *f, uint64_t ord, struct buf *out);

/* The root document with this _id that is live (several may carry it when a document was indexed again before
 * its segment was written; at most one of them lives). live NULL: all are. The hot path of updates: a hash
 * probe, no dictionary. */
bool seg_find_id(const struct segment *s, struct str id, const uint64_t *live, doc_id *out);

/* ---- postings
 * ----------------------------------------------------------------------------------------------- */

#define POSTINGS_BLOCK 128

struct impact { /* no document of the range beats all of these at once */
    uint32_t freq;
    uint8_t norm; /* SmallFloat byte; a smaller length scores higher; 1 without norms */
};
#define IMPACTS_MAX 8

/* A cursor over one term's documents. Blocks of 128 are decoded at once; frequencies only when first asked
 * for. */
struct postings {
    doc_id doc;  /* current; DOC_END past the last; before the first next(): UINT32_MAX - 1 marks
                    "unpositioned" */
    uint32_t n;  /* documents in the decoded block */
    uint32_t at; /* index of doc in docs[]; not beside doc, or the two are stored as one vector and reloaded
                    at a loss */
    uint32_t doc_freq;
    bool want_freqs, freqs_ready;
    doc_id docs[POSTINGS_BLOCK + 8]; /* of the decoded block, ascending; docs[n] is DOC_END */
    uint32_t freqs[POSTINGS_BLOCK + 8];
    /* readers' own */
    const struct seg_field *field;
    struct term_info info;
    const uint8_t *last_docs, *offsets, *impacts_at,
        *positions_at; /* arrays, a row a block; NULL for short terms */
    const uint8_t *best, *impacts, *data, *end;
    const uint8_t *freq_data;
    uint64_t pos_tail;
    uint32_t block, n_blocks, shallow, segment_docs;
    uint8_t freq_width;
    bool corrupt;
};
#define POSTINGS_UNPOSITIONED (UINT32_MAX - 1)

void postings_init(struct postings *p, const struct seg_field *f, const struct term_info *t, bool want_freqs);
/* Slow paths behind the inline ones below. */
doc_id postings_next_block(struct postings *p);
void postings_load_freqs(struct postings *p);

static inline doc_id postings_next(struct postings *p)
{
    if (p->doc != POSTINGS_UNPOSITIONED && p->at + 1 < p->n) {
        return p->doc = p->docs[++p->at];
    }
    return postings_next_block(p);
}

/* First document >= target; target may be at or before the current one. */
doc_id postings_seek(struct postings *p, doc_id target);

static inline uint32_t postings_freq(struct postings *p)
{
    if (!p->freqs_ready) {
        postings_load_freqs(p);
    }
    return p->freqs[p->at];
}

/* Moves the shallow cursor (block-max only, nothing is decoded) to the block that holds the first document >=
 * target. Returns that block's last document (DOC_END past the end). */
doc_id postings_shallow(struct postings *p, doc_id target);
/* Competitive (frequency, norm) pairs of the shallow cursor's block; at most IMPACTS_MAX. */
unsigned postings_block_impacts(const struct postings *p, struct impact out[IMPACTS_MAX]);
/* Those of the whole term. */
unsigned postings_all_impacts(const struct postings *p, struct impact out[IMPACTS_MAX]);

/* Positions (and offsets) of the current document. Damaged bytes may yield any numbers, offsets outside the
 * text too. */
struct positions {
    struct postings *postings; /* borrowed; its document is the one read */
    uint32_t *pos;             /* freq of them, ascending; valid until the next read */
    uint32_t *start, *end;     /* SEG_OFFSETS, when asked for: byte offsets */
    uint32_t n;
    /* readers' own */
    uint32_t cap;
    bool want_offsets;
    doc_id read_doc;
    const uint8_t *cursor;           /* the block of positions to decode next */
    uint64_t block_no;               /* its number, for short terms */
    uint32_t doc_block;              /* the block of documents at hand */
    uint32_t taken;                  /* of its positions: read or passed by */
    uint32_t before[POSTINGS_BLOCK]; /* how many belong to the documents before each */
    uint32_t in_block, block_n;
    uint32_t block[3][POSTINGS_BLOCK]; /* gaps, starts' gaps, lengths */
    bool failed;                       /* no memory, or corrupt */
};
/* Opened on a cursor of a field with SEG_POSITIONS; else every read gives 0. */
void positions_init(struct positions *ps, struct postings *p, bool want_offsets);
void positions_fini(struct positions *ps);
/* To another cursor; the memory is kept. */
void positions_reopen(struct positions *ps, struct postings *p, bool want_offsets);
/* Reads the current document's; returns how many (0 on failure). */
uint32_t positions_read(struct positions *ps);

/* Positions of many documents, each one's left where its block was decoded: running sums over whole blocks, in which a
 * document's positions are the values behind its base, less the base, modulo 2^32. Documents are asked for in ascending
 * order. For fields and cursors as positions_init() takes; damaged bytes may yield any numbers. */
struct position_runs {
    struct postings *postings; /* borrowed; its document is the one read */
    /* readers' own: places count from the first position of the first position block that the documents' block has a share in
     */
    uint32_t *sums;                 /* sums[i] is the sum before place lo + i; sums[hi - lo] is there too */
    uint32_t cap;                   /* of sums, in blocks */
    uint32_t lo, hi;                /* places decoded */
    uint32_t next;                  /* the place that the cursor's block begins with */
    uint32_t doc_block;             /* the block of documents at hand */
    uint32_t first[POSTINGS_BLOCK]; /* place of each one's first position */
    const uint8_t *cursor;
    bool failed; /* no memory, or corrupt */
};
#define POSITION_RUNS_SLACK 3 /* values behind a run that may be read, whatever they are */
void position_runs_init(struct position_runs *r, struct postings *p);
void position_runs_fini(struct position_runs *r);
/* Decodes what the current document needs. false: failed. */
bool position_runs_load(struct position_runs *r);

/* The current document's frequency; its i-th position is (*v)[i] - *base. 0 on failure. Valid until the next read. */
static inline uint32_t position_runs_read(struct position_runs *r, const uint32_t **v, uint32_t *base)
{
    const struct postings *p = r->postings;
    uint32_t from = r->first[p->at], n = p->freqs[p->at];
    if (p->block != r->doc_block || from < r->lo || from >= r->hi || n > r->hi - from) {
        if (!position_runs_load(r)) {
            return 0;
        }
        from = r->first[p->at];
        n = p->freqs[p->at];
    }
    const uint32_t *at = r->sums + (from - r->lo);
    *v = at + 1;
    *base = *at;
    return n;
}

/* ---- norms and columns
 * -------------------------------------------------------------------------------------- */

/* One SmallFloat byte per document (0 where absent), or NULL without SEG_NORMS. */
const uint8_t *seg_norms(const struct seg_field *f);
/* Documents that have a norm at all; NULL: every document has. */
const uint64_t *seg_norms_present(const struct seg_field *f);
/* Lucene's SmallFloat.intToByte4 and back. */
uint8_t norm_encode(uint32_t length);
uint32_t norm_decode(uint8_t norm);

/* A numeric column; opening is cheap, the first time it reads the column's bytes for their checksums. A damaged file may hold values outside min ... max. Values of a
 * document are ascending (duplicates kept). */
struct num_column {
    const struct seg_field *field; /* NULL: no such column, every document is empty */
    bool multi;                    /* some document has several values */
    bool dense;                    /* every document has exactly one */
    int64_t min, max;              /* over all values */
    uint32_t doc_count;
    /* readers' own */
    const uint8_t *data, *starts;
    const uint64_t *present;
    const uint32_t *ranks; /* per word of present: documents before it */
    const uint8_t *table;  /* int64s; NULL: values are base + gcd * x */
    uint64_t n_values;
    uint64_t base, gcd, mask;
    uint8_t width, start_width;
};
void num_column_init(struct num_column *c, const struct seg_field *f); /* f may be NULL */
/* The same without a look at its bytes: num_column_check() comes before the first value. */
void num_column_place(struct num_column *c, const struct seg_field *f);
bool num_column_check(const struct num_column *c); /* false: damaged */
/* Number of values of doc; the i-th by num_column_value(c, first + i). */
uint32_t num_column_seek(const struct num_column *c, doc_id doc, uint64_t *first);
static inline int64_t num_column_value(const struct num_column *c, uint64_t i)
{
    uint64_t bit = i * c->width;
    uint64_t x = (load_u64(c->data + (bit >> 3)) >> (bit & 7)) & c->mask;
    if (c->table != NULL) {
        return (int64_t)load_u64(c->table + 8 * x);
    }
    return (int64_t)(c->base + x * c->gcd);
}
/* The first (smallest) value; false: none. */
bool num_column_first(const struct num_column *c, doc_id doc, int64_t *out);
/* Documents with a value; NULL when all have one (or none: doc_count tells). */
const uint64_t *num_column_present(const struct num_column *c);

/* An ordinals column: ordinals of a document are ascending and distinct; they index the field's own
 * dictionary. */
struct ord_column {
    const struct seg_field *field; /* NULL: none */
    bool multi, dense;
    uint32_t doc_count;
    uint64_t n_ords;
    uint64_t lo, hi;        /* of a view; hi == 0: all */
    struct num_column nums; /* the ordinals are kept as numbers */
};
void ord_column_init(struct ord_column *c, const struct seg_field *f);
uint32_t ord_column_seek(const struct ord_column *c, doc_id doc, uint64_t *first);
static inline uint64_t ord_column_value(const struct ord_column *c, uint64_t i)
{
    uint64_t ord = (uint64_t)num_column_value(&c->nums, i);
    return ord < c->n_ords ? ord : 0; /* whatever a damaged file says, it indexes the dictionary */
}

/* Binary column: values of a document in order; false: none at i. */
bool seg_bytes_value(const struct seg_field *f, doc_id doc, uint32_t i, struct str *out);

/* Range fields: the i-th (from, to) of a document: eight bytes each, a little-endian sortable number, or
 * 16-byte addresses. */
bool seg_range_value(const struct seg_field *f, doc_id doc, uint32_t i, struct str *from, struct str *to);

/* ---- points and geo
 * ----------------------------------------------------------------------------------------- */

/* Sets in `bits` (segment_doc_count() of them) every document with a value in [lo, hi]. */
void seg_points_range(const struct seg_field *f, int64_t lo, int64_t hi, uint64_t *bits);
/* An upper bound of how many values lie in [lo, hi], in O(log n). */
uint64_t seg_points_count(const struct seg_field *f, int64_t lo, int64_t hi);
bool seg_points_bounds(const struct seg_field *f, int64_t *min, int64_t *max);

/* How a cell of the k-d tree lies to a shape. */
enum cell_relation { CELL_OUTSIDE, CELL_CROSSES, CELL_INSIDE };
struct geo_visitor {
    const void *self;
    /* Bounds are encoded (quantised) coordinates, inclusive. */
    enum cell_relation (*cell)(const void *self, int32_t lat_lo, int32_t lat_hi, int32_t lon_lo,
                               int32_t lon_hi);
    bool (*point)(const void *self, int32_t lat, int32_t lon);
};
/* Sets in `bits` every document with a point that the visitor accepts. */
void seg_geo_visit(const struct seg_field *f, const struct geo_visitor *v, uint64_t *bits);
/* Points are also a numeric column (SEG_NUMS): the packed form of common/base/geo.h. */

/* ---- stored
 * ------------------------------------------------------------------------------------------------- */

struct stored_value { /* a field with store: true */
    uint32_t field;   /* index for segment_field_at() or the name below */
    struct str name;
    struct str bytes; /* text, keyword, binary ... */
    int64_t num;
    bool is_num;
};

struct stored_doc {
    struct str id, routing; /* routing.p == NULL: none */
    struct str source;      /* p == NULL: not stored */
    struct stored_value *values;
    size_t n_values;
};

enum { STORED_ID = 1, STORED_SOURCE = 2, STORED_VALUES = 4 };
/* A decompressing reader keeps the last block: reading neighbours is cheap. One thread at a time. */
struct stored_reader {
    const struct segment *segment;
    uint64_t block;
    struct buf bytes;
};
void stored_reader_init(struct stored_reader *r, const struct segment *s);
void stored_reader_fini(struct stored_reader *r);
/* `want` is STORED_*. Strings are copied into `arena`. ERR_CORRUPT. */
enum err stored_read(struct stored_reader *r, doc_id doc, unsigned want, struct arena *arena,
                     struct stored_doc *out, struct errmsg *em);

/* How large a document may be that is stored here, about, and how large that one is: bytes to be read for it, packed and not. */
size_t segment_stored_max(const struct segment *s);
size_t stored_bytes(const struct segment *s, doc_id doc);

/* ---- completion
 * --------------------------------------------------------------------------------------------- */

/* The section of a completion field as raw bytes, for engine/suggest (which owns its inner format). */
struct str seg_completion_bytes(const struct seg_field *f);

#endif
