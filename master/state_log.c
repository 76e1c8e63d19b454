#include "master/state_log.h"

#include "common/base/hash.h"
#include "common/base/torn.h"
#include "master/state_seal.h"

#include <stdio.h>
#include <stdlib.h>

/* File: magic(8), then records: length of payload(4) checksum(8) kind(1) term(8) payload. The checksum is
 * XXH3 of what follows it, seeded with the length. The seal beside it says how far it reached. */
#define LOG_MAGIC       "SeraiSL2"
#define LOG_MAGIC_1     "SeraiSL1" /* as SL2, without a seal */
#define MAGIC_BYTES     8
#define RECORD_BYTES    21          /* beside the payload */
#define LOG_GROWTH      4           /* times the snapshot, when a new file begins */
#define LOG_BYTES_LEAST (256 * KIB) /* below it never */
#define PATH_BYTES      1024

enum { RECORD_SNAPSHOT = 1, RECORD_DIFFERENCE, RECORD_TERM };

#define RESERVE_BYTES  ((size_t)256 << 10)
#define RESERVE_SHRINK ((size_t)64 << 10)
#define RESERVE_STEP   ((size_t)4 << 10)

struct state_log {
    const struct fs *fs;
    char dir[PATH_BYTES - 40];
    uint64_t number;
    struct fs_file *file; /* NULL: the next write begins a new one */
    uint64_t bytes, snapshot_bytes;
    uint64_t chain;        /* of the records' checksums */
    uint64_t sealed_bytes; /* what the seal said of this file when it was opened */
    struct seal_file seal;
    bool synced; /* all of the file is durable: nothing was written since by a process before this one */
    uint64_t term;
    struct cluster_state *state; /* as the file has it; NULL: none yet */
    size_t reserved;             /* bytes of the file of zeros */
};

static void file_path(const struct state_log *l, uint64_t number, char out[PATH_BYTES])
{
    snprintf(out, PATH_BYTES, "%s/state-%llu.log", l->dir, (unsigned long long)number);
}

/* ---- records ---- */

static void put_record(struct buf *b, uint8_t kind, uint64_t term, struct str payload)
{
    size_t at = b->n;
    put_u32(b, (uint32_t)payload.n);
    put_u64(b, 0);
    put_u8(b, kind);
    put_u64(b, term);
    buf_str(b, payload);
    if (!b->failed) {
        store_u64(b->p + at + 4, hash_bytes(b->p + at + 12, b->n - at - 12, payload.n));
    }
}

struct record {
    uint8_t kind;
    uint64_t term;
    struct str payload;
};

/* false: no record begins here that is whole. */
static bool get_record(struct bytes_in *in, struct record *r)
{
    if (bytes_left(in) < RECORD_BYTES) {
        return false;
    }
    uint32_t n = load_u32(in->at);
    if (n > bytes_left(in) - RECORD_BYTES || load_u64(in->at + 4) != hash_bytes(in->at + 12, n + 9, n)) {
        return false;
    }
    r->kind = in->at[12];
    r->term = load_u64(in->at + 13);
    r->payload = str_mk((const char *)in->at + RECORD_BYTES, n);
    in->at += RECORD_BYTES + n;
    return true;
}

static uint64_t chain_on(uint64_t chain, const void *record)
{
    return hash_u64(chain ^ load_u64((const char *)record + 4));
}

/* Is it there to its end, and wrong? Then it was not torn: with its own length, or with the one that it would have as the
 * last record. */
static bool whole_and_wrong(struct str bytes, size_t at)
{
    size_t n = bytes.n - at;
    const char *p = bytes.p + at;
    if (n < RECORD_BYTES || bytes_have_hole(bytes, at)) {
        return false;
    }
    size_t payload = n - RECORD_BYTES;
    return load_u32(p) <= payload || load_u64(p + 4) == hash_bytes(p + 12, payload + 9, payload);
}

/* Is there a whole record anywhere behind a broken one? Then it was not the last that was written. */
static bool more_behind(struct bytes_in in)
{
    struct record r;
    for (in.at++; bytes_left(&in) >= RECORD_BYTES; in.at++) {
        struct bytes_in try = in;
        if (get_record(&try, &r) && r.kind >= RECORD_SNAPSHOT && r.kind <= RECORD_TERM) {
            return true;
        }
    }
    return false;
}

static enum err apply_record(struct state_log *l, const struct record *r, struct errmsg *em)
{
    struct cluster_state *next = NULL;
    enum err e = ERR_OK;
    if (r->kind == RECORD_SNAPSHOT) {
        e = cluster_state_decode(&next, r->payload, em);
    } else if (r->kind == RECORD_DIFFERENCE) {
        e = l->state == NULL ? err_set(em, ERR_CORRUPT, "a difference before any snapshot")
                             : cluster_state_patch(&next, l->state, r->payload, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    l->term = r->term;
    if (next != NULL) {
        cluster_state_unref(l->state);
        l->state = next;
    }
    return ERR_OK;
}

/* Records up to the first that is not whole. `seal`: NULL, or how far this file had reached. */
static enum err read_records(struct state_log *l, struct bytes_in *in, const uint8_t *begin,
                             const struct state_seal *seal, bool *sealed, struct errmsg *em)
{
    struct record r;
    const uint8_t *at = in->at;
    enum err e = ERR_OK;
    *sealed = seal == NULL;
    while (e == ERR_OK && get_record(in, &r)) {
        e = apply_record(l, &r, em);
        l->chain = chain_on(l->chain, at);
        at = in->at;
        *sealed |= seal != NULL && (uint64_t)(at - begin) == seal->bytes && l->chain == seal->chain;
    }
    return e;
}

static enum err damaged(const char *path, const struct fs_map *map, size_t at, const struct state_seal *seal,
                        struct errmsg *em)
{
    if (seal != NULL && map->n < seal->bytes) {
        return err_set(em, ERR_CORRUPT, "%s has been cut short: it has %zu bytes, and had %llu", path, map->n,
                       (unsigned long long)seal->bytes);
    }
    return err_set(em, ERR_CORRUPT, "%s is damaged at byte %zu", path, at);
}

static enum err read_bytes(struct state_log *l, const char *path, const struct fs_map *map,
                           const struct state_seal *seal, bool *whole, struct errmsg *em)
{
    struct bytes_in in = {map->p, map->p + map->n, false};
    bool magic = map->n > MAGIC_BYTES && memcmp(map->p, LOG_MAGIC, MAGIC_BYTES) == 0;
    bool older = map->n > MAGIC_BYTES && memcmp(map->p, LOG_MAGIC_1, MAGIC_BYTES) == 0;
    if (!magic && !older) {
        return err_set(em, ERR_CORRUPT, "%s is no log of cluster states", path);
    }
    bool sealed;
    in.at += MAGIC_BYTES;
    enum err e = read_records(l, &in, map->p, seal, &sealed, em);
    l->bytes = map->n - bytes_left(&in);
    if (e != ERR_OK) {
        return err_prefix(em, e, "%s", path);
    }
    *whole = bytes_left(&in) == 0 && magic; /* an older one is not gone on with */
    bool wrong =
        bytes_left(&in) > 0 && (whole_and_wrong(str_mk(map->p, map->n), l->bytes) || more_behind(in));
    return !sealed || wrong ? damaged(path, map, l->bytes, seal, em) : ERR_OK;
}

static enum err read_log(struct state_log *l, uint64_t number, const struct state_seal *seal, bool *whole,
                         struct errmsg *em)
{
    char path[PATH_BYTES];
    struct fs_map map;
    file_path(l, number, path);
    enum err e = l->fs->map(l->fs->self, path, &map, em);
    if (e == ERR_OK) {
        l->chain = number;
        e = read_bytes(l, path, &map, seal, whole, em);
        l->fs->unmap(l->fs->self, &map);
    }
    return e;
}

/* ---- writing ---- */

static void remove_older(struct state_log *l)
{
    char path[PATH_BYTES];
    struct arena scratch;
    struct fs_names names;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    if (l->fs->list(l->fs->self, l->dir, &scratch, &names, NULL) == ERR_OK) {
        for (size_t i = 0; i < names.n; i++) {
            unsigned long long number;
            if (sscanf(names.v[i].p, "state-%llu.log", &number) == 1 && number < l->number) {
                file_path(l, number, path);
                (void)l->fs->remove(l->fs->self, path, NULL); /* tried again at the next new file */
            }
        }
    }
    arena_fini(&scratch);
}

/* Only once all that it speaks of is durable. */
static enum err write_seal(struct state_log *l, bool sync, struct errmsg *em)
{
    l->synced = true;
    const struct state_seal s = {l->number, l->bytes, l->chain};
    return seal_file_write(&l->seal, &s, sync, em);
}

/* A new file with a snapshot; the older one goes once its name is durable. */
static enum err begin_file(struct state_log *l, uint64_t term, struct cluster_state *state, struct errmsg *em)
{
    const struct fs *fs = l->fs;
    char path[PATH_BYTES], tmp[PATH_BYTES];
    struct buf payload, b;
    buf_init(&payload, NULL, BUF_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    fs->close(fs->self, l->file);
    l->file = NULL;
    l->number++;
    file_path(l, l->number, path);
    snprintf(tmp, sizeof(tmp), "%s/state.tmp", l->dir);
    buf_add(&b, LOG_MAGIC, MAGIC_BYTES);
    if (state != NULL) {
        cluster_state_encode(state, &payload);
    }
    put_record(&b, state != NULL ? RECORD_SNAPSHOT : RECORD_TERM, term, buf_view(&payload));
    enum err e = b.failed || payload.failed ? err_no_memory(em) : ERR_OK;
    e = e == ERR_OK && l->seal.file == NULL ? seal_file_open(&l->seal, fs, l->dir, em) : e;
    /* Not the file of an attempt that failed: the system may take its pages for clean. */
    e = e == ERR_OK ? fs->remove(fs->self, tmp, em) : e;
    e = e == ERR_OK ? fs->open(fs->self, tmp, true, &l->file, em) : e;
    e = e == ERR_OK ? fs->write(fs->self, l->file, b.p, b.n, em) : e;
    e = e == ERR_OK ? fs->sync(fs->self, l->file, em) : e;
    e = e == ERR_OK ? fs->rename(fs->self, tmp, path, em) : e;
    e = e == ERR_OK ? fs->sync_dir(fs->self, l->dir, em) : e;
    l->bytes = l->snapshot_bytes = b.n;
    l->chain = b.failed ? 0 : chain_on(l->number, b.p + MAGIC_BYTES);
    e = e == ERR_OK ? write_seal(l, true, em) : e;
    if (e != ERR_OK) {
        fs->close(fs->self, l->file);
        l->file = NULL;
    } else {
        remove_older(l);
    }
    buf_fini(&payload);
    buf_fini(&b);
    return e;
}

static enum err append(struct state_log *l, uint64_t term, struct cluster_state *state, struct errmsg *em)
{
    struct buf payload, b;
    buf_init(&payload, NULL, BUF_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (state != NULL) {
        cluster_state_diff(l->state, state, &payload);
    }
    put_record(&b, state != NULL ? RECORD_DIFFERENCE : RECORD_TERM, term, buf_view(&payload));
    enum err e =
        b.failed || payload.failed ? err_no_memory(em) : l->fs->write(l->fs->self, l->file, b.p, b.n, em);
    e = e == ERR_OK ? l->fs->sync(l->fs->self, l->file, em) : e;
    l->bytes += b.n;
    if (e == ERR_OK) { /* without its seal nobody would miss a record that the disk did not keep */
        l->chain = chain_on(l->chain, b.p);
        e = write_seal(l, false, em);
    }
    if (e != ERR_OK) { /* nothing is known of the tail: begin anew */
        l->fs->close(l->fs->self, l->file);
        l->file = NULL;
    }
    buf_fini(&payload);
    buf_fini(&b);
    return e;
}

/* ---- room on a full disk ---- */

/* A shard that fails because the disk is full has to be told of in a state, so that room for states is kept: a
 * file of zeros, which shrinks when a write fails, and grows again when there is room. */
static void reserve_path(const struct state_log *l, char out[PATH_BYTES])
{
    snprintf(out, PATH_BYTES, "%s/reserve", l->dir);
}

static void grow_reserve(struct state_log *l)
{
    static const char zeros[RESERVE_STEP];
    char path[PATH_BYTES];
    struct fs_file *f = NULL;
    reserve_path(l, path);
    enum err e = l->fs->open(l->fs->self, path, l->reserved == 0, &f, NULL);
    while (e == ERR_OK && l->reserved < RESERVE_BYTES) {
        e = l->fs->write(l->fs->self, f, zeros, sizeof(zeros), NULL);
        l->reserved += e == ERR_OK ? sizeof(zeros) : 0;
    }
    l->fs->close(l->fs->self, f);
    if (e != ERR_OK && l->reserved > 0) { /* what a failed write left behind it */
        l->fs->truncate(l->fs->self, path, l->reserved, NULL);
    }
}

static bool shrink_reserve(struct state_log *l)
{
    char path[PATH_BYTES];
    size_t less = MIN_OF(l->reserved, RESERVE_SHRINK);
    reserve_path(l, path);
    if (less == 0 || l->fs->truncate(l->fs->self, path, l->reserved - less, NULL) != ERR_OK) {
        return false;
    }
    l->reserved -= less;
    return true;
}

/* What an earlier process left. */
static void find_reserve(struct state_log *l)
{
    char path[PATH_BYTES];
    bool exists;
    uint64_t n;
    reserve_path(l, path);
    if (l->fs->size(l->fs->self, path, &exists, &n, NULL) == ERR_OK && exists) {
        l->reserved = (size_t)MIN_OF(n, (uint64_t)RESERVE_BYTES);
    }
}

static enum err write_once(struct state_log *l, uint64_t term, struct cluster_state *state, struct errmsg *em)
{
    bool grown = l->bytes > LOG_BYTES_LEAST && l->bytes > l->snapshot_bytes * LOG_GROWTH;
    bool anew = l->file == NULL || grown || (state != NULL && l->state == NULL);
    enum err e =
        anew ? begin_file(l, term, state != NULL ? state : l->state, em) : append(l, term, state, em);
    if (e == ERR_OK) {
        l->term = term;
        if (state != NULL) {
            cluster_state_unref(l->state);
            l->state = cluster_state_ref(state);
        }
    }
    return e;
}

enum err state_log_write(struct state_log *l, uint64_t term, struct cluster_state *state, struct errmsg *em)
{
    enum err e = write_once(l, term, state, em);
    while (e == ERR_IO && shrink_reserve(l)) {
        e = write_once(l, term, state, em);
    }
    if (e == ERR_OK && l->reserved < RESERVE_BYTES) {
        grow_reserve(l);
    }
    return e;
}

/* The newest file, and whether it is as the seal says. */
static enum err read_newest(struct state_log *l, uint64_t newest, bool *whole, struct errmsg *em)
{
    struct state_seal seal;
    enum seal_found found;
    unsigned next;
    enum err e = state_seal_read(l->fs, l->dir, &seal, &found, &next, em);
    if (e == ERR_OK && seal.number > newest) {
        e = err_set(em, ERR_CORRUPT,
                    "%s/state-%llu.log is missing: it holds the cluster's metadata. Put it back from a copy, "
                    "or see docs/damage.md",
                    l->dir, (unsigned long long)seal.number);
    }
    if (e != ERR_OK || newest == 0) {
        return e;
    }
    bool of_this = found == SEAL_WHOLE && seal.number == newest;
    l->sealed_bytes = of_this ? seal.bytes : 0;
    e = read_log(l, newest, of_this ? &seal : NULL, whole, em);
    l->snapshot_bytes = l->bytes;
    return e == ERR_OK && *whole && found == SEAL_NONE
               ? err_set(em, ERR_CORRUPT,
                         "%s/seal is missing: it says how far the log of cluster states reaches. Put it back "
                         "from a copy, or see docs/damage.md",
                         l->dir)
               : e;
}

/* Without making or opening anything. */
static enum err begin_reading(struct state_log **out, const struct fs *fs, const char *dir, bool *whole,
                              struct errmsg *em)
{
    struct state_log *l = calloc(1, sizeof(*l));
    struct arena scratch;
    struct fs_names names;
    *out = NULL;
    *whole = false;
    if (l == NULL) {
        return err_no_memory(em);
    }
    l->fs = fs;
    if ((size_t)snprintf(l->dir, sizeof(l->dir), "%s", dir) >= sizeof(l->dir)) {
        free(l);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the path [%s] is too long", dir);
    }
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    enum err e = fs->list(fs->self, dir, &scratch, &names, em);
    for (size_t i = 0; e == ERR_OK && i < names.n; i++) {
        unsigned long long number;
        if (sscanf(names.v[i].p, "state-%llu.log", &number) == 1) {
            l->number = MAX_OF(l->number, number);
        }
    }
    arena_fini(&scratch);
    e = e == ERR_OK ? read_newest(l, l->number, whole, em) : e;
    if (e != ERR_OK) {
        state_log_close(l);
        return e;
    }
    *out = l;
    return ERR_OK;
}

enum err state_log_read(const struct fs *fs, const char *dir, uint64_t *term, struct cluster_state **state,
                        struct errmsg *em)
{
    struct state_log *l;
    bool whole;
    enum err e = begin_reading(&l, fs, dir, &whole, em);
    if (e == ERR_OK) {
        *term = l->term;
        *state = l->state != NULL ? cluster_state_ref(l->state) : NULL;
        state_log_close(l);
    }
    return e;
}

/* Goes on with the file where all of it is sealed. A tail that is not may be in the system's memory alone: a sync of it failed
 * in a process that ended, and another sync of that file keeps nothing. A new file holds what was found. */
static enum err log_continue(struct state_log *l, bool whole, struct errmsg *em)
{
    char path[PATH_BYTES];
    if (l->number == 0) {
        return ERR_OK;
    }
    if (!whole || l->sealed_bytes != l->bytes) {
        return state_log_write(l, l->term, NULL, em);
    }
    file_path(l, l->number, path);
    enum err e = l->fs->open(l->fs->self, path, false, &l->file, em);
    return e == ERR_OK ? seal_file_open(&l->seal, l->fs, l->dir, em) : e;
}

enum err state_log_open(struct state_log **out, const struct fs *fs, const char *dir, uint64_t *term,
                        struct cluster_state **state, struct errmsg *em)
{
    struct state_log *l = NULL;
    bool whole;
    *out = NULL;
    enum err e = fs->make_dir(fs->self, dir, em);
    /* A process that ended may have left a name that is not durable: what is gone on with must stay. */
    e = e == ERR_OK ? fs->sync_dir(fs->self, dir, em) : e;
    e = e == ERR_OK ? begin_reading(&l, fs, dir, &whole, em) : e;
    if (e == ERR_OK) {
        find_reserve(l);
        e = log_continue(l, whole, em);
    }
    if (e != ERR_OK) {
        state_log_close(l);
        return e;
    }
    *term = l->term;
    *state = l->state != NULL ? cluster_state_ref(l->state) : NULL;
    *out = l;
    return ERR_OK;
}

void state_log_close(struct state_log *l)
{
    if (l != NULL) {
        l->fs->close(l->fs->self, l->file);
        if (l->file != NULL && l->synced) { /* what the last write left is durable */
            (void)write_seal(l, true, NULL);
        }
        seal_file_close(&l->seal);
        cluster_state_unref(l->state);
        free(l);
    }
}
