/* http_client.h - an HTTP client on a loop, over libcurl: connections are kept for the next request to the same host.
 *
 * Loop thread only. done() runs exactly once for every call that was started, never inside http_client_send(). A request
 * on a kept connection that the server had closed is sent again, when nothing of an answer had come. */
#ifndef SYS_HTTP_CLIENT_H
#define SYS_HTTP_CLIENT_H

#include "common/base/arena.h"
#include "common/sys/loop.h"

struct http_client;

struct http_client_opts {      /* 0 means the default in brackets */
    struct loop *loop;         /* borrowed */
    unsigned per_host_max;     /* [32] connections to one host; further requests wait */
    int64_t connect_ms_max;    /* [5 s] */
    int64_t idle_ms_max;       /* [30 s] a kept connection */
    size_t response_bytes_max; /* [100 MiB] a body: ERR_TOO_LONG_FRAME */
};

struct http_client_request {
    const char *method;       /* "GET" */
    struct str url;           /* "http://host:port/path?query"; copied */
    struct str body;          /* copied; p == NULL: none */
    const char *content_type; /* NULL: none */
    int64_t ms_max;           /* [60 s] for the whole call */
};

struct http_reply {     /* valid during done() */
    enum err err;       /* ERR_OK, ERR_IO, ERR_TIMEOUT, ERR_TOO_LONG_FRAME, ERR_PARSE, ERR_NO_MEMORY */
    const char *reason; /* when not ERR_OK */
    int status;
    struct str body;
};

enum err http_client_new(struct http_client **out, const struct http_client_opts *opts, struct errmsg *em);
/* Calls under way are dropped without done(). Not inside done(). NULL ok. */
void http_client_free(struct http_client *c);
/* ERR_ILLEGAL_ARGUMENT for a bad url. */
enum err http_client_send(struct http_client *c, const struct http_client_request *req,
                          void (*done)(void *arg, const struct http_reply *reply), void *arg,
                          struct errmsg *em);

/* For command-line tools: returns with the answer. The reply's body is in arena; transport errors are returned, with an
 * answer of any status it is ERR_OK. */
enum err http_fetch(const struct http_client_request *req, struct arena *arena, struct http_reply *out,
                    struct errmsg *em);

#endif
