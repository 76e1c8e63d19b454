/* Pools, strands and the simulator's scheduler. */
#include "common/sys/pool.h"
#include "common/sys/strand.h"
#include "tests/seams/sim_exec.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pool *new_pool(unsigned threads, size_t queue)
{
    struct pool *p;
    struct pool_opts o = {.name = "test", .threads_max = threads, .queue_max = queue};
    ck_assert_int_eq(pool_new(&p, &o, NULL), ERR_OK);
    return p;
}

struct gate { /* holds tasks until it opens */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool is_open;
    atomic_int entered, left;
};

static void gate_init(struct gate *g)
{
    memset(g, 0, sizeof(*g));
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->cond, NULL);
}

static void through_gate(void *arg)
{
    struct gate *g = arg;
    atomic_fetch_add(&g->entered, 1);
    pthread_mutex_lock(&g->mutex);
    while (!g->is_open) {
        pthread_cond_wait(&g->cond, &g->mutex);
    }
    pthread_mutex_unlock(&g->mutex);
    atomic_fetch_add(&g->left, 1);
}

static void gate_open(struct gate *g)
{
    pthread_mutex_lock(&g->mutex);
    g->is_open = true;
    pthread_cond_broadcast(&g->cond);
    pthread_mutex_unlock(&g->mutex);
}

START_TEST(pool_counts_and_refuses)
{
    struct pool *p = new_pool(2, 3);
    struct gate g;
    gate_init(&g);
    struct pool_stats st;
    pool_stats(p, &st);
    ck_assert_uint_eq(st.threads, 0); /* threads come with work */
    for (int i = 0; i < 5; i++) {
        ck_assert(executor_submit(pool_executor(p), through_gate, &g));
    }
    ck_assert(!executor_submit(pool_executor(p), through_gate, &g));
    ck_assert(executor_submit_force(pool_executor(p), through_gate, &g));
    while (atomic_load(&g.entered) < 2) {
        usleep(100);
    }
    pool_stats(p, &st);
    ck_assert_uint_eq(st.threads, 2);
    ck_assert_uint_eq(st.active, 2);
    ck_assert_uint_eq(st.queue, 4);
    ck_assert_uint_eq(st.rejected, 1);
    gate_open(&g);
    pool_drain(p);
    pool_stats(p, &st);
    ck_assert_uint_eq(st.completed, 6);
    ck_assert_uint_eq(st.largest, 2);
    ck_assert_uint_eq(st.active, 0);
    pool_free(p);
    ck_assert_int_eq(atomic_load(&g.left), 6);
}
END_TEST

START_TEST(pool_free_runs_what_waits)
{
    struct pool *p = new_pool(1, 100);
    struct gate g;
    gate_init(&g);
    for (int i = 0; i < 50; i++) {
        ck_assert(executor_submit(pool_executor(p), through_gate, &g));
    }
    gate_open(&g);
    pool_free(p);
    ck_assert_int_eq(atomic_load(&g.left), 50);
}
END_TEST

#define PRODUCERS 4
#define EACH      20000

struct order {
    struct strand *strand;
    unsigned next[PRODUCERS]; /* touched by the strand alone, without a lock */
    unsigned ran;
    bool bad;
    atomic_bool done;
};

struct item {
    struct order *order;
    unsigned producer, n;
};

static void in_order(void *arg)
{
    struct item *it = arg;
    struct order *o = it->order;
    o->bad |= o->next[it->producer] != it->n || !strand_inside(o->strand);
    o->next[it->producer] = it->n + 1;
    o->ran++;
    free(it);
}

struct producer {
    struct order *order;
    unsigned id;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    for (unsigned n = 0; n < EACH; n++) {
        struct item *it = malloc(sizeof(*it));
        *it = (struct item){p->order, p->id, n};
        while (!executor_submit(strand_executor(p->order->strand), in_order, it)) {
            usleep(50);
        }
    }
    return NULL;
}

static void mark_done(void *arg)
{
    atomic_store(&((struct order *)arg)->done, true);
}

START_TEST(strand_keeps_order_under_threads)
{
    struct pool *p = new_pool(4, 2);
    struct order o = {0};
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 1000, .batch_max = 7};
    ck_assert_int_eq(strand_new(&o.strand, &so, NULL), ERR_OK);
    pthread_t t[PRODUCERS];
    struct producer ids[PRODUCERS];
    for (unsigned i = 0; i < PRODUCERS; i++) {
        ids[i] = (struct producer){&o, i};
        pthread_create(&t[i], NULL, produce, &ids[i]);
    }
    for (unsigned i = 0; i < PRODUCERS; i++) {
        pthread_join(t[i], NULL);
    }
    ck_assert(!strand_inside(o.strand));
    ck_assert(strand_close(o.strand, mark_done, &o));
    pool_free(p);
    ck_assert(atomic_load(&o.done));
    ck_assert(!o.bad);
    ck_assert_uint_eq(o.ran, PRODUCERS * EACH);
}
END_TEST

static void count(void *arg)
{
    ++*(int *)arg;
}

static bool refuse(void *self, void (*run)(void *arg), void *arg)
{
    (void)self;
    (void)run;
    (void)arg;
    return false;
}

START_TEST(strand_is_bounded_and_says_when_nothing_runs)
{
    struct gate g;
    gate_init(&g);
    struct pool *p = new_pool(1, 10);
    struct strand *s;
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 2};
    ck_assert_int_eq(strand_new(&s, &so, NULL), ERR_OK);
    ck_assert(executor_submit(strand_executor(s), through_gate, &g));
    while (atomic_load(&g.entered) < 1) {
        usleep(100);
    }
    ck_assert(executor_submit(strand_executor(s), through_gate, &g));
    ck_assert(executor_submit(strand_executor(s), through_gate, &g));
    ck_assert(!executor_submit(strand_executor(s), through_gate, &g));
    ck_assert(executor_submit_force(strand_executor(s), through_gate, &g));
    struct strand_stats st;
    strand_stats(s, &st);
    ck_assert(st.active && st.queue == 3 && st.rejected == 1);
    gate_open(&g);
    pool_drain(p);
    strand_stats(s, &st);
    ck_assert(!st.active && st.queue == 0 && st.completed == 4);
    ck_assert(strand_close(s, NULL, NULL));
    pool_free(p);

    struct executor closed = {.submit = refuse};
    so.over = &closed;
    ck_assert_int_eq(strand_new(&s, &so, NULL), ERR_OK);
    int n = 0;
    ck_assert(!executor_submit(strand_executor(s), count, &n));
    ck_assert(!strand_close(s, count, &n));
    ck_assert_int_eq(n, 0);
}
END_TEST

struct here {
    pthread_t thread;
    unsigned ran;
};

static void run_on_caller(void *arg)
{
    struct here *h = arg;
    h->ran += pthread_equal(h->thread, pthread_self()) ? 1 : 100;
}

START_TEST(pool_runs_here_while_nothing_waits)
{
    struct gate g;
    gate_init(&g);
    struct pool *p = new_pool(1, 10);
    struct here h = {.thread = pthread_self()};
    ck_assert(executor_run_here(pool_executor(p), run_on_caller, &h));
    ck_assert_uint_eq(h.ran, 1);
    ck_assert(executor_submit(pool_executor(p), through_gate, &g));
    while (atomic_load(&g.entered) < 1) {
        usleep(100);
    }
    ck_assert(
        executor_run_here(pool_executor(p), run_on_caller, &h)); /* its thread is busy, but nothing waits */
    ck_assert(executor_submit(pool_executor(p), through_gate, &g));
    ck_assert(!executor_run_here(pool_executor(p), run_on_caller, &h));
    ck_assert_uint_eq(h.ran, 2);
    gate_open(&g);
    pool_drain(p);
    struct pool_stats st;
    pool_stats(p, &st);
    ck_assert(st.completed == 4 && st.active == 0 && st.rejected == 0);
    pool_free(p);
}
END_TEST

struct meanwhile {
    struct strand *strand;
    int after;
};

static void after(void *arg)
{
    struct meanwhile *m = arg;
    ck_assert(strand_inside(m->strand));
    m->after++;
}

static void submit_more(void *arg)
{
    struct meanwhile *m = arg;
    struct strand_stats st;
    ck_assert(strand_inside(m->strand));
    ck_assert(!executor_run_here(strand_executor(m->strand), after, m));
    ck_assert(executor_submit(strand_executor(m->strand), after, m));
    strand_stats(m->strand, &st);
    ck_assert(st.active && st.queue == 1);
    ck_assert_int_eq(m->after, 0);
}

START_TEST(strand_runs_here_when_idle)
{
    struct pool *p = new_pool(2, 10);
    struct meanwhile m = {0};
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 2};
    ck_assert_int_eq(strand_new(&m.strand, &so, NULL), ERR_OK);
    ck_assert(executor_run_here(strand_executor(m.strand), submit_more, &m));
    ck_assert(!strand_inside(m.strand));
    pool_drain(p);
    ck_assert_int_eq(m.after, 1);
    struct strand_stats st;
    strand_stats(m.strand, &st);
    ck_assert(!st.active && st.queue == 0 && st.completed == 2);
    ck_assert(strand_close(m.strand, NULL, NULL));
    pool_free(p);
}
END_TEST

static void close_itself(void *arg)
{
    struct order *o = arg;
    ck_assert(strand_close(o->strand, mark_done, o));
}

/* Closed from a task that runs here: its done() still comes last, and the strand goes. */
START_TEST(strand_closes_behind_what_runs_here)
{
    struct pool *p = new_pool(1, 10);
    struct order o = {0};
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 2};
    ck_assert_int_eq(strand_new(&o.strand, &so, NULL), ERR_OK);
    ck_assert(executor_run_here(strand_executor(o.strand), close_itself, &o));
    pool_free(p);
    ck_assert(atomic_load(&o.done));
}
END_TEST

/* Both ways at once, from several threads: one at a time all the same. */
static void *produce_here(void *arg)
{
    struct producer *p = arg;
    for (unsigned n = 0; n < EACH; n++) {
        struct item *it = malloc(sizeof(*it));
        *it = (struct item){p->order, p->id, n};
        while (!executor_run_here(strand_executor(p->order->strand), in_order, it)
               && !executor_submit(strand_executor(p->order->strand), in_order, it)) {
            usleep(50);
        }
    }
    return NULL;
}

START_TEST(strand_keeps_order_when_some_run_here)
{
    struct pool *p = new_pool(2, 2);
    struct order o = {0};
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 1000, .batch_max = 7};
    ck_assert_int_eq(strand_new(&o.strand, &so, NULL), ERR_OK);
    pthread_t t[PRODUCERS];
    struct producer ids[PRODUCERS];
    for (unsigned i = 0; i < PRODUCERS; i++) {
        ids[i] = (struct producer){&o, i};
        pthread_create(&t[i], NULL, i % 2 == 0 ? produce_here : produce, &ids[i]);
    }
    for (unsigned i = 0; i < PRODUCERS; i++) {
        pthread_join(t[i], NULL);
    }
    ck_assert(strand_close(o.strand, mark_done, &o));
    pool_free(p);
    ck_assert(atomic_load(&o.done) && !o.bad);
    ck_assert_uint_eq(o.ran, PRODUCERS * EACH);
}
END_TEST

struct world {
    struct clock_sim clock;
    struct sim_exec *x;
    char trace[4000];
    size_t n;
};

struct note {
    struct world *w;
    char c;
};

static void write_note(void *arg)
{
    struct note *m = arg;
    ck_assert_uint_lt(m->w->n + 1, sizeof(m->w->trace));
    m->w->trace[m->w->n++] = m->c;
}

static void world_open(struct world *w, uint64_t seed, int64_t delay)
{
    memset(w, 0, sizeof(*w));
    clock_sim_init(&w->clock, 1000000);
    w->x =
        sim_exec_new(&(struct sim_exec_opts){.clock = &w->clock, .seed = seed, .task_delay_ns_max = delay});
    ck_assert_ptr_nonnull(w->x);
}

/* Two loops and a pool; returns the trace. */
static void scenario(uint64_t seed, struct world *w)
{
    static struct note notes[3][26];
    world_open(w, seed, 1000);
    for (int l = 0; l < 3; l++) {
        struct sim_lane *lane = sim_lane_new(w->x, l == 2 ? SIM_POOL : SIM_LOOP, 0);
        for (int i = 0; i < (l == 2 ? 10 : 26); i++) {
            notes[l][i] = (struct note){w, (char)((l == 0 ? 'a' : l == 1 ? 'A' : '0') + i)};
            ck_assert(executor_submit(sim_lane_executor(lane), write_note, &notes[l][i]));
        }
    }
    ck_assert_uint_eq(w->n, 0);
    while (sim_exec_step(w->x)) {
    }
    sim_exec_free(w->x);
}

START_TEST(sim_replays_and_keeps_loops_in_order)
{
    static struct world a, b;
    bool pool_shuffled = false, loops_mixed = false;
    for (uint64_t seed = 1; seed < 30; seed++) {
        scenario(seed, &a);
        scenario(seed, &b);
        ck_assert_uint_eq(a.n, 62);
        ck_assert_str_eq(a.trace, b.trace);
        char lower = 'a', upper = 'A', digit = '0';
        for (size_t i = 0; i < a.n; i++) {
            char c = a.trace[i];
            if (c >= 'a') {
                ck_assert_int_eq(c, lower++);
                loops_mixed |= upper > 'A' && upper < 'Z';
            } else if (c >= 'A') {
                ck_assert_int_eq(c, upper++);
            } else {
                pool_shuffled |= c != digit++;
            }
        }
    }
    ck_assert(pool_shuffled && loops_mixed);
}
END_TEST

START_TEST(sim_timers_move_the_clock)
{
    static struct world w;
    world_open(&w, 5, 0);
    struct sim_lane *l = sim_lane_new(w.x, SIM_LOOP, 0);
    const struct timers *t = sim_lane_timers(l);
    struct note n[4] = {{&w, 'a'}, {&w, 'b'}, {&w, 'c'}, {&w, 'd'}};
    timer_start(t, 300, write_note, &n[2]);
    timer_start(t, 100, write_note, &n[0]);
    struct timer *cancelled = timer_start(t, 150, write_note, &n[3]);
    timer_start(t, 200, write_note, &n[1]);
    timer_cancel(t, cancelled);
    timer_cancel(t, NULL);
    ck_assert_uint_eq(sim_exec_run_for(w.x, 200000000), 2);
    ck_assert_int_eq(clock_mono_ms(&w.clock.base), 200);
    ck_assert_int_eq(clock_wall_ms(&w.clock.base), 1000200);
    ck_assert(sim_exec_step(w.x));
    ck_assert(!sim_exec_step(w.x));
    ck_assert_int_eq(clock_mono_ms(&w.clock.base), 300);
    ck_assert_str_eq(w.trace, "abc");
    clock_sim_set_wall(&w.clock, 5);
    ck_assert_int_eq(clock_wall_ms(&w.clock.base), 5);
    sim_exec_free(w.x);
}
END_TEST

START_TEST(sim_pauses_kills_and_refuses)
{
    static struct world w;
    world_open(&w, 9, 0);
    struct sim_lane *l = sim_lane_new(w.x, SIM_LOOP, 3);
    const struct executor *x = sim_lane_executor(l);
    struct note n[4] = {{&w, 'a'}, {&w, 'b'}, {&w, 'c'}, {&w, 'd'}};
    sim_lane_pause(l, true);
    for (int i = 0; i < 3; i++) {
        ck_assert(executor_submit(x, write_note, &n[i]));
    }
    ck_assert(!executor_submit(x, write_note, &n[3]));
    timer_start(sim_lane_timers(l), 10, write_note, &n[3]);
    ck_assert_uint_eq(sim_exec_run_for(w.x, 50000000), 0);
    sim_lane_pause(l, false);
    ck_assert_uint_eq(sim_exec_run_for(w.x, 0), 4);
    ck_assert_int_eq(clock_mono_ms(&w.clock.base), 50);
    w.n = 0;
    sim_lane_pause(l, true);
    ck_assert(executor_submit(x, write_note, &n[0]));
    ck_assert(executor_submit(x, write_note, &n[1]));
    struct timer *t = timer_start(sim_lane_timers(l), 1, write_note, &n[3]);
    sim_exec_run_for(w.x, 5000000);
    sim_lane_kill(l);
    ck_assert(!executor_submit(x, write_note, &n[0]));
    ck_assert(!sim_exec_step(w.x));
    ck_assert_uint_eq(w.n, 0);
    timer_cancel(sim_lane_timers(l), t); /* as the dead node's own clean-up would */
    ck_assert_ptr_nonnull(timer_start(sim_lane_timers(l), 1, write_note, &n[3]));
    l = sim_lane_new(w.x, SIM_LOOP, 0);
    sim_lane_pause(l, true);
    executor_submit(sim_lane_executor(l), write_note, &n[0]);
    executor_submit(sim_lane_executor(l), write_note, &n[1]);
    sim_exec_step(w.x);
    sim_exec_free(w.x); /* with a stash that never ran */
}
END_TEST

START_TEST(strands_run_in_the_simulator)
{
    static struct world w;
    world_open(&w, 3, 1000);
    struct strand *s;
    struct strand_opts so = {
        .over = sim_lane_executor(sim_lane_new(w.x, SIM_POOL, 0)), .queue_max = 100, .batch_max = 2};
    ck_assert_int_eq(strand_new(&s, &so, NULL), ERR_OK);
    static struct note n[26];
    for (int i = 0; i < 26; i++) {
        n[i] = (struct note){&w, (char)('a' + i)};
        ck_assert(executor_submit(strand_executor(s), write_note, &n[i]));
    }
    struct note end = {&w, '.'};
    ck_assert(strand_close(s, write_note, &end));
    while (sim_exec_step(w.x)) {
    }
    ck_assert_str_eq(w.trace, "abcdefghijklmnopqrstuvwxyz.");
    sim_exec_free(w.x);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("executors");
    TCase *t = tcase_create("executors");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, pool_counts_and_refuses);
    tcase_add_test(t, pool_free_runs_what_waits);
    tcase_add_test(t, strand_keeps_order_under_threads);
    tcase_add_test(t, strand_is_bounded_and_says_when_nothing_runs);
    tcase_add_test(t, pool_runs_here_while_nothing_waits);
    tcase_add_test(t, strand_runs_here_when_idle);
    tcase_add_test(t, strand_closes_behind_what_runs_here);
    tcase_add_test(t, strand_keeps_order_when_some_run_here);
    tcase_add_test(t, sim_replays_and_keeps_loops_in_order);
    tcase_add_test(t, sim_timers_move_the_clock);
    tcase_add_test(t, sim_pauses_kills_and_refuses);
    tcase_add_test(t, strands_run_in_the_simulator);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
