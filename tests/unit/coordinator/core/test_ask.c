/* Coordinators of three nodes in one process, over a transport that a script breaks: requests go where copies
 * are, and come back as if nothing had happened. */
#include "tests/unit/coordinator/core/ask_rig.h"

START_TEST(reads)
{
    struct cluster *c = cluster_open();
    struct shard_get g;
    for (int i = 0; i < 8; i++) { /* by turns */
        get_from(c, 0, "", &g);
        ck_assert(!err_is(&g.rq.error) && g.found && g.source.n > 0);
        shard_rq_fini(&g.rq);
    }
    ck_assert(c->nodes[1].gets == 4 && c->nodes[2].gets == 4 && c->sent == 8);
    get_from(c, 1, "_local", &g); /* what is here is not sent */
    ck_assert(str_is(g.rq.node, "n1") && c->sent == 8);
    shard_rq_fini(&g.rq);
    c->nodes[1].get_error = ERR_IO; /* one copy's trouble */
    get_from(c, 1, "_local", &g);
    ck_assert(!err_is(&g.rq.error) && str_is(g.rq.node, "n2"));
    shard_rq_fini(&g.rq);
    c->nodes[1].get_error = ERR_OK;
    kill_node(&c->nodes[2]);
    for (int i = 0; i < 4; i++) {
        get_from(c, 0, "", &g);
        ck_assert(!err_is(&g.rq.error) && str_is(g.rq.node, "n1"));
        shard_rq_fini(&g.rq);
    }
    c->nodes[1].get_error = ERR_IO; /* nobody left: what the one said that could say something */
    get_from(c, 0, "_prefer_nodes:n1", &g);
    ck_assert(err_code(&g.rq.error) == ERR_IO || err_code(&g.rq.error) == ERR_NODE_NOT_CONNECTED);
    shard_rq_fini(&g.rq);
    publish(c, -1, -1, true);
    get_from(c, 0, "", &g);
    ck_assert_int_eq(err_code(&g.rq.error), ERR_NO_SHARD);
    ck_assert(g.rq.node.p == NULL);
    shard_rq_fini(&g.rq);
    cluster_close(c);
}
END_TEST

START_TEST(a_later_state)
{
    struct cluster *c = cluster_open();
    struct shard_get g = {.id = STR("1")};
    unsigned done = 0;
    struct cluster_state *old = cluster_state_ref(c->state);
    kill_node(&c->nodes[1]);
    kill_node(&c->nodes[2]);
    publish(c, 0, -1, true); /* it has moved */
    struct ask_where where = ask_anywhere(c->nodes[0].co, old, STR_NULL);
    shard_rq_init(&g.rq, &shard_op_get, note, &done);
    g.rq.shard = shard0;
    ask_get(c->nodes[0].co, &where, &g);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 1 && !err_is(&g.rq.error) && str_is(g.rq.node, "n0"));
    shard_rq_fini(&g.rq);
    cluster_state_unref(old);
    cluster_close(c);
}
END_TEST

static bool cancelled;
static bool is_cancelled(void *self)
{
    (void)self;
    return cancelled;
}

START_TEST(contexts_and_cancelling)
{
    struct cluster *c = cluster_open();
    struct coordinator *co = c->nodes[0].co;
    struct ask_where where = ask_anywhere(co, c->state, STR("_prefer_nodes:n2"));
    unsigned done = 0;
    struct shard_query q = {.body = {.text = STR("{}")}};
    shard_rq_init(&q.rq, &shard_op_query, note, &done);
    q.rq.shard = shard0;
    ask_search(co, &where, &q.rq);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 1 && !err_is(&q.rq.error) && q.rq.context == 102 && str_is(q.rq.node, "n2"));
    struct top_doc doc = {.doc = 3};
    struct shard_fetch f = {.rq.context = q.rq.context, .docs = &doc, .n = 1};
    shard_rq_init(&f.rq, &shard_op_fetch, note, &done);
    f.rq.shard = shard0;
    f.rq.node = q.rq.node;
    ask_fetch(co, &f);
    ask_forget(co, q.rq.node, q.rq.context);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 2 && c->nodes[2].fetches == 1 && c->nodes[2].freed == 1 && c->nodes[1].freed == 0);
    shard_rq_fini(&f.rq);
    shard_rq_fini(&q.rq);
    /* A search that does not end is told to. */
    c->nodes[2].hold = true;
    cancelled = false;
    q = (struct shard_query){.body = {.text = STR("{}")}, .rq.cancelled = is_cancelled};
    shard_rq_init(&q.rq, &shard_op_query, note, &done);
    q.rq.shard = shard0;
    ask_search(co, &where, &q.rq);
    sim_exec_run_for(c->sim, 2 * SECOND);
    struct shard_query *held = c->nodes[2].held;
    ck_assert(held != NULL && !shard_rq_cancelled(&held->rq));
    cancelled = true;
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(shard_rq_cancelled(&held->rq) && done == 2);
    err_set(&held->rq.error, ERR_CANCELLED, "task cancelled");
    shard_rq_answer(&held->rq);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 3 && err_code(&q.rq.error) == ERR_CANCELLED);
    shard_rq_fini(&q.rq);
    /* A node that says nothing and leaves the cluster: the search goes on elsewhere. */
    q = (struct shard_query){.body = {.text = STR("{}")}};
    shard_rq_init(&q.rq, &shard_op_query, note, &done);
    q.rq.shard = shard0;
    ask_search(co, &where, &q.rq);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 3);
    c->nodes[2].dead = true; /* without a word */
    publish(c, 1, -1, true);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(done == 4 && !err_is(&q.rq.error) && str_is(q.rq.node, "n1"));
    shard_rq_fini(&q.rq);
    held = c->nodes[2].held;
    shard_rq_answer(&held->rq); /* too late */
    cluster_close(c);
}
END_TEST

/* ---- writes ---------------------------------------------------------------------------------------------- */

struct writing {
    struct arena arena;
    struct op_env env;
    struct write_entry entry;
    struct write_set set;
    bool done;
};

static void written(struct write_set *s)
{
    ((struct writing *)s->user)->done = true;
}

static struct writing *write_begin(struct cluster *c, uint32_t coordinator, int64_t timeout_ms)
{
    struct writing *w = calloc(1, sizeof(*w));
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    w->env = (struct op_env){.co = c->nodes[coordinator].co,
                             .arena = &w->arena,
                             .em = err_in(&w->arena),
                             .state = cluster_state_ref(c->state)};
    w->entry = (struct write_entry){.target = STR("i"), .action = "index"};
    w->entry.item = (struct write_item){.kind = WRITE_INDEX,
                                        .id = STR("1"),
                                        .source = STR("{}"),
                                        .auto_id_ms = -1,
                                        .version = VERSION_ANY,
                                        .if_seq_no = SEQ_UNASSIGNED};
    w->set = (struct write_set){.r = &w->env,
                                .v = &w->entry,
                                .n = 1,
                                .timeout_ms = timeout_ms,
                                .active = 0,
                                .done = written,
                                .user = w};
    writes_run(&w->set);
    return w;
}

static void write_end(struct writing *w)
{
    writes_fini(&w->set);
    cluster_state_unref(w->env.state);
    arena_fini(&w->arena);
    free(w);
}

static const struct errmsg *error_of(const struct writing *w)
{
    return w->entry.error != NULL ? w->entry.error : w->entry.item.error;
}

START_TEST(a_primary_that_dies)
{
    struct cluster *c = cluster_open();
    c->nodes[1].die_after_write = true;
    struct writing *w = write_begin(c, 0, 60000);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(!w->done && c->nodes[1].writes == 1 && !c->nodes[1].retried);
    publish(c, 2, -1, true);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(w->done && error_of(w) == NULL && w->entry.item.seq_no == 7);
    ck_assert(c->nodes[2].writes == 1 && c->nodes[2].retried && c->nodes[2].session != 0);
    ck_assert(c->nodes[2].session == c->nodes[1].session && c->nodes[2].counter == c->nodes[1].counter);
    write_end(w);
    cluster_close(c);
}
END_TEST

START_TEST(a_primary_that_moves)
{
    struct cluster *c = cluster_open();
    c->nodes[1].write_error = ERR_NOT_PRIMARY;
    struct writing *w = write_begin(c, 1, 60000);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(!w->done && c->nodes[1].writes > 1 && c->sent == 0);
    publish(c, 2, 1, true);
    sim_exec_run_for(c->sim, SECOND / 10);
    ck_assert(w->done && error_of(w) == NULL && c->nodes[2].writes == 1 && !c->nodes[2].retried);
    write_end(w);
    w = write_begin(c, 0, 60000); /* others go to it as well */
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(w->done && c->nodes[2].writes == 2 && c->nodes[2].counter != 0);
    write_end(w);
    cluster_close(c);
}
END_TEST

START_TEST(no_primary)
{
    struct cluster *c = cluster_open();
    publish(c, -1, -1, true);
    struct writing *w = write_begin(c, 0, 1000);
    sim_exec_run_for(c->sim, SECOND / 2);
    ck_assert(!w->done);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(w->done && err_code(error_of(w)) == ERR_UNAVAILABLE_SHARDS);
    ck_assert_int_eq(err_http_status(error_of(w)), 503);
    write_end(w);
    cluster_close(c);
}
END_TEST

START_TEST(no_master)
{
    struct cluster *c = cluster_open();
    struct shard_get g;
    publish(c, 1, 2, false);
    struct writing *w = write_begin(c, 0, 1000);
    get_from(c, 0, "", &g); /* reads go on */
    ck_assert(!err_is(&g.rq.error) && w->done);
    ck_assert(w->set.blocked && err_code(error_of(w)) == ERR_CLUSTER_BLOCK);
    ck_assert(err_http_status(error_of(w)) == 503 && c->nodes[1].writes == 0);
    shard_rq_fini(&g.rq);
    write_end(w);
    w = write_begin(c, 0, 60000);
    sim_exec_run_for(c->sim, SECOND);
    ck_assert(!w->done);
    publish(c, 1, 2, true);
    sim_exec_run_for(c->sim, SECOND / 10);
    ck_assert(w->done && error_of(w) == NULL && c->nodes[1].writes == 1);
    write_end(w);
    cluster_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ask");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, reads);
    tcase_add_test(t, a_later_state);
    tcase_add_test(t, contexts_and_cancelling);
    tcase_add_test(t, a_primary_that_dies);
    tcase_add_test(t, a_primary_that_moves);
    tcase_add_test(t, no_primary);
    tcase_add_test(t, no_master);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
