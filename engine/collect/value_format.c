#include "engine/collect/value_format.h"

#include "common/base/coerce.h"
#include "common/base/geo.h"
#include "common/base/inet.h"
#include "common/base/num.h"
#include "common/base/utf8.h"

static bool is_date(const struct field *f)
{
    return f->type == FT_DATE || f->type == FT_DATE_NANOS;
}

static enum err no_format(const struct field *f, const char *what, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] of type [%s] %s", STR_ARG(f->path),
                   field_type_name(f->type), what);
}

enum err value_format_new(struct value_format *out, const struct field *f, struct str format,
                          struct arena *arena, struct errmsg *em)
{
    *out = (struct value_format){.field = f, .date = is_date(f) ? f->format : NULL};
    if (format.p == NULL || str_is(format, "use_field_mapping") || f->type == FT_BINARY) {
        return ERR_OK;
    }
    if (is_date(f) || f->type == FT_DATE_RANGE) {
        return date_format_new(&out->date, format, arena, em);
    }
    return field_type_is_numeric(f->type) ? decimal_format_new(&out->decimal, format, arena, em)
                                          : no_format(f, "does not support custom formats", em);
}

enum err source_format_new(struct value_format *out, const struct field *f, struct str format,
                           struct arena *arena, struct errmsg *em)
{
    bool range = f->type >= FT_INTEGER_RANGE && f->type <= FT_IP_RANGE;
    *out =
        (struct value_format){.field = f, .date = is_date(f) || f->type == FT_DATE_RANGE ? f->format : NULL};
    if (format.p == NULL) {
        return ERR_OK;
    }
    if (is_date(f) || range) {
        enum err e = date_format_new(&out->date, format, arena, em);
        return e == ERR_OK && range && f->type != FT_DATE_RANGE ? err_set(
                   em, ERR_NULL_POINTER, "Field [%.*s] has no format to take a locale from", STR_ARG(f->path))
                                                                : e;
    }
    if (f->type == FT_GEO_POINT) {
        out->wkt = str_is(format, "wkt");
        out->nothing = !out->wkt && !str_is(format, "geojson");
        return ERR_OK;
    }
    if (f->type == FT_TEXT || f->type == FT_BINARY) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] doesn't support formats.", STR_ARG(f->path));
    }
    return no_format(f, "doesn't support formats.", em);
}

static void write_buf(struct buf *b, struct jsonw *w)
{
    jw_str(w, buf_view(b));
    buf_fini(b);
}

static void write_date(const struct value_format *f, struct instant t, struct jsonw *w)
{
    struct buf b;
    buf_init(&b, NULL, 4 * KIB);
    if (f->date == NULL || !date_print(f->date, t, NULL, &b)) {
        buf_reset(&b);
        buf_i64(&b, instant_to_ms(t));
    }
    write_buf(&b, w);
}

static void write_geo(int64_t packed, struct jsonw *w)
{
    struct geo_point g = geo_unpack(packed);
    struct buf b;
    buf_init(&b, NULL, KIB);
    num_put_double(&b, g.lat);
    buf_z(&b, ", ");
    num_put_double(&b, g.lon);
    write_buf(&b, w);
}

void value_write_num(const struct value_format *f, int64_t v, struct jsonw *w)
{
    const struct field *field = f->field;
    if (is_date(field)) {
        write_date(f, field->type == FT_DATE_NANOS ? instant_of_nanos(v) : instant_of_ms(v), w);
    } else if (field->type == FT_GEO_POINT) {
        write_geo(v, w);
    } else if (f->decimal != NULL) {
        struct buf b;
        buf_init(&b, NULL, KIB);
        if (field_type_is_whole(field->type)) {
            decimal_format_print_i64(f->decimal, v, &b);
        } else {
            decimal_format_print(f->decimal, field_num_to_double(field, v), &b);
        }
        write_buf(&b, w);
    } else {
        field_write_num(field, v, w);
    }
}

static void write_ip(const uint8_t *address, struct jsonw *w)
{
    struct buf b;
    buf_init(&b, NULL, KIB);
    inet_print(address, &b);
    write_buf(&b, w);
}

void value_write_term(const struct value_format *f, struct str term, struct jsonw *w)
{
    if (f->field->type == FT_IP && term.n == INET_BYTES) {
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
    ord_column_open(&c, seg);
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
    write_buf(&b, w);
}

void doc_values_write(const struct value_format *f, const struct seg_field *seg, doc_id doc, struct jsonw *w)
{
    struct num_column c;
    struct str bytes;
    uint64_t first;
    if (f->field->type == FT_CONSTANT_KEYWORD && f->field->const_value.p != NULL) {
        jw_str(w, f->field->const_value);
        return;
    }
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
    num_column_open(&c, seg);
    uint32_t n = num_column_seek(&c, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        value_write_num(f, num_column_value(&c, first + i), w);
    }
}

/* ---- values of the source ------------------------------------------------------------------------------------------------- */

static const struct {
    enum field_type type;
    enum num_type num;
} numbers[] = {{FT_LONG, NUM_LONG},
               {FT_INTEGER, NUM_INTEGER},
               {FT_SHORT, NUM_SHORT},
               {FT_BYTE, NUM_BYTE},
               {FT_FLOAT, NUM_FLOAT},
               {FT_DOUBLE, NUM_DOUBLE},
               {FT_HALF_FLOAT, NUM_HALF_FLOAT},
               {FT_SCALED_FLOAT, NUM_DOUBLE}};

static void write_number(const struct value_format *f, const struct json *v, struct jsonw *w)
{
    struct num n;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (numbers[i].type != f->field->type) {
            continue;
        }
        bool whole = num_type_is_whole(numbers[i].num);
        enum err e = whole ? num_of_text(&n, json_text(v), numbers[i].num, f->field->coerce, NULL)
                           : num_of_json(&n, v, numbers[i].num, true, STR(""), NULL);
        if (json_text(v).n == 0 || e != ERR_OK) {
            return; /* malformed values that were let through are not values */
        }
        if (n.whole) {
            jw_i64(w, n.i);
        } else if (f->field->type == FT_FLOAT || f->field->type == FT_HALF_FLOAT) {
            double shown = n.d;
            if (f->field->type == FT_HALF_FLOAT && !num_parse_double(json_text(v), &shown)) {
                return;
            }
            jw_float(w, (float)shown);
        } else if (f->field->type == FT_SCALED_FLOAT) {
            jw_double(w, (double)field_scaled(f->field, n.d) / f->field->scaling_factor);
        } else {
            jw_double(w, n.d);
        }
        return;
    }
}

struct geo_sink {
    struct jsonw *w;
    bool wkt;
};

static enum err write_source_point(void *self, struct geo_point p, struct errmsg *em)
{
    struct geo_sink *s = self;
    (void)em;
    if (!geo_lat_ok(p.lat) || !geo_lon_ok(p.lon)) { /* let through as malformed: shown around the globe */
        p = geo_point_normalise(p);
    }
    if (s->wkt) {
        struct buf b;
        buf_init(&b, NULL, KIB);
        buf_z(&b, "POINT (");
        num_put_double(&b, p.lon);
        buf_char(&b, ' ');
        num_put_double(&b, p.lat);
        buf_char(&b, ')');
        write_buf(&b, s->w);
        return ERR_OK;
    }
    jw_obj(s->w);
    jw_k(s->w, "coordinates");
    jw_arr(s->w);
    jw_double(s->w, p.lon);
    jw_double(s->w, p.lat);
    jw_arr_end(s->w);
    jw_kz(s->w, "type", "Point");
    jw_obj_end(s->w);
    return ERR_OK;
}

static void write_source_date(const struct value_format *f, struct str text, struct jsonw *w)
{
    struct instant t;
    if (f->field->format != NULL
        && date_parse(f->field->format, text, NULL, DATE_FILL_MIN, &t, NULL) == ERR_OK) {
        write_date(f, t, w);
    }
}

static void write_keyword(const struct value_format *f, struct str text, struct arena *arena, struct jsonw *w)
{
    const struct field *field = f->field;
    struct str shown = text;
    if (field->ignore_above != UINT32_MAX && utf16_length(text) > field->ignore_above) {
        return;
    }
    if (field->normalizer != NULL
        && analyzer_normalize(field->normalizer, text, arena, &shown, NULL) != ERR_OK) {
        return;
    }
    jw_str(w, shown);
}

static void write_boolean(const struct json *v, struct jsonw *w)
{
    struct str text = json_text(v);
    bool b;
    if (v->type == JSON_BOOL) {
        jw_bool(w, v->b);
    } else if (text.n == 0) {
        jw_bool(w, false);
    } else if (num_parse_bool(text, &b)) {
        jw_bool(w, b);
    }
}

/* Each bound as the format prints it; what is no range is left out. */
static void write_date_range(const struct value_format *f, const struct json *v, struct jsonw *w)
{
    if (v->type != JSON_OBJECT) {
        return;
    }
    jw_obj(w);
    for (uint32_t i = 0; i < v->n; i++) {
        struct instant t;
        const struct json *bound = &v->members[i].value;
        jw_key(w, v->members[i].key);
        if (bound->type != JSON_NULL && f->field->format != NULL
            && date_parse(f->field->format, json_text(bound), NULL, DATE_FILL_MIN, &t, NULL) == ERR_OK) {
            write_date(f, t, w);
        } else {
            jw_value(w, bound);
        }
    }
    jw_obj_end(w);
}

void source_value_write(const struct value_format *f, const struct json *v, struct arena *arena,
                        struct jsonw *w)
{
    const struct field *field = f->field;
    if (v->type == JSON_NULL) {
        if (field->null_value == NULL) {
            return;
        }
        v = field->null_value;
    }
    struct geo_sink points = {w, f->wkt};
    uint8_t address[INET_BYTES];
    switch (field->type) {
    case FT_KEYWORD:
        write_keyword(f, json_text(v), arena, w);
        return;
    case FT_DATE:
    case FT_DATE_NANOS:
        write_source_date(f, json_text(v), w);
        return;
    case FT_BOOLEAN:
        write_boolean(v, w);
        return;
    case FT_DATE_RANGE:
        write_date_range(f, v, w);
        return;
    case FT_GEO_POINT:
        if (f->nothing || geo_points_of_json(v, true, write_source_point, &points, NULL) != ERR_OK) {
            return; /* malformed ones that were let through are not values */
        }
        return;
    case FT_IP:
        if (inet_parse(json_text(v), address, NULL) == ERR_OK) {
            write_ip(address, w);
        }
        return;
    case FT_TEXT:
    case FT_BINARY:
    case FT_CONSTANT_KEYWORD:
        jw_str(w, json_text(v));
        return;
    default:
        if (field_type_is_numeric(field->type)) {
            write_number(f, v, w);
        } else {
            jw_value(w, v);
        }
    }
}
