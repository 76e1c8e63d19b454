/* Several copies and several threads: operations in any order and more than once lead to one state; new
 * primaries fill gaps and roll back; readers, merges and syncs run beside the strand. */
#include "tests/unit/engine/index/engine_rig.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static struct rig rig; /* the copy under test; its model is filled in before */
static struct {
    int64_t auto_id_ms;
    bool retry;
} hints[N];

/* A history as a primary would make it: ids used once look generated. */
static void make_history(uint64_t seed)
{
    rig_init(&rig, seed);
    int64_t version[RIG_IDS] = {0};
    for (int64_t s = 0; s < N; s++) {
        struct rig_op *op = &rig.ops[s];
        uint64_t what = rng_below(&rig.rng, 100);
        op->id = (unsigned)rng_below(&rig.rng, RIG_IDS);
        op->kind = what < 65 ? OP_INDEX : what < 95 ? OP_DELETE : OP_NOOP;
        op->n = s;
        op->term = 1 + s / 200;
        hints[s].auto_id_ms = -1;
        if (op->kind != OP_NOOP) {
            if (op->kind == OP_INDEX && version[op->id] == 0) {
                hints[s].auto_id_ms = 1000 + s;
                hints[s].retry = rng_below(&rig.rng, 8) == 0;
            }
            op->version = ++version[op->id];
        }
    }
    rig.next = N;
}

static enum err deliver(struct engine *e, int64_t s, struct engine_result *res)
{
    struct engine_op op;
    char id_text[16], text[64];
    const struct rig_op *m = &rig.ops[s];
    rig_make_op(&op, m->kind, m->id, m->n, id_text, text);
    op.origin = s % 2 == 0 ? ORIGIN_REPLICA : ORIGIN_RECOVERY;
    op.seq_no = s;
    op.version = m->version;
    op.primary_term = m->term;
    op.auto_id_ms = hints[s].auto_id_ms;
    op.retry = hints[s].retry;
    return engine_apply(e, &op, res, NULL);
}

static void disturb(void)
{
    struct engine_merge *m = NULL;
    switch (rng_below(&rig.rng, 40)) {
    case 0:
    case 1:
        ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
        break;
    case 2:
        ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
        break;
    case 3:
        ck_assert_int_eq(engine_flush(rig.e, false, NULL), ERR_OK);
        break;
    case 4:
        ck_assert_int_eq(engine_merge_plan(rig.e, &(struct engine_merge_wish){.max_segments = 1}, &m, NULL),
                         ERR_OK);
        if (m != NULL) {
            engine_merge_run(m);
            ck_assert_int_eq(engine_merge_commit(rig.e, m, NULL), ERR_OK);
        }
        break;
    case 5:
        clock_sim_advance(&rig.clock, (int64_t)rng_below(&rig.rng, 100) * 1000000000);
        break;
    case 6:
        engine_set_global_checkpoint(rig.e, engine_persisted_checkpoint(rig.e));
        break;
    default:
        break;
    }
}

static void crash_and_reopen(void)
{
    rig_crash(&rig, (unsigned)rng_below(&rig.rng, 3));
    rig_open(&rig, ENGINE_EXISTING);
    engine_invariant(rig.e);
}

/* Windows of operations in random order, some twice, with refreshes, flushes, merges and crashes in between.
 * Whatever was not persisted is sent again, as a recovery would. */
START_TEST(any_order_converges)
{
    make_history((uint64_t)_i);
    rig.opts.settings.memory_segment_bytes_max = _i % 2 == 0 ? 0 : 1 * MIB;
    rig.opts.settings.generation_bytes = 3000;
    rig_open(&rig, ENGINE_CREATE);
    static int64_t order[N];
    int64_t window = 1 + (int64_t)rng_below(&rig.rng, 120);
    for (int64_t s = 0; s < N; s++) {
        order[s] = s;
    }
    for (int64_t s = 0; s < N; s++) {
        int64_t with = MIN_OF(N - 1, s + _i % 5 * window / 4);
        with = s + (int64_t)rng_below(&rig.rng, (uint64_t)(with - s + 1));
        int64_t t = order[s];
        order[s] = order[with];
        order[with] = t;
    }
    for (int64_t i = 0; i < N; i++) {
        struct engine_result res;
        bool had = engine_has_processed(rig.e, order[i]);
        ck_assert_int_eq(deliver(rig.e, order[i], &res), ERR_OK);
        ck_assert(res.repeated == had);
        if (rng_below(&rig.rng, 5) == 0) {
            ck_assert_int_eq(deliver(rig.e, order[rng_below(&rig.rng, (uint64_t)i + 1)], &res), ERR_OK);
        }
        disturb();
        engine_invariant(rig.e);
        if (rng_below(&rig.rng, 100) == 0) {
            int64_t persisted = engine_persisted_checkpoint(rig.e);
            crash_and_reopen();
            ck_assert_int_ge(engine_processed_checkpoint(rig.e), persisted);
            for (int64_t k = 0; k < i; k++) {
                if (order[k] > persisted) {
                    ck_assert_int_eq(deliver(rig.e, order[k], &res), ERR_OK);
                }
            }
        }
    }
    struct engine_result res;
    for (int64_t s = 0; s < N; s++) {
        ck_assert_int_eq(deliver(rig.e, s, &res), ERR_OK);
    }
    ck_assert_int_eq(engine_processed_checkpoint(rig.e), N - 1);
    ck_assert_int_eq(engine_flush(rig.e, false, NULL), ERR_OK);
    ck_assert_int_eq(engine_persisted_checkpoint(rig.e), N - 1);
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    rig_check(&rig, true);
    crash_and_reopen();
    rig_check(&rig, true);
    rig_fini(&rig);
}
END_TEST

/* A copy with gaps becomes primary: what is missing becomes no-ops, and it goes on. */
START_TEST(gaps_are_filled)
{
    make_history((uint64_t)_i);
    rig_open(&rig, ENGINE_CREATE);
    uint64_t missing = 0, filled;
    int64_t last = -1;
    static bool has[N];
    for (int64_t s = 0; s < N; s++) {
        struct engine_result res;
        has[s] = rng_below(&rig.rng, 10) != 0;
        if (has[s]) {
            ck_assert_int_eq(deliver(rig.e, s, &res), ERR_OK);
            last = s;
        }
    }
    for (int64_t s = 0; s <= last; s++) {
        if (!has[s]) {
            missing++;
            rig.ops[s].kind = OP_NOOP;
        }
    }
    rig.next = last + 1;
    ck_assert_int_eq(engine_fill_gaps(rig.e, 9, &filled, NULL), ERR_OK);
    ck_assert_uint_eq(filled, missing);
    ck_assert_int_eq(engine_processed_checkpoint(rig.e), last);
    rig.term = 9;
    ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
    engine_refresh(rig.e, NULL, NULL);
    rig_check(&rig, true);
    rig.acked = -1;
    engine_close(rig.e);
    rig.e = NULL;
    rig_recover(&rig);
    rig_fini(&rig);
}
END_TEST

/* A second copy follows the first by its history; a rollback on one and the other history lead to equal
 * copies. */
START_TEST(history_makes_a_copy)
{
    static struct rig other;
    make_history((uint64_t)_i);
    rig_open(&rig, ENGINE_CREATE);
    struct engine_result res;
    for (int64_t s = 0; s < N; s++) {
        ck_assert_int_eq(deliver(rig.e, s, &res), ERR_OK);
        disturb();
    }
    rig_init(&other, 5);
    rig_open(&other, ENGINE_CREATE);
    int64_t start = 300;
    memcpy(other.ops, rig.ops, sizeof(other.ops));
    for (int64_t s = 0; s < start; s++) {
        ck_assert_int_eq(deliver(other.e, s, &res), ERR_OK);
    }
    /* It has operations that the first one never had. */
    engine_flush(other.e, true, NULL);
    engine_set_global_checkpoint(other.e, start - 1);
    engine_sync(other.e, NULL);
    for (int64_t s = start; s < start + 30; s++) {
        struct engine_op op;
        char id_text[16], text[64];
        rig_make_op(&op, OP_INDEX, (unsigned)s % RIG_IDS, 10000 + s, id_text, text);
        op.origin = ORIGIN_REPLICA;
        op.seq_no = s;
        op.version = 99;
        ck_assert_int_eq(engine_apply(other.e, &op, &res, NULL), ERR_OK);
        if (s == start + 10) {
            engine_flush(other.e, true, NULL);
        }
    }
    bool renamed = _i % 2 == 0;
    if (renamed) {
        engine_set_user_data(other.e, STR("renamed"), NULL);
    }
    ck_assert_int_eq(engine_rollback(other.e, engine_global_checkpoint(other.e), NULL), ERR_OK);
    ck_assert_int_eq(engine_max_seq_no(other.e), start - 1);
    engine_invariant(other.e);
    if (renamed) { /* the name stays, whichever commit is left */
        rig_crash(&other, 1);
        rig_open(&other, ENGINE_EXISTING);
        ck_assert(str_is(engine_user_data(other.e), "renamed"));
        ck_assert_int_eq(engine_max_seq_no(other.e), start - 1);
    }
    if (engine_history_from(rig.e) <= start) {
        struct engine_history *h;
        ck_assert_int_eq(engine_history_open(&h, rig.e, start, INT64_MAX, NULL), ERR_OK);
        for (bool more = true; more;) {
            struct engine_op op;
            ck_assert_int_eq(engine_history_next(h, &op, &more, NULL), ERR_OK);
            if (more) {
                ck_assert_int_eq(engine_apply(other.e, &op, &res, NULL), ERR_OK);
            }
        }
        engine_history_close(h);
        other.next = N;
    } else {
        other.next = start;
    }
    engine_refresh(other.e, NULL, NULL);
    rig_check(&other, true);
    other.acked = -1;
    rig_crash(&other, 0);
    rig_recover(&other);
    rig_fini(&other);
    rig_fini(&rig);
}
END_TEST

/* A commit that lacks an operation below its highest one, made into a copy: what follows its checkpoint comes again, is logged, and
 * is given to others. */
START_TEST(a_commit_with_a_gap_makes_a_copy)
{
    const int64_t gap = 17, n = 20;
    struct engine_result res;
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    make_history(5);
    rig_open(&rig, ENGINE_CREATE);
    for (int64_t s = 0; s < n; s++) {
        ck_assert(s == gap || deliver(rig.e, s, &res) == ERR_OK);
    }
    ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
    const struct engine_commit *c = engine_commit_ref(rig.e, false);
    ck_assert(c->local_checkpoint == gap - 1 && c->max_seq_no == n - 1);
    struct str manifest = arena_str(&a, c->manifest);
    engine_commit_unref(rig.e, c);
    rig_crash(&rig, 0);
    ck_assert_int_eq(engine_install(&rig.opts, manifest, SEQ_NONE, NULL), ERR_OK); /* its files are there */
    rig_open(&rig, ENGINE_EXISTING);
    for (int64_t s = gap; s < n + 10; s++) {
        ck_assert_int_eq(deliver(rig.e, s, &res), ERR_OK);
    }
    struct engine_history *h;
    int64_t given = 0;
    ck_assert_int_eq(engine_history_from(rig.e), gap);
    ck_assert_int_eq(engine_history_open(&h, rig.e, gap, INT64_MAX, NULL), ERR_OK);
    for (bool more = true; more;) {
        struct engine_op op;
        ck_assert_int_eq(engine_history_next(h, &op, &more, NULL), ERR_OK);
        ck_assert(!more || op.seq_no == gap + given++);
    }
    ck_assert_int_eq(given, n + 10 - gap);
    engine_history_close(h);
    engine_invariant(rig.e);
    rig_fini(&rig);
    arena_fini(&a);
}
END_TEST

/* ---- threads ---- */

static _Atomic bool stop;
static _Atomic uint64_t reads;

static void *reader(void *arg)
{
    struct engine *e = arg;
    while (!stop) {
        struct view *v = engine_view_ref(e);
        struct arena a;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        for (unsigned id = 0; id < RIG_IDS; id++) {
            char id_text[16];
            struct engine_doc d;
            snprintf(id_text, sizeof(id_text), "id-%u", id);
            ck_assert_int_eq(engine_view_get(v, str_of(id_text), true, &a, &d, NULL), ERR_OK);
            ck_assert(!d.found || d.seq_no <= v->max_seq_no);
            reads++;
        }
        arena_fini(&a);
        view_unref(v);
    }
    return NULL;
}

static void *run_sync(void *arg)
{
    engine_sync_run(arg);
    return NULL;
}

static void *run_merge(void *arg)
{
    engine_merge_run(arg);
    return NULL;
}

static void *run_flush(void *arg)
{
    engine_flush_run(arg);
    return NULL;
}

START_TEST(threads)
{
    rig_init(&rig, 1);
    rig.opts.settings.generation_bytes = 20000;
    rig_open(&rig, ENGINE_CREATE);
    stop = false;
    pthread_t readers[2];
    for (unsigned i = 0; i < 2; i++) {
        pthread_create(&readers[i], NULL, reader, rig.e);
    }
    for (unsigned round = 0; round < 60; round++) {
        pthread_t t[3];
        struct engine_sync *s = NULL;
        struct engine_flush *f = NULL;
        struct engine_merge *m = NULL;
        for (unsigned i = 0; i < 40; i++) {
            rig_index(&rig, (unsigned)rng_below(&rig.rng, RIG_IDS), NULL);
        }
        ck_assert_int_eq(engine_flush_begin(rig.e, true, &f, NULL), ERR_OK);
        ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
        pthread_create(&t[0], NULL, run_flush, f);
        rig_index(&rig, 1, NULL);
        ck_assert_int_eq(engine_sync_begin(rig.e, &s, NULL), ERR_OK);
        pthread_create(&t[1], NULL, run_sync, s);
        ck_assert_int_eq(engine_merge_plan(rig.e, &(struct engine_merge_wish){.max_segments = 1}, &m, NULL),
                         ERR_OK);
        if (m != NULL) {
            pthread_create(&t[2], NULL, run_merge, m);
        }
        for (unsigned i = 0; i < 40; i++) {
            rig_index(&rig, (unsigned)rng_below(&rig.rng, RIG_IDS), NULL);
            if (i % 10 == 0) {
                ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
            }
        }
        if (m != NULL) {
            pthread_join(t[2], NULL);
            ck_assert_int_eq(engine_merge_commit(rig.e, m, NULL), ERR_OK);
        }
        pthread_join(t[1], NULL);
        ck_assert_int_eq(engine_sync_finish(rig.e, s, NULL), ERR_OK);
        pthread_join(t[0], NULL);
        ck_assert_int_eq(engine_flush_finish(rig.e, f, NULL), ERR_OK);
        engine_invariant(rig.e);
    }
    stop = true;
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(readers[i], NULL);
    }
    ck_assert_uint_gt(reads, 0);
    engine_refresh(rig.e, NULL, NULL);
    rig_check(&rig, true);
    rig_fini(&rig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine_copies");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, any_order_converges, 0, 40);
    tcase_add_loop_test(c, gaps_are_filled, 0, 5);
    tcase_add_loop_test(c, history_makes_a_copy, 0, 10);
    tcase_add_test(c, a_commit_with_a_gap_makes_a_copy);
    tcase_add_test(c, threads);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
