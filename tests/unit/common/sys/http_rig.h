/* http_rig.h - an HTTP server on its loops, and clients of raw sockets. For the tests of the server alone. */
#ifndef TESTS_HTTP_RIG_H
#define TESTS_HTTP_RIG_H

#include "common/settings/setting_registry.h"
#include "common/sys/http_server.h"

#include "common/base/rand.h"
#include "common/sys/pool.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define HELD_MAX 16

struct server {
    struct loop *loops[2];
    unsigned loops_n;
    struct http_server *http;
    atomic_int aborted, released, handled;
    /* requests to "/hold" wait here for test threads to answer them */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct http_request *held[HELD_MAX];
    size_t held_n;
    bool stopped;
    struct pool
        *pool; /* that answers are packed on: its threads write to the loops until they end; NULL: none */
};

static inline void count_abort(void *arg)
{
    atomic_fetch_add(&((struct server *)arg)->aborted, 1);
}

static inline void count_release(void *arg)
{
    atomic_fetch_add(&((struct server *)arg)->released, 1);
}

static inline struct buf text(const char *s)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, s);
    return b;
}

/* "/echo": the request's parts; "/big?n": n bytes; "/hold": answered by the test, "/hold?longer": and released by it; "/nothing": 204;
 * "/refused": 429, for which there was no memory to say why. */
static inline void handle(void *self, struct http_request *req)
{
    struct server *s = self;
    atomic_fetch_add(&s->handled, 1);
    ck_assert(loop_inside(req->loop));
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (str_is(req->path, "/hold")) {
        http_watch(req, count_abort, count_release, s);
        if (str_is(req->query, "longer")) {
            http_request_ref(req);
        }
        pthread_mutex_lock(&s->mutex);
        s->held[s->held_n++] = req;
        pthread_cond_broadcast(&s->cond);
        pthread_mutex_unlock(&s->mutex);
        return;
    }
    if (str_is(req->path, "/nothing")) {
        http_respond(req, 204, NULL, NULL, 0, NULL);
        return;
    }
    if (str_is(req->path, "/refused")) {
        http_respond(req, 429, NULL, NULL, 0, NULL);
        return;
    }
    if (str_is(req->path, "/big")) {
        size_t n = (size_t)strtoul(req->query.p, NULL, 10);
        char *p = buf_reserve(&b, n);
        for (size_t i = 0; i < n; i++) {
            p[i] = (char)('a' + i % 23);
        }
        b.n = n;
        http_respond(req, 200, "text/plain", NULL, 0, &b);
        return;
    }
    const struct str *x = http_header_find(req->headers, req->headers_n, "x-test");
    buf_printf(&b, "%.*s|%.*s|%.*s|%.*s|%.*s", STR_ARG(req->method_name), STR_ARG(req->path),
               STR_ARG(req->query), STR_ARG(req->body), x != NULL ? (int)x->n : 0, x != NULL ? x->p : "");
    struct http_header h = {STR("x-echo"), x != NULL ? *x : STR("none")};
    http_respond(req, 200, "text/plain", &h, 1, &b);
}

static inline struct http_server_opts options(struct server *s)
{
    return (struct http_server_opts){.loops = s->loops,
                                     .loops_n = s->loops_n,
                                     .ports = "0",
                                     .compression = true,
                                     .handle = handle,
                                     .self = s};
}

static inline void server_init(struct server *s, unsigned loops)
{
    memset(s, 0, sizeof(*s));
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->cond, NULL);
    s->loops_n = loops;
    for (unsigned i = 0; i < loops; i++) {
        ck_assert_int_eq(loop_new(&s->loops[i], "http", NULL), ERR_OK);
    }
}

static inline void server_run(struct server *s, const struct http_server_opts *o)
{
    ERR_LOCAL(em);
    enum err e = http_server_new(&s->http, o, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    for (unsigned i = 0; i < s->loops_n; i++) {
        ck_assert_int_eq(loop_start(s->loops[i], NULL), ERR_OK);
    }
}

static inline void server_open(struct server *s)
{
    server_init(s, 2);
    struct http_server_opts o = options(s);
    server_run(s, &o);
}

static inline void on_stopped(void *arg)
{
    struct server *s = arg;
    pthread_mutex_lock(&s->mutex);
    s->stopped = true;
    pthread_cond_broadcast(&s->cond);
    pthread_mutex_unlock(&s->mutex);
}

static inline void server_wait_stopped(struct server *s)
{
    pthread_mutex_lock(&s->mutex);
    while (!s->stopped) {
        pthread_cond_wait(&s->cond, &s->mutex);
    }
    pthread_mutex_unlock(&s->mutex);
}

static inline void server_close(struct server *s)
{
    if (!s->stopped) {
        http_server_stop(s->http, 1000, on_stopped, s);
        server_wait_stopped(s);
    }
    for (unsigned i = 0; i < s->loops_n; i++) {
        loop_stop(s->loops[i]);
        loop_join(s->loops[i]);
    }
    struct http_server_stats st;
    http_server_stats(s->http, &st);
    ck_assert_uint_eq(st.current_open, 0);
    ck_assert_uint_eq(st.inflight_bytes, 0);
    http_server_free(s->http);
    pool_free(s->pool);
    for (unsigned i = 0; i < s->loops_n; i++) {
        loop_free(s->loops[i]);
    }
}

static inline struct http_request *take_held(struct server *s)
{
    pthread_mutex_lock(&s->mutex);
    while (s->held_n == 0) {
        pthread_cond_wait(&s->cond, &s->mutex);
    }
    struct http_request *r = s->held[0];
    memmove(s->held, s->held + 1, --s->held_n * sizeof(s->held[0]));
    pthread_mutex_unlock(&s->mutex);
    return r;
}

static inline void wait_for(atomic_int *v, int want)
{
    for (int i = 0; i < 300000 && atomic_load(v) < want; i++) {
        usleep(1000);
    }
    ck_assert_int_eq(atomic_load(v), want);
}

static inline int dial(const struct server *s)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(s->http))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    struct timeval tv = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    return fd;
}

static inline void say(int fd, struct str s)
{
    while (s.n > 0) {
        ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
        if (n <= 0) {
            return; /* refused half-way: the answer tells */
        }
        s = str_slice(s, (size_t)n, s.n);
    }
}

/* Reads until `n` bytes more are there or the server closes; false then. */
static inline bool hear_more(int fd, struct buf *b, size_t n)
{
    size_t want = b->n + n;
    while (b->n < want) {
        char *p = buf_reserve(b, 65536);
        ssize_t got = recv(fd, p, 65536, 0);
        if (got <= 0) {
            return false;
        }
        b->n += (size_t)got;
        b->p[b->n] = '\0';
    }
    return true;
}

/* Everything until the server closes. */
static inline struct buf hear_all(int fd)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, "");
    while (hear_more(fd, &b, 1)) {
    }
    return b;
}

struct answer {
    struct buf raw;
    int status;
    struct str head, body;
};

/* One answer, leaving what follows in `rest` (a running buffer of the connection). */
static inline void hear_one(int fd, struct buf *rest, struct answer *a, bool head_only)
{
    size_t end;
    buf_z(rest, "");
    while ((end = str_find_str(buf_view(rest), STR("\r\n\r\n"))) == SIZE_MAX) {
        ck_assert_msg(hear_more(fd, rest, 1), "closed after [%s]", rest->p);
    }
    const char *length = strstr(rest->p, "content-length: ");
    size_t n = head_only || length == NULL || length > rest->p + end ? 0 : strtoul(length + 16, NULL, 10);
    while (rest->n < end + 4 + n) {
        ck_assert(hear_more(fd, rest, 1));
    }
    buf_init(&a->raw, NULL, BUF_UNLIMITED);
    buf_add(&a->raw, rest->p, end + 4 + n);
    a->status = atoi(a->raw.p + 9);
    a->head = str_mk(a->raw.p, end + 4);
    a->body = str_mk(a->raw.p + end + 4, n);
    size_t left = rest->n - (end + 4 + n);
    memmove(rest->p, rest->p + end + 4 + n, left);
    buf_truncate(rest, left);
}

/* One request on a connection of its own that the server closes. */
static inline struct buf exchange(struct server *s, struct str request)
{
    int fd = dial(s);
    say(fd, request);
    struct buf b = hear_all(fd);
    close(fd);
    return b;
}

#define HAS(b, s)     ck_assert_msg(strstr((b).p, s) != NULL, "[%s] is not in [%s]", s, (b).p)
#define HAS_NOT(b, s) ck_assert_msg(strstr((b).p, s) == NULL, "[%s] is in [%s]", s, (b).p)

static inline void expect(struct server *s, const char *request, const char *first_line, const char *part)
{
    struct buf b = exchange(s, str_of(request));
    ck_assert_msg(strncmp(b.p, first_line, strlen(first_line)) == 0, "[%.300s] gave [%s]", request, b.p);
    if (part != NULL) {
        HAS(b, part);
    }
    buf_fini(&b);
}

#endif
