#include "engine/index/op_ids.h"

#include "common/base/bytes.h"
#include "common/base/hash.h"

void op_ids_init(struct op_ids *o, const struct allocator *alloc)
{
    *o = (struct op_ids){.alloc = alloc};
}

void op_ids_fini(struct op_ids *o)
{
    alloc_put(o->alloc, o->ring);
    alloc_put(o->alloc, o->slots);
    alloc_put(o->alloc, o->sessions);
    op_ids_init(o, o->alloc);
}

static size_t slot_mask(const struct op_ids *o)
{
    return o->cap * 2 - 1;
}

static size_t first_slot(const struct op_ids *o, struct op_id id)
{
    return hash_u64(id.session ^ hash_u64(id.counter)) & slot_mask(o);
}

static struct op_seen *entry(const struct op_ids *o, uint64_t i)
{
    return &o->ring[i & (o->cap - 1)];
}

static bool op_id_same(struct op_id a, struct op_id b)
{
    return a.session == b.session && a.counter == b.counter;
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const struct op_ids *o, struct op_id id)
{
    size_t i = first_slot(o, id);
    while (o->slots[i] != 0 && !op_id_same(o->ring[o->slots[i] - 1].id, id)) {
        i = (i + 1) & slot_mask(o);
    }
    return i;
}

const struct op_seen *op_ids_find(const struct op_ids *o, struct op_id id)
{
    if (o->n == 0 || id.session == 0) {
        return NULL;
    }
    size_t i = slot_of(o, id);
    return o->slots[i] == 0 ? NULL : &o->ring[o->slots[i] - 1];
}

static struct op_session *find_session(const struct op_ids *o, uint64_t session)
{
    for (size_t i = 0; i < o->n_sessions; i++) {
        if (o->sessions[i].session == session) {
            return &o->sessions[i];
        }
    }
    return NULL;
}

bool op_ids_answered(const struct op_ids *o, struct op_id id)
{
    const struct op_session *s = find_session(o, id.session);
    return s != NULL && id.counter < s->settled_below;
}

void op_ids_settle(struct op_ids *o, uint64_t session, uint64_t below)
{
    if (session == 0 || below == 0) {
        return;
    }
    struct op_session *s = find_session(o, session);
    if (s == NULL) {
        if (o->sessions == NULL) {
            o->sessions = alloc_get(o->alloc, OP_SESSIONS_MAX * sizeof(*o->sessions));
            if (o->sessions == NULL) {
                return;
            }
        }
        if (o->n_sessions < OP_SESSIONS_MAX) {
            s = &o->sessions[o->n_sessions++];
        } else {
            s = o->sessions;
            for (size_t i = 1; i < o->n_sessions; i++) {
                s = o->sessions[i].used < s->used ? &o->sessions[i] : s;
            }
        }
        *s = (struct op_session){.session = session};
    }
    s->settled_below = MAX_OF(s->settled_below, below);
    s->used = ++o->tick;
}

void op_ids_pop(struct op_ids *o)
{
    assert(o->n > 0);
    size_t mask = slot_mask(o), hole = slot_of(o, entry(o, o->head)->id);
    assert(o->slots[hole] != 0);
    for (size_t i = (hole + 1) & mask; o->slots[i] != 0; i = (i + 1) & mask) {
        size_t home = first_slot(o, o->ring[o->slots[i] - 1].id);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            o->slots[hole] = o->slots[i];
            hole = i;
        }
    }
    o->slots[hole] = 0;
    o->head++;
    o->n--;
}

void op_ids_expire(struct op_ids *o, int64_t before_ms)
{
    while (o->n > 0) {
        const struct op_seen *e = entry(o, o->head);
        const struct op_session *s = find_session(o, e->id.session);
        if (e->at_ms >= before_ms && (s == NULL || e->id.counter >= s->settled_below)) {
            return;
        }
        if (e->at_ms < before_ms) {
            op_ids_settle(o, e->id.session, e->id.counter + 1);
        }
        op_ids_pop(o);
    }
}

static bool resize(struct op_ids *o, size_t cap)
{
    struct op_seen *ring = alloc_get(o->alloc, cap * sizeof(*ring));
    uint32_t *slots = alloc_get(o->alloc, cap * 2 * sizeof(*slots));
    if (ring == NULL || slots == NULL) {
        alloc_put(o->alloc, ring);
        alloc_put(o->alloc, slots);
        return false;
    }
    memset(slots, 0, cap * 2 * sizeof(*slots));
    for (size_t i = 0; i < o->n; i++) {
        ring[i] = *entry(o, o->head + i);
    }
    alloc_put(o->alloc, o->ring);
    alloc_put(o->alloc, o->slots);
    o->ring = ring;
    o->slots = slots;
    o->cap = cap;
    o->head = 0;
    for (size_t i = 0; i < o->n; i++) {
        o->slots[slot_of(o, ring[i].id)] = (uint32_t)i + 1;
    }
    return true;
}

enum err op_ids_reserve(struct op_ids *o, struct errmsg *em)
{
    if (o->n < o->cap) {
        return ERR_OK;
    }
    if (o->cap >= (size_t)1 << 30 || !resize(o, o->cap == 0 ? 64 : o->cap * 2)) {
        return err_no_memory(em);
    }
    return ERR_OK;
}

void op_ids_add(struct op_ids *o, const struct op_seen *seen)
{
    assert(o->n < o->cap);
    size_t slot = slot_of(o, seen->id);
    if (o->slots[slot] != 0) {
        o->ring[o->slots[slot] - 1] = *seen;
        return;
    }
    uint64_t at = o->head + o->n;
    *entry(o, at) = *seen;
    o->slots[slot] = (uint32_t)(at & (o->cap - 1)) + 1;
    o->n++;
}

void op_ids_rollback(struct op_ids *o, int64_t seq_no)
{
    /* Once around the ring: what stays is added again behind the rest, so the order stays. */
    for (size_t left = o->n; left > 0; left--) {
        struct op_seen e = *entry(o, o->head);
        op_ids_pop(o);
        if (e.seq_no <= seq_no) {
            op_ids_add(o, &e);
        }
    }
}

/* varint sessions, each u64 session, varint settled below; varint names, each u64 session, varint counter, zigzag seq_no, zigzag primary term,
 * zigzag version, u8 outcome. */
void op_ids_encode(const struct op_ids *o, struct buf *out)
{
    size_t n = 0;
    put_varint(out, o->n_sessions);
    for (size_t i = 0; i < o->n_sessions; i++) {
        put_u64(out, o->sessions[i].session);
        put_varint(out, o->sessions[i].settled_below);
    }
    for (uint64_t i = 0; i < o->n; i++) {
        n += !op_ids_answered(o, entry(o, o->head + i)->id);
    }
    put_varint(out, n);
    for (uint64_t i = 0; i < o->n; i++) {
        const struct op_seen *e = entry(o, o->head + i);
        if (op_ids_answered(o, e->id)) {
            continue;
        }
        put_u64(out, e->id.session);
        put_varint(out, e->id.counter);
        put_zigzag(out, e->seq_no);
        put_zigzag(out, e->primary_term);
        put_zigzag(out, e->version);
        put_u8(out, e->outcome);
    }
}

static enum err decode_seen(struct op_ids *o, struct bytes_in *in, int64_t now_ms, struct errmsg *em)
{
    struct op_seen e = {.at_ms = now_ms};
    e.id.session = get_u64(in);
    e.id.counter = get_varint(in);
    e.seq_no = get_zigzag(in);
    e.primary_term = get_zigzag(in);
    e.version = get_zigzag(in);
    e.outcome = get_u8(in);
    in->bad |= e.id.session == 0 || e.outcome > OUTCOME_NOOP;
    enum err r = in->bad ? ERR_OK : op_ids_reserve(o, em);
    if (!in->bad && r == ERR_OK) {
        op_ids_add(o, &e);
    }
    return r;
}

enum err op_ids_decode(struct op_ids *o, struct str bytes, int64_t now_ms, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    enum err r = ERR_OK;
    for (size_t n = get_count(&in, 9); n > 0 && !in.bad; n--) {
        uint64_t session = get_u64(&in);
        op_ids_settle(o, session, get_varint(&in));
    }
    for (size_t n = get_count(&in, 13); n > 0 && !in.bad && r == ERR_OK; n--) {
        r = decode_seen(o, &in, now_ms, em);
    }
    return r == ERR_OK && (in.bad || bytes_left(&in) > 0)
               ? err_set(em, ERR_CORRUPT, "manifest: bad names of operations")
               : r;
}

void op_ids_invariant(const struct op_ids *o)
{
    size_t taken = 0;
    assert(o->n <= o->cap && (o->cap & (o->cap - 1)) == 0 && o->n_sessions <= OP_SESSIONS_MAX);
    for (uint64_t i = 0; i < o->n; i++) {
        const struct op_seen *e = entry(o, o->head + i);
        uint32_t slot = o->slots[slot_of(o, e->id)];
        assert(e->id.session != 0 && slot > 0 && &o->ring[slot - 1] == e);
    }
    for (size_t i = 0; i < o->cap * 2; i++) {
        taken += o->slots[i] != 0;
    }
    assert(taken == o->n);
    for (size_t i = 0; i < o->n_sessions; i++) {
        assert(o->sessions[i].session != 0 && o->sessions[i].used <= o->tick);
        assert(find_session(o, o->sessions[i].session) == &o->sessions[i]);
    }
}

size_t op_ids_bytes(const struct op_ids *o)
{
    return o->cap * (sizeof(*o->ring) + 2 * sizeof(*o->slots))
           + (o->sessions == NULL ? 0 : OP_SESSIONS_MAX * sizeof(*o->sessions));
}
