/* The HTTP client against the server, and against servers that misbehave. */
#include "common/sys/http_client.h"
#include "common/sys/http_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct world { /* server and client on one loop, in the test's thread */
    struct loop *loop;
    struct http_server *server;
    struct http_client *client;
    struct http_request *held;
    int left; /* answers awaited */
    char last[400];
    enum err err;
    int status;
    size_t body_n;
};

static void respond_held(void *arg)
{
    struct world *w = arg;
    if (w->held != NULL) { /* unless time was up before it arrived */
        http_respond(w->held, 200, "text/plain", NULL, 0, NULL);
    }
}

static void handle(void *self, struct http_request *req)
{
    struct world *w = self;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (str_is(req->path, "/hold")) {
        w->held = req;
        return;
    }
    if (str_is(req->path, "/big")) {
        size_t n = (size_t)strtoul(req->query.p, NULL, 10);
        memset(buf_reserve(&b, n), 'x', n);
        b.n = n;
    } else {
        const struct str *host = http_header_find(req->headers, req->headers_n, "host");
        const struct str *type = http_header_find(req->headers, req->headers_n, "content-type");
        buf_printf(&b, "%.*s|%.*s|%.*s|%.*s|%.*s", STR_ARG(req->method_name), STR_ARG(req->path),
                   STR_ARG(req->query), STR_ARG(req->body), type != NULL ? (int)type->n : 0,
                   type != NULL ? type->p : "");
        ck_assert_ptr_nonnull(host);
    }
    http_respond(req, str_is(req->path, "/404") ? 404 : 200, "text/plain", NULL, 0, &b);
}

static void world_open_with(struct world *w, struct http_client_opts co)
{
    memset(w, 0, sizeof(*w));
    ck_assert_int_eq(loop_new(&w->loop, "test", NULL), ERR_OK);
    struct http_server_opts so = {
        .loops = &w->loop, .loops_n = 1, .ports = "0", .compression = true, .handle = handle, .self = w};
    ck_assert_int_eq(http_server_new(&w->server, &so, NULL), ERR_OK);
    co.loop = w->loop;
    ck_assert_int_eq(http_client_new(&w->client, &co, NULL), ERR_OK);
}

static void world_open(struct world *w)
{
    world_open_with(w, (struct http_client_opts){0});
}

static void world_close(struct world *w)
{
    http_client_free(w->client);
    http_server_free(w->server);
    loop_free(w->loop);
}

static void done(void *arg, const struct http_reply *r)
{
    struct world *w = arg;
    ck_assert(loop_inside(w->loop));
    w->err = r->err;
    w->status = r->status;
    w->body_n = r->body.n;
    snprintf(w->last, sizeof(w->last), "%.*s", r->err == ERR_OK ? (int)MIN_OF(r->body.n, (size_t)300) : 300,
             r->err == ERR_OK ? (r->body.n > 0 ? r->body.p : "") : r->reason);
    if (--w->left <= 0) {
        loop_stop(w->loop);
    }
}

static char *url(const struct world *w, const char *path)
{
    static char text[200];
    snprintf(text, sizeof(text), "http://127.0.0.1:%u%s", http_server_port(w->server), path);
    return text;
}

static void send_to(struct world *w, const char *u, struct http_client_request req)
{
    ERR_LOCAL(em);
    req.url = str_of(u);
    req.method = req.method != NULL ? req.method : "GET";
    enum err e = http_client_send(w->client, &req, done, w, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
}

/* loop_run() ends for good: later runs go in a loop of their own, so a test runs the loop once in steps. */
static void once(const char *method, const char *path, const char *body, const char *want, int status)
{
    struct world w;
    world_open(&w);
    struct http_client_request r = {
        .method = method, .content_type = body != NULL ? "application/json" : NULL, .body = str_of(body)};
    send_to(&w, url(&w, path), r);
    loop_run(w.loop);
    ck_assert_msg(w.err == ERR_OK, "%s", w.last);
    ck_assert_int_eq(w.status, status);
    ck_assert_str_eq(w.last, want);
    world_close(&w);
}

START_TEST(requests_and_answers)
{
    once("GET", "/a?b=c", NULL, "GET|/a|b=c||", 200);
    once("GET", "", NULL, "GET|/|||", 200);
    once("GET", "?q", NULL, "GET|/|q||", 200);
    once("GET", "/_search", "{\"size\":1}", "GET|/_search||{\"size\":1}|application/json", 200);
    once("POST", "/a", "x", "POST|/a||x|application/json", 200);
    once("POST", "/a", NULL, "POST|/a|||", 200);
    once("DELETE", "/404", NULL, "DELETE|/404|||", 404);
    once("HEAD", "/big?1000", NULL, "", 200);
}
END_TEST

START_TEST(bad_urls_are_refused)
{
    struct world w;
    world_open(&w);
    static const char *const bad[] = {"",
                                      "ftp://x/",
                                      "http://",
                                      "http://:80/",
                                      "http://h:x/",
                                      "http://h:70000/",
                                      "http://h/a b",
                                      "http://[::1",
                                      "http://h\r\n/"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_client_request r = {.method = "GET", .url = str_of(bad[i])};
        ck_assert_msg(http_client_send(w.client, &r, done, &w, NULL) == ERR_ILLEGAL_ARGUMENT, "%s", bad[i]);
    }
    world_close(&w);
}
END_TEST

START_TEST(connections_are_kept_and_bounded)
{
    struct world w;
    world_open_with(&w, (struct http_client_opts){.per_host_max = 3});
    w.left = 200;
    for (int i = 0; i < 200; i++) {
        send_to(&w, url(&w, "/x"), (struct http_client_request){0});
    }
    loop_run(w.loop);
    struct http_server_stats st;
    http_server_stats(w.server, &st);
    ck_assert_uint_eq(st.total_opened, 3);
    ck_assert_uint_eq(st.requests, 200);
    world_close(&w);
}
END_TEST

START_TEST(timeouts_and_ceilings)
{
    struct world w;
    world_open_with(&w, (struct http_client_opts){.response_bytes_max = 1000, .per_host_max = 1});
    w.left = 2; /* the second waits behind the first and times out as well */
    send_to(&w, url(&w, "/hold"), (struct http_client_request){.ms_max = 50});
    send_to(&w, url(&w, "/x"), (struct http_client_request){.ms_max = 20});
    loop_run(w.loop);
    ck_assert_int_eq(w.err, ERR_TIMEOUT);
    ck_assert(loop_post(w.loop, respond_held, &w));
    world_close(&w);

    world_open_with(&w, (struct http_client_opts){.response_bytes_max = 1000});
    send_to(&w, url(&w, "/big?1001"), (struct http_client_request){0});
    loop_run(w.loop);
    ck_assert_int_eq(w.err, ERR_TOO_LONG_FRAME);
    world_close(&w);

    world_open(&w);
    send_to(&w, url(&w, "/big?5000000"), (struct http_client_request){0});
    loop_run(w.loop);
    ck_assert(w.err == ERR_OK && w.body_n == 5000000);
    world_close(&w);
}
END_TEST

START_TEST(calls_under_way_are_dropped)
{
    struct world w;
    world_open_with(&w, (struct http_client_opts){.per_host_max = 1});
    w.left = 1;
    send_to(&w, url(&w, "/first"), (struct http_client_request){0});
    loop_run(w.loop);
    ck_assert_str_eq(w.last, "GET|/first|||");
    send_to(&w, url(&w, "/never"), (struct http_client_request){0});
    send_to(&w, url(&w, "/waits"), (struct http_client_request){0});
    world_close(&w);
}
END_TEST

START_TEST(nobody_listens)
{
    struct world w;
    world_open(&w);
    char free_port[64];
    struct sockaddr_in a = {.sin_family = AF_INET};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    getsockname(fd, (struct sockaddr *)&a, &n);
    snprintf(free_port, sizeof(free_port), "http://localhost:%u/", ntohs(a.sin_port));
    w.left = 2;
    send_to(&w, free_port, (struct http_client_request){0});
    send_to(&w, "https://127.0.0.1:1/", (struct http_client_request){0});
    ck_assert_int_eq(w.left, 2);
    loop_run(w.loop);
    ck_assert_int_eq(w.err, ERR_IO);
    close(fd);
    world_close(&w);
}
END_TEST

struct script { /* a server in a thread: for each connection, what it says after a request, then it closes */
    int fd;
    unsigned port;
    const char *const *lines;
    size_t n;
    pthread_t thread;
    int requests;
};

static void *play(void *arg)
{
    struct script *s = arg;
    for (size_t i = 0; i < s->n; i++) {
        int c = accept(s->fd, NULL, NULL);
        const char *line = s->lines[i];
        while (*line != '\0') { /* answers to one request each are split by '\f' */
            char sink[4096];
            if (recv(c, sink, sizeof(sink), 0) <= 0) {
                break;
            }
            s->requests++;
            size_t len = strcspn(line, "\f");
            send(c, line, len, MSG_NOSIGNAL);
            line += len + (line[len] == '\f' ? 1 : 0);
        }
        close(c);
    }
    return NULL;
}

static void script_open(struct script *s, const char *const *lines, size_t n)
{
    *s = (struct script){.lines = lines, .n = n, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in a = {.sin_family = AF_INET};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(a);
    ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&a, size), 0);
    ck_assert_int_eq(listen(s->fd, 10), 0);
    getsockname(s->fd, (struct sockaddr *)&a, &size);
    s->port = ntohs(a.sin_port);
    pthread_create(&s->thread, NULL, play, s);
}

static void script_close(struct script *s)
{
    pthread_join(s->thread, NULL);
    close(s->fd);
}

static void against(const char *answer, enum err want, const char *body)
{
    struct script s;
    script_open(&s, &answer, 1);
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    char u[64];
    snprintf(u, sizeof(u), "http://127.0.0.1:%u/", s.port);
    struct http_client_request r = {.method = "POST", .url = str_of(u), .body = STR("x")};
    struct http_reply reply;
    ERR_LOCAL(em);
    enum err e = http_fetch(&r, &a, &reply, &em);
    ck_assert_msg(e == want, "[%s] gave %d %s", answer, (int)e, err_reason(&em));
    ck_assert(e != ERR_OK || str_is(reply.body, body));
    arena_fini(&a);
    script_close(&s);
}

START_TEST(answers_of_every_shape)
{
    against("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", ERR_OK, "hi");
    against("HTTP/1.1 200 OK\r\n\r\nuntil the end", ERR_OK, "until the end");
    against("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", ERR_OK,
            "abc");
    against("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", ERR_OK, "x");
    against("HTTP/1.1 204 No Content\r\n\r\n", ERR_OK, "");
    against("HTTP/1.0 200 OK\r\n\r\n", ERR_OK, "");
    against("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", ERR_IO, NULL);
    against("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi", ERR_IO, NULL);
    against("nonsense", ERR_PARSE, NULL);
    against("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", ERR_PARSE, NULL);
    against("", ERR_IO, NULL);
}
END_TEST

struct chain { /* a second request when the first is answered */
    struct world w;
    const char *url, *method;
    bool second;
};

static void then_again(void *arg, const struct http_reply *r)
{
    struct chain *c = arg;
    if (c->second) {
        done(&c->w, r);
        return;
    }
    c->second = true;
    ck_assert(r->err == ERR_OK && str_is(r->body, "one"));
    struct http_client_request req = {.method = c->method, .url = str_of(c->url)};
    ck_assert_int_eq(http_client_send(c->w.client, &req, then_again, c, NULL), ERR_OK);
}

/* The server closes a kept connection as the second request comes: it is sent again on a new one. */
START_TEST(stale_connections_are_tried_again)
{
    static const char *const lines[] = {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none\f\f",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo"};
    struct script s;
    script_open(&s, lines, 2);
    char u[64];
    snprintf(u, sizeof(u), "http://127.0.0.1:%u/", s.port);
    struct chain c = {.url = u, .method = "POST"};
    ck_assert_int_eq(loop_new(&c.w.loop, "x", NULL), ERR_OK);
    struct http_client_opts o = {.loop = c.w.loop};
    ck_assert_int_eq(http_client_new(&c.w.client, &o, NULL), ERR_OK);
    struct http_client_request req = {.method = "GET", .url = str_of(u)};
    ck_assert_int_eq(http_client_send(c.w.client, &req, then_again, &c, NULL), ERR_OK);
    loop_run(c.w.loop);
    ck_assert_str_eq(c.w.last, "two");
    script_close(&s);
    ck_assert_int_eq(s.requests, 3);
    http_client_free(c.w.client);
    loop_free(c.w.loop);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("http client");
    TCase *t = tcase_create("http client");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, requests_and_answers);
    tcase_add_test(t, bad_urls_are_refused);
    tcase_add_test(t, connections_are_kept_and_bounded);
    tcase_add_test(t, timeouts_and_ceilings);
    tcase_add_test(t, calls_under_way_are_dropped);
    tcase_add_test(t, nobody_listens);
    tcase_add_test(t, answers_of_every_shape);
    tcase_add_test(t, stale_connections_are_tried_again);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
