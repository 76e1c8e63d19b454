/* A thousand nodes that read the same bytes share what they read: a state of 100,000 copies would not fit in memory a thousand
 * times. The linker puts these in the place of the functions of state.h (--wrap); outside of the measurements of scale.c they only
 * call them. */
#include "tests/sim/scale.h"

#include "common/base/hash.h"

enum err __real_cluster_state_decode(struct cluster_state **out, struct str bytes, struct errmsg *em);
enum err __real_cluster_state_patch(struct cluster_state **out, const struct cluster_state *from,
                                    struct str diff, struct errmsg *em);
enum err __wrap_cluster_state_decode(struct cluster_state **out, struct str bytes, struct errmsg *em);
enum err __wrap_cluster_state_patch(struct cluster_state **out, const struct cluster_state *from,
                                    struct str diff, struct errmsg *em);
void __real_cluster_state_diff(const struct cluster_state *from, const struct cluster_state *to,
                               struct buf *out);
void __wrap_cluster_state_diff(const struct cluster_state *from, const struct cluster_state *to,
                               struct buf *out);

#define KEPT       32
#define KEPT_DIFFS 4

static struct {
    bool on;
    unsigned next;
    struct {
        uint64_t hash;
        size_t n;
        struct cluster_state *base, *state; /* base NULL: whole */
    } kept[KEPT];
    unsigned next_diff;
    struct {
        struct cluster_state *from, *to;
        struct buf bytes;
    } diffs[KEPT_DIFFS]; /* which every node writes to its disk */
} shared;

void shared_states(bool on)
{
    shared.on = on;
}

/* The same state, as far as votes are concerned, too: marking it committed changes neither its uuid nor its version. */
static bool same_state(const struct cluster_state *a, const struct cluster_state *b)
{
    const struct coordination_part *x = a->coordination, *y = b->coordination;
    return str_eq(a->state_uuid, b->state_uuid) && x != NULL && y != NULL
           && str_set_eq(&x->committed, &y->committed) && x->uuid_committed == y->uuid_committed;
}

static bool same_base(const struct cluster_state *a, const struct cluster_state *b)
{
    return a == NULL || b == NULL ? a == b : a == b || same_state(a, b);
}

static struct cluster_state *find(const struct cluster_state *base, struct str bytes, uint64_t hash)
{
    for (unsigned i = 0; i < KEPT; i++) {
        if (shared.kept[i].state != NULL && shared.kept[i].hash == hash && shared.kept[i].n == bytes.n
            && same_base(shared.kept[i].base, base)) {
            return cluster_state_ref(shared.kept[i].state);
        }
    }
    return NULL;
}

/* *state becomes the one that others have, whichever way they came to it. */
static void keep(const struct cluster_state *base, struct str bytes, uint64_t hash,
                 struct cluster_state **state)
{
    for (unsigned i = 0; i < KEPT; i++) {
        if (shared.kept[i].state != NULL && same_state(shared.kept[i].state, *state)) {
            cluster_state_unref(*state);
            *state = cluster_state_ref(shared.kept[i].state);
            break;
        }
    }
    unsigned i = shared.next++ % KEPT;
    cluster_state_unref(shared.kept[i].base);
    cluster_state_unref(shared.kept[i].state);
    shared.kept[i].hash = hash;
    shared.kept[i].n = bytes.n;
    shared.kept[i].base = base != NULL ? cluster_state_ref((struct cluster_state *)(uintptr_t)base) : NULL;
    shared.kept[i].state = cluster_state_ref(*state);
}

enum err __wrap_cluster_state_decode(struct cluster_state **out, struct str bytes, struct errmsg *em)
{
    if (!shared.on) {
        return __real_cluster_state_decode(out, bytes, em);
    }
    uint64_t hash = hash_bytes(bytes.p, bytes.n, 1);
    *out = find(NULL, bytes, hash);
    if (*out != NULL) {
        return ERR_OK;
    }
    enum err e = __real_cluster_state_decode(out, bytes, em);
    if (e == ERR_OK) {
        keep(NULL, bytes, hash, out);
    }
    return e;
}

enum err __wrap_cluster_state_patch(struct cluster_state **out, const struct cluster_state *from,
                                    struct str diff, struct errmsg *em)
{
    if (!shared.on) {
        return __real_cluster_state_patch(out, from, diff, em);
    }
    uint64_t hash = hash_bytes(diff.p, diff.n, 1);
    *out = find(from, diff, hash);
    if (*out != NULL) {
        return ERR_OK;
    }
    enum err e = __real_cluster_state_patch(out, from, diff, em);
    if (e == ERR_OK) {
        keep(from, diff, hash, out);
    }
    return e;
}

void __wrap_cluster_state_diff(const struct cluster_state *from, const struct cluster_state *to,
                               struct buf *out)
{
    for (unsigned i = 0; shared.on && i < KEPT_DIFFS; i++) {
        if (shared.diffs[i].from == from && shared.diffs[i].to == to) {
            buf_str(out, buf_view(&shared.diffs[i].bytes));
            return;
        }
    }
    size_t at = out->n;
    __real_cluster_state_diff(from, to, out);
    if (!shared.on || out->failed) {
        return;
    }
    unsigned i = shared.next_diff++ % KEPT_DIFFS;
    cluster_state_unref(shared.diffs[i].from);
    cluster_state_unref(shared.diffs[i].to);
    shared.diffs[i].from = cluster_state_ref((struct cluster_state *)(uintptr_t)from);
    shared.diffs[i].to = cluster_state_ref((struct cluster_state *)(uintptr_t)to);
    buf_fini(&shared.diffs[i].bytes);
    buf_init(&shared.diffs[i].bytes, NULL, BUF_UNLIMITED);
    buf_add(&shared.diffs[i].bytes, out->p + at, out->n - at);
}
