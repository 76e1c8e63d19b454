/* The can_match phase: it decides, as Elasticsearch's does, whether a shard need be searched at all. */
#include "engine/aggs/aggs.h"
#include "engine/fetch/fetch.h"
#include "engine/search/search.h"

bool search_may_match_none(const struct search_source *s)
{
    const struct json *q = s->query;
    bool all = q == NULL || (q->type == JSON_OBJECT && q->n == 1 && str_is(q->members[0].key, "match_all"));
    return !all && s->suggest == NULL && (s->agg_spec == NULL || !aggs_visit_all(s->agg_spec));
}

/* The aliases' filters: one that may match is enough. */
static enum err aliases_match(bool *matches, struct search_context *cx, struct errmsg *em)
{
    const struct search_shard *d = cx->shard;
    *matches = d->scope.n_alias_filters == 0;
    for (uint32_t i = 0; i < d->scope.n_alias_filters && !*matches; i++) {
        struct json *tree = ARENA_NEW(cx->arena, struct json);
        struct query_context q = cx->query;
        bool none;
        if (tree == NULL) {
            return err_no_memory(em);
        }
        q.text = d->scope.alias_filters[i];
        enum err e = json_parse(tree, q.text, cx->arena, &json_limits_default, em);
        e = e == ERR_OK ? query_rewrites_to_none(&none, &q, tree, em) : e;
        if (e != ERR_OK) {
            return e;
        }
        *matches = !none;
    }
    return ERR_OK;
}

enum err search_can_match(bool *matches, const struct search_shard *shard, const struct search_source *source,
                          struct arena *arena, struct errmsg *em)
{
    struct search_context cx;
    bool none = false;
    *matches = true;
    search_context_init(&cx, shard, source, arena);
    enum err e = ERR_OK;
    if (source->query != NULL) {
        e = query_rewrites_to_none(&none, &cx.query, source->query, em);
    }
    none = none && search_may_match_none(source);
    if (e == ERR_OK && !none) {
        e = aliases_match(matches, &cx, em);
    } else if (e == ERR_OK) {
        *matches = false;
    }
    return e;
}
