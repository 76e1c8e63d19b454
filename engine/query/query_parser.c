/* The parser of Lucene's classic query syntax, over the tokens of the lexer. */
#include "engine/query/query_parser.h"

#include "common/base/num.h"

enum err parser_advance(struct parser *p)
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
    if (e == ERR_TOKEN_MGR) { /* reported if the parser gets there */
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

/* May a clause begin with it, if not a range or a bracket? */
static bool begins_term(enum lex_kind k)
{
    return k == LEX_TERM || k == LEX_STAR || k == LEX_PREFIX || k == LEX_WILD || k == LEX_REGEXP
           || k == LEX_NUMBER || k == LEX_BARE_OPER || k == LEX_QUOTED;
}

static bool may_follow(const struct parser *p, enum lex_kind k)
{
    switch (k) {
    case LEX_EOF:
        return p->expected == EXPECT_AFTER && p->depth == 0;
    case LEX_RPAREN:
        return p->expected == EXPECT_AFTER && p->depth > 0;
    case LEX_AND:
    case LEX_OR:
        return p->expected == EXPECT_AFTER;
    case LEX_NOT:
    case LEX_PLUS:
    case LEX_MINUS:
        return p->expected <= EXPECT_CLAUSE || p->expected == EXPECT_AFTER;
    case LEX_CARAT:
        return p->expected == EXPECT_AFTER && p->may_boost;
    case LEX_FUZZY_SLOP:
        return p->expected == EXPECT_AFTER && p->may_fuzz;
    case LEX_NUMBER:
        return p->expected <= EXPECT_NUMBER;
    case LEX_RANGE_TO:
        return p->expected == EXPECT_BOUND || p->expected == EXPECT_TO;
    case LEX_RANGE_QUOTED:
    case LEX_RANGE_GOOP:
        return p->expected == EXPECT_BOUND;
    case LEX_RANGE_IN_END:
    case LEX_RANGE_EX_END:
        return p->expected == EXPECT_RANGE_END;
    case LEX_COLON:
        return false;
    case LEX_TERM:
    case LEX_STAR:
    case LEX_PREFIX:
    case LEX_WILD:
    case LEX_REGEXP:
    case LEX_BARE_OPER:
    case LEX_QUOTED:
    case LEX_LPAREN:
    case LEX_RANGE_IN:
    case LEX_RANGE_EX:
    case LEX_BAD:
        break;
    }
    return p->expected <= EXPECT_AFTER;
}

static void list_wanted(const struct parser *p, struct buf *out)
{
    static const enum lex_kind more[] = {LEX_TERM, LEX_STAR}; /* what two tokens ahead is looked for */
    buf_z(out, p->expected == EXPECT_NUMBER || p->expected == EXPECT_TO ? "\nWas expecting:\n    "
                                                                        : "\nWas expecting one of:\n    ");
    for (enum lex_kind k = LEX_EOF; k <= LEX_RANGE_GOOP; k++) {
        if (may_follow(p, k)) {
            buf_printf(out, "%s %s\n    ", token_images[k], k == LEX_EOF ? "" : "...");
        }
    }
    size_t n = p->expected == EXPECT_START                                  ? 1
               : p->expected == EXPECT_CLAUSE || p->expected == EXPECT_TERM ? 2
                                                                            : 0;
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s ...\n    ", token_images[more[i]]);
    }
}

enum err parser_refuse(struct parser *p)
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

enum err parser_unescape(struct parser *p, struct str s, struct str *out)
{
    return lex_unescape(s, p->r.b->arena, out, p->r.em);
}

/* No field of that name, or of the list, is mapped: `what` is what the clause was about. */
static enum err unmapped(struct parser *p, struct str what, struct query **out)
{
    return qnode_none(p->r.b, out, p->r.em, "unmapped fields [%.*s]",
                      STR_ARG(what.p != NULL ? what : STR("null")));
}

/* A clause over fields; `what` is reported if there are none. */
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

static enum err parser_each(struct parser *p, struct str field, string_field_fn make, const void *arg,
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

enum err parser_text(struct parser *p, struct str field, struct str text, struct query **out)
{
    struct range_arg range;
    if ((field.p != NULL || p->r.any_field) && open_range(text, &range)) {
        return parser_each(p, field, string_make_range, &range, out);
    }
    if (str_is(field, "_exists_")) {
        return build_exists(p->r.b, text, out, p->r.em);
    }
    if (field.p != NULL && p->r.zone != NULL) {
        const struct field *f = build_field(p->r.b, field);
        if (f != NULL && field_is_date(f)) {
            range = (struct range_arg){text, text, true, true};
            return parser_each(p, field, string_make_range, &range, out);
        }
    }
    struct field_boosts fields;
    enum err e = string_fields(&p->r, field, false, &fields);
    if (e != ERR_OK) {
        return e;
    }
    if (field.p == NULL && p->r.any_field) {
        (void)build_field(p->r.b, STR("*")); /* in a query that a document holds, that has to be mapped */
    }
    if (fields.n == 0) {
        if (field.p != NULL) {
            (void)build_field(p->r.b, field);
        }
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

static enum err make_exists(struct string_run *r, UNUSED const struct field *f, struct str name,
                            UNUSED const void *arg, struct query **out)
{
    return build_exists(r->b, name, out, r->em);
}

static enum err wildcard(struct parser *p, struct str field, struct str text, struct query **out)
{
    if (str_is(text, "*") && field.p == NULL && p->r.q->fields.n > 0) {
        return p->r.fields.n > 0 ? parser_each(p, field, make_exists, NULL, out) : unmapped(p, text, out);
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
    return each_pattern(p, field, string_make_wildcard, &text, out);
}

static enum err regexp(struct parser *p, struct str field, struct str text, struct query **out)
{
    enum err e = build_regex_length(p->r.b, text, "[query_string]", p->r.em);
    return e == ERR_OK ? each_pattern(p, field, string_make_regexp, &text, out) : e;
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
    if (t.kind == LEX_STAR || t.kind == LEX_WILD) {
        return wildcard(p, field, text, out);
    }
    if (t.kind == LEX_PREFIX) {
        e = parser_unescape(p, str_slice(text, 0, text.n - 1), &text);
        return e == ERR_OK ? each_pattern(p, field, string_make_prefix, &text, out) : e;
    }
    if (t.kind == LEX_REGEXP) {
        return regexp(p, field, str_slice(text, 1, text.n - 1), out);
    }
    if (t.kind == LEX_BARE_OPER) {
        text = str_slice(text, 0, 1);
    }
    e = parser_unescape(p, text, &text);
    if (e != ERR_OK) {
        return e;
    }
    if (slop.p == NULL) {
        return parser_text(p, field, text, out);
    }
    struct fuzzy_arg a = {.text = text};
    e = read_edits(p, str_slice(slop, 1, slop.n), &a);
    return e == ERR_OK ? parser_each(p, field, string_make_fuzzy, &a, out) : e;
}

/* Boost and slop behind a term, in either order. */
static enum err suffixes(struct parser *p, bool fuzzy, struct str *slop, struct str *boost)
{
    *slop = *boost = STR_NULL;
    p->expected = EXPECT_AFTER;
    p->may_boost = true;
    p->may_fuzz = fuzzy;
    for (int i = 0; i < 2; i++) {
        enum err e = ERR_OK;
        if (p->t1.kind == LEX_CARAT && boost->p == NULL) {
            e = parser_advance(p);
            if (e == ERR_OK && p->t1.kind != LEX_NUMBER) {
                p->expected = EXPECT_NUMBER;
                return parser_refuse(p);
            }
            *boost = p->t1.text;
            p->may_boost = false;
        } else if (p->t1.kind == LEX_FUZZY_SLOP && p->may_fuzz) {
            *slop = p->t1.text;
            p->may_fuzz = false;
        } else {
            break;
        }
        e = e == ERR_OK ? parser_advance(p) : e;
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
        return parser_refuse(p);
    }
    if (p->t1.kind == LEX_RANGE_QUOTED) {
        s = str_slice(s, 1, s.n - 1);
    } else if (str_is(s, "*")) {
        *out = STR_NULL;
        return parser_advance(p);
    }
    enum err e = parser_unescape(p, s, out);
    if (e == ERR_OK && str_is(*out, "*")) {
        *out = STR_NULL;
    }
    return e == ERR_OK ? parser_advance(p) : e;
}

static enum err range(struct parser *p, struct str field, struct query **out)
{
    struct range_arg a = {.from_inclusive = p->t1.kind == LEX_RANGE_IN};
    struct str slop, boost;
    enum err e = parser_advance(p);
    p->expected = EXPECT_BOUND;
    e = e == ERR_OK ? range_end(p, &a.from) : e;
    if (e == ERR_OK && p->t1.kind != LEX_RANGE_TO) {
        p->expected = EXPECT_TO;
        e = parser_refuse(p);
    }
    e = e == ERR_OK ? parser_advance(p) : e;
    e = e == ERR_OK ? range_end(p, &a.to) : e;
    if (e == ERR_OK && p->t1.kind != LEX_RANGE_IN_END && p->t1.kind != LEX_RANGE_EX_END) {
        p->expected = EXPECT_RANGE_END;
        e = parser_refuse(p);
    }
    if (e != ERR_OK) {
        return e;
    }
    a.to_inclusive = p->t1.kind == LEX_RANGE_IN_END;
    e = parser_advance(p);
    e = e == ERR_OK ? suffixes(p, false, &slop, &boost) : e;
    e = e == ERR_OK ? parser_each(p, field, string_make_range, &a, out) : e;
    return e == ERR_OK ? boosted(p, boost, out) : e;
}

static enum err term(struct parser *p, struct str field, struct query **out)
{
    struct lex_token t = p->t1;
    struct str slop, boost, text;
    enum err e;
    if (t.kind == LEX_RANGE_IN || t.kind == LEX_RANGE_EX) {
        return range(p, field, out);
    }
    if (!begins_term(t.kind)) {
        return parser_refuse(p);
    }
    e = parser_advance(p);
    e = e == ERR_OK ? suffixes(p, true, &slop, &boost) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (t.kind == LEX_QUOTED) {
        float f;
        int32_t s = p->r.q->phrase_slop;
        if (slop.n > 1 && num_parse_float(str_slice(slop, 1, slop.n), &f)) {
            s = f >= 2e9F ? INT32_MAX : f <= -2e9F ? INT32_MIN : (int32_t)f;
        }
        e = parser_unescape(p, str_slice(t.text, 1, t.text.n - 1), &text);
        e = e == ERR_OK ? field_phrase(p, field, text, s, out) : e;
    } else {
        e = bare_token(p, field, t, slop, out);
    }
    return e == ERR_OK ? boosted(p, boost, out) : e;
}

enum err parser_clause(struct parser *p, struct str field, struct query **out)
{
    struct str slop, boost;
    enum err e = ERR_OK;
    *out = NULL;
    if ((p->t1.kind == LEX_TERM || p->t1.kind == LEX_STAR) && p->t2.kind == LEX_COLON) {
        e = p->t1.kind == LEX_STAR ? ERR_OK : parser_unescape(p, p->t1.text, &field);
        if (p->t1.kind == LEX_STAR) {
            field = STR("*");
        }
        e = e == ERR_OK ? parser_advance(p) : e;
        e = e == ERR_OK ? parser_advance(p) : e;
        if (e != ERR_OK) {
            return e;
        }
        p->expected = EXPECT_VALUE;
    }
    if (p->t1.kind != LEX_LPAREN) {
        return term(p, field, out);
    }
    if (++p->depth > 200) {
        return err_set(p->r.em, ERR_QUERY_SYNTAX, "parentheses are nested too deeply");
    }
    e = parser_advance(p);
    e = e == ERR_OK ? parser_query(p, field, out) : e;
    if (e == ERR_OK && p->t1.kind != LEX_RPAREN) {
        e = parser_refuse(p);
    }
    p->depth--;
    e = e == ERR_OK ? parser_advance(p) : e;
    e = e == ERR_OK ? suffixes(p, false, &slop, &boost) : e;
    return e == ERR_OK ? boosted(p, boost, out) : e;
}
