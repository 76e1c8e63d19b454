/* Every message between nodes: what goes in comes out, and damaged bytes are refused or read as something else, and never
 * more. A row of the list without a maker of requests and answers here does not compile. */
#include "data/replication/replication_bytes.h"
#include "master/master_messages.h"
#include "master/pending.h"
#include "master/quorum.h"
#include "proto/node_messages.h"
#include "proto/recovery_bytes.h"
#include "tests/unit/proto/random_values.h"

#include <check.h>
#include <stdlib.h>

#define ROUNDS 100

static void make_nothing(void *of)
{
    (void)of;
}

static void make_number(void *of)
{
    *(uint64_t *)of = rng_u64(&rng);
}

static void make_error(struct errmsg *em)
{
    if (flip()) {
        err_set_at(em, (enum err)(1 + below(ERR_COUNT - 1)), (uint32_t)below(9), (uint32_t)below(9), "why %d",
                   (int)below(99));
        err_about_shard(em, (int)below(4));
    }
}

/* ---- coordination -------------------------------------------------------------------------------------- */

static struct node_meta some_node(void)
{
    struct node_meta n = {.id = STR("id"),
                          .name = text(),
                          .ephemeral_id = STR("process"),
                          .host = text(),
                          .transport_address = text(),
                          .http_address = opt_text(),
                          .roles = (uint32_t)below(99),
                          .n_attrs = (uint32_t)below(3)};
    n.attrs = ARENA_ARRAY(&arena, struct node_attr, n.n_attrs);
    for (uint32_t i = 0; i < n.n_attrs; i++) {
        n.attrs[i].name = text();
        n.attrs[i].value = text();
    }
    return n;
}

static void make_quorum(void *of)
{
    struct quorum_message *m = of;
    struct node_meta *nodes = ARENA_ARRAY(&arena, struct node_meta, 3);
    m->kind = (enum message_kind)below(12);
    m->answer = flip();
    m->ok = flip();
    m->has_vote = flip();
    m->from = some_node();
    m->cluster_name = text();
    m->cluster_uuid = text();
    m->term = rng_u64(&rng);
    m->accepted_term = below(99);
    m->version = rng_u64(&rng);
    if (flip()) {
        m->master = some_node();
    }
    m->n_nodes = (uint32_t)below(3);
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        nodes[i] = some_node();
    }
    m->nodes = nodes;
    m->base_uuid = text();
    m->state = text();
}
#define make_handshake             make_quorum
#define make_handshake_answer      make_quorum
#define make_peers                 make_quorum
#define make_peers_answer          make_quorum
#define make_pre_vote              make_quorum
#define make_pre_vote_answer       make_quorum
#define make_start_join            make_quorum
#define make_start_join_answer     make_quorum
#define make_join                  make_quorum
#define make_join_answer           make_quorum
#define make_publish               make_quorum
#define make_publish_answer        make_quorum
#define make_commit                make_quorum
#define make_commit_answer         make_quorum
#define make_follower_check        make_quorum
#define make_follower_check_answer make_quorum
#define make_leader_check          make_quorum
#define make_leader_check_answer   make_quorum
#define make_hand_over             make_quorum
#define make_hand_over_answer      make_quorum

/* ---- the master ---------------------------------------------------------------------------------------- */

static struct str *texts(uint32_t *n)
{
    struct str *v = ARENA_ARRAY(&arena, struct str, *n = (uint32_t)below(4));
    for (uint32_t i = 0; i < *n; i++) {
        v[i] = text();
    }
    return v;
}

static void make_meta(void *of)
{
    struct meta_request *rq = of;
    rq->action = (enum meta_action)below(META_CLEAR_EXCLUSIONS + 1);
    rq->names = texts(&rq->n_names);
    rq->uuid = text();
    rq->text = flip() ? STR("{\"a\": [1, 2.5, null, \"\\u00e4\"], \"b\": {}}") : STR("");
    if (rq->text.n > 0) {
        ck_assert_int_eq(json_parse(&rq->body, rq->text, &arena, &json_limits_default, NULL), ERR_OK);
    }
    rq->template_kind = (enum template_kind)below(TEMPLATE_COMPONENT + 1);
    rq->auto_create = flip();
    rq->preserve_existing = flip();
    rq->options = (unsigned)below(256);
    rq->timeout_ms = number();
    struct alias_action *v =
        ARENA_ARRAY(&arena, struct alias_action, rq->n_alias_actions = (uint32_t)below(3));
    for (uint32_t i = 0; i < rq->n_alias_actions; i++) {
        v[i] = (struct alias_action){.kind = (enum alias_kind)below(ALIAS_REMOVE_INDEX + 1),
                                     .index = text(),
                                     .alias = {.filter = opt_text(), .has_is_write = flip()},
                                     .must_exist = flip()};
        v[i].aliases = texts(&v[i].n_aliases);
    }
    rq->alias_actions = v;
}

static void make_meta_answer(void *of)
{
    struct meta_answer *a = of;
    *a = (struct meta_answer){flip(), flip(), text(), rng_u64(&rng), a->error};
    make_error(&a->error);
}

static void make_event(void *of)
{
    *(struct shard_event *)of = (struct shard_event){(enum shard_event_kind)below(SHARD_EVENT_STALE + 1),
                                                     text(),
                                                     (uint32_t)below(9),
                                                     text(),
                                                     below(99),
                                                     text()};
}
#define make_shard_started        make_event
#define make_shard_started_answer make_number
#define make_shard_failed         make_event
#define make_shard_failed_answer  make_number
#define make_mark_stale           make_event
#define make_mark_stale_answer    make_number

static void make_list_copies(void *of)
{
    struct copies_question *q = of;
    q->v = ARENA_ARRAY(&arena, struct shard_id, q->n = (uint32_t)below(4));
    for (uint32_t i = 0; i < q->n; i++) {
        q->v[i] = (struct shard_id){.uuid = text(), .shard = (uint32_t)below(9)};
    }
}

static void make_list_copies_answer(void *of)
{
    struct copies_answer *a = of;
    a->v = ARENA_ARRAY(&arena, struct found_copy, a->n = (uint32_t)below(4));
    for (uint32_t i = 0; i < a->n; i++) {
        a->v[i] = (struct found_copy){
            .index_uuid = text(), .shard = (uint32_t)below(9), .allocation_id = text(), .damaged = flip()};
    }
}

#define make_disk_usage make_nothing
static void make_disk_usage_answer(void *of)
{
    *(struct disk_answer *)of = (struct disk_answer){rng_u64(&rng), below(99)};
}

#define make_pending_tasks make_nothing
static void make_pending_tasks_answer(void *of)
{
    struct pending_queue *q = of;
    q->version = rng_u64(&rng);
    q->v = ARENA_ARRAY(&arena, struct pending_task, q->n = (uint32_t)below(4));
    for (uint32_t i = 0; i < q->n; i++) {
        q->v[i] = (struct pending_task){below(99), flip() ? "URGENT" : "NORMAL", text(), flip(), number()};
    }
}

#define make_cancel_query        make_number
#define make_cancel_query_answer make_nothing

/* ---- replication --------------------------------------------------------------------------------------- */

static struct str operations(size_t n)
{
    struct buf b;
    buf_init(&b, NULL, MIB);
    for (size_t i = 0; i < n; i++) {
        struct engine_op op = ENGINE_OP_INIT;
        op.kind = flip() ? OP_DELETE : OP_INDEX;
        op.id = STR("id");
        op.source = op.kind == OP_INDEX ? STR("{}") : STR_NULL;
        op.seq_no = (int64_t)below(99);
        op.primary_term = 1;
        op.version = 1 + (int64_t)below(9);
        op_encode(&op, &b);
    }
    struct str bytes = arena_str(&arena, buf_view(&b));
    buf_fini(&b);
    return bytes;
}

static void make_replicate(void *of)
{
    struct replication_msg *m = of;
    *m = (struct replication_msg){.uuid = text(),
                                  .shard = (uint32_t)below(9),
                                  .allocation_id = text(),
                                  .term = 1 + below(9),
                                  .max_seq_no = (int64_t)below(99),
                                  .retain_from = number(),
                                  .mapping_version = rng_u64(&rng),
                                  .refresh = (enum refresh_policy)below(REFRESH_WAIT + 1),
                                  .last = flip(),
                                  .n = below(4)};
    m->bytes = operations(m->n);
}

static void make_replicate_answer(void *of)
{
    *(struct replication_answer *)of = (struct replication_answer){(int64_t)below(9), 9, (int64_t)below(9)};
}
#define make_resync                   make_replicate
#define make_resync_answer            make_replicate_answer
#define make_global_checkpoint        make_replicate
#define make_global_checkpoint_answer make_replicate_answer

/* ---- recovery ------------------------------------------------------------------------------------------ */

static void make_bytes(void *of)
{
    *(struct str *)of = text();
}

static void make_recovery_start(void *of)
{
    *(struct recovery_start *)of =
        (struct recovery_start){text(), (uint32_t)below(9), STR("copy"), STR("node"), text(), number()};
}

static void make_recovery_start_answer(void *of)
{
    *(struct recovery_plan *)of =
        (struct recovery_plan){rng_u64(&rng), 1 + below(INT64_MAX), number(), text(), rng_u64(&rng)};
}

static void make_recovery_chunk(void *of)
{
    *(struct recovery_chunk *)of = (struct recovery_chunk){below(99), (uint32_t)below(99), rng_u64(&rng),
                                                           (uint32_t)(1 + below(TRANSPORT_CHUNK_BYTES))};
}
#define make_recovery_chunk_answer make_bytes

#define make_recovery_clean        make_number
#define make_recovery_clean_answer make_nothing

static void make_recovery_ops(void *of)
{
    *(struct recovery_ops_wish *)of = (struct recovery_ops_wish){below(99), rng_u64(&rng)};
}

static void make_recovery_ops_answer(void *of)
{
    struct str ops = text();
    *(struct recovery_ops *)of =
        (struct recovery_ops){below(99), below(ops.n + 1), rng_u64(&rng), flip(), rng_u64(&rng), ops};
}

static void make_recovery_finalize(void *of)
{
    *(struct recovery_finalize *)of = (struct recovery_finalize){below(99), number()};
}

static void make_recovery_finalize_answer(void *of)
{
    *(struct recovery_finalized *)of = (struct recovery_finalized){flip(), number()};
}

#define make_recovery_handoff make_number
static void make_recovery_handoff_answer(void *of)
{
    struct recovery_handoff *h = of;
    h->global_checkpoint = number();
    h->v = ARENA_ARRAY(&arena, struct recovery_copy, h->n = below(4));
    for (size_t i = 0; i < h->n; i++) {
        h->v[i] = (struct recovery_copy){text(), number(), flip()};
    }
}

/* ---- questions to nodes -------------------------------------------------------------------------------- */

static void make_node_info(void *of)
{
    *(struct node_info_question *)of = (struct node_info_question){(unsigned)below(256), flip(), flip()};
}
#define make_node_info_answer make_bytes

static void make_node_stats(void *of)
{
    struct node_stats_question *q = of;
    q->kind = (enum node_stats_kind)below(NODE_STATS_HOT_THREADS + 1);
    if (q->kind == NODE_STATS_JSON) {
        *q = (struct node_stats_question){
            .metrics = (unsigned)below(9999), .by_index = flip(), .human = flip()};
    } else if (q->kind == NODE_STATS_HOT_THREADS) {
        q->interval_ms = (int64_t)below(HOT_THREADS_INTERVAL_MS_MAX + 1);
        q->threads = (int32_t)below(INT32_MAX);
        q->ignore_idle = flip();
    }
}
#define make_node_stats_answer make_bytes

static void make_tasks(void *of)
{
    *(struct tasks_question *)of = (struct tasks_question){.actions = text(),
                                                           .parent_node = text(),
                                                           .id = rng_u64(&rng),
                                                           .parent = below(99),
                                                           .asker = text(),
                                                           .asking = below(99),
                                                           .detailed = flip(),
                                                           .wait = flip(),
                                                           .cancel = flip(),
                                                           .rethrottle = flip(),
                                                           .per_second = 2.5F,
                                                           .timeout_ms = number()};
}

static void make_tasks_answer(void *of)
{
    struct tasks_found *f = of;
    f->n = below(4);
    f->v = ARENA_ARRAY(&arena, struct listed, f->n);
    f->found = flip();
    f->timed_out = flip();
    f->refusal = (enum tasks_refusal)below(TASKS_NOT_THROTTLED + 1);
    for (size_t i = 0; i < f->n; i++) {
        f->v[i] = (struct listed){.id = rng_u64(&rng),
                                  .parent = below(99),
                                  .parent_node = opt_text(),
                                  .start_ms = number(),
                                  .running_ns = number(),
                                  .json = text(),
                                  .type = text(),
                                  .action = text(),
                                  .description = opt_text(),
                                  .opaque_id = opt_text()};
    }
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static const struct {
    const struct message *message;
    void (*make)(void *of), (*make_answer)(void *of);
} cases[] = {
#define CASE(NAME, name, number) {&message_##name, make_##name, make_##name##_answer},
    MESSAGE_LIST(CASE)};

/* What reads can be written. The bytes end where their memory does, for what watches. */
static void read_damaged(const struct codec *c, const char *p, size_t n)
{
    char *copy = malloc(n + (n == 0));
    void *of = malloc(c->size + 1);
    struct arena a;
    struct buf out;
    memcpy(copy, p, n);
    arena_init(&a, NULL, MIB);
    buf_init(&out, NULL, MIB);
    if (codec_read(c, of, str_mk(copy, n), &a)) {
        c->encode(of, &out);
    }
    buf_fini(&out);
    arena_fini(&a);
    free(of);
    free(copy);
}

static void damage(const struct codec *c, struct buf *b)
{
    for (size_t n = 0; n < b->n; n++) {
        read_damaged(c, b->p, n);
    }
    for (size_t i = 0; i < b->n; i++) {
        char was = b->p[i];
        b->p[i] = (char)(was ^ (char)(1U << below(8)));
        read_damaged(c, b->p, b->n);
        b->p[i] = was;
    }
}

static void there_and_back(const struct codec *c, void (*make)(void *of))
{
    void *in = calloc(1, c->size + 1), *out = malloc(c->size + 1);
    struct buf first, second;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    buf_init(&first, NULL, MIB);
    buf_init(&second, NULL, MIB);
    make(in);
    c->encode(in, &first);
    ck_assert(!first.failed && codec_read(c, out, buf_view(&first), &arena));
    c->encode(out, &second);
    ck_assert(str_eq(buf_view(&first), buf_view(&second)));
    damage(c, &first);
    buf_char(&first, 0);
    bool to_the_end = c == &codec_bytes || c == message_recovery_ops.answer; /* of the bytes, however many */
    ck_assert(to_the_end || !codec_read(c, out, buf_view(&first), &arena));
    buf_fini(&first);
    buf_fini(&second);
    arena_fini(&arena);
    free(in);
    free(out);
}

START_TEST(bytes)
{
    rng_seed(&rng, (uint64_t)_i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        there_and_back(cases[_i].message->request, cases[_i].make);
        there_and_back(cases[_i].message->answer, cases[_i].make_answer);
    }
}
END_TEST

START_TEST(rows)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct message *m = cases[i].message;
        ck_assert(m->action != NULL && m->lane < TRANSPORT_CLASSES && m->pool < MESSAGE_POOLS);
        for (size_t k = 0; k < i; k++) {
            ck_assert_msg(cases[k].message->kind != m->kind, "[%s] has the number of another one", m->action);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("messages");
    TCase *c = tcase_create("all");
    tcase_add_test(c, rows);
    tcase_add_loop_test(c, bytes, 0, (int)ARRAY_LEN(cases));
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
