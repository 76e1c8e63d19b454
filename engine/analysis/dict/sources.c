#include "engine/analysis/dict/sources.h"

#include "common/base/arena_list.h"
#include "common/base/hash.h"
#include "engine/analysis/dict/lexicon.h"

#include <stdarg.h>
#include <stdio.h>

#define FOLDER_DEPTH_MAX 8
#define SOURCES_MAX      1000

enum err sources_init(struct sources *s, const struct fs *fs, const char *path_conf, const char *name,
                      struct buf *warnings, struct arena *arena, struct errmsg *em)
{
    *s = (struct sources){.arena = arena, .fs = fs, .warnings = warnings};
    s->folder = arena_printf(arena, "%s/%s", path_conf, name).p;
    return s->folder == NULL ? err_no_memory(em) : ERR_OK;
}

void sources_warn(const struct sources *s, const char *fmt, ...)
{
    char line[1024];
    if (s->warnings == NULL) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    buf_z(s->warnings, line);
    buf_char(s->warnings, '\n');
}

enum err sources_exists(const struct sources *s, const char *name, bool *exists, struct errmsg *em)
{
    uint64_t size;
    const char *path = arena_printf(s->arena, "%s/%s", s->folder, name).p;
    return path == NULL ? err_no_memory(em) : s->fs->size(s->fs->self, path, exists, &size, em);
}

static enum err add_path(struct sources *s, uint16_t list, const char *path, bool needed, struct errmsg *em)
{
    bool exists;
    uint64_t size;
    enum err e = s->fs->size(s->fs->self, path, &exists, &size, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!exists && needed) {
        return err_set(em, ERR_IO, "[%s] is missing", path);
    }
    if (!exists || size > LEXICON_FILE_BYTES_MAX || s->n >= SOURCES_MAX) {
        sources_warn(s, "[%s] %s", path, exists ? "is too long, or one file too many" : "is missing");
        return ERR_OK;
    }
    return ARENA_ADD(s->arena, s->v, s->n, s->cap, (struct source){path, list}) ? ERR_OK : err_no_memory(em);
}

enum err sources_add(struct sources *s, uint16_t list, struct str name, bool needed, struct errmsg *em)
{
    const char *path = arena_printf(s->arena, "%s/%.*s", s->folder, STR_ARG(name)).p;
    return path == NULL ? err_no_memory(em) : add_path(s, list, path, needed, em);
}

static enum err add_tree(struct sources *s, uint16_t list, const char *path, unsigned depth,
                         struct errmsg *em)
{
    struct fs_names names = {0};
    if (depth == 0 || s->fs->list(s->fs->self, path, s->arena, &names, NULL) != ERR_OK || names.n == 0) {
        return add_path(s, list, path, false,
                        em); /* no folder, or an empty one, which add_path finds absent */
    }
    enum err e = ERR_OK;
    for (size_t i = 0; i < names.n && e == ERR_OK; i++) {
        const char *child = arena_printf(s->arena, "%s/%.*s", path, STR_ARG(names.v[i])).p;
        e = child == NULL ? err_no_memory(em) : add_tree(s, list, child, depth - 1, em);
    }
    return e;
}

static bool leads_out(struct str name)
{
    struct str rest = name;
    while (rest.p != NULL) {
        struct str part = str_cut(rest, '/', &rest);
        if (str_is(part, "..")) {
            return true;
        }
    }
    return name.p[0] == '/' || str_find(name, '\0', 0) != SIZE_MAX;
}

enum err sources_add_named(struct sources *s, uint16_t list, struct str name, struct errmsg *em)
{
    name = text_trim(name);
    if (name.n == 0) {
        return ERR_OK;
    }
    if (leads_out(name)) {
        sources_warn(s, "[%.*s] lies outside the configuration folder", STR_ARG(name));
        return ERR_OK;
    }
    const char *path = arena_printf(s->arena, "%s/%.*s", s->folder, STR_ARG(name)).p;
    return path == NULL ? err_no_memory(em) : add_tree(s, list, path, FOLDER_DEPTH_MAX, em);
}

enum err sources_read(const struct sources *s,
                      enum err (*fn)(void *self, uint16_t list, struct str text, struct errmsg *em),
                      void *self, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < s->n && e == ERR_OK; i++) {
        struct fs_map map;
        e = s->fs->map(s->fs->self, s->v[i].path, &map, em);
        if (e != ERR_OK) {
            break;
        }
        e = fn(self, s->v[i].list, str_mk(map.p, map.n), em);
        s->fs->unmap(s->fs->self, &map);
        if (e != ERR_OK) {
            err_prefix(em, e, "[%s]", s->v[i].path);
        }
    }
    return e;
}

static enum err add_to_hash(void *self, uint16_t list, struct str text, UNUSED struct errmsg *em)
{
    uint64_t *h = self;
    *h = hash_bytes(text.p, text.n, *h ^ hash_u64(text.n) ^ list);
    return ERR_OK;
}

enum err sources_fingerprint(const struct sources *s, uint64_t *out, struct errmsg *em)
{
    uint64_t h = hash_u64(s->n);
    for (size_t i = 0; i < s->n; i++) {
        h = hash_bytes(s->v[i].path, strlen(s->v[i].path), h);
    }
    enum err e = sources_read(s, add_to_hash, &h, em);
    *out = h != 0 ? h : 1;
    return e;
}
