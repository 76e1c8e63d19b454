/* Expressions into bytecode. */
#include "engine/script/generate.h"

static enum builtin builtin_of(const struct gen *g, struct str name)
{
    static const struct {
        const char *name;
        enum builtin id;
    } table[] = {{"saturation", BUILTIN_SATURATION},
                 {"sigmoid", BUILTIN_SIGMOID},
                 {"decayNumericLinear", BUILTIN_DECAY_NUMERIC_LINEAR},
                 {"decayNumericExp", BUILTIN_DECAY_NUMERIC_EXP},
                 {"decayNumericGauss", BUILTIN_DECAY_NUMERIC_GAUSS},
                 {"decayGeoLinear", BUILTIN_DECAY_GEO_LINEAR},
                 {"decayGeoExp", BUILTIN_DECAY_GEO_EXP},
                 {"decayGeoGauss", BUILTIN_DECAY_GEO_GAUSS},
                 {"decayDateLinear", BUILTIN_DECAY_DATE_LINEAR},
                 {"decayDateExp", BUILTIN_DECAY_DATE_EXP},
                 {"decayDateGauss", BUILTIN_DECAY_DATE_GAUSS},
                 {"randomScore", BUILTIN_RANDOM}};
    for (size_t i = 0; g->s->context == SCRIPT_SCORE && i < ARRAY_LEN(table); i++) {
        if (str_is(name, table[i].name)) {
            return table[i].id;
        }
    }
    return BUILTIN_NONE;
}

enum err gen_expr_as(struct gen *g, const struct node *n, struct type to)
{
    enum err e = gen_check_assign(g, n, to);
    e = e == ERR_OK ? gen_expr(g, n) : e;
    bool any = to.dims == 0 && (to.id == TYPE_DEF || to.id == TYPE_OBJECT || to.id == TYPE_NONE);
    return e != ERR_OK || any ? e : gen_emit_type(g, I_CONVERT, to);
}

enum err gen_expr_passed(struct gen *g, const struct node *n, struct type to)
{
    if (!gen_boxes(gen_static_type(g, n), to)) {
        return gen_expr_as(g, n, to);
    }
    enum err e = gen_expr(g, n);
    to.id = gen_unboxed(to.id);
    return e != ERR_OK || to.id == TYPE_OBJECT ? e : gen_emit_type(g, I_CONVERT, to);
}

enum err gen_condition(struct gen *g, const struct node *n)
{
    return gen_expr_as(g, n, (struct type){TYPE_BOOLEAN, 0});
}

static enum err exprs(struct gen *g, const struct node *n, uint32_t from)
{
    enum err e = ERR_OK;
    for (uint32_t i = from; i < n->n && e == ERR_OK; i++) {
        e = gen_expr(g, n->kids[i]);
    }
    return e;
}

static enum err name(struct gen *g, const struct node *n)
{
    struct local *local = gen_resolve(g, n->name);
    if (local != NULL) {
        return gen_emit(g, I_LOAD, 0, 0, local->slot);
    }
    switch (gen_context_variable(g, n->name)) {
    case VAR_DOC:
        return gen_emit(g, I_DOC, 0, 0, 0);
    case VAR_PARAMS:
        return gen_emit(g, I_PARAMS, 0, 0, 0);
    case VAR_SCORE:
        g->s->needs_score = true;
        return gen_emit(g, I_SCORE, 0, 0, 0);
    case VAR_CTX:
        return gen_emit(g, I_CTX, 0, 0, 0);
    case VAR_VALUE:
        return gen_emit(g, I_VALUE, 0, 0, 0);
    case VAR_VALUES:
        return gen_emit(g, I_VALUES, 0, 0, 0);
    default:
        return gen_illegal(g, "cannot resolve symbol", n->name);
    }
}

static enum err member(struct gen *g, const struct node *n)
{
    if (n->kids[0]->kind == N_TYPE) {
        return gen_emit_name(g, I_GET_STATIC, 0, (uint16_t)n->kids[0]->type.id, n->name);
    }
    enum err e = gen_expr(g, n->kids[0]);
    uint32_t skip = gen_here(g);
    if (e == ERR_OK && n->flag) {
        e = gen_emit(g, I_IF_NULL, 0, 0, 0);
    }
    e = e == ERR_OK ? gen_emit_name(g, I_GET, 0, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        gen_patch(g, skip);
    }
    return e;
}

static enum err call_function(struct gen *g, const struct node *n)
{
    uint32_t argc = n->n - 1;
    for (uint32_t i = 0; i < g->program->functions_n; i++) {
        const struct function *f = &g->program->functions[i];
        if (!str_eq(f->name, n->name) || f->params_n != argc) {
            continue;
        }
        enum err e = ERR_OK;
        for (uint32_t k = 0; k < argc && e == ERR_OK; k++) {
            e = gen_expr_passed(g, n->kids[k + 1], f->params[k].type);
        }
        return e == ERR_OK ? gen_emit(g, I_CALL_FUNCTION, (uint8_t)argc, 0, i + 1) : e;
    }
    enum builtin builtin = builtin_of(g, n->name);
    if (builtin == BUILTIN_NONE) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Unknown call [%.*s] with [%u] arguments.",
                       STR_ARG(n->name), argc);
    }
    enum err e = exprs(g, n, 1);
    return e == ERR_OK ? gen_emit(g, I_CALL_BUILTIN, (uint8_t)argc, (uint16_t)builtin, 0) : e;
}

static enum err call(struct gen *g, const struct node *n)
{
    uint32_t argc = n->n - 1;
    if (argc > 60) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many arguments");
    }
    if (n->kids[0] == NULL) {
        return call_function(g, n);
    }
    if (n->kids[0]->kind == N_TYPE) {
        enum err e = exprs(g, n, 1);
        return e == ERR_OK
                   ? gen_emit_name(g, I_CALL_STATIC, (uint8_t)argc, (uint16_t)n->kids[0]->type.id, n->name)
                   : e;
    }
    if (n->kids[0]->kind == N_NAME && str_is(n->kids[0]->name, "this")) {
        return call_function(g, n);
    }
    if (gen_static_type(g, n->kids[0]) == TYPE_STRING && !methods_str_has(n->name, argc)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "member method [java.lang.String, %.*s/%u] not found",
                       STR_ARG(n->name), argc);
    }
    enum err e = gen_expr(g, n->kids[0]);
    uint32_t skip = gen_here(g);
    if (e == ERR_OK && n->flag) {
        e = gen_emit(g, I_IF_NULL, 0, 0, 0);
    }
    e = e == ERR_OK ? exprs(g, n, 1) : e;
    e = e == ERR_OK ? gen_emit_name(g, I_CALL, (uint8_t)argc, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        gen_patch(g, skip);
    }
    return e;
}

static enum err logical(struct gen *g, const struct node *n)
{
    bool and = n->kind == N_AND;
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

static enum err ternary(struct gen *g, const struct node *n)
{
    enum err e = gen_condition(g, n->kids[0]);
    uint32_t otherwise = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_expr(g, n->kids[1]) : e;
    uint32_t end = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        gen_patch(g, otherwise);
        e = gen_expr(g, n->kids[2]);
    }
    if (e == ERR_OK) {
        gen_patch(g, end);
    }
    return e;
}

static enum err elvis(struct gen *g, const struct node *n)
{
    enum type_id type = gen_static_type(g, n->kids[0]);
    if (type_is_primitive(type) || (n->kids[0]->kind == N_CONST && n->kids[0]->value.kind != SV_NULL)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT,
                       "Extraneous elvis operator. LHS is a primitive or a constant.");
    }
    enum err e = gen_expr(g, n->kids[0]);
    uint32_t end = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_VALUE, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_expr(g, n->kids[1]) : e;
    if (e == ERR_OK) {
        gen_patch(g, end);
    }
    return e;
}

static enum err binary(struct gen *g, const struct node *n)
{
    const struct node *a = n->kids[0], *b = n->kids[1];
    bool by_zero = (n->op == OP_DIV || n->op == OP_REM) && b->kind == N_CONST && sv_is_whole(b->value)
                   && b->value.i == 0;
    if (by_zero && a->kind == N_CONST && sv_is_whole(a->value)) {
        return err_set(g->em, ERR_ARITHMETIC, "/ by zero");
    }
    enum type_id ta = gen_static_type(g, a), tb = gen_static_type(g, b);
    bool text = n->op == OP_ADD && (ta == TYPE_STRING || tb == TYPE_STRING);
    bool odd = ta == TYPE_BOOLEAN || tb == TYPE_BOOLEAN || ta == TYPE_STRING || tb == TYPE_STRING;
    odd = odd && ta != TYPE_DEF && tb != TYPE_DEF; /* else only running shows it */
    bool bits = n->op == OP_BAND || n->op == OP_BOR || n->op == OP_BXOR;
    if (gen_is_arithmetic(n->op) && !text && odd && !(bits && ta != TYPE_STRING && tb != TYPE_STRING)) {
        return err_set(g->em, ERR_CLASS_CAST, "Cannot apply arithmetic to types [%s] and [%s].",
                       type_name(ta), type_name(tb));
    }
    if (n->op >= OP_LT && n->op <= OP_GE && odd) {
        return err_set(g->em, ERR_CLASS_CAST, "cannot apply a comparison to the types [%s] and [%s]",
                       type_name(ta), type_name(tb));
    }
    bool null_a = a->kind == N_CONST && a->value.kind == SV_NULL,
         null_b = b->kind == N_CONST && b->value.kind == SV_NULL;
    bool equality = n->op >= OP_EQ && n->op <= OP_NOT_SAME;
    if (equality && null_a && null_b) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous comparison of [null] constants");
    }
    bool prim_a = type_is_primitive(ta), prim_b = type_is_primitive(tb);
    bool unlike = (prim_a && (null_b || tb == TYPE_STRING)) || (prim_b && (null_a || ta == TYPE_STRING))
                  || (prim_a && prim_b && (ta == TYPE_BOOLEAN) != (tb == TYPE_BOOLEAN));
    if (unlike && !text) {
        return err_set(g->em, ERR_CLASS_CAST, "Cannot cast from [%s] to [%s].", type_name(ta), type_name(tb));
    }
    enum err e = gen_expr(g, a);
    e = e == ERR_OK ? gen_expr(g, b) : e;
    return e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
}

/* ---- assignment ---- */

static enum err assign_local(struct gen *g, const struct node *n, const struct local *local)
{
    enum err e;
    if (n->op == OP_NONE) {
        e = gen_expr_as(g, n->kids[1], local->type);
    } else {
        e = gen_emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK ? gen_expr(g, n->kids[1]) : e;
        e = e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? gen_emit_type(g, I_CAST, local->type) : e;
    }
    e = e == ERR_OK ? gen_emit(g, I_DUP, 0, 0, 0) : e;
    return e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, local->slot) : e;
}

static enum err assign(struct gen *g, const struct node *n)
{
    const struct node *to = n->kids[0];
    if (to->kind == N_NAME) {
        struct local *local = gen_resolve(g, to->name);
        return local != NULL ? assign_local(g, n, local)
               : gen_context_variable(g, to->name) != VAR_NONE
                   ? gen_illegal(g, "cannot assign a value to the read-only variable", to->name)
                   : gen_illegal(g, "cannot resolve symbol", to->name);
    }
    if (to->kids[0]->kind == N_TYPE) {
        return gen_illegal(g, "cannot assign a value to a static member", to->name);
    }
    bool at = to->kind == N_INDEX;
    enum err e = gen_expr(g, to->kids[0]);
    e = e == ERR_OK && at ? gen_expr(g, to->kids[1]) : e;
    if (e == ERR_OK && n->op != OP_NONE) {
        e = gen_emit(g, at ? I_DUP2 : I_DUP, 0, 0, 0);
        e = e == ERR_OK ? (at ? gen_emit(g, I_GET_AT, 0, 0, 0) : gen_emit_name(g, I_GET, 0, 0, to->name)) : e;
    }
    e = e == ERR_OK ? gen_expr(g, n->kids[1]) : e;
    if (e == ERR_OK && n->op != OP_NONE) {
        e = gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0);
    }
    return e != ERR_OK ? e : at ? gen_emit(g, I_PUT_AT, 0, 0, 0) : gen_emit_name(g, I_PUT, 0, 0, to->name);
}

static enum err step(struct gen *g, const struct node *n)
{
    const struct node *to = n->kids[0];
    enum err e;
    if (to->kind == N_NAME) {
        struct local *local = gen_resolve(g, to->name);
        if (local == NULL) {
            return gen_illegal(g, "cannot resolve symbol", to->name);
        }
        e = gen_emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK && !n->flag ? gen_emit(g, I_DUP, 0, 0, 0) : e;
        e = e == ERR_OK ? gen_emit_const(g, sv_int(1)) : e;
        e = e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? gen_emit_type(g, I_CAST, local->type) : e;
        e = e == ERR_OK && n->flag ? gen_emit(g, I_DUP, 0, 0, 0) : e;
        return e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, local->slot) : e;
    }
    if ((to->kind != N_MEMBER && to->kind != N_INDEX) || to->kids[0]->kind == N_TYPE) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT,
                       "invalid assignment: cannot assign a value to what is no variable");
    }
    e = gen_expr(g, to->kids[0]);
    if (to->kind == N_INDEX) {
        e = e == ERR_OK ? gen_expr(g, to->kids[1]) : e;
        return e == ERR_OK ? gen_emit(g, I_STEP_AT, (uint8_t)n->op, n->flag, 0) : e;
    }
    return e == ERR_OK ? gen_emit_name(g, I_STEP, (uint8_t)n->op, n->flag, to->name) : e;
}

/* ---- functions and lambdas ---- */

static bool mentions(const struct node *n, struct str name)
{
    if (n == NULL) {
        return false;
    }
    if (n->kind == N_NAME && str_eq(n->name, name)) {
        return true;
    }
    for (uint32_t i = 0; i < n->n; i++) {
        if (mentions(n->kids[i], name)) {
            return true;
        }
    }
    return false;
}

static bool is_param(const struct node *lambda, struct str name)
{
    for (uint32_t i = 0; i < lambda->params_n; i++) {
        if (str_eq(lambda->params[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* The visible variables that the body mentions are its first parameters, bound where the lambda is made. */
static enum err lambda(struct gen *g, const struct node *n)
{
    struct scope *outer = g->scope;
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct scope *inner = ARENA_NEW(&scratch, struct scope);
    uint32_t index = 0, captured = 0, slot;
    enum err e = inner == NULL ? err_no_memory(g->em) : gen_new_code(g, &index);
    if (e == ERR_OK && ++outer->depth > 20) {
        e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "lambdas may not be nested so deeply");
    }
    for (uint32_t i = 0; e == ERR_OK && i < outer->n; i++) {
        struct local *l = &outer->local[i];
        if (is_param(n, l->name) || !mentions(n->kids[0], l->name)) {
            continue;
        }
        e = gen_emit(g, I_LOAD, 0, 0, l->slot);
        g->scope = inner;
        inner->code = index;
        e = e == ERR_OK ? gen_declare(g, l->name, l->type, &slot) : e;
        g->scope = outer;
        captured++;
    }
    if (e == ERR_OK) {
        inner->outer = outer;
        inner->code = index;
        inner->depth = outer->depth;
        g->scope = inner;
        gen_code_of(g)->captured_n = captured;
        e = gen_set_params(g, n->params, n->params_n);
        e = e == ERR_OK ? gen_stmt(g, n->kids[0], true) : e;
        e = e == ERR_OK ? gen_finish(g) : e;
        g->scope = outer;
    }
    outer->depth--;
    arena_fini(&scratch);
    return e == ERR_OK ? gen_emit(g, I_LAMBDA, (uint8_t)captured, 0, index) : e;
}

static enum err method_ref(struct gen *g, const struct node *n)
{
    const struct node *of = n->kids[0];
    if (of->kind == N_TYPE) {
        return gen_emit_name(g, I_METHOD_REF, 0, (uint16_t)of->type.id, n->name);
    }
    if (of->kind == N_NAME && str_is(of->name, "this")) {
        for (uint32_t i = 0; i < g->program->functions_n; i++) {
            if (str_eq(g->program->functions[i].name, n->name)) {
                return gen_emit(g, I_LAMBDA, 0, 0, i + 1);
            }
        }
        return gen_illegal(g, "Unknown reference", n->name);
    }
    enum err e = gen_expr(g, of);
    return e == ERR_OK ? gen_emit_name(g, I_METHOD_REF, 0, TYPE_NONE, n->name) : e;
}

static enum err new_array(struct gen *g, const struct node *n)
{
    enum err e = exprs(g, n, 0);
    return e != ERR_OK  ? e
           : n->flag    ? gen_emit(g, I_ARRAY, 0, (uint16_t)n->type.id, n->n)
           : n->n > 200 ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many dimensions")
                        : gen_emit(g, I_NEW_ARRAY, (uint8_t)n->n, (uint16_t)n->type.id, 0);
}

static enum err const_expr(struct gen *g, const struct node *n)
{
    struct sv v = n->value;
    if (v.kind == SV_PATTERN) { /* its flags ride along as bits */
        for (size_t i = 0; i < n->name.n; i++) {
            const char *at = strchr("imsxcUu", n->name.p[i]);
            if (at == NULL) {
                return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid regular expression: unknown flag [%c]",
                               n->name.p[i]);
            }
            v.aux |= 1U << (at - "imsxcUu");
        }
    }
    return gen_emit_const(g, v);
}

enum err gen_expr(struct gen *g, const struct node *n)
{
    enum err e;
    switch (n->kind) {
    case N_CONST:
        return const_expr(g, n);
    case N_NAME:
        return name(g, n);
    case N_TYPE:
        return gen_illegal(g, "cannot use a type as a value", n->name);
    case N_LIST:
        e = exprs(g, n, 0);
        return e == ERR_OK ? gen_emit(g, I_LIST, 0, 0, n->n) : e;
    case N_MAP:
        e = exprs(g, n, 0);
        return e == ERR_OK ? gen_emit(g, I_MAP, 0, 0, n->n / 2) : e;
    case N_NEW:
        e = exprs(g, n, 0);
        return e == ERR_OK
                   ? gen_emit_name(g, I_NEW, (uint8_t)MIN_OF(n->n, 200U), (uint16_t)n->type.id, n->name)
                   : e;
    case N_NEW_ARRAY:
        return new_array(g, n);
    case N_MEMBER:
        return member(g, n);
    case N_CALL:
        return call(g, n);
    case N_INDEX:
        e = exprs(g, n, 0);
        return e == ERR_OK ? gen_emit(g, I_GET_AT, 0, 0, 0) : e;
    case N_UNARY:
        if (n->op != OP_NOT) {
            enum type_id type = gen_static_type(g, n->kids[0]);
            if (type == TYPE_STRING || type == TYPE_BOOLEAN) {
                return err_set(g->em, ERR_CLASS_CAST, "cannot apply the operator to the type [%s]",
                               type_name(type));
            }
        }
        e = n->op == OP_NOT ? gen_condition(g, n->kids[0]) : gen_expr(g, n->kids[0]);
        return e == ERR_OK ? gen_emit(g, I_UNARY, (uint8_t)n->op, 0, 0) : e;
    case N_BINARY:
        return binary(g, n);
    case N_AND:
    case N_OR:
        return logical(g, n);
    case N_TERNARY:
        return ternary(g, n);
    case N_ELVIS:
        return elvis(g, n);
    case N_CAST:
        e = gen_check_cast(g, n);
        e = e == ERR_OK ? gen_expr(g, n->kids[0]) : e;
        return e == ERR_OK ? gen_emit_type(g, I_CAST, n->type) : e;
    case N_INSTANCEOF:
        e = gen_expr(g, n->kids[0]);
        return e == ERR_OK ? gen_emit_type(g, I_INSTANCEOF, n->type) : e;
    case N_ASSIGN:
        return assign(g, n);
    case N_STEP:
        return step(g, n);
    case N_LAMBDA:
        return lambda(g, n);
    case N_METHOD_REF:
        return method_ref(g, n);
    default:
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "not an expression");
    }
}
