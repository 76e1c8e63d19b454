#include "proto/transport_nng.h"

#include "proto/transport_nng_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- the keeper ---- */

void transport_nng_wake(struct transport_nng *t, int64_t at)
{
    if (at < t->wake_at) {
        t->wake_at = at;
        pthread_cond_signal(&t->changed);
    }
}

static void *keep(void *arg)
{
    struct transport_nng *t = arg;
    pthread_mutex_lock(&t->lock);
    while (!t->quit) {
        struct slot *ended = NULL;
        struct dial *over = NULL;
        int64_t now = tnng_mono_ms();
        t->wake_at = NEVER; /* until what is below says less; nobody need signal meanwhile */
        int64_t wake = tnng_slots_expire(t, now, &ended);
        wake = MIN_OF(wake, tnng_links_tend(t, now, &over));
        wake = MIN_OF(wake, tnng_calls_tend(t, now));
        t->wake_at = MIN_OF(t->wake_at, wake);
        pthread_cond_broadcast(&t->quiet); /* links may have been freed */
        if (ended != NULL || over != NULL) {
            pthread_mutex_unlock(&t->lock);
            tnng_slots_hand_over(ended);
            tnng_dials_free(over);
            pthread_mutex_lock(&t->lock);
        }
        while (!t->quit && t->wake_at > tnng_mono_ms()) {
            int64_t at = MIN_OF(t->wake_at, tnng_mono_ms() + 3600000);
            struct timespec until = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000};
            pthread_cond_timedwait(&t->changed, &t->lock, &until);
        }
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- the contract ---- */

static void serve(void *self, uint16_t kind, const struct executor *where,
                  void (*handle)(void *arg, struct transport_call *call), void *arg)
{
    struct transport_nng *t = self;
    t->served[kind] = (struct served){where, handle, arg};
}

static void watch(void *self, const struct executor *on,
                  void (*lost)(void *arg, const struct transport_peer *peer), void *arg)
{
    struct transport_nng *t = self;
    t->watch_on = on;
    t->lost = lost;
    t->lost_arg = arg;
}

static void connect_peer(void *self, const struct transport_peer *to)
{
    struct transport_nng *t = self;
    ERR_LOCAL(em);
    pthread_mutex_lock(&t->lock);
    for (int cls = 0; cls < (to->ephemeral_id.n > 0 ? TRANSPORT_CLASSES : 1); cls++) {
        tnng_link_get(t, to, (enum transport_class)cls, &em);
    }
    pthread_mutex_unlock(&t->lock);
}

static void forget_peer(void *self, const struct transport_peer *to)
{
    struct transport_nng *t = self;
    struct slot *ended = NULL;
    pthread_mutex_lock(&t->lock);
    for (int cls = 0; cls < TRANSPORT_CLASSES; cls++) {
        struct link *l = tnng_link_find(t, to, (enum transport_class)cls);
        if (l != NULL) {
            tnng_link_close(l, &ended);
        }
    }
    pthread_mutex_unlock(&t->lock);
    tnng_slots_hand_over(ended);
}

/* ---- life ---- */

static enum err listen_on(struct transport_nng *t, const struct transport_nng_opts *o, struct errmsg *em)
{
    int rv = 0;
    for (unsigned port = o->port_first; port <= o->port_last; port++) {
        char url[300];
        snprintf(url, sizeof(url), "tcp://%.*s:%u", STR_ARG(o->host), port);
        rv = nng_stream_listener_alloc(&t->listener, url);
        if (rv != 0) {
            t->listener = NULL;
            break;
        }
        rv = nng_stream_listener_listen(t->listener);
        if (rv == 0) {
            int bound = (int)port;
            rv = nng_stream_listener_get_int(t->listener, NNG_OPT_TCP_BOUND_PORT, &bound);
            t->port = rv == 0 ? (unsigned)bound : port;
            return ERR_OK;
        }
        nng_stream_listener_free(t->listener);
        t->listener = NULL;
        if (rv != NNG_EADDRINUSE) {
            break;
        }
    }
    return err_set(em, ERR_IO, "Failed to bind to [%.*s:%u-%u]: %s", STR_ARG(o->host), o->port_first,
                   o->port_last, nng_strerror(rv));
}

static enum err begin_keeping(struct transport_nng *t, struct errmsg *em)
{
    if (nng_aio_alloc(&t->accept, tnng_calls_accept_event, t) != 0) {
        return err_no_memory(em);
    }
    if (pthread_create(&t->keeper, NULL, keep, t) != 0) {
        return err_set(em, ERR_IO, "no thread for the transport");
    }
    t->keeping = true;
    pthread_setname_np(t->keeper, "transport");
    return ERR_OK;
}

enum err transport_nng_new(struct transport_nng **out, const struct transport_nng_opts *opts,
                           struct errmsg *em)
{
    struct transport_nng *t = calloc(1, sizeof(*t));
    *out = NULL;
    if (t == NULL) {
        return err_no_memory(em);
    }
    if (opts->ephemeral_id.n > FRAME_ID_BYTES) {
        free(t);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "an ephemeral id has at most %d bytes", FRAME_ID_BYTES);
    }
    t->accept_again = t->wake_at = NEVER;
    memcpy(t->ephemeral_id, opts->ephemeral_id.p, opts->ephemeral_id.n);
    t->api = (struct transport){.self = t,
                                .send = transport_nng_send,
                                .cancel = transport_nng_cancel,
                                .serve = serve,
                                .reply = transport_nng_reply,
                                .refuse = transport_nng_refuse,
                                .connect = connect_peer,
                                .forget = forget_peer,
                                .watch = watch};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &monotonic);
    pthread_cond_init(&t->quiet, NULL);
    pthread_condattr_destroy(&monotonic);
    enum err e = listen_on(t, opts, em);
    e = e == ERR_OK ? begin_keeping(t, em) : e;
    if (e != ERR_OK) {
        transport_nng_stop(t);
        transport_nng_free(t);
        return e;
    }
    *out = t;
    return ERR_OK;
}

void transport_nng_start(struct transport_nng *t)
{
    pthread_mutex_lock(&t->lock);
    tnng_calls_accept(t);
    pthread_mutex_unlock(&t->lock);
}

unsigned transport_nng_port(const struct transport_nng *t)
{
    return t->port;
}

void transport_nng_stop(struct transport_nng *t)
{
    struct slot *ended = NULL;
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    for (struct link *l = t->links; l != NULL; l = l->next) {
        tnng_link_close(l, &ended);
    }
    tnng_calls_close(t);
    nng_stream_listener *listener = t->listener;
    t->listener = NULL;
    pthread_mutex_unlock(&t->lock);
    tnng_slots_hand_over(ended);
    if (listener != NULL) { /* ends the accept that waits */
        nng_stream_listener_close(listener);
        nng_stream_listener_free(listener);
    }
}

void transport_nng_free(struct transport_nng *t)
{
    if (t == NULL) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    while (t->links != NULL || t->n_accepted > 0 || t->open_calls > 0 || t->accepting) {
        pthread_cond_wait(&t->quiet, &t->lock);
    }
    t->quit = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->keeping) {
        pthread_join(t->keeper, NULL);
    }
    nng_aio_free(t->accept); /* waits for its last callback */
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    pthread_cond_destroy(&t->quiet);
    free(t->table);
    free(t->heap);
    free(t);
}

const struct transport *transport_nng_api(struct transport_nng *t)
{
    return &t->api;
}

void transport_nng_stats(struct transport_nng *t, struct transport_nng_stats *out)
{
    pthread_mutex_lock(&t->lock);
    *out = t->stats;
    out->peers = out->connections = 0;
    for (const struct link *l = t->links; l != NULL; l = l->next) {
        out->peers += l->cls == TRANSPORT_CONTROL && !l->closing;
        out->connections += l->up;
    }
    pthread_mutex_unlock(&t->lock);
}
