/* What results mean: derived numbers, values by name, orders of buckets. */
#include "engine/aggs/result.h"

#include "common/base/base64.h"
#include "common/base/memory_account.h"
#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#include "common/base/inet.h"
#include "common/base/num.h"

#include <math.h>

int agg_key_cmp(const struct agg_key *a, const struct agg_key *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    switch (a->kind) {
    case KEY_I64:
        return a->i < b->i ? -1 : a->i > b->i;
    case KEY_F64: {
        int64_t x = num_from_double(a->d), y = num_from_double(b->d);
        return x < y ? -1 : x > y;
    }
    case KEY_STR:
        return str_cmp(a->s, b->s);
    default:
        return 0;
    }
}

/* ---- single numbers ------------------------------------------------------------------------------------ */

bool metric_is_single(enum agg_kind k)
{
    switch (k) {
    case AGG_AVG:
    case AGG_SUM:
    case AGG_MIN:
    case AGG_MAX:
    case AGG_VALUE_COUNT:
    case AGG_CARDINALITY:
    case AGG_MAD:
    case AGG_WEIGHTED_AVG:
        return true;
    default:
        return false;
    }
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

double metric_value(const struct agg_result *r)
{
    switch (r->agg->type->kind) {
    case AGG_AVG:
        return r->count > 0 ? r->sum / (double)r->count : NAN;
    case AGG_SUM:
        return r->sum;
    case AGG_MIN:
        return r->count > 0 ? r->min : INFINITY;
    case AGG_MAX:
        return r->count > 0 ? r->max : -INFINITY;
    case AGG_VALUE_COUNT:
        return (double)r->count;
    case AGG_CARDINALITY:
        return r->hll != NULL ? (double)hll_count(r->hll) : 0;
    case AGG_MAD:
        return median_deviation(r->digest);
    case AGG_WEIGHTED_AVG:
        return r->weights != 0 ? r->sum / r->weights : NAN;
    default:
        return r->value; /* pipelines */
    }
}

static double variance(const struct agg_result *r, bool sampling)
{
    double n = (double)r->count, v = (r->squares - r->sum * r->sum / n) / (sampling ? n - 1 : n);
    return v < 0 ? 0 : v;
}

bool stats_value(const struct agg_result *r, struct str name, double *out)
{
    double n = (double)r->count;
    bool extended =
        r->agg->type->kind == AGG_EXTENDED_STATS || r->agg->type->kind == AGG_EXTENDED_STATS_BUCKET;
    double sigma = r->agg->type->kind == AGG_EXTENDED_STATS ? r->agg->stats.sigma : r->agg->pipe.sigma;
    if (str_is(name, "count")) {
        *out = n;
    } else if (str_is(name, "min")) {
        *out = r->min;
    } else if (str_is(name, "max")) {
        *out = r->max;
    } else if (str_is(name, "avg")) {
        *out = r->sum / n;
    } else if (str_is(name, "sum")) {
        *out = r->sum;
    } else if (!extended) {
        return false;
    } else if (str_is(name, "sum_of_squares")) {
        *out = r->squares;
    } else if (str_is(name, "variance") || str_is(name, "variance_population")) {
        *out = variance(r, false);
    } else if (str_is(name, "variance_sampling")) {
        *out = variance(r, true);
    } else if (str_is(name, "std_deviation") || str_is(name, "std_deviation_population")) {
        *out = sqrt(variance(r, false));
    } else if (str_is(name, "std_deviation_sampling")) {
        *out = sqrt(variance(r, true));
    } else if (str_starts(name, STR("std_upper")) || str_starts(name, STR("std_lower"))) {
        bool sampling = str_ends(name, STR("_sampling"));
        bool plain = name.n == 9, population = str_ends(name, STR("_population"));
        double d = sigma * sqrt(variance(r, sampling));
        *out = r->sum / n + (name.p[4] == 'u' ? d : -d);
        return plain || population || sampling;
    } else {
        return false;
    }
    return true;
}

double percentile_value(const struct agg_result *r, double at)
{
    bool ranks = r->agg->type->kind == AGG_PERCENTILE_RANKS;
    if (r->hdr != NULL) {
        return ranks ? fmin(fmax(hdr_rank(r->hdr, at), 0), 100) : hdr_percentile(r->hdr, at);
    }
    if (r->digest == NULL) {
        return NAN;
    }
    if (!ranks) {
        return tdigest_quantile(r->digest, at / 100);
    }
    double rank = tdigest_cdf(r->digest, at) * 100;
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

/* What Elasticsearch calls a result in its messages: the name of a class. */
static const char *result_class(const struct agg_result *r)
{
    static const char *const terms[] = {"StringTerms", "LongTerms", "DoubleTerms", "UnmappedTerms"};
    static const char *const rare[] = {"StringRareTerms", "LongRareTerms", "LongRareTerms",
                                       "UnmappedRareTerms"};
    static const char *const significant[] = {"SignificantStringTerms", "SignificantLongTerms",
                                              "SignificantLongTerms", "UnmappedSignificantTerms"};
    static const struct {
        enum agg_kind kind;
        const char *name;
    } others[] = {{AGG_FILTER, "InternalFilter"},
                  {AGG_MISSING, "InternalMissing"},
                  {AGG_GLOBAL, "InternalGlobal"},
                  {AGG_NESTED, "InternalNested"},
                  {AGG_REVERSE_NESTED, "InternalReverseNested"},
                  {AGG_SAMPLER, "InternalSampler"},
                  {AGG_DIVERSIFIED, "InternalSampler"},
                  {AGG_HISTOGRAM, "InternalHistogram"},
                  {AGG_DATE_HISTOGRAM, "InternalDateHistogram"},
                  {AGG_AUTO_DATE_HISTOGRAM, "InternalAutoDateHistogram"},
                  {AGG_RANGE, "InternalRange"},
                  {AGG_DATE_RANGE, "InternalDateRange"},
                  {AGG_IP_RANGE, "InternalBinaryRange"},
                  {AGG_GEO_DISTANCE, "InternalGeoDistance"},
                  {AGG_GEOHASH_GRID, "InternalGeoHashGrid"},
                  {AGG_GEOTILE_GRID, "InternalGeoTileGrid"},
                  {AGG_FILTERS, "InternalFilters"},
                  {AGG_ADJACENCY, "InternalAdjacencyMatrix"},
                  {AGG_COMPOSITE, "InternalComposite"},
                  {AGG_GEO_BOUNDS, "InternalGeoBounds"},
                  {AGG_GEO_CENTROID, "InternalGeoCentroid"},
                  {AGG_TOP_HITS, "InternalTopHits"}};
    enum agg_kind k = r->agg->type->kind;
    size_t form = r->form == RESULT_STR ? 0 : r->form == RESULT_I64 ? 1 : r->form == RESULT_F64 ? 2 : 3;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (others[i].kind == k) {
            return others[i].name;
        }
    }
    return k == AGG_RARE_TERMS ? rare[form] : k == AGG_SIGNIFICANT_TERMS ? significant[form] : terms[form];
}

static enum err not_a_number(const struct agg_result *r, struct errmsg *em)
{
    enum agg_kind k = r->agg->type->kind;
    bool many = !agg_has_buckets(r->agg) && k != AGG_TOP_HITS && k != AGG_GEO_BOUNDS && k != AGG_GEO_CENTROID;
    if (!many) {
        return err_set(em, ERR_AGG_EXECUTION,
                       "buckets_path must reference either a number value or a single value numeric metric "
                       "aggregation, got: [%s] at aggregation [%.*s]",
                       result_class(r), STR_ARG(r->agg->name));
    }
    return err_set(em, ERR_AGG_EXECUTION,
                   "buckets_path must reference either a number value or a single value numeric metric "
                   "aggregation, but [%.*s] contains multiple values. Please specify which to use.",
                   STR_ARG(r->agg->name));
}

struct geo_sides result_sides(const struct agg_result *r)
{
    double pos_left = r->geo[2], pos_right = r->geo[3], neg_left = r->geo[4], neg_right = r->geo[5];
    struct geo_sides box = {r->geo[0], r->geo[1], neg_left, pos_right};
    if (isinf(pos_left)) {
        box.right = neg_right;
    } else if (isinf(neg_left)) {
        box.left = pos_left;
    } else if (r->agg->geo_bounds.wrap && pos_right - neg_left > (180 - pos_left) - (-180 - neg_right)) {
        box.left = pos_left; /* the box around the date line is narrower */
        box.right = neg_right;
    }
    return box;
}

/* Parts of a centroid and sides of a box by their names; those of none are no numbers. */
static bool geo_value(const struct agg_result *r, struct str key, double *out)
{
    bool centroid = r->agg->type->kind == AGG_GEO_CENTROID;
    if (centroid && str_is(key, "count")) {
        *out = (double)r->count;
        return true;
    }
    struct geo_sides box = centroid ? (struct geo_sides){0, 0, 0, 0} : result_sides(r);
    const struct {
        const char *name;
        bool of_centroid;
        double v;
    } parts[] = {{"lat", true, r->geo[0]},      {"lon", true, r->geo[1]},  {"top", false, box.top},
                 {"bottom", false, box.bottom}, {"left", false, box.left}, {"right", false, box.right}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].of_centroid == centroid && str_is(key, parts[i].name)) {
            *out = r->count > 0 ? parts[i].v : NAN;
            return true;
        }
    }
    return false;
}

enum err result_value(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    enum agg_kind k = r->agg->type->kind;
    if (r->agg->type->class == CLASS_SINGLE && r->n == 1) {
        if (key.p != NULL && (str_is(key, "_count") || str_is(key, "doc_count"))) {
            *out = (double)r->buckets->doc_count;
            return ERR_OK;
        }
        return key.p == NULL
                   ? not_a_number(r, em)
                   : err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot find an aggregation named [%.*s] in [%.*s]",
                             STR_ARG(key), STR_ARG(r->agg->name));
    }
    if (r->agg->type->class == CLASS_MULTI) {
        if (key.p != NULL && str_is(key, "_bucket_count")) {
            *out = (double)r->n;
            return ERR_OK;
        }
        return not_a_number(r, em);
    }
    if (metric_is_single(k) || r->agg->type->class >= CLASS_SIBLING) {
        bool many = k == AGG_STATS_BUCKET || k == AGG_EXTENDED_STATS_BUCKET || k == AGG_PERCENTILES_BUCKET;
        if (!many && (key.p == NULL || str_is(key, "value"))) {
            *out = metric_value(r);
            return ERR_OK;
        }
        if (k == AGG_DERIVATIVE && str_is(key, "normalized_value")) {
            *out = r->normal;
            return ERR_OK;
        }
        if (many && key.p != NULL && k != AGG_PERCENTILES_BUCKET && stats_value(r, key, out)) {
            return ERR_OK;
        }
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "path not supported for [%.*s]: [%.*s]",
                       STR_ARG(r->agg->name), STR_ARG(key));
    }
    if (key.p == NULL) {
        return not_a_number(r, em);
    }
    if (k == AGG_TOP_HITS) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "path not supported for [%.*s]: [%.*s]",
                       STR_ARG(r->agg->name), STR_ARG(key));
    }
    if ((k == AGG_GEO_CENTROID || k == AGG_GEO_BOUNDS) && geo_value(r, key, out)) {
        return ERR_OK;
    }
    if (k == AGG_GEO_CENTROID && str_is(key, "value")) {
        return err_set(em, ERR_AGG_EXECUTION,
                       "buckets_path must reference either a number value or a single value numeric metric "
                       "aggregation, got: [GeoPoint] at aggregation [%.*s]",
                       STR_ARG(r->agg->name));
    }
    if (k == AGG_GEO_BOUNDS || k == AGG_GEO_CENTROID) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Found unknown path element [%.*s] in [%.*s]", STR_ARG(key),
                       STR_ARG(r->agg->name));
    }
    if (k == AGG_STATS && !stats_value(r, key, out)) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "No enum constant org.elasticsearch.search.aggregations.metrics.InternalStats.Metrics.%.*s",
            STR_ARG(key));
    }
    if (k == AGG_EXTENDED_STATS && !stats_value(r, key, out)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "No enum constant "
                       "org.elasticsearch.search.aggregations.metrics.InternalExtendedStats.Metrics.%.*s",
                       STR_ARG(key));
    }
    if (k == AGG_PERCENTILES || k == AGG_PERCENTILE_RANKS) {
        return percentile_named(r, key, out, em) ? ERR_OK : ERR_ILLEGAL_ARGUMENT;
    }
    if ((k == AGG_STATS || k == AGG_EXTENDED_STATS) && stats_value(r, key, out)) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No enum constant [%.*s] for [%.*s]", STR_ARG(key),
                   STR_ARG(r->agg->name));
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static const struct agg_result *sub_result(const struct agg_bucket *b, const struct agg *a, struct str name)
{
    for (uint32_t i = 0; b->subs != NULL && i < a->n_subs; i++) {
        if (str_eq(a->subs[i]->name, name)) {
            return &b->subs[i];
        }
    }
    return NULL;
}

static double path_value(const struct agg *a, const struct agg_path *path, const struct agg_bucket *b)
{
    for (uint32_t i = 0; i < path->n; i++) {
        const struct agg_result *r = sub_result(b, a, path->v[i].name);
        double v = NAN;
        if (r == NULL) {
            return NAN;
        }
        a = r->agg;
        if (i + 1 < path->n) {
            if (a->type->class != CLASS_SINGLE || r->n != 1) {
                return NAN;
            }
            b = r->buckets;
            continue;
        }
        if (a->type->class == CLASS_SINGLE) {
            return r->n == 1 ? (double)r->buckets->doc_count : NAN;
        }
        return result_value(r, path->v[i].key, &v, NULL) == ERR_OK ? v : NAN;
    }
    return NAN;
}

static int cmp_value(double a, double b, bool asc)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    int c = a < b ? -1 : a > b;
    return asc ? c : -c;
}

int bucket_order_cmp(const struct agg *a, const struct agg_orders *orders, const struct agg_bucket *x,
                     const struct agg_bucket *y)
{
    for (uint32_t i = 0; i < orders->n; i++) {
        const struct agg_order *o = &orders->v[i];
        int c;
        if (o->by == ORDER_PATH) {
            c = cmp_value(path_value(a, &o->path, x), path_value(a, &o->path, y), o->asc);
        } else {
            c = o->by == ORDER_KEY ? agg_key_cmp(&x->key, &y->key)
                                   : (x->doc_count > y->doc_count) - (x->doc_count < y->doc_count);
            c = o->asc ? c : -c;
        }
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

bool bucket_key_text(const struct agg_result *r, const struct agg_bucket *b, struct buf *out)
{
    switch (b->key.kind) {
    case KEY_I64:
        if (r->shape != NULL) {
            value_shape_print_i64(r->shape, b->key.i, out);
        } else {
            buf_i64(out, b->key.i);
        }
        return true;
    case KEY_F64:
        if (r->shape != NULL) {
            value_shape_print(r->shape, b->key.d, out);
        } else {
            num_put_double(out, b->key.d);
        }
        return true;
    case KEY_STR:
        if (r->shape != NULL && r->shape->kind == FORMAT_IP && b->key.s.n == INET_BYTES
            && r->agg->type->kind != AGG_IP_RANGE) {
            inet_print((const uint8_t *)b->key.s.p, out);
        } else if (r->shape != NULL && r->shape->kind == FORMAT_BINARY) {
            base64_put(b->key.s, out);
        } else {
            buf_str(out, b->key.s);
        }
        return true;
    default:
        return false;
    }
}
