#include "engine/query/slice.h"

#include "common/base/bits.h"
#include "common/base/hash.h"
#include "engine/query/query_ops.h"
#include "engine/query/weight_set.h"

#include <stdlib.h>

#define SLICE_SEED     7919
#define ID_BYTES_MAX   520
#define ID_UTF8        0xFF /* first bytes of Elasticsearch's encoded ids: the hash is of the encoded form */
#define ID_NUMERIC     0xFE
#define ID_BASE64_HIGH 0xFD

enum slice_scope slice_of_shard(struct slice s, uint32_t shard, uint32_t shards, struct slice *within)
{
    int32_t n = (int32_t)shards, at = (int32_t)shard;
    *within = s;
    if (n <= 1) {
        return SLICE_SOME;
    }
    if (s.max < n) {
        return at % s.max == s.id ? SLICE_ALL : SLICE_NOTHING;
    }
    if (s.id % n != at) {
        return SLICE_NOTHING;
    }
    int32_t in_shard = s.max / n + (s.max % n > at);
    *within = (struct slice){s.id / n, in_shard};
    return in_shard == 1 ? SLICE_ALL : SLICE_SOME;
}

/* ---- ids ----------------------------------------------------------------------------------------------- */

static bool is_numeric(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        if (id.p[i] < '0' || id.p[i] > '9') {
            return false;
        }
    }
    return true;
}

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '-'             ? 62
           : c == '_'             ? 63
                                  : -1;
}

/* Base64url without padding whose unused bits are zero: only such an id comes back the same from its
 * bytes. */
static bool is_base64(struct str id)
{
    for (size_t i = 0; i < id.n; i++) {
        if (base64_value(id.p[i]) < 0) {
            return false;
        }
    }
    int last = base64_value(id.p[id.n - 1]);
    return (id.n & 3) == 0 || ((id.n & 3) == 2 && (last & 15) == 0) || ((id.n & 3) == 3 && (last & 3) == 0);
}

static size_t encode_numeric(struct str id, uint8_t *out)
{
    size_t n = 0;
    out[n++] = ID_NUMERIC;
    for (size_t i = 0; i < id.n; i += 2) {
        unsigned low = i + 1 < id.n ? (unsigned)(id.p[i + 1] - '0') : 15;
        out[n++] = (uint8_t)((unsigned)(id.p[i] - '0') << 4 | low);
    }
    return n;
}

static size_t encode_base64(struct str id, uint8_t *out)
{
    size_t n = 1; /* room for an escape */
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < id.n; i++) {
        bits = bits << 6 | (uint32_t)base64_value(id.p[i]);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[n++] = (uint8_t)(bits >> have);
        }
    }
    if (out[1] >= ID_BASE64_HIGH) {
        out[0] = ID_BASE64_HIGH;
        return n;
    }
    memmove(out, out + 1, n - 1);
    return n - 1;
}

static bool in_slice(struct slice s, int64_t hash)
{
    int64_t rest = hash % s.max;
    return (rest < 0 ? rest + s.max : rest) == s.id;
}

bool slice_has_id(struct slice s, struct str id)
{
    uint8_t bytes[ID_BYTES_MAX + 1];
    size_t n;
    if (id.n == 0 || id.n > ID_BYTES_MAX) {
        return s.id == 0;
    }
    if (is_numeric(id)) {
        n = encode_numeric(id, bytes);
    } else if (is_base64(id)) {
        n = encode_base64(id, bytes);
    } else {
        bytes[0] = ID_UTF8;
        memcpy(bytes + 1, id.p, id.n);
        n = id.n + 1;
    }
    return in_slice(s, (int32_t)hash_murmur3_32(bytes, n, SLICE_SEED));
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

bool slice_has_number(struct slice s, int64_t v)
{
    uint64_t z = (uint64_t)v; /* the mixer that HPPC's maps use, of which Elasticsearch takes the low half */
    z = (z ^ z >> 32) * 0x4CD6944C5CC20B6DULL;
    z = (z ^ z >> 29) * 0xFC12C5B19D3259E9ULL;
    z ^= z >> 32;
    return in_slice(s, (int32_t)(uint32_t)z);
}

/* A value as Elasticsearch's column of the field has it: halves of floats have two bytes there. */
static int64_t stored_there(const struct field *f, int64_t v)
{
    if (f->class->num != NUM_HALF_FLOAT || f->class->kind != VALUE_NUMBER) {
        return v;
    }
    int16_t half = (int16_t)half_of_float((float)field_num_to_double(f, v));
    return half ^ (half < 0 ? INT16_MAX : 0);
}

static bool has_doc(struct slice s, const struct field *f, const struct num_column *c, doc_id doc)
{
    uint64_t first;
    uint32_t n = num_column_seek(c, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        if (slice_has_number(s, stored_there(f, num_column_value(c, first + i)))) {
            return true;
        }
    }
    return n == 0 && s.id == 0; /* documents without a value are the first slice's */
}

bool slice_bits(struct slice s, const struct field *field, const struct seg_field *f, uint32_t n,
                uint64_t *bits)
{
    if (field != NULL) {
        struct num_column c;
        num_column_init(&c, f);
        for (doc_id d = 0; d < n; d++) {
            if (has_doc(s, field, &c, d)) {
                bits_set(bits, d);
            }
        }
        return true;
    }
    struct postings *p = f != NULL ? malloc(sizeof(*p)) : NULL;
    struct term_iter it;
    if (f == NULL || p == NULL) {
        return f == NULL;
    }
    term_iter_init(&it, f);
    while (term_iter_next(&it)) {
        if (slice_has_id(s, it.term)) {
            postings_init(p, f, &it.info, false);
            for (doc_id d = postings_next(p); d != DOC_END; d = postings_next(p)) {
                bits_set(bits, d);
            }
        }
    }
    term_iter_fini(&it);
    free(p);
    return true;
}

/* ---- the query ---- */

static const struct slice *slice_of(const struct query *q)
{
    return q->own;
}

static void slice_print(const struct query *q, struct buf *out)
{
    buf_printf(out, "SliceQuery[field=%.*s, id=%d, max=%d]", STR_ARG(q->field_name), (int)slice_of(q)->id,
               (int)slice_of(q)->max);
}

static void slice_key(struct buf *b, const struct query *q)
{
    buf_printf(b, "%d %d %d", q->field != NULL, (int)slice_of(q)->id, (int)slice_of(q)->max);
}

static uint64_t slice_cost(const struct weight *w, const struct leaf *leaf)
{
    return leaf->doc_count / (uint64_t)slice_of(w->query)->max + 1;
}

static enum err slice_fill(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                           uint64_t *bits)
{
    const struct query *q = w->query;
    return slice_bits(*slice_of(q), q->field, f, rq->leaf->doc_count, bits) ? ERR_OK : err_no_memory(rq->em);
}

static enum err slice_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct set_known known;
    enum err e = set_known_of(w, rq, &known);
    return e == ERR_OK ? set_bits_scorer(w, rq, set_field(w, rq->leaf), &known, slice_fill, out) : e;
}

static const struct weight_ops slice_ops = {.cost = slice_cost, .scorer = slice_scorer};

static enum err slice_weight(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    *out = set_weight_new(sh, sizeof(struct set_weight), &slice_ops, q, boost, need, slice_key);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

const struct query_ops q_slice = {.name = "slice", .print = slice_print, .weight = slice_weight};
