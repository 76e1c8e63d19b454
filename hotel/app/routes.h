/* routes.h - the application's requests: what each path does, from bytes in to bytes out.
 *
 * Between the server (app.c) and the pure parts (params, rules, answer). On the request's loop. */
#ifndef HOTEL_APP_ROUTES_H
#define HOTEL_APP_ROUTES_H

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/sys/http_server.h"
#include "hotel/app/search.h"
#include "hotel/sync/consumer.h"

struct kept_version { /* the last answer of /hotel/version */
    char text[96];
    size_t n;
    int64_t until_ms;
};

struct routes {
    const struct hotel_config *config;
    const struct log *log; /* may be NULL */
    const struct clock *clock;
    struct kept_version *versions; /* one a loop */
    struct search *const *search;  /* one a loop, by loop_index */
    struct consumer *consumer;     /* NULL: the index follows no database */
    struct log_rate failures;      /* keeps an absent search service from flooding the log */
};

/* Answers req, now or when the search service has. self: struct routes. */
void routes_handle(void *self, struct http_request *req);

#endif
