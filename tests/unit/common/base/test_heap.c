/* A heap gives its items in order, whatever moves up and down in it. */
#include <check.h>

#include "common/base/defs.h"
#include "common/base/heap.h"
#include "common/base/rand.h"

#define ITEMS_MAX 100

static bool less(const void *cx, const void *a, const void *b)
{
    int sign = *(const int *)cx;
    return sign * *(const int *)a < sign * *(const int *)b;
}

/* The root is what a search through all items finds, at every step. */
static void compare(struct rng *rng, int sign)
{
    int v[ITEMS_MAX], n = 0;
    for (int step = 0; step < 500; step++) {
        if (n < ITEMS_MAX && (n == 0 || rng_below(rng, 3) > 0)) {
            v[n] = (int)rng_below(rng, 20);
            heap_up(v, (size_t)n++, sizeof(*v), less, &sign);
        } else if (rng_below(rng, 2) == 0) {
            v[0] = v[--n];
            heap_down(v, (size_t)n, 0, sizeof(*v), less, &sign);
        } else {
            v[0] = (int)rng_below(rng, 20);
            heap_down(v, (size_t)n, 0, sizeof(*v), less, &sign);
        }
        for (int i = 1; i < n; i++) {
            ck_assert(!less(&sign, &v[i], &v[0]));
            ck_assert(!less(&sign, &v[i], &v[(i - 1) / 2]));
        }
    }
}

START_TEST(root_is_first)
{
    struct rng rng;
    rng_seed(&rng, (uint64_t)_i + 1);
    compare(&rng, 1);
    compare(&rng, -1);
}
END_TEST

/* Of equal children the left one moves up: queues of Elasticsearch's do so, and answers show it. */
START_TEST(left_goes_first)
{
    struct {
        int key, name;
    } v[] = {{9, 0}, {1, 1}, {1, 2}};
    int sign = 1;
    heap_down(v, ARRAY_LEN(v), 0, sizeof(*v), less, &sign);
    ck_assert(v[0].name == 1 && v[1].name == 0 && v[2].name == 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("heap");
    TCase *c = tcase_create("heap");
    tcase_add_loop_test(c, root_is_first, 0, 20);
    tcase_add_test(c, left_goes_first);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
