/* completion_int.h - the bytes of a completion section (docs/segment-format.md) and what its writer keeps. */
#ifndef SUGGEST_COMPLETION_INT_H
#define SUGGEST_COMPLETION_INT_H

#include "engine/suggest/completion.h"

#define COMPLETION_VERSION      1
#define COMPLETION_BLOCK        32 /* entries */
#define COMPLETION_FAN          16 /* greatest weights that one of the next level covers */
#define COMPLETION_FOOTER_BYTES 32

/* Takes the newest entries back, until `n` bytes are kept (a value that completion_writer_bytes() had). */
void completion_writer_cut(struct completion_writer *w, size_t bytes);

/* Encodes entries that come in order. What is in `to` may be taken out (and counted in `taken`) between
 * calls. */
struct completion_out {
    struct buf to;
    uint64_t taken, n;
    struct buf offsets, weights, path;
    uint32_t most; /* greatest weight of the open block */
};

void completion_out_init(struct completion_out *o, const struct allocator *alloc);
void completion_out_fini(struct completion_out *o);
void completion_out_add(struct completion_out *o, const struct completion_entry *e);
/* Appends what follows the entries. */
enum err completion_out_end(struct completion_out *o, struct errmsg *em);
/* The order of entries: by path, then descending weight, then document. */
int completion_compare(const struct completion_entry *a, const struct completion_entry *b);

#endif
