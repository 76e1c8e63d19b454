#include "engine/ingest/config.h"

#include "common/base/java_hash.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "engine/mapping/java.h"

enum err config_init(struct config *c, const struct json *v, struct arena *arena, unsigned depth,
                     struct errmsg *em)
{
    *c = (struct config){.v = v, .arena = arena, .depth = depth, .em = em};
    c->used = ARENA_ARRAY(arena, bool, v->n);
    return c->used != NULL ? ERR_OK : err_no_memory(em);
}

const struct json *config_take(struct config *c, const char *name)
{
    for (uint32_t i = 0; i < c->v->n; i++) {
        if (!c->used[i] && str_is(c->v->members[i].key, name)) {
            c->used[i] = true;
            return c->v->members[i].value.type != JSON_NULL ? &c->v->members[i].value : NULL;
        }
    }
    return NULL;
}

enum err config_fail(struct config *c, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(c->arena, fmt, ap);
    va_end(ap);
    err_set(c->em, ERR_PARSE, "%s%s%s%.*s", name != NULL ? "[" : "", name != NULL ? name : "",
            name != NULL ? "] " : "", STR_ARG(why));
    err_about_processor(c->em, c->type, c->tag, str_of(name));
    return ERR_PARSE;
}

const char *config_java_class(enum err e)
{
    static const struct {
        enum err code;
        const char *class;
    } classes[] = {{ERR_ILLEGAL_ARGUMENT, "java.lang.IllegalArgumentException"},
                   {ERR_NUMBER_FORMAT, "java.lang.NumberFormatException"},
                   {ERR_CLASS_CAST, "java.lang.ClassCastException"},
                   {ERR_NULL_POINTER, "java.lang.NullPointerException"},
                   {ERR_ILLEGAL_STATE, "java.lang.IllegalStateException"},
                   {ERR_PATTERN_SYNTAX, "java.util.regex.PatternSyntaxException"},
                   {ERR_ZONE_RULES, "java.time.zone.ZoneRulesException"},
                   {ERR_DATE_TIME, "java.time.DateTimeException"},
                   {ERR_ARRAY_BOUNDS, "java.lang.ArrayIndexOutOfBoundsException"},
                   {ERR_INDEX_BOUNDS, "java.lang.IndexOutOfBoundsException"},
                   {ERR_STRING_BOUNDS, "java.lang.StringIndexOutOfBoundsException"},
                   {ERR_UNSUPPORTED, "java.lang.UnsupportedOperationException"},
                   {ERR_DISSECT_KEY, "org.elasticsearch.dissect.DissectException$KeyParse"},
                   {ERR_DISSECT_PARSE, "org.elasticsearch.dissect.DissectException$PatternParse"}};
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (classes[i].code == e) {
            return classes[i].class;
        }
    }
    return "java.lang.Exception";
}

enum err config_wrap(struct config *c, const char *name)
{
    enum err e = err_code(c->em);
    if (e == ERR_NO_MEMORY || e == ERR_OK) {
        return ERR_NO_MEMORY;
    }
    struct str property = str_of(name != NULL ? name : err_about(c->em)->property);
    if (err_family(e) != ERR_FAMILY_ES) {
        e = err_wrap(c->em, ERR_INTERNAL, "%s: %s", config_java_class(e), err_reason(c->em));
    }
    struct str tag = c->tag.n > 0 ? c->tag : str_of(err_about(c->em)->processor_tag);
    err_about_processor(c->em, c->type, tag, property);
    return e;
}

enum err config_end(struct config *c, struct str what)
{
    struct json left = json_mk_object();
    for (uint32_t i = 0; i < c->v->n; i++) {
        if (!c->used[i] && !json_put_new(&left, c->arena, c->v->members[i].key, &c->v->members[i].value)) {
            return err_no_memory(c->em);
        }
    }
    if (left.n == 0) {
        return ERR_OK;
    }
    const struct json_member **order = java_order(&left, c->arena);
    struct buf names;
    buf_init(&names, NULL, 64 * KIB);
    for (uint32_t i = 0; order != NULL && i < left.n; i++) {
        buf_printf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(order[i]->key));
    }
    (void)config_fail(c, NULL, "%.*s doesn't support one or more provided configuration parameters [%.*s]",
                      STR_ARG(what), STR_ARG(buf_view(&names)));
    buf_fini(&names);
    return ERR_PARSE;
}

/* ---- properties ---------------------------------------------------------------------------------------- */

static enum err wrong_kind(struct config *c, const char *name, const char *wanted, const struct json *v)
{
    return config_fail(c, name, "property isn't a%s%s, but of type [%s]",
                       strchr("aio", wanted[0]) != NULL ? "n " : " ", wanted, ingest_class(v));
}

static enum err keep_text(struct config *c, struct str s, struct str *out)
{
    *out = arena_str(c->arena, s);
    return out->p != NULL ? ERR_OK : err_no_memory(c->em);
}

enum err config_str_maybe(struct config *c, const char *name, struct str *out)
{
    const struct json *v = config_take(c, name);
    *out = STR_NULL;
    return v == NULL                ? ERR_OK
           : v->type != JSON_STRING ? wrong_kind(c, name, "string", v)
                                    : keep_text(c, v->s, out);
}

static enum err missing_property(struct config *c, const char *name)
{
    return config_fail(c, name, "required property is missing");
}

enum err config_str(struct config *c, const char *name, struct str *out)
{
    enum err e = config_str_maybe(c, name, out);
    return e == ERR_OK && out->p == NULL ? missing_property(c, name) : e;
}

enum err config_str_or(struct config *c, const char *name, const char *otherwise, struct str *out)
{
    enum err e = config_str_maybe(c, name, out);
    if (e == ERR_OK && out->p == NULL) {
        *out = str_of(otherwise);
    }
    return e;
}

enum err config_bool(struct config *c, const char *name, bool otherwise, bool *out)
{
    const struct json *v = config_take(c, name);
    *out = v != NULL ? v->b : otherwise;
    return v == NULL || v->type == JSON_BOOL ? ERR_OK : wrong_kind(c, name, "boolean", v);
}

enum err config_i32(struct config *c, const char *name, int32_t otherwise, int32_t *out)
{
    const struct json *v = config_take(c, name);
    *out = otherwise;
    if (v == NULL) {
        return ERR_OK;
    }
    struct str text = ingest_text(v, c->arena);
    if (text.p == NULL) {
        return err_no_memory(c->em);
    }
    return num_parse_i32(text, out)
               ? ERR_OK
               : config_fail(c, name, "property cannot be converted to an int [%.*s]", STR_ARG(text));
}

enum err config_any(struct config *c, const char *name, const struct json **out)
{
    *out = config_take(c, name);
    return *out != NULL ? ERR_OK : missing_property(c, name);
}

static enum err config_kind(struct config *c, const char *name, bool required, enum json_type type,
                            const char *what, const struct json **out)
{
    *out = config_take(c, name);
    if (*out == NULL) {
        return required ? missing_property(c, name) : ERR_OK;
    }
    return (*out)->type == type ? ERR_OK : wrong_kind(c, name, what, *out);
}

enum err config_list(struct config *c, const char *name, bool required, const struct json **out)
{
    return config_kind(c, name, required, JSON_ARRAY, "list", out);
}

enum err config_map(struct config *c, const char *name, bool required, const struct json **out)
{
    return config_kind(c, name, required, JSON_OBJECT, "map", out);
}

enum err config_strs(struct config *c, const char *name, bool required, struct str **out, uint32_t *n)
{
    const struct json *v;
    enum err e = config_list(c, name, required, &v);
    *n = 0;
    *out = NULL;
    if (e != ERR_OK || v == NULL) {
        return e;
    }
    *out = ARENA_ARRAY(c->arena, struct str, v->n);
    for (uint32_t i = 0; *out != NULL && e == ERR_OK && i < v->n; i++) {
        if (v->items[i].type == JSON_NULL) {
            (*out)[i] = STR_NULL;
            *n = i + 1;
            continue;
        }
        if (v->items[i].type != JSON_STRING) {
            const char *class = ingest_class(&v->items[i]);
            err_set(
                c->em, ERR_CLASS_CAST,
                "class %s cannot be cast to class java.lang.String (%s and java.lang.String are in module "
                "java.base of loader 'bootstrap')",
                class, class);
            return ERR_CLASS_CAST;
        }
        e = keep_text(c, v->items[i].s, &(*out)[i]);
        *n = i + 1;
    }
    return *out != NULL ? e : err_no_memory(c->em);
}

/* ---- snippets ------------------------------------------------------------------------------------------ */

enum err snippet_read(struct config *c, const char *name, struct str text, struct str media_type,
                      struct snippet *out)
{
    struct template *t;
    *out = (struct snippet){.text = text};
    if (str_find_str(text, STR("{{")) == SIZE_MAX) {
        return ERR_OK;
    }
    const struct template_source source = {.text = {text, STR("mustache"), STR_NULL},
                                           .content_type = media_type};
    enum err e = template_compile(&t, &source, c->arena, c->em);
    out->t = t;
    return e == ERR_OK ? e : config_wrap(c, name);
}

enum err config_snippet(struct config *c, const char *name, struct snippet *out)
{
    struct str text;
    enum err e = config_str(c, name, &text);
    return e == ERR_OK ? snippet_read(c, name, text, STR_NULL, out) : e;
}

/* What templates see: the members of the document, `_source` and `_ingest`. */
static bool template_model(struct ingest_doc *d, struct json *out)
{
    *out = (struct json){.type = JSON_OBJECT, .n = d->root.n};
    out->members = ARENA_ARRAY(d->arena, struct json_member, (size_t)d->root.n + 2);
    if (out->members == NULL) {
        return false;
    }
    if (out->n > 0) {
        memcpy(out->members, d->root.members, d->root.n * sizeof(*out->members));
    }
    out->members[out->n++] = (struct json_member){.key = STR("_source"), .value = d->root};
    out->members[out->n++] = (struct json_member){.key = STR("_ingest"), .value = d->ingest};
    return true;
}

enum err snippet_text(const struct snippet *s, struct ingest_doc *d, struct str *out, struct errmsg *em)
{
    struct json model;
    struct buf b;
    *out = s->text;
    if (s->t == NULL) {
        return ERR_OK;
    }
    if (!template_model(d, &model)) {
        return err_no_memory(em);
    }
    memory_request_buf(&b);
    enum err e = template_render(s->t, &model, &b, d->arena, em);
    *out = e == ERR_OK ? arena_str(d->arena, buf_view(&b)) : STR_NULL;
    buf_fini(&b);
    return e == ERR_OK && out->p == NULL ? err_no_memory(em) : e;
}

/* Definitions are not deeper than a text that was parsed. */
enum err value_source_read(struct config *c, const char *name, const struct json *v, struct str media_type,
                           struct value_source *out)
{
    enum err e = ERR_OK;
    struct str text;
    *out = (struct value_source){.type = v->type};
    switch (v->type) {
    case JSON_STRING:
        e = keep_text(c, v->s, &text);
        return e == ERR_OK ? snippet_read(c, name, text, media_type, &out->text) : e;
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
        return ingest_copy(&out->plain, v, c->arena) ? ERR_OK : err_no_memory(c->em);
    }
    out->n = v->n;
    out->kids = ARENA_ARRAY(c->arena, struct value_source, v->n);
    out->keys = ARENA_ARRAY(c->arena, struct snippet, v->n);
    if (out->kids == NULL || out->keys == NULL) {
        return err_no_memory(c->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        const struct json *kid = v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value;
        if (v->type == JSON_OBJECT) {
            e = keep_text(c, v->members[i].key, &text);
            e = e == ERR_OK ? snippet_read(c, name, text, media_type, &out->keys[i]) : e;
        }
        e = e == ERR_OK ? value_source_read(c, name, kid, media_type, &out->kids[i]) : e;
    }
    return e;
}

enum err value_source_make(const struct value_source *s, struct ingest_doc *d, struct json *out,
                           struct errmsg *em)
{
    struct str text;
    enum err e = ERR_OK;
    if (s->type == JSON_STRING) {
        e = snippet_text(&s->text, d, &text, em);
        *out = json_mk_str(text);
        return e;
    }
    if (s->type != JSON_ARRAY && s->type != JSON_OBJECT) {
        *out = s->plain;
        return ERR_OK;
    }
    *out = s->type == JSON_ARRAY ? ingest_list() : json_mk_object();
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        struct json kid;
        e = value_source_make(&s->kids[i], d, &kid, em);
        if (e == ERR_OK && s->type == JSON_OBJECT) {
            e = snippet_text(&s->keys[i], d, &text, em);
        }
        bool ok = e != ERR_OK
                  || (s->type == JSON_ARRAY ? ingest_push(out, &kid, d->arena)
                                            : json_put(out, d->arena, text, kid));
        e = ok ? e : err_no_memory(em);
    }
    return e;
}
