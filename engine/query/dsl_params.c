/* Parameters of queries: scalars by a table, the form {"field": {...}}, bodies that a declared table reads, and scripts. */
#include "engine/query/dsl.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/query/automaton.h"

#include <ctype.h>

/* A number with the text that Java prints of it. */
static enum err java_number(const struct json_pull *p, const struct json **v, struct errmsg *em)
{
    struct buf text;
    struct json *shown;
    if (json_is_integral(*v) && !str_is((*v)->s, "-0")) {
        return ERR_OK;
    }
    buf_init(&text, NULL, BUF_UNLIMITED);
    if (json_is_integral(*v)) {
        buf_char(&text, '0');
    } else {
        num_put_double(&text, json_double(*v));
    }
    if (!str_eq(buf_view(&text), (*v)->s)) {
        shown = ARENA_NEW(p->arena, struct json);
        struct str s = shown != NULL ? arena_str(p->arena, buf_view(&text)) : STR_NULL;
        if (s.p == NULL) {
            buf_fini(&text);
            return err_no_memory(em);
        }
        *shown = **v;
        shown->s = s;
        *v = shown;
    }
    buf_fini(&text);
    return ERR_OK;
}

static enum err verbatim(const struct json_pull *p, const struct json **out, struct errmsg *em)
{
    *out = NULL;
    if (p->token == TOK_NULL) {
        return ERR_OK;
    }
    struct str ignored;
    enum err e = json_pull_text(p, &ignored, em);
    if (e == ERR_OK) {
        *out = p->value;
    }
    return e;
}

enum err dsl_scalar(const struct json_pull *p, const struct json **out, struct errmsg *em)
{
    enum err e = verbatim(p, out, em);
    return e == ERR_OK && p->token == TOK_NUMBER ? java_number(p, out, em) : e;
}

enum err dsl_token(const struct json_pull *p, const struct json **out, struct errmsg *em)
{
    static const struct json object = {.type = JSON_STRING, .s = {"{", 1}},
                             object_end = {.type = JSON_STRING, .s = {"}", 1}},
                             array = {.type = JSON_STRING, .s = {"[", 1}},
                             array_end = {.type = JSON_STRING, .s = {"]", 1}};
    *out = p->token == TOK_NULL           ? NULL
           : p->token == TOK_START_OBJECT ? &object
           : p->token == TOK_END_OBJECT   ? &object_end
           : p->token == TOK_START_ARRAY  ? &array
           : p->token == TOK_END_ARRAY    ? &array_end
                                          : p->value;
    return p->token == TOK_NUMBER ? java_number(p, out, em) : ERR_OK;
}

static enum err read_regexp_flags(const struct json_pull *p, struct str *out, struct errmsg *em)
{
    uint32_t flags;
    struct str unknown;
    enum err e = json_pull_text_or_null(p, out, em);
    if (e == ERR_OK && out->p != NULL && !regexp_flags_parse(*out, &flags, &unknown)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown regexp flag [%.*s]", STR_ARG(unknown));
    }
    return e;
}

static enum err read_operator(const struct json_pull *p, bool *and, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    *and = str_eq_nocase(s, STR("and"));
    if (!*and&&!str_eq_nocase(s, STR("or"))) {
        char upper[64];
        size_t n = MIN_OF(s.n, sizeof(upper));
        for (size_t i = 0; i < n; i++) {
            upper[i] = (char)toupper((unsigned char)s.p[i]);
        }
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "No enum constant org.elasticsearch.index.query.Operator.%.*s", (int)n, upper);
    }
    return ERR_OK;
}

static enum err read_zero_terms(const struct json_pull *p, bool *all, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    *all = str_eq_nocase(s, STR("all"));
    if (!*all && !str_eq_nocase(s, STR("none"))) {
        return json_pull_err(p, em, ERR_PARSING, "Unsupported zero_terms_query value [%.*s]", STR_ARG(s));
    }
    return ERR_OK;
}

static enum err read_boost(const struct json_pull *p, float *out, struct errmsg *em)
{
    enum err e = json_pull_float(p, out, em);
    return e == ERR_OK && *out < 0 ? dsl_negative_boost(em) : e;
}

static enum err read_param(struct json_pull *p, enum param_kind kind, void *to, struct errmsg *em)
{
    switch (kind) {
    case PARAM_TEXT:
        return json_pull_text(p, to, em);
    case PARAM_NULLABLE:
        return json_pull_text_or_null(p, to, em);
    case PARAM_FLOAT:
        return json_pull_float(p, to, em);
    case PARAM_BOOST:
        return read_boost(p, to, em);
    case PARAM_DOUBLE:
        return json_pull_double(p, to, em);
    case PARAM_INT:
        return json_pull_i32(p, to, em);
    case PARAM_BOOL:
        return json_pull_bool(p, to, em);
    case PARAM_OPERATOR:
        return read_operator(p, to, em);
    case PARAM_FUZZINESS:
        return fuzziness_parse(p, to, em);
    case PARAM_ZERO_TERMS:
        return read_zero_terms(p, to, em);
    case PARAM_REGEXP_FLAGS:
        return read_regexp_flags(p, to, em);
    case PARAM_VALUE:
        return dsl_scalar(p, to, em);
    case PARAM_TOKEN: /* an array's tokens come each in its turn, the last one stays */
        return dsl_token(p, to, em);
    case PARAM_VERBATIM:
        return verbatim(p, to, em);
    case PARAM_IGNORED:
        return ERR_OK;
    }
    return ERR_OK;
}

enum err dsl_param(struct json_pull *p, struct str name, const struct param *params, size_t n, void *base,
                   bool *known, struct errmsg *em)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(name, params[i].name)) {
            *known = true; /* boosts are checked when the body has been read */
            return read_param(p, params[i].kind == PARAM_BOOST ? PARAM_FLOAT : params[i].kind,
                              (char *)base + params[i].at, em);
        }
    }
    *known = false;
    return ERR_OK;
}

enum err dsl_param_of(struct json_pull *p, const char *query, struct str name, const struct param *params,
                      size_t n, void *base, struct errmsg *em)
{
    bool known;
    enum err e = dsl_param(p, name, params, n, base, &known, em);
    return e != ERR_OK || known ? e : dsl_unsupported(p, query, name, em);
}

static enum err parse_inner(struct json_pull *p, const struct field_form *form, void *base, struct errmsg *em)
{
    struct str name = p->name;
    while (json_pull_member(p, &name)) {
        if (form->strict_values && !json_token_is_value(p->token)) {
            return json_pull_err(p, em, ERR_PARSING, "[%s] %s token [%s] after [%.*s]", form->query,
                                 form->unexpected ? "unexpected" : "unknown", json_token_text(p->token),
                                 STR_ARG(name));
        }
        enum err e = dsl_param_of(p, form->query, name, form->params, form->n_params, base, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err dsl_parse_field_form(struct json_pull *p, const struct field_form *form, void *base,
                              struct str *field, struct errmsg *em)
{
    *field = STR_NULL;
    struct str name = STR_NULL;
    bool in_array = false;
    while (json_pull_member(p, &name)) {
        enum err e;
        if (form->refuses_arrays && p->token == TOK_START_ARRAY) {
            return json_pull_err(p, em, ERR_PARSING, "[%s] query does not support array of values",
                                 form->query);
        }
        bool bracket = p->token == TOK_START_OBJECT || p->token == TOK_END_ARRAY;
        e = dsl_one_field(p, form->query, *field, in_array && !bracket ? STR("null") : name, em);
        if (e != ERR_OK) {
            return e;
        }
        *field = name;
        const struct json **value = (const struct json **)(void *)((char *)base + form->value_at);
        if (p->token == TOK_START_ARRAY
            && form->unexpected) { /* what comes next is a second field, without a name if it is a value */
            in_array = true;
            continue;
        }
        if (p->token == TOK_START_OBJECT) {
            e = parse_inner(p, form, base, em);
        } else {
            e = form->short_is_text ? verbatim(p, value, em) : dsl_scalar(p, value, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- ObjectParser ---- */

#define OBJECT_FIELDS_MAX 32

static unsigned token_bit(enum json_token t)
{
    switch (t) {
    case TOK_STRING:
        return OBJ_STRING;
    case TOK_NUMBER:
        return OBJ_NUMBER;
    case TOK_BOOLEAN:
        return OBJ_BOOLEAN;
    case TOK_NULL:
        return OBJ_NULL;
    case TOK_START_OBJECT:
        return OBJ_OBJECT;
    case TOK_START_ARRAY:
        return OBJ_ARRAY;
    case TOK_NONE:
    case TOK_FIELD_NAME:
    case TOK_END_OBJECT:
    case TOK_END_ARRAY:
        break;
    }
    return 0;
}

static enum err parse_member(struct json_pull *p, struct arena *arena, const char *name,
                             const struct object_field *f, void *base, struct errmsg *em)
{
    if ((token_bit(p->token) & f->tokens) == 0) {
        return json_pull_err_content(p, p->off, em, ERR_X_CONTENT,
                                     "[%s] %s doesn't support values of type: %s", name, f->name,
                                     json_token_text(p->token));
    }
    enum err e =
        f->read != NULL ? f->read(p, arena, base, em) : read_param(p, f->kind, (char *)base + f->at, em);
    if (e != ERR_OK) {
        return json_pull_wrap_content(p, em, "[%s] failed to parse field [%s]", name, f->name);
    }
    return ERR_OK;
}

static enum err unknown_member(struct json_pull *p, size_t off, const char *name, struct str key,
                               const struct object_field *fields, size_t n, struct errmsg *em)
{
    const char *known[OBJECT_FIELDS_MAX + 1];
    char hint[JR_HINT_MAX];
    size_t n_known = 0;
    while (n_known < n && n_known < OBJECT_FIELDS_MAX) {
        known[n_known] = fields[n_known].name;
        n_known++;
    }
    known[n_known] = NULL;
    jr_did_you_mean(key, known, hint, sizeof(hint));
    return json_pull_err_content(p, off, em, ERR_X_CONTENT, "[%s] unknown field [%.*s]%s", name, STR_ARG(key),
                                 hint);
}

enum err dsl_parse_object(struct json_pull *p, struct arena *arena, const char *name,
                          const struct object_field *fields, size_t n, void *base, struct errmsg *em)
{
    if (p->token != TOK_START_OBJECT && json_pull_next(p) != TOK_START_OBJECT) {
        return json_pull_err_content(p, p->off, em, ERR_X_CONTENT, "[%s] Expected START_OBJECT but was: %s",
                                     name, json_token_text(p->token));
    }
    struct str key = STR_NULL;
    size_t key_off = 0;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            key = p->name;
            key_off = p->off;
            continue;
        }
        size_t i = 0;
        while (i < n && !str_is(key, fields[i].name)) {
            i++;
        }
        if (i == n) {
            return unknown_member(p, key_off, name, key, fields, n, em);
        }
        enum err e = parse_member(p, arena, name, &fields[i], base, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- scripts ---- */

static const struct object_field script_fields[] = {
    {"source", OBJ_STRING | OBJ_OBJECT, PARAM_IGNORED, 0, NULL},
    {"inline", OBJ_STRING | OBJ_OBJECT, PARAM_IGNORED, 0, NULL},
    {"id", OBJ_STRING, PARAM_IGNORED, 0, NULL},
    {"stored", OBJ_STRING, PARAM_IGNORED, 0, NULL},
    {"lang", OBJ_STRING, PARAM_IGNORED, 0, NULL},
};

struct script_form {
    bool source, id;
    const struct json *options; /* NULL: none */
};

static enum err unsuited_value(const struct json_pull *p, struct str key, struct errmsg *em)
{
    return json_pull_err_content(p, p->off, em, ERR_X_CONTENT,
                                 "[script] %.*s doesn't support values of type: %s", STR_ARG(key),
                                 json_token_text(p->token));
}

/* The cursor stands on the value, and goes on to its end. */
static enum err script_member(struct json_pull *p, struct str key, size_t key_off, struct script_form *form,
                              struct errmsg *em)
{
    if (str_is(key, "params") || str_is(key, "options")) {
        if (p->token != TOK_START_OBJECT) {
            return unsuited_value(p, key, em);
        }
        form->options = str_is(key, "options") ? p->value : form->options;
        json_pull_skip(p);
        return ERR_OK;
    }
    const struct object_field *f = NULL;
    for (size_t i = 0; i < ARRAY_LEN(script_fields); i++) {
        if (str_is(key, script_fields[i].name)) {
            f = &script_fields[i];
        }
    }
    if (f == NULL) {
        static const char *const known[] = {"source", "id", "lang", "params", "options", NULL};
        char hint[JR_HINT_MAX];
        jr_did_you_mean(key, known, hint, sizeof(hint));
        return json_pull_err_content(p, key_off, em, ERR_X_CONTENT, "[script] unknown field [%.*s]%s",
                                     STR_ARG(key), hint);
    }
    if ((token_bit(p->token) & f->tokens) == 0) {
        return unsuited_value(p, key, em);
    }
    form->source = form->source || f - script_fields < 2;
    form->id = form->id || (f - script_fields >= 2 && f - script_fields < 4);
    json_pull_skip(p);
    return ERR_OK;
}

/* What its members say together. */
static enum err check_script(const struct script_form *form, const struct json *script, struct errmsg *em)
{
    const struct json *options = form->options;
    if (!form->source && !form->id) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "must specify either [source] for an inline script or [id] for a stored script");
    }
    if (form->source && form->id) {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "must only use one of [source, id] when specifying a script");
        return err_wrap(em, ERR_X_CONTENT, "[script] failed to parse field [source]");
    }
    if (form->id && json_get(script, "lang") != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "illegally specified <lang> for a stored script");
    }
    if (form->id && options != NULL && options->n > 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [options] cannot be specified using a stored script");
    }
    if (options != NULL && options->n > (json_get(options, "content_type") != NULL ? 1U : 0U)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "illegal compiler options [%.*s=...] specified",
                       STR_ARG(options->members[0].key));
    }
    return ERR_OK;
}

enum err script_form_parse(struct json_pull *p, const struct json **out, struct errmsg *em)
{
    *out = p->value;
    if (p->token == TOK_STRING) {
        return ERR_OK;
    }
    if (p->token != TOK_START_OBJECT && json_pull_next(p) != TOK_START_OBJECT) {
        return json_pull_err_content(p, p->off, em, ERR_X_CONTENT,
                                     "[script] Expected START_OBJECT but was: %s", json_token_text(p->token));
    }
    *out = p->value; /* an object within an array, too */
    struct str key = STR_NULL;
    size_t key_off = 0;
    struct script_form form = {.options = NULL};
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            key = p->name;
            key_off = p->off;
            continue;
        }
        enum err e = script_member(p, key, key_off, &form, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return check_script(&form, *out, em);
}
