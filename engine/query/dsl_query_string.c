/* query_string: Lucene's classic query syntax. */
#include "engine/analysis/simple_regex.h"
#include "engine/query/query_parser.h"

#include "common/base/num.h"

/* ---- the request ---- */

#define AT(member) offsetof(struct string_query, member)

static enum err parse_value(struct json_pull *p, struct string_query *q, struct str name, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct string_query),
        {"query", PARAM_TEXT, AT(query)},
        {"default_field", PARAM_NULLABLE, AT(default_field)},
        {"default_operator", PARAM_OPERATOR, AT(and)},
        {"analyzer", PARAM_NULLABLE, AT(analyzer)},
        {"quote_analyzer", PARAM_NULLABLE, AT(quote_analyzer)},
        {"allow_leading_wildcard", PARAM_BOOL, AT(allow_leading_wildcard)},
        {"max_determinized_states", PARAM_INT, AT(max_states)},
        {"enable_position_increments", PARAM_BOOL, AT(position_increments)},
        {"escape", PARAM_BOOL, AT(escape)},
        {"fuzzy_prefix_length", PARAM_INT, AT(prefix_length)},
        {"fuzzy_max_expansions", PARAM_INT, AT(max_expansions)},
        {"fuzzy_rewrite", PARAM_NULLABLE, AT(fuzzy_rewrite)},
        {"phrase_slop", PARAM_INT, AT(phrase_slop)},
        {"fuzziness", PARAM_FUZZINESS, AT(fuzziness)},
        {"tie_breaker", PARAM_FLOAT, AT(tie_breaker)},
        {"analyze_wildcard", PARAM_BOOL, AT(analyze_wildcard)},
        {"rewrite", PARAM_NULLABLE, AT(rewrite)},
        {"minimum_should_match", PARAM_NULLABLE, AT(minimum_should_match)},
        {"quote_field_suffix", PARAM_NULLABLE, AT(quote_field_suffix)},
        {"lenient", PARAM_BOOL, AT(lenient)},
        {"time_zone", PARAM_TEXT, AT(time_zone)},
        {"auto_generate_synonyms_phrase_query", PARAM_BOOL, AT(synonyms_phrase)},
        {"fuzzy_transpositions", PARAM_BOOL, AT(transpositions)},
    };
    if (str_is(name, "type")) {
        struct str s;
        enum err e = json_pull_text(p, &s, em);
        return e == ERR_OK ? multi_type_parse(s, &q->type, em) : e;
    }
    q->lenient_given = q->lenient_given || str_is(name, "lenient");
    q->has_tie_breaker = q->has_tie_breaker || str_is(name, "tie_breaker");
    return dsl_param_of(p, "query_string", name, params, ARRAY_LEN(params), q, em);
}

static enum err query_string_check(struct json_pull *p, const struct string_query *q, struct arena *arena,
                                   struct errmsg *em)
{
    if (q->query.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[query_string] must be provided with a [query]");
    }
    enum err negative = field_boosts_check(&q->fields, em);
    if (negative != ERR_OK) {
        return negative;
    }
    if (q->fields.n > 0 && q->default_field.p != NULL) {
        return err_set(em, ERR_QUERY_VALIDATION,
                       "Validation Failed: 1: [query_string] cannot use [fields] parameter in conjunction "
                       "with [default_field];");
    }
    if (q->time_zone.p != NULL) {
        const struct zone *z;
        enum err e = zone_of(&z, q->time_zone, arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err parse_query_string(struct json_pull *p, struct arena *arena, struct dsl **out,
                                   struct errmsg *em)
{
    struct string_query *q = dsl_new(out, arena, &dsl_query_string, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->position_increments = q->synonyms_phrase = q->transpositions = true;
    q->allow_leading_wildcard = query_node_settings()->leading_wildcard;
    q->analyze_wildcard = query_node_settings()->analyze_wildcard;
    q->max_expansions = 50;
    q->max_states = AUTOMATON_STATES_MAX;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_ARRAY) {
            if (!str_is(name, "fields")) {
                return json_pull_err(p, em, ERR_PARSING, "[query_string] query does not support [%.*s]",
                                     STR_ARG(name));
            }
            e = field_boosts_parse(p, arena, "query_string", &q->fields, em);
        } else if (json_token_is_value(p->token)) {
            e = parse_value(p, q, name, em);
        } else {
            return dsl_unknown_token(p, "query_string", name, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return query_string_check(p, q, arena, em);
}

/* ---- clauses joined ---- */

enum conjunction { CONJ_NONE, CONJ_AND, CONJ_OR };
enum modifier { MOD_PLAIN, MOD_REQUIRED, MOD_PROHIBITED };

static enum err add_clause(struct parser *p, struct bool_build *bb, enum conjunction conj, enum modifier mod,
                           struct query *q)
{
    bool and = p->r.q->and;
    if (bb->n > 0 && bb->v[bb->n - 1].occur != OCCUR_MUST_NOT) {
        if (conj == CONJ_AND) {
            bb->v[bb->n - 1].occur = OCCUR_MUST;
        } else if (conj == CONJ_OR && and) {
            bb->v[bb->n - 1].occur = OCCUR_SHOULD;
        }
    }
    if (q == NULL) {
        return ERR_OK;
    }
    bool required = and? conj != CONJ_OR : mod == MOD_REQUIRED || conj == CONJ_AND;
    enum bool_occur occur = mod == MOD_PROHIBITED ? OCCUR_MUST_NOT : required ? OCCUR_MUST : OCCUR_SHOULD;
    return bool_add(p->r.b, bb, occur, q, p->r.em);
}

/* A run of plain words is analysed as one text. */
static bool follows_run(const struct parser *p)
{
    if (p->t2.kind != LEX_TERM) {
        return false;
    }
    const enum lex_kind k = p->t3.kind;
    return k != LEX_COLON && k != LEX_STAR && k != LEX_FUZZY_SLOP && k != LEX_CARAT && k != LEX_AND
           && k != LEX_OR;
}

static enum err add_run_clauses(struct parser *p, struct bool_build *bb, struct query *q)
{
    if (q == NULL) {
        return ERR_OK;
    }
    enum bool_occur occur = p->r.q->and ? OCCUR_MUST : OCCUR_SHOULD;
    if (q->ops != &q_bool || q->boost != 1) {
        return bool_add(p->r.b, bb, occur, q, p->r.em);
    }
    bool terms = true;
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        terms = terms && q->boolean.v[i].query->ops == &q_term && q->boolean.v[i].query->boost == 1;
    }
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        enum err e =
            bool_add(p->r.b, bb, terms ? q->boolean.v[i].occur : occur, q->boolean.v[i].query, p->r.em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err word_run(struct parser *p, struct str field, bool first, struct bool_build *bb,
                         struct query **plain)
{
    struct buf text;
    struct str whole;
    struct query *q = NULL;
    buf_init(&text, NULL, 1 * MIB);
    buf_str(&text, p->t1.text);
    enum err e = ERR_OK;
    bool more = true;
    while (e == ERR_OK && more) {
        more = follows_run(p);
        e = parser_advance(p);
        if (e == ERR_OK && more) {
            buf_char(&text, ' ');
            buf_str(&text, p->t1.text);
        }
    }
    p->expected = EXPECT_AFTER;
    p->may_boost = p->may_fuzz = false;
    whole = arena_str(p->r.b->arena, buf_view(&text));
    if (e == ERR_OK && (text.failed || whole.p == NULL)) {
        e = err_no_memory(p->r.em);
    }
    buf_fini(&text);
    e = e == ERR_OK ? parser_unescape(p, whole, &whole) : e;
    e = e == ERR_OK ? parser_text(p, field, whole, &q) : e;
    if (first) {
        *plain = q;
    }
    return e == ERR_OK ? add_run_clauses(p, bb, q) : e;
}

static bool starts_clause(enum lex_kind k)
{
    return k != LEX_EOF && k != LEX_RPAREN;
}

static enum err one_clause(struct parser *p, struct str field, bool first, struct bool_build *bb,
                           struct query **plain)
{
    enum conjunction conj = CONJ_NONE;
    enum modifier mod = MOD_PLAIN;
    enum err e = ERR_OK;
    if (!first && (p->t1.kind == LEX_AND || p->t1.kind == LEX_OR)) {
        conj = p->t1.kind == LEX_AND ? CONJ_AND : CONJ_OR;
        p->expected = EXPECT_CLAUSE;
        e = parser_advance(p);
    }
    if (e == ERR_OK && (p->t1.kind == LEX_PLUS || p->t1.kind == LEX_MINUS || p->t1.kind == LEX_NOT)) {
        mod = p->t1.kind == LEX_PLUS ? MOD_REQUIRED : MOD_PROHIBITED;
        p->expected = EXPECT_TERM;
        e = parser_advance(p);
    }
    struct query *q = NULL;
    e = e == ERR_OK ? parser_clause(p, field, &q) : e;
    if (first && mod == MOD_PLAIN) {
        *plain = q;
    }
    return e == ERR_OK ? add_clause(p, bb, conj, mod, q) : e;
}

enum err parser_query(struct parser *p, struct str field, struct query **out)
{
    struct bool_build bb = {0};
    struct query *plain = NULL;
    bool first = true;
    *out = NULL;
    p->expected = EXPECT_START;
    do {
        enum err e = p->t1.kind == LEX_TERM && follows_run(p) ? word_run(p, field, first, &bb, &plain)
                                                              : one_clause(p, field, first, &bb, &plain);
        if (e != ERR_OK) {
            return e;
        }
        first = false;
    } while (starts_clause(p->t1.kind));
    if (bb.n == 0) {
        return ERR_OK;
    }
    if (bb.n == 1 && plain != NULL) {
        *out = plain;
        return ERR_OK;
    }
    bool negative = true;
    for (size_t i = 0; i < bb.n; i++) {
        negative = negative && bb.v[i].occur == OCCUR_MUST_NOT;
    }
    if (negative) {
        struct query *all;
        enum err e = qnode_all(p->r.b, &all, p->r.em);
        e = e == ERR_OK ? bool_add(p->r.b, &bb, OCCUR_FILTER, all, p->r.em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return bool_done(p->r.b, &bb, out, p->r.em);
}

static enum err parse_syntax(struct parser *p, struct str text, struct query **out)
{
    lexer_init(&p->lex, text);
    enum err e = parser_advance(p);
    for (int i = 0; i < 2 && e == ERR_OK; i++) {
        e = parser_advance(p);
    }
    e = e == ERR_OK ? parser_query(p, p->r.field, out) : e;
    return e == ERR_OK && p->t1.kind != LEX_EOF ? parser_refuse(p) : e;
}

static enum err build_query_string(struct builder *b, const struct dsl *d, struct query **out,
                                   struct errmsg *em)
{
    const struct string_query *q = (const struct string_query *)(const void *)d;
    struct parser p = {0};
    enum err e = string_run_init(&p.r, b, q, "query_string", em);
    struct str text = q->query;
    *out = NULL;
    if (e == ERR_OK && str_trim(text).n == 0) {
        return qnode_none(b, out, em, "Matching no documents because no terms present");
    }
    if (e == ERR_OK && q->escape) {
        e = lex_escape(text, b->arena, &text, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = parse_syntax(&p, text, out);
    if ((e == ERR_QUERY_SYNTAX || e == ERR_TOKEN_MGR) && em != NULL && err_is(em)) {
        err_wrap(em, ERR_QUERY_SYNTAX, "Cannot parse '%.*s': %s", STR_ARG(text), err_reason(em));
        e = err_wrap(em, ERR_QUERY_SHARD, "Failed to parse query [%.*s]", STR_ARG(q->query));
        err_about_index(em, b->cx->index_name, b->cx->index_uuid);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (*out == NULL) {
        return qnode_none(b, out, em, "Matching no documents because no terms present");
    }
    return apply_min_should(b, out, q->minimum_should_match, em);
}

const struct dsl_type dsl_query_string = {
    .name = "query_string", .parse = parse_query_string, .build = build_query_string};
