/* The mapping's own "_routing" counts, not what looks like it elsewhere. */
#include "coordinator/core/routing_required.h"

#include <check.h>

START_TEST(own_alone)
{
    ck_assert(routing_required(STR("{\"_routing\":{\"required\":true}}")));
    ck_assert(routing_required(
        STR("{\"_meta\":{\"a\":[\"}\\\"{\"]},\"_routing\":{\"required\":true},\"properties\":{}}")));
    ck_assert(!routing_required(STR("{}")));
    ck_assert(!routing_required(STR("{\"_routing\":{\"required\":false}}")));
    ck_assert(!routing_required(STR("{\"_meta\":{\"_routing\":{\"required\":true}}}")));
    ck_assert(!routing_required(STR("{\"_meta\":[{\"_routing\":{\"required\":true}}],\"properties\":{}}")));
    ck_assert(!routing_required(STR("{\"_meta\":{\"a\":\"{\\\"_routing\\\":{\\\"required\\\":true}\"}}")));
    ck_assert(
        !routing_required(STR("{\"_meta\":{\"a\":\"\\\\\"},\"b\":{\"_routing\":{\"required\":true}}}")));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("routing required");
    TCase *c = tcase_create("routing required");
    tcase_add_test(c, own_alone);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
