#include "engine/collect/whole_query.h"

#include "common/base/num.h"
#include "engine/query/nested_docs.h"

#include <math.h>

static struct query *node(const struct search_context *cx, const struct query_ops *ops)
{
    struct query *q = ARENA_NEW(cx->arena, struct query);
    if (q != NULL) {
        q->ops = ops;
        q->boost = 1;
    }
    return q;
}

/* ---- nested objects ------------------------------------------------------------------------------------------------------ */

static struct query *no_nested(const struct search_context *cx)
{
    struct query *q = node(cx, &q_exists);
    if (q != NULL) {
        q->field_name = STR("_primary_term");
    }
    return q;
}

/* ---- aliases ------------------------------------------------------------------------------------------------------------- */

static enum err alias_filter(const struct search_context *cx, struct str text, const struct query **out,
                             struct errmsg *em)
{
    struct json *dsl = ARENA_NEW(cx->arena, struct json);
    struct query_context own = cx->query;
    own.text = text;
    if (dsl == NULL) {
        return err_no_memory(em);
    }
    enum err e = json_parse(dsl, text, cx->arena, &json_limits_default, em);
    return e == ERR_OK ? query_build(out, &own, dsl, em) : e;
}

/* One of the aliases' filters must match. */
static enum err alias_filters(const struct search_context *cx, const struct query **out, struct errmsg *em)
{
    const struct search_shard *s = cx->shard;
    if (s->scope.n_alias_filters == 1) {
        return alias_filter(cx, s->scope.alias_filters[0], out, em);
    }
    struct bool_clause *any = ARENA_ARRAY(cx->arena, struct bool_clause, s->scope.n_alias_filters);
    struct query *q = node(cx, &q_bool);
    if (any == NULL || q == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < s->scope.n_alias_filters; i++) {
        any[i].occur = OCCUR_SHOULD;
        enum err e = alias_filter(cx, s->scope.alias_filters[i], &any[i].query, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    q->boolean.v = any;
    q->boolean.n = s->scope.n_alias_filters;
    *out = q;
    return ERR_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

static enum err filtered(const struct search_context *cx, enum query_use use, const struct query **q,
                         struct errmsg *em)
{
    const struct query *aliases = NULL;
    const struct mapping *m = cx->query.mapping;
    enum err e = cx->shard->scope.n_alias_filters > 0 ? alias_filters(cx, &aliases, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    bool nested = use == QUERY_SHOWN && mapping_has_nested(m) && query_may_match_nested(m, *q)
                  && (aliases == NULL || query_may_match_nested(m, aliases));
    if (aliases == NULL && !nested) {
        return ERR_OK;
    }
    struct bool_clause *v = ARENA_ARRAY(cx->arena, struct bool_clause, 3);
    struct query *outer = node(cx, &q_bool), *flat = nested ? no_nested(cx) : NULL;
    if (v == NULL || outer == NULL || (nested && flat == NULL)) {
        return err_no_memory(em);
    }
    v[outer->boolean.n++] = (struct bool_clause){OCCUR_MUST, *q};
    if (nested) {
        v[outer->boolean.n++] = (struct bool_clause){OCCUR_FILTER, flat};
    }
    if (aliases != NULL) {
        v[outer->boolean.n++] = (struct bool_clause){OCCUR_FILTER, aliases};
    }
    outer->boolean.v = v;
    *q = outer;
    return ERR_OK;
}

enum err whole_query(const struct query **out, const struct search_context *cx, enum query_use use,
                     struct errmsg *em)
{
    enum err e = ERR_OK;
    if (cx->source->query != NULL) {
        e = query_build(out, &cx->query, cx->source->query, em);
    } else {
        *out = node(cx, &q_match_all);
        e = *out != NULL ? ERR_OK : err_no_memory(em);
    }
    if (e == ERR_OK && !(cx->shard->scope.index_boost >= 0 && isfinite(cx->shard->scope.index_boost))) {
        struct buf shown;
        buf_init(&shown, NULL, BUF_UNLIMITED);
        num_put_float(&shown, cx->shard->scope.index_boost);
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "boost must be a positive float, got %.*s",
                    STR_ARG(buf_view(&shown)));
        buf_fini(&shown);
    }
    if (e == ERR_OK && cx->shard->scope.index_boost != 1) {
        struct query *boosted = node(cx, &q_boost);
        if (boosted == NULL) {
            return err_no_memory(em);
        }
        boosted->boost = cx->shard->scope.index_boost;
        boosted->one.child = *out;
        *out = boosted;
    }
    e = e == ERR_OK ? filtered(cx, use, out, em) : e;
    return e == ERR_OK && cx->source->slice != NULL ? search_add_slice(out, cx, em) : e;
}
