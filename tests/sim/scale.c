#include "tests/sim/scale.h"

#include "common/base/rand.h"
#include "common/cluster/health.h"
#include "master/cluster.h"
#include "tests/seams/sim_exec.h"
#include "tests/sim/network.h"
#include "tests/sim/null_disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_AN_INDEX 100 /* half of them primaries */
#define SECOND          (1000LL * 1000 * 1000)
#define PATIENCE        (600 * SECOND)
#define DELAY_MS_MAX    2
#define LOOK_NS         (SECOND / 5000)
#define QUIET_NS        (2 * SECOND)

struct scale;

struct big_node {
    struct scale *s;
    unsigned at;
    char name[16], address[32], id[32], ephemeral_id[32];
    bool up;
    struct rng rng, loop_rng;
    struct sim_lane *loop, *compute, *disk;
    struct cluster *cluster;
    struct cluster_state *applied;
    void (*done)(void *arg); /* of the one that is being applied */
    void *arg;
    struct later end;
};

struct waiting_copy { /* that is to say that it has started */
    unsigned node;
    struct shard_event event;
};

struct scale {
    struct scale_opts o;
    struct clock_sim clock;
    struct sim_exec *x;
    struct network *net;
    struct rng rng;
    struct big_node *nodes;
    struct str *names, *addresses;
    struct arena arena;
    struct log log;
    struct log_sink sink;
    /* the copies that initialize in the state that was looked at last */
    uint64_t looked_term, looked_version;
    struct waiting_copy *waiting;
    size_t n_waiting, cap_waiting;
    size_t *first; /* by node: its first in `waiting` */
    /* what is waited for */
    uint64_t want_term, want_version;
    unsigned answered, wanted;
    /* where a measurement began */
    uint64_t messages, bytes;
    int64_t ns, cpu_ns;
    int64_t lanes_ns;
};

/* ---- what a data role would do ---- */

static unsigned place_of(const struct scale *s, struct str id)
{
    return (unsigned)strtoul(id.p + 5, NULL, 10); /* "node-00017" */
    (void)s;
}

static int by_node(const void *a, const void *b)
{
    const struct waiting_copy *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Once for all nodes: which copies have begun. */
static void look_for_copies(struct scale *s, const struct cluster_state *state)
{
    if (s->looked_term == state->term && s->looked_version == state->version) {
        return;
    }
    s->looked_term = state->term;
    s->looked_version = state->version;
    s->n_waiting = 0;
    for (uint32_t i = 0; i < state->n_routing; i++) {
        const struct index_routing *r = state->routing[i];
        const struct index_meta *m = cluster_index(state, r->name);
        for (uint32_t k = 0; k < r->n; k++) {
            for (uint32_t c = 0; c < r->shards[k].n; c++) {
                const struct shard_copy *copy = &r->shards[k].copies[c];
                if (copy->state != COPY_INITIALIZING) {
                    continue;
                }
                if (s->n_waiting == s->cap_waiting) {
                    s->cap_waiting = MAX_OF(s->cap_waiting * 2, (size_t)1024);
                    s->waiting = realloc(s->waiting, s->cap_waiting * sizeof(*s->waiting));
                }
                s->waiting[s->n_waiting++] = (struct waiting_copy){place_of(s, copy->node),
                                                                   {.kind = SHARD_EVENT_STARTED,
                                                                    .index_uuid = r->uuid,
                                                                    .shard = k,
                                                                    .allocation_id = copy->allocation_id,
                                                                    .primary_term = m->primary_terms[k]}};
            }
        }
    }
    qsort(s->waiting, s->n_waiting, sizeof(*s->waiting), by_node);
    for (size_t at = 0, i = 0; at <= s->o.nodes; at++) {
        while (i < s->n_waiting && s->waiting[i].node < at) {
            i++;
        }
        s->first[at] = i;
    }
}

static void applied(struct later *l)
{
    struct big_node *n = CONTAINER_OF(l, struct big_node, end);
    n->done(n->arg);
}

static bool apply(void *self, struct cluster_state *state, void (*done)(void *arg), void *arg)
{
    struct big_node *n = self;
    look_for_copies(n->s, state);
    for (size_t i = n->s->first[n->at]; i < n->s->first[n->at + 1]; i++) {
        cluster_shard_event(n->cluster, &n->s->waiting[i].event, NULL, NULL);
    }
    cluster_state_unref(n->applied);
    n->applied = cluster_state_ref(state);
    n->done = done;
    n->arg = arg;
    later(&n->end, applied);
    return true;
}

static enum err list_copies(void *self, const struct shard_id *shards, uint32_t n, struct arena *arena,
                            struct found_copy **out, uint32_t *n_out, struct errmsg *em)
{
    (void)self, (void)shards, (void)n, (void)arena, (void)em;
    *out = NULL;
    *n_out = 0;
    return ERR_OK;
}

static void disk_space(void *self, uint64_t *total_bytes, uint64_t *free_bytes)
{
    (void)self;
    *total_bytes = *free_bytes = (uint64_t)1 << 40;
}

static enum err merge_mapping(void *self, const struct settings *index_settings, struct str old,
                              struct str type, const struct json *body, struct buf *out, struct errmsg *em)
{
    (void)self, (void)index_settings, (void)old, (void)type, (void)body, (void)em;
    buf_str(out, STR("{}"));
    return ERR_OK;
}

static enum err check_analysis(void *self, const struct settings *index_settings, struct errmsg *em)
{
    (void)self, (void)index_settings, (void)em;
    return ERR_OK;
}

static enum err check_query(void *self, const struct json *query, struct str text,
                            const struct index_meta *index, struct errmsg *em)
{
    (void)self, (void)query, (void)text, (void)index, (void)em;
    return ERR_OK;
}

/* ---- nodes ---- */

static void write_line(void *self, struct str line)
{
    const struct scale *s = self;
    printf("%9.3f  %.*s\n", (double)s->clock.mono_ns / 1e9, STR_ARG(line));
}

static void node_start(struct scale *s, unsigned at)
{
    struct big_node *n = &s->nodes[at];
    ERR_LOCAL(em);
    rng_seed(&n->rng, rng_u64(&s->rng));
    rng_seed(&n->loop_rng, rng_u64(&s->rng));
    n->loop = sim_lane_new(s->x, SIM_LOOP, 0);
    n->compute = sim_lane_new(s->x, SIM_LOOP, 0);
    n->disk = sim_lane_new(s->x, SIM_LOOP, 0);
    struct cluster_opts o = {.loop = sim_lane_executor(n->loop),
                             .timers = sim_lane_timers(n->loop),
                             .clock = &s->clock.base,
                             .transport =
                                 network_open(s->net, at, str_of(n->address), str_of(n->ephemeral_id)),
                             .compute = sim_lane_executor(n->compute),
                             .disk = sim_lane_executor(n->disk),
                             .fs = null_disk(),
                             .dir = "_state",
                             .log = s->o.trace && at < s->o.masters ? &s->log : NULL,
                             .env = {.clock = &s->clock.base,
                                     .rng = &n->rng,
                                     .self = n,
                                     .merge_mapping = merge_mapping,
                                     .check_analysis = check_analysis,
                                     .check_query = check_query},
                             .rng = &n->loop_rng,
                             .local = {.id = str_of(n->id),
                                       .name = str_of(n->name),
                                       .ephemeral_id = str_of(n->ephemeral_id),
                                       .host = STR("sim"),
                                       .transport_address = str_of(n->address),
                                       .roles = ROLE_DATA | (at < s->o.masters ? (uint32_t)ROLE_MASTER : 0)},
                             .cluster_name = STR("scale"),
                             .initial_masters = s->names,
                             .seeds = s->addresses,
                             .n_initial_masters = at < s->o.masters ? s->o.masters : 0,
                             .n_seeds = s->o.masters,
                             .apply = apply,
                             .list_copies = list_copies,
                             .disk_space = disk_space,
                             .self = n};
    quorum_settings_init(&o.settings, NULL);
    if (cluster_new(&n->cluster, &o, &em) != ERR_OK) {
        printf("a node cannot start: %s\n", err_reason(&em));
        abort();
    }
    n->up = true;
    network_start(s->net, at);
    cluster_start(n->cluster);
}

static void node_kill(struct scale *s, unsigned at)
{
    struct big_node *n = &s->nodes[at];
    n->up = false;
    sim_lane_kill(n->loop);
    sim_lane_kill(n->compute);
    sim_lane_kill(n->disk);
    network_kill(s->net, at);
}

static unsigned nodes_up(const struct scale *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->o.nodes; i++) {
        n += s->nodes[i].up;
    }
    return n;
}

/* The one that leads; NULL: nobody, for all that the nodes know. */
static struct big_node *leader(const struct scale *s)
{
    const struct cluster_state *newest = NULL;
    for (unsigned i = 0; i < s->o.nodes; i++) {
        const struct cluster_state *a = s->nodes[i].up ? s->nodes[i].applied : NULL;
        if (a != NULL
            && (newest == NULL || a->term > newest->term
                || (a->term == newest->term && a->version > newest->version))) {
            newest = a;
        }
    }
    const struct node_meta *m = newest != NULL ? cluster_master(newest) : NULL;
    struct big_node *n = m != NULL ? &s->nodes[place_of(s, m->id)] : NULL;
    return n != NULL && n->up ? n : NULL;
}

/* ---- measuring ---- */

static void begin(struct scale *s)
{
    s->messages = network_messages(s->net);
    s->bytes = network_bytes(s->net);
    s->ns = s->clock.mono_ns;
    s->lanes_ns = 0;
    for (unsigned i = 0; i < s->o.nodes; i++) {
        const struct big_node *n = &s->nodes[i];
        if (n->loop != NULL) {
            s->lanes_ns -= sim_lane_cpu_ns(n->loop) + sim_lane_cpu_ns(n->compute) + sim_lane_cpu_ns(n->disk);
        }
    }
}

static int64_t node_cpu_ns(const struct big_node *n)
{
    return sim_lane_cpu_ns(n->loop) + sim_lane_cpu_ns(n->compute) + sim_lane_cpu_ns(n->disk);
}

/* of: whose processor time is told beside that of all; its own when the measurement began */
static void end(struct scale *s, const char *what, const struct big_node *of, int64_t of_ns)
{
    int64_t all = s->lanes_ns;
    for (unsigned i = 0; i < s->o.nodes; i++) {
        all += s->nodes[i].loop != NULL ? node_cpu_ns(&s->nodes[i]) : 0;
    }
    double master = of != NULL ? (double)(node_cpu_ns(of) - of_ns) / 1e6 : 0;
    double others = ((double)all / 1e6 - master) / MAX_OF(s->o.nodes - 1, 1U);
    printf("%-42s %8.0f ms %9llu messages %10.2f MB   master %8.1f ms cpu, others %6.2f ms each\n", what,
           (double)(s->clock.mono_ns - s->ns) / 1e6,
           (unsigned long long)(network_messages(s->net) - s->messages),
           (double)(network_bytes(s->net) - s->bytes) / 1e6, master, others);
    fflush(stdout);
}

/* Every node that is up has applied a state of a master, with all of them and no other, in which no copy is missing, as far as
 * is asked. */
struct goal {
    struct scale *s;
    int64_t look_ns;                /* not asked again before */
    uint64_t bad_term, bad_version; /* a state that was found wanting */
    uint64_t term, version;         /* at least */
    unsigned nodes;                 /* in the state */
    bool green, active;             /* active: every primary is */
};

static bool is_good(struct goal *g, const struct cluster_state *a)
{
    if (a->term == g->bad_term && a->version == g->bad_version) {
        return false;
    }
    enum health h = g->green || g->active ? cluster_health(a).status : HEALTH_GREEN;
    bool good = g->green ? h == HEALTH_GREEN : h != HEALTH_RED;
    g->bad_term = good ? g->bad_term : a->term;
    g->bad_version = good ? g->bad_version : a->version;
    return good;
}

static bool reached(void *arg)
{
    struct goal *g = arg;
    const struct cluster_state *good = NULL;
    if (g->s->clock.mono_ns < g->look_ns) {
        return false;
    }
    g->look_ns = g->s->clock.mono_ns + LOOK_NS;
    for (unsigned i = 0; i < g->s->o.nodes; i++) {
        const struct big_node *n = &g->s->nodes[i];
        const struct cluster_state *a = n->applied;
        if (!n->up) {
            continue;
        }
        if (a == NULL || cluster_master(a) == NULL || a->term < g->term
            || (a->term == g->term && a->version < g->version) || a->nodes->n != g->nodes) {
            return false;
        }
        if (good != NULL && good->term == a->term && good->version == a->version) {
            continue;
        }
        if (!is_good(g, a)) {
            return false;
        }
        good = a;
    }
    return true;
}

static bool wait_for(struct scale *s, const char *what, struct goal g)
{
    g.s = s;
    bool ok = sim_exec_run_until(s->x, reached, &g, PATIENCE);
    if (!ok) {
        printf("%s: not reached\n", what);
    }
    return ok;
}

/* ---- requests ---- */

static void answered(struct meta_request *rq)
{
    struct scale *s = rq->user;
    s->answered++;
    if (err_is(&rq->error)) {
        printf("refused: %s\n", err_reason(&rq->error));
    }
    meta_request_fini(rq);
    free(rq);
}

static bool all_answered(void *arg)
{
    const struct scale *s = arg;
    return s->answered == s->wanted;
}

static void submit(struct scale *s, enum meta_action action, struct str name, const char *text)
{
    struct meta_request *rq = calloc(1, sizeof(*rq));
    struct str *names;
    meta_request_init(rq, action, answered, s);
    names = ARENA_NEW(&rq->arena, struct str);
    *names = arena_str(&rq->arena, name);
    rq->names = names;
    rq->n_names = name.n > 0;
    rq->text = str_of(text);
    rq->timeout_ms = 600000;
    if (json_parse(&rq->body, rq->text, &rq->arena, &json_limits_default, NULL) != ERR_OK) {
        abort();
    }
    s->wanted++;
    cluster_submit(leader(s)->cluster, rq);
}

static bool await_answers(struct scale *s)
{
    return sim_exec_run_until(s->x, all_answered, s, PATIENCE);
}

static void create_indices(struct scale *s)
{
    char body[160];
    snprintf(body, sizeof(body),
             "{\"settings\":{\"number_of_shards\":%u,\"number_of_replicas\":1,"
             "\"index.unassigned.node_left.delayed_timeout\":\"0\"}}",
             COPIES_AN_INDEX / 2);
    char *kept = malloc(strlen(body) + 1);
    memcpy(kept, body, strlen(body) + 1);
    for (unsigned i = 0; i < s->o.copies / COPIES_AN_INDEX; i++) {
        submit(s, META_CREATE_INDEX, arena_printf(&s->arena, "index-%05u", i), kept);
    }
}

/* ---- the measurements ---- */

/* Copies that move, and whatever else is left to do, come to an end. */
static bool settle(struct scale *s)
{
    do {
        uint64_t version = leader(s) != NULL ? leader(s)->applied->version : 0;
        sim_exec_run_for(s->x, QUIET_NS);
        if (leader(s) != NULL && leader(s)->applied->version == version) {
            return true;
        }
    } while (s->clock.mono_ns < 3600 * SECOND);
    return false;
}

static uint64_t version_of(const struct big_node *n)
{
    return n->applied->version;
}

static bool form(struct scale *s)
{
    begin(s);
    for (unsigned i = 0; i < s->o.nodes; i++) {
        node_start(s, i);
    }
    if (!wait_for(s, "forming", (struct goal){.nodes = s->o.nodes})) {
        return false;
    }
    end(s, "all nodes start, and are one cluster", leader(s), 0);
    return true;
}

static bool fill(struct scale *s)
{
    struct big_node *m = leader(s);
    int64_t cpu = node_cpu_ns(m);
    begin(s);
    submit(s, META_CLUSTER_SETTINGS, STR(""),
           "{\"persistent\":{\"cluster.routing.allocation.node_concurrent_recoveries\":1000,"
           "\"cluster.routing.allocation.node_initial_primaries_recoveries\":1000,"
           "\"cluster.max_shards_per_node\":100000}}");
    if (!await_answers(s)) {
        return false;
    }
    end(s, "a setting is published (no shards)", m, cpu);
    cpu = node_cpu_ns(m);
    begin(s);
    create_indices(s);
    if (!await_answers(s)
        || !wait_for(s, "green",
                     (struct goal){.nodes = s->o.nodes, .version = version_of(m), .green = true})) {
        return false;
    }
    end(s, "all indices are made, all copies started", m, cpu);
    return true;
}

static bool publish(struct scale *s)
{
    struct big_node *m = leader(s);
    int64_t cpu = node_cpu_ns(m);
    uint64_t version = version_of(m);
    begin(s);
    submit(s, META_CLUSTER_SETTINGS, STR(""),
           "{\"persistent\":{\"cluster.routing.allocation.node_concurrent_recoveries\":999}}");
    if (!await_answers(s)
        || !wait_for(s, "publication",
                     (struct goal){.nodes = s->o.nodes, .term = m->applied->term, .version = version + 1})) {
        return false;
    }
    end(s, "a setting is published", m, cpu);
    return true;
}

static bool lose_node(struct scale *s)
{
    struct big_node *m = leader(s);
    int64_t cpu = node_cpu_ns(m);
    begin(s);
    node_kill(s, s->o.nodes - 1);
    if (!wait_for(s, "node loss", (struct goal){.nodes = nodes_up(s), .active = true})) {
        return false;
    }
    end(s, "a node dies: replicas promoted everywhere", m, cpu);
    if (!wait_for(s, "green again", (struct goal){.nodes = nodes_up(s), .green = true})) {
        return false;
    }
    end(s, "... until its copies are replaced", m, cpu);
    return true;
}

static bool lose_master(struct scale *s)
{
    struct big_node *old = leader(s);
    uint64_t term = old->applied->term;
    int64_t cpu[16];
    for (unsigned i = 0; i < s->o.masters; i++) {
        cpu[i] = node_cpu_ns(&s->nodes[i]);
    }
    begin(s);
    node_kill(s, old->at);
    if (!wait_for(s, "election", (struct goal){.nodes = nodes_up(s), .term = term + 1})) {
        return false;
    }
    struct big_node *m = leader(s);
    end(s, "the master dies: another's state everywhere", m, cpu[m->at]);
    if (!wait_for(s, "green again", (struct goal){.nodes = nodes_up(s), .green = true})) {
        return false;
    }
    end(s, "... until its copies are replaced", m, cpu[m->at]);
    return true;
}

bool scale_run(const struct scale_opts *o)
{
    struct scale *s = calloc(1, sizeof(*s));
    s->o = *o;
    rng_seed(&s->rng, o->seed);
    clock_sim_init(&s->clock, 1600000000000);
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
    s->sink = (struct log_sink){s, write_line};
    log_init(&s->log, &s->sink, &s->clock.base, LOG_INFO);
    s->x = sim_exec_new(&(struct sim_exec_opts){
        .clock = &s->clock, .seed = rng_u64(&s->rng), .task_delay_ns_max = 100000, .counts_cpu = true});
    s->net = network_new(s->x, &s->rng, o->nodes, DELAY_MS_MAX);
    s->nodes = calloc(o->nodes, sizeof(*s->nodes));
    s->first = calloc(o->nodes + 1, sizeof(size_t));
    s->names = calloc(o->masters, sizeof(struct str));
    s->addresses = calloc(o->masters, sizeof(struct str));
    for (unsigned i = 0; i < o->nodes; i++) {
        struct big_node *n = &s->nodes[i];
        n->s = s;
        n->at = i;
        snprintf(n->name, sizeof(n->name), "n%u", i);
        snprintf(n->id, sizeof(n->id), "node-%05u-aaaaaaaaaaa", i);
        snprintf(n->ephemeral_id, sizeof(n->ephemeral_id), "life-%05u-aaaaaaaaaaa", i);
        snprintf(n->address, sizeof(n->address), "10.0.%u.%u:9300", i / 250, i % 250 + 1);
        if (i < o->masters) {
            s->names[i] = str_of(n->name);
            s->addresses[i] = str_of(n->address);
        }
    }
    shared_states(true);
    printf("%u nodes, of which %u may be master; %u copies of shards\n", o->nodes, o->masters, o->copies);
    return form(s) && settle(s) && fill(s) && settle(s) && publish(s) && settle(s) && lose_node(s)
           && settle(s) && lose_master(s);
}
