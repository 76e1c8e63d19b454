/* A place for a copy of a shard: made, counted, closed; and whether it can be read or written. */
#include "data/shard/shard.h"

#include "common/settings/setting_read.h"

#include <stdlib.h>

/* ---- references ---------------------------------------------------------------------------------------- */

/* What needs no more than memory. false: there is none. */
static bool prepare(struct shard *sh, struct data_service *s, struct index_service *ix)
{
    bool keep_filters = setting_bool(&ix->settings->settings, SET_INDEX_QUERIES_CACHE_ENABLED);
    sh->dir = arena_printf(&sh->arena, "%s/indices/%.*s/%u", s->o.dir, STR_ARG(ix->uuid), sh->number);
    if (s->filters != NULL && keep_filters) {
        sh->filters = filter_cache_new(s->filters);
        return sh->filters != NULL && sh->dir.p != NULL;
    }
    return sh->dir.p != NULL;
}

enum err shard_new(struct shard **out, struct data_service *s, struct index_service *ix, uint32_t number,
                   struct errmsg *em)
{
    struct shard *sh = calloc(1, sizeof(*sh));
    *out = NULL;
    if (sh == NULL) {
        return err_no_memory(em);
    }
    sh->refs = 1;
    sh->service = s;
    sh->number = number;
    sh->upkeep.last_search_ms = sh->upkeep.last_refresh_ms = clock_mono_ms(s->o.clock);
    arena_init(&sh->arena, NULL, ARENA_UNLIMITED);
    arena_init(&sh->role.arena, NULL, ARENA_UNLIMITED);
    struct strand_opts so = {.over = s->o.write_pool, .queue_max = SHARD_QUEUE_MAX};
    enum err e = prepare(sh, s, ix) ? strand_new(&sh->strand, &so, em) : err_no_memory(em);
    e = e == ERR_OK ? s->watch->attach(sh, em) : e;
    if (e != ERR_OK) {
        s->watch->detach(sh);
        filter_cache_free(sh->filters);
        strand_free(sh->strand);
        arena_fini(&sh->arena);
        free(sh);
        return e;
    }
    pthread_mutex_init(&sh->view_lock, NULL);
    sh->index = index_service_ref(ix);
    *out = sh;
    return ERR_OK;
}

static void free_shard(void *arg)
{
    struct shard *sh = arg;
    struct data_service *s = sh->service;
    s->watch->detach(sh);
    shard_buffer_gone(sh);
    filter_cache_free(sh->filters);
    mapping_unref(sh->replay_mapping);
    index_service_unref(sh->index);
    pthread_mutex_destroy(&sh->view_lock);
    arena_fini(&sh->role.arena);
    arena_fini(&sh->arena);
    free(sh);
    tables_shard_closed(s);
}

static void close_engine(struct shard *sh)
{
    if (sh->engine != NULL) {
        sh->service->watch->closing(sh);
        shard_give_up_flush(sh);
        engine_close(sh->engine);
        sh->engine = NULL;
    }
}

/* The index is deleted: its folder goes with the last of its shards. */
static void remove_files(struct shard *sh)
{
    struct data_service *s = sh->service;
    const struct fs *fs = s->o.fs;
    struct fs_names names;
    ERR_LOCAL(em);
    struct str parent = arena_printf(&sh->arena, "%s/indices/%.*s", s->o.dir, STR_ARG(sh->index->uuid));
    if (fs->remove_tree(fs->self, sh->dir.p, &em) != ERR_OK) {
        log_warn(s->o.log, "data", "cannot remove %.*s: %s", STR_ARG(sh->dir), err_reason(&em));
        return;
    }
    if (parent.p != NULL && fs->list(fs->self, parent.p, &sh->arena, &names, NULL) == ERR_OK
        && names.n == 0) {
        fs->remove_tree(fs->self, parent.p, NULL); /* another shard's end may have been quicker */
    }
}

static void close_shard(void *arg)
{
    struct shard *sh = arg;
    close_engine(sh);
    if (sh->remove_files) {
        remove_files(sh);
    }
    if (!strand_close(sh->strand, free_shard, sh)) {
        free_shard(sh);
    }
}

struct shard *shard_ref(struct shard *sh)
{
    sh->refs++;
    return sh;
}

void shard_unref(struct shard *sh)
{
    if (--sh->refs == 0 && !executor_submit_force(strand_executor(sh->strand), close_shard, sh)) {
        strand_free(sh->strand); /* the pools are gone: the last one out closes */
        close_engine(sh);
        free_shard(sh);
    }
}

bool shard_post(struct shard *sh, void (*run)(void *arg), void *arg)
{
    return executor_submit(strand_executor(sh->strand), run, arg);
}

bool shard_post_back(struct shard *sh, void (*run)(void *arg), void *arg)
{
    return executor_submit_force(strand_executor(sh->strand), run, arg);
}

/* ---- may it serve? ------------------------------------------------------------------------------------- */

bool shard_readable(struct shard *sh, struct errmsg *em)
{
    if (sh->engine != NULL && !sh->life.failing) {
        return true;
    }
    err_set(em, ERR_NO_SHARD, "shard [%.*s][%u] is not open here", STR_ARG(sh->index->name), sh->number);
    err_about_index(em, sh->index->name, sh->index->uuid);
    err_about_shard(em, (int)sh->number);
    return false;
}

bool shard_writable(struct shard *sh, struct errmsg *em)
{
    if (!shard_readable(sh, em)) {
        return false;
    }
    if (!sh->role.primary) {
        err_set(em, ERR_NOT_PRIMARY, "shard [%.*s][%u] is not the primary here", STR_ARG(sh->index->name),
                sh->number);
        err_about_index(em, sh->index->name, sh->index->uuid);
        err_about_shard(em, (int)sh->number);
        return false;
    }
    return true;
}

void shard_hide(struct shard *sh, bool hidden)
{
    pthread_mutex_lock(&sh->view_lock);
    sh->hidden = hidden;
    pthread_mutex_unlock(&sh->view_lock);
}

struct view *shard_view(struct shard *sh)
{
    pthread_mutex_lock(&sh->view_lock);
    struct view *v = sh->engine != NULL && !sh->hidden ? engine_view_ref(sh->engine) : NULL;
    pthread_mutex_unlock(&sh->view_lock);
    return v;
}

void shard_searched(struct shard *sh)
{
    sh->upkeep.last_search_ms = clock_mono_ms(sh->service->o.clock);
}

void shard_leave(struct shard *sh)
{
    sh->life.leaving = true;
    shard_cancel_merge(sh);
}
