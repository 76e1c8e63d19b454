/* The primary's side of replication: beginning, keeping and ending to lead. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define LEASE_RENEWAL_MS 30000 /* index.soft_deletes.retention_lease.sync_interval */

/* One link a copy, where the state says that it is. What is under way to copies that went ends. */
static enum err update_links(struct shard *sh, const struct cluster_state *state, struct errmsg *em)
{
    struct group *g = &sh->replication->group;
    bool ok = true;
    group_forget_gone(g, clock_mono_ms(sh->service->o.clock));
    for (uint32_t i = 0; ok && i < g->tracker.n; i++) {
        const struct tracked *t = &g->tracker.v[i];
        if (str_eq(t->allocation_id, g->tracker.own)) {
            continue;
        }
        struct group_copy *c = group_find(g, t->allocation_id);
        struct copy_link *l =
            c != NULL ? CONTAINER_OF(c, struct copy_link, c) : link_new(sh, t->allocation_id);
        ok = l != NULL && link_set_peer(l, t->node.p != NULL ? cluster_node(state, t->node) : NULL);
    }
    return ok ? ERR_OK : err_no_memory(em);
}

static void stop_leading(struct shard *sh)
{
    struct group *g = &sh->replication->group;
    if (g->leads) {
        group_stop(g);
        tracker_fini(&g->tracker);
        group_perform(sh);
    }
}

static enum err begin_leading(struct shard *sh, const struct index_meta *m, const struct shard_routing *r,
                              const struct cluster_state *state, struct errmsg *em)
{
    struct group *g = &sh->replication->group;
    uint64_t term = m->primary_terms[sh->number], filled;
    /* A copy that takes over from a primary that handed over has all that this one had, and so have the others. */
    bool promoted = sh->replication->follower.term < term;
    enum err e = engine_fill_gaps(sh->engine, (int64_t)term, &filled, em);
    e = e == ERR_OK
            ? tracker_init(&g->tracker, sh->role.allocation_id, engine_persisted_checkpoint(sh->engine),
                           engine_global_checkpoint(sh->engine), m, sh->number, r, em)
            : e;
    if (e != ERR_OK) {
        return e;
    }
    replication_took_history(sh, term);
    group_begin(g);
    e = update_links(sh, state, em);
    if (e != ERR_OK) {
        stop_leading(sh);
        return e;
    }
    if (g->tracker.n > 1 && promoted) {
        shard_start_sync(sh); /* the gaps */
    }
    group_serve(g, promoted);
    group_perform(sh);
    return ERR_OK;
}

static enum err keep_leading(struct shard *sh, const struct index_meta *m, const struct shard_routing *r,
                             const struct cluster_state *state, struct errmsg *em)
{
    struct group *g = &sh->replication->group;
    int64_t before = g->tracker.global_checkpoint;
    enum err e = tracker_update(&g->tracker, m, sh->number, r, em);
    e = e == ERR_OK ? update_links(sh, state, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (g->tracker.global_checkpoint != before) {
        group_checkpoint_moved(g);
    }
    group_report_lost(g);
    group_check_active(g);
    bool all = true;
    for (uint32_t i = 0; i < r->n; i++) {
        all &= copy_active(&r->copies[i]);
    }
    if (all) {
        group_end_lease(g);
    }
    group_perform(sh);
    return ERR_OK;
}

void replication_follow(struct shard *sh, const struct cluster_state *state)
{
    const struct index_meta *m = cluster_index_by_uuid(state, sh->index->uuid);
    const struct index_routing *ir = m != NULL ? cluster_routing(state, m->name) : NULL;
    const struct shard_routing *r = ir != NULL && sh->number < ir->n ? &ir->shards[sh->number] : NULL;
    bool leads = r != NULL && sh->role.primary && !sh->role.initializing && sh->life.of_role
                 && sh->engine != NULL && !sh->life.failing;
    ERR_LOCAL(em);
    enum err e = ERR_OK;
    if (m != NULL && !str_is(sh->role.allocation_id, sh->replication->follower.id)) {
        sh->replication->retain_from = 0; /* that was another copy's */
        replica_step(sh, &(struct follower_event){.kind = FOLLOWER_COPY,
                                                  .id = sh->role.allocation_id,
                                                  .term = m->primary_terms[sh->number]});
    }
    if (!leads || sh->replication->group.tracker.term != m->primary_terms[sh->number]
        || !str_eq(sh->replication->group.tracker.own, sh->role.allocation_id)) {
        stop_leading(sh);
    }
    if (leads) {
        e = sh->replication->group.leads ? keep_leading(sh, m, r, state, &em)
                                         : begin_leading(sh, m, r, state, &em);
    }
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "shard [%.*s][%u] cannot lead: %s", STR_ARG(sh->index->name),
                  sh->number, err_reason(&em));
        stop_leading(sh);
        shard_fail(sh, &em);
    }
    if (sh->engine != NULL && !sh->life.failing) {
        replication_retain(sh);
    }
}

void replication_stop(struct shard *sh)
{
    stop_leading(sh);
    replica_step(sh, &(struct follower_event){.kind = FOLLOWER_STOP});
}

static void advance(struct shard *sh, struct str allocation_id, int64_t local_checkpoint)
{
    struct group *g = &sh->replication->group;
    if (g->leads && tracker_advance(&g->tracker, allocation_id, local_checkpoint)) {
        group_checkpoint_moved(g);
        group_perform(sh);
    }
}

void replication_persisted(struct shard *sh)
{
    if (sh->engine != NULL && sh->replication->group.leads) {
        advance(sh, sh->replication->group.tracker.own, engine_persisted_checkpoint(sh->engine));
    }
}

/* What another node says of a copy: of another one than this, and nothing that cannot be. */
static bool is_credible(const struct shard *sh, struct str allocation_id, int64_t local_checkpoint)
{
    const struct tracker *t = replication_tracker(sh);
    return t != NULL && sh->engine != NULL && !str_eq(allocation_id, t->own)
           && tracker_believes(t, allocation_id, local_checkpoint, engine_max_seq_no(sh->engine));
}

bool replication_track(struct shard *sh, struct str allocation_id, struct str node)
{
    struct group *g = &sh->replication->group;
    return g->leads && sh->engine != NULL
           && tracker_track(&g->tracker, allocation_id, node, engine_max_seq_no(sh->engine));
}

void replication_advance(struct shard *sh, struct str allocation_id, int64_t local_checkpoint)
{
    if (is_credible(sh, allocation_id, local_checkpoint)) {
        advance(sh, allocation_id, local_checkpoint);
    }
}

bool replication_catch_up(struct shard *sh, struct str allocation_id, int64_t local_checkpoint, bool *now)
{
    struct group *g = &sh->replication->group;
    *now = false;
    int64_t before = g->leads ? g->tracker.global_checkpoint : SEQ_NONE;
    if (!is_credible(sh, allocation_id, local_checkpoint)
        || !tracker_catch_up(&g->tracker, allocation_id, local_checkpoint, now)) {
        return false;
    }
    if (g->tracker.global_checkpoint != before) {
        group_checkpoint_moved(g);
        group_perform(sh);
    }
    return true;
}

/* ---- now and then ----------------------------------------------------------------------------------- */

void replication_retain(struct shard *sh)
{
    struct replication *p = sh->replication;
    int64_t from = engine_global_checkpoint(sh->engine) + 1;
    p->lease_renewed_ms = clock_mono_ms(sh->service->o.clock);
    if (p->group.leads) {
        from = p->retain_from = group_retain_from(&p->group, from, p->lease_renewed_ms);
    } else if (!sh->role.primary) {
        from = MIN_OF(from, p->retain_from);
    }
    engine_set_retention(sh->engine, from);
}

void replication_tick(struct shard *sh, int64_t now_ms)
{
    struct group *g = &sh->replication->group;
    group_expire(g, now_ms);
    group_perform(sh);
    replica_step(sh, &(struct follower_event){.kind = FOLLOWER_TICK, .now_ms = now_ms});
    if (!shard_is_open(sh)) {
        return;
    }
    if (now_ms - sh->replication->lease_renewed_ms >= LEASE_RENEWAL_MS) {
        replication_retain(sh);
    }
    if (g->leads) {
        group_tick(g, now_ms, engine_max_seq_no(sh->engine));
        group_perform(sh);
    }
}

/* ---- the shard's part ------------------------------------------------------------------------------- */

enum err replication_new(struct shard *sh, struct errmsg *em)
{
    sh->replication = calloc(1, sizeof(*sh->replication));
    return sh->replication != NULL ? ERR_OK : err_no_memory(em);
}

void replication_free(struct shard *sh)
{
    struct replication *p = sh->replication;
    if (p == NULL) {
        return;
    }
    group_stop(&p->group);
    group_perform(sh);
    tracker_fini(&p->group.tracker);
    free(p->own_terms);
    free(p);
    sh->replication = NULL;
}

const struct tracker *replication_tracker(const struct shard *sh)
{
    return sh->replication->group.leads ? &sh->replication->group.tracker : NULL;
}

const struct tracked *replication_copy(const struct shard *sh, struct str allocation_id)
{
    struct group *g = &sh->replication->group;
    bool other = g->leads && !str_eq(allocation_id, g->tracker.own);
    return other ? tracker_find(&g->tracker, allocation_id) : NULL;
}

bool replication_handing_over(const struct shard *sh)
{
    return sh->replication->group.handing_over;
}
