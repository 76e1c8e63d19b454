/* The registry of tasks: order, parents, cancelling, against a list kept beside it. */
#include "coordinator/core/tasks.h"

#include "common/base/rand.h"
#include "tests/seams/clock_sim.h"

#include <check.h>
#include <stdlib.h>

#define TASKS 200

struct seen {
    uint64_t ids[TASKS];
    unsigned n;
};

static void note(void *self, struct task *t)
{
    struct seen *s = self;
    s->ids[s->n++] = t->id;
}

static unsigned cancels;

static void count_cancel(struct task *t)
{
    ck_assert(t->cancelled);
    cancels++;
}

static const struct task_ops ops = {.cancel = count_cancel, .cancellable = true};

static const struct task_ops long_ops = {.cancel = count_cancel, .cancellable = true, .lasts = true};

static struct tasks *new_tasks(struct clock_sim *clock)
{
    struct tasks *ts;
    clock_sim_init(clock, 1000);
    ck_assert_int_eq(tasks_new(&ts, &clock->base, NULL), ERR_OK);
    return ts;
}

START_TEST(lists_what_runs)
{
    struct clock_sim clock;
    struct tasks *ts = new_tasks(&clock);
    struct task *v = calloc(TASKS, sizeof(*v));
    struct rng rng;
    uint64_t last = 0;
    rng_seed(&rng, 3);
    for (int round = 0; round < 2000; round++) {
        struct task *t = &v[rng_u64(&rng) % TASKS];
        if (t->id == 0) {
            *t = (struct task){.ops = &ops, .action = "a", .type = "transport"};
            tasks_begin(ts, t);
            ck_assert_uint_gt(t->id, last); /* numbers are not used again */
            last = t->id;
        } else {
            uint64_t id = t->id;
            ck_assert(tasks_one(ts, id, NULL, NULL));
            tasks_end(ts, t);
            ck_assert(!tasks_one(ts, id, NULL, NULL));
        }
        struct seen s = {.n = 0};
        unsigned running = 0;
        tasks_each(ts, note, &s);
        for (int i = 0; i < TASKS; i++) {
            running += v[i].id != 0;
        }
        ck_assert_uint_eq(s.n, running);
        for (unsigned i = 1; i < s.n; i++) {
            ck_assert_uint_lt(s.ids[i - 1], s.ids[i]);
        }
    }
    for (int i = 0; i < TASKS; i++) {
        tasks_end(ts, &v[i]); /* also those that do not run */
    }
    tasks_drain(ts);
    tasks_free(ts);
    free(v);
}
END_TEST

static void cancel_it(void *self, struct task *t)
{
    tasks_cancel_locked(self, t);
}

START_TEST(cancelling_reaches_children)
{
    struct clock_sim clock;
    struct tasks *ts = new_tasks(&clock);
    struct task a = {.ops = &ops}, b = {.ops = &ops}, c = {.ops = &ops}, other = {.ops = &long_ops},
                late = {.ops = &ops}, guest = {.ops = &ops, .served = true};
    tasks_begin(ts, &a);
    b.parent = a.id;
    tasks_begin(ts, &b);
    tasks_begin(ts, &other);
    c.parent = b.id;
    tasks_begin(ts, &c);
    cancels = 0;
    ck_assert(tasks_one(ts, a.id, cancel_it, ts));
    ck_assert(tasks_one(ts, a.id, cancel_it, ts)); /* again: nothing */
    ck_assert_uint_eq(cancels, 3);
    ck_assert(a.cancelled && b.cancelled && c.cancelled && !other.cancelled);
    late.parent = b.id;
    tasks_begin(ts, &late);
    ck_assert(late.cancelled);
    guest.parent = a.id; /* of another node's task, that has the same number */
    guest.parent_node = STR("elsewhere");
    tasks_begin(ts, &guest);
    tasks_stop(ts);
    ck_assert(other.cancelled && !guest.cancelled);
    tasks_end(ts, &late);
    tasks_end(ts, &a);
    tasks_end(ts, &c);
    tasks_end(ts, &other);
    tasks_end(ts, &b);
    tasks_drain(ts); /* who serves others is not waited for */
    tasks_end(ts, &guest);
    tasks_free(ts);
}
END_TEST

START_TEST(ids_in_texts)
{
    struct str node;
    uint64_t id;
    ERR_LOCAL(em);
    ck_assert_int_eq(task_id_parse(STR("abc:7"), &node, &id, &em), ERR_OK);
    ck_assert(str_is(node, "abc"));
    ck_assert_uint_eq(id, 7);
    static const char *const bad[] = {"", "abc", "abc:", "abc:x", "a:b:1", "abc:99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert_int_eq(task_id_parse(str_of(bad[i]), &node, &id, &em), ERR_ILLEGAL_ARGUMENT);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tasks");
    TCase *c = tcase_create("tasks");
    tcase_add_test(c, lists_what_runs);
    tcase_add_test(c, cancelling_reaches_children);
    tcase_add_test(c, ids_in_texts);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
