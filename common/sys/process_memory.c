/* process_memory.c - the memory of the process, cheap enough to be asked often: one read of an open file. */
#include "common/sys/clock_real.h"
#include "common/sys/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define PURGE_MS 30

/* jemalloc's, where the program is linked with it. */
extern int mallctl(const char *name, void *old, size_t *old_n, void *fresh, size_t fresh_n)
    __attribute__((weak));

static int statm = -1;
static uint64_t page;

static void open_statm(void)
{
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    page = (uint64_t)sysconf(_SC_PAGESIZE);
}

static void purge_free_pages(void)
{
    static _Atomic int64_t last;
    int64_t now = clock_mono_ms(clock_real()), before = atomic_load(&last);
    if (mallctl != NULL && now - before >= PURGE_MS && atomic_compare_exchange_strong(&last, &before, now)) {
        mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* 4096: MALLCTL_ARENAS_ALL */
    }
}

/* "size resident shared ...", in pages. */
uint64_t process_resident(bool purge)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_statm);
    if (purge) {
        purge_free_pages();
    }
    char text[128], *at = text;
    ssize_t n = statm >= 0 ? pread(statm, text, sizeof(text) - 1, 0) : -1;
    if (n <= 0) {
        return 0;
    }
    text[n] = '\0';
    strtoull(at, &at, 10);
    uint64_t resident = strtoull(at, &at, 10), shared = strtoull(at, &at, 10);
    return resident > shared ? (resident - shared) * page : 0;
}
