#include "engine/index/op_ids.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdlib.h>

#define SESSIONS 3
#define COUNTERS 4000
#define NEVER    (-5000)

static int64_t seen_at[SESSIONS][COUNTERS], seq_of[SESSIONS][COUNTERS];

/* Remembered exactly as long as neither its time nor an answer has passed, in the order of arrival. */
START_TEST(random_against_model)
{
    struct rng r;
    rng_seed(&r, (uint64_t)_i);
    for (unsigned s = 0; s < SESSIONS; s++) {
        for (unsigned c = 0; c < COUNTERS; c++) {
            seen_at[s][c] = NEVER;
        }
    }
    struct op_ids o;
    op_ids_init(&o, alloc_default());
    uint64_t next[SESSIONS] = {1, 1, 1};
    int64_t now = 0, horizon = -1000;
    for (int64_t seq = 0; seq < 6000; seq++) {
        unsigned k = (unsigned)rng_below(&r, SESSIONS);
        if (next[k] >= COUNTERS) {
            continue;
        }
        now += (int64_t)rng_below(&r, 3);
        uint64_t what = rng_below(&r, 100);
        if (what < 90) {
            uint64_t c = next[k]++;
            ck_assert_int_eq(op_ids_reserve(&o, NULL), ERR_OK);
            op_ids_add(&o, &(struct op_seen){.id = {k + 1, c}, .at_ms = now, .seq_no = seq});
            seen_at[k][c] = now;
            seq_of[k][c] = seq;
        } else if (what < 97) {
            int64_t back = (int64_t)rng_below(&r, 300);
            horizon = MAX_OF(horizon, now - back);
            op_ids_expire(&o, horizon);
        } else {
            op_ids_rollback(&o, seq - (int64_t)rng_below(&r, 20));
            for (unsigned s = 0; s < SESSIONS; s++) { /* believe it: checked below by the others */
                for (uint64_t c = 1; c < COUNTERS; c++) {
                    if (seen_at[s][c] >= 0 && op_ids_find(&o, (struct op_id){s + 1, c}) == NULL) {
                        ck_assert(seen_at[s][c] < horizon || seq_of[s][c] > seq - 20);
                        seen_at[s][c] = NEVER;
                    }
                }
            }
        }
        uint64_t c = rng_below(&r, next[k]);
        const struct op_seen *e = op_ids_find(&o, (struct op_id){k + 1, c});
        if (e != NULL) {
            ck_assert(seen_at[k][c] >= 0 && e->seq_no == seq_of[k][c]);
        } else {
            ck_assert(seen_at[k][c] < horizon);
            ck_assert(seen_at[k][c] == NEVER || op_ids_answered(&o, (struct op_id){k + 1, c}));
        }
        ck_assert(!op_ids_answered(&o, (struct op_id){k + 1, next[k]}));
    }
    op_ids_fini(&o);
}
END_TEST

START_TEST(answers_free_memory)
{
    struct op_ids o;
    op_ids_init(&o, alloc_default());
    for (uint64_t c = 1; c <= 100000; c++) {
        op_ids_settle(&o, 9, c > 10 ? c - 10 : 0);
        op_ids_expire(&o, 0);
        ck_assert_int_eq(op_ids_reserve(&o, NULL), ERR_OK);
        op_ids_add(&o, &(struct op_seen){.id = {9, c}, .at_ms = 5, .seq_no = (int64_t)c});
        ck_assert_uint_le(o.n, 11);
    }
    ck_assert(op_ids_find(&o, (struct op_id){9, 100000 - 10}) != NULL);
    ck_assert(op_ids_find(&o, (struct op_id){9, 100}) == NULL);
    ck_assert(op_ids_answered(&o, (struct op_id){9, 100}));
    ck_assert(!op_ids_answered(&o, (struct op_id){9, 100000 - 10}));
    ck_assert(!op_ids_answered(&o, (struct op_id){8, 100}));
    ck_assert_uint_lt(op_ids_bytes(&o), 64 * KIB);
    op_ids_fini(&o);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("op_ids");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, random_against_model, 0, 8);
    tcase_add_test(c, answers_free_memory);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
