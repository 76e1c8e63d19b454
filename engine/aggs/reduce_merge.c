/* Merging sorted lists of buckets in the order in which Elasticsearch does: equal keys of several shards come
 * out of its queue of the lists' heads, a binary heap, in an order of their own. Ties of top_hits and the
 * last digits of sums show it. */
#include "engine/aggs/result.h"

#include "common/base/heap.h"

struct head {
    struct agg_bucket **v, **end;
};

struct queue {
    const struct agg *a;
    bucket_cmp *cmp;
    struct head *h; /* the least first */
    uint32_t n;
};

static bool merge_less(const void *cx, const void *x, const void *y)
{
    const struct queue *q = cx;
    const struct head *a = x, *b = y;
    return q->cmp(q->a, *a->v, *b->v) < 0;
}

static void merge_add(struct queue *q, struct head x)
{
    q->h[q->n] = x;
    heap_up(q->h, q->n++, sizeof(x), merge_less, q);
}

/* qsort has no argument for the aggregation, and lists from outside may be in any order: an insertion into
 * what is mostly sorted would be quadratic, a merge sort is not. */
static void sort_list(const struct queue *q, struct agg_bucket **v, struct agg_bucket **tmp, size_t n)
{
    if (n < 2) {
        return;
    }
    size_t half = n / 2, i = 0, j = half, to = 0;
    sort_list(q, v, tmp, half);
    sort_list(q, v + half, tmp, n - half);
    while (i < half || j < n) {
        bool left = j == n || (i < half && q->cmp(q->a, v[i], v[j]) <= 0);
        tmp[to++] = left ? v[i++] : v[j++];
    }
    memcpy(v, tmp, n * sizeof(*v));
}

/* Takes the least bucket of all. A list that goes on stays at the top of Lucene's queue; Java's, which composite
 * has, gives it away and gets it back. */
static struct agg_bucket *merge_take(struct queue *q)
{
    struct head x = q->h[0];
    struct agg_bucket *out = *x.v++;
    bool back = q->a->type->java_queue && x.v < x.end;
    q->h[0] = back || x.v == x.end ? q->h[--q->n] : x;
    if (q->n > 0) {
        heap_down(q->h, q->n, 0, sizeof(x), merge_less, q);
    }
    if (back) {
        merge_add(q, x);
    }
    return out;
}

enum err reduce_queue(struct reduce *r, const struct agg *a, bucket_cmp *cmp, struct agg_result *const *in,
                      uint32_t n, struct agg_bucket ***out, size_t *total)
{
    *total = 0;
    for (uint32_t i = 0; i < n; i++) {
        *total += in[i]->n;
    }
    struct queue q = {.a = a, .cmp = cmp, .h = ARENA_ARRAY(r->arena, struct head, (size_t)n + 1)};
    struct agg_bucket **lists = ARENA_ARRAY(r->arena, struct agg_bucket *, *total);
    *out = ARENA_ARRAY(r->arena, struct agg_bucket *, *total);
    if (q.h == NULL || lists == NULL || *out == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < in[i]->n; k++) {
            lists[k] = &in[i]->buckets[k];
        }
        sort_list(&q, lists, *out, in[i]->n);
        if (in[i]->n > 0) {
            merge_add(&q, (struct head){lists, lists + in[i]->n});
        }
        lists += in[i]->n;
    }
    for (size_t at = 0; q.n > 0;) {
        (*out)[at++] = merge_take(&q);
    }
    return ERR_OK;
}

/* The buckets from v[0] on that are equal to it. */
size_t reduce_run(const struct agg *a, bucket_cmp *cmp, struct agg_bucket *const *v, size_t n)
{
    size_t end = 1;
    while (end < n && cmp(a, v[end], v[0]) == 0) {
        end++;
    }
    return end;
}

int bucket_key_cmp(UNUSED const struct agg *a, const struct agg_bucket *x, const struct agg_bucket *y)
{
    return agg_key_cmp(&x->key, &y->key);
}

enum err reduce_sorted(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                       struct agg_bucket **out, uint32_t *n_out)
{
    struct agg_bucket **all;
    size_t total;
    enum err e = reduce_queue(r, a, bucket_key_cmp, in, n, &all, &total);
    *out = e == ERR_OK ? ARENA_ARRAY(r->arena, struct agg_bucket, total) : NULL;
    *n_out = 0;
    if (e == ERR_OK && *out == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0, end; e == ERR_OK && i < total; i = end) {
        end = i + reduce_run(a, bucket_key_cmp, all + i, total - i);
        e = reduce_buckets(r, a, all + i, (uint32_t)(end - i), &(*out)[(*n_out)++]);
    }
    return e;
}
