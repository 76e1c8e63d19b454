#include "engine/mapping/templates.h"

#include "common/base/regex.h"
#include "common/base/stop.h"
#include "engine/mapping/java.h"

#define MATCH_TIME_MAX 300 /* in ICU's units, of about a millisecond */

enum match { MATCH_NO, MATCH_YES, MATCH_MALFORMED, MATCH_TOO_LONG };

/* Java's value.matches(pattern). */
static enum match regex_matches(struct str pattern, struct str value)
{
    struct regex *re;
    struct matcher *m;
    bool matches = false;
    enum err e = regex_new(&re, pattern, 0, NULL);
    if (e != ERR_OK) {
        return e == ERR_PATTERN_SYNTAX ? MATCH_MALFORMED : MATCH_NO;
    }
    if (matcher_new(&m, re, value, NULL) == ERR_OK) {
        matcher_limit(m, MATCH_TIME_MAX);
        e = matcher_matches(m, &matches, NULL);
    }
    matcher_free(m);
    regex_free(re);
    return e != ERR_OK ? MATCH_TOO_LONG : matches ? MATCH_YES : MATCH_NO;
}

/* A template, and what is looked at by it. */
struct trial {
    const struct dynamic_template *t;
    struct str too_long; /* the pattern that does not end */
};

static bool template_matches(struct trial *x, struct str pattern, struct str value)
{
    if (!x->t->regex) {
        return str_glob(pattern, value);
    }
    enum match m = x->too_long.p == NULL ? regex_matches(pattern, value) : MATCH_NO;
    x->too_long = m == MATCH_TOO_LONG ? pattern : x->too_long;
    return m == MATCH_YES;
}

static bool applies(struct trial *x, struct str path, struct str name, const char *type)
{
    const struct dynamic_template *t = x->t;
    if (t->type.p != NULL && !str_is(t->type, type)) {
        return false;
    }
    if ((t->path_match.p != NULL && !template_matches(x, t->path_match, path))
        || (t->match.p != NULL && !template_matches(x, t->match, name))) {
        return false;
    }
    return (t->path_unmatch.p == NULL || !template_matches(x, t->path_unmatch, path))
           && (t->unmatch.p == NULL || !template_matches(x, t->unmatch, name));
}

enum err mapping_template(const struct dynamic_template **out, const struct mapping *m, struct str path,
                          struct str name, const char *type, struct errmsg *em)
{
    *out = NULL;
    for (uint32_t i = 0; i < m->def.n_templates && *out == NULL && !stop_often(); i++) {
        struct trial x = {.t = &m->def.templates[i]};
        *out = applies(&x, path, name, type) ? x.t : NULL;
        if (x.too_long.p != NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "pattern [%.*s] of dynamic template [%.*s] takes too long", STR_ARG(x.too_long),
                           STR_ARG(x.t->name));
        }
    }
    return ERR_OK;
}

/* ---- placeholders ---- */

static bool put_replaced(struct buf *b, struct str s, struct str name, const char *type)
{
    for (size_t at = 0; at < s.n;) {
        struct str rest = str_slice(s, at, s.n);
        if (str_starts(rest, STR("{name}"))) {
            buf_str(b, name);
            at += sizeof("{name}") - 1;
        } else if (str_starts(rest, STR("{dynamic_type}"))) {
            buf_z(b, type);
            at += sizeof("{dynamic_type}") - 1;
        } else if (str_starts(rest, STR("{dynamicType}"))) {
            buf_z(b, type);
            at += sizeof("{dynamicType}") - 1;
        } else {
            buf_char(b, s.p[at++]);
        }
    }
    return !b->failed;
}

static bool replace_text(struct str *s, struct str name, const char *type, struct arena *arena)
{
    if (str_find(*s, '{', 0) == SIZE_MAX) {
        return true;
    }
    struct buf b;
    buf_init(&b, arena->alloc, BUF_UNLIMITED);
    *s = put_replaced(&b, *s, name, type) ? arena_str(arena, buf_view(&b)) : STR_NULL;
    buf_fini(&b);
    return s->p != NULL;
}

static bool template_replace(struct json *v, struct str name, const char *type, struct arena *arena)
{
    bool ok = true;
    if (v->type == JSON_STRING) {
        return replace_text(&v->s, name, type, arena);
    }
    for (uint32_t i = 0; ok && v->type == JSON_ARRAY && i < v->n; i++) {
        ok = template_replace(&v->items[i], name, type, arena);
    }
    for (uint32_t i = 0; ok && v->type == JSON_OBJECT && i < v->n; i++) {
        ok = replace_text(&v->members[i].key, name, type, arena)
             && template_replace(&v->members[i].value, name, type, arena);
    }
    return ok;
}

const struct json *template_mapping(const struct dynamic_template *t, struct str name, const char *type,
                                    struct arena *arena)
{
    const char *field_type = strcmp(type, "string") == 0   ? "text"
                             : strcmp(type, "double") == 0 ? "float"
                                                           : type;
    struct json *out = ARENA_NEW(arena, struct json);
    if (out == NULL || !json_copy(out, t->mapping, arena)
        || !template_replace(out, name, field_type, arena)) {
        return NULL;
    }
    if (json_get(out, "type") == NULL
        && !json_put(out, arena, STR("type"), json_mk_str(str_of(field_type)))) {
        return NULL;
    }
    return out;
}

/* ---- reading ---- */

static const char *const match_types[] = {"object", "string", "long", "double", "boolean", "date", "binary"};

static enum err parse_match_type(struct builder *b, struct dynamic_template *t)
{
    if (t->type.p == NULL || str_is(t->type, "*")) {
        t->type = STR_NULL;
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(match_types); i++) {
        if (str_is(t->type, match_types[i])) {
            return ERR_OK;
        }
    }
    return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                   "No field type matched on [%.*s], possible values are [object, string, long, double, "
                   "boolean, date, binary]",
                   STR_ARG(t->type));
}

static enum err parse_text(struct builder *b, const struct json *v, struct str *out)
{
    if (v->type == JSON_NULL) {
        return err_set(b->em, ERR_NULL_POINTER, "Cannot invoke \"Object.toString()\" on null");
    }
    *out = java_text(v, b->arena);
    return out->p != NULL ? ERR_OK : no_memory(b);
}

static enum err parse_template_param(struct builder *b, struct dynamic_template *t,
                                     const struct json_member *m, struct str *pattern)
{
    struct str *to = str_is(m->key, "match")                ? &t->match
                     : str_is(m->key, "path_match")         ? &t->path_match
                     : str_is(m->key, "unmatch")            ? &t->unmatch
                     : str_is(m->key, "path_unmatch")       ? &t->path_unmatch
                     : str_is(m->key, "match_mapping_type") ? &t->type
                     : str_is(m->key, "match_pattern")      ? pattern
                                                            : NULL;
    if (to != NULL) {
        return parse_text(b, &m->value, to);
    }
    if (!str_is(m->key, "mapping")) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Illegal dynamic template parameter: [%.*s]",
                       STR_ARG(m->key));
    }
    if (m->value.type != JSON_OBJECT) {
        return err_set(b->em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map",
                       java_class(&m->value));
    }
    t->mapping = &m->value;
    return ERR_OK;
}

static enum err check_patterns(struct builder *b, const struct dynamic_template *t)
{
    struct str patterns[] = {t->path_match, t->match, t->path_unmatch, t->unmatch};
    for (size_t i = 0; t->regex && i < ARRAY_LEN(patterns); i++) {
        if (patterns[i].p != NULL && regex_matches(patterns[i], STR("")) == MATCH_MALFORMED) {
            err_set(b->em, ERR_PATTERN_SYNTAX, "%.*s", STR_ARG(patterns[i]));
            return err_wrap(
                b->em, ERR_ILLEGAL_ARGUMENT,
                "Pattern [%.*s] of type [regex] is invalid. Cannot create dynamic template [%.*s].",
                STR_ARG(patterns[i]), STR_ARG(t->name));
        }
    }
    return ERR_OK;
}

static enum err parse_template(struct builder *b, struct dynamic_template *t, const struct json *conf)
{
    struct str pattern = STR("simple");
    const struct json_member **order = java_order(conf, b->arena);
    enum err e = order != NULL ? ERR_OK : no_memory(b);
    for (uint32_t i = 0; e == ERR_OK && i < conf->n; i++) {
        e = parse_template_param(b, t, order[i], &pattern);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (t->match.p == NULL && t->path_match.p == NULL && t->type.p == NULL) {
        struct str s = java_text(conf, b->arena);
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "template must have match, path_match or match_mapping_type set %.*s", STR_ARG(s));
    }
    if (t->mapping == NULL) {
        return err_set(b->em, ERR_MAPPER_PARSING, "template [%.*s] must have either mapping or runtime set",
                       STR_ARG(t->name));
    }
    e = parse_match_type(b, t);
    t->regex = str_is(pattern, "regex");
    if (e == ERR_OK && !t->regex && !str_is(pattern, "simple")) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "No matching pattern matched on [%.*s]",
                       STR_ARG(pattern));
    }
    return e == ERR_OK ? check_patterns(b, t) : e;
}

enum err templates_parse(struct builder *b, struct root_def *d, const struct json *v)
{
    if (v->type != JSON_ARRAY) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "Dynamic template syntax error. An array of named objects is expected.");
    }
    d->has_templates = true;
    d->templates = ARENA_ARRAY(b->arena, struct dynamic_template, v->n);
    d->n_templates = v->n;
    enum err e = d->templates != NULL ? ERR_OK : no_memory(b);
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        const struct json *item = &v->items[i];
        const struct json *conf = item->type == JSON_OBJECT && item->n == 1 ? &item->members[0].value : NULL;
        if (item->type == JSON_OBJECT && item->n != 1) {
            return err_set(b->em, ERR_MAPPER_PARSING, "A dynamic template must be defined with a name");
        }
        if (conf == NULL || conf->type != JSON_OBJECT) {
            return err_set(b->em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map",
                           java_class(conf != NULL ? conf : item));
        }
        d->templates[i].name = item->members[0].key;
        e = parse_template(b, &d->templates[i], conf);
    }
    return e;
}
