/* bool, boosting, constant_score, dis_max, nested, wrapper. */
#include "common/base/base64.h"
#include "engine/query/build.h"
#include "engine/query/nested_docs.h"
#include "engine/query/source.h"

/* ---- bool ---- */

struct dsl_bool_query {
    struct dsl dsl;
    struct dsl_list must, must_not, should, filter;
    bool adjust_pure_negative;
    struct str minimum_should_match;
};

static enum err read_clauses(struct json_pull *p, struct arena *arena, struct dsl_list *list,
                             struct errmsg *em)
{
    if (p->token == TOK_NULL) {
        return ERR_OK;
    }
    bool array = p->token == TOK_START_ARRAY;
    while (!array || json_pull_until(p, TOK_END_ARRAY)) {
        struct dsl *d;
        if (p->token == TOK_START_ARRAY) {
            return err_set(em, ERR_ILLEGAL_STATE, "expected value but got [START_ARRAY]");
        }
        enum err e = dsl_parse_query(p, arena, &d, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!dsl_list_add(list, arena, d)) {
            return err_no_memory(em);
        }
        if (!array) {
            break;
        }
    }
    return ERR_OK;
}

static enum err read_must(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return read_clauses(p, arena, &((struct dsl_bool_query *)base)->must, em);
}

static enum err read_must_not(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return read_clauses(p, arena, &((struct dsl_bool_query *)base)->must_not, em);
}

static enum err read_should(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return read_clauses(p, arena, &((struct dsl_bool_query *)base)->should, em);
}

static enum err read_filter(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return read_clauses(p, arena, &((struct dsl_bool_query *)base)->filter, em);
}

/* A number counts as the whole number that it is; null is no text. */
static enum err read_min_should(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct dsl_bool_query *q = base;
    if (p->token == TOK_NUMBER) {
        int32_t n;
        enum err e = json_pull_i32(p, &n, em);
        if (e != ERR_OK) {
            return e;
        }
        q->minimum_should_match = arena_printf(arena, "%d", n);
        return q->minimum_should_match.p != NULL ? ERR_OK : err_no_memory(em);
    }
    return p->token == TOK_NULL ? ERR_OK : json_pull_text(p, &q->minimum_should_match, em);
}

#define OBJ_CLAUSES (OBJ_ARRAY | OBJ_OBJECT | OBJ_NULL)

static enum err parse_bool(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"must", OBJ_CLAUSES, PARAM_IGNORED, 0, read_must},
        {"should", OBJ_CLAUSES, PARAM_IGNORED, 0, read_should},
        {"must_not", OBJ_CLAUSES, PARAM_IGNORED, 0, read_must_not},
        {"mustNot", OBJ_CLAUSES, PARAM_IGNORED, 0, read_must_not},
        {"filter", OBJ_CLAUSES, PARAM_IGNORED, 0, read_filter},
        {"adjust_pure_negative", OBJ_BOOLEAN | OBJ_STRING, PARAM_BOOL,
         offsetof(struct dsl_bool_query, adjust_pure_negative), NULL},
        {"minimum_should_match", OBJ_BOOLEAN | OBJ_NULL | OBJ_NUMBER | OBJ_STRING, PARAM_IGNORED, 0,
         read_min_should},
        {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_BOOST, offsetof(struct dsl, boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
    };
    struct dsl_bool_query *q = (struct dsl_bool_query *)(void *)dsl_new(arena, &dsl_bool, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    q->adjust_pure_negative = true;
    return dsl_parse_object(p, arena, "bool", fields, ARRAY_LEN(fields), q, em);
}

static enum err add_clauses(struct builder *b, struct bool_build *bb, enum bool_occur occur,
                            const struct dsl_list *list, struct errmsg *em)
{
    for (size_t i = 0; i < list->n; i++) {
        struct query *q;
        enum err e = build_dsl(b, list->v[i], &q, em);
        if (e == ERR_OK) {
            e = bool_add(b, bb, occur, q, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static bool any_none(struct builder *b, const struct dsl_list *list, bool all)
{
    for (size_t i = 0; i < list->n; i++) {
        if (dsl_is_none(b, list->v[i]) != all) {
            return !all;
        }
    }
    return all && list->n > 0;
}

static bool bool_none(struct builder *b, const struct dsl *d)
{
    const struct dsl_bool_query *q = (const struct dsl_bool_query *)(const void *)d;
    if (any_none(b, &q->must, false) || any_none(b, &q->filter, false)) {
        return true;
    }
    return q->must.n == 0 && q->filter.n == 0 && any_none(b, &q->should, true);
}

static enum err build_bool(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_bool_query *q = (const struct dsl_bool_query *)(const void *)d;
    struct bool_build bb = {0};
    if (bool_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    enum err e = add_clauses(b, &bb, OCCUR_MUST, &q->must, em);
    if (e == ERR_OK) {
        e = add_clauses(b, &bb, OCCUR_MUST_NOT, &q->must_not, em);
    }
    if (e == ERR_OK) {
        e = add_clauses(b, &bb, OCCUR_SHOULD, &q->should, em);
    }
    if (e == ERR_OK) {
        e = add_clauses(b, &bb, OCCUR_FILTER, &q->filter, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (bb.n == 0) {
        return qnode_all(b, out, em);
    }
    bool negative = q->adjust_pure_negative && q->must_not.n == bb.n;
    if (negative) {
        struct query *all;
        e = qnode_all(b, &all, em);
        if (e == ERR_OK) {
            e = bool_add(b, &bb, OCCUR_FILTER, all, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    e = bool_done(b, &bb, out, em);
    e = e == ERR_OK ? apply_min_should(b, out, q->minimum_should_match, em) : e;
    if (e == ERR_OK && negative) { /* what is put around a pure negation asks for no clause of it */
        (*out)->boolean.min_should = 0;
    }
    return e;
}

/* ---- boosting ---- */

struct dsl_boosting_query {
    struct dsl dsl;
    struct dsl *positive, *negative;
    float negative_boost;
};

static enum err parse_boosting(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_boosting_query),
        {"negative_boost", PARAM_FLOAT, offsetof(struct dsl_boosting_query, negative_boost)},
    };
    struct dsl_boosting_query *q =
        (struct dsl_boosting_query *)(void *)dsl_new(arena, &dsl_boosting, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    q->negative_boost = -1;
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        bool known = false;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (p->token == TOK_START_OBJECT && (str_is(name, "positive") || str_is(name, "negative"))) {
            known = true;
            e = dsl_parse_query(p, arena, str_is(name, "positive") ? &q->positive : &q->negative, em);
        } else if (json_token_is_value(p->token)) {
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
        } else if (p->token != TOK_START_OBJECT) {
            continue;
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "boosting", name, em);
        }
    }
    if (q->positive == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[boosting] query requires 'positive' query to be set'");
    }
    if (q->negative == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[boosting] query requires 'negative' query to be set'");
    }
    if (q->negative_boost < 0) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[boosting] query requires 'negative_boost' to be set to be a positive value'");
    }
    return ERR_OK;
}

static bool boosting_none(struct builder *b, const struct dsl *d)
{
    return dsl_is_none(b, ((const struct dsl_boosting_query *)(const void *)d)->positive);
}

static enum err build_boosting(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_boosting_query *q = (const struct dsl_boosting_query *)(const void *)d;
    struct query *positive, *negative, *n;
    if (boosting_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    enum err e = build_dsl(b, q->positive, &positive, em);
    if (e == ERR_OK) {
        e = build_dsl(b, q->negative, &negative, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    n = *out = qnode_new(b, &q_boosting);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->boosting.positive = positive;
    n->boosting.negative = negative;
    n->boosting.negative_boost = q->negative_boost;
    return ERR_OK;
}

/* ---- constant_score ---- */

struct dsl_constant_query {
    struct dsl dsl;
    struct dsl *filter;
};

static enum err parse_constant(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_constant_query)};
    struct dsl_constant_query *q =
        (struct dsl_constant_query *)(void *)dsl_new(arena, &dsl_constant_score, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        bool known = false;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (p->token == TOK_START_OBJECT) {
            if (str_is(name, "filter")) {
                if (q->filter != NULL) {
                    return json_pull_err(p, em, ERR_PARSING,
                                         "[constant_score] accepts only one 'filter' element.");
                }
                known = true;
                e = dsl_parse_query(p, arena, &q->filter, em);
            }
        } else if (json_token_is_value(p->token)) {
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
        } else {
            return json_pull_err(p, em, ERR_PARSING, "unexpected token [%s]", json_token_text(p->token));
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "constant_score", name, em);
        }
    }
    if (q->filter == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[constant_score] requires a 'filter' element");
    }
    return ERR_OK;
}

static bool constant_none(struct builder *b, const struct dsl *d)
{
    return dsl_is_none(b, ((const struct dsl_constant_query *)(const void *)d)->filter);
}

static enum err build_constant(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    struct query *child;
    if (constant_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    enum err e = build_dsl(b, ((const struct dsl_constant_query *)(const void *)d)->filter, &child, em);
    return e == ERR_OK ? qnode_constant(b, child, out, em) : e;
}

/* ---- dis_max ---- */

struct dsl_dis_max_query {
    struct dsl dsl;
    struct dsl_list queries;
    float tie_breaker;
};

static enum err parse_dis_max_queries(struct json_pull *p, struct arena *arena, struct dsl_list *list,
                                      struct errmsg *em)
{
    bool array = p->token == TOK_START_ARRAY;
    do { /* an empty array meets its end in place of a query, which is refused */
        struct dsl *d;
        enum err e = dsl_parse_query(p, arena, &d, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!dsl_list_add(list, arena, d)) {
            return err_no_memory(em);
        }
    } while (array && json_pull_until(p, TOK_END_ARRAY));
    return ERR_OK;
}

static enum err parse_dis_max(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_dis_max_query),
        {"tie_breaker", PARAM_FLOAT, offsetof(struct dsl_dis_max_query, tie_breaker)},
    };
    struct dsl_dis_max_query *q =
        (struct dsl_dis_max_query *)(void *)dsl_new(arena, &dsl_dis_max, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    struct str name = STR_NULL;
    bool found = false;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        bool known = false;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (p->token == TOK_START_OBJECT || p->token == TOK_START_ARRAY) {
            if (str_is(name, "queries")) {
                known = found = true;
                e = parse_dis_max_queries(p, arena, &q->queries, em);
            }
        } else {
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "dis_max", name, em);
        }
    }
    if (!found) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[dis_max] requires 'queries' field with at least one clause");
    }
    return ERR_OK;
}

static enum err build_dis_max_query(struct builder *b, const struct dsl *d, struct query **out,
                                    struct errmsg *em)
{
    const struct dsl_dis_max_query *q = (const struct dsl_dis_max_query *)(const void *)d;
    const struct query **v = ARENA_ARRAY(b->arena, const struct query *, q->queries.n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < q->queries.n; i++) {
        struct query *child;
        enum err e = build_dsl(b, q->queries.v[i], &child, em);
        if (e != ERR_OK) {
            return e;
        }
        v[i] = child;
    }
    struct query *n = *out = qnode_new(b, &q_dis_max);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->dis_max.v = v;
    n->dis_max.n = (uint32_t)q->queries.n;
    n->dis_max.tie_breaker = q->tie_breaker;
    return ERR_OK;
}

/* ---- nested ---- */

struct dsl_nested_query {
    struct dsl dsl;
    struct str path;
    struct dsl *query;
    enum score_mode score_mode;
    bool score_none, ignore_unmapped;
    struct inner_hits_spec *inner_hits;
};

static enum err parse_nested_mode(struct json_pull *p, struct dsl_nested_query *q, struct errmsg *em)
{
    static const struct {
        const char *name;
        enum score_mode mode;
        bool none;
    } modes[] = {{"none", SCORE_AVG, true},
                 {"avg", SCORE_AVG, false},
                 {"sum", SCORE_SUM, false},
                 {"max", SCORE_MAX, false},
                 {"min", SCORE_MIN, false}};
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (str_is(s, modes[i].name)) {
            q->score_mode = modes[i].mode;
            q->score_none = modes[i].none;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No score mode for child query [%.*s] found", STR_ARG(s));
}

static enum err parse_nested(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_nested_query),
        {"path", PARAM_TEXT, offsetof(struct dsl_nested_query, path)},
        {"ignore_unmapped", PARAM_BOOL, offsetof(struct dsl_nested_query, ignore_unmapped)},
    };
    struct dsl_nested_query *q = (struct dsl_nested_query *)(void *)dsl_new(arena, &dsl_nested, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    q->score_mode = SCORE_AVG;
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        bool known = false;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (p->token == TOK_START_OBJECT) {
            known = true;
            if (str_is(name, "query")) {
                e = dsl_parse_query(p, arena, &q->query, em);
            } else if (str_is(name, "inner_hits")) {
                q->inner_hits = ARENA_NEW(arena, struct inner_hits_spec);
                e = q->inner_hits != NULL ? inner_hits_parse(q->inner_hits, p->value, p->text, arena, em)
                                          : err_no_memory(em);
                json_pull_skip(p);
            } else {
                known = false;
            }
        } else if (json_token_is_value(p->token)) {
            if (str_is(name, "score_mode")) {
                known = true;
                e = parse_nested_mode(p, q, em);
            } else {
                e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
            }
        } else {
            continue;
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "nested", name, em);
        }
    }
    if (q->path.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[nested] requires 'path' field");
    }
    if (q->query == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[nested] requires 'query' field");
    }
    return ERR_OK;
}

/* The child beside a filter that lets in the objects of the path alone. */
static struct query *for_path(struct builder *b, const struct query *child, const struct field *path)
{
    struct query *all = qnode_new(b, &q_bool), *of_path = qnode_new(b, &q_term);
    struct bool_clause *v = ARENA_ARRAY(b->arena, struct bool_clause, 2);
    if (all == NULL || of_path == NULL || v == NULL) {
        return NULL;
    }
    of_path->field_name = STR("_nested_path");
    of_path->term.term = path->path;
    v[0] = (struct bool_clause){OCCUR_MUST, child};
    v[1] = (struct bool_clause){OCCUR_FILTER, of_path};
    all->boolean.v = v;
    all->boolean.n = 2;
    return all;
}

static enum err build_nested(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_nested_query *q = (const struct dsl_nested_query *)(const void *)d;
    const struct field *path = mapping_field(b->cx->mapping, q->path);
    if (path == NULL || (path->type != FT_NESTED && path->type != FT_OBJECT)) {
        if (q->ignore_unmapped) {
            return qnode_none(b, out, em, "%s", "");
        }
        return err_set(em, ERR_ILLEGAL_STATE, "[nested] failed to find nested object under path [%.*s]",
                       STR_ARG(q->path));
    }
    if (path->type != FT_NESTED) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "[nested] nested object under path [%.*s] is not of nested type", STR_ARG(q->path));
    }
    struct query *child, *n;
    const struct field *outer = b->nested;
    b->nested = path;
    enum err e = build_dsl(b, q->query, &child, em);
    b->nested = outer;
    if (e != ERR_OK) {
        return e;
    }
    n = *out = qnode_new(b, &q_nested);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->nested.path = path;
    n->nested.child = child;
    if (query_may_match_others(b->cx->mapping, child, path)) {
        n->nested.filtered = for_path(b, child, path);
        if (n->nested.filtered == NULL) {
            return err_no_memory(em);
        }
    }
    n->nested.outer = outer;
    n->nested.score_mode = q->score_mode;
    n->nested.score_none = q->score_none;
    n->nested.inner_hits = q->inner_hits;
    return ERR_OK;
}

/* ---- wrapper: a query in base64 ---- */

struct dsl_wrapper_query {
    struct dsl dsl;
    struct dsl *query;
};

static enum err parse_wrapper(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_wrapper_query *q =
        (struct dsl_wrapper_query *)(void *)dsl_new(arena, &dsl_wrapper, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    if (json_pull_next(p) != TOK_FIELD_NAME) {
        return json_pull_err(p, em, ERR_PARSING, "[wrapper] query malformed");
    }
    if (!str_is(p->name, "query")) {
        return json_pull_err(p, em, ERR_PARSING, "[wrapper] query malformed, expected `query` but was %.*s",
                             STR_ARG(p->name));
    }
    json_pull_next(p);
    struct str text, bytes;
    enum err e = json_pull_text(p, &text, em);
    if (e != ERR_OK) {
        return e;
    }
    if (json_pull_next(p) != TOK_END_OBJECT) {
        return json_pull_err(p, em, ERR_PARSING, "[wrapper] query malformed");
    }
    char *to = arena_alloc(arena, text.n + 1);
    size_t n;
    if (to == NULL) {
        return err_no_memory(em);
    }
    if (!base64_decode(text, to, &n) || n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "query source text cannot be null or empty");
    }
    bytes = str_mk(to, n);
    struct json *inner = ARENA_NEW(arena, struct json);
    struct json_pull sub;
    if (inner == NULL) {
        return err_no_memory(em);
    }
    e = json_parse(inner, bytes, arena, &json_limits_default, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!json_pull_init(&sub, inner, bytes, arena)) {
        return err_no_memory(em);
    }
    json_pull_next(&sub);
    return dsl_parse_query(&sub, arena, &q->query, em);
}

static enum err build_wrapper(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    return build_dsl(b, ((const struct dsl_wrapper_query *)(const void *)d)->query, out, em);
}

static bool wrapper_none(struct builder *b, const struct dsl *d)
{
    return dsl_is_none(b, ((const struct dsl_wrapper_query *)(const void *)d)->query);
}

const struct dsl_type dsl_bool = {"bool", parse_bool, build_bool, bool_none};
const struct dsl_type dsl_boosting = {"boosting", parse_boosting, build_boosting, boosting_none};
const struct dsl_type dsl_constant_score = {"constant_score", parse_constant, build_constant, constant_none};
const struct dsl_type dsl_dis_max = {"dis_max", parse_dis_max, build_dis_max_query, NULL};
const struct dsl_type dsl_nested = {"nested", parse_nested, build_nested, NULL};
const struct dsl_type dsl_wrapper = {"wrapper", parse_wrapper, build_wrapper, wrapper_none};
