#include "common/base/bits.h"
#include "common/base/hash.h"
#include "common/base/memory_account.h"
#include "engine/index/seg_int.h"

static enum err corrupt(struct errmsg *em, const char *what)
{
    return err_set(em, ERR_CORRUPT, "segment: %s", what);
}

static void unmap(struct segment *s)
{
    if (s->fs != NULL) {
        s->fs->unmap(s->fs->self, &s->map);
    } else {
        alloc_put(s->alloc, s->memory);
    }
}

/* Where the blocks end, and their checksums. */
static bool read_sums(struct segment *s, const uint8_t *footer, uint64_t table_at)
{
    struct seg_checks *c = s->checks;
    uint64_t at = load_u64(footer + 32);
    if (at < SEG_HEADER_BYTES || at > table_at || at % SEG_ALIGN != 0) {
        return false;
    }
    size_t blocks = (size_t)((at + SEG_BLOCK_BYTES - 1) >> SEG_BLOCK_SHIFT);
    if (table_at - at != ((8 * blocks + SEG_ALIGN - 1) & ~(size_t)(SEG_ALIGN - 1))
        || hash_bytes(s->p + at, 8 * blocks, 0) != load_u64(footer + 40)) {
        return false;
    }
    c->sums = s->p + at;
    c->bytes = (size_t)at;
    return true;
}

/* What is read from now on is checked, but for what is in memory: nobody else wrote it. */
static enum err begin_checks(struct segment *s, struct errmsg *em)
{
    struct seg_checks *c = s->checks;
    if (c->sums == NULL) {
        return segment_verify(s, em); /* an older version: whole sections only, so all at once */
    }
    if (s->fs != NULL) {
        size_t words = bits_words((c->bytes + SEG_BLOCK_BYTES - 1) >> SEG_BLOCK_SHIFT);
        c->right = arena_alloc(&s->arena, (words + 1) * sizeof(*c->right));
        if (c->right == NULL) {
            return err_no_memory(em);
        }
        for (size_t i = 0; i <= words; i++) { /* one more: an empty run may stand behind the last block */
            atomic_init(&c->right[i], 0);
        }
    }
    return ERR_OK;
}

static bool read_table(struct segment *s, uint64_t table_at, uint64_t table_hash)
{
    size_t room = s->n - SEG_FOOTER_BYTES;
    uint64_t end = s->checks->sums != NULL ? s->checks->bytes : table_at;
    if (table_at < SEG_HEADER_BYTES || table_at > room
        || room - table_at != (uint64_t)s->n_sections * SEG_ENTRY_BYTES
        || hash_bytes(s->p + table_at, room - (size_t)table_at, 0) != table_hash) {
        return false;
    }
    struct bytes_in in = bytes_in(str_mk(s->p + table_at, room - (size_t)table_at));
    for (uint32_t i = 0; i < s->n_sections; i++) {
        struct section *section = &s->sections[i];
        section->kind = get_u32(&in);
        get_u32(&in);
        uint64_t at = get_u64(&in), n = get_u64(&in);
        section->hash = get_u64(&in);
        if (at % SEG_ALIGN != 0 || at > end || n > end - at) {
            return false;
        }
        section->p = s->p + at;
        section->n = (size_t)n;
    }
    return !in.bad;
}

static enum err read_frame(struct segment *s, struct errmsg *em)
{
    const uint8_t *footer = s->p + s->n - SEG_FOOTER_BYTES;
    if (s->p == NULL || s->n < SEG_HEADER_BYTES + SEG_FOOTER_BYTES || load_u64(s->p) != SEG_MAGIC
        || load_u64(footer + 56) != SEG_END_MAGIC) {
        return corrupt(em, "not a segment, or cut off");
    }
    uint32_t version = load_u32(s->p + 8);
    if (version != SEG_VERSION && version != SEG_VERSION_1) {
        return err_set(em, ERR_CORRUPT, "segment: of version [%u], this node reads [%u] and [%u]", version,
                       SEG_VERSION_1, SEG_VERSION);
    }
    if (load_u64(footer + 48) != hash_bytes(footer, 48, 0) || load_u64(footer + 24) != s->n) {
        return corrupt(em, "footer is damaged");
    }
    s->n_sections = load_u32(footer + 8);
    s->doc_count = load_u32(footer + 12);
    if (s->doc_count > SEG_DOCS_MAX || s->n_sections == 0 || s->n_sections > s->n / SEG_ENTRY_BYTES) {
        return corrupt(em, "footer is damaged");
    }
    s->checks = ARENA_NEW(&s->arena, struct seg_checks);
    s->sections = ARENA_ARRAY(&s->arena, struct section, s->n_sections);
    if (s->checks == NULL || s->sections == NULL) {
        return err_no_memory(em);
    }
    s->checks->bytes = s->n;
    if (version == SEG_VERSION && !read_sums(s, footer, load_u64(footer))) {
        return corrupt(em, "table of checksums is damaged");
    }
    if (!read_table(s, load_u64(footer), load_u64(footer + 16))) {
        return corrupt(em, "section table is damaged");
    }
    const struct section *dir = &s->sections[s->n_sections - 1];
    enum err e = begin_checks(s, em);
    if (e == ERR_OK && !seg_check_section(s, dir)) {
        e = segment_damage(s, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (dir->kind != SECTION_FIELDS || !seg_read_directory(s, bytes_in(str_mk(dir->p, dir->n)))) {
        return corrupt(em, "directory is damaged");
    }
    return segment_damage(s, em);
}

/* Takes s->p, also on failure. */
static enum err open_bytes(struct segment **out, struct segment *model, struct errmsg *em)
{
    static _Atomic uint64_t opened;
    struct segment *s = alloc_get(alloc_default(), sizeof(*s));
    *out = NULL;
    if (s == NULL) {
        unmap(model);
        return err_no_memory(em);
    }
    *s = *model;
    s->refs = 1;
    s->unique = ++opened;
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
    if (s->path != NULL) {
        s->path = arena_str(&s->arena, str_of(s->path)).p;
    }
    enum err e = read_frame(s, em);
    if (e != ERR_OK) {
        segment_unref(s);
        return e;
    }
    s->accounted = sizeof(*s) + s->arena.bytes_used;
    memory_add(MEMORY_ACCOUNTING, s->accounted);
    *out = s;
    return ERR_OK;
}

enum err segment_open(struct segment **out, const struct fs *fs, const char *path, struct errmsg *em)
{
    struct segment model = {.fs = fs, .path = path};
    *out = NULL;
    enum err e = fs->map(fs->self, path, &model.map, em);
    if (e != ERR_OK) {
        return e;
    }
    model.p = model.map.p;
    model.n = model.map.n;
    e = open_bytes(out, &model, em);
    return e != ERR_OK ? err_prefix(em, e, "%s", path) : ERR_OK;
}

enum err segment_open_memory(struct segment **out, char *bytes, size_t n, const struct allocator *alloc,
                             struct errmsg *em)
{
    struct segment model = {.p = (const uint8_t *)bytes,
                            .n = n,
                            .memory = bytes,
                            .alloc = alloc != NULL ? alloc : alloc_default()};
    return open_bytes(out, &model, em);
}

struct segment *segment_ref(struct segment *s)
{
    s->refs++;
    return s;
}

void segment_unref(struct segment *s)
{
    if (s != NULL && --s->refs == 0) {
        unmap(s);
        memory_give(MEMORY_ACCOUNTING, s->accounted);
        arena_fini(&s->arena);
        alloc_put(alloc_default(), s);
    }
}

uint32_t segment_doc_count(const struct segment *s)
{
    return s->doc_count;
}

size_t segment_bytes(const struct segment *s)
{
    return s->n;
}

/* It covers the checksums of all blocks. */
uint64_t segment_footer(const struct segment *s)
{
    return load_u64(s->p + s->n - SEG_FOOTER_BYTES + 48);
}

bool segment_in_memory(const struct segment *s)
{
    return s->fs == NULL;
}

uint64_t segment_unique(const struct segment *s)
{
    return s->unique;
}

const uint64_t *segment_roots(const struct segment *s)
{
    return s->roots;
}

uint32_t segment_field_count(const struct segment *s)
{
    return s->n_fields;
}

const struct seg_field *segment_field_at(const struct segment *s, uint32_t i)
{
    return &s->fields[i];
}

const struct seg_field *segment_field(const struct segment *s, struct str name)
{
    uint32_t lo = 0, hi = s->n_fields;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = str_cmp(s->fields[mid].name, name);
        if (order == 0) {
            return &s->fields[mid];
        }
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NULL;
}
