/* The best of scored terms, against sorting; ties by the places of the heap, as Lucene's queue leaves them. */
#include "engine/query/term_queue.h"

#include "common/base/rand.h"
#include "common/base/sort_items.h"

#include <check.h>
#include <stdlib.h>

static int by_score(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

START_TEST(best)
{
    struct rng rng;
    rng_seed(&rng, 11);
    for (int round = 0; round < 200; round++) {
        struct arena arena;
        struct term_queue q;
        struct scored_term t;
        float scores[64];
        size_t n = rng_u64(&rng) % 64, max = rng_u64(&rng) % 20;
        arena_init(&arena, NULL, ARENA_UNLIMITED);
        ck_assert(term_queue_init(&q, max, &arena));
        for (size_t i = 0; i < n; i++) {
            scores[i] = (float)(rng_u64(&rng) % 16);
            term_queue_offer(&q, (struct scored_term){.score = scores[i], .at = i});
        }
        sort_items(scores, n, sizeof(*scores), by_score);
        size_t kept = n < max ? n : max;
        for (size_t i = 0; i < kept; i++) {
            ck_assert(term_queue_take(&q, &t));
            ck_assert(t.score == scores[n - kept + i]);
        }
        ck_assert(!term_queue_take(&q, &t));
        arena_fini(&arena);
    }
}
END_TEST

START_TEST(ties)
{
    struct arena arena;
    struct term_queue q;
    struct scored_term t;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    ck_assert(term_queue_init(&q, 2, &arena));
    for (size_t i = 0; i < 4; i++) { /* the first ones stay */
        term_queue_offer(&q, (struct scored_term){.score = 1, .at = i});
    }
    ck_assert(term_queue_take(&q, &t) && t.at == 0);
    ck_assert(term_queue_take(&q, &t) && t.at == 1);
    ck_assert(term_queue_init(&q, 3, &arena)); /* the last one takes the place of the one that came out */
    for (size_t i = 0; i < 3; i++) {
        term_queue_offer(&q, (struct scored_term){.score = 1, .at = i});
    }
    ck_assert(term_queue_take(&q, &t) && t.at == 0);
    ck_assert(term_queue_take(&q, &t) && t.at == 2);
    ck_assert(term_queue_take(&q, &t) && t.at == 1);
    ck_assert(!term_queue_init(&q, SIZE_MAX / 2, &arena));
    arena_fini(&arena);
}
END_TEST

START_TEST(idf)
{
    ck_assert_float_eq(term_classic_idf(2, 2), 1.0F);
    ck_assert_float_eq(term_classic_idf(1, 2), 1.4054651F);
    ck_assert_float_eq(term_classic_idf(0, 0), 1.0F);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("term_queue");
    TCase *t = tcase_create("all");
    tcase_add_test(t, best);
    tcase_add_test(t, ties);
    tcase_add_test(t, idf);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
