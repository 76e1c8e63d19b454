/* Members, elements and methods of values. */
#include "engine/script/kinds.h"

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
                         struct sv *out, bool *found)
{
    kind_methods_fn *own = kinds[self.kind].methods;
    enum err e = own != NULL ? own(m, self, name, args, n, out, found) : ERR_OK;
    return e == ERR_OK && !*found ? methods_other(m, self, name, args, n, out, found) : e;
}

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
    kind_get_fn *get = kinds[object.kind].get;
    return get != NULL ? get(m, object, name, out) : getter(m, object, name, out);
}

enum err get_of_null(struct script_run *m, UNUSED struct sv object, UNUSED struct str name,
                     UNUSED struct sv *out)
{
    return vm_no_class(m, "callArgs[0]");
}

enum err get_of_map(struct script_run *m, struct sv object, struct str name, struct sv *out)
{
    return map_get(m, object.map, sv_str(name), out);
}

enum err get_of_docs(struct script_run *m, UNUSED struct sv object, struct str name, struct sv *out)
{
    return vm_field(m, name, out);
}

/* Its length, or the element whose number is the name. */
enum err get_of_list(struct script_run *m, struct sv object, struct str name, struct sv *out)
{
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
}

/* ---- elements ---- */

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

static enum err no_elements(struct script_run *m, struct sv object)
{
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT,
                   "Attempting to address a non-array-like type [%s] as an array.", sv_class(object));
}

enum err vm_get_at(struct script_run *m, struct sv object, struct sv index, struct sv *out)
{
    kind_get_at_fn *get = kinds[object.kind].get_at;
    return get != NULL ? get(m, object, index, out) : no_elements(m, object);
}

enum err get_at_null(struct script_run *m, UNUSED struct sv object, UNUSED struct sv index,
                     UNUSED struct sv *out)
{
    return vm_no_class(m, "callArgs[0]");
}

enum err get_at_map(struct script_run *m, struct sv object, struct sv index, struct sv *out)
{
    return map_get(m, object.map, index, out);
}

enum err get_at_docs(struct script_run *m, UNUSED struct sv object, struct sv index, struct sv *out)
{
    struct str name;
    enum err e = vm_arg_str(m, index, &name);
    return e == ERR_OK ? vm_field(m, name, out) : e;
}

enum err get_at_list(struct script_run *m, struct sv object, struct sv index, struct sv *out)
{
    uint32_t at = 0;
    enum err e = list_index(m, object.list, index, &at);
    if (e == ERR_OK) {
        *out = object.list->v[at];
    }
    return e;
}

enum err get_at_field(struct script_run *m, struct sv object, struct sv index, struct sv *out)
{
    return vm_method(m, object, STR("get"), &index, 1, out);
}

/* ---- writing ---- */

static enum err no_setter(struct script_run *m, struct sv object, struct str name)
{
    return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic setter [%s, %.*s] not found", sv_class(object),
                   STR_ARG(name));
}

enum err vm_put(struct script_run *m, struct sv object, struct str name, struct sv v)
{
    kind_put_fn *put = kinds[object.kind].put;
    return put != NULL ? put(m, object, name, v) : no_setter(m, object, name);
}

enum err put_to_null(struct script_run *m, UNUSED struct sv object, UNUSED struct str name,
                     UNUSED struct sv v)
{
    return vm_no_class(m, "callArgs[0]");
}

enum err put_to_map(struct script_run *m, struct sv object, struct str name, struct sv v)
{
    return vm_put_at(m, object, sv_str(name), v);
}

enum err put_to_entry(struct script_run *m, struct sv object, struct str name, struct sv v)
{
    if (!str_is(name, "value") || object.map->frozen) {
        return no_setter(m, object, name);
    }
    object.map->e[object.aux].value = v;
    return ERR_OK;
}

enum err vm_put_at(struct script_run *m, struct sv object, struct sv index, struct sv v)
{
    kind_put_at_fn *put = kinds[object.kind].put_at;
    return put != NULL ? put(m, object, index, v) : no_elements(m, object);
}

enum err put_at_null(struct script_run *m, UNUSED struct sv object, UNUSED struct sv index,
                     UNUSED struct sv v)
{
    return vm_no_class(m, "callArgs[0]");
}

enum err put_at_map(struct script_run *m, struct sv object, struct sv index, struct sv v)
{
    if (object.map->frozen) {
        return vm_frozen(m);
    }
    return sv_map_put(&m->mem, object.map, index, v) ? vm_spend(m, 1 + object.map->n / 64) : vm_no_memory(m);
}

enum err put_at_list(struct script_run *m, struct sv object, struct sv index, struct sv v)
{
    uint32_t at = 0;
    if (object.list->frozen) {
        return vm_frozen(m);
    }
    enum err e = list_index(m, object.list, index, &at);
    if (e == ERR_OK && object.list->element != SV_NULL) {
        enum type_id id = (enum type_id)(TYPE_BOOLEAN + (int)(object.list->element - SV_BOOL));
        e = vm_cast(m, (struct type){.id = id}, v, true, &v);
    }
    if (e == ERR_OK) {
        object.list->v[at] = v;
    }
    return e;
}

/* ---- methods ---- */

enum err vm_method(struct script_run *m, struct sv self, struct str name, struct sv *args, uint32_t n,
                   struct sv *out)
{
    bool found = false;
    *out = sv_null();
    if (self.kind == SV_NULL) {
        return vm_no_class(m, "callArgs[0]");
    }
    enum err e = dispatch(m, self, name, args, n, out, &found);
    if (e == ERR_OK && !found) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic method [%s, %.*s/%u] not found", sv_class(self),
                       STR_ARG(name), n);
    }
    return e;
}
