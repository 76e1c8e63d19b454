/* http_conn.h - the inside of the HTTP server: its workers, connections and requests. For http_*.c alone.
 *
 * A worker is the server's part on one loop; what belongs to it is touched on that loop's thread only. A
 * connection keeps its unanswered requests in order. When the client has gone it lives on, without a socket,
 * until the handler has answered them all, because requests point to it. */
#ifndef SYS_HTTP_CONN_H
#define SYS_HTTP_CONN_H

#include "common/sys/http_server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <http_parser.h>
#include <stdatomic.h>
#include <sys/socket.h>

struct evconnlistener;

enum conn_phase {
    PHASE_FRESH,  /* connected, nothing came yet */
    PHASE_IDLE,   /* between requests */
    PHASE_HEAD,   /* the head is coming */
    PHASE_BODY,   /* the body is coming */
    PHASE_CLOSED, /* nothing more is read; closes when all is written */
    PHASE_LINGER, /* all is written, our side is shut: what still comes is thrown away, so that no reset
                     overtakes the answer */
};

struct header_at { /* where a header's texts are in `head` */
    uint32_t name, name_n, value, value_n;
};

struct request {
    struct http_request pub; /* first */
    struct http_conn *conn;
    struct request *next;
    struct arena arena;
    struct buf head; /* the target, then names and values */
    struct buf body;
    size_t target_n;
    struct header_at *header;
    size_t headers_n, headers_cap;
    size_t head_bytes; /* as sent, for the limit */
    bool last_was_value, head_done;
    bool keep_alive, http_1_0, gzip_ok;
    bool wants_continue;
    bool shared;    /* asked by a page elsewhere that may */
    bool preflight; /* whether it may */
    size_t counted; /* bytes of the body in server.inflight_bytes */
    enum err unpack_failed;
    const char *unpack_reason;
    struct err_refused unpack_refused;
    /* the handler's */
    void (*aborted)(void *arg);
    void (*released)(void *arg);
    void *watch_arg;
    atomic_bool gone;
    /* the answer */
    struct loop_task task;
    bool held;             /* the handler goes on off the loop: the later of handler and answer frees r */
    atomic_bool half_done; /* one of the two is through */
    bool answered;
    bool close;    /* after it */
    bool bodyless; /* its status has none */
    struct buf out_head, out_body;
    size_t out_body_n; /* 0 for HEAD */
};

struct http_conn {
    struct http_worker *worker;
    struct http_conn *prev, *next;
    struct bufferevent *bev; /* NULL: the client has gone */
    evutil_socket_t fd;
    char peer[64];
    http_parser parser;
    enum conn_phase phase;
    struct request *cur;          /* being read */
    struct request *first, *last; /* handed over or failed, in order */
    unsigned pending;             /* their number */
    bool reading;                 /* inside conn_run(): answers wait for its end */
    bool paused;                  /* too much is unanswered or unwritten, or a body is being unpacked */
    bool unpacking;               /* the newest request's body: what follows is read when it has worked out */
    bool linger;                  /* close by way of PHASE_LINGER */
    bool ending;                  /* "connection: close" was sent: no answer may follow */
    /* what was refused in a parser's callback, until the parser has returned */
    enum err fail;
    int fail_status;
    char fail_reason[ERR_REASON_BYTES];
    struct err_refused fail_refused;
    int64_t idle_ms;     /* since when nothing was asked */
    int64_t deadline_ms; /* of the phase; INT64_MAX: none */
    const char *piece,
        *value_end;   /* what the parser has in hand, and the end of the last piece of a header's value */
    size_t body_mark; /* bytes of the body when the deadline was set */
    int64_t write_deadline_ms;
    uint64_t written,
        write_mark; /* bytes handed to the socket's buffer, and sent when the deadline was set */
};

struct http_worker {
    struct http_server *server;
    struct loop *loop;
    unsigned index;
    struct http_conn conns; /* ring */
    size_t conns_n;
    struct evbuffer *out; /* scratch: answers on their way to a socket */
    struct loop_ticker *sweep;
    struct timer *grace;
    struct loop_task stop;
    bool stopping, done;
    _Atomic(unsigned) load; /* connections, as the listener sees them */
};

struct http_server {
    struct http_server_opts opts; /* limits filled in */
    const struct clock *clock;
    struct arena arena; /* loops, addresses */
    struct http_worker *workers;
    struct evconnlistener **listeners;
    size_t listeners_n;
    struct timer *listen_again; /* after the process ran out of descriptors */
    struct str *addresses;
    unsigned port;
    atomic_bool stopping;
    _Atomic(unsigned) workers_left;
    struct loop_task stop, done;
    int64_t grace_ms;
    void (*on_done)(void *arg);
    void *on_done_arg;
    _Atomic(uint64_t) open, total_opened, requests, refused, inflight_bytes;
};

/* http_conn.c: connections. "May be gone": the connection, and with the last one the worker and the server.
 */
void conn_open(struct http_worker *w, evutil_socket_t fd, const struct sockaddr *peer);
/* Drops the socket and tells the handler; the memory stays while requests are out. */
void conn_close(struct http_conn *c);
/* Frees it if it is closed and nothing is out; then true, and it may be gone. */
bool conn_free_if_over(struct http_conn *c);
/* Reads, hands over, writes: all that can be done now. c may be gone. */
void conn_run(struct http_conn *c);
void conn_answered(struct loop_task *t); /* what http_respond() posts */
/* Closes it unless something that is not a handler's keeps it open; c may be gone. */
void conn_settle(struct http_conn *c);

/* http_worker.c */
void worker_sweep_on(struct http_worker *w); /* deadlines are checked while there are connections */
void worker_check_done(struct http_worker *w);
void worker_stop(struct loop_task *t);
void format_address(const struct sockaddr *a, char *out, size_t n); /* "127.0.0.1:80", "[::1]:80" */

/* http_parse.c */
void conn_parser_init(struct http_conn *c);
/* Parses what has come, as far as allowed; hands over what is complete. */
void conn_parse(struct http_conn *c);
/* Is so much unanswered or unwritten that no more should be read? */
bool conn_must_pause(const struct http_conn *c);
void request_free(struct request *r);
/* Its turn has come: to the server's handler. */
void request_handle(struct request *r);
/* Queues an answer of the server's own for the request being read, and reads no more. */
/* `refused` is of a circuit_breaking_exception; NULL: it is another error. */
void conn_refuse(struct http_conn *c, enum err e, int status, const char *reason,
                 const struct err_refused *refused);

/* http_unpack.c */
bool request_is_packed(const struct request *r);
/* Replaces the body by what it unpacks to. ERR_TOO_LONG_FRAME: more than the server takes. */
enum err request_unpack(struct request *r, struct errmsg *em);
/* Has the server's pool do it, and then hand over the request, which is in its connection's row already, or refuse it. */
void request_unpack_elsewhere(struct request *r);

/* http_listen.c */
enum err server_listen(struct http_server *s, struct errmsg *em);
void server_unlisten(struct http_server *s);

/* http_respond.c: fills in r's answer. */
void request_answer(struct request *r, int status, const char *content_type,
                    const struct http_header *headers, size_t headers_n, struct buf *body);
void http_error_body(struct buf *b, int status, const char *type, const char *reason,
                     const struct err_refused *refused);

static inline int64_t server_now_ms(const struct http_server *s)
{
    return clock_mono_ms(s->clock);
}

#endif
