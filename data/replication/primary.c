/* The primary's side of replication: beginning, keeping and ending to lead. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define LEASE_MS         (12 * 3600000LL) /* index.soft_deletes.retention_lease.period */
#define LEASE_RENEWAL_MS 30000            /* index.soft_deletes.retention_lease.sync_interval */

/* The global checkpoint has moved. */
void primary_moved(struct shard *sh)
{
    if (sh->engine == NULL) {
        return;
    }
    engine_set_global_checkpoint(sh->engine, sh->replication->tracker.global_checkpoint);
    for (struct fanout *f = sh->replication->lead.waiting, *next; f != NULL; f = next) {
        next = f->next;
        if (f->needs != SEQ_NONE) {
            fanout_wake_if_settled(f);
        }
    }
}

void primary_check_active(struct shard *sh)
{
    struct primary_side *p = &sh->replication->lead;
    if (!sh->replication->leads || p->active) {
        return;
    }
    for (struct copy_link *l = p->links; l != NULL; l = l->next) {
        if (l->resyncing && !l->gone && !l->ended) {
            return;
        }
    }
    p->active = true;
    requests_unpark(sh);
}

/* One link a copy, where the state says that it is. What is under way to copies that went ends. */
static enum err update_links(struct shard *sh, const struct cluster_state *state, struct errmsg *em)
{
    bool ok = true;
    for (struct copy_link *l = sh->replication->lead.links; l != NULL; l = l->next) {
        if (!l->ended && !l->gone && tracker_find(&sh->replication->tracker, l->allocation_id) == NULL) {
            /* It may come back, and ask for what it missed. */
            struct primary_side *p = &sh->replication->lead;
            p->lease_from = p->lease_from == SEQ_UNASSIGNED
                                ? l->persisted_checkpoint + 1
                                : MIN_OF(p->lease_from, l->persisted_checkpoint + 1);
            p->lease_ms = clock_mono_ms(sh->service->o.clock);
            l->gone = l->left = true;
            l->resyncing = false;
            link_cancel(l);
            link_settle_failed(l, NULL);
        }
    }
    for (uint32_t i = 0; ok && i < sh->replication->tracker.n; i++) {
        const struct tracked *c = &sh->replication->tracker.v[i];
        if (str_eq(c->allocation_id, sh->replication->tracker.own)) {
            continue;
        }
        struct copy_link *l = link_find(sh, c->allocation_id);
        l = l != NULL ? l : link_new(sh, c->allocation_id);
        ok = l != NULL && link_set_peer(l, c->node.p != NULL ? cluster_node(state, c->node) : NULL);
    }
    links_sweep(sh);
    return ok ? ERR_OK : err_no_memory(em);
}

static void stop_leading(struct shard *sh)
{
    struct errmsg em;
    struct primary_side *p = &sh->replication->lead;
    if (!sh->replication->leads) {
        return;
    }
    sh->replication->leads = false;
    p->active = p->deposed = false;
    primary_unknown(sh, &em);
    for (struct copy_link *l = p->links; l != NULL; l = l->next) {
        l->ended = true;
        link_cancel(l);
        link_settle_failed(l, &em);
    }
    for (struct fanout *f = p->waiting, *next; f != NULL; f = next) {
        next = f->next;
        if (f->pending == 0) { /* waits for a checkpoint that nobody moves any more */
            fanout_wake(f, &em);
        }
    }
    tracker_fini(&sh->replication->tracker);
    links_sweep(sh);
    requests_unpark(sh);
}

static enum err begin_leading(struct shard *sh, const struct index_meta *m, const struct shard_routing *r,
                              const struct cluster_state *state, struct errmsg *em)
{
    struct primary_side *p = &sh->replication->lead;
    uint64_t term = m->primary_terms[sh->number], filled;
    /* A copy that takes over from one that let go of its own accord has all that this one had, and so have the others. */
    bool promoted = sh->replication->replica.term < term;
    enum err e = engine_fill_gaps(sh->engine, (int64_t)term, &filled, em);
    e = e == ERR_OK ? tracker_init(&sh->replication->tracker, sh->role.allocation_id,
                                   engine_persisted_checkpoint(sh->engine),
                                   engine_global_checkpoint(sh->engine), m, sh->number, r, em)
                    : e;
    if (e != ERR_OK) {
        return e;
    }
    sh->replication->leads = true;
    sh->replication->replica.term = term;
    p->active = p->deposed = false;
    p->lease_from = SEQ_UNASSIGNED;
    e = update_links(sh, state, em);
    if (e != ERR_OK) {
        stop_leading(sh);
        return e;
    }
    primary_moved(sh); /* alone, what is on disk is everywhere */
    if (sh->replication->tracker.n > 1 && promoted) {
        shard_start_sync(sh); /* the gaps */
        links_resync(sh);
    }
    primary_check_active(sh);
    return ERR_OK;
}

/* A copy in sync on no node holds the global checkpoint back. The next write would have it marked stale; what waits for the
 * checkpoint already may be what no write can begin before: the end of a primary that moves. */
static void report_lost_copies(struct shard *sh)
{
    bool held = false;
    for (const struct fanout *f = sh->replication->lead.waiting; f != NULL; f = f->next) {
        held |= f->needs > sh->replication->tracker.global_checkpoint;
    }
    for (uint32_t i = 0; held && i < sh->replication->tracker.n; i++) {
        const struct tracked *c = &sh->replication->tracker.v[i];
        struct copy_link *l =
            c->in_sync && c->node.p == NULL && !str_eq(c->allocation_id, sh->replication->tracker.own)
                ? link_find(sh, c->allocation_id)
                : NULL;
        if (l != NULL) {
            link_ask_master(l, STR("it is on no node, and a request waits for it"));
        }
    }
}

static enum err keep_leading(struct shard *sh, const struct index_meta *m, const struct shard_routing *r,
                             const struct cluster_state *state, struct errmsg *em)
{
    int64_t before = sh->replication->tracker.global_checkpoint;
    enum err e = tracker_update(&sh->replication->tracker, m, sh->number, r, em);
    e = e == ERR_OK ? update_links(sh, state, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (sh->replication->tracker.global_checkpoint != before) {
        primary_moved(sh);
    }
    report_lost_copies(sh);
    primary_check_active(sh);
    bool all = true;
    for (uint32_t i = 0; i < r->n; i++) {
        all &= copy_active(&r->copies[i]);
    }
    if (all) {
        sh->replication->lead.lease_from = SEQ_UNASSIGNED;
    }
    return ERR_OK;
}

/* The first that is heard of a copy in this place: what it has, its primary has, or gives it before it is in sync. */
static void begin_copy(struct shard *sh, uint64_t term)
{
    struct replica_side *rs = &sh->replication->replica;
    if (str_is(sh->role.allocation_id, rs->allocation_id)) {
        return;
    }
    size_t n = MIN_OF(sh->role.allocation_id.n, sizeof(rs->allocation_id) - 1);
    memcpy(rs->allocation_id, sh->role.allocation_id.p != NULL ? sh->role.allocation_id.p : "", n);
    rs->allocation_id[n] = 0;
    rs->term = term;
    rs->resync_term = 0;
    rs->diverged = false;
    rs->retain_from = 0;
}

void replication_follow(struct shard *sh, const struct cluster_state *state)
{
    const struct index_meta *m = cluster_index_by_uuid(state, sh->index->uuid);
    const struct index_routing *ir = m != NULL ? cluster_routing(state, m->name) : NULL;
    const struct shard_routing *r = ir != NULL && sh->number < ir->n ? &ir->shards[sh->number] : NULL;
    bool leads = r != NULL && sh->role.primary && !sh->role.initializing && sh->life.of_role
                 && sh->engine != NULL && !sh->life.failing;
    struct errmsg em;
    enum err e = ERR_OK;
    if (m != NULL) {
        begin_copy(sh, m->primary_terms[sh->number]);
    }
    if (!leads || sh->replication->tracker.term != m->primary_terms[sh->number]
        || !str_eq(sh->replication->tracker.own, sh->role.allocation_id)) {
        stop_leading(sh);
    }
    if (leads) {
        e = sh->replication->leads ? keep_leading(sh, m, r, state, &em) : begin_leading(sh, m, r, state, &em);
    }
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "shard [%.*s][%u] cannot lead: %s", STR_ARG(sh->index->name),
                  sh->number, em.frame[0].reason);
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
    replica_give_up(sh);
}

void replication_persisted(struct shard *sh)
{
    if (!sh->replication->leads || sh->engine == NULL) {
        return;
    }
    if (tracker_advance(&sh->replication->tracker, sh->replication->tracker.own,
                        engine_persisted_checkpoint(sh->engine))) {
        primary_moved(sh);
    }
}

bool replication_track(struct shard *sh, struct str allocation_id, struct str node)
{
    return sh->replication->leads && sh->engine != NULL
           && tracker_track(&sh->replication->tracker, allocation_id, node, engine_max_seq_no(sh->engine));
}

void replication_advance(struct shard *sh, struct str allocation_id, int64_t local_checkpoint)
{
    struct replication *p = sh->replication;
    if (p->leads && tracker_advance(&p->tracker, allocation_id, local_checkpoint)) {
        primary_moved(sh);
    }
}

void replication_took_history(struct shard *sh, uint64_t term)
{
    struct replica_side *rs = &sh->replication->replica;
    rs->term = MAX_OF(rs->term, term);
}

bool replication_catch_up(struct shard *sh, struct str allocation_id, int64_t local_checkpoint, bool *now)
{
    *now = false;
    int64_t before = sh->replication->leads ? sh->replication->tracker.global_checkpoint : SEQ_NONE;
    if (!sh->replication->leads
        || !tracker_catch_up(&sh->replication->tracker, allocation_id, local_checkpoint, now)) {
        return false;
    }
    if (sh->replication->tracker.global_checkpoint != before) {
        primary_moved(sh);
    }
    return true;
}

/* ---- now and then ----------------------------------------------------------------------------------- */

void replication_retain(struct shard *sh)
{
    struct primary_side *p = &sh->replication->lead;
    sh->replication->lease_renewed_ms = clock_mono_ms(sh->service->o.clock);
    int64_t from = engine_global_checkpoint(sh->engine) + 1;
    if (!sh->replication->leads) {
        from = sh->role.primary ? from : MIN_OF(from, sh->replication->replica.retain_from);
        engine_set_retention(sh->engine, from);
        return;
    }
    if (p->lease_from != SEQ_UNASSIGNED && clock_mono_ms(sh->service->o.clock) - p->lease_ms < LEASE_MS) {
        from = MIN_OF(from, p->lease_from);
    }
    for (const struct copy_link *l = p->links; l != NULL; l = l->next) {
        if (!l->gone && !l->ended) {
            from = MIN_OF(from, l->persisted_checkpoint + 1);
        }
    }
    sh->replication->replica.retain_from = from;
    engine_set_retention(sh->engine, from);
}

/* A copy that has not heard of the global checkpoint; or, now and then, one whose answer came before all was on its
 * disk (asynchronous durability, another primary before this one). */
static bool worth_telling(struct shard *sh, const struct copy_link *l, int64_t now_ms)
{
    if (l->gone || l->ended || l->broken || l->sent != NULL || l->resyncing || l->peer.address.p == NULL
        || now_ms < l->tell_after_ms) {
        return false;
    }
    const struct tracked *c = tracker_find(&sh->replication->tracker, l->allocation_id);
    return c != NULL && tracker_sends_to(&sh->replication->tracker, c)
           && (l->known_checkpoint < sh->replication->tracker.global_checkpoint
               || c->local_checkpoint < engine_max_seq_no(sh->engine));
}

static void tell_checkpoints(struct shard *sh, int64_t now_ms)
{
    bool any = false;
    for (struct copy_link *l = sh->replication->lead.links; l != NULL; l = l->next) {
        if (!worth_telling(sh, l, now_ms)) {
            continue;
        }
        l->tell_after_ms =
            now_ms + (l->known_checkpoint < sh->replication->tracker.global_checkpoint ? 0 : TELL_AGAIN_MS);
        struct outgoing *o = outgoing_new(l, OUT_CHECKPOINT);
        if (o != NULL) {
            struct replication_msg m = {0};
            link_send(o, &m, 0, STR_NULL);
            any = true;
        }
    }
    if (any) {
        shard_start_sync(sh); /* this copy's disk hears of it, too */
    }
}

static void time_out(struct shard *sh, int64_t now_ms)
{
    struct errmsg em;
    err_set(&em, ERR_TIMEOUT,
            "shard [%.*s][%u]: not all copies have answered in time: the outcome is unknown",
            STR_ARG(sh->index->name), sh->number);
    for (struct fanout *f = sh->replication->lead.waiting, *next; f != NULL; f = next) {
        next = f->next;
        if (f->waiter->deadline_ms != 0 && f->waiter->deadline_ms <= now_ms) {
            fanout_wake(f, &em);
        }
    }
    err_set(&em, ERR_NOT_PRIMARY, "shard [%.*s][%u]: the primary has not begun to serve in time",
            STR_ARG(sh->index->name), sh->number);
    for (struct shard_waiter **at = &sh->replication->lead.parked; *at != NULL;) {
        struct shard_waiter *w = *at;
        if (w->deadline_ms != 0 && w->deadline_ms <= now_ms) {
            *at = w->next;
            w->wake(w, &em);
        } else {
            at = &w->next;
        }
    }
}

void replication_tick(struct shard *sh, int64_t now_ms)
{
    time_out(sh, now_ms);
    replica_tick(sh, now_ms);
    if (shard_is_open(sh) && now_ms - sh->replication->lease_renewed_ms >= LEASE_RENEWAL_MS) {
        replication_retain(sh);
    }
    if (!sh->replication->leads || sh->engine == NULL || sh->life.failing) {
        return;
    }
    tell_checkpoints(sh, now_ms);
    for (struct copy_link *l = sh->replication->lead.links; l != NULL; l = l->next) {
        if (l->broken && !l->event_out && !l->gone && !l->ended && !sh->replication->lead.deposed) {
            link_ask_master(l, STR("it has missed a write")); /* nobody waits for it; the checkpoint does */
        }
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
    p->leads = false;
    for (struct copy_link *l = p->lead.links; l != NULL; l = l->next) {
        l->ended = true;
    }
    links_sweep(sh);
    tracker_fini(&p->tracker);
    free(p->replica.own_terms);
    free(p);
    sh->replication = NULL;
}

const struct tracker *replication_tracker(const struct shard *sh)
{
    return sh->replication->leads ? &sh->replication->tracker : NULL;
}

const struct tracked *replication_copy(const struct shard *sh, struct str allocation_id)
{
    return sh->replication->leads ? tracker_find(&sh->replication->tracker, allocation_id) : NULL;
}

bool replication_handing_over(const struct shard *sh)
{
    return sh->replication->lead.handing_over;
}
