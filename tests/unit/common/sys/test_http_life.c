/* Connections of the HTTP server: held, slow, too many; and how it stops. */
#include "tests/unit/common/sys/http_rig.h"

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
            http_request_unref(req);
        } else {
            http_respond(req, 200, "text/plain", NULL, 0, &body);
        }
        loops_are_through(&s);
        ck_assert_int_eq(atomic_load(&s.released), answered_first);
        ck_assert(str_is(req->query, "longer"));
        if (answered_first == 0) {
            http_respond(req, 200, "text/plain", NULL, 0, &body);
        } else {
            http_request_unref(req);
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
    ERR_LOCAL(em);
    struct loop *loop;
    ck_assert_int_eq(loop_new(&loop, "x", NULL), ERR_OK);
    o.loops = &loop;
    o.loops_n = 1;
    o.ports = port;
    ck_assert_int_eq(http_server_new(&other, &o, &em), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err_reason(&em), port));
    ck_assert_ptr_nonnull(strstr(err_reason(&em), "Address already in use"));
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

int main(void)
{
    Suite *s = suite_create("http server");
    TCase *t = tcase_create("http server");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_held_request_outlives_its_answer);
    tcase_add_test(t, a_client_that_goes_is_reported_once);
    tcase_add_test(t, slow_clients_are_let_go);
    tcase_add_test(t, connections_are_bounded);
    tcase_add_test(t, slow_ones_give_way);
    tcase_add_test(t, chunks_beyond_the_limit_are_not_waited_for);
    tcase_add_test(t, ports);
    tcase_add_test(t, stopping_finishes_what_is_in_flight);
    tcase_add_test(t, stopping_aborts_after_the_grace);
    tcase_add_test(t, free_without_stop);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
