/* The shared state of a node's recoveries: the limit of bytes a second, the sessions by shard. */
#include "common/settings/setting_read.h"
#include "data/recovery/recovery_int.h"
#include "data/replication/replication.h"

#include <stdlib.h>

#define BURST_MS 150 /* what may pass at once after a pause: more than a tick's worth */

static void serve(struct data_service *s)
{
    static const struct remote_row rows[] = {{&message_recovery_start, recovery_serve_start},
                                             {&message_recovery_chunk, recovery_serve_chunk},
                                             {&message_recovery_ops, recovery_serve_session},
                                             {&message_recovery_finalize, recovery_serve_session},
                                             {&message_recovery_handoff, recovery_serve_session},
                                             {&message_recovery_clean, recovery_serve_session}};
    _Static_assert(ARRAY_LEN(rows) == MESSAGE_COUNT(RECOVERY_MESSAGES), "a message that nobody serves");
    s->recoveries->served = (struct remote_service){
        .transport = s->o.transport,
        .self = s,
        .rows = rows,
        .n = ARRAY_LEN(rows),
        .pools = {[MESSAGE_ON_READS] = s->o.search_pool, [MESSAGE_ON_WRITES] = s->o.write_pool}};
    remote_serve(&s->recoveries->served);
}

enum err recovery_init(struct data_service *s, struct errmsg *em)
{
    struct recoveries *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return err_no_memory(em);
    }
    pthread_mutex_init(&r->lock, NULL);
    r->held_end = &r->held;
    r->bytes_per_sec = setting_bytes(NULL, SET_INDICES_RECOVERY_MAX_BYTES_PER_SEC);
    s->recoveries = r;
    if (s->o.transport != NULL) {
        serve(s);
    }
    return ERR_OK;
}

void recovery_fini(struct data_service *s)
{
    if (s->recoveries != NULL) {
        pthread_mutex_destroy(&s->recoveries->lock);
        free(s->recoveries);
        s->recoveries = NULL;
    }
}

void recovery_take_settings(struct data_service *s, const struct cluster_state *state)
{
    struct recoveries *r = s->recoveries;
    struct settings persistent, all = cluster_settings(state, &persistent);
    int64_t rate = setting_bytes(&all, SET_INDICES_RECOVERY_MAX_BYTES_PER_SEC);
    pthread_mutex_lock(&r->lock);
    r->bytes_per_sec = rate > 0 ? rate : 0;
    pthread_mutex_unlock(&r->lock);
}

bool recovery_may_pass(struct data_service *s, enum recovery_way way, size_t bytes)
{
    struct recoveries *r = s->recoveries;
    int64_t now = s->o.clock->mono_ns(s->o.clock->self);
    pthread_mutex_lock(&r->lock);
    struct recovery_budget *b = &r->budgets[way];
    int64_t burst = r->bytes_per_sec / 1000 * BURST_MS;
    int64_t ms = MIN_OF((now - b->at_ns) / 1000000, (int64_t)60000);
    if (b->at_ns == 0) {
        *b = (struct recovery_budget){burst, now};
    } else if (ms > 0) {
        b->left = MIN_OF(burst, b->left + r->bytes_per_sec * ms / 1000);
        b->at_ns =
            ms < 60000 ? b->at_ns + ms * 1000000 : now; /* what is left of a millisecond counts later */
    }
    bool pass = r->bytes_per_sec == 0 || b->left > 0;
    if (pass) {
        b->left -= (int64_t)bytes;
    }
    pthread_mutex_unlock(&r->lock);
    return pass;
}

void recovery_tick(struct data_service *s)
{
    recovery_serve_held(s);
}

void recovery_note_opening(struct shard *sh, bool empty)
{
    struct data_service *s = sh->service;
    sh->recovery->figures =
        (struct shard_recovery){.stage = RECOVERY_INDEX,
                                .source = empty ? RECOVER_EMPTY_STORE : RECOVER_EXISTING_STORE,
                                .primary = sh->role.primary,
                                .target_node = s->node_id,
                                .start_ms = clock_wall_ms(s->o.clock)};
}

void recovery_note_opened(struct shard *sh)
{
    struct shard_recovery *f = &sh->recovery->figures;
    struct engine_stats st;
    const struct engine_commit *c =
        f->source == RECOVER_EXISTING_STORE ? engine_commit_ref(sh->engine, false) : NULL;
    for (size_t i = 0; c != NULL && i < c->n_files; i++) {
        f->files_total++;
        f->files_reused++;
        f->bytes_total += c->files[i].bytes;
        f->bytes_reused += c->files[i].bytes;
    }
    if (c != NULL) {
        engine_commit_unref(sh->engine, c);
    }
    engine_stats(sh->engine, &st);
    f->ops_total = f->ops_recovered = f->ops_total_on_start = st.recovered_ops;
    f->stage = RECOVERY_DONE;
    f->stop_ms = clock_wall_ms(sh->service->o.clock);
    f->total_ms = MAX_OF(f->stop_ms - f->start_ms, (int64_t)0);
}

/* What the old primary knew: the new one need not wait for each copy to say it again. A copy that it had called in sync may be
 * started by the next state, in the same term: it must miss nothing that is written until then. */
static void take_handoff(struct shard *sh)
{
    struct shard_handoff *h = &sh->recovery->handoff;
    const struct recovery_copy *v = h->v;
    size_t n = h->n;
    h->v = NULL; /* what follows may look here again */
    h->n = 0;
    for (size_t i = 0; sh->role.primary && i < n; i++) {
        const struct recovery_copy *had = &v[i];
        const struct tracked *c = replication_copy(sh, had->allocation_id);
        bool now;
        if (c != NULL && had->in_sync && !c->in_sync && c->node.p != NULL
            && replication_track(sh, c->allocation_id, c->node)) {
            (void)replication_catch_up(sh, c->allocation_id, had->local_checkpoint, &now);
        }
        replication_advance(sh, had->allocation_id, had->local_checkpoint);
    }
    arena_reset(&h->arena);
}

void recovery_step(struct shard *sh, bool tick)
{
    if (sh->recovery->handoff.v != NULL && !sh->role.initializing
        && (replication_tracker(sh) != NULL || !sh->role.primary)) {
        take_handoff(sh);
    }
    recovery_step_sessions(sh, tick);
    recovery_step_target(sh, tick);
}

/* ---- the shard's part ------------------------------------------------------------------------------------ */

enum err recovery_new(struct shard *sh, struct errmsg *em)
{
    sh->recovery = calloc(1, sizeof(*sh->recovery));
    if (sh->recovery == NULL) {
        return err_no_memory(em);
    }
    arena_init(&sh->recovery->handoff.arena, NULL, ARENA_UNLIMITED);
    return ERR_OK;
}

void recovery_free(struct shard *sh)
{
    if (sh->recovery != NULL) {
        arena_fini(&sh->recovery->handoff.arena);
        free(sh->recovery);
        sh->recovery = NULL;
    }
}

void recovery_abandon(struct shard *sh)
{
    recovery_abandon_target(sh);
    recovery_abandon_sessions(sh);
}

const struct shard_recovery *recovery_figures(const struct shard *sh)
{
    return &sh->recovery->figures;
}
