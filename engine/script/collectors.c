/* Collectors, comparators, optional values and streams by name. */
#include "engine/script/collectors.h"
#include "engine/script/classes.h"

#define MADE_MAX 4 /* values that one keeps */

/* A function that remembers its arguments. */
static enum err made(struct script_run *m, enum type_id type, struct str name, const struct sv *a, uint32_t n,
                     struct sv *out)
{
    struct sv_func *f = ARENA_NEW(&m->mem, struct sv_func);
    struct sv *kept = ARENA_ARRAY(&m->mem, struct sv, MADE_MAX);
    if (f == NULL || kept == NULL) {
        return vm_no_memory(m);
    }
    if (n > 0) {
        memcpy(kept, a, n * sizeof(*kept));
    }
    *f = (struct sv_func){
        .code = UINT32_MAX, .type = {.id = type}, .name = name, .captured = kept, .captured_n = n};
    *out = (struct sv){.kind = SV_FUNC, .func = f};
    return ERR_OK;
}

enum err optional_of(struct script_run *m, bool has, struct sv v, struct sv *out)
{
    enum err e = vm_list(m, LIST_LIST, out);
    out->kind = SV_OPTIONAL;
    return e == ERR_OK && has ? vm_push(m, out->list, v) : e;
}

/* ---- collectors: what each makes of a stream ---- */

static enum err new_map(struct script_run *m, struct sv *out)
{
    *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    if (out->map == NULL) {
        return vm_no_memory(m);
    }
    out->map->hashed = true;
    return ERR_OK;
}

static enum err collector_put(struct script_run *m, struct sv map, struct sv key, struct sv value)
{
    return sv_map_put(&m->mem, map.map, key, value) ? vm_spend(m, 1) : vm_no_memory(m);
}

static enum err to_form(struct script_run *m, struct sv stream, enum list_form form, struct sv *out)
{
    enum err e = vm_list(m, form, out);
    if (e == ERR_OK) {
        out->list->hashed = form == LIST_SET;
        e = vm_method(m, *out, STR("addAll"), &stream, 1, &(struct sv){0});
    }
    return e;
}

static enum err joined(struct script_run *m, struct sv *a, uint32_t n, struct sv stream, struct sv *out)
{
    struct sv empty = sv_str(STR(""));
    enum err e = vm_method(m, stream, STR("join"), n > 0 ? a : &empty, 1, out);
    if (e == ERR_OK && n == 3) {
        e = vm_binary(m, OP_ADD, a[1], *out, out);
        e = e == ERR_OK ? vm_binary(m, OP_ADD, *out, a[2], out) : e;
    }
    return e;
}

/* summingInt, averagingDouble ... */
static enum err added(struct script_run *m, struct str name, struct sv f, struct sv stream, struct sv *out)
{
    bool average = str_starts(name, STR("averaging"));
    struct sv total = average || str_ends(name, STR("Double")) ? sv_double(0)
                      : str_ends(name, STR("Long"))            ? sv_long(0)
                                                               : sv_int(0);
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < stream.list->n && e == ERR_OK; i++) {
        struct sv v;
        e = vm_call_one(m, f, stream.list->v[i], &v);
        e = e == ERR_OK ? vm_binary(m, OP_ADD, total, v, &total) : e;
    }
    if (average && e == ERR_OK && stream.list->n > 0) {
        total.d /= stream.list->n;
    }
    *out = total;
    return e;
}

static enum err grouped(struct script_run *m, struct sv f, struct sv map, struct sv stream)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < stream.list->n && e == ERR_OK; i++) {
        struct sv key, group, v = stream.list->v[i];
        e = vm_call_one(m, f, v, &key);
        if (e == ERR_OK && key.kind == SV_NULL) {
            return err_set(m->em, ERR_NULL_POINTER, "element cannot be mapped to a null key");
        }
        struct sv *there = e == ERR_OK ? sv_map_get(map.map, key) : NULL;
        if (there != NULL) {
            group = *there;
        } else if (e == ERR_OK) {
            e = vm_list(m, LIST_STREAM, &group);
            e = e == ERR_OK ? collector_put(m, map, key, group) : e;
        }
        e = e == ERR_OK ? vm_push(m, group.list, v) : e;
    }
    return e;
}

/* Each group as its own collector makes it: a list where there is none. */
static enum err finish_groups(struct script_run *m, struct sv map, const struct sv *collector)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < map.map->n && e == ERR_OK; i++) {
        struct sv done, group = map.map->e[i].value;
        e = collector != NULL ? vm_call_one(m, *collector, group, &done)
                              : to_form(m, group, LIST_LIST, &done);
        if (e == ERR_OK) {
            map.map->e[i].value = done;
        }
    }
    return e;
}

static enum err group_by(struct script_run *m, struct sv *a, uint32_t n, struct sv stream, struct sv *out)
{
    enum err e = n == 3 ? vm_call(m, a[1], NULL, 0, out) : new_map(m, out);
    if (e == ERR_OK && out->kind != SV_MAP) {
        return vm_class_cast(m, *out, "java.util.Map");
    }
    e = e == ERR_OK ? grouped(m, a[0], *out, stream) : e;
    return e == ERR_OK ? finish_groups(m, *out, n > 1 ? &a[n - 1] : NULL) : e;
}

static enum err partition(struct script_run *m, struct sv *a, uint32_t n, struct sv stream, struct sv *out)
{
    enum err e = new_map(m, out);
    for (int i = 0; i < 2 && e == ERR_OK; i++) {
        struct sv group;
        e = vm_list(m, LIST_STREAM, &group);
        e = e == ERR_OK ? collector_put(m, *out, sv_bool(i == 1), group) : e;
    }
    if (e == ERR_OK) {
        out->map->hashed = false;
        e = grouped(m, a[0], *out, stream);
    }
    return e == ERR_OK ? finish_groups(m, *out, n > 1 ? &a[1] : NULL) : e;
}

static enum err to_map(struct script_run *m, struct sv *a, uint32_t n, struct sv stream, struct sv *out)
{
    enum err e = n == 4 ? vm_call(m, a[3], NULL, 0, out) : new_map(m, out);
    if (e == ERR_OK && out->kind != SV_MAP) {
        return vm_class_cast(m, *out, "java.util.Map");
    }
    for (uint32_t i = 0; i < stream.list->n && e == ERR_OK; i++) {
        struct sv key, value;
        e = vm_call_one(m, a[0], stream.list->v[i], &key);
        e = e == ERR_OK ? vm_call_one(m, a[1], stream.list->v[i], &value) : e;
        struct sv *there = e == ERR_OK ? sv_map_get(out->map, key) : NULL;
        if (there != NULL && n < 3) {
            struct str texts[3];
            e = vm_text(m, key, &texts[0]);
            e = e == ERR_OK ? vm_text(m, *there, &texts[1]) : e;
            e = e == ERR_OK ? vm_text(m, value, &texts[2]) : e;
            return e != ERR_OK ? e
                               : err_set(m->em, ERR_ILLEGAL_STATE,
                                         "Duplicate key %.*s (attempted merging values %.*s and %.*s)",
                                         STR_ARG(texts[0]), STR_ARG(texts[1]), STR_ARG(texts[2]));
        }
        if (there != NULL) {
            struct sv both[2] = {*there, value};
            e = vm_call(m, a[2], both, 2, &value);
        }
        e = e == ERR_OK ? collector_put(m, *out, key, value) : e;
    }
    return e;
}

/* reducing(op), reducing(identity, op), reducing(identity, mapper, op) */
static enum err reduced(struct script_run *m, struct sv *a, uint32_t n, struct sv stream, struct sv *out)
{
    bool has = n > 1;
    struct sv total = has ? a[0] : sv_null();
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < stream.list->n && e == ERR_OK; i++) {
        struct sv both[2] = {total, stream.list->v[i]};
        e = n == 3 ? vm_call_one(m, a[1], both[1], &both[1]) : ERR_OK;
        if (e == ERR_OK && has) {
            e = vm_call(m, a[n - 1], both, 2, &total);
        } else {
            total = both[1];
        }
        has = true;
    }
    *out = total;
    return e == ERR_OK && n == 1 ? optional_of(m, has, total, out) : e;
}

static enum err collector_collect(struct script_run *m, struct str name, struct sv *a, uint32_t n,
                                  struct sv stream, struct sv *out)
{
    struct sv mapped;
    enum err e;
    if (str_is(name, "toList") || str_is(name, "toSet")) {
        return to_form(m, stream, str_is(name, "toSet") ? LIST_SET : LIST_LIST, out);
    }
    if (str_is(name, "toCollection")) {
        e = vm_call(m, a[0], NULL, 0, out);
        return e == ERR_OK ? vm_method(m, *out, STR("addAll"), &stream, 1, &mapped) : e;
    }
    if (str_is(name, "joining")) {
        return joined(m, a, n, stream, out);
    }
    if (str_is(name, "counting")) {
        *out = sv_long(stream.list->n);
        return ERR_OK;
    }
    if (str_is(name, "minBy") || str_is(name, "maxBy")) {
        return vm_method(m, stream, str_slice(name, 0, 3), a, 1, out);
    }
    if (str_is(name, "mapping")) {
        e = vm_method(m, stream, STR("map"), a, 1, &mapped);
        return e == ERR_OK ? vm_call_one(m, a[1], mapped, out) : e;
    }
    if (str_is(name, "collectingAndThen")) {
        e = vm_call_one(m, a[0], stream, &mapped);
        return e == ERR_OK ? vm_call_one(m, a[1], mapped, out) : e;
    }
    return str_is(name, "groupingBy")       ? group_by(m, a, n, stream, out)
           : str_is(name, "partitioningBy") ? partition(m, a, n, stream, out)
           : str_is(name, "toMap")          ? to_map(m, a, n, stream, out)
           : str_is(name, "reducing")       ? reduced(m, a, n, stream, out)
                                            : added(m, name, a[0], stream, out);
}

enum err static_collectors(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                           struct sv *out)
{
    static const struct {
        const char *name;
        uint32_t min, max;
    } table[] = {{"toList", 0, 0},         {"toSet", 0, 0},          {"toCollection", 1, 1},
                 {"joining", 0, 3},        {"counting", 0, 0},       {"minBy", 1, 1},
                 {"maxBy", 1, 1},          {"mapping", 2, 2},        {"collectingAndThen", 2, 2},
                 {"groupingBy", 1, 3},     {"partitioningBy", 1, 2}, {"toMap", 2, 4},
                 {"reducing", 1, 3},       {"summingInt", 1, 1},     {"summingLong", 1, 1},
                 {"summingDouble", 1, 1},  {"averagingInt", 1, 1},   {"averagingLong", 1, 1},
                 {"averagingDouble", 1, 1}};
    bool applied = n > 0 && a[n - 1].kind == SV_LIST && a[n - 1].list->form == LIST_STREAM;
    uint32_t given = applied ? n - 1 : n;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(name, table[i].name) && given >= table[i].min && given <= table[i].max
            && !(i == 3 && given == 2)) {
            return applied ? collector_collect(m, name, a, given, a[n - 1], out)
                           : made(m, TYPE_COLLECTORS, name, a, n, out);
        }
    }
    return vm_no_static(m, type, name, n);
}

/* ---- comparators ---- */

static enum err compared(struct script_run *m, struct sv x, struct sv y, struct sv *out)
{
    return vm_method(m, x, STR("compareTo"), &y, 1, out);
}

static enum err key_of(struct script_run *m, struct str name, const struct sv *f, struct sv v, struct sv *out)
{
    if (f != NULL) {
        return vm_call_one(m, *f, v, out);
    }
    return vm_method(m, v, str_is(name, "comparingByKey") ? STR("getKey") : STR("getValue"), NULL, 0, out);
}

enum err static_comparator(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                           struct sv *out)
{
    bool natural = str_is(name, "naturalOrder"), back = str_is(name, "reverseOrder");
    bool entries = type == TYPE_ENTRY && str_starts(name, STR("comparingBy"));
    bool by_key = type == TYPE_COMPARATOR && str_starts(name, STR("comparing"));
    bool reversed = str_is(name, "#reversed");
    if ((natural && n == 0) || (entries && n <= 1) || (back && n <= 1)
        || (by_key && (n == 1 || (n == 2 && a[1].kind == SV_FUNC)))) {
        return made(m, type, name, a, n, out);
    }
    if (n < 2) {
        return vm_no_static(m, type, name, n);
    }
    struct sv x = a[n - 2], y = a[n - 1]; /* it is being applied */
    if (natural) {
        return compared(m, x, y, out);
    }
    if (back || reversed) {
        struct sv turned[2] = {y, x};
        return n == 3 ? vm_call(m, a[0], turned, 2, out) : compared(m, y, x, out);
    }
    if (entries
        || by_key) { /* of a pair after what it was made of: a function for keys, a comparator of keys */
        const struct sv *key = by_key ? &a[0] : NULL;
        const struct sv *order = n == (by_key ? 4 : 3) ? &a[n - 3] : NULL;
        struct sv keys[2];
        enum err e = key_of(m, name, key, x, &keys[0]);
        e = e == ERR_OK ? key_of(m, name, key, y, &keys[1]) : e;
        return e != ERR_OK     ? e
               : order != NULL ? vm_call(m, *order, keys, 2, out)
                               : compared(m, keys[0], keys[1], out);
    }
    return vm_no_static(m, type, name, n);
}

enum err comparator_reversed(struct script_run *m, struct sv of, struct sv *out)
{
    return made(m, TYPE_COMPARATOR, STR("#reversed"), &of, 1, out);
}

/* ---- optional values and streams ---- */

enum err static_optional(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                         struct sv *out)
{
    if (n == 0 && str_is(name, "empty")) {
        return optional_of(m, false, sv_null(), out);
    }
    if (n == 1 && str_is(name, "of")) {
        return a[0].kind == SV_NULL ? err_set(m->em, ERR_NULL_POINTER, "%s", "")
                                    : optional_of(m, true, a[0], out);
    }
    if (n == 1 && str_is(name, "ofNullable")) {
        return optional_of(m, a[0].kind != SV_NULL, a[0], out);
    }
    return vm_no_static(m, type, name, n);
}

enum err static_stream(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                       struct sv *out)
{
    int64_t from = 0, to = 0;
    bool closed = str_is(name, "rangeClosed");
    if (n == 0 && str_is(name, "empty")) {
        return vm_list(m, LIST_STREAM, out);
    }
    if (n == 1 && str_is(name, "of")) {
        enum err e = vm_list(m, LIST_STREAM, out);
        bool many = a[0].kind == SV_LIST && a[0].list->form == LIST_ARRAY;
        return e != ERR_OK ? e
               : many      ? vm_method(m, *out, STR("addAll"), a, 1, &(struct sv){0})
                           : vm_push(m, out->list, a[0]);
    }
    if (n != 2 || (!closed && !str_is(name, "range"))) {
        return vm_no_static(m, type, name, n);
    }
    enum err e = vm_arg_i64(m, a[0], &from);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &to) : e;
    e = e == ERR_OK ? vm_list(m, LIST_STREAM, out) : e;
    bool wide = a[0].kind == SV_LONG || a[1].kind == SV_LONG;
    for (int64_t i = from; e == ERR_OK && (i < to || (closed && i == to)); i++) {
        e = vm_push(m, out->list, wide ? sv_long(i) : sv_int((int32_t)i));
        if (i == INT64_MAX) {
            break;
        }
    }
    return e;
}

enum err static_function(struct script_run *m, enum type_id type, struct str name, struct sv *a, uint32_t n,
                         struct sv *out)
{
    if (n == 0 && str_is(name, "identity")) {
        return made(m, TYPE_FUNCTION, STR("#identity"), a, 0, out);
    }
    if (n == 1 && str_is(name, "#identity")) {
        *out = a[0];
        return ERR_OK;
    }
    return vm_no_static(m, type, name, n);
}
