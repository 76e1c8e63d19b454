/* The data role of a node: made, ticking, closed; and the connections between its folders. */
#include "data/recovery/recovery.h"
#include "data/replication/replication.h"
#include "data/search/search.h"
#include "data/service/service_int.h"
#include "data/shard/copy_data.h"

#include <stdlib.h>

/* ---- what happens to a shard --------------------------------------------------------------------------- */

static enum err attach(struct shard *sh, struct errmsg *em)
{
    enum err e = replication_new(sh, em);
    e = e == ERR_OK ? recovery_new(sh, em) : e;
    return e == ERR_OK ? shard_searches_new(sh, em) : e;
}

static void detach(struct shard *sh)
{
    shard_searches_free(sh);
    recovery_free(sh);
    replication_free(sh);
}

static void synced(struct shard *sh)
{
    replication_room(sh);
    recovery_step(sh, false);
}

static const struct shard_watch watch = {.attach = attach,
                                         .detach = detach,
                                         .opening = recovery_note_opening,
                                         .opened = recovery_note_opened,
                                         .taken = replication_retain,
                                         .recover = recovery_begin,
                                         .persisted = replication_persisted,
                                         .synced = synced,
                                         .stop = replication_stop,
                                         .closing = recovery_sessions_free};

/* ---- now and then -------------------------------------------------------------------------------------- */

static void tick(void *arg)
{
    struct shard *sh = arg;
    sh->tick_queued = false;
    shard_look_at_files(sh);
    shard_check(sh);
    replication_tick(sh, clock_mono_ms(sh->service->o.clock));
    if (shard_is_open(sh)) {
        shard_look_after(sh);
    }
    recovery_step(sh, true);
    shard_unref(sh);
}

void data_drain(struct data_service *s, int64_t grace_ms)
{
    s->drained_at_ms = clock_mono_ms(s->o.clock) + grace_ms;
    s->draining = true;
}

void data_tick(struct data_service *s)
{
    contexts_expire(s, false);
    recovery_tick(s);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_shards; i++) {
        struct shard *sh = s->shards[i];
        if (sh->tick_queued) {
            continue;
        }
        sh->tick_queued = true;
        if (!shard_post(shard_ref(sh), tick, sh)) {
            sh->tick_queued = false;
            shard_unref(sh); /* the table's reference remains */
        }
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static enum err applier_new(struct applier **out, const struct data_service *s, struct errmsg *em)
{
    struct applier *a = calloc(1, sizeof(*a));
    struct strand_opts so = {.over = s->o.background_pool, .queue_max = SHARD_QUEUE_MAX};
    struct settings none;
    struct arena scratch;
    *out = a;
    if (a == NULL) {
        return err_no_memory(em);
    }
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    settings_init(&none, &scratch);
    enum err e = strand_new(&a->strand, &so, em);
    e = e == ERR_OK ? analysis_new(&a->analysis, &none, &s->o.env, em) : e;
    arena_fini(&scratch);
    return e;
}

static void applier_free(struct applier *a)
{
    if (a != NULL) {
        cluster_state_unref(a->state);
        analysis_unref(a->analysis);
        free(a);
    }
}

enum err data_service_new(struct data_service **out, const struct data_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct data_service *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return err_no_memory(em);
    }
    s->o = *opts;
    s->watch = &watch;
    s->o.env = analysis_env_ref(&s->o.env);
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
    tables_init(s);
    s->node_id = arena_str(&s->arena, opts->node_id);
    enum err e = applier_new(&s->applier, s, em);
    e = e == ERR_OK ? data_memory_init(s, em) : e;
    e = e == ERR_OK ? searches_init(s, em) : e;
    e = e == ERR_OK ? recovery_init(s, em) : e;
    if (e != ERR_OK) {
        data_service_free(s);
        return e;
    }
    s->applier->api = (struct shard_api){.self = s, .serve = data_serve};
    replication_serve(s);
    *out = s;
    return ERR_OK;
}

static void strand_closed(void *arg)
{
    struct data_service *s = arg;
    pthread_mutex_lock(&s->lock);
    s->applier->strand_closed = true;
    pthread_cond_broadcast(&s->all_closed);
    pthread_mutex_unlock(&s->lock);
}

/* States that wait are applied first. */
static void close_applier(struct data_service *s)
{
    struct applier *a = s->applier;
    if (a == NULL || a->strand == NULL || !strand_close(a->strand, strand_closed, s)) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    while (!a->strand_closed) {
        pthread_cond_wait(&s->all_closed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void data_service_close(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_mutex_unlock(&s->lock);
    close_applier(s);
    if (s->searches != NULL) {
        contexts_expire(s, true);
    }
    while (s->n_indices > 0) {
        struct index_service *ix = tables_take_index(s, s->n_indices - 1);
        service_remove_shards(s, ix->uuid, false);
        index_service_unref(ix);
    }
    tables_wait_closed(s);
    s->closed = true;
}

void data_service_free(struct data_service *s)
{
    if (s == NULL) {
        return;
    }
    if (!s->closed) {
        data_service_close(s);
    }
    recovery_fini(s);
    searches_fini(s);
    applier_free(s->applier);
    filter_store_free(s->filters);
    analysis_env_unref(&s->o.env);
    tables_fini(s);
    arena_fini(&s->arena);
    free(s);
}

/* ---- who asks ------------------------------------------------------------------------------------------ */

const struct shard_api *data_api(struct data_service *s)
{
    return &s->applier->api;
}

struct analysis *data_analysis(struct data_service *s, struct str uuid)
{
    if (uuid.n == 0) {
        pthread_mutex_lock(&s->lock);
        struct analysis *own = analysis_ref(s->applier->analysis);
        pthread_mutex_unlock(&s->lock);
        return own;
    }
    struct index_service *ix = index_service_find(s, uuid);
    struct analysis *a = ix != NULL ? index_analysis(ix) : NULL;
    index_service_unref(ix);
    return a;
}

struct mapping *data_mapping(struct data_service *s, struct str uuid)
{
    struct index_service *ix = index_service_find(s, uuid);
    struct mapping *m = ix != NULL ? index_mapping(ix, NULL) : NULL;
    index_service_unref(ix);
    return m;
}

enum err data_find_copy(struct data_service *s, struct str uuid, uint32_t shard, struct arena *arena,
                        struct str *allocation_id, bool *damaged, struct errmsg *em)
{
    struct copy_data d;
    struct fs_names names = {0};
    bool found = false;
    struct str dir = arena_printf(arena, "%s/indices/%.*s/%u", s->o.dir, STR_ARG(uuid), shard);
    enum err e = dir.p != NULL ? copy_data_read(s->o.fs, dir.p, arena, &d, &found, em) : err_no_memory(em);
    if (e == ERR_OK && !found) {
        e = s->o.fs->list(s->o.fs->self, dir.p, arena, &names, em);
    }
    *allocation_id = found ? d.allocation_id : STR_NULL;
    *damaged = names.n > 0 || (found && damage_marked(s->o.fs, dir.p));
    return e;
}
