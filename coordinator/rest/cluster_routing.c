/* The routing of shards, as _cluster/state prints it. */
#include "coordinator/rest/cluster_state.h"

#include "common/base/date.h"
#include "common/cluster/health.h"

void state_shard_key(struct jsonw *w, uint32_t shard)
{
    struct buf b;
    buf_init(&b, NULL, 16);
    buf_u64(&b, shard);
    jw_key(w, buf_view(&b));
    buf_fini(&b);
}

static void write_trouble(struct rest *r, struct jsonw *w, const struct shard_copy *c)
{
    static const char *const sources[] = {[RECOVER_EMPTY_STORE] = "EMPTY_STORE",
                                          [RECOVER_EXISTING_STORE] = "EXISTING_STORE",
                                          [RECOVER_PEER] = "PEER"};
    const struct date_format *f;
    struct buf at;
    buf_init(&at, NULL, 64);
    jw_kobj(w, "recovery_source");
    jw_kz(w, "type", sources[c->source]);
    if (c->source == RECOVER_EXISTING_STORE) {
        jw_kbool(w, "bootstrap_new_history_uuid", false);
    }
    jw_obj_end(w);
    jw_kobj(w, "unassigned_info");
    jw_kz(w, "reason", copy_reason_name(c->trouble.reason));
    if (date_format_new(&f, STR("strict_date_time"), r->arena, NULL) == ERR_OK
        && date_print_ms(f, c->trouble.at_ms, NULL, &at)) {
        jw_kstr(w, "at", buf_view(&at));
    }
    if (c->trouble.failed > 0) {
        jw_ki64(w, "failed_attempts", c->trouble.failed);
    }
    jw_kbool(w, "delayed", c->trouble.delayed);
    if (c->trouble.details.p != NULL) {
        jw_kstr(w, "details", c->trouble.details);
    }
    jw_kz(w, "allocation_status", copy_attempt_name(c->trouble.attempt));
    jw_obj_end(w);
    buf_fini(&at);
}

static void write_node_or_null(struct jsonw *w, const char *key, struct str node)
{
    jw_k(w, key);
    if (node.p != NULL) {
        jw_str(w, node);
    } else {
        jw_null(w);
    }
}

static void write_copy(struct rest *r, struct jsonw *w, const struct index_meta *m, uint32_t shard,
                       const struct shard_copy *c)
{
    jw_obj(w);
    jw_kz(w, "state", copy_state_name(c->state));
    jw_kbool(w, "primary", c->primary);
    write_node_or_null(w, "node", c->node);
    write_node_or_null(w, "relocating_node", c->target_node);
    jw_ki64(w, "shard", shard);
    jw_kstr(w, "index", m->name);
    if (c->state == COPY_UNASSIGNED || c->state == COPY_INITIALIZING) {
        write_trouble(r, w, c);
    }
    if (c->allocation_id.p != NULL) {
        jw_kobj(w, "allocation_id");
        jw_kstr(w, "id", c->allocation_id);
        if (c->target_id.p != NULL) {
            jw_kstr(w, "relocation_id", c->target_id);
        }
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

void state_write_routing(struct rest *r, struct jsonw *w, const struct index_target *t, uint32_t n)
{
    jw_kobj(w, "routing_table");
    jw_kobj(w, "indices");
    for (uint32_t i = 0; i < n; i++) {
        const struct index_meta *m = t[i].meta;
        jw_key(w, m->name);
        jw_obj(w);
        jw_kobj(w, "shards");
        for (uint32_t shard = 0; shard < m->n_shards; shard++) {
            state_shard_key(w, shard);
            jw_arr(w);
            for (uint32_t copy = 0; copy < health_copies(r->state, m, shard); copy++) {
                struct shard_copy c = health_copy(r->state, m, shard, copy);
                write_copy(r, w, m, shard, &c);
            }
            jw_arr_end(w);
        }
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

/* The copies that are on a node (p == NULL: on none). */
static void write_copies_on(struct rest *r, struct jsonw *w, const struct index_target *t, uint32_t n,
                            struct str node)
{
    jw_arr(w);
    for (uint32_t i = 0; i < n; i++) {
        const struct index_meta *m = t[i].meta;
        for (uint32_t shard = 0; shard < m->n_shards; shard++) {
            for (uint32_t copy = 0; copy < health_copies(r->state, m, shard); copy++) {
                struct shard_copy c = health_copy(r->state, m, shard, copy);
                if (node.p == NULL ? c.node.p == NULL : c.node.p != NULL && str_eq(c.node, node)) {
                    write_copy(r, w, m, shard, &c);
                }
            }
        }
    }
    jw_arr_end(w);
}

void state_write_routing_nodes(struct rest *r, struct jsonw *w, const struct index_target *t, uint32_t n)
{
    const struct nodes_part *p = r->state->nodes;
    jw_kobj(w, "routing_nodes");
    jw_k(w, "unassigned");
    write_copies_on(r, w, t, n, STR_NULL);
    jw_kobj(w, "nodes");
    for (uint32_t i = 0; p != NULL && i < p->n; i++) {
        if ((p->v[i].roles & ROLE_DATA) != 0) {
            jw_key(w, p->v[i].id);
            write_copies_on(r, w, t, n, p->v[i].id);
        }
    }
    jw_obj_end(w);
    jw_obj_end(w);
}
