/* _search_shards: where a search would go. */
#include "coordinator/copies.h"
#include "coordinator/search.h"

static void write_indices(struct jsonw *w, const struct index_target *t, uint32_t n)
{
    jw_k(w, "indices");
    jw_obj(w);
    for (uint32_t i = 0; i < n; i++) {
        jw_key(w, t[i].meta->name);
        jw_obj(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* A copy here is the only one, and it is started. */
static void write_shard(struct jsonw *w, const struct rest *r, const struct index_meta *m, uint32_t shard)
{
    jw_arr(w);
    jw_obj(w);
    jw_kz(w, "state", "STARTED");
    jw_kbool(w, "primary", true);
    jw_kstr(w, "node", r->co->o.node_id);
    jw_k(w, "relocating_node");
    jw_null(w);
    jw_ki64(w, "shard", shard);
    jw_kstr(w, "index", m->name);
    jw_k(w, "allocation_id");
    jw_obj(w);
    jw_kstr(w, "id", m->uuid);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_arr_end(w);
}

static void write_answer(struct jsonw *w, struct rest *r, const struct index_target *t, uint32_t n)
{
    struct str routing = rest_param(r, "routing"), preference = rest_param(r, "preference");
    jw_obj(w);
    jw_k(w, "nodes");
    jw_obj(w);
    jw_key(w, r->co->o.node_id);
    jw_obj(w);
    jw_kstr(w, "name", r->co->o.node_name);
    jw_kstr(w, "ephemeral_id", r->co->o.node_id);
    jw_k(w, "attributes");
    jw_obj(w);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
    write_indices(w, t, n);
    jw_k(w, "shards");
    jw_arr(w);
    for (uint32_t i = 0; i < n; i++) {
        struct str route = routing.n > 0 ? routing : t[i].search_routing;
        for (uint32_t s = 0; s < t[i].meta->n_shards; s++) {
            if (search_routed_here(t[i].meta, s, route) && copies_wanted(preference, s)) {
                write_shard(w, r, t[i].meta, s);
            }
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void search_shards(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_SEARCH;
    const struct index_target *t;
    uint32_t n;
    struct buf b;
    struct jsonw w;
    rest_accept(r, "local");
    rest_accept(r, "routing");
    rest_accept(r, "preference");
    o.unblocked = 1U << BLOCK_METADATA_READ;
    enum err e = rest_index_options(r, &o);
    if (e == ERR_OK) {
        e = resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock), r->arena, &t,
                            &n, &r->em);
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    write_answer(&w, r, t, n);
    rest_send(r, 200, &b);
}

const struct route routes_search_shards[] = {
    {M_GET | M_POST, "/_search_shards", search_shards},
    {M_GET | M_POST, "/{index}/_search_shards", search_shards},
};
const size_t routes_search_shards_n = ARRAY_LEN(routes_search_shards);
