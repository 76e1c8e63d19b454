/* _search_shards: where a search would go. */
#include "common/cluster/health.h"
#include "coordinator/core/ask.h"
#include "coordinator/core/copies.h"
#include "coordinator/rest/search.h"

/* Does the expression name the alias, by itself or with a wildcard? */
static bool names_alias(struct str expression, struct str alias)
{
    bool named = false;
    while (expression.p != NULL && expression.n > 0) {
        struct str part = str_trim(str_cut(expression, ',', &expression));
        if (part.n > 1 && part.p[0] == '-') {
            named = named && !str_glob(str_mk(part.p + 1, part.n - 1), alias);
        } else {
            named = named || str_glob(part, alias);
        }
    }
    return named;
}

static void write_aliases(struct jsonw *w, const struct index_meta *m, struct str expression)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        if (!names_alias(expression, m->aliases[i].name)) {
            continue;
        }
        if (!any) {
            jw_karr(w, "aliases");
            any = true;
        }
        jw_str(w, m->aliases[i].name);
    }
    if (any) {
        jw_arr_end(w);
    }
}

/* The filters of the aliases, of which any has to match. */
static void write_filters(struct jsonw *w, const struct index_target *t)
{
    if (t->n_filters == 0) {
        return;
    }
    jw_k(w, "filter");
    if (t->n_filters == 1) {
        jw_raw(w, t->filters[0]);
        return;
    }
    jw_obj(w);
    jw_kobj(w, "bool");
    jw_karr(w, "should");
    for (uint32_t i = 0; i < t->n_filters; i++) {
        jw_raw(w, t->filters[i]);
    }
    jw_arr_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_indices(struct jsonw *w, const struct index_target *t, uint32_t n, struct str expression)
{
    jw_kobj(w, "indices");
    for (uint32_t i = 0; i < n; i++) {
        jw_key(w, t[i].meta->name);
        jw_obj(w);
        write_aliases(w, t[i].meta, expression);
        write_filters(w, &t[i]);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

static void write_copy(struct jsonw *w, const struct index_meta *m, uint32_t shard,
                       const struct shard_copy *c)
{
    jw_obj(w);
    jw_kz(w, "state", copy_state_name(c->state));
    jw_kbool(w, "primary", c->primary);
    jw_kstr(w, "node", c->node);
    jw_k(w, "relocating_node");
    if (c->state == COPY_RELOCATING) {
        jw_str(w, c->target_node);
    } else {
        jw_null(w);
    }
    jw_ki64(w, "shard", shard);
    jw_kstr(w, "index", m->name);
    jw_kobj(w, "allocation_id");
    jw_kstr(w, "id", c->allocation_id);
    if (c->state == COPY_RELOCATING) {
        jw_kstr(w, "relocation_id", c->target_id);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

struct search_shards_rq {
    struct rest *r;
    struct str_set nodes; /* that have one of the copies */
    enum err error;
};

static void add_node(struct search_shards_rq *q, struct str id)
{
    if (!str_set_has(&q->nodes, id)) {
        q->nodes = str_set_with(&q->nodes, id, q->r->arena);
        q->error = q->nodes.v == NULL ? err_no_memory(&q->r->em) : q->error;
    }
}

/* The copies that a search would ask, the first one first; `turn` as for a search. */
static void write_shard(struct search_shards_rq *q, struct jsonw *w, const struct index_meta *m,
                        uint32_t shard, const struct copies_how *how)
{
    const struct cluster_state *s = q->r->state;
    const struct index_routing *routing = cluster_routing(s, m->name);
    struct copies order = {.n = 0};
    if (routing != NULL && q->error == ERR_OK) {
        q->error = copies_in_order(&order, s, routing, shard, how, q->r->arena, &q->r->em);
    }
    jw_arr(w);
    uint32_t n = routing != NULL ? order.n_active : 1;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < health_copies(s, m, shard); k++) {
            struct shard_copy c = health_copy(s, m, shard, k);
            if (copy_active(&c) && (routing == NULL || str_eq(c.node, order.nodes[i]))) {
                write_copy(w, m, shard, &c);
                add_node(q, c.node);
            }
        }
    }
    jw_arr_end(w);
}

static void write_shards(struct search_shards_rq *q, struct jsonw *w, const struct index_target *t,
                         uint32_t n)
{
    struct str routing = rest_param(q->r, "routing"), preference = rest_param(q->r, "preference");
    struct copies_how how = {q->r->co->o.node_id, preference, ask_turn(q->r->co)};
    jw_arr(w);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t s = 0; s < t[i].meta->n_shards; s++) {
            if (search_goes_to(&t[i], s, routing) && copies_wanted(preference, s)) {
                write_shard(q, w, t[i].meta, s, &how);
            }
        }
    }
    jw_arr_end(w);
}

static void write_nodes(const struct search_shards_rq *q, struct jsonw *w)
{
    jw_obj(w);
    for (uint32_t i = 0; i < q->nodes.n; i++) {
        const struct node_meta *m = cluster_node(q->r->state, q->nodes.v[i]);
        if (m == NULL) {
            continue;
        }
        jw_key(w, m->id);
        jw_obj(w);
        jw_kstr(w, "name", m->name);
        jw_kstr(w, "ephemeral_id", m->ephemeral_id);
        jw_kstr(w, "transport_address", m->transport_address);
        jw_kobj(w, "attributes");
        for (uint32_t k = 0; k < m->n_attrs; k++) {
            jw_key(w, m->attrs[k].name);
            jw_str(w, m->attrs[k].value);
        }
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

static void search_shards_send(struct search_shards_rq *q, const struct index_target *t, uint32_t n)
{
    struct buf shards, b;
    struct jsonw w;
    buf_init(&shards, NULL, BUF_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &shards, false);
    write_shards(q, &w, t, n);
    if (q->error != ERR_OK) {
        buf_fini(&shards);
        rest_fail(q->r, NULL);
        return;
    }
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_k(&w, "nodes");
    write_nodes(q, &w);
    write_indices(&w, t, n, rest_param(q->r, "index"));
    jw_k(&w, "shards");
    jw_raw(&w, buf_view(&shards));
    jw_obj_end(&w);
    buf_fini(&shards);
    rest_send(q->r, 200, &b);
}

static void search_shards(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_SEARCH;
    o.ignore_unavailable = true;
    const struct index_target *t;
    uint32_t n;
    rest_accept(r, "routing");
    rest_accept(r, "preference");
    o.unblocked = 1U << BLOCK_METADATA_READ;
    enum err e = rest_check_bool(r, "local");
    e = e == ERR_OK ? rest_index_options(r, &o) : e;
    if (!rest_targets(r, e, &o, &t, &n)) {
        return;
    }
    struct search_shards_rq q = {.r = r};
    search_shards_send(&q, t, n);
}

const struct route routes_search_shards[] = {
    {M_GET | M_POST, "/_search_shards", search_shards},
    {M_GET | M_POST, "/{index}/_search_shards", search_shards},
};
const size_t routes_search_shards_n = ARRAY_LEN(routes_search_shards);
