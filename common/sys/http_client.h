/* http_client.h - an HTTP/1.1 client on a loop, with connections kept for the next request to the same host.
 *
 * Loop thread only. done() runs exactly once for every call that was started and not cancelled, never inside
 * http_client_send(). A request on a kept connection that the server had closed is sent again once, on a new
 * one, when nothing of an answer had come and it is idempotent or was not yet sent. */
#ifndef SYS_HTTP_CLIENT_H
#define SYS_HTTP_CLIENT_H

#include "common/base/arena.h"
#include "common/sys/http.h"
#include "common/sys/loop.h"
#include "common/sys/tls.h"

struct http_client;
struct http_call;

struct http_client_opts {      /* 0 means the default in brackets */
    struct loop *loop;         /* borrowed */
    unsigned per_host_max;     /* [32] connections to one host; further requests wait */
    int64_t connect_ms_max;    /* [5 s] */
    int64_t idle_ms_max;       /* [30 s] a kept connection */
    size_t response_bytes_max; /* [100 MiB] a body, unpacked too: ERR_TOO_LONG_FRAME */
    const struct tls *tls;     /* borrowed; for https */
};

struct http_client_request {
    const char *method;                /* "GET" */
    struct str url;                    /* "http://host:port/path?query"; copied */
    const struct http_header *headers; /* copied; Host, Content-Length, Connection are ours */
    size_t headers_n;
    struct str body; /* copied; p == NULL: none */
    const char *content_type;
    int64_t ms_max;  /* [60 s] for the whole call */
    bool idempotent; /* GET, HEAD, PUT, DELETE, OPTIONS are without asking */
};

struct http_reply {     /* valid during done() */
    enum err err;       /* ERR_OK, ERR_IO, ERR_TIMEOUT, ERR_TOO_LONG_FRAME, ERR_PARSE, ERR_NO_MEMORY */
    const char *reason; /* when not ERR_OK */
    int status;
    const struct http_header *headers;
    size_t headers_n;
    struct str body;
};

enum err http_client_new(struct http_client **out, const struct http_client_opts *opts, struct errmsg *em);
/* Calls under way are dropped without done(). Not inside done(). NULL ok. */
void http_client_free(struct http_client *c);
/* ERR_ILLEGAL_ARGUMENT for a bad url. *call (may be NULL) is valid until done(). */
enum err http_client_send(struct http_client *c, const struct http_client_request *req,
                          void (*done)(void *arg, const struct http_reply *reply), void *arg,
                          struct http_call **call, struct errmsg *em);
void http_call_cancel(struct http_call *call); /* done() will not run */

/* For command-line tools: runs a loop of its own until the answer. The reply's texts are in arena; transport
 * errors are returned, with an answer of any status it is ERR_OK. */
enum err http_fetch(const struct http_client_request *req, const struct tls *tls, struct arena *arena,
                    struct http_reply *out, struct errmsg *em);

#endif
