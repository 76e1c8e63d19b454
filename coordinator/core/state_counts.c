#include "coordinator/core/state_counts.h"

static struct str master_of(const struct cluster_state *s)
{
    return s != NULL && s->nodes != NULL && s->nodes->master.p != NULL ? s->nodes->master : STR("");
}

static const struct shard_copy *copy_called(const struct shard_routing *s, struct str id)
{
    for (uint32_t k = 0; s != NULL && k < s->n; k++) {
        if ((s->copies[k].allocation_id.p != NULL && str_eq(s->copies[k].allocation_id, id))
            || (s->copies[k].target_id.p != NULL && str_eq(s->copies[k].target_id, id))) {
            return &s->copies[k];
        }
    }
    return NULL;
}

static void count_shard(struct state_counts *c, const struct shard_routing *from,
                        const struct shard_routing *to)
{
    for (uint32_t k = 0; k < to->n; k++) {
        const struct shard_copy *now = &to->copies[k];
        const struct shard_copy *was =
            now->allocation_id.p != NULL ? copy_called(from, now->allocation_id) : NULL;
        bool served = was != NULL && copy_active(was) && str_eq(was->allocation_id, now->allocation_id);
        c->started += copy_active(now) && !served;
        c->promoted += served && now->primary && !was->primary;
        c->moved += now->state == COPY_RELOCATING && (was == NULL || was->state != COPY_RELOCATING);
        if (now->state == COPY_UNASSIGNED && now->trouble.reason == REASON_ALLOCATION_FAILED
            && from != NULL) {
            uint32_t before = k < from->n ? from->copies[k].trouble.failed : 0;
            c->failed += now->trouble.failed > before;
        }
    }
}

void state_counts_add(struct state_counts *c, const struct cluster_state *from,
                      const struct cluster_state *to)
{
    struct str was = master_of(from), is = master_of(to);
    c->states++;
    c->masters += is.n > 0 && !str_eq(was, is);
    c->no_masters += was.n > 0 && is.n == 0;
    for (uint32_t i = 0; i < to->n_routing; i++) {
        const struct index_routing *now = to->routing[i];
        const struct index_routing *before = from != NULL ? cluster_routing(from, now->name) : NULL;
        before = before != NULL && str_eq(before->uuid, now->uuid) ? before : NULL;
        if (before == now) { /* the very same part */
            continue;
        }
        for (uint32_t k = 0; k < now->n; k++) {
            count_shard(c, before != NULL && k < before->n ? &before->shards[k] : NULL, &now->shards[k]);
        }
    }
}
