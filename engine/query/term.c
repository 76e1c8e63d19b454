/* Terms, and terms that count as one (synonyms). */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

struct term_leaf {
    const struct seg_field *field; /* NULL: the segment does not have the term */
    struct term_info info;
};

struct term_weight {
    struct weight base;
    struct sim sim;
    bool scored;
    struct term_leaf *leaves;
};

static bool find_leaves(struct weight_shared *sh, struct str field, struct str term, struct term_leaf **out)
{
    const struct view *v = sh->cx.view;
    struct term_leaf *leaves = ARENA_ARRAY(sh->cx.arena, struct term_leaf, v->n_leaves);
    for (uint32_t i = 0; leaves != NULL && i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        if (f != NULL && (f->has & SEG_TERMS) && seg_term(f, term, &leaves[i].info)) {
            leaves[i].field = f;
        }
    }
    *out = leaves;
    return leaves != NULL;
}

static const struct term_weight *term_self(const struct weight *w)
{
    return (const struct term_weight *)(const void *)w;
}

static uint64_t term_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct term_leaf *l = &term_self(w)->leaves[leaf->index];
    return l->field != NULL ? l->info.doc_freq : 0;
}

static enum err term_scorer_of(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct term_leaf *l = &term_self(w)->leaves[rq->leaf->index];
    if (l->field == NULL) {
        return ERR_OK;
    }
    return term_scorer_new(rq->arena, l->field, &l->info, term_self(w)->scored ? &term_self(w)->sim : NULL,
                           out, rq->em);
}

static struct explanation *explain_score(const struct weight *w, const struct sim *sim,
                                         const struct explain_request *rq, struct explanation *freq,
                                         uint8_t norm)
{
    struct explanation *score = sim_explain(sim, rq->arena, freq, norm);
    struct str text = query_text_plain(w->query, rq->arena);
    struct explanation *e =
        explain_new(rq->arena, true, score != NULL ? score->value : 0,
                    "weight(%.*s in %u) [%s], result of:", STR_ARG(text), rq->doc, sim_name(w->shared));
    return explain_add(rq->arena, e, score);
}

static enum err term_explain(const struct weight *w, const struct explain_request *rq,
                             struct explanation **out)
{
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "no matching term");
        return ERR_OK;
    }
    struct term_scorer *t = scorer_term(s);
    struct explanation *freq =
        explain_new(rq->arena, true, term_self(w)->sim.flat ? 1 : (float)postings_freq(&t->p),
                    "freq, occurrences of term within document");
    *out = explain_score(w, &term_self(w)->sim, rq, freq, term_norm(t, rq->doc));
    return ERR_OK;
}

static int64_t term_count(const struct weight *w, const struct leaf *leaf)
{
    const struct term_leaf *l = &term_self(w)->leaves[leaf->index];
    if (leaf->live != NULL && l->field != NULL) {
        return -1;
    }
    return l->field != NULL ? l->info.doc_freq : 0;
}

static const struct weight_ops term_ops = {
    .cost = term_cost, .scorer = term_scorer_of, .explain = term_explain, .count = term_count};

static enum err term_weight(struct weight_shared *sh, const struct query *q, float boost,
                            enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct term_weight *w = weight_alloc(sh, sizeof(*w), &term_ops, q, boost, need);
    struct term_stats ts;
    if (w == NULL || !find_leaves(sh, q->field_name, q->term.term, &w->leaves)) {
        return err_no_memory(em);
    }
    *out = &w->base;
    if (need == NEED_NO_SCORES) {
        return ERR_OK;
    }
    if (q->term.override != NULL) {
        ts = (struct term_stats){q->term.override->doc_freq, q->term.override->total_freq};
    } else {
        stats_of_term(sh, q->field_name, q->term.term, &ts);
    }
    if (ts.doc_freq == 0) {
        return ERR_OK;
    }
    w->scored = true;
    return sim_init(&w->sim, sh, q->field, q->field_name, boost, &ts, 1, em);
}

/* ---- synonyms ---- */

struct synonym_weight {
    struct weight base;
    struct sim sim;
    bool scored;
    struct term_leaf **terms; /* leaves of each term */
};

struct synonym_scorer {
    struct scorer base;
    struct postings *v;
    uint32_t n;
    const struct sim *sim;
    const uint8_t *norms;
};

static struct synonym_scorer *syn(struct scorer *s)
{
    return (struct synonym_scorer *)(void *)s;
}

static doc_id synonym_seek(struct scorer *s, doc_id target)
{
    struct synonym_scorer *y = syn(s);
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < y->n; i++) {
        doc_id at = y->v[i].doc != POSTINGS_UNPOSITIONED && y->v[i].doc >= target
                        ? y->v[i].doc
                        : postings_seek(&y->v[i], target);
        doc = MIN_OF(doc, at);
    }
    return s->doc = doc;
}

static doc_id synonym_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : synonym_seek(s, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static float synonym_freq(struct synonym_scorer *y, doc_id doc)
{
    float freq = 0;
    for (uint32_t i = 0; i < y->n; i++) {
        freq += y->v[i].doc == doc ? (float)postings_freq(&y->v[i]) : 0;
    }
    return freq;
}

static float synonym_score(struct scorer *s)
{
    struct synonym_scorer *y = syn(s);
    return y->sim == NULL
               ? 0
               : sim_score(y->sim, synonym_freq(y, s->doc), y->norms != NULL ? y->norms[s->doc] : 1);
}

static float synonym_max(struct scorer *s, UNUSED doc_id up_to)
{
    return syn(s)->sim != NULL ? syn(s)->sim->weight : 0;
}

static const struct scorer_ops synonym_scorer_ops = {
    .next = synonym_next, .seek = synonym_seek, .score = synonym_score, .max_score = synonym_max};

static const struct synonym_weight *synonyms(const struct weight *w)
{
    return (const struct synonym_weight *)(const void *)w;
}

static uint64_t synonym_cost(const struct weight *w, const struct leaf *leaf)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->query->terms.n; i++) {
        const struct term_leaf *l = &synonyms(w)->terms[i][leaf->index];
        sum += l->field != NULL ? l->info.doc_freq : 0;
    }
    return sum;
}

static enum err synonym_scorer_of(const struct weight *w, const struct scorer_request *rq,
                                  struct scorer **out)
{
    const struct synonym_weight *y = synonyms(w);
    const struct term_leaf *only = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->query->terms.n; i++) {
        const struct term_leaf *l = &y->terms[i][rq->leaf->index];
        if (l->field != NULL) {
            only = l;
            n++;
        }
    }
    if (n <= 1) {
        return n == 0 ? ERR_OK
                      : term_scorer_new(rq->arena, only->field, &only->info, y->scored ? &y->sim : NULL, out,
                                        rq->em);
    }
    struct synonym_scorer *s = ARENA_NEW(rq->arena, struct synonym_scorer);
    if (s == NULL || (s->v = arena_alloc(rq->arena, n * sizeof(*s->v))) == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < w->query->terms.n; i++) {
        const struct term_leaf *l = &y->terms[i][rq->leaf->index];
        if (l->field != NULL) {
            postings_init(&s->v[s->n++], l->field, &l->info, y->scored);
        }
    }
    s->sim = y->scored ? &y->sim : NULL;
    s->norms = y->scored ? seg_norms(only->field) : NULL;
    s->base = (struct scorer){&synonym_scorer_ops, POSTINGS_UNPOSITIONED, synonym_cost(w, rq->leaf)};
    *out = &s->base;
    return ERR_OK;
}

static enum err synonym_explain(const struct weight *w, const struct explain_request *rq,
                                struct explanation **out)
{
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "no matching term");
        return ERR_OK;
    }
    struct term_scorer *t = scorer_term(s);
    float freq = t != NULL ? (float)postings_freq(&t->p) : synonym_freq(syn(s), rq->doc);
    const uint8_t *norms = t != NULL ? t->norms : syn(s)->norms;
    struct buf number;
    buf_init(&number, NULL, 64);
    num_put_float(&number, freq);
    struct explanation *f = explain_new(rq->arena, true, freq, "termFreq=%.*s", STR_ARG(buf_view(&number)));
    buf_fini(&number);
    *out = explain_score(w, &synonyms(w)->sim, rq, f, norms != NULL ? norms[rq->doc] : 1);
    return ERR_OK;
}

static const struct weight_ops synonym_ops = {
    .cost = synonym_cost, .scorer = synonym_scorer_of, .explain = synonym_explain};

static enum err synonym_weight(struct weight_shared *sh, const struct query *q, float boost,
                               enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct synonym_weight *w = weight_alloc(sh, sizeof(*w), &synonym_ops, q, boost, need);
    struct term_stats all = {0};
    if (w == NULL || (w->terms = ARENA_ARRAY(sh->cx.arena, struct term_leaf *, q->terms.n)) == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    for (uint32_t i = 0; i < q->terms.n; i++) {
        struct term_stats ts;
        if (!find_leaves(sh, q->field_name, q->terms.v[i], &w->terms[i])) {
            return err_no_memory(em);
        }
        if (need != NEED_NO_SCORES) {
            stats_of_term(sh, q->field_name, q->terms.v[i], &ts);
            all.doc_freq = MAX_OF(all.doc_freq, ts.doc_freq);
            all.total_freq += ts.total_freq;
        }
    }
    w->scored = all.doc_freq > 0;
    return w->scored ? sim_init(&w->sim, sh, q->field, q->field_name, boost, &all, 1, em) : ERR_OK;
}

static enum err term_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    return s->term(s->self, q->field_name, q->term.term, boost, em);
}

static enum err term_scored_terms(const struct query *q, struct scored_terms *t)
{
    return scored_terms_add(t, q->field_name, q->term.term);
}

static enum err synonym_words(const struct query *q, float boost, const struct word_sink *s,
                              struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->terms.n && e == ERR_OK; i++) {
        float own = q->terms.boosts != NULL ? q->terms.boosts[i] : 1;
        e = s->term(s->self, q->field_name, q->terms.v[i], boost * own, em);
    }
    return e;
}

static enum err synonym_scored_terms(const struct query *q, struct scored_terms *t)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->terms.n && e == ERR_OK; i++) {
        e = scored_terms_add(t, q->field_name, q->terms.v[i]);
    }
    return e;
}

static bool term_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b)
           && str_eq(a->term.term,
                     b->term.term); /* whatever the statistics: as Lucene's TermQuery compares */
}

static void term_print(const struct query *q, struct buf *out)
{
    if (str_is(q->field_name, "_nested_path")) { /* as Elasticsearch 7 indexes it */
        buf_z(out, "_type:__");
    } else {
        query_print_field(q, out);
    }
    buf_str(out, q->term.term);
}

static uint64_t term_docs(const struct view *v, const struct query *q)
{
    return cost_of_term(v, q->field_name, q->term.term);
}

const struct query_ops q_term = {.name = "term",
                                 .words = term_words,
                                 .scored_terms = term_scored_terms,
                                 .may = nested_by_field,
                                 .same = term_same,
                                 .print = term_print,
                                 .cost = term_docs,
                                 .weight = term_weight};
static bool synonym_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b) && a->terms.n == b->terms.n
           && query_same_strs(a->terms.v, b->terms.v, a->terms.n);
}

static void synonym_print(const struct query *q, struct buf *out)
{
    buf_z(out, "Synonym(");
    for (uint32_t i = 0; i < q->terms.n; i++) {
        if (i > 0) {
            buf_char(out, ' ');
        }
        query_print_field(q, out);
        buf_str(out, q->terms.v[i]);
    }
    buf_char(out, ')');
}

static uint64_t synonym_docs(const struct view *v, const struct query *q)
{
    return cost_of_terms(v, q->field_name, q->terms.v, q->terms.n);
}

static enum err synonym_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                struct errmsg *em)
{
    if (q->terms.n == 1) {
        *out = rewrite_to_term(sh, q, q->terms.v[0], q->boost);
    }
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

const struct query_ops q_synonym = {.name = "synonym",
                                    .words = synonym_words,
                                    .scored_terms = synonym_scored_terms,
                                    .same = synonym_same,
                                    .print = synonym_print,
                                    .cost = synonym_docs,
                                    .rewrite = synonym_rewrite,
                                    .weight = synonym_weight};
