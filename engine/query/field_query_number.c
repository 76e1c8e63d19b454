/* Queries for numbers: what a value of a request is in a column, and where bounds lie. */
#include "engine/query/field_queries.h"

#include "common/base/coerce.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a number ---- */

/* Short and byte are read as integers: out of their range, a value is just not found. */
static enum num_type num_type_of(const struct field *f)
{
    return f->class->num <= NUM_SHORT ? NUM_INTEGER : f->class->num;
}

/* The shortest decimal form of a positive number: digits, least significant first, and the power of ten of the first. */
struct decimal {
    uint8_t digit[32];
    int n, exp;
};

static struct decimal decimal_of(double v)
{
    char text[40];
    struct decimal d = {.n = 0};
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, v);
        if (strtod(text, NULL) == v) {
            break;
        }
    }
    char *e = strchr(text, 'e');
    int fraction = 0;
    for (char *at = e - 1; at >= text; at--) {
        if (*at == '.') {
            fraction = d.n;
        } else {
            d.digit[d.n++] = (uint8_t)(*at - '0');
        }
    }
    d.exp = atoi(e + 1) - fraction;
    return d;
}

/* v × factor as exact decimals, rounded once, as BigDecimal does: 1.1 × 100 is 110. */
static double scaled(double v, double factor)
{
    char text[96];
    int digits[64] = {0}, n = 0;
    if (!isfinite(v) || v == 0) {
        return v * factor;
    }
    struct decimal a = decimal_of(fabs(v)), b = decimal_of(fabs(factor));
    for (int i = 0; i < a.n; i++) {
        for (int k = 0; k < b.n; k++) {
            digits[i + k] += a.digit[i] * b.digit[k];
        }
    }
    for (int i = 0; i + 1 < a.n + b.n; i++) {
        digits[i + 1] += digits[i] / 10;
        digits[i] %= 10;
    }
    for (int i = a.n + b.n - 1; i >= 0; i--) {
        text[n++] = (char)('0' + digits[i]);
    }
    snprintf(text + n, sizeof(text) - (size_t)n, "e%d", a.exp + b.exp);
    double product = strtod(text, NULL);
    return (v < 0) != (factor < 0) ? -product : product;
}

/* The number that a value is in the field's column; *decimal: a whole-number field got a fraction. */
static enum err field_number(const struct field *f, const struct json *v, bool *decimal, int64_t *out,
                             struct errmsg *em)
{
    struct num n;
    struct str text = json_text(v);
    *decimal = false;
    if (f->class->form == FORM_SCALED) {
        enum err e = num_of_text(&n, text, NUM_DOUBLE, true, em);
        double given;
        if (e == ERR_ILLEGAL_ARGUMENT && num_parse_double(text, &given)) { /* as BigDecimal says it */
            return err_set(
                em, ERR_NUMBER_FORMAT,
                "Character %c is neither a decimal digit number, decimal point, nor \"e\" notation "
                "exponential mark.",
                isnan(given) ? 'N' : 'I');
        }
        if (e == ERR_OK) {
            double d = scaled(n.d, f->scaling_factor);
            *out = num_double_to_i64(floor(d + 0.5));
        }
        return e;
    }
    if (field_is_whole(f)) {
        double d = 0;
        bool number = num_parse_double(text, &d);
        if (!number && num_type_of(f) == NUM_LONG) { /* longs are read as doubles first too */
            return jr_bad_double(text, em);
        }
        *decimal = number && fmod(d, 1) != 0;
    }
    enum err e = num_of_value(&n, v, num_type_of(f), true, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = n.whole ? n.i : f->class->form == FORM_DOUBLE ? num_from_double(n.d) : num_from_float((float)n.d);
    return ERR_OK;
}

enum err whole_number(const struct field *f, const struct json *v, int64_t *out, struct errmsg *em)
{
    struct num n;
    double d;
    struct str text = json_text(v);
    enum num_type type = num_type_of(f);
    if (!num_parse_double(text, &d) && type == NUM_LONG) {
        return jr_bad_double(text, em);
    }
    enum err e = num_of_value(&n, v, type, false, em);
    *out = n.i;
    return e;
}

/* ---- one, or several ---- */

enum err number_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                     struct errmsg *em)
{
    bool decimal;
    int64_t n;
    enum err e = field_number(f, v, &decimal, &n, em);
    if (e != ERR_OK && !decimal) {
        return e;
    }
    if (decimal) {
        struct buf shown;
        err_clear(em); /* whether it is a number of the type at all is not looked at: "1.5d", NaN */
        buf_init(&shown, NULL, BUF_UNLIMITED);
        num_value_print(v, &shown);
        e = qnode_none(b, out, em, "Value [%.*s] has a decimal part", STR_ARG(buf_view(&shown)));
        buf_fini(&shown);
        return e;
    }
    return qnode_num_range(b, f, n, n, true, out, em);
}

static int cmp_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

enum err number_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                      struct query **out, struct errmsg *em)
{
    int64_t *nums = ARENA_ARRAY(b->arena, int64_t, n);
    uint32_t kept = 0;
    if (nums == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool decimal;
        enum err e = field_number(f, v[i], &decimal, &nums[kept], em);
        if (e != ERR_OK && !decimal) {
            return e;
        }
        kept += decimal ? 0 : 1;
    }
    err_clear(em);
    if (kept == 0) {
        return qnode_none(b, out, em, "All values have a decimal part");
    }
    sort_items(nums, kept, sizeof(*nums), cmp_i64);
    uint32_t distinct = 1;
    for (uint32_t i = 1; i < kept; i++) {
        if (nums[i] != nums[distinct - 1]) {
            nums[distinct++] = nums[i];
        }
    }
    struct query *q = *out = qnode_new(b, &q_num_set);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->num.v = nums;
    q->num.n = distinct;
    return ERR_OK;
}

/* ---- ranges ---- */

static enum err whole_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                             bool *none, struct errmsg *em)
{
    int64_t min = num_type_of(f) == NUM_LONG ? INT64_MIN : INT32_MIN;
    int64_t max = num_type_of(f) == NUM_LONG ? INT64_MAX : INT32_MAX;
    bool decimal;
    double d = 0;
    *lo = min;
    *hi = max;
    if (r->from != NULL) {
        enum err e = field_number(f, r->from, &decimal, lo, em);
        if (e != ERR_OK) {
            return e;
        }
        num_parse_double(json_text(r->from), &d);
        if (decimal ? d > 0 : !r->from_inclusive) {
            *none = *none || *lo == max;
            *lo += *lo == max ? 0 : 1;
        }
    }
    if (r->to != NULL) {
        enum err e = field_number(f, r->to, &decimal, hi, em);
        if (e != ERR_OK) {
            return e;
        }
        num_parse_double(json_text(r->to), &d);
        if (decimal ? d < 0 : !r->to_inclusive) {
            *none = *none || *hi == min;
            *hi -= *hi == min ? 0 : 1;
        }
    }
    return ERR_OK;
}

/* The smallest half precision number that is not below v, or the greatest that is not above it. */
static float half_bound(float v, bool up)
{
    uint16_t h = half_of_float(v);
    float near = half_to_float(h);
    if (isnan(v) || (up ? near >= v : near <= v)) {
        return near;
    }
    int32_t s = (h & 0x8000) != 0 ? -(int32_t)(h & 0x7FFF) - 1 : (int32_t)h;
    s += up ? 1 : -1;
    return half_to_float(s < 0 ? (uint16_t)(0x8000 | (uint16_t)(-s - 1)) : (uint16_t)s);
}

/* Bounds of fractions; exclusive ones move to the neighbour, those of half precision to a number that it has. */
static enum err fraction_bound(const struct field *f, const struct json *v, bool inclusive, bool lower,
                               int64_t *out, struct errmsg *em)
{
    struct num n;
    enum err e =
        f->class->num == NUM_HALF_FLOAT ? num_of_text(&n, json_text(v), NUM_HALF_FLOAT, true, em) : ERR_OK;
    e = e == ERR_OK
            ? num_of_text(&n, json_text(v), f->class->form == FORM_DOUBLE ? NUM_DOUBLE : NUM_FLOAT, true, em)
            : e;
    if (e != ERR_OK) {
        return e;
    }
    if (f->class->form == FORM_DOUBLE) {
        *out = num_from_double(n.d) + (inclusive ? 0 : lower ? 1 : -1);
        return ERR_OK;
    }
    float x = (float)n.d;
    if (!inclusive && x == 0) { /* the two zeros are neighbours */
        x = lower == (signbit(x) != 0) ? -x : nextafterf(x, lower ? INFINITY : -INFINITY);
    } else if (!inclusive) {
        x = nextafterf(x, lower ? INFINITY : -INFINITY);
    }
    *out = num_from_float(f->class->num == NUM_HALF_FLOAT ? half_bound(x, lower) : x);
    return ERR_OK;
}

static enum err fraction_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                                struct errmsg *em)
{
    bool dbl = f->class->form == FORM_DOUBLE;
    enum err e = ERR_OK;
    *lo = dbl ? num_from_double(-INFINITY) : num_from_float(-INFINITY);
    *hi = dbl ? num_from_double(INFINITY) : num_from_float(INFINITY);
    if (r->from != NULL) {
        e = fraction_bound(f, r->from, r->from_inclusive, true, lo, em);
    }
    if (e == ERR_OK && r->to != NULL) {
        e = fraction_bound(f, r->to, r->to_inclusive, false, hi, em);
    }
    return e;
}

/* scaled_float: bounds move inwards to whole scaled numbers. */
static enum err scaled_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                              struct errmsg *em)
{
    struct num n;
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (r->from != NULL) {
        enum err e = num_of_text(&n, json_text(r->from), NUM_DOUBLE, true, em);
        if (e != ERR_OK) {
            return e;
        }
        double d = scaled(n.d, f->scaling_factor);
        *lo = num_double_to_i64(ceil(r->from_inclusive ? d : nextafter(d, INFINITY)));
    }
    if (r->to != NULL) {
        enum err e = num_of_text(&n, json_text(r->to), NUM_DOUBLE, true, em);
        if (e != ERR_OK) {
            return e;
        }
        double d = scaled(n.d, f->scaling_factor);
        *hi = num_double_to_i64(floor(r->to_inclusive ? d : nextafter(d, -INFINITY)));
    }
    return ERR_OK;
}

enum err number_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                       bool *none, struct errmsg *em)
{
    switch (f->class->form) {
    case FORM_WHOLE:
        return whole_bounds(f, r, lo, hi, none, em);
    case FORM_SCALED:
        return scaled_bounds(f, r, lo, hi, em);
    case FORM_DOUBLE:
    case FORM_FLOAT:
        return fraction_bounds(f, r, lo, hi, em);
    }
    return ERR_OK;
}

enum err number_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                      struct query **out, struct errmsg *em)
{
    int64_t lo, hi;
    bool none = false;
    enum err e = number_bounds(f, r, &lo, &hi, &none, em);
    if (e != ERR_OK) {
        return e;
    }
    return none ? qnode_none(b, out, em, "%s", "") : qnode_num_range(b, f, lo, hi, false, out, em);
}
