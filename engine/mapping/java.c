#include "engine/mapping/java.h"

#include "common/base/coerce.h"
#include "common/base/err.h"
#include "common/base/num.h"

#include <math.h>

void java_put_text(struct buf *b, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        buf_z(b, "null");
        break;
    case JSON_NUMBER:
        if (!json_is_integral(v)) {
            num_put_double(b, json_double(v));
            break;
        }
        buf_str(b, v->s);
        break;
    case JSON_BOOL:
    case JSON_STRING:
        buf_str(b, json_text(v));
        break;
    case JSON_ARRAY:
        buf_char(b, '[');
        for (uint32_t i = 0; i < v->n; i++) {
            buf_z(b, i > 0 ? ", " : "");
            java_put_text(b, &v->items[i]);
        }
        buf_char(b, ']');
        break;
    case JSON_OBJECT:
        buf_char(b, '{');
        for (uint32_t i = 0; i < v->n; i++) {
            buf_z(b, i > 0 ? ", " : "");
            buf_str(b, v->members[i].key);
            buf_char(b, '=');
            java_put_text(b, &v->members[i].value);
        }
        buf_char(b, '}');
        break;
    }
}

struct str java_text(const struct json *v, struct arena *arena)
{
    if (v->type == JSON_STRING || v->type == JSON_BOOL || json_is_integral(v)) {
        struct str s = json_text(v);
        return s.p != NULL ? s : STR("");
    }
    struct buf b;
    buf_init(&b, arena->alloc, BUF_UNLIMITED);
    java_put_text(&b, v);
    struct str s = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return s;
}

enum err java_int(const struct json *v, int32_t *out, struct arena *arena, struct errmsg *em)
{
    int64_t whole;
    struct str text = java_text(v, arena);
    if (text.p == NULL) {
        return err_no_memory(em);
    }
    if (v->type != JSON_NUMBER) {
        return num_parse_i32(text, out)
                   ? ERR_OK
                   : err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(text));
    }
    if (json_is_integral(v)) {
        if (!json_i64(v, &whole)) {
            return err_set(em, ERR_ARITHMETIC, "BigInteger out of long range");
        }
    } else {
        double d = json_double(v);
        whole = num_double_to_i64(trunc(d));
        if ((double)whole != d) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "%.*s is not an integer value", STR_ARG(text));
        }
    }
    if (whole > INT32_MAX || whole < INT32_MIN) {
        return err_set(em, ERR_ARITHMETIC, "integer overflow");
    }
    *out = (int32_t)whole;
    return ERR_OK;
}

const char *java_class(const struct json *v)
{
    int64_t i;
    switch (v->type) {
    case JSON_BOOL:
        return "java.lang.Boolean";
    case JSON_NUMBER:
        if (!json_is_integral(v)) {
            return "java.lang.Double";
        }
        if (!json_i64(v, &i)) {
            return "java.math.BigInteger";
        }
        return i >= INT32_MIN && i <= INT32_MAX ? "java.lang.Integer" : "java.lang.Long";
    case JSON_ARRAY:
        return "java.util.ArrayList";
    case JSON_OBJECT:
        return "java.util.LinkedHashMap";
    case JSON_STRING:
    case JSON_NULL:
        break;
    }
    return "java.lang.String";
}

const char *java_class_name(const struct json *v)
{
    int64_t n;
    switch (v->type) {
    case JSON_NULL:
        return "null";
    case JSON_STRING:
        return "String";
    case JSON_BOOL:
        return "Boolean";
    case JSON_ARRAY:
        return "ArrayList";
    case JSON_OBJECT:
        return "HashMap";
    case JSON_NUMBER:
        break;
    }
    if (!json_is_integral(v)) {
        return "Double";
    }
    return !json_i64(v, &n) ? "BigInteger" : n >= INT32_MIN && n <= INT32_MAX ? "Integer" : "Long";
}
