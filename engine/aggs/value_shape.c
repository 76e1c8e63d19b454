/* The printing of values: the formats of keys and single values. */
#include "engine/aggs/result.h"

#include "common/base/coerce.h"
#include "common/base/inet.h"
#include "common/base/num.h"

enum err value_shape_ready(struct value_shape *s, struct arena *arena, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (s->kind == FORMAT_DATE) {
        e = date_format_new(&s->date, s->pattern, arena, em);
        if (e == ERR_OK && s->zone_id.n > 0) {
            e = zone_of(&s->zone, s->zone_id, arena, em);
        }
    } else if (s->kind == FORMAT_DECIMAL) {
        e = decimal_format_new(&s->decimal, s->pattern, arena, em);
    }
    return e;
}

static void print_tile(int64_t v, struct buf *out)
{
    uint64_t bits = (uint64_t)v;
    buf_printf(out, "%u/%u/%u", (unsigned)(bits >> 58), (unsigned)((bits >> 29) & 0x1FFFFFFF),
               (unsigned)(bits & 0x1FFFFFFF));
}

static void print_geohash(int64_t v, struct buf *out)
{
    static const char digits[] = "0123456789bcdefghjkmnpqrstuvwxyz";
    uint64_t bits = (uint64_t)v >> 4;
    unsigned length = (unsigned)(v & 15);
    for (unsigned i = 0; i < length && length <= GEOHASH_MAX; i++) {
        buf_char(out, digits[(bits >> (5 * (length - 1 - i))) & 31]);
    }
}

void value_shape_print_i64(const struct value_shape *s, int64_t v, struct buf *out)
{
    switch (s->kind) {
    case FORMAT_BOOLEAN:
        buf_z(out, v != 0 ? "true" : "false");
        break;
    case FORMAT_DATE:
        if (s->date == NULL || !date_print_ms(s->date, v, s->zone, out)) {
            buf_i64(out, v);
        }
        break;
    case FORMAT_DECIMAL:
        decimal_format_print_i64(s->decimal, v, out);
        break;
    case FORMAT_GEOHASH:
        print_geohash(v, out);
        break;
    case FORMAT_GEOTILE:
        print_tile(v, out);
        break;
    case FORMAT_RAW:
    case FORMAT_IP:
    case FORMAT_BINARY:
        buf_i64(out, v);
    }
}

void value_shape_print(const struct value_shape *s, double v, struct buf *out)
{
    switch (s->kind) {
    case FORMAT_BOOLEAN:
        buf_z(out, v != 0 ? "true" : "false");
        break;
    case FORMAT_DATE:
        value_shape_print_i64(s, num_double_to_i64(v), out);
        break;
    case FORMAT_DECIMAL:
        decimal_format_print(s->decimal, v, out);
        break;
    case FORMAT_RAW:
    case FORMAT_IP:
    case FORMAT_GEOHASH:
    case FORMAT_GEOTILE:
    case FORMAT_BINARY:
        num_put_double(out, v);
    }
}
