/* Values of a path in a source tree, as field retrieval and highlighting see them. */
#include "engine/mapping/document.h"

#include "common/base/arena_list.h"

struct values {
    struct arena *arena;
    const struct json **v;
    size_t n, cap;
    uint32_t lists; /* how many lists the values lie in that are collected now */
    bool deeper;    /* there are some in more */
};

static bool source_values_add(struct values *to, const struct json *v)
{
    return ARENA_ADD(to->arena, to->v, to->n, to->cap, v);
}

/* Values below as many lists as `to` asks for; deeper ones are noted. */
static bool collect_leaves(struct values *to, const struct json *v, uint32_t lists)
{
    bool ok = true;
    if (v->type != JSON_ARRAY) {
        return lists != to->lists || source_values_add(to, v);
    }
    to->deeper |= lists == to->lists;
    for (uint32_t i = 0; ok && lists < to->lists && i < v->n; i++) {
        ok = collect_leaves(to, &v->items[i], lists + 1);
    }
    return ok;
}

/* A member whose key is the path or a run of its first names. */
static bool source_values_collect(struct values *to, const struct json *v, struct str path, uint32_t lists)
{
    bool ok = true;
    if (v->type == JSON_ARRAY) {
        to->deeper |= lists == to->lists;
        for (uint32_t i = 0; ok && lists < to->lists && i < v->n; i++) {
            ok = source_values_collect(to, &v->items[i], path, lists + 1);
        }
        return ok;
    }
    for (uint32_t i = 0; ok && v->type == JSON_OBJECT && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (str_eq(m->key, path)) {
            ok = collect_leaves(to, &m->value, lists);
        } else if (m->key.n < path.n && path.p[m->key.n] == '.' && str_starts(path, m->key)) {
            ok = source_values_collect(to, &m->value, str_slice(path, m->key.n + 1, path.n), lists);
        }
    }
    return ok;
}

bool source_values(const struct json *source, struct str path, struct arena *arena, const struct json ***out,
                   size_t *n)
{
    struct values to = {.arena = arena};
    bool ok;
    do { /* those in fewer lists come first */
        to.deeper = false;
        ok = source_values_collect(&to, source, path, 0);
        to.lists++;
    } while (ok && to.deeper);
    *out = to.v;
    *n = to.n;
    return ok;
}

/* Keys with dots in them count, arrays are entered, objects are no values. */
static bool collect_raw(struct values *to, const struct json *v, struct str path)
{
    bool ok = true;
    for (uint32_t i = 0; v->type == JSON_ARRAY && ok && i < v->n; i++) {
        bool deeper = v->items[i].type == JSON_ARRAY || v->items[i].type == JSON_OBJECT;
        ok = !(deeper || path.n == 0) || collect_raw(to, &v->items[i], path);
    }
    if (v->type == JSON_ARRAY) {
        return ok;
    }
    if (v->type != JSON_OBJECT) {
        return v->type == JSON_NULL || source_values_add(to, v);
    }
    for (size_t dot = 0; path.n > 0 && dot <= path.n; dot++) {
        if (dot < path.n && path.p[dot] != '.') {
            continue;
        }
        const struct json *m = json_get_str(v, str_slice(path, 0, dot));
        if (m != NULL && m->type != JSON_NULL) {
            return collect_raw(to, m, dot < path.n ? str_slice(path, dot + 1, path.n) : STR(""));
        }
    }
    return true;
}

bool source_raw_values(const struct json *source, struct str path, struct arena *arena,
                       const struct json ***out, size_t *n)
{
    struct values to = {.arena = arena};
    bool ok = collect_raw(&to, source, path);
    *out = to.v;
    *n = to.n;
    return ok;
}
