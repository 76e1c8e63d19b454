#include "engine/analysis/registry.h"

void chain_init(struct chain *c, const struct part_builder *b, struct str name)
{
    *c = (struct chain){.b = b, .an = {.name = name, .position_increment_gap = 100}};
}

/* Appends a pointer to a growing array of them. */
static bool push_part(struct arena *arena, const void ***v, size_t n, size_t *cap, const void *part)
{
    const void **grown = arena_grow(arena, *v, n, cap, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    grown[n] = part;
    *v = grown;
    return true;
}

static bool push_name(struct arena *arena, struct str **v, size_t n, size_t *cap, struct str name)
{
    struct str *grown = arena_grow(arena, *v, n, cap, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    grown[n] = name;
    *v = grown;
    return true;
}

/* Why a part cannot be used: of the character filters, of the tokenizer, of the filters in their order. */
static const struct errmsg *first_unusable(const struct analyzer *an)
{
    for (size_t i = 0; i < an->n_char_filters; i++) {
        if (an->char_filters[i]->unusable != NULL) {
            return an->char_filters[i]->unusable;
        }
    }
    if (an->tokenizer != NULL && an->tokenizer->unusable != NULL) {
        return an->tokenizer->unusable;
    }
    for (size_t i = 0; i < an->n_filters; i++) {
        if (an->filters[i]->unusable != NULL) {
            return an->filters[i]->unusable;
        }
    }
    return NULL;
}

enum err chain_add_char_filter(struct chain *c, const struct char_filter *f, struct str name,
                               struct errmsg *em)
{
    const void **v = (const void **)c->an.char_filters;
    size_t n = c->an.n_char_filters;
    if (!push_part(c->b->arena, &v, n, &c->char_filters_cap, f)
        || !push_name(c->b->arena, &c->char_filter_names, n, &c->char_filter_names_cap, name)) {
        return err_no_memory(em);
    }
    c->an.char_filters = (const struct char_filter **)v;
    c->an.n_char_filters++;
    return ERR_OK;
}

static const struct token_filter *find_filter(void *self, struct str name, enum err *e, struct errmsg *em)
{
    const struct chain *c = self;
    const void *part;
    *e = part_by_name(&part, PART_TOKEN_FILTER, name, c->b, em);
    if (*e == ERR_OK && part == NULL && c->b->bare != BARE_IN_SETTINGS) {
        *e = part_not_found(PART_TOKEN_FILTER, name, c->b, em);
    }
    return part;
}

enum err chain_add_filter(struct chain *c, const struct token_filter *f, struct str name, struct errmsg *em)
{
    struct analyzer *an = &c->an;
    an->search_only |= f->search_only;
    if (f->bind != NULL && first_unusable(an) == NULL) {
        struct part_chain before = {.analyzer = an->name,
                                    .char_filters = an->char_filters,
                                    .n_char_filters = an->n_char_filters,
                                    .tokenizer = an->tokenizer,
                                    .filters = an->filters,
                                    .filter_names = c->filter_names,
                                    .n_filters = an->n_filters,
                                    .find_filter = find_filter,
                                    .self = c};
        enum err e = f->bind(f, &before, c->b->arena, &f, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    const void **v = (const void **)an->filters;
    if (!push_part(c->b->arena, &v, an->n_filters, &c->filters_cap, f)
        || !push_name(c->b->arena, &c->filter_names, an->n_filters, &c->filter_names_cap, name)) {
        return err_no_memory(em);
    }
    an->filters = (const struct token_filter **)v;
    an->n_filters++;
    return ERR_OK;
}

enum err chain_add_builtin(struct chain *c, enum part_kind kind, const char *name, const char *settings,
                           struct errmsg *em)
{
    struct settings s;
    const void *part;
    bool known;
    if (!settings_of_text(&s, settings, c->b->arena)) {
        return err_no_memory(em);
    }
    enum err e = settings == NULL ? part_by_name(&part, kind, str_of(name), c->b, em)
                                  : part_new(&part, kind, str_of(name), str_of(name), &s, c->b, &known, em);
    if (e != ERR_OK) {
        return e;
    }
    assert(part != NULL);
    if (kind == PART_TOKENIZER) {
        c->an.tokenizer = part;
        c->an.tokenizer_name = str_of(name);
        return ERR_OK;
    }
    return kind == PART_TOKEN_FILTER ? chain_add_filter(c, part, str_of(name), em)
                                     : chain_add_char_filter(c, part, str_of(name), em);
}

enum err chain_end(struct chain *c, const struct analyzer **out, struct errmsg *em)
{
    const struct errmsg *why = first_unusable(&c->an);
    if (why != NULL) {
        if (em != NULL) {
            err_copy(em, why);
        }
        return ERR_PART_UNUSABLE;
    }
    struct analyzer *an = ARENA_NEW(c->b->arena, struct analyzer);
    if (an == NULL) {
        return err_no_memory(em);
    }
    c->an.char_filter_names = c->char_filter_names;
    c->an.filter_names = c->filter_names;
    *an = c->an;
    *out = an;
    return ERR_OK;
}
