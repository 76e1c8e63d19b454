/* live.h - the live documents of a segment: a bitmap per point in time.
 *
 * A published bitmap never changes and is reference-counted (views share it); the strand copies it before it
 * kills documents and publishes the copy at refresh. Nested documents die with their root. Counting
 * references is thread-safe; changing is for the one owner of an unpublished copy. docs/store-format.md draws
 * the file. */
#ifndef ENGINE_INDEX_LIVE_H
#define ENGINE_INDEX_LIVE_H

#include "engine/index/segment.h"

struct live {
    _Atomic uint32_t refs;
    const struct allocator *alloc;
    uint32_t n_docs;  /* bits */
    uint32_t n_live;  /* set bits */
    uint32_t n_roots; /* set bits of root documents */
    uint64_t words[]; /* bits at and beyond n_docs are 0 */
};

/* All alive. roots: bitmap, NULL when all are. NULL: no memory. */
struct live *live_new(const struct allocator *alloc, uint32_t n_docs, const uint64_t *roots);
struct live *live_copy(const struct live *l); /* NULL: no memory */
struct live *live_ref(struct live *l);        /* NULL ok */
void live_unref(struct live *l);              /* NULL ok */
size_t live_bytes(const struct live *l);      /* memory; 0 for NULL */

/* Kills a root and the nested documents before it. false: it was dead already. */
bool live_kill(struct live *l, const uint64_t *roots, doc_id root);

static inline bool live_test(const struct live *l, doc_id doc)
{
    return l == NULL || ((l->words[doc >> 6] >> (doc & 63)) & 1) != 0;
}

/* The file's bytes. */
void live_encode(const struct live *l, uint64_t segment, struct buf *out);
/* ERR_CORRUPT unless it is a bitmap of that segment with n_docs documents. */
enum err live_decode(struct live **out, struct str bytes, uint64_t segment, uint32_t n_docs,
                     const uint64_t *roots, const struct allocator *alloc, struct errmsg *em);

#endif
