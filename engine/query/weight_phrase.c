/* Weights of phrases: statistics, costs, explanations. */
#include "engine/query/phrase.h"
#include "engine/query/query_ops.h"

#include "common/base/num.h"
#include "common/base/sort_items.h"

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
                       "weight(%.*s in %u) [PerFieldSimilarity], result of:", STR_ARG(text), rq->doc);
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

const struct query_ops q_phrase = {
    .name = "phrase", .kind = KIND_phrase, .words = phrase_words, .scored_terms = phrase_scored_terms};
