/* The choice of voting nodes: as many as there are, an odd number, the ones that vote already first. */
#include "master/quorum_int.h"

static uint32_t odd(uint32_t n)
{
    return n - (n % 2 == 0 && n > 0 ? 1 : 0);
}

struct str_set voting_improve(const struct str_set *current, const struct str_set *live,
                              const struct str_set *excluded, struct str leader, bool auto_shrink,
                              struct arena *arena)
{
    uint32_t fit = 0; /* there, and not excluded */
    for (uint32_t i = 0; i < live->n; i++) {
        fit += !str_set_has(excluded, live->v[i]);
    }
    uint32_t stay = 0; /* of the current ones, not excluded, there or not */
    for (uint32_t i = 0; i < current->n; i++) {
        stay += !str_set_has(excluded, current->v[i]);
    }
    uint32_t safe_least = stay >= 3 ? 3 : 1; /* what survives the loss of one stays able to */
    uint32_t want = auto_shrink ? MAX_OF(odd(fit), safe_least) : MAX_OF(odd(fit), current->n);
    struct str_set next = {0};
    /* the leader; voters that are there; others that are there; voters that are not */
    for (int round = 0; round < 4; round++) {
        const struct str_set *from = round == 1 || round == 3 ? current : live;
        for (uint32_t i = 0; i < from->n && next.n < want; i++) {
            struct str id = from->v[i];
            bool is_leader = str_eq(id, leader), here = str_set_has(live, id);
            if (str_set_has(excluded, id) || (round == 0 && !is_leader) || (round == 1 && !here)
                || (round == 3 && here)) {
                continue;
            }
            next = str_set_with(&next, id, arena);
            if (next.v == NULL) {
                return *current;
            }
        }
    }
    uint32_t reachable = 0;
    for (uint32_t i = 0; i < next.n; i++) {
        reachable += str_set_has(live, next.v[i]);
    }
    return reachable * 2 > next.n ? next : *current;
}

/* A node that follows this leader without having voted for it voted for another in this term: as long as the
 * term goes on it cannot become one of those whose votes count, and a placeholder or a node that is gone keeps
 * its place. Another term brings its vote, as in Elasticsearch. */
void voting_look_for(struct quorum *q, const struct node_meta *n)
{
    q->vote_missing |= n != NULL && (n->roles & ROLE_MASTER) != 0 && !id_set_has(&q->safety.joins, n->id);
}

void voting_check(struct quorum *q)
{
    const struct cluster_state *s = q->safety.accepted;
    const struct coordination_part *c = s->coordination;
    if (q->vote_missing && q->publication == NULL) {
        q->vote_missing = false;
        election_start(q);
        return;
    }
    if (q->publication != NULL || q->reconfiguring || s->nodes == NULL
        || !str_set_eq(&c->committed, &c->accepted) || c->term != q->safety.term) {
        return;
    }
    struct arena scratch;
    struct str_set live = {0}, excluded = {0};
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    for (uint32_t i = 0; i < s->nodes->n; i++) {
        /* voted in this term */
        if ((s->nodes->v[i].roles & ROLE_MASTER) != 0 && id_set_has(&q->safety.joins, s->nodes->v[i].id)) {
            live = str_set_with(&live, s->nodes->v[i].id, &scratch);
        }
    }
    for (uint32_t i = 0; i < c->n_exclusions; i++) {
        const struct voting_exclusion *x = &c->exclusions[i];
        excluded = str_set_with(&excluded, x->node_id, &scratch);
        for (uint32_t k = 0; str_is(x->node_id, EXCLUSION_ABSENT) && k < s->nodes->n; k++) {
            if (str_eq(s->nodes->v[k].name, x->node_name)) { /* it has come since */
                excluded = str_set_with(&excluded, s->nodes->v[k].id, &scratch);
            }
        }
    }
    struct str_set next =
        voting_improve(&c->accepted, &live, &excluded, q->local.id,
                       cluster_setting_bool(s, SET_CLUSTER_AUTO_SHRINK_VOTING_CONFIGURATION), &scratch);
    if (!str_set_eq(&next, &c->accepted) && config_has_quorum(&next, &q->safety.joins)) {
        struct quorum_effect *e = quorum_emit(q, EFFECT_RECONFIGURE);
        if (e != NULL) {
            e->config = str_set_copy(&next, &e->arena);
            q->reconfiguring = true;
        }
    }
    arena_fini(&scratch);
    if (!q->reconfiguring && voting_barred(q)) { /* excluded: the others are to choose one of them */
        (void)election_hand_over(q);
    }
}

bool voting_barred(const struct quorum *q)
{
    const struct coordination_part *c = q->safety.accepted->coordination;
    bool excluded = false;
    for (uint32_t i = 0; c != NULL && i < c->n_exclusions; i++) {
        excluded |= str_eq(c->exclusions[i].node_id, q->local.id)
                    || (str_is(c->exclusions[i].node_id, EXCLUSION_ABSENT)
                        && str_eq(c->exclusions[i].node_name, q->local.name));
    }
    return excluded && !str_set_has(&c->committed, q->local.id) && !str_set_has(&c->accepted, q->local.id);
}
