#include "coordinator/rest/nodes.h"

#include "coordinator/core/node_calls.h"

/* ---- roles ------------------------------------------------------------------------------------------- */

void nodes_write_roles(struct jsonw *w, unsigned set)
{
    jw_arr(w);
    for (size_t i = 0; i < NODE_ROLES_N; i++) {
        if ((set >> i & 1) != 0) {
            jw_z(w, node_role_name((enum node_role)i));
        }
    }
    jw_arr_end(w);
}

/* ---- which nodes ------------------------------------------------------------------------------------- */

void nodes_report(const struct rest *r, struct node_report *out)
{
    r->co->o.report(r->co->o.self, out);
}

static const struct node_meta *nodes_own(const struct rest *r)
{
    return cluster_node(r->state, r->co->o.node_id);
}

enum err nodes_metrics(struct rest *r, struct str list, const char *const *names, size_t n, bool strict,
                       unsigned *out)
{
    struct str rest = list;
    bool all = list.n == 0, single = str_find(list, ',', 0) == SIZE_MAX;
    *out = 0;
    while (rest.p != NULL && rest.n > 0) {
        struct str name = str_cut(rest, ',', &rest);
        size_t i = 0;
        if (str_is(name, "_all")) {
            all = true;
            continue;
        }
        while (i < n && !str_is(name, names[i])) {
            i++;
        }
        if (i == n && strict) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                           "request [%.*s] contains unrecognized metric: [%.*s]", STR_ARG(rest_shown_path(r)),
                           STR_ARG(name));
        }
        *out |= i < n ? 1U << i : 0U;
    }
    if (all && strict && !single) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "request [%.*s] contains _all and individual metrics [%.*s]",
                       STR_ARG(rest_shown_path(r)), STR_ARG(list));
    }
    *out = all ? (1U << n) - 1 : *out;
    return ERR_OK;
}

/* ---- parts of answers -------------------------------------------------------------------------------- */

static void json_done(struct node_calls *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    node_calls_write_head(c, &w);
    jw_kstr(&w, "cluster_name", r->co->o.cluster_name);
    jw_kobj(&w, "nodes");
    for (uint32_t i = 0; i < c->n; i++) {
        if (!err_is(&c->v[i].error)) {
            jw_key(&w, c->v[i].node->id);
            jw_raw(&w, *(const struct str *)c->v[i].answer);
        }
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

void nodes_ask(struct rest *r, const struct message *message, struct str nodes, const void *question,
               int64_t timeout_ms, void (*done)(struct node_calls *c), void *user)
{
    bool *chosen = node_calls_choose(&r->env, nodes);
    if (chosen == NULL || !node_calls_start(&r->env, message, chosen, question, timeout_ms, done, user)) {
        rest_no_memory(r);
    }
}

void nodes_ask_json(struct rest *r, const struct message *message, struct str nodes, const void *question,
                    int64_t timeout_ms)
{
    nodes_ask(r, message, nodes, question, timeout_ms, json_done, NULL);
}

void nodes_write_attributes(struct jsonw *w, const struct rest *r)
{
    const struct node_meta *own = nodes_own(r);
    if (own == NULL || own->n_attrs == 0) {
        return;
    }
    jw_kobj(w, "attributes");
    for (uint32_t i = 0; i < own->n_attrs; i++) {
        jw_key(w, own->attrs[i].name);
        jw_str(w, own->attrs[i].value);
    }
    jw_obj_end(w);
}

struct str nodes_port(struct str address)
{
    size_t at = address.n;
    while (at > 0 && address.p[at - 1] != ':') {
        at--;
    }
    return str_slice(address, at, address.n);
}

/* Sizes are Elasticsearch's, from the number of cores (ThreadPool.java): what clients compare with is
 * the same. Those of pools that there are come from the pools. */
void nodes_pools(const struct node_report *n, struct pool_row out[POOL_ROWS])
{
    const unsigned cores = MAX_OF(n->cores, 1U), half = (cores + 1) / 2, half5 = MIN_OF(half, 5U),
                   half10 = MIN_OF(half, 10U);
    const unsigned generic = MIN_OF(MAX_OF(4 * cores, 128U), 512U);
    const struct pool_row rows[POOL_ROWS] = {
        {"analyze", "fixed", 0, 1, 16, NULL, {0}},
        {"fetch_shard_started", "scaling", 1, 2 * cores, -1, "5m", {0}},
        {"fetch_shard_store", "scaling", 1, 2 * cores, -1, "5m", {0}},
        {"flush", "scaling", 1, half5, -1, "5m", {0}},
        {"force_merge", "fixed", 0, 1, -1, NULL, {0}},
        {"generic", "scaling", 4, generic, -1, "30s", {0}},
        {"get", "fixed", 0, cores, 1000, NULL, {0}},
        {"listener", "fixed", 0, half10, -1, NULL, {0}},
        {"management", "scaling", 1, 5, -1, "5m", {0}},
        {"refresh", "scaling", 1, half10, -1, "5m", {0}},
        {"search", "fixed_auto_queue_size", 0, 0, 0, NULL, {0}},
        {"search_throttled", "fixed_auto_queue_size", 0, 1, 100, NULL, {0}},
        {"snapshot", "scaling", 1, half5, -1, "5m", {0}},
        {"system_read", "fixed", 0, half5, 2000, NULL, {0}},
        {"system_write", "fixed", 0, half5, 1000, NULL, {0}},
        {"warmer", "scaling", 1, half5, -1, "5m", {0}},
        {"write", "fixed", 0, 0, 0, NULL, {0}},
    };
    memcpy(out, rows, sizeof(rows));
    for (size_t i = 0; i < POOL_ROWS; i++) {
        for (unsigned k = 0; k < n->n_pools; k++) {
            const struct pool_report *p = &n->pools[k];
            if (strcmp(p->name, out[i].name) == 0) {
                out[i].stats = p->stats;
                out[i].max = p->threads_max;
                out[i].core = MIN_OF(out[i].core, out[i].max);
                out[i].queue_max = p->queue_max;
            }
        }
    }
}

const struct plugin_row nodes_plugins[PLUGIN_ROWS] = {
    {"analysis-ik", "IK Analyzer for Elasticsearch", "org.elasticsearch.plugin.analysis.ik.AnalysisIkPlugin"},
    {"analysis-pinyin", "Pinyin Analysis for Elasticsearch",
     "org.elasticsearch.plugin.analysis.pinyin.AnalysisPinyinPlugin"},
};

void nodes_write_plugins(struct jsonw *w)
{
    jw_karr(w, "plugins");
    for (size_t i = 0; i < PLUGIN_ROWS; i++) {
        jw_obj(w);
        jw_kz(w, "name", nodes_plugins[i].name);
        jw_kz(w, "version", "7.12.1");
        jw_kz(w, "elasticsearch_version", "7.12.1");
        jw_kz(w, "java_version", "1.8");
        jw_kz(w, "description", nodes_plugins[i].description);
        jw_kz(w, "classname", nodes_plugins[i].class_name);
        jw_karr(w, "extended_plugins");
        jw_arr_end(w);
        jw_kbool(w, "has_native_controller", false);
        jw_kbool(w, "licensed", false);
        jw_kz(w, "type", "isolated");
        jw_obj_end(w);
    }
    jw_arr_end(w);
}
