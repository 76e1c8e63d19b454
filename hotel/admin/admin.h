/* admin.h - the hotel management service: its threads, its life.
 *
 * Loops take requests and answer what needs no waiting; a pool of threads, as many as database connections
 * less the publisher's, does what waits for the database. */
#ifndef HOTEL_ADMIN_ADMIN_H
#define HOTEL_ADMIN_ADMIN_H

#include "common/base/log.h"
#include "hotel/config.h"

struct admin;

/* Binds; neither database nor broker needs to be there yet. config (with both services) and log are borrowed.
 * ERR_IO when the port is taken. */
enum err admin_new(struct admin **out, const struct hotel_config *config, const struct log *log,
                   struct errmsg *em);
unsigned admin_port(const struct admin *a);
/* Serves until SIGTERM or SIGINT; requests in flight are answered first. */
enum err admin_run(struct admin *a, struct errmsg *em);
void admin_free(struct admin *a); /* NULL ok; when it does not run */

#endif
