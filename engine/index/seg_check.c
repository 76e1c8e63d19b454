/* The checksums of a segment's blocks: looked at when a block is first read. */
#include "common/base/bits.h"
#include "common/base/hash.h"
#include "common/base/mapped.h"
#include "engine/index/seg_int.h"

static const char *kind_name(uint32_t kind)
{
    static const char *const names[SECTION_KINDS] = {
        "unknown",  "directory", "roots",  "postings", "positions", "terms",  "norms", "numbers",
        "ordinals", "binary",    "ranges", "points",   "geo",       "stored", "ids",   "completion"};
    return kind < SECTION_KINDS ? names[kind] : names[0];
}

static bool block_right(const struct segment *s, size_t block)
{
    size_t from = block << SEG_BLOCK_SHIFT, n = MIN_OF(SEG_BLOCK_BYTES, s->checks->bytes - from);
    return hash_bytes(s->p + from, n, block) == load_u64(s->checks->sums + 8 * block);
}

#define FILE_LOST UINT64_MAX /* in the place of an offset */

static void note_damage(const struct segment *s, size_t at)
{
    uint64_t none = 0;
    atomic_compare_exchange_strong(&s->checks->damage, &none, (uint64_t)at + 1);
}

static bool check_block(const struct segment *s, size_t block, size_t at)
{
    if (!block_right(s, block)) {
        note_damage(s, MAX_OF(at, block << SEG_BLOCK_SHIFT));
        return false;
    }
    atomic_fetch_or_explicit(&s->checks->right[block >> 6], (uint64_t)1 << (block & 63),
                             memory_order_release);
    return true;
}

bool seg_check_blocks(const struct segment *s, const uint8_t *p, size_t n)
{
    size_t at = (size_t)(p - s->p), end = at + n;
    if (n == 0) {
        return true;
    }
    if (p < s->p || end > s->checks->bytes) { /* places that damaged bytes led to */
        note_damage(s, MIN_OF(at, s->checks->bytes));
        return false;
    }
    size_t first = at >> SEG_BLOCK_SHIFT, last = (end - 1) >> SEG_BLOCK_SHIFT;
    for (size_t w = first >> 6; w <= last >> 6; w++) {
        uint64_t some = ~(uint64_t)0;
        some &= w == first >> 6 ? some << (first & 63) : some;
        some &= w == last >> 6 ? ~(uint64_t)0 >> (63 - (last & 63)) : some;
        some &= ~atomic_load_explicit(&s->checks->right[w], memory_order_acquire);
        for (; some != 0; some &= some - 1) {
            if (!check_block(s, w * 64 + (size_t)__builtin_ctzll(some), at)) {
                return false;
            }
        }
    }
    return true;
}

bool seg_broken(const struct segment *s, const void *at)
{
    const uint8_t *p = at;
    note_damage(s, p < s->p ? 0 : MIN_OF((size_t)(p - s->p), s->checks->bytes));
    return false;
}

static enum err damaged(const struct segment *s, uint64_t at, struct errmsg *em)
{
    const char *kind = "between sections";
    for (uint32_t i = 0; i < s->n_sections; i++) {
        uint64_t from = (uint64_t)(s->sections[i].p - s->p);
        if (at >= from && at < from + s->sections[i].n) {
            kind = kind_name(s->sections[i].kind);
        }
    }
    uint64_t from = at >> SEG_BLOCK_SHIFT << SEG_BLOCK_SHIFT;
    bool sum =
        s->checks->sums == NULL || at >= s->checks->bytes || !block_right(s, (size_t)at >> SEG_BLOCK_SHIFT);
    return err_set(em, ERR_CORRUPT,
                   "%s : section [%s] at offset [%llu], bytes [%llu] to [%llu] (resource=[%s])",
                   sum ? "checksum failed (hardware problem?)" : "bytes that mean nothing", kind,
                   (unsigned long long)at, (unsigned long long)from,
                   (unsigned long long)MIN_OF(from + SEG_BLOCK_BYTES, (uint64_t)s->checks->bytes),
                   s->path != NULL ? s->path : "memory");
}

enum err segment_damage(const struct segment *s, struct errmsg *em)
{
    uint64_t damage = atomic_load_explicit(&s->checks->damage, memory_order_acquire);
    if (UNLIKELY(damage == FILE_LOST || mapped_lost(s->p))) {
        return err_set(em, ERR_CORRUPT,
                       "the file was cut off, or cannot be read, while it was open (resource=[%s])",
                       s->path != NULL ? s->path : "memory");
    }
    return LIKELY(damage == 0) ? ERR_OK : damaged(s, damage - 1, em);
}

void segment_look(const struct segment *s)
{
    bool exists;
    uint64_t n;
    if (s->fs != NULL && s->fs->size(s->fs->self, s->path, &exists, &n, NULL) == ERR_OK
        && (!exists || n != s->n)) {
        atomic_store(&s->checks->damage, FILE_LOST);
    }
}

void segment_doubt(const struct segment *s)
{
    if (s->checks->right == NULL) {
        return;
    }
    size_t words = bits_words((s->checks->bytes + SEG_BLOCK_BYTES - 1) >> SEG_BLOCK_SHIFT);
    for (size_t i = 0; i < words; i++) {
        atomic_store_explicit(&s->checks->right[i], 0, memory_order_release);
    }
    seg_check_section(s, &s->sections[s->n_sections - 1]); /* what an open read stays in use */
    if (s->roots != NULL) {
        seg_check(s, s->roots, bits_words(s->doc_count) * 8);
    }
}

/* Chained over pieces, as version 1 has it. */
static uint64_t section_hash(const struct section *section)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < section->n; at += SEG_HASH_BYTES) {
        hash = hash_bytes(section->p + at, MIN_OF(SEG_HASH_BYTES, section->n - at), hash);
    }
    return hash;
}

enum err segment_verify(const struct segment *s, struct errmsg *em)
{
    if (s->checks->sums == NULL) {
        for (uint32_t i = 0; i < s->n_sections; i++) {
            if (section_hash(&s->sections[i]) != s->sections[i].hash) {
                return damaged(s, (uint64_t)(s->sections[i].p - s->p), em);
            }
        }
        return ERR_OK;
    }
    size_t blocks = (s->checks->bytes + SEG_BLOCK_BYTES - 1) >> SEG_BLOCK_SHIFT;
    for (size_t i = 0; i < blocks; i++) {
        if (!block_right(s, i)) {
            note_damage(s, i << SEG_BLOCK_SHIFT);
            return damaged(s, i << SEG_BLOCK_SHIFT, em);
        }
        if (s->checks->right != NULL) {
            atomic_fetch_or_explicit(&s->checks->right[i >> 6], (uint64_t)1 << (i & 63),
                                     memory_order_release);
        }
    }
    return ERR_OK;
}
