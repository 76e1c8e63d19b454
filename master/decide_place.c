/* Rules about what a node is: filters, disks, how many copies it holds, where others are. */
#include "master/allocation_int.h"

#include "common/base/num.h"
#include "common/settings/setting_read.h"

#include <stdio.h>
#include <stdlib.h>

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
/* The next filter of a family in `all` and what is behind it; NULL: there is none. A name that is set in front does not count behind. */
static const struct setting *next_filter(const struct settings *all, struct str prefix,
                                         const struct settings **at, size_t *i)
{
    for (; *at != NULL; *at = (*at)->behind, *i = 0) {
        while (*i < (*at)->n) {
            const struct setting *t = &(*at)->v[(*i)++];
            bool counts = str_starts(t->key, prefix) && !t->is_null && t->value.n > 0;
            for (const struct settings *front = all; counts && front != *at; front = front->behind) {
                const struct setting *over = settings_find(front, t->key);
                counts = over == NULL || over->is_null;
            }
            if (counts) {
                return t;
            }
        }
    }
    return NULL;
}

static bool passes(const struct settings *s, const char *prefix, enum filter_kind kind,
                   const struct node_meta *n)
{
    struct str p = str_of(prefix);
    bool any = false, included = false;
    const struct settings *at = s;
    const struct setting *t;
    for (size_t i = 0; (t = next_filter(s, p, &at, &i)) != NULL;) {
        bool match = any_matches(t->value, attribute(n, str_slice(t->key, p.n, t->key.n)));
        any = true;
        included |= match;
        if ((kind == FILTER_REQUIRE && !match) || (kind == FILTER_EXCLUDE && match)) {
            return false;
        }
    }
    return kind != FILTER_INCLUDE || !any || included;
}

/* "_name:\"a\" OR rack:\"r1\"": what a family of filters asks for. */
static const char *filter_text(const struct settings *s, struct str prefix, enum filter_kind kind,
                               char out[400])
{
    size_t n = 0;
    out[0] = '\0';
    const struct settings *at = s;
    const struct setting *t;
    for (size_t i = 0; n < 400 && (t = next_filter(s, prefix, &at, &i)) != NULL;) {
        struct str name = str_slice(t->key, prefix.n, t->key.n);
        int k = snprintf(out + n, 400 - n, "%s%.*s:\"%.*s\"",
                         n == 0                   ? ""
                         : kind == FILTER_REQUIRE ? " AND "
                                                  : " OR ",
                         STR_ARG(name), STR_ARG(t->value));
        n += k > 0 ? (size_t)k : 0;
    }
    return out;
}

bool decide_by_filter(struct alloc *a, const struct index_meta *m, const struct alloc_node *n,
                      struct verdicts *all, enum decision *worst)
{
    static const char *const names[] = {"require", "include", "exclude"};
    static const char *const prefixes[2][3] = {
        {"index.routing.allocation.require.", "index.routing.allocation.include.",
         "index.routing.allocation.exclude."},
        {"cluster.routing.allocation.require.", "cluster.routing.allocation.include.",
         "cluster.routing.allocation.exclude."},
    };
    struct settings persistent, of_cluster = cluster_settings(a->b->next, &persistent);
    const struct settings *sources[] = {&m->settings, &of_cluster};
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        for (int k = 0; k < 3; k++) {
            enum filter_kind kind = (enum filter_kind)k;
            const char *prefix = prefixes[i][k];
            char text[400];
            const char *scope = i == 0 ? "index" : "cluster";
            if (!passes(sources[i], prefix, kind, n->node)) {
                return decider_said(a, all, worst, "filter", DECIDE_NO,
                                    "node %s %s setting [%s.routing.allocation.%s%s] filters [%s]",
                                    kind == FILTER_EXCLUDE ? "matches" : "does not match", scope, scope,
                                    names[k], kind == FILTER_EXCLUDE && i == 0 ? "." : "",
                                    all != NULL ? filter_text(sources[i], str_of(prefix), kind, text) : "");
            }
        }
    }
    return decider_said(a, all, worst, "filter", DECIDE_YES, "node passes include/exclude/require filters");
}

/* ---- limits ---- */

bool decide_by_shards_limit(struct alloc *a, const struct index_meta *m, const struct alloc_node *n,
                            bool stays, struct verdicts *all, enum decision *worst)
{
    int64_t of_index = setting_i64(&m->settings, SET_INDEX_ROUTING_ALLOCATION_TOTAL_SHARDS_PER_NODE);
    int64_t of_all = cluster_setting_i64(a->b->next, SET_CLUSTER_ROUTING_ALLOCATION_TOTAL_SHARDS_PER_NODE);
    int64_t more = stays ? 0 : 1;
    if (of_all > 0 && n->shards + more > of_all) {
        return decider_said(a, all, worst, "shards_limit", DECIDE_NO,
                            "too many shards [%u] allocated to this node, cluster setting "
                            "[cluster.routing.allocation.total_shards_per_node=%lld]",
                            n->shards, (long long)of_all);
    }
    if (of_index > 0) {
        balance_count_index(a, cluster_routing(a->b->next, m->name));
        if (n->of_index + more > of_index) {
            return decider_said(a, all, worst, "shards_limit", DECIDE_NO,
                                "too many shards [%u] allocated to this node for index [%.*s], index setting "
                                "[index.routing.allocation.total_shards_per_node=%lld]",
                                n->of_index, STR_ARG(m->name), (long long)of_index);
        }
    }
    if (of_index <= 0 && of_all <= 0) {
        return decider_said(a, all, worst, "shards_limit", DECIDE_YES,
                            "total shard limits are disabled: [index: %lld, cluster: %lld] <= 0",
                            (long long)of_index, (long long)of_all);
    }
    return decider_said(
        a, all, worst, "shards_limit", DECIDE_YES,
        "the shard count [%u] for this node is under the index limit [%lld] and cluster level node "
        "limit [%lld]",
        n->shards, (long long)of_index, (long long)of_all);
}

/* "85%" of the disk used, or "500mb" that must stay free. */
bool disk_beyond(struct str watermark, const struct disk_usage *d)
{
    if (watermark.n > 0 && watermark.p[watermark.n - 1] == '%') {
        double used = 100.0 * (double)(d->total_bytes - d->free_bytes) / (double)d->total_bytes;
        return used >= strtod(watermark.p, NULL);
    }
    int64_t bytes;
    return parse_bytes(watermark, "watermark", &bytes, NULL) == ERR_OK && bytes > 0
           && d->free_bytes < (uint64_t)bytes;
}

bool decide_by_disk(struct alloc *a, const struct shard_copy *c, const struct alloc_node *n, bool stays,
                    struct verdicts *all, enum decision *worst)
{
    const struct cluster_state *s = a->b->next;
    bool enabled = cluster_setting_bool(s, SET_CLUSTER_ROUTING_ALLOCATION_DISK_THRESHOLD_ENABLED);
    bool alone = a->n_nodes == 1;
    if (!enabled || alone || n->disk == NULL || n->disk->total_bytes == 0) {
        return decider_said(a, all, worst, "disk_threshold", DECIDE_YES,
                            !enabled ? "the disk threshold decider is disabled"
                            : alone  ? "there is only a single data node present"
                                     : "disk usages are unavailable");
    }
    struct str low = cluster_setting(s, SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_LOW);
    struct str high = cluster_setting(s, SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_HIGH);
    bool empty = c->primary && c->source == RECOVER_EMPTY_STORE; /* a new primary is better than none */
    struct str mark = stays || empty ? high : low;
    if (disk_beyond(mark, n->disk)) {
        return decider_said(a, all, worst, "disk_threshold", DECIDE_NO,
                            "the node is above the %s watermark cluster setting "
                            "[cluster.routing.allocation.disk.watermark.%s=%.*s]",
                            stays || empty ? "high" : "low", stays || empty ? "high" : "low", STR_ARG(mark));
    }
    return decider_said(a, all, worst, "disk_threshold", DECIDE_YES, "enough disk for shard on node");
}

/* ---- awareness: copies spread over the values of attributes ---- */

/* The words of a list, or of a text with commas. false: there are no more. */
static bool next_word(const struct setting *list, size_t *at, struct str *word)
{
    if (list == NULL || *at >= (list->is_list ? list->n : list->value.n)) {
        return false;
    }
    if (list->is_list) {
        *word = list->items[(*at)++];
        return true;
    }
    size_t end = str_find(list->value, ',', *at);
    end = MIN_OF(end, list->value.n);
    *word = str_trim(str_slice(list->value, *at, end));
    *at = end + 1;
    return true;
}

/* "zone,rack" */
static struct str words_of(const struct setting *list, char out[400])
{
    size_t n = 0;
    struct str word;
    for (size_t at = 0; next_word(list, &at, &word) && n < 400;) {
        int k = snprintf(out + n, 400 - n, "%s%.*s", n > 0 ? "," : "", STR_ARG(word));
        n += k > 0 ? (size_t)k : 0;
    }
    return (struct str){out, MIN_OF(n, (size_t)399)};
}

/* Has one of the first n nodes this value? */
static bool has_value(const struct alloc *a, uint32_t n, struct str name, struct str value)
{
    bool has = false;
    for (uint32_t i = 0; i < n && !has; i++) {
        struct str v = attribute(a->nodes[i].node, name);
        has = v.p != NULL && str_eq(v, value);
    }
    return has;
}

/* How many values of an attribute there are: those of nodes, and those that
 * cluster.routing.allocation.awareness.force.<name>.values names, which nodes may yet come with. */
static uint32_t count_values(struct alloc *a, struct str name)
{
    static const char forced_prefix[] = "cluster.routing.allocation.awareness.force.";
    char key[300];
    uint32_t values = 0;
    for (uint32_t i = 0; i < a->n_nodes; i++) {
        struct str v = attribute(a->nodes[i].node, name);
        values += v.p != NULL && !has_value(a, i, name, v);
    }
    snprintf(key, sizeof(key), "%s%.*s.values", forced_prefix, STR_ARG(name));
    const struct setting *forced = cluster_setting_named(a->b->next, str_of(key));
    struct str v;
    for (size_t at = 0; next_word(forced, &at, &v);) {
        values += v.n > 0 && !has_value(a, a->n_nodes, name, v);
    }
    return values;
}

bool decide_by_awareness(struct alloc *a, const struct index_meta *m, const struct shard_routing *s,
                         const struct shard_copy *c, const struct alloc_node *n, struct verdicts *all,
                         enum decision *worst)
{
    struct settings persistent, set = cluster_settings(a->b->next, &persistent);
    const struct setting *list = setting_find(&set, SET_CLUSTER_ROUTING_ALLOCATION_AWARENESS_ATTRIBUTES);
    char text[400];
    struct str name;
    size_t at = 0;
    if (list == NULL || (list->is_list ? list->n : list->value.n) == 0) {
        return decider_said(a, all, worst, "awareness", DECIDE_YES,
                            "allocation awareness is not enabled, set cluster setting "
                            "[cluster.routing.allocation.awareness.attributes] to enable it");
    }
    while (next_word(list, &at, &name)) {
        struct str value = attribute(n->node, name);
        if (value.p == NULL) {
            const struct str asked = words_of(list, text);
            return decider_said(
                a, all, worst, "awareness", DECIDE_NO,
                "node does not contain the awareness attribute [%.*s]; required attributes cluster "
                "setting [cluster.routing.allocation.awareness.attributes=%.*s]",
                STR_ARG(name), STR_ARG(asked));
        }
        uint32_t values = count_values(a, name), here = 0;
        for (uint32_t k = 0; k < s->n; k++) {
            const struct shard_copy *x = &s->copies[k];
            struct str where = x->state == COPY_RELOCATING ? x->target_node : x->node;
            const struct alloc_node *xn = x != c && where.p != NULL ? alloc_node_of(a, where) : NULL;
            here +=
                xn != NULL && attribute(xn->node, name).p != NULL && str_eq(attribute(xn->node, name), value);
        }
        uint32_t copies = m->n_replicas + 1, most = values == 0 ? copies : (copies + values - 1) / values;
        if (here + 1 > most) {
            return decider_said(
                a, all, worst, "awareness", DECIDE_NO,
                "there are [%u] copies of this shard and [%u] values for attribute [%.*s], so there may be "
                "at most [%u] copies of this shard allocated to nodes with each value, but (including this "
                "copy) there would be [%u] copies allocated to nodes with [node.attr.%.*s: %.*s]",
                copies, values, STR_ARG(name), most, here + 1, STR_ARG(name), STR_ARG(value));
        }
    }
    return decider_said(a, all, worst, "awareness", DECIDE_YES,
                        "node meets all awareness attribute requirements");
}
