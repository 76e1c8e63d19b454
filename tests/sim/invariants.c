/* What must hold of every state that any node applies. */
#include "tests/sim/run_int.h"

#include "common/base/hash.h"
#include "common/cluster/state_invariant.h"

#include <stdio.h>
#include <string.h>

static void copy_id(char out[32], struct str s)
{
    snprintf(out, 32, "%.*s", STR_ARG(s));
}

static void check_primary(struct run *run, unsigned shard, uint64_t term, uint64_t version,
                          const struct shard_copy *c)
{
    struct seen_primary *p = &run->primaries[shard][term % TERMS_MAX];
    if (!copy_active(c)
        || version < p->version) { /* a node that was stopped applies what others did long ago */
        return;
    }
    p->version = version;
    if (p->id[0] != '\0' && !str_is(c->allocation_id, p->id) && !str_is(c->allocation_id, p->target)) {
        violated(run, "shard %u has two primaries in term %llu: %s and %.*s", shard, (unsigned long long)term,
                 p->id, STR_ARG(c->allocation_id));
    }
    copy_id(p->id, c->allocation_id);
    if (c->state == COPY_RELOCATING) {
        copy_id(p->target, c->target_id);
    }
}

static void remember_copy(struct run *run, struct str id, struct str node)
{
    if (id.p == NULL || node.p == NULL || node_of_copy(run, id) != NULL || run->n_copies == COPY_IDS) {
        return;
    }
    copy_id(run->copies[run->n_copies].id, id);
    copy_id(run->copies[run->n_copies].node, node);
    run->n_copies++;
}

const char *node_of_copy(const struct run *run, struct str allocation_id)
{
    for (unsigned i = 0; i < run->n_copies; i++) {
        if (str_is(allocation_id, run->copies[i].id)) {
            return run->copies[i].node;
        }
    }
    return NULL;
}

/* Committed states have an odd number of voters, once there are three nodes. */
static void check_voters(struct run *run, const struct cluster_state *s)
{
    const struct coordination_part *c = s->coordination;
    if (run->shape.nodes >= 3 && (c == NULL || c->committed.n % 2 == 0)) {
        violated(run, "state %llu of term %llu has %u voters", (unsigned long long)s->version,
                 (unsigned long long)s->term, c != NULL ? c->committed.n : 0);
    }
}

static void keep_newest(struct run *run, struct cluster_state *s)
{
    const struct cluster_state *n = run->newest;
    if (n == NULL || s->term > n->term || (s->term == n->term && s->version > n->version)) {
        cluster_state_unref(run->newest);
        run->newest = cluster_state_ref(s);
    }
}

/* For the trace: once, by the node that applies it first. */
static void say_copies(struct run *run, const struct cluster_state *s, const struct index_meta *m,
                       const struct index_routing *r)
{
    static const char *const states[] = {[COPY_UNASSIGNED] = "none",
                                         [COPY_INITIALIZING] = "new",
                                         [COPY_STARTED] = "started",
                                         [COPY_RELOCATING] = "moving"};
    if (run->newest != NULL && run->newest->term == s->term && run->newest->version >= s->version) {
        return;
    }
    for (uint32_t k = 0; k < r->n; k++) {
        char text[256];
        int n = 0;
        for (uint32_t c = 0; c < r->shards[k].n; c++) {
            const struct shard_copy *copy = &r->shards[k].copies[c];
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %s %.4s at %.6s,", states[copy->state],
                          copy->allocation_id.p != NULL ? copy->allocation_id.p : "-",
                          copy->node.p != NULL ? copy->node.p : "-");
        }
        for (uint32_t i = 0; i < m->in_sync[k].n && n < 200; i++) {
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %.4s", m->in_sync[k].v[i].p);
        }
        world_say(&run->w, "  [%u] term %llu:%s", k, (unsigned long long)m->primary_terms[k], text);
    }
}

void state_applied(void *self, unsigned at, struct cluster_state *s)
{
    struct run *run = self;
    const struct node_meta *master = cluster_master(s);
    uint64_t t = s->term % TERMS_MAX;
    if (master == NULL) {
        return;
    }
    world_say(&run->w, "n%u: state %llu of term %llu, master %.*s", at, (unsigned long long)s->version,
              (unsigned long long)s->term, STR_ARG(master->name));
    if (run->masters[t][0] != '\0' && !str_is(master->id, run->masters[t])) {
        violated(run, "term %llu has two masters", (unsigned long long)s->term);
    }
    copy_id(run->masters[t], master->id);
    if (run->first_version[t] == 0 || s->version < run->first_version[t]) {
        run->first_version[t] = s->version;
    }
    run->last_version[t] = MAX_OF(run->last_version[t], s->version);
    run->term_max = MAX_OF(run->term_max, t);
    for (uint64_t k = 1; k <= run->term_max; k++) {
        if (k < t && run->last_version[k] >= s->version) {
            violated(run, "state %llu of term %llu was committed, and is not behind state %llu of term %llu",
                     (unsigned long long)run->last_version[k], (unsigned long long)k,
                     (unsigned long long)s->version, (unsigned long long)s->term);
        }
    }
    const struct index_meta *m = cluster_index(s, STR("i"));
    const struct index_routing *r = cluster_routing(s, STR("i"));
    if (m != NULL && r != NULL) {
        say_copies(run, s, m, r);
    }
    for (uint32_t i = 0; m != NULL && r != NULL && i < r->n && i < SHARDS; i++) {
        check_primary(run, i, m->primary_terms[i], s->version, &r->shards[i].copies[0]);
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            remember_copy(run, r->shards[i].copies[k].allocation_id, r->shards[i].copies[k].node);
            remember_copy(run, r->shards[i].copies[k].target_id, r->shards[i].copies[k].target_node);
        }
    }
    check_voters(run, s);
    state_invariant(s);
    promises_committed(run, s);
    damage_state(run, s);
    keep_newest(run, s);
    run->r->digest = hash_bytes(&s->version, sizeof(s->version), run->r->digest + at);
}
