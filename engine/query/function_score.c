/* function_score: a query's scores changed by functions of the document. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/score_functions.h"
#include "engine/query/scorers.h"

#include <math.h>

struct function_weight {
    struct weight base;
    const struct weight *child;
    const struct weight **filters; /* NULL where a function has none */
    bool child_scores;             /* needed */
    bool only_weights;             /* every function is a weight: scores have a bound */
};

struct function_scorer {
    struct scorer base;
    struct scorer *child;
    const struct function_weight *w;
    struct bound_function *functions;
    struct scorer **filters; /* NULL: every document */
    bool *none;              /* the filter matches nothing in the segment */
    float factor_max;        /* the greatest that the functions make of a score of 1 */
    float min;
    float own; /* min_score's verdict was computed with this score */
    doc_id scored;
    struct errmsg em; /* of a failing function; set when one fails */
};

static struct function_scorer *self(struct scorer *s)
{
    return (struct function_scorer *)(void *)s;
}

static const struct function_weight *fw(const struct weight *w)
{
    return (const struct function_weight *)(const void *)w;
}

static void fail(struct function_scorer *f, const struct errmsg *em)
{
    weight_fail(f->w->base.shared, em);
    f->child->doc = DOC_END;
}

static bool applies(struct function_scorer *f, uint32_t i, doc_id doc)
{
    struct scorer *s = f->filters[i];
    if (f->none[i] || s == NULL) {
        return !f->none[i];
    }
    if (scorer_is_before(s, doc)) {
        scorer_seek(s, doc);
    }
    return s->doc == doc && scorer_accepts(s);
}

static double combine_functions(const struct query *q, enum score_mode mode, double *v, const bool *on)
{
    double factor = 1, best = mode == SCORE_MAX ? -INFINITY : INFINITY, total = 0, weights = 0;
    bool any = false;
    for (uint32_t i = 0; i < function_score_of(q)->n; i++) {
        if (!on[i]) {
            continue;
        }
        any = true;
        switch (mode) {
        case SCORE_FIRST:
            return v[i];
        case SCORE_MAX:
            best = num_max(best, v[i]);
            break;
        case SCORE_MIN:
            best = num_min(best, v[i]);
            break;
        case SCORE_MULTIPLY:
            factor *= v[i];
            break;
        case SCORE_SUM:
        case SCORE_AVG:
            total += v[i];
            weights +=
                function_score_of(q)->v[i].has_weight ? (double)function_score_of(q)->v[i].weight : 1.0;
        }
    }
    if (!any) {
        return 1;
    }
    if (mode == SCORE_MAX || mode == SCORE_MIN) {
        return best;
    }
    if (mode == SCORE_SUM || mode == SCORE_AVG) {
        if (weights == 0) {
            return 1;
        }
        return mode == SCORE_AVG ? total / weights : total;
    }
    return factor;
}

static float combine(const struct query *q, double score, double factor)
{
    double f = num_min(factor, (double)function_score_of(q)->max_boost);
    switch (function_score_of(q)->boost_mode) {
    case BOOST_REPLACE:
        return (float)f;
    case BOOST_SUM:
        return (float)(score + f);
    case BOOST_AVG:
        return (float)((f + score) / 2.0);
    case BOOST_MAX:
        return (float)MAX_OF(score, f);
    case BOOST_MIN:
        return (float)MIN_OF(score, f);
    case BOOST_MULTIPLY:
        break;
    }
    return (float)(score * f);
}

static enum score_mode mode_of(const struct query *q)
{
    return function_score_of(q)->single_form ? SCORE_FIRST : function_score_of(q)->score_mode;
}

/* The document's factor; *ok false after a failure. */
static double factor_of(struct function_scorer *f, doc_id doc, float score, bool *ok)
{
    const struct query *q = f->w->base.query;
    double v[16], *values = v;
    bool o[16], *on = o;
    uint32_t n = function_score_of(q)->n;
    *ok = true;
    if (n > ARRAY_LEN(v)) {
        values = ARENA_ARRAY(f->functions[0].arena, double, n);
        on = ARENA_ARRAY(f->functions[0].arena, bool, n);
        if (values == NULL || on == NULL) {
            *ok = false;
            return 1;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        on[i] = applies(f, i, doc);
        if (on[i] && function_value(&f->functions[i], doc, score, &values[i], &f->em) != ERR_OK) {
            fail(f, &f->em);
            *ok = false;
            return 1;
        }
        if (on[i] && mode_of(q) == SCORE_FIRST) {
            return values[i];
        }
    }
    return combine_functions(q, mode_of(q), values, on);
}

static float compute(struct function_scorer *f)
{
    const struct query *q = f->w->base.query;
    bool ok;
    float score = f->w->child_scores ? scorer_score(f->child) : 0;
    if (function_score_of(q)->n == 0) {
        return score;
    }
    double factor = factor_of(f, f->base.doc, score, &ok);
    float result = ok ? combine(q, (double)score, factor) : 0;
    if (result < 0 || isnan(result)) {
        ERR_LOCAL(em);
        struct buf t;
        buf_init(&t, NULL, 64);
        num_put_float(&t, result);
        err_set(&em, ERR_INTERNAL, "function score query returned an invalid score: %.*s for doc: %u",
                STR_ARG(buf_view(&t)), f->base.doc);
        buf_fini(&t);
        fail(f, &em);
        return 0;
    }
    return result;
}

static doc_id function_next(struct scorer *s)
{
    struct function_scorer *f = self(s);
    return s->doc = f->w->base.shared->failed ? DOC_END : f->child->ops->next(f->child);
}

static doc_id function_seek(struct scorer *s, doc_id target)
{
    return s->doc = scorer_seek(self(s)->child, target);
}

static bool function_matches(struct scorer *s)
{
    struct function_scorer *f = self(s);
    if (!scorer_accepts(f->child)) {
        return false;
    }
    if (!function_score_of(f->w->base.query)->has_min_score) {
        return true;
    }
    f->own = compute(f);
    f->scored = s->doc;
    return f->own >= function_score_of(f->w->base.query)->min_score;
}

static float function_score(struct scorer *s)
{
    struct function_scorer *f = self(s);
    return f->scored == s->doc ? f->own : compute(f);
}

/* ---- bounds: weights only, multiplied into the score ---- */

static doc_id function_shallow(struct scorer *s, doc_id target)
{
    return scorer_shallow(self(s)->child, target);
}

static float function_max(struct scorer *s, doc_id up_to)
{
    struct function_scorer *f = self(s);
    return (float)((double)scorer_max(f->child, up_to) * (double)f->factor_max);
}

/* A score of the child that is too small even with the greatest factor. */
static void function_min(struct scorer *s, float min)
{
    struct function_scorer *f = self(s);
    if (f->child->ops->min_score == NULL || min <= f->min || f->factor_max <= 0) {
        return;
    }
    f->min = min;
    float below = (float)((double)min / (double)f->factor_max);
    below = nextafterf(nextafterf(below, 0), 0);
    f->child->ops->min_score(f->child, below);
}

static const struct scorer_ops plain_ops = {
    .next = function_next, .seek = function_seek, .score = function_score};
static const struct scorer_ops verifying_ops = {
    .next = function_next, .seek = function_seek, .matches = function_matches, .score = function_score};
static const struct scorer_ops bounded_ops = {.next = function_next,
                                              .seek = function_seek,
                                              .score = function_score,
                                              .shallow = function_shallow,
                                              .max_score = function_max,
                                              .min_score = function_min};
static const struct scorer_ops bounded_verifying_ops = {.next = function_next,
                                                        .seek = function_seek,
                                                        .matches = function_matches,
                                                        .score = function_score,
                                                        .shallow = function_shallow,
                                                        .max_score = function_max,
                                                        .min_score = function_min};

/* The greatest factor that any set of applying functions gives. */
static float greatest_factor(const struct query *q)
{
    double product = 1, sum = 0, best = 1;
    for (uint32_t i = 0; i < function_score_of(q)->n; i++) {
        double w = (double)function_score_of(q)->v[i].weight;
        product *= MAX_OF(w, 1.0);
        sum += w;
        best = MAX_OF(best, w);
    }
    switch (mode_of(q)) {
    case SCORE_MULTIPLY:
        best = product;
        break;
    case SCORE_SUM:
        best = MAX_OF(1.0, sum);
        break;
    case SCORE_FIRST:
    case SCORE_MAX:
    case SCORE_MIN:
    case SCORE_AVG: /* of weights by weights: at most the greatest, and 1 */
        break;
    }
    best = MIN_OF(best, (double)function_score_of(q)->max_boost);
    return nextafterf((float)best, INFINITY);
}

/* ---- weight ---- */

static uint64_t function_cost(const struct weight *w, const struct leaf *leaf)
{
    return weight_cost(fw(w)->child, leaf);
}

static enum err bind(struct function_scorer *f, const struct scorer_request *rq)
{
    const struct query *q = f->w->base.query;
    uint32_t n = function_score_of(q)->n;
    f->functions = ARENA_ARRAY(rq->arena, struct bound_function, n);
    f->filters = ARENA_ARRAY(rq->arena, struct scorer *, n);
    f->none = ARENA_ARRAY(rq->arena, bool, n);
    if (f->functions == NULL || f->filters == NULL || f->none == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct scorer_request sub = *rq;
        sub.lead_cost = MIN_OF(rq->lead_cost, f->child->cost);
        enum err e = function_bind(&f->functions[i], &function_score_of(q)->v[i], f->w->base.shared, rq->leaf,
                                   rq->arena, rq->em);
        if (e == ERR_OK && f->w->filters[i] != NULL) {
            f->none[i] = weight_cost(f->w->filters[i], rq->leaf) == 0;
            e = f->none[i] ? ERR_OK : weight_make_scorer(f->w->filters[i], &sub, &f->filters[i]);
            f->none[i] = f->filters[i] == NULL;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err function_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct query *q = w->query;
    struct scorer *child;
    enum err e = weight_make_scorer(fw(w)->child, rq, &child);
    if (e != ERR_OK || child == NULL) {
        return e;
    }
    if (w->need == NEED_NO_SCORES && !function_score_of(q)->has_min_score) {
        *out = child;
        return ERR_OK;
    }
    struct function_scorer *f = ARENA_NEW(rq->arena, struct function_scorer);
    if (f == NULL) {
        return err_no_memory(rq->em);
    }
    f->em = err_in(rq->arena);
    f->child = child;
    f->w = fw(w);
    f->scored = DOC_END;
    f->min = -1;
    e = bind(f, rq);
    bool bounded = w->need == NEED_TOP_SCORES && fw(w)->only_weights
                   && function_score_of(q)->boost_mode == BOOST_MULTIPLY;
    f->factor_max = bounded ? greatest_factor(q) : 0;
    bool verifies = child->ops->matches != NULL || function_score_of(q)->has_min_score;
    const struct scorer_ops *ops = bounded ? (verifies ? &bounded_verifying_ops : &bounded_ops)
                                           : (verifies ? &verifying_ops : &plain_ops);
    f->base = (struct scorer){ops, POSTINGS_UNPOSITIONED, child->cost};
    *out = &f->base;
    return e;
}

/* ---- explanation ---- */

static const char *mode_text(enum score_mode m)
{
    static const char *const names[] = {"multiply", "sum", "avg", "first", "max", "min"};
    return names[m];
}

static struct explanation *explain_combined(struct arena *a, const struct query *q, struct explanation *query,
                                            float score, struct explanation *function)
{
    double max_boost = (double)function_score_of(q)->max_boost;
    double factor = (double)function->value;
    struct explanation *min = explain_new(a, true, (float)num_min(factor, max_boost), "min of:");
    min = explain_add(a, min, function);
    min = explain_add(a, min, explain_new(a, true, function_score_of(q)->max_boost, "maxBoost"));
    const char *text = "function score, product of:";
    switch (function_score_of(q)->boost_mode) {
    case BOOST_REPLACE:
        return min;
    case BOOST_SUM:
        text = "sum of";
        break;
    case BOOST_AVG:
        text = "avg of";
        break;
    case BOOST_MAX:
        text = "max of:";
        break;
    case BOOST_MIN:
        text = "min of";
        break;
    case BOOST_MULTIPLY:
        break;
    }
    struct explanation *e = explain_new(a, true, combine(q, (double)score, factor), "%s", text);
    e = explain_add(a, e, query);
    return explain_add(a, e, min);
}

static enum err explain_functions(struct function_scorer *f, const struct explain_request *rq,
                                  struct explanation *query, float score, struct explanation **out)
{
    const struct query *q = f->w->base.query;
    struct arena *a = rq->arena;
    bool ok, any = false;
    *out = explain_new(a, true, 0, "function score, score mode [%s]", mode_text(mode_of(q)));
    for (uint32_t i = 0; i < function_score_of(q)->n; i++) {
        struct explanation *x;
        if (!applies(f, i, rq->doc)) {
            continue;
        }
        enum err e = function_explain(&f->functions[i], rq->doc, score, query, a, &x, rq->em);
        if (e != ERR_OK) {
            return e;
        }
        if (function_score_of(q)->v[i].filter != NULL) {
            struct str text = query_text(function_score_of(q)->v[i].filter, a);
            struct explanation *product = explain_new(a, true, x->value, "function score, product of:");
            product = explain_add(a, product, explain_new(a, true, 1, "match filter: %.*s", STR_ARG(text)));
            x = explain_add(a, product, x);
        }
        any = true;
        if (function_score_of(q)->single_form) {
            *out = x;
            return ERR_OK;
        }
        *out = explain_add(a, *out, x);
    }
    double factor = factor_of(f, rq->doc, score, &ok);
    if (!any) {
        *out = explain_new(a, true, 1, "No function matched");
    } else if (*out != NULL) {
        (*out)->value = (float)factor;
    }
    return ERR_OK;
}

static enum err function_explain_weight(const struct weight *w, const struct explain_request *rq,
                                        struct explanation **out)
{
    const struct query *q = w->query;
    struct scorer_request sr = {.leaf = rq->leaf, .arena = rq->arena, .lead_cost = 1, .em = rq->em};
    struct scorer *s;
    struct explanation *query, *functions;
    enum err e = explain_weight(fw(w)->child, rq, &query);
    bool bare = w->need == NEED_NO_SCORES && !function_score_of(q)->has_min_score;
    if (e != ERR_OK || !query->match || function_score_of(q)->n == 0 || bare) {
        *out = query;
        return e;
    }
    e = function_scorer(w, &sr, &s);
    if (e != ERR_OK || s == NULL) {
        *out = query;
        return e;
    }
    struct function_scorer *f = self(s);
    e = explain_functions(f, rq, query, query->value, &functions);
    if (e != ERR_OK || functions == NULL) {
        return e != ERR_OK ? e : err_no_memory(rq->em);
    }
    *out = explain_combined(rq->arena, q, query, query->value, functions);
    if (function_score_of(q)->has_min_score && *out != NULL
        && (*out)->value < function_score_of(q)->min_score) {
        struct buf a, b;
        buf_init(&a, NULL, 64);
        buf_init(&b, NULL, 64);
        num_put_float(&a, (*out)->value);
        num_put_float(&b, function_score_of(q)->min_score);
        struct explanation *no =
            explain_new(rq->arena, false, 0, "Score value is too low, expected at least %.*s but got %.*s",
                        STR_ARG(buf_view(&b)), STR_ARG(buf_view(&a)));
        *out = explain_add(rq->arena, no, *out);
        buf_fini(&a);
        buf_fini(&b);
    }
    return ERR_OK;
}

static const struct weight_ops function_ops = {
    .cost = function_cost, .scorer = function_scorer, .explain = function_explain_weight};

static enum err function_weight(struct weight_shared *sh, const struct query *q, float boost,
                                enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct function_weight *w = weight_alloc(sh, sizeof(*w), &function_ops, q, boost, need);
    uint32_t n = function_score_of(q)->n;
    if (w == NULL || (w->filters = ARENA_ARRAY(sh->cx.arena, const struct weight *, n)) == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    w->only_weights = true;
    w->child_scores = function_score_of(q)->boost_mode != BOOST_REPLACE || n == 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct score_function *f = &function_score_of(q)->v[i];
        w->only_weights = w->only_weights && f->kind == FUNC_WEIGHT;
        w->child_scores = w->child_scores || (f->kind == FUNC_SCRIPT && script_needs_score(f->script));
        if (f->filter != NULL) {
            enum err e = weight_make(sh, f->filter, 1, NEED_NO_SCORES, &w->filters[i], em);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    enum score_need child =
        need == NEED_NO_SCORES && !function_score_of(q)->has_min_score ? NEED_NO_SCORES
        : !w->child_scores                                             ? NEED_NO_SCORES
        : need == NEED_TOP_SCORES && w->only_weights && function_score_of(q)->boost_mode == BOOST_MULTIPLY
            ? NEED_TOP_SCORES
            : NEED_SCORES;
    return weight_make(sh, function_score_of(q)->child, boost, child, &w->child, em);
}

static enum err function_each_child(const struct query *q, child_fn fn, void *arg)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < function_score_of(q)->n && e == ERR_OK; i++) {
        const struct query *filter = function_score_of(q)->v[i].filter;
        e = filter != NULL ? fn(arg, filter, CHILD_WEIGHS) : ERR_OK;
    }
    return e == ERR_OK ? fn(arg, function_score_of(q)->child, CHILD_SCORES) : e;
}

static void function_print(const struct query *q, struct buf *out)
{
    static const char *const names[] = {"WeightFactorFunction", "FieldValueFactorFunction",
                                        "RandomScoreFunction", "script", "DecayFunction"};
    buf_z(out, "function score (");
    query_print(function_score_of(q)->child, out);
    buf_z(out, ", functions: [");
    for (uint32_t i = 0; i < function_score_of(q)->n; i++) {
        const struct score_function *f = &function_score_of(q)->v[i];
        if (f->kind == FUNC_SCRIPT && f->filter == NULL && !f->has_weight) {
            buf_z(out, "{script");
            query_print_script(f->form, out);
            buf_char(out, '}');
            continue;
        }
        buf_printf(out, "{%s}",
                   f->filter != NULL ? "FilterScoreFunction"
                   : f->has_weight   ? "WeightFactorFunction"
                                     : names[f->kind]);
    }
    buf_z(out, "])");
}

static uint64_t function_docs(const struct view *v, const struct query *q)
{
    for (uint32_t i = 0; i < function_score_of(q)->n; i++) {
        const struct score_function *f = &function_score_of(q)->v[i];
        if (f->kind != FUNC_WEIGHT || (f->filter != NULL && query_cost(v, f->filter) == QUERY_COST_UNKNOWN)) {
            return QUERY_COST_UNKNOWN;
        }
    }
    return cost_times(query_cost(v, function_score_of(q)->child), 1 + (uint64_t)function_score_of(q)->n);
}

static enum err function_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    struct function_score *own = ARENA_NEW(sh->cx.arena, struct function_score);
    struct score_function *v = ARENA_ARRAY(sh->cx.arena, struct score_function, function_score_of(q)->n);
    if (c == NULL || own == NULL || v == NULL) {
        return err_no_memory(em);
    }
    *own = *function_score_of(q);
    enum err e = query_rewrite(sh, function_score_of(q)->child, &own->child, em);
    for (uint32_t i = 0; i < function_score_of(q)->n && e == ERR_OK; i++) {
        v[i] = function_score_of(q)->v[i];
        if (v[i].filter != NULL) {
            e = query_rewrite(sh, v[i].filter, &v[i].filter, em);
        }
    }
    own->v = v;
    c->own = own;
    *out = c;
    return e;
}

const struct query_ops q_function_score = {.name = "function_score",
                                           .each_child = function_each_child,
                                           .print = function_print,
                                           .cost = function_docs,
                                           .rewrite = function_rewrite,
                                           .weight = function_weight};
