/* routes.h - the management service's requests: which path is what, from bytes to a job and back.
 *
 * On the loop's thread; jobs (jobs.h) run on the pool's. */
#ifndef HOTEL_ADMIN_ROUTES_H
#define HOTEL_ADMIN_ROUTES_H

#include "common/base/executor.h"
#include "common/sys/http_server.h"
#include "hotel/admin/publisher.h"
#include "hotel/app/search.h"

struct admin_routes {
    const struct hotel_config *config;
    const struct log *log; /* may be NULL */
    struct search *search;
    struct db *db;
    struct publisher *publisher;
    const struct executor *executor; /* for what waits */
    struct log_rate failures;
};

/* Answers req, now or later. self: struct admin_routes. */
void admin_routes_handle(void *self, struct http_request *req);

#endif
