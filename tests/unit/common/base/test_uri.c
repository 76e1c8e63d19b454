#include "common/base/uri.h"

#include <check.h>

START_TEST(decodes_strictly)
{
    static const struct {
        const char *in, *out; /* out NULL: refused */
    } cases[] = {{"plain", "plain"},
                 {"a%20b+c", "a b c"},
                 {"%e9%85%92", "酒"},
                 {"%E9%85%92%", NULL},
                 {"%2", NULL},
                 {"%zz", NULL},
                 {"%", NULL},
                 {"%%", "%"},
                 {"%%20%%", "%20%"},
                 {"%5%41", NULL},
                 {"", ""},
                 {"%41%6a", "Aj"},
                 {"%ff", "\xEF\xBF\xBD"},
                 /* as many replacements as Java gives */
                 {"%c0%af", "\xEF\xBF\xBD\xEF\xBF\xBD"},
                 {"%ed%a0%80", "\xEF\xBF\xBD"},
                 {"%e4%b8x", "\xEF\xBF\xBDx"},
                 {"%e4%e4%b8%ad", "\xEF\xBF\xBD\xE4\xB8\xAD"},
                 {"%e0%80%80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                 {"%f4%90%80%80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                 {"%f0%9f%98", "\xEF\xBF\xBD"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        struct str out = STR_NULL;
        ERR_LOCAL(em);
        enum err e = uri_decode(str_of(cases[i].in), true, &a, &out, &em);
        ck_assert_msg(e == (cases[i].out != NULL ? ERR_OK : ERR_ILLEGAL_ARGUMENT), "%s", cases[i].in);
        ck_assert(e != ERR_OK || str_is(out, cases[i].out));
        arena_fini(&a);
    }
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct str out;
    ck_assert_int_eq(uri_decode(STR("a+b%2F"), false, &a, &out, NULL), ERR_OK);
    ck_assert(str_is(out, "a+b/"));
    arena_fini(&a);
}
END_TEST

START_TEST(reads_queries_as_elasticsearch_does)
{
    static const struct {
        const char *in, *out;
    } cases[] = {{"a=1&b=2", "a=1|b=2|"},
                 {"a&b=&=c", "a=|b=|c=|"},
                 {"a=1;b=x%26y", "a=1|b=x&y|"},
                 {"&&a=b=c&", "a=b=c|"},
                 {"", ""},
                 {"a=1#b=2", "a=1|"},
                 {"q=a+b", "q=a b|"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        struct uri_params p;
        ck_assert_int_eq(uri_query(str_of(cases[i].in), &a, &p, NULL), ERR_OK);
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        buf_z(&b, "");
        for (size_t k = 0; k < p.n; k++) {
            buf_printf(&b, "%.*s=%.*s|", STR_ARG(p.v[k].name), STR_ARG(p.v[k].value));
        }
        ck_assert_str_eq(b.p, cases[i].out);
        buf_fini(&b);
        arena_fini(&a);
    }
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct uri_params p;
    ck_assert_int_eq(uri_query(STR("a=1&a=2"), &a, &p, NULL), ERR_OK);
    ck_assert(str_is(*uri_param(&p, "a"), "2"));
    ck_assert_ptr_null(uri_param(&p, "b"));
    ck_assert_int_eq(uri_query(STR("a=1&b=%zz"), &a, &p, NULL), ERR_ILLEGAL_ARGUMENT);
    ck_assert_uint_eq(p.n, 0); /* not those before the mistake either */
    arena_fini(&a);
}
END_TEST

START_TEST(encodes)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    uri_encode(&b, STR("a/b c~é"));
    ck_assert_str_eq(b.p, "a%2Fb%20c~%C3%A9");
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("uri");
    TCase *t = tcase_create("uri");
    tcase_add_test(t, decodes_strictly);
    tcase_add_test(t, reads_queries_as_elasticsearch_does);
    tcase_add_test(t, encodes);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
