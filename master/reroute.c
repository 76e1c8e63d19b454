/* _cluster/reroute: what an operator orders for single copies. */
#include "master/allocation_int.h"

#include "common/cluster/nodes.h"

#include <stdio.h>

struct order {
    struct alloc a;
    const struct reroute_command *c;
    const struct node_meta *node, *to; /* the nodes named */
    struct str local;
    bool explain;
    struct verdicts verdicts; /* what is explained */
    struct errmsg *em;
};

/* What must not be done is an error, unless it is only to be explained: then `why` is the decision. */
static enum err refuse(struct order *o)
{
    struct errmsg *em = o->em;
    if (!o->explain) {
        return err_code(em);
    }
    o->verdicts.v[0] = (struct verdict){reroute_forms[o->c->kind].decider, DECIDE_NO,
                                        arena_str(&o->a.arena, str_of(err_reason(em)))};
    o->verdicts.n = 1;
    err_clear(em);
    return ERR_OK;
}

static void decided(struct order *o, const char *text)
{
    o->verdicts.v[0] =
        (struct verdict){reroute_forms[o->c->kind].decider, DECIDE_YES, arena_str(&o->a.arena, str_of(text))};
    o->verdicts.n = 1;
}

/* "[NO(...)][YES(...)]" */
static struct str reasons(struct order *o)
{
    struct buf b;
    buf_init(&b, NULL, 64 * KIB);
    for (uint32_t i = 0; i < o->verdicts.n; i++) {
        const struct verdict *v = &o->verdicts.v[i];
        buf_printf(&b, "[%s(%.*s)]", decision_name(v->decision), STR_ARG(v->explanation));
    }
    struct str s = arena_str(&o->a.arena, buf_view(&b));
    buf_fini(&b);
    return s;
}

/* The place of a copy of the shard on that node, targets of moves too (*target then). */
static bool copy_on(const struct order *o, const struct node_meta *n, uint32_t *at, bool *target)
{
    const struct index_routing *r = cluster_routing(o->a.b->next, o->c->index);
    for (uint32_t k = 0; r != NULL && o->c->shard < r->n && k < r->shards[o->c->shard].n; k++) {
        const struct shard_copy *c = &r->shards[o->c->shard].copies[k];
        *target = c->state == COPY_RELOCATING && str_eq(c->target_node, n->id);
        if (*target || (c->node.p != NULL && str_eq(c->node, n->id))) {
            *at = k;
            return true;
        }
    }
    return false;
}

static enum err not_data(struct order *o, const struct node_meta *n)
{
    char from[NODE_TEXT_BYTES], to[NODE_TEXT_BYTES];
    return err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                   "[move_allocation] can't move [%.*s][%u] from %s to %s: source [%.*s] is not a data node.",
                   STR_ARG(o->c->index), o->c->shard, node_text(o->node, from), node_text(o->to, to),
                   STR_ARG(n->name));
}

static enum err order_move(struct order *o)
{
    struct alloc *a = &o->a;
    char from[NODE_TEXT_BYTES], to[NODE_TEXT_BYTES];
    uint32_t at;
    bool target;
    struct alloc_node *there = alloc_node_of(a, o->to->id);
    if (alloc_node_of(a, o->node->id) == NULL || there == NULL) {
        return not_data(o, there == NULL ? o->to : o->node);
    }
    if (!copy_on(o, o->node, &at, &target)) {
        err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                o->explain ? "shard %u not found"
                           : "[move_allocation] can't move %u, failed to find it on node %s",
                o->c->shard, node_text(o->node, from));
        return refuse(o);
    }
    const struct index_meta *m = cluster_index(a->b->next, o->c->index);
    const struct shard_routing *s = &cluster_routing(a->b->next, m->name)->shards[o->c->shard];
    if (target || s->copies[at].state != COPY_STARTED) {
        err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                o->explain ? "shard %u has not been started"
                           : "[move_allocation] can't move %u, shard is not started (state = %s]",
                o->c->shard, target ? "INITIALIZING" : copy_state_name(s->copies[at].state));
        return refuse(o);
    }
    if (decide_allocate(a, m, s, &s->copies[at], there, &o->verdicts) == DECIDE_NO) {
        struct str why = reasons(o);
        return o->explain
                   ? ERR_OK
                   : err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                             "[move_allocation] can't move %u, from %s, to %s, since its not allowed, "
                             "reason: %.*s",
                             o->c->shard, node_text(o->node, from), node_text(o->to, to), STR_ARG(why));
    }
    struct index_routing *r = alloc_routing(a, m->name);
    if (r != NULL) {
        alloc_relocate(a, r, &r->shards[o->c->shard].copies[at], there);
    }
    return a->err;
}

static enum err no_index(struct order *o)
{
    err_set(o->em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(o->c->index));
    err_about_index(o->em, o->c->index, STR("_na_"));
    return ERR_INDEX_NOT_FOUND;
}

static enum err order_cancel(struct order *o)
{
    struct alloc *a = &o->a;
    const char *prefix = o->explain ? "" : "[cancel_allocation] ";
    char node[NODE_TEXT_BYTES], state[16];
    uint32_t at;
    bool target;
    if (cluster_index(a->b->next, o->c->index) == NULL) {
        return no_index(o);
    }
    if (!copy_on(o, o->node, &at, &target)) {
        err_set(o->em, ERR_ILLEGAL_ARGUMENT, "%scan't cancel %u, failed to find it on node %s", prefix,
                o->c->shard, node_text(o->node, node));
        return refuse(o);
    }
    const struct shard_copy *c = &cluster_routing(a->b->next, o->c->index)->shards[o->c->shard].copies[at];
    if (c->primary && !o->c->allow_primary && !target) {
        snprintf(state, sizeof(state), "%s", copy_state_name(c->state));
        for (char *p = state; *p != '\0'; p++) {
            *p = (char)(*p | 0x20); /* letters of ASCII */
        }
        err_set(o->em, ERR_ILLEGAL_ARGUMENT, "%scan't cancel %u on node %s, shard is primary and %s", prefix,
                o->c->shard, node_text(o->node, node), state);
        return refuse(o);
    }
    if (target) {
        alloc_cancel_move(a, o->c->index, o->c->shard, at);
    } else {
        alloc_unassign(a, o->c->index, o->c->shard, at, REASON_REROUTE_CANCELLED, STR_NULL, false);
    }
    char text[NODE_TEXT_BYTES + 64];
    snprintf(text, sizeof(text), "shard %u on node %s can be cancelled", o->c->shard,
             node_text(o->node, node));
    decided(o, text);
    return a->err;
}

/* What the commands that allocate have in common: the node, the index and the shard are there. */
static enum err find_place(struct order *o, struct alloc_node **n)
{
    const struct cluster_state *s = o->a.b->next;
    const struct index_meta *m = cluster_index(s, o->c->index);
    *n = alloc_node_of(&o->a, o->node->id);
    if (*n == NULL) {
        return err_set(o->em, ERR_ILLEGAL_ARGUMENT, "allocation can only be done on data nodes, not [%.*s]",
                       STR_ARG(o->c->node));
    }
    if (m == NULL || cluster_routing(s, m->name) == NULL) {
        return no_index(o);
    }
    if (o->c->shard >= m->n_shards) {
        err_set(o->em, ERR_SHARD_NOT_FOUND, "no such shard");
        err_about_index(o->em, m->name, m->uuid);
        err_about_shard(o->em, (int)o->c->shard);
        return ERR_SHARD_NOT_FOUND;
    }
    return ERR_OK;
}

static enum err order_replica(struct order *o)
{
    struct alloc *a = &o->a;
    struct alloc_node *n;
    char node[NODE_TEXT_BYTES];
    if (find_place(o, &n) != ERR_OK) {
        return refuse(o);
    }
    const struct index_meta *m = cluster_index(a->b->next, o->c->index);
    const struct shard_routing *s = &cluster_routing(a->b->next, m->name)->shards[o->c->shard];
    uint32_t at = 1;
    while (at < s->n && s->copies[at].state != COPY_UNASSIGNED) {
        at++;
    }
    if (s->copies[0].node.p == NULL || at == s->n) {
        const char *prefix = o->explain ? "" : "[allocate_replica] ";
        if (s->copies[0].node.p == NULL) {
            err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                    "%strying to allocate a replica shard [%.*s][%u], while corresponding primary shard is "
                    "still unassigned",
                    prefix, STR_ARG(m->name), o->c->shard);
        } else {
            err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                    "%sall copies of [%.*s][%u] are already assigned. Use the move allocation command "
                    "instead",
                    prefix, STR_ARG(m->name), o->c->shard);
        }
        return refuse(o);
    }
    if (decide_allocate(a, m, s, &s->copies[at], n, &o->verdicts) == DECIDE_NO) {
        struct str why = reasons(o);
        return o->explain ? ERR_OK
                          : err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                                    "[allocate_replica] allocation of [%.*s][%u] on node %s is not allowed, "
                                    "reason: %.*s",
                                    STR_ARG(m->name), o->c->shard, node_text(o->node, node), STR_ARG(why));
    }
    struct index_routing *r = alloc_routing(a, m->name);
    if (r != NULL) {
        alloc_initialize(a, r, &r->shards[o->c->shard].copies[at], n, alloc_new_id(a, &r->part.arena));
    }
    return a->err;
}

/* Does the node hold a copy of the shard, in sync or not? NULL: no. */
static const struct found_copy *stale_copy(const struct order *o, const struct index_meta *m, bool *anywhere)
{
    *anywhere = false;
    for (uint32_t i = 0; i < o->a.env->n_found; i++) {
        const struct found_copy *f = &o->a.env->found[i];
        if (f->shard != o->c->shard || f->allocation_id.n == 0 || !str_eq(f->index_uuid, m->uuid)) {
            continue;
        }
        *anywhere = true;
        if (str_eq(f->node_id, o->node->id)) {
            return f;
        }
    }
    return NULL;
}

static enum err primary_allowed(struct order *o, const struct index_meta *m, const struct found_copy **found)
{
    const struct shard_copy *c = &cluster_routing(o->a.b->next, m->name)->shards[o->c->shard].copies[0];
    char prefix[40] = "";
    bool stale = o->c->kind == REROUTE_ALLOCATE_STALE, anywhere;
    if (!o->explain) {
        snprintf(prefix, sizeof(prefix), "[%s] ", reroute_forms[o->c->kind].name);
    }
    if (c->node.p != NULL) {
        return err_set(o->em, ERR_ILLEGAL_ARGUMENT, "%sprimary [%.*s][%u] is already assigned", prefix,
                       STR_ARG(m->name), o->c->shard);
    }
    if (!o->c->accept_data_loss && (stale || c->source != RECOVER_EMPTY_STORE)) {
        return err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                       "%sallocating an empty primary for [%.*s][%u] can result in data loss. Please confirm "
                       "by setting the accept_data_loss parameter to true",
                       prefix, STR_ARG(m->name), o->c->shard);
    }
    *found = stale ? stale_copy(o, m, &anywhere) : NULL;
    if (stale && *found == NULL) {
        return err_set(o->em, ERR_ILLEGAL_ARGUMENT,
                       "No data for shard [%u] of index [%.*s] found on %s%.*s%s", o->c->shard,
                       STR_ARG(m->name), anywhere ? "node [" : "any node",
                       STR_ARG(anywhere ? o->c->node : STR("")), anywhere ? "]" : "");
    }
    return ERR_OK;
}

static enum err order_primary(struct order *o)
{
    struct alloc *a = &o->a;
    struct alloc_node *n;
    const struct found_copy *found = NULL;
    if (find_place(o, &n) != ERR_OK) {
        return refuse(o);
    }
    const struct index_meta *m = cluster_index(a->b->next, o->c->index);
    if (primary_allowed(o, m, &found) != ERR_OK) {
        return refuse(o);
    }
    /* What some copy acknowledged may be gone: its numbers come again, under another term. */
    struct index_meta *mine = alloc_meta(a, m->name);
    struct index_routing *r = mine != NULL ? alloc_routing(a, mine->name) : NULL;
    if (r == NULL) {
        return a->err;
    }
    mine->primary_terms[o->c->shard]++;
    struct shard_copy *c = &r->shards[o->c->shard].copies[0];
    if (found == NULL) {
        if (c->source != RECOVER_EMPTY_STORE) {
            c->trouble.reason = REASON_FORCED_EMPTY_PRIMARY;
        }
        c->source = RECOVER_EMPTY_STORE;
    }
    struct arena *in = &r->part.arena;
    alloc_swap_last(&r->shards[o->c->shard], n->node->id);
    alloc_initialize(a, r, c, n, found != NULL ? arena_str(in, found->allocation_id) : alloc_new_id(a, in));
    decided(o, "ignore deciders");
    return c->allocation_id.p != NULL ? a->err : err_no_memory(o->em);
}

static enum err obey(struct order *o)
{
    const struct cluster_state *s = o->a.b->next;
    o->verdicts.n = 0;
    enum err e = nodes_choose_one(s, o->c->node, o->local, &o->node, o->em);
    if (e == ERR_OK && o->c->kind == REROUTE_MOVE) {
        e = nodes_choose_one(s, o->c->to_node, o->local, &o->to, o->em);
    }
    if (e != ERR_OK) {
        bool explained = o->c->kind >= REROUTE_ALLOCATE_REPLICA;
        return explained ? refuse(o) : e;
    }
    switch (o->c->kind) {
    case REROUTE_MOVE:
        return order_move(o);
    case REROUTE_CANCEL:
        return order_cancel(o);
    case REROUTE_ALLOCATE_REPLICA:
        return order_replica(o);
    case REROUTE_ALLOCATE_STALE:
    case REROUTE_ALLOCATE_EMPTY:
        break;
    }
    return order_primary(o);
}

static void write_explanation(const struct order *o, struct jsonw *w)
{
    const struct reroute_command *c = o->c;
    const struct command_form *f = &reroute_forms[c->kind];
    jw_obj(w);
    jw_kz(w, "command", f->name);
    jw_kobj(w, "parameters");
    jw_kstr(w, "index", c->index);
    jw_ki64(w, "shard", (int32_t)c->shard);
    jw_kstr(w, f->moves ? "from_node" : "node", c->node);
    if (f->moves) {
        jw_kstr(w, "to_node", c->to_node);
    }
    if (f->flag != NULL) {
        jw_kbool(w, f->flag, c->kind == REROUTE_CANCEL ? c->allow_primary : c->accept_data_loss);
    }
    jw_obj_end(w);
    jw_k(w, "decisions");
    verdicts_write(&o->verdicts, true, w);
    jw_obj_end(w);
}

static void forget_failures(struct alloc *a)
{
    const struct cluster_state *s = a->b->next;
    for (uint32_t i = 0; i < s->n_routing && a->err == ERR_OK; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n; k++) {
            for (uint32_t c = 0; c < s->routing[i]->shards[k].n; c++) {
                const struct shard_copy *copy = &s->routing[i]->shards[k].copies[c];
                if (copy->state == COPY_UNASSIGNED && copy->trouble.failed > 0) {
                    struct index_routing *r = alloc_routing(a, s->routing[i]->name);
                    if (r != NULL) {
                        r->shards[k].copies[c].trouble.failed = 0;
                    }
                }
            }
        }
    }
}

enum err allocation_reroute(const struct alloc_env *env, struct state_builder *b,
                            const struct reroute_command *commands, uint32_t n, struct str local,
                            bool retry_failed, struct jsonw *explain, struct errmsg *em)
{
    ERR_LOCAL(own);
    struct order o = {.local = local, .explain = explain != NULL, .em = em != NULL ? em : &own};
    alloc_begin(&o.a, env, b, o.em);
    o.a.manual = true;
    if (explain != NULL) {
        jw_arr(explain);
    }
    enum err e = o.a.err;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        alloc_count(&o.a);
        o.c = &commands[i];
        e = obey(&o);
        if (e == ERR_OK && explain != NULL) {
            write_explanation(&o, explain);
        }
    }
    if (e == ERR_OK && retry_failed) {
        forget_failures(&o.a);
        e = o.a.err;
    }
    if (explain != NULL) {
        jw_arr_end(explain);
    }
    alloc_end(&o.a);
    return e;
}
