/* Against values that Java's String.hashCode() gives, and a map's growth. */
#include "common/base/java_hash.h"

#include <check.h>

START_TEST(hashes)
{
    ck_assert_int_eq(java_string_hash(STR("")), 0);
    ck_assert_int_eq(java_string_hash(STR("a")), 97);
    ck_assert_int_eq(java_string_hash(STR("hello")), 99162322);
    ck_assert_int_eq(java_string_hash(STR("polygenelubricants")), INT32_MIN);
    ck_assert_int_eq(java_string_hash(STR("\xe4\xb8\xad")), 0x4e2d);
    ck_assert_int_eq(java_string_hash(STR("\xf0\x9f\x98\x80")), 0xd83d * 31 + 0xde00);
}
END_TEST

START_TEST(buckets)
{
    ck_assert_uint_eq(java_map_buckets(0), 16);
    ck_assert_uint_eq(java_map_buckets(12), 16);
    ck_assert_uint_eq(java_map_buckets(13), 32);
    ck_assert_uint_eq(java_map_buckets(24), 32);
    ck_assert_uint_eq(java_map_buckets(25), 64);
    ck_assert_uint_eq(java_map_bucket(STR("a"), 16), 1);
    ck_assert_uint_eq(java_map_bucket(STR("hello"), 16), (99162322U ^ 99162322U >> 16) & 15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("java_hash");
    TCase *tc = tcase_create("order");
    tcase_add_test(tc, hashes);
    tcase_add_test(tc, buckets);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
