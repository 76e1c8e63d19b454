/* Packed requests and answers of the HTTP server, and large ones. */
#include "tests/unit/common/sys/http_rig.h"

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
    struct pool_opts po = {.name = "pack", .threads_max = 2, .queue_max = 100};
    server_init(&s, 2);
    ck_assert_int_eq(pool_new(&s.pool, &po, NULL), ERR_OK);
    struct counted_pool counted = {.to = pool_executor(s.pool)};
    struct executor executor = {.self = &counted, .submit = submit_counted};
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

int main(void)
{
    Suite *s = suite_create("http server");
    TCase *t = tcase_create("http server");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, gzip_both_ways);
    tcase_add_test(t, unpacks_elsewhere);
    tcase_add_test(t, packs_elsewhere);
    tcase_add_test(t, inflate_knows_its_limits);
    tcase_add_test(t, large_answers_arrive_whole);
    tcase_add_test(t, large_bodies_arrive_whole);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
