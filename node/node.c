#include "node/node_int.h"

#include "common/cluster/memory_settings.h"
#include "common/cluster/search_limits.h"
#include "common/settings/setting_read.h"
#include "common/sys/clock_real.h"
#include "common/sys/fs_posix.h"
#include "common/sys/http_server.h"
#include "common/sys/loop.h"
#include "common/sys/pool.h"
#include "common/sys/process.h"
#include "coordinator/rest/service.h"
#include "node/data_folder.h"
#include "node/dictionaries.h"
#include "node/limits.h"
#include "node/member.h"
#include "node/self.h"
#include "proto/transport_nng.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TICK_MS      100
#define REQUESTS_MAX 1000 /* that wait to be read */
#define WATCH_MS     2000 /* interval of the checks of the dictionaries' files */

const char *node_conf_dir(const struct node *n)
{
    return settings_str(n->o.settings, NODE_PATH_CONF, STR_NULL).p;
}

/* With references on the dictionaries: they may be replaced at any time. */
struct analysis_env node_analysis_env(void *self)
{
    struct node *n = self;
    const char *conf = node_conf_dir(n);
    pthread_mutex_lock(&n->lock);
    struct analysis_env env = analysis_env_ref(
        &(struct analysis_env){.path_conf = conf, .ik = n->dicts.ik, .pinyin = n->dicts.pinyin});
    pthread_mutex_unlock(&n->lock);
    return env;
}

static void disk_space(void *self, uint64_t *total_bytes, uint64_t *free_bytes)
{
    struct node *n = self;
    struct disk_stats d;
    disk_stats(n->data_dir.p, &d);
    *total_bytes = d.total_bytes;
    *free_bytes = d.available_bytes;
}

/* Pools have Elasticsearch's names for the work that they do. */
static void report_of(void *self, struct node_report *out)
{
    struct node *n = self;
    self_report(&n->me, n->http, out);
    self_add_pool(out, "write", n->write_pool);
    self_add_pool(out, "search", n->search_pool);
    self_add_pool(out, "generic", n->background_pool);
    self_add_pool(out, "management", n->master_pool);
}

static void tick(void *arg)
{
    struct node *n = arg;
    data_tick(member_data(n->member));
    announce_forming(&n->announcer, n->o.log, member_cluster(n->member), n->o.settings,
                     clock_mono_ms(n->clock));
}

/* ---- start --------------------------------------------------------------------------------------------- */

struct pool_plan {
    const char *name;
    int64_t threads, queue; /* queue < 0: unbounded */
};

static enum err new_pool(struct pool **out, const struct pool_plan *p, struct errmsg *em)
{
    struct pool_opts o = {.name = p->name,
                          .threads_max = (unsigned)p->threads,
                          .queue_max = p->queue < 0 ? SIZE_MAX / 2 : (size_t)p->queue};
    return pool_new(out, &o, em);
}

static enum err open_pools(struct node *n, unsigned cores, struct errmsg *em)
{
    const struct settings *s = n->o.settings;
    const struct pool_plan write = {"write", setting_i64(s, SET_THREAD_POOL_WRITE_SIZE),
                                    setting_i64(s, SET_THREAD_POOL_WRITE_QUEUE_SIZE)};
    const struct pool_plan search = {"search", setting_i64(s, SET_THREAD_POOL_SEARCH_SIZE),
                                     setting_i64(s, SET_THREAD_POOL_SEARCH_QUEUE_SIZE)};
    const struct pool_plan background = {"background", MAX_OF(cores / 2, 1U), -1};
    const struct pool_plan master = {"master", 1, -1};
    const struct pool_plan state = {"state", 1, -1}; /* the cluster state's disk */
    const struct pool_plan request = {"request", MAX_OF(cores, 2U), REQUESTS_MAX};
    const struct pool_plan listing = {"listing", 2, REQUESTS_MAX};
    enum err e = new_pool(&n->write_pool, &write, em);
    e = e == ERR_OK ? new_pool(&n->search_pool, &search, em) : e;
    if (e == ERR_OK) {
        pool_guard_memory(n->search_pool);
    }
    e = e == ERR_OK ? new_pool(&n->background_pool, &background, em) : e;
    e = e == ERR_OK ? new_pool(&n->master_pool, &master, em) : e;
    e = e == ERR_OK ? new_pool(&n->request_pool, &request, em) : e;
    e = e == ERR_OK ? new_pool(&n->listing_pool, &listing, em) : e;
    return e == ERR_OK ? new_pool(&n->state_pool, &state, em) : e;
}

static enum err open_data_dir(struct node *n, struct errmsg *em)
{
    struct str *dirs;
    uint32_t n_dirs;
    if (!setting_list(n->o.settings, SET_PATH_DATA, &n->arena, &dirs, &n_dirs)) {
        return err_no_memory(em);
    }
    if (n_dirs != 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[path.data] has %u folders: one is supported", n_dirs);
    }
    n->data_dir = arena_str(&n->arena, dirs[0]);
    if (n->data_dir.p == NULL) {
        return err_no_memory(em);
    }
    enum err e = n->fs->make_dir(n->fs->self, n->data_dir.p, em);
    return e == ERR_OK ? n->fs->lock(n->fs->self, n->data_dir.p, &n->data_lock, em) : e;
}

/* node.attr.*: sorted, as settings are. */
static bool own_attributes(struct node *n, struct node_meta *m, struct arena *a)
{
    struct settings attrs;
    if (!settings_sub(&attrs, n->o.settings, STR("node.attr"), a)) {
        return false;
    }
    m->attrs = ARENA_ARRAY(a, struct node_attr, attrs.n + 1);
    for (size_t i = 0; m->attrs != NULL && i < attrs.n; i++) {
        if (!attrs.v[i].is_null && !attrs.v[i].is_list) {
            m->attrs[m->n_attrs++] =
                (struct node_attr){arena_str(a, attrs.v[i].key), arena_str(a, attrs.v[i].value)};
        }
    }
    return m->attrs != NULL;
}

static bool own_node(struct node *n, struct node_meta *out, struct arena *a)
{
    *out = (struct node_meta){.id = n->id,
                              .name = n->name,
                              .ephemeral_id = str_of(n->ephemeral_id),
                              .host = n->me.host,
                              .transport_address = n->me.transport_address,
                              .http_address = n->me.http_address,
                              .roles = node_roles_pack(n->me.roles)};
    return own_attributes(n, out, a);
}

static size_t memory_setting(const struct node *n, enum setting_id id)
{
    int64_t bytes = setting_share(n->o.settings, id, memory_heap_bytes());
    return (size_t)(bytes >= 0 ? bytes : setting_share(NULL, id, memory_heap_bytes()));
}

static enum err open_http(struct node *n, unsigned cores, struct errmsg *em)
{
    struct http_server_opts h = {.unpacking = pool_executor(n->write_pool),
                                 .log = n->o.log,
                                 .clock = n->clock,
                                 .product = "Elasticsearch", /* what clients from 7.14 on look for */
                                 .exempt = rest_service_exempt,
                                 .handle = rest_service_handle};
    enum err e = http_server_opts_from(&h, n->o.settings, &n->arena, em);
    for (unsigned i = 0; e == ERR_OK && i < MIN_OF(cores, (unsigned)HTTP_LOOPS_MAX); i++) {
        char name[16];
        snprintf(name, sizeof(name), "http-%u", i);
        e = loop_new(&n->http_loops[i], name, em);
        n->n_http_loops += e == ERR_OK;
    }
    if (e != ERR_OK) {
        return e;
    }
    h.loops = n->http_loops;
    h.loops_n = n->n_http_loops;
    e = rest_service_new(&n->rest, member_coordinator(n->member), em);
    h.self = n->rest;
    e = e == ERR_OK ? http_server_new(&n->http, &h, em) : e;
    return e == ERR_OK ? self_listening(&n->me, n->o.settings, http_server_port(n->http), &n->arena, em) : e;
}

static void signal_flag(struct node *n, bool *flag)
{
    pthread_mutex_lock(&n->lock);
    *flag = true;
    pthread_cond_broadcast(&n->cond);
    pthread_mutex_unlock(&n->lock);
}

static void wait_flag(struct node *n, const bool *flag)
{
    pthread_mutex_lock(&n->lock);
    while (!*flag) {
        pthread_cond_wait(&n->cond, &n->lock);
    }
    pthread_mutex_unlock(&n->lock);
}

/* ---- the cluster --------------------------------------------------------------------------------------- */

static enum err open_transport(struct node *n, struct errmsg *em)
{
    struct transport_nng_opts o = {.host = n->conf.bind_host,
                                   .port_first = n->conf.port_first,
                                   .port_last = n->conf.port_last,
                                   .ephemeral_id = str_of(n->ephemeral_id)};
    enum err e = transport_nng_new(&n->transport, &o, em);
    return e == ERR_OK
               ? self_reachable(&n->me, n->o.settings, transport_nng_port(n->transport), &n->arena, em)
               : e;
}

static enum err join_member(struct node *n, struct errmsg *em)
{
    struct node_meta local;
    return own_node(n, &local, &n->arena) ? member_join(n->member, &local, em) : err_no_memory(em);
}

/* Has every primary a chance behind it? Where this node alone holds data, nobody else can bring one. */
static bool primaries_tried(const struct node *n, const struct cluster_state *s)
{
    uint32_t holders = 0;
    for (uint32_t i = 0; i < s->nodes->n; i++) {
        holders += (s->nodes->v[i].roles & ROLE_DATA) != 0;
    }
    bool tried = true;
    for (uint32_t i = 0; i < s->n_routing && tried; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n && tried; k++) {
            const struct shard_copy *c = &s->routing[i]->shards[k].copies[0];
            bool mine = holders == 1 || (c->node.p != NULL && str_eq(c->node, n->id));
            tried = copy_active(c) || !mine || c->trouble.failed > 0
                    || c->trouble.attempt == ATTEMPT_NO_VALID_COPY;
        }
    }
    return tried;
}

static void set_memory_limits(const struct node *n, const struct settings *set)
{
    struct memory_limits l;
    memory_limits_of(&l, n->memory_bytes, set);
    l.resident = process_resident;
    memory_limits_set(&l);
}

/* Main loop, after each state. Settled: a master is known, and what this node had open before is open again. */
static void state_applied(void *arg, struct cluster_state *state)
{
    struct node *n = arg;
    struct settings persistent, all = cluster_settings(state, &persistent);
    if (state->persistent != n->levels_of[0] || state->transient != n->levels_of[1]) {
        n->levels_of[0] = state->persistent; /* compared, never looked into */
        n->levels_of[1] = state->transient;
        node_log_levels(n->o.log, n->o.settings, state, NULL);
        set_memory_limits(n, &all);
        node_limits_apply(state, n->clock);
    }
    announce_changes(&n->announcer, n->o.log, state,
                     state->nodes != NULL && state->nodes->master.p != NULL
                         && str_eq(state->nodes->master, n->id));
    if (state->nodes != NULL && state->nodes->master.p != NULL && primaries_tried(n, state)) {
        signal_flag(n, &n->settled);
    }
}

static enum err open_member(struct node *n, struct errmsg *em)
{
    struct member_opts o = {.fs = n->fs,
                            .clock = n->clock,
                            .log = n->o.log,
                            .data_dir = n->data_dir.p,
                            .id = n->id,
                            .name = n->name,
                            .conf = &n->conf,
                            .settings = n->o.settings,
                            .loop = loop_executor(n->main_loop),
                            .timers = loop_timers(n->main_loop),
                            .writes = pool_executor(n->write_pool),
                            .searches = pool_executor(n->search_pool),
                            .requests = pool_executor(n->request_pool),
                            .listings = pool_executor(n->listing_pool),
                            .background = pool_executor(n->background_pool),
                            .compute = pool_executor(n->master_pool),
                            .disk = pool_executor(n->state_pool),
                            .transport = transport_nng_api(n->transport),
                            .rng = &n->rng,
                            .loop_rng = &n->loop_rng,
                            .seed = rng_u64(&n->rng),
                            .filter_cache_bytes = memory_setting(n, SET_INDICES_QUERIES_CACHE_SIZE),
                            .index_buffer_bytes = memory_setting(n, SET_INDICES_MEMORY_INDEX_BUFFER_SIZE),
                            .index_buffer_given =
                                setting_find(n->o.settings, SET_INDICES_MEMORY_INDEX_BUFFER_SIZE) != NULL,
                            .env = node_analysis_env,
                            .report = report_of,
                            .disk_space = disk_space,
                            .applied = state_applied,
                            .self = n};
    return member_new(&n->member, &o, em);
}

/* Joins its cluster, and waits for that as long as the settings say. */
static enum err join_cluster(struct node *n, struct errmsg *em)
{
    struct timespec until;
    enum err e = loop_start(n->main_loop, em);
    if (e != ERR_OK) {
        return e;
    }
    n->main_running = true;
    transport_nng_start(n->transport);
    member_start(n->member);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(n->conf.initial_state_timeout_ms % 1000) * 1000000L;
    until.tv_sec += (time_t)(n->conf.initial_state_timeout_ms / 1000) + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&n->lock);
    int late = 0;
    while (!n->settled && !n->told_to_stop && late == 0) {
        late = pthread_cond_timedwait(&n->cond, &n->lock, &until);
    }
    pthread_mutex_unlock(&n->lock);
    if (late != 0) {
        log_warn(n->o.log, "node", "no master, or shards that are not open yet, after %lld ms",
                 (long long)n->conf.initial_state_timeout_ms);
    }
    return ERR_OK;
}

static void cluster_stopped(void *arg)
{
    struct node *n = arg;
    signal_flag(n, &n->cluster_stopped);
}

static void on_signal(void *arg, int signo)
{
    struct node *n = arg;
    log_info(n->o.log, "node", "stopping on signal %d", signo);
    node_stop(n);
}

static void on_hangup(void *arg, UNUSED int signo)
{
    struct node *n = arg;
    ERR_LOCAL(em);
    if (n->o.log_file != NULL && log_fd_reopen(n->o.log_file, &em) != ERR_OK) {
        log_error(n->o.log, "node", "the log cannot be opened again: %s", err_reason(&em));
    }
}

static enum err prepare_main_loop(struct node *n, struct errmsg *em)
{
    enum err e = loop_signal(n->main_loop, SIGTERM, on_signal, n, em);
    e = e == ERR_OK ? loop_signal(n->main_loop, SIGINT, on_signal, n, em) : e;
    e = e == ERR_OK ? loop_signal(n->main_loop, SIGHUP, on_hangup, n, em) : e;
    n->ticker = e == ERR_OK ? loop_ticker_new(n->main_loop, TICK_MS, tick, n) : NULL;
    n->watch = e == ERR_OK ? loop_ticker_new(n->main_loop, WATCH_MS, node_watch_dictionaries, n) : NULL;
    if (e == ERR_OK && (n->ticker == NULL || n->watch == NULL)) {
        return err_no_memory(em);
    }
    return e;
}

/* On a loop of HTTP. */
static void guard_memory(UNUSED void *arg)
{
    memory_guard(true);
}

static enum err start_http(struct node *n, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (unsigned i = 0; e == ERR_OK && i < n->n_http_loops; i++) {
        if (!loop_post(n->http_loops[i], guard_memory, NULL)) {
            return err_no_memory(em);
        }
        e = loop_start(n->http_loops[i], em);
        n->http_running += e == ERR_OK;
    }
    return e;
}

static enum err name_node(struct node *n, struct errmsg *em)
{
    uint64_t seeds[2];
    enum err e = process_random(seeds, sizeof(seeds), em);
    if (e != ERR_OK) {
        return e;
    }
    rng_seed(&n->rng, seeds[0]);
    rng_seed(&n->loop_rng, seeds[1]);
    random_uuid(&n->rng, n->ephemeral_id);
    e = data_folder_check(n->fs, n->data_dir.p, &n->arena, em);
    e = e != ERR_OK ? e : node_id_load(&n->id, n->fs, n->data_dir.p, &n->rng, &n->arena, em);
    struct str name = setting_str(n->o.settings, SET_NODE_NAME);
    if (name.n == 0) {
        name = process_host_name(&n->arena);
    }
    n->name = arena_str(&n->arena, name.p != NULL ? name : n->id);
    if (n->name.p != NULL) { /* in each line from here on */
        n->o.log->node = n->name.p;
        n->o.log->cluster = setting_str(n->o.settings, SET_CLUSTER_NAME).p;
    }
    return e == ERR_OK && n->name.p == NULL ? err_no_memory(em) : e;
}

static enum err start(struct node *n, struct errmsg *em)
{
    struct machine_stats machine;
    const char *conf = node_conf_dir(n);
    machine_stats(&machine);
    const unsigned cores = (unsigned)setting_i64(n->o.settings, SET_PROCESSORS);
    n->memory_bytes = machine.memory_limit_bytes;
    set_memory_limits(n, n->o.settings);
    node_limits_start(n->o.settings);
    n->levels_of[0] = n; /* the first state is looked at, also one without settings */
    enum err e = self_init(&n->me, n->o.settings, &n->arena, em);
    e = e == ERR_OK ? open_data_dir(n, em) : e;
    n->me.data_dir = n->data_dir;
    e = e == ERR_OK ? name_node(n, em) : e;
    e = e == ERR_OK ? cluster_conf_read(&n->conf, n->o.settings, n->name,
                                        (n->me.roles & 1U << NODE_MASTER) != 0, &n->arena, em)
                    : e;
    e = e == ERR_OK ? dictionaries_load(&n->dicts, n->fs, conf, n->o.share_dir, n->o.log, em) : e;
    e = e == ERR_OK ? loop_new(&n->main_loop, "main", em) : e;
    e = e == ERR_OK ? open_pools(n, cores, em) : e;
    e = e == ERR_OK ? open_transport(n, em) : e;
    e = e == ERR_OK ? open_member(n, em) : e;
    e = e == ERR_OK ? open_http(n, cores, em) : e;
    e = e == ERR_OK ? join_member(n, em) : e;
    e = e == ERR_OK ? prepare_main_loop(n, em) : e;
    e = e == ERR_OK ? join_cluster(n, em) : e;
    return e == ERR_OK ? start_http(n, em) : e;
}

enum err node_open(struct node **out, const struct node_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct node *n = calloc(1, sizeof(*n));
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->o = *opts;
    n->fs = fs_posix();
    n->clock = clock_real();
    arena_init(&n->arena, NULL, ARENA_UNLIMITED);
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->cond, NULL);
    enum err e = start(n, em);
    if (e != ERR_OK) {
        node_close(n);
        return e;
    }
    announce_start(n->o.log, n->o.settings, &n->me, node_conf_dir(n));
    *out = n;
    return ERR_OK;
}

void node_run(struct node *n)
{
    wait_flag(n, &n->told_to_stop);
}

void node_stop(struct node *n)
{
    signal_flag(n, &n->told_to_stop);
}

static void http_stopped(void *arg)
{
    struct node *n = arg;
    signal_flag(n, &n->http_stopped);
}

#define STOP_GRACE_MS 3000 /* then clients are cut, which ends what they asked for */

static void stop_tickers(void *arg)
{
    struct node *n = arg;
    loop_ticker_free(n->ticker);
    loop_ticker_free(n->watch);
    n->ticker = n->watch = NULL;
    signal_flag(n, &n->quiet);
}

/* Requests first, while everything that they wait for still runs; then nothing comes by itself any more; then
 * the cluster is left. */
static void stop_working(struct node *n)
{
    struct coordinator *co = n->member != NULL ? member_coordinator(n->member) : NULL;
    if (co != NULL) {
        coordinator_stop(co);
    }
    if (n->http != NULL && n->http_running > 0) {
        data_drain(member_data(n->member), STOP_GRACE_MS);
        http_server_stop(n->http, STOP_GRACE_MS, http_stopped, n);
        wait_flag(n, &n->http_stopped);
    }
    for (unsigned i = 0; i < n->http_running; i++) {
        loop_stop(n->http_loops[i]);
        loop_join(n->http_loops[i]);
    }
    http_server_free(n->http);
    if (co != NULL) {
        coordinator_drain(co);
    }
    if (!n->main_running) {
        loop_ticker_free(n->ticker);
        loop_ticker_free(n->watch);
        return;
    }
    loop_post(n->main_loop, stop_tickers, n);
    wait_flag(n, &n->quiet);
    pthread_mutex_lock(&n->lock);
    while (n->reloading) { /* it uses the data role */
        pthread_cond_wait(&n->cond, &n->lock);
    }
    pthread_mutex_unlock(&n->lock);
    member_stop(n->member, cluster_stopped, n);
    wait_flag(n, &n->cluster_stopped);
}

void node_close(struct node *n)
{
    if (n == NULL) {
        return;
    }
    stop_working(n);
    if (n->member != NULL) {
        member_close_shards(n->member);
    }
    if (n->transport != NULL) {
        transport_nng_stop(n->transport);
    }
    if (n->main_running) {
        loop_stop(n->main_loop);
        loop_join(n->main_loop);
    }
    pool_free(n->master_pool);
    pool_free(n->state_pool);
    pool_free(n->request_pool);
    pool_free(n->listing_pool);
    pool_free(n->search_pool);
    pool_free(n->write_pool);
    pool_free(n->background_pool);
    rest_service_free(n->rest);
    member_free(n->member); /* what the pools had left to do is done */
    transport_nng_free(n->transport);
    for (unsigned i = 0; i < n->n_http_loops; i++) {
        loop_free(n->http_loops[i]);
    }
    loop_free(n->main_loop);
    dictionaries_fini(&n->dicts);
    if (n->data_lock != NULL) {
        n->fs->unlock(n->fs->self, n->data_lock);
    }
    pthread_cond_destroy(&n->cond);
    pthread_mutex_destroy(&n->lock);
    announcer_fini(&n->announcer);
    n->o.log->node = NULL;
    arena_fini(&n->arena);
    free(n);
}
