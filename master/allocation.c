#include "master/allocation_int.h"

#include <stdio.h>
#include <stdlib.h>

#define NODE_LEFT_DELAY_MS 60000
#define RETRY_FIRST_MS     ((int64_t)250)
#define RETRY_MAX_MS       ((int64_t)60000)

/* ---- one allocation ---- */

static void no_memory(struct alloc *a)
{
    a->err = err_no_memory(a->em);
}

void alloc_begin(struct alloc *a, const struct alloc_env *env, struct state_builder *b, struct errmsg *em)
{
    *a = (struct alloc){.env = env, .b = b, .em = em};
    balance_read_factors(a);
    arena_init(&a->arena, NULL, ARENA_UNLIMITED);
    const struct nodes_part *nodes = b->next->nodes;
    uint32_t n = nodes != NULL ? nodes->n : 0;
    a->nodes = ARENA_ARRAY(&a->arena, struct alloc_node, n);
    a->own = ARENA_ARRAY(&a->arena, struct index_routing *, (size_t)b->next->n_indices + 1);
    if (a->nodes == NULL || a->own == NULL) {
        no_memory(a);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if ((nodes->v[i].roles & ROLE_DATA) == 0) {
            continue;
        }
        struct alloc_node *x = &a->nodes[a->n_nodes++];
        x->node = &nodes->v[i];
        for (uint32_t k = 0; k < env->n_disks; k++) {
            if (str_eq(env->disks[k].node_id, nodes->v[i].id)) {
                x->disk = &env->disks[k];
            }
        }
    }
}

void alloc_end(struct alloc *a)
{
    arena_fini(&a->arena);
}

struct alloc_node *alloc_node_of(struct alloc *a, struct str node_id)
{
    uint32_t lo = 0, hi = a->n_nodes; /* nodes are sorted by id */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(a->nodes[mid].node->id, node_id);
        if (c == 0) {
            return &a->nodes[mid];
        }
        lo = c < 0 ? mid + 1 : lo;
        hi = c < 0 ? hi : mid;
    }
    return NULL;
}

static void count_copy(struct alloc *a, const struct shard_copy *c)
{
    struct alloc_node *at = c->node.p != NULL ? alloc_node_of(a, c->node) : NULL;
    struct alloc_node *to = c->state == COPY_RELOCATING ? alloc_node_of(a, c->target_node) : NULL;
    if (to != NULL) {
        to->shards++;
        to->incoming++;
    }
    if (at == NULL) {
        return;
    }
    if (c->state == COPY_RELOCATING) {
        at->outgoing++;
        a->relocating++;
        return;
    }
    at->shards++;
    if (c->state == COPY_INITIALIZING && c->primary) {
        at->initial_primaries++;
    } else if (c->state == COPY_INITIALIZING) {
        at->incoming++;
    }
}

void alloc_count(struct alloc *a)
{
    const struct cluster_state *s = a->b->next;
    a->relocating = 0;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        struct alloc_node *n = &a->nodes[i];
        n->shards = n->incoming = n->outgoing = n->initial_primaries = 0;
    }
    a->inactive = a->inactive_primaries = 0;
    for (uint32_t i = 0; i < s->n_routing; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n; k++) {
            const struct shard_routing *r = &s->routing[i]->shards[k];
            a->inactive_primaries += !copy_active(&r->copies[0]);
            for (uint32_t c = 0; c < r->n; c++) {
                a->inactive += !copy_active(&r->copies[c]);
                count_copy(a, &r->copies[c]);
                if (!r->copies[c].primary && r->copies[c].state == COPY_INITIALIZING
                    && copy_active(&r->copies[0])) {
                    struct alloc_node *source = alloc_node_of(a, r->copies[0].node);
                    if (source != NULL) {
                        source->outgoing++;
                    }
                }
            }
        }
    }
    a->shards = 0;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        a->shards += a->nodes[i].shards;
    }
}

struct index_routing *alloc_routing(struct alloc *a, struct str index)
{
    const struct index_routing *r = cluster_routing(a->b->next, index);
    for (uint32_t i = 0; i < a->n_own; i++) {
        if (a->own[i] == r) {
            return a->own[i];
        }
    }
    struct index_routing *c = r != NULL && a->err == ERR_OK ? index_routing_copy(r, 0) : NULL;
    if (c == NULL || !state_put_routing(a->b, c)) {
        no_memory(a);
        return NULL;
    }
    a->own[a->n_own++] = c;
    a->changed = true;
    return c;
}

struct index_meta *alloc_meta(struct alloc *a, struct str index)
{
    const struct index_meta *m = cluster_index(a->b->next, index);
    struct index_meta *c = m != NULL && a->err == ERR_OK ? index_meta_copy(m) : NULL;
    if (c == NULL || !state_put_index(a->b, c)) {
        no_memory(a);
        return NULL;
    }
    c->version++;
    a->changed = true;
    return c;
}

struct str alloc_new_id(struct alloc *a, struct arena *in)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char id[22];
    for (size_t i = 0; i < sizeof(id); i++) {
        id[i] = digits[rng_below(a->env->rng, 64)];
    }
    struct str s = arena_str(in, str_mk(id, sizeof(id)));
    if (s.p == NULL) {
        no_memory(a);
    }
    return s;
}

int64_t alloc_setting_i64(const struct alloc *a, const char *key, int64_t otherwise)
{
    struct str s = cluster_setting(a->b->next, key, STR_NULL);
    /* checked when it was set; setting texts end in a NUL */
    return s.p != NULL ? strtoll(s.p, NULL, 10) : otherwise;
}

/* ---- changing copies ---- */

static void set_unassigned(struct alloc *a, struct shard_copy *c, enum copy_reason reason, struct str details,
                           uint32_t failed, struct arena *in)
{
    struct str last = c->node;
    *c = (struct shard_copy){
        .primary = c->primary,
        .source = c->primary ? RECOVER_EXISTING_STORE : RECOVER_PEER,
        .trouble = {.reason = reason, .at_ms = a->env->now_ms, .failed = failed, .last_node = last}};
    if (details.n > 0) {
        c->trouble.details = arena_str(in, details);
    }
}

/* A replica that may take a primary's place: it has every acknowledged write. */
static uint32_t promotable(struct alloc *a, const struct index_meta *m, uint32_t shard,
                           const struct shard_routing *s)
{
    for (uint32_t k = 1; k < s->n; k++) {
        const struct shard_copy *c = &s->copies[k];
        if (copy_active(c) && alloc_node_of(a, c->node) != NULL
            && str_set_has(&m->in_sync[shard], c->allocation_id)) {
            return k;
        }
    }
    return 0;
}

void alloc_unassign(struct alloc *a, struct str index, uint32_t shard, uint32_t copy, enum copy_reason reason,
                    struct str details, bool count_failure)
{
    struct index_routing *r = alloc_routing(a, index);
    if (r == NULL) {
        return;
    }
    struct shard_routing *s = &r->shards[shard];
    struct shard_copy *c = &s->copies[copy];
    bool was_active = copy_active(c);
    uint32_t failed = c->trouble.failed + (count_failure ? 1 : 0);
    if (was_active) {
        failed = count_failure ? 1 : 0;
    }
    enum recovery_source source = c->source;
    set_unassigned(a, c, reason, details, failed, &r->part.arena);
    if (!c->primary) {
        return;
    }
    if (!was_active) {
        c->source = source; /* a primary that never started goes on where it began */
        return;
    }
    struct index_meta *m = alloc_meta(a, index);
    if (m == NULL) {
        return;
    }
    m->primary_terms[shard]++;
    uint32_t k = promotable(a, m, shard, s);
    for (uint32_t i = 1; i < s->n; i++) { /* they were recovering from the one that is gone */
        if (s->copies[i].state == COPY_INITIALIZING) {
            set_unassigned(a, &s->copies[i], REASON_PRIMARY_FAILED,
                           STR("primary failed while replica initializing"), s->copies[i].trouble.failed,
                           &r->part.arena);
        } else if (s->copies[i].state == COPY_RELOCATING) {
            s->copies[i].state = COPY_STARTED;
            s->copies[i].target_node = s->copies[i].target_id = STR_NULL;
        }
    }
    if (k > 0) {
        struct shard_copy old = s->copies[0];
        s->copies[0] = s->copies[k];
        s->copies[k] = old;
        s->copies[0].primary = true;
        s->copies[k].primary = false;
        s->copies[k].source = RECOVER_PEER;
    }
}

void alloc_initialize(struct alloc *a, struct index_routing *r, struct shard_copy *c, struct alloc_node *n,
                      struct str allocation_id)
{
    c->state = COPY_INITIALIZING;
    c->node = arena_str(&r->part.arena, n->node->id);
    if (c->node.p == NULL) {
        no_memory(a);
    }
    c->allocation_id = allocation_id;
    c->trouble.delayed = false;
    c->trouble.attempt = ATTEMPT_NONE;
    n->shards++;
    a->shards++;
    if (c->primary) {
        n->initial_primaries++;
    } else {
        n->incoming++;
    }
    a->changed = true;
}

void alloc_relocate(struct alloc *a, struct index_routing *r, struct shard_copy *c, struct alloc_node *to)
{
    struct alloc_node *from = alloc_node_of(a, c->node);
    c->state = COPY_RELOCATING;
    c->target_node = arena_str(&r->part.arena, to->node->id);
    c->target_id = alloc_new_id(a, &r->part.arena);
    if (c->target_node.p == NULL) {
        no_memory(a);
    }
    from->shards--;
    from->outgoing++;
    to->shards++;
    to->incoming++;
    a->relocating++;
    a->changed = true;
}

void alloc_cancel_move(struct alloc *a, struct str index, uint32_t shard, uint32_t k)
{
    struct index_routing *r = alloc_routing(a, index);
    if (r != NULL) {
        struct shard_copy *c = &r->shards[shard].copies[k];
        c->state = COPY_STARTED;
        c->target_node = c->target_id = STR_NULL;
    }
}

/* ---- reconciling with metadata ---- */

static bool fits(const struct index_routing *r, const struct index_meta *m)
{
    return r != NULL && str_eq(r->uuid, m->uuid) && r->n == m->n_shards;
}

static void add_routing(struct alloc *a, const struct index_meta *m)
{
    struct index_routing *r = index_routing_new(m->name, m->uuid, m->n_shards, m->n_replicas);
    for (uint32_t i = 0; r != NULL && i < r->n; i++) {
        bool had = m->in_sync[i].n > 0; /* copies of it are on some disks */
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            struct shard_copy *c = &r->shards[i].copies[k];
            c->source = k > 0 ? RECOVER_PEER : had ? RECOVER_EXISTING_STORE : RECOVER_EMPTY_STORE;
            c->trouble = (struct copy_trouble){.reason = had ? REASON_INDEX_REOPENED : REASON_INDEX_CREATED,
                                               .at_ms = a->env->now_ms};
        }
    }
    if (r == NULL || !state_put_routing(a->b, r)) {
        no_memory(a);
        return;
    }
    a->own[a->n_own++] = r;
    a->changed = true;
}

/* Which copy to drop when there are too many: unassigned ones first, primaries never. */
static uint32_t least_needed(const struct shard_routing *s)
{
    static const enum copy_state order[] = {COPY_UNASSIGNED, COPY_INITIALIZING, COPY_RELOCATING,
                                            COPY_STARTED};
    for (size_t o = 0; o < ARRAY_LEN(order); o++) {
        for (uint32_t k = s->n - 1; k > 0; k--) {
            if (s->copies[k].state == order[o]) {
                return k;
            }
        }
    }
    return s->n - 1;
}

static void set_replicas(struct alloc *a, const struct index_meta *m)
{
    struct index_routing *r = alloc_routing(a, m->name);
    for (uint32_t i = 0; r != NULL && i < r->n; i++) {
        struct shard_routing *s = &r->shards[i];
        uint32_t want = m->n_replicas + 1;
        while (s->n > want) {
            uint32_t k = least_needed(s);
            memmove(&s->copies[k], &s->copies[k + 1], (s->n - k - 1) * sizeof(s->copies[0]));
            s->n--;
        }
        if (s->n < want) {
            struct shard_copy *v = ARENA_ARRAY(&r->part.arena, struct shard_copy, want);
            if (v == NULL) {
                no_memory(a);
                return;
            }
            memcpy(v, s->copies, s->n * sizeof(v[0]));
            s->copies = v;
            while (s->n < want) {
                v[s->n++] =
                    (struct shard_copy){.source = RECOVER_PEER,
                                        .trouble = {.reason = REASON_REPLICA_ADDED, .at_ms = a->env->now_ms}};
            }
        }
    }
}

static void reconcile(struct alloc *a)
{
    struct cluster_state *s = a->b->next;
    for (uint32_t i = 0; i < s->n_routing;) {
        const struct index_meta *m = cluster_index(s, s->routing[i]->name);
        if (m != NULL && fits(s->routing[i], m)) {
            i++;
        } else {
            state_remove_routing(a->b, s->routing[i]->name);
            a->changed = true;
        }
    }
    for (uint32_t i = 0; a->err == ERR_OK && i < s->n_indices; i++) {
        const struct index_meta *m = s->indices[i];
        const struct index_routing *r = cluster_routing(s, m->name);
        if (r == NULL) {
            add_routing(a, m);
        } else if (r->n > 0 && r->shards[0].n != m->n_replicas + 1) {
            set_replicas(a, m);
        }
    }
}

/* ---- nodes that left ---- */

static int64_t node_left_delay(const struct index_meta *m)
{
    int64_t ms = NODE_LEFT_DELAY_MS;
    settings_time_ms(&m->settings, "index.unassigned.node_left.delayed_timeout", NODE_LEFT_DELAY_MS, &ms,
                     NULL);
    return ms;
}

static void drop_copy_of_gone(struct alloc *a, struct str index, uint32_t shard, uint32_t k)
{
    char why[80];
    const struct shard_copy *c = &cluster_routing(a->b->next, index)->shards[shard].copies[k];
    snprintf(why, sizeof(why), "node_left [%.*s]", STR_ARG(c->node));
    bool active = copy_active(c);
    alloc_unassign(a, index, shard, k, REASON_NODE_LEFT, str_of(why), false);
    struct index_routing *r = alloc_routing(a, index);
    const struct index_meta *m = cluster_index(a->b->next, index);
    for (uint32_t i = 1; r != NULL && m != NULL && active && i < r->shards[shard].n; i++) {
        struct shard_copy *now = &r->shards[shard].copies[i];
        if (now->state == COPY_UNASSIGNED && now->trouble.reason == REASON_NODE_LEFT
            && now->trouble.at_ms == a->env->now_ms) {
            now->trouble.delayed = node_left_delay(m) > 0;
        }
    }
}

/* The process that had copies open is not there any more. */
static bool is_gone(struct alloc *a, struct str node)
{
    bool restarted = false;
    for (uint32_t i = 0; i < a->env->n_restarted && !restarted; i++) {
        restarted = str_eq(a->env->restarted[i], node);
    }
    return restarted || alloc_node_of(a, node) == NULL;
}

static void nodes_left(struct alloc *a)
{
    const struct cluster_state *s = a->b->next;
    for (uint32_t i = 0; i < s->n_routing; i++) {
        struct str index = s->routing[i]->name;
        for (uint32_t shard = 0; shard < s->routing[i]->n; shard++) {
            /* replicas first: one that is gone must not be promoted */
            for (uint32_t k = s->routing[i]->shards[shard].n; k-- > 0 && a->err == ERR_OK;) {
                const struct shard_copy *c = &s->routing[i]->shards[shard].copies[k];
                if (c->node.p == NULL) {
                    continue;
                }
                if (is_gone(a, c->node)) {
                    drop_copy_of_gone(a, index, shard, k);
                } else if (c->state == COPY_RELOCATING && is_gone(a, c->target_node)) {
                    struct index_routing *r = alloc_routing(a, index);
                    if (r != NULL) {
                        struct shard_copy *mine = &r->shards[shard].copies[k];
                        mine->state = COPY_STARTED;
                        mine->target_node = mine->target_id = STR_NULL;
                    }
                }
            }
        }
    }
}

/* ---- assigning ---- */

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

/* An in-sync copy on some disk. NULL: *attempt tells why there is none. */
static const struct found_copy *find_copy(struct alloc *a, const struct index_meta *m, uint32_t shard,
                                          const struct shard_routing *s, enum copy_attempt *attempt)
{
    const struct found_copy *best = NULL;
    bool all_answered = true, throttled = false, refused = false;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        const struct found_copy *f = NULL;
        for (uint32_t k = 0; k < a->env->n_found && f == NULL; k++) {
            const struct found_copy *x = &a->env->found[k];
            f = x->shard == shard && str_eq(x->index_uuid, m->uuid)
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
        refused |= d == DECIDE_NO;
        /* the one that had it last may have operations that were never acknowledged elsewhere */
        if (d == DECIDE_YES
            && (best == NULL || str_eq(a->nodes[i].node->id, s->copies[0].trouble.last_node))) {
            best = f;
        }
    }
    *attempt = !all_answered ? ATTEMPT_FETCHING
               : throttled   ? ATTEMPT_THROTTLED
               : refused     ? ATTEMPT_DECIDERS_NO
                             : ATTEMPT_NO_VALID_COPY;
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
        no_memory(a);
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

/* The only copy that has everything is tried again and again, ever less often: its disk may have room again,
 * its files may have been repaired. */
static int64_t retry_pause(uint32_t failed)
{
    return failed == 0 ? 0 : MIN_OF(RETRY_FIRST_MS << MIN_OF(failed - 1, 8U), RETRY_MAX_MS);
}

static void assign_primary(struct alloc *a, const struct index_meta *m, uint32_t shard,
                           struct alloc_wants *wants)
{
    const struct index_routing *r = cluster_routing(a->b->next, m->name);
    const struct shard_routing *s = &r->shards[shard];
    struct alloc_node *to = NULL;
    struct str id = STR_NULL;
    enum copy_attempt attempt = ATTEMPT_NONE;
    if (s->copies[0].source == RECOVER_EXISTING_STORE) {
        const struct found_copy *f = find_copy(a, m, shard, s, &attempt);
        int64_t until = s->copies[0].trouble.at_ms + retry_pause(s->copies[0].trouble.failed);
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
    alloc_initialize(a, mine, &mine->shards[shard].copies[0], to, id);
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
    if (to == NULL && c->trouble.delayed) {
        int64_t until = c->trouble.at_ms + node_left_delay(m);
        if (a->env->now_ms < until) {
            wants->again_ms = MIN_OF(wants->again_ms, until);
            return;
        }
    }
    if (to == NULL && !throttled) {
        to = balance_best(a, m, r, s, c, &throttled);
    }
    struct index_routing *mine = to != NULL ? alloc_routing(a, m->name) : NULL;
    if (mine != NULL) {
        alloc_initialize(a, mine, &mine->shards[shard].copies[k], to, alloc_new_id(a, &mine->part.arena));
        struct alloc_node *source = alloc_node_of(a, mine->shards[shard].copies[0].node);
        if (source != NULL) {
            source->outgoing++;
        }
    }
}

static void assign(struct alloc *a, bool primaries, struct alloc_wants *wants)
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

enum err allocate(const struct alloc_env *env, struct state_builder *b, struct alloc_wants *wants,
                  bool *changed, struct errmsg *em)
{
    struct alloc a;
    alloc_begin(&a, env, b, em);
    if (a.err == ERR_OK) {
        reconcile(&a);
        nodes_left(&a);
        alloc_count(&a);
        assign(&a, true, wants);
        assign(&a, false, wants);
        balance_moves(&a);
        balance_rebalance(&a);
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}

/* ---- what nodes report ---- */

static bool find_assigned(const struct cluster_state *s, struct str uuid, uint32_t shard,
                          struct str allocation_id, const struct index_meta **m, uint32_t *copy, bool *target)
{
    *m = cluster_index_by_uuid(s, uuid);
    const struct index_routing *r = *m != NULL ? cluster_routing(s, (*m)->name) : NULL;
    if (r == NULL || shard >= r->n) {
        return false;
    }
    for (uint32_t k = 0; k < r->shards[shard].n; k++) {
        const struct shard_copy *c = &r->shards[shard].copies[k];
        *target = c->state == COPY_RELOCATING && str_eq(c->target_id, allocation_id);
        if (*target || (c->node.p != NULL && str_eq(c->allocation_id, allocation_id))) {
            *copy = k;
            return true;
        }
    }
    return false;
}

static bool replace_in_sync(struct index_meta *m, uint32_t shard, struct str_set next)
{
    m->in_sync[shard] = next;
    return next.v != NULL || next.n == 0;
}

enum err allocation_started(struct state_builder *b, struct str index_uuid, uint32_t shard,
                            struct str allocation_id, uint64_t primary_term, bool *changed, struct errmsg *em)
{
    const struct index_meta *m;
    uint32_t k;
    bool target;
    struct alloc a;
    struct alloc_env env = {0};
    *changed = false;
    if (!find_assigned(b->next, index_uuid, shard, allocation_id, &m, &k, &target)) {
        return ERR_OK;
    }
    const struct shard_copy *now = &cluster_routing(b->next, m->name)->shards[shard].copies[k];
    if ((now->state != COPY_INITIALIZING && !target)
        || (primary_term != 0 && primary_term != m->primary_terms[shard])) {
        return ERR_OK; /* told twice, or from before the primary changed: it recovers again */
    }
    alloc_begin(&a, &env, b, em);
    struct index_routing *r = alloc_routing(&a, m->name);
    struct index_meta *mine = alloc_meta(&a, m->name);
    if (r != NULL && mine != NULL) {
        struct shard_copy *c = &r->shards[shard].copies[k];
        struct str_set *in = &mine->in_sync[shard];
        struct arena *arena = &mine->part.arena;
        bool reused = str_set_has(in, allocation_id);
        bool ok = true;
        if (target) {
            struct str_set with = str_set_with(in, c->target_id, arena);
            ok = with.v != NULL
                 && replace_in_sync(mine, shard, str_set_without(&with, c->allocation_id, arena));
            c->node = c->target_node;
            c->allocation_id = c->target_id;
            c->target_node = c->target_id = STR_NULL;
        } else if (c->primary && !reused) { /* a new shard, or one that was forced to begin anew */
            struct str_set none = {0};
            ok = replace_in_sync(mine, shard, str_set_with(&none, allocation_id, arena));
        } else {
            ok = replace_in_sync(mine, shard, str_set_with(in, allocation_id, arena));
        }
        c->state = COPY_STARTED;
        c->trouble = (struct copy_trouble){0};
        if (!ok) {
            no_memory(&a);
        }
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}

enum err allocation_failed(const struct alloc_env *env, struct state_builder *b, struct str index_uuid,
                           uint32_t shard, struct str allocation_id, struct str why, bool *changed,
                           struct errmsg *em)
{
    const struct index_meta *m;
    uint32_t k;
    bool target;
    struct alloc a;
    *changed = false;
    if (!find_assigned(b->next, index_uuid, shard, allocation_id, &m, &k, &target)) {
        return ERR_OK;
    }
    alloc_begin(&a, env, b, em);
    if (a.err == ERR_OK && target) {
        alloc_cancel_move(&a, m->name, shard, k);
    } else if (a.err == ERR_OK) {
        alloc_unassign(&a, m->name, shard, k, REASON_ALLOCATION_FAILED, why, true);
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}

enum err allocation_mark_stale(const struct alloc_env *env, struct state_builder *b, struct str index_uuid,
                               uint32_t shard, struct str allocation_id, uint64_t primary_term,
                               struct str why, bool *changed, struct errmsg *em)
{
    struct alloc a;
    const struct index_meta *m = cluster_index_by_uuid(b->next, index_uuid), *found;
    uint32_t k;
    bool target;
    *changed = false;
    if (m == NULL || shard >= m->n_shards) {
        return ERR_OK;
    }
    if (m->primary_terms[shard] != primary_term) {
        return err_set(em, ERR_STALE_TERM, "primary term [%llu] did not match current primary term [%llu]",
                       (unsigned long long)primary_term, (unsigned long long)m->primary_terms[shard]);
    }
    alloc_begin(&a, env, b, em);
    if (a.err == ERR_OK && find_assigned(b->next, index_uuid, shard, allocation_id, &found, &k, &target)) {
        if (target) {
            alloc_cancel_move(&a, m->name, shard, k);
        } else if (k > 0) { /* a primary does not call itself stale */
            alloc_unassign(&a, m->name, shard, k, REASON_ALLOCATION_FAILED, why, true);
        }
    }
    if (a.err == ERR_OK && str_set_has(&m->in_sync[shard], allocation_id)) {
        struct index_meta *mine = alloc_meta(&a, m->name);
        if (mine != NULL && mine->in_sync[shard].n > 1
            && !replace_in_sync(mine, shard,
                                str_set_without(&mine->in_sync[shard], allocation_id, &mine->part.arena))) {
            no_memory(&a);
        }
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}
