/* What befalls a cluster: kills, power cuts, stops, partitions, losses, disks that stand still, clocks that jump. */
#include "tests/sim/run_int.h"

#define WALL_MS_MAX (3600LL * 1000) /* so far is the time of day off */

static void partition(struct run *run)
{
    struct world *w = &run->w;
    unsigned kind = (unsigned)rng_below(&run->rng, 4),
             side = (unsigned)rng_below(&run->rng, 1U << w->n_nodes);
    unsigned one = (unsigned)rng_below(&run->rng, w->n_nodes);
    for (unsigned a = 0; a < w->n_nodes; a++) {
        for (unsigned b = 0; b < w->n_nodes; b++) {
            bool cut = a != b;
            if (kind == 0) { /* halves */
                cut &= ((side >> a) & 1) != ((side >> b) & 1);
            } else if (kind == 1) { /* a single node */
                cut &= a == one || b == one;
            } else if (kind == 2) { /* it hears, and is not heard */
                cut &= a == one;
            } else { /* a bridge: one sees both halves */
                cut &= a != one && b != one && ((side >> a) & 1) != ((side >> b) & 1);
            }
            if (cut) {
                network_cut(w->net, a, b, true);
            }
        }
    }
    world_say(w, "partition of kind %u, side %x, node %u", kind, side, one);
    run->partitioned = true;
}

static void start_next(struct run *run)
{
    struct world *w = &run->w;
    for (unsigned i = 0; i < w->n_nodes; i++) {
        if (!w->nodes[i].up && is_member(run, i) && world_start(w, i)) {
            return;
        }
        world_pause(w, i, false);
    }
}

/* What only some shapes have; true: something happened. */
static bool befall_shape(struct run *run, unsigned at)
{
    const struct run_shape *s = &run->shape;
    if (s->damage && rng_below(&run->rng, 2) == 0) {
        damage_befall(run, at);
        return true;
    }
    unsigned which = (unsigned)rng_below(&run->rng, 3);
    if (which == 0 && s->slow) {
        world_stall(&run->w, at, 300 + (int64_t)rng_below(&run->rng, 6000));
    } else if (which == 1 && s->drift) {
        world_clock(&run->w, at, run->w.nodes[at].rate_ppm,
                    (int64_t)rng_below(&run->rng, 2 * WALL_MS_MAX) - WALL_MS_MAX);
    } else if (which == 2 && s->members) {
        members_befall(run);
    } else {
        return false;
    }
    return true;
}

static void befall_any(struct run *run, unsigned at)
{
    struct world *w = &run->w;
    switch (rng_below(&run->rng, 8)) {
    case 0:
        world_kill(w, at, false);
        break;
    case 1:
        world_kill(w, at, !damage_hides(run, at));
        break;
    case 2:
        world_pause(w, at, !w->nodes[at].paused);
        break;
    case 3:
        if (!run->partitioned) {
            partition(run);
        }
        break;
    case 4:
        network_heal(w->net);
        run->partitioned = false;
        world_say(w, "healed");
        break;
    case 5:
        network_set_loss(w->net, (unsigned)rng_below(&run->rng, 20));
        break;
    default: /* what is down comes back */
        start_next(run);
        break;
    }
}

/* Often the master: what it was in the middle of, others have to end. Not where disks damage files, which has enough to do with copies. */
static unsigned any_victim(struct run *run)
{
    unsigned at = (unsigned)rng_below(&run->rng, run->w.n_nodes), of_master;
    const struct node_meta *master = run->newest != NULL ? cluster_master(run->newest) : NULL;
    if (master == NULL || run->shape.damage || rng_below(&run->rng, 3) > 0) {
        return at;
    }
    of_master = place_of(run, master->id);
    return of_master != SIM_NODES_MAX ? of_master : at;
}

static void befall(void *arg)
{
    struct run *run = arg;
    unsigned at = any_victim(run);
    if (run->over) {
        return;
    }
    if (rng_below(&run->rng, 3) > 0 || !befall_shape(run, at)) {
        befall_any(run, at);
    }
    int64_t often_ms = run->shape.damage ? 1200 : 2500;
    run->timers->start(run->timers->self, 100 + (int64_t)rng_below(&run->rng, (uint64_t)often_ms), befall,
                       run);
}

void befall_start(struct run *run)
{
    run->timers->start(run->timers->self, 1000, befall, run);
}

/* ---- what machines are like ---- */

void befall_machines(struct run *run)
{
    struct world *w = &run->w;
    for (unsigned i = 0; i < w->n_nodes; i++) {
        if (run->shape.drift) {
            w->nodes[i].mono_offset_ns = (int64_t)rng_below(&run->rng, 1000 * 1000) * SECOND;
            world_clock(w, i, 800000 + (int64_t)rng_below(&run->rng, 400001),
                        (int64_t)rng_below(&run->rng, 2 * WALL_MS_MAX) - WALL_MS_MAX);
        }
        if (run->shape.slow) {
            struct disk_pace pace = {.usual_us_max = 1 + (int64_t)rng_below(&run->rng, 6000),
                                     .long_per_thousand = (unsigned)rng_below(&run->rng, 40),
                                     .long_ms_max = 20 + (int64_t)rng_below(&run->rng, 1500)};
            world_disk(w, i, &pace);
        }
    }
}
