/* Published bytes come out as they went in, and damaged ones are refused. */
#include "common/base/rand.h"
#include "master/state_pack.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct rng *r, char *p, size_t n, bool repeats)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = repeats && i >= 40 ? p[i - 40] : (char)rng_u64(r);
    }
}

START_TEST(what_goes_in_comes_out)
{
    struct rng r;
    ERR_LOCAL(em);
    char bytes[9000];
    rng_seed(&r, (uint64_t)_i);
    size_t n = _i == 0 ? 0 : rng_below(&r, sizeof(bytes));
    bool repeats = (_i & 1) != 0;
    fill(&r, bytes, n, repeats);
    struct buf packed;
    struct arena a;
    struct str out;
    buf_init(&packed, NULL, BUF_UNLIMITED);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    state_pack(str_mk(bytes, n), &packed);
    ck_assert(!packed.failed);
    ck_assert_uint_le(packed.n, n + 1); /* never longer, but for saying so */
    ck_assert(!repeats || n < 2000 || packed.n < n / 2);
    ck_assert_int_eq(state_unpack(&out, buf_view(&packed), &a, &em), ERR_OK);
    ck_assert_uint_eq(out.n, n);
    ck_assert(n == 0 || memcmp(out.p, bytes, n) == 0);
    for (unsigned k = 0; k < 50 && packed.n > 0;
         k++) { /* damaged, or cut: refused, or something else, never read outside */
        size_t at = rng_below(&r, (uint32_t)packed.n);
        char was = packed.p[at];
        packed.p[at] = (char)(was ^ (1 << rng_below(&r, 8)));
        (void)!state_unpack(&out, buf_view(&packed), &a, &em);
        packed.p[at] = was;
        char *cut = malloc(at + 1); /* its end is where the sanitizer looks */
        memcpy(cut, packed.p, at);
        (void)!state_unpack(&out, str_mk(cut, at), &a, &em);
        free(cut);
        arena_reset(&a);
    }
    buf_fini(&packed);
    arena_fini(&a);
}
END_TEST

START_TEST(lengths_are_not_believed)
{
    static const char *const wrong[] = {"", "\xff\xff\xff\xff\x07x", "\x90\x4e\x1f", "\x02xxxx",
                                        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"};
    ERR_LOCAL(em);
    struct arena a;
    struct str out;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(state_unpack(&out, str_of(wrong[i]), &a, &em), ERR_CORRUPT);
    }
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("state_pack");
    TCase *t = tcase_create("state_pack");
    tcase_add_loop_test(t, what_goes_in_comes_out, 0, 100);
    tcase_add_test(t, lengths_are_not_believed);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
