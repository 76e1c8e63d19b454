#include "engine/query/dsl.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "engine/query/automaton.h"

#include <ctype.h>
#include <math.h>

static const struct dsl_type *const types[] = {
    &dsl_match_all,
    &dsl_match_none,
    &dsl_match,
    &dsl_match_phrase,
    &dsl_match_phrase_prefix,
    &dsl_match_bool_prefix,
    &dsl_multi_match,
    &dsl_query_string,
    &dsl_simple_query_string,
    &dsl_term,
    &dsl_terms,
    &dsl_terms_set,
    &dsl_range,
    &dsl_exists,
    &dsl_prefix,
    &dsl_wildcard,
    &dsl_regexp,
    &dsl_fuzzy,
    &dsl_ids,
    &dsl_bool,
    &dsl_boosting,
    &dsl_constant_score,
    &dsl_dis_max,
    &dsl_function_score,
    &dsl_script_score,
    &dsl_script,
    &dsl_geo_bounding_box,
    &dsl_geo_distance,
    &dsl_geo_polygon,
    &dsl_nested,
    &dsl_distance_feature,
    &dsl_wrapper,
    &dsl_more_like_this,
    &dsl_type_query,
};

/* Known to Elasticsearch, not offered here: refused by name, so that nobody looks for a typing error. */
#define NOT_OFFERED                                                                                       \
    "span_term", "span_near", "span_or", "span_not", "span_first", "span_multi", "span_containing",       \
        "span_within", "span_gap", "intervals", "geo_shape", "field_masking_span", "common", "has_child", \
        "has_parent", "parent_id", "percolate", "shape", "rank_feature"
static const char *const not_offered[] = {NOT_OFFERED};

/* What a name that nobody knows may have meant. */
static const char *const query_names[] = {"match",
                                          "match_phrase",
                                          "match_phrase_prefix",
                                          "match_bool_prefix",
                                          "match_all",
                                          "match_none",
                                          "multi_match",
                                          "query_string",
                                          "simple_query_string",
                                          "term",
                                          "terms",
                                          "terms_set",
                                          "range",
                                          "exists",
                                          "prefix",
                                          "wildcard",
                                          "regexp",
                                          "fuzzy",
                                          "ids",
                                          "bool",
                                          "boosting",
                                          "constant_score",
                                          "dis_max",
                                          "function_score",
                                          "script_score",
                                          "script",
                                          "geo_bounding_box",
                                          "geo_distance",
                                          "geo_polygon",
                                          "nested",
                                          "distance_feature",
                                          "wrapper",
                                          "more_like_this",
                                          "type",
                                          NOT_OFFERED,
                                          NULL};

/* By its name, NULL when there is none. */
static const struct dsl_type *dsl_type_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (name.n > 0 && types[i]->name[0] == name.p[0] && str_is(name, types[i]->name)) {
            return types[i];
        }
    }
    return NULL;
}

static enum err unknown_query(const struct json_pull *p, struct str name, struct errmsg *em)
{
    for (size_t i = 0; i < ARRAY_LEN(not_offered); i++) {
        if (str_is(name, not_offered[i])) {
            return json_pull_err(p, em, ERR_PARSING, "query [%.*s] is not supported", STR_ARG(name));
        }
    }
    json_pull_err_content(p, p->off, em, ERR_NAMED_OBJECT, "unknown field [%.*s]", STR_ARG(name));
    char hint[JR_HINT_MAX];
    uint32_t line, col;
    json_place(p->text, p->off, &line, &col);
    jr_did_you_mean(name, query_names, hint, sizeof(hint));
    return err_wrap_at(em, ERR_PARSING, line, col, "unknown query [%.*s]%s", STR_ARG(name), hint);
}

static enum err negative_boost(struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "negative [boost] are not allowed, use a value between 0 and 1 to deboost");
}

static enum err check_boost(float boost, struct errmsg *em)
{
    return boost < 0 ? negative_boost(em) : ERR_OK;
}

enum err dsl_parse_query(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    *out = NULL;
    if (p->token != TOK_START_OBJECT && json_pull_next(p) != TOK_START_OBJECT) {
        return json_pull_err(p, em, ERR_PARSING, "[_na] query malformed, must start with start_object");
    }
    if (json_pull_next(p) == TOK_END_OBJECT) {
        uint32_t line, col;
        json_place(p->text, p->off, &line, &col);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "query malformed, empty clause found at [%u:%u]", line, col);
    }
    if (p->token != TOK_FIELD_NAME) {
        return json_pull_err(p, em, ERR_PARSING, "[_na] query malformed, no field after start_object");
    }
    struct str name = p->name;
    if (json_pull_next(p) != TOK_START_OBJECT) {
        return json_pull_err(p, em, ERR_PARSING, "[%.*s] query malformed, no start_object after query name",
                             STR_ARG(name));
    }
    if (p->depth > DSL_DEPTH_MAX) {
        return json_pull_err(p, em, ERR_PARSING, "queries are nested deeper than %d levels", DSL_DEPTH_MAX);
    }
    const struct dsl_type *type = dsl_type_find(name);
    if (type == NULL) {
        return unknown_query(p, name, em);
    }
    enum err e = type->parse(p, arena, out, em);
    e = e == ERR_OK ? check_boost((*out)->boost, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (p->token != TOK_END_OBJECT || json_pull_next(p) != TOK_END_OBJECT) {
        return json_pull_err(p, em, ERR_PARSING,
                             "[%.*s] malformed query, expected [END_OBJECT] but found [%s]", STR_ARG(name),
                             json_token_text(p->token));
    }
    return ERR_OK;
}

struct dsl *dsl_new(struct arena *arena, const struct dsl_type *type, size_t size)
{
    struct dsl *d = arena_zalloc(arena, size);
    if (d != NULL) {
        d->type = type;
        d->boost = 1;
    }
    return d;
}

bool dsl_list_add(struct dsl_list *l, struct arena *arena, struct dsl *d)
{
    struct dsl **v = arena_grow(arena, l->v, l->n, &l->cap, sizeof(*v));
    if (v == NULL) {
        return false;
    }
    l->v = v;
    l->v[l->n++] = d;
    return true;
}

enum err dsl_required(const char *const *names, const bool *missing, size_t n, struct errmsg *em)
{
    struct buf list;
    buf_init(&list, NULL, KIB);
    for (size_t i = 0; i < n; i++) {
        if (missing[i]) {
            buf_printf(&list, "%s%s", list.n > 0 ? ", " : "", names[i]);
        }
    }
    enum err e =
        list.n == 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [%.*s]", STR_ARG(buf_view(&list)));
    buf_fini(&list);
    return e;
}

enum err dsl_unsupported(const struct json_pull *p, const char *query, struct str name, struct errmsg *em)
{
    return json_pull_err(p, em, ERR_PARSING, "[%s] query does not support [%.*s]", query, STR_ARG(name));
}

enum err dsl_unknown_token(const struct json_pull *p, const char *query, struct str name, struct errmsg *em)
{
    return json_pull_err(p, em, ERR_PARSING, "[%s] unknown token [%s] after [%.*s]", query,
                         json_token_text(p->token), STR_ARG(name));
}

enum err dsl_one_field(const struct json_pull *p, const char *query, struct str field, struct str other,
                       struct errmsg *em)
{
    if (field.p == NULL) {
        return ERR_OK;
    }
    return json_pull_err(p, em, ERR_PARSING,
                         "[%s] query doesn't support multiple fields, found [%.*s] and [%.*s]", query,
                         STR_ARG(field), STR_ARG(other));
}

/* ---- parameters ---- */

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
    return e == ERR_OK ? check_boost(*out, em) : e;
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
            *known = true; /* boosts are looked at when the body has been read */
            return read_param(p, params[i].kind == PARAM_BOOST ? PARAM_FLOAT : params[i].kind,
                              (char *)base + params[i].at, em);
        }
    }
    *known = false;
    return ERR_OK;
}

static enum err parse_inner(struct json_pull *p, const struct field_form *form, void *base, struct errmsg *em)
{
    struct str name = p->name;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (form->strict_values && !json_token_is_value(p->token)) {
            return json_pull_err(p, em, ERR_PARSING, "[%s] %s token [%s] after [%.*s]", form->query,
                                 form->unexpected ? "unexpected" : "unknown", json_token_text(p->token),
                                 STR_ARG(name));
        }
        bool known;
        enum err e = dsl_param(p, name, form->params, form->n_params, base, &known, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, form->query, name, em);
        }
    }
    return ERR_OK;
}

enum err dsl_parse_field_form(struct json_pull *p, const struct field_form *form, void *base,
                              struct str *field, struct errmsg *em)
{
    *field = STR_NULL;
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (form->refuses_arrays && p->token == TOK_START_ARRAY) {
            return json_pull_err(p, em, ERR_PARSING, "[%s] query does not support array of values",
                                 form->query);
        }
        e = dsl_one_field(p, form->query, *field, p->token == TOK_END_ARRAY ? *field : name, em);
        if (e != ERR_OK) {
            return e;
        }
        *field = name;
        const struct json **value = (const struct json **)(void *)((char *)base + form->value_at);
        if (p->token == TOK_START_ARRAY && form->unexpected) { /* what comes next is a second field */
            name = STR("null");
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
    default:
        return 0;
    }
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

/* ---- shared parts ---- */

enum err fuzziness_parse(struct json_pull *p, struct fuzziness *out, struct errmsg *em)
{
    struct str s;
    *out = (struct fuzziness){.given = true, .low = 3, .high = 6};
    if (p->token != TOK_STRING && p->token != TOK_NUMBER) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Can't parse fuzziness on token: [%s]",
                       json_token_text(p->token));
    }
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    out->text = s;
    if (s.n < 4 || !str_eq_nocase(str_slice(s, 0, 4), STR("AUTO"))) {
        return ERR_OK;
    }
    if (s.n == 4) {
        out->automatic = true;
        return ERR_OK;
    }
    if (s.p[4] != ':') {
        return ERR_OK;
    }
    struct str rest, low = str_cut(str_slice(s, 5, s.n), ',', &rest);
    if (rest.p == NULL) {
        return err_set(em, ERR_PARSE, "failed to find low and high distance values");
    }
    bool low_read = num_parse_i32(low, &out->low);
    if (!low_read || !num_parse_i32(rest, &out->high)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(low_read ? rest : low));
        return err_wrap(em, ERR_PARSE, "failed to parse [%.*s] as a \"auto:int,int\"", STR_ARG(s));
    }
    if (out->low < 0 || out->high < 0 || out->low > out->high) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "fuzziness wrongly configured, must be: lowDistance > 0, highDistance %s",
                       "> 0 and lowDistance <= highDistance ");
    }
    out->automatic = true;
    return ERR_OK;
}

enum err fuzziness_distance(const struct fuzziness *f, struct str term, uint32_t *out, struct errmsg *em)
{
    if (!f->given || f->automatic) {
        int32_t low = f->given ? f->low : 3, high = f->given ? f->high : 6;
        size_t len = utf8_length(term);
        *out = len < (size_t)low ? 0 : len < (size_t)high ? 1 : 2;
        return ERR_OK;
    }
    float v;
    if (!num_parse_float(f->text, &v)) {
        char upper[256]; /* as Elasticsearch keeps it */
        size_t n = MIN_OF(f->text.n, sizeof(upper));
        for (size_t i = 0; i < n; i++) {
            upper[i] = (char)toupper((unsigned char)f->text.p[i]);
        }
        return jr_bad_double((struct str){upper, n}, em);
    }
    *out = v < 1 ? 0 : v < 2 ? 1 : 2;
    if (v < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "max edits must be 0..2, inclusive; got: %d",
                       (int)MAX_OF(v, -1e9F));
    }
    return ERR_OK;
}

static enum err add_field_boost(struct json_pull *p, struct arena *arena, bool keeps,
                                struct field_boosts *out, struct errmsg *em)
{
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    struct field_boost fb = {.pattern = s, .boost = 1};
    size_t hat = str_find(s, '^', 0);
    if (hat != SIZE_MAX) {
        struct str number = str_slice(s, hat + 1, s.n);
        fb.pattern = str_slice(s, 0, hat);
        if (!num_parse_float(number, &fb.boost)) {
            return jr_bad_double(number, em);
        }
    }
    for (size_t i = 0; i < out->n; i++) {
        if (str_eq(out->v[i].pattern, fb.pattern)) { /* a later boost replaces an earlier one */
            out->v[i].boost = keeps && hat == SIZE_MAX ? out->v[i].boost : fb.boost;
            return ERR_OK;
        }
    }
    struct field_boost *v = arena_grow(arena, out->v, out->n, &out->cap, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    out->v = v;
    out->v[out->n++] = fb;
    return ERR_OK;
}

enum err field_boosts_check(const struct field_boosts *b, struct errmsg *em)
{
    for (size_t i = 0; i < b->n; i++) {
        if (signbit(b->v[i].boost) && !isnan(b->v[i].boost)) { /* -0.0 too */
            return negative_boost(em);
        }
    }
    return ERR_OK;
}

enum err field_boosts_parse(struct json_pull *p, struct arena *arena, const char *query,
                            struct field_boosts *out, struct errmsg *em)
{
    /* there a name without a boost is 1 again; elsewhere times 1 */
    bool keeps = strcmp(query, "multi_match") != 0;
    if (p->token != TOK_START_ARRAY) {
        if (!json_token_is_value(p->token)) {
            return dsl_unsupported(p, query, p->name, em);
        }
        return add_field_boost(p, arena, keeps, out, em);
    }
    while (json_pull_until(p, TOK_END_ARRAY)) {
        enum err e = add_field_boost(p, arena, keeps, out, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static const struct object_field script_fields[] = {
    {"source", OBJ_STRING | OBJ_OBJECT, PARAM_IGNORED, 0, NULL},
    {"inline", OBJ_STRING | OBJ_OBJECT, PARAM_IGNORED, 0, NULL},
    {"id", OBJ_STRING, PARAM_IGNORED, 0, NULL},
    {"stored", OBJ_STRING, PARAM_IGNORED, 0, NULL},
    {"lang", OBJ_STRING, PARAM_IGNORED, 0, NULL},
};

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
    bool source = false, id = false;
    const struct json *options = NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            key = p->name;
            key_off = p->off;
            continue;
        }
        if (str_is(key, "params") || str_is(key, "options")) {
            if (p->token != TOK_START_OBJECT) {
                return json_pull_err_content(p, p->off, em, ERR_X_CONTENT,
                                             "[script] %.*s doesn't support values of type: %s", STR_ARG(key),
                                             json_token_text(p->token));
            }
            options = str_is(key, "options") ? p->value : options;
            json_pull_skip(p);
            continue;
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
            return json_pull_err_content(p, p->off, em, ERR_X_CONTENT,
                                         "[script] %s doesn't support values of type: %s", f->name,
                                         json_token_text(p->token));
        }
        source = source || f - script_fields < 2;
        id = id || (f - script_fields >= 2 && f - script_fields < 4);
        json_pull_skip(p);
    }
    if (!source && !id) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "must specify either [source] for an inline script or [id] for a stored script");
    }
    if (source && id) {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "must only use one of [source, id] when specifying a script");
        return err_wrap(em, ERR_X_CONTENT, "[script] failed to parse field [source]");
    }
    if (options != NULL && options->n > (json_get(options, "content_type") != NULL ? 1U : 0U)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "illegal compiler options [%.*s=...] specified",
                       STR_ARG(options->members[0].key));
    }
    return ERR_OK;
}

enum err multi_type_parse(struct str text, enum multi_type *out, struct errmsg *em)
{
    static const char *const names[] = {"best_fields", "most_fields",   "cross_fields",
                                        "phrase",      "phrase_prefix", "bool_prefix"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(text, names[i])) {
            *out = (enum multi_type)i;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_PARSE, "failed to parse [multi_match] query type [%.*s]. unknown type.",
                   STR_ARG(text));
}

/* What reading a broken text gives: its own error, below the fields of the bodies that it stands in. */
static enum err broken_off(const struct errmsg *broken, struct errmsg *em)
{
    struct errmsg found = *em;
    *em = *broken;
    unsigned n = 0;
    while (n < found.n && found.frame[n].code == ERR_X_CONTENT
           && strstr(found.frame[n].reason, "failed to parse field") != NULL) {
        n++;
    }
    while (n-- > 0) {
        err_wrap(em, ERR_X_CONTENT, "%s", found.frame[n].reason);
    }
    return em->frame[0].code;
}

enum err query_check_until(const struct json *dsl, struct str text, const struct errmsg *broken, size_t *at,
                           struct arena *arena, struct errmsg *em)
{
    struct json_pull p;
    struct dsl *d;
    struct errmsg own;
    em = em != NULL ? em : &own;
    if (!json_pull_init(&p, dsl, text, arena)) {
        return err_no_memory(em);
    }
    err_clear(em);
    enum err e;
    if (json_pull_next(&p) != TOK_START_OBJECT) {
        e = json_pull_err(&p, em, ERR_PARSING, "[_na] query malformed, must start with start_object");
    } else {
        e = dsl_parse_query(&p, arena, &d, em);
    }
    if (at != NULL) {
        *at = p.off;
    }
    return p.broken && broken->n > 0 && e != ERR_NO_MEMORY ? broken_off(broken, em) : e;
}

enum err query_check_at(struct json_pull *c, const struct json **query, struct arena *arena,
                        struct errmsg *em)
{
    struct dsl *d;
    if (c->token != TOK_START_OBJECT && json_pull_next(c) != TOK_START_OBJECT) {
        return json_pull_err(c, em, ERR_PARSING, "[_na] query malformed, must start with start_object");
    }
    *query = c->value;
    return dsl_parse_query(c, arena, &d, em);
}

enum err query_check(const struct json *dsl, struct str text, struct arena *arena, struct errmsg *em)
{
    static const struct errmsg whole = {0};
    return query_check_until(dsl, text, &whole, NULL, arena, em);
}

enum err script_check(const struct json *form, struct str text, struct arena *arena, struct errmsg *em)
{
    struct json_pull p;
    const struct json *ignored;
    if (!json_pull_init(&p, form, text, arena)) {
        return err_no_memory(em);
    }
    json_pull_next(&p);
    return script_form_parse(&p, &ignored, em);
}
