#include "engine/analysis/token.h"

void token_list_init(struct token_list *l, struct arena *arena)
{
    *l = (struct token_list){.arena = arena};
}

bool token_add(struct token_list *l, struct token t)
{
    struct token *v = arena_grow(l->arena, l->v, l->n, &l->cap, sizeof(*v));
    if (v == NULL) {
        return false;
    }
    l->v = v;
    l->v[l->n++] = t;
    return true;
}
