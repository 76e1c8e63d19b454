/* Delays over the simulator's loop and pool: against what each was asked for, moved and hurried at random. */
#include "coordinator/core/delays.h"

#include "common/base/rand.h"
#include "tests/seams/sim_exec.h"

#include <check.h>
#include <stdlib.h>

struct rig {
    struct clock_sim clock;
    struct sim_exec *x;
    struct sim_lane *loop, *pool;
    struct delays *d;
};

static void rig_init(struct rig *r)
{
    clock_sim_init(&r->clock, 0);
    r->x = sim_exec_new(&(struct sim_exec_opts){.clock = &r->clock, .seed = 7});
    r->loop = sim_lane_new(r->x, SIM_LOOP, 0);
    r->pool = sim_lane_new(r->x, SIM_POOL, 0);
    struct delays_opts o = {&r->clock.base, sim_lane_timers(r->loop), sim_lane_executor(r->loop),
                            sim_lane_executor(r->pool)};
    ck_assert_int_eq(delays_new(&r->d, &o, NULL), ERR_OK);
}

static void rig_fini(struct rig *r)
{
    delays_free(r->d);
    sim_exec_free(r->x);
}

struct one {
    struct delay delay;
    struct rig *rig;
    int64_t due_ms, ran_ms;
    int runs;
    _Atomic bool off;
};

static void ran(void *arg)
{
    struct one *o = arg;
    o->runs++;
    o->ran_ms = clock_mono_ms(&o->rig->clock.base);
}

START_TEST(each_runs_once_and_in_time)
{
    struct rig r;
    struct rng rng;
    struct one *v = calloc(500, sizeof(*v));
    rig_init(&r);
    rng_seed(&rng, 11);
    for (int i = 0; i < 500; i++) {
        int64_t ms = (int64_t)(rng_u64(&rng) % 1000);
        v[i] = (struct one){.rig = &r, .due_ms = clock_mono_ms(&r.clock.base) + ms};
        delays_add(r.d, &v[i].delay, ms, ran, &v[i]);
        sim_exec_run_for(r.x, (int64_t)(rng_u64(&rng) % 5) * 1000000);
        struct one *other = &v[rng_u64(&rng) % (unsigned)(i + 1)];
        int64_t now = clock_mono_ms(&r.clock.base), more = (int64_t)(rng_u64(&rng) % 500);
        if (rng_u64(&rng) % 4 == 0 && delays_move(r.d, &other->delay, more)) {
            ck_assert_int_eq(other->runs, 0);
            other->due_ms = now + more;
        } else if (rng_u64(&rng) % 8 == 0 && delays_hurry(r.d, &other->delay)) {
            other->due_ms = now;
        }
    }
    sim_exec_run_for(r.x, 2000000000);
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(v[i].runs, 1);
        ck_assert_int_ge(v[i].ran_ms, v[i].due_ms);
        ck_assert_int_le(v[i].ran_ms, v[i].due_ms + 2);
        ck_assert(!delays_hurry(r.d, &v[i].delay));
        ck_assert(!delays_move(r.d, &v[i].delay, 1));
    }
    free(v);
    rig_fini(&r);
}
END_TEST

START_TEST(what_was_called_off_does_not_wait)
{
    struct rig r;
    rig_init(&r);
    struct one o = {.rig = &r, .off = true};
    o.delay.off = &o.off;
    delays_add(r.d, &o.delay, 60000, ran, &o);
    ck_assert_int_eq(o.runs, 0); /* never inside the call */
    sim_exec_run_for(r.x, 1000000);
    ck_assert_int_eq(o.runs, 1);
    rig_fini(&r);
}
END_TEST

START_TEST(stopping_runs_all)
{
    struct rig r;
    rig_init(&r);
    struct one a = {.rig = &r}, b = {.rig = &r};
    delays_add(r.d, &a.delay, 60000, ran, &a);
    sim_exec_run_for(r.x, 1000000);
    delays_stop(r.d);
    delays_add(r.d, &b.delay, 60000, ran, &b);
    sim_exec_run_for(r.x, 1000000);
    ck_assert_int_eq(a.runs, 1);
    ck_assert_int_eq(b.runs, 1);
    rig_fini(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("delays");
    TCase *c = tcase_create("delays");
    tcase_add_test(c, each_runs_once_and_in_time);
    tcase_add_test(c, what_was_called_off_does_not_wait);
    tcase_add_test(c, stopping_runs_all);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
