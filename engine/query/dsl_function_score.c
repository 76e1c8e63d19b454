/* function_score. */
#include "engine/query/build_functions.h"

#include "common/base/arena_list.h"
#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "common/base/settings.h"

#include <float.h>

struct dsl_function_score_query {
    struct dsl dsl;
    struct dsl *query;
    struct dsl_function *v;
    size_t n, cap;
    enum score_mode score_mode;
    enum boost_mode boost_mode;
    float max_boost, min_score;
    bool has_min_score, single, array;
    struct str single_name;
};

struct word {
    const char *text;
    int value;
};

/* Java's Enum.valueOf of the upper-cased text. */
static enum err parse_word(struct json_pull *p, const struct word *words, size_t n, const char *type,
                           int *out, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < n; i++) {
        if (str_eq_nocase(s, str_of(words[i].text))) {
            *out = words[i].value;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No enum constant %s.%.*s", type, STR_ARG(s));
}

static enum err parse_field_value(struct json_pull *p, struct dsl_function *f, struct errmsg *em)
{
    static const struct word words[] = {{"none", MOD_NONE},   {"log", MOD_LOG},
                                        {"log1p", MOD_LOG1P}, {"log2p", MOD_LOG2P},
                                        {"ln", MOD_LN},       {"ln1p", MOD_LN1P},
                                        {"ln2p", MOD_LN2P},   {"square", MOD_SQUARE},
                                        {"sqrt", MOD_SQRT},   {"reciprocal", MOD_RECIPROCAL}};
    struct str name = STR_NULL;
    f->factor = 1;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (!json_token_is_value(p->token)) {
            if (str_is(name, "factor") && p->token != TOK_NULL) {
                return json_pull_err(p, em, ERR_PARSING,
                                     "[field_value_factor] field 'factor' does not support lists or objects");
            }
            continue;
        }
        if (str_is(name, "field")) {
            e = json_pull_text(p, &f->field, em);
        } else if (str_is(name, "factor")) {
            e = json_pull_float(p, &f->factor, em);
        } else if (str_is(name, "modifier")) {
            int value = 0;
            e = parse_word(
                p, words, ARRAY_LEN(words),
                "org.elasticsearch.common.lucene.search.function.FieldValueFactorFunction.Modifier", &value,
                em);
            f->modifier = (enum value_modifier)value;
        } else if (str_is(name, "missing")) {
            f->has_missing = true;
            e = json_pull_double(p, &f->missing, em);
        } else {
            return json_pull_err(p, em, ERR_PARSING, "field_value_factor query does not support [%.*s]",
                                 STR_ARG(name));
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (f->field.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[field_value_factor] required field 'field' missing");
    }
    return ERR_OK;
}

static enum err parse_random(struct json_pull *p, struct dsl_function *f, struct errmsg *em)
{
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        if (str_is(name, "seed") && (p->token == TOK_NUMBER || p->token == TOK_STRING)) {
            int64_t v;
            f->has_seed = true;
            if (p->token == TOK_STRING) {
                f->seed = java_string_hash(p->value->s);
            } else if (json_i64(p->value, &v)) {
                f->seed = v >= INT32_MIN && v <= INT32_MAX
                              ? (int32_t)v
                              : (int32_t)(uint32_t)((uint64_t)v ^ ((uint64_t)v >> 32));
            } else {
                return json_pull_err(p, em, ERR_PARSING,
                                     "random_score seed must be an int, long or string, not '%.*s'",
                                     STR_ARG(p->value->s));
            }
        } else if (str_is(name, "field") && json_token_is_value(p->token)) {
            json_pull_text(p, &f->field, em);
        } else if (!str_is(name, "seed") || p->token != TOK_NULL) {
            return json_pull_err(p, em, ERR_PARSING, "random_score query does not support [%.*s]",
                                 STR_ARG(name));
        }
    }
    return ERR_OK;
}

static enum err parse_script_function(struct json_pull *p, struct dsl_function *f, struct errmsg *em)
{
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        if (!str_is(name, "script")) {
            return json_pull_err(p, em, ERR_PARSING, "script_score query does not support [%.*s]",
                                 STR_ARG(name));
        }
        enum err e = script_form_parse(p, &f->script, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (f->script == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "script_score requires 'script' field");
    }
    return ERR_OK;
}

static enum err parse_decay(struct json_pull *p, struct dsl_function *f, struct errmsg *em)
{
    static const struct word words[] = {
        {"min", MODE_MIN}, {"max", MODE_MAX}, {"sum", MODE_SUM}, {"avg", MODE_AVG}, {"median", MODE_MEDIAN}};
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        if (p->token == TOK_START_OBJECT) {
            f->field = name;
            f->decay_params = p->value;
            json_pull_skip(p);
        } else if (str_is(name, "multi_value_mode")) {
            int value = 0;
            enum err e =
                parse_word(p, words, ARRAY_LEN(words), "org.elasticsearch.search.MultiValueMode", &value, em);
            if (e == ERR_ILLEGAL_ARGUMENT) {
                e = err_set(em, e, "Illegal sort mode: %.*s", STR_ARG(json_text(p->value)));
            }
            if (e != ERR_OK) {
                return e;
            }
            f->mode = (enum multi_value_mode)value;
        } else {
            return json_pull_err(p, em, ERR_PARSING, "malformed score function score parameters.");
        }
    }
    return f->field.p != NULL
               ? ERR_OK
               : json_pull_err(p, em, ERR_PARSING, "malformed score function score parameters.");
}

/* The cursor stands on the function's START_OBJECT. */
static enum err parse_function(struct json_pull *p, struct str name, struct dsl_function *f,
                               struct errmsg *em)
{
    static const struct {
        const char *name;
        enum score_function_kind kind;
        enum decay_kind decay;
        enum err (*parse)(struct json_pull *p, struct dsl_function *f, struct errmsg *em);
    } kinds[] = {{"field_value_factor", FUNC_FIELD_VALUE, 0, parse_field_value},
                 {"random_score", FUNC_RANDOM, 0, parse_random},
                 {"script_score", FUNC_SCRIPT, 0, parse_script_function},
                 {"gauss", FUNC_DECAY, DECAY_GAUSS, parse_decay},
                 {"exp", FUNC_DECAY, DECAY_EXP, parse_decay},
                 {"linear", FUNC_DECAY, DECAY_LINEAR, parse_decay}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(name, kinds[i].name)) {
            continue;
        }
        f->kind = kinds[i].kind;
        f->decay = kinds[i].decay;
        return kinds[i].parse(p, f, em);
    }
    /* Elasticsearch takes it for the name of the whole query that is unknown, and looks for it among the functions. */
    uint32_t line, col;
    json_pull_err_content(p, p->off, em, ERR_NAMED_OBJECT, "unknown field [%.*s]", STR_ARG(name));
    json_place(p->text, p->off, &line, &col);
    return err_wrap_at(em, ERR_PARSING, line, col,
                       "unknown query [function_score] did you mean any of [random_score, script_score]?");
}

static enum err set_weight(struct json_pull *p, struct dsl_function *f, struct errmsg *em)
{
    enum err e = json_pull_float(p, &f->weight, em);
    f->has_weight = true;
    if (e == ERR_OK && f->weight < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[weight] cannot be negative for a filtering function");
    }
    return e;
}

static enum err add_function(struct dsl_function_score_query *q, struct arena *arena,
                             const struct dsl_function *f, struct errmsg *em)
{
    return ARENA_ADD(arena, q->v, q->n, q->cap, *f) ? ERR_OK : err_no_memory(em);
}

static enum err parse_entry(struct json_pull *p, struct arena *arena, struct dsl_function *f,
                            struct errmsg *em)
{
    struct str name = STR_NULL, first = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_OBJECT) {
            if (str_is(name, "filter")) {
                e = dsl_parse_query(p, arena, &f->filter, em);
            } else if (first.p != NULL) {
                return json_pull_err(p, em, ERR_PARSING,
                                     "failed to parse function_score functions. already found [%.*s], "
                                     "now encountering [%.*s].",
                                     STR_ARG(first), STR_ARG(name));
            } else {
                first = name;
                e = parse_function(p, name, f, em);
            }
        } else if (json_token_is_value(p->token)) {
            if (!str_is(name, "weight")) {
                return json_pull_err(p, em, ERR_PARSING,
                                     "failed to parse [function_score] query. field [%.*s] is not supported",
                                     STR_ARG(name));
            }
            e = set_weight(p, f, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (first.p == NULL && !f->has_weight) {
        return json_pull_err(
            p, em, ERR_PARSING,
            "failed to parse [function_score] query. an entry in functions list is missing a function.");
    }
    return ERR_OK;
}

static enum err parse_functions(struct json_pull *p, struct arena *arena, struct dsl_function_score_query *q,
                                struct errmsg *em)
{
    while (json_pull_until(p, TOK_END_ARRAY)) {
        if (p->token != TOK_START_OBJECT) {
            return json_pull_err(
                p, em, ERR_PARSING,
                "failed to parse [START_OBJECT]. malformed query, expected a [%s] while parsing functions "
                "but got a [function_score] instead",
                json_token_text(p->token));
        }
        struct dsl_function f = {.kind = FUNC_WEIGHT};
        enum err e = parse_entry(p, arena, &f, em);
        e = e == ERR_OK ? add_function(q, arena, &f, em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err misplaced(struct json_pull *p, struct str found, struct str met, struct errmsg *em)
{
    return json_pull_err(p, em, ERR_PARSING,
                         "failed to parse [function_score] query. [you can either define [functions] array "
                         "or a single function, "
                         "not both. already found [%.*s]%s, now encountering [%.*s].]",
                         STR_ARG(found), str_is(found, "functions") ? " array" : "", STR_ARG(met));
}

static enum err parse_single(struct json_pull *p, struct arena *arena, struct dsl_function_score_query *q,
                             struct str name, struct errmsg *em)
{
    if (q->single) {
        return json_pull_err(
            p, em, ERR_PARSING,
            "failed to parse [function_score] query. already found function [%.*s], now encountering [%.*s]. "
            "use [functions] array if you want to define several functions.",
            STR_ARG(q->single_name), STR_ARG(name));
    }
    if (q->array) {
        return misplaced(p, STR("functions"), name, em);
    }
    struct dsl_function f = {.kind = FUNC_WEIGHT};
    enum err e;
    if (p->token == TOK_START_OBJECT) {
        e = parse_function(p, name, &f, em);
    } else if (str_is(name, "weight")) {
        e = set_weight(p, &f, em);
    } else {
        return json_pull_err(p, em, ERR_PARSING,
                             "failed to parse [function_score] query. field [%.*s] is not supported",
                             STR_ARG(name));
    }
    q->single = true;
    q->single_name = name;
    return e == ERR_OK ? add_function(q, arena, &f, em) : e;
}

static enum err parse_value_member(struct json_pull *p, struct arena *arena,
                                   struct dsl_function_score_query *q, struct str name, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_function_score_query),
        {"max_boost", PARAM_FLOAT, offsetof(struct dsl_function_score_query, max_boost)},
        {"min_score", PARAM_FLOAT, offsetof(struct dsl_function_score_query, min_score)},
    };
    static const struct word score_modes[] = {{"multiply", SCORE_MULTIPLY}, {"sum", SCORE_SUM},
                                              {"avg", SCORE_AVG},           {"first", SCORE_FIRST},
                                              {"max", SCORE_MAX},           {"min", SCORE_MIN}};
    static const struct word boost_modes[] = {{"multiply", BOOST_MULTIPLY}, {"replace", BOOST_REPLACE},
                                              {"sum", BOOST_SUM},           {"avg", BOOST_AVG},
                                              {"max", BOOST_MAX},           {"min", BOOST_MIN}};
    int value = 0;
    enum err e;
    if (str_is(name, "score_mode")) {
        e = parse_word(p, score_modes, ARRAY_LEN(score_modes),
                       "org.elasticsearch.common.lucene.search.function.FunctionScoreQuery.ScoreMode", &value,
                       em);
        q->score_mode = (enum score_mode)value;
        return e;
    }
    if (str_is(name, "boost_mode")) {
        e = parse_word(p, boost_modes, ARRAY_LEN(boost_modes),
                       "org.elasticsearch.common.lucene.search.function.CombineFunction", &value, em);
        q->boost_mode = (enum boost_mode)value;
        return e;
    }
    bool known;
    e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
    if (known) {
        q->has_min_score = q->has_min_score || str_is(name, "min_score");
        return e;
    }
    return parse_single(p, arena, q, name, em);
}

static enum err parse_member(struct json_pull *p, struct arena *arena, struct dsl_function_score_query *q,
                             struct str name, struct errmsg *em)
{
    if (p->token == TOK_START_OBJECT) {
        if (!str_is(name, "query")) {
            return parse_single(p, arena, q, name, em);
        }
        if (q->query != NULL) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "failed to parse [function_score] query. [query] is already defined.");
        }
        return dsl_parse_query(p, arena, &q->query, em);
    }
    if (p->token == TOK_START_ARRAY) {
        if (!str_is(name, "functions")) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "failed to parse [function_score] query. array [%.*s] is not supported",
                                 STR_ARG(name));
        }
        if (q->single) {
            return misplaced(p, q->single_name, name, em);
        }
        q->array = true;
        return parse_functions(p, arena, q, em);
    }
    return json_token_is_value(p->token) ? parse_value_member(p, arena, q, name, em) : ERR_OK;
}

static enum err parse_function_score(struct json_pull *p, struct arena *arena, struct dsl **out,
                                     struct errmsg *em)
{
    struct dsl_function_score_query *q = dsl_new(out, arena, &dsl_function_score, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->max_boost = FLT_MAX;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = parse_member(p, arena, q, name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- building ---- */

static bool function_score_none(struct builder *b, const struct dsl *d)
{
    const struct dsl *query = ((const struct dsl_function_score_query *)(const void *)d)->query;
    return query != NULL && dsl_is_none(b, query);
}

static enum err build_function_score(struct builder *b, const struct dsl *d, struct query **out,
                                     struct errmsg *em)
{
    const struct dsl_function_score_query *q = (const struct dsl_function_score_query *)(const void *)d;
    if (function_score_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    struct score_function *v = ARENA_ARRAY(b->arena, struct score_function, q->n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    enum err e;
    for (size_t i = 0; i < q->n; i++) {
        e = build_function(b, &q->v[i], &v[i], em);
        if (e == ERR_OK && q->v[i].filter != NULL && q->v[i].filter->type != &dsl_match_all) {
            struct query *filter;
            e = build_dsl(b, q->v[i].filter, &filter, em);
            v[i].filter = filter;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    struct query *child;
    e = q->query != NULL ? build_dsl(b, q->query, &child, em) : qnode_all(b, &child, em);
    if (e != ERR_OK) {
        return e;
    }
    struct query *n = *out = qnode_new(b, &q_function_score);
    struct function_score *own = ARENA_NEW(b->arena, struct function_score);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    n->own = own;
    own->child = child;
    own->v = v;
    own->n = (uint32_t)q->n;
    own->score_mode = q->score_mode;
    own->boost_mode = q->boost_mode;
    own->max_boost = q->max_boost;
    own->min_score = q->min_score;
    own->has_min_score = q->has_min_score;
    own->single_form = q->n == 1 && v[0].filter == NULL;
    return ERR_OK;
}

static bool functions_plain(const struct json *body, unsigned depth)
{
    static const char *const query[] = {"query"}, *const filter[] = {"filter"};
    const struct json *functions = json_get(body, "functions");
    for (uint32_t i = 0; functions != NULL && functions->type == JSON_ARRAY && i < functions->n; i++) {
        if (!dsl_plain_clauses(&functions->items[i], filter, 1, depth)) {
            return false;
        }
    }
    return dsl_plain_clauses(body, query, 1, depth);
}

const struct dsl_type dsl_function_score = {.name = "function_score",
                                            .parse = parse_function_score,
                                            .build = build_function_score,
                                            .none = function_score_none,
                                            .plain = functions_plain};
