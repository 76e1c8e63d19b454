#include "common/base/jsonr.h"

#include <check.h>
#include <stdlib.h>

static struct arena arena;
static struct errmsg em = {.arena = &arena};

static struct json parsed(const char *text)
{
    struct json v;
    ck_assert_int_eq(json_parse(&v, str_of(text), &arena, &json_limits_default, &em), ERR_OK);
    return v;
}

/* What Elasticsearch's parsers make of these as int and as long. */
START_TEST(whole_numbers)
{
    static const struct {
        const char *json;
        enum err as_int;
        int32_t i;
        enum err as_long;
        int64_t l;
    } cases[] = {{"5", ERR_OK, 5, ERR_OK, 5},
                 {"-7.9", ERR_OK, -7, ERR_OK, -7},
                 {"\"12\"", ERR_OK, 12, ERR_OK, 12},
                 {"\"1.5\"", ERR_OK, 1, ERR_OK, 1},
                 {"2147483648", ERR_INPUT_COERCION, 0, ERR_OK, 2147483648LL},
                 {"\"2147483648\"", ERR_ILLEGAL_ARGUMENT, 0, ERR_OK, 2147483648LL},
                 {"99999999999999999999", ERR_INPUT_COERCION, 0, ERR_INPUT_COERCION, 0},
                 {"\"99999999999999999999\"", ERR_ILLEGAL_ARGUMENT, 0, ERR_ILLEGAL_ARGUMENT, 0},
                 {"\"NaN\"", ERR_OK, 0, ERR_ILLEGAL_ARGUMENT, 0},
                 {"\"-Infinity\"", ERR_ILLEGAL_ARGUMENT, 0, ERR_ILLEGAL_ARGUMENT, 0},
                 {"\"x\"", ERR_NUMBER_FORMAT, 0, ERR_ILLEGAL_ARGUMENT, 0},
                 {"true", ERR_JSON, 0, ERR_JSON, 0}};
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct json v = parsed(cases[k].json);
        int32_t i = 0;
        int64_t l = 0;
        ck_assert_msg(jr_int(&v, &i, &em) == cases[k].as_int, "%s as int", cases[k].json);
        ck_assert_msg(jr_long(&v, &l, &em) == cases[k].as_long, "%s as long", cases[k].json);
        ck_assert_msg(cases[k].as_int != ERR_OK || i == cases[k].i, "%s: %d", cases[k].json, i);
        ck_assert_msg(cases[k].as_long != ERR_OK || l == cases[k].l, "%s: %lld", cases[k].json, (long long)l);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jsonr");
    TCase *t = tcase_create("values");
    tcase_add_test(t, whole_numbers);
    suite_add_tcase(s, t);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    arena_fini(&arena);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
