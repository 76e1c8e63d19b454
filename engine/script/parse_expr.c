/* Expressions, with painless's precedences. */
#include "engine/script/parse.h"

#include "common/base/num.h"

static struct node *unary(struct parser *p);

/* ---- primaries ---- */

static struct node *constant(struct parser *p, uint32_t off, struct sv v)
{
    struct node *n = p_mk(p, N_CONST, off);
    if (n != NULL) {
        n->value = v;
    }
    return n;
}

static struct node *bad_number(struct parser *p, const char *what, struct str text)
{
    bool is_int = str_is(str_of(what), "int") && !str_starts(text, STR("0"));
    enum err e =
        is_int
            ? err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                      "Invalid int constant [%.*s]. If you want a long constant then change it to [%.*sL].",
                      STR_ARG(text), STR_ARG(text))
            : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Invalid %s constant [%.*s].", what, STR_ARG(text));
    return p_refused(p, e, p->t[p->at > 0 ? p->at - 1 : 0].off);
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

/* Keeps how the number is written; with its minus it begins there. */
static struct node *number_node(struct node *n, const struct token *t, bool negative)
{
    if (n != NULL) {
        bool hex = t->text.n > 1 && (t->text.p[1] == 'x' || t->text.p[1] == 'X');
        n->name = hex ? str_slice(t->text, 2, t->text.n) : t->text;
        n->flag = negative;
        n->off = negative ? (t - 1)->off : t->off;
    }
    return n;
}

/* `negative`: a minus stands before it, so that -2147483648 is an int. */
static struct node *number_literal(struct parser *p, bool negative)
{
    const struct token *t = p_peek(p, 0);
    struct str text = t->text;
    p->at++;
    bool hex = text.n > 1 && (text.p[1] == 'x' || text.p[1] == 'X');
    char last = text.p[text.n - 1];
    bool fractional = !hex
                      && (strpbrk("fFdD", (char[]){last, 0}) != NULL || memchr(text.p, '.', text.n) != NULL
                          || memchr(text.p, 'e', text.n) != NULL || memchr(text.p, 'E', text.n) != NULL);
    if (fractional) {
        struct node *n = number_node(fraction(p, text, t->off), t, negative);
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
    struct node *n = constant(p, t->off, is_long ? sv_long(i) : sv_int((int32_t)(uint32_t)(uint64_t)i));
    return number_node(n, t, negative);
}

static struct node *arguments(struct parser *p, struct node *n)
{
    p->arguments++; /* only here may a function be written */
    if (!p_accept(p, ")")) {
        do {
            n = p_kid(p, n, parse_expression(p));
        } while (n != NULL && p_accept(p, ","));
        (void)p_close(p, ")");
    }
    p->arguments--;
    return p->e == ERR_OK ? n : NULL;
}

/* [a, b], [k: v], [:] */
static struct node *brackets(struct parser *p)
{
    uint32_t off = p_peek(p, 0)->off;
    p->at++;
    struct node *n = p_mk(p, N_LIST, off);
    if (n == NULL || p_accept(p, "]")) {
        return n;
    }
    if (p_accept(p, ":")) {
        n->kind = N_MAP;
        return p_close(p, "]") ? n : NULL;
    }
    n = p_kid(p, n, parse_expression(p));
    if (n != NULL && p_is_sign(p_peek(p, 0), ":")) {
        n->kind = N_MAP;
        p->at++;
        n = p_kid(p, n, parse_expression(p));
    }
    while (n != NULL && p_accept(p, ",")) {
        n = p_kid(p, n, parse_expression(p));
        if (n != NULL && n->kind == N_MAP) {
            n = p_close(p, ":") ? p_kid(p, n, parse_expression(p)) : NULL;
        }
    }
    return n != NULL && p_close(p, "]") ? n : NULL;
}

static struct node *new_object(struct parser *p)
{
    uint32_t off = p_peek(p, 0)->off;
    struct type type;
    p->at++;
    uint32_t n_tokens = p_type_here(p, 0, &type);
    if (n_tokens == 0) {
        if (!p_name_at(p, 0)) {
            return p_fail(p, "");
        }
        return p_refused(
            p, err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Not a type [%.*s].", STR_ARG(p_peek(p, 0)->text)), off);
    }
    p->at += n_tokens;
    struct node *n = p_mk(p, type.dims > 0 || p_is_sign(p_peek(p, 0), "[") ? N_NEW_ARRAY : N_NEW, off);
    if (n == NULL) {
        return NULL;
    }
    n->type = type;
    n->name = p->t[p->at - 1].text; /* which exception it is */
    if (n->kind == N_NEW) {
        return p_close(p, "(") ? arguments(p, n) : NULL;
    }
    if (type.dims > 0) { /* new int[] {1, 2} */
        n->flag = true;
        if (!p_close(p, "{") || p_accept(p, "}")) {
            return p->e == ERR_OK ? n : NULL;
        }
        do {
            n = p_kid(p, n, parse_expression(p));
        } while (n != NULL && p_accept(p, ","));
        return n != NULL && p_close(p, "}") ? n : NULL;
    }
    while (n != NULL && p_accept(p, "[")) {
        n->type.dims++;
        n = p_kid(p, n, parse_expression(p));
        (void)p_close(p, "]");
    }
    return p->e == ERR_OK ? n : NULL;
}

/* ---- lambdas ---- */

/* Is "(a, int b) ->" at the opening parenthesis? */
static bool lambda_here(const struct parser *p)
{
    uint32_t i = 1;
    while (!p_is_sign(p_peek(p, i), ")")) {
        const struct token *t = p_peek(p, i);
        bool allowed = t->kind == T_NAME || (t->kind == T_SIGN && memchr(",[].", t->text.p[0], 4) != NULL);
        if (!allowed) {
            return false;
        }
        i++;
    }
    return p_is_sign(p_peek(p, i + 1), "->");
}

static struct node *lambda(struct parser *p)
{
    size_t cap = 0;
    struct node *n = p_mk(p, N_LAMBDA, p_peek(p, 0)->off);
    if (n == NULL) {
        return NULL;
    }
    if (p_accept(p, "(")) {
        while (!p_accept(p, ")")) {
            if (!p_add_param(p, &n->params, &n->params_n, &cap)) {
                return NULL;
            }
            (void)p_accept(p, ",");
        }
    } else if (!p_add_param(p, &n->params, &n->params_n, &cap)) {
        return NULL;
    }
    if (!p_expect(p, "->")) {
        return NULL;
    }
    if (p_is_sign(p_peek(p, 0), "{")) {
        return p_kid(p, n, parse_block(p));
    }
    struct node *ret = p_mk(p, S_RETURN, n->off);
    ret = p_kid(p, ret, parse_expression(p));
    return p_kid(p, n, ret);
}

/* ---- expressions ---- */

static struct node *primary_name(struct parser *p)
{
    const struct token *t = p_peek(p, 0);
    struct type type;
    if (p_is_word(t, "new")) {
        return new_object(p);
    }
    if (p_is_word(t, "true") || p_is_word(t, "false")) {
        p->at++;
        return constant(p, t->off, sv_bool(p_is_word(t, "true")));
    }
    if (p_is_word(t, "null")) {
        p->at++;
        return constant(p, t->off, sv_null());
    }
    if (p_is_keyword(t->text) && !(p_is_word(t, "this") && p_is_sign(p_peek(p, 1), "::"))
        && !(p_is_word(t, "this") && p_is_sign(p_peek(p, 1), "."))) {
        return p_fail(p, "");
    }
    if (type_is_primitive(type_of_name(t->text)) || p_is_word(t, "def")) { /* no name, and no value */
        struct type ignored;
        p->at += p_is_sign(p_peek(p, 1), "[") ? p_type_here(p, 0, &ignored) : 1;
        if (!p_is_sign(p_peek(p, 0), "::")) {
            return p_fail(p, "");
        }
        p->at--;
    }
    if (p_is_sign(p_peek(p, 1), "->") && p->arguments > 0) {
        return lambda(p);
    }
    if (p_is_sign(p_peek(p, 1), "(")) {
        p->at += 2;
        struct node *n = p_mk(p, N_CALL, t->off);
        if (n != NULL) {
            n->name = t->text;
        }
        return arguments(p, p_kid(p, n, NULL));
    }
    uint32_t tokens = p_type_here(p, 0, &type);
    bool before_dot = tokens > 0 && (p_is_sign(p_peek(p, tokens), ".") || p_is_sign(p_peek(p, tokens), "::"));
    struct node *n = p_mk(p, before_dot ? N_TYPE : N_NAME, t->off);
    if (n != NULL) {
        n->name = t->text;
        n->type = before_dot ? type : (struct type){.id = TYPE_NONE};
    }
    p->at += before_dot ? tokens : 1;
    return n;
}

static struct node *primary(struct parser *p)
{
    const struct token *t = p_peek(p, 0);
    switch (t->kind) {
    case T_NUMBER:
        return number_literal(p, false);
    case T_TEXT:
        p->at++;
        return constant(p, t->off, sv_str(t->text));
    case T_REGEX: {
        p->at++;
        if (!script_regexes_allowed()) {
            return p_refused(
                p,
                err_set(p->em, ERR_ILLEGAL_STATE,
                        "Regexes are disabled. Set [script.painless.regex.enabled] to [true] in "
                        "elasticsearch.yaml to allow them. Be careful though, regexes break out of "
                        "Painless's protection against deep recursion and long loops."),
                t->off);
        }
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
            if (p->arguments > 0 && lambda_here(p)) {
                return lambda(p);
            }
            p->at++;
            struct node *n = parse_expression(p);
            return p_close(p, ")") ? n : NULL;
        }
        break;
    case T_END:
        break;
    }
    return p_fail(p, "");
}

/* .name, .name(...), [index], ::name behind a primary. */
static struct node *postfix(struct parser *p)
{
    uint32_t start = p_peek(p, 0)->off;
    struct node *n = primary(p);
    for (unsigned chain = 0; n != NULL && p->e == ERR_OK; chain++) {
        const struct token *t = p_peek(p, 0);
        if (chain > CHAIN_MAX) {
            return p_too_long(p);
        }
        if (p_is_sign(t, ".") || p_is_sign(t, "?.")) {
            const struct token *name = p_peek(p, 1);
            p->at += 2;
            if (name->kind != T_NAME && !(name->kind == T_NUMBER)) {
                p->at--;
                return p_fail(p, "");
            }
            bool call = p_is_sign(p_peek(p, 0), "(");
            struct node *member = p_mk(p, call ? N_CALL : N_MEMBER, t->off);
            if (member != NULL) {
                member->name = name->text;
                member->flag = str_is(t->text, "?.");
            }
            n = p_kid(p, member, n);
            if (call && n != NULL) {
                p->at++;
                n = arguments(p, n);
            }
        } else if (p_is_sign(t, "[")) {
            p->at++;
            struct node *index = p_kid(p, p_mk(p, N_INDEX, t->off), n);
            n = p_kid(p, index, parse_expression(p));
            (void)p_close(p, "]");
        } else if (p->arguments > 0 && p_is_sign(t, "::") && p_peek(p, 1)->kind == T_NAME) {
            struct node *ref = p_mk(p, N_METHOD_REF, t->off);
            if (ref != NULL) {
                ref->name = p_peek(p, 1)->text;
            }
            p->at += 2;
            n = p_kid(p, ref, n);
        } else if (p_is_sign(t, "++") || p_is_sign(t, "--")) {
            struct node *step = p_mk(p, N_STEP, start);
            if (step != NULL) {
                step->op = p_is_sign(t, "++") ? OP_ADD : OP_SUB;
            }
            p->at++;
            n = p_kid(p, step, n);
        } else {
            break;
        }
    }
    return p->e == ERR_OK ? n : NULL;
}

/* "(type) operand": a parenthesised type followed by the start of an operand. */
static uint32_t cast_here(const struct parser *p, struct type *type)
{
    uint32_t n = p_is_sign(p_peek(p, 0), "(") ? p_type_here(p, 1, type) : 0;
    if (n == 0 || !p_is_sign(p_peek(p, n + 1), ")")) {
        return 0;
    }
    const struct token *next = p_peek(p, n + 2);
    bool sign = next->kind == T_SIGN
                && (str_is(next->text, "(") || str_is(next->text, "[") || str_is(next->text, "!")
                    || str_is(next->text, "~")
                    || (type_is_primitive(type->id) && (str_is(next->text, "-") || str_is(next->text, "+"))));
    return sign || (next->kind != T_SIGN && next->kind != T_END) ? n + 2 : 0;
}

static struct node *unary_of(struct parser *p, enum op op)
{
    struct node *n = p_mk(p, N_UNARY, p_peek(p, 0)->off);
    if (n != NULL) {
        n->op = op;
    }
    p->at++;
    return p_kid(p, n, unary(p));
}

static struct node *unary_step(struct parser *p)
{
    const struct token *t = p_peek(p, 0);
    struct type type;
    if (p_is_sign(t, "-") && p_peek(p, 1)->kind == T_NUMBER && !p_is_sign(p_peek(p, 2), ".")) {
        p->at++;
        return number_literal(p, true);
    }
    if (p_is_sign(t, "-") || p_is_sign(t, "+")) {
        return unary_of(p, p_is_sign(t, "-") ? OP_NEG : OP_PLUS);
    }
    if (p_is_sign(t, "!") || p_is_sign(t, "~")) {
        return unary_of(p, p_is_sign(t, "!") ? OP_NOT : OP_BNOT);
    }
    if (p_is_sign(t, "++") || p_is_sign(t, "--")) {
        struct node *n = p_mk(p, N_STEP, t->off);
        if (n != NULL) {
            n->op = p_is_sign(t, "++") ? OP_ADD : OP_SUB;
            n->flag = true;
        }
        p->at++;
        return p_kid(p, n, unary(p));
    }
    uint32_t tokens = cast_here(p, &type);
    if (tokens > 0) {
        struct node *n = p_mk(p, N_CAST, t->off);
        if (n != NULL) {
            n->type = type;
        }
        p->at += tokens;
        return p_kid(p, n, unary(p));
    }
    return postfix(p);
}

static struct node *unary(struct parser *p)
{
    struct node *n = p_enter(p) ? unary_step(p) : NULL;
    p->depth--;
    return n;
}

static const struct {
    const char *sign;
    enum op op;
    int level;
} binaries[] = {{"*", OP_MUL, 10},   {"/", OP_DIV, 10},       {"%", OP_REM, 10},    {"+", OP_ADD, 9},
                {"-", OP_SUB, 9},    {"=~", OP_FIND, 8},      {"==~", OP_MATCH, 8}, {"<<", OP_SHL, 7},
                {">>", OP_SHR, 7},   {">>>", OP_USHR, 7},     {"<", OP_LT, 6},      {"<=", OP_LE, 6},
                {">", OP_GT, 6},     {">=", OP_GE, 6},        {"==", OP_EQ, 5},     {"!=", OP_NE, 5},
                {"===", OP_SAME, 5}, {"!==", OP_NOT_SAME, 5}, {"&", OP_BAND, 4},    {"^", OP_BXOR, 3},
                {"|", OP_BOR, 2},    {"&&", OP_NONE, 1},      {"||", OP_NONE, 0}};

/* Precedence climbing; instanceof binds as the comparisons do. */
static struct node *binary(struct parser *p, int level)
{
    uint32_t start = p_peek(p, 0)->off;
    struct node *left = unary(p);
    for (unsigned chain = 0; left != NULL && p->e == ERR_OK; chain++) {
        const struct token *t = p_peek(p, 0);
        size_t i = 0;
        if (chain > CHAIN_MAX) {
            return p_too_long(p);
        }
        struct type type;
        if (p_is_word(t, "instanceof") && level <= 6) {
            uint32_t tokens = p_type_here(p, 1, &type);
            p->at++;
            if (tokens == 0 && p_name_at(p, 0)) {
                return p_refused(
                    p,
                    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Not a type [%.*s].", STR_ARG(p_peek(p, 0)->text)),
                    start);
            }
            if (tokens == 0) {
                return p_fail(p, "");
            }
            p->at += tokens;
            struct node *n = p_kid(p, p_mk(p, N_INSTANCEOF, start), left);
            if (n != NULL) {
                n->type = type;
            }
            left = n;
            continue;
        }
        while (i < ARRAY_LEN(binaries) && !p_is_sign(t, binaries[i].sign)) {
            i++;
        }
        if (i == ARRAY_LEN(binaries) || binaries[i].level < level) {
            break;
        }
        p->at++;
        enum node_kind kind = binaries[i].level == 1 ? N_AND : binaries[i].level == 0 ? N_OR : N_BINARY;
        struct node *n = p_kid(p, p_mk(p, kind, start), left);
        if (n != NULL) {
            n->op = binaries[i].op;
        }
        left = p_kid(p, n, binary(p, binaries[i].level + 1));
    }
    return p->e == ERR_OK ? left : NULL;
}

static bool assignable(const struct node *n)
{
    return n != NULL && (n->kind == N_NAME || n->kind == N_MEMBER || n->kind == N_INDEX);
}

static struct node *assignment(struct parser *p, struct node *left, uint32_t start, bool *any)
{
    static const struct {
        const char *sign;
        enum op op;
    } table[] = {{"=", OP_NONE},  {"+=", OP_ADD},  {"-=", OP_SUB},  {"*=", OP_MUL},
                 {"/=", OP_DIV},  {"%=", OP_REM},  {"&=", OP_BAND}, {"|=", OP_BOR},
                 {"^=", OP_BXOR}, {"<<=", OP_SHL}, {">>=", OP_SHR}, {">>>=", OP_USHR}};
    const struct token *t = p_peek(p, 0);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!p_is_sign(t, table[i].sign)) {
            continue;
        }
        *any = true;
        if (!assignable(left)) {
            char what[160] = "what is no variable";
            if (left != NULL) {
                node_words(left, what, sizeof(what));
            }
            return p_refused(
                p,
                err_set(p->em, ERR_ILLEGAL_ARGUMENT, "invalid assignment: cannot assign a value to %s", what),
                start);
        }
        p->at++;
        struct node *n = p_kid(p, p_mk(p, N_ASSIGN, start), left);
        if (n != NULL) {
            n->op = table[i].op;
        }
        return p_kid(p, n, parse_expression(p));
    }
    *any = false;
    return left;
}

static struct node *expression_step(struct parser *p)
{
    bool assigned;
    uint32_t off = p_peek(p, 0)->off;
    struct node *n = binary(p, 0);
    if (n == NULL) {
        return NULL;
    }
    n = assignment(p, n, off, &assigned);
    if (assigned || n == NULL) {
        return n;
    }
    if (p_accept(p, "?:")) {
        return p_kid(p, p_kid(p, p_mk(p, N_ELVIS, off), n), parse_expression(p));
    }
    if (p_accept(p, "?")) {
        struct node *t = p_kid(p, p_mk(p, N_TERNARY, off), n);
        t = p_kid(p, t, parse_expression(p));
        return t != NULL && p_expect(p, ":") ? p_kid(p, t, parse_expression(p)) : NULL;
    }
    return n;
}

struct node *parse_expression(struct parser *p)
{
    struct node *n = p_enter(p) ? expression_step(p) : NULL;
    p->depth--;
    return p->e == ERR_OK ? n : NULL;
}
