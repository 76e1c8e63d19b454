/* Processors that read dates: date, date_index_name. */
#include "engine/ingest/processor_list.h"

#include "common/base/date.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

#define OUTPUT_FORMAT "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"

enum date_way { BY_PATTERN, BY_SECONDS, BY_MS, BY_TAI };

struct one_format {
    enum date_way way;
    bool without_year;
    struct str pattern;
    const struct date_format *f; /* NULL: what is wrong with it is told when it is used */
};

struct date_own {
    struct str field, target, rounding_text;
    struct snippet timezone, locale, rounding, prefix, name_format;
    struct one_format *formats;
    uint32_t n;
    const struct zone *zone; /* date_index_name's; NULL: timezone is a snippet */
    const struct date_format *output;
};

/* Does a pattern say nothing of years? Then they are this one. */
static bool lacks_year(struct str p)
{
    bool quoted = false, letters = false;
    for (size_t i = 0; i < p.n; i++) {
        quoted ^= p.p[i] == '\'';
        if (!quoted && strchr("yuY", p.p[i]) != NULL) {
            return false;
        }
        letters = letters || (!quoted && strchr("MdHhms", p.p[i]) != NULL);
    }
    return letters && str_find(p, '_', 0) == SIZE_MAX && !str_starts(p, STR("epoch"))
           && !str_starts(p, STR("iso")) && !str_is(p, "date") && !str_is(p, "time");
}

static void read_format(struct config *c, struct str text, struct one_format *out)
{
    *out = (struct one_format){.pattern = text};
    if (str_is(text, "UNIX")) {
        out->way = BY_SECONDS;
    } else if (str_is(text, "UNIX_MS")) {
        out->way = BY_MS;
    } else if (str_is(text, "TAI64N")) {
        out->way = BY_TAI;
    } else {
        if (str_is(text, "ISO8601")) {
            out->pattern = STR("iso8601");
        } else if (text.n > 0 && text.p[0] == '8') {
            out->pattern = str_slice(text, 1, text.n);
        }
        ERR_LOCAL(unsaid);
        if (date_format_new(&out->f, out->pattern, c->arena, &unsaid) != ERR_OK) {
            out->f = NULL;
        }
        out->without_year = lacks_year(out->pattern);
    }
}

static enum err read_formats(struct config *c, const char *name, bool required, struct date_own *o)
{
    static struct str usual[] = {{"yyyy-MM-dd'T'HH:mm:ss.SSSXX", 27}};
    struct str *texts;
    uint32_t n;
    enum err e = config_strs(c, name, required, &texts, &n);
    if (e == ERR_OK && texts == NULL) {
        texts = usual;
        n = 1;
    }
    o->formats = e == ERR_OK ? ARENA_ARRAY(c->arena, struct one_format, n) : NULL;
    for (uint32_t i = 0; o->formats != NULL && i < n; i++) {
        read_format(c, texts[i], &o->formats[i]);
        o->n = i + 1;
    }
    return e == ERR_OK && o->formats == NULL ? err_no_memory(c->em) : e;
}

static enum err snippet_maybe(struct config *c, const char *name, const char *otherwise, struct snippet *out)
{
    struct str text;
    enum err e = config_str_or(c, name, otherwise, &text);
    return e == ERR_OK ? snippet_read(c, name, text, STR_NULL, out) : e;
}

static enum err read_date(struct config *c, void *own)
{
    struct date_own *o = own;
    struct str output;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str_or(c, "target_field", "@timestamp", &o->target) : e;
    e = e == ERR_OK ? snippet_maybe(c, "timezone", "UTC", &o->timezone) : e;
    e = e == ERR_OK ? snippet_maybe(c, "locale", "en", &o->locale) : e;
    e = e == ERR_OK ? read_formats(c, "formats", true, o) : e;
    e = e == ERR_OK ? config_str_or(c, "output_format", OUTPUT_FORMAT, &output) : e;
    if (e == ERR_OK && date_format_new(&o->output, output, c->arena, c->em) != ERR_OK) {
        e = err_wrap(c->em, ERR_ILLEGAL_ARGUMENT, "invalid output format [%.*s]", STR_ARG(output));
    }
    return e;
}

/* ---- reading a date ------------------------------------------------------------------------------------ */

static enum err parse_tai(struct str s, struct instant *out, struct errmsg *em)
{
    uint64_t v[2] = {0, 0};
    struct str parts[2] = {str_slice(s, 1, 16), str_slice(s, 16, 24)};
    if (str_starts(s, STR("@"))) {
        s = str_slice(s, 1, s.n);
        parts[0] = str_slice(s, 1, 16);
        parts[1] = str_slice(s, 16, 24);
    }
    if (s.n < 16) {
        return err_set(em, ERR_STRING_BOUNDS, "begin 1, end 16, length %zu", s.n);
    }
    if (s.n < 24) {
        return err_set(em, ERR_STRING_BOUNDS, "begin 16, end 24, length %zu", s.n);
    }
    for (unsigned k = 0; k < 2; k++) {
        for (size_t i = 0; i < parts[k].n; i++) {
            char c = parts[k].p[i];
            int x = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
            if (x < 0) {
                return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\" under radix 16",
                               STR_ARG(parts[k]));
            }
            v[k] = v[k] * 16 + (uint64_t)x;
        }
    }
    *out = instant_of_ms((int64_t)v[0] * 1000 - 10000 + (int64_t)(v[1] / 1000000));
    return ERR_OK;
}

/* The same moment of this year. */
static struct instant in_year(struct instant t, int64_t year, const struct zone *zone)
{
    int64_t was, local = zone_to_local(zone, instant_to_ms(t)), days = floor_div(local, 86400000);
    int month, day;
    civil_of_days(days, &was, &month, &day);
    int most = civil_month_days(year, month);
    int64_t ms = civil_to_days(year, month, MIN_OF(day, most)) * 86400000 + (local - days * 86400000);
    return instant_of_ms(zone_to_utc(zone, ms));
}

static enum err parse_pattern(const struct one_format *x, struct str s, const struct zone *zone, int64_t year,
                              struct ingest_doc *d, struct instant *out, struct errmsg *em)
{
    const struct date_format *f = x->f;
    enum err e = f == NULL ? date_format_new(&f, x->pattern, d->arena, em) : ERR_OK;
    e = e == ERR_OK ? date_parse(f, s, zone, DATE_FILL_MIN, out, em) : e;
    if (e == ERR_OK && x->without_year) {
        *out = in_year(*out, year, zone);
    }
    return e;
}

static enum err parse_one(const struct one_format *x, struct str s, bool null, const struct zone *zone,
                          int64_t year, struct ingest_doc *d, struct instant *out, struct errmsg *em)
{
    int64_t ms;
    double seconds;
    switch (x->way) {
    case BY_PATTERN:
        return null ? err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot parse empty date")
                    : parse_pattern(x, s, zone, year, d, out, em);
    case BY_SECONDS:
        if (null) {
            return err_set(em, ERR_NULL_POINTER, "Cannot invoke \"String.trim()\" because \"in\" is null");
        }
        if (!num_parse_double(s, &seconds)) {
            return jr_bad_double(s, em);
        }
        seconds = MAX_OF(MIN_OF(isnan(seconds) ? 0 : seconds * 1000.0, 9.2e18), -9.2e18);
        *out = instant_of_ms((int64_t)seconds);
        return ERR_OK;
    case BY_MS:
        if (null || !num_parse_i64(s, &ms)) {
            return null ? err_set(em, ERR_NUMBER_FORMAT, "Cannot parse null string")
                        : err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
        }
        *out = instant_of_ms(ms);
        return ERR_OK;
    case BY_TAI:
        break;
    }
    return null ? err_set(em, ERR_NULL_POINTER,
                          "Cannot invoke \"String.startsWith(String)\" because \"date\" is null")
                : parse_tai(s, out, em);
}

/* The year in which the document came. */
static int64_t this_year(const struct ingest_doc *d)
{
    struct str t = json_text(json_get(&d->ingest, "timestamp"));
    int64_t year;
    return num_parse_i64(str_slice(t, 0, 4), &year) ? year : 1970;
}

/* Names of months and days are English; ERR_ILLEGAL_ARGUMENT where another language decides how a date reads. */
static enum err check_locale(const struct date_own *o, struct str locale, struct errmsg *em)
{
    for (uint32_t i = 0; !str_starts(locale, STR("en")) && locale.n > 0 && i < o->n; i++) {
        if (o->formats[i].f != NULL && date_format_is_local(o->formats[i].f)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "the locale [%.*s] is not supported with the format [%.*s]", STR_ARG(locale),
                           STR_ARG(o->formats[i].pattern));
        }
    }
    return ERR_OK;
}

/* By the first format that reads it; else what the first one says, with those of the others beside it. */
static enum err parse_any(const struct date_own *o, const struct json *v, const struct zone *zone,
                          struct ingest_doc *d, struct instant *out, struct errmsg *em)
{
    bool null = v->type == JSON_NULL;
    struct str s = ingest_text(v, d->arena);
    struct errmsg all = err_in(em->arena);
    for (uint32_t i = 0; i < o->n; i++) {
        struct errmsg one = err_in(em->arena);
        enum err e = parse_one(&o->formats[i], s, null, zone, this_year(d), d, out, &one);
        if (e == ERR_OK || e == ERR_NO_MEMORY) {
            err_copy(em, &one);
            return e;
        }
        if (!err_is(&all)) {
            all = one;
        }
    }
    *em = all;
    return err_is(em) ? err_wrap(em, ERR_ILLEGAL_ARGUMENT, "unable to parse date [%.*s]", STR_ARG(s))
                      : err_set(em, ERR_ILLEGAL_ARGUMENT, "unable to parse date [%.*s]", STR_ARG(s));
}

static enum err run_date(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct date_own *o = own;
    struct json *v;
    struct str id, locale;
    struct instant t;
    const struct zone *zone;
    struct buf b;
    enum err e = ingest_get(d, o->field, &v, em);
    e = e == ERR_OK ? snippet_text(&o->timezone, d, &id, em) : e;
    e = e == ERR_OK ? snippet_text(&o->locale, d, &locale, em) : e;
    e = e == ERR_OK ? check_locale(o, locale, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    e = zone_of(&zone, id, d->arena, em);
    if (e != ERR_OK) {
        struct str s = ingest_text(v, d->arena);
        return e == ERR_NO_MEMORY
                   ? e
                   : err_wrap(em, ERR_ILLEGAL_ARGUMENT, "unable to parse date [%.*s]", STR_ARG(s));
    }
    e = parse_any(o, v, str_is(id, "UTC") ? &zone_utc : zone, d, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, 64 * KIB);
    bool printed = date_print(o->output, t, str_is(id, "UTC") ? &zone_utc : zone, &b);
    const struct json out = json_mk_str(arena_str(d->arena, buf_view(&b)));
    buf_fini(&b);
    return !printed          ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the date cannot be printed")
           : out.s.p == NULL ? err_no_memory(em)
                             : ingest_put(d, o->target, &out, em);
}

const struct processor_row processor_date = {"date", sizeof(struct date_own), read_date, run_date};

/* ---- date_index_name ----------------------------------------------------------------------------------- */

static enum err read_date_index(struct config *c, void *own)
{
    struct date_own *o = own;
    struct str zone = STR_NULL, locale = STR_NULL, field = STR_NULL;
    enum err e = config_str_maybe(c, "locale", &locale);
    e = e == ERR_OK ? config_str_or(c, "timezone", "UTC", &zone) : e;
    e = e == ERR_OK ? zone_of(&o->zone, zone, c->arena, c->em) : e;
    e = e == ERR_OK ? read_formats(c, "date_formats", false, o) : e;
    for (uint32_t i = 0; e == ERR_OK && i < o->n; i++) {
        if (o->formats[i].way == BY_PATTERN && o->formats[i].f == NULL) {
            e = date_format_new(&o->formats[i].f, o->formats[i].pattern, c->arena, c->em);
        }
    }
    if (e == ERR_OK && check_locale(o, locale, c->em) != ERR_OK) {
        struct str why = arena_str(c->arena, str_of(err_reason(c->em)));
        return config_fail(c, "locale", "%.*s", STR_ARG(why));
    }
    e = e == ERR_OK ? config_str(c, "field", &field) : e;
    o->field = field;
    e = e == ERR_OK ? snippet_maybe(c, "index_name_prefix", "", &o->prefix) : e;
    e = e == ERR_OK ? config_snippet(c, "date_rounding", &o->rounding) : e;
    return e == ERR_OK ? snippet_maybe(c, "index_name_format", "yyyy-MM-dd", &o->name_format) : e;
}

static enum err run_date_index(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct date_own *o = own;
    struct json *v;
    struct str prefix, rounding, format;
    struct instant t;
    const struct date_format *f;
    struct buf b;
    enum err e = ingest_get(d, o->field, &v, em);
    e = e == ERR_OK ? parse_any(o, v, o->zone, d, &t, em) : e;
    e = e == ERR_OK ? snippet_text(&o->prefix, d, &prefix, em) : e;
    e = e == ERR_OK ? snippet_text(&o->name_format, d, &format, em) : e;
    e = e == ERR_OK ? snippet_text(&o->rounding, d, &rounding, em) : e;
    if (e == ERR_OK && format.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No date pattern provided");
    }
    e = e == ERR_OK ? date_format_new(&f, format, d->arena, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, NULL, 64 * KIB);
    buf_printf(&b, "<%.*s{", STR_ARG(prefix));
    bool printed = date_print(f, t, o->zone, &b);
    buf_printf(&b, "||/%.*s{%.*s|%.*s}}>", STR_ARG(rounding), STR_ARG(format), STR_ARG(o->zone->id));
    const struct json out = json_mk_str(arena_str(d->arena, buf_view(&b)));
    buf_fini(&b);
    return !printed          ? err_set(em, ERR_ILLEGAL_ARGUMENT, "the date cannot be printed")
           : out.s.p == NULL ? err_no_memory(em)
                             : ingest_put(d, STR("_index"), &out, em);
}

const struct processor_row processor_date_index_name = {"date_index_name", sizeof(struct date_own),
                                                        read_date_index, run_date_index};
