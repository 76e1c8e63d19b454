#include "engine/index/checkpoint.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdlib.h>

#define N 3000

static void compare(const struct seq_tracker *t, const bool *seen, int64_t start)
{
    int64_t cp = start, max = start;
    while (cp + 1 < N && seen[cp + 1]) {
        cp++;
    }
    for (int64_t i = start + 1; i < N; i++) {
        max = seen[i] ? i : max;
        ck_assert(seq_tracker_has(t, i) == seen[i]);
    }
    ck_assert_int_eq(t->checkpoint, cp);
    ck_assert_int_eq(t->max, MAX_OF(max, cp));
    ck_assert_int_eq(seq_tracker_gap(t, 0), cp + 1);
}

/* Numbers arrive in a window that moves, some twice, some late. */
START_TEST(random_order)
{
    struct rng r;
    rng_seed(&r, (uint64_t)_i);
    int64_t start = _i % 3 == 0 ? -1 : (int64_t)rng_below(&r, 200);
    struct seq_tracker t;
    seq_tracker_init(&t, alloc_default(), start);
    static bool seen[N];
    memset(seen, 0, sizeof(seen));
    for (int64_t i = 0; i <= start; i++) {
        seen[i] = true;
    }
    int64_t window = 1 + (int64_t)rng_below(&r, 400);
    for (int64_t at = start + 1; at < N;) {
        int64_t step = (int64_t)rng_below(&r, (uint64_t)window) - window / 2, seq = MIN_OF(N - 1, at + step);
        if (rng_below(&r, 2) == 0) {
            seq = seq_tracker_gap(&t, at - window);
            at += (int64_t)rng_below(&r, 3);
        }
        if (seq < 0 || seq >= N) {
            continue;
        }
        ck_assert_int_eq(seq_tracker_reserve(&t, seq, NULL), ERR_OK);
        seq_tracker_mark(&t, seq);
        seen[seq] = true;
        if (rng_below(&r, 50) == 0) {
            compare(&t, seen, start);
        }
    }
    compare(&t, seen, start);
    seq_tracker_fini(&t);
}
END_TEST

START_TEST(far_away_is_refused)
{
    struct seq_tracker t;
    seq_tracker_init(&t, alloc_default(), 5);
    ck_assert_int_eq(seq_tracker_reserve(&t, INT64_MAX - 1, NULL), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(seq_tracker_reserve(&t, 5 + SEQ_GAP_MAX, NULL), ERR_OK);
    seq_tracker_fini(&t);
}
END_TEST

START_TEST(no_memory_changes_nothing)
{
    struct alloc_failing f;
    alloc_failing_init(&f, 1);
    struct seq_tracker t;
    seq_tracker_init(&t, &f.base, -1);
    ck_assert_int_eq(seq_tracker_reserve(&t, 0, NULL), ERR_OK);
    seq_tracker_mark(&t, 0);
    ck_assert_int_eq(seq_tracker_reserve(&t, 2, NULL), ERR_NO_MEMORY);
    ck_assert(!seq_tracker_has(&t, 2));
    ck_assert_int_eq(t.checkpoint, 0);
    seq_tracker_fini(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checkpoint");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, random_order, 0, 40);
    tcase_add_test(c, far_away_is_refused);
    tcase_add_test(c, no_memory_changes_nothing);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
