/* Looking at tokens, making nodes, recognising types. */
#include "engine/script/parse.h"

#include "common/base/arena_list.h"

#include <stdio.h>

const struct token *p_peek(const struct parser *p, uint32_t ahead)
{
    uint32_t at = p->at + ahead;
    return &p->t[at < p->n ? at : p->n - 1];
}

bool p_is_sign(const struct token *t, const char *sign)
{
    return t->kind == T_SIGN && str_is(t->text, sign);
}

bool p_is_word(const struct token *t, const char *word)
{
    return t->kind == T_NAME && str_is(t->text, word);
}

struct node *p_fail(struct parser *p, const char *expected)
{
    const struct token *t = p_peek(p, 0);
    struct str text = t->kind == T_END ? STR("<EOF>") : t->raw;
    if (p->e != ERR_OK) {
        return NULL;
    }
    if (expected[0] != '\0') {
        return p_refused(p,
                         err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                 "unexpected token ['%.*s'] was expecting one of [%s].", STR_ARG(text),
                                 expected),
                         t->off);
    }
    err_set(p->em, ERR_NO_VIABLE_ALT, "%s", "");
    enum err e = t->kind == T_END ? err_wrap(p->em, ERR_ILLEGAL_ARGUMENT, "unexpected end of script.")
                                  : err_wrap(p->em, ERR_ILLEGAL_ARGUMENT,
                                             "invalid sequence of tokens near ['%.*s'].", STR_ARG(text));
    return p_refused(p, e, t->off);
}

struct node *p_refused(struct parser *p, enum err e, uint32_t off)
{
    if (p->e == ERR_OK) {
        p->e = e;
        p->off = off;
    }
    return NULL;
}

void *p_no_memory(struct parser *p)
{
    if (p->e == ERR_OK) {
        p->e = err_no_memory(p->em);
    }
    return NULL;
}

bool p_accept(struct parser *p, const char *sign)
{
    if (p->e != ERR_OK || !p_is_sign(p_peek(p, 0), sign)) {
        return false;
    }
    p->at++;
    return true;
}

bool p_accept_word(struct parser *p, const char *word)
{
    if (p->e != ERR_OK || !p_is_word(p_peek(p, 0), word)) {
        return false;
    }
    p->at++;
    return true;
}

bool p_expect(struct parser *p, const char *sign)
{
    if (p_accept(p, sign)) {
        return true;
    }
    char quoted[8];
    snprintf(quoted, sizeof(quoted), "'%s'", sign);
    (void)p_fail(p, quoted);
    return false;
}

bool p_close(struct parser *p, const char *sign)
{
    if (p_accept(p, sign)) {
        return true;
    }
    (void)p_fail(p, "");
    return false;
}

struct node *p_mk(struct parser *p, enum node_kind kind, uint32_t off)
{
    struct node *n = ARENA_NEW(p->a, struct node);
    if (n == NULL) {
        return p_no_memory(p);
    }
    n->kind = kind;
    n->off = off;
    return n;
}

static struct node *p_too_deep(struct parser *p, int levels)
{
    enum err e =
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Scripts may be no deeper nested than %d levels", levels);
    return p_refused(p, e, p_peek(p, 0)->off);
}

/* Adds a kid (which may be NULL on purpose); returns n, or NULL after an error. */
struct node *p_kid(struct parser *p, struct node *n, struct node *k)
{
    if (p->e != ERR_OK || n == NULL) {
        return NULL;
    }
    if (!ARENA_ADD(p->a, n->kids, n->n, n->cap, k)) {
        return p_no_memory(p);
    }
    n->height = node_height(n, k);
    return n->height > HEIGHT_MAX ? p_too_deep(p, HEIGHT_MAX) : n;
}

bool p_enter(struct parser *p)
{
    if (p->e == ERR_OK && ++p->depth > DEPTH_MAX) {
        (void)p_too_deep(p, DEPTH_MAX);
    }
    return p->e == ERR_OK;
}

struct node *p_too_long(struct parser *p)
{
    enum err e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Scripts may have no more than %d operators in a row",
                         CHAIN_MAX);
    return p_refused(p, e, p_peek(p, 0)->off);
}

/* ---- types ---- */

bool p_is_keyword(struct str s)
{
    static const char *const words[] = {"if",       "else",  "while",      "do",   "for",   "in",
                                        "continue", "break", "return",     "new",  "try",   "catch",
                                        "throw",    "this",  "instanceof", "true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_is(s, words[i])) {
            return true;
        }
    }
    return false;
}

/* How many tokens a type takes at `ahead`; 0: there is none. */
uint32_t p_type_here(const struct parser *p, uint32_t ahead, struct type *out)
{
    const struct token *t = p_peek(p, ahead);
    if (t->kind != T_NAME || p_is_keyword(t->text)) {
        return 0;
    }
    uint32_t n = 1;
    *out = type_called(t->text);
    if (str_is(t->text, "Map") && p_is_sign(p_peek(p, ahead + 1), ".")
        && p_is_word(p_peek(p, ahead + 2), "Entry")) {
        *out = type_called(STR("Map.Entry"));
        n = 3;
    }
    if (str_is(t->text, "java")) { /* java.util.List */
        while (p_is_sign(p_peek(p, ahead + n), ".") && p_peek(p, ahead + n + 1)->kind == T_NAME) {
            *out = type_called(p_peek(p, ahead + n + 1)->text);
            n += 2;
            if (out->id != TYPE_NONE) {
                break;
            }
        }
    }
    if (out->id == TYPE_NONE) {
        return 0;
    }
    while (p_is_sign(p_peek(p, ahead + n), "[") && p_is_sign(p_peek(p, ahead + n + 1), "]")) {
        n += 2;
        out->dims++;
    }
    return n;
}

bool p_name_at(const struct parser *p, uint32_t ahead)
{
    const struct token *t = p_peek(p, ahead);
    return t->kind == T_NAME && !p_is_keyword(t->text);
}

bool p_add_param(struct parser *p, struct param **params, uint32_t *n, size_t *cap)
{
    struct type type = {.id = TYPE_DEF};
    uint32_t tokens = p_name_at(p, 1) || p_is_sign(p_peek(p, 1), "[") || p_is_sign(p_peek(p, 1), ".")
                          ? p_type_here(p, 0, &type)
                          : 0;
    p->at += tokens;
    if (!p_name_at(p, 0)) {
        (void)p_fail(p, "ID");
        return false;
    }
    struct param *grown = arena_grow(p->a, *params, *n, cap, sizeof(**params));
    if (grown == NULL) {
        (void)p_no_memory(p);
        return false;
    }
    *params = grown;
    (*params)[(*n)++] = (struct param){type, p_peek(p, 0)->text};
    p->at++;
    return true;
}
