/* parse.h - declarations shared by the two halves of the parser. Private to parse_*.c.
 *
 * The first error sticks in the parser; from then on every function returns NULL, false or zero. */
#ifndef ENGINE_SCRIPT_PARSE_H
#define ENGINE_SCRIPT_PARSE_H

#include "engine/script/ast.h"

#define DEPTH_MAX  150                     /* nesting of expressions and blocks */
#define CHAIN_MAX  1000                    /* operators, or members, in a row */
#define HEIGHT_MAX (CHAIN_MAX + DEPTH_MAX) /* of the tree: rows within rows */

struct parser {
    struct arena *a;
    struct errmsg *em;
    const struct token *t;
    uint32_t n, at;
    unsigned depth, blocks, arguments; /* how deep in expressions, in blocks, in arguments of calls */
    enum err e;                        /* the first error; from then on everything returns NULL */
    uint32_t off;                      /* where it is */
};

/* The token `ahead` places on; the last one past the end. */
const struct token *p_peek(const struct parser *p, uint32_t ahead);
bool p_is_sign(const struct token *t, const char *sign);
bool p_is_word(const struct token *t, const char *word);
/* Records that what comes next is not what was `expected`, written as painless does; empty: nothing can go on with it.
 * Returns NULL. */
struct node *p_fail(struct parser *p, const char *expected);
/* Records that the error just set is at `off`; returns NULL. */
struct node *p_refused(struct parser *p, enum err e, uint32_t off);
void *p_no_memory(struct parser *p);
/* Moves behind the sign, if it is next. */
bool p_accept(struct parser *p, const char *sign);
bool p_accept_word(struct parser *p, const char *word);
/* As p_accept, but its absence is an error. */
bool p_expect(struct parser *p, const char *sign);
/* The same within an expression, where painless says no more than that the tokens make no sense. */
bool p_close(struct parser *p, const char *sign);
struct node *p_mk(struct parser *p, enum node_kind kind, uint32_t off);
/* Adds a kid (which may be NULL on purpose); returns n, or NULL after an error. */
struct node *p_kid(struct parser *p, struct node *n, struct node *k);
/* One level deeper; undone by p->depth--. */
bool p_enter(struct parser *p);
/* CHAIN_MAX is passed. */
struct node *p_too_long(struct parser *p);
bool p_is_keyword(struct str s);
/* How many tokens a type takes at `ahead`; 0: there is none. */
uint32_t p_type_here(const struct parser *p, uint32_t ahead, struct type *out);
/* Is there a name that is no keyword? */
bool p_name_at(const struct parser *p, uint32_t ahead);
/* Reads "type name" or "name" into a growing list. */
bool p_add_param(struct parser *p, struct param **params, uint32_t *n, size_t *cap);
struct node *parse_expression(struct parser *p);
struct node *parse_block(struct parser *p);

#endif
