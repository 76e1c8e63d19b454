/* Against values that Java's String.hashCode() gives, and a map's growth. */
#include "common/base/java_hash.h"

#include <check.h>
#include <stdlib.h>

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

/* Many, in a moment, as few: by buckets, and in one bucket as they came. */
START_TEST(sorted_by_bucket)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (size_t n = 0; n <= 200000; n = n < 40 ? n + 1 : n * 5) {
        struct str *v = ARENA_ARRAY(&a, struct str, n);
        for (size_t i = 0; i < n; i++) {
            v[i] = arena_printf(&a, "k%zu", i);
        }
        java_set_order(v, n);
        uint32_t many = java_map_buckets(n);
        for (size_t i = 1; i < n; i++) {
            uint32_t x = java_map_bucket(v[i - 1], many), y = java_map_bucket(v[i], many);
            ck_assert(x < y || (x == y && atoi(v[i - 1].p + 1) < atoi(v[i].p + 1)));
        }
        arena_reset(&a);
    }
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("java_hash");
    TCase *tc = tcase_create("order");
    tcase_add_test(tc, hashes);
    tcase_add_test(tc, buckets);
    tcase_add_test(tc, sorted_by_bucket);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
