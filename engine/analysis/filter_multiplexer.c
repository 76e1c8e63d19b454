/* The multiplexer filter: each token goes through several chains of filters, and all results stand at its
 * position. */
#include "engine/analysis/parts.h"

struct chain_part {
    const struct token_filter **v;
    size_t n, cap;
};

struct multiplexer {
    struct token_filter base;
    struct chain_part *chains;
    size_t n;
    bool preserve;
    const struct token_filter
        *distinct; /* equal tokens at a position, whichever chain or token they are of */
};

/* As declared: the names wait for the analyzer that knows what they mean. */
struct multiplexer_part {
    struct token_filter base;
    struct str name;
    struct str *filters;
    uint32_t n;
    bool preserve;
    const struct token_filter *distinct;
};

static enum err run_chain(const struct chain_part *c, struct token t, struct token_list *to, size_t from,
                          struct errmsg *em)
{
    struct token_list one;
    token_list_init(&one, to->arena);
    if (!token_add(&one, t)) {
        return err_no_memory(em);
    }
    one.end_offset = t.end;
    one.source = to->source;
    for (size_t i = 0; i < c->n; i++) {
        enum err e = c->v[i]->apply(c->v[i], &one, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    for (size_t i = 0; token_next(&one, i); i++) {
        one.v[i].pos_inc = to->n == from ? t.pos_inc : 0;
        if (!token_add(to, one.v[i])) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err multiplexer_apply(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct multiplexer *f = (const struct multiplexer *)self;
    static const struct chain_part nothing = {0};
    struct token_list to;
    int32_t skipped = 0;
    token_list_init(&to, l->arena);
    to.source = l->source;
    for (size_t i = 0; token_next(l, i); i++) {
        struct token t = l->v[i];
        size_t from = to.n;
        t.pos_inc += skipped;
        enum err e = f->preserve ? run_chain(&nothing, t, &to, from, em) : ERR_OK;
        for (size_t k = 0; k < f->n && e == ERR_OK; k++) {
            e = run_chain(&f->chains[k], t, &to, from, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        skipped = to.n == from ? t.pos_inc : 0;
    }
    token_list_take(l, &to);
    return f->distinct->apply(f->distinct, l, em);
}

static enum err bind_chain(const struct multiplexer_part *p, struct str names,
                           const struct part_chain *before, struct arena *arena, struct chain_part *c,
                           struct errmsg *em)
{
    struct str rest = names;
    while (rest.p != NULL) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        enum err e = ERR_OK;
        const struct token_filter *f = before->find_filter(before->self, name, &e, em);
        if (e != ERR_OK) {
            return e;
        }
        if (f == NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Multiplexing filter [%.*s] refers to undefined tokenfilter [%.*s]",
                           STR_ARG(p->name), STR_ARG(name));
        }
        struct part_chain sub = *before;
        sub.filters = c->v;
        sub.filter_names = NULL;
        sub.n_filters = c->n;
        if (f->bind != NULL) {
            e = f->bind(f, &sub, arena, &f, em);
        }
        const struct token_filter **v = arena_grow(arena, c->v, c->n, &c->cap, sizeof(*v));
        if (e != ERR_OK || v == NULL) {
            return e != ERR_OK ? e : err_no_memory(em);
        }
        c->v = v;
        v[c->n++] = f;
    }
    return ERR_OK;
}

static enum err multiplexer_bind(const struct token_filter *self, const struct part_chain *before,
                                 struct arena *arena, const struct token_filter **out, struct errmsg *em)
{
    const struct multiplexer_part *p = (const struct multiplexer_part *)self;
    struct multiplexer *f = ARENA_NEW(arena, struct multiplexer);
    struct chain_part *chains = ARENA_ARRAY(arena, struct chain_part, p->n);
    if (f == NULL || chains == NULL) {
        return err_no_memory(em);
    }
    *f = (struct multiplexer){.base = {.apply = multiplexer_apply, .synonym_use = SYNONYM_USE_REFUSED},
                              .chains = chains,
                              .n = p->n};
    f->preserve = p->preserve;
    f->distinct = p->distinct;
    *out = &f->base;
    for (uint32_t i = 0; i < p->n; i++) {
        enum err e = bind_chain(p, p->filters[i], before, arena, &chains[i], em);
        for (size_t k = 0; e == ERR_OK && k < chains[i].n && f->base.unusable == NULL; k++) {
            f->base.unusable = chains[i].v[k]->unusable;
        }
        for (size_t k = 0; e == ERR_OK && k < chains[i].n; k++) {
            f->base.shows_keyword |= chains[i].v[k]->shows_keyword;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

PART_FACTORY(multiplexer_filter_new)
{
    struct multiplexer_part *p = ARENA_NEW(arena, struct multiplexer_part);
    struct str *filters;
    uint32_t n;
    if (p == NULL || !settings_list(s, "filters", arena, &filters, &n)) {
        return err_no_memory(em);
    }
    p->filters = ARENA_ARRAY(arena, struct str, n);
    p->name = arena_str(arena, part);
    if (p->filters == NULL || p->name.p == NULL) {
        return err_no_memory(em);
    }
    for (; p->n < n; p->n++) {
        p->filters[p->n] = arena_str(arena, filters[p->n]);
        if (p->filters[p->n].p == NULL) {
            return err_no_memory(em);
        }
    }
    p->base.bind = multiplexer_bind;
    *out = &p->base;
    const void *distinct;
    enum err e = remove_duplicates_filter_new(&distinct, part, s, env, arena, em);
    p->distinct = e == ERR_OK ? distinct : NULL;
    return e != ERR_OK ? e : settings_bool(s, "preserve_original", true, &p->preserve, em);
}
