/* Ending work early: what holds on a thread, how it nests, and that arenas look at it. */
#include "common/base/arena.h"
#include "common/base/stop.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

struct asker {
    unsigned asked;
    bool yes;
};

static bool ask(void *self)
{
    struct asker *a = self;
    a->asked++;
    return a->yes;
}

static int64_t now_ns;

static int64_t fake_now(void *self)
{
    (void)self;
    return now_ns;
}

static const struct clock fake_clock = {.mono_ns = fake_now};

START_TEST(nobody_stops_what_nobody_began)
{
    ck_assert(!stop_now());
    for (int i = 0; i < 1000; i++) {
        ck_assert(!stop_often());
    }
}
END_TEST

START_TEST(looks_now_and_then_and_stays_on)
{
    struct asker a = {0};
    struct stop s = {.asked = ask, .self = &a};
    stop_enter(&s);
    for (int i = 0; i < 1024; i++) {
        ck_assert(!stop_often());
    }
    ck_assert_uint_eq(a.asked, 4);
    ck_assert(!stop_now());
    a.yes = true;
    ck_assert(stop_now());
    ck_assert(stop_often());
    a.yes = false;
    ck_assert(stop_now() && s.on && !s.late);
    stop_leave(&s);
    ck_assert(!stop_now());
}
END_TEST

START_TEST(times_are_kept_inside_what_holds)
{
    struct asker a = {0};
    struct stop outer = {.asked = ask, .self = &a};
    now_ns = 100;
    stop_enter(&outer);
    struct stop timed = {.clock = &fake_clock, .deadline_ns = 200, .within = true};
    stop_enter(&timed);
    ck_assert(!stop_now());
    now_ns = 201;
    ck_assert(stop_now() && timed.late && !outer.on);
    stop_leave(&timed);
    ck_assert(!stop_now());
    struct stop again = {.clock = &fake_clock, .deadline_ns = 1000, .within = true};
    stop_enter(&again);
    a.yes = true;
    ck_assert(stop_now() && again.on && !again.late && outer.on);
    stop_leave(&again);
    struct stop apart = {.asked = NULL}; /* work for somebody else */
    stop_enter(&apart);
    ck_assert(!stop_now());
    stop_leave(&apart);
    stop_leave(&outer);
}
END_TEST

START_TEST(arenas_end_with_the_work)
{
    struct asker a = {0};
    struct stop s = {.asked = ask, .self = &a};
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    stop_enter(&s);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 100));
    a.yes = true;
    ck_assert_ptr_null(arena_alloc(&arena, 4 << 20));
    ck_assert_ptr_nonnull(arena_alloc(&arena, 16)); /* there is room */
    stop_leave(&s);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 4 << 20));
    arena_fini(&arena);
}
END_TEST

static void *look(void *arg)
{
    *(bool *)arg = stop_now();
    return NULL;
}

START_TEST(other_threads_go_on)
{
    struct asker a = {.yes = true};
    struct stop s = {.asked = ask, .self = &a};
    bool there = true;
    pthread_t t;
    stop_enter(&s);
    ck_assert_int_eq(pthread_create(&t, NULL, look, &there), 0);
    pthread_join(t, NULL);
    ck_assert(!there && stop_now());
    stop_leave(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stop");
    TCase *t = tcase_create("stop");
    tcase_add_test(t, nobody_stops_what_nobody_began);
    tcase_add_test(t, looks_now_and_then_and_stays_on);
    tcase_add_test(t, times_are_kept_inside_what_holds);
    tcase_add_test(t, arenas_end_with_the_work);
    tcase_add_test(t, other_threads_go_on);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
