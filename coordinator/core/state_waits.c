#include "coordinator/core/state_waits.h"

void state_waits_init(struct state_waits *s, struct delays *delays)
{
    *s = (struct state_waits){.delays = delays};
    pthread_mutex_init(&s->lock, NULL);
}

void state_waits_fini(struct state_waits *s)
{
    pthread_mutex_destroy(&s->lock);
}

uint64_t state_waits_seen(struct state_waits *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->applied;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static void over(void *arg)
{
    struct state_wait *w = arg;
    pthread_mutex_lock(&w->owner->lock); /* whoever hurries the list has left it */
    *w->at = w->next;
    if (w->next != NULL) {
        w->next->at = w->at;
    }
    pthread_mutex_unlock(&w->owner->lock);
    w->run(w->arg);
}

void state_waits_add(struct state_waits *s, struct state_wait *w, uint64_t seen, int64_t ms,
                     void (*run)(void *arg), void *arg)
{
    *w = (struct state_wait){.owner = s, .run = run, .arg = arg};
    pthread_mutex_lock(&s->lock);
    w->at = &s->first;
    w->next = s->first;
    if (s->first != NULL) {
        s->first->at = &w->next;
    }
    s->first = w;
    /* Under the lock, or a state could come before there is a delay to hurry. */
    delays_add(s->delays, &w->delay, s->applied != seen ? 0 : ms, over, w);
    pthread_mutex_unlock(&s->lock);
}

void state_waits_applied(struct state_waits *s)
{
    pthread_mutex_lock(&s->lock);
    s->applied++;
    for (struct state_wait *w = s->first; w != NULL; w = w->next) {
        delays_hurry(s->delays, &w->delay);
    }
    pthread_mutex_unlock(&s->lock);
}

void state_waits_invariant(struct state_waits *s)
{
    pthread_mutex_lock(&s->lock);
    struct state_wait *const *at = &s->first;
    for (const struct state_wait *w = s->first; w != NULL; w = w->next) {
        assert(w->owner == s && w->at == at && *w->at == w && w->run != NULL);
        at = &w->next;
    }
    pthread_mutex_unlock(&s->lock);
}
