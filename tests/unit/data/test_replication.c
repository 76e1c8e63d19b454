/* Copies of a shard in a small cluster. Clients write through whatever primary the master names, and try again with the
 * same names until they have an answer. Then: every write has happened exactly once, none that was acknowledged is gone,
 * and the copies in sync are equal. */
#include "engine/index/engine.h"
#include "tests/unit/data/small_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS 6

/* ---- clients ------------------------------------------------------------------------------------------------------- */

/* Each has documents of its own, and writes one after the other; so it knows what every answer must be. */
static struct client {
    int number;
    bool busy, stop, waiting;
    struct shard_write w;
    struct write_item items[3];
    char ids[3][16], sources[3][64], routings[3][8];
    uint32_t n;
    uint64_t counter;
    int tries;
    enum refresh_policy refresh;
    struct doc {
        bool there;
        int64_t version, value;
    } docs[4], next[4];
    int target[3];
    int64_t writes;
} clients[CLIENTS];
static int64_t acknowledged, retried;
static bool quiet;

static void client_next(void *arg);
static void client_send(void *arg);

static void check_item(struct client *c, uint32_t i)
{
    const struct write_item *it = &c->items[i];
    struct doc *d = &c->next[c->target[i]];
    ck_assert_msg(it->error == NULL, "client %d, %s: %s", c->number, c->ids[i], err_reason(it->error));
    if (it->kind == WRITE_DELETE) {
        ck_assert_int_eq(it->outcome, d->there ? WRITE_DELETED : WRITE_NOT_FOUND);
        d->there = false;
    } else {
        ck_assert_msg(it->outcome == (d->there ? WRITE_UPDATED : WRITE_CREATED),
                      "client %d, %s: outcome %d, version %lld", c->number, c->ids[i], (int)it->outcome,
                      (long long)it->result_version);
        d->there = true;
        d->value = atoll(strstr(c->sources[i], "\"v\":") + 4);
    }
    d->version++;
    ck_assert_int_eq(it->result_version, d->version);
}

static void written(void *arg)
{
    struct client *c = arg;
    bool ok = !err_is(&c->w.rq.error);
    if (ok) {
        memcpy(c->next, c->docs, sizeof(c->docs));
        for (uint32_t i = 0; i < c->n; i++) {
            check_item(c, i);
        }
        memcpy(c->docs, c->next, sizeof(c->docs));
        acknowledged += c->n;
        c->writes += c->n;
    }
    shard_rq_fini(&c->w.rq);
    if (ok) {
        c->busy = false;
        if (!quiet) {
            sc_later((int64_t)rng_below(&sc.rng, 20), client_next, c);
        }
    } else {
        retried++;
        c->tries++;
        sc_later(5 + (int64_t)rng_below(&sc.rng, 30), client_send, c);
    }
}

static void write_done(struct shard_rq *rq)
{
    executor_submit_force(sim_lane_executor(sc.net), written, rq->user);
}

static void client_send(void *arg)
{
    struct client *c = arg;
    int at = sc_node_number(sc_routing()->copies[0].node);
    /* A client beside a primary that was cut off does not know better. */
    for (int i = 0; i < NODES && c->tries == 0; i++) {
        at = sc.nodes[i].cut && rng_below(&sc.rng, 2) == 0 ? i : at;
    }
    shard_rq_init(&c->w.rq, &shard_op_write, write_done, c);
    c->w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    c->w.retry = c->tries > 0;
    for (uint32_t i = 0; i < c->n; i++) {
        c->items[i].error = NULL;
    }
    data_serve(sc.nodes[at].data, &c->w.rq);
}

static void client_next(void *arg)
{
    struct client *c = arg;
    if (quiet) {
        return;
    }
    c->busy = true;
    c->tries = 0;
    c->n = 1 + (uint32_t)rng_below(&sc.rng, 3);
    uint32_t first = (uint32_t)rng_below(&sc.rng, 4);
    for (uint32_t i = 0; i < c->n; i++) {
        int t = c->target[i] = (int)((first + i) % 4);
        bool fresh = !c->docs[t].there;
        snprintf(c->ids[i], sizeof(c->ids[i]), "c%dd%d", c->number, t);
        snprintf(c->sources[i], sizeof(c->sources[i]), "{\"c\":\"k%d\",\"v\":%lld}", c->number,
                 (long long)(c->writes * 10 + i));
        c->items[i] = (struct write_item){.id = str_of(c->ids[i]),
                                          .source = str_of(c->sources[i]),
                                          .auto_id_ms = -1,
                                          .version = VERSION_ANY,
                                          .if_seq_no = SEQ_UNASSIGNED,
                                          .op_counter = ++c->counter};
        switch (rng_below(&sc.rng, 5)) {
        case 0:
            c->items[i].kind = WRITE_DELETE;
            break;
        case 1:
            if (!fresh) {
                c->items[i].kind = WRITE_UPDATE;
                snprintf(c->sources[i], sizeof(c->sources[i]), "{\"doc\":{\"v\":%lld}}",
                         (long long)(c->writes * 10 + i));
                c->items[i].source = str_of(c->sources[i]);
                break;
            }
            /* fall through */
        default:
            c->items[i].kind = WRITE_INDEX;
            c->items[i].create = fresh; /* applied twice, it would be refused */
        }
    }
    c->w = (struct shard_write){.items = c->items,
                                .n = c->n,
                                .refresh = rng_below(&sc.rng, 8) == 0    ? REFRESH_NOW
                                           : rng_below(&sc.rng, 16) == 0 ? REFRESH_WAIT
                                                                         : REFRESH_NONE,
                                .timeout_ms = 10000,
                                .op_session = 1000 + (uint64_t)c->number,
                                .settled_below = c->items[0].op_counter};
    client_send(c);
}

static void start_clients(void)
{
    quiet = false;
    acknowledged = retried = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.number = i};
        for (int k = 0; k < 4; k++) {
            clients[i].docs[k] = (struct doc){false, 0, 0};
        }
        sc_later((int64_t)rng_below(&sc.rng, 30), client_next, &clients[i]);
    }
}

static bool clients_idle(void *arg)
{
    (void)arg;
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].busy) {
            return false;
        }
    }
    return true;
}

static void check_copies(uint64_t seed)
{
    const struct shard_routing *r = sc_routing();
    const struct index_meta *m = cluster_index(sc.newest, STR("docs"));
    int primary = sc_node_number(r->copies[0].node);
    struct shard_stats s = sc_stats(primary);
    ck_assert_int_eq(s.max_seq_no, s.local_checkpoint);
    ck_assert_int_eq(s.global_checkpoint, s.max_seq_no);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        if (!copy_active(&r->copies[k])) {
            continue;
        }
        n++;
        int at = sc_node_number(r->copies[k].node);
        struct shard_stats o = sc_stats(at);
        ck_assert_msg(o.max_seq_no == s.max_seq_no && o.local_checkpoint == s.local_checkpoint
                          && o.global_checkpoint == s.global_checkpoint,
                      "seed %llu node %d: max %lld of %lld, local %lld, global %lld",
                      (unsigned long long)seed, at, (long long)o.max_seq_no, (long long)s.max_seq_no,
                      (long long)o.local_checkpoint, (long long)o.global_checkpoint);
        for (int c = 0; c < CLIENTS; c++) {
            for (int d = 0; d < 4; d++) {
                char id[32];
                snprintf(id, sizeof(id), "c%dd%d", c, d);
                struct seen here = sc_look(at, id), there = sc_look(primary, id);
                const struct doc *want = &clients[c].docs[d];
                ck_assert_msg(here.found == want->there, "seed %llu, %s at node %d", (unsigned long long)seed,
                              id, at);
                ck_assert(!here.found || (here.version == want->version && here.value == want->value));
                ck_assert(!here.found || (here.seq_no == there.seq_no && here.term == there.term));
            }
        }
    }
    ck_assert_uint_eq(m->in_sync[0].n, n);
}

static void settle_down(uint64_t seed)
{
    sc_heal();
    quiet = true;
    ck_assert_msg(sim_exec_run_until(sc.exec, clients_idle, NULL, 200000 * MS), "seed %llu hangs",
                  (unsigned long long)seed);
    sc_run_ms(5000); /* the checkpoints, too */
    check_copies(seed);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

START_TEST(test_quiet)
{
    sc_start((uint64_t)_i, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    start_clients();
    sc_run_ms(3000);
    settle_down((uint64_t)_i);
    ck_assert_int_gt(acknowledged, 100);
    ck_assert_int_eq(sc.dropped_copies, 0);
    ck_assert_int_eq(retried, 0);
    sc_end();
}
END_TEST

START_TEST(test_asynchronous)
{
    sc.durability = "async";
    sc_start(17, 1);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    start_clients();
    sc_run_ms(3000);
    quiet = true;
    ck_assert(sim_exec_run_until(sc.exec, clients_idle, NULL, 200000 * MS));
    sc_run_ms(15000); /* syncs of their own, and the questions after them */
    check_copies(17);
    ck_assert_int_gt(acknowledged, 100);
    ck_assert_int_eq(sc.dropped_copies + (int)retried, 0);
    sc_end();
}
END_TEST

START_TEST(test_copy_fails)
{
    sc_start((uint64_t)_i, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    start_clients();
    sc_run_ms(500);
    int replica = sc_node_number(sc_routing()->copies[1].node);
    if (_i % 2 == 0) {
        sc.lose_percent = 3;
    } else {
        sc.nodes[replica].cut = true;
    }
    sc_run_ms(1500);
    settle_down((uint64_t)_i);
    ck_assert_int_ge(sc.dropped_copies, 1);
    ck_assert_int_eq(sc.promotions, 0);
    sc_end();
}
END_TEST

START_TEST(test_failover)
{
    uint64_t seed = (uint64_t)_i;
    sc_start(seed, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    start_clients();
    sc.lose_percent = (int)(seed % 3 == 0);
    for (int round = 0; round < 2; round++) {
        sc_run_ms(round > 0 && rng_below(&sc.rng, 2) == 0 ? (int64_t)rng_below(&sc.rng, 15)
                                                          : 200 + (int64_t)rng_below(&sc.rng, 500));
        int primary = sc_node_number(sc_routing()->copies[0].node);
        bool another = false;
        for (uint32_t k = 1; k < 3; k++) {
            another |= copy_active(&sc_routing()->copies[k]);
        }
        if (!another) {
            break;
        }
        if (rng_below(&sc.rng, 3) != 0) { /* a partition; else the master alone does not hear of it */
            sc.nodes[primary].cut = true;
        }
        sc_run_ms((int64_t)rng_below(&sc.rng, 300));
        sc_leave(primary);
        if (rng_below(&sc.rng, 3) == 0) { /* it learns of it late */
            sc.nodes[primary].slow_states = true;
        }
    }
    sc_run_ms(1000);

    settle_down(seed);
    ck_assert_int_gt(acknowledged, 10);
    ck_assert(sc.promotions >= 1 || seed % 3 == 0);
    sc_end();
}
END_TEST

/* One write, whatever comes of it. */
static enum err write_one(int node, const char *id, const char *source, uint64_t counter, bool retry,
                          struct write_item *it)
{
    struct shard_write w = {.items = it, .n = 1, .timeout_ms = 3000, .op_session = 7, .retry = retry};
    *it = (struct write_item){.kind = WRITE_INDEX,
                              .id = str_of(id),
                              .source = str_of(source),
                              .create = true,
                              .auto_id_ms = -1,
                              .version = VERSION_ANY,
                              .if_seq_no = SEQ_UNASSIGNED,
                              .op_counter = counter};
    shard_rq_init(&w.rq, &shard_op_write, sc_look_done, NULL);
    w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    sc.answered = false;
    data_serve(sc.nodes[node].data, &w.rq);
    ck_assert(sim_exec_run_until(sc.exec, sc_is_answered, NULL, 60000 * MS));
    enum err e = err_code(&w.rq.error);
    e = e == ERR_OK && it->error != NULL ? err_code(it->error) : e;
    it->error = NULL;
    shard_rq_fini(&w.rq);
    return e;
}

START_TEST(test_deposed_primary)
{
    /* A primary that is cut off never says yes; what only it has is nowhere afterwards, and the retry is applied. */
    struct write_item it;
    sc_start(1, 1);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1}", 1, false, &it), ERR_OK);
    sc.nodes[0].cut = true;
    ck_assert_int_eq(write_one(0, "b", "{\"v\":2}", 2, false, &it), ERR_TIMEOUT);
    ck_assert(sc_look(0, "b").found && !sc_look(1, "b").found);
    sc_leave(0);
    sc_run_ms(100);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 2, true, &it), ERR_OK);
    ck_assert_int_eq(it.primary_term, 2);
    ck_assert_int_eq(it.result_version, 1);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 2, true, &it), ERR_OK); /* once */
    ck_assert_int_eq(it.result_version, 1);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 3, false, &it), ERR_CONFLICT);
    ck_assert_int_eq(write_one(0, "c", "{\"v\":3}", 4, false, &it), ERR_TIMEOUT);
    sc_heal();
    sc_run_ms(500);
    ck_assert_int_eq(sc.stale_refused, 1);
    ck_assert_int_ne(write_one(0, "d", "{\"v\":3}", 5, false, &it), ERR_OK);
    sc_end();
}
END_TEST

/* An operation that one of two copies has when the primary goes. */
static void half_written(int deaf_node, int heir, struct write_item *it)
{
    sc_start(4, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1}", 1, false, it), ERR_OK);
    sc.deaf = deaf_node;
    sc.next_primary = heir;
    struct shard_write w = {.items = it, .n = 1, .timeout_ms = 3000, .op_session = 7};
    *it = (struct write_item){.id = STR("b"),
                              .source = STR("{\"v\":2}"),
                              .create = true,
                              .auto_id_ms = -1,
                              .version = VERSION_ANY,
                              .if_seq_no = SEQ_UNASSIGNED,
                              .op_counter = 2};
    shard_rq_init(&w.rq, &shard_op_write, sc_look_done, NULL);
    w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    sc.answered = false;
    data_serve(sc.nodes[0].data, &w.rq);
    sc.nodes[0].unheard = true; /* nor does the master hear of the copy that failed */
    sc_run_ms(60);
    ck_assert(!sc.answered);
    sc.nodes[0].cut = true;
    sc.deaf = -1;
    sc_leave(0);
    ck_assert(sim_exec_run_until(sc.exec, sc_is_answered, NULL, 60000 * MS));
    ck_assert(err_is(&w.rq.error)); /* unknown */
    shard_rq_fini(&w.rq);
}

START_TEST(test_new_primary_has_more)
{
    struct write_item it;
    half_written(1, 2, &it);
    ck_assert(sc_look(2, "b").found);
    ck_assert_msg(sc_look(1, "b").found, "it was sent again");
    ck_assert_int_eq(sc_look(1, "b").term, 1);
    ck_assert_int_eq(write_one(2, "b", "{\"v\":2}", 2, true, &it), ERR_OK);
    ck_assert_int_eq(it.seq_no, 1);
    ck_assert_int_eq(it.primary_term, 1);   /* the first result */
    ck_assert_int_eq(sc.dropped_copies, 1); /* the old primary's alone */
    ck_assert_uint_eq(cluster_index(sc.newest, STR("docs"))->in_sync[0].n, 2);
    sc_end();
}
END_TEST

START_TEST(test_new_primary_has_less)
{
    /* The other copy has an operation that the primary has not: it is taken out before it forgets anything. */
    struct write_item it;
    half_written(1, 1, &it);
    ck_assert_int_eq(write_one(1, "c", "{\"v\":3}", 3, false, &it), ERR_OK);
    ck_assert_int_eq(it.seq_no, 1);
    ck_assert_int_eq(it.primary_term, 2);
    ck_assert_int_eq(sc.dropped_copies, 2);
    ck_assert_uint_eq(cluster_index(sc.newest, STR("docs"))->in_sync[0].n, 1);
    ck_assert(!sc_look(1, "b").found);
    ck_assert_int_eq(write_one(1, "b", "{\"v\":2}", 2, true, &it), ERR_OK);
    ck_assert_int_eq(it.seq_no, 2);
    sc_end();
}
END_TEST

START_TEST(test_node_without_its_copy)
{
    /* A copy in sync whose node has left must be out of the set before a write is acknowledged. */
    struct write_item it;
    sc_start(2, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    sc_leave(2);
    sc_run_ms(200);
    ck_assert_uint_eq(cluster_index(sc.newest, STR("docs"))->in_sync[0].n, 3);
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1}", 1, false, &it), ERR_OK);
    ck_assert_uint_eq(cluster_index(sc.newest, STR("docs"))->in_sync[0].n, 2);
    ck_assert(sc_look(1, "a").found);
    sc_end();
}
END_TEST

static void new_field(struct index_meta *m, struct shard_routing *r, struct arena *ra, void *arg)
{
    (void)r;
    (void)ra;
    (void)arg;
    m->mapping_version++;
    m->mapping = STR("{\"properties\":{\"v\":{\"type\":\"long\"},\"c\":{\"type\":\"keyword\"},\"w\":{"
                     "\"type\":\"long\"}}}");
}

START_TEST(test_waits_for_mapping)
{
    struct write_item it;
    sc_start(3, 1);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    sc_run_ms(200);
    sc.nodes[1].slow_states = true;
    sc_change(new_field, NULL);
    sc_run_ms(100);
    int64_t before = sc.clock.mono_ns;
    ck_assert_int_eq(write_one(0, "a", "{\"v\":1,\"w\":2}", 1, false, &it), ERR_OK);
    ck_assert_int_gt(sc.clock.mono_ns - before, 300 * MS);
    ck_assert(sc_look(1, "a").found);
    ck_assert_int_eq(sc.dropped_copies, 0);
    sc_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("replication");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, test_quiet, 0, 5);
    tcase_add_test(c, test_asynchronous);
    tcase_add_loop_test(c, test_copy_fails, 0, 10);
    tcase_add_loop_test(c, test_failover, 5570, 5630);
    tcase_add_test(c, test_deposed_primary);
    tcase_add_test(c, test_new_primary_has_more);
    tcase_add_test(c, test_new_primary_has_less);
    tcase_add_test(c, test_node_without_its_copy);
    tcase_add_test(c, test_waits_for_mapping);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
