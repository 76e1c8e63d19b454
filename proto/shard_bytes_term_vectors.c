/* The terms of one document. */
#include "proto/err_bytes.h"
#include "proto/message.h"
#include "proto/shard_bytes.h"

static void put_filter(struct buf *out, const struct term_filter *f)
{
    put_zigzag(out, f->max_num_terms);
    put_zigzag(out, f->min_term_freq);
    put_zigzag(out, f->max_term_freq);
    put_zigzag(out, f->min_doc_freq);
    put_zigzag(out, f->max_doc_freq);
    put_zigzag(out, f->min_word_length);
    put_zigzag(out, f->max_word_length);
}

static int32_t get_number(struct bytes_in *in)
{
    int64_t n = get_zigzag(in);
    in->bad |= n < INT32_MIN || n > INT32_MAX;
    return in->bad ? 0 : (int32_t)n;
}

static void get_filter(struct bytes_in *in, struct term_filter *f)
{
    f->max_num_terms = get_number(in);
    f->min_term_freq = get_number(in);
    f->max_term_freq = get_number(in);
    f->min_doc_freq = get_number(in);
    f->max_doc_freq = get_number(in);
    f->min_word_length = get_number(in);
    f->max_word_length = get_number(in);
}

static void term_vectors_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_term_vectors *rq = CONST_SHARD_RQ(of, shard_term_vectors);
    const struct term_vectors_options *o = &rq->options;
    put_shard_ref(out, &rq->rq.shard);
    put_opt_str(out, rq->id);
    put_opt_str(out, rq->doc);
    put_opt_str(out, rq->routing);
    put_zigzag(out, rq->version);
    PUT_FLAGS(out, rq->realtime, o->positions, o->offsets, o->field_statistics, o->term_statistics,
              o->filtered);
    put_strs(out, o->fields, o->n_fields);
    put_strs(out, o->analyzers, o->n_analyzers);
    put_filter(out, &o->filter);
}

static void term_vectors_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_term_vectors *rq = SHARD_RQ(of, shard_term_vectors);
    struct term_vectors_options *o = &rq->options;
    get_shard_ref(in, &rq->rq.shard);
    rq->id = get_opt_str(in);
    rq->doc = get_opt_str(in);
    rq->routing = get_opt_str(in);
    rq->version = get_zigzag(in);
    uint32_t flags = get_flags(in, 6);
    rq->realtime = (flags & 1) != 0;
    o->positions = (flags & 2) != 0;
    o->offsets = (flags & 4) != 0;
    o->field_statistics = (flags & 8) != 0;
    o->term_statistics = (flags & 16) != 0;
    o->filtered = (flags & 32) != 0;
    o->fields = get_strs(in, &o->n_fields, &rq->rq.arena);
    o->analyzers = get_strs(in, &o->n_analyzers, &rq->rq.arena);
    get_filter(in, &o->filter);
}

static void term_vectors_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_term_vectors *rq = CONST_SHARD_RQ(of, shard_term_vectors);
    errmsg_encode(&rq->rq.error, out);
    if (err_is(&rq->rq.error)) {
        return;
    }
    put_bool(out, rq->found);
    put_zigzag(out, rq->found_version);
    put_opt_str(out, rq->vectors);
}

static void term_vectors_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_term_vectors *rq = SHARD_RQ(of, shard_term_vectors);
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || err_is(&rq->rq.error)) {
        return;
    }
    rq->found = get_bool(in);
    rq->found_version = get_zigzag(in);
    rq->vectors = get_opt_str(in);
}

static void term_vectors_reset(struct shard_rq *of)
{
    struct shard_term_vectors *rq = SHARD_RQ(of, shard_term_vectors);
    rq->found = false;
    rq->vectors = STR_NULL;
}

static void term_vectors_no_copy(struct shard_rq *of)
{
    const struct shard_term_vectors *rq = SHARD_RQ(of, shard_term_vectors);
    shard_op_no_copy_of(of, "TermVectorsRequest", rq->id.p != NULL ? rq->id : STR("null"));
}

const struct shard_op shard_op_term_vectors = {
    .id = SHARD_OP_term_vectors,
    .kind = MESSAGE_SHARD_TERM_VECTORS,
    .size = sizeof(struct shard_term_vectors),
    .cancellable = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = term_vectors_encode,
    .decode = term_vectors_decode,
    .encode_answer = term_vectors_answer_encode,
    .decode_answer = term_vectors_answer_decode,
    .reset = term_vectors_reset,
    .no_copy = term_vectors_no_copy,
};
