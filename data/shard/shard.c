/* The life of one copy of a shard: opened, told, failed, let go of.
 *
 * A shard is a place in this node's tables; the routing says which copy is to be in it. A state that puts one
 * there has it opened (empty, from disk, or from another node), and the master is told when it may serve. A
 * copy whose engine fails (a full disk, a damaged file) lets go of it and tells the master, which takes the
 * copy out of the routing and decides what comes next: another copy in its place, or the same one, opened
 * again from what is on disk. Whatever was acknowledged is in the translog, so that it is there then. */
#include "data/shard/shard.h"

#include "data/recovery/recovery.h"
#include "data/replication/replication.h"
#include "data/shard/copy_data.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- users --------------------------------------------------------------------------------------------- */

void shard_use(struct shard *sh)
{
    sh->users++;
}

static void free_shard(void *arg)
{
    struct shard *sh = arg;
    struct data_service *s = sh->service;
    replication_fini(sh);
    shard_buffer_gone(sh);
    filter_cache_free(sh->filters);
    mapping_unref(sh->replay_mapping);
    index_service_unref(sh->index);
    pthread_mutex_destroy(&sh->view_lock);
    search_groups_fini(&sh->groups);
    arena_fini(&sh->handoff.arena);
    arena_fini(&sh->role_arena);
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
        recovery_drop_sessions(sh);
        give_up_flush(sh);
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
    struct errmsg em;
    struct str parent = arena_printf(&sh->arena, "%s/indices/%.*s", s->o.dir, STR_ARG(sh->index->uuid));
    if (fs->remove_tree(fs->self, sh->dir.p, &em) != ERR_OK) {
        log_warn(s->o.log, "data", "cannot remove %.*s: %s", STR_ARG(sh->dir), em.frame[0].reason);
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
    enum err e = document_parse(out, m, &in, arena, em);
    return stop_now() ? err_set(em, ERR_NODE_CLOSED, "the node closes") : e;
}

/* When segments are merged, as index.merge.policy.* says it. */
static void merge_settings(const struct settings *s, struct engine_merge_settings *out)
{
    int64_t at_once = out->max_merge_at_once;
    int64_t floor = (int64_t)out->floor_bytes, merged = (int64_t)out->max_merged_bytes;
    settings_double(s, "merge.policy.segments_per_tier", out->segments_per_tier, &out->segments_per_tier,
                    NULL);
    settings_i64(s, "merge.policy.max_merge_at_once", at_once, &at_once, NULL);
    settings_bytes(s, "merge.policy.floor_segment", floor, &floor, NULL);
    settings_bytes(s, "merge.policy.max_merged_segment", merged, &merged, NULL);
    settings_double(s, "merge.policy.deletes_pct_allowed", out->deletes_pct_allowed,
                    &out->deletes_pct_allowed, NULL);
    settings_double(s, "merge.policy.expunge_deletes_allowed", out->expunge_deletes_pct,
                    &out->expunge_deletes_pct, NULL);
    out->max_merge_at_once = (uint32_t)MIN_OF(MAX_OF(at_once, 2), INT32_MAX);
    out->floor_bytes = (uint64_t)MAX_OF(floor, 1);
    out->max_merged_bytes = (uint64_t)MAX_OF(merged, 1);
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
    settings_bool(s, "soft_deletes.enabled", out->soft_deletes, &out->soft_deletes, NULL);
    settings_i64(s, "soft_deletes.retention.operations", 0, &out->retention_operations, NULL);
    merge_settings(s, &out->merge);
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
    struct str check = settings_str(&settings->settings, "shard.check_on_startup", STR("false"));
    o.verify = str_is(check, "true")               ? ENGINE_VERIFY_STRUCTURE
               : marked || !str_is(check, "false") ? ENGINE_VERIFY_SUMS
                                                   : ENGINE_VERIFY_NOTHING;
    enum err e = engine_open(out, &o, em);
    if (e == ERR_OK && marked) {
        log_info(s->o.log, "data", "shard [%.*s][%u]: was damaged, all its files are right now",
                 STR_ARG(ix->name), sh->number);
        shard_remove_marks(sh);
    }
    mapping_unref(sh->replay_mapping);
    sh->replay_mapping = NULL;
    state_part_unref(&settings->part);
    mapping_unref(m);
    return e;
}

void shard_take_engine(struct shard *sh, struct engine *engine)
{
    uint64_t version;
    struct errmsg em;
    pthread_mutex_lock(&sh->view_lock);
    sh->engine = engine;
    pthread_mutex_unlock(&sh->view_lock);
    sh->of_role = true;
    sh->last_refresh_ms = sh->lease_renewed_ms = clock_mono_ms(sh->service->o.clock);
    sh->files_seen_ms = sh->doubted_ms = sh->last_refresh_ms;
    replication_retain(sh);
    /* Mapping and settings may have come while it was being opened. */
    struct mapping *m = index_mapping(sh->index, &version);
    if (engine_set_mapping(engine, m, version, &em) != ERR_OK) {
        log_error(sh->service->o.log, "data", "new mapping: %s", em.frame[0].reason);
    }
    mapping_unref(m);
    struct settings_part *settings = index_settings(sh->index);
    struct engine_settings es;
    shard_engine_settings(sh->service, &settings->settings, &es);
    engine_set_settings(engine, &es);
    state_part_unref(&settings->part);
}

enum err shard_new(struct shard **out, struct data_service *s, struct index_service *ix, uint32_t number,
                   struct errmsg *em)
{
    struct shard *sh = calloc(1, sizeof(*sh));
    *out = NULL;
    if (sh == NULL) {
        return err_no_memory(em);
    }
    sh->users = 1;
    sh->service = s;
    sh->number = number;
    sh->last_search_ms = sh->last_refresh_ms = clock_mono_ms(s->o.clock);
    arena_init(&sh->arena, NULL, ARENA_UNLIMITED);
    arena_init(&sh->role_arena, NULL, ARENA_UNLIMITED);
    arena_init(&sh->handoff.arena, NULL, ARENA_UNLIMITED);
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
    search_groups_init(&sh->groups);
    sh->index = index_service_ref(ix);
    *out = sh;
    return ERR_OK;
}

/* ---- telling the master -------------------------------------------------------------------------------- */

struct told_run {
    struct shard *sh;
    enum shard_event_kind kind;
    bool failed;
    char allocation_id[32]; /* of the copy it is about */
};

/* The state that shows it is applied here, and what it says of this place was taken before. */
static void told(void *arg)
{
    struct told_run *t = arg;
    struct shard *sh = t->sh;
    sh->told_out = false;
    if (t->kind == SHARD_EVENT_FAILED && !t->failed) {
        sh->broken = false;
    }
    /* What could not be told, or changed nothing, is told again with the next tick. */
    if (!t->failed
        && (t->kind == SHARD_EVENT_FAILED || !str_eq(sh->allocation_id, str_of(t->allocation_id)))) {
        shard_step(sh);
    }
    free(t);
    shard_release(sh);
}

static void master_answered(void *arg, const struct errmsg *error)
{
    struct told_run *t = arg;
    t->failed = error != NULL;
    shard_post_back(t->sh, told, t);
}

/* A copy that came from another node is as good as the primary that it came from. */
static int64_t started_term(const struct shard *sh)
{
    return sh->source == RECOVER_PEER ? sh->recovered_term : sh->term;
}

static void tell(struct shard *sh, enum shard_event_kind kind)
{
    struct data_service *s = sh->service;
    struct told_run *t = !sh->told_out && s->o.shard_event != NULL ? malloc(sizeof(*t)) : NULL;
    if (t == NULL) {
        return; /* one is out, or at the next tick */
    }
    *t = (struct told_run){.sh = sh, .kind = kind};
    snprintf(t->allocation_id, sizeof(t->allocation_id), "%.*s", STR_ARG(sh->allocation_id));
    struct shard_event e = {.kind = kind,
                            .index_uuid = sh->index->uuid,
                            .shard = sh->number,
                            .allocation_id = sh->allocation_id,
                            .primary_term = kind == SHARD_EVENT_STARTED ? (uint64_t)started_term(sh) : 0,
                            .why = str_of(sh->why)};
    sh->told_out = true;
    shard_use(sh);
    s->o.shard_event(s->o.node_self, &e, master_answered, t);
}

void shard_tell_started(struct shard *sh)
{
    sh->why[0] = '\0';
    tell(sh, SHARD_EVENT_STARTED);
}

void shard_fail(struct shard *sh, const struct errmsg *why)
{
    snprintf(sh->why, sizeof(sh->why), "%s", why->n > 0 ? why->frame[0].reason : "unknown");
    log_error(sh->service->o.log, "data", "shard [%.*s][%u] has failed: %s", STR_ARG(sh->index->name),
              sh->number, sh->why);
    if (sh->engine != NULL && err_code(why) == ERR_CORRUPT) {
        shard_mark_damaged(sh, why);
    }
    sh->broken = true;
    shard_step(sh);
}

/* ---- letting go ---------------------------------------------------------------------------------------- */

/* true: nothing is open. */
bool shard_let_go(struct shard *sh)
{
    struct engine *engine = sh->engine;
    if (engine == NULL) {
        return true;
    }
    if (!sh->failing) {
        struct errmsg em;
        sh->failing = true;
        err_set(&em, ERR_NO_SHARD, "shard [%.*s][%u] is not here any more", STR_ARG(sh->index->name),
                sh->number);
        if (sh->broken) {
            err_set(&em, ERR_IO, "shard [%.*s][%u] has failed: %s", STR_ARG(sh->index->name), sh->number,
                    sh->why);
        }
        replication_stop(sh);
        shard_fail_waiters(sh, &em);
        shard_fail_acts(sh, &em);
        shard_cancel_merge(sh);
    }
    recovery_drop_sessions(sh);
    if (sh->sync_out || sh->flush_out || sh->merge_out) {
        return false; /* their ends look again */
    }
    give_up_flush(sh);
    pthread_mutex_lock(&sh->view_lock);
    sh->engine = NULL;
    pthread_mutex_unlock(&sh->view_lock);
    engine_close(engine);
    shard_buffer_gone(sh);
    sh->failing = false;
    return true;
}

static void remove_data(struct shard *sh)
{
    struct errmsg em;
    const struct fs *fs = sh->service->o.fs;
    sh->remove_data = false;
    if (fs->remove_tree(fs->self, sh->dir.p, &em) != ERR_OK) {
        log_warn(sh->service->o.log, "data", "cannot remove %.*s: %s", STR_ARG(sh->dir), em.frame[0].reason);
    }
}

/* ---- opening ------------------------------------------------------------------------------------------- */

struct open_run {
    struct shard *sh;
    struct engine *engine;
    enum engine_open_mode mode;
    struct buf user_data;
    int64_t new_history; /* the term that it begins with; 0: it goes on with the one that is on disk */
    char allocation_id[32];
    enum err result;
    struct errmsg em;
};

static void opened(void *arg)
{
    struct open_run *r = arg;
    struct shard *sh = r->sh;
    sh->opening = false;
    if (r->result == ERR_OK) {
        shard_take_engine(sh, r->engine);
        recovery_note_opened(sh);
        sh->of_role =
            str_eq(sh->allocation_id, str_of(r->allocation_id)); /* a later state may want another */
        shard_step(sh);
    } else if (r->result == ERR_NODE_CLOSED) {
        log_info(sh->service->o.log, "data", "shard [%.*s][%u] is not opened any more: the node closes",
                 STR_ARG(sh->index->name), sh->number);
    } else if (str_eq(sh->allocation_id, str_of(r->allocation_id))) {
        shard_fail(sh, &r->em);
    } else {
        shard_step(sh);
    }
    buf_fini(&r->user_data);
    free(r);
    shard_release(sh);
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

static void start_opening(struct shard *sh, enum engine_open_mode mode)
{
    struct open_run *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return; /* at the next tick */
    }
    r->sh = sh;
    r->mode = mode;
    shard_hide(sh, false);
    snprintf(r->allocation_id, sizeof(r->allocation_id), "%.*s", STR_ARG(sh->allocation_id));
    buf_init(&r->user_data, NULL, BUF_UNLIMITED);
    bool empty = mode == ENGINE_CREATE || mode == ENGINE_CREATE_OVER;
    if (empty) { /* its history begins with it */
        struct copy_data d = {sh->allocation_id, sh->allocation_id};
        copy_data_encode(&d, &r->user_data);
    }
    r->new_history = sh->stale ? sh->term : 0;
    sh->opening = true;
    recovery_note_opening(sh, empty);
    shard_use(sh);
    if (!executor_submit_force(sh->service->o.write_pool, open_run, r)) {
        sh->opening = false;
        sh->users--;
        buf_fini(&r->user_data);
        free(r);
    }
}

/* ---- what the routing says ----------------------------------------------------------------------------- */

void shard_step(struct shard *sh)
{
    if (sh->opening) {
        return; /* its end looks again */
    }
    if (sh->initializing && sh->source == RECOVER_PEER && sh->term > sh->recovered_term) {
        sh->of_role = false; /* another primary does not vouch for it: once more */
    }
    if (sh->engine != NULL && (sh->broken || sh->failing || !sh->of_role || sh->allocation_id.p == NULL)
        && !shard_let_go(sh)) {
        return;
    }
    if (sh->allocation_id.p == NULL) {
        sh->broken = false;
        if (sh->remove_data) {
            remove_data(sh);
        }
    } else if (sh->broken) {
        tell(sh, SHARD_EVENT_FAILED);
    } else if (sh->engine != NULL) {
        if (sh->initializing) {
            shard_tell_started(sh);
        }
    } else if (sh->told_out) {
        return; /* told() looks again */
    } else if (!sh->initializing) {
        struct errmsg em; /* after a crash that the master has not noticed */
        err_set(&em, ERR_IO, "the master says that the copy has started, but it is not open here");
        shard_fail(sh, &em);
    } else if (sh->source == RECOVER_PEER) {
        recovery_begin(sh);
    } else {
        enum engine_open_mode create = sh->forced_empty ? ENGINE_CREATE_OVER : ENGINE_CREATE;
        start_opening(sh, sh->source == RECOVER_EMPTY_STORE ? create : ENGINE_EXISTING);
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
        sh->term = (int64_t)m->primary_terms[sh->number];
    }
    if (!str_eq(id, sh->allocation_id) || (id.p == NULL) != (sh->allocation_id.p == NULL)) {
        arena_reset(&sh->role_arena);
        sh->allocation_id = id.p != NULL ? arena_str(&sh->role_arena, id) : STR_NULL;
        sh->of_role = false;
        sh->broken = false;
    }
    sh->primary = c != NULL && c->primary && !arriving;
    sh->initializing = c != NULL && (arriving || c->state == COPY_INITIALIZING);
    sh->source = c == NULL || arriving ? RECOVER_PEER : c->source;
    sh->stale = sh->primary && sh->initializing && c->source == RECOVER_EXISTING_STORE
                && !str_set_has(&m->in_sync[sh->number], id);
    sh->forced_empty = c != NULL && c->trouble.reason == REASON_FORCED_EMPTY_PRIMARY;
    sh->remove_data = c == NULL && all_elsewhere(r);
    bool moves = c != NULL && !arriving && c->state == COPY_RELOCATING;
    snprintf(sh->moving_to, sizeof(sh->moving_to), "%.*s", STR_ARG(moves ? c->target_id : STR("")));
    shard_step(sh);
    replication_follow(sh, state);
}

void shard_check(struct shard *sh)
{
    struct errmsg why;
    bool open = sh->engine != NULL && !sh->failing;
    if (open && engine_damage(sh->engine) != ERR_OK && engine_failure(sh->engine, &why) != ERR_OK) {
        shard_fail(sh, &why);
    } else if (sh->failing || sh->engine == NULL || (sh->initializing && !sh->told_out)) {
        shard_step(sh);
    }
}

/* ---- may it serve? ------------------------------------------------------------------------------------- */

bool shard_readable(struct shard *sh, struct errmsg *em)
{
    if (sh->engine != NULL && !sh->failing) {
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
    if (!sh->primary) {
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
    struct view *v = sh->engine != NULL && !sh->hidden ? engine_acquire(sh->engine) : NULL;
    pthread_mutex_unlock(&sh->view_lock);
    return v;
}
