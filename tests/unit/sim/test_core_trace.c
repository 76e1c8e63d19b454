/* Cores are deterministic: the calls that were made of them are made of fresh ones, and the same comes of it. Of
 * shards in a small cluster; and a core that was changed by the way is found out. */
#include "tests/sim/core_trace.h"

#include "data/recovery/source.h"
#include "data/recovery/target.h"
#include "engine/index/engine.h"
#include "tests/unit/data/small_cluster.h"

#include <stdlib.h>
#include <string.h>

static char what[256];

static void keep(void)
{
    core_traces_begin(&(struct core_traces_opts){.whole = true});
    what[0] = 0;
}

/* ---- shards -------------------------------------------------------------------------------------------------- */

static struct shard_write w;
static struct write_item item;

static void write_one(int node, uint64_t counter)
{
    w = (struct shard_write){.items = &item, .n = 1, .timeout_ms = 3000, .op_session = 7};
    item = (struct write_item){.kind = WRITE_INDEX,
                               .id = STR("a"),
                               .source = STR("{\"v\":1}"),
                               .auto_id_ms = -1,
                               .version = VERSION_ANY,
                               .if_seq_no = SEQ_UNASSIGNED,
                               .op_counter = counter};
    shard_rq_init(&w.rq, &shard_op_write, sc_look_done, NULL);
    w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    sc.answered = false;
    data_serve(sc.nodes[node].data, &w.rq);
    ck_assert(sim_exec_run_until(sc.exec, sc_is_answered, NULL, 60000 * MS));
    shard_rq_fini(&w.rq);
}

START_TEST(test_shards)
{
    struct core_traces_sum sum;
    keep();
    sc_start((uint64_t)_i + 1, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    sc.lose_percent = 5;
    for (uint64_t i = 1; i < 40; i++) {
        int at = sc_node_number(sc_routing()->copies[0].node);
        write_one(MAX_OF(at, 0), i);
        if (i == 20) {
            sc_leave(MAX_OF(at, 0)); /* another one is the primary, and re-sends */
            sc_run_ms(500);
        }
    }
    sc_heal();
    sc_run_ms(5000);
    ck_assert_msg(core_traces_replay(&sum, what, sizeof(what)), "%s", what);
    ck_assert_uint_ge(sum.cores[1], 2);
    ck_assert_uint_eq(sum.cores[2], NODES);
    ck_assert_uint_gt(sum.steps, 500);
    core_traces_end();
    sc_end();
}
END_TEST

/* ---- who is changed by the way --------------------------------------------------------------------------------- */

START_TEST(test_a_source_that_was_changed)
{
    struct core_traces_sum sum;
    for (int changed = 0; changed < 2; changed++) {
        struct source s = {0};
        keep();
        ck_assert_int_eq(source_ask_ops(&s, 0), SOURCE_BEGIN);
        source_begun(&s);
        source_read(&s, true);
        s.batch += (uint64_t)changed;
        source_ask_ops(&s, 1);
        ck_assert(core_traces_replay(&sum, what, sizeof(what)) == (changed == 0));
        ck_assert_uint_eq(sum.cores[4], 1);
        ck_assert((strstr(what, "record 3, asked for operations") != NULL) == (changed == 1));
        core_traces_end();
    }
}
END_TEST

START_TEST(test_words)
{
    struct target t;
    struct target_effect f;
    struct target_view v = {true, 1};
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    core_traces_begin(&(struct core_traces_opts){.whole = false});
    struct arena why = {0};
    target_init(&t, 10, &why);
    ck_assert(target_effect(&t, &v, &f));
    target_step(&t, &(struct target_event){.kind = TARGET_OPENED});
    target_step(&t, &(struct target_event){.kind = TARGET_TICK});
    target_step(&t, &(struct target_event){.kind = TARGET_TICK});
    ck_assert(target_effect(&t, &v, &f));
    core_traces_print(to, 0);
    core_traces_end();
    fclose(to);
    ck_assert_str_eq(text,
                     "  n0 0 ms recovery's target -> open\n  n0 0 ms recovery's target: opened\n"
                     "  n0 0 ms recovery's target: tick\n  n0 0 ms recovery's target -> ask to start\n");
    free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("core_trace");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_shards, 0, 5);
    tcase_add_test(c, test_a_source_that_was_changed);
    tcase_add_test(c, test_words);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
