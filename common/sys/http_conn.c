/* http_conn.c - one connection: its socket, the order of its answers, its end. */
#include "common/sys/http_conn.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES      (64 * KIB)
#define COPY_BYTES_MAX  (4 * KIB) /* a smaller body goes behind its head in one piece */
#define LINGER_MS       2000
#define CLOSE_LINE      "connection: close\r\n\r\n"
#define KEEP_ALIVE_LINE "connection: keep-alive\r\n\r\n"
#define CONTINUE_LINE   "HTTP/1.1 100 Continue\r\n\r\n"

void format_address(const struct sockaddr *a, char *out, size_t n)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        snprintf(out, n, "%s:%u", host, (unsigned)ntohs(in->sin_port));
    } else {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(const void *)a;
        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
        snprintf(out, n, "[%s]:%u", host, (unsigned)ntohs(in->sin6_port));
    }
}

bool conn_free_if_over(struct http_conn *c)
{
    if (c->bev != NULL || c->first != NULL || c->reading) {
        return false;
    }
    struct http_worker *w = c->worker;
    c->prev->next = c->next;
    c->next->prev = c->prev;
    w->conns_n--;
    free(c);
    worker_check_done(w);
    return true;
}

void conn_close(struct http_conn *c)
{
    if (c->bev == NULL) {
        return;
    }
    struct http_worker *w = c->worker;
    bufferevent_free(c->bev);
    c->bev = NULL;
    c->phase = PHASE_CLOSED;
    request_free(c->cur);
    c->cur = NULL;
    atomic_fetch_sub(&w->server->open, 1);
    atomic_fetch_sub(&w->load, 1);
    for (struct request *r = c->first; r != NULL; r = r->next) {
        if (r->answered) {
            continue;
        }
        atomic_store_explicit(&r->gone, true, memory_order_relaxed);
        void (*aborted)(void *) = r->aborted;
        r->aborted = NULL;
        if (aborted != NULL) {
            aborted(r->watch_arg);
        }
    }
}

static void free_sent(const void *data, UNUSED size_t n, void *alloc)
{
    alloc_put(alloc, UNCONST(void *, data)); /* libevent's: it gives back what it was given */
}

/* Moves an answer to `out`. false: no memory. */
static bool add_answer(struct evbuffer *out, struct request *r, bool close)
{
    struct buf *h = &r->out_head;
    const char *end = close ? CLOSE_LINE : r->http_1_0 ? KEEP_ALIVE_LINE : "\r\n";
    buf_z(h, end);
    if (h->failed) {
        return false;
    }
    size_t body_n = r->out_body_n;
    if (body_n > 0 && body_n <= COPY_BYTES_MAX) {
        buf_add(h, r->out_body.p, body_n);
        return !h->failed && evbuffer_add(out, h->p, h->n) == 0;
    }
    if (evbuffer_add(out, h->p, h->n) != 0) {
        return false;
    }
    if (body_n > 0) {
        const struct allocator *alloc = r->out_body.alloc;
        size_t n;
        char *p = buf_take(&r->out_body, &n);
        if (evbuffer_add_reference(out, p, body_n, free_sent, UNCONST(void *, alloc) /* libevent's */) != 0) {
            alloc_put(alloc, p);
            return false;
        }
    }
    return true;
}

/* Sends what was gathered. A plain socket with nothing queued takes it at once, without a turn of the loop.
 */
static void send_out(struct http_conn *c)
{
    struct evbuffer *out = c->worker->out;
    size_t n = evbuffer_get_length(out);
    if (n == 0) {
        return;
    }
    struct evbuffer *queued = bufferevent_get_output(c->bev);
    c->written += n;
    if (evbuffer_get_length(queued) == 0) {
        evbuffer_write(out, c->fd); /* an error shows again when the rest is written, or read */
    }
    if (evbuffer_get_length(out) > 0) {
        if (evbuffer_get_length(queued) == 0) {
            c->write_mark = c->written - evbuffer_get_length(out);
            c->write_deadline_ms =
                server_now_ms(c->worker->server) + c->worker->server->opts.limits.write_ms_max;
        }
        bufferevent_write_buffer(c->bev, out);
    }
}

/* Writes the answers whose turn it is. */
static void flush_answers(struct http_conn *c)
{
    struct http_worker *w = c->worker;
    bool failed = false;
    while (c->first != NULL && c->first->answered) {
        struct request *r = c->first;
        c->first = r->next;
        c->pending--;
        if (c->bev != NULL && !c->ending && !failed) {
            bool last = c->first == NULL && c->cur == NULL;
            bool close = r->close || (w->stopping && last);
            failed = !add_answer(w->out, r, close);
            c->ending = close;
        }
        request_free(r);
    }
    if (c->bev == NULL) {
        evbuffer_drain(w->out, evbuffer_get_length(w->out));
        return;
    }
    if (c->cur != NULL && c->cur->wants_continue && c->first == NULL) {
        c->cur->wants_continue = false;
        failed = failed || evbuffer_add(w->out, CONTINUE_LINE, sizeof(CONTINUE_LINE) - 1) != 0;
    }
    if (failed) {
        evbuffer_drain(w->out, evbuffer_get_length(w->out));
        conn_close(c);
        return;
    }
    send_out(c);
}

/* The last answer is with the kernel: close, or first let the client finish talking. */
static void end_writing(struct http_conn *c)
{
    if (!c->linger) {
        conn_close(c);
        return;
    }
    shutdown(c->fd, SHUT_WR);
    c->phase = PHASE_LINGER;
    c->deadline_ms = server_now_ms(c->worker->server) + LINGER_MS;
    evbuffer_drain(bufferevent_get_input(c->bev), evbuffer_get_length(bufferevent_get_input(c->bev)));
    bufferevent_enable(c->bev, EV_READ);
}

static bool unwritten(const struct http_conn *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->bev)) > 0;
}

static bool is_over(const struct http_conn *c)
{
    if (c->ending) {
        return true;
    }
    return c->worker->stopping && c->first == NULL && c->cur == NULL && c->phase <= PHASE_IDLE;
}

void conn_settle(struct http_conn *c)
{
    if (c->bev != NULL && c->phase != PHASE_LINGER && is_over(c) && !unwritten(c)) {
        end_writing(c);
    }
    if (c->bev == NULL) {
        flush_answers(c);
    }
    conn_free_if_over(c);
}

/* Was reading stopped, and may it go on? Its other half stops the socket, so that the client feels it. */
static bool resume(struct http_conn *c)
{
    if (c->bev == NULL || !c->paused || c->phase >= PHASE_CLOSED) {
        return false;
    }
    if (conn_must_pause(c)) {
        bufferevent_disable(c->bev, EV_READ);
        return false;
    }
    c->paused = false;
    http_parser_pause(&c->parser, 0);
    bufferevent_enable(c->bev, EV_READ);
    return true;
}

void conn_run(struct http_conn *c)
{
    do {
        if (c->bev != NULL) {
            c->reading = true;
            conn_parse(c);
            c->reading = false;
        }
        flush_answers(c);
    } while (resume(c));
    if (c->bev != NULL && c->phase == PHASE_IDLE && c->first == NULL && c->deadline_ms == INT64_MAX
        && c->worker->server->opts.limits.idle_ms_max > 0) {
        c->deadline_ms = server_now_ms(c->worker->server) + c->worker->server->opts.limits.idle_ms_max;
    }
    conn_settle(c);
}

void conn_answered(struct loop_task *t)
{
    struct request *r = (struct request *)(void *)((char *)t - offsetof(struct request, task));
    struct http_conn *c = r->conn;
    r->answered = true;
    if (c->first == r) {
        conn_run(c);
    }
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct http_conn *c = arg;
    if (c->phase >= PHASE_CLOSED) {
        struct evbuffer *in = bufferevent_get_input(bev);
        evbuffer_drain(in, evbuffer_get_length(in));
        return;
    }
    conn_run(c);
}

static void on_written(UNUSED struct bufferevent *bev, void *arg)
{
    conn_run(arg);
}

static void on_event(UNUSED struct bufferevent *bev, short what, void *arg)
{
    struct http_conn *c = arg;
    if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0) {
        conn_close(c);
        conn_settle(c);
    }
}

/* The connection of a worker that another may have the place of; NULL: all wait for answers. */
static struct http_conn *least_wanted(struct http_worker *w)
{
    struct http_conn *idle = NULL, *slow = NULL;
    for (struct http_conn *c = w->conns.next; c != &w->conns; c = c->next) {
        if (c->bev == NULL || c->first != NULL || c->reading) {
            continue;
        }
        if (c->phase <= PHASE_IDLE) {
            idle = idle == NULL || c->idle_ms < idle->idle_ms ? c : idle;
        } else if (
            c->phase
            <= PHASE_BODY) { /* the limits of heads and bodies are alike: the first to pass its own came least far */
            slow = slow == NULL || c->deadline_ms < slow->deadline_ms ? c : slow;
        }
    }
    return idle != NULL ? idle : slow;
}

/* With as many connections as there may be, the one that has asked for nothing for the longest gives way, or one whose request
 * does not come. false: all are busy. */
static bool make_room(struct http_worker *w)
{
    struct http_server *s = w->server;
    if (atomic_load(&s->open) <= s->opts.limits.connections_max) { /* the new one is counted */
        return true;
    }
    struct http_conn *one = least_wanted(w);
    if (one == NULL) {
        atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
        return false;
    }
    conn_close(one);
    w->conns_n++; /* the worker stays */
    conn_free_if_over(one);
    w->conns_n--;
    return true;
}

void conn_open(struct http_worker *w, evutil_socket_t fd, const struct sockaddr *peer)
{
    struct http_conn *c = w->stopping || !make_room(w) ? NULL : calloc(1, sizeof(*c));
    struct bufferevent *bev =
        c != NULL ? bufferevent_socket_new(loop_base(w->loop), fd, BEV_OPT_CLOSE_ON_FREE) : NULL;
    if (bev == NULL) {
        free(c);
        evutil_closesocket(fd);
        atomic_fetch_sub(&w->server->open, 1);
        atomic_fetch_sub(&w->load, 1);
        return;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    c->worker = w;
    c->bev = bev;
    c->fd = fd;
    format_address(peer, c->peer, sizeof(c->peer));
    conn_parser_init(c);
    c->idle_ms = server_now_ms(w->server);
    c->deadline_ms = c->idle_ms + w->server->opts.limits.header_ms_max;
    c->next = &w->conns;
    c->prev = w->conns.prev;
    c->prev->next = c;
    w->conns.prev = c;
    w->conns_n++;
    bufferevent_set_max_single_read(bev, READ_BYTES);
    bufferevent_setcb(bev, on_read, on_written, on_event, c);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    worker_sweep_on(w);
}
