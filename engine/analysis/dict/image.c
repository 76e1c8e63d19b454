#include "engine/analysis/dict/image.h"

#include "common/base/bytes.h"
#include "common/base/hash.h"

#define MAGIC          "SERAIDIC"
#define VERSION        1U
#define HEADER_BYTES   40U
#define ENTRY_BYTES    32U
#define CHECKSUM_BYTES 8U
#define ALIGNMENT      64U

static size_t aligned(size_t n)
{
    return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

enum err image_write(struct buf *out, enum image_kind kind, uint64_t hash, const struct image_part *parts,
                     size_t n, struct errmsg *em)
{
    assert(out->n == 0 && n <= IMAGE_SECTIONS_MAX);
    size_t at = aligned(HEADER_BYTES + n * ENTRY_BYTES + CHECKSUM_BYTES);
    size_t total = at;
    for (size_t i = 0; i < n; i++) {
        total += aligned(parts[i].bytes.n);
    }
    buf_add(out, MAGIC, 8);
    put_u32(out, VERSION);
    put_u32(out, (uint32_t)kind);
    put_u64(out, total);
    put_u64(out, hash);
    put_u32(out, (uint32_t)n);
    put_u32(out, 0);
    for (size_t i = 0; i < n; i++) {
        put_u32(out, (uint32_t)parts[i].id);
        put_u32(out, 0);
        put_u64(out, at);
        put_u64(out, parts[i].bytes.n);
        put_u64(out, hash_bytes(parts[i].bytes.p, parts[i].bytes.n, 0));
        at += aligned(parts[i].bytes.n);
    }
    if (!out->failed) {
        put_u64(out, hash_bytes(out->p, out->n, 0));
    }
    static const char zeroes[ALIGNMENT];
    for (size_t i = 0; i <= n; i++) {
        buf_add(out, zeroes, aligned(out->n) - out->n);
        if (i < n) {
            buf_str(out, parts[i].bytes);
        }
    }
    return out->failed ? err_no_memory(em) : ERR_OK;
}

static enum err read_sections(struct image *im, struct str all, uint32_t n, struct bytes_in *in,
                              struct errmsg *em)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = get_u32(in);
        get_u32(in);
        uint64_t at = get_u64(in), len = get_u64(in), sum = get_u64(in);
        if (in->bad || at > all.n || len > all.n - at || at % ALIGNMENT != 0) {
            return err_set(em, ERR_CORRUPT, "dictionary: section [%u] lies outside the file", id);
        }
        struct str bytes = str_mk(all.p + at, (size_t)len);
        if (hash_bytes(bytes.p, bytes.n, 0) != sum) {
            return err_set(em, ERR_CORRUPT, "dictionary: checksum of section [%u] does not match", id);
        }
        if (id < IMAGE_SECTIONS_MAX) { /* sections added later are none of our business */
            im->sections[id] = bytes;
        }
    }
    return ERR_OK;
}

static enum err read_image(struct image *im, struct str all, enum image_kind kind, struct errmsg *em)
{
    struct bytes_in in = bytes_in(all);
    struct str magic = get_raw(&in, 8);
    uint32_t version = get_u32(&in), k = get_u32(&in);
    uint64_t total = get_u64(&in);
    im->hash = get_u64(&in);
    uint32_t n = get_u32(&in);
    get_u32(&in);
    if (in.bad || !str_is(magic, MAGIC) || (uintptr_t)all.p % sizeof(uint64_t) != 0) {
        return err_set(em, ERR_CORRUPT, "dictionary: not a compiled dictionary");
    }
    if (version != VERSION || k != (uint32_t)kind) {
        return err_set(em, ERR_CORRUPT, "dictionary: version [%u] kind [%u], not version [%u] kind [%u]",
                       version, k, VERSION, (unsigned)kind);
    }
    if (total != all.n || total > IMAGE_BYTES_MAX || n > IMAGE_SECTIONS_MAX) {
        return err_set(em, ERR_CORRUPT, "dictionary: the file is cut or longer than it says");
    }
    size_t head = HEADER_BYTES + n * ENTRY_BYTES;
    if (head + CHECKSUM_BYTES > all.n || load_u64(all.p + head) != hash_bytes(all.p, head, 0)) {
        return err_set(em, ERR_CORRUPT, "dictionary: checksum of the header does not match");
    }
    return read_sections(im, all, n, &in, em);
}

enum err image_map(struct image *out, const struct fs *fs, const char *path, enum image_kind kind,
                   struct errmsg *em)
{
    *out = (struct image){.fs = fs};
    enum err e = fs->map(fs->self, path, &out->map, em);
    if (e != ERR_OK) {
        *out = (struct image){0};
        return e;
    }
    e = read_image(out, str_mk(out->map.p, out->map.n), kind, em);
    if (e != ERR_OK) {
        err_prefix(em, e, "[%s]", path);
        image_close(out);
    }
    return e;
}

enum err image_take(struct image *out, struct buf *b, enum image_kind kind, struct errmsg *em)
{
    size_t n;
    *out = (struct image){0};
    assert(b->alloc == NULL || b->alloc == alloc_default());
    out->heap = buf_take(b, &n);
    if (out->heap == NULL) {
        return err_no_memory(em);
    }
    enum err e = read_image(out, str_mk(out->heap, n), kind, em);
    if (e != ERR_OK) {
        image_close(out);
    }
    return e;
}

void image_close(struct image *im)
{
    if (im->fs != NULL) {
        im->fs->unmap(im->fs->self, &im->map);
    }
    alloc_put(alloc_default(), im->heap);
    *im = (struct image){0};
}

enum err image_dat(const struct image *im, struct dat *out, struct errmsg *em)
{
    struct str codes = im->sections[SECTION_CODES], nodes = im->sections[SECTION_NODES];
    size_t n = nodes.n / sizeof(struct dat_node);
    if (codes.n != DAT_CODES * sizeof(uint16_t) || nodes.n % sizeof(struct dat_node) != 0 || n <= DAT_ROOT
        || n > DAT_BASE) {
        return err_set(em, ERR_CORRUPT, "dictionary: its tables have impossible sizes");
    }
    /* Sections are aligned by image_write and checked by read_sections; mappings start at a page. */
    *out = (struct dat){(const void *)codes.p, (const void *)nodes.p, (uint32_t)n};
    return ERR_OK;
}

enum err image_open(struct image *out, struct dat *dat, const struct fs *fs, const char *path,
                    enum image_kind kind, struct errmsg *em)
{
    enum err e = image_map(out, fs, path, kind, em);
    if (e != ERR_OK) {
        return e;
    }
    e = image_dat(out, dat, em);
    if (e != ERR_OK) {
        image_close(out);
    }
    return e;
}
