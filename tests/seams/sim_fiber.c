#include "tests/seams/sim_fiber.h"

#include "common/base/stop.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)1 << 20) /* of which the system gives what is touched */

struct sim_fiber {
    ucontext_t context;
    void *stack; /* NULL: the caller's own */
    void (*run)(void *arg);
    void *arg;
};

/* makecontext() passes ints: a pointer comes in two. */
static void fiber_begin(unsigned high, unsigned low)
{
    struct sim_fiber *f = (struct sim_fiber *)(((uintptr_t)high << 32) | (uintptr_t)low);
    f->run(f->arg);
    abort();
}

static bool fiber_prepare(struct sim_fiber *f)
{
    if (getcontext(&f->context) != 0) {
        return false;
    }
    uintptr_t self = (uintptr_t)f;
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&f->context, (void (*)(void))fiber_begin, 2, (unsigned)((uint64_t)self >> 32),
                (unsigned)self);
    return true;
}

struct sim_fiber *sim_fiber_new(void (*run)(void *arg), void *arg)
{
    struct sim_fiber *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return NULL;
    }
    f->run = run;
    f->arg = arg;
    f->stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    f->stack = f->stack == MAP_FAILED ? NULL : f->stack;
    if (f->stack == NULL || !fiber_prepare(f)) {
        sim_fiber_free(f);
        return NULL;
    }
    return f;
}

struct sim_fiber *sim_fiber_of_caller(void)
{
    return calloc(1, sizeof(struct sim_fiber));
}

/* What ends the work of one is no business of the other's, although they share a thread. */
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to)
{
    struct stop *held = stop_of_thread;
    stop_of_thread = NULL; /* `to` goes on with its own, behind its last switch */
    if (swapcontext(&from->context, &to->context) != 0) {
        abort();
    }
    stop_of_thread = held;
}

void sim_fiber_free(struct sim_fiber *f)
{
    if (f != NULL && f->stack != NULL) {
        munmap(f->stack, STACK_BYTES);
    }
    free(f);
}
