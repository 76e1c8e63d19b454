/* The life of one shard copy: opened, failed, opened again, closed.
 *
 * A copy whose engine has failed (a full disk, a damaged file) lets go of it and keeps the last view for
 * searches. It reports itself down, tries to open again ever less often, and once that worked asks for a new
 * primary term: with it, it takes writes again. What was acknowledged is in the translog, so that it is there
 * after the opening. */
#include "data/data_int.h"

#include <stdio.h>
#include <stdlib.h>

#define RETRY_FIRST_MS  250
#define RETRY_MAX_MS    60000
#define REPORT_AGAIN_MS 1000 /* when the master could not take it */

/* ---- users --------------------------------------------------------------------------------------------- */

void shard_use(struct shard *sh)
{
    sh->users++;
}

static void free_shard(void *arg)
{
    struct shard *sh = arg;
    struct data_service *s = sh->service;
    shard_buffer_gone(sh);
    filter_cache_free(sh->filters);
    index_service_unref(sh->index);
    pthread_mutex_destroy(&sh->view_lock);
    arena_fini(&sh->arena);
    free(sh);
    pthread_mutex_lock(&s->lock);
    s->open_shards--;
    pthread_cond_broadcast(&s->all_closed);
    pthread_mutex_unlock(&s->lock);
}

/* A flush that waits for its operations to be durable will not get them any more. */
static void give_up_flush(struct shard *sh)
{
    if (sh->sealed != NULL && !sh->flush_out) {
        struct errmsg em;
        engine_flush_run(sh->sealed); /* refuses: nothing is written */
        engine_flush_finish(sh->engine, sh->sealed, &em);
        sh->sealed = NULL;
    }
}

static void close_engine(struct shard *sh)
{
    if (sh->engine != NULL) {
        give_up_flush(sh);
        engine_close(sh->engine);
        sh->engine = NULL;
    }
    view_unref(sh->last_view);
    sh->last_view = NULL;
}

static void close_shard(void *arg)
{
    struct shard *sh = arg;
    struct data_service *s = sh->service;
    struct errmsg em;
    close_engine(sh);
    if (sh->remove_files && s->o.fs->remove_tree(s->o.fs->self, sh->dir.p, &em) != ERR_OK) {
        log_warn(s->o.log, "data", "cannot remove %.*s: %s", STR_ARG(sh->dir), em.frame[0].reason);
    }
    if (!strand_close(sh->strand, free_shard, sh)) {
        free_shard(sh);
    }
}

void shard_release(struct shard *sh)
{
    if (--sh->users == 0 && !executor_submit_force(strand_executor(sh->strand), close_shard, sh)) {
        strand_free(sh->strand); /* the pools are gone: the last one out closes */
        close_engine(sh);
        free_shard(sh);
    }
}

bool shard_post(struct shard *sh, void (*run)(void *arg), void *arg)
{
    return executor_submit(strand_executor(sh->strand), run, arg);
}

void shard_post_back(struct shard *sh, void (*run)(void *arg), void *arg)
{
    executor_submit_force(strand_executor(sh->strand), run, arg);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static enum err parse_op(void *self, const struct engine_op *op, struct arena *arena, struct parsed_doc *out,
                         struct errmsg *em)
{
    struct shard *sh = self;
    struct mapping *m = index_mapping(sh->index, NULL);
    mapping_unref(sh->replay_mapping); /* the document before this one is applied */
    sh->replay_mapping = m;
    struct source_to_parse in = {.index_name = sh->index->name,
                                 .id = op->id,
                                 .routing = op->routing,
                                 .source = op->source,
                                 .dynamic_allowed = true};
    /* What is in the log was accepted with a mapping that had its fields; a mapping that lost them never was
     * published. */
    return document_parse(out, m, &in, arena, em);
}

void shard_engine_settings(const struct data_service *d, const struct settings *s,
                           struct engine_settings *out)
{
    engine_settings_init(out);
    out->buffer_bytes_max = shard_buffer_max(d, out->buffer_bytes_max);
    struct str durability = settings_str(s, "translog.durability", STR("request"));
    out->durability = str_eq_nocase(durability, STR("async")) ? DURABLE_ASYNC : DURABLE_REQUEST;
    int64_t bytes = (int64_t)out->flush_threshold_bytes;
    if (settings_bytes(s, "translog.flush_threshold_size", bytes, &bytes, NULL) == ERR_OK && bytes > 0) {
        out->flush_threshold_bytes = (uint64_t)bytes;
    }
    bytes = (int64_t)out->generation_bytes;
    if (settings_bytes(s, "translog.generation_threshold_size", bytes, &bytes, NULL) == ERR_OK && bytes > 0) {
        out->generation_bytes = (uint64_t)bytes;
    }
    settings_time_ms(s, "gc_deletes", out->gc_deletes_ms, &out->gc_deletes_ms, NULL);
    settings_time_ms(s, "translog.sync_interval", out->sync_interval_ms, &out->sync_interval_ms, NULL);
}

static enum err open_engine(struct shard *sh, struct engine **out, struct errmsg *em)
{
    struct data_service *s = sh->service;
    struct index_service *ix = sh->index;
    uint64_t version;
    struct mapping *m = index_mapping(ix, &version);
    struct settings_part *settings = index_settings(ix);
    struct engine_opts o = {.fs = s->o.fs,
                            .clock = s->o.clock,
                            .dir = sh->dir.p,
                            .index_uuid = ix->uuid.p,
                            .shard = sh->number,
                            .mode = ENGINE_OPEN_OR_CREATE,
                            .mapping = m,
                            .mapping_version = version,
                            .parse = parse_op,
                            .parse_self = sh};
    shard_engine_settings(s, &settings->settings, &o.settings);
    enum err e = engine_open(out, &o, em);
    mapping_unref(sh->replay_mapping);
    sh->replay_mapping = NULL;
    state_part_unref(&settings->part);
    mapping_unref(m);
    return e;
}

static void take_engine(struct shard *sh, struct engine *engine)
{
    pthread_mutex_lock(&sh->view_lock);
    struct view *old = sh->last_view;
    sh->engine = engine;
    sh->last_view = NULL;
    pthread_mutex_unlock(&sh->view_lock);
    view_unref(old);
    sh->last_refresh_ms = sh->lease_renewed_ms = clock_mono_ms(sh->service->o.clock);
    engine_set_retention(engine, engine_persisted_global_checkpoint(engine) + 1);
}

/* Down from now on, with the reason in sh->why. */
static void go_down(struct shard *sh, const struct errmsg *why)
{
    struct data_service *s = sh->service;
    const char *reason = why->n > 0 ? why->frame[0].reason : "unknown";
    if (sh->tries <= 1 || !str_is(str_of(sh->why), reason)) {
        log_error(s->o.log, "data", "shard [%.*s][%u] has failed: %s", STR_ARG(sh->index->name), sh->number,
                  reason);
    }
    snprintf(sh->why, sizeof(sh->why), "%s", reason);
    sh->down_term = sh->term;
    sh->report = SHARD_REPORT_DOWN;
    sh->report_at_ms = 0;
    int64_t pause = sh->tries < 8 ? RETRY_FIRST_MS << sh->tries : RETRY_MAX_MS;
    sh->retry_at_ms = clock_mono_ms(s->o.clock) + MIN_OF(pause, (int64_t)RETRY_MAX_MS);
}

/* ---- reporting ----------------------------------------------------------------------------------------- */

struct report_run {
    struct shard *sh;
    enum shard_report_kind kind;
    bool failed;
};

static void reported(void *arg)
{
    struct report_run *r = arg;
    struct shard *sh = r->sh;
    sh->report_out = false;
    if (r->failed) {
        sh->report_at_ms = clock_mono_ms(sh->service->o.clock) + REPORT_AGAIN_MS;
    } else if (sh->report == r->kind) {
        sh->report = SHARD_REPORT_NONE;
        if (r->kind == SHARD_REPORT_UP) {
            log_info(sh->service->o.log, "data", "shard [%.*s][%u] serves again, primary term %lld",
                     STR_ARG(sh->index->name), sh->number, (long long)sh->term);
        }
    }
    free(r);
    shard_release(sh);
}

static void master_answered(void *arg, const struct errmsg *error)
{
    struct report_run *r = arg;
    r->failed = error != NULL;
    shard_post_back(r->sh, reported, r);
}

static void send_report(struct shard *sh)
{
    struct data_service *s = sh->service;
    struct report_run *r = s->o.report != NULL ? malloc(sizeof(*r)) : NULL;
    if (r == NULL) {
        return;
    }
    *r = (struct report_run){.sh = sh, .kind = sh->report};
    struct data_report d = {sh->index->uuid, sh->number, sh->report == SHARD_REPORT_UP, sh->tries,
                            str_of(sh->why)};
    sh->report_out = true;
    shard_use(sh);
    s->o.report(s->o.node_self, &d, master_answered, r);
}

enum err shard_open(struct shard **out, struct data_service *s, struct index_service *ix, uint32_t number,
                    int64_t term, struct errmsg *em)
{
    struct shard *sh = calloc(1, sizeof(*sh));
    struct errmsg why;
    *out = NULL;
    if (sh == NULL) {
        return err_no_memory(em);
    }
    sh->users = 1;
    sh->service = s;
    sh->number = number;
    sh->term = term;
    sh->last_search_ms = sh->last_refresh_ms = clock_mono_ms(s->o.clock);
    arena_init(&sh->arena, NULL, ARENA_UNLIMITED);
    sh->dir = arena_printf(&sh->arena, "%s/indices/%.*s/%u", s->o.dir, STR_ARG(ix->uuid), number);
    struct strand_opts so = {.over = s->o.write_pool, .queue_max = SHARD_QUEUE_MAX};
    enum err e = sh->dir.p != NULL ? strand_new(&sh->strand, &so, em) : err_no_memory(em);
    bool keep_filters = true;
    settings_bool(&ix->settings->settings, "queries.cache.enabled", true, &keep_filters, NULL);
    if (e == ERR_OK && s->filters != NULL && keep_filters) {
        sh->filters = filter_cache_new(s->filters);
        e = sh->filters != NULL ? ERR_OK : err_no_memory(em);
    }
    if (e != ERR_OK) {
        strand_free(sh->strand);
        arena_fini(&sh->arena);
        free(sh);
        return e;
    }
    pthread_mutex_init(&sh->view_lock, NULL);
    sh->index = index_service_ref(ix);
    struct engine *engine;
    if (open_engine(sh, &engine, &why) == ERR_OK) {
        take_engine(sh, engine);
    } else {
        sh->tries = 1;
        go_down(sh, &why);
        send_report(sh); /* before the node takes requests */
    }
    *out = sh;
    return ERR_OK;
}

/* ---- failing ------------------------------------------------------------------------------------------- */

/* Once no job of the engine is out. */
static void let_go(struct shard *sh)
{
    if (sh->sync_out || sh->flush_out || sh->merge_out) {
        return;
    }
    struct view *view = engine_acquire(sh->engine);
    struct engine *engine = sh->engine;
    give_up_flush(sh);
    pthread_mutex_lock(&sh->view_lock);
    sh->engine = NULL;
    sh->last_view = view;
    pthread_mutex_unlock(&sh->view_lock);
    engine_close(engine);
    shard_buffer_gone(sh);
    sh->failing = false;
}

void shard_check(struct shard *sh)
{
    struct errmsg why;
    if (sh->engine == NULL) {
        return;
    }
    if (!sh->failing && engine_failure(sh->engine, &why) != ERR_OK) {
        sh->failing = true;
        sh->tries = 0;
        go_down(sh, &why);
        shard_fail_waiters(sh, &why);
        shard_fail_acts(sh, &why);
    }
    if (sh->failing) {
        let_go(sh);
    }
}

/* ---- and coming back ----------------------------------------------------------------------------------- */

struct reopen_run {
    struct shard *sh;
    struct engine *engine;
    enum err result;
    struct errmsg em;
};

static void reopened(void *arg)
{
    struct reopen_run *r = arg;
    struct shard *sh = r->sh;
    sh->opening = false;
    if (r->result == ERR_OK) {
        /* Mapping and settings may have come while it was being opened. */
        uint64_t version;
        struct mapping *m = index_mapping(sh->index, &version);
        struct errmsg em;
        take_engine(sh, r->engine);
        if (engine_set_mapping(r->engine, m, version, &em) != ERR_OK) {
            log_error(sh->service->o.log, "data", "new mapping: %s", em.frame[0].reason);
        }
        mapping_unref(m);
        sh->report = SHARD_REPORT_UP;
        sh->report_at_ms = 0;
    } else {
        sh->tries++;
        go_down(sh, &r->em);
    }
    free(r);
    shard_release(sh);
}

static void reopen_run(void *arg)
{
    struct reopen_run *r = arg;
    r->result = open_engine(r->sh, &r->engine, &r->em);
    shard_post_back(r->sh, reopened, r);
}

static void start_reopening(struct shard *sh)
{
    struct reopen_run *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return; /* at the next tick */
    }
    r->sh = sh;
    sh->opening = true;
    shard_use(sh);
    if (!executor_submit(sh->service->o.background_pool, reopen_run, r)) {
        sh->opening = false;
        sh->users--;
        free(r);
    }
}

void shard_heal(struct shard *sh)
{
    int64_t now = clock_mono_ms(sh->service->o.clock);
    if (sh->report != SHARD_REPORT_NONE && !sh->report_out && now >= sh->report_at_ms) {
        send_report(sh);
    }
    if (sh->engine == NULL && !sh->opening && now >= sh->retry_at_ms) {
        start_reopening(sh);
    }
}

/* ---- may it serve? ------------------------------------------------------------------------------------- */

static void say_down(struct shard *sh, struct errmsg *em)
{
    err_set(em, ERR_NO_SHARD, "shard [%.*s][%u] has failed: %s", STR_ARG(sh->index->name), sh->number,
            sh->why);
    err_about_index(em, sh->index->name, sh->index->uuid);
    err_about_shard(em, (int)sh->number);
}

bool shard_readable(struct shard *sh, struct errmsg *em)
{
    if (sh->engine == NULL || sh->failing) {
        say_down(sh, em);
        return false;
    }
    return true;
}

bool shard_writable(struct shard *sh, struct errmsg *em)
{
    if (!shard_readable(sh, em)) {
        return false;
    }
    if (sh->term <= sh->down_term) { /* open again, under no term of its own yet */
        say_down(sh, em);
        return false;
    }
    return true;
}

struct view *shard_view(struct shard *sh)
{
    pthread_mutex_lock(&sh->view_lock);
    struct view *v = sh->engine != NULL      ? engine_acquire(sh->engine)
                     : sh->last_view != NULL ? view_ref(sh->last_view)
                                             : NULL;
    pthread_mutex_unlock(&sh->view_lock);
    return v;
}
