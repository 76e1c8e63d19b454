/* The HTTP server against raw sockets: what it must take, what it must refuse, and how it ends. */
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
};

static void count_abort(void *arg)
{
    atomic_fetch_add(&((struct server *)arg)->aborted, 1);
}

static void count_release(void *arg)
{
    atomic_fetch_add(&((struct server *)arg)->released, 1);
}

static struct buf text(const char *s)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, s);
    return b;
}

/* "/echo": the request's parts; "/big?n": n bytes; "/hold": answered by the test, "/hold?longer": and released by it; "/nothing": 204;
 * "/refused": 429, for which there was no memory to say why. */
static void handle(void *self, struct http_request *req)
{
    struct server *s = self;
    atomic_fetch_add(&s->handled, 1);
    ck_assert(loop_inside(req->loop));
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (str_is(req->path, "/hold")) {
        http_watch(req, count_abort, count_release, s);
        if (str_is(req->query, "longer")) {
            http_hold(req);
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

static struct http_server_opts options(struct server *s)
{
    return (struct http_server_opts){.loops = s->loops,
                                     .loops_n = s->loops_n,
                                     .ports = "0",
                                     .compression = true,
                                     .handle = handle,
                                     .self = s};
}

static void server_init(struct server *s, unsigned loops)
{
    memset(s, 0, sizeof(*s));
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->cond, NULL);
    s->loops_n = loops;
    for (unsigned i = 0; i < loops; i++) {
        ck_assert_int_eq(loop_new(&s->loops[i], "http", NULL), ERR_OK);
    }
}

static void server_run(struct server *s, const struct http_server_opts *o)
{
    struct errmsg em = {0};
    enum err e = http_server_new(&s->http, o, &em);
    ck_assert_msg(e == ERR_OK, "%s", em.frame[0].reason);
    for (unsigned i = 0; i < s->loops_n; i++) {
        ck_assert_int_eq(loop_start(s->loops[i], NULL), ERR_OK);
    }
}

static void server_open(struct server *s)
{
    server_init(s, 2);
    struct http_server_opts o = options(s);
    server_run(s, &o);
}

static void on_stopped(void *arg)
{
    struct server *s = arg;
    pthread_mutex_lock(&s->mutex);
    s->stopped = true;
    pthread_cond_broadcast(&s->cond);
    pthread_mutex_unlock(&s->mutex);
}

static void server_wait_stopped(struct server *s)
{
    pthread_mutex_lock(&s->mutex);
    while (!s->stopped) {
        pthread_cond_wait(&s->cond, &s->mutex);
    }
    pthread_mutex_unlock(&s->mutex);
}

static void server_close(struct server *s)
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
    for (unsigned i = 0; i < s->loops_n; i++) {
        loop_free(s->loops[i]);
    }
}

static struct http_request *take_held(struct server *s)
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

static void wait_for(atomic_int *v, int want)
{
    for (int i = 0; i < 300000 && atomic_load(v) < want; i++) {
        usleep(1000);
    }
    ck_assert_int_eq(atomic_load(v), want);
}

static int dial(const struct server *s)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(s->http))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    struct timeval tv = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    return fd;
}

static void say(int fd, struct str s)
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
static bool hear_more(int fd, struct buf *b, size_t n)
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
static struct buf hear_all(int fd)
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
static void hear_one(int fd, struct buf *rest, struct answer *a, bool head_only)
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
static struct buf exchange(struct server *s, struct str request)
{
    int fd = dial(s);
    say(fd, request);
    struct buf b = hear_all(fd);
    close(fd);
    return b;
}

#define HAS(b, s)     ck_assert_msg(strstr((b).p, s) != NULL, "[%s] is not in [%s]", s, (b).p)
#define HAS_NOT(b, s) ck_assert_msg(strstr((b).p, s) == NULL, "[%s] is in [%s]", s, (b).p)

static void expect(struct server *s, const char *request, const char *first_line, const char *part)
{
    struct buf b = exchange(s, str_of(request));
    ck_assert_msg(strncmp(b.p, first_line, strlen(first_line)) == 0, "[%.300s] gave [%s]", request, b.p);
    if (part != NULL) {
        HAS(b, part);
    }
    buf_fini(&b);
}

START_TEST(methods_targets_and_bodies)
{
    struct server s;
    server_open(&s);
    static const char *const methods[] = {"GET", "DELETE", "POST", "PUT", "OPTIONS", "PATCH"};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        char request[256], want[64];
        snprintf(request, sizeof(request),
                 "%s /a%%20b?x=1&y HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Test:  v 1 \r\n"
                 "Content-Length: 4\r\n\r\nbody",
                 methods[i]);
        snprintf(want, sizeof(want), "\r\n\r\n%s|/a%%20b|x=1&y|body|v 1", methods[i]);
        expect(&s, request, "HTTP/1.1 200 OK\r\nx-echo: v 1\r\ncontent-type: text/plain\r\n", want);
    }
    expect(&s, "GET http://other/p?q HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "GET|/p|q||");
    expect(&s, "GET http://other HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "GET|/|||");
    expect(&s, "OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "OPTIONS|*|||");
    expect(&s, "GET /a?b#c HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "connection: close\r\n\r\nGET|/a|b||");
    expect(&s, "\r\n\r\nGET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "GET|/|||");
    expect(&s, "GET /nothing HTTP/1.0\r\n\r\n", "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n", NULL);
    expect(&s,
           "POST /c HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
           "3\r\nabc\r\n5;ext=1\r\ndefgh\r\n0\r\nTrailer: x\r\n\r\n",
           "HTTP/1.1 200", "POST|/c||abcdefgh|");
    /* an offer of HTTP/2 is declined by going on */
    expect(&s,
           "POST /u HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n"
           "HTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 2\r\n\r\nhi",
           "HTTP/1.1 200", "POST|/u||hi|");
    expect(&s, "CONNECT h:1 HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "CONNECT|h:1|");
    server_close(&s);
}
END_TEST

START_TEST(head_has_length_but_no_body)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    say(fd, STR("HEAD /big?5000 HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\nGET /x HTTP/1.1\r\n\r\n"));
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    struct answer a;
    hear_one(fd, &rest, &a, true);
    HAS(a.raw, "content-length: 5000\r\n");
    HAS_NOT(a.raw, "gzip");
    buf_fini(&a.raw);
    hear_one(fd, &rest, &a, false);
    ck_assert(str_is(a.body, "GET|/x|||"));
    buf_fini(&a.raw);
    buf_fini(&rest);
    close(fd);
    server_close(&s);
}
END_TEST

START_TEST(a_refusal_always_says_why)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    struct buf rest;
    struct answer a;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    say(fd, STR("GET /refused HTTP/1.1\r\n\r\n"));
    hear_one(fd, &rest, &a, false);
    HAS(a.raw, "content-type: application/json; charset=UTF-8\r\n");
    HAS(a.raw, "\"type\":\"circuit_breaking_exception\"");
    HAS(a.raw, "\"durability\":\"TRANSIENT\"");
    buf_fini(&a.raw);
    buf_fini(&rest);
    close(fd);
    server_close(&s);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    struct buf all;
    buf_init(&all, NULL, BUF_UNLIMITED);
    for (int i = 0; i < 3; i++) {
        buf_z(&all, "GET /hold HTTP/1.1\r\n\r\n");
    }
    for (int i = 0; i < 500; i++) {
        buf_printf(&all, "GET /%d HTTP/1.1\r\n\r\n", i);
    }
    say(fd, buf_view(&all));
    struct http_request *held[3] = {take_held(&s), take_held(&s), take_held(&s)};
    wait_for(&s.handled, 503);
    for (int i = 2; i >= 0; i--) { /* last first, from another thread */
        char word[16];
        snprintf(word, sizeof(word), "held %d", i);
        struct buf b = text(word);
        http_respond(held[i], 201, "text/plain", NULL, 0, &b);
        ck_assert_ptr_null(b.p);
        usleep(1000);
    }
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    for (int i = 0; i < 503; i++) {
        struct answer a;
        char word[32];
        snprintf(word, sizeof(word), i < 3 ? "held %d" : "GET|/%d|||", i < 3 ? i : i - 3);
        hear_one(fd, &rest, &a, false);
        ck_assert_int_eq(a.status, i < 3 ? 201 : 200);
        ck_assert_msg(str_is(a.body, word), "%.*s", STR_ARG(a.body));
        buf_fini(&a.raw);
    }
    wait_for(&s.released, 3);
    ck_assert_int_eq(atomic_load(&s.aborted), 0);
    buf_fini(&all);
    buf_fini(&rest);
    close(fd);
    server_close(&s);
}
END_TEST

START_TEST(reading_stops_at_the_pipelining_limit)
{
    struct server s;
    server_init(&s, 1);
    struct http_server_opts o = options(&s);
    o.limits.pipelined_max = 2;
    server_run(&s, &o);
    int fd = dial(&s);
    for (int i = 0; i < 6; i++) {
        say(fd, STR("GET /hold HTTP/1.1\r\n\r\n"));
    }
    wait_for(&s.handled, 2);
    usleep(30000);
    ck_assert_int_eq(atomic_load(&s.handled), 2);
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    for (int i = 0; i < 6; i++) {
        http_respond(take_held(&s), 200, NULL, NULL, 0, NULL);
        struct answer a;
        hear_one(fd, &rest, &a, false);
        buf_fini(&a.raw);
    }
    buf_fini(&rest);
    close(fd);
    server_close(&s);
}
END_TEST

/* The same stream cut in two at every position, and byte by byte, gives the same answers. */
START_TEST(bytes_may_be_split_anywhere)
{
    static const char stream[] =
        "POST /one?a=b HTTP/1.1\r\nX-Test: some value\r\nContent-Length: 5\r\n\r\nhello"
        "POST /two HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-Test: t\r\n\r\n"
        "4\r\nwxyz\r\n0\r\n\r\n"
        "GET /three HTTP/1.1\r\nConnection: close\r\n\r\n";
    struct server s;
    server_open(&s);
    struct buf want = exchange(&s, STR(stream));
    HAS(want, "POST|/one|a=b|hello|some value");
    HAS(want, "POST|/two||wxyz|t");
    HAS(want, "GET|/three|||");
    for (size_t cut = 1; cut < sizeof(stream); cut++) {
        int fd = dial(&s);
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof(on));
        say(fd, str_slice(STR(stream), 0, cut));
        usleep(cut % 8 == 0 ? 2000 : 200);
        say(fd, str_slice(STR(stream), cut, sizeof(stream) - 1));
        struct buf got = hear_all(fd);
        ck_assert_msg(str_eq(buf_view(&got), buf_view(&want)), "cut at %zu: [%s]", cut, got.p);
        buf_fini(&got);
        close(fd);
    }
    buf_fini(&want);
    server_close(&s);
}
END_TEST

START_TEST(malformed_requests_get_400_and_a_close)
{
    struct server s;
    server_open(&s);
    static const char *const bad[] = {
        "GARBAGE\r\n\r\n",
        "GET\r\n\r\n",
        "GET / FTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nBad Header\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\x01: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: abc\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct buf b = exchange(&s, str_of(bad[i]));
        ck_assert_msg(strncmp(b.p, "HTTP/1.1 40", 11) == 0, "[%s] gave [%s]", bad[i], b.p);
        HAS(b, "\"status\":40");
        HAS(b, "connection: close\r\n");
        HAS(b, "content-type: application/json; charset=UTF-8\r\n");
        buf_fini(&b);
    }
    expect(&s, "FOO / HTTP/1.1\r\n\r\n", "HTTP/1.1 405",
           "{\"error\":\"Unexpected http method\",\"status\":405}");
    ck_assert_int_eq(atomic_load(&s.handled), 0);
    /* requests before the bad one are answered first */
    struct buf b = exchange(&s, STR("GET /good HTTP/1.1\r\n\r\nBAD\r\n\r\n"));
    HAS(b, "GET|/good|||HTTP/1.1 40");
    buf_fini(&b);
    server_close(&s);
}
END_TEST

START_TEST(limits_are_kept)
{
    struct server s;
    server_init(&s, 2);
    struct http_server_opts o = options(&s);
    o.limits.body_bytes_max = 10000;
    o.limits.inflated_bytes_max = 20000;
    server_run(&s, &o);
    static char big[40000];
    memset(big, 'x', sizeof(big) - 1);
    struct buf r;
    buf_init(&r, NULL, BUF_UNLIMITED);
    buf_printf(&r, "GET /%.5000s HTTP/1.1\r\n\r\n", big);
    expect(&s, r.p, "HTTP/1.1 400",
           "\"type\":\"too_long_frame_exception\",\"reason\":\"An HTTP line is larger than 4096 bytes.\"");
    buf_reset(&r);
    buf_printf(&r, "GET / HTTP/1.1\r\nX: %.9000s\r\n\r\n", big);
    expect(&s, r.p, "HTTP/1.1 400", "HTTP header is larger than 8192 bytes.");
    buf_reset(&r);
    buf_printf(&r, "GET /%.4000s HTTP/1.0\r\nX-Test: %.8000s\r\n\r\n", big, big);
    expect(&s, r.p, "HTTP/1.1 200", NULL);
    const char *empty = "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    expect(&s, "POST / HTTP/1.1\r\nContent-Length: 10001\r\n\r\n", empty, NULL);
    expect(&s, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 10001\r\n\r\n", empty, NULL);
    buf_reset(&r);
    buf_printf(&r, "POST / HTTP/1.1\r\nContent-Length: 30000\r\n\r\n%.30000s", big);
    expect(&s, r.p, empty, NULL); /* and the client may finish talking */
    buf_reset(&r);
    buf_printf(&r,
               "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n%.8192s\r\n2000\r\n%.8192s\r\n",
               big, big);
    expect(&s, r.p, empty, NULL);
    buf_reset(&r);
    buf_printf(&r, "POST / HTTP/1.0\r\nContent-Length: 10000\r\n\r\n%.10000s", big);
    expect(&s, r.p, "HTTP/1.1 200", NULL);
    struct buf zip; /* a bomb */
    buf_init(&zip, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(http_gzip(str_mk(big, 39000), 6, &zip, NULL), ERR_OK);
    buf_reset(&r);
    buf_printf(&r, "POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", zip.n);
    buf_add(&r, zip.p, zip.n);
    struct buf b = exchange(&s, buf_view(&r));
    HAS(b, empty);
    buf_fini(&b);
    buf_fini(&zip);
    buf_fini(&r);
    server_close(&s);
}
END_TEST

START_TEST(bodies_in_flight_are_bounded)
{
    struct server s;
    server_init(&s, 1);
    struct http_server_opts o = options(&s);
    o.limits.inflight_bytes_max = 1000;
    server_run(&s, &o);
    static char big[700];
    memset(big, 'x', sizeof(big) - 1);
    struct buf r;
    buf_init(&r, NULL, BUF_UNLIMITED);
    buf_printf(&r, "POST /hold HTTP/1.1\r\nConnection: close\r\nContent-Length: 600\r\n\r\n%.600s", big);
    int fd = dial(&s);
    say(fd, buf_view(&r));
    struct http_request *held = take_held(&s);
    expect(
        &s, r.p, "HTTP/1.1 429",
        "\"type\":\"circuit_breaking_exception\",\"reason\":\"[in_flight_requests] Data too large, data for "
        "[<http_request>] would be [1200/1.1kb], which is larger than the limit of [1000/1000b]\","
        "\"bytes_wanted\":1200,\"bytes_limit\":1000,\"durability\":\"TRANSIENT\"},\"status\":429}");
    http_respond(held, 200, NULL, NULL, 0, NULL);
    struct buf b = hear_all(fd);
    HAS(b, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n");
    buf_fini(&b);
    buf_fini(&r);
    close(fd);
    server_close(&s);
}
END_TEST

START_TEST(continue_is_sent_when_it_is_its_turn)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    struct answer a;
    say(fd, STR("POST /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    hear_one(fd, &rest, &a, false);
    ck_assert(str_is(a.head, "HTTP/1.1 100 Continue\r\n\r\n"));
    buf_fini(&a.raw);
    say(fd, STR("hi"));
    hear_one(fd, &rest, &a, false);
    ck_assert(str_is(a.body, "POST|/e||hi|"));
    buf_fini(&a.raw);
    /* behind a request that is not answered yet it waits */
    say(fd, STR("GET /hold HTTP/1.1\r\n\r\nPOST /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: "
                "2\r\n\r\n"));
    http_respond(take_held(&s), 200, NULL, NULL, 0, NULL);
    hear_one(fd, &rest, &a, false);
    ck_assert_int_eq(a.status, 200);
    buf_fini(&a.raw);
    hear_one(fd, &rest, &a, false);
    ck_assert_int_eq(a.status, 100);
    buf_fini(&a.raw);
    say(fd, STR("yo"));
    hear_one(fd, &rest, &a, false);
    ck_assert(str_is(a.body, "POST|/e||yo|"));
    buf_fini(&a.raw);
    buf_fini(&rest);
    close(fd);
    expect(&s, "POST / HTTP/1.1\r\nExpect: nonsense\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 417", NULL);
    server_close(&s);
}
END_TEST

START_TEST(gzip_both_ways)
{
    struct server s;
    server_open(&s);
    struct buf zip, r, plain;
    buf_init(&zip, NULL, BUF_UNLIMITED);
    buf_init(&r, NULL, BUF_UNLIMITED);
    buf_init(&plain, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(http_gzip(STR("{\"query\":1}"), 6, &zip, NULL), ERR_OK);
    buf_printf(&r, "POST /z HTTP/1.0\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", zip.n);
    buf_add(&r, zip.p, zip.n);
    struct buf b = exchange(&s, buf_view(&r));
    HAS(b, "POST|/z||{\"query\":1}|");
    buf_fini(&b);
    buf_truncate(&r, r.n - 3);
    buf_add(&r, "\x7f\0\0", 3); /* the wrong length at its end */
    b = exchange(&s, buf_view(&r));
    HAS(b, "HTTP/1.1 400");
    buf_fini(&b);
    expect(&s, "POST /z HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 400",
           "illegal_argument_exception");
    expect(&s, "POST /z HTTP/1.0\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200",
           "|{}|");

    int fd = dial(&s);
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    struct answer a;
    say(fd, STR("GET /big?100000 HTTP/1.1\r\nAccept-Encoding: deflate, gzip;q=0.5\r\n\r\n"));
    hear_one(fd, &rest, &a, false);
    HAS(a.raw, "content-encoding: gzip\r\n");
    ck_assert_uint_lt(a.body.n, 2000);
    ck_assert_int_eq(http_inflate(a.body, &plain, NULL), ERR_OK);
    ck_assert_uint_eq(plain.n, 100000);
    ck_assert_int_eq(plain.p[99999], 'a' + 99999 % 23);
    buf_fini(&a.raw);
    static const char *const not_packed[] = {"GET /big?100 HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n",
                                             "GET /big?100000 HTTP/1.1\r\nAccept-Encoding: gzip;q=0\r\n\r\n",
                                             "GET /big?100000 HTTP/1.1\r\n\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(not_packed); i++) {
        say(fd, str_of(not_packed[i]));
        hear_one(fd, &rest, &a, false);
        HAS_NOT(a.raw, "content-encoding");
        ck_assert_uint_ge(a.body.n, 100);
        buf_fini(&a.raw);
    }
    close(fd);
    buf_fini(&rest);
    buf_fini(&zip);
    buf_fini(&r);
    buf_fini(&plain);
    server_close(&s);
}
END_TEST

/* Digits that hardly pack. */
static struct buf noise(size_t n)
{
    struct rng rng;
    struct buf b;
    rng_seed(&rng, 7);
    buf_init(&b, NULL, BUF_UNLIMITED);
    while (b.n < n) {
        buf_printf(&b, "%016llx", (unsigned long long)rng_u64(&rng));
    }
    return b;
}

static void add_packed(struct buf *r, const struct buf *zip, const char *path)
{
    buf_printf(r, "POST %s HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", path, zip->n);
    buf_add(r, zip->p, zip->n);
}

/* Large bodies are unpacked on a pool: what comes behind them waits, and mistakes end the connection. */
START_TEST(unpacks_elsewhere)
{
    struct server s;
    struct pool *pool;
    struct pool_opts po = {.name = "unpack", .threads_max = 1, .queue_max = 100};
    ck_assert_int_eq(pool_new(&pool, &po, NULL), ERR_OK);
    server_init(&s, 2);
    struct http_server_opts o = options(&s);
    o.unpacking = pool_executor(pool);
    o.limits.inflated_bytes_max = 50000;
    server_run(&s, &o);
    struct buf body = noise(40000), zip, r, large = noise(60000);
    buf_init(&zip, NULL, BUF_UNLIMITED);
    buf_init(&r, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(http_gzip(buf_view(&body), 6, &zip, NULL), ERR_OK);
    add_packed(&r, &zip, "/a");
    buf_z(&r, "GET /b HTTP/1.1\r\n\r\n");
    add_packed(&r, &zip, "/c");
    buf_z(&r, "GET /d HTTP/1.0\r\n\r\n");
    struct buf b = exchange(&s, buf_view(&r));
    const char *at = b.p;
    for (unsigned i = 0; i < 4; i++) { /* in order, whole */
        static const char *const starts[] = {"POST|/a||", "GET|/b|||", "POST|/c||", "GET|/d|||"};
        at = strstr(at, starts[i]);
        ck_assert_msg(at != NULL, "%s", starts[i]);
        at += strlen(starts[i]);
        ck_assert(i % 2 == 1 || strncmp(at, body.p, body.n) == 0);
    }
    buf_fini(&b);
    int handled = atomic_load(&s.handled);
    buf_reset(&r); /* damaged: what follows is not handled */
    zip.p[zip.n - 2] ^= 1;
    add_packed(&r, &zip, "/a");
    buf_z(&r, "GET /b HTTP/1.1\r\n\r\n");
    b = exchange(&s, buf_view(&r));
    HAS(b, "HTTP/1.1 400");
    HAS(b, "illegal_argument_exception");
    HAS(b, "connection: close");
    buf_fini(&b);
    buf_reset(&zip); /* too large */
    buf_reset(&r);
    ck_assert_int_eq(http_gzip(buf_view(&large), 6, &zip, NULL), ERR_OK);
    add_packed(&r, &zip, "/a");
    b = exchange(&s, buf_view(&r));
    HAS(b, "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    buf_fini(&b);
    ck_assert_int_eq(atomic_load(&s.handled), handled);
    for (unsigned i = 0; i < 50; i++) { /* clients that do not wait */
        int fd = dial(&s);
        say(fd, buf_view(&r));
        close(fd);
    }
    server_close(&s);
    pool_free(pool);
    buf_fini(&zip);
    buf_fini(&r);
    buf_fini(&body);
    buf_fini(&large);
}
END_TEST

struct counted_pool {
    const struct executor *to;
    atomic_int tasks;
    atomic_bool full;
};

static bool submit_counted(void *self, void (*run)(void *arg), void *arg)
{
    struct counted_pool *p = self;
    atomic_fetch_add(&p->tasks, 1);
    return !atomic_load(&p->full) && executor_submit(p->to, run, arg);
}

/* Large answers are packed on a pool, small ones where they are; in order; and not at all where the pool is full. */
START_TEST(packs_elsewhere)
{
    struct server s;
    struct pool *pool;
    struct pool_opts po = {.name = "pack", .threads_max = 2, .queue_max = 100};
    ck_assert_int_eq(pool_new(&pool, &po, NULL), ERR_OK);
    struct counted_pool counted = {.to = pool_executor(pool)};
    struct executor executor = {.self = &counted, .submit = submit_counted};
    server_init(&s, 2);
    struct http_server_opts o = options(&s);
    o.unpacking = &executor;
    server_run(&s, &o);
    static const struct {
        size_t n;
        bool full;
        int tasks;
    } rounds[] = {{300000, false, 1}, {5000, false, 0}, {2000000, false, 1}, {300000, true, 1}};
    int fd = dial(&s);
    struct buf rest, plain;
    struct answer a;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    buf_init(&plain, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
        char ask[200];
        int before = atomic_load(&counted.tasks);
        atomic_store(&counted.full, rounds[i].full);
        snprintf(ask, sizeof(ask),
                 "GET /big?%zu HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
                 rounds[i].n);
        say(fd, str_of(ask));
        hear_one(fd, &rest, &a, false);
        buf_reset(&plain);
        if (rounds[i].full) {
            HAS_NOT(a.raw, "content-encoding");
            ck_assert_uint_eq(a.body.n, rounds[i].n);
        } else {
            HAS(a.raw, "content-encoding: gzip\r\n");
            ck_assert_int_eq(http_inflate(a.body, &plain, NULL), ERR_OK);
            ck_assert_uint_eq(plain.n, rounds[i].n);
        }
        buf_fini(&a.raw);
        hear_one(fd, &rest, &a, false);
        ck_assert(str_starts(a.body, STR("GET|/b|")));
        buf_fini(&a.raw);
        ck_assert_int_eq(atomic_load(&counted.tasks) - before, rounds[i].tasks);
    }
    close(fd);
    atomic_store(&counted.full, false);
    for (unsigned i = 0; i < 50; i++) { /* clients that do not wait */
        fd = dial(&s);
        say(fd, STR("GET /big?300000 HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n"));
        close(fd);
    }
    server_close(&s);
    pool_free(pool);
    buf_fini(&rest);
    buf_fini(&plain);
}
END_TEST

START_TEST(inflate_knows_its_limits)
{
    struct buf zip, out;
    buf_init(&zip, NULL, BUF_UNLIMITED);
    static char data[50000];
    struct rng r;
    rng_seed(&r, 3);
    for (size_t n = 0; n < sizeof(data); n = n * 3 + 1) {
        for (size_t i = 0; i < n; i++) {
            data[i] = (char)rng_below(&r, 4);
        }
        buf_reset(&zip);
        ck_assert_int_eq(http_gzip(str_mk(data, n), 3, &zip, NULL), ERR_OK);
        buf_init(&out, NULL, MAX_OF(n, (size_t)1));
        ck_assert_int_eq(http_inflate(buf_view(&zip), &out, NULL), ERR_OK); /* exactly at the ceiling */
        ck_assert(str_eq(buf_view(&out), str_mk(data, n)));
        buf_fini(&out);
        if (n > 1) {
            buf_init(&out, NULL, n - 1);
            ck_assert_int_eq(http_inflate(buf_view(&zip), &out, NULL), ERR_TOO_LONG_FRAME);
            buf_fini(&out);
        }
        for (size_t cut = 0; cut < zip.n; cut += 1 + cut / 8) {
            buf_init(&out, NULL, BUF_UNLIMITED);
            ck_assert_int_eq(http_inflate(str_slice(buf_view(&zip), 0, cut), &out, NULL),
                             ERR_ILLEGAL_ARGUMENT);
            buf_fini(&out);
        }
    }
    buf_fini(&zip);
}
END_TEST

START_TEST(large_answers_arrive_whole)
{
    struct server s;
    server_open(&s);
    struct buf b = exchange(&s, STR("GET /big?20000000 HTTP/1.0\r\n\r\n"));
    HAS(b, "content-length: 20000000\r\n");
    const char *body = strstr(b.p, "\r\n\r\n") + 4;
    ck_assert_uint_eq(b.n - (size_t)(body - b.p), 20000000);
    for (size_t i = 0; i < 20000000; i++) {
        if (body[i] != (char)('a' + i % 23)) {
            ck_abort_msg("wrong at %zu", i);
        }
    }
    buf_fini(&b);
    server_close(&s);
}
END_TEST

START_TEST(large_bodies_arrive_whole)
{
    struct server s;
    server_open(&s);
    struct buf r;
    buf_init(&r, NULL, BUF_UNLIMITED);
    buf_printf(&r, "POST /up HTTP/1.0\r\nContent-Length: 10000000\r\n\r\n");
    size_t head = r.n;
    for (size_t i = 0; i < 10000000; i++) {
        buf_char(&r, (char)('a' + i % 19));
    }
    struct buf b = exchange(&s, buf_view(&r));
    HAS(b, "POST|/up||abcdefgh");
    ck_assert(str_find_str(buf_view(&b), str_mk(r.p + head, 10000000)) != SIZE_MAX);
    buf_fini(&b);
    buf_fini(&r);
    server_close(&s);
}
END_TEST

static void nothing_to_do(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* What the loops were told before is done when this returns. */
static void loops_are_through(struct server *s)
{
    atomic_int through = 0;
    for (unsigned i = 0; i < s->loops_n; i++) {
        ck_assert(loop_post(s->loops[i], nothing_to_do, &through));
    }
    wait_for(&through, (int)s->loops_n);
}

/* Held, a request outlives its answer, which goes out when it is released; in either order. */
START_TEST(a_held_request_outlives_its_answer)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    for (int answered_first = 0; answered_first < 2; answered_first++) {
        say(fd, STR("GET /hold?longer HTTP/1.1\r\n\r\n"));
        struct http_request *req = take_held(&s);
        struct buf body = text("after all");
        if (answered_first == 0) {
            http_release(req);
        } else {
            http_respond(req, 200, "text/plain", NULL, 0, &body);
        }
        loops_are_through(&s);
        ck_assert_int_eq(atomic_load(&s.released), answered_first);
        ck_assert(str_is(req->query, "longer"));
        if (answered_first == 0) {
            http_respond(req, 200, "text/plain", NULL, 0, &body);
        } else {
            http_release(req);
        }
        wait_for(&s.released, answered_first + 1);
    }
    close(fd);
    server_close(&s);
}
END_TEST

START_TEST(a_client_that_goes_is_reported_once)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    say(fd, STR("GET /hold HTTP/1.1\r\n\r\nGET /hold HTTP/1.1\r\n\r\nGET /hol"));
    struct http_request *a = take_held(&s), *b = take_held(&s);
    ck_assert(!http_aborted(a));
    close(fd);
    wait_for(&s.aborted, 2);
    ck_assert(http_aborted(a) && http_aborted(b));
    ck_assert_int_eq(atomic_load(&s.released), 0);
    ck_assert(str_is(b->path, "/hold")); /* still valid */
    struct buf body = text("nobody reads this");
    http_respond(b, 200, "text/plain", NULL, 0, &body);
    http_respond(a, 200, NULL, NULL, 0, NULL);
    wait_for(&s.released, 2);
    ck_assert_int_eq(atomic_load(&s.aborted), 2);
    server_close(&s);
}
END_TEST

START_TEST(slow_clients_are_let_go)
{
    struct server s;
    server_init(&s, 1);
    struct http_server_opts o = options(&s);
    o.limits.header_ms_max = 1000; /* long beside the moment between a dial and its words */
    o.limits.body_ms_max = 1000;
    o.limits.write_ms_max = 1000;
    o.limits.idle_ms_max = 1000;
    server_run(&s, &o);
    int silent = dial(&s), idle = dial(&s);
    say(idle, STR("GET / HTTP/1.1\r\n\r\n"));
    int body = dial(&s);
    say(body, STR("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc"));
    int deaf = dial(&s), small = 4096;
    setsockopt(deaf, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    say(deaf, STR("GET /big?30000000 HTTP/1.1\r\n\r\n"));
    int drip = dial(&s);
    say(drip, STR("GET / HTTP/1.1\r\nX-Header: "));
    struct pollfd answered = {.fd = drip, .events = POLLIN};
    while (poll(&answered, 1, 5) == 0) { /* a letter now and then, until it is let go */
        say(drip, STR("a"));
    }
    struct buf b = hear_all(silent);
    ck_assert_str_eq(b.p, "");
    buf_fini(&b);
    b = hear_all(drip);
    HAS(b, "HTTP/1.1 408");
    buf_fini(&b);
    b = hear_all(body);
    HAS(b, "HTTP/1.1 408");
    buf_fini(&b);
    b = hear_all(idle);
    HAS(b, "GET|/|||");
    buf_fini(&b);
    struct http_server_stats st;
    for (int i = 0; i < 300000; i++) {
        http_server_stats(s.http, &st);
        if (st.current_open == 0) {
            break;
        }
        usleep(1000);
    }
    ck_assert_uint_eq(st.current_open, 0); /* the deaf one, too */
    close(silent);
    close(drip);
    close(body);
    close(idle);
    close(deaf);
    server_close(&s);
}
END_TEST

START_TEST(forms_of_the_head)
{
    static const struct {
        const char *request, *status;
    } cases[] = {
        {"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 505"},
        {"GET /\r\n\r\n", "HTTP/1.1 505"},
        {"GET / HTTP/1.2\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"},
        {"POST / HTTP/1.1\r\nContent-Length : 2\r\n\r\n{}", "HTTP/1.1 400"},
        {"POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400"},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400"},
        {"GET / HTTP/1.1\r\nX-A: b\r\n c\r\n\r\n", "HTTP/1.1 400"},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400"},
    };
    struct server s;
    server_open(&s);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        expect(&s, cases[i].request, cases[i].status, NULL);
    }
    server_close(&s);
}
END_TEST

START_TEST(pages_elsewhere)
{
    static const struct str origins[] = {{"https://shop.example", 20}};
    static const struct http_site site = {.origins = origins,
                                          .origins_n = 1,
                                          .methods = {"GET", 3},
                                          .headers = {"X-A", 3},
                                          .max_age = {"9", 1}};
    struct server s;
    server_init(&s, 1);
    struct http_server_opts o = options(&s);
    o.site = &site;
    server_run(&s, &o);
    expect(&s, "GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 200", NULL);
    expect(&s, "POST / HTTP/1.0\r\nHost: localhost:1\r\nOrigin: http://localhost:1\r\n\r\n", "HTTP/1.1 200",
           NULL);
    expect(&s, "POST / HTTP/1.0\r\nHost: localhost:1\r\nOrigin: http://evil.example\r\n\r\n", "HTTP/1.1 403",
           NULL);
    expect(&s, "POST / HTTP/1.0\r\nHost: localhost\r\nOrigin: https://shop.example\r\n\r\n", "HTTP/1.1 200",
           "access-control-allow-origin: https://shop.example\r\n");
    expect(&s,
           "OPTIONS / HTTP/1.0\r\nHost: localhost\r\nOrigin: https://shop.example\r\n"
           "Access-Control-Request-Method: PUT\r\n\r\n",
           "HTTP/1.1 200", "access-control-allow-methods: GET\r\n");
    expect(
        &s,
        "OPTIONS / HTTP/1.0\r\nHost: localhost\r\nOrigin: null\r\nAccess-Control-Request-Method: PUT\r\n\r\n",
        "HTTP/1.1 403", NULL);
    server_close(&s);
}
END_TEST

/* Where none is idle, the one whose request has not come for the longest gives way. */
START_TEST(slow_ones_give_way)
{
    struct server s;
    server_init(&s, 1);
    struct http_server_opts o = options(&s);
    o.limits.connections_max = 3;
    server_run(&s, &o);
    int fd[3];
    struct http_server_stats st;
    for (int i = 0; i < 3; i++) {
        fd[i] = dial(&s);
        say(fd[i], i == 1 ? STR("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n123") : STR("GET / HT"));
    }
    do {
        http_server_stats(s.http, &st);
    } while (st.total_opened < 3);
    for (int i = 0; i < 3; i++) {
        expect(&s, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200", NULL);
    }
    http_server_stats(s.http, &st);
    ck_assert_uint_eq(st.refused, 0);
    for (int i = 0; i < 3; i++) {
        close(fd[i]);
    }
    server_close(&s);
}
END_TEST

START_TEST(chunks_beyond_the_limit_are_not_waited_for)
{
    struct server s;
    server_init(&s, 1);
    struct http_server_opts o = options(&s);
    o.limits.body_bytes_max = 10;
    server_run(&s, &o);
    expect(&s, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n6\r\n", "HTTP/1.1 413",
           NULL);
    expect(&s, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", "HTTP/1.1 413",
           NULL);
    server_close(&s);
}
END_TEST

START_TEST(connections_are_bounded)
{
    struct server s;
    server_init(&s, 2);
    struct http_server_opts o = options(&s);
    o.limits.connections_max = 3;
    server_run(&s, &o);
    int fd[5];
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    for (int i = 0; i < 3; i++) {
        struct answer a;
        fd[i] = dial(&s);
        say(fd[i], STR("GET / HTTP/1.1\r\n\r\n"));
        hear_one(fd[i], &rest, &a, false);
        buf_fini(&a.raw);
    }
    struct http_server_stats st;
    expect(&s, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200", NULL); /* one that is idle gave way */
    do {
        http_server_stats(s.http, &st);
    } while (st.current_open > 2);
    ck_assert_uint_eq(st.total_opened, 4);
    ck_assert_uint_eq(st.refused, 0);
    fd[3] = dial(&s);
    for (int i = 1; i < 4; i++) {
        close(fd[i]);
    }
    buf_fini(&rest);
    server_close(&s);
}
END_TEST

START_TEST(ports)
{
    struct server s;
    server_open(&s);
    char port[16], range[32];
    unsigned p = http_server_port(s.http);
    ck_assert_uint_gt(p, 0);
    snprintf(port, sizeof(port), "%u", p);
    snprintf(range, sizeof(range), "%u-%u", p, MIN_OF(p + 20, 65535U));
    struct http_server_opts o = options(&s);
    struct http_server *other;
    struct errmsg em = {0};
    struct loop *loop;
    ck_assert_int_eq(loop_new(&loop, "x", NULL), ERR_OK);
    o.loops = &loop;
    o.loops_n = 1;
    o.ports = port;
    ck_assert_int_eq(http_server_new(&other, &o, &em), ERR_IO);
    ck_assert_ptr_nonnull(strstr(em.frame[0].reason, port));
    ck_assert_ptr_nonnull(strstr(em.frame[0].reason, "Address already in use"));
    o.ports = range;
    ck_assert_int_eq(http_server_new(&other, &o, &em), ERR_OK);
    ck_assert(http_server_port(other) > p && http_server_port(other) <= p + 20);
    size_t n;
    const struct str *a = http_server_addresses(other, &n);
    ck_assert(n == 1 && str_starts(a[0], STR("127.0.0.1:")));
    http_server_free(other);
    static const char *const bad[] = {"", "x", "9300-9200", "70000", "-1", "0-5", "1-"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        o.ports = bad[i];
        ck_assert_int_eq(http_server_new(&other, &o, &em), ERR_ILLEGAL_ARGUMENT);
    }
    o.ports = "0";
    struct str hosts[] = {STR("127.0.0.1"), STR("::1"), STR("127.0.0.2")};
    o.hosts = hosts;
    o.hosts_n = 3;
    if (http_server_new(&other, &o, &em) == ERR_OK) { /* a machine may have no IPv6 */
        http_server_addresses(other, &n);
        ck_assert_uint_eq(n, 3);
        http_server_free(other);
    }
    hosts[1] = STR("no.such.host.invalid");
    ck_assert_int_eq(http_server_new(&other, &o, &em), ERR_IO);
    loop_free(loop);
    server_close(&s);
}
END_TEST

START_TEST(stopping_finishes_what_is_in_flight)
{
    struct server s;
    server_open(&s);
    int idle = dial(&s), busy = dial(&s);
    struct buf rest;
    buf_init(&rest, NULL, BUF_UNLIMITED);
    struct answer a;
    say(idle, STR("GET / HTTP/1.1\r\n\r\n"));
    hear_one(idle, &rest, &a, false);
    buf_fini(&a.raw);
    say(busy, STR("GET /hold HTTP/1.1\r\n\r\nGET /hold HTTP/1.1\r\n\r\n"));
    struct http_request *one = take_held(&s), *two = take_held(&s);
    http_server_stop(s.http, 5000, on_stopped, &s);
    struct buf b = hear_all(idle);
    ck_assert_uint_eq(b.n, 0);
    buf_fini(&b);
    struct buf body = text("two");
    http_respond(two, 200, NULL, NULL, 0, &body);
    body = text("one");
    http_respond(one, 200, NULL, NULL, 0, &body);
    b = hear_all(busy);
    ck_assert_str_eq(b.p, "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\none"
                          "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\ntwo");
    buf_fini(&b);
    server_wait_stopped(&s);
    ck_assert_int_eq(atomic_load(&s.aborted), 0);
    close(idle);
    close(busy);
    buf_fini(&rest);
    server_close(&s);
}
END_TEST

START_TEST(stopping_aborts_after_the_grace)
{
    struct server s;
    server_open(&s);
    int fd = dial(&s);
    say(fd, STR("GET /hold HTTP/1.1\r\n\r\n"));
    struct http_request *r = take_held(&s);
    http_server_stop(s.http, 30, on_stopped, &s);
    wait_for(&s.aborted, 1);
    ck_assert(!s.stopped);
    http_respond(r, 200, NULL, NULL, 0, NULL);
    server_wait_stopped(&s);
    ck_assert_int_eq(atomic_load(&s.released), 1);
    close(fd);
    server_close(&s);
}
END_TEST

START_TEST(free_without_stop)
{
    struct server s;
    server_init(&s, 2);
    struct http_server_opts o = options(&s);
    server_run(&s, &o);
    int fd = dial(&s);
    say(fd, STR("GET /hold HTTP/1.1\r\n\r\nGET /h"));
    take_held(&s);
    for (unsigned i = 0; i < 2; i++) {
        loop_stop(s.loops[i]);
        loop_join(s.loops[i]);
    }
    http_server_free(s.http);
    ck_assert_int_eq(atomic_load(&s.aborted), 1);
    ck_assert_int_eq(atomic_load(&s.released), 1);
    for (unsigned i = 0; i < 2; i++) {
        loop_free(s.loops[i]);
    }
    close(fd);
}
END_TEST

static enum err from_settings(struct http_server_opts *o, struct arena *a, const char *key, const char *value)
{
    struct settings set;
    settings_init(&set, a);
    *o = (struct http_server_opts){0};
    ck_assert(key == NULL || settings_put(&set, str_of(key), str_of(value)));
    enum err e = settings_check(&setting_registry_cluster, &set, false, NULL);
    return e == ERR_OK ? http_server_opts_from(o, &set, a, NULL) : e;
}

START_TEST(options_come_from_settings)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct http_server_opts o;
    ck_assert_int_eq(from_settings(&o, &a, NULL, NULL), ERR_OK);
    ck_assert(strcmp(o.ports, "9200-9300") == 0 && o.hosts_n == 0 && o.compression
              && o.compression_level == 3);
    ck_assert_int_eq(from_settings(&o, &a, "http.host", "_local_,0.0.0.0"), ERR_OK);
    ck_assert(o.hosts_n == 2 && str_is(o.hosts[0], "127.0.0.1") && str_is(o.hosts[1], "0.0.0.0"));
    ck_assert_int_eq(from_settings(&o, &a, "network.host", "10.0.0.1"), ERR_OK);
    ck_assert(o.hosts_n == 1 && str_is(o.hosts[0], "10.0.0.1"));
    ck_assert_int_eq(from_settings(&o, &a, "http.max_content_length", "10mb"), ERR_OK);
    ck_assert_uint_eq(o.limits.body_bytes_max, 10 * MIB);
    ck_assert_int_eq(from_settings(&o, &a, "http.max_header_size", "16kb"), ERR_OK);
    ck_assert_uint_eq(o.limits.header_bytes_max, 16 * KIB);
    ck_assert_int_eq(from_settings(&o, &a, "http.port", "9250"), ERR_OK);
    ck_assert_str_eq(o.ports, "9250");
    ck_assert_int_eq(from_settings(&o, &a, "http.compression", "false"), ERR_OK);
    ck_assert(!o.compression);
    static const char *const bad[][2] = {
        {"http.compression", "maybe"}, {"http.compression_level", "10"},    {"http.max_content_length", "10"},
        {"network.host", "_site_"},    {"http.pipelining.max_events", "0"}, {"http.max_header_size", "-1"}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert_msg(from_settings(&o, &a, bad[i][0], bad[i][1]) != ERR_OK, "%s", bad[i][0]);
    }
    arena_fini(&a);
}
END_TEST

/* Valid streams with bytes changed, dropped, doubled: the server answers or closes, and goes on serving. */
START_TEST(mutated_streams_never_hurt)
{
    static const char *const seeds[] = {
        "POST /one?a=b HTTP/1.1\r\nHost: h\r\nX-Test: v\r\nContent-Length: 5\r\n\r\nhelloGET /x "
        "HTTP/1.1\r\n\r\n",
        "POST /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: "
        "100-continue\r\n\r\n4\r\nwxyz\r\n0\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nAccept-Encoding: gzip\r\n\r\n",
        "PUT /z HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 24\r\n\r\n\x1f\x8b\x08",
        "HEAD /big?3000 HTTP/1.1\r\n\r\nGET /big?70000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    };
    struct server s;
    server_init(&s, 2);
    struct http_server_opts o = options(&s);
    o.limits.body_bytes_max = 100000;
    server_run(&s, &o);
    struct rng r;
    rng_seed(&r, 42);
    for (int round = 0; round < 3000; round++) {
        struct str seed = str_of(seeds[rng_below(&r, ARRAY_LEN(seeds))]);
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        uint64_t rate = 1 + rng_below(&r, 60);
        for (size_t i = 0; i < seed.n; i++) {
            uint64_t dice = rng_below(&r, rate * 4 + 1);
            if (dice > 3) {
                buf_char(&b, seed.p[i]);
            } else if (dice == 0) {
                buf_char(&b, (char)rng_below(&r, 256));
            } else if (dice == 1) {
                buf_char(&b, seed.p[i]);
                buf_char(&b, seed.p[i]);
            } else if (dice == 2) {
                buf_char(&b, "\r\n :0%;,"[rng_below(&r, 8)]);
            }
        }
        int fd = dial(&s);
        size_t cut = (size_t)rng_below(&r, b.n + 1);
        say(fd, str_slice(buf_view(&b), 0, cut));
        say(fd, str_slice(buf_view(&b), cut, b.n));
        if (round % 3 == 0) {
            char sink[4096];
            shutdown(fd, SHUT_WR);
            while (recv(fd, sink, sizeof(sink), 0) > 0) {
            }
        }
        close(fd);
        buf_fini(&b);
    }
    expect(&s, "GET /alive HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "GET|/alive|||");
    /* "/hold" is in no seed, and cannot appear: nothing is left unanswered */
    server_close(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("http server");
    TCase *t = tcase_create("http server");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, methods_targets_and_bodies);
    tcase_add_test(t, head_has_length_but_no_body);
    tcase_add_test(t, a_refusal_always_says_why);
    tcase_add_test(t, pipelined_requests_are_answered_in_order);
    tcase_add_test(t, reading_stops_at_the_pipelining_limit);
    tcase_add_test(t, bytes_may_be_split_anywhere);
    tcase_add_test(t, malformed_requests_get_400_and_a_close);
    tcase_add_test(t, limits_are_kept);
    tcase_add_test(t, bodies_in_flight_are_bounded);
    tcase_add_test(t, continue_is_sent_when_it_is_its_turn);
    tcase_add_test(t, gzip_both_ways);
    tcase_add_test(t, unpacks_elsewhere);
    tcase_add_test(t, packs_elsewhere);
    tcase_add_test(t, inflate_knows_its_limits);
    tcase_add_test(t, large_answers_arrive_whole);
    tcase_add_test(t, large_bodies_arrive_whole);
    tcase_add_test(t, a_held_request_outlives_its_answer);
    tcase_add_test(t, a_client_that_goes_is_reported_once);
    tcase_add_test(t, slow_clients_are_let_go);
    tcase_add_test(t, forms_of_the_head);
    tcase_add_test(t, pages_elsewhere);
    tcase_add_test(t, connections_are_bounded);
    tcase_add_test(t, slow_ones_give_way);
    tcase_add_test(t, chunks_beyond_the_limit_are_not_waited_for);
    tcase_add_test(t, ports);
    tcase_add_test(t, stopping_finishes_what_is_in_flight);
    tcase_add_test(t, stopping_aborts_after_the_grace);
    tcase_add_test(t, free_without_stop);
    tcase_add_test(t, options_come_from_settings);
    tcase_add_test(t, mutated_streams_never_hurt);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
