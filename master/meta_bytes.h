/* meta_bytes.h - metadata requests and their answers between a coordinating node and the master. */
#ifndef MASTER_META_BYTES_H
#define MASTER_META_BYTES_H

#include "master/metadata.h"

void meta_request_encode(const struct meta_request *rq, struct buf *out);
/* Into a request made by meta_request_init(); everything in its arena. ERR_CORRUPT. */
enum err meta_request_decode(struct meta_request *rq, struct str bytes, struct errmsg *em);

/* The answer: what the request says of itself, and the state's version that shows it. */
void meta_answer_encode(const struct meta_request *rq, uint64_t version, struct buf *out);
enum err meta_answer_decode(struct meta_request *rq, uint64_t *version, struct str bytes, struct errmsg *em);

#endif
