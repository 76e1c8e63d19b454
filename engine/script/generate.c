/* From the syntax tree to bytecode: names become slots, declared types become conversions. */
#include "engine/script/code.h"

struct local {
    struct str name;
    struct type type;
    uint32_t slot;
};

/* The function that is being compiled. */
struct scope {
    struct scope *outer; /* a lambda's surroundings */
    uint32_t code;
    struct local local[SLOTS_MAX];
    uint32_t n, slots;
    struct str captured[32];
    uint32_t captured_n;
    uint32_t breaks[64], continues[64]; /* jumps to patch in the innermost loops */
    uint32_t breaks_n, continues_n;
    bool in_loop;
    int depth;
};

struct gen {
    struct script *s;
    const struct program *program;
    struct errmsg *em;
    struct scope *scope;
};

static enum err expr(struct gen *g, const struct node *n);
static enum err stmt(struct gen *g, const struct node *n, bool last);

static enum err illegal(struct gen *g, const char *what, struct str name)
{
    return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s]", what, STR_ARG(name));
}

/* ---- writing code ---- */

static struct code *code_of(struct gen *g)
{
    return &g->s->code[g->scope->code];
}

static enum err emit(struct gen *g, enum opcode op, uint8_t a, uint16_t b, uint32_t c)
{
    struct code *code = code_of(g);
    struct ins *grown = arena_grow(&g->s->arena, code->ins, code->n, &code->cap, sizeof(*code->ins));
    if (grown == NULL) {
        return err_no_memory(g->em);
    }
    code->ins = grown;
    code->ins[code->n++] = (struct ins){(uint8_t)op, a, b, c};
    g->s->mutates = g->s->mutates || op == I_PUT || op == I_PUT_AT || op == I_STEP || op == I_STEP_AT;
    return ERR_OK;
}

static uint32_t here(struct gen *g)
{
    return code_of(g)->n;
}

static void patch(struct gen *g, uint32_t at)
{
    code_of(g)->ins[at].c = here(g);
}

static enum err constant(struct gen *g, struct sv v, uint32_t *index)
{
    struct script *s = g->s;
    struct sv *grown = arena_grow(&s->arena, s->consts, s->consts_n, &s->consts_cap, sizeof(*s->consts));
    if (grown == NULL) {
        return err_no_memory(g->em);
    }
    s->consts = grown;
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

static enum err emit_const(struct gen *g, struct sv v)
{
    uint32_t index = 0;
    enum err e = constant(g, v, &index);
    return e == ERR_OK ? emit(g, I_CONST, 0, 0, index) : e;
}

/* A method that may change its object. */
static bool is_mutator(struct str name)
{
    static const char *const names[] = {"add", "addAll", "put", "putAll", "putIfAbsent", "computeIfAbsent", "merge", "remove",
                                        "removeIf", "removeAll", "retainAll", "clear", "set", "setValue", "sort"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static enum err emit_name(struct gen *g, enum opcode op, uint8_t a, uint16_t b, struct str name)
{
    uint32_t index = 0;
    enum err e = constant(g, sv_str(name), &index);
    g->s->mutates = g->s->mutates || (op == I_CALL && is_mutator(name)) || op == I_METHOD_REF
                    || (op == I_CALL_STATIC && b == TYPE_COLLECTIONS);
    return e == ERR_OK ? emit(g, op, a, b, index) : e;
}

static enum err emit_type(struct gen *g, enum opcode op, struct type t)
{
    return emit(g, op, t.dims, (uint16_t)t.id, 0);
}

/* ---- names ---- */

static struct local *find_local(struct scope *scope, struct str name)
{
    for (uint32_t i = scope->n; i > 0; i--) {
        if (str_eq(scope->local[i - 1].name, name)) {
            return &scope->local[i - 1];
        }
    }
    return NULL;
}

static enum err declare(struct gen *g, struct str name, struct type type, uint32_t *slot)
{
    struct scope *scope = g->scope;
    if (find_local(scope, name) != NULL) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "variable [%.*s] is already defined", STR_ARG(name));
    }
    if (scope->n == SLOTS_MAX || scope->slots == SLOTS_MAX) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many variables");
    }
    *slot = scope->slots++;
    scope->local[scope->n++] = (struct local){name, type, *slot};
    struct code *code = code_of(g);
    code->slots_n = MAX_OF(code->slots_n, scope->slots);
    return ERR_OK;
}

/* A variable of the surroundings: lambdas are compiled with all visible ones captured ahead. */
static struct local *resolve(struct gen *g, struct str name)
{
    return find_local(g->scope, name);
}

enum variable { VAR_NONE, VAR_DOC, VAR_PARAMS, VAR_SCORE, VAR_CTX, VAR_VALUE, VAR_VALUES };

static enum variable context_variable(const struct gen *g, struct str name)
{
    enum script_context c = g->s->context;
    bool docs = c != SCRIPT_UPDATE && c != SCRIPT_BUCKET && c != SCRIPT_BUCKET_SELECTOR && c != SCRIPT_MOVING_FN;
    bool scores = c == SCRIPT_SCORE || c == SCRIPT_NUMBER_SORT || c == SCRIPT_STRING_SORT || c == SCRIPT_AGG;
    return str_is(name, "params")                                ? VAR_PARAMS
           : str_is(name, "doc") && docs                         ? VAR_DOC
           : str_is(name, "_score") && scores                    ? VAR_SCORE
           : str_is(name, "ctx") && c == SCRIPT_UPDATE           ? VAR_CTX
           : str_is(name, "_value") && c == SCRIPT_AGG           ? VAR_VALUE
           : str_is(name, "values") && c == SCRIPT_MOVING_FN     ? VAR_VALUES
                                                                 : VAR_NONE;
}

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

/* ---- types that are known before running ---- */

static bool is_arithmetic(enum op op)
{
    return op >= OP_ADD && op <= OP_BXOR;
}

static enum type_id of_kind(enum sv_kind kind)
{
    return kind >= SV_BOOL && kind <= SV_DOUBLE ? (enum type_id)(TYPE_BOOLEAN + (int)(kind - SV_BOOL))
           : kind == SV_STR                     ? TYPE_STRING
                                                : TYPE_DEF;
}

static bool is_numeric(enum type_id id)
{
    return id >= TYPE_BYTE && id <= TYPE_DOUBLE;
}

/* TYPE_DEF where only running shows it. */
static enum type_id static_type(struct gen *g, const struct node *n)
{
    struct local *local;
    enum type_id a, b;
    switch (n->kind) {
    case N_CONST:
        return of_kind(n->value.kind);
    case N_NAME:
        local = resolve(g, n->name);
        if (local != NULL) {
            return local->type.dims == 0 ? local->type.id : TYPE_DEF;
        }
        return str_is(n->name, "_score") ? TYPE_DOUBLE : TYPE_DEF;
    case N_CAST:
        return n->type.dims == 0 ? n->type.id : TYPE_DEF;
    case N_AND:
    case N_OR:
    case N_INSTANCEOF:
        return TYPE_BOOLEAN;
    case N_LIST:
        return TYPE_LIST;
    case N_MAP:
        return TYPE_MAP;
    case N_UNARY:
        return n->op == OP_NOT ? TYPE_BOOLEAN : static_type(g, n->kids[0]);
    case N_BINARY:
        if (!is_arithmetic(n->op)) {
            return TYPE_BOOLEAN;
        }
        a = static_type(g, n->kids[0]);
        b = static_type(g, n->kids[1]);
        if (n->op == OP_ADD && (a == TYPE_STRING || b == TYPE_STRING)) {
            return TYPE_STRING;
        }
        return is_numeric(a) && is_numeric(b) ? MAX_OF(MAX_OF(a, b), TYPE_INT) : TYPE_DEF;
    default:
        return TYPE_DEF;
    }
}

static enum err cannot_cast(struct gen *g, enum type_id from, enum type_id to)
{
    return err_set(g->em, ERR_CLASS_CAST, "Cannot cast from [%s] to [%s].", type_name(from), type_name(to));
}

static enum type_id unboxed(enum type_id id)
{
    return id >= TYPE_BOX_BOOLEAN && id <= TYPE_BOX_DOUBLE ? (enum type_id)(TYPE_BOOLEAN + (int)(id - TYPE_BOX_BOOLEAN)) : id;
}

/* A whole literal takes the smaller type that is expected of it. */
static bool literal_fits(const struct node *n, enum type_id to)
{
    return n->kind == N_CONST && n->value.kind == SV_INT && to < TYPE_INT
           && sv_to_kind(n->value, type_kind(to)).i == n->value.i;
}

/* What the compiler can already refuse when a value of n is assigned to `to`. */
static enum err check_assign(struct gen *g, const struct node *n, struct type to)
{
    enum type_id from = static_type(g, n);
    if (n->kind == N_CONST && n->value.kind == SV_NULL) {
        return type_is_primitive(to.id) && to.dims == 0
                   ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot cast null to a primitive type [%s].", type_name(to.id))
                   : ERR_OK;
    }
    if (to.id == TYPE_OBJECT && to.dims == 0 && type_is_primitive(from)) {
        return cannot_cast(g, from, to.id);
    }
    if (from == TYPE_DEF || to.id == TYPE_DEF || to.id == TYPE_OBJECT || to.id == TYPE_NONE || from == to.id) {
        return ERR_OK;
    }
    enum type_id plain = unboxed(to.id), source = unboxed(from);
    if (to.dims > 0) {
        return type_is_primitive(from) || from == TYPE_STRING ? cannot_cast(g, from, to.id) : ERR_OK;
    }
    if (is_numeric(from) && to.id == plain && is_numeric(plain)) {
        bool fits = from <= plain && plain != TYPE_CHAR && !(from == TYPE_CHAR && plain < TYPE_INT);
        return fits || literal_fits(n, plain) ? ERR_OK : cannot_cast(g, from, to.id);
    }
    if (source == plain && !type_is_primitive(from)) {
        return ERR_OK;
    }
    bool clash = type_is_primitive(from) || type_is_primitive(to.id) || from == TYPE_STRING || to.id == TYPE_STRING;
    return clash ? cannot_cast(g, from, to.id) : ERR_OK;
}

/* A cast that is written out may narrow, but not turn texts or booleans into numbers. */
static enum err check_cast(struct gen *g, const struct node *n)
{
    enum type_id from = static_type(g, n->kids[0]), to = n->type.id;
    if (n->type.dims > 0 || from == TYPE_DEF || from == to || !type_is_primitive(to)) {
        return ERR_OK;
    }
    bool one_char = to == TYPE_CHAR && from == TYPE_STRING;
    bool odd = from == TYPE_STRING || from == TYPE_LIST || from == TYPE_MAP || (from == TYPE_BOOLEAN) != (to == TYPE_BOOLEAN);
    return odd && !one_char && unboxed(from) != to ? cannot_cast(g, from, to) : ERR_OK;
}

static enum err expr_as(struct gen *g, const struct node *n, struct type to)
{
    enum err e = check_assign(g, n, to);
    e = e == ERR_OK ? expr(g, n) : e;
    bool any = to.dims == 0 && (to.id == TYPE_DEF || to.id == TYPE_OBJECT || to.id == TYPE_NONE);
    return e != ERR_OK || any ? e : emit_type(g, I_CONVERT, to);
}

static enum err condition(struct gen *g, const struct node *n)
{
    return expr_as(g, n, (struct type){TYPE_BOOLEAN, 0});
}

/* ---- expressions ---- */

static enum err exprs(struct gen *g, const struct node *n, uint32_t from)
{
    enum err e = ERR_OK;
    for (uint32_t i = from; i < n->n && e == ERR_OK; i++) {
        e = expr(g, n->kids[i]);
    }
    return e;
}

static enum err name(struct gen *g, const struct node *n)
{
    struct local *local = resolve(g, n->name);
    if (local != NULL) {
        return emit(g, I_LOAD, 0, 0, local->slot);
    }
    switch (context_variable(g, n->name)) {
    case VAR_DOC:
        return emit(g, I_DOC, 0, 0, 0);
    case VAR_PARAMS:
        return emit(g, I_PARAMS, 0, 0, 0);
    case VAR_SCORE:
        g->s->needs_score = true;
        return emit(g, I_SCORE, 0, 0, 0);
    case VAR_CTX:
        return emit(g, I_CTX, 0, 0, 0);
    case VAR_VALUE:
        return emit(g, I_VALUE, 0, 0, 0);
    case VAR_VALUES:
        return emit(g, I_VALUES, 0, 0, 0);
    default:
        return illegal(g, "cannot resolve symbol", n->name);
    }
}

static enum err member(struct gen *g, const struct node *n)
{
    if (n->kids[0]->kind == N_TYPE) {
        return emit_name(g, I_GET_STATIC, 0, (uint16_t)n->kids[0]->type.id, n->name);
    }
    enum err e = expr(g, n->kids[0]);
    uint32_t skip = here(g);
    if (e == ERR_OK && n->flag) {
        e = emit(g, I_IF_NULL, 0, 0, 0);
    }
    e = e == ERR_OK ? emit_name(g, I_GET, 0, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        patch(g, skip);
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
            e = expr_as(g, n->kids[k + 1], f->params[k].type);
        }
        return e == ERR_OK ? emit(g, I_CALL_FUNCTION, (uint8_t)argc, 0, i + 1) : e;
    }
    enum builtin builtin = builtin_of(g, n->name);
    if (builtin == BUILTIN_NONE) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Unknown call [%.*s] with [%u] arguments.", STR_ARG(n->name), argc);
    }
    enum err e = exprs(g, n, 1);
    return e == ERR_OK ? emit(g, I_CALL_BUILTIN, (uint8_t)argc, (uint16_t)builtin, 0) : e;
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
        return e == ERR_OK ? emit_name(g, I_CALL_STATIC, (uint8_t)argc, (uint16_t)n->kids[0]->type.id, n->name) : e;
    }
    if (n->kids[0]->kind == N_NAME && str_is(n->kids[0]->name, "this")) {
        return call_function(g, n);
    }
    if (static_type(g, n->kids[0]) == TYPE_STRING && !methods_str_has(n->name, argc)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "member method [java.lang.String, %.*s/%u] not found", STR_ARG(n->name), argc);
    }
    enum err e = expr(g, n->kids[0]);
    uint32_t skip = here(g);
    if (e == ERR_OK && n->flag) {
        e = emit(g, I_IF_NULL, 0, 0, 0);
    }
    e = e == ERR_OK ? exprs(g, n, 1) : e;
    e = e == ERR_OK ? emit_name(g, I_CALL, (uint8_t)argc, 0, n->name) : e;
    if (e == ERR_OK && n->flag) {
        patch(g, skip);
    }
    return e;
}

static enum err logical(struct gen *g, const struct node *n)
{
    bool and = n->kind == N_AND;
    enum err e = condition(g, n->kids[0]);
    uint32_t jump = here(g);
    e = e == ERR_OK ? emit(g, and ? I_IF_NOT : I_IF, 0, 0, 0) : e;
    e = e == ERR_OK ? condition(g, n->kids[1]) : e;
    uint32_t end = here(g);
    e = e == ERR_OK ? emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        patch(g, jump);
        e = emit_const(g, sv_bool(!and));
    }
    if (e == ERR_OK) {
        patch(g, end);
    }
    return e;
}

static enum err ternary(struct gen *g, const struct node *n)
{
    enum err e = condition(g, n->kids[0]);
    uint32_t otherwise = here(g);
    e = e == ERR_OK ? emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? expr(g, n->kids[1]) : e;
    uint32_t end = here(g);
    e = e == ERR_OK ? emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        patch(g, otherwise);
        e = expr(g, n->kids[2]);
    }
    if (e == ERR_OK) {
        patch(g, end);
    }
    return e;
}

static enum err elvis(struct gen *g, const struct node *n)
{
    enum type_id type = static_type(g, n->kids[0]);
    if (type_is_primitive(type) || (n->kids[0]->kind == N_CONST && n->kids[0]->value.kind != SV_NULL)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Extraneous elvis operator. LHS is a primitive or a constant.");
    }
    enum err e = expr(g, n->kids[0]);
    uint32_t end = here(g);
    e = e == ERR_OK ? emit(g, I_IF_VALUE, 0, 0, 0) : e;
    e = e == ERR_OK ? expr(g, n->kids[1]) : e;
    if (e == ERR_OK) {
        patch(g, end);
    }
    return e;
}

static enum err binary(struct gen *g, const struct node *n)
{
    const struct node *a = n->kids[0], *b = n->kids[1];
    bool by_zero = (n->op == OP_DIV || n->op == OP_REM) && b->kind == N_CONST && sv_is_whole(b->value) && b->value.i == 0;
    if (by_zero && a->kind == N_CONST && sv_is_whole(a->value)) {
        return err_set(g->em, ERR_ARITHMETIC, "/ by zero");
    }
    enum type_id ta = static_type(g, a), tb = static_type(g, b);
    bool text = n->op == OP_ADD && (ta == TYPE_STRING || tb == TYPE_STRING);
    bool odd = ta == TYPE_BOOLEAN || tb == TYPE_BOOLEAN || ta == TYPE_STRING || tb == TYPE_STRING;
    odd = odd && ta != TYPE_DEF && tb != TYPE_DEF; /* else only running shows it */
    bool bits = n->op == OP_BAND || n->op == OP_BOR || n->op == OP_BXOR;
    if (is_arithmetic(n->op) && !text && odd && !(bits && ta != TYPE_STRING && tb != TYPE_STRING)) {
        return err_set(g->em, ERR_CLASS_CAST, "Cannot apply arithmetic to types [%s] and [%s].", type_name(ta), type_name(tb));
    }
    if (n->op >= OP_LT && n->op <= OP_GE && odd) {
        return err_set(g->em, ERR_CLASS_CAST, "cannot apply a comparison to the types [%s] and [%s]", type_name(ta), type_name(tb));
    }
    bool null_a = a->kind == N_CONST && a->value.kind == SV_NULL, null_b = b->kind == N_CONST && b->value.kind == SV_NULL;
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
    enum err e = expr(g, a);
    e = e == ERR_OK ? expr(g, b) : e;
    return e == ERR_OK ? emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
}

/* ---- assignment ---- */

static enum err assign_local(struct gen *g, const struct node *n, const struct local *local)
{
    enum err e;
    if (n->op == OP_NONE) {
        e = expr_as(g, n->kids[1], local->type);
    } else {
        e = emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK ? expr(g, n->kids[1]) : e;
        e = e == ERR_OK ? emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? emit_type(g, I_CAST, local->type) : e;
    }
    e = e == ERR_OK ? emit(g, I_DUP, 0, 0, 0) : e;
    return e == ERR_OK ? emit(g, I_STORE, 0, 0, local->slot) : e;
}

static enum err assign(struct gen *g, const struct node *n)
{
    const struct node *to = n->kids[0];
    if (to->kind == N_NAME) {
        struct local *local = resolve(g, to->name);
        return local != NULL ? assign_local(g, n, local)
               : context_variable(g, to->name) != VAR_NONE
                   ? illegal(g, "cannot assign a value to the read-only variable", to->name)
                   : illegal(g, "cannot resolve symbol", to->name);
    }
    if (to->kids[0]->kind == N_TYPE) {
        return illegal(g, "cannot assign a value to a static member", to->name);
    }
    bool at = to->kind == N_INDEX;
    enum err e = expr(g, to->kids[0]);
    e = e == ERR_OK && at ? expr(g, to->kids[1]) : e;
    if (e == ERR_OK && n->op != OP_NONE) {
        e = emit(g, at ? I_DUP2 : I_DUP, 0, 0, 0);
        e = e == ERR_OK ? (at ? emit(g, I_GET_AT, 0, 0, 0) : emit_name(g, I_GET, 0, 0, to->name)) : e;
    }
    e = e == ERR_OK ? expr(g, n->kids[1]) : e;
    if (e == ERR_OK && n->op != OP_NONE) {
        e = emit(g, I_BINARY, (uint8_t)n->op, 0, 0);
    }
    return e != ERR_OK ? e : at ? emit(g, I_PUT_AT, 0, 0, 0) : emit_name(g, I_PUT, 0, 0, to->name);
}

static enum err step(struct gen *g, const struct node *n)
{
    const struct node *to = n->kids[0];
    enum err e;
    if (to->kind == N_NAME) {
        struct local *local = resolve(g, to->name);
        if (local == NULL) {
            return illegal(g, "cannot resolve symbol", to->name);
        }
        e = emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK && !n->flag ? emit(g, I_DUP, 0, 0, 0) : e;
        e = e == ERR_OK ? emit_const(g, sv_int(1)) : e;
        e = e == ERR_OK ? emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? emit_type(g, I_CAST, local->type) : e;
        e = e == ERR_OK && n->flag ? emit(g, I_DUP, 0, 0, 0) : e;
        return e == ERR_OK ? emit(g, I_STORE, 0, 0, local->slot) : e;
    }
    if ((to->kind != N_MEMBER && to->kind != N_INDEX) || to->kids[0]->kind == N_TYPE) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid assignment: cannot assign a value to what is no variable");
    }
    e = expr(g, to->kids[0]);
    if (to->kind == N_INDEX) {
        e = e == ERR_OK ? expr(g, to->kids[1]) : e;
        return e == ERR_OK ? emit(g, I_STEP_AT, (uint8_t)n->op, n->flag, 0) : e;
    }
    return e == ERR_OK ? emit_name(g, I_STEP, (uint8_t)n->op, n->flag, to->name) : e;
}

/* ---- functions and lambdas ---- */

static enum err new_code(struct gen *g, uint32_t *index)
{
    struct script *s = g->s;
    struct code *grown = arena_grow(&s->arena, s->code, s->code_n, &s->code_cap, sizeof(*s->code));
    if (grown == NULL) {
        return err_no_memory(g->em);
    }
    s->code = grown;
    s->code[s->code_n] = (struct code){.type = {TYPE_DEF, 0}};
    *index = s->code_n++;
    return ERR_OK;
}

static enum err set_params(struct gen *g, const struct param *params, uint32_t n)
{
    struct code *code = code_of(g);
    uint32_t before = code->captured_n, slot;
    struct type *types = ARENA_ARRAY(&g->s->arena, struct type, n + before);
    if (types == NULL) {
        return err_no_memory(g->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = declare(g, params[i].name, params[i].type, &slot);
        if (e != ERR_OK) {
            return e;
        }
        types[before + i] = params[i].type;
    }
    code = code_of(g);
    code->param_types = types;
    code->params_n = n + before;
    return ERR_OK;
}

static enum err finish(struct gen *g)
{
    enum err e = emit_const(g, sv_null());
    return e == ERR_OK ? emit(g, I_RETURN, 0, 0, 0) : e;
}

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
    enum err e = inner == NULL ? err_no_memory(g->em) : new_code(g, &index);
    if (e == ERR_OK && ++outer->depth > 20) {
        e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "lambdas may not be nested so deeply");
    }
    for (uint32_t i = 0; e == ERR_OK && i < outer->n; i++) {
        struct local *l = &outer->local[i];
        if (is_param(n, l->name) || !mentions(n->kids[0], l->name)) {
            continue;
        }
        e = emit(g, I_LOAD, 0, 0, l->slot);
        g->scope = inner;
        inner->code = index;
        e = e == ERR_OK ? declare(g, l->name, l->type, &slot) : e;
        g->scope = outer;
        captured++;
    }
    if (e == ERR_OK) {
        inner->outer = outer;
        inner->code = index;
        inner->depth = outer->depth;
        g->scope = inner;
        code_of(g)->captured_n = captured;
        e = set_params(g, n->params, n->params_n);
        e = e == ERR_OK ? stmt(g, n->kids[0], true) : e;
        e = e == ERR_OK ? finish(g) : e;
        g->scope = outer;
    }
    outer->depth--;
    arena_fini(&scratch);
    return e == ERR_OK ? emit(g, I_LAMBDA, (uint8_t)captured, 0, index) : e;
}

static enum err method_ref(struct gen *g, const struct node *n)
{
    const struct node *of = n->kids[0];
    if (of->kind == N_TYPE) {
        return emit_name(g, I_METHOD_REF, 0, (uint16_t)of->type.id, n->name);
    }
    if (of->kind == N_NAME && str_is(of->name, "this")) {
        for (uint32_t i = 0; i < g->program->functions_n; i++) {
            if (str_eq(g->program->functions[i].name, n->name)) {
                return emit(g, I_LAMBDA, 0, 0, i + 1);
            }
        }
        return illegal(g, "Unknown reference", n->name);
    }
    enum err e = expr(g, of);
    return e == ERR_OK ? emit_name(g, I_METHOD_REF, 0, TYPE_NONE, n->name) : e;
}

static enum err new_array(struct gen *g, const struct node *n)
{
    enum err e = exprs(g, n, 0);
    return e != ERR_OK  ? e
           : n->flag    ? emit(g, I_ARRAY, 0, (uint16_t)n->type.id, n->n)
           : n->n > 200 ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many dimensions")
                        : emit(g, I_NEW_ARRAY, (uint8_t)n->n, (uint16_t)n->type.id, 0);
}

static enum err const_expr(struct gen *g, const struct node *n)
{
    struct sv v = n->value;
    if (v.kind == SV_PATTERN) { /* its flags ride along as bits */
        for (size_t i = 0; i < n->name.n; i++) {
            const char *at = strchr("imsxcUu", n->name.p[i]);
            if (at == NULL) {
                return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid regular expression: unknown flag [%c]", n->name.p[i]);
            }
            v.aux |= 1U << (at - "imsxcUu");
        }
    }
    return emit_const(g, v);
}

static enum err expr(struct gen *g, const struct node *n)
{
    enum err e;
    switch (n->kind) {
    case N_CONST:
        return const_expr(g, n);
    case N_NAME:
        return name(g, n);
    case N_TYPE:
        return illegal(g, "cannot use a type as a value", n->name);
    case N_LIST:
        e = exprs(g, n, 0);
        return e == ERR_OK ? emit(g, I_LIST, 0, 0, n->n) : e;
    case N_MAP:
        e = exprs(g, n, 0);
        return e == ERR_OK ? emit(g, I_MAP, 0, 0, n->n / 2) : e;
    case N_NEW:
        e = exprs(g, n, 0);
        return e == ERR_OK ? emit_name(g, I_NEW, (uint8_t)MIN_OF(n->n, 200U), (uint16_t)n->type.id, n->name) : e;
    case N_NEW_ARRAY:
        return new_array(g, n);
    case N_MEMBER:
        return member(g, n);
    case N_CALL:
        return call(g, n);
    case N_INDEX:
        e = exprs(g, n, 0);
        return e == ERR_OK ? emit(g, I_GET_AT, 0, 0, 0) : e;
    case N_UNARY:
        e = n->op == OP_NOT ? condition(g, n->kids[0]) : expr(g, n->kids[0]);
        return e == ERR_OK ? emit(g, I_UNARY, (uint8_t)n->op, 0, 0) : e;
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
        e = check_cast(g, n);
        e = e == ERR_OK ? expr(g, n->kids[0]) : e;
        return e == ERR_OK ? emit_type(g, I_CAST, n->type) : e;
    case N_INSTANCEOF:
        e = expr(g, n->kids[0]);
        return e == ERR_OK ? emit_type(g, I_INSTANCEOF, n->type) : e;
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

/* ---- statements ---- */

static enum err block(struct gen *g, const struct node *n, bool last)
{
    uint32_t names = g->scope->n;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n->n && e == ERR_OK; i++) {
        enum node_kind kind = n->kids[i]->kind;
        if (i + 1 < n->n && (kind == S_RETURN || kind == S_BREAK || kind == S_CONTINUE || kind == S_THROW)) {
            return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "unreachable statement");
        }
        e = stmt(g, n->kids[i], last && i + 1 == n->n);
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

/* What the script itself must give. */
static struct type result_type(const struct gen *g)
{
    if (g->scope->code != 0) {
        return g->s->code[g->scope->code].type;
    }
    if (str_is(g->s->lang, "expression")) {
        return (struct type){TYPE_DEF, 0};
    }
    switch (g->s->context) {
    case SCRIPT_SCORE:
    case SCRIPT_NUMBER_SORT:
    case SCRIPT_MOVING_FN:
        return (struct type){TYPE_DOUBLE, 0};
    case SCRIPT_FILTER:
    case SCRIPT_BUCKET_SELECTOR:
        return (struct type){TYPE_BOOLEAN, 0};
    case SCRIPT_STRING_SORT:
        return (struct type){TYPE_STRING, 0};
    case SCRIPT_BUCKET:
    case SCRIPT_TERMS_SET:
        return (struct type){TYPE_NUMBER, 0};
    default:
        return (struct type){TYPE_DEF, 0};
    }
}

static enum err return_value(struct gen *g, const struct node *n)
{
    enum err e = expr_as(g, n, result_type(g));
    return e == ERR_OK ? emit(g, I_RETURN, 0, 0, 0) : e;
}

static enum err expression_statement(struct gen *g, const struct node *n, bool last)
{
    const struct node *x = n->kids[0];
    bool update = g->s->context == SCRIPT_UPDATE && g->scope->code == 0;
    bool void_function = g->scope->code != 0 && result_type(g).id == TYPE_VOID;
    if (last && !update && !void_function) {
        return return_value(g, x);
    }
    if (!has_effect(x) && !(x->kind == N_TERNARY || x->kind == N_ELVIS)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "not a statement: result not used from expression");
    }
    enum err e = expr(g, x);
    return e == ERR_OK ? emit(g, I_POP, 0, 0, 0) : e;
}

static enum err declaration(struct gen *g, const struct node *n)
{
    uint32_t slot = 0;
    enum err e;
    if (n->n > 0 && n->kids[0] != NULL) {
        e = expr_as(g, n->kids[0], n->type);
    } else { /* variables begin as zero, false or null */
        enum sv_kind kind = n->type.dims == 0 && type_is_primitive(n->type.id) ? type_kind(n->type.id) : SV_NULL;
        struct sv zero = kind == SV_BOOL ? sv_bool(false) : kind == SV_NULL ? sv_null() : sv_to_kind(sv_int(0), kind);
        e = emit_const(g, zero);
    }
    e = e == ERR_OK ? declare(g, n->name, n->type, &slot) : e;
    return e == ERR_OK ? emit(g, I_STORE, 0, 0, slot) : e;
}

static enum err if_statement(struct gen *g, const struct node *n, bool last)
{
    if (n->kids[0]->kind == N_CONST && n->kids[0]->value.kind == SV_BOOL) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous if block");
    }
    enum err e = condition(g, n->kids[0]);
    uint32_t otherwise = here(g);
    e = e == ERR_OK ? emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? stmt(g, n->kids[1], last) : e;
    if (e == ERR_OK && n->n > 2) {
        uint32_t end = here(g);
        e = emit(g, I_JUMP, 0, 0, 0);
        if (e == ERR_OK) {
            patch(g, otherwise);
            e = stmt(g, n->kids[2], last);
        }
        otherwise = end;
    }
    if (e == ERR_OK) {
        patch(g, otherwise);
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
        patch(g, g->scope->continues[--g->scope->continues_n]);
    }
}

static void loop_end(struct gen *g, const struct loop *l)
{
    while (g->scope->breaks_n > l->breaks) {
        patch(g, g->scope->breaks[--g->scope->breaks_n]);
    }
    g->scope->in_loop = l->outer;
}

static enum err jump_out(struct gen *g, bool is_break)
{
    struct scope *s = g->scope;
    uint32_t *n = is_break ? &s->breaks_n : &s->continues_n;
    if (!s->in_loop) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "%s statement outside of a loop", is_break ? "break" : "continue");
    }
    if (*n == ARRAY_LEN(s->breaks)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many jumps out of a loop");
    }
    (is_break ? s->breaks : s->continues)[(*n)++] = here(g);
    return emit(g, I_JUMP, 0, 0, 0);
}

static bool escapes(const struct node *n)
{
    if (n == NULL) {
        return false;
    }
    if (n->kind == S_RETURN || n->kind == S_BREAK || n->kind == S_THROW) {
        return true;
    }
    for (uint32_t i = 0; i < n->n; i++) {
        if (escapes(n->kids[i])) {
            return true;
        }
    }
    return false;
}

static enum err while_loop(struct gen *g, const struct node *n)
{
    const struct node *cond = n->kids[0], *body = n->kids[1];
    if (cond->kind == N_CONST && cond->value.kind == SV_BOOL && (!cond->value.b || !escapes(body))) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT,
                       cond->value.b ? "no paths escape from while loop" : "extraneous while loop");
    }
    struct loop l = loop_begin(g);
    uint32_t top = here(g);
    enum err e = condition(g, cond);
    uint32_t out = here(g);
    e = e == ERR_OK ? emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? stmt(g, body, false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = emit(g, I_JUMP, 0, 0, top);
    }
    if (e == ERR_OK) {
        patch(g, out);
        loop_end(g, &l);
    }
    return e;
}

static enum err do_loop(struct gen *g, const struct node *n)
{
    struct loop l = loop_begin(g);
    uint32_t top = here(g);
    enum err e = stmt(g, n->kids[0], false);
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = condition(g, n->kids[1]);
    }
    e = e == ERR_OK ? emit(g, I_IF, 0, 0, top) : e;
    if (e == ERR_OK) {
        loop_end(g, &l);
    }
    return e;
}

static enum err for_loop(struct gen *g, const struct node *n)
{
    uint32_t names = g->scope->n, out = 0;
    struct loop l = loop_begin(g);
    enum err e = n->kids[0] != NULL ? stmt(g, n->kids[0], false) : ERR_OK;
    uint32_t top = here(g);
    if (e == ERR_OK && n->kids[1] != NULL) {
        e = condition(g, n->kids[1]);
        out = here(g);
        e = e == ERR_OK ? emit(g, I_IF_NOT, 0, 0, 0) : e;
    }
    e = e == ERR_OK ? stmt(g, n->kids[3], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = n->kids[2] != NULL ? stmt(g, n->kids[2], false) : ERR_OK;
    }
    e = e == ERR_OK ? emit(g, I_JUMP, 0, 0, top) : e;
    if (e == ERR_OK) {
        if (n->kids[1] != NULL) {
            patch(g, out);
        }
        loop_end(g, &l);
    }
    g->scope->n = names;
    return e;
}

/* The iterator waits in a slot of its own, so that jumps out of the loop leave nothing on the stack. */
static enum err each_loop(struct gen *g, const struct node *n)
{
    uint32_t names = g->scope->n, slot = 0, iterator = 0;
    enum err e = expr(g, n->kids[0]);
    struct loop l = loop_begin(g);
    e = e == ERR_OK ? emit(g, I_ITERATE, 0, 0, 0) : e;
    e = e == ERR_OK ? declare(g, STR("#iterator"), (struct type){TYPE_DEF, 0}, &iterator) : e;
    if (e == ERR_OK) {
        g->scope->local[g->scope->n - 1].name = STR_NULL; /* no name: nested loops have their own */
        e = emit(g, I_STORE, 0, 0, iterator);
    }
    e = e == ERR_OK ? declare(g, n->name, n->type, &slot) : e;
    uint32_t top = here(g);
    e = e == ERR_OK ? emit(g, I_LOAD, 0, 0, iterator) : e;
    uint32_t next = here(g);
    e = e == ERR_OK ? emit(g, I_NEXT, 0, 0, 0) : e;
    e = e == ERR_OK && n->type.id != TYPE_DEF ? emit_type(g, I_CONVERT, n->type) : e;
    e = e == ERR_OK ? emit(g, I_STORE, 0, 0, slot) : e;
    e = e == ERR_OK ? stmt(g, n->kids[1], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = emit(g, I_JUMP, 0, 0, top);
    }
    if (e == ERR_OK) {
        patch(g, next);
        loop_end(g, &l);
    }
    g->scope->n = names;
    return e;
}

static enum err try_statement(struct gen *g, const struct node *n, bool last)
{
    uint32_t ends[32], ends_n = 0, handler = here(g);
    enum err e = emit(g, I_TRY, 0, 0, 0);
    e = e == ERR_OK ? stmt(g, n->kids[0], last) : e;
    e = e == ERR_OK ? emit(g, I_END_TRY, 0, 0, 0) : e;
    ends[ends_n++] = here(g);
    e = e == ERR_OK ? emit(g, I_JUMP, 0, 0, 0) : e;
    if (e == ERR_OK) {
        patch(g, handler);
    }
    for (uint32_t i = 1; i + 1 < n->n && e == ERR_OK && ends_n < ARRAY_LEN(ends); i += 2) {
        const struct node *d = n->kids[i];
        uint32_t names = g->scope->n, slot = 0;
        e = emit_name(g, I_CAUGHT, 0, (uint16_t)d->type.id, d->value.s);
        uint32_t next = here(g);
        e = e == ERR_OK ? emit(g, I_IF_NOT, 0, 0, 0) : e;
        e = e == ERR_OK ? declare(g, d->name, (struct type){TYPE_DEF, 0}, &slot) : e;
        e = e == ERR_OK ? emit(g, I_STORE, 0, 0, slot) : e;
        e = e == ERR_OK ? stmt(g, n->kids[i + 1], last) : e;
        ends[ends_n++] = here(g);
        e = e == ERR_OK ? emit(g, I_JUMP, 0, 0, 0) : e;
        if (e == ERR_OK) {
            patch(g, next);
        }
        g->scope->n = names;
    }
    e = e == ERR_OK ? emit(g, I_THROW, 1, 0, 0) : e; /* none of them: on it goes */
    for (uint32_t i = 0; i < ends_n && e == ERR_OK; i++) {
        patch(g, ends[i]);
    }
    return e;
}

static enum err stmt(struct gen *g, const struct node *n, bool last)
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
        if (n->n > 0) {
            return return_value(g, n->kids[0]);
        }
        if (result_type(g).id != TYPE_VOID && !(g->scope->code == 0 && g->s->context == SCRIPT_UPDATE)) {
            return err_set(g->em, ERR_CLASS_CAST, "cannot cast from [def] to [void]");
        }
        return finish(g);
    case S_BREAK:
    case S_CONTINUE:
        return jump_out(g, n->kind == S_BREAK);
    case S_THROW:
        e = expr(g, n->kids[0]);
        return e == ERR_OK ? emit(g, I_THROW, 0, 0, 0) : e;
    case S_TRY:
        return try_statement(g, n, last);
    default:
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "not a statement");
    }
}

static enum err body(struct gen *g, uint32_t code, const struct param *params, uint32_t n, const struct node *statements)
{
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct scope *scope = ARENA_NEW(&scratch, struct scope);
    enum err e = scope == NULL ? err_no_memory(g->em) : ERR_OK;
    if (e == ERR_OK) {
        scope->code = code;
        g->scope = scope;
        e = set_params(g, params, n);
        e = e == ERR_OK ? stmt(g, statements, code == 0) : e;
        e = e == ERR_OK ? finish(g) : e;
    }
    g->scope = NULL;
    arena_fini(&scratch);
    return e;
}

enum err script_generate(struct script *s, const struct program *program, struct errmsg *em)
{
    struct gen g = {.s = s, .program = program, .em = em};
    uint32_t index = 0;
    enum err e = new_code(&g, &index);
    for (uint32_t i = 0; i < program->functions_n && e == ERR_OK; i++) { /* their numbers are known before any is compiled */
        e = new_code(&g, &index);
        s->code[i + 1].type = program->functions[i].type;
    }
    for (uint32_t i = 0; i < program->functions_n && e == ERR_OK; i++) {
        const struct function *f = &program->functions[i];
        e = body(&g, i + 1, f->params, f->params_n, f->body);
    }
    if (e == ERR_OK && program->body->n == 0 && s->context != SCRIPT_UPDATE) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "unexpected end of script.");
    }
    return e == ERR_OK ? body(&g, 0, NULL, 0, program->body) : e;
}
