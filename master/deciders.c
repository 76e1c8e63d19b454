/* The deciders: each rule of Elasticsearch's allocation about the nodes that may hold a copy, by its name there. */
#include "master/allocation_int.h"

#include "common/settings/setting_read.h"

#include <stdarg.h>
#include <stdio.h>

bool decider_said(struct alloc *a, struct verdicts *all, enum decision *worst, const char *decider,
                  enum decision d, const char *why, ...)
{
    *worst = MAX_OF(*worst, d);
    if (all != NULL && all->n < DECIDERS_MAX) {
        char text[600];
        va_list ap;
        va_start(ap, why);
        vsnprintf(text, sizeof(text), why, ap);
        va_end(ap);
        all->v[all->n++] = (struct verdict){decider, d, arena_str(&a->arena, str_of(text))};
    }
    return all != NULL || d != DECIDE_NO;
}

/* The index's own, else the cluster's. *own: which of them. */
static struct str index_or_cluster(const struct alloc *a, const struct index_meta *m,
                                   enum setting_id of_index, enum setting_id of_cluster, bool *own)
{
    const struct setting *t = setting_find(&m->settings, of_index);
    *own = t != NULL;
    return t != NULL ? t->value : cluster_setting(a->b->next, of_cluster);
}

/* ---- one copy of a shard a node ---- */

/* "[a][0], node[id], [P], s[STARTED], a[id=...]" */
static const char *copy_text(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                             const struct shard_copy *c, char out[400])
{
    const struct index_routing *r = cluster_routing(a->b->next, m->name);
    char target[64] = "";
    if (c->state == COPY_RELOCATING) {
        snprintf(target, sizeof(target), "relocating [%.*s], ", STR_ARG(c->target_node));
    }
    snprintf(out, 400, "[%.*s][%u], node[%.*s], %s[%s], s[%s], a[id=%.*s]", STR_ARG(m->name),
             (unsigned)(s - r->shards), STR_ARG(c->node), target, c->primary ? "P" : "R",
             copy_state_name(c->state), STR_ARG(c->allocation_id));
    return out;
}

/* Where a node is: its address, "10.0.0.1" or "[::1]". */
static struct str address_of(const struct node_meta *n)
{
    size_t end = n->transport_address.n;
    while (end > 0 && n->transport_address.p[end - 1] != ':') {
        end--;
    }
    return str_slice(n->transport_address, 0, end > 0 ? end - 1 : 0);
}

/* With cluster.routing.allocation.same_shard.host: one copy a machine. true: nothing has been said. */
static bool same_host(struct alloc *a, const struct shard_routing *s, const struct alloc_node *n,
                      struct verdicts *all, enum decision *worst, bool *said)
{
    const enum setting_id id = SET_CLUSTER_ROUTING_ALLOCATION_SAME_SHARD_HOST;
    struct str host = address_of(n->node);
    *said = false;
    if (host.n == 0 || !cluster_setting_bool(a->b->next, id)) {
        return true;
    }
    for (uint32_t k = 0; k < s->n; k++) {
        const struct alloc_node *other =
            s->copies[k].node.p != NULL ? alloc_node_of(a, s->copies[k].node) : NULL;
        if (other != NULL && str_eq(address_of(other->node), host)) {
            *said = true;
            return decider_said(
                a, all, worst, "same_shard", DECIDE_NO,
                "a copy of this shard is already allocated to host address [%.*s], on node [%.*s], and "
                "[%s] is [true] which forbids more than one node on this host from holding a copy of "
                "this shard",
                STR_ARG(host), STR_ARG(n->node->id), setting_rows[id].name);
        }
    }
    return true;
}

static bool same_shard(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                       const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all,
                       enum decision *worst)
{
    char text[400];
    bool said;
    for (uint32_t k = 0; k < s->n; k++) {
        const struct shard_copy *x = &s->copies[k];
        bool here = x->node.p != NULL && str_eq(x->node, n->node->id);
        bool coming = x->state == COPY_RELOCATING && str_eq(x->target_node, n->node->id);
        if (here || coming) {
            return decider_said(a, all, worst, "same_shard", DECIDE_NO,
                                "%s is already allocated to this node [%s]",
                                x == c ? "this shard" : "a copy of this shard",
                                all != NULL ? copy_text(a, m, s, x, text) : "");
        }
    }
    if (!same_host(a, s, n, all, worst, &said) || said) {
        return all != NULL;
    }
    return decider_said(a, all, worst, "same_shard", DECIDE_YES,
                        "this node does not hold a copy of this shard");
}

/* ---- how much at once ---- */

#define CONCURRENT setting_rows[SET_CLUSTER_ROUTING_ALLOCATION_NODE_CONCURRENT_RECOVERIES].name

static bool throttle_primary(struct alloc *a, const struct alloc_node *n, struct verdicts *all,
                             enum decision *worst)
{
    const enum setting_id id = SET_CLUSTER_ROUTING_ALLOCATION_NODE_INITIAL_PRIMARIES_RECOVERIES;
    int64_t max = cluster_setting_i64(a->b->next, id);
    return n->initial_primaries >= max
               ? decider_said(a, all, worst, "throttling", DECIDE_THROTTLE,
                              "reached the limit of ongoing initial primary recoveries [%u], cluster setting "
                              "[%s=%lld]",
                              n->initial_primaries, setting_rows[id].name, (long long)max)
               : decider_said(a, all, worst, "throttling", DECIDE_YES,
                              "below primary recovery limit of [%lld]", (long long)max);
}

static bool throttling(struct alloc *a, const struct shard_routing *s, const struct shard_copy *c,
                       const struct alloc_node *n, struct verdicts *all, enum decision *worst)
{
    const enum setting_id in_id = SET_CLUSTER_ROUTING_ALLOCATION_NODE_CONCURRENT_INCOMING_RECOVERIES;
    const enum setting_id out_id = SET_CLUSTER_ROUTING_ALLOCATION_NODE_CONCURRENT_OUTGOING_RECOVERIES;
    if (c->primary && c->state == COPY_UNASSIGNED) {
        return throttle_primary(a, n, all, worst);
    }
    int64_t in = cluster_setting_i64(a->b->next, in_id), out = cluster_setting_i64(a->b->next, out_id);
    if (n->incoming >= in) {
        return decider_said(
            a, all, worst, "throttling", DECIDE_THROTTLE,
            "reached the limit of incoming shard recoveries [%u], cluster setting [%s=%lld] (can "
            "also be set via [%s])",
            n->incoming, setting_rows[in_id].name, (long long)in, CONCURRENT);
    }
    const struct alloc_node *source =
        s->copies[0].node.p != NULL ? alloc_node_of(a, s->copies[0].node) : NULL;
    if (source == NULL) {
        return decider_said(a, all, worst, "throttling", DECIDE_NO,
                            "primary shard for this replica is not yet active");
    }
    if (source->outgoing >= out) {
        return decider_said(
            a, all, worst, "throttling", DECIDE_THROTTLE,
            "reached the limit of outgoing shard recoveries [%u] on the node [%.*s] which holds the "
            "primary, cluster setting [%s=%lld] (can also be set via [%s])",
            source->outgoing, STR_ARG(source->node->id), setting_rows[out_id].name, (long long)out,
            CONCURRENT);
    }
    return decider_said(a, all, worst, "throttling", DECIDE_YES,
                        "below shard recovery limit of outgoing: [%u < %lld] incoming: [%u < %lld]",
                        source->outgoing, (long long)out, n->incoming, (long long)in);
}

static bool max_retry(struct alloc *a, const struct index_meta *m, const struct shard_copy *c,
                      struct verdicts *all, enum decision *worst)
{
    int64_t max = setting_i64(&m->settings, SET_INDEX_ALLOCATION_MAX_RETRIES);
    if (c->state != COPY_UNASSIGNED || c->trouble.failed == 0) {
        return decider_said(a, all, worst, "max_retry", DECIDE_YES, "shard has no previous failures");
    }
    /* A primary is tried with pauses, but without end: nothing else can take its place. */
    if (c->trouble.failed < max || (c->primary && c->source != RECOVER_PEER)) {
        return decider_said(a, all, worst, "max_retry", DECIDE_YES,
                            "shard has failed allocating [%u] times but [%lld] retries are allowed",
                            c->trouble.failed, (long long)max);
    }
    return decider_said(
        a, all, worst, "max_retry", DECIDE_NO,
        "shard has exceeded the maximum number of retries [%lld] on failed allocation attempts - "
        "manually call [/_cluster/reroute?retry_failed=true] to retry",
        (long long)max);
}

/* ---- switches ---- */

static bool enabled(struct alloc *a, const struct index_meta *m, const struct shard_copy *c,
                    struct verdicts *all, enum decision *worst)
{
    bool own;
    struct str mode = index_or_cluster(a, m, SET_INDEX_ROUTING_ALLOCATION_ENABLE,
                                       SET_CLUSTER_ROUTING_ALLOCATION_ENABLE, &own);
    if (a->manual) {
        return decider_said(
            a, all, worst, "enable", DECIDE_YES,
            "explicitly ignoring any disabling of allocation due to manual allocation commands via "
            "the reroute API");
    }
    const char *level = own ? "index setting [index.routing.allocation.enable="
                            : "cluster setting [cluster.routing.allocation.enable=";
    bool fresh = c->primary && c->source == RECOVER_EMPTY_STORE && c->state == COPY_UNASSIGNED;
    bool yes = str_is(mode, "all") || (str_is(mode, "primaries") && c->primary)
               || (str_is(mode, "new_primaries") && fresh);
    return yes ? decider_said(a, all, worst, "enable", DECIDE_YES, "all allocations are allowed")
               : decider_said(a, all, worst, "enable", DECIDE_NO, "%s due to %s%.*s]",
                              str_is(mode, "none")        ? "no allocations are allowed"
                              : str_is(mode, "primaries") ? "replica allocations are forbidden"
                                                          : "non-new primary allocations are forbidden",
                              level, STR_ARG(mode));
}

static bool after_primary(struct alloc *a, const struct shard_routing *s, const struct shard_copy *c,
                          struct verdicts *all, enum decision *worst)
{
    if (c->primary) {
        return decider_said(a, all, worst, "replica_after_primary_active", DECIDE_YES,
                            "shard is primary and can be allocated");
    }
    return copy_active(&s->copies[0])
               ? decider_said(a, all, worst, "replica_after_primary_active", DECIDE_YES,
                              "primary shard for this replica is already active")
               : decider_said(a, all, worst, "replica_after_primary_active", DECIDE_NO,
                              "primary shard for this replica is not yet active");
}

/* ---- rules that all nodes of one version, without snapshots, meet: told all the same ---- */

static bool version(struct alloc *a, const struct shard_copy *c, struct verdicts *all, enum decision *worst)
{
    if (all == NULL) {
        return true;
    }
    if (!c->primary) {
        return decider_said(
            a, all, worst, "node_version", DECIDE_YES,
            "can allocate replica shard to a node with version [7.12.1] since this is equal-or-newer "
            "than the primary version [7.12.1]");
    }
    return decider_said(a, all, worst, "node_version", DECIDE_YES,
                        c->state == COPY_UNASSIGNED
                            ? "the primary shard is new or already existed on the node"
                            : "can relocate primary shard from a node with version [7.12.1] to a node with "
                              "equal-or-newer version [7.12.1]");
}

static bool snapshots(struct alloc *a, const struct shard_copy *c, struct verdicts *all, enum decision *worst)
{
    if (all == NULL) {
        return true;
    }
    (void)decider_said(a, all, worst, "snapshot_in_progress", DECIDE_YES,
                       c->primary && c->state != COPY_UNASSIGNED ? "no snapshots are currently running"
                                                                 : "the shard is not being snapshotted");
    return decider_said(a, all, worst, "restore_in_progress", DECIDE_YES,
                        "ignored as shard is not being recovered from a snapshot");
}

/* ---- the questions ---- */

enum decision decide_allocate(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                              const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all)
{
    enum decision worst = DECIDE_YES;
    (void)(max_retry(a, m, c, all, &worst) && after_primary(a, s, c, all, &worst)
           && enabled(a, m, c, all, &worst) && version(a, c, all, &worst) && snapshots(a, c, all, &worst)
           && decide_by_filter(a, m, n, all, &worst) && same_shard(a, m, s, c, n, all, &worst)
           && decide_by_disk(a, c, n, false, all, &worst) && throttling(a, s, c, n, all, &worst)
           && decide_by_shards_limit(a, m, n, false, all, &worst)
           && decide_by_awareness(a, m, s, c, n, all, &worst));
    return worst;
}

enum decision decide_remain(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                            const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all)
{
    enum decision worst = DECIDE_YES;
    (void)(decide_by_filter(a, m, n, all, &worst) && decide_by_disk(a, c, n, true, all, &worst)
           && decide_by_shards_limit(a, m, n, true, all, &worst)
           && decide_by_awareness(a, m, s, c, n, all, &worst));
    return worst;
}

static bool rebalance_active(struct alloc *a, const struct shard_routing *s, struct verdicts *all,
                             enum decision *worst)
{
    for (uint32_t k = 0; k < s->n; k++) {
        if (!copy_active(&s->copies[k])) {
            return decider_said(a, all, worst, "rebalance_only_when_active", DECIDE_NO,
                                "rebalancing is not allowed until all replicas in the cluster are active");
        }
    }
    return decider_said(a, all, worst, "rebalance_only_when_active", DECIDE_YES,
                        "rebalancing is allowed as all copies of this shard are active");
}

static bool rebalance_when(struct alloc *a, struct verdicts *all, enum decision *worst)
{
    struct str when = cluster_setting(a->b->next, SET_CLUSTER_ROUTING_ALLOCATION_ALLOW_REBALANCE);
    bool primaries = str_eq_nocase(when, STR("indices_primaries_active"));
    if (!str_eq_nocase(when, STR("always")) && (primaries ? a->inactive_primaries : a->inactive) > 0) {
        return decider_said(a, all, worst, "cluster_rebalance", DECIDE_NO,
                            "the cluster has unassigned %sshards and cluster setting "
                            "[cluster.routing.allocation.allow_rebalance] is set to [%.*s]",
                            primaries ? "primary " : "", STR_ARG(when));
    }
    return decider_said(a, all, worst, "cluster_rebalance", DECIDE_YES,
                        primaries ? "all primary shards are active" : "all shards are active");
}

static bool rebalance_at_once(struct alloc *a, struct verdicts *all, enum decision *worst)
{
    int64_t most =
        cluster_setting_i64(a->b->next, SET_CLUSTER_ROUTING_ALLOCATION_CLUSTER_CONCURRENT_REBALANCE);
    if (most < 0) {
        return decider_said(a, all, worst, "concurrent_rebalance", DECIDE_YES,
                            "unlimited concurrent rebalances are allowed");
    }
    if (a->relocating >= most) {
        return decider_said(a, all, worst, "concurrent_rebalance", DECIDE_THROTTLE,
                            "reached the limit of concurrently rebalancing shards [%u], cluster setting "
                            "[cluster.routing.allocation.cluster_concurrent_rebalance=%lld]",
                            a->relocating, (long long)most)
               && all != NULL; /* one at a time is looked at: a wait ends the asking, too */
    }
    return decider_said(
        a, all, worst, "concurrent_rebalance", DECIDE_YES,
        "below threshold [%lld] for concurrent rebalances, current rebalance shard count [%u]",
        (long long)most, a->relocating);
}

/* c == NULL: any copy of the shard. */
static bool rebalance_enabled(struct alloc *a, const struct index_meta *m, const struct shard_copy *c,
                              struct verdicts *all, enum decision *worst)
{
    bool own;
    struct str mode = index_or_cluster(a, m, SET_INDEX_ROUTING_REBALANCE_ENABLE,
                                       SET_CLUSTER_ROUTING_REBALANCE_ENABLE, &own);
    const char *level = own ? "index setting [index.routing.rebalance.enable"
                            : "cluster setting [cluster.routing.rebalance.enable";
    bool none = str_eq_nocase(mode, STR("none"));
    bool other = c != NULL
                 && ((c->primary && str_eq_nocase(mode, STR("replicas")))
                     || (!c->primary && str_eq_nocase(mode, STR("primaries"))));
    if (none || other) {
        return decider_said(a, all, worst, "enable", DECIDE_NO, "%s due to %s=%.*s]",
                            none         ? "no rebalancing is allowed"
                            : c->primary ? "primary rebalancing is forbidden"
                                         : "replica rebalancing is forbidden",
                            level, STR_ARG(mode));
    }
    return decider_said(a, all, worst, "enable", DECIDE_YES, "%s rebalancing is allowed",
                        c != NULL && str_eq_nocase(mode, STR("primaries"))  ? "primary"
                        : c != NULL && str_eq_nocase(mode, STR("replicas")) ? "replica"
                                                                            : "all");
}

enum decision decide_rebalance(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                               const struct shard_copy *c, struct verdicts *all)
{
    enum decision worst = DECIDE_YES;
    bool go = rebalance_active(a, s, all, &worst) && rebalance_when(a, all, &worst)
              && rebalance_at_once(a, all, &worst) && rebalance_enabled(a, m, c, all, &worst);
    if (go && all != NULL) {
        (void)decider_said(a, all, &worst, "snapshot_in_progress", DECIDE_YES,
                           "no snapshots are currently running");
    }
    return worst;
}

enum decision decide_rebalance_at_all(struct alloc *a)
{
    enum decision worst = DECIDE_YES;
    (void)(rebalance_when(a, NULL, &worst) && rebalance_at_once(a, NULL, &worst));
    return worst;
}

/* ---- what they said ---- */

const char *decision_name(enum decision d)
{
    static const char *const names[] = {
        [DECIDE_YES] = "YES", [DECIDE_THROTTLE] = "THROTTLE", [DECIDE_NO] = "NO"};
    return names[d];
}

void verdicts_write(const struct verdicts *v, bool all, struct jsonw *w)
{
    jw_arr(w);
    for (uint32_t i = 0; i < v->n; i++) {
        if (!all && v->v[i].decision == DECIDE_YES) {
            continue;
        }
        jw_obj(w);
        jw_kz(w, "decider", v->v[i].decider);
        jw_kz(w, "decision", decision_name(v->v[i].decision));
        jw_kstr(w, "explanation", v->v[i].explanation);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}
