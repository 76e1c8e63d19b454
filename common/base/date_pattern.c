/* Compiling formats: java.time patterns (DateTimeFormatterBuilder.appendPattern), the notation of the named
 * formats, and the "||" that joins alternatives. */
#include "common/base/arena_list.h"
#include "common/base/date_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_MAX 512

/* Adjacent numbers without a separator ("yyyyMMdd"): the first of them gives way to the fixed widths of those
 * behind it, as DateTimeFormatterBuilder.appendValue arranges it. */
static bool el_push(struct el_run *run, struct arena *a, struct el el, int *adjacent)
{
    if (!ARENA_ROOM(a, run->el, run->n, run->cap)) {
        return false;
    }
    bool fixed_fraction = el.kind == EL_FRACTION && el.min == el.max && !el.point;
    if (el.kind != EL_NUMBER && !fixed_fraction) {
        *adjacent = -1;
    } else if (*adjacent < 0) {
        *adjacent = (int)run->n;
    } else {
        struct el *base = &run->el[*adjacent];
        if (el.min == el.max && (el.sign == SIGN_NOT_NEGATIVE || fixed_fraction)) {
            base->subsequent = base->subsequent < 0 ? base->subsequent : base->subsequent + el.max;
            el.subsequent = -1;
        } else {
            base->subsequent = -1;
            *adjacent = (int)run->n;
        }
    }
    run->el[run->n++] = el;
    return true;
}

/* ---- patterns ---- */

struct pattern {
    struct el_run *run;
    struct arena *a;
    struct errmsg *em;
    struct str text;
    int adjacent;
    uint32_t open[32]; /* the optional sections that are open */
    unsigned depth;
};

static enum err bad(struct pattern *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

static enum err bad(struct pattern *p, const char *fmt, ...)
{
    char why[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s", why);
    return err_wrap(p->em, ERR_ILLEGAL_ARGUMENT, "Invalid format: [%.*s]: %s", STR_ARG(p->text), why);
}

static enum err pattern_push(struct pattern *p, struct el el)
{
    if (p->run->n >= ELEMENTS_MAX) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Invalid format: the pattern is too long");
    }
    return el_push(p->run, p->a, el, &p->adjacent) ? ERR_OK : err_no_memory(p->em);
}

static enum err pattern_number(struct pattern *p, enum date_field f, unsigned min, unsigned max,
                               enum el_sign sign)
{
    return pattern_push(
        p,
        (struct el){.kind = EL_NUMBER, .field = f, .min = (uint8_t)min, .max = (uint8_t)max, .sign = sign});
}

/* Letters that stand for a plain number of one or two digits. */
static const struct {
    char letter;
    enum date_field field;
} two_digit[] = {{'d', FLD_DAY},
                 {'H', FLD_HOUR},
                 {'k', FLD_CLOCK_HOUR},
                 {'K', FLD_HOUR_AMPM},
                 {'h', FLD_CLOCK_HOUR_AMPM},
                 {'m', FLD_MINUTE},
                 {'s', FLD_SECOND},
                 {'w', FLD_WEEK}};

static enum err text_or_number(struct pattern *p, char c, unsigned n, enum date_field f)
{
    if (n == 1 || (n == 2 && c != 'E' && c != 'c')) {
        if (c == 'e' || c == 'c') { /* day of the week, from Monday */
            return pattern_number(p, f, n, 2, SIGN_NOT_NEGATIVE);
        }
        if (c != 'E' && c != 'G' && c != 'a') {
            return n == 1 ? pattern_number(p, f, 1, 19, SIGN_NORMAL)
                          : pattern_number(p, f, 2, 2, SIGN_NOT_NEGATIVE);
        }
    }
    if (n == 2 && c == 'c') {
        return bad(p, "Invalid pattern \"cc\"");
    }
    if (n > 5 || (n > 1 && c == 'a')) {
        return bad(p, "Too many pattern letters: %c", c);
    }
    enum el_text style = n == 4 ? TEXT_FULL : n == 5 ? TEXT_NARROW : TEXT_SHORT;
    return pattern_push(p, (struct el){.kind = EL_TEXT, .field = f, .style = style});
}

static enum err year(struct pattern *p, enum date_field f, unsigned n)
{
    if (n == 2) {
        return pattern_push(p, (struct el){.kind = EL_NUMBER,
                                           .field = f,
                                           .min = 2,
                                           .max = 2,
                                           .sign = SIGN_NOT_NEGATIVE,
                                           .reduced = true});
    }
    if (n > 19) {
        return bad(p, "Too many pattern letters: %c", f == FLD_YEAR ? 'u' : f == FLD_WEEK_YEAR ? 'Y' : 'y');
    }
    return pattern_number(p, f, n, 19, n < 4 ? SIGN_NORMAL : SIGN_EXCEEDS_PAD);
}

static enum err offset(struct pattern *p, char c, unsigned n)
{
    static const char *const forms[] = {"+HHmm", "+HHMM", "+HH:MM", "+HHMMss", "+HH:MM:ss"};
    if (c == 'O') {
        if (n != 1 && n != 4) {
            return bad(p, "Pattern letter count must be 1 or 4: %c", c);
        }
        return pattern_push(p,
                            (struct el){.kind = EL_LOCAL_OFFSET, .style = n == 4 ? TEXT_FULL : TEXT_SHORT});
    }
    if (n > 5) {
        return bad(p, "Too many pattern letters: %c", c);
    }
    if (c == 'Z') {
        if (n == 4) {
            return pattern_push(p, (struct el){.kind = EL_LOCAL_OFFSET, .style = TEXT_FULL});
        }
        return pattern_push(p, (struct el){.kind = EL_OFFSET,
                                           .offset = n < 4 ? "+HHMM" : "+HH:MM:ss",
                                           .text = n < 4 ? STR("+0000") : STR("Z")});
    }
    struct str zero = c == 'X' ? STR("Z") : n == 1 ? STR("+00") : n % 2 == 0 ? STR("+0000") : STR("+00:00");
    return pattern_push(p, (struct el){.kind = EL_OFFSET, .offset = forms[n - 1], .text = zero});
}

/* Letters of D, F, W, S, A, N and n: numbers that are not read as two digits. */
static enum err counted(struct pattern *p, char c, unsigned n)
{
    switch (c) {
    case 'D':
        return n > 3    ? bad(p, "Too many pattern letters: %c", c)
               : n == 1 ? pattern_number(p, FLD_DAY_OF_YEAR, 1, 19, SIGN_NORMAL)
                        : pattern_number(p, FLD_DAY_OF_YEAR, n, 3, SIGN_NOT_NEGATIVE);
    case 'F':
        return n > 1 ? bad(p, "Too many pattern letters: %c", c)
                     : pattern_number(p, FLD_ALIGNED_DAY, 1, 19, SIGN_NORMAL);
    case 'W':
        return n > 1 ? bad(p, "Too many pattern letters: %c", c)
                     : pattern_number(p, FLD_WEEK_OF_MONTH, 1, 1, SIGN_NOT_NEGATIVE);
    case 'S':
        return n > 9
                   ? bad(p, "Minimum width must be from 0 to 9 inclusive but was %u", n)
                   : pattern_push(
                       p, (struct el){
                              .kind = EL_FRACTION, .field = FLD_NANO, .min = (uint8_t)n, .max = (uint8_t)n});
    default:
        return n > 19 ? bad(p, "Too many pattern letters: %c", c)
                      : pattern_number(p,
                                       c == 'A'   ? FLD_MILLI_OF_DAY
                                       : c == 'N' ? FLD_NANO_OF_DAY
                                                  : FLD_NANO,
                                       n, 19, SIGN_NOT_NEGATIVE);
    }
}

static enum err letters(struct pattern *p, char c, unsigned n)
{
    for (size_t i = 0; i < ARRAY_LEN(two_digit); i++) {
        if (two_digit[i].letter == c) {
            return n > 2      ? bad(p, "Too many pattern letters: %c", c)
                   : n == 2   ? pattern_number(p, two_digit[i].field, 2, 2, SIGN_NOT_NEGATIVE)
                   : c == 'w' ? pattern_number(p, FLD_WEEK, 1, 2, SIGN_NOT_NEGATIVE)
                              : pattern_number(p, two_digit[i].field, 1, 19, SIGN_NORMAL);
        }
    }
    switch (c) {
    case 'u':
        return year(p, FLD_YEAR, n);
    case 'y':
        return year(p, FLD_YEAR_OF_ERA, n);
    case 'Y':
        return year(p, FLD_WEEK_YEAR, n);
    case 'M':
    case 'L':
        return text_or_number(p, c, n, FLD_MONTH);
    case 'Q':
    case 'q':
        return text_or_number(p, c, n, FLD_QUARTER);
    case 'E':
    case 'e':
    case 'c':
        return text_or_number(p, c, n, FLD_WEEKDAY);
    case 'a':
        return text_or_number(p, c, n, FLD_AMPM);
    case 'G':
        return text_or_number(p, c, n, FLD_ERA);
    case 'D':
    case 'F':
    case 'W':
    case 'S':
    case 'A':
    case 'N':
    case 'n':
        return counted(p, c, n);
    case 'V':
        return n != 2 ? bad(p, "Pattern letter count must be 2: %c", c)
                      : pattern_push(p, (struct el){.kind = EL_ZONE});
    case 'z':
    case 'v':
        return n > 4 ? bad(p, "Too many pattern letters: %c", c)
                     : pattern_push(
                         p, (struct el){.kind = EL_ZONE_NAME, .style = n == 4 ? TEXT_FULL : TEXT_SHORT});
    case 'X':
    case 'x':
    case 'Z':
    case 'O':
        return offset(p, c, n);
    default:
        return bad(p, "Unknown pattern letter: %c", c);
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t run_length(struct str s, size_t at)
{
    size_t end = at + 1;
    while (end < s.n && s.p[end] == s.p[at]) {
        end++;
    }
    return end - at;
}

/* 'text', with '' for the quote itself; *at stands on the opening quote and moves behind the closing one. */
static enum err quoted(struct pattern *p, size_t *at)
{
    char *copy = arena_alloc(p->a, p->text.n);
    size_t n = 0, i = *at + 1;
    if (copy == NULL) {
        return err_no_memory(p->em);
    }
    for (;; i++) {
        if (i >= p->text.n) {
            return bad(p, "Pattern ends with an incomplete string literal: %.*s", STR_ARG(p->text));
        }
        if (p->text.p[i] == '\'') {
            if (i + 1 >= p->text.n || p->text.p[i + 1] != '\'') {
                break;
            }
            i++;
        }
        copy[n++] = p->text.p[i];
    }
    *at = i + 1;
    if (n == 0) {
        copy[n++] = '\'';
    }
    return pattern_push(p, (struct el){.kind = EL_LITERAL, .text = str_mk(copy, n)});
}

static enum err open_option(struct pattern *p)
{
    if (p->depth == ARRAY_LEN(p->open)) {
        return bad(p, "Too many optional sections: %c", '[');
    }
    p->open[p->depth++] = p->run->n;
    return pattern_push(p, (struct el){.kind = EL_OPTION});
}

static enum err close_option(struct pattern *p)
{
    if (p->depth == 0) {
        return bad(p, "Pattern invalid as it contains %c without previous [", ']');
    }
    p->run->el[p->open[--p->depth]].end = p->run->n;
    p->adjacent = -1;
    return ERR_OK;
}

static enum err pattern_step(struct pattern *p, size_t *at)
{
    char c = p->text.p[*at];
    if (c == '\'') {
        return quoted(p, at);
    }
    size_t n = is_letter(c) ? run_length(p->text, *at) : 1;
    size_t from = *at;
    *at += n;
    if (c == 'p') { /* p pads what follows to as many places */
        if (*at >= p->text.n || !is_letter(p->text.p[*at])) {
            return bad(p, "Pad letter 'p' must be followed by valid pad pattern: %.*s", STR_ARG(p->text));
        }
        return pattern_push(p, (struct el){.kind = EL_PAD, .max = (uint8_t)MIN_OF(n, 255U)});
    }
    if (is_letter(c)) {
        enum err e = letters(p, c, (unsigned)MIN_OF(n, 200U));
        const struct el *el = e == ERR_OK ? &p->run->el[p->run->n - 1] : NULL;
        p->run->local |=
            el != NULL && (el->kind == EL_TEXT || el->kind == EL_ZONE_NAME || strchr("YwWec", c) != NULL);
        return e;
    }
    switch (c) {
    case '[':
        return open_option(p);
    case ']':
        return close_option(p);
    case '{':
    case '}':
    case '#':
        return bad(p, "Pattern includes reserved character: '%c'", c);
    default:
        return pattern_push(p, (struct el){.kind = EL_LITERAL, .text = str_slice(p->text, from, from + 1)});
    }
}

/* Elements of a java.time pattern. */
static enum err el_run_of_pattern(struct el_run *run, struct str pattern, struct arena *a, struct errmsg *em)
{
    struct pattern p = {.run = run, .a = a, .em = em, .text = pattern, .adjacent = -1};
    enum err e = ERR_OK;
    run->strict = true;
    for (size_t at = 0; at < pattern.n && e == ERR_OK;) {
        e = pattern_step(&p, &at);
    }
    while (e == ERR_OK && p.depth > 0) { /* sections left open end with the pattern */
        e = close_option(&p);
    }
    return e;
}

/* ---- the notation of date_names.c ---- */

static enum date_field notation_field(char c)
{
    static const struct {
        char letter;
        enum date_field field;
    } table[] = {{'y', FLD_YEAR},
                 {'Y', FLD_YEAR_OF_ERA},
                 {'M', FLD_MONTH},
                 {'d', FLD_DAY},
                 {'D', FLD_DAY_OF_YEAR},
                 {'g', FLD_WEEK_YEAR},
                 {'G', FLD_WEEK_YEAR},
                 {'w', FLD_WEEK},
                 {'W', FLD_WEEK},
                 {'e', FLD_WEEKDAY},
                 {'E', FLD_WEEKDAY},
                 {'H', FLD_HOUR},
                 {'m', FLD_MINUTE},
                 {'s', FLD_SECOND},
                 {'f', FLD_NANO},
                 {'p', FLD_EPOCH_MS},
                 {'P', FLD_EPOCH_SECOND},
                 {'q', FLD_EPOCH_MS_NANOS},
                 {'Q', FLD_EPOCH_SECOND_NANOS}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (table[i].letter == c) {
            return table[i].field;
        }
    }
    return FLD_NONE;
}

static uint8_t digits(const char **at)
{
    unsigned v = 0;
    while (**at >= '0' && **at <= '9') {
        v = v * 10 + (unsigned)(*(*at)++ - '0');
    }
    return (uint8_t)v;
}

/* {y4-10x} and its kin; *at stands behind the brace. */
static struct el notation_number(const char **at)
{
    struct el el = {
        .kind = EL_NUMBER, .field = notation_field(*(*at)++), .min = 1, .max = 19, .sign = SIGN_NORMAL};
    if (**at != '}') {
        el.min = el.max = digits(at);
        el.sign = SIGN_NOT_NEGATIVE;
        if (**at == '-') {
            (*at)++;
            el.max = digits(at);
        }
    }
    if (el.field == FLD_NANO || el.field == FLD_EPOCH_MS_NANOS || el.field == FLD_EPOCH_SECOND_NANOS) {
        el.kind = EL_FRACTION;
    }
    for (; **at != '}'; (*at)++) {
        el.sign = **at == 'n'   ? SIGN_NORMAL
                  : **at == 'x' ? SIGN_EXCEEDS_PAD
                  : **at == 'v' ? SIGN_NEVER
                                : el.sign;
        el.point = el.point || **at == '.';
    }
    return el;
}

static struct el notation_element(const char **at)
{
    const char *z = *at + 1;
    struct el el;
    if (*z == '+') {
        el = (struct el){
            .kind = EL_OFFSET, .offset = strncmp(z, "+HH:MM", 6) == 0 ? "+HH:MM" : "+HHmm", .text = STR("Z")};
    } else if (*z == 'Z' || *z == 'I') {
        el = (struct el){.kind = EL_ZONE};
    } else if (*z == 'i') {
        el = (struct el){.kind = EL_CASELESS};
    } else {
        el = notation_number(&z);
    }
    while (*z != '}') {
        z++;
    }
    *at = z + 1;
    return el;
}

/* Elements of a named format's notation. */
static enum err el_run_of_notation(struct el_run *run, const char *notation, struct arena *a,
                                   struct errmsg *em)
{
    struct pattern p = {.run = run, .a = a, .em = em, .adjacent = -1};
    const char *at = notation;
    run->strict = *at != '~' && *at != '?';
    run->lenient = *at == '?';
    at += run->strict ? 0 : 1;
    run->utc = *at == '@';
    at += run->utc ? 1 : 0;
    enum err e = ERR_OK;
    while (*at != '\0' && e == ERR_OK) {
        switch (*at) {
        case '{':
            e = pattern_push(&p, notation_element(&at));
            continue;
        case '[':
            e = open_option(&p);
            break;
        case ']':
            e = close_option(&p);
            break;
        case '|':
            p.adjacent = -1;
            break;
        default: { /* "-W" of weeks is one */
            size_t n = at[0] == '-' && at[1] == 'W' ? 2 : 1;
            e = pattern_push(&p, (struct el){.kind = EL_LITERAL, .text = str_mk(at, n)});
            at += n - 1;
        }
        }
        at++;
    }
    for (uint32_t i = 0; i < run->n; i++) {
        run->is_epoch = run->is_epoch || run->el[i].field >= FLD_EPOCH_MS;
    }
    return e;
}

/* ---- formats ---- */

static enum err add_parser(struct date_format *f, const struct el_run *run, struct arena *a,
                           struct errmsg *em)
{
    return ARENA_ADD(a, f->parsers, f->n, f->cap, *run) ? ERR_OK : err_no_memory(em);
}

static enum err add_named(struct date_format *f, const struct date_name *name, struct arena *a,
                          struct errmsg *em)
{
    enum err e = ERR_OK;
    if (f->n == 0) {
        e = el_run_of_notation(&f->printer, name->printer, a, em);
    }
    for (size_t i = 0; i < ARRAY_LEN(name->parsers) && name->parsers[i] != NULL && e == ERR_OK; i++) {
        struct el_run run = {0};
        e = el_run_of_notation(&run, name->parsers[i], a, em);
        e = e == ERR_OK ? add_parser(f, &run, a, em) : e;
    }
    return e;
}

static enum err add_one(struct date_format *f, struct str one, struct arena *a, struct errmsg *em)
{
    const struct date_name *name = date_name_find(one);
    if (name != NULL) {
        return add_named(f, name, a, em);
    }
    struct el_run run = {0};
    enum err e = el_run_of_pattern(&run, one, a, em);
    if (e == ERR_OK && f->n == 0) {
        f->printer = run;
    }
    return e != ERR_OK ? e : add_parser(f, &run, a, em);
}

enum err date_format_new(const struct date_format **out, struct str pattern, struct arena *arena,
                         struct errmsg *em)
{
    struct date_format *f = ARENA_NEW(arena, struct date_format);
    if (f == NULL || (f->pattern = arena_str(arena, pattern)).p == NULL) {
        return err_no_memory(em);
    }
    struct str rest = f->pattern;
    if (rest.n > 0 && rest.p[0] == '8') { /* Elasticsearch 6 marked java.time patterns so */
        rest = str_slice(rest, 1, rest.n);
    }
    if (str_trim(rest).n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No date pattern provided");
    }
    for (;;) {
        size_t bar = str_find_str(rest, STR("||"));
        struct str one = bar == SIZE_MAX ? rest : str_slice(rest, 0, bar);
        if (str_trim(one).n == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Cannot have empty element in multi date format pattern: %.*s", STR_ARG(pattern));
        }
        enum err e = add_one(f, one, arena, em);
        if (e != ERR_OK) {
            return e;
        }
        if (bar == SIZE_MAX) {
            break;
        }
        rest = str_slice(rest, bar + 2, rest.n);
    }
    *out = f;
    return ERR_OK;
}

struct str date_format_pattern(const struct date_format *f)
{
    return f->pattern;
}

bool date_format_is_local(const struct date_format *f)
{
    bool local = f->printer.local;
    for (uint32_t i = 0; i < f->n; i++) {
        local |= f->parsers[i].local;
    }
    return local;
}
