/* match, match_phrase, match_phrase_prefix, match_bool_prefix, match_all, match_none. */
#include "engine/query/build.h"

#include <math.h>

struct dsl_match {
    struct dsl dsl;
    struct str field;
    const struct json *value;
    bool and, lenient, zero_terms_all, transpositions, synonyms_phrase;
    struct str analyzer, minimum_should_match, rewrite;
    struct fuzziness fuzziness;
    int32_t prefix_length, max_expansions, slop;
    float cutoff;
};

static struct dsl_match *match_new(struct dsl **out, struct arena *arena, const struct dsl_type *type)
{
    struct dsl_match *m = dsl_new(out, arena, type, sizeof(*m));
    if (m != NULL) {
        m->max_expansions = 50;
        m->cutoff = INFINITY;
        m->transpositions = true;
        m->synonyms_phrase = true;
    }
    return m;
}

#define AT(member) offsetof(struct dsl_match, member)

static enum err check_limits(const struct dsl_match *m, struct errmsg *em)
{
    if (m->prefix_length < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] requires prefix length to be non-negative.",
                       m->dsl.type->name);
    }
    if (m->max_expansions <= 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] requires maxExpansions to be positive.",
                       m->dsl.type->name);
    }
    if (m->slop < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No negative slop allowed.");
    }
    return ERR_OK;
}

/* What the four have in common; match alone is read without a look at its field. */
static enum err parse_form(struct json_pull *p, struct arena *arena, const struct dsl_type *type,
                           const struct field_form *form, struct dsl **out, struct errmsg *em)
{
    struct dsl_match *m = match_new(out, arena, type);
    if (m == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_field_form(p, form, m, &m->field, em);
    if (e != ERR_OK) {
        return e;
    }
    if (m->value == NULL && type == &dsl_match) {
        return json_pull_err(p, em, ERR_PARSING, "No text specified for text query");
    }
    if (type != &dsl_match && (type == &dsl_match_phrase_prefix ? m->field.p == NULL : m->field.n == 0)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] requires fieldName", type->name);
    }
    if (m->value == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] requires query value", type->name);
    }
    return check_limits(m, em);
}

static enum err parse_match(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_match),
        {"query", PARAM_VALUE, AT(value)},
        {"analyzer", PARAM_TEXT, AT(analyzer)},
        {"operator", PARAM_OPERATOR, AT(and)},
        {"fuzziness", PARAM_FUZZINESS, AT(fuzziness)},
        {"prefix_length", PARAM_INT, AT(prefix_length)},
        {"max_expansions", PARAM_INT, AT(max_expansions)},
        {"minimum_should_match", PARAM_NULLABLE, AT(minimum_should_match)},
        {"fuzzy_rewrite", PARAM_NULLABLE, AT(rewrite)},
        {"fuzzy_transpositions", PARAM_BOOL, AT(transpositions)},
        {"lenient", PARAM_BOOL, AT(lenient)},
        {"cutoff_frequency", PARAM_FLOAT, AT(cutoff)},
        {"zero_terms_query", PARAM_ZERO_TERMS, AT(zero_terms_all)},
        {"auto_generate_synonyms_phrase_query", PARAM_BOOL, AT(synonyms_phrase)},
    };
    static const struct field_form form = {"match", params, ARRAY_LEN(params), AT(value), true, false,
                                           false,   false};
    return parse_form(p, arena, &dsl_match, &form, out, em);
}

static enum err parse_phrase(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_match),
        {"query", PARAM_VALUE, AT(value)},
        {"analyzer", PARAM_TEXT, AT(analyzer)},
        {"slop", PARAM_INT, AT(slop)},
        {"zero_terms_query", PARAM_ZERO_TERMS, AT(zero_terms_all)},
    };
    static const struct field_form form = {"match_phrase", params, ARRAY_LEN(params), AT(value), true, false,
                                           false,          false};
    return parse_form(p, arena, &dsl_match_phrase, &form, out, em);
}

static enum err parse_phrase_prefix(struct json_pull *p, struct arena *arena, struct dsl **out,
                                    struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_match),
        {"query", PARAM_VALUE, AT(value)},
        {"analyzer", PARAM_TEXT, AT(analyzer)},
        {"slop", PARAM_INT, AT(slop)},
        {"max_expansions", PARAM_INT, AT(max_expansions)},
        {"zero_terms_query", PARAM_ZERO_TERMS, AT(zero_terms_all)},
    };
    static const struct field_form form = {
        "match_phrase_prefix", params, ARRAY_LEN(params), AT(value), true, false, false, false};
    return parse_form(p, arena, &dsl_match_phrase_prefix, &form, out, em);
}

static enum err parse_bool_prefix(struct json_pull *p, struct arena *arena, struct dsl **out,
                                  struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_match),
        {"query", PARAM_VALUE, AT(value)},
        {"analyzer", PARAM_TEXT, AT(analyzer)},
        {"operator", PARAM_OPERATOR, AT(and)},
        {"minimum_should_match", PARAM_NULLABLE, AT(minimum_should_match)},
        {"fuzziness", PARAM_FUZZINESS, AT(fuzziness)},
        {"prefix_length", PARAM_INT, AT(prefix_length)},
        {"max_expansions", PARAM_INT, AT(max_expansions)},
        {"fuzzy_transpositions", PARAM_BOOL, AT(transpositions)},
        {"fuzzy_rewrite", PARAM_NULLABLE, AT(rewrite)},
    };
    static const struct field_form form = {
        "match_bool_prefix", params, ARRAY_LEN(params), AT(value), true, false, false, false};
    return parse_form(p, arena, &dsl_match_bool_prefix, &form, out, em);
}

static enum err build_match(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_match *m = (const struct dsl_match *)(const void *)d;
    struct text_opts o;
    text_opts_init(&o);
    o.kind = d->type == &dsl_match                 ? MATCH_BOOLEAN
             : d->type == &dsl_match_phrase        ? MATCH_PHRASE
             : d->type == &dsl_match_phrase_prefix ? MATCH_PHRASE_PREFIX
                                                   : MATCH_BOOL_PREFIX;
    o.and = m->and;
    o.lenient = m->lenient;
    o.zero_terms_all = m->zero_terms_all;
    o.synonyms_phrase = m->synonyms_phrase;
    o.cutoff = m->cutoff;
    o.slop = m->slop;
    o.max_expansions = m->max_expansions;
    o.fuzzy = m->fuzziness.given;
    o.fuzzy_opts =
        (struct fuzzy_opts){m->fuzziness, m->prefix_length, m->max_expansions, m->transpositions, m->rewrite};
    if (m->analyzer.p != NULL) {
        enum err e = build_analyzer(b, d->type->name, m->analyzer, &o.analyzer, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    enum err e = check_rewrite(m->rewrite, em);
    e = e == ERR_OK ? build_text(b, m->field, json_text(m->value), &o, out, em) : e;
    return e == ERR_OK ? apply_min_should(b, out, m->minimum_should_match, em) : e;
}

/* ---- match_all, match_none ---- */

static const struct object_field bare_fields[] = {
    {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_BOOST, offsetof(struct dsl, boost), NULL},
    {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
};

static enum err parse_bare(struct json_pull *p, struct arena *arena, const struct dsl_type *type,
                           struct dsl **out, struct errmsg *em)
{
    if (dsl_new(out, arena, type, sizeof(**out)) == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_object(p, arena, type->name, bare_fields, ARRAY_LEN(bare_fields), *out, em);
    if (e == ERR_X_CONTENT) {
        uint32_t line, col;
        json_place(p->text, p->off, &line, &col);
        return err_wrap_at(em, ERR_PARSING, line, col, "%s", err_reason(em));
    }
    return e;
}

static enum err parse_all(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    return parse_bare(p, arena, &dsl_match_all, out, em);
}

static enum err parse_none(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {{"boost", PARAM_BOOST, offsetof(struct dsl, boost)},
                                          {"_name", PARAM_TEXT, offsetof(struct dsl, name)}};
    struct str name = STR_NULL;
    if (dsl_new(out, arena, &dsl_match_none, sizeof(**out)) == NULL) {
        return err_no_memory(em);
    }
    while (json_pull_member(p, &name)) {
        enum err e = json_token_is_value(p->token)
                         ? dsl_param_of(p, "match_none", name, params, ARRAY_LEN(params), *out, em)
                         : dsl_unknown_token(p, "match_none", name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err build_all(struct builder *b, UNUSED const struct dsl *d, struct query **out,
                          struct errmsg *em)
{
    return qnode_all(b, out, em);
}

static enum err build_none(struct builder *b, UNUSED const struct dsl *d, struct query **out,
                           struct errmsg *em)
{
    return qnode_none(b, out, em, "User requested \"match_none\" query.");
}

static bool always_none(UNUSED struct builder *b, UNUSED const struct dsl *d)
{
    return true;
}

const struct dsl_type dsl_match = {
    .name = "match", .parse = parse_match, .build = build_match, .plain = dsl_plain_words};
const struct dsl_type dsl_match_phrase = {
    .name = "match_phrase", .parse = parse_phrase, .build = build_match, .plain = dsl_plain_words};
const struct dsl_type dsl_match_phrase_prefix = {
    .name = "match_phrase_prefix", .parse = parse_phrase_prefix, .build = build_match};
const struct dsl_type dsl_match_bool_prefix = {
    .name = "match_bool_prefix", .parse = parse_bool_prefix, .build = build_match};
const struct dsl_type dsl_match_all = {
    .name = "match_all", .parse = parse_all, .build = build_all, .plain = dsl_plain};
const struct dsl_type dsl_match_none = {
    .name = "match_none", .parse = parse_none, .build = build_none, .none = always_none, .plain = dsl_plain};
