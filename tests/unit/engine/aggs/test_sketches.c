/* The sketches alone: against sorted values and sets, merged and read back. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/rand.h"
#include "engine/aggs/hdr.h"
#include "engine/aggs/hll.h"
#include "engine/aggs/tdigest.h"

#define N 20000

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill(struct rng *r, double *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double x = rng_double(r);
        v[i] = floor(x * x * 100000) / 8;
    }
}

START_TEST(digest)
{
    static double v[N];
    struct arena a;
    struct rng r;
    struct buf b;
    uint32_t n = _i == 0 ? 1 : _i == 1 ? 50 : N;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    rng_seed(&r, (uint64_t)_i + 3);
    fill(&r, v, n);
    struct tdigest *t = tdigest_new(&a, 100);
    for (uint32_t i = 0; i < n; i++) {
        tdigest_add(t, v[i], 1);
    }
    ck_assert(!t->failed);
    qsort(v, n, sizeof(v[0]), by_value);
    buf_init(&b, NULL, BUF_UNLIMITED);
    tdigest_encode(t, &b);
    struct bytes_in in = bytes_in(buf_view(&b));
    struct tdigest *again = tdigest_decode(&in, &a);
    ck_assert(!in.bad && again != NULL);
    for (uint32_t k = 0; k <= 100; k++) {
        double q = k / 100.0, got = tdigest_quantile(t, q), slack = 0.01 * n + 2;
        ck_assert(got == tdigest_quantile(again, q));
        double lo = v[(uint32_t)fmax(q * n - slack, 0)], hi = v[(uint32_t)fmin(q * n + slack, n - 1)];
        ck_assert_msg(got >= lo && got <= hi, "%u%%: %g", k, got);
        if (k > 0 && n > 1) {
            ck_assert(got >= tdigest_quantile(t, (k - 1) / 100.0));
        }
    }
    ck_assert(tdigest_cdf(t, v[0] - 1) == 0 && tdigest_cdf(t, v[n - 1] + 1) == 1);
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

/* Exact below the threshold, within a few percent above; a merge counts the union, however it is split. */
START_TEST(distinct)
{
    struct arena a;
    struct rng r;
    struct buf b;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    rng_seed(&r, (uint64_t)_i + 9);
    uint32_t n = _i % 2 == 0 ? 500 : N;
    struct hll *whole = hll_new(&a, 14), *part[3];
    for (int k = 0; k < 3; k++) {
        part[k] = hll_new(&a, 14);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h = hll_hash_i64((int64_t)i * 7);
        hll_add(whole, h);
        for (uint64_t times = 1 + rng_below(&r, 3); times > 0; times--) {
            hll_add(part[rng_below(&r, 3)], h);
        }
    }
    hll_merge(part[0], part[1]);
    hll_merge(part[0], part[2]);
    ck_assert_int_eq(hll_count(part[0]), hll_count(whole));
    double off = fabs((double)hll_count(whole) - n);
    ck_assert_msg(n == 500 ? off == 0 : off < 0.03 * n, "%lld of %u", (long long)hll_count(whole), n);
    buf_init(&b, NULL, BUF_UNLIMITED);
    hll_encode(whole, &b);
    struct bytes_in in = bytes_in(buf_view(&b));
    struct hll *again = hll_decode(&in, &a);
    ck_assert(!in.bad && again != NULL);
    ck_assert_int_eq(hll_count(again), hll_count(whole));
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

/* The nearest rank's value, to as many digits as asked for. */
START_TEST(steps)
{
    static double v[N];
    struct arena a;
    struct rng r;
    int digits = 1 + _i;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    rng_seed(&r, (uint64_t)_i + 17);
    fill(&r, v, N);
    struct hdr *h = hdr_new(&a, digits), *half = hdr_new(&a, digits);
    for (uint32_t i = 0; i < N; i++) {
        hdr_add(i % 2 == 0 ? h : half, v[i] + 1);
    }
    hdr_merge(h, half);
    ck_assert(!h->failed && h->total == N);
    qsort(v, N, sizeof(v[0]), by_value);
    for (uint32_t k = 1; k <= 100; k++) {
        uint32_t rank = (uint32_t)(k / 100.0 * N + 0.5);
        double want = v[rank - 1] + 1, got = hdr_percentile(h, k);
        ck_assert_msg(fabs(got - want) <= want * pow(10, -digits) * 1.01, "%u%%: %g, want %g", k, got, want);
    }
    hdr_add(h, -1);
    ck_assert(h->negative);
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sketches");
    TCase *c = tcase_create("sketches");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, digest, 0, 4);
    tcase_add_loop_test(c, distinct, 0, 4);
    tcase_add_loop_test(c, steps, 0, 4);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
