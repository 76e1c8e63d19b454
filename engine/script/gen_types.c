/* Types that are known before running, and what they forbid. */
#include "engine/script/nodes.h"
#include "engine/script/operators.h"

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

static struct type type_plain(enum type_id id)
{
    return (struct type){.id = id};
}

bool gen_is_ref(struct type t)
{
    return t.dims > 0 || (!type_is_primitive(t.id) && t.id != TYPE_DEF && t.id != TYPE_VOID);
}

const struct function *gen_function(const struct gen *g, const struct node *n)
{
    for (uint32_t i = 0; i < g->program->functions_n; i++) {
        const struct function *f = &g->program->functions[i];
        if (str_eq(f->name, n->name) && f->params_n == n->n - 1) {
            return f;
        }
    }
    return NULL;
}

bool gen_called(struct gen *g, const struct node *n, struct allowed *out)
{
    struct node *of = n->kids[0];
    uint32_t argc = n->n - 1;
    if (of == NULL) {
        return g->s->context == SCRIPT_SCORE && allow_score_function(n->name, argc, out);
    }
    return of->kind == N_TYPE ? allow_find(of->type, ALLOW_STATIC, n->name, argc, out)
                              : allow_find(gen_type_of(g, of), ALLOW_METHOD, n->name, argc, out);
}

struct type type_of_call(struct gen *g, struct node *n)
{
    struct allowed m;
    const struct function *f = n->kids[0] == NULL ? gen_function(g, n) : NULL;
    return f != NULL ? f->type : gen_called(g, n, &m) ? m.gives : type_plain(TYPE_DEF);
}

/* "name" as "getName". */
static bool shortcut(struct type of, const char *prefix, struct str name, uint32_t argc, struct allowed *out)
{
    char method[80];
    size_t n = strlen(prefix);
    if (name.n == 0 || n + name.n > sizeof(method)) {
        return false;
    }
    memcpy(method, prefix, n);
    memcpy(method + n, name.p, name.n);
    if (method[n] >= 'a' && method[n] <= 'z') {
        method[n] = (char)(method[n] - 'a' + 'A');
    }
    return allow_find(of, ALLOW_METHOD, (struct str){method, n + name.n}, argc, out);
}

bool gen_field(struct type of, struct str name, bool written, struct type *out)
{
    struct allowed m;
    *out = type_plain(TYPE_DEF);
    if (of.dims > 0) {
        *out = type_plain(TYPE_INT);
        return str_is(name, "length");
    }
    if (of.id == TYPE_DEF || (!type_is_primitive(of.id) && !allow_class(of))) {
        return true;
    }
    if (written) {
        bool there = shortcut(of, "set", name, 1, &m);
        *out = there ? m.takes[0] : *out;
        return there || of.id == TYPE_MAP || of.id == TYPE_LIST;
    }
    bool there = shortcut(of, "get", name, 0, &m) || shortcut(of, "is", name, 0, &m);
    *out = there ? m.gives : *out;
    return there || of.id == TYPE_MAP || of.id == TYPE_LIST;
}

struct type type_of_member(struct gen *g, struct node *n)
{
    struct type t = type_plain(TYPE_DEF);
    struct allowed m;
    if (n->kids[0]->kind == N_TYPE) {
        return allow_find(n->kids[0]->type, ALLOW_FIELD, n->name, 0, &m) ? m.gives : t;
    }
    gen_field(gen_type_of(g, n->kids[0]), n->name, false, &t);
    return t;
}

struct type type_of_element(struct gen *g, struct node *n)
{
    struct type of = gen_type_of(g, n->kids[0]);
    if (of.dims == 0) {
        return type_plain(TYPE_DEF);
    }
    of.dims--;
    return of;
}

struct type type_of_variable(struct gen *g, struct node *n)
{
    const struct local *local = gen_resolve(g, n->name);
    const struct variable *given = gen_context_variable(g, n->name);
    return local != NULL ? local->type : given != NULL ? gen_variable_type(given) : type_plain(TYPE_DEF);
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

struct type type_of_binary(struct gen *g, struct node *n)
{
    if (operators[n->op].form != FORM_ARITHMETIC && !op_of_bits(n->op)) {
        return type_plain(TYPE_BOOLEAN);
    }
    enum type_id a = gen_static_type(g, n->kids[0]), b = gen_static_type(g, n->kids[1]);
    if (n->op == OP_ADD && (a == TYPE_STRING || b == TYPE_STRING)) {
        return type_plain(TYPE_STRING);
    }
    bool shift = operators[n->op].form == FORM_SHIFT;
    b = shift ? a : b;
    if (a == TYPE_DEF || b == TYPE_DEF) {
        return type_plain(TYPE_DEF);
    }
    a = gen_unboxed(a);
    b = gen_unboxed(b);
    if (n->op == OP_BXOR && a == TYPE_BOOLEAN && b == TYPE_BOOLEAN) {
        return type_plain(TYPE_BOOLEAN);
    }
    return is_numeric(a) && is_numeric(b) ? type_plain(gen_promoted(a, b, true)) : type_plain(TYPE_DEF);
}

bool gen_conditional(struct gen *g, struct node *n, struct type *out)
{
    uint32_t first = n->kind == N_TERNARY ? 1 : 0;
    struct type a = gen_type_of(g, n->kids[first]), b = gen_type_of(g, n->kids[first + 1]);
    *out = a;
    if (type_same(a, b)) {
        return true;
    }
    if (a.dims > 0 || b.dims > 0 || !is_numeric(a.id) || !is_numeric(b.id)) {
        bool any = a.id == TYPE_DEF || b.id == TYPE_DEF;
        *out = any ? type_plain(TYPE_DEF) : type_called(STR("Object"));
        return true;
    }
    *out = type_plain(MAX_OF(MAX_OF(a.id, b.id), TYPE_INT));
    return !(a.id < TYPE_CHAR && b.id < TYPE_CHAR);
}

struct type type_of_conditional(struct gen *g, struct node *n)
{
    struct type t;
    gen_conditional(g, n, &t);
    return t;
}

struct type type_of_const(UNUSED struct gen *g, struct node *n)
{
    enum sv_kind kind = n->value.kind;
    return kind == SV_NULL      ? type_called(STR("Object"))
           : kind == SV_PATTERN ? type_plain(TYPE_PATTERN)
                                : type_plain(of_kind(kind));
}

struct type type_written_down(UNUSED struct gen *g, struct node *n)
{
    return n->type;
}

struct type type_of_condition(UNUSED struct gen *g, UNUSED struct node *n)
{
    return type_plain(TYPE_BOOLEAN);
}

struct type type_of_list(UNUSED struct gen *g, UNUSED struct node *n)
{
    return type_called(STR("ArrayList"));
}

struct type type_of_map(UNUSED struct gen *g, UNUSED struct node *n)
{
    return type_called(STR("HashMap"));
}

struct type type_of_unary(struct gen *g, struct node *n)
{
    if (n->op == OP_NOT) {
        return type_plain(TYPE_BOOLEAN);
    }
    enum type_id id = gen_unboxed(gen_static_type(g, n->kids[0]));
    return is_numeric(id) ? type_plain(MAX_OF(id, TYPE_INT)) : type_plain(TYPE_DEF);
}

/* What is assigned to. */
struct type type_of_target(struct gen *g, struct node *n)
{
    return n->kids[0]->kind == N_NAME ? gen_type_of(g, n->kids[0]) : type_plain(TYPE_DEF);
}

/* TYPE_DEF where only running shows it. */
struct type gen_type_of(struct gen *g, struct node *n)
{
    if (!n->typed) {
        node_type_fn *find = nodes[n->kind].type;
        n->is = find != NULL ? find(g, n) : type_plain(TYPE_DEF);
        n->typed = true;
    }
    return n->is;
}

enum type_id gen_static_type(struct gen *g, struct node *n)
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

/* A primitive as one, or as a reference; AnalyzerCaster of painless. */
static bool primitive_becomes(enum type_id from, struct type to, unsigned how)
{
    bool internal = (how & AS_PASSED) != 0, written = (how & AS_WRITTEN) != 0;
    enum type_id plain = gen_unboxed(to.id);
    if (to.dims > 0 || from == TYPE_VOID) {
        return false;
    }
    if (type_is_primitive(to.id)) {
        bool numbers = is_numeric(from) && is_numeric(to.id);
        return numbers && (written || gen_widens(from, to.id));
    }
    if (to.id == TYPE_OBJECT || to.id == TYPE_NUMBER) {
        return internal && (to.id == TYPE_OBJECT || (is_numeric(from) && from != TYPE_CHAR));
    }
    if (to.id == TYPE_STRING) {
        return from == TYPE_CHAR && written;
    }
    return internal && plain != to.id
           && (from == plain
               || (is_numeric(from) && is_numeric(plain) && (written || gen_widens(from, plain))));
}

static bool becomes(struct type from, struct type to, unsigned how)
{
    bool internal = (how & AS_PASSED) != 0, written = (how & AS_WRITTEN) != 0;
    if (type_same(from, to) || (from.id == TYPE_DEF && from.dims == 0)) {
        return true;
    }
    if (to.id == TYPE_DEF && to.dims == 0) {
        return from.id != TYPE_VOID;
    }
    if (!gen_is_ref(from)) {
        return primitive_becomes(from.id, to, how);
    }
    if (gen_is_ref(to)) {
        return allow_descends(from, to) || (written && allow_descends(to, from));
    }
    enum type_id plain = gen_unboxed(from.id);
    if (from.dims > 0) {
        return false;
    }
    if (from.id == TYPE_STRING) {
        return to.id == TYPE_CHAR && written;
    }
    if (from.id == TYPE_OBJECT || from.id == TYPE_NUMBER) {
        return written && internal && (from.id == TYPE_OBJECT || is_numeric(to.id));
    }
    return plain != from.id && internal
           && (plain == to.id
               || (is_numeric(plain) && is_numeric(to.id) && (written || gen_widens(plain, to.id))));
}

static enum err check_cast(struct gen *g, struct node *n, struct type to, unsigned how)
{
    if (gen_is_null(n)) {
        bool ref = to.id == TYPE_DEF || gen_is_ref(to) || to.id == TYPE_NONE;
        return ref ? ERR_OK
                   : err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Cannot cast null to a primitive type [%s].",
                             type_name(to.id));
    }
    struct type from = gen_type_of(g, n);
    if (to.id == TYPE_NONE || from.id == TYPE_NONE || becomes(from, to, how)) {
        return ERR_OK;
    }
    bool small = to.dims == 0 && to.id >= TYPE_BYTE && to.id <= TYPE_CHAR;
    return small && literal_fits(n, to.id) ? ERR_OK : gen_cannot_cast(g, from, to);
}

enum err gen_check_cast(struct gen *g, struct node *n, struct type to, unsigned how)
{
    bool minus = n->kind == N_CONST && n->flag; /* that is an operator of its own */
    return gen_placed(g, check_cast(g, n, to, how), n->off + (minus ? 1 : 0));
}

/* What the script itself must give. */
struct type gen_result_type(const struct gen *g)
{
    if (g->scope->code != 0) {
        return g->s->code[g->scope->code].type;
    }
    return type_plain(str_is(g->s->lang, "expression") ? TYPE_DEF : gen_context_type(g->s->context));
}
