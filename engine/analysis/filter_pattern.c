/* Token filters by Java patterns: pattern_replace, pattern_capture. */
#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/regex.h"

struct pattern_replace {
    struct token_filter base;
    const struct regex *regex;
    struct str replacement;
    bool all;
};

static enum err pattern_filter_replace(const struct pattern_replace *f, struct matcher *m, struct str text,
                                       struct buf *to, bool *changed, struct errmsg *em)
{
    size_t last = 0, from, end;
    bool found = false;
    *changed = false;
    do {
        enum err e = matcher_find(m, &found, em);
        if (e != ERR_OK || !found || !matcher_group(m, 0, &from, &end)) {
            if (e != ERR_OK) {
                return e;
            }
            break;
        }
        *changed = true;
        buf_str(to, str_slice(text, last, from));
        e = matcher_expand(m, text, f->replacement, to, em);
        if (e != ERR_OK) {
            return e;
        }
        last = end;
    } while (f->all);
    buf_str(to, str_slice(text, last, text.n));
    return to->failed ? err_no_memory(em) : ERR_OK;
}

static enum err apply_replace(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct pattern_replace *f = (const struct pattern_replace *)self;
    struct matcher *m;
    struct buf to;
    enum err e = matcher_new(&m, f->regex, STR(""), em);
    memory_request_buf(&to);
    for (size_t i = 0; token_next(l, i) && e == ERR_OK; i++) {
        bool changed = false;
        buf_reset(&to);
        e = matcher_reset(m, l->v[i].text, em);
        e = e == ERR_OK ? pattern_filter_replace(f, m, l->v[i].text, &to, &changed, em) : e;
        if (e == ERR_OK && changed) {
            l->v[i].text = arena_str(l->arena, buf_view(&to));
            e = l->v[i].text.p != NULL ? ERR_OK : err_no_memory(em);
        }
    }
    buf_fini(&to);
    matcher_free(m);
    return e;
}

PART_FACTORY(pattern_replace_filter_new)
{
    struct str pattern = settings_str(s, "pattern", STR_NULL);
    if (pattern.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "pattern is missing for [%.*s] token filter of type 'pattern_replace'", STR_ARG(part));
    }
    struct pattern_replace *f = ARENA_NEW(arena, struct pattern_replace);
    if (f == NULL) {
        return err_no_memory(em);
    }
    enum err e = part_regex_new(&f->regex, pattern, settings_str(s, "flags", STR("")), env, arena, em);
    e = e == ERR_OK ? settings_bool(s, "all", true, &f->all, em) : e;
    f->replacement = arena_str(arena, settings_str(s, "replacement", STR("")));
    if (e == ERR_OK && f->replacement.p == NULL) {
        e = err_no_memory(em);
    }
    f->base.apply = apply_replace;
    *out = &f->base;
    return e;
}

struct pattern_capture {
    struct token_filter base;
    const struct regex **patterns;
    size_t n;
    bool preserve;
};

/* A piece of a token that a group caught. Patterns take turns: the one whose next piece starts first, of several the earlier one. */
struct piece {
    size_t from, to;
    size_t turn;           /* the largest `from` of the pattern's pieces up to here */
    size_t pattern, place; /* order among those of one turn */
};

static int piece_order(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;
    if (a->turn != b->turn) {
        return a->turn < b->turn ? -1 : 1;
    }
    return a->pattern != b->pattern ? (a->pattern < b->pattern ? -1 : 1)
                                    : (a->place > b->place) - (a->place < b->place);
}

struct pieces {
    struct piece *v;
    size_t n, cap;
};

static enum err catch_groups(const struct pattern_capture *f, struct matcher **m, struct str text,
                             struct arena *arena, struct pieces *p, struct errmsg *em)
{
    p->n = 0;
    for (size_t k = 0; k < f->n; k++) {
        bool found = false;
        size_t turn = 0;
        enum err e = matcher_reset(m[k], text, em);
        while (e == ERR_OK && (e = matcher_find(m[k], &found, em)) == ERR_OK && found) {
            for (int32_t g = 1; g <= regex_groups(f->patterns[k]); g++) {
                size_t from, to;
                if (!matcher_group(m[k], g, &from, &to) || from == to
                    || (f->preserve && from == 0 && to == text.n)) {
                    continue;
                }
                if (!ARENA_ROOM(arena, p->v, p->n, p->cap)) {
                    return err_no_memory(em);
                }
                turn = MAX_OF(turn, from);
                p->v[p->n] = (struct piece){from, to, turn, k, p->n};
                p->n++;
            }
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    sort_items(p->v, p->n, sizeof(*p->v), piece_order);
    return ERR_OK;
}

static enum err capture_all(const struct pattern_capture *f, struct matcher **m, struct token_list *l,
                            struct errmsg *em)
{
    struct token_list to;
    struct pieces pieces = {0};
    token_list_init(&to, l->arena);
    for (size_t i = 0; token_next(l, i); i++) {
        struct token t = l->v[i];
        struct str text = t.text;
        enum err e = catch_groups(f, m, text, l->arena, &pieces, em);
        if (e != ERR_OK) {
            return e;
        }
        if ((f->preserve || pieces.n == 0) && !token_add(&to, t)) {
            return err_no_memory(em);
        }
        for (size_t k = 0; k < pieces.n && !token_stop(0); k++) {
            struct token caught = t;
            caught.text = str_slice(text, pieces.v[k].from, pieces.v[k].to);
            caught.pos_inc = k == 0 && !f->preserve ? t.pos_inc : 0;
            if (!token_add(&to, caught)) {
                return err_no_memory(em);
            }
        }
    }
    token_list_take(l, &to);
    return ERR_OK;
}

static enum err apply_capture(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct pattern_capture *f = (const struct pattern_capture *)self;
    struct matcher **m = ARENA_ARRAY(l->arena, struct matcher *, f->n);
    if (m == NULL) {
        return err_no_memory(em);
    }
    enum err e = ERR_OK;
    for (size_t k = 0; k < f->n && e == ERR_OK; k++) {
        e = matcher_new(&m[k], f->patterns[k], STR(""), em);
    }
    e = e == ERR_OK ? capture_all(f, m, l, em) : e;
    for (size_t k = 0; k < f->n; k++) {
        matcher_free(m[k]);
    }
    return e;
}

PART_FACTORY(pattern_capture_filter_new)
{
    struct pattern_capture *f = ARENA_NEW(arena, struct pattern_capture);
    struct str *patterns;
    uint32_t n;
    if (f == NULL || !settings_list(s, "patterns", arena, &patterns, &n)) {
        return err_no_memory(em);
    }
    if (n == 0 && settings_find(s, STR("patterns")) == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "required setting 'patterns' is missing for token filter [%.*s]", STR_ARG(part));
    }
    f->patterns = ARENA_ARRAY(arena, const struct regex *, n);
    if (f->patterns == NULL) {
        return err_no_memory(em);
    }
    enum err e = settings_bool(s, "preserve_original", true, &f->preserve, em);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        e = part_regex_new(&f->patterns[i], patterns[i], STR(""), env, arena, em);
    }
    f->n = n;
    f->base.apply = apply_capture;
    *out = &f->base;
    return e;
}
