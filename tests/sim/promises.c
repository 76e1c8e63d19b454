/* What nodes promise each other about elections and states, held against what is on their disks. The linker puts the wrappers
 * of the state log's functions into the place of these (--wrap); without a run they only call them. */
#include "tests/sim/run_int.h"

#include "master/quorum.h"
#include "master/state_log.h"

#include <stdio.h>
#include <string.h>

#define DISKS 64 /* that a run may see */

enum err __real_state_log_open(struct state_log **out, const struct fs *fs, const char *dir, uint64_t *term,
                               struct cluster_state **state, struct errmsg *em);
enum err __wrap_state_log_open(struct state_log **out, const struct fs *fs, const char *dir, uint64_t *term,
                               struct cluster_state **state, struct errmsg *em);
enum err __real_state_log_write(struct state_log *l, uint64_t term, struct cluster_state *state,
                                struct errmsg *em);
enum err __wrap_state_log_write(struct state_log *l, uint64_t term, struct cluster_state *state,
                                struct errmsg *em);

/* What a machine has written and synced. */
struct disk {
    char id[32];
    const struct state_log *log; /* of the process that runs there, or ran last */
    struct fs_mem *fs;
    uint64_t term, accepted_term, accepted_version;
};

static struct {
    struct run *run; /* NULL: nobody looks */
    struct disk disks[DISKS];
    unsigned n;
} all;

static struct disk *disk_of(const char *id)
{
    for (unsigned i = 0; i < all.n; i++) {
        if (strcmp(all.disks[i].id, id) == 0) {
            return &all.disks[i];
        }
    }
    if (all.n == DISKS) {
        return NULL;
    }
    snprintf(all.disks[all.n].id, sizeof(all.disks[0].id), "%s", id);
    return &all.disks[all.n++];
}

static bool reaches(const struct disk *d, uint64_t term, uint64_t version)
{
    return d->accepted_term > term || (d->accepted_term == term && d->accepted_version >= version);
}

static struct disk *opened(const struct fs *fs, const struct state_log *log)
{
    struct world *w = &all.run->w;
    for (unsigned i = 0; i < w->n_nodes; i++) {
        struct disk *d = fs_mem_fs(w->nodes[i].disk) == fs ? disk_of(w->nodes[i].id) : NULL;
        if (d != NULL) {
            d->log = log;
            d->fs = w->nodes[i].disk;
            return d;
        }
    }
    return NULL;
}

static uint64_t term_of(const struct cluster_state *s)
{
    return s != NULL && s->coordination != NULL ? s->coordination->term : 0;
}

/* A process begins: what the one before it had synced is there. */
enum err __wrap_state_log_open(struct state_log **out, const struct fs *fs, const char *dir, uint64_t *term,
                               struct cluster_state **state, struct errmsg *em)
{
    enum err e = __real_state_log_open(out, fs, dir, term, state, em);
    struct disk *d = all.run != NULL && e == ERR_OK ? opened(fs, *out) : NULL;
    if (d == NULL) {
        return e;
    }
    uint64_t version = *state != NULL ? (*state)->version : 0, of = term_of(*state);
    if (*term < d->term || of < d->accepted_term
        || (of == d->accepted_term && version < d->accepted_version)) {
        violated(
            all.run,
            "%.6s had term %llu and state %llu of term %llu on its disk, and begins with %llu, %llu of %llu",
            d->id, (unsigned long long)d->term, (unsigned long long)d->accepted_version,
            (unsigned long long)d->accepted_term, (unsigned long long)*term, (unsigned long long)version,
            (unsigned long long)of);
    }
    return e;
}

static struct disk *disk_of_log(const struct state_log *l)
{
    for (unsigned i = 0; all.run != NULL && i < all.n; i++) {
        if (all.disks[i].log == l) {
            return &all.disks[i];
        }
    }
    return NULL;
}

enum err __wrap_state_log_write(struct state_log *l, uint64_t term, struct cluster_state *state,
                                struct errmsg *em)
{
    struct disk *d = disk_of_log(l);
    uint64_t syncs = d != NULL ? fs_mem_syncs(d->fs) : 0;
    uint64_t of = term_of(state), version = state != NULL ? state->version : 0;
    enum err e = __real_state_log_write(l, term, state, em);
    if (d == NULL || e != ERR_OK || fs_mem_syncs(d->fs) == syncs) {
        return e;
    }
    d->term = MAX_OF(d->term, term);
    if (of > d->accepted_term || (of == d->accepted_term && version > d->accepted_version)) {
        d->accepted_term = of;
        d->accepted_version = version;
    }
    return e;
}

/* A vote, and a yes to a state, are on the disk of who gives it before they leave. */
static void sent(void *self, unsigned from, uint16_t kind, bool is_answer, struct str payload)
{
    struct run *run = self;
    struct quorum_message m;
    struct arena scratch;
    bool yes = is_answer && kind == MESSAGE_PUBLISH,
         vote = is_answer ? kind == MESSAGE_START_JOIN : kind == MESSAGE_JOIN;
    if (!yes && !vote) {
        return;
    }
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct disk *d = disk_of(run->w.nodes[from].id);
    if (d != NULL && codec_read(message_join.request, &m, payload, &scratch)) {
        if (m.has_vote && d->term < m.term) {
            violated(run, "%.6s votes in term %llu, and has term %llu on its disk", d->id,
                     (unsigned long long)m.term, (unsigned long long)d->term);
        }
        if (yes && m.ok && !reaches(d, m.term, m.version)) {
            violated(run, "%.6s takes state %llu of term %llu, which is not on its disk", d->id,
                     (unsigned long long)m.version, (unsigned long long)m.term);
        }
    }
    arena_fini(&scratch);
}

void promises_watch(struct run *run)
{
    all.run = run;
    all.n = 0;
    network_watch(run->w.net, sent, run);
}

void promises_committed(struct run *run, const struct cluster_state *s)
{
    const struct coordination_part *c = s->coordination;
    uint32_t has = 0;
    for (uint32_t i = 0; c != NULL && i < c->committed.n; i++) {
        char id[32];
        snprintf(id, sizeof(id), "%.*s", STR_ARG(c->committed.v[i]));
        const struct disk *d = disk_of(id);
        has += d != NULL && reaches(d, c->term, s->version);
    }
    if (c != NULL && has * 2 <= c->committed.n) {
        violated(run, "state %llu of term %llu is committed, and on the disks of %u of %u voters",
                 (unsigned long long)s->version, (unsigned long long)c->term, has, c->committed.n);
    }
}
