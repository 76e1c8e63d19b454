/* Tasks that stand still in the simulator's scheduler, lanes whose clocks differ, and disks that take their time. */
#include "tests/seams/fs_mem.h"
#include "tests/seams/sim_exec.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000LL

struct world {
    struct clock_sim clock;
    struct sim_exec *x;
    char said[256]; /* a letter for everything that happened */
};

struct step {
    struct world *w;
    char before, after;
    int64_t ns;
};

static void say(struct world *w, char c)
{
    size_t n = strlen(w->said);
    ck_assert_uint_lt(n + 1, sizeof(w->said));
    w->said[n] = c;
}

static void run_step(void *arg)
{
    struct step *s = arg;
    say(s->w, s->before);
    if (s->ns > 0) {
        int64_t from = s->w->clock.mono_ns;
        const struct sim_lane *lane = sim_exec_lane(s->w->x);
        sim_exec_sleep(s->w->x, s->ns);
        ck_assert_int_ge(s->w->clock.mono_ns, from + s->ns);
        ck_assert_ptr_eq(lane, sim_exec_lane(s->w->x));
    }
    say(s->w, s->after);
}

static void begin(struct world *w)
{
    memset(w, 0, sizeof(*w));
    clock_sim_init(&w->clock, 1000);
    w->x = sim_exec_new(&(struct sim_exec_opts){.clock = &w->clock, .seed = 1, .sleeps = true});
    ck_assert_ptr_nonnull(w->x);
}

START_TEST(others_go_on_while_one_sleeps)
{
    struct world w;
    begin(&w);
    struct sim_lane *a = sim_lane_new(w.x, SIM_LOOP, 0), *b = sim_lane_new(w.x, SIM_LOOP, 0);
    struct step slow = {&w, '(', ')', 10 * MS}, quick = {&w, 'x', 'y', 0}, other = {&w, '1', '2', 3 * MS};
    executor_submit(sim_lane_executor(a), run_step, &slow);
    executor_submit(sim_lane_executor(a), run_step, &quick); /* behind it: a loop has one thread */
    ck_assert(sim_exec_step(w.x));
    executor_submit(sim_lane_executor(b), run_step, &other);
    ck_assert_ptr_null(sim_exec_lane(w.x));
    ck_assert_uint_eq(sim_exec_run_for(w.x, 20 * MS), 4);
    ck_assert_str_eq(w.said, "(12)xy");
    ck_assert_int_eq(w.clock.mono_ns, 20 * MS);
    sim_exec_free(w.x);
}
END_TEST

START_TEST(a_pool_has_so_many_threads)
{
    struct world w;
    begin(&w);
    struct sim_lane *p = sim_lane_new(w.x, SIM_POOL, 0);
    struct step s = {&w, '(', ')', 5 * MS};
    sim_lane_set_threads(p, 2);
    for (int i = 0; i < 4; i++) {
        executor_submit(sim_lane_executor(p), run_step, &s);
    }
    sim_exec_run_for(w.x, 4 * MS);
    ck_assert_str_eq(w.said, "((");
    sim_exec_run_for(w.x, 100 * MS);
    ck_assert_uint_eq(strlen(w.said), 8);
    ck_assert_int_eq(w.said[2], ')');
    sim_exec_free(w.x);
}
END_TEST

START_TEST(who_is_killed_never_wakes)
{
    struct world w;
    begin(&w);
    struct sim_lane *a = sim_lane_new(w.x, SIM_POOL, 0), *b = sim_lane_new(w.x, SIM_LOOP, 0);
    struct step s = {&w, '(', ')', 5 * MS}, t = {&w, '[', ']', 5 * MS};
    executor_submit(sim_lane_executor(a), run_step, &s);
    executor_submit(sim_lane_executor(b), run_step, &t);
    sim_exec_run_for(w.x, 1 * MS);
    sim_lane_kill(a);
    sim_lane_pause(b, true);
    sim_exec_run_for(w.x, 50 * MS);
    ck_assert_uint_eq(strlen(w.said), 2);
    sim_lane_pause(b, false);
    sim_exec_run_for(w.x, 1 * MS);
    ck_assert_uint_eq(strlen(w.said), 3);
    ck_assert_int_eq(w.said[2], ']');
    sim_exec_free(w.x);
}
END_TEST

static void note_ms(void *arg)
{
    struct world *w = arg;
    snprintf(w->said, sizeof(w->said), "%lld", (long long)(w->clock.mono_ns / 1000));
}

START_TEST(timers_go_by_their_lanes_clock)
{
    struct world w;
    begin(&w);
    struct sim_lane *l = sim_lane_new(w.x, SIM_LOOP, 0);
    const struct timers *t = sim_lane_timers(l);
    sim_lane_set_rate(l, 1250000);
    t->start(t->self, 1000, note_ms, &w);
    sim_exec_run_for(w.x, 5000 * MS);
    ck_assert_str_eq(w.said, "800000");
    sim_lane_set_rate(l, 300000); /* never early: 1/3 is rounded up */
    t->start(t->self, 100, note_ms, &w);
    sim_exec_run_for(w.x, 5000 * MS);
    ck_assert_str_eq(w.said, "5333333");
    ck_assert_int_ge((w.clock.mono_ns - 5000 * MS) * 3 / 10, 100 * MS);
    sim_exec_free(w.x);
}
END_TEST

/* ---- a disk ---- */

struct writer {
    struct world *w;
    struct fs_mem *m;
    bool synced;
};

static void wait_for_disk(void *arg)
{
    struct writer *d = arg;
    if (sim_exec_lane(d->w->x) != NULL) {
        sim_exec_sleep(d->w->x, 50 * MS);
    }
}

static void write_and_sync(void *arg)
{
    struct writer *d = arg;
    const struct fs *fs = fs_mem_fs(d->m);
    struct fs_file *f;
    ck_assert_int_eq(fs->open(fs->self, "a", true, &f, NULL), ERR_OK);
    ck_assert_int_eq(fs->write(fs->self, f, "xyz", 3, NULL), ERR_OK);
    ck_assert_int_eq(fs->sync(fs->self, f, NULL), ERR_OK);
    ck_assert_int_eq(fs->sync_dir(fs->self, "", NULL), ERR_OK);
    fs->close(fs->self, f);
    d->synced = true;
}

START_TEST(a_crash_in_the_middle_of_a_sync)
{
    struct world w;
    begin(&w);
    for (int64_t at = 10; at <= 110; at += 50) { /* in the first, in the second, afterwards */
        struct writer d = {&w, fs_mem_new(), false};
        struct sim_lane *l = sim_lane_new(w.x, SIM_POOL, 0);
        bool exists;
        uint64_t n;
        fs_mem_before_sync(d.m, wait_for_disk, &d);
        executor_submit(sim_lane_executor(l), write_and_sync, &d);
        sim_exec_run_for(w.x, at * MS);
        ck_assert_int_eq(d.synced, at > 100);
        sim_lane_kill(l);
        fs_mem_drop_unsynced(d.m);
        sim_exec_run_for(w.x, 500 * MS);
        ck_assert_int_eq(d.synced, at > 100);
        const struct fs *fs = fs_mem_fs(d.m);
        ck_assert_int_eq(fs->size(fs->self, "a", &exists, &n, NULL), ERR_OK);
        ck_assert_int_eq(exists, at > 100);
        fs_mem_free(d.m);
    }
    sim_exec_free(w.x);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim_sleep");
    TCase *t = tcase_create("sim_sleep");
    tcase_add_test(t, others_go_on_while_one_sleeps);
    tcase_add_test(t, a_pool_has_so_many_threads);
    tcase_add_test(t, who_is_killed_never_wakes);
    tcase_add_test(t, timers_go_by_their_lanes_clock);
    tcase_add_test(t, a_crash_in_the_middle_of_a_sync);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
