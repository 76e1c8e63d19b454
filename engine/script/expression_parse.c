/* The grammar of Lucene expressions: numbers, variables with their members and indexes as one token, calls,
 * and JavaScript's operators. The tree has the nodes of painless; a variable is a name with all that follows
 * it, a call has no object. Errors tell the place and the words of Lucene's own parser. */
#include "engine/script/expression.h"

#include <stdlib.h>

#define EXPRESSION_DEPTH_MAX  150
#define EXPRESSION_CHAIN_MAX  300 /* operators in a row */
#define EXPRESSION_HEIGHT_MAX (EXPRESSION_DEPTH_MAX + EXPRESSION_CHAIN_MAX)

struct lexeme {
    enum { X_END, X_NUMBER, X_VARIABLE, X_SIGN } kind;
    struct str text;
    uint32_t off;
    double number;
};

struct reader {
    struct str source;
    struct arena *a;
    struct errmsg *em;
    struct lexeme at;
    uint32_t next; /* byte behind it */
    unsigned depth;
    enum err e;
};

/* ---- errors ---- */

/* Line and column of a byte, as messages have them. */
static struct str expression_place(struct reader *r, uint32_t off)
{
    unsigned line = 1, column = 0;
    for (uint32_t i = 0; i < off; i++) {
        bool ends = r->source.p[i] == '\n', continues = ((unsigned char)r->source.p[i] & 0xC0) == 0x80;
        line += ends ? 1 : 0;
        column = ends ? 0 : column + (continues ? 0 : 1);
    }
    return arena_printf(r->a, "on line (%u) position (%u)", line, column);
}

static struct node *expression_failed(struct reader *r, enum err e, uint32_t off)
{
    if (r->e == ERR_OK) {
        script_error_at(r->em, off);
        r->e = e;
    }
    return NULL;
}

static struct node *no_memory(struct reader *r)
{
    return expression_failed(r, err_no_memory(r->em), 0);
}

static struct str expression_shown(const struct reader *r)
{
    return r->at.kind == X_END ? STR("<EOF>") : r->at.text;
}

static struct node *expected(struct reader *r, const char *what)
{
    struct str where = expression_place(r, r->at.off);
    if (r->e != ERR_OK) {
        return NULL;
    }
    return expression_failed(r,
                             err_set(r->em, ERR_QUERY_SYNTAX,
                                     "unexpected token '%.*s' %.*s was expecting one of %s",
                                     STR_ARG(expression_shown(r)), STR_ARG(where), what),
                             r->at.off);
}

static struct node *no_operand(struct reader *r)
{
    struct str where = expression_place(r, r->at.off);
    if (r->e != ERR_OK) {
        return NULL;
    }
    err_set(r->em, ERR_NO_VIABLE_ALT, "%s", "");
    enum err e = r->at.kind == X_END
                     ? err_wrap(r->em, ERR_QUERY_SYNTAX, "unexpected end of expression")
                     : err_wrap(r->em, ERR_QUERY_SYNTAX, "invalid sequence of tokens near '%.*s' %.*s",
                                STR_ARG(r->at.text), STR_ARG(where));
    return expression_failed(r, e, r->at.off);
}

/* `=` and `.` begin tokens: the character behind them is the one that does not fit. */
static void bad_character(struct reader *r, uint32_t off)
{
    size_t n = r->source.p[off] == '=' || r->source.p[off] == '.' ? 1 : 0;
    size_t at = off + n;
    if (at < r->source.n) {
        n++;
        while (off + n < r->source.n && ((unsigned char)r->source.p[off + n] & 0xC0) == 0x80) {
            n++;
        }
    }
    struct str where = expression_place(r, off);
    err_set(r->em, ERR_LEXER_NO_VIABLE_ALT, "%s", "");
    (void)expression_failed(r,
                            err_wrap(r->em, ERR_QUERY_SYNTAX, "unexpected character '%.*s' %.*s", (int)n,
                                     r->source.p + off, STR_ARG(where)),
                            off);
}

/* ---- tokens ---- */

static char char_at(const struct reader *r, size_t i)
{
    return i < r->source.n ? r->source.p[i] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static size_t digits(const struct reader *r, size_t i)
{
    while (is_digit(char_at(r, i))) {
        i++;
    }
    return i;
}

static size_t exponent(const struct reader *r, size_t i)
{
    size_t at = i;
    if (char_at(r, at) != 'e' && char_at(r, at) != 'E') {
        return i;
    }
    at++;
    at += char_at(r, at) == '+' || char_at(r, at) == '-' ? 1 : 0;
    return is_digit(char_at(r, at)) ? digits(r, at) : i;
}

/* The value of digits to a base: 8 or 16. */
static double based(const struct reader *r, size_t from, size_t to, unsigned base)
{
    double v = 0;
    for (size_t i = from; i < to; i++) {
        char c = r->source.p[i];
        v = v * base + (is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

static size_t expression_number(struct reader *r, size_t i)
{
    size_t from = i, to = i + 1;
    if (char_at(r, i) == '0' && (char_at(r, i + 1) | 0x20) == 'x' && is_hex(char_at(r, i + 2))) {
        for (to = i + 2; is_hex(char_at(r, to));) {
            to++;
        }
        r->at.number = based(r, i + 2, to, 16);
        return to;
    }
    if (char_at(r, i) == '0') {
        for (; char_at(r, to) >= '0' && char_at(r, to) <= '7';) {
            to++;
        }
        if (to > i + 1) {
            r->at.number = based(r, i + 1, to, 8);
            return to;
        }
    } else if (is_digit(char_at(r, i))) {
        to = digits(r, i);
    } else {
        to = i;
    }
    to = char_at(r, to) == '.' ? digits(r, to + 1) : to;
    to = exponent(r, to);
    char *copy = arena_alloc(r->a, to - from + 1);
    if (copy == NULL) {
        (void)no_memory(r);
        return to;
    }
    memcpy(copy, r->source.p + from, to - from);
    copy[to - from] = '\0';
    r->at.number = strtod(copy, NULL);
    return to;
}

/* Behind an index that begins at i: ['text'], ["text"] or [1]; i itself where there is none. */
static size_t index_end(const struct reader *r, size_t i)
{
    size_t at = i + 1;
    char quote = char_at(r, at);
    if (char_at(r, i) != '[') {
        return i;
    }
    if (quote == '\'' || quote == '"') {
        for (at++; at < r->source.n && r->source.p[at] != quote; at++) {
            if (r->source.p[at] == '\\') {
                at++;
                if (char_at(r, at) != quote && char_at(r, at) != '\\') {
                    return i;
                }
            }
        }
        at++;
    } else {
        at = quote == '0' ? at + 1 : digits(r, at);
        at = at == i + 1 ? r->source.n : at;
    }
    return char_at(r, at) == ']' ? at + 1 : i;
}

static size_t name_end(const struct reader *r, size_t i)
{
    while (begins_name(char_at(r, i)) || is_digit(char_at(r, i))) {
        i++;
    }
    for (size_t end = index_end(r, i); end > i; end = index_end(r, i)) {
        i = end;
    }
    return i;
}

static size_t variable(const struct reader *r, size_t i)
{
    i = name_end(r, i);
    while (char_at(r, i) == '.' && begins_name(char_at(r, i + 1))) {
        i = name_end(r, i + 1);
    }
    return i;
}

static size_t sign(const struct reader *r, size_t i)
{
    static const char *const signs[] = {">>>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                        "+",   "-",  "*",  "/",  "%",  "<",  ">",  "!",  "~",
                                        "&",   "|",  "^",  "?",  ":",  "(",  ")",  ","};
    for (size_t k = 0; k < ARRAY_LEN(signs); k++) {
        if (str_starts(str_slice(r->source, i, r->source.n), str_of(signs[k]))) {
            return i + strlen(signs[k]);
        }
    }
    return i;
}

static void advance(struct reader *r)
{
    size_t i = r->next, end;
    while (i < r->source.n && strchr(" \t\n\r", r->source.p[i]) != NULL && r->source.p[i] != '\0') {
        i++;
    }
    r->at.off = (uint32_t)i;
    char c = char_at(r, i);
    if (i == r->source.n) {
        r->at.kind = X_END;
        end = i;
    } else if (is_digit(c) || (c == '.' && is_digit(char_at(r, i + 1)))) {
        r->at.kind = X_NUMBER;
        end = expression_number(r, i);
    } else if (begins_name(c)) {
        r->at.kind = X_VARIABLE;
        end = variable(r, i);
    } else {
        r->at.kind = X_SIGN;
        end = sign(r, i);
        if (end == i) {
            bad_character(r, (uint32_t)i);
            end = r->source.n;
        }
    }
    r->at.text = str_slice(r->source, i, end);
    r->next = (uint32_t)end;
}

static bool is_sign(const struct reader *r, const char *text)
{
    return r->e == ERR_OK && r->at.kind == X_SIGN && str_is(r->at.text, text);
}

static bool accept(struct reader *r, const char *text)
{
    if (!is_sign(r, text)) {
        return false;
    }
    advance(r);
    return true;
}

/* ---- the grammar ---- */

static struct node *mk(struct reader *r, enum node_kind kind, uint32_t off)
{
    struct node *n = r->e == ERR_OK ? ARENA_NEW(r->a, struct node) : NULL;
    if (n == NULL) {
        return r->e == ERR_OK ? no_memory(r) : NULL;
    }
    n->kind = kind;
    n->off = off;
    return n;
}

static struct node *too_deep(struct reader *r, int levels)
{
    return expression_failed(
        r, err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Scripts may be no deeper nested than %d levels", levels),
        r->at.off);
}

static struct node *expression_add(struct reader *r, struct node *n, struct node *kid)
{
    struct node **grown =
        r->e != ERR_OK || n == NULL ? NULL : arena_grow(r->a, n->kids, n->n, &n->cap, sizeof(struct node *));
    if (grown == NULL) {
        return r->e == ERR_OK ? no_memory(r) : NULL;
    }
    n->kids = grown;
    n->kids[n->n++] = kid;
    n->height = node_height(n, kid);
    return n->height > EXPRESSION_HEIGHT_MAX ? too_deep(r, EXPRESSION_HEIGHT_MAX) : n;
}

static struct node *binary_from(struct reader *r, int level);
static struct node *conditional(struct reader *r);

static bool begins_operand(const struct reader *r)
{
    return r->at.kind == X_NUMBER || r->at.kind == X_VARIABLE || is_sign(r, "(") || is_sign(r, "!")
           || is_sign(r, "~") || is_sign(r, "+") || is_sign(r, "-");
}

static struct node *arguments(struct reader *r, struct node *call)
{
    call = expression_add(r, call, NULL);
    if (begins_operand(r)) {
        do {
            call = expression_add(r, call, conditional(r));
        } while (accept(r, ","));
    }
    return accept(r, ")") ? call : expected(r, "RP");
}

static struct node *primary(struct reader *r)
{
    struct lexeme t = r->at;
    if (accept(r, "(")) {
        struct node *inner = conditional(r);
        return accept(r, ")") ? inner : expected(r, "RP");
    }
    if (t.kind != X_NUMBER && t.kind != X_VARIABLE) {
        return no_operand(r);
    }
    advance(r);
    bool calls = t.kind == X_VARIABLE && accept(r, "(");
    struct node *n = mk(r, t.kind == X_NUMBER ? N_CONST : calls ? N_CALL : N_NAME, t.off);
    if (n != NULL) {
        n->name = t.text;
        n->value = sv_double(t.number);
    }
    return calls ? arguments(r, n) : n;
}

static struct node *unary(struct reader *r)
{
    static const struct {
        const char *sign;
        enum op op;
    } table[] = {{"!", OP_NOT}, {"~", OP_BNOT}, {"+", OP_PLUS}, {"-", OP_NEG}};
    if (r->e == ERR_OK && ++r->depth > EXPRESSION_DEPTH_MAX) {
        return too_deep(r, EXPRESSION_DEPTH_MAX);
    }
    struct node *n = NULL;
    bool is = false;
    for (size_t i = 0; i < ARRAY_LEN(table) && !is; i++) {
        uint32_t off = r->at.off;
        if (accept(r, table[i].sign)) {
            struct node *operand = unary(r);
            n = expression_add(r, mk(r, N_UNARY, off), operand);
            is = true;
            if (n != NULL) {
                n->op = table[i].op;
            }
        }
    }
    n = is ? n : primary(r);
    r->depth--;
    return n;
}

#define LEVELS 10
static const struct {
    const char *sign;
    int level;
    enum node_kind kind;
    enum op op;
} operators[] = {{"||", 0, N_OR, OP_NONE},    {"&&", 1, N_AND, OP_NONE},     {"|", 2, N_BINARY, OP_BOR},
                 {"^", 3, N_BINARY, OP_BXOR}, {"&", 4, N_BINARY, OP_BAND},   {"==", 5, N_BINARY, OP_EQ},
                 {"!=", 5, N_BINARY, OP_NE},  {"<", 6, N_BINARY, OP_LT},     {"<=", 6, N_BINARY, OP_LE},
                 {">", 6, N_BINARY, OP_GT},   {">=", 6, N_BINARY, OP_GE},    {"<<", 7, N_BINARY, OP_SHL},
                 {">>", 7, N_BINARY, OP_SHR}, {">>>", 7, N_BINARY, OP_USHR}, {"+", 8, N_BINARY, OP_ADD},
                 {"-", 8, N_BINARY, OP_SUB},  {"*", 9, N_BINARY, OP_MUL},    {"/", 9, N_BINARY, OP_DIV},
                 {"%", 9, N_BINARY, OP_REM}};

/* The operator here of a level, or ARRAY_LEN(operators). */
static size_t operator_here(const struct reader *r, int level)
{
    size_t i = 0;
    while (i < ARRAY_LEN(operators) && (operators[i].level != level || !is_sign(r, operators[i].sign))) {
        i++;
    }
    return i;
}

static struct node *binary_from(struct reader *r, int level)
{
    if (level == LEVELS) {
        return unary(r);
    }
    struct node *left = binary_from(r, level + 1);
    unsigned chained = 0;
    for (size_t i = operator_here(r, level); i < ARRAY_LEN(operators) && r->e == ERR_OK;
         i = operator_here(r, level)) {
        struct node *n = mk(r, operators[i].kind, r->at.off);
        if (++chained > EXPRESSION_CHAIN_MAX) {
            return expression_failed(r,
                                     err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                                             "Scripts may have no more than %d operators in a row",
                                             EXPRESSION_CHAIN_MAX),
                                     r->at.off);
        }
        advance(r);
        n = expression_add(r, n, left);
        left = expression_add(r, n, binary_from(r, level + 1));
        if (left != NULL) {
            left->op = operators[i].op;
        }
    }
    return left;
}

static struct node *conditional(struct reader *r)
{
    if (++r->depth > EXPRESSION_DEPTH_MAX) {
        return no_operand(r);
    }
    struct node *condition = binary_from(r, 0);
    uint32_t off = r->at.off;
    if (accept(r, "?")) {
        struct node *n = expression_add(r, mk(r, N_TERNARY, off), condition);
        n = expression_add(r, n, conditional(r));
        condition = accept(r, ":") ? expression_add(r, n, conditional(r)) : expected(r, "COLON");
    }
    r->depth--;
    return condition;
}

enum err expression_parse(struct node **out, struct str source, struct arena *a, struct errmsg *em)
{
    struct reader r = {.source = source, .a = a, .em = em};
    advance(&r);
    *out = conditional(&r);
    if (r.e == ERR_OK && r.at.kind != X_END) {
        (void)expected(&r, "<EOF>");
    }
    return r.e;
}
