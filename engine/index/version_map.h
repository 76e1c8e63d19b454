/* version_map.h - the newest state of ids that segments do not tell: buffered documents, and deletions.
 *
 * Two tables. Buffered documents live until the buffer becomes a segment, then all go at once (segments
 * answer for them). Tombstones live until both their time is over and the local checkpoint has passed them:
 * until then an older operation may still arrive and must find that it is older. An id is in at most one of
 * them. One thread at a time. */
#ifndef ENGINE_INDEX_VERSION_MAP_H
#define ENGINE_INDEX_VERSION_MAP_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "engine/index/segment.h"

struct vm_doc { /* a buffered document */
    uint64_t hash;
    const char *id;
    uint32_t id_n;
    bool alive;  /* false: the entry says nothing (prepared only, or deleted since) */
    doc_id root; /* in the buffer */
    int64_t seq_no, primary_term, version;
};

struct vm_tomb {
    uint64_t hash;
    int64_t seq_no, primary_term, version;
    int64_t at_ms; /* monotonic */
    uint32_t id_n;
    char id[];
};

struct version_map {
    const struct allocator *alloc;
    struct arena ids; /* of docs */
    struct vm_doc *docs;
    size_t n_docs, docs_cap;
    uint32_t *slots;           /* index into docs + 1; 0: free */
    size_t n_slots;            /* a power of two, or 0 */
    struct vm_tomb **tombs;    /* open addressing, linear probing; NULL: free */
    size_t n_tombs, tombs_cap; /* cap: a power of two, or 0 */
    size_t tomb_bytes;
};

void version_map_init(struct version_map *m, const struct allocator *alloc);
void version_map_fini(struct version_map *m);

struct vm_doc *version_map_doc(const struct version_map *m, struct str id,
                               uint64_t hash); /* NULL: none alive */
struct vm_tomb *version_map_tomb(const struct version_map *m, struct str id, uint64_t hash); /* NULL: none */

/* The entry for a document about to be buffered (not alive unless it was). Filling it in cannot fail. NULL:
 * no memory. Valid until the next version_map_prepare_doc(). */
struct vm_doc *version_map_prepare_doc(struct version_map *m, struct str id, uint64_t hash);
/* A tombstone not yet in the map, for which there is room; put it or drop it. NULL: no memory. */
struct vm_tomb *version_map_prepare_tomb(struct version_map *m, struct str id, uint64_t hash);
void version_map_free_tomb(struct version_map *m, struct vm_tomb *t); /* a prepared one; NULL ok */
/* Replaces an older tombstone and takes a buffered document's place. */
void version_map_put_tomb(struct version_map *m, struct vm_tomb *t);
/* The id has a document again. */
void version_map_clear_tomb(struct version_map *m, struct str id, uint64_t hash);

/* The buffer became a segment (or was dropped). */
void version_map_forget_docs(struct version_map *m);
/* Tombstones from before `before_ms` and at or below the checkpoint go. */
void version_map_prune(struct version_map *m, int64_t before_ms, int64_t checkpoint);
size_t version_map_bytes(const struct version_map *m);

#endif
