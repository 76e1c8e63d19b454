#include "common/base/jsonw.h"

#include "common/base/bits.h"
#include "common/base/num.h"

#include <stdarg.h>
#include <stdio.h>

void jsonw_init(struct jsonw *w, struct buf *out, bool pretty)
{
    *w = (struct jsonw){.out = out, .pretty = pretty};
}

struct jsonw_mark jw_mark(const struct jsonw *w)
{
    return (struct jsonw_mark){w->out->n, bits_test(w->has_kids, w->depth)};
}

void jw_rewind(struct jsonw *w, const struct jsonw_mark *m)
{
    buf_truncate(w->out, MIN_OF(m->n, w->out->n));
    w->after_key = false;
    if (!m->has_kids) {
        bits_clear(w->has_kids, w->depth);
    }
}

static void indent(struct jsonw *w)
{
    buf_char(w->out, '\n');
    for (unsigned i = 0; i < w->depth; i++) {
        buf_add(w->out, "  ", 2);
    }
}

/* What stands between the value before and this one. */
static void before_item(struct jsonw *w)
{
    if (w->depth == 0) {
        return;
    }
    if (bits_test(w->has_kids, w->depth)) {
        buf_char(w->out, ',');
    }
    bits_set(w->has_kids, w->depth);
    if (w->pretty) {
        indent(w);
    }
}

static void before_value(struct jsonw *w)
{
    if (w->after_key) {
        w->after_key = false;
    } else {
        before_item(w);
    }
}

static void open_with(struct jsonw *w, char c)
{
    before_value(w);
    buf_char(w->out, c);
    if (w->depth + 1 >= JSONW_DEPTH_MAX) {
        w->out->failed = true;
        return;
    }
    w->depth++;
    bits_clear(w->has_kids, w->depth);
}

static void close_with(struct jsonw *w, char c)
{
    assert(w->depth > 0 || w->out->failed);
    if (w->depth == 0) {
        return;
    }
    bool had = bits_test(w->has_kids, w->depth);
    w->depth--;
    if (w->pretty) {
        if (had) {
            indent(w);
        } else {
            buf_char(w->out, ' ');
        }
    }
    buf_char(w->out, c);
}

void jw_obj(struct jsonw *w)
{
    open_with(w, '{');
}

void jw_obj_end(struct jsonw *w)
{
    close_with(w, '}');
}

void jw_arr(struct jsonw *w)
{
    open_with(w, '[');
}

void jw_arr_end(struct jsonw *w)
{
    close_with(w, ']');
}

void buf_json_escaped(struct buf *b, struct str s)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t from = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (LIKELY(c >= 0x20 && c != '"' && c != '\\')) {
            continue;
        }
        buf_add(b, s.p + from, i - from);
        from = i + 1;
        char esc[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        size_t n = 2;
        switch (c) {
        case '"':
        case '\\':
            esc[1] = (char)c;
            break;
        case '\n':
            esc[1] = 'n';
            break;
        case '\r':
            esc[1] = 'r';
            break;
        case '\t':
            esc[1] = 't';
            break;
        case '\b':
            esc[1] = 'b';
            break;
        case '\f':
            esc[1] = 'f';
            break;
        default:
            n = 6;
        }
        buf_add(b, esc, n);
    }
    if (s.n > from) {
        buf_add(b, s.p + from, s.n - from);
    }
}

static void quoted(struct buf *b, struct str s)
{
    buf_char(b, '"');
    buf_json_escaped(b, s);
    buf_char(b, '"');
}

void jw_key(struct jsonw *w, struct str key)
{
    before_item(w);
    quoted(w->out, key);
    if (w->pretty) {
        buf_add(w->out, " : ", 3);
    } else {
        buf_char(w->out, ':');
    }
    w->after_key = true;
}

void jw_k(struct jsonw *w, const char *key)
{
    jw_key(w, str_of(key));
}

void jw_null(struct jsonw *w)
{
    before_value(w);
    buf_z(w->out, "null");
}

void jw_bool(struct jsonw *w, bool v)
{
    before_value(w);
    buf_z(w->out, v ? "true" : "false");
}

void jw_i64(struct jsonw *w, int64_t v)
{
    before_value(w);
    buf_i64(w->out, v);
}

void jw_u64(struct jsonw *w, uint64_t v)
{
    before_value(w);
    buf_u64(w->out, v);
}

static void not_finite(struct jsonw *w, double v)
{
    buf_z(w->out, v != v ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

void jw_double(struct jsonw *w, double v)
{
    before_value(w);
    if (v - v != 0) {
        not_finite(w, v);
    } else {
        num_put_double(w->out, v);
    }
}

void jw_float(struct jsonw *w, float v)
{
    before_value(w);
    if (v - v != 0) {
        not_finite(w, (double)v);
    } else {
        num_put_float(w->out, v);
    }
}

void jw_str(struct jsonw *w, struct str s)
{
    before_value(w);
    quoted(w->out, s);
}

void jw_z(struct jsonw *w, const char *z)
{
    jw_str(w, str_of(z));
}

void jw_strf(struct jsonw *w, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    jw_str(w, str_mk(text, MIN_OF(n > 0 ? (size_t)n : 0, sizeof(text) - 1)));
}

void jw_members(struct jsonw *w, struct str object)
{
    struct str members = str_trim(str_slice(object, 1, object.n - 1));
    if (object.n > 2 && members.n > 0) {
        before_item(w);
        buf_str(w->out, members);
    }
}

void jw_raw(struct jsonw *w, struct str json)
{
    before_value(w);
    buf_str(w->out, json);
}

void jw_value(struct jsonw *w, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        jw_null(w);
        break;
    case JSON_BOOL:
        jw_bool(w, v->b);
        break;
    case JSON_NUMBER:
        jw_raw(w, v->s);
        break;
    case JSON_STRING:
        jw_str(w, v->s);
        break;
    case JSON_ARRAY:
        jw_arr(w);
        for (uint32_t i = 0; i < v->n; i++) {
            jw_value(w, &v->items[i]);
        }
        jw_arr_end(w);
        break;
    case JSON_OBJECT:
        jw_obj(w);
        for (uint32_t i = 0; i < v->n; i++) {
            jw_key(w, v->members[i].key);
            jw_value(w, &v->members[i].value);
        }
        jw_obj_end(w);
        break;
    }
}

void jw_kstr(struct jsonw *w, const char *key, struct str v)
{
    jw_k(w, key);
    jw_str(w, v);
}

void jw_kz(struct jsonw *w, const char *key, const char *v)
{
    jw_k(w, key);
    jw_z(w, v);
}

void jw_ki64(struct jsonw *w, const char *key, int64_t v)
{
    jw_k(w, key);
    jw_i64(w, v);
}

void jw_kobj(struct jsonw *w, const char *key)
{
    jw_k(w, key);
    jw_obj(w);
}

void jw_karr(struct jsonw *w, const char *key)
{
    jw_k(w, key);
    jw_arr(w);
}

void jw_kbool(struct jsonw *w, const char *key, bool v)
{
    jw_k(w, key);
    jw_bool(w, v);
}

void jw_kdouble(struct jsonw *w, const char *key, double v)
{
    jw_k(w, key);
    jw_double(w, v);
}
