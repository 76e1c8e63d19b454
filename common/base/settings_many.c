/* settings_many.c - many settings at once, from an object or from others: each alone would move all behind it. */
#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "common/base/sort_items.h"

/* A scalar's text as Java holds it: a number with a fraction or an exponent is a double there. */
static struct str scalar_text(const struct json *v, struct arena *arena)
{
    double d;
    struct str text = json_text(v);
    bool is_double = v->type == JSON_NUMBER
                     && (str_find(text, '.', 0) != SIZE_MAX || str_find(text, 'e', 0) != SIZE_MAX
                         || str_find(text, 'E', 0) != SIZE_MAX);
    if (!is_double || !num_parse_double(text, &d)) {
        return text;
    }
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    num_put_double(&b, d);
    struct str java = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return java;
}

static bool all_scalars(const struct json *array)
{
    for (uint32_t i = 0; i < array->n; i++) {
        if (array->items[i].type == JSON_ARRAY || array->items[i].type == JSON_OBJECT
            || array->items[i].type == JSON_NULL) {
            return false;
        }
    }
    return true;
}

struct batch {
    struct arena *arena;
    struct setting *v; /* in the order in which they came */
    size_t n, cap;
};

static bool batch_add(struct batch *b, struct setting t)
{
    struct setting *v = arena_grow(b->arena, b->v, b->n, &b->cap, sizeof(*v));
    if (v != NULL) {
        b->v = v;
        v[b->n++] = t;
    }
    return v != NULL;
}

static int by_key(const void *a, const void *b)
{
    const struct setting *const *x = a, *const *y = b;
    int c = str_cmp((*x)->key, (*y)->key);
    return c != 0 ? c : *x < *y ? -1 : *x > *y;
}

/* Puts them over what s has; of two with one key the later one holds. The texts are s's already. */
static bool put_all(struct settings *s, struct setting *add, size_t n)
{
    struct setting **sorted = ARENA_ARRAY(s->arena, struct setting *, n);
    struct setting *to = n > 0 ? ARENA_ARRAY(s->arena, struct setting, s->n + n) : NULL;
    if (n == 0 || sorted == NULL || to == NULL) {
        return n == 0;
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &add[i];
    }
    sort_items(sorted, n, sizeof(*sorted), by_key);
    size_t at = 0, out = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(sorted[i]->key, sorted[i + 1]->key)) {
            continue;
        }
        while (at < s->n && str_cmp(s->v[at].key, sorted[i]->key) < 0) {
            to[out++] = s->v[at++];
        }
        at += at < s->n && str_eq(s->v[at].key, sorted[i]->key) ? 1 : 0;
        to[out++] = *sorted[i];
    }
    while (at < s->n) {
        to[out++] = s->v[at++];
    }
    s->cap = s->n + n;
    s->v = to;
    s->n = out;
    return true;
}

static enum err flatten_object(struct batch *b, const struct json *object, struct str prefix,
                               struct errmsg *em);

static enum err flatten_list(struct batch *b, struct str name, const struct json *array, struct errmsg *em)
{
    struct str *items = ARENA_ARRAY(b->arena, struct str, array->n);
    for (uint32_t i = 0; items != NULL && i < array->n; i++) {
        items[i] = arena_str(b->arena, scalar_text(&array->items[i], b->arena));
        if (items[i].p == NULL) {
            return err_no_memory(em);
        }
    }
    struct setting t = {.key = name, .is_list = true, .items = items, .n = array->n};
    return items != NULL && batch_add(b, t) ? ERR_OK : err_no_memory(em);
}

static enum err flatten(struct batch *b, const struct json *v, struct str name, struct errmsg *em)
{
    struct setting t = {.key = name, .is_null = v->type == JSON_NULL};
    if (v->type == JSON_OBJECT) {
        return flatten_object(b, v, name, em);
    }
    if (v->type == JSON_ARRAY) {
        return all_scalars(v)
                   ? flatten_list(b, name, v, em)
                   : err_set(em, ERR_ILLEGAL_STATE, "only value lists are allowed in serialized settings");
    }
    if (!t.is_null) {
        struct str text = scalar_text(v, b->arena);
        t.value = text.p != NULL ? arena_str(b->arena, text) : STR_NULL;
    }
    return (t.is_null || t.value.p != NULL) && batch_add(b, t) ? ERR_OK : err_no_memory(em);
}

static enum err flatten_object(struct batch *b, const struct json *object, struct str prefix,
                               struct errmsg *em)
{
    for (uint32_t i = 0; i < object->n; i++) {
        struct str key = object->members[i].key;
        struct str name = prefix.n > 0 ? arena_printf(b->arena, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(key))
                                       : arena_str(b->arena, key);
        enum err e = name.p != NULL ? flatten(b, &object->members[i].value, name, em) : err_no_memory(em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err settings_from_json(struct settings *s, const struct json *object, struct str prefix,
                            struct errmsg *em)
{
    if (object->type != JSON_OBJECT) {
        return err_set(em, ERR_PARSE, "settings must be an object");
    }
    struct batch all = {.arena = s->arena};
    enum err e = flatten_object(&all, object, prefix, em);
    if (e != ERR_ILLEGAL_STATE) {
        return e == ERR_OK && !put_all(s, all.v, all.n) ? err_no_memory(em) : e;
    }
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, ERR_REASON_MAX);
    jsonw_init(&w, &b, false);
    struct json shown = java_ordered(object, s->arena);
    jw_value(&w, &shown);
    e = err_wrap(em, ERR_SETTINGS, "Failed to load settings from [%.*s]", (int)b.n, b.n > 0 ? b.p : "");
    buf_fini(&b);
    return e;
}

static struct str *copy_items(const struct str *items, uint32_t n, struct arena *arena)
{
    struct str *copy = ARENA_ARRAY(arena, struct str, n);
    for (uint32_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = arena_str(arena, items[i]);
        if (copy[i].p == NULL) {
            return NULL;
        }
    }
    return copy;
}

static bool copy_setting(struct setting *to, const struct setting *t, struct arena *arena)
{
    *to = (struct setting){
        .key = arena_str(arena, t->key), .is_null = t->is_null, .is_list = t->is_list, .n = t->n};
    if (t->is_list) {
        to->items = copy_items(t->items, t->n, arena);
        return to->key.p != NULL && to->items != NULL;
    }
    to->value = t->is_null ? STR_NULL : arena_str(arena, t->value);
    return to->key.p != NULL && (t->is_null || to->value.p != NULL);
}

bool settings_merge(struct settings *s, const struct settings *from)
{
    struct setting *copy = ARENA_ARRAY(s->arena, struct setting, from->n);
    for (size_t i = 0; copy != NULL && i < from->n; i++) {
        if (!copy_setting(&copy[i], &from->v[i], s->arena)) {
            return false;
        }
    }
    return copy != NULL && put_all(s, copy, from->n);
}
