#include "engine/aggs/hll.h"

#include "common/base/bits.h"

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

static int64_t linear(double m, double free)
{
    return (int64_t)floor(m * log(m / free) + 0.5);
}

/* By how much the raw estimate is too high, as parts of the number of registers, against the raw estimate
 * itself: means of many runs with random hashes, at 0, 1/8, 2/8 ... values a register; for 2^4, 2^5, 2^6 and
 * more registers. */
#define BIAS_POINTS 41
static const float bias_at[4][BIAS_POINTS] = {
    {0.6730F, 0.7327F, 0.7962F, 0.8637F, 0.9351F, 1.0103F, 1.0896F, 1.1727F, 1.2596F, 1.3500F, 1.4443F,
     1.5414F, 1.6419F, 1.7459F, 1.8520F, 1.9604F, 2.0710F, 2.1834F, 2.2981F, 2.4144F, 2.5317F, 2.6505F,
     2.7704F, 2.8904F, 3.0124F, 3.1349F, 3.2584F, 3.3816F, 3.5049F, 3.6292F, 3.7531F, 3.8775F, 4.0022F,
     4.1269F, 4.2522F, 4.3770F, 4.5024F, 4.6278F, 4.7529F, 4.8766F, 5.0011F},
    {0.6970F, 0.7578F, 0.8223F, 0.8907F, 0.9627F, 1.0386F, 1.1180F, 1.2012F, 1.2877F, 1.3777F, 1.4712F,
     1.5674F, 1.6669F, 1.7692F, 1.8738F, 1.9808F, 2.0899F, 2.2012F, 2.3142F, 2.4292F, 2.5452F, 2.6623F,
     2.7807F, 2.9000F, 3.0204F, 3.1409F, 3.2627F, 3.3846F, 3.5070F, 3.6304F, 3.7543F, 3.8781F, 4.0023F,
     4.1264F, 4.2506F, 4.3748F, 4.4995F, 4.6240F, 4.7480F, 4.8725F, 4.9975F},
    {0.7090F, 0.7704F, 0.8354F, 0.9041F, 0.9765F, 1.0526F, 1.1323F, 1.2155F, 1.3020F, 1.3917F, 1.4848F,
     1.5806F, 1.6799F, 1.7813F, 1.8855F, 1.9921F, 2.1004F, 2.2113F, 2.3237F, 2.4376F, 2.5530F, 2.6698F,
     2.7878F, 2.9068F, 3.0265F, 3.1475F, 3.2688F, 3.3904F, 3.5125F, 3.6351F, 3.7579F, 3.8811F, 4.0049F,
     4.1291F, 4.2532F, 4.3770F, 4.5012F, 4.6256F, 4.7499F, 4.8751F, 4.9995F},
    {0.7205F, 0.7824F, 0.8478F, 0.9169F, 0.9896F, 1.0658F, 1.1455F, 1.2286F, 1.3151F, 1.4048F, 1.4977F,
     1.5933F, 1.6917F, 1.7929F, 1.8962F, 2.0022F, 2.1101F, 2.2198F, 2.3314F, 2.4445F, 2.5596F, 2.6759F,
     2.7930F, 2.9116F, 3.0305F, 3.1505F, 3.2714F, 3.3931F, 3.5153F, 3.6378F, 3.7602F, 3.8836F, 4.0068F,
     4.1307F, 4.2539F, 4.3786F, 4.5026F, 4.6271F, 4.7513F, 4.8757F, 5.0000F}};

static double bias_of(double raw, int p)
{
    double m = (double)(1U << p), x = raw / m;
    const float *at = bias_at[MIN_OF(p - P_MIN, 3)];
    if (x <= (double)at[0]) {
        return (double)at[0] * m;
    }
    for (int i = 1; i < BIAS_POINTS; i++) {
        if (x <= (double)at[i]) {
            double low = (double)at[i - 1], high = (double)at[i];
            double part = (x - low) / (high - low);
            double bias_low = low - (i - 1) / 8.0, bias_high = high - i / 8.0;
            return (bias_low + part * (bias_high - bias_low)) * m;
        }
    }
    return 0;
}

int64_t hll_count(const struct hll *h)
{
    static const double switch_at[] = {10,   20,   40,    80,    220,   400,    900,   1800,
                                       3100, 6500, 15500, 20000, 50000, 120000, 350000};
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
    double alpha = h->p == 4 ? 0.673 : h->p == 5 ? 0.697 : h->p == 6 ? 0.709 : 0.7213 / (1 + 1.079 / m);
    double raw = alpha * m * m / sum;
    double corrected = raw <= 5 * m ? raw - bias_of(raw, h->p) : raw;
    double guess = zeros != 0 ? (double)linear(m, zeros) : corrected;
    return (int64_t)floor((guess <= switch_at[h->p - P_MIN] ? guess : corrected) + 0.5);
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

static uint64_t finish(uint64_t k)
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
    h1 = finish(h1);
    h2 = finish(h2);
    return h1 + h2;
}
