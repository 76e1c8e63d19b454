/* Every kind has its row, and every row what its readers take for granted. */
#include "engine/script/classes.h"
#include "engine/script/instructions.h"
#include "engine/script/kinds.h"
#include "engine/script/nodes.h"
#include "engine/script/operators.h"

#include <check.h>
#include <stdlib.h>

START_TEST(each_kind_of_value)
{
    for (size_t i = 0; i < SV_KINDS; i++) {
        ck_assert_msg(kinds[i].class != NULL, "kind %zu has no row", i);
        ck_assert_msg(kinds[i].hash == NULL || kinds[i].equal != NULL,
                      "kind %zu hashes what it does not compare", i);
        ck_assert_msg(kinds[i].json == NULL || kinds[i].text != NULL || i == SV_FIELD, "kind %zu has no text",
                      i);
        ck_assert_msg(kinds[i].put == NULL || kinds[i].get != NULL || i == SV_ENTRY, "kind %zu", i);
        ck_assert_msg(kinds[i].put_at == NULL || kinds[i].get_at != NULL, "kind %zu is written only", i);
    }
}
END_TEST

START_TEST(each_operator)
{
    for (size_t i = OP_NONE + 1; i < OPS; i++) {
        const struct operator_row *o = &operators[i];
        ck_assert_msg(o->sign != NULL && o->words != NULL, "operator %zu has no row", i);
        bool arithmetic = o->form == FORM_ARITHMETIC;
        ck_assert_msg(o->form != FORM_NONE && (o->binary == NULL) == (o->form == FORM_UNARY), "operator %zu",
                      i);
        ck_assert_msg((o->whole != NULL) == (arithmetic || o->form == FORM_BITS), "operator %zu", i);
        ck_assert_msg((o->real != NULL) == arithmetic, "operator %zu", i);
    }
}
END_TEST

START_TEST(each_kind_of_node)
{
    for (size_t i = 0; i < NODES; i++) {
        const struct node_row *r = &nodes[i];
        ck_assert_msg(r->class != NULL && (r->words != NULL) != (r->put_words != NULL), "node %zu has no row",
                      i);
        ck_assert_msg((r->expr != NULL) != (r->stmt != NULL), "node %zu is neither or both", i);
        ck_assert_msg((r->stmt != NULL) == (i >= S_BLOCK), "node %zu", i);
        ck_assert_msg(!r->leaves || r->gives || i == S_BREAK, "node %zu", i);
    }
}
END_TEST

START_TEST(each_opcode)
{
    for (size_t i = 0; i < I_RETURN; i++) {
        ck_assert_msg(instructions[i] != NULL, "opcode %zu has no function", i);
    }
}
END_TEST

/* What type_kind() says of numbers is what their rows say. */
START_TEST(each_type)
{
    for (size_t i = 0; i < TYPES; i++) {
        enum sv_kind number = type_kind((enum type_id)i);
        ck_assert_msg(number == SV_NULL || classes[i].kind == number, "type %zu", i);
        ck_assert_msg(number == SV_NULL || classes[i].statics != NULL, "type %zu", i);
        ck_assert_msg(classes[i].holds == NULL || classes[i].kind == SV_NULL,
                      "type %zu says twice what it holds", i);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("script rows");
    TCase *t = tcase_create("script rows");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, each_kind_of_value);
    tcase_add_test(t, each_operator);
    tcase_add_test(t, each_kind_of_node);
    tcase_add_test(t, each_opcode);
    tcase_add_test(t, each_type);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
