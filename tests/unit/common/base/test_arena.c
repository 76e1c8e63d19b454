/* Arenas: what is small stays small, and grows like any other. */
#include "common/base/arena.h"

#include <check.h>
#include <stdlib.h>

START_TEST(begins_small)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert(arena_begin(&a, 512));
    ck_assert_uint_lt(a.bytes_used, 512);
    char *v[100];
    for (int i = 0; i < 100; i++) {
        v[i] = arena_alloc(&a, 100);
        ck_assert_ptr_nonnull(v[i]);
        memset(v[i], i, 100);
    }
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(v[i][0], i);
        ck_assert_int_eq(v[i][99], i);
    }
    ck_assert_uint_lt(a.bytes_used, 40000);
    arena_reset(&a);
    size_t kept = a.bytes_used;
    ck_assert(arena_begin(&a, 512)); /* there is a chunk already */
    ck_assert_uint_eq(a.bytes_used, kept);
    arena_fini(&a);
}
END_TEST

START_TEST(begins_within_its_limit)
{
    struct arena a;
    arena_init(&a, NULL, 100);
    ck_assert(!arena_begin(&a, 512));
    ck_assert_ptr_nonnull(arena_alloc(&a, 50));
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("arena");
    TCase *c = tcase_create("all");
    tcase_add_test(c, begins_small);
    tcase_add_test(c, begins_within_its_limit);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
