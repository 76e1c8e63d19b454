/* The compiler's refusals: members that a class does not have, operands that an operator does not take. */
#include "engine/script/generate.h"
#include "engine/script/operators.h"

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

/* A list's elements have their numbers for names. */
static enum err no_list_index(struct gen *g, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9') {
            (void)err_set(g->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(name));
            return err_wrap(g->em, ERR_ILLEGAL_ARGUMENT, "invalid list index [%.*s]", STR_ARG(name));
        }
    }
    return ERR_OK;
}

static enum err check_field(struct gen *g, const struct node *n, struct type t, bool written)
{
    struct type ignored;
    struct allowed m;
    if (!gen_field(t, n->name, written, &ignored)) {
        return t.dims == 0
                   ? gen_no_field(g, t, n->name)
                   : err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] does not exist for type [%s].",
                             STR_ARG(n->name), type_java(t).s);
    }
    bool length = !written && str_is(n->name, "length"), empty = !written && str_is(n->name, "empty");
    bool list = t.id == TYPE_LIST && t.dims == 0 && allow_find(t, ALLOW_METHOD, STR("size"), 0, &m);
    return list && !length && !empty ? no_list_index(g, n->name) : ERR_OK;
}

/* Refuses a member that a value of a known class lacks. */
enum err gen_check_member(struct gen *g, struct node *n, bool call, bool written)
{
    struct node *of = n->kids[0];
    struct type t = gen_type_of(g, of);
    uint32_t argc = call ? n->n - 1 : 0;
    struct allowed m;
    if (!call) {
        return check_field(g, n, t, written);
    }
    bool known = t.dims > 0 || t.id == TYPE_VOID || allow_class(t);
    return known && t.id != TYPE_DEF && !gen_called(g, n, &m) ? gen_no_method(g, "member", t, n->name, argc)
                                                              : ERR_OK;
}

static bool functional(struct type t)
{
    return t.id == TYPE_NONE || (t.dims == 0 && (t.id == TYPE_FUNCTION || t.id == TYPE_COMPARATOR));
}

enum err gen_arguments(struct gen *g, struct node *n, uint32_t first, const struct allowed *m)
{
    for (uint32_t i = first; i < n->n; i++) {
        struct node *a = n->kids[i];
        struct type to = m->takes[i - first];
        enum err e;
        if (a->kind == N_LAMBDA || a->kind == N_METHOD_REF) {
            if (!functional(to)) {
                e = err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot pass %s to [%s], not a functional interface",
                            a->kind == N_LAMBDA ? "lambda" : "function reference", type_java(to).s);
                return gen_placed(g, e, a->off);
            }
            e = gen_expr(g, a);
        } else if (a->kind == N_TERNARY || a->kind == N_ELVIS) {
            e = gen_expr_to(g, a, to, AS_PASSED);
        } else { /* methods convert what they are given */
            e = gen_expr(g, a);
            e = e == ERR_OK ? gen_check_cast(g, a, to, AS_PASSED) : e;
            struct type from = gen_type_of(g, a);
            bool folded = a->kind == N_CONST && (type_is_primitive(from.id) || gen_is_null(a));
            if (!folded && !type_same(from, to)) { /* a cast has its place in the code */
                gen_at(g, a->off);
            }
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Elasticsearch shows its own objects for the arguments. */
enum err gen_unknown_call(struct gen *g, struct node *n)
{
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    for (uint32_t i = 1; i < n->n; i++) {
        struct node *a = n->kids[i];
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
    bool equality = operators[op].form == FORM_EQUALITY, decimal = !op_of_bits(op);
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

static bool shiftable(struct type t)
{
    enum type_id id = gen_unboxed(t.id);
    return t.id == TYPE_DEF || (t.dims == 0 && gen_promoted(id, id, false) != TYPE_NONE);
}

/* A text and a pattern. */
static enum err check_match(struct gen *g, struct node *a, struct node *b)
{
    enum err e = gen_check_cast(g, a, (struct type){.id = TYPE_STRING}, AS_ASSIGNED);
    return e == ERR_OK ? gen_check_cast(g, b, (struct type){.id = TYPE_PATTERN}, AS_ASSIGNED) : e;
}

enum err gen_check_operands(struct gen *g, const struct node *n, struct node *a, struct node *b)
{
    struct type t[] = {gen_type_of(g, a), gen_type_of(g, b)};
    if (n->op == OP_FIND || n->op == OP_MATCH) {
        return check_match(g, a, b);
    }
    if (operators[n->op].form == FORM_SHIFT) {
        return shiftable(t[0]) && shiftable(t[1]) ? ERR_OK : no_operator(g, n, t[0], t[1]);
    }
    enum type_id ids[2];
    for (int i = 0; i < 2; i++) { /* an array is an object */
        ids[i] = t[i].dims > 0 ? TYPE_OBJECT : t[i].id;
    }
    enum type_id to = promoted(n->op, ids[0], ids[1]);
    if (to == TYPE_NONE) {
        return no_operator(g, n, t[0], t[1]);
    }
    bool assigned = n->kind == N_ASSIGN && ids[0] != TYPE_DEF && ids[0] != TYPE_STRING && to == TYPE_STRING;
    if (to == TYPE_DEF || (to == TYPE_STRING && !assigned)) {
        return ERR_OK;
    }
    for (int i = 0; i < 2; i++) {
        bool same_world = to == TYPE_OBJECT    ? !type_is_primitive(ids[i])
                          : to == TYPE_BOOLEAN ? gen_unboxed(ids[i]) == TYPE_BOOLEAN
                                               : gen_widens(ids[i], to);
        if (!same_world) {
            return gen_placed(g, gen_cannot_cast(g, t[i], (struct type){.id = to}), (i == 0 ? a : b)->off);
        }
    }
    return ERR_OK;
}
