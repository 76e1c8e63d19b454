#include "engine/collect/score_heap.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdlib.h>

struct pair {
    float score;
    uint32_t doc;
};

static int better_first(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->doc < y->doc ? -1 : 1;
}

static float random_score(struct rng *r, bool few)
{
    static const float odd[] = {0.0F, -0.0F, -1.5F, 1e-40F, 3e38F, INFINITY, 1.0F};
    if (rng_below(r, 10) == 0) {
        return odd[rng_below(r, sizeof(odd) / sizeof(odd[0]))];
    }
    return few ? (float)rng_below(r, 5) : (float)(rng_double(r) * 30);
}

START_TEST(keeps_the_best)
{
    static const uint32_t sizes[] = {1, 2, 3, 10, 255, 256, 257, 1000, 5000};
    struct rng r;
    rng_seed(&r, (uint64_t)_i);
    uint32_t k = sizes[_i % 9], n = (uint32_t)rng_below(&r, 4 * k + 10);
    struct pair *all = malloc(((size_t)n + 1) * sizeof(*all));
    struct score_heap h;
    ck_assert(all != NULL && score_heap_init(&h, k));
    for (uint32_t i = 0; i < n; i++) {
        all[i] = (struct pair){random_score(&r, _i % 2 == 0), 3 * i};
        float min = score_heap_min(&h);
        bool in = h.n < k || all[i].score > min;
        uint64_t before = h.n == k ? h.v[0] : 0;
        score_heap_add(&h, all[i].score, all[i].doc);
        ck_assert(h.n < k || in == (h.v[0] != before) || i < k);
    }
    qsort(all, n, sizeof(*all), better_first);
    ck_assert_uint_eq(h.n, n < k ? n : k);
    if (n >= k) {
        ck_assert(score_heap_min(&h) == all[k - 1].score);
    }
    score_heap_sort(&h);
    for (uint32_t i = 0; i < h.n; i++) {
        ck_assert(score_key_score(h.v[i]) == all[i].score);
        ck_assert_uint_eq(score_key_doc(h.v[i]), all[i].doc);
    }
    score_heap_fini(&h);
    free(all);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("score_heap");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, keeps_the_best, 0, 90);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
