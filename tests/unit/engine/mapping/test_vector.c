/* Vectors and features: numbers in the bytes and frequencies that documents keep. */
#include "common/base/rand.h"
#include "engine/mapping/feature.h"
#include "engine/mapping/vector.h"

#include <check.h>
#include <float.h>

START_TEST(vectors_of_damaged_bytes)
{
    char bytes[64];
    float v[16], magnitude;
    struct rng r;
    rng_seed(&r, 1);
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            bytes[i] = (char)rng_u64(&r);
        }
        size_t n = rng_below(&r, sizeof(bytes) + 1);
        uint32_t dims = (uint32_t)rng_below(&r, 16);
        ck_assert_int_eq(vector_read(str_mk(bytes, n), dims, v, &magnitude), n == (dims + 1) * 4);
    }
    ck_assert(!vector_read(STR(""), 2048, v, &magnitude));
}
END_TEST

/* Nine significant bits are left, those below cut off; the order stays. */
START_TEST(features_keep_nine_bits)
{
    static const float values[] = {FLT_MIN, 1e-10F, 0.3F, 1, 2.7F, 3, 100, 12345.678F, 1e30F, FLT_MAX};
    float before = 0;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        float kept = feature_value((float)feature_freq(values[i]));
        ck_assert(kept <= values[i] && kept > values[i] * (1 - 1.0F / 256) && kept > before);
        before = kept;
    }
    ck_assert(feature_value((float)feature_freq(12345.678F)) == 12320);
    ck_assert(feature_value(1e6F) == FLT_MAX && feature_value(0) == 0);
    ck_assert(feature_value(32896.75F) == 3); /* a mean */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vector");
    TCase *t = tcase_create("vector");
    tcase_add_test(t, vectors_of_damaged_bytes);
    tcase_add_test(t, features_keep_nine_bits);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
