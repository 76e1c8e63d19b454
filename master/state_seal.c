#include "master/state_seal.h"

#include "common/base/bytes.h"
#include "common/base/hash.h"

#include <stdio.h>

/* File: magic(8), then twice: number(8) bytes(8) chain(8) hash(8), the hash seeded with the slot. */
#define MAGIC       "SeraiSE1"
#define MAGIC_BYTES 8
#define SLOT_BYTES  32
#define SEAL_BYTES  (MAGIC_BYTES + 2 * SLOT_BYTES)
#define PATH_BYTES  1024

static void put_slot(char out[SLOT_BYTES], unsigned slot, const struct state_seal *s)
{
    store_u64(out, s->number);
    store_u64(out + 8, s->bytes);
    store_u64(out + 16, s->chain);
    store_u64(out + 24, hash_bytes(out, SLOT_BYTES - 8, slot + 1));
}

static bool get_slot(const uint8_t *p, unsigned slot, struct state_seal *s)
{
    *s = (struct state_seal){load_u64(p), load_u64(p + 8), load_u64(p + 16)};
    return load_u64(p + 24) == hash_bytes(p, SLOT_BYTES - 8, slot + 1);
}

static bool further(const struct state_seal *a, const struct state_seal *b)
{
    return a->number != b->number ? a->number > b->number : a->bytes > b->bytes;
}

static void seal_path(const char *dir, char out[PATH_BYTES])
{
    snprintf(out, PATH_BYTES, "%s/seal", dir);
}

enum err state_seal_read(const struct fs *fs, const char *dir, struct state_seal *out, enum seal_found *found,
                         unsigned *next, struct errmsg *em)
{
    char path[PATH_BYTES];
    struct fs_map map;
    bool exists;
    uint64_t n;
    seal_path(dir, path);
    *out = (struct state_seal){0};
    *found = SEAL_NONE;
    *next = 0;
    enum err e = fs->size(fs->self, path, &exists, &n, em);
    e = e == ERR_OK && exists ? fs->map(fs->self, path, &map, em) : e;
    if (e != ERR_OK || !exists) {
        return e;
    }
    *found = SEAL_DAMAGED;
    for (unsigned i = 0; i < 2 && map.n == SEAL_BYTES && memcmp(map.p, MAGIC, MAGIC_BYTES) == 0; i++) {
        struct state_seal s;
        if (get_slot(map.p + MAGIC_BYTES + (size_t)i * SLOT_BYTES, i, &s)
            && (*found == SEAL_DAMAGED || further(&s, out))) {
            *out = s;
            *next = 1 - i;
            *found = SEAL_WHOLE;
        }
    }
    fs->unmap(fs->self, &map);
    return ERR_OK;
}

static enum err make(const struct fs *fs, const char *path, struct errmsg *em)
{
    char bytes[SEAL_BYTES];
    memcpy(bytes, MAGIC, MAGIC_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        put_slot(bytes + MAGIC_BYTES + (size_t)i * SLOT_BYTES, i, &(struct state_seal){0});
    }
    return fs_replace_file(fs, path, str_mk(bytes, sizeof(bytes)), em);
}

enum err seal_file_open(struct seal_file *f, const struct fs *fs, const char *dir, struct errmsg *em)
{
    char path[PATH_BYTES];
    struct state_seal s;
    enum seal_found found;
    seal_path(dir, path);
    *f = (struct seal_file){.fs = fs};
    enum err e = state_seal_read(fs, dir, &s, &found, &f->next, em);
    e = e == ERR_OK && found != SEAL_WHOLE ? make(fs, path, em) : e;
    return e == ERR_OK ? fs->open(fs->self, path, false, &f->file, em) : e;
}

enum err seal_file_write(struct seal_file *f, const struct state_seal *s, bool sync, struct errmsg *em)
{
    char slot[SLOT_BYTES];
    if (f->file == NULL) {
        return ERR_OK;
    }
    put_slot(slot, f->next, s);
    enum err e = f->fs->patch(f->fs->self, f->file, MAGIC_BYTES + (uint64_t)f->next * SLOT_BYTES, slot,
                              sizeof(slot), em);
    e = e == ERR_OK && sync ? f->fs->sync(f->fs->self, f->file, em) : e;
    f->next = 1 - f->next;
    if (e != ERR_OK) {
        seal_file_close(f);
    }
    return e;
}

void seal_file_close(struct seal_file *f)
{
    if (f->file != NULL) {
        f->fs->close(f->fs->self, f->file);
        f->file = NULL;
    }
}
