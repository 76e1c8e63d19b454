#include "node/data_folder.h"

#include "common/base/hash.h"
#include "master/metadata.h"

#include <inttypes.h>
#include <stdio.h>

/* <dir>/_state/node: the id, a blank, XXH3 of the id in hexadecimal digits, a line feed. Before there were checksums: the
 * id. */
#define NODE_ID_BYTES   22
#define NODE_FILE_BYTES (NODE_ID_BYTES + 1 + 16 + 1)

static struct str with_checksum(struct str id, struct arena *arena)
{
    return arena_printf(arena, "%.*s %016" PRIx64 "\n", STR_ARG(id), hash_bytes(id.p, id.n, 0));
}

static bool is_id(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
              || c == '_')) {
            return false;
        }
    }
    return s.n == NODE_ID_BYTES;
}

enum err node_id_read(struct str *out, bool *found, bool *older, const struct fs *fs, const char *dir,
                      struct arena *arena, struct errmsg *em)
{
    uint64_t n;
    struct str text = STR_NULL, path = arena_printf(arena, "%s/_state/node", dir);
    *found = *older = false;
    if (path.p == NULL) {
        return err_no_memory(em);
    }
    enum err e = fs->size(fs->self, path.p, found, &n, em);
    if (e != ERR_OK || !*found) {
        return e;
    }
    if (n <= NODE_FILE_BYTES) {
        e = fs_read_file(fs, path.p, NODE_FILE_BYTES, arena, &text, em);
    }
    *out = str_slice(text, 0, NODE_ID_BYTES);
    *older = e == ERR_OK && is_id(text);
    if (e != ERR_OK || *older) {
        return e;
    }
    struct str whole = is_id(*out) ? with_checksum(*out, arena) : STR_NULL;
    return whole.p != NULL && str_eq(text, whole)
               ? ERR_OK
               : err_set(
                   em, ERR_CORRUPT,
                   "%s is damaged: it says who this node is. Put it back from a copy, or see docs/damage.md",
                   path.p);
}

/* Anything in `<dir>/<name>` that begins so? */
static enum err any_in(const struct fs *fs, const char *dir, const char *name, const char *prefix,
                       size_t *count, struct arena *arena, struct errmsg *em)
{
    struct fs_names names;
    struct str path = arena_printf(arena, "%s/%s", dir, name);
    *count = 0;
    enum err e = path.p == NULL ? err_no_memory(em) : fs->list(fs->self, path.p, arena, &names, em);
    for (size_t i = 0; e == ERR_OK && i < names.n; i++) {
        *count += str_starts(names.v[i], str_of(prefix)) ? 1 : 0;
    }
    return e;
}

static enum err save(const struct fs *fs, const char *dir, struct str id, struct arena *arena,
                     struct errmsg *em)
{
    struct str state = arena_printf(arena, "%s/_state", dir),
               path = arena_printf(arena, "%s/_state/node", dir), text = with_checksum(id, arena);
    if (state.p == NULL || path.p == NULL || text.p == NULL) {
        return err_no_memory(em);
    }
    enum err e = fs->make_dir(fs->self, state.p, em);
    return e == ERR_OK ? fs_replace_file(fs, path.p, text, em) : e;
}

enum err node_id_load(struct str *out, const struct fs *fs, const char *dir, struct rng *rng,
                      struct arena *arena, struct errmsg *em)
{
    bool found, older;
    size_t logs = 0, seals = 0, indices = 0;
    enum err e = node_id_read(out, &found, &older, fs, dir, arena, em);
    if (e != ERR_OK || found) {
        return e == ERR_OK && older ? save(fs, dir, *out, arena, em) : e;
    }
    e = any_in(fs, dir, "_state", "state-", &logs, arena, em);
    e = e == ERR_OK ? any_in(fs, dir, "_state", "seal", &seals, arena, em) : e;
    e = e == ERR_OK ? any_in(fs, dir, "indices", "", &indices, arena, em) : e;
    if (e == ERR_OK && logs + seals + indices > 0) {
        e = err_set(
            em, ERR_CORRUPT,
            "%s/_state/node is missing: it says who this node is, and the folder is not that of a new one. "
            "Put it back from a copy, or see docs/damage.md",
            dir);
    }
    char id[NODE_ID_BYTES + 1];
    random_uuid(rng, id);
    *out = arena_str(arena, str_of(id));
    e = e == ERR_OK && out->p == NULL ? err_no_memory(em) : e;
    return e == ERR_OK ? save(fs, dir, *out, arena, em) : e;
}

enum err data_folder_check(const struct fs *fs, const char *dir, struct arena *arena, struct errmsg *em)
{
    size_t logs = 0, indices = 0;
    enum err e = any_in(fs, dir, "_state", "state-", &logs, arena, em);
    e = e == ERR_OK ? any_in(fs, dir, "indices", "", &indices, arena, em) : e;
    return e == ERR_OK && logs == 0 && indices > 0 ? err_set(
               em, ERR_CORRUPT,
               "%s/_state/state-*.log is missing: it says which indices there are, and %s/indices holds the "
               "data of %zu. Put it back from a copy, or see docs/damage.md",
               dir, dir, indices)
                                                   : e;
}
