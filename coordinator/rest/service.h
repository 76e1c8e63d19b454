/* service.h - the REST interface of a coordinator: routes, and the handler of the HTTP server. */
#ifndef COORDINATOR_REST_SERVICE_H
#define COORDINATOR_REST_SERVICE_H

#include "coordinator/core/coordinator.h"

struct rest_service;

/* Serves `co`, what other nodes ask it about nodes, too; before the transport starts. */
enum err rest_service_new(struct rest_service **out, struct coordinator *co, struct errmsg *em);
void rest_service_free(struct rest_service *s); /* NULL ok; no request may be under way */
/* The HTTP server's handler. */
void rest_service_handle(void *service, struct http_request *req);
/* For http_server_opts.exempt. */
bool rest_service_exempt(struct str path);

#endif
