/* Copies that cannot even be begun on this node, because their index cannot be opened here (a file that its analysis names is not on this
 * node, say): the master gets the reason. Else it would wait for them, and so would all that comes behind them. */
#include "data/service/service_int.h"

static void refuse_copy(struct data_service *s, const struct index_meta *m, uint32_t shard,
                        struct str allocation_id, const struct errmsg *why)
{
    struct shard_event e = {.kind = SHARD_EVENT_FAILED,
                            .index_uuid = m->uuid,
                            .shard = shard,
                            .allocation_id = allocation_id,
                            .why = str_of(err_is(why) ? err_reason(why) : "unknown")};
    (void)s->o.shard_event(s->o.node_self, &e, NULL, NULL); /* what the next state says of the copy counts */
}

void data_refuse_copies(struct data_service *s, const struct cluster_state *state, const struct index_meta *m,
                        uint32_t from, uint32_t to, const struct errmsg *why)
{
    const struct index_routing *r = cluster_routing(state, m->name);
    for (uint32_t i = from; r != NULL && s->o.shard_event != NULL && i < to && i < r->n; i++) {
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            const struct shard_copy *c = &r->shards[i].copies[k];
            if (c->node.p != NULL && str_eq(c->node, s->node_id)) {
                refuse_copy(s, m, i, c->allocation_id, why);
            } else if (c->state == COPY_RELOCATING && str_eq(c->target_node, s->node_id)) {
                refuse_copy(s, m, i, c->target_id, why);
            }
        }
    }
}
