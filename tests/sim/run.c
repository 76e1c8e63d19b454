#include "tests/sim/run_int.h"

#include "common/base/hash.h"
#include "tests/sim/core_trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SPARE_PLACES 2

void violated(struct run *run, const char *fmt, ...)
{
    va_list args;
    if (run->r->what[0] != '\0') {
        return;
    }
    va_start(args, fmt);
    vsnprintf(run->r->what, sizeof(run->r->what), fmt, args);
    va_end(args);
    world_say(&run->w, "VIOLATION: %s", run->r->what);
}

struct run_shape run_shape(const struct run_opts *o)
{
    struct rng rng;
    rng_seed(&rng, o->seed ^ 0x54a9eULL);
    uint64_t bits = rng_u64(&rng);
    struct run_shape s = {.nodes = o->nodes, .drift = bits & 1, .slow = bits & 2, .members = bits & 4};
    if (s.nodes == 0) {
        s.nodes = s.members && (bits & 8) != 0 ? 4 : 3;
    }
    s.members &= s.nodes >= 3;
    s.damage = o->damage || (bits & 0x300) == 0; /* a quarter of the seeds */
    s.everywhere = s.damage && (bits & 0xc0) == 0;
    s.members &= !s.damage; /* whoever leaves takes a good copy along */
    return s;
}

unsigned run_shape_number(const struct run_shape *s)
{
    return (s->drift ? 1U : 0) | (s->slow ? 2U : 0) | (s->members ? 4U : 0) | (s->damage ? 8U : 0);
}

void run_shape_name(unsigned number, char out[64])
{
    static const char *const names[] = {"drift", "slow disks", "members change", "damage"};
    size_t n = 0;
    snprintf(out, 64, "plain");
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if ((number >> i & 1) != 0) {
            n += (size_t)snprintf(out + n, 64 - n, "%s%s", n > 0 ? ", " : "", names[i]);
        }
    }
}

static bool is_created(void *arg)
{
    return ((struct run *)arg)->created;
}

static unsigned here(void *self)
{
    return world_here(self);
}

static int64_t now_ms(void *self)
{
    return world_ms(self);
}

static void keep_courses(struct run *run)
{
    core_traces_begin(
        &(struct core_traces_opts){.self = &run->w, .node = here, .now_ms = now_ms, .whole = run->o.replay});
}

/* All cores are deterministic: their input alone decides what they do. */
static void play_again(struct run *run)
{
    struct core_traces_sum sum;
    char what[256];
    if (!core_traces_replay(&sum, what, sizeof(what))) {
        violated(run, "played again, %s", what);
    }
    run->r->replayed = sum.steps;
    world_say(&run->w,
              "played again: %u of coordination, %u primaries, %u copies, %u and %u sides of recoveries",
              sum.cores[0], sum.cores[1], sum.cores[2], sum.cores[3], sum.cores[4]);
    core_traces_end();
}

void run_once(const struct run_opts *o, struct run_result *r)
{
    struct run *run = calloc(1, sizeof(*run));
    *r = (struct run_result){0};
    run->o = *o;
    run->shape = run_shape(o);
    run->r = r;
    rng_seed(&run->rng, o->seed ^ 0x5e7a1ULL);
    unsigned places = run->shape.nodes + (run->shape.members ? SPARE_PLACES : 0);
    world_init(&run->w, o->seed, MIN_OF(places, (unsigned)SIM_NODES_MAX), o->trace);
    keep_courses(run);
    run->w.applied = state_applied;
    promises_watch(run);
    run->w.self = run;
    run->lane = sim_lane_new(run->w.x, SIM_LOOP, 0);
    run->timers = sim_lane_timers(run->lane);
    for (unsigned d = 0; d < DOCS; d++) {
        run->known[d].seq_no = -1;
    }
    char shape[64];
    run_shape_name(run_shape_number(&run->shape), shape);
    world_say(&run->w, "seed %llu: %s%s", (unsigned long long)o->seed, shape,
              run->shape.everywhere ? " everywhere" : "");
    run->w.folders = run->shape.damage;
    befall_machines(run);
    members_init(run);
    make_index(run);
    if (!sim_exec_run_until(run->w.x, is_created, run, 60 * SECOND)) {
        violated(run, "the index could not be made");
    } else {
        clients_start(run);
        befall_start(run);
        members_start(run);
        damage_start(run);
        readers_start(run);
        sim_exec_run_for(run->w.x, o->fault_ms * 1000000LL);
        mend_and_check(run);
    }
    r->steps = sim_exec_steps(run->w.x);
    r->messages = network_messages(run->w.net);
    r->digest = hash_bytes(&r->steps, sizeof(r->steps), r->digest);
    if (o->replay) {
        play_again(run);
    }
    r->ok = r->what[0] == '\0';
}
