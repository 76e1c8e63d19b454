/* Objects read by rows of fields: values, arguments, and the words and places of refusals. */
#include "common/base/arena.h"
#include "common/base/jsonr_object.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct point {
    int32_t x, y;
    bool shown;
    struct str name;
    unsigned built;
};

static enum err build(struct jr_reader *rd, void *to)
{
    struct point *p = to;
    p->built++;
    return p->x < 0 ? err_set(rd->em, ERR_ILLEGAL_ARGUMENT, "x is negative") : ERR_OK;
}

static const struct jr_field fields[] = {{"x", JR_INT_AT(struct point, x), JR_REQUIRED},
                                         {"y", JR_INT_AT(struct point, y), JR_REQUIRED},
                                         {"name", JR_STR_AT(struct point, name), JR_OPTIONAL},
                                         {"shown", JR_BOOL_AT(struct point, shown), JR_SETTER}};
static const struct jr_object object = {"point", fields, ARRAY_LEN(fields), NULL, build};

/* The points of an array, or the chain of reasons, outermost first, with " < " between. */
static void check(const char *text, unsigned n_wanted, const char *reasons)
{
    struct arena a;
    struct json tree;
    ERR_LOCAL(em);
    void *points;
    uint32_t n = 0;
    char said[1024] = "";
    arena_init(&a, NULL, ARENA_UNLIMITED);
    err_clear(&em);
    ck_assert(json_parse(&tree, str_of(text), &a, &json_limits_default, NULL) == ERR_OK);
    struct jr_reader rd = {.text = str_of(text), .arena = &a, .em = &em};
    enum err e = jr_read_objects(&rd, &object, &tree, sizeof(struct point), &points, &n);
    for (const struct err_frame *f = em.frame; f != NULL; f = f->cause) {
        size_t at = strlen(said);
        snprintf(said + at, sizeof(said) - at, "%s%s", f != em.frame ? " < " : "", f->reason);
    }
    ck_assert_str_eq(said, reasons);
    ck_assert((e == ERR_OK) == (reasons[0] == '\0'));
    if (e == ERR_OK) {
        const struct point *p = points;
        ck_assert_uint_eq(n, n_wanted);
        for (uint32_t i = 0; i < n; i++) {
            ck_assert(p[i].built == 1 && p[i].x == 1 + (int32_t)i && p[i].y == 2);
        }
    }
    arena_fini(&a);
}

START_TEST(reads)
{
    check("[{\"x\": 1, \"y\": \"2\"}, {\"y\": 2, \"shown\": \"true\", \"x\": 2, \"name\": \"p\"}]", 2, "");
    check("{\"name\": \"p\", \"x\": 1, \"y\": 2, \"shown\": true}", 1, "");
    check("[]", 0, "");
}
END_TEST

START_TEST(refuses)
{
    check("{}", 0, "Required [x, y]");
    check("{\"x\": 1}", 0, "Required [y]");
    check("{\"z\": 1}", 0, "[1:2] [point] unknown field [z]");
    check("{\"x\": []}", 0, "[1:7] [point] x doesn't support values of type: START_ARRAY");
    check("{\"x\": \"a\"}", 0, "[1:7] [point] failed to parse field [x] < For input string: \"a\"");
    check("[3]", 0, "[1:3] [point] Expected START_OBJECT but was: END_ARRAY");
    check("{\"x\": -1, \"y\": 2}", 0,
          "Failed to build [point] after last required field arrived < x is negative");
    check("{\"x\": -1, \"name\": \"p\", \"y\": 2, \"shown\": 1}", 0,
          "[1:29] [point] failed to parse field [y] < Failed to build [point] after last required field "
          "arrived < "
          "x is negative");
}
END_TEST

START_TEST(named)
{
    static const char *const names[] = {"red", "green", NULL};
    static const struct {
        const char *text, *reason;
        size_t at;
    } cases[] = {
        {"{\"green\": {}}", "", 1},
        {"{}", "Failed to parse object: expecting token of type [FIELD_NAME] but found [END_OBJECT]", 0},
        {"{\"blue\": {}}", "[1:2] unknown field [blue]", 0},
        {"{\"red\": {}, \"green\": {}}",
         "Failed to parse object: expecting token of type [END_OBJECT] but found [FIELD_NAME]", 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        struct json tree;
        ERR_LOCAL(em);
        size_t at;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        err_clear(&em);
        ck_assert(json_parse(&tree, str_of(cases[i].text), &a, &json_limits_default, NULL) == ERR_OK);
        struct jr_reader rd = {.text = str_of(cases[i].text), .arena = &a, .em = &em};
        enum err e = jr_named_object(&rd, names, &tree, &at);
        e = e == ERR_OK ? jr_named_end(&rd, &tree) : e;
        ck_assert((e == ERR_OK) == (cases[i].reason[0] == '\0'));
        ck_assert_str_eq(err_reason(&em), cases[i].reason);
        ck_assert(e != ERR_OK || at == cases[i].at);
        arena_fini(&a);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jsonr_object");
    TCase *t = tcase_create("core");
    tcase_add_test(t, reads);
    tcase_add_test(t, refuses);
    tcase_add_test(t, named);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
