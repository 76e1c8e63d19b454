/* Expressions into bytecode: values, conditions, operators, casts. */
#include "engine/script/nodes.h"
#include "engine/script/operators.h"
#include "engine/script/vm.h"

static enum err ternary(struct gen *g, struct node *n, const struct type *to, unsigned how);
static enum err elvis(struct gen *g, struct node *n, const struct type *to, unsigned how);

/* An error of an explicit cast is reported at the position of its operand. */
static uint32_t error_offset(const struct node *n)
{
    while (n->kind == N_CAST) {
        n = n->kids[0];
    }
    return n->off;
}

static enum err convert(struct gen *g, struct node *n, struct type to, unsigned how)
{
    bool any = to.dims == 0 && (to.id == TYPE_DEF || to.id == TYPE_OBJECT || to.id == TYPE_NONE);
    if (any && to.id == TYPE_DEF && gen_static_type(g, n) != TYPE_DEF) {
        gen_at(g, error_offset(n));
    }
    if ((how & AS_PASSED) != 0 && gen_boxes(gen_static_type(g, n), to)) {
        to.id = gen_unboxed(to.id);
    }
    if (any) {
        return ERR_OK;
    }
    gen_at(g, error_offset(n));
    return gen_emit_type(g, (how & AS_WRITTEN) != 0 ? I_CAST : I_CONVERT, to);
}

static enum err converted(struct gen *g, struct node *n, struct type to, unsigned how)
{
    enum err e = gen_expr(g, n);
    e = e == ERR_OK ? gen_check_cast(g, n, to, how) : e;
    return e == ERR_OK ? convert(g, n, to, how) : e;
}

/* Both ways of a condition become what it shall give, each where it is. */
enum err gen_expr_to(struct gen *g, struct node *n, struct type to, unsigned how)
{
    bool branches = n->kind == N_TERNARY || n->kind == N_ELVIS;
    if (branches && to.id != TYPE_NONE) {
        enum err e = n->kind == N_TERNARY ? ternary(g, n, &to, how) : elvis(g, n, &to, how);
        n->is = to;
        n->typed = true;
        return gen_placed(g, e, n->off);
    }
    return converted(g, n, to, how);
}

enum err gen_expr_as(struct gen *g, struct node *n, struct type to)
{
    return gen_expr_to(g, n, to, AS_ASSIGNED);
}

enum err gen_expr_passed(struct gen *g, struct node *n, struct type to)
{
    return gen_expr_to(g, n, to, AS_PASSED);
}

enum err gen_expr_given(struct gen *g, struct node *n, struct type to)
{
    return converted(g, n, to, AS_PASSED);
}

enum err gen_condition(struct gen *g, struct node *n)
{
    return gen_expr_as(g, n, (struct type){.id = TYPE_BOOLEAN});
}

enum err gen_exprs(struct gen *g, struct node *n, uint32_t from)
{
    enum err e = ERR_OK;
    for (uint32_t i = from; i < n->n && e == ERR_OK; i++) {
        e = gen_expr(g, n->kids[i]);
    }
    return e;
}

/* ---- values ---- */

static enum err pattern_check(struct gen *g, const struct node *n, struct sv v)
{
    enum err e = regex_check(v.s, v.aux, g->em);
    if (e != ERR_PATTERN_SYNTAX) {
        return e;
    }
    e = err_wrap(g->em, ERR_ILLEGAL_ARGUMENT,
                 "invalid regular expression: could not compile regex constant [%.*s] with flags [%.*s]",
                 STR_ARG(v.s), STR_ARG(n->name));
    return gen_placed(g, e, n->off + 1);
}

enum err gen_const(struct gen *g, struct node *n)
{
    struct sv v = n->value;
    if (sv_is_whole(v) && n->name.n > 0 && strchr("fFdD", n->name.p[n->name.n - 1]) != NULL) {
        /* a hexadecimal digit is taken for what says that the number is no whole one */
        return err_set(g->em, ERR_ILLEGAL_STATE, "Illegal tree structure.");
    }
    if (v.kind == SV_PATTERN) { /* its flags ride along as bits */
        for (size_t i = 0; i < n->name.n; i++) {
            const char *at = strchr("imsxcUu", n->name.p[i]);
            if (at == NULL) {
                return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid regular expression: unknown flag [%c]",
                               n->name.p[i]);
            }
            v.aux |= 1U << (at - "imsxcUu");
        }
        enum err e = pattern_check(g, n, v);
        if (e != ERR_OK) {
            return e;
        }
    }
    return gen_emit_const(g, v);
}

static enum err no_value(struct gen *g, struct type class)
{
    return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "value required: instead found unexpected type [%s]",
                   type_java(class).s);
}

enum err gen_name(struct gen *g, struct node *n)
{
    struct local *local = gen_resolve(g, n->name);
    if (local != NULL) {
        return gen_emit(g, I_LOAD, 0, 0, local->slot);
    }
    const struct variable *given = gen_context_variable(g, n->name);
    if (given == NULL) {
        return type_of_name(n->name) != TYPE_NONE ? no_value(g, type_called(n->name))
                                                  : gen_illegal(g, "cannot resolve symbol", n->name);
    }
    g->s->needs_score = g->s->needs_score || given->op == I_SCORE;
    return gen_emit(g, given->op, 0, 0, 0);
}

enum err gen_class(struct gen *g, struct node *n)
{
    return no_value(g, n->type);
}

/* What goes into a list or a map is of any class. */
static enum err elements(struct gen *g, struct node *n)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n->n && e == ERR_OK; i++) {
        e = gen_expr_passed(g, n->kids[i], (struct type){.id = TYPE_DEF});
    }
    return e;
}

enum err gen_list(struct gen *g, struct node *n)
{
    gen_at(g, n->off);
    enum err e = elements(g, n);
    return e == ERR_OK ? gen_emit(g, I_LIST, 0, 0, n->n) : e;
}

enum err gen_map(struct gen *g, struct node *n)
{
    gen_at(g, n->off);
    enum err e = elements(g, n);
    return e == ERR_OK ? gen_emit(g, I_MAP, 0, 0, n->n / 2) : e;
}

/* ---- conditions ---- */

enum err gen_logical(struct gen *g, struct node *n)
{
    bool and = n->kind == N_AND;
    gen_at(g, n->off);
    enum err e = gen_condition(g, n->kids[0]);
    uint32_t jump = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, and? I_IF_NOT : I_IF, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_condition(g, n->kids[1]) : e;
    uint32_t end = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        gen_patch(g, jump);
        e = gen_emit_const(g, sv_bool(!and));
    }
    if (e == ERR_OK) {
        gen_patch(g, end);
    }
    return e;
}

/* One of two values: converted to the requested type; an error if both have no common type. */
static enum err way(struct gen *g, struct node *n, const struct type *to, unsigned how)
{
    return to != NULL ? gen_expr_to(g, n, *to, how) : gen_expr(g, n);
}

static enum err common_type(struct gen *g, struct node *n)
{
    struct type t;
    uint32_t first = n->kind == N_TERNARY ? 1 : 0;
    if (!gen_conditional(g, n, &t)) {
        return err_set(
            g->em, ERR_CLASS_CAST, "cannot apply the conditional operator [?:] to the types [%s] and [%s]",
            type_java(gen_type_of(g, n->kids[first])).s, type_java(gen_type_of(g, n->kids[first + 1])).s);
    }
    enum err e = gen_check_cast(g, n->kids[first], t, AS_ASSIGNED);
    return e == ERR_OK ? gen_check_cast(g, n->kids[first + 1], t, AS_ASSIGNED) : e;
}

static enum err ternary(struct gen *g, struct node *n, const struct type *to, unsigned how)
{
    gen_at(g, n->off);
    enum err e = gen_condition(g, n->kids[0]);
    uint32_t otherwise = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? way(g, n->kids[1], to, how) : e;
    uint32_t end = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        gen_patch(g, otherwise);
        e = way(g, n->kids[2], to, how);
    }
    e = e == ERR_OK && to == NULL ? common_type(g, n) : e;
    if (e == ERR_OK) {
        gen_patch(g, end);
    }
    return e;
}

static enum err elvis(struct gen *g, struct node *n, const struct type *to, unsigned how)
{
    struct node *left = n->kids[0];
    const char *what = gen_is_null(left) ? "null" : left->kind == N_CONST ? "a constant" : NULL;
    gen_at(g, n->off);
    enum err e = what == NULL ? way(g, left, to, how) : ERR_OK;
    what = what == NULL && e == ERR_OK && type_is_primitive(gen_static_type(g, left)) ? "a primitive" : what;
    if (what != NULL || (e == ERR_OK && gen_is_null(n->kids[1]))) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Extraneous elvis operator. %s is %s.",
                       what != NULL ? "LHS" : "RHS", what != NULL ? what : "null");
    }
    uint32_t end = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_VALUE, 0, 0, 0) : e;
    e = e == ERR_OK ? way(g, n->kids[1], to, how) : e;
    e = e == ERR_OK && to == NULL ? common_type(g, n) : e;
    if (e == ERR_OK) {
        gen_patch(g, end);
    }
    return e;
}

enum err gen_ternary(struct gen *g, struct node *n)
{
    return ternary(g, n, NULL, AS_ASSIGNED);
}

enum err gen_elvis(struct gen *g, struct node *n)
{
    return elvis(g, n, NULL, AS_ASSIGNED);
}

/* ---- operators and casts ---- */

/* Operations on constants of the source are done by the compiler: no place in the code is theirs. */
static bool is_folded(const struct node *n)
{
    return n->kind == N_CONST && (sv_is_number(n->value) || n->value.kind == SV_BOOL);
}

enum err gen_binary(struct gen *g, struct node *n)
{
    struct node *a = n->kids[0], *b = n->kids[1];
    uint32_t before = g->line;
    bool by_zero = (n->op == OP_DIV || n->op == OP_REM) && b->kind == N_CONST && sv_is_whole(b->value)
                   && b->value.i == 0;
    if (by_zero && a->kind == N_CONST && sv_is_whole(a->value)) {
        return err_set(g->em, ERR_ARITHMETIC, "/ by zero");
    }
    bool equality = operators[n->op].form == FORM_EQUALITY;
    if (equality && gen_is_null(a) && gen_is_null(b)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous comparison of [null] constants");
    }
    gen_at(g, n->off);
    enum err e = gen_expr(g, a);
    e = e == ERR_OK ? gen_expr(g, b) : e;
    e = e == ERR_OK ? gen_check_operands(g, n, a, b) : e;
    e = e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
    if (is_folded(a) && is_folded(b)) {
        gen_at(g, before);
    }
    return e;
}

enum err gen_unary(struct gen *g, struct node *n)
{
    struct node *of = n->kids[0];
    uint32_t before = g->line;
    gen_at(g, n->off);
    enum err e = n->op == OP_NOT ? gen_condition(g, of) : gen_expr(g, of);
    if (e != ERR_OK) {
        return e;
    }
    struct type t = gen_type_of(g, of);
    bool number =
        t.dims == 0 && gen_promoted(gen_unboxed(t.id), gen_unboxed(t.id), n->op != OP_BNOT) != TYPE_NONE;
    if (n->op != OP_NOT && t.id != TYPE_DEF && !number) {
        return err_set(g->em, ERR_CLASS_CAST, "cannot apply the %s operator [%s] to the type [%s]",
                       op_words(n->op), op_sign(n->op), type_java(t).s);
    }
    e = gen_emit(g, I_UNARY, (uint8_t)n->op, 0, 0);
    if (is_folded(of)) {
        gen_at(g, before);
    }
    return e;
}

enum err gen_cast(struct gen *g, struct node *n)
{
    return gen_expr_to(g, n->kids[0], n->type, AS_WRITTEN);
}

enum err gen_instanceof(struct gen *g, struct node *n)
{
    enum err e = gen_expr(g, n->kids[0]);
    return e == ERR_OK ? gen_emit_type(g, I_INSTANCEOF, n->type) : e;
}

enum err gen_expr(struct gen *g, struct node *n)
{
    return gen_placed(g, nodes[n->kind].expr(g, n), n->off);
}
