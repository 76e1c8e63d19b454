/* prefix, wildcard, regexp, fuzzy: queries for the terms that look like something. */
#include "engine/query/build.h"

#include "engine/query/automaton.h"

struct dsl_pattern {
    struct dsl dsl;
    struct str field;
    const struct json *value;
    struct str rewrite, flags;
    bool case_insensitive, transpositions;
    int32_t flags_value, max_states, prefix_length, max_expansions;
    struct fuzziness fuzziness;
};

#define AT(member) offsetof(struct dsl_pattern, member)

static enum err check_value(const struct dsl_pattern *q, struct errmsg *em)
{
    bool fuzzy = q->dsl.type == &dsl_fuzzy;
    if (q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field name %s null or empty", fuzzy ? "cannot be" : "is");
    }
    return q->value != NULL
               ? ERR_OK
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "%svalue cannot be null", fuzzy ? "query " : "");
}

static enum err parse_form(struct json_pull *p, struct arena *arena, const struct dsl_type *type,
                           const struct field_form *form, struct dsl **out, struct errmsg *em)
{
    struct dsl_pattern *q = dsl_new(out, arena, type, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->transpositions = true;
    q->max_expansions = 50;
    q->max_states = AUTOMATON_STATES_MAX;
    q->flags_value = -1;
    enum err e = dsl_parse_field_form(p, form, q, &q->field, em);
    return e == ERR_OK ? check_value(q, em) : e;
}

static enum err parse_prefix(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_pattern),
        {"value", PARAM_VERBATIM, AT(value)},
        {"prefix", PARAM_VERBATIM, AT(value)},
        {"rewrite", PARAM_NULLABLE, AT(rewrite)},
        {"case_insensitive", PARAM_BOOL, AT(case_insensitive)},
    };
    static const struct field_form form = {"prefix", params, ARRAY_LEN(params), AT(value), false, true,
                                           false,    false};
    return parse_form(p, arena, &dsl_prefix, &form, out, em);
}

static enum err parse_wildcard(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_pattern),
        {"value", PARAM_VERBATIM, AT(value)},
        {"wildcard", PARAM_VERBATIM, AT(value)},
        {"rewrite", PARAM_NULLABLE, AT(rewrite)},
        {"case_insensitive", PARAM_BOOL, AT(case_insensitive)},
    };
    static const struct field_form form = {"wildcard", params, ARRAY_LEN(params), AT(value), false, true,
                                           false,      false};
    return parse_form(p, arena, &dsl_wildcard, &form, out, em);
}

static enum err parse_regexp(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_pattern),
        {"value", PARAM_VERBATIM, AT(value)},
        {"rewrite", PARAM_NULLABLE, AT(rewrite)},
        {"flags", PARAM_REGEXP_FLAGS, AT(flags)},
        {"flags_value", PARAM_INT, AT(flags_value)},
        {"max_determinized_states", PARAM_INT, AT(max_states)},
        {"case_insensitive", PARAM_BOOL, AT(case_insensitive)},
    };
    static const struct field_form form = {"regexp", params, ARRAY_LEN(params), AT(value), false, true,
                                           false,    false};
    return parse_form(p, arena, &dsl_regexp, &form, out, em);
}

static enum err parse_fuzzy(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_pattern),
        {"value", PARAM_VALUE, AT(value)},
        {"term", PARAM_VALUE, AT(value)},
        {"fuzziness", PARAM_FUZZINESS, AT(fuzziness)},
        {"prefix_length", PARAM_INT, AT(prefix_length)},
        {"max_expansions", PARAM_INT, AT(max_expansions)},
        {"transpositions", PARAM_BOOL, AT(transpositions)},
        {"rewrite", PARAM_NULLABLE, AT(rewrite)},
    };
    static const struct field_form form = {"fuzzy", params, ARRAY_LEN(params), AT(value), true, false,
                                           false,   true};
    return parse_form(p, arena, &dsl_fuzzy, &form, out, em);
}

/* Prefixes, wildcards and expressions are text whatever the JSON's type. */
static enum err build_as(struct builder *b, const struct dsl *d, const struct query_ops *ops,
                         struct query **out, struct errmsg *em)
{
    const struct dsl_pattern *q = (const struct dsl_pattern *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    const struct pattern_opts o = {
        .rewrite = q->rewrite, .case_insensitive = q->case_insensitive, .flags = REGEXP_ALL};
    return f != NULL ? field_pattern(b, f, ops, json_text(q->value), &o, out, em)
                     : qnode_none(b, out, em, "User requested \"match_none\" query.");
}

static enum err build_prefix(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    return build_as(b, d, &q_prefix, out, em);
}

static enum err build_wildcard(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    return build_as(b, d, &q_wildcard, out, em);
}

/* Without a mapping, the field is taken by its name. */
static enum err unmapped_regexp(struct builder *b, struct str field, struct str text,
                                const struct pattern_opts *o, struct query **out, struct errmsg *em)
{
    struct query *n = *out = qnode_new(b, &q_regexp);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->field_name = field;
    n->multi.pattern = text;
    n->multi.flags = o->flags;
    n->multi.max_states = o->max_states;
    enum err e = set_rewrite(n, o->rewrite, em);
    return e == ERR_OK ? regexp_check(text, o->flags, o->max_states, b->arena, em) : e;
}

static enum err build_regexp(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_pattern *q = (const struct dsl_pattern *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    struct str text = json_text(q->value), unknown;
    struct pattern_opts o = {.rewrite = q->rewrite,
                             .case_insensitive = q->case_insensitive,
                             .flags = q->flags_value >= 0 ? (uint32_t)q->flags_value : REGEXP_ALL,
                             .max_states = q->max_states > 0 ? (uint32_t)q->max_states : 0};
    enum err e = build_regex_length(b, text, "Regexp Query request", em);
    if (e != ERR_OK) {
        return e;
    }
    if (q->flags.p != NULL && !regexp_flags_parse(q->flags, &o.flags, &unknown)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown flags [%.*s]", STR_ARG(q->flags));
    }
    return f != NULL ? field_pattern(b, f, &q_regexp, text, &o, out, em)
                     : unmapped_regexp(b, q->field, text, &o, out, em);
}

static enum err build_fuzzy(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_pattern *q = (const struct dsl_pattern *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    if (f == NULL) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    struct fuzzy_opts o = {q->fuzziness, q->prefix_length, q->max_expansions, q->transpositions, q->rewrite};
    return field_fuzzy(b, f, json_text(q->value), &o, out, em);
}

static bool pattern_none(struct builder *b, const struct dsl *d)
{
    return leaf_is_none(b, d, ((const struct dsl_pattern *)(const void *)d)->field);
}

static bool unmapped(struct builder *b, const struct dsl *d)
{
    return build_field(b, ((const struct dsl_pattern *)(const void *)d)->field) == NULL;
}

bool dsl_is_prefix(const struct dsl *d, struct str *value, struct str *rewrite)
{
    const struct dsl_pattern *q = (const struct dsl_pattern *)(const void *)d;
    if (d->type != &dsl_prefix) {
        return false;
    }
    *value = json_text(q->value);
    *rewrite = q->rewrite;
    return true;
}

static struct str pattern_field(const struct dsl *d)
{
    return ((const struct dsl_pattern *)(const void *)d)->field;
}

const struct dsl_type dsl_prefix = {.name = "prefix",
                                    .parse = parse_prefix,
                                    .build = build_prefix,
                                    .none = pattern_none,
                                    .pattern_field = pattern_field};
const struct dsl_type dsl_wildcard = {.name = "wildcard",
                                      .parse = parse_wildcard,
                                      .build = build_wildcard,
                                      .none = pattern_none,
                                      .pattern_field = pattern_field};
const struct dsl_type dsl_regexp = {
    .name = "regexp", .parse = parse_regexp, .build = build_regexp, .pattern_field = pattern_field};
const struct dsl_type dsl_fuzzy = {.name = "fuzzy",
                                   .parse = parse_fuzzy,
                                   .build = build_fuzzy,
                                   .none = unmapped,
                                   .pattern_field = pattern_field};
