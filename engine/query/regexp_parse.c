#include "engine/query/regexp_parse.h"

#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/utf8.h"
#include "engine/query/automaton.h"

#define REGEXP_DEPTH_MAX 250
#define TREE_DEPTH_MAX \
    10000 /* what follows one another is below one another, and who reads a tree goes down */
#define REPEAT_MAX 0x7FFFFFFFU

struct re_parser {
    struct str s;
    size_t at;
    uint32_t flags;
    bool nocase;
    struct arena *arena;
    struct errmsg *em;
    uint32_t depth;
    struct str missing; /* the first automaton that is named; p NULL: none */
};

static enum err parse_union(struct re_parser *p, struct regexp **out);

static struct regexp *node(struct re_parser *p, enum regexp_kind kind, const struct regexp *a,
                           const struct regexp *b)
{
    struct regexp *r = ARENA_NEW(p->arena, struct regexp);
    if (r != NULL) {
        uint32_t below = MAX_OF(a != NULL ? a->depth : 0, b != NULL ? b->depth : 0);
        *r = (struct regexp){.kind = kind, .a = a, .b = b, .depth = below + 1};
    }
    return r;
}

/* Where a byte of the pattern is, in Java's characters. */
static size_t regexp_place(const struct re_parser *p, size_t at)
{
    return utf16_length(str_slice(p->s, 0, at));
}

static enum err regexp_done(struct re_parser *p, struct regexp *r, struct regexp **out)
{
    *out = r;
    if (r != NULL && r->depth > TREE_DEPTH_MAX) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "the pattern is too long at position %zu",
                       regexp_place(p, p->at));
    }
    return r != NULL ? ERR_OK : err_no_memory(p->em);
}

static bool regexp_more(const struct re_parser *p)
{
    return p->at < p->s.n;
}

static bool peek(const struct re_parser *p, const char *set)
{
    return regexp_more(p) && p->s.p[p->at] != '\0' && strchr(set, p->s.p[p->at]) != NULL;
}

static bool match(struct re_parser *p, char c)
{
    if (regexp_more(p) && p->s.p[p->at] == c) {
        p->at++;
        return true;
    }
    return false;
}

static bool regexp_on(const struct re_parser *p, uint32_t flag)
{
    return (p->flags & flag) != 0;
}

static enum err regexp_fail(struct re_parser *p, const char *what)
{
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s at position %zu", what, regexp_place(p, p->at));
}

static enum err next_char(struct re_parser *p, uint32_t *c)
{
    if (!regexp_more(p)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "unexpected end-of-string");
    }
    *c = utf8_next(p->s, &p->at);
    return ERR_OK;
}

static enum err make_class(struct re_parser *p, const struct regexp_range *v, uint32_t n, bool negated,
                           struct regexp **out)
{
    struct regexp *r = node(p, RE_CLASS, NULL, NULL);
    if (r == NULL) {
        return err_no_memory(p->em);
    }
    r->ranges = ARENA_ARRAY(p->arena, struct regexp_range, n);
    if (r->ranges == NULL) {
        return err_no_memory(p->em);
    }
    memcpy(r->ranges, v, n * sizeof(*v));
    r->n = n;
    r->negated = negated;
    *out = r;
    return ERR_OK;
}

static enum err make_char(struct re_parser *p, uint32_t c, struct regexp **out)
{
    uint32_t other = p->nocase ? regexp_other_case(c) : c;
    struct regexp_range v[2] = {{MIN_OF(c, other), MIN_OF(c, other)}, {MAX_OF(c, other), MAX_OF(c, other)}};
    return make_class(p, v, c != other ? 2 : 1, false, out);
}

/* A character of an expression, a backslash taking away its meaning. */
static enum err parse_char(struct re_parser *p, uint32_t *c)
{
    match(p, '\\');
    return next_char(p, c);
}

static int cmp_range(const void *a, const void *b)
{
    uint32_t x = ((const struct regexp_range *)a)->lo, y = ((const struct regexp_range *)b)->lo;
    return x < y ? -1 : x > y ? 1 : 0;
}

static enum err add_range(struct re_parser *p, struct regexp_range **v, size_t *n, size_t *cap,
                          struct regexp_range r)
{
    struct regexp_range *grown = arena_grow(p->arena, *v, *n, cap, sizeof(*grown));
    if (grown == NULL) {
        return err_no_memory(p->em);
    }
    *v = grown;
    grown[(*n)++] = r;
    return ERR_OK;
}

static enum err parse_class_member(struct re_parser *p, struct regexp_range **v, size_t *n, size_t *cap)
{
    struct regexp_range one;
    enum err e = parse_char(p, &one.lo);
    one.hi = one.lo;
    if (e == ERR_OK && match(p, '-')) {
        e = parse_char(p, &one.hi);
    } else if (e == ERR_OK && p->nocase && regexp_other_case(one.lo) != one.lo) {
        uint32_t other = regexp_other_case(one.lo);
        e = add_range(p, v, n, cap, (struct regexp_range){other, other});
    }
    if (e == ERR_OK && one.lo > one.hi) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "invalid range: from (%u) cannot be > to (%u)", one.lo,
                       one.hi);
    }
    return e == ERR_OK ? add_range(p, v, n, cap, one) : e;
}

static enum err parse_classes(struct re_parser *p, struct regexp **out)
{
    struct regexp_range *v = NULL;
    size_t n = 0, cap = 0;
    bool negated = match(p, '^');
    do {
        enum err e = parse_class_member(p, &v, &n, &cap);
        if (e != ERR_OK) {
            return e;
        }
    } while (regexp_more(p) && !peek(p, "]"));
    if (!match(p, ']')) {
        return regexp_fail(p, "expected ']'");
    }
    sort_items(v, n, sizeof(*v), cmp_range);
    return make_class(p, v, (uint32_t)n, negated, out);
}

/* The empty text; compared without case it is none, as toCaseInsensitiveString of Lucene makes it. */
static struct regexp *empty_text(struct re_parser *p)
{
    return node(p, p->nocase ? RE_NOTHING : RE_EMPTY, NULL, NULL);
}

/* "text" between quotes, as it is. */
static enum err parse_quoted(struct re_parser *p, struct regexp **out)
{
    struct regexp *whole = NULL, *one;
    if (peek(p, "\"")) {
        p->at++;
        return regexp_done(p, empty_text(p), out);
    }
    while (regexp_more(p) && !peek(p, "\"")) {
        enum err e = make_char(p, utf8_next(p->s, &p->at), &one);
        if (e == ERR_OK) {
            e = whole == NULL ? regexp_done(p, one, &whole)
                              : regexp_done(p, node(p, RE_CONCAT, whole, one), &whole);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = whole;
    return match(p, '"') ? ERR_OK : regexp_fail(p, "expected '\"'");
}

/* <n-m>, or <name>: an automaton of that name, of which there are none; that is said once the rest is read. */
static enum err parse_interval(struct re_parser *p, struct regexp **out)
{
    size_t from = p->at;
    while (regexp_more(p) && !peek(p, ">")) {
        p->at++;
    }
    struct str inner = str_slice(p->s, from, p->at), hi, lo = str_cut(inner, '-', &hi);
    int32_t a, b;
    if (!match(p, '>')) {
        return regexp_fail(p, "expected '>'");
    }
    if (hi.p == NULL && regexp_on(p, REGEXP_AUTOMATON)) {
        p->missing = p->missing.p == NULL ? inner : p->missing;
        return regexp_done(p, node(p, RE_NOTHING, NULL, NULL), out);
    }
    const char *what =
        hi.p != NULL && !regexp_on(p, REGEXP_INTERVAL) ? "illegal identifier" : "interval syntax error";
    if (hi.p == NULL || !regexp_on(p, REGEXP_INTERVAL) || !num_parse_i32(lo, &a) || !num_parse_i32(hi, &b)
        || a < 0 || b < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s at position %zu", what, regexp_place(p, p->at) - 1);
    }
    struct regexp *r = node(p, RE_INTERVAL, NULL, NULL);
    if (r != NULL) {
        r->min = (uint32_t)MIN_OF(a, b);
        r->max = (uint32_t)MAX_OF(a, b);
        r->digits = lo.n == hi.n ? (uint32_t)lo.n : 0;
    }
    return regexp_done(p, r, out);
}

static enum err parse_simple(struct re_parser *p, struct regexp **out)
{
    uint32_t c;
    if (match(p, '.')) {
        return make_class(p, &(struct regexp_range){0, 0x10FFFF}, 1, false, out);
    }
    if (regexp_on(p, REGEXP_EMPTY) && match(p, '#')) {
        return regexp_done(p, node(p, RE_NOTHING, NULL, NULL), out);
    }
    if (regexp_on(p, REGEXP_ANYSTRING) && match(p, '@')) {
        return regexp_done(p, node(p, RE_ANY_STRING, NULL, NULL), out);
    }
    if (match(p, '"')) {
        return parse_quoted(p, out);
    }
    if (match(p, '(')) {
        if (match(p, ')')) {
            return regexp_done(p, empty_text(p), out);
        }
        if (++p->depth > REGEXP_DEPTH_MAX) {
            return regexp_fail(p, "too many parentheses");
        }
        enum err e = parse_union(p, out);
        p->depth--;
        return e != ERR_OK || match(p, ')') ? e : regexp_fail(p, "expected ')'");
    }
    if (regexp_on(p, REGEXP_INTERVAL | REGEXP_AUTOMATON) && match(p, '<')) {
        return parse_interval(p, out);
    }
    enum err e = parse_char(p, &c);
    return e == ERR_OK ? make_char(p, c, out) : e;
}

static enum err parse_class_expression(struct re_parser *p, struct regexp **out)
{
    return match(p, '[') ? parse_classes(p, out) : parse_simple(p, out);
}

static enum err parse_complement(struct re_parser *p, struct regexp **out)
{
    if (!regexp_on(p, REGEXP_COMPLEMENT) || !match(p, '~')) {
        return parse_class_expression(p, out);
    }
    if (++p->depth > REGEXP_DEPTH_MAX) {
        return regexp_fail(p, "too many complements");
    }
    enum err e = parse_complement(p, out);
    p->depth--;
    return e == ERR_OK ? regexp_done(p, node(p, RE_COMPLEMENT, *out, NULL), out) : e;
}

static bool digits(struct re_parser *p, uint32_t *v)
{
    size_t from = p->at;
    uint64_t sum = 0;
    while (peek(p, "0123456789")) {
        sum = sum * 10 + (uint64_t)(p->s.p[p->at++] - '0');
        sum = MIN_OF(sum, (uint64_t)UINT32_MAX);
    }
    *v = (uint32_t)sum;
    return p->at > from;
}

static enum err parse_counts(struct re_parser *p, uint32_t *min, uint32_t *max)
{
    if (!digits(p, min)) {
        return regexp_fail(p, "integer expected");
    }
    *max = *min;
    if (match(p, ',') && !digits(p, max)) {
        *max = UINT32_MAX;
    }
    if (!match(p, '}')) {
        return regexp_fail(p, "expected '}'");
    }
    if (*min > REPEAT_MAX || (*max != UINT32_MAX && *max > REPEAT_MAX)) {
        return err_set(p->em, ERR_TOO_COMPLEX, "Determinizing %.*s would result in more than %u states.",
                       STR_ARG(p->s), REPEAT_MAX);
    }
    return ERR_OK;
}

static enum err parse_repeat(struct re_parser *p, struct regexp **out)
{
    enum err e = parse_complement(p, out);
    while (e == ERR_OK && peek(p, "?*+{")) {
        uint32_t min = 0, max = UINT32_MAX;
        char c = p->s.p[p->at++];
        if (c == '?') {
            max = 1;
        } else if (c == '+') {
            min = 1;
        } else if (c == '{') {
            e = parse_counts(p, &min, &max);
        }
        if (e == ERR_OK) {
            struct regexp *r = min > max ? node(p, RE_NOTHING, NULL, NULL) : node(p, RE_REPEAT, *out, NULL);
            if (r != NULL) {
                r->min = min;
                r->max = max;
            }
            e = regexp_done(p, r, out);
        }
    }
    return e;
}

/* left op right op ... as long as `more_follows` says so. */
static enum err parse_concat(struct re_parser *p, struct regexp **out)
{
    enum err e = parse_repeat(p, out);
    while (e == ERR_OK && regexp_more(p) && !peek(p, ")|")
           && (!regexp_on(p, REGEXP_INTERSECTION) || !peek(p, "&"))) {
        struct regexp *right;
        e = parse_repeat(p, &right);
        e = e == ERR_OK ? regexp_done(p, node(p, RE_CONCAT, *out, right), out) : e;
    }
    return e;
}

static enum err parse_intersection(struct re_parser *p, struct regexp **out)
{
    enum err e = parse_concat(p, out);
    while (e == ERR_OK && regexp_on(p, REGEXP_INTERSECTION) && match(p, '&')) {
        struct regexp *right;
        e = parse_concat(p, &right);
        e = e == ERR_OK ? regexp_done(p, node(p, RE_INTERSECTION, *out, right), out) : e;
    }
    return e;
}

static enum err parse_union(struct re_parser *p, struct regexp **out)
{
    enum err e = parse_intersection(p, out);
    while (e == ERR_OK && match(p, '|')) {
        struct regexp *right;
        e = parse_intersection(p, &right);
        e = e == ERR_OK ? regexp_done(p, node(p, RE_UNION, *out, right), out) : e;
    }
    return e;
}

enum err regexp_parse(const struct regexp **out, struct str pattern, uint32_t flags, bool nocase,
                      struct arena *arena, struct errmsg *em)
{
    struct re_parser p = {.s = pattern, .flags = flags, .nocase = nocase, .arena = arena, .em = em};
    struct regexp *r;
    if (pattern.n == 0) {
        enum err e = regexp_done(&p, empty_text(&p), &r);
        *out = r;
        return e;
    }
    enum err e = parse_union(&p, &r);
    if (e == ERR_OK && regexp_more(&p)) {
        e = regexp_fail(&p, "end-of-string expected");
    }
    if (e == ERR_OK && p.missing.p != NULL) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "'%.*s' not found", STR_ARG(p.missing));
    }
    *out = r;
    return e;
}
