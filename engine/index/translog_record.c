#include "engine/index/translog_record.h"

#include "common/base/bytes.h"
#include "common/base/hash.h"
#include "common/base/torn.h"

#define MAGIC         "SRAITLOG"
#define VERSION       3
#define VERSION_NO_ID 2
#define VERSION_OLDER 1   /* no marks either */
#define FIXED_BYTES   128 /* of the header: what never changes */
#define MARKS         2
#define FOLLOWED_AT   (FIXED_BYTES + MARKS * TLOG_MARK_BYTES)
#define FOLLOWED_SEED 0x666F6C6C6F776564ULL

enum { FLAG_RETRY = 1, FLAG_ROUTING = 2, FLAG_OP_ID = 4, OUTCOME_SHIFT = 3 };

/* ---- header ---- */

uint64_t tlog_mark_encode(const struct tlog_synced *m, uint64_t generation, unsigned slot,
                          char out[TLOG_MARK_BYTES])
{
    store_u64(out, m->end);
    store_u64(out + 8, m->ops);
    store_u64(out + 16, (uint64_t)m->max_seq);
    store_u64(out + 24, 0);
    store_u64(out + 32, hash_bytes(out, TLOG_MARK_BYTES - 8, hash_u64(generation) ^ slot));
    return FIXED_BYTES + (uint64_t)slot * TLOG_MARK_BYTES;
}

uint64_t tlog_followed_encode(uint64_t generation, char out[8])
{
    store_u64(out, hash_u64(generation ^ FOLLOWED_SEED));
    return FOLLOWED_AT;
}

void tlog_header_encode(const struct tlog_header *h, struct buf *out)
{
    size_t at = out->n;
    buf_add(out, MAGIC, 8);
    put_u32(out, VERSION);
    put_u32(out, h->shard);
    put_u64(out, h->generation);
    put_u64(out, (uint64_t)h->trim_above);
    put_u64(out, (uint64_t)h->max_seq_before);
    put_u64(out, (uint64_t)h->created_ms);
    put_u64(out, (uint64_t)h->global_checkpoint);
    char uuid[TLOG_UUID_BYTES_NOW] = {0}, slot[TLOG_MARK_BYTES];
    memcpy(uuid, h->uuid, MIN_OF(strlen(h->uuid), sizeof(uuid) - 1));
    buf_add(out, uuid, sizeof(uuid));
    put_u64(out, h->id);
    if (!out->failed) {
        put_u64(out, hash_bytes(out->p + at, FIXED_BYTES - 8, h->generation));
    }
    const struct tlog_synced m = {.end = TLOG_HEADER_BYTES, .max_seq = SEQ_NONE};
    for (unsigned i = 0; i < MARKS; i++) {
        tlog_mark_encode(&m, h->generation, i, slot);
        buf_add(out, slot, sizeof(slot));
    }
    put_u64(out, 0); /* not followed */
}

/* false: neither is whole. */
static bool decode_marks(struct tlog_header *h, struct str bytes)
{
    bool any = false;
    for (unsigned i = 0; i < MARKS; i++) {
        const char *p = bytes.p + FIXED_BYTES + (size_t)i * TLOG_MARK_BYTES;
        struct tlog_synced m = {load_u64(p), load_u64(p + 8), (int64_t)load_u64(p + 16)};
        bool whole = load_u64(p + 32) == hash_bytes(p, TLOG_MARK_BYTES - 8, hash_u64(h->generation) ^ i)
                     && m.end >= TLOG_HEADER_BYTES;
        if (whole && (!any || m.end > h->mark.end)) {
            h->mark = m;
            h->next_mark = 1 - i;
            any = true;
        }
    }
    char followed[8];
    tlog_followed_encode(h->generation, followed);
    h->followed = memcmp(bytes.p + FOLLOWED_AT, followed, 8) == 0;
    return any;
}

enum err tlog_header_decode(struct tlog_header *h, struct str bytes, bool *torn, struct errmsg *em)
{
    *torn = bytes.n < FIXED_BYTES || bytes_all_zero(bytes.p, bytes.n);
    if (*torn) {
        return err_set(em, ERR_CORRUPT, "translog: no header");
    }
    struct bytes_in in = bytes_in(str_slice(bytes, 8, FIXED_BYTES));
    uint32_t version = get_u32(&in);
    *h = (struct tlog_header){.shard = get_u32(&in), .older = version == VERSION_OLDER};
    h->generation = get_u64(&in);
    h->trim_above = (int64_t)get_u64(&in);
    h->max_seq_before = (int64_t)get_u64(&in);
    h->created_ms = (int64_t)get_u64(&in);
    h->global_checkpoint = (int64_t)get_u64(&in);
    size_t uuid_bytes = version == VERSION ? TLOG_UUID_BYTES_NOW : TLOG_UUID_BYTES;
    struct str uuid = get_raw(&in, uuid_bytes);
    memcpy(h->uuid, uuid.p, uuid_bytes);
    h->id = version == VERSION ? get_u64(&in) : 0;
    if (memcmp(bytes.p, MAGIC, 8) != 0 || (version != VERSION && version != VERSION_NO_ID && !h->older)
        || get_u64(&in) != hash_bytes(bytes.p, FIXED_BYTES - 8, h->generation) || h->uuid[uuid_bytes - 1] != 0
        || (h->id == 0 && version == VERSION) || h->trim_above < SEQ_NONE || h->max_seq_before < SEQ_NONE) {
        return err_set(em, ERR_CORRUPT, "translog: bad header");
    }
    *torn = bytes.n < tlog_header_bytes(h);
    if (*torn || (!h->older && !decode_marks(h, bytes))) {
        return err_set(em, ERR_CORRUPT, "translog generation [%llu]: %s", (unsigned long long)h->generation,
                       *torn ? "no header" : "bad marks in its header");
    }
    return ERR_OK;
}

/* ---- records ---- */

static uint64_t seed_of(uint64_t generation, uint64_t at)
{
    return hash_u64(generation) ^ at;
}

/* Of the length and the durable mark, which must be known good before the length is believed. */
static uint32_t head_check(const char *rec, uint64_t seed)
{
    char head[12];
    memcpy(head, rec, 4);
    memcpy(head + 4, rec + 8, 8);
    return (uint32_t)hash_bytes(head, sizeof(head), seed);
}

static size_t record_begin(struct buf *out)
{
    size_t start = out->n;
    char *p = buf_reserve(out, TLOG_RECORD_BYTES);
    if (p != NULL) {
        memset(p, 0, TLOG_RECORD_BYTES);
        out->n += TLOG_RECORD_BYTES;
    }
    return start;
}

static void seal(struct buf *out, size_t start, uint64_t generation, uint64_t at, uint64_t durable)
{
    if (out->failed || out->n - start - TLOG_RECORD_BYTES > TLOG_BODY_BYTES_MAX) {
        out->failed = true;
        return;
    }
    char *rec = out->p + start;
    size_t body = out->n - start - TLOG_RECORD_BYTES;
    uint64_t seed = seed_of(generation, at);
    store_u32(rec, (uint32_t)body);
    store_u64(rec + 8, durable);
    store_u32(rec + 4, head_check(rec, seed));
    store_u64(rec + 16, hash_bytes(rec + TLOG_RECORD_BYTES, body, seed));
}

void tlog_encode_op(struct buf *out, uint64_t generation, uint64_t at, uint64_t durable,
                    const struct engine_op *op)
{
    size_t start = record_begin(out);
    bool named = op->op_id.session != 0, routed = op->routing.p != NULL;
    put_u8(out, (uint8_t)op->kind);
    unsigned flags = (op->retry ? FLAG_RETRY : 0U) | (routed ? FLAG_ROUTING : 0U) | (named ? FLAG_OP_ID : 0U);
    put_u8(out, (uint8_t)(flags | (unsigned)op->outcome << OUTCOME_SHIFT));
    put_varint(out, (uint64_t)op->seq_no);
    put_varint(out, (uint64_t)op->primary_term);
    put_zigzag(out, op->version);
    put_varint(out, op->mapping_version);
    if (op->kind == OP_NOOP) {
        put_str(out, op->reason);
    } else {
        put_str(out, op->id);
    }
    if (named) {
        put_u64(out, op->op_id.session);
        put_varint(out, op->op_id.counter);
    }
    if (routed) {
        put_str(out, op->routing);
    }
    if (op->kind == OP_INDEX) {
        put_zigzag(out, op->auto_id_ms);
        put_str(out, op->source);
    }
    seal(out, start, generation, at, durable);
}

void tlog_encode_global(struct buf *out, uint64_t generation, uint64_t at, uint64_t durable,
                        int64_t global_checkpoint)
{
    size_t start = record_begin(out);
    put_u8(out, TLOG_GLOBAL);
    put_u64(out, (uint64_t)global_checkpoint);
    seal(out, start, generation, at, durable);
}

void tlog_encode_end(struct buf *out, uint64_t generation, uint64_t at, uint64_t durable,
                     const struct tlog_summary *s)
{
    size_t start = record_begin(out);
    put_u8(out, TLOG_END);
    put_u64(out, s->ops);
    put_u64(out, (uint64_t)s->min_seq);
    put_u64(out, (uint64_t)s->max_seq);
    put_u64(out, (uint64_t)s->global_checkpoint);
    put_u64(out, 0); /* reserved */
    put_u64(out, at);
    seal(out, start, generation, at, durable);
}

static bool decode_op(struct tlog_record *r, struct bytes_in *in)
{
    struct engine_op *op = &r->op;
    *op = (struct engine_op)ENGINE_OP_INIT;
    op->kind = (enum engine_op_kind)r->kind;
    op->origin = ORIGIN_RECOVERY;
    unsigned flags = get_u8(in);
    op->retry = (flags & FLAG_RETRY) != 0;
    op->seq_no = (int64_t)get_varint(in);
    op->primary_term = (int64_t)get_varint(in);
    op->version = get_zigzag(in);
    op->mapping_version = get_varint(in);
    if (op->kind == OP_NOOP) {
        op->reason = get_str(in);
    } else {
        op->id = get_str(in);
    }
    if ((flags & FLAG_OP_ID) != 0) {
        op->op_id.session = get_u64(in);
        op->op_id.counter = get_varint(in);
    }
    if ((flags & FLAG_ROUTING) != 0) {
        op->routing = get_str(in);
    }
    if (op->kind == OP_INDEX) {
        op->auto_id_ms = get_zigzag(in);
        op->source = get_str(in);
    }
    op->outcome = (enum engine_outcome)(flags >> OUTCOME_SHIFT);
    return op->seq_no >= 0 && op->primary_term > 0 && op->version >= 0
           && flags >> OUTCOME_SHIFT <= OUTCOME_NOOP && (op->kind == OP_NOOP || op->id.n > 0);
}

static bool decode_body(struct tlog_record *r, struct str body, uint64_t at)
{
    struct bytes_in in = bytes_in(body);
    uint8_t kind = get_u8(&in);
    bool good = true;
    r->kind = (enum tlog_kind)kind;
    switch (kind) {
    case TLOG_INDEX:
    case TLOG_DELETE:
    case TLOG_NOOP:
        good = decode_op(r, &in);
        break;
    case TLOG_GLOBAL:
        r->global_checkpoint = (int64_t)get_u64(&in);
        good = r->global_checkpoint >= SEQ_NONE;
        break;
    case TLOG_END:
        r->summary = (struct tlog_summary){.ops = get_u64(&in), .ended = true};
        r->summary.min_seq = (int64_t)get_u64(&in);
        r->summary.max_seq = (int64_t)get_u64(&in);
        r->summary.global_checkpoint = (int64_t)get_u64(&in);
        get_u64(&in);
        good = get_u64(&in) == at;
        break;
    default:
        good = false;
    }
    return good && !in.bad && bytes_left(&in) == 0;
}

/* The body's length, when the record's head is whole and its check holds. */
static bool head_holds(struct str rest, uint64_t generation, uint64_t at, size_t *body)
{
    if (rest.n < TLOG_RECORD_BYTES) {
        return false;
    }
    *body = load_u32(rest.p);
    return *body <= TLOG_BODY_BYTES_MAX
           && load_u32(rest.p + 4) == head_check(rest.p, seed_of(generation, at));
}

enum err tlog_decode(struct tlog_record *r, struct str rest, uint64_t generation, uint64_t at,
                     struct errmsg *em)
{
    size_t n;
    *r = (struct tlog_record){0};
    if (!head_holds(rest, generation, at, &n) || n > rest.n - TLOG_RECORD_BYTES) {
        goto bad;
    }
    struct str body = str_mk(rest.p + TLOG_RECORD_BYTES, n);
    if (load_u64(rest.p + 16) != hash_bytes(body.p, n, seed_of(generation, at))
        || !decode_body(r, body, at)) {
        goto bad;
    }
    r->durable = load_u64(rest.p + 8);
    r->size = TLOG_RECORD_BYTES + n;
    r->summary.end = at + r->size;
    return ERR_OK;
bad:
    return err_set(em, ERR_CORRUPT, "translog generation [%llu]: bad record at [%llu]",
                   (unsigned long long)generation, (unsigned long long)at);
}

static struct str record_from(struct str bytes, uint64_t at)
{
    return str_slice(bytes, (size_t)at, bytes.n);
}

/* Is there a TLOG_END record that ends at `end`? */
static bool ends_at(struct tlog_summary *s, struct str bytes, uint64_t generation, uint64_t end)
{
    const size_t size = TLOG_RECORD_BYTES + TLOG_END_BODY_BYTES;
    struct tlog_record r;
    if (end > bytes.n || end < size
        || tlog_decode(&r, record_from(bytes, end - size), generation, end - size, NULL) != ERR_OK
        || r.kind != TLOG_END || r.size != size) {
        return false;
    }
    *s = r.summary;
    return true;
}

enum err tlog_decode_end(struct tlog_summary *s, struct str bytes, const struct tlog_header *h,
                         struct errmsg *em)
{
    if (ends_at(s, bytes, h->generation, bytes.n)
        || (!h->older && ends_at(s, bytes, h->generation, h->mark.end))) {
        return ERR_OK;
    }
    enum err e = tlog_scan(s, bytes, h, em);
    return e != ERR_OK || s->ended
               ? e
               : err_set(em, ERR_CORRUPT, "translog generation [%llu]: its end is missing or bad",
                         (unsigned long long)h->generation);
}

/* ---- a generation ---- */

void tlog_summary_init(struct tlog_summary *s, const struct tlog_header *h)
{
    *s = (struct tlog_summary){.min_seq = INT64_MAX,
                               .max_seq = SEQ_NONE,
                               .global_checkpoint = h->global_checkpoint,
                               .end = tlog_header_bytes(h)};
}

void tlog_summary_add(struct tlog_summary *s, const struct tlog_record *r)
{
    s->end += r->size;
    if (r->kind == TLOG_GLOBAL) {
        s->global_checkpoint = MAX_OF(s->global_checkpoint, r->global_checkpoint);
    } else if (r->kind == TLOG_END) {
        s->ended = true;
    } else {
        s->ops++;
        s->min_seq = MIN_OF(s->min_seq, r->op.seq_no);
        s->max_seq = MAX_OF(s->max_seq, r->op.seq_no);
    }
}

/* Can the bad record at `at` be the rest of a write that power loss cut short? */
static bool may_be_torn(struct str bytes, uint64_t generation, uint64_t at)
{
    size_t body;
    if (bytes.n - at < TLOG_RECORD_BYTES) {
        return true;
    }
    if (head_holds(record_from(bytes, at), generation, at, &body)
        && body > bytes.n - at - TLOG_RECORD_BYTES) {
        return true;
    }
    return bytes_have_hole(bytes, at);
}

/* Does a later record say that the disk had the byte at `at` already? */
static bool was_durable(struct str bytes, uint64_t generation, uint64_t at)
{
    for (uint64_t i = at + 1; i + TLOG_RECORD_BYTES <= bytes.n; i++) {
        size_t body;
        struct tlog_record r;
        if (head_holds(record_from(bytes, i), generation, i, &body) && load_u64(bytes.p + i + 8) > at
            && tlog_decode(&r, record_from(bytes, i), generation, i, NULL) == ERR_OK) {
            return true;
        }
    }
    return false;
}

/* A bad record at s->end, or the end of the bytes before the mark. */
static enum err record_missing(const struct tlog_summary *s, struct str bytes, const struct tlog_header *h,
                               struct errmsg *em)
{
    const struct tlog_synced *m = &h->mark;
    const char *what = s->end < bytes.n ? "bad record" : "cut short";
    unsigned long long generation = h->generation, at = s->end;
    if (m->ops <= s->ops) {
        return err_set(em, ERR_CORRUPT, "translog generation [%llu]: %s at [%llu]", generation, what, at);
    }
    return err_set(em, ERR_CORRUPT,
                   "translog generation [%llu]: %s at [%llu], [%llu] operations from there on are missing",
                   generation, what, at, (unsigned long long)(m->ops - s->ops));
}

enum err tlog_scan(struct tlog_summary *s, struct str bytes, const struct tlog_header *h, struct errmsg *em)
{
    tlog_summary_init(s, h);
    while (s->end < bytes.n && !s->ended) {
        struct tlog_record r;
        enum err e = tlog_decode(&r, record_from(bytes, s->end), h->generation, s->end, em);
        if (e != ERR_OK) {
            bool may = h->older ? may_be_torn(bytes, h->generation, s->end) : s->end >= h->mark.end;
            if (may && !was_durable(bytes, h->generation, s->end)) {
                return ERR_OK;
            }
            return h->older ? e : record_missing(s, bytes, h, em);
        }
        tlog_summary_add(s, &r);
    }
    if (h->older && s->end < bytes.n) {
        return err_set(em, ERR_CORRUPT, "translog generation [%llu]: bytes behind its end",
                       (unsigned long long)h->generation);
    }
    return !h->older && s->end < h->mark.end ? record_missing(s, bytes, h, em) : ERR_OK;
}
