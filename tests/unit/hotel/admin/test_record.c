/* Records of the management service: read, refused field by field, merged, written. */
#include "hotel/admin/record.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE                                                                                            \
    "{\"id\":1,\"name\":\"n\",\"address\":\"a\",\"price\":2,\"score\":3,\"brand\":\"b\",\"city\":\"c\"," \
    "\"starName\":\"五星级\",\"business\":\"d\",\"latitude\":\"4\",\"longitude\":\"5\",\"pic\":\"p\"}"

/* The names of the fields that are wrong, "ok", or "body: reason" shortened to "body". */
static const char *wrong(const char *body, bool whole)
{
    static char out[400];
    struct arena a;
    struct record r;
    size_t n = 0;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    enum err e = record_read(&r, str_of(body), whole, &a, NULL);
    snprintf(out, sizeof(out), "%s", e == ERR_OK ? "ok" : "body");
    for (size_t i = 0; e == ERR_OK && i < r.problems_n; i++) {
        ck_assert_str_ne(r.problems[i].reason, "");
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s", i > 0 ? " " : "", r.problems[i].field);
    }
    arena_fini(&a);
    return out;
}

START_TEST(whole_records)
{
    ck_assert_str_eq(wrong(WHOLE, true), "ok");
    ck_assert_str_eq(wrong("{}", true), "id name address price score brand city latitude longitude");
    ck_assert_str_eq(wrong("{}", false), "ok");
    ck_assert_str_eq(wrong("", true), "body");
    ck_assert_str_eq(wrong("[]", true), "body");
    ck_assert_str_eq(wrong("{\"id\":}", true), "body");
}
END_TEST

START_TEST(fields)
{
    static const struct {
        const char *body, *want;
    } cases[] = {
        {"{\"id\":\"9223372036854775807\",\"price\":\"7\",\"latitude\":-90,\"longitude\":180.0}", "ok"},
        {"{\"unknown\":{},\"isAD\":true,\"location\":\"1, 2\",\"suggestion\":[]}", "ok"},
        {"{\"name\":null,\"price\":null,\"starName\":null}", "ok"},
        {"{\"starName\":\"\",\"business\":\" \",\"pic\":\"\"}", "ok"},
        {"{\"name\":\"\"}", "name"},
        {"{\"name\":\" \\t\"}", "name"},
        {"{\"name\":1,\"address\":true,\"brand\":[],\"city\":{}}", "name address brand city"},
        {"{\"price\":-1,\"score\":51}", "price score"},
        {"{\"price\":1.0,\"score\":\"4.5\"}", "price score"},
        {"{\"price\":2147483648}", "price"},
        {"{\"latitude\":\"90.5\",\"longitude\":\"-181\"}", "latitude longitude"},
        {"{\"latitude\":\"NaN\",\"longitude\":\"1e2\"}", "latitude longitude"},
        {"{\"starName\":\"5星\"}", "ok"},
        {"{\"starName\":\"三钻\"}", "ok"},
        {"{\"starName\":\"六星\"}", "starName"},
        {"{\"starName\":\"五星级酒店\"}", "starName"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_msg(strcmp(wrong(cases[i].body, false), cases[i].want) == 0, "%s: %s", cases[i].body,
                      wrong(cases[i].body, false));
    }
}
END_TEST

START_TEST(merging)
{
    struct arena a;
    struct record r;
    struct hotel stored;
    struct buf out;
    struct jsonw w;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(record_read(&r, STR(WHOLE), true, &a, NULL), ERR_OK);
    stored = r.h;
    ck_assert_int_eq(record_read(&r, STR("{\"price\":9,\"name\":null,\"business\":\"\"}"), false, &a, NULL),
                     ERR_OK);
    record_merge(&stored, &r);
    jsonw_init(&w, &out, false);
    record_write(&w, &stored);
    ck_assert_str_eq(out.p,
                     "{\"id\":1,\"name\":\"n\",\"address\":\"a\",\"price\":9,\"score\":3,\"brand\":\"b\","
                     "\"city\":\"c\",\"starName\":\"五星级\",\"business\":null,\"latitude\":\"4\","
                     "\"longitude\":\"5\",\"pic\":\"p\"}");
    buf_fini(&out);
    arena_fini(&a);
}
END_TEST

START_TEST(problems_are_told_once)
{
    struct arena a;
    struct record r;
    struct buf out;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(record_read(&r, STR("{\"price\":-1}"), false, &a, NULL), ERR_OK);
    record_problem(&r, HOTEL_COL_price, "again");
    record_write_problems(&out, &r);
    ck_assert_str_eq(out.p,
                     "{\"status\":400,\"error\":\"bad_request\",\"reason\":\"price must be from 0 to "
                     "2147483647, it was -1\",\"fields\":[{\"field\":\"price\",\"reason\":\"must be from "
                     "0 to 2147483647, it was -1\"}]}");
    buf_fini(&out);
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("record");
    TCase *t = tcase_create("record");
    tcase_add_test(t, whole_records);
    tcase_add_test(t, fields);
    tcase_add_test(t, merging);
    tcase_add_test(t, problems_are_told_once);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
