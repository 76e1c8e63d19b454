/* Arrays are sorted; none at all stands at no address. */
#include <check.h>

#include "common/base/defs.h"
#include "common/base/sort_items.h"

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int never(const void *a, const void *b)
{
    (void)a;
    (void)b;
    ck_abort_msg("nothing is to be compared");
    return 0;
}

START_TEST(nothing_is_not_looked_at)
{
    int one = 7;
    sort_items(NULL, 0, sizeof(int), never);
    sort_items(NULL, 1, sizeof(int), never);
    sort_items(&one, 1, sizeof(int), never);
    ck_assert_int_eq(one, 7);
}
END_TEST

START_TEST(items_are_in_order)
{
    int v[] = {3, -1, 2, 3, 0};
    sort_items(v, ARRAY_LEN(v), sizeof(*v), by_value);
    for (size_t i = 1; i < ARRAY_LEN(v); i++) {
        ck_assert_int_le(v[i - 1], v[i]);
    }
    ck_assert_int_eq(v[0], -1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sort_items");
    TCase *tc = tcase_create("sort_items");
    tcase_add_test(tc, nothing_is_not_looked_at);
    tcase_add_test(tc, items_are_in_order);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
