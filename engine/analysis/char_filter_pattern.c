/* The pattern_replace character filter. */
#include "common/base/memory_account.h"
#include "engine/analysis/offset_map.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/regex.h"

struct pattern_filter {
    struct char_filter base;
    const struct regex *regex;
    struct str replacement;
};

static enum err replace_all(const struct pattern_filter *f, struct matcher *m, struct str text,
                            struct remap *r, struct errmsg *em)
{
    struct buf with;
    enum err e = ERR_OK;
    memory_request_buf(&with);
    for (bool found = true; e == ERR_OK;) {
        size_t from, to;
        e = matcher_find(m, &found, em);
        if (e != ERR_OK || !found || !matcher_group(m, 0, &from, &to)) {
            break;
        }
        buf_reset(&with);
        e = matcher_expand(m, text, f->replacement, &with, em);
        remap_copy(r, from);
        remap_replace(r, to, buf_view(&with));
        if (e == ERR_OK && (r->failed || r->out.failed)) {
            e = err_no_memory(em);
        }
    }
    buf_fini(&with);
    return e;
}

static enum err pattern_filter_apply(const struct char_filter *self, struct filtered_text *in,
                                     struct arena *arena, struct errmsg *em)
{
    const struct pattern_filter *f = (const struct pattern_filter *)self;
    struct matcher *m;
    struct remap r;
    enum err e = matcher_new(&m, f->regex, in->text, em);
    if (e != ERR_OK) {
        return e;
    }
    remap_init(&r, in->text, arena);
    e = replace_all(f, m, in->text, &r, em);
    matcher_free(m);
    if (e != ERR_OK) {
        remap_fini(&r);
        return e;
    }
    return remap_end(&r, in, em);
}

PART_FACTORY(pattern_replace_char_filter_new)
{
    struct str pattern = settings_str(s, "pattern", STR_NULL);
    if (pattern.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "pattern is missing for [%.*s] char filter of type 'pattern_replace'", STR_ARG(part));
    }
    struct pattern_filter *f = ARENA_NEW(arena, struct pattern_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->replacement = arena_str(arena, settings_str(s, "replacement", STR("")));
    if (f->replacement.p == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = pattern_filter_apply;
    f->base.normalizes = true;
    *out = &f->base;
    return part_regex_new(&f->regex, pattern, settings_str(s, "flags", STR("")), env, arena, em);
}
