/* The query and fetch phases. */
#include "engine/search/search.h"
#include "proto/err_bytes.h"
#include "proto/json_bytes.h"
#include "proto/shard_bytes.h"
#include "proto/transport.h"

/* ---- statistics of terms ------------------------------------------------------------------------------- */

#define DFS_TERM_BYTES_MIN  4
#define DFS_FIELD_BYTES_MIN 5

static void put_dfs(struct buf *b, const struct dfs_stats *d)
{
    put_varint(b, d->n_terms);
    for (uint32_t i = 0; i < d->n_terms; i++) {
        put_str(b, d->terms[i].field);
        put_str(b, d->terms[i].term);
        put_zigzag(b, d->terms[i].doc_freq);
        put_zigzag(b, d->terms[i].total_freq);
    }
    put_varint(b, d->n_fields);
    for (uint32_t i = 0; i < d->n_fields; i++) {
        put_str(b, d->fields[i].field);
        put_zigzag(b, d->fields[i].max_doc);
        put_zigzag(b, d->fields[i].doc_count);
        put_zigzag(b, d->fields[i].sum_df);
        put_zigzag(b, d->fields[i].sum_ttf);
    }
}

static void get_dfs(struct bytes_in *in, struct dfs_stats *d, struct arena *a)
{
    size_t n = get_count(in, DFS_TERM_BYTES_MIN);
    *d = (struct dfs_stats){.terms = ARENA_ARRAY(a, struct dfs_term, n)};
    in->bad |= d->terms == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct dfs_term *t = &d->terms[d->n_terms++];
        t->field = get_str(in);
        t->term = get_str(in);
        t->doc_freq = get_zigzag(in);
        t->total_freq = get_zigzag(in);
    }
    n = get_count(in, DFS_FIELD_BYTES_MIN);
    d->fields = ARENA_ARRAY(a, struct dfs_field, n);
    in->bad |= d->fields == NULL;
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct dfs_field *f = &d->fields[d->n_fields++];
        f->field = get_str(in);
        f->max_doc = get_zigzag(in);
        f->doc_count = get_zigzag(in);
        f->sum_df = get_zigzag(in);
        f->sum_ttf = get_zigzag(in);
    }
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

static void put_body(struct buf *b, struct str body, const struct json *tree)
{
    put_bool(b, tree != NULL);
    if (tree != NULL) {
        json_value_encode(tree, body, b);
    } else {
        put_str(b, body);
    }
}

static struct str get_body(struct bytes_in *in, const struct json **tree, struct arena *a)
{
    struct str body = STR_NULL;
    if (!get_bool(in)) {
        return get_str(in);
    }
    struct json *v = ARENA_NEW(a, struct json);
    in->bad |= v == NULL;
    if (v != NULL) {
        json_value_decode(v, &body, in, a);
    }
    *tree = v;
    return body;
}

/* ---- query --------------------------------------------------------------------------------------------- */

enum {
    Q_SCROLL = 1,
    Q_FETCH = 2,
    Q_KEEP = 4,
    Q_NEXT_PAGE = 8,
    Q_DFS_ONLY = 16,
    Q_DFS = 32,
    Q_REFUSE = 64,
    Q_ADAPTED = 128,
    Q_CAN_MATCH = 256
};

static void query_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_query *rq = CONST_SHARD_RQ(of, shard_query);
    /* The parsed form may say what the text does not: it was adapted to other parts of the request. */
    bool adapted = rq->source != NULL || rq->adapted;
    put_shard_ref(out, &rq->rq.shard);
    PUT_FLAGS(out, rq->scroll, rq->fetch, rq->keep, rq->next_page, rq->dfs_only, rq->dfs != NULL,
              rq->refuse_expensive, adapted, rq->can_match);
    put_body(out, rq->body, rq->tree);
    put_varint(out, rq->slot);
    put_varint(out, rq->n_shards);
    put_strs(out, rq->alias_filters, rq->n_alias_filters);
    put_f32(out, rq->index_boost);
    put_varint(out, rq->asked_shards);
    put_varint(out, rq->asked_shard);
    put_zigzag(out, rq->now_ms);
    put_varint(out, rq->context);
    put_zigzag(out, rq->keep_alive_ms);
    if (adapted) {
        put_zigzag(out, rq->source != NULL ? rq->source->track_total : rq->track_total);
        put_zigzag(out, rq->source != NULL ? rq->source->timeout_ms : rq->source_timeout_ms);
    }
    if (rq->dfs != NULL) {
        put_dfs(out, rq->dfs);
    }
}

static void query_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_query *rq = SHARD_RQ(of, shard_query);
    get_shard_ref(in, &rq->rq.shard);
    uint32_t flags = get_flags(in, 9);
    rq->scroll = (flags & Q_SCROLL) != 0;
    rq->fetch = (flags & Q_FETCH) != 0;
    rq->keep = (flags & Q_KEEP) != 0;
    rq->next_page = (flags & Q_NEXT_PAGE) != 0;
    rq->dfs_only = (flags & Q_DFS_ONLY) != 0;
    rq->refuse_expensive = (flags & Q_REFUSE) != 0;
    rq->adapted = (flags & Q_ADAPTED) != 0;
    rq->can_match = (flags & Q_CAN_MATCH) != 0;
    rq->body = get_body(in, &rq->tree, &rq->rq.arena);
    rq->slot = get_u32_varint(in);
    rq->n_shards = get_u32_varint(in);
    rq->alias_filters = get_strs(in, &rq->n_alias_filters, &rq->rq.arena);
    rq->index_boost = get_f32(in);
    rq->asked_shards = get_u32_varint(in);
    rq->asked_shard = get_u32_varint(in);
    rq->now_ms = get_zigzag(in);
    rq->context = get_varint(in);
    rq->keep_alive_ms = get_zigzag(in);
    if (rq->adapted) {
        int64_t track = get_zigzag(in);
        in->bad |= track < INT32_MIN || track > INT32_MAX;
        rq->track_total = in->bad ? 0 : (int32_t)track;
        rq->source_timeout_ms = get_zigzag(in);
    }
    if ((flags & Q_DFS) != 0 && !in->bad) {
        struct dfs_stats *d = ARENA_NEW(&rq->rq.arena, struct dfs_stats);
        in->bad |= d == NULL;
        if (d != NULL) {
            get_dfs(in, d, &rq->rq.arena);
        }
        rq->dfs = d;
    }
}

static void put_result(struct buf *b, const struct query_result *r)
{
    struct buf inner;
    buf_init(&inner, NULL, BUF_UNLIMITED);
    query_result_encode(r, &inner);
    put_str(b, buf_view(&inner));
    b->failed |= inner.failed;
    buf_fini(&inner);
}

/* Of a failed phase only what its error is printed with. */
static void query_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_query *rq = CONST_SHARD_RQ(of, shard_query);
    errmsg_encode(&rq->rq.error, out);
    if (rq->rq.error.n > 0) {
        put_bool(out, rq->result != NULL && rq->result->first_key_refused);
        return;
    }
    put_varint(out, rq->context);
    PUT_FLAGS(out, rq->result != NULL, rq->hits != NULL, rq->matches);
    put_str(out, rq->next_page ? rq->body : STR(""));
    put_dfs(out, &rq->dfs_out);
    if (rq->result != NULL) {
        put_result(out, rq->result);
    }
    if (rq->hits != NULL) {
        put_strs(out, rq->hits, rq->n_hits);
    }
}

static void query_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_query *rq = SHARD_RQ(of, shard_query);
    struct arena *a = &rq->rq.arena;
    errmsg_decode(&rq->rq.error, in);
    rq->result = in->bad ? NULL : ARENA_NEW(a, struct query_result);
    in->bad |= rq->result == NULL;
    if (in->bad || rq->rq.error.n > 0) {
        bool refused = get_bool(in);
        if (rq->result != NULL) {
            rq->result->first_key_refused = refused;
        }
        return;
    }
    rq->context = get_varint(in);
    uint32_t flags = get_flags(in, 3);
    rq->matches = (flags & 4) != 0;
    struct str body = get_str(in);
    if (rq->next_page) {
        rq->body = body;
    }
    get_dfs(in, &rq->dfs_out, a);
    if ((flags & 1) == 0) {
        rq->result = NULL;
    } else if (!in->bad) {
        in->bad |= query_result_decode(rq->result, get_str(in), a, NULL) != ERR_OK;
    }
    if ((flags & 2) != 0) {
        rq->hits = get_strs(in, &rq->n_hits, a);
    }
}

static void query_reset(struct shard_rq *of)
{
    struct shard_query *rq = SHARD_RQ(of, shard_query);
    rq->result = NULL;
    rq->hits = NULL;
    rq->n_hits = 0;
    rq->context = 0;
    rq->dfs_out = (struct dfs_stats){0};
}

static void query_no_copy(struct shard_rq *of)
{
    err_set(&of->error, ERR_NO_SHARD, "%s", "");
    err_about_index(&of->error, of->shard.index, of->shard.uuid);
    err_about_shard(&of->error, (int)of->shard.shard);
}

const struct shard_op shard_op_query = {
    .id = SHARD_OP_query,
    .kind = MESSAGE_SHARD_QUERY,
    .size = sizeof(struct shard_query),
    .cancellable = true,
    .timeout_ms = shard_op_half_hour,
    .encode = query_encode,
    .decode = query_decode,
    .encode_answer = query_answer_encode,
    .decode_answer = query_answer_decode,
    .reset = query_reset,
    .no_copy = query_no_copy,
    .action = "indices:data/read/search[phase/query]",
    .describe = shard_op_describe_search,
};

/* ---- fetch --------------------------------------------------------------------------------------------- */

static void fetch_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_fetch *rq = CONST_SHARD_RQ(of, shard_fetch);
    put_shard_ref(out, &rq->rq.shard);
    put_body(out, rq->body, rq->tree);
    put_varint(out, rq->context);
    put_bool(out, rq->keep);
    put_zigzag(out, rq->now_ms);
    put_varint(out, rq->n_shards);
    put_varint(out, rq->n_suggested);
    top_docs_encode(rq->docs, rq->n, rq->n_sort, out);
}

static void fetch_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_fetch *rq = SHARD_RQ(of, shard_fetch);
    struct top_doc *docs;
    get_shard_ref(in, &rq->rq.shard);
    rq->body = get_body(in, &rq->tree, &rq->rq.arena);
    rq->context = get_varint(in);
    rq->keep = get_bool(in);
    rq->now_ms = get_zigzag(in);
    rq->n_shards = get_u32_varint(in);
    rq->n_suggested = get_u32_varint(in);
    top_docs_decode(&docs, &rq->n, &rq->n_sort, in, &rq->rq.arena);
    rq->docs = docs;
    in->bad |= rq->n_suggested > rq->n;
}

static void fetch_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_fetch *rq = CONST_SHARD_RQ(of, shard_fetch);
    errmsg_encode(&rq->rq.error, out);
    if (rq->rq.error.n == 0) {
        put_strs(out, rq->hits, rq->n);
    }
}

static void fetch_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_fetch *rq = SHARD_RQ(of, shard_fetch);
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || rq->rq.error.n > 0) {
        return;
    }
    uint32_t n;
    rq->hits = get_strs(in, &n, &rq->rq.arena);
    in->bad |= n != rq->n;
}

static void fetch_describe(const struct shard_rq *of, struct buf *out)
{
    const struct shard_fetch *rq = CONST_SHARD_RQ(of, shard_fetch);
    buf_printf(out, "id[%llu], size[%u], lastEmittedDoc[null]", (unsigned long long)rq->context, rq->n);
}

const struct shard_op shard_op_fetch = {
    .id = SHARD_OP_fetch,
    .kind = MESSAGE_SHARD_FETCH,
    .size = sizeof(struct shard_fetch),
    .cancellable = true,
    .timeout_ms = shard_op_half_hour,
    .encode = fetch_encode,
    .decode = fetch_decode,
    .encode_answer = fetch_answer_encode,
    .decode_answer = fetch_answer_decode,
    .action = "indices:data/read/search[phase/fetch/id]",
    .describe = fetch_describe,
};
