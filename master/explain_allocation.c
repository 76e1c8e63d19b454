/* _cluster/allocation/explain: why a copy is where it is, or nowhere. */
#include "master/allocation_int.h"

#include "common/base/jsonr.h"
#include "common/cluster/nodes.h"

#include <stdio.h>

/* ---- the question -------------------------------------------------------------------------------------- */

static const char parser[] = "cluster/allocation/explain";

static enum err read_field(struct explain_question *q, struct str key, const struct json *v, unsigned *given,
                           struct errmsg *em)
{
    if (str_is(key, "index") || str_is(key, "current_node")) {
        *given |= str_is(key, "index") ? 1 : 0;
        *(str_is(key, "index") ? &q->index : &q->current_node) = v->s;
        return ERR_OK;
    }
    if (str_is(key, "shard")) {
        int32_t n = 0;
        enum err e = jr_int(v, &n, em);
        q->shard = (uint32_t)n;
        *given |= 2;
        return e;
    }
    *given |= 4;
    return jr_bool(v, &q->primary, em);
}

/* The parts of a question are all there, or none is. */
static enum err complete(unsigned given, struct errmsg *em)
{
    static const char *const names[] = {"index", "shard", "primary"};
    char text[128] = "";
    size_t n = 0;
    unsigned count = 0;
    for (unsigned i = 0; given != 0 && i < 3; i++) {
        if ((given >> i & 1) == 0) {
            int k = snprintf(text + n, sizeof(text) - n, "%u: %s must be specified;", ++count, names[i]);
            n += k > 0 ? (size_t)k : 0;
        }
    }
    return count == 0 ? ERR_OK : err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: %s", text);
}

enum err explain_parse(struct explain_question *out, const struct json *body, struct str text,
                       struct errmsg *em)
{
    static const char *const known[] = {"index", "shard", "primary", "current_node", NULL};
    static const unsigned kinds[] = {JR_STRING, JR_STRING | JR_NUMBER, JR_STRING | JR_BOOL, JR_STRING};
    unsigned given = 0;
    if (body == NULL || body->type == JSON_NULL) {
        return ERR_OK;
    }
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(text, body->off, em, "[%s] Expected START_OBJECT but was: %s", parser,
                          json_token_name(body));
    }
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        size_t k = 0;
        while (known[k] != NULL && !str_is(m->key, known[k])) {
            k++;
        }
        if (known[k] == NULL) {
            return jr_unknown_field(text, m->key_off, parser, m->key, known, em);
        }
        enum err e = jr_expect(text, parser, m, kinds[k], em);
        if (e != ERR_OK) {
            return e;
        }
        if (read_field(out, m->key, &m->value, &given, em) != ERR_OK) {
            return jr_wrap_field(text, m->value.off, parser, m->key, em);
        }
    }
    if (given == 0 && out->current_node.n > 0) {
        given = 8;
    }
    return complete(given, em);
}

/* ---- which copy ---------------------------------------------------------------------------------------- */

static void take(struct explained *x, const struct index_routing *r, uint32_t shard, uint32_t copy)
{
    x->r = r;
    x->m = cluster_index(x->a.b->next, r->name);
    x->shard = shard;
    x->s = &r->shards[shard];
    x->c = &x->s->copies[copy];
}

/* The first primary without a place, else the first replica. */
static enum err any_unassigned(struct explained *x)
{
    const struct cluster_state *s = x->a.b->next;
    for (int primaries = 1; primaries >= 0; primaries--) {
        for (uint32_t i = 0; i < s->n_routing; i++) {
            for (uint32_t k = 0; k < s->routing[i]->n; k++) {
                const struct shard_routing *r = &s->routing[i]->shards[k];
                for (uint32_t c = primaries ? 0 : 1; c < (primaries ? 1 : r->n); c++) {
                    if (r->copies[c].state == COPY_UNASSIGNED) {
                        take(x, s->routing[i], k, c);
                        return ERR_OK;
                    }
                }
            }
        }
    }
    return err_set(x->em, ERR_ILLEGAL_ARGUMENT,
                   "unable to find any unassigned shards to explain "
                   "[ClusterAllocationExplainRequest[useAnyUnassignedShard=true,includeYesDecisions?=%s]",
                   x->q->include_yes ? "true" : "false");
}

static enum err find_on_node(struct explained *x, const struct index_routing *r, struct str local)
{
    const struct node_meta *node = NULL;
    enum err e = nodes_choose_one(x->a.b->next, x->q->current_node, local, &node, x->em);
    const struct shard_routing *s = &r->shards[x->q->shard];
    for (uint32_t k = x->q->primary ? 0 : 1; e == ERR_OK && k < (x->q->primary ? 1 : s->n); k++) {
        if (s->copies[k].node.p != NULL && str_eq(s->copies[k].node, node->id)) {
            take(x, r, x->q->shard, k);
            return ERR_OK;
        }
    }
    return e != ERR_OK ? e
                       : err_set(x->em, ERR_ILLEGAL_ARGUMENT,
                                 x->q->primary ? "unable to find primary shard assigned to node [%.*s]"
                                               : "unable to find a replica shard assigned to node [%.*s]",
                                 STR_ARG(x->q->current_node));
}

/* One without a place rather than another; a settled one rather than one that moves. */
static enum err find_replica(struct explained *x, const struct index_routing *r)
{
    const struct shard_routing *s = &r->shards[x->q->shard];
    uint32_t best = 0;
    for (uint32_t k = 1; k < s->n; k++) {
        if (s->copies[k].state == COPY_UNASSIGNED) {
            best = k;
            break;
        }
        if (best == 0 || (s->copies[k].state == COPY_STARTED && s->copies[best].state != COPY_STARTED)) {
            best = k;
        }
    }
    if (best == 0) {
        return err_set(x->em, ERR_ILLEGAL_ARGUMENT,
                       "unable to find any shards to explain "
                       "[ClusterAllocationExplainRequest[index=%.*s,shard=%u,primary?=false,"
                       "includeYesDecisions?=%s] in the routing table",
                       STR_ARG(x->q->index), x->q->shard, x->q->include_yes ? "true" : "false");
    }
    take(x, r, x->q->shard, best);
    return ERR_OK;
}

static enum err find(struct explained *x, struct str local)
{
    const struct cluster_state *s = x->a.b->next;
    const struct index_meta *m = cluster_index(s, x->q->index);
    const struct index_routing *r = m != NULL ? cluster_routing(s, m->name) : NULL;
    if (x->q->index.n == 0) {
        return any_unassigned(x);
    }
    if (r == NULL) {
        err_set(x->em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(x->q->index));
        err_about_index(x->em, x->q->index, STR("_na_"));
        return ERR_INDEX_NOT_FOUND;
    }
    if (x->q->shard >= r->n) {
        err_set(x->em, ERR_SHARD_NOT_FOUND, "no such shard");
        err_about_index(x->em, m->name, m->uuid);
        err_about_shard(x->em, (int)x->q->shard);
        return ERR_SHARD_NOT_FOUND;
    }
    if (x->q->current_node.n > 0) {
        return find_on_node(x, r, local);
    }
    if (x->q->primary) {
        take(x, r, x->q->shard, 0);
        return ERR_OK;
    }
    return find_replica(x, r);
}

enum err allocation_explain(const struct alloc_env *env, const struct cluster_state *s,
                            const struct explain_question *q, struct str local, struct jsonw *w,
                            struct errmsg *em)
{
    ERR_LOCAL(own);
    struct explained x = {.q = q, .w = w, .em = em != NULL ? em : &own};
    struct state_builder b;
    if (!state_builder_init(&b, s)) {
        return err_no_memory(em);
    }
    alloc_begin(&x.a, env, &b, x.em);
    alloc_count(&x.a);
    enum err e = x.a.err;
    e = e == ERR_OK ? find(&x, local) : e;
    e = e == ERR_OK ? explain_write(&x) : e;
    alloc_end(&x.a);
    state_builder_fini(&b);
    return e;
}
