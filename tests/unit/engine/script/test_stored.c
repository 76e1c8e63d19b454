/* Stored scripts: what is handed over is found by its id, and nothing else. */
#include "engine/script/stored.h"

#include <check.h>

static enum err get(const char *id, struct script_text *out)
{
    static struct arena a;
    ERR_LOCAL(em);
    arena_fini(&a);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    return stored_script_get(str_of(id), &a, out, &em);
}

START_TEST(found_by_id)
{
    const struct script_text two[] = {{STR("1"), STR("painless"), STR("a")},
                                      {STR("2"), STR("expression"), STR("b")}};
    struct script_text t;
    ck_assert_int_eq(get("a", &t), ERR_RESOURCE_NOT_FOUND);
    ck_assert(stored_scripts_set(two, 2));
    ck_assert(stored_scripts_set(two, 2));
    ck_assert_int_eq(get("a", &t), ERR_OK);
    ck_assert(str_is(t.source, "1") && str_is(t.lang, "painless") && str_is(t.id, "a"));
    ck_assert_int_eq(get("b", &t), ERR_OK);
    ck_assert_int_eq(get("", &t), ERR_RESOURCE_NOT_FOUND);
    ck_assert_int_eq(get("c", &t), ERR_RESOURCE_NOT_FOUND);
    ck_assert(stored_scripts_set(&two[1], 1));
    ck_assert_int_eq(get("a", &t), ERR_RESOURCE_NOT_FOUND);
    ck_assert(stored_scripts_set(NULL, 0));
    ck_assert_int_eq(get("b", &t), ERR_RESOURCE_NOT_FOUND);
}
END_TEST

START_TEST(compiled_by_id)
{
    const struct script_text one = {STR("1 +"), STR("painless"), STR("a")};
    struct script *s;
    struct arena a;
    struct json form;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct errmsg em = err_in(&a);
    ck_assert(stored_scripts_set(&one, 1));
    ck_assert_int_eq(json_parse(&form, STR("{\"id\":\"a\"}"), &a, &json_limits_default, NULL), ERR_OK);
    ck_assert_int_eq(script_compile_form(&s, &form, SCRIPT_FIELD, &em), ERR_SCRIPT);
    ck_assert_str_eq(err_about(&em)->script, "1 +");
    ck_assert_int_eq(json_parse(&form, STR("{\"stored\":\"x\"}"), &a, &json_limits_default, NULL), ERR_OK);
    ck_assert_int_eq(script_compile_form(&s, &form, SCRIPT_FIELD, &em), ERR_RESOURCE_NOT_FOUND);
    ck_assert(stored_scripts_set(NULL, 0));
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stored");
    TCase *c = tcase_create("stored");
    tcase_add_test(c, found_by_id);
    tcase_add_test(c, compiled_by_id);
    suite_add_tcase(s, c);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
