/* Static methods and constants of the classes that scripts may name. */
#include "engine/script/classes.h"
#include "engine/script/time.h"

#include <math.h>

enum err vm_no_static(struct script_run *m, enum type_id type, struct str name, uint32_t n)
{
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "static method [%s, %.*s/%u] not found",
                   type_java((struct type){.id = type}).s, STR_ARG(name), n);
}

/* ---- texts, objects, collections ---- */

enum err static_string(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                       struct sv *out)
{
    struct str text;
    if (n == 1 && (str_is(name, "valueOf") || str_is(name, "copyValueOf"))) {
        enum err e = vm_text(m, a[0], &text);
        *out = sv_str(text);
        return e;
    }
    if (n == 2 && str_is(name, "join")) {
        struct sv list = sv_null();
        enum err e = vm_arg_list(m, a[1], &list.list);
        list.kind = SV_LIST;
        return e == ERR_OK ? vm_method(m, list, STR("#joinAll"), a, 1, out) : e;
    }
    return vm_no_static(m, type, name, n);
}

enum err static_objects(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                        struct sv *out)
{
    struct str text;
    if (n == 2 && str_is(name, "equals")) {
        *out = sv_bool(sv_equals(a[0], a[1], &m->steps));
    } else if (n == 1 && (str_is(name, "isNull") || str_is(name, "nonNull"))) {
        *out = sv_bool((a[0].kind == SV_NULL) == str_is(name, "isNull"));
    } else if (n == 1 && str_is(name, "hashCode")) {
        *out = sv_int((int32_t)sv_hash(a[0]));
    } else if (n == 1 && str_is(name, "requireNonNull")) {
        *out = a[0];
        return a[0].kind == SV_NULL ? vm_null(m, "requireNonNull") : ERR_OK;
    } else if (str_is(name, "toString") && n > 0) {
        enum err e = vm_text(m, n > 1 && a[0].kind == SV_NULL ? a[1] : a[0], &text);
        *out = sv_str(text);
        return e;
    } else if (str_is(name, "hash")) {
        uint32_t h = 1;
        for (uint32_t i = 0; i < n; i++) {
            h = h * 31 + sv_hash(a[i]);
        }
        *out = sv_int((int32_t)h);
    } else {
        return vm_no_static(m, type, name, n);
    }
    return ERR_OK;
}

static enum err reverse(struct sv_list *l)
{
    for (uint32_t i = 0; i < l->n / 2; i++) {
        struct sv v = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = v;
    }
    return ERR_OK;
}

static enum err swap(struct script_run *m, struct sv_list *l, struct sv *a)
{
    int64_t i = 0, k = 0;
    enum err e = l->frozen ? vm_frozen(m) : vm_arg_i64(m, a[0], &i);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &k) : e;
    if (e == ERR_OK && (i < 0 || i >= l->n || k < 0 || k >= l->n)) {
        return vm_index(m, i < 0 || i >= l->n ? i : k, l->n);
    }
    if (e == ERR_OK) {
        struct sv v = l->v[i];
        l->v[i] = l->v[k];
        l->v[k] = v;
    }
    return e;
}

enum err static_collections(struct script_run *m, enum type_id type, struct str name, struct sv *a,
                            uint32_t n, struct sv *out)
{
    struct sv_list *l = NULL;
    *out = sv_null();
    if (n == 0 && str_is(name, "reverseOrder")) {
        return static_comparator(m, TYPE_COMPARATOR, name, a, n, out);
    }
    if (n == 0) {
        if (str_is(name, "emptyMap")) {
            *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
            return out->map != NULL ? ERR_OK : vm_no_memory(m);
        }
        bool set = str_is(name, "emptySet");
        return set || str_is(name, "emptyList") ? vm_list(m, set ? LIST_SET : LIST_LIST, out)
                                                : vm_no_static(m, type, name, n);
    }
    if (n == 1 && (str_is(name, "singletonList") || str_is(name, "singleton"))) {
        enum err e = vm_list(m, str_is(name, "singleton") ? LIST_SET : LIST_LIST, out);
        return e == ERR_OK ? vm_push(m, out->list, a[0]) : e;
    }
    if (n == 1 && str_is(name, "reverseOrder")) {
        return static_comparator(m, TYPE_COMPARATOR, name, a, n, out);
    }
    enum err e = vm_arg_list(m, a[0], &l);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(name, "sort") && n <= 2) {
        struct sv by = n > 1 ? a[1] : sv_null();
        return vm_method(m, sv_of_list(l), STR("sort"), &by, 1, out);
    }
    if (str_is(name, "reverse") && n == 1) {
        return l->frozen ? vm_frozen(m) : reverse(l);
    }
    if (str_is(name, "swap") && n == 3) {
        return swap(m, l, a + 1);
    }
    if (str_is(name, "frequency") && n == 2) {
        int32_t count = 0;
        for (uint32_t i = 0; i < l->n && e == ERR_OK; i++) {
            count += sv_equals(l->v[i], a[1], &m->steps) ? 1 : 0;
            e = vm_spend(m, 1);
        }
        *out = sv_int(count);
        return e;
    }
    if ((str_is(name, "max") || str_is(name, "min")) && n <= 2) {
        struct sv best;
        e = vm_method(m, sv_of_list(l), name, a + 1, n - 1, &best);
        return e == ERR_OK ? vm_method(m, best, STR("get"), NULL, 0, out) : e;
    }
    if (str_starts(name, STR("unmodifiable")) && n == 1) {
        *out = a[0];
        return ERR_OK;
    }
    return vm_no_static(m, type, name, n);
}

enum err static_arrays(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                       struct sv *out)
{
    if (str_is(name, "asList")) {
        enum err e = vm_list(m, LIST_LIST, out);
        return e == ERR_OK && n == 1 && a[0].kind == SV_LIST
                   ? vm_method(m, *out, STR("addAll"), a, 1, &(struct sv){0})
                   : e;
    }
    return n == 1 && str_is(name, "stream") ? vm_method(m, a[0], name, NULL, 0, out)
                                            : vm_no_static(m, type, name, n);
}

enum err static_system(struct script_run *m, enum type_id type, struct str name, UNUSED struct sv *a,
                       uint32_t n, struct sv *out)
{
    if (n == 0 && (str_is(name, "currentTimeMillis") || str_is(name, "nanoTime"))) {
        *out = sv_long(str_is(name, "nanoTime") ? m->env->now_ms * 1000000 : m->env->now_ms);
        return ERR_OK;
    }
    return vm_no_static(m, type, name, n);
}

enum err vm_static(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                   struct sv *out)
{
    *out = sv_null();
    return classes[type].statics != NULL ? classes[type].statics(m, type, name, a, n, out)
                                         : vm_no_static(m, type, name, n);
}

/* ---- constants ---- */

/* Constants that are numbers. */
static const struct {
    enum type_id type;
    const char *name;
    enum sv_kind kind;
    int64_t i;
    double d;
} constants[] = {{TYPE_MATH, "PI", SV_DOUBLE, 0, 3.141592653589793},
                 {TYPE_MATH, "E", SV_DOUBLE, 0, 2.718281828459045},
                 {TYPE_BOX_BYTE, "MAX_VALUE", SV_BYTE, INT8_MAX, 0},
                 {TYPE_BOX_BYTE, "MIN_VALUE", SV_BYTE, INT8_MIN, 0},
                 {TYPE_BOX_SHORT, "MAX_VALUE", SV_SHORT, INT16_MAX, 0},
                 {TYPE_BOX_SHORT, "MIN_VALUE", SV_SHORT, INT16_MIN, 0},
                 {TYPE_BOX_INT, "MAX_VALUE", SV_INT, INT32_MAX, 0},
                 {TYPE_BOX_INT, "MIN_VALUE", SV_INT, INT32_MIN, 0},
                 {TYPE_BOX_LONG, "MAX_VALUE", SV_LONG, INT64_MAX, 0},
                 {TYPE_BOX_LONG, "MIN_VALUE", SV_LONG, INT64_MIN, 0},
                 {TYPE_BOX_FLOAT, "MAX_VALUE", SV_FLOAT, 0, 3.4028234663852886e38},
                 {TYPE_BOX_DOUBLE, "MAX_VALUE", SV_DOUBLE, 0, 1.7976931348623157e308},
                 {TYPE_BOX_DOUBLE, "MIN_VALUE", SV_DOUBLE, 0, 4.9e-324},
                 {TYPE_BOX_DOUBLE, "POSITIVE_INFINITY", SV_DOUBLE, 0, (double)INFINITY},
                 {TYPE_BOX_DOUBLE, "NEGATIVE_INFINITY", SV_DOUBLE, 0, -(double)INFINITY},
                 {TYPE_BOX_DOUBLE, "NaN", SV_DOUBLE, 0, (double)NAN},
                 {TYPE_BOX_FLOAT, "MIN_VALUE", SV_FLOAT, 0, 1.401298464324817e-45},
                 {TYPE_BOX_FLOAT, "MIN_NORMAL", SV_FLOAT, 0, 1.1754943508222875e-38},
                 {TYPE_BOX_FLOAT, "POSITIVE_INFINITY", SV_FLOAT, 0, (double)INFINITY},
                 {TYPE_BOX_FLOAT, "NEGATIVE_INFINITY", SV_FLOAT, 0, -(double)INFINITY},
                 {TYPE_BOX_FLOAT, "MAX_EXPONENT", SV_INT, 127, 0},
                 {TYPE_BOX_FLOAT, "MIN_EXPONENT", SV_INT, -126, 0},
                 {TYPE_BOX_DOUBLE, "MIN_NORMAL", SV_DOUBLE, 0, 2.2250738585072014e-308},
                 {TYPE_BOX_DOUBLE, "MAX_EXPONENT", SV_INT, 1023, 0},
                 {TYPE_BOX_DOUBLE, "MIN_EXPONENT", SV_INT, -1022, 0},
                 {TYPE_BOX_CHAR, "MAX_VALUE", SV_CHAR, UINT16_MAX, 0},
                 {TYPE_BOX_CHAR, "MIN_VALUE", SV_CHAR, 0, 0},
                 {TYPE_BOX_BYTE, "BYTES", SV_INT, 1, 0},
                 {TYPE_BOX_BYTE, "SIZE", SV_INT, 8, 0},
                 {TYPE_BOX_SHORT, "BYTES", SV_INT, 2, 0},
                 {TYPE_BOX_SHORT, "SIZE", SV_INT, 16, 0},
                 {TYPE_BOX_INT, "BYTES", SV_INT, 4, 0},
                 {TYPE_BOX_INT, "SIZE", SV_INT, 32, 0},
                 {TYPE_BOX_LONG, "BYTES", SV_INT, 8, 0},
                 {TYPE_BOX_LONG, "SIZE", SV_INT, 64, 0},
                 {TYPE_BOX_FLOAT, "BYTES", SV_INT, 4, 0},
                 {TYPE_BOX_FLOAT, "SIZE", SV_INT, 32, 0},
                 {TYPE_BOX_DOUBLE, "BYTES", SV_INT, 8, 0},
                 {TYPE_BOX_DOUBLE, "SIZE", SV_INT, 64, 0},
                 {TYPE_BOX_FLOAT, "NaN", SV_FLOAT, 0, (double)NAN}};

enum err vm_static_field(struct script_run *m, enum type_id type, struct str name, struct sv *out)
{
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (constants[i].type == type && str_is(name, constants[i].name)) {
            bool whole = constants[i].kind <= SV_LONG;
            *out = whole ? (struct sv){.kind = constants[i].kind, .i = constants[i].i}
                         : (struct sv){.kind = constants[i].kind, .d = constants[i].d};
            return ERR_OK;
        }
    }
    if (type == TYPE_BOX_BOOLEAN && (str_is(name, "TRUE") || str_is(name, "FALSE"))) {
        *out = sv_bool(str_is(name, "TRUE"));
        return ERR_OK;
    }
    if (type == TYPE_CHRONO_UNIT && date_unit_index(name) >= 0) {
        *out = (struct sv){.kind = SV_TYPE, .aux = TYPE_CHRONO_UNIT, .i = date_unit_index(name)};
        return ERR_OK;
    }
    struct instant t;
    if (time_constant(type, name, &t)) {
        return type == TYPE_DURATION ? vm_duration(m, t, out) : vm_local(m, LOCAL_TIME, t, out);
    }
    if (type == TYPE_FORMATTER && iso_constant(name) > 0) {
        return iso_format(m, iso_constant(name), out);
    }
    if (type == TYPE_CHRONO_FIELD && date_field_index(name) >= 0) {
        *out = (struct sv){.kind = SV_TYPE, .aux = TYPE_CHRONO_FIELD, .i = date_field_index(name)};
        return ERR_OK;
    }
    if (type == TYPE_COLLECTIONS && str_is(name, "EMPTY_LIST")) {
        return static_collections(m, type, STR("emptyList"), NULL, 0, out);
    }
    if (type == TYPE_COLLECTIONS && (str_is(name, "EMPTY_MAP") || str_is(name, "EMPTY_SET"))) {
        return static_collections(m, type, str_is(name, "EMPTY_MAP") ? STR("emptyMap") : STR("emptySet"),
                                  NULL, 0, out);
    }
    if (type == TYPE_INSTANT && str_is(name, "EPOCH")) {
        return vm_date(m, SV_INSTANT, (struct instant){0, 0}, &zone_utc, out);
    }
    if (type == TYPE_ZONE && str_is(name, "UTC")) {
        *out = (struct sv){.kind = SV_ZONE, .zone = &zone_utc};
        return ERR_OK;
    }
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "field [%s, %.*s] not found",
                   type_java((struct type){.id = type}).s, STR_ARG(name));
}
