/* Clusters for tests of allocation: see alloc_world.h. What must hold holds after every step. */
#include "tests/unit/master/alloc_world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct alloc_world alloc_world;

/* what lies on the nodes' disks */
static struct on_disk {
    char node[8], uuid[16], id[24];
    uint32_t shard;
} disks[DISKS];
static uint64_t next_uuid;

static void on_disk(struct str node, struct str uuid, uint32_t shard, struct str id)
{
    struct on_disk *d = NULL;
    for (uint32_t i = 0; i < alloc_world.n_disks && d == NULL; i++) {
        d = str_is(node, disks[i].node) && str_is(uuid, disks[i].uuid) && disks[i].shard == shard ? &disks[i]
                                                                                                  : NULL;
    }
    ck_assert_uint_lt(alloc_world.n_disks, DISKS);
    d = d != NULL ? d : &disks[alloc_world.n_disks++];
    snprintf(d->node, sizeof(d->node), "%.*s", STR_ARG(node));
    snprintf(d->uuid, sizeof(d->uuid), "%.*s", STR_ARG(uuid));
    snprintf(d->id, sizeof(d->id), "%.*s", STR_ARG(id));
    d->shard = shard;
}

struct cluster_state *alloc_world_seal(struct state_builder *b)
{
    char uuid[24];
    snprintf(uuid, sizeof(uuid), "%llu", (unsigned long long)rng_u64(&alloc_world.rng));
    struct cluster_state *s = state_builder_seal(b, str_of(uuid));
    ck_assert_ptr_nonnull(s);
    cluster_state_unref(alloc_world.state);
    alloc_world.state = s;
    return s;
}

void alloc_world_set_nodes(struct state_builder *b)
{
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, NODES);
    state_part_unref(&none->part);
    for (int i = 0; i < NODES; i++) {
        char id[16];
        snprintf(id, sizeof(id), "n%d", i);
        struct node_meta n = {.id = str_of(id),
                              .name = str_of(id),
                              .ephemeral_id = STR("e"),
                              .host = STR("h"),
                              .transport_address = STR("a"),
                              .roles = ROLE_DATA};
        ck_assert(!alloc_world.up[i] || nodes_part_put(p, &n));
    }
    state_put_nodes(b, p);
}

struct index_meta *alloc_world_index(const char *name, uint32_t shards, uint32_t replicas)
{
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = arena_str(a, str_of(name));
    m->uuid = arena_printf(a, "u%llu", (unsigned long long)++next_uuid);
    m->n_shards = shards;
    m->n_replicas = replicas;
    m->routing_shards = routing_shards_default(shards);
    m->routing_partition = 1;
    m->mapping = STR("{}");
    m->primary_terms = ARENA_ARRAY(a, uint64_t, shards);
    m->in_sync = ARENA_ARRAY(a, struct str_set, shards);
    for (uint32_t i = 0; i < shards; i++) {
        m->primary_terms[i] = 1;
    }
    return m;
}

/* ---- what must hold ---- */

static void check_shard(const struct cluster_state *old, const struct index_meta *m, uint32_t shard,
                        const struct shard_routing *s)
{
    ck_assert_uint_eq(s->n, m->n_replicas + 1);
    for (uint32_t k = 0; k < s->n; k++) {
        const struct shard_copy *c = &s->copies[k];
        ck_assert(c->primary == (k == 0));
        ck_assert(c->node.p == NULL || cluster_node(alloc_world.state, c->node) != NULL);
        ck_assert(!copy_active(c) || str_set_has(&m->in_sync[shard], c->allocation_id));
        ck_assert(k == 0 || c->state == COPY_UNASSIGNED || copy_active(&s->copies[0]));
        for (uint32_t j = 0; j < k; j++) {
            const struct shard_copy *d = &s->copies[j];
            struct str places[4] = {c->node, c->target_node, d->node, d->target_node};
            for (int x = 0; x < 2; x++) {
                for (int y = 2; y < 4; y++) {
                    ck_assert(places[x].p == NULL || places[y].p == NULL || !str_eq(places[x], places[y]));
                }
            }
        }
    }
    const struct index_meta *before = cluster_index_by_uuid(old, m->uuid);
    const struct index_routing *was = before != NULL ? cluster_routing(old, m->name) : NULL;
    if (was == NULL || shard >= was->n || !str_eq(was->uuid, m->uuid)) {
        return;
    }
    ck_assert_uint_ge(m->primary_terms[shard], before->primary_terms[shard]);
    const struct shard_copy *then = &was->shards[shard].copies[0], *now = &s->copies[0];
    bool same = copy_active(then) && copy_active(now)
                && (str_eq(then->allocation_id, now->allocation_id)
                    || (then->target_id.p != NULL && str_eq(then->target_id, now->allocation_id)));
    if (copy_active(then) && !same) { /* another primary: in sync before, and a new term */
        ck_assert_uint_gt(m->primary_terms[shard], before->primary_terms[shard]);
        ck_assert(!copy_active(now) || str_set_has(&before->in_sync[shard], now->allocation_id));
    }
    ck_assert(before->in_sync[shard].n == 0 || m->in_sync[shard].n > 0);
}

static void check(const struct cluster_state *old)
{
    for (uint32_t i = 0; i < alloc_world.state->n_indices; i++) {
        const struct index_meta *m = alloc_world.state->indices[i];
        const struct index_routing *r = cluster_routing(alloc_world.state, m->name);
        ck_assert_ptr_nonnull(r);
        for (uint32_t k = 0; k < r->n; k++) {
            check_shard(old, m, k, &r->shards[k]);
        }
    }
    ck_assert_uint_le(alloc_world.state->n_routing, alloc_world.state->n_indices);
}

/* ---- steps ---- */

static struct alloc_env environment(struct arena *a)
{
    struct alloc_env env = {.now_ms = alloc_world.now_ms, .rng = &alloc_world.rng};
    struct found_copy *v = ARENA_ARRAY(a, struct found_copy, (size_t)INDICES * 8 * NODES);
    uint32_t n = 0;
    for (uint32_t i = 0; i < alloc_world.state->n_indices; i++) {
        for (uint32_t s = 0; s < alloc_world.state->indices[i]->n_shards; s++) {
            for (int k = 0; k < NODES; k++) {
                char id[16];
                snprintf(id, sizeof(id), "n%d", k);
                if (!alloc_world.up[k]) {
                    continue;
                }
                v[n] = (struct found_copy){.node_id = arena_str(a, str_of(id)),
                                           .index_uuid = alloc_world.state->indices[i]->uuid,
                                           .shard = s,
                                           .allocation_id = STR("")};
                for (uint32_t d = 0; d < alloc_world.n_disks; d++) {
                    if (str_is(v[n].node_id, disks[d].node) && str_is(v[n].index_uuid, disks[d].uuid)
                        && disks[d].shard == s) {
                        v[n].allocation_id = str_of(disks[d].id);
                    }
                }
                n++;
            }
        }
    }
    env.found = v;
    env.n_found = n;
    return env;
}

void alloc_world_run(struct state_builder *b)
{
    struct arena a;
    bool changed;
    struct cluster_state *old = cluster_state_ref(alloc_world.state);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct alloc_env env = environment(&a);
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &a};
    ck_assert_int_eq(allocate(&env, b, &wants, &changed, NULL), ERR_OK);
    alloc_world_seal(b);
    check(old);
    cluster_state_unref(old);
    arena_fini(&a);
}

/* Something happens to a copy that recovers. */
void alloc_world_report(struct state_builder *b, bool only_start)
{
    struct str uuids[256], ids[256], nodes[256];
    uint32_t shards[256], n = 0;
    bool changed;
    for (uint32_t i = 0; i < alloc_world.state->n_routing; i++) {
        for (uint32_t s = 0; s < alloc_world.state->routing[i]->n; s++) {
            for (uint32_t k = 0; k < alloc_world.state->routing[i]->shards[s].n && n < 256; k++) {
                const struct shard_copy *c = &alloc_world.state->routing[i]->shards[s].copies[k];
                if (c->state == COPY_INITIALIZING || c->state == COPY_RELOCATING
                    || (!only_start && c->state == COPY_STARTED)) {
                    uuids[n] = alloc_world.state->routing[i]->uuid;
                    ids[n] = c->state == COPY_RELOCATING ? c->target_id : c->allocation_id;
                    nodes[n] = c->state == COPY_RELOCATING ? c->target_node : c->node;
                    shards[n++] = s;
                }
            }
        }
    }
    if (n == 0) {
        return;
    }
    uint32_t i = (uint32_t)rng_below(&alloc_world.rng, n);
    if (only_start || rng_below(&alloc_world.rng, 4) > 0) {
        ck_assert_int_eq(allocation_started(b, uuids[i], shards[i], ids[i], 0, &changed, NULL), ERR_OK);
        on_disk(nodes[i], uuids[i], shards[i], ids[i]);
    } else {
        struct alloc_env env = {.now_ms = alloc_world.now_ms, .rng = &alloc_world.rng};
        ck_assert_int_eq(allocation_failed(&env, b, uuids[i], shards[i], ids[i], STR("test"), &changed, NULL),
                         ERR_OK);
    }
}

/* An order of an operator's, mostly one that makes no sense: it is carried out, or nothing happens. */
static void order(struct state_builder *b)
{
    static const char *const nodes[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n*", "x"};
    struct arena a;
    struct buf why;
    struct jsonw w;
    char name[8];
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&why, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &why, false);
    snprintf(name, sizeof(name), "i%u", (unsigned)rng_below(&alloc_world.rng, INDICES));
    struct alloc_env env = environment(&a);
    struct reroute_command c[2];
    for (int i = 0; i < 2; i++) {
        c[i] = (struct reroute_command){.kind = (enum reroute_kind)rng_below(&alloc_world.rng, 5),
                                        .index = str_of(name),
                                        .shard = (uint32_t)rng_below(&alloc_world.rng, 4),
                                        .node = str_of(nodes[rng_below(&alloc_world.rng, 8)]),
                                        .to_node = str_of(nodes[rng_below(&alloc_world.rng, 7)]),
                                        .allow_primary = rng_below(&alloc_world.rng, 2) == 0,
                                        .accept_data_loss = rng_below(&alloc_world.rng, 8) == 0};
    }
    bool explain = rng_below(&alloc_world.rng, 2) == 0;
    enum err e = allocation_reroute(&env, b, c, 1 + (uint32_t)rng_below(&alloc_world.rng, 2), STR("n0"),
                                    rng_below(&alloc_world.rng, 8) == 0, explain ? &w : NULL, NULL);
    if (e != ERR_OK) {
        state_builder_fini(b);
        ck_assert(state_builder_init(b, alloc_world.state));
    } else if (explain) {
        struct json tree;
        ck_assert_int_eq(json_parse(&tree, buf_view(&why), &a, &json_limits_default, NULL), ERR_OK);
        ck_assert(tree.type == JSON_ARRAY && tree.n > 0);
    }
    buf_fini(&why);
    arena_fini(&a);
}

/* Every copy can be explained. */
void alloc_world_explain_some(void)
{
    struct arena a;
    struct buf out;
    struct jsonw w;
    struct json tree;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    struct alloc_env env = environment(&a);
    struct explain_question q = {.primary = rng_below(&alloc_world.rng, 2) == 0,
                                 .include_yes = rng_below(&alloc_world.rng, 2) == 0,
                                 .include_disk = rng_below(&alloc_world.rng, 2) == 0};
    if (alloc_world.state->n_indices > 0 && rng_below(&alloc_world.rng, 4) > 0) {
        const struct index_meta *m =
            alloc_world.state->indices[rng_below(&alloc_world.rng, alloc_world.state->n_indices)];
        q.index = m->name;
        q.shard = (uint32_t)rng_below(&alloc_world.rng, m->n_shards + 1);
    }
    ERR_LOCAL(em);
    enum err e = allocation_explain(&env, alloc_world.state, &q, STR("n0"), &w, &em);
    if (e == ERR_OK) {
        ck_assert_int_eq(json_parse(&tree, buf_view(&out), &a, &json_limits_default, NULL), ERR_OK);
        const struct json *s = json_get(&tree, "current_state");
        ck_assert_ptr_nonnull(s);
        bool unassigned = str_is(s->s, "unassigned");
        ck_assert(unassigned == (json_get(&tree, "can_allocate") != NULL));
        ck_assert(unassigned == (json_get(&tree, "current_node") == NULL));
    } else {
        ck_assert(e == ERR_ILLEGAL_ARGUMENT || e == ERR_SHARD_NOT_FOUND);
        ck_assert_int_eq(err_code(&em), e);
    }
    buf_fini(&out);
    arena_fini(&a);
}

void alloc_world_change(struct state_builder *b)
{
    char name[8];
    int n = (int)rng_below(&alloc_world.rng, NODES);
    snprintf(name, sizeof(name), "i%u", (unsigned)rng_below(&alloc_world.rng, INDICES));
    const struct index_meta *m = cluster_index(alloc_world.state, str_of(name));
    switch (rng_below(&alloc_world.rng, 12)) {
    case 0:
        alloc_world.up[n] = false;
        break;
    case 1:
    case 2:
        alloc_world.up[n] = true;
        break;
    case 3:
        if (m == NULL) {
            ck_assert(state_put_index(b, alloc_world_index(name, 1 + (uint32_t)rng_below(&alloc_world.rng, 6),
                                                           (uint32_t)rng_below(&alloc_world.rng, 3))));
        }
        break;
    case 4:
        if (rng_below(&alloc_world.rng, 4) == 0) {
            state_remove_index(b, str_of(name));
        }
        break;
    case 5:
        if (m != NULL) {
            struct index_meta *c = index_meta_copy(m);
            c->n_replicas = (uint32_t)rng_below(&alloc_world.rng, 3);
            c->closed = rng_below(&alloc_world.rng, 4) == 0;
            ck_assert(state_put_index(b, c));
        }
        break;
    case 6:
    case 7:
        order(b);
        break;
    default:
        alloc_world_report(b, false);
    }
    alloc_world_set_nodes(b);
}

void alloc_world_settle(void)
{
    for (int i = 0; i < NODES; i++) {
        alloc_world.up[i] = true;
    }
    for (int i = 0; i < 3000; i++) {
        struct state_builder b;
        alloc_world.now_ms += 1000;
        ck_assert(state_builder_init(&b, alloc_world.state));
        alloc_world_set_nodes(&b);
        alloc_world_report(&b, true);
        alloc_world_run(&b);
    }
}

void alloc_world_check_green(void)
{
    uint32_t on[NODES] = {0}, copies = 0;
    for (uint32_t i = 0; i < alloc_world.state->n_routing; i++) {
        for (uint32_t s = 0; s < alloc_world.state->routing[i]->n; s++) {
            const struct shard_routing *r = &alloc_world.state->routing[i]->shards[s];
            for (uint32_t k = 0; k < r->n; k++) {
                const struct shard_copy *c = &r->copies[k];
                bool gave_up = k > 0 && c->state == COPY_UNASSIGNED && c->trouble.failed >= 5;
                ck_assert_msg(c->state == COPY_STARTED || gave_up
                                  || (k > 0 && r->copies[0].state == COPY_UNASSIGNED),
                              "%.*s %u %u is %s (%s)", STR_ARG(alloc_world.state->routing[i]->name), s, k,
                              copy_state_name(c->state), copy_reason_name(c->trouble.reason));
                if (c->state == COPY_STARTED) {
                    on[c->node.p[1] - '0']++;
                    copies++;
                }
            }
        }
    }
    for (int i = 0; i < NODES; i++) {
        ck_assert_msg(on[i] * NODES <= copies + 3 * NODES && on[i] * NODES + 3 * NODES >= copies,
                      "node %d has %u of %u copies", i, on[i], copies);
    }
}
