#include "hotel/admin/admin.h"

#include "common/sys/http_server.h"
#include "common/sys/pool.h"
#include "hotel/admin/routes.h"

#include <signal.h>
#include <stdlib.h>

#define STOP_GRACE_MS      10000
#define REQUEST_ARENA_MAX  (64 * MIB) /* a list of hotels with their rows */
#define BODY_BYTES_MAX     (64 * KIB)
#define IDLE_CONNECTION_MS 120000
#define WAITING_MAX        1000 /* requests that wait for the database */

struct admin {
    const struct log *log;
    struct loop *loop;
    struct http_server *server;
    struct admin_routes routes;
    struct pool *pool;
    bool stopping;
};

static enum err add_server(struct admin *a, const struct hotel_config *config, struct errmsg *em)
{
    struct http_server_opts o = {.loops = &a->loop,
                                 .loops_n = 1,
                                 .hosts = &config->host,
                                 .hosts_n = 1,
                                 .site = &config->site,
                                 .ports = config->port,
                                 .limits = {.body_bytes_max = BODY_BYTES_MAX,
                                            .inflated_bytes_max = BODY_BYTES_MAX,
                                            .header_bytes_max = 16 * KIB,
                                            .line_bytes_max = 8 * KIB,
                                            .idle_ms_max = IDLE_CONNECTION_MS,
                                            .pipelined_max = 100},
                                 .compression = true,
                                 .arena_bytes_max = REQUEST_ARENA_MAX,
                                 .log = a->log,
                                 .handle = admin_routes_handle,
                                 .self = &a->routes};
    return http_server_new(&a->server, &o, em);
}

enum err admin_new(struct admin **out, const struct hotel_config *config, const struct log *log,
                   struct errmsg *em)
{
    struct admin *a = calloc(1, sizeof(*a));
    const struct db_opts db = {.url = &config->mysql,
                               .connect_ms_max = config->mysql_ms_max,
                               .ms_max = config->mysql_ms_max,
                               .connections_max = config->mysql_connections_max};
    *out = NULL;
    if (a == NULL) {
        return err_no_memory(em);
    }
    a->log = log;
    a->routes.config = config;
    a->routes.log = log;
    enum err e = loop_new(&a->loop, "hotel-admin", em);
    e = e != ERR_OK ? e : search_service_new(&a->routes.search, a->loop, config, em);
    e = e != ERR_OK ? e : db_new(&a->routes.db, &db, em);
    const struct pool_opts pool = {
        .name = "database", .threads_max = config->mysql_connections_max - 1, .queue_max = WAITING_MAX};
    e = e != ERR_OK ? e : pool_new(&a->pool, &pool, em);
    e = e != ERR_OK ? e : add_server(a, config, em);
    e = e != ERR_OK ? e : publisher_new(&a->routes.publisher, config, a->routes.db, log, em);
    if (e != ERR_OK) {
        admin_free(a);
        return e;
    }
    a->routes.executor = pool_executor(a->pool);
    *out = a;
    return ERR_OK;
}

unsigned admin_port(const struct admin *a)
{
    return http_server_port(a->server);
}

static void stop_loop(void *arg)
{
    struct admin *a = arg;
    loop_stop(a->loop);
}

static void on_signal(void *arg, int signo)
{
    struct admin *a = arg;
    if (!a->stopping) {
        a->stopping = true;
        log_info(a->log, "hotel.admin", "stopping (signal %d)", signo);
        http_server_stop(a->server, STOP_GRACE_MS, stop_loop, a);
    }
}

enum err admin_run(struct admin *a, struct errmsg *em)
{
    enum err e = loop_signal(a->loop, SIGTERM, on_signal, a, em);
    e = e != ERR_OK ? e : loop_signal(a->loop, SIGINT, on_signal, a, em);
    if (e == ERR_OK) {
        loop_run(a->loop);
    }
    return e;
}

/* Whatever answers requests first, then what it used. */
void admin_free(struct admin *a)
{
    if (a == NULL) {
        return;
    }
    pool_free(a->pool);
    publisher_free(a->routes.publisher);
    search_service_free(a->routes.search);
    http_server_free(a->server);
    loop_free(a->loop);
    db_free(a->routes.db);
    free(a);
}
