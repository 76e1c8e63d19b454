/* The HTTP server against raw sockets: what it must take and what it must refuse. */
#include "tests/unit/common/sys/http_rig.h"

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
    tcase_add_test(t, forms_of_the_head);
    tcase_add_test(t, pages_elsewhere);
    tcase_add_test(t, options_come_from_settings);
    tcase_add_test(t, mutated_streams_never_hurt);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
