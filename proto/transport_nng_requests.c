/* Requests on their way: a table by id, a heap by time, and each link's own. Whoever takes a slot off these, under the lock, is the one
 * who ends its request. */
#include "proto/err_bytes.h"
#include "proto/transport_nng_int.h"

#include <stdlib.h>

#define NO_INDEX UINT32_MAX

/* Bytes that wait on one connection; further requests are refused. */
static const size_t waiting_max[TRANSPORT_CLASSES] = {(size_t)64 << 20, (size_t)256 << 20, (size_t)256 << 20};

/* ---- the heap ---- */

static void heap_put(struct transport_nng *t, struct slot *s, uint32_t at)
{
    t->heap[at] = s;
    s->heap_at = at;
}

static void heap_up(struct transport_nng *t, struct slot *s, uint32_t at)
{
    while (at > 0 && t->heap[(at - 1) / 2]->expires > s->expires) {
        heap_put(t, t->heap[(at - 1) / 2], at);
        at = (at - 1) / 2;
    }
    heap_put(t, s, at);
}

static void heap_down(struct transport_nng *t, struct slot *s, uint32_t at)
{
    for (uint32_t child; (child = at * 2 + 1) < t->n_heap; at = child) {
        if (child + 1 < t->n_heap && t->heap[child + 1]->expires < t->heap[child]->expires) {
            child++;
        }
        if (t->heap[child]->expires >= s->expires) {
            break;
        }
        heap_put(t, t->heap[child], at);
    }
    heap_put(t, s, at);
}

static void heap_remove(struct transport_nng *t, struct slot *s)
{
    uint32_t at = s->heap_at;
    if (at == NO_INDEX) {
        return;
    }
    s->heap_at = NO_INDEX;
    struct slot *last = t->heap[--t->n_heap];
    if (last == s) {
        return;
    }
    if (at > 0 && t->heap[(at - 1) / 2]->expires > last->expires) {
        heap_up(t, last, at);
    } else {
        heap_down(t, last, at);
    }
}

static void set_expiry(struct transport_nng *t, struct slot *s, int64_t at)
{
    heap_remove(t, s);
    s->expires = at;
    if (at != NEVER) {
        heap_up(t, s, t->n_heap++);
        transport_nng_wake(t, at);
    }
}

/* ---- the table ---- */

static bool table_grow(struct transport_nng *t)
{
    uint32_t cap = t->table_cap == 0 ? 64 : t->table_cap * 2;
    struct slot_entry *table = realloc(t->table, cap * sizeof(*table));
    t->table = table != NULL ? table : t->table;
    struct slot **heap = realloc(t->heap, cap * sizeof(*heap));
    t->heap = heap != NULL ? heap : t->heap;
    if (table == NULL || heap == NULL) {
        return false;
    }
    for (uint32_t i = t->table_cap; i < cap; i++) {
        table[i] = (struct slot_entry){.next_free = i + 1 < cap ? i + 1 : NO_INDEX};
    }
    t->first_free = t->table_cap;
    t->table_cap = cap;
    return true;
}

static struct slot *slot_new(struct link *l, struct transport_rq *rq)
{
    struct transport_nng *t = l->t;
    if ((t->table_cap == 0 || t->first_free == NO_INDEX) && !table_grow(t)) {
        return NULL;
    }
    struct slot *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    struct slot_entry *e = &t->table[t->first_free];
    s->id = ((uint64_t)++e->generation << 32) | t->first_free;
    t->first_free = e->next_free;
    e->slot = s;
    s->link = l;
    s->rq = rq;
    rq->slot = s;
    s->heap_at = NO_INDEX;
    s->next = l->slots;
    s->at = &l->slots;
    if (s->next != NULL) {
        s->next->at = &s->next;
    }
    l->slots = s;
    return s;
}

static struct slot *slot_by_id(struct transport_nng *t, uint64_t id)
{
    uint32_t at = (uint32_t)id;
    struct slot *s = at < t->table_cap ? t->table[at].slot : NULL;
    return s != NULL && s->id == id ? s : NULL;
}

static void detach(struct slot *s)
{
    struct transport_nng *t = s->link->t;
    uint32_t at = (uint32_t)s->id;
    heap_remove(t, s);
    t->table[at].slot = NULL;
    t->table[at].next_free = t->first_free;
    t->first_free = at;
    *s->at = s->next;
    if (s->next != NULL) {
        s->next->at = s->at;
    }
    s->next = NULL;
    s->rq->slot = NULL;
}

/* ---- the end of a request ---- */

static void run_done(void *arg)
{
    struct transport_rq *rq = arg;
    rq->done(rq);
}

static void end_here(struct later *l)
{
    run_done(CONTAINER_OF(l, struct transport_rq, end));
}

static void hand_over(struct transport_rq *rq)
{
    buf_fini(&rq->payload);
    if (!executor_submit_force(rq->on, run_done, rq)) {
        later(&rq->end, end_here); /* its executor is gone: shutting down */
    }
}

void tnng_slot_end(struct slot *s, enum err code, const char *why, struct slot **ended)
{
    err_set(&s->rq->error, code, "[%s] %s", s->link->address, why);
    detach(s);
    s->next = *ended;
    *ended = s;
}

void tnng_slots_hand_over(struct slot *ended)
{
    struct later_list list;
    later_open(&list); /* NNG's threads run no tasks */
    while (ended != NULL) {
        struct slot *s = ended;
        ended = s->next;
        hand_over(s->rq);
        tnng_out_free(s->out);
        free(s);
    }
    later_close(&list);
}

static enum err read_answer(struct transport_rq *rq, const char *address, struct buf *bytes,
                            struct errmsg *em)
{
    struct frame f;
    enum err e = frame_decode(&f, buf_view(bytes), em);
    if (e != ERR_OK) {
        return e;
    }
    if ((f.flags & FRAME_ANSWER) == 0 || f.kind != rq->kind) {
        return err_set(em, ERR_CORRUPT, "[%s] answered another question", address);
    }
    if ((f.flags & FRAME_REFUSAL) != 0) {
        struct bytes_in in = bytes_in(f.payload);
        errmsg_decode(em, &in);
        return in.bad || !err_is(em)
                   ? err_set(em, ERR_CORRUPT, "[%s] sent a refusal that cannot be read", address)
                   : err_code(em);
    }
    rq->answer = f.payload;
    rq->answer_memory = *bytes;
    buf_init(bytes, bytes->alloc, bytes->bytes_max);
    return ERR_OK;
}

void tnng_slot_answered(struct link *l, uint64_t id, struct buf *frame)
{
    struct transport_nng *t = l->t;
    pthread_mutex_lock(&t->lock);
    struct slot *s = slot_by_id(t, id);
    if (s != NULL && s->link == l && s->sent) {
        detach(s);
    } else {
        s = NULL; /* cancelled, or too late */
    }
    pthread_mutex_unlock(&t->lock);
    if (s != NULL) {
        ERR_LOCAL(em);
        if (read_answer(s->rq, l->address, frame, &em) != ERR_OK) {
            err_copy(&s->rq->error, &em);
        }
        tnng_slots_hand_over(s);
    }
    buf_fini(frame);
}

/* ---- what happens to links ---- */

static enum err put_on_connection(struct slot *s, int64_t now)
{
    struct link *l = s->link;
    enum err e = tnng_conn_queue(l->conn, s->out, waiting_max[l->cls]);
    if (e == ERR_OK) {
        s->out = NULL;
        s->sent = true;
        s->sent_ms = now;
        set_expiry(l->t, s, s->deadline);
    }
    return e;
}

void tnng_slots_connected(struct link *l, struct slot **ended)
{
    int64_t now = tnng_mono_ms();
    for (struct slot *s = l->slots, *next; s != NULL; s = next) {
        next = s->next;
        if (!s->sent && put_on_connection(s, now) == ERR_REJECTED) {
            tnng_slot_end(s, ERR_REJECTED, "too much waits to be sent", ended);
        }
    }
}

void tnng_slots_disconnected(struct link *l, struct tnng_conn *c, struct slot **ended)
{
    struct tnng_out *unsent = tnng_conn_unsent(c);
    while (unsent != NULL) {
        struct tnng_out *m = unsent;
        unsent = m->next;
        struct slot *s = slot_by_id(l->t, m->id);
        if (s != NULL) {
            tnng_slot_end(s, ERR_NODE_NOT_CONNECTED, "connection closed", ended);
        }
        tnng_out_free(m);
    }
    for (struct slot *s = l->slots, *next; s != NULL; s = next) {
        next = s->next;
        if (s->sent) {
            tnng_slot_end(s, ERR_NODE_DISCONNECTED, "disconnected", ended);
        }
    }
}

void tnng_slots_closed(struct link *l, struct slot **ended)
{
    if (l->conn != NULL) {
        tnng_slots_disconnected(l, l->conn, ended);
    }
    while (l->slots != NULL) {
        tnng_slot_end(l->slots, ERR_NODE_NOT_CONNECTED, "connection closed", ended);
    }
}

int64_t tnng_slots_expire(struct transport_nng *t, int64_t now, struct slot **ended)
{
    while (t->n_heap > 0 && t->heap[0]->expires <= now) {
        struct slot *s = t->heap[0];
        if (!s->sent) {
            tnng_slot_end(s, ERR_NODE_NOT_CONNECTED, "not connected", ended);
            continue;
        }
        tnng_link_missed(s->link, s, now);
        if (s->link->conn != NULL) {
            tnng_out_free(tnng_conn_unqueue(s->link->conn, s->id));
        }
        tnng_slot_end(s, ERR_RECEIVE_TIMEOUT, "did not answer in time", ended);
    }
    return t->n_heap > 0 ? t->heap[0]->expires : NEVER;
}

/* ---- beginning and cancelling ---- */

/* The lock is held. ERR_OK: out is taken, and *flush is to be flushed, and given back, unless it is NULL. */
static enum err request_begin(struct transport_nng *t, const struct transport_peer *to,
                              struct transport_rq *rq, struct tnng_out *out, struct tnng_conn **flush,
                              struct errmsg *em)
{
    struct link *l = tnng_link_get(t, to, rq->cls, em);
    if (l == NULL) {
        return err_code(em);
    }
    int64_t now = tnng_mono_ms();
    if (!l->up && (l->was_up || now - l->opened > CONNECT_MS)) {
        return err_set(em, ERR_NODE_NOT_CONNECTED, "[%s] not connected", l->address);
    }
    size_t bytes = tnng_out_bytes(out);
    struct slot *s = slot_new(l, rq);
    if (s == NULL) {
        return err_no_memory(em);
    }
    tnng_out_set_id(out, s->id);
    s->out = out;
    s->deadline = rq->timeout_ms > 0 ? now + rq->timeout_ms : NEVER;
    if (l->up) {
        enum err e = put_on_connection(s, now);
        if (e != ERR_OK) {
            detach(s);
            free(s);
            return err_set(em, e, "[%s] %s", l->address,
                           e == ERR_REJECTED ? "too much waits to be sent" : "not connected");
        }
        *flush = l->conn;
        tnng_conn_ref(l->conn);
    } else {
        set_expiry(t, s, MIN_OF(s->deadline, now + CONNECT_MS));
    }
    t->stats.sent++;
    t->stats.sent_bytes += bytes;
    return ERR_OK;
}

void transport_nng_send(void *self, const struct transport_peer *to, struct transport_rq *rq)
{
    struct transport_nng *t = self;
    ERR_LOCAL(em);
    struct frame f = {.cls = (uint8_t)rq->cls,
                      .kind = rq->kind,
                      .from = str_of(t->ephemeral_id),
                      .target = to->ephemeral_id,
                      .payload = buf_view(&rq->payload)};
    struct tnng_conn *flush = NULL;
    transport_rq_take(rq);
    struct tnng_out *out = tnng_out_new(&f, &rq->payload, &em);
    bool begun = false;
    if (out != NULL) {
        pthread_mutex_lock(&t->lock);
        begun = request_begin(t, to, rq, out, &flush, &em) == ERR_OK;
        pthread_mutex_unlock(&t->lock);
    }
    if (!begun) {
        tnng_out_free(out);
        err_copy(&rq->error, &em);
        hand_over(rq);
    }
    if (flush != NULL) {
        tnng_conn_flush(flush);
        tnng_conn_unref(flush);
    }
}

void transport_nng_cancel(void *self, struct transport_rq *rq)
{
    struct transport_nng *t = self;
    struct slot *ended = NULL;
    pthread_mutex_lock(&t->lock);
    struct slot *s = rq->slot;
    if (s != NULL) {
        if (s->sent && s->link->conn != NULL) {
            tnng_out_free(tnng_conn_unqueue(s->link->conn, s->id));
        }
        tnng_slot_end(s, ERR_CANCELLED, "request cancelled", &ended);
    }
    pthread_mutex_unlock(&t->lock);
    tnng_slots_hand_over(ended);
}
