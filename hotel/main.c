/* serai-hotel: the hotel search application, and the commands that fill its index. */
#include "common/base/version.h"
#include "common/sys/clock_real.h"
#include "common/sys/log_fd.h"
#include "common/sys/notify.h"
#include "common/sys/process.h"
#include "hotel/app/app.h"
#include "hotel/cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static const char usage[] =
    "usage: serai-hotel [OPTIONS]                        serves the application and its web page\n"
    "       serai-hotel import FILE.csv [--recreate]     creates the index and loads hotels into it\n"
    "       serai-hotel import --from-mysql [--state FILE]   all rows of the database; goes on where it "
    "ended\n"
    "       serai-hotel verify                           the index against the database\n"
    "       serai-hotel promote ID... [--off]            marks hotels as promoted, or not any more\n"
    "       serai-hotel generate N [--seed S]            writes N sample hotels as CSV\n"
    "\n"
    "  --search-url URLS  the search service's nodes, with commas between (http://127.0.0.1:9200)\n"
    "  --index NAME       the index of hotels (hotel)\n"
    "  --mysql-url URL    mysql://user:password@host:3306/database, and\n"
    "  --rabbitmq-url URL amqp://user:password@host:5672/vhost: with both, the index follows the database\n"
    "  --host ADDRESS     where to listen (127.0.0.1)\n"
    "  --port N           (8089; 0: any)\n"
    "  --threads N        (as many as cores, at most 4)\n"
    "  --config FILE      settings in YAML\n"
    "  -E name=value      any setting: search.timeout, search.connect_timeout, search.connections, log.level "
    "...\n"
    "  --help, --version\n"
    "Settings may come from the environment too: SERAI_HOTEL_SEARCH_URL for search.url, and so on.\n"
    "\n"
    "Exit status: 0 done; 1 refused by the search service, done in part, or verify found differences; 64 "
    "usage or settings; 65 the "
    "file's\n"
    "contents, or an index of another form; 66 the file cannot be read; 69 the search service does not "
    "answer, or\n"
    "the port is taken.\n";

static int serve(const struct hotel_config *c)
{
    struct log_fd sink;
    struct log log;
    struct app *app;
    ERR_LOCAL(em);
    log_fd_init(&sink, STDERR_FILENO);
    log_init(&log, &sink.base, clock_real(), c->log_level);
    log.plain = isatty(STDERR_FILENO) == 1;
    process_raise_open_files();
    enum err e = app_new(&app, &(struct app_opts){.config = c, .log = &log}, &em);
    if (e != ERR_OK) {
        return command_failed(e, &em);
    }
    log_info(&log, "hotel", "serving at http://%.*s:%u/, searching at %.*s%s", STR_ARG(c->host),
             app_port(app), STR_ARG(c->search_urls[0]), c->search_urls_n > 1 ? " and others" : "");
    notify_send(getenv("NOTIFY_SOCKET"), "READY=1");
    e = app_run(app, &em);
    app_free(app);
    return e == ERR_OK ? EXIT_DONE : command_failed(e, &em);
}

static int run_command(const struct hotel_config *c, const struct config_args *a, struct arena *arena)
{
    if (a->n == 0 || (a->n == 1 && str_is(a->v[0], "serve"))) {
        return serve(c);
    }
    const struct str *rest = a->v + 1;
    size_t n = a->n - 1;
    if (str_is(a->v[0], "import")) {
        return command_import(c, rest, n, arena);
    }
    if (str_is(a->v[0], "verify")) {
        return command_verify(c, rest, n);
    }
    if (str_is(a->v[0], "promote")) {
        return command_promote(c, rest, n, arena);
    }
    if (str_is(a->v[0], "generate")) {
        return command_generate(rest, n);
    }
    fprintf(stderr, "serai-hotel: unknown argument %.*s\n%s", STR_ARG(a->v[0]), usage);
    return EXIT_USAGE_ERROR;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct hotel_config config;
    struct config_args args;
    ERR_LOCAL(em);
    int status;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = config_read(&config, &args, CONFIG_SEARCH_PORT, argc - 1, argv + 1,
                             (const char *const *)environ, &arena, &em);
    if (e != ERR_OK) {
        fprintf(stderr, "serai-hotel: %s\n", err_reason(&em));
        status = EXIT_USAGE_ERROR;
    } else if (args.help) {
        fputs(usage, stdout);
        status = EXIT_DONE;
    } else if (args.version) {
        puts("Serai hotel search " SERAI_VERSION);
        status = EXIT_DONE;
    } else {
        status = run_command(&config, &args, &arena);
    }
    arena_fini(&arena);
    return status;
}
