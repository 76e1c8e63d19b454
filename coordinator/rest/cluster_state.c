/* GET /_cluster/state: the applied state, or parts of it. */
#include "coordinator/rest/cluster_state.h"

#include "common/cluster/blocks.h"
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/stored_script.h"

enum {
    PART_VERSION = 1,
    PART_MASTER = 2,
    PART_NODES = 4,
    PART_METADATA = 8,
    PART_BLOCKS = 16,
    PART_ROUTING = 32,
    PART_ROUTING_NODES = 64,
    PART_ALL = 127
};

unsigned state_parts(struct str metrics)
{
    static const struct {
        const char *name;
        unsigned part;
    } names[] = {{"_all", PART_ALL},
                 {"version", PART_VERSION},
                 {"master_node", PART_MASTER},
                 {"nodes", PART_NODES},
                 {"metadata", PART_METADATA},
                 {"blocks", PART_BLOCKS},
                 {"routing_table", PART_ROUTING},
                 {"routing_nodes", PART_ROUTING_NODES}};
    struct str rest = metrics;
    unsigned parts = metrics.p == NULL ? PART_ALL : 0;
    while (rest.p != NULL) {
        struct str one = str_cut(rest, ',', &rest);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            parts |= str_is(one, names[i].name) ? names[i].part : 0;
        }
    }
    return parts;
}

/* Those of all indices, also of those that were not asked for. */
static void write_blocks(struct jsonw *w, const struct cluster_state *s)
{
    struct buf one;
    struct jsonw in;
    bool any = false;
    jw_kobj(w, "blocks");
    jsonw_start(&in, &one);
    if (blocks_write(s, NULL, &in)) {
        jw_k(w, "global");
        jw_raw(w, buf_view(&one));
    }
    for (uint32_t i = 0; i < s->n_indices; i++) {
        buf_reset(&one);
        jsonw_init(&in, &one, false);
        if (!blocks_write(s, s->indices[i], &in)) {
            continue;
        }
        if (!any) {
            jw_kobj(w, "indices");
            any = true;
        }
        jw_key(w, s->indices[i]->name);
        jw_raw(w, buf_view(&one));
    }
    if (any) {
        jw_obj_end(w);
    }
    buf_fini(&one);
    jw_obj_end(w);
}

static void write_nodes(struct jsonw *w, const struct nodes_part *p)
{
    jw_kobj(w, "nodes");
    for (uint32_t i = 0; p != NULL && i < p->n; i++) {
        const struct node_meta *n = &p->v[i];
        jw_key(w, n->id);
        jw_obj(w);
        jw_kstr(w, "name", n->name);
        jw_kstr(w, "ephemeral_id", n->ephemeral_id);
        jw_kstr(w, "transport_address", n->transport_address);
        jw_kobj(w, "attributes");
        for (uint32_t k = 0; k < n->n_attrs; k++) {
            jw_key(w, n->attrs[k].name);
            jw_str(w, n->attrs[k].value);
        }
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* ---- metadata ---------------------------------------------------------------------------------------- */

static void write_in_sync(struct jsonw *w, const struct index_meta *m)
{
    jw_kobj(w, "in_sync_allocations");
    for (uint32_t i = 0; i < m->n_shards; i++) {
        state_shard_key(w, i);
        jw_arr(w);
        for (uint32_t k = 0; m->in_sync != NULL && k < m->in_sync[i].n; k++) {
            jw_str(w, m->in_sync[i].v[k]);
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static void write_meta(struct jsonw *w, const struct index_meta *m, bool flat)
{
    jw_key(w, m->name);
    jw_obj(w);
    jw_ki64(w, "version", (int64_t)m->version);
    jw_ki64(w, "mapping_version", (int64_t)m->mapping_version);
    jw_ki64(w, "settings_version", (int64_t)m->settings_version);
    jw_ki64(w, "aliases_version", (int64_t)m->aliases_version);
    jw_ki64(w, "routing_num_shards", m->routing_shards);
    jw_kz(w, "state", m->closed ? "close" : "open");
    jw_k(w, "settings");
    settings_write(&m->settings, w, flat);
    jw_kobj(w, "mappings");
    if (m->mapping.n > 0) {
        jw_key(w, index_type(m));
        jw_raw(w, m->mapping);
    }
    jw_obj_end(w);
    jw_karr(w, "aliases");
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        jw_str(w, m->aliases[i].name);
    }
    jw_arr_end(w);
    jw_kobj(w, "primary_terms");
    for (uint32_t i = 0; i < m->n_shards; i++) {
        state_shard_key(w, i);
        jw_i64(w, (int64_t)m->primary_terms[i]);
    }
    jw_obj_end(w);
    write_in_sync(w, m);
    jw_kobj(w, "rollover_info");
    jw_obj_end(w);
    jw_kbool(w, "system", false);
    jw_kobj(w, "timestamp_range");
    jw_kbool(w, "unknown", true);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_ids(struct jsonw *w, const char *key, const struct str_set *ids, struct str otherwise)
{
    jw_karr(w, key);
    for (uint32_t i = 0; ids != NULL && i < ids->n; i++) {
        jw_str(w, ids->v[i]);
    }
    if (ids == NULL || ids->n == 0) {
        jw_str(w, otherwise);
    }
    jw_arr_end(w);
}

/* Without elections the master votes for itself. */
static void write_coordination(struct jsonw *w, const struct cluster_state *s)
{
    const struct coordination_part *c = s->coordination;
    struct str self = s->nodes != NULL ? s->nodes->master : STR("");
    jw_kobj(w, "cluster_coordination");
    jw_ki64(w, "term", (int64_t)(c != NULL ? c->term : MAX_OF(s->term, (uint64_t)1)));
    write_ids(w, "last_committed_config", c != NULL ? &c->committed : NULL, self);
    write_ids(w, "last_accepted_config", c != NULL ? &c->accepted : NULL, self);
    jw_karr(w, "voting_config_exclusions");
    for (uint32_t i = 0; c != NULL && i < c->n_exclusions; i++) {
        jw_obj(w);
        jw_kstr(w, "node_id", c->exclusions[i].node_id);
        jw_kstr(w, "node_name", c->exclusions[i].node_name);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_pipelines(struct jsonw *w, const struct pipelines_part *p)
{
    jw_k(w, "ingest");
    jw_obj(w);
    jw_k(w, "pipeline");
    jw_arr(w);
    for (uint32_t i = 0; i < p->n; i++) {
        jw_obj(w);
        jw_kstr(w, "id", p->v[i].id);
        jw_k(w, "config");
        jw_raw(w, p->v[i].body);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_scripts(struct jsonw *w, const struct scripts_part *p)
{
    jw_kobj(w, "stored_scripts");
    for (uint32_t i = 0; i < p->n; i++) {
        jw_key(w, p->v[i].id);
        stored_script_write(w, &p->v[i]);
    }
    jw_obj_end(w);
}

/* `all`: no index is named; then there is also what belongs to none. */
static void write_metadata(struct jsonw *w, const struct cluster_state *s, const struct index_target *t,
                           uint32_t n, bool flat, bool all)
{
    jw_kobj(w, "metadata");
    jw_kstr(w, "cluster_uuid", s->cluster_uuid);
    jw_kbool(w, "cluster_uuid_committed", all);
    write_coordination(w, s);
    jw_kobj(w, "templates");
    for (uint32_t i = 0; all && i < s->n_templates; i++) {
        if (s->templates[i]->kind == TEMPLATE_LEGACY) {
            jw_key(w, s->templates[i]->name);
            jw_raw(w, s->templates[i]->body);
        }
    }
    jw_obj_end(w);
    jw_kobj(w, "indices");
    for (uint32_t i = 0; i < n; i++) {
        write_meta(w, t[i].meta, flat);
    }
    jw_obj_end(w);
    jw_kobj(w, "index-graveyard");
    jw_karr(w, "tombstones");
    jw_arr_end(w);
    jw_obj_end(w);
    if (all && s->pipelines != NULL) {
        write_pipelines(w, s->pipelines);
    }
    if (all && s->scripts != NULL) {
        write_scripts(w, s->scripts);
    }
    jw_obj_end(w);
}

/* ---- the request ------------------------------------------------------------------------------------- */

static void write_state(struct rest *r, unsigned parts, const struct index_target *t, uint32_t n, bool flat,
                        struct jsonw *w)
{
    const struct cluster_state *s = r->state;
    struct str index = rest_path(r, "index");
    bool all = index.n == 0 || str_is(index, "_all");
    jw_kstr(w, "cluster_uuid", s->cluster_uuid);
    if ((parts & PART_VERSION) != 0) {
        jw_ki64(w, "version", (int64_t)s->version);
        jw_kstr(w, "state_uuid", s->state_uuid);
    }
    if ((parts & PART_MASTER) != 0 && s->nodes != NULL) {
        jw_k(w, "master_node");
        if (s->nodes->master.p != NULL) {
            jw_str(w, s->nodes->master);
        } else {
            jw_null(w);
        }
    }
    if ((parts & PART_BLOCKS) != 0) {
        write_blocks(w, s);
    }
    if ((parts & PART_NODES) != 0) {
        write_nodes(w, s->nodes);
    }
    if ((parts & PART_METADATA) != 0) {
        write_metadata(w, s, t, n, flat, all);
    }
    if ((parts & PART_ROUTING) != 0) {
        state_write_routing(r, w, t, n);
    }
    if ((parts & PART_ROUTING_NODES) != 0) {
        state_write_routing_nodes(r, w, t, n);
    }
}

enum err state_write_all(struct rest *r, unsigned parts, bool flat, struct jsonw *w)
{
    struct expand_options o = {true, true, EXPAND_OPEN | EXPAND_CLOSED | EXPAND_HIDDEN, false, false, 0};
    const struct index_target *t;
    uint32_t n;
    enum err e =
        resolve_indices(r->state, STR_NULL, &o, clock_wall_ms(r->co->o.clock), r->arena, &t, &n, &r->em);
    if (e != ERR_OK) {
        return e;
    }
    jw_obj(w);
    write_state(r, parts, t, n, flat, w);
    jw_obj_end(w);
    return ERR_OK;
}

struct state_rq {
    struct rest *r;
    unsigned parts;
    bool flat, local, awaits;
    uint64_t version; /* awaited */
    int64_t master_timeout_ms, deadline_ms;
    struct expand_options options;
    struct str index;
    struct state_wait wait;
};

static void cluster_state_answer(struct state_rq *q, bool late)
{
    struct rest *r = q->r;
    const struct index_target *t;
    uint32_t n;
    struct buf b;
    struct jsonw w;
    const bool filters = (q->parts & state_parts(STR("metadata,routing_table,routing_nodes"))) != 0;
    const struct expand_options none = {true, true, EXPAND_OPEN, false, false, 0};
    if (resolve_indices(r->state, filters ? q->index : STR_NULL, filters ? &q->options : &none,
                        clock_wall_ms(r->co->o.clock), r->arena, &t, &n, &r->em)
        != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    if (q->awaits) {
        jw_kbool(&w, "wait_for_timed_out", late);
    }
    jw_kstr(&w, "cluster_name", r->state->cluster_name);
    if (!late) {
        write_state(r, q->parts, t, n, q->flat, &w);
    }
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

static void cluster_state_look(void *arg)
{
    struct state_rq *q = arg;
    struct rest *r = q->r;
    uint64_t seen = state_waits_seen(&r->co->state_waits);
    int64_t left = q->deadline_ms - clock_mono_ms(r->co->o.clock);
    cluster_state_unref(r->state);
    r->state = r->co->o.state(r->co->o.self);
    if (!q->awaits || r->state->version >= q->version) {
        cluster_state_answer(q, false);
    } else if (left <= 0 || delays_stopped(r->co->delays)) {
        cluster_state_answer(q, true);
    } else {
        state_waits_add(&r->co->state_waits, &q->wait, seen, left, cluster_state_look, q);
    }
}

static void cluster_state_asked(struct master_view *v)
{
    cluster_state_look(v->user);
}

static enum err read_awaited(struct state_rq *q)
{
    struct rest *r = q->r;
    int64_t version, timeout;
    q->awaits = rest_has(r, "wait_for_metadata_version");
    enum err e = rest_long(r, "wait_for_metadata_version", 1, &version);
    e = e == ERR_OK ? rest_time(r, "wait_for_timeout", 60000, &timeout) : e;
    if (e == ERR_OK && version < 1) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "provided waitForMetadataVersion should be >= 1, but instead is [%lld]",
                    (long long)version);
    }
    q->version = e == ERR_OK ? (uint64_t)version : 0;
    q->deadline_ms = clock_mono_ms(r->co->o.clock) + (e == ERR_OK ? timeout : 0);
    return e;
}

static void get_state(struct rest *r)
{
    struct state_rq *q = ARENA_NEW(r->arena, struct state_rq);
    if (q == NULL) {
        rest_no_memory(r);
        return;
    }
    q->r = r;
    q->index = rest_path(r, "index");
    q->parts = state_parts(rest_param(r, "metric"));
    q->options = (struct expand_options){true, true, EXPAND_OPEN, false, false, 0};
    enum err e = rest_bool(r, "flat_settings", false, &q->flat);
    e = e == ERR_OK ? rest_bool(r, "local", false, &q->local) : e;
    e = e == ERR_OK ? rest_time(r, "master_timeout", MASTER_TIMEOUT_MS, &q->master_timeout_ms) : e;
    e = e == ERR_OK ? read_awaited(q) : e;
    e = e == ERR_OK ? rest_index_options(r, &q->options) : e;
    if (q->index.n == 0 || str_is(q->index, "_all")) { /* not a filter: everything */
        q->options =
            (struct expand_options){true, true, EXPAND_OPEN | EXPAND_CLOSED | EXPAND_HIDDEN, false, false, 0};
        q->index = STR_NULL;
    }
    if (rest_goes_on(r, e)) {
        rest_ask_master(r, q->local, q->master_timeout_ms, cluster_state_asked, q);
    }
}

const struct route routes_cluster_state[] = {
    {M_GET, "/_cluster/state", get_state},
    {M_GET, "/_cluster/state/{metric}", get_state},
    {M_GET, "/_cluster/state/{metric}/{index}", get_state},
};
const size_t routes_cluster_state_n = ARRAY_LEN(routes_cluster_state);
