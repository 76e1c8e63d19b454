/* Weights of spans: the statistics of all their terms, costs, explanations. */
#include "engine/query/spans.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"

struct span_weight {
    struct weight base;
    struct sim sim;
    bool scored; /* some term exists */
};

static enum err span_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct span_weight *sw = (const struct span_weight *)(const void *)w;
    return span_scorer_new(w, sw->scored ? &sw->sim : NULL, rq, out);
}

static uint64_t spans_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct seg_field *f = segment_field(leaf->segment, w->query->field_name);
    return f != NULL ? span_cost(w->query->spans.root, f) : 0;
}

static enum err span_explain(const struct weight *w, const struct explain_request *rq,
                             struct explanation **out)
{
    const struct span_weight *sw = (const struct span_weight *)(const void *)w;
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "no matching term");
        return ERR_OK;
    }
    struct str text = query_text_plain(w->query, rq->arena);
    if (!sw->scored) {
        *out = explain_new(rq->arena, true, 0, "match %.*s in %u without score", STR_ARG(text), rq->doc);
        return ERR_OK;
    }
    float n = span_scorer_freq(s);
    const uint8_t *norms = seg_norms(segment_field(rq->leaf->segment, w->query->field_name));
    struct buf number;
    buf_init(&number, NULL, 64);
    num_put_float(&number, n);
    struct explanation *freq = explain_new(rq->arena, true, n, "phraseFreq=%.*s", STR_ARG(buf_view(&number)));
    buf_fini(&number);
    struct explanation *score = sim_explain(&sw->sim, rq->arena, freq, norms != NULL ? norms[rq->doc] : 1);
    *out = explain_new(rq->arena, true, score != NULL ? score->value : 0,
                       "weight(%.*s in %u) [PerFieldSimilarity], result of:", STR_ARG(text), rq->doc);
    *out = explain_add(rq->arena, *out, score);
    return ERR_OK;
}

static uint32_t count_terms(const struct span_part *p)
{
    uint32_t n = p->kind == SPAN_TERM ? 1 : 0;
    for (uint32_t i = 0; i < p->n; i++) {
        n += count_terms(&p->v[i]);
    }
    return n;
}

static uint32_t gather_terms(const struct span_part *p, struct str *out)
{
    uint32_t n = 0;
    if (p->kind == SPAN_TERM) {
        out[n++] = p->term;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        n += gather_terms(&p->v[i], out + n);
    }
    return n;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool span_terms(const struct span_part *root, struct arena *a, struct str **out, uint32_t *n)
{
    uint32_t all = count_terms(root), kept = 0;
    struct str *v = *out = ARENA_ARRAY(a, struct str, MAX_OF(all, 1U));
    if (v == NULL) {
        return false;
    }
    gather_terms(root, v);
    sort_items(v, all, sizeof(*v), by_text);
    for (uint32_t i = 0; i < all; i++) {
        if (kept == 0 || !str_eq(v[i], v[kept - 1])) {
            v[kept++] = v[i];
        }
    }
    *n = kept;
    return true;
}

static const struct weight_ops span_weight_ops = {
    .cost = spans_cost, .scorer = span_scorer, .explain = span_explain};

static enum err spans_weight(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct span_weight *w = weight_alloc(sh, sizeof(*w), &span_weight_ops, q, boost, need);
    struct str *terms;
    uint32_t n = 0, found = 0;
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    if (need == NEED_NO_SCORES) {
        return ERR_OK;
    }
    if (!span_terms(q->spans.root, sh->cx.arena, &terms, &n)) {
        return err_no_memory(em);
    }
    struct term_stats *stats = ARENA_ARRAY(sh->cx.arena, struct term_stats, MAX_OF(n, 1U));
    if (stats == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        stats_of_term(sh, q->field_name, terms[i], &stats[found]);
        found += stats[found].doc_freq > 0 ? 1 : 0;
    }
    w->scored = found > 0;
    return found == 0 ? ERR_OK : sim_init(&w->sim, sh, q->field, q->field_name, boost, stats, found, em);
}

static void span_print(const struct span_part *p, struct str field, struct buf *out)
{
    if (p->kind <= SPAN_PREFIX) {
        bool prefix = p->kind == SPAN_PREFIX;
        buf_printf(out, prefix ? "SpanMultiTermQueryWrapper(%.*s:" : "%.*s:", STR_ARG(field));
        buf_str(out, p->term);
        buf_z(out, prefix ? "*)" : "");
        return;
    }
    buf_z(out, p->kind == SPAN_OR ? "spanOr([" : "spanNear([");
    for (uint32_t i = 0; i < p->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        span_print(&p->v[i], field, out);
    }
    buf_z(out, p->kind == SPAN_OR ? "])" : "], 0, true)");
}

static enum err spans_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    return q->spans.paths != NULL ? query_words(q->spans.paths, boost, s, em) : ERR_OK;
}

static enum err spans_scored_terms(const struct query *q, struct scored_terms *t)
{
    struct str *terms;
    uint32_t n;
    enum err e = span_terms(q->spans.root, t->arena, &terms, &n) ? ERR_OK : ERR_NO_MEMORY;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = scored_terms_add(t, q->field_name, terms[i]);
    }
    return e;
}

static void spans_print(const struct query *q, struct buf *out)
{
    span_print(q->spans.root, q->field_name, out);
}

/* The part with the terms that there are for its beginnings. false: no memory. */
static bool expand_span(struct weight_shared *sh, const struct query *q, const struct span_part *part,
                        struct span_part *out)
{
    struct prefix_terms p = {.arena = sh->cx.arena, .max = q->spans.max_expansions};
    *out = *part;
    if (part->kind == SPAN_TERM) {
        return true;
    }
    if (part->kind == SPAN_PREFIX) {
        terms_with_prefix(sh, q->field_name, part->term, &p);
        *out = (struct span_part){.kind = SPAN_OR, .n = (uint32_t)p.n};
    }
    struct span_part *v = ARENA_ARRAY(sh->cx.arena, struct span_part, MAX_OF(out->n, 1U));
    bool ok = v != NULL && !p.failed;
    for (uint32_t i = 0; ok && i < out->n; i++) {
        if (part->kind == SPAN_PREFIX) {
            v[i] = (struct span_part){.kind = SPAN_TERM, .term = p.v[i]};
        } else {
            ok = expand_span(sh, q, &part->v[i], &v[i]);
        }
    }
    out->v = v;
    if (ok && part->kind == SPAN_PREFIX && out->n == 1) {
        *out = v[0];
    }
    return ok;
}

/* Beginnings become the terms that there are. */
static enum err spans_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em)
{
    if (!q->spans.prefix) {
        return ERR_OK;
    }
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    struct span_part *root = ARENA_NEW(sh->cx.arena, struct span_part);
    if (c == NULL || root == NULL || !expand_span(sh, q, q->spans.root, root)) {
        return err_no_memory(em);
    }
    *c = *q;
    c->name = STR_NULL;
    c->spans.root = root;
    c->spans.prefix = false;
    *out = c;
    return ERR_OK;
}

const struct query_ops q_spans = {.name = "spans",
                                  .words = spans_words,
                                  .scored_terms = spans_scored_terms,
                                  .print = spans_print,
                                  .rewrite = spans_rewrite,
                                  .weight = spans_weight};
