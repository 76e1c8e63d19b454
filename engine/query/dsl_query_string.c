/* query_string: Lucene's classic query syntax. */
#include "engine/query/query_string.h"

#include "common/base/num.h"
#include "common/base/utf8.h"
#include "engine/query/query_lexer.h"

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
    bool known;
    enum err e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
    q->lenient_given = q->lenient_given || str_is(name, "lenient");
    q->has_tie_breaker = q->has_tie_breaker || str_is(name, "tie_breaker");
    return e != ERR_OK || known ? e : dsl_unsupported(p, "query_string", name, em);
}

static enum err check(struct json_pull *p, const struct string_query *q, struct arena *arena,
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
    struct string_query *q = (struct string_query *)(void *)dsl_new(arena, &dsl_query_string, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    q->position_increments = q->synonyms_phrase = q->transpositions = true;
    q->allow_leading_wildcard = query_node_settings()->leading_wildcard;
    q->analyze_wildcard = query_node_settings()->analyze_wildcard;
    q->max_expansions = 50;
    q->max_states = 10000;
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
        } else if (p->token == TOK_START_ARRAY) {
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
    return check(p, q, arena, em);
}

/* ---- clauses of one field's terms ---- */

static enum err make_pattern(struct string_run *r, const struct field *f, const struct lex_token *t,
                             const struct query_ops *ops, struct str text, struct query **out)
{
    struct pattern_opts o = {.rewrite = r->q->rewrite,
                             .flags = 0xFFFF,
                             .max_states = r->q->max_states > 0 ? (uint32_t)r->q->max_states : 0};
    (void)t;
    return field_pattern(r->b, f, ops, text, &o, out, r->em);
}

static enum err make_prefix(struct string_run *r, const struct field *f, struct str name, const void *arg,
                            struct query **out)
{
    struct str text;
    if (r->q->analyze_wildcard && f->type == FT_TEXT) {
        return string_prefix(r, f, *(const struct str *)arg, out);
    }
    enum err e = ERR_OK;
    if (f->type == FT_TEXT) {
        e = string_normalise(r, f, *(const struct str *)arg, &text);
    } else { /* an analyzer of the request says nothing of what was never analysed */
        text = *(const struct str *)arg;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (field_text_support(f) == TEXT_NONE) {
        return qnode_none(r->b, out, r->em, "unmapped fields [%.*s]", STR_ARG(name));
    }
    return make_pattern(r, f, NULL, &q_prefix, text, out);
}

static enum err make_wildcard(struct string_run *r, const struct field *f, struct str name, const void *arg,
                              struct query **out)
{
    (void)name;
    if (str_is(*(const struct str *)arg, "*")) {
        return build_exists(r->b, f->path, out, r->em);
    }
    return make_pattern(r, f, NULL, &q_wildcard, *(const struct str *)arg, out);
}

static enum err make_regexp(struct string_run *r, const struct field *f, struct str name, const void *arg,
                            struct query **out)
{
    (void)name;
    return make_pattern(r, f, NULL, &q_regexp, *(const struct str *)arg, out); /* not analysed at all */
}

struct fuzzy_arg {
    struct str text;
    struct str edits; /* "1" */
    int32_t refused;  /* a number of edits below 0; 0: none */
};

static enum err make_fuzzy(struct string_run *r, const struct field *f, struct str name, const void *arg,
                           struct query **out)
{
    const struct fuzzy_arg *a = arg;
    struct str text;
    if (a->refused < 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Valid edit distances are [0, 1, 2] but was [%d]",
                       a->refused);
    }
    if (field_text_support(f) == TEXT_NONE) {
        return qnode_none(r->b, out, r->em, "unmapped fields [%.*s]", STR_ARG(name));
    }
    enum err e = string_normalise(r, f, a->text, &text);
    if (e != ERR_OK) {
        return e;
    }
    struct fuzzy_opts o = {{.given = true, .text = a->edits},
                           r->q->prefix_length,
                           r->q->max_expansions,
                           r->q->transpositions,
                           STR_NULL};
    return field_fuzzy(r->b, f, text, &o, out, r->em);
}

struct range_arg {
    struct str from, to; /* p == NULL: open */
    bool from_inclusive, to_inclusive;
};

static enum err make_range(struct string_run *r, const struct field *f, struct str name, const void *arg,
                           struct query **out)
{
    const struct range_arg *a = arg;
    struct str from = a->from, to = a->to;
    enum err e = ERR_OK;
    if (field_text_support(f) == TEXT_NONE) {
        return qnode_none(r->b, out, r->em, "unmapped fields [%.*s]", STR_ARG(name));
    }
    if (from.p != NULL) {
        e = string_normalise(r, f, from, &from);
    }
    if (e == ERR_OK && to.p != NULL) {
        e = string_normalise(r, f, to, &to);
    }
    struct json *v = ARENA_ARRAY(r->b->arena, struct json, 2);
    if (e != ERR_OK || v == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    v[0] = json_mk_str(from);
    v[1] = json_mk_str(to);
    struct range_bounds bounds = {.from = from.p != NULL ? &v[0] : NULL,
                                  .to = to.p != NULL ? &v[1] : NULL,
                                  .from_inclusive = a->from_inclusive,
                                  .to_inclusive = a->to_inclusive,
                                  .zone = r->zone};
    return field_range(r->b, f, &bounds, out, r->em);
}

/* ---- what the parser makes of its tokens ---- */

/* What may come next: told where something else does. */
enum wanted {
    WANT_START,  /* a clause, before any other */
    WANT_CLAUSE, /* a clause behind a conjunction */
    WANT_TERM,   /* behind a modifier */
    WANT_VALUE,  /* behind a field's name */
    WANT_AFTER,  /* what may follow a clause */
    WANT_NUMBER,
    WANT_BOUND,
    WANT_TO,
    WANT_RANGE_END
};

struct parser {
    struct string_run r;
    struct lexer lex;
    struct lex_token t1, t2, t3; /* the next three tokens */
    uint32_t depth;
    enum wanted wanted;
    bool may_boost, may_fuzz; /* a boost, a slop may follow the clause */
};

static enum err advance(struct parser *p)
{
    p->t1 = p->t2;
    p->t2 = p->t3;
    if (p->t1.kind == LEX_BAD) {
        return lexer_next(&p->lex, &p->t1, p->r.em); /* the same error again */
    }
    if (p->t3.kind == LEX_BAD) {
        return ERR_OK;
    }
    enum err e = lexer_next(&p->lex, &p->t3, p->r.em);
    if (e == ERR_TOKEN_MGR) { /* told when the parser comes there, if it does */
        err_clear(p->r.em);
        p->t3.kind = LEX_BAD;
        return ERR_OK;
    }
    return e;
}

static const char *const token_images[] = {[LEX_EOF] = "<EOF>",
                                           [LEX_AND] = "<AND>",
                                           [LEX_OR] = "<OR>",
                                           [LEX_NOT] = "<NOT>",
                                           [LEX_PLUS] = "\"+\"",
                                           [LEX_MINUS] = "\"-\"",
                                           [LEX_BARE_OPER] = "<BAREOPER>",
                                           [LEX_LPAREN] = "\"(\"",
                                           [LEX_RPAREN] = "\")\"",
                                           [LEX_COLON] = "\":\"",
                                           [LEX_STAR] = "\"*\"",
                                           [LEX_CARAT] = "\"^\"",
                                           [LEX_QUOTED] = "<QUOTED>",
                                           [LEX_TERM] = "<TERM>",
                                           [LEX_FUZZY_SLOP] = "<FUZZY_SLOP>",
                                           [LEX_PREFIX] = "<PREFIXTERM>",
                                           [LEX_WILD] = "<WILDTERM>",
                                           [LEX_REGEXP] = "<REGEXPTERM>",
                                           [LEX_RANGE_IN] = "\"[\"",
                                           [LEX_RANGE_EX] = "\"{\"",
                                           [LEX_NUMBER] = "<NUMBER>",
                                           [LEX_RANGE_TO] = "\"TO\"",
                                           [LEX_RANGE_IN_END] = "\"]\"",
                                           [LEX_RANGE_EX_END] = "\"}\"",
                                           [LEX_RANGE_QUOTED] = "<RANGE_QUOTED>",
                                           [LEX_RANGE_GOOP] = "<RANGE_GOOP>"};

static bool may_follow(const struct parser *p, enum lex_kind k)
{
    switch (k) {
    case LEX_EOF:
        return p->wanted == WANT_AFTER && p->depth == 0;
    case LEX_RPAREN:
        return p->wanted == WANT_AFTER && p->depth > 0;
    case LEX_AND:
    case LEX_OR:
        return p->wanted == WANT_AFTER;
    case LEX_NOT:
    case LEX_PLUS:
    case LEX_MINUS:
        return p->wanted <= WANT_CLAUSE || p->wanted == WANT_AFTER;
    case LEX_CARAT:
        return p->wanted == WANT_AFTER && p->may_boost;
    case LEX_FUZZY_SLOP:
        return p->wanted == WANT_AFTER && p->may_fuzz;
    case LEX_NUMBER:
        return p->wanted <= WANT_NUMBER;
    case LEX_RANGE_TO:
        return p->wanted == WANT_BOUND || p->wanted == WANT_TO;
    case LEX_RANGE_QUOTED:
    case LEX_RANGE_GOOP:
        return p->wanted == WANT_BOUND;
    case LEX_RANGE_IN_END:
    case LEX_RANGE_EX_END:
        return p->wanted == WANT_RANGE_END;
    default:
        return k != LEX_COLON && p->wanted <= WANT_AFTER;
    }
}

static void list_wanted(const struct parser *p, struct buf *out)
{
    static const enum lex_kind more[] = {LEX_TERM, LEX_STAR}; /* what two tokens ahead is looked for */
    buf_z(out, p->wanted == WANT_NUMBER || p->wanted == WANT_TO ? "\nWas expecting:\n    "
                                                                : "\nWas expecting one of:\n    ");
    for (enum lex_kind k = LEX_EOF; k <= LEX_RANGE_GOOP; k++) {
        if (may_follow(p, k)) {
            buf_printf(out, "%s %s\n    ", token_images[k], k == LEX_EOF ? "" : "...");
        }
    }
    size_t n = p->wanted == WANT_START ? 1 : p->wanted == WANT_CLAUSE || p->wanted == WANT_TERM ? 2 : 0;
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s ...\n    ", token_images[more[i]]);
    }
}

static enum err refuse(struct parser *p)
{
    struct buf why;
    buf_init(&why, NULL, 8 * KIB);
    buf_z(&why, "Encountered \"");
    if (p->t1.kind == LEX_EOF) {
        buf_z(&why, "<EOF>");
    } else {
        buf_printf(&why, " %s \"", token_images[p->t1.kind]);
        lex_put_escaped(&why, p->t1.text);
        buf_z(&why, " \"");
    }
    buf_printf(&why, "\" at line 1, column %u.", lex_column(p->lex.text, p->t1.at));
    list_wanted(p, &why);
    enum err e = err_set(p->r.em, ERR_QUERY_SYNTAX, "%.*s", STR_ARG(buf_view(&why)));
    buf_fini(&why);
    return e;
}

static enum err unescape(struct parser *p, struct str s, struct str *out)
{
    return lex_unescape(s, p->r.b->arena, out, p->r.em);
}

/* No field of that name, or of the list, is mapped: `what` is what the clause was about. */
static enum err unmapped(struct parser *p, struct str what, struct query **out)
{
    return qnode_none(p->r.b, out, p->r.em, "unmapped fields [%.*s]",
                      STR_ARG(what.p != NULL ? what : STR("null")));
}

/* A clause over fields; `what` is told where there are none. */
static enum err each_as(struct parser *p, struct str field, string_field_fn make, const void *arg,
                        struct str what, struct query **out)
{
    struct field_boosts fields;
    enum err e = string_fields(&p->r, field, false, &fields);
    if (e != ERR_OK || fields.n == 0) {
        return e != ERR_OK ? e : unmapped(p, what, out);
    }
    return string_each(&p->r, &fields, string_tie_breaker(&p->r), make, arg, out);
}

static enum err each(struct parser *p, struct str field, string_field_fn make, const void *arg,
                     struct query **out)
{
    return each_as(p, field, make, arg, field, out);
}

/* Prefixes, wildcards and expressions tell their text. */
static enum err each_pattern(struct parser *p, struct str field, string_field_fn make, const struct str *text,
                             struct query **out)
{
    return each_as(p, field, make, text, *text, out);
}

/* "age:>=10": a bound before the text. */
static bool open_range(struct str text, struct range_arg *a)
{
    if (text.n < 2 || (text.p[0] != '>' && text.p[0] != '<')) {
        return false;
    }
    bool inclusive = text.n > 2 && text.p[1] == '=';
    struct str rest = str_slice(text, inclusive ? 2 : 1, text.n);
    *a = (struct range_arg){.from_inclusive = true, .to_inclusive = true};
    if (text.p[0] == '>') {
        a->from = rest;
        a->from_inclusive = inclusive;
    } else {
        a->to = rest;
        a->to_inclusive = inclusive;
    }
    return true;
}

static enum err field_text(struct parser *p, struct str field, struct str text, struct query **out)
{
    struct range_arg range;
    if ((field.p != NULL || p->r.any_field) && open_range(text, &range)) {
        return each(p, field, make_range, &range, out);
    }
    if (str_is(field, "_exists_")) {
        return build_exists(p->r.b, text, out, p->r.em);
    }
    if (field.p != NULL && p->r.zone != NULL) {
        const struct field *f = build_field(p->r.b, field);
        if (f != NULL && (f->type == FT_DATE || f->type == FT_DATE_NANOS)) {
            range = (struct range_arg){text, text, true, true};
            return each(p, field, make_range, &range, out);
        }
    }
    struct field_boosts fields;
    enum err e = string_fields(&p->r, field, false, &fields);
    if (e != ERR_OK) {
        return e;
    }
    if (fields.n == 0) {
        return unmapped(p, field, out);
    }
    return string_text(&p->r, &fields, text, p->r.q->type, false, p->r.q->phrase_slop, out);
}

static enum err field_phrase(struct parser *p, struct str field, struct str text, int32_t slop,
                             struct query **out)
{
    if (str_is(field, "_exists_")) {
        return build_exists(p->r.b, text, out, p->r.em);
    }
    struct field_boosts fields;
    enum err e = string_fields(&p->r, field, true, &fields);
    if (e != ERR_OK) {
        return e;
    }
    if (fields.n == 0) {
        return unmapped(p, field, out);
    }
    return string_text(&p->r, &fields, text, MULTI_PHRASE, true, slop, out);
}

static enum err make_exists(struct string_run *r, const struct field *f, struct str name, const void *arg,
                            struct query **out)
{
    (void)f;
    (void)arg;
    return build_exists(r->b, name, out, r->em);
}

static enum err wildcard(struct parser *p, struct str field, struct str text, struct query **out)
{
    if (str_is(text, "*") && field.p == NULL && p->r.q->fields.n > 0) {
        return p->r.fields.n > 0 ? each(p, field, make_exists, NULL, out) : unmapped(p, text, out);
    }
    if (str_is(text, "*")) {
        if (field.p == NULL || str_is(field, "*")) {
            return qnode_all(p->r.b, out, p->r.em);
        }
        return build_exists(p->r.b, field, out, p->r.em);
    }
    if (!p->r.q->allow_leading_wildcard && (text.p[0] == '*' || text.p[0] == '?')) {
        return err_set(p->r.em, ERR_QUERY_SYNTAX,
                       "'*' or '?' not allowed as first character in WildcardQuery");
    }
    return each_pattern(p, field, make_wildcard, &text, out);
}

static enum err regexp(struct parser *p, struct str field, struct str text, struct query **out)
{
    enum err e = build_regex_length(p->r.b, text, "[query_string]", p->r.em);
    return e == ERR_OK ? each_pattern(p, field, make_regexp, &text, out) : e;
}

/* What stands behind "~": nothing (the request's fuzziness), AUTO, or a number, whose fraction is dropped. */
static enum err read_edits(struct parser *p, struct str given, struct fuzzy_arg *a)
{
    static const struct fuzziness by_length = {.given = true, .automatic = true, .low = 3, .high = 6};
    uint32_t edits = 0;
    float f = 0;
    char upper[64];
    size_t n = MIN_OF(given.n, sizeof(upper));
    for (size_t i = 0; i < n; i++) {
        upper[i] = (char)(given.p[i] >= 'a' && given.p[i] <= 'z' ? given.p[i] - 32 : given.p[i]);
    }
    struct str text = str_mk(upper, n);
    enum err e = ERR_OK;
    if (n == 0 || str_is(text, "AUTO")) {
        e = fuzziness_distance(n == 0 ? &p->r.q->fuzziness : &by_length, a->text, &edits, p->r.em);
    } else if (!num_parse_float(text, &f)) {
        e = err_set(p->r.em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(text));
    } else {
        a->refused = f <= -1 ? (int32_t)MAX_OF(f, -2e9F) : 0;
        edits = f < 1 ? 0 : f < 2 ? 1 : 2;
    }
    a->edits = arena_printf(p->r.b->arena, "%u", edits);
    return e;
}

static enum err bare_token(struct parser *p, struct str field, struct lex_token t, struct str slop,
                           struct query **out)
{
    struct str text = t.text;
    enum err e;
    switch (t.kind) {
    case LEX_STAR:
    case LEX_WILD:
        return wildcard(p, field, text, out);
    case LEX_PREFIX:
        e = unescape(p, str_slice(text, 0, text.n - 1), &text);
        return e == ERR_OK ? each_pattern(p, field, make_prefix, &text, out) : e;
    case LEX_REGEXP:
        return regexp(p, field, str_slice(text, 1, text.n - 1), out);
    default:
        break;
    }
    if (t.kind == LEX_BARE_OPER) {
        text = str_slice(text, 0, 1);
    }
    e = unescape(p, text, &text);
    if (e != ERR_OK) {
        return e;
    }
    if (slop.p == NULL) {
        return field_text(p, field, text, out);
    }
    struct fuzzy_arg a = {.text = text};
    e = read_edits(p, str_slice(slop, 1, slop.n), &a);
    return e == ERR_OK ? each(p, field, make_fuzzy, &a, out) : e;
}

/* Boost and slop behind a term, in either order. */
static enum err suffixes(struct parser *p, bool fuzzy, struct str *slop, struct str *boost)
{
    *slop = *boost = STR_NULL;
    p->wanted = WANT_AFTER;
    p->may_boost = true;
    p->may_fuzz = fuzzy;
    for (int i = 0; i < 2; i++) {
        enum err e = ERR_OK;
        if (p->t1.kind == LEX_CARAT && boost->p == NULL) {
            e = advance(p);
            if (e == ERR_OK && p->t1.kind != LEX_NUMBER) {
                p->wanted = WANT_NUMBER;
                return refuse(p);
            }
            *boost = p->t1.text;
            p->may_boost = false;
        } else if (p->t1.kind == LEX_FUZZY_SLOP && p->may_fuzz) {
            *slop = p->t1.text;
            p->may_fuzz = false;
        } else {
            break;
        }
        if (e == ERR_OK) {
            e = advance(p);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err boosted(struct parser *p, struct str boost, struct query **q)
{
    float f = 1;
    if (boost.p == NULL || *q == NULL || !num_parse_float(boost, &f)) {
        return ERR_OK;
    }
    return qnode_boost(p->r.b, q, f, p->r.em);
}

static enum err range_end(struct parser *p, struct str *out)
{
    struct str s = p->t1.text;
    if (p->t1.kind != LEX_RANGE_GOOP && p->t1.kind != LEX_RANGE_QUOTED && p->t1.kind != LEX_RANGE_TO) {
        return refuse(p);
    }
    if (p->t1.kind == LEX_RANGE_QUOTED) {
        s = str_slice(s, 1, s.n - 1);
    } else if (str_is(s, "*")) {
        *out = STR_NULL;
        return advance(p);
    }
    enum err e = unescape(p, s, out);
    if (e == ERR_OK && str_is(*out, "*")) {
        *out = STR_NULL;
    }
    return e == ERR_OK ? advance(p) : e;
}

static enum err range(struct parser *p, struct str field, struct query **out)
{
    struct range_arg a = {.from_inclusive = p->t1.kind == LEX_RANGE_IN};
    struct str slop, boost;
    enum err e = advance(p);
    p->wanted = WANT_BOUND;
    if (e == ERR_OK) {
        e = range_end(p, &a.from);
    }
    if (e == ERR_OK && p->t1.kind != LEX_RANGE_TO) {
        p->wanted = WANT_TO;
        e = refuse(p);
    }
    if (e == ERR_OK) {
        e = advance(p);
    }
    if (e == ERR_OK) {
        e = range_end(p, &a.to);
    }
    if (e == ERR_OK && p->t1.kind != LEX_RANGE_IN_END && p->t1.kind != LEX_RANGE_EX_END) {
        p->wanted = WANT_RANGE_END;
        e = refuse(p);
    }
    if (e != ERR_OK) {
        return e;
    }
    a.to_inclusive = p->t1.kind == LEX_RANGE_IN_END;
    e = advance(p);
    if (e == ERR_OK) {
        e = suffixes(p, false, &slop, &boost);
    }
    if (e == ERR_OK) {
        e = each(p, field, make_range, &a, out);
    }
    return e == ERR_OK ? boosted(p, boost, out) : e;
}

static enum err term(struct parser *p, struct str field, struct query **out)
{
    struct lex_token t = p->t1;
    struct str slop, boost, text;
    enum err e;
    switch (t.kind) {
    case LEX_TERM:
    case LEX_STAR:
    case LEX_PREFIX:
    case LEX_WILD:
    case LEX_REGEXP:
    case LEX_NUMBER:
    case LEX_BARE_OPER:
    case LEX_QUOTED:
        break;
    case LEX_RANGE_IN:
    case LEX_RANGE_EX:
        return range(p, field, out);
    default:
        return refuse(p);
    }
    e = advance(p);
    if (e == ERR_OK) {
        e = suffixes(p, true, &slop, &boost);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (t.kind == LEX_QUOTED) {
        float f;
        int32_t s = p->r.q->phrase_slop;
        if (slop.n > 1 && num_parse_float(str_slice(slop, 1, slop.n), &f)) {
            s = f >= 2e9F ? INT32_MAX : f <= -2e9F ? INT32_MIN : (int32_t)f;
        }
        e = unescape(p, str_slice(t.text, 1, t.text.n - 1), &text);
        if (e == ERR_OK) {
            e = field_phrase(p, field, text, s, out);
        }
    } else {
        e = bare_token(p, field, t, slop, out);
    }
    return e == ERR_OK ? boosted(p, boost, out) : e;
}

static enum err query(struct parser *p, struct str field, struct query **out);

static enum err clause(struct parser *p, struct str field, struct query **out)
{
    struct str slop, boost;
    enum err e = ERR_OK;
    *out = NULL;
    if ((p->t1.kind == LEX_TERM || p->t1.kind == LEX_STAR) && p->t2.kind == LEX_COLON) {
        e = p->t1.kind == LEX_STAR ? ERR_OK : unescape(p, p->t1.text, &field);
        if (p->t1.kind == LEX_STAR) {
            field = STR("*");
        }
        if (e == ERR_OK) {
            e = advance(p);
        }
        if (e == ERR_OK) {
            e = advance(p);
        }
        if (e != ERR_OK) {
            return e;
        }
        p->wanted = WANT_VALUE;
    }
    if (p->t1.kind != LEX_LPAREN) {
        return term(p, field, out);
    }
    if (++p->depth > 200) {
        return err_set(p->r.em, ERR_QUERY_SYNTAX, "parentheses are nested too deeply");
    }
    e = advance(p);
    if (e == ERR_OK) {
        e = query(p, field, out);
    }
    if (e == ERR_OK && p->t1.kind != LEX_RPAREN) {
        e = refuse(p);
    }
    p->depth--;
    if (e == ERR_OK) {
        e = advance(p);
    }
    if (e == ERR_OK) {
        e = suffixes(p, false, &slop, &boost);
    }
    return e == ERR_OK ? boosted(p, boost, out) : e;
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
    switch (p->t3.kind) {
    case LEX_COLON:
    case LEX_STAR:
    case LEX_FUZZY_SLOP:
    case LEX_CARAT:
    case LEX_AND:
    case LEX_OR:
        return false;
    default:
        return true;
    }
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
        enum err e = bool_add(p->r.b, bb, terms ? q->boolean.v[i].occur : occur,
                              (struct query *)(uintptr_t)q->boolean.v[i].query, p->r.em);
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
        e = advance(p);
        if (e == ERR_OK && more) {
            buf_char(&text, ' ');
            buf_str(&text, p->t1.text);
        }
    }
    p->wanted = WANT_AFTER;
    p->may_boost = p->may_fuzz = false;
    whole = arena_str(p->r.b->arena, buf_view(&text));
    if (e == ERR_OK && (text.failed || whole.p == NULL)) {
        e = err_no_memory(p->r.em);
    }
    buf_fini(&text);
    if (e == ERR_OK) {
        e = unescape(p, whole, &whole);
    }
    if (e == ERR_OK) {
        e = field_text(p, field, whole, &q);
    }
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
        p->wanted = WANT_CLAUSE;
        e = advance(p);
    }
    if (e == ERR_OK && (p->t1.kind == LEX_PLUS || p->t1.kind == LEX_MINUS || p->t1.kind == LEX_NOT)) {
        mod = p->t1.kind == LEX_PLUS ? MOD_REQUIRED : MOD_PROHIBITED;
        p->wanted = WANT_TERM;
        e = advance(p);
    }
    struct query *q = NULL;
    if (e == ERR_OK) {
        e = clause(p, field, &q);
    }
    if (first && mod == MOD_PLAIN) {
        *plain = q;
    }
    return e == ERR_OK ? add_clause(p, bb, conj, mod, q) : e;
}

static enum err query(struct parser *p, struct str field, struct query **out)
{
    struct bool_build bb = {0};
    struct query *plain = NULL;
    bool first = true;
    *out = NULL;
    p->wanted = WANT_START;
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
        if (e == ERR_OK) {
            e = bool_add(p->r.b, &bb, OCCUR_FILTER, all, p->r.em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return bool_done(p->r.b, &bb, out, p->r.em);
}

static enum err parse_syntax(struct parser *p, struct str text, struct query **out)
{
    lexer_init(&p->lex, text);
    enum err e = advance(p);
    for (int i = 0; i < 2 && e == ERR_OK; i++) {
        e = advance(p);
    }
    if (e == ERR_OK) {
        e = query(p, p->r.field, out);
    }
    return e == ERR_OK && p->t1.kind != LEX_EOF ? refuse(p) : e;
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
    if ((e == ERR_QUERY_SYNTAX || e == ERR_TOKEN_MGR) && em != NULL && em->n > 0) {
        char reason[ERR_REASON_BYTES];
        memcpy(reason, em->frame[0].reason, sizeof(reason));
        err_wrap(em, ERR_QUERY_SYNTAX, "Cannot parse '%.*s': %s", STR_ARG(text), reason);
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

const struct dsl_type dsl_query_string = {"query_string", parse_query_string, build_query_string, NULL};
