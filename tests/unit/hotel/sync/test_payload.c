/* Which hotel a message is about: three forms, and everything that is none of them. */
#include "common/base/rand.h"
#include "hotel/sync/payload.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned char java_long[82] = {
    0xAC, 0xED, 0x00, 0x05, 0x73, 0x72, 0x00, 0x0E, 'j',  'a',  'v',  'a',  '.',  'l',  'a',
    'n',  'g',  '.',  'L',  'o',  'n',  'g',  0x3B, 0x8B, 0xE4, 0x90, 0xCC, 0x8F, 0x23, 0xDF,
    0x02, 0x00, 0x01, 0x4A, 0x00, 0x05, 'v',  'a',  'l',  'u',  'e',  0x78, 0x72, 0x00, 0x10,
    'j',  'a',  'v',  'a',  '.',  'l',  'a',  'n',  'g',  '.',  'N',  'u',  'm',  'b',  'e',
    'r',  0x86, 0xAC, 0x95, 0x1D, 0x0B, 0x94, 0xE0, 0x8B, 0x02, 0x00, 0x00, 0x78, 0x70,
};

START_TEST(texts_and_numbers)
{
    static const struct {
        const char *body;
        bool ok;
        int64_t id;
    } cases[] = {
        {"36934", true, 36934},
        {"  36934\r\n", true, 36934},
        {"-7", true, -7},
        {"+7", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"12.0", true, 12},
        {"1.2e1", true, 12},
        {"1.5", false, 0},
        {"1e300", false, 0},
        {"\"36934\"", true, 36934},
        {"\"x\"", false, 0},
        {"", false, 0},
        {" ", false, 0},
        {"null", false, 0},
        {"true", false, 0},
        {"[1]", false, 0},
        {"{\"id\":1}", false, 0},
        {"1 2", false, 0},
        {"0x10", false, 0},
        {"\x01\x02", false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t id = 0;
        ERR_LOCAL(em);
        enum err e = payload_id(STR("text/plain"), str_of(cases[i].body), &id, &em);
        ck_assert_msg((e == ERR_OK) == cases[i].ok, "%s", cases[i].body);
        ck_assert(!cases[i].ok || id == cases[i].id);
        ck_assert(cases[i].ok || err_reason(&em)[0] != '\0');
    }
}
END_TEST

START_TEST(serialised_longs)
{
    static const int64_t values[] = {0, 1, -1, 36934, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
    static const struct str types[] = {{"application/x-java-serialized-object", 36}, {"", 0}};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        unsigned char body[82];
        memcpy(body, java_long, sizeof(body));
        for (unsigned k = 0; k < 8; k++) {
            body[74 + k] = (unsigned char)((uint64_t)values[i] >> (56 - 8 * k));
        }
        for (size_t t = 0; t < ARRAY_LEN(types); t++) {
            int64_t id;
            ck_assert_int_eq(payload_id(types[t], str_mk(body, sizeof(body)), &id, NULL), ERR_OK);
            ck_assert(id == values[i]);
        }
    }
}
END_TEST

/* Cut or longer ones are refused, and bytes that look like one do no harm. */
START_TEST(damaged_longs)
{
    unsigned char body[128] = {0};
    struct rng r;
    int64_t id;
    memcpy(body, java_long, sizeof(java_long));
    for (size_t n = 0; n < sizeof(body); n++) {
        enum err e = payload_id(STR("application/x-java-serialized-object"), str_mk(body, n), &id, NULL);
        ck_assert_int_eq(e == ERR_OK, n == 82);
    }
    rng_seed(&r, 7);
    for (unsigned round = 0; round < 5000; round++) {
        memcpy(body, java_long, sizeof(java_long));
        body[rng_below(&r, 26)] = (unsigned char)rng_u64(&r);
        enum err e = payload_id(STR(""), str_mk(body, 82), &id, NULL);
        ck_assert(e == ERR_OK || e == ERR_ILLEGAL_ARGUMENT);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("payload");
    TCase *t = tcase_create("payload");
    tcase_add_test(t, texts_and_numbers);
    tcase_add_test(t, serialised_longs);
    tcase_add_test(t, damaged_longs);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
