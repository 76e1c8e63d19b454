#include "engine/index/manifest.h"

#include "common/base/hash.h"
#include "common/base/rand.h"

#include <check.h>
#include <stdlib.h>

static void sample(struct manifest *m, struct manifest_segment segs[3])
{
    segs[0] = (struct manifest_segment){3, 1000, 77, 81, 50, 40, 30, 9, 48, 78};
    segs[1] = (struct manifest_segment){4, 2000, 79, 82, 60, 60, 60, 0, 0, 0};
    segs[2] = (struct manifest_segment){8, 10, 80, 83, 1, 1, 1, 0, 0, 0};
    *m = (struct manifest){.generation = 12,
                           .shard = 3,
                           .uuid = "abcdef",
                           .next_number = 10,
                           .max_seq_no = 99,
                           .local_checkpoint = 97,
                           .global_checkpoint = 95,
                           .translog_generation = 4,
                           .translog_id = 77,
                           .mapping_version = 6,
                           .max_auto_id_ms = -1,
                           .user_data = STR("history"),
                           .op_names = STR("names"),
                           .segments = segs,
                           .n_segments = 3};
}

START_TEST(round_trip_and_every_flip)
{
    struct manifest m, back;
    struct manifest_segment segs[3];
    sample(&m, segs);
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    manifest_encode(&m, &b);
    ck_assert_int_eq(manifest_decode(&back, buf_view(&b), &a, NULL), ERR_OK);
    ck_assert_str_eq(back.uuid, "abcdef");
    ck_assert(back.max_seq_no == 99 && back.local_checkpoint == 97 && back.global_checkpoint == 95);
    ck_assert(back.translog_generation == 4 && back.translog_id == 77 && back.mapping_version == 6
              && back.max_auto_id_ms == -1);
    ck_assert(back.shard == 3 && back.next_number == 10 && back.n_segments == 3);
    ck_assert(str_is(back.user_data, "history") && str_is(back.op_names, "names"));
    for (size_t i = 0; i < 3; i++) {
        const struct manifest_segment *x = &back.segments[i], *y = &segs[i];
        ck_assert(x->number == y->number && x->bytes == y->bytes && x->checksum == y->checksum
                  && x->footer == y->footer && x->docs == y->docs);
        ck_assert(x->live_docs == y->live_docs && x->live_roots == y->live_roots);
        ck_assert(x->live_generation == y->live_generation && x->live_bytes == y->live_bytes);
        ck_assert(x->live_checksum == y->live_checksum);
    }
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
        ck_assert_int_eq(manifest_decode(&back, buf_view(&b), &a, NULL), ERR_CORRUPT);
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t n = 0; n < b.n; n++) {
        ck_assert_int_eq(manifest_decode(&back, str_mk(b.p, n), &a, NULL), ERR_CORRUPT);
    }
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

/* Of before there were footers and names of operations. */
START_TEST(version_1)
{
    struct manifest m, back;
    struct manifest_segment segs[3];
    struct buf b;
    struct arena a;
    sample(&m, segs);
    m.n_segments = 0;
    m.op_names = STR("");
    buf_init(&b, NULL, BUF_UNLIMITED);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    manifest_encode(&m, &b);
    b.p[8] = 1;
    b.n -= 8 + 1 + 8; /* the names, of which there are none, and the log's id */
    uint64_t h = hash_bytes(b.p, b.n, 0);
    memcpy(b.p + b.n, &h, 8);
    ck_assert_int_eq(manifest_decode(&back, str_mk(b.p, b.n + 8), &a, NULL), ERR_OK);
    ck_assert(back.max_seq_no == 99 && back.op_names.n == 0 && back.generation == 12);
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

/* Bytes whose checksum is right but whose content was made up must be refused or make sense. */
START_TEST(made_up_bytes)
{
    struct manifest m, back;
    struct manifest_segment segs[3];
    sample(&m, segs);
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    manifest_encode(&m, &b);
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < 20000; i++) {
        struct arena a;
        arena_init(&a, NULL, 16 * MIB);
        char copy[512];
        size_t n = b.n;
        memcpy(copy, b.p, n);
        for (unsigned k = 0; k < 1 + rng_below(&r, 4); k++) {
            copy[12 + rng_below(&r, n - 20)] = (char)rng_u64(&r);
        }
        if (rng_below(&r, 4) == 0) {
            n = 32 + rng_below(&r, n - 32);
        }
        uint64_t h = hash_bytes(copy, n - 8, 0);
        memcpy(copy + n - 8, &h, 8);
        enum err e = manifest_decode(&back, str_mk(copy, n), &a, NULL);
        ck_assert(e == ERR_OK || e == ERR_CORRUPT);
        if (e == ERR_OK) {
            ck_assert(back.local_checkpoint <= back.max_seq_no);
            for (size_t k = 0; k < back.n_segments; k++) {
                ck_assert(back.segments[k].live_docs <= back.segments[k].docs);
            }
        }
        arena_fini(&a);
    }
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("manifest");
    TCase *c = tcase_create("all");
    tcase_add_test(c, round_trip_and_every_flip);
    tcase_add_test(c, version_1);
    tcase_add_test(c, made_up_bytes);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
