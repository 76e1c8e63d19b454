/* The simulator's checker can fail: what must not be is found in histories made up for it. */
#include "tests/sim/history.h"

#include <check.h>
#include <stdlib.h>

static unsigned one_shard(void *self, unsigned doc)
{
    (void)self;
    (void)doc;
    return 0;
}

static struct history h;

static void write(unsigned doc, uint64_t value, enum write_fate fate, int64_t seq_no, int64_t if_seq_no)
{
    history_begin(&h, &(struct past_write){.doc = doc,
                                           .value = value,
                                           .is_delete = value == 0,
                                           .if_seq_no = if_seq_no,
                                           .fate = fate,
                                           .seq_no = seq_no,
                                           .term = 1,
                                           .ended_ms = 1});
}

static const char *check(struct last_doc last)
{
    const char *wrong = history_check(&h, &last, 1, one_shard, NULL);
    history_free(&h);
    return wrong;
}

START_TEST(what_may_be)
{
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1);
    write(0, 2, FATE_ACKNOWLEDGED, 1, 0);
    ck_assert_ptr_null(check((struct last_doc){true, 2, 1, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1);
    write(0, 2, FATE_UNKNOWN, -1, -1);
    ck_assert_ptr_null(check((struct last_doc){true, 2, 1, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1);
    write(0, 2, FATE_UNKNOWN, -1, -1);
    ck_assert_ptr_null(check((struct last_doc){true, 1, 0, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1);
    write(0, 0, FATE_UNKNOWN, -1, -1);
    ck_assert_ptr_null(check((struct last_doc){0}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1);
    write(0, 0, FATE_ACKNOWLEDGED, 1, -1);
    ck_assert_ptr_null(check((struct last_doc){0}));
}
END_TEST

START_TEST(what_must_not_be)
{
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1); /* lost */
    ck_assert_ptr_nonnull(check((struct last_doc){0}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1); /* an older one came back */
    write(0, 2, FATE_ACKNOWLEDGED, 1, -1);
    ck_assert_ptr_nonnull(check((struct last_doc){true, 1, 0, 1}));
    write(0, 1, FATE_REFUSED, -1, -1);
    ck_assert_ptr_nonnull(check((struct last_doc){true, 1, 0, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1); /* nobody's */
    ck_assert_ptr_nonnull(check((struct last_doc){true, 7, 1, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1); /* one number twice */
    write(0, 2, FATE_ACKNOWLEDGED, 0, -1);
    ck_assert_ptr_nonnull(check((struct last_doc){true, 2, 0, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 0, -1); /* compare-and-set over what came between */
    write(0, 2, FATE_ACKNOWLEDGED, 1, -1);
    write(0, 3, FATE_ACKNOWLEDGED, 2, 0);
    ck_assert_ptr_nonnull(check((struct last_doc){true, 3, 2, 1}));
    write(0, 1, FATE_ACKNOWLEDGED, 5, -1); /* another value under an acknowledged number */
    write(0, 2, FATE_UNKNOWN, -1, -1);
    ck_assert_ptr_nonnull(check((struct last_doc){true, 2, 5, 1}));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("history");
    TCase *c = tcase_create("all");
    tcase_add_test(c, what_may_be);
    tcase_add_test(c, what_must_not_be);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
