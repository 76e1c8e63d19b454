/* Allocation over random clusters: nodes come and go, indices too, copies start and fail. What must hold
 * holds after every step, and a cluster that is left alone gets green and even. */
#include "tests/unit/master/alloc_world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

START_TEST(random_clusters)
{
    struct state_builder b;
    rng_seed(&alloc_world.rng, (uint64_t)_i + 1);
    memset(alloc_world.up, 0, sizeof(alloc_world.up));
    alloc_world.n_disks = 0;
    alloc_world.now_ms = 1000000;
    alloc_world.up[0] = alloc_world.up[1] = true;
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    alloc_world_set_nodes(&b);
    alloc_world_seal(&b);
    for (int i = 0; i < 600; i++) {
        alloc_world.now_ms += (int64_t)rng_below(&alloc_world.rng, 20000);
        ck_assert(state_builder_init(&b, alloc_world.state));
        alloc_world_change(&b);
        alloc_world_run(&b);
        alloc_world_explain_some();
    }
    alloc_world_settle();
    alloc_world_check_green();
    cluster_state_unref(alloc_world.state);
    alloc_world.state = NULL;
}
END_TEST

/* A new index that cannot be made, as on a full disk, comes once it can: its primary is tried without end, ever less often. */
START_TEST(new_primary_is_tried_without_end)
{
    struct state_builder b;
    bool changed;
    rng_seed(&alloc_world.rng, 1);
    memset(alloc_world.up, 0, sizeof(alloc_world.up));
    alloc_world.n_disks = 0;
    alloc_world.now_ms = 1000000;
    alloc_world.up[0] = true;
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    alloc_world_set_nodes(&b);
    ck_assert(state_put_index(&b, alloc_world_index("i0", 1, 0)));
    alloc_world_seal(&b);
    for (uint32_t i = 0; i < 20; i++) {
        ck_assert(state_builder_init(&b, alloc_world.state));
        alloc_world_run(&b);
        const struct shard_copy *c = &cluster_routing(alloc_world.state, STR("i0"))->shards[0].copies[0];
        bool waits = i >= 5; /* a pause, from then on */
        ck_assert_uint_eq(c->trouble.failed, i);
        ck_assert_int_eq(c->state, waits ? COPY_UNASSIGNED : COPY_INITIALIZING);
        if (waits) {
            alloc_world.now_ms += 60000;
            ck_assert(state_builder_init(&b, alloc_world.state));
            alloc_world_run(&b);
            c = &cluster_routing(alloc_world.state, STR("i0"))->shards[0].copies[0];
            ck_assert_int_eq(c->state, COPY_INITIALIZING);
        }
        struct alloc_env env = {.now_ms = alloc_world.now_ms, .rng = &alloc_world.rng};
        ck_assert(state_builder_init(&b, alloc_world.state));
        struct str uuid = cluster_index(alloc_world.state, STR("i0"))->uuid;
        ck_assert_int_eq(
            allocation_failed(&env, &b, uuid, 0, c->allocation_id, STR("no room"), &changed, NULL), ERR_OK);
        alloc_world_seal(&b);
    }
    cluster_state_unref(alloc_world.state);
    alloc_world.state = NULL;
}
END_TEST

/* ---- who waits for whom ---- */

static bool nothing_to_do(void)
{
    for (uint32_t i = 0; i < alloc_world.state->n_routing; i++) {
        for (uint32_t s = 0; s < alloc_world.state->routing[i]->n; s++) {
            for (uint32_t k = 0; k < alloc_world.state->routing[i]->shards[s].n; k++) {
                enum copy_state is = alloc_world.state->routing[i]->shards[s].copies[k].state;
                if (is == COPY_INITIALIZING || is == COPY_RELOCATING) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool any_up(void)
{
    bool any = false;
    for (int i = 0; i < NODES; i++) {
        any |= alloc_world.up[i];
    }
    return any;
}

/* First what a copy says, then what follows from it and from the nodes. */
static void step(bool told)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, alloc_world.state));
    if (told) {
        alloc_world_report(&b, true);
    }
    alloc_world_seal(&b);
    ck_assert(state_builder_init(&b, alloc_world.state));
    alloc_world_set_nodes(&b);
    alloc_world_run(&b);
}

/* What is under way ends well, in no time. */
static void finish(void)
{
    for (int i = 0; i < 2000 && (i < 2 || !nothing_to_do()); i++) {
        step(true);
    }
}

static void check_all_started(void)
{
    for (uint32_t i = 0; i < alloc_world.state->n_routing; i++) {
        for (uint32_t s = 0; s < alloc_world.state->routing[i]->n; s++) {
            for (uint32_t k = 0; k < alloc_world.state->routing[i]->shards[s].n; k++) {
                const struct shard_copy *c = &alloc_world.state->routing[i]->shards[s].copies[k];
                ck_assert_msg(c->state == COPY_STARTED, "copy %u of %.*s %u is %s, was on %.*s", k,
                              STR_ARG(alloc_world.state->routing[i]->name), s, copy_state_name(c->state),
                              STR_ARG(c->trouble.last_node));
            }
        }
    }
}

/* Nodes go and come in any order, faster than any delay ends: once all are back nothing waits, whoever has become the primary
 * of what meanwhile. */
START_TEST(nobody_waits_for_who_is_there)
{
    struct state_builder b;
    rng_seed(&alloc_world.rng, (uint64_t)_i + 1);
    memset(alloc_world.up, 0, sizeof(alloc_world.up));
    alloc_world.n_disks = 0;
    alloc_world.now_ms = 1000000;
    int nodes = 2 + _i % 4;
    for (int i = 0; i < nodes; i++) {
        alloc_world.up[i] = true;
    }
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    alloc_world_set_nodes(&b);
    ck_assert(state_put_index(&b, alloc_world_index("i0", 3, 1)));
    ck_assert(state_put_index(&b, alloc_world_index("i1", 2, nodes > 2 ? 2 : 1)));
    alloc_world_seal(&b);
    finish();
    check_all_started();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 12; i++) {
            alloc_world.now_ms += 5;
            alloc_world.up[rng_below(&alloc_world.rng, (uint64_t)nodes)] =
                rng_below(&alloc_world.rng, 2) == 0;
            alloc_world.up[(round + i) % nodes] |= !any_up();
            step(rng_below(&alloc_world.rng, 2) == 0);
        }
        for (int i = 0; i < nodes; i++) {
            alloc_world.up[i] = true;
        }
        finish();
        check_all_started();
    }
    cluster_state_unref(alloc_world.state);
    alloc_world.state = NULL;
}
END_TEST

/* Three nodes, two of them on one machine and all in one zone. How many copies of a shard with two replicas come alloc_world.up? */
static uint32_t copies_with(const char *key, const char *value, const char *other, const char *other_value)
{
    static const char *const at[] = {"10.0.0.1:9300", "10.0.0.1:9301", "[::1]:9300"};
    struct state_builder b;
    struct arena a;
    struct settings set;
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, NODES);
    state_part_unref(&none->part);
    rng_seed(&alloc_world.rng, 1);
    memset(alloc_world.up, 0, sizeof(alloc_world.up));
    alloc_world.n_disks = 0;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    settings_init(&set, &a);
    ck_assert(key == NULL || settings_put(&set, str_of(key), str_of(value)));
    ck_assert(other == NULL || settings_put(&set, str_of(other), str_of(other_value)));
    for (int i = 0; i < 3; i++) {
        struct node_attr zone = {STR("zone"), STR("a")};
        char id[16];
        snprintf(id, sizeof(id), "n%d", i);
        struct node_meta n = {.id = str_of(id),
                              .name = str_of(id),
                              .ephemeral_id = STR("e"),
                              .host = STR("h"),
                              .transport_address = str_of(at[i]),
                              .roles = ROLE_DATA,
                              .attrs = &zone,
                              .n_attrs = 1};
        alloc_world.up[i] = true;
        ck_assert(nodes_part_put(p, &n));
    }
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    state_put_nodes(&b, p);
    state_put_settings(&b, settings_part_new(&set), false);
    ck_assert(state_put_index(&b, alloc_world_index("i", 1, 2)));
    alloc_world_seal(&b);
    for (int i = 0; i < 8; i++) {
        alloc_world.now_ms += 1000;
        ck_assert(state_builder_init(&b, alloc_world.state));
        alloc_world_report(&b, true);
        alloc_world_run(&b);
    }
    uint32_t n = 0;
    for (uint32_t k = 0; k < 3; k++) {
        n += alloc_world.state->routing[0]->shards[0].copies[k].state == COPY_STARTED;
    }
    cluster_state_unref(alloc_world.state);
    alloc_world.state = NULL;
    arena_fini(&a);
    return n;
}

START_TEST(copies_are_kept_apart)
{
    const char *host = "cluster.routing.allocation.same_shard.host",
               *zones = "cluster.routing.allocation.awareness.attributes",
               *force = "cluster.routing.allocation.awareness.force.zone.values";
    ck_assert_uint_eq(copies_with(NULL, NULL, NULL, NULL), 3);
    ck_assert_uint_eq(copies_with(host, "false", NULL, NULL), 3);
    ck_assert_uint_eq(copies_with(host, "true", NULL, NULL), 2);
    ck_assert_uint_eq(copies_with(zones, "zone", NULL, NULL), 3);
    ck_assert_uint_eq(copies_with(zones, "zone", force, "a,b"), 2);
    ck_assert_uint_eq(copies_with(zones, "zone", force, "a, b,c"), 1);
    ck_assert_uint_eq(copies_with(NULL, NULL, force, "a,b"), 3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("allocation");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, random_clusters, 0, 12);
    tcase_add_loop_test(c, nobody_waits_for_who_is_there, 0, 40);
    tcase_add_test(c, new_primary_is_tried_without_end);
    tcase_add_test(c, copies_are_kept_apart);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
