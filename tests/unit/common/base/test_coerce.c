#include "common/base/coerce.h"
#include "common/base/inet.h"
#include "common/base/rand.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* What Elasticsearch 7.12 answers to these values. */
START_TEST(values)
{
    static const struct {
        enum num_type type;
        const char *json;
        enum err e;
        double want;
    } cases[] = {{NUM_INTEGER, "5", ERR_OK, 5},
                 {NUM_INTEGER, "\"5\"", ERR_OK, 5},
                 {NUM_INTEGER, "\" 5 \"", ERR_OK, 5},
                 {NUM_INTEGER, "\"abc\"", ERR_NUMBER_FORMAT, 0},
                 {NUM_INTEGER, "1.7", ERR_OK, 1},
                 {NUM_INTEGER, "\"1.7\"", ERR_OK, 1},
                 {NUM_INTEGER, "-1.7", ERR_OK, -1},
                 {NUM_INTEGER, "1e3", ERR_OK, 1000},
                 {NUM_INTEGER, "2147483648", ERR_INPUT_COERCION, 0},
                 {NUM_INTEGER, "2147483647", ERR_OK, 2147483647},
                 {NUM_INTEGER, "-2147483649", ERR_INPUT_COERCION, 0},
                 {NUM_INTEGER, "\"2147483648\"", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_INTEGER, "true", ERR_JSON, 0},
                 {NUM_INTEGER, "{\"a\":1}", ERR_JSON, 0},
                 {NUM_LONG, "9223372036854775808", ERR_INPUT_COERCION, 0},
                 {NUM_LONG, "\"9223372036854775808\"", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_LONG, "1e18", ERR_OK, 1e18},
                 {NUM_LONG, "\"1e3\"", ERR_OK, 1000},
                 {NUM_LONG, "\"0x10\"", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_LONG, "\"+7\"", ERR_OK, 7},
                 {NUM_SHORT, "32768", ERR_JSON, 0},
                 {NUM_BYTE, "128", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_BYTE, "-128", ERR_OK, -128},
                 {NUM_FLOAT, "3.4028235e+38", ERR_OK, 3.4028234663852886e38},
                 {NUM_FLOAT, "3.5e38", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_FLOAT, "\"1.1\"", ERR_OK, 1.100000023841858},
                 {NUM_FLOAT, "\"NaN\"", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_DOUBLE, "\"Infinity\"", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_DOUBLE, "0.1", ERR_OK, 0.1},
                 {NUM_DOUBLE, "\"1,5\"", ERR_NUMBER_FORMAT, 0},
                 {NUM_HALF_FLOAT, "65520", ERR_ILLEGAL_ARGUMENT, 0},
                 {NUM_HALF_FLOAT, "65504", ERR_OK, 65504},
                 {NUM_HALF_FLOAT, "1.1", ERR_OK, 1.099609375},
                 {NUM_HALF_FLOAT, "3.8", ERR_OK, 3.80078125}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        struct json v;
        struct num n = {0};
        ERR_LOCAL(em);
        struct str text = str_of(cases[i].json);
        arena_init(&a, NULL, ARENA_UNLIMITED);
        ck_assert_int_eq(json_parse(&v, text, &a, &json_limits_default, NULL), ERR_OK);
        enum err e = num_of_json(&n, &v, cases[i].type, true, text, &em);
        ck_assert_msg(e == cases[i].e, "%s as %s: %s", cases[i].json, num_type_name(cases[i].type),
                      err_type(e));
        if (e == ERR_OK) {
            ck_assert_msg((n.whole ? (double)n.i : n.d) == cases[i].want, "%s: %.17g", cases[i].json, n.d);
        }
        arena_fini(&a);
    }
}
END_TEST

START_TEST(strict_values)
{
    struct num n;
    ck_assert_int_eq(num_of_text(&n, STR("1.5"), NUM_LONG, false, NULL), ERR_ILLEGAL_ARGUMENT);
    ck_assert(num_of_text(&n, STR("-9223372036854775808"), NUM_LONG, false, NULL) == ERR_OK
              && n.i == INT64_MIN);
    ck_assert(num_of_text(&n, STR("12000000000000000000000e-21"), NUM_BYTE, false, NULL) == ERR_OK
              && n.i == 12);
    ck_assert(num_double_to_i64(NAN) == 0 && num_double_to_i64(1e30) == INT64_MAX
              && num_double_to_i32(-1e30) == INT32_MIN);
}
END_TEST

/* Every half survives, and every float goes to the nearest half. */
START_TEST(halves)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float v = half_to_float((uint16_t)h);
        ck_assert(isnan(v) || half_of_float(v) == h);
    }
    struct rng rng;
    rng_seed(&rng, 4);
    for (int i = 0; i < 200000; i++) {
        float v = (float)((rng_double(&rng) - 0.5) * pow(2, (double)rng_below(&rng, 44) - 26));
        uint16_t h = half_of_float(v);
        float got = half_to_float(h);
        if (isinf(got)) {
            ck_assert(fabsf(v) >= 65520);
            continue;
        }
        float up = half_to_float((uint16_t)(h + 1));
        ck_assert(isinf(up) || fabsf(got - v) <= fabsf(up - v));
        ck_assert((h & 0x7FFF) == 0 || fabsf(got - v) <= fabsf(half_to_float((uint16_t)(h - 1)) - v));
    }
}
END_TEST

START_TEST(addresses)
{
    static const struct {
        const char *text, *want;
    } cases[] = {{"1.2.3.4", "1.2.3.4"},
                 {"01.2.3.4", NULL},
                 {"1.2.3", NULL},
                 {"::1", "::1"},
                 {"::", "::"},
                 {"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
                 {"::ffff:1.2.3.4", "1.2.3.4"},
                 {"1::2::3", NULL},
                 {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
                 {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
                 {"::1.2.3.4", "::102:304"},
                 {"256.1.1.1", NULL},
                 {"", NULL},
                 {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
                 {"0:0:1::", "0:0:1::"},
                 {"fe80::1%1", "fe80::1"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t a[INET_BYTES];
        struct buf b;
        buf_init(&b, NULL, 64);
        enum err e = inet_parse(str_of(cases[i].text), a, NULL);
        ck_assert_msg((e == ERR_OK) == (cases[i].want != NULL), "%s", cases[i].text);
        if (e == ERR_OK) {
            inet_print(a, &b);
            ck_assert_msg(str_is(buf_view(&b), cases[i].want), "%s: %s", cases[i].text, b.p);
        }
        buf_fini(&b);
    }
}
END_TEST

START_TEST(address_round_trips)
{
    struct rng rng;
    rng_seed(&rng, 6);
    for (int i = 0; i < 20000; i++) {
        uint8_t a[INET_BYTES], back[INET_BYTES];
        for (int k = 0; k < INET_BYTES; k += 2) {
            uint64_t group = rng_below(&rng, 3) == 0 ? rng_u64(&rng) : 0;
            a[k] = (uint8_t)(group >> 8);
            a[k + 1] = (uint8_t)group;
        }
        struct buf b;
        buf_init(&b, NULL, 64);
        inet_print(a, &b);
        ck_assert_int_eq(inet_parse(buf_view(&b), back, NULL), ERR_OK);
        ck_assert(memcmp(a, back, INET_BYTES) == 0);
        buf_fini(&b);
    }
}
END_TEST

START_TEST(blocks)
{
    uint8_t first[INET_BYTES], last[INET_BYTES], want[INET_BYTES];
    ck_assert_int_eq(inet_cidr(STR("10.1.2.3/8"), first, last, NULL), ERR_OK);
    ck_assert_int_eq(inet_parse(STR("10.0.0.0"), want, NULL), ERR_OK);
    ck_assert(memcmp(first, want, INET_BYTES) == 0);
    ck_assert_int_eq(inet_parse(STR("10.255.255.255"), want, NULL), ERR_OK);
    ck_assert(memcmp(last, want, INET_BYTES) == 0);
    ck_assert(inet_next(last) && last[12] == 11 && last[15] == 0 && inet_prev(last)
              && memcmp(last, want, INET_BYTES) == 0);
    ck_assert_int_eq(inet_cidr(STR("2001:db8::/32"), first, last, NULL), ERR_OK);
    ck_assert_int_eq(last[15], 0xFF);
    ck_assert_int_eq(inet_cidr(STR("10.0.0.0/33"), first, last, NULL), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(inet_cidr(STR("10.0.0.0/"), first, last, NULL), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(inet_cidr(STR("10.0.0.0/8/8"), first, last, NULL), ERR_ILLEGAL_ARGUMENT);
    memset(first, 0, sizeof(first));
    ck_assert(!inet_prev(first) && first[0] == 0);
    memset(last, 0xFF, sizeof(last));
    ck_assert(!inet_next(last) && last[0] == 0xFF);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("coerce");
    TCase *t = tcase_create("coerce");
    tcase_add_test(t, values);
    tcase_add_test(t, strict_values);
    tcase_add_test(t, halves);
    tcase_add_test(t, addresses);
    tcase_add_test(t, address_round_trips);
    tcase_add_test(t, blocks);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
