/* Definitions of filter, filters, missing, global, nested, samplers and the adjacency matrix. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"
#include "common/base/sort_items.h"

#include <stdlib.h>

static enum err unknown_key(struct agg_parse *p, const struct agg *a, const struct json_member *m)
{
    return jr_fail(p->text, m->value.off, p->em, "Unknown key for a %s in [%.*s]: [%.*s].",
                   json_token_name(&m->value), STR_ARG(a->name), STR_ARG(m->key));
}

enum err parse_filter(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct filter_spec *f = ARENA_NEW(p->arena, struct filter_spec);
    if (f == NULL) {
        return err_no_memory(p->em);
    }
    f->query = body;
    a->filters.v = f;
    a->filters.n = 1;
    return query_check(body, p->text, p->arena, p->em);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct filter_spec *)a)->name, ((const struct filter_spec *)b)->name);
}

/* Named queries (an object) or anonymous ones (an array). The reader of a named one begins at its name, or behind
 * it. */
static enum err query_list(struct agg_parse *p, struct agg *a, const struct json *v, bool from_name)
{
    struct json_pull c;
    struct filters_params *f = &a->filters;
    struct filter_spec *list = ARENA_ARRAY(p->arena, struct filter_spec, (size_t)v->n + 1);
    if (list == NULL || !json_pull_init(&c, v, p->text, p->arena)) {
        return err_no_memory(p->em);
    }
    f->keyed = v->type == JSON_OBJECT;
    f->v = list;
    f->n = 0;
    json_pull_next(&c);
    while (f->n <= v->n && json_pull_until(&c, f->keyed ? TOK_END_OBJECT : TOK_END_ARRAY)) {
        struct filter_spec *to = &list[f->n++];
        to->name = f->keyed ? c.name : STR_NULL;
        if (f->keyed && !from_name) {
            json_pull_next(&c);
        }
        enum err e = agg_query(p, &c, &to->query);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (c.off != v->end - 1) { /* it ended with a list inside it */
        return jr_fail(p->text, v->end - 1, p->em, "Unknown key for a %s in [%.*s]: [filters].",
                       f->keyed ? "END_OBJECT" : "END_ARRAY", STR_ARG(a->name));
    }
    if (f->keyed) {
        sort_items(list, f->n, sizeof(*list), by_name);
    }
    return ERR_OK;
}

enum err parse_filters(struct agg_parse *p, struct agg *a, const struct json *body)
{
    bool other_given = false, other = false;
    a->filters.other_key = STR("_other_");
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        enum err e = ERR_OK;
        if (str_is(m->key, "filters") && (m->value.type == JSON_OBJECT || m->value.type == JSON_ARRAY)) {
            e = query_list(p, a, &m->value, false);
        } else if (str_is(m->key, "other_bucket") && m->value.type == JSON_BOOL) {
            other_given = true;
            other = m->value.b;
        } else if (str_is(m->key, "other_bucket_key") && m->value.type == JSON_STRING) {
            a->filters.other_key = m->value.s;
            a->filters.other = true;
        } else {
            e = unknown_key(p, a, m);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    a->filters.other = other_given ? other : a->filters.other;
    if (a->filters.n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[filters] cannot be empty.");
    }
    return ERR_OK;
}

static enum err matrix_filters(struct agg_parse *p, struct agg *a, const struct json *v)
{
    if (v->type == JSON_ARRAY) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[filters] doesn't support arrays. Use a single object with multiple fields.");
    }
    enum err e = query_list(p, a, v, true);
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : jr_wrap_field(p->text, p->at, "filters", v->members[a->filters.n - 1].key, p->em);
}

static enum err matrix_separator(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->filters.separator = json_text(v);
    return ERR_OK;
}

static const struct agg_param matrix_params[] = {{"separator", TK_STRING, matrix_separator},
                                                 {"filters", TK_OBJECT | TK_ARRAY, matrix_filters},
                                                 {NULL, 0, NULL}};

enum err parse_adjacency(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->filters.separator = STR("&");
    enum err e = agg_params(p, a, body, "adjacency_matrix", matrix_params, NULL);
    if (e == ERR_OK && a->filters.n == 0) {
        return err_set(p->em, ERR_ILLEGAL_STATE, "[%.*s] is missing : filters parameter", STR_ARG(a->name));
    }
    return e;
}

enum err parse_missing(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, "missing", agg_source_params, NULL);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

enum err parse_global(struct agg_parse *p, struct agg *a, const struct json *body)
{
    if (body->n > 0) {
        return jr_fail(p->text, body->members[0].value.off, p->em,
                       "Expected [FIELD_NAME] under a [START_OBJECT], but got a [%s] in [%.*s]",
                       json_token_name(&body->members[0].value), STR_ARG(a->name));
    }
    return ERR_OK;
}

enum err parse_nested(struct agg_parse *p, struct agg *a, const struct json *body)
{
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (m->value.type != JSON_STRING) {
            return jr_fail(p->text, m->value.off, p->em, "Unexpected token %s in [%.*s].",
                           json_token_name(&m->value), STR_ARG(a->name));
        }
        if (!str_is(m->key, "path")) {
            return unknown_key(p, a, m);
        }
        a->nested.path = m->value.s;
    }
    if (a->nested.path.p == NULL && a->type == &agg_nested) {
        return jr_fail(p->text, body->end - 1, p->em, "Missing [path] field for nested aggregation [%.*s]",
                       STR_ARG(a->name));
    }
    return ERR_OK;
}

enum err parse_sampler(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->sampler.shard_size = 100;
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (!str_is(m->key, "shard_size") || m->value.type != JSON_NUMBER) {
            return jr_fail(p->text, m->value.off, p->em,
                           "Unsupported property \"%.*s\" for aggregation \"%.*s", STR_ARG(m->key),
                           STR_ARG(a->name));
        }
        int32_t n = 0;
        enum err e = jr_int(&m->value, &n, p->em);
        if (e != ERR_OK) {
            return e;
        }
        a->sampler.shard_size = n;
    }
    return ERR_OK;
}

static enum err diversified_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    a->sampler.shard_size = e == ERR_OK ? n : a->sampler.shard_size;
    if (e == ERR_OK && a->sampler.shard_size < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[shardSize] must be greater than or equal to 0. Found [%lld] in [%.*s]",
                       (long long)a->sampler.shard_size, STR_ARG(a->name));
    }
    return e;
}

static enum err diversified_per_value(struct agg_parse *p, struct agg *a, const struct json *v)
{
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    a->sampler.per_value = e == ERR_OK ? n : a->sampler.per_value;
    if (e == ERR_OK && a->sampler.per_value < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[maxDocsPerValue] must be greater than or equal to 0. Found [%lld] in [%.*s]",
                       (long long)a->sampler.per_value, STR_ARG(a->name));
    }
    return e;
}

static enum err diversified_hint(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->sampler.hint = json_text(v);
    return ERR_OK;
}

static const struct agg_param diversified_params[] = {{"shard_size", TK_INT, diversified_size},
                                                      {"max_docs_per_value", TK_INT, diversified_per_value},
                                                      {"execution_hint", TK_STRING, diversified_hint},
                                                      {NULL, 0, NULL}};

enum err parse_diversified(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->sampler = (struct sampler_params){.shard_size = 100, .per_value = 1};
    enum err e = agg_params(p, a, body, "diversified_sampler", diversified_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}
