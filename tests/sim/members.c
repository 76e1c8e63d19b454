/* Who belongs to the cluster: nodes that come for the first time, leave by an operator's orders or without a word, come back with
 * their old disk or as a new machine, and whose votes are taken away.
 *
 * Nothing is done that loses data or the majority by itself: a node leaves without a word only when no other has, and comes
 * back at the end when it turns out that it alone has a shard (one that recovers over a copy in sync destroys that), or its vote is needed. Its disk is given up only once other copies
 * are in sync and it has no vote that counts. */
#include "tests/sim/run_int.h"

#include "common/cluster/health.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_MS       500
#define ORDER_MS      10000 /* an order's time-out */
#define ORDER_LOST_MS 25000 /* the node that was asked may be gone */
#define RED_MS        20000 /* by then, who is there and has a copy in sync has become the primary */
#define FILTER        "cluster.routing.allocation.exclude._name"
#define NONE          SIM_NODES_MAX
#define MEMBERS_LEAST 3 /* before one leaves */

void members_init(struct run *run)
{
    struct members *m = &run->members;
    m->no_voter = m->no_copies = NONE;
    m->orderly = rng_below(&run->rng, 2) == 0;
    for (unsigned i = 0; i < run->shape.nodes; i++) {
        m->places[i] = PLACE_MEMBER;
        world_start(&run->w, i);
    }
    for (unsigned i = run->shape.nodes; i < run->w.n_nodes; i++) {
        run->w.nodes[i].newcomer = true;
    }
}

bool is_member(const struct run *run, unsigned at)
{
    return run->members.places[at] == PLACE_MEMBER || run->members.places[at] == PLACE_LEAVING;
}

static unsigned count_places(const struct run *run, enum place what)
{
    unsigned n = 0;
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        n += run->members.places[i] == what;
    }
    return n;
}

unsigned place_of(const struct run *run, struct str id)
{
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        if (str_is(id, run->w.nodes[i].id)) {
            return i;
        }
    }
    return NONE; /* a machine that was given up */
}

/* ---- what the cluster says of a node ---- */

/* Would those that are to be up, without `at`, be a majority of these? */
static bool majority_without(const struct run *run, const struct str_set *voters, unsigned at)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < voters->n; i++) {
        unsigned p = place_of(run, voters->v[i]);
        n += p != NONE && p != at && is_member(run, p);
    }
    return n * 2 > voters->n;
}

/* Is each shard in sync on another node than `at` that is to be up? */
static bool in_sync_without(const struct run *run, unsigned at)
{
    const struct index_meta *m = cluster_index(run->newest, STR("i"));
    for (uint32_t i = 0; m != NULL && i < m->n_shards; i++) {
        bool elsewhere = false;
        for (uint32_t k = 0; k < m->in_sync[i].n; k++) {
            const char *node = node_of_copy(run, m->in_sync[i].v[k]);
            unsigned p = node != NULL ? place_of(run, str_of(node)) : NONE;
            elsewhere |= p != NONE && p != at && is_member(run, p);
        }
        if (!elsewhere) {
            return false;
        }
    }
    return m != NULL;
}

static bool votes(const struct cluster_state *s, const char *id)
{
    return str_set_has(&s->coordination->committed, str_of(id))
           || str_set_has(&s->coordination->accepted, str_of(id));
}

static bool has_copies(const struct cluster_state *s, const char *id)
{
    const struct index_routing *r = cluster_routing(s, STR("i"));
    for (uint32_t i = 0; r != NULL && i < r->n; i++) {
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            const struct shard_copy *c = &r->shards[i].copies[k];
            if (str_is(c->node, id) || str_is(c->target_node, id)) {
                return true;
            }
        }
    }
    return false;
}

static bool excluded(const struct cluster_state *s, const char *name)
{
    for (uint32_t i = 0; i < s->coordination->n_exclusions; i++) {
        if (str_is(s->coordination->exclusions[i].node_name, name)) {
            return true;
        }
    }
    return false;
}

/* ---- the operator ---- */

struct order {
    struct meta_request rq; /* first */
    struct run *run;
    uint64_t number;
};

static void order_in_lane(void *arg)
{
    struct order *o = arg;
    if (o->run->members.orders == o->number) {
        o->run->members.ordering = false;
    }
    world_say(&o->run->w, "operator: order %llu %s", (unsigned long long)o->number,
              err_is(&o->rq.error) ? err_type(err_code(&o->rq.error)) : "is done");
    meta_request_fini(&o->rq);
    free(o);
}

static void order_done(struct meta_request *rq)
{
    struct order *o = (struct order *)(void *)rq;
    executor_submit_force(sim_lane_executor(o->run->lane), order_in_lane, o);
}

/* The name: of a node, or NULL. */
static void give_order(struct run *run, enum meta_action action, const char *name)
{
    struct members *m = &run->members;
    struct sim_node *n = some_node(run);
    if (n == NULL) {
        return;
    }
    struct order *o = calloc(1, sizeof(*o));
    meta_request_init(&o->rq, action, order_done, NULL);
    o->run = run;
    o->number = ++m->orders;
    o->rq.timeout_ms = ORDER_MS;
    if (action == META_CLUSTER_SETTINGS) {
        o->rq.text = name != NULL
                         ? arena_printf(&o->rq.arena, "{\"persistent\":{\"" FILTER "\":\"%s\"}}", name)
                         : STR("{\"persistent\":{\"" FILTER "\":null}}");
        if (json_parse(&o->rq.body, o->rq.text, &o->rq.arena, &json_limits_default, NULL) != ERR_OK) {
            abort();
        }
    } else if (name != NULL) {
        struct str *v = ARENA_NEW(&o->rq.arena, struct str);
        *v = str_of(name);
        o->rq.names = v;
        o->rq.n_names = 1;
        o->rq.options = META_BY_NAME;
    }
    m->ordering = true;
    m->ordered_ms = world_ms(&run->w);
    world_say(&run->w, "operator: order %llu at %s: %s %s", (unsigned long long)o->number, n->name,
              action == META_CLUSTER_SETTINGS ? "no copies on"
              : action == META_EXCLUDE_VOTERS ? "no vote for"
                                              : "votes for all",
              name != NULL ? name : "none");
    cluster_submit(member_cluster(n->member), &o->rq);
}

static const char *name_at(const struct run *run, unsigned at)
{
    return at == NONE ? NULL : run->w.nodes[at].name;
}

static bool filter_is_right(const struct run *run, const struct cluster_state *s)
{
    const char *want = name_at(run, run->members.no_copies);
    const struct setting *have = cluster_setting_named(s, STR(FILTER));
    return str_is(have != NULL ? have->value : STR_NULL, want != NULL ? want : "");
}

static bool exclusions_are_right(const struct run *run, const struct cluster_state *s)
{
    const char *want = name_at(run, run->members.no_voter);
    return want == NULL ? s->coordination->n_exclusions == 0
                        : s->coordination->n_exclusions == 1 && excluded(s, want);
}

static void want_what_is_missing(struct run *run)
{
    struct members *m = &run->members;
    const struct cluster_state *s = run->newest;
    if (m->ordering && world_ms(&run->w) - m->ordered_ms < ORDER_LOST_MS) {
        return;
    }
    if (!filter_is_right(run, s)) {
        give_order(run, META_CLUSTER_SETTINGS, name_at(run, m->no_copies));
    } else if (!exclusions_are_right(run, s)) {
        bool others = s->coordination->n_exclusions > 0;
        give_order(run, others ? META_CLEAR_EXCLUSIONS : META_EXCLUDE_VOTERS,
                   others ? NULL : name_at(run, m->no_voter));
    }
}

/* One that has neither copies nor a vote any more is switched off. */
static void end_leaving(struct run *run)
{
    struct members *m = &run->members;
    const struct cluster_state *s = run->newest;
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        const struct sim_node *n = &run->w.nodes[i];
        if (m->places[i] == PLACE_LEAVING && filter_is_right(run, s) && exclusions_are_right(run, s)
            && !has_copies(s, n->id) && !votes(s, n->id) && in_sync_without(run, i)) {
            m->places[i] = PLACE_GONE;
            world_say(&run->w, "%s leaves for good, by order", n->name);
            world_kill(&run->w, i, rng_below(&run->rng, 2) == 0);
        }
        if (m->places[i] == PLACE_GONE && m->no_voter == i && cluster_node(s, str_of(n->id)) == NULL) {
            m->no_voter = m->no_copies = NONE;
        }
    }
}

/* Has a shard had no primary for so long that nobody who is there has a copy in sync? */
static bool stays_red(struct run *run)
{
    struct members *m = &run->members;
    if (!run->over || cluster_health(run->newest).status != HEALTH_RED) {
        m->red_since_ms = 0;
        return false;
    }
    m->red_since_ms = m->red_since_ms == 0 ? world_ms(&run->w) : m->red_since_ms;
    return world_ms(&run->w) - m->red_since_ms > RED_MS;
}

/* Who left without a word, and turns out to be needed. */
static void bring_back(struct run *run)
{
    const struct coordination_part *c = run->newest->coordination;
    bool needed = stays_red(run) || !in_sync_without(run, NONE) || !majority_without(run, &c->committed, NONE)
                  || !majority_without(run, &c->accepted, NONE);
    for (unsigned i = 0; i < run->w.n_nodes && needed && run->over; i++) {
        if (run->members.places[i] == PLACE_GONE) {
            world_say(&run->w, "n%u is needed", i);
            run->members.places[i] = PLACE_MEMBER;
            world_start(&run->w, i);
        }
    }
}

static void look(void *arg)
{
    struct run *run = arg;
    if (run->newest != NULL) {
        want_what_is_missing(run);
        end_leaving(run);
        bring_back(run);
    }
    run->timers->start(run->timers->self, LOOK_MS, look, run);
}

void members_start(struct run *run)
{
    if (run->shape.members) {
        look(run);
    }
}

/* ---- what befalls ---- */

static void come(struct run *run, unsigned at)
{
    world_say(&run->w, "n%u %s", at, run->w.nodes[at].lives == 0 ? "comes for the first time" : "comes back");
    run->members.places[at] = PLACE_MEMBER;
    world_start(&run->w, at);
}

static void leave(struct run *run, unsigned at)
{
    struct members *m = &run->members;
    const struct coordination_part *c = run->newest->coordination;
    bool wishes = m->no_voter != NONE || m->no_copies != NONE;
    if (m->places[at] != PLACE_MEMBER || count_places(run, PLACE_MEMBER) < MEMBERS_LEAST || wishes) {
        return;
    }
    if (m->orderly) {
        world_say(&run->w, "n%u is to leave", at);
        m->places[at] = PLACE_LEAVING;
        m->no_voter = m->no_copies = at;
    } else if (count_places(run, PLACE_GONE) == 0 && c->committed.n >= MEMBERS_LEAST
               && c->accepted.n >= MEMBERS_LEAST && majority_without(run, &c->committed, at)
               && majority_without(run, &c->accepted, at) && in_sync_without(run, at)) {
        world_say(&run->w, "n%u leaves without a word", at);
        m->places[at] = PLACE_GONE;
        world_kill(&run->w, at, rng_below(&run->rng, 2) == 0);
    }
}

/* With what it had on its disk, or as a new machine of the same name. */
static void come_back(struct run *run, unsigned at)
{
    struct sim_node *n = &run->w.nodes[at];
    const struct cluster_state *s = run->newest;
    if (run->members.places[at] != PLACE_GONE || run->members.no_voter == at) {
        return;
    }
    if (rng_below(&run->rng, 2) == 0 && cluster_node(s, str_of(n->id)) == NULL && in_sync_without(run, at)
        && majority_without(run, &s->coordination->committed, at)
        && majority_without(run, &s->coordination->accepted, at)
        && (run->members.orderly || !votes(s, n->id))) {
        world_say(&run->w, "n%u is another machine now", at);
        n->newcomer = true;
        world_machine(&run->w, at);
    }
    come(run, at);
}

bool members_replace(struct run *run, unsigned at)
{
    const struct coordination_part *c = run->newest->coordination;
    if (cluster_node(run->newest, str_of(run->w.nodes[at].id)) != NULL || !in_sync_without(run, at)
        || !majority_without(run, &c->committed, at) || !majority_without(run, &c->accepted, at)) {
        return false;
    }
    world_say(&run->w, "n%u is another machine now", at);
    run->w.nodes[at].newcomer = true;
    world_machine(&run->w, at);
    return true;
}

static void take_vote(struct run *run, unsigned at)
{
    struct members *m = &run->members;
    if (!m->orderly || m->no_copies != NONE) {
        return;
    }
    m->no_voter = m->no_voter == NONE && m->places[at] == PLACE_MEMBER ? at : NONE;
}

void members_befall(struct run *run)
{
    unsigned at = (unsigned)rng_below(&run->rng, run->w.n_nodes);
    if (run->newest == NULL) {
        return;
    }
    switch (rng_below(&run->rng, 5)) {
    case 0:
        take_vote(run, at);
        break;
    case 1:
        leave(run, at);
        break;
    default:
        for (unsigned i = 0; i < run->w.n_nodes; i++) {
            unsigned p = (at + i) % run->w.n_nodes;
            if (run->members.places[p] == PLACE_EMPTY) {
                come(run, p);
                return;
            }
            if (run->members.places[p] == PLACE_GONE) {
                come_back(run, p);
                return;
            }
        }
        leave(run, at);
        break;
    }
}

/* ---- the end ---- */

void members_settle(struct run *run)
{
    struct members *m = &run->members;
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        m->places[i] = m->places[i] == PLACE_LEAVING ? PLACE_MEMBER : m->places[i];
    }
    m->no_voter = m->no_copies = NONE;
}

bool members_settled(const struct run *run, const struct cluster_state *s)
{
    const struct str_set *voters = &s->coordination->committed;
    uint32_t n = s->nodes->n, most = n % 2 == 0 ? n - 1 : n, here = 0;
    for (uint32_t i = 0; i < voters->n; i++) {
        here += cluster_node(s, voters->v[i]) != NULL;
    }
    bool right = n >= 3 ? voters->n == most && here == most : here * 2 > voters->n;
    return right && str_set_eq(voters, &s->coordination->accepted) && filter_is_right(run, s)
           && exclusions_are_right(run, s);
}
