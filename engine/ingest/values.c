/* Values of documents, as Java has them (document.h). */
#include "engine/ingest/document.h"

#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "engine/mapping/java.h"

/* ---- values -------------------------------------------------------------------------------------------- */

const char *ingest_class(const struct json *v)
{
    return v->type == JSON_OBJECT ? "java.util.HashMap" : v->type == JSON_NULL ? "null" : java_class(v);
}

struct str ingest_text(const struct json *v, struct arena *arena)
{
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        const struct json ordered = java_ordered(v, arena);
        return java_text(&ordered, arena);
    }
    return v->type == JSON_NULL ? STR("null") : v->type == JSON_NUMBER ? v->s : java_text(v, arena);
}

struct json ingest_list(void)
{
    return (struct json){.type = JSON_ARRAY};
}

static struct json number_of(struct str text)
{
    return text.p != NULL ? (struct json){.type = JSON_NUMBER, .s = text} : ingest_null();
}

struct json ingest_i64(int64_t v, struct arena *arena)
{
    return number_of(arena_printf(arena, "%lld", (long long)v));
}

struct json ingest_double(double v, bool single, struct arena *arena)
{
    struct buf b;
    buf_init(&b, NULL, 64);
    if (single) {
        num_put_float(&b, (float)v);
    } else {
        num_put_double(&b, v);
    }
    struct str text = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    bool finite = v - v == 0;
    return finite ? number_of(text) : json_mk_str(text);
}

static bool copy_number(struct json *out, const struct json *v, struct arena *arena)
{
    if (json_is_integral(v)) {
        out->s = str_is(v->s, "-0") ? STR("0") : arena_str(arena, v->s);
        return out->s.p != NULL;
    }
    *out = ingest_double(json_double(v), false, arena);
    return out->type != JSON_NULL;
}

/* Depth is that of a text that was parsed, or of what scripts give back: both are limited. */
bool ingest_copy(struct json *out, const struct json *v, struct arena *arena)
{
    *out = *v;
    switch (v->type) {
    case JSON_NUMBER:
        return copy_number(out, v, arena);
    case JSON_STRING:
        out->s = arena_str(arena, v->s);
        return out->s.p != NULL;
    case JSON_ARRAY:
        *out = ingest_list();
        for (uint32_t i = 0; i < v->n; i++) {
            struct json item;
            if (!ingest_copy(&item, &v->items[i], arena) || !ingest_push(out, &item, arena)) {
                return false;
            }
        }
        return true;
    case JSON_OBJECT:
        *out = json_mk_object();
        for (uint32_t i = 0; i < v->n; i++) {
            struct json item;
            struct str key = arena_str(arena, v->members[i].key);
            if (key.p == NULL || !ingest_copy(&item, &v->members[i].value, arena)
                || !json_put_new(out, arena, key, &item)) {
                return false;
            }
        }
        return true;
    case JSON_NULL:
    case JSON_BOOL:
        break;
    }
    return true;
}

bool ingest_push(struct json *list, const struct json *v, struct arena *arena)
{
    const struct json one = *v;           /* which may be one of the list's */
    if ((list->n & (list->n - 1)) == 0) { /* it is full at powers of two */
        struct json *grown = ARENA_ARRAY(arena, struct json, MAX_OF((size_t)list->n * 2, (size_t)1));
        if (grown == NULL || list->n == UINT32_MAX / 2) {
            return false;
        }
        if (list->n > 0) {
            memcpy(grown, list->items, list->n * sizeof(*grown));
        }
        list->items = grown;
    }
    list->items[list->n++] = one;
    return true;
}

/* A list that shrinks to a power of two copies once more when it grows: room is never assumed. */
void ingest_remove_at(struct json *v, uint32_t i)
{
    if (v->type == JSON_ARRAY) {
        memmove(&v->items[i], &v->items[i + 1], (v->n - i - 1) * sizeof(*v->items));
    } else {
        memmove(&v->members[i], &v->members[i + 1], (v->n - i - 1) * sizeof(*v->members));
    }
    v->n--;
}
