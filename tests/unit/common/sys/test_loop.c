#include "common/sys/clock_real.h"
#include "common/sys/loop.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
    struct loop *loop;
    int n, fired[8];
    int64_t at_ms[8];
    struct timer *victim;
    struct loop_ticker *ticker;
    unsigned next[4];
    bool bad;
};

struct posting {
    struct box *box;
    unsigned thread, n;
};

static void open_box(struct box *b)
{
    *b = (struct box){0};
    ck_assert_int_eq(loop_new(&b->loop, "test", NULL), ERR_OK);
}

static void fire(struct box *b, int what)
{
    ck_assert(loop_inside(b->loop));
    b->fired[b->n] = what;
    b->at_ms[b->n++] = clock_mono_ms(clock_real());
}

static void fire_1(void *arg)
{
    fire(arg, 1);
}

static void fire_2(void *arg)
{
    struct box *b = arg;
    fire(b, 2);
    timer_cancel(loop_timers(b->loop), b->victim);
}

static void fire_9(void *arg)
{
    fire(arg, 9);
}

static void fire_stop(void *arg)
{
    struct box *b = arg;
    fire(b, 3);
    loop_stop(b->loop);
    ck_assert(loop_post(b->loop, fire_9, b)); /* behind the stop: it may not run */
}

START_TEST(timers_fire_in_order_and_never_early)
{
    struct box b;
    open_box(&b);
    const struct timers *t = loop_timers(b.loop);
    int64_t start = clock_mono_ms(clock_real());
    b.victim = timer_start(t, 30, fire_9, &b);
    ck_assert_ptr_nonnull(timer_start(t, 40, fire_stop, &b));
    ck_assert_ptr_nonnull(timer_start(t, 15, fire_2, &b));
    ck_assert_ptr_nonnull(timer_start(t, 0, fire_1, &b));
    ck_assert_ptr_nonnull(timer_start(t, 100000, fire_9, &b)); /* freed with the loop */
    ck_assert_int_eq(b.n, 0);
    loop_run(b.loop);
    ck_assert_int_ge(b.n, 3);
    ck_assert(b.fired[0] == 1 && b.fired[1] == 2 && b.fired[2] == 3);
    ck_assert_int_ge(b.at_ms[1] - start, 15);
    ck_assert_int_ge(b.at_ms[2] - start, 40);
    loop_free(b.loop);
}
END_TEST

static void tick(void *arg)
{
    struct box *b = arg;
    if (++b->n == 3) {
        loop_ticker_free(b->ticker);
        loop_stop(b->loop);
    }
}

START_TEST(tickers_repeat)
{
    struct box b;
    open_box(&b);
    b.ticker = loop_ticker_new(b.loop, 2, tick, &b);
    ck_assert_ptr_nonnull(b.ticker);
    loop_run(b.loop);
    ck_assert_int_eq(b.n, 3);
    loop_free(b.loop);
}
END_TEST

#define EACH 30000

static void arrived(void *arg)
{
    struct posting *p = arg;
    p->box->bad |= p->box->next[p->thread] != p->n || !loop_inside(p->box->loop);
    p->box->next[p->thread] = p->n + 1;
    free(p);
}

static void *post_many(void *arg)
{
    struct posting *me = arg;
    for (unsigned n = 0; n < EACH; n++) {
        struct posting *p = malloc(sizeof(*p));
        *p = (struct posting){me->box, me->thread, n};
        while (!executor_submit(loop_executor(me->box->loop), arrived, p)) {
        }
    }
    return NULL;
}

START_TEST(posts_arrive_in_order_from_every_thread)
{
    struct box b;
    open_box(&b);
    ck_assert_int_eq(loop_start(b.loop, NULL), ERR_OK);
    pthread_t t[4];
    struct posting me[4];
    for (unsigned i = 0; i < 4; i++) {
        me[i] = (struct posting){&b, i, 0};
        pthread_create(&t[i], NULL, post_many, &me[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
    }
    loop_stop(b.loop);
    loop_stop(b.loop);
    loop_join(b.loop);
    ck_assert(!b.bad);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(b.next[i], EACH);
    }
    loop_free(b.loop);
}
END_TEST

static void repost(void *arg)
{
    struct box *b = arg;
    if (++b->n < 1000) {
        ck_assert(loop_post(b->loop, repost, b));
    } else {
        loop_stop(b->loop);
    }
}

START_TEST(a_loop_posts_to_itself)
{
    struct box b;
    open_box(&b);
    ck_assert(loop_post(b.loop, repost, &b));
    loop_run(b.loop);
    ck_assert_int_eq(b.n, 1000);
    ck_assert(loop_post(b.loop, repost, &b)); /* dropped */
    loop_free(b.loop);
    loop_free(NULL);
}
END_TEST

static void on_signal(void *arg, int signo)
{
    struct box *b = arg;
    fire(b, signo);
    loop_stop(b->loop);
}

static void raise_it(void *arg)
{
    (void)arg;
    raise(SIGUSR1);
}

START_TEST(signals_arrive_on_the_loop)
{
    struct box b;
    open_box(&b);
    ck_assert_int_eq(loop_signal(b.loop, SIGUSR1, on_signal, &b, NULL), ERR_OK);
    ck_assert(loop_post(b.loop, raise_it, NULL));
    loop_run(b.loop);
    ck_assert_int_eq(b.fired[0], SIGUSR1);
    loop_free(b.loop);
}
END_TEST

START_TEST(a_stop_before_the_run_ends_it)
{
    struct box b;
    open_box(&b);
    loop_stop(b.loop);
    loop_run(b.loop);
    loop_free(b.loop);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("loop");
    TCase *t = tcase_create("loop");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, timers_fire_in_order_and_never_early);
    tcase_add_test(t, tickers_repeat);
    tcase_add_test(t, posts_arrive_in_order_from_every_thread);
    tcase_add_test(t, a_loop_posts_to_itself);
    tcase_add_test(t, signals_arrive_on_the_loop);
    tcase_add_test(t, a_stop_before_the_run_ends_it);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
