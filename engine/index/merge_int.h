/* merge_int.h - declarations shared by the parts of a merge. */
#ifndef INDEX_MERGE_INT_H
#define INDEX_MERGE_INT_H

#include "engine/index/column_write.h"
#include "engine/index/directory_write.h"
#include "engine/index/seg_int.h"
#include "engine/index/segment_writer.h"

struct merging {
    const struct merge_source *sources;
    size_t n;
    const struct merge_io *io;
    doc_id **remap; /* per source: new numbers, DOC_END for what is dropped */
    uint32_t doc_count;
    struct seg_out out;
    struct directory dir;
    struct buf meta; /* of the field at hand */
    uint32_t polls;
    struct errmsg *em;
};

/* The field at hand: NULL where a source does not have it. */
struct merge_field {
    struct merging *m;
    struct str name;
    uint32_t has;                /* of the result */
    const struct seg_field **in; /* a source each */
    const uint8_t *norms;        /* of the result */
    uint32_t **ords;             /* per source: new ordinals; NULL entries where there is no need */
};

/* true: stop (cancelled, or something failed). Cheap enough for inner loops. */
bool merge_stopped(struct merging *m);
/* Damaged bytes turned up although the checksums fit. */
void merge_corrupt(struct merging *m);
/* Zeroed memory for the merge; NULL is remembered as a failure. */
void *merge_alloc(struct merging *m, size_t n);

/* merge_terms.c: postings and dictionary; fills f->ords when the field has ordinals. */
void merge_terms(struct merge_field *f, struct directory_field *df);
/* merge_columns.c */
void merge_norms(struct merge_field *f, uint8_t *norms);
void merge_nums(struct merge_field *f);
void merge_ordinals(struct merge_field *f);
void merge_bytes(struct merge_field *f, bool ranges);
void merge_ids(struct merging *m);
/* merge_points.c */
void merge_points(struct merge_field *f);
void merge_geo(struct merge_field *f);
void merge_completion(struct merge_field *f);

/* ---- a small heap of sources ---- */

/* Sources by the order of what each has next; ties go to the lower number. */
struct merge_heap {
    void *self;
    int (*compare)(void *self, uint32_t a, uint32_t b);
    uint32_t *v;
    uint32_t n;
};

void merge_heap_push(struct merge_heap *h, uint32_t source);
/* The first one's place changed. */
void merge_heap_down(struct merge_heap *h);
void merge_heap_pop(struct merge_heap *h);

#endif
