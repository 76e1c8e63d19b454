/* Methods of lists, sets, arrays and streams. */
#include "engine/script/collectors.h"

static enum err changeable(struct script_run *m, const struct sv_list *l)
{
    return l->frozen ? vm_frozen(m) : ERR_OK;
}

/* Nothing is added to a map by its keys, values or entries. */
static enum err growable(struct script_run *m, const struct sv_list *l)
{
    return l->frozen || l->of != NULL ? vm_frozen(m) : ERR_OK;
}

/* ---- reading ---- */

METHOD(size)
{
    *out = sv_int((int32_t)self.list->n);
    return ERR_OK;
}

METHOD(count)
{
    *out = sv_long(self.list->n);
    return ERR_OK;
}

METHOD(is_empty)
{
    *out = sv_bool(self.list->n == 0);
    return ERR_OK;
}

METHOD(get)
{
    int64_t i = 0;
    enum err e = vm_arg_i64(m, a[0], &i);
    if (e == ERR_OK && (i < 0 || i >= self.list->n)) {
        return vm_index(m, i, self.list->n);
    }
    if (e == ERR_OK) {
        *out = self.list->v[i];
    }
    return e;
}

METHOD(contains)
{
    *out = sv_bool(sv_list_find(self.list, a[0], &m->steps) != UINT32_MAX);
    return vm_spend(m, 0);
}

METHOD(contains_all)
{
    struct sv_list *other;
    enum err e = vm_arg_list(m, a[0], &other);
    bool all = true;
    for (uint32_t i = 0; e == ERR_OK && i < other->n && all; i++) {
        all = sv_list_find(self.list, other->v[i], &m->steps) != UINT32_MAX;
        e = vm_spend(m, 1);
    }
    *out = sv_bool(all);
    return e;
}

METHOD(index_of)
{
    uint32_t at = sv_list_find(self.list, a[0], &m->steps);
    *out = sv_int(at == UINT32_MAX ? -1 : (int32_t)at);
    return vm_spend(m, 0);
}

METHOD(last_index_of)
{
    int32_t at = (int32_t)self.list->n - 1;
    while (at >= 0 && !sv_equals(self.list->v[at], a[0], &m->steps)) {
        at--;
    }
    *out = sv_int(at);
    return vm_spend(m, 0);
}

METHOD(iterator)
{
    return vm_iterator(m, self, out);
}

static enum err list_copy(struct script_run *m, const struct sv_list *l, uint32_t from, uint32_t to,
                          enum list_form form, struct sv *out)
{
    enum err e = vm_list(m, form, out);
    for (uint32_t i = from; i < to && e == ERR_OK; i++) {
        e = vm_push(m, out->list, l->v[i]);
    }
    return e;
}

METHOD(sub_list)
{
    int64_t from = 0, to = 0;
    enum err e = vm_arg_i64(m, a[0], &from);
    e = e == ERR_OK ? vm_arg_i64(m, a[1], &to) : e;
    if (e == ERR_OK && (from < 0 || to > self.list->n || from > to)) {
        return vm_index(m, from < 0 ? from : to, self.list->n);
    }
    return e == ERR_OK ? list_copy(m, self.list, (uint32_t)from, (uint32_t)to, LIST_LIST, out) : e;
}

METHOD(stream)
{
    return list_copy(m, self.list, 0, self.list->n, LIST_STREAM, out);
}

METHOD(to_array)
{
    return list_copy(m, self.list, 0, self.list->n, LIST_ARRAY, out);
}

METHOD(to_list)
{
    return list_copy(m, self.list, 0, self.list->n, LIST_LIST, out);
}

/* ---- changing ---- */

static enum err add_one(struct script_run *m, struct sv_list *l, struct sv v, bool *added)
{
    *added = l->form != LIST_SET || sv_list_find(l, v, &m->steps) == UINT32_MAX;
    enum err e = vm_spend(m, 0);
    if (e != ERR_OK || !*added || !l->sorted) {
        e = e == ERR_OK && *added ? vm_push(m, l, v) : e;
        if (e == ERR_OK && *added && l->hashed) {
            sv_set_settle(l);
            e = vm_spend(m, l->n / 4);
        }
        return e;
    }
    uint32_t at = l->n;
    for (int c; at > 0 && sv_compare(v, l->v[at - 1], &c) && c < 0;) {
        at--;
    }
    return sv_list_insert(&m->mem, l, at, v) ? vm_spend(m, 1) : vm_no_memory(m);
}

METHOD(add)
{
    bool added = false;
    enum err e = growable(m, self.list);
    if (e == ERR_OK && self.list->form == LIST_ARRAY) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic method [array, add/1] not found");
    }
    e = e == ERR_OK ? add_one(m, self.list, a[0], &added) : e;
    *out = sv_bool(added);
    return e;
}

METHOD(add_at)
{
    int64_t at = 0;
    enum err e = growable(m, self.list);
    e = e == ERR_OK ? vm_arg_i64(m, a[0], &at) : e;
    if (e == ERR_OK && (at < 0 || at > self.list->n)) {
        return vm_index(m, at, self.list->n);
    }
    *out = sv_null();
    return e != ERR_OK                                              ? e
           : sv_list_insert(&m->mem, self.list, (uint32_t)at, a[1]) ? vm_spend(m, 1 + self.list->n / 8)
                                                                    : vm_no_memory(m);
}

METHOD(add_all)
{
    struct sv_list *other;
    bool any = false;
    enum err e = growable(m, self.list);
    e = e == ERR_OK ? vm_arg_list(m, a[n - 1], &other) : e;
    for (uint32_t i = 0, count_ = e == ERR_OK ? other->n : 0; i < count_ && e == ERR_OK; i++) {
        bool added;
        e = add_one(m, self.list, other->v[i], &added);
        any = any || added;
    }
    *out = sv_bool(any);
    return e;
}

/* A list takes an index where the argument is an int, any element otherwise, as Java's overloads do. */
METHOD(remove_one)
{
    enum err e = changeable(m, self.list);
    if (e != ERR_OK) {
        return e;
    }
    if (self.list->form == LIST_LIST && a[0].kind == SV_INT) {
        if (a[0].i < 0 || a[0].i >= self.list->n) {
            return vm_index(m, a[0].i, self.list->n);
        }
        *out = self.list->v[a[0].i];
        sv_list_remove(self.list, (uint32_t)a[0].i);
        return vm_spend(m, self.list->n / 8);
    }
    if (self.list->form == LIST_LIST) { /* painless knows List.remove(int) only */
        return err_set(m->em, ERR_WRONG_METHOD_TYPE,
                       "cannot convert MethodHandle(List,int)Object to (Object,%s)Object", sv_class(a[0]));
    }
    uint32_t at = sv_list_find(self.list, a[0], &m->steps);
    *out = sv_bool(at != UINT32_MAX);
    if (at != UINT32_MAX) {
        sv_list_remove(self.list, at);
    }
    return vm_spend(m, 0);
}

METHOD(set)
{
    int64_t at = 0;
    enum err e = vm_arg_i64(m, a[0], &at);
    e = e == ERR_OK ? changeable(m, self.list) : e;
    if (e == ERR_OK && (at < 0 || at >= self.list->n)) {
        return vm_index(m, at, self.list->n);
    }
    if (e == ERR_OK) {
        *out = self.list->v[at];
        self.list->v[at] = a[1];
    }
    return e;
}

METHOD(clear)
{
    enum err e = changeable(m, self.list);
    if (e == ERR_OK && self.list->of != NULL) {
        *self.list->of = (struct sv_map){.sorted = self.list->of->sorted, .hashed = self.list->of->hashed};
    }
    self.list->n = e == ERR_OK ? 0 : self.list->n;
    *out = sv_null();
    return e;
}

/* list_keep() over a map's keys, values or entries. */
static enum err keep_in_map(struct script_run *m, struct sv_list *l, const bool *keeps)
{
    for (uint32_t i = l->n; i-- > 0;) {
        if (!keeps[i]) {
            sv_list_remove(l, i);
        }
    }
    return vm_spend(m, l->n);
}

/* Keeps what `f` says (or, for a collection, what it holds), or the rest. */
static enum err list_keep(struct script_run *m, struct sv_list *l, struct sv by, bool matching, bool *any)
{
    struct sv_list *set = NULL;
    uint32_t kept = 0, all = l->n;
    bool *keeps = l->of != NULL ? ARENA_ARRAY(&m->mem, bool, all) : NULL;
    enum err e = l->of != NULL && keeps == NULL ? vm_no_memory(m) : changeable(m, l);
    e = e == ERR_OK && by.kind != SV_FUNC ? vm_arg_list(m, by, &set) : e;
    for (uint32_t i = 0; i < all && e == ERR_OK; i++) {
        bool is = false;
        struct sv v = l->v[i];
        e = set == NULL ? vm_test(m, by, v, &is) : vm_spend(m, 1);
        if (e == ERR_OK && l->n != all) { /* the function itself changed the list */
            return err_set(m->em, ERR_CONCURRENT_MODIFICATION, "%s", "");
        }
        is = set != NULL ? sv_list_find(set, v, &m->steps) != UINT32_MAX : is;
        if (keeps != NULL) {
            keeps[i] = is == matching;
            kept += is == matching;
        } else if (is == matching) {
            l->v[kept++] = v;
        }
    }
    if (e == ERR_OK && keeps != NULL) {
        *any = kept != l->n;
        return keep_in_map(m, l, keeps);
    }
    if (e == ERR_OK) {
        *any = kept != l->n;
        l->n = kept;
    }
    return e;
}

METHOD(remove_if)
{
    bool any = false;
    enum err e = list_keep(m, self.list, a[0], false, &any);
    *out = sv_bool(any);
    return e;
}

METHOD(retain_all)
{
    bool any = false;
    enum err e = list_keep(m, self.list, a[0], true, &any);
    *out = sv_bool(any);
    return e;
}

/* ---- sorting ---- */

struct sorter {
    struct script_run *m;
    struct sv by; /* SV_NULL: natural order */
    enum err e;
};

static int list_compare(struct sorter *s, struct sv x, struct sv y)
{
    int r = 0;
    struct sv args[2] = {x, y}, out;
    int64_t i = 0;
    if (s->e != ERR_OK) {
        return 0;
    }
    if (s->by.kind == SV_FUNC) {
        s->e = vm_call(s->m, s->by, args, 2, &out);
        s->e = s->e == ERR_OK ? vm_arg_i64(s->m, out, &i) : s->e;
        return i < 0 ? -1 : i > 0;
    }
    s->e = vm_spend(s->m, 1);
    if (s->e == ERR_OK && !sv_compare(x, y, &r)) {
        s->e = x.kind == SV_NULL || y.kind == SV_NULL ? vm_null(s->m, "compareTo")
                                                      : vm_class_cast(s->m, x, sv_class(y));
    }
    return r;
}

/* A stable merge sort: qsort has no way out of an error. */
static void merge_sort(struct sorter *s, struct sv *v, struct sv *scratch, uint32_t n)
{
    if (n < 2 || s->e != ERR_OK) {
        return;
    }
    uint32_t half = n / 2, i = 0, k = half, at = 0;
    merge_sort(s, v, scratch, half);
    merge_sort(s, v + half, scratch, n - half);
    while (i < half && k < n && s->e == ERR_OK) {
        scratch[at++] = list_compare(s, v[i], v[k]) <= 0 ? v[i++] : v[k++];
    }
    if (s->e != ERR_OK) {
        return;
    }
    while (i < half) {
        scratch[at++] = v[i++];
    }
    memcpy(v, scratch, at * sizeof(*v));
}

static enum err sort_list(struct script_run *m, struct sv_list *l, struct sv by)
{
    struct sv *scratch = ARENA_ARRAY(&m->mem, struct sv, l->n);
    struct sv *copy_of = ARENA_ARRAY(&m->mem, struct sv, l->n);
    struct sorter s = {.m = m, .by = by};
    uint32_t n = l->n;
    if (scratch == NULL || copy_of == NULL) {
        return vm_no_memory(m);
    }
    if (n > 0) {
        memcpy(copy_of, l->v, n * sizeof(*copy_of));
        merge_sort(&s, copy_of, scratch, n);
    }
    if (s.e == ERR_OK && l->n != n) {
        return err_set(m->em, ERR_CONCURRENT_MODIFICATION, "%s", "");
    }
    if (s.e == ERR_OK && n > 0) {
        memcpy(l->v, copy_of, n * sizeof(*copy_of));
    }
    return s.e;
}

METHOD(sort)
{
    enum err e = changeable(m, self.list);
    *out = sv_null();
    return e == ERR_OK ? sort_list(m, self.list, n > 0 ? a[0] : sv_null()) : e;
}

METHOD(sorted)
{
    enum err e = list_copy(m, self.list, 0, self.list->n, LIST_STREAM, out);
    return e == ERR_OK ? sort_list(m, out->list, n > 0 ? a[0] : sv_null()) : e;
}

static enum err extreme(struct script_run *m, const struct sv_list *l, struct sv by, int sign, struct sv *out)
{
    struct sorter s = {.m = m, .by = by};
    struct sv best = l->n > 0 ? l->v[0] : sv_null();
    for (uint32_t i = 1; i < l->n && s.e == ERR_OK; i++) {
        if (list_compare(&s, l->v[i], best) * sign > 0) {
            best = l->v[i];
        }
    }
    return s.e == ERR_OK ? optional_of(m, l->n > 0, best, out) : s.e;
}

METHOD(max)
{
    return extreme(m, self.list, n > 0 ? a[0] : sv_null(), 1, out);
}

METHOD(min)
{
    return extreme(m, self.list, n > 0 ? a[0] : sv_null(), -1, out);
}

METHOD(distinct)
{
    enum err e = vm_list(m, LIST_STREAM, out);
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        e = vm_spend(m, 1);
        if (e == ERR_OK && sv_list_find(out->list, self.list->v[i], &m->steps) == UINT32_MAX) {
            e = vm_push(m, out->list, self.list->v[i]);
        }
    }
    return e;
}

METHOD(limit)
{
    int64_t k = 0;
    enum err e = vm_arg_i64(m, a[0], &k);
    uint32_t to = k < 0 ? 0 : (uint32_t)MIN_OF(k, (int64_t)self.list->n);
    return e == ERR_OK ? list_copy(m, self.list, 0, to, LIST_STREAM, out) : e;
}

METHOD(skip)
{
    int64_t k = 0;
    enum err e = vm_arg_i64(m, a[0], &k);
    uint32_t from = k < 0 ? 0 : (uint32_t)MIN_OF(k, (int64_t)self.list->n);
    return e == ERR_OK ? list_copy(m, self.list, from, self.list->n, LIST_STREAM, out) : e;
}

enum err methods_list(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                      struct sv *out, bool *found)
{
    static const struct method table[] = {{"size", 0, size},
                                          {"getLength", 0, size},
                                          {"length", 0, size},
                                          {"isEmpty", 0, is_empty},
                                          {"get", 1, get},
                                          {"add", 1, add},
                                          {"add", 2, add_at},
                                          {"addAll", 1, add_all},
                                          {"addAll", 2, add_all},
                                          {"remove", 1, remove_one},
                                          {"set", 2, set},
                                          {"contains", 1, contains},
                                          {"containsAll", 1, contains_all},
                                          {"indexOf", 1, index_of},
                                          {"lastIndexOf", 1, last_index_of},
                                          {"clear", 0, clear},
                                          {"sort", 1, sort},
                                          {"removeIf", 1, remove_if},
                                          {"removeAll", 1, remove_if},
                                          {"retainAll", 1, retain_all},
                                          {"iterator", 0, iterator},
                                          {"subList", 2, sub_list},
                                          {"stream", 0, stream},
                                          {"toArray", -1, to_array},
                                          {"asList", 0, to_list},
                                          {"toList", 0, to_list},
                                          {"boxed", 0, stream},
                                          {"max", 0, max},
                                          {"max", 1, max},
                                          {"min", 0, min},
                                          {"min", 1, min},
                                          {"count", 0, count},
                                          {"distinct", 0, distinct},
                                          {"sorted", 0, sorted},
                                          {"sorted", 1, sorted},
                                          {"limit", 1, limit},
                                          {"skip", 1, skip}};
    enum err e = vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
    return e == ERR_OK && !*found ? methods_stream(m, self, name, a, n, out, found) : e;
}
