#include "common/base/json_pull.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <stdarg.h>

/* How many containers are open at most while it is walked. */
static uint32_t depth_of(const struct json *v)
{
    uint32_t below = 0;
    if (v == NULL || (v->type != JSON_OBJECT && v->type != JSON_ARRAY)) {
        return 0;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t one = depth_of(v->type == JSON_OBJECT ? &v->members[i].value : &v->items[i]);
        below = MAX_OF(below, one);
    }
    return 1 + below;
}

bool json_pull_init(struct json_pull *p, const struct json *root, struct str text, struct arena *arena)
{
    *p = (struct json_pull){.text = text, .root = root, .arena = arena};
    /* Not zeroed: a level is written when it is entered. */
    p->levels = arena_alloc(arena, (1 + (size_t)depth_of(root)) * sizeof(*p->levels));
    return p->levels != NULL;
}

static enum json_token token_of(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return TOK_NULL;
    case JSON_BOOL:
        return TOK_BOOLEAN;
    case JSON_NUMBER:
        return TOK_NUMBER;
    case JSON_STRING:
        return TOK_STRING;
    case JSON_ARRAY:
        return TOK_START_ARRAY;
    case JSON_OBJECT:
        return TOK_START_OBJECT;
    }
    return TOK_NULL;
}

static enum json_token break_off(struct json_pull *p)
{
    p->broken = true;
    return p->token = TOK_NONE;
}

static enum json_token enter(struct json_pull *p, const struct json *v)
{
    if (json_is_broken(v)) {
        /* texts are read when their value is asked for: the token itself was seen */
        p->off = v->b ? v->off : p->off;
        return break_off(p);
    }
    p->value = v;
    p->off = v->off;
    p->token = token_of(v);
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        p->levels[p->depth++] = (struct json_pull_level){.container = v};
    }
    return p->token;
}

/* A reader that goes on behind the root meets whatever follows it in the body: errors name that place. */
static void past_the_end(struct json_pull *p)
{
    size_t at = p->value != NULL ? p->value->end : p->off;
    while (at < p->text.n && strchr(" \t\r\n,", p->text.p[at]) != NULL && p->text.p[at] != '\0') {
        at++;
    }
    p->off = at;
}

enum json_token json_pull_next(struct json_pull *p)
{
    if (p->broken) {
        return break_off(p);
    }
    if (p->depth == 0) {
        if (p->root == NULL) {
            past_the_end(p);
            return p->token = TOK_NONE;
        }
        const struct json *root = p->root;
        p->root = NULL;
        return enter(p, root);
    }
    struct json_pull_level *l = &p->levels[p->depth - 1];
    const struct json *c = l->container;
    if (c->type == JSON_ARRAY) {
        if (l->i < c->n) {
            return enter(p, &c->items[l->i++]);
        }
    } else if (l->at_value) {
        l->at_value = false;
        return enter(p, &c->members[l->i++].value);
    } else if (l->i < c->n) {
        const struct json_member *m = &c->members[l->i];
        if (m->key.p == NULL) {
            return break_off(p);
        }
        l->at_value = true;
        p->name = m->key;
        p->value = &m->value;
        p->off = m->key_off;
        return p->token = TOK_FIELD_NAME;
    }
    p->depth--;
    p->value = c;
    p->off = c->end > 0 ? c->end - 1U : c->off;
    if (p->depth > 0 && p->levels[p->depth - 1].container->type == JSON_OBJECT) {
        const struct json_pull_level *up = &p->levels[p->depth - 1];
        p->name = up->container->members[up->i - 1].key;
    }
    return p->token = c->type == JSON_ARRAY ? TOK_END_ARRAY : TOK_END_OBJECT;
}

/* The text breaks off within the container. */
static bool breaks(const struct json *c)
{
    while ((c->type == JSON_ARRAY || c->type == JSON_OBJECT) && c->n > 0) {
        if (c->type == JSON_OBJECT && c->members[c->n - 1].key.p == NULL) {
            return true;
        }
        c = c->type == JSON_ARRAY ? &c->items[c->n - 1] : &c->members[c->n - 1].value;
    }
    return json_is_broken(c);
}

void json_pull_skip(struct json_pull *p)
{
    if (p->token != TOK_START_OBJECT && p->token != TOK_START_ARRAY) {
        return;
    }
    struct json_pull_level *l = &p->levels[p->depth - 1];
    if (breaks(l->container)) {
        break_off(p);
        return;
    }
    l->i = l->container->n;
    l->at_value = false;
    json_pull_next(p);
}

const char *json_token_text(enum json_token t)
{
    static const char *const names[] = {"null",          "START_OBJECT", "END_OBJECT",   "START_ARRAY",
                                        "END_ARRAY",     "FIELD_NAME",   "VALUE_STRING", "VALUE_NUMBER",
                                        "VALUE_BOOLEAN", "VALUE_NULL"};
    return names[t];
}

/* ---- errors ---- */

enum err json_pull_err(const struct json_pull *p, struct errmsg *em, enum err code, const char *fmt, ...)
{
    uint32_t line, col;
    va_list ap;
    json_place(p->text, p->off, &line, &col);
    va_start(ap, fmt);
    err_setv(em, code, line, col, fmt, ap);
    va_end(ap);
    return code;
}

enum err json_pull_err_content(const struct json_pull *p, size_t off, struct errmsg *em, enum err code,
                               const char *fmt, ...)
{
    uint32_t line, col;
    va_list ap;
    json_place(p->text, off, &line, &col);
    va_start(ap, fmt);
    err_setv_placed(em, code, line, col, fmt, ap);
    va_end(ap);
    return code;
}

enum err json_pull_wrap_content(const struct json_pull *p, struct errmsg *em, const char *fmt, ...)
{
    uint32_t line, col;
    va_list ap;
    json_place(p->text, p->off, &line, &col);
    va_start(ap, fmt);
    err_wrapv_placed(em, ERR_X_CONTENT, line, col, fmt, ap);
    va_end(ap);
    return ERR_X_CONTENT;
}

/* ---- values ---- */

enum err json_pull_text(const struct json_pull *p, struct str *out, struct errmsg *em)
{
    *out = STR_NULL;
    if (p->token == TOK_FIELD_NAME) {
        *out = p->name;
        return ERR_OK;
    }
    if (!json_token_is_value(p->token)) {
        uint32_t line, col;
        json_place(p->text, p->off, &line, &col);
        return err_set(em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_text(p->token),
                       line, col);
    }
    *out = json_text(p->value);
    return ERR_OK;
}

enum err json_pull_text_or_null(const struct json_pull *p, struct str *out, struct errmsg *em)
{
    *out = STR_NULL;
    return p->token == TOK_NULL ? ERR_OK : json_pull_text(p, out, em);
}

static const char *jackson_name(const struct json_pull *p)
{
    return p->token == TOK_NUMBER || p->token == TOK_BOOLEAN ? jr_token(p->value) : json_token_text(p->token);
}

static enum err not_numeric(const struct json_pull *p, struct errmsg *em)
{
    return err_set(em, ERR_JSON, "Current token (%s) not numeric, can not use numeric value accessors",
                   jackson_name(p));
}

/* A whole number within [lo, hi]; it loses its fraction. */
static enum err whole(const struct json_pull *p, double lo, double hi, const char *type, int64_t *out,
                      struct errmsg *em)
{
    *out = 0;
    if (p->token != TOK_NUMBER) {
        return not_numeric(p, em);
    }
    if (json_i64(p->value, out) && (double)*out >= lo && (double)*out <= hi) {
        return ERR_OK;
    }
    double d = json_double(p->value);
    if (json_is_integral(p->value) || !(d >= lo && d <= hi)) {
        return err_set(em, ERR_INPUT_COERCION, "Numeric value (%.*s) out of range of %s",
                       STR_ARG(p->value->s), type);
    }
    *out = d >= 9223372036854775807.0 ? INT64_MAX : (int64_t)d;
    return ERR_OK;
}

enum err json_pull_i32(const struct json_pull *p, int32_t *out, struct errmsg *em)
{
    int64_t v;
    if (p->token == TOK_STRING) {
        return jr_int(p->value, out, em);
    }
    enum err e = whole(p, INT32_MIN, INT32_MAX, "int", &v, em);
    *out = (int32_t)v;
    return e;
}

enum err json_pull_double(const struct json_pull *p, double *out, struct errmsg *em)
{
    *out = 0;
    if (p->token == TOK_STRING) {
        return num_parse_double(p->value->s, out) ? ERR_OK : jr_bad_double(p->value->s, em);
    }
    if (p->token != TOK_NUMBER) {
        return not_numeric(p, em);
    }
    *out = json_double(p->value);
    return ERR_OK;
}

enum err json_pull_float(const struct json_pull *p, float *out, struct errmsg *em)
{
    *out = 0;
    if (p->token == TOK_STRING) {
        return num_parse_float(p->value->s, out) ? ERR_OK : jr_bad_double(p->value->s, em);
    }
    if (p->token != TOK_NUMBER) {
        return not_numeric(p, em);
    }
    *out = (float)json_double(p->value); /* Jackson reads a double and narrows it */
    return ERR_OK;
}

enum err json_pull_bool(const struct json_pull *p, bool *out, struct errmsg *em)
{
    *out = false;
    if (p->token == TOK_STRING) {
        if (p->value->s.n == 0 || num_parse_bool(p->value->s, out)) { /* the empty text is false */
            return ERR_OK;
        }
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] as only [true] or [false] are allowed.",
                       STR_ARG(p->value->s));
    }
    if (p->token != TOK_BOOLEAN) {
        return err_set(em, ERR_JSON, "Current token (%s) not of boolean type", jackson_name(p));
    }
    *out = p->value->b;
    return ERR_OK;
}
