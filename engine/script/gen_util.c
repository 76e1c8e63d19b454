/* Writing instructions, and names. */
#include "engine/script/generate.h"

#include "common/base/arena_list.h"

enum err gen_illegal(struct gen *g, const char *what, struct str name)
{
    return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s]", what, STR_ARG(name));
}

/* ---- writing code ---- */

struct code *gen_code_of(struct gen *g)
{
    return &g->s->code[g->scope->code];
}

enum err gen_emit(struct gen *g, enum opcode op, uint8_t a, uint16_t b, uint32_t c)
{
    struct code *code = gen_code_of(g);
    if (!ARENA_ROOM(&g->s->arena, code->ins, code->n, code->cap)) {
        return err_no_memory(g->em);
    }
    if (!ARENA_ROOM(&g->s->arena, code->off, code->n, code->off_cap)) {
        return err_no_memory(g->em);
    }
    code->off[code->n] = g->line;
    code->ins[code->n++] = (struct ins){(uint8_t)op, a, b, c};
    g->s->mutates = g->s->mutates || op == I_PUT || op == I_PUT_AT || op == I_STEP || op == I_STEP_AT;
    return ERR_OK;
}

void gen_at(struct gen *g, uint32_t off)
{
    g->line = off;
}

enum err gen_statement(struct gen *g, uint32_t off)
{
    struct script *s = g->s;
    return ARENA_ADD(&s->arena, s->statements, s->statements_n, s->statements_cap, off)
               ? ERR_OK
               : err_no_memory(g->em);
}

enum err gen_placed(struct gen *g, enum err e, uint32_t off)
{
    if (e != ERR_OK && !g->placed) {
        script_error_at(g->em, off);
        g->placed = true;
    }
    return e;
}

uint32_t gen_here(struct gen *g)
{
    return gen_code_of(g)->n;
}

void gen_patch(struct gen *g, uint32_t at)
{
    gen_code_of(g)->ins[at].c = gen_here(g);
}

static enum err gen_constant(struct gen *g, struct sv v, uint32_t *index)
{
    struct script *s = g->s;
    if (!ARENA_ROOM(&s->arena, s->consts, s->consts_n, s->consts_cap)) {
        return err_no_memory(g->em);
    }
    if (v.kind == SV_STR || v.kind == SV_PATTERN) {
        v.s = arena_str(&s->arena, v.s);
        if (v.s.p == NULL) {
            return err_no_memory(g->em);
        }
    }
    *index = s->consts_n;
    s->consts[s->consts_n++] = v;
    return ERR_OK;
}

enum err gen_emit_const(struct gen *g, struct sv v)
{
    uint32_t index = 0;
    enum err e = gen_constant(g, v, &index);
    return e == ERR_OK ? gen_emit(g, I_CONST, 0, 0, index) : e;
}

/* A method that may change its object. */
static bool is_mutator(struct str name)
{
    static const char *const names[] = {
        "add",      "addAll",    "put",       "putAll", "putIfAbsent", "computeIfAbsent", "merge", "remove",
        "removeIf", "removeAll", "retainAll", "clear",  "set",         "setValue",        "sort"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

enum err gen_emit_name(struct gen *g, enum opcode op, uint8_t a, uint16_t b, struct str name)
{
    uint32_t index = 0;
    enum err e = gen_constant(g, sv_str(name), &index);
    g->s->mutates = g->s->mutates || (op == I_CALL && is_mutator(name)) || op == I_METHOD_REF
                    || (op == I_CALL_STATIC && b == TYPE_COLLECTIONS);
    return e == ERR_OK ? gen_emit(g, op, a, b, index) : e;
}

enum err gen_emit_type(struct gen *g, enum opcode op, struct type t)
{
    return gen_emit(g, op, t.dims, (uint16_t)t.id, t.row);
}

/* ---- names ---- */

static struct local *gen_find_local(struct scope *scope, struct str name)
{
    for (uint32_t i = scope->n; i > 0; i--) {
        if (str_eq(scope->local[i - 1].name, name)) {
            return &scope->local[i - 1];
        }
    }
    return NULL;
}

enum err gen_declare(struct gen *g, struct str name, struct type type, uint32_t *slot)
{
    struct scope *scope = g->scope;
    if (gen_find_local(scope, name) != NULL) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "variable [%.*s] is already defined", STR_ARG(name));
    }
    if (scope->n == SLOTS_MAX || scope->slots == SLOTS_MAX) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many variables");
    }
    *slot = scope->slots++;
    scope->local[scope->n++] = (struct local){name, type, *slot};
    struct code *code = gen_code_of(g);
    code->slots_n = MAX_OF(code->slots_n, scope->slots);
    return ERR_OK;
}

/* A variable of the surroundings: lambdas are compiled with all visible ones captured ahead. */
struct local *gen_resolve(struct gen *g, struct str name)
{
    return gen_find_local(g->scope, name);
}

#define IN(context) (1U << SCRIPT_##context)
#define SCORING     (IN(SCORE) | IN(NUMBER_SORT) | IN(STRING_SORT) | IN(AGG) | IN(AGG_MAP))
#define NO_DOC                                                                                      \
    (IN(UPDATE) | IN(BUCKET) | IN(BUCKET_SELECTOR) | IN(MOVING_FN) | IN(AGG_INIT) | IN(AGG_COMBINE) \
     | IN(AGG_REDUCE))

const struct variable variables[] = {
    {"ctx", I_CTX, {.id = TYPE_MAP}, true, IN(UPDATE) | IN(INGEST) | IN(CONDITION)},
    {"params", I_PARAMS, {.id = TYPE_MAP}, true, UINT32_MAX},
    {"state", I_CTX, {.id = TYPE_DEF}, true, IN(AGG_INIT)},
    {"state", I_CTX, {.id = TYPE_MAP}, true, IN(AGG_MAP) | IN(AGG_COMBINE)},
    {"states", I_CTX, {.id = TYPE_LIST}, true, IN(AGG_REDUCE)},
    {"doc", I_DOC, {.id = TYPE_MAP}, true, ~NO_DOC},
    {"_score", I_SCORE, {.id = TYPE_DOUBLE}, true, SCORING},
    {"_value", I_VALUE, {.id = TYPE_DEF}, false, IN(AGG)},
    {"values", I_VALUES, {.id = TYPE_DOUBLE, .dims = 1}, false, IN(MOVING_FN)}};
const size_t variables_n = ARRAY_LEN(variables);

const struct variable *gen_context_variable(const struct gen *g, struct str name)
{
    for (size_t i = 0; i < variables_n; i++) {
        if (str_is(name, variables[i].name) && (variables[i].contexts >> g->s->context & 1) != 0) {
            return &variables[i];
        }
    }
    return NULL;
}

enum err gen_check_symbol(struct gen *g, const struct node *n, uint32_t off)
{
    const struct node *first = n;
    while (first->kind == N_MEMBER) {
        first = first->kids[0];
    }
    if (first->kind != N_NAME || gen_resolve(g, first->name) != NULL
        || gen_context_variable(g, first->name) != NULL) {
        return ERR_OK;
    }
    struct str all = first->name;
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    for (const struct node *of = first; of != n && all.p != NULL;) {
        const struct node *above = n;
        while (above->kids[0] != of) {
            above = above->kids[0];
        }
        all = arena_printf(&scratch, "%.*s.%.*s", STR_ARG(all), STR_ARG(above->name));
        of = above;
    }
    enum err e = all.p != NULL ? gen_illegal(g, "cannot resolve symbol", all) : err_no_memory(g->em);
    arena_fini(&scratch);
    return gen_placed(g, e, off);
}

struct type gen_variable_type(const struct variable *v)
{
    return v->type.id == TYPE_MAP    ? type_called(STR("Map"))
           : v->type.id == TYPE_LIST ? type_called(STR("List"))
                                     : v->type;
}

enum type_id gen_context_type(enum script_context context)
{
    static const enum type_id types[] = {[SCRIPT_SCORE] = TYPE_DOUBLE,
                                         [SCRIPT_FIELD] = TYPE_DEF,
                                         [SCRIPT_FILTER] = TYPE_BOOLEAN,
                                         [SCRIPT_NUMBER_SORT] = TYPE_DOUBLE,
                                         [SCRIPT_STRING_SORT] = TYPE_STRING,
                                         [SCRIPT_AGG] = TYPE_DEF,
                                         [SCRIPT_UPDATE] = TYPE_DEF,
                                         [SCRIPT_BUCKET] = TYPE_NUMBER,
                                         [SCRIPT_BUCKET_SELECTOR] = TYPE_BOOLEAN,
                                         [SCRIPT_MOVING_FN] = TYPE_DOUBLE,
                                         [SCRIPT_TERMS_SET] = TYPE_NUMBER,
                                         [SCRIPT_INGEST] = TYPE_DEF,
                                         [SCRIPT_CONDITION] = TYPE_BOOLEAN,
                                         [SCRIPT_AGG_INIT] = TYPE_DEF,
                                         [SCRIPT_AGG_MAP] = TYPE_DEF,
                                         [SCRIPT_AGG_COMBINE] = TYPE_DEF,
                                         [SCRIPT_AGG_REDUCE] = TYPE_DEF};
    return types[context];
}

enum err gen_new_code(struct gen *g, uint32_t *index)
{
    struct script *s = g->s;
    if (!ARENA_ROOM(&s->arena, s->code, s->code_n, s->code_cap)) {
        return err_no_memory(g->em);
    }
    s->code[s->code_n] = (struct code){.type = {.id = TYPE_DEF}};
    *index = s->code_n++;
    return ERR_OK;
}

enum err gen_set_params(struct gen *g, const struct param *params, uint32_t n)
{
    struct code *code = gen_code_of(g);
    uint32_t before = code->captured_n, slot;
    struct type *types = ARENA_ARRAY(&g->s->arena, struct type, n + before);
    if (types == NULL) {
        return err_no_memory(g->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = gen_declare(g, params[i].name, params[i].type, &slot);
        if (e != ERR_OK) {
            return e;
        }
        types[before + i] = params[i].type;
    }
    code = gen_code_of(g);
    code->param_types = types;
    code->params_n = n + before;
    return ERR_OK;
}

/* What the script gives where no statement returns: as Java's primitive types begin, in contexts that return one of them. */
static struct sv default_result(const struct gen *g)
{
    enum type_id type = g->scope->code == 0 ? gen_context_type(g->s->context) : TYPE_DEF;
    return type == TYPE_DOUBLE ? sv_double(0) : type == TYPE_BOOLEAN ? sv_bool(false) : sv_null();
}

enum err gen_finish(struct gen *g)
{
    enum err e = gen_emit_const(g, default_result(g));
    return e == ERR_OK ? gen_emit(g, I_RETURN, 0, 0, 0) : e;
}
