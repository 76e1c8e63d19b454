/* Reading one document, and looking into one query. */
#include "proto/err_bytes.h"
#include "proto/json_bytes.h"
#include "proto/message.h"
#include "proto/shard_bytes.h"

static void get_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_get *rq = CONST_SHARD_RQ(of, shard_get);
    put_shard_ref(out, &rq->rq.shard);
    put_str(out, rq->id);
    PUT_FLAGS(out, rq->realtime, rq->refresh, rq->want_source);
    put_strs(out, rq->stored_fields, rq->n_stored_fields);
}

static void get_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_get *rq = SHARD_RQ(of, shard_get);
    get_shard_ref(in, &rq->rq.shard);
    rq->id = get_str(in);
    uint32_t flags = get_flags(in, 3);
    rq->realtime = (flags & 1) != 0;
    rq->refresh = (flags & 2) != 0;
    rq->want_source = (flags & 4) != 0;
    rq->stored_fields = get_strs(in, &rq->n_stored_fields, &rq->rq.arena);
}

static void get_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_get *rq = CONST_SHARD_RQ(of, shard_get);
    errmsg_encode(&rq->rq.error, out);
    if (err_is(&rq->rq.error)) {
        return;
    }
    put_bool(out, rq->found);
    put_zigzag(out, rq->version);
    put_zigzag(out, rq->seq_no);
    put_zigzag(out, rq->primary_term);
    put_opt_str(out, rq->source);
    put_opt_str(out, rq->routing);
    put_opt_str(out, rq->fields);
    put_strs(out, rq->ignored, rq->n_ignored);
}

static void get_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_get *rq = SHARD_RQ(of, shard_get);
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || err_is(&rq->rq.error)) {
        return;
    }
    rq->found = get_bool(in);
    rq->version = get_zigzag(in);
    rq->seq_no = get_zigzag(in);
    rq->primary_term = get_zigzag(in);
    rq->source = get_opt_str(in);
    rq->routing = get_opt_str(in);
    rq->fields = get_opt_str(in);
    rq->ignored = get_strs(in, &rq->n_ignored, &rq->rq.arena);
}

static void get_reset(struct shard_rq *of)
{
    struct shard_get *rq = SHARD_RQ(of, shard_get);
    rq->found = false;
    rq->fields = STR_NULL;
    rq->n_ignored = 0;
}

static void get_no_copy(struct shard_rq *of)
{
    shard_op_no_copy_of(of, "get", SHARD_RQ(of, shard_get)->id);
}

const struct shard_op shard_op_get = {
    .id = SHARD_OP_get,
    .kind = MESSAGE_SHARD_GET,
    .size = sizeof(struct shard_get),
    .write_pool = true,
    .timeout_ms = SHARD_OP_SOON_MS,
    .encode = get_encode,
    .decode = get_decode,
    .encode_answer = get_answer_encode,
    .decode_answer = get_answer_decode,
    .reset = get_reset,
    .no_copy = get_no_copy,
};

static void explain_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_explain *rq = CONST_SHARD_RQ(of, shard_explain);
    put_shard_ref(out, &rq->rq.shard);
    PUT_FLAGS(out, rq->want_source, rq->rewritten, rq->query != NULL);
    put_opt_str(out, rq->id);
    put_strs(out, rq->alias_filters, rq->n_alias_filters);
    put_zigzag(out, rq->now_ms);
    if (rq->query != NULL) {
        json_value_encode(rq->query, rq->text, out);
    }
}

static void explain_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_explain *rq = SHARD_RQ(of, shard_explain);
    get_shard_ref(in, &rq->rq.shard);
    uint32_t flags = get_flags(in, 3);
    rq->want_source = (flags & 1) != 0;
    rq->rewritten = (flags & 2) != 0;
    rq->id = get_opt_str(in);
    rq->alias_filters = get_strs(in, &rq->n_alias_filters, &rq->rq.arena);
    rq->now_ms = get_zigzag(in);
    if ((flags & 4) != 0 && !in->bad) {
        struct json *query = ARENA_NEW(&rq->rq.arena, struct json);
        in->bad |= query == NULL;
        if (query != NULL) {
            json_value_decode(query, &rq->text, in, &rq->rq.arena);
        }
        rq->query = query;
    }
}

static void explain_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_explain *rq = CONST_SHARD_RQ(of, shard_explain);
    errmsg_encode(&rq->rq.error, out);
    if (err_is(&rq->rq.error)) {
        return;
    }
    PUT_FLAGS(out, rq->found, rq->matched);
    put_opt_str(out, rq->explanation);
    put_opt_str(out, rq->printed);
    put_zigzag(out, rq->seq_no);
    put_zigzag(out, rq->primary_term);
    put_opt_str(out, rq->source);
}

static void explain_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_explain *rq = SHARD_RQ(of, shard_explain);
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || err_is(&rq->rq.error)) {
        return;
    }
    uint32_t flags = get_flags(in, 2);
    rq->found = (flags & 1) != 0;
    rq->matched = (flags & 2) != 0;
    rq->explanation = get_opt_str(in);
    rq->printed = get_opt_str(in);
    rq->seq_no = get_zigzag(in);
    rq->primary_term = get_zigzag(in);
    rq->source = get_opt_str(in);
}

static void explain_reset(struct shard_rq *of)
{
    struct shard_explain *rq = SHARD_RQ(of, shard_explain);
    rq->found = rq->matched = false;
}

static void explain_no_copy(struct shard_rq *of)
{
    shard_op_no_copy_of(of, "explain", SHARD_RQ(of, shard_explain)->id);
}

const struct shard_op shard_op_explain = {
    .id = SHARD_OP_explain,
    .kind = MESSAGE_SHARD_EXPLAIN,
    .size = sizeof(struct shard_explain),
    .timeout_ms = SHARD_OP_SOON_MS,
    .encode = explain_encode,
    .decode = explain_decode,
    .encode_answer = explain_answer_encode,
    .decode_answer = explain_answer_decode,
    .reset = explain_reset,
    .no_copy = explain_no_copy,
};
