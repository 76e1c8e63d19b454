/* serai-hotel-admin: the hotel management service. */
#include "common/base/version.h"
#include "common/sys/clock_real.h"
#include "common/sys/log_fd.h"
#include "common/sys/notify.h"
#include "common/sys/process.h"
#include "hotel/admin/admin.h"
#include "hotel/cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static const char usage[] =
    "usage: serai-hotel-admin OPTIONS     manages hotels in the database, and tells the search application\n"
    "\n"
    "  --mysql-url URL      mysql://user:password@host:3306/database (required)\n"
    "  --rabbitmq-url URL   amqp://user:password@host:5672/vhost (required)\n"
    "  --search-url URLS    the search service's nodes, with commas between (http://127.0.0.1:9200)\n"
    "  --index NAME         the index of hotels (hotel)\n"
    "  --host ADDRESS       where to listen (127.0.0.1)\n"
    "  --port N             (8099; 0: any)\n"
    "  --config FILE        settings in YAML\n"
    "  -E name=value        any setting: mysql.connections, mysql.timeout, log.level ...\n"
    "  --help, --version\n"
    "Settings may come from the environment too: SERAI_HOTEL_MYSQL_URL for mysql.url, and so on.\n"
    "\n"
    "Exit status: 0 done; 64 usage or settings; 69 the port is taken.\n";

static int serve(const struct hotel_config *c)
{
    struct log_fd sink;
    struct log log;
    struct admin *admin;
    ERR_LOCAL(em);
    log_fd_init(&sink, STDERR_FILENO);
    log_init(&log, &sink.base, clock_real(), c->log_level);
    log.plain = isatty(STDERR_FILENO) == 1;
    process_raise_open_files();
    enum err e = admin_new(&admin, c, &log, &em);
    if (e == ERR_OK) {
        log_info(&log, "hotel.admin", "serving at http://%.*s:%u/, database %.*s at %.*s:%u",
                 STR_ARG(c->host), admin_port(admin), STR_ARG(c->mysql.path), STR_ARG(c->mysql.host),
                 c->mysql.port);
        notify_send(getenv("NOTIFY_SOCKET"), "READY=1");
        e = admin_run(admin, &em);
        admin_free(admin);
    }
    if (e != ERR_OK) {
        fprintf(stderr, "serai-hotel-admin: %s\n", err_reason(&em));
        return e == ERR_IO ? EXIT_NO_SERVICE : EXIT_FAILED;
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct hotel_config config;
    struct config_args args;
    ERR_LOCAL(em);
    int status = EXIT_DONE;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = config_read(&config, &args, CONFIG_ADMIN_PORT, argc - 1, argv + 1,
                             (const char *const *)environ, &arena, &em);
    if (e != ERR_OK) {
        fprintf(stderr, "serai-hotel-admin: %s\n", err_reason(&em));
        status = EXIT_USAGE_ERROR;
    } else if (args.help) {
        fputs(usage, stdout);
    } else if (args.version) {
        puts("Serai hotel management " SERAI_VERSION);
    } else if (args.n > 0) {
        fprintf(stderr, "serai-hotel-admin: unknown argument %.*s\n%s", STR_ARG(args.v[0]), usage);
        status = EXIT_USAGE_ERROR;
    } else if (!config.has_mysql || !config.has_rabbitmq) {
        fprintf(stderr, "serai-hotel-admin: settings [mysql.url] and [rabbitmq.url] are required\n%s", usage);
        status = EXIT_USAGE_ERROR;
    } else {
        status = serve(&config);
    }
    arena_fini(&arena);
    return status;
}
