#include "proto/transport_nng_conn_int.h"

#include "common/base/memory_account.h"

#include <stdlib.h>
#include <time.h>

#define FIRST_BYTES ((size_t)1 << 20) /* of memory for a message, whatever length it claims */

int64_t tnng_mono_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- beginning and closing ---- */

/* Whether an operation may be begun; if so, tnng_conn_begun() must follow it. The lock is held. */
bool tnng_conn_may_begin(struct tnng_conn *c)
{
    if (c->closed) {
        return false;
    }
    c->beginning++;
    tnng_conn_ref(c); /* the operation may complete, and all else end, before it has been begun altogether */
    return true;
}

void tnng_conn_begun(struct tnng_conn *c)
{
    pthread_mutex_lock(&c->lock);
    c->beginning--;
    bool close = c->closed && c->beginning == 0 && !c->stream_closed;
    c->stream_closed |= close;
    pthread_mutex_unlock(&c->lock);
    if (close) {
        nng_stream_close(c->stream);
    }
    tnng_conn_unref(c);
}

void tnng_conn_begin_read(struct tnng_conn *c)
{
    nng_stream_recv(c->stream, c->recv);
    tnng_conn_begun(c);
}

void tnng_conn_close(struct tnng_conn *c)
{
    pthread_mutex_lock(&c->lock);
    bool resume = c->paused && tnng_conn_may_begin(c); /* a read that then fails says that it is over */
    c->paused = false;
    c->closed = true;
    bool close = c->beginning == 0 && !c->stream_closed;
    c->stream_closed |= close;
    pthread_mutex_unlock(&c->lock);
    if (close) {
        nng_stream_close(c->stream);
    }
    if (resume) {
        tnng_conn_begin_read(c);
    }
}

void tnng_conn_ref(struct tnng_conn *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void tnng_conn_unref(struct tnng_conn *c)
{
    if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    nng_stream_free(c->stream);
    nng_aio_reap(c->recv); /* this may be a callback of theirs */
    nng_aio_reap(c->send);
    tnng_out_free_all(c->queue);
    tnng_out_free_all(c->leaving);
    free(c->gather);
    buf_fini(&c->message);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int64_t tnng_conn_received_ms(struct tnng_conn *c)
{
    return atomic_load_explicit(&c->received_ms, memory_order_relaxed);
}

/* ---- reading ---- */

static bool take_preface(struct tnng_conn *c, const char *p)
{
    unsigned char cls = (unsigned char)p[5];
    if (load_u32(p) != PREFACE_MAGIC || p[4] != PREFACE_VERSION || cls >= TRANSPORT_CLASSES || p[6] != 0
        || p[7] != 0 || (c->dialed && cls != c->cls)) {
        return false;
    }
    c->greeted = true;
    if (!c->dialed) {
        c->cls = (enum transport_class)cls;
        tnng_conn_send_preface(c);
    }
    c->events->greeted(c->arg, c, c->cls);
    return true;
}

/* Memory for what comes next of the message: all of it if it is not long, else as much again as has come. */
static bool make_room(struct tnng_conn *c)
{
    size_t more = MIN_OF(c->message_left, MAX_OF(c->message.n, FIRST_BYTES));
    c->room = 0;
    if (c->message_left > 0) {
        if (c->message.cap <= c->message.n + 1 && buf_reserve(&c->message, more) == NULL) {
            return false;
        }
        c->room = MIN_OF(c->message.cap - 1 - c->message.n, c->message_left);
    }
    return true;
}

static void deliver(struct tnng_conn *c)
{
    struct buf frame = c->message;
    frame.p[frame.n] = '\0';
    memory_adopt(MEMORY_IN_FLIGHT, &frame);
    buf_init(&c->message, NULL, 0);
    c->events->message(c->arg, c, c->message_id, &frame);
}

static bool is_closed(struct tnng_conn *c)
{
    pthread_mutex_lock(&c->lock);
    bool closed = c->closed;
    pthread_mutex_unlock(&c->lock);
    return closed;
}

/* Messages that are in what was read ahead, and the beginning of the next. false: the other side does not speak our language, or
 * there is no memory. */
static bool parse(struct tnng_conn *c)
{
    size_t at = 0;
    while (c->message_left == 0) {
        size_t left = c->ahead - at;
        if (!c->greeted) {
            if (left < PREFACE_BYTES) {
                break;
            }
            if (!take_preface(c, c->read + at)) {
                return false;
            }
            at += PREFACE_BYTES;
            continue;
        }
        if (left < HEADER_BYTES) {
            break;
        }
        size_t n = load_u32(c->read + at);
        if (n == 0 || n > tnng_frame_max(c->cls)) {
            return false;
        }
        c->message_id = load_u64(c->read + at + 4);
        at += HEADER_BYTES;
        left -= HEADER_BYTES;
        buf_init(&c->message, NULL, n);
        c->message_left = n;
        if (!make_room(c)) {
            return false;
        }
        size_t k = MIN_OF(left, n);
        buf_add(&c->message, c->read + at, k);
        at += k;
        c->message_left -= k;
        if (c->message_left == 0) {
            deliver(c);
        }
    }
    c->ahead -= at;
    memmove(c->read, c->read + at, c->ahead);
    return true;
}

/* Takes the n bytes of a read. */
static bool take_bytes(struct tnng_conn *c, size_t n)
{
    size_t k = MIN_OF(n, c->room);
    c->message.n += k;
    c->message_left -= k;
    c->ahead += n - k;
    if (k > 0 && c->message_left == 0) {
        deliver(c);
    }
    return parse(c);
}

/* The reader goes on, or stops for a while, or is over (false). */
static bool read_more(struct tnng_conn *c)
{
    nng_iov in[2];
    unsigned n = 0;
    if (!make_room(c)) {
        return false;
    }
    if (c->room > 0) {
        in[n++] = (nng_iov){c->message.p + c->message.n, c->room};
    }
    if (c->room == c->message_left) {
        in[n++] = (nng_iov){c->read + c->ahead, READ_BYTES - c->ahead};
    }
    nng_aio_set_iov(c->recv, n, in);
    pthread_mutex_lock(&c->lock);
    c->paused = !c->closed && c->pause_above > 0 && c->waiting > c->pause_above;
    bool paused = c->paused, go = !paused && tnng_conn_may_begin(c);
    pthread_mutex_unlock(&c->lock);
    if (go) {
        tnng_conn_begin_read(c);
    }
    return go || paused;
}

/* NNG's thread: a read is over. */
static void was_read(void *arg)
{
    struct tnng_conn *c = arg;
    bool good = nng_aio_result(c->recv) == 0 && !is_closed(c);
    if (good) {
        atomic_store_explicit(&c->received_ms, tnng_mono_ms(), memory_order_relaxed);
        good = take_bytes(c, nng_aio_count(c->recv));
    }
    if (!good || !read_more(c)) {
        tnng_conn_close(c);
        c->events->gone(c->arg, c);
        tnng_conn_unref(c); /* the reader's */
    }
}

/* ---- life ---- */

struct tnng_conn *tnng_conn_new(nng_stream *s, bool dialed, enum transport_class cls,
                                const struct tnng_conn_events *events, void *arg)
{
    struct tnng_conn *c = calloc(1, sizeof(*c));
    if (c == NULL || nng_aio_alloc(&c->recv, was_read, c) != 0
        || nng_aio_alloc(&c->send, tnng_conn_written, c) != 0) {
        if (c != NULL) {
            nng_aio_free(c->recv);
        }
        free(c);
        nng_stream_close(s);
        nng_stream_free(s);
        return NULL;
    }
    c->events = events;
    c->arg = arg;
    c->stream = s;
    c->dialed = dialed;
    c->cls = cls;
    c->queue_end = &c->queue;
    c->received_ms = tnng_mono_ms();
    atomic_init(&c->refs, 1);
    pthread_mutex_init(&c->lock, NULL);
    nng_stream_set_bool(s, NNG_OPT_TCP_NODELAY, true);
    nng_stream_set_bool(s, NNG_OPT_TCP_KEEPALIVE, true);
    return c;
}

void tnng_conn_pause_above(struct tnng_conn *c, size_t bytes)
{
    c->pause_above = bytes;
}

void tnng_conn_start(struct tnng_conn *c)
{
    tnng_conn_ref(c); /* the reader's */
    tnng_conn_ref(c); /* this call's */
    nng_aio_set_iov(c->recv, 1, &(nng_iov){c->read, READ_BYTES});
    pthread_mutex_lock(&c->lock);
    bool go = tnng_conn_may_begin(c); /* nobody has closed it yet: nobody knows it */
    pthread_mutex_unlock(&c->lock);
    assert(go);
    tnng_conn_begin_read(c);
    if (c->dialed) {
        tnng_conn_send_preface(c);
    }
    tnng_conn_unref(c);
}
