#include "engine/query/query_lexer.h"

#include "common/base/utf8.h"

void lexer_init(struct lexer *l, struct str text)
{
    *l = (struct lexer){.text = text};
}

/* Length of the white space at `at`: blanks and the ideographic space. */
static size_t space_at(struct str s, size_t at)
{
    if (at >= s.n) {
        return 0;
    }
    if (strchr(" \t\n\r", s.p[at]) != NULL && s.p[at] != '\0') {
        return 1;
    }
    return str_starts(str_slice(s, at, s.n), STR("\xE3\x80\x80")) ? 3 : 0;
}

/* Length of the plain or escaped character at `at` that a term may begin with; 0: none. */
static size_t term_start(struct str s, size_t at)
{
    if (at >= s.n || space_at(s, at) > 0) {
        return 0;
    }
    if (s.p[at] == '\\') {
        size_t next = at + 1;
        if (next >= s.n) {
            return 0;
        }
        utf8_next(s, &next);
        return next - at;
    }
    if (strchr("+-!():^[]\"{}~*?/", s.p[at]) != NULL && s.p[at] != '\0') {
        return 0;
    }
    size_t next = at;
    utf8_next(s, &next);
    return next - at;
}

static size_t term_char(struct str s, size_t at)
{
    if (at < s.n && (s.p[at] == '-' || s.p[at] == '+')) {
        return 1;
    }
    return term_start(s, at);
}

static bool wild_char(struct str s, size_t at)
{
    return at < s.n && (s.p[at] == '*' || s.p[at] == '?');
}

static size_t digits(struct str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.n && s.p[at + n] >= '0' && s.p[at + n] <= '9') {
        n++;
    }
    return n;
}

/* Characters of a term, from `at` on. */
static size_t term_chars(struct str s, size_t at)
{
    size_t n = 0;
    for (size_t step; (step = term_char(s, at + n)) > 0; n += step) {
    }
    return n;
}

/* Digits with an optional fraction. */
static size_t lexer_number(struct str s, size_t at)
{
    size_t n = digits(s, at);
    if (n > 0 && at + n < s.n && s.p[at + n] == '.') {
        size_t fraction = digits(s, at + n + 1);
        n += fraction > 0 ? fraction + 1 : 0;
    }
    return n;
}

/* As Java's parsers show the text of a token. */
void lex_put_escaped(struct buf *out, struct str s)
{
    static const char from[] = "\b\t\n\f\r\"'\\";
    static const char to[] = "btnfr\"'\\";
    for (size_t i = 0; i < s.n;) {
        size_t at = i;
        uint32_t c = utf8_next(s, &i);
        const char *hit = c != 0 && c < 0x80 ? strchr(from, (int)c) : NULL;
        if (hit != NULL) {
            buf_char(out, '\\');
            buf_char(out, to[hit - from]);
        } else if (c < 0x20 || c > 0x7E) {
            buf_printf(out, "\\u%04x", (unsigned)c);
        } else {
            buf_add(out, s.p + at, i - at);
        }
    }
}

unsigned lex_column(struct str text, size_t at)
{
    unsigned units = 0;
    for (size_t i = 0; i < at && i < text.n;) {
        uint32_t c = utf8_next(text, &i);
        units += c > 0xFFFF ? 2 : 1;
    }
    return units;
}

/* A character that no token begins with, or (at the text's end) a token without its end. Java looks one character
 * further before it says what is there. */
static enum err lexical_error(const struct lexer *l, size_t at, struct errmsg *em)
{
    size_t next = at;
    uint32_t c = at < l->text.n ? utf8_next(l->text, &next) : 0;
    struct buf shown;
    buf_init(&shown, NULL, 4 * KIB);
    if (next < l->text.n) {
        lex_put_escaped(&shown, str_slice(l->text, at, next));
        err_set(em, ERR_TOKEN_MGR,
                "Lexical error at line 1, column %u.  Encountered: \"%.*s\" (%u), after : \"\"",
                lex_column(l->text, at) + 1, STR_ARG(buf_view(&shown)), c);
        buf_fini(&shown);
        return ERR_TOKEN_MGR;
    }
    struct str rest = str_slice(l->text, l->at, l->text.n);
    if (at >= l->text.n && rest.n > 1) { /* one character is not shown */
        lex_put_escaped(&shown, rest);
    }
    bool new_line =
        l->text.n > 0 && memchr("\n\r", l->text.p[l->text.n - 1], 2) != NULL; /* the next line's start */
    err_set(em, ERR_TOKEN_MGR, "Lexical error at line %d, column %u.  Encountered: <EOF> after : \"%.*s\"",
            new_line ? 2 : 1, new_line ? 0 : lex_column(l->text, l->text.n) + 1, STR_ARG(buf_view(&shown)));
    buf_fini(&shown);
    return ERR_TOKEN_MGR;
}

static enum err lexer_emit(struct lexer *l, struct lex_token *out, enum lex_kind kind, size_t n)
{
    *out = (struct lex_token){kind, str_slice(l->text, l->at, l->at + n), l->at};
    l->at += n;
    return ERR_OK;
}

static enum err next_in_range(struct lexer *l, struct lex_token *out, struct errmsg *em)
{
    struct str s = l->text;
    char c = s.p[l->at];
    if (c == ']' || c == '}') {
        l->state = LEX_DEFAULT;
        return lexer_emit(l, out, c == ']' ? LEX_RANGE_IN_END : LEX_RANGE_EX_END, 1);
    }
    size_t goop = 0;
    while (l->at + goop < s.n && strchr(" ]}", s.p[l->at + goop]) == NULL) {
        goop++;
    }
    if (c == '"') {
        size_t i = l->at + 1;
        while (i < s.n && s.p[i] != '"') {
            i += s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == '"' ? 2 : 1;
        }
        size_t quoted = i < s.n && i > l->at + 1 ? i + 1 - l->at : 0;
        if (quoted >= goop && quoted > 0) {
            return lexer_emit(l, out, LEX_RANGE_QUOTED, quoted);
        }
    }
    if (goop == 0) {
        return lexical_error(l, l->at, em);
    }
    bool to = goop == 2 && s.p[l->at] == 'T' && s.p[l->at + 1] == 'O';
    return lexer_emit(l, out, to ? LEX_RANGE_TO : LEX_RANGE_GOOP, goop);
}

static enum err quoted(struct lexer *l, struct lex_token *out, struct errmsg *em)
{
    struct str s = l->text;
    size_t i = l->at + 1;
    while (i < s.n && s.p[i] != '"') {
        i += s.p[i] == '\\' ? 2 : 1;
    }
    if (i >= s.n) {
        return lexical_error(l, s.n, em);
    }
    return lexer_emit(l, out, LEX_QUOTED, i + 1 - l->at);
}

static enum err regexp(struct lexer *l, struct lex_token *out, struct errmsg *em)
{
    struct str s = l->text;
    size_t i = l->at + 1;
    while (i < s.n && s.p[i] != '/') {
        i += s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == '/' ? 2 : 1;
    }
    if (i >= s.n) {
        return lexical_error(l, s.n, em);
    }
    return lexer_emit(l, out, LEX_REGEXP, i + 1 - l->at);
}

/* Terms, prefixes and wildcards: the longest match wins, the first kind among equals. */
static enum err word(struct lexer *l, struct lex_token *out, struct errmsg *em)
{
    struct str s = l->text;
    size_t i = l->at, step = term_start(s, i), plain = 0, wild;
    if (step > 0) {
        for (i += step; (step = term_char(s, i)) > 0; i += step) {
        }
        plain = i - l->at;
    }
    for (wild = plain; (step = wild_char(s, l->at + wild) ? 1
                               : wild > 0                 ? term_char(s, l->at + wild)
                                                          : 0)
                       > 0;
         wild += step) {
    }
    if (wild == 0) {
        return lexical_error(l, l->at, em);
    }
    if (wild == plain) {
        struct str t = str_slice(s, l->at, l->at + plain);
        enum lex_kind kind = str_is(t, "AND") || str_is(t, "&&")  ? LEX_AND
                             : str_is(t, "OR") || str_is(t, "||") ? LEX_OR
                             : str_is(t, "NOT")                   ? LEX_NOT
                                                                  : LEX_TERM;
        return lexer_emit(l, out, kind, plain);
    }
    if (wild == plain + 1 && s.p[l->at + plain] == '*') {
        return lexer_emit(l, out, plain == 0 ? LEX_STAR : LEX_PREFIX, wild);
    }
    return lexer_emit(l, out, LEX_WILD, wild);
}

static enum err next_default(struct lexer *l, struct lex_token *out, struct errmsg *em)
{
    struct str s = l->text;
    char c = s.p[l->at];
    size_t n;
    switch (c) {
    case '+':
    case '-':
    case '!':
        n = space_at(s, l->at + 1);
        if (n > 0) {
            return lexer_emit(l, out, LEX_BARE_OPER, n + 1);
        }
        return lexer_emit(l, out, c == '+' ? LEX_PLUS : c == '-' ? LEX_MINUS : LEX_NOT, 1);
    case '(':
        return lexer_emit(l, out, LEX_LPAREN, 1);
    case ')':
        return lexer_emit(l, out, LEX_RPAREN, 1);
    case ':':
        return lexer_emit(l, out, LEX_COLON, 1);
    case '^':
        l->state = LEX_IN_BOOST;
        return lexer_emit(l, out, LEX_CARAT, 1);
    case '"':
        return quoted(l, out, em);
    case '/':
        return regexp(l, out, em);
    case '~':
        return lexer_emit(l, out, LEX_FUZZY_SLOP, 1 + term_chars(s, l->at + 1));
    case '[':
    case '{':
        l->state = LEX_IN_RANGE;
        return lexer_emit(l, out, c == '[' ? LEX_RANGE_IN : LEX_RANGE_EX, 1);
    default:
        return word(l, out, em);
    }
}

enum err lexer_next(struct lexer *l, struct lex_token *out, struct errmsg *em)
{
    size_t space;
    while (l->state != LEX_IN_BOOST && (space = space_at(l->text, l->at)) > 0) {
        l->at += space;
    }
    if (l->at >= l->text.n) {
        *out = (struct lex_token){LEX_EOF, STR_NULL, l->at};
        return ERR_OK;
    }
    if (l->state == LEX_IN_RANGE) {
        return next_in_range(l, out, em);
    }
    if (l->state == LEX_IN_BOOST) {
        size_t n = lexer_number(l->text, l->at);
        if (n == 0) {
            return lexical_error(l, l->at, em);
        }
        l->state = LEX_DEFAULT;
        return lexer_emit(l, out, LEX_NUMBER, n);
    }
    return next_default(l, out, em);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

enum err lex_unescape(struct str s, struct arena *arena, struct str *out, struct errmsg *em)
{
    *out = s;
    if (str_find(s, '\\', 0) == SIZE_MAX) {
        return ERR_OK;
    }
    char *to = arena_alloc(arena, s.n + 1);
    size_t n = 0;
    if (to == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\') {
            to[n++] = s.p[i];
            continue;
        }
        if (++i == s.n) {
            return err_set(em, ERR_QUERY_SYNTAX, "Term can not end with escape character.");
        }
        if (s.p[i] != 'u') {
            to[n++] = s.p[i];
            continue;
        }
        if (s.n - i - 1 < 4) {
            return err_set(em, ERR_QUERY_SYNTAX, "Truncated unicode escape sequence.");
        }
        uint32_t c = 0;
        for (int k = 1; k <= 4; k++) {
            int h = i + (size_t)k < s.n ? hex(s.p[i + (size_t)k]) : -1;
            if (h < 0) {
                size_t at = i + (size_t)k, next = at;
                utf8_next(s, &next);
                return err_set(em, ERR_QUERY_SYNTAX, "Non-hex character in Unicode escape sequence: %.*s",
                               (int)(next - at), s.p + at);
            }
            c = c << 4 | (uint32_t)h;
        }
        n += utf8_put(to + n, c);
        i += 4;
    }
    *out = str_mk(to, n);
    return ERR_OK;
}

enum err lex_escape(struct str s, struct arena *arena, struct str *out, struct errmsg *em)
{
    char *to = arena_alloc(arena, s.n * 2 + 1);
    size_t n = 0;
    if (to == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("\\+-!():^[]\"{}~*?|&/", s.p[i]) != NULL && s.p[i] != '\0') {
            to[n++] = '\\';
        }
        to[n++] = s.p[i];
    }
    *out = str_mk(to, n);
    return ERR_OK;
}
