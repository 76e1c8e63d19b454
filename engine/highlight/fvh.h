/* fvh.h - declarations shared by the parts of the fast vector highlighter: the matches in a text (fvh_hits.c), and the fragments that are
 * made of it (fvh.c). Internal. */
#ifndef ENGINE_HIGHLIGHT_FVH_H
#define ENGINE_HIGHLIGHT_FVH_H

#include "engine/highlight/highlight_int.h"

/* A marked place: one of a hit's. */
struct mark {
    uint32_t start, end;
};

/* A term or a phrase that matches. */
struct hit {
    uint32_t start, end;
    const struct mark *marks;
    uint32_t n;
    uint32_t number; /* of the term or phrase in the query: chooses the tags */
    float boost;
};

struct fragment {
    int64_t start, end;
    int64_t begin;   /* where it is moved to, by the scanner */
    size_t first, n; /* hits */
    float score;
};

struct vector {
    const struct hl_target *t;
    const struct hl_text *x;
    struct arena *arena;
    struct hit *hits; /* in the order of the text, none overlapping another */
    size_t n_hits, cap_hits;
    struct fragment *fragments;
    size_t n_fragments, cap_fragments;
    bool failed;
};

/* Finds the hits: at most phrase_limit of them. false: no memory. */
bool fvh_hits(struct vector *v);
/* The same in the text as each of the matched fields reads it; hits that touch become one. */
enum err fvh_matched_hits(struct vector *v, struct errmsg *em);

#endif
