#include "engine/index/copy_check.h"

#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "engine/index/live.h"
#include "engine/index/manifest.h"
#include "engine/index/structure.h"
#include "engine/index/translog_int.h"

#include <inttypes.h>
#include <stdio.h>

struct run {
    struct copy_check *c;
    struct arena arena;
    const char *uuid;
    uint32_t shard;
    struct fs_names names;
    const struct manifest *newest; /* that can be read */
};

static void copy_check_report(const struct run *r, const char *file, const char *what)
{
    r->c->damaged(r->c->self, file, what);
}

static const char *path_of(struct run *r, const char *name)
{
    return store_path(&r->arena, r->c->dir, name);
}

/* false: it cannot be read, which is said. */
static bool read_file(struct run *r, const char *name, struct fs_map *map)
{
    ERR_LOCAL(em);
    const char *path = path_of(r, name);
    if (path == NULL || r->c->fs->map(r->c->fs->self, path, map, &em) != ERR_OK) {
        copy_check_report(r, name, path != NULL ? err_reason(&em) : "no memory");
        return false;
    }
    r->c->files++;
    r->c->bytes += map->n;
    return true;
}

/* ---- what a commit names ---- */

static bool is_there(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->names.n; i++) {
        if (str_is(r->names.v[i], name)) {
            return true;
        }
    }
    return false;
}

/* The checks of contents, for bytes whose checksums are right. */
static void check_content(struct run *r, const char *name, const struct manifest_segment *m, struct str live)
{
    ERR_LOCAL(em);
    struct segment *s = NULL;
    struct live *l = NULL;
    char segment[FILE_NAME_BYTES];
    segment_file_name(m->number, segment);
    enum err e = segment_open(&s, r->c->fs, path_of(r, segment), live.p != NULL ? NULL : &em);
    if (s == NULL && live.p != NULL) {
        return; /* said of the segment */
    }
    if (e == ERR_OK && live.p == NULL && segment_doc_count(s) != m->docs) {
        e = err_set(&em, ERR_CORRUPT, "it has [%u] documents, and had [%u]", segment_doc_count(s), m->docs);
    }
    if (e == ERR_OK && live.p == NULL) {
        e = segment_check_structure(s, &em);
    } else if (e == ERR_OK) {
        e = live_decode(&l, live, m->number, m->docs, segment_roots(s), alloc_default(), &em);
        if (e == ERR_OK && (l->n_live != m->live_docs || l->n_roots != m->live_roots)) {
            e = err_set(&em, ERR_CORRUPT, "as many documents live as the commit does not say");
        }
    }
    if (e != ERR_OK) {
        copy_check_report(r, name, err_reason(&em));
    }
    live_unref(l);
    segment_unref(s);
}

static void check_named(struct run *r, const char *name, const struct manifest_segment *m, bool live,
                        uint64_t commit)
{
    uint64_t bytes = live ? m->live_bytes : m->bytes, checksum = live ? m->live_checksum : m->checksum;
    char text[96];
    struct fs_map map;
    if (!is_there(r, name)) {
        snprintf(text, sizeof(text), "it is missing, and " MANIFEST_PREFIX "%" PRIu64 " names it", commit);
        copy_check_report(r, name, text);
        return;
    }
    if (!read_file(r, name, &map)) {
        return;
    }
    if (map.n != bytes) {
        snprintf(text, sizeof(text), "it has %zu bytes, and had %" PRIu64, map.n, bytes);
        copy_check_report(r, name, text);
    } else if (hash_bytes(map.p, map.n, 0) != checksum) {
        ERR_LOCAL(em);
        struct segment *s = NULL;
        enum err e = str_starts(str_of(name), STR(SEGMENT_PREFIX))
                         ? segment_open(&s, r->c->fs, path_of(r, name), &em)
                         : ERR_OK;
        e = s != NULL ? segment_verify(s, &em) : e;
        segment_unref(s);
        copy_check_report(r, name, e != ERR_OK ? err_reason(&em) : "it does not match its checksum");
    } else {
        check_content(r, name, m, live ? str_mk(map.p, map.n) : STR_NULL);
    }
    r->c->fs->unmap(r->c->fs->self, &map);
}

/* Was it checked for a newer commit already? */
static bool in_newest(const struct run *r, const struct manifest *m, const struct manifest_segment *s,
                      bool live)
{
    for (size_t i = 0; m != r->newest && i < r->newest->n_segments; i++) {
        const struct manifest_segment *o = &r->newest->segments[i];
        if (o->number == s->number && (!live || o->live_generation == s->live_generation)) {
            return true;
        }
    }
    return false;
}

static void check_commit(struct run *r, const struct manifest *m)
{
    for (size_t i = 0; i < m->n_segments; i++) {
        const struct manifest_segment *s = &m->segments[i];
        char name[FILE_NAME_BYTES];
        if (!in_newest(r, m, s, false)) {
            segment_file_name(s->number, name);
            check_named(r, name, s, false, m->generation);
        }
        if (s->live_generation != 0 && !in_newest(r, m, s, true)) {
            live_file_name(s->number, s->live_generation, name);
            check_named(r, name, s, true, m->generation);
        }
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The numbers in the names that begin so, ascending; NULL: no memory. */
static uint64_t *numbers_of(struct run *r, const char *prefix, size_t *n)
{
    uint64_t *v = ARENA_ARRAY(&r->arena, uint64_t, r->names.n + 1);
    *n = 0;
    for (size_t i = 0; v != NULL && i < r->names.n; i++) {
        *n += file_number(r->names.v[i], prefix, &v[*n]) ? 1 : 0;
    }
    if (v != NULL) {
        sort_items(v, *n, sizeof(*v), by_number);
    }
    return v;
}

static enum err check_manifest(struct run *r, uint64_t number, struct errmsg *em)
{
    char name[FILE_NAME_BYTES];
    struct fs_map map;
    ERR_LOCAL(why);
    struct manifest *m = arena_alloc(&r->arena, sizeof(*m));
    manifest_file_name(number, name);
    if (m == NULL) {
        return err_no_memory(em);
    }
    if (!read_file(r, name, &map)) {
        return ERR_OK;
    }
    enum err e = manifest_decode(m, str_mk(map.p, map.n), &r->arena, &why);
    r->c->fs->unmap(r->c->fs->self, &map);
    if (e != ERR_OK) {
        copy_check_report(r, name, err_reason(&why));
    } else if (m->generation != number || m->shard != r->shard || strcmp(m->uuid, r->uuid) != 0) {
        copy_check_report(r, name, "it is of another shard or place");
    } else {
        r->newest = r->newest == NULL ? m : r->newest;
        check_commit(r, m);
    }
    return ERR_OK;
}

/* ---- the log ---- */

static void check_generation(struct run *r, uint64_t number, bool last)
{
    char name[FILE_NAME_BYTES];
    struct fs_map map;
    ERR_LOCAL(em);
    struct tlog_header h;
    struct tlog_summary s;
    bool torn;
    snprintf(name, sizeof(name), TLOG_PREFIX "%" PRIu64, number);
    if (!read_file(r, name, &map)) {
        return;
    }
    struct str bytes = str_mk(map.p, map.n);
    enum err e = tlog_header_decode(&h, bytes, &torn, &em);
    if (e == ERR_OK && (h.generation != number || h.shard != r->shard || strcmp(h.uuid, r->uuid) != 0)) {
        e = err_set(&em, ERR_CORRUPT, "it is of another shard or place");
    }
    uint64_t id = r->newest != NULL ? r->newest->translog_id : 0;
    if (e == ERR_OK && h.id != 0 && id != 0 && h.id != id) {
        e = err_set(&em, ERR_CORRUPT, "it is of another copy");
    }
    e = e == ERR_OK ? tlog_scan(&s, bytes, &h, &em) : e;
    if (e == ERR_OK && !last && !s.ended) {
        e = err_set(&em, ERR_CORRUPT, "its end is missing");
    }
    if (e == ERR_OK && last && s.ended && h.followed) {
        e = err_set(&em, ERR_CORRUPT, "the next generation is missing");
    }
    if (e != ERR_OK) {
        copy_check_report(r, name, err_reason(&em));
    }
    r->c->fs->unmap(r->c->fs->self, &map);
}

static enum err check_log(struct run *r, struct errmsg *em)
{
    size_t n;
    uint64_t *v = numbers_of(r, TLOG_PREFIX, &n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    uint64_t need = r->newest != NULL ? r->newest->translog_generation : 0;
    bool found = need == 0;
    for (size_t i = 0; i < n; i++) {
        char name[FILE_NAME_BYTES];
        found |= v[i] == need;
        check_generation(r, v[i], i + 1 == n);
        if (i + 1 < n && v[i + 1] != v[i] + 1 && v[i] >= need) {
            snprintf(name, sizeof(name), TLOG_PREFIX "%" PRIu64, v[i] + 1);
            copy_check_report(r, name, "it is missing, and a later one is there");
        }
    }
    if (!found) {
        char name[FILE_NAME_BYTES];
        snprintf(name, sizeof(name), TLOG_PREFIX "%" PRIu64, need);
        copy_check_report(r, name, "it is missing, and the newest commit needs it");
    }
    return ERR_OK;
}

/* ---- all ---- */

static enum err check_all(struct run *r, struct errmsg *em)
{
    size_t n;
    enum err e = r->c->fs->list(r->c->fs->self, r->c->dir, &r->arena, &r->names, em);
    uint64_t *v = e == ERR_OK ? numbers_of(r, MANIFEST_PREFIX, &n) : NULL;
    if (v == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    for (size_t i = n; e == ERR_OK && i > 0; i--) {
        e = check_manifest(r, v[i - 1], em);
    }
    if (n == 0) {
        copy_check_report(r, "", "there is no manifest, which says what the copy is made of");
    }
    return e == ERR_OK ? check_log(r, em) : e;
}

enum err copy_check_run(struct copy_check *c, const char *uuid, uint32_t shard, struct errmsg *em)
{
    struct run r = {.c = c, .uuid = uuid, .shard = shard};
    arena_init(&r.arena, NULL, ARENA_UNLIMITED);
    enum err e = check_all(&r, em);
    arena_fini(&r.arena);
    return e;
}
