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

static void mapped_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire)) {
    }
}

static void mapped_unlock(void)
{
    atomic_flag_clear_explicit(&held, memory_order_release);
}

struct mapped *mapped_add(const void *p, size_t n)
{
    struct mapped *m = calloc(1, sizeof(*m));
    if (m != NULL) {
        m->from = (uintptr_t)p;
        m->to = m->from + n;
        mapped_lock();
        m->next = all;
        if (all != NULL) {
            all->prev = m;
        }
        all = m;
        mapped_unlock();
    }
    return m;
}

void mapped_remove(struct mapped *m)
{
    if (m == NULL) {
        return;
    }
    mapped_lock();
    losses -= m->lost;
    if (m->prev != NULL) {
        m->prev->next = m->next;
    } else {
        all = m->next;
    }
    if (m->next != NULL) {
        m->next->prev = m->prev;
    }
    mapped_unlock();
    free(m);
}

bool mapped_lose(const void *at, const void **end)
{
    bool found = false;
    mapped_lock();
    for (struct mapped *m = all; m != NULL && !found; m = m->next) {
        if ((uintptr_t)at >= m->from && (uintptr_t)at < m->to) {
            found = true;
            losses += !m->lost;
            m->lost = true;
            *end = (const void *)m->to;
        }
    }
    mapped_unlock();
    return found;
}

bool mapped_lost(const void *p)
{
    bool lost = false;
    if (losses == 0) {
        return false;
    }
    mapped_lock();
    for (const struct mapped *m = all; m != NULL && !lost; m = m->next) {
        lost = m->from == (uintptr_t)p && m->lost;
    }
    mapped_unlock();
    return lost;
}
