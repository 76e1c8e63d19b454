/* The cluster service: the applied state, what coordination tells, time and life. */
#include "master/cluster_int.h"

#include <stdlib.h>

void cluster_under_way(struct cluster *c)
{
    c->under_way++;
}

static void ended(struct later *l)
{
    struct cluster *c = CONTAINER_OF(l, struct cluster, end);
    c->stopped(c->stopped_arg);
}

void cluster_left(struct cluster *c)
{
    c->under_way--;
    if (c->stopping && c->under_way == 0 && c->stopped != NULL && c->end.run == NULL) {
        later(&c->end, ended);
    }
}

/* ---- the applied state ---- */

struct cluster_state *cluster_state(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    struct cluster_state *s = cluster_state_ref(c->state);
    pthread_mutex_unlock(&c->lock);
    return s;
}

static void set_state(struct cluster *c, struct cluster_state *s) /* takes the reference */
{
    pthread_mutex_lock(&c->lock);
    struct cluster_state *old = c->state;
    c->state = s;
    pthread_mutex_unlock(&c->lock);
    cluster_state_unref(old);
}

/* The applied state, but that nobody leads: the same version, for readers on this node only. */
static void show_no_master(struct cluster *c)
{
    struct state_builder b;
    if (c->state->nodes == NULL || c->state->nodes->master.p == NULL || !state_builder_init(&b, c->state)) {
        return;
    }
    struct nodes_part *p = nodes_part_copy(c->state->nodes, 0);
    if (p == NULL) {
        state_builder_fini(&b);
        return;
    }
    p->master = STR_NULL;
    state_put_nodes(&b, p);
    b.next->version--;
    struct cluster_state *s = state_builder_seal(&b, c->state->state_uuid);
    if (s != NULL) {
        set_state(c, s);
    }
}

/* ---- what coordination tells ---- */

static void tell_watchers(struct cluster *c)
{
    for (uint32_t i = 0; i < c->n_watchers && !c->stopping; i++) {
        c->watchers[i].watch(c->watchers[i].arg, c->state);
    }
}

static void stop_now(void *arg);

static void on_mode(void *self, enum quorum_mode mode, uint64_t term, const struct node_meta *master)
{
    struct cluster *c = self;
    bool led = c->mode == QUORUM_LEADER;
    c->mode = mode;
    c->term = term;
    arena_reset(&c->master_arena);
    c->master = (struct node_meta){0};
    if (master != NULL && !node_meta_copy(&c->master, master, &c->master_arena)) {
        c->master = (struct node_meta){0};
    }
    if (led && mode != QUORUM_LEADER) {
        batch_stop_leading(c);
    }
    if (mode == QUORUM_LEADER) {
        c->disks_at_ms = cluster_now_ms(c); /* copies are placed by it */
        c->n_disks = 0;
        cluster_set_timer(c, c->disks_at_ms);
        wait_clock_begin(&c->wait_clock, quorum_accepted(quorum_driver_core(c->driver)), cluster_now_ms(c),
                         clock_wall_ms(c->o.clock));
        batch_begin_leading(c);
        log_info(c->o.log, "master", "elected master of term %llu", (unsigned long long)term);
    } else if (mode == QUORUM_CANDIDATE) {
        show_no_master(c);
        tell_watchers(c);
        log_info(c->o.log, "master", "no master in term %llu", (unsigned long long)term);
    } else {
        log_info(c->o.log, "master", "master of term %llu is %.*s", (unsigned long long)term,
                 STR_ARG(c->master.name));
    }
    master_requests_step(c);
    if (mode == QUORUM_FOLLOWER && c->leaving != NULL) {
        timer_cancel(c->o.timers, c->leaving);
        c->leaving = NULL;
        executor_submit_force(c->o.loop, stop_now, c); /* not from within coordination */
    }
}

static void applied(void *arg);

static void applied_on_loop(void *arg)
{
    struct cluster *c = arg;
    c->fresh = false;
    int64_t arrived = quorum_driver_arrived_ns(c->driver, c->applying->version);
    c->took_us = arrived != 0 ? (c->o.clock->mono_ns(c->o.clock->self) - arrived) / 1000 : -1;
    if (c->mode == QUORUM_LEADER) {
        lookup_say_lost(c, c->state, c->applying);
    }
    set_state(c, c->applying);
    c->applying = NULL;
    if (c->mode == QUORUM_CANDIDATE) {
        show_no_master(c);
    }
    void (*done)(void *) = c->apply_done;
    done(c->apply_arg);
    tell_watchers(c);
    master_requests_step(c);
    cluster_left(c);
}

static void applied(void *arg)
{
    struct cluster *c = arg;
    executor_submit_force(c->o.loop, applied_on_loop, c);
}

static void on_apply(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg)
{
    struct cluster *c = self;
    c->applying = cluster_state_ref(state);
    c->apply_done = done;
    c->apply_arg = arg;
    cluster_under_way(c);
    if (!c->o.apply(c->o.self, state, applied, c)) {
        applied(c); /* its shards agree with the next one */
    }
}

static void on_change(void *self, enum quorum_change what, const struct node_meta *node, struct str why,
                      const struct str_set *config)
{
    struct cluster *c = self;
    if (what == CHANGE_VOTERS) {
        batch_want_config(c, config);
        return;
    }
    if (what == CHANGE_JOINED) {
        lookup_forget(c, node->id); /* another process, perhaps over other files */
    }
    log_info(c->o.log, "master", "node %.*s %s %.*s", STR_ARG(node->name),
             what == CHANGE_JOINED ? "joins" : "left:", STR_ARG(why));
    batch_want_nodes(c, node, what == CHANGE_JOINED, why);
}

static void on_published(void *self, uint64_t version, const struct errmsg *error)
{
    struct cluster *c = self;
    batch_published(c, version, error);
    cluster_set_timer(c, batch_wake(c));
}

static void on_acked(void *self, uint64_t version, bool all)
{
    batch_acked(self, version, all);
}

/* ---- time ---- */

static void tick(void *arg)
{
    struct cluster *c = arg;
    c->timer = NULL;
    c->timer_ms = INT64_MAX;
    batch_tick(c);
    disk_watch_tick(c);
    master_requests_step(c);
    cluster_set_timer(c, batch_wake(c));
    if (c->mode == QUORUM_LEADER && c->disks_asked == 0) { /* else the last answer sets it */
        cluster_set_timer(c, c->disks_at_ms);
    }
}

void cluster_set_timer(struct cluster *c, int64_t mono_ms)
{
    if (mono_ms == INT64_MAX || c->stopping || (c->timer != NULL && c->timer_ms <= mono_ms)) {
        return;
    }
    if (c->timer != NULL) {
        timer_cancel(c->o.timers, c->timer);
    }
    c->timer_ms = mono_ms;
    c->timer = timer_start(c->o.timers, MAX_OF(mono_ms - cluster_now_ms(c), 0), tick, c);
}

/* ---- life ---- */

/* A node that knows nothing begins with no configuration at all: it can neither vote nor be elected before it
 * has one. */
static enum err empty_state(const struct cluster_opts *o, struct cluster_state **out, struct errmsg *em)
{
    struct state_builder b;
    struct coordination_part *p = coordination_part_new();
    if (p == NULL || !state_builder_init(&b, NULL)) {
        state_part_unref(p != NULL ? &p->part : NULL);
        return err_no_memory(em);
    }
    state_put_coordination(&b, p);
    bool ok = state_set_names(&b, o->cluster_name, STR(""));
    b.next->version--;
    *out = ok ? state_builder_seal(&b, STR("_na_")) : NULL;
    if (*out == NULL) {
        state_builder_fini(&b);
        return err_no_memory(em);
    }
    return ERR_OK;
}

enum err cluster_new(struct cluster **out, const struct cluster_opts *opts, struct errmsg *em)
{
    struct cluster *c = calloc(1, sizeof(*c));
    struct cluster_state *accepted = NULL;
    uint64_t term = 0;
    *out = NULL;
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->o = *opts;
    c->fresh = true;
    c->reroute_at_ms = c->timer_ms = INT64_MAX;
    pthread_mutex_init(&c->lock, NULL);
    arena_init(&c->master_arena, NULL, ARENA_UNLIMITED);
    arena_init(&c->config_arena, NULL, ARENA_UNLIMITED);
    arena_init(&c->found_arena, NULL, ARENA_UNLIMITED);
    enum err e = state_log_open(&c->log, opts->fs, opts->dir, &term, &accepted, em);
    e = e == ERR_OK && accepted == NULL ? empty_state(opts, &accepted, em) : e;
    if (e == ERR_OK) {
        accepted->own = opts->own;
        struct quorum_driver_opts d = {.loop = opts->loop,
                                       .timers = opts->timers,
                                       .clock = opts->clock,
                                       .transport = opts->transport,
                                       .disk = opts->disk,
                                       .disk_log = c->log,
                                       .log = opts->log,
                                       .events = {c, on_mode, on_apply, on_change, on_published, on_acked},
                                       .quorum = {.local = opts->local,
                                                  .cluster_name = opts->cluster_name,
                                                  .term = term,
                                                  .accepted = accepted,
                                                  .initial_masters = opts->initial_masters,
                                                  .n_initial_masters = opts->n_initial_masters,
                                                  .rng = opts->rng,
                                                  .settings = opts->settings}};
        e = quorum_driver_new(&c->driver, &d, em);
        c->state =
            cluster_state_ref(accepted); /* until something is committed: what was known, led by nobody */
        show_no_master(c);
    }
    cluster_state_unref(accepted);
    if (e != ERR_OK) {
        cluster_free(c);
        return e;
    }
    cluster_serve(c);
    *out = c;
    return ERR_OK;
}

static void start_on_loop(void *arg)
{
    struct cluster *c = arg;
    quorum_driver_start(c->driver, c->o.seeds, c->o.n_seeds);
}

void cluster_start(struct cluster *c)
{
    executor_submit_force(c->o.loop, start_on_loop, c);
}

static void driver_stopped(void *arg)
{
    cluster_left(arg);
}

static void stop_now(void *arg)
{
    struct cluster *c = arg;
    if (c->stopping) { /* time was up, and another leads */
        return;
    }
    c->stopping = true;
    c->leaving = NULL;
    c->mode = QUORUM_CANDIDATE;
    if (c->timer != NULL) {
        timer_cancel(c->o.timers, c->timer);
        c->timer = NULL;
    }
    cluster_under_way(c);
    quorum_driver_stop(c->driver, driver_stopped, c);
    batch_stop_leading(c);
    if (c->batch != NULL && !quorum_publishing(quorum_driver_core(c->driver))) {
        /* computed() will see that nobody leads here */
    } else if (c->batch != NULL) {
        ERR_LOCAL(em);
        err_set(&em, ERR_NODE_CLOSED, "this node is stopping");
        batch_published(c, quorum_accepted(quorum_driver_core(c->driver))->version, &em);
    }
    master_requests_step(c);
}

/* A master hands over first: without it nobody would lead until the others have noticed and elected one. */
static void stop_on_loop(void *arg)
{
    struct cluster *c = arg;
    if (c->mode == QUORUM_LEADER && quorum_driver_hand_over(c->driver)) {
        c->leaving = timer_start(c->o.timers, HAND_OVER_MS, stop_now, c);
    }
    if (c->leaving == NULL) {
        stop_now(c);
    }
}

void cluster_stop(struct cluster *c, void (*done)(void *arg), void *arg)
{
    c->stopped = done;
    c->stopped_arg = arg;
    executor_submit_force(c->o.loop, stop_on_loop, c);
}

bool cluster_is_forming(const struct cluster *c, struct buf *why)
{
    if (c->mode != QUORUM_CANDIDATE) {
        return false;
    }
    discovery_describe(quorum_driver_core(c->driver), why);
    return true;
}

void cluster_free(struct cluster *c)
{
    if (c == NULL) {
        return;
    }
    quorum_driver_free(c->driver);
    state_log_close(c->log);
    cluster_state_unref(c->state);
    free(c->found);
    free(c->disks);
    free(c->disks_next);
    arena_fini(&c->master_arena);
    arena_fini(&c->config_arena);
    arena_fini(&c->found_arena);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int64_t cluster_applied_took_us(const struct cluster *c)
{
    return c->took_us;
}

void cluster_watch(struct cluster *c, void (*watch)(void *arg, struct cluster_state *state), void *arg)
{
    if (c->n_watchers < WATCHERS_MAX) {
        c->watchers[c->n_watchers].watch = watch;
        c->watchers[c->n_watchers++].arg = arg;
    }
}
