/* No end is told inside the call that asks for it, whatever comes of it: answers that are there at once, errors, nobody to
 * ask. */
#include "common/base/later.h"
#include "coordinator/core/broadcast.h"
#include "coordinator/core/freeing.h"
#include "coordinator/core/node_calls.h"
#include "coordinator/ops/by_query.h"
#include "coordinator/ops/lookups.h"
#include "coordinator/ops/search.h"
#include "coordinator/ops/task_results.h"
#include "proto/shard_ops.h"
#include "tests/unit/coordinator/core/ask_rig.h"

static bool inside; /* the call that asks */
static unsigned ended;
static enum err ended_with;

static void end(enum err e)
{
    ck_assert_msg(!inside, "it was told inside the call");
    ended++;
    ended_with = e;
}

static void begin(void)
{
    inside = true;
    ended = 0;
    ended_with = ERR_OK;
}

/* The call has returned: the end comes, once. */
static void expect(struct cluster *c, enum err e)
{
    inside = false;
    ck_assert_uint_eq(ended, 0);
    sim_exec_run_for(c->sim, 10 * SECOND);
    ck_assert_uint_eq(ended, 1);
    ck_assert_int_eq(ended_with, e);
}

/* ---- every operation on a shard ---- */

static void shard_ended(struct shard_rq *rq)
{
    end(err_code(&rq->error));
}

static void ask(struct coordinator *co, const struct ask_where *where, struct shard_rq *rq)
{
    switch (rq->op->id) {
    case SHARD_OP_write:
        ask_write(co, SHARD_RQ(rq, shard_write));
        break;
    case SHARD_OP_get:
        ask_get(co, where, SHARD_RQ(rq, shard_get));
        break;
    case SHARD_OP_explain:
        ask_explain(co, where, SHARD_RQ(rq, shard_explain));
        break;
    case SHARD_OP_term_vectors:
        ask_term_vectors(co, where, SHARD_RQ(rq, shard_term_vectors));
        break;
    case SHARD_OP_fetch:
        ask_fetch(co, SHARD_RQ(rq, shard_fetch));
        break;
    case SHARD_OP_act:
        ask_act(co, SHARD_RQ(rq, shard_act));
        break;
    case SHARD_OP_free:
        ask_free(co, SHARD_RQ(rq, shard_free));
        break;
    case SHARD_OP_can_match:
    case SHARD_OP_dfs:
    case SHARD_OP_query:
    case SHARD_OP_scroll:
        ask_search(co, where, rq);
        break;
    case SHARD_OP_COUNT:
        break;
    }
}

/* Are its copies asked one after the other, or one node and no other? */
static bool asks_copies(const struct shard_op *op)
{
    return op->reset != NULL;
}

static struct write_item item = {.kind = WRITE_INDEX, .id = {"1", 1}, .source = {"{}", 2}};

enum how { ANSWERS, REFUSES, ELSEWHERE, NOT_CONNECTED, NO_COPY, NO_MEMORY, BAD_PREFERENCE, OTHER_SHARDS };

static void ask_once(struct cluster *c, const struct shard_op *op, enum how how, enum err e)
{
    struct coordinator *co = c->nodes[how == ELSEWHERE ? 0 : 1].co;
    struct shard_rq *rq = calloc(1, op->size);
    static const char *const preferences[] = {
        [NO_MEMORY] = "_prefer_nodes:n0", [BAD_PREFERENCE] = "_nobody", [OTHER_SHARDS] = "_shards:5"};
    struct ask_where where =
        ask_anywhere(co, c->state, str_of(preferences[how] != NULL ? preferences[how] : "_local"));
    shard_rq_init(rq, op, shard_ended, NULL);
    rq->shard = shard0;
    rq->node = asks_copies(op) ? STR_NULL : id_of(1);
    if (op == &shard_op_write) {
        SHARD_RQ(rq, shard_write)->items = &item;
        SHARD_RQ(rq, shard_write)->n = 1;
    }
    if (how == NOT_CONNECTED && op != &shard_op_write) {
        rq->node = STR("gone");
        rq->context = 1;
    }
    if (how == NO_MEMORY) {
        rq->arena.bytes_max = 1;
    }
    c->nodes[1].get_error = c->nodes[1].write_error = how == REFUSES ? ERR_ILLEGAL_ARGUMENT : ERR_OK;
    begin();
    ask(co, &where, rq);
    expect(c, e);
    shard_rq_fini(rq);
    free(rq);
}

START_TEST(shards)
{
    const struct shard_op *op = shard_ops[_i];
    struct cluster *c = cluster_open();
    bool copies = asks_copies(op);
    ask_once(c, op, ANSWERS, ERR_OK);
    ask_once(c, op, ELSEWHERE, ERR_OK);
    if (op == &shard_op_get || op == &shard_op_write) {
        ask_once(c, op, REFUSES, ERR_ILLEGAL_ARGUMENT);
    }
    if (op == &shard_op_query || op == &shard_op_scroll || op == &shard_op_fetch) {
        ask_once(c, op, NOT_CONNECTED, ERR_NODE_NOT_CONNECTED);
    }
    if (copies) {
        ask_once(c, op, NO_MEMORY, ERR_NO_MEMORY);
        ask_once(c, op, BAD_PREFERENCE, ERR_ILLEGAL_ARGUMENT);
    }
    if (op == &shard_op_get || op == &shard_op_explain || op == &shard_op_term_vectors) {
        ask_once(c, op, OTHER_SHARDS, ERR_NULL_POINTER);
    }
    if (copies || op == &shard_op_write) {
        publish(c, -1, -1, true);
        ask_once(c, op, NO_COPY, ERR_NO_SHARD);
    }
    cluster_close(c);
}
END_TEST

/* ---- what the coordinator does with many ---- */

static struct arena arena;
static struct op_env env;

static void env_open(struct cluster *c)
{
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    env = (struct op_env){
        .co = c->nodes[1].co, .arena = &arena, .em = err_in(&arena), .state = cluster_state_ref(c->state)};
}

static void env_close(struct cluster *c)
{
    cluster_state_unref(env.state);
    arena_fini(&arena);
    cluster_close(c);
}

static void nodes_answered(struct node_calls *calls)
{
    end(calls->n > 0 ? err_code(&calls->v[0].error) : ERR_OK);
}

static void answer_at_once(struct node_question *q)
{
    struct str fine = STR("fine");
    node_reply(q, &fine);
}

static void refuse_at_once(struct node_question *q)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_REJECTED, "not now");
    node_refuse(q, &em);
}

static void ask_nodes(struct cluster *c, bool here)
{
    struct node_info_question question = {.metrics = 0};
    bool chosen[NODES] = {false, here, false};
    begin();
    ck_assert(node_calls_start(&env, &message_node_info, chosen, &question, 0, nodes_answered, NULL));
    (void)c;
}

START_TEST(nodes)
{
    static void (*const answering[])(struct node_question *) = {answer_at_once},
                                                          (*const refusing[])(struct node_question *) = {
                                                              refuse_at_once};
    struct cluster *c = cluster_open();
    env_open(c);
    ask_nodes(c, false);
    expect(c, ERR_OK);
    node_calls_serve(c->nodes[1].co, refusing);
    ask_nodes(c, true);
    expect(c, ERR_REJECTED);
    node_calls_serve(c->nodes[1].co, answering);
    ask_nodes(c, true);
    expect(c, ERR_OK);
    env_close(c);
}
END_TEST

static void broadcast_ended(struct broadcast *bc)
{
    end(ERR_OK);
    broadcast_fini(bc);
}

static void freeing_ended(struct freeing *f)
{
    (void)f;
    end(ERR_OK);
}

static void active_ended(struct active_wait *w, bool active)
{
    (void)w;
    end(active ? ERR_OK : ERR_TIMEOUT);
}

START_TEST(many)
{
    struct cluster *c = cluster_open();
    struct shard_act model = {.action = SHARD_REFRESH};
    struct index_target t = {.meta = cluster_index(c->state, STR("i"))};
    ERR_LOCAL(em);
    env_open(c);
    begin();
    ck_assert(broadcast_start(&env, &t, 0, &model, broadcast_ended, NULL));
    expect(c, ERR_OK);
    begin();
    ck_assert(broadcast_start(&env, &t, 1, &model, broadcast_ended, NULL));
    expect(c, ERR_OK);
    begin();
    ck_assert(broadcast_start_on(&env, STR("n1"), &t, 1, &model, broadcast_ended, NULL));
    expect(c, ERR_OK);
    struct freeing none = {.r = &env, .done = freeing_ended}, here = none;
    begin();
    ck_assert_int_eq(freeing_run(&none, &em), ERR_OK);
    expect(c, ERR_OK);
    freeing_add(&here, &(struct context_ref){.shard = shard0, .node = STR("n1"), .context = 101}, 1);
    begin();
    ck_assert_int_eq(freeing_run(&here, &em), ERR_OK);
    expect(c, ERR_OK);
    ck_assert_uint_eq(c->nodes[1].freed, 1);
    struct str name = STR("i");
    struct active_wait w = {.r = &env, .names = &name, .n_names = 1, .wanted = 1, .then = active_ended};
    begin();
    active_wait_begin(&w);
    expect(c, ERR_OK);
    env_close(c);
}
END_TEST

/* ---- operations ---- */

static void search_ended(struct search_call *c)
{
    end(err_code(&c->error));
    search_free(c);
}

static struct search_call *new_search(const char *index)
{
    struct search_call *s = search_new(&env);
    s->o.index = str_of(index);
    s->done = search_ended;
    return s;
}

static void lookups_ended(struct lookups *l)
{
    end(err_code(&l->error));
}

static void look_up(const char *text)
{
    struct lookups *l = ARENA_NEW(&arena, struct lookups);
    struct json *tree = ARENA_NEW(&arena, struct json);
    ck_assert_int_eq(json_parse(tree, str_of(text), &arena, &json_limits_default, NULL), ERR_OK);
    *l = (struct lookups){.r = &env, .arena = &arena, .tree = tree, .done = lookups_ended};
    begin();
    lookups_run(l);
}

START_TEST(searches)
{
    struct cluster *c = cluster_open();
    env_open(c);
    begin();
    search_run(new_search("absent"));
    expect(c, ERR_INDEX_NOT_FOUND);
    struct search_call *none = new_search("a*"); /* no shard */
    begin();
    search_run(none);
    expect(c, ERR_OK);
    begin();
    search_run_scroll(new_search("i"), STR("no id"));
    expect(c, ERR_ILLEGAL_ARGUMENT);
    look_up("{\"match_all\":{}}");
    expect(c, ERR_OK);
    look_up("{\"terms\":{\"u\":{\"index\":\"absent\",\"id\":\"1\",\"path\":\"p\"}}}");
    expect(c, ERR_INDEX_NOT_FOUND);
    env_close(c);
}
END_TEST

static void write_ended(struct write_set *w)
{
    end(w->v[0].error != NULL ? err_code(w->v[0].error) : ERR_OK);
    writes_fini(w);
}

static void stored(struct task_result *t)
{
    end(t->error != NULL ? err_code(t->error) : ERR_OK);
}

static void by_query_answered(void *arg, int status, struct buf *body, bool failed)
{
    (void)arg;
    (void)status;
    buf_fini(body);
    end(failed ? ERR_INDEX_NOT_FOUND : ERR_OK);
}

START_TEST(writes)
{
    struct cluster *c = cluster_open();
    env_open(c);
    struct write_entry e = {.item = item, .target = STR("i"), .action = "index", .pipeline = STR("absent")};
    struct write_set w = {
        .r = &env, .v = &e, .n = 1, .timeout_ms = 1000, .active = ACTIVE_DEFAULT, .done = write_ended};
    begin();
    writes_run(&w); /* nothing is sent */
    expect(c, ERR_ILLEGAL_ARGUMENT);
    e = (struct write_entry){.item = item, .target = STR("i"), .action = "index"};
    begin();
    writes_run(&w);
    expect(c, ERR_OK);
    begin();
    struct by_query_spec *spec;
    struct arena *in;
    struct by_query *op = by_query_new(&env, &spec, &in);
    spec->kind = BY_QUERY_DELETE;
    spec->search.index = STR("absent");
    spec->answer = by_query_answered;
    ERR_LOCAL(em);
    ck_assert_int_eq(by_query_run(op, NULL, &em), ERR_OK);
    expect(c, ERR_INDEX_NOT_FOUND);
    struct task_result t = {.env = {.co = env.co, .arena = &arena, .em = err_in(&arena)},
                            .id = STR("1"),
                            .source = STR("{}"),
                            .done = stored};
    begin();
    task_result_store(&t); /* there is no master to make the index */
    expect(c, ERR_NO_MASTER);
    env_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ends");
    TCase *t = tcase_create("ends");
    tcase_add_loop_test(t, shards, 0, SHARD_OP_COUNT);
    tcase_add_test(t, nodes);
    tcase_add_test(t, many);
    tcase_add_test(t, searches);
    tcase_add_test(t, writes);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
