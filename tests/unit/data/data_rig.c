#include "tests/unit/data/data_rig.h"

#include "data/data.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANE_WRITE, LANE_SEARCH, LANE_BACKGROUND, LANE_MAIN };

/* ---- executors ----------------------------------------------------------------------------------------- */

struct coming {
    struct coming *next;
    struct sim_lane *lane;
    void (*run)(void *arg);
    void *arg;
};

/* A node that ends submits from its own thread, with a strand's lock held, and what a step runs takes strands' locks: so
 * only the list's own lock is taken here, and the next step hands over what has come. */
static bool submit(void *self, void (*run)(void *arg), void *arg)
{
    struct dr_lane *l = self;
    struct coming *c = malloc(sizeof(*c));
    ck_assert(c != NULL);
    *c = (struct coming){NULL, l->lane, run, arg};
    pthread_mutex_lock(&l->rig->coming_lock);
    *l->rig->coming_end = c;
    l->rig->coming_end = &c->next;
    pthread_mutex_unlock(&l->rig->coming_lock);
    return true;
}

/* In the order in which it came. */
static void hand_over(struct dr_rig *r)
{
    pthread_mutex_lock(&r->coming_lock);
    struct coming *first = r->coming;
    r->coming = NULL;
    r->coming_end = &r->coming;
    pthread_mutex_unlock(&r->coming_lock);
    for (struct coming *c = first, *next; c != NULL; c = next) {
        next = c->next;
        ck_assert(executor_submit_force(sim_lane_executor(c->lane), c->run, c->arg));
        free(c);
    }
}

bool dr_step(struct dr_rig *r)
{
    pthread_mutex_lock(&r->lock);
    hand_over(r);
    bool more = sim_exec_step(r->x);
    pthread_mutex_unlock(&r->lock);
    return more;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

static void tick(void *arg)
{
    struct dr_rig *r = arg;
    for (int i = 0; i < RIG_NODES; i++) {
        if (r->nodes[i].up) {
            data_tick(r->nodes[i].s);
        }
    }
    if (!r->ending) {
        ck_assert(timer_start(sim_lane_timers(r->net), 100, tick, r) != NULL);
    }
}

void dr_until(struct dr_rig *r, bool (*cond)(struct dr_rig *r), int64_t ms)
{
    int64_t end = clock_mono_ms(&r->clock.base) + ms;
    while (!cond(r)) {
        ck_assert_msg(clock_mono_ms(&r->clock.base) < end, "nothing comes of it: %s", r->why);
        dr_step(r);
    }
}

void dr_run(struct dr_rig *r, int64_t ms)
{
    int64_t end = clock_mono_ms(&r->clock.base) + ms;
    while (clock_mono_ms(&r->clock.base) < end) {
        dr_step(r);
    }
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

/* No fields are added here. */
static bool update_mapping(void *self, struct str index, struct str uuid, struct str type, struct str mapping,
                           void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    (void)type;
    (void)self;
    (void)index;
    (void)uuid;
    (void)mapping;
    (void)done;
    (void)arg;
    return false;
}

void dr_start(struct dr_rig *r, int node)
{
    struct dr_node *n = &r->nodes[node];
    ERR_LOCAL(em);
    n->rig = r;
    snprintf(n->id, sizeof(n->id), "node-%d", node);
    snprintf(n->ephemeral, sizeof(n->ephemeral), "life-%d-%u", node, ++n->lives);
    n->transport = dr_transport(n);
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < RIG_LANES; i++) {
        n->lanes[i] =
            (struct dr_lane){r, sim_lane_new(r->x, SIM_POOL, 0), {.self = &n->lanes[i], .submit = submit}};
        ck_assert(n->lanes[i].lane != NULL);
    }
    pthread_mutex_unlock(&r->lock);
    struct data_opts o = {.fs = fs_mem_fs(n->disk),
                          .clock = &r->clock.base,
                          .log = &r->log,
                          .dir = "/data",
                          .write_pool = &n->lanes[LANE_WRITE].executor,
                          .search_pool = &n->lanes[LANE_SEARCH].executor,
                          .background_pool = &n->lanes[LANE_BACKGROUND].executor,
                          .node_id = str_of(n->id),
                          .update_mapping = update_mapping,
                          .shard_event = dr_shard_event,
                          .node_self = n,
                          .transport = &n->transport};
    ck_assert_int_eq(data_service_new(&n->s, &o, &em), ERR_OK);
    n->up = true;
    n->cut = false;
}

struct ending {
    struct data_service *s;
    _Atomic bool done;
};

static void *end_run(void *arg)
{
    struct ending *e = arg;
    data_service_free(e->s);
    e->done = true;
    return NULL;
}

void dr_stop(struct dr_rig *r, int node, int how)
{
    struct dr_node *n = &r->nodes[node];
    struct ending e = {.s = n->s};
    pthread_t t;
    n->up = false;
    n->cut = true;
    if (how == 0) {
        fs_mem_kill(n->disk);
    } else if (how == 1) {
        fs_mem_drop_unsynced(n->disk);
    } else if (how > 1) {
        fs_mem_crash(n->disk, &r->rng);
    }
    dr_end_flights(r, node);
    ck_assert_int_eq(pthread_create(&t, NULL, end_run, &e), 0);
    while (!e.done) {
        dr_step(r);
        dr_end_flights(r, node);
        sched_yield();
    }
    pthread_join(t, NULL);
    n->s = NULL;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static void to_stderr(void *self, struct str line)
{
    (void)self;
    fprintf(stderr, "%.*s", STR_ARG(line));
}

static const struct log_sink sink = {NULL, to_stderr};

void dr_init(struct dr_rig *r, uint64_t seed)
{
    pthread_mutexattr_t recursive;
    memset(r, 0, sizeof(*r));
    rng_seed(&r->rng, seed);
    clock_sim_init(&r->clock, 1600000000000);
    struct sim_exec_opts o = {.clock = &r->clock, .seed = seed, .task_delay_ns_max = 50000};
    r->x = sim_exec_new(&o);
    r->net = sim_lane_new(r->x, SIM_LOOP, 0);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    pthread_mutex_init(&r->coming_lock, NULL);
    r->coming_end = &r->coming;
    log_init(&r->log, &sink, &r->clock.base, getenv("RIG_LOG") != NULL ? LOG_DEBUG : LOG_OFF);
    r->delay_ns_max = 2000000;
    r->mapping_version = 1;
    snprintf(r->mapping, sizeof(r->mapping), "%s",
             "{\"properties\":{\"n\":{\"type\":\"long\"},\"t\":{\"type\":\"keyword\"}}}");
    for (int i = 0; i < RIG_NODES; i++) {
        r->nodes[i].disk = fs_mem_new();
        dr_start(r, i);
    }
    ck_assert(timer_start(sim_lane_timers(r->net), 100, tick, r) != NULL);
}

void dr_fini(struct dr_rig *r)
{
    r->ending = true;
    for (int i = 0; i < RIG_NODES; i++) {
        if (r->nodes[i].up) {
            dr_stop(r, i, -1);
        }
    }
    while (dr_step(r)) {
    }
    ck_assert(r->flights == NULL);
    for (int i = 0; i < RIG_NODES; i++) {
        fs_mem_free(r->nodes[i].disk);
    }
    cluster_state_unref(r->state);
    sim_exec_free(r->x);
    log_fini(&r->log);
    pthread_mutex_destroy(&r->coming_lock);
    pthread_mutex_destroy(&r->lock);
}
