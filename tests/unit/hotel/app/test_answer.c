/* The search service's answers as the application's; what is not whole is an error. */
#include "hotel/app/answer.h"
#include "hotel/respond.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { LIST, FILTERS, SUGGESTION };

static const char *told(enum kind kind, const char *reply, int distance_at, bool *at_least)
{
    static char out[4000];
    struct arena a;
    struct buf b;
    ERR_LOCAL(em);
    enum err e;
    bool more = false;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (kind == LIST) {
        e = answer_list(&b, str_of(reply), distance_at, &a, &more, &em);
    } else if (kind == FILTERS) {
        e = answer_filters(&b, str_of(reply), &a, &em);
    } else {
        e = answer_suggestion(&b, str_of(reply), &a, &em);
    }
    if (at_least != NULL) {
        *at_least = more;
    }
    snprintf(out, sizeof(out), "%s%s", e == ERR_OK ? "" : "error: ", e == ERR_OK ? b.p : err_reason(&em));
    buf_fini(&b);
    arena_fini(&a);
    return out;
}

#define WHOLE "\"timed_out\":false,\"_shards\":{\"total\":1,\"successful\":1,\"skipped\":0,\"failed\":0}"
#define HITS(total, relation, hits)                                                           \
    "{\"took\":1," WHOLE ",\"hits\":{\"total\":{\"value\":" total ",\"relation\":\"" relation \
    "\"},\"hits\":[" hits "]}}"
#define NULLS_AFTER_ID                                                                           \
    "\"name\":null,\"address\":null,\"price\":null,\"score\":null,\"brand\":null,\"city\":null," \
    "\"starName\":null,"                                                                         \
    "\"business\":null,\"location\":null,\"pic\":null"

START_TEST(every_key_is_there)
{
    bool more;
    ck_assert_str_eq(told(LIST, HITS("1", "eq", "{\"_source\":{\"id\":36934}}"), -1, &more),
                     "{\"total\":1,\"hotels\":[{\"id\":36934," NULLS_AFTER_ID
                     ",\"distance\":null,\"isAD\":null,\"suggestion\":null}]}");
    ck_assert(!more);
    ck_assert_str_eq(told(LIST, HITS("10000", "gte", ""), -1, &more), "{\"total\":10000,\"hotels\":[]}");
    ck_assert(more);
    ck_assert_str_eq(
        told(LIST,
             HITS("2", "eq",
                  "{\"_source\":{\"suggestion\":[\"a\",\"b\"],\"isAD\":true,\"id\":9007199254740993,"
                  "\"other\":1},"
                  "\"sort\":[5,1.250]},{\"_source\":{\"id\":2},\"sort\":[5,\"Infinity\"]}"),
             1, NULL),
        "{\"total\":2,\"hotels\":[{\"id\":9007199254740993," NULLS_AFTER_ID
        ",\"distance\":1.250,\"isAD\":true,\"suggestion\":[\"a\",\"b\"]},{\"id\":2," NULLS_AFTER_ID
        ",\"distance\":null,\"isAD\":null,\"suggestion\":null}]}");
}
END_TEST

START_TEST(lists_of_filters)
{
#define BUCKETS(name, keys) "\"" name "\":{\"doc_count_error_upper_bound\":0,\"buckets\":[" keys "]}"
    ck_assert_str_eq(
        told(FILTERS,
             "{" WHOLE ",\"hits\":{\"hits\":[]},\"aggregations\":{" BUCKETS("starAgg", "") "," BUCKETS(
                 "brandAgg", "{\"key\":\"如家\",\"doc_count\":2},{\"key\":\"7天\",\"doc_count\":"
                             "1}") "," BUCKETS("cityAgg", "{\"key\":\"上海\",\"doc_count\":3}") "}}",
             -1, NULL),
        "{\"品牌\":[\"如家\",\"7天\"],\"城市\":[\"上海\"],\"星级\":[]}");
    ck_assert_str_eq(told(FILTERS, "{" WHOLE ",\"aggregations\":{}}", -1, NULL),
                     "error: the search service's answer has no brandAgg");
}
END_TEST

START_TEST(completions)
{
    ck_assert_str_eq(told(SUGGESTION,
                          "{" WHOLE
                          ",\"suggest\":{\"suggestions\":[{\"text\":\"s\",\"options\":[{\"text\":\"上海\"},"
                          "{\"text\":\"a\\\"b\"}]}]}}",
                          -1, NULL),
                     "[\"上海\",\"a\\\"b\"]");
    ck_assert_str_eq(
        told(SUGGESTION, "{" WHOLE ",\"suggest\":{\"suggestions\":[{\"options\":[]}]}}", -1, NULL), "[]");
    ck_assert_str_eq(told(SUGGESTION, "{" WHOLE "}", -1, NULL),
                     "error: the search service's answer has no suggestions");
}
END_TEST

START_TEST(what_is_not_whole_is_refused)
{
    static const struct {
        const char *reply, *want;
    } cases[] = {
        {"", "error: the search service's answer is not JSON"},
        {"<html>", "error: the search service's answer is not JSON"},
        {"{}", "error: the search service's answer has no _shards"},
        {"{\"_shards\":{\"failed\":2},\"hits\":{\"total\":{\"value\":0},\"hits\":[]}}",
         "error: 2 shards of the index could not answer"},
        {"{\"timed_out\":true,\"_shards\":{\"failed\":0},\"hits\":{\"total\":{\"value\":0},\"hits\":[]}}",
         "error: the search was stopped before it was complete"},
        {"{" WHOLE "}", "error: the search service's answer has no hits"},
        {"{" WHOLE ",\"hits\":{\"hits\":[]}}", "error: the search service's answer has no hits"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_str_eq(told(LIST, cases[i].reply, -1, NULL), cases[i].want);
    }
}
END_TEST

START_TEST(error_bodies)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    respond_error_body(&b, 400, "bad_request", "page", "a \"reason\"");
    ck_assert_str_eq(
        b.p, "{\"status\":400,\"error\":\"bad_request\",\"field\":\"page\",\"reason\":\"a \\\"reason\\\"\"}");
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("answer");
    TCase *t = tcase_create("answer");
    tcase_add_test(t, every_key_is_there);
    tcase_add_test(t, lists_of_filters);
    tcase_add_test(t, completions);
    tcase_add_test(t, what_is_not_whole_is_refused);
    tcase_add_test(t, error_bodies);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
