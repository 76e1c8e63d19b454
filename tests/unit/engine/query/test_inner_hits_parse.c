/* inner_hits: what its object may hold, and what it says when it does not. */
#include <check.h>
#include <stdlib.h>

#include "engine/query/source.h"

static struct arena arena;
static struct errmsg em = {.arena = &arena};

static enum err parse(const char *text, struct inner_hits_spec *out)
{
    struct json *tree = ARENA_NEW(&arena, struct json);
    err_clear(&em);
    ck_assert_int_eq(json_parse(tree, str_of(text), &arena, &json_limits_default, &em), ERR_OK);
    return inner_hits_parse(out, tree, str_of(text), &arena, &em);
}

START_TEST(defaults)
{
    struct inner_hits_spec s;
    ck_assert_int_eq(parse("{}", &s), ERR_OK);
    ck_assert(s.name.p == NULL && !s.ignore_unmapped);
    ck_assert_int_eq(s.source->size, 3);
    ck_assert_int_eq(s.source->from, 0);
}
END_TEST

START_TEST(every_key)
{
    struct inner_hits_spec s;
    const char *text =
        "{\"name\":\"x\",\"ignore_unmapped\":\"true\",\"from\":\"1\",\"size\":2.5,\"explain\":true,"
        "\"version\":true,"
        "\"track_scores\":false,\"stored_fields\":\"a\",\"docvalue_fields\":{\"field\":\"b\"},\"fields\":[3],"
        "\"script_fields\":{\"f\":{\"script\":\"1\"}},\"sort\":[\"c\"],\"_source\":false,"
        "\"highlight\":{\"fields\":{}},\"collapse\":{\"field\":\"d\"}}";
    ck_assert_int_eq(parse(text, &s), ERR_OK);
    ck_assert(str_is(s.name, "x") && s.ignore_unmapped);
    ck_assert_int_eq(s.source->from, 1);
    ck_assert_int_eq(s.source->size, 2);
    ck_assert(s.source->explain && s.source->version && !s.source->source.enabled);
    ck_assert_uint_eq(s.source->n_docvalue_fields, 1);
    ck_assert(str_is(s.source->docvalue_fields[0].field, "b"));
    ck_assert(str_is(s.source->fields[0].field, "3"));
    ck_assert(str_is(s.source->collapse.field, "d"));
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *text;
        enum err root;
    } cases[] = {
        {"[]", ERR_X_CONTENT},
        {"{\"zz\":1}", ERR_X_CONTENT},
        {"{\"name\":3}", ERR_X_CONTENT},
        {"{\"size\":null}", ERR_X_CONTENT},
        {"{\"sort\":\"c\"}", ERR_X_CONTENT},
        {"{\"docvalue_fields\":\"c\"}", ERR_X_CONTENT},
        {"{\"script_fields\":[]}", ERR_X_CONTENT},
        {"{\"highlight\":[]}", ERR_X_CONTENT},
        {"{\"collapse\":\"c\"}", ERR_X_CONTENT},
        {"{\"size\":-1}", ERR_ILLEGAL_ARGUMENT},
        {"{\"from\":-1}", ERR_ILLEGAL_ARGUMENT},
        {"{\"collapse\":{}}", ERR_PARSING},
        {"{\"collapse\":{\"x\":1}}", ERR_PARSING},
        {"{\"collapse\":{\"field\":\"d\",\"inner_hits\":{}}}", ERR_PARSING},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct inner_hits_spec s;
        ck_assert_msg(parse(cases[i].text, &s) != ERR_OK, "%s", cases[i].text);
        ck_assert_msg(err_code(&em) == ERR_X_CONTENT, "%s", cases[i].text);
        ck_assert_msg(err_innermost(&em)->code == cases[i].root, "%s: %s", cases[i].text,
                      err_type(err_innermost(&em)->code));
    }
}
END_TEST

START_TEST(no_memory_anywhere)
{
    const char *text = "{\"name\":\"x\",\"docvalue_fields\":{\"field\":\"b\"},\"sort\":[\"c\"],\"stored_"
                       "fields\":[\"a\",\"b\"]}";
    struct json tree;
    ck_assert_int_eq(json_parse(&tree, str_of(text), &arena, &json_limits_default, &em), ERR_OK);
    for (size_t room = 0; room < 16 * KIB; room += 64) {
        struct arena small;
        struct inner_hits_spec s;
        arena_init(&small, NULL, room);
        err_clear(&em);
        enum err e = inner_hits_parse(&s, &tree, str_of(text), &small, &em);
        ck_assert(e == ERR_OK || err_is(&em));
        arena_fini(&small);
    }
}
END_TEST

static void setup(void)
{
    arena_init(&arena, NULL, ARENA_UNLIMITED);
}

static void teardown(void)
{
    arena_fini(&arena);
}

int main(void)
{
    Suite *s = suite_create("inner_hits_parse");
    TCase *t = tcase_create("object");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, every_key);
    tcase_add_test(t, refusals);
    tcase_add_test(t, no_memory_anywhere);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
