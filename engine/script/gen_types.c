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

static struct type plain(enum type_id id)
{
    return (struct type){.id = id};
}

/* What methods of classes give, where that is known. */
static const struct {
    enum type_id of, gives;
    const char *name; /* NULL: every other one */
} known_methods[] = {{TYPE_MATH, TYPE_LONG, "round"},
                     {TYPE_MATH, TYPE_DEF, "floorMod"},
                     {TYPE_MATH, TYPE_DEF, "floorDiv"},
                     {TYPE_MATH, TYPE_INT, "getExponent"},
                     {TYPE_MATH, TYPE_DOUBLE, NULL},
                     {TYPE_STRING, TYPE_STRING, NULL},
                     {TYPE_BOX_INT, TYPE_INT, "parseInt"},
                     {TYPE_BOX_INT, TYPE_INT, "compare"},
                     {TYPE_BOX_INT, TYPE_INT, "bitCount"},
                     {TYPE_BOX_INT, TYPE_INT, "signum"},
                     {TYPE_BOX_INT, TYPE_STRING, "toString"},
                     {TYPE_BOX_INT, TYPE_STRING, "toHexString"},
                     {TYPE_BOX_LONG, TYPE_LONG, "parseLong"},
                     {TYPE_BOX_LONG, TYPE_STRING, "toString"},
                     {TYPE_BOX_LONG, TYPE_INT, "compare"},
                     {TYPE_BOX_DOUBLE, TYPE_DOUBLE, "parseDouble"},
                     {TYPE_BOX_DOUBLE, TYPE_BOOLEAN, "isNaN"},
                     {TYPE_BOX_DOUBLE, TYPE_STRING, "toString"},
                     {TYPE_BOX_DOUBLE, TYPE_INT, "compare"},
                     {TYPE_BOX_FLOAT, TYPE_FLOAT, "parseFloat"},
                     {TYPE_BOX_BOOLEAN, TYPE_BOOLEAN, "parseBoolean"}};

static const struct {
    const char *name;
    enum type_id gives;
} text_methods[] = {{"length", TYPE_INT},
                    {"indexOf", TYPE_INT},
                    {"lastIndexOf", TYPE_INT},
                    {"compareTo", TYPE_INT},
                    {"hashCode", TYPE_INT},
                    {"codePointAt", TYPE_INT},
                    {"charAt", TYPE_CHAR},
                    {"contains", TYPE_BOOLEAN},
                    {"startsWith", TYPE_BOOLEAN},
                    {"endsWith", TYPE_BOOLEAN},
                    {"isEmpty", TYPE_BOOLEAN},
                    {"equals", TYPE_BOOLEAN},
                    {"toUpperCase", TYPE_STRING},
                    {"toLowerCase", TYPE_STRING},
                    {"substring", TYPE_STRING},
                    {"trim", TYPE_STRING},
                    {"replace", TYPE_STRING},
                    {"concat", TYPE_STRING},
                    {"equalsIgnoreCase", TYPE_BOOLEAN},
                    {"toString", TYPE_STRING}};

static struct type call_type(struct gen *g, const struct node *n)
{
    const struct node *of = n->kids[0];
    if (of == NULL) {
        for (uint32_t i = 0; i < g->program->functions_n; i++) {
            const struct function *f = &g->program->functions[i];
            if (str_eq(f->name, n->name) && f->params_n == n->n - 1) {
                return f->type;
            }
        }
        return plain(TYPE_DEF);
    }
    for (size_t i = 0; of->kind == N_TYPE && i < ARRAY_LEN(known_methods); i++) {
        if (known_methods[i].of == of->type.id
            && (known_methods[i].name == NULL || str_is(n->name, known_methods[i].name))) {
            return plain(known_methods[i].gives);
        }
    }
    for (size_t i = 0; of->kind != N_TYPE && !n->flag && i < ARRAY_LEN(text_methods); i++) {
        if (str_is(n->name, text_methods[i].name)) {
            struct type t = gen_type_of(g, of);
            return t.id == TYPE_STRING && t.dims == 0 ? plain(text_methods[i].gives) : plain(TYPE_DEF);
        }
    }
    return plain(TYPE_DEF);
}

static struct type name_type(struct gen *g, const struct node *n)
{
    const struct local *local = gen_resolve(g, n->name);
    if (local != NULL) {
        return local->type;
    }
    switch (gen_context_variable(g, n->name)) {
    case VAR_SCORE:
        return plain(TYPE_DOUBLE);
    case VAR_DOC:
    case VAR_PARAMS:
    case VAR_CTX:
        return type_called(STR("Map"));
    default:
        return plain(TYPE_DEF);
    }
}

enum type_id gen_promoted(enum type_id a, enum type_id b, bool decimal)
{
    bool whole_a = a >= TYPE_BYTE && a <= TYPE_INT, whole_b = b >= TYPE_BYTE && b <= TYPE_INT;
    if (decimal && (a == TYPE_DOUBLE || b == TYPE_DOUBLE)) {
        return TYPE_DOUBLE;
    }
    if (decimal && (a == TYPE_FLOAT || b == TYPE_FLOAT)) {
        return TYPE_FLOAT;
    }
    return a == TYPE_LONG || b == TYPE_LONG ? TYPE_LONG : whole_a || whole_b ? TYPE_INT : TYPE_NONE;
}

static struct type binary_type(struct gen *g, const struct node *n)
{
    if (!gen_is_arithmetic(n->op)) {
        return plain(TYPE_BOOLEAN);
    }
    enum type_id a = gen_static_type(g, n->kids[0]), b = gen_static_type(g, n->kids[1]);
    if (n->op == OP_ADD && (a == TYPE_STRING || b == TYPE_STRING)) {
        return plain(TYPE_STRING);
    }
    bool shift = n->op >= OP_SHL && n->op <= OP_USHR;
    b = shift ? a : b;
    if (a == TYPE_DEF || b == TYPE_DEF) {
        return plain(TYPE_DEF);
    }
    a = gen_unboxed(a);
    b = gen_unboxed(b);
    if (n->op == OP_BXOR && a == TYPE_BOOLEAN && b == TYPE_BOOLEAN) {
        return plain(TYPE_BOOLEAN);
    }
    return is_numeric(a) && is_numeric(b) ? plain(gen_promoted(a, b, true)) : plain(TYPE_DEF);
}

/* TYPE_DEF where only running shows it. */
struct type gen_type_of(struct gen *g, const struct node *n)
{
    struct type a, b;
    switch (n->kind) {
    case N_CONST:
        return plain(of_kind(n->value.kind));
    case N_NAME:
        return name_type(g, n);
    case N_CAST:
    case N_NEW:
        return n->type;
    case N_AND:
    case N_OR:
    case N_INSTANCEOF:
        return plain(TYPE_BOOLEAN);
    case N_LIST:
        return type_called(STR("ArrayList"));
    case N_MAP:
        return type_called(STR("HashMap"));
    case N_UNARY:
        if (n->op == OP_NOT) {
            return plain(TYPE_BOOLEAN);
        }
        a = plain(gen_unboxed(gen_static_type(g, n->kids[0])));
        return is_numeric(a.id) ? plain(MAX_OF(a.id, TYPE_INT)) : plain(TYPE_DEF);
    case N_BINARY:
        return binary_type(g, n);
    case N_TERNARY:
        a = gen_type_of(g, n->kids[1]);
        b = gen_type_of(g, n->kids[2]);
        if (a.id == b.id && a.dims == b.dims) {
            return a;
        }
        return is_numeric(a.id) && is_numeric(b.id) ? plain(MAX_OF(MAX_OF(a.id, b.id), TYPE_INT))
                                                    : plain(TYPE_DEF);
    case N_ASSIGN:
    case N_STEP:
        return n->kids[0]->kind == N_NAME ? gen_type_of(g, n->kids[0]) : plain(TYPE_DEF);
    case N_CALL:
        return call_type(g, n);
    default:
        return plain(TYPE_DEF);
    }
}

enum type_id gen_static_type(struct gen *g, const struct node *n)
{
    struct type t = gen_type_of(g, n);
    return t.dims == 0 ? t.id : TYPE_DEF;
}

enum err gen_cannot_cast(struct gen *g, struct type from, struct type to)
{
    return err_set(g->em, ERR_CLASS_CAST, "Cannot cast from [%s] to [%s].", type_java(from).s,
                   type_java(to).s);
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
bool gen_widens(enum type_id from, enum type_id to)
{
    return from == to
           || (is_numeric(from) && from <= to && to != TYPE_CHAR && !(from == TYPE_CHAR && to < TYPE_INT));
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
    return one_box
           && (source == plain || (is_numeric(source) && is_numeric(plain) && gen_widens(source, plain)));
}

static enum err check_assign(struct gen *g, const struct node *n, struct type to)
{
    struct type from = gen_type_of(g, n);
    if (n->kind == N_CONST && n->value.kind == SV_NULL) {
        return type_is_primitive(to.id) && to.dims == 0
                   ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot cast null to a primitive type [%s].",
                             type_name(to.id))
                   : ERR_OK;
    }
    if (to.id == TYPE_OBJECT && to.dims == 0 && type_is_primitive(from.id) && from.dims == 0) {
        return gen_cannot_cast(g, from, to);
    }
    if (from.id == TYPE_DEF || to.id == TYPE_DEF || to.id == TYPE_OBJECT || to.id == TYPE_NONE
        || (from.id == to.id && from.dims == to.dims)) {
        return ERR_OK;
    }
    enum type_id plain = gen_unboxed(to.id);
    if (to.dims > 0 || from.dims > 0) {
        bool clash = type_is_primitive(from.id) || type_is_primitive(to.id) || from.id == TYPE_STRING;
        return clash ? gen_cannot_cast(g, from, to) : ERR_OK;
    }
    if (is_numeric(from.id) && to.id == plain && is_numeric(plain)) {
        return gen_widens(from.id, plain) || literal_fits(n, plain) ? ERR_OK : gen_cannot_cast(g, from, to);
    }
    bool clash = type_is_primitive(from.id) || type_is_primitive(to.id) || from.id == TYPE_STRING
                 || to.id == TYPE_STRING || (from.id == TYPE_LIST && to.id == TYPE_MAP)
                 || (from.id == TYPE_MAP && to.id != TYPE_MAP);
    return clash ? gen_cannot_cast(g, from, to) : ERR_OK;
}

/* What the compiler can already refuse when a value of n is assigned to `to`. */
enum err gen_check_assign(struct gen *g, const struct node *n, struct type to)
{
    return gen_placed(g, check_assign(g, n, to), n->off);
}

/* A cast that is written out may narrow, but not turn texts or booleans into numbers. */
enum err gen_check_cast(struct gen *g, const struct node *n)
{
    const struct node *of = n->kids[0];
    struct type from = gen_type_of(g, of);
    enum type_id to = n->type.id;
    enum err e = ERR_OK;
    if (n->type.dims == 0 && type_is_primitive(to) && of->kind == N_CONST && of->value.kind == SV_NULL) {
        e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot cast null to a primitive type [%s].", type_name(to));
        return gen_placed(g, e, of->off);
    }
    if (n->type.dims > 0 || from.dims > 0 || from.id == TYPE_DEF || from.id == to || !type_is_primitive(to)) {
        return ERR_OK;
    }
    bool one_char = to == TYPE_CHAR && from.id == TYPE_STRING;
    bool odd = from.id == TYPE_STRING || from.id == TYPE_LIST || from.id == TYPE_MAP
               || (from.id == TYPE_BOOLEAN) != (to == TYPE_BOOLEAN);
    e = odd && !one_char && gen_unboxed(from.id) != to ? gen_cannot_cast(g, from, n->type) : ERR_OK;
    return gen_placed(g, e, of->off);
}

/* What the script itself must give. */
struct type gen_result_type(const struct gen *g)
{
    if (g->scope->code != 0) {
        return g->s->code[g->scope->code].type;
    }
    if (str_is(g->s->lang, "expression")) {
        return (struct type){.id = TYPE_DEF};
    }
    switch (g->s->context) {
    case SCRIPT_SCORE:
    case SCRIPT_NUMBER_SORT:
    case SCRIPT_MOVING_FN:
        return (struct type){.id = TYPE_DOUBLE};
    case SCRIPT_FILTER:
    case SCRIPT_BUCKET_SELECTOR:
        return (struct type){.id = TYPE_BOOLEAN};
    case SCRIPT_STRING_SORT:
        return (struct type){.id = TYPE_STRING};
    case SCRIPT_BUCKET:
    case SCRIPT_TERMS_SET:
        return (struct type){.id = TYPE_NUMBER};
    default:
        return (struct type){.id = TYPE_DEF};
    }
}
