/* Refreshes, flushes, statistics and the like. */
#include "proto/err_bytes.h"
#include "proto/flat.h"
#include "proto/shard_bytes.h"

#include <stddef.h>

#define COUNTERS (offsetof(struct shard_stats, commit_id) / sizeof(uint64_t))
/* Counters, then the commit and two lists: whoever adds something else has to say how it travels. */
_Static_assert(sizeof(struct shard_stats)
                   == COUNTERS * sizeof(uint64_t) + sizeof(struct str) + 2 * sizeof(void *)
                          + 2 * sizeof(uint32_t),
               "a member of struct shard_stats would not be sent");

#define GROUP_FIELDS(M)    \
    M(str, name)           \
    M(varint, query_total) \
    M(varint, query_ns)    \
    M(varint, fetch_total) M(varint, fetch_ns) M(varint, suggest_total) M(varint, suggest_ns)
FLAT_LIST(groups, shard_search_group, GROUP_FIELDS, 7)
#define COMPLETION_FIELDS(M) M(str, name) M(varint, bytes)
FLAT_LIST(completions, shard_field_bytes, COMPLETION_FIELDS, 2)

static void put_stats(struct buf *b, const struct shard_stats *s)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        put_zigzag(b, (int64_t)load_u64((const char *)s + i * sizeof(uint64_t)));
    }
    put_opt_str(b, s->commit_id);
    put_groups(b, s->groups, s->n_groups);
    put_completions(b, s->completions, s->n_completions);
}

static void get_stats(struct bytes_in *in, struct shard_stats *s, struct arena *arena)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        store_u64((char *)s + i * sizeof(uint64_t), (uint64_t)get_zigzag(in));
    }
    s->commit_id = get_opt_str(in);
    s->groups = get_groups(in, &s->n_groups, arena);
    s->completions = get_completions(in, &s->n_completions, arena);
}

#define RECOVERY_FIELDS(M)         \
    M(opt_str, source_node)        \
    M(opt_str, target_node)        \
    M(zigzag, start_ms)            \
    M(zigzag, stop_ms)             \
    M(zigzag, total_ms)            \
    M(zigzag, index_ms)            \
    M(zigzag, translog_ms)         \
    M(zigzag, verify_ms)           \
    M(u32_varint, files_total)     \
    M(u32_varint, files_reused)    \
    M(u32_varint, files_recovered) \
    M(varint, bytes_total)         \
    M(varint, bytes_reused)        \
    M(varint, bytes_recovered)     \
    M(zigzag, source_throttle_ms)  \
    M(zigzag, target_throttle_ms)  \
    M(varint, ops_recovered)       \
    M(varint, ops_total)           \
    M(varint, ops_total_on_start)
FLAT_PART(progress, shard_recovery, RECOVERY_FIELDS)

static void put_recovery(struct buf *b, const struct shard_recovery *r)
{
    put_u8(b, (uint8_t)r->stage);
    put_u8(b, r->source);
    PUT_FLAGS(b, r->primary, r->relocation);
    put_progress(b, r);
}

static void get_recovery(struct bytes_in *in, struct shard_recovery *r)
{
    r->stage = (enum recovery_stage)get_below(in, RECOVERY_DONE + 1);
    r->source = get_u8(in);
    uint32_t flags = get_flags(in, 2);
    r->primary = (flags & 1) != 0;
    r->relocation = (flags & 2) != 0;
    get_progress(in, r);
}

static void act_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_act *rq = CONST_SHARD_RQ(of, shard_act);
    put_shard_ref(out, &rq->rq.shard);
    put_u8(out, (uint8_t)rq->action);
    PUT_FLAGS(out, rq->force, rq->wait_if_ongoing, rq->only_expunge_deletes, rq->flush_after);
    put_zigzag(out, rq->max_segments);
}

static void act_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_act *rq = SHARD_RQ(of, shard_act);
    get_shard_ref(in, &rq->rq.shard);
    rq->action = (enum shard_action)get_below(in, SHARD_RECOVERY + 1);
    uint32_t flags = get_flags(in, 4);
    rq->force = (flags & 1) != 0;
    rq->wait_if_ongoing = (flags & 2) != 0;
    rq->only_expunge_deletes = (flags & 4) != 0;
    rq->flush_after = (flags & 8) != 0;
    int64_t most = get_zigzag(in);
    in->bad |= most < INT32_MIN || most > INT32_MAX;
    rq->max_segments = in->bad ? 0 : (int32_t)most;
}

static void act_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_act *rq = CONST_SHARD_RQ(of, shard_act);
    errmsg_encode(&rq->rq.error, out);
    put_bool(out, rq->stats != NULL);
    if (rq->stats != NULL) {
        put_stats(out, rq->stats);
    }
    put_opt_str(out, rq->segments);
    put_bool(out, rq->recovery != NULL);
    if (rq->recovery != NULL) {
        put_recovery(out, rq->recovery);
    }
}

static void act_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_act *rq = SHARD_RQ(of, shard_act);
    errmsg_decode(&rq->rq.error, in);
    if (get_bool(in) && !in->bad) {
        struct shard_stats *s = ARENA_NEW(&rq->rq.arena, struct shard_stats);
        in->bad |= s == NULL;
        if (s != NULL) {
            get_stats(in, s, &rq->rq.arena);
        }
        rq->stats = s;
    }
    rq->segments = get_opt_str(in);
    if (get_bool(in) && !in->bad) {
        struct shard_recovery *r = ARENA_NEW(&rq->rq.arena, struct shard_recovery);
        in->bad |= r == NULL;
        if (r != NULL) {
            get_recovery(in, r);
        }
        rq->recovery = r;
    }
}

const struct shard_op shard_op_act = {
    .id = SHARD_OP_act,
    .kind = MESSAGE_SHARD_ACT,
    .size = sizeof(struct shard_act),
    .exempt = true, /* statistics, or what makes room: who may ask was seen to where it was asked */
    .write_pool = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = act_encode,
    .decode = act_decode,
    .encode_answer = act_answer_encode,
    .decode_answer = act_answer_decode,
};

static void free_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_free *rq = CONST_SHARD_RQ(of, shard_free);
    put_bool(out, rq->all_scrolls);
    put_varint(out, rq->n);
    for (uint32_t i = 0; i < rq->n; i++) {
        put_varint(out, rq->contexts[i]);
    }
}

static void free_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_free *rq = SHARD_RQ(of, shard_free);
    rq->all_scrolls = get_bool(in);
    size_t n = get_count(in, 1);
    uint64_t *v = in->bad ? NULL : ARENA_ARRAY(&rq->rq.arena, uint64_t, n);
    in->bad |= v == NULL;
    rq->n = 0;
    for (size_t i = 0; i < n && !in->bad; i++) {
        v[rq->n++] = get_varint(in);
    }
    rq->contexts = v;
}

static void free_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_free *rq = CONST_SHARD_RQ(of, shard_free);
    errmsg_encode(&rq->rq.error, out);
    put_varint(out, rq->freed);
}

static void free_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_free *rq = SHARD_RQ(of, shard_free);
    errmsg_decode(&rq->rq.error, in);
    rq->freed = get_u32_varint(in);
}

const struct shard_op shard_op_free = {
    .id = SHARD_OP_free,
    .kind = MESSAGE_FREE_CONTEXTS,
    .size = sizeof(struct shard_free),
    .timeout_ms = SHARD_OP_SOON_MS,
    .encode = free_encode,
    .decode = free_decode,
    .encode_answer = free_answer_encode,
    .decode_answer = free_answer_decode,
};
