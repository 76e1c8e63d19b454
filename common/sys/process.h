/* process.h - the resources of this process: limits and use. Any thread; each call reads /proc anew.
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include "common/base/arena.h"
#include "common/base/err.h"

struct process_stats { /* 0: unknown */
    uint64_t rss_bytes, virtual_bytes;
    uint64_t cpu_ms; /* user and system, of all threads */
    uint64_t open_files, open_files_max;
    unsigned threads;
    int64_t started_wall_ms;
};

struct machine_stats {
    uint64_t memory_bytes, memory_available_bytes; /* the machine's */
    uint64_t memory_limit_bytes; /* the least of the machine's and every cgroup's (v1, v2) limit above the
                                    process */
    uint64_t swap_bytes, swap_free_bytes;
    unsigned cores;         /* of the machine */
    unsigned cores_allowed; /* >= 1: by affinity and cgroup quota, rounded up */
    double load_1m, load_5m, load_15m;
};

struct disk_stats {                                    /* of the volume that holds a path; all 0: unknown */
    uint64_t total_bytes, free_bytes, available_bytes; /* available: to this user */
};

struct cpu_sample { /* ticks since boot, over all cores; all 0: unknown */
    uint64_t total_ticks, busy_ticks;
    uint64_t process_ticks; /* this process's share */
};

void process_stats(struct process_stats *out);
void disk_stats(const char *path, struct disk_stats *out);
/* Two of these tell how busy the time between them was. */
void cpu_sample(struct cpu_sample *out);
void machine_stats(struct machine_stats *out);
/* Bytes of memory that the process has to itself: without the pages of files. For memory_limits.resident: cheap; `purge` gives the
 * allocator's free pages back first, a few dozen times a second at most. */
uint64_t process_resident(bool purge);
int64_t process_id(void);
/* Raises the soft limit of open files to the hard one; returns it. */
uint64_t process_raise_open_files(void);
struct str process_host_name(struct arena *arena); /* p == NULL: unknown */
/* n bytes that nobody can guess. */
enum err process_random(void *out, size_t n, struct errmsg *em);

#endif
