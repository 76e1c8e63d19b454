#include "proto/err_bytes.h"
#include "proto/json_bytes.h"
#include "proto/message.h"
#include "proto/shard_bytes.h"

#define ITEM_BYTES_MIN 14 /* what an item takes at least */

static void put_item(struct buf *b, const struct write_item *it)
{
    put_u8(b, (uint8_t)it->kind);
    PUT_FLAGS(b, it->create, it->doc_as_upsert, it->want_get, it->get_filter != NULL, it->reroutes);
    put_opt_str(b, it->id);
    put_opt_str(b, it->routing);
    put_str(b, it->type);
    put_str(b, it->source);
    put_zigzag(b, it->auto_id_ms);
    put_varint(b, it->op_counter);
    put_zigzag(b, it->version);
    put_varint(b, (uint64_t)it->version_type);
    put_zigzag(b, it->if_seq_no);
    put_zigzag(b, it->if_primary_term);
    put_zigzag(b, it->retry_on_conflict);
    if (it->get_filter != NULL) {
        json_value_encode(it->get_filter, STR(""), b);
    }
}

static void get_item(struct bytes_in *in, struct write_item *it, struct arena *a)
{
    it->kind = (enum write_kind)get_below(in, WRITE_UPDATE + 1);
    uint32_t flags = get_flags(in, 5);
    it->create = (flags & 1) != 0;
    it->doc_as_upsert = (flags & 2) != 0;
    it->want_get = (flags & 4) != 0;
    it->reroutes = (flags & 16) != 0;
    it->id = get_opt_str(in);
    it->routing = get_opt_str(in);
    it->type = get_str(in);
    it->source = get_str(in);
    it->auto_id_ms = get_zigzag(in);
    it->op_counter = get_varint(in);
    it->version = get_zigzag(in);
    it->version_type = (int)get_below(in, 3); /* enum version_type */
    it->if_seq_no = get_zigzag(in);
    it->if_primary_term = get_zigzag(in);
    int64_t tries = get_zigzag(in);
    in->bad |= tries < INT32_MIN || tries > INT32_MAX;
    it->retry_on_conflict = in->bad ? 0 : (int32_t)tries;
    if ((flags & 8) != 0 && !in->bad) {
        struct str text;
        struct json *filter = ARENA_NEW(a, struct json);
        in->bad |= filter == NULL;
        if (filter != NULL) {
            json_value_decode(filter, &text, in, a);
        }
        it->get_filter = filter;
    }
}

static void write_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_write *rq = CONST_SHARD_RQ(of, shard_write);
    put_shard_ref(out, &rq->rq.shard);
    put_u8(out, (uint8_t)rq->refresh);
    put_zigzag(out, rq->timeout_ms);
    put_u64(out, rq->op_session);
    put_varint(out, rq->settled_below);
    put_bool(out, rq->retry);
    errmsg_encode(&rq->inactive, out);
    put_varint(out, rq->n);
    for (uint32_t i = 0; i < rq->n; i++) {
        put_item(out, &rq->items[i]);
    }
}

static void write_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_write *rq = SHARD_RQ(of, shard_write);
    get_shard_ref(in, &rq->rq.shard);
    rq->refresh = (enum refresh_policy)get_below(in, REFRESH_CHANGED + 1);
    rq->timeout_ms = get_zigzag(in);
    rq->op_session = get_u64(in);
    rq->settled_below = get_varint(in);
    rq->retry = get_bool(in);
    rq->inactive = err_in(&rq->rq.arena);
    errmsg_decode(&rq->inactive, in);
    size_t n = get_count(in, ITEM_BYTES_MIN);
    rq->items = in->bad ? NULL : ARENA_ARRAY(&rq->rq.arena, struct write_item, n);
    in->bad |= rq->items == NULL;
    rq->n = 0;
    for (size_t i = 0; i < n && !in->bad; i++) {
        get_item(in, &rq->items[rq->n++], &rq->rq.arena);
    }
}

static void write_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_write *rq = CONST_SHARD_RQ(of, shard_write);
    errmsg_encode(&rq->rq.error, out);
    put_bool(out, rq->forced_refresh);
    if (err_is(&rq->rq.error)) {
        return;
    }
    put_varint(out, rq->copies_ok);
    put_varint(out, rq->copies_failed);
    put_varint(out, rq->mapping_version);
    put_varint(out, rq->n);
    for (uint32_t i = 0; i < rq->n; i++) {
        const struct write_item *it = &rq->items[i];
        put_u8(out, (uint8_t)(it->outcome | (it->error != NULL ? 0x80U : 0U)));
        put_zigzag(out, it->seq_no);
        put_zigzag(out, it->primary_term);
        put_zigzag(out, it->result_version);
        put_opt_str(out, it->get);
        if (it->error != NULL) {
            errmsg_encode(it->error, out);
        }
    }
}

static void get_result(struct bytes_in *in, struct write_item *it, struct arena *a)
{
    uint8_t head = get_u8(in);
    in->bad |= (head & 0x7F) > WRITE_NOOP;
    it->outcome = in->bad ? WRITE_NOOP : (enum write_outcome)(head & 0x7F);
    it->seq_no = get_zigzag(in);
    it->primary_term = get_zigzag(in);
    it->result_version = get_zigzag(in);
    it->get = get_opt_str(in);
    it->error = NULL;
    if ((head & 0x80) != 0 && !in->bad) {
        it->error = ARENA_NEW(a, struct errmsg);
        in->bad |= it->error == NULL;
        if (it->error != NULL) {
            *it->error = err_in(a);
            errmsg_decode(it->error, in);
        }
    }
}

static void write_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_write *rq = SHARD_RQ(of, shard_write);
    errmsg_decode(&rq->rq.error, in);
    rq->forced_refresh = get_bool(in);
    if (in->bad || err_is(&rq->rq.error)) {
        return;
    }
    rq->copies_ok = (uint32_t)get_varint(in);
    rq->copies_failed = (uint32_t)get_varint(in);
    rq->mapping_version = get_varint(in);
    in->bad |= get_varint(in) != rq->n;
    for (uint32_t i = 0; i < rq->n && !in->bad; i++) {
        get_result(in, &rq->items[i], &rq->rq.arena);
    }
}

static int64_t write_timeout_ms(const struct shard_rq *of)
{
    return MAX_OF(CONST_SHARD_RQ(of, shard_write)->timeout_ms, (int64_t)1000);
}

static void write_describe(const struct shard_rq *of, struct buf *out)
{
    const struct shard_write *rq = CONST_SHARD_RQ(of, shard_write);
    buf_printf(out, "requests[%u], index[%.*s][%u]", rq->n, STR_ARG(of->shard.index), of->shard.shard);
    if (rq->refresh != REFRESH_NONE) {
        buf_printf(out, ", refresh[%s]", rq->refresh == REFRESH_WAIT ? "WAIT_UNTIL" : "IMMEDIATE");
    }
}

static void write_status(struct jsonw *w)
{
    jw_obj(w);
    jw_kz(w, "phase", "primary");
    jw_obj_end(w);
}

const struct shard_op shard_op_write = {
    .id = SHARD_OP_write,
    .kind = MESSAGE_SHARD_WRITE,
    .size = sizeof(struct shard_write),
    .write_pool = true,
    .timeout_of = write_timeout_ms,
    .encode = write_encode,
    .decode = write_decode,
    .encode_answer = write_answer_encode,
    .decode_answer = write_answer_decode,
    .action = "indices:data/write/bulk[s][p]",
    .describe = write_describe,
    .status = write_status,
};
