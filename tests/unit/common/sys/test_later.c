/* Ends are told when the task has returned: in order, on a flat stack, each task its own. */
#include "common/base/later.h"
#include "common/sys/pool.h"
#include "common/sys/strand.h"
#include "tests/seams/sim_exec.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct end {
    struct later l;
    char name;
    struct end *then; /* put off when this one runs */
};

static char told[64];

static void note(char c)
{
    size_t n = strlen(told);
    told[n] = c;
    told[n + 1] = '\0';
}

static void run_end(struct later *l)
{
    struct end *e = CONTAINER_OF(l, struct end, l);
    note(e->name);
    if (e->then != NULL) {
        later(&e->then->l, run_end);
    }
}

static void two_ends(void *arg)
{
    struct end *e = arg;
    note('(');
    later(&e[0].l, run_end);
    later(&e[1].l, run_end);
    note(')');
}

START_TEST(ends_come_after_the_task_in_order)
{
    struct end third = {.name = 'c'}, e[2] = {{.name = 'a', .then = &third}, {.name = 'b'}};
    told[0] = '\0';
    later_task(two_ends, e);
    ck_assert_str_eq(told, "()abc");
}
END_TEST

struct inner {
    struct end outer, own[2];
};

static void task_in_a_task(void *arg)
{
    struct inner *i = arg;
    later(&i->outer.l, run_end);
    later_task(two_ends, i->own);
    note('|');
}

START_TEST(a_task_inside_another_runs_its_own)
{
    struct inner i = {.outer.name = 'x', .own = {{.name = 'a'}, {.name = 'b'}}};
    told[0] = '\0';
    later_task(task_in_a_task, &i);
    ck_assert_str_eq(told, "()ab|x");
}
END_TEST

/* ---- a long chain ---- */

struct chain {
    struct later l;
    unsigned left;
    char *lowest, *highest; /* addresses of the stack */
};

static void link_of(struct later *l)
{
    struct chain *c = CONTAINER_OF(l, struct chain, l);
    char here;
    char *at = &here;
    c->lowest = c->lowest == NULL || at < c->lowest ? at : c->lowest;
    c->highest = at > c->highest ? at : c->highest;
    if (c->left-- > 0) {
        later(&c->l, link_of);
    }
}

static void begin_chain(void *arg)
{
    struct chain *c = arg;
    later(&c->l, link_of);
}

START_TEST(a_chain_takes_no_stack)
{
    struct chain c = {.left = 1000000};
    later_task(begin_chain, &c);
    ck_assert_int_eq(c.highest - c.lowest, 0);
}
END_TEST

/* ---- executors ---- */

START_TEST(pools_and_strands_run_ends)
{
    struct pool *p;
    struct strand *s;
    struct pool_opts po = {.name = "test", .threads_max = 1, .queue_max = 10};
    ck_assert_int_eq(pool_new(&p, &po, NULL), ERR_OK);
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 10};
    ck_assert_int_eq(strand_new(&s, &so, NULL), ERR_OK);
    struct end a[2] = {{.name = 'a'}, {.name = 'b'}}, b[2] = {{.name = 'c'}, {.name = 'd'}};
    told[0] = '\0';
    ck_assert(executor_submit(pool_executor(p), two_ends, a));
    pool_drain(p);
    ck_assert_str_eq(told, "()ab");
    told[0] = '\0'; /* before the strand's next task */
    ck_assert(executor_submit(strand_executor(s), two_ends, a));
    ck_assert(executor_submit(strand_executor(s), two_ends, b));
    pool_drain(p);
    ck_assert_str_eq(told, "()ab()cd");
    ck_assert(strand_close(s, NULL, NULL));
    pool_drain(p);
    pool_free(p);
}
END_TEST

struct here {
    const struct executor *x;
    struct end e[2];
};

static void run_here(void *arg)
{
    struct here *h = arg;
    ck_assert(executor_run_here(h->x, two_ends, h->e));
    note('|');
}

/* What runs on the caller's thread ends after the caller. */
START_TEST(what_runs_here_ends_with_the_caller)
{
    struct pool *p;
    struct strand *s;
    struct pool_opts po = {.name = "test", .threads_max = 1, .queue_max = 10};
    ck_assert_int_eq(pool_new(&p, &po, NULL), ERR_OK);
    struct strand_opts so = {.over = pool_executor(p), .queue_max = 10};
    ck_assert_int_eq(strand_new(&s, &so, NULL), ERR_OK);
    struct here on_pool = {pool_executor(p), {{.name = 'a'}, {.name = 'b'}}};
    struct here on_strand = {strand_executor(s), {{.name = 'c'}, {.name = 'd'}}};
    told[0] = '\0';
    later_task(run_here, &on_pool);
    later_task(run_here, &on_strand);
    ck_assert_str_eq(told, "()|ab()|cd");
    ck_assert(strand_close(s, NULL, NULL));
    pool_drain(p);
    pool_free(p);
}
END_TEST

/* ---- the simulator ---- */

static struct sim_exec *sim;

static void sleep_between(void *arg)
{
    struct end *e = arg;
    later(&e[0].l, run_end);
    sim_exec_sleep(sim, 1000);
    later(&e[1].l, run_end);
    note('s');
}

START_TEST(a_task_that_sleeps_keeps_its_own)
{
    struct clock_sim clock;
    clock_sim_init(&clock, 0);
    sim = sim_exec_new(&(struct sim_exec_opts){.clock = &clock, .seed = 1, .sleeps = true});
    struct sim_lane *l = sim_lane_new(sim, SIM_POOL, 0);
    sim_lane_set_threads(l, 2);
    struct end a[2] = {{.name = 'a'}, {.name = 'b'}}, b[2] = {{.name = 'c'}, {.name = 'd'}};
    struct end outside = {.name = 'o'};
    told[0] = '\0';
    ck_assert(executor_submit(sim_lane_executor(l), sleep_between, a));
    sim_exec_run_for(sim, 10);
    later(&outside.l, run_end);
    ck_assert_str_eq(told, "");
    ck_assert(executor_submit(sim_lane_executor(l), two_ends, b));
    sim_exec_run_for(sim, 5000);
    ck_assert_str_eq(told, "o()cdsab");
    sim_exec_free(sim);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("later");
    TCase *t = tcase_create("later");
    tcase_add_test(t, ends_come_after_the_task_in_order);
    tcase_add_test(t, a_task_inside_another_runs_its_own);
    tcase_add_test(t, a_chain_takes_no_stack);
    tcase_add_test(t, pools_and_strands_run_ends);
    tcase_add_test(t, what_runs_here_ends_with_the_caller);
    tcase_add_test(t, a_task_that_sleeps_keeps_its_own);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
