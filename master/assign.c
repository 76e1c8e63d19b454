/* Unassigned copies get nodes: primaries where their data is, replicas where most of it still is, new ones by weight. */
#include "master/allocation_int.h"

#include "common/settings/setting_read.h"

#include <string.h>

#define RETRY_FIRST_MS ((int64_t)250)
#define RETRY_MAX_MS   ((int64_t)60000)

/* A damaged copy is tried where it was last, when there is no other that it could be: what is wrong with it
 * is then known, and what somebody repairs is found. Opening tells whether it is the one. */
static bool may_be_in_sync(const struct found_copy *f, const struct index_meta *m, uint32_t shard,
                           const struct shard_routing *s)
{
    if (f->allocation_id.n > 0) {
        return str_set_has(&m->in_sync[shard], f->allocation_id);
    }
    return f->damaged && m->in_sync[shard].n == 1 && str_eq(f->node_id, s->copies[0].trouble.last_node);
}

/* Was this the last one, and could not be opened? Another master may have seen that. One whose node left has not failed, even where
 * others had before it. */
static bool failed_last(const struct found_copy *f, const struct shard_routing *s)
{
    const struct copy_trouble *t = &s->copies[0].trouble;
    return t->reason == REASON_ALLOCATION_FAILED && str_eq(f->node_id, t->last_node);
}

/* One that could not be opened, or is marked as damaged. */
static bool is_doubtful(const struct found_copy *f, const struct shard_routing *s)
{
    return f->damaged || f->failed > 0 || failed_last(f, s);
}

/* How good a choice it is, the lowest first: each is tried before one that could not be opened is tried again, as what is wrong with its
 * files may have been put right; of those, one that is marked as damaged comes last; and the one that had it last first, which may
 * have operations that were never acknowledged elsewhere. */
static uint64_t place_in_line(const struct found_copy *f, const struct shard_routing *s)
{
    bool last = str_eq(f->node_id, s->copies[0].trouble.last_node);
    uint64_t failed = failed_last(f, s) ? MAX_OF(f->failed, 1) : f->failed;
    return failed << 2 | (f->damaged ? 2U : 0) | (last ? 0 : 1U);
}

/* An in-sync copy on some disk. NULL: *attempt tells why there is none. */
static const struct found_copy *find_copy(struct alloc *a, const struct index_meta *m, uint32_t shard,
                                          const struct shard_routing *s, enum copy_attempt *attempt)
{
    const struct found_copy *best = NULL, *forced = NULL;
    bool all_answered = true, throttled = false;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        const struct found_copy *f = NULL;
        for (uint32_t k = 0; k < a->env->n_found && f == NULL; k++) {
            const struct found_copy *x = &a->env->found[k];
            f = x->shard == shard && !x->old && str_eq(x->index_uuid, m->uuid)
                        && str_eq(x->node_id, a->nodes[i].node->id)
                    ? x
                    : NULL;
        }
        all_answered &= f != NULL;
        if (f == NULL || !may_be_in_sync(f, m, shard, s)) {
            continue;
        }
        enum decision d = decide_allocate(a, m, s, &s->copies[0], &a->nodes[i], NULL);
        throttled |= d == DECIDE_THROTTLE;
        const struct found_copy **of = d == DECIDE_YES ? &best : d == DECIDE_NO ? &forced : NULL;
        if (of != NULL && (*of == NULL || place_in_line(f, s) < place_in_line(*of, s))) {
            *of = f;
        }
    }
    if (best != NULL && !all_answered && is_doubtful(best, s)) {
        best = NULL; /* a node that came back may have a better one */
    }
    if (best == NULL && all_answered && !throttled) {
        best = forced; /* its data is nowhere else: it serves from there, and then moves away */
    }
    *attempt = !all_answered ? ATTEMPT_FETCHING : throttled ? ATTEMPT_THROTTLED : ATTEMPT_NO_VALID_COPY;
    return best;
}

static void note_attempt(struct alloc *a, const struct index_meta *m, uint32_t shard,
                         enum copy_attempt attempt)
{
    if (cluster_routing(a->b->next, m->name)->shards[shard].copies[0].trouble.attempt == attempt) {
        return;
    }
    struct index_routing *r = alloc_routing(a, m->name);
    if (r != NULL) {
        r->shards[shard].copies[0].trouble.attempt = attempt;
    }
}

static void want_lookup(struct alloc_wants *w, struct alloc *a, const struct index_meta *m, uint32_t shard)
{
    struct shard_id *v = ARENA_ARRAY(w->arena, struct shard_id, (size_t)w->n_lookups + 1);
    if (v == NULL) {
        alloc_no_memory(a);
        return;
    }
    if (w->n_lookups > 0) {
        memcpy(v, w->lookups, w->n_lookups * sizeof(v[0]));
    }
    v[w->n_lookups] = (struct shard_id){
        .index = arena_str(w->arena, m->name), .uuid = arena_str(w->arena, m->uuid), .shard = shard};
    w->lookups = v;
    w->n_lookups++;
}

/* A primary is tried again and again, ever less often: the disk may have room again, its files may have been repaired. A
 * new one, which another node may take, only pauses after as many failures as a replica is given up. */
static int64_t retry_at(const struct index_meta *m, const struct shard_copy *c)
{
    int64_t failed = c->trouble.failed;
    if (c->source == RECOVER_EMPTY_STORE) {
        failed -= setting_i64(&m->settings, SET_INDEX_ALLOCATION_MAX_RETRIES) - 1;
    }
    int64_t pause = failed <= 0 ? 0 : MIN_OF((int64_t)RETRY_FIRST_MS << MIN_OF(failed - 1, 8), RETRY_MAX_MS);
    return c->trouble.at_ms + pause;
}

static void assign_primary(struct alloc *a, const struct index_meta *m, uint32_t shard,
                           struct alloc_wants *wants)
{
    const struct index_routing *r = cluster_routing(a->b->next, m->name);
    const struct shard_routing *s = &r->shards[shard];
    struct alloc_node *to = NULL;
    struct str id = STR_NULL;
    enum copy_attempt attempt = ATTEMPT_NONE;
    int64_t until = retry_at(m, &s->copies[0]);
    if (s->copies[0].source == RECOVER_EXISTING_STORE) {
        const struct found_copy *f = find_copy(a, m, shard, s, &attempt);
        if (f == NULL && attempt == ATTEMPT_FETCHING) {
            want_lookup(wants, a, m, shard);
        } else if (f != NULL && a->env->now_ms < until) {
            wants->again_ms = MIN_OF(wants->again_ms, until);
            return;
        } else if (f != NULL) {
            to = alloc_node_of(a, f->node_id);
            id = f->allocation_id.n > 0 ? f->allocation_id
                                        : m->in_sync[shard].v[0]; /* the same copy goes on */
        }
    } else if (a->env->now_ms < until) {
        wants->again_ms = MIN_OF(wants->again_ms, until);
        return;
    } else {
        bool throttled;
        to = balance_best(a, m, r, s, &s->copies[0], &throttled);
        attempt = throttled ? ATTEMPT_THROTTLED : ATTEMPT_DECIDERS_NO;
    }
    if (to == NULL) {
        note_attempt(a, m, shard, attempt);
        return;
    }
    struct index_routing *mine = alloc_routing(a, m->name);
    if (mine == NULL) {
        return;
    }
    id = id.p != NULL ? arena_str(&mine->part.arena, id) : alloc_new_id(a, &mine->part.arena);
    alloc_swap_last(&mine->shards[shard], to->node->id);
    alloc_initialize(a, mine, &mine->shards[shard].copies[0], to, id);
}

/* Does it pay to wait for the copy's node? Not when another copy is where it was: then that node's return brings nothing. */
static bool awaits_node(const struct shard_routing *s, const struct shard_copy *c)
{
    struct str at = c->trouble.last_node;
    for (uint32_t i = 0; i < s->n && at.p != NULL; i++) {
        const struct shard_copy *x = &s->copies[i];
        if ((x->node.p != NULL && str_eq(x->node, at))
            || (x->state == COPY_RELOCATING && str_eq(x->target_node, at))) {
            return false;
        }
    }
    return c->trouble.delayed && at.p != NULL;
}

static void assign_replica(struct alloc *a, const struct index_meta *m, uint32_t shard, uint32_t k,
                           struct alloc_wants *wants)
{
    const struct index_routing *r = cluster_routing(a->b->next, m->name);
    const struct shard_routing *s = &r->shards[shard];
    const struct shard_copy *c = &s->copies[k];
    struct alloc_node *to = NULL;
    bool throttled = false;
    struct alloc_node *last = c->trouble.last_node.p != NULL ? alloc_node_of(a, c->trouble.last_node) : NULL;
    if (last != NULL) { /* most of its files are still there */
        enum decision d = decide_allocate(a, m, s, c, last, NULL);
        to = d == DECIDE_YES ? last : NULL;
        throttled = d == DECIDE_THROTTLE;
    }
    if (to == NULL && awaits_node(s, c)) {
        int64_t until = c->trouble.at_ms + alloc_node_left_delay(m);
        if (a->env->now_ms < until) {
            wants->again_ms = MIN_OF(wants->again_ms, until);
            return;
        }
    }
    if (to == NULL && !throttled) {
        to = balance_best(a, m, r, s, c, &throttled);
    }
    struct index_routing *mine = to != NULL || c->trouble.delayed ? alloc_routing(a, m->name) : NULL;
    if (mine != NULL && to == NULL) {
        mine->shards[shard].copies[k].trouble.delayed = false; /* it waits for something else */
    } else if (mine != NULL) {
        alloc_initialize(a, mine, &mine->shards[shard].copies[k], to, alloc_new_id(a, &mine->part.arena));
        struct alloc_node *source = alloc_node_of(a, mine->shards[shard].copies[0].node);
        if (source != NULL) {
            source->outgoing++;
        }
    }
}

void assign_copies(struct alloc *a, bool primaries, struct alloc_wants *wants)
{
    const struct cluster_state *s = a->b->next;
    for (uint32_t i = 0; i < s->n_indices && a->err == ERR_OK; i++) {
        const struct index_routing *r = cluster_routing(s, s->indices[i]->name);
        for (uint32_t shard = 0; r != NULL && shard < r->n; shard++) {
            for (uint32_t k = primaries ? 0 : 1; k < (primaries ? 1 : r->shards[shard].n); k++) {
                if (r->shards[shard].copies[k].state != COPY_UNASSIGNED) {
                    continue;
                }
                if (primaries) {
                    assign_primary(a, s->indices[i], shard, wants);
                } else {
                    assign_replica(a, s->indices[i], shard, k, wants);
                }
                r = cluster_routing(s, s->indices[i]->name);
            }
        }
    }
}
