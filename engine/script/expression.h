/* expression.h - the parts of Lucene expressions. Private to engine/script. */
#ifndef ENGINE_SCRIPT_EXPRESSION_H
#define ENGINE_SCRIPT_EXPRESSION_H

#include "engine/script/code.h"

/* The tree of an expression in `a`: N_CONST, N_NAME (a variable with its members and indexes), N_CALL without an object, N_UNARY, N_BINARY,
 * N_AND, N_OR and N_TERNARY. ERR_QUERY_SYNTAX with Lucene's words, and the place in em->about. */
enum err expression_parse(struct node **out, struct str source, struct arena *a, struct errmsg *em) NODISCARD;

/* The pieces of a variable: `doc['f'].date.year` has four pieces. */
enum piece_kind { PIECE_NAME, PIECE_METHOD, PIECE_TEXT_INDEX, PIECE_INT_INDEX };
struct piece {
    enum piece_kind kind;
    struct str text;
};
#define PIECES_MAX 5 /* what lies behind is of no known form */

/* Whether every variable of an expression is there: a number of `params` (may be NULL), or a form of doc['field']. ERR_SCRIPT "link error",
 * with the variable's place in em->about. */
enum err expression_link(const struct script *s, const struct json *params, struct errmsg *em) NODISCARD;

#endif
