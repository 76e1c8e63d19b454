#include "engine/aggs/tdigest.h"

#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>
#include <stdlib.h>

#define INSERT_WORK 8 /* of a value, beside what moves for it */

struct tdigest *tdigest_new(struct arena *arena, double compression)
{
    struct tdigest *t = ARENA_NEW(arena, struct tdigest);
    if (t != NULL) {
        *t = (struct tdigest){
            .arena = arena, .compression = compression, .min = INFINITY, .max = -INFINITY, .seed = 1};
    }
    return t;
}

static uint64_t next_random(struct tdigest *t)
{
    t->seed += 0x9E3779B97F4A7C15ULL;
    return hash_u64(t->seed);
}

static double between(double x1, double w1, double x2, double w2)
{
    if (x1 > x2) {
        return between(x2, w2, x1, w1);
    }
    double x = (x1 * w1 + x2 * w2) / (w1 + w2);
    return fmax(x1, fmin(x, x2));
}

/* The last centroid whose mean is at or below x; -1: none. Among equal means the last. */
static ptrdiff_t floor_of(const struct tdigest *t, double x)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->mean[mid] <= x) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return (ptrdiff_t)lo - 1;
}

/* The first of those with the same mean: that is where a tree's floor() starts its walk. */
static size_t first_equal(const struct tdigest *t, size_t i)
{
    while (i > 0 && t->mean[i - 1] == t->mean[i]) {
        i--;
    }
    return i;
}

static void insert_at(struct tdigest *t, size_t at, double mean, int64_t weight)
{
    double *m = arena_grow(t->arena, t->mean, t->n, &t->cap_mean, sizeof(*m));
    if (m != NULL) {
        t->mean = m;
    }
    int64_t *w = arena_grow(t->arena, t->weight, t->n, &t->cap_weight, sizeof(*w));
    if (m == NULL || w == NULL) {
        t->failed = true;
        return;
    }
    t->weight = w;
    memmove(m + at + 1, m + at, (t->n - at) * sizeof(*m));
    memmove(w + at + 1, w + at, (t->n - at) * sizeof(*w));
    m[at] = mean;
    w[at] = weight;
    t->n++;
}

static void remove_at(struct tdigest *t, size_t at)
{
    t->n--;
    memmove(t->mean + at, t->mean + at + 1, (t->n - at) * sizeof(*t->mean));
    memmove(t->weight + at, t->weight + at + 1, (t->n - at) * sizeof(*t->weight));
}

/* The centroid among the nearest ones that has room for the weight; n: none has. */
static size_t tdigest_choose(struct tdigest *t, double x, int64_t weight)
{
    ptrdiff_t below = floor_of(t, x);
    size_t start = below < 0 ? 0 : first_equal(t, (size_t)below), end = t->n, chosen = t->n;
    double nearest = INFINITY;
    for (size_t i = start; i < t->n; i++) {
        double z = fabs(t->mean[i] - x);
        if (z < nearest) {
            start = i;
            nearest = z;
        } else if (z > nearest) {
            end = i;
            break;
        }
    }
    int64_t sum = 0;
    for (size_t i = 0; i < start; i++) {
        sum += t->weight[i];
    }
    uint32_t fits = 0;
    for (size_t i = start; i < end; i++) {
        double q =
            t->count == 1 ? 0.5 : ((double)sum + (double)(t->weight[i] - 1) / 2.0) / (double)(t->count - 1);
        double room = 4 * (double)t->count * q * (1 - q) / t->compression;
        if ((double)(t->weight[i] + weight) <= room && next_random(t) % ++fits == 0) {
            chosen = i;
        }
        sum += t->weight[i];
    }
    return chosen;
}

static void add_centroid(struct tdigest *t, double x, int64_t weight)
{
    size_t at = t->n > 0 ? tdigest_choose(t, x, weight) : 0;
    if (at == t->n) {
        insert_at(t, (size_t)(floor_of(t, x) + 1), x, weight);
    } else {
        double mean = between(t->mean[at], (double)t->weight[at], x, (double)weight);
        int64_t sum = t->weight[at] + weight;
        if ((at == 0 || t->mean[at - 1] <= mean) && (at + 1 == t->n || mean <= t->mean[at + 1])) {
            t->mean[at] = mean;
            t->weight[at] = sum;
        } else { /* of several equal ones not the outermost may have been taken: the order changes */
            remove_at(t, at);
            insert_at(t, (size_t)(floor_of(t, mean) + 1), mean, sum);
        }
    }
    t->count += weight;
}

struct centroid {
    double mean;
    int64_t weight;
};

static void add_shuffled(struct tdigest *t, struct centroid *v, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)(next_random(t) % i);
        struct centroid swap = v[other];
        v[other] = v[i - 1];
        v[i - 1] = swap;
    }
    for (size_t i = 0; i < n && !t->failed && !stop_worked(INSERT_WORK + t->n / 64); i++) {
        add_centroid(t, v[i].mean, v[i].weight);
    }
}

/* Values that come in order leave too many centroids: all are added anew, in no order. */
static void compress(struct tdigest *t)
{
    size_t n = t->n;
    struct centroid *v = alloc_array(alloc_default(), n, sizeof(*v));
    if (v == NULL) {
        t->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] = (struct centroid){t->mean[i], t->weight[i]};
    }
    t->n = 0;
    t->count = 0;
    add_shuffled(t, v, n);
    free(v);
}

void tdigest_add(struct tdigest *t, double x, int64_t weight)
{
    if (t->failed || isnan(x) || stop_worked(INSERT_WORK + t->n / 64)) {
        return;
    }
    t->min = fmin(t->min, x);
    t->max = fmax(t->max, x);
    add_centroid(t, x, weight);
    if ((double)t->n > 20 * t->compression && t->n > 20) {
        compress(t);
    }
}

static int by_mean(const void *a, const void *b)
{
    const struct centroid *x = a, *y = b;
    return x->mean != y->mean      ? (x->mean < y->mean ? -1 : 1)
           : x->weight < y->weight ? -1
                                   : x->weight > y->weight;
}

void tdigest_merge(struct tdigest *t, struct tdigest *const *others, uint32_t n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += others[i]->n;
        t->min = fmin(t->min, others[i]->min);
        t->max = fmax(t->max, others[i]->max);
    }
    struct centroid *v = alloc_array(alloc_default(), total, sizeof(*v));
    if (v == NULL) {
        t->failed = true;
        return;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < others[i]->n; k++) {
            v[at++] = (struct centroid){others[i]->mean[k], others[i]->weight[k]};
        }
    }
    sort_items(v, total, sizeof(*v), by_mean);
    add_shuffled(t, v, total);
    free(v);
}

double tdigest_quantile(const struct tdigest *t, double q)
{
    if (t->n == 0) {
        return NAN;
    }
    if (t->n == 1) {
        return t->mean[0];
    }
    double index = q * (double)t->count;
    double so_far = (double)t->weight[0] / 2.0; /* mass left of the current centroid's middle */
    if (index < so_far) {
        return (t->min * index + t->mean[0] * (so_far - index)) / so_far;
    }
    for (size_t i = 0; i + 1 < t->n; i++) {
        double step = (double)(t->weight[i] + t->weight[i + 1]) / 2.0;
        if (so_far + step > index) {
            return between(t->mean[i], so_far + step - index, t->mean[i + 1], index - so_far);
        }
        so_far += step;
    }
    double past = index - so_far;
    return between(t->mean[t->n - 1], (double)t->weight[t->n - 1] / 2.0 - past, t->max, past);
}

static double part(double x, double from, double to)
{
    return (x - from) / (to - from);
}

double tdigest_cdf(const struct tdigest *t, double x)
{
    if (t->n == 0) {
        return NAN;
    }
    if (t->n == 1) {
        return x < t->mean[0] ? 0 : 1;
    }
    double before = 0, left = (t->mean[1] - t->mean[0]) / 2, right = left, count = (double)t->count;
    size_t i = 0;
    for (; i + 2 < t->n; i++) {
        if (x < t->mean[i] + right) {
            double v =
                (before + (double)t->weight[i] * part(x, t->mean[i] - left, t->mean[i] + right)) / count;
            return v > 0.0 ? v : 0.0;
        }
        before += (double)t->weight[i];
        left = right;
        right = (t->mean[i + 2] - t->mean[i + 1]) / 2;
    }
    if (x < t->mean[i] + right) {
        return (before + (double)t->weight[i] * part(x, t->mean[i] - left, t->mean[i] + right)) / count;
    }
    return 1;
}

void tdigest_encode(const struct tdigest *t, struct buf *out)
{
    put_f64(out, t->compression);
    put_f64(out, t->min);
    put_f64(out, t->max);
    put_varint(out, t->n);
    for (size_t i = 0; i < t->n; i++) {
        put_f64(out, t->mean[i]);
        put_varint(out, (uint64_t)t->weight[i]);
    }
}

struct tdigest *tdigest_decode(struct bytes_in *in, struct arena *arena)
{
    struct tdigest *t = tdigest_new(arena, get_f64(in));
    if (t == NULL) {
        return NULL;
    }
    t->min = get_f64(in);
    t->max = get_f64(in);
    t->n = get_count(in, 9);
    t->mean = ARENA_ARRAY(arena, double, t->n);
    t->weight = ARENA_ARRAY(arena, int64_t, t->n);
    t->cap_mean = t->cap_weight = t->n;
    if (t->mean == NULL || t->weight == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < t->n; i++) {
        t->mean[i] = get_f64(in);
        t->weight[i] = (int64_t)(get_varint(in) & INT32_MAX);
        in->bad |= isnan(t->mean[i]) || (i > 0 && t->mean[i] < t->mean[i - 1]);
        t->count += t->weight[i];
    }
    if (!(t->compression >= 0 && isfinite(t->compression))) {
        in->bad = true;
    }
    return t;
}
