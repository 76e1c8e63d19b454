/* The nodes' reports of copies become routing and in-sync sets. */
#include "master/allocation_int.h"

static bool find_assigned(const struct cluster_state *s, struct str uuid, uint32_t shard,
                          struct str allocation_id, const struct index_meta **m, uint32_t *copy, bool *target)
{
    *m = cluster_index_by_uuid(s, uuid);
    const struct index_routing *r = *m != NULL ? cluster_routing(s, (*m)->name) : NULL;
    if (r == NULL || shard >= r->n) {
        return false;
    }
    for (uint32_t k = 0; k < r->shards[shard].n; k++) {
        const struct shard_copy *c = &r->shards[shard].copies[k];
        *target = c->state == COPY_RELOCATING && str_eq(c->target_id, allocation_id);
        if (*target || (c->node.p != NULL && str_eq(c->allocation_id, allocation_id))) {
            *copy = k;
            return true;
        }
    }
    return false;
}

static bool replace_in_sync(struct index_meta *m, uint32_t shard, struct str_set next)
{
    m->in_sync[shard] = next;
    return next.v != NULL || next.n == 0;
}

enum err allocation_started(struct state_builder *b, struct str index_uuid, uint32_t shard,
                            struct str allocation_id, uint64_t primary_term, bool *changed, struct errmsg *em)
{
    const struct index_meta *m;
    uint32_t k;
    bool target;
    struct alloc a;
    struct alloc_env env = {0};
    *changed = false;
    if (!find_assigned(b->next, index_uuid, shard, allocation_id, &m, &k, &target)) {
        return ERR_OK;
    }
    const struct shard_copy *now = &cluster_routing(b->next, m->name)->shards[shard].copies[k];
    if ((now->state != COPY_INITIALIZING && !target)
        || (primary_term != 0 && primary_term != m->primary_terms[shard])) {
        return ERR_OK; /* told twice, or from before the primary changed: it recovers again */
    }
    alloc_begin(&a, &env, b, em);
    struct index_routing *r = alloc_routing(&a, m->name);
    struct index_meta *mine = alloc_meta(&a, m->name);
    if (r != NULL && mine != NULL) {
        struct shard_copy *c = &r->shards[shard].copies[k];
        struct str_set *in = &mine->in_sync[shard];
        struct arena *arena = &mine->part.arena;
        bool reused = str_set_has(in, allocation_id);
        bool ok = true;
        if (target) {
            struct str_set with = str_set_with(in, c->target_id, arena);
            ok = with.v != NULL
                 && replace_in_sync(mine, shard, str_set_without(&with, c->allocation_id, arena));
            c->node = c->target_node;
            c->allocation_id = c->target_id;
            c->target_node = c->target_id = STR_NULL;
        } else if (c->primary && !reused) { /* a new shard, or one that was forced to begin anew */
            struct str_set none = {0};
            ok = replace_in_sync(mine, shard, str_set_with(&none, allocation_id, arena));
        } else {
            ok = replace_in_sync(mine, shard, str_set_with(in, allocation_id, arena));
        }
        c->state = COPY_STARTED;
        c->trouble = (struct copy_trouble){0};
        if (!ok) {
            alloc_no_memory(&a);
        }
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}

enum err allocation_failed(const struct alloc_env *env, struct state_builder *b, struct str index_uuid,
                           uint32_t shard, struct str allocation_id, struct str why, bool *changed,
                           struct errmsg *em)
{
    const struct index_meta *m;
    uint32_t k;
    bool target;
    struct alloc a;
    *changed = false;
    if (!find_assigned(b->next, index_uuid, shard, allocation_id, &m, &k, &target)) {
        return ERR_OK;
    }
    alloc_begin(&a, env, b, em);
    if (a.err == ERR_OK && target) {
        alloc_cancel_move(&a, m->name, shard, k);
    } else if (a.err == ERR_OK) {
        alloc_unassign(&a, m->name, shard, k, REASON_ALLOCATION_FAILED, why, true);
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}

enum err allocation_mark_stale(const struct alloc_env *env, struct state_builder *b, struct str index_uuid,
                               uint32_t shard, struct str allocation_id, uint64_t primary_term,
                               struct str why, bool *changed, struct errmsg *em)
{
    struct alloc a;
    const struct index_meta *m = cluster_index_by_uuid(b->next, index_uuid), *found;
    uint32_t k;
    bool target;
    *changed = false;
    if (m == NULL || shard >= m->n_shards) {
        return ERR_OK;
    }
    if (m->primary_terms[shard] != primary_term) {
        return err_set(em, ERR_STALE_TERM, "primary term [%llu] did not match current primary term [%llu]",
                       (unsigned long long)primary_term, (unsigned long long)m->primary_terms[shard]);
    }
    alloc_begin(&a, env, b, em);
    if (a.err == ERR_OK && find_assigned(b->next, index_uuid, shard, allocation_id, &found, &k, &target)) {
        if (target) {
            alloc_cancel_move(&a, m->name, shard, k);
        } else if (k > 0) { /* a primary does not call itself stale */
            alloc_unassign(&a, m->name, shard, k, REASON_ALLOCATION_FAILED, why, true);
        }
    }
    if (a.err == ERR_OK && str_set_has(&m->in_sync[shard], allocation_id)) {
        struct index_meta *mine = alloc_meta(&a, m->name);
        if (mine != NULL && mine->in_sync[shard].n > 1
            && !replace_in_sync(mine, shard,
                                str_set_without(&mine->in_sync[shard], allocation_id, &mine->part.arena))) {
            alloc_no_memory(&a);
        }
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}
