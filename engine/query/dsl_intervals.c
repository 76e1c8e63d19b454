/* intervals, as it is written (IntervalsSourceProvider and IntervalQueryBuilder of Elasticsearch). */
#include "engine/query/dsl_intervals.h"

#define AT(member) offsetof(struct interval_rule, member)

static enum err parse_rule(struct json_pull *p, struct arena *arena, struct interval_rule **out,
                           struct errmsg *em);

static enum err expect(const struct json_pull *p, enum json_token want, struct errmsg *em)
{
    return p->token == want
               ? ERR_OK
               : json_pull_err(p, em, ERR_PARSING, "Expected [%s] but got [%s]", json_token_text(want),
                               p->token == TOK_NONE ? "null" : json_token_text(p->token));
}

static enum err next_is(struct json_pull *p, enum json_token want, struct errmsg *em)
{
    json_pull_next(p);
    return expect(p, want, em);
}

/* {"kind": {...}} */
static enum err inner_rule(struct json_pull *p, struct arena *arena, struct interval_rule **out,
                           struct errmsg *em)
{
    enum err e = next_is(p, TOK_FIELD_NAME, em);
    e = e == ERR_OK ? parse_rule(p, arena, out, em) : e;
    return e == ERR_OK ? next_is(p, TOK_END_OBJECT, em) : e;
}

static enum err read_intervals(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct interval_rule *r = base;
    bool array = p->token == TOK_START_ARRAY;
    size_t cap = 0;
    r->n = 0;
    r->has_rules = true;
    while (!array || json_pull_until(p, TOK_END_ARRAY)) {
        struct interval_rule **v = arena_grow(arena, r->v, r->n, &cap, sizeof(*v));
        if (v == NULL) {
            return err_no_memory(em);
        }
        r->v = v;
        if (p->token == TOK_START_ARRAY) {
            return err_set(em, ERR_ILLEGAL_STATE, "expected value but got [%s]", json_token_text(p->token));
        }
        enum err e = inner_rule(p, arena, &v[r->n], em);
        if (e != ERR_OK) {
            return e;
        }
        r->n++;
        if (!array) {
            break;
        }
    }
    return ERR_OK;
}

static enum err read_filter(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct interval_rule *r = base;
    enum err e = next_is(p, TOK_FIELD_NAME, em);
    if (e != ERR_OK) {
        return e;
    }
    r->filter_kind = p->name;
    if (str_is(p->name, "script")) {
        json_pull_next(p);
        e = script_form_parse(p, &r->script, em);
        return e == ERR_OK ? next_is(p, TOK_END_OBJECT, em) : e;
    }
    e = next_is(p, TOK_START_OBJECT, em);
    e = e == ERR_OK ? inner_rule(p, arena, &r->filter, em) : e;
    return e == ERR_OK ? next_is(p, TOK_END_OBJECT, em) : e;
}

static enum err read_fuzziness(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    (void)arena;
    return fuzziness_parse(p, &((struct interval_rule *)base)->fuzziness, em);
}

#define FIELD_MAX_GAPS                                                     \
    {                                                                      \
        "max_gaps", OBJ_NUMBER | OBJ_STRING, PARAM_INT, AT(max_gaps), NULL \
    }
#define FIELD_ORDERED                                                      \
    {                                                                      \
        "ordered", OBJ_BOOLEAN | OBJ_STRING, PARAM_BOOL, AT(ordered), NULL \
    }
#define FIELD_ANALYZER                                         \
    {                                                          \
        "analyzer", OBJ_STRING, PARAM_TEXT, AT(analyzer), NULL \
    }
#define FIELD_FIELD                                              \
    {                                                            \
        "use_field", OBJ_STRING, PARAM_TEXT, AT(use_field), NULL \
    }
#define FIELD_FILTER                                        \
    {                                                       \
        "filter", OBJ_OBJECT, PARAM_IGNORED, 0, read_filter \
    }
#define FIELD_RULES                                                           \
    {                                                                         \
        "intervals", OBJ_OBJECT | OBJ_ARRAY, PARAM_IGNORED, 0, read_intervals \
    }

static const struct object_field match_fields[] = {{"query", OBJ_STRING, PARAM_TEXT, AT(text), NULL},
                                                   FIELD_MAX_GAPS,
                                                   FIELD_ORDERED,
                                                   FIELD_ANALYZER,
                                                   FIELD_FILTER,
                                                   FIELD_FIELD};
static const struct object_field any_fields[] = {FIELD_RULES, FIELD_FILTER};
static const struct object_field all_fields[] = {FIELD_ORDERED, FIELD_RULES, FIELD_MAX_GAPS, FIELD_FILTER};
static const struct object_field prefix_fields[] = {
    {"prefix", OBJ_STRING, PARAM_TEXT, AT(text), NULL}, FIELD_ANALYZER, FIELD_FIELD};
static const struct object_field wildcard_fields[] = {
    {"pattern", OBJ_STRING, PARAM_TEXT, AT(text), NULL}, FIELD_ANALYZER, FIELD_FIELD};
static const struct object_field fuzzy_fields[] = {
    {"term", OBJ_STRING, PARAM_TEXT, AT(text), NULL},
    {"prefix_length", OBJ_NUMBER | OBJ_STRING, PARAM_INT, AT(prefix_length), NULL},
    {"transpositions", OBJ_BOOLEAN | OBJ_STRING, PARAM_BOOL, AT(transpositions), NULL},
    {"fuzziness", OBJ_STRING | OBJ_NUMBER | OBJ_BOOLEAN | OBJ_NULL, PARAM_IGNORED, 0, read_fuzziness},
    FIELD_ANALYZER,
    FIELD_FIELD};

static const struct {
    const char *name, *required;
    enum interval_rule_kind kind;
    const struct object_field *fields;
    size_t n;
} rules[] = {{"match", "query", RULE_MATCH, match_fields, ARRAY_LEN(match_fields)},
             {"any_of", "intervals", RULE_ANY_OF, any_fields, ARRAY_LEN(any_fields)},
             {"all_of", "intervals", RULE_ALL_OF, all_fields, ARRAY_LEN(all_fields)},
             {"prefix", "prefix", RULE_PREFIX, prefix_fields, ARRAY_LEN(prefix_fields)},
             {"wildcard", "pattern", RULE_WILDCARD, wildcard_fields, ARRAY_LEN(wildcard_fields)},
             {"fuzzy", "term", RULE_FUZZY, fuzzy_fields, ARRAY_LEN(fuzzy_fields)}};

/* The cursor stands on the rule's name. */
static enum err parse_rule(struct json_pull *p, struct arena *arena, struct interval_rule **out,
                           struct errmsg *em)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rules) && !str_is(p->name, rules[i].name)) {
        i++;
    }
    if (i == ARRAY_LEN(rules)) {
        return json_pull_err(
            p, em, ERR_PARSING,
            "Unknown interval type [%.*s], expecting one of [match, any_of, all_of, prefix, wildcard]",
            STR_ARG(p->name));
    }
    if (p->depth > DSL_DEPTH_MAX) {
        return json_pull_err(p, em, ERR_PARSING, "queries are nested deeper than %d levels", DSL_DEPTH_MAX);
    }
    struct interval_rule *r = *out = ARENA_NEW(arena, struct interval_rule);
    if (r == NULL) {
        return err_no_memory(em);
    }
    *r = (struct interval_rule){.kind = rules[i].kind, .max_gaps = -1, .transpositions = true};
    enum err e = dsl_parse_object(p, arena, rules[i].name, rules[i].fields, rules[i].n, r, em);
    bool missing = r->text.p == NULL && !r->has_rules;
    return e == ERR_OK ? dsl_required(&rules[i].required, &missing, 1, em) : e;
}

static enum err read_parts(struct json_pull *p, struct arena *arena, struct dsl_intervals_query *q,
                           struct errmsg *em)
{
    struct str rule = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = expect(p, TOK_FIELD_NAME, em);
        if (e != ERR_OK) {
            return e;
        }
        if (str_is(p->name, "_name")) {
            json_pull_next(p);
            e = json_pull_text(p, &q->dsl.name, em);
        } else if (str_is(p->name, "boost")) {
            json_pull_next(p);
            e = json_pull_float(p, &q->dsl.boost, em);
        } else if (rule.p != NULL) {
            e = json_pull_err(p, em, ERR_PARSING,
                              "Only one interval rule can be specified, found [%.*s] and [%.*s]",
                              STR_ARG(rule), STR_ARG(p->name));
        } else {
            rule = p->name;
            e = parse_rule(p, arena, &q->rule, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err parse_intervals(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_intervals_query *q = dsl_new(out, arena, &dsl_intervals, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    enum err e = next_is(p, TOK_FIELD_NAME, em);
    if (e != ERR_OK) {
        return e;
    }
    q->field = p->name;
    e = next_is(p, TOK_START_OBJECT, em);
    e = e == ERR_OK ? read_parts(p, arena, q, em) : e;
    e = e == ERR_OK ? next_is(p, TOK_END_OBJECT, em) : e;
    return e != ERR_OK || q->rule != NULL
               ? e
               : json_pull_err(p, em, ERR_PARSING, "Missing intervals from interval query definition");
}

const struct dsl_type dsl_intervals = {
    .name = "intervals", .parse = parse_intervals, .build = build_intervals};
