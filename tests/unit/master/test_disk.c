/* What full disks ask for: random disks and copies against a model that looks at each index by itself. */
#include "master/disk.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES   4
#define INDICES 6

static struct rng rng;
static struct arena arena;

static struct cluster_state *random_state(void)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    for (int i = 0; i < INDICES; i++) {
        struct index_meta *m = index_meta_new();
        struct arena *a = &m->part.arena;
        m->name = arena_printf(a, "i%d", i);
        m->uuid = arena_printf(a, "u%d", i);
        m->n_shards = 1 + (uint32_t)rng_below(&rng, 3);
        m->n_replicas = (uint32_t)rng_below(&rng, 2);
        m->routing_shards = routing_shards_default(m->n_shards);
        m->routing_partition = 1;
        m->mapping = STR("{}");
        m->primary_terms = ARENA_ARRAY(a, uint64_t, m->n_shards);
        m->in_sync = ARENA_ARRAY(a, struct str_set, m->n_shards);
        if (rng_below(&rng, 2) == 0) {
            ck_assert(settings_put(&m->settings, STR("index.blocks.read_only_allow_delete"), STR("true")));
        }
        struct index_routing *r = index_routing_new(m->name, m->uuid, m->n_shards, m->n_replicas);
        for (uint32_t s = 0; s < r->n; s++) {
            for (uint32_t k = 0; k < r->shards[s].n; k++) {
                struct shard_copy *c = &r->shards[s].copies[k];
                c->state = (enum copy_state)rng_below(&rng, 4);
                if (c->state != COPY_UNASSIGNED) {
                    c->node = arena_printf(&r->part.arena, "n%u", (unsigned)rng_below(&rng, NODES));
                    c->allocation_id = STR("x");
                }
                if (c->state == COPY_RELOCATING) {
                    c->target_node = arena_printf(&r->part.arena, "n%u", (unsigned)rng_below(&rng, NODES));
                    c->target_id = STR("y");
                }
            }
        }
        ck_assert(state_put_index(&b, m));
        ck_assert(state_put_routing(&b, r));
    }
    struct cluster_state *s = state_builder_seal(&b, STR("s"));
    ck_assert_ptr_nonnull(s);
    return s;
}

static bool holds(const struct index_routing *r, const char *node)
{
    for (uint32_t s = 0; s < r->n; s++) {
        for (uint32_t k = 0; k < r->shards[s].n; k++) {
            const struct shard_copy *c = &r->shards[s].copies[k];
            if ((c->node.p != NULL && str_is(c->node, node))
                || (c->target_node.p != NULL && str_is(c->target_node, node))) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t random_disks(struct disk_usage *v, unsigned used[NODES])
{
    static const unsigned levels[] = {10, 84, 86, 91, 96};
    uint32_t n = 0;
    for (unsigned i = 0; i < NODES; i++) {
        used[i] = 0;
        if (rng_below(&rng, 5) > 0) {
            used[i] = levels[rng_below(&rng, ARRAY_LEN(levels))];
            v[n++] = (struct disk_usage){arena_printf(&arena, "n%u", i), 1000, 1000 - used[i] * 10};
        }
    }
    return n;
}

static int level(unsigned used)
{
    return used == 0 ? 0 : used < 85 ? 1 : used < 90 ? 2 : used < 95 ? 3 : 4;
}

START_TEST(random_disks_and_copies)
{
    struct disk_usage before[NODES], now[NODES];
    unsigned was[NODES], used[NODES];
    struct disk_verdict v;
    rng_seed(&rng, (uint64_t)_i);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct cluster_state *s = random_state();
    uint32_t n_before = random_disks(before, was), n = random_disks(now, used);
    ck_assert(disk_decide(s, before, n_before, now, n, &arena, &v));
    bool reroute = false, flooded = false;
    for (int i = 0; i < NODES; i++) {
        reroute |= used[i] > 0 && ((was[i] > 0 && level(was[i]) != level(used[i])) || level(used[i]) >= 3);
        flooded |= level(used[i]) == 4;
    }
    ck_assert(v.reroute == reroute);
    ck_assert(v.flooded == flooded);
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct index_meta *m = s->indices[i];
        bool full = false, high = false, unknown = false;
        for (int k = 0; k < NODES; k++) {
            char node[16];
            snprintf(node, sizeof(node), "n%d", k);
            if (holds(s->routing[i], node)) {
                full |= level(used[k]) == 4;
                high |= level(used[k]) >= 3;
                unknown |= used[k] == 0;
            }
        }
        bool blocked = settings_find(&m->settings, STR("index.blocks.read_only_allow_delete")) != NULL;
        ck_assert(str_set_has(&v.block, m->name) == (full && !blocked));
        ck_assert(str_set_has(&v.release, m->name) == (blocked && !high && !unknown));
    }
    cluster_state_unref(s);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("disk");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, random_disks_and_copies, 0, 200);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
