/* Balance: the node where one more copy weighs least, the copies that must move, and those that may move for balance. */
#include "master/allocation_int.h"

#define REBALANCE_ROUNDS 64 /* moves begun in one allocation at most; concurrency limits bind earlier */

void balance_count_index(struct alloc *a, const struct index_routing *r)
{
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        a->nodes[i].of_index = 0;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            const struct shard_copy *c = &r->shards[i].copies[k];
            struct str at = c->state == COPY_RELOCATING ? c->target_node : c->node;
            struct alloc_node *n = at.p != NULL ? alloc_node_of(a, at) : NULL;
            if (n != NULL) {
                n->of_index++;
            }
        }
    }
}

void balance_read_factors(struct alloc *a)
{
    double by_index = cluster_setting_double(a->b->next, SET_CLUSTER_ROUTING_ALLOCATION_BALANCE_INDEX);
    double by_shard = cluster_setting_double(a->b->next, SET_CLUSTER_ROUTING_ALLOCATION_BALANCE_SHARD);
    a->by_index = by_index / (by_index + by_shard);
    a->by_shard = by_shard / (by_index + by_shard);
    a->threshold = cluster_setting_double(a->b->next, SET_CLUSTER_ROUTING_ALLOCATION_BALANCE_THRESHOLD);
}

double balance_weight(const struct alloc *a, const struct index_meta *m, const struct alloc_node *n)
{
    double nodes = a->n_nodes, of_index = (double)m->n_shards * (m->n_replicas + 1.0);
    return a->by_shard * (n->shards - a->shards / nodes) + a->by_index * (n->of_index - of_index / nodes);
}

struct alloc_node *balance_best(struct alloc *a, const struct index_meta *m, const struct index_routing *r,
                                const struct shard_routing *s, const struct shard_copy *c, bool *throttled)
{
    struct alloc_node *best = NULL;
    double weight = 0;
    balance_count_index(a, r);
    *throttled = false;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        struct alloc_node *n = &a->nodes[i];
        double w = balance_weight(a, m, n);
        if (best != NULL && w >= weight) {
            continue;
        }
        enum decision d = decide_allocate(a, m, s, c, n, NULL);
        *throttled |= d == DECIDE_THROTTLE;
        if (d == DECIDE_YES) {
            best = n;
            weight = w;
        }
    }
    return best;
}

/* The lightest node that takes a copy off another; NULL: none. */
static struct alloc_node *best_target(struct alloc *a, const struct index_meta *m,
                                      const struct shard_routing *s, const struct shard_copy *c)
{
    struct alloc_node *best = NULL;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        struct alloc_node *n = &a->nodes[i];
        if (!str_eq(n->node->id, c->node)
            && (best == NULL || balance_weight(a, m, n) < balance_weight(a, m, best))
            && decide_allocate(a, m, s, c, n, NULL) == DECIDE_YES) {
            best = n;
        }
    }
    return best;
}

void balance_moves(struct alloc *a)
{
    const struct cluster_state *st = a->b->next;
    for (uint32_t i = 0; i < st->n_routing && a->err == ERR_OK; i++) {
        const struct index_meta *m = cluster_index(st, st->routing[i]->name);
        for (uint32_t shard = 0; shard < st->routing[i]->n; shard++) {
            for (uint32_t k = 0; k < st->routing[i]->shards[shard].n; k++) {
                const struct shard_routing *s = &st->routing[i]->shards[shard];
                const struct shard_copy *c = &s->copies[k];
                struct alloc_node *at = c->state == COPY_STARTED ? alloc_node_of(a, c->node) : NULL;
                if (at == NULL || decide_remain(a, m, s, c, at, NULL) != DECIDE_NO) {
                    continue;
                }
                balance_count_index(a, st->routing[i]);
                struct alloc_node *to = best_target(a, m, s, c);
                struct index_routing *mine = to != NULL ? alloc_routing(a, m->name) : NULL;
                if (mine != NULL) {
                    alloc_relocate(a, mine, &mine->shards[shard].copies[k], to);
                }
            }
        }
    }
}

/* Weighs every node for another copy of the index; returns the least. */
static double weigh(struct alloc *a, const struct index_meta *m, const struct index_routing *r)
{
    double least = 0;
    balance_count_index(a, r);
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        a->nodes[i].weight = balance_weight(a, m, &a->nodes[i]);
        least = i == 0 ? a->nodes[i].weight : MIN_OF(least, a->nodes[i].weight);
    }
    return least;
}

/* One move that makes the index's share of a heavy node lighter by more than the threshold; false: none is
 * worth it. */
static bool move_one(struct alloc *a, const struct index_meta *m)
{
    const struct index_routing *r = cluster_routing(a->b->next, m->name);
    const struct shard_routing *from_shard = NULL;
    uint32_t from_copy = 0;
    struct alloc_node *to = NULL;
    double gain = MAX_OF(a->threshold, 1.0) + 0.001; /* less would only swap the weights of two nodes */
    double least = weigh(a, m, r);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct shard_routing *s = &r->shards[i];
        for (uint32_t k = 0; k < s->n; k++) {
            const struct shard_copy *c = &s->copies[k];
            struct alloc_node *at = c->state == COPY_STARTED ? alloc_node_of(a, c->node) : NULL;
            if (at == NULL || at->weight - least <= gain
                || decide_rebalance(a, m, s, c, NULL) != DECIDE_YES) {
                continue;
            }
            for (uint32_t n = 0; n < a->n_nodes; n++) {
                struct alloc_node *x = &a->nodes[n];
                double g = at->weight - x->weight;
                if (x != at && g > gain && decide_allocate(a, m, s, c, x, NULL) == DECIDE_YES) {
                    gain = g;
                    to = x;
                    from_shard = s;
                    from_copy = k;
                }
            }
        }
    }
    if (to == NULL) {
        return false;
    }
    uint32_t shard = (uint32_t)(from_shard - r->shards);
    struct index_routing *mine = alloc_routing(a, m->name);
    if (mine != NULL) {
        alloc_relocate(a, mine, &mine->shards[shard].copies[from_copy], to);
    }
    return mine != NULL;
}

void balance_rebalance(struct alloc *a)
{
    const struct cluster_state *s = a->b->next;
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        least = MIN_OF(least, a->nodes[i].shards);
        most = MAX_OF(most, a->nodes[i].shards);
    }
    if (a->n_nodes < 2 || most == 0) {
        return;
    }
    uint32_t moves = 0;
    for (uint32_t i = 0; i < s->n_indices && a->err == ERR_OK; i++) {
        const struct index_meta *m = s->indices[i];
        while (moves < REBALANCE_ROUNDS && decide_rebalance_at_all(a) == DECIDE_YES
               && cluster_routing(s, m->name) != NULL && move_one(a, m)) {
            moves++;
        }
        if (moves == REBALANCE_ROUNDS || decide_rebalance_at_all(a) != DECIDE_YES) {
            return;
        }
    }
}
