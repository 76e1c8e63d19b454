/* postings_pairs.h - the documents that two postings have in common, a pair of decoded blocks at a time.
 *
 * For terms of comparable frequency: where most blocks hold common documents, a merge of two blocks costs less than a search
 * for each document. Where one term is much rarer, seeking passes over blocks undecoded and is better. Internal to
 * engine/query. */
#ifndef ENGINE_QUERY_POSTINGS_PAIRS_H
#define ENGINE_QUERY_POSTINGS_PAIRS_H

#include "engine/index/segment.h"

#define POSTINGS_PAIRS_RATIO 8    /* worth it up to this ratio of frequencies */
#define POSTINGS_PAIRS_SPAN  2048 /* documents, a byte each on the stack */

struct postings_pairs {
    struct postings *a, *b;
    uint32_t n, i; /* pairs found, the one that the cursors stand on */
    doc_id resume; /* where the blocks that follow begin */
    uint8_t at_a[POSTINGS_BLOCK + 1], at_b[POSTINGS_BLOCK + 1]; /* places in the decoded blocks */
};

/* The cursors are borrowed; both stand wherever they are. */
void postings_pairs_init(struct postings_pairs *x, struct postings *a, struct postings *b);
/* Moves both cursors to the first common document >= target, which is not below the current one; DOC_END: there is none.
 * Nobody else may move them in between. */
doc_id postings_pairs_seek(struct postings_pairs *x, doc_id target);

#endif
