/* Values of a JSON tree: looked up, read as numbers and texts, made, copied, compared. */
#include "common/base/json_int.h"

#include "common/base/num.h"

#include <stdlib.h>
#include <string.h>

#define NO_PLACE UINT32_MAX

static uint32_t place_of(const struct json *v, struct str key)
{
    for (uint32_t i = 0; v != NULL && v->type == JSON_OBJECT && i < v->n; i++) {
        if (str_eq(v->members[i].key, key)) {
            return i;
        }
    }
    return NO_PLACE;
}

struct json *json_member_of(struct json *v, struct str key)
{
    uint32_t at = place_of(v, key);
    return at != NO_PLACE ? &v->members[at].value : NULL;
}

const struct json *json_get_str(const struct json *v, struct str key)
{
    uint32_t at = place_of(v, key);
    return at != NO_PLACE ? &v->members[at].value : NULL;
}

const struct json *json_get(const struct json *v, const char *key)
{
    return json_get_str(v, str_of(key));
}

const struct json *json_path(const struct json *v, const char *path)
{
    struct str rest = str_of(path);
    const struct json *at = v;
    while (rest.p != NULL && at != NULL) {
        struct str part = str_cut(rest, '.', &rest);
        at = json_get_str(at, part);
    }
    return at;
}

bool json_is_integral(const struct json *v)
{
    if (!json_is(v, JSON_NUMBER)) {
        return false;
    }
    for (size_t i = 0; i < v->s.n; i++) {
        char c = v->s.p[i];
        if (c == '.' || c == 'e' || c == 'E') {
            return false;
        }
    }
    return true;
}

bool json_i64(const struct json *v, int64_t *out)
{
    if (!json_is_integral(v)) {
        return false;
    }
    bool negative = v->s.n > 0 && v->s.p[0] == '-';
    uint64_t sum = 0, limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    for (size_t i = negative ? 1 : 0; i < v->s.n; i++) {
        uint64_t digit = (uint64_t)(v->s.p[i] - '0');
        if (sum > (limit - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

double json_double(const struct json *v)
{
    if (!json_is(v, JSON_NUMBER)) {
        return 0;
    }
    char text[64], *heap = NULL, *z = text;
    if (v->s.n >= sizeof(text)) { /* strtod wants a NUL; such numbers are rare */
        heap = malloc(v->s.n + 1);
        if (heap == NULL) {
            return 0;
        }
        z = heap;
    }
    memcpy(z, v->s.p, v->s.n);
    z[v->s.n] = '\0';
    double d = strtod(z, NULL);
    free(heap);
    return d;
}

struct str json_text(const struct json *v)
{
    if (v == NULL) {
        return STR_NULL;
    }
    switch (v->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        return v->s;
    case JSON_BOOL:
        return v->b ? STR("true") : STR("false");
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return STR_NULL;
}

const char *json_token_name(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return "VALUE_NULL";
    case JSON_BOOL:
        return "VALUE_BOOLEAN";
    case JSON_NUMBER:
        return "VALUE_NUMBER";
    case JSON_STRING:
        return "VALUE_STRING";
    case JSON_ARRAY:
        return "START_ARRAY";
    case JSON_OBJECT:
        return "START_OBJECT";
    }
    return "VALUE_NULL";
}

struct json json_mk_str(struct str s)
{
    return (struct json){.type = JSON_STRING, .s = s};
}

struct json json_mk_bool(bool b)
{
    return (struct json){.type = JSON_BOOL, .b = b};
}

struct json json_mk_object(void)
{
    return (struct json){.type = JSON_OBJECT};
}

bool json_put_new(struct json *object, struct arena *arena, struct str key, const struct json *value)
{
    uint32_t n = object->n;
    if (n == 0 || (n & (n - 1)) == 0) { /* full at the powers of two */
        struct json_member *m = ARENA_ARRAY(arena, struct json_member, n == 0 ? 1 : (size_t)n * 2);
        if (m == NULL) {
            return false;
        }
        if (n > 0) {
            memcpy(m, object->members, n * sizeof(*m));
        }
        object->members = m;
    }
    object->members[object->n++] = (struct json_member){.key = key, .value = *value};
    return true;
}

bool json_put(struct json *object, struct arena *arena, struct str key, struct json value)
{
    struct json *old = json_member_of(object, key);
    if (old != NULL) {
        *old = value;
        return true;
    }
    return json_put_new(object, arena, key, &value);
}

bool json_copy(struct json *out, const struct json *v, struct arena *arena)
{
    *out = *v;
    if (v->type == JSON_STRING || v->type == JSON_NUMBER) {
        out->s = arena_str(arena, v->s);
        return out->s.p != NULL;
    }
    if (v->type == JSON_ARRAY) {
        out->items = ARENA_ARRAY(arena, struct json, v->n);
        for (uint32_t i = 0; out->items != NULL && i < v->n; i++) {
            if (!json_copy(&out->items[i], &v->items[i], arena)) {
                return false;
            }
        }
        return out->items != NULL;
    }
    if (v->type == JSON_OBJECT) {
        out->members = ARENA_ARRAY(arena, struct json_member, members_room(v->n));
        for (uint32_t i = 0; out->members != NULL && i < v->n; i++) {
            struct json_member *m = &out->members[i];
            m->key_off = v->members[i].key_off;
            m->key = arena_str(arena, v->members[i].key);
            if (m->key.p == NULL || !json_copy(&m->value, &v->members[i].value, arena)) {
                return false;
            }
        }
        return out->members != NULL;
    }
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (a->type != b->type || a->n != b->n) {
        return false;
    }
    switch (a->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return a->b == b->b;
    case JSON_NUMBER:
    case JSON_STRING:
        return str_eq(a->s, b->s);
    case JSON_ARRAY:
        for (uint32_t i = 0; i < a->n; i++) {
            if (!json_equal(&a->items[i], &b->items[i])) {
                return false;
            }
        }
        return true;
    case JSON_OBJECT:
        for (uint32_t i = 0; i < a->n; i++) {
            const struct json *other = json_get_str(b, a->members[i].key);
            if (other == NULL || !json_equal(&a->members[i].value, other)) {
                return false;
            }
        }
        return true;
    }
    return false;
}
