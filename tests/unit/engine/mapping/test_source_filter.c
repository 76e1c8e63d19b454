/* _source patterns: what stays of arrays and objects, by examples that Elasticsearch was seen to answer. */
#include "common/base/rand.h"
#include "engine/mapping/source_filter.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void expect(const char *source, const char *include, const char *exclude, const char *want)
{
    struct arena a;
    struct json tree;
    struct buf b;
    struct jsonw w;
    struct str in = str_of(include != NULL ? include : ""), ex = str_of(exclude != NULL ? exclude : "");
    struct source_patterns p = {&in, &ex, include != NULL, exclude != NULL};
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    ck_assert_int_eq(json_parse(&tree, str_of(source), &a, &json_limits_default, NULL), ERR_OK);
    source_filter_write(&tree, &p, &w);
    buf_char(&b, '\0');
    ck_assert_str_eq(b.p, want);
    buf_fini(&b);
    arena_fini(&a);
}

START_TEST(objects_that_lose_all_in_arrays_go)
{
    expect("{\"n\":[{\"p\":1},{\"q\":2}],\"o\":{\"p\":1}}", NULL, "n.p",
           "{\"n\":[{\"q\":2}],\"o\":{\"p\":1}}");
    expect("{\"n\":[{\"p\":1}],\"o\":{\"p\":1}}", NULL, "n.*", "{\"n\":[],\"o\":{\"p\":1}}");
    expect("{\"o\":{\"p\":1}}", NULL, "o.p", "{\"o\":{}}");
}
END_TEST

START_TEST(untouched_values_stay_whole)
{
    expect("{\"n\":[{},{\"q\":[]}],\"a\":[]}", NULL, "x", "{\"n\":[{},{\"q\":[]}],\"a\":[]}");
    expect("{\"n\":[{},1,[2]],\"b\":3}", "n", NULL, "{\"n\":[{},1,[2]]}");
}
END_TEST

START_TEST(includes_reach_below)
{
    expect("{\"n\":[{\"p\":1,\"q\":2},{\"q\":3}],\"b\":3}", "n.p", NULL, "{\"n\":[{\"p\":1}]}");
    expect("{\"n\":{\"p\":1}}", "x.y", NULL, "{}");
}
END_TEST

#define LEVELS   900
#define LIMIT_MS 500 /* a few are needed; gone through from each level anew, as it once was, it was seconds */

/* An object below an object and so on, of which a pattern names the last. */
START_TEST(deep_ones_are_gone_through_once)
{
    struct buf source, want;
    buf_init(&source, NULL, BUF_UNLIMITED);
    buf_init(&want, NULL, BUF_UNLIMITED);
    for (int i = 0; i < LEVELS; i++) {
        buf_z(&source, "{\"object\":");
        buf_z(&want, "{\"object\":");
    }
    buf_z(&source, "{\"x\":1,\"z\":2}");
    buf_z(&want, "{\"z\":2}");
    for (int i = 0; i < LEVELS; i++) {
        buf_z(&source, ",\"p\":{\"q\":[{}]}}");
        buf_char(&want, '}');
    }
    buf_char(&source, '\0');
    buf_char(&want, '\0');
    clock_t start = clock();
    expect(source.p, "*.o*t.z", NULL, want.p);
    ck_assert_int_lt((clock() - start) * 1000 / CLOCKS_PER_SEC, LIMIT_MS);
    buf_fini(&source);
    buf_fini(&want);
}
END_TEST

START_TEST(what_shows_nothing_leaves_nothing)
{
    expect("{\"a\":{\"b\":[[{\"c\":1}],{}]},\"n\":[{},[{\"p\":1}],{\"q\":2}],\"z\":{\"q\":3}}", "*.q", NULL,
           "{\"n\":[{\"q\":2}],\"z\":{\"q\":3}}");
}
END_TEST

static bool matches(const char *pattern, const char *path)
{
    return str_glob(str_of(pattern), str_of(path));
}

/* A pattern that may match below an object is looked for there: a value stays when its path matches, or that of an object it is in. */
START_TEST(random_patterns)
{
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < 20000; i++) {
        char key[3][4], pattern[10], path[3][16], source[64];
        for (int k = 0; k < 3; k++) {
            size_t n = 1 + rng_below(&rng, 3);
            for (size_t c = 0; c < n; c++) {
                key[k][c] = "ab."[rng_below(&rng, c > 0 && c + 1 < n ? 3 : 2)];
            }
            key[k][n] = '\0';
        }
        size_t n = 1 + rng_below(&rng, 9);
        for (size_t c = 0; c < n; c++) {
            pattern[c] = "aabb..*"[rng_below(&rng, 7)];
        }
        pattern[n] = '\0';
        snprintf(path[0], sizeof(path[0]), "%s", key[0]);
        snprintf(path[1], sizeof(path[1]), "%s.%s", key[0], key[1]);
        snprintf(path[2], sizeof(path[2]), "%s.%s.%s", key[0], key[1], key[2]);
        snprintf(source, sizeof(source), "{\"%s\":{\"%s\":{\"%s\":1}}}", key[0], key[1], key[2]);
        bool shown = matches(pattern, path[0]) || matches(pattern, path[1]) || matches(pattern, path[2]);
        expect(source, pattern, NULL, shown ? source : "{}");
    }
}
END_TEST

/* A pattern of many parts against long names, each of which is its beginning. */
START_TEST(long_patterns)
{
    enum { PARTS = 3500, MEMBERS = 400 };
    struct buf source, pattern;
    buf_init(&source, NULL, BUF_UNLIMITED);
    buf_init(&pattern, NULL, BUF_UNLIMITED);
    for (int i = 0; i < PARTS; i++) {
        buf_z(&pattern, "a.");
    }
    for (int i = 0; i < MEMBERS; i++) {
        buf_z(&source, i == 0 ? "{\"" : ",\"");
        buf_add(&source, pattern.p, pattern.n - 3);
        buf_printf(&source, "%d\":{\"b\":1}", i);
    }
    buf_char(&source, '}');
    buf_z(&pattern, "z");
    clock_t start = clock();
    expect(source.p, pattern.p, NULL, "{}");
    ck_assert_int_lt((clock() - start) * 1000 / CLOCKS_PER_SEC, LIMIT_MS);
    buf_fini(&source);
    buf_fini(&pattern);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("source_filter");
    TCase *t = tcase_create("examples");
    tcase_add_test(t, objects_that_lose_all_in_arrays_go);
    tcase_add_test(t, untouched_values_stay_whole);
    tcase_add_test(t, includes_reach_below);
    tcase_add_test(t, deep_ones_are_gone_through_once);
    tcase_add_test(t, what_shows_nothing_leaves_nothing);
    tcase_add_test(t, random_patterns);
    tcase_add_test(t, long_patterns);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
