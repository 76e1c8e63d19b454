/* Operations as bytes, of every kind and with every part that may be absent. */
#include "common/base/rand.h"
#include "data/replication/replication_bytes.h"

#include <check.h>
#include <stdlib.h>

static struct rng rng;
static char text[700];

static struct str some(size_t max)
{
    return str_mk(text, (size_t)rng_below(&rng, max + 1));
}

static struct engine_op random_op(void)
{
    struct engine_op op = ENGINE_OP_INIT;
    op.kind = (enum engine_op_kind)(1 + rng_below(&rng, 3));
    op.seq_no = (int64_t)rng_below(&rng, 1ULL << 40);
    op.primary_term = 1 + (int64_t)rng_below(&rng, 100);
    op.version = (int64_t)rng_below(&rng, 1000) - 1;
    op.mapping_version = rng_below(&rng, 1000);
    op.auto_id_ms = (int64_t)rng_below(&rng, 1000) - 1;
    op.retry = rng_below(&rng, 2) == 0;
    op.outcome = (enum engine_outcome)rng_below(&rng, OUTCOME_NOOP + 1);
    if (op.kind == OP_NOOP) {
        op.reason = some(20);
    } else {
        op.id = str_mk(text, 1 + (size_t)rng_below(&rng, rng_below(&rng, 2) == 0 ? 2 : 512));
    }
    if (rng_below(&rng, 2) == 0) {
        op.op_id = (struct op_id){1 + rng_u64(&rng) / 2, rng_below(&rng, 1000)};
        op.settled_below = rng_below(&rng, 1000);
    }
    if (op.kind == OP_INDEX) {
        op.source = some(600);
        op.routing = rng_below(&rng, 2) == 0 ? some(10) : STR_NULL;
    }
    return op;
}

static void check_same(const struct engine_op *a, const struct engine_op *o)
{
    ck_assert(a->kind == o->kind && a->seq_no == o->seq_no && a->primary_term == o->primary_term
              && a->version == o->version && a->mapping_version == o->mapping_version
              && a->auto_id_ms == o->auto_id_ms && a->retry == o->retry && a->outcome == o->outcome);
    ck_assert(str_eq(a->id, o->id) && str_eq(a->reason, o->reason) && str_eq(a->source, o->source)
              && str_eq(a->routing, o->routing) && (a->routing.p == NULL) == (o->routing.p == NULL));
    ck_assert(a->op_id.session == o->op_id.session && a->op_id.counter == o->op_id.counter
              && a->settled_below == o->settled_below);
}

START_TEST(there_and_back)
{
    static struct engine_op ops[40];
    struct buf b;
    rng_seed(&rng, (uint64_t)_i);
    memset(text, 'x', sizeof(text));
    buf_init(&b, NULL, BUF_UNLIMITED);
    size_t n = 1 + (size_t)rng_below(&rng, 40);
    put_varint(&b, n);
    for (size_t i = 0; i < n; i++) {
        size_t at = b.n;
        ops[i] = random_op();
        op_encode(&ops[i], &b);
        ck_assert_uint_ge(b.n - at, OP_BYTES_MIN);
    }
    struct bytes_in in = bytes_in(buf_view(&b));
    ck_assert_uint_eq(get_count(&in, OP_BYTES_MIN), n);
    for (size_t i = 0; i < n; i++) {
        struct engine_op op;
        op_decode(&op, &in);
        ck_assert(!in.bad);
        check_same(&ops[i], &op);
    }
    ck_assert_uint_eq(bytes_left(&in), 0);
    for (unsigned k = 0; k < 500; k++) { /* damaged, or cut short */
        size_t to = (size_t)rng_below(&rng, b.n + 1);
        char *copy = malloc(to + 1);
        memcpy(copy, b.p, to);
        if (to > 0) {
            copy[rng_below(&rng, to)] ^= (char)(1 << rng_below(&rng, 8));
        }
        in = bytes_in(str_mk(copy, to));
        for (size_t i = get_count(&in, OP_BYTES_MIN); i > 0 && !in.bad; i--) {
            struct engine_op op;
            op_decode(&op, &in);
            ck_assert(in.bad || (op.seq_no >= 0 && op.primary_term > 0 && op.outcome <= OUTCOME_NOOP));
        }
        free(copy);
    }
    buf_fini(&b);
}
END_TEST

static bool reads_op(int64_t seq_no)
{
    struct engine_op op = ENGINE_OP_INIT, got;
    struct buf b;
    op.kind = OP_DELETE;
    op.id = STR("x");
    op.seq_no = seq_no;
    op.primary_term = 1;
    buf_init(&b, NULL, BUF_UNLIMITED);
    op_encode(&op, &b);
    struct bytes_in in = bytes_in(buf_view(&b));
    op_decode(&got, &in);
    buf_fini(&b);
    return !in.bad;
}

static bool reads_msg(int64_t global_checkpoint, int64_t max_seq_no)
{
    struct replication_msg m = {.uuid = STR("i"),
                                .allocation_id = STR("a"),
                                .term = 1,
                                .global_checkpoint = global_checkpoint,
                                .max_seq_no = max_seq_no},
                           got;
    struct arena a;
    struct buf b;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    message_replicate.request->encode(&m, &b);
    bool ok = codec_read(message_replicate.request, &got, buf_view(&b), &a);
    buf_fini(&b);
    arena_fini(&a);
    return ok;
}

static bool reads_answer(int64_t max_seq_no, int64_t global_checkpoint)
{
    struct replication_answer r = {SEQ_NONE, max_seq_no, global_checkpoint}, got;
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    message_replicate.answer->encode(&r, &b);
    bool ok = codec_read(message_replicate.answer, &got, buf_view(&b), NULL);
    buf_fini(&b);
    return ok;
}

/* Who gets a number adds one to it, and takes others from it. */
START_TEST(numbers_have_a_next)
{
    ck_assert(reads_op(OP_SEQ_NO_MAX) && !reads_op(OP_SEQ_NO_MAX + 1));
    ck_assert(reads_msg(SEQ_NONE, SEQ_NONE) && reads_msg(OP_SEQ_NO_MAX, OP_SEQ_NO_MAX));
    ck_assert(!reads_msg(0, OP_SEQ_NO_MAX + 1) && !reads_msg(6, 5));
    ck_assert(reads_answer(SEQ_NONE, SEQ_NONE) && reads_answer(OP_SEQ_NO_MAX, OP_SEQ_NO_MAX));
    ck_assert(!reads_answer(OP_SEQ_NO_MAX + 1, 0) && !reads_answer(5, 6));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("op_bytes");
    TCase *c = tcase_create("all");
    tcase_add_test(c, numbers_have_a_next);
    tcase_add_loop_test(c, there_and_back, 0, 20);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
