/* multi_match. */
#include "engine/query/build.h"

#include <math.h>

struct dsl_multi {
    struct dsl dsl;
    const struct json *value;
    struct field_boosts fields;
    struct str type_text, analyzer, minimum_should_match, rewrite;
    enum multi_type type;
    bool and, lenient, lenient_given, zero_terms_all, transpositions, synonyms_phrase, has_tie_breaker;
    struct fuzziness fuzziness;
    int32_t prefix_length, max_expansions, slop;
    float tie_breaker, cutoff;
};

#define AT(member) offsetof(struct dsl_multi, member)

static const struct param params[] = {
    DSL_COMMON_PARAMS(struct dsl_multi),
    {"query", PARAM_VALUE, AT(value)},
    {"analyzer", PARAM_TEXT, AT(analyzer)},
    {"slop", PARAM_INT, AT(slop)},
    {"fuzziness", PARAM_FUZZINESS, AT(fuzziness)},
    {"prefix_length", PARAM_INT, AT(prefix_length)},
    {"max_expansions", PARAM_INT, AT(max_expansions)},
    {"operator", PARAM_OPERATOR, AT(and)},
    {"minimum_should_match", PARAM_NULLABLE, AT(minimum_should_match)},
    {"fuzzy_rewrite", PARAM_NULLABLE, AT(rewrite)},
    {"tie_breaker", PARAM_FLOAT, AT(tie_breaker)},
    {"cutoff_frequency", PARAM_FLOAT, AT(cutoff)},
    {"lenient", PARAM_BOOL, AT(lenient)},
    {"zero_terms_query", PARAM_ZERO_TERMS, AT(zero_terms_all)},
    {"auto_generate_synonyms_phrase_query", PARAM_BOOL, AT(synonyms_phrase)},
    {"fuzzy_transpositions", PARAM_BOOL, AT(transpositions)},
};

static enum err parse_value(struct json_pull *p, struct dsl_multi *q, struct str name, struct errmsg *em)
{
    if (str_is(name, "type")) {
        enum err e = json_pull_text(p, &q->type_text, em);
        return e == ERR_OK ? multi_type_parse(q->type_text, &q->type, em) : e;
    }
    q->has_tie_breaker = q->has_tie_breaker || str_is(name, "tie_breaker");
    q->lenient_given = q->lenient_given || str_is(name, "lenient");
    return dsl_param_of(p, "multi_match", name, params, ARRAY_LEN(params), q, em);
}

static enum err multi_match_check(struct json_pull *p, const struct dsl_multi *q, struct errmsg *em)
{
    if (q->value == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "No text specified for multi_match query");
    }
    if (q->fuzziness.given
        && (q->type == MULTI_CROSS || q->type == MULTI_PHRASE || q->type == MULTI_PHRASE_PREFIX)) {
        return json_pull_err(p, em, ERR_PARSING, "Fuzziness not allowed for type [%.*s]",
                             STR_ARG(q->type_text));
    }
    if (q->slop != 0 && q->type == MULTI_BOOL_PREFIX) {
        return json_pull_err(p, em, ERR_PARSING, "[slop] not allowed for type [bool_prefix]");
    }
    if (q->cutoff != INFINITY && q->type == MULTI_BOOL_PREFIX) {
        return json_pull_err(p, em, ERR_PARSING, "[cutoff_frequency] not allowed for type [bool_prefix]");
    }
    enum err e = field_boosts_check(&q->fields, em);
    if (e != ERR_OK) {
        return e;
    }
    if (q->max_expansions <= 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Max expansions must be strictly great than zero.");
    }
    if (q->prefix_length < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No negative prefix length allowed.");
    }
    if (q->slop < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No negative slop allowed.");
    }
    return ERR_OK;
}

static enum err parse_multi(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_multi *q = dsl_new(out, arena, &dsl_multi_match, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->max_expansions = 50;
    q->cutoff = INFINITY;
    q->transpositions = q->synonyms_phrase = true;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e;
        if (str_is(name, "fields")) {
            e = field_boosts_parse(p, arena, "multi_match", &q->fields, em);
        } else if (json_token_is_value(p->token)) {
            e = parse_value(p, q, name, em);
        } else {
            e = dsl_unknown_token(p, "multi_match", name, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return multi_match_check(p, q, em);
}

static enum err build_multi_match(struct builder *b, const struct dsl *d, struct query **out,
                                  struct errmsg *em)
{
    const struct dsl_multi *q = (const struct dsl_multi *)(const void *)d;
    struct multi_opts o = {.type = q->type,
                           .min_should = q->minimum_should_match,
                           .tie_breaker = q->tie_breaker,
                           .has_tie_breaker = q->has_tie_breaker};
    text_opts_init(&o.text);
    o.text.and = q->and;
    o.text.lenient = q->lenient;
    o.text.zero_terms_all = q->zero_terms_all;
    o.text.synonyms_phrase = q->synonyms_phrase;
    o.text.cutoff = q->cutoff;
    o.text.slop = q->slop;
    o.text.max_expansions = q->max_expansions;
    o.text.fuzzy = q->fuzziness.given;
    o.text.fuzzy_opts =
        (struct fuzzy_opts){q->fuzziness, q->prefix_length, q->max_expansions, q->transpositions, q->rewrite};
    struct field_boosts fields = {0};
    enum err e =
        q->analyzer.p != NULL ? build_analyzer(b, "multi_match", q->analyzer, &o.text.analyzer, em) : ERR_OK;
    e = e == ERR_OK ? check_rewrite(q->rewrite, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    bool all = false;
    if (q->fields.n > 0) {
        e = resolve_fields(b, &q->fields, STR_NULL, false, &fields, em);
        for (size_t i = 0; i < q->fields.n; i++) {
            all = all || str_is(q->fields.v[i].pattern, "*");
        }
    } else {
        struct field_boosts defaults = {0};
        e = default_fields(b, &defaults, &all, em);
        e = e == ERR_OK ? resolve_fields(b, &defaults, STR_NULL, false, &fields, em) : e;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (all && !q->lenient_given) {
        o.text.lenient = true;
    }
    return build_multi(b, &fields, json_text(q->value), &o, out, em);
}

static bool multi_plain(const struct json *body, unsigned depth)
{
    const struct json *fields = json_get(body, "fields"), *type = json_get(body, "type");
    if (fields == NULL || fields->type != JSON_ARRAY || fields->n == 0 || !dsl_plain_words(body, depth)
        || (type != NULL && str_find_str(json_text(type), STR("prefix")) != SIZE_MAX)) {
        return false;
    }
    for (uint32_t i = 0; i < fields->n; i++) {
        if (fields->items[i].type != JSON_STRING || str_find_str(fields->items[i].s, STR("*")) != SIZE_MAX) {
            return false;
        }
    }
    return true;
}

const struct dsl_type dsl_multi_match = {
    .name = "multi_match", .parse = parse_multi, .build = build_multi_match, .plain = multi_plain};
