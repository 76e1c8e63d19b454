/* The phases of a search. */
#include "engine/search/search.h"
#include "proto/err_bytes.h"
#include "proto/flat.h"
#include "proto/json_bytes.h"
#include "proto/shard_bytes.h"

/* ---- statistics of terms ------------------------------------------------------------------------------- */

#define TERM_FIELDS(M) M(str, field) M(str, term) M(zigzag, doc_freq) M(zigzag, total_freq)
FLAT_LIST(dfs_terms, dfs_term, TERM_FIELDS, 4)
#define STATS_FIELDS(M) \
    M(str, field) M(zigzag, max_doc) M(zigzag, doc_count) M(zigzag, sum_df) M(zigzag, sum_ttf)
FLAT_LIST(dfs_fields, dfs_field, STATS_FIELDS, 5)

static void put_dfs(struct buf *b, const struct dfs_stats *d)
{
    put_dfs_terms(b, d->terms, d->n_terms);
    put_dfs_fields(b, d->fields, d->n_fields);
}

static void get_dfs(struct bytes_in *in, struct dfs_stats *d, struct arena *a)
{
    d->terms = get_dfs_terms(in, &d->n_terms, a);
    d->fields = get_dfs_fields(in, &d->n_fields, a);
}

/* ---- bodies and scopes --------------------------------------------------------------------------------- */

static void put_body(struct buf *b, const struct search_body *body)
{
    /* The parsed form may say what the text does not: it was adapted to other parts of the request. */
    const struct search_source *own = body->source;
    PUT_FLAGS(b, body->tree != NULL, own != NULL || body->adapted);
    if (body->tree != NULL) {
        json_value_encode(body->tree, body->text, b);
    } else {
        put_str(b, body->text);
    }
    if (own != NULL || body->adapted) {
        put_zigzag(b, own != NULL ? own->track_total : body->track_total);
        put_zigzag(b, own != NULL ? own->timeout_ms : body->timeout_ms);
    }
}

static void get_body(struct bytes_in *in, struct search_body *body, struct arena *a)
{
    uint32_t flags = get_flags(in, 2);
    *body = (struct search_body){.adapted = (flags & 2) != 0};
    if ((flags & 1) == 0) {
        body->text = get_str(in);
    } else {
        struct json *v = ARENA_NEW(a, struct json);
        in->bad |= v == NULL;
        if (v != NULL) {
            json_value_decode(v, &body->text, in, a);
        }
        body->tree = v;
    }
    if (body->adapted) {
        int64_t track = get_zigzag(in);
        in->bad |= track < INT32_MIN || track > INT32_MAX;
        body->track_total = in->bad ? 0 : (int32_t)track;
        body->timeout_ms = get_zigzag(in);
    }
}

static void put_scope(struct buf *b, const struct search_scope *s)
{
    PUT_FLAGS(b, s->scroll, s->refuse_expensive);
    put_varint(b, s->slot);
    put_varint(b, s->n_shards);
    put_strs(b, s->alias_filters, s->n_alias_filters);
    put_f32(b, s->index_boost);
    put_varint(b, s->asked_shards);
    put_varint(b, s->asked_shard);
    put_zigzag(b, s->now_ms);
}

static void get_scope(struct bytes_in *in, struct search_scope *s, struct arena *a)
{
    uint32_t flags = get_flags(in, 2);
    s->scroll = (flags & 1) != 0;
    s->refuse_expensive = (flags & 2) != 0;
    s->slot = get_u32_varint(in);
    s->n_shards = get_u32_varint(in);
    s->alias_filters = get_strs(in, &s->n_alias_filters, a);
    s->index_boost = get_f32(in);
    s->asked_shards = get_u32_varint(in);
    s->asked_shard = get_u32_varint(in);
    s->now_ms = get_zigzag(in);
}

/* What every phase begins with. */
static void put_phase(struct buf *b, const struct shard_rq *rq, const struct search_body *body,
                      const struct search_scope *scope)
{
    put_shard_ref(b, &rq->shard);
    put_varint(b, rq->context);
    put_body(b, body);
    put_scope(b, scope);
}

static void get_phase(struct bytes_in *in, struct shard_rq *rq, struct search_body *body,
                      struct search_scope *scope)
{
    get_shard_ref(in, &rq->shard);
    rq->context = get_varint(in);
    get_body(in, body, &rq->arena);
    get_scope(in, scope, &rq->arena);
}

static void phase_no_copy(struct shard_rq *of)
{
    err_set(&of->error, ERR_NO_SHARD, "%s", "");
    err_about_index(&of->error, of->shard.index, of->shard.uuid);
    err_about_shard(&of->error, (int)of->shard.shard);
}

static void phase_describe(const struct shard_rq *rq, struct buf *out)
{
    buf_printf(out, "shardId[[%.*s][%u]]", STR_ARG(rq->shard.index), rq->shard.shard);
}

/* ---- whether a shard may match ------------------------------------------------------------------------- */

static void can_match_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_can_match *rq = CONST_SHARD_RQ(of, shard_can_match);
    put_phase(out, of, &rq->body, &rq->scope);
}

static void can_match_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_can_match *rq = SHARD_RQ(of, shard_can_match);
    get_phase(in, of, &rq->body, &rq->scope);
}

static void can_match_answer_encode(const struct shard_rq *of, struct buf *out)
{
    errmsg_encode(&of->error, out);
    put_bool(out, CONST_SHARD_RQ(of, shard_can_match)->matches);
}

static void can_match_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    errmsg_decode(&of->error, in);
    SHARD_RQ(of, shard_can_match)->matches = get_bool(in);
}

static void can_match_reset(struct shard_rq *of)
{
    SHARD_RQ(of, shard_can_match)->matches = false;
}

const struct shard_op shard_op_can_match = {
    .id = SHARD_OP_can_match,
    .kind = MESSAGE_SHARD_CAN_MATCH,
    .size = sizeof(struct shard_can_match),
    .cancellable = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = can_match_encode,
    .decode = can_match_decode,
    .encode_answer = can_match_answer_encode,
    .decode_answer = can_match_answer_decode,
    .reset = can_match_reset,
    .no_copy = phase_no_copy,
    .action = "indices:data/read/search[can_match]",
    .describe = phase_describe,
};

/* ---- what a shard knows of the query's terms ----------------------------------------------------------- */

static void dfs_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_dfs *rq = CONST_SHARD_RQ(of, shard_dfs);
    put_phase(out, of, &rq->body, &rq->scope);
}

static void dfs_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_dfs *rq = SHARD_RQ(of, shard_dfs);
    get_phase(in, of, &rq->body, &rq->scope);
}

static void dfs_answer_encode(const struct shard_rq *of, struct buf *out)
{
    errmsg_encode(&of->error, out);
    if (!err_is(&of->error)) {
        put_dfs(out, &CONST_SHARD_RQ(of, shard_dfs)->stats);
    }
}

static void dfs_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    errmsg_decode(&of->error, in);
    if (!in->bad && !err_is(&of->error)) {
        get_dfs(in, &SHARD_RQ(of, shard_dfs)->stats, &of->arena);
    }
}

static void dfs_reset(struct shard_rq *of)
{
    SHARD_RQ(of, shard_dfs)->stats = (struct dfs_stats){0};
}

const struct shard_op shard_op_dfs = {
    .id = SHARD_OP_dfs,
    .kind = MESSAGE_SHARD_DFS,
    .size = sizeof(struct shard_dfs),
    .cancellable = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = dfs_encode,
    .decode = dfs_decode,
    .encode_answer = dfs_answer_encode,
    .decode_answer = dfs_answer_decode,
    .reset = dfs_reset,
    .no_copy = phase_no_copy,
    .action = "indices:data/read/search[phase/dfs]",
    .describe = phase_describe,
};

/* ---- query --------------------------------------------------------------------------------------------- */

static void query_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_query *rq = CONST_SHARD_RQ(of, shard_query);
    put_phase(out, of, &rq->body, &rq->scope);
    PUT_FLAGS(out, rq->fetch, rq->keep, rq->dfs != NULL);
    put_zigzag(out, rq->keep_alive_ms);
    if (rq->dfs != NULL) {
        put_dfs(out, rq->dfs);
    }
}

static void query_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_query *rq = SHARD_RQ(of, shard_query);
    get_phase(in, of, &rq->body, &rq->scope);
    uint32_t flags = get_flags(in, 3);
    rq->fetch = (flags & 1) != 0;
    rq->keep = (flags & 2) != 0;
    rq->keep_alive_ms = get_zigzag(in);
    if ((flags & 4) != 0 && !in->bad) {
        struct dfs_stats *d = ARENA_NEW(&of->arena, struct dfs_stats);
        in->bad |= d == NULL;
        if (d != NULL) {
            get_dfs(in, d, &of->arena);
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
    errmsg_encode(&of->error, out);
    if (err_is(&of->error)) {
        put_bool(out, rq->result != NULL && rq->result->first_key_refused);
        return;
    }
    put_varint(out, of->context);
    PUT_FLAGS(out, rq->result != NULL, rq->hits != NULL);
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
    struct arena *a = &of->arena;
    errmsg_decode(&of->error, in);
    rq->result = in->bad ? NULL : ARENA_NEW(a, struct query_result);
    in->bad |= rq->result == NULL;
    if (in->bad || err_is(&of->error)) {
        bool refused = get_bool(in);
        if (rq->result != NULL) {
            rq->result->first_key_refused = refused;
        }
        return;
    }
    of->context = get_varint(in);
    uint32_t flags = get_flags(in, 2);
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
    of->context = 0;
}

static const char *query_action(const struct shard_rq *of)
{
    return CONST_SHARD_RQ(of, shard_query)->dfs != NULL ? "indices:data/read/search[phase/query/id]"
                                                        : "indices:data/read/search[phase/query]";
}

const struct shard_op shard_op_query = {
    .id = SHARD_OP_query,
    .kind = MESSAGE_SHARD_QUERY,
    .size = sizeof(struct shard_query),
    .cancellable = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = query_encode,
    .decode = query_decode,
    .encode_answer = query_answer_encode,
    .decode_answer = query_answer_decode,
    .reset = query_reset,
    .no_copy = phase_no_copy,
    .action_of = query_action,
    .describe = phase_describe,
};

/* ---- the next page of a scroll ------------------------------------------------------------------------- */

static void scroll_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_query *rq = CONST_SHARD_RQ(of, shard_query);
    put_shard_ref(out, &of->shard);
    put_varint(out, of->context);
    PUT_FLAGS(out, rq->fetch, rq->keep);
    put_varint(out, rq->scope.slot);
    put_varint(out, rq->scope.n_shards);
    put_zigzag(out, rq->keep_alive_ms);
}

static void scroll_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_query *rq = SHARD_RQ(of, shard_query);
    get_shard_ref(in, &of->shard);
    of->context = get_varint(in);
    uint32_t flags = get_flags(in, 2);
    rq->fetch = (flags & 1) != 0;
    rq->keep = (flags & 2) != 0;
    rq->scope.slot = get_u32_varint(in);
    rq->scope.n_shards = get_u32_varint(in);
    rq->keep_alive_ms = get_zigzag(in);
}

static void scroll_answer_encode(const struct shard_rq *of, struct buf *out)
{
    put_str(out, CONST_SHARD_RQ(of, shard_query)->body.text);
    query_answer_encode(of, out);
}

static void scroll_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    SHARD_RQ(of, shard_query)->body.text = get_str(in);
    query_answer_decode(of, in);
}

static void scroll_describe(const struct shard_rq *of, struct buf *out)
{
    buf_printf(out, "id[%llu]", (unsigned long long)of->context);
}

const struct shard_op shard_op_scroll = {
    .id = SHARD_OP_scroll,
    .kind = MESSAGE_SHARD_SCROLL,
    .size = sizeof(struct shard_query),
    .cancellable = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = scroll_encode,
    .decode = scroll_decode,
    .encode_answer = scroll_answer_encode,
    .decode_answer = scroll_answer_decode,
    .action = "indices:data/read/search[phase/query/scroll]",
    .describe = scroll_describe,
};

/* ---- fetch --------------------------------------------------------------------------------------------- */

static void fetch_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_fetch *rq = CONST_SHARD_RQ(of, shard_fetch);
    put_phase(out, of, &rq->body, &rq->scope);
    put_bool(out, rq->keep);
    put_varint(out, rq->n_suggested);
    top_docs_encode(rq->docs, rq->n, rq->n_sort, out);
}

static void fetch_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_fetch *rq = SHARD_RQ(of, shard_fetch);
    struct top_doc *docs;
    get_phase(in, of, &rq->body, &rq->scope);
    rq->keep = get_bool(in);
    rq->n_suggested = get_u32_varint(in);
    top_docs_decode(&docs, &rq->n, &rq->n_sort, in, &of->arena);
    rq->docs = docs;
    in->bad |= rq->n_suggested > rq->n;
}

static void fetch_answer_encode(const struct shard_rq *of, struct buf *out)
{
    const struct shard_fetch *rq = CONST_SHARD_RQ(of, shard_fetch);
    errmsg_encode(&rq->rq.error, out);
    if (!err_is(&rq->rq.error)) {
        put_strs(out, rq->hits, rq->n);
    }
}

static void fetch_answer_decode(struct shard_rq *of, struct bytes_in *in)
{
    struct shard_fetch *rq = SHARD_RQ(of, shard_fetch);
    errmsg_decode(&rq->rq.error, in);
    if (in->bad || err_is(&rq->rq.error)) {
        return;
    }
    uint32_t n;
    rq->hits = get_strs(in, &n, &rq->rq.arena);
    in->bad |= n != rq->n;
}

static void fetch_describe(const struct shard_rq *of, struct buf *out)
{
    const struct shard_fetch *rq = CONST_SHARD_RQ(of, shard_fetch);
    buf_printf(out, "id[%llu], size[%u], lastEmittedDoc[null]", (unsigned long long)of->context, rq->n);
}

const struct shard_op shard_op_fetch = {
    .id = SHARD_OP_fetch,
    .kind = MESSAGE_SHARD_FETCH,
    .size = sizeof(struct shard_fetch),
    .cancellable = true,
    .timeout_ms = SHARD_OP_LONG_MS,
    .encode = fetch_encode,
    .decode = fetch_decode,
    .encode_answer = fetch_answer_encode,
    .decode_answer = fetch_answer_decode,
    .action = "indices:data/read/search[phase/fetch/id]",
    .describe = fetch_describe,
};
