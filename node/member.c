#include "node/member.h"

#include "engine/mapping/mapping.h"
#include "engine/query/query.h"
#include "node/limits.h"
#include "proto/remote_shards.h"

#include <stdio.h>
#include <stdlib.h>

struct member {
    struct member_opts o;
    struct data_service *data;
    struct remote_shards *remote;
    struct coordinator *coordinator;
    struct cluster *cluster;
    char state_dir[1024];
};

/* ---- what the master asks of the engine ---------------------------------------------------------------- */

static struct analysis_env env_of(struct member *m)
{
    return m->o.env(m->o.self);
}

static enum err check_analysis(void *self, const struct settings *index_settings, struct errmsg *em)
{
    struct analysis_env env = env_of(self);
    struct analysis *a;
    enum err e = analysis_new(&a, index_settings, &env, em);
    analysis_env_unref(&env);
    analysis_unref(e == ERR_OK ? a : NULL);
    return e;
}

static enum err merge_mapping(void *self, const struct settings *index_settings, struct str old,
                              struct str type, const struct json *body, struct buf *out, struct errmsg *em)
{
    struct analysis_env env = env_of(self);
    struct analysis *a = NULL;
    struct mapping *base = NULL, *merged = NULL;
    struct arena scratch;
    struct json tree;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    enum err e = analysis_new(&a, index_settings, &env, em);
    analysis_env_unref(&env);
    if (e == ERR_OK && old.n > 0) {
        e = json_parse(&tree, old, &scratch, &json_limits_default, em);
        e = e == ERR_OK ? mapping_new_typed(&base, &tree, a, index_settings, type, em) : e;
        e = e == ERR_OK ? mapping_merge(&merged, base, body, em) : e;
    } else if (e == ERR_OK) {
        e = mapping_new_typed(&merged, body, a, index_settings, type, em);
    }
    if (e == ERR_OK) {
        struct jsonw w;
        jsonw_init(&w, out, false);
        mapping_write(merged, &w);
    }
    mapping_unref(base);
    mapping_unref(merged);
    analysis_unref(a);
    arena_fini(&scratch);
    return e;
}

/* Would the index take the query? */
static enum err build_query(struct member *m, const struct json *query, struct str text,
                            const struct index_meta *index, struct arena *scratch, struct errmsg *em)
{
    struct analysis_env env = env_of(m);
    struct analysis *a = NULL;
    struct mapping *mapping = NULL;
    struct json tree = json_mk_object();
    const struct query *q;
    enum err e = analysis_new(&a, &index->settings, &env, em);
    analysis_env_unref(&env);
    e = e == ERR_OK && index->mapping.n > 0
            ? json_parse(&tree, index->mapping, scratch, &json_limits_default, em)
            : e;
    e = e == ERR_OK ? mapping_new_typed(&mapping, &tree, a, &index->settings, index->type, em) : e;
    if (e == ERR_OK) {
        struct query_context cx = {.mapping = mapping,
                                   .arena = scratch,
                                   .text = text,
                                   .index_name = index->name,
                                   .index_uuid = index->uuid,
                                   .now_ms = clock_wall_ms(m->o.clock),
                                   .clauses_max = query_node_settings()->clauses_max,
                                   .depth_max = QUERY_DEPTH_MAX,
                                   .index_settings = &index->settings,
                                   .allow_expensive = true,
                                   .only_read = true,
                                   .raw_errors = true};
        e = query_build(&q, &cx, query, em);
    }
    mapping_unref(mapping);
    analysis_unref(a);
    return e;
}

static enum err check_query(void *self, const struct json *query, struct str text,
                            const struct index_meta *index, struct errmsg *em)
{
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    enum err e = query_check(query, text, NULL, &scratch, em);
    e = e == ERR_OK && index != NULL ? build_query(self, query, text, index, &scratch, em) : e;
    arena_fini(&scratch);
    return e;
}

/* ---- between the roles --------------------------------------------------------------------------------- */

static bool apply_state(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg)
{
    struct member *m = self;
    return node_scripts_apply(state) && node_pipelines_apply(state) && data_apply(m->data, state, done, arg);
}

static struct cluster_state *state_of(void *self)
{
    struct member *m = self;
    return cluster_state(m->cluster);
}

static void submit_to_master(void *self, struct meta_request *rq)
{
    struct member *m = self;
    cluster_submit(m->cluster, rq);
}

static void ask_master(void *self, struct pending_rq *rq)
{
    struct member *m = self;
    cluster_pending(m->cluster, rq);
}

static void disk_space(void *self, uint64_t *total_bytes, uint64_t *free_bytes)
{
    struct member *m = self;
    m->o.disk_space(m->o.self, total_bytes, free_bytes);
}

static struct analysis *analysis_of(void *self, struct str uuid)
{
    struct member *m = self;
    return data_analysis(m->data, uuid);
}

static struct mapping *mapping_of(void *self, struct str uuid)
{
    struct member *m = self;
    return data_mapping(m->data, uuid);
}

struct mapping_call {
    struct meta_request rq;
    void (*done)(void *arg, const struct errmsg *error);
    void *arg;
};

static void mapping_done(struct meta_request *rq)
{
    struct mapping_call *c = (struct mapping_call *)rq;
    c->done(c->arg, err_is(&rq->error) ? &rq->error : NULL);
    meta_request_fini(rq);
    free(c);
}

/* A document's new fields, on their way to the master. */
static bool update_mapping(void *self, struct str index, struct str uuid, struct str type, struct str mapping,
                           void (*done)(void *, const struct errmsg *), void *arg)
{
    struct member *m = self;
    struct mapping_call *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return false;
    }
    meta_request_init(&c->rq, META_PUT_MAPPING, mapping_done, NULL);
    c->done = done;
    c->arg = arg;
    struct str *name = ARENA_NEW(&c->rq.arena, struct str);
    struct str text = arena_str(&c->rq.arena, mapping);
    c->rq.uuid = arena_str(&c->rq.arena, uuid);
    c->rq.type = arena_str(&c->rq.arena, type);
    if (name != NULL) {
        *name = arena_str(&c->rq.arena, index);
    }
    if (name == NULL || name->p == NULL || text.p == NULL || c->rq.uuid.p == NULL
        || json_parse(&c->rq.body, text, &c->rq.arena, &json_limits_default, NULL) != ERR_OK) {
        meta_request_fini(&c->rq);
        free(c);
        return false;
    }
    c->rq.names = name;
    c->rq.n_names = 1;
    c->rq.text = text;
    cluster_submit(m->cluster, &c->rq);
    return true;
}

/* A copy here has started, or failed. */
static bool report_to_master(void *self, const struct shard_event *event,
                             void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct member *m = self;
    return cluster_shard_event(m->cluster, event, done, arg);
}

/* The copies of this node, for a master that places a primary. An unreadable copy is listed without its identity. */
static enum err list_copies(void *self, const struct shard_id *shards, uint32_t n_shards, struct arena *arena,
                            struct found_copy **out, uint32_t *n_out, struct errmsg *em)
{
    struct member *m = self;
    *out = ARENA_ARRAY(arena, struct found_copy, n_shards);
    *n_out = 0;
    if (*out == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n_shards; i++) {
        struct found_copy *f = &(*out)[(*n_out)++];
        *f = (struct found_copy){.node_id = m->o.id, .index_uuid = shards[i].uuid, .shard = shards[i].shard};
        enum err e =
            data_find_copy(m->data, f->index_uuid, f->shard, arena, &f->allocation_id, &f->damaged, em);
        if (e == ERR_NO_MEMORY) {
            return e;
        }
        if (e != ERR_OK) {
            log_error(m->o.log, "node", "shard [%.*s][%u] on disk: %s", STR_ARG(f->index_uuid), f->shard,
                      err_reason(em));
            f->allocation_id = STR("");
            f->damaged = true;
        }
    }
    return ERR_OK;
}

static void report_of(void *self, struct node_report *out)
{
    struct member *m = self;
    m->o.report(m->o.self, out);
}

static void state_applied(void *arg, struct cluster_state *state)
{
    struct member *m = arg;
    coordinator_applied(m->coordinator, cluster_applied_took_us(m->cluster));
    m->o.applied(m->o.self, state);
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static enum err open_data(struct member *m, struct errmsg *em)
{
    const struct member_opts *o = &m->o;
    struct data_opts d = {.fs = o->fs,
                          .clock = o->clock,
                          .log = o->log,
                          .dir = o->data_dir,
                          .write_pool = o->writes,
                          .search_pool = o->searches,
                          .background_pool = o->background,
                          .env = env_of(m),
                          .node_id = o->id,
                          .update_mapping = update_mapping,
                          .shard_event = report_to_master,
                          .node_self = m,
                          .transport = o->transport,
                          .filter_cache_bytes = o->filter_cache_bytes,
                          .index_buffer_bytes = o->index_buffer_bytes,
                          .index_buffer_given = o->index_buffer_given};
    enum err e = data_service_new(&m->data, &d, em);
    analysis_env_unref(&d.env);
    return e;
}

static enum err open_coordinator(struct member *m, struct errmsg *em)
{
    const struct member_opts *o = &m->o;
    struct remote_shards_opts r = {
        .transport = o->transport, .local = data_api(m->data), .reads = o->searches, .writes = o->writes};
    enum err e = remote_shards_new(&m->remote, &r, em);
    struct coordinator_opts c = {.clock = o->clock,
                                 .log = o->log,
                                 .shards = data_api(m->data),
                                 .remote = m->remote,
                                 .transport = o->transport,
                                 .state = state_of,
                                 .master = submit_to_master,
                                 .pending = ask_master,
                                 .analysis = analysis_of,
                                 .mapping = mapping_of,
                                 .report = report_of,
                                 .self = m,
                                 .timers = o->timers,
                                 .timer_loop = o->loop,
                                 .workers = o->searches,
                                 .requests = o->requests,
                                 .listings = o->listings,
                                 .node_id = o->id,
                                 .node_name = o->name,
                                 .cluster_name = o->conf->cluster_name,
                                 .node_settings = o->settings,
                                 .seed = o->seed,
                                 .started_ms = clock_wall_ms(o->clock)};
    return e == ERR_OK ? coordinator_new(&m->coordinator, &c, em) : e;
}

enum err member_new(struct member **out, const struct member_opts *opts, struct errmsg *em)
{
    struct member *m = calloc(1, sizeof(*m));
    *out = NULL;
    if (m == NULL) {
        return err_no_memory(em);
    }
    m->o = *opts;
    enum err e = open_data(m, em);
    e = e == ERR_OK ? open_coordinator(m, em) : e;
    if (e != ERR_OK) {
        data_service_free(m->data);
        m->data = NULL;
        member_free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

enum err member_join(struct member *m, const struct node_meta *local, struct errmsg *em)
{
    const struct member_opts *o = &m->o;
    struct cluster_opts c = {.loop = o->loop,
                             .timers = o->timers,
                             .clock = o->clock,
                             .transport = o->transport,
                             .compute = o->compute,
                             .disk = o->disk,
                             .fs = o->fs,
                             .dir = m->state_dir,
                             .log = o->log,
                             .env = {.clock = o->clock,
                                     .rng = o->rng,
                                     .self = m,
                                     .merge_mapping = merge_mapping,
                                     .check_analysis = check_analysis,
                                     .check_query = check_query},
                             .rng = o->loop_rng,
                             .local = *local,
                             .cluster_name = o->conf->cluster_name,
                             .initial_masters = o->conf->initial_masters,
                             .seeds = o->conf->seeds,
                             .n_initial_masters = o->conf->n_initial_masters,
                             .n_seeds = o->conf->n_seeds,
                             .settings = o->conf->quorum,
                             .own = o->settings,
                             .apply = apply_state,
                             .list_copies = list_copies,
                             .disk_space = disk_space,
                             .self = m};
    if ((size_t)snprintf(m->state_dir, sizeof(m->state_dir), "%s/_state", o->data_dir)
        >= sizeof(m->state_dir)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the path [%s] is too long", o->data_dir);
    }
    enum err e = cluster_new(&m->cluster, &c, em);
    if (e == ERR_OK) {
        cluster_watch(m->cluster, state_applied, m);
    }
    return e;
}

void member_start(struct member *m)
{
    cluster_start(m->cluster);
}

void member_stop(struct member *m, void (*done)(void *arg), void *arg)
{
    cluster_stop(m->cluster, done, arg);
}

#define CALLS_GRACE_S 2 /* for calls of other nodes */

void member_close_shards(struct member *m)
{
    /* Some wait for what no longer comes, as a refresh that nobody looks for any more: closing their shards ends them. */
    bool idle = remote_shards_stop(m->remote, CALLS_GRACE_S);
    data_service_close(m->data);
    if (!idle) {
        remote_shards_stop(m->remote, 0);
    }
}

void member_free(struct member *m)
{
    if (m == NULL) {
        return;
    }
    coordinator_free(m->coordinator);
    remote_shards_free(m->remote);
    cluster_free(m->cluster);
    data_service_free(m->data);
    free(m);
}

struct coordinator *member_coordinator(struct member *m)
{
    return m->coordinator;
}

struct data_service *member_data(struct member *m)
{
    return m->data;
}

struct cluster *member_cluster(struct member *m)
{
    return m->cluster;
}
