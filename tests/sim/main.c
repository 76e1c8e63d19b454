/* serai-sim: whole clusters in one process, under a clock, a network and disks that one seed decides. */
#include "tests/sim/core_trace.h"
#include "tests/sim/run.h"
#include "tests/sim/scale.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCALE_MASTERS 3
#define JOBS_MAX      64
#define HANG_SECONDS  300 /* of a run, which takes a tenth of one */

static const char usage[] =
    "usage: serai-sim [--seed N] [--runs N] [--nodes N] [--seconds N] [--jobs N] [--damage] [--replay] "
    "[--trace]\n"
    "       serai-sim --scale NODES [--copies N]\n"
    "Runs N seeds from --seed on, each a cluster with clients and faults for --seconds of its own time, and "
    "checks what must\n"
    "hold. A seed that fails is printed; --runs 1 --trace replays it, step by step the same.\n"
    "The last events of each node's cores go before, to standard error.\n"
    "--replay: what came to each core in the run is played into a fresh one, which must do the same.\n"
    "--damage: disks damage files in each of them, not only where the seed says so.\n"
    "--scale: what an election, a publication and the loss of a node cost in a large cluster.\n";

struct args {
    uint64_t seed, runs;
    unsigned nodes, jobs;
    int64_t seconds;
    bool trace, damage, replay;
    unsigned scale_nodes, scale_copies;
};

static bool read_args(struct args *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--trace") == 0) {
            a->trace = true;
        } else if (strcmp(argv[i], "--damage") == 0) {
            a->damage = true;
        } else if (strcmp(argv[i], "--replay") == 0) {
            a->replay = true;
        } else if (more && strcmp(argv[i], "--seed") == 0) {
            a->seed = strtoull(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--runs") == 0) {
            a->runs = strtoull(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--nodes") == 0) {
            a->nodes = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--jobs") == 0) {
            a->jobs = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--scale") == 0) {
            a->scale_nodes = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--copies") == 0) {
            a->scale_copies = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--seconds") == 0) {
            a->seconds = strtol(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    return a->nodes <= 9 && a->scale_nodes != 1 && a->scale_nodes != 2 && a->jobs >= 1 && a->jobs <= JOBS_MAX
           && a->seconds >= 1;
}

static void aborted(int signal)
{
    (void)signal;
    core_traces_print_here(stderr);
}

/* A process a run: what a killed node held is gone with it, and a crash is that of one seed. */
static void run_seed(const struct args *a, uint64_t seed, struct run_result *r)
{
    struct run_opts o = {seed, a->nodes, a->seconds * 1000, a->trace, a->damage, a->replay};
    signal(SIGABRT, aborted);
    run_once(&o, r);
    if (!r->ok) {
        for (unsigned i = 0; i < TRACE_NODES_MAX; i++) {
            core_traces_print(stderr, i);
        }
        printf("seed %llu: %s\n", (unsigned long long)seed, r->what);
    } else if (a->runs == 1) {
        printf("seed %llu: %llu writes, %llu acknowledged, %llu messages, green after %lld ms; %llu steps, "
               "digest %016llx\n",
               (unsigned long long)seed, (unsigned long long)r->writes, (unsigned long long)r->acknowledged,
               (unsigned long long)r->messages, (long long)r->green_ms, (unsigned long long)r->steps,
               (unsigned long long)r->digest);
        if (a->replay) {
            printf("%llu steps of cores played again\n", (unsigned long long)r->replayed);
        }
    }
    fflush(stdout);
}

struct child {
    pid_t pid;
    uint64_t seed;
};

/* By shape; green_ms in memory that all processes share. */
struct tally {
    uint64_t runs[RUN_SHAPES], failed[RUN_SHAPES];
    _Atomic int64_t *green_ms; /* the longest */
};

static unsigned shape_of(const struct args *a, uint64_t seed)
{
    struct run_opts o = {.seed = seed, .nodes = a->nodes, .damage = a->damage};
    struct run_shape s = run_shape(&o);
    return run_shape_number(&s);
}

static void reap(struct tally *t, const struct args *a, struct child *v, unsigned n)
{
    int status;
    pid_t pid = wait(&status);
    for (unsigned i = 0; i < n; i++) {
        if (v[i].pid == pid) {
            v[i].pid = 0;
            t->failed[shape_of(a, v[i].seed)] += status != 0;
            if (!WIFEXITED(status)) {
                printf("seed %llu: ended by signal %d\n", (unsigned long long)v[i].seed, WTERMSIG(status));
            }
        }
    }
}

static void begin(struct tally *t, const struct args *a, struct child *v, uint64_t seed)
{
    unsigned shape = shape_of(a, seed);
    t->runs[shape]++;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct run_result r;
        alarm(HANG_SECONDS);
        run_seed(a, seed, &r);
        if (r.green_ms > t->green_ms[shape]) { /* of two at once one may be lost: it is a figure to look at */
            t->green_ms[shape] = r.green_ms;
        }
        _exit(r.ok ? 0 : 1);
    }
    while (v->pid != 0) {
        v++;
    }
    *v = (struct child){pid, seed};
}

static int run_many(const struct args *a)
{
    struct child running[JOBS_MAX + 1] = {0};
    struct tally t = {0};
    uint64_t failed = 0;
    unsigned n = 0;
    t.green_ms =
        mmap(NULL, RUN_SHAPES * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t.green_ms == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (uint64_t i = 0; i < a->runs; i++) {
        if (n == a->jobs) {
            reap(&t, a, running, a->jobs);
            n--;
        }
        begin(&t, a, running, a->seed + i);
        n++;
    }
    while (n-- > 0) {
        reap(&t, a, running, a->jobs);
    }
    for (unsigned i = 0; i < RUN_SHAPES; i++) {
        failed += t.failed[i];
        if (t.runs[i] > 0) {
            char name[64];
            run_shape_name(i, name);
            printf("%-34s %6llu seeds, %llu failed, green after %.1f s at most\n", name,
                   (unsigned long long)t.runs[i], (unsigned long long)t.failed[i],
                   (double)t.green_ms[i] / 1000);
        }
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)(a->runs - failed), (unsigned long long)failed);
    return failed > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct args a = {.seed = 1, .runs = 20, .nodes = 0, .jobs = 2, .seconds = 20, .scale_copies = 100000};
    if (!read_args(&a, argc, argv)) {
        fputs(usage, stderr);
        return 64;
    }
    if (a.scale_nodes > 0) {
        struct scale_opts o = {a.seed, a.scale_nodes, SCALE_MASTERS, a.scale_copies, a.trace};
        return scale_run(&o) ? 0 : 1;
    }
    if (a.runs == 1) {
        struct run_result r;
        run_seed(&a, a.seed, &r);
        return r.ok ? 0 : 1;
    }
    return run_many(&a);
}
