/* seg_out.h - writing the frame of a segment: sections one after the other, their blocks' checksums, the table, the
 * footer.
 *
 * Bytes go to a file or into memory. One section is open at a time; what must be written beside it goes
 * through a spool, which keeps a little in memory and the rest in a temporary file (only when writing to a
 * file). Errors stick: writers append freely and look once. One thread. */
#ifndef INDEX_SEG_OUT_H
#define INDEX_SEG_OUT_H

#include "common/base/buf.h"
#include "common/base/bytes.h"
#include "engine/index/format.h"

struct seg_out {
    const struct fs *fs; /* NULL: into memory */
    const char *path;    /* borrowed */
    struct fs_file *file;
    struct buf *memory;
    struct buf pending; /* of the open section; at most SEG_HASH_BYTES */
    struct buf table;   /* section entries so far */
    struct buf block;   /* the file's last block as far as it is written, once that is not whole */
    struct buf sums;    /* of the blocks before it */
    uint64_t at;        /* bytes written, without pending */
    uint64_t begun;
    uint32_t n_sections, kind;
    uint32_t spools; /* made so far: their names */
    bool open;
    enum err err; /* the first failure */
    struct errmsg *em;
};

/* Exactly one of fs and memory is given. The file is made. */
void seg_out_init(struct seg_out *o, const struct fs *fs, const char *path, struct buf *memory,
                  struct errmsg *em);
/* Closes the file; does not remove it. */
void seg_out_fini(struct seg_out *o);
void seg_out_begin(struct seg_out *o, enum section_kind kind);
void seg_out_bytes(struct seg_out *o, const void *p, size_t n);
void seg_out_u32(struct seg_out *o, uint32_t v);
void seg_out_u64(struct seg_out *o, uint64_t v);
/* Zeroes up to a multiple of `align` bytes from the section's begin. */
void seg_out_align(struct seg_out *o, size_t align);
/* Bytes of the open section so far. */
uint64_t seg_out_at(const struct seg_out *o);
/* The section's number plus one: what the directory keeps (0 means none). */
uint32_t seg_out_end(struct seg_out *o);
/* Writes the blocks' checksums, the table and the footer. */
enum err seg_out_finish(struct seg_out *o, uint32_t doc_count);
/* Remembers the first failure; returns what it remembers. */
enum err seg_out_fail(struct seg_out *o, enum err e);
/* Takes a buffer's failure over; true when all is well. */
bool seg_out_check(struct seg_out *o, const struct buf *b);

struct spool {
    struct seg_out *out; /* borrowed: where failures go */
    struct buf bytes;    /* not yet spilled */
    uint64_t spilled;
    struct fs_file *file;
    struct fs_map map;
    char path[512];
};

void spool_init(struct spool *s, struct seg_out *out);
void spool_fini(struct spool *s); /* removes its file */
/* To append to s->bytes directly is allowed; call spool_flush() now and then. */
void spool_bytes(struct spool *s, const void *p, size_t n);
void spool_flush(struct spool *s);
static inline uint64_t spool_at(const struct spool *s)
{
    return s->spilled + s->bytes.n;
}
/* All that was written, contiguous, until spool_reset() or spool_fini(). */
struct str spool_view(struct spool *s);
/* Appends it all to the open section. */
void spool_copy(struct spool *s);

/* Horizontal fields of bits straight into the open section. */
struct seg_bits {
    struct seg_out *out;
    uint64_t word;
    unsigned used;
};

static inline struct seg_bits seg_bits(struct seg_out *out)
{
    return (struct seg_bits){out, 0, 0};
}

static inline void seg_bits_put(struct seg_bits *o, uint64_t v, unsigned w)
{
    o->word |= v << o->used;
    o->used += w;
    if (o->used >= 64) {
        seg_out_u64(o->out, o->word);
        o->used -= 64;
        o->word = o->used > 0 ? v >> (w - o->used) : 0;
    }
}

/* Writes the last bytes and aligns the section to eight. */
void seg_bits_end(struct seg_bits *o);

#endif
