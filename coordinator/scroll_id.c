/* Scrolls: their ids and their later pages. */
#include "coordinator/search_int.h"

#include "coordinator/context_id.h"

void search_scroll_id(struct search_call *c)
{
    if (c->o.scroll_ms <= 0) {
        return;
    }
    struct context_ref *refs = ARENA_ARRAY(&c->arena, struct context_ref, c->n_shards);
    for (uint32_t i = 0; refs != NULL && i < c->n_shards; i++) {
        refs[i] = (struct context_ref){.shard = c->queries[i].rq.shard, .context = c->queries[i].context};
    }
    c->scroll_id =
        refs != NULL ? context_id_write(CONTEXT_ID_SCROLL, refs, c->n_shards, &c->arena) : STR_NULL;
}

static enum err scroll_id_read(struct str id, struct arena *arena, struct context_ref **refs, uint32_t *n,
                               struct errmsg *em)
{
    if (!context_id_read(CONTEXT_ID_SCROLL, id, arena, refs, n) || *n == 0) {
        *n = 0;
        err_set(em, ERR_ARRAY_BOUNDS, "arraycopy: last source index out of bounds");
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Cannot parse scroll id");
    }
    return ERR_OK;
}

enum err scroll_free(struct rest *r, struct str id, uint32_t *n, struct errmsg *em)
{
    struct context_ref *refs;
    uint32_t count;
    const struct shard_api *api = r->co->o.shards;
    enum err e = scroll_id_read(id, r->arena, &refs, &count, em);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        *n += api->free_context(api->self, refs[i].context);
    }
    return e;
}

void scroll_free_all(struct rest *r, uint32_t *n)
{
    const struct shard_api *api = r->co->o.shards;
    *n += api->free_all_contexts(api->self);
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
        shard_rq_init(&q->rq, search_queried, c);
        q->rq.shard = refs[i].shard;
        q->slot = i;
        q->cancelled = search_cancelled;
        q->cancel_self = c;
        q->n_shards = n;
        q->context = refs[i].context;
        q->next_page = q->keep = q->scroll = true;
        q->keep_alive_ms = c->o.scroll_ms;
        q->fetch = n == 1;
    }
    c->pending = n;
    const struct shard_api *api = c->r->co->o.shards;
    struct shard_query *q = c->queries;
    for (uint32_t i = 0; i < n; i++) {
        api->query(api->self, &q[i]);
    }
}
