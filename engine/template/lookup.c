/* The meaning of names within the scopes of a rendering. */
#include "engine/template/nodes.h"

#include "common/base/num.h"

/* An element, or the size, of an array, as a map has them; NULL: no such key, or null. */
static enum err array_member(const struct json *v, struct str key, struct arena *arena,
                             const struct json **out, struct errmsg *em)
{
    int32_t at;
    if (str_is(key, "size")) {
        struct json *n = ARENA_NEW(arena, struct json);
        struct str text = arena_printf(arena, "%u", v->n);
        if (n == NULL || text.p == NULL) {
            return err_no_memory(em);
        }
        *n = (struct json){.type = JSON_NUMBER, .s = text};
        *out = n;
        return ERR_OK;
    }
    if (!num_parse_i32(key, &at)) {
        return ERR_OK;
    }
    if (at < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "position >= 0");
    }
    if ((uint32_t)at >= v->n) {
        return err_set(em, ERR_INDEX_BOUNDS, "%d", at);
    }
    *out = v->items[at].type != JSON_NULL ? &v->items[at] : NULL;
    return ERR_OK;
}

/* *there: the scope has the name; its value may be null all the same. */
static enum err scope_member(const struct json *scope, struct str name, struct arena *arena, bool *there,
                             const struct json **out, struct errmsg *em)
{
    *out = NULL;
    *there = false;
    if (json_is(scope, JSON_OBJECT)) {
        const struct json *v = json_get_str(scope, name);
        *there = v != NULL;
        *out = v != NULL && v->type != JSON_NULL ? v : NULL;
        return ERR_OK;
    }
    enum err e = json_is(scope, JSON_ARRAY) ? array_member(scope, name, arena, out, em) : ERR_OK;
    *there = *out != NULL;
    return e;
}

/* One scope after its first part was looked for as a whole. *done: the search ends here. */
static enum err dotted(const struct json *scope, struct str name, struct arena *arena, bool *done,
                       const struct json **out, struct errmsg *em)
{
    struct str rest = name;
    size_t dot;
    bool there;
    *done = false;
    while ((dot = str_find(rest, '.', 0)) != SIZE_MAX) {
        enum err e = scope_member(scope, str_slice(rest, 0, dot), arena, &there, &scope, em);
        rest = str_slice(rest, dot + 1, rest.n);
        if (e != ERR_OK || !there) {
            *out = NULL;
            return e;
        }
        *done = true;
        if (scope == NULL) {
            break;
        }
    }
    return *done ? scope_member(scope, rest, arena, &there, out, em) : ERR_OK;
}

enum err template_find(const struct scopes *s, struct str name, struct arena *arena, const struct json **out,
                       struct errmsg *em)
{
    *out = NULL;
    if (str_is(name, ".")) {
        *out = s->v[s->n - 1];
        return ERR_OK;
    }
    for (uint32_t i = s->n; i > 0; i--) {
        bool there;
        enum err e = scope_member(s->v[i - 1], name, arena, &there, out, em);
        if (e != ERR_OK || there) {
            return e;
        }
        e = dotted(s->v[i - 1], name, arena, &there, out, em);
        if (e != ERR_OK || there) {
            return e;
        }
    }
    return ERR_OK;
}
