/* query_lexer.h - the tokens of Lucene's classic query syntax. Internal to engine/query. */
#ifndef ENGINE_QUERY_QUERY_LEXER_H
#define ENGINE_QUERY_QUERY_LEXER_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"

enum lex_kind {
    LEX_EOF,
    LEX_AND,
    LEX_OR,
    LEX_NOT,
    LEX_PLUS,
    LEX_MINUS,
    LEX_BARE_OPER,
    LEX_LPAREN,
    LEX_RPAREN,
    LEX_COLON,
    LEX_STAR,
    LEX_CARAT,
    LEX_QUOTED,
    LEX_TERM,
    LEX_FUZZY_SLOP,
    LEX_PREFIX,
    LEX_WILD,
    LEX_REGEXP,
    LEX_RANGE_IN,
    LEX_RANGE_EX,
    LEX_NUMBER,
    LEX_RANGE_TO,
    LEX_RANGE_IN_END,
    LEX_RANGE_EX_END,
    LEX_RANGE_QUOTED,
    LEX_RANGE_GOOP,
    LEX_BAD /* where no token begins */
};

struct lex_token {
    enum lex_kind kind;
    struct str text; /* as written, escapes included */
    size_t at;
};

enum lex_state { LEX_DEFAULT, LEX_IN_BOOST, LEX_IN_RANGE };
struct lexer {
    struct str text;
    size_t at;
    enum lex_state state;
};

void lexer_init(struct lexer *l, struct str text);
/* ERR_TOKEN_MGR for what begins no token. */
enum err lexer_next(struct lexer *l, struct lex_token *out, struct errmsg *em);
/* How many UTF-16 units stand before a place in the text. */
unsigned lex_column(struct str text, size_t at);
/* A text as Java's parsers show it in their errors: quotes, control characters and what is not ASCII escaped. */
void lex_put_escaped(struct buf *out, struct str s);
/* Backslashes removed, \u0041 decoded. ERR_PARSE for one at the end or a bad \u. */
enum err lex_unescape(struct str s, struct arena *arena, struct str *out, struct errmsg *em);
/* A backslash before each character with a meaning. */
enum err lex_escape(struct str s, struct arena *arena, struct str *out, struct errmsg *em);

#endif
