#include "engine/aggs/hll.h"

#include "common/base/bits.h"
#include "engine/aggs/hll_bias.h"

#include <math.h>

#define P2                25 /* bits of a hash that the set keeps */
#define P_MIN             4
#define P_MAX             18
#define THRESHOLD_DEFAULT 3000

int hll_precision(int64_t threshold)
{
    if (threshold < 0) {
        threshold = THRESHOLD_DEFAULT;
    }
    threshold = MIN_OF(threshold, (int64_t)40000);
    uint64_t bytes = (uint64_t)ceil((double)threshold / 0.75) * 4;
    int p = (int)bits_width(bytes);
    return MIN_OF(MAX_OF(p, P_MIN), P_MAX);
}

/* The set starts small and doubles; at most as many slots as the registers would take bytes / 4. */
struct hll *hll_new(struct arena *arena, int precision)
{
    struct hll *h = ARENA_NEW(arena, struct hll);
    if (h == NULL) {
        return NULL;
    }
    *h = (struct hll){.arena = arena, .p = precision, .slots = 8};
    h->n_max = (uint32_t)(((1U << precision) / 4) * 3 / 4);
    h->set = ARENA_ARRAY(arena, uint32_t, h->slots);
    return h->set != NULL ? h : NULL;
}

/* ---- the set ------------------------------------------------------------------------------------------- */

/* The prefix, and when the bits that registers would need are all zero in it, the length of the run that goes
 * on behind. */
static uint32_t encode(uint64_t hash, int p)
{
    uint64_t prefix = hash >> (64 - P2);
    if ((prefix & (((uint64_t)1 << (P2 - p)) - 1)) == 0) {
        uint64_t rest = hash << P2;
        uint64_t run =
            1 + (rest == 0 ? 64 - P2 : MIN_OF((uint64_t)__builtin_clzll(rest), (uint64_t)(64 - P2)));
        return (uint32_t)((prefix << 7) | (run << 1) | 1);
    }
    return (uint32_t)(prefix << 1);
}

static void decode(uint32_t k, int p, uint32_t *index, uint8_t *run)
{
    if ((k & 1) != 0) {
        *index = k >> (7 + P2 - p);
        *run = (uint8_t)(P2 - p + (int)((k >> 1) & 63));
    } else {
        *index = k >> (P2 - p + 1);
        uint32_t low = k << (31 - P2 + p); /* the bits behind the index, at the top */
        *run = (uint8_t)(low == 0 ? P2 - p + 1 : __builtin_clz(low) + 1);
    }
}

static uint32_t slot_of(const struct hll *h, uint32_t k)
{
    uint32_t at = (k * 0x9E3779B1U) >> 7 & (h->slots - 1);
    while (h->set[at] != 0 && h->set[at] != k) {
        at = (at + 1) & (h->slots - 1);
    }
    return at;
}

static void raise(struct hll *h, uint32_t index, uint8_t run)
{
    if (h->registers[index] < run) {
        h->registers[index] = run;
    }
}

static void to_registers(struct hll *h)
{
    h->registers = arena_zalloc(h->arena, (size_t)1 << h->p);
    if (h->registers == NULL) {
        h->failed = true;
        return;
    }
    for (uint32_t i = 0; i < h->slots; i++) {
        uint32_t index;
        uint8_t run;
        if (h->set[i] != 0) {
            decode(h->set[i], h->p, &index, &run);
            raise(h, index & ((1U << h->p) - 1), run);
        }
    }
    h->set = NULL;
}

static void grow_set(struct hll *h)
{
    uint32_t *old = h->set, n = h->slots;
    h->set = ARENA_ARRAY(h->arena, uint32_t, (size_t)n * 2);
    if (h->set == NULL) {
        h->set = old;
        h->failed = true;
        return;
    }
    h->slots = n * 2;
    for (uint32_t i = 0; i < n; i++) {
        if (old[i] != 0) {
            h->set[slot_of(h, old[i])] = old[i];
        }
    }
}

static void add_encoded(struct hll *h, uint32_t k)
{
    uint32_t index, at;
    uint8_t run;
    if (h->registers != NULL) {
        decode(k, h->p, &index, &run);
        raise(h, index & ((1U << h->p) - 1), run);
        return;
    }
    at = slot_of(h, k);
    if (h->set[at] == k) {
        return;
    }
    h->set[at] = k;
    if (++h->n > h->n_max) {
        to_registers(h);
    } else if (h->n * 4 > h->slots * 3) {
        grow_set(h);
    }
}

void hll_add(struct hll *h, uint64_t hash)
{
    if (h->failed) {
        return;
    }
    if (h->registers == NULL) {
        add_encoded(h, encode(hash, h->p));
        return;
    }
    uint64_t rest = hash << h->p;
    int zeros = rest == 0 ? 64 - h->p : MIN_OF(__builtin_clzll(rest), 64 - h->p);
    raise(h, (uint32_t)(hash >> (64 - h->p)), (uint8_t)(1 + zeros));
}

void hll_merge(struct hll *h, const struct hll *other)
{
    for (uint32_t i = 0; other->set != NULL && i < other->slots && !h->failed; i++) {
        if (other->set[i] != 0) {
            add_encoded(h, other->set[i]);
        }
    }
    if (other->registers == NULL) {
        return;
    }
    if (h->registers == NULL) {
        to_registers(h);
    }
    for (uint32_t i = 0; !h->failed && i < 1U << h->p; i++) {
        raise(h, i, other->registers[i]);
    }
}

/* ---- counting ------------------------------------------------------------------------------------------ */

/* Java's Math.round. */
static int64_t rounded(double v)
{
    return (int64_t)floor(v + 0.5);
}

static int64_t linear(double m, double free)
{
    return rounded(m * log(m / free));
}

int64_t hll_count(const struct hll *h)
{
    static const int64_t switch_at[] = {10,   20,   40,    80,    220,   400,    900,   1800,
                                        3100, 6500, 11500, 20000, 50000, 120000, 350000};
    if (h->registers == NULL) {
        double m = (double)(1U << P2);
        return linear(m, m - (double)h->n);
    }
    uint32_t registers = 1U << h->p, zeros = 0;
    double m = (double)registers, sum = 0;
    for (uint32_t i = 0; i < registers; i++) {
        sum += ldexp(1, -h->registers[i]);
        zeros += h->registers[i] == 0;
    }
    double alpha = h->p == 4 ? 0.673 : h->p == 5 ? 0.697 : 0.7213 / (1 + 1.079 / m);
    double raw = alpha * m * m / sum;
    int64_t corrected = rounded(raw <= 5 * m ? raw - hll_bias(raw, h->p) : raw);
    int64_t guess = zeros != 0 ? linear(m, zeros) : corrected;
    return guess <= switch_at[h->p - P_MIN] ? guess : corrected;
}

/* ---- bytes, hashes ------------------------------------------------------------------------------------- */

void hll_encode(const struct hll *h, struct buf *out)
{
    put_u8(out, (uint8_t)h->p);
    put_bool(out, h->registers != NULL);
    if (h->registers != NULL) {
        buf_add(out, h->registers, (size_t)1 << h->p);
        return;
    }
    put_varint(out, h->n);
    for (uint32_t i = 0; i < h->slots; i++) {
        if (h->set[i] != 0) {
            put_u32(out, h->set[i]);
        }
    }
}

struct hll *hll_decode(struct bytes_in *in, struct arena *arena)
{
    uint8_t p = get_u8(in);
    bool full = get_bool(in);
    in->bad |= p < P_MIN || p > P_MAX;
    struct hll *h = hll_new(arena, in->bad ? P_MIN : p);
    if (h == NULL || in->bad) {
        return h;
    }
    if (full) {
        struct str raw = get_raw(in, (size_t)1 << p);
        h->registers = arena_zalloc(arena, (size_t)1 << p);
        if (h->registers == NULL) {
            return NULL;
        }
        for (size_t i = 0; raw.p != NULL && i < raw.n; i++) {
            h->registers[i] = (uint8_t)MIN_OF((uint8_t)raw.p[i], 64);
        }
        h->set = NULL;
        return h;
    }
    size_t n = get_count(in, 4);
    for (size_t i = 0; i < n && !h->failed; i++) {
        uint32_t k = get_u32(in);
        if (k != 0) {
            add_encoded(h, k);
        }
    }
    return h->failed ? NULL : h;
}

uint64_t hll_hash_i64(int64_t v)
{
    uint64_t z = (uint64_t)v;
    z = (z ^ (z >> 32)) * 0x4CD6944C5CC20B6DULL;
    z = (z ^ (z >> 29)) * 0xFC12C5B19D3259E9ULL;
    return z ^ (z >> 32);
}

uint64_t hll_hash_double(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return hll_hash_i64(bits);
}

static uint64_t rotate(uint64_t v, int by)
{
    return (v << by) | (v >> (64 - by));
}

static uint64_t hll_finish(uint64_t k)
{
    k = (k ^ (k >> 33)) * 0xFF51AFD7ED558CCDULL;
    k = (k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53ULL;
    return k ^ (k >> 33);
}

/* MurmurHash3_x64_128 (Austin Appleby, public domain algorithm), seed 0. */
uint64_t hll_hash_bytes(struct str s)
{
    static const uint64_t c1 = 0x87C37B91114253D5ULL, c2 = 0x4CF5AD432745937FULL;
    uint64_t h1 = 0, h2 = 0;
    size_t at = 0;
    for (; at + 16 <= s.n; at += 16) {
        h1 ^= rotate(load_u64(s.p + at) * c1, 31) * c2;
        h1 = (rotate(h1, 27) + h2) * 5 + 0x52DCE729;
        h2 ^= rotate(load_u64(s.p + at + 8) * c2, 33) * c1;
        h2 = (rotate(h2, 31) + h1) * 5 + 0x38495AB5;
    }
    uint8_t tail[16] = {0};
    if (at < s.n) {
        memcpy(tail, s.p + at, s.n - at);
        h2 ^= rotate(load_u64(tail + 8) * c2, 33) * c1;
        h1 ^= rotate(load_u64(tail) * c1, 31) * c2;
    }
    h1 ^= s.n;
    h2 ^= s.n;
    h1 += h2;
    h2 += h1;
    h1 = hll_finish(h1);
    h2 = hll_finish(h2);
    return h1 + h2;
}
