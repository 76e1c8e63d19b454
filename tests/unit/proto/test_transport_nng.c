/* The real transport between two ends in one process. */
#include "common/base/rand.h"
#include "common/sys/pool.h"
#include "proto/transport_nng.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ECHO = 70, REFUSE, HOLD, KEEP };

struct end {
    struct transport_nng *t;
    const struct transport *api;
    char address[32];
    struct transport_call *held;
    _Atomic int holding;
};

static struct pool *pool;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int finished, lost_count;

static void echo(void *arg, struct transport_call *call)
{
    struct end *e = arg;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, call->payload);
    e->api->reply(e->api->self, call, &b);
}

static void refuse_it(void *arg, struct transport_call *call)
{
    struct end *e = arg;
    ERR_LOCAL(em);
    err_set(&em, ERR_CONFLICT, "no: %.*s", STR_ARG(call->payload));
    e->api->refuse(e->api->self, call, &em);
}

static void hold(void *arg, struct transport_call *call)
{
    struct end *e = arg;
    e->held = call;
    e->holding = 1;
}

static struct transport_call *kept[512];
static int n_kept;

static void keep(void *arg, struct transport_call *call)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    kept[n_kept++] = call;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static void lost(void *arg, const struct transport_peer *peer)
{
    (void)arg;
    (void)peer;
    pthread_mutex_lock(&lock);
    lost_count++;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static void end_open(struct end *e, const char *id, unsigned port)
{
    struct transport_nng_opts o = {.host = STR("127.0.0.1"),
                                   .port_first = port,
                                   .port_last = port == 0 ? 0 : port,
                                   .ephemeral_id = str_of(id)};
    ERR_LOCAL(em);
    *e = (struct end){0};
    ck_assert_msg(transport_nng_new(&e->t, &o, &em) == ERR_OK, "%s", err_reason(&em));
    e->api = transport_nng_api(e->t);
    snprintf(e->address, sizeof(e->address), "127.0.0.1:%u", transport_nng_port(e->t));
    e->api->serve(e->api->self, ECHO, pool_executor(pool), echo, e);
    e->api->serve(e->api->self, REFUSE, pool_executor(pool), refuse_it, e);
    e->api->serve(e->api->self, HOLD, pool_executor(pool), hold, e);
    e->api->serve(e->api->self, KEEP, pool_executor(pool), keep, e);
    e->api->watch(e->api->self, pool_executor(pool), lost, NULL);
    transport_nng_start(e->t);
}

static void end_close(struct end *e)
{
    transport_nng_stop(e->t);
    transport_nng_free(e->t);
}

static void done(struct transport_rq *rq)
{
    (void)rq;
    pthread_mutex_lock(&lock);
    finished++;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const int *what, int n)
{
    pthread_mutex_lock(&lock);
    while (*what < n) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void send_to(struct end *from, const char *address, const char *id, struct transport_rq *rq,
                    uint16_t kind, const char *text, int64_t timeout_ms)
{
    struct transport_peer to = {str_of(address), str_of(id)};
    *rq = (struct transport_rq){.cls = TRANSPORT_DATA,
                                .kind = kind,
                                .timeout_ms = timeout_ms,
                                .on = pool_executor(pool),
                                .done = done};
    buf_init(&rq->payload, NULL, BUF_UNLIMITED);
    buf_z(&rq->payload, text);
    from->api->send(from->api->self, &to, rq);
}

static void setup(void)
{
    struct pool_opts o = {.name = "test", .threads_max = 2, .queue_max = 100000};
    ck_assert_int_eq(pool_new(&pool, &o, NULL), ERR_OK);
    finished = lost_count = 0;
}

static void teardown(void)
{
    pool_free(pool);
}

START_TEST(asks_and_answers)
{
    enum { N = 2000 };
    static struct transport_rq rq[N];
    struct end a, b;
    end_open(&a, "a", 0);
    end_open(&b, "b", 0);
    for (int i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%d", i);
        send_to(i % 2 == 0 ? &a : &b, i % 2 == 0 ? b.address : a.address, i % 2 == 0 ? "b" : "a", &rq[i],
                i % 5 == 0 ? REFUSE : ECHO, text, 20000);
    }
    wait_for(&finished, N);
    for (int i = 0; i < N; i++) {
        char text[32];
        if (i % 5 == 0) {
            snprintf(text, sizeof(text), "no: %d", i);
            ck_assert_int_eq(err_code(&rq[i].error), ERR_CONFLICT);
            ck_assert_str_eq(err_reason(&rq[i].error), text);
        } else {
            snprintf(text, sizeof(text), "%d", i);
            ck_assert_msg(!err_is(&rq[i].error), "%s", err_reason(&rq[i].error));
            ck_assert(str_is(rq[i].answer, text));
        }
        transport_rq_fini(&rq[i]);
    }
    end_close(&a);
    end_close(&b);
}
END_TEST

START_TEST(nobody_and_the_wrong_one)
{
    struct transport_rq rq;
    struct end a, b;
    end_open(&a, "a", 0);
    end_open(&b, "b", 0);
    char nobody[32];
    snprintf(nobody, sizeof(nobody), "%s", b.address);
    send_to(&a, b.address, "another", &rq, ECHO, "x", 5000);
    wait_for(&finished, 1);
    ck_assert_int_eq(err_code(&rq.error), ERR_NODE_NOT_CONNECTED);
    send_to(&a, b.address, "", &rq, ECHO, "x", 5000); /* whoever it is */
    wait_for(&finished, 2);
    ck_assert(!err_is(&rq.error));
    transport_rq_fini(&rq);
    end_close(&b);
    send_to(&a, nobody, "b", &rq, ECHO, "x", 5000);
    wait_for(&finished, 3);
    ck_assert_int_eq(err_code(&rq.error), ERR_NODE_NOT_CONNECTED);
    end_close(&a);
}
END_TEST

START_TEST(time_cancel_and_loss)
{
    struct transport_rq rq;
    struct end a, b;
    end_open(&a, "a", 0);
    end_open(&b, "b", 0);
    struct transport_peer peer = {str_of(b.address), STR("b")};
    a.api->connect(a.api->self, &peer);
    send_to(&a, b.address, "b", &rq, ECHO, "x", 0);
    wait_for(&finished, 1);
    transport_rq_fini(&rq);
    for (int round = 0; round < 3; round++) { /* time-out, cancel, the other end goes */
        b.holding = 0;
        send_to(&a, b.address, "b", &rq, HOLD, "x", round == 0 ? 1000 : 0);
        while (!b.holding) {
        }
        if (round == 1) {
            a.api->cancel(a.api->self, &rq);
        } else if (round == 2) {
            transport_nng_stop(b.t);
        }
        wait_for(&finished, round + 2);
        static const enum err want[] = {ERR_RECEIVE_TIMEOUT, ERR_CANCELLED, ERR_NODE_DISCONNECTED};
        ck_assert_int_eq(err_code(&rq.error), want[round]);
        ERR_LOCAL(em);
        err_set(&em, ERR_CANCELLED, "late");
        b.api->refuse(b.api->self, b.held, &em);
    }
    wait_for(&lost_count, 1);
    transport_nng_free(b.t);
    end_close(&a);
}
END_TEST

START_TEST(too_long)
{
    struct transport_rq rq = {
        .cls = TRANSPORT_CONTROL, .kind = ECHO, .on = pool_executor(pool), .done = done};
    struct end a, b;
    end_open(&a, "a", 0);
    end_open(&b, "b", 0);
    struct transport_peer peer = {str_of(b.address), STR("b")};
    buf_init(&rq.payload, NULL, BUF_UNLIMITED);
    memset(buf_reserve(&rq.payload, TRANSPORT_CONTROL_BYTES_MAX + 1), 'x', TRANSPORT_CONTROL_BYTES_MAX + 1);
    rq.payload.n = TRANSPORT_CONTROL_BYTES_MAX + 1;
    a.api->send(a.api->self, &peer, &rq);
    wait_for(&finished, 1);
    ck_assert_int_eq(err_code(&rq.error), ERR_ILLEGAL_ARGUMENT);
    end_close(&a);
    end_close(&b);
}
END_TEST

/* Long messages both ways, and short ones beside them that need not wait for them in other classes. */
START_TEST(large)
{
    enum { N = 6, SMALL = 300, BYTES = 40 << 20, BLOCK = 100003 };
    static struct transport_rq big[N], small[SMALL];
    static char block[BLOCK + N];
    struct rng rng;
    rng_seed(&rng, 9);
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = (char)rng_u64(&rng);
    }
    struct end a, b;
    end_open(&a, "a", 0);
    end_open(&b, "b", 0);
    for (int i = 0; i < N; i++) {
        struct end *from = i % 2 == 0 ? &a : &b, *to = i % 2 == 0 ? &b : &a;
        struct transport_peer peer = {str_of(to->address), i % 2 == 0 ? STR("b") : STR("a")};
        size_t n = BYTES + (size_t)i * 1000003;
        big[i] = (struct transport_rq){.cls = i < 4 ? TRANSPORT_DATA : TRANSPORT_RECOVERY,
                                       .kind = ECHO,
                                       .timeout_ms = 50000,
                                       .on = pool_executor(pool),
                                       .done = done};
        buf_init(&big[i].payload, NULL, BUF_UNLIMITED);
        while (big[i].payload.n < n) {
            buf_add(&big[i].payload, block + i, MIN_OF(n - big[i].payload.n, (size_t)BLOCK));
        }
        from->api->send(from->api->self, &peer, &big[i]);
    }
    for (int i = 0; i < SMALL; i++) {
        send_to(&a, b.address, "b", &small[i], ECHO, "small", 50000);
    }
    wait_for(&finished, N + SMALL);
    for (int i = 0; i < N; i++) {
        ck_assert_msg(!err_is(&big[i].error), "%s", err_reason(&big[i].error));
        ck_assert_uint_eq(big[i].answer.n, BYTES + (size_t)i * 1000003);
        for (size_t at = 0; at < big[i].answer.n; at += BLOCK) {
            size_t k = MIN_OF(big[i].answer.n - at, (size_t)BLOCK);
            ck_assert_mem_eq(big[i].answer.p + at, block + i, k);
        }
        transport_rq_fini(&big[i]);
    }
    for (int i = 0; i < SMALL; i++) {
        ck_assert(!err_is(&small[i].error) && str_is(small[i].answer, "small"));
        transport_rq_fini(&small[i]);
    }
    end_close(&a);
    end_close(&b);
}
END_TEST

/* A process works on so many requests of a class at a time; the others are refused at once. */
START_TEST(busy)
{
    enum { N = 300, AT_ONCE = 256 };
    static struct transport_rq rq[N];
    struct transport_nng_stats stats;
    struct end a, b;
    int rejected = 0;
    end_open(&a, "a", 0);
    end_open(&b, "b", 0);
    struct transport_peer peer = {str_of(b.address), STR("b")};
    for (int i = 0; i < N; i++) {
        rq[i] = (struct transport_rq){
            .cls = TRANSPORT_RECOVERY, .kind = KEEP, .on = pool_executor(pool), .done = done};
        buf_init(&rq[i].payload, NULL, BUF_UNLIMITED);
        a.api->send(a.api->self, &peer, &rq[i]);
    }
    wait_for(&finished, N - AT_ONCE);
    wait_for(&n_kept, AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++) {
        struct buf empty;
        buf_init(&empty, NULL, BUF_UNLIMITED);
        b.api->reply(b.api->self, kept[i], &empty);
    }
    wait_for(&finished, N);
    for (int i = 0; i < N; i++) {
        rejected += err_is(&rq[i].error) && err_code(&rq[i].error) == ERR_REJECTED;
        transport_rq_fini(&rq[i]);
    }
    ck_assert_int_eq(rejected, N - AT_ONCE);
    transport_nng_stats(b.t, &stats);
    ck_assert_uint_eq(stats.refused_busy, N - AT_ONCE);
    ck_assert_uint_eq(stats.received, N);
    end_close(&a);
    end_close(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("transport_nng");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, asks_and_answers);
    tcase_add_test(c, nobody_and_the_wrong_one);
    tcase_add_test(c, time_cancel_and_loss);
    tcase_add_test(c, too_long);
    tcase_add_test(c, large);
    tcase_add_test(c, busy);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
