/* intervals: documents with intervals of a source, scored by how many there are and how narrow. */
#include "engine/query/intervals.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"

#include "common/base/num.h"
#include "common/base/stop.h"

#define PIVOT 1.0F /* the frequency that gives half of the weight */

struct interval_scorer {
    struct scorer base;
    struct interval_iter *it;
    float boost;
    int32_t extent;
    bool scored;
    float freq; /* of base.doc, after matches() */
    struct weight_shared *shared;
};

static const struct interval_source *source_of(const struct query *q)
{
    return q->own;
}

static struct interval_scorer *self(struct scorer *s)
{
    return (struct interval_scorer *)(void *)s;
}

static doc_id intervals_next(struct scorer *s)
{
    doc_id from = s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1;
    return s->doc == DOC_END ? DOC_END : (s->doc = interval_seek(self(s)->it, from));
}

static doc_id intervals_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : (s->doc = interval_seek(self(s)->it, target));
}

static bool intervals_match(struct scorer *s)
{
    struct interval_scorer *p = self(s);
    interval_reset(p->it);
    bool any = interval_next(p->it) != INTERVAL_END;
    p->freq = 0;
    for (bool more = any; more && p->scored && !stop_often(); more = interval_next(p->it) != INTERVAL_END) {
        int32_t length = interval_end(p->it) - interval_start(p->it) + 1;
        p->freq = (float)((double)p->freq + 1.0 / (double)MAX_OF(length - p->extent + 1, 1));
    }
    if (interval_failed(p->it)) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        weight_fail(p->shared, &em);
        return false;
    }
    return any;
}

static float saturation(float boost, float freq)
{
    return boost * (1.0F - PIVOT / (PIVOT + freq));
}

static float intervals_score(struct scorer *s)
{
    return saturation(self(s)->boost, self(s)->freq);
}

static float intervals_max(struct scorer *s, doc_id up_to)
{
    (void)up_to;
    return self(s)->boost;
}

static const struct scorer_ops interval_scorer_ops = {.next = intervals_next,
                                                      .seek = intervals_seek,
                                                      .matches = intervals_match,
                                                      .score = intervals_score,
                                                      .max_score = intervals_max};

static enum err make_scorer(const struct weight *w, const struct scorer_request *rq, bool scored,
                            struct scorer **out)
{
    const struct interval_opening o = {rq->leaf->segment, rq->arena, rq->em};
    struct interval_iter *it;
    enum err e = interval_iter_new(&o, source_of(w->query), w->query->field_name, &it);
    if (e != ERR_OK || it == NULL) {
        return e;
    }
    struct interval_scorer *p = ARENA_NEW(rq->arena, struct interval_scorer);
    if (p == NULL) {
        return err_no_memory(rq->em);
    }
    *p = (struct interval_scorer){.base = {&interval_scorer_ops, POSTINGS_UNPOSITIONED, it->cost},
                                  .it = it,
                                  .boost = w->boost,
                                  .extent = interval_extent(source_of(w->query)),
                                  .scored = scored,
                                  .shared = w->shared};
    *out = &p->base;
    return ERR_OK;
}

static enum err intervals_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    return make_scorer(w, rq, w->need != NEED_NO_SCORES, out);
}

static uint64_t intervals_cost(const struct weight *w, const struct leaf *leaf)
{
    (void)w;
    return leaf->doc_count;
}

static enum err intervals_explain(const struct weight *w, const struct explain_request *rq,
                                  struct explanation **out)
{
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "no matching intervals");
        return ERR_OK;
    }
    float freq = self(s)->freq;
    struct str text = query_text_plain(w->query, rq->arena);
    struct explanation *x =
        explain_new(rq->arena, true, saturation(w->boost, freq),
                    "Saturation function on interval frequency, computed as w * S / (S + k) from:");
    x = explain_add(rq->arena, x, explain_new(rq->arena, true, w->boost, "w, weight of this function"));
    x = explain_add(rq->arena, x,
                    explain_new(rq->arena, true, PIVOT,
                                "k, pivot feature value that would give a score contribution equal to w/2"));
    *out = explain_add(rq->arena, x,
                       explain_new(rq->arena, true, freq,
                                   "S, the sloppy frequency of the interval query %.*s", STR_ARG(text)));
    return ERR_OK;
}

static const struct weight_ops interval_weight_ops = {
    .cost = intervals_cost, .scorer = intervals_scorer, .explain = intervals_explain};

static enum err intervals_weight(struct weight_shared *sh, const struct query *q, float boost,
                                 enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct weight *w = weight_alloc(sh, sizeof(*w), &interval_weight_ops, q, boost, need);
    *out = w;
    return w != NULL ? ERR_OK : err_no_memory(em);
}

static void intervals_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    interval_print(source_of(q), out);
}

/* Each of its terms counts by itself. */
static enum err source_words(const struct interval_source *s, struct str field, float boost,
                             const struct word_sink *sink, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (s->kind == INTERVAL_TERM) {
        return sink->loose(sink->self, field, s->text, boost, em);
    }
    if (s->kind == INTERVAL_PATTERN) {
        return sink->loose_pattern(sink->self, s->pattern, boost, em);
    }
    field = s->kind == INTERVAL_OF_FIELD ? s->field : field;
    for (uint32_t i = 0; i < (interval_is_difference(s) ? 1 : s->n) && e == ERR_OK; i++) {
        e = source_words(s->v[i], field, boost, sink, em);
    }
    return e;
}

static enum err intervals_words(const struct query *q, float boost, const struct word_sink *s,
                                struct errmsg *em)
{
    return source_words(source_of(q), q->field_name, boost, s, em);
}

const struct query_ops q_intervals = {
    .name = "intervals", .words = intervals_words, .print = intervals_print, .weight = intervals_weight};
