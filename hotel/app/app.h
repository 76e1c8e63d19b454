/* app.h - the hotel search application as a server: its threads, its routes, its life.
 *
 * Every thread is a loop with connections and a search client of its own; nothing is shared but what never
 * changes. A request lives on the loop that accepted it. */
#ifndef HOTEL_APP_APP_H
#define HOTEL_APP_APP_H

#include "common/base/log.h"
#include "hotel/config.h"

struct app;

struct app_opts {
    const struct hotel_config *config; /* borrowed */
    const struct log *log;             /* borrowed; may be NULL */
};

/* Binds. ERR_IO with the address when the port is taken. */
enum err app_new(struct app **out, const struct app_opts *opts, struct errmsg *em);
unsigned app_port(const struct app *a);
/* Serves in this thread and others until SIGTERM or SIGINT; requests in flight are answered first. */
enum err app_run(struct app *a, struct errmsg *em);
void app_free(struct app *a); /* NULL ok; when it does not run */

#endif
