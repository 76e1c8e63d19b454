/* Functions over all elements of lists, sets, arrays and streams. */
#include "engine/script/collectors.h"

METHOD(for_each)
{
    struct sv ignored;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        e = vm_call_one(m, a[0], self.list->v[i], &ignored);
    }
    *out = sv_null();
    return e;
}

METHOD(map)
{
    enum err e = vm_list(m, self.list->form == LIST_STREAM ? LIST_STREAM : LIST_LIST, out);
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv v;
        e = vm_call_one(m, a[0], self.list->v[i], &v);
        e = e == ERR_OK ? vm_push(m, out->list, v) : e;
    }
    return e;
}

/* mapToInt and the like: numbers become what the stream is of. */
static enum err map_to(struct script_run *m, struct sv self, struct sv *a, enum sv_kind kind, struct sv *out)
{
    enum err e = map(m, self, a, 1, out);
    for (uint32_t i = 0; e == ERR_OK && i < out->list->n; i++) {
        struct sv v = out->list->v[i];
        out->list->v[i] = sv_is_number(v) ? sv_to_kind(v, kind) : v;
    }
    return e;
}

METHOD(map_to_int)
{
    return map_to(m, self, a, SV_INT, out);
}

METHOD(map_to_long)
{
    return map_to(m, self, a, SV_LONG, out);
}

METHOD(map_to_double)
{
    return map_to(m, self, a, SV_DOUBLE, out);
}

METHOD(filter)
{
    enum err e = vm_list(m, self.list->form == LIST_STREAM ? LIST_STREAM : LIST_LIST, out);
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        bool is = false;
        struct sv v = self.list->v[i];
        e = vm_test(m, a[0], v, &is);
        e = e == ERR_OK && is ? vm_push(m, out->list, v) : e;
    }
    return e;
}

/* Is there one for which f is `want`? */
static enum err seek(struct script_run *m, const struct sv_list *l, struct sv f, bool want, bool *out,
                     struct sv *which)
{
    enum err e = ERR_OK;
    *out = false;
    for (uint32_t i = 0; i < l->n && e == ERR_OK && !*out; i++) {
        bool is = false;
        struct sv v = l->v[i];
        e = vm_test(m, f, v, &is);
        *out = e == ERR_OK && is == want;
        if (*out && which != NULL) {
            *which = v;
        }
    }
    return e;
}

METHOD(any)
{
    bool r = false;
    enum err e = seek(m, self.list, a[0], true, &r, NULL);
    *out = sv_bool(r);
    return e;
}

METHOD(every)
{
    bool r = false;
    enum err e = seek(m, self.list, a[0], false, &r, NULL);
    *out = sv_bool(!r);
    return e;
}

METHOD(none)
{
    bool r = false;
    enum err e = seek(m, self.list, a[0], true, &r, NULL);
    *out = sv_bool(!r);
    return e;
}

METHOD(find)
{
    bool r = false;
    *out = sv_null();
    return seek(m, self.list, a[0], true, &r, out);
}

/* Streams of whole numbers sum to them; lists, painless's own way, to a double. */
METHOD(sum)
{
    struct sv total = self.list->form == LIST_STREAM ? sv_int(0) : sv_double(0);
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv v = self.list->v[i];
        e = n > 0 ? vm_call_one(m, a[0], v, &v) : ERR_OK;
        e = e == ERR_OK ? vm_binary(m, OP_ADD, total, v, &total) : e;
    }
    *out = total;
    return e;
}

METHOD(average)
{
    double total = 0;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        double v = 0;
        e = vm_arg_num(m, self.list->v[i], &v);
        total += v;
    }
    return e == ERR_OK ? optional_of(m, self.list->n > 0, sv_double(total / self.list->n), out) : e;
}

METHOD(find_first)
{
    return optional_of(m, self.list->n > 0, self.list->n > 0 ? self.list->v[0] : sv_null(), out);
}

/* `always`: Java's, with a separator between any two; painless's own has none before there is a text. */
static enum err joined(struct script_run *m, struct sv self, struct sv *a, uint32_t n, bool always,
                       struct sv *out)
{
    struct str sep = STR("");
    struct buf b;
    enum err e = n > 0 ? vm_arg_str(m, a[0], &sep) : ERR_OK;
    buf_init(&b, NULL, m->limits.bytes_max);
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct str one;
        e = vm_text(m, self.list->v[i], &one);
        buf_str(&b, (always ? i > 0 : b.n > 0) ? sep : STR(""));
        buf_str(&b, e == ERR_OK ? one : STR(""));
    }
    e = e == ERR_OK ? (b.failed ? vm_no_memory(m) : vm_str(m, buf_view(&b), out)) : e;
    buf_fini(&b);
    return e;
}

METHOD(join)
{
    return joined(m, self, a, n, self.list->form == LIST_STREAM, out);
}

METHOD(join_all)
{
    return joined(m, self, a, n, true, out);
}

/* collect(Collectors.x()) is painless's map with a function, or one of the collectors, which are plain
 * functions too. */
METHOD(collect)
{
    if (self.list->form == LIST_STREAM) {
        return vm_call(m, a[0], &self, 1, out);
    }
    return map(m, self, a, n, out);
}

METHOD(reduce)
{
    struct sv total = a[0];
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv args[2] = {total, self.list->v[i]};
        e = vm_call(m, a[1], args, 2, &total);
    }
    *out = total;
    return e;
}

METHOD(reduce_all)
{
    struct sv total = self.list->n > 0 ? self.list->v[0] : sv_null();
    enum err e = ERR_OK;
    for (uint32_t i = 1; i < self.list->n && e == ERR_OK; i++) {
        struct sv args[2] = {total, self.list->v[i]};
        e = vm_call(m, a[0], args, 2, &total);
    }
    return e == ERR_OK ? optional_of(m, self.list->n > 0, total, out) : e;
}

METHOD(flat_map)
{
    enum err e = vm_list(m, LIST_STREAM, out);
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv part, ignored;
        e = vm_call_one(m, a[0], self.list->v[i], &part);
        e = e == ERR_OK && part.kind != SV_NULL ? vm_method(m, *out, STR("addAll"), &part, 1, &ignored) : e;
    }
    return e;
}

/* What it calls sees each; the stream stays as it is. */
METHOD(peek)
{
    enum err e = for_each(m, self, a, n, out);
    *out = self;
    return e;
}

METHOD(replace_all)
{
    enum err e = self.list->frozen ? vm_frozen(m) : ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv v;
        e = vm_call_one(m, a[0], self.list->v[i], &v);
        if (e == ERR_OK && i < self.list->n) {
            self.list->v[i] = v;
        }
    }
    *out = sv_null();
    return e;
}

METHOD(group_by)
{
    enum err e = ERR_OK;
    *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    if (out->map == NULL) {
        return vm_no_memory(m);
    }
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv key, group, v = self.list->v[i];
        e = vm_call_one(m, a[0], v, &key);
        struct sv *there = e == ERR_OK ? sv_map_get(out->map, key) : NULL;
        if (e == ERR_OK && there == NULL) {
            e = vm_list(m, LIST_LIST, &group);
            e = e == ERR_OK && !sv_map_put(&m->mem, out->map, key, group) ? vm_no_memory(m) : e;
        } else if (there != NULL) {
            group = *there;
        }
        e = e == ERR_OK ? vm_push(m, group.list, v) : e;
    }
    return e;
}

METHOD(each_with_index)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv args[2] = {self.list->v[i], sv_int((int32_t)i)}, ignored;
        e = vm_call(m, a[0], args, 2, &ignored);
    }
    *out = self;
    return e;
}

METHOD(count_of)
{
    int32_t count = 0;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        bool is = false;
        e = vm_test(m, a[0], self.list->v[i], &is);
        count += is;
    }
    *out = sv_int(count);
    return e;
}

METHOD(find_results)
{
    enum err e = vm_list(m, LIST_LIST, out);
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        struct sv v;
        e = vm_call_one(m, a[0], self.list->v[i], &v);
        e = e == ERR_OK && v.kind != SV_NULL ? vm_push(m, out->list, v) : e;
    }
    return e;
}

/* The first that is no null; or what else is given. */
METHOD(find_result)
{
    enum err e = ERR_OK;
    struct sv v = sv_null();
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK && v.kind == SV_NULL; i++) {
        e = vm_call_one(m, a[n - 1], self.list->v[i], &v);
    }
    *out = v.kind == SV_NULL && n == 2 ? a[0] : v;
    return e;
}

/* Those that the function is true for, and the others. */
METHOD(split)
{
    struct sv parts[2];
    enum err e = vm_list(m, LIST_LIST, out);
    for (int i = 0; i < 2 && e == ERR_OK; i++) {
        e = vm_list(m, LIST_LIST, &parts[i]);
        e = e == ERR_OK ? vm_push(m, out->list, parts[i]) : e;
    }
    for (uint32_t i = 0; i < self.list->n && e == ERR_OK; i++) {
        bool is = false;
        struct sv v = self.list->v[i];
        e = vm_test(m, a[0], v, &is);
        e = e == ERR_OK ? vm_push(m, parts[is ? 0 : 1].list, v) : e;
    }
    return e;
}

enum err methods_stream(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                        struct sv *out, bool *found)
{
    static const struct method table[] = {{"forEach", 1, for_each},
                                          {"each", 1, for_each},
                                          {"map", 1, map},
                                          {"mapToInt", 1, map_to_int},
                                          {"mapToLong", 1, map_to_long},
                                          {"mapToDouble", 1, map_to_double},
                                          {"mapToObj", 1, map},
                                          {"filter", 1, filter},
                                          {"findAll", 1, filter},
                                          {"anyMatch", 1, any},
                                          {"any", 1, any},
                                          {"allMatch", 1, every},
                                          {"every", 1, every},
                                          {"noneMatch", 1, none},
                                          {"find", 1, find},
                                          {"findFirst", 0, find_first},
                                          {"findAny", 0, find_first},
                                          {"sum", 0, sum},
                                          {"sum", 1, sum},
                                          {"average", 0, average},
                                          {"join", 1, join},
                                          {"#joinAll", 1, join_all},
                                          {"collect", 1, collect},
                                          {"reduce", 2, reduce},
                                          {"reduce", 1, reduce_all},
                                          {"flatMap", 1, flat_map},
                                          {"peek", 1, peek},
                                          {"replaceAll", 1, replace_all},
                                          {"groupBy", 1, group_by},
                                          {"eachWithIndex", 1, each_with_index},
                                          {"count", 1, count_of},
                                          {"findResults", 1, find_results},
                                          {"findResult", 1, find_result},
                                          {"findResult", 2, find_result},
                                          {"split", 1, split}};
    return vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
}
