/* Turtle and Flood's MAXSCORE with block bounds (Ding and Suel; Lucene's BlockMaxMaxscoreBulkScorer), behind
 * the iterator that all scorers are.
 *
 * The documents are cut into windows. In a window each child has a bound on its scores. The children with the
 * smallest bounds whose sum does not reach what competes are "non-essential": a document that only they match
 * cannot compete, so they are not walked, only asked about documents that the essential ones found. Essential
 * children add their scores into an array over the window; scores are sums in double, rounded once, so that
 * the order in which children are added does not show (floats of comparable size add up exactly in
 * double). */
#include "engine/query/scorer_windows.h"
#include "common/base/sort_items.h"

#define WINDOW       2048U
#define WINDOW_WORDS (WINDOW / 64)
#define BOUNDS_SPAN  (4 * WINDOW) /* bounds are looked at for at least so many documents */

struct child {
    struct scorer *s;
    struct term_scorer *t; /* when it is a term */
    float max;             /* in the current span */
    double sum_before;     /* of the bounds of the children before it in the order */
};

struct window_scorer {
    struct scorer base;
    struct child *v; /* ordered by bound within a span */
    uint32_t n;
    uint32_t first; /* the first essential child; n: none */
    uint32_t min_should;
    bool top;
    float min;       /* negative: all documents are wanted */
    float split_min; /* the min that `first` was chosen by */
    doc_id span_to;  /* bounds hold as far as here; 0 with span_known false */
    bool span_known;
    doc_id start, stop; /* the window: [start, stop) */
    bool marked;        /* its documents are in bits; else those with a sum above 0 count */
    bool single;        /* there is one essential child, a term: it is walked, and nothing added up */
    uint32_t n_docs;
    float score; /* of base.doc */
    uint64_t bits[WINDOW_WORDS];
    double sums[WINDOW];
    uint16_t counts[WINDOW]; /* min_should > 1 */
};

static struct window_scorer *windows_self(struct scorer *s)
{
    return (struct window_scorer *)(void *)s;
}

/* ---- spans: which children are essential ---- */

static int by_bound(const void *a, const void *b)
{
    float x = ((const struct child *)a)->max, y = ((const struct child *)b)->max;
    return x < y ? -1 : x > y ? 1 : 0;
}

static void partition(struct window_scorer *w)
{
    double sum = 0;
    w->first = 0;
    w->split_min = w->min;
    for (uint32_t i = 0; i < w->n; i++) {
        w->v[i].sum_before = sum;
        sum += w->v[i].max;
        if (w->min >= 0 && w->min_should <= 1 && sum_bound(sum, w->n) <= w->min) {
            w->first = i + 1;
        }
    }
}

static void next_span(struct window_scorer *w, doc_id target)
{
    doc_id to = DOC_END;
    for (uint32_t i = 0; i < w->n; i++) {
        doc_id at = scorer_shallow(w->v[i].s, target);
        to = MIN_OF(to, at);
    }
    if (to - target < BOUNDS_SPAN) { /* short blocks: several at a time */
        to = target > DOC_END - 1 - BOUNDS_SPAN ? DOC_END - 1 : target + BOUNDS_SPAN;
    }
    to = MIN_OF(to, w->n_docs);
    for (uint32_t i = 0; i < w->n; i++) {
        w->v[i].max = w->v[i].s->doc == DOC_END ? 0 : scorer_max(w->v[i].s, to);
    }
    sort_items(w->v, w->n, sizeof(*w->v), by_bound);
    w->span_to = to;
    w->span_known = true;
    partition(w);
}

/* ---- windows ---- */

static void add_terms(struct window_scorer *w, struct term_scorer *t)
{
    doc_id doc =
        t->p.doc == POSTINGS_UNPOSITIONED || t->p.doc < w->start ? postings_seek(&t->p, w->start) : t->p.doc;
    bool marks = w->marked, counting = w->min_should > 1;
    while (doc < w->stop) {
        const doc_id *docs = t->p.docs;
        const float *scores = term_block_scores(t);
        uint32_t from = t->p.at, at = from, n = t->p.n;
        for (; at < n && docs[at] < w->stop; at++) {
            w->sums[docs[at] - w->start] += (double)scores[at];
        }
        for (uint32_t i = from; marks && i < at; i++) {
            bits_set(w->bits, docs[i] - w->start);
        }
        for (uint32_t i = from; counting && i < at; i++) {
            w->counts[docs[i] - w->start]++;
        }
        t->p.at = at - 1;
        t->p.doc = docs[at - 1];
        doc = postings_next(&t->p);
    }
    t->base.doc = doc;
}

static void add_others(struct window_scorer *w, struct scorer *s)
{
    doc_id doc = scorer_is_before(s, w->start) ? s->ops->seek(s, w->start) : s->doc;
    for (; doc < w->stop; doc = s->ops->next(s)) {
        uint32_t k = doc - w->start;
        w->sums[k] += (double)s->ops->score(s);
        w->counts[k]++;
        if (w->marked) {
            bits_set(w->bits, k);
        }
    }
}

/* The first document from `target` on that an essential child stands at (they are moved there). */
static doc_id first_candidate(struct window_scorer *w, doc_id target)
{
    doc_id doc = DOC_END;
    for (uint32_t i = w->first; i < w->n; i++) {
        struct scorer *s = w->v[i].s;
        doc_id at = scorer_is_before(s, target) ? scorer_seek(s, target) : s->doc;
        doc = MIN_OF(doc, at);
    }
    return doc;
}

/* Computes the window that holds the first candidate from `target` on. false: there is none. */
static bool next_window(struct window_scorer *w, doc_id target)
{
    for (;;) {
        if (target >= w->n_docs) {
            return false;
        }
        if (w->min >= 0 && (!w->span_known || target > w->span_to)) {
            next_span(w, target);
        } else if (w->min > w->split_min && w->span_known) {
            partition(w);
        }
        if (w->first == w->n) { /* all of them together cannot compete here */
            target = w->span_to + 1;
            continue;
        }
        doc_id doc = first_candidate(w, target);
        if (doc == DOC_END && w->min < 0) {
            return false;
        }
        if (w->min >= 0 && doc > w->span_to) {
            target = w->span_to + 1;
            if (doc == DOC_END && w->span_to >= w->n_docs) {
                return false;
            }
            continue;
        }
        w->single = w->first + 1 == w->n && w->v[w->first].t != NULL && w->min >= 0;
        w->start = doc;
        w->stop = w->single ? w->n_docs : MIN_OF(doc + WINDOW, w->n_docs);
        if (w->min >= 0) {
            w->stop = MIN_OF(w->stop, w->span_to + 1);
        }
        break;
    }
    if (w->single) {
        return true;
    }
    w->marked = w->min < 0 || w->min_should > 1;
    memset(w->sums, 0, (w->stop - w->start) * sizeof(*w->sums));
    if (w->marked) {
        memset(w->bits, 0, sizeof(w->bits));
    }
    if (w->min_should > 1) {
        memset(w->counts, 0, sizeof(w->counts));
    }
    for (uint32_t i = w->first; i < w->n; i++) {
        if (w->v[i].t != NULL) {
            add_terms(w, w->v[i].t);
        } else {
            add_others(w, w->v[i].s);
        }
    }
    return true;
}

/* What essential children must reach so that the others can lift a document above the bound that competes. */
static double threshold(const struct window_scorer *w)
{
    double rest = w->first > 0 ? w->v[w->first - 1].sum_before + (double)w->v[w->first - 1].max : 0;
    double t = (double)w->min * (1 - (double)w->n * 0x1p-49) - rest;
    return t > 0 ? t : 0;
}

/* Adds the non-essential children's scores, the largest bound first. false: the document cannot compete. */
static bool windows_complete(struct window_scorer *w, doc_id doc, double sum)
{
    for (uint32_t i = w->first; i-- > 0;) {
        struct child *c = &w->v[i];
        if (sum_bound(sum + c->sum_before + (double)c->max, w->n) <= w->min) {
            return false;
        }
        if (scorer_is_before(c->s, doc)) {
            scorer_seek(c->s, doc);
        }
        if (c->s->doc == doc) {
            sum += (double)scorer_score(c->s);
        }
    }
    w->score = (float)sum;
    return w->min < 0 || w->score > w->min;
}

/* The first place from k on whose sum exceeds t, or n. */
static size_t next_above(const double *sums, size_t k, size_t n, double t)
{
    for (; k + 4 <= n; k += 4) {
        if ((sums[k] > t) | (sums[k + 1] > t) | (sums[k + 2] > t) | (sums[k + 3] > t)) {
            break;
        }
    }
    while (k < n && !(sums[k] > t)) {
        k++;
    }
    return k;
}

/* The next competitive document of the window from `target` on; DOC_END: none. */
static doc_id in_window(struct window_scorer *w, doc_id target)
{
    size_t n = w->stop - w->start, k = target - w->start;
    if (!w->marked) {
        double t = threshold(w);
        for (k = next_above(w->sums, k, n, t); k < n; k = next_above(w->sums, k + 1, n, t)) {
            if (windows_complete(w, w->start + (doc_id)k, w->sums[k])) {
                return w->start + (doc_id)k;
            }
        }
        return DOC_END;
    }
    for (k = bits_next(w->bits, k, n); k < n; k = bits_next(w->bits, k + 1, n)) {
        if (w->min_should > 1 && w->counts[k] < w->min_should) {
            continue;
        }
        if (windows_complete(w, w->start + (doc_id)k, w->sums[k])) {
            return w->start + (doc_id)k;
        }
    }
    return DOC_END;
}

/* Walks the one essential term: its blocks that cannot compete are not even decoded. */
static doc_id in_term(struct window_scorer *w, doc_id target)
{
    struct term_scorer *t = w->v[w->first].t;
    double limit = threshold(w);
    for (;;) {
        if (t->p.n == 0 || t->p.doc == POSTINGS_UNPOSITIONED || t->p.docs[t->p.n - 1] < target) {
            doc_id end = scorer_shallow(&t->base, target);
            while (end != DOC_END && end < w->stop && (double)t->block_best <= limit) {
                target = end + 1;
                end = scorer_shallow(&t->base, target);
            }
            if (end == DOC_END || target >= w->stop) {
                return DOC_END;
            }
        }
        t->base.doc =
            t->p.doc != POSTINGS_UNPOSITIONED && t->p.doc >= target ? t->p.doc : postings_seek(&t->p, target);
        if (t->base.doc >= w->stop) {
            return DOC_END;
        }
        const float *scores = term_block_scores(t);
        uint32_t at = t->p.at, n = t->p.n;
        while (at < n && (double)scores[at] <= limit) {
            at++;
        }
        if (at == n) {
            target = t->p.docs[n - 1] + 1;
            continue;
        }
        t->p.at = at;
        t->base.doc = t->p.doc = t->p.docs[at];
        if (t->base.doc >= w->stop) {
            return DOC_END;
        }
        if (windows_complete(w, t->base.doc, (double)scores[at])) {
            return t->base.doc;
        }
        target = t->base.doc + 1;
    }
}

static doc_id windows_from(struct window_scorer *w, doc_id target)
{
    for (;;) {
        if (target >= w->start && target < w->stop) {
            doc_id doc = w->single ? in_term(w, target) : in_window(w, target);
            if (doc != DOC_END) {
                return w->base.doc = doc;
            }
            target = w->stop;
        }
        if (!next_window(w, target)) {
            w->start = w->stop = 0;
            return w->base.doc = DOC_END;
        }
        target = w->start;
    }
}

static doc_id window_next(struct scorer *s)
{
    return s->doc == DOC_END
               ? DOC_END
               : windows_from(windows_self(s), s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id window_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : windows_from(windows_self(s), target);
}

static float window_score(struct scorer *s)
{
    return windows_self(s)->score;
}

static doc_id window_shallow(struct scorer *s, doc_id target)
{
    struct window_scorer *w = windows_self(s);
    doc_id to = DOC_END;
    for (uint32_t i = 0; i < w->n; i++) {
        doc_id at = scorer_shallow(w->v[i].s, target);
        to = MIN_OF(to, at);
    }
    return to;
}

static float window_max(struct scorer *s, doc_id up_to)
{
    struct window_scorer *w = windows_self(s);
    double sum = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        sum += scorer_max(w->v[i].s, up_to);
    }
    return sum_bound(sum, w->n);
}

/* The window under way stays as it was computed; what is left of it is held against the new bound. */
static void window_min(struct scorer *s, float min)
{
    struct window_scorer *w = windows_self(s);
    if (w->top && min > w->min) {
        w->min = min;
    }
}

static const struct scorer_ops window_ops = {.next = window_next,
                                             .seek = window_seek,
                                             .score = window_score,
                                             .shallow = window_shallow,
                                             .max_score = window_max,
                                             .min_score = window_min};

enum err window_scorer_new(struct arena *a, struct scorer **v, uint32_t n, const struct disjunction_opts *o,
                           uint64_t cost, struct scorer **out, struct errmsg *em)
{
    struct window_scorer *w = arena_alloc(a, sizeof(*w)); /* the arrays are cleared window by window */
    struct child *children = ARENA_ARRAY(a, struct child, n);
    if (w == NULL || children == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct term_scorer *t = scorer_term(v[i]);
        children[i] = (struct child){.s = v[i], .t = t != NULL && t->sim != NULL ? t : NULL};
    }
    w->base = (struct scorer){&window_ops, POSTINGS_UNPOSITIONED, cost};
    w->v = children;
    w->n = n;
    w->first = 0;
    w->min_should = o->min_should;
    w->top = o->top && o->scored;
    w->min = w->split_min = -1;
    w->span_to = 0;
    w->span_known = false;
    w->start = w->stop = 0;
    w->marked = w->single = false;
    w->n_docs = o->n_docs;
    w->score = 0;
    memset(w->counts, 0, sizeof(w->counts));
    *out = &w->base;
    return ERR_OK;
}
