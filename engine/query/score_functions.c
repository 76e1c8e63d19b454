#include "engine/query/score_functions.h"

#include "common/base/hash.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "engine/query/scorers.h"
#include "engine/query/script_use.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void release_buf(void *p)
{
    buf_fini(p);
}

static enum err bind_random(struct bound_function *b, struct errmsg *em)
{
    const struct score_function *f = b->f;
    if (f->field == NULL) {
        return ERR_OK;
    }
    const struct seg_field *s = segment_field_of(b->leaf->segment, f->field, b->arena);
    buf_init(&b->term, NULL, MIB);
    if (!arena_defer(b->arena, release_buf, &b->term)) {
        return err_no_memory(em);
    }
    if (s != NULL && (s->has & SEG_NUMS)) {
        num_column_init(&b->column, s);
    } else if (s != NULL && (s->has & SEG_BYTES)) {
        b->bytes = s;
    } else if (s != NULL && (s->has & SEG_ORDS)) {
        ord_column_init(&b->ords, s);
    }
    return ERR_OK;
}

enum err function_bind(struct bound_function *b, const struct score_function *f, struct weight_shared *sh,
                       const struct leaf *leaf, struct arena *arena, struct errmsg *em)
{
    *b = (struct bound_function){.f = f, .leaf = leaf, .shared = sh, .arena = arena};
    switch (f->kind) {
    case FUNC_FIELD_VALUE:
    case FUNC_DECAY:
        num_column_init(&b->column, f->field != NULL ? segment_field(leaf->segment, f->field->path) : NULL);
        return ERR_OK;
    case FUNC_RANDOM:
        return bind_random(b, em);
    case FUNC_SCRIPT: {
        struct script_docs_opts o = {.script = f->script,
                                     .params = f->params,
                                     .mapping = sh->cx.view->mapping,
                                     .index_name = sh->cx.index_name,
                                     .leaf = leaf,
                                     .arena = arena,
                                     .now_ms = sh->cx.now_ms,
                                     .random_salt = f->random_salt};
        return script_docs_new(&b->script, &o, em);
    }
    case FUNC_WEIGHT:
        break;
    }
    return ERR_OK;
}

/* ---- field_value_factor ---- */

static double modify(enum value_modifier m, double v)
{
    switch (m) {
    case MOD_LOG:
        return log10(v);
    case MOD_LOG1P:
        return log10(v + 1);
    case MOD_LOG2P:
        return log10(v + 2);
    case MOD_LN:
        return log(v);
    case MOD_LN1P:
        return log1p(v);
    case MOD_LN2P:
        return log1p(v + 1);
    case MOD_SQUARE:
        return v * v;
    case MOD_SQRT:
        return sqrt(v);
    case MOD_RECIPROCAL:
        return 1.0 / v;
    case MOD_NONE:
        break;
    }
    return v;
}

static enum err field_value(struct bound_function *b, doc_id doc, double *out, struct errmsg *em)
{
    const struct score_function *f = b->f;
    int64_t n;
    double v = f->missing;
    if (f->field != NULL && num_column_first(&b->column, doc, &n)) {
        v = field_num_to_double(f->field, n);
    } else if (!f->has_missing) {
        return err_set(em, ERR_INTERNAL, "Missing value for field [%.*s]", STR_ARG(f->field->path));
    }
    double result = modify(f->modifier, v * (double)f->factor);
    if (result < 0) {
        struct buf t;
        buf_init(&t, NULL, 128);
        num_put_double(&t, result);
        buf_z(&t, "] for field value: [");
        num_put_double(&t, v);
        const char *hint =
            f->modifier == MOD_LOG ? "; consider using log1p or log2p instead of log to avoid negative scores"
            : f->modifier == MOD_LN ? "; consider using ln1p or ln2p instead of ln to avoid negative scores"
                                    : "";
        err_set(em, ERR_ILLEGAL_ARGUMENT,
                "field value function must not produce negative scores, but got: [%.*s]%s",
                STR_ARG(buf_view(&t)), hint);
        buf_fini(&t);
        return ERR_ILLEGAL_ARGUMENT;
    }
    *out = result;
    return ERR_OK;
}

/* ---- random_score ---- */

static double random_value(struct bound_function *b, doc_id doc)
{
    const struct score_function *f = b->f;
    uint32_t salted = hash_mix32((uint32_t)f->seed ^ (uint32_t)f->random_salt), hash = salted;
    int64_t n;
    uint64_t first;
    struct str s;
    if (f->field == NULL) {
        hash = hash_mix32((b->leaf->base + doc) ^ salted);
    } else if (b->bytes != NULL) {
        hash = seg_bytes_value(b->bytes, doc, 0, &s) ? hash_murmur3_32(s.p, s.n, salted) : salted;
    } else if (b->column.field != NULL && num_column_first(&b->column, doc, &n)) {
        struct buf text;
        buf_init(&text, NULL, 64);
        if (field_is_fraction(f->field)) {
            num_put_double(&text, field_num_to_double(f->field, n));
        } else {
            buf_i64(&text, n);
        }
        hash = hash_murmur3_32(text.p, text.n, salted);
        buf_fini(&text);
    } else if (b->ords.field != NULL && ord_column_seek(&b->ords, doc, &first) > 0
               && seg_term_by_ord(b->ords.field, ord_column_value(&b->ords, first), &b->term)) {
        hash = hash_murmur3_32(b->term.p, b->term.n, salted);
    }
    return random_number(hash);
}

/* ---- decay ---- */

static double distance_to(const struct score_function *f, int64_t v)
{
    double d;
    if (field_is_point(f->field)) {
        struct geo_point p = geo_unpack(v);
        d = geo_arc(f->origin_lat, f->origin_lon, p.lat, p.lon);
    } else {
        double x = f->field->class->is_nanos ? (double)(v / 1000000) : field_num_to_double(f->field, v);
        d = fabs(x - f->origin);
    }
    d -= f->offset;
    return d > 0 ? d : 0;
}

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

double multi_value_pick(enum multi_value_mode mode, const double *v, uint32_t n)
{
    double sum = 0;
    switch (mode) {
    case MODE_MIN:
        return v[0];
    case MODE_MAX:
        return v[n - 1];
    case MODE_MEDIAN:
        return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    case MODE_SUM:
    case MODE_AVG:
        break;
    }
    for (uint32_t i = 0; i < n; i++) {
        sum += v[i];
    }
    return mode == MODE_SUM ? sum : sum / n;
}

/* Without a value, a document is as close as can be. */
static bool decay_distance(struct bound_function *b, doc_id doc, double *out)
{
    uint64_t first;
    uint32_t n = num_column_seek(&b->column, doc, &first);
    *out = 0;
    if (n > b->cap) {
        b->values = ARENA_ARRAY(b->arena, double, (size_t)n * 2);
        b->cap = b->values != NULL ? n * 2 : 0;
    }
    if (n == 0) {
        return true;
    }
    if (b->values == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        b->values[i] = distance_to(b->f, num_column_value(&b->column, first + i));
    }
    sort_items(b->values, n, sizeof(*b->values), cmp_double);
    *out = multi_value_pick(b->f->mode, b->values, n);
    return true;
}

static double decay_scale(const struct score_function *f)
{
    switch (f->decay) {
    case DECAY_GAUSS:
        return 0.5 * pow(f->scale, 2.0) / log(f->decay_to);
    case DECAY_EXP:
        return log(f->decay_to) / f->scale;
    case DECAY_LINEAR:
        break;
    }
    return f->scale / (1.0 - f->decay_to);
}

static double decay_at(const struct score_function *f, double d)
{
    double scale = decay_scale(f);
    switch (f->decay) {
    case DECAY_GAUSS:
        return exp(0.5 * pow(d, 2.0) / scale);
    case DECAY_EXP:
        return exp(scale * d);
    case DECAY_LINEAR:
        break;
    }
    return MAX_OF(0.0, (scale - d) / scale);
}

/* ---- all ---- */

enum err function_raw(struct bound_function *b, doc_id doc, float score, double *out, struct errmsg *em)
{
    double d;
    *out = 1;
    switch (b->f->kind) {
    case FUNC_WEIGHT:
        return ERR_OK;
    case FUNC_FIELD_VALUE:
        return field_value(b, doc, out, em);
    case FUNC_RANDOM:
        *out = random_value(b, doc);
        return ERR_OK;
    case FUNC_DECAY:
        if (!decay_distance(b, doc, &d)) {
            return err_no_memory(em);
        }
        *out = decay_at(b->f, d);
        return ERR_OK;
    case FUNC_SCRIPT: {
        enum err e = script_docs_number(b->script, doc, score, out, NULL, em);
        if (e == ERR_OK && *out < 0) {
            struct buf t;
            buf_init(&t, NULL, 64);
            num_put_double(&t, *out);
            e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                        "script score function must not produce negative scores, but got: [%.*s]",
                        STR_ARG(buf_view(&t)));
            buf_fini(&t);
        }
        return e;
    }
    }
    return ERR_OK;
}

enum err function_value(struct bound_function *b, doc_id doc, float score, double *out, struct errmsg *em)
{
    enum err e = function_raw(b, doc, score, out, em);
    if (b->f->has_weight) {
        *out *= (double)b->f->weight;
    }
    return e;
}

static const char *modifier_name(enum value_modifier m)
{
    static const char *const names[] = {"none", "log",  "log1p",  "log2p", "ln",
                                        "ln1p", "ln2p", "square", "sqrt",  "reciprocal"};
    return names[m];
}

static struct str number_text(struct arena *a, double v)
{
    struct buf b;
    buf_init(&b, NULL, 64);
    num_put_double(&b, v);
    struct str s = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return s.p != NULL ? s : STR("");
}

static struct str float_text(struct arena *a, float v)
{
    struct buf b;
    buf_init(&b, NULL, 64);
    num_put_float(&b, v);
    struct str s = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return s.p != NULL ? s : STR("");
}

static struct explanation *explain_field_value(struct bound_function *b, UNUSED doc_id doc, double value,
                                               struct arena *a)
{
    const struct score_function *f = b->f;
    struct str missing = f->has_missing ? number_text(a, f->missing) : STR("null");
    return explain_new(a, true, (float)value,
                       "field value function: %s(doc['%.*s'].value%s%.*s * factor=%.*s)",
                       modifier_name(f->modifier), f->field != NULL ? (int)f->field->path.n : 0,
                       f->field != NULL ? f->field->path.p : "", f->has_missing ? "?:" : "",
                       f->has_missing ? (int)missing.n : 0, missing.p, STR_ARG(float_text(a, f->factor)));
}

static struct explanation *explain_decay(struct bound_function *b, doc_id doc, double value, struct arena *a)
{
    static const char *const modes[] = {"MIN", "MAX", "SUM", "AVG", "MEDIAN"};
    const struct score_function *f = b->f;
    struct buf t;
    double scale = decay_scale(f);
    uint64_t first;
    uint32_t n = num_column_seek(&b->column, doc, &first);
    buf_init(&t, NULL, 64 * KIB);
    buf_z(&t, f->decay == DECAY_GAUSS ? "exp(-0.5*pow(" : f->decay == DECAY_EXP ? "exp(- " : "max(0.0, ((");
    if (f->decay == DECAY_LINEAR) {
        num_put_double(&t, scale);
        buf_z(&t, " - ");
    }
    buf_printf(&t, field_is_point(f->field) ? "%s of: [" : "%s[", modes[f->mode]);
    if (n == 0) {
        buf_z(&t, "0.0");
    } else {
        for (uint32_t i = 0; i < n; i++) {
            int64_t v = num_column_value(&b->column, first + i);
            buf_z(&t, i > 0 ? ", " : "");
            if (field_is_point(f->field)) {
                struct geo_point p = geo_unpack(v);
                buf_z(&t, "Math.max(arcDistance(");
                num_put_double(&t, p.lat);
                buf_z(&t, ", ");
                num_put_double(&t, p.lon);
                buf_z(&t, "(=doc value),");
                num_put_double(&t, f->origin_lat);
                buf_z(&t, ", ");
                num_put_double(&t, f->origin_lon);
                buf_z(&t, "(=origin)) - ");
            } else {
                buf_z(&t, "Math.max(Math.abs(");
                num_put_double(&t, field_num_to_double(f->field, v));
                buf_z(&t, "(=doc value) - ");
                num_put_double(&t, f->origin);
                buf_z(&t, "(=origin))) - ");
            }
            num_put_double(&t, f->offset);
            buf_z(&t, "(=offset), 0)");
        }
    }
    buf_char(&t, ']');
    if (f->decay == DECAY_GAUSS) {
        buf_z(&t, ",2.0)/");
        num_put_double(&t, -scale);
        buf_char(&t, ')');
    } else if (f->decay == DECAY_EXP) {
        buf_z(&t, " * ");
        num_put_double(&t, -scale);
        buf_char(&t, ')');
    } else {
        buf_z(&t, ")/");
        num_put_double(&t, scale);
        buf_char(&t, ')');
    }
    struct explanation *e =
        explain_new(a, true, (float)value, "Function for field %.*s:", STR_ARG(f->field->path));
    e = explain_add(a, e, explain_new(a, true, (float)value, "%.*s", STR_ARG(buf_view(&t))));
    buf_fini(&t);
    return e;
}

enum err function_explain(struct bound_function *b, doc_id doc, float score, struct explanation *query,
                          struct arena *a, struct explanation **out, struct errmsg *em)
{
    const struct score_function *f = b->f;
    double raw;
    enum err e = function_raw(b, doc, score, &raw, em);
    struct explanation *x = NULL;
    if (e != ERR_OK) {
        return e;
    }
    switch (f->kind) {
    case FUNC_WEIGHT:
        *out = explain_new(a, true, f->weight, "product of:");
        *out = explain_add(a, *out, explain_new(a, true, 1, "constant score 1.0 - no function provided"));
        *out = explain_add(a, *out, explain_new(a, true, f->weight, "weight"));
        return ERR_OK;
    case FUNC_FIELD_VALUE:
        x = explain_field_value(b, doc, raw, a);
        break;
    case FUNC_RANDOM:
        x = explain_new(a, true, (float)raw, "random score function (seed: %lld, field: %.*s)",
                        (long long)f->seed, f->field != NULL ? (int)f->field->path.n : 4,
                        f->field != NULL ? f->field->path.p : "null");
        break;
    case FUNC_DECAY:
        x = explain_decay(b, doc, raw, a);
        break;
    case FUNC_SCRIPT:
        x = explain_new(a, true, (float)raw, "script score function, computed with script:\"%.*s\"",
                        STR_ARG(script_form_text(f->form, a)));
        x = explain_add(a, x, explain_add(a, explain_new(a, true, query->value, "_score: "), query));
        break;
    }
    if (f->has_weight) {
        struct explanation *product = explain_new(a, true, (float)raw * f->weight, "product of:");
        product = explain_add(a, product, x);
        x = explain_add(a, product, explain_new(a, true, f->weight, "weight"));
    }
    *out = x;
    return x != NULL ? ERR_OK : err_no_memory(em);
}
