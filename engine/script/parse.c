/* Recursive descent over the tokens, with painless's precedences. */
#include "engine/script/ast.h"

#include "common/base/num.h"

#include <stdlib.h>

#define DEPTH_MAX 150  /* nesting of expressions and blocks */
#define CHAIN_MAX 1000 /* operators, or members, in a row */

struct parser {
    struct arena *a;
    struct errmsg *em;
    const struct token *t;
    uint32_t n, at;
    unsigned depth;
    enum err e; /* the first error; from then on everything returns NULL */
};

static struct node *expression(struct parser *p);
static struct node *unary(struct parser *p);
static struct node *statement(struct parser *p);
static struct node *block(struct parser *p);

static const struct token *peek(const struct parser *p, uint32_t ahead)
{
    uint32_t at = p->at + ahead;
    return &p->t[at < p->n ? at : p->n - 1];
}

static bool is_sign(const struct token *t, const char *sign)
{
    return t->kind == T_SIGN && str_is(t->text, sign);
}

static bool is_word(const struct token *t, const char *word)
{
    return t->kind == T_NAME && str_is(t->text, word);
}

static struct node *fail(struct parser *p, const char *expected)
{
    const struct token *t = peek(p, 0);
    if (p->e == ERR_OK) {
        p->e = t->kind == T_END ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "unexpected end of script.")
               : expected[0] != '\0'
                   ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "unexpected token ['%.*s'] was expecting one of [%s].", STR_ARG(t->text),
                             expected)
                   : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "invalid sequence of tokens near ['%.*s'].", STR_ARG(t->text));
    }
    return NULL;
}

static void *no_memory(struct parser *p)
{
    if (p->e == ERR_OK) {
        p->e = err_no_memory(p->em);
    }
    return NULL;
}

static bool accept(struct parser *p, const char *sign)
{
    if (p->e != ERR_OK || !is_sign(peek(p, 0), sign)) {
        return false;
    }
    p->at++;
    return true;
}

static bool accept_word(struct parser *p, const char *word)
{
    if (p->e != ERR_OK || !is_word(peek(p, 0), word)) {
        return false;
    }
    p->at++;
    return true;
}

static bool expect(struct parser *p, const char *sign)
{
    if (accept(p, sign)) {
        return true;
    }
    (void)fail(p, sign);
    return false;
}

static struct node *mk(struct parser *p, enum node_kind kind, uint32_t off)
{
    struct node *n = ARENA_NEW(p->a, struct node);
    if (n == NULL) {
        return no_memory(p);
    }
    n->kind = kind;
    n->off = off;
    return n;
}

/* Adds a kid (which may be NULL on purpose); returns n, or NULL after an error. */
static struct node *kid(struct parser *p, struct node *n, struct node *k)
{
    if (p->e != ERR_OK || n == NULL) {
        return NULL;
    }
    struct node **grown = arena_grow(p->a, n->kids, n->n, &n->cap, sizeof(struct node *));
    if (grown == NULL) {
        return no_memory(p);
    }
    n->kids = grown;
    n->kids[n->n++] = k;
    return n;
}

static bool enter(struct parser *p)
{
    if (p->e == ERR_OK && ++p->depth > DEPTH_MAX) {
        p->e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Scripts may be no deeper nested than %d levels", DEPTH_MAX);
    }
    return p->e == ERR_OK;
}

static struct node *too_long(struct parser *p)
{
    p->e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Scripts may have no more than %d operators in a row", CHAIN_MAX);
    return NULL;
}

/* ---- types ---- */

static bool is_keyword(struct str s)
{
    static const char *const words[] = {"if",    "else", "while", "do",  "for",    "in",   "continue", "break", "return", "new",
                                        "try",   "catch", "throw", "this", "instanceof", "true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_is(s, words[i])) {
            return true;
        }
    }
    return false;
}

/* How many tokens a type takes at `ahead`; 0: there is none. */
static uint32_t type_here(const struct parser *p, uint32_t ahead, struct type *out)
{
    const struct token *t = peek(p, ahead);
    if (t->kind != T_NAME || is_keyword(t->text)) {
        return 0;
    }
    uint32_t n = 1;
    out->dims = 0;
    out->id = type_of_name(t->text);
    if (str_is(t->text, "Map") && is_sign(peek(p, ahead + 1), ".") && is_word(peek(p, ahead + 2), "Entry")) {
        out->id = TYPE_ENTRY;
        n = 3;
    }
    if (str_is(t->text, "java")) { /* java.util.List */
        while (is_sign(peek(p, ahead + n), ".") && peek(p, ahead + n + 1)->kind == T_NAME) {
            out->id = type_of_name(peek(p, ahead + n + 1)->text);
            n += 2;
            if (out->id != TYPE_NONE) {
                break;
            }
        }
    }
    if (out->id == TYPE_NONE) {
        return 0;
    }
    while (is_sign(peek(p, ahead + n), "[") && is_sign(peek(p, ahead + n + 1), "]")) {
        n += 2;
        out->dims++;
    }
    return n;
}

static bool name_at(const struct parser *p, uint32_t ahead)
{
    const struct token *t = peek(p, ahead);
    return t->kind == T_NAME && !is_keyword(t->text);
}

/* ---- primaries ---- */

static struct node *constant(struct parser *p, uint32_t off, struct sv v)
{
    struct node *n = mk(p, N_CONST, off);
    if (n != NULL) {
        n->value = v;
    }
    return n;
}

static struct node *bad_number(struct parser *p, const char *what, struct str text)
{
    p->e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Invalid %s constant [%.*s].", what, STR_ARG(text));
    return NULL;
}

static struct node *fraction(struct parser *p, struct str text, uint32_t off)
{
    char last = text.p[text.n - 1];
    bool is_float = last == 'f' || last == 'F';
    float f;
    double d;
    if (is_float) {
        return num_parse_float(text, &f) ? constant(p, off, sv_float(f)) : bad_number(p, "float", text);
    }
    return num_parse_double(text, &d) ? constant(p, off, sv_double(d)) : bad_number(p, "double", text);
}

/* `negative`: a minus stands before it, so that -2147483648 is an int. */
static struct node *number(struct parser *p, bool negative)
{
    const struct token *t = peek(p, 0);
    struct str text = t->text;
    p->at++;
    bool hex = text.n > 1 && (text.p[1] == 'x' || text.p[1] == 'X');
    char last = text.p[text.n - 1];
    bool fractional = !hex && (strpbrk("fFdD", (char[]){last, 0}) != NULL || memchr(text.p, '.', text.n) != NULL
                               || memchr(text.p, 'e', text.n) != NULL || memchr(text.p, 'E', text.n) != NULL);
    if (fractional) {
        struct node *n = fraction(p, text, t->off);
        if (n != NULL && negative) {
            n->value.d = -n->value.d;
        }
        return n;
    }
    bool is_long = last == 'l' || last == 'L';
    int base = hex ? 16 : text.n > 1 && text.p[0] == '0' && !is_long ? 8 : 10;
    uint64_t v = 0;
    for (size_t i = hex ? 2 : 0; i < text.n - (is_long ? 1 : 0); i++) {
        char c = text.p[i];
        unsigned digit = (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (digit >= (unsigned)base || v > (UINT64_MAX - digit) / (unsigned)base) {
            return bad_number(p, is_long ? "long" : "int", text);
        }
        v = v * (unsigned)base + digit;
    }
    uint64_t limit = is_long ? (hex ? UINT64_MAX : (uint64_t)INT64_MAX + (negative ? 1 : 0))
                             : (hex ? UINT32_MAX : (uint64_t)INT32_MAX + (negative ? 1 : 0));
    if (v > limit) {
        return bad_number(p, is_long ? "long" : "int", text);
    }
    int64_t i = negative ? (int64_t)(0 - v) : (int64_t)v;
    return constant(p, t->off, is_long ? sv_long(i) : sv_int((int32_t)(uint32_t)(uint64_t)i));
}

static struct node *arguments(struct parser *p, struct node *n)
{
    if (!accept(p, ")")) {
        do {
            n = kid(p, n, expression(p));
        } while (n != NULL && accept(p, ","));
        (void)expect(p, ")");
    }
    return p->e == ERR_OK ? n : NULL;
}

/* [a, b], [k: v], [:] */
static struct node *brackets(struct parser *p)
{
    uint32_t off = peek(p, 0)->off;
    p->at++;
    struct node *n = mk(p, N_LIST, off);
    if (n == NULL || accept(p, "]")) {
        return n;
    }
    if (accept(p, ":")) {
        n->kind = N_MAP;
        return expect(p, "]") ? n : NULL;
    }
    n = kid(p, n, expression(p));
    if (n != NULL && is_sign(peek(p, 0), ":")) {
        n->kind = N_MAP;
        p->at++;
        n = kid(p, n, expression(p));
    }
    while (n != NULL && accept(p, ",")) {
        n = kid(p, n, expression(p));
        if (n != NULL && n->kind == N_MAP) {
            n = expect(p, ":") ? kid(p, n, expression(p)) : NULL;
        }
    }
    return n != NULL && expect(p, "]") ? n : NULL;
}

static struct node *new_object(struct parser *p)
{
    uint32_t off = peek(p, 0)->off;
    struct type type;
    p->at++;
    uint32_t n_tokens = type_here(p, 0, &type);
    if (n_tokens == 0) {
        p->e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "cannot resolve type [%.*s]", STR_ARG(peek(p, 0)->text));
        return NULL;
    }
    p->at += n_tokens;
    struct node *n = mk(p, type.dims > 0 || is_sign(peek(p, 0), "[") ? N_NEW_ARRAY : N_NEW, off);
    if (n == NULL) {
        return NULL;
    }
    n->type = type;
    n->name = p->t[p->at - 1].text; /* which exception it is */
    if (n->kind == N_NEW) {
        return expect(p, "(") ? arguments(p, n) : NULL;
    }
    if (type.dims > 0) { /* new int[] {1, 2} */
        n->flag = true;
        if (!expect(p, "{") || accept(p, "}")) {
            return p->e == ERR_OK ? n : NULL;
        }
        do {
            n = kid(p, n, expression(p));
        } while (n != NULL && accept(p, ","));
        return n != NULL && expect(p, "}") ? n : NULL;
    }
    while (n != NULL && accept(p, "[")) {
        n->type.dims++;
        n = kid(p, n, expression(p));
        (void)expect(p, "]");
    }
    return p->e == ERR_OK ? n : NULL;
}

/* ---- lambdas ---- */

/* Is "(a, int b) ->" at the opening parenthesis? */
static bool lambda_here(const struct parser *p)
{
    uint32_t i = 1;
    while (!is_sign(peek(p, i), ")")) {
        const struct token *t = peek(p, i);
        bool allowed = t->kind == T_NAME || (t->kind == T_SIGN && memchr(",[].", t->text.p[0], 4) != NULL);
        if (!allowed) {
            return false;
        }
        i++;
    }
    return is_sign(peek(p, i + 1), "->");
}

static bool add_param(struct parser *p, struct param **params, uint32_t *n, size_t *cap)
{
    struct type type = {TYPE_DEF, 0};
    uint32_t tokens = name_at(p, 1) || is_sign(peek(p, 1), "[") || is_sign(peek(p, 1), ".") ? type_here(p, 0, &type) : 0;
    p->at += tokens;
    if (!name_at(p, 0)) {
        (void)fail(p, "ID");
        return false;
    }
    struct param *grown = arena_grow(p->a, *params, *n, cap, sizeof(**params));
    if (grown == NULL) {
        (void)no_memory(p);
        return false;
    }
    *params = grown;
    (*params)[(*n)++] = (struct param){type, peek(p, 0)->text};
    p->at++;
    return true;
}

static struct node *lambda(struct parser *p)
{
    size_t cap = 0;
    struct node *n = mk(p, N_LAMBDA, peek(p, 0)->off);
    if (n == NULL) {
        return NULL;
    }
    if (accept(p, "(")) {
        while (!accept(p, ")")) {
            if (!add_param(p, &n->params, &n->params_n, &cap)) {
                return NULL;
            }
            (void)accept(p, ",");
        }
    } else if (!add_param(p, &n->params, &n->params_n, &cap)) {
        return NULL;
    }
    if (!expect(p, "->")) {
        return NULL;
    }
    if (is_sign(peek(p, 0), "{")) {
        return kid(p, n, block(p));
    }
    struct node *ret = mk(p, S_RETURN, peek(p, 0)->off);
    ret = kid(p, ret, expression(p));
    return kid(p, n, ret);
}

/* ---- expressions ---- */

static struct node *primary_name(struct parser *p)
{
    const struct token *t = peek(p, 0);
    struct type type;
    if (is_word(t, "new")) {
        return new_object(p);
    }
    if (is_word(t, "true") || is_word(t, "false")) {
        p->at++;
        return constant(p, t->off, sv_bool(is_word(t, "true")));
    }
    if (is_word(t, "null")) {
        p->at++;
        return constant(p, t->off, sv_null());
    }
    if (is_keyword(t->text) && !is_word(t, "this")) {
        return fail(p, "");
    }
    if (is_sign(peek(p, 1), "->")) {
        return lambda(p);
    }
    if (is_sign(peek(p, 1), "(")) {
        p->at += 2;
        struct node *n = mk(p, N_CALL, t->off);
        if (n != NULL) {
            n->name = t->text;
        }
        return arguments(p, kid(p, n, NULL));
    }
    uint32_t tokens = type_here(p, 0, &type);
    bool before_dot = tokens > 0 && (is_sign(peek(p, tokens), ".") || is_sign(peek(p, tokens), "::"));
    struct node *n = mk(p, before_dot ? N_TYPE : N_NAME, t->off);
    if (n != NULL) {
        n->name = t->text;
        n->type = before_dot ? type : (struct type){TYPE_NONE, 0};
    }
    p->at += before_dot ? tokens : 1;
    return n;
}

static struct node *primary(struct parser *p)
{
    const struct token *t = peek(p, 0);
    switch (t->kind) {
    case T_NUMBER:
        return number(p, false);
    case T_TEXT:
        p->at++;
        return constant(p, t->off, sv_str(t->text));
    case T_REGEX: {
        p->at++;
        struct node *n = constant(p, t->off, sv_str(t->text));
        if (n != NULL) {
            n->value.kind = SV_PATTERN;
            n->name = t->flags;
        }
        return n;
    }
    case T_NAME:
        return primary_name(p);
    case T_SIGN:
        if (str_is(t->text, "[")) {
            return brackets(p);
        }
        if (str_is(t->text, "(")) {
            if (lambda_here(p)) {
                return lambda(p);
            }
            p->at++;
            struct node *n = expression(p);
            return expect(p, ")") ? n : NULL;
        }
        return fail(p, "");
    default:
        return fail(p, "");
    }
}

/* .name, .name(...), [index], ::name behind a primary. */
static struct node *postfix(struct parser *p)
{
    struct node *n = primary(p);
    for (unsigned chain = 0; n != NULL && p->e == ERR_OK; chain++) {
        const struct token *t = peek(p, 0);
        if (chain > CHAIN_MAX) {
            return too_long(p);
        }
        if (is_sign(t, ".") || is_sign(t, "?.")) {
            const struct token *name = peek(p, 1);
            p->at += 2;
            if (name->kind != T_NAME && !(name->kind == T_NUMBER)) {
                p->at--;
                return fail(p, "ID");
            }
            bool call = is_sign(peek(p, 0), "(");
            struct node *member = mk(p, call ? N_CALL : N_MEMBER, t->off);
            if (member != NULL) {
                member->name = name->text;
                member->flag = str_is(t->text, "?.");
            }
            n = kid(p, member, n);
            if (call && n != NULL) {
                p->at++;
                n = arguments(p, n);
            }
        } else if (is_sign(t, "[")) {
            p->at++;
            struct node *index = kid(p, mk(p, N_INDEX, t->off), n);
            n = kid(p, index, expression(p));
            (void)expect(p, "]");
        } else if (is_sign(t, "::") && peek(p, 1)->kind == T_NAME) {
            struct node *ref = mk(p, N_METHOD_REF, t->off);
            if (ref != NULL) {
                ref->name = peek(p, 1)->text;
            }
            p->at += 2;
            n = kid(p, ref, n);
        } else if (is_sign(t, "++") || is_sign(t, "--")) {
            struct node *step = mk(p, N_STEP, t->off);
            if (step != NULL) {
                step->op = is_sign(t, "++") ? OP_ADD : OP_SUB;
            }
            p->at++;
            n = kid(p, step, n);
        } else {
            break;
        }
    }
    return p->e == ERR_OK ? n : NULL;
}

/* "(type) operand": a parenthesised type followed by the start of an operand. */
static uint32_t cast_here(const struct parser *p, struct type *type)
{
    uint32_t n = is_sign(peek(p, 0), "(") ? type_here(p, 1, type) : 0;
    if (n == 0 || !is_sign(peek(p, n + 1), ")")) {
        return 0;
    }
    const struct token *next = peek(p, n + 2);
    bool sign = next->kind == T_SIGN
                && (str_is(next->text, "(") || str_is(next->text, "[") || str_is(next->text, "!") || str_is(next->text, "~")
                    || (type_is_primitive(type->id) && (str_is(next->text, "-") || str_is(next->text, "+"))));
    return sign || (next->kind != T_SIGN && next->kind != T_END) ? n + 2 : 0;
}

static struct node *unary_of(struct parser *p, enum op op)
{
    struct node *n = mk(p, N_UNARY, peek(p, 0)->off);
    if (n != NULL) {
        n->op = op;
    }
    p->at++;
    return kid(p, n, unary(p));
}

static struct node *unary_step(struct parser *p)
{
    const struct token *t = peek(p, 0);
    struct type type;
    if (is_sign(t, "-") && peek(p, 1)->kind == T_NUMBER && !is_sign(peek(p, 2), ".")) {
        p->at++;
        return number(p, true);
    }
    if (is_sign(t, "-") || is_sign(t, "+")) {
        return unary_of(p, is_sign(t, "-") ? OP_NEG : OP_PLUS);
    }
    if (is_sign(t, "!") || is_sign(t, "~")) {
        return unary_of(p, is_sign(t, "!") ? OP_NOT : OP_BNOT);
    }
    if (is_sign(t, "++") || is_sign(t, "--")) {
        struct node *n = mk(p, N_STEP, t->off);
        if (n != NULL) {
            n->op = is_sign(t, "++") ? OP_ADD : OP_SUB;
            n->flag = true;
        }
        p->at++;
        return kid(p, n, unary(p));
    }
    uint32_t tokens = cast_here(p, &type);
    if (tokens > 0) {
        struct node *n = mk(p, N_CAST, t->off);
        if (n != NULL) {
            n->type = type;
        }
        p->at += tokens;
        return kid(p, n, unary(p));
    }
    return postfix(p);
}

static struct node *unary(struct parser *p)
{
    struct node *n = enter(p) ? unary_step(p) : NULL;
    p->depth--;
    return n;
}

static const struct {
    const char *sign;
    enum op op;
    int level;
} binaries[] = {{"*", OP_MUL, 10},  {"/", OP_DIV, 10},   {"%", OP_REM, 10}, {"+", OP_ADD, 9},    {"-", OP_SUB, 9},
                {"=~", OP_FIND, 8}, {"==~", OP_MATCH, 8}, {"<<", OP_SHL, 7}, {">>", OP_SHR, 7},   {">>>", OP_USHR, 7},
                {"<", OP_LT, 6},    {"<=", OP_LE, 6},     {">", OP_GT, 6},   {">=", OP_GE, 6},    {"==", OP_EQ, 5},
                {"!=", OP_NE, 5},   {"===", OP_SAME, 5},  {"!==", OP_NOT_SAME, 5}, {"&", OP_BAND, 4}, {"^", OP_BXOR, 3},
                {"|", OP_BOR, 2},   {"&&", OP_NONE, 1},   {"||", OP_NONE, 0}};

/* Precedence climbing; instanceof binds as the comparisons do. */
static struct node *binary(struct parser *p, int level)
{
    struct node *left = unary(p);
    for (unsigned chain = 0; left != NULL && p->e == ERR_OK; chain++) {
        const struct token *t = peek(p, 0);
        size_t i = 0;
        if (chain > CHAIN_MAX) {
            return too_long(p);
        }
        struct type type;
        if (is_word(t, "instanceof") && level <= 6) {
            uint32_t tokens = type_here(p, 1, &type);
            p->at++;
            if (tokens == 0) {
                return fail(p, "TYPE");
            }
            p->at += tokens;
            struct node *n = kid(p, mk(p, N_INSTANCEOF, t->off), left);
            if (n != NULL) {
                n->type = type;
            }
            left = n;
            continue;
        }
        while (i < ARRAY_LEN(binaries) && !is_sign(t, binaries[i].sign)) {
            i++;
        }
        if (i == ARRAY_LEN(binaries) || binaries[i].level < level) {
            break;
        }
        p->at++;
        enum node_kind kind = binaries[i].level == 1 ? N_AND : binaries[i].level == 0 ? N_OR : N_BINARY;
        struct node *n = kid(p, mk(p, kind, t->off), left);
        if (n != NULL) {
            n->op = binaries[i].op;
        }
        left = kid(p, n, binary(p, binaries[i].level + 1));
    }
    return p->e == ERR_OK ? left : NULL;
}

static bool assignable(const struct node *n)
{
    return n != NULL && (n->kind == N_NAME || n->kind == N_MEMBER || n->kind == N_INDEX);
}

static struct node *assignment(struct parser *p, struct node *left, bool *any)
{
    static const struct {
        const char *sign;
        enum op op;
    } table[] = {{"=", OP_NONE},  {"+=", OP_ADD},  {"-=", OP_SUB},  {"*=", OP_MUL},   {"/=", OP_DIV},  {"%=", OP_REM},
                 {"&=", OP_BAND}, {"|=", OP_BOR},  {"^=", OP_BXOR}, {"<<=", OP_SHL}, {">>=", OP_SHR}, {">>>=", OP_USHR}};
    const struct token *t = peek(p, 0);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!is_sign(t, table[i].sign)) {
            continue;
        }
        *any = true;
        if (!assignable(left)) {
            p->e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "invalid assignment: cannot assign a value to what is no variable");
            return NULL;
        }
        p->at++;
        struct node *n = kid(p, mk(p, N_ASSIGN, t->off), left);
        if (n != NULL) {
            n->op = table[i].op;
        }
        return kid(p, n, expression(p));
    }
    *any = false;
    return left;
}

static struct node *expression_step(struct parser *p)
{
    bool assigned;
    struct node *n = binary(p, 0);
    if (n == NULL) {
        return NULL;
    }
    n = assignment(p, n, &assigned);
    if (assigned || n == NULL) {
        return n;
    }
    uint32_t off = peek(p, 0)->off;
    if (accept(p, "?:")) {
        return kid(p, kid(p, mk(p, N_ELVIS, off), n), expression(p));
    }
    if (accept(p, "?")) {
        struct node *t = kid(p, mk(p, N_TERNARY, off), n);
        t = kid(p, t, expression(p));
        return t != NULL && expect(p, ":") ? kid(p, t, expression(p)) : NULL;
    }
    return n;
}

static struct node *expression(struct parser *p)
{
    struct node *n = enter(p) ? expression_step(p) : NULL;
    p->depth--;
    return p->e == ERR_OK ? n : NULL;
}

/* ---- statements ---- */

/* "type name [= value], name ...": S_BLOCK of declarations with `flag` (no scope of its own). */
static struct node *declaration(struct parser *p)
{
    struct type type;
    struct node *all = mk(p, S_BLOCK, peek(p, 0)->off);
    p->at += type_here(p, 0, &type);
    if (all != NULL) {
        all->flag = true;
    }
    do {
        if (!name_at(p, 0)) {
            return fail(p, "ID");
        }
        struct node *d = mk(p, S_DECLARE, peek(p, 0)->off);
        if (d == NULL) {
            return NULL;
        }
        d->type = type;
        d->name = peek(p, 0)->text;
        p->at++;
        d = kid(p, d, accept(p, "=") ? expression(p) : NULL);
        all = kid(p, all, d);
    } while (all != NULL && accept(p, ","));
    return all;
}

static bool declaration_here(const struct parser *p)
{
    struct type type;
    uint32_t n = type_here(p, 0, &type);
    return n > 0 && name_at(p, n);
}

static struct node *simple(struct parser *p)
{
    if (declaration_here(p)) {
        return declaration(p);
    }
    uint32_t off = peek(p, 0)->off;
    return kid(p, mk(p, S_EXPR, off), expression(p));
}

/* A block, or one statement. */
static struct node *body(struct parser *p)
{
    if (is_sign(peek(p, 0), "{")) {
        return block(p);
    }
    if (accept(p, ";")) {
        return mk(p, S_BLOCK, peek(p, 0)->off);
    }
    return kid(p, mk(p, S_BLOCK, peek(p, 0)->off), statement(p));
}

static struct node *if_statement(struct parser *p, uint32_t off)
{
    struct node *n = mk(p, S_IF, off);
    if (!expect(p, "(")) {
        return NULL;
    }
    n = kid(p, n, expression(p));
    n = expect(p, ")") ? kid(p, n, body(p)) : NULL;
    if (n != NULL && accept_word(p, "else")) {
        n = kid(p, n, body(p));
    }
    return n;
}

static struct node *each(struct parser *p, uint32_t off, uint32_t type_tokens, struct type type)
{
    struct node *n = mk(p, S_EACH, off);
    if (n == NULL) {
        return NULL;
    }
    p->at += type_tokens;
    n->type = type_tokens > 0 ? type : (struct type){TYPE_DEF, 0};
    n->name = peek(p, 0)->text;
    p->at += 2; /* the name, and ":" or "in" */
    n = kid(p, n, expression(p));
    return expect(p, ")") ? kid(p, n, body(p)) : NULL;
}

static struct node *for_statement(struct parser *p, uint32_t off)
{
    struct type type;
    if (!expect(p, "(")) {
        return NULL;
    }
    uint32_t tokens = type_here(p, 0, &type);
    if (tokens > 0 && name_at(p, tokens) && is_sign(peek(p, tokens + 1), ":")) {
        return each(p, off, tokens, type);
    }
    if (name_at(p, 0) && is_word(peek(p, 1), "in")) {
        return each(p, off, 0, type);
    }
    struct node *n = mk(p, S_FOR, off);
    n = kid(p, n, is_sign(peek(p, 0), ";") ? NULL : simple(p));
    n = expect(p, ";") ? kid(p, n, is_sign(peek(p, 0), ";") ? NULL : expression(p)) : NULL;
    n = expect(p, ";") ? kid(p, n, is_sign(peek(p, 0), ")") ? NULL : simple(p)) : NULL;
    return expect(p, ")") ? kid(p, n, body(p)) : NULL;
}

static struct node *do_statement(struct parser *p, uint32_t off)
{
    struct node *n = kid(p, mk(p, S_DO, off), block(p));
    if (!accept_word(p, "while")) {
        return fail(p, "while");
    }
    n = expect(p, "(") ? kid(p, n, expression(p)) : NULL;
    return expect(p, ")") ? n : NULL;
}

static struct node *try_statement(struct parser *p, uint32_t off)
{
    struct node *n = kid(p, mk(p, S_TRY, off), block(p));
    if (!is_word(peek(p, 0), "catch")) {
        return fail(p, "catch");
    }
    while (n != NULL && accept_word(p, "catch")) {
        struct type type;
        if (!expect(p, "(")) {
            return NULL;
        }
        uint32_t tokens = type_here(p, 0, &type);
        if (tokens == 0 || !name_at(p, tokens)) {
            return fail(p, "TYPE");
        }
        struct node *d = mk(p, S_DECLARE, peek(p, 0)->off);
        if (d == NULL) {
            return NULL;
        }
        d->type = type;
        d->value = sv_str(peek(p, 0)->text); /* the exception's class, by which it is caught */
        d->name = peek(p, tokens)->text;
        p->at += tokens + 1;
        n = expect(p, ")") ? kid(p, n, d) : NULL;
        n = kid(p, n, block(p));
    }
    return n;
}

/* Statements that end by themselves; NULL without an error: there is none here. */
static struct node *compound(struct parser *p)
{
    const struct token *t = peek(p, 0);
    if (accept_word(p, "if")) {
        return if_statement(p, t->off);
    }
    if (accept_word(p, "while")) {
        struct node *n = mk(p, S_WHILE, t->off);
        n = expect(p, "(") ? kid(p, n, expression(p)) : NULL;
        return expect(p, ")") ? kid(p, n, body(p)) : NULL;
    }
    if (accept_word(p, "for")) {
        return for_statement(p, t->off);
    }
    return accept_word(p, "try") ? try_statement(p, t->off) : NULL;
}

static struct node *plain(struct parser *p)
{
    const struct token *t = peek(p, 0);
    if (accept_word(p, "do")) {
        return do_statement(p, t->off);
    }
    if (accept_word(p, "break")) {
        return mk(p, S_BREAK, t->off);
    }
    if (accept_word(p, "continue")) {
        return mk(p, S_CONTINUE, t->off);
    }
    if (accept_word(p, "return")) {
        struct node *n = mk(p, S_RETURN, t->off);
        bool bare = is_sign(peek(p, 0), ";") || is_sign(peek(p, 0), "}") || peek(p, 0)->kind == T_END;
        return bare ? n : kid(p, n, expression(p));
    }
    if (accept_word(p, "throw")) {
        return kid(p, mk(p, S_THROW, t->off), expression(p));
    }
    return simple(p);
}

static struct node *statement(struct parser *p)
{
    struct node *n = NULL;
    if (enter(p)) {
        n = compound(p);
        if (n == NULL && p->e == ERR_OK) {
            n = plain(p);
            /* the last statement of a script or a block needs no semicolon */
            if (p->e == ERR_OK && !accept(p, ";") && peek(p, 0)->kind != T_END && !is_sign(peek(p, 0), "}")) {
                n = fail(p, "{<EOF>, ';'}");
            }
        }
    }
    p->depth--;
    return p->e == ERR_OK ? n : NULL;
}

static struct node *block(struct parser *p)
{
    struct node *n = mk(p, S_BLOCK, peek(p, 0)->off);
    if (!expect(p, "{")) {
        return NULL;
    }
    while (n != NULL && !accept(p, "}")) {
        n = kid(p, n, statement(p));
    }
    return n;
}

/* "type name(params) { ... }" before the statements. */
static bool function_here(const struct parser *p)
{
    struct type type;
    uint32_t n = type_here(p, 0, &type);
    return n > 0 && name_at(p, n) && is_sign(peek(p, n + 1), "(");
}

static bool function(struct parser *p, struct program *out)
{
    struct function f = {0};
    size_t cap = 0;
    p->at += type_here(p, 0, &f.type);
    f.name = peek(p, 0)->text;
    p->at += 2;
    while (!accept(p, ")")) {
        if (!add_param(p, &f.params, &f.params_n, &cap)) {
            return false;
        }
        if (!is_sign(peek(p, 0), ")") && !expect(p, ",")) {
            return false;
        }
    }
    f.body = block(p);
    struct function *grown = arena_grow(p->a, out->functions, out->functions_n, &out->functions_cap, sizeof(f));
    if (grown == NULL) {
        (void)no_memory(p);
        return false;
    }
    out->functions = grown;
    out->functions[out->functions_n++] = f;
    return p->e == ERR_OK;
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
            return p.e;
        }
    }
    out->body = mk(&p, S_BLOCK, 0);
    while (p.e == ERR_OK && peek(&p, 0)->kind != T_END) {
        out->body = kid(&p, out->body, statement(&p));
    }
    return p.e;
}
