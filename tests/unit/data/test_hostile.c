/* A node of the cluster that says anything to the others: messages of replication and recovery with any fields, while clients write.
 * What always holds of a shard goes on to hold. */
#include "data/replication/replication_bytes.h"
#include "engine/index/engine.h"
#include "proto/recovery_bytes.h"
#include "tests/unit/data/small_cluster.h"

#include <stdio.h>
#include <stdlib.h>

#define MESSAGES 800

static unsigned answered, refused;
static uint64_t sessions[NODES]; /* the last that each node has begun */

static uint64_t one_of(uint64_t n)
{
    return rng_below(&sc.rng, n);
}

/* ---- what is said -------------------------------------------------------------------------------------------- */

static int64_t some_number(void)
{
    static const int64_t odd[] = {INT64_MIN, -2, -1, 0, INT64_MAX - 1, INT64_MAX, (int64_t)1 << 40};
    return one_of(4) == 0 ? odd[one_of(7)] : (int64_t)one_of(20);
}

static struct str some_copy(void)
{
    const struct shard_routing *r = sc_routing();
    return one_of(8) == 0 ? STR("nobody") : r->copies[one_of(r->n)].allocation_id;
}

static uint64_t some_term(void)
{
    uint64_t term = cluster_index(sc.newest, STR("docs"))->primary_terms[0];
    return one_of(3) > 0 ? term : term - 1 + one_of(4);
}

static void operations(struct buf *b)
{
    struct replication_msg m = {.uuid = STR("u1"),
                                .allocation_id = some_copy(),
                                .term = some_term(),
                                .global_checkpoint = some_number(),
                                .max_seq_no = some_number(),
                                .retain_from = some_number(),
                                .mapping_version = one_of(3),
                                .refresh = (enum refresh_policy)one_of(3),
                                .last = one_of(2) == 0};
    struct buf ops;
    buf_init(&ops, NULL, BUF_UNLIMITED);
    m.n = (size_t)one_of(4);
    for (size_t i = 0; i < m.n; i++) {
        struct engine_op op = ENGINE_OP_INIT;
        op.kind = one_of(3) == 0 ? OP_DELETE : one_of(3) == 0 ? OP_NOOP : OP_INDEX;
        op.id = STR("h");
        op.source = STR("{\"v\":1}");
        op.reason = STR("r");
        op.seq_no = (int64_t)one_of(30);
        op.primary_term = (int64_t)MAX_OF(some_term(), (uint64_t)1);
        op.version = 1 + (int64_t)one_of(5);
        op_encode(&op, &ops);
    }
    m.bytes = buf_view(&ops);
    message_replicate.request->encode(&m, b);
    buf_fini(&ops);
}

static void of_recovery(uint16_t kind, int to, struct buf *b)
{
    uint64_t session = one_of(8) == 0 ? one_of(6) : sessions[to];
    if (kind == MESSAGE_RECOVERY_START) {
        const struct shard_copy *c = &sc_routing()->copies[one_of(sc_routing()->n)];
        struct recovery_start m = {.index_uuid = STR("u1"),
                                   .allocation_id = one_of(4) == 0 ? some_copy() : c->allocation_id,
                                   .node_id = c->node.p != NULL ? c->node : STR("nowhere"),
                                   .history_uuid = STR("x"),
                                   .from = some_number()};
        message_recovery_start.request->encode(&m, b);
    } else if (kind == MESSAGE_RECOVERY_CHUNK) {
        struct recovery_chunk m = {session, (uint32_t)one_of(5), (uint64_t)some_number(),
                                   (uint32_t)one_of(5000)};
        message_recovery_chunk.request->encode(&m, b);
    } else if (kind == MESSAGE_RECOVERY_OPS) {
        message_recovery_ops.request->encode(&(struct recovery_ops_wish){session, one_of(3)}, b);
    } else if (kind == MESSAGE_RECOVERY_FINALIZE) {
        message_recovery_finalize.request->encode(&(struct recovery_finalize){session, some_number()}, b);
    } else {
        put_varint(b, session);
    }
}

/* ---- saying it ----------------------------------------------------------------------------------------------- */

static void done(struct transport_rq *rq)
{
    struct recovery_plan plan;
    uint64_t *session = rq->user;
    if (session != NULL && !err_is(&rq->error)
        && codec_read(message_recovery_start.answer, &plan, rq->answer, NULL)) {
        *session = plan.session;
    }
    answered += !err_is(&rq->error);
    refused += err_is(&rq->error);
    transport_rq_fini(rq);
    free(rq);
}

static void say_something(void)
{
    static const uint16_t kinds[] = {
        MESSAGE_REPLICATE,         MESSAGE_RESYNC,           MESSAGE_GLOBAL_CHECKPOINT,
        MESSAGE_RECOVERY_START,    MESSAGE_RECOVERY_CHUNK,   MESSAGE_RECOVERY_OPS,
        MESSAGE_RECOVERY_FINALIZE, MESSAGE_RECOVERY_HANDOFF, MESSAGE_RECOVERY_CLEAN};
    struct transport_rq *rq = calloc(1, sizeof(*rq));
    struct small_node *from = &sc.nodes[one_of(NODES)];
    int at = one_of(2) == 0 ? sc_node_number(sc_routing()->copies[0].node) : (int)one_of(NODES);
    at = MAX_OF(at, 0);
    struct transport_peer to = {str_of(sc_addresses[at]), STR("e")};
    *rq = (struct transport_rq){.cls = TRANSPORT_DATA,
                                .kind = kinds[one_of(ARRAY_LEN(kinds))],
                                .timeout_ms = 5000,
                                .on = sim_lane_executor(sc.net),
                                .done = done};
    buf_init(&rq->payload, NULL, BUF_UNLIMITED);
    if (rq->kind == MESSAGE_REPLICATE || rq->kind == MESSAGE_RESYNC
        || rq->kind == MESSAGE_GLOBAL_CHECKPOINT) {
        operations(&rq->payload);
    } else {
        of_recovery(rq->kind, at, &rq->payload);
        rq->user = rq->kind == MESSAGE_RECOVERY_START ? &sessions[at] : NULL;
    }
    from->transport.send(from->transport.self, &to, rq);
}

/* ---- clients ------------------------------------------------------------------------------------------------- */

static struct writing {
    struct shard_write w;
    struct write_item item;
    bool out;
} writing;
static unsigned writes, written;

static void write_done(struct shard_rq *rq)
{
    written += !err_is(&rq->error) && writing.item.error == NULL;
    writing.out = false;
    shard_rq_fini(rq);
}

static void write_something(void)
{
    if (writing.out) {
        return;
    }
    int at = sc_node_number(sc_routing()->copies[0].node);
    if (at < 0) {
        return;
    }
    writing = (struct writing){.w = {.n = 1, .timeout_ms = 2000, .op_session = 9}, .out = true};
    writing.w.items = &writing.item;
    writing.item = (struct write_item){.kind = WRITE_INDEX,
                                       .id = STR("d"),
                                       .source = STR("{\"v\":2}"),
                                       .auto_id_ms = -1,
                                       .version = VERSION_ANY,
                                       .if_seq_no = SEQ_UNASSIGNED,
                                       .op_counter = ++writes};
    shard_rq_init(&writing.w.rq, &shard_op_write, write_done, NULL);
    writing.w.rq.shard = (struct shard_ref){STR("docs"), STR("u1"), 0};
    data_serve(sc.nodes[at].data, &writing.w.rq);
}

static bool is_written(void *arg)
{
    (void)arg;
    return !writing.out;
}

START_TEST(test_random)
{
    answered = refused = writes = written = 0;
    sc_start((uint64_t)_i + 1, 2);
    ck_assert(sim_exec_run_until(sc.exec, sc_all_started, NULL, 10000 * MS));
    for (int i = 0; i < MESSAGES; i++) {
        say_something();
        write_something();
        sc_run_ms((int64_t)one_of(20));
        for (int n = 0; n < NODES; n++) {
            data_invariant(sc.nodes[n].data);
        }
    }
    /* Who was told nonsense is out; the primary goes on. Nothing waits any more. */
    sc_run_ms(60000);
    ck_assert(sim_exec_run_until(sc.exec, is_written, NULL, 60000 * MS));
    unsigned before = written;
    write_something();
    ck_assert(sim_exec_run_until(sc.exec, is_written, NULL, 60000 * MS));
    ck_assert_uint_eq(written, before + 1);
    ck_assert(answered > 0 && refused > 50 && written > 5);
    sc_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hostile");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 20);
    tcase_add_loop_test(c, test_random, 0, 20);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
