#include "engine/index/live.h"

#include "common/base/bits.h"
#include "common/base/hash.h"

#define LIVE_MAGIC      "SRAILIVE"
#define LIVE_VERSION    1
#define LIVE_HEAD_BYTES 32 /* magic, version, documents, segment, live documents, 0 */

static struct live *live_make(const struct allocator *alloc, uint32_t n_docs)
{
    size_t words = bits_words(n_docs);
    struct live *l = alloc_get(alloc, sizeof(*l) + words * sizeof(uint64_t));
    if (l != NULL) {
        l->refs = 1;
        l->alloc = alloc;
        l->n_docs = n_docs;
        l->n_live = l->n_roots = 0;
        memset(l->words, 0, words * sizeof(uint64_t));
    }
    return l;
}

static void count(struct live *l, const uint64_t *roots)
{
    l->n_live = (uint32_t)bits_count(l->words, l->n_docs);
    l->n_roots = l->n_live;
    if (roots != NULL) {
        size_t sum = 0;
        for (size_t i = 0; i < bits_words(l->n_docs); i++) {
            sum += (size_t)__builtin_popcountll(l->words[i] & roots[i]);
        }
        l->n_roots = (uint32_t)sum;
    }
}

struct live *live_new(const struct allocator *alloc, uint32_t n_docs, const uint64_t *roots)
{
    struct live *l = live_make(alloc, n_docs);
    if (l == NULL) {
        return NULL;
    }
    memset(l->words, 0xFF, bits_words(n_docs) * sizeof(uint64_t));
    if ((n_docs & 63) != 0) {
        l->words[n_docs >> 6] = ((uint64_t)1 << (n_docs & 63)) - 1;
    }
    count(l, roots);
    return l;
}

struct live *live_copy(const struct live *l)
{
    struct live *c = live_make(l->alloc, l->n_docs);
    if (c != NULL) {
        c->n_live = l->n_live;
        c->n_roots = l->n_roots;
        memcpy(c->words, l->words, bits_words(l->n_docs) * sizeof(uint64_t));
    }
    return c;
}

struct live *live_ref(struct live *l)
{
    if (l != NULL) {
        l->refs++;
    }
    return l;
}

void live_unref(struct live *l)
{
    if (l != NULL && --l->refs == 0) {
        alloc_put(l->alloc, l);
    }
}

size_t live_bytes(const struct live *l)
{
    return l == NULL ? 0 : sizeof(*l) + bits_words(l->n_docs) * sizeof(uint64_t);
}

bool live_kill(struct live *l, const uint64_t *roots, doc_id root)
{
    assert(root < l->n_docs);
    if (!bits_test(l->words, root)) {
        return false;
    }
    bits_clear(l->words, root);
    l->n_live--;
    l->n_roots--;
    if (roots == NULL) {
        return true;
    }
    for (doc_id d = root; d > 0 && !bits_test(roots, d - 1); d--) {
        if (bits_test(l->words, d - 1)) {
            bits_clear(l->words, d - 1);
            l->n_live--;
        }
    }
    return true;
}

void live_encode(const struct live *l, uint64_t segment, struct buf *out)
{
    size_t at = out->n;
    buf_add(out, LIVE_MAGIC, 8);
    put_u32(out, LIVE_VERSION);
    put_u32(out, l->n_docs);
    put_u64(out, segment);
    put_u32(out, l->n_live);
    put_u32(out, 0);
    for (size_t i = 0; i < bits_words(l->n_docs); i++) {
        put_u64(out, l->words[i]);
    }
    if (!out->failed) {
        put_u64(out, hash_bytes(out->p + at, out->n - at, segment));
    }
}

enum err live_decode(struct live **out, struct str bytes, uint64_t segment, uint32_t n_docs,
                     const uint64_t *roots, const struct allocator *alloc, struct errmsg *em)
{
    *out = NULL;
    size_t words = bits_words(n_docs), want = LIVE_HEAD_BYTES + words * 8 + 8;
    if (bytes.n != want || memcmp(bytes.p, LIVE_MAGIC, 8) != 0 || load_u32(bytes.p + 8) != LIVE_VERSION
        || load_u64(bytes.p + want - 8) != hash_bytes(bytes.p, want - 8, segment)) {
        return err_set(em, ERR_CORRUPT, "live documents of segment [%llu]: bad bytes",
                       (unsigned long long)segment);
    }
    if (load_u32(bytes.p + 12) != n_docs || load_u64(bytes.p + 16) != segment) {
        return err_set(em, ERR_CORRUPT, "live documents of segment [%llu]: of another segment",
                       (unsigned long long)segment);
    }
    struct live *l = live_make(alloc, n_docs);
    if (l == NULL) {
        return err_no_memory(em);
    }
    if (words > 0) {
        memcpy(l->words, bytes.p + LIVE_HEAD_BYTES, words * 8);
    }
    count(l, roots);
    if (l->n_live != load_u32(bytes.p + 24)
        || ((n_docs & 63) != 0 && (l->words[words - 1] >> (n_docs & 63)) != 0)) {
        live_unref(l);
        return err_set(em, ERR_CORRUPT, "live documents of segment [%llu]: counts do not agree",
                       (unsigned long long)segment);
    }
    *out = l;
    return ERR_OK;
}
