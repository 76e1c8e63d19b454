/* Operators, casts, members: what Java does with values of each kind. */
#include "engine/script/time.h"

#include "common/base/utf8.h"

#include <math.h>

/* A class, or the primitive that it boxes. */
static const char *unboxed_class(struct sv v)
{
    return v.kind >= SV_BOOL && v.kind <= SV_DOUBLE
               ? type_name((enum type_id)(TYPE_BOOLEAN + (int)(v.kind - SV_BOOL)))
               : sv_class(v);
}

static enum err null_of(struct script_run *m, const char *what)
{
    return err_set(m->em, ERR_NULL_POINTER, "Cannot invoke \"Object.getClass()\" because \"%s\" is null",
                   what);
}

static enum err bad_bits(struct script_run *m, enum op op, struct sv a, struct sv b)
{
    struct sv bad = sv_is_whole(a) ? b : a;
    bool shift = op >= OP_SHL && op <= OP_USHR;
    if (bad.kind == SV_NULL) {
        return null_of(m, shift ? "args[0]" : "o");
    }
    if (bad.kind == SV_DOUBLE || bad.kind == SV_FLOAT) {
        return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to type [%s]", op_sign(op),
                       shift ? unboxed_class(bad) : "float");
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
    bool bits = op >= OP_SHL && op <= OP_BXOR;
    if (is_mixed(a, b)) {
        return truth_with_number(m, a, b);
    }
    if (bits) {
        return bad_bits(m, op, a, b);
    }
    if (a.kind == SV_NULL || b.kind == SV_NULL) {
        return null_of(m, a.kind == SV_NULL ? "left" : "right");
    }
    if (a.kind == SV_BOOL && b.kind == SV_BOOL) {
        return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to type [boolean]", op_sign(op));
    }
    return err_set(m->em, ERR_CLASS_CAST, "Cannot apply [%s] operation to types [%s] and [%s].",
                   op == OP_GE ? ">" : op_sign(op), sv_class(a), sv_class(b));
}

/* ---- arithmetic ---- */

static enum err whole(struct script_run *m, enum op op, int64_t a, int64_t b, bool is_long, struct sv *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, r;
    switch (op) {
    case OP_ADD:
        r = x + y;
        break;
    case OP_SUB:
        r = x - y;
        break;
    case OP_MUL:
        r = x * y;
        break;
    case OP_DIV:
    case OP_REM:
        if (b == 0) {
            return err_set(m->em, ERR_ARITHMETIC, "/ by zero");
        }
        r = b == -1 ? (op == OP_DIV ? 0 - x : 0) : (uint64_t)(op == OP_DIV ? a / b : a % b);
        break;
    case OP_BAND:
        r = x & y;
        break;
    case OP_BOR:
        r = x | y;
        break;
    default:
        r = x ^ y;
    }
    *out = is_long ? sv_long((int64_t)r) : sv_int((int32_t)(uint32_t)r);
    return ERR_OK;
}

static double fraction(enum op op, double a, double b)
{
    switch (op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    default:
        return fmod(a, b);
    }
}

static enum err arithmetic(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    bool bits = op == OP_BAND || op == OP_BOR || op == OP_BXOR;
    if (bits && a.kind == SV_BOOL && b.kind == SV_BOOL) {
        *out = sv_bool(op == OP_BAND ? a.b && b.b : op == OP_BOR ? a.b || b.b : a.b != b.b);
        return ERR_OK;
    }
    if (!sv_is_number(a) || !sv_is_number(b)) {
        return bad_operands(m, op, a, b);
    }
    enum sv_kind kind = MAX_OF(MAX_OF(a.kind, b.kind), SV_INT);
    if (kind <= SV_LONG) {
        return whole(m, op, a.i, b.i, kind == SV_LONG, out);
    }
    if (bits) {
        return bad_operands(m, op, a, b);
    }
    if (kind == SV_FLOAT) {
        float x = (float)sv_num(a), y = (float)sv_num(b);
        *out = op == OP_REM ? sv_float(fmodf(x, y)) : sv_float((float)fraction(op, (double)x, (double)y));
        return ERR_OK;
    }
    *out = sv_double(fraction(op, sv_num(a), sv_num(b)));
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

static enum err concat(struct script_run *m, struct sv a, struct sv b, struct sv *out)
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

/* ---- comparison ---- */

static bool loosely_equal(struct script_run *m, struct sv a, struct sv b)
{
    if (sv_is_number(a) && sv_is_number(b)) {
        return sv_is_whole(a) && sv_is_whole(b) ? a.i == b.i : sv_num(a) == sv_num(b);
    }
    return sv_equals(a, b, &m->steps);
}

static enum err compare(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
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

enum err vm_binary(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out)
{
    switch (op) {
    case OP_EQ:
    case OP_NE:
        if (is_mixed(a, b)) {
            return truth_with_number(m, a, b);
        }
        *out = sv_bool(loosely_equal(m, a, b) == (op == OP_EQ));
        return ERR_OK;
    case OP_SAME:
        *out = sv_bool(loosely_equal(m, a, b));
        return ERR_OK;
    case OP_NOT_SAME:
        *out = sv_bool(!loosely_equal(m, a, b));
        return ERR_OK;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return compare(m, op, a, b, out);
    case OP_SHL:
    case OP_SHR:
    case OP_USHR:
        return shift(m, op, a, b, out);
    case OP_FIND:
    case OP_MATCH:
        return pattern_match(m, op, a, b, out);
    case OP_ADD:
        if (a.kind == SV_STR || b.kind == SV_STR) {
            return concat(m, a, b, out);
        }
        return arithmetic(m, op, a, b, out);
    default:
        return arithmetic(m, op, a, b, out);
    }
}

/* ---- casts ---- */

/* A value whose class the compiler does not know has another than it must have here. */
static enum err bad_cast(struct script_run *m, struct sv v, const char *to, bool implicit)
{
    return err_set(m->em, ERR_CLASS_CAST, "cannot %s cast def [%s] to %s",
                   implicit ? "implicitly" : "explicitly", unboxed_class(v), to);
}

static enum err cast_bool(struct script_run *m, struct sv v)
{
    return v.kind == SV_BOOL ? ERR_OK
           : v.kind == SV_NULL
               ? null_of(m, "value")
               : err_set(m->em, ERR_CLASS_CAST, "cannot cast def [%s] to boolean", unboxed_class(v));
}

/* ---- operators of one value ---- */

static enum err bad_operand(struct script_run *m, enum op op, struct sv v)
{
    if (v.kind == SV_NULL) {
        return null_of(m, "args[0]");
    }
    if (v.kind >= SV_BOOL && v.kind <= SV_DOUBLE) {
        return err_set(m->em, ERR_CLASS_CAST, "Cannot apply %s[%s] %s type [%s]", op == OP_BNOT ? "not " : "",
                       op_sign(op), op == OP_BNOT ? "to" : "operation to", unboxed_class(v));
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
        return boxed ? ERR_OK : null_of(m, "value");
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

/* ---- members ---- */

enum err vm_field(struct script_run *m, struct str name, struct sv *out)
{
    struct sv_field *f = ARENA_NEW(&m->mem, struct sv_field);
    if (f == NULL) {
        return vm_no_memory(m);
    }
    f->name = name;
    f->arena = &m->mem;
    *out = (struct sv){.kind = SV_FIELD, .field = f};
    if (m->env->doc_values == NULL) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "No field found for [%.*s] in mapping", STR_ARG(name));
    }
    return m->env->doc_values(m->env->self, name, &f->doc, m->em);
}

static enum err dispatch(struct script_run *m, struct sv self, struct str name, struct sv *args, uint32_t n,
                         struct sv *out, bool *found);

/* getFoo() or isFoo(), which `.foo` means. */
static enum err getter(struct script_run *m, struct sv object, struct str name, struct sv *out)
{
    char text[80];
    static const char *const prefixes[] = {"get", "is"};
    for (size_t i = 0; i < ARRAY_LEN(prefixes) && name.n > 0 && name.n < 64; i++) {
        size_t n = strlen(prefixes[i]);
        bool found = false;
        memcpy(text, prefixes[i], n);
        memcpy(text + n, name.p, name.n);
        text[n] = text[n] >= 'a' && text[n] <= 'z' ? (char)(text[n] - 'a' + 'A') : text[n];
        enum err e = dispatch(m, object, str_mk(text, n + name.n), NULL, 0, out, &found);
        if (found || e != ERR_OK) {
            return e;
        }
    }
    if ((object.kind == SV_LIST && object.list->form == LIST_LIST) || object.kind == SV_FIELD) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "Illegal list shortcut value [%.*s].", STR_ARG(name));
    }
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic getter [%s, %.*s] not found", sv_class(object),
                   STR_ARG(name));
}

static enum err source_of(struct script_run *m, struct sv *out)
{
    const struct json *source;
    if (!m->has_source) {
        m->has_source = true;
        m->source = sv_null();
        source = m->env->source != NULL ? m->env->source(m->env->self) : NULL;
        if (source != NULL && !sv_of_json(&m->source, source, &m->mem, true)) {
            return vm_no_memory(m);
        }
    }
    *out = m->source;
    return ERR_OK;
}

static enum err map_get(struct script_run *m, const struct sv_map *map, struct sv key, struct sv *out)
{
    const struct sv *v = sv_map_get(map, key);
    if (v == NULL && map == m->params.map && key.kind == SV_STR && str_is(key.s, "_source")) {
        return source_of(m, out);
    }
    *out = v != NULL ? *v : sv_null();
    return ERR_OK;
}

enum err vm_get(struct script_run *m, struct sv object, struct str name, struct sv *out)
{
    switch (object.kind) {
    case SV_NULL:
        return null_of(m, "callArgs[0]");
    case SV_MAP:
        return map_get(m, object.map, sv_str(name), out);
    case SV_DOCS:
        return vm_field(m, name, out);
    case SV_LIST:
        if (str_is(name, "length")) {
            *out = sv_int((int32_t)object.list->n);
            return ERR_OK;
        }
        if (name.n > 0 && name.n < 9 && name.p[0] >= '0' && name.p[0] <= '9') {
            int32_t at = 0;
            for (size_t i = 0; i < name.n; i++) {
                at = at * 10 + name.p[i] - '0';
            }
            return vm_get_at(m, object, sv_int(at), out);
        }
        return getter(m, object, name, out);
    default:
        return getter(m, object, name, out);
    }
}

static enum err list_index(struct script_run *m, const struct sv_list *l, struct sv index, uint32_t *at)
{
    int64_t i = 0;
    enum err e = vm_arg_i64(m, index, &i);
    if (e != ERR_OK) {
        return e;
    }
    i += i < 0 ? l->n : 0; /* painless counts negative ones from the end */
    if (i < 0 || i >= l->n) {
        return err_set(m->em, l->form == LIST_ARRAY ? ERR_ARRAY_BOUNDS : ERR_INDEX_BOUNDS,
                       "Index %lld out of bounds for length %u", (long long)i, l->n);
    }
    *at = (uint32_t)i;
    return ERR_OK;
}

enum err vm_get_at(struct script_run *m, struct sv object, struct sv index, struct sv *out)
{
    uint32_t at = 0;
    enum err e;
    switch (object.kind) {
    case SV_NULL:
        return null_of(m, "callArgs[0]");
    case SV_MAP:
        return map_get(m, object.map, index, out);
    case SV_DOCS: {
        struct str name;
        e = vm_arg_str(m, index, &name);
        return e == ERR_OK ? vm_field(m, name, out) : e;
    }
    case SV_LIST:
        e = list_index(m, object.list, index, &at);
        if (e == ERR_OK) {
            *out = object.list->v[at];
        }
        return e;
    case SV_FIELD:
        return vm_method(m, object, STR("get"), &index, 1, out);
    default:
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT,
                       "Attempting to address a non-array-like type [%s] as an array.", sv_class(object));
    }
}

enum err vm_put(struct script_run *m, struct sv object, struct str name, struct sv v)
{
    switch (object.kind) {
    case SV_NULL:
        return null_of(m, "callArgs[0]");
    case SV_MAP:
        return vm_put_at(m, object, sv_str(name), v);
    case SV_ENTRY:
        if (str_is(name, "value") && !object.map->frozen) {
            object.map->e[object.aux].value = v;
            return ERR_OK;
        }
        break;
    default:
        break;
    }
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic setter [%s, %.*s] not found", sv_class(object),
                   STR_ARG(name));
}

enum err vm_put_at(struct script_run *m, struct sv object, struct sv index, struct sv v)
{
    uint32_t at = 0;
    enum err e;
    switch (object.kind) {
    case SV_NULL:
        return null_of(m, "callArgs[0]");
    case SV_MAP:
        if (object.map->frozen) {
            return vm_frozen(m);
        }
        return sv_map_put(&m->mem, object.map, index, v) ? vm_spend(m, 1 + object.map->n / 64)
                                                         : vm_no_memory(m);
    case SV_LIST:
        if (object.list->frozen) {
            return vm_frozen(m);
        }
        e = list_index(m, object.list, index, &at);
        if (e == ERR_OK && object.list->element != SV_NULL) {
            enum type_id id = (enum type_id)(TYPE_BOOLEAN + (int)(object.list->element - SV_BOOL));
            e = vm_cast(m, (struct type){.id = id}, v, true, &v);
        }
        if (e == ERR_OK) {
            object.list->v[at] = v;
        }
        return e;
    default:
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT,
                       "Attempting to address a non-array-like type [%s] as an array.", sv_class(object));
    }
}

/* ---- methods ---- */

static enum err dispatch(struct script_run *m, struct sv self, struct str name, struct sv *args, uint32_t n,
                         struct sv *out, bool *found)
{
    enum err e = ERR_OK;
    switch (self.kind) {
    case SV_STR:
        e = methods_str(m, self, name, args, n, out, found);
        break;
    case SV_LIST:
        e = methods_list(m, self, name, args, n, out, found);
        break;
    case SV_MAP:
        e = methods_map(m, self, name, args, n, out, found);
        break;
    case SV_FIELD:
        e = methods_field(m, self, name, args, n, out, found);
        break;
    case SV_DATE:
    case SV_INSTANT:
        e = methods_date(m, self, name, args, n, out, found);
        break;
    case SV_BUILDER:
        e = methods_builder(m, self, name, args, n, out, found);
        break;
    case SV_LOCAL:
        e = methods_local(m, self, name, args, n, out, found);
        break;
    case SV_DURATION:
        e = methods_duration(m, self, name, args, n, out, found);
        break;
    default:
        break;
    }
    return e == ERR_OK && !*found ? methods_other(m, self, name, args, n, out, found) : e;
}

enum err vm_method(struct script_run *m, struct sv self, struct str name, struct sv *args, uint32_t n,
                   struct sv *out)
{
    bool found = false;
    *out = sv_null();
    if (self.kind == SV_NULL) {
        return null_of(m, "callArgs[0]");
    }
    enum err e = dispatch(m, self, name, args, n, out, &found);
    if (e == ERR_OK && !found) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic method [%s, %.*s/%u] not found", sv_class(self),
                       STR_ARG(name), n);
    }
    return e;
}
