/* completion_int.h - the bytes of a completion section (docs/segment-format.md) and what its writer keeps. */
#ifndef ENGINE_INDEX_COMPLETION_INT_H
#define ENGINE_INDEX_COMPLETION_INT_H

#include "engine/index/completion.h"

#define COMPLETION_VERSION      2
#define COMPLETION_BLOCK        32 /* groups of entries */
#define COMPLETION_FAN          16 /* greatest weights that one of the next level covers */
#define COMPLETION_FOOTER_BYTES 32

/* Takes the newest entries back, until `n` bytes are kept (a value that completion_writer_bytes() had). */
void completion_writer_cut(struct completion_writer *w, size_t bytes);

/* Encodes entries that come in order. What is in `to` may be taken out (and counted in `taken`) between
 * calls. */
struct completion_out {
    struct buf to;
    uint64_t taken, n; /* groups */
    struct buf offsets, weights;
    struct buf before; /* path of the group before the open one */
    uint32_t most;     /* greatest weight of the open block */
    bool open;         /* a group is: what follows is its */
    struct buf path, input, gaps;
    uint32_t weight;
    doc_id first, last;
};

void completion_out_init(struct completion_out *o, const struct allocator *alloc);
void completion_out_fini(struct completion_out *o);
void completion_out_add(struct completion_out *o, const struct completion_entry *e);
/* Appends what follows the entries. */
enum err completion_out_end(struct completion_out *o, struct errmsg *em);
/* The order of entries: by path, then descending weight, then input, then document. */
int completion_compare(const struct completion_entry *a, const struct completion_entry *b);

/* What is common to the entries of one group, read from the cursor; `path` holds the path of the group before
 * and gets this one's. `first` tells a block's first, which shares nothing. */
struct completion_group {
    struct str input;
    uint32_t weight;
    doc_id doc;           /* the first document */
    struct bytes_in gaps; /* to the others, each from the one before */
    bool same_path;       /* as the group before */
};
bool completion_group_read(struct bytes_in *in, bool first, struct buf *path, struct completion_group *g);
/* The next document of a group; false: there is none, or *corrupt. */
bool completion_group_doc(struct bytes_in *gaps, doc_id *doc, bool *corrupt);

/* A section's parts. */
struct completion_section {
    struct str blocks;
    const char *offsets, *weights;
    uint64_t n_groups;
    uint32_t n_blocks;
    uint32_t n_levels;
    uint32_t level_at[10]; /* where each level of weights begins; [0] is the blocks' own */
};
/* false: corrupt. An empty text is an empty section. */
bool completion_section_open(struct completion_section *s, struct str bytes);

#endif
