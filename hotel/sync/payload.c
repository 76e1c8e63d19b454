#include "hotel/sync/payload.h"

#include "common/base/json.h"
#include "common/base/num.h"

#define JAVA_TYPE   "application/x-java-serialized-object"
#define JAVA_MAGIC  "\xAC\xED\x00\x05"
#define VALUE_BYTES 8
#define SHOWN_BYTES 40

/* TC_OBJECT, TC_CLASSDESC, the length and the name of the class. */
static const char java_long[] = JAVA_MAGIC "\x73\x72\x00\x0Ejava.lang.Long";
/* With serialVersionUID, flags, the one field, the superclass and its: there is one form of it alone. */
#define JAVA_BYTES 82

static enum err java_id(struct str body, int64_t *out, struct errmsg *em)
{
    if (!str_starts(body, str_mk(java_long, sizeof(java_long) - 1)) || body.n != JAVA_BYTES) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%zu bytes that are no serialised java.lang.Long", body.n);
    }
    uint64_t v = 0;
    for (size_t i = body.n - VALUE_BYTES; i < body.n; i++) {
        v = v << 8 | (unsigned char)body.p[i];
    }
    *out = (int64_t)v;
    return ERR_OK;
}

/* A number that is whole: 12, 12.0, 1.2e1. */
static bool json_id(struct str body, int64_t *out)
{
    struct json v;
    struct arena arena;
    static const struct json_limits flat = {.depth_max = 2};
    arena_init(&arena, NULL, 64 * KIB);
    bool ok = json_parse(&v, body, &arena, &flat, NULL) == ERR_OK;
    if (ok && v.type == JSON_STRING) {
        ok = num_parse_i64(str_trim(v.s), out);
    } else if (ok && v.type == JSON_NUMBER && !json_i64(&v, out)) {
        double d = json_double(&v);
        ok = d >= -9007199254740992.0 && d <= 9007199254740992.0 && d == (double)(int64_t)d;
        *out = ok ? (int64_t)d : 0;
    } else {
        ok = ok && v.type == JSON_NUMBER;
    }
    arena_fini(&arena);
    return ok;
}

enum err payload_id(struct str content_type, struct str body, int64_t *out, struct errmsg *em)
{
    char shown[SHOWN_BYTES + 1];
    if (str_starts(body, str_mk(JAVA_MAGIC, 4)) || str_starts(content_type, STR(JAVA_TYPE))) {
        return java_id(body, out, em);
    }
    if (num_parse_i64(str_trim(body), out) || json_id(body, out)) {
        return ERR_OK;
    }
    size_t n = MIN_OF(body.n, (size_t)SHOWN_BYTES);
    for (size_t i = 0; i < n; i++) { /* whatever it is, the reason stays readable */
        shown[i] = body.p[i] >= ' ' && body.p[i] < 0x7F ? body.p[i] : '?';
    }
    shown[n] = '\0';
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s%s] is no hotel's id", shown, n < body.n ? "..." : "");
}
