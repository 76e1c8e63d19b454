/* term_vectors.h - the terms of one document, field by field: where they stand in it, and how frequent they are in its shard.
 *
 * Term vectors are not stored: they are made again from the document's source, for fields whose mapping asks for vectors as
 * indexing makes them, for others as Lucene's MemoryIndex does. Knows nothing of requests; any thread, over a view. */
#ifndef ENGINE_FETCH_TERM_VECTORS_H
#define ENGINE_FETCH_TERM_VECTORS_H

#include "common/base/err.h"

struct view;
struct engine_doc;

/* What of a field's terms is shown; of word lengths and frequencies 0 stands for no bound below, of max_word_length for none. */
struct term_filter {
    int32_t max_num_terms, min_term_freq, max_term_freq, min_doc_freq, max_doc_freq, min_word_length,
        max_word_length;
};
#define TERM_FILTER_INIT                                                           \
    {                                                                              \
        .max_num_terms = 25, .max_term_freq = INT32_MAX, .max_doc_freq = INT32_MAX \
    }

struct term_vectors_options {
    bool positions, offsets, field_statistics, term_statistics;
    const struct str *fields;    /* names, patterns */
    uint32_t n_fields;           /* 0: the fields with vectors of an indexed document, all of another */
    const struct str *analyzers; /* pairs: a field, the name of the analyzer that it has here */
    uint32_t n_analyzers;        /* texts: twice the pairs */
    bool filtered;
    struct term_filter filter;
};

struct term_vectors_source {
    const struct view *view;      /* what frequencies are of, and whose mapping counts */
    const struct engine_doc *doc; /* a document of the view; NULL: `text` is one that is not indexed */
    struct str text, routing;     /* routing.p == NULL: none */
    struct str index_name;        /* for messages */
};

/* The object of all fields' vectors as JSON, in the arena. ERR_INTERNAL around what failed. */
enum err term_vectors_json(struct str *out, const struct term_vectors_options *o,
                           const struct term_vectors_source *src, struct arena *arena, struct errmsg *em);

#endif
