/* check_segment_int.h - what the parts of the naive model of a segment share. */
#ifndef TESTS_CHECK_SEGMENT_INT_H
#define TESTS_CHECK_SEGMENT_INT_H

#include "tests/unit/engine/index/random_docs.h"

struct flat { /* one document of the segment */
    const struct doc_part *part;
    const struct made_doc *made;
    bool root;
};

struct hit { /* an occurrence */
    struct str term;
    doc_id doc;
    uint32_t seq, pos, start, end;
    uint32_t more; /* so many more of them, at no place */
};

struct model {
    const struct segment *s;
    struct flat *docs;
    uint32_t n;
    struct hit *hits;
    size_t n_hits, cap;
};

void check_bytes(const struct model *m);
void check_completions(const struct model *m);
void check_documents(const struct model *m);

#endif
