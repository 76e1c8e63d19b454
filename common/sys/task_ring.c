#include "common/sys/task_ring.h"

#include <stdlib.h>

#define CAP_MIN 16

bool task_ring_push(struct task_ring *r, struct task t)
{
    if (r->n == r->cap) {
        size_t cap = r->cap > 0 ? r->cap * 2 : CAP_MIN;
        struct task *v = malloc(cap * sizeof(*v));
        if (v == NULL) {
            return false;
        }
        for (size_t i = 0; i < r->n; i++) {
            v[i] = r->v[(r->head + i) & (r->cap - 1)];
        }
        free(r->v);
        *r = (struct task_ring){.v = v, .n = r->n, .cap = cap};
    }
    r->v[(r->head + r->n++) & (r->cap - 1)] = t;
    return true;
}

struct task task_ring_pop(struct task_ring *r)
{
    assert(r->n > 0);
    struct task t = r->v[r->head];
    r->head = (r->head + 1) & (r->cap - 1);
    r->n--;
    return t;
}

void task_ring_fini(struct task_ring *r)
{
    free(r->v);
    *r = (struct task_ring){0};
}
