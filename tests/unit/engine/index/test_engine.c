/* The engine: versions, retries, late operations, ids, history, memory that waits. */
#include "tests/unit/engine/index/engine_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct rig rig;

static enum err op_with(int64_t version, enum version_type type, enum engine_op_kind kind,
                        struct engine_result *res)
{
    struct engine_op op;
    char id_text[16], text[64];
    rig_make_op(&op, kind, 1, ++rig.numbers, id_text, text);
    op.version = version;
    op.version_type = type;
    return rig_primary(&rig, &op, res, NULL);
}

START_TEST(versions)
{
    struct engine_result res;
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    ck_assert_int_eq(op_with(VERSION_ANY, VERSION_INTERNAL, OP_DELETE, &res), ERR_OK);
    ck_assert(res.outcome == OUTCOME_NOT_FOUND && res.version == 1 && res.seq_no == 0);
    ck_assert_int_eq(op_with(VERSION_MUST_BE_NEW, VERSION_INTERNAL, OP_INDEX, &res), ERR_OK);
    ck_assert(res.outcome == OUTCOME_CREATED && res.version == 2);
    ck_assert_int_eq(op_with(VERSION_MUST_BE_NEW, VERSION_INTERNAL, OP_INDEX, &res), ERR_CONFLICT);
    ck_assert_int_eq(op_with(10, VERSION_EXTERNAL, OP_INDEX, &res), ERR_OK);
    ck_assert(res.outcome == OUTCOME_UPDATED && res.version == 10);
    ck_assert_int_eq(op_with(10, VERSION_EXTERNAL, OP_INDEX, &res), ERR_CONFLICT);
    ck_assert_int_eq(op_with(10, VERSION_EXTERNAL_GTE, OP_INDEX, &res), ERR_OK);
    ck_assert_int_eq(op_with(9, VERSION_EXTERNAL_GTE, OP_INDEX, &res), ERR_CONFLICT);
    ck_assert_int_eq(op_with(12, VERSION_EXTERNAL, OP_DELETE, &res), ERR_OK);
    ck_assert(res.outcome == OUTCOME_DELETED && res.version == 12);
    ck_assert_int_eq(op_with(12, VERSION_EXTERNAL, OP_INDEX, &res), ERR_CONFLICT);
    /* The tombstone's time is over: the id is as good as new. */
    clock_sim_advance(&rig.clock, (int64_t)61 * 1000000000);
    ck_assert_int_eq(op_with(3, VERSION_EXTERNAL, OP_INDEX, &res), ERR_OK);
    ck_assert(res.outcome == OUTCOME_CREATED && res.version == 3);
    rig_delete(&rig, 1, NULL);
    clock_sim_advance(&rig.clock, (int64_t)61 * 1000000000);
    struct engine_stats st;
    engine_refresh(rig.e, NULL, NULL);
    engine_stats(rig.e, &st);
    ck_assert_uint_eq(st.tombstones, 0);
    ck_assert_int_eq(op_with(VERSION_ANY, VERSION_INTERNAL, OP_INDEX, &res), ERR_OK);
    ck_assert_int_eq(res.version, 1);
    rig_fini(&rig);
}
END_TEST

START_TEST(conflicts_are_worded)
{
    struct engine_op op;
    struct engine_result res;
    ERR_LOCAL(em);
    char id_text[16], text[64];
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    rig_make_op(&op, OP_INDEX, 1, 1, id_text, text);
    op.if_seq_no = 7;
    op.if_primary_term = 2;
    ck_assert_int_eq(rig_primary(&rig, &op, &res, &em), ERR_CONFLICT);
    ck_assert_str_eq(
        err_reason(&em),
        "[id-1]: version conflict, required seqNo [7], primary term [2]. but no document was found");
    ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
    ck_assert_int_eq(rig_primary(&rig, &op, &res, &em), ERR_CONFLICT);
    ck_assert_str_eq(err_reason(&em),
                     "[id-1]: version conflict, required seqNo [7], primary term [2]. current document "
                     "has seqNo [0] and primary term [1]");
    op.if_seq_no = SEQ_UNASSIGNED;
    op.version = VERSION_MUST_BE_NEW;
    ck_assert_int_eq(rig_primary(&rig, &op, &res, &em), ERR_CONFLICT);
    ck_assert_str_eq(err_reason(&em),
                     "[id-1]: version conflict, document already exists (current version [1])");
    rig_fini(&rig);
}
END_TEST

static enum err named(uint64_t counter, int64_t version, struct engine_result *res)
{
    struct engine_op op;
    char id_text[16], text[64];
    rig_make_op(&op, OP_INDEX, 3, 9, id_text, text);
    op.op_id = (struct op_id){77, counter};
    op.version = version;
    return rig_primary(&rig, &op, res, NULL);
}

/* A retry gets the first result: at once, after a crash, and until its time is over. */
START_TEST(retries)
{
    struct engine_result a, b;
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    ck_assert_int_eq(named(1, VERSION_MUST_BE_NEW, &a), ERR_OK);
    ck_assert_int_eq(named(1, VERSION_MUST_BE_NEW, &b), ERR_OK);
    ck_assert(b.repeated && b.seq_no == a.seq_no && b.outcome == OUTCOME_CREATED && b.version == 1);
    ck_assert_int_eq(named(2, VERSION_ANY, &a), ERR_OK);
    ck_assert(!a.repeated && a.version == 2);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    rig.acked = rig.next - 1;
    rig_crash(&rig, 1);
    rig_recover(&rig);
    ck_assert_int_eq(named(1, VERSION_MUST_BE_NEW, &b), ERR_OK);
    ck_assert(b.repeated && b.seq_no == 0 && b.outcome == OUTCOME_CREATED);
    ck_assert_int_eq(named(2, VERSION_ANY, &b), ERR_OK);
    ck_assert(b.repeated && b.seq_no == 1 && b.outcome == OUTCOME_UPDATED);
    clock_sim_advance(&rig.clock, (int64_t)61 * 1000000000);
    ck_assert_int_eq(named(1, VERSION_MUST_BE_NEW, &b),
                     ERR_UNAVAILABLE_SHARDS); /* it cannot be told any more */
    rig.opts.settings.op_ids_max = 2;
    engine_set_settings(rig.e, &rig.opts.settings);
    ck_assert_int_eq(named(11, VERSION_ANY, &b), ERR_OK);
    ck_assert_int_eq(named(12, VERSION_ANY, &b), ERR_OK);
    ck_assert_int_eq(named(13, VERSION_ANY, &b), ERR_REJECTED);
    rig_fini(&rig);
}
END_TEST

/* What was answered is not applied again, however late it comes a second time. */
START_TEST(late_ones)
{
    struct engine_op op;
    struct engine_result res;
    char id_text[16], text[64];
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    for (uint64_t i = 5; i < 8; i++) {
        rig_make_op(&op, OP_INDEX, 3, (unsigned)i, id_text, text);
        op.op_id = (struct op_id){77, i};
        op.settled_below = i;
        ck_assert_int_eq(rig_primary(&rig, &op, &res, NULL), ERR_OK);
    }
    for (uint64_t i = 1; i < 7; i++) { /* one that never came before, too */
        ck_assert_int_eq(named(i, VERSION_ANY, &res), ERR_UNAVAILABLE_SHARDS);
    }
    ck_assert_int_eq(named(7, VERSION_ANY, &res), ERR_OK); /* its sender may not have heard yet */
    ck_assert(res.repeated && res.seq_no == 2);
    clock_sim_advance(&rig.clock, (int64_t)61 * 1000000000);
    rig_make_op(&op, OP_INDEX, 4, 1, id_text, text);
    op.op_id = (struct op_id){77, 9};
    ck_assert_int_eq(rig_primary(&rig, &op, &res, NULL), ERR_OK);
    ck_assert_int_eq(named(7, VERSION_ANY, &res), ERR_UNAVAILABLE_SHARDS);
    ck_assert_int_eq(named(8, VERSION_ANY, &res), ERR_OK);
    ck_assert(!res.repeated);
    rig_fini(&rig);
}
END_TEST

static enum err with_auto_id(unsigned id, int64_t ms, bool retry, struct engine_result *res)
{
    struct engine_op op;
    char id_text[16], text[64];
    rig_make_op(&op, OP_INDEX, id, ++rig.numbers, id_text, text);
    op.auto_id_ms = ms;
    op.retry = retry;
    return rig_primary(&rig, &op, res, NULL);
}

/* Generated ids are not looked up; but once one of that time was sent again, they are. */
START_TEST(generated_ids)
{
    struct engine_result res;
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    ck_assert_int_eq(with_auto_id(1, 100, false, &res), ERR_OK);
    ck_assert_int_eq(with_auto_id(2, 101, true, &res), ERR_OK); /* the retry overtook the first attempt */
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    ck_assert_int_eq(with_auto_id(2, 101, false, &res), ERR_OK);
    ck_assert_int_eq(res.outcome, OUTCOME_UPDATED);
    ck_assert_int_eq(with_auto_id(3, 102, false, &res), ERR_OK);
    ck_assert_int_eq(engine_flush(rig.e, false, NULL), ERR_OK);
    rig.acked = rig.next - 1;
    rig_check(&rig, false);
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    rig_check(&rig, true);
    rig_crash(&rig, 1);
    rig_recover(&rig);
    ck_assert_int_eq(with_auto_id(2, 101, false, &res), ERR_OK); /* remembered in the commit */
    ck_assert_int_eq(res.outcome, OUTCOME_UPDATED);
    engine_refresh(rig.e, NULL, NULL);
    rig_check(&rig, true);
    rig_fini(&rig);
}
END_TEST

static uint64_t deleted_after_merge(void)
{
    struct engine_merge_wish wish = {.max_segments = 1};
    struct engine_merge *m;
    struct engine_stats st;
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    for (;;) {
        ck_assert_int_eq(engine_merge_plan(rig.e, &wish, &m, NULL), ERR_OK);
        if (m == NULL) {
            break;
        }
        engine_merge_run(m);
        ck_assert_int_eq(engine_merge_commit(rig.e, m, NULL), ERR_OK);
    }
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    rig_check(&rig, true);
    engine_stats(rig.e, &st);
    return st.docs_deleted;
}

/* Dead documents stay in merges until both the safe commit and the lease are past them. */
START_TEST(history_keeps_the_dead)
{
    rig_init(&rig, 1);
    rig_open(&rig, ENGINE_CREATE);
    engine_set_retention(rig.e, 0);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(rig_index(&rig, i % 5, NULL), ERR_OK);
        ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    }
    uint64_t all = deleted_after_merge();
    ck_assert_uint_ge(all, 5);
    engine_set_retention(rig.e, rig.next); /* no commit yet: the lease alone frees nothing */
    ck_assert_uint_eq(deleted_after_merge(), all);
    engine_set_global_checkpoint(rig.e, rig.next - 1);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
    engine_set_retention(rig.e, 0); /* nor does the commit alone */
    ck_assert_uint_eq(deleted_after_merge(), all);
    engine_set_retention(rig.e, rig.next);
    ck_assert_uint_eq(deleted_after_merge(), 0);
    rig_fini(&rig);
}
END_TEST

START_TEST(refused_when_memory_waits)
{
    rig_init(&rig, 1);
    rig.opts.settings.translog_tail_bytes_max = 1000;
    rig_open(&rig, ENGINE_CREATE);
    enum err e = ERR_OK;
    while (e == ERR_OK) {
        e = rig_index(&rig, 1, NULL);
    }
    ck_assert_int_eq(e, ERR_REJECTED);
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
    rig_check(&rig, false);
    rig_fini(&rig);
}
END_TEST

START_TEST(opening_what_is_not_there)
{
    rig_init(&rig, 1);
    rig.opts.mode = ENGINE_EXISTING;
    ck_assert_int_eq(engine_open(&rig.e, &rig.opts, NULL), ERR_CORRUPT);
    rig_open(&rig, ENGINE_OPEN_OR_CREATE);
    ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
    engine_close(rig.e);
    rig_open(&rig, ENGINE_OPEN_OR_CREATE);
    rig_check(&rig, true);
    engine_close(rig.e);
    rig.opts.index_uuid = "another";
    ck_assert_int_eq(engine_open(&rig.e, &rig.opts, NULL), ERR_CORRUPT);
    for (unsigned i = 0; i < 3;
         i++) { /* never over what another wrote, whatever of it is left; unless it is asked for */
        rig.opts.mode = ENGINE_CREATE;
        ck_assert_int_eq(engine_open(&rig.e, &rig.opts, NULL), ERR_CORRUPT);
        const char *goes = i == 0 ? "/shard/manifest_1" : "/shard/segment_1";
        ck_assert_int_eq(rig.opts.fs->remove(rig.opts.fs->self, goes, NULL), ERR_OK);
    }
    rig_open(&rig, ENGINE_CREATE_OVER);
    rig.next = 0;
    rig_check(&rig, true);
    engine_close(rig.e);
    rig_open(&rig, ENGINE_CREATE); /* nothing was written */
    rig_check(&rig, true);
    rig_fini(&rig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, versions);
    tcase_add_test(c, conflicts_are_worded);
    tcase_add_test(c, retries);
    tcase_add_test(c, late_ones);
    tcase_add_test(c, generated_ids);
    tcase_add_test(c, history_keeps_the_dead);
    tcase_add_test(c, refused_when_memory_waits);
    tcase_add_test(c, opening_what_is_not_there);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
