/* has_child, has_parent and parent_id: as they are written, and what they are built to. */
#include "engine/query/field_queries.h"
#include "engine/query/join.h"
#include "engine/query/query_ops.h"
#include "engine/query/source.h"

/* Both forms; `type` is "type" or "parent_type". */
struct dsl_join {
    struct dsl dsl;
    struct str type;
    struct dsl *query;
    enum join_mode mode;
    int32_t min, max;
    bool score, ignore_unmapped;
    struct inner_hits_spec *inner_hits;
};

static const struct dsl_join *join_dsl(const struct dsl *d)
{
    return (const struct dsl_join *)(const void *)d;
}

static enum err parse_mode(struct json_pull *p, struct dsl_join *q, struct errmsg *em)
{
    static const enum join_mode modes[] = {
        [SCORE_MULTIPLY] = JOIN_NONE, [SCORE_SUM] = JOIN_SUM, [SCORE_AVG] = JOIN_AVG,
        [SCORE_FIRST] = JOIN_NONE,    [SCORE_MAX] = JOIN_MAX, [SCORE_MIN] = JOIN_MIN};
    struct str s;
    enum score_mode mode;
    bool none;
    enum err e = json_pull_text(p, &s, em);
    e = e == ERR_OK ? child_score_mode(s, &mode, &none, em) : e;
    if (e == ERR_OK) {
        q->mode = none ? JOIN_NONE : modes[mode];
    }
    return e;
}

static enum err parse_inner_object(struct json_pull *p, struct arena *arena, struct dsl_join *q,
                                   struct str name, bool *known, struct errmsg *em)
{
    *known = true;
    if (str_is(name, "query")) {
        return dsl_parse_query(p, arena, &q->query, em);
    }
    if (str_is(name, "inner_hits")) {
        return inner_hits_pull(p, &q->inner_hits, arena, em);
    }
    *known = false;
    return ERR_OK;
}

/* What both forms have in common; a list is passed over, but for the values in it. */
static enum err parse_join(struct json_pull *p, struct arena *arena, const struct dsl_type *type,
                           const struct param *params, size_t n_params, struct dsl_join *q, struct errmsg *em)
{
    struct str name = STR_NULL;
    bool has_mode = type == &dsl_has_child;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        bool known = false;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (p->token == TOK_START_OBJECT) {
            e = parse_inner_object(p, arena, q, name, &known, em);
        } else if (json_token_is_value(p->token)) {
            if (has_mode && str_is(name, "score_mode")) {
                known = true;
                e = parse_mode(p, q, em);
            } else {
                e = dsl_param(p, name, params, n_params, q, &known, em);
            }
        } else {
            continue;
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, type->name, name, em);
        }
    }
    return ERR_OK;
}

static enum err requires(const struct dsl_type *type, const char *what, struct errmsg *em) {
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] requires '%s' field", type->name, what);
}

static enum err parse_has_child(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_join),
        {"type", PARAM_TEXT, offsetof(struct dsl_join, type)},
        {"ignore_unmapped", PARAM_BOOL, offsetof(struct dsl_join, ignore_unmapped)},
        {"min_children", PARAM_INT, offsetof(struct dsl_join, min)},
        {"max_children", PARAM_INT, offsetof(struct dsl_join, max)},
    };
    struct dsl_join *q = dsl_new(out, arena, &dsl_has_child, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->min = 1;
    q->max = INT32_MAX;
    enum err e = parse_join(p, arena, &dsl_has_child, params, ARRAY_LEN(params), q, em);
    if (e != ERR_OK) {
        return e;
    }
    if (q->type.p == NULL || q->query == NULL) {
        return requires(&dsl_has_child, q->type.p == NULL ? "type" : "query", em);
    }
    if (q->min < 0 || q->max < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[has_child] requires non-negative '%s_children' field",
                       q->min < 0 ? "min" : "max");
    }
    return q->max >= q->min
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "[has_child] 'max_children' is less than 'min_children'");
}

static enum err parse_has_parent(struct json_pull *p, struct arena *arena, struct dsl **out,
                                 struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_join),
        {"parent_type", PARAM_TEXT, offsetof(struct dsl_join, type)},
        {"score", PARAM_BOOL, offsetof(struct dsl_join, score)},
        {"ignore_unmapped", PARAM_BOOL, offsetof(struct dsl_join, ignore_unmapped)},
    };
    struct dsl_join *q = dsl_new(out, arena, &dsl_has_parent, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->min = 1;
    q->max = INT32_MAX;
    enum err e = parse_join(p, arena, &dsl_has_parent, params, ARRAY_LEN(params), q, em);
    if (e != ERR_OK) {
        return e;
    }
    q->mode = q->score ? JOIN_MAX : JOIN_NONE;
    return q->type.p == NULL  ? requires(&dsl_has_parent, "parent_type", em)
           : q->query == NULL ? requires(&dsl_has_parent, "query", em)
                              : ERR_OK;
}

/* ---- nodes ---- */

/* Documents of some relations. */
static enum err relation_filter(struct builder *b, const struct field *join, const struct str *names,
                                uint32_t n, struct query **out, struct errmsg *em)
{
    if (n == 1) {
        return qnode_term(b, join, names[0], out, em);
    }
    struct query *q = *out = qnode_new(b, n > 0 ? &q_terms : &q_match_none);
    struct str *sorted = ARENA_ARRAY(b->arena, struct str, n);
    if (q == NULL || sorted == NULL) {
        return err_no_memory(em);
    }
    if (n == 0) {
        q->none.reason = STR("");
        return ERR_OK;
    }
    memcpy(sorted, names, n * sizeof(*sorted));
    q->field = join;
    q->field_name = join->path;
    q->terms.v = sorted;
    q->terms.n = terms_sorted(sorted, n);
    return ERR_OK;
}

/* The query beside the filter that keeps other relations out. */
static enum err of_relation(struct builder *b, const struct query *child, const struct field *join,
                            struct str name, const struct query **out, struct errmsg *em)
{
    struct bool_build bb = {.min_should = 0};
    struct query *filter, *all;
    enum err e = relation_filter(b, join, &name, 1, &filter, em);
    e = e == ERR_OK ? bool_add(b, &bb, OCCUR_MUST, child, em) : e;
    e = e == ERR_OK ? bool_add(b, &bb, OCCUR_FILTER, filter, em) : e;
    e = e == ERR_OK ? bool_done(b, &bb, &all, em) : e;
    *out = e == ERR_OK ? all : NULL;
    return e;
}

/* Joins may be forbidden: nothing else is then said of them. */
static bool forbidden(struct builder *b)
{
    return !b->cx->allow_expensive;
}

static enum err forbid(struct builder *b, struct query **out, struct errmsg *em)
{
    if (b->expensive == NULL) {
        b->expensive = &q_join;
    }
    return qnode_none(b, out, em, "%s", "");
}

static enum err build_sides(struct builder *b, const struct dsl_join *q, struct join_query *own,
                            struct errmsg *em)
{
    const struct join_relation *r = own->relation;
    struct query *child, *to;
    enum err e = build_dsl(b, q->query, &child, em);
    if (e != ERR_OK) {
        return e;
    }
    own->child = child;
    e = of_relation(b, child, own->join, q->type, &own->from, em);
    e = e == ERR_OK ? relation_filter(b, own->join, own->to_parent ? &r->parent : r->children,
                                      own->to_parent ? 1 : r->n_children, &to, em)
                    : e;
    own->to = e == ERR_OK ? to : NULL;
    return e;
}

static enum err build_join(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_join *q = join_dsl(d);
    const struct field *join = mapping_join(b->cx->mapping);
    const char *name = d->type->name;
    bool to_parent = d->type == &dsl_has_child;
    if (forbidden(b)) {
        return forbid(b, out, em);
    }
    const struct join_relation *r = join == NULL ? NULL
                                    : to_parent  ? join_child(join, q->type)
                                                 : join_parent(join, q->type);
    if (r == NULL && q->ignore_unmapped) {
        return qnode_none(b, out, em, "%s", "");
    }
    if (join == NULL) {
        return err_query_shard(b, em, "[%s] no join field has been configured", name);
    }
    if (r == NULL) {
        return err_query_shard(b, em, "[%s] join field [%.*s] doesn't hold [%.*s] as a %s", name,
                               STR_ARG(join->path), STR_ARG(q->type), to_parent ? "child" : "parent");
    }
    struct query *n = *out = qnode_new(b, &q_join);
    struct join_query *own = ARENA_NEW(b->arena, struct join_query);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    *own = (struct join_query){.name = name,
                               .join = join,
                               .relation = r,
                               .type = q->type,
                               .to_parent = to_parent,
                               .mode = q->mode,
                               .min = (uint32_t)q->min,
                               .max = (uint32_t)q->max,
                               .inner_hits = q->inner_hits};
    n->own = own;
    return build_sides(b, q, own, em);
}

const struct dsl_type dsl_has_child = {.name = "has_child", .parse = parse_has_child, .build = build_join};
const struct dsl_type dsl_has_parent = {.name = "has_parent", .parse = parse_has_parent, .build = build_join};

/* ---- parent_id ---- */

struct dsl_parent_id_query {
    struct dsl dsl;
    struct str type, id; /* p == NULL: not given */
    bool ignore_unmapped;
};

static enum err parse_parent_id(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_parent_id_query),
        {"type", PARAM_TEXT, offsetof(struct dsl_parent_id_query, type)},
        {"id", PARAM_TEXT, offsetof(struct dsl_parent_id_query, id)},
        {"ignore_unmapped", PARAM_BOOL, offsetof(struct dsl_parent_id_query, ignore_unmapped)},
    };
    struct dsl_parent_id_query *q = dsl_new(out, arena, &dsl_parent_id, sizeof(*q));
    struct str name = STR_NULL;
    if (q == NULL) {
        return err_no_memory(em);
    }
    while (json_pull_until(p, TOK_END_OBJECT)) {
        bool known = false;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        enum err e = json_token_is_value(p->token)
                         ? dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em)
                         : ERR_OK;
        if (e != ERR_OK || !known) {
            return e != ERR_OK ? e : dsl_unsupported(p, "parent_id", name, em);
        }
    }
    return ERR_OK;
}

static enum err build_parent_id(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_parent_id_query *q = (const struct dsl_parent_id_query *)(const void *)d;
    const struct field *join = mapping_join(b->cx->mapping);
    const struct join_relation *r = join != NULL && q->type.p != NULL ? join_child(join, q->type) : NULL;
    struct query *of_parent;
    const struct query *all;
    if (forbidden(b)) {
        return forbid(b, out, em);
    }
    if (r == NULL && q->ignore_unmapped) {
        return qnode_none(b, out, em, "%s", "");
    }
    if (join == NULL) {
        return err_query_shard(b, em, "[parent_id] no join field found for index [%.*s]",
                               STR_ARG(b->cx->index_name));
    }
    if (r == NULL) {
        return err_query_shard(b, em, "[parent_id] no relation found for child [%.*s]",
                               STR_ARG(q->type.p != NULL ? q->type : STR("null")));
    }
    if (q->id.p == NULL) {
        return err_set(em, ERR_NULL_POINTER,
                       "Cannot invoke \"java.lang.CharSequence.length()\" because \"text\" is null");
    }
    enum err e = qnode_term(b, r->ids, q->id, &of_parent, em);
    e = e == ERR_OK ? of_relation(b, of_parent, join, q->type, &all, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct query *own = *out = qnode_new(b, all->ops); /* a node of its own: boost and name go to it */
    if (own == NULL) {
        return err_no_memory(em);
    }
    *own = *all;
    return ERR_OK;
}

const struct dsl_type dsl_parent_id = {
    .name = "parent_id", .parse = parse_parent_id, .build = build_parent_id};
