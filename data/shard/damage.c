/* A copy with a damaged segment: found by whoever reads, failed on the strand, and marked on disk.
 *
 * The mark is a file in the copy's folder, with the reason. A copy that has one is read whole and checked before it is opened
 * the next time, as the primary or as one that recovers: it is never taken for a good one by its name alone. What cannot be
 * opened is healed from another copy, file by file; a copy whose files are right again loses its mark. */
#include "data/shard/shard.h"

#include <stdio.h>

#define MARK_PREFIX "corrupted_"

/* A copy that cannot be opened again, or given to others, is as good as none: while all of it is here, its disk gets it again. */
void shard_doubt_disk(struct shard *sh, const struct errmsg *why)
{
    if (sh->engine == NULL || sh->life.failing) {
        return;
    }
    log_warn(sh->service->o.log, "data", "shard [%.*s][%u]: damaged on its disk, and whole in memory: %s",
             STR_ARG(sh->index->name), sh->number, err_is(why) ? err_reason(why) : "unknown");
    engine_doubt_disk(sh->engine);
    shard_want_flush(sh, false);
}

static void look(void *arg)
{
    struct shard *sh = arg;
    sh->upkeep.damage_queued = false;
    shard_check(sh);
    uint64_t doubted = atomic_exchange(&sh->upkeep.doubted, 0);
    if (doubted != 0 && sh->engine != NULL && !sh->life.failing) {
        ERR_LOCAL(em);
        err_set(&em, ERR_CORRUPT, "a file of the commit does not match its checksum");
        if (doubted != SHARD_FILE_OTHER + 1 && engine_has_segment(sh->engine, doubted - 1)) {
            shard_fail(sh, &em); /* it is needed as it should be on the disk */
        } else {
            shard_doubt_disk(sh, &em);
        }
    }
    shard_unref(sh);
}

void shard_report_damage(struct shard *sh)
{
    if (atomic_exchange(&sh->upkeep.damage_queued, true)) {
        return;
    }
    shard_ref(sh);
    if (!shard_post(sh, look, sh)) {
        sh->upkeep.damage_queued = false; /* the next one who finds it, or the next tick */
        shard_unref(sh);
    }
}

void shard_report_file(struct shard *sh, uint64_t segment)
{
    sh->upkeep.doubted = segment + 1;
    shard_report_damage(sh);
}

void shard_mark_damaged(struct shard *sh, const struct errmsg *why)
{
    const struct fs *fs = sh->service->o.fs;
    struct arena a;
    ERR_LOCAL(em);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct str path =
        arena_printf(&a, "%.*s/" MARK_PREFIX "%.*s", STR_ARG(sh->dir), STR_ARG(sh->role.allocation_id));
    struct str text = arena_printf(&a, "%s\n", err_is(why) ? err_reason(why) : "unknown");
    enum err e =
        path.p != NULL && text.p != NULL ? fs_replace_file(fs, path.p, text, &em) : err_no_memory(&em);
    if (e != ERR_OK) {
        log_warn(sh->service->o.log, "data", "shard [%.*s][%u]: cannot be marked as damaged: %s",
                 STR_ARG(sh->index->name), sh->number, err_reason(&em));
    }
    arena_fini(&a);
}

/* Calls for each mark; how many there are. */
static size_t each_mark(const struct fs *fs, const char *dir, bool remove)
{
    struct arena a;
    struct fs_names names;
    size_t n = 0;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    bool listed = fs->list(fs->self, dir, &a, &names, NULL) == ERR_OK;
    for (size_t i = 0; listed && i < names.n; i++) {
        if (!str_starts(names.v[i], STR(MARK_PREFIX))) {
            continue;
        }
        n++;
        struct str path = remove ? arena_printf(&a, "%s/%.*s", dir, STR_ARG(names.v[i])) : STR_NULL;
        if (path.p != NULL) {
            fs->remove(fs->self, path.p, NULL);
        }
    }
    arena_fini(&a);
    return n;
}

bool damage_marked(const struct fs *fs, const char *dir)
{
    return each_mark(fs, dir, false) > 0;
}

void shard_remove_marks(const struct shard *sh)
{
    each_mark(sh->service->o.fs, sh->dir.p, true);
}
