/* Which route a path takes: Elasticsearch's four modes of walking its trie. */
#include "coordinator/rest/rest.h"

#include <check.h>
#include <stdlib.h>

static const char *taken;

#define HANDLER(name)                \
    static void name(struct rest *r) \
    {                                \
        (void)r;                     \
        taken = #name;               \
    }
HANDLER(root)
HANDLER(get_index)
HANDLER(doc)
HANDLER(typed_doc)
HANDLER(search)
HANDLER(typed_search)
HANDLER(index_search)
HANDLER(cat)
HANDLER(put_index)

static const struct route routes[] = {
    {M_GET, "/", root},
    {M_GET, "/{index}", get_index},
    {M_PUT, "/{index}", put_index},
    {M_GET, "/{index}/_doc/{id}", doc},
    {M_GET, "/{index}/{type}/{id}", typed_doc},
    {M_GET, "/_search", search},
    {M_GET, "/{index}/_search", index_search},
    {M_GET, "/{index}/{type}/_search", typed_search},
    {M_GET, "/_cat/indices", cat},
};

START_TEST(routes_of_paths)
{
    static const struct {
        const char *parts[4];
        unsigned n;
        enum http_verb method;
        const char *want; /* NULL: none */
        unsigned allowed; /* where there is none */
    } cases[] = {{{""}, 0, HTTP_M_GET, "root", 0},
                 {{"a"}, 1, HTTP_M_GET, "get_index", 0},
                 {{"a"}, 1, HTTP_M_PUT, "put_index", 0},
                 {{"a"}, 1, HTTP_M_POST, NULL, M_GET | M_PUT},
                 {{"_search"}, 1, HTTP_M_GET, "search", 0},
                 {{"_search"}, 1, HTTP_M_PUT, NULL, M_GET},
                 {{"_cat"}, 1, HTTP_M_GET, "get_index", 0},
                 {{"_cat", "indices"}, 2, HTTP_M_GET, "cat", 0},
                 {{"_cat", "_search"}, 2, HTTP_M_GET, "index_search", 0},
                 {{"a", "_search"}, 2, HTTP_M_GET, "index_search", 0},
                 {{"a", "_doc", "_search"}, 3, HTTP_M_GET, "typed_search", 0},
                 {{"a", "_doc", "1"}, 3, HTTP_M_GET, "doc", 0},
                 {{"a", "t", "1"}, 3, HTTP_M_GET, "typed_doc", 0},
                 {{"a", "t", "_search"}, 3, HTTP_M_GET, "typed_search", 0},
                 {{"", "t", "_search"}, 3, HTTP_M_GET, "typed_search", 0},
                 {{"a", "t"}, 2, HTTP_M_GET, NULL, 0},
                 {{"a", "_doc", "1", "x"}, 4, HTTP_M_GET, NULL, 0}};
    struct arena arena;
    struct router *router;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(router_new(&router, &arena, NULL), ERR_OK);
    ck_assert(router_add(router, routes, ARRAY_LEN(routes), &arena));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rest r = {.arena = &arena, .method = cases[i].method};
        struct str parts[4];
        unsigned allowed;
        for (unsigned k = 0; k < cases[i].n; k++) {
            parts[k] = str_of(cases[i].parts[k]);
        }
        taken = NULL;
        rest_handler h = router_find(router, &r, parts, cases[i].n, &allowed);
        if (h != NULL) {
            h(&r);
        }
        ck_assert_msg((taken == NULL) == (cases[i].want == NULL)
                          && (taken == NULL || strcmp(taken, cases[i].want) == 0),
                      "case %zu: %s", i, taken != NULL ? taken : "none");
        ck_assert(cases[i].want != NULL || allowed == cases[i].allowed);
    }
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("router");
    TCase *t = tcase_create("paths");
    tcase_add_test(t, routes_of_paths);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
