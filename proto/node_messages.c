#include "proto/node_messages.h"

/* ---- information --------------------------------------------------------------------------------------- */

#define INFO_FIELDS(M) M(u32_varint, metrics) M(bool, flat) M(bool, human)
FLAT_CODEC(info, node_info_question, INFO_FIELDS, true);
MESSAGE(NODE_INFO, node_info, "cluster:monitor/nodes/info[n]", TRANSPORT_DATA, MESSAGE_ON_READS,
        NODE_QUESTION_MS, &info_codec, &codec_bytes);

/* ---- statistics ---------------------------------------------------------------------------------------- */

static void stats_encode(const void *of, struct buf *out)
{
    const struct node_stats_question *q = of;
    put_u8(out, (uint8_t)q->kind);
    if (q->kind == NODE_STATS_JSON) {
        put_varint(out, q->metrics);
        put_varint(out, q->index_metrics);
        put_bool(out, q->by_index);
        put_bool(out, q->by_shard);
        put_bool(out, q->human);
    } else if (q->kind == NODE_STATS_HOT_THREADS) {
        put_zigzag(out, q->interval_ms);
        put_varint(out, (uint64_t)q->threads);
        put_bool(out, q->ignore_idle);
    }
}

static void stats_decode(void *of, struct bytes_in *in, UNUSED struct arena *a)
{
    struct node_stats_question *q = of;
    uint8_t kind = get_u8(in);
    in->bad |= kind > NODE_STATS_HOT_THREADS;
    q->kind = (enum node_stats_kind)kind;
    if (kind == NODE_STATS_JSON) {
        q->metrics = (unsigned)get_varint(in);
        q->index_metrics = (unsigned)get_varint(in);
        q->by_index = get_bool(in);
        q->by_shard = get_bool(in);
        q->human = get_bool(in);
    } else if (kind == NODE_STATS_HOT_THREADS) {
        q->interval_ms = get_zigzag(in);
        uint64_t threads = get_varint(in);
        q->threads = (int32_t)threads;
        q->ignore_idle = get_bool(in);
        in->bad |= q->interval_ms < 0 || q->interval_ms > HOT_THREADS_INTERVAL_MS_MAX || threads > INT32_MAX;
    }
}

static const struct codec stats_codec = {sizeof(struct node_stats_question), stats_encode, stats_decode};
MESSAGE(NODE_STATS, node_stats, "cluster:monitor/nodes/stats[n]", TRANSPORT_DATA, MESSAGE_ON_READS,
        NODE_QUESTION_MS, &stats_codec, &codec_bytes);

/* ---- tasks --------------------------------------------------------------------------------------------- */

static void tasks_encode(const void *of, struct buf *out)
{
    const struct tasks_question *q = of;
    put_str(out, q->actions);
    put_str(out, q->parent_node);
    put_varint(out, q->id);
    put_varint(out, q->parent);
    put_u8(out, (uint8_t)(q->detailed | q->wait << 1 | q->cancel << 2 | q->rethrottle << 3));
    put_f32(out, q->per_second);
    put_zigzag(out, q->timeout_ms);
    put_str(out, q->asker);
    put_varint(out, q->asking);
}

static void tasks_decode(void *of, struct bytes_in *in, UNUSED struct arena *a)
{
    struct tasks_question *q = of;
    q->actions = get_str(in);
    q->parent_node = get_str(in);
    q->id = get_varint(in);
    q->parent = get_varint(in);
    uint8_t flags = get_u8(in);
    q->detailed = (flags & 1) != 0;
    q->wait = (flags & 2) != 0;
    q->cancel = (flags & 4) != 0;
    q->rethrottle = (flags & 8) != 0;
    q->per_second = get_f32(in);
    q->timeout_ms = get_zigzag(in);
    q->asker = get_str(in);
    q->asking = get_varint(in);
}

static void found_encode(const void *of, struct buf *out)
{
    const struct tasks_found *f = of;
    put_u8(out, (uint8_t)(f->found | f->timed_out << 1));
    put_u8(out, (uint8_t)f->refusal);
    put_varint(out, f->n);
    for (size_t i = 0; i < f->n; i++) {
        const struct listed *t = &f->v[i];
        put_varint(out, t->id);
        put_varint(out, t->parent);
        put_opt(out, t->parent_node);
        put_zigzag(out, t->start_ms);
        put_zigzag(out, t->running_ns);
        put_opt(out, t->json);
        put_opt(out, t->type);
        put_opt(out, t->action);
        put_opt(out, t->description);
        put_opt(out, t->opaque_id);
    }
}

static void found_decode(void *of, struct bytes_in *in, struct arena *a)
{
    struct tasks_found *f = of;
    uint8_t flags = get_u8(in), refusal = get_u8(in);
    size_t n = get_count(in, 8);
    f->found = (flags & 1) != 0;
    f->timed_out = (flags & 2) != 0;
    in->bad |= refusal > TASKS_NOT_THROTTLED;
    f->refusal = (enum tasks_refusal)refusal;
    f->v = in->bad ? NULL : ARENA_ARRAY(a, struct listed, n);
    in->bad |= f->v == NULL;
    while (f->n < n && !in->bad) {
        struct listed *t = &f->v[f->n++];
        t->id = get_varint(in);
        t->parent = get_varint(in);
        t->parent_node = get_opt(in);
        t->start_ms = get_zigzag(in);
        t->running_ns = get_zigzag(in);
        t->json = get_opt(in);
        t->type = get_opt(in);
        t->action = get_opt(in);
        t->description = get_opt(in);
        t->opaque_id = get_opt(in);
        in->bad |= t->json.p == NULL || t->type.p == NULL || t->action.p == NULL;
    }
}

static const struct codec tasks_codec = {sizeof(struct tasks_question), tasks_encode, tasks_decode},
                          found_codec = {sizeof(struct tasks_found), found_encode, found_decode};
MESSAGE(TASKS, tasks, "cluster:monitor/tasks/lists[n]", TRANSPORT_DATA, MESSAGE_ON_READS, NODE_QUESTION_MS,
        &tasks_codec, &found_codec);
