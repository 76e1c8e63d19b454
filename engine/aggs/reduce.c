/* Merging partial results into one. Everything here is a function of its inputs; the order in which shards answered shows
 * in nothing but ties that Elasticsearch breaks by shard. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/result.h"

#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

enum err err_too_many_buckets(int64_t max, int64_t n, struct errmsg *em)
{
    err_set(em, ERR_TOO_MANY_BUCKETS,
            "Trying to create too many buckets. Must be less than or equal to: [%lld] but was [%lld]. This "
            "limit can be set by "
            "changing the [search.max_buckets] cluster level setting.",
            (long long)max, (long long)n);
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->limit = max;
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
    struct agg_result *subs = results_new(r->arena, a);
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
enum err reduce_by_place(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                         struct agg_result *out)
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

enum err reduce_keys(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                     struct agg_result *out)
{
    return reduce_by_key(r, a, in, n, &out->buckets, &out->n);
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

enum err result_reduce(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_result *out)
{
    struct agg_result **mapped = ARENA_ARRAY(r->arena, struct agg_result *, n);
    uint32_t have = 0;
    if (mapped == NULL) {
        return err_no_memory(r->em);
    }
    out->form = RESULT_UNMAPPED;
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
    return a->type->reduce(r, a, mapped, n, out);
}
