/* Recovery, the side that receives: files. */
#include "data/recovery/recovery_int.h"

#include "common/base/hash.h"
#include "engine/index/manifest.h"

void target_look(struct recovery_target *t)
{
    struct shard *sh = t->sh;
    const struct fs *fs = sh->service->o.fs;
    engine_close(t->engine); /* its files go on being of use, as files */
    t->engine = NULL;
    t->job_result = fs->make_dir(fs->self, sh->dir.p, &t->job_em);
    if (t->job_result == ERR_OK) {
        t->job_result = engine_files_present(fs, sh->dir.p, t->plan.manifest, &t->arena, &t->have, &t->files,
                                             &t->n_files, &t->job_em);
    }
    t->bytes = t->job_result == ERR_OK ? ARENA_ARRAY(&t->arena, uint64_t, t->n_files) : NULL;
    if (t->job_result == ERR_OK && t->bytes == NULL) {
        t->job_result = err_no_memory(&t->job_em);
    }
    for (size_t i = 0; t->bytes != NULL && i < t->n_files; i++) {
        t->bytes[i] = t->files[i].bytes;
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

static enum err write_chunk(struct recovery_target *t, unsigned slot, struct errmsg *em)
{
    const struct target_chunk *c = &t->core.chunks[slot];
    const struct fs *fs = t->sh->service->o.fs;
    const struct engine_file *f = &t->files[c->file];
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    const char *path = path_of(t, &scratch, ENGINE_RECEIVED_PREFIX, f->name);
    const char *part = path_of(t, &scratch, "", STR(PART_NAME));
    const struct str *bytes = t->chunks[slot].call.answer;
    enum err e = path != NULL && part != NULL ? ERR_OK : err_no_memory(em);
    if (e == ERR_OK && c->offset == 0) {
        e = fs->remove(fs->self, part, em);
        e = e == ERR_OK ? fs->open(fs->self, part, true, &t->writing, em) : e;
    }
    e = e == ERR_OK ? fs->write(fs->self, t->writing, bytes->p, c->length, em) : e;
    if (e == ERR_OK && c->offset + c->length == f->bytes) {
        e = finish_file(t, part, path, em);
        e = e == ERR_OK ? verify(fs, path, f, em) : e;
    }
    arena_fini(&scratch);
    return e;
}

void target_write(struct recovery_target *t)
{
    const struct target *core = &t->core;
    t->job_result = ERR_OK;
    for (unsigned i = 0; i < core->n_writing && t->job_result == ERR_OK; i++) {
        t->job_result = write_chunk(t, (core->first + i) % TARGET_CHUNKS_MAX, &t->job_em);
    }
}

/* They have been written, and the core does not know it yet. */
void target_count_written(struct recovery_target *t)
{
    struct shard_recovery *f = &t->sh->recovery->figures;
    for (unsigned i = 0; i < t->core.n_writing; i++) {
        unsigned slot = (t->core.first + i) % TARGET_CHUNKS_MAX;
        const struct target_chunk *c = &t->core.chunks[slot];
        f->bytes_recovered += c->length;
        f->files_recovered += c->offset + c->length == t->files[c->file].bytes;
        remote_call_fini(&t->chunks[slot].call);
    }
}

/* ---- asking -------------------------------------------------------------------------------------------- */

/* Over the limit; how long that lasts is shown. */
static void throttle(struct recovery_target *t, bool held)
{
    if (held && t->throttled_ms == 0) {
        t->throttled_ms = shard_now_ms(t->sh);
    } else if (!held && t->throttled_ms != 0) {
        t->sh->recovery->figures.target_throttle_ms += shard_now_ms(t->sh) - t->throttled_ms;
        t->throttled_ms = 0;
    }
}

static void chunk_done(struct remote_call *call)
{
    struct chunk_rq *c = CONTAINER_OF(call, struct chunk_rq, call);
    const struct str *bytes = call->answer;
    ERR_LOCAL(em);
    err_copy(&em, &call->error);
    if (!err_is(&em) && bytes->n != c->t->core.chunks[c->slot].length) {
        err_set(&em, ERR_CORRUPT, "a part of a file is of another length");
    }
    if (err_is(&em)) {
        remote_call_fini(call);
    }
    target_happened(c->t, &(struct target_event){.kind = err_is(&em) ? TARGET_CHUNK_LOST : TARGET_CHUNK,
                                                 .error = err_is(&em) ? &em : NULL,
                                                 .slot = c->slot});
}

bool target_ask_chunk(struct recovery_target *t, unsigned slot, bool again)
{
    const struct target_chunk *c = &t->core.chunks[slot];
    bool held = !again && !recovery_may_pass(t->sh->service, RECOVERY_IN, c->length);
    throttle(t, held);
    if (held) {
        return false;
    }
    struct recovery_chunk m = {t->plan.session, (uint32_t)c->file, c->offset, c->length};
    struct chunk_rq *q = &t->chunks[slot];
    *q = (struct chunk_rq){
        .t = t, .slot = slot, .call = {.on = strand_executor(t->sh->strand), .done = chunk_done}};
    remote_ask(target_transport(t), &t->peer, &message_recovery_chunk, &m, &q->call);
    return true;
}

void target_chunks_fini(struct recovery_target *t)
{
    const struct fs *fs = t->sh->service->o.fs;
    for (unsigned i = 0; i < TARGET_CHUNKS_MAX; i++) {
        remote_call_fini(&t->chunks[i].call);
    }
    if (t->writing != NULL) {
        fs->close(fs->self, t->writing);
        t->writing = NULL;
    }
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

void target_install(struct recovery_target *t)
{
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
