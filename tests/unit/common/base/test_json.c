#include "common/base/json.h"
#include "common/base/jsonw.h"
#include "common/base/num.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

START_TEST(round_trip)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct json v;
    ERR_LOCAL(em);
    struct str text = STR("{\"a\":[1,2.50,-3e5,true,null,\"x\\u00e9\\n\"], /* c */ \"b\":{}}");
    ck_assert_int_eq(json_parse(&v, text, &a, &json_limits_default, &em), ERR_OK);
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct jsonw w;
    jsonw_init(&w, &b, false);
    jw_value(&w, &v);
    ck_assert_str_eq(b.p, "{\"a\":[1,2.50,-3e5,true,null,\"xé\\n\"],\"b\":{}}");
    ck_assert_uint_eq(json_path(&v, "b")->off, str_find(text, '}', 0) - 1);
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

START_TEST(syntax_errors)
{
    static const struct {
        const char *text;
        enum err want;
    } cases[] = {{"{", ERR_JSON_EOF},         {"", ERR_JSON_EOF},
                 {"{\"a\":}", ERR_JSON},      {"{\"a\":1,\"a\":2}", ERR_JSON},
                 {"[1] x", ERR_JSON},         {"{\"a\" 1}", ERR_JSON},
                 {"nul", ERR_JSON},           {"{\"a\":1,", ERR_JSON},
                 {"{\"a\":1.", ERR_JSON},     {"{\"a\":-", ERR_JSON_EOF},
                 {"{} /* x", ERR_JSON_EOF},   {"{} // x", ERR_OK},
                 {"\"\x01\"", ERR_JSON},      {"{} \"", ERR_JSON_EOF},
                 {"{}\"x", ERR_JSON_EOF},     {"[] /", ERR_JSON_EOF},
                 {"1 \"", ERR_JSON_EOF},      {"{} t", ERR_JSON},
                 {"{} 1", ERR_JSON_EOF},      {"{} /* x */ \"", ERR_JSON_EOF},
                 {"{} /* x */ // y", ERR_OK}, {"12", ERR_OK},
                 {" 1.5e3 ", ERR_OK},         {"true", ERR_OK},
                 {"null // x", ERR_OK},       {"\"a\"", ERR_OK},
                 {"{}\r\n\t ", ERR_OK},       {"{}\v", ERR_JSON},
                 {"{\"a\":\f1}", ERR_JSON},   {"\v{}", ERR_JSON},
                 {"12\f", ERR_JSON}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        struct json v;
        ERR_LOCAL(em);
        enum err e = json_parse(&v, str_of(cases[i].text), &a, &json_limits_default, &em);
        ck_assert_msg(e == cases[i].want, "%s: %s", cases[i].text, err_type(e));
        arena_fini(&a);
    }
}
END_TEST

/* Whatever an object was made by, a member finds room in it: its neighbour stays as it is. */
START_TEST(members_are_put_into_parsed_objects)
{
    for (uint32_t n = 0; n < 20; n++) {
        struct arena a;
        struct json v, copy;
        struct buf text;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        buf_init(&text, NULL, BUF_UNLIMITED);
        buf_z(&text, "{\"into\":{");
        for (uint32_t i = 0; i < n; i++) {
            buf_printf(&text, "%s\"k%u\":%u", i > 0 ? "," : "", i, i);
        }
        buf_z(&text, "},\"neighbour\":{\"x\":1}}");
        ck_assert_int_eq(json_parse(&v, buf_view(&text), &a, &json_limits_default, NULL), ERR_OK);
        ck_assert(json_copy(&copy, &v, &a));
        struct json *both[] = {&v, &copy};
        for (size_t k = 0; k < ARRAY_LEN(both); k++) {
            struct json *into = json_member_of(both[k], STR("into"));
            ck_assert(json_put(into, &a, STR("more"), json_mk_str(STR("y"))));
            ck_assert_uint_eq(into->n, n + 1);
            ck_assert(json_get(into, "more") != NULL && (n == 0 || json_get(into, "k0") != NULL));
            ck_assert(json_path(both[k], "neighbour.x") != NULL);
        }
        buf_fini(&text);
        arena_fini(&a);
    }
}
END_TEST

START_TEST(numbers_print_as_java_does)
{
    static const struct {
        double v;
        const char *want;
    } cases[] = {{0, "0.0"},
                 {1, "1.0"},
                 {0.1, "0.1"},
                 {1e7, "1.0E7"},
                 {1234567.5, "1234567.5"},
                 {1e-3, "0.001"},
                 {1e-4, "1.0E-4"},
                 {123456789.125, "1.23456789125E8"},
                 {-2.5, "-2.5"},
                 {31.19999995920807, "31.19999995920807"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        struct jsonw w;
        jsonw_init(&w, &b, false);
        jw_double(&w, cases[i].v);
        ck_assert_str_eq(b.p, cases[i].want);
        buf_fini(&b);
    }
}
END_TEST

/* A bulk parses each of its lines into one arena: what only parsing needs must not stay there. */
START_TEST(parsing_leaves_the_tree_alone)
{
    struct arena a;
    ERR_LOCAL(em);
    struct json v;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(json_parse(&v, STR("{\"index\":{}}"), &a, &json_limits_default, &em), ERR_OK);
    }
    ck_assert_uint_lt(a.bytes_used, 1000 * 4 * sizeof(struct json_member));
    arena_fini(&a);
}
END_TEST

/* More values side by side, and deeper ones, than the parser has room for in itself. */
START_TEST(large_trees_are_whole)
{
    struct arena a;
    ERR_LOCAL(em);
    struct json v;
    struct buf text;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (size_t n = 0; n < 40; n++) {
        buf_init(&text, NULL, BUF_UNLIMITED);
        for (size_t i = 0; i < n; i++) {
            buf_z(&text, "[\"a\\n\",");
        }
        buf_char(&text, '[');
        for (size_t i = 0; i < n; i++) {
            buf_printf(&text, "%s%zu", i > 0 ? "," : "", i);
        }
        buf_char(&text, ']');
        for (size_t i = 0; i < n; i++) {
            buf_char(&text, ']');
        }
        ck_assert_int_eq(json_parse(&v, buf_view(&text), &a, &json_limits_default, &em), ERR_OK);
        const struct json *at = &v;
        for (size_t i = 0; i < n; i++) {
            ck_assert_uint_eq(at->n, 2);
            ck_assert(str_is(at->items[0].s, "a\n"));
            at = &at->items[1];
        }
        ck_assert_uint_eq(at->n, n);
        for (size_t i = 0; i < n; i++) {
            int64_t x;
            ck_assert(num_parse_i64(at->items[i].s, &x) && x == (int64_t)i);
        }
        buf_fini(&text);
    }
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("json");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, round_trip);
    tcase_add_test(tc, syntax_errors);
    tcase_add_test(tc, members_are_put_into_parsed_objects);
    tcase_add_test(tc, numbers_print_as_java_does);
    tcase_add_test(tc, parsing_leaves_the_tree_alone);
    tcase_add_test(tc, large_trees_are_whole);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
