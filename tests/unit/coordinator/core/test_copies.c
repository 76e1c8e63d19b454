/* The order in which copies are asked, against a naive model; what failures mean for the next one. */
#include "common/base/memory_account.h"
#include "common/base/rand.h"
#include "coordinator/core/retry.h"
#include "coordinator/ops/writes_int.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 6

static struct rng rng;

static struct str node_name(uint64_t i)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4", "n5"};
    return str_of(names[i]);
}

/* A cluster of NODES nodes; even ones are in zone a, odd ones in zone b; n0 is the master. */
static struct cluster_state *state_of(struct index_routing *r)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    struct nodes_part *p = nodes_part_new();
    struct arena *a = &p->part.arena;
    p->v = ARENA_ARRAY(a, struct node_meta, NODES);
    p->n = NODES;
    for (uint32_t i = 0; i < NODES; i++) {
        struct node_attr *zone = ARENA_NEW(a, struct node_attr);
        *zone = (struct node_attr){STR("zone"), i % 2 == 0 ? STR("a") : STR("b")};
        p->v[i] = (struct node_meta){.id = node_name(i),
                                     .name = arena_printf(a, "name%u", i),
                                     .ephemeral_id = node_name(i),
                                     .host = STR("host"),
                                     .transport_address = arena_printf(a, "127.0.0.1:%u", 9300 + i),
                                     .roles = i == 0 ? ROLE_MASTER : ROLE_DATA | ROLE_MASTER,
                                     .attrs = zone,
                                     .n_attrs = 1};
    }
    p->master = p->v[0].id;
    state_put_nodes(&b, p);
    ck_assert(state_put_routing(&b, r));
    return state_builder_seal(&b, STR("state"));
}

/* One shard whose copies are on different nodes, in random states. */
static struct index_routing *random_routing(void)
{
    uint32_t replicas = (uint32_t)rng_below(&rng, 4);
    struct index_routing *r = index_routing_new(STR("i"), STR("uuid"), 2, replicas);
    for (uint32_t s = 0; s < r->n; s++) {
        uint64_t at = rng_below(&rng, NODES);
        for (uint32_t k = 0; k <= replicas; k++) {
            struct shard_copy *c = &r->shards[s].copies[k];
            c->state = (enum copy_state)rng_below(&rng, k < 2 ? 4 : 3); /* two may be on their way */
            c->node = c->state == COPY_UNASSIGNED ? STR_NULL : node_name((at + k) % NODES);
            c->target_node = c->state == COPY_RELOCATING ? node_name((at + 4 + k) % NODES) : STR_NULL;
        }
    }
    return r;
}

static bool in_list(const char *const *list, struct str node)
{
    for (; *list != NULL; list++) {
        if (str_is(node, *list)) {
            return true;
        }
    }
    return false;
}

enum rule { ANY, FIRST, ONLY };

/* The set of nodes that the model allows, and which of them stand in front. */
static void check(const struct cluster_state *s, const struct index_routing *r, uint32_t shard,
                  const char *preference, uint64_t turn, enum rule rule, const char *const *nodes)
{
    struct arena a;
    struct copies got;
    ERR_LOCAL(em);
    struct copies_how how = {STR("n1"), str_of(preference), turn};
    arena_init(&a, NULL, ARENA_UNLIMITED);
    enum err e = copies_in_order(&got, s, r, shard, &how, &a, &em);
    uint32_t active = 0, coming = 0, chosen = 0;
    for (uint32_t k = 0; k < r->shards[shard].n; k++) {
        const struct shard_copy *c = &r->shards[shard].copies[k];
        if (copy_active(c) && (rule != ONLY || in_list(nodes, c->node))) {
            active++;
            chosen += rule != ANY && in_list(nodes, c->node);
        }
        struct str next = c->state == COPY_INITIALIZING ? c->node : c->target_node;
        coming += next.p != NULL && (rule != ONLY || in_list(nodes, next));
    }
    if (e != ERR_OK) {
        ck_assert(rule == ONLY && active + coming == 0 && e == ERR_ILLEGAL_ARGUMENT);
        arena_fini(&a);
        return;
    }
    ck_assert_uint_eq(got.n_active, active);
    ck_assert_uint_eq(got.n, active + coming);
    for (uint32_t i = 0; i < got.n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < r->shards[shard].n; k++) {
            const struct shard_copy *c = &r->shards[shard].copies[k];
            bool is = i < got.n_active                ? copy_active(c) && str_eq(c->node, got.nodes[i])
                      : c->state == COPY_INITIALIZING ? str_eq(c->node, got.nodes[i])
                                                      : str_eq(c->target_node, got.nodes[i]);
            found |= is;
        }
        ck_assert(found);
        for (uint32_t k = 0; k < i; k++) {
            ck_assert(!str_eq(got.nodes[i], got.nodes[k]));
        }
        if (rule == FIRST && i < got.n_active) {
            ck_assert(in_list(nodes, got.nodes[i]) == (i < chosen));
        }
        ck_assert(rule != ONLY || in_list(nodes, got.nodes[i]));
    }
    arena_fini(&a);
}

START_TEST(order)
{
    rng_seed(&rng, 5);
    for (int round = 0; round < 500; round++) {
        struct index_routing *r = random_routing();
        struct cluster_state *s = state_of(r);
        uint64_t turn = rng_u64(&rng);
        for (uint32_t shard = 0; shard < 2; shard++) {
            check(s, r, shard, "", turn, ANY, NULL);
            check(s, r, shard, "of one's own", turn, ANY, NULL);
            check(s, r, shard, "_local", turn, FIRST, (const char *[]){"n1", NULL});
            check(s, r, shard, "_shards:0,1|_local", turn, FIRST, (const char *[]){"n1", NULL});
            check(s, r, shard, "_shards:0,1", turn, ANY, NULL);
            check(s, r, shard, "_prefer_nodes:n2,n3", turn, FIRST, (const char *[]){"n2", "n3", NULL});
            check(s, r, shard, "_only_nodes:n2,name3", turn, ONLY, (const char *[]){"n2", "n3", NULL});
            check(s, r, shard, "_only_nodes:zone:a", turn, ONLY, (const char *[]){"n0", "n2", "n4", NULL});
            check(s, r, shard, "_only_nodes:_master,127.0.0.1:9303", turn, ONLY,
                  (const char *[]){"n0", "n3", NULL});
            check(s, r, shard, "_only_nodes:_all,data:false", turn, ONLY, (const char *[]){"n0", NULL});
        }
        cluster_state_unref(s);
    }
}
END_TEST

static struct index_routing *three_started(void)
{
    struct index_routing *r = index_routing_new(STR("i"), STR("uuid"), 1, 2);
    for (uint32_t k = 0; k < 3; k++) {
        r->shards[0].copies[k].state = COPY_STARTED;
        r->shards[0].copies[k].node = node_name(k);
    }
    return r;
}

/* Turns go round; a string of one's own always leads to the same copy. */
START_TEST(turns)
{
    struct index_routing *r = three_started();
    struct cluster_state *s = state_of(r);
    struct arena a;
    struct copies got;
    unsigned first[3] = {0};
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (uint64_t turn = 0; turn < 30; turn++) {
        struct copies_how how = {STR("n1"), STR_NULL, turn};
        ck_assert_int_eq(copies_in_order(&got, s, r, 0, &how, &a, NULL), ERR_OK);
        first[got.nodes[0].p[1] - '0']++;
    }
    ck_assert(first[0] == 10 && first[1] == 10 && first[2] == 10);
    struct str always = STR_NULL;
    for (uint64_t turn = 0; turn < 30; turn++) {
        struct copies_how how = {STR("n1"), STR("session 7"), turn};
        ck_assert_int_eq(copies_in_order(&got, s, r, 0, &how, &a, NULL), ERR_OK);
        ck_assert(always.p == NULL || str_eq(always, got.nodes[0]));
        always = got.nodes[0];
    }
    struct copies_how how = {STR("n4"), STR("_only_local"), 0};
    ck_assert_int_eq(copies_in_order(&got, s, r, 0, &how, &a, NULL), ERR_OK);
    ck_assert_uint_eq(got.n, 0);
    how.preference = STR("_shards:0|x");
    ck_assert_int_eq(copies_in_order(&got, s, r, 0, &how, &a, NULL), ERR_ILLEGAL_ARGUMENT);
    how.preference = STR("_nothing");
    ck_assert_int_eq(copies_in_order(&got, s, r, 0, &how, &a, NULL), ERR_ILLEGAL_ARGUMENT);
    ck_assert(copies_wanted(STR("_shards:1,0|_local"), 0) && !copies_wanted(STR("_shards:1|_local"), 0));
    ck_assert(str_is(copies_primary(r, 0), "n0"));
    r->shards[0].copies[0].state = COPY_INITIALIZING;
    ck_assert(copies_primary(r, 0).p == NULL && copies_primary(r, 7).p == NULL);
    arena_fini(&a);
    cluster_state_unref(s);
}
END_TEST

/* ---- failures ------------------------------------------------------------------------------------------ */

START_TEST(next_copy)
{
    struct arena a;
    ERR_LOCAL(em);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct str nodes[] = {STR("n0"), STR("n1")}, later[] = {STR("n1"), STR("n2"), STR("n0")};
    struct retry_reads t = {.copies = {nodes, 2, 2}};
    ck_assert(str_is(retry_next(&t), "n0"));
    err_set(&em, ERR_IO, "the disk");
    retry_failed(&t, STR("n0"), &em, &a);
    ck_assert(str_is(retry_next(&t), "n1"));
    err_set(&em, ERR_NO_SHARD, "not here");
    retry_failed(&t, STR("n1"), &em, &a);
    ck_assert(err_code(t.kept) == ERR_IO && str_is(t.kept_node, "n0")); /* it says more */
    ck_assert(retry_next(&t).p == NULL);
    struct copies now = {later, 3, 3};
    retry_renew(&t, &now);
    ck_assert(str_is(retry_next(&t), "n2") && retry_next(&t).p == NULL);
    err_set(&em, ERR_NODE_DISCONNECTED, "gone");
    retry_failed(&t, STR("n2"), &em, &a);
    ck_assert(err_code(t.kept) == ERR_NODE_DISCONNECTED);
    arena_fini(&a);
}
END_TEST

/* An error that finds no memory is an error all the same: of a copy that was asked, and of a write. */
START_TEST(no_memory_to_say_why)
{
    struct arena full, a;
    ERR_LOCAL(em);
    arena_init(&full, NULL, 0);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    err_set(&em, ERR_IO, "the disk");
    struct str nodes[] = {STR("n0"), STR("n1")};
    struct retry_reads t = {.copies = {nodes, 2, 2}};
    retry_failed(&t, STR("n0"), &em, &full);
    ck_assert_ptr_eq(t.kept, err_out_of_memory());
    ck_assert(err_code(t.kept) == ERR_NO_MEMORY && str_is(t.kept_node, "n0"));
    retry_failed(&t, STR("n1"), &em, &a); /* and is replaced, not written to */
    ck_assert(err_code(t.kept) == ERR_IO && str_is(t.kept_node, "n1"));
    ck_assert(err_code(err_out_of_memory()) == ERR_NO_MEMORY);

    struct op_env r = {.arena = &full};
    struct write_entry entry = {.action = "index"};
    struct write_set w = {.r = &r, .v = &entry, .n = 1};
    writes_fail(&w, &entry, &em);
    ck_assert_ptr_eq(entry.error, err_out_of_memory());
    r.arena = &a;
    writes_fail(&w, &entry, &em);
    ck_assert(entry.error != &em && err_code(entry.error) == ERR_IO);
    arena_fini(&a);
    arena_fini(&full);
}
END_TEST

START_TEST(meanings)
{
    ERR_LOCAL(em);
    ck_assert(!retry_read(&em) && retry_write(&em) == RETRY_NOT);
    err_set(&em, ERR_QUERY_SHARD, "no such field");
    ck_assert(!retry_read(&em));
    err_set(&em, ERR_CONFLICT, "another version");
    ck_assert(retry_write(&em) == RETRY_NOT);
    err_set(&em, ERR_NOT_PRIMARY, "not any more");
    ck_assert(retry_read(&em) && retry_write(&em) == RETRY_FRESH);
    err_set(&em, ERR_NODE_DISCONNECTED, "gone");
    ck_assert(retry_read(&em) && retry_write(&em) == RETRY_UNKNOWN);
    err_set(&em, ERR_IO, "No space left on device");
    ck_assert(retry_read(&em) && retry_write(&em) == RETRY_ELSEWHERE);
    err_set(&em, ERR_NODE_NOT_CONNECTED, "never there");
    ck_assert(retry_write(&em) == RETRY_FRESH);
    for (uint32_t n = 1; n < 20; n++) {
        ck_assert(retry_pause_ms(n) >= 25 && retry_pause_ms(n) <= 200
                  && retry_pause_ms(n + 1) >= retry_pause_ms(n));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("copies");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, order);
    tcase_add_test(c, turns);
    tcase_add_test(c, next_copy);
    tcase_add_test(c, no_memory_to_say_why);
    tcase_add_test(c, meanings);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
