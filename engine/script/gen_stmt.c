/* Statements, functions and whole programs into bytecode. */
#include "engine/script/generate.h"

static bool leaves(const struct node *n)
{
    switch (n->kind) {
    case S_RETURN:
    case S_BREAK:
    case S_THROW:
        return true;
    case S_BLOCK:
        return n->n > 0 && leaves(n->kids[n->n - 1]);
    case S_IF:
        return n->n > 2 && leaves(n->kids[1]) && leaves(n->kids[2]);
    case S_TRY: /* the body, then what follows each variable */
        for (uint32_t i = 0; i < n->n; i += 2) {
            if (!leaves(n->kids[i])) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

static enum err block(struct gen *g, struct node *n, bool last)
{
    uint32_t names = g->scope->n;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n->n && e == ERR_OK; i++) {
        e = gen_stmt(g, n->kids[i], last && i + 1 == n->n);
        if (e == ERR_OK && i + 1 < n->n && (leaves(n->kids[i]) || n->kids[i]->kind == S_CONTINUE)) {
            return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid block: unreachable statement");
        }
    }
    if (!n->flag) {
        g->scope->n = names;
    }
    return e;
}

static bool has_effect(const struct node *n)
{
    return n->kind == N_ASSIGN || n->kind == N_STEP || n->kind == N_CALL || n->kind == N_NEW;
}

/* Where the return is not written down, both ways of a condition have a type of their own. */
static enum err return_value(struct gen *g, struct node *n, bool written)
{
    struct type to = gen_result_type(g);
    enum err e = written ? gen_expr_passed(g, n, to) : gen_expr_given(g, n, to);
    return e == ERR_OK ? gen_emit(g, I_RETURN, 0, 0, 0) : e;
}

/* An update gives nothing back: what it returned would be lost. */
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

static enum err expression_statement(struct gen *g, struct node *n, bool last)
{
    struct node *x = n->kids[0];
    char unused[200];
    enum err e = gen_statement(g, n->off);
    if (e != ERR_OK) {
        return e;
    }
    bool update = g->s->context == SCRIPT_UPDATE && g->scope->code == 0;
    bool void_function = g->scope->code != 0 && gen_result_type(g).id == TYPE_VOID;
    if (last && !update && !void_function && gen_type_of(g, x).id != TYPE_VOID) {
        return return_value(g, x, false);
    }
    if (x->kind == N_NAME && gen_resolve(g, x->name) == NULL && gen_context_variable(g, x->name) == VAR_NONE
        && type_of_name(x->name) == TYPE_NONE) {
        return gen_placed(g, gen_illegal(g, "cannot resolve symbol", x->name), x->off);
    }
    if (!has_effect(x)) {
        node_unused(x, unused, sizeof(unused));
        e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "not a statement: %s", unused);
        return gen_placed(g, e, x->off);
    }
    e = gen_expr(g, x);
    return e == ERR_OK ? gen_emit(g, I_POP, 0, 0, 0) : e;
}

static enum err declaration(struct gen *g, struct node *n)
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

static enum err if_statement(struct gen *g, struct node *n, bool last)
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

struct loop {
    uint32_t breaks, continues;
    bool outer;
};

static struct loop loop_begin(struct gen *g)
{
    struct loop l = {g->scope->breaks_n, g->scope->continues_n, g->scope->in_loop};
    g->scope->in_loop = true;
    return l;
}

static void loop_continues(struct gen *g, const struct loop *l)
{
    while (g->scope->continues_n > l->continues) {
        gen_patch(g, g->scope->continues[--g->scope->continues_n]);
    }
}

static void loop_end(struct gen *g, const struct loop *l)
{
    while (g->scope->breaks_n > l->breaks) {
        gen_patch(g, g->scope->breaks[--g->scope->breaks_n]);
    }
    g->scope->in_loop = l->outer;
}

static enum err jump_out(struct gen *g, bool is_break)
{
    struct scope *s = g->scope;
    uint32_t *n = is_break ? &s->breaks_n : &s->continues_n;
    if (!s->in_loop) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid %s statement: not inside loop",
                       is_break ? "break" : "continue");
    }
    if (*n == ARRAY_LEN(s->breaks)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many jumps out of a loop");
    }
    (is_break ? s->breaks : s->continues)[(*n)++] = gen_here(g);
    return gen_emit(g, I_JUMP, 0, 0, 0);
}

static bool continues(const struct node *n)
{
    bool any = n != NULL && n->kind == S_CONTINUE;
    for (uint32_t i = 0; n != NULL && i < n->n && !any; i++) {
        any = continues(n->kids[i]);
    }
    return any;
}

/* A loop whose body is never run twice, or not at all, is none. */
static enum err check_loop(struct gen *g, struct node *cond, struct node *body, const char *name)
{
    bool never = cond != NULL && cond->kind == N_CONST && cond->value.kind == SV_BOOL && !cond->value.b;
    return never || (leaves(body) && !continues(body))
               ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous %s loop", name)
               : ERR_OK;
}

static enum err while_loop(struct gen *g, struct node *n)
{
    struct node *cond = n->kids[0], *body = n->kids[1];
    if (cond->kind == N_CONST && cond->value.kind == SV_BOOL && cond->value.b && body->n == 0) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "no paths escape from while loop");
    }
    if (check_loop(g, cond, body, "while") != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    struct loop l = loop_begin(g);
    enum err e = gen_statement(g, n->off);
    uint32_t top = gen_here(g);
    e = e == ERR_OK ? gen_condition(g, cond) : e;
    uint32_t out = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_stmt(g, body, false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        gen_at(g, n->off);
        e = gen_emit(g, I_JUMP, 0, 0, top);
    }
    if (e == ERR_OK) {
        gen_patch(g, out);
        loop_end(g, &l);
    }
    return e;
}

static enum err do_loop(struct gen *g, struct node *n)
{
    struct loop l = loop_begin(g);
    enum err e = gen_statement(g, n->off);
    uint32_t top = gen_here(g);
    e = e == ERR_OK ? gen_stmt(g, n->kids[0], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = gen_condition(g, n->kids[1]);
    }
    gen_at(g, n->off);
    e = e == ERR_OK ? gen_emit(g, I_IF, 0, 0, top) : e;
    if (e == ERR_OK) {
        loop_end(g, &l);
    }
    return e;
}

static enum err for_loop(struct gen *g, struct node *n)
{
    uint32_t names = g->scope->n, out = 0;
    struct loop l = loop_begin(g);
    if (check_loop(g, n->kids[1], n->kids[3], "for") != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    enum err e = gen_statement(g, n->off);
    e = e == ERR_OK && n->kids[0] != NULL ? gen_stmt(g, n->kids[0], false) : e;
    uint32_t top = gen_here(g);
    if (e == ERR_OK && n->kids[1] != NULL) {
        e = gen_condition(g, n->kids[1]);
        out = gen_here(g);
        e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    }
    e = e == ERR_OK ? gen_stmt(g, n->kids[3], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = n->kids[2] != NULL ? gen_stmt(g, n->kids[2], false) : ERR_OK;
    }
    gen_at(g, n->off);
    e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, top) : e;
    if (e == ERR_OK) {
        if (n->kids[1] != NULL) {
            gen_patch(g, out);
        }
        loop_end(g, &l);
    }
    g->scope->n = names;
    return e;
}

static enum err check_iterable(struct gen *g, struct node *n)
{
    struct type t = gen_type_of(g, n);
    bool can =
        t.dims > 0 || t.id == TYPE_DEF || (gen_is_ref(t) && allow_descends(t, type_called(STR("Iterable"))));
    return can ? ERR_OK
               : err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid foreach loop: cannot iterate over type [%s].",
                         type_java(t).s);
}

/* The iterator waits in a slot of its own, so that jumps out of the loop leave nothing on the stack. */
static enum err each_loop(struct gen *g, struct node *n)
{
    uint32_t names = g->scope->n, slot = 0, iterator = 0;
    if (n->kids[1]->n == 0) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous foreach loop");
    }
    if (check_loop(g, NULL, n->kids[1], "foreach") != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    enum err e = gen_statement(g, n->off);
    e = e == ERR_OK ? gen_expr(g, n->kids[0]) : e;
    e = e == ERR_OK ? check_iterable(g, n->kids[0]) : e;
    struct loop l = loop_begin(g);
    e = e == ERR_OK ? gen_emit(g, I_ITERATE, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_declare(g, STR("#iterator"), (struct type){.id = TYPE_DEF}, &iterator) : e;
    if (e == ERR_OK) {
        g->scope->local[g->scope->n - 1].name = STR_NULL; /* no name: nested loops have their own */
        e = gen_emit(g, I_STORE, 0, 0, iterator);
    }
    e = e == ERR_OK ? gen_declare(g, n->name, n->type, &slot) : e;
    uint32_t top = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_LOAD, 0, 0, iterator) : e;
    uint32_t next = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_NEXT, 0, 0, 0) : e;
    e = e == ERR_OK && n->type.id != TYPE_DEF ? gen_emit_type(g, I_CONVERT, n->type) : e;
    e = e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, slot) : e;
    e = e == ERR_OK ? gen_stmt(g, n->kids[1], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        gen_at(g, n->off);
        e = gen_emit(g, I_JUMP, 0, 0, top);
    }
    if (e == ERR_OK) {
        gen_patch(g, next);
        loop_end(g, &l);
    }
    g->scope->n = names;
    return e;
}

static enum err try_statement(struct gen *g, struct node *n, bool last)
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

static enum err return_statement(struct gen *g, struct node *n)
{
    bool update = g->scope->code == 0 && g->s->context == SCRIPT_UPDATE;
    enum err e = gen_statement(g, n->off);
    if (e == ERR_OK && n->n > 0) {
        return update ? return_nothing(g, n->kids[0]) : return_value(g, n->kids[0], true);
    }
    if (e == ERR_OK && gen_result_type(g).id != TYPE_VOID && !update) {
        return err_set(g->em, ERR_CLASS_CAST, "cannot cast from [def] to [void]");
    }
    return e == ERR_OK ? gen_finish(g) : e;
}

static enum err statement(struct gen *g, struct node *n, bool last)
{
    enum err e;
    switch (n->kind) {
    case S_BLOCK:
        return block(g, n, last);
    case S_EXPR:
        return expression_statement(g, n, last);
    case S_DECLARE:
        return declaration(g, n);
    case S_IF:
        return if_statement(g, n, last);
    case S_WHILE:
        return while_loop(g, n);
    case S_DO:
        return do_loop(g, n);
    case S_FOR:
        return for_loop(g, n);
    case S_EACH:
        return each_loop(g, n);
    case S_RETURN:
        return return_statement(g, n);
    case S_BREAK:
    case S_CONTINUE:
        return jump_out(g, n->kind == S_BREAK);
    case S_THROW:
        e = gen_statement(g, n->off);
        e = e == ERR_OK ? gen_expr(g, n->kids[0]) : e;
        e = e == ERR_OK ? gen_check_cast(g, n->kids[0], type_called(STR("Exception")), AS_ASSIGNED) : e;
        return e == ERR_OK ? gen_emit(g, I_THROW, 0, 0, 0) : e;
    case S_TRY:
        return try_statement(g, n, last);
    default:
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "not a statement");
    }
}

enum err gen_stmt(struct gen *g, struct node *n, bool last)
{
    return gen_placed(g, statement(g, n, last), n->off);
}

/* Does every way through a statement, the last of its function, give a value? */
static bool gives(const struct node *n)
{
    if (n == NULL) {
        return false;
    }
    switch (n->kind) {
    case S_EXPR: /* the last one is returned */
    case S_RETURN:
    case S_THROW:
        return true;
    case S_BLOCK:
        return n->n > 0 && gives(n->kids[n->n - 1]);
    case S_IF:
        return n->n > 2 && gives(n->kids[1]) && gives(n->kids[2]);
    case S_TRY:
        for (uint32_t i = 0; i < n->n; i += i == 0 ? 1 : 2) { /* the body, then what follows each variable */
            if (!gives(n->kids[i == 0 ? 0 : i + 1])) {
                return false;
            }
        }
        return true;
    case S_WHILE:
    case S_DO:
    case S_FOR:
        return true; /* endless, or refused where the loop is compiled */
    default:
        return false;
    }
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
    static const struct {
        const char *name;
        enum type_id type;
    } given[] = {{"ctx", TYPE_MAP}, {"params", TYPE_MAP}, {"doc", TYPE_MAP}, {"_score", TYPE_DOUBLE}};
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        struct str name = str_of(given[i].name);
        struct node read = {.kind = N_NAME, .name = name};
        uint32_t slot = 0;
        if (gen_context_variable(g, name) == VAR_NONE || !assigns(statements, name)) {
            continue;
        }
        struct type type =
            given[i].type == TYPE_MAP ? type_called(STR("Map")) : (struct type){.id = given[i].type};
        enum err e = gen_expr(g, &read);
        e = e == ERR_OK ? gen_declare(g, name, type, &slot) : e;
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
        if (f->body->n == 0 || (f->type.id != TYPE_VOID && !gives(f->body))) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                        "invalid function definition: %s for function [%.*s] with [%u] parameters",
                        f->body->n == 0 ? "found no statements" : "not all paths provide a return value",
                        STR_ARG(f->name), f->params_n);
            return gen_placed(&g, e, f->off);
        }
        e = body(&g, i + 1, f->params, f->params_n, f->body);
    }
    if (e == ERR_OK && program->body->n == 0 && s->context != SCRIPT_UPDATE) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "unexpected end of script.");
        return gen_placed(&g, e, 0);
    }
    return e == ERR_OK ? body(&g, 0, NULL, 0, program->body) : e;
}
