#include "engine/index/merge_policy.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdlib.h>

#define MAX 4000

static struct merge_candidate segs[MAX];
static bool pick[MAX];
static size_t n;
static uint64_t written;

static size_t apply(void)
{
    struct merge_candidate out = {0};
    size_t m = 0, merged = 0;
    for (size_t i = 0; i < n; i++) {
        if (!pick[i]) {
            segs[m++] = segs[i];
            continue;
        }
        merged++;
        out.docs += segs[i].docs - segs[i].deleted;
        out.bytes += segs[i].bytes / segs[i].docs * (segs[i].docs - segs[i].deleted);
    }
    written += out.bytes;
    n = m;
    if (out.docs > 0) {
        segs[n++] = out;
    }
    return merged;
}

static void settle(const struct engine_merge_settings *s)
{
    for (unsigned rounds = 0;; rounds++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        size_t k = merge_policy_natural(segs, n, s, &a, pick);
        arena_fini(&a);
        ck_assert_uint_lt(rounds, 1000);
        if (k == 0) {
            return;
        }
        ck_assert_uint_le(k, s->max_merge_at_once);
        ck_assert_uint_eq(apply(), k);
    }
}

/* A growing index keeps few segments and writes each byte a logarithmic number of times. */
START_TEST(growing_index)
{
    struct engine_settings st;
    engine_settings_init(&st, NULL);
    struct rng r;
    rng_seed(&r, 3);
    n = 0;
    written = 0;
    uint64_t total = 0;
    for (int i = 0; i < 5000; i++) {
        uint32_t docs = 50 + (uint32_t)rng_below(&r, 2000);
        segs[n++] = (struct merge_candidate){(uint64_t)docs * 1000, docs, 0, false};
        total += (uint64_t)docs * 1000;
        settle(&st.merge);
        ck_assert_uint_le(n, 60);
    }
    ck_assert_uint_lt(written, 8 * total);
}
END_TEST

/* Updates at random: deletions never pile up far beyond what is allowed. */
START_TEST(deletions_are_reclaimed)
{
    struct engine_settings st;
    engine_settings_init(&st, NULL);
    struct rng r;
    rng_seed(&r, 4);
    n = 0;
    for (int i = 0; i < 3000; i++) {
        segs[n++] = (struct merge_candidate){1000000, 1000, 0, false};
        for (int k = 0; k < 1000 && n > 1 && i > 100; k++) {
            struct merge_candidate *c = &segs[rng_below(&r, n - 1)];
            c->deleted += c->deleted < c->docs;
        }
        settle(&st.merge);
        uint64_t docs = 0, deleted = 0;
        for (size_t k = 0; k < n; k++) {
            docs += segs[k].docs;
            deleted += segs[k].deleted;
        }
        ck_assert_uint_le(deleted * 100, docs * 45);
        ck_assert_uint_le(n, 80);
    }
}
END_TEST

START_TEST(forced_and_expunge)
{
    struct engine_settings st;
    engine_settings_init(&st, NULL);
    n = 12;
    for (size_t i = 0; i < n; i++) {
        segs[i] = (struct merge_candidate){1000 * (i + 1), 100, i % 3 == 0 ? 20 : 0, false};
    }
    ck_assert_uint_eq(merge_policy_expunge(segs, n, &st.merge, pick), 4);
    ck_assert_uint_eq(merge_policy_forced(segs, n, 5, pick), 8);
    apply();
    ck_assert_uint_eq(n, 5);
    ck_assert_uint_eq(merge_policy_forced(segs, n, 5, pick), 0);
    ck_assert_uint_eq(merge_policy_forced(segs, n, 1, pick), 5);
    apply();
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(merge_policy_forced(segs, n, 1, pick), 0);
    segs[0].deleted = 1;
    ck_assert_uint_eq(merge_policy_forced(segs, n, 1, pick), 1);
    segs[0].busy = true;
    ck_assert_uint_eq(merge_policy_forced(segs, n, 1, pick), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("merge_policy");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, growing_index);
    tcase_add_test(c, deletions_are_reclaimed);
    tcase_add_test(c, forced_and_expunge);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
