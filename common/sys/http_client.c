#include "common/sys/http_client.h"

#include "common/sys/http_call.h"

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>

struct host {
    struct http_client *client;
    struct host *next;
    char *name; /* without the brackets of "[::1]" */
    uint16_t port;
    bool tls;
    struct client_conn conns; /* ring */
    unsigned conns_n;
    struct http_call waiting, running; /* rings */
};

struct http_client {
    struct http_client_opts opts;
    const struct timers *timers;
    struct evdns_base *dns; /* made when a name first needs it */
    struct host *hosts;
};

static void host_pump(struct host *h);

static void call_unlink(struct http_call *c)
{
    c->prev->next = c->next;
    c->next->prev = c->prev;
}

static void call_link(struct http_call *ring, struct http_call *c)
{
    c->next = ring;
    c->prev = ring->prev;
    c->prev->next = c;
    ring->prev = c;
}

static void call_free(struct http_call *c)
{
    timer_cancel(c->client->timers, c->deadline);
    buf_fini(&c->out);
    reply_fini(&c->in);
    free(c);
}

/* Ends a call that is in no ring and has no connection. */
static void call_done(struct http_call *c, struct http_reply *reply)
{
    c->done(c->arg, reply);
    call_free(c);
}

static void call_fail(struct http_call *c, enum err e, const char *reason)
{
    struct http_reply reply = {.err = e, .reason = reason};
    call_done(c, &reply);
}

static void conn_free(struct client_conn *n)
{
    timer_cancel(n->host->client->timers, n->timer);
    n->prev->next = n->next;
    n->next->prev = n->prev;
    n->host->conns_n--;
    if (n->bev != NULL) {
        bufferevent_free(n->bev);
    }
    free(n);
}

/* Takes the call off its connection, which is dropped. */
static struct http_call *conn_drop_call(struct client_conn *n)
{
    struct http_call *c = n->call;
    call_unlink(c);
    c->conn = NULL;
    n->call = NULL;
    conn_free(n);
    return c;
}

static void conn_broke(struct client_conn *n, enum err e, const char *reason)
{
    struct host *h = n->host;
    if (n->call == NULL) {
        conn_free(n);
        return;
    }
    size_t unsent = n->bev != NULL ? evbuffer_get_length(bufferevent_get_output(n->bev)) : 0;
    bool stale = n->reused && e == ERR_IO && !n->call->in.begun;
    struct http_call *c = conn_drop_call(n);
    if (stale && !c->retried && (c->idempotent || unsent >= c->out.n)) {
        c->retried = true; /* the server had closed the kept connection: that is not an answer */
        call_link(&h->waiting, c);
        host_pump(h);
        return;
    }
    host_pump(h);
    call_fail(c, e, reason);
}

static void idle_over(void *arg)
{
    struct client_conn *n = arg;
    n->timer = NULL;
    conn_free(n);
}

static void connect_over(void *arg)
{
    struct client_conn *n = arg;
    n->timer = NULL;
    conn_broke(n, ERR_TIMEOUT, "connecting took too long");
}

/* The answer is whole: the connection goes back, or away; then the caller hears of it. */
static void conn_answered(struct client_conn *n)
{
    struct http_call *c = n->call;
    struct host *h = n->host;
    struct http_client *client = h->client;
    call_unlink(c);
    c->conn = NULL;
    n->call = NULL;
    bool keep = c->in.keep_alive && evbuffer_get_length(bufferevent_get_output(n->bev)) == 0;
    if (keep) {
        n->reused = true;
        n->timer = timer_start(client->timers, client->opts.idle_ms_max, idle_over, n);
    }
    if (!keep || n->timer == NULL) {
        conn_free(n);
    }
    host_pump(h);
    struct errmsg em = {0};
    struct http_reply reply = {0};
    reply.err = reply_finish(&c->in, &reply, client->opts.response_bytes_max, &em);
    reply.reason = reply.err != ERR_OK ? em.frame[0].reason : NULL;
    call_done(c, &reply);
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct client_conn *n = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    if (n->call == NULL) {
        conn_free(n); /* nobody asked */
        return;
    }
    struct reply_in *r = &n->call->in;
    struct evbuffer_iovec piece;
    while (!r->whole && evbuffer_peek(in, -1, NULL, &piece, 1) > 0 && piece.iov_len > 0) {
        if (!reply_feed(r, piece.iov_base, piece.iov_len)) {
            conn_broke(n, r->fail, r->reason);
            return;
        }
        evbuffer_drain(in, piece.iov_len);
    }
    if (r->whole) {
        r->keep_alive = r->keep_alive && evbuffer_get_length(in) == 0;
        conn_answered(n);
    }
}

static void on_closed(struct client_conn *n, short what)
{
    if (n->call != NULL && n->call->in.begun && reply_feed(&n->call->in, NULL, 0)) {
        n->call->in.keep_alive = false; /* an answer that lasts until the close */
        conn_answered(n);
        return;
    }
    char reason[160];
    int dns = bufferevent_socket_get_dns_error(n->bev);
    unsigned long tls = bufferevent_get_openssl_error(n->bev);
    if (dns != 0) {
        snprintf(reason, sizeof(reason), "cannot resolve: %s", evutil_gai_strerror(dns));
    } else if (tls != 0) {
        ERR_error_string_n(tls, reason, sizeof(reason));
    } else {
        snprintf(reason, sizeof(reason), "%s",
                 (what & BEV_EVENT_EOF) != 0 ? "the server closed the connection"
                                             : evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    }
    conn_broke(n, ERR_IO, reason);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct client_conn *n = arg;
    if ((what & BEV_EVENT_CONNECTED) != 0) {
        int on = 1;
        setsockopt(bufferevent_getfd(bev), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        n->connected = true;
        timer_cancel(n->host->client->timers, n->timer);
        n->timer = NULL;
    } else if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0) {
        on_closed(n, what);
    }
}

/* Callbacks are deferred: names that resolve at once must not end a call inside http_client_send(). */
static struct bufferevent *new_socket(const struct host *h)
{
    const struct http_client_opts *o = &h->client->opts;
    if (!h->tls) {
        return bufferevent_socket_new(loop_base(o->loop), -1,
                                      BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    }
    struct ssl_st *session = o->tls != NULL ? tls_session(o->tls, h->name) : NULL;
    if (session == NULL) {
        return NULL;
    }
    struct bufferevent *bev =
        bufferevent_openssl_socket_new(loop_base(o->loop), -1, session, BUFFEREVENT_SSL_CONNECTING,
                                       BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (bev == NULL) {
        tls_session_free(session);
    } else {
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    }
    return bev;
}

/* Errors of connecting come as events, also those found at once. */
static bool connect_to(struct host *h, struct bufferevent *bev)
{
    struct sockaddr_storage a = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&a;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&a;
    if (evutil_inet_pton(AF_INET, h->name, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(h->port);
        return bufferevent_socket_connect(bev, (struct sockaddr *)&a, sizeof(*v4)) == 0;
    }
    if (evutil_inet_pton(AF_INET6, h->name, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(h->port);
        return bufferevent_socket_connect(bev, (struct sockaddr *)&a, sizeof(*v6)) == 0;
    }
    struct http_client *c = h->client;
    if (c->dns == NULL) {
        c->dns = evdns_base_new(loop_base(c->opts.loop),
                                EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    }
    return c->dns != NULL
           && bufferevent_socket_connect_hostname(bev, c->dns, AF_UNSPEC, h->name, h->port) == 0;
}

static void give_up(void *arg)
{
    struct client_conn *n = arg;
    n->timer = NULL;
    conn_broke(n, ERR_IO, n->host->tls && n->bev == NULL ? "no TLS settings for https" : "cannot connect");
}

static struct client_conn *conn_new(struct host *h)
{
    struct client_conn *n = calloc(1, sizeof(*n));
    if (n == NULL) {
        return NULL;
    }
    n->host = h;
    n->next = &h->conns;
    n->prev = h->conns.prev;
    n->prev->next = n;
    h->conns.prev = n;
    h->conns_n++;
    return n;
}

/* Connects for the call that n has been given. Called inside http_client_send(): whatever fails, fails later.
 */
static void conn_start(struct client_conn *n)
{
    struct host *h = n->host;
    const struct timers *timers = h->client->timers;
    n->bev = new_socket(h);
    bool ok = n->bev != NULL;
    if (ok) {
        bufferevent_setcb(n->bev, on_read, NULL, on_event, n);
        bufferevent_set_max_single_read(n->bev, 64 * KIB);
        n->timer = timer_start(timers, h->client->opts.connect_ms_max, connect_over, n);
        /* The first callback comes from the loop, not from here: EV_READ is on, but there is no socket yet.
         */
        ok = n->timer != NULL && bufferevent_write(n->bev, n->call->out.p, n->call->out.n) == 0
             && bufferevent_enable(n->bev, EV_READ | EV_WRITE) == 0 && connect_to(h, n->bev);
    }
    if (!ok) {
        timer_cancel(timers, n->timer);
        n->timer = timer_start(timers, 0, give_up, n);
    }
}

static struct client_conn *idle_conn(struct host *h)
{
    for (struct client_conn *n = h->conns.prev; n != &h->conns; n = n->prev) {
        if (n->call == NULL) {
            return n;
        }
    }
    return NULL;
}

/* Gives connections to calls that wait, the oldest first. */
static void host_pump(struct host *h)
{
    while (h->waiting.next != &h->waiting) {
        struct http_call *c = h->waiting.next;
        struct client_conn *n = c->retried ? NULL : idle_conn(h);
        bool fresh = n == NULL;
        if (fresh && h->conns_n >= h->client->opts.per_host_max) {
            n = idle_conn(h); /* a retry wants a new one: make room by closing an idle one */
            if (n == NULL) {
                return;
            }
            conn_free(n);
        }
        n = fresh ? conn_new(h) : n;
        if (n == NULL) {
            return; /* no memory: the call waits for its deadline, or for another's end */
        }
        call_unlink(c);
        call_link(&h->running, c);
        c->conn = n;
        n->call = c;
        reply_fini(&c->in);
        reply_init(&c->in, c->is_head, h->client->opts.response_bytes_max);
        if (fresh) {
            conn_start(n);
            continue;
        }
        timer_cancel(h->client->timers, n->timer);
        n->timer = NULL;
        bufferevent_write(n->bev, c->out.p, c->out.n);
    }
}

static void call_too_late(void *arg)
{
    struct http_call *c = arg;
    struct host *h = c->host;
    c->deadline = NULL;
    if (c->conn != NULL) {
        conn_drop_call(c->conn);
        host_pump(h);
    } else {
        call_unlink(c);
    }
    call_fail(c, ERR_TIMEOUT, "the call took too long");
}

void http_call_cancel(struct http_call *c)
{
    struct host *h = c->host;
    if (c->conn != NULL) {
        conn_drop_call(c->conn);
        host_pump(h);
    } else {
        call_unlink(c);
    }
    call_free(c);
}

static struct host *find_host(struct http_client *client, const struct url *u)
{
    for (struct host *h = client->hosts; h != NULL; h = h->next) {
        if (h->port == u->port && h->tls == u->tls && str_is(u->host, h->name)) {
            return h;
        }
    }
    struct host *h = calloc(1, sizeof(*h));
    char *name = strndup(u->host.p, u->host.n);
    if (h == NULL || name == NULL) {
        free(h);
        free(name);
        return NULL;
    }
    h->client = client;
    h->name = name;
    h->port = u->port;
    h->tls = u->tls;
    h->conns.next = h->conns.prev = &h->conns;
    h->waiting.next = h->waiting.prev = &h->waiting;
    h->running.next = h->running.prev = &h->running;
    h->next = client->hosts;
    client->hosts = h;
    return h;
}

enum err http_client_send(struct http_client *client, const struct http_client_request *req,
                          void (*done)(void *arg, const struct http_reply *reply), void *arg,
                          struct http_call **out, struct errmsg *em)
{
    struct url u;
    enum err e = request_check(req, &u, em);
    if (e != ERR_OK) {
        return e;
    }
    struct host *h = find_host(client, &u);
    struct http_call *c = h != NULL ? calloc(1, sizeof(*c)) : NULL;
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->client = client;
    c->host = h;
    c->done = done;
    c->arg = arg;
    c->is_head = strcmp(req->method, "HEAD") == 0;
    c->idempotent =
        req->idempotent || (strcmp(req->method, "POST") != 0 && strcmp(req->method, "PATCH") != 0);
    buf_init(&c->out, NULL, BUF_UNLIMITED);
    reply_init(&c->in, c->is_head, client->opts.response_bytes_max);
    request_write(&c->out, req, &u);
    c->deadline = timer_start(client->timers, req->ms_max > 0 ? req->ms_max : 60000, call_too_late, c);
    if (c->out.failed || c->deadline == NULL) {
        call_free(c);
        return err_no_memory(em);
    }
    call_link(&h->waiting, c);
    host_pump(h);
    if (out != NULL) {
        *out = c;
    }
    return ERR_OK;
}

enum err http_client_new(struct http_client **out, const struct http_client_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct http_client *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->opts = *opts;
    c->opts.per_host_max = opts->per_host_max > 0 ? opts->per_host_max : 32;
    c->opts.connect_ms_max = opts->connect_ms_max > 0 ? opts->connect_ms_max : 5000;
    c->opts.idle_ms_max = opts->idle_ms_max > 0 ? opts->idle_ms_max : 30000;
    c->opts.response_bytes_max = opts->response_bytes_max > 0 ? opts->response_bytes_max : 100 * MIB;
    c->timers = loop_timers(opts->loop);
    *out = c;
    return ERR_OK;
}

void http_client_free(struct http_client *c)
{
    if (c == NULL) {
        return;
    }
    while (c->hosts != NULL) {
        struct host *h = c->hosts;
        while (h->waiting.next != &h->waiting) {
            struct http_call *call = h->waiting.next;
            call_unlink(call);
            call_free(call);
        }
        while (h->conns.next != &h->conns) {
            struct client_conn *n = h->conns.next;
            if (n->call != NULL) {
                call_free(conn_drop_call(n));
            } else {
                conn_free(n);
            }
        }
        c->hosts = h->next;
        free(h->name);
        free(h);
    }
    if (c->dns != NULL) {
        evdns_base_free(c->dns, 0);
    }
    free(c);
}
