#include "engine/index/bitpack.h"

#include <check.h>

#include "common/base/rand.h"

START_TEST(vertical_blocks_come_back)
{
    struct rng r;
    rng_seed(&r, 1);
    for (unsigned b = 0; b <= 32; b++) {
        for (int round = 0; round < 20; round++) {
            uint32_t in[BITPACK_BLOCK], out[BITPACK_BLOCK], sum = (uint32_t)rng_u64(&r), expected;
            uint8_t bytes[16 * 32 + 16];
            memset(bytes, 0xA5, sizeof(bytes));
            for (unsigned i = 0; i < BITPACK_BLOCK; i++) {
                in[i] = (uint32_t)(rng_u64(&r) & bits_mask(b));
            }
            ck_assert_uint_le(bitpack_width(in, BITPACK_BLOCK), b);
            bitpack_pack(in, b, bytes);
            ck_assert_uint_eq(bytes[bitpack_bytes(b)], 0xA5);
            bitpack_unpack(bytes, b, out);
            ck_assert_mem_eq(in, out, sizeof(in));
            bitpack_unpack_gaps(bytes, b, sum, out);
            expected = sum;
            for (unsigned i = 0; i < BITPACK_BLOCK; i++) {
                expected += 1 + in[i];
                ck_assert_uint_eq(out[i], expected);
            }
        }
    }
}
END_TEST

START_TEST(horizontal_fields_come_back)
{
    struct rng r;
    rng_seed(&r, 2);
    for (unsigned w = 0; w <= 64; w = bits_field_width(w + 1) + (w == 64)) {
        for (size_t n = 0; n < 40; n++) {
            uint64_t in[40];
            uint32_t in32[40], out32[40];
            struct buf buf;
            uint8_t raw[40 * 4 + 16];
            buf_init(&buf, NULL, BUF_UNLIMITED);
            struct bits_out o = bits_out(&buf);
            for (size_t i = 0; i < n; i++) {
                in[i] = rng_u64(&r) & bits_mask(w);
                in32[i] = (uint32_t)in[i];
                bits_put(&o, in[i], w);
            }
            bits_end(&o);
            ck_assert_uint_eq(buf.n, bits_bytes(n, w));
            size_t bytes = buf.n;
            put_u64(&buf, 0);
            for (size_t i = 0; i < n; i++) {
                ck_assert_uint_eq(bits_get((uint8_t *)buf.p, i, w, bits_mask(w)), in[i]);
            }
            if (w <= 32 && n > 0) {
                ck_assert_uint_eq(bits_pack32(raw, in32, n, w), bytes);
                ck_assert(memcmp(raw, buf.p, bytes) == 0);
                memset(raw + bytes, 0xFF, 8);
                bits_unpack32(raw, n, w, out32);
                ck_assert_mem_eq(in32, out32, n * sizeof(*in32));
            }
            buf_fini(&buf);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bitpack");
    TCase *t = tcase_create("core");
    tcase_add_test(t, vertical_blocks_come_back);
    tcase_add_test(t, horizontal_fields_come_back);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
