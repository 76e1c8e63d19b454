/* Rendering: a tree and parameters to a text. */
#include "engine/template/nodes.h"

#include "common/base/stop.h"
#include "engine/mapping/java.h"

#define STEPS_MAX 10000000 /* of a rendering: nodes, and turns of sections, each as often as it is reached */

struct rendering {
    const struct template *t;
    struct scopes scopes;
    struct buf *out;
    struct arena *arena;
    uint64_t left; /* of STEPS_MAX */
    struct errmsg *em;
};

/* ---- values as texts ----------------------------------------------------------------------------------- */

/* Bytes that a form leaves as they are. */
static bool url_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-'
           || c == '*' || c == '_';
}

/* As Java's URLEncoder does it. */
static void put_url(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (url_plain(c)) {
            buf_char(b, s.p[i]);
        } else if (c == ' ') {
            buf_char(b, '+');
        } else {
            buf_printf(b, "%%%02X", c);
        }
    }
}

static void put_escaped(const struct rendering *r, struct str s)
{
    switch (r->t->escape) {
    case ESCAPE_JSON:
        buf_json_escaped(r->out, s);
        break;
    case ESCAPE_URL:
        put_url(r->out, s);
        break;
    case ESCAPE_NONE:
        buf_str(r->out, s);
        break;
    }
}

/* An array shows as the map that it can be read as: {0=a, 1=b}. */
static void put_value_text(struct buf *b, const struct json *v)
{
    if (v->type != JSON_ARRAY) {
        java_put_text(b, v);
        return;
    }
    buf_char(b, '{');
    for (uint32_t i = 0; i < v->n; i++) {
        buf_printf(b, "%s%u=", i > 0 ? ", " : "", i);
        java_put_text(b, &v->items[i]);
    }
    buf_char(b, '}');
}

/* JSON with fractions as Double prints them. */
static void put_json(struct jsonw *w, const struct json *v)
{
    struct buf number;
    switch (v->type) {
    case JSON_NUMBER:
        buf_init(&number, NULL, BUF_UNLIMITED);
        java_put_text(&number, v);
        w->out->failed |= number.failed;
        jw_raw(w, buf_view(&number));
        buf_fini(&number);
        return;
    case JSON_ARRAY:
        jw_arr(w);
        for (uint32_t i = 0; i < v->n; i++) {
            put_json(w, &v->items[i]);
        }
        jw_arr_end(w);
        return;
    case JSON_OBJECT:
        jw_obj(w);
        for (uint32_t i = 0; i < v->n; i++) {
            jw_key(w, v->members[i].key);
            put_json(w, &v->members[i].value);
        }
        jw_obj_end(w);
        return;
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_STRING:
        jw_value(w, v);
        return;
    }
}

struct str template_text(const struct json *object, struct arena *arena)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    put_json(&w, object);
    struct str s = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return s;
}

/* ---- nodes ---------------------------------------------------------------------------------------------- */

static enum err render_kids(struct rendering *r, const struct tnode *t);

static enum err find_value(struct rendering *r, const struct tnode *t, const struct json **out)
{
    enum err e = t->name.p != NULL ? template_find(&r->scopes, t->name, r->arena, out, r->em) : ERR_OK;
    if (t->name.p == NULL) {
        *out = NULL;
    }
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : err_wrap(r->em, ERR_MUSTACHE, "%s @[" TEMPLATE_NAME ":%u]", err_reason(r->em), t->line);
}

static enum err render_value(struct rendering *r, const struct tnode *t)
{
    const struct json *v;
    enum err e = find_value(r, t, &v);
    if (e == ERR_MUSTACHE) {
        return err_wrap(r->em, ERR_MUSTACHE, "Failed to get value for %.*s @[" TEMPLATE_NAME ":%u]",
                        STR_ARG(t->name), t->line);
    }
    if (e != ERR_OK || v == NULL) {
        return e;
    }
    if (!t->flag || r->t->escape == ESCAPE_NONE) {
        put_value_text(r->out, v);
        return ERR_OK;
    }
    struct buf b;
    buf_init(&b, r->out->alloc, r->out->bytes_max);
    put_value_text(&b, v);
    r->out->failed |= b.failed;
    put_escaped(r, buf_view(&b));
    buf_fini(&b);
    return ERR_OK;
}

static bool is_false(const struct json *v)
{
    return v == NULL || (v->type == JSON_BOOL && !v->b) || (v->type == JSON_STRING && v->s.n == 0)
           || (v->type == JSON_ARRAY && v->n == 0);
}

/* ERR_ILLEGAL_ARGUMENT: it was one too many. */
static enum err take_step(struct rendering *r)
{
    if (r->left == 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "a template takes more than %d steps", STEPS_MAX);
    }
    r->left--;
    if (stop_often()) {
        return err_set(r->em, ERR_CANCELLED, "the rendering was cancelled");
    }
    return r->out->failed ? err_no_memory(r->em) : ERR_OK;
}

/* The section once, with the value as the innermost scope; null is none. */
static enum err render_turn(struct rendering *r, const struct tnode *t, const struct json *scope)
{
    uint32_t n = r->scopes.n;
    enum err e = take_step(r);
    if (e != ERR_OK) {
        return e;
    }
    if (scope != NULL && scope->type != JSON_NULL) {
        r->scopes.v[r->scopes.n++] = scope;
    }
    e = render_kids(r, t);
    r->scopes.n = n;
    return e;
}

static enum err render_section(struct rendering *r, const struct tnode *t)
{
    const struct json *v;
    enum err e = find_value(r, t, &v);
    if (e != ERR_OK || is_false(v) != (t->kind == T_INVERTED)) {
        return e;
    }
    if (t->kind == T_INVERTED) {
        return render_kids(r, t);
    }
    if (v->type != JSON_ARRAY) {
        return render_turn(r, t, v);
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = render_turn(r, t, &v->items[i]);
    }
    return e;
}

static enum err render_json(struct rendering *r, const struct tnode *t)
{
    const struct json *v;
    struct jsonw w;
    enum err e = find_value(r, t, &v);
    if (e != ERR_OK || v == NULL) {
        return e;
    }
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        java_put_text(r->out, v);
        return ERR_OK;
    }
    jsonw_init(&w, r->out, false);
    put_json(&w, v);
    return ERR_OK;
}

static enum err render_joined(struct rendering *r, const struct tnode *t)
{
    const struct json *v;
    enum err e = find_value(r, t, &v);
    if (e != ERR_OK || !json_is(v, JSON_ARRAY)) {
        return e == ERR_OK ? render_kids(r, t) : e;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->items[i].type == JSON_NULL) {
            return err_set(r->em, ERR_NULL_POINTER,
                           "Cannot invoke \"Object.toString()\" because \"object\" is null");
        }
        buf_str(r->out, i > 0 ? t->text : STR(""));
        java_put_text(r->out, &v->items[i]);
    }
    return ERR_OK;
}

static enum err render_url(struct rendering *r, const struct tnode *t)
{
    struct buf inner, *out = r->out;
    buf_init(&inner, out->alloc, out->bytes_max);
    r->out = &inner;
    enum err e = render_kids(r, t);
    r->out = out;
    out->failed |= inner.failed;
    put_url(out, buf_view(&inner));
    buf_fini(&inner);
    return e;
}

static enum err render_node(struct rendering *r, const struct tnode *t)
{
    switch (t->kind) {
    case T_TEXT:
        buf_str(r->out, t->text);
        return ERR_OK;
    case T_VALUE:
        return render_value(r, t);
    case T_SECTION:
    case T_INVERTED:
        return render_section(r, t);
    case T_BLOCK:
        return render_kids(r, t);
    case T_TO_JSON:
        return render_json(r, t);
    case T_JOIN:
        return render_joined(r, t);
    case T_URL:
        return render_url(r, t);
    case T_NOTE:
        return ERR_OK;
    }
    return ERR_OK;
}

static enum err render_kids(struct rendering *r, const struct tnode *t)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < t->n; i++) {
        e = take_step(r);
        e = e == ERR_OK ? render_node(r, &t->kids[i]) : e;
    }
    return e;
}

/* ---- compile, render ------------------------------------------------------------------------------------ */

static enum err escape_of(struct str type, enum escape *out, struct errmsg *em)
{
    static const struct {
        const char *type;
        enum escape escape;
    } known[] = {{TEMPLATE_JSON, ESCAPE_JSON},
                 {"application/json", ESCAPE_JSON},
                 {"text/plain", ESCAPE_NONE},
                 {"application/x-www-form-urlencoded", ESCAPE_URL}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (type.p == NULL || str_is(type, known[i].type)) {
            *out = known[i].escape;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No encoder found for MIME type [%.*s]", STR_ARG(type));
}

static enum err compile_failed(const struct script_text *t, enum err e, struct errmsg *em)
{
    if (e == ERR_OK || e == ERR_NO_MEMORY) {
        return e;
    }
    if (e != ERR_MUSTACHE && e != ERR_MUSTACHE_NOT_FOUND) {
        return err_wrap(em, ERR_GENERAL_SCRIPT, "Failed to compile %s script [%.*s] using lang [mustache]",
                        t->id.p != NULL ? "stored" : "inline", STR_ARG(t->id.p != NULL ? t->id : t->source));
    }
    e = err_wrap(em, ERR_SCRIPT, "%s", err_reason(em));
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->script = err_text(em, t->source);
        a->lang = err_text(em, STR("mustache"));
    }
    return e;
}

enum err template_compile(struct template **out, const struct template_source *source, struct arena *arena,
                          struct errmsg *em)
{
    struct template *t = *out = ARENA_NEW(arena, struct template);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->root.kind = T_BLOCK;
    enum err e = escape_of(source->content_type, &t->escape, em);
    e = e == ERR_OK ? template_parse(&t->root, source->text.source, arena, em) : e;
    return compile_failed(&source->text, e, em);
}

enum err template_render(const struct template *t, const struct json *params, struct buf *out,
                         struct arena *arena, struct errmsg *em)
{
    struct rendering r = {.t = t, .out = out, .arena = arena, .left = STEPS_MAX, .em = em};
    const struct json root = params != NULL ? java_ordered(params, arena) : json_mk_object();
    r.scopes.v[r.scopes.n++] = &root;
    enum err e = render_kids(&r, &t->root);
    e = e == ERR_OK && out->failed ? err_no_memory(em) : e;
    return e == ERR_OK || e == ERR_NO_MEMORY || e == ERR_CANCELLED
               ? e
               : err_wrap(em, ERR_GENERAL_SCRIPT,
                          "Error running com.github.mustachejava.codes.DefaultMustache");
}
