#include "common/base/regex.h"

#include <check.h>
#include <stdlib.h>

/* The places of all matches, as "from-to ". */
static void found(const char *pattern, unsigned flags, const char *text, const char *want)
{
    struct regex *r;
    struct matcher *m;
    struct buf b;
    bool more = true;
    size_t from, to;
    ck_assert_int_eq(regex_new(&r, str_of(pattern), flags, NULL), ERR_OK);
    ck_assert_int_eq(matcher_new(&m, r, str_of(text), NULL), ERR_OK);
    buf_init(&b, NULL, KIB);
    while (matcher_find(m, &more, NULL) == ERR_OK && more) {
        ck_assert(matcher_group(m, 0, &from, &to));
        buf_printf(&b, "%zu-%zu ", from, to);
    }
    buf_char(&b, '\0');
    ck_assert_str_eq(b.p, want);
    buf_fini(&b);
    matcher_free(m);
    regex_free(r);
}

START_TEST(as_java_does)
{
    found("\\w+", 0, "aé1 b", "0-1 3-4 5-6 "); /* ASCII alone */
    found("\\p{Alpha}", 0, "éa", "2-3 ");
    found("b*", 0, "ab", "0-0 1-2 2-2 ");
    found("", 0, "a", "0-0 1-1 ");
    found("A.c", REGEX_CASE_INSENSITIVE, "a\nc abc", "4-7 ");
    found("a.c", REGEX_DOTALL, "a\nc", "0-3 ");
    found("^b", REGEX_MULTILINE, "a\nb", "2-3 ");
    found("a b # c", REGEX_COMMENTS, "ab", "0-2 ");
    found("a.", REGEX_LITERAL, "ab a.", "3-5 ");
}
END_TEST

START_TEST(from_a_place)
{
    struct regex *r;
    struct matcher *m;
    bool is = false;
    size_t from, to;
    struct str text = STR("ab äb");
    ck_assert_int_eq(regex_new(&r, STR("(?<=(a|ä))(b)|(x)"), 0, NULL), ERR_OK);
    ck_assert_int_eq(regex_groups(r), 3);
    ck_assert_int_eq(matcher_new(&m, r, text, NULL), ERR_OK);
    ck_assert_int_eq(matcher_find_at(m, 2, &is, NULL), ERR_OK);
    ck_assert(is && matcher_group(m, 2, &from, &to) && from == 5 && to == 6
              && !matcher_group(m, 3, &from, &to));
    ck_assert_int_eq(matcher_find_at(m, 1, &is, NULL),
                     ERR_OK); /* what is before the place is looked at, too */
    ck_assert(is && matcher_group(m, 1, &from, &to) && from == 0);
    ck_assert_int_eq(matcher_find_at(m, text.n, &is, NULL), ERR_OK);
    ck_assert(!is);
    ck_assert_int_eq(matcher_matches(m, &is, NULL), ERR_OK);
    ck_assert(!is);
    matcher_free(m);
    regex_free(r);
}
END_TEST

START_TEST(errors)
{
    struct regex *r;
    struct matcher *m;
    ERR_LOCAL(em);
    bool is = false;
    ck_assert_int_eq(regex_new(&r, STR("a("), 0, &em), ERR_PATTERN_SYNTAX);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(regex_new(&r, STR("a("), REGEX_LITERAL, &em), ERR_OK);
    regex_free(r);
    struct str text = STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    ck_assert_int_eq(regex_new(&r, STR("(a+)+b"), 0, &em), ERR_OK);
    ck_assert_int_eq(matcher_new(&m, r, text, &em), ERR_OK);
    matcher_limit(m, 20);
    ck_assert_int_eq(matcher_matches(m, &is, &em), ERR_ILLEGAL_ARGUMENT);
    matcher_free(m);
    regex_free(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("regex");
    TCase *t = tcase_create("regex");
    tcase_add_test(t, as_java_does);
    tcase_add_test(t, from_a_place);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
