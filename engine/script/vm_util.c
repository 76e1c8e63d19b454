/* Functions shared by methods and operators: errors, arguments, results, iterators. */
#include "engine/script/time.h"

enum err vm_no_memory(struct script_run *m)
{
    return err_no_memory(m->em);
}

enum err vm_null(struct script_run *m, const char *what)
{
    return err_set(m->em, ERR_NULL_POINTER, "Cannot invoke \"%s\" because the value is null", what);
}

enum err vm_no_class(struct script_run *m, const char *what)
{
    return err_set(m->em, ERR_NULL_POINTER, "Cannot invoke \"Object.getClass()\" because \"%s\" is null",
                   what);
}

const char *vm_class(struct sv v)
{
    return v.kind >= SV_BOOL && v.kind <= SV_DOUBLE
               ? type_name((enum type_id)(TYPE_BOOLEAN + (int)(v.kind - SV_BOOL)))
               : sv_class(v);
}

enum err vm_class_cast(struct script_run *m, struct sv v, const char *to)
{
    return err_set(m->em, ERR_CLASS_CAST, "Cannot cast from [%s] to [%s].", sv_class(v), to);
}

enum err vm_frozen(struct script_run *m)
{
    return err_set(m->em, ERR_UNSUPPORTED, "%s", "");
}

enum err vm_index(struct script_run *m, int64_t at, uint64_t n)
{
    return err_set(m->em, ERR_INDEX_BOUNDS, "Index %lld out of bounds for length %llu", (long long)at,
                   (unsigned long long)n);
}

enum err vm_stopped(struct script_run *m)
{
    return stop_is_on() ? err_set(m->em, ERR_CANCELLED, "task cancelled")
                        : err_set(m->em, ERR_PAINLESS,
                                  "The maximum number of statements that can be executed in a loop has been "
                                  "reached.");
}

enum err vm_arg_i64(struct script_run *m, struct sv v, int64_t *out)
{
    if (v.kind == SV_NULL) {
        return vm_null(m, "intValue()");
    }
    if (!sv_is_whole(v)) {
        return vm_class_cast(m, v, "long");
    }
    *out = v.i;
    return ERR_OK;
}

enum err vm_arg_num(struct script_run *m, struct sv v, double *out)
{
    if (v.kind == SV_NULL) {
        return vm_no_class(m, "value");
    }
    if (!sv_is_number(v)) {
        return err_set(m->em, ERR_CLASS_CAST, "cannot implicitly cast def [%s] to double", sv_class(v));
    }
    *out = sv_num(v);
    return ERR_OK;
}

enum err vm_arg_str(struct script_run *m, struct sv v, struct str *out)
{
    if (v.kind == SV_NULL) {
        return vm_null(m, "toString()");
    }
    if (v.kind == SV_CHAR || v.kind == SV_BUILDER) {
        return vm_text(m, v, out);
    }
    if (v.kind != SV_STR) {
        return vm_class_cast(m, v, "java.lang.String");
    }
    *out = v.s;
    return ERR_OK;
}

enum err vm_arg_bool(struct script_run *m, struct sv v, bool *out)
{
    if (v.kind == SV_NULL) {
        return vm_null(m, "booleanValue()");
    }
    if (v.kind != SV_BOOL) {
        return vm_class_cast(m, v, "boolean");
    }
    *out = v.b;
    return ERR_OK;
}

enum err vm_list(struct script_run *m, enum list_form form, struct sv *out)
{
    *out = sv_of_list(sv_list_new(&m->mem, form));
    return out->list != NULL ? ERR_OK : vm_no_memory(m);
}

enum err vm_push(struct script_run *m, struct sv_list *l, struct sv v)
{
    return sv_list_push(&m->mem, l, v) ? vm_spend(m, 1) : vm_no_memory(m);
}

enum err vm_arg_list(struct script_run *m, struct sv v, struct sv_list **out)
{
    struct sv list;
    if (v.kind == SV_NULL) {
        return vm_null(m, "iterator()");
    }
    if (v.kind == SV_LIST || v.kind == SV_OPTIONAL) {
        *out = v.list;
        return ERR_OK;
    }
    if (v.kind != SV_FIELD) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "Cannot iterate over [%s]", sv_class(v));
    }
    if (v.field->doc.type == SCRIPT_DOC_VECTOR) {
        return vector_whole_refused(m->em);
    }
    enum err e = vm_list(m, LIST_LIST, &list);
    for (uint32_t i = 0; i < v.field->doc.n && e == ERR_OK; i++) {
        e = vm_push(m, list.list, sv_field_at(v.field, i));
    }
    *out = list.list;
    return e;
}

enum err vm_str(struct script_run *m, struct str s, struct sv *out)
{
    struct str copy = arena_str(&m->mem, s);
    *out = sv_str(copy);
    return copy.p != NULL ? vm_spend(m, s.n / 32) : vm_no_memory(m);
}

enum err vm_text(struct script_run *m, struct sv v, struct str *out)
{
    struct sv text;
    struct buf b;
    if (v.kind == SV_STR) {
        *out = v.s;
        return ERR_OK;
    }
    if (v.kind == SV_BUILDER) {
        enum err e = vm_str(m, str_mk(v.builder->p, v.builder->n), &text);
        *out = text.s;
        return e;
    }
    buf_init(&b, NULL, m->limits.bytes_max);
    bool ok = sv_text(v, &b, 0);
    enum err e = ok ? vm_str(m, buf_view(&b), &text)
                    : err_set(m->em, ERR_ILLEGAL_ARGUMENT, "the value cannot be written as text");
    buf_fini(&b);
    *out = e == ERR_OK ? text.s : STR_NULL;
    return e;
}

enum err vm_date(struct script_run *m, enum sv_kind kind, struct instant t, const struct zone *zone,
                 struct sv *out)
{
    struct sv_date *d = ARENA_NEW(&m->mem, struct sv_date);
    if (d == NULL) {
        return vm_no_memory(m);
    }
    *d = (struct sv_date){t, zone};
    *out = (struct sv){.kind = kind, .date = d};
    return ERR_OK;
}

/* ---- iterating ---- */

enum err vm_iterator(struct script_run *m, struct sv of, struct sv *out)
{
    struct sv_iter *it = ARENA_NEW(&m->mem, struct sv_iter);
    if (it == NULL) {
        return vm_no_memory(m);
    }
    enum err e = vm_arg_list(m, of, &it->list);
    if (e == ERR_OK) {
        it->n = it->list->n;
        *out = (struct sv){.kind = SV_ITER, .iter = it};
    }
    return e;
}

bool vm_next(struct script_run *m, struct sv_iter *it, struct sv *out, enum err *e)
{
    *e = ERR_OK;
    if (it->at == it->list->n) { /* Java asks only this before it looks for changes */
        return false;
    }
    if (it->list->n != it->n || it->at >= it->n || (it->list->of != NULL && it->list->of->n != it->n)) {
        *e = err_set(m->em, ERR_CONCURRENT_MODIFICATION, "%s", "");
        return false;
    }
    *out = it->list->v[it->at++];
    return true;
}

enum err vm_call_one(struct script_run *m, struct sv func, struct sv v, struct sv *out)
{
    return vm_call(m, func, &v, 1, out);
}

enum err vm_test(struct script_run *m, struct sv func, struct sv v, bool *out)
{
    struct sv r;
    enum err e = vm_call_one(m, func, v, &r);
    return e == ERR_OK ? vm_arg_bool(m, r, out) : e;
}
