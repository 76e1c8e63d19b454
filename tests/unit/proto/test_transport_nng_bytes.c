/* The transport against a bare socket on the other side: garbage, cut-off messages, lengths that lie, a side that never reads or never
 * answers. */
#include "common/base/bytes.h"
#include "common/base/rand.h"
#include "common/sys/pool.h"
#include "proto/frame.h"
#include "proto/transport_nng.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ECHO = 70 };

static struct pool *pool;
static struct transport_nng *t;
static const struct transport *api;
static unsigned port;
static _Atomic int finished, lost_count;

static void echo(void *arg, struct transport_call *call)
{
    struct buf b;
    (void)arg;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, call->payload);
    api->reply(api->self, call, &b);
}

static void lost(void *arg, const struct transport_peer *peer)
{
    (void)arg;
    (void)peer;
    lost_count++;
}

static void done(struct transport_rq *rq)
{
    (void)rq;
    finished++;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void sleep_ms(int ms)
{
    poll(NULL, 0, ms);
}

static void wait_for(_Atomic int *what, int n)
{
    while (*what < n) {
        sleep_ms(1);
    }
}

static void setup(void)
{
    struct pool_opts o = {.name = "test", .threads_max = 2, .queue_max = 100000};
    struct transport_nng_opts to = {.host = STR("127.0.0.1"), .ephemeral_id = STR("me")};
    ck_assert_int_eq(pool_new(&pool, &o, NULL), ERR_OK);
    ck_assert_int_eq(transport_nng_new(&t, &to, NULL), ERR_OK);
    api = transport_nng_api(t);
    port = transport_nng_port(t);
    api->serve(api->self, ECHO, pool_executor(pool), echo, NULL);
    api->watch(api->self, pool_executor(pool), lost, NULL);
    transport_nng_start(t);
    finished = lost_count = 0;
}

static void teardown(void)
{
    transport_nng_stop(t);
    transport_nng_free(t);
    pool_free(pool);
}

/* ---- a bare socket ---- */

static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

static int listen_bare(char *address, size_t n)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof(a);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    ck_assert_int_eq(listen(fd, 16), 0);
    getsockname(fd, (struct sockaddr *)&a, &len);
    snprintf(address, n, "127.0.0.1:%u", ntohs(a.sin_port));
    return fd;
}

static bool put(int fd, const void *p, size_t n)
{
    return send(fd, p, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static const char preface[] = {'S', 'R', 'N', 'P', 1, TRANSPORT_DATA, 0, 0};

static bool take(int fd, void *p, size_t n)
{
    return recv(fd, p, n, MSG_WAITALL) == (ssize_t)n;
}

static int dial_greeted(void)
{
    char back[8];
    int fd = dial();
    ck_assert(put(fd, preface, sizeof(preface)));
    ck_assert(take(fd, back, sizeof(back)));
    ck_assert_mem_eq(back, preface, sizeof(back));
    return fd;
}

/* Nothing comes any more, within a while: closed (or reset). */
static void assert_closed(int fd)
{
    char rest[4096];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        ck_assert_int_eq(poll(&p, 1, 20000), 1);
        if (recv(fd, rest, sizeof(rest), 0) <= 0) {
            break;
        }
    }
    close(fd);
}

static void put_message(struct buf *b, uint64_t id, struct str payload)
{
    struct frame f = {
        .cls = TRANSPORT_DATA, .kind = ECHO, .from = STR("bare"), .target = STR("me"), .payload = payload};
    size_t at = b->n;
    put_u32(b, 0);
    put_u64(b, id);
    frame_encode(&f, b);
    store_u32(b->p + at, (uint32_t)(b->n - at - 12));
}

/* An answer, if it is one; its frame is in `memory`. */
static bool take_message(int fd, uint64_t *id, struct frame *f, struct buf *memory)
{
    char head[12];
    if (!take(fd, head, sizeof(head))) {
        return false;
    }
    *id = load_u64(head + 4);
    buf_reset(memory);
    char *p = buf_reserve(memory, load_u32(head));
    if (!take(fd, p, load_u32(head))) {
        return false;
    }
    memory->n = load_u32(head);
    return frame_decode(f, buf_view(memory), NULL) == ERR_OK;
}

static void assert_answers(void)
{
    int fd = dial_greeted();
    struct buf b;
    struct frame f;
    uint64_t id;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_message(&b, 7, STR("still here"));
    for (size_t i = 0; i < b.n; i++) { /* a byte at a time */
        ck_assert(put(fd, b.p + i, 1));
    }
    ck_assert(take_message(fd, &id, &f, &b));
    ck_assert(id == 7 && f.flags == FRAME_ANSWER && str_is(f.payload, "still here"));
    buf_fini(&b);
    close(fd);
}

/* ---- whoever connects ---- */

START_TEST(prefaces)
{
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < 300; i++) {
        char bad[64];
        size_t n = sizeof(preface) + rng_below(&rng, sizeof(bad) - sizeof(preface));
        for (size_t j = 0; j < n; j++) {
            bad[j] = (char)rng_u64(&rng);
        }
        if (i % 2 == 0) { /* a good one but for one byte */
            memcpy(bad, preface, sizeof(preface));
            size_t at = (size_t)i % 16 / 2;
            bad[at] = (char)(bad[at] ^ (at == 5 ? 0x80 : 1 + (int)rng_below(&rng, 255)));
        }
        int fd = dial();
        put(fd, bad, n);
        assert_closed(fd);
    }
    for (size_t n = 0; n < sizeof(preface); n++) { /* cut off */
        int fd = dial();
        put(fd, preface, n);
        close(fd);
    }
    int fd = dial(); /* says nothing */
    int64_t began = now_ms();
    assert_closed(fd);
    ck_assert(now_ms() - began >= 2500);
    assert_answers();
}
END_TEST

START_TEST(lengths)
{
    static const uint32_t bad[] = {0, TRANSPORT_DATA_BYTES_MAX + FRAME_HEADER_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int fd = dial_greeted();
        char head[12] = {0};
        store_u32(head, bad[i]);
        put(fd, head, sizeof(head));
        assert_closed(fd);
    }
    for (size_t i = 0; i < 20; i++) { /* as long as may be, and then nothing */
        int fd = dial_greeted();
        char head[100] = {0};
        store_u32(head, TRANSPORT_DATA_BYTES_MAX);
        put(fd, head, i * 5);
        close(fd);
    }
    assert_answers();
}
END_TEST

START_TEST(frames)
{
    struct rng rng;
    struct buf b, memory;
    struct frame f;
    uint64_t id;
    rng_seed(&rng, 6);
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&memory, NULL, BUF_UNLIMITED);
    for (int i = 0; i < 200; i++) { /* damaged: refused; cut off: nothing */
        int fd = dial_greeted();
        buf_reset(&b);
        put_message(&b, (uint64_t)i, STR("some words to be sent"));
        size_t at = 12 + rng_below(&rng, b.n - 12);
        if (i % 2 == 0) {
            b.p[at] = (char)(b.p[at] ^ (1 << rng_below(&rng, 8)));
            put_message(&b, 1000, STR("a good one"));
            ck_assert(put(fd, b.p, b.n));
            bool seen[2] = {false, false};
            for (int j = 0; j < 2; j++) {
                ck_assert(take_message(fd, &id, &f, &memory));
                bool good = id == 1000;
                seen[good] = true;
                ck_assert_int_eq(f.flags, good ? FRAME_ANSWER : FRAME_ANSWER | FRAME_REFUSAL);
                ck_assert(good || id == (uint64_t)i);
            }
            ck_assert(seen[0] && seen[1]);
        } else {
            put(fd, b.p, at);
        }
        close(fd);
    }
    buf_fini(&b);
    buf_fini(&memory);
    assert_answers();
}
END_TEST

/* Asks for ever, and reads no answer: at some time no more is taken. */
START_TEST(never_reads)
{
    int fd = dial_greeted();
    size_t total = 0;
    struct buf b, payload;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&payload, NULL, BUF_UNLIMITED);
    memset(buf_reserve(&payload, 100000), 'x', 100000);
    payload.n = 100000;
    put_message(&b, 1, buf_view(&payload));
    for (size_t at = 0; poll(&p, 1, 700) == 1;) {
        ssize_t n = send(fd, b.p + at, b.n - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        ck_assert(n > 0);
        at = (at + (size_t)n) % b.n;
        total += (size_t)n;
        ck_assert_uint_lt(total, (size_t)100 << 20);
    }
    ck_assert_uint_gt(total, (size_t)1 << 20);
    assert_answers();
    char *rest = malloc(1 << 20); /* it reads: and it goes on */
    size_t came = 0;
    while (came < total / 2) {
        ssize_t n = recv(fd, rest, 1 << 20, 0);
        ck_assert(n > 0);
        came += (size_t)n;
    }
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    free(rest);
    close(fd);
    buf_fini(&b);
    buf_fini(&payload);
}
END_TEST

/* ---- whom we connect to ---- */

static void ask(struct transport_rq *rq, const char *address, enum transport_class cls, size_t n,
                int64_t timeout_ms)
{
    struct transport_peer to = {str_of(address), STR("it")};
    *rq = (struct transport_rq){
        .cls = cls, .kind = ECHO, .timeout_ms = timeout_ms, .on = pool_executor(pool), .done = done};
    buf_init(&rq->payload, NULL, BUF_UNLIMITED);
    memset(buf_reserve(&rq->payload, n), 'x', n);
    rq->payload.n = n;
    api->send(api->self, &to, rq);
}

/* A connection, greeted, of the given class; others are closed. */
static int accept_greeted(int listener, enum transport_class cls)
{
    for (;;) {
        char got[8];
        int fd = accept(listener, NULL, NULL);
        ck_assert_int_ge(fd, 0);
        if (take(fd, got, sizeof(got)) && got[5] == (char)cls) {
            put(fd, got, sizeof(got));
            return fd;
        }
        close(fd);
    }
}

/* A control connection that the transport takes for one. */
static int link_up(int listener, const char *address)
{
    struct transport_peer to = {str_of(address), STR("it")};
    api->connect(api->self, &to);
    for (;;) {
        int fd = accept_greeted(listener, TRANSPORT_CONTROL);
        for (int i = 0; i < 500; i++) {
            struct transport_nng_stats stats;
            transport_nng_stats(t, &stats);
            if (stats.connections == 1) {
                return fd;
            }
            sleep_ms(1);
        }
        close(fd); /* the attempt's time was over before it was greeted */
    }
}

START_TEST(never_greets)
{
    char address[32];
    struct transport_rq rq;
    int listener = listen_bare(address, sizeof(address));
    int64_t began = now_ms();
    ask(&rq, address, TRANSPORT_CONTROL, 10, 10000);
    int fd = accept(listener, NULL, NULL);
    wait_for(&finished, 1);
    ck_assert_int_eq(err_code(&rq.error), ERR_NODE_NOT_CONNECTED);
    ck_assert(now_ms() - began < 5000);
    assert_closed(fd); /* the attempt has a time of its own */
    fd = accept(listener, NULL, NULL);
    put(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
    assert_closed(fd);
    fd = accept_greeted(listener, TRANSPORT_CONTROL); /* and it goes on trying */
    struct transport_nng_stats stats = {0};
    while (stats.connections == 0) {
        transport_nng_stats(t, &stats);
    }
    close(fd);
    close(listener);
    wait_for(&lost_count, 1);
    ask(&rq, address, TRANSPORT_CONTROL, 10, 10000);
    wait_for(&finished, 2);
    ck_assert_int_eq(err_code(&rq.error), ERR_NODE_NOT_CONNECTED);
}
END_TEST

/* What waits for a side that does not read is bounded; what never left says so. */
START_TEST(too_much_waits)
{
    enum { N = 90 };
    static struct transport_rq rq[N];
    char address[32];
    int rejected = 0, unsent = 0;
    int listener = listen_bare(address, sizeof(address));
    int fd = link_up(listener, address);
    ask(&rq[0], address, TRANSPORT_CONTROL, 1, 0);
    for (int i = 1; i < N; i++) {
        ask(&rq[i], address, TRANSPORT_CONTROL, TRANSPORT_CONTROL_BYTES_MAX, 0);
    }
    sleep_ms(100);
    close(fd);
    close(listener);
    wait_for(&finished, N);
    for (int i = 0; i < N; i++) {
        enum err e = err_code(&rq[i].error);
        rejected += e == ERR_REJECTED;
        unsent += e == ERR_NODE_NOT_CONNECTED;
        ck_assert(e == ERR_REJECTED || e == ERR_NODE_NOT_CONNECTED || e == ERR_NODE_DISCONNECTED);
    }
    ck_assert_int_eq(err_code(&rq[0].error), ERR_NODE_DISCONNECTED);
    ck_assert(rejected > 0 && unsent > 0);
}
END_TEST

/* Silence closes the connection, after some requests; one slow answer does not. */
START_TEST(silence)
{
    struct transport_rq rq;
    char address[32];
    struct buf b;
    int listener = listen_bare(address, sizeof(address));
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_message(&b, UINT64_MAX, STR("an answer to nothing"));
    int fd = link_up(listener, address);
    for (int i = 0; i < 8; i++) { /* the same process answers others */
        ask(&rq, address, TRANSPORT_CONTROL, 1, 100);
        sleep_ms(10);
        ck_assert(put(fd, b.p, b.n));
        wait_for(&finished, i + 1);
        ck_assert_int_eq(err_code(&rq.error), ERR_RECEIVE_TIMEOUT);
    }
    ck_assert_int_eq(lost_count, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(lost_count, 0);
        ask(&rq, address, TRANSPORT_CONTROL, 1, 100);
        wait_for(&finished, i + 9);
        ck_assert_int_eq(err_code(&rq.error), ERR_RECEIVE_TIMEOUT);
    }
    wait_for(&lost_count, 1);
    close(accept_greeted(listener, TRANSPORT_CONTROL)); /* dialed anew */
    assert_closed(fd);
    close(listener);
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("transport_nng_bytes");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, prefaces);
    tcase_add_test(c, lengths);
    tcase_add_test(c, frames);
    tcase_add_test(c, never_reads);
    tcase_add_test(c, never_greets);
    tcase_add_test(c, too_much_waits);
    tcase_add_test(c, silence);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
