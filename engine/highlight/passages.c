/* Passages: the pieces of a text around its matches, and how good they are (Lucene's FieldHighlighter and
 * PassageScorer). */
#include "engine/highlight/highlight_int.h"

#include "common/base/arena_list.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

#define SCORE_K1    1.2F
#define SCORE_B     0.75F
#define SCORE_PIVOT 87.0F

/* The boundaries in force: those of the value that the last match stood in. */
struct cutter {
    const struct hl_text *x;
    const struct hl_options *o;
    bool whole_values;
    struct arena *arena;
    uint32_t value; /* index; UINT32_MAX: none yet */
    struct hl_breaks main, words;
    int64_t known; /* of main, where it holds sentences */
    bool has_words;
    int64_t window_start, window_end, inner_start, inner_end;
    bool failed;
};

static uint32_t value_of(const struct cutter *c, uint32_t at)
{
    uint32_t lo = 0, hi = c->x->n_values;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->x->values[mid].start <= at) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static void enter_value(struct cutter *c, uint32_t value)
{
    const struct hl_value *v = &c->x->values[value];
    const uint16_t *u = c->x->u + v->start;
    c->value = value;
    c->has_words = false;
    c->window_start = c->window_end = -1;
    c->inner_start = -1;
    c->inner_end = 0;
    c->known = -1;
    if (!c->whole_values) {
        bool ok = c->o->scanner == SCANNER_WORD
                      ? hl_breaks_words(&c->main, u, v->end - v->start, c->arena)
                      : hl_breaks_sentences(&c->main, u, v->end - v->start, c->arena);
        c->failed = c->failed || !ok;
    }
}

/* As many sentences as fit the size, one at least. */
static void open_window(struct cutter *c, int64_t offset, int64_t size)
{
    c->window_start = c->inner_start = hl_sentence_before(&c->main, &c->known, offset);
    c->window_end = c->inner_end = hl_sentence_after(&c->main, &c->known, offset - 1);
    while (c->inner_end - c->inner_start < size) {
        int64_t end = hl_sentence_after(&c->main, &c->known, c->inner_end);
        if (end < 0 || end - c->inner_start > size) {
            break;
        }
        c->window_end = c->inner_end = end;
    }
}

/* Too long a sentence is cut at words: before the match first, the rest behind it. */
static void narrow(struct cutter *c, int64_t offset, int64_t size)
{
    const struct hl_value *v = &c->x->values[c->value];
    if (!c->has_words) {
        c->has_words = true;
        if (!hl_breaks_words(&c->words, c->x->u + v->start, v->end - v->start, c->arena)) {
            c->failed = true;
            return;
        }
    }
    if (offset - size > c->inner_start) {
        c->inner_start = MAX_OF(c->inner_start, hl_break_before(&c->words, offset - size));
    }
    int64_t remaining = MAX_OF((int64_t)0, size - (offset - c->inner_start));
    if (offset + remaining < c->window_end) {
        c->inner_end = MIN_OF(c->window_end, hl_break_after(&c->words, offset + remaining));
    }
}

/* The piece around a match that begins at `at`. */
static void cut(struct cutter *c, uint32_t at, uint32_t *start, uint32_t *end)
{
    uint32_t value = value_of(c, at);
    if (value != c->value) {
        enter_value(c, value);
    }
    const struct hl_value *v = &c->x->values[value];
    if (c->failed || c->whole_values || at >= v->end) {
        *start = v->start;
        *end = v->end;
        return;
    }
    int64_t local = at - v->start, size = c->o->fragment_size;
    if (c->o->scanner == SCANNER_WORD) {
        c->inner_start = hl_break_before(&c->main, local + 1);
        c->inner_end = hl_break_after(&c->main, local);
    } else if (size <= 0) {
        c->inner_start = hl_sentence_before(&c->main, &c->known, local + 1);
        c->inner_end = hl_sentence_after(&c->main, &c->known, local);
    } else {
        if (local + 1 > c->window_start && local + 1 < c->window_end) {
            c->inner_start = c->inner_end;
            c->inner_end = c->window_end;
        } else {
            open_window(c, local + 1, size);
        }
        if (c->inner_end - c->inner_start > size) {
            narrow(c, local + 1, size);
        }
    }
    *start = v->start + (uint32_t)MAX_OF(c->inner_start, (int64_t)0);
    *end = v->start + (uint32_t)MAX_OF(c->inner_end, (int64_t)0);
}

/* ---- scores
 * ------------------------------------------------------------------------------------------------------- */

static float term_weight(uint32_t length, uint32_t freq)
{
    float docs = 1 + (float)length / SCORE_PIVOT;
    return (SCORE_K1 + 1) * (float)log(1 + ((double)docs + 0.5) / ((double)freq + 0.5));
}

static float term_share(uint32_t freq, uint32_t length)
{
    float norm = SCORE_K1 * ((1 - SCORE_B) + SCORE_B * ((float)length / SCORE_PIVOT));
    return (float)freq / ((float)freq + norm);
}

static bool seen_before(const struct hl_passage *p, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++) {
        if (str_eq(p->matches[j].term, p->matches[i].term)) {
            return true;
        }
    }
    return false;
}

#define SCORED_MATCHES_MAX 4096U /* more of them in one passage do not change which is best */

static float passage_score(const struct hl_passage *p, uint32_t length)
{
    float score = 0;
    uint32_t n = MIN_OF(p->n, SCORED_MATCHES_MAX);
    for (uint32_t i = 0; i < n; i++) {
        if (seen_before(p, i)) {
            continue;
        }
        uint32_t freq = 0;
        for (uint32_t j = i; j < n && !stop_often(); j++) {
            freq += str_eq(p->matches[j].term, p->matches[i].term);
        }
        score += term_share(freq, p->end - p->start) * term_weight(length, p->matches[i].freq);
    }
    return score * (1 + 1 / (float)log((double)(SCORE_PIVOT + (float)p->start)));
}

/* ---- the best of them
 * ------------------------------------------------------------------------------------------------ */

static int by_score(const void *a, const void *b)
{
    const struct hl_passage *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->start > y->start ? -1 : x->start < y->start;
}

static int by_place(const void *a, const void *b)
{
    const struct hl_passage *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int by_score_then_place(const void *a, const void *b)
{
    const struct hl_passage *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return by_place(a, b);
}

enum err hl_passages(struct hl_passage **out, size_t *n, const struct hl_text *x, const struct hl_options *o,
                     bool whole_values, const struct hl_match *matches, size_t n_matches, struct arena *arena,
                     struct errmsg *em)
{
    struct cutter c = {.x = x, .o = o, .whole_values = whole_values, .arena = arena, .value = UINT32_MAX};
    struct hl_passage *v = NULL;
    size_t cap = 0, used = 0;
    uint32_t last_end = 0;
    for (size_t i = 0; i < n_matches; i++) {
        const struct hl_match *m = &matches[i];
        if (m->start >= x->n && used > 0) {
            break;
        }
        if (used == 0 || m->start >= v[used - 1].end) {
            if (!ARENA_ROOM(arena, v, used, cap)) {
                return err_no_memory(em);
            }
            uint32_t start, end;
            cut(&c, m->start, &start, &end);
            start = MAX_OF(start, last_end);
            last_end = MAX_OF(last_end, MIN_OF(end, x->n));
            v[used++] = (struct hl_passage){.start = start, .end = last_end, .matches = m};
        }
        v[used - 1].n++;
    }
    if (c.failed) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < used; i++) {
        v[i].score = passage_score(&v[i], x->n);
    }
    size_t keep = o->number_of_fragments > 0 ? (size_t)o->number_of_fragments : SIZE_MAX;
    if (used > keep) {
        sort_items(v, used, sizeof(*v), by_score);
        used = keep;
    }
    sort_items(v, used, sizeof(*v), o->score_ordered ? by_score_then_place : by_place);
    *out = v;
    *n = used;
    return ERR_OK;
}
