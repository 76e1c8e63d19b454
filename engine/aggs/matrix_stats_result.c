/* matrix_stats: merging, bytes and printing of its results, and its row. */
#include "engine/aggs/matrix_stats.h"

#include "common/base/stop.h"

#include <math.h>

/* Place of the pair (i, j), i < j < n. */
static size_t pair_place(size_t n, size_t i, size_t j)
{
    return i * (2 * n - i - 1) / 2 + (j - i - 1);
}

/* ---- merging --------------------------------------------------------------------------------------------- */

static void moments_merge(struct matrix_moments *a, const struct matrix_moments *b, double na, double nb)
{
    double n = na + nb, d = b->mean - a->mean, d2 = d * d, d3 = d * d2, d4 = d2 * d2;
    double n2 = n * n, na2 = na * na, nb2 = nb * nb;
    double squares = a->squares, cubes = a->cubes;
    a->count += b->count;
    a->mean = (na * a->mean + nb * b->mean) / n;
    a->squares = squares + b->squares + d2 * na * nb / n;
    a->cubes =
        cubes + b->cubes + d3 * na * nb * (na - nb) / n2 + 3 * d * (na * b->squares - nb * squares) / n;
    a->fourths = a->fourths + b->fourths + d4 * na * nb * (na2 - na * nb + nb2) / (n2 * n)
                 + 6 * d2 * (na2 * b->squares + nb2 * squares) / n2
                 + 4 * d * (na * b->cubes - nb * cubes) / n;
}

static enum err not_alike(struct errmsg *em)
{
    return err_set(em, ERR_NULL_POINTER, "matrix_stats of shards that do not have the same fields");
}

/* Where the fields of b stand in a; UINT32_MAX: nowhere. ERR_NULL_POINTER where b has one that a lacks. */
static enum err match_fields(struct reduce *r, const struct agg *agg, const struct matrix_result *a,
                             const struct matrix_result *b, uint32_t **out)
{
    uint32_t all = matrix_params(agg)->n, *of = ARENA_ARRAY(r->arena, uint32_t, all),
             *in_b = ARENA_ARRAY(r->arena, uint32_t, a->n);
    if (of == NULL || in_b == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        of[b->at[i]] = i + 1;
    }
    uint32_t both = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        in_b[i] = of[a->at[i]] - 1;
        both += in_b[i] != UINT32_MAX;
    }
    *out = in_b;
    return both == b->n ? ERR_OK : not_alike(r->em);
}

static double pair_of(const struct matrix_result *b, uint32_t i, uint32_t k)
{
    return b->pairs[i < k ? pair_place(b->n, i, k) : pair_place(b->n, k, i)];
}

static enum err matrix_merge(struct reduce *r, const struct agg *agg, struct matrix_result *a,
                             const struct matrix_result *b)
{
    uint32_t *in_b = NULL;
    double *delta = ARENA_ARRAY(r->arena, double, a->n), na = a->count, nb = b->count, share;
    enum err e = delta == NULL ? err_no_memory(r->em) : match_fields(r, agg, a, b, &in_b);
    if (e != ERR_OK) {
        return e;
    }
    a->count = na + nb;
    share = na * nb / a->count;
    for (uint32_t i = 0; i < a->n; i++) {
        if (in_b[i] == UINT32_MAX) {
            continue;
        }
        const struct matrix_moments *other = &b->of[in_b[i]];
        moments_merge(&a->of[i], other, na, nb);
        delta[i] = other->sum / nb - a->of[i].sum / na;
        a->of[i].sum += other->sum;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        for (uint32_t k = i + 1; in_b[i] != UINT32_MAX && k < a->n; k++) {
            if (in_b[k] == UINT32_MAX) {
                return not_alike(r->em);
            }
            a->pairs[pair_place(a->n, i, k)] += pair_of(b, in_b[i], in_b[k]) + share * delta[i] * delta[k];
        }
        if (stop_worked(a->n)) {
            return err_set(r->em, ERR_CANCELLED, "task cancelled");
        }
    }
    return ERR_OK;
}

/* The first that has documents is what the others are added to. */
static enum err reduce_matrix(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                              struct agg_result *out)
{
    struct matrix_result *own = matrix_result(out);
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        const struct matrix_result *part = matrix_result(in[i]);
        if (part->count == 0) {
            continue;
        }
        if (own->count > 0) {
            e = matrix_merge(r, a, own, part);
        } else {
            *own = *part;
        }
    }
    return e;
}

/* ---- bytes ----------------------------------------------------------------------------------------------- */

#define NUMBERS (sizeof(struct matrix_moments) / sizeof(double))

static void matrix_put(struct buf *b, const struct agg_result *r)
{
    const struct matrix_result *own = matrix_result(r);
    size_t pairs = pair_count(own->n);
    put_varint(b, own->n);
    if (own->n == 0) {
        return;
    }
    put_f64(b, own->count);
    for (uint32_t i = 0; i < own->n; i++) {
        const struct matrix_moments *m = &own->of[i];
        const double all[NUMBERS] = {m->count, m->sum, m->mean, m->squares, m->cubes, m->fourths};
        put_varint(b, own->at[i]);
        for (size_t k = 0; k < NUMBERS; k++) {
            put_f64(b, all[k]);
        }
    }
    for (size_t i = 0; i < pairs; i++) {
        put_f64(b, own->pairs[i]);
    }
}

static void get_moments(struct bytes_in *in, struct matrix_moments *m)
{
    m->count = get_f64(in);
    m->sum = get_f64(in);
    m->mean = get_f64(in);
    m->squares = get_f64(in);
    m->cubes = get_f64(in);
    m->fourths = get_f64(in);
}

static enum err matrix_get(const struct result_reading *d, struct agg_result *r)
{
    struct matrix_result *own = matrix_result(r);
    size_t n = get_count(d->in, NUMBERS * sizeof(double) + 1);
    if (d->in->bad || n > matrix_params(r->agg)->n) {
        return result_corrupt(d);
    }
    if (n == 0) {
        return ERR_OK;
    }
    size_t pairs = pair_count(n);
    uint32_t *at = ARENA_ARRAY(d->arena, uint32_t, n);
    own->n = (uint32_t)n;
    own->at = at;
    own->count = get_f64(d->in);
    own->of = ARENA_ARRAY(d->arena, struct matrix_moments, n);
    if (at == NULL || own->of == NULL) {
        return err_no_memory(d->em);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t place = get_varint(d->in);
        if (place >= matrix_params(r->agg)->n) {
            return result_corrupt(d);
        }
        at[i] = (uint32_t)place;
        get_moments(d->in, &own->of[i]);
    }
    if (d->in->bad || pairs > bytes_left(d->in) / sizeof(double)) {
        return result_corrupt(d);
    }
    own->pairs = ARENA_ARRAY(d->arena, double, pairs + 1);
    if (own->pairs == NULL) {
        return err_no_memory(d->em);
    }
    for (size_t i = 0; i < pairs; i++) {
        own->pairs[i] = get_f64(d->in);
    }
    return ERR_OK;
}

/* ---- printing -------------------------------------------------------------------------------------------- */

static double matrix_variance(const struct matrix_result *own, uint32_t i)
{
    return own->of[i].squares / (own->count - 1);
}

static double covariance(const struct matrix_result *own, uint32_t i, uint32_t k)
{
    return i == k ? matrix_variance(own, i) : pair_of(own, i, k) / (own->count - 1);
}

static double correlation(const struct matrix_result *own, uint32_t i, uint32_t k)
{
    uint32_t row = MIN_OF(i, k), column = MAX_OF(i, k);
    double a = matrix_variance(own, row), b = matrix_variance(own, column);
    if (i == k) {
        return 1;
    }
    if (a == 0 || b == 0) {
        return NAN;
    }
    return covariance(own, row, column) / (sqrt(a) * sqrt(b));
}

static void print_row(const struct agg_result *r, uint32_t i, const char *name,
                      double (*of)(const struct matrix_result *own, uint32_t i, uint32_t k), struct jsonw *w)
{
    const struct matrix_result *own = matrix_result(r);
    jw_kobj(w, name);
    for (uint32_t k = 0; k < own->n && !result_ends(w, w->out->n); k++) {
        jw_key(w, matrix_params(r->agg)->fields[own->at[k]].field);
        jw_double(w, of(own, i, k));
    }
    jw_obj_end(w);
}

static void matrix_print(const struct agg_result *r, struct jsonw *w)
{
    const struct matrix_result *own = matrix_result(r);
    jw_ki64(w, "doc_count", (int64_t)own->count);
    if (own->n == 0) {
        return;
    }
    jw_k(w, "fields");
    jw_arr(w);
    for (uint32_t i = 0; i < own->n && !result_ends(w, w->out->n); i++) {
        const struct matrix_moments *m = &own->of[i];
        jw_obj(w);
        jw_kstr(w, "name", matrix_params(r->agg)->fields[own->at[i]].field);
        jw_ki64(w, "count", (int64_t)m->count);
        jw_kdouble(w, "mean", m->mean);
        jw_kdouble(w, "variance", matrix_variance(own, i));
        jw_kdouble(w, "skewness", sqrt(own->count) * m->cubes / pow(m->squares, 1.5));
        jw_kdouble(w, "kurtosis", own->count * m->fourths / (m->squares * m->squares));
        print_row(r, i, "covariance", covariance, w);
        print_row(r, i, "correlation", correlation, w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* It has maps of numbers, none of which a path can name. */
static enum err matrix_value(const struct agg_result *r, struct str key, UNUSED double *out,
                             struct errmsg *em)
{
    static const char *const maps[] = {"counts",   "means",      "variances",  "skewness",
                                       "kurtosis", "covariance", "correlation"};
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        if (str_is(key, maps[i])) {
            return err_set(em, ERR_AGG_EXECUTION,
                           "buckets_path must reference either a number value or a single value numeric "
                           "metric aggregation, got: [UnmodifiableMap] at aggregation [%.*s]",
                           STR_ARG(r->agg->name));
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Found unknown path element [%.*s] in [%.*s]", STR_ARG(key),
                   STR_ARG(r->agg->name));
}

const struct agg_type agg_matrix_stats = {
    .name = "matrix_stats",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct matrix_params),
    .result_size = sizeof(struct matrix_result),
    .parse = parse_matrix,
    .collector = matrix_new,
    .builder = "matrix.stats.MatrixStatsAggregationBuilder",
    .results = {"InternalMatrixStats"},
    .put = matrix_put,
    .get = matrix_get,
    .reduce = reduce_matrix,
    .print = matrix_print,
    .value = matrix_value,
};
