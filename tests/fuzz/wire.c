/* What another node sends: frames, and the messages inside them. */
#include "tests/fuzz/fuzz.h"

#include "common/cluster/state.h"
#include "data/replication/op_bytes.h"
#include "data/shard/copy_data.h"
#include "engine/search/search.h"
#include "master/state_pack.h"
#include "proto/err_bytes.h"
#include "proto/frame.h"
#include "proto/json_bytes.h"
#include "proto/message.h"
#include "proto/shard_ops.h"

#include <stdlib.h>

static void one_frame(struct str in)
{
    struct frame f;
    ERR_LOCAL(em);
    struct buf b;
    enum err e = frame_decode(&f, in, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        buf_init(&b, NULL, FUZZ_ARENA_BYTES);
        frame_encode(&f, &b);
        FUZZ_HOLDS(b.failed || str_eq(buf_view(&b), in));
        buf_fini(&b);
    }
}

static void never(struct shard_rq *rq)
{
    (void)rq;
}

#define ARRAY_MAX 3 /* items, or documents, of a request whose answer is read */

/* The struct of any operation on a shard. */
union any_rq {
    struct shard_rq rq;
#define MEMBER(name, type) struct type name;
    SHARD_OPS(MEMBER)
#undef MEMBER
};

/* A request, or an answer into the request that asked, is read, and what was read is written. Some answers fill arrays of
 * the one who asked. */
static void shard_message(const struct shard_op *op, bool answer, struct str in)
{
    static struct write_item items[ARRAY_MAX];
    static struct top_doc docs[ARRAY_MAX];
    union any_rq any;
    struct bytes_in b = bytes_in(in);
    struct buf out;
    memset(&any, 0, sizeof(any));
    shard_rq_init(&any.rq, op, never, NULL);
    if (answer && op == &shard_op_write) {
        memset(items, 0, sizeof(items));
        any.write.items = items;
        any.write.n = ARRAY_MAX;
    } else if (answer && op == &shard_op_fetch) {
        any.fetch.docs = docs;
        any.fetch.n = ARRAY_MAX;
    }
    (answer ? op->decode_answer : op->decode)(&any.rq, &b);
    if (!b.bad) {
        buf_init(&out, NULL, FUZZ_ARENA_BYTES);
        (answer ? op->encode_answer : op->encode)(&any.rq, &out);
        buf_fini(&out);
    }
    shard_rq_fini(&any.rq);
}

#define SHARD_MESSAGE(name, type)                    \
    static void shard_##name(struct str in)          \
    {                                                \
        shard_message(&shard_op_##name, false, in);  \
    }                                                \
    static void shard_##name##_answer(struct str in) \
    {                                                \
        shard_message(&shard_op_##name, true, in);   \
    }
SHARD_OPS(SHARD_MESSAGE)

static void operation(struct str in)
{
    struct engine_op op;
    struct bytes_in b = bytes_in(in);
    struct buf out;
    op_decode(&op, &b);
    if (!b.bad) {
        buf_init(&out, NULL, FUZZ_ARENA_BYTES);
        op_encode(&op, &out);
        buf_fini(&out);
    }
}

static void packed_state(struct str in)
{
    struct arena a;
    struct str out;
    ERR_LOCAL(em);
    fuzz_arena(&a);
    fuzz_error(state_unpack(&out, in, &a, &em), &em);
    arena_fini(&a);
}

static void state(struct str in)
{
    struct cluster_state *s;
    ERR_LOCAL(em);
    struct buf b;
    enum err e = cluster_state_decode(&s, in, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        buf_init(&b, NULL, FUZZ_ARENA_BYTES);
        cluster_state_encode(s, &b);
        buf_fini(&b);
        cluster_state_unref(s);
    }
}

/* What reads is written. */
static void read_as(const struct codec *c, struct str in)
{
    void *of = malloc(c->size + 1);
    struct arena a;
    struct buf out;
    fuzz_arena(&a);
    buf_init(&out, NULL, FUZZ_ARENA_BYTES);
    if (codec_read(c, of, in, &a)) {
        c->encode(of, &out);
    }
    buf_fini(&out);
    arena_fini(&a);
    free(of);
}

#define MESSAGE_READ(NAME, name, number)            \
    static void read_##name(struct str in)          \
    {                                               \
        read_as(message_##name.request, in);        \
    }                                               \
    static void read_##name##_answer(struct str in) \
    {                                               \
        read_as(message_##name.answer, in);         \
    }
MESSAGE_LIST(MESSAGE_READ)

static void copy_data(struct str in)
{
    struct copy_data d;
    ERR_LOCAL(em);
    fuzz_error(copy_data_decode(&d, in, &em), &em);
}

static void error(struct str in)
{
    ERR_LOCAL(em);
    struct bytes_in b = bytes_in(in);
    errmsg_decode(&em, &b);
    if (err_is(&em)) {
        fuzz_error(err_code(&em), &em);
    }
}

static void json_value(struct str in)
{
    struct arena a;
    struct json v;
    struct str text;
    struct bytes_in b = bytes_in(in);
    fuzz_arena(&a);
    json_value_decode(&v, &text, &b, &a);
    arena_fini(&a);
}

static void result(struct str in)
{
    struct arena a;
    struct query_result r;
    ERR_LOCAL(em);
    fuzz_arena(&a);
    fuzz_error(query_result_decode(&r, in, &a, &em), &em);
    arena_fini(&a);
}

/* The first byte picks the message. */
static void one_message(struct str in)
{
#define BOTH(name, type)          shard_##name, shard_##name##_answer,
#define READS(NAME, name, number) read_##name, read_##name##_answer,
    static void (*const kinds[])(struct str) = {
        SHARD_OPS(BOTH) MESSAGE_LIST(READS) operation, packed_state, copy_data, error, json_value, result};
    if (in.n > 0) {
        struct str rest = fuzz_copy(str_mk(in.p + 1, in.n - 1));
        kinds[(uint8_t)in.p[0] % ARRAY_LEN(kinds)](rest);
        free((void *)(uintptr_t)rest.p);
    }
}

const struct fuzz_target fuzz_wire[] = {
    {"frame", one_frame, NULL, FUZZ_BYTES},
    {"message", one_message, NULL, FUZZ_BYTES},
    {"state", state, NULL, FUZZ_BYTES},
    {0},
};
