/* Which paths belong to parts of Elasticsearch that are not offered. */
#include "coordinator/rest/absent.h"

#include <check.h>
#include <stdlib.h>

static const struct {
    const char *parts[4];
    const char *found; /* NULL: it is no such path */
} cases[] = {
    {{"_search"}, NULL},
    {{"_cat", "ml"}, "_cat/ml"},
    {{"_cat", "indices"}, NULL},
    {{"_cat"}, NULL},
    {{"_cat/ml"}, NULL},
    {{"_cat/"}, NULL},
    {{"_c"}, NULL},
    {{"_catalog", "ml"}, NULL},
    {{"_xpack"}, NULL},
    {{"_xpack", "usage"}, NULL},
    {{"_xpack", "security", "user"}, "_xpack/security"},
    {{"_xpackage"}, NULL},
    {{""}, NULL},
    {{"hotels", "_search"}, NULL},
    {{"_search", "template"}, NULL},
    {{"hotels", "_shard_stores"}, "_shard_stores"},
    {{"hotels", "_doc", "1", "_termvectors"}, NULL},
    {{"hotels", "_doc", "_search", "template"}, NULL},
};

START_TEST(paths)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str parts[4];
        unsigned n = 0;
        while (n < 4 && cases[i].parts[n] != NULL) {
            parts[n] = str_of(cases[i].parts[n]);
            n++;
        }
        struct str found = absent_part(parts, n);
        ck_assert_msg(cases[i].found != NULL ? str_is(found, cases[i].found) : found.p == NULL, "%zu: %.*s",
                      i, STR_ARG(found));
    }
    static const char with_nul[] = {'_', 'c', 'c', 'r', '\0', 'x'};
    struct str odd = str_mk(with_nul, sizeof(with_nul));
    ck_assert(absent_part(&odd, 1).p == NULL);
    ck_assert(absent_part(NULL, 0).p == NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("absent");
    TCase *t = tcase_create("all");
    tcase_add_test(t, paths);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
