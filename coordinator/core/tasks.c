#include "coordinator/core/tasks.h"

#include "common/base/num.h"

#include <pthread.h>
#include <stdlib.h>

struct tasks {
    const struct clock *clock;
    pthread_mutex_t lock;
    pthread_cond_t empty;
    struct task *first, *last;
    uint64_t next_id;
    size_t n_own; /* not served for others */
};

enum err tasks_new(struct tasks **out, const struct clock *clock, struct errmsg *em)
{
    struct tasks *ts = calloc(1, sizeof(*ts));
    *out = ts;
    if (ts == NULL) {
        return err_no_memory(em);
    }
    ts->clock = clock;
    ts->next_id = 1;
    pthread_mutex_init(&ts->lock, NULL);
    pthread_cond_init(&ts->empty, NULL);
    return ERR_OK;
}

void tasks_free(struct tasks *ts)
{
    if (ts != NULL) {
        pthread_cond_destroy(&ts->empty);
        pthread_mutex_destroy(&ts->lock);
        free(ts);
    }
}

static struct task *task_find(struct tasks *ts, uint64_t id)
{
    struct task *t = ts->last; /* most questions are about a new task */
    while (t != NULL && t->id > id) {
        t = t->prev;
    }
    return t != NULL && t->id == id ? t : NULL;
}

void tasks_begin(struct tasks *ts, struct task *t)
{
    t->start_ms = clock_wall_ms(ts->clock);
    t->start_ns = ts->clock->mono_ns(ts->clock->self);
    t->next = NULL;
    pthread_mutex_lock(&ts->lock);
    assert(t->id == 0 && t->ops != NULL); /* it ended, or never began */
    t->id = ts->next_id++;
    const struct task *parent = t->parent != 0 && t->parent_node.p == NULL ? task_find(ts, t->parent) : NULL;
    if (parent != NULL && parent->cancelled) {
        t->cancelled = true;
    }
    t->prev = ts->last;
    *(ts->last != NULL ? &ts->last->next : &ts->first) = t;
    ts->last = t;
    ts->n_own += !t->served;
    pthread_mutex_unlock(&ts->lock);
}

void tasks_end(struct tasks *ts, struct task *t)
{
    if (t->id == 0) {
        return;
    }
    pthread_mutex_lock(&ts->lock);
    *(t->prev != NULL ? &t->prev->next : &ts->first) = t->next;
    *(t->next != NULL ? &t->next->prev : &ts->last) = t->prev;
    t->id = 0;
    ts->n_own -= !t->served;
    if (ts->n_own == 0) {
        pthread_cond_broadcast(&ts->empty);
    }
    pthread_mutex_unlock(&ts->lock);
}

void tasks_each(struct tasks *ts, void (*each)(void *self, struct task *t), void *self)
{
    pthread_mutex_lock(&ts->lock);
    for (struct task *t = ts->first; t != NULL; t = t->next) {
        each(self, t);
    }
    pthread_mutex_unlock(&ts->lock);
}

bool tasks_one(struct tasks *ts, uint64_t id, void (*with)(void *self, struct task *t), void *self)
{
    pthread_mutex_lock(&ts->lock);
    struct task *t = task_find(ts, id);
    if (t != NULL && with != NULL) {
        with(self, t);
    }
    pthread_mutex_unlock(&ts->lock);
    return t != NULL;
}

void tasks_cancel_locked(struct tasks *ts, struct task *t)
{
    if (t->cancelled) {
        return;
    }
    t->cancelled = true;
    if (t->ops->cancel != NULL) {
        t->ops->cancel(t);
    }
    /* Children come after their parents. */
    for (struct task *c = t->next; c != NULL; c = c->next) {
        if (c->parent == t->id && c->parent_node.p == NULL) {
            tasks_cancel_locked(ts, c);
        }
    }
}

void tasks_stop(struct tasks *ts)
{
    pthread_mutex_lock(&ts->lock);
    for (struct task *t = ts->first; t != NULL; t = t->next) {
        if (t->ops->lasts) {
            tasks_cancel_locked(ts, t);
        }
    }
    pthread_mutex_unlock(&ts->lock);
}

void tasks_invariant(struct tasks *ts)
{
    const struct task *before = NULL;
    size_t n_own = 0;
    pthread_mutex_lock(&ts->lock);
    for (const struct task *t = ts->first; t != NULL; t = t->next) {
        assert(t->prev == before && t->ops != NULL && t->action != NULL);
        assert(t->id < ts->next_id && (before == NULL || before->id < t->id) && t->id > 0);
        n_own += !t->served;
        before = t;
    }
    assert(ts->last == before && ts->n_own == n_own);
    pthread_mutex_unlock(&ts->lock);
}

void tasks_drain(struct tasks *ts)
{
    pthread_mutex_lock(&ts->lock);
    while (ts->n_own > 0) {
        pthread_cond_wait(&ts->empty, &ts->lock);
    }
    pthread_mutex_unlock(&ts->lock);
}

enum err task_id_parse(struct str text, struct str *node, uint64_t *id, struct errmsg *em)
{
    int64_t n;
    struct str number;
    *node = str_cut(text, ':', &number);
    if (number.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "malformed task id %.*s", STR_ARG(text));
    }
    if (!num_parse_i64(number, &n)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(number));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "malformed task id %.*s", STR_ARG(text));
    }
    *id = n > 0 ? (uint64_t)n : 0;
    return ERR_OK;
}
