#include "data/search/search_groups.h"

#include <stdlib.h>

void search_groups_init(struct search_groups *g)
{
    *g = (struct search_groups){0};
    pthread_mutex_init(&g->lock, NULL);
    arena_init(&g->names, NULL, ARENA_UNLIMITED);
}

void search_groups_fini(struct search_groups *g)
{
    free(g->v);
    arena_fini(&g->names);
    pthread_mutex_destroy(&g->lock);
}

/* NULL: no memory, or there are too many. */
static struct shard_search_group *group(struct search_groups *g, struct str name)
{
    for (uint32_t i = 0; i < g->n; i++) {
        if (str_eq(g->v[i].name, name)) {
            return &g->v[i];
        }
    }
    if (g->n == SEARCH_GROUPS_MAX) {
        return NULL;
    }
    if (g->n == g->cap) {
        uint32_t cap = g->cap == 0 ? 8 : g->cap * 2;
        struct shard_search_group *v = realloc(g->v, cap * sizeof(*v));
        if (v == NULL) {
            return NULL;
        }
        g->v = v;
        g->cap = cap;
    }
    struct str own = arena_str(&g->names, name);
    if (own.p == NULL) {
        return NULL;
    }
    g->v[g->n] = (struct shard_search_group){.name = own};
    return &g->v[g->n++];
}

void search_groups_add(struct search_groups *g, const struct str *names, uint32_t n,
                       const struct shard_search_group *one)
{
    if (n == 0) {
        return;
    }
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < n; i++) {
        struct shard_search_group *to = group(g, names[i]);
        if (to != NULL) {
            shard_search_group_add(to, one);
        }
    }
    pthread_mutex_unlock(&g->lock);
}

bool search_groups_copy(struct search_groups *g, struct arena *arena, const struct shard_search_group **out,
                        uint32_t *n)
{
    pthread_mutex_lock(&g->lock);
    struct shard_search_group *v = ARENA_ARRAY(arena, struct shard_search_group, g->n);
    bool ok = v != NULL;
    for (uint32_t i = 0; ok && i < g->n; i++) {
        v[i] = g->v[i];
        v[i].name = arena_str(arena, g->v[i].name);
        ok = v[i].name.p != NULL;
    }
    *out = v;
    *n = ok ? g->n : 0;
    pthread_mutex_unlock(&g->lock);
    return ok;
}
