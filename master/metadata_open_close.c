/* Opening, closing and blocking indices. */
#include "master/metadata_int.h"

static void raise_terms(struct index_meta *m)
{
    for (uint32_t i = 0; i < m->n_shards; i++) {
        m->primary_terms[i]++;
    }
}

static bool set_closed(struct index_meta *m, bool closed)
{
    m->closed = closed;
    m->version++;
    m->settings_version++;
    raise_terms(m); /* its primaries are assigned anew */
    if (!closed) {
        settings_remove(&m->settings, setting_name(SET_INDEX_VERIFIED_BEFORE_CLOSE));
        return true;
    }
    return settings_put(&m->settings, setting_name(SET_INDEX_VERIFIED_BEFORE_CLOSE), STR("true"));
}

enum err meta_open_close(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                         struct errmsg *em)
{
    bool closed = rq->action == META_CLOSE_INDEX;
    enum err e = metadata_write_allowed(cur, rq, em);
    e = e == ERR_OK && !closed ? shard_limit_open(cur, rq, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < rq->n_names; i++) {
        const struct index_meta *old = cluster_index(cur, rq->names[i]);
        if (old->closed == closed) {
            continue;
        }
        struct index_meta *m = index_meta_copy(old);
        if (m == NULL || !set_closed(m, closed)) {
            state_part_unref(m != NULL ? &m->part : NULL);
            return err_no_memory(em);
        }
        rq->changed = true;
        if (!state_put_index(b, m)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}
