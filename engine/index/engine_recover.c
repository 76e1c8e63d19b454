/* Recovery from the copy's own disk: the newest usable commit, the translog above it, and nothing else. */
#include "common/base/hash.h"
#include "engine/index/engine_int.h"

#include "common/base/stop.h"
#include "engine/index/structure.h"

/* ---- commits ---- */

/* Do its files exist, with the sizes it says? */
static enum err files_there(const struct engine *e, const struct commit *c, bool *there, struct errmsg *em)
{
    *there = true;
    for (size_t i = 0; i < c->pub.n_files && *there; i++) {
        uint64_t size;
        char *path;
        enum err r = engine_path(e, c->pub.files[i].name.p, &path, em);
        if (r == ERR_OK) {
            bool exists;
            r = e->fs->size(e->fs->self, path, &exists, &size, em);
            *there = r == ERR_OK && exists && size == c->pub.files[i].bytes;
            alloc_put(e->alloc, path);
        }
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

/* One manifest; *out stays NULL when it is not usable. */
static enum err load_manifest(const struct engine *e, uint64_t generation, struct commit **out,
                              struct errmsg *em)
{
    char name[FILE_NAME_BYTES], *path;
    manifest_file_name(generation, name);
    *out = NULL;
    enum err r = engine_path(e, name, &path, em);
    if (r != ERR_OK) {
        return r;
    }
    struct fs_map map;
    r = e->fs->map(e->fs->self, path, &map, em);
    alloc_put(e->alloc, path);
    if (r != ERR_OK) {
        return r;
    }
    r = commit_new(out, e->alloc, e->uuid, e->shard, str_mk(map.p, map.n), em);
    e->fs->unmap(e->fs->self, &map);
    if (r == ERR_CORRUPT) {
        return ERR_OK;
    }
    bool there = r == ERR_OK && (*out)->m.generation == generation;
    r = there ? files_there(e, *out, &there, em) : r;
    if (r != ERR_OK || !there) {
        commit_free(*out);
        *out = NULL;
    }
    return r;
}

/* The usable ones, newest first. An unusable newest one is not fatal as such: what it held is above an older
 * one in the translog, or the translog turns out to lack it. */
static enum err load_commits(struct engine *e, const struct engine_files *s, struct errmsg *em)
{
    for (size_t i = 0; i < s->n_manifests; i++) {
        struct commit *c;
        enum err r = load_manifest(e, s->manifests[i], &c, em);
        if (r != ERR_OK) {
            return r;
        }
        if (c != NULL) {
            c->next = e->commits;
            e->commits = c;
            e->next_number = MAX_OF(e->next_number, c->m.next_number);
        }
    }
    return e->commits != NULL ? ERR_OK : err_set(em, ERR_CORRUPT, "no usable manifest in [%s]", e->dir);
}

/* ---- state of a commit ---- */

static enum err load_live(struct engine *e, struct slot *s, const struct manifest_segment *m,
                          struct errmsg *em)
{
    char name[FILE_NAME_BYTES], *path;
    live_file_name(m->number, m->live_generation, name);
    enum err r = engine_path(e, name, &path, em);
    if (r != ERR_OK) {
        return r;
    }
    struct fs_map map;
    r = e->fs->map(e->fs->self, path, &map, em);
    alloc_put(e->alloc, path);
    if (r != ERR_OK) {
        return r;
    }
    bool same = map.n == m->live_bytes && hash_bytes(map.p, map.n, 0) == m->live_checksum;
    r = live_decode(&s->live, str_mk(map.p, map.n), m->number, m->docs, segment_roots(s->segment), e->alloc,
                    em);
    e->fs->unmap(e->fs->self, &map);
    if (r == ERR_OK && (!same || s->live->n_live != m->live_docs || s->live->n_roots != m->live_roots)) {
        r = err_set(em, ERR_CORRUPT, "live documents of segment [%llu]: not those of the manifest",
                    (unsigned long long)m->number);
    }
    if (r == ERR_OK) {
        s->saved = live_ref(s->live);
        s->live_generation = m->live_generation;
        s->live_bytes = m->live_bytes;
        s->live_checksum = m->live_checksum;
    }
    return r;
}

static enum err load_segment(struct engine *e, const struct manifest_segment *m, struct errmsg *em)
{
    char name[FILE_NAME_BYTES], *path;
    segment_file_name(m->number, name);
    enum err r = engine_slots_reserve(e, em);
    r = r == ERR_OK ? engine_path(e, name, &path, em) : r;
    if (r != ERR_OK) {
        return r;
    }
    struct segment *segment;
    r = segment_open(&segment, e->fs, path, em);
    alloc_put(e->alloc, path);
    if (r != ERR_OK) {
        return r;
    }
    struct slot *s = NULL;
    r = e->verify != ENGINE_VERIFY_NOTHING ? segment_verify(segment, em) : ERR_OK;
    r = r == ERR_OK && e->verify == ENGINE_VERIFY_STRUCTURE ? segment_check_structure(segment, em) : r;
    bool other =
        segment_doc_count(segment) != m->docs || (m->footer != 0 && segment_footer(segment) != m->footer);
    if (r == ERR_OK && other) {
        r = err_set(em, ERR_CORRUPT, "segment [%llu]: not the one of the manifest",
                    (unsigned long long)m->number);
    }
    r = r == ERR_OK ? slot_new(&s, e, m->number, segment, em) : r;
    if (r != ERR_OK) {
        segment_unref(segment);
        return r;
    }
    s->in_file = s->durable = true;
    s->bytes = m->bytes;
    s->checksum = m->checksum;
    r = m->live_generation != 0 ? load_live(e, s, m, em) : ERR_OK;
    if (r != ERR_OK) {
        slot_free(e, s);
        return r;
    }
    e->slots[e->n_slots++] = s;
    return ERR_OK;
}

enum err engine_load(struct engine *e, struct commit *c, struct errmsg *em)
{
    const struct manifest *m = &c->m;
    for (size_t i = 0; i < m->n_segments; i++) {
        enum err r = stop_now() ? err_set(em, ERR_NODE_CLOSED, "the node closes")
                                : load_segment(e, &m->segments[i], em);
        if (r != ERR_OK) {
            return r;
        }
    }
    seq_tracker_fini(&e->processed);
    seq_tracker_fini(&e->persisted);
    seq_tracker_init(&e->processed, e->alloc, m->local_checkpoint);
    seq_tracker_init(&e->persisted, e->alloc, m->local_checkpoint);
    e->processed.max = e->persisted.max = m->max_seq_no;
    e->append_barrier = m->max_seq_no;
    e->max_auto_id_ms = MAX_OF(e->max_auto_id_ms, m->max_auto_id_ms);
    return ERR_OK;
}

static enum err engine_replay(struct engine *e, struct commit *c, struct errmsg *em)
{
    struct tlog_reader reader;
    enum err r = tlog_reader_open(&reader, &e->log, c->m.translog_generation, em);
    if (r != ERR_OK) {
        return r;
    }
    e->replaying = true;
    for (bool more = true; more && r == ERR_OK;) {
        struct engine_op op;
        struct engine_result out;
        r = tlog_reader_next(&reader, &op, &more, em);
        if (r == ERR_OK && more && op.seq_no > c->m.local_checkpoint) {
            r = engine_apply(e, &op, &out, em);
            e->stats.recovered_ops++;
            if (r != ERR_OK) {
                r = err_prefix(em, r, "replaying operation [%lld]: ", (long long)op.seq_no);
            }
        }
    }
    e->replaying = false;
    tlog_reader_close(&reader);
    return r == ERR_OK ? engine_check(e, em) : r;
}

/* ---- rollback ---- */

/* Forgets what memory holds; the disk is not touched. */
static enum err reset(struct engine *e, int64_t seq_no, struct errmsg *em)
{
    struct index_buffer *buffer;
    enum err r = index_buffer_new(&buffer, e->alloc, em);
    if (r != ERR_OK) {
        return r;
    }
    index_buffer_free(e->buffer);
    e->buffer = buffer;
    if (e->buffer_dead_n > 0) {
        memset(e->buffer_dead, 0, e->buffer_dead_words * sizeof(*e->buffer_dead));
        e->buffer_dead_n = 0;
    }
    version_map_fini(&e->versions);
    op_ids_rollback(&e->op_ids, seq_no);
    engine_slots_free(e);
    e->epoch++;
    e->changed = e->unseen = e->uncommitted = true;
    return ERR_OK;
}

/* What the copy is called now outlives the commits that go: the one that stays is written again under its name.
 * It is the newest then, and all that lies above it is in the log. */
static enum err rename_commit(struct engine *e, struct commit **to, struct errmsg *em)
{
    struct commit *c = NULL;
    if (str_eq((*to)->m.user_data, buf_view(&e->user_data))) {
        return ERR_OK;
    }
    struct manifest m = (*to)->m;
    struct buf b;
    buf_init(&b, e->alloc, BUF_UNLIMITED);
    m.generation = e->next_commit++;
    m.user_data = buf_view(&e->user_data);
    m.translog_id = e->log.o.id;
    manifest_encode(&m, &b);
    enum err r = b.failed ? err_no_memory(em) : ERR_OK;
    r = r == ERR_OK ? commit_new(&c, e->alloc, e->uuid, e->shard, buf_view(&b), em) : r;
    r = r == ERR_OK ? manifest_write(e->fs, e->dir, m.generation, buf_view(&b), em) : r;
    r = r == ERR_OK ? e->fs->sync_dir(e->fs->self, e->dir, em) : r;
    buf_fini(&b);
    if (r != ERR_OK) {
        commit_free(c);
        return r;
    }
    c->next = e->commits;
    e->commits = c;
    *to = c;
    return ERR_OK;
}

/* Does a commit of that generation stay when what lies above seq_no is rolled back? */
static bool stays(const struct engine *e, uint64_t generation, int64_t seq_no)
{
    for (const struct commit *c = e->commits; c != NULL; c = c->next) {
        if (!c->dropped && c->m.generation == generation) {
            return c->m.max_seq_no <= seq_no;
        }
    }
    return false;
}

/* Manifests that hold what is rolled back go, and all that are not known: they must not be found again. Such a one may be older than
 * the commit that stays, when a rollback before was cut short. */
static enum err drop_above(struct engine *e, int64_t seq_no, struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, e->alloc, ARENA_UNLIMITED);
    struct engine_files s;
    enum err r = engine_scan(e, &arena, &s, em);
    for (size_t i = 0; i < s.n_manifests && r == ERR_OK; i++) {
        char name[FILE_NAME_BYTES];
        manifest_file_name(s.manifests[i], name);
        r = stays(e, s.manifests[i], seq_no) ? ERR_OK : engine_remove_name(e, &arena, str_of(name), em);
    }
    r = r == ERR_OK ? e->fs->sync_dir(e->fs->self, e->dir, em) : r;
    arena_fini(&arena);
    for (struct commit *c = e->commits; c != NULL && r == ERR_OK; c = c->next) {
        c->dropped |= c->m.max_seq_no > seq_no;
    }
    return r;
}

static enum err rollback(struct engine *e, struct commit *to, int64_t seq_no, struct errmsg *em)
{
    /* Whatever the newer commits hold is in the translog, durably, before they go. */
    enum err r = engine_sync(e, em);
    r = r == ERR_OK ? rename_commit(e, &to, em) : r;
    r = r == ERR_OK ? drop_above(e, seq_no, em) : r;
    r = r == ERR_OK ? translog_roll(&e->log, seq_no, em) : r;
    r = r == ERR_OK ? engine_sync(e, em) : r;
    r = r == ERR_OK ? reset(e, seq_no, em) : r;
    r = r == ERR_OK ? engine_load(e, to, em) : r;
    r = r == ERR_OK ? engine_replay(e, to, em) : r;
    r = r == ERR_OK ? engine_spill(e, em) : r;
    r = r == ERR_OK ? engine_publish(e, em) : r;
    if (r == ERR_OK) {
        engine_sweep_commits(e);
        r = engine_remove_orphans(e, em);
    }
    return r;
}

enum err engine_rollback(struct engine *e, int64_t seq_no, struct errmsg *em)
{
    enum err r = engine_check(e, em);
    if (r != ERR_OK || seq_no >= e->processed.max) {
        return r;
    }
    struct commit *to = engine_safe_commit(e, seq_no);
    if (to == NULL || e->flush != NULL || e->log.out != NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "cannot roll back to [%lld]: %s", (long long)seq_no,
                       to == NULL ? "no commit is old enough" : "a sync or a flush is out");
    }
    ERR_LOCAL(why);
    r = rollback(e, to, seq_no, &why);
    if (r != ERR_OK) {
        engine_fail(e, r, &why);
        return engine_check(e, em);
    }
    return ERR_OK;
}

/* ---- open ---- */

static struct tlog_opts log_opts(const struct engine *e, const struct manifest *m)
{
    return (struct tlog_opts){.fs = e->fs,
                              .clock = e->clock,
                              .alloc = e->alloc,
                              .dir = e->dir,
                              .uuid = e->uuid,
                              .shard = e->shard,
                              .id = m->translog_id != 0 ? m->translog_id : translog_id_of(m->user_data),
                              .id_is_new = m->translog_id == 0};
}

/* An empty translog, then the first manifest: with it the copy begins to exist. The log's history begins above the local checkpoint:
 * what the segments have above it comes again, and is logged. */
enum err engine_write_first(struct engine *e, struct manifest *m, struct errmsg *em)
{
    struct tlog_opts o = log_opts(e, m);
    struct buf b;
    buf_init(&b, e->alloc, BUF_UNLIMITED);
    enum err r =
        translog_create(&e->log, &o, m->translog_generation, m->local_checkpoint, m->global_checkpoint, em);
    manifest_encode(m, &b);
    r = r == ERR_OK && b.failed ? err_no_memory(em) : r;
    r = r == ERR_OK ? commit_new(&e->commits, e->alloc, e->uuid, e->shard, buf_view(&b), em) : r;
    r = r == ERR_OK ? e->fs->sync_dir(e->fs->self, e->dir, em) : r;
    r = r == ERR_OK ? manifest_write(e->fs, e->dir, m->generation, buf_view(&b), em) : r;
    r = r == ERR_OK ? e->fs->sync_dir(e->fs->self, e->dir, em) : r;
    buf_fini(&b);
    return r;
}

static enum err create(struct engine *e, struct arena *arena, const struct engine_files *s, bool over,
                       struct errmsg *em)
{
    bool held = false;
    enum err r = s->any && !over ? engine_holds_data(e, arena, s, &held, em) : ERR_OK;
    if (held) {
        r = err_set(em, ERR_CORRUPT, "a new copy was to begin in [%s], which holds the data of another",
                    e->dir);
    }
    r = r == ERR_OK && s->any ? engine_wipe(e, arena, s, em) : r;
    if (r != ERR_OK) {
        return r;
    }
    struct manifest m = {.generation = e->next_commit++,
                         .shard = e->shard,
                         .next_number = e->next_number,
                         .max_seq_no = SEQ_NONE,
                         .local_checkpoint = SEQ_NONE,
                         .global_checkpoint = SEQ_NONE,
                         .translog_generation = 1,
                         .translog_id = translog_id_of(buf_view(&e->user_data)),
                         .mapping_version = e->mapping_version,
                         .max_auto_id_ms = -1,
                         .user_data = buf_view(&e->user_data)};
    memcpy(m.uuid, e->uuid, strlen(e->uuid) + 1);
    r = engine_write_first(e, &m, em);
    return r == ERR_OK ? engine_load(e, e->commits, em) : r;
}

/* Commits whose translog is not all there cannot be gone back to. */
static void drop_unreachable(struct engine *e)
{
    uint64_t first = e->log.gens[0].header.generation;
    for (struct commit **at = &e->commits; *at != NULL;) {
        struct commit *c = *at;
        if (c->m.translog_generation < first) {
            *at = c->next;
            commit_free(c);
        } else {
            at = &c->next;
        }
    }
}

static enum err recover(struct engine *e, const struct engine_files *s, struct errmsg *em)
{
    enum err r = load_commits(e, s, em);
    if (r != ERR_OK) {
        return r;
    }
    struct commit *c = e->commits;
    struct tlog_opts o = log_opts(e, &c->m);
    r = translog_open(&e->log, &o, c->m.translog_generation, em);
    /* After a mere crash of the process, names that were not synced are seen; make them stay before building
     * on them. */
    r = r == ERR_OK ? e->fs->sync_dir(e->fs->self, e->dir, em) : r;
    r = r == ERR_OK ? engine_load(e, c, em) : r;
    if (r != ERR_OK) {
        return r;
    }
    drop_unreachable(e);
    buf_reset(&e->user_data);
    buf_str(&e->user_data, c->m.user_data);
    if (e->user_data.failed) {
        return err_no_memory(em);
    }
    if (c->m.op_names.n > 0) {
        r = op_ids_decode(&e->op_ids, c->m.op_names, clock_mono_ms(e->clock), em);
    }
    r = r == ERR_OK ? engine_replay(e, c, em) : r;
    e->uncommitted = e->stats.recovered_ops > 0;
    e->global_checkpoint = MAX_OF(c->m.global_checkpoint, e->log.global_durable);
    e->global_checkpoint = MIN_OF(e->global_checkpoint, e->processed.checkpoint);
    e->global_persisted = e->global_checkpoint;
    return r == ERR_OK ? engine_remove_orphans(e, em) : r;
}

enum err engine_start(struct engine *e, enum engine_open_mode mode, struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, e->alloc, ARENA_UNLIMITED);
    struct engine_files s;
    enum err r = e->fs->make_dir(e->fs->self, e->dir, em);
    r = r == ERR_OK ? engine_scan(e, &arena, &s, em) : r;
    if (r == ERR_OK) {
        e->next_number = s.next_number;
        e->next_commit = s.next_commit;
        bool over = mode == ENGINE_CREATE_OVER;
        if (over || mode == ENGINE_CREATE
            || (mode == ENGINE_OPEN_OR_CREATE && s.n_manifests == 0 && !s.used)) {
            r = create(e, &arena, &s, over, em);
        } else if (s.n_manifests == 0) {
            r = err_set(em, ERR_CORRUPT,
                        s.used ? "there is no manifest in [%s], only what one would name"
                               : "there is no shard copy in [%s]",
                        e->dir);
        } else {
            r = recover(e, &s, em);
        }
    }
    arena_fini(&arena);
    r = r == ERR_OK ? engine_spill(e, em) : r;
    int64_t retention = e->retention_from;
    e->retention_from = 0; /* nobody has said yet what other copies need: all stays */
    r = r == ERR_OK ? engine_publish(e, em) : r;
    e->retention_from = retention;
    return r;
}
