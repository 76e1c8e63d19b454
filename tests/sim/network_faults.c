/* What befalls messages: processes that die, links that are cut and heal, connections that break. */
#include "tests/sim/network_int.h"

#include <stdlib.h>

#define LINGER_MS_MAX 3000

struct loss {
    struct process *who, *peer;
};

static void tell_loss(void *arg)
{
    struct loss *l = arg;
    if (l->who->alive && l->who->watch.lost != NULL) {
        struct transport_peer p = {str_of(l->peer->address), str_of(l->peer->ephemeral_id)};
        l->who->watch.lost(l->who->watch.arg, &p);
    }
    free(l);
}

static void lose(struct process *who, struct process *peer)
{
    if (who == NULL || peer == NULL || !who->alive || !who->connected[peer->at] || who->watch.on == NULL) {
        return;
    }
    struct loss *l = malloc(sizeof(*l));
    *l = (struct loss){who, peer};
    executor_submit_force(who->watch.on, tell_loss, l);
}

static void drop_parcels(struct link *l)
{
    while (l->first != NULL) {
        struct parcel *p = l->first;
        l->first = p->next;
        free(p);
    }
}

/* A connection that was closed while it was cut: the machine sends what it took all the same, when it can again. */
static void linger(struct network *n, struct link *l)
{
    for (struct parcel *p = l->first; p != NULL; p = p->next) {
        if (!p->is_answer && rng_below(n->rng, 2) == 0) {
            n->timers->start(n->timers->self, (int64_t)rng_below(n->rng, LINGER_MS_MAX), request_arrives,
                             p->m);
        }
    }
}

static void fail_between(struct network *n, const struct process *a, const struct process *b)
{
    for (struct flight *m = n->under_way; m != NULL;) {
        struct flight *next = m->next;
        if ((m->from == a && m->to == b) || (m->from == b && m->to == a)) {
            message_fail(m, ERR_NODE_DISCONNECTED, "the connection is gone");
            next = n->under_way;
        }
        m = next;
    }
}

void break_connections(struct network *n, unsigned a, unsigned b)
{
    for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
        drop_parcels(link_of(n, a, b, c));
        drop_parcels(link_of(n, b, a, c));
    }
    fail_between(n, n->at[a], n->at[b]);
    lose(n->at[a], n->at[b]);
    lose(n->at[b], n->at[a]);
}

void network_kill(struct network *n, unsigned at)
{
    struct process *dead = n->at[at];
    if (dead == NULL || !dead->alive) {
        return;
    }
    dead->alive = false;
    for (unsigned i = 0; i < n->places; i++) {
        struct process *p = n->at[i];
        if (p == NULL || i == at) {
            continue;
        }
        for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
            drop_parcels(link_of(n, at, i, c));
            drop_parcels(link_of(n, i, at, c));
        }
        /* Behind a cut nobody hears that it died; requests end with their time-outs, or when it heals. */
        if (!link_of(n, at, i, 0)->cut) {
            fail_between(n, dead, p);
            lose(p, dead);
        }
        p->connected[at] = false;
    }
}

void network_cut(struct network *n, unsigned from, unsigned to, bool cut)
{
    bool was = link_of(n, from, to, 0)->cut;
    for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
        link_of(n, from, to, c)->cut = cut;
    }
    if (!was || cut) {
        return;
    }
    struct process *a = n->at[from], *b = n->at[to];
    bool dead = a == NULL || b == NULL || !a->alive || !b->alive;
    if (dead || rng_below(n->rng, 2) == 0) {
        for (struct flight *m = n->under_way; m != NULL;) { /* of processes that died meanwhile, too */
            struct flight *next = m->next;
            if ((m->from->at == from && m->to->at == to) || (m->from->at == to && m->to->at == from)) {
                message_fail(m, ERR_NODE_DISCONNECTED, "the connection is gone");
                next = n->under_way;
            }
            m = next;
        }
        for (unsigned c = 0; c < TRANSPORT_CLASSES && !dead; c++) {
            linger(n, link_of(n, from, to, c));
        }
        break_connections(n, from, to);
        return;
    }
    for (unsigned c = 0; c < TRANSPORT_CLASSES; c++) {
        for (struct parcel *p = link_of(n, from, to, c)->first; p != NULL; p = p->next) {
            n->timers->start(n->timers->self, (int64_t)rng_below(n->rng, (uint64_t)n->delay_ms_max + 1),
                             link_deliver, link_of(n, from, to, c));
        }
    }
}

void network_heal(struct network *n)
{
    n->loss = 0;
    for (unsigned i = 0; i < n->places; i++) {
        for (unsigned k = 0; k < n->places; k++) {
            network_cut(n, i, k, false);
        }
    }
}

void network_set_loss(struct network *n, unsigned per_thousand)
{
    n->loss = per_thousand;
}
