#include "coordinator/core/op_names.h"

void op_names_init(struct op_names *o, uint64_t session)
{
    *o = (struct op_names){.session = session != 0 ? session : 1, .next = 1};
    pthread_mutex_init(&o->lock, NULL);
}

void op_names_fini(struct op_names *o)
{
    pthread_mutex_destroy(&o->lock);
}

void op_names_begin(struct op_names *o, struct op_span *span, uint64_t n)
{
    pthread_mutex_lock(&o->lock);
    *span = (struct op_span){.first = o->next, .prev = o->newest};
    o->next += n;
    if (o->newest != NULL) {
        o->newest->next = span;
    } else {
        o->oldest = span;
    }
    o->newest = span;
    pthread_mutex_unlock(&o->lock);
}

void op_names_end(struct op_names *o, struct op_span *span)
{
    pthread_mutex_lock(&o->lock);
    assert(span->prev != NULL ? span->prev->next == span : o->oldest == span); /* ended once */
    if (span->prev != NULL) {
        span->prev->next = span->next;
    } else {
        o->oldest = span->next;
    }
    if (span->next != NULL) {
        span->next->prev = span->prev;
    } else {
        o->newest = span->prev;
    }
    pthread_mutex_unlock(&o->lock);
}

uint64_t op_names_settled(struct op_names *o)
{
    pthread_mutex_lock(&o->lock);
    uint64_t below = o->oldest != NULL ? o->oldest->first : o->next;
    pthread_mutex_unlock(&o->lock);
    return below;
}

void op_names_invariant(struct op_names *o)
{
    const struct op_span *before = NULL;
    pthread_mutex_lock(&o->lock);
    for (const struct op_span *s = o->oldest; s != NULL; s = s->next) {
        assert(s->prev == before && s->first < o->next);
        assert(before == NULL || before->first <= s->first);
        before = s;
    }
    assert(o->newest == before && o->session != 0);
    pthread_mutex_unlock(&o->lock);
}
