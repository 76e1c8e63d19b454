#include "engine/index/translog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_BYTES 4096

static void gen_path(const char *dir, uint64_t generation, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/" TLOG_PREFIX "%" PRIu64, dir, generation);
}

bool file_number(struct str name, const char *prefix, uint64_t *out)
{
    size_t n = strlen(prefix);
    if (!str_starts(name, str_of(prefix)) || name.n == n || name.n > n + 18
        || (name.p[n] == '0' && name.n > n + 1)) {
        return false;
    }
    uint64_t v = 0;
    for (size_t i = n; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9') {
            return false;
        }
        v = v * 10 + (uint64_t)(name.p[i] - '0');
    }
    *out = v;
    return true;
}

/* ---- chunks and generations ---- */

static struct tlog_chunk *chunk_new(const struct translog *t, uint64_t generation, uint64_t at)
{
    struct tlog_chunk *c = alloc_get(t->o.alloc, sizeof(*c));
    if (c != NULL) {
        *c = (struct tlog_chunk){.generation = generation, .at = at, .global_checkpoint = SEQ_UNASSIGNED};
        buf_init(&c->bytes, t->o.alloc, BUF_UNLIMITED);
    }
    return c;
}

static void chunk_free(const struct allocator *alloc, struct tlog_chunk *c)
{
    if (c != NULL) {
        buf_fini(&c->bytes);
        alloc_put(alloc, c->seqs);
        alloc_put(alloc, c);
    }
}

static void chunks_free(const struct allocator *alloc, struct tlog_chunk *c)
{
    while (c != NULL) {
        struct tlog_chunk *next = c->next;
        chunk_free(alloc, c);
        c = next;
    }
}

static bool gens_reserve(struct translog *t, size_t n)
{
    if (n > t->gens_cap) {
        size_t cap = MAX_OF(n, t->gens_cap * 2);
        struct tlog_gen *gens = t->o.alloc->resize(t->o.alloc->self, t->gens, cap * sizeof(*gens));
        if (gens == NULL) {
            return false;
        }
        t->gens = gens;
        t->gens_cap = cap;
    }
    return true;
}

static void push_chunk(struct translog *t, struct tlog_chunk *c)
{
    if (t->last != NULL) {
        t->last->next = c;
    } else {
        t->first = c;
    }
    t->last = c;
}

static void header_init(struct tlog_header *h, const struct tlog_opts *o, uint64_t generation)
{
    *h = (struct tlog_header){.generation = generation,
                              .shard = o->shard,
                              .trim_above = TLOG_NO_TRIM,
                              .max_seq_before = SEQ_NONE,
                              .created_ms = clock_wall_ms(o->clock),
                              .global_checkpoint = SEQ_NONE};
    snprintf(h->uuid, sizeof(h->uuid), "%s", o->uuid);
}

/* The next generation, its header waiting to be written; the last one must be complete. */
static enum err begin_generation(struct translog *t, int64_t trim_above, struct errmsg *em)
{
    const struct tlog_gen *old = translog_current(t);
    struct tlog_gen g = {.written = 0};
    header_init(&g.header, &t->o, old->header.generation + 1);
    g.header.trim_above = trim_above;
    g.header.max_seq_before = MIN_OF(MAX_OF(old->header.max_seq_before, old->sum.max_seq), trim_above);
    g.header.global_checkpoint = t->global_noted;
    struct tlog_chunk *c = chunk_new(t, g.header.generation, 0);
    if (c == NULL || !gens_reserve(t, t->n_gens + 1)) {
        chunk_free(t->o.alloc, c);
        return err_no_memory(em);
    }
    tlog_header_encode(&g.header, &c->bytes);
    if (c->bytes.failed) {
        chunk_free(t->o.alloc, c);
        return err_no_memory(em);
    }
    c->create = true;
    c->global_checkpoint = t->global_noted;
    tlog_summary_init(&g.sum, &g.header);
    t->gens[t->n_gens++] = g;
    t->tail_bytes += c->bytes.n;
    push_chunk(t, c);
    return ERR_OK;
}

enum err translog_roll(struct translog *t, int64_t trim_above, struct errmsg *em)
{
    struct tlog_gen *g = translog_current(t);
    struct tlog_chunk *c = t->last;
    size_t before = c->bytes.n;
    tlog_encode_end(&c->bytes, g->header.generation, g->sum.end, g->written, &g->sum);
    enum err e = c->bytes.failed ? err_no_memory(em) : begin_generation(t, trim_above, em);
    if (e != ERR_OK) {
        c->bytes.failed = false;
        buf_truncate(&c->bytes, before);
        return e;
    }
    size_t size = c->bytes.n - before;
    g = &t->gens[t->n_gens - 2];
    g->sum.end += size;
    g->sum.ended = true;
    t->tail_bytes += size;
    t->location += size; /* who waits for it waits for the next generation's file as well */
    c->finish = true;
    return ERR_OK;
}

/* ---- appending ---- */

struct tlog_mark translog_mark(const struct translog *t)
{
    return (struct tlog_mark){t->last->bytes.n, translog_current(t)->sum, t->location};
}

void translog_unappend(struct translog *t, struct tlog_mark m)
{
    struct tlog_chunk *c = t->last;
    assert(c->bytes.n >= m.bytes && c->n_seqs > 0);
    t->tail_bytes -= c->bytes.n - m.bytes;
    buf_truncate(&c->bytes, m.bytes);
    c->n_seqs--;
    translog_current(t)->sum = m.sum;
    t->location = m.location;
}

enum err translog_append(struct translog *t, const struct engine_op *op, struct errmsg *em)
{
    struct tlog_gen *g = translog_current(t);
    struct tlog_chunk *c = t->last;
    if (c->n_seqs == c->seqs_cap) {
        size_t cap = c->seqs_cap == 0 ? 16 : c->seqs_cap * 2;
        int64_t *seqs = t->o.alloc->resize(t->o.alloc->self, c->seqs, cap * sizeof(*seqs));
        if (seqs == NULL) {
            return err_no_memory(em);
        }
        c->seqs = seqs;
        c->seqs_cap = cap;
    }
    size_t before = c->bytes.n;
    tlog_encode_op(&c->bytes, g->header.generation, g->sum.end, g->written, op);
    if (c->bytes.failed) {
        c->bytes.failed = false;
        buf_truncate(&c->bytes, before);
        return err_no_memory(em);
    }
    struct tlog_record r = {.kind = (enum tlog_kind)op->kind, .size = c->bytes.n - before};
    r.op.seq_no = op->seq_no;
    tlog_summary_add(&g->sum, &r);
    c->seqs[c->n_seqs++] = op->seq_no;
    t->tail_bytes += r.size;
    t->location += r.size;
    return ERR_OK;
}

enum err translog_note_global(struct translog *t, int64_t global_checkpoint, struct errmsg *em)
{
    struct tlog_gen *g = translog_current(t);
    struct tlog_chunk *c = t->last;
    size_t before = c->bytes.n;
    tlog_encode_global(&c->bytes, g->header.generation, g->sum.end, g->written, global_checkpoint);
    if (c->bytes.failed) {
        c->bytes.failed = false;
        buf_truncate(&c->bytes, before);
        return err_no_memory(em);
    }
    struct tlog_record r = {
        .kind = TLOG_GLOBAL, .size = c->bytes.n - before, .global_checkpoint = global_checkpoint};
    tlog_summary_add(&g->sum, &r);
    t->tail_bytes += r.size;
    t->global_noted = c->global_checkpoint = global_checkpoint;
    return ERR_OK;
}

/* ---- syncing ---- */

bool translog_waits(const struct translog *t)
{
    return t->first->bytes.n > 0 || t->first != t->last;
}

enum err translog_seal(struct translog *t, struct tlog_job **out, struct errmsg *em)
{
    *out = NULL;
    if (t->out != NULL || !translog_waits(t)) {
        return ERR_OK;
    }
    const struct tlog_gen *g = translog_current(t);
    struct tlog_job *j = alloc_get(t->o.alloc, sizeof(*j));
    struct tlog_chunk *next = t->spare != NULL ? t->spare : chunk_new(t, 0, 0);
    if (j == NULL || next == NULL) {
        alloc_put(t->o.alloc, j);
        t->spare = next;
        return err_no_memory(em);
    }
    t->spare = NULL;
    next->generation = g->header.generation;
    next->at = g->sum.end;
    t->last->location = t->location;
    *j = (struct tlog_job){.chunks = t->first, .fs = t->o.fs, .dir = t->o.dir, .file = t->file};
    t->file = NULL;
    t->first = t->last = next;
    t->out = *out = j;
    return ERR_OK;
}

static enum err run(struct tlog_job *j, struct errmsg *em)
{
    const struct fs *fs = j->fs;
    bool made = false, dirty = false;
    for (struct tlog_chunk *c = j->chunks; c != NULL; c = c->next) {
        enum err e = ERR_OK;
        if (c->create) {
            char path[PATH_BYTES];
            gen_path(j->dir, c->generation, path);
            e = fs->remove(fs->self, path, em); /* what a crash left of an attempt */
            e = e == ERR_OK ? fs->open(fs->self, path, true, &j->file, em) : e;
            if (e != ERR_OK) {
                j->file = NULL;
                return e;
            }
            made = true;
        }
        if (c->bytes.n > 0) {
            dirty = true;
            e = fs->write(fs->self, j->file, c->bytes.p, c->bytes.n, em);
        }
        if (e == ERR_OK && c->finish) {
            e = fs->sync(fs->self, j->file, em);
            fs->close(fs->self, j->file);
            j->file = NULL;
            dirty = false;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    enum err e = dirty ? fs->sync(fs->self, j->file, em) : ERR_OK;
    return e == ERR_OK && made ? fs->sync_dir(fs->self, j->dir, em) : e;
}

void translog_job_run(struct tlog_job *j)
{
    err_clear(&j->em);
    j->result = run(j, &j->em);
    if (j->result != ERR_OK && j->file != NULL) {
        j->fs->close(j->fs->self, j->file);
        j->file = NULL;
    }
}

static struct tlog_gen *find_gen(const struct translog *t, uint64_t generation)
{
    uint64_t first = t->gens[0].header.generation;
    assert(generation >= first && generation - first < t->n_gens);
    return &t->gens[generation - first];
}

static void take_chunk(struct translog *t, struct tlog_chunk *c, void (*persisted)(void *, int64_t),
                       void *self)
{
    struct tlog_gen *g = find_gen(t, c->generation);
    assert(g->written == c->at);
    g->written += c->bytes.n;
    t->tail_bytes -= c->bytes.n;
    for (size_t i = 0; i < c->n_seqs; i++) {
        persisted(self, c->seqs[i]);
    }
    if (c->global_checkpoint != SEQ_UNASSIGNED) {
        t->global_durable = MAX_OF(t->global_durable, c->global_checkpoint);
    }
    if (c->next == NULL) {
        t->durable = c->location;
    }
}

enum err translog_job_finish(struct translog *t, struct tlog_job *j,
                             void (*persisted)(void *self, int64_t seq), void *self, struct errmsg *em)
{
    assert(t->out == j);
    t->out = NULL;
    enum err e = j->result;
    if (e == ERR_OK) {
        t->file = j->file;
        for (struct tlog_chunk *c = j->chunks; c != NULL; c = c->next) {
            take_chunk(t, c, persisted, self);
        }
    } else if (em != NULL) {
        *em = j->em;
    }
    struct tlog_chunk *c = j->chunks;
    if (e == ERR_OK && t->spare == NULL && c->bytes.cap <= 64 * KIB && c->seqs_cap <= 1024) {
        chunks_free(t->o.alloc, c->next);
        struct buf bytes = c->bytes;
        buf_reset(&bytes);
        *c = (struct tlog_chunk){
            .bytes = bytes, .seqs = c->seqs, .seqs_cap = c->seqs_cap, .global_checkpoint = SEQ_UNASSIGNED};
        t->spare = c;
    } else {
        chunks_free(t->o.alloc, c);
    }
    alloc_put(t->o.alloc, j);
    return e;
}

/* ---- what is kept ---- */

int64_t translog_trim_of(const struct translog *t, uint64_t generation)
{
    int64_t trim = TLOG_NO_TRIM;
    for (size_t i = t->n_gens; i > 0 && t->gens[i - 1].header.generation > generation; i--) {
        trim = MIN_OF(trim, t->gens[i - 1].header.trim_above);
    }
    return trim;
}

uint64_t translog_generation_above(const struct translog *t, int64_t seq)
{
    for (size_t i = 0; i + 1 < t->n_gens; i++) {
        const struct tlog_gen *g = &t->gens[i];
        if (g->sum.ops > 0 && MIN_OF(g->sum.max_seq, translog_trim_of(t, g->header.generation)) > seq) {
            return g->header.generation;
        }
    }
    return translog_current(t)->header.generation;
}

int64_t translog_history_from(const struct translog *t)
{
    return MIN_OF(t->gens[0].header.max_seq_before, translog_trim_of(t, t->gens[0].header.generation)) + 1;
}

void translog_trim(struct translog *t, uint64_t generation)
{
    size_t n = 0;
    while (n + 1 < t->n_gens) {
        const struct tlog_gen *g = &t->gens[n];
        if (g->header.generation >= generation || g->written != g->sum.end || t->gens[n + 1].written == 0) {
            break;
        }
        char path[PATH_BYTES];
        gen_path(t->o.dir, g->header.generation, path);
        if (t->o.fs->remove(t->o.fs->self, path, NULL) != ERR_OK) {
            break;
        }
        n++;
    }
    memmove(t->gens, t->gens + n, (t->n_gens - n) * sizeof(*t->gens));
    t->n_gens -= n;
}

void translog_size(const struct translog *t, uint64_t generation, uint64_t *ops, uint64_t *bytes)
{
    *ops = *bytes = 0;
    for (size_t i = 0; i < t->n_gens; i++) {
        if (t->gens[i].header.generation >= generation) {
            *ops += t->gens[i].sum.ops;
            *bytes += t->gens[i].sum.end;
        }
    }
}

/* ---- life ---- */

enum err translog_create(struct translog *t, const struct tlog_opts *o, uint64_t generation,
                         int64_t max_seq_before, int64_t global_checkpoint, struct errmsg *em)
{
    *t = (struct translog){.o = *o, .global_noted = global_checkpoint, .global_durable = global_checkpoint};
    struct tlog_gen g = {.written = TLOG_HEADER_BYTES};
    header_init(&g.header, o, generation);
    g.header.max_seq_before = max_seq_before;
    g.header.global_checkpoint = global_checkpoint;
    tlog_summary_init(&g.sum, &g.header);
    struct buf b;
    buf_init(&b, o->alloc, BUF_UNLIMITED);
    tlog_header_encode(&g.header, &b);
    t->first = t->last = chunk_new(t, generation, TLOG_HEADER_BYTES);
    char path[PATH_BYTES];
    gen_path(o->dir, generation, path);
    enum err e = ERR_OK;
    if (b.failed || t->first == NULL || !gens_reserve(t, 1)) {
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

/* Makes the good part of the last generation durable. Its pages may be in the system's cache only, and if the
 * process before us died of a failed fsync, the system takes them for clean: another fsync would say yes and
 * do nothing. So the bytes are written again, to a new file that takes the old one's place. */
static enum err rewrite(struct translog *t, const char *path, struct str good, struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    char tmp[PATH_BYTES];
    snprintf(tmp, sizeof(tmp), "%s/" TLOG_TMP, t->o.dir);
    enum err e = fs->remove(fs->self, tmp, em);
    e = e == ERR_OK ? fs->open(fs->self, tmp, true, &t->file, em) : e;
    e = e == ERR_OK ? fs->write(fs->self, t->file, good.p, good.n, em) : e;
    e = e == ERR_OK ? fs->sync(fs->self, t->file, em) : e;
    return e == ERR_OK ? fs->rename(fs->self, tmp, path, em) : e;
}

/* `durable`: a generation whose header is known to be on disk. */
static enum err load_generation(struct translog *t, uint64_t number, bool last, uint64_t durable, bool *torn,
                                struct errmsg *em)
{
    const struct fs *fs = t->o.fs;
    char path[PATH_BYTES];
    gen_path(t->o.dir, number, path);
    struct fs_map map;
    *torn = false;
    enum err e = fs->map(fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    struct str bytes = str_mk(map.p, map.n);
    struct tlog_gen g = {0};
    e = tlog_header_decode(&g.header, bytes, torn, em);
    if (e == ERR_OK
        && (g.header.generation != number || g.header.shard != t->o.shard
            || strcmp(g.header.uuid, t->o.uuid))) {
        e = err_set(em, ERR_CORRUPT, "translog generation [%llu] is of another shard or place",
                    (unsigned long long)number);
    }
    if (e == ERR_OK) {
        e = last ? tlog_scan(&g.sum, bytes, &g.header, em) : tlog_decode_end(&g.sum, bytes, number, em);
        g.written = g.sum.end;
    }
    if (e == ERR_OK && last && (number != durable || bytes.n > TLOG_HEADER_BYTES)) {
        e = rewrite(t, path, str_mk(bytes.p, g.sum.end), em);
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
    qsort(v, n, sizeof(*v), by_number);
    size_t first = n > 0 ? n - 1 : 0;
    while (first > 0 && v[first - 1] + 1 == v[first]) {
        first--;
    }
    for (size_t i = 0; i < first; i++) { /* left behind by an unfinished trim */
        char path[PATH_BYTES];
        gen_path(t->o.dir, v[i], path);
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
    if (!gens_reserve(t, n + 1)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < n; i++) {
        bool torn, last = i + 1 == n;
        enum err e = load_generation(t, v[i], last, need, &torn, em);
        if (e == ERR_CORRUPT && torn && last && v[i] > need && t->n_gens > 0) {
            return ERR_OK; /* it was being made: nothing was acknowledged from it */
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
    char path[PATH_BYTES];
    gen_path(t->o.dir, g->header.generation, path);
    enum err e = t->file != NULL ? ERR_OK : fs->open(fs->self, path, false, &t->file, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!g->sum.ended) {
        t->first = t->last = chunk_new(t, g->header.generation, g->sum.end);
        return t->first != NULL ? ERR_OK : err_no_memory(em);
    }
    fs->close(fs->self, t->file);
    t->file = NULL;
    return begin_generation(t, TLOG_NO_TRIM, em);
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
        chunks_free(t->o.alloc, t->first);
        chunk_free(t->o.alloc, t->spare);
        alloc_put(t->o.alloc, t->gens);
    }
    *t = (struct translog){0};
}
