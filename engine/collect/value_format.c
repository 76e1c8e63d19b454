#include "engine/collect/value_format.h"

#include "common/base/coerce.h"
#include "common/base/geo.h"
#include "common/base/inet.h"
#include "common/base/num.h"

enum err value_format_new(struct value_format *out, const struct field *f, struct str format,
                          struct arena *arena, struct errmsg *em)
{
    *out = (struct value_format){.field = f, .date = field_is_date(f) ? f->format : NULL};
    if (format.p == NULL || str_is(format, "use_field_mapping") || f->class->is_binary) {
        return ERR_OK;
    }
    if (field_is_date(f) || (f->class->ends != NULL && f->class->ends->kind == VALUE_DATE)) {
        return date_format_new(&out->date, format, arena, em);
    }
    return f->class->is_numeric ? decimal_format_new(&out->decimal, format, arena, em)
                                : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                          "Field [%.*s] of type [%s] does not support custom formats",
                                          STR_ARG(f->path), f->class->name);
}

static void write_geo(int64_t packed, struct jsonw *w)
{
    struct geo_point g = geo_unpack(packed);
    struct buf b;
    buf_init(&b, NULL, KIB);
    num_put_double(&b, g.lat);
    buf_z(&b, ", ");
    num_put_double(&b, g.lon);
    value_write_buf(&b, w);
}

void value_write_num(const struct value_format *f, int64_t v, struct jsonw *w)
{
    const struct field *field = f->field;
    if (field_is_date(field)) {
        value_write_date(f, field->class->is_nanos ? instant_of_nanos(v) : instant_of_ms(v), w);
    } else if (field_is_point(field)) {
        write_geo(v, w);
    } else if (f->decimal != NULL) {
        struct buf b;
        buf_init(&b, NULL, KIB);
        if (field_is_whole(field)) {
            decimal_format_print_i64(f->decimal, v, &b);
        } else {
            decimal_format_print(f->decimal, field_num_to_double(field, v), &b);
        }
        value_write_buf(&b, w);
    } else {
        field_write_num(field, v, w);
    }
}

static void write_ip(const uint8_t *address, struct jsonw *w)
{
    struct buf b;
    buf_init(&b, NULL, KIB);
    inet_print(address, &b);
    value_write_buf(&b, w);
}

void value_write_term(const struct value_format *f, struct str term, struct jsonw *w)
{
    if (f->field->class->kind == VALUE_ADDRESS && term.n == INET_BYTES) {
        write_ip((const uint8_t *)term.p, w);
    } else {
        jw_str(w, term);
    }
}

static void write_ords(const struct value_format *f, const struct seg_field *seg, doc_id doc, struct jsonw *w)
{
    struct ord_column c;
    uint64_t first;
    struct buf term;
    ord_column_init(&c, seg);
    uint32_t n = ord_column_seek(&c, doc, &first);
    buf_init(&term, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < n; i++) {
        if (seg_term_by_ord(seg, ord_column_value(&c, first + i), &term)) {
            value_write_term(f, buf_view(&term), w);
        }
    }
    buf_fini(&term);
}

void value_write_binary(struct str s, bool padded, struct jsonw *w)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < s.n; i += 3) {
        uint32_t bits = 0;
        size_t n = MIN_OF(s.n - i, (size_t)3);
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < n ? (unsigned char)s.p[i + k] : 0U);
        }
        for (size_t k = 0; k < 4; k++) {
            if (k <= n || padded) {
                buf_char(&b, k <= n ? alphabet[(bits >> (18 - 6 * k)) & 63] : '=');
            }
        }
    }
    value_write_buf(&b, w);
}

void doc_values_write(const struct value_format *f, const struct seg_field *seg, doc_id doc, struct jsonw *w)
{
    struct num_column c;
    struct str bytes;
    uint64_t first;
    if (seg == NULL) {
        return;
    }
    if ((seg->has & SEG_ORDS) != 0) {
        write_ords(f, seg, doc, w);
        return;
    }
    if ((seg->has & SEG_BYTES) != 0 && seg_bytes_value(seg, doc, 0, &bytes)) {
        for (uint32_t i = 0; seg_bytes_value(seg, doc, i, &bytes); i++) {
            value_write_binary(bytes, false, w);
        }
        return;
    }
    num_column_init(&c, seg);
    uint32_t n = num_column_seek(&c, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        value_write_num(f, num_column_value(&c, first + i), w);
    }
}
