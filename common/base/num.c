#include "common/base/num.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Lays out `digits` (first digit, then the rest, no point) times 10^exp10 as Java does: plain between 1e-3
 * and 1e7, scientific elsewhere, always with a digit behind the point. */
static void layout(struct buf *b, const char *digits, int n, int exp10)
{
    if (exp10 >= -3 && exp10 < 7) {
        if (exp10 < 0) {
            buf_z(b, "0.");
            for (int i = exp10; i < -1; i++) {
                buf_char(b, '0');
            }
            buf_add(b, digits, (size_t)n);
            return;
        }
        for (int i = 0; i <= exp10; i++) {
            buf_char(b, i < n ? digits[i] : '0');
        }
        buf_char(b, '.');
        if (n > exp10 + 1) {
            buf_add(b, digits + exp10 + 1, (size_t)(n - exp10 - 1));
        } else {
            buf_char(b, '0');
        }
        return;
    }
    buf_char(b, digits[0]);
    buf_char(b, '.');
    if (n > 1) {
        buf_add(b, digits + 1, (size_t)n - 1);
    } else {
        buf_char(b, '0');
    }
    buf_char(b, 'E');
    buf_i64(b, exp10);
}

/* printf's "d.ddde+xx" into digits and exponent, without trailing zeros. */
static void put_scientific(struct buf *b, const char *text)
{
    char digits[32];
    int n = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at != '.') {
            digits[n++] = *at;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    layout(b, digits, n, atoi(at + 1));
}

static bool put_special(struct buf *b, double v)
{
    if (isnan(v)) {
        buf_z(b, "NaN");
        return true;
    }
    if (signbit(v)) {
        buf_char(b, '-');
    }
    if (isinf(v)) {
        buf_z(b, "Infinity");
        return true;
    }
    if (v == 0) {
        buf_z(b, "0.0");
        return true;
    }
    return false;
}

/* Whole numbers beyond the bits of their type, below 2^63: Java drops as many decimal digits as the powers of two below the last
 * bit have, less one, which is not always the shortest text. `bits` are those of the type behind its first one. */
static bool put_large_whole(struct buf *b, double v, int bits)
{
    static const uint8_t dropped[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4,  4,  4,  5,  5, 5,
                                      6, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 11, 11};
    int exponent = 0;
    frexp(v, &exponent);
    int below = exponent - 1 - bits - 1; /* v is at least 2^(exponent - 1) */
    if (below < 0 || exponent > 63) {
        return false;
    }
    uint64_t whole = (uint64_t)v, unit = 1;
    int exp10 = dropped[below];
    for (int i = 0; i < exp10; i++) {
        unit *= 10;
    }
    whole = whole / unit + (whole % unit >= unit / 2 && unit > 1 ? 1 : 0);
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)whole);
    exp10 += n - 1;
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    layout(b, digits, n, exp10);
    return true;
}

void num_put_double(struct buf *b, double v)
{
    if (put_special(b, v)) {
        return;
    }
    v = fabs(v);
    if (v < 1e7 && v == floor(v)) { /* small whole numbers are common */
        buf_i64(b, (int64_t)v);
        buf_z(b, ".0");
        return;
    }
    if (v >= 0x1p54 && put_large_whole(b, v, 53)) {
        return;
    }
    char text[40];
    for (int precision = v < DBL_MIN ? 1 : 14; precision <= 16; precision++) { /* subnormal: fewer bits */
        snprintf(text, sizeof(text), "%.*e", precision, v);
        if (precision == 16 || strtod(text, NULL) == v) {
            break;
        }
    }
    put_scientific(b, text);
}

struct num_text num_text(double v)
{
    struct num_text out = {""};
    struct buf b;
    buf_init(&b, NULL, sizeof(out.s) - 1);
    num_put_double(&b, v);
    memcpy(out.s, buf_view(&b).p, buf_view(&b).n);
    buf_fini(&b);
    return out;
}

/* Floats that print without an exponent, in double arithmetic: a float times a power of ten below 10^12 is rounded once, which
 * can only matter where it lies all but in the middle between two whole numbers. false: such a case, or another range. */
static bool put_plain_float(struct buf *b, float v)
{
    static const double pow10[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
    if (!(v >= 1e-3F && v < 1e7F)) {
        return false;
    }
    double d = (double)v;
    int exp10 = -3;
    while (exp10 < 6 && d >= (exp10 < -1 ? 1 / pow10[-exp10 - 1] : pow10[exp10 + 1])) {
        exp10++;
    }
    for (int precision = 5; precision <= 8; precision++) {
        int shift = precision - exp10;
        double scaled = shift >= 0 ? d * pow10[shift] : d / pow10[-shift], whole = floor(scaled);
        double rest = scaled - whole - 0.5;
        whole += rest > 0 ? 1 : 0;
        if (fabs(rest) < 1e-5 || whole < pow10[precision] || whole >= pow10[precision + 1]) {
            return false;
        }
        double back = shift >= 0 ? whole / pow10[shift] : whole * pow10[-shift];
        uint64_t bits;
        memcpy(&bits, &back, sizeof(bits));
        if ((bits & 0x1FFFFFFF)
            == 0x10000000) { /* in the middle of two floats: which one, the decimal tells */
            return false;
        }
        if (precision < 8 && (float)back != v) {
            continue;
        }
        char digits[16];
        int n = precision + 1;
        uint64_t left = (uint64_t)whole;
        for (int i = n - 1; i >= 0; i--) {
            digits[i] = (char)('0' + left % 10);
            left /= 10;
        }
        while (n > 1 && digits[n - 1] == '0') {
            n--;
        }
        layout(b, digits, n, exp10);
        return true;
    }
    return false;
}

/* As many digits as it takes, six at least (of which zeros at the end are dropped). */
static void put_any_float(struct buf *b, float v)
{
    if (v >= 0x1p25F && put_large_whole(b, (double)v, 24)) {
        return;
    }
    char text[40];
    for (int precision = v < FLT_MIN ? 1 : 5; precision <= 8; precision++) { /* subnormal: fewer bits */
        snprintf(text, sizeof(text), "%.*e", precision, (double)v);
        if (precision == 8 || strtof(text, NULL) == v) {
            break;
        }
    }
    put_scientific(b, text);
}

void num_put_float(struct buf *b, float v)
{
    if (put_special(b, (double)v)) {
        return;
    }
    v = fabsf(v);
    if (!put_plain_float(b, v)) {
        put_any_float(b, v);
    }
}

/* A NUL-terminated copy for strtod; false when it cannot be a number anyway. */
static bool copy_number(struct str s, char *to, size_t cap)
{
    s = str_trim(s);
    if (s.n == 0 || s.n >= cap) {
        return false;
    }
    char last = s.p[s.n - 1];
    bool hex = str_find(s, 'x', 0) != SIZE_MAX || str_find(s, 'X', 0) != SIZE_MAX;
    if (hex && str_find(s, 'p', 0) == SIZE_MAX && str_find(s, 'P', 0) == SIZE_MAX) {
        return false; /* Java wants the binary exponent */
    }
    if (last == 'd' || last == 'D' || last == 'f' || last == 'F') {
        s.n--;
    }
    for (size_t i = 0; i < s.n; i++) { /* strtod's "inf", "nan(...)" and locale forms are not Java's */
        char c = s.p[i];
        bool ok = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E'
                  || (hex
                      && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == 'x' || c == 'X' || c == 'p'
                          || c == 'P'));
        if (!ok) {
            return false;
        }
    }
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return s.n > 0;
}

static bool parse_named(struct str s, double *out)
{
    s = str_trim(s);
    double sign = 1;
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        sign = s.p[0] == '-' ? -1 : 1;
        s = str_slice(s, 1, s.n);
    }
    if (str_is(s, "NaN")) {
        *out = NAN;
        return true;
    }
    if (str_is(s, "Infinity")) {
        *out = sign * INFINITY;
        return true;
    }
    return false;
}

#define NUMBER_TEXT_MAX 1100 /* longer texts than any exact double needs are refused */

bool num_parse_double(struct str s, double *out)
{
    char text[NUMBER_TEXT_MAX], *end;
    if (parse_named(s, out)) {
        return true;
    }
    if (!copy_number(s, text, sizeof(text))) {
        return false;
    }
    *out = strtod(text, &end);
    return *end == '\0' && end != text;
}

bool num_parse_float(struct str s, float *out)
{
    char text[NUMBER_TEXT_MAX], *end;
    double named;
    if (parse_named(s, &named)) {
        *out = (float)named;
        return true;
    }
    if (!copy_number(s, text, sizeof(text))) {
        return false;
    }
    *out = strtof(text, &end);
    return *end == '\0' && end != text;
}

bool num_parse_i64(struct str s, int64_t *out)
{
    size_t at = 0;
    bool negative = false;
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        negative = s.p[0] == '-';
        at = 1;
    }
    if (at == s.n) {
        return false;
    }
    uint64_t sum = 0, limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    for (; at < s.n; at++) {
        if (s.p[at] < '0' || s.p[at] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(s.p[at] - '0');
        if (sum > (limit - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool num_parse_i32(struct str s, int32_t *out)
{
    int64_t v;
    if (!num_parse_i64(s, &v) || v < INT32_MIN || v > INT32_MAX) {
        return false;
    }
    *out = (int32_t)v;
    return true;
}

bool num_parse_bool(struct str s, bool *out)
{
    *out = str_is(s, "true");
    return *out || str_is(s, "false");
}

double num_max(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : a > b || (a == b && !signbit(a)) ? a : b;
}

double num_min(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : a < b || (a == b && signbit(a)) ? a : b;
}
