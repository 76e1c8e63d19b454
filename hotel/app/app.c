#include "hotel/app/app.h"

#include "common/sys/clock_real.h"
#include "common/sys/http_server.h"
#include "hotel/app/params.h"
#include "hotel/app/routes.h"
#include "hotel/sync/consumer.h"
#include "hotel/web_files.h"

#include <signal.h>
#include <stdlib.h>

#define STOP_GRACE_MS      10000
#define REQUEST_ARENA_MAX  (128 * MIB) /* a request with the search service's answer taken apart */
#define IDLE_CONNECTION_MS 120000

struct app {
    const struct log *log;
    struct loop **loops;
    struct search **search;
    unsigned loops_n, started_n; /* the first runs in app_run()'s thread */
    struct words *words;
    struct routes routes;
    struct http_server *server;
    bool stopping;
};

static enum err add_loops(struct app *a, const struct hotel_config *config, struct errmsg *em)
{
    a->loops = calloc(config->threads, sizeof(struct loop *));
    a->search = calloc(config->threads, sizeof(struct search *));
    a->routes.versions = calloc(config->threads, sizeof(struct kept_version));
    a->routes.lexicons = calloc(config->threads, sizeof(struct lexicon *));
    if (a->loops == NULL || a->search == NULL || a->routes.versions == NULL || a->routes.lexicons == NULL) {
        return err_no_memory(em);
    }
    for (unsigned i = 0; i < config->threads; i++) {
        enum err e = loop_new(&a->loops[i], "hotel", em);
        e = e != ERR_OK ? e : search_service_new(&a->search[i], a->loops[i], config, em);
        a->loops_n = i + 1;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static struct str word_file(const char *name)
{
    const struct web_file *f = web_file(&hotel_word_files, str_of(name));
    return f != NULL ? str_mk(f->bytes, f->bytes_n) : STR_NULL;
}

static enum err add_words(struct app *a, struct errmsg *em)
{
    enum err e = words_new(&a->words, word_file("words.txt"), word_file("traditional.txt"), em);
    a->routes.words = a->words;
    return e;
}

static enum err add_server(struct app *a, const struct hotel_config *config, struct errmsg *em)
{
    struct http_server_opts o = {.loops = a->loops,
                                 .loops_n = a->loops_n,
                                 .hosts = &config->host,
                                 .hosts_n = 1,
                                 .site = &config->site,
                                 .ports = config->port,
                                 .limits = {.body_bytes_max = PARAMS_BODY_BYTES_MAX,
                                            .inflated_bytes_max = PARAMS_BODY_BYTES_MAX,
                                            .header_bytes_max = 16 * KIB,
                                            .line_bytes_max = 8 * KIB,
                                            .idle_ms_max = IDLE_CONNECTION_MS,
                                            .pipelined_max = 100},
                                 .compression = true,
                                 .compression_level = 6,
                                 .arena_bytes_max = REQUEST_ARENA_MAX,
                                 .log = a->log,
                                 .handle = routes_handle,
                                 .self = &a->routes};
    return http_server_new(&a->server, &o, em);
}

enum err app_new(struct app **out, const struct app_opts *opts, struct errmsg *em)
{
    struct app *a = calloc(1, sizeof(*a));
    *out = NULL;
    if (a == NULL) {
        return err_no_memory(em);
    }
    a->log = opts->log;
    enum err e = add_loops(a, opts->config, em);
    a->routes.config = opts->config;
    a->routes.log = opts->log;
    a->routes.clock = clock_real();
    a->routes.search = a->search;
    e = e != ERR_OK ? e : add_words(a, em);
    e = e != ERR_OK ? e : add_server(a, opts->config, em);
    if (e == ERR_OK && opts->config->has_mysql && opts->config->has_rabbitmq) {
        e = consumer_new(&a->routes.consumer, opts->config, opts->log, em);
    }
    if (e != ERR_OK) {
        app_free(a);
        return e;
    }
    *out = a;
    return ERR_OK;
}

unsigned app_port(const struct app *a)
{
    return http_server_port(a->server);
}

static void stop_loops(void *arg)
{
    struct app *a = arg;
    for (unsigned i = 0; i < a->loops_n; i++) {
        loop_stop(a->loops[i]);
    }
}

static void on_signal(void *arg, int signo)
{
    struct app *a = arg;
    if (!a->stopping) {
        a->stopping = true;
        log_info(a->log, "hotel", "stopping (signal %d)", signo);
        http_server_stop(a->server, STOP_GRACE_MS, stop_loops, a);
    }
}

enum err app_run(struct app *a, struct errmsg *em)
{
    enum err e = loop_signal(a->loops[0], SIGTERM, on_signal, a, em);
    e = e != ERR_OK ? e : loop_signal(a->loops[0], SIGINT, on_signal, a, em);
    for (a->started_n = 1; e == ERR_OK && a->started_n < a->loops_n; a->started_n++) {
        e = loop_start(a->loops[a->started_n], em);
    }
    if (e != ERR_OK) {
        stop_loops(a);
    } else {
        loop_run(a->loops[0]);
    }
    for (unsigned i = 1; i < a->started_n; i++) {
        loop_join(a->loops[i]);
    }
    return e;
}

/* Searches first: what waits for them is dropped with the server's connections. */
void app_free(struct app *a)
{
    if (a == NULL) {
        return;
    }
    consumer_free(a->routes.consumer);
    for (unsigned i = 0; i < a->loops_n; i++) {
        search_service_free(a->search[i]);
    }
    http_server_free(a->server);
    for (unsigned i = 0; i < a->loops_n; i++) {
        loop_free(a->loops[i]);
        lexicon_unref(a->routes.lexicons[i]);
    }
    free(a->loops);
    free(a->search);
    free(a->routes.versions);
    free(a->routes.lexicons);
    words_free(a->words);
    free(a);
}
