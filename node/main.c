/* serai-node: reads its settings, runs a node until it is told to stop. */
#include "common/sys/clock_real.h"
#include "common/sys/conf.h"
#include "common/sys/fs_posix.h"
#include "common/sys/log_fd.h"
#include "common/sys/notify.h"
#include "common/sys/process.h"
#include "node/node.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* How jemalloc treats what the node has freed; the variable MALLOC_CONF overrides it. Two arenas serve all threads, whose
 * requests mostly live in arenas of their own (common/base/arena.h); pages go back to the system within a tenth of a second,
 * for a node should be as small as what it holds. */
extern const char *malloc_conf;
const char *malloc_conf = "narenas:2,dirty_decay_ms:100,muzzy_decay_ms:0,background_thread:true";

/* Every setting that the node knows; docs/settings.md says what each means. */
static const char *const known[] = {
    "action.auto_create_index",
    "action.destructive_requires_name",
    "bootstrap.memory_lock",
    "cluster.initial_master_nodes",
    "cluster.max_shards_per_node",
    "cluster.name",
    "cluster.routing.*",
    "discovery.seed_hosts",
    "discovery.type",
    "discovery.zen.minimum_master_nodes",
    "gateway.*",
    "http.*",
    "indices.*",
    "logger.*",
    "network.bind_host",
    "network.host",
    "network.publish_host",
    "node.attr.*",
    "node.data",
    "node.ingest",
    "node.master",
    "node.ml",
    "node.name",
    "node.roles",
    "path.conf",
    "path.data",
    "path.logs",
    "path.repo",
    "pidfile",
    "script.*",
    "search.*",
    "thread_pool.*",
    "transport.*",
    "xpack.*",
};

static const char usage[] = "usage: serai-node [-E name=value]... [-p PIDFILE] [--help] [--version]\n"
                            "Runs one Serai node. Settings have Elasticsearch's names (http.port, path.data, "
                            "path.conf, node.name ...);\n"
                            "they come from <path.conf>/serai.yml, the environment and -E. Without any: one "
                            "node on 127.0.0.1:9200.\n";

/* Where the compiled dictionaries are: beside the program, as `make` and packages lay them out. */
static void find_share(char out[PATH_MAX])
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    snprintf(out, PATH_MAX, "%.*s/../share/serai", PATH_MAX - 32, slash != NULL ? exe : ".");
}

/* path.conf decides where serai.yml is, so it is looked for first, without the file. */
static enum err read_settings(struct settings *s, int argc, char **argv, struct str **rest, size_t *n_rest,
                              struct errmsg *em)
{
    struct conf_opts o = {.fs = fs_posix(),
                          .environ_ = (const char *const *)environ,
                          .argc = argc - 1,
                          .argv = argv + 1,
                          .known = known,
                          .known_n = ARRAY_LEN(known)};
    struct settings first;
    settings_init(&first, s->arena);
    enum err e = conf_load(&first, &o, rest, n_rest, em);
    if (e != ERR_OK) {
        return e;
    }
    struct str conf = settings_str(&first, "path.conf", STR_NULL);
    struct str file = arena_printf(s->arena, "%.*s/serai.yml", STR_ARG(conf));
    if (conf.p == NULL || file.p == NULL) {
        return settings_merge(s, &first) ? ERR_OK : err_no_memory(em);
    }
    o.file = file.p;
    o.file_optional = true;
    return conf_load(s, &o, rest, n_rest, em);
}

/* Arguments that are no settings. Returns an exit status, or -1 to go on. */
static int read_rest(const struct str *rest, size_t n, const char **pidfile)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(rest[i], "--help") || str_is(rest[i], "-h")) {
            fputs(usage, stdout);
            return 0;
        }
        if (str_is(rest[i], "--version")) {
            puts("Serai 0.1.0, answers as Elasticsearch 7.12.1");
            return 0;
        }
        if (str_is(rest[i], "-p") && i + 1 < n) {
            *pidfile = rest[++i].p;
            continue;
        }
        fprintf(stderr, "serai-node: unknown argument: %.*s\n%s", STR_ARG(rest[i]), usage);
        return 64;
    }
    return -1;
}

static void write_pid(const char *path)
{
    FILE *f = path != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) {
        fprintf(f, "%ld\n", (long)getpid());
        fclose(f);
    }
}

static int run(const struct settings *s, const char *pidfile)
{
    struct log_fd sink;
    struct log log;
    struct node *node;
    struct errmsg em;
    char share[PATH_MAX];
    enum log_level level = LOG_INFO;
    log_level_parse(settings_str(s, "logger.level", STR("info")), &level);
    log_fd_init(&sink, STDERR_FILENO);
    log_init(&log, &sink.base, clock_real(), level);
    find_share(share);
    process_raise_open_files();
    struct node_opts o = {.settings = s, .log = &log, .share_dir = share};
    if (node_open(&node, &o, &em) != ERR_OK) {
        fprintf(stderr, "serai-node: cannot start: %s\n", em.frame[0].reason);
        return 1;
    }
    write_pid(pidfile);
    log_info(&log, "node", "started, HTTP on port %u", node_http_port(node));
    node_run(node);
    node_close(node);
    if (pidfile != NULL) {
        unlink(pidfile);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct settings s;
    struct str *rest = NULL;
    size_t n_rest = 0;
    struct errmsg em;
    const char *pidfile = NULL;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&s, &arena);
    if (read_settings(&s, argc, argv, &rest, &n_rest, &em) != ERR_OK) {
        fprintf(stderr, "serai-node: %s\n", em.frame[0].reason);
        return 64;
    }
    int status = read_rest(rest, n_rest, &pidfile);
    if (status < 0) {
        status = run(&s, pidfile);
    }
    arena_fini(&arena);
    return status;
}
