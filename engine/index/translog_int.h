/* translog_int.h - declarations shared by the files of the translog, for translog*.c only. */
#ifndef ENGINE_INDEX_TRANSLOG_INT_H
#define ENGINE_INDEX_TRANSLOG_INT_H

#include "engine/index/translog.h"

#define TLOG_PATH_BYTES 4096

void tlog_path(const char *dir, uint64_t generation, char path[TLOG_PATH_BYTES]);
void tlog_tmp_path(const char *dir, char path[TLOG_PATH_BYTES]);
struct tlog_chunk *tlog_chunk_new(const struct translog *t, uint64_t generation,
                                  uint64_t at);                             /* NULL: no memory */
void tlog_chunk_free(const struct allocator *alloc, struct tlog_chunk *c);  /* NULL ok */
void tlog_chunks_free(const struct allocator *alloc, struct tlog_chunk *c); /* and those behind it */
bool tlog_gens_reserve(struct translog *t, size_t n);                       /* false: no memory */
void tlog_header_init(struct tlog_header *h, const struct tlog_opts *o, uint64_t generation);
/* The next generation, its header waiting to be written; the last one must be complete. */
enum err tlog_begin_generation(struct translog *t, int64_t trim_above, struct errmsg *em);

#endif
