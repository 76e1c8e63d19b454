/* structure_int.h - the inside of structure.h: structure.c (documents, ids, all of it), structure_terms.c (dictionaries, postings,
 * norms), structure_values.c (columns, points). */
#ifndef INDEX_STRUCTURE_INT_H
#define INDEX_STRUCTURE_INT_H

#include "common/base/bits.h"
#include "engine/index/seg_int.h"
#include "engine/index/structure.h"

struct structure {
    const struct segment *s;
    struct str field;    /* that is looked at; n == 0: none */
    uint64_t *docs;      /* scratch, a bit for each document; zeroed by structure_clear() */
    uint32_t *term_docs; /* of the field: documents of each term; NULL: no ordinals */
    enum err err;
    struct errmsg *em;
};

/* Notes what is wrong; false. The first one stays. */
bool structure_wrong(struct structure *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool structure_no_memory(struct structure *x); /* false */
/* Did a reader come upon bytes that are not right, or is the work to end? Then that is noted: false. */
bool structure_ok(struct structure *x);
void structure_clear(struct structure *x);

/* Terms, postings, positions, norms; leaves x->term_docs for the ordinals. */
bool structure_terms(struct structure *x, const struct seg_field *f);
/* Columns of all kinds, points, completions. */
bool structure_values(struct structure *x, const struct seg_field *f);

#endif
