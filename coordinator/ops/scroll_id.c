/* Scrolls: their ids and their later pages. */
#include "coordinator/ops/search_int.h"

#include "coordinator/core/ask.h"
#include "coordinator/core/freeing.h"

void search_scroll_id(struct search_call *c)
{
    if (c->o.scroll_ms <= 0) {
        return;
    }
    struct context_ref *refs = ARENA_ARRAY(&c->arena, struct context_ref, c->n_shards);
    uint32_t n = 0;
    for (uint32_t i = 0; refs != NULL && i < c->n_shards; i++) {
        const struct shard_query *q = &c->queries[i];
        if (q->rq.context != 0) { /* a shard that failed has nothing to go on with */
            refs[n++] =
                (struct context_ref){.shard = q->rq.shard, .node = q->rq.node, .context = q->rq.context};
        }
    }
    c->scroll_id = refs != NULL ? context_id_write(CONTEXT_ID_SCROLL, refs, n, &c->arena) : STR_NULL;
}

static enum err scroll_id_read(struct str id, struct arena *arena, struct context_ref **refs, uint32_t *n,
                               struct errmsg *em)
{
    if ((!context_id_read(CONTEXT_ID_SCROLL, id, arena, refs, n)
         && !context_id_read_elasticsearch(id, arena, refs, n))
        || *n == 0) {
        *n = 0;
        err_set(em, ERR_ARRAY_BOUNDS, "arraycopy: last source index out of bounds");
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Cannot parse scroll id");
    }
    return ERR_OK;
}

enum err scroll_free(struct freeing *f, struct str id, struct errmsg *em)
{
    struct context_ref *refs;
    uint32_t n;
    enum err e = scroll_id_read(id, f->r->arena, &refs, &n, em);
    if (e == ERR_OK) {
        freeing_add(f, refs, n);
    }
    return e;
}

void scroll_forget(struct op_env *r, struct str id)
{
    struct context_ref *refs;
    uint32_t n;
    enum err e = scroll_id_read(id, r->arena, &refs, &n, NULL);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        ask_forget(r->co, refs[i].node, refs[i].context);
    }
}

/* The node to ask for a context. The contexts of a node are gone with it: then this node says that there is no such context. */
static struct str holder(const struct search_call *c, struct str node)
{
    return cluster_node(c->r->state, node) != NULL ? node : c->r->co->o.node_id;
}

void search_run_scroll(struct search_call *c, struct str id)
{
    struct context_ref *refs;
    search_source_init(&c->source);
    c->next_page = true;
    search_begin(c);
    if (scroll_id_read(id, &c->arena, &refs, &c->n_shards, &c->error) != ERR_OK) {
        c->n_shards = 0;
        search_fail(c);
        return;
    }
    c->queries = ARENA_ARRAY(&c->arena, struct shard_query, c->n_shards);
    if (c->queries == NULL) {
        c->n_shards = 0;
        search_fail(c);
        return;
    }
    uint32_t n = c->n_shards;
    for (uint32_t i = 0; i < n; i++) {
        struct shard_query *q = &c->queries[i];
        shard_rq_init(&q->rq, &shard_op_scroll, search_queried, c);
        q->rq.shard = refs[i].shard;
        q->rq.node = holder(c, refs[i].node);
        q->scope.slot = i;
        search_part(c, &q->rq);
        q->scope.n_shards = n;
        q->rq.context = refs[i].context;
        q->keep = true;
        q->keep_alive_ms = c->o.scroll_ms;
        q->fetch = n == 1;
    }
    if (search_kept_too_long(c)) {
        search_done(c);
        return;
    }
    search_send(c, &c->queries->rq, sizeof(*c->queries));
}
