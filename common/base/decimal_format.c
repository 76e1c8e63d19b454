#include "common/base/decimal_format.h"

#include "common/base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS_MAX 340 /* java.text.DecimalFormat's own limit for fractions */

struct decimal_format {
    struct str prefix, suffix, neg_prefix, neg_suffix;
    int int_min, int_max, frac_min, frac_max;
    int grouping; /* 0: none */
    bool point_always, exponent;
    int exponent_min;
    int multiplier;
};

/* ---- patterns ---- */

struct reader {
    struct str text;
    size_t at;
    struct arena *a;
    struct errmsg *em;
    struct decimal_format *f;
};

static enum err malformed(struct reader *r, const char *why)
{
    return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "%s \"%.*s\"", why, STR_ARG(r->text));
}

static bool is_number_char(char c)
{
    return c == '0' || c == '#' || c == ',' || c == '.';
}

/* A percent or per mille sign: each form holds one. */
static enum err scale(struct reader *r, char c, int *multiplier)
{
    struct str rest = str_slice(r->text, r->at, r->text.n);
    bool mille = str_starts(rest, STR("\xE2\x80\xB0"));
    if (c != '%' && !mille) {
        return ERR_OK;
    }
    if (*multiplier != 1) {
        return malformed(r, "Too many percent/per mille characters in pattern");
    }
    *multiplier = mille ? 1000 : 100;
    return ERR_OK;
}

struct text {
    char *p; /* room for the whole pattern */
    size_t n;
};

/* Text before or behind the number, added to `out`: quotes taken off, percent signs noted. */
static enum err affix(struct reader *r, struct text *out, int *multiplier)
{
    bool quote = false;
    enum err e = ERR_OK;
    for (; e == ERR_OK && r->at < r->text.n; r->at++) {
        char c = r->text.p[r->at];
        if (c == '\'') {
            bool twice = r->at + 1 < r->text.n && r->text.p[r->at + 1] == '\'';
            if (!twice) {
                quote = !quote;
                continue;
            }
            r->at++;
        } else if (!quote && (is_number_char(c) || c == ';')) {
            return ERR_OK;
        } else if (!quote) {
            e = scale(r, c, multiplier);
        }
        out->p[out->n++] = c;
    }
    return e != ERR_OK ? e : quote ? malformed(r, "Malformed pattern") : ERR_OK;
}

struct shape {
    int left, zero, right; /* # before, 0, # behind */
    int point;             /* digits before the point; -1: none */
    int grouping;          /* digits since the last comma; -1: none */
    bool exponent;
    int exponent_min;
};

static enum err read_exponent(struct reader *r, struct shape *s)
{
    r->at++;
    while (r->at < r->text.n && r->text.p[r->at] == '0') {
        s->exponent_min++;
        r->at++;
    }
    s->exponent = true;
    return s->left + s->zero < 1 || s->exponent_min < 1 ? malformed(r, "Malformed exponential pattern")
                                                        : ERR_OK;
}

static enum err read_digits(struct reader *r, struct shape *s)
{
    for (; r->at < r->text.n; r->at++) {
        char c = r->text.p[r->at];
        if (c == '#' || c == '0') {
            if (c == '0' && s->right > 0) {
                return malformed(r, "Unexpected '0' in pattern");
            }
            *(c == '0' ? &s->zero : s->zero > 0 ? &s->right : &s->left) += 1;
            s->grouping += s->grouping >= 0 && s->point < 0 ? 1 : 0;
        } else if (c == ',') {
            s->grouping = 0;
        } else if (c == '.') {
            if (s->point >= 0) {
                return malformed(r, "Multiple decimal separators in pattern");
            }
            s->point = s->left + s->zero + s->right;
        } else if (c == 'E') {
            return read_exponent(r, s);
        } else {
            break;
        }
    }
    return ERR_OK;
}

/* The number of a negative form says nothing: only what stands around it counts. */
static void skip_digits(struct reader *r)
{
    while (r->at < r->text.n && (is_number_char(r->text.p[r->at]) || r->text.p[r->at] == 'E')) {
        r->at++;
    }
}

/* One form, up to the ';' that may end the first: text, the number, text. What follows a text behind the number
 * and belongs to a number goes on with it, as in Java. `s`: NULL for the negative form. */
static enum err read_form(struct reader *r, struct str *prefix, struct str *suffix, struct shape *s,
                          int *multiplier)
{
    struct text texts[2] = {{arena_alloc(r->a, r->text.n + 1), 0}, {arena_alloc(r->a, r->text.n + 1), 0}};
    int at = 0;
    enum err e;
    if (texts[0].p == NULL || texts[1].p == NULL) {
        return err_no_memory(r->em);
    }
    while ((e = affix(r, &texts[at], multiplier)) == ERR_OK && r->at < r->text.n) {
        if (r->text.p[r->at] == ';') {
            e = at == 0 || s == NULL ? malformed(r, "Unquoted special character ';' in pattern") : ERR_OK;
            break;
        }
        if (s != NULL) {
            e = read_digits(r, s);
        } else {
            skip_digits(r);
        }
        if (e != ERR_OK) {
            break;
        }
        at = 1;
    }
    *prefix = str_mk(texts[0].p, texts[0].n);
    *suffix = str_mk(texts[1].p, texts[1].n);
    return e;
}

static enum err decimal_settle(struct reader *r, struct shape s)
{
    struct decimal_format *f = r->f;
    if (s.zero == 0 && s.left > 0
        && s.point >= 0) { /* "###.###", ".###": one digit stands before the point */
        int n = s.point == 0 ? 1 : s.point;
        s.right = s.left - n;
        s.left = n - 1;
        s.zero = 1;
    }
    bool hole = s.point < 0 ? s.right > 0 : s.point < s.left || s.point > s.left + s.zero;
    if (hole || s.grouping == 0) {
        return malformed(r, "Malformed pattern");
    }
    int total = s.left + s.zero + s.right, point = s.point >= 0 ? s.point : total;
    f->point_always = s.point == 0 || s.point == total;
    f->exponent = s.exponent;
    f->exponent_min = s.exponent_min;
    f->int_min = point - s.left;
    f->int_max = f->exponent ? s.left + f->int_min : INT32_MAX;
    f->frac_max = MIN_OF(s.point >= 0 ? total - s.point : 0, DIGITS_MAX);
    f->frac_min = MIN_OF(s.point >= 0 ? s.left + s.zero - s.point : 0, DIGITS_MAX);
    f->grouping = s.grouping > 0 ? s.grouping : 0;
    return ERR_OK;
}

enum err decimal_format_new(const struct decimal_format **out, struct str pattern, struct arena *arena,
                            struct errmsg *em)
{
    struct decimal_format *f = ARENA_NEW(arena, struct decimal_format);
    if (f == NULL) {
        return err_no_memory(em);
    }
    struct reader r = {.text = pattern, .a = arena, .em = em, .f = f};
    struct shape shape = {.point = -1, .grouping = -1};
    f->multiplier = 1;
    enum err e = read_form(&r, &f->prefix, &f->suffix, &shape, &f->multiplier);
    e = e == ERR_OK ? decimal_settle(&r, shape) : e;
    if (e == ERR_OK && pattern.n == 0) {
        f->frac_max = DIGITS_MAX;
        f->grouping = 3;
    }
    f->neg_prefix = arena_printf(arena, "-%.*s", STR_ARG(f->prefix));
    f->neg_suffix = f->suffix;
    if (e == ERR_OK && r.at + 1 < pattern.n) {
        int ignored = 1;
        struct str prefix = STR_NULL, suffix = STR_NULL;
        r.at++;
        e = read_form(&r, &prefix, &suffix, NULL, &ignored);
        if (!str_eq(prefix, f->prefix) || !str_eq(suffix, f->suffix)) {
            f->neg_prefix = prefix;
            f->neg_suffix = suffix;
        }
    }
    *out = f;
    return e != ERR_OK ? e : f->neg_prefix.p == NULL ? err_no_memory(em) : ERR_OK;
}

/* ---- printing ---- */

/* 0.d1d2d3... times 10^point, without leading or trailing zeros; zero has no digits. */
struct digits {
    char d[1100];
    int n, point;
};

static void trim(struct digits *g)
{
    int lead = 0;
    while (lead < g->n && g->d[lead] == '0') {
        lead++;
    }
    memmove(g->d, g->d + lead, (size_t)(g->n - lead));
    g->n -= lead;
    g->point -= lead;
    while (g->n > 0 && g->d[g->n - 1] == '0') {
        g->n--;
    }
    if (g->n == 0) {
        g->point = 0;
    }
}

static void decimal_take(struct digits *g, const char *text)
{
    g->n = 0;
    g->point = -1;
    const char *at = text;
    for (; *at != '\0' && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            g->point = g->n;
        } else if (g->n < (int)sizeof(g->d)) {
            g->d[g->n++] = *at;
        }
    }
    g->point = g->point < 0 ? g->n : g->point;
    g->point += *at != '\0' ? atoi(at + 1) : 0;
    trim(g);
}

/* The digits that Java starts from are the shortest that name the double; where they are too many, the exact
 * binary value is rounded half to even, which is what printf does. Java takes a whole number that it prints as a
 * long for one that is not exact, and rounds its halves up. */
static void digits_of(struct digits *g, double v, const struct decimal_format *f)
{
    char text[1400];
    struct buf b;
    buf_init(&b, NULL, 64);
    num_put_double(&b, v);
    decimal_take(g, b.p != NULL ? b.p : "0");
    buf_fini(&b);
    if (f->exponent) {
        int most = f->int_max + f->frac_max;
        if (g->n > most && most > 0) {
            bool half = v < 0x1p62 && v == floor(v) && g->n == most + 1 && g->d[most] == '5';
            snprintf(text, sizeof(text), "%.*e", most - 1, half ? nextafter(v, INFINITY) : v);
            decimal_take(g, text);
        }
    } else if (g->n - g->point > f->frac_max) {
        snprintf(text, sizeof(text), "%.*f", f->frac_max, v);
        decimal_take(g, text);
    }
}

static char digit_at(const struct digits *g, int i)
{
    return i >= 0 && i < g->n ? g->d[i] : '0';
}

static void put_plain(const struct decimal_format *f, const struct digits *g, struct buf *out)
{
    int count = MAX_OF(f->int_min, g->point);
    for (int i = count - 1; i >= 0; i--) {
        buf_char(out, digit_at(g, g->point - 1 - i));
        if (f->grouping > 0 && i > 0 && i % f->grouping == 0) {
            buf_char(out, ',');
        }
    }
    bool fraction = f->frac_min > 0 || g->n > g->point;
    if (!fraction && count <= 0) {
        buf_char(out, '0');
    }
    if (f->point_always || fraction) {
        buf_char(out, '.');
    }
    for (int i = 0; i < f->frac_max; i++) {
        if (i >= f->frac_min && g->point + i >= g->n) {
            break;
        }
        buf_char(out, digit_at(g, g->point + i));
    }
}

static void put_exponent(const struct decimal_format *f, const struct digits *g, struct buf *out)
{
    int exponent = g->point, whole_min = f->int_min, repeat = f->int_max;
    if (repeat > 1 && repeat > f->int_min) { /* engineering notation: the exponent is a multiple */
        exponent = (exponent >= 1 ? (exponent - 1) / repeat : (exponent - repeat) / repeat) * repeat;
        whole_min = 1;
    } else {
        exponent -= whole_min;
    }
    int whole = g->n == 0 ? whole_min : g->point - exponent;
    int total = MAX_OF(MAX_OF(f->int_min + f->frac_min, whole), g->n);
    for (int i = 0; i < total; i++) {
        if (i == whole) {
            buf_char(out, '.');
        }
        buf_char(out, digit_at(g, i));
    }
    if (f->point_always && total == whole) {
        buf_char(out, '.');
    }
    exponent = g->n == 0 ? 0 : exponent;
    buf_printf(out, "E%s%0*d", exponent < 0 ? "-" : "", f->exponent_min, abs(exponent));
}

static void decimal_put(const struct decimal_format *f, const struct digits *g, bool negative,
                        struct buf *out)
{
    buf_str(out, negative ? f->neg_prefix : f->prefix);
    if (f->exponent) {
        put_exponent(f, g, out);
    } else {
        put_plain(f, g, out);
    }
    buf_str(out, negative ? f->neg_suffix : f->suffix);
}

void decimal_format_print(const struct decimal_format *f, double v, struct buf *out)
{
    struct digits g;
    if (isnan(v)) {
        buf_z(out, "NaN");
        return;
    }
    bool negative = signbit(v);
    if (isinf(v)) {
        buf_str(out, negative ? f->neg_prefix : f->prefix);
        buf_z(out, "\xE2\x88\x9E");
        buf_str(out, negative ? f->neg_suffix : f->suffix);
        return;
    }
    digits_of(&g, fabs(v) * f->multiplier, f);
    decimal_put(f, &g, negative, out);
}

void decimal_format_print_i64(const struct decimal_format *f, int64_t v, struct buf *out)
{
    struct digits g;
    char text[32];
    uint64_t abs = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (f->exponent || abs > UINT64_MAX / 1000) {
        decimal_format_print(f, (double)v, out);
        return;
    }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)(abs * (unsigned)f->multiplier));
    decimal_take(&g, text);
    decimal_put(f, &g, v < 0, out);
}

/* ---- reading ---- */

bool decimal_format_parse(const struct decimal_format *f, struct str text, double *out)
{
    bool negative = str_starts(text, f->neg_prefix) && f->neg_prefix.n > f->prefix.n;
    if (!negative && !str_starts(text, f->prefix)) {
        return false;
    }
    char number[400];
    size_t n = 0, at = negative ? f->neg_prefix.n : f->prefix.n;
    bool point = false, any = false;
    for (; at < text.n && n + 8 < sizeof(number); at++) {
        char c = text.p[at];
        if (c >= '0' && c <= '9') {
            any = true;
        } else if (c == '.' && !point) {
            point = true;
        } else if (c == ',' && f->grouping > 0 && !point) {
            continue;
        } else {
            break;
        }
        number[n++] = c;
    }
    if (at < text.n && text.p[at] == 'E' && any) {
        size_t end = at + 1 + (at + 1 < text.n && text.p[at + 1] == '-' ? 1U : 0U);
        size_t from = at, digits = end;
        while (end < text.n && text.p[end] >= '0' && text.p[end] <= '9') {
            end++;
        }
        if (end > digits && end - from < 8) {
            memcpy(number + n, text.p + from, end - from);
            n += end - from;
            at = end;
        }
    }
    struct str suffix = negative ? f->neg_suffix : f->suffix;
    if (!any || !str_starts(str_slice(text, at, text.n), suffix)) {
        return false;
    }
    number[n] = '\0';
    double v = strtod(number, NULL) / f->multiplier;
    *out = negative ? -v : v;
    return true;
}
