/* Sample hotels: the same on every machine, and such that the importer takes them. */
#include "common/base/hash.h"
#include "hotel/sample/sample.h"
#include "hotel/table.h"

#include <check.h>
#include <stdlib.h>

static void write_csv(struct buf *out, uint64_t seed, uint64_t n, struct arena *a)
{
    sample_csv_header(out);
    for (uint64_t i = 0; i < n; i++) {
        struct hotel h;
        ck_assert(sample_hotel(&h, seed, i, a));
        sample_csv_hotel(out, &h);
    }
}

#define SAMPLE_HASH 2508779845U /* of the first 1000 lines */

/* Changing what is generated changes demos and measurements: this number then changes knowingly. */
START_TEST(same_on_every_machine)
{
    struct arena a;
    struct buf b, c;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&c, NULL, BUF_UNLIMITED);
    write_csv(&b, SAMPLE_SEED, 1000, &a);
    write_csv(&c, 2, 1000, &a);
    ck_assert_uint_eq(hash_murmur3_32(b.p, b.n, 0), SAMPLE_HASH);
    ck_assert(!str_eq(buf_view(&b), buf_view(&c)));
    buf_fini(&b);
    buf_fini(&c);
    arena_fini(&a);
}
END_TEST

START_TEST(the_importer_takes_them)
{
    struct arena a;
    struct buf b;
    struct table t;
    struct hotel h;
    bool got = true;
    int64_t last = 0;
    unsigned n = 0, without_stars = 0, without_business = 0;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    write_csv(&b, 99, 5000, &a);
    ck_assert_int_eq(table_open(&t, buf_view(&b), &a, NULL), ERR_OK);
    while (got) {
        ERR_LOCAL(em);
        ck_assert_msg(table_next(&t, &a, &h, &got, &em) == ERR_OK, "%s", err_reason(&em));
        if (got) {
            ck_assert_int_gt(h.id, last);
            ck_assert_int_ge(h.score, 30);
            ck_assert_int_le(h.score, 50);
            ck_assert_int_ge(h.price, 50);
            last = h.id;
            n++;
            without_stars += h.star_name.p == NULL ? 1 : 0;
            without_business += h.business.p == NULL ? 1 : 0;
        }
    }
    ck_assert_uint_eq(n, 5000);
    ck_assert_uint_gt(without_stars, 0);
    ck_assert_uint_gt(without_business, 0);
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sample");
    TCase *t = tcase_create("sample");
    tcase_add_test(t, same_on_every_machine);
    tcase_add_test(t, the_importer_takes_them);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
