/* Ranges: {"gte":1,"lt":5}, CIDR blocks of addresses. Both ends are kept inclusive. */
#include "common/base/date_math.h"
#include "common/base/inet.h"
#include "common/base/num.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

#include <math.h>

static const struct param range_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,
    PARAM_ROW_COERCE,
    {.name = "format", .kind = PARAM_FORMAT},
    {.name = "locale", .kind = PARAM_LOCALE},
    PARAM_ROW_BOOST,
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static bool has_addresses(const struct field *f)
{
    return f->class->ends->kind == VALUE_ADDRESS;
}

/* Ends of 32 bits. */
static bool is_int(const struct field_class *ends)
{
    return ends->kind == VALUE_NUMBER && ends->num == NUM_INTEGER;
}

static void whole_range(const struct field_class *ends, struct doc_value *to)
{
    bool small = is_int(ends);
    to->range.from = small ? INT32_MIN : INT64_MIN;
    to->range.to = small ? INT32_MAX : INT64_MAX;
    if (ends->form == FORM_FLOAT) {
        to->range.from = num_from_float(-INFINITY);
        to->range.to = num_from_float(INFINITY);
    } else if (ends->form == FORM_DOUBLE) {
        to->range.from = num_from_double(-INFINITY);
        to->range.to = num_from_double(INFINITY);
    }
    memset(to->range.ip_from, 0, INET_BYTES);
    memset(to->range.ip_to, 0xFF, INET_BYTES);
}

/* Java's nextUp and nextDown on sortable bits are steps of one; infinity stays. */
static int64_t range_step(const struct field_class *ends, int64_t v, int by)
{
    if (ends->form != FORM_WHOLE) {
        double d = ends->form == FORM_FLOAT ? (double)num_to_float(v) : num_to_double(v);
        return isinf(d) && (d > 0) == (by > 0) ? v : v + by;
    }
    if (is_int(ends)) { /* wraps around, as Java's int does */
        return (int32_t)((uint32_t)(int32_t)v + (uint32_t)by);
    }
    return (int64_t)((uint64_t)v + (uint64_t)(int64_t)by);
}

static enum err parse_end(struct doc_parser *p, const struct field *f, const struct json *v, int64_t *out)
{
    if (f->class->ends->kind == VALUE_DATE) {
        struct str s;
        struct instant t;
        enum err e = doc_text(p, v, &s);
        e = e != ERR_OK ? e : date_math(f->format, s, DATE_WITHOUT_NOW, NULL, DATE_FILL_MIN, &t, p->em);
        return e == ERR_OK ? instant_to_ms_exact(t, out, p->em) : e;
    }
    struct num n;
    enum num_type type = f->class->ends->num;
    enum err e = num_of_json(&n, v, type, f->coerce, p->text, p->em);
    if (e != ERR_OK) {
        return e;
    }
    *out = n.whole ? n.i : type == NUM_FLOAT ? num_from_float((float)n.d) : num_from_double(n.d);
    return ERR_OK;
}

static enum err take_address(struct doc_parser *p, const struct json *v, bool from, bool exclude,
                             struct doc_value *to)
{
    struct str s;
    uint8_t *at = from ? to->range.ip_from : to->range.ip_to;
    enum err e = doc_text(p, v, &s);
    e = e != ERR_OK ? e : inet_parse(s, at, p->em);
    if (e == ERR_OK && exclude && !(from ? inet_next(at) : inet_prev(at))) {
        return err_set(p->em, ERR_ARITHMETIC,
                       from ? "Overflow: there is no greater InetAddress than %.*s"
                            : "Underflow: there is no smaller InetAddress than %.*s",
                       STR_ARG(s));
    }
    return e;
}

static enum err take_end(struct doc_parser *p, const struct field *f, const struct json_member *m,
                         struct doc_value *to)
{
    bool from = str_is(m->key, "gte") || str_is(m->key, "gt"), exclude = m->key.n == 2;
    if (!from && !str_is(m->key, "lte") && !str_is(m->key, "lt")) {
        return err_set(p->em, ERR_MAPPER_PARSING, "error parsing field [%.*s], with unknown parameter [%.*s]",
                       STR_ARG(f->path), STR_ARG(m->key));
    }
    if (json_is_broken(&m->value)) {
        return doc_broken(p);
    }
    if (m->value.type == JSON_NULL) {
        return ERR_OK;
    }
    if (has_addresses(f)) {
        return take_address(p, &m->value, from, exclude, to);
    }
    int64_t v = 0;
    enum err e = parse_end(p, f, &m->value, &v);
    v = exclude ? range_step(f->class->ends, v, from ? 1 : -1) : v;
    if (from) {
        to->range.from = v;
    } else {
        to->range.to = v;
    }
    return e;
}

static void put_end(struct buf *b, enum num_form form, int64_t v)
{
    if (form == FORM_FLOAT) {
        num_put_float(b, num_to_float(v));
    } else if (form == FORM_DOUBLE) {
        num_put_double(b, num_to_double(v));
    } else {
        buf_i64(b, v);
    }
}

static enum err check_order(struct doc_parser *p, const struct field *f, const struct doc_value *v)
{
    bool ip = has_addresses(f);
    bool reversed =
        ip ? memcmp(v->range.ip_from, v->range.ip_to, INET_BYTES) > 0 : v->range.from > v->range.to;
    if (!reversed || !f->index) {
        return ERR_OK;
    }
    if (ip) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "min value cannot be greater than max value for InetAddressRange field");
    }
    struct buf from, to;
    buf_init(&from, NULL, BUF_UNLIMITED);
    buf_init(&to, NULL, BUF_UNLIMITED);
    put_end(&from, f->class->ends->form, v->range.from);
    put_end(&to, f->class->ends->form, v->range.to);
    enum err e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "min value (%.*s) is greater than max value (%.*s)",
                         STR_ARG(buf_view(&from)), STR_ARG(buf_view(&to)));
    buf_fini(&from);
    buf_fini(&to);
    return e;
}

static enum err range_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    bool block = has_addresses(f) && v->type == JSON_STRING;
    if (v->type != JSON_OBJECT && !block) {
        return err_set(p->em, ERR_MAPPER_PARSING,
                       "error parsing field [%.*s], expected an object but got %.*s", STR_ARG(f->path),
                       STR_ARG(p->in_array ? STR("null") : f->name));
    }
    struct doc_value *to = doc_add(p, f, DOC_RANGE);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    whole_range(f->class->ends, to);
    enum err e = ERR_OK;
    if (block) {
        e = inet_cidr(v->s, to->range.ip_from, to->range.ip_to, p->em);
    }
    for (uint32_t i = 0; e == ERR_OK && v->type == JSON_OBJECT && i < v->n; i++) {
        e = v->members[i].key.p == NULL ? doc_broken(p) : take_end(p, f, &v->members[i], to);
        p->mistaken = e != ERR_OK ? &v->members[i].value : NULL;
    }
    if (e != ERR_OK) {
        return e;
    }
    static const struct json behind = {.type = JSON_NULL}; /* both ends were read */
    e = check_order(p, f, to);
    p->mistaken = e != ERR_OK ? &behind : NULL;
    return e;
}

/* Each bound as the format prints it; what is no range is left out. */
static void show_dates(const struct value_format *f, const struct json *v, UNUSED struct arena *arena,
                       struct jsonw *w)
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
            value_write_date(f, t, w);
        } else {
            jw_value(w, bound);
        }
    }
    jw_obj_end(w);
}

/* Elasticsearch reads a pattern for any range, and asks the field's own for its locale. */
static enum err range_format(struct value_format *out, struct str format, struct arena *arena,
                             struct errmsg *em)
{
    enum err e = date_format_new(&out->date, format, arena, em);
    return e != ERR_OK ? e
                       : err_set(em, ERR_NULL_POINTER, "Field [%.*s] has no format to take a locale from",
                                 STR_ARG(out->field->path));
}

#define RANGE(type_name, class_of_ends)                                                            \
    .name = (type_name), .params = range_params, .build = build_date_format, .value = range_value, \
    .kind = VALUE_RANGE, .ends = (class_of_ends), .queries = QUERIES_RANGES

const struct field_class field_class_integer_range = {
    RANGE("integer_range", &field_class_integer),
    .show_format = range_format,
};
const struct field_class field_class_long_range = {
    RANGE("long_range", &field_class_long),
    .show_format = range_format,
};
const struct field_class field_class_float_range = {
    RANGE("float_range", &field_class_float),
    .show_format = range_format,
};
const struct field_class field_class_double_range = {
    RANGE("double_range", &field_class_double),
    .show_format = range_format,
};
const struct field_class field_class_date_range = {
    RANGE("date_range", &field_class_date),
    .show_format = value_date_format,
    .show = show_dates,
};
const struct field_class field_class_ip_range = {
    RANGE("ip_range", &field_class_ip),
    .show_format = range_format,
};
