/* Operators and casts: what Java does with values of each kind. */
#include "engine/script/operators.h"

#include "common/base/utf8.h"

#include <math.h>

static enum err bad_bits(struct script_run *m, enum op op, struct sv a, struct sv b)
{
    struct sv bad = sv_is_whole(a) ? b : a;
    bool shift = operators[op].form == FORM_SHIFT;
    if (bad.kind == SV_NULL) {
        return vm_no_class(m, shift ? "args[0]" : "o");
    }
    if (bad.kind == SV_DOUBLE || bad.kind == SV_FLOAT) {
        return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to type [%s]", op_sign(op),
                       shift ? vm_class(bad) : "float");
    }
    return err_set(m->em, ERR_CLASS_CAST, "Cannot convert [%s] to an integral value.", sv_class(bad));
}

/* One is a boolean, the other a number: the boolean should become one, too. */
static bool is_mixed(struct sv a, struct sv b)
{
    return (a.kind == SV_BOOL) != (b.kind == SV_BOOL) && sv_is_number(a.kind == SV_BOOL ? b : a);
}

static enum err truth_with_number(struct script_run *m, struct sv a, struct sv b)
{
    struct sv number = a.kind == SV_BOOL ? b : a;
    return err_set(m->em, ERR_CLASS_CAST, "Cannot cast java.lang.Boolean to %s",
                   sv_class(sv_to_kind(number, MAX_OF(number.kind, SV_INT))));
}

static enum err bad_operands(struct script_run *m, enum op op, struct sv a, struct sv b)
{
    if (is_mixed(a, b)) {
        return truth_with_number(m, a, b);
    }
    if (op_of_bits(op)) {
        return bad_bits(m, op, a, b);
    }
    if (a.kind == SV_NULL || b.kind == SV_NULL) {
        return vm_no_class(m, a.kind == SV_NULL ? "left" : "right");
    }
    if (a.kind == SV_BOOL && b.kind == SV_BOOL) {
        return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to type [boolean]", op_sign(op));
    }
    return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to types [%s] and [%s].",
                   op == OP_GE ? ">" : op_sign(op), sv_class(a), sv_class(b));
}

/* ---- arithmetic ---- */

static int64_t operator_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t divide(int64_t a, int64_t b)
{
    return b == -1 ? subtract(0, a) : a / b;
}

static int64_t modulo(int64_t a, int64_t b)
{
    return b == -1 ? 0 : a % b;
}

static int64_t bit_and(int64_t a, int64_t b)
{
    return a & b;
}

static int64_t bit_or(int64_t a, int64_t b)
{
    return a | b;
}

static int64_t one_of(int64_t a, int64_t b)
{
    return a ^ b;
}

static double add_real(double a, double b)
{
    return a + b;
}

static double subtract_real(double a, double b)
{
    return a - b;
}

static double multiply_real(double a, double b)
{
    return a * b;
}

static double divide_real(double a, double b)
{
    return a / b;
}

static struct sv whole(enum op op, struct sv a, struct sv b, enum sv_kind kind)
{
    int64_t r = operators[op].whole(a.i, b.i);
    return kind == SV_LONG ? sv_long(r) : sv_int((int32_t)(uint32_t)(uint64_t)r);
}

static enum err arithmetic(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    if (!sv_is_number(a) || !sv_is_number(b)) {
        return bad_operands(m, op, a, b);
    }
    enum sv_kind kind = MAX_OF(MAX_OF(a.kind, b.kind), SV_INT);
    if (kind <= SV_LONG) {
        *out = whole(op, a, b, kind);
    } else if (kind == SV_FLOAT) {
        float x = (float)sv_num(a), y = (float)sv_num(b);
        *out =
            op == OP_REM ? sv_float(fmodf(x, y)) : sv_float((float)operators[op].real((double)x, (double)y));
    } else {
        *out = sv_double(operators[op].real(sv_num(a), sv_num(b)));
    }
    return ERR_OK;
}

static enum err division(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    if (sv_is_whole(a) && sv_is_whole(b) && b.i == 0) {
        return err_set(m->em, ERR_ARITHMETIC, "/ by zero");
    }
    return arithmetic(m, op, a, b, out);
}

static enum err bits(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    if (a.kind == SV_BOOL && b.kind == SV_BOOL) {
        *out = sv_bool(operators[op].whole(a.b, b.b) != 0);
        return ERR_OK;
    }
    if (!sv_is_whole(a) || !sv_is_whole(b)) {
        return bad_operands(m, op, a, b);
    }
    *out = whole(op, a, b, MAX_OF(MAX_OF(a.kind, b.kind), SV_INT));
    return ERR_OK;
}

static enum err shift(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    if (!sv_is_whole(a) || !sv_is_whole(b)) {
        return bad_operands(m, op, a, b);
    }
    bool is_long = a.kind == SV_LONG;
    unsigned n = (unsigned)b.i & (is_long ? 63U : 31U);
    if (is_long) {
        *out = sv_long(op == OP_SHL   ? (int64_t)((uint64_t)a.i << n)
                       : op == OP_SHR ? a.i >> n
                                      : (int64_t)((uint64_t)a.i >> n));
    } else {
        int32_t v = (int32_t)a.i;
        *out = sv_int(op == OP_SHL   ? (int32_t)((uint32_t)v << n)
                      : op == OP_SHR ? v >> n
                                     : (int32_t)((uint32_t)v >> n));
    }
    return ERR_OK;
}

static enum err operator_join(struct script_run *m, struct sv a, struct sv b, struct sv *out)
{
    struct str x, y;
    enum err e = vm_text(m, a, &x);
    e = e == ERR_OK ? vm_text(m, b, &y) : e;
    if (e != ERR_OK) {
        return e;
    }
    char *p = arena_alloc(&m->mem, x.n + y.n + 1);
    if (p == NULL) {
        return vm_no_memory(m);
    }
    if (x.n > 0) {
        memcpy(p, x.p, x.n);
    }
    if (y.n > 0) {
        memcpy(p + x.n, y.p, y.n);
    }
    *out = sv_str(str_mk(p, x.n + y.n));
    return vm_spend(m, (x.n + y.n) / 32);
}

static enum err sum(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    return a.kind == SV_STR || b.kind == SV_STR ? operator_join(m, a, b, out) : arithmetic(m, op, a, b, out);
}

/* ---- comparison ---- */

static bool loosely_equal(struct script_run *m, struct sv a, struct sv b)
{
    if (sv_is_number(a) && sv_is_number(b)) {
        return sv_is_whole(a) && sv_is_whole(b) ? a.i == b.i : sv_num(a) == sv_num(b);
    }
    return sv_equals(a, b, &m->steps);
}

static enum err operator_compare(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    if (!sv_is_number(a) || !sv_is_number(b)) {
        return bad_operands(m, op, a, b);
    }
    bool r;
    if (sv_is_whole(a) && sv_is_whole(b)) {
        r = op == OP_LT ? a.i < b.i : op == OP_LE ? a.i <= b.i : op == OP_GT ? a.i > b.i : a.i >= b.i;
    } else {
        double x = sv_num(a), y = sv_num(b);
        r = op == OP_LT ? x < y : op == OP_LE ? x <= y : op == OP_GT ? x > y : x >= y;
    }
    *out = sv_bool(r);
    return ERR_OK;
}

static enum err pattern_match(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    struct str text;
    bool r = false;
    enum err e = vm_arg_str(m, a, &text);
    if (e == ERR_OK && b.kind != SV_PATTERN) {
        e = b.kind == SV_NULL ? vm_null(m, "matcher") : vm_class_cast(m, b, "java.util.regex.Pattern");
    }
    e = e == ERR_OK ? regex_test(m, b, text, op == OP_MATCH, &r) : e;
    *out = sv_bool(r);
    return e;
}

static enum err equality(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    if (is_mixed(a, b)) {
        return truth_with_number(m, a, b);
    }
    *out = sv_bool(loosely_equal(m, a, b) == (op == OP_EQ));
    return ERR_OK;
}

static enum err identity(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    *out = sv_bool(loosely_equal(m, a, b) == (op == OP_SAME));
    return ERR_OK;
}

/* ---- all of them ---- */

const struct operator_row operators[OPS] = {
    [OP_NONE] = {FORM_NONE, "", "", NULL, NULL, NULL},
    [OP_ADD] = {FORM_ARITHMETIC, "+", "addition", sum, operator_add, add_real},
    [OP_SUB] = {FORM_ARITHMETIC, "-", "subtraction", arithmetic, subtract, subtract_real},
    [OP_MUL] = {FORM_ARITHMETIC, "*", "multiplication", arithmetic, multiply, multiply_real},
    [OP_DIV] = {FORM_ARITHMETIC, "/", "division", division, divide, divide_real},
    [OP_REM] = {FORM_ARITHMETIC, "%", "remainder", division, modulo, fmod},
    [OP_SHL] = {FORM_SHIFT, "<<", "left shift", shift, NULL, NULL},
    [OP_SHR] = {FORM_SHIFT, ">>", "right shift", shift, NULL, NULL},
    [OP_USHR] = {FORM_SHIFT, ">>>", "unsigned shift", shift, NULL, NULL},
    [OP_BAND] = {FORM_BITS, "&", "bitwise and", bits, bit_and, NULL},
    [OP_BOR] = {FORM_BITS, "|", "boolean or", bits, bit_or, NULL},
    [OP_BXOR] = {FORM_BITS, "^", "bitwise xor", bits, one_of, NULL},
    [OP_EQ] = {FORM_EQUALITY, "==", "equals", equality, NULL, NULL},
    [OP_NE] = {FORM_EQUALITY, "!=", "not equals", equality, NULL, NULL},
    [OP_SAME] = {FORM_EQUALITY, "===", "reference equals", identity, NULL, NULL},
    [OP_NOT_SAME] = {FORM_EQUALITY, "!==", "reference not equals", identity, NULL, NULL},
    [OP_LT] = {FORM_ORDER, "<", "less than", operator_compare, NULL, NULL},
    [OP_LE] = {FORM_ORDER, "<=", "less than or equals", operator_compare, NULL, NULL},
    [OP_GT] = {FORM_ORDER, ">", "greater than", operator_compare, NULL, NULL},
    [OP_GE] = {FORM_ORDER, ">=", "greater than or equals", operator_compare, NULL, NULL},
    [OP_FIND] = {FORM_PATTERN, "=~", "find", pattern_match, NULL, NULL},
    [OP_MATCH] = {FORM_PATTERN, "==~", "match", pattern_match, NULL, NULL},
    [OP_NEG] = {FORM_UNARY, "-", "subtraction", NULL, NULL, NULL},
    [OP_PLUS] = {FORM_UNARY, "+", "addition", NULL, NULL, NULL},
    [OP_NOT] = {FORM_UNARY, "!", "boolean not", NULL, NULL, NULL},
    [OP_BNOT] = {FORM_UNARY, "~", "bitwise not", NULL, NULL, NULL}};

const char *op_words(enum op op)
{
    return operators[op].words;
}

const char *op_sign(enum op op)
{
    return operators[op].sign;
}

enum err vm_binary(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    return operators[op].binary(m, op, a, b, out);
}

/* ---- casts ---- */

/* A value whose class the compiler does not know has another than it must have here. */
static enum err bad_cast(struct script_run *m, struct sv v, const char *to, bool implicit)
{
    return err_set(m->em, ERR_CLASS_CAST, "cannot %s cast def [%s] to %s",
                   implicit ? "implicitly" : "explicitly", vm_class(v), to);
}

static enum err cast_bool(struct script_run *m, struct sv v)
{
    return v.kind == SV_BOOL ? ERR_OK
           : v.kind == SV_NULL
               ? vm_no_class(m, "value")
               : err_set(m->em, ERR_CLASS_CAST, "cannot cast def [%s] to boolean", vm_class(v));
}

/* ---- operators of one value ---- */

static enum err bad_operand(struct script_run *m, enum op op, struct sv v)
{
    if (v.kind == SV_NULL) {
        return vm_no_class(m, "args[0]");
    }
    if (v.kind >= SV_BOOL && v.kind <= SV_DOUBLE) {
        return err_set(m->em, ERR_CLASS_CAST, "Cannot apply %s[%s] %s type [%s]", op == OP_BNOT ? "not " : "",
                       op_sign(op), op == OP_BNOT ? "to" : "operation to", vm_class(v));
    }
    return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to type [%s].", op_sign(op),
                   sv_class(v));
}

enum err vm_unary(struct script_run *m, enum op op, struct sv v, struct sv *out)
{
    if (op == OP_NOT) {
        enum err e = cast_bool(m, v);
        *out = sv_bool(!v.b);
        return e;
    }
    if (op == OP_BNOT) {
        if (!sv_is_whole(v)) {
            return bad_operand(m, op, v);
        }
        *out = v.kind == SV_LONG ? sv_long(~v.i) : sv_int((int32_t)~v.i);
        return ERR_OK;
    }
    if (!sv_is_number(v)) {
        return bad_operand(m, op, v);
    }
    *out = v.kind < SV_INT ? sv_int((int32_t)v.i) : v;
    if (op == OP_NEG) {
        if (sv_is_whole(*out)) {
            uint64_t negated = 0 - (uint64_t)out->i;
            *out = out->kind == SV_LONG ? sv_long((int64_t)negated) : sv_int((int32_t)(uint32_t)negated);
        } else {
            out->d = -out->d;
        }
    }
    return ERR_OK;
}

static enum err cast_number(struct script_run *m, struct type t, struct sv v, bool implicit, struct sv *out)
{
    enum sv_kind to = type_kind(t.id);
    bool boxed = !type_is_primitive(t.id);
    if (v.kind == SV_NULL) {
        *out = v;
        return boxed ? ERR_OK : vm_no_class(m, "value");
    }
    if (to == SV_BOOL) {
        *out = v;
        return cast_bool(m, v);
    }
    if (v.kind == SV_STR && to == SV_CHAR && utf16_length(v.s) == 1) {
        size_t at = 0;
        *out = (struct sv){.kind = SV_CHAR, .i = (int64_t)utf8_next(v.s, &at)};
        return ERR_OK;
    }
    if (!sv_is_number(v)) {
        return bad_cast(m, v, type_java(t).s, implicit);
    }
    bool widens = v.kind <= to && to != SV_CHAR && !(v.kind == SV_CHAR && to < SV_INT);
    bool literal = v.kind == SV_INT && to < SV_INT; /* the compiler let constants pass */
    if (implicit && v.kind != to && !widens && !literal) {
        return bad_cast(m, v, type_java(t).s, true);
    }
    *out = sv_to_kind(v, to);
    return ERR_OK;
}

enum err vm_cast(struct script_run *m, struct type t, struct sv v, bool implicit, struct sv *out)
{
    if (t.dims == 0 && type_kind(t.id) != SV_NULL) {
        return cast_number(m, t, v, implicit, out);
    }
    *out = v;
    if (v.kind == SV_NULL || t.id == TYPE_DEF || t.id == TYPE_OBJECT || t.id == TYPE_VOID
        || type_holds(t, v)) {
        return ERR_OK;
    }
    if (t.id == TYPE_STRING && t.dims == 0 && v.kind == SV_CHAR) {
        struct str text;
        enum err e = vm_text(m, v, &text);
        *out = sv_str(text);
        return e;
    }
    /* streams, functions and exceptions have many interfaces: let them be */
    bool loose =
        t.id == TYPE_FUNCTION || t.id == TYPE_EXCEPTION || t.id == TYPE_COMPARATOR || t.id == TYPE_ITERATOR;
    if (loose) {
        return ERR_OK;
    }
    if (t.id == TYPE_STRING && t.dims == 0) {
        return bad_cast(m, v, type_java(t).s, implicit);
    }
    return err_set(m->em, ERR_CLASS_CAST,
                   "class %s cannot be cast to class %s (%s and %s are in module java.base of loader "
                   "'bootstrap')",
                   sv_class(v), type_java(t).s, sv_class(v), type_java(t).s);
}
