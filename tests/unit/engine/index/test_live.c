#include "engine/index/live.h"

#include "common/base/bits.h"
#include "common/base/rand.h"

#include <check.h>
#include <stdlib.h>

#define N 1000

START_TEST(kills_whole_blocks)
{
    struct rng r;
    rng_seed(&r, (uint64_t)_i);
    uint32_t n = 1 + (uint32_t)rng_below(&r, N);
    uint64_t roots[N / 64 + 1] = {0};
    bool alive[N], nested = _i % 2 == 1;
    for (uint32_t d = 0; d < n; d++) {
        alive[d] = true;
        if (d + 1 == n || !nested || rng_below(&r, 3) == 0) {
            bits_set(roots, d);
        }
    }
    const uint64_t *given = nested ? roots : NULL;
    struct live *l = live_new(alloc_default(), n, given);
    for (int i = 0; i < 300; i++) {
        doc_id d = (doc_id)rng_below(&r, n);
        if (!bits_test(roots, d)) {
            continue;
        }
        ck_assert(live_kill(l, given, d) == alive[d]);
        alive[d] = false;
        while (d > 0 && !bits_test(roots, d - 1)) {
            alive[--d] = false;
        }
    }
    uint32_t live = 0, live_roots = 0;
    for (uint32_t d = 0; d < n; d++) {
        ck_assert(live_test(l, d) == alive[d]);
        live += alive[d];
        live_roots += alive[d] && bits_test(roots, d);
    }
    ck_assert_uint_eq(l->n_live, live);
    ck_assert_uint_eq(l->n_roots, live_roots);

    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    live_encode(l, 7, &b);
    struct live *back;
    ck_assert_int_eq(live_decode(&back, buf_view(&b), 7, n, given, alloc_default(), NULL), ERR_OK);
    ck_assert_uint_eq(back->n_live, live);
    ck_assert_uint_eq(back->n_roots, live_roots);
    ck_assert_int_eq(memcmp(back->words, l->words, bits_words(n) * 8), 0);
    live_unref(back);
    ck_assert_int_eq(live_decode(&back, buf_view(&b), 8, n, given, alloc_default(), NULL), ERR_CORRUPT);
    ck_assert_int_eq(live_decode(&back, buf_view(&b), 7, n + 64, given, alloc_default(), NULL), ERR_CORRUPT);
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
        ck_assert_int_eq(live_decode(&back, buf_view(&b), 7, n, given, alloc_default(), NULL), ERR_CORRUPT);
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t cut = 0; cut < b.n; cut++) {
        ck_assert_int_eq(live_decode(&back, str_mk(b.p, cut), 7, n, given, alloc_default(), NULL),
                         ERR_CORRUPT);
    }
    struct live *copy = live_copy(l);
    ck_assert_uint_eq(copy->n_live, live);
    live_unref(copy);
    live_unref(l);
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("live");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, kills_whole_blocks, 0, 20);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
