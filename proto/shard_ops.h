/* shard_ops.h - the operations on a shard: one row each, and a list of all.
 *
 * A row says everything about an operation but how it is served: its struct, its bytes, where and for how long it
 * is served, and what it is called as a task. Rows stand beside their bytes, in shard_bytes_*.c. data/ serves each
 * by its place in the list. */
#ifndef PROTO_SHARD_OPS_H
#define PROTO_SHARD_OPS_H

#include "common/base/bytes.h"
#include "common/base/jsonw.h"
#include "proto/shard_api.h"

/* The only list of them: name of the row, and the struct. */
#define SHARD_OPS(X)                    \
    X(write, shard_write)               \
    X(get, shard_get)                   \
    X(can_match, shard_can_match)       \
    X(dfs, shard_dfs)                   \
    X(query, shard_query)               \
    X(scroll, shard_query)              \
    X(fetch, shard_fetch)               \
    X(act, shard_act)                   \
    X(explain, shard_explain)           \
    X(term_vectors, shard_term_vectors) \
    X(free, shard_free)

#define SHARD_OP_ID(name, type) SHARD_OP_##name,
enum shard_op_id { SHARD_OPS(SHARD_OP_ID) SHARD_OP_COUNT };
#undef SHARD_OP_ID

struct shard_op {
    enum shard_op_id id;
    uint16_t kind;    /* on the wire: enum message_kind */
    size_t size;      /* of its struct, which begins with a struct shard_rq */
    bool write_pool;  /* it is decoded, and its answer read, where writes are; else where searches are */
    bool cancellable; /* while it is served elsewhere */
    bool exempt; /* it is answered whatever memory there is: what it needs is counted, and never refused */
    /* A node that is there and silent for as long has lost the request. 0: as long as timeout_of() says. */
    int64_t timeout_ms;
    int64_t (*timeout_of)(const struct shard_rq *rq);
    /* The request's bytes, and the answer's. Decoders trust nothing: they set in->bad on whatever does not read (also
     * without memory), and the struct is not to be used then. What they read borrows from the input; arrays are in
     * the request's arena. What only its maker can use stays behind: callbacks, users, parsed forms of texts. */
    void (*encode)(const struct shard_rq *rq, struct buf *out);
    void (*decode)(struct shard_rq *rq, struct bytes_in *in);
    void (*encode_answer)(const struct shard_rq *rq, struct buf *out);
    void (*decode_answer)(struct shard_rq *rq, struct bytes_in *in);
    /* Before another copy is asked: takes back what a copy that failed has answered. NULL: only one copy is ever asked. */
    void (*reset)(struct shard_rq *rq);
    /* No copy was there to be asked: the error, into rq->error. NULL as above. */
    void (*no_copy)(struct shard_rq *rq);
    /* As a task: Elasticsearch's name of the action, and what it is about. NULL: it is none. action_of(): where the
     * request decides; NULL: it does not. */
    const char *action;
    const char *(*action_of)(const struct shard_rq *rq);
    void (*describe)(const struct shard_rq *rq, struct buf *out);
    void (*status)(struct jsonw *w); /* NULL: none */
};

#define SHARD_OP_ROW(name, type) extern const struct shard_op shard_op_##name;
SHARD_OPS(SHARD_OP_ROW)
#undef SHARD_OP_ROW
extern const struct shard_op *const shard_ops[SHARD_OP_COUNT];

/* The row whose struct *rq is. */
#define SHARD_RQ(of, type)       CONTAINER_OF(of, struct type, rq)
#define CONST_SHARD_RQ(of, type) CONST_CONTAINER_OF(of, struct type, rq)

/* Of what reads one document; of what may rightly take long. */
#define SHARD_OP_SOON_MS 60000
#define SHARD_OP_LONG_MS 1800000

/* For rows: No shard available for [get [index][_doc][id]]. */
void shard_op_no_copy_of(struct shard_rq *rq, const char *what, struct str id);

#endif
