/* A copy that comes from another node over the real transport, with real threads, while documents are written. */
#include "common/sys/clock_real.h"
#include "common/sys/pool.h"
#include "data/data.h"
#include "engine/index/engine.h"
#include "proto/transport_nng.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UUID "uuid-of-the-index"
#define DOCS 2000

struct end {
    char id[16], address[32];
    struct fs_mem *disk;
    struct transport_nng *t;
    struct pool *pool;
    struct data_service *s;
};

static struct end ends[2];
static _Atomic unsigned states, started, answered, refused;

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

struct told {
    void (*done)(void *arg, const struct errmsg *error);
    void *arg;
};

static void told(void *arg)
{
    struct told t = *(struct told *)arg;
    free(arg);
    t.done(t.arg, NULL);
}

static bool shard_event(void *self, const struct shard_event *event,
                        void (*done)(void *arg, const struct errmsg *error), void *arg)
{
    struct end *e = self;
    struct told *t = malloc(sizeof(*t));
    *t = (struct told){done, arg};
    ck_assert_msg(event->kind == SHARD_EVENT_STARTED, "%.*s", STR_ARG(event->why));
    started |= event->primary_term > 0 ? 1U << (e - ends) : 0;
    ck_assert(executor_submit_force(pool_executor(e->pool), told, t));
    return true;
}

static void end_open(struct end *e, const char *id, unsigned port)
{
    ERR_LOCAL(em);
    snprintf(e->id, sizeof(e->id), "%s", id);
    struct transport_nng_opts o = {STR("127.0.0.1"), port, port + 40, str_of(e->id)};
    ck_assert_int_eq(transport_nng_new(&e->t, &o, &em), ERR_OK);
    snprintf(e->address, sizeof(e->address), "127.0.0.1:%u", transport_nng_port(e->t));
    struct pool_opts po = {"data", 3, 10000};
    ck_assert_int_eq(pool_new(&e->pool, &po, &em), ERR_OK);
    e->disk = fs_mem_new();
    const struct executor *x = pool_executor(e->pool);
    struct data_opts d = {.fs = fs_mem_fs(e->disk),
                          .clock = clock_real(),
                          .dir = "/data",
                          .write_pool = x,
                          .search_pool = x,
                          .background_pool = x,
                          .node_id = str_of(e->id),
                          .update_mapping = update_mapping,
                          .shard_event = shard_event,
                          .node_self = e,
                          .transport = transport_nng_api(e->t)};
    ck_assert_int_eq(data_service_new(&e->s, &d, &em), ERR_OK);
    transport_nng_start(e->t);
}

static void end_close(struct end *e)
{
    transport_nng_stop(e->t);
    data_service_free(e->s);
    pool_free(e->pool);
    transport_nng_free(e->t);
    fs_mem_free(e->disk);
}

/* ---- states -------------------------------------------------------------------------------------------- */

static struct index_meta *make_meta(unsigned copies, uint64_t version, bool both)
{
    struct index_meta *m = index_meta_new();
    struct arena *a = &m->part.arena;
    m->name = STR("i");
    m->uuid = STR(UUID);
    m->version = version;
    m->mapping_version = m->settings_version = m->aliases_version = 1;
    m->n_shards = m->routing_shards = m->routing_partition = 1;
    m->n_replicas = copies - 1;
    m->mapping = STR("{\"properties\":{\"n\":{\"type\":\"long\"}}}");
    settings_init(&m->settings, a);
    m->primary_terms = ARENA_ARRAY(a, uint64_t, 1);
    m->primary_terms[0] = 1;
    m->in_sync = ARENA_ARRAY(a, struct str_set, 1);
    if (version > 1) {
        m->in_sync[0] = str_set_with(&m->in_sync[0], STR("copy-0"), a);
    }
    if (both) {
        m->in_sync[0] = str_set_with(&m->in_sync[0], STR("copy-1"), a);
    }
    return m;
}

static void applied(void *arg)
{
    (void)arg;
    states++;
}

/* The primary at the first end in that state; with a second copy at the other end, in that one. */
static void publish(uint64_t version, enum copy_state primary, unsigned copies, enum copy_state replica)
{
    struct state_builder b;
    char uuid[16];
    struct index_routing *r = index_routing_new(STR("i"), STR(UUID), 1, copies - 1);
    struct nodes_part *p = nodes_part_new();
    static const char *const ids[] = {"copy-0", "copy-1"};
    p->v = ARENA_ARRAY(&p->part.arena, struct node_meta, 2);
    for (unsigned i = 0; i < 2; i++) {
        struct str id = arena_str(&p->part.arena, str_of(ends[i].id));
        p->v[p->n++] =
            (struct node_meta){.id = id,
                               .name = id,
                               .ephemeral_id = id,
                               .host = id,
                               .transport_address = arena_str(&p->part.arena, str_of(ends[i].address)),
                               .roles = ROLE_DATA};
        if (i < copies) {
            struct shard_copy *c = &r->shards[0].copies[i];
            c->state = i == 0 ? primary : replica;
            c->source = i == 0 ? RECOVER_EMPTY_STORE : RECOVER_PEER;
            c->node = arena_str(&r->part.arena, str_of(ends[i].id));
            c->allocation_id = arena_str(&r->part.arena, str_of(ids[i]));
        }
    }
    ck_assert(state_builder_init(&b, NULL));
    ck_assert(state_put_index(&b, make_meta(copies, version, copies == 2 && replica == COPY_STARTED)));
    ck_assert(state_put_routing(&b, r));
    state_put_nodes(&b, p);
    snprintf(uuid, sizeof(uuid), "s%llu", (unsigned long long)version);
    struct cluster_state *s = state_builder_seal(&b, str_of(uuid));
    ck_assert(s != NULL);
    states = 0;
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(data_apply(ends[i].s, s, applied, NULL));
    }
    cluster_state_unref(s);
}

static void ticks_until(_Atomic unsigned *what, unsigned least)
{
    for (unsigned i = 0; *what < least; i++) {
        ck_assert_uint_lt(i, 3000);
        usleep(10000);
        if (i % 10 == 0) {
            data_tick(ends[0].s);
            data_tick(ends[1].s);
        }
    }
}

/* ---- documents ----------------------------------------------------------------------------------------- */

struct writing {
    struct shard_write rq;
    struct write_item item;
    char id[16], source[64];
};

static void written(struct shard_rq *rq)
{
    struct writing *w = (struct writing *)(void *)rq;
    refused += err_is(&rq->error) || w->item.error != NULL;
    answered++;
    shard_rq_fini(rq);
    free(w);
}

static void write_doc(unsigned id, unsigned n)
{
    struct writing *w = calloc(1, sizeof(*w));
    snprintf(w->id, sizeof(w->id), "%u", id);
    snprintf(w->source, sizeof(w->source), "{\"n\":%u}", n);
    shard_rq_init(&w->rq.rq, &shard_op_write, written, NULL);
    w->rq.rq.shard = (struct shard_ref){STR("i"), STR(UUID), 0};
    w->rq.items = &w->item;
    w->rq.n = 1;
    w->rq.timeout_ms = 60000;
    w->item = (struct write_item){.kind = n % 10 == 9 ? WRITE_DELETE : WRITE_INDEX,
                                  .id = str_of(w->id),
                                  .source = str_of(w->source),
                                  .auto_id_ms = -1,
                                  .version = VERSION_ANY,
                                  .if_seq_no = SEQ_UNASSIGNED};
    const struct shard_api *api = data_api(ends[0].s);
    api->serve(api->self, &w->rq.rq);
}

static void done(struct shard_rq *rq)
{
    *(_Atomic unsigned *)rq->user = 1;
}

static void get(unsigned end, unsigned id, struct shard_get *g)
{
    _Atomic unsigned ready = 0;
    char name[16];
    snprintf(name, sizeof(name), "%u", id);
    *g = (struct shard_get){.id = str_of(name), .realtime = true, .want_source = true};
    shard_rq_init(&g->rq, &shard_op_get, done, &ready);
    g->rq.shard = (struct shard_ref){STR("i"), STR(UUID), 0};
    const struct shard_api *api = data_api(ends[end].s);
    api->serve(api->self, &g->rq);
    while (!ready) {
        usleep(20);
    }
    ck_assert(!err_is(&g->rq.error));
}

static void flush(void)
{
    _Atomic unsigned ready = 0;
    struct shard_act a = {.action = SHARD_FLUSH};
    shard_rq_init(&a.rq, &shard_op_act, done, &ready);
    a.rq.shard = (struct shard_ref){STR("i"), STR(UUID), 0};
    const struct shard_api *api = data_api(ends[0].s);
    api->serve(api->self, &a.rq);
    ticks_until(&ready, 1);
    shard_rq_fini(&a.rq);
}

START_TEST(over_nng)
{
    end_open(&ends[0], "first", 9436);
    end_open(&ends[1], "second", 9436);
    publish(1, COPY_INITIALIZING, 1, COPY_UNASSIGNED);
    ticks_until(&started, 1);
    publish(2, COPY_STARTED, 1, COPY_UNASSIGNED);
    ticks_until(&states, 2);
    usleep(50000);
    for (unsigned i = 0; i < DOCS; i++) {
        write_doc(i % 700, i);
    }
    ticks_until(&answered, DOCS);
    flush();
    publish(3, COPY_STARTED, 2, COPY_INITIALIZING);
    for (unsigned i = 0; i < DOCS; i++) {
        write_doc(i % 900, 5 * i);
        if (i % 100 == 0) {
            usleep(2000);
        }
    }
    ticks_until(&started, 3);
    publish(4, COPY_STARTED, 2, COPY_STARTED);
    ticks_until(&states, 2);
    for (unsigned i = 0; i < 100; i++) {
        write_doc(i, 7 * i);
    }
    ticks_until(&answered, 2 * DOCS + 100);
    ck_assert_uint_eq(refused, 0);
    for (unsigned i = 0; i < 950; i++) {
        struct shard_get a, b;
        get(0, i, &a);
        get(1, i, &b);
        ck_assert(a.found == b.found && (!a.found || (a.version == b.version && a.seq_no == b.seq_no)));
        ck_assert(!a.found || str_eq(a.source, b.source));
        shard_rq_fini(&a.rq);
        shard_rq_fini(&b.rq);
    }
    end_close(&ends[0]);
    end_close(&ends[1]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recovery_nng");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, over_nng);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
