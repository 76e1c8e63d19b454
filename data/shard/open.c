/* Opening a copy: the engine with its index's mapping and settings, and the check that it is the copy that the master means. */
#include "common/settings/setting_read.h"
#include "data/shard/copy_data.h"
#include "data/shard/shard.h"
#include "engine/query/held_query.h"

#include <stdio.h>
#include <stdlib.h>

void shard_query_reader(struct held_query_reader *out, const struct shard *sh,
                        const struct settings_part *settings, bool accepted)
{
    held_query_reader_init(out, sh->index->name, sh->index->uuid, &settings->settings,
                           clock_wall_ms(sh->service->o.clock), accepted);
}

static enum err parse_op(void *self, const struct engine_op *op, struct arena *arena, struct parsed_doc *out,
                         struct errmsg *em)
{
    struct shard *sh = self;
    struct mapping *m = index_mapping(sh->index, NULL);
    mapping_unref(sh->replay_mapping); /* the document before this one is applied */
    sh->replay_mapping = m;
    struct settings_part *settings = index_settings(sh->index);
    struct held_query_reader queries;
    shard_query_reader(&queries, sh, settings, true);
    struct source_to_parse in = {.index_name = sh->index->name,
                                 .id = op->id,
                                 .routing = op->routing,
                                 .source = op->source,
                                 .dynamic_allowed = true,
                                 .queries = &queries.base};
    /* What is in the log was accepted with a mapping that had its fields; a mapping that lost them never was
     * published. */
    enum err e = document_parse(out, m, &in, arena, em);
    state_part_unref(&settings->part);
    return stop_now() ? err_set(em, ERR_NODE_CLOSED, "the node closes") : e;
}

void shard_engine_settings(const struct data_service *d, const struct settings *s,
                           struct engine_settings *out)
{
    engine_settings_init(out, s);
    out->buffer_bytes_max = shard_buffer_max(d, out->buffer_bytes_max);
}

enum err shard_engine_open(struct shard *sh, enum engine_open_mode mode, struct str user_data,
                           struct engine **out, struct errmsg *em)
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
                            .mode = mode,
                            .mapping = m,
                            .mapping_version = version,
                            .parse = parse_op,
                            .parse_self = sh,
                            .user_data = user_data};
    shard_engine_settings(s, &settings->settings, &o.settings);
    bool marked = mode == ENGINE_EXISTING && damage_marked(s->o.fs, sh->dir.p);
    struct str check = setting_str(&settings->settings, SET_INDEX_SHARD_CHECK_ON_STARTUP);
    o.verify = str_is(check, "true")               ? ENGINE_VERIFY_STRUCTURE
               : marked || !str_is(check, "false") ? ENGINE_VERIFY_SUMS
                                                   : ENGINE_VERIFY_NOTHING;
    enum err e = engine_open(out, &o, em);
    if (e == ERR_OK && marked) {
        log_info(s->o.log, "data", "shard [%.*s][%u]: was damaged, all its files are right now",
                 STR_ARG(ix->name), sh->number);
        shard_remove_marks(sh);
    }
    shard_unref_replay_mapping(sh);
    state_part_unref(&settings->part);
    mapping_unref(m);
    return e;
}

void shard_take_engine(struct shard *sh, struct engine *engine, int64_t vouched_term)
{
    uint64_t version;
    ERR_LOCAL(em);
    pthread_mutex_lock(&sh->view_lock);
    sh->engine = engine;
    pthread_mutex_unlock(&sh->view_lock);
    sh->life.of_role = true;
    sh->life.vouched_term = vouched_term;
    sh->upkeep.last_refresh_ms = clock_mono_ms(sh->service->o.clock);
    sh->upkeep.files_seen_ms = sh->upkeep.doubted_ms = sh->upkeep.last_refresh_ms;
    sh->service->watch->taken(sh);
    /* Mapping and settings may have come while it was being opened. */
    struct mapping *m = index_mapping(sh->index, &version);
    if (engine_set_mapping(engine, m, version, &em) != ERR_OK) {
        log_error(sh->service->o.log, "data", "new mapping: %s", err_reason(&em));
    }
    mapping_unref(m);
    struct settings_part *settings = index_settings(sh->index);
    struct engine_settings es;
    shard_engine_settings(sh->service, &settings->settings, &es);
    engine_set_settings(engine, &es);
    state_part_unref(&settings->part);
}

void shard_set_opening(struct shard *sh, bool opening)
{
    sh->life.opening = opening;
}

void shard_unref_replay_mapping(struct shard *sh)
{
    mapping_unref(sh->replay_mapping);
    sh->replay_mapping = NULL;
}

/* ---- what the role names, from this disk or empty ------------------------------------------------------ */

struct open_run {
    struct shard *sh;
    struct engine *engine;
    enum engine_open_mode mode;
    struct buf user_data;
    int64_t new_history; /* the term that it begins with; 0: it goes on with the one that is on disk */
    char allocation_id[32];
    enum err result;
    struct errmsg em;
    struct arena em_arena;
};

static void opened(void *arg)
{
    struct open_run *r = arg;
    struct shard *sh = r->sh;
    sh->life.opening = false;
    if (r->result == ERR_OK) {
        shard_take_engine(sh, r->engine, 0);
        sh->service->watch->opened(sh);
        sh->life.of_role =
            str_eq(sh->role.allocation_id, str_of(r->allocation_id)); /* a later state may want another */
        shard_step(sh);
    } else if (r->result == ERR_NODE_CLOSED) {
        log_info(sh->service->o.log, "data", "shard [%.*s][%u] is not opened any more: the node closes",
                 STR_ARG(sh->index->name), sh->number);
    } else if (str_eq(sh->role.allocation_id, str_of(r->allocation_id))) {
        shard_fail(sh, &r->em);
    } else {
        shard_step(sh);
    }
    buf_fini(&r->user_data);
    arena_fini(&r->em_arena);
    free(r);
    shard_unref(sh);
}

/* Sequence numbers that other copies know will mean other operations here: those copies must not take the histories
 * for one. */
static enum err begin_history(struct open_run *r, const struct copy_data *d)
{
    char name[64];
    struct copy_data begun = *d;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    snprintf(name, sizeof(name), "%s.%lld", r->allocation_id, (long long)r->new_history);
    begun.history_uuid = str_of(name);
    copy_data_encode(&begun, &b);
    enum err e = b.failed ? err_no_memory(&r->em) : engine_set_user_data(r->engine, buf_view(&b), &r->em);
    buf_fini(&b);
    return e == ERR_OK ? engine_flush(r->engine, true, &r->em) : e;
}

/* Is what is on disk the copy that the master means? */
static enum err check_copy(struct open_run *r)
{
    struct copy_data d;
    enum err e = copy_data_decode(&d, engine_user_data(r->engine), &r->em);
    if (e == ERR_OK && !str_eq(d.allocation_id, str_of(r->allocation_id))) {
        e = err_set(&r->em, ERR_CORRUPT, "the copy on disk is [%.*s], not [%s]", STR_ARG(d.allocation_id),
                    r->allocation_id);
    }
    e = e == ERR_OK && r->new_history > 0 ? begin_history(r, &d) : e;
    if (e != ERR_OK) {
        engine_close(r->engine);
        r->engine = NULL;
    }
    return e;
}

static void open_run(void *arg)
{
    struct open_run *r = arg;
    struct stop st = {.asked = data_ends, .self = r->sh->service};
    stop_enter(&st);
    r->result = shard_engine_open(r->sh, r->mode, buf_view(&r->user_data), &r->engine, &r->em);
    if (r->result == ERR_OK && r->mode == ENGINE_EXISTING) {
        r->result = check_copy(r);
    }
    stop_leave(&st);
    if (st.on && r->result != ERR_OK) { /* whatever it was: nothing is wrong with the copy */
        r->result = ERR_NODE_CLOSED;
    }
    shard_post_back(r->sh, opened, r);
}

void shard_open(struct shard *sh, enum engine_open_mode mode)
{
    struct open_run *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return; /* at the next tick */
    }
    r->sh = sh;
    r->mode = mode;
    r->em = err_in(&r->em_arena);
    shard_hide(sh, false);
    snprintf(r->allocation_id, sizeof(r->allocation_id), "%.*s", STR_ARG(sh->role.allocation_id));
    buf_init(&r->user_data, NULL, BUF_UNLIMITED);
    bool empty = mode == ENGINE_CREATE || mode == ENGINE_CREATE_OVER;
    if (empty) { /* its history begins with it */
        struct copy_data d = {sh->role.allocation_id, sh->role.allocation_id};
        copy_data_encode(&d, &r->user_data);
    }
    r->new_history = sh->role.stale ? sh->role.term : 0;
    sh->life.opening = true;
    sh->service->watch->opening(sh, empty);
    shard_ref(sh);
    if (!executor_submit_force(sh->service->o.write_pool, open_run, r)) {
        sh->life.opening = false;
        shard_unref(sh);
        buf_fini(&r->user_data);
        free(r);
    }
}
