#include "engine/script/ast.h"

#include "common/base/arena_list.h"
#include "common/base/utf8.h"

/* Longest first. */
static const char *const signs[] = {
    ">>>=", "===", "!==", "==~", ">>>", "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "++",
    "--",   "+=",  "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "->", "::", "?.", "?:", "=~",
    "<<",   ">>",  "{",   "}",   "[",   "]",   "(",   ")",  ".",  ",",  ";",  "!",  "~",  "*",
    "/",    "%",   "+",   "-",   "<",   ">",   "&",   "^",  "|",  "?",  ":",  "="};

struct lexer {
    struct str s;
    size_t at;
    struct arena *a;
    struct errmsg *em;
    struct token *v;
    uint32_t n;
    size_t cap;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum err unexpected(struct lexer *x)
{
    struct str rest = str_slice(x->s, x->at, x->s.n);
    bool text = rest.n > 0 && (rest.p[0] == '\'' || rest.p[0] == '"');
    bool open = text || str_starts(rest, STR("/"));
    size_t n = 0;
    if (open) {
        n = rest.n;
    } else if (rest.n > 0) {
        (void)utf8_next(rest, &n);
    }
    err_set(x->em, ERR_LEXER_NO_VIABLE_ALT, "%s", "");
    enum err e = err_wrap(x->em, ERR_ILLEGAL_ARGUMENT, "unexpected character [%.*s].", (int)n, rest.p);
    script_error_at(x->em, (uint32_t)x->at);
    return e;
}

static enum err lex_push(struct lexer *x, enum token_kind kind, size_t from, struct str text,
                         struct str flags)
{
    return ARENA_ADD(x->a, x->v, x->n, x->cap,
                     (struct token){kind, (uint32_t)from, text, str_slice(x->s, from, x->at), flags})
               ? ERR_OK
               : err_no_memory(x->em);
}

/* Space and comments; false: a comment that does not end. */
static bool skip(struct lexer *x)
{
    while (x->at < x->s.n) {
        char c = x->s.p[x->at];
        struct str rest = str_slice(x->s, x->at, x->s.n);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            x->at++;
        } else if (str_starts(rest, STR("//"))) {
            size_t end = x->at;
            while (end < x->s.n && x->s.p[end] != '\n' && x->s.p[end] != '\r') {
                end++;
            }
            if (end == x->s.n) { /* the line has to end, too; behind an operand the first slash divides */
                x->at += x->n > 0 ? 1 : 0;
                return false;
            }
            x->at = end;
        } else if (str_starts(rest, STR("/*"))) {
            size_t end = str_find_str(str_slice(rest, 2, rest.n), STR("*/"));
            if (end == SIZE_MAX) {
                return false;
            }
            x->at += end + 4;
        } else {
            break;
        }
    }
    return true;
}

/* A text with a backslash that escapes nothing: it ends the token there, or at the end of the script. */
static enum err bad_escape(struct lexer *x, size_t from, char quote)
{
    size_t end = MIN_OF(x->at + 2, x->s.n);
    end = x->at == from ? x->s.n : end;
    err_set(x->em, ERR_LEXER_NO_VIABLE_ALT, "%s", "");
    enum err e = err_wrap(x->em, ERR_ILLEGAL_ARGUMENT,
                          "unexpected character [%.*s]. The only valid escape sequences in strings starting "
                          "with [%c] are [\\\\] and [\\%c].",
                          STR_ARG(str_slice(x->s, from, end)), quote, quote);
    script_error_at(x->em, (uint32_t)from);
    return e;
}

static enum err lex_text(struct lexer *x)
{
    char quote = x->s.p[x->at];
    size_t from = x->at++, n = 0;
    char *copy = arena_alloc(x->a, x->s.n - from);
    if (copy == NULL) {
        return err_no_memory(x->em);
    }
    for (; x->at < x->s.n && x->s.p[x->at] != quote; x->at++) {
        char c = x->s.p[x->at];
        if (c == '\\') { /* only the quote and the backslash itself may be escaped */
            char next = x->at + 1 < x->s.n ? x->s.p[x->at + 1] : '\0';
            if (next != quote && next != '\\') {
                return bad_escape(x, from, quote);
            }
            c = next;
            x->at++;
        }
        copy[n++] = c;
    }
    if (x->at >= x->s.n) {
        x->at = from;
        return memchr(x->s.p + from, '\\', x->s.n - from) != NULL ? bad_escape(x, from, quote)
                                                                  : unexpected(x);
    }
    x->at++;
    return lex_push(x, T_TEXT, from, str_mk(copy, n), STR_NULL);
}

static enum err lex_regex(struct lexer *x)
{
    size_t from = x->at, end = from + 1;
    while (end < x->s.n && x->s.p[end] != '/' && x->s.p[end] != '\n') {
        end += x->s.p[end] == '\\' ? 2 : 1;
    }
    if (end >= x->s.n || x->s.p[end] != '/') {
        return unexpected(x);
    }
    size_t flags = end + 1;
    while (flags < x->s.n && is_name(x->s.p[flags])) {
        flags++;
    }
    x->at = flags;
    return lex_push(x, T_REGEX, from, str_slice(x->s, from + 1, end), str_slice(x->s, end + 1, flags));
}

static enum err lex_number(struct lexer *x)
{
    size_t from = x->at;
    const char *p = x->s.p;
    if (p[from] == '0' && from + 1 < x->s.n && (p[from + 1] == 'x' || p[from + 1] == 'X')) {
        x->at += 2;
        while (x->at < x->s.n
               && (is_digit(p[x->at]) || (p[x->at] >= 'a' && p[x->at] <= 'f')
                   || (p[x->at] >= 'A' && p[x->at] <= 'F'))) {
            x->at++;
        }
    } else {
        while (x->at < x->s.n && is_digit(p[x->at])) {
            x->at++;
        }
        if (x->at + 1 < x->s.n && p[x->at] == '.' && is_digit(p[x->at + 1])) {
            x->at++;
            while (x->at < x->s.n && is_digit(p[x->at])) {
                x->at++;
            }
        }
        size_t e = x->at;
        if (e < x->s.n && (p[e] == 'e' || p[e] == 'E')) {
            e += e + 1 < x->s.n && (p[e + 1] == '+' || p[e + 1] == '-') ? 2 : 1;
            if (e < x->s.n && is_digit(p[e])) {
                while (e < x->s.n && is_digit(p[e])) {
                    e++;
                }
                x->at = e;
            }
        }
    }
    if (x->at < x->s.n && memchr("lLfFdD", p[x->at], 6) != NULL) {
        x->at++;
    }
    return lex_push(x, T_NUMBER, from, str_slice(x->s, from, x->at), STR_NULL);
}

/* A slash begins a regular expression where an operand is due. */
static bool operand_due(const struct lexer *x)
{
    if (x->n == 0) {
        return true;
    }
    const struct token *last = &x->v[x->n - 1];
    return last->kind == T_SIGN
               ? !str_is(last->text, ")") && !str_is(last->text, "]") && !str_is(last->text, "}")
                     && !str_is(last->text, "++") && !str_is(last->text, "--")
           : last->kind == T_NAME ? str_is(last->text, "return")
                                  : false;
}

static enum err lex_sign(struct lexer *x)
{
    struct str rest = str_slice(x->s, x->at, x->s.n);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        struct str sign = str_of(signs[i]);
        /* "a ?.5:1" is a ternary */
        bool ternary = str_is(sign, "?.") && rest.n > 2 && is_digit(rest.p[2]);
        if (str_starts(rest, sign) && !ternary) {
            size_t from = x->at;
            x->at += sign.n;
            return lex_push(x, T_SIGN, from, sign, STR_NULL);
        }
    }
    return unexpected(x);
}

enum err script_lex(struct token **out, uint32_t *n, struct str source, struct arena *a, struct errmsg *em)
{
    struct lexer x = {.s = source, .a = a, .em = em};
    enum err e = ERR_OK;
    for (;;) {
        if (!skip(&x)) {
            return unexpected(&x);
        }
        if (x.at >= source.n) {
            break;
        }
        char c = source.p[x.at];
        if (is_name(c)) {
            size_t from = x.at;
            while (x.at < source.n && (is_name(source.p[x.at]) || is_digit(source.p[x.at]))) {
                x.at++;
            }
            e = lex_push(&x, T_NAME, from, str_slice(source, from, x.at), STR_NULL);
        } else if (is_digit(c)) {
            e = lex_number(&x);
        } else if (c == '.' && x.at + 1 < source.n && is_digit(source.p[x.at + 1]) && operand_due(&x)) {
            e = lex_number(&x);
        } else if (c == '\'' || c == '"') {
            e = lex_text(&x);
        } else if (c == '/' && operand_due(&x)) {
            e = lex_regex(&x);
        } else {
            e = lex_sign(&x);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    e = lex_push(&x, T_END, source.n, STR_NULL, STR_NULL);
    *out = x.v;
    *n = x.n;
    return e;
}
