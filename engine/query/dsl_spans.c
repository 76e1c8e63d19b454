/* The queries of spans, as they are written (SpanTermQueryBuilder and its like of Elasticsearch). */
#include "engine/query/dsl_spans.h"
#include "engine/query/build.h"

#include "common/base/num.h"

#define AT(member) offsetof(struct dsl_span, member)

/* ---- span_term ---- */

static enum err parse_term(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_span),
        {"term", PARAM_TOKEN, AT(value)},
        {"value", PARAM_TOKEN, AT(value)},
    };
    struct dsl_span *q = dsl_new(out, arena, &dsl_span_term, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    bool in_array = false;
    while (json_pull_member(p, &name)) {
        bool object = p->token == TOK_START_OBJECT, known;
        bool named = !in_array || p->token == TOK_END_ARRAY; /* elements have no names */
        in_array = p->token == TOK_START_ARRAY;
        enum err e = dsl_one_field(p, "span_term", q->field,
                                   object  ? name
                                   : named ? p->name
                                           : STR("null"),
                                   em);
        if (e == ERR_OK && !object) {
            q->field = p->name;
            e = dsl_token(p, &q->value, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        q->field = object ? name : q->field;
        while (object && json_pull_until(p, TOK_END_OBJECT)) {
            if (p->token == TOK_FIELD_NAME) {
                name = p->name;
                continue;
            }
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
            if (e != ERR_OK || !known) {
                return e != ERR_OK ? e : dsl_unsupported(p, "span_term", name, em);
            }
        }
    }
    if (q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
    }
    return q->value != NULL ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "value cannot be null");
}

/* ---- span_gap ---- */

static enum err parse_gap(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_span *q = dsl_new(out, arena, &dsl_span_gap, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        if (p->token == TOK_FIELD_NAME) {
            e = dsl_one_field(p, "span_gap", q->field, p->name, em);
            q->field = p->name;
        } else if (json_token_is_value(p->token)) {
            e = json_pull_i32(p, &q->end, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return q->field.n > 0 ? ERR_OK
                          : err_set(em, ERR_ILLEGAL_ARGUMENT, "[span_gap] field name is null or empty");
}

/* ---- queries of others ---- */

/* A clause, and the member of struct dsl_span that takes it. */
struct span_slot {
    const char *key;
    size_t at;
};

struct span_form {
    const struct dsl_type *type;
    bool list;              /* "clauses" */
    bool patterns;          /* clauses are patterns */
    bool values;            /* what is no value is not taken for one */
    bool forgives;          /* what is neither object nor value is passed by */
    const char *short_name; /* of a clause, in errors; NULL: by its key */
    const struct span_slot *slots;
    size_t n_slots;
    const struct param *params;
    size_t n_params;
};

static enum err check_clause(const struct json_pull *p, const struct span_form *f, const struct dsl *d,
                             struct str key, struct errmsg *em)
{
    const char *name = f->type->name;
    if (f->patterns) {
        return d->type->pattern_field != NULL
                   ? ERR_OK
                   : json_pull_err(p, em, ERR_PARSING, "[%s] [%.*s] must be of type multi term query", name,
                                   STR_ARG(key));
    }
    if (!d->type->is_span && f->short_name != NULL) {
        return json_pull_err(p, em, ERR_PARSING, "%s must be of type span query", f->short_name);
    }
    if (!d->type->is_span) {
        return json_pull_err(p, em, ERR_PARSING, "%s [%.*s] must be of type span query", name, STR_ARG(key));
    }
    if (d->boost == 1) {
        return ERR_OK;
    }
    struct buf boost;
    buf_init(&boost, NULL, 64);
    num_put_float(&boost, d->boost);
    enum err e = json_pull_err(p, em, ERR_PARSING,
                               "%s [%.*s] as a nested span clause can't have non-default boost value [%.*s]",
                               name, STR_ARG(key), STR_ARG(buf_view(&boost)));
    buf_fini(&boost);
    return e;
}

static enum err read_clause(struct json_pull *p, struct arena *arena, const struct span_form *f,
                            struct str key, struct dsl **out, struct errmsg *em)
{
    enum err e = dsl_parse_query(p, arena, out, em);
    return e == ERR_OK ? check_clause(p, f, *out, key, em) : e;
}

static enum err read_list(struct json_pull *p, struct arena *arena, const struct span_form *f, struct str key,
                          struct dsl_list *out, struct errmsg *em)
{
    while (json_pull_until(p, TOK_END_ARRAY)) {
        struct dsl *d;
        enum err e = read_clause(p, arena, f, key, &d, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!dsl_list_add(out, arena, d)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err read_member(struct json_pull *p, struct arena *arena, const struct span_form *f,
                            struct str name, struct dsl_span *q, struct errmsg *em)
{
    if (p->token == TOK_START_OBJECT) {
        for (size_t i = 0; i < f->n_slots; i++) {
            if (str_is(name, f->slots[i].key)) {
                return read_clause(p, arena, f, name, (struct dsl **)(void *)((char *)q + f->slots[i].at),
                                   em);
            }
        }
        return dsl_unsupported(p, f->type->name, name, em);
    }
    if (f->list && p->token == TOK_START_ARRAY) {
        return str_is(name, "clauses") ? read_list(p, arena, f, name, &q->clauses, em)
                                       : dsl_unsupported(p, f->type->name, name, em);
    }
    if (!json_token_is_value(p->token) && (f->values || f->forgives)) {
        return f->forgives ? ERR_OK : dsl_unsupported(p, f->type->name, name, em);
    }
    return dsl_param_of(p, f->type->name, name, f->params, f->n_params, q, em);
}

static enum err parse_form(struct json_pull *p, struct arena *arena, const struct span_form *f,
                           struct dsl_span **out, struct errmsg *em)
{
    struct dsl *made;
    struct dsl_span *q = *out = dsl_new(&made, arena, f->type, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->in_order = true;
    q->end = q->dist = q->before = q->after = SPAN_NOT_SET;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = read_member(p, arena, f, name, q, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static const struct param common_params[] = {DSL_COMMON_PARAMS(struct dsl_span)};

static enum err parse_near(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_span),
                                          {"in_order", PARAM_BOOL, AT(in_order)},
                                          {"slop", PARAM_INT, AT(slop)}};
    static const struct span_form form = {.type = &dsl_span_near,
                                          .list = true,
                                          .values = true,
                                          .params = params,
                                          .n_params = ARRAY_LEN(params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    return e != ERR_OK || q->clauses.n > 0
               ? e
               : json_pull_err(p, em, ERR_PARSING, "span_near must include [clauses]");
}

static enum err parse_or(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct span_form form = {
        .type = &dsl_span_or, .list = true, .params = common_params, .n_params = ARRAY_LEN(common_params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    return e != ERR_OK || q->clauses.n > 0
               ? e
               : json_pull_err(p, em, ERR_PARSING, "span_or must include [clauses]");
}

static enum err parse_not(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct span_slot slots[] = {{"include", AT(first)}, {"exclude", AT(second)}};
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_span),
                                          {"dist", PARAM_INT, AT(dist)},
                                          {"pre", PARAM_INT, AT(before)},
                                          {"post", PARAM_INT, AT(after)}};
    static const struct span_form form = {.type = &dsl_span_not,
                                          .slots = slots,
                                          .n_slots = ARRAY_LEN(slots),
                                          .params = params,
                                          .n_params = ARRAY_LEN(params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    if (e != ERR_OK) {
        return e;
    }
    if (q->first == NULL || q->second == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "span_not must have [%s] span query clause",
                             q->first == NULL ? "include" : "exclude");
    }
    if (q->dist != SPAN_NOT_SET && (q->before != SPAN_NOT_SET || q->after != SPAN_NOT_SET)) {
        return json_pull_err(p, em, ERR_PARSING,
                             "span_not can either use [dist] or [pre] & [post] (or none)");
    }
    return ERR_OK;
}

static enum err parse_first(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct span_slot slots[] = {{"match", AT(first)}};
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_span), {"end", PARAM_INT, AT(end)}};
    static const struct span_form form = {.type = &dsl_span_first,
                                          .slots = slots,
                                          .n_slots = ARRAY_LEN(slots),
                                          .params = params,
                                          .n_params = ARRAY_LEN(params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    if (e != ERR_OK) {
        return e;
    }
    if (q->first == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "span_first must have [match] span query clause");
    }
    if (q->end == SPAN_NOT_SET) {
        return json_pull_err(p, em, ERR_PARSING, "span_first must have [end] set for it");
    }
    return q->end >= 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "parameter [end] needs to be positive.");
}

static const struct span_slot big_and_little[] = {{"big", AT(first)}, {"little", AT(second)}};

static enum err parse_containing(struct json_pull *p, struct arena *arena, struct dsl **out,
                                 struct errmsg *em)
{
    static const struct span_form form = {.type = &dsl_span_containing,
                                          .slots = big_and_little,
                                          .n_slots = ARRAY_LEN(big_and_little),
                                          .params = common_params,
                                          .n_params = ARRAY_LEN(common_params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    if (e == ERR_OK && (q->first == NULL || q->second == NULL)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "inner clause [%s] cannot be null.",
                       q->first == NULL ? "big" : "little");
    }
    return e;
}

static enum err parse_within(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct span_form form = {.type = &dsl_span_within,
                                          .slots = big_and_little,
                                          .n_slots = ARRAY_LEN(big_and_little),
                                          .params = common_params,
                                          .n_params = ARRAY_LEN(common_params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    if (e == ERR_OK && (q->first == NULL || q->second == NULL)) {
        return json_pull_err(p, em, ERR_PARSING, "span_within must include [%s]",
                             q->first == NULL ? "big" : "little");
    }
    return e;
}

static enum err parse_multi(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct span_slot slots[] = {{"match", AT(first)}};
    static const struct span_form form = {.type = &dsl_span_multi,
                                          .patterns = true,
                                          .forgives = true,
                                          .slots = slots,
                                          .n_slots = ARRAY_LEN(slots),
                                          .params = common_params,
                                          .n_params = ARRAY_LEN(common_params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    return e != ERR_OK || q->first != NULL
               ? e
               : json_pull_err(p, em, ERR_PARSING, "[span_multi] must have [match] multi term query clause");
}

static enum err parse_mask(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct span_slot slots[] = {{"query", AT(first)}};
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_span),
                                          {"field", PARAM_TEXT, AT(field)}};
    static const struct span_form form = {.type = &dsl_field_masking_span,
                                          .short_name = "[field_masking_span] query",
                                          .slots = slots,
                                          .n_slots = ARRAY_LEN(slots),
                                          .params = params,
                                          .n_params = ARRAY_LEN(params)};
    struct dsl_span *q;
    enum err e = parse_form(p, arena, &form, &q, em);
    *out = &q->dsl;
    if (e != ERR_OK) {
        return e;
    }
    if (q->first == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "field_masking_span must have [query] span query clause");
    }
    if (q->field.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "field_masking_span must have [field] set for it");
    }
    return q->field.n > 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
}

const struct dsl_type dsl_span_term = {
    .name = "span_term", .parse = parse_term, .build = build_span_term, .plain = dsl_plain, .is_span = true};
const struct dsl_type dsl_span_gap = {
    .name = "span_gap", .parse = parse_gap, .build = build_span_gap, .is_span = true};
const struct dsl_type dsl_span_near = {
    .name = "span_near", .parse = parse_near, .build = build_span_near, .is_span = true};
const struct dsl_type dsl_span_or = {
    .name = "span_or", .parse = parse_or, .build = build_span_or, .is_span = true};
const struct dsl_type dsl_span_not = {
    .name = "span_not", .parse = parse_not, .build = build_span_not, .is_span = true};
const struct dsl_type dsl_span_first = {
    .name = "span_first", .parse = parse_first, .build = build_span_first, .is_span = true};
const struct dsl_type dsl_span_containing = {
    .name = "span_containing", .parse = parse_containing, .build = build_span_around, .is_span = true};
const struct dsl_type dsl_span_within = {
    .name = "span_within", .parse = parse_within, .build = build_span_around, .is_span = true};
const struct dsl_type dsl_span_multi = {
    .name = "span_multi", .parse = parse_multi, .build = build_span_multi, .is_span = true};
const struct dsl_type dsl_field_masking_span = {
    .name = "field_masking_span", .parse = parse_mask, .build = build_span_mask, .is_span = true};
