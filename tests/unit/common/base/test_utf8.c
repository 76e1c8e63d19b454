/* UTF-8 is well-formed exactly where encoding what was decoded gives the same bytes; JSON texts are refused where it is not,
 * and what is mended is well-formed. */
#include "common/base/json.h"
#include "common/base/rand.h"
#include "common/base/utf8.h"

#include <check.h>
#include <stdio.h>

/* By the definition: a code point, no surrogate, in its shortest form. */
static bool naive_valid(const unsigned char *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t width = p[at] < 0x80   ? 1
                       : p[at] < 0xC0 ? 0
                       : p[at] < 0xE0 ? 2
                       : p[at] < 0xF0 ? 3
                       : p[at] < 0xF8 ? 4
                                      : 0;
        if (width == 0 || at + width > n) {
            return false;
        }
        uint32_t c = width == 1 ? p[at] : p[at] & (0xFFU >> (width + 1));
        for (size_t i = 1; i < width; i++) {
            if ((p[at + i] & 0xC0) != 0x80) {
                return false;
            }
            c = c << 6 | (p[at + i] & 0x3FU);
        }
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (c < least[width] || (c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF) {
            return false;
        }
        at += width;
    }
    return true;
}

static void compare(const unsigned char *p, size_t n)
{
    struct str s = str_mk((const char *)p, n);
    bool valid = naive_valid(p, n);
    ck_assert(utf8_valid(s) == valid);
    char mended[64];
    size_t m = utf8_mend(mended, s);
    ck_assert(m <= 3 * n && naive_valid((const unsigned char *)mended, m));
    ck_assert(!valid || str_eq(s, str_mk(mended, m)));
}

START_TEST(as_the_definition)
{
    unsigned char p[12] = {0};
    for (unsigned v = 0; v < 1U << 24; v += v < 1U << 16 ? 1 : 7) {
        p[0] = (unsigned char)(v >> 16);
        p[1] = (unsigned char)(v >> 8);
        p[2] = (unsigned char)v;
        compare(p, 3);
    }
    struct rng rng;
    rng_seed(&rng, 3);
    static const unsigned char likely[] = {0xF0, 0xF4, 0x8F, 0x90, 0x80, 0xBF, 0xED,
                                           0xA0, 0xE0, 0xC1, 0xC2, 0x41, 0xFF};
    for (int round = 0; round < 2000000; round++) {
        uint64_t v = rng_u64(&rng);
        for (size_t i = 0; i < sizeof(p); i++, v >>= 4) {
            p[i] = likely[(v & 15) % sizeof(likely)];
        }
        compare(p, 1 + v % sizeof(p));
    }
}
END_TEST

START_TEST(json_texts)
{
    static const struct {
        const char *text, *reason; /* of the refusal, or the value */
    } cases[] = {
        {"\"x\xFF\"", "Invalid UTF-8 start byte 0xff\n at line: 1, column: 4"},
        {"\"x\xC0\xAF\"", "Invalid UTF-8 start byte 0xc0\n at line: 1, column: 4"},
        {"\"x\xE0\x80\xAF\"", "Invalid UTF-8 middle byte 0x80\n at line: 1, column: 5"},
        {"\"x\xED\xA0\x80\"", "Invalid UTF-8 middle byte 0xa0\n at line: 1, column: 5"},
        {"\"x\xF4\x90\x80\x80\"", "Invalid UTF-8 middle byte 0x90\n at line: 1, column: 5"},
        {"\"x\xF5\x80\x80\x80\"", "Invalid UTF-8 start byte 0xf5\n at line: 1, column: 4"},
        {"{\"\xED\xBF\xBF\":1}", "Invalid UTF-8 middle byte 0xbf\n at line: 1, column: 5"},
        {"[1] /* \xFF */", "Invalid UTF-8 start byte 0xff\n at line: 1, column: 9"},
        {"\"x\xE4\xB8", "Unexpected end-of-input\n at line: 1, column: 5"},
        {"\"x\xE4\xB8\"", "Invalid UTF-8 middle byte 0x22\n at line: 1, column: 6"},
        {"\"\xF0\x9F\x98\x80\"", "\xF0\x9F\x98\x80"},
        {"\"\\ud83d\\ude00\\n\"", "\xF0\x9F\x98\x80\n"},
        {"\"a\\ud83d\"", "a\xEF\xBF\xBD"},
        {"\"\\ud83dx\"", "\xEF\xBF\xBDx"},
        {"\"\\ude00\"", "\xEF\xBF\xBD"},
        {"\"\\uD83D\\u0041\\\\\\/\\\"\\t\"", "\xEF\xBF\xBD"
                                             "A\\/\"\t"},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xEF\xBF\xBD\xF0\x9F\x98\x80"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        struct json v;
        ERR_LOCAL(em);
        if (json_parse(&v, str_of(cases[i].text), &a, &json_limits_default, &em) == ERR_OK) {
            ck_assert_msg(str_is(v.s, cases[i].reason), "%zu", i);
        } else {
            ck_assert_str_eq(err_reason(&em), cases[i].reason);
        }
        arena_fini(&a);
    }
}
END_TEST

START_TEST(reasons)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_JSON, "x\xFF\xE4\xB8\xADy\xE4");
    ck_assert_str_eq(err_reason(&em), "x?\xE4\xB8\xADy");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("utf8");
    TCase *c = tcase_create("utf8");
    tcase_add_test(c, as_the_definition);
    tcase_add_test(c, json_texts);
    tcase_add_test(c, reasons);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
