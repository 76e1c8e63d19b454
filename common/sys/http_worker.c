/* http_worker.c - the server on one loop: slow clients, and the end. */
#include "common/sys/http_conn.h"

#define SWEEP_MS_MIN   10
#define SWEEP_MS_MAX   1000
#define PROGRESS_BYTES (16 * KIB)

/* Does the socket take the answers fast enough? */
static bool writes_too_slowly(struct http_conn *c, int64_t now_ms)
{
    size_t left = evbuffer_get_length(bufferevent_get_output(c->bev));
    uint64_t sent = c->written - left;
    if (left == 0 || sent - c->write_mark >= PROGRESS_BYTES) {
        c->write_mark = sent;
        c->write_deadline_ms = now_ms + c->worker->server->opts.limits.write_ms_max;
        return false;
    }
    return now_ms >= c->write_deadline_ms;
}

/* c may be gone. */
static void check_deadlines(struct http_conn *c, int64_t now_ms)
{
    if (c->bev == NULL) {
        return;
    }
    bool reading = c->phase == PHASE_HEAD || c->phase == PHASE_BODY;
    if (writes_too_slowly(c, now_ms)) {
        conn_close(c);
        conn_settle(c);
    } else if (now_ms >= c->deadline_ms && !(reading && c->paused)) {
        if (reading) {
            conn_refuse(c, ERR_TIMEOUT, 408, "the request took too long to arrive", NULL);
            conn_run(c);
        } else if (c->phase != PHASE_IDLE || c->first == NULL) {
            conn_close(c);
            conn_settle(c);
        }
    }
}

/* Calls each(c) for every connection; a connection may go meanwhile, the worker not. */
static void each_conn(struct http_worker *w, void (*each)(struct http_conn *c, int64_t now_ms),
                      int64_t now_ms)
{
    w->conns_n++; /* keeps worker_check_done() from finishing it */
    for (struct http_conn *c = w->conns.next; c != &w->conns;) {
        struct http_conn *next = c->next;
        each(c, now_ms);
        c = next;
    }
    w->conns_n--;
    worker_check_done(w);
}

static void sweep(void *arg)
{
    struct http_worker *w = arg;
    if (w->conns_n == 0) {
        loop_ticker_free(w->sweep);
        w->sweep = NULL;
        return;
    }
    each_conn(w, check_deadlines, server_now_ms(w->server));
}

void worker_sweep_on(struct http_worker *w)
{
    if (w->sweep != NULL) {
        return;
    }
    const struct http_limits *l = &w->server->opts.limits;
    int64_t least = MIN_OF(MIN_OF(l->header_ms_max, l->body_ms_max), l->write_ms_max);
    if (l->idle_ms_max > 0) {
        least = MIN_OF(least, l->idle_ms_max);
    }
    int64_t ms = MAX_OF(MIN_OF(least / 4, (int64_t)SWEEP_MS_MAX), (int64_t)SWEEP_MS_MIN);
    w->sweep = loop_ticker_new(w->loop, ms, sweep, w); /* NULL: tried again with the next connection */
}

void worker_check_done(struct http_worker *w)
{
    struct http_server *s = w->server;
    if (!w->stopping || w->done || w->conns_n > 0) {
        return;
    }
    w->done = true;
    timer_cancel(loop_timers(w->loop), w->grace);
    w->grace = NULL;
    loop_ticker_free(w->sweep);
    w->sweep = NULL;
    if (atomic_fetch_sub(&s->workers_left, 1) == 1) {
        loop_post_task(s->opts.loops[0], &s->done);
    }
}

static void close_it(struct http_conn *c, UNUSED int64_t now_ms)
{
    conn_close(c);
    conn_settle(c);
}

static void drop_idle(struct http_conn *c, UNUSED int64_t now_ms)
{
    conn_settle(c);
}

static void grace_over(void *arg)
{
    struct http_worker *w = arg;
    w->grace = NULL;
    each_conn(w, close_it, 0);
}

void worker_stop(struct loop_task *t)
{
    struct http_worker *w = (struct http_worker *)(void *)((char *)t - offsetof(struct http_worker, stop));
    w->stopping = true;
    w->grace = timer_start(loop_timers(w->loop), w->server->grace_ms, grace_over, w);
    each_conn(w, w->grace != NULL ? drop_idle : close_it, 0);
}
