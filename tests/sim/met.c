/* The end of a run with damage: whatever is damaged is read, and made anew from another copy; or its shard is red, and why is said. */
#include "tests/sim/run_int.h"

#include "engine/index/copy_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 6
#define RETRY_MS   5000
#define ASK_MS     10000

struct asking {
    struct meta_request rq; /* first */
    struct run *run;
    bool done, waited_for;
};

static void answered_in_lane(void *arg)
{
    struct asking *a = arg;
    a->done = true;
    if (!a->waited_for) {
        meta_request_fini(&a->rq);
        free(a);
    }
}

static void answered(struct meta_request *rq)
{
    struct asking *a = (struct asking *)(void *)rq;
    executor_submit_force(sim_lane_executor(a->run->lane), answered_in_lane, a);
}

static struct asking *ask(struct run *run, enum meta_action action, struct str text)
{
    struct sim_node *n = some_node(run);
    struct asking *a = n != NULL ? calloc(1, sizeof(*a)) : NULL;
    if (a == NULL) {
        return NULL;
    }
    meta_request_init(&a->rq, action, answered, NULL);
    a->run = run;
    a->rq.timeout_ms = ASK_MS;
    a->rq.options = action == META_REROUTE ? META_RETRY_FAILED : 0;
    a->rq.text = arena_str(&a->rq.arena, text);
    if (json_parse(&a->rq.body, a->rq.text, &a->rq.arena, &json_limits_default, NULL) != ERR_OK) {
        abort();
    }
    a->waited_for = action == META_EXPLAIN;
    cluster_submit(member_cluster(n->member), &a->rq);
    return a;
}

static void retry(void *arg)
{
    struct run *run = arg;
    ask(run, META_REROUTE, STR("{}"));
    run->timers->start(run->timers->self, RETRY_MS, retry, run);
}

void damage_retries(struct run *run)
{
    if (run->shape.damage) {
        retry(run);
    }
}

static bool is_done(void *arg)
{
    return ((struct asking *)arg)->done;
}

/* A red shard: the explanation says that there was something wrong with its copy. */
static void check_reason(struct run *run, unsigned shard)
{
    char text[96];
    snprintf(text, sizeof(text), "{\"index\":\"i\",\"shard\":%u,\"primary\":true}", shard);
    struct asking *a = ask(run, META_EXPLAIN, str_of(text));
    if (a == NULL || !sim_exec_run_until(run->w.x, is_done, a, ASK_MS * 2 * 1000000LL)) {
        violated(run, "nobody says why shard %u is red", shard);
        return;
    }
    world_say(&run->w, "shard %u is red: %.*s", shard, STR_ARG(a->rq.response));
    bool said = memmem(a->rq.response.p, a->rq.response.n, "\"details\":", 10) != NULL;
    if (err_is(&a->rq.error) || !said) {
        violated(run, "shard %u is red, and why is not said: %.*s", shard,
                 STR_ARG(err_is(&a->rq.error) ? str_of(err_reason(&a->rq.error)) : a->rq.response));
    }
    meta_request_fini(&a->rq);
    free(a);
}

/* Is a copy that is read from damaged? */
static bool any_left(const struct run *run)
{
    const struct index_routing *r = cluster_routing(run->newest, STR("i"));
    for (uint32_t k = 0; k < r->n; k++) {
        for (uint32_t c = 0; c < r->shards[k].n; c++) {
            const struct shard_copy *copy = &r->shards[k].copies[c];
            unsigned at = copy_active(copy) ? place_of(run, copy->node) : SIM_NODES_MAX;
            if (at != SIM_NODES_MAX && damage_in_shard(run, at, k)) {
                return true;
            }
        }
    }
    return false;
}

/* All at once: each opens what is on its disk. */
static bool restart_all(struct run *run)
{
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        world_kill(&run->w, i, false);
    }
    damage_ends(run); /* which starts them */
    return run->r->what[0] == '\0';
}

/* ---- what is whole is found whole ---- */

struct checking {
    struct run *run;
    unsigned at, shard;
};

static void said_damaged(void *self, const char *file, const char *what)
{
    struct checking *c = self;
    violated(c->run, "n%u, shard %u: as it was written, and a check says: %s: %s", c->at, c->shard, file,
             what);
}

/* Each copy that serves and was not damaged, read by what `serai-node check` reads with. */
void damage_check_whole(struct run *run)
{
    const struct index_meta *m = cluster_index(run->newest, STR("i"));
    const struct index_routing *r = cluster_routing(run->newest, STR("i"));
    for (uint32_t k = 0; k < r->n; k++) {
        for (uint32_t i = 0; i < r->shards[k].n; i++) {
            const struct shard_copy *copy = &r->shards[k].copies[i];
            struct checking c = {run, copy_active(copy) ? place_of(run, copy->node) : SIM_NODES_MAX, k};
            char dir[96];
            ERR_LOCAL(em);
            if (c.at == SIM_NODES_MAX) {
                continue;
            }
            snprintf(dir, sizeof(dir), "data/indices/%.*s/%u", STR_ARG(m->uuid), k);
            struct copy_check x = {
                .fs = fs_mem_fs(run->w.nodes[c.at].disk), .dir = dir, .damaged = said_damaged, .self = &c};
            if (fs_mem_harmed(run->w.nodes[c.at].disk, dir) == 0
                && copy_check_run(&x, m->uuid.p, k, &em) != ERR_OK) {
                violated(run, "n%u, shard %u cannot be checked: %s", c.at, k, err_reason(&em));
            }
        }
    }
}

bool damage_is_met(struct run *run, bool (*settle)(struct run *run, int64_t since))
{
    if (!run->shape.damage) {
        return true;
    }
    bool restarted = false;
    for (unsigned i = 0; i < ROUNDS_MAX && run->r->what[0] == '\0'; i++) {
        bool left = any_left(run);
        world_say(&run->w, "all is read%s", left ? ", and something is damaged" : "");
        readers_read_all(run);
        sim_exec_run_for(run->w.x, 2 * SECOND);
        if (run->r->what[0] != '\0' || !settle(run, world_ms(&run->w))) {
            return false;
        }
        if (!any_left(run) && (!left || restarted)) {
            break;
        }
        if (any_left(run) || !restarted) {
            restarted = true;
            if (!restart_all(run) || !settle(run, world_ms(&run->w))) {
                return false;
            }
        }
    }
    for (uint32_t k = 0; k < SHARDS && run->r->what[0] == '\0'; k++) {
        const struct index_routing *r = cluster_routing(run->newest, STR("i")); /* asking takes its time */
        if (r->shards[k].copies[0].state == COPY_UNASSIGNED) {
            run->r->red++;
            check_reason(run, k);
        }
    }
    return run->r->what[0] == '\0';
}
