/* Where the copies of shards are, as _cluster/state tells it. */
#include "coordinator/rest/cluster_state.h"

#include "common/base/date.h"

void state_shard_key(struct jsonw *w, uint32_t shard)
{
    struct buf b;
    buf_init(&b, NULL, 16);
    buf_u64(&b, shard);
    jw_key(w, buf_view(&b));
    buf_fini(&b);
}

struct str state_only_copy_id(const struct index_meta *m, uint32_t shard, char out[64])
{
    size_t n = MIN_OF(m->uuid.n, (size_t)64);
    for (size_t i = 0; i < n; i++) {
        out[i] = m->uuid.p[(i + shard + 1) % n];
    }
    return (struct str){out, n};
}

/* A copy as the table of routing has it, or as it is without one: the primary here, replicas nowhere. */
static struct shard_copy copy_of(const struct cluster_state *s, const struct index_meta *m, uint32_t shard,
                                 uint32_t at, char text[64])
{
    const struct index_routing *routing = cluster_routing(s, m->name);
    if (routing != NULL && shard < routing->n && at < routing->shards[shard].n) {
        return routing->shards[shard].copies[at];
    }
    const struct shard_down *down = at == 0 ? cluster_shard_down(s, m->uuid, shard) : NULL;
    if (at == 0 && down == NULL) {
        bool known = m->in_sync != NULL && m->in_sync[shard].n > 0;
        return (struct shard_copy){.state = COPY_STARTED,
                                   .primary = true,
                                   .node = s->nodes != NULL ? s->nodes->master : STR_NULL,
                                   .allocation_id =
                                       known ? m->in_sync[shard].v[0] : state_only_copy_id(m, shard, text)};
    }
    struct shard_copy c = {.state = COPY_UNASSIGNED,
                           .primary = at == 0,
                           .source = at == 0 ? RECOVER_EXISTING_STORE : RECOVER_PEER};
    c.trouble.reason = down != NULL ? REASON_ALLOCATION_FAILED : REASON_INDEX_CREATED;
    c.trouble.at_ms = down != NULL ? down->since_ms : m->created_ms;
    c.trouble.failed = down != NULL ? down->tries : 0;
    c.trouble.details = down != NULL ? down->details : STR_NULL;
    return c;
}

static uint32_t copies_of(const struct cluster_state *s, const struct index_meta *m, uint32_t shard)
{
    const struct index_routing *routing = cluster_routing(s, m->name);
    return routing != NULL && shard < routing->n ? routing->shards[shard].n : m->n_replicas + 1;
}

static void write_trouble(struct rest *r, struct jsonw *w, const struct shard_copy *c)
{
    static const char *const sources[] = {[RECOVER_EMPTY_STORE] = "EMPTY_STORE",
                                          [RECOVER_EXISTING_STORE] = "EXISTING_STORE",
                                          [RECOVER_PEER] = "PEER"};
    const struct date_format *f;
    struct buf at;
    bool failed = c->trouble.reason == REASON_ALLOCATION_FAILED;
    buf_init(&at, NULL, 64);
    jw_k(w, "recovery_source");
    jw_obj(w);
    jw_kz(w, "type", sources[c->source]);
    if (c->source == RECOVER_EXISTING_STORE) {
        jw_kbool(w, "bootstrap_new_history_uuid", false);
    }
    jw_obj_end(w);
    jw_k(w, "unassigned_info");
    jw_obj(w);
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
    jw_kz(w, "allocation_status", failed ? "deciders_no" : "no_attempt");
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
        jw_k(w, "allocation_id");
        jw_obj(w);
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
    char text[64];
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
            state_shard_key(w, shard);
            jw_arr(w);
            for (uint32_t copy = 0; copy < copies_of(r->state, m, shard); copy++) {
                struct shard_copy c = copy_of(r->state, m, shard, copy, text);
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
    char text[64];
    jw_arr(w);
    for (uint32_t i = 0; i < n; i++) {
        const struct index_meta *m = t[i].meta;
        for (uint32_t shard = 0; shard < m->n_shards; shard++) {
            for (uint32_t copy = 0; copy < copies_of(r->state, m, shard); copy++) {
                struct shard_copy c = copy_of(r->state, m, shard, copy, text);
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
    jw_k(w, "routing_nodes");
    jw_obj(w);
    jw_k(w, "unassigned");
    write_copies_on(r, w, t, n, STR_NULL);
    jw_k(w, "nodes");
    jw_obj(w);
    for (uint32_t i = 0; p != NULL && i < p->n; i++) {
        if ((p->v[i].roles & ROLE_DATA) != 0) {
            jw_key(w, p->v[i].id);
            write_copies_on(r, w, t, n, p->v[i].id);
        }
    }
    jw_obj_end(w);
    jw_obj_end(w);
}
