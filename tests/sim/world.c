#include "tests/sim/world.h"

#include "common/sys/http_server.h"
#include "coordinator/core/node_report.h"
#include "node/data_folder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS       100
#define PPM           1000000
#define POOL_THREADS  2
#define START_WALL_MS 1600000000000LL
#define FIRST_VOTERS  3 /* cluster.initial_master_nodes */

int64_t world_ms(const struct world *w)
{
    return w->clock.mono_ns / 1000000;
}

void world_say(const struct world *w, const char *fmt, ...)
{
    va_list args;
    if (!w->trace) {
        return;
    }
    va_start(args, fmt);
    printf("%9.3f  ", (double)w->clock.mono_ns / 1e9);
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
}

/* ---- what a member asks of its process ---- */

static struct analysis_env no_dictionaries(void *self)
{
    (void)self;
    return (struct analysis_env){0};
}

static void report(void *self, struct node_report *out)
{
    (void)self;
    *out = (struct node_report){.host = STR("sim")};
}

static void disk_space(void *self, uint64_t *total_bytes, uint64_t *free_bytes)
{
    (void)self;
    *total_bytes = *free_bytes = (uint64_t)1 << 40;
}

static void applied(void *self, struct cluster_state *state)
{
    struct sim_node *n = self;
    if (n->w->applied != NULL) {
        n->w->applied(n->w->self, n->at, state);
    }
}

static void tick(void *arg)
{
    struct sim_node *n = arg;
    data_tick(member_data(n->member));
    n->timers->start(n->timers->self, TICK_MS, tick, n);
}

/* ---- logs ---- */

/* Only the message is worth reading here. */
static void write_line(void *self, struct str line)
{
    const struct sim_node *n = self;
    const char *m = memmem(line.p, line.n, "\"message\":", 10);
    struct str said = m != NULL ? str_mk(m + 10, (size_t)(line.p + line.n - m) - 12) : line;
    world_say(n->w, "%s: %.*s", n->name, STR_ARG(said));
}

static const struct log *log_of(struct sim_node *n)
{
    struct log *l = calloc(1, sizeof(*l));
    struct log_sink *s = calloc(1, sizeof(*s));
    *s = (struct log_sink){n, write_line};
    log_init(l, s, &n->clock, LOG_INFO);
    return n->w->trace ? l : NULL;
}

/* ---- machines ---- */

static int64_t node_mono_ns(void *self)
{
    const struct sim_node *n = self;
    int64_t ns = n->w->clock.mono_ns;
    return n->mono_offset_ns + ns / PPM * n->rate_ppm + ns % PPM * n->rate_ppm / PPM;
}

static int64_t node_wall_ms(void *self)
{
    const struct sim_node *n = self;
    return (node_mono_ns(self) - n->mono_offset_ns + n->wall_offset_ns) / 1000000 + START_WALL_MS;
}

static bool is_lane_of(const struct sim_node *n, const struct sim_lane *lane)
{
    bool own = lane == n->loop;
    for (unsigned i = 0; i < ARRAY_LEN(n->pools); i++) {
        own |= lane == n->pools[i];
    }
    return own && lane != NULL;
}

/* A disk that takes its time: whoever syncs waits, and may be killed before the sync has done anything. */
static void disk_works(void *arg)
{
    struct sim_node *n = arg;
    struct world *w = n->w;
    if (!is_lane_of(n, sim_exec_lane(w->x))
        || n->pace.usual_us_max == 0) { /* while it starts nothing takes time */
        return;
    }
    int64_t us = (int64_t)rng_below(&w->disk_rng, (uint64_t)n->pace.usual_us_max);
    if (rng_below(&w->disk_rng, 1000) < n->pace.long_per_thousand) {
        us = (int64_t)rng_below(&w->disk_rng, (uint64_t)n->pace.long_ms_max * 1000);
    }
    us = MAX_OF(us, (n->stalled_until_ms - world_ms(w)) * 1000);
    if (us >= 100000) {
        world_say(w, "%s: a sync takes %lld ms", n->name, (long long)us / 1000);
    }
    sim_exec_sleep(w->x, us * 1000);
}

void world_machine(struct world *w, unsigned at)
{
    struct sim_node *n = &w->nodes[at];
    char id[23];
    n->id_rng = w->rng;
    random_uuid(&w->rng, id);
    snprintf(n->id, sizeof(n->id), "%s", id);
    n->disk = fs_mem_new();
    fs_mem_before_sync(n->disk, disk_works, n);
}

void world_clock(struct world *w, unsigned at, int64_t rate_ppm, int64_t wall_offset_ms)
{
    struct sim_node *n = &w->nodes[at];
    int64_t before = node_mono_ns(n);
    n->rate_ppm = rate_ppm;
    n->mono_offset_ns += before - node_mono_ns(n);
    n->wall_offset_ns = wall_offset_ms * 1000000;
    world_say(w, "%s: its clock runs at %lld.%04lld, %lld ms off", n->name, (long long)rate_ppm / PPM,
              (long long)rate_ppm % PPM / 100, (long long)wall_offset_ms);
}

void world_disk(struct world *w, unsigned at, const struct disk_pace *pace)
{
    w->nodes[at].pace = *pace;
}

void world_stall(struct world *w, unsigned at, int64_t ms)
{
    world_say(w, "%s: its disk stands still for %lld ms", w->nodes[at].name, (long long)ms);
    w->nodes[at].stalled_until_ms = world_ms(w) + ms;
}

/* ---- what holds between two events ---- */

unsigned world_here(const struct world *w)
{
    const struct sim_lane *lane = sim_exec_lane(w->x);
    for (unsigned i = 0; i < w->n_nodes; i++) {
        if (w->starting == i + 1 || (w->starting == 0 && is_lane_of(&w->nodes[i], lane))) {
            return i;
        }
    }
    return SIM_NODES_MAX;
}

/* After each: nothing may run in what is looked at, so a loop that stands still in the middle of a task is left out;
 * data_invariant() does the same for shards. */
static void look(void *self, const struct sim_lane *lane)
{
    const struct world *w = self;
    for (unsigned i = 0; i < w->n_nodes; i++) {
        const struct sim_node *n = &w->nodes[i];
        if (!n->up || !is_lane_of(n, lane)) {
            continue;
        }
        if (lane == n->loop && !sim_lane_sleeps(n->loop)) {
            cluster_invariant(member_cluster(n->member));
        }
        data_invariant(member_data(n->member));
        coordinator_invariant(member_coordinator(n->member));
        return;
    }
}

/* ---- processes ---- */

static void configure(struct sim_node *n)
{
    struct world *w = n->w;
    struct cluster_conf *c = &n->conf;
    *c = (struct cluster_conf){.cluster_name = STR("sim")};
    quorum_settings_init(&c->quorum, NULL);
    c->seeds = ARENA_ARRAY(&w->arena, struct str, SIM_NODES_MAX);
    c->initial_masters = ARENA_ARRAY(&w->arena, struct str, FIRST_VOTERS);
    for (unsigned i = 0; i < w->n_nodes; i++) {
        c->seeds[c->n_seeds++] = str_of(w->nodes[i].address);
    }
    for (unsigned i = 0; i < FIRST_VOTERS && i < w->n_nodes; i++) {
        c->initial_masters[c->n_initial_masters++] = str_of(w->nodes[i].name);
    }
}

/* As node/node.c does before anything else. */
static enum err look_at_folder(struct sim_node *n, struct errmsg *em)
{
    const struct fs *fs = fs_mem_fs(n->disk);
    struct rng r = n->id_rng;
    struct str id = STR_NULL;
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    enum err e = data_folder_check(fs, "data", &a, em);
    e = e == ERR_OK ? node_id_load(&id, fs, "data", &r, &a, em) : e;
    if (e == ERR_OK && !str_is(id, n->id)) {
        e = err_set(em, ERR_INTERNAL, "the node is another one now");
    }
    arena_fini(&a);
    return e;
}

static bool refuse(struct sim_node *n, const struct errmsg *em)
{
    if (!n->w->folders) {
        printf("node %s cannot start: %s\n", n->name, err_reason(em));
        abort();
    }
    snprintf(n->refused, sizeof(n->refused), "%s", err_reason(em));
    world_say(n->w, "%s: refuses to start: %s", n->name, n->refused);
    if (n->up) {
        world_kill(n->w, n->at, false);
    }
    return false;
}

bool world_start(struct world *w, unsigned at)
{
    struct sim_node *n = &w->nodes[at];
    ERR_LOCAL(em);
    char id[23];
    n->refused[0] = '\0';
    if (w->folders && look_at_folder(n, &em) != ERR_OK) {
        return refuse(n, &em);
    }
    n->lives++;
    n->conf.n_initial_masters = n->newcomer ? 0 : n->conf.n_initial_masters;
    random_uuid(&w->rng, id);
    snprintf(n->ephemeral_id, sizeof(n->ephemeral_id), "%s", id);
    rng_seed(&n->rng, rng_u64(&w->rng));
    rng_seed(&n->loop_rng, rng_u64(&w->rng));
    n->loop = sim_lane_new(w->x, SIM_LOOP, 0);
    n->timers = sim_lane_timers(n->loop);
    sim_lane_set_rate(n->loop, n->rate_ppm);
    for (unsigned i = 0; i < 5; i++) {
        n->pools[i] = sim_lane_new(w->x, i < 3 ? SIM_POOL : SIM_LOOP, 0);
        sim_lane_set_threads(n->pools[i], i < 3 ? POOL_THREADS : 1);
        sim_lane_set_rate(n->pools[i], n->rate_ppm);
    }
    const struct transport *tr = network_open(w->net, at, str_of(n->address), str_of(n->ephemeral_id));
    struct member_opts o = {.fs = fs_mem_fs(n->disk),
                            .clock = &n->clock,
                            .log = log_of(n),
                            .data_dir = "data",
                            .id = str_of(n->id),
                            .name = str_of(n->name),
                            .conf = &n->conf,
                            .settings = &w->settings,
                            .loop = sim_lane_executor(n->loop),
                            .timers = n->timers,
                            .writes = sim_lane_executor(n->pools[0]),
                            .searches = sim_lane_executor(n->pools[1]),
                            .background = sim_lane_executor(n->pools[2]),
                            .compute = sim_lane_executor(n->pools[3]),
                            .disk = sim_lane_executor(n->pools[4]),
                            .transport = tr,
                            .rng = &n->rng,
                            .loop_rng = &n->loop_rng,
                            .seed = rng_u64(&w->rng),
                            .env = no_dictionaries,
                            .report = report,
                            .disk_space = disk_space,
                            .applied = applied,
                            .self = n};
    struct node_meta local = {.id = str_of(n->id),
                              .name = str_of(n->name),
                              .ephemeral_id = str_of(n->ephemeral_id),
                              .host = STR("sim"),
                              .transport_address = str_of(n->address),
                              .roles = ROLE_MASTER | ROLE_DATA};
    n->up = true;
    w->starting = at + 1;
    bool made = member_new(&n->member, &o, &em) == ERR_OK && member_join(n->member, &local, &em) == ERR_OK;
    if (made) {
        network_start(w->net, at);
        member_start(n->member);
    }
    w->starting = 0;
    if (!made) {
        return refuse(n, &em);
    }
    n->timers->start(n->timers->self, TICK_MS, tick, n);
    world_say(w, "%s: started", n->name);
    return true;
}

void world_kill(struct world *w, unsigned at, bool power)
{
    struct sim_node *n = &w->nodes[at];
    if (!n->up) {
        return;
    }
    world_say(w, "%s: killed%s", n->name, power ? ", power lost" : "");
    world_pause(w, at, false);
    n->up = false;
    n->power_lost = power;
    n->member = NULL;
    sim_lane_kill(n->loop);
    for (unsigned i = 0; i < 5; i++) {
        sim_lane_kill(n->pools[i]);
    }
    network_kill(w->net, at);
    if (power) {
        fs_mem_crash(n->disk, &w->rng);
    } else {
        fs_mem_kill(n->disk);
    }
}

void world_pause(struct world *w, unsigned at, bool paused)
{
    struct sim_node *n = &w->nodes[at];
    if (!n->up || n->paused == paused) {
        return;
    }
    world_say(w, "%s: %s", n->name, paused ? "stopped" : "goes on");
    n->paused = paused;
    sim_lane_pause(n->loop, paused);
    for (unsigned i = 0; i < 5; i++) {
        sim_lane_pause(n->pools[i], paused);
    }
}

static void sent(void *self, unsigned from, unsigned to, uint16_t kind, bool is_answer)
{
    static const char *const coordination[] = {"handshake",    "peers",   "pre-vote", "start-join",
                                               "join",         "publish", "commit",   "follower check",
                                               "leader check", "chunk"};
    if (kind >= 1 && kind <= 10) {
        world_say(self, "n%u -> n%u: %s%s", from, to, coordination[kind - 1], is_answer ? " answer" : "");
    } else {
        world_say(self, "n%u -> n%u: message %u%s", from, to, kind, is_answer ? " answer" : "");
    }
}

void world_init(struct world *w, uint64_t seed, unsigned n_nodes, bool trace)
{
    *w = (struct world){.n_nodes = n_nodes, .trace = trace};
    clock_sim_init(&w->clock, START_WALL_MS);
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    settings_init(&w->settings, &w->arena);
    rng_seed(&w->rng, seed);
    struct sim_exec_opts xo = {.clock = &w->clock,
                               .seed = rng_u64(&w->rng),
                               .task_delay_ns_max = 200000,
                               .sleeps = true,
                               .after = look,
                               .self = w};
    w->x = sim_exec_new(&xo);
    rng_seed(&w->disk_rng, rng_u64(&w->rng));
    w->net = network_new(w->x, &w->rng, n_nodes, 5);
    network_trace(w->net, trace ? sent : NULL, w);
    for (unsigned i = 0; i < n_nodes; i++) {
        struct sim_node *n = &w->nodes[i];
        n->w = w;
        n->at = i;
        n->clock = (struct clock){n, node_mono_ns, node_wall_ms};
        n->rate_ppm = PPM;
        snprintf(n->name, sizeof(n->name), "n%u", i);
        snprintf(n->address, sizeof(n->address), "10.0.0.%u:9300", i + 1);
        world_machine(w, i);
    }
    for (unsigned i = 0; i < n_nodes; i++) {
        configure(&w->nodes[i]);
    }
}
