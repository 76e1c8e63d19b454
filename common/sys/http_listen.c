/* http_listen.c - addresses, ports, and dealing what is accepted to the workers. */
#include "common/base/num.h"
#include "common/sys/http_conn.h"

#include <errno.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#define BACKLOG         1024
#define ADDRESSES_MAX   16
#define LISTEN_AGAIN_MS 100

struct accepted { /* on its way to its worker's loop */
    struct http_worker *worker;
    evutil_socket_t fd;
    struct sockaddr_storage peer;
};

static void deliver(void *arg)
{
    struct accepted *a = arg;
    conn_open(a->worker, a->fd, (const struct sockaddr *)&a->peer);
    free(a);
}

static struct http_worker *least_loaded(struct http_server *s)
{
    struct http_worker *best = &s->workers[0];
    for (unsigned i = 1; i < s->opts.loops_n; i++) {
        if (atomic_load(&s->workers[i].load) < atomic_load(&best->load)) {
            best = &s->workers[i];
        }
    }
    return best;
}

static struct http_worker *most_loaded(struct http_server *s)
{
    struct http_worker *best = &s->workers[0];
    for (unsigned i = 1; i < s->opts.loops_n; i++) {
        if (atomic_load(&s->workers[i].load) > atomic_load(&best->load)) {
            best = &s->workers[i];
        }
    }
    return best;
}

static void on_accept(UNUSED struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *peer, int n,
                      void *arg)
{
    struct http_server *s = arg;
    bool full = atomic_load(&s->open) >= s->opts.limits.connections_max;
    struct http_worker *w = full ? most_loaded(s) : least_loaded(s); /* where there is the most to give way */
    atomic_fetch_add(&s->open, 1);
    atomic_fetch_add(&s->total_opened, 1);
    atomic_fetch_add(&w->load, 1);
    if (w->index == 0) {
        conn_open(w, fd, peer);
        return;
    }
    struct accepted *a = malloc(sizeof(*a));
    if (a != NULL) {
        *a = (struct accepted){.worker = w, .fd = fd};
        memcpy(&a->peer, peer, MIN_OF((size_t)n, sizeof(a->peer)));
    }
    if (a == NULL || !loop_post(w->loop, deliver, a)) {
        free(a);
        atomic_fetch_sub(&s->open, 1);
        atomic_fetch_sub(&w->load, 1);
        evutil_closesocket(fd);
    }
}

static void listen_again(void *arg)
{
    struct http_server *s = arg;
    s->listen_again = NULL;
    for (size_t i = 0; i < s->listeners_n; i++) {
        evconnlistener_enable(s->listeners[i]);
    }
}

/* Out of descriptors, most likely: the listener would report it without end. Rest a while. */
static void on_accept_error(UNUSED struct evconnlistener *l, void *arg)
{
    struct http_server *s = arg;
    log_warn(s->opts.log, "http", "accept: %s", evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    if (s->listen_again == NULL) {
        s->listen_again = timer_start(loop_timers(s->opts.loops[0]), LISTEN_AGAIN_MS, listen_again, s);
    }
    for (size_t i = 0; i < s->listeners_n && s->listen_again != NULL; i++) {
        evconnlistener_disable(s->listeners[i]);
    }
}

struct places { /* where to listen; the ports are filled in */
    struct sockaddr_storage v[ADDRESSES_MAX];
    size_t n;
};

static enum err listen_resolve(const struct str *hosts, size_t n, struct places *out, struct errmsg *em)
{
    static const struct str here = {"127.0.0.1", 9};
    out->n = 0;
    for (size_t i = 0; i < MAX_OF(n, (size_t)1); i++) {
        char host[256];
        struct str h = n > 0 ? hosts[i] : here;
        snprintf(host, sizeof(host), "%.*s", STR_ARG(h));
        struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *list = NULL;
        int rc = getaddrinfo(host, NULL, &hints, &list);
        if (rc != 0) {
            return err_set(em, ERR_IO, "cannot resolve [%s]: %s", host, gai_strerror(rc));
        }
        for (const struct addrinfo *a = list; a != NULL && out->n < ADDRESSES_MAX; a = a->ai_next) {
            if (a->ai_family == AF_INET || a->ai_family == AF_INET6) {
                memcpy(&out->v[out->n++], a->ai_addr, a->ai_addrlen);
            }
        }
        freeaddrinfo(list);
    }
    return ERR_OK;
}

static void set_port(struct sockaddr_storage *a, unsigned port)
{
    if (a->ss_family == AF_INET) {
        ((struct sockaddr_in *)(void *)a)->sin_port = htons((uint16_t)port);
    } else {
        ((struct sockaddr_in6 *)(void *)a)->sin6_port = htons((uint16_t)port);
    }
}

static unsigned get_port(const struct sockaddr_storage *a)
{
    return ntohs(a->ss_family == AF_INET ? ((const struct sockaddr_in *)(const void *)a)->sin_port
                                         : ((const struct sockaddr_in6 *)(const void *)a)->sin6_port);
}

static socklen_t address_size(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* A bound socket for one place, or -1 with errno. Another listener on the port must make it fail: no
 * SO_REUSEPORT. */
static int bind_one(const struct sockaddr_storage *a)
{
    int fd = socket(a->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)); /* only past connections in TIME_WAIT */
    if (a->ss_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    if (bind(fd, (const struct sockaddr *)a, address_size(a)) == 0 && listen(fd, BACKLOG) == 0) {
        return fd;
    }
    int errnum = errno;
    evutil_closesocket(fd);
    errno = errnum;
    return -1;
}

/* All places on one port, or none: 0, or errno with *culprit. Port 0 becomes what the first place was given.
 */
static int bind_all(struct places *p, unsigned port, int *fds, size_t *culprit)
{
    for (size_t i = 0; i < p->n; i++) {
        set_port(&p->v[i], port);
        fds[i] = bind_one(&p->v[i]);
        socklen_t size = sizeof(p->v[i]);
        if (fds[i] >= 0 && port == 0 && getsockname(fds[i], (struct sockaddr *)&p->v[i], &size) == 0) {
            port = get_port(&p->v[i]);
        }
        if (fds[i] < 0) {
            int errnum = errno;
            *culprit = i;
            while (i > 0) {
                evutil_closesocket(fds[--i]);
            }
            return errnum;
        }
    }
    return 0;
}

/* "9200" or "9200-9300". */
static enum err parse_ports(const char *text, unsigned *from, unsigned *to, struct errmsg *em)
{
    struct str rest, first = str_cut(str_of(text), '-', &rest);
    int64_t a, b;
    bool ok = num_parse_i64(first, &a);
    b = a;
    ok = ok && (rest.p == NULL || num_parse_i64(rest, &b));
    if (!ok || a < 0 || b > 65535 || a > b || (a == 0 && b != 0)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid port range [%s]", text);
    }
    *from = (unsigned)a;
    *to = (unsigned)b;
    return ERR_OK;
}

static enum err add_listener(struct http_server *s, const struct sockaddr_storage *a, int fd,
                             struct errmsg *em)
{
    struct evconnlistener *l = evconnlistener_new(loop_base(s->opts.loops[0]), on_accept, s,
                                                  LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    if (l == NULL) {
        evutil_closesocket(fd);
        return err_no_memory(em);
    }
    evconnlistener_set_error_cb(l, on_accept_error);
    char text[64];
    format_address((const struct sockaddr *)a, text, sizeof(text));
    s->listeners[s->listeners_n] = l;
    s->addresses[s->listeners_n] = arena_str(&s->arena, str_of(text));
    return s->addresses[s->listeners_n++].p != NULL ? ERR_OK : err_no_memory(em);
}

enum err server_listen(struct http_server *s, struct errmsg *em)
{
    struct places places;
    int fds[ADDRESSES_MAX];
    unsigned from = 0, to = 0;
    enum err e = parse_ports(s->opts.ports, &from, &to, em);
    e = e == ERR_OK ? listen_resolve(s->opts.hosts, s->opts.hosts_n, &places, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    s->listeners = ARENA_ARRAY(&s->arena, struct evconnlistener *, places.n);
    s->addresses = ARENA_ARRAY(&s->arena, struct str, places.n);
    if (s->listeners == NULL || s->addresses == NULL) {
        return err_no_memory(em);
    }
    int errnum = EADDRINUSE;
    size_t culprit = 0;
    for (unsigned port = from; port <= to && errnum == EADDRINUSE; port++) {
        errnum = bind_all(&places, port, fds, &culprit);
    }
    if (errnum != 0) {
        char text[64], what[160];
        format_address((const struct sockaddr *)&places.v[culprit], text, sizeof(text));
        snprintf(what, sizeof(what), "Failed to bind to %s (http.port [%s])", text, s->opts.ports);
        return err_errno(em, errnum, what);
    }
    s->port = get_port(&places.v[0]);
    for (size_t i = 0; i < places.n; i++) {
        enum err added = e == ERR_OK ? add_listener(s, &places.v[i], fds[i], em) : ERR_INTERNAL;
        if (e != ERR_OK) {
            evutil_closesocket(fds[i]);
        } else {
            e = added;
        }
    }
    return e;
}

void server_unlisten(struct http_server *s)
{
    for (size_t i = 0; i < s->listeners_n; i++) {
        evconnlistener_free(s->listeners[i]);
    }
    s->listeners_n = 0;
    timer_cancel(loop_timers(s->opts.loops[0]), s->listen_again);
    s->listen_again = NULL;
}
