#include "coordinator/core/broadcast.h"

#include "common/cluster/health.h"
#include "coordinator/core/ask.h"
#include "coordinator/core/error_json.h"
#include "coordinator/core/retry.h"

/* There is no copy, or none any more: it counts in the total alone. */
static bool is_absent(const struct errmsg *em)
{
    return retry_unavailable(em) || err_code(em) == ERR_NODE_NOT_CONNECTED
           || err_code(em) == ERR_NODE_DISCONNECTED;
}

bool broadcast_failed(const struct shard_rq *rq)
{
    return err_is(&rq->error) && !is_absent(&rq->error);
}

static void broadcast_finish(struct broadcast *bc)
{
    for (uint32_t i = 0; i < bc->n; i++) {
        bc->absent += is_absent(&bc->acts[i].rq.error);
        bc->failed += broadcast_failed(&bc->acts[i].rq);
    }
    bc->done(bc);
}

static void acted(struct shard_rq *rq)
{
    struct broadcast *bc = rq->user;
    if (--bc->pending == 0) {
        broadcast_finish(bc);
    }
}

static void broadcast_empty(struct later *l)
{
    broadcast_finish(CONTAINER_OF(l, struct broadcast, end));
}

void broadcast_fini(struct broadcast *bc)
{
    for (uint32_t i = 0; i < bc->n; i++) {
        shard_rq_fini(&bc->acts[i].rq);
    }
    bc->n = 0;
}

void broadcast_write_shards(const struct broadcast *bc, struct jsonw *w)
{
    jw_kobj(w, "_shards");
    jw_ki64(w, "total", bc->copies);
    jw_ki64(w, "successful", bc->n - bc->failed - bc->absent);
    jw_ki64(w, "failed", bc->failed);
    if (bc->failed > 0) {
        jw_karr(w, "failures");
        for (uint32_t i = 0; i < bc->n; i++) {
            const struct shard_rq *rq = &bc->acts[i].rq;
            if (!broadcast_failed(rq)) {
                continue;
            }
            jw_obj(w);
            jw_ki64(w, "shard", rq->shard.shard);
            jw_kstr(w, "index", rq->shard.index);
            jw_ki64(w, "status", err_http_status(&rq->error));
            jw_kobj(w, "reason");
            error_write_cause(w, &rq->error);
            jw_obj_end(w);
            jw_obj_end(w);
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static void visit(struct broadcast *bc, const struct index_meta *m, uint32_t shard,
                  const struct shard_copy *c,
                  void (*each)(struct broadcast *bc, const struct index_meta *m, uint32_t shard,
                               const struct shard_copy *c))
{
    if (c->node.p != NULL && (bc->node.p == NULL || str_eq(bc->node, c->node))) {
        each(bc, m, shard, c);
    }
}

/* Calls each(bc, ...) for the copies that can be asked; bc->copies counts those that there should be. */
static void walk(struct broadcast *bc, void (*each)(struct broadcast *bc, const struct index_meta *m,
                                                    uint32_t shard, const struct shard_copy *c))
{
    const struct cluster_state *s = bc->r->state;
    bc->copies = 0;
    for (uint32_t i = 0; i < bc->n_targets; i++) {
        const struct index_meta *m = bc->targets[i].meta;
        /* how copies come to be is of interest before they serve, and when nobody may read them */
        bool all = bc->model.action == SHARD_RECOVERY;
        for (uint32_t shard = 0; (all || !m->closed) && shard < m->n_shards; shard++) {
            uint32_t n = health_copies(s, m, shard);
            bc->copies += n;
            for (uint32_t k = 0; k < n; k++) {
                struct shard_copy c = health_copy(s, m, shard, k);
                if (all || copy_active(&c)) {
                    visit(bc, m, shard, &c, each);
                }
                if (all && c.state == COPY_RELOCATING) {
                    c = (struct shard_copy){.state = COPY_INITIALIZING,
                                            .primary = c.primary,
                                            .node = c.target_node,
                                            .allocation_id = c.target_id,
                                            .source = RECOVER_PEER};
                    visit(bc, m, shard, &c, each);
                }
            }
        }
    }
}

static void count(struct broadcast *bc, UNUSED const struct index_meta *m, UNUSED uint32_t shard,
                  UNUSED const struct shard_copy *c)
{
    bc->n++;
}

static void broadcast_add_copy(struct broadcast *bc, const struct index_meta *m, uint32_t shard,
                               const struct shard_copy *c)
{
    struct shard_act *a = &bc->acts[bc->n];
    bc->asked[bc->n++] = *c;
    *a = bc->model;
    shard_rq_init(&a->rq, &shard_op_act, acted, bc);
    a->rq.shard = (struct shard_ref){m->name, m->uuid, shard};
    a->rq.node = c->node;
}

static bool start(struct broadcast *bc)
{
    struct op_env *r = bc->r;
    walk(bc, count);
    uint32_t n = bc->n;
    bc->acts = ARENA_ARRAY(r->arena, struct shard_act, n);
    bc->asked = ARENA_ARRAY(r->arena, struct shard_copy, n);
    if (bc->acts == NULL || bc->asked == NULL) {
        return false;
    }
    bc->n = 0;
    walk(bc, broadcast_add_copy);
    bc->pending = n;
    if (n == 0) {
        later(&bc->end, broadcast_empty);
        return true;
    }
    struct coordinator *co = r->co; /* r and bc may be gone after the last call */
    struct shard_act *acts = bc->acts;
    for (uint32_t i = 0; i < n; i++) {
        ask_act(co, &acts[i]);
    }
    return true;
}

bool broadcast_start(struct op_env *r, const struct index_target *targets, uint32_t n_targets,
                     const struct shard_act *model, void (*done)(struct broadcast *bc), void *user)
{
    struct broadcast *bc = ARENA_NEW(r->arena, struct broadcast);
    if (bc == NULL) {
        return false;
    }
    *bc = (struct broadcast){
        .r = r, .targets = targets, .n_targets = n_targets, .model = *model, .done = done, .user = user};
    return start(bc);
}

bool broadcast_start_on(struct op_env *r, struct str node, const struct index_target *targets,
                        uint32_t n_targets, const struct shard_act *model, void (*done)(struct broadcast *bc),
                        void *user)
{
    struct broadcast *bc = ARENA_NEW(r->arena, struct broadcast);
    if (bc == NULL) {
        return false;
    }
    *bc = (struct broadcast){.r = r,
                             .node = node,
                             .targets = targets,
                             .n_targets = n_targets,
                             .model = *model,
                             .done = done,
                             .user = user};
    return start(bc);
}
