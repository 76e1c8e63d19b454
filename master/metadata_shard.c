/* Primaries that stop serving, and serve again. */
#include "master/metadata_int.h"

void index_raise_terms(struct index_meta *m)
{
    for (uint32_t i = 0; i < m->n_shards; i++) {
        m->primary_terms[i]++;
    }
}

static enum err down(const struct metadata_env *env, const struct cluster_state *cur, struct meta_request *rq,
                     struct state_builder *b, struct errmsg *em)
{
    const struct shard_report *r = &rq->shard;
    const struct shard_down *known = cluster_shard_down(cur, r->uuid, r->shard);
    struct down_part *p = down_part_without(cur->down, r->uuid, r->shard);
    if (p == NULL) {
        return err_no_memory(em);
    }
    struct shard_down *d = &p->v[p->n++];
    *d = (struct shard_down){.uuid = arena_str(&p->part.arena, r->uuid),
                             .shard = r->shard,
                             .since_ms = known != NULL ? known->since_ms : clock_wall_ms(env->clock),
                             .tries = r->tries,
                             .details = arena_str(&p->part.arena, r->details)};
    if (d->uuid.p == NULL || d->details.p == NULL) {
        state_part_unref(&p->part);
        return err_no_memory(em);
    }
    state_put_down(b, p);
    rq->changed = true;
    return ERR_OK;
}

/* Operations that were never acknowledged may be lost with the failed copy: their numbers come again under
 * another term. */
static enum err up(const struct cluster_state *cur, const struct index_meta *old, struct meta_request *rq,
                   struct state_builder *b, struct errmsg *em)
{
    const struct shard_report *r = &rq->shard;
    struct down_part *p = down_part_without(cur->down, r->uuid, r->shard);
    struct index_meta *m = index_meta_copy(old);
    if (p == NULL || m == NULL) {
        state_part_unref(p != NULL ? &p->part : NULL);
        state_part_unref(m != NULL ? &m->part : NULL);
        return err_no_memory(em);
    }
    m->version++;
    m->primary_terms[r->shard]++;
    if (p->n == 0) {
        state_part_unref(&p->part);
        p = NULL;
    }
    state_put_down(b, p);
    rq->changed = true;
    return state_put_index(b, m) ? ERR_OK : err_no_memory(em);
}

enum err meta_shard(const struct metadata_env *env, const struct cluster_state *cur, struct meta_request *rq,
                    struct state_builder *b, struct errmsg *em)
{
    const struct index_meta *m = cluster_index_by_uuid(cur, rq->shard.uuid);
    if (m == NULL || rq->shard.shard >= m->n_shards) {
        return ERR_OK; /* deleted meanwhile */
    }
    return rq->action == META_SHARD_DOWN ? down(env, cur, rq, b, em) : up(cur, m, rq, b, em);
}
