/* Recovery, the side that receives: files. */
#include "data/recovery/recovery_int.h"

#include "common/base/hash.h"
#include "engine/index/manifest.h"

#define CHUNK_BYTES ((uint64_t)TRANSPORT_CHUNK_BYTES)

static int64_t now_ms(const struct recovery_target *t)
{
    return clock_mono_ms(t->sh->service->o.clock);
}

/* ---- what is here -------------------------------------------------------------------------------------- */

void target_look(void *arg)
{
    struct recovery_target *t = arg;
    struct shard *sh = t->sh;
    const struct fs *fs = sh->service->o.fs;
    engine_close(t->engine); /* its files go on being of use, as files */
    t->engine = NULL;
    t->job_result = fs->make_dir(fs->self, sh->dir.p, &t->job_em);
    if (t->job_result == ERR_OK) {
        t->job_result = engine_files_present(fs, sh->dir.p, t->plan.manifest, &t->arena, &t->have, &t->files,
                                             &t->n_files, &t->job_em);
    }
}

/* ---- writing ------------------------------------------------------------------------------------------- */

#define PART_NAME ENGINE_RECEIVED_PREFIX "part"

static const char *path_of(struct recovery_target *t, struct arena *a, const char *prefix, struct str name)
{
    return arena_printf(a, "%.*s/%s%.*s", STR_ARG(t->sh->dir), prefix, STR_ARG(name)).p;
}

/* It has its name from when it is durable: who finds the name may build on it. Never the file of an attempt that failed: the
 * system may take its pages for clean. */
static enum err finish_file(struct recovery_target *t, const char *part, const char *to, struct errmsg *em)
{
    const struct fs *fs = t->sh->service->o.fs;
    enum err e = fs->sync(fs->self, t->writing, em);
    fs->close(fs->self, t->writing);
    t->writing = NULL;
    return e == ERR_OK ? fs->rename(fs->self, part, to, em) : e;
}

static enum err verify(const struct fs *fs, const char *path, const struct engine_file *f, struct errmsg *em)
{
    struct fs_map map;
    enum err e = fs->map(fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    bool same = map.n == f->bytes && hash_bytes(map.p, map.n, 0) == f->checksum;
    fs->unmap(fs->self, &map);
    return same ? ERR_OK
                : err_set(em, ERR_CORRUPT, "file [%.*s] did not arrive as its source described it",
                          STR_ARG(f->name));
}

static enum err write_chunk(struct recovery_target *t, const struct target_chunk *c, struct errmsg *em)
{
    const struct fs *fs = t->sh->service->o.fs;
    const struct engine_file *f = &t->files[c->file];
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    const char *path = path_of(t, &scratch, ENGINE_RECEIVED_PREFIX, f->name);
    const char *part = path_of(t, &scratch, "", STR(PART_NAME));
    enum err e = path != NULL && part != NULL ? ERR_OK : err_no_memory(em);
    if (e == ERR_OK && c->offset == 0) {
        e = fs->remove(fs->self, part, em);
        e = e == ERR_OK ? fs->open(fs->self, part, true, &t->writing, em) : e;
    }
    e = e == ERR_OK ? fs->write(fs->self, t->writing, c->rq.answer.p, c->length, em) : e;
    if (e == ERR_OK && c->offset + c->length == f->bytes) {
        e = finish_file(t, part, path, em);
        e = e == ERR_OK ? verify(fs, path, f, em) : e;
    }
    arena_fini(&scratch);
    return e;
}

static void write_run(void *arg)
{
    struct recovery_target *t = arg;
    t->job_result = ERR_OK;
    for (unsigned i = 0; i < t->n_writing && t->job_result == ERR_OK; i++) {
        t->job_result = write_chunk(t, &t->chunks[(t->first + i) % RECOVERY_CHUNKS_MAX], &t->job_em);
    }
}

static void written(void *arg)
{
    struct recovery_target *t = arg;
    struct shard_recovery *f = &t->sh->recovery->figures;
    for (; t->n_writing > 0; t->n_writing--) {
        struct target_chunk *c = &t->chunks[t->first];
        f->bytes_recovered += c->length;
        f->files_recovered += c->offset + c->length == t->files[c->file].bytes;
        buf_fini(&c->rq.answer_memory);
        t->first = (t->first + 1) % RECOVERY_CHUNKS_MAX;
        t->n_chunks--;
    }
    if (t->job_result == ERR_CORRUPT) { /* the way or the source: it may come out right next time */
        target_answer_lost(t, &t->job_em);
    } else if (t->job_result != ERR_OK) {
        target_fail(t, &t->job_em);
    }
}

static void write_ready(struct recovery_target *t)
{
    if (t->n_writing > 0) {
        return;
    }
    while (t->n_writing < t->n_chunks
           && t->chunks[(t->first + t->n_writing) % RECOVERY_CHUNKS_MAX].state == CHUNK_HERE) {
        t->n_writing++;
    }
    if (t->n_writing > 0) {
        target_job(t, write_run, written);
    }
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static void chunk_done(struct transport_rq *rq)
{
    struct target_chunk *c = rq->user;
    struct recovery_target *t = c->t;
    t->out--;
    c->state = CHUNK_HERE;
    if (rq->error.n > 0) {
        c->state = CHUNK_LOST;
        target_answer_lost(t, &rq->error);
    } else if (rq->answer.n != c->length) {
        struct errmsg em;
        c->state = CHUNK_LOST;
        err_set(&em, ERR_CORRUPT, "a part of a file is of another length");
        target_answer_lost(t, &em);
    } else {
        t->failures = 0;
    }
    if (c->state == CHUNK_LOST) {
        buf_fini(&rq->answer_memory);
    }
    target_turn(t);
}

static void ask_for(struct recovery_target *t, struct target_chunk *c)
{
    const struct transport *tr = t->sh->service->o.transport;
    struct recovery_chunk m = {t->plan.session, c->file, c->offset, c->length};
    c->t = t;
    c->state = CHUNK_ASKED;
    c->rq = (struct transport_rq){.cls = TRANSPORT_RECOVERY,
                                  .kind = MESSAGE_RECOVERY_CHUNK,
                                  .timeout_ms = RECOVERY_CHUNK_MS,
                                  .on = strand_executor(t->sh->strand),
                                  .done = chunk_done,
                                  .user = c};
    buf_init(&c->rq.payload, NULL, BUF_UNLIMITED);
    recovery_chunk_encode(&m, &c->rq.payload);
    t->out++;
    tr->send(tr->self, &t->peer, &c->rq);
}

/* Over the limit; how long that lasts is shown. */
static void throttle(struct recovery_target *t, bool held)
{
    if (held && t->throttled_ms == 0) {
        t->throttled_ms = now_ms(t);
    } else if (!held && t->throttled_ms != 0) {
        t->sh->recovery->figures.target_throttle_ms += now_ms(t) - t->throttled_ms;
        t->throttled_ms = 0;
    }
}

static bool next_chunk(struct recovery_target *t, struct target_chunk *c)
{
    while (t->file < t->n_files && t->have[t->file]) {
        t->file++;
    }
    if (t->file == t->n_files) {
        return false;
    }
    uint64_t bytes = t->files[t->file].bytes;
    c->file = t->file;
    c->offset = t->offset;
    c->length = (uint32_t)MIN_OF(bytes - t->offset, CHUNK_BYTES);
    if (!recovery_may_pass(t->sh->service, RECOVERY_IN, c->length)) {
        throttle(t, true);
        return false;
    }
    throttle(t, false);
    t->offset += c->length;
    if (t->offset == bytes) {
        t->file++;
        t->offset = 0;
    }
    return true;
}

void target_copy(struct recovery_target *t)
{
    write_ready(t);
    while (t->n_chunks < RECOVERY_CHUNKS_MAX) {
        struct target_chunk *c = &t->chunks[(t->first + t->n_chunks) % RECOVERY_CHUNKS_MAX];
        if (!next_chunk(t, c)) {
            break;
        }
        t->n_chunks++;
        ask_for(t, c);
    }
}

void target_copy_again(struct recovery_target *t)
{
    for (unsigned i = 0; i < t->n_chunks; i++) {
        struct target_chunk *c = &t->chunks[(t->first + i) % RECOVERY_CHUNKS_MAX];
        if (c->state == CHUNK_LOST) {
            ask_for(t, c);
        }
    }
}

void target_drop_chunks(struct recovery_target *t)
{
    const struct fs *fs = t->sh->service->o.fs;
    for (; t->n_chunks > 0; t->n_chunks--) {
        buf_fini(&t->chunks[t->first].rq.answer_memory);
        t->first = (t->first + 1) % RECOVERY_CHUNKS_MAX;
    }
    t->first = 0;
    if (t->writing != NULL) {
        fs->close(fs->self, t->writing);
        t->writing = NULL;
    }
    t->file = 0;
    t->offset = 0;
    throttle(t, false);
}

/* ---- becoming a copy ----------------------------------------------------------------------------------- */

/* What no manifest will ever ask for. */
static void remove_received(const struct fs *fs, const char *dir, struct arena *a)
{
    struct fs_names names;
    if (fs->list(fs->self, dir, a, &names, NULL) != ERR_OK) {
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        const char *path =
            str_starts(names.v[i], STR(ENGINE_RECEIVED_PREFIX)) ? store_path(a, dir, names.v[i].p) : NULL;
        if (path != NULL) {
            fs->remove(fs->self, path, NULL);
        }
    }
}

/* It goes by its own name, and has the history of its source. */
static enum err user_data(struct recovery_target *t, struct arena *a, struct buf *out, struct errmsg *em)
{
    struct manifest m;
    struct copy_data d = {0};
    enum err e = manifest_decode(&m, t->plan.manifest, a, em);
    e = e == ERR_OK ? copy_data_decode(&d, m.user_data, em) : e;
    d.allocation_id = str_of(t->allocation_id);
    copy_data_encode(&d, out);
    return e == ERR_OK && out->failed ? err_no_memory(em) : e;
}

void target_install(void *arg)
{
    struct recovery_target *t = arg;
    struct shard *sh = t->sh;
    const struct fs *fs = sh->service->o.fs;
    struct engine_opts o = {.fs = fs,
                            .clock = sh->service->o.clock,
                            .dir = sh->dir.p,
                            .index_uuid = sh->index->uuid.p,
                            .shard = sh->number};
    struct arena scratch;
    struct buf data;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    buf_init(&data, NULL, BUF_UNLIMITED);
    enum err e = user_data(t, &scratch, &data, &t->job_em);
    o.user_data = buf_view(&data);
    e = e == ERR_OK ? fs->sync_dir(fs->self, sh->dir.p, &t->job_em) : e;
    e = e == ERR_OK ? engine_install(&o, t->plan.manifest, t->plan.global_checkpoint, &t->job_em) : e;
    if (e == ERR_OK) {
        remove_received(fs, sh->dir.p, &scratch);
        e = shard_engine_open(sh, ENGINE_EXISTING, STR_NULL, &t->engine, &t->job_em);
    }
    buf_fini(&data);
    arena_fini(&scratch);
    t->job_result = e;
}
