#include "engine/query/levenshtein.h"

#include "common/base/utf8.h"

#include <stdlib.h>

bool levenshtein_init(struct levenshtein *l, struct str word, uint32_t max, uint32_t prefix,
                      bool transpositions, struct arena *arena)
{
    uint32_t *chars = ARENA_ARRAY(arena, uint32_t, word.n);
    *l = (struct levenshtein){.word = chars, .max = max, .transpositions = transpositions, .text = word};
    if (chars == NULL) {
        return false;
    }
    for (size_t at = 0; at < word.n;) {
        if (l->n == prefix) {
            l->prefix_bytes = at;
        }
        chars[l->n++] = utf8_next(word, &at);
    }
    l->prefix = prefix;
    if (prefix >= l->n) {
        l->prefix = l->n;
        l->prefix_bytes = word.n;
    }
    if (prefix >= utf16_length(word)) { /* FuzzyQuery then looks for the word itself alone */
        l->max = 0;
    }
    return true;
}

void lev_walk_init(struct lev_walk *w, const struct levenshtein *l)
{
    *w = (struct lev_walk){.l = l};
    buf_init(&w->bytes, NULL, BUF_UNLIMITED);
}

void lev_walk_fini(struct lev_walk *w)
{
    free(w->rows);
    free(w->chars);
    free(w->ends);
    buf_fini(&w->bytes);
}

static uint8_t *row(struct lev_walk *w, uint32_t depth)
{
    return w->rows + (size_t)depth * (w->l->n + 1);
}

static bool levenshtein_grow(struct lev_walk *w)
{
    uint32_t cap = w->cap == 0 ? 32 : w->cap * 2;
    const struct allocator *heap = alloc_default();
    uint8_t *rows = heap->resize(heap->self, w->rows, (size_t)(cap + 1) * (w->l->n + 1));
    if (rows != NULL) {
        w->rows = rows;
    }
    uint32_t *chars = heap->resize(heap->self, w->chars, cap * sizeof(*chars));
    if (chars != NULL) {
        w->chars = chars;
    }
    uint32_t *ends = heap->resize(heap->self, w->ends, cap * sizeof(*ends));
    if (ends != NULL) {
        w->ends = ends;
    }
    if (rows == NULL || chars == NULL || ends == NULL) {
        w->failed = true;
        return false;
    }
    if (w->cap == 0) {
        for (uint32_t i = 0; i <= w->l->n; i++) {
            rows[i] = (uint8_t)MIN_OF(i, w->l->max + 1);
        }
    }
    w->cap = cap;
    return true;
}

/* The row of one more character; returns its smallest distance. */
static unsigned levenshtein_push(struct lev_walk *w, uint32_t c, uint32_t end)
{
    const struct levenshtein *l = w->l;
    if (w->depth == w->cap && !levenshtein_grow(w)) {
        return l->max + 1;
    }
    uint32_t d = w->depth;
    const uint8_t *up = row(w, d);
    uint8_t *to = row(w, d + 1);
    unsigned over = l->max + 1, best;
    w->chars[d] = c;
    w->ends[d] = end;
    to[0] = (uint8_t)MIN_OF(d + 1, over);
    best = to[0];
    for (uint32_t i = 1; i <= l->n; i++) {
        unsigned v = up[i - 1] + (l->word[i - 1] == c ? 0U : 1U);
        v = MIN_OF(v, up[i] + 1U);
        v = MIN_OF(v, to[i - 1] + 1U);
        if (l->transpositions && d > 0 && i > 1 && l->word[i - 1] == w->chars[d - 1] && l->word[i - 2] == c) {
            v = MIN_OF(v, row(w, d - 1)[i - 2] + 1U);
        }
        to[i] = (uint8_t)MIN_OF(v, over);
        best = MIN_OF(best, to[i]);
    }
    w->depth = d + 1;
    return best;
}

static size_t shared(struct str a, struct str b)
{
    size_t n = MIN_OF(a.n, b.n), i = 0;
    while (i < n && a.p[i] == b.p[i]) {
        i++;
    }
    return i;
}

unsigned lev_walk_next(struct lev_walk *w, struct str term)
{
    const struct levenshtein *l = w->l;
    size_t same = shared(buf_view(&w->bytes), term), at = 0;
    if (w->dead > 0 && same >= w->dead) {
        return l->max + 1;
    }
    if (w->cap == 0 && !levenshtein_grow(w)) {
        return l->max + 1;
    }
    while (w->depth > 0 && w->ends[w->depth - 1] > same) {
        w->depth--;
    }
    at = w->depth > 0 ? w->ends[w->depth - 1] : 0;
    buf_truncate(&w->bytes, 0);
    buf_str(&w->bytes, term);
    w->failed = w->failed || w->bytes.failed;
    w->dead = 0;
    while (at < term.n) {
        uint32_t d = w->depth, c = utf8_next(term, &at);
        unsigned best = levenshtein_push(w, c, (uint32_t)at);
        bool prefix_differs = d < l->prefix && l->word[d] != c;
        /* A transposition looks one row further up: only when both rows are out is all lost. */
        unsigned before = l->max + 1;
        if (l->transpositions) {
            const uint8_t *up = row(w, d);
            for (uint32_t i = 0; i <= l->n; i++) {
                before = MIN_OF(before, up[i]);
            }
            before += before <= l->max ? 1 : 0;
        }
        if (prefix_differs || (best > l->max && before > l->max)) {
            w->dead = at;
            return l->max + 1;
        }
    }
    if (w->depth < l->prefix) {
        return l->max + 1;
    }
    return row(w, w->depth)[l->n];
}

unsigned levenshtein_distance(const struct levenshtein *l, struct str term)
{
    struct lev_walk w;
    lev_walk_init(&w, l);
    unsigned d = lev_walk_next(&w, term);
    lev_walk_fini(&w);
    return d;
}
