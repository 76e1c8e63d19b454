#include "common/base/regex.h"

#include "common/base/regex_java.h"
#include "common/base/stop.h"

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

static uint32_t icu_flags(unsigned flags)
{
    static const struct {
        enum regex_flag flag;
        uint32_t icu;
    } table[] = {{REGEX_CASE_INSENSITIVE, UREGEX_CASE_INSENSITIVE},
                 {REGEX_MULTILINE, UREGEX_MULTILINE},
                 {REGEX_DOTALL, UREGEX_DOTALL},
                 {REGEX_COMMENTS, UREGEX_COMMENTS},
                 {REGEX_UNIX_LINES, UREGEX_UNIX_LINES},
                 {REGEX_LITERAL, UREGEX_LITERAL}};
    uint32_t out = 0;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        out |= (flags & table[i].flag) != 0 ? table[i].icu : 0;
    }
    return out;
}

static enum err compile(URegularExpression **out, struct str pattern, uint32_t flags, struct errmsg *em)
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
    *out = uregex_openUText(ut, flags, &where, &status);
    utext_close(ut);
    buf_fini(&icu);
    if (U_FAILURE(status)) {
        *out = NULL;
        return err_set(em, ERR_PATTERN_SYNTAX, "%s near index %d\n%.*s", u_errorName(status),
                       (int)where.offset, STR_ARG(pattern));
    }
    return ERR_OK;
}

enum err regex_new(struct regex **out, struct str pattern, unsigned flags, struct errmsg *em)
{
    URegularExpression *re;
    *out = NULL;
    enum err e = compile(&re, pattern, icu_flags(flags), em);
    if (e != ERR_OK) {
        return e;
    }
    struct regex *r = alloc_get(alloc_default(), sizeof(*r));
    if (r == NULL) {
        uregex_close(re);
        return err_no_memory(em);
    }
    r->re = re;
    *out = r;
    return ERR_OK;
}

void regex_free(struct regex *r)
{
    if (r != NULL) {
        uregex_close(r->re);
        alloc_put(alloc_default(), r);
    }
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
static UBool U_CALLCONV goes_on(UNUSED const void *context, UNUSED int32_t steps)
{
    return !stop_now();
}

enum err matcher_new(struct matcher **out, const struct regex *r, struct str text, struct errmsg *em)
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
        matcher_free(m);
        return err_no_memory(em);
    }
    enum err e = matcher_reset(m, text, em);
    if (e != ERR_OK) {
        matcher_free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

void matcher_free(struct matcher *m)
{
    if (m != NULL) {
        uregex_close(m->re);
        utext_close(m->text);
        alloc_put(alloc_default(), m);
    }
}

void matcher_limit(struct matcher *m, int32_t time)
{
    UErrorCode status = U_ZERO_ERROR;
    uregex_setTimeLimit(m->re, time, &status);
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

enum err matcher_find_at(struct matcher *m, size_t from, bool *found, struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    *found = !stop_often() && uregex_find64(m->re, (int64_t)from, &status) != 0;
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
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Illegal group reference%s",
                        at == replacement.n ? ": group index is missing" : "");
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return out->failed ? err_no_memory(em) : ERR_OK;
}
