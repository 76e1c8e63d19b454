/* Health of random states against a model that counts copy by copy. */
#include "common/base/rand.h"
#include "common/cluster/health.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct rng rng;

struct model {
    uint32_t by_state[4], primaries, delayed, worst;
};

static struct index_meta *new_index(struct str name, uint32_t shards, uint32_t replicas)
{
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = arena_str(a, name);
    m->uuid = arena_printf(a, "uuid-%.*s", STR_ARG(name));
    m->n_shards = shards;
    m->n_replicas = replicas;
    m->routing_shards = routing_shards_default(shards);
    m->routing_partition = 1;
    m->mapping = STR("{}");
    m->primary_terms = ARENA_ARRAY(a, uint64_t, shards);
    m->in_sync = ARENA_ARRAY(a, struct str_set, shards);
    return m;
}

static void random_copy(struct shard_copy *c, struct model *all, struct model *of_shard)
{
    c->state = (enum copy_state)(rng_below(&rng, 3) > 0 ? COPY_STARTED : rng_below(&rng, 4));
    c->source = (enum recovery_source)rng_below(&rng, 3);
    c->trouble.attempt = (enum copy_attempt)rng_below(&rng, ATTEMPT_N);
    c->trouble.failed = (uint32_t)rng_below(&rng, 2);
    c->trouble.delayed = rng_below(&rng, 2) == 0;
    c->node = c->state != COPY_UNASSIGNED ? STR("node") : STR_NULL;
    c->allocation_id = c->state != COPY_UNASSIGNED ? STR("id") : STR_NULL;
    bool active = c->state == COPY_STARTED || c->state == COPY_RELOCATING;
    bool soon = c->source == RECOVER_EMPTY_STORE && c->trouble.failed == 0
                && c->trouble.attempt != ATTEMPT_DECIDERS_NO;
    uint32_t status = active ? 0 : c->primary && !soon ? 2 : 1;
    struct model *models[] = {all, of_shard};
    for (int i = 0; i < 2; i++) {
        models[i]->by_state[c->state]++;
        models[i]->primaries += c->primary && active;
        models[i]->delayed += c->state == COPY_UNASSIGNED && c->trouble.delayed;
        models[i]->worst = MAX_OF(models[i]->worst, status);
    }
}

static void same(const struct shards_health *h, const struct model *m)
{
    ck_assert_uint_eq((unsigned)h->status, m->worst);
    ck_assert_uint_eq(h->active, m->by_state[COPY_STARTED] + m->by_state[COPY_RELOCATING]);
    ck_assert_uint_eq(h->relocating, m->by_state[COPY_RELOCATING]);
    ck_assert_uint_eq(h->initializing, m->by_state[COPY_INITIALIZING]);
    ck_assert_uint_eq(h->unassigned, m->by_state[COPY_UNASSIGNED]);
    ck_assert_uint_eq(h->primaries, m->primaries);
    ck_assert_uint_eq(h->delayed, m->delayed);
}

static void put_master(struct state_builder *b)
{
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, 2);
    state_part_unref(&none->part);
    struct node_meta n = {.id = STR("node"),
                          .name = STR("n"),
                          .ephemeral_id = STR("e"),
                          .host = STR("h"),
                          .transport_address = STR("a"),
                          .roles = ROLE_DATA};
    ck_assert(nodes_part_put(p, &n));
    n.id = STR("other");
    n.roles = ROLE_MASTER;
    ck_assert(nodes_part_put(p, &n));
    p->master = p->v[0].id;
    state_put_nodes(b, p);
}

static struct cluster_state *seal(struct state_builder *b)
{
    struct cluster_state *s = state_builder_seal(b, STR("s"));
    ck_assert_ptr_nonnull(s);
    return s;
}

START_TEST(random_states)
{
    struct state_builder b;
    struct model all = {0}, of_index[6] = {0};
    uint32_t least[6];
    rng_seed(&rng, (uint64_t)_i);
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    put_master(&b);
    for (uint32_t i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof(name), "i%u", i);
        struct index_meta *m =
            new_index(str_of(name), 1 + (uint32_t)rng_below(&rng, 5), (uint32_t)rng_below(&rng, 3));
        struct index_routing *r = index_routing_new(m->name, m->uuid, m->n_shards, m->n_replicas);
        least[i] = UINT32_MAX;
        for (uint32_t k = 0; k < r->n; k++) {
            struct model of_shard = {0};
            for (uint32_t c = 0; c < r->shards[k].n; c++) {
                random_copy(&r->shards[k].copies[c], &of_index[i], &of_shard);
            }
            least[i] = MIN_OF(least[i], of_shard.by_state[COPY_STARTED] + of_shard.by_state[COPY_RELOCATING]);
        }
        for (int s = 0; s < 4; s++) {
            all.by_state[s] += of_index[i].by_state[s];
        }
        all.primaries += of_index[i].primaries;
        all.delayed += of_index[i].delayed;
        all.worst = MAX_OF(all.worst, of_index[i].worst);
        ck_assert(state_put_index(&b, m));
        ck_assert(state_put_routing(&b, r));
    }
    struct cluster_state *s = seal(&b);
    struct shards_health h = cluster_health(s);
    same(&h, &all);
    for (uint32_t i = 0; i < 6; i++) {
        const struct index_meta *m = s->indices[i];
        h = index_health(s, m);
        same(&h, &of_index[i]);
        ck_assert_uint_eq(health_least_active(s, m), least[i]);
        ck_assert(health_enough_active(s, m, -1) == (least[i] == m->n_replicas + 1));
        for (int32_t wanted = 0; wanted < 4; wanted++) {
            ck_assert(health_enough_active(s, m, wanted) == (least[i] >= (uint32_t)wanted));
        }
    }
    uint32_t copies = all.by_state[0] + all.by_state[1] + all.by_state[2] + all.by_state[3];
    h = cluster_health(s);
    ck_assert_double_eq_tol(health_percent(&h), 100.0 * (all.by_state[2] + all.by_state[3]) / copies, 1e-9);
    ck_assert_uint_eq(health_nodes(s, 0), 2);
    ck_assert_uint_eq(health_nodes(s, ROLE_DATA), 1);
    cluster_state_unref(s);
}
END_TEST

START_TEST(nobody_leads)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    struct cluster_state *s = seal(&b);
    struct shards_health h = cluster_health(s);
    ck_assert_uint_eq((unsigned)h.status, HEALTH_RED);
    ck_assert_double_eq(health_percent(&h), 100.0);
    cluster_state_unref(s);
}
END_TEST

START_TEST(names)
{
    enum health h;
    ck_assert(health_parse(STR("YELLOW"), &h) && h == HEALTH_YELLOW);
    ck_assert(!health_parse(STR("blue"), &h));
    ck_assert_str_eq(health_name(HEALTH_RED), "red");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("health");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, random_states, 0, 60);
    tcase_add_test(c, nobody_leads);
    tcase_add_test(c, names);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
