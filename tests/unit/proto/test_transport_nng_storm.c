/* Many requests both ways while ends stop and come back, and links are forgotten: nothing hangs, and each request ends exactly once. */
#include "common/base/rand.h"
#include "common/sys/pool.h"
#include "proto/transport_nng.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ECHO = 70, REFUSE, SLOW, ENDS = 3, SENDERS = 3, IN_FLIGHT_MAX = 300 };

/* One life of an end; the port stays. */
struct end {
    struct transport_nng *t;
    const struct transport *api;
    char id[16];
    pthread_mutex_t lock;
    struct transport_call *held; /* a SLOW one, answered by the next */
    bool closing;
};

struct place {
    pthread_rwlock_t lock; /* shared: uses the end; exclusive: changes it */
    struct end *end;
    unsigned lives;
    char address[32];
};

struct request {
    struct transport_rq rq;
    struct end *from; /* compared only */
    _Atomic int times, done;
};

static struct pool *pool;
static struct place places[ENDS];
static _Atomic int in_flight, by_code[6];
static _Atomic long sent, ended, lost_count, stops, forgets;
static _Atomic bool over;

static void reply_with(struct end *e, struct transport_call *call)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, call->payload);
    e->api->reply(e->api->self, call, &b);
}

static void echo(void *arg, struct transport_call *call)
{
    reply_with(arg, call);
}

static void refuse_it(void *arg, struct transport_call *call)
{
    struct end *e = arg;
    ERR_LOCAL(em);
    err_set(&em, ERR_CONFLICT, "no");
    e->api->refuse(e->api->self, call, &em);
}

static struct transport_call *keep(struct end *e, struct transport_call *call)
{
    pthread_mutex_lock(&e->lock);
    struct transport_call *before = e->closing ? call : e->held;
    e->held = e->closing ? e->held : call;
    pthread_mutex_unlock(&e->lock);
    return before;
}

static void slow(void *arg, struct transport_call *call)
{
    struct transport_call *before = keep(arg, call);
    if (before != NULL) {
        reply_with(arg, before);
    }
}

static void lost(void *arg, const struct transport_peer *peer)
{
    (void)arg;
    (void)peer;
    lost_count++;
}

static void end_open(struct place *p)
{
    static const uint16_t kinds[] = {ECHO, REFUSE, SLOW};
    static void (*const handlers[])(void *, struct transport_call *) = {echo, refuse_it, slow};
    unsigned port = 0;
    struct end *e = calloc(1, sizeof(*e));
    snprintf(e->id, sizeof(e->id), "%d-%u", (int)(p - places), ++p->lives % 2);
    pthread_mutex_init(&e->lock, NULL);
    if (p->address[0] != 0) {
        sscanf(p->address, "127.0.0.1:%u", &port);
    }
    struct transport_nng_opts o = {
        .host = STR("127.0.0.1"), .port_first = port, .port_last = port, .ephemeral_id = str_of(e->id)};
    ERR_LOCAL(em);
    ck_assert_msg(transport_nng_new(&e->t, &o, &em) == ERR_OK, "%s", err_reason(&em));
    e->api = transport_nng_api(e->t);
    if (port == 0) {
        snprintf(p->address, sizeof(p->address), "127.0.0.1:%u", transport_nng_port(e->t));
    }
    for (int i = 0; i < 3; i++) {
        e->api->serve(e->api->self, kinds[i], pool_executor(pool), handlers[i], e);
    }
    e->api->watch(e->api->self, pool_executor(pool), lost, NULL);
    transport_nng_start(e->t);
    p->end = e;
}

/* Answers what is held too: free() waits for it. */
static void end_close(struct end *e)
{
    transport_nng_stop(e->t);
    pthread_mutex_lock(&e->lock);
    struct transport_call *held = e->held;
    e->closing = true;
    e->held = NULL;
    pthread_mutex_unlock(&e->lock);
    if (held != NULL) {
        reply_with(e, held);
    }
    transport_nng_free(e->t);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static void done(struct transport_rq *rq)
{
    struct request *r = rq->user;
    ck_assert_int_eq(atomic_fetch_add(&r->times, 1), 0);
    static const enum err codes[] = {ERR_NODE_NOT_CONNECTED, ERR_NODE_DISCONNECTED, ERR_RECEIVE_TIMEOUT,
                                     ERR_CANCELLED, ERR_CONFLICT};
    if (!err_is(&rq->error)) {
        by_code[5]++;
        for (size_t i = 0; i < rq->answer.n; i++) {
            if (rq->answer.p[i] != (char)(rq->answer.n + i)) {
                ck_abort_msg("another answer");
            }
        }
    } else {
        size_t i = 0;
        while (i < ARRAY_LEN(codes) && codes[i] != err_code(&rq->error)) {
            i++;
        }
        ck_assert_msg(i < ARRAY_LEN(codes), "%s", err_reason(&rq->error));
        by_code[i]++;
    }
    transport_rq_fini(rq);
    ended++;
    in_flight--;
    r->done = 1; /* it is freed now */
}

static struct request *send_one(struct end *from, struct rng *rng, struct place *to)
{
    struct request *r = calloc(1, sizeof(*r));
    char id[16];
    snprintf(id, sizeof(id), "%d-%u", (int)(to - places), (unsigned)rng_below(rng, 2));
    struct transport_peer peer = {str_of(to->address), rng_below(rng, 10) == 0 ? STR("") : str_of(id)};
    size_t n = rng_below(rng, 50) == 0 ? rng_below(rng, 900000)
                                       : rng_below(rng, rng_below(rng, 4) == 0 ? 60000 : 300);
    r->from = from;
    r->rq = (struct transport_rq){.cls = (enum transport_class)rng_below(rng, TRANSPORT_CLASSES),
                                  .kind = (uint16_t)(ECHO + rng_below(rng, 3)),
                                  .timeout_ms = (int64_t)(1 + rng_below(rng, 300)),
                                  .on = pool_executor(pool),
                                  .done = done,
                                  .user = r};
    buf_init(&r->rq.payload, NULL, BUF_UNLIMITED);
    char *p = buf_reserve(&r->rq.payload, n);
    for (size_t i = 0; i < n; i++) {
        p[i] = (char)(n + i);
    }
    r->rq.payload.n = n;
    in_flight++;
    sent++;
    from->api->send(from->api->self, &peer, &r->rq);
    return r;
}

/* Keeps requests of its own, to cancel some and to free them all. */
static void *sender(void *arg)
{
    enum { KEEP = 64 };
    struct request *mine[KEEP] = {0};
    struct rng rng;
    rng_seed(&rng, (uint64_t)(uintptr_t)arg);
    while (!over) {
        struct place *p = &places[rng_below(&rng, ENDS)];
        size_t i = (size_t)rng_below(&rng, KEEP);
        if (in_flight > IN_FLIGHT_MAX || (mine[i] != NULL && mine[i]->done == 0)) {
            struct timespec soon = {.tv_nsec = 100000};
            pthread_rwlock_rdlock(&p->lock);
            if (mine[i] != NULL && mine[i]->from == p->end && rng_below(&rng, 4) == 0) {
                p->end->api->cancel(p->end->api->self, &mine[i]->rq);
            }
            pthread_rwlock_unlock(&p->lock);
            nanosleep(&soon, NULL);
            continue;
        }
        free(mine[i]);
        pthread_rwlock_rdlock(&p->lock);
        mine[i] = send_one(p->end, &rng, &places[rng_below(&rng, ENDS)]);
        pthread_rwlock_unlock(&p->lock);
    }
    for (size_t i = 0; i < KEEP; i++) {
        while (mine[i] != NULL && mine[i]->done == 0) {
            struct timespec soon = {.tv_nsec = 100000};
            nanosleep(&soon, NULL);
        }
        free(mine[i]);
    }
    return NULL;
}

static void forget_one(struct rng *rng)
{
    struct place *p = &places[rng_below(rng, ENDS)], *to = &places[rng_below(rng, ENDS)];
    char id[16];
    snprintf(id, sizeof(id), "%d-%u", (int)(to - places), (unsigned)rng_below(rng, 2));
    struct transport_peer peer = {str_of(to->address), str_of(id)};
    pthread_rwlock_rdlock(&p->lock);
    if (rng_below(rng, 2) == 0) {
        p->end->api->forget(p->end->api->self, &peer);
    } else {
        p->end->api->connect(p->end->api->self, &peer);
    }
    pthread_rwlock_unlock(&p->lock);
    forgets++;
}

static void stop_one(struct rng *rng)
{
    struct place *p = &places[rng_below(rng, ENDS)];
    pthread_rwlock_wrlock(&p->lock);
    end_close(p->end);
    end_open(p);
    pthread_rwlock_unlock(&p->lock);
    stops++;
}

START_TEST(storm)
{
    const char *text = getenv("SEED"), *seconds = getenv("SECONDS_LONG");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 1;
    struct pool_opts o = {.name = "test", .threads_max = 3, .queue_max = 100000};
    ck_assert_int_eq(pool_new(&pool, &o, NULL), ERR_OK);
    struct rng rng;
    rng_seed(&rng, seed);
    for (int i = 0; i < ENDS; i++) {
        pthread_rwlock_init(&places[i].lock, NULL);
        end_open(&places[i]);
    }
    pthread_t threads[SENDERS];
    for (size_t i = 0; i < SENDERS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, sender, (void *)(uintptr_t)(seed * 100 + i)), 0);
    }
    time_t until = time(NULL) + (seconds != NULL ? atoi(seconds) : 4);
    while (time(NULL) < until) {
        struct timespec pause = {.tv_nsec = (long)rng_below(&rng, 4000000)};
        nanosleep(&pause, NULL);
        if (rng_below(&rng, 3) == 0) {
            stop_one(&rng);
        } else {
            forget_one(&rng);
        }
    }
    over = true;
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < ENDS; i++) {
        end_close(places[i].end);
    }
    pool_free(pool);
    ck_assert_int_eq(sent, ended);
    ck_assert_int_eq(in_flight, 0);
    printf("%ld requests: %d answered, %d refused, %d not connected, %d disconnected, %d timed out, %d "
           "cancelled; %ld stops, "
           "%ld times forgotten, %ld lost\n",
           sent, by_code[5], by_code[4], by_code[0], by_code[1], by_code[2], by_code[3], stops, forgets,
           lost_count);
    ck_assert(by_code[5] > 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("transport_nng_storm");
    TCase *c = tcase_create("all");
    const char *seconds = getenv("SECONDS_LONG");
    tcase_set_timeout(c, 120 + (seconds != NULL ? atoi(seconds) : 0));
    tcase_add_test(c, storm);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
