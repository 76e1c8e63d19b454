/* serai-sim: whole clusters in one process, under a clock, a network and disks that one seed decides. */
#include "tests/sim/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_SECONDS 300 /* of a run, which takes a tenth of one */

static const char usage[] =
    "usage: serai-sim [--seed N] [--runs N] [--nodes N] [--seconds N] [--jobs N] [--trace]\n"
    "Runs N seeds from --seed on, each a cluster with clients and faults for --seconds of its own time, and "
    "checks what must\n"
    "hold. A seed that fails is printed; --runs 1 --trace replays it, step by step the same.\n";

struct args {
    uint64_t seed, runs;
    unsigned nodes, jobs;
    int64_t seconds;
    bool trace;
};

static bool read_args(struct args *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--trace") == 0) {
            a->trace = true;
        } else if (more && strcmp(argv[i], "--seed") == 0) {
            a->seed = strtoull(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--runs") == 0) {
            a->runs = strtoull(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--nodes") == 0) {
            a->nodes = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--jobs") == 0) {
            a->jobs = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--seconds") == 0) {
            a->seconds = strtol(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    return a->nodes >= 1 && a->nodes <= 9 && a->jobs >= 1 && a->seconds >= 1;
}

/* A process a run: what a killed node held is gone with it, and a crash is that of one seed. */
static int run_seed(const struct args *a, uint64_t seed)
{
    struct run_opts o = {seed, a->nodes, a->seconds * 1000, a->trace};
    struct run_result r;
    run_once(&o, &r);
    if (!r.ok) {
        printf("seed %llu: %s\n", (unsigned long long)seed, r.what);
    } else if (a->runs == 1) {
        printf("seed %llu: %llu writes, %llu acknowledged, %llu messages, green after %lld ms; %llu steps, "
               "digest %016llx\n",
               (unsigned long long)seed, (unsigned long long)r.writes, (unsigned long long)r.acknowledged,
               (unsigned long long)r.messages, (long long)r.green_ms, (unsigned long long)r.steps,
               (unsigned long long)r.digest);
    }
    fflush(stdout);
    return r.ok ? 0 : 1;
}

struct child {
    pid_t pid;
    uint64_t seed;
};

static uint64_t reap(struct child *v, unsigned n)
{
    int status;
    pid_t pid = wait(&status);
    for (unsigned i = 0; i < n; i++) {
        if (v[i].pid == pid) {
            v[i].pid = 0;
            if (WIFEXITED(status)) {
                return WEXITSTATUS(status) != 0;
            }
            printf("seed %llu: ended by signal %d\n", (unsigned long long)v[i].seed, WTERMSIG(status));
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct args a = {.seed = 1, .runs = 20, .nodes = 3, .jobs = 2, .seconds = 20};
    struct child running[64] = {0};
    uint64_t failed = 0;
    unsigned n = 0;
    if (!read_args(&a, argc, argv)) {
        fputs(usage, stderr);
        return 64;
    }
    a.jobs = a.jobs > 64 ? 64 : a.jobs;
    if (a.runs == 1) {
        return run_seed(&a, a.seed);
    }
    for (uint64_t i = 0; i < a.runs; i++) {
        if (n == a.jobs) {
            failed += reap(running, a.jobs);
            n--;
        }
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            alarm(HANG_SECONDS);
            _exit(run_seed(&a, a.seed + i));
        }
        for (unsigned k = 0; k < a.jobs; k++) {
            if (running[k].pid == 0) {
                running[k] = (struct child){pid, a.seed + i};
                break;
            }
        }
        n++;
    }
    while (n-- > 0) {
        failed += reap(running, a.jobs);
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)(a.runs - failed), (unsigned long long)failed);
    return failed > 0 ? 1 : 0;
}
