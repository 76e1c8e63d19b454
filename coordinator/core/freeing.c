#include "coordinator/core/freeing.h"

#include "common/base/arena_list.h"

#include "coordinator/core/ask.h"

#include <stdatomic.h>

static struct freeing_node *node_of(struct freeing *f, struct str node)
{
    for (size_t i = 0; i < f->n; i++) {
        if (str_eq(f->v[i].rq.rq.node, node)) {
            return &f->v[i];
        }
    }
    if (!ARENA_ROOM(f->r->arena, f->v, f->n, f->cap)) {
        f->failed = true;
        return NULL;
    }
    f->v[f->n] = (struct freeing_node){.rq.rq.node = node};
    return &f->v[f->n++];
}

void freeing_add(struct freeing *f, const struct context_ref *refs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct freeing_node *at = node_of(f, refs[i].node);
        uint64_t *more =
            at != NULL ? arena_grow(f->r->arena, at->contexts, at->rq.n, &at->cap, sizeof(*more)) : NULL;
        if (more == NULL) {
            f->failed = true;
            return;
        }
        more[at->rq.n++] = refs[i].context;
        at->contexts = more;
    }
}

void freeing_add_scrolls(struct freeing *f)
{
    const struct nodes_part *nodes = f->r->state->nodes;
    struct coordinator *co = f->r->co;
    struct freeing_node *here = node_of(f, co->o.node_id);
    if (here != NULL) {
        here->rq.all_scrolls = true;
    }
    for (uint32_t i = 0; co->o.remote != NULL && nodes != NULL && i < nodes->n; i++) {
        struct freeing_node *at = node_of(f, nodes->v[i].id);
        if (at != NULL) {
            at->rq.all_scrolls = true;
        }
    }
}

static void freeing_finish(struct freeing *f)
{
    for (size_t i = 0; i < f->n; i++) {
        f->freed += !err_is(&f->v[i].rq.rq.error) ? f->v[i].rq.freed : 0;
        shard_rq_fini(&f->v[i].rq.rq);
    }
    f->done(f);
}

static void freeing_empty(struct later *l)
{
    freeing_finish(CONTAINER_OF(l, struct freeing, end));
}

static void freed(struct shard_rq *rq)
{
    struct freeing *f = rq->user;
    if (atomic_fetch_sub(&f->pending, 1) == 1) {
        freeing_finish(f);
    }
}

enum err freeing_run(struct freeing *f, struct errmsg *em)
{
    if (f->failed) {
        return err_no_memory(em);
    }
    struct coordinator *co = f->r->co; /* f may be gone after the last call */
    struct freeing_node *v = f->v;
    size_t n = f->n;
    f->pending = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        struct shard_free *rq = &v[i].rq;
        struct str node = rq->rq.node;
        shard_rq_init(&rq->rq, &shard_op_free, freed, f);
        rq->rq.node = node;
        rq->contexts = v[i].contexts;
        ask_free(co, rq);
    }
    if (n == 0) {
        later(&f->end, freeing_empty);
    }
    return ERR_OK;
}
