/* Lucene expressions: JavaScript's arithmetic over doc values, all in doubles. Parsed as painless, then
 * rewritten: bare names are parameters, doc['f'].value is zero where a document has none, comparisons give 1
 * and 0. */
#include "engine/script/code.h"

struct rewriter {
    struct arena *a;
    struct errmsg *em;
};

static enum err refuse(struct rewriter *r, const char *what)
{
    return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Failed to parse expression: %s", what);
}

static struct node *mk(struct rewriter *r, enum node_kind kind, const struct node *like, uint32_t n)
{
    struct node *node = ARENA_NEW(r->a, struct node);
    struct node **kids = ARENA_ARRAY(r->a, struct node *, n + 1);
    if (node == NULL || kids == NULL) {
        return NULL;
    }
    node->kind = kind;
    node->off = like->off;
    node->kids = kids;
    node->n = n;
    return node;
}

static struct node *number(struct rewriter *r, const struct node *like, double v)
{
    struct node *n = mk(r, N_CONST, like, 0);
    if (n != NULL) {
        n->value = sv_double(v);
    }
    return n;
}

/* condition ? 1.0 : 0.0, in place of n. */
static enum err as_number(struct rewriter *r, struct node **n)
{
    struct node *t = mk(r, N_TERNARY, *n, 3);
    if (t == NULL) {
        return err_no_memory(r->em);
    }
    t->kids[0] = *n;
    t->kids[1] = number(r, *n, 1);
    t->kids[2] = number(r, *n, 0);
    *n = t;
    return t->kids[1] != NULL && t->kids[2] != NULL ? ERR_OK : err_no_memory(r->em);
}

/* n != 0, in place of n. */
static enum err as_condition(struct rewriter *r, struct node **n)
{
    struct node *b = mk(r, N_BINARY, *n, 2);
    if (b == NULL) {
        return err_no_memory(r->em);
    }
    b->op = OP_NE;
    b->kids[0] = *n;
    b->kids[1] = number(r, *n, 0);
    *n = b;
    return b->kids[1] != NULL ? ERR_OK : err_no_memory(r->em);
}

static enum err rewrite(struct rewriter *r, struct node **at);

static enum err rewrite_kids(struct rewriter *r, struct node *n, uint32_t from)
{
    enum err e = ERR_OK;
    for (uint32_t i = from; i < n->n && e == ERR_OK; i++) {
        e = rewrite(r, &n->kids[i]);
    }
    return e;
}

static bool is_doc_field(const struct node *n)
{
    return n != NULL && n->kind == N_INDEX && n->kids[0]->kind == N_NAME && str_is(n->kids[0]->name, "doc")
           && n->kids[1]->kind == N_CONST && n->kids[1]->value.kind == SV_STR;
}

/* doc['f'].value, doc['f'].min(), doc['f'].date.year, doc['f'].getYear() */
static enum err doc_member(struct rewriter *r, struct node **at)
{
    static const char *const plain[] = {"value", "empty", "length", "count", "sum",
                                        "avg",   "min",   "max",    "median"};
    struct node *n = *at, *call = mk(r, N_CALL, n, 1);
    if (call == NULL) {
        return err_no_memory(r->em);
    }
    call->kids[0] = n->kids[0];
    *at = call;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (str_is(n->name, plain[i])) {
            call->name = arena_printf(r->a, "#%s", plain[i]);
            return call->name.p != NULL ? ERR_OK : err_no_memory(r->em);
        }
    }
    if (str_is(n->name, "lat") || str_is(n->name, "lon")) {
        call->name = str_is(n->name, "lat") ? STR("getLat") : STR("getLon");
        return ERR_OK;
    }
    if (n->kind != N_CALL) {
        return refuse(r, "unknown member of a field");
    }
    struct node *value = mk(r, N_MEMBER, n, 1); /* getYear() and the like are the date's */
    if (value == NULL) {
        return err_no_memory(r->em);
    }
    value->name = STR("value");
    value->kids[0] = n->kids[0];
    call->name = n->name;
    call->kids[0] = value;
    return ERR_OK;
}

static enum err function(struct rewriter *r, struct node **at)
{
    static const struct {
        const char *name, *java;
        uint32_t argc;
    } table[] = {{"abs", "abs", 1},     {"acos", "acos", 1},   {"asin", "asin", 1}, {"atan", "atan", 1},
                 {"atan2", "atan2", 2}, {"ceil", "ceil", 1},   {"cos", "cos", 1},   {"cosh", "cosh", 1},
                 {"exp", "exp", 1},     {"floor", "floor", 1}, {"ln", "log", 1},    {"log10", "log10", 1},
                 {"max", "max", 2},     {"min", "min", 2},     {"pow", "pow", 2},   {"sin", "sin", 1},
                 {"sinh", "sinh", 1},   {"sqrt", "sqrt", 1},   {"tan", "tan", 1},   {"tanh", "tanh", 1}};
    struct node *n = *at, *math = mk(r, N_TYPE, n, 0);
    enum err e = rewrite_kids(r, n, 1);
    if (e != ERR_OK || math == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    math->type.id = TYPE_MATH;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(n->name, table[i].name) && n->n == table[i].argc + 1) {
            n->name = str_of(table[i].java);
            n->kids[0] = math;
            return ERR_OK;
        }
    }
    return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Unrecognized function call (%.*s).", STR_ARG(n->name));
}

static enum err variable(struct rewriter *r, struct node **at)
{
    struct node *n = *at;
    if (str_is(n->name, "_score") || str_is(n->name, "_value")) {
        return ERR_OK;
    }
    struct node *member = mk(r, N_MEMBER, n, 1), *params = mk(r, N_NAME, n, 0);
    if (member == NULL || params == NULL) {
        return err_no_memory(r->em);
    }
    params->name = STR("params");
    member->name = n->name;
    member->kids[0] = params;
    *at = member;
    return ERR_OK;
}

static enum err logic(struct rewriter *r, struct node **at)
{
    struct node *n = *at;
    enum err e = rewrite_kids(r, n, 0);
    uint32_t conditions = n->kind == N_TERNARY ? 1 : n->n;
    for (uint32_t i = 0; i < conditions && e == ERR_OK; i++) {
        e = as_condition(r, &n->kids[i]);
    }
    return e == ERR_OK && n->kind != N_TERNARY ? as_number(r, at) : e;
}

static enum err rewrite(struct rewriter *r, struct node **at)
{
    struct node *n = *at;
    enum err e;
    switch (n->kind) {
    case N_CONST:
        if (n->value.kind == SV_BOOL) {
            n->value = sv_double(n->value.b ? 1 : 0);
            return ERR_OK;
        }
        if (!sv_is_number(n->value)) {
            return refuse(r, "only numbers are values");
        }
        n->value = sv_double(sv_num(n->value));
        return ERR_OK;
    case N_NAME:
        return variable(r, at);
    case N_AND:
    case N_OR:
    case N_TERNARY:
        return logic(r, at);
    case N_UNARY:
        if (n->op == OP_NOT) {
            return logic(r, at);
        }
        return n->op == OP_NEG || n->op == OP_PLUS ? rewrite_kids(r, n, 0) : refuse(r, "no bits in doubles");
    case N_BINARY:
        if (n->op >= OP_SHL && n->op <= OP_BXOR) {
            return refuse(r, "no bits in doubles");
        }
        e = rewrite_kids(r, n, 0);
        return e == ERR_OK && n->op >= OP_EQ ? as_number(r, at) : e;
    case N_MEMBER:
    case N_CALL:
        if (n->kids[0] == NULL) {
            return function(r, at);
        }
        if (is_doc_field(n->kids[0])) {
            return doc_member(r, at);
        }
        return refuse(r, "unknown variable");
    default:
        return refuse(r, "not an expression");
    }
}

enum err script_parse_expression(struct program *out, struct str source, struct arena *a, struct errmsg *em)
{
    struct rewriter r = {a, em};
    enum err e = script_parse(out, source, a, em);
    if (e != ERR_OK) {
        return e;
    }
    if (out->functions_n > 0 || out->body->n != 1 || out->body->kids[0]->kind != S_EXPR) {
        return refuse(&r, "one expression is expected");
    }
    return rewrite(&r, &out->body->kids[0]->kids[0]);
}
