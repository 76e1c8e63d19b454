/* Request objects: read, refused, and as searches. */
#include "common/base/buf.h"
#include "hotel/app/rules.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

typedef void build_fn(struct buf *out, const struct hotel_params *p);

/* The search for a request's body, or "field: reason". */
static const char *search_of(build_fn *build, const char *body)
{
    static char out[4000];
    struct arena a;
    struct buf b;
    struct hotel_params p;
    ERR_LOCAL(em);
    const char *field;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (params_read(&p, str_of(body), &a, &field, &em) != ERR_OK) {
        buf_printf(&b, "%s: %s", field != NULL ? field : "body", err_reason(&em));
    } else {
        build(&b, &p);
    }
    snprintf(out, sizeof(out), "%s", b.p);
    buf_fini(&b);
    arena_fini(&a);
    return out;
}

#define QUERY(must, filter)                                                                               \
    "{\"query\":{\"function_score\":{\"query\":{\"bool\":{\"must\":[" must "],\"filter\":[" filter "]}}," \
    "\"functions\":[{\"filter\":{\"term\":{\"isAD\":true}},\"weight\":10}]}}"
#define ALL      "{\"match_all\":{}}"
#define BY_ID    ",{\"id\":\"asc\"}"
#define BY_SCORE ",\"sort\":[{\"_score\":\"desc\"}" BY_ID "]"

START_TEST(lists)
{
    static const struct {
        const char *body, *want;
    } cases[] = {
        {"{}", QUERY(ALL, "") ",\"from\":0,\"size\":10" BY_SCORE "}"},
        {"{\"key\":null,\"city\":\"\",\"page\":null,\"size\":null,\"minPrice\":null,\"location\":null,"
         "\"sortBy\":null}",
         QUERY(ALL, "") ",\"from\":0,\"size\":10" BY_SCORE "}"},
        {"{\"key\":\"外滩 \\\"a\\\"\",\"page\":3,\"size\":5,\"sortBy\":\"default\"}",
         QUERY("{\"match\":{\"all\":\"外滩 \\\"a\\\"\"}}", "") ",\"from\":10,\"size\":5" BY_SCORE "}"},
        {"{\"city\":\"上海\",\"brand\":\"如家\",\"starName\":\"二钻\",\"minPrice\":100,\"maxPrice\":\"300\"}",
         QUERY(ALL, "{\"term\":{\"city\":\"上海\"}},{\"term\":{\"brand\":\"如家\"}},{\"term\":{\"starName\":"
                    "\"二钻\"}},"
                    "{\"range\":{\"price\":{\"gte\":100,\"lte\":300}}}") ",\"from\":0,\"size\":10" BY_SCORE
                                                                         "}"},
        {"{\"minPrice\":100}", QUERY(ALL, "") ",\"from\":0,\"size\":10" BY_SCORE "}"},
        {"{\"maxPrice\":100,\"minPrice\":\"\"}", QUERY(ALL, "") ",\"from\":0,\"size\":10" BY_SCORE "}"},
        {"{\"sortBy\":\"score\"}",
         QUERY(ALL, "") ",\"from\":0,\"size\":10,\"sort\":[{\"score\":\"desc\"}" BY_ID "]}"},
        {"{\"sortBy\":\"priceDesc\",\"highlight\":true}",
         QUERY(ALL, "") ",\"from\":0,\"size\":10,\"sort\":[{\"price\":\"desc\"}" BY_ID "]}"},
        {"{\"key\":\"a\",\"highlight\":true}",
         QUERY("{\"match\":{\"all\":\"a\"}}",
               "") ",\"from\":0,\"size\":10" BY_SCORE
                   ",\"highlight\":{\"require_field_match\":false,\"number_of_"
                   "fragments\":0,"
                   "\"highlight_query\":{\"match\":{\"all\":\"a\"}},\"pre_tags\":[\"\xEE\x80\x80\"],\"post_"
                   "tags\":[\"\xEE\x80\x81\"],\"fields\":{\"name\":{},"
                   "\"brand\":{},\"business\":{}}}}"},
        {"{\"sortBy\":\"price\",\"location\":\" 31.5 , -121 \"}",
         QUERY(ALL,
               "") ",\"from\":0,\"size\":10,\"sort\":[{\"price\":\"asc\"},{\"_geo_distance\":{\"location\":"
                   "{\"lat\":31.5,\"lon\":-121.0},\"order\":\"asc\",\"unit\":\"km\"}}" BY_ID "]}"},
        {"{\"location\":\"0,0\",\"unknown\":[1]}",
         QUERY(ALL, "") ",\"from\":0,\"size\":10,\"sort\":[{\"_geo_distance\":{\"location\":"
                        "{\"lat\":0.0,\"lon\":0.0},\"order\":\"asc\",\"unit\":\"km\"}}" BY_ID "]}"},
        {"{\"page\":1000,\"size\":10" BY_SCORE "}", QUERY(ALL, "") ",\"from\":9990,\"size\":10" BY_SCORE "}"},
        {"{\"page\":2147483647,\"size\":0" BY_SCORE "}",
         QUERY(ALL, "") ",\"from\":0,\"size\":0" BY_SCORE "}"},
        {"{\"key\":7}", QUERY("{\"match\":{\"all\":\"7\"}}", "") ",\"from\":0,\"size\":10" BY_SCORE "}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_str_eq(search_of(rules_list, cases[i].body), cases[i].want);
    }
}
END_TEST

START_TEST(filters_take_the_same_query)
{
    ck_assert_str_eq(
        search_of(rules_filters, "{\"key\":\"x\",\"city\":\"c\",\"page\":7,\"location\":\"1,2\"}"),
        QUERY(
            "{\"match\":{\"all\":\"x\"}}",
            "{\"term\":{\"city\":\"c\"}}") ",\"size\":0,\"aggs\":{"
                                           "\"brandAgg\":{\"terms\":{\"field\":\"brand\",\"size\":100}},"
                                           "\"cityAgg\":{\"terms\":{\"field\":\"city\",\"size\":100}},"
                                           "\"starAgg\":{\"terms\":{\"field\":\"starName\",\"size\":100}}}}");
}
END_TEST

START_TEST(suggestions)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    rules_suggestion(&b, STR("外\"\n"));
    ck_assert_str_eq(b.p,
                     "{\"size\":0,\"_source\":false,\"suggest\":{\"suggestions\":{\"prefix\":\"外\\\"\\n\","
                     "\"completion\":{\"field\":\"suggestion\",\"skip_duplicates\":true,\"size\":10}}}}");
    buf_fini(&b);
}
END_TEST

START_TEST(refusals_name_their_field)
{
    static const struct {
        const char *body, *begins;
    } cases[] = {
        {"", "body: "},
        {"{", "body: "},
        {"{} x", "body: "},
        {"[]", "body: the body must be a JSON object"},
        {"null", "body: the body must be a JSON object"},
        {"{\"a\":[[[[[[[[[[1]]]]]]]]]]}", "body: "},
        {"{\"page\":0}", "page: page counts from 1, it was 0"},
        {"{\"page\":-1}", "page: page counts from 1, it was -1"},
        {"{\"page\":\"two\"}", "page: page must be a whole number"},
        {"{\"page\":1.5}", "page: page must be a whole number"},
        {"{\"page\":true}", "page: page must be a whole number"},
        {"{\"page\":99999999999}", "page: page must be a whole number"},
        {"{\"size\":-1}", "size: size must not be negative"},
        {"{\"page\":1001}", "page: page 1001 of size 10 ends behind result 10000"},
        {"{\"page\":2147483647,\"size\":2147483647}", "page: page 2147483647 of size 2147483647"},
        {"{\"size\":10001}", "page: page 1 of size 10001"},
        {"{\"minPrice\":{}}", "minPrice: minPrice must be a whole number"},
        {"{\"maxPrice\":2147483648}", "maxPrice: maxPrice must be a whole number"},
        {"{\"key\":[\"a\"]}", "key: key must be a text, not a list"},
        {"{\"city\":{}}", "city: city must be a text, not an object"},
        {"{\"location\":\"31\"}", "location: location must be"},
        {"{\"location\":\"31,\"}", "location: location must be"},
        {"{\"location\":\"1,2,3\"}", "location: location must be"},
        {"{\"location\":\"NaN,2\"}", "location: location must be"},
        {"{\"location\":\"0x1,2\"}", "location: location must be"},
        {"{\"location\":\"1e999,2\"}", "location: location: the latitude"},
        {"{\"location\":\"91,2\"}", "location: location: the latitude"},
        {"{\"location\":\"90,-180.1\"}", "location: location: the longitude"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *have = search_of(rules_list, cases[i].body);
        ck_assert_msg(strncmp(have, cases[i].begins, strlen(cases[i].begins)) == 0, "%s: %s", cases[i].body,
                      have);
    }
}
END_TEST

START_TEST(long_texts)
{
    char body[4000] = "{\"brand\":\"";
    for (int i = 0; i < PARAMS_TEXT_CHARS_MAX; i++) {
        strcat(body, "店");
    }
    size_t n = strlen(body);
    strcpy(body + n, "\"}");
    ck_assert_ptr_nonnull(strstr(search_of(rules_list, body), "\"term\""));
    strcpy(body + n, "x\"}");
    ck_assert_str_eq(search_of(rules_list, body), "brand: brand has 513 characters, at most 512 are allowed");
}
END_TEST

START_TEST(places_of_the_distance)
{
    struct hotel_params p = {.sort_by = SORT_PRICE};
    ck_assert_int_eq(rules_distance_at(&p), -1);
    p.has_location = true;
    ck_assert_int_eq(rules_distance_at(&p), 1);
    p.sort_by = SORT_RELEVANCE;
    ck_assert_int_eq(rules_distance_at(&p), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rules");
    TCase *t = tcase_create("rules");
    tcase_add_test(t, lists);
    tcase_add_test(t, filters_take_the_same_query);
    tcase_add_test(t, suggestions);
    tcase_add_test(t, refusals_name_their_field);
    tcase_add_test(t, long_texts);
    tcase_add_test(t, places_of_the_distance);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
