/* shard_bytes.h - the common parts of the bytes of the requests of shard_api.h. Pure. */
#ifndef PROTO_SHARD_BYTES_H
#define PROTO_SHARD_BYTES_H

#include "proto/message.h"
#include "proto/shard_ops.h"

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
uint8_t get_below(struct bytes_in *in, unsigned limit); /* a byte that is smaller; else bad, and 0 */

#endif
