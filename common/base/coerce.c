#include "common/base/coerce.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

static const char *const names[] = {"byte", "short", "integer", "long", "float", "double", "half_float"};

const char *num_type_name(enum num_type t)
{
    return (size_t)t < ARRAY_LEN(names) ? names[t] : NULL;
}

void num_range(enum num_type type, int64_t *min, int64_t *max)
{
    static const int64_t top[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    *max = top[num_type_is_whole(type) ? type : NUM_LONG];
    *min = -*max - 1;
}

int64_t num_double_to_i64(double v)
{
    return isnan(v)                      ? 0
           : v >= 9223372036854775807.0  ? INT64_MAX
           : v <= -9223372036854775808.0 ? INT64_MIN
                                         : (int64_t)v;
}

int32_t num_double_to_i32(double v)
{
    return isnan(v) ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? INT32_MIN : (int32_t)v;
}

/* ---- half precision ---- */

uint16_t half_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t abs = bits & 0x7FFFFFFF;
    if (abs > 0x7F800000) {
        return (uint16_t)(sign | 0x7E00);
    }
    if (abs >= 0x477FF000) { /* 65520 and more rounds to infinity */
        return (uint16_t)(sign | 0x7C00);
    }
    if (abs < 0x33000001) { /* 2^-25 and less rounds to zero */
        return sign;
    }
    int shift = 13;
    uint32_t mantissa = (abs & 0x7FFFFF) | 0x800000;
    int exponent = (int)(abs >> 23) - 127 + 15;
    if (exponent <= 0) { /* subnormal: the leading bit moves down into the fraction */
        shift += 1 - exponent;
        exponent = 0;
    } else {
        mantissa &= 0x7FFFFF;
    }
    uint32_t kept = mantissa >> shift, rest = mantissa & ((1U << shift) - 1), half = 1U << (shift - 1);
    uint32_t out = ((uint32_t)exponent << 10) + kept;
    out += rest > half || (rest == half && (out & 1) != 0) ? 1 : 0; /* to even; may carry into the exponent */
    return (uint16_t)(sign | out);
}

float half_to_float(uint16_t h)
{
    int exponent = h >> 10 & 0x1F;
    float mantissa = (float)(h & 0x3FF), v;
    if (exponent == 0x1F) {
        v = mantissa != 0 ? NAN : INFINITY;
    } else if (exponent == 0) {
        v = ldexpf(mantissa, -24);
    } else {
        v = ldexpf(mantissa + 1024.0F, exponent - 25);
    }
    return (h & 0x8000) != 0 ? -v : v;
}

/* ---- fractions ---- */

static enum err fraction(struct num *out, double v, enum num_type type, struct errmsg *em)
{
    double kept = v;
    bool finite = isfinite(v);
    if (type == NUM_FLOAT) {
        kept = (double)(float)v;
        finite = isfinite(kept);
    } else if (type == NUM_HALF_FLOAT) {
        kept = (double)half_to_float(half_of_float((float)v));
        finite = isfinite(kept);
    }
    if (!finite) {
        struct buf b;
        buf_init(&b, NULL, 64);
        if (type == NUM_DOUBLE) {
            num_put_double(&b, v);
        } else {
            num_put_float(&b, (float)v);
        }
        enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] supports only finite values, but got [%.*s]",
                             names[type], STR_ARG(buf_view(&b)));
        buf_fini(&b);
        return e;
    }
    *out = (struct num){.d = kept};
    return ERR_OK;
}

static enum err fraction_of_text(struct num *out, struct str s, enum num_type type, struct errmsg *em)
{
    double v;
    float f;
    bool ok = num_parse_double(s, &v);
    if (ok && type != NUM_DOUBLE && num_parse_float(s, &f)) {
        v = (double)f; /* rounded once, from the decimal */
    }
    return ok ? fraction(out, v, type, em) : jr_bad_double(s, em);
}

/* ---- whole numbers ---- */

static enum err out_of_range(struct str s, enum num_type type, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Value [%.*s] is out of range for %s %s", STR_ARG(s),
                   type == NUM_INTEGER ? "an" : "a", names[type]);
}

/* Digits of a decimal number: sign, then integer part as text, with the exponent applied. */
struct decimal {
    bool negative, fraction, overflow;
    uint64_t whole; /* magnitude of the integer part */
};

/* BigDecimal's grammar: [+-] digits [. digits] [e [+-] digits]. */
static bool read_decimal(struct str s, struct decimal *out)
{
    char digits[64];
    size_t at = 0, n = 0;
    int64_t point = 0, exp10 = 0;
    bool any = false, seen_point = false;
    *out = (struct decimal){0};
    if (at < s.n && (s.p[at] == '+' || s.p[at] == '-')) {
        out->negative = s.p[at++] == '-';
    }
    for (; at < s.n && ((s.p[at] >= '0' && s.p[at] <= '9') || (s.p[at] == '.' && !seen_point)); at++) {
        if (s.p[at] == '.') {
            seen_point = true;
            continue;
        }
        any = true;
        if (n == 0 && s.p[at] == '0') {
            point -= seen_point ? 1 : 0; /* leading zeros carry no digits */
            continue;
        }
        if (n < sizeof(digits)) {
            digits[n++] = s.p[at];
        }
        point += seen_point ? 0 : 1;
    }
    if (!any) {
        return false;
    }
    if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        if (!num_parse_i64(str_slice(s, at + 1, s.n), &exp10) || exp10 > INT32_MAX || exp10 < INT32_MIN) {
            return false;
        }
        at = s.n;
    }
    if (at != s.n) {
        return false;
    }
    point += exp10; /* digits before the point */
    out->overflow = n > 0 && point > 19;
    for (int64_t i = 0; i < point && i < 19 && n > 0; i++) {
        unsigned d = i < (int64_t)n ? (unsigned)(digits[i] - '0') : 0;
        out->overflow = out->overflow || out->whole > (UINT64_MAX - d) / 10;
        out->whole = out->whole * 10 + d;
    }
    for (size_t i = point > 0 ? (size_t)point : 0; i < n; i++) {
        out->fraction = out->fraction || digits[i] != '0';
    }
    return true;
}

static bool number_fits(const struct decimal *d, enum num_type type, int64_t *v)
{
    int64_t min, max;
    num_range(type, &min, &max);
    if (d->overflow || d->whole > (uint64_t)INT64_MAX + (d->negative ? 1 : 0)) {
        return false;
    }
    *v = d->negative ? (int64_t)(0 - d->whole) : (int64_t)d->whole;
    return *v >= min && *v <= max;
}

void num_value_print(const struct json *v, struct buf *out)
{
    struct str s = json_text(v);
    int64_t whole;
    if (v->type == JSON_STRING || (json_is_integral(v) && !json_i64(v, &whole))) {
        buf_char(out, '[');
        for (size_t at = 0; at < s.n; at++) {
            buf_printf(out, at > 0 ? " %x" : "%x", (unsigned char)s.p[at]);
        }
        buf_char(out, ']');
    } else if (v->type == JSON_NUMBER && !json_is_integral(v)) {
        num_put_double(out, json_double(v));
    } else {
        buf_str(out, s);
    }
}

/* `shown` is the value in the errors that name it before its digits are looked at. */
static enum err whole_of_text(struct num *out, struct str s, struct str shown, enum num_type type,
                              bool coerce, struct errmsg *em)
{
    struct decimal d;
    struct str t = type == NUM_LONG ? s : str_trim(s); /* Double.parseDouble trims, BigDecimal does not */
    double whole;
    int64_t min, max;
    num_range(type == NUM_BYTE ? NUM_INTEGER : type, &min, &max); /* bytes are read as ints first */
    bool decimal = read_decimal(t, &d);
    bool of_document = type == NUM_LONG && shown.p == s.p; /* a query looks at the double first */
    if ((decimal || !of_document) && num_parse_double(t, &whole)
        && (whole < (double)min || whole > (double)max)) {
        return out_of_range(shown, type == NUM_BYTE ? NUM_INTEGER : type, em);
    }
    if (!decimal) {
        if (type == NUM_LONG) { /* parsed by another helper, which words and types it otherwise */
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "For input string: \"%.*s\"", STR_ARG(s));
        }
        double v; /* hexadecimal, NaN, Infinity: Java's doubles */
        if (!num_parse_double(t, &v)) {
            return jr_bad_double(s, em);
        }
        d = (struct decimal){.negative = v < 0, .overflow = !(fabs(v) < 9e18), .fraction = v != floor(v)};
        d.whole = d.overflow ? 0 : (uint64_t)fabs(v);
        if (isnan(v)) {
            d.overflow = false;
        }
    }
    int64_t v;
    if (!number_fits(&d, type, &v)) {
        if (type == NUM_BYTE && number_fits(&d, NUM_INTEGER, &v)) { /* it is an int by then */
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Value [%d] is out of range for a byte", (int)v);
        }
        return out_of_range(s, type, em);
    }
    if (d.fraction && !coerce) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Value [%.*s] has a decimal part", STR_ARG(shown));
    }
    *out = (struct num){.whole = true, .i = v};
    return ERR_OK;
}

/* Jackson reads bytes and shorts as ints: only beyond those its own errors appear. */
static enum err json_out_of_range(const struct json *v, enum num_type type, struct str text,
                                  struct errmsg *em)
{
    uint32_t line, col;
    struct decimal d;
    int64_t i;
    json_place(text, v->off, &line, &col);
    bool is_int = json_is_integral(v) ? read_decimal(v->s, &d) && number_fits(&d, NUM_INTEGER, &i)
                                      : fabs(json_double(v)) <= INT32_MAX;
    if (type == NUM_SHORT && is_int) {
        return err_set(em, ERR_JSON,
                       "Numeric value (%.*s) out of range of Java short\n at [Source: line: %u, column: %u]",
                       STR_ARG(v->s), line, col);
    }
    if (type == NUM_BYTE && is_int) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Value [%d] is out of range for a byte",
                       num_double_to_i32(json_double(v)));
    }
    int64_t min, max;
    num_range(type == NUM_LONG ? NUM_LONG : NUM_INTEGER, &min, &max);
    return err_set(
        em, ERR_INPUT_COERCION,
        "Numeric value (%.*s) out of range of %s (%lld - %lld)\n at [Source: line: %u, column: %u]",
        STR_ARG(v->s), type == NUM_LONG ? "long" : "int", (long long)min, (long long)max, line, col);
}

static enum err whole_of_json(struct num *out, const struct json *v, enum num_type type, bool coerce,
                              struct str text, struct errmsg *em)
{
    struct decimal d;
    int64_t i, min, max;
    if (json_is_integral(v)) {
        if (!read_decimal(v->s, &d) || !number_fits(&d, type, &i)) {
            return json_out_of_range(v, type, text, em);
        }
        *out = (struct num){.whole = true, .i = i};
        return ERR_OK;
    }
    /* With a fraction or an exponent Jackson has a double. */
    double fraction = json_double(v);
    num_range(type == NUM_LONG ? NUM_LONG : NUM_INTEGER, &min, &max);
    i = num_double_to_i64(fraction);
    if (fraction < (double)min || fraction > (double)max) {
        return json_out_of_range(v, type, text, em);
    }
    num_range(type, &min, &max);
    if (i < min || i > max) {
        return json_out_of_range(v, type, text, em);
    }
    if ((double)i != fraction && !coerce) {
        struct buf shown;
        buf_init(&shown, NULL, BUF_UNLIMITED);
        num_put_double(&shown, fraction);
        const char *java = type == NUM_LONG ? "Long" : type == NUM_SHORT ? "Short" : "Integer";
        enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT, "%.*s cannot be converted to %s without data loss",
                             STR_ARG(buf_view(&shown)), java);
        buf_fini(&shown);
        return e;
    }
    *out = (struct num){.whole = true, .i = i};
    return ERR_OK;
}

enum err num_of_text(struct num *out, struct str s, enum num_type type, bool coerce, struct errmsg *em)
{
    return num_type_is_whole(type) ? whole_of_text(out, s, s, type, coerce, em)
                                   : fraction_of_text(out, s, type, em);
}

enum err num_of_value(struct num *out, const struct json *v, enum num_type type, bool coerce,
                      struct errmsg *em)
{
    struct str s = json_text(v);
    if (!num_type_is_whole(type)) {
        return fraction_of_text(out, s, type, em);
    }
    struct buf shown;
    buf_init(&shown, NULL, BUF_UNLIMITED);
    num_value_print(v, &shown);
    enum err e = whole_of_text(out, s, buf_view(&shown), type, coerce, em);
    buf_fini(&shown);
    return e;
}

enum err num_of_json(struct num *out, const struct json *v, enum num_type type, bool coerce, struct str text,
                     struct errmsg *em)
{
    if (v->type == JSON_STRING) {
        if (!coerce) {
            const char *java[] = {"Integer", "Short", "Integer", "Long", "Float", "Double", "Float"};
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s value passed as String", java[type]);
        }
        return num_of_text(out, v->s, type, true, em);
    }
    if (v->type != JSON_NUMBER) {
        return err_set(em, ERR_JSON, "Current token (%s) not numeric, can not use numeric value accessors",
                       jr_token(v));
    }
    return num_type_is_whole(type) ? whole_of_json(out, v, type, coerce, text, em)
                                   : fraction_of_text(out, v->s, type, em);
}
