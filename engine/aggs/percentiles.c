/* percentiles, percentile_ranks, median_absolute_deviation: a sketch of the distribution a bucket. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/hdr.h"
#include "engine/aggs/tdigest.h"
#include "engine/aggs/values.h"

#include "common/base/jsonr.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"

#include <math.h>

struct percentiles_params {
    const double *v;
    uint32_t n;
    bool keyed, hdr;
    double compression;
    int32_t digits;
};
AGG_PARAMS(percentiles_params)

struct quantiles_result { /* both NULL: no values */
    struct tdigest *digest;
    struct hdr *hdr;
};
AGG_RESULT(quantiles_result)

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err pct_list(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct percentiles_params *given = percentiles_params(a);
    uint32_t n = agg_items(v);
    double *list = ARENA_ARRAY(p->arena, double, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *item;
        enum err e = agg_item(p, v, i, &item);
        e = e == ERR_OK ? jr_double(item, &list[i], p->em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    given->v = list;
    given->n = n;
    return ERR_OK;
}

static enum err pct_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &percentiles_params(a)->keyed, p->em);
}

static enum err pct_compression(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct percentiles_params *given = percentiles_params(a);
    enum err e = jr_double(v, &given->compression, p->em);
    if (e == ERR_OK && given->compression < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[compression] must be greater than or equal to 0. Found [%s]",
                       num_text(given->compression).s);
    }
    return e;
}

static enum err pct_digits(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct percentiles_params *given = percentiles_params(a);
    enum err e = jr_int(v, &given->digits, p->em);
    if (e == ERR_OK && (given->digits < 0 || given->digits > 5)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[numberOfSignificantValueDigits] must be between 0 and 5");
    }
    return e;
}

static const struct agg_param tdigest_table[] = {{"compression", TK_INT, pct_compression}, {NULL, 0, NULL}};

static const struct agg_param hdr_table[] = {{"number_of_significant_value_digits", TK_INT, pct_digits},
                                             {NULL, 0, NULL}};

static enum err pct_tdigest(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_params(p, a, v, "tdigest", tdigest_table, NULL);
}

static enum err pct_hdr(struct agg_parse *p, struct agg *a, const struct json *v)
{
    percentiles_params(a)->hdr = true;
    return agg_params(p, a, v, "hdr", hdr_table, NULL);
}

static const struct agg_param percentiles_table[] = {{"percents", TK_ARRAY | TK_INT, pct_list},
                                                     {"keyed", TK_FLAG, pct_keyed},
                                                     {"tdigest", TK_OBJECT, pct_tdigest},
                                                     {"TDigest", TK_OBJECT, pct_tdigest},
                                                     {"hdr", TK_OBJECT, pct_hdr},
                                                     {NULL, 0, NULL}};

static const struct agg_param ranks_table[] = {{"values", TK_ARRAY | TK_INT, pct_list},
                                               {"keyed", TK_FLAG, pct_keyed},
                                               {"tdigest", TK_OBJECT, pct_tdigest},
                                               {"TDigest", TK_OBJECT, pct_tdigest},
                                               {"hdr", TK_OBJECT, pct_hdr},
                                               {NULL, 0, NULL}};

static enum err mad_compression(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct percentiles_params *given = percentiles_params(a);
    enum err e = jr_double(v, &given->compression, p->em);
    if (e == ERR_OK && !(given->compression > 0)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[compression] must be greater than 0. Found [%s] in [%.*s]",
                       num_text(given->compression).s, STR_ARG(a->name));
    }
    return e;
}

static const struct agg_param mad_table[] = {{"compression", TK_INT, mad_compression}, {NULL, 0, NULL}};

static enum err pct_refuse(struct agg_parse *p, const struct agg *a)
{
    return err_wrap(p->em, ERR_X_CONTENT, "Failed to build [%s] after last required field arrived",
                    a->type->name);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static enum err pct_finish(struct agg_parse *p, struct agg *a, bool given)
{
    static const double defaults[] = {1, 5, 25, 50, 75, 95, 99};
    struct percentiles_params *q = percentiles_params(a);
    bool ranks = a->type == &agg_percentile_ranks;
    if (!given && ranks) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[values] must not be null: [%.*s]", STR_ARG(a->name));
        return pct_refuse(p, a);
    }
    if (!given) {
        q->v = defaults;
        q->n = ARRAY_LEN(defaults);
        return ERR_OK;
    }
    if (q->n == 0) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                ranks ? "[values] must not be an empty array: [%.*s]"
                      : "[percents] must not be empty: [%.*s]",
                STR_ARG(a->name));
        return pct_refuse(p, a);
    }
    double *sorted = ARENA_ARRAY(p->arena, double, q->n);
    if (sorted == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < q->n; i++) {
        sorted[i] = q->v[i];
        if (!ranks && !(sorted[i] >= 0 && sorted[i] <= 100)) {
            err_set(p->em, ERR_ILLEGAL_ARGUMENT, "percent must be in [0,100], got [%s]: [%.*s]",
                    num_text(sorted[i]).s, STR_ARG(a->name));
            return pct_refuse(p, a);
        }
    }
    sort_items(sorted, q->n, sizeof(*sorted), by_value);
    q->v = sorted;
    return ERR_OK;
}

static enum err parse_percentiles(struct agg_parse *p, struct agg *a, const struct json *body)
{
    *percentiles_params(a) = (struct percentiles_params){.keyed = true, .compression = 100, .digits = 3};
    bool mad = a->type == &agg_median_absolute_deviation, ranks = a->type == &agg_percentile_ranks;
    if (mad) {
        percentiles_params(a)->compression = 1000;
    }
    enum err e = agg_params(p, a, body, a->type->name,
                            mad     ? mad_table
                            : ranks ? ranks_table
                                    : percentiles_table,
                            agg_source_params);
    bool given = json_get(body, ranks ? "values" : "percents") != NULL;
    if (e == ERR_OK && percentiles_params(a)->hdr && json_get(body, "tdigest") != NULL) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Only one percentiles method should be declared.");
        return pct_refuse(p, a);
    }
    e = e == ERR_OK && !mad ? pct_finish(p, a, given) : e;
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

struct quantiles {
    struct collector c;
    struct values v;
    struct tdigest **digest;
    struct hdr **hdr;
    uint32_t cap;
};

static enum err quantiles_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct quantiles *)c)->v, em);
}

static void add_hdr(struct quantiles *q, uint32_t bucket, double x)
{
    struct agg_run *r = q->c.run;
    if (!run_reserve(r, &q->hdr, &q->cap, bucket + 1, sizeof(struct hdr *))) {
        return;
    }
    if (q->hdr[bucket] == NULL) {
        q->hdr[bucket] = hdr_new(r->arena, percentiles_params(q->c.agg)->digits);
    }
    if (q->hdr[bucket] == NULL) {
        run_no_memory(r);
        return;
    }
    hdr_add(q->hdr[bucket], x);
    if (q->hdr[bucket]->failed) {
        run_no_memory(r);
    } else if (q->hdr[bucket]->negative) {
        run_fail(r, err_set(&r->em, ERR_ARRAY_BOUNDS,
                            "The value %s is out of bounds for histogram, current covered range cannot be "
                            "extended any further.",
                            num_text(x).s));
    }
}

static void add_digest(struct quantiles *q, uint32_t bucket, double x)
{
    struct agg_run *r = q->c.run;
    if (!run_reserve(r, &q->digest, &q->cap, bucket + 1, sizeof(struct tdigest *))) {
        return;
    }
    if (q->digest[bucket] == NULL) {
        q->digest[bucket] = tdigest_new(r->arena, percentiles_params(q->c.agg)->compression);
    }
    if (q->digest[bucket] == NULL) {
        run_no_memory(r);
        return;
    }
    tdigest_add(q->digest[bucket], x, 1);
    if (q->digest[bucket]->failed) {
        run_no_memory(r);
    }
}

static void quantiles_collect(struct collector *c, const struct doc_run *d)
{
    struct quantiles *q = (struct quantiles *)c;
    bool hdr = percentiles_params(c->agg)->hdr;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&q->v, d, &pos);
        for (uint32_t i = 0; i < n && c->run->failed == ERR_OK; i++) {
            uint32_t bucket = run_bucket(d, q->v.at[i]);
            if (hdr) {
                add_hdr(q, bucket, q->v.d[i]);
            } else {
                add_digest(q, bucket, q->v.d[i]);
            }
        }
    }
}

static void quantiles_load(const struct quantiles *q, uint32_t bucket, struct agg_result *out)
{
    struct quantiles_result *own = quantiles_result(out);
    out->form = q->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    out->shape = q->v.shape;
    own->digest = q->digest != NULL && bucket < q->cap ? q->digest[bucket] : NULL;
    own->hdr = q->hdr != NULL && bucket < q->cap ? q->hdr[bucket] : NULL;
}

static enum err quantiles_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                                UNUSED struct errmsg *em)
{
    quantiles_load((struct quantiles *)c, bucket, out);
    return ERR_OK;
}

static double quantiles_order(struct collector *c, uint32_t bucket, struct str key)
{
    struct quantiles_result own = {0};
    struct agg_result r = {.agg = c->agg, .own = &own};
    double out = NAN;
    quantiles_load((struct quantiles *)c, bucket, &r);
    if (c->agg->type->number != NULL) {
        return c->agg->type->number(&r);
    }
    return result_value(&r, key, &out, NULL) == ERR_OK ? out : NAN;
}

static const struct collector_ops quantiles_ops = {
    .leaf = quantiles_leaf, .collect = quantiles_collect, .build = quantiles_build, .value = quantiles_order};

static enum err percentiles_new(struct collector **out, struct agg_run *r, const struct agg *a,
                                struct errmsg *em)
{
    struct quantiles *q = ARENA_NEW(r->arena, struct quantiles);
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->c;
    unsigned takes = a->type == &agg_median_absolute_deviation ? TAKES_NUMBER : TAKES_NUMERIC;
    enum err e = collector_init(&q->c, &quantiles_ops, r, a, em);
    return e == ERR_OK ? values_bind(&q->v, r, a, &a->vs, takes, SOURCE_NUMBER, em) : e;
}

/* ---- merging, bytes, printing, rows ---------------------------------------------------------------------- */

static enum err reduce_quantiles(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    struct quantiles_result *own = quantiles_result(out);
    struct tdigest **digests = ARENA_ARRAY(r->arena, struct tdigest *, n);
    uint32_t have = 0;
    if (digests == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct quantiles_result *part = quantiles_result(in[i]);
        if (part->digest != NULL) {
            digests[have++] = part->digest;
        }
        if (part->hdr != NULL && own->hdr != NULL && own->hdr->half_bits == part->hdr->half_bits) {
            hdr_merge(own->hdr, part->hdr);
        } else if (part->hdr != NULL) {
            own->hdr = part->hdr;
        }
    }
    if (have <= 1) {
        own->digest = have == 1 ? digests[0] : NULL;
        return ERR_OK;
    }
    own->digest = tdigest_new(r->arena, percentiles_params(a)->compression);
    if (own->digest == NULL) {
        return err_no_memory(r->em);
    }
    tdigest_merge(own->digest, digests, have);
    return own->digest->failed ? err_no_memory(r->em) : ERR_OK;
}

/* The median of the distances to the median, weighted by the centroids. */
static double median_deviation(const struct tdigest *t)
{
    struct arena arena;
    if (t == NULL || t->n == 0) {
        return NAN;
    }
    double median = tdigest_quantile(t, 0.5), out = NAN;
    memory_request_arena(&arena);
    struct tdigest *d = tdigest_new(&arena, t->compression);
    for (size_t i = 0; d != NULL && i < t->n; i++) {
        tdigest_add(d, fabs(t->mean[i] - median), t->weight[i]);
    }
    if (d != NULL && !d->failed) {
        out = tdigest_quantile(d, 0.5);
    }
    arena_fini(&arena);
    return out;
}

static double percentile_value(const struct agg_result *r, double at)
{
    const struct quantiles_result *own = quantiles_result(r);
    bool ranks = r->agg->type == &agg_percentile_ranks;
    if (own->hdr != NULL) {
        return ranks ? fmin(fmax(hdr_rank(own->hdr, at), 0), 100) : hdr_percentile(own->hdr, at);
    }
    if (own->digest == NULL) {
        return NAN;
    }
    if (!ranks) {
        return tdigest_quantile(own->digest, at / 100);
    }
    double rank = tdigest_cdf(own->digest, at) * 100;
    return isnan(rank) ? rank : fmin(fmax(rank, 0), 100);
}

static bool percentile_named(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    double at;
    if (!num_parse_double(key, &at)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(key));
        return false;
    }
    *out = percentile_value(r, at);
    return true;
}

static void quantiles_put(struct buf *b, const struct agg_result *r)
{
    const struct quantiles_result *own = quantiles_result(r);
    put_u8(b, own->digest != NULL ? 1 : own->hdr != NULL ? 2 : 0);
    if (own->digest != NULL) {
        tdigest_encode(own->digest, b);
    } else if (own->hdr != NULL) {
        hdr_encode(own->hdr, b);
    }
}

static enum err quantiles_get(const struct result_reading *d, struct agg_result *r)
{
    struct quantiles_result *own = quantiles_result(r);
    uint8_t kind = get_u8(d->in);
    if (kind == 1) {
        own->digest = tdigest_decode(d->in, d->arena);
    } else if (kind == 2) {
        own->hdr = hdr_decode(d->in, d->arena);
    }
    return kind == 0 || own->digest != NULL || own->hdr != NULL ? ERR_OK : err_no_memory(d->em);
}

static double deviation_number(const struct agg_result *r)
{
    return median_deviation(quantiles_result(r)->digest);
}

static enum err percentile_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    return percentile_named(r, key, out, em) ? ERR_OK : ERR_ILLEGAL_ARGUMENT;
}

static double percentile_at(const struct agg_result *r, uint32_t i)
{
    return percentile_value(r, percentiles_params(r->agg)->v[i]);
}

static void percentiles_print(const struct agg_result *r, struct jsonw *w)
{
    const struct percentiles_params *p = percentiles_params(r->agg);
    print_percents(r, p->keyed, p->v, p->n, percentile_at, w);
}

static const char *percentiles_typed(const struct agg *a)
{
    return percentiles_params(a)->hdr ? "hdr_percentiles" : "tdigest_percentiles";
}

static const char *ranks_typed(const struct agg *a)
{
    return percentiles_params(a)->hdr ? "hdr_percentile_ranks" : "tdigest_percentile_ranks";
}

static bool percentiles_has(const struct agg *a, struct str key)
{
    const struct percentiles_params *p = percentiles_params(a);
    bool known = false;
    double d;
    for (uint32_t i = 0; num_parse_double(key, &d) && i < p->n; i++) {
        known |= p->v[i] == d;
    }
    return known;
}

const struct agg_type agg_percentiles = {
    .name = "percentiles",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct percentiles_params),
    .result_size = sizeof(struct quantiles_result),
    .parse = parse_percentiles,
    .collector = percentiles_new,
    .builder = "metrics.PercentilesAggregationBuilder",
    .put = quantiles_put,
    .get = quantiles_get,
    .reduce = reduce_quantiles,
    .print = percentiles_print,
    .typed_of = percentiles_typed,
    .has_value = percentiles_has,
    .named_by_number = true,
    .value = percentile_by_name,
};

const struct agg_type agg_percentile_ranks = {
    .name = "percentile_ranks",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct percentiles_params),
    .result_size = sizeof(struct quantiles_result),
    .parse = parse_percentiles,
    .collector = percentiles_new,
    .builder = "metrics.PercentileRanksAggregationBuilder",
    .put = quantiles_put,
    .get = quantiles_get,
    .reduce = reduce_quantiles,
    .print = percentiles_print,
    .typed_of = ranks_typed,
    .has_value = percentiles_has,
    .named_by_number = true,
    .value = percentile_by_name,
};

const struct agg_type agg_median_absolute_deviation = {
    .name = "median_absolute_deviation",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct percentiles_params),
    .result_size = sizeof(struct quantiles_result),
    .parse = parse_percentiles,
    .collector = percentiles_new,
    .builder = "metrics.MedianAbsoluteDeviationAggregationBuilder",
    .put = quantiles_put,
    .get = quantiles_get,
    .reduce = reduce_quantiles,
    .print = print_single,
    .number = deviation_number,
};
