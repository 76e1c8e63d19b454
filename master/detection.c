/* Checks in both directions: the leader asks its followers, followers their leader; several misses in a row
 * mean gone. */
#include "master/quorum_int.h"

static void tell_gone(struct quorum *q, const struct node_meta *n)
{
    struct quorum_effect *e = str_eq(n->id, q->local.id) ? NULL : quorum_emit(q, EFFECT_LEFT);
    if (e != NULL && !node_meta_copy(&e->node, n, &e->arena)) {
        q->starved = true;
    }
}

void detection_begin(struct quorum *q)
{
    const struct nodes_part *nodes = q->safety.accepted->nodes;
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        p->in_state = false;
    }
    for (uint32_t i = 0; nodes != NULL && i < nodes->n; i++) {
        struct peer *p = peer_by_ephemeral(q, nodes->v[i].ephemeral_id);
        if (p == NULL) { /* this node, or one that went before it was counted in */
            tell_gone(q, &nodes->v[i]);
            continue;
        }
        p->in_state = true;
        if (p->next_check_ms == 0) {
            p->next_check_ms = q->now + q->set.check_interval_ms;
        }
    }
}

void detection_left(struct quorum *q, struct peer *p, const char *why)
{
    if (p->leaving) {
        return;
    }
    struct quorum_effect *e = quorum_emit(q, EFFECT_LEFT);
    if (e == NULL || !node_meta_copy(&e->node, &p->node, &e->arena)) {
        q->starved = true;
        return;
    }
    e->text = arena_str(&e->arena, str_of(why));
    p->leaving = true;
}

void detection_lead(struct quorum *q)
{
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        p->leaving = false;
        p->missed = 0;
        p->check = 0;
        p->next_check_ms = 0;
    }
    detection_begin(q);
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->in_state && p->silent) {
            detection_left(q, p, "the former master does not answer");
        }
    }
}

void detection_tick(struct quorum *q)
{
    if (q->mode == QUORUM_LEADER) {
        for (struct peer *p = q->peers; p != NULL; p = p->next) {
            if (!p->in_state || p->check != 0 || q->now < p->next_check_ms) {
                continue;
            }
            struct transport_peer to = peer_of_node(&p->node);
            struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_FOLLOWER_CHECK, q->set.check_timeout_ms);
            p->check = e != NULL ? e->id : 0;
            p->next_check_ms = q->now + q->set.check_interval_ms;
        }
    } else if (q->mode == QUORUM_FOLLOWER && q->leader_check == 0 && q->now >= q->next_leader_check_ms) {
        struct transport_peer to = peer_of_node(&q->leader);
        struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_LEADER_CHECK, q->set.check_timeout_ms);
        q->leader_check = e != NULL ? e->id : 0;
        q->next_leader_check_ms = q->now + q->set.check_interval_ms;
    }
}

int64_t detection_wake(const struct quorum *q)
{
    int64_t wake = INT64_MAX;
    if (q->mode == QUORUM_FOLLOWER) {
        return q->leader_check == 0 ? q->next_leader_check_ms : INT64_MAX;
    }
    for (const struct peer *p = q->peers; q->mode == QUORUM_LEADER && p != NULL; p = p->next) {
        if (p->in_state && p->check == 0) {
            wake = MIN_OF(wake, p->next_check_ms);
        }
    }
    return wake;
}

/* ---- followers ---- */

/* This node was led by it in this term, and gave it up: it joins again, as only a state that comes of that tells it that it has
 * a master. A check alone would leave it without, until something else is published. */
static bool had_followed(const struct quorum *q, const struct quorum_message *m)
{
    const struct cluster_state *s = q->safety.accepted;
    return s->term == m->term && s->nodes != NULL && str_eq(s->nodes->master, m->from.id);
}

void detection_receive_follower_check(struct quorum *q, const struct quorum_message *m, void *call)
{
    if (m->term < q->safety.term || (m->term == q->safety.term && q->mode == QUORUM_LEADER)) {
        quorum_reply(q, call, MESSAGE_FOLLOWER_CHECK, false);
        return;
    }
    struct vote vote;
    uint64_t ticket = 0;
    election_raise_term(q, m->from.id, m->term, &vote, &ticket);
    if (q->mode != QUORUM_CANDIDATE || !had_followed(q, m)) {
        quorum_become_follower(q, &m->from);
    }
    struct quorum_effect *e = quorum_reply(q, call, MESSAGE_FOLLOWER_CHECK, true);
    if (e != NULL) {
        e->ticket = ticket;
        election_repeat_vote(q, m->from.id, &e->message);
    }
}

void detection_follower_done(struct quorum *q, const struct asked *a, const struct quorum_message *m)
{
    struct peer *p = peer_by_ephemeral(q, str_of(a->ephemeral_id));
    if (q->mode != QUORUM_LEADER || p == NULL || p->check != a->id) {
        return;
    }
    p->check = 0;
    if (m != NULL && !m->ok && m->term > q->safety.term) {
        quorum_become_candidate(q, "a follower is in a newer term");
        return;
    }
    if (m != NULL && m->ok) {
        p->missed = 0;
        election_count_repeated(q, m);
        return;
    }
    if (++p->missed >= q->set.check_retries) {
        detection_left(q, p, "followers check retry count exceeded");
    } else if (m == NULL) {
        p->next_check_ms = MIN_OF(p->next_check_ms, q->now + q->set.check_interval_ms);
    }
}

/* ---- the leader ---- */

void detection_receive_leader_check(struct quorum *q, const struct quorum_message *m, void *call)
{
    ERR_LOCAL(em);
    const struct node_meta *known = cluster_node(q->safety.accepted, m->from.id);
    if (q->mode != QUORUM_LEADER || known == NULL || !str_eq(known->ephemeral_id, m->from.ephemeral_id)) {
        err_set(&em, ERR_NOT_MASTER,
                q->mode != QUORUM_LEADER ? "this node does not lead"
                                         : "that node was removed from the cluster");
        quorum_refuse(q, call, &em);
        return;
    }
    quorum_reply(q, call, MESSAGE_LEADER_CHECK, true);
}

void detection_leader_done(struct quorum *q, const struct quorum_message *m)
{
    if (q->mode != QUORUM_FOLLOWER) {
        return;
    }
    q->leader_check = 0;
    if (m != NULL) {
        q->leader_missed = 0;
    } else if (++q->leader_missed >= q->set.check_retries) {
        struct peer *p = peer_by_ephemeral(q, q->leader.ephemeral_id);
        if (p != NULL) {
            p->silent = true;
        }
        quorum_become_candidate(q, "the master does not answer");
    }
}
