#include "engine/analysis/token.h"

struct str token_source(const struct token_list *l, const struct token *t)
{
    return t->end <= l->source.n && t->start <= t->end ? str_slice(l->source, t->start, t->end) : t->text;
}

void token_list_init(struct token_list *l, struct arena *arena)
{
    *l = (struct token_list){.arena = arena};
}

bool token_reserve(struct token_list *l, size_t n)
{
    if (l->cap > 0 || n == 0) {
        return true;
    }
    l->v = arena_alloc(l->arena, n * sizeof(*l->v));
    l->cap = l->v != NULL ? n : 0;
    return l->v != NULL;
}

bool token_add(struct token_list *l, struct token t)
{
    struct token *v = arena_grow(l->arena, l->v, l->n, &l->cap, sizeof(*v));
    if (v == NULL
        || (l->n % 256 == 255 && stop_now())) { /* texts look themselves where they are made: arena_alloc() */
        return false;
    }
    l->v = v;
    l->v[l->n++] = t;
    return true;
}
