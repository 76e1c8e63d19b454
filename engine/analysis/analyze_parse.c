#include "common/base/java_hash.h"
#include "common/base/jsonr.h"
#include "engine/analysis/analyze_int.h"

#define TEXTS_MAX 100000

static enum err wrong_type(const char *field, const struct json *v, struct errmsg *em)
{
    return err_set(em, ERR_X_CONTENT, "[1:%u] [analyze_request] %s doesn't support values of type: %s",
                   v->off + 1, field, json_token_name(v));
}

static enum err wrap_field(const char *field, const struct json *v, struct errmsg *em)
{
    return err_wrap(em, ERR_X_CONTENT, "[1:%u] [analyze_request] failed to parse field [%s]", v->off + 1,
                    field);
}

static enum err read_strings(const char *field, const struct json *v, struct arena *arena, struct str **out,
                             size_t *n, struct errmsg *em)
{
    if (v->type != JSON_STRING && v->type != JSON_ARRAY) {
        return wrong_type(field, v, em);
    }
    size_t count = v->type == JSON_ARRAY ? v->n : 1;
    if (count > TEXTS_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "too many values in [%s]", field);
    }
    *out = ARENA_ARRAY(arena, struct str, count);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    *n = count;
    for (size_t i = 0; i < count; i++) {
        const struct json *item = v->type == JSON_ARRAY ? &v->items[i] : v;
        (*out)[i] = json_text(item);
        if (item->type == JSON_ARRAY || item->type == JSON_OBJECT) {
            err_set(em, ERR_ILLEGAL_STATE, "expected value but got [%s]", json_token_name(item));
            return wrap_field(field, item, em);
        }
        if (item->type == JSON_NULL) {
            err_set(em, ERR_ILLEGAL_STATE, "Can't get text on a VALUE_NULL at 1:%u", item->off + 1);
            return wrap_field(field, item, em);
        }
        if ((*out)[i].p == NULL) {
            (*out)[i] = STR("");
        }
    }
    return ERR_OK;
}

static enum err read_string(const char *field, const struct json *v, struct str *out, struct errmsg *em)
{
    if (v->type != JSON_STRING) {
        return wrong_type(field, v, em);
    }
    *out = v->s.p != NULL ? v->s : STR("");
    return ERR_OK;
}

/* A value as Java prints it: {a=1, b=[x, {}]}. */
static void put_java(struct buf *b, const struct json *v)
{
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        buf_str(b, v->type == JSON_NULL ? STR("null") : json_text(v));
        return;
    }
    buf_char(b, v->type == JSON_ARRAY ? '[' : '{');
    for (uint32_t i = 0; i < v->n && !b->failed; i++) {
        buf_str(b, i > 0 ? STR(", ") : STR(""));
        if (v->type == JSON_OBJECT) {
            buf_str(b, v->members[i].key);
            buf_char(b, '=');
        }
        put_java(b, v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value);
    }
    buf_char(b, v->type == JSON_ARRAY ? ']' : '}');
}

/* Elasticsearch makes settings of a definition while it parses the request. */
static enum err check_definition(const char *field, const struct json *v, struct arena *arena,
                                 struct errmsg *em)
{
    struct settings s;
    settings_init(&s, arena);
    enum err e = v->type == JSON_OBJECT ? settings_from_json(&s, v, STR(""), em) : ERR_OK;
    if (e != ERR_SETTINGS) {
        return e;
    }
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    struct json shown = java_ordered(v, arena);
    put_java(&b, &shown);
    err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse [%.*s]", (int)b.n, b.n > 0 ? b.p : "");
    buf_fini(&b);
    return err_wrap(em, ERR_X_CONTENT, "[1:%u] [analyze_request] failed to parse field [%s]", v->end, field);
}

static enum err read_parts(const char *field, const struct json *v, struct arena *arena,
                           const struct json **out, size_t *n, struct errmsg *em)
{
    if (v->type == JSON_OBJECT) {
        *out = v;
        *n = 1;
        return check_definition(field, v, arena, em);
    }
    if (v->type != JSON_ARRAY) {
        return wrong_type(field, v, em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->type == JSON_ARRAY) {
            err_set(em, ERR_ILLEGAL_STATE, "expected value but got [START_ARRAY]");
            return wrap_field(field, item, em);
        }
        if (item->type != JSON_STRING && item->type != JSON_OBJECT) {
            err_set(em, ERR_X_CONTENT, "[1:%u] Expected [VALUE_STRING] or [START_OBJECT], got %s",
                    item->off + 1, json_token_name(item));
            return wrap_field(field, item, em);
        }
        enum err e = check_definition(field, item, arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = v->items;
    *n = v->n;
    return ERR_OK;
}

static enum err read_explain(const struct json *v, bool *out, struct errmsg *em)
{
    if (v->type == JSON_BOOL) {
        *out = v->b;
        return ERR_OK;
    }
    if (v->type != JSON_STRING) {
        return wrong_type("explain", v, em);
    }
    *out = str_is(v->s, "true");
    if (*out || str_is(v->s, "false")) {
        return ERR_OK;
    }
    err_set(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%.*s] as only [true] or [false] are allowed.",
            STR_ARG(v->s));
    return wrap_field("explain", v, em);
}

static enum err read_member(struct analyze_request *r, const struct json_member *m, struct errmsg *em)
{
    const struct json *v = &m->value;
    if (str_is(m->key, "text")) {
        return read_strings("text", v, r->arena, &r->texts, &r->n_texts, em);
    }
    if (str_is(m->key, "analyzer")) {
        return read_string("analyzer", v, &r->analyzer, em);
    }
    if (str_is(m->key, "normalizer")) {
        return read_string("normalizer", v, &r->normalizer, em);
    }
    if (str_is(m->key, "field")) {
        return read_string("field", v, &r->field, em);
    }
    if (str_is(m->key, "tokenizer")) {
        r->tokenizer = v;
        return v->type == JSON_STRING || v->type == JSON_OBJECT
                   ? check_definition("tokenizer", v, r->arena, em)
                   : wrong_type("tokenizer", v, em);
    }
    if (str_is(m->key, "filter")) {
        return read_parts("filter", v, r->arena, &r->filters, &r->n_filters, em);
    }
    if (str_is(m->key, "char_filter")) {
        return read_parts("char_filter", v, r->arena, &r->char_filters, &r->n_char_filters, em);
    }
    if (str_is(m->key, "explain")) {
        return read_explain(v, &r->explain, em);
    }
    if (str_is(m->key, "attributes")) {
        return read_strings("attributes", v, r->arena, &r->attributes, &r->n_attributes, em);
    }
    static const char *const known[] = {"analyzer",    "text",    "field",      "tokenizer",  "filter",
                                        "char_filter", "explain", "attributes", "normalizer", NULL};
    char hint[JR_HINT_MAX];
    jr_did_you_mean(m->key, known, hint, sizeof(hint));
    return err_set(em, ERR_X_CONTENT, "[1:%u] [analyze_request] unknown field [%.*s]%s", m->key_off + 1,
                   STR_ARG(m->key), hint);
}

static void complain(struct buf *b, unsigned *n, const char *what)
{
    buf_printf(b, "%u: %s;", ++*n, what);
}

static enum err validate(const struct analyze_request *r, struct errmsg *em)
{
    bool extra = r->tokenizer != NULL || r->n_filters > 0 || r->n_char_filters > 0;
    struct buf b;
    unsigned n = 0;
    buf_init(&b, NULL, 4 * KIB);
    if (r->n_texts == 0) {
        complain(&b, &n, "text is missing");
    }
    if (r->normalizer.p != NULL && !r->cx->has_index) {
        complain(&b, &n, "index is required if normalizer is specified");
    }
    if (r->normalizer.p != NULL && (r->tokenizer != NULL || r->analyzer.p != NULL)) {
        complain(&b, &n, "tokenizer/analyze should be null if normalizer is specified");
    }
    if (r->analyzer.p != NULL && extra) {
        complain(&b, &n, "cannot define extra components on a named analyzer");
    }
    if (r->normalizer.p != NULL && extra) {
        complain(&b, &n, "cannot define extra components on a named normalizer");
    }
    if (r->field.p != NULL && extra) {
        complain(&b, &n, "cannot define extra components on a field-specific analyzer");
    }
    enum err e =
        n == 0 ? ERR_OK : err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: %s", b.p != NULL ? b.p : "");
    buf_fini(&b);
    return e;
}

enum err analyze_parse(struct analyze_request *r, const struct json *body, struct errmsg *em)
{
    if (body == NULL) {
        return err_set(em, ERR_PARSE, "request body or source parameter is required");
    }
    if (body->type != JSON_OBJECT) {
        return err_set(em, ERR_X_CONTENT, "[1:%u] [analyze_request] Expected START_OBJECT but was: %s",
                       body->off + 1, json_token_name(body));
    }
    for (uint32_t i = 0; i < body->n; i++) {
        enum err e = read_member(r, &body->members[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return validate(r, em);
}
