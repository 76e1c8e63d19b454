/* routes.h - the application's requests: what each path does, from bytes in to bytes out.
 *
 * Between the server (app.c) and the pure parts (params, rules, answer). On the request's loop. */
#ifndef HOTEL_APP_ROUTES_H
#define HOTEL_APP_ROUTES_H

#include "hotel/app/service.h"

/* Answers req, now or when the search service has. self: struct routes. */
void routes_handle(void *self, struct http_request *req);

#endif
