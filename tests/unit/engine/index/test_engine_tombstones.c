/* Deletes and no-ops leave documents behind that nobody finds: their numbers and counts are Elasticsearch's. */
#include "tests/unit/engine/index/engine_rig.h"

#include <check.h>
#include <stdlib.h>

static struct rig rig;

static void begin(void)
{
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    engine_set_retention(rig.e, 0);
}

static void refresh(void)
{
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    engine_invariant(rig.e);
    rig_check(&rig, true);
}

static void merge(void)
{
    struct engine_merge_wish wish = {.max_segments = 1};
    struct engine_merge *m;
    refresh();
    for (;;) {
        ck_assert_int_eq(engine_merge_plan(rig.e, &wish, &m, NULL), ERR_OK);
        if (m == NULL) {
            break;
        }
        engine_merge_run(m);
        ck_assert_int_eq(engine_merge_commit(rig.e, m, NULL), ERR_OK);
    }
    refresh();
}

static void flush(void)
{
    engine_set_global_checkpoint(rig.e, rig.next - 1);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    rig.acked = rig.next - 1;
    ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
}

static void write_noop(void)
{
    struct engine_op op;
    struct engine_result res;
    char id[16], text[64];
    rig_make_op(&op, OP_NOOP, 0, 0, id, text);
    op.version = 0;
    ck_assert_int_eq(rig_primary(&rig, &op, &res, NULL), ERR_OK);
}

/* Roots alone: the documents of this file have no nested ones. */
static void expect(uint64_t docs, uint64_t deleted, uint64_t segments)
{
    struct engine_stats st;
    engine_stats(rig.e, &st);
    ck_assert_uint_eq(st.docs, docs);
    ck_assert_uint_eq(st.docs_deleted, deleted);
    ck_assert_uint_eq(st.segments, segments);
}

/* An id whose newest document has no nested ones. */
static void write_plain(unsigned id)
{
    struct engine_op op;
    struct engine_result res;
    char id_text[16], text[64];
    rig_make_op(&op, OP_INDEX, id, 3 * ++rig.numbers + 1, id_text, text);
    ck_assert_int_eq(rig_primary(&rig, &op, &res, NULL), ERR_OK);
}

START_TEST(deletes_leave_tombstones)
{
    begin();
    write_plain(1);
    write_plain(2);
    refresh();
    expect(2, 0, 1);
    rig_delete(&rig, 2, NULL);
    ck_assert(engine_refresh_needed(rig.e));
    refresh();
    expect(1, 2, 2); /* a segment that is nothing but the tombstone */
    flush();
    expect(1, 2, 2);
    write_plain(3);
    rig_delete(&rig, 3, NULL);
    write_plain(3);
    refresh();
    expect(2, 4, 3);
    rig_fini(&rig);
}
END_TEST

START_TEST(deletes_of_nothing_and_no_ops_too)
{
    begin();
    rig_delete(&rig, 7, NULL); /* the first operation of all */
    ck_assert(engine_refresh_needed(rig.e));
    refresh();
    expect(0, 1, 1);
    rig_delete(&rig, 7, NULL);
    rig_delete(&rig, 8, NULL);
    refresh();
    expect(0, 3, 2);
    write_noop(); /* a segment without any id */
    refresh();
    expect(0, 4, 3);
    merge();
    expect(0, 4, 1);
    write_plain(7);
    refresh();
    expect(1, 4, 2);
    struct view *v = engine_view_ref(rig.e);
    ck_assert_uint_eq(v->leaves[1].base, 4);
    view_unref(v);
    rig_fini(&rig);
}
END_TEST

START_TEST(merges_drop_them_when_nobody_needs_them)
{
    begin();
    for (unsigned i = 0; i < 4; i++) {
        write_plain(i);
        rig_delete(&rig, i, NULL);
    }
    write_noop();
    write_plain(9);
    merge();
    expect(1, 9, 1);
    engine_set_retention(rig.e, rig.next);
    flush();
    merge();
    expect(1, 0, 1);
    rig_delete(&rig, 0, NULL);
    rig_delete(&rig, 9, NULL);
    refresh();
    expect(0, 2, 1); /* the segment of what nobody needs went with the last of its documents */
    engine_set_retention(rig.e, rig.next);
    flush();
    merge();
    expect(0, 0, 0);
    rig_fini(&rig);
}
END_TEST

/* index.soft_deletes.retention.operations: so many up to the global checkpoint stay. */
START_TEST(so_many_operations_stay)
{
    begin();
    rig.opts.settings.retention_operations = 3;
    engine_set_settings(rig.e, &rig.opts.settings);
    for (unsigned i = 0; i < 5; i++) {
        rig_delete(&rig, i, NULL);
    }
    refresh();
    engine_set_retention(rig.e, rig.next);
    flush();
    write_plain(1);
    merge();
    expect(1, 3, 1); /* the document is above the checkpoint that was told */
    rig_fini(&rig);
}
END_TEST

/* index.soft_deletes.enabled: false. */
START_TEST(or_deletes_leave_nothing)
{
    rig_init(&rig, 1);
    rig.opts.settings.soft_deletes = false;
    rig_open(&rig, ENGINE_CREATE);
    engine_set_retention(rig.e, 0);
    rig_delete(&rig, 7, NULL);
    ck_assert(!engine_refresh_needed(rig.e));
    write_plain(1);
    write_plain(2);
    rig_delete(&rig, 1, NULL);
    refresh();
    expect(1, 1, 1);
    merge();
    expect(1, 0, 1);
    rig_delete(&rig, 2, NULL);
    refresh();
    expect(0, 0, 0);
    rig_fini(&rig);
}
END_TEST

START_TEST(they_are_there_after_a_crash)
{
    begin();
    write_plain(1);
    rig_delete(&rig, 1, NULL);
    flush();
    rig_delete(&rig, 2, NULL);
    write_noop();
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    rig.acked = rig.next - 1;
    rig_crash(&rig, 1);
    rig_recover(&rig);
    expect(0, 4, 2);
    engine_set_retention(rig.e, 0);
    write_plain(3);
    refresh();
    expect(1, 4, 3);
    rig_fini(&rig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine_tombstones");
    TCase *c = tcase_create("all");
    tcase_add_test(c, deletes_leave_tombstones);
    tcase_add_test(c, deletes_of_nothing_and_no_ops_too);
    tcase_add_test(c, merges_drop_them_when_nobody_needs_them);
    tcase_add_test(c, so_many_operations_stay);
    tcase_add_test(c, or_deletes_leave_nothing);
    tcase_add_test(c, they_are_there_after_a_crash);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
