/* Which requests are read on their connection's loop: never those that can name files or become long work. */
#include "coordinator/rest/rest.h"

#include <check.h>
#include <stdlib.h>

static struct cluster_state none; /* a cluster without indices */

static bool quick_among(struct cluster_state *state, const char *path, struct str body, const char *source)
{
    struct str parts[8], rest = str_of(path);
    unsigned n = 0;
    while (rest.p != NULL && n < ARRAY_LEN(parts)) {
        parts[n++] = str_cut(rest, '/', &rest);
    }
    struct uri_param param = {STR("source"), source != NULL ? str_of(source) : STR("")};
    struct http_request http = {.path = str_of(path)};
    struct rest r = {.body = body, .http = &http, .state = state};
    r.params.v = &param;
    r.params.n = source != NULL ? 1 : 0;
    return rest_is_quick(&r, parts, n);
}

static bool quick(const char *path, struct str body, const char *source)
{
    return quick_among(&none, path, body, source);
}

START_TEST(short_ones_are)
{
    static const char *const paths[] = {"i/_search", "_search", "_search/scroll", "i/_doc/1",    "i/_doc",
                                        "i/_bulk",   "_bulk",   "i/_create/1",    "i/_update/1", "_mget",
                                        "i/_count",  "i/_pit",  "i/_update/_x",   "i/_msearch"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        ck_assert_msg(quick(paths[i], STR("{}"), NULL), "%s", paths[i]);
    }
    ck_assert(quick("i", STR(""), NULL) && quick("_analyze", STR(""), NULL));
}
END_TEST

/* Bodies with settings of analysis name files, however short they are and whatever is called like a search. */
START_TEST(settings_are_not)
{
    static const char *const paths[] = {"i",
                                        "scroll",
                                        "_template/t",
                                        "_template/scroll",
                                        "_index_template/scroll",
                                        "_component_template/t",
                                        "_index_template/_simulate",
                                        "i/_settings",
                                        "_settings",
                                        "i/_mapping",
                                        "_analyze",
                                        "i/_analyze",
                                        "scroll/_analyze",
                                        "i/_clone/scroll"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        ck_assert_msg(!quick(paths[i], STR("{}"), NULL), "%s", paths[i]);
        ck_assert_msg(!quick(paths[i], STR(""), "{}"), "%s?source", paths[i]);
    }
}
END_TEST

/* Without a body: what is about one index or none, else what is about few. */
START_TEST(those_about_many_are_not)
{
    static const char *const about_one[] = {"i/_doc/1", "i/_source/1", "i/_search", "i/_count",
                                            "_search/scroll"};
    static const char *const about_all[] = {"_mapping",  "_cat/indices", "_search", "i,j/_search",
                                            "i*/_count", "_all",         "i",       "_nodes/stats"};
    struct index_meta wide = {.mapping = {NULL, 100000}}, aliases = {.n_aliases = 1000},
                      small = {.n_aliases = 1};
    struct index_meta *many[100], *one_wide[] = {&wide}, *one_known[] = {&aliases};
    for (size_t i = 0; i < ARRAY_LEN(many); i++) {
        many[i] = &small;
    }
    struct cluster_state large[] = {{.indices = many, .n_indices = 100},
                                    {.indices = one_wide, .n_indices = 1},
                                    {.indices = one_known, .n_indices = 1},
                                    {.n_templates = 1000}},
                         few = {.indices = many, .n_indices = 10};
    static char url[2000];
    memset(url, '*', sizeof(url) - 1);
    ck_assert(!quick(url, STR(""), NULL));
    for (size_t i = 0; i < ARRAY_LEN(about_all); i++) {
        ck_assert_msg(quick_among(&few, about_all[i], STR(""), NULL), "%s", about_all[i]);
        for (size_t k = 0; k < ARRAY_LEN(large); k++) {
            ck_assert_msg(!quick_among(&large[k], about_all[i], STR(""), NULL), "%s %zu", about_all[i], k);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(about_one); i++) {
        ck_assert_msg(quick_among(&large[0], about_one[i], STR(""), NULL), "%s", about_one[i]);
    }
}
END_TEST

START_TEST(long_ones_are_not)
{
    static char text[257 * 1024];
    memset(text, ' ', sizeof(text));
    ck_assert(quick("i/_search", (struct str){text, 8192}, NULL));
    ck_assert(!quick("i/_search", (struct str){text, 8193}, NULL));
    ck_assert(quick("i/_bulk", (struct str){text, 256 * 1024}, NULL));
    ck_assert(!quick("i/_bulk", (struct str){text, 256 * 1024 + 1}, NULL));
    ck_assert(!quick("i/_search", STR("{\"query\":{\"regexp\":{\"a\":\"b\"}}}"), NULL));
    ck_assert(!quick("i/_search", STR(""), "{\"script_fields\":{}}"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("quick");
    TCase *c = tcase_create("all");
    tcase_add_test(c, short_ones_are);
    tcase_add_test(c, settings_are_not);
    tcase_add_test(c, long_ones_are_not);
    tcase_add_test(c, those_about_many_are_not);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
