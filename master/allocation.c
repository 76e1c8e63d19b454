#include "master/allocation_int.h"

#include "common/settings/setting_read.h"

#include <stdio.h>

/* ---- one allocation ---- */

void alloc_no_memory(struct alloc *a)
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
        alloc_no_memory(a);
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
        alloc_no_memory(a);
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
        alloc_no_memory(a);
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
        alloc_no_memory(a);
    }
    return s;
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

void alloc_swap_last(struct shard_routing *s, struct str node)
{
    struct copy_trouble *primary = &s->copies[0].trouble;
    for (uint32_t k = 1; k < s->n; k++) {
        struct copy_trouble *t = &s->copies[k].trouble;
        if (s->copies[k].state == COPY_UNASSIGNED && t->last_node.p != NULL && str_eq(t->last_node, node)) {
            struct str last = t->last_node;
            t->last_node = primary->last_node;
            primary->last_node = last;
            return;
        }
    }
}

void alloc_initialize(struct alloc *a, struct index_routing *r, struct shard_copy *c, struct alloc_node *n,
                      struct str allocation_id)
{
    c->state = COPY_INITIALIZING;
    c->node = arena_str(&r->part.arena, n->node->id);
    if (c->node.p == NULL) {
        alloc_no_memory(a);
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
        alloc_no_memory(a);
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
        alloc_no_memory(a);
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
                alloc_no_memory(a);
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

int64_t alloc_node_left_delay(const struct index_meta *m)
{
    return setting_ms(&m->settings, SET_INDEX_UNASSIGNED_NODE_LEFT_DELAYED_TIMEOUT);
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
            now->trouble.delayed = alloc_node_left_delay(m) > 0;
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
        struct str index = STR_NULL; /* a copy, once routing is replaced: its name goes with it */
        for (uint32_t shard = 0; shard < s->routing[i]->n; shard++) {
            /* replicas first: one that is gone must not be promoted */
            for (uint32_t k = s->routing[i]->shards[shard].n; k-- > 0 && a->err == ERR_OK;) {
                const struct shard_copy *c = &s->routing[i]->shards[shard].copies[k];
                bool gone = c->node.p != NULL && is_gone(a, c->node);
                bool target_gone = !gone && c->state == COPY_RELOCATING && is_gone(a, c->target_node);
                if (!gone && !target_gone) {
                    continue;
                }
                index = index.p != NULL ? index : arena_str(&a->arena, s->routing[i]->name);
                if (index.p == NULL) {
                    alloc_no_memory(a);
                } else if (gone) {
                    drop_copy_of_gone(a, index, shard, k);
                } else {
                    alloc_cancel_move(a, index, shard, k);
                }
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
        assign_copies(&a, true, wants);
        assign_copies(&a, false, wants);
        balance_moves(&a);
        balance_rebalance(&a);
    }
    *changed = a.changed;
    alloc_end(&a);
    return a.err;
}
