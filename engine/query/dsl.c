#include "engine/query/dsl.h"

#include "common/base/arena_list.h"
#include "common/base/jsonr.h"

#define TYPE(name) &dsl_##name,
static const struct dsl_type *const types[] = {DSL_TYPES(TYPE)};

static const char *const not_offered[] = {DSL_NOT_OFFERED};

/* What a name that nobody knows may have meant. */
#define NAME(name) #name,
static const char *const query_names[] = {DSL_TYPES(NAME) DSL_NOT_OFFERED, NULL};

const struct dsl_type *dsl_type_find(struct str name)
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

enum err dsl_negative_boost(struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "negative [boost] are not allowed, use a value between 0 and 1 to deboost");
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
    if (e == ERR_OK && (*out)->boost < 0) {
        e = dsl_negative_boost(em);
    }
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

void *dsl_new(struct dsl **out, struct arena *arena, const struct dsl_type *type, size_t size)
{
    *out = arena_zalloc(arena, size);
    if (*out != NULL) {
        (*out)->type = type;
        (*out)->boost = 1;
    }
    return *out;
}

bool dsl_list_add(struct dsl_list *l, struct arena *arena, struct dsl *d)
{
    return ARENA_ADD(arena, l->v, l->n, l->cap, d);
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

/* What reading a broken text gives: its own error, below the fields of the bodies that it stands in. */
static enum err broken_off(const struct errmsg *broken, struct errmsg *em)
{
    const char *bodies[ERR_FRAMES_MAX];
    unsigned n = 0;
    for (const struct err_frame *f = em->frame;
         f != NULL && f->code == ERR_X_CONTENT && strstr(f->reason, "failed to parse field") != NULL;
         f = f->cause) {
        bodies[n++] = f->reason;
    }
    err_copy(em, broken);
    while (n-- > 0) {
        err_wrap(em, ERR_X_CONTENT, "%s", bodies[n]);
    }
    return err_code(em);
}

/* The cursor stands where a query is to begin. */
static enum err parse_whole(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    return p->token == TOK_START_OBJECT
               ? dsl_parse_query(p, arena, out, em)
               : json_pull_err(p, em, ERR_PARSING, "[_na] query malformed, must start with start_object");
}

enum err query_check_until(const struct json *dsl, struct str text, const struct errmsg *broken, size_t *at,
                           struct arena *arena, struct errmsg *em)
{
    struct json_pull p;
    struct dsl *d;
    ERR_LOCAL(own);
    em = em != NULL ? em : &own;
    if (!json_pull_init(&p, dsl, text, arena)) {
        return err_no_memory(em);
    }
    err_clear(em);
    json_pull_next(&p);
    enum err e = parse_whole(&p, arena, &d, em);
    if (at != NULL) {
        *at = p.off;
    }
    return p.broken && err_is(broken) && e != ERR_NO_MEMORY ? broken_off(broken, em) : e;
}

enum err query_check_at(struct json_pull *c, const struct json **query, struct arena *arena,
                        struct errmsg *em)
{
    struct dsl *d;
    if (c->token != TOK_START_OBJECT) {
        json_pull_next(c);
    }
    *query = c->value;
    return parse_whole(c, arena, &d, em);
}

/* An object where a value belongs ends what it stands in, so that its end ends the body, and something is left. */
static enum err unexpected_rest(const struct json_pull *p, struct errmsg *em)
{
    size_t at = p->off + 1;
    uint32_t line, col;
    while (at < p->text.n && strchr(" \t\r\n,", p->text.p[at]) != NULL) {
        at++;
    }
    char c = at < p->text.n ? p->text.p[at] : '}';
    json_place(p->text, at, &line, &col);
    return err_set_at(em, ERR_PARSING, line, col, "Unexpected token [%s] found after the main object.",
                      c == '}'   ? "END_OBJECT"
                      : c == ']' ? "END_ARRAY"
                                 : "FIELD_NAME");
}

enum err query_check(const struct json *dsl, struct str text, size_t *at, struct arena *arena,
                     struct errmsg *em)
{
    struct json_pull p;
    struct dsl *d;
    if (!json_pull_init(&p, dsl, text, arena)) {
        return err_no_memory(em);
    }
    json_pull_next(&p);
    enum err e = parse_whole(&p, arena, &d, em);
    if (at != NULL) {
        *at = p.off;
    }
    return e == ERR_OK && json_pull_next(&p) == TOK_END_OBJECT ? unexpected_rest(&p, em) : e;
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
