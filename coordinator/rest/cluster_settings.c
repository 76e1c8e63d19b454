/* The cluster's settings, and its state in outline. */
#include "coordinator/rest/meta.h"

#include "common/cluster/setting_registry.h"

static const struct settings *settings_in(const struct settings_part *p)
{
    static const struct settings none = {0};
    return p != NULL ? &p->settings : &none;
}

/* ---- GET, PUT /_cluster/settings ----------------------------------------------------------------------- */

static enum err write_defaults(struct rest *r, bool flat, struct jsonw *w)
{
    struct settings d;
    const struct settings *persistent = settings_in(r->state->persistent),
                          *transient = settings_in(r->state->transient);
    settings_init(&d, r->arena);
    bool ok = settings_put_defaults(&setting_registry_cluster, persistent, transient, &d);
    const struct settings *own = r->co->o.node_settings;
    for (size_t i = 0; ok && i < own->n; i++) { /* what the node was started with is a default here */
        const struct setting *s = &own->v[i];
        bool over = settings_find(persistent, s->key) != NULL || settings_find(transient, s->key) != NULL;
        ok = over || s->is_null
             || (s->is_list ? settings_put_list(&d, s->key, s->items, s->n)
                            : settings_put(&d, s->key, s->value));
    }
    if (!ok) {
        return err_no_memory(&r->em);
    }
    jw_k(w, "defaults");
    settings_write(&d, w, flat);
    return ERR_OK;
}

static void get_settings(struct rest *r)
{
    bool flat, defaults;
    struct buf b;
    struct jsonw w;
    rest_accept(r, "local");
    rest_accept(r, "master_timeout");
    rest_accept(r, "timeout");
    enum err e = rest_bool(r, "flat_settings", false, &flat);
    e = e == ERR_OK ? rest_bool(r, "include_defaults", false, &defaults) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_k(&w, "persistent");
    settings_write(settings_in(r->state->persistent), &w, flat);
    jw_k(&w, "transient");
    settings_write(settings_in(r->state->transient), &w, flat);
    e = defaults ? write_defaults(r, flat, &w) : ERR_OK;
    jw_obj_end(&w);
    if (e != ERR_OK) {
        buf_fini(&b);
        rest_fail(r, NULL);
        return;
    }
    rest_send(r, 200, &b);
}

static void put_answer(struct rest *r, struct meta_request *rq)
{
    struct buf b;
    if (rq->error.n > 0) {
        rest_fail(r, &rq->error);
        rest_meta_free(rq);
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, rq->response);
    rest_meta_free(rq);
    rest_send(r, 200, &b);
}

static enum err check_body(struct rest *r, const struct json *body)
{
    const struct json *p = json_get(body, "persistent"), *t = json_get(body, "transient");
    if ((p != NULL && p->type != JSON_OBJECT) || (t != NULL && t->type != JSON_OBJECT)) {
        return err_set(&r->em, ERR_CLASS_CAST, "settings must be an object");
    }
    if ((p == NULL || p->n == 0) && (t == NULL || t->n == 0)) {
        return err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no settings to update;");
    }
    return ERR_OK;
}

static void put_settings(struct rest *r)
{
    const struct json *body;
    int64_t timeout_ms;
    bool flat;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_bool(r, "flat_settings", false, &flat) : e;
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    e = e == ERR_OK ? check_body(r, body) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_CLUSTER_SETTINGS, NULL, 0) : NULL;
    if (rq != NULL) {
        rq->body = *body;
        rq->flat = flat;
        rq->timeout_ms = timeout_ms;
        rest_meta_then(r, rq, put_answer);
    }
}

/* ---- GET /_cluster/state ------------------------------------------------------------------------------- */

enum {
    PART_VERSION = 1,
    PART_MASTER = 2,
    PART_NODES = 4,
    PART_METADATA = 8,
    PART_BLOCKS = 16,
    PART_ROUTING = 32,
    PART_ALL = 63
};

static unsigned wanted_parts(struct rest *r)
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
                 {"routing_nodes", PART_ROUTING}};
    struct str text = rest_param(r, "metric"), rest = text;
    unsigned parts = text.p == NULL ? PART_ALL : 0;
    while (rest.p != NULL) {
        struct str one = str_cut(rest, ',', &rest);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            parts |= str_is(one, names[i].name) ? names[i].part : 0;
        }
    }
    return parts;
}

static void write_blocks(struct jsonw *w, const struct cluster_state *s, const struct index_target *t,
                         uint32_t n)
{
    struct buf one;
    struct jsonw in;
    bool any = false;
    jw_k(w, "blocks");
    jw_obj(w);
    buf_init(&one, NULL, BUF_UNLIMITED);
    jsonw_init(&in, &one, false);
    if (blocks_write(s, NULL, &in)) {
        jw_k(w, "global");
        jw_raw(w, buf_view(&one));
    }
    for (uint32_t i = 0; i < n; i++) {
        buf_reset(&one);
        jsonw_init(&in, &one, false);
        if (!blocks_write(s, t[i].meta, &in)) {
            continue;
        }
        if (!any) {
            jw_k(w, "indices");
            jw_obj(w);
            any = true;
        }
        jw_key(w, t[i].meta->name);
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
    jw_k(w, "nodes");
    jw_obj(w);
    for (uint32_t i = 0; p != NULL && i < p->n; i++) {
        const struct node_meta *n = &p->v[i];
        jw_key(w, n->id);
        jw_obj(w);
        jw_kstr(w, "name", n->name);
        jw_kstr(w, "ephemeral_id", n->ephemeral_id);
        jw_kstr(w, "transport_address", n->transport_address);
        jw_k(w, "attributes");
        jw_obj(w);
        jw_obj_end(w);
        jw_obj_end(w);
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
    jw_k(w, "mappings");
    jw_obj(w);
    if (!str_is(m->mapping, "{}")) {
        jw_k(w, "_doc");
        jw_raw(w, m->mapping);
    }
    jw_obj_end(w);
    jw_k(w, "aliases");
    jw_arr(w);
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        jw_str(w, m->aliases[i].name);
    }
    jw_arr_end(w);
    jw_k(w, "primary_terms");
    jw_obj(w);
    for (uint32_t i = 0; i < m->n_shards; i++) {
        struct buf b;
        buf_init(&b, NULL, 16);
        buf_u64(&b, i);
        jw_key(w, buf_view(&b));
        buf_fini(&b);
        jw_i64(w, (int64_t)m->primary_terms[i]);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_metadata(struct jsonw *w, const struct cluster_state *s, const struct index_target *t,
                           uint32_t n, bool flat)
{
    jw_k(w, "metadata");
    jw_obj(w);
    jw_kstr(w, "cluster_uuid", s->cluster_uuid);
    jw_kbool(w, "cluster_uuid_committed", true);
    jw_k(w, "templates");
    jw_obj(w);
    for (uint32_t i = 0; i < s->n_templates; i++) {
        if (s->templates[i]->kind == TEMPLATE_LEGACY) {
            jw_key(w, s->templates[i]->name);
            jw_raw(w, s->templates[i]->body);
        }
    }
    jw_obj_end(w);
    jw_k(w, "indices");
    jw_obj(w);
    for (uint32_t i = 0; i < n; i++) {
        write_meta(w, t[i].meta, flat);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_copy(struct jsonw *w, const struct cluster_state *s, const struct index_meta *m,
                       uint32_t shard, bool primary)
{
    jw_obj(w);
    bool up = primary && cluster_shard_down(s, m->uuid, shard) == NULL;
    jw_kz(w, "state", up ? "STARTED" : "UNASSIGNED");
    jw_kbool(w, "primary", primary);
    jw_k(w, "node");
    if (up && s->nodes != NULL) {
        jw_str(w, s->nodes->master);
    } else {
        jw_null(w);
    }
    jw_k(w, "relocating_node");
    jw_null(w);
    jw_ki64(w, "shard", shard);
    jw_kstr(w, "index", m->name);
    jw_obj_end(w);
}

static void write_routing(struct jsonw *w, const struct cluster_state *s, const struct index_target *t,
                          uint32_t n)
{
    jw_k(w, "routing_table");
    jw_obj(w);
    jw_k(w, "indices");
    jw_obj(w);
    for (uint32_t i = 0; i < n; i++) {
        const struct index_meta *m = t[i].meta;
        jw_key(w, m->name);
        jw_obj(w);
        jw_k(w, "shards");
        jw_obj(w);
        for (uint32_t shard = 0; shard < m->n_shards; shard++) {
            struct buf b;
            buf_init(&b, NULL, 16);
            buf_u64(&b, shard);
            jw_key(w, buf_view(&b));
            buf_fini(&b);
            jw_arr(w);
            for (uint32_t copy = 0; copy <= m->n_replicas; copy++) {
                write_copy(w, s, m, shard, copy == 0);
            }
            jw_arr_end(w);
        }
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_state(struct rest *r, unsigned parts, const struct index_target *t, uint32_t n, bool flat,
                        struct jsonw *w)
{
    const struct cluster_state *s = r->state;
    jw_obj(w);
    jw_kstr(w, "cluster_name", s->cluster_name);
    jw_kstr(w, "cluster_uuid", s->cluster_uuid);
    if ((parts & PART_VERSION) != 0) {
        jw_ki64(w, "version", (int64_t)s->version);
        jw_kstr(w, "state_uuid", s->state_uuid);
    }
    if ((parts & PART_MASTER) != 0 && s->nodes != NULL) {
        jw_kstr(w, "master_node", s->nodes->master);
    }
    if ((parts & PART_BLOCKS) != 0) {
        write_blocks(w, s, t, n);
    }
    if ((parts & PART_NODES) != 0) {
        write_nodes(w, s->nodes);
    }
    if ((parts & PART_METADATA) != 0) {
        write_metadata(w, s, t, n, flat);
    }
    if ((parts & PART_ROUTING) != 0) {
        write_routing(w, s, t, n);
    }
    jw_obj_end(w);
}

static void get_state(struct rest *r)
{
    struct expand_options o = {false, true, EXPAND_OPEN | EXPAND_CLOSED | EXPAND_HIDDEN, false, false, 0};
    const struct index_target *t;
    uint32_t n;
    bool flat;
    struct buf b;
    struct jsonw w;
    static const char *const accepted[] = {"local", "master_timeout", "wait_for_metadata_version",
                                           "wait_for_timeout"};
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
        rest_accept(r, accepted[i]);
    }
    unsigned parts = wanted_parts(r);
    enum err e = rest_bool(r, "flat_settings", false, &flat);
    e = e == ERR_OK ? rest_index_options(r, &o) : e;
    e = e == ERR_OK ? resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock),
                                      r->arena, &t, &n, &r->em)
                    : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    write_state(r, parts, t, n, flat, &w);
    rest_send(r, 200, &b);
}

const struct route routes_cluster_settings[] = {
    {M_GET, "/_cluster/settings", get_settings},
    {M_PUT, "/_cluster/settings", put_settings},
    {M_GET, "/_cluster/state", get_state},
    {M_GET, "/_cluster/state/{metric}", get_state},
    {M_GET, "/_cluster/state/{metric}/{index}", get_state},
};
const size_t routes_cluster_settings_n = ARRAY_LEN(routes_cluster_settings);
