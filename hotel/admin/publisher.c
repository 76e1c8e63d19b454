#include "hotel/admin/publisher.h"

#include "common/sys/clock_real.h"
#include "hotel/broker_names.h"
#include "hotel/mysql/hotels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_MS        250  /* between looks at an outbox of which nobody said that something is new */
#define QUEUES_MS      500  /* between looks at the queues, while somebody asks */
#define ASKED_MS       5000 /* how long a question counts as one */
#define RETRY_MS       100  /* after a failure; doubles */
#define RETRY_MS_MAX   5000
#define FAILURE_LOG_MS 5000
#define CONTENT_TYPE   "text/plain"

struct publisher {
    const struct hotel_config *config;
    const struct log *log;
    struct db *db;
    struct log_rate failures;
    pthread_t thread;
    pthread_mutex_t lock; /* over what follows up to the next comment */
    pthread_cond_t changed;
    bool woken, stopping;
    int64_t asked_ms;
    struct publisher_status status;
    /* the thread's own */
    struct db_conn *conn;
    struct broker *broker;
    struct arena arena;
    bool leading;
    int64_t queues_at_ms, retry_ms;
};

static int64_t now_ms(void)
{
    return clock_mono_ms(clock_real());
}

/* ---- what others see ---- */

void publisher_wake(struct publisher *p)
{
    pthread_mutex_lock(&p->lock);
    p->woken = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void publisher_status(struct publisher *p, struct publisher_status *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->status;
    p->asked_ms = now_ms();
    pthread_mutex_unlock(&p->lock);
}

/* Sleeps up to ms; a wake ends it, unless `patient`. false: it is to stop. */
static bool publisher_pause(struct publisher *p, int64_t ms, bool patient)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&p->lock);
    while (!p->stopping && waited == 0 && (patient || !p->woken)) {
        waited = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    }
    p->woken = false;
    bool go_on = !p->stopping;
    pthread_mutex_unlock(&p->lock);
    return go_on;
}

static void note(struct publisher *p, uint64_t published, const char *problem)
{
    pthread_mutex_lock(&p->lock);
    p->status.published += published;
    p->status.broker_up = p->broker != NULL;
    p->status.leading = p->leading;
    snprintf(p->status.problem, sizeof(p->status.problem), "%s", problem);
    pthread_mutex_unlock(&p->lock);
}

/* ---- one round ---- */

static enum err connect_both(struct publisher *p, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (p->conn == NULL) {
        p->leading = false;
        e = db_take(p->db, &p->conn, em);
        e = e != ERR_OK ? e : hotels_create_tables(p->conn, &p->arena, em);
    }
    if (e == ERR_OK && p->broker == NULL) {
        e = broker_open(&p->broker,
                        &(struct broker_opts){.url = &p->config->rabbitmq,
                                              .connect_ms_max = p->config->rabbitmq_ms_max,
                                              .ms_max = p->config->rabbitmq_ms_max},
                        em);
    }
    if (e == ERR_OK && !p->leading) {
        e = outbox_lead(p->conn, &p->arena, &p->leading, em);
    }
    return e;
}

static enum err publish(struct publisher *p, const struct outbox_row *rows, size_t n, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        char id[24];
        snprintf(id, sizeof(id), "%lld", (long long)rows[i].hotel_id);
        e = broker_publish(p->broker,
                           &(struct broker_message){.exchange = MQ_EXCHANGE,
                                                    .key = rows[i].deleted ? MQ_DELETE_KEY : MQ_INSERT_KEY,
                                                    .body = str_of(id),
                                                    .content_type = CONTENT_TYPE},
                           em);
    }
    e = e != ERR_OK ? e : broker_confirm(p->broker, em);
    return e != ERR_OK ? e : outbox_remove(p->conn, rows, n, &p->arena, em);
}

static enum err read_queue_depths(struct publisher *p, struct errmsg *em)
{
    struct broker_queue insert, remove, dead;
    int64_t now = now_ms();
    pthread_mutex_lock(&p->lock);
    bool due = now - p->asked_ms < ASKED_MS && now - p->queues_at_ms >= QUEUES_MS;
    pthread_mutex_unlock(&p->lock);
    if (!due) {
        return ERR_OK;
    }
    enum err e = broker_queue_state(p->broker, MQ_INSERT_QUEUE, &insert, em);
    e = e != ERR_OK ? e : broker_queue_state(p->broker, MQ_DELETE_QUEUE, &remove, em);
    e = e != ERR_OK ? e : broker_queue_state(p->broker, MQ_DEAD_QUEUE, &dead, em);
    if (e == ERR_OK) {
        p->queues_at_ms = now;
        pthread_mutex_lock(&p->lock);
        p->status.queues_at_ms = now;
        p->status.insert = insert;
        p->status.remove = remove;
        p->status.dead = dead;
        pthread_mutex_unlock(&p->lock);
    }
    return e;
}

/* Publishes what is there, up to one portion. *n: how many that were. */
static enum err publish_round(struct publisher *p, size_t *n, struct errmsg *em)
{
    struct outbox_row *rows;
    *n = 0;
    arena_reset(&p->arena);
    enum err e = connect_both(p, em);
    if (e == ERR_OK && p->leading) {
        e = outbox_read(p->conn, OUTBOX_ROWS_MAX, &p->arena, &rows, n, em);
        e = e == ERR_OK && *n > 0 ? publish(p, rows, *n, em) : e;
    }
    e = e != ERR_OK ? e : broker_idle(p->broker, em);
    return e != ERR_OK ? e : read_queue_depths(p, em);
}

/* After a failure nothing is known of either connection. */
static void drop_both(struct publisher *p)
{
    broker_close(p->broker);
    p->broker = NULL;
    if (p->conn != NULL) {
        db_mark_broken(p->conn);
        db_give(p->db, p->conn);
    }
    p->conn = NULL;
    p->leading = false;
}

static bool failed(struct publisher *p, const struct errmsg *em)
{
    uint64_t dropped;
    if (log_rate_ok(&p->failures, p->log, FAILURE_LOG_MS, &dropped)) {
        log_warn(p->log, "hotel.publisher", "publishing waits: %s (%llu more not logged)", err_reason(em),
                 (unsigned long long)dropped);
    }
    drop_both(p);
    note(p, 0, err_reason(em));
    p->retry_ms = p->retry_ms == 0 ? RETRY_MS : MIN_OF(2 * p->retry_ms, (int64_t)RETRY_MS_MAX);
    return publisher_pause(p, p->retry_ms, true);
}

static void *run(void *arg)
{
    struct publisher *p = arg;
    bool go_on = true;
    while (go_on) {
        ERR_LOCAL(em);
        size_t n;
        if (publish_round(p, &n, &em) != ERR_OK) {
            go_on = failed(p, &em);
            continue;
        }
        p->retry_ms = 0;
        note(p, n, p->leading ? "" : "another management service publishes");
        go_on = publisher_pause(p, n == OUTBOX_ROWS_MAX ? 0 : LOOK_MS, false);
    }
    drop_both(p);
    db_thread_done();
    return NULL;
}

enum err publisher_new(struct publisher **out, const struct hotel_config *config, struct db *db,
                       const struct log *log, struct errmsg *em)
{
    struct publisher *p = calloc(1, sizeof(*p));
    pthread_condattr_t attr;
    *out = NULL;
    if (p == NULL) {
        return err_no_memory(em);
    }
    p->config = config;
    p->db = db;
    p->log = log;
    p->asked_ms = now_ms() - ASKED_MS;
    p->queues_at_ms = p->asked_ms;
    arena_init(&p->arena, NULL, ARENA_UNLIMITED);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    int failure = pthread_create(&p->thread, NULL, run, p);
    if (failure != 0) {
        free(p);
        return err_errno(em, failure, "starting the publisher");
    }
    *out = p;
    return ERR_OK;
}

void publisher_free(struct publisher *p)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    arena_fini(&p->arena);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
