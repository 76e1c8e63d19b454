/* Weights of spans: the statistics of all their terms, costs, explanations. */
#include "engine/query/spans.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"

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
    return span_cost(w->query->spans.root, w->query->field_name, leaf->segment);
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
                       "weight(%.*s in %u) [%s], result of:", STR_ARG(text), rq->doc, sim_name(w->shared));
    *out = explain_add(rq->arena, *out, score);
    return ERR_OK;
}

/* What stands against places has no part in scores. */
static uint32_t scored_parts(const struct span_part *p)
{
    return p->kind == SPAN_NOT ? 1 : p->n;
}

static uint32_t count_terms(const struct span_part *p)
{
    uint32_t n = p->kind == SPAN_TERM ? 1 : 0;
    for (uint32_t i = 0; i < scored_parts(p); i++) {
        n += count_terms(&p->v[i]);
    }
    return n;
}

static uint32_t gather_terms(const struct span_part *p, struct str field, struct span_word *out)
{
    uint32_t n = 0;
    field = span_field(p, field);
    if (p->kind == SPAN_TERM) {
        out[n++] = (struct span_word){field, p->term};
    }
    for (uint32_t i = 0; i < scored_parts(p); i++) {
        n += gather_terms(&p->v[i], field, out + n);
    }
    return n;
}

static int by_text(const void *a, const void *b)
{
    const struct span_word *x = a, *y = b;
    int c = str_cmp(x->field, y->field);
    return c != 0 ? c : str_cmp(x->term, y->term);
}

bool span_words(const struct span_part *root, struct str field, struct arena *a, struct span_word **out,
                uint32_t *n)
{
    uint32_t all = count_terms(root), kept = 0;
    struct span_word *v = *out = ARENA_ARRAY(a, struct span_word, MAX_OF(all, 1U));
    if (v == NULL) {
        return false;
    }
    gather_terms(root, field, v);
    sort_items(v, all, sizeof(*v), by_text);
    for (uint32_t i = 0; i < all; i++) {
        if (kept == 0 || by_text(&v[i], &v[kept - 1]) != 0) {
            v[kept++] = v[i];
        }
    }
    *n = kept;
    return true;
}

static const struct weight_ops span_weight_ops = {
    .cost = spans_cost, .scorer = span_scorer, .explain = span_explain};

/* A mask by itself is what it masks. */
static const struct query *without_masks(struct weight_shared *sh, const struct query *q)
{
    const struct span_part *root = q->spans.root;
    if (root->kind != SPAN_MASK) {
        return q;
    }
    struct query *c = rewrite_copy(sh, q);
    if (c == NULL) {
        return NULL;
    }
    while (root->kind == SPAN_MASK) {
        root = root->v;
    }
    c->field = root->mapped;
    c->field_name = root->field;
    c->spans.root = root;
    return c;
}

/* A term that other shards alone have counts for nothing, also where their numbers are known. */
static bool is_here(const struct weight_shared *sh, const struct span_word *w)
{
    const struct view *v = sh->cx.view;
    struct term_info t;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, w->field);
        if (f != NULL && seg_term(f, w->term, &t)) {
            return true;
        }
    }
    return false;
}

static bool finds_terms(struct weight_shared *sh, const struct span_part *p, struct str field)
{
    struct term_stats stats;
    field = span_field(p, field);
    bool found = false;
    if (p->kind == SPAN_TERM) {
        stats_of_term(sh, field, p->term, &stats);
        found = stats.doc_freq > 0;
    }
    for (uint32_t i = 0; i < scored_parts(p) && !found && !stop_often(); i++) {
        found = finds_terms(sh, &p->v[i], field);
    }
    return found;
}

/* Each part has a weight of its own in Lucene, which asks for the numbers of its field: terms of other fields do not give it any. */
static enum err check_fields(struct weight_shared *sh, const struct span_part *p, struct str field,
                             struct errmsg *em)
{
    struct field_stats stats;
    enum err e = ERR_OK;
    field = span_field(p, field);
    for (uint32_t i = 0; i < p->n && e == ERR_OK; i++) {
        e = check_fields(sh, &p->v[i], field, em);
    }
    if (e == ERR_OK && p->n > 0 && p->kind != SPAN_MASK && !stats_of_field(sh, field, &stats)
        && finds_terms(sh, p, field)) {
        e = err_set(em, ERR_NULL_POINTER,
                    "Cannot invoke \"org.apache.lucene.search.CollectionStatistics.field()\" because "
                    "\"collectionStats\" is null");
    }
    return e;
}

static enum err spans_weight(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    q = without_masks(sh, q);
    struct span_weight *w = q != NULL ? weight_alloc(sh, sizeof(*w), &span_weight_ops, q, boost, need) : NULL;
    struct span_word *terms;
    uint32_t n = 0, found = 0;
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    if (need == NEED_NO_SCORES) {
        return ERR_OK;
    }
    if (!span_words(q->spans.root, q->field_name, sh->cx.arena, &terms, &n)) {
        return err_no_memory(em);
    }
    struct term_stats *stats = ARENA_ARRAY(sh->cx.arena, struct term_stats, MAX_OF(n, 1U));
    if (stats == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n && !stop_often(); i++) {
        if (is_here(sh, &terms[i])) {
            stats_of_term(sh, terms[i].field, terms[i].term, &stats[found]);
            found += stats[found].doc_freq > 0 ? 1 : 0;
        }
    }
    enum err e = q->spans.written ? check_fields(sh, q->spans.root, q->field_name, em) : ERR_OK;
    w->scored = found > 0;
    return e != ERR_OK || found == 0
               ? e
               : sim_init(&w->sim, sh, q->field, q->field_name, boost, stats, found, em);
}

static void print_parts(const struct span_part *p, const char *begin, struct str field, struct buf *out)
{
    buf_z(out, begin);
    for (uint32_t i = 0; i < p->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        span_print(&p->v[i], field, out);
    }
}

void span_print(const struct span_part *p, struct str field, struct buf *out)
{
    struct str own = span_field(p, field);
    switch (p->kind) {
    case SPAN_TERM:
        buf_printf(out, "%.*s:", STR_ARG(own));
        buf_str(out, p->term);
        break;
    case SPAN_PREFIX:
        buf_printf(out, "SpanMultiTermQueryWrapper(%.*s:", STR_ARG(own));
        buf_str(out, p->term);
        buf_z(out, "*)");
        break;
    case SPAN_MULTI:
        buf_z(out, "SpanMultiTermQueryWrapper(");
        query_print(p->multi, out);
        buf_char(out, ')');
        break;
    case SPAN_OR:
        print_parts(p, "spanOr([", own, out);
        buf_z(out, "])");
        break;
    case SPAN_NEAR:
        print_parts(p, "spanNear([", own, out);
        buf_printf(out, "], %d, %s)", (int)p->slop, p->unordered ? "false" : "true");
        break;
    case SPAN_NOT:
        print_parts(p, "spanNot(", own, out);
        buf_printf(out, ", %d, %d)", (int)p->before, (int)p->after);
        break;
    case SPAN_FIRST:
        print_parts(p, "spanFirst(", own, out);
        buf_printf(out, ", %d)", (int)p->end);
        break;
    case SPAN_CONTAINING:
    case SPAN_WITHIN:
        print_parts(p, p->kind == SPAN_WITHIN ? "SpanWithin(" : "SpanContaining(", own, out);
        buf_char(out, ')');
        break;
    case SPAN_MASK:
        print_parts(p, "mask(", own, out);
        buf_printf(out, ") as %.*s", STR_ARG(own));
        break;
    case SPAN_GAP:
        buf_printf(out, "SpanGap(:%d)", (int)p->end);
        break;
    case SPAN_NONE:
        buf_z(out, "SpanMatchNoDocsQuery(\"");
        buf_str(out, p->term);
        buf_z(out, "\")");
        break;
    }
}

static enum err spans_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    if (q->spans.written) {
        return s->spans(s->self, q, q->boost != 0 ? boost / q->boost : 1, em);
    }
    return q->spans.paths != NULL ? query_words(q->spans.paths, boost, s, em) : ERR_OK;
}

static enum err spans_scored_terms(const struct query *q, struct scored_terms *t)
{
    struct span_word *terms;
    uint32_t n;
    enum err e = span_words(q->spans.root, q->field_name, t->arena, &terms, &n) ? ERR_OK : ERR_NO_MEMORY;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = scored_terms_add(t, terms[i].field, terms[i].term);
    }
    return e;
}

static void spans_print(const struct query *q, struct buf *out)
{
    span_print(q->spans.root, q->field_name, out);
}

/* Parts that have names. */
static enum err visit_names(const struct span_part *p, child_fn fn, void *arg)
{
    enum err e = p->named != NULL ? fn(arg, p->named, CHILD_SCORES) : ERR_OK;
    e = e == ERR_OK && p->multi != NULL ? fn(arg, p->multi, CHILD_SCORES) : e;
    for (uint32_t i = 0; i < p->n && e == ERR_OK && p->named == NULL; i++) {
        e = visit_names(&p->v[i], fn, arg);
    }
    return e;
}

static enum err spans_each_named(const struct query *q, child_fn fn, void *arg)
{
    const struct query *pattern = q->spans.root->multi;
    enum err e = pattern != NULL ? fn(arg, pattern, CHILD_SCORES) : ERR_OK;
    for (uint32_t i = 0; i < q->spans.root->n && e == ERR_OK; i++) {
        e = visit_names(&q->spans.root->v[i], fn, arg);
    }
    return e;
}

const struct query_ops q_spans = {.name = "spans",
                                  .each_named = spans_each_named,
                                  .words = spans_words,
                                  .scored_terms = spans_scored_terms,
                                  .print = spans_print,
                                  .keeps_zero = true,
                                  .rewrite = spans_rewrite,
                                  .weight = spans_weight};
