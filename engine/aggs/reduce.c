/* Merging partial results into one. Everything here is a function of its inputs; the order in which shards answered shows
 * in nothing but ties that Elasticsearch breaks by shard. */
#include "engine/aggs/result.h"

#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#include <math.h>
#include <stdlib.h>

enum err err_too_many_buckets(int64_t max, int64_t n, struct errmsg *em)
{
    err_set(em, ERR_TOO_MANY_BUCKETS,
            "Trying to create too many buckets. Must be less than or equal to: [%lld] but was [%lld]. This "
            "limit can be set by "
            "changing the [search.max_buckets] cluster level setting.",
            (long long)max, (long long)n);
    if (em != NULL) {
        em->about.limit = max;
    }
    return ERR_TOO_MANY_BUCKETS;
}

enum err reduce_count(struct reduce *r, int64_t n)
{
    r->buckets += n;
    if (stop_often()) {
        return err_set(r->em, ERR_CANCELLED, "task cancelled");
    }
    return r->buckets <= r->max_buckets ? ERR_OK : err_too_many_buckets(r->max_buckets, r->buckets, r->em);
}

enum err reduce_subs(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                     struct agg_result **out)
{
    *out = NULL;
    if (a->n_subs == 0 || n == 0) {
        return ERR_OK;
    }
    struct agg_result *subs = ARENA_ARRAY(r->arena, struct agg_result, agg_places(a));
    struct agg_result **column = ARENA_ARRAY(r->arena, struct agg_result *, n);
    if (subs == NULL || column == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < a->n_subs; i++) {
        uint32_t have = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (in[k][i].form != RESULT_ABSENT) {
                column[have++] = &in[k][i];
            }
        }
        enum err e = result_reduce(r, a->subs[i], column, have, &subs[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = subs;
    return ERR_OK;
}

/* ---- metrics -------------------------------------------------------------------------------------------------------- */

static void kahan_add(double *sum, double *error, double x)
{
    if (!isfinite(x)) {
        *sum = x + *sum;
        *error = 0;
    } else if (isfinite(*sum)) {
        double corrected = x - *error, updated = *sum + corrected;
        *error = (updated - *sum) - corrected;
        *sum = updated;
    }
}

static enum err reduce_numbers(const struct agg_result *const *in, uint32_t n, struct agg_result *out)
{
    out->min = INFINITY;
    out->max = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        out->count += in[i]->count;
        kahan_add(&out->sum, &out->sum_error, in[i]->sum);
        kahan_add(&out->squares, &out->squares_error, in[i]->squares);
        kahan_add(&out->weights, &out->weights_error, in[i]->weights);
        out->min = fmin(out->min, in[i]->min);
        out->max = fmax(out->max, in[i]->max);
    }
    return ERR_OK;
}

static enum err reduce_cardinality(struct reduce *r, struct agg_result *const *in, uint32_t n,
                                   struct agg_result *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (in[i]->hll == NULL) {
            continue;
        }
        if (out->hll == NULL) {
            out->hll = in[i]->hll;
        } else if (out->hll->p != in[i]->hll->p) {
            return err_set(r->em, ERR_CORRUPT, "partial aggregations differ in precision");
        } else {
            hll_merge(out->hll, in[i]->hll);
        }
    }
    return out->hll != NULL && out->hll->failed ? err_no_memory(r->em) : ERR_OK;
}

static enum err reduce_quantiles(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    struct tdigest **digests = ARENA_ARRAY(r->arena, struct tdigest *, n);
    uint32_t have = 0;
    if (digests == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (in[i]->digest != NULL) {
            digests[have++] = in[i]->digest;
        }
        if (in[i]->hdr != NULL && out->hdr != NULL && out->hdr->half_bits == in[i]->hdr->half_bits) {
            hdr_merge(out->hdr, in[i]->hdr);
        } else if (in[i]->hdr != NULL) {
            out->hdr = in[i]->hdr;
        }
    }
    if (have <= 1) {
        out->digest = have == 1 ? digests[0] : NULL;
        return ERR_OK;
    }
    out->digest = tdigest_new(r->arena, a->percentiles.compression);
    if (out->digest == NULL) {
        return err_no_memory(r->em);
    }
    tdigest_merge(out->digest, digests, have);
    return out->digest->failed ? err_no_memory(r->em) : ERR_OK;
}

static void reduce_geo(const struct agg *a, struct agg_result *const *in, uint32_t n, struct agg_result *out)
{
    static const bool largest[] = {true, false, false, true, false, true};
    bool bounds = a->type->kind == AGG_GEO_BOUNDS;
    double sums[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; bounds && in[i]->count > 0 && k < ARRAY_LEN(largest); k++) {
            double x = in[i]->geo[k];
            out->geo[k] = out->count == 0 ? x : largest[k] ? fmax(out->geo[k], x) : fmin(out->geo[k], x);
        }
        for (int k = 0; !bounds && k < 2; k++) {
            sums[k] += in[i]->geo[k] * (double)in[i]->count;
        }
        out->count += in[i]->count;
    }
    for (int k = 0; !bounds && out->count > 0 && k < 2; k++) {
        out->geo[k] = sums[k] / (double)out->count;
    }
}

struct hit_order {
    const struct search_source *source;
    uint32_t n_sort;
};

static int hit_cmp(const struct hit_order *o, const struct agg_hit *a, const struct agg_hit *b)
{
    int c = o->n_sort > 0 ? sort_values_cmp(o->source->sort, o->n_sort, a->sort, b->sort)
                          : (a->score < b->score) - (a->score > b->score);
    return c != 0 ? c : a->shard < b->shard ? -1 : a->shard > b->shard;
}

/* A stable merge sort by insertion: at most a hundred hits a shard. */
static enum err reduce_hits_of(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                               uint32_t n, struct agg_result *out)
{
    const struct search_source *s = a->top_hits.source;
    uint32_t total = 0;
    struct hit_order order = {.source = s};
    out->max_score = NAN;
    for (uint32_t i = 0; i < n; i++) {
        total += in[i]->n_hits;
        out->count += in[i]->count;
        order.n_sort = MAX_OF(order.n_sort, in[i]->n_sort);
        if (!isnan(in[i]->max_score) && !(out->max_score >= in[i]->max_score)) {
            out->max_score = in[i]->max_score;
        }
    }
    uint64_t want = (uint64_t)(s->from + s->size);
    struct agg_hit *best = ARENA_ARRAY(r->arena, struct agg_hit, MIN_OF(want, (uint64_t)total) + 1);
    uint32_t have = 0;
    if (best == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < in[i]->n_hits && (order.n_sort == 0 || in[i]->n_sort == order.n_sort); k++) {
            struct agg_hit x = in[i]->hits[k];
            x.shard = i;
            uint32_t at = have;
            while (at > 0 && hit_cmp(&order, &x, &best[at - 1]) < 0) {
                best[at] = best[at - 1];
                at--;
            }
            best[at] = x;
            have = (uint32_t)MIN_OF((uint64_t)have + 1, want);
        }
    }
    uint32_t skip = (uint32_t)MIN_OF((uint64_t)s->from, (uint64_t)have);
    out->hits = best + skip;
    out->n_hits = have - skip;
    return ERR_OK;
}

enum err reduce_metric(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_result *out)
{
    switch (a->type->kind) {
    case AGG_CARDINALITY:
        return reduce_cardinality(r, in, n, out);
    case AGG_PERCENTILES:
    case AGG_PERCENTILE_RANKS:
    case AGG_MAD:
        return reduce_quantiles(r, a, in, n, out);
    case AGG_GEO_BOUNDS:
    case AGG_GEO_CENTROID:
        reduce_geo(a, in, n, out);
        return ERR_OK;
    case AGG_TOP_HITS:
        return reduce_hits_of(r, a, in, n, out);
    default:
        return reduce_numbers((const struct agg_result *const *)in, n, out);
    }
}

/* ---- buckets by place and by key ---------------------------------------------------------------------------------------- */

/* One bucket out of several of the same key. */
enum err reduce_buckets(struct reduce *r, const struct agg *a, struct agg_bucket *const *in, uint32_t n,
                        struct agg_bucket *out)
{
    struct agg_result **subs = ARENA_ARRAY(r->arena, struct agg_result *, n);
    uint32_t have = 0;
    if (subs == NULL) {
        return err_no_memory(r->em);
    }
    *out = *in[0];
    out->doc_count = out->superset_df = 0;
    for (uint32_t i = 0; i < n; i++) {
        out->doc_count += in[i]->doc_count;
        out->superset_df += in[i]->superset_df;
        if (in[i]->subs != NULL) {
            subs[have++] = in[i]->subs;
        }
    }
    return reduce_subs(r, a, subs, have, &out->subs);
}

/* Fixed lists of buckets: all shards have the same ones, in the same order. */
static enum err reduce_by_place(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                uint32_t n, struct agg_result *out)
{
    struct agg_bucket **column = ARENA_ARRAY(r->arena, struct agg_bucket *, n);
    out->n = in[0]->n;
    out->buckets = ARENA_ARRAY(r->arena, struct agg_bucket, out->n);
    if (column == NULL || out->buckets == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t have = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (i < in[k]->n) {
                column[have++] = &in[k]->buckets[i];
            }
        }
        enum err e = reduce_buckets(r, a, column, have, &out->buckets[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

struct keyed {
    struct agg_bucket *b;
    uint32_t at; /* the order of arrival: keeps the sort stable */
};

static int by_key(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;
    int c = agg_key_cmp(&a->b->key, &b->b->key);
    return c != 0 ? c : a->at < b->at ? -1 : a->at > b->at;
}

enum err reduce_by_key(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_bucket **out, uint32_t *n_out)
{
    size_t total = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += in[i]->n;
    }
    struct keyed *all = ARENA_ARRAY(r->arena, struct keyed, total);
    struct agg_bucket *merged = ARENA_ARRAY(r->arena, struct agg_bucket, total),
                      **same = ARENA_ARRAY(r->arena, struct agg_bucket *, n);
    if (all == NULL || merged == NULL || same == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < in[i]->n; k++) {
            all[at] = (struct keyed){&in[i]->buckets[k], (uint32_t)at};
            at++;
        }
    }
    sort_items(all, total, sizeof(*all), by_key);
    *n_out = 0;
    for (size_t i = 0; i < total;) {
        uint32_t have = 0;
        size_t end = i;
        for (; end < total && agg_key_cmp(&all[end].b->key, &all[i].b->key) == 0; end++) {
            if (have < n) {
                same[have++] = all[end].b;
            }
        }
        enum err e = reduce_buckets(r, a, same, have, &merged[(*n_out)++]);
        if (e != ERR_OK) {
            return e;
        }
        i = end;
    }
    *out = merged;
    return ERR_OK;
}

/* ---- sorting by an aggregation's order -------------------------------------------------------------------------------------- */

static void merge_sort(const struct agg *a, const struct agg_orders *orders, struct agg_bucket *v,
                       struct agg_bucket *tmp, uint32_t n)
{
    if (n < 2) {
        return;
    }
    uint32_t half = n / 2, i = 0, j = half, to = 0;
    merge_sort(a, orders, v, tmp, half);
    merge_sort(a, orders, v + half, tmp, n - half);
    while (i < half || j < n) {
        bool left = j == n || (i < half && bucket_order_cmp(a, orders, &v[i], &v[j]) <= 0);
        tmp[to++] = left ? v[i++] : v[j++];
    }
    memcpy(v, tmp, n * sizeof(*v));
}

enum err buckets_sort(struct reduce *r, const struct agg *a, const struct agg_orders *orders,
                      struct agg_bucket *v, uint32_t n)
{
    struct agg_bucket *tmp = ARENA_ARRAY(r->arena, struct agg_bucket, n);
    if (tmp == NULL) {
        return err_no_memory(r->em);
    }
    merge_sort(a, orders, v, tmp, n);
    return ERR_OK;
}

/* ---- families without rules of their own --------------------------------------------------------------------------------------- */

static enum err reduce_grid(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                            struct agg_result *out)
{
    static const struct agg_order order[] = {{.by = ORDER_COUNT, .asc = false},
                                             {.by = ORDER_KEY, .asc = false}};
    static const struct agg_orders orders = {order, 2};
    enum err e = reduce_by_key(r, a, in, n, &out->buckets, &out->n);
    e = e == ERR_OK ? buckets_sort(r, a, &orders, out->buckets, out->n) : e;
    out->n = (uint32_t)MIN_OF((int64_t)out->n, a->grid.size);
    return e;
}

static enum err reduce_rare(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                            struct agg_result *out)
{
    static const struct agg_order order[] = {{.by = ORDER_COUNT, .asc = true},
                                             {.by = ORDER_KEY, .asc = true}};
    static const struct agg_orders orders = {order, 2};
    struct agg_bucket *all;
    uint32_t total = 0;
    enum err e = reduce_by_key(r, a, in, n, &all, &total);
    if (e != ERR_OK) {
        return e;
    }
    out->buckets = all;
    for (uint32_t i = 0; i < total; i++) {
        if (all[i].doc_count <= a->terms.size) {
            all[out->n++] = all[i];
        }
    }
    return buckets_sort(r, a, &orders, out->buckets, out->n);
}

static int combination_cmp(const struct agg *a, const struct agg_bucket *x, const struct agg_bucket *y)
{
    for (uint32_t i = 0; i < a->composite.n; i++) {
        const struct agg_key *p = &x->keys[i], *q = &y->keys[i];
        bool null_p = p->kind == KEY_NULL, null_q = q->kind == KEY_NULL;
        int c = null_p || null_q ? (null_p ? 0 : 1) - (null_q ? 0 : 1) : agg_key_cmp(p, q);
        if (c != 0) {
            return a->composite.v[i].descending ? -c : c;
        }
    }
    return 0;
}

static bool shows(const struct agg_result *in, uint32_t source)
{
    return in->shapes != NULL && source < in->n_shapes && in->shapes[source] != NULL
           && in->shapes[source]->kind != FORMAT_RAW;
}

/* A source that some shard did not know is shown as a shard that knows it does. */
static enum err composite_shapes(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    out->n_shapes = a->composite.n;
    out->shapes = ARENA_ARRAY(r->arena, struct value_shape *, out->n_shapes);
    if (out->shapes == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t s = 0; s < out->n_shapes; s++) {
        for (uint32_t i = 0; i < n && out->shapes[s] == NULL; i++) {
            out->shapes[s] = shows(in[i], s) ? in[i]->shapes[s] : NULL;
        }
    }
    return ERR_OK;
}

static enum err reduce_composite(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    struct agg_bucket **all;
    size_t total;
    enum err e = reduce_queue(r, a, combination_cmp, in, n, &all, &total);
    if (e != ERR_OK) {
        return e;
    }
    out->buckets = ARENA_ARRAY(r->arena, struct agg_bucket, total);
    if (out->buckets == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0, end; i < total && out->n < a->composite.size; i = end) {
        end = i + reduce_run(a, combination_cmp, all + i, total - i);
        e = reduce_buckets(r, a, all + i, (uint32_t)(end - i), &out->buckets[out->n++]);
        if (e != ERR_OK) {
            return e;
        }
    }
    out->after = out->n > 0 ? out->buckets[out->n - 1].keys : NULL;
    return composite_shapes(r, a, in, n, out);
}

enum err result_reduce(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_result *out)
{
    struct agg_result **mapped = ARENA_ARRAY(r->arena, struct agg_result *, n);
    uint32_t have = 0;
    if (mapped == NULL) {
        return err_no_memory(r->em);
    }
    *out = (struct agg_result){.agg = a, .form = RESULT_UNMAPPED};
    for (int pass = 0; pass < 2; pass++) { /* those that know the field lead */
        for (uint32_t i = 0; i < n; i++) {
            if ((in[i]->form == RESULT_UNMAPPED) == (pass == 1)) {
                mapped[have++] = in[i];
            }
        }
    }
    if (n == 0) {
        return ERR_OK;
    }
    out->form = mapped[0]->form;
    out->rewritten = mapped[0]->rewritten;
    out->shape = mapped[0]->shape;
    switch (a->type->kind) {
    case AGG_TERMS:
        return reduce_terms(r, a, mapped, n, out);
    case AGG_SIGNIFICANT_TERMS:
        return reduce_significant(r, a, mapped, n, out);
    case AGG_RARE_TERMS:
        return reduce_rare(r, a, mapped, n, out);
    case AGG_HISTOGRAM:
    case AGG_DATE_HISTOGRAM:
        return reduce_histogram(r, a, mapped, n, out);
    case AGG_AUTO_DATE_HISTOGRAM:
        return reduce_auto_date(r, a, mapped, n, out);
    case AGG_GEOHASH_GRID:
    case AGG_GEOTILE_GRID:
        return reduce_grid(r, a, mapped, n, out);
    case AGG_ADJACENCY:
        return reduce_by_key(r, a, mapped, n, &out->buckets, &out->n);
    case AGG_COMPOSITE:
        return reduce_composite(r, a, mapped, n, out);
    default:
        return agg_has_buckets(a) ? reduce_by_place(r, a, mapped, n, out)
                                  : reduce_metric(r, a, mapped, n, out);
    }
}
