/* Values of a path in a source tree, as field retrieval and highlighting see them. */
#include "engine/mapping/document.h"

struct values {
    struct arena *arena;
    const struct json **v;
    size_t n, cap;
};

static bool add(struct values *to, const struct json *v)
{
    const struct json **grown = arena_grow(to->arena, to->v, to->n, &to->cap, sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    to->v = grown;
    grown[to->n++] = v;
    return true;
}

static bool collect_leaves(struct values *to, const struct json *v)
{
    bool ok = true;
    if (v->type != JSON_ARRAY) {
        return v->type == JSON_NULL || add(to, v);
    }
    for (uint32_t i = 0; ok && i < v->n; i++) {
        ok = collect_leaves(to, &v->items[i]);
    }
    return ok;
}

/* A member whose key is the path or a run of its first names. */
static bool collect(struct values *to, const struct json *v, struct str path)
{
    bool ok = true;
    if (v->type == JSON_ARRAY) {
        for (uint32_t i = 0; ok && i < v->n; i++) {
            ok = collect(to, &v->items[i], path);
        }
        return ok;
    }
    for (uint32_t i = 0; ok && v->type == JSON_OBJECT && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (str_eq(m->key, path)) {
            ok = collect_leaves(to, &m->value);
        } else if (m->key.n < path.n && path.p[m->key.n] == '.' && str_starts(path, m->key)) {
            ok = collect(to, &m->value, str_slice(path, m->key.n + 1, path.n));
        }
    }
    return ok;
}

bool source_values(const struct json *source, struct str path, struct arena *arena, const struct json ***out,
                   size_t *n)
{
    struct values to = {.arena = arena};
    bool ok = collect(&to, source, path);
    *out = to.v;
    *n = to.n;
    return ok;
}
