#include "common/sys/threads.h"
#include "common/base/sort_items.h"

#include "common/base/num.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The beginning of a small file, ended by a NUL. */
static size_t read_start(const char *path, char *to, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, to, cap - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    n = n > 0 ? n : 0;
    to[n] = '\0';
    return (size_t)n;
}

static void sample(struct thread_sample *s, int64_t id)
{
    char path[64], text[128];
    *s = (struct thread_sample){.id = id};
    snprintf(path, sizeof(path), "/proc/self/task/%lld/comm", (long long)id);
    size_t n = read_start(path, s->name, sizeof(s->name));
    if (n > 0 && s->name[n - 1] == '\n') {
        s->name[n - 1] = '\0';
    }
    /* nanoseconds on a processor, nanoseconds of waiting for one, slices */
    snprintf(path, sizeof(path), "/proc/self/task/%lld/schedstat", (long long)id);
    read_start(path, text, sizeof(text));
    s->cpu_ns = strtoull(text, NULL, 10);
}

static int by_id(const void *a, const void *b)
{
    const struct thread_sample *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

bool thread_samples(struct arena *arena, struct thread_sample **out, uint32_t *n)
{
    size_t cap = 0;
    struct thread_sample *v = NULL;
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    bool ok = true;
    *n = 0;
    while (ok && d != NULL && (e = readdir(d)) != NULL) {
        int32_t id;
        if (!num_parse_i32(str_of(e->d_name), &id)) {
            continue;
        }
        struct thread_sample *grown = arena_grow(arena, v, *n, &cap, sizeof(*v));
        ok = grown != NULL;
        if (ok) {
            v = grown;
            sample(&v[(*n)++], id);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    if (ok && *n > 1) {
        sort_items(v, *n, sizeof(*v), by_id);
    }
    *out = v;
    return ok;
}
