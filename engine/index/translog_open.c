/* Making a translog, and opening one that a crash may have left. */
#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "engine/index/translog_int.h"

#include <stdio.h>

uint64_t translog_id_of(struct str user_data)
{
    uint64_t id = hash_bytes(user_data.p, user_data.n, 0);
    return id != 0 ? id : 1;
}

enum err translog_create(struct translog *t, const struct tlog_opts *o, uint64_t generation,
                         int64_t max_seq_before, int64_t global_checkpoint, struct errmsg *em)
{
    *t = (struct translog){.o = *o, .global_noted = global_checkpoint, .global_durable = global_checkpoint};
    struct tlog_gen g = {.written = TLOG_HEADER_BYTES};
    tlog_header_init(&g.header, o, generation);
    g.header.max_seq_before = max_seq_before;
    g.header.global_checkpoint = global_checkpoint;
    tlog_summary_init(&g.sum, &g.header);
    struct buf b;
    buf_init(&b, o->alloc, BUF_UNLIMITED);
    tlog_header_encode(&g.header, &b);
    t->first = t->last = tlog_chunk_new(t, generation, TLOG_HEADER_BYTES);
    char path[TLOG_PATH_BYTES];
    tlog_path(o->dir, generation, path);
    enum err e = ERR_OK;
    if (b.failed || t->first == NULL || !tlog_gens_reserve(t, 1)) {
        e = err_no_memory(em);
    } else {
        t->gens[t->n_gens++] = g;
        e = o->fs->open(o->fs->self, path, true, &t->file, em);
        e = e == ERR_OK ? o->fs->write(o->fs->self, t->file, b.p, b.n, em) : e;
        e = e == ERR_OK ? o->fs->sync(o->fs->self, t->file, em) : e;
    }
    buf_fini(&b);
    if (e != ERR_OK) {
        translog_fini(t);
    }
    return e;
}

/* Good bytes and no others, the marks at their end. */
static enum err write_good(struct translog *t, struct tlog_gen *g, struct str good, struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    char head[TLOG_HEADER_BYTES];
    uint64_t n = tlog_header_bytes(&g->header);
    memcpy(head, good.p, n);
    for (unsigned slot = 0; slot < 2 && !g->header.older; slot++) {
        char bytes[TLOG_MARK_BYTES];
        g->header.mark = (struct tlog_synced){g->sum.end, g->sum.ops, g->sum.max_seq};
        uint64_t at = tlog_mark_encode(&g->header.mark, g->header.generation, slot, bytes);
        memcpy(head + at, bytes, sizeof(bytes));
    }
    enum err e = fs->write(fs->self, t->file, head, n, em);
    return e == ERR_OK && good.n > n ? fs->write(fs->self, t->file, good.p + n, good.n - n, em) : e;
}

/* Makes the good part of the last generation durable. Its pages may be in the system's cache only, and if the
 * process before us died of a failed fsync, the system takes them for clean: another fsync would say yes and
 * do nothing. So the bytes are written again, to a new file that takes the old one's place. */
static enum err rewrite(struct translog *t, const char *path, struct tlog_gen *g, struct str good,
                        struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    char tmp[TLOG_PATH_BYTES];
    tlog_tmp_path(t->o.dir, tmp);
    enum err e = fs->remove(fs->self, tmp, em);
    e = e == ERR_OK ? fs->open(fs->self, tmp, true, &t->file, em) : e;
    e = e == ERR_OK ? write_good(t, g, good, em) : e;
    e = e == ERR_OK ? fs->sync(fs->self, t->file, em) : e;
    return e == ERR_OK ? fs->rename(fs->self, tmp, path, em) : e;
}

/* That the file is what its name says, and of this copy: one of another has operations of its own, however whole it is. */
static enum err check_place(struct translog *t, const struct tlog_header *h, uint64_t number,
                            struct errmsg *em)
{
    if (h->generation != number || h->shard != t->o.shard || strcmp(h->uuid, t->o.uuid) != 0) {
        return err_set(em, ERR_CORRUPT, "translog generation [%llu] is of another shard or place",
                       (unsigned long long)number);
    }
    if (h->id != 0 && t->o.id_is_new) { /* the commit is of before there were ids, and this was begun since */
        t->o.id = h->id;
        t->o.id_is_new = false;
    }
    return h->id == 0 || h->id == t->o.id
               ? ERR_OK
               : err_set(em, ERR_CORRUPT, "translog generation [%llu] is of another copy",
                         (unsigned long long)number);
}

/* `durable`: a generation whose header is known to be on disk. */
static enum err load_generation(struct translog *t, uint64_t number, bool last, uint64_t durable, bool *torn,
                                struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    char path[TLOG_PATH_BYTES];
    tlog_path(t->o.dir, number, path);
    struct fs_map map;
    *torn = false;
    enum err e = fs->map(fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    struct str bytes = str_mk(map.p, map.n);
    struct tlog_gen g = {0};
    e = tlog_header_decode(&g.header, bytes, torn, em);
    e = e == ERR_OK ? check_place(t, &g.header, number, em) : e;
    if (e == ERR_OK) {
        e = last ? tlog_scan(&g.sum, bytes, &g.header, em) : tlog_decode_end(&g.sum, bytes, &g.header, em);
        g.written = g.sum.end;
    }
    if (e == ERR_OK && last && g.sum.ended && g.header.followed) {
        e = err_set(em, ERR_CORRUPT, "translog generation [%llu] is missing", (unsigned long long)number + 1);
    }
    if (e == ERR_OK && last && (number != durable || bytes.n > tlog_header_bytes(&g.header))) {
        e = rewrite(t, path, &g, str_mk(bytes.p, g.sum.end), em);
    }
    fs->unmap(fs->self, &map);
    if (e == ERR_OK) {
        assert(t->n_gens < t->gens_cap);
        t->gens[t->n_gens++] = g;
    }
    return e;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The generations there are, ascending, from the first of the unbroken run that ends with the last; others
 * go. */
static enum err list_run(const struct translog *t, struct arena *arena, uint64_t **run_out, size_t *n_out,
                         struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    struct fs_names names;
    enum err e = fs->list(fs->self, t->o.dir, arena, &names, em);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t *v = ARENA_ARRAY(arena, uint64_t, names.n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    size_t n = 0;
    for (size_t i = 0; i < names.n; i++) {
        n += file_number(names.v[i], TLOG_PREFIX, &v[n]) ? 1 : 0;
    }
    sort_items(v, n, sizeof(*v), by_number);
    size_t first = n > 0 ? n - 1 : 0;
    while (first > 0 && v[first - 1] + 1 == v[first]) {
        first--;
    }
    for (size_t i = 0; i < first; i++) { /* left behind by an unfinished trim */
        char path[TLOG_PATH_BYTES];
        tlog_path(t->o.dir, v[i], path);
        fs->remove(fs->self, path, NULL);
    }
    *run_out = v + first;
    *n_out = n - first;
    return ERR_OK;
}

static enum err load_run(struct translog *t, const uint64_t *v, size_t n, uint64_t need, struct errmsg *em)
{
    if (n == 0 || need < v[0] || need > v[n - 1]) {
        return err_set(em, ERR_CORRUPT, "translog generation [%llu] is missing", (unsigned long long)need);
    }
    if (!tlog_gens_reserve(t, n + 1)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < n; i++) {
        bool torn, last = i + 1 == n;
        enum err e = load_generation(t, v[i], last, need, &torn, em);
        if (e == ERR_CORRUPT && torn && last && v[i] > need && t->n_gens > 0
            && t->gens[t->n_gens - 1].header.older) {
            return ERR_OK; /* it was being made, in its place: nothing was acknowledged from it */
        }
        if (e == ERR_CORRUPT && v[i] < need) {
            t->n_gens = 0; /* kept for other copies only: they do without */
        } else if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* The last generation again open for appending, or the next one begun. */
static enum err resume(struct translog *t, struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    const struct tlog_gen *g = translog_current(t);
    t->global_noted = t->global_durable = g->sum.global_checkpoint;
    char path[TLOG_PATH_BYTES];
    tlog_path(t->o.dir, g->header.generation, path);
    enum err e = t->file != NULL ? ERR_OK : fs->open(fs->self, path, false, &t->file, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!g->sum.ended) {
        t->first = t->last = tlog_chunk_new(t, g->header.generation, g->sum.end);
        return t->first != NULL ? ERR_OK : err_no_memory(em);
    }
    fs->close(fs->self, t->file);
    t->file = NULL;
    e = tlog_begin_generation(t, TLOG_NO_TRIM, em);
    if (e == ERR_OK) {
        t->location += t->last->bytes.n; /* a commit that names it waits until it is on the disk */
    }
    return e;
}

enum err translog_open(struct translog *t, const struct tlog_opts *o, uint64_t need, struct errmsg *em)
{
    *t = (struct translog){.o = *o};
    struct arena arena;
    arena_init(&arena, o->alloc, ARENA_UNLIMITED);
    uint64_t *v;
    size_t n;
    enum err e = list_run(t, &arena, &v, &n, em);
    e = e == ERR_OK ? load_run(t, v, n, need, em) : e;
    arena_fini(&arena);
    e = e == ERR_OK ? resume(t, em) : e;
    if (e != ERR_OK) {
        translog_fini(t);
    }
    return e;
}

void translog_fini(struct translog *t)
{
    assert(t->out == NULL);
    if (t->file != NULL) {
        t->o.fs->close(t->o.fs->self, t->file);
    }
    if (t->o.alloc != NULL) {
        tlog_chunks_free(t->o.alloc, t->first);
        tlog_chunk_free(t->o.alloc, t->spare);
        alloc_put(t->o.alloc, t->gens);
    }
    *t = (struct translog){0};
}
