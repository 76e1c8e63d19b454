/* Disks that damage what they were given: bits flip, sectors become zeros, files end early, writes get lost or land elsewhere, calls
 * fail, there is no room. In every file of a shard's copy, and of what a node knows of the cluster.
 *
 * Two shapes: no more copies of a shard than the index can spare, while another one that is in sync is there and whole; or any.
 * Every damage can be noticed by whoever reads all that there is: what cannot be is left out. That is what a power cut takes of a log
 * when the place behind what is known to be synced is damaged as well: it looks as a torn write does. */
#include "tests/sim/run_int.h"

#include "data/shard/copy_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS      500
#define OPERATOR_MS  2000 /* until he sees that a node does not start */
#define KNOWN_MS     3000 /* by then, a master that asks has heard that a copy is damaged */
#define STATE_DIR    "data/_state"
#define FILES_MAX    64
#define ROOM_DEFAULT ((uint64_t)1 << 40)

/* ---- files --------------------------------------------------------------------------------------------- */

struct listed {
    const char *part; /* of their names */
    char v[FILES_MAX][160];
    unsigned n;
};

/* Those of which somebody would miss something. */
static void list_file(void *self, const char *path, uint64_t bytes)
{
    struct listed *l = self;
    if (bytes > 0 && l->n < FILES_MAX && strstr(path, l->part) != NULL && strstr(path, "/corrupted_") == NULL
        && strstr(path, "/reserve") == NULL) {
        snprintf(l->v[l->n++], sizeof(l->v[0]), "%s", path);
    }
}

static const char *dir_of(const struct run *run, unsigned shard)
{
    return run->damages.dirs[shard];
}

bool damage_in_shard(const struct run *run, unsigned at, unsigned shard)
{
    return fs_mem_harmed(run->w.nodes[at].disk, dir_of(run, shard)) > 0;
}

static bool damage_in_state(const struct run *run, unsigned at)
{
    return fs_mem_harmed(run->w.nodes[at].disk, STATE_DIR) > 0;
}

bool damage_hides(const struct run *run, unsigned at)
{
    return run->shape.damage && fs_mem_harmed(run->w.nodes[at].disk, "data") > 0;
}

/* ---- how much the index can spare ---------------------------------------------------------------------- */

/* Is that copy on the disk there? One that recovered over it took its place. */
static bool on_disk(const struct run *run, unsigned at, unsigned shard, struct str id)
{
    struct arena a;
    struct copy_data d;
    ERR_LOCAL(em);
    bool found;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    bool is =
        copy_data_read(fs_mem_fs(run->w.nodes[at].disk), dir_of(run, shard), &a, &d, &found, &em) == ERR_OK
        && found && str_eq(d.allocation_id, id);
    arena_fini(&a);
    return is;
}

static bool good_copy(const struct run *run, struct str id, unsigned shard, unsigned *at)
{
    const char *node = node_of_copy(run, id);
    unsigned p = node != NULL ? place_of(run, str_of(node)) : SIM_NODES_MAX;
    *at = p;
    return p != SIM_NODES_MAX && !damage_in_shard(run, p, shard) && !run->damages.troubled[p]
           && on_disk(run, p, shard, id);
}

/* Is there a good copy in sync elsewhere, and nothing wrong with any other? */
static bool spared(const struct run *run, unsigned at, unsigned shard)
{
    const struct index_meta *m = cluster_index(run->newest, STR("i"));
    bool good = false;
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        if (i != at && (damage_in_shard(run, i, shard) || run->damages.troubled[i])) {
            return false;
        }
    }
    for (uint32_t k = 0; m != NULL && k < m->in_sync[shard].n; k++) {
        unsigned p;
        good |= good_copy(run, m->in_sync[shard].v[k], shard, &p) && p != at && run->w.nodes[p].up
                && !run->w.nodes[p].paused;
    }
    return good;
}

static bool others_are_well(const struct run *run, unsigned at)
{
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        const struct sim_node *n = &run->w.nodes[i];
        if (i != at && (!n->up || n->paused || damage_in_state(run, i) || run->damages.troubled[i])) {
            return false;
        }
    }
    return true;
}

static bool may_harm(const struct run *run, unsigned at, unsigned shard)
{
    return run->shape.everywhere || spared(run, at, shard);
}

/* Of a node that lost its power nothing is damaged: what lies behind what is known to be synced would not be missed. */
static bool ready(const struct run *run, unsigned at)
{
    const struct sim_node *n = &run->w.nodes[at];
    return n->up || !n->power_lost;
}

/* ---- what befalls -------------------------------------------------------------------------------------- */

static enum fs_mem_harm any_harm(struct run *run, bool up)
{
    switch (rng_below(&run->rng, up ? 3 : 4)) {
    case 0:
        return FS_MEM_ZEROS;
    case 3:
        return FS_MEM_CUT;
    default:
        return FS_MEM_FLIP;
    }
}

static void harm_below(struct run *run, unsigned at, const char *dir, const char *part, uint64_t most)
{
    static const char *const names[] = {[FS_MEM_FLIP] = "a bit flips",
                                        [FS_MEM_ZEROS] = "a sector is zeros",
                                        [FS_MEM_CUT] = "the end is gone"};
    struct sim_node *n = &run->w.nodes[at];
    for (uint64_t i = 1 + rng_below(&run->rng, most); i > 0; i--) {
        struct listed l = {.part = part};
        fs_mem_each(n->disk, dir, list_file, &l);
        if (l.n == 0) {
            return;
        }
        const char *path = l.v[rng_below(&run->rng, l.n)];
        if (fs_mem_harmed(n->disk, path)
            > 0) { /* what says how far a file reaches, and its end: nobody could tell */
            return;
        }
        enum fs_mem_harm how = any_harm(run, n->up);
        /* One bit is seen by few readers. */
        uint64_t more = how == FS_MEM_FLIP && strstr(path, "/segment_") != NULL ? rng_below(&run->rng, 3) : 0;
        if (fs_mem_harm(n->disk, path, how, &run->rng)) {
            for (; more > 0; more--) {
                fs_mem_harm(n->disk, path, how, &run->rng);
            }
            world_say(&run->w, "%s: %s: %s", n->name, path, names[how]);
            run->r->damages++;
        }
    }
}

/* ---- files that belong elsewhere ---- */

struct double_of { /* files like one of a shard: as long as it, if there are such */
    const char *part, *but;
    uint64_t bytes;
    struct rng *r;
    uint64_t n_same, n_any;
    char same[160], any[160];
};

static void may_be_double(void *self, const char *path, uint64_t bytes)
{
    struct double_of *d = self;
    if (bytes == 0 || strstr(path, d->part) == NULL || strcmp(path, d->but) == 0) {
        return;
    }
    if (rng_below(d->r, ++d->n_any) == 0) {
        snprintf(d->any, sizeof(d->any), "%s", path);
    }
    if (bytes == d->bytes && rng_below(d->r, ++d->n_same) == 0) {
        snprintf(d->same, sizeof(d->same), "%s", path);
    }
}

static void note_bytes(void *self, const char *path, uint64_t bytes)
{
    (void)path;
    *(uint64_t *)self = bytes;
}

/* A file of the copy is that of another copy, shard or time. */
static void misplace(struct run *run, unsigned at, unsigned shard)
{
    struct sim_node *n = &run->w.nodes[at];
    const char *part = rng_below(&run->rng, 4) == 0 ? "/live_" : "/segment_";
    struct listed l = {.part = part};
    fs_mem_each(n->disk, dir_of(run, shard), list_file, &l);
    const char *path = l.n > 0 ? l.v[rng_below(&run->rng, l.n)] : NULL;
    unsigned from = (unsigned)rng_below(&run->rng, run->w.n_nodes);
    if (path == NULL || fs_mem_harmed(n->disk, path) > 0) {
        return;
    }
    struct double_of d = {.part = part, .but = from == at ? path : "", .r = &run->rng};
    fs_mem_each(n->disk, path, note_bytes, &d.bytes);
    fs_mem_each(run->w.nodes[from].disk, "data/indices", may_be_double, &d);
    const char *other = d.n_same > 0 ? d.same : d.any;
    if (d.n_any > 0 && fs_mem_harm_with(n->disk, path, run->w.nodes[from].disk, other)) {
        world_say(&run->w, "%s: %s: it has what %s of %s has%s", n->name, path, other,
                  run->w.nodes[from].name, d.n_same > 0 ? ", as long" : "");
        run->r->damages++;
    }
}

/* Of a copy's files, or all of them. */
static const char *any_kind(struct run *run)
{
    static const char *const kinds[] = {"", "", "segment_", "segment_", "translog_", "live_"};
    return kinds[rng_below(&run->rng, ARRAY_LEN(kinds))];
}

static void harm_shard(struct run *run, unsigned at, unsigned shard)
{
    struct sim_node *n = &run->w.nodes[at];
    if (!ready(run, at) || !may_harm(run, at, shard)) {
        return;
    }
    if (rng_below(&run->rng, 3) > 0) {
        world_kill(&run->w, at, false);
    }
    if (!n->up && rng_below(&run->rng, 3) == 0) {
        misplace(run, at, shard);
    } else {
        harm_below(run, at, dir_of(run, shard), any_kind(run), 3);
    }
    if (!n->up && rng_below(&run->rng, 2) == 0) {
        world_start(&run->w, at);
    }
}

/* Every copy, each somewhere else. */
static void harm_all(struct run *run, unsigned shard)
{
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        harm_shard(run, i, shard);
    }
}

/* All end, and the copy that was the primary is damaged: the master chooses among what it finds. */
static void harm_sleeping(struct run *run, unsigned shard)
{
    const struct index_routing *r = cluster_routing(run->newest, STR("i"));
    unsigned at = r != NULL ? place_of(run, r->shards[shard].copies[0].node) : SIM_NODES_MAX;
    if (at == SIM_NODES_MAX || !run->w.nodes[at].up || !may_harm(run, at, shard)) {
        return;
    }
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        world_kill(&run->w, i, false);
    }
    harm_below(run, at, dir_of(run, shard), any_kind(run), 6);
    for (unsigned i = 0; i < run->w.n_nodes; i++) {
        if (!run->w.nodes[i].up) {
            world_start(&run->w, i);
        }
    }
}

/* Only what the process itself left behind, for the same reason. */
static void harm_state(struct run *run, unsigned at)
{
    if (!run->w.nodes[at].up || damage_in_state(run, at)
        || !(run->shape.everywhere || others_are_well(run, at))) {
        return;
    }
    world_kill(&run->w, at, false);
    harm_below(run, at, STATE_DIR, "", 1);
}

static void lose_write(struct run *run, unsigned at, const char *dir)
{
    struct sim_node *n = &run->w.nodes[at];
    bool misplaced = rng_below(&run->rng, 2) == 0;
    fs_mem_lose_write(n->disk, dir, misplaced, rng_u64(&run->rng));
    world_say(&run->w, "%s: the next write in %s %s", n->name, dir,
              misplaced ? "lands elsewhere" : "is lost");
    run->r->damages++;
}

struct passing {
    struct run *run;
    unsigned at;
};

static void calm(struct run *run, unsigned at)
{
    struct sim_node *n = &run->w.nodes[at];
    if (run->damages.troubled[at]) {
        world_say(&run->w, "%s: its disk is as it should be", n->name);
        fs_mem_trouble(n->disk, &(struct fs_mem_trouble){0}, 0);
        fs_mem_set_capacity(n->disk, ROOM_DEFAULT);
        run->damages.troubled[at] = false;
    }
}

static void trouble_over(void *arg)
{
    struct passing *p = arg;
    calm(p->run, p->at);
    free(p);
}

/* For some seconds. */
static void trouble(struct run *run, unsigned at)
{
    struct sim_node *n = &run->w.nodes[at];
    if (run->damages.troubled[at] || !(run->shape.everywhere || others_are_well(run, at))) {
        return;
    }
    unsigned kind = (unsigned)rng_below(&run->rng, 4),
             often = 1 + (unsigned)rng_below(&run->rng, rng_below(&run->rng, 2) == 0 ? 50 : 1000);
    struct fs_mem_trouble t = {
        .reads = kind == 0 ? often : 0, .writes = kind == 1 ? often : 0, .syncs = kind == 2 ? often : 0};
    uint64_t room = rng_below(&run->rng, 20000);
    int64_t ms = 200 + (int64_t)rng_below(&run->rng, 5000);
    if (kind < 3) {
        world_say(&run->w, "%s: %u of 1000 %s fail for %lld ms", n->name, often,
                  kind == 0   ? "reads"
                  : kind == 1 ? "writes"
                              : "syncs",
                  (long long)ms);
        fs_mem_trouble(n->disk, &t, rng_u64(&run->rng));
    } else {
        world_say(&run->w, "%s: its disk has room for %llu bytes for %lld ms", n->name,
                  (unsigned long long)room, (long long)ms);
        fs_mem_set_capacity(n->disk, fs_mem_used(n->disk) + room);
    }
    run->damages.troubled[at] = true;
    run->r->damages++;
    struct passing *p = malloc(sizeof(*p));
    *p = (struct passing){run, at};
    run->timers->start(run->timers->self, ms, trouble_over, p);
}

void damage_befall(struct run *run, unsigned at)
{
    unsigned shard = (unsigned)rng_below(&run->rng, SHARDS), copy = (unsigned)rng_below(&run->rng, 2);
    const struct index_routing *r = run->newest != NULL ? cluster_routing(run->newest, STR("i")) : NULL;
    if (r == NULL || run->damages.dirs[0][0] == '\0') {
        return;
    }
    unsigned of_shard = place_of(run, r->shards[shard].copies[copy].node);
    of_shard = of_shard != SIM_NODES_MAX ? of_shard : at;
    switch (rng_below(&run->rng, 11)) {
    case 8:
    case 9:
    case 10:
        harm_sleeping(run, shard);
        break;
    case 0:
        if (run->shape.everywhere) {
            harm_all(run, shard);
            break;
        } /* fallthrough */
    case 1:
    case 2:
        harm_shard(run, of_shard, shard);
        break;
    case 3:
    case 4:
        if (may_harm(run, of_shard, shard)) {
            lose_write(run, of_shard, dir_of(run, shard));
        }
        break;
    case 5:
        if (others_are_well(run, at) && !damage_in_state(run, at)) {
            lose_write(run, at, STATE_DIR);
        }
        break;
    case 6:
        harm_state(run, at);
        break;
    default:
        trouble(run, at);
        break;
    }
}

/* ---- the operator -------------------------------------------------------------------------------------- */

/* A node that does not start says which file it is, and something is wrong there. */
static void check_refusal(struct run *run, unsigned at)
{
    const struct sim_node *n = &run->w.nodes[at];
    bool failed = strstr(n->refused, "Input/output error") != NULL || strstr(n->refused, "No space") != NULL;
    bool wrong = damage_in_state(run, at) || failed;
    if (!wrong || (strstr(n->refused, STATE_DIR) == NULL && !failed)) {
        violated(run, "%s does not start, and its files are %s: %s", n->name,
                 wrong ? "not named" : "as they should be", n->refused);
    }
}

/* He puts the files back from a copy, or takes a new machine where it is not needed. */
static void mend_state(struct run *run, unsigned at)
{
    struct sim_node *n = &run->w.nodes[at];
    check_refusal(run, at);
    if (damage_in_state(run, at) && (rng_below(&run->rng, 3) > 0 || !members_replace(run, at))) {
        world_say(&run->w, "%s: the files of %s are put back", n->name, STATE_DIR);
        fs_mem_heal(n->disk, STATE_DIR);
    }
    run->damages.refused_ms[at] = 0;
    world_start(&run->w, at);
}

static void note_mark(void *self, const char *path, uint64_t bytes)
{
    (void)bytes;
    *(bool *)self |= strstr(path, "/corrupted_") != NULL;
}

static void look_at_marks(struct run *run, unsigned at)
{
    for (unsigned k = 0; k < SHARDS; k++) {
        bool marked = false;
        int64_t *since = &run->damages.marked_ms[at][k];
        fs_mem_each(run->w.nodes[at].disk, dir_of(run, k), note_mark, &marked);
        *since = !marked ? 0 : *since == 0 ? world_ms(&run->w) : *since;
    }
}

static void look(void *arg)
{
    struct run *run = arg;
    const struct index_meta *m = run->newest != NULL ? cluster_index(run->newest, STR("i")) : NULL;
    if (run->over) {
        return;
    }
    for (unsigned k = 0; m != NULL && k < SHARDS; k++) {
        snprintf(run->damages.dirs[k], sizeof(run->damages.dirs[k]), "data/indices/%.*s/%u", STR_ARG(m->uuid),
                 k);
    }
    for (unsigned i = 0; m != NULL && i < run->w.n_nodes; i++) {
        const struct sim_node *n = &run->w.nodes[i];
        int64_t *since = &run->damages.refused_ms[i];
        *since = n->up || n->refused[0] == '\0' ? 0 : *since == 0 ? world_ms(&run->w) : *since;
        look_at_marks(run, i);
        if (*since != 0 && world_ms(&run->w) - *since > OPERATOR_MS) {
            mend_state(run, i);
        }
    }
    run->timers->start(run->timers->self, LOOK_MS, look, run);
}

void damage_start(struct run *run)
{
    if (run->shape.damage) {
        look(run);
    }
}

void damage_ends(struct run *run)
{
    for (unsigned i = 0; i < run->w.n_nodes && run->shape.damage; i++) {
        fs_mem_lose_write(run->w.nodes[i].disk, NULL, false, 0);
        calm(run, i);
    }
    for (unsigned i = 0; i < run->w.n_nodes && run->shape.damage; i++) {
        if (!run->w.nodes[i].up && !world_start(&run->w, i)) {
            mend_state(run, i);
            if (!run->w.nodes[i].up) {
                violated(run, "n%u does not start with what was put back: %s", i, run->w.nodes[i].refused);
            }
        }
    }
}

/* ---- what must hold ------------------------------------------------------------------------------------ */

/* A damaged copy that has said so, and was made the primary: was there a good one? On a node that was a member already: the choice
 * may be that of a master before this one, in a state that nobody committed. */
static void check_choice(struct run *run, const struct cluster_state *s, unsigned shard,
                         const struct shard_copy *c)
{
    const struct index_meta *m = cluster_index(s, STR("i"));
    unsigned at = place_of(run, c->node), p;
    if (at == SIM_NODES_MAX) {
        return;
    }
    look_at_marks(run, at); /* nobody else does once all is mended */
    int64_t since = run->damages.marked_ms[at][shard];
    if (since == 0 || world_ms(&run->w) - since < KNOWN_MS) {
        return;
    }
    for (uint32_t k = 0; k < m->in_sync[shard].n; k++) {
        if (good_copy(run, m->in_sync[shard].v[k], shard, &p) && p != at
            && run->damages.marked_ms[p][shard] == 0 && cluster_node(s, str_of(run->w.nodes[p].id)) != NULL
            && cluster_node(run->newest, str_of(run->w.nodes[p].id)) != NULL) {
            violated(run, "shard %u: the damaged copy on n%u is the primary, and n%u has a good one", shard,
                     at, p);
        }
    }
}

void damage_state(struct run *run, const struct cluster_state *s)
{
    const struct index_routing *r = cluster_routing(s, STR("i"));
    const struct cluster_state *before = run->newest;
    bool newer = before != NULL
                 && (s->term > before->term || (s->term == before->term && s->version > before->version));
    const struct index_routing *was = newer ? cluster_routing(before, STR("i")) : NULL;
    if (!run->shape.damage || r == NULL || was == NULL) {
        return;
    }
    for (uint32_t k = 0; k < r->n && k < SHARDS; k++) {
        const struct shard_copy *c = &r->shards[k].copies[0];
        if (c->state == COPY_INITIALIZING && c->source == RECOVER_EXISTING_STORE
            && was->shards[k].copies[0].state == COPY_UNASSIGNED) {
            check_choice(run, s, k, c);
        }
    }
}

bool damage_excuses(const struct run *run, const struct cluster_state *s, unsigned shard)
{
    const struct index_meta *m = cluster_index(s, STR("i"));
    for (uint32_t k = 0; m != NULL && k < m->in_sync[shard].n; k++) {
        unsigned p;
        if (good_copy(run, m->in_sync[shard].v[k], shard, &p)) {
            world_say(&run->w, "shard %u: n%u has %.4s, which is good", shard, p, m->in_sync[shard].v[k].p);
            return false;
        }
    }
    return run->shape.damage && m != NULL;
}
