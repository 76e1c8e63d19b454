/* Reading one document, and looking into one query. */
#include "proto/err_bytes.h"
#include "proto/json_bytes.h"
#include "proto/shard_bytes.h"

void shard_get_encode(const struct shard_get *rq, struct buf *out)
{
    put_shard_ref(out, &rq->rq.shard);
    put_str(out, rq->id);
    PUT_FLAGS(out, rq->realtime, rq->refresh, rq->want_source);
    put_strs(out, rq->stored_fields, rq->n_stored_fields);
}

void shard_get_decode(struct shard_get *rq, struct bytes_in *in)
{
    get_shard_ref(in, &rq->rq.shard);
    rq->id = get_str(in);
    uint32_t flags = get_flags(in, 3);
    rq->realtime = (flags & 1) != 0;
    rq->refresh = (flags & 2) != 0;
    rq->want_source = (flags & 4) != 0;
    rq->stored_fields = get_strs(in, &rq->n_stored_fields, &rq->rq.arena);
}

void shard_get_answer_encode(const struct shard_get *rq, struct buf *out)
{
    errmsg_encode(&rq->rq.error, out);
    if (rq->rq.error.n > 0) {
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

void shard_get_answer_decode(struct shard_get *rq, struct bytes_in *in)
{
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || rq->rq.error.n > 0) {
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

void shard_explain_encode(const struct shard_explain *rq, struct buf *out)
{
    put_shard_ref(out, &rq->rq.shard);
    PUT_FLAGS(out, rq->want_source, rq->rewritten, rq->query != NULL);
    put_opt_str(out, rq->id);
    put_strs(out, rq->alias_filters, rq->n_alias_filters);
    put_zigzag(out, rq->now_ms);
    if (rq->query != NULL) {
        json_value_encode(rq->query, rq->text, out);
    }
}

void shard_explain_decode(struct shard_explain *rq, struct bytes_in *in)
{
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

void shard_explain_answer_encode(const struct shard_explain *rq, struct buf *out)
{
    errmsg_encode(&rq->rq.error, out);
    if (rq->rq.error.n > 0) {
        return;
    }
    PUT_FLAGS(out, rq->found, rq->matched);
    put_opt_str(out, rq->explanation);
    put_opt_str(out, rq->printed);
    put_zigzag(out, rq->seq_no);
    put_zigzag(out, rq->primary_term);
    put_opt_str(out, rq->source);
}

void shard_explain_answer_decode(struct shard_explain *rq, struct bytes_in *in)
{
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || rq->rq.error.n > 0) {
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
