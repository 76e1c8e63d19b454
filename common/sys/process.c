#include "common/sys/process.h"

#include "common/base/buf.h"
#include "common/base/num.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PROC_BYTES_MAX (64 * KIB)

/* A whole small file into `text` (emptied first); the empty string when it cannot be read. */
static struct str slurp(struct buf *text, const char *path)
{
    buf_reset(text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return STR("");
    }
    for (;;) {
        char *to = buf_reserve(text, 4096);
        ssize_t n = to != NULL ? read(fd, to, 4096) : 0;
        if (n <= 0) {
            break;
        }
        text->n += (size_t)n;
    }
    close(fd);
    return buf_view(text);
}

/* The number in front of s; 0 when there is none. */
static uint64_t process_number(struct str s)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
        v = v * 10 + (uint64_t)(s.p[i] - '0');
    }
    return v;
}

/* "MemTotal:   123 kB" in /proc's files: the number behind `key`. */
static uint64_t value_of(struct str text, const char *key)
{
    while (text.p != NULL) {
        struct str line = str_cut(text, '\n', &text);
        if (str_starts(line, str_of(key))) {
            return process_number(str_trim(str_slice(line, strlen(key), line.n)));
        }
    }
    return 0;
}

static uint64_t count_files(const char *path)
{
    DIR *d = opendir(path);
    if (d == NULL) {
        return 0;
    }
    uint64_t n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.' ? 1 : 0;
    }
    closedir(d);
    return n > 0 ? n - 1 : 0; /* the folder's own descriptor */
}

/* The field of /proc/self/stat with this number (proc(5)); the second, in parentheses, may hold anything. */
static uint64_t stat_field(struct str text, unsigned field)
{
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] != ')') {
        at--;
    }
    struct str rest = str_trim(str_slice(text, at, text.n));
    struct str word = STR("");
    for (unsigned i = 3; i <= field && rest.p != NULL; i++) {
        word = str_cut(rest, ' ', &rest);
    }
    return process_number(word);
}

void process_stats(struct process_stats *out)
{
    *out = (struct process_stats){0};
    struct buf text;
    buf_init(&text, NULL, PROC_BYTES_MAX);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), hertz = (uint64_t)sysconf(_SC_CLK_TCK);
    struct str statm = slurp(&text, "/proc/self/statm"), rest;
    out->virtual_bytes = process_number(str_cut(statm, ' ', &rest)) * page;
    out->rss_bytes = process_number(rest) * page;
    struct str stat = slurp(&text, "/proc/self/stat");
    out->cpu_ms = (stat_field(stat, 14) + stat_field(stat, 15)) * 1000 / hertz;
    out->threads = (unsigned)stat_field(stat, 20);
    uint64_t started = stat_field(stat, 22); /* ticks since boot */
    uint64_t booted = value_of(slurp(&text, "/proc/stat"), "btime ");
    if (booted > 0) {
        out->started_wall_ms = (int64_t)(booted * 1000 + started * 1000 / hertz);
    }
    out->open_files = count_files("/proc/self/fd");
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        out->open_files_max = (uint64_t)limit.rlim_cur;
    }
    buf_fini(&text);
}

void disk_stats(const char *path, struct disk_stats *out)
{
    struct statvfs v;
    *out = (struct disk_stats){0};
    if (path != NULL && statvfs(path, &v) == 0) {
        uint64_t unit = v.f_frsize > 0 ? v.f_frsize : v.f_bsize;
        out->total_bytes = v.f_blocks * unit;
        out->free_bytes = v.f_bfree * unit;
        out->available_bytes = v.f_bavail * unit;
    }
}

/* "cpu  user nice system idle iowait irq softirq steal ...": idle and iowait are not work, guests count as user already. */
void cpu_sample(struct cpu_sample *out)
{
    enum { FIELDS = 8, IDLE = 3, IOWAIT = 4 };
    struct buf text;
    *out = (struct cpu_sample){0};
    buf_init(&text, NULL, MIB);
    struct str rest, line = str_cut(slurp(&text, "/proc/stat"), '\n', &rest);
    line = str_starts(line, STR("cpu ")) ? str_trim(str_slice(line, 4, line.n)) : STR_NULL;
    for (unsigned i = 0; i < FIELDS && line.p != NULL; i++) {
        uint64_t v = process_number(str_cut(line, ' ', &line));
        out->total_ticks += v;
        out->busy_ticks += i != IDLE && i != IOWAIT ? v : 0;
    }
    struct str stat = slurp(&text, "/proc/self/stat");
    out->process_ticks = stat_field(stat, 14) + stat_field(stat, 15);
    buf_fini(&text);
}

struct cgroup_limits {
    uint64_t memory; /* UINT64_MAX: none */
    double cores;    /* 0: none */
};

static void lower(struct cgroup_limits *l, uint64_t memory, double cores)
{
    if (memory > 0) {
        l->memory = MIN_OF(l->memory, memory);
    }
    if (cores > 0 && (l->cores == 0 || cores < l->cores)) {
        l->cores = cores;
    }
}

/* One folder of the unified hierarchy: memory.max is a number or "max", cpu.max is "quota period" or "max
 * period". */
static void read_v2(struct cgroup_limits *l, struct buf *text, const char *dir)
{
    char path[4200];
    snprintf(path, sizeof(path), "%s/memory.max", dir);
    uint64_t memory = process_number(slurp(text, path));
    snprintf(path, sizeof(path), "%s/cpu.max", dir);
    struct str period, quota = str_cut(slurp(text, path), ' ', &period);
    double q = (double)process_number(quota), p = (double)process_number(period);
    lower(l, memory, p > 0 ? q / p : 0);
}

static void read_v1_memory(struct cgroup_limits *l, struct buf *text, const char *dir)
{
    char path[4200];
    snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", dir);
    lower(l, process_number(slurp(text, path)), 0);
}

static void read_v1_cpu(struct cgroup_limits *l, struct buf *text, const char *dir)
{
    char path[4200];
    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
    double quota = (double)process_number(slurp(text, path)); /* "-1": none, read as 0 */
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
    double period = (double)process_number(slurp(text, path));
    lower(l, 0, period > 0 ? quota / period : 0);
}

/* Reads the group's folder below `mount` and those above it, up to the mount itself: each may limit. */
static void climb(struct cgroup_limits *l, const char *mount, struct str group,
                  void (*read_one)(struct cgroup_limits *l, struct buf *text, const char *dir))
{
    struct buf text;
    buf_init(&text, NULL, PROC_BYTES_MAX);
    char dir[4096];
    for (;;) {
        snprintf(dir, sizeof(dir), "%s%.*s", mount, STR_ARG(group));
        read_one(l, &text, dir);
        if (group.n == 0) {
            break;
        }
        do {
            group.n--;
        } while (group.n > 0 && group.p[group.n] != '/');
    }
    buf_fini(&text);
}

static bool list_has(struct str list, const char *word)
{
    while (list.p != NULL) {
        if (str_is(str_cut(list, ',', &list), word)) {
            return true;
        }
    }
    return false;
}

/* Lines of /proc/self/cgroup are "id:controllers:/path"; version 2 has id 0 and no controllers. */
static struct cgroup_limits read_cgroups(void)
{
    struct cgroup_limits l = {.memory = UINT64_MAX};
    struct buf text;
    buf_init(&text, NULL, PROC_BYTES_MAX);
    struct str rest = slurp(&text, "/proc/self/cgroup");
    while (rest.p != NULL) {
        struct str group, line = str_cut(rest, '\n', &rest);
        str_cut(line, ':', &line);
        struct str controllers = str_cut(line, ':', &group);
        if (group.p == NULL || str_find_str(group, STR("..")) != SIZE_MAX) {
            continue; /* outside our view of the tree */
        }
        group = str_is(group, "/") ? STR("") : group;
        if (controllers.n == 0) {
            climb(&l, "/sys/fs/cgroup", group, read_v2);
        } else if (list_has(controllers, "memory")) {
            climb(&l, "/sys/fs/cgroup/memory", group, read_v1_memory);
        } else if (list_has(controllers, "cpu")) {
            climb(&l, "/sys/fs/cgroup/cpu", group, read_v1_cpu);
        }
    }
    buf_fini(&text);
    return l;
}

static unsigned cores_by_affinity(unsigned otherwise)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : otherwise;
}

void machine_stats(struct machine_stats *out)
{
    *out = (struct machine_stats){0};
    struct buf text;
    buf_init(&text, NULL, PROC_BYTES_MAX);
    struct str mem = slurp(&text, "/proc/meminfo");
    out->memory_bytes = value_of(mem, "MemTotal:") * KIB;
    out->memory_available_bytes = value_of(mem, "MemAvailable:") * KIB;
    out->swap_bytes = value_of(mem, "SwapTotal:") * KIB;
    out->swap_free_bytes = value_of(mem, "SwapFree:") * KIB;
    struct cgroup_limits l = read_cgroups();
    out->memory_limit_bytes = MIN_OF(out->memory_bytes, l.memory);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    out->cores = online > 0 ? (unsigned)online : 1;
    unsigned allowed = cores_by_affinity(out->cores);
    if (l.cores > 0 && l.cores < (double)allowed) {
        allowed = (unsigned)l.cores + (l.cores > (double)(unsigned)l.cores ? 1 : 0);
    }
    out->cores_allowed = MAX_OF(allowed, 1U);
    double load[3];
    if (getloadavg(load, 3) == 3) {
        out->load_1m = load[0];
        out->load_5m = load[1];
        out->load_15m = load[2];
    }
    buf_fini(&text);
}

int64_t process_id(void)
{
    return getpid();
}

uint64_t process_raise_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    if (limit.rlim_cur < limit.rlim_max) {
        struct rlimit wanted = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &wanted) == 0) {
            return (uint64_t)wanted.rlim_cur;
        }
    }
    return (uint64_t)limit.rlim_cur;
}

struct str process_host_name(struct arena *arena)
{
    char name[256];
    if (gethostname(name, sizeof(name)) != 0) {
        return STR_NULL;
    }
    name[sizeof(name) - 1] = '\0';
    return arena_str(arena, str_of(name));
}

enum err process_random(void *out, size_t n, struct errmsg *em)
{
    char *to = out;
    while (n > 0) {
        ssize_t got = getrandom(to, n, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return err_errno(em, errno, "getrandom");
        }
        to += got;
        n -= (size_t)got;
    }
    return ERR_OK;
}
