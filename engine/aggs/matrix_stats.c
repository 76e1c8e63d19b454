/* matrix_stats: its definition and collector. */
#include "engine/aggs/matrix_stats.h"
#include "engine/aggs/values.h"

#include "common/base/java_hash.h"
#include "common/base/jsonr.h"
#include "common/base/map.h"
#include "common/base/stop.h"

#include <math.h>

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err unexpected(struct agg_parse *p, const struct agg *a, const struct json *v, struct str key,
                           const char *more)
{
    return jr_fail(p->text, v->off, p->em, "Unexpected token %s [%.*s] in [%.*s].%s", json_token_name(v),
                   STR_ARG(key), STR_ARG(a->name), more);
}

static enum err matrix_fields(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    struct matrix_params *given = matrix_params(a);
    uint32_t n = agg_items(&m->value);
    given->fields = ARENA_ARRAY(p->arena, struct source_spec, n);
    if (given->fields == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *name = m->value.type == JSON_ARRAY ? &m->value.items[i] : &m->value;
        if (name->type != JSON_STRING) {
            return unexpected(p, a, name, m->key, "");
        }
        given->fields[given->n++].field = name->s;
    }
    return ERR_OK;
}

static enum err matrix_missing(struct agg_parse *p, const struct json *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *value = &v->members[i].value;
        struct str text;
        enum err e = value->type != JSON_NULL ? agg_text(p, value, &text) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err matrix_mode(struct agg_parse *p, const struct json *v, enum multi_value_mode *out)
{
    static const char *const names[] = {[MODE_MIN] = "min",
                                        [MODE_MAX] = "max",
                                        [MODE_SUM] = "sum",
                                        [MODE_AVG] = "avg",
                                        [MODE_MEDIAN] = "median"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(v->s, str_of(names[i]))) {
            *out = (enum multi_value_mode)i;
            return ERR_OK;
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Illegal sort mode: %.*s", STR_ARG(v->s));
}

/* Every name once, where it came first; and what stands in for it. */
static enum err complete_fields(struct agg_parse *p, struct agg *a, const struct json *missing)
{
    struct matrix_params *given = matrix_params(a);
    uint32_t n = 0;
    struct map of;
    map_init(&of, p->arena);
    for (uint32_t i = 0; i < given->n; i++) {
        struct str name = given->fields[i].field;
        if (map_has(&of, name)) {
            continue;
        }
        given->fields[n] = (struct source_spec){.field = name, .format = a->vs.format};
        if (!map_put(&of, name, &given->fields[n++])) {
            return err_no_memory(p->em);
        }
    }
    given->n = n;
    for (uint32_t i = 0; missing != NULL && i < missing->n; i++) {
        struct source_spec *s = map_get(&of, missing->members[i].key);
        if (s != NULL && missing->members[i].value.type != JSON_NULL) {
            s->missing = &missing->members[i].value;
        }
    }
    return ERR_OK;
}

enum err parse_matrix(struct agg_parse *p, struct agg *a, const struct json *body)
{
    const struct json *missing = NULL, *mode = NULL;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        enum json_type type = m->value.type;
        bool nested = type == JSON_OBJECT || type == JSON_ARRAY;
        if (str_is(m->key, "fields") && (type == JSON_STRING || type == JSON_ARRAY)) {
            e = matrix_fields(p, a, m);
        } else if (str_is(m->key, "missing") && type == JSON_OBJECT) {
            missing = &m->value;
            e = matrix_missing(p, missing);
        } else if (str_is(m->key, "mode") && type == JSON_STRING) {
            mode = &m->value;
        } else if (str_is(m->key, "format") && type == JSON_STRING) {
            a->vs.format = m->value.s;
        } else {
            bool script =
                (str_is(m->key, "script") && nested) || (str_is(m->key, "value_type") && type == JSON_STRING);
            e = unexpected(p, a, &m->value, m->key,
                           script ? " Multi-field aggregations do not support scripts." : "");
        }
    }
    matrix_params(a)->mode = MODE_AVG;
    e = e == ERR_OK && mode != NULL ? matrix_mode(p, mode, &matrix_params(a)->mode) : e;
    return e == ERR_OK ? complete_fields(p, a, missing) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

struct matrix {
    struct collector c;
    struct values *v; /* of the fields that are mapped, in the order of Java's map */
    uint32_t *at;
    uint32_t n;
    double **row; /* a field's values of the batch; NaN and had[] false: none */
    bool *had;    /* documents that have all so far */
    double *delta;
    struct matrix_result *acc;
    uint32_t cap;
};

/* What one document's value of a field adds. */
static void moments_add(struct matrix_moments *m, double n, double v)
{
    m->count++;
    m->sum += v;
    if (m->count == 1) {
        m->mean = v;
        return;
    }
    double d = v - m->mean, part = d / n, part2 = part * part, t = d * part * (n - 1);
    double squares = m->squares, cubes = m->cubes;
    m->mean += part;
    m->squares = squares + t;
    m->cubes = cubes + (t * part * (n - 2) - 3 * part * squares);
    m->fourths += t * part2 * (n * n - 3 * n + 3) + 6 * part2 * squares - 4 * part * cubes;
}

static void matrix_add(struct matrix *m, struct matrix_result *to, uint32_t doc)
{
    double n = ++to->count, share = 1.0 / (n * (n - 1.0)), *pair = to->pairs;
    for (uint32_t i = 0; i < m->n; i++) {
        double v = m->row[i][doc];
        moments_add(&to->of[i], n, v);
        m->delta[i] = v * n - to->of[i].sum;
    }
    for (uint32_t i = 0; n > 1 && i < m->n; i++) {
        double scaled = share * m->delta[i];
        for (uint32_t k = i + 1; k < m->n; k++) {
            *pair++ += scaled * m->delta[k];
        }
    }
}

/* The bucket's sums; NULL: no memory (noted). */
static struct matrix_result *matrix_bucket(struct matrix *m, uint32_t bucket)
{
    struct agg_run *r = m->c.run;
    if (!run_reserve(r, &m->acc, &m->cap, (uint64_t)bucket + 1, sizeof(*m->acc))) {
        return NULL;
    }
    struct matrix_result *to = &m->acc[bucket];
    if (to->of == NULL) {
        *to = (struct matrix_result){.n = m->n,
                                     .at = m->at,
                                     .of = ARENA_ARRAY(r->arena, struct matrix_moments, m->n),
                                     .pairs = ARENA_ARRAY(r->arena, double, pair_count(m->n) + 1)};
        if (to->of == NULL || to->pairs == NULL) {
            to->of = NULL;
            run_no_memory(r);
            return NULL;
        }
    }
    return to;
}

/* One field's values of the batch, and which documents have none. */
static void load_row(struct matrix *m, uint32_t field, const struct doc_run *d)
{
    enum multi_value_mode mode = matrix_params(m->c.agg)->mode;
    struct values *v = &m->v[field];
    double *row = m->row[field];
    uint32_t done = 0; /* documents before it are known */
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(v, d, &pos);
        for (uint32_t i = 0, to; i < n; i = to) {
            uint32_t doc = v->at[i];
            for (to = i + 1; to < n && v->at[to] == doc; to++) {
            }
            for (; done < doc; done++) {
                m->had[done] = false;
            }
            row[doc] = multi_value_pick(mode, v->d + i, to - i);
            m->had[doc] = m->had[doc] && row[doc] != -INFINITY; /* which says that there is none */
            done = doc + 1;
        }
    }
    for (; done < d->n; done++) {
        m->had[done] = false;
    }
}

static void matrix_collect(struct collector *c, const struct doc_run *d)
{
    struct matrix *m = (struct matrix *)c;
    if (m->n == 0) {
        return;
    }
    memset(m->had, true, d->n * sizeof(*m->had));
    for (uint32_t i = 0; i < m->n && c->run->failed == ERR_OK; i++) {
        load_row(m, i, d);
    }
    for (uint32_t i = 0; i < d->n && c->run->failed == ERR_OK; i++) {
        struct matrix_result *to = m->had[i] ? matrix_bucket(m, run_bucket(d, i)) : NULL;
        if (to != NULL) {
            matrix_add(m, to, i);
        }
        if (stop_worked((size_t)m->n * m->n)) {
            return;
        }
    }
}

static enum err matrix_leaf(struct collector *c, struct errmsg *em)
{
    struct matrix *m = (struct matrix *)c;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < m->n; i++) {
        e = values_leaf(&m->v[i], em);
    }
    return e;
}

static enum err matrix_check(struct collector *c, struct errmsg *em)
{
    struct matrix *m = (struct matrix *)c;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct values *v = &m->v[i];
        if (v->kind > SOURCE_BOOLEAN) {
            return err_set(em, ERR_AGG_EXECUTION,
                           "Field [%.*s] of type [%s] is not supported for aggregation [matrix_stats]",
                           STR_ARG(v->spec->field), v->field != NULL ? v->field->class->name : "keyword");
        }
    }
    return ERR_OK;
}

static enum err matrix_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                             UNUSED struct errmsg *em)
{
    const struct matrix *m = (const struct matrix *)c;
    out->form = m->n == 0 ? RESULT_UNMAPPED : RESULT_PLAIN;
    if (bucket < m->cap && m->acc[bucket].of != NULL) {
        *matrix_result(out) = m->acc[bucket];
    }
    return ERR_OK;
}

static const struct collector_ops matrix_ops = {
    .check = matrix_check, .leaf = matrix_leaf, .collect = matrix_collect, .build = matrix_build};

struct matrix_field {
    struct str name;
    uint32_t at;
};

static struct str name_of(const void *field)
{
    return ((const struct matrix_field *)field)->name;
}

/* Which fields there are, in the order in which Java's map gives them. */
static enum err find_fields(struct matrix *m, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct matrix_params *given = matrix_params(a);
    struct matrix_field *found = ARENA_ARRAY(r->arena, struct matrix_field, given->n);
    struct values probe;
    if (found == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < given->n; i++) {
        enum err e = values_bind(&probe, r, a, &given->fields[i], TAKES_ALL, SOURCE_TEXT, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!probe.none) {
            found[m->n++] = (struct matrix_field){given->fields[i].field, i};
        }
    }
    java_map_sort(found, m->n, sizeof(*found), name_of, java_map_buckets(m->n));
    m->v = ARENA_ARRAY(r->arena, struct values, m->n);
    m->at = ARENA_ARRAY(r->arena, uint32_t, m->n);
    m->row = ARENA_ARRAY(r->arena, double *, m->n);
    m->delta = ARENA_ARRAY(r->arena, double, m->n);
    m->had = ARENA_ARRAY(r->arena, bool, BATCH);
    if (m->v == NULL || m->at == NULL || m->row == NULL || m->delta == NULL || m->had == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        m->at[i] = found[i].at;
        m->row[i] = ARENA_ARRAY(r->arena, double, BATCH);
        enum err e = m->row[i] == NULL
                         ? err_no_memory(em)
                         : values_bind(&m->v[i], r, a, &given->fields[m->at[i]], TAKES_ALL, SOURCE_TEXT, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err matrix_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct matrix *m = ARENA_NEW(r->arena, struct matrix);
    if (m == NULL) {
        return err_no_memory(em);
    }
    *out = &m->c;
    enum err e = collector_init(&m->c, &matrix_ops, r, a, em);
    return e == ERR_OK ? find_fields(m, r, a, em) : e;
}
