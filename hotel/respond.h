/* respond.h - the answers of both services: JSON, errors, files of their pages. On the request's loop, or (JSON
 * alone) on any thread. The request is gone after. */
#ifndef HOTEL_RESPOND_H
#define HOTEL_RESPOND_H

#include "common/sys/http_server.h"
#include "hotel/web_files.h"

/* extra: one more header, or NULL. body is taken. */
void respond_json(struct http_request *req, int status, const struct http_header *extra, struct buf *body);
/* {"status":400,"error":"bad_request","field":"page","reason":".."}; field NULL: without. */
void respond_error_body(struct buf *out, int status, const char *error, const char *field,
                        const char *reason);
void respond_error(struct http_request *req, int status, const char *error, const char *field,
                   const char *reason);
/* 405. allowed: "GET, PUT". */
void respond_wrong_method(struct http_request *req, const char *allowed);
/* The page's file that the path names ("/" is index.html), 404 without one, 405 for what does not read.
 * policy: its Content-Security-Policy. */
void respond_page(struct http_request *req, const struct web_files *files, const char *policy);

#endif
