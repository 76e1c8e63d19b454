/* Expressions into bytecode. */
#include "engine/script/generate.h"
#include "engine/script/vm.h"

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
                 {"randomScore", BUILTIN_RANDOM},
                 {"acosh", BUILTIN_ACOSH},
                 {"asinh", BUILTIN_ASINH},
                 {"atanh", BUILTIN_ATANH},
                 {"logn", BUILTIN_LOGN},
                 {"haversin", BUILTIN_HAVERSIN}};
    bool expression = str_is(g->s->lang, "expression");
    for (size_t i = 0; (expression || g->s->context == SCRIPT_SCORE) && i < ARRAY_LEN(table); i++) {
        if (str_is(name, table[i].name) && expression == (table[i].id >= BUILTIN_ACOSH)) {
            return table[i].id;
        }
    }
    return BUILTIN_NONE;
}

static enum err ternary(struct gen *g, struct node *n, const struct type *to, unsigned how);
static enum err elvis(struct gen *g, struct node *n, const struct type *to, unsigned how);

/* A cast that is written down is told where what it casts is. */
static uint32_t told_at(const struct node *n)
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
        gen_at(g, told_at(n));
    }
    if ((how & AS_PASSED) != 0 && gen_boxes(gen_static_type(g, n), to)) {
        to.id = gen_unboxed(to.id);
    }
    if (any) {
        return ERR_OK;
    }
    gen_at(g, told_at(n));
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

static enum err exprs(struct gen *g, struct node *n, uint32_t from)
{
    enum err e = ERR_OK;
    for (uint32_t i = from; i < n->n && e == ERR_OK; i++) {
        e = gen_expr(g, n->kids[i]);
    }
    return e;
}

static enum err name(struct gen *g, struct node *n)
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
        if (type_of_name(n->name) != TYPE_NONE) {
            return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "value required: instead found unexpected type [%s]",
                           type_java(type_called(n->name)).s);
        }
        return gen_illegal(g, "cannot resolve symbol", n->name);
    }
}

static enum err member(struct gen *g, struct node *n)
{
    struct node *of = n->kids[0];
    if (of->kind == N_NAME && gen_resolve(g, of->name) == NULL
        && gen_context_variable(g, of->name) == VAR_NONE) {
        return gen_placed(g,
                          err_set(g->em, ERR_ILLEGAL_ARGUMENT, "cannot resolve symbol [%.*s.%.*s]",
                                  STR_ARG(of->name), STR_ARG(n->name)),
                          n->off);
    }
    if (n->kids[0]->kind == N_TYPE) {
        struct script_run probe = {.em = g->em};
        struct sv ignored;
        gen_at(g, n->off);
        arena_init(&probe.mem, NULL, 64 * KIB);
        bool known = vm_static_field(&probe, n->kids[0]->type.id, n->name, &ignored) == ERR_OK;
        arena_fini(&probe.mem);
        if (!known) {
            return gen_no_field(g, n->kids[0]->type, n->name);
        }
        return gen_emit_name(g, I_GET_STATIC, 0, (uint16_t)n->kids[0]->type.id, n->name);
    }
    enum err e = gen_expr(g, n->kids[0]);
    e = e == ERR_OK ? gen_check_member(g, n, false, false) : e;
    uint32_t skip = gen_here(g);
    if (e == ERR_OK && n->flag) {
        e = gen_emit(g, I_IF_NULL, 0, 0, 0);
    }
    gen_at(g, n->off);
    e = e == ERR_OK ? gen_emit_name(g, I_GET, 0, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        gen_patch(g, skip);
    }
    return e;
}

static enum err call_function(struct gen *g, struct node *n)
{
    uint32_t argc = n->n - 1;
    const struct function *f = gen_function(g, n);
    if (f != NULL) {
        enum err e = ERR_OK;
        gen_at(g, n->off);
        for (uint32_t k = 0; k < argc && e == ERR_OK; k++) {
            e = gen_expr_passed(g, n->kids[k + 1], f->params[k].type);
        }
        uint32_t index = (uint32_t)(f - g->program->functions);
        return e == ERR_OK ? gen_emit(g, I_CALL_FUNCTION, (uint8_t)argc, 0, index + 1) : e;
    }
    enum builtin builtin = builtin_of(g, n->name);
    struct allowed m;
    if (builtin == BUILTIN_NONE || !allow_score_function(n->name, argc, &m)) {
        return gen_unknown_call(g, n);
    }
    gen_at(g, n->off);
    enum err e = gen_arguments(g, n, 1, &m);
    return e == ERR_OK ? gen_emit(g, I_CALL_BUILTIN, (uint8_t)argc, (uint16_t)builtin, 0) : e;
}

static enum err call(struct gen *g, struct node *n)
{
    uint32_t argc = n->n - 1;
    struct allowed m;
    if (argc > 60) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many arguments");
    }
    if (n->kids[0] == NULL) {
        return call_function(g, n);
    }
    if (n->kids[0]->kind == N_TYPE) {
        gen_at(g, n->off);
        bool known = gen_called(g, n, &m);
        if (!known && allow_class(n->kids[0]->type)) {
            return gen_no_method(g, "static", n->kids[0]->type, n->name, argc);
        }
        enum err e = known ? gen_arguments(g, n, 1, &m) : exprs(g, n, 1);
        return e == ERR_OK
                   ? gen_emit_name(g, I_CALL_STATIC, (uint8_t)argc, (uint16_t)n->kids[0]->type.id, n->name)
                   : e;
    }
    struct node *of = n->kids[0];
    if (of->kind == N_NAME && str_is(of->name, "this")) {
        return call_function(g, n);
    }
    if (of->kind == N_NAME && gen_resolve(g, of->name) == NULL
        && gen_context_variable(g, of->name) == VAR_NONE) {
        return gen_illegal(g, "cannot resolve symbol", of->name);
    }
    enum err e = gen_expr(g, n->kids[0]);
    e = e == ERR_OK ? gen_check_member(g, n, true, false) : e;
    bool known = e == ERR_OK && gen_called(g, n, &m);
    uint32_t skip = gen_here(g);
    if (e == ERR_OK && n->flag) {
        e = gen_emit(g, I_IF_NULL, 0, 0, 0);
    }
    gen_at(g, n->off);
    e = e != ERR_OK ? e : known ? gen_arguments(g, n, 1, &m) : exprs(g, n, 1);
    e = e == ERR_OK ? gen_emit_name(g, I_CALL, (uint8_t)argc, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        gen_patch(g, skip);
    }
    return e;
}

static enum err logical(struct gen *g, struct node *n)
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

/* One of two values: converted to what is asked for; else it is told that both have no type in common. */
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

/* Operations on constants of the source are done by the compiler: no place in the code is theirs. */
static bool is_folded(const struct node *n)
{
    return n->kind == N_CONST && (sv_is_number(n->value) || n->value.kind == SV_BOOL);
}

static enum err binary(struct gen *g, struct node *n)
{
    struct node *a = n->kids[0], *b = n->kids[1];
    uint32_t before = g->line;
    bool by_zero = (n->op == OP_DIV || n->op == OP_REM) && b->kind == N_CONST && sv_is_whole(b->value)
                   && b->value.i == 0;
    if (by_zero && a->kind == N_CONST && sv_is_whole(a->value)) {
        return err_set(g->em, ERR_ARITHMETIC, "/ by zero");
    }
    bool equality = n->op >= OP_EQ && n->op <= OP_NOT_SAME;
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

static enum err unary(struct gen *g, struct node *n)
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

/* ---- assignment ---- */

/* The right side of an assignment that computes: with a value of any class, it becomes one of those, too. */
static enum err gen_operand(struct gen *g, struct node *n, enum type_id with)
{
    enum err e = gen_expr(g, n);
    if (with == TYPE_DEF && gen_static_type(g, n) != TYPE_DEF) {
        gen_at(g, n->off);
    }
    return e;
}

/* What a text is added to (x += 'a') has to be one already: the value on the stack, of a type that the compiler knows or not. */
static enum err gen_added_to(struct gen *g, struct node *n, struct type left)
{
    const struct type text = {.id = TYPE_STRING};
    if (n->op != OP_ADD || left.id == TYPE_STRING || left.id == TYPE_OBJECT
        || gen_static_type(g, n->kids[1]) != TYPE_STRING) {
        return ERR_OK;
    }
    return left.id != TYPE_DEF ? gen_placed(g, gen_cannot_cast(g, left, text), n->off)
                               : gen_emit_type(g, I_CONVERT, text);
}

static enum err assign_local(struct gen *g, struct node *n, const struct local *local)
{
    enum err e;
    if (n->op == OP_NONE) {
        e = gen_expr_as(g, n->kids[1], local->type);
    } else {
        gen_at(g, n->off);
        e = gen_emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK ? gen_added_to(g, n, local->type) : e;
        e = e == ERR_OK ? gen_operand(g, n->kids[1], local->type.id) : e;
        e = e == ERR_OK ? gen_check_operands(g, n, n->kids[0], n->kids[1]) : e;
        e = e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? gen_emit_type(g, I_CAST, local->type) : e;
    }
    e = e == ERR_OK ? gen_emit(g, I_DUP, 0, 0, 0) : e;
    return e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, local->slot) : e;
}

/* What has elements takes numbers for them; a map takes anything. */
static enum err index_of(struct gen *g, struct node *n)
{
    enum err e = gen_expr(g, n->kids[0]);
    struct type t = e == ERR_OK ? gen_type_of(g, n->kids[0]) : (struct type){.id = TYPE_DEF};
    bool list = t.dims > 0 || t.id == TYPE_LIST;
    if (e == ERR_OK && !list && t.id != TYPE_DEF && t.id != TYPE_MAP) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Illegal array access on type [%s].", type_java(t).s);
    }
    e = e == ERR_OK ? gen_expr(g, n->kids[1]) : e;
    return e == ERR_OK && list ? gen_check_cast(g, n->kids[1], (struct type){.id = TYPE_INT}, AS_ASSIGNED)
                               : e;
}

/* Where what is read from or written to a member or element is told. */
static uint32_t target_off(struct gen *g, struct node *to)
{
    return to->kind == N_INDEX && gen_static_type(g, to->kids[0]) == TYPE_MAP ? to->kids[1]->off : to->off;
}

static enum err assign(struct gen *g, struct node *n)
{
    struct node *to = n->kids[0];
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
    enum err e = at ? index_of(g, to) : gen_expr(g, to->kids[0]);
    e = e == ERR_OK && !at ? gen_placed(g, gen_check_member(g, to, false, true), to->off) : e;
    struct type element = at ? gen_type_of(g, to) : (struct type){.id = TYPE_DEF};
    if (e == ERR_OK && n->op != OP_NONE) {
        e = gen_emit(g, at ? I_DUP2 : I_DUP, 0, 0, 0);
        gen_at(g, target_off(g, to));
        e = e == ERR_OK ? (at ? gen_emit(g, I_GET_AT, 0, 0, 0) : gen_emit_name(g, I_GET, 0, 0, to->name)) : e;
        e = e == ERR_OK ? gen_added_to(g, n, element) : e;
    }
    e = e == ERR_OK ? gen_operand(g, n->kids[1], n->op != OP_NONE ? TYPE_DEF : TYPE_OBJECT) : e;
    if (e == ERR_OK && n->op != OP_NONE) {
        e = gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0);
    } else if (e == ERR_OK) {
        e = gen_check_cast(g, n->kids[1], element, AS_ASSIGNED);
    }
    gen_at(g, target_off(g, to));
    return e != ERR_OK ? e : at ? gen_emit(g, I_PUT_AT, 0, 0, 0) : gen_emit_name(g, I_PUT, 0, 0, to->name);
}

static enum err step(struct gen *g, struct node *n)
{
    struct node *to = n->kids[0];
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
        gen_at(g, target_off(g, to));
        return e == ERR_OK ? gen_emit(g, I_STEP_AT, (uint8_t)n->op, n->flag, 0) : e;
    }
    gen_at(g, to->off);
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
static enum err lambda(struct gen *g, struct node *n)
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
    gen_at(g, n->off);
    return e == ERR_OK ? gen_emit(g, I_LAMBDA, (uint8_t)captured, 0, index) : e;
}

static enum err method_ref(struct gen *g, struct node *n)
{
    struct node *of = n->kids[0];
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
    gen_at(g, n->off);
    return e == ERR_OK ? gen_emit_name(g, I_METHOD_REF, 0, TYPE_NONE, n->name) : e;
}

static enum err new_object(struct gen *g, struct node *n)
{
    struct allowed m;
    bool known = allow_find(n->type, ALLOW_NEW, n->name, n->n, &m);
    if (!known && allow_class(n->type)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "constructor [%s, <init>/%u] not found",
                       type_java(n->type).s, n->n);
    }
    gen_at(g, n->off);
    enum err e = known ? gen_arguments(g, n, 0, &m) : exprs(g, n, 0);
    return e == ERR_OK ? gen_emit_name(g, I_NEW, (uint8_t)MIN_OF(n->n, 200U), (uint16_t)n->type.id, n->name)
                       : e;
}

static enum err new_array(struct gen *g, struct node *n)
{
    gen_at(g, n->off);
    struct type of = n->flag ? n->type : (struct type){.id = TYPE_INT};
    of.dims = n->flag ? (uint8_t)(of.dims - 1) : 0;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n->n && e == ERR_OK; i++) {
        e = gen_expr(g, n->kids[i]);
        e = e == ERR_OK ? gen_check_cast(g, n->kids[i], of, n->flag ? AS_PASSED : AS_ASSIGNED) : e;
    }
    return e != ERR_OK  ? e
           : n->flag    ? gen_emit(g, I_ARRAY, 0, (uint16_t)n->type.id, n->n)
           : n->n > 200 ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many dimensions")
                        : gen_emit(g, I_NEW_ARRAY, (uint8_t)n->n, (uint16_t)n->type.id, 0);
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

static enum err const_expr(struct gen *g, struct node *n)
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

static enum err expr(struct gen *g, struct node *n)
{
    enum err e;
    switch (n->kind) {
    case N_CONST:
        return const_expr(g, n);
    case N_NAME:
        return name(g, n);
    case N_TYPE:
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "value required: instead found unexpected type [%s]",
                       type_java(n->type).s);
    case N_LIST:
        gen_at(g, n->off);
        e = elements(g, n);
        return e == ERR_OK ? gen_emit(g, I_LIST, 0, 0, n->n) : e;
    case N_MAP:
        gen_at(g, n->off);
        e = elements(g, n);
        return e == ERR_OK ? gen_emit(g, I_MAP, 0, 0, n->n / 2) : e;
    case N_NEW:
        return new_object(g, n);
    case N_NEW_ARRAY:
        return new_array(g, n);
    case N_MEMBER:
        return member(g, n);
    case N_CALL:
        return call(g, n);
    case N_INDEX:
        e = index_of(g, n);
        gen_at(g, target_off(g, n));
        e = e == ERR_OK ? gen_emit(g, I_GET_AT, 0, 0, 0) : e;
        gen_at(g, n->off);
        return e;
    case N_UNARY:
        return unary(g, n);
    case N_BINARY:
        return binary(g, n);
    case N_AND:
    case N_OR:
        return logical(g, n);
    case N_TERNARY:
        return ternary(g, n, NULL, AS_ASSIGNED);
    case N_ELVIS:
        return elvis(g, n, NULL, AS_ASSIGNED);
    case N_CAST:
        return gen_expr_to(g, n->kids[0], n->type, AS_WRITTEN);
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

enum err gen_expr(struct gen *g, struct node *n)
{
    return gen_placed(g, expr(g, n), n->off);
}
