#include "common/cluster/state_invariant.h"

#include <assert.h>

static void check_copy(const struct cluster_state *s, const struct shard_copy *c)
{
    bool unassigned = c->state == COPY_UNASSIGNED, moves = c->state == COPY_RELOCATING;
    assert(unassigned == (c->node.p == NULL) && unassigned == (c->allocation_id.p == NULL));
    assert(moves == (c->target_node.p != NULL) && moves == (c->target_id.p != NULL));
    assert(unassigned || cluster_node(s, c->node) != NULL);
    assert(!moves || cluster_node(s, c->target_node) != NULL);
}

static bool lies_at(const struct shard_copy *c, struct str node)
{
    return node.p != NULL
           && ((c->node.p != NULL && str_eq(c->node, node))
               || (c->target_node.p != NULL && str_eq(c->target_node, node)));
}

static bool has_id(const struct shard_copy *c, struct str id)
{
    return id.p != NULL
           && ((c->allocation_id.p != NULL && str_eq(c->allocation_id, id))
               || (c->target_id.p != NULL && str_eq(c->target_id, id)));
}

static void check_shard(const struct cluster_state *s, const struct shard_routing *r,
                        const struct str_set *in_sync)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct shard_copy *c = &r->copies[i];
        check_copy(s, c);
        assert(c->primary == (i == 0));
        assert(!copy_active(c) || str_set_has(in_sync, c->allocation_id));
        assert(i == 0 || c->state != COPY_INITIALIZING || copy_active(&r->copies[0]));
        for (uint32_t k = 0; k < i; k++) {
            assert(!lies_at(&r->copies[k], c->node) && !lies_at(&r->copies[k], c->target_node));
            assert(!has_id(&r->copies[k], c->allocation_id) && !has_id(&r->copies[k], c->target_id));
        }
    }
}

static void check_nodes(const struct nodes_part *n)
{
    bool master = n->master.p == NULL;
    for (uint32_t i = 0; i < n->n; i++) {
        assert(i == 0 || str_cmp(n->v[i - 1].id, n->v[i].id) < 0);
        master |= n->master.p != NULL && str_eq(n->v[i].id, n->master);
    }
    assert(master);
}

void state_invariant(const struct cluster_state *s)
{
    if (s->nodes != NULL) {
        check_nodes(s->nodes);
    }
    for (uint32_t i = 1; s->pipelines != NULL && i < s->pipelines->n; i++) {
        assert(str_cmp(s->pipelines->v[i - 1].id, s->pipelines->v[i].id) < 0);
    }
    for (uint32_t i = 1; s->scripts != NULL && i < s->scripts->n; i++) {
        assert(str_cmp(s->scripts->v[i - 1].id, s->scripts->v[i].id) < 0);
    }
    assert(s->n_routing == s->n_indices);
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct index_meta *m = s->indices[i];
        const struct index_routing *r = s->routing[i];
        assert(i == 0 || str_cmp(s->indices[i - 1]->name, m->name) < 0);
        assert(str_eq(m->name, r->name) && str_eq(m->uuid, r->uuid) && m->n_shards == r->n);
        for (uint32_t k = 0; k < r->n; k++) {
            assert(r->shards[k].n == 1 + m->n_replicas);
            check_shard(s, &r->shards[k], &m->in_sync[k]);
        }
    }
}
