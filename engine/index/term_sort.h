/* term_sort.h - putting a buffer's terms and points in order. */
#ifndef INDEX_TERM_SORT_H
#define INDEX_TERM_SORT_H

#include "engine/index/buffer_int.h"

/* Fills `order` with all term numbers, each field's together and in byte order; runs[field] is where a
 * field's begin. false: no memory. */
bool term_sort(const struct index_buffer *b, uint32_t *order, const uint32_t **runs);

struct point_sort {
    uint64_t key;
    doc_id doc;
    uint32_t place;
};
/* By key; equal keys keep their order (documents ascend). false: no memory. */
bool point_sort(struct point_sort *v, uint64_t n);

#endif
