#include "node/check.h"

#include "common/sys/fs_posix.h"
#include "engine/index/copy_check.h"
#include "engine/index/translog.h"
#include "master/state_log.h"
#include "master/state_seal.h"
#include "node/data_folder.h"

#include <stdio.h>
#include <string.h>

enum { ALL_GOOD, DAMAGED, NOT_CHECKED };

static const char usage[] =
    "usage: serai-node check PATH\n"
    "Reads all of the data folder PATH (path.data) of a node that is not running, and says what "
    "is damaged in it.\nChanges nothing. Exit status: 0 nothing is damaged, 1 something is, 2 it "
    "could not be looked at.\n";

struct check {
    const struct fs *fs;
    const char *dir;
    struct arena arena;
    struct cluster_state *state; /* NULL: none, or damaged */
    bool state_read;
    struct str node_id; /* empty: damaged */
    uint64_t files, bytes, damaged;
    const char *shard_dir; /* below dir, while a shard is looked at */
    struct str index;      /* its name; empty: not in the state */
};

static void check_report(struct check *c, const char *file, const char *what)
{
    c->damaged++;
    printf("damaged: %s: %s\n", file, what);
}

/* ---- who the node is, and the cluster's metadata ------------------------------------------------------- */

static void check_state(struct check *c)
{
    ERR_LOCAL(em);
    struct str id;
    bool found, older;
    uint64_t term;
    const char *state_dir = arena_printf(&c->arena, "%s/_state", c->dir).p;
    struct fs_names names = {0};
    if (state_dir == NULL || c->fs->list(c->fs->self, state_dir, &c->arena, &names, &em) != ERR_OK) {
        check_report(c, "_state", "it cannot be read");
        return;
    }
    c->files += names.n;
    if (node_id_read(&id, &found, &older, c->fs, c->dir, &c->arena, &em) != ERR_OK) {
        check_report(c, "_state/node", err_reason(&em));
    } else if (!found) {
        check_report(c, "_state/node", "it is missing: it says who this node is");
    } else {
        c->node_id = id;
    }
    if (data_folder_check(c->fs, c->dir, &c->arena, &em) != ERR_OK
        || state_log_read(c->fs, state_dir, &term, &c->state, &em) != ERR_OK) {
        check_report(c, "_state", err_reason(&em));
        return;
    }
    c->state_read = true;
    struct state_seal seal;
    enum seal_found sealed;
    unsigned next;
    if (state_seal_read(c->fs, state_dir, &seal, &sealed, &next, &em) != ERR_OK || sealed == SEAL_DAMAGED) {
        check_report(
            c, "_state/seal",
            "it does not say any more how far the log of cluster states reaches; a start makes it again");
    }
}

/* ---- the shards' data ---------------------------------------------------------------------------------- */

static void shard_damaged(void *self, const char *file, const char *what)
{
    struct check *c = self;
    c->damaged++;
    printf("damaged: %s%s%s", c->shard_dir, *file != '\0' ? "/" : "", file);
    if (c->index.n > 0) {
        printf(" (index [%.*s])", STR_ARG(c->index));
    }
    printf(": %s\n", what);
}

static enum err check_shard(struct check *c, struct str uuid, uint32_t shard, struct errmsg *em)
{
    c->shard_dir = arena_printf(&c->arena, "indices/%.*s/%u", STR_ARG(uuid), shard).p;
    const char *dir = arena_printf(&c->arena, "%s/%s", c->dir, c->shard_dir).p;
    if (c->shard_dir == NULL || dir == NULL) {
        return err_no_memory(em);
    }
    struct copy_check x = {.fs = c->fs, .dir = dir, .damaged = shard_damaged, .self = c};
    enum err e = copy_check_run(&x, uuid.p, shard, em);
    c->files += x.files;
    c->bytes += x.bytes;
    return e;
}

static enum err check_index(struct check *c, struct str uuid, struct errmsg *em)
{
    struct fs_names shards;
    const char *dir = arena_printf(&c->arena, "%s/indices/%.*s", c->dir, STR_ARG(uuid)).p;
    const struct index_meta *m = c->state != NULL ? cluster_index_by_uuid(c->state, uuid) : NULL;
    c->index = m != NULL ? m->name : STR("");
    if (m == NULL && c->state_read) {
        printf("note: indices/%.*s: the cluster's metadata has no such index; a node removes or ignores it\n",
               STR_ARG(uuid));
    }
    enum err e = dir != NULL ? c->fs->list(c->fs->self, dir, &c->arena, &shards, em) : err_no_memory(em);
    for (size_t i = 0; e == ERR_OK && i < shards.n; i++) {
        uint64_t number;
        if (file_number(shards.v[i], "", &number)) {
            e = check_shard(c, uuid, (uint32_t)number, em);
        }
    }
    return e;
}

static enum err check_indices(struct check *c, struct errmsg *em)
{
    struct fs_names indices;
    const char *dir = arena_printf(&c->arena, "%s/indices", c->dir).p;
    enum err e = dir != NULL ? c->fs->list(c->fs->self, dir, &c->arena, &indices, em) : err_no_memory(em);
    for (size_t i = 0; e == ERR_OK && i < indices.n; i++) {
        e = check_index(c, indices.v[i], em);
    }
    return e;
}

/* Does the metadata have a copy here that was told to hold all that was acknowledged? */
static bool is_in_sync_here(const struct check *c, const struct index_meta *m, const struct shard_routing *s,
                            uint32_t k)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct shard_copy *x = &s->copies[i];
        if (copy_active(x) && str_eq(x->node, c->node_id) && str_set_has(&m->in_sync[k], x->allocation_id)) {
            return true;
        }
    }
    const struct copy_trouble *t = &s->copies[0].trouble; /* the only one, and it was here */
    return s->copies[0].state == COPY_UNASSIGNED && m->in_sync[k].n == 1 && t->last_node.p != NULL
           && str_eq(t->last_node, c->node_id);
}

static enum err check_missing(struct check *c, const struct index_meta *m, uint32_t shard, struct errmsg *em)
{
    bool there;
    uint64_t n;
    c->index = m->name;
    c->shard_dir = arena_printf(&c->arena, "indices/%.*s/%u", STR_ARG(m->uuid), shard).p;
    const char *dir = c->shard_dir != NULL ? arena_printf(&c->arena, "%s/%s", c->dir, c->shard_dir).p : NULL;
    enum err e = dir == NULL ? err_no_memory(em) : c->fs->size(c->fs->self, dir, &there, &n, em);
    if (e == ERR_OK && !there) {
        shard_damaged(
            c, "",
            "it is missing: by the cluster's metadata a copy is here that has all that was acknowledged");
    }
    return e;
}

/* Folders that are not there. */
static enum err check_owed(struct check *c, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; c->state != NULL && c->node_id.n > 0 && i < c->state->n_routing && e == ERR_OK;
         i++) {
        const struct index_routing *r = c->state->routing[i];
        const struct index_meta *m = cluster_index(c->state, r->name);
        for (uint32_t k = 0; m != NULL && k < r->n && e == ERR_OK; k++) {
            e = is_in_sync_here(c, m, &r->shards[k], k) ? check_missing(c, m, k, em) : ERR_OK;
        }
    }
    return e;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* Held while it is looked at. A folder that no node ever used has no file to lock, and gets none. */
static enum err take_lock(struct check *c, void **lock, struct errmsg *em)
{
    bool state, locked;
    uint64_t n;
    const char *file = arena_printf(&c->arena, "%s/node.lock", c->dir).p,
               *folder = arena_printf(&c->arena, "%s/_state", c->dir).p;
    enum err e =
        file == NULL || folder == NULL ? err_no_memory(em) : c->fs->size(c->fs->self, folder, &state, &n, em);
    e = e == ERR_OK ? c->fs->size(c->fs->self, file, &locked, &n, em) : e;
    if (e == ERR_OK && !state && !locked) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] is not the data folder of a node", c->dir);
    }
    if (e == ERR_OK && locked && c->fs->lock(c->fs->self, c->dir, lock, em) != ERR_OK) {
        return err_set(em, ERR_ILLEGAL_STATE, "[%s] is in use by a node, or its lock cannot be taken: %s",
                       c->dir, err_reason(em));
    }
    return e;
}

int check_main(int argc, char **argv)
{
    ERR_LOCAL(em);
    void *lock = NULL;
    if (argc != 2 || argv[1][0] == '-') {
        bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        fputs(usage, help ? stdout : stderr);
        return help ? ALL_GOOD : NOT_CHECKED;
    }
    struct check c = {.fs = fs_posix(), .dir = argv[1]};
    arena_init(&c.arena, NULL, ARENA_UNLIMITED);
    enum err e = take_lock(&c, &lock, &em);
    if (e == ERR_OK) {
        check_state(&c);
        e = check_indices(&c, &em);
        e = e == ERR_OK ? check_owed(&c, &em) : e;
    }
    if (e == ERR_OK) {
        printf("%llu files read, %llu bytes of shards: %llu damages\n", (unsigned long long)c.files,
               (unsigned long long)c.bytes, (unsigned long long)c.damaged);
    } else {
        fprintf(stderr, "serai-node: cannot check: %s\n", err_reason(&em));
    }
    c.fs->unlock(c.fs->self, lock);
    cluster_state_unref(c.state);
    arena_fini(&c.arena);
    return e != ERR_OK ? NOT_CHECKED : c.damaged > 0 ? DAMAGED : ALL_GOOD;
}
