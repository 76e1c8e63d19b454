#include "common/base/time_text.h"

#include <check.h>

START_TEST(words)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "0s"},
                 {1, "1nanos"},
                 {999, "999nanos"},
                 {1000, "1micros"},
                 {258500, "258.5micros"},
                 {250599999, "250.5ms"},
                 {1782000000, "1.7s"},
                 {60000000000, "1m"},
                 {90000000000, "1.5m"},
                 {3600000000000, "1h"},
                 {86400000000000, "1d"},
                 {INT64_MAX, "106751.9d"},
                 {-5, "-1"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b;
        buf_init(&b, NULL, KIB);
        time_put_ns(&b, cases[i].ns);
        ck_assert_str_eq(b.p, cases[i].text);
        buf_fini(&b);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("time_text");
    TCase *c = tcase_create("time_text");
    tcase_add_test(c, words);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
