/* Methods of maps. */
#include "engine/script/vm.h"

static enum err map_method_put(struct script_run *m, struct sv_map *map_, struct sv key, struct sv value)
{
    return vm_put_at(m, (struct sv){.kind = SV_MAP, .map = map_}, key, value);
}

METHOD(map_get)
{
    return vm_get_at(m, self, a[0], out);
}

METHOD(map_get_or)
{
    const struct sv *v = sv_map_get(self.map, a[0]);
    *out = v != NULL ? *v : a[1];
    return ERR_OK;
}

METHOD(map_put)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    *out = was != NULL ? *was : sv_null();
    return map_method_put(m, self.map, a[0], a[1]);
}

METHOD(map_put_if_absent)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    *out = was != NULL ? *was : sv_null();
    return was != NULL && was->kind != SV_NULL ? ERR_OK : map_method_put(m, self.map, a[0], a[1]);
}

METHOD(map_compute_if_absent)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    if (was != NULL && was->kind != SV_NULL) {
        *out = *was;
        return ERR_OK;
    }
    enum err e = vm_call(m, a[1], &a[0], 1, out);
    return e == ERR_OK && out->kind != SV_NULL ? map_method_put(m, self.map, a[0], *out) : e;
}

/* What a function of key and value makes of them becomes the value; null takes the entry away. */
static enum err recompute(struct script_run *m, struct sv self, struct sv key, struct sv was, struct sv f,
                          struct sv *out)
{
    struct sv args[2] = {key, was}, ignored;
    enum err e = vm_call(m, f, args, 2, out);
    if (e != ERR_OK || out->kind != SV_NULL) {
        return e == ERR_OK ? map_method_put(m, self.map, key, *out) : e;
    }
    (void)(self.map->frozen || sv_map_remove(self.map, key, &ignored));
    return self.map->frozen ? vm_frozen(m) : vm_spend(m, 1 + self.map->n / 8);
}

METHOD(map_compute)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    return recompute(m, self, a[0], was != NULL ? *was : sv_null(), a[1], out);
}

METHOD(map_compute_if_present)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    *out = sv_null();
    return was != NULL && was->kind != SV_NULL ? recompute(m, self, a[0], *was, a[1], out) : ERR_OK;
}

METHOD(map_replace_all)
{
    uint32_t all = self.map->n;
    enum err e = self.map->frozen ? vm_frozen(m) : ERR_OK;
    for (uint32_t i = 0; i < all && e == ERR_OK; i++) {
        struct sv args[2] = {self.map->e[i].key, self.map->e[i].value}, v;
        e = vm_call(m, a[0], args, 2, &v);
        if (e == ERR_OK && self.map->n != all) {
            return err_set(m->em, ERR_CONCURRENT_MODIFICATION, "%s", "");
        }
        if (e == ERR_OK) {
            self.map->e[i].value = v;
        }
    }
    *out = sv_null();
    return e;
}

/* replace(key, value): only where there is one. */
METHOD(map_replace)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    *out = was != NULL ? *was : sv_null();
    return was != NULL ? map_method_put(m, self.map, a[0], a[1]) : ERR_OK;
}

METHOD(map_merge)
{
    const struct sv *was = sv_map_get(self.map, a[0]);
    struct sv args[2] = {was != NULL ? *was : sv_null(), a[1]};
    *out = a[1];
    enum err e = args[0].kind != SV_NULL ? vm_call(m, a[2], args, 2, out) : ERR_OK;
    return e == ERR_OK ? map_method_put(m, self.map, a[0], *out) : e;
}

METHOD(map_remove)
{
    *out = sv_null();
    if (self.map->frozen) {
        return vm_frozen(m);
    }
    (void)sv_map_remove(self.map, a[0], out);
    return vm_spend(m, 1 + self.map->n / 8);
}

METHOD(map_size)
{
    *out = sv_int((int32_t)self.map->n);
    return ERR_OK;
}

METHOD(map_is_empty)
{
    *out = sv_bool(self.map->n == 0);
    return ERR_OK;
}

METHOD(map_contains_key)
{
    *out = sv_bool(sv_map_get(self.map, a[0]) != NULL);
    return ERR_OK;
}

METHOD(map_contains_value)
{
    bool is = false;
    for (uint32_t i = 0; i < self.map->n && !is; i++) {
        is = sv_equals(self.map->e[i].value, a[0], &m->steps);
    }
    *out = sv_bool(is);
    return vm_spend(m, 0);
}

enum side { SIDE_KEYS, SIDE_VALUES, SIDE_ENTRIES };

static enum err side(struct script_run *m, struct sv self, enum side which, struct sv *out)
{
    enum err e = sv_map_arrange(self.map) ? vm_list(m, which == SIDE_VALUES ? LIST_LIST : LIST_SET, out)
                                          : vm_no_memory(m);
    for (uint32_t i = 0; i < self.map->n && e == ERR_OK; i++) {
        struct sv entry = {.kind = SV_ENTRY, .aux = i, .map = self.map};
        e = vm_push(m, out->list,
                    which == SIDE_KEYS     ? self.map->e[i].key
                    : which == SIDE_VALUES ? self.map->e[i].value
                                           : entry);
    }
    if (e == ERR_OK) {
        out->list->of = self.map;
        out->list->frozen = self.map->frozen;
    }
    return e;
}

METHOD(map_keys)
{
    return side(m, self, SIDE_KEYS, out);
}

METHOD(map_values)
{
    return side(m, self, SIDE_VALUES, out);
}

METHOD(map_entries)
{
    return side(m, self, SIDE_ENTRIES, out);
}

METHOD(map_put_all)
{
    enum err e = ERR_OK;
    if (a[0].kind == SV_MAP && !sv_map_arrange(a[0].map)) {
        return vm_no_memory(m);
    }
    if (a[0].kind != SV_MAP) {
        return a[0].kind == SV_NULL ? vm_null(m, "putAll") : vm_class_cast(m, a[0], "java.util.Map");
    }
    for (uint32_t i = 0, all = a[0].map->n; i < all && e == ERR_OK; i++) {
        e = map_method_put(m, self.map, a[0].map->e[i].key, a[0].map->e[i].value);
    }
    *out = sv_null();
    return e;
}

METHOD(map_clear)
{
    if (self.map->frozen) {
        return vm_frozen(m);
    }
    *self.map = (struct sv_map){.sorted = self.map->sorted, .hashed = self.map->hashed};
    *out = sv_null();
    return ERR_OK;
}

/* The first or last entry of a TreeMap. */
static enum err map_edge(struct script_run *m, struct sv self, bool last, bool key, struct sv *out)
{
    const struct sv_map *map = self.map;
    *out = sv_null();
    if (!map->sorted) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic method [java.util.HashMap, %s%s/0] not found",
                       last ? "last" : "first", key ? "Key" : "Entry");
    }
    if (map->n == 0) {
        return key ? err_set(m->em, ERR_RUNTIME, "no such element") : ERR_OK;
    }
    uint32_t at = last ? map->n - 1 : 0;
    *out = key ? map->e[at].key : (struct sv){.kind = SV_ENTRY, .aux = at, .map = self.map};
    return ERR_OK;
}

METHOD(map_first_key)
{
    return map_edge(m, self, false, true, out);
}

METHOD(map_last_key)
{
    return map_edge(m, self, true, true, out);
}

METHOD(map_first_entry)
{
    return map_edge(m, self, false, false, out);
}

METHOD(map_last_entry)
{
    return map_edge(m, self, true, false, out);
}

METHOD(map_for_each)
{
    enum err e = ERR_OK;
    uint32_t all = self.map->n;
    if (!sv_map_arrange(self.map)) {
        return vm_no_memory(m);
    }
    for (uint32_t i = 0; i < all && e == ERR_OK; i++) {
        struct sv args[2] = {self.map->e[i].key, self.map->e[i].value}, ignored;
        e = vm_call(m, a[0], args, 2, &ignored);
        if (e == ERR_OK && self.map->n != all) {
            return err_set(m->em, ERR_CONCURRENT_MODIFICATION, "%s", "");
        }
    }
    *out = sv_null();
    return e;
}

/* ---- painless's own: functions of a key and its value ---- */

enum entry_visit { OVER_EACH, OVER_COLLECT, OVER_COUNT, OVER_EVERY, OVER_FIND, OVER_FIND_ALL };

/* Takes what a function gave for one entry; *done ends the walk. */
static enum err map_method_take(struct script_run *m, struct sv map, uint32_t i, enum entry_visit what,
                                struct sv given, struct sv *out, bool *done)
{
    const struct sv_map_entry *entry = &map.map->e[i];
    bool is = false;
    enum err e = what == OVER_EACH || what == OVER_COLLECT ? ERR_OK : vm_arg_bool(m, given, &is);
    if (e != ERR_OK) {
        return e;
    }
    switch (what) {
    case OVER_EACH:
        break;
    case OVER_COLLECT:
        return vm_push(m, out->list, given);
    case OVER_COUNT:
        out->i += is;
        break;
    case OVER_EVERY:
        out->b = is;
        *done = !is;
        break;
    case OVER_FIND:
        *out = is ? (struct sv){.kind = SV_ENTRY, .aux = i, .map = map.map} : sv_null();
        *done = is;
        break;
    case OVER_FIND_ALL:
        return is ? map_method_put(m, out->map, entry->key, entry->value) : ERR_OK;
    }
    return ERR_OK;
}

static enum err over_entries(struct script_run *m, struct sv self, struct sv f, enum entry_visit what,
                             struct sv *out)
{
    enum err e = sv_map_arrange(self.map) ? ERR_OK : vm_no_memory(m);
    uint32_t all = self.map->n;
    bool done = false;
    *out = what == OVER_COUNT ? sv_int(0) : what == OVER_EVERY ? sv_bool(true) : sv_null();
    if (e == ERR_OK && what == OVER_COLLECT) {
        e = vm_list(m, LIST_LIST, out);
    } else if (e == ERR_OK && what == OVER_FIND_ALL) {
        *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
        if (out->map == NULL) {
            return vm_no_memory(m);
        }
        out->map->sorted = self.map->sorted;
        out->map->hashed = self.map->hashed;
    }
    for (uint32_t i = 0; i < all && e == ERR_OK && !done; i++) {
        struct sv args[2] = {self.map->e[i].key, self.map->e[i].value}, given;
        e = vm_call(m, f, args, 2, &given);
        if (e == ERR_OK && self.map->n != all) {
            return err_set(m->em, ERR_CONCURRENT_MODIFICATION, "%s", "");
        }
        e = e == ERR_OK ? map_method_take(m, self, i, what, given, out, &done) : e;
    }
    if (e == ERR_OK && what == OVER_EACH) {
        *out = self;
    }
    return e;
}

METHOD(map_each)
{
    return over_entries(m, self, a[0], OVER_EACH, out);
}

METHOD(map_collect)
{
    return over_entries(m, self, a[0], OVER_COLLECT, out);
}

METHOD(map_count)
{
    return over_entries(m, self, a[0], OVER_COUNT, out);
}

METHOD(map_every)
{
    return over_entries(m, self, a[0], OVER_EVERY, out);
}

METHOD(map_find)
{
    return over_entries(m, self, a[0], OVER_FIND, out);
}

METHOD(map_find_all)
{
    return over_entries(m, self, a[0], OVER_FIND_ALL, out);
}

enum err methods_map(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                     struct sv *out, bool *found)
{
    static const struct method table[] = {{"get", 1, map_get},
                                          {"getOrDefault", 2, map_get_or},
                                          {"put", 2, map_put},
                                          {"putIfAbsent", 2, map_put_if_absent},
                                          {"computeIfAbsent", 2, map_compute_if_absent},
                                          {"compute", 2, map_compute},
                                          {"computeIfPresent", 2, map_compute_if_present},
                                          {"replaceAll", 1, map_replace_all},
                                          {"replace", 2, map_replace},
                                          {"merge", 3, map_merge},
                                          {"remove", 1, map_remove},
                                          {"size", 0, map_size},
                                          {"isEmpty", 0, map_is_empty},
                                          {"containsKey", 1, map_contains_key},
                                          {"containsValue", 1, map_contains_value},
                                          {"keySet", 0, map_keys},
                                          {"values", 0, map_values},
                                          {"entrySet", 0, map_entries},
                                          {"putAll", 1, map_put_all},
                                          {"clear", 0, map_clear},
                                          {"firstKey", 0, map_first_key},
                                          {"lastKey", 0, map_last_key},
                                          {"firstEntry", 0, map_first_entry},
                                          {"lastEntry", 0, map_last_entry},
                                          {"forEach", 1, map_for_each},
                                          {"each", 1, map_each},
                                          {"collect", 1, map_collect},
                                          {"count", 1, map_count},
                                          {"every", 1, map_every},
                                          {"find", 1, map_find},
                                          {"findAll", 1, map_find_all}};
    return vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
}
