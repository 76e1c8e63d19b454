/* Types that are known before running, and what they forbid. */
#include "engine/script/generate.h"

bool gen_is_arithmetic(enum op op)
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

/* What static methods give, where that is known. */
static enum type_id call_type(const struct node *n)
{
    const struct node *of = n->kids[0];
    if (of == NULL || of->kind != N_TYPE) {
        return TYPE_DEF;
    }
    if (of->type.id == TYPE_MATH) {
        return str_is(n->name, "round")                        ? TYPE_LONG
               : str_starts(n->name, STR("floor")) && n->n > 2 ? TYPE_DEF
                                                               : TYPE_DOUBLE;
    }
    return of->type.id == TYPE_STRING ? TYPE_STRING : TYPE_DEF;
}

/* TYPE_DEF where only running shows it. */
enum type_id gen_static_type(struct gen *g, const struct node *n)
{
    struct local *local;
    enum type_id a, b;
    switch (n->kind) {
    case N_CONST:
        return of_kind(n->value.kind);
    case N_NAME:
        local = gen_resolve(g, n->name);
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
        return n->op == OP_NOT ? TYPE_BOOLEAN : gen_static_type(g, n->kids[0]);
    case N_BINARY:
        if (!gen_is_arithmetic(n->op)) {
            return TYPE_BOOLEAN;
        }
        a = gen_static_type(g, n->kids[0]);
        b = gen_static_type(g, n->kids[1]);
        if (n->op == OP_ADD && (a == TYPE_STRING || b == TYPE_STRING)) {
            return TYPE_STRING;
        }
        return is_numeric(a) && is_numeric(b) ? MAX_OF(MAX_OF(a, b), TYPE_INT) : TYPE_DEF;
    case N_TERNARY:
        a = gen_static_type(g, n->kids[1]);
        b = gen_static_type(g, n->kids[2]);
        return a == b ? a : is_numeric(a) && is_numeric(b) ? MAX_OF(MAX_OF(a, b), TYPE_INT) : TYPE_DEF;
    case N_ASSIGN:
    case N_STEP:
        return n->kids[0]->kind == N_NAME ? gen_static_type(g, n->kids[0]) : TYPE_DEF;
    case N_CALL:
        return call_type(n);
    default:
        return TYPE_DEF;
    }
}

enum err gen_cannot_cast(struct gen *g, enum type_id from, enum type_id to)
{
    return err_set(g->em, ERR_CLASS_CAST, "Cannot cast from [%s] to [%s].", type_name(from), type_name(to));
}

enum type_id gen_unboxed(enum type_id id)
{
    return id >= TYPE_BOX_BOOLEAN && id <= TYPE_BOX_DOUBLE
               ? (enum type_id)(TYPE_BOOLEAN + (int)(id - TYPE_BOX_BOOLEAN))
               : id;
}

/* A whole literal takes the smaller type that is expected of it. */
static bool literal_fits(const struct node *n, enum type_id to)
{
    return n->kind == N_CONST && n->value.kind == SV_INT && to < TYPE_INT
           && sv_to_kind(n->value, type_kind(to)).i == n->value.i;
}

/* Values of `from` are values of `to` as well. */
static bool widens(enum type_id from, enum type_id to)
{
    return from <= to && to != TYPE_CHAR && !(from == TYPE_CHAR && to < TYPE_INT);
}

bool gen_boxes(enum type_id from, struct type to)
{
    enum type_id source = gen_unboxed(from), plain = gen_unboxed(to.id);
    if (to.dims > 0 || !type_is_primitive(source)) {
        return false;
    }
    if (to.id == TYPE_OBJECT || to.id == TYPE_NUMBER) {
        return from == source && (to.id == TYPE_OBJECT || is_numeric(from));
    }
    bool one_box = (from == source) != (to.id == plain);
    return one_box && (source == plain || (is_numeric(source) && is_numeric(plain) && widens(source, plain)));
}

/* What the compiler can already refuse when a value of n is assigned to `to`. */
enum err gen_check_assign(struct gen *g, const struct node *n, struct type to)
{
    enum type_id from = gen_static_type(g, n);
    if (n->kind == N_CONST && n->value.kind == SV_NULL) {
        return type_is_primitive(to.id) && to.dims == 0
                   ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot cast null to a primitive type [%s].",
                             type_name(to.id))
                   : ERR_OK;
    }
    if (to.id == TYPE_OBJECT && to.dims == 0 && type_is_primitive(from)) {
        return gen_cannot_cast(g, from, to.id);
    }
    if (from == TYPE_DEF || to.id == TYPE_DEF || to.id == TYPE_OBJECT || to.id == TYPE_NONE
        || from == to.id) {
        return ERR_OK;
    }
    enum type_id plain = gen_unboxed(to.id), source = gen_unboxed(from);
    if (to.dims > 0) {
        return type_is_primitive(from) || from == TYPE_STRING ? gen_cannot_cast(g, from, to.id) : ERR_OK;
    }
    if (is_numeric(from) && to.id == plain && is_numeric(plain)) {
        return widens(from, plain) || literal_fits(n, plain) ? ERR_OK : gen_cannot_cast(g, from, to.id);
    }
    if (source == plain && !type_is_primitive(from)) {
        return ERR_OK;
    }
    bool clash =
        type_is_primitive(from) || type_is_primitive(to.id) || from == TYPE_STRING || to.id == TYPE_STRING;
    return clash ? gen_cannot_cast(g, from, to.id) : ERR_OK;
}

/* A cast that is written out may narrow, but not turn texts or booleans into numbers. */
enum err gen_check_cast(struct gen *g, const struct node *n)
{
    enum type_id from = gen_static_type(g, n->kids[0]), to = n->type.id;
    if (n->type.dims > 0 || from == TYPE_DEF || from == to || !type_is_primitive(to)) {
        return ERR_OK;
    }
    bool one_char = to == TYPE_CHAR && from == TYPE_STRING;
    bool odd = from == TYPE_STRING || from == TYPE_LIST || from == TYPE_MAP
               || (from == TYPE_BOOLEAN) != (to == TYPE_BOOLEAN);
    return odd && !one_char && gen_unboxed(from) != to ? gen_cannot_cast(g, from, to) : ERR_OK;
}

/* What the script itself must give. */
struct type gen_result_type(const struct gen *g)
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
