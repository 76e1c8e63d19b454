/* http_server.h - an HTTP/1.1 server over several loops.
 *
 * One listener, without SO_REUSEPORT so that a taken port fails; its sockets are dealt to the loops, where
 * each connection stays. The server knows messages, not their meaning: routing, bodies and errors above HTTP
 * belong to the handler. The server itself answers malformed, too large and too slow requests, with Elasticsearch's
 * error body, and closes.
 *
 * A request: handle() gets it on its loop's thread, whole. It stays valid, wherever it is passed, until
 * http_respond(), which must be called exactly once, from any thread, also when the client has gone; held, until
 * http_request_unref() too.
 * Pipelined requests are handled side by side and answered in order.
 *
 * A client that goes away: the `aborted` callback of http_watch() runs at most once, on the loop's thread,
 * and not after http_respond() was called on that thread; one from another thread may cross it. `released`
 * runs exactly once, on the loop's thread, after everything else, also when nothing was aborted: what the
 * callbacks use may be freed there. */
#ifndef SYS_HTTP_SERVER_H
#define SYS_HTTP_SERVER_H

#include "common/base/arena.h"
#include "common/base/executor.h"
#include "common/base/log.h"
#include "common/base/settings.h"
#include "common/sys/http.h"
#include "common/sys/http_site.h"
#include "common/sys/loop.h"

struct http_server;

struct http_request { /* read only but for `user` and `arena` */
    enum http_verb method;
    struct str method_name;
    struct str path;  /* raw: still percent-encoded, without the query */
    struct str query; /* raw, without '?'; p == NULL: none was given */
    const struct http_header *headers;
    size_t headers_n;
    struct str body;     /* contiguous, decompressed */
    struct str peer;     /* "127.0.0.1:51234", "[::1]:51234" */
    struct arena *arena; /* the handler's scratch, freed with the request; one thread at a time */
    struct loop *loop;   /* the connection's */
    unsigned loop_index; /* its place in http_server_opts.loops */
    bool exempt;         /* what it needs is counted, and never refused */
    int64_t received_ns; /* monotonic: when it was complete */
    void *user;          /* the handler's */
};

struct http_limits {           /* 0 means the default in brackets, but where said */
    size_t body_bytes_max;     /* [100 MiB] as sent: 413 */
    size_t inflated_bytes_max; /* [100 MiB] a compressed body, unpacked: 413 */
    size_t
        inflight_bytes_max; /* [unlimited] bodies of unanswered requests, as received: 429; memory_account.h has a limit too */
    size_t header_bytes_max; /* [8 KiB], at most 64 KiB: 400 */
    size_t line_bytes_max;   /* [4 KiB] the request line: 400 */
    unsigned pipelined_max;  /* [10000] unanswered requests of a connection; reading stops there */
    unsigned
        connections_max; /* [10000], at most half of the files that the process may open; for more the longest idle one is
                               * closed, else the one whose request has not come further for the longest */
    int64_t header_ms_max; /* [30 s] from a request's first byte to the end of its head */
    int64_t body_ms_max;   /* [30 s] for each 16 KiB of a body */
    int64_t write_ms_max;  /* [30 s] for each 16 KiB of an answer */
    int64_t idle_ms_max;   /* between requests; 0: for ever, as Elasticsearch has it */
};

struct http_server_opts {
    struct loop *const *loops; /* borrowed; the first one also accepts */
    unsigned loops_n;
    const struct str *hosts; /* addresses or names to bind; 0 of them: 127.0.0.1 */
    size_t hosts_n;
    const char *ports; /* "9200-9300": the first free one; "9200"; "0": any */
    struct http_limits limits;
    bool compression;       /* gzip for clients that accept it */
    int compression_level;  /* [3] */
    size_t gzip_bytes_min;  /* [1 KiB] smaller answers go plain */
    size_t arena_bytes_max; /* [what memory_account.h gives] a request's arena */
    const struct executor *
        unpacking; /* borrowed: where packed bodies are unpacked, and large answers packed; NULL: on the loops */
    const struct http_site *site; /* borrowed; NULL: it is not looked at from which page a request comes */
    const struct log *log;        /* borrowed; may be NULL */
    const struct clock *clock;    /* borrowed; NULL: the real one */
    const char *product;          /* every answer says it, as X-elastic-product; NULL: none does */
    /* Is a request of those that no limit of memory refuses: those that say what is wrong, and take limits back? NULL: none is. `path`
     * as in http_request; on the loop. With it handle() gets arenas that no limit refuses, and has those of all other requests come
     * under the limits once it knows that they will be served. */
    bool (*exempt)(struct str path);
    void (*handle)(void *self, struct http_request *req);
    void *self;
};

struct http_server_stats { /* as _nodes/stats "http" */
    uint64_t current_open, total_opened;
    uint64_t requests, refused; /* refused: by limits and malformed */
    uint64_t inflight_bytes;
};

/* Binds, and accepts once the loops run. Called before they run or on the first one's thread. ERR_IO with the
 * address in the reason when no port of the range is free. */
enum err http_server_new(struct http_server **out, const struct http_server_opts *opts, struct errmsg *em);
unsigned http_server_port(const struct http_server *s);
/* The addresses bound, "127.0.0.1:9200"; borrowed. */
const struct str *http_server_addresses(const struct http_server *s, size_t *n);
void http_server_stats(const struct http_server *s, struct http_server_stats *out); /* any thread */
/* Accepts no more, closes what is idle, lets requests in flight be answered (with "connection: close"),
 * aborts what is left after grace_ms; then done(arg) on the first loop's thread. Once, from any thread, while
 * the loops run. Requests that nobody has answered yet keep the server waiting: the handler must answer them.
 */
void http_server_stop(struct http_server *s, int64_t grace_ms, void (*done)(void *arg), void *arg);
/* After done() (also inside it), or when the loops do not run any more. NULL ok. */
void http_server_free(struct http_server *s);

/* On the loop's thread, inside handle() or before http_respond(). Either callback may be NULL; a second call
 * replaces. */
void http_watch(struct http_request *req, void (*aborted)(void *arg), void (*released)(void *arg), void *arg);
/* Has the client gone? Any thread that may still use req. */
bool http_aborted(const struct http_request *req);

/* For a handler that goes on off the loop: it may use req until it says http_request_unref(), whoever answers meanwhile, and
 * the answer goes out then. http_request_ref() once, on the loop's thread inside handle(); http_request_unref() once, any thread. */
void http_request_ref(struct http_request *req);
void http_request_unref(struct http_request *req);

/* The answer. content_type NULL: none. headers are copied; body (NULL: none) is taken, and left empty: its
 * memory goes out without another copy. For HEAD the length is the body's, which is not sent. Any thread; req
 * is gone. */
void http_respond(struct http_request *req, int status, const char *content_type,
                  const struct http_header *headers, size_t headers_n, struct buf *body);

/* Reads http.port, http.host, http.bind_host, network.host, network.bind_host, http.compression,
 * http.compression_level, http.max_content_length, http.max_header_size, http.max_initial_line_length,
 * http.pipelining.max_events, http.cors.* into opts (texts in arena). */
enum err http_server_opts_from(struct http_server_opts *opts, const struct settings *s, struct arena *arena,
                               struct errmsg *em);

#endif
