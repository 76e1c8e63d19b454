/* intervals.h - sources of intervals, which the query `intervals` is made of, by the rules of Lucene 8.8's minimal intervals.
 *
 * A source is built once (interval_sources.c): where the gaps inside of intervals matter, disjunctions of different lengths are
 * pulled up out of it, so that a shorter one does not hide a longer one. Its intervals in a document are found one after the other
 * (interval_match.c). Internal to engine/query. */
#ifndef ENGINE_QUERY_INTERVALS_H
#define ENGINE_QUERY_INTERVALS_H

#include "engine/query/multi_terms.h"
#include "engine/query/weight.h"

enum interval_kind {
    INTERVAL_TERM,
    INTERVAL_PATTERN,   /* any term that matches */
    INTERVAL_BLOCK,     /* one right behind the other */
    INTERVAL_ORDERED,   /* one behind the other */
    INTERVAL_UNORDERED, /* all of them */
    INTERVAL_ANY,
    INTERVAL_MAX_GAPS,
    INTERVAL_EXTENDED, /* so many positions more before and behind */
    INTERVAL_REPEATED, /* so many in a row */
    INTERVAL_BEFORE,   /* the position before each, */
    INTERVAL_BEHIND,   /* and behind */
    INTERVAL_CONTAINING,
    INTERVAL_CONTAINED_BY,
    INTERVAL_NOT_CONTAINING,
    INTERVAL_NOT_CONTAINED_BY,
    INTERVAL_OVERLAPPING,
    INTERVAL_NOT_OVERLAPPING,
    INTERVAL_OF_FIELD, /* those of another field */
    INTERVAL_NONE
};

struct interval_source {
    enum interval_kind kind;
    struct str text;             /* of a term; of a pattern, in errors and texts */
    const struct query *pattern; /* what has a matcher of terms */
    const struct interval_source *const *v;
    uint32_t n;
    int32_t before,
        after; /* INTERVAL_EXTENDED; `before`: the gaps or the number of INTERVAL_MAX_GAPS and INTERVAL_REPEATED */
    struct str field; /* INTERVAL_OF_FIELD */
    const char *
        alone; /* INTERVAL_REPEATED: the name of its combination, which has nothing else in it; NULL: it has */
};

struct interval_list {
    const struct interval_source **v;
    size_t n, cap;
};

/* ---- building (interval_sources.c); all of these return ERR_OK, ERR_NO_MEMORY or ERR_ILLEGAL_ARGUMENT (too many disjunctions) ---- */

struct interval_builder {
    struct arena *arena;
    struct errmsg *em;
};
/* false: no memory. */
bool interval_add(const struct interval_builder *b, struct interval_list *l,
                  const struct interval_source *s) NODISCARD;
/* NULL: no memory. */
struct interval_source *interval_new(const struct interval_builder *b, enum interval_kind kind);
/* (interval_set.c) Are two made of the same? */
bool interval_same(const struct interval_source *x, const struct interval_source *y);

struct interval_slot {
    uint64_t hash;
    size_t number; /* in the list, from 1 on; 0: the slot is free */
};

/* Sources of which no two are the same, in the order in which they came. Starts as zeros. */
struct interval_set {
    struct interval_list list;
    struct interval_slot *slots;
    size_t n_slots;
};
/* *number: where it, or the same one, is in the list. false: no memory. */
bool interval_set_add(const struct interval_builder *b, struct interval_set *set,
                      const struct interval_source *s, size_t *number) NODISCARD;

enum err interval_any(const struct interval_builder *b, const struct interval_list *l,
                      const struct interval_source **out);
/* max_gaps -1: any number of them. */
enum err interval_combine(const struct interval_builder *b, const struct interval_list *l, int32_t max_gaps,
                          bool ordered, const struct interval_source **out);
enum err interval_extend(const struct interval_builder *b, const struct interval_source *in, int32_t before,
                         int32_t after, const struct interval_source **out);
/* `kind` is one of INTERVAL_CONTAINING to INTERVAL_NOT_OVERLAPPING. */
enum err interval_relate(const struct interval_builder *b, enum interval_kind kind,
                         const struct interval_source *in, const struct interval_source *by,
                         const struct interval_source **out);
/* Those of `in` before, or behind, one of `by`. */
enum err interval_place(const struct interval_builder *b, bool behind, const struct interval_source *in,
                        const struct interval_source *by, const struct interval_source **out);
/* The length of its shortest interval. */
int32_t interval_extent(const struct interval_source *s);
void interval_print(const struct interval_source *s, struct buf *out);

/* ---- matching (interval_match.c, interval_open.c) ---- */

#define INTERVAL_END INT32_MAX

struct interval_iter {
    const struct interval_source *source;
    doc_id doc;
    struct interval_iter **v; /* those of its sources */
    uint32_t n;
    uint64_t cost;
    /* INTERVAL_TERM */
    struct postings postings;
    struct positions positions;
    uint32_t n_places, at;
    bool is_read;
    /* of the current document */
    int32_t start, end, gaps;
    bool positioned;             /* INTERVAL_EXTENDED */
    bool more;                   /* of relations: the second one has intervals left */
    struct interval_iter **heap; /* from 1 on */
    uint32_t heap_n;
    int32_t reach;                       /* INTERVAL_UNORDERED: the end of the one that ends last */
    const struct interval_iter *current; /* INTERVAL_ANY; NULL: before the first, or behind the last */
    bool ended;
    int32_t (*ring)[2]; /* INTERVAL_REPEATED: starts and ends */
    uint32_t base;
    bool started;
};

/* Is it its first source's intervals, but for some of them? */
static inline bool interval_is_difference(const struct interval_source *s)
{
    return s->kind == INTERVAL_NOT_CONTAINING || s->kind == INTERVAL_NOT_CONTAINED_BY
           || s->kind == INTERVAL_NOT_OVERLAPPING;
}

static inline bool interval_is_any(const struct interval_source *s)
{
    return s->kind == INTERVAL_ANY || s->kind == INTERVAL_PATTERN;
}

struct interval_opening {
    const struct segment *segment;
    struct arena *arena;
    struct errmsg *em;
};
/* *out NULL: no document has any. ERR_ILLEGAL_STATE: a pattern has too many terms. */
enum err interval_iter_new(const struct interval_opening *o, const struct interval_source *s,
                           struct str field, struct interval_iter **out);
/* The first document >= target that may have intervals. */
doc_id interval_seek(struct interval_iter *it, doc_id target);
/* Before the first interval of the document that it stands at. */
void interval_reset(struct interval_iter *it);
/* To the next interval: its start, or INTERVAL_END. */
int32_t interval_next(struct interval_iter *it);
int32_t interval_start(const struct interval_iter *it);
int32_t interval_end(const struct interval_iter *it);
/* Has reading failed, for want of memory? */
bool interval_failed(const struct interval_iter *it);

#endif
