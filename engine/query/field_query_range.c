/* Queries on fields of ranges: bounds are values of what the ranges' ends are. */
#include "engine/query/field_queries.h"

#include "common/base/inet.h"
#include "common/base/num.h"
#include "engine/query/print.h"

/* Bounds in the wrong order are a mistake of the request; those that exclusion leaves nothing between match nothing. */
static enum err check_order(const struct field *f, const struct range_bounds *r, const int64_t dates[2],
                            bool wrong, struct errmsg *em)
{
    if (!wrong || r->from == NULL || r->to == NULL) {
        return ERR_OK;
    }
    struct buf texts[2];
    const struct json *bounds[2] = {r->from, r->to};
    const struct field_class *ends = f->class->ends;
    uint8_t address[INET_BYTES];
    for (int i = 0; i < 2; i++) {
        double d;
        struct str given = json_text(bounds[i]);
        buf_init(&texts[i], NULL, BUF_UNLIMITED);
        if (ends->form == FORM_FLOAT && num_parse_double(given, &d)) {
            num_put_float(&texts[i], (float)d);
        } else if (ends->form == FORM_DOUBLE && num_parse_double(given, &d)) {
            num_put_double(&texts[i], d);
        } else if (ends->kind == VALUE_ADDRESS && inet_parse(given, address, NULL) == ERR_OK) {
            buf_char(&texts[i], '/');
            query_print_address(address, &texts[i]);
        } else if (ends->kind == VALUE_DATE) {
            buf_printf(&texts[i], "%lld", (long long)dates[i]);
        } else {
            buf_str(&texts[i], given);
        }
    }
    enum err e =
        err_set(em, ERR_ILLEGAL_ARGUMENT, "Range query `from` value (%.*s) is greater than `to` value (%.*s)",
                STR_ARG(buf_view(&texts[0])), STR_ARG(buf_view(&texts[1])));
    buf_fini(&texts[0]);
    buf_fini(&texts[1]);
    return e;
}

static enum err range_bounds_of(struct builder *b, const struct field *f, const struct range_bounds *r,
                                struct query *q, bool *none, struct errmsg *em)
{
    struct field value = *f; /* the same field as if it held single values */
    int64_t *lo = &q->range_field.lo, *hi = &q->range_field.hi;
    enum err e = ERR_OK;
    value.class = f->class->ends;
    if (value.class->kind == VALUE_ADDRESS) {
        e = address_bounds(r, q->range_field.ip_lo, q->range_field.ip_hi, none, em);
        *none = *none || memcmp(q->range_field.ip_lo, q->range_field.ip_hi, INET_BYTES) > 0;
        return e;
    }
    if (value.class->kind == VALUE_DATE) {
        e = field_date_bounds(b, &value, r, lo, hi, em);
    } else {
        bool whole = field_is_whole(&value);
        e = whole && r->from != NULL ? whole_number(&value, r->from, lo, em) : ERR_OK;
        e = e == ERR_OK && whole && r->to != NULL ? whole_number(&value, r->to, hi, em) : e;
        e = e == ERR_OK ? number_bounds(&value, r, lo, hi, none, em) : e;
    }
    *none = *none || *lo > *hi;
    return e;
}

/* Range fields: the bounds are values of the fields' own type. */
enum err range_of_ranges(struct builder *b, const struct field *f, const struct range_bounds *r,
                         struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_range_field);
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct range_bounds closed = *r;
    struct field date = *f;
    bool none = false, wrong = false;
    q->field = f;
    q->field_name = f->path;
    q->range_field.relation = (int)r->relation;
    closed.from_inclusive = closed.to_inclusive = true;
    enum err e;
    if (f->class->ends->kind
        == VALUE_DATE) { /* an exclusive end is rounded as such before the ends are compared */
        date.class = f->class->ends;
        e = date_ends(b, &date, r, &q->range_field.lo, &q->range_field.hi, em);
        wrong = q->range_field.lo > q->range_field.hi;
    } else {
        e = range_bounds_of(b, f, &closed, q, &wrong, em);
    }
    e = e == ERR_OK ? check_order(f, r, (int64_t[2]){q->range_field.lo, q->range_field.hi}, wrong, em) : e;
    e = e == ERR_OK ? range_bounds_of(b, f, r, q, &none, em) : e;
    return e == ERR_OK && none ? qnode_none(b, out, em, "%s", "") : e;
}
