/* The cores of coordination are deterministic: the calls that were made of them are made of fresh ones, and the same comes of it. */
#include "tests/sim/core_trace.h"
#include "tests/unit/master/quorum_world.h"

#include <check.h>

START_TEST(test_coordination)
{
    struct core_traces_sum sum;
    char what[256] = "";
    core_traces_begin(&(struct core_traces_opts){.whole = true});
    world_open(3, (uint64_t)_i + 1);
    ck_assert(world_settles_within(20000));
    for (int i = 0; i < 20; i++) {
        world_client();
        world_run_until(quorum_world.now + 100);
    }
    world_crash(world_leader_now());
    ck_assert(world_settles_within(20000));
    world_close();
    ck_assert_msg(core_traces_replay(&sum, what, sizeof(what)), "%s", what);
    ck_assert_uint_ge(sum.cores[0], 4);
    ck_assert_uint_gt(sum.steps, 500);
    core_traces_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("core_trace_quorum");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_coordination, 0, 5);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
