/* threads.h - the threads of this process and how long each has run. Any thread; each call reads /proc anew. */
#ifndef SYS_THREADS_H
#define SYS_THREADS_H

#include "common/base/arena.h"

struct thread_sample {
    int64_t id;
    char name[16];
    uint64_t cpu_ns; /* since it began; 0: unknown */
};

/* All threads, by id, in `arena`. *n == 0: unknown. false: no memory. */
bool thread_samples(struct arena *arena, struct thread_sample **out, uint32_t *n) NODISCARD;

#endif
