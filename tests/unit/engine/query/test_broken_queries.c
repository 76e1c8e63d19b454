/* Queries whose text is cut off or damaged at every byte: their parser comes to an end, and what does not parse
 * as JSON is refused as that. The processor time that a text may take guards against loops that do not end. */
#include "engine/query/query.h"

#include <check.h>

static const char *const queries[] = {
    "{\"bool\":{\"must\":[{\"match_all\":{}}],\"should\":{\"term\":{\"k\":\"a\"}},\"minimum_should_match\":1}"
    "}",
    "{\"boosting\":{\"positive\":{\"match_all\":{}},\"negative\":{\"match_none\":{}},\"negative_boost\":0.5}"
    "}",
    "{\"constant_score\":{\"filter\":{\"term\":{\"k\":{\"value\":\"a\"}}},\"boost\":2}}",
    "{\"dis_max\":{\"queries\":[{\"match_all\":{}},{\"ids\":{\"values\":[\"1\"]}}],\"tie_breaker\":0.2}}",
    "{\"nested\":{\"path\":\"o\",\"query\":{\"match_all\":{}},\"inner_hits\":{\"size\":2}}}",
    "{\"function_score\":{\"functions\":[{\"filter\":{\"match_all\":{}},\"weight\":2},"
    "{\"gauss\":{\"n\":{\"origin\":1,\"scale\":2}}},{\"random_score\":{\"seed\":3}},"
    "{\"script_score\":{\"script\":{\"source\":\"1\",\"params\":{\"a\":[1]}}}}],\"score_mode\":\"sum\"}}",
    "{\"geo_bounding_box\":{\"at\":{\"top_left\":{\"lat\":1,\"lon\":2},\"bottom_right\":[3,0]}}}",
    "{\"geo_bounding_box\":{\"at\":{\"top\":3,\"left\":1,\"bottom\":2,\"right\":4},\"type\":\"indexed\"}}",
    "{\"geo_distance\":{\"distance\":\"2km\",\"at\":{\"lat\":1,\"lon\":2}}}",
    "{\"geo_polygon\":{\"at\":{\"points\":[{\"lat\":1,\"lon\":2},[2,3],\"4,5\"]}}}",
    "{\"match\":{\"t\":{\"query\":\"a b\",\"fuzziness\":\"AUTO:2,4\"}}}",
    "{\"multi_match\":{\"query\":\"a b\",\"fields\":[\"t^2\",\"k\"]}}",
    "{\"query_string\":{\"query\":\"a\",\"fields\":[\"t\"]}}",
    "{\"simple_query_string\":{\"query\":\"a\",\"fields\":[\"t\"],\"flags\":\"AND|OR\"}}",
    "{\"range\":{\"n\":{\"gte\":1,\"lt\":5,\"boost\":2}}}",
    "{\"script_score\":{\"query\":{\"match_all\":{}},\"script\":{\"source\":\"1\"}}}",
    "{\"script\":{\"script\":{\"source\":\"true\",\"params\":{\"x\":[1,{\"y\":2}]}}}}",
    "{\"terms\":{\"k\":[\"a\",\"b\"],\"boost\":1.5}}",
    "{\"terms\":{\"k\":{\"index\":\"e\",\"id\":\"1\",\"path\":\"k\"}}}",
    "{\"terms_set\":{\"k\":{\"terms\":[\"a\"],\"minimum_should_match_field\":\"n\"}}}",
    "{\"more_like_this\":{\"fields\":[\"t\"],\"like\":[\"a\",{\"_id\":\"1\"}]}}",
    "{\"wildcard\":{\"k\":{\"value\":\"a*\"}}}",
};

static void parse(const char *text, size_t n)
{
    struct arena a, *arena = &a;
    arena_init(arena, NULL, 1 << 22);
    struct json root;
    ERR_LOCAL(broken);
    ERR_LOCAL(em);
    size_t extra;
    enum err e = json_parse_until(&root, &extra, str_mk(text, n), arena, &json_limits_default, &broken);
    enum err got = query_check_until(&root, str_mk(text, n), &broken, NULL, arena, &em);
    if (e != ERR_OK && extra == SIZE_MAX) {
        ck_assert_msg(got != ERR_OK, "%.*s", (int)n, text);
    }
    arena_fini(arena);
}

START_TEST(cut_off)
{
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        for (size_t n = 0; n < strlen(queries[i]); n++) {
            parse(queries[i], n);
        }
    }
}
END_TEST

START_TEST(damaged)
{
    static const char damage[] = "\"{}[],:\\\xff\x01 9x";
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        size_t n = strlen(queries[i]);
        char text[1024];
        for (size_t at = 0; at < n; at++) {
            for (size_t d = 0; d + 1 < sizeof(damage); d++) {
                memcpy(text, queries[i], n);
                text[at] = damage[d];
                parse(text, n);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("broken queries");
    TCase *tc = tcase_create("broken queries");
    tcase_add_test(tc, cut_off);
    tcase_add_test(tc, damaged);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
