/* The life of one copy of a shard: assigned, opened, reported, failed, closed.
 *
 * A shard is a place in this node's tables; the routing says which copy is to be in it. A state that puts one
 * there has it opened (empty, from disk, or from another node), and the master is told when it may serve. A
 * copy whose engine fails (a full disk, a damaged file) closes it and tells the master, which takes the
 * copy out of the routing and decides what comes next: another copy in its place, or the same one, opened
 * again from what is on disk. Whatever was acknowledged is in the translog, so that it is there then. */
#include "data/shard/shard.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- events for the master ----------------------------------------------------------------------------- */

struct event_run {
    struct shard *sh;
    enum shard_event_kind kind;
    bool failed;
    char allocation_id[32]; /* of the copy it is about */
};

/* The state that shows it is applied here, and what it says of this place was taken before. */
static void event_done(void *arg)
{
    struct event_run *t = arg;
    struct shard *sh = t->sh;
    sh->life.event_out = false;
    if (t->kind == SHARD_EVENT_FAILED && !t->failed) {
        sh->life.broken = false;
    }
    /* What could not be told, or changed nothing, is told again with the next tick. */
    if (!t->failed
        && (t->kind == SHARD_EVENT_FAILED || !str_eq(sh->role.allocation_id, str_of(t->allocation_id)))) {
        shard_step(sh);
    }
    free(t);
    shard_unref(sh);
}

static void master_answered(void *arg, const struct errmsg *error)
{
    struct event_run *t = arg;
    t->failed = error != NULL;
    shard_post_back(t->sh, event_done, t);
}

/* A copy that came from another node is as good as the primary that it came from. */
static int64_t started_term(const struct shard *sh)
{
    return sh->role.source == RECOVER_PEER ? sh->life.vouched_term : sh->role.term;
}

static void send_event(struct shard *sh, enum shard_event_kind kind)
{
    struct data_service *s = sh->service;
    struct event_run *t = !sh->life.event_out && s->o.shard_event != NULL ? malloc(sizeof(*t)) : NULL;
    if (t == NULL) {
        return; /* one is out, or at the next tick */
    }
    *t = (struct event_run){.sh = sh, .kind = kind};
    snprintf(t->allocation_id, sizeof(t->allocation_id), "%.*s", STR_ARG(sh->role.allocation_id));
    struct shard_event e = {.kind = kind,
                            .index_uuid = sh->index->uuid,
                            .shard = sh->number,
                            .allocation_id = sh->role.allocation_id,
                            .primary_term = kind == SHARD_EVENT_STARTED ? (uint64_t)started_term(sh) : 0,
                            .why = str_of(sh->life.why)};
    sh->life.event_out = true;
    shard_ref(sh);
    if (!s->o.shard_event(s->o.node_self, &e, master_answered, t)) {
        sh->life.event_out = false; /* at the next tick */
        shard_unref(sh);
        free(t);
    }
}

void shard_tell_started(struct shard *sh)
{
    sh->life.why[0] = '\0';
    send_event(sh, SHARD_EVENT_STARTED);
}

void shard_fail(struct shard *sh, const struct errmsg *why)
{
    snprintf(sh->life.why, sizeof(sh->life.why), "%s", err_is(why) ? err_reason(why) : "unknown");
    log_error(sh->service->o.log, "data", "shard [%.*s][%u] has failed: %s", STR_ARG(sh->index->name),
              sh->number, sh->life.why);
    if (sh->engine != NULL && err_code(why) == ERR_CORRUPT) {
        shard_mark_damaged(sh, why);
    }
    sh->life.broken = true;
    shard_step(sh);
}

/* ---- closing -------------------------------------------------------------------------------------------- */

/* true: nothing is open. */
bool shard_close_engine(struct shard *sh)
{
    struct engine *engine = sh->engine;
    if (engine == NULL) {
        return true;
    }
    if (!sh->life.failing) {
        ERR_LOCAL(em);
        sh->life.failing = true;
        err_set(&em, ERR_NO_SHARD, "shard [%.*s][%u] is not here any more", STR_ARG(sh->index->name),
                sh->number);
        if (sh->life.broken) {
            err_set(&em, ERR_IO, "shard [%.*s][%u] has failed: %s", STR_ARG(sh->index->name), sh->number,
                    sh->life.why);
        }
        sh->service->watch->stop(sh);
        shard_fail_waiters(sh, &em);
        shard_fail_flushes(sh, &em);
        shard_fail_merges(sh, &em);
        shard_cancel_merge(sh);
    }
    sh->service->watch->closing(sh);
    if (sh->upkeep.sync_out || sh->upkeep.flush_out || sh->upkeep.merge_out) {
        return false; /* their ends look again */
    }
    shard_give_up_flush(sh);
    pthread_mutex_lock(&sh->view_lock);
    sh->engine = NULL;
    pthread_mutex_unlock(&sh->view_lock);
    sh->life.of_role = false;
    engine_close(engine);
    shard_buffer_gone(sh);
    sh->life.failing = false;
    return true;
}

static void remove_data(struct shard *sh)
{
    ERR_LOCAL(em);
    const struct fs *fs = sh->service->o.fs;
    sh->life.remove_data = false;
    if (fs->remove_tree(fs->self, sh->dir.p, &em) != ERR_OK) {
        log_warn(sh->service->o.log, "data", "cannot remove %.*s: %s", STR_ARG(sh->dir), err_reason(&em));
    }
}

/* ---- what the routing says ----------------------------------------------------------------------------- */

void shard_step(struct shard *sh)
{
    if (sh->life.opening) {
        return; /* its end looks again */
    }
    if (sh->role.initializing && sh->role.source == RECOVER_PEER && sh->role.term > sh->life.vouched_term) {
        sh->life.of_role = false; /* another primary does not vouch for it: once more */
    }
    if (sh->engine != NULL
        && (sh->life.broken || sh->life.failing || !sh->life.of_role || sh->role.allocation_id.p == NULL)
        && !shard_close_engine(sh)) {
        return;
    }
    if (sh->role.allocation_id.p == NULL) {
        sh->life.broken = false;
        if (sh->life.remove_data) {
            remove_data(sh);
        }
    } else if (sh->life.broken) {
        send_event(sh, SHARD_EVENT_FAILED);
    } else if (sh->engine != NULL) {
        if (sh->role.initializing) {
            shard_tell_started(sh);
        }
    } else if (sh->life.event_out) {
        return; /* event_done() looks again */
    } else if (!sh->role.initializing) {
        ERR_LOCAL(em); /* after a crash that the master has not noticed */
        err_set(&em, ERR_IO, "the master says that the copy has started, but it is not open here");
        shard_fail(sh, &em);
    } else if (sh->role.source == RECOVER_PEER) {
        sh->service->watch->recover(sh);
    } else {
        enum engine_open_mode create = sh->role.forced_empty ? ENGINE_CREATE_OVER : ENGINE_CREATE;
        shard_open(sh, sh->role.source == RECOVER_EMPTY_STORE ? create : ENGINE_EXISTING);
    }
}

/* The copy of the shard that is, or is arriving, at this node. */
static const struct shard_copy *own_copy(const struct data_service *s, const struct shard_routing *r,
                                         bool *arriving)
{
    for (uint32_t k = 0; r != NULL && k < r->n; k++) {
        const struct shard_copy *c = &r->copies[k];
        *arriving = c->state == COPY_RELOCATING && str_eq(c->target_node, s->node_id);
        if (*arriving || (c->node.p != NULL && str_eq(c->node, s->node_id))) {
            return c;
        }
    }
    return NULL;
}

/* Nobody needs what is on this disk. */
static bool all_elsewhere(const struct shard_routing *r)
{
    bool all = r != NULL;
    for (uint32_t k = 0; all && k < r->n; k++) {
        all = r->copies[k].state == COPY_STARTED;
    }
    return all;
}

void shard_take_role(struct shard *sh, struct cluster_state *state)
{
    const struct index_meta *m = cluster_index_by_uuid(state, sh->index->uuid);
    const struct index_routing *ir = m != NULL ? cluster_routing(state, m->name) : NULL;
    const struct shard_routing *r = ir != NULL && sh->number < ir->n ? &ir->shards[sh->number] : NULL;
    bool arriving = false;
    const struct shard_copy *c = own_copy(sh->service, r, &arriving);
    struct str id = c == NULL ? STR_NULL : arriving ? c->target_id : c->allocation_id;
    if (m != NULL) {
        sh->role.term = (int64_t)m->primary_terms[sh->number];
    }
    if (!str_eq(id, sh->role.allocation_id) || (id.p == NULL) != (sh->role.allocation_id.p == NULL)) {
        arena_reset(&sh->role.arena);
        sh->role.allocation_id = id.p != NULL ? arena_str(&sh->role.arena, id) : STR_NULL;
        sh->life.of_role = false;
        sh->life.broken = false;
    }
    sh->role.primary = c != NULL && c->primary && !arriving;
    sh->role.initializing = c != NULL && (arriving || c->state == COPY_INITIALIZING);
    sh->role.source = c == NULL || arriving ? RECOVER_PEER : c->source;
    sh->role.stale = sh->role.primary && sh->role.initializing && c->source == RECOVER_EXISTING_STORE
                     && !str_set_has(&m->in_sync[sh->number], id);
    sh->role.forced_empty = c != NULL && c->trouble.reason == REASON_FORCED_EMPTY_PRIMARY;
    sh->life.remove_data = c == NULL && all_elsewhere(r);
    bool moves = c != NULL && !arriving && c->state == COPY_RELOCATING;
    snprintf(sh->role.moving_to, sizeof(sh->role.moving_to), "%.*s", STR_ARG(moves ? c->target_id : STR("")));
    shard_step(sh);
}

void shard_check(struct shard *sh)
{
    ERR_LOCAL(why);
    bool open = sh->engine != NULL && !sh->life.failing;
    if (open && engine_damage(sh->engine) != ERR_OK && engine_failure(sh->engine, &why) != ERR_OK) {
        shard_fail(sh, &why);
    } else if (sh->life.failing || sh->engine == NULL || (sh->role.initializing && !sh->life.event_out)) {
        shard_step(sh);
    }
}
