/* Members, calls, lambdas and new objects into bytecode. */
#include "engine/script/nodes.h"
#include "engine/script/vm.h"

enum err gen_member(struct gen *g, struct node *n)
{
    enum err e = gen_check_symbol(g, n, n->off);
    if (e != ERR_OK) {
        return e;
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
    e = gen_expr(g, n->kids[0]);
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
    bool expression = str_is(g->s->lang, "expression");
    const struct builtin *b =
        expression || g->s->context == SCRIPT_SCORE ? builtin_named(n->name, expression) : NULL;
    struct allowed m;
    if (b == NULL || !allow_score_function(n->name, argc, &m)) {
        return gen_unknown_call(g, n);
    }
    gen_at(g, n->off);
    enum err e = gen_arguments(g, n, 1, &m);
    return e == ERR_OK ? gen_emit(g, I_CALL_BUILTIN, (uint8_t)argc, (uint16_t)(b - builtins), 0) : e;
}

enum err gen_call(struct gen *g, struct node *n)
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
        enum err e = known ? gen_arguments(g, n, 1, &m) : gen_exprs(g, n, 1);
        return e == ERR_OK
                   ? gen_emit_name(g, I_CALL_STATIC, (uint8_t)argc, (uint16_t)n->kids[0]->type.id, n->name)
                   : e;
    }
    struct node *of = n->kids[0];
    if (of->kind == N_NAME && str_is(of->name, "this")) {
        return call_function(g, n);
    }
    enum err e = gen_check_symbol(g, of, n->off);
    e = e == ERR_OK ? gen_expr(g, n->kids[0]) : e;
    e = e == ERR_OK ? gen_check_member(g, n, true, false) : e;
    bool known = e == ERR_OK && gen_called(g, n, &m);
    uint32_t skip = gen_here(g);
    if (e == ERR_OK && n->flag) {
        e = gen_emit(g, I_IF_NULL, 0, 0, 0);
    }
    gen_at(g, n->off);
    e = e != ERR_OK ? e : known ? gen_arguments(g, n, 1, &m) : gen_exprs(g, n, 1);
    e = e == ERR_OK ? gen_emit_name(g, I_CALL, (uint8_t)argc, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        gen_patch(g, skip);
    }
    return e;
}

/* ---- lambdas ---- */

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
enum err gen_lambda(struct gen *g, struct node *n)
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

enum err gen_method_ref(struct gen *g, struct node *n)
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

/* ---- new objects ---- */

enum err gen_new(struct gen *g, struct node *n)
{
    struct allowed m;
    bool known = allow_find(n->type, ALLOW_NEW, n->name, n->n, &m);
    if (!known && allow_class(n->type)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "constructor [%s, <init>/%u] not found",
                       type_java(n->type).s, n->n);
    }
    gen_at(g, n->off);
    enum err e = known ? gen_arguments(g, n, 0, &m) : gen_exprs(g, n, 0);
    return e == ERR_OK ? gen_emit_name(g, I_NEW, (uint8_t)MIN_OF(n->n, 200U), (uint16_t)n->type.id, n->name)
                       : e;
}

enum err gen_new_array(struct gen *g, struct node *n)
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
