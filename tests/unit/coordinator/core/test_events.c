/* What is told of the way from one hand-made state to the next. */
#include "coordinator/core/events.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* A cluster that the tests change step by step; what is told is read after each. */
struct scene {
    struct event_log *log;
    struct cluster_state *now;
    struct event_moment at;
    uint64_t seen;
    struct buf out;
};

static void scene_init(struct scene *s)
{
    *s = (struct scene){.log = event_log_new(), .at = {5000, 100, 7}};
    ck_assert_ptr_nonnull(s->log);
    buf_init(&s->out, NULL, BUF_UNLIMITED);
}

static void scene_fini(struct scene *s)
{
    cluster_state_unref(s->now);
    event_log_free(s->log);
    buf_fini(&s->out);
}

/* `nodes`: a letter a node, the master's a capital one. Takes the routing (NULL: as before). */
static struct cluster_state *make(struct cluster_state *from, const char *nodes, uint64_t term,
                                  struct index_routing *r)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, from));
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, 8);
    struct coordination_part *c = coordination_part_new();
    state_part_unref(&none->part);
    c->term = term;
    for (const char *at = nodes; *at != '\0'; at++) {
        char id[2] = {(char)(*at | 0x20), '\0'}, name[8];
        snprintf(name, sizeof(name), "node-%s", id);
        struct node_meta n = {.id = str_of(id),
                              .name = str_of(name),
                              .ephemeral_id = str_of(id),
                              .host = STR("h"),
                              .transport_address = STR("a"),
                              .roles = ROLE_DATA};
        ck_assert(nodes_part_put(p, &n));
        if (*at != id[0]) {
            p->master = arena_str(&p->part.arena, str_of(id));
        }
    }
    state_put_nodes(&b, p);
    state_put_coordination(&b, c);
    ck_assert(r == NULL || state_put_routing(&b, r));
    struct cluster_state *s = state_builder_seal(&b, STR("s"));
    ck_assert_ptr_nonnull(s);
    return s;
}

/* Everything told since the last call, without the braces around it. */
static const char *told(struct scene *s)
{
    struct jsonw w;
    buf_reset(&s->out);
    jsonw_init(&w, &s->out, false);
    jw_obj(&w);
    event_log_write(s->log, s->seen, &w);
    jw_obj_end(&w);
    s->seen = event_log_last(s->log);
    return s->out.p;
}

static const char *step(struct scene *s, const char *nodes, uint64_t term, struct index_routing *r,
                        int64_t after_ms)
{
    struct cluster_state *next = make(s->now, nodes, term, r);
    s->at.wall_ms += after_ms;
    s->at.mono_ms += after_ms;
    event_log_add(s->log, s->now, next, &s->at);
    cluster_state_unref(s->now);
    s->now = next;
    return told(s);
}

static void says(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "%s is not in %s", part, text);
}

static void is_silent_of(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "%s is in %s", part, text);
}

static void put(struct shard_copy *c, enum copy_state state, const char *node, const char *id)
{
    c->state = state;
    c->node = node != NULL ? str_of(node) : STR_NULL;
    c->allocation_id = id != NULL ? str_of(id) : STR_NULL;
    c->target_node = c->target_id = STR_NULL;
    c->trouble = (struct copy_trouble){0};
}

static struct index_routing *change(const struct scene *s)
{
    return index_routing_copy(s->now->routing[0], 0);
}

START_TEST(masters_and_nodes)
{
    struct scene s;
    scene_init(&s);
    const char *t = step(&s, "Abc", 1, NULL, 0);
    says(t, "{\"seq\":1,\"at\":5000,\"type\":\"published\",\"version\":1,\"term\":1,\"took_us\":7}");
    says(t, "{\"seq\":2,\"at\":5000,\"type\":\"master\",\"node\":\"node-a\",\"node_id\":\"a\",\"term\":1}");
    says(t, "{\"seq\":5,\"at\":5000,\"type\":\"node_joined\",\"node\":\"node-c\",\"node_id\":\"c\"}]");
    t = step(&s, "abc", 1, NULL, 1000);
    says(t, "\"type\":\"no_master\",\"node\":\"node-a\",\"term\":1");
    says(t, "\"type\":\"health\",\"status\":\"red\",\"was\":\"green\"}");
    is_silent_of(t, "node_left");
    s.at.took_us = -1;
    t = step(&s, "Bc", 2, NULL, 130);
    says(t, "\"type\":\"published\",\"version\":3,\"term\":2}");
    says(t, "\"type\":\"master\",\"node\":\"node-b\",\"node_id\":\"b\",\"term\":2,\"without_ms\":130}");
    says(t, "\"type\":\"node_left\",\"node\":\"node-a\",\"node_id\":\"a\",\"copies\":0}");
    says(t, "\"status\":\"green\",\"was\":\"red\",\"took_ms\":130}");
    t = step(&s, "Bc", 3, NULL, 10);
    says(t, "\"type\":\"master\",\"node\":\"node-b\",\"node_id\":\"b\",\"term\":3}");
    is_silent_of(t, "node_joined");
    scene_fini(&s);
}
END_TEST

/* The view without a master is no other version: nothing was published. */
START_TEST(same_version)
{
    struct scene s;
    scene_init(&s);
    step(&s, "Ab", 1, NULL, 0);
    struct cluster_state *next = make(s.now, "ab", 1, NULL);
    next->version = s.now->version;
    event_log_add(s.log, s.now, next, &s.at);
    cluster_state_unref(next);
    const char *t = told(&s);
    says(t, "no_master");
    is_silent_of(t, "published");
    scene_fini(&s);
}
END_TEST

START_TEST(copies)
{
    struct scene s;
    scene_init(&s);
    step(&s, "Ab", 1, NULL, 0);
    struct index_routing *r = index_routing_new(STR("i"), STR("u"), 1, 1);
    put(&r->shards[0].copies[0], COPY_INITIALIZING, "a", "x");
    const char *t = step(&s, "Ab", 1, r, 10);
    says(t, "\"type\":\"index_created\",\"index\":\"i\",\"shards\":1}");
    says(t, "\"type\":\"recovery_started\",\"index\":\"i\",\"shard\":0,\"copy\":\"primary\",\"node\":\"node-"
            "a\",\"source\":\"empty\"}");
    r = change(&s);
    put(&r->shards[0].copies[0], COPY_STARTED, "a", "x");
    put(&r->shards[0].copies[1], COPY_INITIALIZING, "b", "y");
    r->shards[0].copies[1].source = RECOVER_PEER;
    t = step(&s, "Ab", 1, r, 20);
    says(t, "\"type\":\"recovery_done\",\"index\":\"i\",\"shard\":0,\"copy\":\"primary\",\"node\":\"node-a\","
            "\"took_ms\":20}");
    says(t, "\"copy\":\"replica\",\"node\":\"node-b\",\"source\":\"peer\"}");
    r = change(&s);
    put(&r->shards[0].copies[1], COPY_STARTED, "b", "y");
    t = step(&s, "Ab", 1, r, 35);
    says(t, "\"type\":\"recovery_done\",\"index\":\"i\",\"shard\":0,\"copy\":\"replica\",\"node\":\"node-b\","
            "\"took_ms\":35}");
    r = change(&s); /* the node of the primary is gone */
    put(&r->shards[0].copies[0], COPY_STARTED, "b", "y");
    r->shards[0].copies[0].primary = true;
    put(&r->shards[0].copies[1], COPY_UNASSIGNED, NULL, NULL);
    r->shards[0].copies[1].trouble.reason = REASON_NODE_LEFT;
    t = step(&s, "B", 2, r, 5);
    says(t, "\"type\":\"node_left\",\"node\":\"node-a\",\"node_id\":\"a\",\"copies\":1}");
    says(t, "\"type\":\"promoted\",\"index\":\"i\",\"shard\":0,\"node\":\"node-b\"}");
    is_silent_of(t, "copy_failed");
    is_silent_of(t, "recovery");
    r = change(&s);
    put(&r->shards[0].copies[1], COPY_UNASSIGNED, NULL, NULL);
    r->shards[0].copies[1].trouble = (struct copy_trouble){.reason = REASON_ALLOCATION_FAILED,
                                                           .failed = 1,
                                                           .last_node = STR("b"),
                                                           .details = STR("no \"space\"")};
    t = step(&s, "B", 2, r, 5);
    says(t, "\"type\":\"copy_failed\",\"index\":\"i\",\"shard\":0,\"copy\":\"replica\",\"node\":\"node-b\","
            "\"why\":\"no \\\"space\\\"\"}");
    scene_fini(&s);
}
END_TEST

START_TEST(moving)
{
    struct scene s;
    scene_init(&s);
    struct index_routing *r = index_routing_new(STR("i"), STR("u"), 1, 0);
    put(&r->shards[0].copies[0], COPY_STARTED, "a", "x");
    const char *t = step(&s, "Ab", 1, r, 0);
    is_silent_of(t, "recovery"); /* that was before this node looked */
    r = change(&s);
    r->shards[0].copies[0].state = COPY_RELOCATING;
    r->shards[0].copies[0].target_node = STR("b");
    r->shards[0].copies[0].target_id = STR("z");
    t = step(&s, "Ab", 1, r, 5);
    says(t, "\"type\":\"moving\",\"index\":\"i\",\"shard\":0,\"copy\":\"primary\",\"node\":\"node-a\",\"to\":"
            "\"node-b\"}");
    r = change(&s);
    put(&r->shards[0].copies[0], COPY_STARTED, "b", "z");
    t = step(&s, "Ab", 1, r, 400);
    says(t, "\"type\":\"moved\",\"index\":\"i\",\"shard\":0,\"copy\":\"primary\",\"node\":\"node-b\","
            "\"from\":\"node-a\",\"took_ms\":400}");
    is_silent_of(t, "promoted");
    struct state_builder b;
    ck_assert(state_builder_init(&b, s.now));
    ck_assert(state_remove_routing(&b, STR("i")));
    struct cluster_state *next = state_builder_seal(&b, STR("s"));
    event_log_add(s.log, s.now, next, &s.at);
    cluster_state_unref(next);
    says(told(&s), "\"type\":\"index_deleted\",\"index\":\"i\"}");
    scene_fini(&s);
}
END_TEST

/* A state that changes everything does not push everything else out. */
START_TEST(bounds)
{
    struct scene s;
    scene_init(&s);
    step(&s, "Ab", 1, NULL, 0);
    struct index_routing *r = index_routing_new(STR("i"), STR("u"), 100, 0);
    for (uint32_t i = 0; i < 100; i++) {
        char id[8];
        snprintf(id, sizeof(id), "x%u", i);
        put(&r->shards[i].copies[0], COPY_INITIALIZING, "a", NULL);
        r->shards[i].copies[0].allocation_id = arena_str(&r->part.arena, str_of(id));
    }
    const char *t = step(&s, "Ab", 1, r, 1);
    says(t, "\"shard\":46,");
    is_silent_of(t, "\"shard\":47,");
    says(t, "\"type\":\"more\",\"n\":53}");
    for (int i = 0; i < 2 * EVENTS_KEPT; i++) {
        step(&s, "Ab", 1, NULL, 1);
    }
    uint64_t last = event_log_last(s.log);
    char first[64];
    s.seen = 0;
    t = told(&s);
    snprintf(first, sizeof(first), "\"last\":%llu,\"events\":[{\"seq\":%llu,", (unsigned long long)last,
             (unsigned long long)(last - EVENTS_KEPT + 1));
    says(t, first);
    says(told(&s), "\"events\":[]");
    s.seen = last + 5; /* another process's number */
    says(told(&s), first);
    scene_fini(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("events");
    TCase *t = tcase_create("events");
    tcase_add_test(t, masters_and_nodes);
    tcase_add_test(t, same_version);
    tcase_add_test(t, copies);
    tcase_add_test(t, moving);
    tcase_add_test(t, bounds);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
