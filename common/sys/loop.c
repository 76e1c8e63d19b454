#include "common/sys/loop.h"

#include "common/base/later.h"
#include "common/sys/clock_real.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct timer {
    struct event event;
    struct loop *loop;
    struct timer *prev, *next;
    int64_t due_ns;
    void (*fire)(void *arg);
    void *arg;
};

struct watch { /* of a signal */
    struct event event;
    struct watch *next;
    void (*fire)(void *arg, int signo);
    void *arg;
};

struct loop {
    char name[32];
    struct event_base *base;
    struct executor executor;
    struct timers timers;
    struct timer running; /* ring of timers */
    struct watch *watches;
    /* The mailbox: a stack that any thread pushes and the loop takes whole. Whoever finds it empty wakes the
     * loop; the eventfd is edge-triggered, so it is never read. */
    _Atomic(struct loop_task *) mail;
    int wake_fd;
    struct event wake;
    struct loop_task stop;
    atomic_bool stopping;
    _Atomic(uintptr_t) inside;
    pthread_t thread;
    bool has_thread;
};

struct posted {
    struct loop_task task;
    void (*run)(void *arg);
    void *arg;
};

bool loop_inside(const struct loop *l)
{
    return atomic_load_explicit(&l->inside, memory_order_relaxed) == (uintptr_t)pthread_self();
}

void loop_post_task(struct loop *l, struct loop_task *t)
{
    struct loop_task *head = atomic_load_explicit(&l->mail, memory_order_relaxed);
    do {
        t->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&l->mail, &head, t, memory_order_release,
                                                    memory_order_relaxed));
    if (head != NULL) {
        return;
    }
    if (loop_inside(l)) {
        event_active(&l->wake, EV_TIMEOUT, 0);
        return;
    }
    uint64_t one = 1;
    ssize_t n = write(l->wake_fd, &one, sizeof(one));
    (void)n; /* cannot fail: the counter never comes near its end */
}

static void run_mail(UNUSED evutil_socket_t fd, UNUSED short what, void *arg)
{
    struct loop *l = arg;
    struct loop_task *t = atomic_exchange_explicit(&l->mail, NULL, memory_order_acquire);
    struct loop_task *in_order = NULL;
    while (t != NULL) {
        struct loop_task *next = t->next;
        t->next = in_order;
        in_order = t;
        t = next;
    }
    while (in_order != NULL) {
        struct loop_task *next = in_order->next;
        struct later_list list;
        later_open(&list);
        in_order->run(in_order);
        later_close(&list);
        in_order = next;
    }
}

static void run_posted(struct loop_task *t)
{
    struct posted *p = (struct posted *)t;
    void (*run)(void *) = p->run;
    void *arg = p->arg;
    free(p);
    run(arg);
}

bool loop_post(struct loop *l, void (*run)(void *arg), void *arg)
{
    struct posted *p = malloc(sizeof(*p));
    if (p == NULL) {
        return false;
    }
    *p = (struct posted){.task.run = run_posted, .run = run, .arg = arg};
    loop_post_task(l, &p->task);
    return true;
}

static bool loop_submit(void *self, void (*run)(void *arg), void *arg)
{
    return loop_post(self, run, arg);
}

static struct timeval timeval_of_ns(int64_t ns)
{
    int64_t us = (ns + 999) / 1000;
    return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

static int64_t now_ns(void)
{
    const struct clock *c = clock_real();
    return c->mono_ns(c->self);
}

static void timer_unlink(struct timer *t)
{
    t->prev->next = t->next;
    t->next->prev = t->prev;
}

static void timer_due(UNUSED evutil_socket_t fd, UNUSED short what, void *arg)
{
    struct timer *t = arg;
    /* libevent counts from the time it cached when this round of callbacks began, on a coarse clock. */
    int64_t early = t->due_ns - now_ns();
    if (early > 0) {
        struct timeval rest = timeval_of_ns(early);
        if (event_add(&t->event, &rest) == 0) {
            return;
        }
    }
    void (*fire)(void *) = t->fire;
    void *fire_arg = t->arg;
    timer_unlink(t);
    free(t);
    later_task(fire, fire_arg);
}

static struct timer *start_timer(void *self, int64_t delay_ms, void (*fire)(void *arg), void *arg)
{
    struct loop *l = self;
    struct timer *t = malloc(sizeof(*t));
    if (t == NULL) {
        return NULL;
    }
    int64_t delay_ns = MAX_OF(delay_ms, (int64_t)0) * 1000000;
    t->loop = l;
    t->due_ns = now_ns() + delay_ns;
    t->fire = fire;
    t->arg = arg;
    struct timeval tv = timeval_of_ns(delay_ns);
    if (event_assign(&t->event, l->base, -1, 0, timer_due, t) != 0 || event_add(&t->event, &tv) != 0) {
        free(t);
        return NULL;
    }
    t->next = &l->running;
    t->prev = l->running.prev;
    t->prev->next = t;
    l->running.prev = t;
    return t;
}

static void cancel_timer(UNUSED void *self, struct timer *t)
{
    if (t != NULL) {
        event_del(&t->event);
        timer_unlink(t);
        free(t);
    }
}

static void stop_now(struct loop_task *t)
{
    struct loop *l = (struct loop *)(void *)((char *)t - offsetof(struct loop, stop));
    event_base_loopbreak(l->base);
}

static enum err open_base(struct loop *l, struct errmsg *em)
{
    struct event_config *config = event_config_new();
    if (config == NULL) {
        return err_no_memory(em);
    }
    /* No locks: other threads only touch the mailbox. No change list: it would tell epoll of closed
     * descriptors whose numbers other threads have opened anew. */
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
    event_config_require_features(config, EV_FEATURE_ET);
    l->base = event_base_new_with_config(config);
    event_config_free(config);
    if (l->base == NULL) {
        return err_set(em, ERR_IO, "cannot make an event loop");
    }
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->wake_fd < 0) {
        return err_errno(em, errno, "eventfd");
    }
    if (event_assign(&l->wake, l->base, l->wake_fd, EV_READ | EV_PERSIST | EV_ET, run_mail, l) != 0
        || event_add(&l->wake, NULL) != 0) {
        return err_set(em, ERR_IO, "cannot watch an eventfd");
    }
    return ERR_OK;
}

enum err loop_new(struct loop **out, const char *name, struct errmsg *em)
{
    *out = NULL;
    struct loop *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return err_no_memory(em);
    }
    l->wake_fd = -1;
    l->running.next = l->running.prev = &l->running;
    l->executor = (struct executor){.self = l, .submit = loop_submit};
    l->timers = (struct timers){.self = l, .start = start_timer, .cancel = cancel_timer};
    l->stop.run = stop_now;
    snprintf(l->name, sizeof(l->name), "%s", name);
    enum err e = open_base(l, em);
    if (e != ERR_OK) {
        loop_free(l);
        return e;
    }
    signal(SIGPIPE, SIG_IGN);
    *out = l;
    return ERR_OK;
}

static void drop_mail(struct loop *l)
{
    struct loop_task *t = atomic_exchange(&l->mail, NULL);
    while (t != NULL) {
        struct loop_task *next = t->next;
        if (t->run == run_posted) {
            free(t);
        }
        t = next;
    }
}

void loop_free(struct loop *l)
{
    if (l == NULL) {
        return;
    }
    while (l->running.next != &l->running) {
        cancel_timer(l, l->running.next);
    }
    while (l->watches != NULL) {
        struct watch *next = l->watches->next;
        event_del(&l->watches->event);
        free(l->watches);
        l->watches = next;
    }
    drop_mail(l);
    if (l->wake_fd >= 0) {
        if (event_initialized(&l->wake)) {
            event_del(&l->wake);
        }
        close(l->wake_fd);
    }
    if (l->base != NULL) {
        event_base_free(l->base);
    }
    free(l);
}

void loop_run(struct loop *l)
{
    atomic_store_explicit(&l->inside, (uintptr_t)pthread_self(), memory_order_relaxed);
    event_base_loop(l->base, EVLOOP_NO_EXIT_ON_EMPTY);
    atomic_store_explicit(&l->inside, 0, memory_order_relaxed);
}

static void *thread_main(void *arg)
{
    loop_run(arg);
    return NULL;
}

enum err loop_start(struct loop *l, struct errmsg *em)
{
    int errnum = pthread_create(&l->thread, NULL, thread_main, l);
    if (errnum != 0) {
        return err_errno(em, errnum, "start a thread");
    }
    l->has_thread = true;
    char name[16];
    snprintf(name, sizeof(name), "%.15s", l->name);
    pthread_setname_np(l->thread, name);
    return ERR_OK;
}

void loop_join(struct loop *l)
{
    if (l->has_thread) {
        pthread_join(l->thread, NULL);
        l->has_thread = false;
    }
}

void loop_stop(struct loop *l)
{
    if (!atomic_exchange(&l->stopping, true)) {
        loop_post_task(l, &l->stop);
    }
}

const struct executor *loop_executor(struct loop *l)
{
    return &l->executor;
}

const struct timers *loop_timers(struct loop *l)
{
    return &l->timers;
}

struct event_base *loop_base(struct loop *l)
{
    return l->base;
}

struct loop_ticker {
    struct event event;
    void (*fire)(void *arg);
    void *arg;
};

static void loop_tick(UNUSED evutil_socket_t fd, UNUSED short what, void *arg)
{
    struct loop_ticker *t = arg;
    later_task(t->fire, t->arg);
}

struct loop_ticker *loop_ticker_new(struct loop *l, int64_t ms, void (*fire)(void *arg), void *arg)
{
    struct loop_ticker *t = malloc(sizeof(*t));
    if (t == NULL) {
        return NULL;
    }
    t->fire = fire;
    t->arg = arg;
    struct timeval tv = timeval_of_ns(ms * 1000000);
    if (event_assign(&t->event, l->base, -1, EV_PERSIST, loop_tick, t) != 0
        || event_add(&t->event, &tv) != 0) {
        free(t);
        return NULL;
    }
    return t;
}

void loop_ticker_free(struct loop_ticker *t)
{
    if (t != NULL) {
        event_del(&t->event);
        free(t);
    }
}

static void signalled(evutil_socket_t signo, UNUSED short what, void *arg)
{
    struct watch *w = arg;
    struct later_list list;
    later_open(&list);
    w->fire(w->arg, (int)signo);
    later_close(&list);
}

enum err loop_signal(struct loop *l, int signo, void (*fire)(void *arg, int signo), void *arg,
                     struct errmsg *em)
{
    struct watch *w = malloc(sizeof(*w));
    if (w == NULL) {
        return err_no_memory(em);
    }
    w->fire = fire;
    w->arg = arg;
    if (event_assign(&w->event, l->base, signo, EV_SIGNAL | EV_PERSIST, signalled, w) != 0
        || event_add(&w->event, NULL) != 0) {
        free(w);
        return err_set(em, ERR_IO, "cannot watch signal %d", signo);
    }
    w->next = l->watches;
    l->watches = w;
    return ERR_OK;
}
