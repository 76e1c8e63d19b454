/* Regular expressions, over ICU, with a limit on the work of one match. */
#include "engine/script/vm.h"

#include "common/base/stop.h"

#include "common/base/utf8.h"

#include <stdlib.h>
#include <unicode/uregex.h>
#include <unicode/ustring.h>

#define TIME_LIMIT 2000 /* ICU's units: about a millisecond each */

struct regex {
    URegularExpression *re;
    UChar *text;
};

static UChar *to_units(struct script_run *m, struct str s, int32_t *n)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar *u = s.n < INT32_MAX / 4 ? arena_alloc(&m->mem, (s.n + 1) * sizeof(*u)) : NULL;
    *n = 0;
    if (u != NULL) {
        u_strFromUTF8WithSub(u, (int32_t)s.n + 1, n, s.p != NULL ? s.p : "", (int32_t)s.n, 0xFFFD, NULL,
                             &status);
    }
    return U_SUCCESS(status) ? u : NULL;
}

/* ICU asks every some thousand steps. */
static UBool U_CALLCONV goes_on(const void *context, int32_t steps)
{
    (void)context;
    (void)steps;
    return !stop_now();
}

static enum err open_regex(struct script_run *m, struct str pattern, uint32_t flags, struct str text,
                           struct regex *out)
{
    static const uint32_t icu[] = {
        UREGEX_CASE_INSENSITIVE, UREGEX_MULTILINE, UREGEX_DOTALL, UREGEX_COMMENTS, 0, 0, 0};
    UErrorCode status = U_ZERO_ERROR;
    UParseError where;
    int32_t pattern_n, text_n;
    uint32_t options = 0;
    UChar *p = to_units(m, pattern, &pattern_n);
    out->re = NULL;
    out->text = to_units(m, text, &text_n);
    if (p == NULL || out->text == NULL) {
        return vm_no_memory(m);
    }
    for (size_t i = 0; i < ARRAY_LEN(icu); i++) {
        options |= (flags >> i & 1) != 0 ? icu[i] : 0;
    }
    if (pattern_n > 0) {
        out->re = uregex_open(p, pattern_n, options, &where, &status);
    } else {
        static const UChar empty[] = {'(', '?', ':', ')', 0};
        out->re = uregex_open(empty, 4, options, &where, &status);
    }
    if (U_FAILURE(status)) {
        return err_set(m->em, ERR_PATTERN_SYNTAX, "%s near '%.*s'", u_errorName(status), STR_ARG(pattern));
    }
    uregex_setTimeLimit(out->re, TIME_LIMIT, &status);
    uregex_setMatchCallback(out->re, goes_on, NULL, &status);
    uregex_setText(out->re, out->text, text_n, &status);
    return vm_spend(m, 20 + text.n / 8);
}

enum err regex_check(struct str pattern, uint32_t flags, struct errmsg *em)
{
    struct script_run m = {.em = em, .limits.steps_max = UINT64_MAX};
    struct regex r;
    arena_init(&m.mem, NULL, MIB);
    enum err e = open_regex(&m, pattern, flags, STR(""), &r);
    if (r.re != NULL) {
        uregex_close(r.re);
    }
    arena_fini(&m.mem);
    return e;
}

static enum err checked(struct script_run *m, UErrorCode status)
{
    return U_FAILURE(status) ? err_set(m->em, ERR_PAINLESS, "the regular expression takes too long: %s",
                                       u_errorName(status))
                             : ERR_OK;
}

enum err regex_test(struct script_run *m, struct sv pattern, struct str text, bool whole, bool *out)
{
    struct regex r;
    UErrorCode status = U_ZERO_ERROR;
    enum err e = open_regex(m, pattern.s, pattern.aux, text, &r);
    if (e == ERR_OK) {
        *out = whole ? uregex_matches(r.re, 0, &status) : uregex_find(r.re, 0, &status);
        e = checked(m, status);
    }
    uregex_close(r.re);
    return e;
}

static enum err group_text(struct script_run *m, const struct regex *r, int32_t i, struct sv *out)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t from = uregex_start(r->re, i, &status), to = uregex_end(r->re, i, &status), n = 0;
    *out = sv_null();
    if (U_FAILURE(status) || from < 0) {
        return ERR_OK;
    }
    size_t cap = (size_t)(to - from) * 3 + 1;
    char *p = arena_alloc(&m->mem, cap);
    if (p == NULL) {
        return vm_no_memory(m);
    }
    u_strToUTF8WithSub(p, (int32_t)cap, &n, r->text + from, to - from, 0xFFFD, NULL, &status);
    *out = sv_str(str_mk(p, (size_t)n));
    return ERR_OK;
}

static enum err take_groups(struct script_run *m, const struct regex *r, struct sv_matcher *x)
{
    UErrorCode status = U_ZERO_ERROR;
    struct sv groups, one;
    int32_t n = uregex_groupCount(r->re, &status);
    enum err e = vm_list(m, LIST_LIST, &groups);
    for (int32_t i = 0; i <= n && e == ERR_OK; i++) {
        e = group_text(m, r, i, &one);
        e = e == ERR_OK ? vm_push(m, groups.list, one) : e;
    }
    x->groups = groups.list;
    x->start = uregex_start(r->re, 0, &status);
    x->end = uregex_end(r->re, 0, &status);
    x->from = (size_t)x->end + (x->end == x->start ? 1 : 0);
    return e;
}

enum err regex_find(struct script_run *m, struct sv_matcher *x, bool whole, bool *out)
{
    struct regex r;
    UErrorCode status = U_ZERO_ERROR;
    *out = false;
    x->groups = NULL;
    if (x->from > utf16_length(x->text)) {
        return ERR_OK;
    }
    enum err e = open_regex(m, x->pattern, x->flags, x->text, &r);
    if (e == ERR_OK) {
        *out = whole ? uregex_matches(r.re, 0, &status) : uregex_find(r.re, (int32_t)x->from, &status);
        e = checked(m, status);
        e = e == ERR_OK && *out ? take_groups(m, &r, x) : e;
    }
    uregex_close(r.re);
    return e;
}

/* "$1" in a replacement; a backslash takes the next character as it is. */
static void expand(struct buf *b, struct str with, const struct sv_list *groups)
{
    for (size_t i = 0; i < with.n; i++) {
        char c = with.p[i];
        if (c == '\\' && i + 1 < with.n) {
            buf_char(b, with.p[++i]);
        } else if (c == '$' && i + 1 < with.n && with.p[i + 1] >= '0' && with.p[i + 1] <= '9') {
            uint32_t g = (uint32_t)(with.p[++i] - '0');
            if (g < groups->n && groups->v[g].kind == SV_STR) {
                buf_str(b, groups->v[g].s);
            }
        } else {
            buf_char(b, c);
        }
    }
}

enum err regex_replace(struct script_run *m, struct sv pattern, struct str text, struct sv with, bool all,
                       struct sv *out)
{
    if (pattern.kind != SV_PATTERN) {
        return pattern.kind == SV_NULL ? vm_null(m, "matcher")
                                       : vm_class_cast(m, pattern, "java.util.regex.Pattern");
    }
    struct sv_matcher x = {.pattern = pattern.s, .flags = pattern.aux, .text = text};
    struct buf b;
    size_t done = 0; /* bytes of the text already written */
    bool found = true;
    enum err e = ERR_OK;
    buf_init(&b, NULL, m->limits.bytes_max);
    for (bool first = true; e == ERR_OK && found && (all || first); first = false) {
        e = regex_find(m, &x, false, &found);
        if (e != ERR_OK || !found) {
            break;
        }
        size_t from = utf16_to_byte(text, (size_t)x.start);
        buf_str(&b, str_slice(text, done, from));
        done = utf16_to_byte(text, (size_t)x.end);
        if (with.kind == SV_FUNC) {
            struct sv arg = {.kind = SV_MATCHER, .matcher = &x}, made;
            struct str made_text = STR_NULL;
            e = vm_call(m, with, &arg, 1, &made);
            e = e == ERR_OK ? vm_arg_str(m, made, &made_text) : e;
            buf_str(&b, made_text);
        } else {
            struct str literal = STR_NULL;
            e = vm_arg_str(m, with, &literal);
            expand(&b, literal, x.groups);
        }
    }
    buf_str(&b, str_slice(text, done, text.n));
    e = e == ERR_OK ? (b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out)) : e;
    buf_fini(&b);
    return e;
}

enum err regex_split(struct script_run *m, struct sv pattern, struct str text, struct sv *out)
{
    struct sv_matcher x = {.pattern = pattern.s, .flags = pattern.aux, .text = text};
    size_t done = 0;
    bool found = true;
    enum err e = vm_list(m, LIST_ARRAY, out);
    while (e == ERR_OK) {
        e = regex_find(m, &x, false, &found);
        if (e != ERR_OK || !found) {
            break;
        }
        size_t from = utf16_to_byte(text, (size_t)x.start), to = utf16_to_byte(text, (size_t)x.end);
        if (to > 0) {
            e = vm_push(m, out->list, sv_str(str_slice(text, done, from)));
            done = to;
        }
    }
    e = e == ERR_OK ? vm_push(m, out->list, sv_str(str_slice(text, done, text.n))) : e;
    while (e == ERR_OK && out->list->n > 1 && out->list->v[out->list->n - 1].s.n == 0) {
        out->list->n--; /* empty parts at the end go */
    }
    return e;
}
