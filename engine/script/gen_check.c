/* What the compiler refuses: members that a class does not have, operands that an operator does not take. */
#include "engine/script/generate.h"

bool gen_is_null(const struct node *n)
{
    return n->kind == N_CONST && n->value.kind == SV_NULL;
}

enum err gen_no_field(struct gen *g, struct type of, struct str name)
{
    return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "field [%s, %.*s] not found", type_java(of).s, STR_ARG(name));
}

enum err gen_no_method(struct gen *g, const char *kind, struct type of, struct str name, uint32_t argc)
{
    return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "%s method [%s, %.*s/%u] not found", kind, type_java(of).s,
                   STR_ARG(name), argc);
}

/* What a value of a known class surely does not have. */
enum err gen_check_member(struct gen *g, const struct node *n, bool call)
{
    const struct node *of = n->kids[0];
    struct type t = gen_is_null(of) ? (struct type){.id = TYPE_OBJECT} : gen_type_of(g, of);
    uint32_t argc = call ? n->n - 1 : 0;
    bool number = t.id >= TYPE_BOOLEAN && t.id <= TYPE_BOX_DOUBLE;
    static const char *const anywhere[] = {"toString", "hashCode", "equals", "getClass"};
    if (t.dims > 0 || n->flag) {
        return ERR_OK;
    }
    if (!call) {
        bool empty = t.id == TYPE_STRING && str_is(n->name, "empty");
        return (number || t.id == TYPE_STRING || gen_is_null(of)) && !empty && !str_is(n->name, "class")
                   ? gen_no_field(g, t, n->name)
                   : ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(anywhere); i++) {
        if (str_is(n->name, anywhere[i])) {
            return ERR_OK;
        }
    }
    bool of_number = str_ends(n->name, STR("Value")) || str_is(n->name, "compareTo")
                     || str_is(n->name, "isNaN") || str_is(n->name, "isInfinite");
    bool missing = t.id == TYPE_STRING   ? !methods_str_has(n->name, argc)
                   : t.id == TYPE_OBJECT ? true
                                         : number && !of_number;
    return missing ? gen_no_method(g, "member", t, n->name, argc) : ERR_OK;
}

bool gen_is_math(struct str name, uint32_t argc)
{
    static const char *const one[] = {"abs",    "acos",      "asin",      "atan",       "cbrt",  "ceil",
                                      "cos",    "cosh",      "exp",       "expm1",      "floor", "log",
                                      "log10",  "log1p",     "nextDown",  "nextUp",     "rint",  "round",
                                      "signum", "sin",       "sinh",      "sqrt",       "tan",   "tanh",
                                      "ulp",    "toDegrees", "toRadians", "getExponent"};
    static const char *const two[] = {"atan2", "copySign",  "hypot", "IEEEremainder", "max",
                                      "min",   "nextAfter", "pow",   "scalb"};
    for (size_t i = 0; argc == 1 && i < ARRAY_LEN(one); i++) {
        if (str_is(name, one[i])) {
            return true;
        }
    }
    for (size_t i = 0; argc == 2 && i < ARRAY_LEN(two); i++) {
        if (str_is(name, two[i])) {
            return true;
        }
    }
    return argc == 0 && str_is(name, "random");
}

/* Elasticsearch shows its own objects for the arguments. */
enum err gen_unknown_call(struct gen *g, const struct node *n)
{
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_BYTES);
    for (uint32_t i = 1; i < n->n; i++) {
        const struct node *a = n->kids[i];
        const char *class = a->kind != N_CONST         ? node_class(a)
                            : a->value.kind == SV_STR  ? "EString"
                            : a->value.kind == SV_BOOL ? "EBooleanConstant"
                            : a->value.kind == SV_NULL ? "ENull"
                            : a->value.kind <= SV_LONG ? "ENumeric"
                                                       : "EDecimal";
        buf_printf(&b, "%sorg.elasticsearch.painless.node.%s@%08x", i > 1 ? ", " : "", class, a->off);
    }
    enum err e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Unknown call [%.*s] with [[%.*s]] arguments.",
                         STR_ARG(n->name), STR_ARG(buf_view(&b)));
    buf_fini(&b);
    return e;
}

/* The type that both sides become; TYPE_NONE: there is none. */
static enum type_id promoted(enum op op, enum type_id a, enum type_id b)
{
    bool equality = op >= OP_EQ && op <= OP_NOT_SAME, decimal = op <= OP_REM || op >= OP_EQ;
    if (a == TYPE_DEF || b == TYPE_DEF) {
        return TYPE_DEF;
    }
    if (op == OP_ADD && (a == TYPE_STRING || b == TYPE_STRING)) {
        return TYPE_STRING;
    }
    if (equality && !(type_is_primitive(a) && type_is_primitive(b))) {
        return TYPE_OBJECT;
    }
    if ((equality || op == OP_BXOR) && gen_unboxed(a) == TYPE_BOOLEAN && gen_unboxed(b) == TYPE_BOOLEAN) {
        return TYPE_BOOLEAN;
    }
    return gen_promoted(gen_unboxed(a), gen_unboxed(b), decimal);
}

static enum err no_operator(struct gen *g, const struct node *n, struct type a, struct type b)
{
    return err_set(g->em, ERR_CLASS_CAST, "cannot apply the %s operator [%s] to the types [%s] and [%s]",
                   op_words(n->op), op_sign(n->op), type_java(a).s, type_java(b).s);
}

/* Whether both sides can become the type that the operator works on. */
enum err gen_check_operands(struct gen *g, const struct node *n)
{
    const struct node *a = n->kids[0], *b = n->kids[1];
    struct type ta = gen_type_of(g, a), tb = gen_type_of(g, b);
    ta = gen_is_null(a) ? (struct type){.id = TYPE_OBJECT} : ta;
    tb = gen_is_null(b) ? (struct type){.id = TYPE_OBJECT} : tb;
    if (ta.dims > 0 || tb.dims > 0 || n->op == OP_FIND || n->op == OP_MATCH) {
        return ERR_OK;
    }
    if (n->op >= OP_SHL && n->op <= OP_USHR) {
        bool bad =
            (ta.id != TYPE_DEF && gen_promoted(gen_unboxed(ta.id), gen_unboxed(ta.id), false) == TYPE_NONE)
            || (tb.id != TYPE_DEF
                && gen_promoted(gen_unboxed(tb.id), gen_unboxed(tb.id), false) == TYPE_NONE);
        return bad ? no_operator(g, n, ta, tb) : ERR_OK;
    }
    enum type_id to = promoted(n->op, ta.id, tb.id);
    if (to == TYPE_NONE) {
        return no_operator(g, n, ta, tb);
    }
    if (to == TYPE_DEF || to == TYPE_STRING) {
        return ERR_OK;
    }
    for (int i = 0; i < 2; i++) {
        struct type from = i == 0 ? ta : tb;
        bool same_world = to == TYPE_OBJECT    ? !type_is_primitive(from.id)
                          : to == TYPE_BOOLEAN ? gen_unboxed(from.id) == TYPE_BOOLEAN
                                               : gen_widens(from.id, to);
        if (!same_world) {
            return gen_placed(g, gen_cannot_cast(g, from, (struct type){.id = to}), (i == 0 ? a : b)->off);
        }
    }
    return ERR_OK;
}
