/* Two data services that replicate over the real transport, with real threads and files. */
#include "common/sys/clock_real.h"
#include "common/sys/fs_posix.h"
#include "common/sys/pool.h"
#include "data/data.h"
#include "engine/index/engine.h"
#include "proto/transport_nng.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NODES  2
#define WRITES 200

static const char *const ids[] = {"n0", "n1"}, *const ephemeral[] = {"e0", "e1"},
                         *const allocations[] = {"a0", "a1"};

static struct node {
    int number;
    char dir[64], address[32];
    struct transport_nng *transport;
    struct data_service *data;
    void (*done)(void *, const struct errmsg *);
    void *arg;
} nodes[NODES];

static struct pool *pool;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool started[NODES], stale;
static int applied, answered, failed;

static void nothing(void *arg)
{
    pthread_mutex_lock(&lock);
    ++*(int *)arg;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static bool shard_event(void *self, const struct shard_event *e, void (*done)(void *, const struct errmsg *),
                        void *arg)
{
    struct node *n = self;
    pthread_mutex_lock(&lock);
    started[n->number] |= e->kind == SHARD_EVENT_STARTED;
    n->done = done; /* called when the state that says it is applied */
    n->arg = arg;
    stale |= e->kind == SHARD_EVENT_STALE;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
    return true;
}

/* No fields are added here. */
static bool update_mapping(void *self, struct str index, struct str uuid, struct str type, struct str mapping,
                           void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    (void)type;
    (void)self;
    (void)index;
    (void)uuid;
    (void)mapping;
    (void)done;
    (void)arg;
    return false;
}

static void open_node(int i)
{
    struct node *n = &nodes[i];
    ERR_LOCAL(em);
    struct transport_nng_opts t = {.host = STR("127.0.0.1"), .ephemeral_id = str_of(ephemeral[i])};
    n->number = i;
    snprintf(n->dir, sizeof(n->dir), "/tmp/serai-replication-%d-XXXXXX", i);
    ck_assert_ptr_nonnull(mkdtemp(n->dir));
    ck_assert_int_eq(transport_nng_new(&n->transport, &t, &em), ERR_OK);
    snprintf(n->address, sizeof(n->address), "127.0.0.1:%u", transport_nng_port(n->transport));
    struct data_opts o = {.fs = fs_posix(),
                          .clock = clock_real(),
                          .dir = n->dir,
                          .write_pool = pool_executor(pool),
                          .search_pool = pool_executor(pool),
                          .background_pool = pool_executor(pool),
                          .node_id = str_of(ids[i]),
                          .update_mapping = update_mapping,
                          .shard_event = shard_event,
                          .node_self = n,
                          .transport = transport_nng_api(n->transport)};
    ck_assert_msg(data_service_new(&n->data, &o, &em) == ERR_OK, "%s", err_reason(&em));
    transport_nng_start(n->transport);
}

static struct cluster_state *make_state(const struct cluster_state *from, bool up)
{
    struct state_builder b;
    struct nodes_part *none = nodes_part_new(), *p = nodes_part_copy(none, NODES);
    state_part_unref(&none->part);
    ck_assert(state_builder_init(&b, from));
    for (int i = 0; i < NODES; i++) {
        struct node_meta n = {.id = str_of(ids[i]),
                              .name = str_of(ids[i]),
                              .ephemeral_id = str_of(ephemeral[i]),
                              .host = STR("h"),
                              .transport_address = str_of(nodes[i].address),
                              .roles = ROLE_DATA};
        ck_assert(nodes_part_put(p, &n));
    }
    state_put_nodes(&b, p);
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = STR("docs");
    m->uuid = STR("u1");
    m->version = up ? 2 : 1;
    m->mapping_version = m->settings_version = 1;
    m->n_shards = m->n_replicas = m->routing_shards = m->routing_partition = 1;
    m->mapping = STR("{\"properties\":{\"v\":{\"type\":\"long\"}}}");
    m->primary_terms = ARENA_ARRAY(a, uint64_t, 1);
    m->in_sync = ARENA_ARRAY(a, struct str_set, 1);
    m->primary_terms[0] = 1;
    struct index_routing *r = index_routing_new(STR("docs"), STR("u1"), 1, 1);
    for (int i = 0; i < NODES; i++) {
        struct shard_copy *c = &r->shards[0].copies[i];
        c->state = up ? COPY_STARTED : COPY_INITIALIZING;
        c->node = str_of(ids[i]);
        c->allocation_id = str_of(allocations[i]);
        c->source = RECOVER_EMPTY_STORE;
        m->in_sync[0] = up ? str_set_with(&m->in_sync[0], c->allocation_id, a) : m->in_sync[0];
    }
    ck_assert(state_put_index(&b, m));
    ck_assert(state_put_routing(&b, r));
    struct cluster_state *s = state_builder_seal(&b, up ? STR("s2") : STR("s1"));
    ck_assert_ptr_nonnull(s);
    return s;
}

static void apply_everywhere(struct cluster_state *s)
{
    applied = 0;
    for (int i = 0; i < NODES; i++) {
        ck_assert(data_apply(nodes[i].data, s, nothing, &applied));
    }
    pthread_mutex_lock(&lock);
    while (applied < NODES) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
}

struct one {
    struct shard_write w;
    struct write_item it;
    char id[16], source[32];
};

static void written(struct shard_rq *rq)
{
    struct one *o = rq->user;
    pthread_mutex_lock(&lock);
    failed += err_is(&rq->error) || o->it.error != NULL || o->w.copies_ok != 2;
    answered++;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static void write_them(void)
{
    struct one *all = calloc(WRITES, sizeof(*all));
    const struct shard_api *api = data_api(nodes[0].data);
    for (int i = 0; i < WRITES; i++) {
        struct one *o = &all[i];
        snprintf(o->id, sizeof(o->id), "d%d", i);
        snprintf(o->source, sizeof(o->source), "{\"v\":%d}", i);
        o->it = (struct write_item){.kind = WRITE_INDEX,
                                    .id = str_of(o->id),
                                    .source = str_of(o->source),
                                    .auto_id_ms = -1,
                                    .version = VERSION_ANY,
                                    .if_seq_no = SEQ_UNASSIGNED};
        o->w = (struct shard_write){.items = &o->it,
                                    .n = 1,
                                    .timeout_ms = 30000,
                                    .refresh = i % 50 == 0 ? REFRESH_NOW : REFRESH_NONE};
        shard_rq_init(&o->w.rq, &shard_op_write, written, o);
        o->w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
        api->serve(api->self, &o->w.rq);
    }
    pthread_mutex_lock(&lock);
    while (answered < WRITES) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WRITES; i++) {
        shard_rq_fini(&all[i].w.rq);
    }
    free(all);
    ck_assert_int_eq(failed, 0);
}

static bool told;
static void looked(struct shard_rq *rq)
{
    (void)rq;
    pthread_mutex_lock(&lock);
    told = true;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
}

static struct shard_stats stats_of(int node)
{
    struct shard_act a = {.action = SHARD_STATS};
    shard_rq_init(&a.rq, &shard_op_act, looked, NULL);
    a.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    told = false;
    data_serve(nodes[node].data, &a.rq);
    pthread_mutex_lock(&lock);
    while (!told) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
    ck_assert(!err_is(&a.rq.error));
    struct shard_stats s = *a.stats;
    shard_rq_fini(&a.rq);
    return s;
}

START_TEST(test_two_nodes)
{
    ERR_LOCAL(em);
    ck_assert_int_eq(pool_new(&pool, &(struct pool_opts){"t", 4, 10000}, &em), ERR_OK);
    for (int i = 0; i < NODES; i++) {
        open_node(i);
    }
    struct cluster_state *s1 = make_state(NULL, false);
    apply_everywhere(s1);
    pthread_mutex_lock(&lock);
    while (!started[0] || !started[1]) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
    struct cluster_state *s2 = make_state(s1, true);
    apply_everywhere(s2);
    for (int i = 0; i < NODES; i++) {
        nodes[i].done(nodes[i].arg, NULL);
    }
    write_them();
    ck_assert(!stale);
    ck_assert_int_eq(stats_of(1).local_checkpoint, WRITES - 1);
    for (int i = 0; i < 100 && stats_of(1).global_checkpoint < WRITES - 1;
         i++) { /* an idle copy hears of it */
        data_tick(nodes[0].data);
        usleep(20000);
    }
    ck_assert_int_eq(stats_of(0).global_checkpoint, WRITES - 1);
    ck_assert_int_eq(stats_of(1).global_checkpoint, WRITES - 1);
    for (int i = 0; i < NODES; i++) {
        transport_nng_stop(nodes[i].transport);
    }
    for (int i = 0; i < NODES; i++) {
        data_service_free(nodes[i].data);
        fs_posix()->remove_tree(fs_posix()->self, nodes[i].dir, NULL);
    }
    pool_free(pool);
    for (int i = 0; i < NODES; i++) {
        transport_nng_free(nodes[i].transport);
    }
    cluster_state_unref(s1);
    cluster_state_unref(s2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("replication over NNG");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, test_two_nodes);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int n = srunner_ntests_failed(r);
    srunner_free(r);
    return n > 0;
}
