/* http_call.h - the inside of the HTTP client. For http_client.c, http_request.c and http_reply.c alone.
 *
 * A call waits at its host for a connection, has it to itself until its answer is whole, and gives it back.
 */
#ifndef SYS_HTTP_CALL_H
#define SYS_HTTP_CALL_H

#include "common/sys/http_client.h"

#include <event2/bufferevent.h>
#include <http_parser.h>

struct host;

struct url {
    bool tls;
    struct str authority; /* for the Host header */
    struct str host;
    uint16_t port;
    struct str target;
};

/* Splits the url. ERR_ILLEGAL_ARGUMENT for it, or a header that would break its line. */
enum err request_check(const struct http_client_request *req, struct url *out, struct errmsg *em);
void request_write(struct buf *b, const struct http_client_request *req, const struct url *u);

struct reply_header { /* where its texts are in `head` */
    size_t name, name_n, value, value_n;
};

/* An answer as it comes in. */
struct reply_in {
    http_parser parser;
    struct buf head, body;
    struct reply_header *v;
    size_t n, cap;
    struct arena arena;
    bool last_was_value;
    bool begun; /* a byte has come */
    bool whole, keep_alive;
    bool is_head; /* of a HEAD: no body follows */
    enum err fail;
    const char *reason;
};

/* body_bytes_max: the ceiling of the body. */
void reply_init(struct reply_in *r, bool is_head, size_t body_bytes_max);
void reply_fini(struct reply_in *r);
/* Takes bytes; n == 0 is the end of the stream. false: r->fail and r->reason say why. Check r->whole after.
 */
bool reply_feed(struct reply_in *r, const char *p, size_t n);
/* When whole: unpacks, and fills in all but err and reason. Texts live in r. */
enum err reply_finish(struct reply_in *r, struct http_reply *out, size_t body_bytes_max, struct errmsg *em);

struct http_call {
    struct http_client *client;
    struct host *host;
    struct http_call *prev, *next; /* at the host: waiting, or running */
    struct client_conn *conn;      /* NULL: waits */
    struct buf out;                /* the request's bytes, kept for a second try */
    struct reply_in in;
    bool is_head, idempotent, retried;
    struct timer *deadline;
    void (*done)(void *arg, const struct http_reply *reply);
    void *arg;
    enum err err;
    char reason[200];
};

struct client_conn {
    struct host *host;
    struct client_conn *prev, *next; /* all of the host's */
    struct bufferevent *bev;
    struct http_call *call; /* NULL: idle */
    struct timer *timer;    /* of connecting, then of being idle */
    bool connected, reused;
};

#endif
