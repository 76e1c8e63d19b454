/* The discovery of nodes: seeds, the nodes of the last state, and those that peers name; and the master, once somebody
 * knows it.
 *
 * Nodes that cannot be master are not asked and not told of: with a thousand of them, which all lose their master at once, each
 * would tell all of all. They find the master through those that can be; these look at everybody in the last state, as who wins
 * an election must know who is there. */
#include "master/quorum_int.h"

#include <stdio.h>
#include <stdlib.h>

#define HANDSHAKE_TIMEOUT_MS 1000
#define PEER_BYTES           512   /* as each of a thousand nodes knows them all */
#define FORGET_SILENT_MS     60000 /* a peer that somebody mentioned and nobody found */

static struct peer *peer_at(struct quorum *q, struct str address)
{
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        if (str_is(address, p->address)) {
            return p;
        }
    }
    return NULL;
}

struct peer *peer_by_ephemeral(struct quorum *q, struct str ephemeral_id)
{
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->node.id.p != NULL && str_eq(p->node.ephemeral_id, ephemeral_id)) {
            return p;
        }
    }
    return NULL;
}

static struct peer *peer_add(struct quorum *q, struct str address)
{
    struct peer *p = peer_at(q, address);
    if (p != NULL || address.n == 0 || address.n >= sizeof(p->address)
        || str_eq(address, q->local.transport_address)) {
        return p;
    }
    p = calloc(1, sizeof(*p));
    if (p == NULL) {
        q->starved = true;
        return NULL;
    }
    memcpy(p->address, address.p, address.n);
    arena_init(&p->arena, NULL, ARENA_UNLIMITED);
    p->found_ms = q->now;
    p->next_probe_ms = q->now;
    p->next = q->peers;
    q->peers = p;
    return p;
}

void discovery_note_nodes(struct quorum *q)
{
    struct nodes_part *nodes = q->safety.accepted->nodes;
    if (nodes == q->noted) {
        return;
    }
    for (uint32_t i = 0; nodes != NULL && i < nodes->n; i++) {
        struct peer *p = discovery_note_node(q, &nodes->v[i]);
        if (p != NULL && (nodes->v[i].roles & ROLE_MASTER) != 0) {
            p->keep = true;
        }
    }
    discovery_look_again(q);
    if (nodes != NULL) {
        state_part_ref(&nodes->part);
        q->noted = nodes;
    }
}

void discovery_look_again(struct quorum *q)
{
    state_part_unref(q->noted != NULL ? &q->noted->part : NULL);
    q->noted = NULL;
}

void discovery_note_address(struct quorum *q, struct str address, bool keep)
{
    struct peer *p = peer_add(q, address);
    if (p != NULL) {
        p->keep |= keep;
    }
}

struct peer *discovery_note_node(struct quorum *q, const struct node_meta *n)
{
    if (str_eq(n->id, q->local.id)) {
        return NULL;
    }
    struct peer *p = peer_add(q, n->transport_address);
    if (p == NULL) {
        return NULL;
    }
    p->found_ms = q->now;
    if (p->node.id.p != NULL && str_eq(p->node.ephemeral_id, n->ephemeral_id)) {
        return p;
    }
    arena_reset(&p->arena);
    if (!arena_begin(&p->arena, PEER_BYTES) || !node_meta_copy(&p->node, n, &p->arena)) {
        p->node = (struct node_meta){0};
        q->starved = true;
        return NULL;
    }
    p->has_version = p->sent_version = p->applied_version = 0;
    p->missed = 0;
    p->check = 0;
    p->in_state = p->leaving = p->silent = false;
    struct quorum_effect *e = quorum_emit(q, EFFECT_CONNECT);
    if (e != NULL && arena_begin(&e->arena, PEER_BYTES / 2)) {
        e->peer.address = arena_str(&e->arena, n->transport_address);
        e->peer.ephemeral_id = arena_str(&e->arena, n->ephemeral_id);
    }
    return p;
}

static bool may_be_master(const struct node_meta *n)
{
    return n->id.p != NULL && (n->roles & ROLE_MASTER) != 0;
}

void discovery_note_state(struct quorum *q)
{
    const struct nodes_part *nodes = q->safety.accepted->nodes;
    for (uint32_t i = 0; nodes != NULL && i < nodes->n; i++) {
        if (may_be_master(&nodes->v[i]) || may_be_master(&q->local)) {
            discovery_note_address(q, nodes->v[i].transport_address, may_be_master(&nodes->v[i]));
        }
    }
}

/* ---- the master has been found ---- */

static void join(struct quorum *q, const struct node_meta *master, uint64_t term)
{
    if (id_is(q->joining, master->ephemeral_id) && q->now < q->join_until_ms) {
        return;
    }
    struct vote vote = {0};
    uint64_t ticket = 0;
    bool voted = election_raise_term(q, master->id, term, &vote, &ticket);
    struct transport_peer to = peer_of_node(master);
    struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_JOIN, q->set.join_timeout_ms);
    if (e == NULL) {
        return;
    }
    e->ticket = ticket;
    e->message.has_vote = voted;
    if (voted) {
        e->message.term = vote.term;
        e->message.accepted_term = vote.accepted_term;
        e->message.version = vote.accepted_version;
    }
    id_copy(q->joining, master->ephemeral_id);
    q->join_until_ms = q->now + q->set.request_timeout_ms;
}

/* ---- looking round ---- */

static void tell_peers(const struct quorum *q, struct quorum_effect *e)
{
    uint32_t n = 0;
    for (const struct peer *k = q->peers; k != NULL; k = k->next) {
        n += may_be_master(&k->node);
    }
    struct node_meta *nodes = ARENA_ARRAY(&e->arena, struct node_meta, n);
    for (const struct peer *k = q->peers; nodes != NULL && k != NULL; k = k->next) {
        if (may_be_master(&k->node) && node_meta_copy(&nodes[e->message.n_nodes], &k->node, &e->arena)) {
            e->message.n_nodes++;
        }
    }
    e->message.nodes = nodes;
}

static void ask_peers(struct quorum *q, struct peer *p)
{
    struct transport_peer to = peer_of_node(&p->node);
    struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_PEERS, q->set.request_timeout_ms);
    if (e == NULL) {
        return;
    }
    p->probe = e->id;
    tell_peers(q, e);
}

static void probe(struct quorum *q, struct peer *p)
{
    p->next_probe_ms = q->now + q->set.find_interval_ms;
    if (p->probe != 0) {
        return;
    }
    if (p->node.id.p != NULL) {
        if (may_be_master(&p->node)) {
            ask_peers(q, p);
        }
        return;
    }
    struct transport_peer to = {str_of(p->address), STR("")};
    struct quorum_effect *e = quorum_ask(q, &to, MESSAGE_HANDSHAKE, HANDSHAKE_TIMEOUT_MS);
    if (e != NULL) {
        p->probe = e->id;
    }
}

static void drop_silent(struct quorum *q)
{
    for (struct peer **at = &q->peers; *at != NULL;) {
        struct peer *p = *at;
        if (p->keep || p->node.id.p != NULL || p->probe != 0 || q->now - p->found_ms < FORGET_SILENT_MS) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        arena_fini(&p->arena);
        free(p);
        discovery_look_again(q);
    }
}

void discovery_tick(struct quorum *q)
{
    if (q->mode != QUORUM_CANDIDATE || q->now < q->next_find_ms) {
        return;
    }
    q->next_find_ms = q->now + q->set.find_interval_ms;
    drop_silent(q);
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        if (q->now >= p->next_probe_ms) {
            probe(q, p);
        }
    }
}

int64_t discovery_wake(const struct quorum *q)
{
    return q->mode == QUORUM_CANDIDATE ? q->next_find_ms : INT64_MAX;
}

static struct peer *peer_of_probe(struct quorum *q, uint64_t id)
{
    for (struct peer *p = q->peers; p != NULL; p = p->next) {
        if (p->probe == id) {
            p->probe = 0;
            return p;
        }
    }
    return NULL;
}

void discovery_handshake_done(struct quorum *q, const struct asked *a, const struct quorum_message *m)
{
    struct peer *p = peer_of_probe(q, a->id);
    if (p == NULL || !str_eq(m->cluster_name, q->cluster_name)) {
        return;
    }
    p->why[0] = '\0';
    if (str_eq(m->from.id, q->local.id)) { /* this node by another name */
        p->keep = false;
        return;
    }
    discovery_note_node(q, &m->from);
    if (!str_is(m->from.transport_address, p->address)) { /* a seed by another name than it publishes */
        p->next_probe_ms = q->now + FORGET_SILENT_MS;
    }
    struct peer *found = peer_by_ephemeral(q, m->from.ephemeral_id);
    if (found != NULL && q->mode == QUORUM_CANDIDATE) {
        probe(q, found);
        election_tick(q);
    }
}

void discovery_peers_done(struct quorum *q, const struct asked *a, const struct quorum_message *m)
{
    struct peer *p = peer_of_probe(q, a->id);
    if (p != NULL) {
        p->found_ms = q->now;
    }
    if (q->mode != QUORUM_CANDIDATE) {
        return;
    }
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        discovery_note_address(q, m->nodes[i].transport_address, false);
    }
    if (m->master.id.p != NULL && !str_eq(m->master.id, q->local.id)) {
        struct peer *master = peer_by_ephemeral(q, m->master.ephemeral_id);
        if (master != NULL) { /* found to be alive: whoever told may not know yet that it is not */
            join(q, &master->node, m->term);
        } else {
            discovery_note_address(q, m->master.transport_address, false);
        }
    }
}

static void note_why(struct peer *p, const struct errmsg *error)
{
    snprintf(p->why, sizeof(p->why), "%s", error != NULL ? err_reason(error) : "no answer");
}

void discovery_join_failed(struct quorum *q, const struct asked *a, const struct errmsg *error)
{
    struct peer *p = peer_by_ephemeral(q, str_of(a->ephemeral_id));
    if (p != NULL) {
        note_why(p, error);
    }
    if (id_is(q->joining, str_of(a->ephemeral_id))) {
        q->joining[0] = 0; /* ask again at the next look round */
    }
}

void discovery_failed(struct quorum *q, const struct asked *a, const struct errmsg *error)
{
    struct peer *p = peer_of_probe(q, a->id);
    if (p != NULL) {
        note_why(p, error);
    }
    /* perhaps another process lives there now */
    if (p != NULL && a->kind == MESSAGE_PEERS && q->mode == QUORUM_CANDIDATE) {
        p->node = (struct node_meta){0};
        arena_reset(&p->arena);
        discovery_look_again(q);
    }
}

void discovery_receive_peers(struct quorum *q, const struct quorum_message *m, void *call)
{
    if (peer_by_ephemeral(q, m->from.ephemeral_id) == NULL) {
        struct peer *p = peer_add(q, m->from.transport_address);
        if (p != NULL) {
            p->next_probe_ms = q->now; /* it is there now, whenever it was looked for last */
        }
    }
    struct quorum_effect *e = quorum_reply(q, call, MESSAGE_PEERS, true);
    if (e == NULL) {
        return;
    }
    bool known = true;
    if (q->mode == QUORUM_LEADER) {
        known = node_meta_copy(&e->message.master, &q->local, &e->arena);
    } else if (q->mode == QUORUM_FOLLOWER) {
        known = node_meta_copy(&e->message.master, &q->leader, &e->arena);
    }
    if (known) {
        tell_peers(q, e);
    }
    if (q->mode == QUORUM_CANDIDATE) { /* it may be the one that is missing */
        q->next_find_ms = q->now;
        discovery_tick(q);
    }
}

void discovery_free(struct quorum *q)
{
    discovery_look_again(q);
    while (q->peers != NULL) {
        struct peer *p = q->peers;
        q->peers = p->next;
        arena_fini(&p->arena);
        free(p);
    }
}

/* ---- for people ---- */

void discovery_describe(const struct quorum *q, struct buf *out)
{
    buf_z(out, "looked for at [");
    const char *between = "";
    for (const struct peer *p = q->peers; p != NULL; p = p->next) {
        buf_printf(out, "%s%s ", between, p->address);
        if (p->node.id.p != NULL) {
            buf_printf(out, "(%.*s%s%s%s)", STR_ARG(p->node.name),
                       may_be_master(&p->node) ? "" : ", cannot be master", p->why[0] != '\0' ? ": " : "",
                       p->why);
        } else {
            buf_printf(out, "(%s)", p->why[0] != '\0' ? p->why : "no answer yet");
        }
        between = ", ";
    }
    buf_z(out, "]");
    const struct coordination_part *voting = q->safety.accepted->coordination;
    if (safety_is_bootstrapped(&q->safety) && voting != NULL) {
        buf_printf(out, "; an election needs more than half of %u voters", voting->accepted.n);
    } else if (q->n_initial_masters == 0) {
        buf_z(out, "; this node has never been in a cluster, and [cluster.initial_master_nodes] is not set");
    } else {
        buf_z(out, "; the first cluster needs more than half of [");
        for (uint32_t i = 0; i < q->n_initial_masters; i++) {
            buf_printf(out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(q->initial_masters[i]));
        }
        buf_char(out, ']');
    }
}
