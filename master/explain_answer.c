/* The answers of _cluster/allocation/explain: what each decider says of each node. */
#include "master/allocation_int.h"

#include "common/base/date.h"
#include "common/base/sort_items.h"
#include "common/base/time_text.h"

/* ---- each node's decision ------------------------------------------------------------------------------ */

enum outcome { OUTCOME_YES, OUTCOME_THROTTLED, OUTCOME_NO, OUTCOME_WORSE };

struct node_decision {
    const struct alloc_node *n;
    double weight;
    enum outcome outcome;
    uint32_t ranking; /* 0: not shown */
    struct verdicts verdicts;
    const struct found_copy *found; /* NULL: not looked for, or none */
    bool looked;                    /* for a copy that is there */
};

static const char *outcome_name(enum outcome o)
{
    static const char *const names[] = {"yes", "throttled", "no", "worse_balance"};
    return names[o];
}

static enum outcome outcome_of(enum decision d)
{
    return d == DECIDE_YES ? OUTCOME_YES : d == DECIDE_THROTTLE ? OUTCOME_THROTTLED : OUTCOME_NO;
}

static int by_weight(const void *a, const void *b)
{
    const struct node_decision *x = a, *y = b;
    if (x->weight < y->weight || x->weight > y->weight) {
        return x->weight < y->weight ? -1 : 1;
    }
    return str_cmp(x->n->node->id, y->n->node->id);
}

/* As they print: what is possible first, then the better places. */
static int by_outcome(const void *a, const void *b)
{
    const struct node_decision *x = a, *y = b;
    if (x->outcome != y->outcome) {
        return x->outcome < y->outcome ? -1 : 1;
    }
    if (x->ranking != y->ranking) {
        return x->ranking < y->ranking ? -1 : 1;
    }
    return str_cmp(x->n->node->id, y->n->node->id);
}

/* All nodes but the copy's own, lightest first. *own: the weight of that. */
static struct node_decision *decide_each(struct explained *x, uint32_t *n, double *own)
{
    struct alloc *a = &x->a;
    struct node_decision *v = ARENA_ARRAY(&a->arena, struct node_decision, a->n_nodes);
    *n = 0;
    *own = 0;
    if (v == NULL) {
        err_no_memory(x->em);
        return NULL;
    }
    balance_count_index(a, x->r);
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        double weight = balance_weight(a, x->m, &a->nodes[i]);
        if (x->c->node.p != NULL && str_eq(x->c->node, a->nodes[i].node->id)) {
            *own = weight;
            continue;
        }
        v[(*n)++] = (struct node_decision){.n = &a->nodes[i], .weight = weight};
    }
    for (uint32_t i = 0; i < *n; i++) {
        v[i].outcome = outcome_of(decide_allocate(a, x->m, x->s, x->c, v[i].n, &v[i].verdicts));
        balance_count_index(a, x->r);
    }
    sort_items(v, *n, sizeof(v[0]), by_weight);
    return v;
}

static void write_attributes(const struct node_meta *n, struct jsonw *w)
{
    if (n->n_attrs == 0) {
        return;
    }
    jw_kobj(w, "attributes");
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        jw_key(w, n->attrs[i].name);
        jw_str(w, n->attrs[i].value);
    }
    jw_obj_end(w);
}

/* The members of a node, named with or without "node_". */
static void write_node(const struct node_meta *n, bool prefixed, struct jsonw *w)
{
    jw_kstr(w, prefixed ? "node_id" : "id", n->id);
    jw_kstr(w, prefixed ? "node_name" : "name", n->name);
    jw_kstr(w, "transport_address", n->transport_address);
    write_attributes(n, w);
}

static void write_store(const struct explained *x, const struct node_decision *j)
{
    struct jsonw *w = x->w;
    jw_kobj(w, "store");
    if (j->found == NULL) {
        jw_kbool(w, "found", false);
    } else {
        jw_kbool(w, "in_sync", str_set_has(&x->m->in_sync[x->shard], j->found->allocation_id));
        jw_kstr(w, "allocation_id", j->found->allocation_id);
    }
    jw_obj_end(w);
}

static void write_decisions(const struct explained *x, struct node_decision *v, uint32_t n)
{
    struct jsonw *w = x->w;
    if (n == 0) {
        return;
    }
    sort_items(v, n, sizeof(v[0]), by_outcome);
    jw_karr(w, "node_allocation_decisions");
    for (uint32_t i = 0; i < n; i++) {
        const struct node_decision *j = &v[i];
        bool some = x->q->include_yes;
        for (uint32_t k = 0; k < j->verdicts.n; k++) {
            some |= j->verdicts.v[k].decision != DECIDE_YES;
        }
        jw_obj(w);
        write_node(j->n->node, true, w);
        jw_kz(w, "node_decision", outcome_name(j->outcome));
        if (j->looked) {
            write_store(x, j);
        }
        if (j->ranking > 0) {
            jw_ki64(w, "weight_ranking", j->ranking);
        }
        if (some && j->verdicts.n > 0) {
            jw_k(w, "deciders");
            verdicts_write(&j->verdicts, x->q->include_yes, w);
        }
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void rank(struct node_decision *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].ranking = i + 1;
    }
}

/* The best that any node said, and the first that said so. */
static enum outcome best_of(const struct node_decision *v, uint32_t n, const struct node_meta **target)
{
    enum outcome best = OUTCOME_NO;
    *target = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].outcome < best) {
            best = v[i].outcome;
            *target = v[i].n->node;
        }
    }
    return best;
}

static void write_target(const struct node_meta *n, struct jsonw *w)
{
    jw_kobj(w, "target_node");
    write_node(n, false, w);
    jw_obj_end(w);
}

/* ---- a copy without a place ---------------------------------------------------------------------------- */

static void write_can_allocate(struct explained *x, const char *can, const char *why,
                               const struct node_meta *target)
{
    jw_kz(x->w, "can_allocate", can);
    jw_kz(x->w, "allocate_explanation", why);
    if (target != NULL) {
        write_target(target, x->w);
    }
}

/* What the node said that it has of the shard. *answered: it said something. */
static const struct found_copy *said_to_have(const struct explained *x, const struct alloc_node *n,
                                             bool *answered)
{
    for (uint32_t i = 0; i < x->a.env->n_found; i++) {
        const struct found_copy *f = &x->a.env->found[i];
        if (f->shard == x->shard && str_eq(f->index_uuid, x->m->uuid) && str_eq(f->node_id, n->node->id)) {
            *answered = true;
            return f->allocation_id.n > 0 ? f : NULL;
        }
    }
    *answered = false;
    return NULL;
}

/* A primary that was active once goes where a copy in sync lies. */
static void explain_primary(struct explained *x, struct node_decision *v, uint32_t n)
{
    bool all = true, any = false, any_in_sync = false;
    const struct node_meta *target;
    for (uint32_t i = 0; i < n; i++) {
        bool answered;
        v[i].found = said_to_have(x, v[i].n, &answered);
        v[i].looked = true;
        all &= answered;
        any |= v[i].found != NULL;
        bool in_sync = v[i].found != NULL && str_set_has(&x->m->in_sync[x->shard], v[i].found->allocation_id);
        any_in_sync |= in_sync;
        if (!in_sync) { /* no decider is asked */
            v[i].outcome = OUTCOME_NO;
            v[i].verdicts.n = 0;
        }
    }
    enum outcome best = best_of(v, n, &target);
    if (!all) {
        write_can_allocate(x, "awaiting_info",
                           "cannot allocate because information about existing shard data is still being "
                           "retrieved from some of the nodes",
                           NULL);
        return;
    }
    if (best == OUTCOME_NO && !any_in_sync) {
        write_can_allocate(x, "no_valid_shard_copy",
                           any ? "cannot allocate because all found copies of the shard are either stale or "
                                 "corrupt"
                               : "cannot allocate because a previous copy of the primary shard existed but "
                                 "can no longer be found on the nodes in the cluster",
                           NULL);
    } else {
        write_can_allocate(x, outcome_name(best),
                           best == OUTCOME_YES ? "can allocate the shard"
                           : best == OUTCOME_THROTTLED
                               ? "allocation temporarily throttled"
                               : "cannot allocate because allocation is not permitted "
                                 "to any of the nodes that hold an in-sync shard copy",
                           best == OUTCOME_YES ? target : NULL);
    }
    write_decisions(x, v, n);
}

/* A replica that waits for its node to come back. */
static void explain_delayed(struct explained *x, struct node_decision *v, uint32_t n, bool elsewhere)
{
    int64_t delay = alloc_node_left_delay(x->m);
    int64_t left = MAX_OF(x->c->trouble.at_ms + delay - x->a.env->now_ms, (int64_t)0);
    struct buf time;
    buf_init(&time, NULL, KIB);
    time_put_ns(&time, left * 1000000);
    jw_kz(x->w, "can_allocate", "allocation_delayed");
    jw_k(x->w, "allocate_explanation");
    jw_strf(
        x->w,
        "cannot allocate because the cluster is still waiting %.*s for the departed node holding a replica "
        "to rejoin%s",
        STR_ARG(buf_view(&time)),
        elsewhere ? ", despite being allowed to allocate the shard to at least one other node" : "");
    buf_fini(&time);
    jw_ki64(x->w, "configured_delay_in_millis", delay);
    jw_ki64(x->w, "remaining_delay_in_millis", left);
    write_decisions(x, v, n);
}

static void explain_unassigned(struct explained *x, struct node_decision *v, uint32_t n)
{
    const struct node_meta *target;
    if (x->c->primary && x->c->source == RECOVER_EXISTING_STORE) {
        explain_primary(x, v, n);
        return;
    }
    enum outcome best = best_of(v, n, &target);
    if (x->c->trouble.delayed) {
        explain_delayed(x, v, n, best == OUTCOME_YES);
        return;
    }
    /* of replicas that were somewhere before, those are looked at first that may hold files of it */
    if (x->c->primary || x->c->trouble.reason == REASON_INDEX_CREATED || best == OUTCOME_YES) {
        rank(v, n);
    }
    write_can_allocate(x, outcome_name(best),
                       best == OUTCOME_YES         ? "can allocate the shard"
                       : best == OUTCOME_THROTTLED ? "allocation temporarily throttled"
                                                   : "cannot allocate because allocation is not permitted to "
                                                     "any of the nodes",
                       best == OUTCOME_YES ? target : NULL);
    write_decisions(x, v, n);
}

/* ---- a copy that has one ------------------------------------------------------------------------------- */

static const char *decision_word(enum decision d)
{
    return outcome_name(outcome_of(d));
}

static void explain_forced_move(struct explained *x, struct node_decision *v, uint32_t n,
                                const struct verdicts *remain)
{
    struct jsonw *w = x->w;
    const struct node_meta *target;
    rank(v, n);
    enum outcome best = best_of(v, n, &target);
    if (best == OUTCOME_YES) {
        write_target(target, w);
    }
    jw_kz(w, "can_remain_on_current_node", "no");
    jw_k(w, "can_remain_decisions");
    verdicts_write(remain, x->q->include_yes, w);
    jw_kz(w, "can_move_to_other_node", outcome_name(best));
    jw_kz(w, "move_explanation",
          best == OUTCOME_YES ? "shard cannot remain on this node and is force-moved to another node"
          : best == OUTCOME_THROTTLED
              ? "shard cannot remain on this node but is throttled on moving to another node"
              : "cannot move shard to another node, even though it is not allowed to remain on its current "
                "node");
    write_decisions(x, v, n);
}

/* Ranks the nodes around the copy's own: those that would even things out, those that weigh as much, the rest.
 * Returns the rank of its own. */
static uint32_t rank_for_balance(struct node_decision *v, uint32_t n, double own, double threshold)
{
    uint32_t ranking = 0, own_ranking;
    for (uint32_t i = 0; i < n; i++) { /* lightest first */
        /* as a move would be: less would only swap the weights */
        if (own - v[i].weight > MAX_OF(threshold, 1.0) + 0.001) {
            v[i].ranking = ++ranking;
        }
    }
    own_ranking = ++ranking;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].ranking > 0) {
            continue;
        }
        v[i].ranking = v[i].weight <= own ? own_ranking : ++ranking;
        v[i].outcome = v[i].outcome == OUTCOME_NO ? OUTCOME_NO : OUTCOME_WORSE;
    }
    return own_ranking;
}

static const char *rebalance_text(enum decision cluster, enum outcome best, bool other)
{
    if (cluster == DECIDE_NO) {
        return other
                   ? "rebalancing is not allowed, even though there is at least one node on which the shard "
                     "can be allocated"
                   : "rebalancing is not allowed";
    }
    if (cluster == DECIDE_THROTTLE) {
        return "rebalancing is throttled";
    }
    return best == OUTCOME_YES ? "can rebalance shard"
           : best == OUTCOME_THROTTLED
               ? "shard rebalancing throttled"
               : "cannot rebalance as no target node exists that can both allocate this "
                 "shard and improve the cluster balance";
}

static void explain_rebalance(struct explained *x, struct node_decision *v, uint32_t n)
{
    struct jsonw *w = x->w;
    struct verdicts cluster = {.n = 0};
    const struct node_meta *target;
    enum decision d = decide_rebalance(&x->a, x->m, x->s, x->c, &cluster);
    enum outcome best = best_of(v, n, &target);
    bool go = d == DECIDE_YES && best == OUTCOME_YES;
    if (go) {
        write_target(target, w);
    }
    jw_kz(w, "can_remain_on_current_node", "yes");
    jw_kz(w, "can_rebalance_cluster", decision_word(d));
    if (d != DECIDE_YES) {
        jw_k(w, "can_rebalance_cluster_decisions");
        verdicts_write(&cluster, x->q->include_yes, w);
    }
    jw_kz(w, "can_rebalance_to_other_node", d == DECIDE_YES ? outcome_name(best) : decision_word(d));
    jw_kz(w, "rebalance_explanation", rebalance_text(d, best, best == OUTCOME_YES));
    write_decisions(x, v, n);
}

static void write_current(struct explained *x, uint32_t ranking)
{
    const struct node_meta *n = cluster_node(x->a.b->next, x->c->node);
    if (n == NULL) {
        return;
    }
    jw_kobj(x->w, "current_node");
    write_node(n, false, x->w);
    if (ranking > 0) {
        jw_ki64(x->w, "weight_ranking", ranking);
    }
    jw_obj_end(x->w);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void write_unassigned_info(struct explained *x)
{
    static const char *const status[ATTEMPT_N] = {"no_attempt", "no", "no_valid_shard_copy", "throttled",
                                                  "awaiting_info"};
    const struct copy_trouble *t = &x->c->trouble;
    const struct date_format *f;
    struct buf at;
    buf_init(&at, NULL, 64);
    jw_kobj(x->w, "unassigned_info");
    jw_kz(x->w, "reason", copy_reason_name(t->reason));
    if (date_format_new(&f, STR("strict_date_time"), &x->a.arena, NULL) == ERR_OK
        && date_print_ms(f, t->at_ms, NULL, &at)) {
        jw_kstr(x->w, "at", buf_view(&at));
    }
    if (t->failed > 0) {
        jw_ki64(x->w, "failed_allocation_attempts", t->failed);
    }
    if (t->details.p != NULL) {
        jw_kstr(x->w, "details", t->details);
    }
    jw_kz(x->w, "last_allocation_status", status[t->attempt]);
    jw_obj_end(x->w);
    buf_fini(&at);
}

static void write_disks(struct explained *x)
{
    struct jsonw *w = x->w;
    jw_kobj(w, "cluster_info");
    jw_kobj(w, "nodes");
    for (uint32_t i = 0; i < x->a.n_nodes; i++) {
        const struct alloc_node *n = &x->a.nodes[i];
        if (n->disk == NULL || n->disk->total_bytes == 0) {
            continue;
        }
        jw_key(w, n->node->id);
        jw_obj(w);
        jw_kstr(w, "node_name", n->node->name);
        for (int k = 0; k < 2; k++) {
            uint64_t used = n->disk->total_bytes - n->disk->free_bytes;
            jw_kobj(w, k == 0 ? "least_available" : "most_available");
            jw_ki64(w, "total_bytes", (int64_t)n->disk->total_bytes);
            jw_ki64(w, "used_bytes", (int64_t)used);
            jw_ki64(w, "free_bytes", (int64_t)n->disk->free_bytes);
            jw_kdouble(w, "free_disk_percent",
                       100.0 * (double)n->disk->free_bytes / (double)n->disk->total_bytes);
            jw_kdouble(w, "used_disk_percent", 100.0 * (double)used / (double)n->disk->total_bytes);
            jw_obj_end(w);
        }
        jw_obj_end(w);
    }
    jw_obj_end(w);
    static const char *const empty[] = {"shard_sizes", "shard_paths"};
    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        jw_kobj(w, empty[i]);
        jw_obj_end(w);
    }
    jw_karr(w, "reserved_sizes");
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_under_way(struct explained *x)
{
    const struct cluster_state *s = x->a.b->next;
    const struct node_meta *at = cluster_node(s, x->c->node);
    struct str from = at != NULL ? at->name : x->c->node;
    jw_k(x->w, "explanation");
    if (x->c->state == COPY_RELOCATING) {
        const struct node_meta *to = cluster_node(s, x->c->target_node);
        jw_strf(x->w,
                "the shard is in the process of relocating from node [%.*s] to node [%.*s], wait until "
                "relocation has completed",
                STR_ARG(from), STR_ARG(to != NULL ? to->name : x->c->target_node));
    } else {
        jw_strf(x->w,
                "the shard is in the process of initializing on node [%.*s], wait until initialization has "
                "completed",
                STR_ARG(from));
    }
}

enum err explain_write(struct explained *x)
{
    static const char *const states[] = {"unassigned", "initializing", "started", "relocating"};
    struct jsonw *w = x->w;
    struct alloc_node *at = x->c->state == COPY_STARTED ? alloc_node_of(&x->a, x->c->node) : NULL;
    struct verdicts remain = {.n = 0};
    uint32_t n;
    double own;
    struct node_decision *v = decide_each(x, &n, &own);
    if (v == NULL) {
        return ERR_NO_MEMORY;
    }
    bool moves = at != NULL && decide_remain(&x->a, x->m, x->s, x->c, at, &remain) == DECIDE_NO;
    double threshold = cluster_setting_double(x->a.b->next, SET_CLUSTER_ROUTING_ALLOCATION_BALANCE_THRESHOLD);
    uint32_t ranking = at != NULL && !moves ? rank_for_balance(v, n, own, threshold) : 0;
    jw_obj(w);
    jw_kstr(w, "index", x->m->name);
    jw_ki64(w, "shard", x->shard);
    jw_kbool(w, "primary", x->c->primary);
    jw_kz(w, "current_state", states[x->c->state]);
    if (x->c->state == COPY_UNASSIGNED || x->c->state == COPY_INITIALIZING) {
        write_unassigned_info(x);
    }
    if (x->c->node.p != NULL) {
        write_current(x, ranking);
    }
    if (x->q->include_disk) {
        write_disks(x);
    }
    if (x->c->state == COPY_UNASSIGNED) {
        explain_unassigned(x, v, n);
    } else if (at == NULL) {
        write_under_way(x);
    } else if (moves) {
        explain_forced_move(x, v, n, &remain);
    } else {
        explain_rebalance(x, v, n);
    }
    jw_obj_end(w);
    return x->a.err;
}
