#include "coordinator/core/events.h"

#include "common/cluster/health.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct event {
    uint64_t seq;
    int64_t mono_ms;
    char copy[48]; /* the allocation id of a copy whose recovery began with it; "" of other events */
    char *json;
    size_t json_n;
};

struct event_log {
    pthread_mutex_t lock; /* ring, last */
    struct event ring[EVENTS_KEPT];
    uint64_t last;
    /* of the thread that adds */
    int64_t leaderless_ms; /* mono: since when nobody leads; < 0: somebody does */
    int64_t ailing_ms;     /* mono: since when it is not green; < 0: it is, or was not seen to become so */
    enum health health;
};

/* One state after another, being looked at. */
struct step {
    struct event_log *l;
    const struct cluster_state *from, *to; /* from == NULL: the first */
    const struct event_moment *at;
    uint32_t copies, untold;
};

struct field { /* text.p == NULL: a number; < 0: unknown, and left out */
    const char *name;
    struct str text;
    int64_t number;
};
#define FIELDS(...) (const struct field[]){__VA_ARGS__}, ARRAY_LEN(((const struct field[]){__VA_ARGS__}))

struct event_log *event_log_new(void)
{
    struct event_log *l = calloc(1, sizeof(*l));
    if (l != NULL) {
        pthread_mutex_init(&l->lock, NULL);
        l->leaderless_ms = l->ailing_ms = -1;
    }
    return l;
}

void event_log_free(struct event_log *l)
{
    if (l != NULL) {
        for (size_t i = 0; i < EVENTS_KEPT; i++) {
            free(l->ring[i].json);
        }
        pthread_mutex_destroy(&l->lock);
        free(l);
    }
}

/* ---- keeping ------------------------------------------------------------------------------------------- */

/* `copy`: STR_NULL, or the allocation id by which the end of what begins here is told. */
static void event_push(struct step *s, const char *type, struct str copy, const struct field *f, size_t n)
{
    struct event_log *l = s->l;
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_ki64(&w, "seq", (int64_t)l->last + 1);
    jw_ki64(&w, "at", s->at->wall_ms);
    jw_kz(&w, "type", type);
    for (size_t i = 0; i < n; i++) {
        if (f[i].text.p != NULL) {
            jw_kstr(&w, f[i].name, f[i].text);
        } else if (f[i].number >= 0) {
            jw_ki64(&w, f[i].name, f[i].number);
        }
    }
    jw_obj_end(&w);
    size_t json_n;
    char *json = buf_take(&b, &json_n);
    if (json == NULL) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    struct event *e = &l->ring[++l->last % EVENTS_KEPT];
    free(e->json);
    *e = (struct event){.seq = l->last, .mono_ms = s->at->mono_ms, .json = json, .json_n = json_n};
    snprintf(e->copy, sizeof(e->copy), "%.*s", STR_ARG(copy));
    pthread_mutex_unlock(&l->lock);
}

static void event_push_cluster(struct step *s, const char *type, const struct field *f, size_t n)
{
    event_push(s, type, STR_NULL, f, n);
}

uint64_t event_log_last(struct event_log *l)
{
    pthread_mutex_lock(&l->lock);
    uint64_t last = l->last;
    pthread_mutex_unlock(&l->lock);
    return last;
}

void event_log_write(struct event_log *l, uint64_t since, struct jsonw *w)
{
    pthread_mutex_lock(&l->lock);
    uint64_t first = since > l->last ? 1 : since + 1;
    if (l->last >= EVENTS_KEPT) {
        first = MAX_OF(first, l->last - EVENTS_KEPT + 1);
    }
    jw_ki64(w, "last", (int64_t)l->last);
    jw_karr(w, "events");
    for (uint64_t i = first; i <= l->last; i++) {
        const struct event *e = &l->ring[i % EVENTS_KEPT];
        jw_raw(w, str_mk(e->json, e->json_n));
    }
    jw_arr_end(w);
    pthread_mutex_unlock(&l->lock);
}

/* How long ago the recovery of this copy was told of; -1: that has been forgotten. */
static int64_t since_begun(const struct step *s, struct str copy)
{
    const struct event_log *l = s->l; /* only this thread writes */
    for (uint64_t i = 0; i < EVENTS_KEPT && i < l->last; i++) {
        const struct event *e = &l->ring[(l->last - i) % EVENTS_KEPT];
        if (e->copy[0] != '\0' && str_is(copy, e->copy)) {
            return s->at->mono_ms - e->mono_ms;
        }
    }
    return -1;
}

/* ---- the master and the nodes --------------------------------------------------------------------------- */

static struct str master_of(const struct cluster_state *s)
{
    return s != NULL && s->nodes != NULL && s->nodes->master.p != NULL ? s->nodes->master : STR("");
}

static uint64_t term_of(const struct cluster_state *s)
{
    return s == NULL ? 0 : s->coordination != NULL ? s->coordination->term : s->term;
}

/* Its name, from the newer state that has it; else its id. */
static struct str name_of(const struct step *s, struct str id)
{
    const struct node_meta *n = s->to->nodes != NULL ? cluster_node(s->to, id) : NULL;
    if (n == NULL && s->from != NULL && s->from->nodes != NULL) {
        n = cluster_node(s->from, id);
    }
    return n != NULL ? n->name : id;
}

static void compare_master(struct step *s)
{
    struct event_log *l = s->l;
    struct str was = master_of(s->from), is = master_of(s->to);
    if (was.n > 0 && is.n == 0) {
        l->leaderless_ms = s->at->mono_ms;
        event_push_cluster(
            s, "no_master",
            FIELDS({"node", name_of(s, was), 0}, {"term", STR_NULL, (int64_t)term_of(s->from)}));
    }
    if (is.n > 0 && (!str_eq(was, is) || term_of(s->from) != term_of(s->to))) {
        int64_t without = l->leaderless_ms >= 0 ? s->at->mono_ms - l->leaderless_ms : -1;
        event_push_cluster(s, "master",
                           FIELDS({"node", name_of(s, is), 0}, {"node_id", is, 0},
                                  {"term", STR_NULL, (int64_t)term_of(s->to)},
                                  {"without_ms", STR_NULL, without}));
        l->leaderless_ms = -1;
    }
}

static uint32_t copies_at(const struct cluster_state *s, struct str node)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_routing; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n; k++) {
            const struct shard_routing *r = &s->routing[i]->shards[k];
            for (uint32_t c = 0; c < r->n; c++) {
                n += r->copies[c].node.p != NULL && str_eq(r->copies[c].node, node);
            }
        }
    }
    return n;
}

static void compare_nodes(struct step *s)
{
    const struct nodes_part *was = s->from != NULL ? s->from->nodes : NULL, *is = s->to->nodes;
    if (was == is || is == NULL) {
        return;
    }
    for (uint32_t i = 0; was != NULL && i < was->n; i++) {
        if (cluster_node(s->to, was->v[i].id) == NULL) {
            event_push_cluster(s, "node_left",
                               FIELDS({"node", was->v[i].name, 0}, {"node_id", was->v[i].id, 0},
                                      {"copies", STR_NULL, copies_at(s->from, was->v[i].id)}));
        }
    }
    for (uint32_t i = 0; i < is->n; i++) {
        const struct node_meta *before = was != NULL ? cluster_node(s->from, is->v[i].id) : NULL;
        if (before == NULL || !str_eq(before->ephemeral_id, is->v[i].ephemeral_id)) {
            event_push_cluster(s, before == NULL ? "node_joined" : "node_restarted",
                               FIELDS({"node", is->v[i].name, 0}, {"node_id", is->v[i].id, 0}));
        }
    }
}

static void compare_voters(struct step *s)
{
    const struct coordination_part *was = s->from != NULL ? s->from->coordination : NULL,
                                   *is = s->to->coordination;
    if (is == NULL || is == was || is->committed.n == 0
        || (was != NULL && str_set_eq(&was->committed, &is->committed))) {
        return;
    }
    struct buf b;
    buf_init(&b, NULL, 4 * KIB);
    for (uint32_t i = 0; i < is->committed.n; i++) {
        buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(name_of(s, is->committed.v[i])));
    }
    event_push_cluster(s, "voters", FIELDS({"nodes", buf_view(&b), 0}, {"n", STR_NULL, is->committed.n}));
    buf_fini(&b);
}

/* ---- shards -------------------------------------------------------------------------------------------- */

static void event_push_copy(struct step *s, const char *type, struct str begins, const struct field *f,
                            size_t n)
{
    if (s->copies++ < EVENTS_OF_COPIES_MAX) {
        event_push(s, type, begins, f, n);
    } else {
        s->untold++;
    }
}

static const struct shard_copy *copy_called(const struct shard_routing *r, struct str id)
{
    for (uint32_t k = 0; r != NULL && id.p != NULL && k < r->n; k++) {
        const struct shard_copy *c = &r->copies[k];
        if ((c->allocation_id.p != NULL && str_eq(c->allocation_id, id))
            || (c->target_id.p != NULL && str_eq(c->target_id, id))) {
            return c;
        }
    }
    return NULL;
}

static const char *source_name(const struct shard_copy *c)
{
    return c->source == RECOVER_PEER ? "peer" : c->source == RECOVER_EXISTING_STORE ? "disk" : "empty";
}

struct place {
    const struct index_routing *r;
    uint32_t shard;
};

static void compare_copy(struct step *s, const struct place *at, const struct shard_routing *before,
                         uint32_t k)
{
    const struct shard_copy *now = &at->r->shards[at->shard].copies[k];
    const struct shard_copy *was = copy_called(before, now->allocation_id);
    const struct field index = {"index", at->r->name, 0}, shard = {"shard", STR_NULL, at->shard},
                       kind = {"copy", now->primary ? STR("primary") : STR("replica"), 0};
    bool served = was != NULL && copy_active(was) && str_eq(was->allocation_id, now->allocation_id);
    uint32_t failed_before = before != NULL && k < before->n ? before->copies[k].trouble.failed : 0;
    if (!copy_active(now) && now->trouble.failed > failed_before) {
        event_push_copy(
            s, "copy_failed", STR_NULL,
            FIELDS(
                index, shard, kind,
                {"node", now->trouble.last_node.p != NULL ? name_of(s, now->trouble.last_node) : STR(""), 0},
                {"why", now->trouble.details.p != NULL ? now->trouble.details : STR(""), 0}));
    }
    if (now->state == COPY_INITIALIZING && was == NULL) {
        event_push_copy(s, "recovery_started", now->allocation_id,
                        FIELDS(index, shard, kind, {"node", name_of(s, now->node), 0},
                               {"source", str_of(source_name(now)), 0}));
    }
    if (copy_active(now) && !served) {
        bool moved = was != NULL && was->target_id.p != NULL && str_eq(was->target_id, now->allocation_id);
        struct str id = now->allocation_id;
        event_push_copy(s, moved ? "moved" : "recovery_done", STR_NULL,
                        FIELDS(index, shard, kind, {"node", name_of(s, now->node), 0},
                               {"from", moved ? name_of(s, was->node) : STR_NULL, -1},
                               {"took_ms", STR_NULL, since_begun(s, id)}));
    }
    if (served && now->primary && !was->primary) {
        const struct index_meta *m = cluster_index(s->to, at->r->name);
        int64_t term = m != NULL && at->shard < m->n_shards ? (int64_t)m->primary_terms[at->shard] : -1;
        event_push_copy(
            s, "promoted", STR_NULL,
            FIELDS(index, shard, {"node", name_of(s, now->node), 0}, {"primary_term", STR_NULL, term}));
    }
    if (now->state == COPY_RELOCATING && (was == NULL || was->state != COPY_RELOCATING)) {
        event_push_copy(s, "moving", now->target_id,
                        FIELDS(index, shard, kind, {"node", name_of(s, now->node), 0},
                               {"to", name_of(s, now->target_node), 0}));
    }
}

static const struct index_routing *same_index(const struct cluster_state *s, const struct index_routing *r)
{
    const struct index_routing *found = cluster_routing(s, r->name);
    return found != NULL && str_eq(found->uuid, r->uuid) ? found : NULL;
}

/* Whether anything of the routing is another than before. */
static bool compare_shards(struct step *s)
{
    bool changed = s->from->n_routing != s->to->n_routing;
    for (uint32_t i = 0; i < s->from->n_routing; i++) {
        if (same_index(s->to, s->from->routing[i]) == NULL) {
            event_push_copy(s, "index_deleted", STR_NULL, FIELDS({"index", s->from->routing[i]->name, 0}));
            changed = true;
        }
    }
    for (uint32_t i = 0; i < s->to->n_routing; i++) {
        const struct index_routing *now = s->to->routing[i], *was = same_index(s->from, now);
        if (was == now) { /* the very same part */
            continue;
        }
        changed = true;
        if (was == NULL) {
            event_push_copy(s, "index_created", STR_NULL,
                            FIELDS({"index", now->name, 0}, {"shards", STR_NULL, now->n}));
        }
        for (uint32_t n = 0; n < now->n; n++) {
            const struct shard_routing *before = was != NULL && n < was->n ? &was->shards[n] : NULL;
            const struct place at = {now, n};
            for (uint32_t k = 0; k < now->shards[n].n; k++) {
                compare_copy(s, &at, before, k);
            }
        }
    }
    if (s->untold > 0) {
        event_push_cluster(s, "more", FIELDS({"n", STR_NULL, s->untold}));
    }
    return changed;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void compare_health(struct step *s)
{
    struct event_log *l = s->l;
    enum health now = cluster_health(s->to).status, was = l->health;
    l->health = now;
    if (s->from == NULL || now == was) {
        return;
    }
    if (l->ailing_ms < 0) {
        l->ailing_ms = s->at->mono_ms;
    }
    bool well = now == HEALTH_GREEN;
    event_push_cluster(s, "health",
                       FIELDS({"status", str_of(health_name(now)), 0}, {"was", str_of(health_name(was)), 0},
                              {"took_ms", STR_NULL, well ? s->at->mono_ms - l->ailing_ms : -1}));
    l->ailing_ms = well ? -1 : l->ailing_ms;
}

void event_log_add(struct event_log *l, const struct cluster_state *from, const struct cluster_state *to,
                   const struct event_moment *at)
{
    struct step s = {.l = l, .from = from, .to = to, .at = at};
    if (from == NULL || from->version != to->version) {
        event_push_cluster(&s, "published",
                           FIELDS({"version", STR_NULL, (int64_t)to->version},
                                  {"term", STR_NULL, (int64_t)term_of(to)},
                                  {"took_us", STR_NULL, at->took_us}));
    }
    compare_master(&s);
    compare_nodes(&s);
    compare_voters(&s);
    bool changed = from == NULL || from->nodes != to->nodes;
    if (from != NULL) {
        changed |= compare_shards(&s);
    }
    if (changed) {
        compare_health(&s);
    }
}
