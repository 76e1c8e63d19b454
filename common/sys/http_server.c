/* http_server.c - the server as a whole: its options, its beginning and its end. */
#include "common/sys/http_server.h"

#include "common/sys/clock_real.h"
#include "common/sys/http_conn.h"
#include "common/sys/process.h"

#include <stdlib.h>

#define HEADER_BYTES_LIMIT (64 * KIB) /* http-parser's own, of 80 KiB, must not come first */

static size_t or_size(size_t v, size_t otherwise)
{
    return v > 0 ? v : otherwise;
}

static int64_t or_ms(int64_t v, int64_t otherwise)
{
    return v > 0 ? v : otherwise;
}

static void fill_in(struct http_server_opts *o)
{
    struct http_limits *l = &o->limits;
    l->body_bytes_max = or_size(l->body_bytes_max, 100 * MIB);
    l->inflated_bytes_max = or_size(l->inflated_bytes_max, 100 * MIB);
    l->inflight_bytes_max = or_size(l->inflight_bytes_max, SIZE_MAX);
    l->header_bytes_max = MIN_OF(or_size(l->header_bytes_max, 8 * KIB), HEADER_BYTES_LIMIT);
    l->line_bytes_max = MIN_OF(or_size(l->line_bytes_max, 4 * KIB), HEADER_BYTES_LIMIT);
    l->pipelined_max = l->pipelined_max > 0 ? l->pipelined_max : 10000;
    l->connections_max = l->connections_max > 0 ? l->connections_max : 10000;
    uint64_t files = process_raise_open_files(); /* half of them are for files, and connections to others */
    if (files > 0) {
        l->connections_max = (unsigned)MIN_OF((uint64_t)l->connections_max, MAX_OF(files / 2, (uint64_t)1));
    }
    l->header_ms_max = or_ms(l->header_ms_max, 30000);
    l->body_ms_max = or_ms(l->body_ms_max, 30000);
    l->write_ms_max = or_ms(l->write_ms_max, 30000);
    o->compression_level = o->compression_level > 0 ? o->compression_level : 3;
    o->gzip_bytes_min = or_size(o->gzip_bytes_min, KIB);
}

static void all_done(struct loop_task *t)
{
    struct http_server *s = (struct http_server *)(void *)((char *)t - offsetof(struct http_server, done));
    if (s->on_done != NULL) {
        s->on_done(s->on_done_arg); /* may free s */
    }
}

static enum err add_workers(struct http_server *s, struct errmsg *em)
{
    struct loop **loops = ARENA_ARRAY(&s->arena, struct loop *, s->opts.loops_n);
    s->workers = ARENA_ARRAY(&s->arena, struct http_worker, s->opts.loops_n);
    if (loops == NULL || s->workers == NULL) {
        return err_no_memory(em);
    }
    for (unsigned i = 0; i < s->opts.loops_n; i++) {
        struct http_worker *w = &s->workers[i];
        loops[i] = s->opts.loops[i];
        w->server = s;
        w->loop = loops[i];
        w->index = i;
        w->conns.next = w->conns.prev = &w->conns;
        w->stop.run = worker_stop;
        w->out = evbuffer_new();
        if (w->out == NULL) {
            return err_no_memory(em);
        }
    }
    s->opts.loops = loops;
    return ERR_OK;
}

enum err http_server_new(struct http_server **out, const struct http_server_opts *opts, struct errmsg *em)
{
    assert(opts->loops_n > 0 && opts->handle != NULL);
    *out = NULL;
    struct http_server *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->opts = *opts;
    fill_in(&s->opts);
    s->clock = opts->clock != NULL ? opts->clock : clock_real();
    s->done.run = all_done;
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
    enum err e = add_workers(s, em);
    e = e == ERR_OK ? server_listen(s, em) : e;
    if (e != ERR_OK) {
        http_server_free(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

unsigned http_server_port(const struct http_server *s)
{
    return s->port;
}

const struct str *http_server_addresses(const struct http_server *s, size_t *n)
{
    *n = s->listeners_n;
    return s->addresses;
}

void http_server_stats(const struct http_server *s, struct http_server_stats *out)
{
    *out = (struct http_server_stats){
        .current_open = atomic_load(&s->open),
        .total_opened = atomic_load(&s->total_opened),
        .requests = atomic_load(&s->requests),
        .refused = atomic_load(&s->refused),
        .inflight_bytes = atomic_load(&s->inflight_bytes),
    };
}

/* On the first loop: what it accepted before is on its way to the workers, ahead of their order to stop. */
static void stop_accepting(struct loop_task *t)
{
    struct http_server *s = (struct http_server *)(void *)((char *)t - offsetof(struct http_server, stop));
    server_unlisten(s);
    unsigned n = s->opts.loops_n;
    atomic_store(&s->workers_left, n);
    for (unsigned i = 0; i < n; i++) {
        loop_post_task(s->workers[i].loop,
                       &s->workers[i].stop); /* the last done() comes by this loop, after us */
    }
}

void http_server_stop(struct http_server *s, int64_t grace_ms, void (*done)(void *arg), void *arg)
{
    bool again = atomic_exchange(&s->stopping, true);
    assert(!again);
    (void)again;
    s->grace_ms = grace_ms;
    s->on_done = done;
    s->on_done_arg = arg;
    s->stop.run = stop_accepting;
    loop_post_task(s->opts.loops[0], &s->stop);
}

static void free_connections(struct http_worker *w)
{
    w->stopping = w->done = true; /* nothing more is reported */
    while (w->conns.next != &w->conns) {
        struct http_conn *c = w->conns.next;
        conn_close(c);
        while (c->first != NULL) {
            struct request *next = c->first->next;
            request_free(c->first);
            c->first = next;
        }
        conn_free_if_over(c);
    }
}

void http_server_free(struct http_server *s)
{
    if (s == NULL) {
        return;
    }
    server_unlisten(s);
    for (unsigned i = 0; i < s->opts.loops_n && s->workers != NULL && s->workers[i].loop != NULL; i++) {
        struct http_worker *w = &s->workers[i];
        free_connections(w);
        timer_cancel(loop_timers(w->loop), w->grace);
        loop_ticker_free(w->sweep);
        if (w->out != NULL) {
            evbuffer_free(w->out);
        }
    }
    arena_fini(&s->arena);
    free(s);
}
