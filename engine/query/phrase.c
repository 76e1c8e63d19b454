/* Weights of phrases: statistics, costs, explanations. */
#include "engine/query/phrase.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"

#include "common/base/num.h"
#include "common/base/sort_items.h"

#define POSITIONS_COST 4 /* a document whose positions are read */

struct phrase_weight {
    struct weight base;
    struct sim sim;
    bool no_terms;
};

static enum err phrase_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct phrase_weight *pw = (const struct phrase_weight *)(const void *)w;
    return pw->no_terms ? ERR_OK : phrase_scorer_new(w, w->need != NEED_NO_SCORES ? &pw->sim : NULL, rq, out);
}

struct str phrase_slot_field(const struct query *q, uint32_t slot)
{
    return q->phrase.last_field != NULL && slot == q->phrase.n - 1 ? q->phrase.last_field->path
                                                                   : q->field_name;
}

static uint64_t phrase_cost(const struct weight *w, const struct leaf *leaf)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < w->query->phrase.n; i++) {
        const struct seg_field *f = segment_field(leaf->segment, phrase_slot_field(w->query, i));
        if (f == NULL) {
            return 0;
        }
        uint64_t sum = 0;
        for (uint32_t k = 0; k < w->query->phrase.v[i].n; k++) {
            struct term_info t;
            sum += seg_term(f, w->query->phrase.v[i].terms[k], &t) ? t.doc_freq : 0;
        }
        least = MIN_OF(least, sum);
    }
    return least == UINT64_MAX ? 0 : least;
}

static enum err phrase_explain(const struct weight *w, const struct explain_request *rq,
                               struct explanation **out)
{
    const struct phrase_weight *pw = (const struct phrase_weight *)(const void *)w;
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "no matching term%s",
                           w->query->phrase.last_field != NULL ? "" : "s");
        return ERR_OK;
    }
    float n = phrase_scorer_freq(s);
    const struct seg_field *f = segment_field(rq->leaf->segment, w->query->field_name);
    const uint8_t *norms = w->need != NEED_NO_SCORES ? seg_norms(f) : NULL;
    struct buf number;
    buf_init(&number, NULL, 64);
    num_put_float(&number, n);
    struct explanation *freq = explain_new(rq->arena, true, n, "phraseFreq=%.*s", STR_ARG(buf_view(&number)));
    buf_fini(&number);
    struct explanation *score = sim_explain(&pw->sim, rq->arena, freq, norms != NULL ? norms[rq->doc] : 1);
    struct str text = query_text_plain(w->query, rq->arena);
    *out = explain_new(rq->arena, true, score != NULL ? score->value : 0,
                       "weight(%.*s in %u) [%s], result of:", STR_ARG(text), rq->doc, sim_name(w->shared));
    *out = explain_add(rq->arena, *out, score);
    return ERR_OK;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Spans keep their terms as a sorted set: those of the field, then those of the beginnings. */
static bool span_stats(struct weight_shared *sh, const struct query *q, uint32_t all, struct term_stats *out,
                       uint32_t *n)
{
    uint32_t last = q->phrase.n - 1, end[2] = {0};
    struct str *v = ARENA_ARRAY(sh->cx.arena, struct str, all);
    if (v == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= last; i++) {
        end[0] = i < last ? end[0] + q->phrase.v[i].n : end[0];
        for (uint32_t k = 0; k < q->phrase.v[i].n; k++) {
            v[end[1]++] = q->phrase.v[i].terms[k];
        }
    }
    sort_items(v, end[0], sizeof(*v), by_text);
    sort_items(v + end[0], end[1] - end[0], sizeof(*v), by_text);
    for (uint32_t i = 0; i < end[1]; i++) {
        if (i > 0 && i != end[0] && str_eq(v[i], v[i - 1])) {
            continue;
        }
        stats_of_term(sh, phrase_slot_field(q, i < end[0] ? 0 : last), v[i], &out[*n]);
        *n += out[*n].doc_freq > 0 ? 1 : 0;
    }
    return true;
}

static const struct weight_ops phrase_weight_ops = {
    .cost = phrase_cost, .scorer = phrase_scorer, .explain = phrase_explain};

static enum err phrase_weight(struct weight_shared *sh, const struct query *q, float boost,
                              enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct phrase_weight *w = weight_alloc(sh, sizeof(*w), &phrase_weight_ops, q, boost, need);
    struct term_stats *terms;
    uint32_t n = 0, all = 0;
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        all += q->phrase.v[i].n;
    }
    terms = ARENA_ARRAY(sh->cx.arena, struct term_stats, all);
    if (w == NULL || terms == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    if (need == NEED_NO_SCORES) {
        return ERR_OK;
    }
    if (q->phrase.last_field != NULL && !span_stats(sh, q, all, terms, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; q->phrase.last_field == NULL && i < q->phrase.n; i++) {
        for (uint32_t k = 0; k < q->phrase.v[i].n; k++) {
            stats_of_term(sh, q->field_name, q->phrase.v[i].terms[k], &terms[n]);
            n += terms[n].doc_freq > 0 ? 1 : 0;
        }
    }
    w->no_terms = n == 0;
    return n == 0 ? ERR_OK : sim_init(&w->sim, sh, q->field, q->field_name, boost, terms, n, em);
}

static enum err phrase_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    return s->phrase(s->self, q, boost, em);
}

static enum err phrase_scored_terms(const struct query *q, struct scored_terms *t)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        for (uint32_t k = 0; k < q->phrase.v[i].n && e == ERR_OK; k++) {
            e = scored_terms_add(t, phrase_slot_field(q, i), q->phrase.v[i].terms[k]);
        }
    }
    return e;
}

static bool phrase_same(const struct query *a, const struct query *b)
{
    if (!query_same_field(a, b) || a->phrase.n != b->phrase.n || a->phrase.slop != b->phrase.slop
        || (a->phrase.last_field == NULL) != (b->phrase.last_field == NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < a->phrase.n; i++) {
        const struct phrase_term *x = &a->phrase.v[i], *y = &b->phrase.v[i];
        if (x->position != y->position || x->n != y->n || !query_same_strs(x->terms, y->terms, x->n)) {
            return false;
        }
    }
    return true;
}

/* A slot of a SpanNearQuery: a term, or several; those of the last one are another field's. */
static void print_span(const struct query *q, uint32_t slot, struct buf *out)
{
    const struct phrase_term *t = &q->phrase.v[slot];
    bool masked = slot == q->phrase.n - 1;
    buf_z(out, t->n > 1 ? "spanOr([" : "");
    for (uint32_t k = 0; k < t->n; k++) {
        buf_z(out, k > 0 ? ", " : "");
        buf_printf(out, masked ? "mask(%.*s:" : "%.*s:",
                   STR_ARG(masked ? q->phrase.last_field->path : q->field_name));
        buf_str(out, t->terms[k]);
        if (masked) {
            buf_printf(out, ") as %.*s", STR_ARG(q->field_name));
        }
    }
    buf_z(out, t->n > 1 ? "])" : "");
}

static void print_spans(const struct query *q, struct buf *out)
{
    buf_z(out, "spanNear([");
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        int32_t gap = i > 0 ? q->phrase.v[i].position - q->phrase.v[i - 1].position - 1 : 0;
        buf_z(out, i > 0 ? ", " : "");
        if (gap > 0) {
            buf_printf(out, "SpanGap(:%d), ", (int)gap);
        }
        print_span(q, i, out);
    }
    buf_z(out, "], 0, true)");
}

static void phrase_print(const struct query *q, struct buf *out)
{
    int32_t last = q->phrase.n > 0 ? q->phrase.v[0].position : 0;
    if (q->phrase.last_field != NULL) {
        print_spans(q, out);
        return;
    }
    query_print_field(q, out);
    buf_char(out, '"');
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        const struct phrase_term *t = &q->phrase.v[i];
        if (i > 0) {
            buf_char(out, ' ');
            for (; last + 1 < t->position && !q->phrase.prefix_last; last++) {
                buf_z(out, "? ");
            }
        }
        last = t->position;
        if (t->n > 1) {
            buf_char(out, '(');
        }
        for (uint32_t k = 0; k < t->n; k++) {
            if (k > 0) {
                buf_char(out, ' ');
            }
            buf_str(out, t->terms[k]);
            buf_z(out, q->phrase.prefix_last && i == q->phrase.n - 1 ? "*" : "");
        }
        if (t->n > 1) {
            buf_char(out, ')');
        }
    }
    buf_char(out, '"');
    if (q->phrase.slop != 0) {
        buf_printf(out, "~%u", q->phrase.slop);
    }
}

static uint64_t phrase_docs(const struct view *v, const struct query *q)
{
    uint64_t least = QUERY_COST_UNKNOWN;
    if (q->phrase.prefix_last || q->phrase.last_field != NULL) {
        return QUERY_COST_UNKNOWN;
    }
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        least = MIN_OF(least, cost_of_terms(v, q->field_name, q->phrase.v[i].terms, q->phrase.v[i].n));
    }
    return cost_times(least, (uint64_t)q->phrase.n * POSITIONS_COST);
}

static enum err expand_prefix(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em)
{
    const struct phrase_term *last = &q->phrase.v[q->phrase.n - 1];
    struct prefix_terms p = {.arena = sh->cx.arena, .max = q->phrase.max_expansions};
    for (uint32_t t = 0; t < last->n && p.n <= p.max; t++) {
        terms_with_prefix(sh, q->field_name, last->terms[t], &p);
    }
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    struct phrase_term *v = ARENA_ARRAY(sh->cx.arena, struct phrase_term, q->phrase.n);
    if (p.failed || c == NULL || v == NULL) {
        return err_no_memory(em);
    }
    *c = *q;
    c->name = STR_NULL;
    *out = c;
    if (p.n == 0) {
        c->ops = &q_match_none;
        c->boost = 1;
        c->none.reason =
            STR("No terms supplied for org.elasticsearch.common.lucene.search.MultiPhrasePrefixQuery");
        return ERR_OK;
    }
    memcpy(v, q->phrase.v, q->phrase.n * sizeof(*v));
    v[q->phrase.n - 1].terms = p.v;
    v[q->phrase.n - 1].n = (uint32_t)p.n;
    c->phrase.v = v;
    c->phrase.prefix_last = false;
    return ERR_OK;
}

static enum err phrase_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                               struct errmsg *em)
{
    const struct query *p = q;
    enum err e = ERR_OK;
    if (q->phrase.prefix_last) {
        e = expand_prefix(sh, q, &p, em);
        if (e != ERR_OK || p->ops != &q_phrase) {
            *out = p;
            return e;
        }
    }
    if (p->phrase.n == 0) {
        return rewrite_to_none(sh, "empty PhraseQuery", out, em);
    }
    if (p->phrase.n > 1) {
        *out = p;
        return ERR_OK;
    }
    /* One position: its terms, any of them. */
    uint32_t n = p->phrase.v[0].n;
    struct bool_clause *v = ARENA_ARRAY(sh->cx.arena, struct bool_clause, n);
    for (uint32_t i = 0; v != NULL && i < n; i++) {
        struct query *t = rewrite_to_term(sh, p, p->phrase.v[0].terms[i], n == 1 ? p->boost : 1);
        if (t == NULL) {
            return err_no_memory(em);
        }
        v[i] = (struct bool_clause){OCCUR_SHOULD, t};
    }
    if (v == NULL) {
        return err_no_memory(em);
    }
    if (n == 1) {
        *out = v[0].query;
        return ERR_OK;
    }
    e = rewrite_to_bool(sh, v, n, 0, p->boost, out, em);
    return e == ERR_OK ? query_rewrite(sh, *out, out, em) : e;
}

const struct query_ops q_phrase = {.name = "phrase",
                                   .words = phrase_words,
                                   .scored_terms = phrase_scored_terms,
                                   .same = phrase_same,
                                   .print = phrase_print,
                                   .cost = phrase_docs,
                                   .rewrite = phrase_rewrite,
                                   .weight = phrase_weight};
