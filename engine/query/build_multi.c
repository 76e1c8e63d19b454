/* A text in several fields: multi_match, and the query strings over lists of fields. */
#include "common/base/java_hash.h"
#include "engine/query/build_graph.h"

enum err build_dis_max(struct builder *b, struct query **v, uint32_t n, float tie_breaker, struct query **out,
                       struct errmsg *em)
{
    if (n == 1) {
        *out = v[0];
        return ERR_OK;
    }
    struct query *q = *out = qnode_new(b, &q_dis_max);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->dis_max.v = (const struct query *const *)v;
    q->dis_max.n = n;
    q->dis_max.tie_breaker = tie_breaker;
    return ERR_OK;
}

/* Fields whose texts are analyzed alike: their terms are scored as one field's. */
struct field_group {
    struct str analyzer; /* its name */
    struct field_boosts fields;
    uint32_t bucket;
};

static struct str analyzer_name(const struct text_run *r, const struct field *f)
{
    const struct analyzer *an = text_search_analyzer(r, f);
    return an != NULL ? an->name : STR("_keyword");
}

/* The groups as Java's map has them, whose keys are named analyzers. */
static void groups_order(struct field_group *v, uint32_t n)
{
    uint32_t buckets = java_map_buckets(n);
    for (uint32_t i = 0; i < n; i++) {
        struct field_group g = v[i];
        uint32_t k = i;
        g.bucket = java_map_bucket_of((int32_t)(31U + (uint32_t)java_string_hash(g.analyzer)), buckets);
        for (; k > 0 && v[k - 1].bucket > g.bucket; k--) {
            v[k] = v[k - 1];
        }
        v[k] = g;
    }
}

static enum err groups_of(const struct text_run *r, const struct field_boosts *fields,
                          struct field_group **out, uint32_t *n)
{
    struct arena *arena = r->b->arena;
    struct field_group *v = *out = ARENA_ARRAY(arena, struct field_group, fields->n);
    *n = 0;
    if (v == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = build_field(r->b, fields->v[i].pattern);
        uint32_t g = 0;
        if (f->class->text == FIELD_TEXT_NONE && r->o->analyzer == NULL) {
            return err_set(r->em, ERR_UNSUPPORTED, "Field [%.*s] of type [%s] does not support match queries",
                           STR_ARG(f->path), field_shown_type(f));
        }
        while (g < *n && !str_eq(v[g].analyzer, analyzer_name(r, f))) {
            g++;
        }
        if (g == *n) {
            v[(*n)++] =
                (struct field_group){.analyzer = analyzer_name(r, f),
                                     .fields = {ARENA_ARRAY(arena, struct field_boost, fields->n), 0, 0}};
        }
        if (v[g].fields.v == NULL) {
            return err_no_memory(r->em);
        }
        v[g].fields.v[v[g].fields.n++] = fields->v[i];
    }
    groups_order(v, *n);
    return ERR_OK;
}

static enum err group_query(const struct text_run *run, const struct field_group *g, struct str text,
                            struct str min_should, struct query **out)
{
    struct text_run r = *run;
    r.field = build_field(r.b, g->fields.v[0].pattern);
    r.group = g->fields.n > 1 ? &g->fields : NULL;
    enum err e = text_run_on(&r, text, out);
    e = e == ERR_OK ? apply_min_should(r.b, out, min_should, r.em) : e;
    if (e == ERR_OK && *out != NULL && r.group == NULL) {
        e = qnode_boost(r.b, out, g->fields.v[0].boost, r.em);
    }
    return e;
}

/* Several fields as one group (cross_fields): those with the same analyzer are blended. */
static enum err build_cross_fields(struct builder *b, const struct field_boosts *fields, struct str text,
                                   const struct text_opts *o, struct str min_should, float tie_breaker,
                                   struct query **out, struct errmsg *em)
{
    struct text_run r = {.b = b, .o = o, .em = em, .tie_breaker = tie_breaker, .slop = o->slop};
    struct field_group *groups;
    uint32_t n = 0, n_groups;
    *out = NULL;
    enum err e = groups_of(&r, fields, &groups, &n_groups);
    struct query **v = e == ERR_OK ? ARENA_ARRAY(b->arena, struct query *, n_groups) : NULL;
    if (v == NULL) {
        return e == ERR_OK ? err_no_memory(em) : e;
    }
    for (uint32_t i = 0; i < n_groups; i++) {
        struct query *q = NULL;
        e = group_query(&r, &groups[i], text, min_should, &q);
        if (e != ERR_OK) {
            return e;
        }
        if (q != NULL) {
            v[n++] = q;
        }
    }
    return n == 0 ? text_zero_terms(&r, out) : build_dis_max(b, v, n, tie_breaker, out, em);
}

static enum err field_queries(struct builder *b, const struct field_boosts *fields, struct str text,
                              const struct multi_opts *o, float tie_breaker, struct query **out,
                              struct errmsg *em)
{
    static const enum match_kind kinds[] = {MATCH_BOOLEAN, MATCH_BOOLEAN,       MATCH_BOOLEAN,
                                            MATCH_PHRASE,  MATCH_PHRASE_PREFIX, MATCH_BOOL_PREFIX};
    struct query **v = ARENA_ARRAY(b->arena, struct query *, fields->n);
    struct text_opts to = o->text;
    uint32_t n = 0;
    if (v == NULL) {
        return err_no_memory(em);
    }
    to.kind = kinds[o->type];
    for (size_t i = 0; i < fields->n; i++) {
        struct query *q = NULL;
        enum err e = build_text(b, fields->v[i].pattern, text, &to, &q, em);
        e = e == ERR_OK ? apply_min_should(b, &q, o->min_should, em) : e;
        if (e == ERR_OK && q != NULL && q->ops != &q_match_none) {
            e = qnode_boost(b, &q, fields->v[i].boost, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        if (q != NULL) {
            v[n++] = q;
        }
    }
    *out = NULL;
    if (n == 0) {
        struct text_run r = {.b = b, .o = &to, .em = em};
        return text_zero_terms(&r, out);
    }
    return build_dis_max(b, v, n, tie_breaker, out, em);
}

enum err build_multi(struct builder *b, const struct field_boosts *fields, struct str text,
                     const struct multi_opts *o, struct query **out, struct errmsg *em)
{
    if (fields->n == 0) {
        return qnode_none(b, out, em, "unmapped fields []");
    }
    float tie = o->has_tie_breaker                                      ? o->tie_breaker
                : o->type == MULTI_MOST || o->type == MULTI_BOOL_PREFIX ? 1
                                                                        : 0;
    if (o->type == MULTI_CROSS) {
        struct text_opts to = o->text;
        to.kind = MATCH_BOOLEAN;
        return build_cross_fields(b, fields, text, &to, o->min_should, tie, out, em);
    }
    return field_queries(b, fields, text, o, tie, out, em);
}
