#include "engine/search/reduce.h"

#include "common/base/heap.h"

#include <math.h>

/* A k-way merge over lists that are sorted already: a small heap of cursors. */
struct cursor {
    const struct query_result *from;
    uint32_t at;
};

struct merge {
    const struct search_source *source;
    bool by_sort;
};

static int doc_cmp(const struct merge *m, const struct top_doc *a, const struct top_doc *b)
{
    if (m->by_sort) {
        int c = sort_values_cmp(m->source->sort, m->source->n_sort, a->sort, b->sort);
        if (c != 0) {
            return c;
        }
    } else if (a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    if (a->slot != b->slot) {
        return a->slot < b->slot ? -1 : 1;
    }
    return 0; /* of one shard: its own order stands */
}

static bool reduce_before(const void *cx, const void *x, const void *y)
{
    const struct cursor *a = x, *b = y;
    return doc_cmp(cx, &a->from->docs[a->at], &b->from->docs[b->at]) < 0;
}

static bool same_value(const struct sort_value *a, const struct sort_value *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case SV_NULL:
        return true;
    case SV_STR:
    case SV_IP:
        return str_eq(a->s, b->s);
    case SV_LONG:
    case SV_DOUBLE:
    case SV_FLOAT:
    case SV_BOOL:
        break;
    }
    return a->l == b->l;
}

/* Of a collapsed group only the best document stays. The page is small: a linear look back will do. */
static bool group_taken(const struct top_doc *docs, uint32_t n, const struct top_doc *d)
{
    for (uint32_t i = 0; i < n; i++) {
        if (same_value(&docs[i].collapse, &d->collapse)) {
            return true;
        }
    }
    return false;
}

static enum err merge_docs(struct reduced *out, const struct query_result *in, uint32_t n,
                           const struct merge *m, struct arena *arena, struct errmsg *em)
{
    const struct search_source *s = m->source;
    struct cursor *heap = ARENA_ARRAY(arena, struct cursor, n);
    uint64_t available = 0;
    uint32_t used = 0;
    if (heap == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        available += in[i].n;
        if (in[i].n > 0) {
            heap[used++] = (struct cursor){&in[i], 0};
        }
    }
    uint64_t want = MIN_OF((uint64_t)(s->from + s->size), available);
    struct top_doc *docs = ARENA_ARRAY(arena, struct top_doc, want);
    if (docs == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = used; i-- > 0;) {
        heap_down(heap, used, i, sizeof(*heap), reduce_before, m);
    }
    bool collapsing = s->collapse.field.p != NULL;
    uint32_t have = 0;
    while (used > 0 && have < want) {
        const struct top_doc *d = &heap[0].from->docs[heap[0].at];
        if (!collapsing || !group_taken(docs, have, d)) {
            docs[have++] = *d;
        }
        if (++heap[0].at == heap[0].from->n) {
            heap[0] = heap[--used];
        }
        heap_down(heap, used, 0, sizeof(*heap), reduce_before, m);
    }
    uint32_t skip = (uint32_t)MIN_OF((uint64_t)s->from, (uint64_t)have);
    out->docs = docs + skip;
    out->n = have - skip;
    return ERR_OK;
}

static void merge_totals(struct reduced *out, const struct query_result *in, uint32_t n,
                         const struct search_source *s)
{
    out->relation = TOTAL_EQ;
    for (uint32_t i = 0; i < n; i++) {
        out->total += in[i].total;
        if (in[i].relation != TOTAL_EQ) {
            out->relation = in[i].relation;
        }
        if (!isnan(in[i].max_score) && !(out->max_score >= in[i].max_score)) {
            out->max_score = in[i].max_score;
        }
        out->timed_out |= in[i].timed_out;
        out->terminated_early |= in[i].terminated_early;
        out->limited |= in[i].limited;
    }
    if (s->track_total == TRACK_TOTAL_DISABLED) {
        out->relation = TOTAL_NONE;
    } else if (s->track_total != TRACK_TOTAL_ACCURATE && out->total > s->track_total) {
        out->total = s->track_total;
        out->relation = TOTAL_GTE;
    }
}

enum err reduce_hits(struct reduced *out, const struct query_result *in, uint32_t n,
                     const struct search_source *source, struct arena *arena, struct errmsg *em)
{
    struct merge m = {.source = source};
    *out = (struct reduced){.max_score = NAN};
    for (uint32_t i = 0; i < n; i++) {
        m.by_sort |= in[i].n > 0 && in[i].docs[0].sort != NULL;
    }
    merge_totals(out, in, n, source);
    return merge_docs(out, in, n, &m, arena, em);
}
