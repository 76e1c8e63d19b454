/* span_match.h - the places of spans within one document, by the rules of Lucene 8.8's span queries. Internal to the engine.
 *
 * A tree of spans follows a tree of parts; whoever made it says at which document each span stands and what places its terms
 * have there. Where parts of different lengths can stand at one place, only those that Lucene tries are tried: each part of an
 * ordered SPAN_NEAR takes its first place behind the one before, and an unordered one moves on whichever part begins first. */
#ifndef ENGINE_QUERY_SPAN_MATCH_H
#define ENGINE_QUERY_SPAN_MATCH_H

#include "engine/index/segment.h"
#include "engine/query/query.h"

#define SPAN_END INT32_MAX /* behind the last place of a document */

struct span {
    const struct span_part *part;
    doc_id doc;
    int32_t start, end; /* of the current place; -1 before the first, SPAN_END behind the last */
    int32_t width;      /* positions between its parts: what it is scored by */
    struct span **v;    /* its parts that there are */
    uint32_t n_parts;
    /* SPAN_TERM */
    const uint32_t *places; /* ascending; as many as `read` said */
    uint32_t n, at;
    uint32_t (*read)(struct span *s); /* sets `places` for the document; NULL: they are there */
    bool is_read;
    /* SPAN_OR, unordered SPAN_NEAR */
    struct span **heap; /* the parts in the document, the one that begins first on top; from 1 on */
    uint32_t heap_n;
    int32_t lengths, reach; /* the sum of their lengths, where the last one ends */
    bool alone;             /* SPAN_NOT: nothing in the document stands against it */
};

/* A span of a part with room for `n` others. NULL: no memory. */
struct span *span_new(const struct span_part *part, uint32_t n, struct arena *a);
/* Before the first place of the document that the span stands at. */
void span_rewind(struct span *s);
/* To the next place: sets start, end and width, returns start. */
int32_t span_next(struct span *s);

#endif
