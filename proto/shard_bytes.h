/* shard_bytes.h - the requests and answers of shard_api.h as bytes.
 *
 * A request is encoded where it is made and decoded where it is served, into a struct that shard_rq_init() has
 * set up; its answer the other way round, into the struct that asked. Decoders trust nothing: they set in->bad
 * on whatever does not read (also without memory), and the struct is not to be used then. What they read
 * borrows from the input; arrays are in the request's arena. What only its maker can use stays behind:
 * callbacks, users, parsed forms of texts. Pure. */
#ifndef PROTO_SHARD_BYTES_H
#define PROTO_SHARD_BYTES_H

#include "common/base/bytes.h"
#include "proto/shard_api.h"

/* shard_bytes_write.c */
void shard_write_encode(const struct shard_write *rq, struct buf *out);
void shard_write_decode(struct shard_write *rq, struct bytes_in *in);
void shard_write_answer_encode(const struct shard_write *rq, struct buf *out);
void shard_write_answer_decode(struct shard_write *rq, struct bytes_in *in);

/* shard_bytes_get.c */
void shard_get_encode(const struct shard_get *rq, struct buf *out);
void shard_get_decode(struct shard_get *rq, struct bytes_in *in);
void shard_get_answer_encode(const struct shard_get *rq, struct buf *out);
void shard_get_answer_decode(struct shard_get *rq, struct bytes_in *in);
void shard_explain_encode(const struct shard_explain *rq, struct buf *out);
void shard_explain_decode(struct shard_explain *rq, struct bytes_in *in);
void shard_explain_answer_encode(const struct shard_explain *rq, struct buf *out);
void shard_explain_answer_decode(struct shard_explain *rq, struct bytes_in *in);

/* shard_bytes_query.c */
void shard_query_encode(const struct shard_query *rq, struct buf *out);
void shard_query_decode(struct shard_query *rq, struct bytes_in *in);
void shard_query_answer_encode(const struct shard_query *rq, struct buf *out);
void shard_query_answer_decode(struct shard_query *rq, struct bytes_in *in);
void shard_fetch_encode(const struct shard_fetch *rq, struct buf *out);
void shard_fetch_decode(struct shard_fetch *rq, struct bytes_in *in);
void shard_fetch_answer_encode(const struct shard_fetch *rq, struct buf *out);
void shard_fetch_answer_decode(struct shard_fetch *rq, struct bytes_in *in);

/* shard_bytes_act.c */
void shard_act_encode(const struct shard_act *rq, struct buf *out);
void shard_act_decode(struct shard_act *rq, struct bytes_in *in);
void shard_act_answer_encode(const struct shard_act *rq, struct buf *out);
void shard_act_answer_decode(struct shard_act *rq, struct bytes_in *in);
void shard_free_encode(const struct shard_free *rq, struct buf *out);
void shard_free_decode(struct shard_free *rq, struct bytes_in *in);
void shard_free_answer_encode(const struct shard_free *rq, struct buf *out);
void shard_free_answer_decode(struct shard_free *rq, struct bytes_in *in);

/* shard_bytes.c: what they have in common */
void put_opt_str(struct buf *b, struct str s); /* tells p == NULL from an empty text */
struct str get_opt_str(struct bytes_in *in);   /* a text that is there has p != NULL */
void put_strs(struct buf *b, const struct str *v, uint32_t n);
struct str *get_strs(struct bytes_in *in, uint32_t *n, struct arena *arena); /* NULL: bad */
/* Bits of flags, first to last. */
#define PUT_FLAGS(b, ...) \
    put_flags((b), (const bool[]){__VA_ARGS__}, sizeof((const bool[]){__VA_ARGS__}) / sizeof(bool))
void put_flags(struct buf *b, const bool *v, size_t n); /* at most 32 */
uint32_t get_flags(struct bytes_in *in, unsigned n);    /* bit i: the i-th; others are bad */
void put_shard_ref(struct buf *b, const struct shard_ref *r);
void get_shard_ref(struct bytes_in *in, struct shard_ref *r);
uint32_t get_u32_varint(struct bytes_in *in);
uint8_t get_below(struct bytes_in *in, unsigned limit); /* a byte that is smaller; else bad, and 0 */

#endif
