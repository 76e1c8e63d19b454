#include "data/shard/copy_data.h"

#include "common/base/bytes.h"
#include "engine/index/manifest.h"

#include <stdlib.h>

#define COPY_DATA_VERSION 1

void copy_data_encode(const struct copy_data *d, struct buf *out)
{
    put_u8(out, COPY_DATA_VERSION);
    put_str(out, d->allocation_id);
    put_str(out, d->history_uuid);
}

enum err copy_data_decode(struct copy_data *d, struct str bytes, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    uint8_t version = get_u8(&in);
    d->allocation_id = get_str(&in);
    d->history_uuid = get_str(&in);
    return in.bad || version != COPY_DATA_VERSION
               ? err_set(em, ERR_CORRUPT, "the commit does not say which copy it is")
               : ERR_OK;
}

/* ERR_OK with *found false when the file is not (or no longer) a manifest. */
static enum err read_manifest(const struct fs *fs, const char *path, struct arena *arena,
                              struct copy_data *out, bool *found, struct errmsg *em)
{
    struct fs_map map;
    struct manifest m;
    bool exists;
    uint64_t n;
    enum err e = fs->size(fs->self, path, &exists, &n, em);
    if (e != ERR_OK || !exists) {
        return e;
    }
    e = fs->map(fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    *found = manifest_decode(&m, str_mk(map.p, map.n), arena, em) == ERR_OK
             && copy_data_decode(out, m.user_data, em) == ERR_OK;
    fs->unmap(fs->self, &map);
    return ERR_OK;
}

/* The highest generation below `below`; 0: none. */
static uint64_t newest(const struct fs_names *names, uint64_t below)
{
    uint64_t best = 0;
    for (size_t i = 0; i < names->n; i++) {
        if (str_starts(names->v[i], STR(MANIFEST_PREFIX))) {
            uint64_t g = strtoull(names->v[i].p + sizeof(MANIFEST_PREFIX) - 1, NULL, 10);
            best = g < below && g > best ? g : best;
        }
    }
    return best;
}

enum err copy_data_read(const struct fs *fs, const char *dir, struct arena *arena, struct copy_data *out,
                        bool *found, struct errmsg *em)
{
    struct fs_names names;
    *found = false;
    enum err e = fs->list(fs->self, dir, arena, &names, em);
    uint64_t g = e == ERR_OK ? newest(&names, UINT64_MAX) : 0;
    for (; g > 0 && e == ERR_OK && !*found; g = newest(&names, g)) {
        char name[FILE_NAME_BYTES];
        manifest_file_name(g, name);
        const char *path = store_path(arena, dir, name);
        e = path != NULL ? read_manifest(fs, path, arena, out, found, em) : err_no_memory(em);
    }
    return e;
}
