#include "hotel/sync/consumer.h"

#include "common/base/sort_items.h"
#include "hotel/broker/broker.h"
#include "hotel/broker_names.h"
#include "hotel/cli/prepare.h"
#include "hotel/sync/payload.h"
#include "hotel/sync/reconcile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WAIT_MS        250 /* for a first message; also how soon it stops */
#define RETRY_MS       100 /* after a failure; doubles */
#define RETRY_MS_MAX   5000
#define FAILURE_LOG_MS 5000
#define CONNECTIONS    2
#define QUEUES         2

struct consumer {
    const struct hotel_config *config;
    const struct log *log;
    struct log_rate failures;
    pthread_t thread;
    atomic_bool stopping;
    pthread_mutex_t lock; /* over status */
    struct consumer_status status;
    /* the thread's own */
    struct db *db;
    struct broker *broker, *dead; /* dead: where what means nothing is sent from */
    struct reconcile reconcile;
    struct arena arena; /* deliveries */
    struct broker_delivery *held;
    size_t held_n, held_max;
    bool index_ready;
    uint64_t dead_n;
    bool unburied; /* what was refused could not be put aside */
};

/* ---- what others see ---- */

void consumer_status(struct consumer *c, struct consumer_status *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->status;
    pthread_mutex_unlock(&c->lock);
}

static void note(struct consumer *c, uint64_t messages, bool paused, const char *problem)
{
    pthread_mutex_lock(&c->lock);
    c->status.connected = c->broker != NULL;
    c->status.paused = paused;
    c->status.messages += messages;
    c->status.dead = c->dead_n;
    c->status.held = c->held_n;
    c->status.written = c->reconcile.written;
    snprintf(c->status.problem, sizeof(c->status.problem), "%s", problem);
    pthread_mutex_unlock(&c->lock);
}

static void complain(struct consumer *c, const struct errmsg *em)
{
    uint64_t dropped;
    if (log_rate_ok(&c->failures, c->log, FAILURE_LOG_MS, &dropped)) {
        log_warn(c->log, "hotel.sync", "synchronisation waits: %s (%llu more not logged)", err_reason(em),
                 (unsigned long long)dropped);
    }
}

static void rest(struct consumer *c, int64_t ms)
{
    for (; ms > 0 && !atomic_load(&c->stopping); ms -= WAIT_MS) {
        int64_t part = MIN_OF(ms, (int64_t)WAIT_MS);
        nanosleep(&(struct timespec){.tv_nsec = part * 1000000}, NULL);
    }
}

static int64_t next_retry(int64_t ms)
{
    return ms == 0 ? RETRY_MS : MIN_OF(2 * ms, (int64_t)RETRY_MS_MAX);
}

/* ---- the broker ---- */

static enum err open_broker(struct consumer *c, struct broker **out, struct errmsg *em)
{
    return broker_open(out,
                       &(struct broker_opts){.url = &c->config->rabbitmq,
                                             .connect_ms_max = c->config->rabbitmq_ms_max,
                                             .ms_max = c->config->rabbitmq_ms_max},
                       em);
}

static enum err connect_broker(struct consumer *c, struct errmsg *em)
{
    enum err e = open_broker(c, &c->broker, em);
    e = e != ERR_OK ? e : broker_consume(c->broker, MQ_INSERT_QUEUE, c->config->prefetch, em);
    return e != ERR_OK ? e : broker_consume(c->broker, MQ_DELETE_QUEUE, c->config->prefetch, em);
}

static void drop_broker(struct consumer *c)
{
    broker_close(c->broker);
    broker_close(c->dead);
    c->broker = c->dead = NULL;
    c->held_n = 0;
    arena_reset(&c->arena);
}

/* Takes what is there, waiting up to ms for the first. With all of the prefetch in hand nothing more comes: then
 * it is the waiting alone, which keeps the heartbeats going. */
static enum err gather(struct consumer *c, int64_t ms, struct errmsg *em)
{
    bool got = true;
    enum err e = ERR_OK;
    while (e == ERR_OK && got && c->held_n < c->held_max) {
        e = broker_next(c->broker, ms, &c->arena, &c->held[c->held_n], &got, em);
        c->held_n += e == ERR_OK && got ? 1 : 0;
        ms = 0;
    }
    return e;
}

/* To hotel.dead, and confirmed there, before anything is acknowledged. This connection is seldom used, nobody
 * answers its heartbeats meanwhile: after a failure there is a new one. */
static enum err bury(struct consumer *c, const char *key, struct str content_type, struct str body,
                     const char *reason, struct errmsg *em)
{
    enum err e = c->dead == NULL ? open_broker(c, &c->dead, em) : ERR_OK;
    e = e != ERR_OK ? e
                    : broker_publish(
                        c->dead,
                        &(struct broker_message){.exchange = "",
                                                 .key = MQ_DEAD_QUEUE,
                                                 .body = body,
                                                 .content_type = content_type.n > 0 ? content_type.p : NULL,
                                                 .reason = reason,
                                                 .original_key = key},
                        em);
    e = e != ERR_OK ? e : broker_confirm(c->dead, em);
    if (e == ERR_OK) {
        c->dead_n++;
        log_warn(c->log, "hotel.sync", "a message went to " MQ_DEAD_QUEUE ": %s", reason);
    } else {
        broker_close(c->dead);
        c->dead = NULL;
    }
    return e;
}

/* ---- one portion ---- */

struct portion {
    int64_t *ids;
    size_t n;
};

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Each id once. Meaningless messages are put aside here. */
static enum err ids_of(struct consumer *c, struct portion *out, struct errmsg *em)
{
    size_t n = 0;
    out->n = 0;
    out->ids = ARENA_ARRAY(&c->arena, int64_t, c->held_n + 1);
    if (out->ids == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < c->held_n; i++) {
        const struct broker_delivery *d = &c->held[i];
        ERR_LOCAL(why);
        if (payload_id(d->content_type, d->body, &out->ids[n], &why) == ERR_OK) {
            n++;
            continue;
        }
        enum err e = bury(c, d->key.p, d->content_type, d->body, err_reason(&why), em);
        if (e != ERR_OK) {
            return e;
        }
    }
    sort_items(out->ids, n, sizeof(int64_t), compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (out->n == 0 || out->ids[out->n - 1] != out->ids[i]) {
            out->ids[out->n++] = out->ids[i];
        }
    }
    return ERR_OK;
}

/* A row that the search service refuses as a document: nobody can repair that here. While it cannot be put aside
 * its message is not done. */
static void on_refused(void *arg, int64_t id, struct str type, struct str reason)
{
    struct consumer *c = arg;
    char text[400], body[24];
    ERR_LOCAL(em);
    snprintf(text, sizeof(text), "hotel %lld was refused: %.*s: %.*s", (long long)id, STR_ARG(type),
             (int)MIN_OF(reason.n, (size_t)200), reason.n > 0 ? reason.p : "");
    snprintf(body, sizeof(body), "%lld", (long long)id);
    if (bury(c, MQ_INSERT_KEY, STR("text/plain"), str_of(body), text, &em) != ERR_OK) {
        log_warn(c->log, "hotel.sync", "%s, which could not be put aside: %s", text, err_reason(&em));
        c->unburied = true;
    }
}

/* Sees that there is an index, before anything is written and before anything is searched for. */
static enum err prepare_index(struct consumer *c, struct errmsg *em)
{
    struct arena arena;
    bool created;
    if (c->index_ready) {
        return ERR_OK;
    }
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    enum err e = index_ensure(&c->reconcile.remote, &arena, &created, em);
    arena_fini(&arena);
    if (created) {
        log_info(c->log, "hotel.sync", "created the index %.*s", STR_ARG(c->config->index));
    }
    c->index_ready = e == ERR_OK;
    return e;
}

static enum err apply(struct consumer *c, const struct portion *p, struct errmsg *em)
{
    enum err e = prepare_index(c, em);
    c->unburied = false;
    for (size_t i = 0; i < p->n && e == ERR_OK; i += RECONCILE_IDS_MAX) {
        e = reconcile(&c->reconcile, p->ids + i, MIN_OF(p->n - i, (size_t)RECONCILE_IDS_MAX), em);
        if (e == ERR_OK && c->unburied) {
            e = err_set(em, ERR_IO, "the message broker: what was refused could not be put aside");
        }
    }
    c->index_ready = c->index_ready && e == ERR_OK;
    return e;
}

/* Until it is done. Meanwhile the broker is listened to: that keeps its heartbeats going. Only an error of the
 * broker is returned, or ERR_REJECTED when it is to stop. */
static enum err apply_until_done(struct consumer *c, const struct portion *p, struct errmsg *em)
{
    int64_t retry_ms = 0;
    size_t held = c->held_n;
    for (;;) {
        ERR_LOCAL(why);
        if (apply(c, p, &why) == ERR_OK) {
            break;
        }
        complain(c, &why);
        note(c, 0, true, err_reason(&why));
        retry_ms = next_retry(retry_ms);
        for (int64_t ms = retry_ms; ms > 0; ms -= WAIT_MS) {
            if (atomic_load(&c->stopping)) {
                return ERR_REJECTED;
            }
            enum err e = gather(c, MIN_OF(ms, (int64_t)WAIT_MS), em);
            if (e != ERR_OK) {
                return e;
            }
            if (c->held_n == c->held_max) {
                rest(c, MIN_OF(ms, (int64_t)WAIT_MS));
            }
        }
    }
    /* What came in meanwhile is served next; it moves to the front after the acknowledgement. */
    enum err e = broker_ack(c->broker, c->held[held - 1].tag, true, em);
    if (e == ERR_OK) {
        c->held_n -= held;
        memmove(c->held, c->held + held, c->held_n * sizeof(*c->held));
        note(c, held, false, "");
    }
    return e;
}

static enum err serve(struct consumer *c, struct errmsg *em)
{
    struct portion p;
    enum err e = c->broker == NULL ? connect_broker(c, em) : ERR_OK;
    if (e == ERR_OK && c->held_n == 0) {
        ERR_LOCAL(why);
        arena_reset(&c->arena);
        bool paused = prepare_index(c, &why) != ERR_OK;
        note(c, 0, paused, paused ? err_reason(&why) : "");
        e = gather(c, WAIT_MS, em);
        if (e == ERR_OK && c->held_n == 0) {
            reconcile_show(&c->reconcile);
        }
    }
    if (e != ERR_OK || c->held_n == 0) {
        return e;
    }
    note(c, 0, false, "");
    e = ids_of(c, &p, em);
    return e != ERR_OK ? e : apply_until_done(c, &p, em);
}

static void *run(void *arg)
{
    struct consumer *c = arg;
    int64_t retry_ms = 0;
    while (!atomic_load(&c->stopping)) {
        ERR_LOCAL(em);
        if (serve(c, &em) == ERR_OK) {
            retry_ms = 0;
            continue;
        }
        drop_broker(c);
        if (!atomic_load(&c->stopping)) {
            complain(c, &em);
            note(c, 0, false, err_reason(&em));
            retry_ms = next_retry(retry_ms);
            rest(c, retry_ms);
        }
    }
    drop_broker(c);
    db_thread_done();
    return NULL;
}

/* ---- its life ---- */

static enum err prepare(struct consumer *c, struct errmsg *em)
{
    const struct hotel_config *config = c->config;
    c->held_max = (size_t)config->prefetch * QUEUES + 1; /* one more than can come: see gather() */
    c->held = calloc(c->held_max, sizeof(*c->held));
    if (c->held == NULL) {
        return err_no_memory(em);
    }
    return db_new(&c->db,
                  &(struct db_opts){.url = &config->mysql,
                                    .connect_ms_max = config->mysql_ms_max,
                                    .ms_max = config->mysql_ms_max,
                                    .connections_max = CONNECTIONS},
                  em);
}

enum err consumer_new(struct consumer **out, const struct hotel_config *config, const struct log *log,
                      struct errmsg *em)
{
    struct consumer *c = calloc(1, sizeof(*c));
    *out = NULL;
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->config = config;
    c->log = log;
    arena_init(&c->arena, NULL, ARENA_UNLIMITED);
    pthread_mutex_init(&c->lock, NULL);
    enum err e = prepare(c, em);
    reconcile_init(&c->reconcile, config, c->db);
    c->reconcile.on_refused = on_refused;
    c->reconcile.arg = c;
    int failure = e == ERR_OK ? pthread_create(&c->thread, NULL, run, c) : 0;
    if (failure != 0) {
        e = err_errno(em, failure, "starting the synchronisation");
    }
    if (e != ERR_OK) {
        db_free(c->db);
        free(c->held);
        free(c);
        return e;
    }
    *out = c;
    return ERR_OK;
}

void consumer_free(struct consumer *c)
{
    if (c == NULL) {
        return;
    }
    atomic_store(&c->stopping, true);
    pthread_join(c->thread, NULL);
    reconcile_fini(&c->reconcile);
    db_free(c->db);
    arena_fini(&c->arena);
    pthread_mutex_destroy(&c->lock);
    free(c->held);
    free(c);
}
