/* The list of types: what a row must have, and what it may leave out. */
#include "engine/mapping/field_class.h"
#include <check.h>

START_TEST(rows_are_complete)
{
    for (size_t i = 0; i < FIELD_CLASS_COUNT; i++) {
        const struct field_class *c = field_class_at(i);
        bool has_values = !c->is_object && !c->is_alias;
        ck_assert_msg(c->name != NULL && c->name[0] != 0, "row %zu has no name", i);
        ck_assert_msg(field_class_named(str_of(c->name)) == c, "%s is not found by its name", c->name);
        ck_assert_msg(c->is_object + c->is_alias + c->is_metadata <= 1, "%s is several things", c->name);
        ck_assert_msg(!c->is_nested || c->is_object, "%s: nested objects are objects", c->name);
        ck_assert_msg((c->params != NULL) == (has_values && !c->is_metadata), "%s: parameters", c->name);
        ck_assert_msg(c->value != NULL || !has_values || c->is_metadata, "%s reads no values", c->name);
        ck_assert_msg((c->name[0] == '_') == c->is_metadata, "%s: names of metadata begin with _", c->name);
        ck_assert_msg(has_values || (c->kind == VALUE_NONE && c->queries == QUERIES_NONE), "%s", c->name);
    }
}
END_TEST

START_TEST(members_fit_together)
{
    for (size_t i = 0; i < FIELD_CLASS_COUNT; i++) {
        const struct field_class *c = field_class_at(i);
        ck_assert_msg((c->kind == VALUE_RANGE) == (c->ends != NULL), "%s: ends of ranges", c->name);
        ck_assert_msg((c->kind == VALUE_RANGE) == (c->queries == QUERIES_RANGES), "%s", c->name);
        ck_assert_msg((c->kind == VALUE_DATE) == (c->queries == QUERIES_DATES), "%s", c->name);
        ck_assert_msg((c->kind == VALUE_NUMBER) == (c->queries == QUERIES_NUMBERS), "%s", c->name);
        ck_assert_msg((c->kind == VALUE_ADDRESS) == (c->queries == QUERIES_ADDRESSES), "%s", c->name);
        ck_assert_msg((c->constant != NULL) == (c->queries == QUERIES_CONSTANT), "%s", c->name);
        ck_assert_msg(c->kind == VALUE_DATE || !c->is_nanos, "%s: nanoseconds", c->name);
        ck_assert_msg(c->kind == VALUE_NUMBER || (!c->is_numeric && c->form == FORM_WHOLE), "%s", c->name);
        ck_assert_msg(num_type_is_whole(c->num) == (c->form == FORM_WHOLE), "%s: its column", c->name);
        ck_assert_msg(!c->takes_patterns || c->queries == QUERIES_TERMS, "%s: patterns are of terms",
                      c->name);
        ck_assert_msg(!c->constant_scores || c->queries == QUERIES_TERMS, "%s: scores of terms", c->name);
        ck_assert_msg(!c->refuses_ranges || c->queries == QUERIES_TERMS, "%s: ranges of terms", c->name);
        ck_assert_msg(c->term == NULL || c->queries == QUERIES_TERMS, "%s: terms of texts", c->name);
        ck_assert_msg(c->refuse_search == NULL || c->queries == QUERIES_NONE, "%s: refused", c->name);
        ck_assert_msg(!c->takes_whole || c->value != NULL, "%s reads no whole values", c->name);
    }
}
END_TEST

START_TEST(names_are_told_apart)
{
    ck_assert_ptr_null(field_class_named(STR("no such type")));
    ck_assert_ptr_eq(field_class_named(STR("scaled_float")), &field_class_scaled_float);
    ck_assert_ptr_eq(field_class_date_range.ends, &field_class_date);
    struct field f = {.class = &field_class_token_count};
    ck_assert_str_eq(field_shown_type(&f), "integer");
    ck_assert(field_is_whole(&f) && !field_is_fraction(&f) && f.class->is_numeric);
    f.class = &field_class_scaled_float;
    ck_assert(field_is_fraction(&f) && !field_is_whole(&f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("field_classes");
    TCase *t = tcase_create("field_classes");
    tcase_add_test(t, rows_are_complete);
    tcase_add_test(t, members_fit_together);
    tcase_add_test(t, names_are_told_apart);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
