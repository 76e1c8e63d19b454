#include "common/base/mapped.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct mapped {
    struct mapped *next, *prev;
    uintptr_t from, to;
    bool lost;
};

static atomic_flag held = ATOMIC_FLAG_INIT;
static struct mapped *all;
static _Atomic unsigned losses; /* entries that lost something */

static void hold(void)
{
    while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire)) {
    }
}

static void let_go(void)
{
    atomic_flag_clear_explicit(&held, memory_order_release);
}

struct mapped *mapped_add(const void *p, size_t n)
{
    struct mapped *m = calloc(1, sizeof(*m));
    if (m != NULL) {
        m->from = (uintptr_t)p;
        m->to = m->from + n;
        hold();
        m->next = all;
        if (all != NULL) {
            all->prev = m;
        }
        all = m;
        let_go();
    }
    return m;
}

void mapped_remove(struct mapped *m)
{
    if (m == NULL) {
        return;
    }
    hold();
    losses -= m->lost;
    if (m->prev != NULL) {
        m->prev->next = m->next;
    } else {
        all = m->next;
    }
    if (m->next != NULL) {
        m->next->prev = m->prev;
    }
    let_go();
    free(m);
}

bool mapped_lose(const void *at, const void **end)
{
    bool found = false;
    hold();
    for (struct mapped *m = all; m != NULL && !found; m = m->next) {
        if ((uintptr_t)at >= m->from && (uintptr_t)at < m->to) {
            found = true;
            losses += !m->lost;
            m->lost = true;
            *end = (const void *)m->to;
        }
    }
    let_go();
    return found;
}

bool mapped_lost(const void *p)
{
    bool lost = false;
    if (losses == 0) {
        return false;
    }
    hold();
    for (const struct mapped *m = all; m != NULL && !lost; m = m->next) {
        lost = m->from == (uintptr_t)p && m->lost;
    }
    let_go();
    return lost;
}
