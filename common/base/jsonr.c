#include "common/base/jsonr.h"

#include "common/base/coerce.h"
#include "common/base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Java gives up at the second point, before it looks at what follows. */
static bool second_point(struct str s)
{
    bool point = false;
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
    for (; i < s.n && (s.p[i] == '.' || (s.p[i] >= '0' && s.p[i] <= '9')); i++) {
        if (s.p[i] == '.' && point) {
            return true;
        }
        point = point || s.p[i] == '.';
    }
    return false;
}

enum err jr_bad_double(struct str s, struct errmsg *em)
{
    s = str_trim(s);
    if (s.n == 0) {
        return err_set(em, ERR_NUMBER_FORMAT, "empty String");
    }
    if (second_point(s)) {
        return err_set(em, ERR_NUMBER_FORMAT, "multiple points");
    }
    return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
}

const char *jr_token(const struct json *v)
{
    if (v->type == JSON_BOOL) {
        return v->b ? "VALUE_TRUE" : "VALUE_FALSE";
    }
    if (v->type == JSON_NUMBER) {
        bool whole = memchr(v->s.p, '.', v->s.n) == NULL && memchr(v->s.p, 'e', v->s.n) == NULL
                     && memchr(v->s.p, 'E', v->s.n) == NULL;
        return whole ? "VALUE_NUMBER_INT" : "VALUE_NUMBER_FLOAT";
    }
    return json_token_name(v);
}

static enum err not_a_number(const struct json *v, struct errmsg *em)
{
    return err_set(em, ERR_JSON, "Current token (%s) not numeric, can not use numeric value accessors",
                   jr_token(v));
}

enum err jr_double(const struct json *v, double *out, struct errmsg *em)
{
    if (v->type == JSON_STRING) {
        return num_parse_double(v->s, out) ? ERR_OK : jr_bad_double(v->s, em);
    }
    if (v->type != JSON_NUMBER) {
        return not_a_number(v, em);
    }
    *out = json_double(v);
    return ERR_OK;
}

enum err jr_float(const struct json *v, float *out, struct errmsg *em)
{
    double d = 0;
    enum err e = jr_double(v, &d, em);
    *out = (float)d;
    return e;
}

/* Does a text that can be read as a double have the letters of a decimal alone? */
static bool is_decimal(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (memchr("0123456789+-.eE", s.p[i], 15) == NULL) {
            return false;
        }
    }
    return true;
}

enum err jr_long(const struct json *v, int64_t *out, struct errmsg *em)
{
    if (json_i64(v, out) || (v->type == JSON_STRING && num_parse_i64(v->s, out))) {
        return ERR_OK;
    }
    double d = 0;
    struct str t = json_text(v);
    enum err e = jr_double(v, &d, em);
    if (e != ERR_OK) {
        return e == ERR_NUMBER_FORMAT
                   ? err_set(em, ERR_ILLEGAL_ARGUMENT, "For input string: \"%.*s\"", STR_ARG(t))
                   : e;
    }
    if (v->type == JSON_STRING && !is_decimal(t)) { /* Java's BigDecimal has no NaN, and no suffixes */
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "For input string: \"%.*s\"", STR_ARG(t));
    }
    if (!(d >= -0x1p63 && d < 0x1p63)) {
        return v->type == JSON_STRING
                   ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Value [%.*s] is out of range for a long", STR_ARG(t))
                   : err_set(em, ERR_INPUT_COERCION,
                             "Numeric value (%.*s) out of range of long (%lld - %lld)", STR_ARG(t),
                             (long long)INT64_MIN, (long long)INT64_MAX);
    }
    *out = (int64_t)d;
    return ERR_OK;
}

enum err jr_int(const struct json *v, int32_t *out, struct errmsg *em)
{
    double d = 0;
    enum err e = jr_double(v, &d, em);
    if (e != ERR_OK) {
        return e;
    }
    struct str t = json_text(v);
    if (v->type == JSON_STRING
        && (d < INT32_MIN || d > INT32_MAX)) { /* before the fraction is cut; NaN is 0 */
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Value [%.*s] is out of range for an integer", STR_ARG(t));
    }
    d = trunc(d);
    if (d < INT32_MIN || d > INT32_MAX) {
        return err_set(em, ERR_INPUT_COERCION, "Numeric value (%.*s) out of range of int (%d - %d)",
                       STR_ARG(t), INT32_MIN, INT32_MAX);
    }
    *out = num_double_to_i32(d);
    return ERR_OK;
}

enum err jr_bool(const struct json *v, bool *out, struct errmsg *em)
{
    if (v->type == JSON_BOOL) {
        *out = v->b;
        return ERR_OK;
    }
    if (v->type == JSON_STRING && v->s.n == 0) {
        *out = false;
        return ERR_OK;
    }
    if (v->type == JSON_STRING && num_parse_bool(v->s, out)) {
        return ERR_OK;
    }
    if (v->type == JSON_STRING) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(v->s));
    }
    return err_set(em, ERR_JSON, "Current token (%s) not of boolean type", jr_token(v));
}

enum err jr_fail(struct str text, size_t off, struct errmsg *em, const char *fmt, ...)
{
    uint32_t line, col;
    va_list ap;
    json_place(text, off, &line, &col);
    va_start(ap, fmt);
    err_setv(em, ERR_PARSING, line, col, fmt, ap);
    va_end(ap);
    return ERR_PARSING;
}

enum err jr_fail_xc(struct str text, size_t off, struct errmsg *em, const char *fmt, ...)
{
    uint32_t line, col;
    va_list ap;
    json_place(text, off, &line, &col);
    va_start(ap, fmt);
    err_setv_placed(em, ERR_X_CONTENT, line, col, fmt, ap);
    va_end(ap);
    return ERR_X_CONTENT;
}

enum err jr_expect(struct str text, const char *parser, const struct json_member *m, unsigned kinds,
                   struct errmsg *em)
{
    static const unsigned bits[] = {
        [JSON_NULL] = JR_NULL,     [JSON_BOOL] = JR_BOOL,   [JSON_NUMBER] = JR_NUMBER,
        [JSON_STRING] = JR_STRING, [JSON_ARRAY] = JR_ARRAY, [JSON_OBJECT] = JR_OBJECT};
    if ((bits[m->value.type] & kinds) != 0) {
        return ERR_OK;
    }
    return jr_fail_xc(text, m->value.off, em, "[%s] %.*s doesn't support values of type: %s", parser,
                      STR_ARG(m->key), json_token_name(&m->value));
}

static bool is_name(struct str text, size_t at)
{
    for (at++; at < text.n && text.p[at] != '"'; at++) {
        at += text.p[at] == '\\';
    }
    for (at++; at < text.n && isspace((unsigned char)text.p[at]); at++) {
    }
    return at < text.n && text.p[at] == ':';
}

const char *jr_next_token(struct str text, size_t *at)
{
    while (*at < text.n && memchr(" \t\r\n,:", text.p[*at], 6) != NULL) {
        (*at)++;
    }
    switch (*at < text.n ? text.p[*at] : '}') {
    case '{':
        return "START_OBJECT";
    case '}':
        return "END_OBJECT";
    case '[':
        return "START_ARRAY";
    case ']':
        return "END_ARRAY";
    case '"':
        return is_name(text, *at) ? "FIELD_NAME" : "VALUE_STRING";
    case 't':
    case 'f':
        return "VALUE_BOOLEAN";
    case 'n':
        return "VALUE_NULL";
    default:
        return "VALUE_NUMBER";
    }
}

enum err jr_object(struct str text, const char *parser, const struct json *v, const struct json **out,
                   struct errmsg *em)
{
    size_t at = v->type == JSON_ARRAY ? v->off + 1 : v->end;
    *out = v->type == JSON_OBJECT                                                 ? v
           : v->type == JSON_ARRAY && v->n > 0 && v->items[0].type == JSON_OBJECT ? &v->items[0]
                                                                                  : NULL;
    if (*out != NULL) {
        return ERR_OK;
    }
    const char *name = jr_next_token(text, &at);
    return strcmp(name, "START_OBJECT") == 0 && !json_is_broken(v) /* then nothing that follows is read */
               ? ERR_OK
               : jr_fail_xc(text, at, em, "[%s] Expected START_OBJECT but was: %s", parser, name);
}

/* Where the value of the member begins whose name stands at a place; false: no name is there. */
static bool value_of_name(struct str text, uint32_t line, uint32_t col, size_t *off)
{
    size_t at = 0;
    for (uint32_t l = 1; l < line && at < text.n; at++) {
        l += text.p[at] == '\n';
    }
    at += col - 1;
    if (at >= text.n || text.p[at] != '"') {
        return false;
    }
    for (at++; at < text.n && text.p[at] != '"'; at++) {
        at += text.p[at] == '\\';
    }
    for (at++; at < text.n && (text.p[at] == ':' || isspace((unsigned char)text.p[at])); at++) {
    }
    *off = at;
    return at < text.n;
}

/* Elasticsearch tells where its parser stood when it gave up: where the mistake is, not where the field begins. */
static void place_of_mistake(struct str text, const struct errmsg *em, uint32_t *line, uint32_t *col)
{
    const struct err_frame *f = em != NULL ? em->frame : NULL;
    unsigned l, c;
    size_t off;
    if (f == NULL) {
        return;
    }
    if (f->line > 0) {
        *line = f->line;
        *col = f->col;
    } else if (f->code == ERR_X_CONTENT && sscanf(f->reason, "[%u:%u] ", &l, &c) == 2) {
        *line = l;
        *col = c;
        if (strstr(f->reason, "] unknown field [") != NULL && value_of_name(text, l, c, &off)) {
            json_place(text, off, line, col);
        }
    }
}

enum err jr_wrap_field(struct str text, size_t off, const char *parser, struct str field, struct errmsg *em)
{
    uint32_t line, col;
    json_place(text, off, &line, &col);
    place_of_mistake(text, em, &line, &col);
    return err_wrap(em, ERR_X_CONTENT, "[%u:%u] [%s] failed to parse field [%.*s]", line, col, parser,
                    STR_ARG(field));
}

enum err jr_unknown_field(struct str text, size_t off, const char *parser, struct str field,
                          const char *const *known, struct errmsg *em)
{
    char hint[JR_HINT_MAX];
    jr_did_you_mean(field, known, hint, sizeof(hint));
    return jr_fail_xc(text, off, em, "[%s] unknown field [%.*s]%s", parser, STR_ARG(field), hint);
}

#define WORD_MAX  64
#define HINTS_MAX 16

/* Lucene's LevenshteinDistance. */
static float likeness(struct str word, struct str known)
{
    size_t longer = MAX_OF(word.n, known.n);
    return longer == 0 || longer > WORD_MAX ? 0 : 1.0F - (float)str_distance(word, known) / (float)longer;
}

/* Every known name of a likeness above a half, the closest first, of equal ones the first by name. */
void jr_did_you_mean(struct str word, const char *const *known, char *buf, size_t cap)
{
    const char *best[HINTS_MAX];
    float score[HINTS_MAX];
    size_t n = 0, used;
    buf[0] = '\0';
    for (size_t i = 0; known != NULL && known[i] != NULL && n < HINTS_MAX; i++) {
        float s = likeness(word, str_of(known[i]));
        if (s <= 0.5F) {
            continue;
        }
        size_t at = n++;
        for (; at > 0 && (s > score[at - 1] || (s == score[at - 1] && strcmp(known[i], best[at - 1]) < 0));
             at--) {
            score[at] = score[at - 1];
            best[at] = best[at - 1];
        }
        score[at] = s;
        best[at] = known[i];
    }
    if (n == 0) {
        return;
    }
    used = (size_t)snprintf(buf, cap, n == 1 ? " did you mean [%s" : " did you mean any of [%s", best[0]);
    for (size_t i = 1; i < n && used < cap; i++) {
        used += (size_t)snprintf(buf + used, cap - used, ", %s", best[i]);
    }
    if (used < cap) {
        snprintf(buf + used, cap - used, "]?");
    }
}

bool jr_strings(const struct json *v, struct arena *arena, const struct str **out, uint32_t *n)
{
    uint32_t count = v->type == JSON_ARRAY ? v->n : 1;
    struct str *s = ARENA_ARRAY(arena, struct str, count);
    if (s == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        s[i] = json_text(v->type == JSON_ARRAY ? &v->items[i] : v);
    }
    *out = s;
    *n = count;
    return true;
}
