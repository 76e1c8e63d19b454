/* term, terms, exists, ids, type. */
#include "engine/query/build.h"

#include "common/base/arena_list.h"

#include "common/settings/setting_read.h"
#include "engine/query/field_queries.h"

/* ---- term ---- */

struct dsl_term_query {
    struct dsl dsl;
    struct str field;
    const struct json *value;
    bool case_insensitive;
};

static enum err parse_term(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_term_query),
        {"value", PARAM_TOKEN, offsetof(struct dsl_term_query, value)},
        {"term", PARAM_TOKEN, offsetof(struct dsl_term_query, value)},
        {"case_insensitive", PARAM_BOOL, offsetof(struct dsl_term_query, case_insensitive)},
    };
    static const struct field_form form = {
        "term", params, ARRAY_LEN(params), offsetof(struct dsl_term_query, value), false, false, true, false};
    struct dsl_term_query *q = dsl_new(out, arena, &dsl_term, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    const struct json *body = p->value;
    enum err e = dsl_parse_field_form(p, &form, q, &q->field, em);
    bool whole = body != NULL && body->type == JSON_OBJECT && body->n > 0
                 && body->members[body->n - 1].value.type != JSON_OBJECT;
    if (e != ERR_OK) {
        return e;
    }
    if (q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
    }
    if (q->value == NULL) { /* a null for the whole body is not even read */
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       whole ? "field name is null or empty" : "value cannot be null");
    }
    return ERR_OK;
}

static enum err build_term(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_term_query *q = (const struct dsl_term_query *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    if (f == NULL) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    return q->case_insensitive ? field_term_nocase(b, f, q->value, out, em)
                               : field_term(b, f, q->value, out, em);
}

/* ---- terms ---- */

struct dsl_terms_query {
    struct dsl dsl;
    struct str field;
    struct dsl_values values;
    const struct json *lookup; /* NULL: values are given */
    struct str index, id, path, routing;
};

static enum err add_value(struct dsl_values *l, struct arena *arena, const struct json *v, struct errmsg *em)
{
    return ARENA_ADD(arena, l->v, l->n, l->cap, v) ? ERR_OK : err_no_memory(em);
}

/* A name inside of an object among the values is one of them, too. */
static enum err add_name(struct dsl_values *l, struct arena *arena, struct str name, struct errmsg *em)
{
    struct json *v = ARENA_NEW(arena, struct json);
    if (v == NULL) {
        return err_no_memory(em);
    }
    *v = json_mk_str(name);
    return add_value(l, arena, v, em);
}

enum err dsl_values_parse(struct json_pull *p, struct arena *arena, struct dsl_values *out, struct errmsg *em)
{
    while (json_pull_until(p, TOK_END_ARRAY)) {
        enum err e;
        if (p->token == TOK_NULL) {
            e = json_pull_err(p, em, ERR_PARSING, "No value specified for terms query");
        } else if (p->token == TOK_FIELD_NAME) {
            e = add_name(out, arena, p->name, em);
        } else {
            const struct json *v;
            e = dsl_token(p, &v, em);
            e = e == ERR_OK ? add_value(out, arena, v, em) : e;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err parse_lookup(struct json_pull *p, struct arena *arena, struct dsl_terms_query *q,
                             struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"index", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_terms_query, index), NULL},
        {"id", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_terms_query, id), NULL},
        {"path", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_terms_query, path), NULL},
        {"routing", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_terms_query, routing), NULL},
    };
    q->lookup = p->value;
    enum err e = dsl_parse_object(p, arena, "terms_lookup", fields, ARRAY_LEN(fields), q, em);
    if (e != ERR_OK) {
        return e;
    }
    const char *const names[] = {"index", "id", "path"};
    const bool missing[] = {q->index.p == NULL, q->id.p == NULL, q->path.p == NULL};
    return dsl_required(names, missing, ARRAY_LEN(names), em);
}

static enum err parse_terms_member(struct json_pull *p, struct arena *arena, struct dsl_terms_query *q,
                                   struct str name, struct errmsg *em)
{
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_terms_query)};
    switch (p->token) {
    case TOK_START_ARRAY:
        if (q->field.p != NULL) {
            return json_pull_err(p, em, ERR_PARSING, "[terms] query does not support multiple fields");
        }
        q->field = name;
        return dsl_values_parse(p, arena, &q->values, em);
    case TOK_START_OBJECT:
        if (q->field.p != NULL) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "[terms] query does not support more than one field. Already got: [%.*s]",
                                 STR_ARG(q->field));
        }
        q->field = name;
        return parse_lookup(p, arena, q, em);
    case TOK_NULL:
    case TOK_END_ARRAY: /* of a list within the list, whose end was taken for that of the values */
        return dsl_unknown_token(p, "terms", name, em);
    case TOK_STRING:
    case TOK_NUMBER:
    case TOK_BOOLEAN:
    case TOK_FIELD_NAME:
    case TOK_END_OBJECT:
    case TOK_NONE:
        break;
    }
    return dsl_param_of(p, "terms", name, params, ARRAY_LEN(params), q, em);
}

static enum err parse_terms(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_terms_query *q = dsl_new(out, arena, &dsl_terms, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = parse_terms_member(p, arena, q, name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->field.p != NULL && q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field name cannot be null.");
    }
    if (q->field.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[terms] query requires a field name, followed by array of terms or a document "
                             "lookup specification");
    }
    return ERR_OK;
}

static enum err build_terms(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    struct dsl_terms_query q = *(const struct dsl_terms_query *)(const void *)d;
    if (q.lookup != NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "async actions are left after rewrite");
    }
    const struct field *f = build_field(b, q.field);
    if (q.values.n == 0 || f == NULL) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    int64_t max = setting_i64(b->cx->index_settings, SET_INDEX_MAX_TERMS_COUNT);
    if ((int64_t)q.values.n > max) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "The number of terms [%zu] used in the Terms Query request has exceeded the allowed "
                       "maximum of [%lld]. "
                       "This maximum can be set by changing the [index.max_terms_count] index level setting.",
                       q.values.n, (long long)max);
    }
    return field_terms(b, f, q.values.v, (uint32_t)q.values.n, out, em);
}

/* ---- exists ---- */

struct dsl_exists_query {
    struct dsl dsl;
    struct str field;
};

static enum err parse_exists(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_exists_query),
        {"field", PARAM_TEXT, offsetof(struct dsl_exists_query, field)},
    };
    struct dsl_exists_query *q = dsl_new(out, arena, &dsl_exists, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = json_token_is_value(p->token)
                         ? dsl_param_of(p, "exists", name, params, ARRAY_LEN(params), q, em)
                         : dsl_unknown_token(p, "exists", name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->field.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[exists] must be provided with a [field]");
    }
    return q->field.n > 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
}

static bool exists_none(struct builder *b, const struct dsl *d)
{
    const struct field **fields;
    size_t n;
    struct str name = ((const struct dsl_exists_query *)(const void *)d)->field;
    return mapping_field(b->cx->mapping, name) == NULL
           && mapping_match(b->cx->mapping, name, b->arena, &fields, &n) && n == 0;
}

static enum err build_exists_query(struct builder *b, const struct dsl *d, struct query **out,
                                   struct errmsg *em)
{
    return exists_none(b, d)
               ? qnode_none(b, out, em, "User requested \"match_none\" query.")
               : build_exists(b, ((const struct dsl_exists_query *)(const void *)d)->field, out, em);
}

/* ---- ids ---- */

struct dsl_ids_query {
    struct dsl dsl;
    struct str *ids;
    size_t n, cap;
};

static enum err add_id(struct json_pull *p, struct arena *arena, struct dsl_ids_query *q, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    return ARENA_ADD(arena, q->ids, q->n, q->cap, s) ? ERR_OK : err_no_memory(em);
}

static enum err read_ids(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    if (p->token != TOK_START_ARRAY) {
        return add_id(p, arena, base, em);
    }
    while (json_pull_until(p, TOK_END_ARRAY)) {
        enum err e = add_id(p, arena, base, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err skip_types(struct json_pull *p, UNUSED struct arena *arena, UNUSED void *base,
                           UNUSED struct errmsg *em)
{
    json_pull_skip(p);
    return ERR_OK;
}

static enum err parse_ids(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"values", OBJ_ARRAY | OBJ_STRING, PARAM_IGNORED, 0, read_ids},
        {"type", OBJ_ARRAY | OBJ_STRING, PARAM_IGNORED, 0, skip_types},
        {"types", OBJ_ARRAY | OBJ_STRING, PARAM_IGNORED, 0, skip_types},
        {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_BOOST, offsetof(struct dsl, boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
    };
    struct dsl_ids_query *q = dsl_new(out, arena, &dsl_ids, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_object(p, arena, "ids", fields, ARRAY_LEN(fields), q, em);
    if (e == ERR_X_CONTENT) {
        uint32_t line, col;
        json_place(p->text, p->off, &line, &col);
        return err_wrap_at(em, ERR_PARSING, line, col, "%s", err_reason(em));
    }
    return e;
}

static enum err build_ids(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_ids_query *q = (const struct dsl_ids_query *)(const void *)d;
    const struct field *id = mapping_field(b->cx->mapping, STR("_id"));
    if (q->n == 0 || id == NULL) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    return qnode_terms(b, id, q->ids, (uint32_t)q->n, out, em);
}

/* ---- type ---- */

struct dsl_type_body {
    struct dsl dsl;
    struct str value;
};

static enum err parse_type(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_type_body),
        {"value", PARAM_TEXT, offsetof(struct dsl_type_body, value)},
    };
    struct dsl_type_body *q = dsl_new(out, arena, &dsl_type, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = json_token_is_value(p->token)
                         ? dsl_param_of(p, "type", name, params, ARRAY_LEN(params), q, em)
                         : dsl_unsupported(p, "type", name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->value.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[type] filter needs to be provided with a value for the type");
    }
    return ERR_OK;
}

static enum err build_type(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_type_body *q = (const struct dsl_type_body *)(const void *)d;
    if (str_eq(q->value, mapping_type(b->cx->mapping))) {
        return qnode_all(b, out, em);
    }
    return qnode_none(b, out, em, "Type[%.*s] does not exist", STR_ARG(q->value));
}

static bool term_none(struct builder *b, const struct dsl *d)
{
    return leaf_is_none(b, d, ((const struct dsl_term_query *)(const void *)d)->field);
}

static bool terms_none(struct builder *b, const struct dsl *d)
{
    const struct dsl_terms_query *q = (const struct dsl_terms_query *)(const void *)d;
    return build_field(b, q->field) == NULL
           || (q->lookup == NULL && (q->values.n == 0 || leaf_is_none(b, d, q->field)));
}

static bool ids_none(struct builder *b, const struct dsl *d)
{
    return ((const struct dsl_ids_query *)(const void *)d)->n == 0
           || mapping_field(b->cx->mapping, STR("_id")) == NULL;
}

const struct dsl_type dsl_term = {
    .name = "term", .parse = parse_term, .build = build_term, .none = term_none, .plain = dsl_plain};
const struct dsl_type dsl_terms = {
    .name = "terms", .parse = parse_terms, .build = build_terms, .none = terms_none, .plain = dsl_plain};
const struct dsl_type dsl_exists = {.name = "exists",
                                    .parse = parse_exists,
                                    .build = build_exists_query,
                                    .none = exists_none,
                                    .plain = dsl_plain};
const struct dsl_type dsl_ids = {
    .name = "ids", .parse = parse_ids, .build = build_ids, .none = ids_none, .plain = dsl_plain};
const struct dsl_type dsl_type = {.name = "type", .parse = parse_type, .build = build_type};
