/* Waits end in their own time, whatever the time of day does. */
#include "master/wait_clock.h"

#include <check.h>
#include <stdlib.h>

#define HOUR 3600000LL

static struct cluster_state *state_with(int64_t at_ms, enum copy_state copy)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    struct index_routing *r = index_routing_new(STR("i"), STR("u"), 2, 1);
    r->shards[1].copies[1].state = copy;
    r->shards[1].copies[1].trouble.at_ms = at_ms;
    ck_assert(state_put_routing(&b, r));
    struct cluster_state *s = state_builder_seal(&b, STR("uuid"));
    ck_assert_ptr_nonnull(s);
    return s;
}

START_TEST(it_begins_no_earlier_than_what_waits)
{
    struct wait_clock k;
    struct cluster_state *s = state_with(5 * HOUR, COPY_UNASSIGNED);
    wait_clock_begin(&k, s, 100, 2 * HOUR); /* who noted it was ahead by three hours */
    ck_assert_int_eq(wait_clock_ms(&k, 100), 5 * HOUR);
    ck_assert_int_eq(wait_clock_ms(&k, 1100), 5 * HOUR + 1000);
    wait_clock_begin(&k, s, 100, 6 * HOUR);
    ck_assert_int_eq(wait_clock_ms(&k, 100), 6 * HOUR);
    cluster_state_unref(s);
    s = state_with(5 * HOUR, COPY_STARTED); /* it waits no more */
    wait_clock_begin(&k, s, 100, 2 * HOUR);
    ck_assert_int_eq(wait_clock_ms(&k, 200), 2 * HOUR + 100);
    cluster_state_unref(s);
    wait_clock_begin(&k, NULL, 100, 2 * HOUR);
    ck_assert_int_eq(wait_clock_ms(&k, 100), 2 * HOUR);
}
END_TEST

START_TEST(it_never_goes_back)
{
    struct wait_clock k;
    wait_clock_begin(&k, NULL, 0, 10 * HOUR);
    wait_clock_catch_up(&k, 1000, 2 * HOUR);
    ck_assert_int_eq(wait_clock_ms(&k, 1000), 10 * HOUR + 1000);
    wait_clock_catch_up(&k, 2000, 11 * HOUR);
    ck_assert_int_eq(wait_clock_ms(&k, 2500), 11 * HOUR + 500);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wait_clock");
    TCase *t = tcase_create("wait_clock");
    tcase_add_test(t, it_begins_no_earlier_than_what_waits);
    tcase_add_test(t, it_never_goes_back);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
