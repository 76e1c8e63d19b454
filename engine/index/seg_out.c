#include "engine/index/seg_out.h"

#include <stdio.h>

#include "common/base/hash.h"

#define SPOOL_BYTES ((size_t)4 << 20) /* kept in memory before a spool goes to its file */

enum err seg_out_fail(struct seg_out *o, enum err e)
{
    if (o->err == ERR_OK) {
        o->err = e;
    }
    return o->err;
}

bool seg_out_check(struct seg_out *o, const struct buf *b)
{
    if (b->failed && o->err == ERR_OK) {
        o->err = err_no_memory(o->em);
    }
    return o->err == ERR_OK;
}

static void sum_block(struct seg_out *o, const void *p, size_t n)
{
    put_u64(&o->sums, hash_bytes(p, n, o->sums.n / sizeof(uint64_t)));
}

/* Takes bytes into the checksums of their blocks. */
static void sum_up(struct seg_out *o, const uint8_t *p, size_t n)
{
    while (n > 0) {
        size_t some = MIN_OF(n, SEG_BLOCK_BYTES - o->block.n);
        if (some == SEG_BLOCK_BYTES) {
            sum_block(o, p, some);
        } else {
            buf_add(&o->block, p, some);
            if (o->block.n == SEG_BLOCK_BYTES) {
                sum_block(o, o->block.p, o->block.n);
                buf_reset(&o->block);
            }
        }
        p += some;
        n -= some;
        if (!seg_out_check(o, &o->block) || !seg_out_check(o, &o->sums)) {
            return;
        }
    }
}

/* Raw bytes to where they go; the last ones of a file have no block. */
static void emit_raw(struct seg_out *o, const void *p, size_t n)
{
    o->at += n;
    if (o->err != ERR_OK || n == 0) {
        return;
    }
    if (o->fs != NULL) {
        seg_out_fail(o, o->fs->write(o->fs->self, o->file, p, n, o->em));
    } else {
        buf_add(o->memory, p, n);
        seg_out_check(o, o->memory);
    }
}

static void seg_out_emit(struct seg_out *o, const void *p, size_t n)
{
    if (o->err == ERR_OK) {
        sum_up(o, p, n);
    }
    emit_raw(o, p, n);
}

static void emit_zeroes(struct seg_out *o, size_t n)
{
    static const uint8_t zeroes[SEG_ALIGN];
    assert(n < sizeof(zeroes));
    seg_out_emit(o, zeroes, n);
}

void seg_out_init(struct seg_out *o, const struct fs *fs, const char *path, struct buf *memory,
                  struct errmsg *em)
{
    *o = (struct seg_out){.fs = fs, .path = path, .memory = memory, .em = em};
    buf_init(&o->pending, NULL, BUF_UNLIMITED);
    buf_init(&o->table, NULL, BUF_UNLIMITED);
    buf_init(&o->block, NULL, BUF_UNLIMITED);
    buf_init(&o->sums, NULL, BUF_UNLIMITED);
    if (fs != NULL) {
        o->err = fs->open(fs->self, path, true, &o->file, em);
    }
    uint8_t header[SEG_HEADER_BYTES] = {0};
    store_u64(header, SEG_MAGIC);
    store_u32(header + 8, SEG_VERSION);
    seg_out_emit(o, header, sizeof(header));
}

void seg_out_fini(struct seg_out *o)
{
    if (o->fs != NULL && o->file != NULL) {
        o->fs->close(o->fs->self, o->file);
    }
    o->file = NULL;
    buf_fini(&o->pending);
    buf_fini(&o->table);
    buf_fini(&o->block);
    buf_fini(&o->sums);
}

void seg_out_begin(struct seg_out *o, enum section_kind kind)
{
    assert(!o->open);
    emit_zeroes(o, (size_t)(-o->at & (SEG_ALIGN - 1)));
    o->open = true;
    o->kind = (uint32_t)kind;
    o->begun = o->at;
}

static void flush_pending(struct seg_out *o)
{
    seg_out_emit(o, o->pending.p, o->pending.n);
    buf_reset(&o->pending);
}

void seg_out_bytes(struct seg_out *o, const void *p, size_t n)
{
    const uint8_t *at = p;
    while (n > 0 && o->err == ERR_OK) {
        size_t some = MIN_OF(n, SEG_HASH_BYTES - o->pending.n);
        buf_add(&o->pending, at, some);
        at += some;
        n -= some;
        if (seg_out_check(o, &o->pending) && o->pending.n == SEG_HASH_BYTES) {
            flush_pending(o);
        }
    }
}

void seg_out_u32(struct seg_out *o, uint32_t v)
{
    seg_out_bytes(o, &v, sizeof(v));
}

void seg_out_u64(struct seg_out *o, uint64_t v)
{
    seg_out_bytes(o, &v, sizeof(v));
}

uint64_t seg_out_at(const struct seg_out *o)
{
    return o->at + o->pending.n - o->begun;
}

void seg_out_align(struct seg_out *o, size_t align)
{
    static const uint8_t zeroes[64];
    assert(align <= sizeof(zeroes));
    seg_out_bytes(o, zeroes, (size_t)(-seg_out_at(o) & (align - 1)));
}

uint32_t seg_out_end(struct seg_out *o)
{
    assert(o->open);
    uint64_t n = seg_out_at(o);
    if (o->pending.n > 0) {
        flush_pending(o);
    }
    o->open = false;
    put_u32(&o->table, o->kind);
    put_u32(&o->table, 0);
    put_u64(&o->table, o->begun);
    put_u64(&o->table, n);
    put_u64(&o->table, 0);
    seg_out_check(o, &o->table);
    return ++o->n_sections;
}

enum err seg_out_finish(struct seg_out *o, uint32_t doc_count)
{
    assert(!o->open);
    emit_zeroes(o, (size_t)(-o->at & (SEG_ALIGN - 1)));
    if (o->block.n > 0) {
        sum_block(o, o->block.p, o->block.n);
        seg_out_check(o, &o->sums);
    }
    uint64_t sums_at = o->at;
    emit_raw(o, o->sums.p, o->sums.n);
    if ((o->sums.n & (SEG_ALIGN - 1)) != 0) {
        emit_raw(o, (uint8_t[8]){0}, 8);
    }
    uint64_t table_at = o->at;
    emit_raw(o, o->table.p, o->table.n);
    uint8_t footer[SEG_FOOTER_BYTES] = {0};
    store_u64(footer, table_at);
    store_u32(footer + 8, o->n_sections);
    store_u32(footer + 12, doc_count);
    store_u64(footer + 16, hash_bytes(o->table.p, o->table.n, 0));
    store_u64(footer + 24, o->at + SEG_FOOTER_BYTES);
    store_u64(footer + 32, sums_at);
    store_u64(footer + 40, hash_bytes(o->sums.p, o->sums.n, 0));
    store_u64(footer + 48, hash_bytes(footer, 48, 0));
    store_u64(footer + 56, SEG_END_MAGIC);
    emit_raw(o, footer, sizeof(footer));
    return o->err;
}

void spool_init(struct spool *s, struct seg_out *out)
{
    *s = (struct spool){.out = out};
    buf_init(&s->bytes, NULL, BUF_UNLIMITED);
    if (out->fs != NULL) {
        int n = snprintf(s->path, sizeof(s->path), "%s.%u.spool", out->path, out->spools++);
        if (n < 0 || (size_t)n >= sizeof(s->path)) {
            seg_out_fail(out, err_set(out->em, ERR_IO, "path too long: %s", out->path));
        }
    }
}

/* Empties it for the next use. */
static void spool_reset(struct spool *s)
{
    struct seg_out *o = s->out;
    if (s->map.p != NULL) {
        o->fs->unmap(o->fs->self, &s->map);
    }
    if (s->file != NULL) {
        o->fs->close(o->fs->self, s->file);
    }
    if (s->spilled > 0) {
        o->fs->remove(o->fs->self, s->path, NULL);
    }
    s->map = (struct fs_map){0};
    s->file = NULL;
    s->spilled = 0;
    buf_reset(&s->bytes);
}

void spool_fini(struct spool *s)
{
    spool_reset(s);
    buf_fini(&s->bytes);
}

static void spill(struct spool *s)
{
    struct seg_out *o = s->out;
    if (o->err == ERR_OK && s->file == NULL) {
        seg_out_fail(o, o->fs->open(o->fs->self, s->path, true, &s->file, o->em));
    }
    if (o->err == ERR_OK) {
        seg_out_fail(o, o->fs->write(o->fs->self, s->file, s->bytes.p, s->bytes.n, o->em));
    }
    s->spilled += s->bytes.n;
    buf_reset(&s->bytes);
}

void spool_flush(struct spool *s)
{
    if (!seg_out_check(s->out, &s->bytes)) {
        buf_reset(&s->bytes);
    } else if (s->bytes.n >= SPOOL_BYTES && s->out->fs != NULL) {
        spill(s);
    }
}

void spool_bytes(struct spool *s, const void *p, size_t n)
{
    buf_add(&s->bytes, p, n);
    spool_flush(s);
}

struct str spool_view(struct spool *s)
{
    struct seg_out *o = s->out;
    if (s->spilled == 0 || !seg_out_check(o, &s->bytes)) {
        return o->err == ERR_OK ? buf_view(&s->bytes) : STR_NULL;
    }
    if (s->map.p == NULL) {
        spill(s);
        o->fs->close(o->fs->self, s->file);
        s->file = NULL;
        if (o->err == ERR_OK) {
            seg_out_fail(o, o->fs->map(o->fs->self, s->path, &s->map, o->em));
        }
        if (o->err == ERR_OK && s->map.n != s->spilled) {
            seg_out_fail(o, err_set(o->em, ERR_IO, "%s: %zu bytes instead of %llu", s->path, s->map.n,
                                    (unsigned long long)s->spilled));
        }
    }
    return o->err == ERR_OK ? str_mk(s->map.p, s->map.n) : STR_NULL;
}

void spool_copy(struct spool *s)
{
    struct str all = spool_view(s);
    seg_out_bytes(s->out, all.p, all.n);
}

void seg_bits_end(struct seg_bits *o)
{
    if (o->used > 0) {
        uint8_t bytes[8];
        store_u64(bytes, o->word);
        seg_out_bytes(o->out, bytes, (o->used + 7) / 8);
    }
    o->word = 0;
    o->used = 0;
    seg_out_align(o->out, 8);
}
