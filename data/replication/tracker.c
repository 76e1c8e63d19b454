#include "data/replication/tracker.h"

#include "common/base/invariant.h"
#include "engine/index/engine.h"

#include <assert.h>

struct tracked *tracker_find(const struct tracker *t, struct str allocation_id)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (str_eq(t->v[i].allocation_id, allocation_id)) {
            return &t->v[i];
        }
    }
    return NULL;
}

/* The lowest of those in sync; one that has said nothing yet holds it where it is, as does one that is about to be in
 * sync: it would never reach what runs away from it. */
static bool compute(struct tracker *t)
{
    int64_t lowest = INT64_MAX;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].catching_up) {
            return false;
        }
        if (t->v[i].in_sync) {
            lowest = MIN_OF(lowest, t->v[i].local_checkpoint);
        }
    }
    if (lowest == INT64_MAX || lowest <= t->global_checkpoint) {
        return false;
    }
    t->global_checkpoint = lowest;
    INVARIANT(tracker_invariant(t));
    return true;
}

static bool add(const struct tracker *t, struct arena *a, struct tracked *v, uint32_t *n, struct str id,
                struct str node, bool in_sync)
{
    const struct tracked *old = tracker_find(t, id);
    bool old_in_sync = old != NULL && old->in_sync;
    struct tracked *c = &v[(*n)++];
    *c = (struct tracked){.allocation_id = arena_str(a, id),
                          .node = node.p != NULL ? arena_str(a, node) : STR_NULL,
                          .local_checkpoint = old != NULL ? old->local_checkpoint : SEQ_NONE,
                          .floor = old != NULL ? old->floor : SEQ_NONE,
                          .in_sync = in_sync || old_in_sync,
                          .tracked = in_sync || (old != NULL && old->tracked)};
    c->catching_up = old != NULL && old->catching_up && !c->in_sync;
    if (c->in_sync && !old_in_sync && c->local_checkpoint < t->global_checkpoint) {
        c->local_checkpoint = SEQ_NONE; /* the master knows better than this one what it has */
    }
    return c->allocation_id.p != NULL && (node.p == NULL || c->node.p != NULL);
}

/* The copies that a state shows, with what is known of them. */
static enum err take_copies(struct tracker *t, const struct index_meta *meta, uint32_t shard,
                            const struct shard_routing *routing, struct errmsg *em)
{
    const struct str_set *in_sync = &meta->in_sync[shard];
    struct arena fresh;
    arena_init(&fresh, NULL, ARENA_UNLIMITED);
    struct tracked *v = ARENA_ARRAY(&fresh, struct tracked, (size_t)in_sync->n + 2 * (size_t)routing->n + 1);
    struct str own = arena_str(&fresh, t->own);
    bool ok = v != NULL && own.p != NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < routing->n; i++) {
        const struct shard_copy *c = &routing->copies[i];
        if (c->node.p != NULL) {
            ok = add(t, &fresh, v, &n, c->allocation_id, c->node, str_set_has(in_sync, c->allocation_id));
        }
        if (ok && c->target_node.p != NULL) {
            ok = add(t, &fresh, v, &n, c->target_id, c->target_node, str_set_has(in_sync, c->target_id));
        }
    }
    for (uint32_t i = 0; ok && i < in_sync->n; i++) {
        bool there = false;
        for (uint32_t k = 0; k < n; k++) {
            there |= str_eq(v[k].allocation_id, in_sync->v[i]);
        }
        ok = there || add(t, &fresh, v, &n, in_sync->v[i], STR_NULL, true);
    }
    if (!ok) {
        arena_fini(&fresh);
        return err_no_memory(em);
    }
    arena_fini(&t->arena);
    t->arena = fresh;
    t->own = own;
    t->v = v;
    t->n = n;
    return ERR_OK;
}

enum err tracker_init(struct tracker *t, struct str own, int64_t own_checkpoint, int64_t global_checkpoint,
                      const struct index_meta *meta, uint32_t shard, const struct shard_routing *routing,
                      struct errmsg *em)
{
    *t = (struct tracker){
        .own = own, .term = meta->primary_terms[shard], .global_checkpoint = global_checkpoint};
    arena_init(&t->arena, NULL, ARENA_UNLIMITED);
    enum err e = take_copies(t, meta, shard, routing, em);
    if (e != ERR_OK) {
        tracker_fini(t);
        return e;
    }
    tracker_advance(t, t->own, own_checkpoint);
    return ERR_OK;
}

void tracker_fini(struct tracker *t)
{
    arena_fini(&t->arena);
    *t = (struct tracker){0};
}

enum err tracker_update(struct tracker *t, const struct index_meta *meta, uint32_t shard,
                        const struct shard_routing *routing, struct errmsg *em)
{
    enum err e = take_copies(t, meta, shard, routing, em);
    if (e == ERR_OK) {
        compute(t); /* one that held it back may be gone */
    }
    return e;
}

/* Has one that wants to be in sync come far enough? */
static void settle(const struct tracker *t, struct tracked *c)
{
    bool far = c->local_checkpoint >= t->global_checkpoint && c->local_checkpoint >= c->floor;
    if (c->catching_up && far) {
        c->catching_up = false;
        c->in_sync = true;
    }
}

bool tracker_believes(const struct tracker *t, struct str allocation_id, int64_t local_checkpoint,
                      int64_t max_seq_no)
{
    const struct tracked *c = tracker_find(t, allocation_id);
    return c == NULL
           || (local_checkpoint <= max_seq_no
               && (!c->in_sync || MAX_OF(c->local_checkpoint, local_checkpoint) >= t->global_checkpoint));
}

bool tracker_advance(struct tracker *t, struct str allocation_id, int64_t local_checkpoint)
{
    struct tracked *c = tracker_find(t, allocation_id);
    if (c == NULL || local_checkpoint <= c->local_checkpoint) {
        return false;
    }
    c->local_checkpoint = local_checkpoint;
    settle(t, c);
    return compute(t);
}

bool tracker_track(struct tracker *t, struct str allocation_id, struct str node, int64_t max_seq_no)
{
    struct tracked *c = tracker_find(t, allocation_id);
    if (c == NULL || c->node.p == NULL || !str_eq(c->node, node)) {
        return false;
    }
    if (!c->in_sync) { /* a recovery that begins again */
        c->catching_up = false;
        c->local_checkpoint = SEQ_NONE;
        c->floor = max_seq_no;
    }
    c->tracked = true;
    return true;
}

bool tracker_catch_up(struct tracker *t, struct str allocation_id, int64_t local_checkpoint, bool *now)
{
    struct tracked *c = tracker_find(t, allocation_id);
    *now = false;
    if (c == NULL || c->node.p == NULL || !c->tracked) {
        return false;
    }
    c->local_checkpoint = MAX_OF(c->local_checkpoint, local_checkpoint);
    c->catching_up = !c->in_sync;
    settle(t, c);
    *now = c->in_sync;
    compute(t);
    return true;
}

bool tracker_remove(struct tracker *t, struct str allocation_id)
{
    struct tracked *c = tracker_find(t, allocation_id);
    if (c == NULL || str_eq(allocation_id, t->own)) {
        return false;
    }
    *c = t->v[--t->n];
    return compute(t);
}

void tracker_invariant(const struct tracker *t)
{
    bool own = false;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct tracked *c = &t->v[i];
        assert(!(c->in_sync && c->catching_up));
        assert(c->tracked || (!c->in_sync && !c->catching_up));
        assert(!c->in_sync || c->local_checkpoint == SEQ_NONE || c->local_checkpoint >= t->global_checkpoint
               || c->node.p == NULL);
        assert(!c->catching_up || c->local_checkpoint < t->global_checkpoint
               || c->local_checkpoint < c->floor);
        own |= str_eq(c->allocation_id, t->own);
    }
    assert(own);
}
