/* term_vectors_int.h - declarations shared by the files of term vectors. Internal to engine/fetch. */
#ifndef ENGINE_FETCH_TERM_VECTORS_INT_H
#define ENGINE_FETCH_TERM_VECTORS_INT_H

#include "engine/fetch/term_vectors.h"
#include "engine/index/engine.h"

struct vector_token {
    struct str term;
    size_t order; /* as they stand in the document */
    int32_t position;
    uint32_t start, end; /* UTF-16 units of all values, joined by one */
};

struct vector_term {
    struct str text;
    size_t first; /* of its tokens, in their order */
    uint32_t freq;
    bool kept; /* by the filter */
    float score;
};

struct vector {
    struct str field;
    bool positions, offsets; /* it has them */
    struct vector_token *tokens;
    size_t n_tokens, cap;
    struct vector_term *terms; /* in the order of their bytes */
    size_t n_terms;
    /* while its values are read: where the last one ended */
    int32_t position;
    uint32_t offset;
};

struct vectors_run {
    const struct term_vectors_options *o;
    const struct term_vectors_source *src;
    struct arena *arena;
    struct errmsg *em;
    struct vector *v;
    size_t n, cap;
    struct str *fields; /* those selected, patterns resolved; of no use unless fields_given */
    size_t n_fields, cap_fields;
    bool fields_given;
};

/* Marks the terms that the filter keeps, and gives them their scores. */
enum err vector_filter(struct vectors_run *r, struct vector *v);
/* The object of all vectors as JSON, in the arena. */
enum err vectors_write(struct vectors_run *r, struct str *out);

#endif
