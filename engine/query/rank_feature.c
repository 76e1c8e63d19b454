/* rank_feature: the score is a function of a feature's value. */
#include "common/base/num.h"
#include "engine/mapping/feature.h"
#include "engine/query/build.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

#include <math.h>

enum function_kind { FEATURE_SATURATION, FEATURE_LOG, FEATURE_SIGMOID, FEATURE_LINEAR };

struct function {
    enum function_kind kind;
    bool has_pivot; /* else it is computed when the query is rewritten; FEATURE_SATURATION */
    float pivot;    /* FEATURE_SATURATION, FEATURE_SIGMOID */
    float a;        /* FEATURE_SIGMOID: the exponent; FEATURE_LOG: the scaling factor */
};

struct feature {
    struct str name; /* the term of the query's field */
    struct function function;
};

static const struct feature *own_of(const struct query *q)
{
    return q->own;
}

/* As Lucene 8.8 computes it: in floats, but for logarithms and powers. */
static float function_score(const struct function *fn, float weight, float freq)
{
    float value = feature_value(freq);
    switch (fn->kind) {
    case FEATURE_SATURATION:
        return weight * (1 - fn->pivot / (value + fn->pivot));
    case FEATURE_LOG:
        return (float)((double)weight * log((double)(fn->a + value)));
    case FEATURE_SIGMOID: {
        double pivot = pow((double)fn->pivot, (double)fn->a);
        return (float)((double)weight * (1 - pivot / (pow((double)value, (double)fn->a) + pivot)));
    }
    case FEATURE_LINEAR:
        return weight * value;
    }
    return 0;
}

/* ---- printing ---- */

static void function_print(const struct function *fn, struct buf *out)
{
    switch (fn->kind) {
    case FEATURE_SATURATION:
        buf_z(out, "SaturationFunction(pivot=");
        if (fn->has_pivot) {
            num_put_float(out, fn->pivot);
        } else {
            buf_z(out, "null");
        }
        buf_char(out, ')');
        return;
    case FEATURE_LOG:
        buf_z(out, "LogFunction(scalingFactor=");
        num_put_float(out, fn->a);
        buf_char(out, ')');
        return;
    case FEATURE_SIGMOID:
        buf_z(out, "SigmoidFunction(pivot=");
        num_put_float(out, fn->pivot);
        buf_z(out, ", a=");
        num_put_float(out, fn->a);
        buf_char(out, ')');
        return;
    case FEATURE_LINEAR:
        buf_z(out, "LinearFunction");
        return;
    }
}

static void feature_print(const struct query *q, struct buf *out)
{
    buf_printf(out, "FeatureQuery(field=%.*s, feature=%.*s, function=", STR_ARG(q->field_name),
               STR_ARG(own_of(q)->name));
    function_print(&own_of(q)->function, out);
    buf_char(out, ')');
}

static bool feature_same(const struct query *a, const struct query *b)
{
    const struct function *x = &own_of(a)->function, *y = &own_of(b)->function;
    return query_same_field(a, b) && str_eq(own_of(a)->name, own_of(b)->name) && x->kind == y->kind
           && x->has_pivot == y->has_pivot && x->pivot == y->pivot && x->a == y->a;
}

/* ---- rewriting: the pivot is about the mean of the values that the shard has ---- */

static float mean_value(const struct view *v, struct str field, struct str name)
{
    uint64_t docs = 0, total = 0;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        struct term_info t;
        if (f != NULL && (f->has & SEG_TERMS) && seg_term(f, name, &t)) {
            docs += t.doc_freq;
            total += t.total_freq;
        }
    }
    return docs == 0 ? 1 : feature_value((float)((double)total / (double)docs));
}

static enum err feature_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                struct errmsg *em)
{
    const struct feature *own = own_of(q);
    if (own->function.kind != FEATURE_SATURATION || own->function.has_pivot) {
        return ERR_OK;
    }
    struct query *copy = rewrite_copy(sh, q);
    struct feature *with_pivot = ARENA_NEW(sh->cx.arena, struct feature);
    if (copy == NULL || with_pivot == NULL) {
        return err_no_memory(em);
    }
    *with_pivot = *own;
    with_pivot->function.pivot = mean_value(sh->cx.view, q->field_name, own->name);
    with_pivot->function.has_pivot = true;
    copy->own = with_pivot;
    *out = copy;
    return ERR_OK;
}

/* ---- weights ---- */

struct feature_scorer {
    struct scorer base;
    struct postings p;
    const struct function *function;
    float boost;
};

static struct feature_scorer *feature_scorer_of(struct scorer *s)
{
    return (struct feature_scorer *)(void *)s;
}

static doc_id feature_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : (s->doc = postings_next(&feature_scorer_of(s)->p));
}

static doc_id feature_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : (s->doc = postings_seek(&feature_scorer_of(s)->p, target));
}

static float feature_score(struct scorer *s)
{
    struct feature_scorer *f = feature_scorer_of(s);
    return function_score(f->function, f->boost, (float)postings_freq(&f->p));
}

/* All functions grow with the value. */
static float feature_max(struct scorer *s, UNUSED doc_id up_to)
{
    struct feature_scorer *f = feature_scorer_of(s);
    struct impact v[IMPACTS_MAX];
    uint32_t most = 0;
    for (unsigned i = postings_all_impacts(&f->p, v); i-- > 0;) {
        most = MAX_OF(most, v[i].freq);
    }
    return function_score(f->function, f->boost, (float)most);
}

static const struct scorer_ops feature_scorer_ops = {
    .next = feature_next, .seek = feature_seek, .score = feature_score, .max_score = feature_max};

static const struct seg_field *find_term(const struct weight *w, const struct leaf *leaf, struct term_info *t)
{
    const struct seg_field *f = segment_field(leaf->segment, w->query->field_name);
    return f != NULL && (f->has & SEG_TERMS) && seg_term(f, own_of(w->query)->name, t) ? f : NULL;
}

static uint64_t feature_cost(const struct weight *w, const struct leaf *leaf)
{
    struct term_info t;
    return find_term(w, leaf, &t) != NULL ? t.doc_freq : 0;
}

static enum err feature_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct term_info t;
    const struct seg_field *field = find_term(w, rq->leaf, &t);
    if (field == NULL) {
        return ERR_OK;
    }
    struct feature_scorer *f = ARENA_NEW(rq->arena, struct feature_scorer);
    if (f == NULL) {
        return err_no_memory(rq->em);
    }
    postings_init(&f->p, field, &t, true);
    f->function = &own_of(w->query)->function;
    f->boost = w->boost;
    f->base = (struct scorer){&feature_scorer_ops, POSTINGS_UNPOSITIONED, t.doc_freq};
    *out = &f->base;
    return ERR_OK;
}

static struct explanation *explain_part(struct arena *a, struct explanation *to, float value,
                                        const char *text)
{
    return explain_add(a, to, explain_new(a, true, value, "%s", text));
}

static struct explanation *explain_function(const struct weight *w, struct arena *a, float freq)
{
    const struct function *fn = &own_of(w->query)->function;
    static const struct {
        const char *name, *formula;
    } texts[] = {
        [FEATURE_SATURATION] = {"Saturation", "w * S / (S + k)"},
        [FEATURE_LOG] = {"Log", "w * log(a + S)"},
        [FEATURE_SIGMOID] = {"Sigmoid", "w * S^a / (S^a + k^a)"},
        [FEATURE_LINEAR] = {"Linear", "w * S"},
    };
    struct explanation *x = explain_new(
        a, true, function_score(fn, w->boost, freq),
        "%s function on the %.*s field for the %.*s feature, computed as %s from:", texts[fn->kind].name,
        STR_ARG(w->query->field_name), STR_ARG(own_of(w->query)->name), texts[fn->kind].formula);
    x = explain_part(a, x, w->boost, "w, weight of this function");
    if (fn->kind == FEATURE_SATURATION || fn->kind == FEATURE_SIGMOID) {
        x = explain_part(a, x, fn->pivot,
                         "k, pivot feature value that would give a score contribution equal to w/2");
    }
    if (fn->kind == FEATURE_LOG) {
        x = explain_part(a, x, fn->a, "a, scaling factor");
    }
    if (fn->kind == FEATURE_SIGMOID) { /* Lucene shows the pivot there */
        x = explain_part(
            a, x, fn->pivot,
            "a, exponent, higher values make the function grow slower before k and faster after k");
    }
    return explain_part(a, x, feature_value(freq), "S, feature value");
}

static enum err feature_explain(const struct weight *w, const struct explain_request *rq,
                                struct explanation **out)
{
    struct scorer *s;
    struct term_info t;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s != NULL) {
        *out = explain_function(w, rq->arena, (float)postings_freq(&feature_scorer_of(s)->p));
        return ERR_OK;
    }
    struct buf function;
    buf_init(&function, NULL, KIB);
    function_print(&own_of(w->query)->function, &function);
    const struct seg_field *f = segment_field(rq->leaf->segment, w->query->field_name);
    bool field = f != NULL && (f->has & SEG_TERMS);
    struct str name = field ? own_of(w->query)->name : w->query->field_name;
    *out = explain_new(rq->arena, false, 0, "weight(%.*s in %u) [%.*s]. %s %.*s %s.",
                       STR_ARG(query_text_plain(w->query, rq->arena)), rq->doc, STR_ARG(buf_view(&function)),
                       field ? "Feature" : "Field", STR_ARG(name),
                       find_term(w, rq->leaf, &t) != NULL ? "isn't set" : "doesn't exist");
    buf_fini(&function);
    return ERR_OK;
}

static int64_t feature_count(const struct weight *w, const struct leaf *leaf)
{
    return leaf->live != NULL ? -1 : (int64_t)feature_cost(w, leaf);
}

static const struct weight_ops feature_weight_ops = {
    .cost = feature_cost, .scorer = feature_scorer, .explain = feature_explain, .count = feature_count};

static uint64_t feature_docs(const struct view *v, const struct query *q)
{
    return cost_of_term(v, q->field_name, own_of(q)->name);
}

const struct query_ops q_rank_feature = {.name = "rank_feature",
                                         .same = feature_same,
                                         .print = feature_print,
                                         .cost = feature_docs,
                                         .rewrite = feature_rewrite,
                                         .plain_weight = &feature_weight_ops};

/* ---- as it is written ---- */

struct function_body {
    bool given, has_pivot, has_a;
    float pivot, a; /* a: as in struct function */
};

struct dsl_feature {
    struct dsl dsl;
    struct str field;
    struct function_body log, saturation, sigmoid, linear;
};

static enum err read_pivot(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct function_body *f = base;
    f->has_pivot = true;
    return json_pull_float(p, &f->pivot, em);
}

static enum err read_a(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct function_body *f = base;
    f->has_a = true;
    return json_pull_float(p, &f->a, em);
}

/* The numbers that the function has are fields[i]; all of them are `required`, or none is. */
static enum err read_function(struct json_pull *p, struct arena *arena, const char *name,
                              const struct object_field *fields, size_t n, bool required,
                              struct function_body *f, struct errmsg *em)
{
    const char *names[2];
    bool missing[2];
    *f = (struct function_body){.given = true};
    enum err e = dsl_parse_object(p, arena, name, fields, n, f, em);
    for (size_t i = 0; i < n; i++) {
        names[i] = fields[i].name;
        missing[i] = !(fields[i].read == read_pivot ? f->has_pivot : f->has_a);
    }
    return e == ERR_OK && required ? dsl_required(names, missing, n, em) : e;
}

#define FUNCTION_NUMBER(key, read)                           \
    {                                                        \
        key, OBJ_NUMBER | OBJ_STRING, PARAM_IGNORED, 0, read \
    }

static enum err read_log(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    static const struct object_field fields[] = {FUNCTION_NUMBER("scaling_factor", read_a)};
    return read_function(p, arena, "log", fields, 1, true, &((struct dsl_feature *)base)->log, em);
}

static enum err read_saturation(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    static const struct object_field fields[] = {FUNCTION_NUMBER("pivot", read_pivot)};
    return read_function(p, arena, "saturation", fields, 1, false, &((struct dsl_feature *)base)->saturation,
                         em);
}

static enum err read_sigmoid(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    static const struct object_field fields[] = {FUNCTION_NUMBER("pivot", read_pivot),
                                                 FUNCTION_NUMBER("exponent", read_a)};
    return read_function(p, arena, "sigmoid", fields, 2, true, &((struct dsl_feature *)base)->sigmoid, em);
}

static enum err read_linear(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return read_function(p, arena, "linear", NULL, 0, false, &((struct dsl_feature *)base)->linear, em);
}

/* Elasticsearch shows the whole query there. */
static enum err negative_boost(const struct dsl_feature *q, struct errmsg *em)
{
    static const struct {
        const char *name, *a;
        size_t at;
    } functions[] = {{"log", "scaling_factor", offsetof(struct dsl_feature, log)},
                     {"saturation", NULL, offsetof(struct dsl_feature, saturation)},
                     {"sigmoid", "exponent", offsetof(struct dsl_feature, sigmoid)},
                     {"linear", NULL, offsetof(struct dsl_feature, linear)}};
    bool none = !q->log.given && !q->sigmoid.given && !q->linear.given;
    struct buf text;
    struct jsonw w;
    buf_init(&text, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &text, true);
    jw_obj(&w);
    jw_k(&w, "rank_feature");
    jw_obj(&w);
    jw_k(&w, "field");
    jw_str(&w, q->field);
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        const struct function_body *f = (const void *)((const char *)q + functions[i].at);
        if (!f->given && !(none && f == &q->saturation)) {
            continue;
        }
        jw_k(&w, functions[i].name);
        jw_obj(&w);
        if (f->has_pivot) {
            jw_k(&w, "pivot");
            jw_float(&w, f->pivot);
        }
        if (f->has_a) {
            jw_k(&w, functions[i].a);
            jw_float(&w, f->a);
        }
        jw_obj_end(&w);
    }
    jw_k(&w, "boost");
    jw_float(&w, 1);
    jw_obj_end(&w);
    jw_obj_end(&w);
    enum err e = text.failed ? err_no_memory(em)
                             : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                       "negative [boost] are not allowed in [%.*s], use a value between 0 "
                                       "and 1 to deboost",
                                       STR_ARG(buf_view(&text)));
    buf_fini(&text);
    return e;
}

static enum err parse_rank_feature(struct json_pull *p, struct arena *arena, struct dsl **out,
                                   struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"field", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_feature, field), NULL},
        {"log", OBJ_OBJECT, PARAM_IGNORED, 0, read_log},
        {"saturation", OBJ_OBJECT, PARAM_IGNORED, 0, read_saturation},
        {"sigmoid", OBJ_OBJECT, PARAM_IGNORED, 0, read_sigmoid},
        {"linear", OBJ_OBJECT, PARAM_IGNORED, 0, read_linear},
        {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_FLOAT, offsetof(struct dsl, boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
    };
    struct dsl_feature *q = dsl_new(out, arena, &dsl_rank_feature, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_object(p, arena, "feature", fields, ARRAY_LEN(fields), q, em);
    const char *const names[] = {"field"};
    const bool missing[] = {q->field.p == NULL};
    e = e == ERR_OK ? dsl_required(names, missing, 1, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (q->log.given + q->saturation.given + q->sigmoid.given + q->linear.given > 1) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "Can only specify one of [log], [saturation], [sigmoid] and [linear]");
    } else if (q->dsl.boost < 0) {
        e = negative_boost(q, em);
    }
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : err_wrap(em, ERR_X_CONTENT, "Failed to build [feature] after last required field arrived");
}

static enum err refuse_number(const char *what, float v, struct errmsg *em)
{
    struct buf shown;
    buf_init(&shown, NULL, KIB);
    num_put_float(&shown, v);
    enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT, "%s, got: %.*s", what, STR_ARG(buf_view(&shown)));
    buf_fini(&shown);
    return e;
}

static enum err function_of(const struct dsl_feature *q, bool positive, struct function *fn,
                            struct errmsg *em)
{
    const struct function_body *f = q->log.given       ? &q->log
                                    : q->sigmoid.given ? &q->sigmoid
                                    : q->linear.given  ? &q->linear
                                                       : &q->saturation;
    *fn = (struct function){.kind = q->log.given       ? FEATURE_LOG
                                    : q->sigmoid.given ? FEATURE_SIGMOID
                                    : q->linear.given  ? FEATURE_LINEAR
                                                       : FEATURE_SATURATION,
                            .has_pivot = f->has_pivot,
                            .pivot = f->pivot,
                            .a = f->a};
    if (q->log.given && !positive) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot use the [log] function with a field that has a negative score impact as it "
                       "would trigger negative scores");
    }
    if (q->log.given && !(isfinite(f->a) && f->a >= 1)) {
        return refuse_number("scalingFactor must be >= 1", f->a, em);
    }
    if (f->has_pivot && !(isfinite(f->pivot) && f->pivot > 0)) {
        return refuse_number("pivot must be > 0", f->pivot, em);
    }
    if (q->sigmoid.given && !(isfinite(f->a) && f->a > 0)) {
        return refuse_number("exp must be > 0", f->a, em);
    }
    return ERR_OK;
}

/* The field that is `name` up to its last dot, where it has features. */
static const struct field *field_of_features(struct builder *b, struct str name, struct str *path)
{
    size_t dot = name.n;
    while (dot > 0 && name.p[dot - 1] != '.') {
        dot--;
    }
    if (dot == 0) {
        return NULL;
    }
    *path = str_slice(name, 0, dot - 1);
    const struct field *f = build_field(b, *path);
    return f != NULL && f->class == &field_class_rank_features ? f : NULL;
}

static enum err build_rank_feature(struct builder *b, const struct dsl *d, struct query **out,
                                   struct errmsg *em)
{
    const struct dsl_feature *q = (const struct dsl_feature *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    struct str name = q->field, path = STR(FEATURE_FIELD);
    if (f != NULL && f->class != &field_class_rank_feature) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[rank_feature] query only works on [rank_feature] fields and features of "
                       "[rank_features] fields, not [%s]",
                       field_shown_type(f));
    }
    if (f == NULL) {
        f = field_of_features(b, q->field, &path);
        if (f == NULL) {
            return qnode_none(b, out, em, "%s", "");
        }
        name = str_slice(q->field, path.n + 1, q->field.n);
    }
    struct query *n = *out = qnode_new(b, &q_rank_feature);
    struct feature *own = ARENA_NEW(b->arena, struct feature);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    n->own = own;
    n->field = f;
    n->field_name = path;
    own->name = name;
    bool positive = f->class != &field_class_rank_feature || f->positive_score_impact;
    return function_of(q, positive, &own->function, em);
}

const struct dsl_type dsl_rank_feature = {
    .name = "rank_feature", .parse = parse_rank_feature, .build = build_rank_feature, .plain = dsl_plain};
