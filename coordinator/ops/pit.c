/* Points in time: contexts of shards that stay open over several searches, told apart by their id. Opening one is a search
 * that finds nothing and keeps its contexts; a search with one asks these contexts and no indices. */
#include "coordinator/core/freeing.h"
#include "coordinator/ops/search_int.h"

enum err pit_check(struct search_call *c)
{
    const struct expand_options *o = &c->o.indices, plain = EXPAND_OPTIONS_SEARCH;
    if (c->source.pit_id.p == NULL) {
        return ERR_OK;
    }
    struct {
        bool given;
        const char *name;
    } others[] = {
        {c->o.index.n > 0, "indices"},
        {o->ignore_unavailable != plain.ignore_unavailable || o->allow_no_indices != plain.allow_no_indices
             || o->expand != plain.expand,
         "indicesOptions"},
        {c->o.routing.n > 0, "routing"},
        {c->o.preference.n > 0, "preference"},
    };
    struct buf b;
    unsigned n = 0;
    enum err e = ERR_OK;
    buf_init(&b, NULL, KIB);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (others[i].given) {
            buf_printf(&b, "%u: [%s] cannot be used with point in time;", ++n, others[i].name);
        }
    }
    if (n > 0) {
        e = err_set(&c->error, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b)));
    }
    buf_fini(&b);
    return e;
}

static enum err read_id(struct str id, struct arena *arena, struct context_ref **refs, uint32_t *n,
                        struct errmsg *em)
{
    return context_id_read(CONTEXT_ID_PIT, id, arena, refs, n)
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid id: [%.*s]", STR_ARG(id));
}

/* A sort that says nothing of it gets _shard_doc as its last key, which no two documents share; a search_after that
 * has no value for that key is of a sort without it. */
static bool lacks_tiebreaker(const struct search_source *s)
{
    return s->n_sort > 0 && s->sort[s->n_sort - 1].kind != SORT_SHARD_DOC
           && (s->search_after == NULL || s->search_after->n == s->n_sort + 1);
}

static enum err add_tiebreaker(struct search_call *c)
{
    struct json *tree = ARENA_NEW(&c->arena, struct json), body;
    const struct json *given = json_get(c->source.body, "sort");
    uint32_t n = given != NULL && given->type == JSON_ARRAY ? given->n : 1;
    struct json *keys = ARENA_ARRAY(&c->arena, struct json, n + 1);
    struct buf b;
    struct jsonw w;
    if (tree == NULL || keys == NULL || given == NULL || !json_copy(&body, c->source.body, &c->arena)) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = given->type == JSON_ARRAY ? given->items[i] : *given;
    }
    keys[n] = json_mk_str(STR("_shard_doc"));
    struct json sort = {.type = JSON_ARRAY, .n = n + 1, .items = keys};
    if (!json_put(&body, &c->arena, STR("sort"), sort)) {
        return err_no_memory(&c->error);
    }
    jsonw_start(&w, &b);
    jw_value(&w, &body);
    c->o.body = arena_str(&c->arena, buf_view(&b));
    buf_fini(&b);
    if (c->o.body.p == NULL) {
        return err_no_memory(&c->error);
    }
    c->o.tree = tree;
    c->o.tree_apart = false;
    struct search_source before = c->source;
    search_source_init(&c->source);
    enum err e = json_parse(tree, c->o.body, &c->arena, &json_limits_default, &c->error);
    e = e == ERR_OK ? search_source_parse(&c->source, tree, c->o.body, &c->arena, &c->error) : e;
    c->source.timeout_ms = before.timeout_ms;
    c->source.track_total = before.track_total;
    return e;
}

enum err pit_prepare(struct search_call *c)
{
    struct context_ref *refs;
    enum err e = read_id(c->source.pit_id, &c->arena, &refs, &c->n_pit, &c->error);
    if (e == ERR_OK) {
        c->pit = refs;
    }
    return e == ERR_OK && lacks_tiebreaker(&c->source) ? add_tiebreaker(c) : e;
}

enum err pit_choose_shards(struct search_call *c)
{
    c->queries = ARENA_ARRAY(&c->arena, struct shard_query, c->n_pit);
    if (c->queries == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_pit; i++) {
        const struct context_ref *ref = &c->pit[i];
        const struct index_meta *m = cluster_index(c->r->state, ref->shard.index);
        if (m == NULL || !str_eq(m->uuid, ref->shard.uuid)) {
            err_set(&c->error, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(ref->shard.index));
            err_about_index(&c->error, ref->shard.index, ref->shard.uuid);
            return ERR_INDEX_NOT_FOUND;
        }
        struct shard_query *q = &c->queries[c->n_shards++];
        search_ask(c, q, m, ref->shard.shard);
        q->rq.node = ref->node;
        q->rq.context = ref->context;
        q->scope.alias_filters = ref->filters;
        q->scope.n_alias_filters = ref->n_filters;
        q->scope.asked_shards = 1; /* nothing is sliced */
    }
    return ERR_OK;
}

void pit_answer(struct search_call *c)
{
    if (c->pit != NULL) {
        c->pit_id = c->source.pit_id;
        return;
    }
    struct context_ref *refs =
        c->o.open_ms > 0 ? ARENA_ARRAY(&c->arena, struct context_ref, c->n_shards) : NULL;
    for (uint32_t i = 0; refs != NULL && i < c->n_shards; i++) {
        const struct shard_query *q = &c->queries[i];
        refs[i] = (struct context_ref){q->rq.shard, q->rq.node, q->rq.context, q->scope.alias_filters,
                                       q->scope.n_alias_filters};
    }
    c->pit_id = refs != NULL ? context_id_write(CONTEXT_ID_PIT, refs, c->n_shards, &c->arena) : STR_NULL;
}

enum err pit_free(struct freeing *f, struct str id, struct errmsg *em)
{
    struct context_ref *refs;
    uint32_t n;
    enum err e = read_id(id, f->r->arena, &refs, &n, em);
    if (e == ERR_OK) {
        freeing_add(f, refs, n);
    }
    return e;
}
