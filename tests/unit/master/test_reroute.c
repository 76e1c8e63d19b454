/* Orders of operators and explanations, worded as Elasticsearch words them. */
#include "master/allocation.h"

#include <check.h>
#include <stdlib.h>

static struct rng rng;
static struct arena arena;
static struct cluster_state *state;
static struct found_copy found[4];
static struct alloc_env env;

static void put_nodes(struct state_builder *b, uint32_t n, uint32_t n_data)
{
    static const char *const ids[] = {"id1", "id2", "id3"}, *const names[] = {"n1", "n2", "n3"};
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, n);
    state_part_unref(&none->part);
    for (uint32_t i = 0; i < n; i++) {
        struct node_meta m = {.id = str_of(ids[i]),
                              .name = str_of(names[i]),
                              .ephemeral_id = STR("e"),
                              .host = STR("127.0.0.1"),
                              .transport_address = STR("127.0.0.1:9300"),
                              .roles = i < n_data ? ROLE_DATA | ROLE_MASTER : ROLE_MASTER};
        ck_assert(nodes_part_put(p, &m));
    }
    p->master = p->v[0].id;
    state_put_nodes(b, p);
}

static void put_index(struct state_builder *b, const char *name, uint32_t replicas)
{
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = arena_str(a, str_of(name));
    m->uuid = arena_printf(a, "uuid-%s", name);
    m->n_shards = 1;
    m->n_replicas = replicas;
    m->routing_shards = routing_shards_default(1);
    m->routing_partition = 1;
    m->mapping = STR("{}");
    m->primary_terms = ARENA_ARRAY(a, uint64_t, 1);
    m->in_sync = ARENA_ARRAY(a, struct str_set, 1);
    m->primary_terms[0] = 1;
    ck_assert(state_put_index(b, m));
}

static void seal(struct state_builder *b)
{
    struct cluster_state *s = state_builder_seal(b, STR("s"));
    ck_assert_ptr_nonnull(s);
    cluster_state_unref(state);
    state = s;
}

static const struct shard_copy *copy(const char *index, uint32_t k)
{
    return &cluster_routing(state, str_of(index))->shards[0].copies[k];
}

static void start_all(struct state_builder *b)
{
    bool changed;
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &arena};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(allocate(&env, b, &wants, &changed, NULL), ERR_OK);
        seal(b);
        ck_assert(state_builder_init(b, state));
        for (uint32_t k = 0; k < state->n_routing; k++) {
            const struct shard_routing *s = &state->routing[k]->shards[0];
            for (uint32_t c = 0; c < s->n; c++) {
                if (s->copies[c].state == COPY_INITIALIZING) {
                    ck_assert_int_eq(allocation_started(b, state->routing[k]->uuid, 0,
                                                        s->copies[c].allocation_id, 0, &changed, NULL),
                                     ERR_OK);
                }
            }
        }
    }
    seal(b);
}

static void setup(void)
{
    struct state_builder b;
    rng_seed(&rng, 7);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    env = (struct alloc_env){.now_ms = 1000, .rng = &rng, .found = found};
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    put_nodes(&b, 3, 2);
    put_index(&b, "a", 0);
    put_index(&b, "b", 2);
    start_all(&b);
}

static void teardown(void)
{
    cluster_state_unref(state);
    state = NULL;
    arena_fini(&arena);
}

/* What a body of orders comes to: the error, or the explanations when they are wanted. Orders that are carried
 * out change `state`. */
static enum err orders(const char *body, struct str *explanations, struct errmsg *em)
{
    struct json tree;
    struct reroute_command *c;
    uint32_t n;
    struct state_builder b;
    struct buf out;
    struct jsonw w;
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    err_clear(em);
    ck_assert_int_eq(json_parse(&tree, str_of(body), &arena, &json_limits_default, NULL), ERR_OK);
    enum err e = reroute_parse(&c, &n, &tree, str_of(body), &arena, em);
    if (e == ERR_OK) {
        ck_assert(state_builder_init(&b, state));
        e = allocation_reroute(&env, &b, c, n, STR("id1"), false, explanations != NULL ? &w : NULL, em);
        if (e == ERR_OK) {
            seal(&b);
        } else {
            state_builder_fini(&b);
        }
    }
    if (explanations != NULL) {
        *explanations = arena_str(&arena, buf_view(&out));
    }
    buf_fini(&out);
    return e;
}

static void refused(const char *body, const char *reason)
{
    ERR_LOCAL(em);
    ck_assert_int_ne(orders(body, NULL, &em), ERR_OK);
    ck_assert_str_eq(err_reason(&em), reason);
}

#define N1 "{n1}{id1}{e}{127.0.0.1}{127.0.0.1:9300}{dm}"
#define N2 "{n2}{id2}{e}{127.0.0.1}{127.0.0.1:9300}{dm}"

START_TEST(moves)
{
    ERR_LOCAL(em);
    struct str text;
    const bool first = str_is(copy("a", 0)->node, "id1");
    const char *there =
        "{\"commands\":[{\"move\":{\"index\":\"a\",\"shard\":0,\"from_node\":\"n1\",\"to_node\":\"n2\"}}]}";
    const char *back =
        "{\"commands\":[{\"move\":{\"index\":\"a\",\"shard\":0,\"from_node\":\"n2\",\"to_node\":\"n1\"}}]}";
    refused(first ? back : there, first ? "[move_allocation] can't move 0, failed to find it on node " N2
                                        : "[move_allocation] can't move 0, failed to find it on node " N1);
    ck_assert_int_eq(orders(first ? there : back, &text, &em), ERR_OK);
    ck_assert_uint_ne(str_find(text, 'c', 0), SIZE_MAX);
    ck_assert_int_eq(copy("a", 0)->state, COPY_RELOCATING);
    ck_assert(str_is(copy("a", 0)->target_node, first ? "id2" : "id1"));
    refused(first ? there : back,
            "[move_allocation] can't move 0, shard is not started (state = RELOCATING]");
    refused(
        "{\"commands\":[{\"move\":{\"index\":\"a\",\"shard\":0,\"from_node\":\"x\",\"to_node\":\"n2\"}}]}",
        "failed to resolve [x], no matching nodes");
    /* the target's recovery is cancelled: the copy stays */
    ck_assert_int_eq(
        orders(first ? "{\"commands\":[{\"cancel\":{\"index\":\"a\",\"shard\":0,\"node\":\"n2\"}}]}"
                     : "{\"commands\":[{\"cancel\":{\"index\":\"a\",\"shard\":0,\"node\":\"n1\"}}]}",
               NULL, &em),
        ERR_OK);
    ck_assert_int_eq(copy("a", 0)->state, COPY_STARTED);
}
END_TEST

START_TEST(primaries_are_not_cancelled_by_mistake)
{
    ERR_LOCAL(em);
    struct str text;
    const bool first = str_is(copy("b", 0)->node, "id1");
    const char *body = first ? "{\"commands\":[{\"cancel\":{\"index\":\"b\",\"shard\":0,\"node\":\"n1\"}}]}"
                             : "{\"commands\":[{\"cancel\":{\"index\":\"b\",\"shard\":0,\"node\":\"n2\"}}]}";
    refused(body, first ? "[cancel_allocation] can't cancel 0 on node " N1 ", shard is primary and started"
                        : "[cancel_allocation] can't cancel 0 on node " N2 ", shard is primary and started");
    ck_assert_int_eq(orders(body, &text, &em), ERR_OK); /* explained: no error */
    ck_assert_int_eq(copy("b", 0)->state, COPY_STARTED);
    uint64_t term = cluster_index(state, STR("b"))->primary_terms[0];
    const char *allowed = first ? "{\"commands\":[{\"cancel\":{\"index\":\"b\",\"shard\":0,\"node\":\"n1\","
                                  "\"allow_primary\":true}}]}"
                                : "{\"commands\":[{\"cancel\":{\"index\":\"b\",\"shard\":0,\"node\":\"n2\","
                                  "\"allow_primary\":true}}]}";
    ck_assert_int_eq(orders(allowed, NULL, &em), ERR_OK);
    ck_assert(str_is(copy("b", 0)->node, first ? "id2" : "id1"));
    ck_assert_uint_eq(cluster_index(state, STR("b"))->primary_terms[0], term + 1);
    ck_assert_int_eq(copy("b", 1)->trouble.reason, REASON_REROUTE_CANCELLED);
    /* a replica again, by order */
    ck_assert_int_eq(
        orders(first
                   ? "{\"commands\":[{\"allocate_replica\":{\"index\":\"b\",\"shard\":0,\"node\":\"n1\"}}]}"
                   : "{\"commands\":[{\"allocate_replica\":{\"index\":\"b\",\"shard\":0,\"node\":\"n2\"}}]}",
               NULL, &em),
        ERR_OK);
    ck_assert_int_eq(copy("b", 1)->state, COPY_INITIALIZING);
}
END_TEST

START_TEST(lost_primaries)
{
    ERR_LOCAL(em);
    struct state_builder b;
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &arena};
    bool changed;
    struct str id = arena_str(&arena, copy("a", 0)->allocation_id);
    const char *stale =
        "{\"commands\":[{\"allocate_stale_primary\":{\"index\":\"a\",\"shard\":0,\"node\":\"n2\","
        "\"accept_data_loss\":true}}]}";
    refused(stale, "[allocate_stale_primary] primary [a][0] is already assigned");
    ck_assert(state_builder_init(&b, state));
    ck_assert_int_eq(allocation_failed(&env, &b, STR("uuid-a"), 0, id, STR("gone"), &changed, NULL), ERR_OK);
    ck_assert_int_eq(allocate(&env, &b, &wants, &changed, NULL), ERR_OK);
    seal(&b);
    ck_assert_int_eq(copy("a", 0)->state, COPY_UNASSIGNED);
    ck_assert_int_eq(copy("a", 0)->trouble.attempt, ATTEMPT_FETCHING);
    ck_assert_uint_eq(wants.n_lookups, 1);
    refused("{\"commands\":[{\"allocate_stale_primary\":{\"index\":\"a\",\"shard\":0,\"node\":\"n2\"}}]}",
            "[allocate_stale_primary] allocating an empty primary for [a][0] can result in data loss. Please "
            "confirm by setting the accept_data_loss parameter to true");
    refused(stale, "No data for shard [0] of index [a] found on any node");
    found[0] =
        (struct found_copy){.node_id = STR("id2"), .index_uuid = STR("uuid-a"), .allocation_id = STR("old")};
    env.n_found = 1;
    uint64_t term = cluster_index(state, STR("a"))->primary_terms[0];
    ck_assert_int_eq(orders(stale, NULL, &em), ERR_OK);
    ck_assert_int_eq(copy("a", 0)->state, COPY_INITIALIZING);
    ck_assert_int_eq(copy("a", 0)->source, RECOVER_EXISTING_STORE);
    ck_assert(str_is(copy("a", 0)->allocation_id, "old"));
    ck_assert_uint_eq(cluster_index(state, STR("a"))->primary_terms[0], term + 1);
    ck_assert(!str_set_has(&cluster_index(state, STR("a"))->in_sync[0], STR("old")));
    ck_assert(state_builder_init(&b, state));
    ck_assert_int_eq(allocation_started(&b, STR("uuid-a"), 0, STR("old"), 0, &changed, NULL), ERR_OK);
    seal(&b);
    const struct str_set *in_sync = &cluster_index(state, STR("a"))->in_sync[0];
    ck_assert(in_sync->n == 1 && str_set_has(in_sync, STR("old")));
}
END_TEST

/* The copy that was the primary could not be opened, or is marked as damaged: another one in sync is tried first. */
START_TEST(a_damaged_copy_comes_last)
{
    struct state_builder b;
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &arena};
    bool changed;
    struct str id = arena_str(&arena, copy("a", 0)->allocation_id);
    struct str last = arena_str(&arena, copy("a", 0)->node);
    struct str other = str_is(last, "id1") ? STR("id2") : STR("id1");
    ck_assert(state_builder_init(&b, state));
    ck_assert_int_eq(allocation_failed(&env, &b, STR("uuid-a"), 0, id, STR("damaged"), &changed, NULL),
                     ERR_OK);
    found[0] = (struct found_copy){
        .node_id = last, .index_uuid = STR("uuid-a"), .allocation_id = id, .damaged = _i == 1};
    found[1] = (struct found_copy){.node_id = other, .index_uuid = STR("uuid-a"), .allocation_id = id};
    env.n_found = 2;
    env.now_ms += 60000;
    ck_assert_int_eq(allocate(&env, &b, &wants, &changed, NULL), ERR_OK);
    seal(&b);
    ck_assert_int_eq(copy("a", 0)->state, COPY_INITIALIZING);
    ck_assert(str_eq(copy("a", 0)->node, other));
}
END_TEST

/* What a node has that came back meanwhile is asked for before a copy that failed is tried again; and a damaged one is tried where
 * the other could not be opened. */
START_TEST(a_damaged_copy_waits_for_others)
{
    struct state_builder b;
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &arena};
    bool changed;
    struct str id = arena_str(&arena, copy("a", 0)->allocation_id);
    struct str last = arena_str(&arena, copy("a", 0)->node);
    struct str other = str_is(last, "id1") ? STR("id2") : STR("id1");
    ck_assert(state_builder_init(&b, state));
    ck_assert_int_eq(allocation_failed(&env, &b, STR("uuid-a"), 0, id, STR("damaged"), &changed, NULL),
                     ERR_OK);
    found[0] = (struct found_copy){.node_id = last, .index_uuid = STR("uuid-a"), .allocation_id = id};
    env.n_found = 1;
    env.now_ms += 60000;
    ck_assert_int_eq(allocate(&env, &b, &wants, &changed, NULL), ERR_OK);
    seal(&b);
    ck_assert_int_eq(copy("a", 0)->state, COPY_UNASSIGNED);
    ck_assert_uint_eq(wants.n_lookups, 1);
    for (unsigned i = 0; i < 2; i++) { /* all nodes there are */
        found[i] = (struct found_copy){.node_id = i == 0 ? last : other,
                                       .index_uuid = STR("uuid-a"),
                                       .allocation_id = id,
                                       .damaged = i == 1};
    }
    env.n_found = 2;
    ck_assert(state_builder_init(&b, state));
    ck_assert_int_eq(allocate(&env, &b, &wants, &changed, NULL), ERR_OK);
    seal(&b);
    ck_assert_int_eq(copy("a", 0)->state, COPY_INITIALIZING);
    ck_assert(str_eq(copy("a", 0)->node, other));
}
END_TEST

/* A copy could not be opened, and the node of the next one left before that was open: a master that knows no more than the state
 * takes that one first, and not the one that is marked as damaged. */
START_TEST(a_copy_whose_node_left_has_not_failed)
{
    struct state_builder b;
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &arena};
    bool changed;
    struct str id = arena_str(&arena, copy("a", 0)->allocation_id);
    struct str wrong = arena_str(&arena, copy("a", 0)->node);
    struct str good = str_is(wrong, "id1") ? STR("id2") : STR("id1");
    ck_assert(state_builder_init(&b, state));
    ck_assert_int_eq(allocation_failed(&env, &b, STR("uuid-a"), 0, id, STR("damaged"), &changed, NULL),
                     ERR_OK);
    for (unsigned i = 0; i < 2; i++) {
        found[i] = (struct found_copy){.node_id = i == 0 ? wrong : good,
                                       .index_uuid = STR("uuid-a"),
                                       .allocation_id = id,
                                       .damaged = i == 0};
    }
    env.n_found = 2;
    for (unsigned i = 0; i < 3; i++) { /* assigned, lost, assigned again */
        env.now_ms += i == 1 ? 1 : 60000;
        env.restarted = &good;
        env.n_restarted = i == 1;
        ck_assert_int_eq(allocate(&env, &b, &wants, &changed, NULL), ERR_OK);
        seal(&b);
        ck_assert_int_eq(copy("a", 0)->state, i == 1 ? COPY_UNASSIGNED : COPY_INITIALIZING);
        ck_assert(i == 1 || str_eq(copy("a", 0)->node, good));
        ck_assert(i == 2 || state_builder_init(&b, state));
    }
}
END_TEST

/* None of three copies can be opened: each is tried in its turn, also where some are marked as damaged. */
START_TEST(each_copy_is_tried_in_turn)
{
    static const char *const ids[] = {"id1", "id2", "id3"};
    unsigned tried[3] = {0};
    struct alloc_wants wants = {.again_ms = INT64_MAX, .arena = &arena};
    struct state_builder b;
    bool changed;
    struct str id = arena_str(&arena, copy("a", 0)->allocation_id);
    ck_assert(state_builder_init(&b, state));
    put_nodes(&b, 3, 3);
    seal(&b);
    for (unsigned i = 0; i < 3; i++) {
        found[i] = (struct found_copy){.node_id = str_of(ids[i]),
                                       .index_uuid = STR("uuid-a"),
                                       .allocation_id = id,
                                       .damaged = i == 2 || _i == 1};
    }
    env.n_found = 3;
    for (unsigned k = 1; k <= 9; k++) {
        ck_assert(state_builder_init(&b, state));
        ck_assert_int_eq(allocation_failed(&env, &b, STR("uuid-a"), 0, id, STR("damaged"), &changed, NULL),
                         ERR_OK);
        env.now_ms += 60000;
        ck_assert_int_eq(allocate(&env, &b, &wants, &changed, NULL), ERR_OK);
        seal(&b);
        ck_assert_int_eq(copy("a", 0)->state, COPY_INITIALIZING);
        unsigned at = (unsigned)copy("a", 0)->node.p[2] - '1';
        tried[at]++;
        ck_assert_uint_eq(++found[at].failed, (k + 2) / 3);
    }
    ck_assert(tried[0] == 3 && tried[1] == 3 && tried[2] == 3);
}
END_TEST

START_TEST(malformed_orders)
{
    static const struct {
        const char *body, *outer, *inner;
    } wrong[] = {
        {"{\"commands\":[{\"move\":{\"index\":\"a\",\"shard\":0,\"from_node\":\"p1\"}}]}",
         "[1:61] [cluster_reroute] failed to parse field [commands]",
         "[move] command missing the to_node parameter"},
        {"{\"commands\":[{\"allocate\":{\"index\":\"b\",\"shard\":0,\"node\":\"p2\"}}]}",
         "[1:26] [cluster_reroute] failed to parse field [commands]", "unknown field [allocate]"},
        {"{\"commands\":{\"a\":1}}", "[1:13] [cluster_reroute] failed to parse field [commands]",
         "expected either field name [commands], or start array, got [START_OBJECT] instead"},
        {"{\"commands\":[{\"move\":{\"index\":\"a\",\"shard\":0,\"from_node\":\"p1\",\"to_node\":\"p2\","
         "\"bar\":1}}]}",
         "[1:83] [cluster_reroute] failed to parse field [commands]",
         "[move] command does not support field [bar]"},
        {"{\"commands\":[3]}", "[1:14] [cluster_reroute] failed to parse field [commands]",
         "allocation command is malformed, got [VALUE_NUMBER] instead"},
        {"{\"commands\":[{\"move\":3}]}", "[1:23] [cluster_reroute] failed to parse field [commands]",
         "[move] command missing the index parameter"},
        {"{\"foo\":1}", "[1:2] [cluster_reroute] unknown field [foo]", NULL},
        {"[1]", "[1:1] [cluster_reroute] Expected START_OBJECT but was: START_ARRAY", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        ERR_LOCAL(em);
        ck_assert_int_eq(orders(wrong[i].body, NULL, &em), ERR_X_CONTENT);
        ck_assert_str_eq(err_reason(&em), wrong[i].outer);
        ck_assert_uint_eq(em.frame->depth, wrong[i].inner != NULL ? 2 : 1);
        if (wrong[i].inner != NULL) {
            ck_assert_msg(strstr(em.frame->cause->reason, wrong[i].inner) != NULL, "%s",
                          em.frame->cause->reason);
        }
    }
}
END_TEST

static struct json *explained(const char *body)
{
    struct json *tree = ARENA_NEW(&arena, struct json), question;
    struct explain_question q = {.include_yes = false};
    struct buf out;
    struct jsonw w;
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    ck_assert_int_eq(json_parse(&question, str_of(body), &arena, &json_limits_default, NULL), ERR_OK);
    ck_assert_int_eq(explain_parse(&q, &question, str_of(body), NULL), ERR_OK);
    ck_assert_int_eq(allocation_explain(&env, state, &q, STR("id1"), &w, NULL), ERR_OK);
    struct str text = arena_str(&arena, buf_view(&out));
    buf_fini(&out);
    ck_assert_int_eq(json_parse(tree, text, &arena, &json_limits_default, NULL), ERR_OK);
    return tree;
}

static void says(const struct json *tree, const char *key, const char *value)
{
    struct str s = json_text(json_get(tree, key));
    ck_assert_msg(str_is(s, value), "%s: %.*s", key, STR_ARG(s));
}

START_TEST(explanations)
{
    struct json *t = explained("{}"); /* the one replica too many for two data nodes */
    says(t, "index", "b");
    says(t, "current_state", "unassigned");
    says(t, "can_allocate", "no");
    says(t, "allocate_explanation",
         "cannot allocate because allocation is not permitted to any of the nodes");
    const struct json *nodes = json_get(t, "node_allocation_decisions");
    ck_assert_uint_eq(nodes->n, 2);
    const struct json *deciders = json_get(&nodes->items[0], "deciders");
    ck_assert_uint_eq(deciders->n, 1);
    says(&deciders->items[0], "decider", "same_shard");
    says(json_get(t, "unassigned_info"), "last_allocation_status", "no_attempt");
    t = explained("{\"index\":\"b\",\"shard\":0,\"primary\":true}");
    says(t, "current_state", "started");
    says(t, "can_remain_on_current_node", "yes");
    says(t, "can_rebalance_cluster", "no");
    says(t, "rebalance_explanation", "rebalancing is not allowed");
    ck_assert_uint_eq(json_get(t, "can_rebalance_cluster_decisions")->n, 2);
}
END_TEST

START_TEST(malformed_questions)
{
    static const struct {
        const char *body;
        enum err e;
    } wrong[] = {{"{\"index\":\"a\",\"primary\":false}", ERR_ACTION_VALIDATION},
                 {"{\"index\":\"a\",\"shard\":0,\"primary\":false,\"foo\":1}", ERR_X_CONTENT},
                 {"{\"index\":\"a\",\"shard\":\"x\",\"primary\":false}", ERR_X_CONTENT},
                 {"{\"current_node\":\"x\"}", ERR_ACTION_VALIDATION}};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct json tree;
        struct explain_question q = {.shard = 0};
        ck_assert_int_eq(json_parse(&tree, str_of(wrong[i].body), &arena, &json_limits_default, NULL),
                         ERR_OK);
        ERR_LOCAL(em);
        ck_assert_int_eq(explain_parse(&q, &tree, str_of(wrong[i].body), &em), wrong[i].e);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reroute");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, moves);
    tcase_add_test(c, primaries_are_not_cancelled_by_mistake);
    tcase_add_test(c, lost_primaries);
    tcase_add_loop_test(c, a_damaged_copy_comes_last, 0, 2);
    tcase_add_test(c, a_damaged_copy_waits_for_others);
    tcase_add_test(c, a_copy_whose_node_left_has_not_failed);
    tcase_add_loop_test(c, each_copy_is_tried_in_turn, 0, 2);
    tcase_add_test(c, malformed_orders);
    tcase_add_test(c, explanations);
    tcase_add_test(c, malformed_questions);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
