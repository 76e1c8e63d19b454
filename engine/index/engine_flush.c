/* Flush: what is in memory goes to files, and a manifest makes the whole a commit.
 *
 * Order is the safety argument: operations durable in the translog, then segments and bitmaps durable, their
 * names durable, then the manifest durable and renamed into its place, its name durable; only then older
 * commits and translog go. */
#include "engine/index/engine_int.h"

#include "common/base/hash.h"
#include "common/base/invariant.h"

struct flush_item { /* one segment of the commit to be */
    struct manifest_segment m;
    struct segment *segment;
    const char *memory; /* NULL: in a file */
    struct live *live;
    bool durable, live_durable;
    struct segment *reopened; /* the file, when it was in memory */
};

struct engine_flush {
    const struct fs *fs;
    const struct allocator *alloc;
    const char *dir;                 /* borrowed from the engine */
    const _Atomic uint64_t *durable; /* the engine's */
    uint64_t location;
    struct manifest m;
    struct flush_item *items;
    size_t n;
    struct commit *commit; /* made before the manifest is in its place: taking over cannot fail */
    struct buf names;      /* of operations, for the manifest */
    struct buf bytes;      /* of the manifest */
    struct arena arena;
    int64_t begun_ns;
    enum err result;
    struct errmsg em;
};

uint64_t engine_flush_location(const struct engine_flush *f)
{
    return f->location;
}

bool engine_flush_needed(const struct engine *e)
{
    if (e->failure != ERR_OK || e->flush != NULL || e->commits == NULL) {
        return false;
    }
    uint64_t ops, bytes;
    translog_size(&e->log, e->commits->m.translog_generation, &ops, &bytes);
    return ops > 0 && e->uncommitted && bytes >= e->settings.flush_threshold_bytes;
}

static void flush_free(struct engine_flush *f)
{
    for (size_t i = 0; i < f->n; i++) {
        segment_unref(f->items[i].segment);
        segment_unref(f->items[i].reopened);
        live_unref(f->items[i].live);
    }
    commit_free(f->commit);
    buf_fini(&f->bytes);
    buf_fini(&f->names);
    arena_fini(&f->arena);
    alloc_put(f->alloc, f);
}

/* The strand's part: what each slot is now, and the names of the files to come. */
static void take_slot(struct engine *e, struct flush_item *it, struct slot *s)
{
    it->segment = segment_ref(s->segment);
    it->memory = s->memory;
    it->live = live_ref(s->live);
    it->durable = s->durable;
    it->live_durable = s->live != NULL && s->live == s->saved;
    it->m = (struct manifest_segment){.number = s->number,
                                      .bytes = s->bytes,
                                      .checksum = s->checksum,
                                      .footer = segment_footer(s->segment),
                                      .docs = segment_doc_count(s->segment),
                                      .live_docs = slot_live_docs(s),
                                      .live_roots = slot_live_roots(s)};
    if (it->live_durable) {
        it->m.live_generation = s->live_generation;
        it->m.live_bytes = s->live_bytes;
        it->m.live_checksum = s->live_checksum;
    } else if (s->live != NULL) {
        it->m.live_generation = e->next_number++;
    }
}

static enum err take_state(struct engine *e, struct engine_flush *f, struct errmsg *em)
{
    struct manifest *m = &f->m;
    f->items = ARENA_ARRAY(&f->arena, struct flush_item, e->n_slots);
    m->segments = ARENA_ARRAY(&f->arena, struct manifest_segment, e->n_slots);
    m->user_data = arena_str(&f->arena, buf_view(&e->user_data));
    op_ids_expire(&e->op_ids, clock_mono_ms(e->clock) - e->settings.op_ids_ms);
    op_ids_encode(&e->op_ids, &f->names);
    m->op_names = buf_view(&f->names);
    if (f->items == NULL || m->segments == NULL || m->user_data.p == NULL || f->names.failed) {
        return err_no_memory(em);
    }
    if (translog_current(&e->log)->sum.ops > 0 || e->doubts) {
        enum err r = translog_roll(&e->log, TLOG_NO_TRIM, em);
        if (r != ERR_OK) {
            return r;
        }
    }
    for (size_t i = 0; i < e->n_slots; i++) {
        take_slot(e, &f->items[f->n++], e->slots[i]);
    }
    m->generation = e->next_commit++;
    m->shard = e->shard;
    memcpy(m->uuid, e->uuid, strlen(e->uuid) + 1);
    m->next_number = e->next_number;
    m->max_seq_no = e->processed.max;
    m->local_checkpoint = e->processed.checkpoint;
    m->global_checkpoint = e->global_checkpoint;
    m->translog_generation = translog_generation_above(&e->log, e->processed.checkpoint);
    m->translog_id = e->log.o.id;
    m->mapping_version = e->mapping_version;
    m->max_auto_id_ms = e->max_auto_id_ms;
    m->n_segments = f->n;
    f->location = e->log.location;
    return ERR_OK;
}

enum err engine_flush_begin(struct engine *e, bool force, struct engine_flush **out, struct errmsg *em)
{
    *out = NULL;
    enum err r = engine_check(e, em);
    if (r != ERR_OK || e->flush != NULL) {
        return r;
    }
    engine_prune(e);
    r = engine_spill(e, em);
    if (r == ERR_OK) {
        engine_settle(e);
    }
    if (r != ERR_OK || (!force && !e->uncommitted)) {
        return r;
    }
    struct engine_flush *f = alloc_get(e->alloc, sizeof(*f));
    if (f == NULL) {
        return err_no_memory(em);
    }
    *f = (struct engine_flush){.fs = e->fs, .alloc = e->alloc, .dir = e->dir, .durable = &e->durable};
    f->begun_ns = e->clock->mono_ns(e->clock->self);
    arena_init(&f->arena, e->alloc, ARENA_UNLIMITED);
    f->em = err_in(&f->arena);
    buf_init(&f->bytes, e->alloc, BUF_UNLIMITED);
    buf_init(&f->names, e->alloc, BUF_UNLIMITED);
    r = take_state(e, f, em);
    if (r != ERR_OK) {
        flush_free(f);
        return r;
    }
    e->uncommitted = e->doubts = false;
    e->flush = *out = f;
    return ERR_OK;
}

/* ---- the pool's part ---- */

static enum err sync_file(const struct fs *fs, const char *path, struct errmsg *em)
{
    struct fs_file *file;
    enum err r = fs->open(fs->self, path, false, &file, em);
    if (r == ERR_OK) {
        r = fs->sync(fs->self, file, em);
        fs->close(fs->self, file);
    }
    return r;
}

static enum err save_segment(struct engine_flush *f, struct flush_item *it, struct errmsg *em)
{
    char name[FILE_NAME_BYTES];
    segment_file_name(it->m.number, name);
    const char *path = store_path(&f->arena, f->dir, name);
    if (path == NULL) {
        return err_no_memory(em);
    }
    enum err r;
    if (it->memory != NULL) {
        it->m.bytes = segment_bytes(it->segment);
        it->m.checksum = hash_bytes(it->memory, (size_t)it->m.bytes, 0);
        r = write_file(f->fs, path, str_mk(it->memory, (size_t)it->m.bytes), true, em);
        if (r == ERR_OK && segment_open(&it->reopened, f->fs, path, NULL) != ERR_OK) {
            it->reopened = NULL; /* it stays in memory as well */
        }
        return r;
    }
    r = sync_file(f->fs, path, em);
    r = r == ERR_OK ? hash_file(f->fs, path, &it->m.bytes, &it->m.checksum, em) : r;
    /* The manifest's checksum must not vouch for bytes that went wrong since they were written. */
    return r == ERR_OK ? segment_verify(it->segment, em) : r;
}

static enum err save_live(struct engine_flush *f, struct flush_item *it, struct errmsg *em)
{
    char name[FILE_NAME_BYTES];
    live_file_name(it->m.number, it->m.live_generation, name);
    const char *path = store_path(&f->arena, f->dir, name);
    struct buf b;
    buf_init(&b, f->alloc, BUF_UNLIMITED);
    live_encode(it->live, it->m.number, &b);
    enum err r =
        b.failed || path == NULL ? err_no_memory(em) : write_file(f->fs, path, buf_view(&b), true, em);
    it->m.live_bytes = b.n;
    it->m.live_checksum = b.failed ? 0 : hash_bytes(b.p, b.n, 0);
    buf_fini(&b);
    return r;
}

static enum err run(struct engine_flush *f, struct errmsg *em)
{
    if (*f->durable < f->location) {
        return err_set(em, ERR_ILLEGAL_STATE, "flush before its operations are durable in the translog");
    }
    bool wrote = false;
    for (size_t i = 0; i < f->n; i++) {
        struct flush_item *it = &f->items[i];
        enum err r = it->durable ? ERR_OK : save_segment(f, it, em);
        if (r == ERR_OK && it->live != NULL && !it->live_durable) {
            r = save_live(f, it, em);
            wrote = true;
        }
        wrote |= !it->durable;
        if (r != ERR_OK) {
            return r;
        }
        f->m.segments[i] = it->m;
    }
    manifest_encode(&f->m, &f->bytes);
    enum err r = f->bytes.failed
                     ? err_no_memory(em)
                     : commit_new(&f->commit, f->alloc, f->m.uuid, f->m.shard, buf_view(&f->bytes), em);
    r = r == ERR_OK && wrote ? f->fs->sync_dir(f->fs->self, f->dir, em) : r;
    r = r == ERR_OK ? manifest_write(f->fs, f->dir, f->m.generation, buf_view(&f->bytes), em) : r;
    return r == ERR_OK ? f->fs->sync_dir(f->fs->self, f->dir, em) : r;
}

void engine_flush_run(struct engine_flush *f)
{
    f->result = run(f, &f->em);
}

/* ---- taking over ---- */

static void update_slot(struct engine *e, struct flush_item *it)
{
    for (size_t i = 0; i < e->n_slots; i++) {
        struct slot *s = e->slots[i];
        if (s->number != it->m.number) {
            continue;
        }
        s->in_file = s->durable = true;
        s->bytes = it->m.bytes;
        s->checksum = it->m.checksum;
        if (it->live != NULL && !it->live_durable) {
            live_unref(s->saved);
            s->saved = live_ref(it->live);
            s->live_generation = it->m.live_generation;
            s->live_bytes = it->m.live_bytes;
            s->live_checksum = it->m.live_checksum;
        }
        if (it->reopened != NULL && s->memory != NULL) {
            slot_set_segment(s, it->reopened);
            s->memory = NULL;
            it->reopened = NULL;
            e->changed = true; /* the next view lets the memory go */
        }
        return;
    }
    e->sweep = true; /* merged away meanwhile */
}

/* Without memory the manifest was not written: the engine goes on. Any other failure may have left one. */
static enum err take_failure(struct engine *e, struct engine_flush *f, struct errmsg *em)
{
    enum err r = f->result;
    bool fails = r != ERR_NO_MEMORY && r != ERR_ILLEGAL_STATE;
    e->flush = NULL;
    e->uncommitted = true;
    e->doubts = e->history_floor > 0;
    e->sweep = true;
    if (fails) {
        engine_fail(e, r, &f->em);
    }
    err_copy(em, &f->em);
    flush_free(f);
    return fails ? engine_check(e, em) : r;
}

enum err engine_flush_finish(struct engine *e, struct engine_flush *f, struct errmsg *em)
{
    assert(e->flush == f);
    struct commit *c = f->commit;
    if (f->result != ERR_OK) {
        return take_failure(e, f, em);
    }
    for (size_t i = 0; i < f->n; i++) {
        update_slot(e, &f->items[i]);
    }
    f->commit = NULL;
    c->next = e->commits;
    e->commits = c;
    e->global_persisted = MAX_OF(e->global_persisted, c->m.global_checkpoint);
    e->flush = NULL;
    e->stats.flush_total++;
    e->stats.flush_ns += (uint64_t)(e->clock->mono_ns(e->clock->self) - f->begun_ns);
    flush_free(f);
    engine_trim(e);
    if (e->sweep) {
        e->sweep = engine_remove_orphans(e, NULL) != ERR_OK;
    }
    INVARIANT(engine_invariant(e));
    return ERR_OK;
}

enum err engine_flush(struct engine *e, bool force, struct errmsg *em)
{
    if (e->flush != NULL || e->log.out != NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "a sync or a flush is out");
    }
    struct engine_flush *f;
    enum err r = engine_flush_begin(e, force, &f, em);
    if (r != ERR_OK || f == NULL) {
        return r;
    }
    f->result = engine_sync(e, &f->em);
    if (f->result == ERR_OK) {
        engine_flush_run(f);
    }
    return engine_flush_finish(e, f, em);
}
