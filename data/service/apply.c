/* Applying cluster states: the indices and shards of this node become what the state says. All on the applier's strand. */
#include "data/recovery/recovery.h"
#include "data/replication/replication.h"
#include "data/search/search.h"
#include "data/service/service_int.h"

#include <stdlib.h>

struct apply {
    struct data_service *s;
    struct cluster_state *state;
    void (*done)(void *arg);
    void *arg;
};

/* ---- what goes ----------------------------------------------------------------------------------------- */

static void leave(void *arg)
{
    struct shard *sh = arg;
    shard_leave(sh);
    replication_stop(sh);
    shard_wake_unrefreshed(sh);
    recovery_step(sh, false);
    shard_unref(sh);
}

void service_remove_shards(struct data_service *s, struct str uuid, bool remove)
{
    for (struct shard *sh; (sh = tables_take_shard(s, uuid, remove)) != NULL;) {
        if (!shard_post_back(shard_ref(sh), leave, sh)) { /* nothing runs any more */
            recovery_abandon(sh);
            shard_unref(sh);
        }
        shard_unref(sh);
    }
}

static void drop_gone(struct data_service *s, const struct cluster_state *state)
{
    for (size_t i = 0; i < s->n_indices;) {
        struct index_service *ix = s->indices[i];
        const struct index_meta *m = cluster_index(state, ix->name); /* which never changes */
        if (m != NULL && str_eq(m->uuid, ix->uuid)) {
            i++;
            continue;
        }
        service_remove_shards(s, ix->uuid, true);
        index_service_unref(tables_take_index(s, i));
    }
}

/* ---- what changes -------------------------------------------------------------------------------------- */

void service_index_changed(struct shard *sh)
{
    replication_mapping_changed(sh);
    recovery_step(sh, false);
}

static void update_index(struct data_service *s, struct index_service *ix, const struct index_meta *m,
                         const struct cluster_state *state)
{
    ERR_LOCAL(em);
    struct index_change c;
    if (index_update(ix, s, m, &c, &em) != ERR_OK) {
        log_error(s->o.log, "data", "mapping of [%.*s] cannot be applied: %s", STR_ARG(ix->name),
                  err_reason(&em));
        if (c.opens) {
            data_refuse_copies(s, state, m, 0, m->n_shards, &em);
            return;
        }
    }
    shards_follow(s, ix, &c, service_index_changed);
}

/* ---- places -------------------------------------------------------------------------------------------- */

static struct shard *add_shard(struct data_service *s, struct index_service *ix, uint32_t number)
{
    struct shard *sh;
    ERR_LOCAL(em);
    if (shard_new(&sh, s, ix, number, &em) != ERR_OK) {
        log_error(s->o.log, "data", "no place for a shard: %s", err_reason(&em));
        return NULL;
    }
    if (!tables_add_shard(s, sh)) {
        shard_unref(sh);
        return NULL;
    }
    return sh;
}

struct role_run {
    struct shard *sh;
    struct cluster_state *state;
};

static void take_role(void *arg)
{
    struct role_run *r = arg;
    shard_take_role(r->sh, r->state);
    replication_follow(r->sh, r->state);
    recovery_step(r->sh, false);
    cluster_state_unref(r->state);
    shard_unref(r->sh);
    free(r);
}

static bool is_here(const struct data_service *s, const struct shard_routing *r)
{
    for (uint32_t k = 0; k < r->n; k++) {
        const struct shard_copy *c = &r->copies[k];
        if ((c->node.p != NULL && str_eq(c->node, s->node_id))
            || (c->state == COPY_RELOCATING && str_eq(c->target_node, s->node_id))) {
            return true;
        }
    }
    return false;
}

/* Every place of the index gets the state when its routing or metadata have changed, or the index is new here. */
static void follow_routing(struct data_service *s, struct index_service *ix, const struct index_meta *m,
                           struct cluster_state *state, bool new)
{
    const struct index_routing *r = cluster_routing(state, m->name);
    const struct index_routing *before =
        s->applier->state != NULL ? cluster_routing(s->applier->state, m->name) : NULL;
    const struct index_meta *meta_before =
        s->applier->state != NULL ? cluster_index(s->applier->state, m->name) : NULL;
    if (r == before && m == meta_before && !new) {
        return;
    }
    for (uint32_t i = 0; i < m->n_shards; i++) {
        struct shard *sh = tables_shard(s, ix->uuid, i);
        bool here = r != NULL && i < r->n && is_here(s, &r->shards[i]);
        if (sh == NULL && here) {
            sh = add_shard(s, ix, i);
        }
        struct role_run *run = sh != NULL ? malloc(sizeof(*run)) : NULL;
        if (run != NULL) {
            *run = (struct role_run){shard_ref(sh), cluster_state_ref(state)};
            shard_post_back(sh, take_role, run);
        } else if (here) {
            ERR_LOCAL(em);
            err_no_memory(&em);
            data_refuse_copies(s, state, m, i, i + 1, &em);
        }
    }
}

static struct index_service *add_index(struct data_service *s, const struct index_meta *m, struct errmsg *em)
{
    struct index_service *ix;
    if (index_service_new(&ix, s, m, em) != ERR_OK) {
        log_error(s->o.log, "data", "index [%.*s] cannot be opened: %s", STR_ARG(m->name), err_reason(em));
        return NULL;
    }
    if (!tables_add_index(s, ix)) {
        err_no_memory(em);
        index_service_unref(ix);
        return NULL;
    }
    return ix;
}

/* ---- states -------------------------------------------------------------------------------------------- */

static void done_with_state(struct apply *a)
{
    a->done(a->arg);
    free(a);
}

static bool is_stopping(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    bool is = s->stopping;
    pthread_mutex_unlock(&s->lock);
    return is;
}

static void apply_state(void *arg)
{
    struct apply *a = arg;
    struct data_service *s = a->s;
    if (is_stopping(s)) { /* thousands may wait; the next process takes the last one */
        cluster_state_unref(a->state);
        done_with_state(a);
        return;
    }
    searches_take_settings(s, a->state);
    recovery_take_settings(s, a->state);
    data_set_state(s, a->state);
    drop_gone(s, a->state);
    for (uint32_t i = 0; i < a->state->n_indices; i++) {
        const struct index_meta *m = a->state->indices[i];
        struct index_service *ix = tables_index(s, m->uuid);
        bool new = ix == NULL;
        ERR_LOCAL(em);
        if (new) {
            ix = add_index(s, m, &em);
        } else if (ix->version != m->version || ix->mapping_version != m->mapping_version
                   || ix->settings_version != m->settings_version || ix->closed != m->closed) {
            update_index(s, ix, m, a->state);
        }
        if (ix != NULL) {
            follow_routing(s, ix, m, a->state, new);
        } else {
            data_refuse_copies(s, a->state, m, 0, m->n_shards, &em);
        }
    }
    cluster_state_unref(s->applier->state);
    s->applier->state = a->state;
    done_with_state(a);
}

bool data_apply(struct data_service *s, struct cluster_state *state, void (*done)(void *arg), void *arg)
{
    struct apply *a = malloc(sizeof(*a));
    if (a == NULL
        || !(*a = (struct apply){s, cluster_state_ref(state), done, arg},
             executor_submit(strand_executor(s->applier->strand), apply_state, a))) {
        log_error(s->o.log, "data", "a cluster state cannot be applied: out of memory");
        if (a != NULL) {
            cluster_state_unref(state);
            free(a);
        }
        return false;
    }
    return true;
}
