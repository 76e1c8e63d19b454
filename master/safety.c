#include "master/safety.h"

#include <assert.h>
#include <stdlib.h>

bool id_set_has(const struct id_set *s, struct str id)
{
    for (uint32_t i = 0; i < s->n; i++) { /* master-eligible nodes: few */
        if (str_is(id, s->v[i])) {
            return true;
        }
    }
    return false;
}

bool id_set_add(struct id_set *s, struct str id)
{
    if (id_set_has(s, id)) {
        return true;
    }
    if (id.n >= sizeof(s->v[0])) {
        return false;
    }
    if (s->n == s->cap) {
        uint32_t cap = s->cap == 0 ? 8 : s->cap * 2;
        void *v = realloc(s->v, cap * sizeof(s->v[0]));
        if (v == NULL) {
            return false;
        }
        s->v = v;
        s->cap = cap;
    }
    memcpy(s->v[s->n], id.p, id.n);
    s->v[s->n++][id.n] = 0;
    return true;
}

void id_set_clear(struct id_set *s)
{
    s->n = 0;
}

void id_set_fini(struct id_set *s)
{
    free(s->v);
    *s = (struct id_set){0};
}

void safety_init(struct safety *s, struct str node_id, uint64_t term, struct cluster_state *accepted)
{
    *s = (struct safety){.node_id = node_id, .term = term, .accepted = cluster_state_ref(accepted)};
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
}

void safety_fini(struct safety *s)
{
    cluster_state_unref(s->accepted);
    id_set_fini(&s->joins);
    id_set_fini(&s->publish_votes);
    arena_fini(&s->arena);
}

static const struct coordination_part *accepted_part(const struct safety *s)
{
    return s->accepted->coordination;
}

uint64_t safety_accepted_term(const struct safety *s)
{
    return accepted_part(s)->term;
}

bool config_has_quorum(const struct str_set *config, const struct id_set *nodes)
{
    uint32_t votes = 0;
    for (uint32_t i = 0; i < config->n; i++) {
        votes += id_set_has(nodes, config->v[i]);
    }
    return votes * 2 > config->n; /* an empty configuration elects nobody */
}

bool safety_is_quorum(const struct safety *s, const struct id_set *nodes)
{
    return config_has_quorum(&accepted_part(s)->committed, nodes)
           && config_has_quorum(&accepted_part(s)->accepted, nodes);
}

bool safety_is_bootstrapped(const struct safety *s)
{
    return accepted_part(s)->accepted.n > 0;
}

static void replace_accepted(struct safety *s, struct cluster_state *state)
{
    cluster_state_unref(s->accepted);
    s->accepted = cluster_state_ref(state);
}

enum err safety_set_initial(struct safety *s, struct cluster_state *state, struct errmsg *em)
{
    if (safety_is_bootstrapped(s)) {
        return err_set(em, ERR_ILLEGAL_STATE, "initial configuration already set");
    }
    replace_accepted(s, state);
    return ERR_OK;
}

enum err safety_start_join(struct safety *s, struct str target, uint64_t term, struct vote *out,
                           struct errmsg *em)
{
    if (term <= s->term) {
        return err_set(em, ERR_ILLEGAL_STATE, "incoming term [%llu] not greater than current term [%llu]",
                       (unsigned long long)term, (unsigned long long)s->term);
    }
    s->term = term;
    s->voted_since_start = true;
    s->won = false;
    id_set_clear(&s->joins);
    id_set_clear(&s->publish_votes);
    s->published_version = 0;
    s->published_config = (struct str_set){0};
    arena_reset(&s->arena);
    *out = (struct vote){.voter = s->node_id,
                         .target = target,
                         .term = term,
                         .accepted_term = safety_accepted_term(s),
                         .accepted_version = s->accepted->version};
    return ERR_OK;
}

enum err safety_join(struct safety *s, const struct vote *v, bool *counted, struct errmsg *em)
{
    *counted = false;
    if (v->term != s->term || !str_eq(v->target, s->node_id)) {
        return err_set(em, ERR_ILLEGAL_STATE, "a vote of term [%llu] does not count in term [%llu]",
                       (unsigned long long)v->term, (unsigned long long)s->term);
    }
    if (!s->voted_since_start) {
        return err_set(em, ERR_ILLEGAL_STATE, "ignored join as term was not incremented yet after reboot");
    }
    uint64_t mine = safety_accepted_term(s);
    if (v->accepted_term > mine || (v->accepted_term == mine && v->accepted_version > s->accepted->version)) {
        return err_set(em, ERR_ILLEGAL_STATE, "the voter has a newer state than this node");
    }
    if (!safety_is_bootstrapped(s)) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "rejecting join since this node has not received its initial configuration yet");
    }
    *counted = !id_set_has(&s->joins, v->voter);
    if (!id_set_add(&s->joins, v->voter)) {
        return err_no_memory(em);
    }
    bool before = s->won;
    s->won = safety_is_quorum(s, &s->joins);
    assert(!before || s->won);
    if (s->won && !before) {
        s->published_version = s->accepted->version;
    }
    return ERR_OK;
}

void safety_give_up(struct safety *s)
{
    s->won = s->voted_since_start = false;
    id_set_clear(&s->joins);
    id_set_clear(&s->publish_votes);
}

enum err safety_publish(struct safety *s, const struct cluster_state *state, struct errmsg *em)
{
    const struct coordination_part *new = state->coordination, *old = accepted_part(s);
    if (!s->won) {
        return err_set(em, ERR_ILLEGAL_STATE, "election not won");
    }
    if (s->published_version != s->accepted->version) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "cannot start publishing next value before accepting previous one");
    }
    if (new->term != s->term || state->version <= s->published_version) {
        return err_set(em, ERR_ILLEGAL_STATE, "a state of term [%llu] and version [%llu] does not follow",
                       (unsigned long long)new->term, (unsigned long long)state->version);
    }
    bool reconfiguring = !str_set_eq(&new->accepted, &old->accepted);
    if (!str_set_eq(&new->committed, &old->committed)
        || (reconfiguring && !str_set_eq(&old->committed, &old->accepted))) {
        return err_set(em, ERR_ILLEGAL_STATE, "only allow reconfiguration while not already reconfiguring");
    }
    if (!config_has_quorum(&new->accepted, &s->joins)) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "only allow reconfiguration if joinVotes have quorum for new config");
    }
    arena_reset(&s->arena);
    s->published_config = str_set_copy(&new->accepted, &s->arena);
    if (s->published_config.v == NULL) {
        return err_no_memory(em);
    }
    s->published_version = state->version;
    id_set_clear(&s->publish_votes);
    return ERR_OK;
}

enum err safety_accept(struct safety *s, struct cluster_state *state, struct errmsg *em)
{
    uint64_t term = state->coordination->term;
    if (term != s->term) {
        return err_set(em, ERR_ILLEGAL_STATE, "incoming term [%llu] does not match current term [%llu]",
                       (unsigned long long)term, (unsigned long long)s->term);
    }
    if (term == safety_accepted_term(s) && state->version <= s->accepted->version) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "incoming version [%llu] lower or equal to current version [%llu]",
                       (unsigned long long)state->version, (unsigned long long)s->accepted->version);
    }
    replace_accepted(s, state);
    return ERR_OK;
}

enum err safety_accepted_by(struct safety *s, struct str node_id, uint64_t term, uint64_t version,
                            bool *commit, struct errmsg *em)
{
    *commit = false;
    if (!s->won || term != s->term || version != s->published_version) {
        return err_set(em, ERR_ILLEGAL_STATE, "an answer for version [%llu] of term [%llu] does not count",
                       (unsigned long long)version, (unsigned long long)term);
    }
    if (!id_set_add(&s->publish_votes, node_id)) {
        return err_no_memory(em);
    }
    *commit = config_has_quorum(&accepted_part(s)->committed, &s->publish_votes)
              && config_has_quorum(&s->published_config, &s->publish_votes);
    return ERR_OK;
}

enum err safety_commit(struct safety *s, uint64_t term, uint64_t version, struct errmsg *em)
{
    if (term != s->term || term != safety_accepted_term(s) || version != s->accepted->version) {
        return err_set(
            em, ERR_ILLEGAL_STATE,
            "a commit of version [%llu], term [%llu] does not fit version [%llu], terms [%llu] and [%llu]",
            (unsigned long long)version, (unsigned long long)term, (unsigned long long)s->accepted->version,
            (unsigned long long)s->term, (unsigned long long)safety_accepted_term(s));
    }
    const struct coordination_part *p = accepted_part(s);
    if (str_set_eq(&p->committed, &p->accepted) && p->uuid_committed) {
        return ERR_OK;
    }
    struct state_builder b;
    struct coordination_part *marked = coordination_part_copy(p);
    if (marked != NULL) {
        marked->committed = str_set_copy(&marked->accepted, &marked->part.arena);
        marked->uuid_committed = true;
    }
    if (marked == NULL || marked->committed.v == NULL || !state_builder_init(&b, s->accepted)) {
        state_part_unref(marked != NULL ? &marked->part : NULL);
        return err_no_memory(em);
    }
    state_put_coordination(&b, marked);
    /* sealing adds one: it is the same version, and the same state to those who take differences */
    b.next->version--;
    struct cluster_state *state = state_builder_seal(&b, s->accepted->state_uuid);
    if (state == NULL) {
        return err_no_memory(em);
    }
    cluster_state_unref(s->accepted);
    s->accepted = state;
    return ERR_OK;
}

void safety_invariant(const struct safety *s)
{
    assert(safety_accepted_term(s) <= s->term);
    assert(!s->won || safety_is_quorum(s, &s->joins));
    assert(!s->won || s->voted_since_start);
    assert(s->publish_votes.n == 0 || s->won);
}
