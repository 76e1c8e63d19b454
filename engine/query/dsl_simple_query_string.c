/* simple_query_string: a query language without syntax errors. */
#include "engine/query/query_string.h"

#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "common/base/stop.h"

enum {
    SQS_AND = 1,
    SQS_NOT = 2,
    SQS_OR = 4,
    SQS_PREFIX = 8,
    SQS_PHRASE = 16,
    SQS_PRECEDENCE = 32,
    SQS_ESCAPE = 64,
    SQS_WHITESPACE = 128,
    SQS_FUZZY = 256,
    SQS_NEAR = 512
};

#define AT(member) offsetof(struct string_query, member)

static enum err parse_flags(struct json_pull *p, uint32_t *out, struct errmsg *em)
{
    static const struct {
        const char *name;
        uint32_t value;
    } flags[] = {{"ALL", UINT32_MAX},    {"NONE", 0},
                 {"AND", SQS_AND},       {"NOT", SQS_NOT},
                 {"OR", SQS_OR},         {"PREFIX", SQS_PREFIX},
                 {"PHRASE", SQS_PHRASE}, {"PRECEDENCE", SQS_PRECEDENCE},
                 {"ESCAPE", SQS_ESCAPE}, {"WHITESPACE", SQS_WHITESPACE},
                 {"FUZZY", SQS_FUZZY},   {"NEAR", SQS_NEAR},
                 {"SLOP", SQS_NEAR}};
    if (p->token == TOK_NUMBER) {
        int32_t v;
        enum err e = json_pull_i32(p, &v, em);
        *out = v < 0 ? UINT32_MAX : (uint32_t)v;
        return e;
    }
    struct str s, rest;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = s.n == 0 ? UINT32_MAX : 0;
    for (rest = s; rest.p != NULL && s.n > 0;) {
        struct str one = str_cut(rest, '|', &rest);
        if (one.n == 0) {
            continue;
        }
        size_t i = 0;
        while (i < ARRAY_LEN(flags) && !str_eq_nocase(one, str_of(flags[i].name))) {
            i++;
        }
        if (i == ARRAY_LEN(flags)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown simple_query_string flag [%.*s]", STR_ARG(one));
        }
        if (flags[i].value == 0) {
            *out = 0;
            return ERR_OK;
        }
        *out |= flags[i].value;
    }
    return ERR_OK;
}

static enum err parse_value(struct json_pull *p, struct string_query *q, struct str name, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct string_query),
        {"query", PARAM_TEXT, AT(query)},
        {"analyzer", PARAM_TEXT, AT(analyzer)},
        {"default_operator", PARAM_OPERATOR, AT(and)},
        {"lenient", PARAM_BOOL, AT(lenient)},
        {"analyze_wildcard", PARAM_BOOL, AT(analyze_wildcard)},
        {"minimum_should_match", PARAM_NULLABLE, AT(minimum_should_match)},
        {"quote_field_suffix", PARAM_NULLABLE, AT(quote_field_suffix)},
        {"auto_generate_synonyms_phrase_query", PARAM_BOOL, AT(synonyms_phrase)},
        {"fuzzy_prefix_length", PARAM_INT, AT(prefix_length)},
        {"fuzzy_max_expansions", PARAM_INT, AT(max_expansions)},
        {"fuzzy_transpositions", PARAM_BOOL, AT(transpositions)},
    };
    if (str_is(name, "flags")) {
        return parse_flags(p, &q->flags, em);
    }
    bool known;
    enum err e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
    q->lenient_given = q->lenient_given || str_is(name, "lenient");
    return e != ERR_OK || known
               ? e
               : json_pull_err(p, em, ERR_PARSING, "[simple_query_string] unsupported field [%.*s]",
                               STR_ARG(name));
}

static enum err parse_simple(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct string_query *q = dsl_new(out, arena, &dsl_simple_query_string, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->position_increments = q->synonyms_phrase = q->transpositions = true;
    q->max_expansions = 50;
    q->flags = UINT32_MAX;
    q->type = MULTI_MOST;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_ARRAY) {
            if (!str_is(name, "fields")) {
                return dsl_unsupported(p, "simple_query_string", name, em);
            }
            e = field_boosts_parse(p, arena, "simple_query_string", &q->fields, em);
        } else if (json_token_is_value(p->token)) {
            e = parse_value(p, q, name, em);
        } else {
            return dsl_unknown_token(p, "simple_query_string", name, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->query.p == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "[simple_query_string] query text missing");
    }
    return field_boosts_check(&q->fields, em);
}

/* ---- the language ---- */

/* A tree under construction: the last operation decides where the next clause goes. */
struct state {
    struct str data;
    size_t at;
    bool has_current, current_and;   /* operation given for the next clause */
    bool has_previous, previous_and; /* operation of the node on top */
    unsigned not ;
    struct query *top;
    struct bool_build clauses; /* of top, when an operation made it */
    /* of the outermost: where the opening brackets are that nothing closes, in order; known once `paired` */
    bool paired;
    size_t *open, n_open, cap_open, n_passed;
};

static bool on(const struct string_run *r, uint32_t flag)
{
    return (r->q->flags & flag) != 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool token_ends(const struct string_run *r, char c)
{
    return (c == '"' && on(r, SQS_PHRASE)) || (c == '|' && on(r, SQS_OR)) || (c == '+' && on(r, SQS_AND))
           || ((c == '(' || c == ')') && on(r, SQS_PRECEDENCE)) || (is_blank(c) && on(r, SQS_WHITESPACE));
}

static enum err negate(struct string_run *r, struct query **branch)
{
    struct bool_build bb = {0};
    struct query *all;
    enum err e = bool_add(r->b, &bb, OCCUR_MUST_NOT, *branch, r->em);
    e = e == ERR_OK ? qnode_all(r->b, &all, r->em) : e;
    e = e == ERR_OK ? bool_add(r->b, &bb, OCCUR_SHOULD, all, r->em) : e;
    return e == ERR_OK ? bool_done(r->b, &bb, branch, r->em) : e;
}

static enum err add_branch(struct string_run *r, struct state *s, struct query *branch)
{
    if (branch == NULL) { /* nothing is left of the word: the operator waits for the next one */
        return ERR_OK;
    }
    enum err e = ERR_OK;
    if (s->not % 2 == 1) {
        e = negate(r, &branch);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (s->top == NULL) {
        s->top = branch;
        s->has_current = false;
        return ERR_OK;
    }
    bool and = s->has_current ? s->current_and : r->q->and;
    enum bool_occur occur = and? OCCUR_MUST : OCCUR_SHOULD;
    if (!s->has_previous || s->previous_and != and) {
        s->clauses = (struct bool_build){0};
        e = bool_add(r->b, &s->clauses, occur, s->top, r->em);
    }
    e = e == ERR_OK ? bool_add(r->b, &s->clauses, occur, branch, r->em) : e;
    e = e == ERR_OK ? bool_done(r->b, &s->clauses, &s->top, r->em) : e;
    s->has_previous = true;
    s->previous_and = and;
    s->has_current = false;
    return e;
}

/* The number behind '~', which s->at stands on; none is 2. */
static int32_t parse_distance(const struct string_run *r, struct state *s)
{
    size_t from = ++s->at;
    while (s->at < s->data.n && !token_ends(r, s->data.p[s->at])) {
        s->at++;
    }
    struct str text = str_slice(s->data, from, s->at);
    int32_t n = 0;
    if (text.n == 0) {
        return 2;
    }
    return num_parse_i32(text, &n) && n > 0 ? n : 0;
}

static enum err make_fuzzy(struct string_run *r, const struct field *f, UNUSED struct str name,
                           const void *arg, struct query **out)
{
    const struct {
        struct str text;
        int32_t edits;
    } *a = arg;
    struct str text;
    enum err e = string_normalise(r, f, a->text, &text);
    if (e != ERR_OK) {
        return e;
    }
    struct fuzzy_opts o = {{.given = true, .text = a->edits == 1 ? STR("1") : STR("2")},
                           r->q->prefix_length,
                           r->q->max_expansions,
                           r->q->transpositions,
                           STR_NULL};
    return field_fuzzy(r->b, f, text, &o, out, r->em);
}

static enum err make_prefix(struct string_run *r, const struct field *f, UNUSED struct str name,
                            const void *arg, struct query **out)
{
    struct str text;
    if (r->q->analyze_wildcard) {
        return string_prefix(r, f, *(const struct str *)arg, out);
    }
    enum err e = string_normalise(r, f, *(const struct str *)arg, &text);
    struct pattern_opts o = {0};
    return e == ERR_OK ? field_pattern(r->b, f, &q_prefix, text, &o, out, r->em) : e;
}

static enum err phrase(struct string_run *r, struct str text, int32_t slop, struct query **out)
{
    struct field_boosts fields;
    enum err e = string_fields(r, STR_NULL, true, &fields);
    return e == ERR_OK ? string_text(r, &fields, text, MULTI_PHRASE, true, slop, out) : e;
}

static enum err consume_phrase(struct string_run *r, struct state *s)
{
    size_t start = ++s->at, n = 0;
    char *text = arena_alloc(r->b->arena, s->data.n + 1);
    bool escaped = false, slop = false;
    if (text == NULL) {
        return err_no_memory(r->em);
    }
    for (; s->at < s->data.n; s->at++) {
        char c = s->data.p[s->at];
        if (!escaped && c == '\\' && on(r, SQS_ESCAPE)) {
            escaped = true;
            continue;
        }
        if (!escaped && c == '"') {
            if (s->at + 1 < s->data.n && s->data.p[s->at + 1] == '~' && on(r, SQS_NEAR)) {
                s->at++;
                slop = s->at + 1 < s->data.n;
            }
            break;
        }
        escaped = false;
        text[n++] = c;
    }
    if (s->at >= s->data.n) { /* never closed: the quote means nothing */
        s->at = start;
        return ERR_OK;
    }
    if (s->at == start) {
        s->has_current = false;
        s->at++;
        return ERR_OK;
    }
    struct query *branch;
    int32_t distance = slop ? parse_distance(r, s) : 0;
    enum err e = phrase(r, str_mk(text, n), distance, &branch);
    e = e == ERR_OK ? add_branch(r, s, branch) : e;
    s->at++;
    return e;
}

static enum err consume_token(struct string_run *r, struct state *s)
{
    char *text = arena_alloc(r->b->arena, s->data.n + 1);
    size_t n = 0;
    bool escaped = false, prefix = false, fuzzy = false;
    if (text == NULL) {
        return err_no_memory(r->em);
    }
    while (s->at < s->data.n) {
        char c = s->data.p[s->at];
        if (!escaped) {
            if (c == '\\' && on(r, SQS_ESCAPE)) {
                escaped = true;
                prefix = false;
                s->at++;
                continue;
            }
            if (token_ends(r, c)) {
                break;
            }
            if (n > 0 && c == '~' && on(r, SQS_FUZZY)) {
                fuzzy = true;
                break;
            }
            prefix = n > 0 && c == '*' && on(r, SQS_PREFIX);
        }
        escaped = false;
        text[n++] = c;
        s->at++;
    }
    if (n == 0) {
        return ERR_OK;
    }
    struct query *branch = NULL;
    struct {
        struct str text;
        int32_t edits;
    } a = {str_mk(text, n), 0};
    enum err e;
    if (fuzzy) {
        a.edits = parse_distance(r, s);
        a.edits = MIN_OF(a.edits, 2);
    }
    if (fuzzy && a.edits > 0) {
        e = string_each(r, &r->fields, 1, make_fuzzy, &a, &branch);
    } else if (prefix && !fuzzy) {
        a.text.n--;
        e = string_each(r, &r->fields, 1, make_prefix, &a.text, &branch);
    } else {
        e = string_text(r, &r->fields, a.text, MULTI_MOST, false, 0, &branch);
    }
    return e == ERR_OK ? add_branch(r, s, branch) : e;
}

static enum err parse_sub(struct string_run *r, struct state *s, unsigned depth);

/* Is the bracket before `at` one that nothing closes? They are found once, from the first one on: brackets inside of others that are
 * closed are so too, hence this is for the outermost text alone. */
static bool never_closed(struct string_run *r, struct state *s, size_t at)
{
    bool escaped = false;
    for (size_t i = at - 1; !s->paired && i < s->data.n && !stop_worked(1); i++) {
        char c = s->data.p[i];
        if (!escaped && c == '\\' && on(r, SQS_ESCAPE)) {
            escaped = true;
            continue;
        }
        if (!escaped && c == '(') {
            if (!ARENA_ADD(r->b->arena, s->open, s->n_open, s->cap_open, i)) {
                return true;
            }
        } else if (!escaped && c == ')' && s->n_open > 0) {
            s->n_open--;
        }
        escaped = false;
    }
    s->paired = true;
    while (s->n_passed < s->n_open && s->open[s->n_passed] < at - 1) {
        s->n_passed++;
    }
    return s->n_passed < s->n_open && s->open[s->n_passed] == at - 1;
}

static enum err consume_sub(struct string_run *r, struct state *s, unsigned depth)
{
    size_t start = ++s->at;
    int open = 1;
    bool escaped = false;
    if (depth == 0 && never_closed(r, s, start)) {
        return ERR_OK;
    }
    for (; s->at < s->data.n && !stop_worked(1); s->at++) {
        char c = s->data.p[s->at];
        if (!escaped && c == '\\' && on(r, SQS_ESCAPE)) {
            escaped = true;
            continue;
        }
        if (!escaped && c == '(') {
            open++;
        } else if (!escaped && c == ')' && --open == 0) {
            break;
        }
        escaped = false;
    }
    if (s->at >= s->data.n) {
        s->at = start;
        return ERR_OK;
    }
    if (s->at == start) {
        s->has_current = false;
        s->at++;
        return ERR_OK;
    }
    struct state sub = {.data = str_slice(s->data, 0, s->at), .at = start};
    enum err e = parse_sub(r, &sub, depth + 1);
    e = e == ERR_OK ? add_branch(r, s, sub.top) : e;
    s->at++;
    return e;
}

static void operation(struct state *s, bool and)
{
    if (!s->has_current && s->top != NULL) {
        s->has_current = true;
        s->current_and = and;
    }
    s->at++;
}

static enum err parse_sub(struct string_run *r, struct state *s, unsigned depth)
{
    while (s->at < s->data.n) {
        char c = s->data.p[s->at];
        enum err e = ERR_OK;
        if (c == '(' && on(r, SQS_PRECEDENCE) && depth < 200) {
            e = consume_sub(r, s, depth);
        } else if (c == ')' && on(r, SQS_PRECEDENCE)) {
            s->at++;
        } else if (c == '"' && on(r, SQS_PHRASE)) {
            e = consume_phrase(r, s);
        } else if (c == '+' && on(r, SQS_AND)) {
            operation(s, true);
        } else if (c == '|' && on(r, SQS_OR)) {
            operation(s, false);
        } else if (c == '-' && on(r, SQS_NOT)) {
            s->not ++;
            s->at++;
            continue;
        } else if (is_blank(c) && on(r, SQS_WHITESPACE)) {
            s->at++;
        } else {
            size_t before = s->at;
            e = consume_token(r, s);
            s->at += s->at == before ? 1 : 0;
        }
        if (e != ERR_OK) {
            return e;
        }
        s->not = 0;
    }
    return ERR_OK;
}

static enum err build_simple(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct string_query *q = (const struct string_query *)(const void *)d;
    struct string_run r;
    *out = NULL;
    enum err e = string_run_init(&r, b, q, "simple_query_string", em);
    if (e != ERR_OK) {
        return e;
    }
    r.simple = true;
    if (str_is(str_trim(q->query), "*")) {
        return qnode_all(b, out, em);
    }
    struct state s = {.data = q->query};
    e = parse_sub(&r, &s, 0);
    if (e != ERR_OK) {
        return e;
    }
    if (s.top == NULL) {
        return qnode_none(b, out, em, "empty string passed to query parser");
    }
    *out = s.top;
    return apply_min_should(b, out, q->minimum_should_match, em);
}

const struct dsl_type dsl_simple_query_string = {
    .name = "simple_query_string", .parse = parse_simple, .build = build_simple};
