/* What is counted from one state to the next. */
#include "coordinator/core/state_counts.h"

#include <check.h>
#include <stdlib.h>

static struct cluster_state *next(struct cluster_state *from, const char *master, struct index_routing *r)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, from));
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, 2);
    state_part_unref(&none->part);
    static const char *const ids[] = {"n1", "n2"};
    for (int i = 0; i < 2; i++) {
        struct node_meta n = {.id = str_of(ids[i]),
                              .name = str_of(ids[i]),
                              .ephemeral_id = STR("e"),
                              .host = STR("h"),
                              .transport_address = STR("a"),
                              .roles = ROLE_DATA};
        ck_assert(nodes_part_put(p, &n));
    }
    p->master = master != NULL ? arena_str(&p->part.arena, str_of(master)) : STR_NULL;
    state_put_nodes(&b, p);
    ck_assert(r == NULL || state_put_routing(&b, r));
    struct cluster_state *s = state_builder_seal(&b, STR("s"));
    ck_assert_ptr_nonnull(s);
    return s;
}

static void put(struct shard_copy *c, enum copy_state state, const char *node, const char *id)
{
    c->state = state;
    c->node = node != NULL ? str_of(node) : STR_NULL;
    c->allocation_id = id != NULL ? str_of(id) : STR_NULL;
    c->target_node = c->target_id = STR_NULL;
}

START_TEST(masters_change)
{
    struct state_counts c = {0};
    static const char *const masters[] = {NULL, "n1", "n1", NULL, "n2", "n1"};
    struct cluster_state *s = NULL;
    for (size_t i = 0; i < ARRAY_LEN(masters); i++) {
        struct cluster_state *now = next(s, masters[i], NULL);
        state_counts_add(&c, s, now);
        cluster_state_unref(s);
        s = now;
    }
    cluster_state_unref(s);
    ck_assert_uint_eq(c.states, 6);
    ck_assert_uint_eq(c.masters, 3);
    ck_assert_uint_eq(c.no_masters, 1);
}
END_TEST

START_TEST(copies)
{
    struct state_counts c = {0};
    struct index_routing *r = index_routing_new(STR("a"), STR("u"), 1, 1);
    struct shard_copy *v = r->shards[0].copies;
    put(&v[0], COPY_INITIALIZING, "n1", "x");
    struct cluster_state *s1 = next(NULL, "n1", r);
    state_counts_add(&c, NULL, s1);
    ck_assert_uint_eq(c.started, 0);
    r = index_routing_copy(s1->routing[0], 0);
    put(&r->shards[0].copies[0], COPY_STARTED, "n1", "x");
    put(&r->shards[0].copies[1], COPY_INITIALIZING, "n2", "y");
    struct cluster_state *s2 = next(s1, "n1", r);
    state_counts_add(&c, s1, s2);
    ck_assert_uint_eq(c.started, 1);
    r = index_routing_copy(s2->routing[0], 0);
    put(&r->shards[0].copies[1], COPY_UNASSIGNED, NULL, NULL);
    r->shards[0].copies[1].trouble = (struct copy_trouble){.reason = REASON_ALLOCATION_FAILED, .failed = 1};
    struct cluster_state *s3 = next(s2, "n1", r);
    state_counts_add(&c, s2, s3);
    ck_assert_uint_eq(c.failed, 1);
    r = index_routing_copy(s3->routing[0], 0);
    put(&r->shards[0].copies[1], COPY_STARTED, "n2", "z");
    struct cluster_state *s4 = next(s3, "n1", r);
    state_counts_add(&c, s3, s4);
    ck_assert_uint_eq(c.started, 2);
    r = index_routing_copy(s4->routing[0], 0); /* the replica takes over */
    put(&r->shards[0].copies[0], COPY_STARTED, "n2", "z");
    r->shards[0].copies[0].primary = true;
    put(&r->shards[0].copies[1], COPY_UNASSIGNED, NULL, NULL);
    r->shards[0].copies[1].trouble = (struct copy_trouble){.reason = REASON_NODE_LEFT};
    struct cluster_state *s5 = next(s4, "n1", r);
    state_counts_add(&c, s4, s5);
    ck_assert_uint_eq(c.promoted, 1);
    ck_assert_uint_eq(c.started, 2);
    r = index_routing_copy(s5->routing[0], 0);
    r->shards[0].copies[0].state = COPY_RELOCATING;
    r->shards[0].copies[0].target_node = STR("n1");
    r->shards[0].copies[0].target_id = STR("t");
    struct cluster_state *s6 = next(s5, "n1", r);
    state_counts_add(&c, s5, s6);
    state_counts_add(&c, s6, s6);
    ck_assert_uint_eq(c.moved, 1);
    r = index_routing_copy(s6->routing[0], 0);
    put(&r->shards[0].copies[0], COPY_STARTED, "n1", "t");
    struct cluster_state *s7 = next(s6, "n1", r);
    state_counts_add(&c, s6, s7);
    ck_assert_uint_eq(c.started, 3); /* where it has moved to */
    ck_assert_uint_eq(c.promoted, 1);
    ck_assert_uint_eq(c.failed, 1);
    struct cluster_state *all[] = {s1, s2, s3, s4, s5, s6, s7};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        cluster_state_unref(all[i]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("state_counts");
    TCase *c = tcase_create("all");
    tcase_add_test(c, masters_change);
    tcase_add_test(c, copies);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
