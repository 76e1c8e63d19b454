/* Floats as text: what plain arithmetic makes of them is what printing and reading back makes of them. */
#include "common/base/num.h"
#include "common/base/rand.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_text(float v, const char *want)
{
    struct buf b;
    buf_init(&b, NULL, 64);
    num_put_float(&b, v);
    ck_assert_msg(str_is(buf_view(&b), want), "%a: %.*s, not %s", (double)v, STR_ARG(buf_view(&b)), want);
    buf_fini(&b);
}

START_TEST(floats_print_as_in_java)
{
    static const struct {
        float v;
        const char *text;
    } rows[] = {{0, "0.0"},
                {-0.0F, "-0.0"},
                {1, "1.0"},
                {-1.5F, "-1.5"},
                {0.001F, "0.001"},
                {0.1F, "0.1"},
                {9999999, "9999999.0"},
                {1e7F, "1.0E7"},
                {2147483648.0F, "2.14748365E9"},
                {33554436.0F, "3.3554436E7"},
                {9007199254740992.0F, "9.0071993E15"},
                {9.223372E18F, "9.223372E18"},
                {1234567.9F, "1234567.9"},
                {0.00099999F, "9.9999E-4"},
                {3.4028235e38F, "3.4028235E38"},
                {99999.99F, "99999.99"},
                {1e-40F, "1.0E-40"},
                {1.4e-45F, "1.4E-45"},
                {9.999999F, "9.999999"},
                {INFINITY, "Infinity"},
                {-INFINITY, "-Infinity"},
                {NAN, "NaN"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_text(rows[i].v, rows[i].text);
    }
}
END_TEST

/* The digits that stdio finds: from six on, as few as read back the same. */
static void stdio_digits(float v, char *to)
{
    char text[40];
    size_t n = 0;
    for (int precision = 5; precision <= 8; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, (double)v);
        if (strtof(text, NULL) == v) {
            break;
        }
    }
    for (const char *at = text; *at != 'e'; at++) {
        if (*at != '.') {
            to[n++] = *at;
        }
    }
    while (n > 1 && to[n - 1] == '0') {
        n--;
    }
    to[n] = '\0';
}

/* The significant ones of a text without an exponent. */
static void plain_digits(struct str text, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '.' && (n > 0 || text.p[i] != '0')) {
            to[n++] = text.p[i];
        }
    }
    while (n > 1 && to[n - 1] == '0') {
        n--;
    }
    to[n] = '\0';
}

START_TEST(division_rounds_down)
{
    ck_assert_int_eq(floor_div(7, 2), 3);
    ck_assert_int_eq(floor_div(-7, 2), -4);
    ck_assert_int_eq(floor_div(7, -2), -4);
    ck_assert_int_eq(floor_div(-8, 2), -4);
    ck_assert_int_eq(floor_div(INT64_MIN, 1000000), INT64_MIN / 1000000 - 1);
}
END_TEST

START_TEST(floats_have_the_digits_of_stdio)
{
    struct rng r;
    struct buf b;
    rng_seed(&r, 30);
    buf_init(&b, NULL, 64);
    for (int i = 0; i < 300000; i++) {
        char want[64], got[64];
        double scale = pow(10, (double)rng_below(&r, 10) - 3);
        float v = (float)(rng_double(&r) * scale);
        v = rng_below(&r, 4) == 0 ? roundf(v * 16) / 16 : v; /* ties, when fewer digits are tried */
        if (!(v >= 1e-3F && v < 1e7F)) {
            continue;
        }
        stdio_digits(v, want);
        buf_reset(&b);
        num_put_float(&b, v);
        plain_digits(buf_view(&b), got);
        ck_assert_msg(strcmp(got, want) == 0, "%a: %.*s, not the digits %s", (double)v, STR_ARG(buf_view(&b)),
                      want);
        buf_char(&b, 0);
        ck_assert(strtof(b.p, NULL) == v);
    }
    buf_fini(&b);
}
END_TEST

START_TEST(extremes_are_those_of_java)
{
    ck_assert(num_max(1, 2) == 2 && num_max(2, 1) == 2 && num_min(1, 2) == 1 && num_min(2, 1) == 1);
    ck_assert(isnan(num_max(1, NAN)) && isnan(num_max(NAN, 1)) && isnan(num_min(1, NAN))
              && isnan(num_min(NAN, 1)));
    ck_assert(signbit(num_min(0.0, -0.0)) && signbit(num_min(-0.0, 0.0)) && signbit(num_min(-0.0, -0.0)));
    ck_assert(!signbit(num_max(0.0, -0.0)) && !signbit(num_max(-0.0, 0.0)) && signbit(num_max(-0.0, -0.0)));
    ck_assert(num_min(-INFINITY, 1) == -INFINITY && num_max(INFINITY, 1) == INFINITY);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("num");
    TCase *t = tcase_create("all");
    tcase_add_test(t, floats_print_as_in_java);
    tcase_add_test(t, division_rounds_down);
    tcase_add_test(t, extremes_are_those_of_java);
    tcase_add_test(t, floats_have_the_digits_of_stdio);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
