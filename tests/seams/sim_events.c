/* sim_events.c - tasks and timers that wait, in the order of their time; dice decide between those of one moment. */
#include "tests/seams/sim_exec_int.h"

#include <stdlib.h>

void event_list_add(struct event_list *l, struct timer *e)
{
    e->next = NULL;
    if (l->first == NULL) {
        l->first = e;
    } else {
        l->last->next = e;
    }
    l->last = e;
}

void event_list_free(struct event_list *l)
{
    while (l->first != NULL) {
        struct timer *next = l->first->next;
        free(l->first);
        l->first = next;
    }
    l->last = NULL;
}

static bool event_before(const struct timer *a, const struct timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->tie < b->tie;
}

bool heap_reserve(struct sim_exec *x)
{
    if (x->n + x->parked == x->cap) {
        size_t cap = MAX_OF(x->cap * 2, (size_t)64);
        struct timer **v = realloc(x->heap, cap * sizeof(struct timer *));
        if (v == NULL) {
            return false;
        }
        x->heap = v;
        x->cap = cap;
    }
    return true;
}

void heap_push(struct sim_exec *x, struct timer *e)
{
    assert(x->n < x->cap);
    e->tie = rng_u64(&x->rng);
    size_t i = x->n++;
    while (i > 0 && event_before(e, x->heap[(i - 1) / 2])) {
        x->heap[i] = x->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    x->heap[i] = e;
}

struct timer *heap_pop(struct sim_exec *x)
{
    struct timer *top = x->heap[0];
    struct timer *e = x->heap[--x->n];
    size_t i = 0;
    for (;;) {
        size_t kid = 2 * i + 1;
        if (kid >= x->n) {
            break;
        }
        if (kid + 1 < x->n && event_before(x->heap[kid + 1], x->heap[kid])) {
            kid++;
        }
        if (!event_before(x->heap[kid], e)) {
            break;
        }
        x->heap[i] = x->heap[kid];
        i = kid;
    }
    if (x->n > 0) {
        x->heap[i] = e;
    }
    return top;
}
