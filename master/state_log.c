#include "master/state_log.h"

#include "common/base/hash.h"

#include <stdio.h>
#include <stdlib.h>

/* File: magic(8), then records: length of payload(4) checksum(8) kind(1) term(8) payload. The checksum is
 * XXH3 of what follows it, seeded with the length. */
#define LOG_MAGIC       "SeraiSL1"
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

static enum err read_log(struct state_log *l, uint64_t number, bool *whole, struct errmsg *em)
{
    char path[PATH_BYTES];
    struct fs_map map;
    struct record r;
    file_path(l, number, path);
    enum err e = l->fs->map(l->fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    struct bytes_in in = {map.p, map.p + map.n, false};
    *whole = map.n > MAGIC_BYTES && memcmp(map.p, LOG_MAGIC, MAGIC_BYTES) == 0;
    if (!*whole) {
        e = err_set(em, ERR_CORRUPT, "%s is no log of cluster states", path);
    } else {
        in.at += MAGIC_BYTES;
    }
    while (e == ERR_OK && get_record(&in, &r)) {
        e = apply_record(l, &r, em);
    }
    if (e == ERR_OK && bytes_left(&in) > 0) {
        *whole = false;
        e = more_behind(in)
                ? err_set(em, ERR_CORRUPT, "%s is damaged at byte %zu", path, map.n - bytes_left(&in))
                : ERR_OK;
    }
    l->bytes = map.n - bytes_left(&in);
    l->fs->unmap(l->fs->self, &map);
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
    enum err e = b.failed || payload.failed ? err_no_memory(em) : fs->open(fs->self, tmp, true, &l->file, em);
    e = e == ERR_OK ? fs->write(fs->self, l->file, b.p, b.n, em) : e;
    e = e == ERR_OK ? fs->sync(fs->self, l->file, em) : e;
    e = e == ERR_OK ? fs->rename(fs->self, tmp, path, em) : e;
    e = e == ERR_OK ? fs->sync_dir(fs->self, l->dir, em) : e;
    l->bytes = l->snapshot_bytes = b.n;
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

enum err state_log_open(struct state_log **out, const struct fs *fs, const char *dir, uint64_t *term,
                        struct cluster_state **state, struct errmsg *em)
{
    struct state_log *l = calloc(1, sizeof(*l));
    struct arena scratch;
    struct fs_names names;
    uint64_t newest = 0;
    *out = NULL;
    if (l == NULL) {
        return err_no_memory(em);
    }
    l->fs = fs;
    if ((size_t)snprintf(l->dir, sizeof(l->dir), "%s", dir) >= sizeof(l->dir)) {
        free(l);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the path [%s] is too long", dir);
    }
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    enum err e = fs->make_dir(fs->self, dir, em);
    e = e == ERR_OK ? fs->list(fs->self, dir, &scratch, &names, em) : e;
    for (size_t i = 0; e == ERR_OK && i < names.n; i++) {
        unsigned long long number;
        if (sscanf(names.v[i].p, "state-%llu.log", &number) == 1) {
            newest = MAX_OF(newest, number);
        }
    }
    arena_fini(&scratch);
    l->number = newest;
    bool whole = false;
    if (e == ERR_OK && newest > 0) {
        e = read_log(l, newest, &whole, em);
        l->snapshot_bytes = l->bytes;
    }
    if (e == ERR_OK && whole) {
        char path[PATH_BYTES];
        file_path(l, newest, path);
        e = fs->open(fs->self, path, false, &l->file, em);
    }
    if (e != ERR_OK) {
        state_log_close(l);
        return e;
    }
    find_reserve(l);
    *term = l->term;
    *state = l->state != NULL ? cluster_state_ref(l->state) : NULL;
    *out = l;
    return ERR_OK;
}

void state_log_close(struct state_log *l)
{
    if (l != NULL) {
        l->fs->close(l->fs->self, l->file);
        cluster_state_unref(l->state);
        free(l);
    }
}
