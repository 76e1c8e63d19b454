/* The sending side of a connection: messages, the queue, and one write at a time. */
#include "proto/transport_nng_conn_int.h"

#include "common/base/memory_account.h"

#include <stdlib.h>

#define SMALL_BYTES  ((size_t)2 << 10)  /* payloads that are copied rather than sent from where they are */
#define GATHER_BYTES ((size_t)16 << 10) /* small messages that leave with one write */
#define WRITE_BYTES  ((size_t)1 << 20)  /* a write takes no further message above */

static const size_t bytes_max[TRANSPORT_CLASSES] = {TRANSPORT_CONTROL_BYTES_MAX, TRANSPORT_DATA_BYTES_MAX,
                                                    TRANSPORT_DATA_BYTES_MAX};

size_t tnng_frame_max(enum transport_class cls)
{
    return bytes_max[cls] + FRAME_HEADER_MAX;
}

/* ---- messages ---- */

struct tnng_out *tnng_out_new(const struct frame *f, struct buf *payload, struct errmsg *em)
{
    size_t n = payload->n;
    if (n > bytes_max[f->cls]) {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "a message of [%zu] bytes is over the limit of [%zu]", n,
                bytes_max[f->cls]);
        return NULL;
    }
    struct tnng_out *m = payload->failed ? NULL : calloc(1, sizeof(*m));
    if (m == NULL) {
        err_no_memory(em);
        return NULL;
    }
    buf_init(&m->head, NULL, HEADER_BYTES + FRAME_HEADER_MAX + SMALL_BYTES);
    buf_init(&m->payload, NULL, BUF_UNLIMITED);
    buf_reserve(&m->head, HEADER_BYTES + FRAME_HEADER_MAX + (n <= SMALL_BYTES ? n : 0));
    put_u32(&m->head, 0);
    put_u64(&m->head, 0);
    frame_encode_head(f, &m->head);
    if (n <= SMALL_BYTES) {
        buf_str(&m->head, buf_view(payload));
    }
    if (m->head.failed) {
        buf_fini(&m->head);
        free(m);
        err_no_memory(em);
        return NULL;
    }
    if (n > SMALL_BYTES) {
        m->payload = *payload;
        buf_init(payload, payload->alloc, payload->bytes_max);
        memory_adopt(MEMORY_IN_FLIGHT, &m->payload);
    } else {
        buf_fini(payload);
    }
    store_u32(m->head.p, (uint32_t)(tnng_out_bytes(m) - HEADER_BYTES));
    return m;
}

void tnng_out_set_id(struct tnng_out *m, uint64_t id)
{
    m->id = id;
    store_u64(m->head.p + 4, id);
}

void tnng_out_free(struct tnng_out *m)
{
    if (m != NULL) {
        buf_fini(&m->head);
        buf_fini(&m->payload);
        free(m);
    }
}

void tnng_out_free_all(struct tnng_out *m)
{
    while (m != NULL) {
        struct tnng_out *next = m->next;
        tnng_out_free(m);
        m = next;
    }
}

/* ---- sending ---- */

static void add_piece(struct tnng_conn *c, char *p, size_t n)
{
    nng_iov *last = c->n_out > 0 ? &c->out[c->n_out - 1] : NULL;
    if (last != NULL && (char *)last->iov_buf + last->iov_len == p) {
        last->iov_len += n;
    } else {
        c->out[c->n_out++] = (nng_iov){p, n};
    }
    c->write_left += n;
}

/* What the next write takes: long messages as they are, short ones gathered when several wait. The lock is held. */
static void fill_write(struct tnng_conn *c)
{
    struct tnng_out **end = &c->leaving;
    size_t gathered = 0;
    c->n_out = 0;
    c->write_left = 0;
    while (c->queue != NULL && c->n_out + 2 <= PIECES && c->write_left < WRITE_BYTES) {
        struct tnng_out *m = c->queue;
        c->queue = m->next;
        m->next = NULL;
        *end = m;
        end = &m->next;
        bool small = m->payload.n == 0 && (c->queue != NULL || gathered > 0);
        if (small && c->gather == NULL) {
            c->gather = malloc(GATHER_BYTES);
        }
        if (small && c->gather != NULL && GATHER_BYTES - gathered >= m->head.n) {
            memcpy(c->gather + gathered, m->head.p, m->head.n);
            add_piece(c, c->gather + gathered, m->head.n);
            gathered += m->head.n;
            continue;
        }
        add_piece(c, m->head.p, m->head.n);
        if (m->payload.n > 0) {
            add_piece(c, m->payload.p, m->payload.n);
        }
    }
    if (c->queue == NULL) {
        c->queue_end = &c->queue;
    }
    c->write_bytes = c->write_left;
}

static void begin_write(struct tnng_conn *c)
{
    nng_aio_set_iov(c->send, c->n_out, c->out);
    nng_stream_send(c->stream, c->send);
    tnng_conn_begun(c);
}

/* The write that is over took n bytes of its pieces. */
static void drop_pieces(struct tnng_conn *c, size_t n)
{
    unsigned at = 0;
    c->write_left -= n;
    while (at < c->n_out && n >= c->out[at].iov_len) {
        n -= c->out[at++].iov_len;
    }
    c->n_out -= at;
    memmove(c->out, c->out + at, c->n_out * sizeof(c->out[0]));
    if (c->n_out > 0) {
        c->out[0] = (nng_iov){(char *)c->out[0].iov_buf + n, c->out[0].iov_len - n};
    }
}

/* NNG's thread: a write is over, perhaps of a part. */
void tnng_conn_written(void *arg)
{
    struct tnng_conn *c = arg;
    struct tnng_out *gone = NULL;
    bool failed = nng_aio_result(c->send) != 0, resume = false;
    if (failed) {
        tnng_conn_close(c);
    } else {
        drop_pieces(c, MIN_OF(nng_aio_count(c->send), c->write_left));
    }
    pthread_mutex_lock(&c->lock);
    if (failed || c->write_left == 0) {
        gone = c->leaving;
        c->leaving = NULL;
        c->waiting -= c->write_bytes;
        c->n_out = 0;
        c->write_bytes = c->write_left = 0;
        if (!c->closed && c->queue != NULL) {
            fill_write(c);
        }
    }
    bool more = c->n_out > 0 && tnng_conn_may_begin(c);
    c->writing = more;
    if (!more) {
        free(c->gather);
        c->gather = NULL;
    }
    if (c->paused && c->waiting <= c->pause_above / 2 && tnng_conn_may_begin(c)) {
        c->paused = false;
        resume = true;
    }
    pthread_mutex_unlock(&c->lock);
    tnng_out_free_all(gone);
    if (more) {
        begin_write(c);
    } else {
        tnng_conn_unref(c);
    }
    if (resume) {
        tnng_conn_begin_read(c);
    }
}

enum err tnng_conn_queue(struct tnng_conn *c, struct tnng_out *m, size_t max)
{
    enum err e = ERR_OK;
    size_t n = tnng_out_bytes(m);
    pthread_mutex_lock(&c->lock);
    if (c->closed) {
        e = ERR_NODE_NOT_CONNECTED;
    } else if (c->waiting > 0 && (c->waiting > max || n > max - c->waiting)) {
        e = ERR_REJECTED;
    } else {
        m->next = NULL;
        *c->queue_end = m;
        c->queue_end = &m->next;
        c->waiting += n;
    }
    pthread_mutex_unlock(&c->lock);
    return e;
}

void tnng_conn_flush(struct tnng_conn *c)
{
    pthread_mutex_lock(&c->lock);
    bool go = c->queue != NULL && !c->writing && tnng_conn_may_begin(c);
    if (go) {
        c->writing = true;
        tnng_conn_ref(c); /* the writer's */
        fill_write(c);
    }
    pthread_mutex_unlock(&c->lock);
    if (go) {
        begin_write(c);
    }
}

struct tnng_out *tnng_conn_unqueue(struct tnng_conn *c, uint64_t id)
{
    struct tnng_out *m = NULL;
    pthread_mutex_lock(&c->lock);
    for (struct tnng_out **at = &c->queue; *at != NULL; at = &(*at)->next) {
        if ((*at)->id == id) {
            m = *at;
            *at = m->next;
            c->queue_end = m->next == NULL ? at : c->queue_end;
            c->waiting -= tnng_out_bytes(m);
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return m;
}

struct tnng_out *tnng_conn_unsent(struct tnng_conn *c)
{
    pthread_mutex_lock(&c->lock);
    struct tnng_out *m = c->queue;
    for (const struct tnng_out *at = m; at != NULL; at = at->next) {
        c->waiting -= tnng_out_bytes(at);
    }
    c->queue = NULL;
    c->queue_end = &c->queue;
    pthread_mutex_unlock(&c->lock);
    return m;
}

/* ---- the preface ---- */

static void set_preface(struct tnng_conn *c)
{
    memset(c->preface, 0, sizeof(c->preface));
    store_u32(c->preface, PREFACE_MAGIC);
    c->preface[4] = PREFACE_VERSION;
    c->preface[5] = (char)c->cls;
}

/* The preface goes before anything else is queued: a dialed connection is not told of before it was answered, the other not before. */
void tnng_conn_send_preface(struct tnng_conn *c)
{
    set_preface(c);
    pthread_mutex_lock(&c->lock);
    bool go = !c->writing && tnng_conn_may_begin(c);
    if (go) {
        c->writing = true;
        tnng_conn_ref(c);
        c->n_out = 0;
        add_piece(c, c->preface, PREFACE_BYTES);
        c->waiting += PREFACE_BYTES;
        c->write_bytes = PREFACE_BYTES;
    }
    pthread_mutex_unlock(&c->lock);
    if (go) {
        begin_write(c);
    }
}
