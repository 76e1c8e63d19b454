/* Statements, functions and whole programs into bytecode. */
#include "engine/script/nodes.h"

/* Does every way through a statement end in one that leaves, or (as the last one of its function) in one that gives a value? */
static bool every_way(const struct node *n, bool leaves)
{
    if (n == NULL) {
        return false;
    }
    if (n->kind == S_BLOCK) {
        return n->n > 0 && every_way(n->kids[n->n - 1], leaves);
    }
    if (n->kind == S_IF) {
        return n->n > 2 && every_way(n->kids[1], leaves) && every_way(n->kids[2], leaves);
    }
    bool all = n->kind == S_TRY;
    for (uint32_t i = 0; all && i < n->n; i += 2) { /* the body, then what follows each variable */
        all = every_way(n->kids[i], leaves);
    }
    return all || (leaves ? nodes[n->kind].leaves : nodes[n->kind].gives);
}

bool gen_leaves(const struct node *n)
{
    return every_way(n, true);
}

enum err gen_block(struct gen *g, struct node *n, bool last)
{
    uint32_t names = g->scope->n;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n->n && e == ERR_OK; i++) {
        e = gen_stmt(g, n->kids[i], last && i + 1 == n->n);
        if (e == ERR_OK && i + 1 < n->n && (gen_leaves(n->kids[i]) || n->kids[i]->kind == S_CONTINUE)) {
            return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid block: unreachable statement");
        }
    }
    if (!n->flag) {
        g->scope->n = names;
    }
    return e;
}

/* Where the return is not written down, both ways of a condition have a type of their own. */
static enum err return_value(struct gen *g, struct node *n, bool written)
{
    struct type to = gen_result_type(g);
    enum err e = written ? gen_expr_passed(g, n, to) : gen_expr_given(g, n, to);
    return e == ERR_OK ? gen_emit(g, I_RETURN, 0, 0, 0) : e;
}

/* An update, and the like, gives nothing back: what it returned would be lost. */
static enum err return_nothing(struct gen *g, struct node *n)
{
    struct type from = gen_type_of(g, n), none = {.id = TYPE_VOID};
    if (n->kind == N_CONST && n->value.kind == SV_NULL) {
        enum err e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot cast null to a primitive type [void].");
        return gen_placed(g, e, n->off);
    }
    return from.id != TYPE_DEF ? gen_placed(g, gen_cannot_cast(g, from, none), n->off)
                               : return_value(g, n, true);
}

enum err gen_expression(struct gen *g, struct node *n, bool last)
{
    struct node *x = n->kids[0];
    char unused[200];
    enum err e = gen_statement(g, n->off);
    if (e != ERR_OK) {
        return e;
    }
    bool update = g->scope->code == 0 && script_gives_nothing(g->s->context);
    bool void_function = g->scope->code != 0 && gen_result_type(g).id == TYPE_VOID;
    if (last && !update && !void_function && gen_type_of(g, x).id != TYPE_VOID) {
        return return_value(g, x, false);
    }
    if (x->kind == N_NAME && gen_resolve(g, x->name) == NULL && gen_context_variable(g, x->name) == NULL
        && type_of_name(x->name) == TYPE_NONE) {
        return gen_placed(g, gen_illegal(g, "cannot resolve symbol", x->name), x->off);
    }
    if (!nodes[x->kind].effect) {
        node_unused(x, unused, sizeof(unused));
        e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "not a statement: %s", unused);
        return gen_placed(g, e, x->off);
    }
    e = gen_expr(g, x);
    return e == ERR_OK ? gen_emit(g, I_POP, 0, 0, 0) : e;
}

enum err gen_declaration(struct gen *g, struct node *n, UNUSED bool last)
{
    uint32_t slot = 0;
    enum err e = gen_statement(g, n->off);
    if (e != ERR_OK) {
        return e;
    }
    if (n->n > 0 && n->kids[0] != NULL) {
        e = gen_expr_as(g, n->kids[0], n->type);
    } else { /* variables begin as zero, false or null */
        enum sv_kind kind =
            n->type.dims == 0 && type_is_primitive(n->type.id) ? type_kind(n->type.id) : SV_NULL;
        struct sv zero = kind == SV_BOOL   ? sv_bool(false)
                         : kind == SV_NULL ? sv_null()
                                           : sv_to_kind(sv_int(0), kind);
        e = gen_emit_const(g, zero);
    }
    e = e == ERR_OK ? gen_declare(g, n->name, n->type, &slot) : e;
    return e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, slot) : e;
}

enum err gen_if(struct gen *g, struct node *n, bool last)
{
    if (n->kids[0]->kind == N_CONST && n->kids[0]->value.kind == SV_BOOL) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous if block");
    }
    enum err e = gen_statement(g, n->off);
    e = e == ERR_OK ? gen_condition(g, n->kids[0]) : e;
    uint32_t otherwise = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_stmt(g, n->kids[1], last) : e;
    if (e == ERR_OK && n->n > 2) {
        uint32_t end = gen_here(g);
        e = gen_emit(g, I_JUMP, 0, 0, 0);
        if (e == ERR_OK) {
            gen_patch(g, otherwise);
            e = gen_stmt(g, n->kids[2], last);
        }
        otherwise = end;
    }
    if (e == ERR_OK) {
        gen_patch(g, otherwise);
    }
    return e;
}

enum err gen_try(struct gen *g, struct node *n, bool last)
{
    enum err e = gen_statement(g, n->off);
    uint32_t ends[32], ends_n = 0, handler = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_TRY, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_stmt(g, n->kids[0], last) : e;
    e = e == ERR_OK ? gen_emit(g, I_END_TRY, 0, 0, 0) : e;
    ends[ends_n++] = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        gen_patch(g, handler);
    }
    for (uint32_t i = 1; i + 1 < n->n && e == ERR_OK && ends_n < ARRAY_LEN(ends); i += 2) {
        struct node *d = n->kids[i];
        uint32_t names = g->scope->n, slot = 0;
        e = gen_emit_name(g, I_CAUGHT, 0, (uint16_t)d->type.id, d->value.s);
        uint32_t next = gen_here(g);
        e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
        e = e == ERR_OK ? gen_declare(g, d->name, (struct type){.id = TYPE_DEF}, &slot) : e;
        e = e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, slot) : e;
        e = e == ERR_OK ? gen_stmt(g, n->kids[i + 1], last) : e;
        ends[ends_n++] = gen_here(g);
        e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, 0) : e;
        if (e == ERR_OK) {
            gen_patch(g, next);
        }
        g->scope->n = names;
    }
    e = e == ERR_OK ? gen_emit(g, I_THROW, 1, 0, 0) : e; /* none of them: on it goes */
    for (uint32_t i = 0; i < ends_n && e == ERR_OK; i++) {
        gen_patch(g, ends[i]);
    }
    return e;
}

enum err gen_return(struct gen *g, struct node *n, UNUSED bool last)
{
    bool update = g->scope->code == 0 && script_gives_nothing(g->s->context);
    enum err e = gen_statement(g, n->off);
    if (e == ERR_OK && n->n > 0) {
        return update ? return_nothing(g, n->kids[0]) : return_value(g, n->kids[0], true);
    }
    if (e == ERR_OK && gen_result_type(g).id != TYPE_VOID && !update) {
        return err_set(g->em, ERR_CLASS_CAST, "cannot cast from [def] to [void]");
    }
    return e == ERR_OK ? gen_finish(g) : e;
}

enum err gen_throw(struct gen *g, struct node *n, UNUSED bool last)
{
    enum err e = gen_statement(g, n->off);
    e = e == ERR_OK ? gen_expr(g, n->kids[0]) : e;
    e = e == ERR_OK ? gen_check_cast(g, n->kids[0], type_called(STR("Exception")), AS_ASSIGNED) : e;
    return e == ERR_OK ? gen_emit(g, I_THROW, 0, 0, 0) : e;
}

enum err gen_stmt(struct gen *g, struct node *n, bool last)
{
    return gen_placed(g, nodes[n->kind].stmt(g, n, last), n->off);
}

static bool assigns(const struct node *n, struct str name)
{
    if (n == NULL || n->kind == N_LAMBDA) {
        return false;
    }
    if ((n->kind == N_ASSIGN || n->kind == N_STEP) && n->kids[0]->kind == N_NAME
        && str_eq(n->kids[0]->name, name)) {
        return true;
    }
    for (uint32_t i = 0; i < n->n; i++) {
        if (assigns(n->kids[i], name)) {
            return true;
        }
    }
    return false;
}

/* What the script is given are variables of its own: one that it assigns to becomes one, and nobody else sees that. */
static enum err own_variables(struct gen *g, struct node *statements)
{
    for (size_t i = 0; i < variables_n; i++) {
        struct str name = str_of(variables[i].name);
        struct node read = {.kind = N_NAME, .name = name};
        uint32_t slot = 0;
        if (!variables[i].own || gen_context_variable(g, name) != &variables[i]
            || !assigns(statements, name)) {
            continue;
        }
        enum err e = gen_expr(g, &read);
        e = e == ERR_OK ? gen_declare(g, name, gen_variable_type(&variables[i]), &slot) : e;
        e = e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, slot) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err body(struct gen *g, uint32_t code, const struct param *params, uint32_t n,
                     struct node *statements)
{
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct scope *scope = ARENA_NEW(&scratch, struct scope);
    enum err e = scope == NULL ? err_no_memory(g->em) : ERR_OK;
    if (e == ERR_OK) {
        scope->code = code;
        g->scope = scope;
        gen_at(g, OFF_UNKNOWN);
        e = gen_set_params(g, params, n);
        e = e == ERR_OK && code == 0 ? own_variables(g, statements) : e;
        e = e == ERR_OK ? gen_stmt(g, statements, code == 0) : e;
        e = e == ERR_OK ? gen_finish(g) : e;
    }
    g->scope = NULL;
    arena_fini(&scratch);
    return e;
}

enum err script_generate(struct script *s, const struct program *program, struct errmsg *em)
{
    struct gen g = {.s = s, .program = program, .em = em};
    uint32_t index = 0;
    enum err e = gen_new_code(&g, &index);
    for (uint32_t i = 0; i < program->functions_n && e == ERR_OK;
         i++) { /* their numbers are known before any is compiled */
        e = gen_new_code(&g, &index);
        s->code[i + 1].type = program->functions[i].type;
    }
    for (uint32_t i = 0; i < program->functions_n && e == ERR_OK; i++) {
        const struct function *f = &program->functions[i];
        if (f->body->n == 0 || (f->type.id != TYPE_VOID && !every_way(f->body, false))) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                        "invalid function definition: %s for function [%.*s] with [%u] parameters",
                        f->body->n == 0 ? "found no statements" : "not all paths provide a return value",
                        STR_ARG(f->name), f->params_n);
            return gen_placed(&g, e, f->off);
        }
        e = body(&g, i + 1, f->params, f->params_n, f->body);
    }
    if (e == ERR_OK && program->body->n == 0 && !script_gives_nothing(s->context)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "unexpected end of script.");
        return gen_placed(&g, e, 0);
    }
    return e == ERR_OK ? body(&g, 0, NULL, 0, program->body) : e;
}
