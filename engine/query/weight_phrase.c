/* Weights of phrases: statistics, costs, explanations. */
#include "engine/query/phrase.h"

#include "common/base/num.h"

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

static uint64_t phrase_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct seg_field *f = segment_field(leaf->segment, w->query->field_name);
    uint64_t least = UINT64_MAX;
    if (f == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < w->query->phrase.n; i++) {
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
        *out = explain_new(rq->arena, false, 0, "no matching terms");
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
                       "weight(%.*s in %u) [PerFieldSimilarity], result of:", STR_ARG(text), rq->doc);
    *out = explain_add(rq->arena, *out, score);
    return ERR_OK;
}

static const struct weight_ops phrase_weight_ops = {phrase_cost, phrase_scorer, phrase_explain, NULL};

enum err weight_phrase(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                       const struct weight **out, struct errmsg *em)
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
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        for (uint32_t k = 0; k < q->phrase.v[i].n; k++) {
            stats_of_term(sh, q->field_name, q->phrase.v[i].terms[k], &terms[n]);
            n += terms[n].doc_freq > 0 ? 1 : 0;
        }
    }
    w->no_terms = n == 0;
    return n == 0 ? ERR_OK : sim_init(&w->sim, sh, q->field, q->field_name, boost, terms, n, em);
}
