/* Statics of Math, of the boxes of numbers, and of characters. */
#include "engine/script/classes.h"

#include "common/base/coerce.h"
#include "common/base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unicode/uchar.h>

/* ---- Math ---- */

static double java_signum(double v)
{
    return v > 0 ? 1 : v < 0 ? -1 : v;
}

/* The C library's cube root is off by a digit for some cubes: one step of Newton's mends it. */
static double java_cbrt(double v)
{
    double r = cbrt(v);
    return r == 0 || !isfinite(r) ? r : r - (r * r * r - v) / (3 * r * r);
}

static double to_degrees(double v)
{
    return v * 57.29577951308232;
}

static double to_radians(double v)
{
    return v * 0.017453292519943295;
}

static enum err math_one(struct script_run *m, struct str name, struct sv v, struct sv *out)
{
    static const struct {
        const char *name;
        double (*fn)(double);
    } table[] = {{"abs", fabs},
                 {"acos", acos},
                 {"asin", asin},
                 {"atan", atan},
                 {"cbrt", java_cbrt},
                 {"ceil", ceil},
                 {"cos", cos},
                 {"cosh", cosh},
                 {"exp", exp},
                 {"expm1", expm1},
                 {"floor", floor},
                 {"log", log},
                 {"log10", log10},
                 {"log1p", log1p},
                 {"rint", rint},
                 {"signum", java_signum},
                 {"sin", sin},
                 {"sinh", sinh},
                 {"sqrt", sqrt},
                 {"tan", tan},
                 {"tanh", tanh},
                 {"toDegrees", to_degrees},
                 {"toRadians", to_radians}};
    double d = 0;
    enum err e = vm_arg_num(m, v, &d);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(name, "round")) {
        *out = sv_long(num_double_to_i64(floor(d + 0.5)));
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(name, table[i].name)) {
            *out = sv_double(table[i].fn(d));
            return ERR_OK;
        }
    }
    return vm_no_static(m, TYPE_MATH, name, 1);
}

static enum err math_two(struct script_run *m, struct str name, struct sv a, struct sv b, struct sv *out)
{
    static const struct {
        const char *name;
        double (*fn)(double, double);
    } table[] = {{"pow", pow},
                 {"atan2", atan2},
                 {"hypot", hypot},
                 {"IEEEremainder", remainder},
                 {"copySign", copysign}};
    double x = 0, y = 0;
    enum err e = vm_arg_num(m, a, &x);
    e = e == ERR_OK ? vm_arg_num(m, b, &y) : e;
    if (e != ERR_OK) {
        return e;
    }
    bool max = str_is(name, "max");
    if (max || str_is(name, "min")) { /* painless knows those of doubles only */
        *out = sv_double(max ? num_max(x, y) : num_min(x, y));
        return ERR_OK;
    }
    if ((str_is(name, "floorDiv") || str_is(name, "floorMod")) && sv_is_whole(a) && sv_is_whole(b)) {
        e = vm_binary(m, OP_REM, a, b, out);
        if (e == ERR_OK && out->i != 0 && (out->i < 0) != (b.i < 0)) {
            e = str_is(name, "floorMod") ? vm_binary(m, OP_ADD, *out, b, out)
                                         : vm_binary(m, OP_DIV, a, b, out);
            return e == ERR_OK && str_is(name, "floorDiv") ? vm_binary(m, OP_SUB, *out, sv_int(1), out) : e;
        }
        return e == ERR_OK && str_is(name, "floorDiv") ? vm_binary(m, OP_DIV, a, b, out) : e;
    }
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(name, table[i].name)) {
            /* Java: one to an infinite power is not a number */
            bool odd = i == 0 && fabs(x) == 1 && !isfinite(y);
            *out = sv_double(odd || (i == 0 && x == 1 && isnan(y)) ? NAN : table[i].fn(x, y));
            return ERR_OK;
        }
    }
    return vm_no_static(m, TYPE_MATH, name, 2);
}

enum err static_math(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                     struct sv *out)
{
    if (n == 0 && str_is(name, "random")) {
        *out = sv_double(m->env->random != NULL ? m->env->random(m->env->self, (int32_t)m->steps, STR_NULL)
                                                : 0.5);
        return ERR_OK;
    }
    return n == 1   ? math_one(m, name, a[0], out)
           : n == 2 ? math_two(m, name, a[0], a[1], out)
                    : vm_no_static(m, type, name, n);
}

/* ---- boxes ---- */

static enum err bad_number(struct script_run *m, struct str text)
{
    return err_set(m->em, ERR_NUMBER_FORMAT, text.n == 0 ? "empty String" : "For input string: \"%.*s\"",
                   STR_ARG(text));
}

static enum err parse_number(struct script_run *m, enum sv_kind kind, struct str text, struct sv *out)
{
    static const enum num_type types[] = {
        [SV_BYTE] = NUM_BYTE, [SV_SHORT] = NUM_SHORT, [SV_INT] = NUM_INTEGER, [SV_LONG] = NUM_LONG};
    int64_t i, min, max;
    double d;
    float f;
    if (kind == SV_DOUBLE || kind == SV_FLOAT) {
        bool ok = kind == SV_DOUBLE ? num_parse_double(text, &d) : num_parse_float(text, &f);
        if (ok) {
            *out = kind == SV_DOUBLE ? sv_double(d) : sv_float(f);
        }
        return ok ? ERR_OK : bad_number(m, text);
    }
    num_range(types[kind], &min, &max);
    if (!num_parse_i64(text, &i) || i < min || i > max) {
        return bad_number(m, text);
    }
    *out = (struct sv){.kind = kind, .i = i};
    return ERR_OK;
}

/* Digits of so many bits each, without zeros at the front. */
static enum err in_bits(struct script_run *m, uint64_t v, unsigned bits, struct sv *out)
{
    char digits[65];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + (v & ((1U << bits) - 1)));
        v >>= bits;
    } while (v != 0);
    return vm_str(m, str_mk(digits + at, sizeof(digits) - at), out);
}

/* parseInt("ff", 16) */
static enum err parse_radix(struct script_run *m, enum sv_kind kind, struct sv *a, struct sv *out)
{
    struct str text;
    int64_t radix = 10;
    __extension__ __int128 v = 0;
    enum err e = vm_arg_str(m, a[0], &text);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &radix) : e;
    if (e == ERR_OK && (radix < 2 || radix > 36)) {
        return err_set(m->em, ERR_NUMBER_FORMAT, "radix %lld %s Character.%s_RADIX", (long long)radix,
                       radix < 2 ? "less than" : "greater than", radix < 2 ? "MIN" : "MAX");
    }
    if (e != ERR_OK) {
        return e;
    }
    bool minus = text.n > 1 && text.p[0] == '-';
    bool sign = minus || (text.n > 1 && text.p[0] == '+');
    bool ok = text.n > 0 && text.n < 70;
    for (size_t i = sign ? 1 : 0; ok && i < text.n; i++) {
        char c = text.p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 10
                    : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                           : 36;
        v = v * radix + digit;
        ok = digit < radix && v <= (kind == SV_INT ? (int64_t)INT32_MAX + minus : INT64_MAX);
    }
    *out = (struct sv){.kind = kind, .i = minus ? -(int64_t)v : (int64_t)v};
    if (!ok && radix == 10) {
        return bad_number(m, text);
    }
    return ok ? ERR_OK
              : err_set(m->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\" under radix %lld",
                        STR_ARG(text), (long long)radix);
}

enum err static_box(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                    struct sv *out)
{
    enum sv_kind kind = type_kind(type);
    struct str text;
    int r = 0;
    if (n == 2 && str_is(name, "compare") && sv_compare(a[0], a[1], &r)) {
        *out = sv_int(r);
        return ERR_OK;
    }
    if (n == 2 && (str_is(name, "max") || str_is(name, "min"))) {
        enum err e = math_two(m, name, a[0], a[1], out);
        *out = sv_to_kind(*out, kind);
        return e;
    }
    if (n == 2 && str_is(name, "sum")) {
        return vm_binary(m, OP_ADD, a[0], a[1], out);
    }
    if (n == 2 && str_starts(name, STR("parse")) && (kind == SV_INT || kind == SV_LONG)) {
        return parse_radix(m, kind, a, out);
    }
    if (n != 1) {
        return vm_no_static(m, type, name, n);
    }
    if ((str_is(name, "toBinaryString") || str_is(name, "toOctalString")) && sv_is_whole(a[0])) {
        return in_bits(m, kind == SV_LONG ? (uint64_t)a[0].i : (uint32_t)a[0].i, name.n == 14 ? 1 : 3, out);
    }
    if (str_is(name, "toString")) {
        struct sv boxed = sv_is_number(a[0]) && kind >= SV_INT ? sv_to_kind(a[0], kind) : a[0];
        enum err e = vm_text(m, boxed, &text);
        *out = sv_str(text);
        return e;
    }
    if (str_is(name, "bitCount") && sv_is_whole(a[0])) {
        *out = sv_int(__builtin_popcountll(kind == SV_LONG ? (uint64_t)a[0].i : (uint32_t)a[0].i));
        return ERR_OK;
    }
    if (str_is(name, "toHexString") && sv_is_whole(a[0])) {
        char hex[20];
        uint64_t v = kind == SV_LONG ? (uint64_t)a[0].i : (uint32_t)a[0].i;
        snprintf(hex, sizeof(hex), "%" PRIx64, v);
        return vm_str(m, str_of(hex), out);
    }
    if (str_is(name, "isNaN") && sv_is_number(a[0])) {
        *out = sv_bool(isnan(sv_num(a[0])));
        return ERR_OK;
    }
    if (str_starts(name, STR("parse")) || (str_is(name, "valueOf") && a[0].kind == SV_STR)) {
        enum err e = vm_arg_str(m, a[0], &text);
        if (e == ERR_OK && kind == SV_BOOL) {
            *out = sv_bool(str_eq_nocase(text, STR("true")));
            return ERR_OK;
        }
        return e == ERR_OK ? parse_number(m, kind, text, out) : e;
    }
    if (str_is(name, "valueOf")) {
        return vm_cast(m, (struct type){.id = type}, a[0], false, out);
    }
    return vm_no_static(m, type, name, n);
}

enum err static_character(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                          struct sv *out)
{
    if (n != 1 || !sv_is_whole(a[0])) {
        return vm_no_static(m, type, name, n);
    }
    UChar32 c = (UChar32)a[0].i;
    if (str_is(name, "isDigit")) {
        *out = sv_bool(u_isdigit(c));
    } else if (str_is(name, "isLetter") || str_is(name, "isAlphabetic")) {
        *out = sv_bool(u_isalpha(c));
    } else if (str_is(name, "isLetterOrDigit")) {
        *out = sv_bool(u_isalnum(c));
    } else if (str_is(name, "isWhitespace")) {
        *out = sv_bool(u_isWhitespace(c));
    } else if (str_is(name, "isUpperCase")) {
        *out = sv_bool(u_isupper(c));
    } else if (str_is(name, "isLowerCase")) {
        *out = sv_bool(u_islower(c));
    } else if (str_is(name, "toUpperCase")) {
        *out = (struct sv){.kind = SV_CHAR, .i = u_toupper(c)};
    } else if (str_is(name, "toLowerCase")) {
        *out = (struct sv){.kind = SV_CHAR, .i = u_tolower(c)};
    } else if (str_is(name, "getNumericValue")) {
        *out = sv_int(u_charDigitValue(c));
    } else {
        return vm_no_static(m, type, name, n);
    }
    return ERR_OK;
}
