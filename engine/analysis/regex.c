#include "engine/analysis/regex.h"

#include "common/base/stop.h"

#include "engine/analysis/regex_java.h"

#include <unicode/uregex.h>
#include <unicode/utext.h>

/* ICU counts steps by the ten thousand or so: roughly milliseconds. */
#define MATCH_TIME_MAX    2000
#define MATCH_STACK_BYTES (8 * 1024 * 1024)

struct regex {
    URegularExpression *re; /* never matched with: only cloned */
};

struct matcher {
    URegularExpression *re;
    UText *text;
};

static void close_regex(void *arg)
{
    uregex_close(((struct regex *)arg)->re);
}

static enum err parse_flags(struct str flags, uint32_t *out, struct errmsg *em)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } known[] = {{"CASE_INSENSITIVE", UREGEX_CASE_INSENSITIVE},
                 {"MULTILINE", UREGEX_MULTILINE},
                 {"DOTALL", UREGEX_DOTALL},
                 {"UNICODE_CASE", 0},
                 {"CANON_EQ", 0},
                 {"UNIX_LINES", UREGEX_UNIX_LINES},
                 {"LITERAL", UREGEX_LITERAL},
                 {"COMMENTS", UREGEX_COMMENTS},
                 {"UNICODE_CHAR_CLASS", 0},
                 {"UNICODE_CHARACTER_CLASS", 0}};
    *out = 0;
    struct str rest = flags;
    while (rest.p != NULL) {
        struct str name = str_trim(str_cut(rest, '|', &rest));
        bool found = name.n == 0;
        for (size_t i = 0; i < ARRAY_LEN(known) && !found; i++) {
            found = str_eq_nocase(name, str_of(known[i].name));
            *out |= found ? known[i].flag : 0;
        }
        if (!found) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown regex flag [%.*s]", STR_ARG(name));
        }
    }
    return ERR_OK;
}

static enum err compile(struct regex *r, struct str pattern, uint32_t flags, struct errmsg *em)
{
    struct buf icu;
    UErrorCode status = U_ZERO_ERROR;
    UParseError where;
    buf_init(&icu, NULL, MIB);
    if ((flags & UREGEX_LITERAL) != 0) {
        buf_str(&icu, pattern);
    } else {
        regex_java_to_icu(&icu, pattern, (flags & UREGEX_COMMENTS) != 0);
    }
    if (icu.failed) {
        buf_fini(&icu);
        return err_no_memory(em);
    }
    if (icu.n == 0) {
        buf_z(&icu, "(?:)"); /* ICU takes no empty pattern */
        flags &= ~(uint32_t)UREGEX_LITERAL;
    }
    UText *ut = utext_openUTF8(NULL, icu.p != NULL ? icu.p : "", (int64_t)icu.n, &status);
    r->re = uregex_openUText(ut, flags, &where, &status);
    utext_close(ut);
    buf_fini(&icu);
    if (U_FAILURE(status)) {
        r->re = NULL;
        return err_set(em, ERR_PATTERN_SYNTAX, "%s near index %d\n%.*s", u_errorName(status),
                       (int)where.offset, STR_ARG(pattern));
    }
    return ERR_OK;
}

enum err regex_new(const struct regex **out, struct str pattern, struct str flags,
                   const struct analysis_env *env, struct arena *arena, struct errmsg *em)
{
    uint32_t bits;
    enum err e = parse_flags(flags, &bits, em);
    if (e != ERR_OK) {
        return e;
    }
    struct regex *r = ARENA_NEW(arena, struct regex);
    struct part_cleanup *clean = ARENA_NEW(arena, struct part_cleanup);
    if (r == NULL || clean == NULL) {
        return err_no_memory(em);
    }
    e = compile(r, pattern, bits, em);
    if (e != ERR_OK) {
        return e;
    }
    assert(env->cleanups != NULL);
    *clean = (struct part_cleanup){close_regex, r, *env->cleanups};
    *env->cleanups = clean;
    *out = r;
    return ERR_OK;
}

int32_t regex_groups(const struct regex *r)
{
    UErrorCode status = U_ZERO_ERROR;
    return uregex_groupCount(r->re, &status);
}

static enum err failure(UErrorCode status, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "a regular expression takes too long or too much memory [%s]",
                   u_errorName(status));
}

/* ICU asks every some thousand steps. */
static UBool U_CALLCONV goes_on(const void *context, int32_t steps)
{
    (void)context;
    (void)steps;
    return !stop_now();
}

enum err matcher_open(struct matcher **out, const struct regex *r, struct str text, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    struct matcher *m = alloc_get(alloc_default(), sizeof(*m));
    *out = NULL;
    if (m == NULL) {
        return err_no_memory(em);
    }
    *m = (struct matcher){.re = uregex_clone(r->re, &status)};
    uregex_setTimeLimit(m->re, MATCH_TIME_MAX, &status);
    uregex_setMatchCallback(m->re, goes_on, NULL, &status);
    uregex_setStackLimit(m->re, MATCH_STACK_BYTES, &status);
    if (U_FAILURE(status)) {
        matcher_close(m);
        return err_no_memory(em);
    }
    enum err e = matcher_reset(m, text, em);
    if (e != ERR_OK) {
        matcher_close(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

void matcher_close(struct matcher *m)
{
    if (m != NULL) {
        uregex_close(m->re);
        utext_close(m->text);
        alloc_put(alloc_default(), m);
    }
}

enum err matcher_reset(struct matcher *m, struct str text, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    m->text = utext_openUTF8(m->text, text.n > 0 ? text.p : "", (int64_t)text.n, &status);
    uregex_setUText(m->re, m->text, &status);
    return U_FAILURE(status) ? err_no_memory(em) : ERR_OK;
}

enum err matcher_find(struct matcher *m, bool *found, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    *found = !stop_often() && uregex_findNext(m->re, &status) != 0;
    return U_FAILURE(status) ? failure(status, em) : ERR_OK;
}

enum err matcher_matches(struct matcher *m, bool *found, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    *found = uregex_matches64(m->re, -1, &status) != 0;
    return U_FAILURE(status) ? failure(status, em) : ERR_OK;
}

bool matcher_group(const struct matcher *m, int32_t group, size_t *start, size_t *end)
{
    UErrorCode status = U_ZERO_ERROR;
    int64_t from = uregex_start64(m->re, group, &status), to = uregex_end64(m->re, group, &status);
    if (U_FAILURE(status) || from < 0 || to < from) {
        return false;
    }
    *start = (size_t)from;
    *end = (size_t)to;
    return true;
}

static void add_group(const struct matcher *m, struct str text, int32_t group, struct buf *out)
{
    size_t from, to;
    if (matcher_group(m, group, &from, &to)) {
        buf_str(out, str_slice(text, from, to));
    }
}

/* "${name}" at *at ('$' already seen, '{' at *at). */
static enum err expand_named(const struct matcher *m, struct str text, struct str replacement, size_t *at,
                             struct buf *out, struct errmsg *em)
{
    size_t close = str_find(replacement, '}', *at);
    if (close == SIZE_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "named capturing group is missing trailing '}'");
    }
    struct str name = str_slice(replacement, *at + 1, close);
    UErrorCode status = U_ZERO_ERROR;
    int32_t group = uregex_groupNumberFromCName(m->re, name.p, (int32_t)name.n, &status);
    if (U_FAILURE(status)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No group with name {%.*s}", STR_ARG(name));
    }
    add_group(m, text, group, out);
    *at = close + 1;
    return ERR_OK;
}

static bool is_digit(struct str s, size_t at)
{
    return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

/* "$12": as many digits as still name a group. */
static enum err expand_number(const struct matcher *m, struct str text, struct str replacement, size_t *at,
                              struct buf *out, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t groups = uregex_groupCount(m->re, &status), group = replacement.p[(*at)++] - '0';
    if (group > groups) {
        return err_set(em, ERR_INDEX_BOUNDS, "No group %d", (int)group);
    }
    while (is_digit(replacement, *at) && group * 10 + (replacement.p[*at] - '0') <= groups) {
        group = group * 10 + (replacement.p[(*at)++] - '0');
    }
    add_group(m, text, group, out);
    return ERR_OK;
}

enum err matcher_expand(const struct matcher *m, struct str text, struct str replacement, struct buf *out,
                        struct errmsg *em)
{
    for (size_t at = 0; at < replacement.n;) {
        char c = replacement.p[at++];
        enum err e = ERR_OK;
        if (c == '\\') {
            if (at == replacement.n) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT, "character to be escaped is missing");
            }
            buf_char(out, replacement.p[at++]);
        } else if (c != '$') {
            buf_char(out, c);
        } else if (at < replacement.n && replacement.p[at] == '{') {
            e = expand_named(m, text, replacement, &at, out, em);
        } else if (is_digit(replacement, at)) {
            e = expand_number(m, text, replacement, &at, out, em);
        } else {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Illegal group reference");
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return out->failed ? err_no_memory(em) : ERR_OK;
}
