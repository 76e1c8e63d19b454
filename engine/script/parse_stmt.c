/* Statements, functions, whole scripts. */
#include "engine/script/parse.h"

#include "common/base/arena_list.h"

/* `alone`: it stands where a block could, and a semicolon ends it. */
static struct node *statement(struct parser *p, bool alone);

/* "type name [= value], name ...": S_BLOCK of declarations with `flag` (no scope of its own). */
static struct node *declaration(struct parser *p)
{
    struct type type;
    struct node *all = p_mk(p, S_BLOCK, p_peek(p, 0)->off);
    p->at += p_type_here(p, 0, &type);
    if (all != NULL) {
        all->flag = true;
    }
    do {
        if (!p_name_at(p, 0)) {
            return p_fail(p, "ID");
        }
        struct node *d = p_mk(p, S_DECLARE, p_peek(p, 0)->off);
        if (d == NULL) {
            return NULL;
        }
        d->type = type;
        d->name = p_peek(p, 0)->text;
        p->at++;
        d = p_kid(p, d, p_accept(p, "=") ? parse_expression(p) : NULL);
        all = p_kid(p, all, d);
    } while (all != NULL && p_accept(p, ","));
    return all;
}

static bool declaration_here(const struct parser *p)
{
    struct type type;
    uint32_t n = p_type_here(p, 0, &type);
    return n > 0 && p_name_at(p, n);
}

static struct node *simple(struct parser *p)
{
    if (declaration_here(p)) {
        return declaration(p);
    }
    if (p_name_at(p, 0) && p_name_at(p, 1) && !p_is_word(p_peek(p, 1), "instanceof")
        && (p_is_sign(p_peek(p, 2), "=") || p_is_sign(p_peek(p, 2), ",") || p_is_sign(p_peek(p, 2), ";"))) {
        return p_refused(p,
                         err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                 "invalid declaration: cannot resolve type [%.*s]",
                                 STR_ARG(p_peek(p, 0)->text)),
                         p_peek(p, 1)->off);
    }
    uint32_t off = p_peek(p, 0)->off;
    return p_kid(p, p_mk(p, S_EXPR, off), parse_expression(p));
}

/* A block, or one statement. */
static struct node *body(struct parser *p)
{
    if (p_is_sign(p_peek(p, 0), "{")) {
        return parse_block(p);
    }
    if (p_accept(p, ";")) {
        return p_mk(p, S_BLOCK, p_peek(p, 0)->off);
    }
    return p_kid(p, p_mk(p, S_BLOCK, p_peek(p, 0)->off), statement(p, true));
}

static struct node *if_statement(struct parser *p, uint32_t off)
{
    struct node *n = p_mk(p, S_IF, off);
    if (!p_expect(p, "(")) {
        return NULL;
    }
    n = p_kid(p, n, parse_expression(p));
    n = p_expect(p, ")") ? p_kid(p, n, body(p)) : NULL;
    if (n != NULL && p_accept_word(p, "else")) {
        n = p_kid(p, n, body(p));
    }
    return n;
}

static struct node *each(struct parser *p, uint32_t off, uint32_t type_tokens, struct type type)
{
    struct node *n = p_mk(p, S_EACH, off);
    if (n == NULL) {
        return NULL;
    }
    p->at += type_tokens;
    n->type = type_tokens > 0 ? type : (struct type){.id = TYPE_DEF};
    n->name = p_peek(p, 0)->text;
    p->at += 2; /* the name, and ":" or "in" */
    n = p_kid(p, n, parse_expression(p));
    return p_expect(p, ")") ? p_kid(p, n, body(p)) : NULL;
}

static struct node *for_statement(struct parser *p, uint32_t off)
{
    struct type type;
    if (!p_expect(p, "(")) {
        return NULL;
    }
    uint32_t tokens = p_type_here(p, 0, &type);
    if (tokens > 0 && p_name_at(p, tokens) && p_is_sign(p_peek(p, tokens + 1), ":")) {
        return each(p, off, tokens, type);
    }
    if (p_name_at(p, 0) && p_is_word(p_peek(p, 1), "in")) {
        return each(p, off, 0, type);
    }
    if (p_name_at(p, 0) && p_is_sign(p_peek(p, 1), ":")) {
        p->at++;
        return p_fail(p, "");
    }
    struct node *n = p_mk(p, S_FOR, off);
    n = p_kid(p, n, p_is_sign(p_peek(p, 0), ";") ? NULL : simple(p));
    n = p_expect(p, ";") ? p_kid(p, n, p_is_sign(p_peek(p, 0), ";") ? NULL : parse_expression(p)) : NULL;
    n = p_expect(p, ";") ? p_kid(p, n, p_is_sign(p_peek(p, 0), ")") ? NULL : simple(p)) : NULL;
    return p_expect(p, ")") ? p_kid(p, n, body(p)) : NULL;
}

static struct node *do_statement(struct parser *p, uint32_t off)
{
    struct node *n = p_kid(p, p_mk(p, S_DO, off), parse_block(p));
    if (!p_accept_word(p, "while")) {
        return p_fail(p, "'while'");
    }
    n = p_expect(p, "(") ? p_kid(p, n, parse_expression(p)) : NULL;
    return p_expect(p, ")") ? n : NULL;
}

static struct node *try_statement(struct parser *p, uint32_t off)
{
    struct node *n = p_kid(p, p_mk(p, S_TRY, off), parse_block(p));
    if (!p_is_word(p_peek(p, 0), "catch")) {
        return p_fail(p, "'catch'");
    }
    while (n != NULL && p_is_word(p_peek(p, 0), "catch")) {
        struct type type;
        uint32_t caught = p_peek(p, 0)->off;
        p->at++;
        if (!p_expect(p, "(")) {
            return NULL;
        }
        uint32_t tokens = p_type_here(p, 0, &type);
        if (tokens == 0 && p_name_at(p, 0) && p_name_at(p, 1)) {
            return p_refused(p,
                             err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                     "invalid catch declaration: cannot resolve type [%.*s]",
                                     STR_ARG(p_peek(p, 0)->text)),
                             caught);
        }
        if (tokens == 0 || !p_name_at(p, tokens)) {
            return p_fail(p, "");
        }
        struct node *d = p_mk(p, S_DECLARE, p_peek(p, 0)->off);
        if (d == NULL) {
            return NULL;
        }
        d->type = type;
        d->value = sv_str(p_peek(p, 0)->text); /* the exception's class, by which it is caught */
        d->name = p_peek(p, tokens)->text;
        p->at += tokens + 1;
        n = p_expect(p, ")") ? p_kid(p, n, d) : NULL;
        n = p_kid(p, n, parse_block(p));
    }
    return n;
}

/* Statements that end by themselves; NULL without an error: there is none here. */
static struct node *compound(struct parser *p)
{
    const struct token *t = p_peek(p, 0);
    if (p_accept_word(p, "if")) {
        return if_statement(p, t->off);
    }
    if (p_accept_word(p, "while")) {
        struct node *n = p_mk(p, S_WHILE, t->off);
        n = p_expect(p, "(") ? p_kid(p, n, parse_expression(p)) : NULL;
        return p_expect(p, ")") ? p_kid(p, n, body(p)) : NULL;
    }
    if (p_accept_word(p, "for")) {
        return for_statement(p, t->off);
    }
    return p_accept_word(p, "try") ? try_statement(p, t->off) : NULL;
}

/* "def" and "int" begin a declaration, never an expression. */
static bool is_primitive_name(struct str name)
{
    enum type_id id = type_of_name(name);
    return id >= TYPE_DEF && id <= TYPE_DOUBLE;
}

static struct node *plain(struct parser *p)
{
    const struct token *t = p_peek(p, 0);
    if (p_accept_word(p, "do")) {
        return do_statement(p, t->off);
    }
    if (p_accept_word(p, "break")) {
        return p_mk(p, S_BREAK, t->off);
    }
    if (p_accept_word(p, "continue")) {
        return p_mk(p, S_CONTINUE, t->off);
    }
    if (p_accept_word(p, "return")) {
        struct node *n = p_mk(p, S_RETURN, t->off);
        bool type = p_peek(p, 0)->kind == T_NAME && is_primitive_name(p_peek(p, 0)->text);
        bool bare = type || p_is_sign(p_peek(p, 0), ";") || p_is_sign(p_peek(p, 0), "}")
                    || p_peek(p, 0)->kind == T_END || p_is_word(p_peek(p, 0), "return");
        return bare ? n : p_kid(p, n, parse_expression(p));
    }
    if (p_accept_word(p, "throw")) {
        return p_kid(p, p_mk(p, S_THROW, t->off), parse_expression(p));
    }
    return simple(p);
}

/* What could have been the type of a declaration. */
static bool name_alone(const struct node *n)
{
    const struct node *last = n->kind == S_BLOCK && n->n > 0 ? n->kids[n->n - 1] : NULL;
    bool declared = last != NULL && last->kind == S_DECLARE && last->kids[0] == NULL;
    return declared || (n->kind == S_EXPR && n->kids[0]->kind == N_NAME);
}

static struct node *statement(struct parser *p, bool alone)
{
    struct node *n = NULL;
    if (p_enter(p)) {
        n = compound(p);
        if (n == NULL && p->e == ERR_OK) {
            n = plain(p);
            /* the last statement of a script or a block needs no semicolon */
            bool closed = p_is_sign(p_peek(p, 0), "}");
            if (p->e == ERR_OK && !p_accept(p, ";") && p_peek(p, 0)->kind != T_END && (alone || !closed)) {
                bool vague = closed ? p->arguments > 0 : p->blocks > 0 || name_alone(n);
                n = p_fail(p, vague ? "" : "{<EOF>, ';'}");
            }
        }
    }
    p->depth--;
    return p->e == ERR_OK ? n : NULL;
}

struct node *parse_block(struct parser *p)
{
    struct node *n = p_mk(p, S_BLOCK, p_peek(p, 0)->off);
    if (!p_expect(p, "{")) {
        return NULL;
    }
    p->blocks++;
    while (n != NULL && !p_accept(p, "}")) {
        n = p_kid(p, n, statement(p, false));
    }
    p->blocks--;
    return n;
}

/* "type name(params) { ... }" before the statements. */
static bool function_here(const struct parser *p)
{
    struct type type;
    uint32_t n = p_type_here(p, 0, &type);
    return n > 0 && p_name_at(p, n) && p_is_sign(p_peek(p, n + 1), "(");
}

static bool function(struct parser *p, struct program *out)
{
    struct function f = {.off = p_peek(p, 0)->off};
    size_t cap = 0;
    p->at += p_type_here(p, 0, &f.type);
    f.name = p_peek(p, 0)->text;
    p->at += 2;
    while (!p_accept(p, ")")) {
        if (!p_add_param(p, &f.params, &f.params_n, &cap)) {
            return false;
        }
        if (!p_is_sign(p_peek(p, 0), ")") && !p_accept(p, ",")) {
            (void)p_fail(p, "')'");
            return false;
        }
    }
    f.body = parse_block(p);
    if (!ARENA_ADD(p->a, out->functions, out->functions_n, out->functions_cap, f)) {
        (void)p_no_memory(p);
        return false;
    }
    return p->e == ERR_OK;
}

/* No statement begins so. */
static bool closing(const struct token *t)
{
    return t->text.n == 1 && memchr("{});,]", t->text.p[0], 6) != NULL;
}

enum err script_parse(struct program *out, struct str source, struct arena *a, struct errmsg *em)
{
    struct token *tokens;
    struct parser p = {.a = a, .em = em};
    enum err e = script_lex(&tokens, &p.n, source, a, em);
    if (e != ERR_OK) {
        return e;
    }
    p.t = tokens;
    *out = (struct program){0};
    while (function_here(&p)) {
        if (!function(&p, out)) {
            script_error_at(em, p.off);
            return p.e;
        }
    }
    out->body = p_mk(&p, S_BLOCK, 0);
    while (p.e == ERR_OK && p_peek(&p, 0)->kind != T_END) {
        if (out->body->n > 0 && p_peek(&p, 0)->kind == T_SIGN && closing(p_peek(&p, 0))) {
            (void)p_fail(&p, "<EOF>");
            break;
        }
        out->body = p_kid(&p, out->body, statement(&p, false));
    }
    if (p.e != ERR_OK) {
        script_error_at(em, p.off);
    }
    return p.e;
}
