#include "common/cluster/health.h"

static const char *const names[] = {"green", "yellow", "red"};

const char *health_name(enum health h)
{
    return names[h];
}

bool health_parse(struct str name, enum health *out)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(name, str_of(names[i]))) {
            *out = (enum health)i;
            return true;
        }
    }
    return false;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static const struct shard_routing *routing_of(const struct cluster_state *s, const struct index_meta *m,
                                              uint32_t shard)
{
    const struct index_routing *r = cluster_routing(s, m->name);
    return r != NULL && shard < r->n ? &r->shards[shard] : NULL;
}

uint32_t health_copies(const struct cluster_state *s, const struct index_meta *m, uint32_t shard)
{
    const struct shard_routing *r = routing_of(s, m, shard);
    return r != NULL ? r->n : m->n_replicas + 1;
}

/* Before the master has got to it. */
static struct shard_copy copy_without_routing(const struct index_meta *m, uint32_t at)
{
    struct shard_copy c = {
        .state = COPY_UNASSIGNED, .primary = at == 0, .source = at == 0 ? RECOVER_EMPTY_STORE : RECOVER_PEER};
    c.trouble.at_ms = m->created_ms;
    return c;
}

struct shard_copy health_copy(const struct cluster_state *s, const struct index_meta *m, uint32_t shard,
                              uint32_t at)
{
    const struct shard_routing *r = routing_of(s, m, shard);
    if (r != NULL && at < r->n) {
        return r->copies[at];
    }
    return copy_without_routing(m, at);
}

/* ---- counting ------------------------------------------------------------------------------------------ */

/* A primary that is not active: a new, empty one will be soon, unless something speaks against it. */
static enum health inactive_primary(const struct shard_copy *c)
{
    return c->trouble.attempt != ATTEMPT_DECIDERS_NO && c->trouble.failed == 0
                   && c->source == RECOVER_EMPTY_STORE
               ? HEALTH_YELLOW
               : HEALTH_RED;
}

struct shards_health shard_health(const struct cluster_state *s, const struct index_meta *m, uint32_t shard)
{
    struct shards_health h = {.status = HEALTH_GREEN};
    uint32_t n = health_copies(s, m, shard);
    for (uint32_t k = 0; k < n; k++) {
        struct shard_copy c = health_copy(s, m, shard, k);
        if (copy_active(&c)) {
            h.active++;
            h.primaries += c.primary;
            h.relocating += c.state == COPY_RELOCATING;
            continue;
        }
        h.initializing += c.state == COPY_INITIALIZING;
        h.unassigned += c.state == COPY_UNASSIGNED;
        h.delayed += c.state == COPY_UNASSIGNED && c.trouble.delayed;
        enum health status = c.primary ? inactive_primary(&c) : HEALTH_YELLOW;
        h.status = MAX_OF(h.status, status);
    }
    return h;
}

void health_add(struct shards_health *sum, const struct shards_health *h)
{
    sum->status = MAX_OF(sum->status, h->status);
    sum->primaries += h->primaries;
    sum->active += h->active;
    sum->relocating += h->relocating;
    sum->initializing += h->initializing;
    sum->unassigned += h->unassigned;
    sum->delayed += h->delayed;
}

struct shards_health index_health(const struct cluster_state *s, const struct index_meta *m)
{
    struct shards_health sum = {.status = HEALTH_GREEN};
    for (uint32_t i = 0; i < m->n_shards; i++) {
        struct shards_health h = shard_health(s, m, i);
        health_add(&sum, &h);
    }
    return sum;
}

struct shards_health cluster_health(const struct cluster_state *s)
{
    struct shards_health sum = {.status = HEALTH_GREEN};
    for (uint32_t i = 0; i < s->n_indices; i++) {
        struct shards_health h = index_health(s, s->indices[i]);
        health_add(&sum, &h);
    }
    if (s->nodes == NULL || s->nodes->master.p == NULL) {
        sum.status = HEALTH_RED;
    }
    return sum;
}

double health_percent(const struct shards_health *h)
{
    uint32_t all = h->active + h->initializing + h->unassigned;
    return all == 0 ? 100.0 : 100.0 * h->active / all;
}

uint32_t health_nodes(const struct cluster_state *s, uint32_t role)
{
    uint32_t n = 0;
    for (uint32_t i = 0; s->nodes != NULL && i < s->nodes->n; i++) {
        n += role == 0 || (s->nodes->v[i].roles & role) != 0;
    }
    return n;
}

bool health_enough_active(const struct cluster_state *s, const struct index_meta *m, int32_t wanted)
{
    for (uint32_t i = 0; i < m->n_shards; i++) {
        struct shards_health h = shard_health(s, m, i);
        uint32_t all = h.active + h.initializing + h.unassigned;
        if (h.active < (wanted < 0 ? all : (uint32_t)wanted)) {
            return false;
        }
    }
    return true;
}

uint32_t health_least_active(const struct cluster_state *s, const struct index_meta *m)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < m->n_shards; i++) {
        struct shards_health h = shard_health(s, m, i);
        least = MIN_OF(least, h.active);
    }
    return least;
}
