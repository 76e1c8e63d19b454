/* Who may hold a copy: each rule of Elasticsearch's allocation, by its name there. */
#include "master/allocation_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define RETRIES_DEFAULT 5

/* Keeps a decider's word; true: go on asking. */
static bool said(struct alloc *a, struct verdicts *all, enum decision *worst, const char *decider,
                 enum decision d, const char *why, ...) __attribute__((format(printf, 6, 7)));

static bool said(struct alloc *a, struct verdicts *all, enum decision *worst, const char *decider,
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

static struct str index_setting(const struct index_meta *m, const char *key)
{
    return settings_str(&m->settings, key, STR_NULL);
}

static int64_t index_i64(const struct index_meta *m, const char *key, int64_t otherwise)
{
    struct str s = index_setting(m, key);
    return s.p != NULL ? strtoll(s.p, NULL, 10) : otherwise;
}

/* ---- one copy of a shard a node ---- */

static bool same_shard(struct alloc *a, const struct shard_routing *s, const struct shard_copy *c,
                       const struct alloc_node *n, struct verdicts *all, enum decision *worst)
{
    for (uint32_t k = 0; k < s->n; k++) {
        const struct shard_copy *x = &s->copies[k];
        bool here = x->node.p != NULL && str_eq(x->node, n->node->id);
        bool coming = x->state == COPY_RELOCATING && str_eq(x->target_node, n->node->id);
        if (here || coming) {
            return said(a, all, worst, "same_shard", DECIDE_NO,
                        x == c ? "this shard is already allocated to this node"
                               : "a copy of this shard is already allocated to this node [%.*s]",
                        STR_ARG(n->node->id));
        }
    }
    return said(a, all, worst, "same_shard", DECIDE_YES, "this node does not hold a copy of this shard");
}

/* ---- filters: include, exclude, require by name, address, id or attribute ---- */

static struct str attribute(const struct node_meta *n, struct str name)
{
    if (str_is(name, "_name")) {
        return n->name;
    }
    if (str_is(name, "_id")) {
        return n->id;
    }
    if (str_is(name, "_ip") || str_is(name, "_host") || str_is(name, "_publish_ip")
        || str_is(name, "_host_ip")) {
        return n->host;
    }
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        if (str_eq(n->attrs[i].name, name)) {
            return n->attrs[i].value;
        }
    }
    return STR_NULL;
}

static bool any_matches(struct str list, struct str value)
{
    for (size_t at = 0; at <= list.n;) {
        size_t end = at;
        while (end < list.n && list.p[end] != ',') {
            end++;
        }
        struct str one = str_trim(str_slice(list, at, end));
        if (one.n > 0 && value.p != NULL && str_glob(one, value)) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

enum filter_kind { FILTER_REQUIRE, FILTER_INCLUDE, FILTER_EXCLUDE };

/* Do the settings under that prefix let the node through? Later settings of the same name (transient) win. */
static bool passes(const struct settings *s, const char *prefix, enum filter_kind kind,
                   const struct node_meta *n, struct str *which)
{
    struct str p = str_of(prefix);
    bool any = false, included = false;
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *t = &s->v[i];
        if (!str_starts(t->key, p) || t->is_null || t->value.n == 0) {
            continue;
        }
        struct str value = attribute(n, str_slice(t->key, p.n, t->key.n));
        bool match = any_matches(t->value, value);
        *which = t->key;
        any = true;
        included |= match;
        if ((kind == FILTER_REQUIRE && !match) || (kind == FILTER_EXCLUDE && match)) {
            return false;
        }
    }
    return kind != FILTER_INCLUDE || !any || included;
}

static bool filter(struct alloc *a, const struct index_meta *m, const struct alloc_node *n,
                   struct verdicts *all, enum decision *worst)
{
    static const char *const names[] = {"require", "include", "exclude"};
    const struct cluster_state *s = a->b->next;
    const struct settings *sources[] = {&m->settings, s->persistent != NULL ? &s->persistent->settings : NULL,
                                        s->transient != NULL ? &s->transient->settings : NULL};
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        for (int kind = 0; sources[i] != NULL && kind < 3; kind++) {
            char prefix[64];
            struct str which = STR_NULL;
            snprintf(prefix, sizeof(prefix), "%s.routing.allocation.%s.", i == 0 ? "index" : "cluster",
                     names[kind]);
            if (!passes(sources[i], prefix, (enum filter_kind)kind, n->node, &which)) {
                return said(a, all, worst, "filter", DECIDE_NO, "node does not match %s setting [%.*s]",
                            i == 0 ? "index" : "cluster", STR_ARG(which));
            }
        }
    }
    return said(a, all, worst, "filter", DECIDE_YES, "node passes include/exclude/require filters");
}

/* ---- how much at once ---- */

static bool throttling(struct alloc *a, const struct shard_routing *s, const struct shard_copy *c,
                       const struct alloc_node *n, struct verdicts *all, enum decision *worst)
{
    int64_t concurrent = alloc_setting_i64(a, "cluster.routing.allocation.node_concurrent_recoveries", 2);
    if (c->primary && c->state == COPY_UNASSIGNED) {
        int64_t max = alloc_setting_i64(a, "cluster.routing.allocation.node_initial_primaries_recoveries", 4);
        return n->initial_primaries >= max
                   ? said(a, all, worst, "throttling", DECIDE_THROTTLE,
                          "reached the limit of ongoing initial primary recoveries [%lld]", (long long)max)
                   : said(a, all, worst, "throttling", DECIDE_YES, "below primary recovery limit of [%lld]",
                          (long long)max);
    }
    int64_t in =
        alloc_setting_i64(a, "cluster.routing.allocation.node_concurrent_incoming_recoveries", concurrent);
    int64_t out =
        alloc_setting_i64(a, "cluster.routing.allocation.node_concurrent_outgoing_recoveries", concurrent);
    if (n->incoming >= in) {
        return said(a, all, worst, "throttling", DECIDE_THROTTLE,
                    "reached the limit of incoming shard recoveries [%u]", n->incoming);
    }
    const struct alloc_node *source =
        s->copies[0].node.p != NULL ? alloc_node_of(a, s->copies[0].node) : NULL;
    if (source != NULL && source->outgoing >= out) {
        return said(a, all, worst, "throttling", DECIDE_THROTTLE,
                    "reached the limit of outgoing shard recoveries [%u] on the node [%.*s]",
                    source->outgoing, STR_ARG(source->node->id));
    }
    return said(a, all, worst, "throttling", DECIDE_YES,
                "below shard recovery limit of outgoing: [%lld] incoming: [%lld]", (long long)out,
                (long long)in);
}

static bool max_retry(struct alloc *a, const struct index_meta *m, const struct shard_copy *c,
                      struct verdicts *all, enum decision *worst)
{
    int64_t max = index_i64(m, "index.allocation.max_retries", RETRIES_DEFAULT);
    if (c->state != COPY_UNASSIGNED || c->trouble.failed < max) {
        return said(a, all, worst, "max_retry", DECIDE_YES, "shard has no previous failures");
    }
    return said(a, all, worst, "max_retry", DECIDE_NO,
                "shard has exceeded the maximum number of retries [%lld] on failed allocation attempts - "
                "manually call [/_cluster/reroute?retry_failed=true] to retry",
                (long long)max);
}

/* ---- limits ---- */

static bool shards_limit(struct alloc *a, const struct index_meta *m, const struct alloc_node *n, bool stays,
                         struct verdicts *all, enum decision *worst)
{
    int64_t of_index = index_i64(m, "index.routing.allocation.total_shards_per_node", -1);
    int64_t of_all = alloc_setting_i64(a, "cluster.routing.allocation.total_shards_per_node", -1);
    int64_t more = stays ? 0 : 1;
    if (of_all > 0 && n->shards + more > of_all) {
        return said(a, all, worst, "shards_limit", DECIDE_NO,
                    "too many shards [%u] allocated to this node, cluster setting "
                    "[cluster.routing.allocation.total_shards_per_node=%lld]",
                    n->shards, (long long)of_all);
    }
    if (of_index > 0) {
        balance_count_index(a, cluster_routing(a->b->next, m->name));
        if (n->of_index + more > of_index) {
            return said(a, all, worst, "shards_limit", DECIDE_NO,
                        "too many shards [%u] allocated to this node for index [%.*s], index setting "
                        "[index.routing.allocation.total_shards_per_node=%lld]",
                        n->of_index, STR_ARG(m->name), (long long)of_index);
        }
    }
    return said(a, all, worst, "shards_limit", DECIDE_YES, "total shard limits are disabled or not reached");
}

/* "85%" of the disk used, or "500mb" that must stay free. */
static bool beyond(struct str watermark, const struct disk_usage *d)
{
    if (watermark.n > 0 && watermark.p[watermark.n - 1] == '%') {
        double used = 100.0 * (double)(d->total_bytes - d->free_bytes) / (double)d->total_bytes;
        return used >= strtod(watermark.p, NULL);
    }
    int64_t bytes;
    return parse_bytes(watermark, "watermark", &bytes, NULL) == ERR_OK && bytes > 0
           && d->free_bytes < (uint64_t)bytes;
}

static bool disk(struct alloc *a, const struct shard_copy *c, const struct alloc_node *n, bool stays,
                 struct verdicts *all, enum decision *worst)
{
    const struct cluster_state *s = a->b->next;
    bool enabled = !str_is(
        cluster_setting(s, "cluster.routing.allocation.disk.threshold_enabled", STR("true")), "false");
    bool alone =
        a->n_nodes == 1
        && !str_is(cluster_setting(s, "cluster.routing.allocation.disk.watermark.enable_for_single_data_node",
                                   STR("false")),
                   "true");
    if (!enabled || alone || n->disk == NULL || n->disk->total_bytes == 0) {
        return said(a, all, worst, "disk_threshold", DECIDE_YES,
                    !enabled ? "the disk threshold decider is disabled"
                    : alone  ? "there is only a single data node present"
                             : "disk usages are unavailable");
    }
    struct str low = cluster_setting(s, "cluster.routing.allocation.disk.watermark.low", STR("85%"));
    struct str high = cluster_setting(s, "cluster.routing.allocation.disk.watermark.high", STR("90%"));
    bool empty = c->primary && c->source == RECOVER_EMPTY_STORE; /* a new primary is better than none */
    struct str mark = stays || empty ? high : low;
    if (beyond(mark, n->disk)) {
        return said(a, all, worst, "disk_threshold", DECIDE_NO,
                    "the node is above the %s watermark cluster setting "
                    "[cluster.routing.allocation.disk.watermark.%s=%.*s]",
                    stays || empty ? "high" : "low", stays || empty ? "high" : "low", STR_ARG(mark));
    }
    return said(a, all, worst, "disk_threshold", DECIDE_YES, "enough disk for shard on node");
}

/* ---- awareness: copies spread over the values of attributes ---- */

static bool awareness(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                      const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all,
                      enum decision *worst)
{
    struct str list = cluster_setting(a->b->next, "cluster.routing.allocation.awareness.attributes", STR(""));
    for (size_t at = 0; at < list.n;) {
        size_t end = at;
        while (end < list.n && list.p[end] != ',') {
            end++;
        }
        struct str name = str_trim(str_slice(list, at, end)), value = attribute(n->node, name);
        at = end + 1;
        if (value.p == NULL) {
            return said(a, all, worst, "awareness", DECIDE_NO,
                        "node does not contain the awareness attribute [%.*s]", STR_ARG(name));
        }
        uint32_t values = 0, here = 0;
        for (uint32_t i = 0; i < a->n_nodes; i++) {
            bool first = attribute(a->nodes[i].node, name).p != NULL;
            for (uint32_t k = 0; first && k < i; k++) {
                struct str other = attribute(a->nodes[k].node, name);
                first = other.p == NULL || !str_eq(other, attribute(a->nodes[i].node, name));
            }
            values += first;
        }
        for (uint32_t k = 0; k < s->n; k++) {
            const struct shard_copy *x = &s->copies[k];
            struct str where = x->state == COPY_RELOCATING ? x->target_node : x->node;
            const struct alloc_node *xn = x != c && where.p != NULL ? alloc_node_of(a, where) : NULL;
            here +=
                xn != NULL && attribute(xn->node, name).p != NULL && str_eq(attribute(xn->node, name), value);
        }
        uint32_t copies = m->n_replicas + 1, most = values == 0 ? copies : (copies + values - 1) / values;
        if (here + 1 > most) {
            return said(
                a, all, worst, "awareness", DECIDE_NO,
                "there are [%u] copies of this shard and [%u] values for attribute [%.*s], so there may be "
                "at most [%u] copies of this shard allocated to nodes with each value, but (including this "
                "copy) there would be [%u] copies allocated to nodes with [node.attr.%.*s: %.*s]",
                copies, values, STR_ARG(name), most, here + 1, STR_ARG(name), STR_ARG(value));
        }
    }
    return said(a, all, worst, "awareness", DECIDE_YES, "node meets all awareness attribute requirements");
}

/* ---- switches ---- */

static bool enabled(struct alloc *a, const struct index_meta *m, const struct shard_copy *c,
                    struct verdicts *all, enum decision *worst)
{
    struct str mode = index_setting(m, "index.routing.allocation.enable");
    const char *level = "index setting [index.routing.allocation.enable=";
    if (mode.p == NULL) {
        mode = cluster_setting(a->b->next, "cluster.routing.allocation.enable", STR("all"));
        level = "cluster setting [cluster.routing.allocation.enable=";
    }
    bool fresh = c->primary && c->source == RECOVER_EMPTY_STORE && c->state == COPY_UNASSIGNED;
    bool yes = str_is(mode, "all") || (str_is(mode, "primaries") && c->primary)
               || (str_is(mode, "new_primaries") && fresh);
    return yes ? said(a, all, worst, "enable", DECIDE_YES, "all allocations are allowed")
               : said(a, all, worst, "enable", DECIDE_NO, "allocations are forbidden due to %s%.*s]", level,
                      STR_ARG(mode));
}

static bool after_primary(struct alloc *a, const struct shard_routing *s, const struct shard_copy *c,
                          struct verdicts *all, enum decision *worst)
{
    if (c->primary) {
        return said(a, all, worst, "replica_after_primary_active", DECIDE_YES,
                    "shard is primary and can be allocated");
    }
    return copy_active(&s->copies[0]) ? said(a, all, worst, "replica_after_primary_active", DECIDE_YES,
                                             "primary shard for this replica is already active")
                                      : said(a, all, worst, "replica_after_primary_active", DECIDE_NO,
                                             "primary shard for this replica is not yet active");
}

/* ---- the questions ---- */

enum decision decide_allocate(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                              const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all)
{
    enum decision worst = DECIDE_YES;
    (void)(max_retry(a, m, c, all, &worst) && after_primary(a, s, c, all, &worst)
           && enabled(a, m, c, all, &worst) && filter(a, m, n, all, &worst)
           && same_shard(a, s, c, n, all, &worst) && disk(a, c, n, false, all, &worst)
           && throttling(a, s, c, n, all, &worst) && shards_limit(a, m, n, false, all, &worst)
           && awareness(a, m, s, c, n, all, &worst));
    return worst;
}

enum decision decide_remain(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                            const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all)
{
    enum decision worst = DECIDE_YES;
    (void)(filter(a, m, n, all, &worst) && disk(a, c, n, true, all, &worst)
           && shards_limit(a, m, n, true, all, &worst) && awareness(a, m, s, c, n, all, &worst));
    return worst;
}

static bool all_active(const struct cluster_state *s, bool primaries_only)
{
    for (uint32_t i = 0; i < s->n_routing; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n; k++) {
            const struct shard_routing *r = &s->routing[i]->shards[k];
            for (uint32_t c = 0; c < (primaries_only ? 1 : r->n); c++) {
                if (!copy_active(&r->copies[c])) {
                    return false;
                }
            }
        }
    }
    return true;
}

enum decision decide_rebalance(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                               struct verdicts *all)
{
    const struct cluster_state *st = a->b->next;
    enum decision worst = DECIDE_YES;
    struct str enable = index_setting(m, "index.routing.rebalance.enable");
    enable = enable.p != NULL ? enable : cluster_setting(st, "cluster.routing.rebalance.enable", STR("all"));
    struct str when =
        cluster_setting(st, "cluster.routing.allocation.allow_rebalance", STR("indices_all_active"));
    int64_t at_once = alloc_setting_i64(a, "cluster.routing.allocation.cluster_concurrent_rebalance", 2);
    bool go = true;
    if (str_is(enable, "none")) {
        go = said(a, all, &worst, "rebalance_only_when_active", DECIDE_NO, "no rebalancing is allowed");
    }
    if (go && at_once >= 0 && a->relocating >= at_once) {
        go = said(a, all, &worst, "concurrent_rebalance", DECIDE_THROTTLE,
                  "reached the limit of concurrently rebalancing shards [%u]", a->relocating);
        go = go && all != NULL;
    }
    for (uint32_t k = 0; go && k < s->n; k++) {
        if (!copy_active(&s->copies[k])) {
            go = said(a, all, &worst, "rebalance_only_when_active", DECIDE_NO,
                      "rebalancing is not allowed until all replicas in the cluster are active");
        }
    }
    if (go && !str_is(when, "always") && !all_active(st, str_is(when, "indices_primaries_active"))) {
        said(a, all, &worst, "cluster_rebalance", DECIDE_NO,
             "the cluster has unassigned shards and cluster setting "
             "[cluster.routing.allocation.allow_rebalance] is set to [%.*s]",
             STR_ARG(when));
    }
    return worst;
}
