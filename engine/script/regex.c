/* Regular expressions of scripts. */
#include "common/base/regex.h"

#include "common/base/utf8.h"
#include "engine/script/vm.h"

#define FLAGS \
    (REGEX_CASE_INSENSITIVE | REGEX_MULTILINE | REGEX_DOTALL | REGEX_COMMENTS) /* as literals' bits */

/* A pattern on a text. */
struct pattern_use {
    struct matcher *matcher;
    int32_t groups;
};

/* The compiled pattern, which the run keeps until it needs another: patterns are literals of its script. */
static enum err compiled(struct script_run *m, struct str pattern, uint32_t flags)
{
    if (m->regex != NULL && m->regex_of.p == pattern.p && m->regex_of.n == pattern.n
        && m->regex_flags == flags) {
        return ERR_OK;
    }
    regex_free(m->regex);
    m->regex_of = pattern;
    m->regex_flags = flags;
    return regex_new(&m->regex, pattern, flags & FLAGS, m->em);
}

static enum err matcher_begin(struct script_run *m, struct str pattern, uint32_t flags, struct str text,
                              struct pattern_use *out)
{
    *out = (struct pattern_use){NULL, 0};
    enum err e = compiled(m, pattern, flags);
    if (e != ERR_OK) {
        return e;
    }
    out->groups = regex_groups(m->regex);
    return matcher_new(&out->matcher, m->regex, text, m->em);
}

enum err regex_check(struct str pattern, uint32_t flags, struct errmsg *em)
{
    struct regex *r;
    enum err e = regex_new(&r, pattern, flags & FLAGS, em);
    regex_free(r);
    return e;
}

/* One try: from byte `from` on, or (whole) of the whole text. Not even a try statement takes what runs too long. */
static enum err matcher_search(struct script_run *m, const struct pattern_use *u, struct str text,
                               size_t from, bool whole, bool *out)
{
    enum err e = vm_spend(m, 20 + text.n / 8);
    if (e != ERR_OK) {
        return e;
    }
    e = whole ? matcher_matches(u->matcher, out, m->em) : matcher_find_at(u->matcher, from, out, m->em);
    return e == ERR_OK ? e : err_set(m->em, ERR_PAINLESS, "the regular expression takes too long");
}

enum err regex_test(struct script_run *m, struct sv pattern, struct str text, bool whole, bool *out)
{
    struct pattern_use u;
    enum err e = matcher_begin(m, pattern.s, pattern.aux, text, &u);
    e = e == ERR_OK ? matcher_search(m, &u, text, 0, whole, out) : e;
    matcher_free(u.matcher);
    return e;
}

static enum err take_groups(struct script_run *m, const struct pattern_use *u, struct sv_matcher *x)
{
    struct sv groups;
    enum err e = vm_list(m, LIST_LIST, &groups);
    for (int32_t i = 0; i <= u->groups && e == ERR_OK; i++) {
        size_t from, to;
        bool took_part = matcher_group(u->matcher, i, &from, &to);
        e = vm_push(m, groups.list, took_part ? sv_str(str_slice(x->text, from, to)) : sv_null());
    }
    x->groups = groups.list;
    (void)matcher_group(u->matcher, 0, &x->start, &x->end);
    x->from = x->end;
    if (x->end == x->start) { /* the next one begins behind the next character */
        if (x->from < x->text.n) {
            (void)utf8_next(x->text, &x->from);
        } else {
            x->from++;
        }
    }
    return e;
}

static enum err matcher_next(struct script_run *m, const struct pattern_use *u, struct sv_matcher *x,
                             bool whole, bool *out)
{
    *out = false;
    x->groups = NULL;
    enum err e = x->from <= x->text.n ? matcher_search(m, u, x->text, x->from, whole, out) : ERR_OK;
    return e == ERR_OK && *out ? take_groups(m, u, x) : e;
}

enum err regex_find(struct script_run *m, struct sv_matcher *x, bool whole, bool *out)
{
    struct pattern_use u;
    *out = false;
    enum err e = matcher_begin(m, x->pattern, x->flags, x->text, &u);
    e = e == ERR_OK ? matcher_next(m, &u, x, whole, out) : e;
    matcher_free(u.matcher);
    return e;
}

/* What a match becomes. */
static enum err replacement(struct script_run *m, const struct pattern_use *u, struct sv_matcher *x,
                            struct sv with, struct buf *b)
{
    struct sv made, arg = {.kind = SV_MATCHER, .matcher = x};
    struct str text = STR_NULL;
    if (with.kind != SV_FUNC) {
        enum err e = vm_arg_str(m, with, &text);
        return e == ERR_OK ? matcher_expand(u->matcher, x->text, text, b, m->em) : e;
    }
    enum err e = vm_call(m, with, &arg, 1, &made);
    e = e == ERR_OK ? vm_arg_str(m, made, &text) : e;
    buf_str(b, text);
    return e;
}

static struct sv_matcher *matcher_of(struct script_run *m, struct sv pattern, struct str text)
{
    struct sv_matcher *x = ARENA_NEW(&m->mem, struct sv_matcher);
    if (x != NULL) {
        *x = (struct sv_matcher){.pattern = pattern.s, .flags = pattern.aux, .text = text};
    }
    return x;
}

enum err regex_replace(struct script_run *m, struct sv pattern, struct str text, struct sv with, bool all,
                       struct sv *out)
{
    if (pattern.kind != SV_PATTERN) {
        return pattern.kind == SV_NULL ? vm_null(m, "matcher")
                                       : vm_class_cast(m, pattern, "java.util.regex.Pattern");
    }
    struct sv_matcher *x = matcher_of(m, pattern, text);
    struct pattern_use u;
    struct buf b;
    size_t done = 0; /* bytes of the text already written */
    bool found = true;
    buf_init(&b, NULL, m->limits.bytes_max);
    enum err e = matcher_begin(m, pattern.s, pattern.aux, text, &u);
    e = e == ERR_OK && x == NULL ? vm_no_memory(m) : e;
    for (bool first = true; e == ERR_OK && (all || first); first = false) {
        e = matcher_next(m, &u, x, false, &found);
        if (e != ERR_OK || !found) {
            break;
        }
        size_t behind = x->end;
        buf_str(&b, str_slice(text, done, x->start));
        e = replacement(m, &u, x, with, &b);
        done = behind;
    }
    buf_str(&b, str_slice(text, done, text.n));
    e = e == ERR_OK ? (b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out)) : e;
    buf_fini(&b);
    matcher_free(u.matcher);
    return e;
}

enum err regex_split(struct script_run *m, struct sv pattern, struct str text, struct sv *out)
{
    struct sv_matcher x = {.pattern = pattern.s, .flags = pattern.aux, .text = text};
    struct pattern_use u;
    size_t done = 0;
    bool found = true, any = false;
    enum err e = matcher_begin(m, pattern.s, pattern.aux, text, &u);
    e = e == ERR_OK ? vm_list(m, LIST_ARRAY, out) : e;
    while (e == ERR_OK) {
        e = matcher_next(m, &u, &x, false, &found);
        if (e != ERR_OK || !found) {
            break;
        }
        if (x.end > 0) {
            any = true;
            e = vm_push(m, out->list, sv_str(str_slice(text, done, x.start)));
            done = x.end;
        }
    }
    matcher_free(u.matcher);
    e = e == ERR_OK ? vm_push(m, out->list, sv_str(str_slice(text, done, text.n))) : e;
    while (e == ERR_OK && any && out->list->n > 0 && out->list->v[out->list->n - 1].s.n == 0) {
        out->list->n--; /* empty parts at the end go */
    }
    return e;
}
