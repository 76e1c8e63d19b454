/* Damaged segments: refused, or read to some end; never a crash, never a loop. With address sanitizer this
 * shows reads outside the bytes, too. */
#include <check.h>
#include <stdlib.h>

#include "common/base/hash.h"
#include "engine/index/format.h"
#include "engine/index/seg_out.h"
#include "tests/unit/engine/index/random_docs.h"

struct bytes {
    char *p;
    size_t n;
};

static struct bytes small_segment(uint64_t seed, size_t n_docs, unsigned words)
{
    struct doc_maker m;
    struct index_buffer *b;
    struct buf out;
    struct bytes bytes;
    doc_id root;
    doc_maker_init(&m, seed);
    m.nested = true;
    m.words = words;
    m.length = 6;
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(index_buffer_new(&b, NULL, NULL), ERR_OK);
    for (size_t i = 0; i < n_docs; i++) {
        struct made_doc *d = doc_maker_next(&m);
        ck_assert_int_eq(index_buffer_add(b, &d->doc, &d->meta, &root, NULL), ERR_OK);
    }
    ck_assert_int_eq(index_buffer_write(b, &out, NULL), ERR_OK);
    bytes.p = buf_take(&out, &bytes.n);
    index_buffer_free(b);
    doc_maker_fini(&m);
    return bytes;
}

/* Makes all checksums fit again, so that the decoders get to see the damage. */
static void mend(char *p, size_t n)
{
    char *footer = p + n - SEG_FOOTER_BYTES;
    uint64_t table = load_u64(footer), sections = load_u32(footer + 8);
    if (table > n - SEG_FOOTER_BYTES || n - SEG_FOOTER_BYTES - table != sections * SEG_ENTRY_BYTES) {
        return;
    }
    for (uint64_t i = 0; i < sections; i++) {
        char *entry = p + table + i * SEG_ENTRY_BYTES;
        uint64_t at = load_u64(entry + 8), bytes = load_u64(entry + 16);
        if (at <= n && bytes <= n - at) {
            store_u64(entry + 24, seg_hash((const uint8_t *)p + at, (size_t)bytes));
        }
    }
    store_u64(footer + 16, hash_bytes(p + table, n - SEG_FOOTER_BYTES - table, 0));
    store_u64(footer + 48, hash_bytes(footer, 48, 0));
}

static bool try_bytes(const char *p, size_t n)
{
    struct segment *s;
    char *copy = malloc(n > 0 ? n : 1);
    memcpy(copy, p, n);
    if (segment_open_memory(&s, copy, n, NULL, NULL) != ERR_OK) {
        return false;
    }
    segment_verify(s, NULL);
    read_everything(s);
    segment_unref(s);
    return true;
}

START_TEST(every_truncation_is_refused)
{
    struct bytes b = small_segment(1, 5, 20);
    for (size_t n = 0; n < b.n; n++) {
        ck_assert(!try_bytes(b.p, n));
    }
    ck_assert(try_bytes(b.p, b.n));
    free(b.p);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed)
{
    struct bytes b = small_segment(2, 4, 20);
    for (size_t bit = 0; bit < 8 * b.n; bit++) {
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << (bit % 8));
        try_bytes(b.p, b.n);
        b.p[bit / 8] = (char)(b.p[bit / 8] ^ 1 << (bit % 8));
    }
    free(b.p);
}
END_TEST

static void flip_and_mend(struct bytes b, size_t at, unsigned char with)
{
    char *copy = malloc(b.n);
    memcpy(copy, b.p, b.n);
    copy[at] = (char)(copy[at] ^ with);
    mend(copy, b.n);
    try_bytes(copy, b.n);
    free(copy);
}

START_TEST(decoders_bear_any_byte)
{
    struct bytes b = small_segment(3, 6, 20);
    for (size_t at = 0; at + SEG_FOOTER_BYTES < b.n; at++) {
        flip_and_mend(b, at, 0xFF);
        flip_and_mend(b, at, (unsigned char)(1 << (at % 8)));
    }
    free(b.p);
    /* With blocks of 128, skip arrays, several leaves. */
    struct rng r;
    rng_seed(&r, 77);
    b = small_segment(4, 260, 12);
    for (int round = 0; round < 300; round++) {
        flip_and_mend(b, rng_below(&r, b.n - SEG_FOOTER_BYTES), (unsigned char)(1 + rng_below(&r, 255)));
    }
    free(b.p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("segment_damage");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, every_truncation_is_refused);
    tcase_add_test(t, every_flipped_bit_is_noticed);
    tcase_add_test(t, decoders_bear_any_byte);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
