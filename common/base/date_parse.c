/* Matching text against a format's elements, as java.time.format's printer-parsers match it. */
#include "common/base/date_int.h"
#include "common/base/utf8.h"

#define NO_MATCH SIZE_MAX

struct matcher {
    const struct el_run *run;
    struct str text;
    struct date_parts parts;
    bool caseless;
    size_t fault;     /* where the last element that did not match begins */
    size_t past_sign; /* 1: behind a sign, as of a number with too few digits */
};

static bool set_part(struct matcher *m, enum date_field f, int64_t v)
{
    if (parts_has(&m->parts, f) && m->parts.v[f] != v) {
        return false;
    }
    parts_set(&m->parts, f, v);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* NumberPrinterParser.parse in strict mode. */
static size_t match_number(struct matcher *m, const struct el *el, size_t at)
{
    struct str s = m->text;
    if (at >= s.n) {
        return NO_MATCH;
    }
    bool negative = false, positive = false;
    const size_t from = at;
    if (s.p[at] == '+' || s.p[at] == '-') {
        negative = s.p[at] == '-';
        positive = !negative;
        if (el->sign == SIGN_NOT_NEGATIVE || el->sign == SIGN_NEVER
            || (el->sign == SIGN_NORMAL && positive)) {
            return NO_MATCH;
        }
        at++;
    }
    size_t width_max = (size_t)el->max + (size_t)(el->subsequent > 0 ? el->subsequent : 0), end = at;
    while (end < s.n && end - at < width_max && is_digit(s.p[end])) {
        end++;
    }
    size_t width = end - at;
    if (width < el->min) {
        m->past_sign = at > from ? 1 : 0;
        return NO_MATCH;
    }
    if (el->subsequent > 0) { /* leave the digits that later numbers need */
        size_t keep = width > (size_t)el->subsequent ? width - (size_t)el->subsequent : 0;
        width = MAX_OF(keep, (size_t)el->min);
    }
    int64_t v = 0;
    for (size_t i = 0; i < width; i++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s.p[at + i] - '0', &v)) {
            return NO_MATCH;
        }
    }
    if (negative && v == 0) {
        return NO_MATCH;
    }
    if (!negative && el->sign == SIGN_EXCEEDS_PAD && positive != (width > el->min)) {
        return NO_MATCH;
    }
    v = negative ? -v : v;
    if (el->reduced && width == 2 && !negative) {
        v += 2000;
    }
    return set_part(m, el->field, v) ? at + width : NO_MATCH;
}

static size_t match_fraction(struct matcher *m, const struct el *el, size_t at)
{
    struct str s = m->text;
    if (at >= s.n || (el->point && s.p[at] != '.')) {
        return el->min > 0 ? NO_MATCH : at;
    }
    at += el->point ? 1 : 0;
    size_t end = at;
    int64_t v = 0;
    while (end < s.n && end - at < el->max && is_digit(s.p[end])) {
        v = v * 10 + s.p[end++] - '0';
    }
    if (end - at < el->min) {
        return NO_MATCH;
    }
    size_t places = el->field == FLD_EPOCH_MS_NANOS ? 6 : 9;
    for (size_t i = end - at; i < places; i++) {
        v *= 10;
    }
    return set_part(m, el->field, v) ? end : NO_MATCH;
}

static bool text_here(const struct matcher *m, size_t at, struct str want)
{
    struct str here = str_slice(m->text, at, at + want.n);
    return m->caseless ? str_eq_nocase(here, want) : str_eq(here, want);
}

/* The longest name wins. */
static size_t match_text(struct matcher *m, const struct el *el, size_t at)
{
    struct str best = STR_NULL;
    int64_t value = 0;
    for (int64_t v = 0; v <= 12; v++) {
        struct str name = str_of(date_text(el->field, el->style, v));
        if (name.n > best.n && text_here(m, at, name)) {
            best = name;
            value = v;
        }
    }
    return best.n > 0 && set_part(m, el->field, value) ? at + best.n : NO_MATCH;
}

static int two(struct str s, size_t at)
{
    return at + 2 <= s.n && is_digit(s.p[at]) && is_digit(s.p[at + 1])
               ? (s.p[at] - '0') * 10 + s.p[at + 1] - '0'
               : -1;
}

static bool set_offset(struct matcher *m, int seconds)
{
    if (m->parts.has_offset && m->parts.offset_ms != seconds * 1000) {
        return false;
    }
    m->parts.has_offset = true;
    m->parts.offset_ms = seconds * 1000;
    return true;
}

/* OffsetIdPrinterParser.parse: hours always, then minutes and seconds as the form asks (capital) or allows.
 */
static size_t match_offset(struct matcher *m, const char *form, struct str zero, size_t at)
{
    struct str s = m->text;
    if (zero.n > 0 && text_here(m, at, zero)) {
        return set_offset(m, 0) ? at + zero.n : NO_MATCH;
    }
    if (at >= s.n || (s.p[at] != '+' && s.p[at] != '-')) {
        return NO_MATCH;
    }
    int sign = s.p[at] == '-' ? -1 : 1, part[3] = {two(s, at + 1), 0, 0};
    size_t end = at + 3, f = 3;
    if (part[0] < 0 || part[0] > 18) {
        return NO_MATCH;
    }
    for (int i = 1; i < 3 && form[f] != '\0'; i++) {
        bool colon = form[f] == ':';
        f += colon ? 1 : 0;
        bool required = form[f] == 'M' || form[f] == 'S';
        f += 2;
        size_t from = end + (colon && end < s.n && s.p[end] == ':' ? 1 : 0);
        int v = colon && from == end ? -1 : two(s, from);
        if (v < 0 || v > 59) {
            if (required) {
                return NO_MATCH;
            }
            break;
        }
        part[i] = v;
        end = from + 2;
    }
    int seconds = part[0] * 3600 + part[1] * 60 + part[2];
    return seconds <= 18 * 3600 && set_offset(m, sign * seconds) ? end : NO_MATCH;
}

static bool zone_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '/' || c == '_' || c == '-'
           || c == '+' || c == '~' || c == '.';
}

/* "UTC", "UT" or "GMT", bare or with an offset behind. */
static size_t match_prefixed(struct matcher *m, size_t prefix_n, size_t at)
{
    size_t from = at, end = at + prefix_n;
    if (end < m->text.n && m->text.p[end] != 'Z') {
        struct date_parts saved = m->parts;
        size_t with = match_offset(m, "+HH:MM:ss", STR_NULL, end);
        m->parts = saved; /* the region says it all */
        end = with != NO_MATCH ? with : end;
    }
    m->parts.region = str_slice(m->text, from, end);
    return end;
}

/* ZoneIdPrinterParser: an offset, or the longest known region. */
static size_t match_zone(struct matcher *m, size_t at)
{
    struct str s = m->text;
    if (at >= s.n) {
        return NO_MATCH;
    }
    if (s.p[at] == '+' || s.p[at] == '-') {
        return match_offset(m, "+HH:MM:ss", STR("Z"), at);
    }
    if (text_here(m, at, STR("UT"))) {
        return match_prefixed(m, text_here(m, at, STR("UTC")) ? 3 : 2, at);
    }
    if (text_here(m, at, STR("GMT")) && !text_here(m, at, STR("GMT0"))) {
        return match_prefixed(m, 3, at);
    }
    size_t end = at;
    while (end < s.n && zone_char(s.p[end]) && end - at < 64) {
        end++;
    }
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    size_t found = NO_MATCH;
    for (; end > at && found == NO_MATCH; end--) {
        const struct zone *z;
        struct str id = str_slice(s, at, end);
        if (zone_of(&z, id, &scratch, NULL) == ERR_OK) {
            if (str_is(id, "Z")) {
                found = set_offset(m, 0) ? end : NO_MATCH;
            } else {
                m->parts.region = id;
                found = end;
            }
        }
    }
    arena_fini(&scratch);
    return found;
}

/* "GMT", "GMT+8", "GMT+08:00". */
static size_t match_local_offset(struct matcher *m, const struct el *el, size_t at)
{
    struct str s = m->text;
    if (!text_here(m, at, STR("GMT"))) {
        return NO_MATCH;
    }
    at += 3;
    if (at >= s.n || (s.p[at] != '+' && s.p[at] != '-')) {
        return set_offset(m, 0) ? at : NO_MATCH;
    }
    if (el->style == TEXT_FULL) {
        return match_offset(m, "+HH:MM:ss", STR_NULL, at);
    }
    int sign = s.p[at++] == '-' ? -1 : 1, hours = two(s, at), minutes = 0;
    if (hours >= 0) {
        at += 2;
    } else if (at < s.n && is_digit(s.p[at])) {
        hours = s.p[at++] - '0';
    } else {
        return NO_MATCH;
    }
    if (at < s.n && s.p[at] == ':' && two(s, at + 1) >= 0) {
        minutes = two(s, at + 1);
        at += 3;
    }
    return set_offset(m, sign * (hours * 3600 + minutes * 60)) ? at : NO_MATCH;
}

static size_t match_run(struct matcher *m, uint32_t from, uint32_t to, size_t at);

static size_t match_padded(struct matcher *m, uint32_t i, size_t at)
{
    size_t end = at + m->run->el[i].max, start = at;
    if (end > m->text.n) {
        return NO_MATCH;
    }
    while (start < end && m->text.p[start] == ' ') {
        start++;
    }
    struct str whole = m->text;
    m->text.n = end;
    size_t got = match_run(m, i + 1, i + 2, start);
    m->text = whole;
    return got == end ? end : NO_MATCH;
}

static size_t match_one(struct matcher *m, const struct el *el, size_t at)
{
    switch (el->kind) {
    case EL_NUMBER:
        return match_number(m, el, at);
    case EL_FRACTION:
        return match_fraction(m, el, at);
    case EL_TEXT:
        return match_text(m, el, at);
    case EL_LITERAL:
        return text_here(m, at, el->text) ? at + el->text.n : NO_MATCH;
    case EL_OFFSET:
        return match_offset(m, el->offset, el->text, at);
    case EL_LOCAL_OFFSET:
        return match_local_offset(m, el, at);
    case EL_ZONE:
    case EL_ZONE_NAME:
        return match_zone(m, at);
    case EL_CASELESS:
        m->caseless = true;
        return at;
    case EL_OPTION:
    case EL_PAD:
        return NO_MATCH; /* they hold elements, and are matched where these are */
    }
    return NO_MATCH;
}

/* Elements [from, to); recursion is as deep as optional sections nest. */
static size_t match_run(struct matcher *m, uint32_t from, uint32_t to, size_t at)
{
    for (uint32_t i = from; i < to; i++) {
        const struct el *el = &m->run->el[i];
        if (el->kind == EL_OPTION) {
            struct date_parts saved = m->parts;
            size_t end = match_run(m, i + 1, el->end, at);
            if (end == NO_MATCH) {
                m->parts = saved;
            } else {
                at = end;
            }
            i = el->end - 1;
            continue;
        }
        size_t begin = at;
        m->past_sign = 0;
        if (el->kind == EL_PAD) {
            at = match_padded(m, i, at);
            i++;
        } else {
            at = match_one(m, el, at);
        }
        if (at == NO_MATCH) {
            m->fault = begin + m->past_sign;
            return NO_MATCH;
        }
    }
    return at;
}

/* Matches the whole text; false: it does not. */
static bool el_run_parse(const struct el_run *run, struct str text, struct date_parts *out)
{
    struct matcher m = {.run = run, .text = text};
    if (match_run(&m, 0, run->n, 0) != text.n) {
        return false;
    }
    *out = m.parts;
    return true;
}

/* Java's words for a text that does not match, or that goes on behind what matched. */
static void put_mismatch(const struct el_run *run, struct str text, struct errmsg *em)
{
    struct matcher m = {.run = run, .text = text};
    size_t end = match_run(&m, 0, run->n, 0);
    bool matched = end != NO_MATCH;
    err_set(em, ERR_DATE_TIME_PARSE, "Text '%.*s' could not be parsed%s at index %zu", STR_ARG(text),
            matched ? ", unparsed text found" : "",
            utf16_length(str_slice(text, 0, matched ? end : MIN_OF(m.fault, text.n))));
}

static enum err date_failed(const struct date_format *f, struct str text, bool range, struct errmsg *em)
{
    if (f->n > 1) {
        err_set(em, ERR_DATE_TIME_PARSE, "Failed to parse with all enclosed parsers");
    } else if (range) {
        err_set(em, ERR_DATE_TIME, "Invalid value in '%.*s'", STR_ARG(text));
        (void)err_wrap(em, ERR_DATE_TIME_PARSE, "Text '%.*s' could not be parsed: Invalid value",
                       STR_ARG(text));
    } else {
        put_mismatch(&f->parsers[0], text, em);
    }
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to parse date field [%.*s] with format [%.*s]",
                    STR_ARG(text), STR_ARG(f->pattern));
}

enum err date_parse(const struct date_format *f, struct str text, const struct zone *zone,
                    enum date_fill fill, struct instant *out, struct errmsg *em)
{
    bool range = false;
    if (text.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot parse empty date");
    }
    for (uint32_t i = 0; i < f->n; i++) {
        struct date_parts parts;
        if (!el_run_parse(&f->parsers[i], text, &parts)) {
            continue;
        }
        switch (date_resolve(&f->parsers[i], &parts, zone, fill, out)) {
        case RESOLVED:
            return ERR_OK;
        case RESOLVED_BAD_DATE:
            return date_no_such(&parts, text, em);
        case RESOLVED_BAD_PARSE:
            range = true;
        }
    }
    return date_failed(f, text, range, em);
}
