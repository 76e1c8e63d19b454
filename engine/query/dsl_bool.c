/* bool, as it is written. */
#include "engine/query/build.h"

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
        if (p->token != TOK_START_OBJECT && p->token != TOK_NULL && !json_token_is_value(p->token)) {
            return err_set(em, ERR_ILLEGAL_STATE, "expected value but got [%s]", json_token_text(p->token));
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

static enum err read_min_should(struct json_pull *p, UNUSED struct arena *arena, void *base,
                                struct errmsg *em)
{
    struct dsl_bool_query *q = base;
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
    struct dsl_bool_query *q = dsl_new(out, arena, &dsl_bool, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->adjust_pure_negative = true;
    return dsl_parse_object(p, arena, "bool", fields, ARRAY_LEN(fields), q, em);
}

static enum err add_clauses(struct builder *b, struct bool_build *bb, enum bool_occur occur,
                            const struct dsl_list *list, struct errmsg *em)
{
    for (size_t i = 0; i < list->n; i++) {
        struct query *q;
        enum err e = build_dsl(b, list->v[i], &q, em);
        e = e == ERR_OK ? bool_add(b, bb, occur, q, em) : e;
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
    e = e == ERR_OK ? add_clauses(b, &bb, OCCUR_MUST_NOT, &q->must_not, em) : e;
    e = e == ERR_OK ? add_clauses(b, &bb, OCCUR_SHOULD, &q->should, em) : e;
    e = e == ERR_OK ? add_clauses(b, &bb, OCCUR_FILTER, &q->filter, em) : e;
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
        e = e == ERR_OK ? bool_add(b, &bb, OCCUR_FILTER, all, em) : e;
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

static bool bool_plain(const struct json *body, unsigned depth)
{
    static const char *const keys[] = {"must", "should", "filter", "must_not"};
    return dsl_plain_clauses(body, keys, ARRAY_LEN(keys), depth);
}

const struct dsl_type dsl_bool = {
    .name = "bool", .parse = parse_bool, .build = build_bool, .none = bool_none, .plain = bool_plain};
