#include "engine/index/translog_int.h"

#include <inttypes.h>
#include <stdio.h>

void tlog_path(const char *dir, uint64_t generation, char path[TLOG_PATH_BYTES])
{
    snprintf(path, TLOG_PATH_BYTES, "%s/" TLOG_PREFIX "%" PRIu64, dir, generation);
}

void tlog_tmp_path(const char *dir, char path[TLOG_PATH_BYTES])
{
    snprintf(path, TLOG_PATH_BYTES, "%s/" TLOG_TMP, dir);
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

struct tlog_chunk *tlog_chunk_new(const struct translog *t, uint64_t generation, uint64_t at)
{
    struct tlog_chunk *c = alloc_get(t->o.alloc, sizeof(*c));
    if (c != NULL) {
        *c = (struct tlog_chunk){.generation = generation, .at = at, .global_checkpoint = SEQ_UNASSIGNED};
        buf_init(&c->bytes, t->o.alloc, BUF_UNLIMITED);
    }
    return c;
}

void tlog_chunk_free(const struct allocator *alloc, struct tlog_chunk *c)
{
    if (c != NULL) {
        buf_fini(&c->bytes);
        alloc_put(alloc, c->seqs);
        alloc_put(alloc, c);
    }
}

void tlog_chunks_free(const struct allocator *alloc, struct tlog_chunk *c)
{
    while (c != NULL) {
        struct tlog_chunk *next = c->next;
        tlog_chunk_free(alloc, c);
        c = next;
    }
}

bool tlog_gens_reserve(struct translog *t, size_t n)
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

void tlog_header_init(struct tlog_header *h, const struct tlog_opts *o, uint64_t generation)
{
    *h = (struct tlog_header){.generation = generation,
                              .id = o->id,
                              .shard = o->shard,
                              .trim_above = TLOG_NO_TRIM,
                              .max_seq_before = SEQ_NONE,
                              .created_ms = clock_wall_ms(o->clock),
                              .global_checkpoint = SEQ_NONE};
    snprintf(h->uuid, sizeof(h->uuid), "%s", o->uuid);
}

/* What its generation's mark is to say of a chunk that is handed out. */
static void set_mark(struct tlog_chunk *c, struct tlog_gen *g)
{
    c->marked = !g->header.older;
    c->mark_slot = g->header.next_mark;
    c->mark = (struct tlog_synced){g->sum.end, g->sum.ops, g->sum.max_seq};
    g->header.next_mark = 1 - g->header.next_mark;
}

enum err tlog_begin_generation(struct translog *t, int64_t trim_above, struct errmsg *em)
{
    const struct tlog_gen *old = translog_current(t);
    struct tlog_gen g = {.written = 0};
    bool follows = !old->header.older; /* the generations move when there are more of them */
    tlog_header_init(&g.header, &t->o, old->header.generation + 1);
    g.header.trim_above = trim_above;
    g.header.max_seq_before = MIN_OF(MAX_OF(old->header.max_seq_before, old->sum.max_seq), trim_above);
    g.header.global_checkpoint = t->global_noted;
    struct tlog_chunk *c = tlog_chunk_new(t, g.header.generation, 0);
    if (c == NULL || !tlog_gens_reserve(t, t->n_gens + 1)) {
        tlog_chunk_free(t->o.alloc, c);
        return err_no_memory(em);
    }
    tlog_header_encode(&g.header, &c->bytes); /* its marks say nothing yet */
    if (c->bytes.failed) {
        tlog_chunk_free(t->o.alloc, c);
        return err_no_memory(em);
    }
    c->create = true;
    c->follows = follows;
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
    enum err e = c->bytes.failed ? err_no_memory(em) : tlog_begin_generation(t, trim_above, em);
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
    set_mark(c, g);
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
    struct tlog_gen *g = translog_current(t);
    struct tlog_job *j = alloc_get(t->o.alloc, sizeof(*j));
    struct tlog_chunk *next = t->spare != NULL ? t->spare : tlog_chunk_new(t, 0, 0);
    if (j == NULL || next == NULL) {
        alloc_put(t->o.alloc, j);
        t->spare = next;
        return err_no_memory(em);
    }
    t->spare = NULL;
    next->generation = g->header.generation;
    next->at = g->sum.end;
    t->last->location = t->location;
    set_mark(t->last, g);
    *j = (struct tlog_job){.chunks = t->first, .fs = t->o.fs, .dir = t->o.dir, .file = t->file};
    t->file = NULL;
    t->first = t->last = next;
    t->out = *out = j;
    return ERR_OK;
}

/* One chunk's bytes; a new generation's go to a file beside its place. */
static enum err write_chunk(struct tlog_job *j, const struct tlog_chunk *c, struct errmsg *em)
{
    const struct fs *fs = j->fs;
    enum err e = ERR_OK;
    if (c->create) {
        char tmp[TLOG_PATH_BYTES];
        tlog_tmp_path(j->dir, tmp);
        e = fs->remove(fs->self, tmp, em); /* what a crash left of an attempt */
        e = e == ERR_OK ? fs->open(fs->self, tmp, true, &j->file, em) : e;
        if (e != ERR_OK) {
            j->file = NULL;
            return e;
        }
    }
    return c->bytes.n > 0 ? fs->write(fs->self, j->file, c->bytes.p, c->bytes.n, em) : ERR_OK;
}

/* The generation before one that has come: that it must not be the last any more. Without this the loss of the file of the
 * new one would not be noticed. */
static enum err note_followed(const struct tlog_job *j, uint64_t generation, struct errmsg *em)
{
    const struct fs *fs = j->fs;
    char path[TLOG_PATH_BYTES], bytes[8];
    struct fs_file *f = NULL;
    tlog_path(j->dir, generation, path);
    enum err e = fs->open(fs->self, path, false, &f, em);
    if (e == ERR_OK) {
        uint64_t at = tlog_followed_encode(generation, bytes);
        e = fs->patch(fs->self, f, at, bytes, sizeof(bytes), em);
        fs->close(fs->self, f);
    }
    return e;
}

/* What was written is durable: so is what was made, then, under its name, and the mark says it. `made`: the chunk that
 * began the file; NULL: it was there. */
static enum err settle(struct tlog_job *j, const struct tlog_chunk *made, const struct tlog_chunk *c,
                       struct errmsg *em)
{
    const struct fs *fs = j->fs;
    enum err e = fs->sync(fs->self, j->file, em);
    if (e == ERR_OK && made != NULL) {
        char tmp[TLOG_PATH_BYTES], path[TLOG_PATH_BYTES];
        tlog_tmp_path(j->dir, tmp);
        tlog_path(j->dir, made->generation, path);
        e = fs->rename(fs->self, tmp, path, em);
        e = e == ERR_OK ? fs->sync_dir(fs->self, j->dir, em) : e;
        if (e == ERR_OK && made->follows) {
            e = note_followed(j, made->generation - 1, em);
        }
    }
    if (e == ERR_OK && c->marked) {
        char slot[TLOG_MARK_BYTES];
        uint64_t at = tlog_mark_encode(&c->mark, c->generation, c->mark_slot, slot);
        e = fs->patch(fs->self, j->file, at, slot, sizeof(slot), em);
    }
    return e;
}

static enum err run(struct tlog_job *j, struct errmsg *em)
{
    const struct tlog_chunk *made = NULL;
    bool dirty = false;
    for (struct tlog_chunk *c = j->chunks; c != NULL; c = c->next) {
        made = c->create ? c : made;
        dirty |= c->bytes.n > 0;
        enum err e = write_chunk(j, c, em);
        if (e == ERR_OK && dirty && (c->finish || c->next == NULL)) {
            e = settle(j, made, c, em);
            made = NULL;
            dirty = false;
        }
        if (e != ERR_OK) {
            return e;
        }
        if (c->finish) {
            j->fs->close(j->fs->self, j->file);
            j->file = NULL;
        }
    }
    return ERR_OK;
}

void translog_job_run(struct tlog_job *j)
{
    j->em = err_in(&j->em_arena);
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
    } else {
        err_copy(em, &j->em);
    }
    arena_fini(&j->em_arena);
    struct tlog_chunk *c = j->chunks;
    if (e == ERR_OK && t->spare == NULL && c->bytes.cap <= 64 * KIB && c->seqs_cap <= 1024) {
        tlog_chunks_free(t->o.alloc, c->next);
        struct buf bytes = c->bytes;
        buf_reset(&bytes);
        *c = (struct tlog_chunk){
            .bytes = bytes, .seqs = c->seqs, .seqs_cap = c->seqs_cap, .global_checkpoint = SEQ_UNASSIGNED};
        t->spare = c;
    } else {
        tlog_chunks_free(t->o.alloc, c);
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
        char path[TLOG_PATH_BYTES];
        tlog_path(t->o.dir, g->header.generation, path);
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

static uint64_t waiting_bytes(const struct tlog_chunk *c)
{
    uint64_t n = 0;
    for (; c != NULL; c = c->next) {
        n += c->bytes.n;
        assert(c->next == NULL || c->next->generation >= c->generation);
        assert(c->next == NULL || c->next->location == 0 || c->next->location >= c->location);
    }
    return n;
}

void translog_invariant(const struct translog *t)
{
    const struct tlog_gen *g = translog_current(t);
    for (size_t i = 0; i < t->n_gens; i++) {
        assert(t->gens[i].written <= t->gens[i].sum.end);
        assert(i == 0 || t->gens[i].header.generation > t->gens[i - 1].header.generation);
    }
    assert(t->first != NULL && t->last->next == NULL && t->last->generation == g->header.generation);
    assert(t->last->at + t->last->bytes.n == g->sum.end);
    assert(t->durable <= t->location && t->global_durable <= t->global_noted);
    assert(t->tail_bytes == waiting_bytes(t->first) + waiting_bytes(t->out != NULL ? t->out->chunks : NULL));
}
