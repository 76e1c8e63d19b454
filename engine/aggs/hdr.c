#include "engine/aggs/hdr.h"

#include "common/base/arena_list.h"
#include "common/base/num.h"

#include <math.h>

struct hdr *hdr_new(struct arena *arena, int digits)
{
    struct hdr *h = ARENA_NEW(arena, struct hdr);
    if (h != NULL) {
        int bits = (int)ceil(log2(2 * pow(10, digits)));
        *h = (struct hdr){.arena = arena, .digits = digits, .half_bits = bits - 1, .lowest = INFINITY};
    }
    return h;
}

/* The step of x > 0: its power of two and the place within, in one number. 0 has a step of its own below all. */
static int64_t step_of(const struct hdr *h, double x)
{
    if (x == 0) {
        return INT64_MIN;
    }
    int exponent = ilogb(x);
    int64_t half = (int64_t)1 << h->half_bits;
    int64_t place = (int64_t)ldexp(x, h->half_bits - exponent) - half;
    return (int64_t)exponent * half + place;
}

static void count_step(struct hdr *h, int64_t key, int64_t count)
{
    size_t lo = 0, hi = h->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (h->v[mid].key < key) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    h->total += count;
    if (lo < h->n && h->v[lo].key == key) {
        h->v[lo].count += count;
        return;
    }
    if (!ARENA_ROOM(h->arena, h->v, h->n, h->cap)) {
        h->failed = true;
        return;
    }
    memmove(h->v + lo + 1, h->v + lo, (h->n - lo) * sizeof(*h->v));
    h->v[lo] = (struct hdr_step){key, count};
    h->n++;
}

void hdr_add(struct hdr *h, double x)
{
    if (x < 0 || isnan(x) || isinf(x)) {
        h->negative = true;
        return;
    }
    if (x > 0) {
        h->lowest = fmin(h->lowest, x);
    }
    count_step(h, step_of(h, x), 1);
}

void hdr_merge(struct hdr *h, const struct hdr *other)
{
    h->lowest = fmin(h->lowest, other->lowest);
    for (size_t i = 0; i < other->n; i++) {
        count_step(h, other->v[i].key, other->v[i].count);
    }
}

/* The lowest or highest value of a step. One unit is the resolution at the lowest value. */
static double step_value(const struct hdr *h, int64_t key, bool highest)
{
    if (key == INT64_MIN) {
        return 0;
    }
    int64_t half = (int64_t)1 << h->half_bits;
    int64_t exponent = floor_div(key, half), place = key - exponent * half;
    int base = isinf(h->lowest) ? (int)exponent : ilogb(h->lowest);
    double low = ldexp((double)(half + place), (int)exponent - h->half_bits);
    double unit = ldexp(1, base - h->half_bits), size = ldexp(1, (int)exponent - h->half_bits);
    return highest ? low + size - unit : low;
}

double hdr_percentile(const struct hdr *h, double percentile)
{
    if (h->total == 0) {
        return NAN;
    }
    int64_t target = (int64_t)(fmin(percentile, 100) / 100 * (double)h->total + 0.5),
            seen = 0; /* the nearest */
    target = MAX_OF(target, 1);
    for (size_t i = 0; i < h->n; i++) {
        seen += h->v[i].count;
        if (seen >= target) {
            return step_value(h, h->v[i].key, percentile != 0);
        }
    }
    return NAN;
}

double hdr_rank(const struct hdr *h, double x)
{
    if (h->total == 0) {
        return NAN;
    }
    int64_t at = x < 0 ? INT64_MIN : step_of(h, x), seen = 0;
    for (size_t i = 0; i < h->n && h->v[i].key <= at; i++) {
        seen += h->v[i].count;
    }
    return 100.0 * (double)seen / (double)h->total;
}

void hdr_encode(const struct hdr *h, struct buf *out)
{
    put_u8(out, (uint8_t)h->digits);
    put_f64(out, h->lowest);
    put_varint(out, h->n);
    for (size_t i = 0; i < h->n; i++) {
        put_zigzag(out, h->v[i].key);
        put_varint(out, (uint64_t)h->v[i].count);
    }
}

struct hdr *hdr_decode(struct bytes_in *in, struct arena *arena)
{
    uint8_t digits = get_u8(in);
    in->bad |= digits > 5;
    struct hdr *h = hdr_new(arena, in->bad ? 3 : digits);
    if (h == NULL) {
        return NULL;
    }
    h->lowest = get_f64(in);
    in->bad |= !(h->lowest > 0);
    h->n = h->cap = get_count(in, 2);
    h->v = ARENA_ARRAY(arena, struct hdr_step, h->n);
    if (h->v == NULL) {
        return NULL;
    }
    int64_t limit = (int64_t)2000 << h->half_bits; /* beyond any exponent of a double */
    for (size_t i = 0; i < h->n; i++) {
        h->v[i].key = get_zigzag(in);
        h->v[i].count = (int64_t)(get_varint(in) & INT32_MAX);
        h->total += h->v[i].count;
        bool wild = h->v[i].key != INT64_MIN && (h->v[i].key > limit || h->v[i].key < -limit);
        in->bad |= wild || (i > 0 && h->v[i].key <= h->v[i - 1].key);
    }
    return h;
}
