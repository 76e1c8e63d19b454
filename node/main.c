/* serai-node: reads its settings, runs a node until it is told to stop. */
#include "common/base/version.h"
#include "common/cluster/state.h"
#include "common/settings/setting_read.h"
#include "common/settings/setting_registry.h"
#include "common/sys/clock_real.h"
#include "common/sys/conf.h"
#include "common/sys/fs_posix.h"
#include "common/sys/log_fd.h"
#include "common/sys/notify.h"
#include "common/sys/process.h"
#include "node/check.h"
#include "node/node.h"
#include "node/start_settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* How jemalloc treats what the node has freed; the variable MALLOC_CONF overrides it. Two arenas serve all
 * threads, whose requests mostly live in arenas of their own (common/base/arena.h); pages go back to the
 * system within a tenth of a second, for a node should be as small as what it holds. */
extern const char *malloc_conf;
const char *malloc_conf = "narenas:2,dirty_decay_ms:100,muzzy_decay_ms:0,background_thread:true";

/* Settings of this node that Elasticsearch takes from its environment. */
static const char *const own[] = {NODE_PATH_CONF, "xpack.*"};

/* Every name that exists, for the place of one that does not: docs/settings.md says what each means. */
static enum err known_settings(struct arena *a, const char *const **out, size_t *n, struct errmsg *em)
{
    const struct setting_registry *r = &setting_registry_cluster;
    const char **v = ARENA_ARRAY(a, const char *, r->n + r->n_families + ARRAY_LEN(own));
    *n = 0;
    for (size_t i = 0; v != NULL && i < r->n; i++) {
        v[(*n)++] = r->defs[i].name;
    }
    for (size_t i = 0; v != NULL && i < r->n_families; i++) {
        v[*n] = arena_printf(a, "%s*", r->families[i].name).p;
        if (v[(*n)++] == NULL) {
            v = NULL;
        }
    }
    for (size_t i = 0; v != NULL && i < ARRAY_LEN(own); i++) {
        v[(*n)++] = own[i];
    }
    *out = v;
    return v != NULL ? ERR_OK : err_no_memory(em);
}

static const char usage[] = "usage: serai-node [-E name=value]... [-p PIDFILE] [--help] [--version]\n"
                            "       serai-node check PATH\n"
                            "Runs one Serai node. Settings have Elasticsearch's names (http.port, path.data, "
                            "path.conf, node.name ...);\n"
                            "they come from <path.conf>/serai.yml, the environment and -E. Without any: one "
                            "node on 127.0.0.1:9200.\n"
                            "check: says what is damaged in a data folder.\n";

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
    struct conf_opts o = {
        .fs = fs_posix(), .environ_ = (const char *const *)environ, .argc = argc - 1, .argv = argv + 1};
    struct settings first;
    settings_init(&first, s->arena);
    enum err e = known_settings(s->arena, &o.known, &o.known_n, em);
    e = e == ERR_OK ? conf_load(&first, &o, rest, n_rest, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct str conf = settings_str(&first, NODE_PATH_CONF, STR_NULL);
    struct str file = arena_printf(s->arena, "%.*s/serai.yml", STR_ARG(conf));
    if (conf.p == NULL || file.p == NULL) {
        return settings_merge(s, &first) ? ERR_OK : err_no_memory(em);
    }
    struct stat st;
    if (stat(conf.p, &st) != 0 || !S_ISDIR(st.st_mode)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] is no folder: [%.*s]", NODE_PATH_CONF, STR_ARG(conf));
    }
    o.file = file.p;
    o.file_optional = true;
    return conf_load(s, &o, rest, n_rest, em);
}

/* What the machine says of settings that nobody gives. */
static bool put_machine(struct settings *s)
{
    char text[16];
    struct machine_stats m;
    machine_stats(&m);
    snprintf(text, sizeof(text), "%u", m.cores_allowed);
    return settings_put(s, setting_name(SET_PROCESSORS), str_of(text));
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
            puts("Serai " SERAI_VERSION ", answers as Elasticsearch 7.12.1");
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

static enum err write_pid(const char *path, struct errmsg *em)
{
    if (path == NULL) {
        return ERR_OK;
    }
    FILE *f = fopen(path, "w");
    if (f == NULL) {
        return err_errno(em, errno, path);
    }
    bool ok = fprintf(f, "%ld\n", (long)getpid()) > 0;
    return fclose(f) == 0 && ok ? ERR_OK : err_errno(em, errno, path);
}

/* With path.logs the log is a file there, else standard error. */
static enum err open_log(struct log_fd *sink, const struct settings *s, struct errmsg *em)
{
    struct str dir = setting_str(s, SET_PATH_LOGS), name = setting_str(s, SET_CLUSTER_NAME);
    char path[PATH_MAX];
    if (dir.n == 0) {
        return ERR_OK;
    }
    snprintf(path, sizeof(path), "%.*s", STR_ARG(dir));
    enum err e = fs_posix()->make_dir(fs_posix()->self, path, em);
    snprintf(path, sizeof(path), "%.*s/%.*s_server.json", STR_ARG(dir), STR_ARG(name));
    return e == ERR_OK ? log_fd_open(sink, path, em) : e;
}

static enum err run(const struct node_opts *o, const char *pidfile, struct errmsg *em)
{
    struct node *node;
    enum err e = node_open(&node, o, em);
    if (e != ERR_OK) {
        return e;
    }
    e = write_pid(pidfile, em); /* with the data folder in hand: the file may be of a node that runs */
    if (e != ERR_OK) {
        node_close(node);
        return e;
    }
    notify_send(getenv("NOTIFY_SOCKET"), "READY=1");
    node_run(node);
    node_close(node);
    if (pidfile != NULL) {
        unlink(pidfile);
    }
    return ERR_OK;
}

/* The exit status. */
static int start(const struct settings *s, const char *pidfile)
{
    struct log_fd sink;
    struct log log;
    ERR_LOCAL(em);
    char share[PATH_MAX];
    log_fd_init(&sink, STDERR_FILENO);
    log_init(&log, &sink.base, clock_real(), LOG_INFO);
    log.plain = setting_str(s, SET_PATH_LOGS).n == 0 && isatty(STDERR_FILENO) == 1;
    find_share(share);
    process_raise_open_files();
    struct node_opts o = {.settings = s, .log = &log, .log_file = &sink, .share_dir = share};
    enum err e = open_log(&sink, s, &em);
    e = e == ERR_OK ? node_log_levels(&log, s, NULL, &em) : e;
    if (e == ERR_OK) {
        start_settings_warn(s, &log);
        e = run(&o, pidfile, &em);
    }
    if (e != ERR_OK) {
        fprintf(stderr, "serai-node: cannot start: %s\n", err_reason(&em));
    }
    log_fini(&log);
    log_fd_close(&sink);
    return e == ERR_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct settings s, machine;
    struct str *rest = NULL;
    size_t n_rest = 0;
    ERR_LOCAL(em);
    const char *pidfile = NULL;
    if (argc > 1 && strcmp(argv[1], "check") == 0) {
        return check_main(argc - 1, argv + 1);
    }
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&s, &arena);
    settings_init(&machine, &arena);
    s.behind = put_machine(&machine) ? &machine : NULL;
    if (read_settings(&s, argc, argv, &rest, &n_rest, &em) != ERR_OK
        || start_settings_check(&s, &em) != ERR_OK) {
        fprintf(stderr, "serai-node: %s\n", err_reason(&em));
        arena_fini(&arena);
        return 64;
    }
    int status = read_rest(rest, n_rest, &pidfile);
    if (status < 0) {
        status = start(&s, pidfile);
    }
    arena_fini(&arena);
    return status;
}
