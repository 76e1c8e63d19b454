/* Static methods, constants and constructors of the classes that scripts may name. */
#include "engine/script/collectors.h"
#include "engine/script/time.h"

#include "common/base/coerce.h"
#include "common/base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unicode/uchar.h>

enum err vm_no_static(struct script_run *m, enum type_id type, struct str name, uint32_t n)
{
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "static method [%s, %.*s/%u] not found",
                   type_java((struct type){.id = type}).s, STR_ARG(name), n);
}

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
        bool first = isnan(x) || (!isnan(y) && (x == y ? signbit(x) != max : max ? x > y : x < y));
        *out = sv_double(first ? x : y);
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

static enum err box(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
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

static enum err character(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out)
{
    if (n != 1 || !sv_is_whole(a[0])) {
        return vm_no_static(m, TYPE_BOX_CHAR, name, n);
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
        return vm_no_static(m, TYPE_BOX_CHAR, name, n);
    }
    return ERR_OK;
}

/* ---- texts, objects, collections ---- */

static enum err string(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out)
{
    struct str text;
    if (n == 1 && (str_is(name, "valueOf") || str_is(name, "copyValueOf"))) {
        enum err e = vm_text(m, a[0], &text);
        *out = sv_str(text);
        return e;
    }
    if (n == 2 && str_is(name, "join")) {
        struct sv list = sv_null();
        enum err e = vm_arg_list(m, a[1], &list.list);
        list.kind = SV_LIST;
        return e == ERR_OK ? vm_method(m, list, STR("#joinAll"), a, 1, out) : e;
    }
    return vm_no_static(m, TYPE_STRING, name, n);
}

static enum err objects(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out)
{
    struct str text;
    if (n == 2 && str_is(name, "equals")) {
        *out = sv_bool(sv_equals(a[0], a[1], &m->steps));
    } else if (n == 1 && (str_is(name, "isNull") || str_is(name, "nonNull"))) {
        *out = sv_bool((a[0].kind == SV_NULL) == str_is(name, "isNull"));
    } else if (n == 1 && str_is(name, "hashCode")) {
        *out = sv_int((int32_t)sv_hash(a[0]));
    } else if (n == 1 && str_is(name, "requireNonNull")) {
        *out = a[0];
        return a[0].kind == SV_NULL ? vm_null(m, "requireNonNull") : ERR_OK;
    } else if (str_is(name, "toString") && n > 0) {
        enum err e = vm_text(m, n > 1 && a[0].kind == SV_NULL ? a[1] : a[0], &text);
        *out = sv_str(text);
        return e;
    } else if (str_is(name, "hash")) {
        uint32_t h = 1;
        for (uint32_t i = 0; i < n; i++) {
            h = h * 31 + sv_hash(a[i]);
        }
        *out = sv_int((int32_t)h);
    } else {
        return vm_no_static(m, TYPE_OBJECTS, name, n);
    }
    return ERR_OK;
}

static enum err reverse(struct sv_list *l)
{
    for (uint32_t i = 0; i < l->n / 2; i++) {
        struct sv v = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = v;
    }
    return ERR_OK;
}

static enum err swap(struct script_run *m, struct sv_list *l, struct sv *a)
{
    int64_t i = 0, k = 0;
    enum err e = l->frozen ? vm_frozen(m) : vm_arg_i64(m, a[0], &i);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &k) : e;
    if (e == ERR_OK && (i < 0 || i >= l->n || k < 0 || k >= l->n)) {
        return vm_index(m, i < 0 || i >= l->n ? i : k, l->n);
    }
    if (e == ERR_OK) {
        struct sv v = l->v[i];
        l->v[i] = l->v[k];
        l->v[k] = v;
    }
    return e;
}

static enum err collections(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out)
{
    struct sv_list *l = NULL;
    *out = sv_null();
    if (n == 0 && str_is(name, "reverseOrder")) {
        return comparator(m, TYPE_COMPARATOR, name, a, n, out);
    }
    if (n == 0) {
        if (str_is(name, "emptyMap")) {
            *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
            return out->map != NULL ? ERR_OK : vm_no_memory(m);
        }
        bool set = str_is(name, "emptySet");
        return set || str_is(name, "emptyList") ? vm_list(m, set ? LIST_SET : LIST_LIST, out)
                                                : vm_no_static(m, TYPE_COLLECTIONS, name, n);
    }
    if (n == 1 && (str_is(name, "singletonList") || str_is(name, "singleton"))) {
        enum err e = vm_list(m, str_is(name, "singleton") ? LIST_SET : LIST_LIST, out);
        return e == ERR_OK ? vm_push(m, out->list, a[0]) : e;
    }
    if (n == 1 && str_is(name, "reverseOrder")) {
        return comparator(m, TYPE_COMPARATOR, name, a, n, out);
    }
    enum err e = vm_arg_list(m, a[0], &l);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(name, "sort") && n <= 2) {
        struct sv by = n > 1 ? a[1] : sv_null();
        return vm_method(m, sv_of_list(l), STR("sort"), &by, 1, out);
    }
    if (str_is(name, "reverse") && n == 1) {
        return l->frozen ? vm_frozen(m) : reverse(l);
    }
    if (str_is(name, "swap") && n == 3) {
        return swap(m, l, a + 1);
    }
    if (str_is(name, "frequency") && n == 2) {
        int32_t count = 0;
        for (uint32_t i = 0; i < l->n && e == ERR_OK; i++) {
            count += sv_equals(l->v[i], a[1], &m->steps) ? 1 : 0;
            e = vm_spend(m, 1);
        }
        *out = sv_int(count);
        return e;
    }
    if ((str_is(name, "max") || str_is(name, "min")) && n <= 2) {
        struct sv best;
        e = vm_method(m, sv_of_list(l), name, a + 1, n - 1, &best);
        return e == ERR_OK ? vm_method(m, best, STR("get"), NULL, 0, out) : e;
    }
    if (str_starts(name, STR("unmodifiable")) && n == 1) {
        *out = a[0];
        return ERR_OK;
    }
    return vm_no_static(m, TYPE_COLLECTIONS, name, n);
}

/* ---- time ---- */

static enum err zone(struct script_run *m, struct sv v, struct sv *out)
{
    struct str id;
    const struct zone *z;
    enum err e = vm_arg_str(m, v, &id);
    e = e == ERR_OK ? zone_of(&z, id, &m->mem, m->em) : e;
    *out = (struct sv){.kind = SV_ZONE, .zone = e == ERR_OK ? z : NULL};
    return e == ERR_OK ? vm_spend(m, 2000) : e;
}

static enum err moment(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                       struct sv *out)
{
    enum sv_kind kind = type == TYPE_DATE ? SV_DATE : SV_INSTANT;
    struct str text;
    int64_t i = 0;
    const struct date_format *f;
    struct instant t;
    enum err e;
    if (str_is(name, "parse") && n >= 1) {
        e = vm_arg_str(m, a[0], &text);
        if (e == ERR_OK && n > 1 && a[1].kind == SV_FORMATTER) {
            f = a[1].format;
        } else if (e == ERR_OK) {
            e = date_format_new(&f, STR("uuuu-MM-dd'T'HH:mm[:ss[.SSSSSSSSS][.SSSSSS][.SSS]]XXX['['VV']']"),
                                &m->mem, m->em);
        }
        e = e == ERR_OK ? date_parse(f, text, NULL, DATE_FILL_MIN, &t, m->em) : e;
        if (e != ERR_OK && e != ERR_NULL_POINTER && e != ERR_CLASS_CAST) {
            return vm_unparsed(m, text);
        }
        return e == ERR_OK ? vm_date(m, kind, t, &zone_utc, out) : e;
    }
    if (type == TYPE_INSTANT && n == 1 && (str_is(name, "ofEpochMilli") || str_is(name, "ofEpochSecond"))) {
        e = vm_arg_i64(m, a[0], &i);
        t = str_is(name, "ofEpochMilli") ? instant_of_ms(i) : (struct instant){i, 0};
        return e == ERR_OK ? vm_date(m, SV_INSTANT, t, &zone_utc, out) : e;
    }
    if (type == TYPE_DATE && n == 2 && str_is(name, "ofInstant")
        && (a[0].kind == SV_INSTANT || a[0].kind == SV_DATE) && a[1].kind == SV_ZONE) {
        return vm_date(m, SV_DATE, a[0].date->t, a[1].zone, out);
    }
    if (type == TYPE_DATE && n == 2 && str_is(name, "of")) {
        e = time_arg(m, a[0], LOCAL_DATE_TIME, &t);
        return e == ERR_OK ? time_in_zone(m, t, a[1], out) : e;
    }
    if (type == TYPE_DATE && n == 3 && str_is(name, "of")) {
        struct instant clock = {0, 0};
        e = time_arg(m, a[0], LOCAL_DATE, &t);
        e = e == ERR_OK ? time_arg(m, a[1], LOCAL_TIME, &clock) : e;
        clock.seconds += e == ERR_OK ? t.seconds : 0;
        return e == ERR_OK ? time_in_zone(m, clock, a[2], out) : e;
    }
    if (type == TYPE_DATE && n == 8 && str_is(name, "of") && a[7].kind == SV_ZONE) {
        int64_t v[7];
        for (int k = 0; k < 7; k++) {
            e = vm_arg_i64(m, a[k], &v[k]);
            if (e != ERR_OK) {
                return e;
            }
        }
        if (v[0] < -250000 || v[0] > 250000 || v[1] < 1 || v[1] > 12 || v[2] < 1
            || v[2] > civil_month_days(v[0], (int)v[1]) || v[3] < 0 || v[3] > 23 || v[4] < 0 || v[4] > 59
            || v[5] < 0 || v[5] > 59 || v[6] < 0 || v[6] > 999999999) {
            return err_set(m->em, ERR_DATE_TIME, "Invalid value for a date");
        }
        int64_t local =
            (civil_to_days(v[0], (int)v[1], (int)v[2]) * 86400 + (v[3] * 60 + v[4]) * 60 + v[5]) * 1000;
        t = instant_of_ms(zone_to_utc(a[7].zone, local));
        t.nanos = (int32_t)v[6];
        return vm_date(m, SV_DATE, t, a[7].zone, out);
    }
    return vm_no_static(m, type, name, n);
}

static enum err formatter(struct script_run *m, struct str name, struct sv *a, uint32_t n, struct sv *out)
{
    struct str pattern;
    if (n < 1 || !str_is(name, "ofPattern")) {
        return vm_no_static(m, TYPE_FORMATTER, name, n);
    }
    enum err e = vm_arg_str(m, a[0], &pattern);
    const struct date_format *f = NULL;
    e = e == ERR_OK ? date_format_new(&f, pattern, &m->mem, m->em) : e;
    *out = (struct sv){.kind = SV_FORMATTER, .format = f};
    return e == ERR_OK ? vm_spend(m, 50) : e;
}

enum err vm_static(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                   struct sv *out)
{
    enum err e;
    *out = sv_null();
    switch (type) {
    case TYPE_COMPARATOR:
    case TYPE_ENTRY:
        return comparator(m, type, name, a, n, out);
    case TYPE_FUNCTION:
        return function_static(m, name, a, n, out);
    case TYPE_OPTIONAL:
        return optional_static(m, name, a, n, out);
    case TYPE_STREAM:
        return stream_static(m, name, a, n, out);
    case TYPE_MATH:
        if (n == 0 && str_is(name, "random")) {
            *out = sv_double(
                m->env->random != NULL ? m->env->random(m->env->self, (int32_t)m->steps, STR_NULL) : 0.5);
            return ERR_OK;
        }
        return n == 1   ? math_one(m, name, a[0], out)
               : n == 2 ? math_two(m, name, a[0], a[1], out)
                        : vm_no_static(m, type, name, n);
    case TYPE_BOX_CHAR:
        return character(m, name, a, n, out);
    case TYPE_STRING:
        return string(m, name, a, n, out);
    case TYPE_OBJECTS:
        return objects(m, name, a, n, out);
    case TYPE_COLLECTIONS:
        return collections(m, name, a, n, out);
    case TYPE_COLLECTORS:
        return collectors(m, name, a, n, out);
    case TYPE_ARRAYS:
        if (str_is(name, "asList")) {
            e = vm_list(m, LIST_LIST, out);
            return e == ERR_OK && n == 1 && a[0].kind == SV_LIST
                       ? vm_method(m, *out, STR("addAll"), a, 1, &(struct sv){0})
                       : e;
        }
        return n == 1 && str_is(name, "stream") ? vm_method(m, a[0], name, NULL, 0, out)
                                                : vm_no_static(m, type, name, n);
    case TYPE_DATE:
    case TYPE_INSTANT:
        return moment(m, type, name, a, n, out);
    case TYPE_ZONE:
        return n == 1 && str_is(name, "of") ? zone(m, a[0], out) : vm_no_static(m, type, name, n);
    case TYPE_LOCAL_DATE:
    case TYPE_LOCAL_TIME:
    case TYPE_LOCAL_DATE_TIME:
    case TYPE_DURATION: {
        bool found = false;
        e = time_static(m, type, name, a, n, out, &found);
        return found || e != ERR_OK ? e : vm_no_static(m, type, name, n);
    }
    case TYPE_FORMATTER:
        return formatter(m, name, a, n, out);
    case TYPE_PATTERN:
        return vm_no_static(m, type, name, n); /* only literals: a computed pattern could run without bound */
    case TYPE_SYSTEM:
        if (n == 0 && (str_is(name, "currentTimeMillis") || str_is(name, "nanoTime"))) {
            *out = sv_long(str_is(name, "nanoTime") ? m->env->now_ms * 1000000 : m->env->now_ms);
            return ERR_OK;
        }
        return vm_no_static(m, type, name, n);
    case TYPE_MOVING:
        return moving_function(m, name, a, n, out);
    default:
        return type_kind(type) != SV_NULL ? box(m, type, name, a, n, out) : vm_no_static(m, type, name, n);
    }
}

/* Constants that are numbers. */
static const struct {
    enum type_id type;
    const char *name;
    enum sv_kind kind;
    int64_t i;
    double d;
} constants[] = {{TYPE_MATH, "PI", SV_DOUBLE, 0, 3.141592653589793},
                 {TYPE_MATH, "E", SV_DOUBLE, 0, 2.718281828459045},
                 {TYPE_BOX_BYTE, "MAX_VALUE", SV_BYTE, INT8_MAX, 0},
                 {TYPE_BOX_BYTE, "MIN_VALUE", SV_BYTE, INT8_MIN, 0},
                 {TYPE_BOX_SHORT, "MAX_VALUE", SV_SHORT, INT16_MAX, 0},
                 {TYPE_BOX_SHORT, "MIN_VALUE", SV_SHORT, INT16_MIN, 0},
                 {TYPE_BOX_INT, "MAX_VALUE", SV_INT, INT32_MAX, 0},
                 {TYPE_BOX_INT, "MIN_VALUE", SV_INT, INT32_MIN, 0},
                 {TYPE_BOX_LONG, "MAX_VALUE", SV_LONG, INT64_MAX, 0},
                 {TYPE_BOX_LONG, "MIN_VALUE", SV_LONG, INT64_MIN, 0},
                 {TYPE_BOX_FLOAT, "MAX_VALUE", SV_FLOAT, 0, 3.4028234663852886e38},
                 {TYPE_BOX_DOUBLE, "MAX_VALUE", SV_DOUBLE, 0, 1.7976931348623157e308},
                 {TYPE_BOX_DOUBLE, "MIN_VALUE", SV_DOUBLE, 0, 4.9e-324},
                 {TYPE_BOX_DOUBLE, "POSITIVE_INFINITY", SV_DOUBLE, 0, (double)INFINITY},
                 {TYPE_BOX_DOUBLE, "NEGATIVE_INFINITY", SV_DOUBLE, 0, -(double)INFINITY},
                 {TYPE_BOX_DOUBLE, "NaN", SV_DOUBLE, 0, (double)NAN},
                 {TYPE_BOX_FLOAT, "MIN_VALUE", SV_FLOAT, 0, 1.401298464324817e-45},
                 {TYPE_BOX_FLOAT, "MIN_NORMAL", SV_FLOAT, 0, 1.1754943508222875e-38},
                 {TYPE_BOX_FLOAT, "POSITIVE_INFINITY", SV_FLOAT, 0, (double)INFINITY},
                 {TYPE_BOX_FLOAT, "NEGATIVE_INFINITY", SV_FLOAT, 0, -(double)INFINITY},
                 {TYPE_BOX_FLOAT, "MAX_EXPONENT", SV_INT, 127, 0},
                 {TYPE_BOX_FLOAT, "MIN_EXPONENT", SV_INT, -126, 0},
                 {TYPE_BOX_DOUBLE, "MIN_NORMAL", SV_DOUBLE, 0, 2.2250738585072014e-308},
                 {TYPE_BOX_DOUBLE, "MAX_EXPONENT", SV_INT, 1023, 0},
                 {TYPE_BOX_DOUBLE, "MIN_EXPONENT", SV_INT, -1022, 0},
                 {TYPE_BOX_CHAR, "MAX_VALUE", SV_CHAR, UINT16_MAX, 0},
                 {TYPE_BOX_CHAR, "MIN_VALUE", SV_CHAR, 0, 0},
                 {TYPE_BOX_BYTE, "BYTES", SV_INT, 1, 0},
                 {TYPE_BOX_BYTE, "SIZE", SV_INT, 8, 0},
                 {TYPE_BOX_SHORT, "BYTES", SV_INT, 2, 0},
                 {TYPE_BOX_SHORT, "SIZE", SV_INT, 16, 0},
                 {TYPE_BOX_INT, "BYTES", SV_INT, 4, 0},
                 {TYPE_BOX_INT, "SIZE", SV_INT, 32, 0},
                 {TYPE_BOX_LONG, "BYTES", SV_INT, 8, 0},
                 {TYPE_BOX_LONG, "SIZE", SV_INT, 64, 0},
                 {TYPE_BOX_FLOAT, "BYTES", SV_INT, 4, 0},
                 {TYPE_BOX_FLOAT, "SIZE", SV_INT, 32, 0},
                 {TYPE_BOX_DOUBLE, "BYTES", SV_INT, 8, 0},
                 {TYPE_BOX_DOUBLE, "SIZE", SV_INT, 64, 0},
                 {TYPE_BOX_FLOAT, "NaN", SV_FLOAT, 0, (double)NAN}};

enum err vm_static_field(struct script_run *m, enum type_id type, struct str name, struct sv *out)
{
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (constants[i].type == type && str_is(name, constants[i].name)) {
            bool whole = constants[i].kind <= SV_LONG;
            *out = whole ? (struct sv){.kind = constants[i].kind, .i = constants[i].i}
                         : (struct sv){.kind = constants[i].kind, .d = constants[i].d};
            return ERR_OK;
        }
    }
    if (type == TYPE_BOX_BOOLEAN && (str_is(name, "TRUE") || str_is(name, "FALSE"))) {
        *out = sv_bool(str_is(name, "TRUE"));
        return ERR_OK;
    }
    if (type == TYPE_CHRONO_UNIT && date_unit_index(name) >= 0) {
        *out = (struct sv){.kind = SV_TYPE, .aux = TYPE_CHRONO_UNIT, .i = date_unit_index(name)};
        return ERR_OK;
    }
    struct instant t;
    if (time_constant(type, name, &t)) {
        return type == TYPE_DURATION ? vm_duration(m, t, out) : vm_local(m, LOCAL_TIME, t, out);
    }
    if (type == TYPE_FORMATTER && iso_constant(name) > 0) {
        return iso_format(m, iso_constant(name), out);
    }
    if (type == TYPE_CHRONO_FIELD && date_field_index(name) >= 0) {
        *out = (struct sv){.kind = SV_TYPE, .aux = TYPE_CHRONO_FIELD, .i = date_field_index(name)};
        return ERR_OK;
    }
    if (type == TYPE_COLLECTIONS && str_is(name, "EMPTY_LIST")) {
        return collections(m, STR("emptyList"), NULL, 0, out);
    }
    if (type == TYPE_COLLECTIONS && (str_is(name, "EMPTY_MAP") || str_is(name, "EMPTY_SET"))) {
        return collections(m, str_is(name, "EMPTY_MAP") ? STR("emptyMap") : STR("emptySet"), NULL, 0, out);
    }
    if (type == TYPE_INSTANT && str_is(name, "EPOCH")) {
        return vm_date(m, SV_INSTANT, (struct instant){0, 0}, &zone_utc, out);
    }
    if (type == TYPE_ZONE && str_is(name, "UTC")) {
        *out = (struct sv){.kind = SV_ZONE, .zone = &zone_utc};
        return ERR_OK;
    }
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "field [%s, %.*s] not found",
                   type_java((struct type){.id = type}).s, STR_ARG(name));
}

/* ---- constructors ---- */

static enum err new_list(struct script_run *m, struct sv *a, uint32_t n, struct sv *out)
{
    enum err e = vm_list(m, LIST_LIST, out);
    if (e == ERR_OK && n == 1 && !sv_is_whole(a[0])) { /* a number would be a capacity */
        struct sv ignored;
        e = vm_method(m, *out, STR("addAll"), a, 1, &ignored);
    }
    return e;
}

static enum err new_exception(struct script_run *m, struct sv *a, uint32_t n, struct sv *out)
{
    *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    bool ok =
        out->map != NULL && sv_map_put(&m->mem, out->map, sv_str(STR("message")), n > 0 ? a[0] : sv_null());
    return ok ? ERR_OK : vm_no_memory(m);
}

enum err vm_new(struct script_run *m, enum type_id type, struct sv *a, uint32_t n, struct sv *out)
{
    double lat = 0, lon = 0;
    struct sv ignored;
    enum err e;
    switch (type) {
    case TYPE_LIST:
        return new_list(m, a, n, out);
    case TYPE_EXCEPTION:
        return new_exception(m, a, n, out);
    case TYPE_BUILDER:
        *out = (struct sv){.kind = SV_BUILDER, .builder = ARENA_NEW(&m->mem, struct sv_builder)};
        return out->builder == NULL           ? vm_no_memory(m)
               : n == 1 && !sv_is_whole(a[0]) ? vm_method(m, *out, STR("append"), a, 1, &ignored)
                                              : ERR_OK;
    case TYPE_STRING:
        *out = sv_str(STR(""));
        return n == 0 ? ERR_OK : string(m, STR("valueOf"), a, n, out);
    case TYPE_GEO: {
        struct geo_point *p = ARENA_NEW(&m->mem, struct geo_point);
        e = n == 2 ? vm_arg_num(m, a[0], &lat)
                   : err_set(m->em, ERR_ILLEGAL_ARGUMENT, "constructor not found");
        e = e == ERR_OK ? vm_arg_num(m, a[1], &lon) : e;
        if (p == NULL) {
            return vm_no_memory(m);
        }
        *p = (struct geo_point){lat, lon};
        *out = (struct sv){.kind = SV_GEO, .geo = p};
        return e;
    }
    default:
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "constructor [%s, <init>/%u] not found",
                       type_java((struct type){.id = type}).s, n);
    }
}
