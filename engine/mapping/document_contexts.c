/* Contexts of completion values: those given with the input, those that come from other fields. */
#include "common/base/arena_list.h"
#include "common/base/geo.h"
#include "engine/mapping/completion_paths.h"
#include "engine/mapping/document_int.h"

struct pairs {
    struct str *v; /* name, value, name, value ... */
    size_t n, cap;
};

static enum err add_text(struct doc_parser *p, struct pairs *to, struct str s)
{
    return ARENA_ADD(p->arena, to->v, to->n, to->cap, s) ? ERR_OK : err_no_memory(p->em);
}

static enum err add_pair(struct doc_parser *p, struct pairs *to, struct str name, struct str value)
{
    for (size_t i = 0; i < to->n; i += 2) {
        if (str_eq(to->v[i], name) && str_eq(to->v[i + 1], value)) {
            return ERR_OK;
        }
    }
    enum err e = add_text(p, to, name);
    return e == ERR_OK ? add_text(p, to, value) : e;
}

static enum err add_point(struct doc_parser *p, struct pairs *to, const struct completion_context *c,
                          struct geo_point point)
{
    char hash[GEOHASH_MAX + 1];
    geohash_encode(point, (int)MIN_OF(MAX_OF(c->precision, 1U), (uint32_t)GEOHASH_MAX), hash);
    struct str s = arena_str(p->arena, str_of(hash));
    return s.p != NULL ? add_pair(p, to, c->name, s) : err_no_memory(p->em);
}

/* ---- given with the input ---- */

static enum err parse_category(struct doc_parser *p, struct pairs *to, const struct completion_context *c,
                               const struct json *v)
{
    bool text = v->type == JSON_STRING || v->type == JSON_NUMBER || v->type == JSON_BOOL;
    if (text) {
        struct str s = json_text(v);
        return add_pair(p, to, c->name, s);
    }
    if (v->type != JSON_ARRAY) {
        return err_set(p->em, ERR_PARSE,
                       "contexts must be a string, number or boolean or a list of string, number or boolean");
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->type != JSON_STRING && item->type != JSON_NUMBER && item->type != JSON_BOOL) {
            return err_set(p->em, ERR_PARSE,
                           "context array must have string, number or boolean values, but was [%s]",
                           json_token_name(item));
        }
        e = add_pair(p, to, c->name, json_text(item));
    }
    return e;
}

struct point_sink {
    struct doc_parser *p;
    struct pairs *to;
    const struct completion_context *c;
};

static enum err on_point(void *self, struct geo_point point, UNUSED struct errmsg *em)
{
    struct point_sink *s = self;
    return add_point(s->p, s->to, s->c, point);
}

static enum err parse_geo(struct doc_parser *p, struct pairs *to, const struct completion_context *c,
                          const struct json *v)
{
    if (v->type == JSON_STRING) { /* taken for a geohash, whatever it is */
        return add_pair(p, to, c->name, str_slice(v->s, 0, c->precision));
    }
    struct point_sink sink = {p, to, c};
    return geo_points_of_json(v, false, on_point, &sink, p->em);
}

static const struct completion_context *find_context(const struct field *f, struct str name)
{
    for (uint32_t i = 0; i < f->n_contexts; i++) {
        if (str_eq(f->contexts[i].name, name)) {
            return &f->contexts[i];
        }
    }
    return NULL;
}

enum err doc_parse_contexts(struct doc_parser *p, const struct field *f, const struct json *v,
                            const struct str **pairs, uint32_t *n)
{
    struct pairs to = {0};
    enum err e = ERR_OK;
    if (v->type != JSON_OBJECT) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "contexts must be an object or an array , but was [%s]",
                       json_token_name(v));
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        const struct completion_context *c = find_context(f, m->key);
        if (m->key.p == NULL || json_is_broken(&m->value)) {
            return doc_broken(p);
        }
        if (c == NULL) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Unknown context name [%.*s], must be one of [%.*s]",
                           STR_ARG(m->key), STR_ARG(f->contexts[0].name));
        }
        e = c->kind == CONTEXT_GEO ? parse_geo(p, &to, c, &m->value) : parse_category(p, &to, c, &m->value);
    }
    *pairs = to.v;
    *n = (uint32_t)(to.n / 2);
    return e;
}

/* ---- from other fields ---- */

static enum err take_from(struct doc_parser *p, struct pairs *to, const struct completion_context *c,
                          const struct doc_value *v)
{
    if (!str_eq(v->field->path, c->path)) {
        return ERR_OK;
    }
    if (c->kind == CONTEXT_GEO) {
        struct geo_point point = {geo_decode_lat(v->geo.lat), geo_decode_lon(v->geo.lon)};
        return v->kind == DOC_GEO ? add_point(p, to, c, point) : ERR_OK;
    }
    if (v->kind == DOC_TERM) {
        return add_pair(p, to, c->name, v->bytes);
    }
    return v->kind == DOC_TEXT ? add_pair(p, to, c->name, v->text.raw) : ERR_OK;
}

/* Every path under every context: its number, its value, a separator. */
static enum err prefix_paths(struct doc_parser *p, const struct field *f, const struct pairs *contexts,
                             struct doc_value *v)
{
    size_t n = contexts->n / 2 * v->completion.n_paths, at = 0;
    struct str *paths = ARENA_ARRAY(p->arena, struct str, n);
    if (paths == NULL) {
        return err_no_memory(p->em);
    }
    for (size_t i = 0; i < contexts->n; i += 2) {
        unsigned number = (unsigned)(find_context(f, contexts->v[i]) - f->contexts);
        struct str value = contexts->v[i + 1];
        for (uint32_t k = 0; k < v->completion.n_paths; k++) {
            struct str path = v->completion.paths[k];
            char *to = arena_alloc(p->arena, value.n + path.n + 2);
            if (to == NULL) {
                return err_no_memory(p->em);
            }
            to[0] = (char)number;
            memcpy(to + 1, value.n > 0 ? value.p : "", value.n);
            to[value.n + 1] = COMPLETION_CONTEXT_SEPARATOR;
            memcpy(to + value.n + 2, path.n > 0 ? path.p : "", path.n);
            paths[at++] = str_mk(to, value.n + path.n + 2);
        }
    }
    v->completion.paths = paths;
    v->completion.n_paths = (uint32_t)n;
    return ERR_OK;
}

enum err doc_completion_contexts(struct doc_parser *p, struct doc_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct field *f = values[i].field;
        if (values[i].kind != DOC_COMPLETION || f->n_contexts == 0 || values[i].completion.input.p == NULL) {
            continue;
        }
        struct pairs to = {0};
        enum err e = ERR_OK;
        for (uint32_t k = 0; e == ERR_OK && k < 2 * values[i].completion.n_contexts; k++) {
            e = add_text(p, &to, values[i].completion.contexts[k]);
        }
        for (uint32_t c = 0; c < f->n_contexts; c++) {
            for (size_t k = 0; e == ERR_OK && f->contexts[c].path.n > 0 && k < n; k++) {
                e = take_from(p, &to, &f->contexts[c], &values[k]);
            }
        }
        if (e != ERR_OK) {
            return e;
        }
        if (to.n == 0) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                           "Contexts are mandatory in context enabled completion field [%.*s]",
                           STR_ARG(f->path));
        }
        e = prefix_paths(p, f, &to, &values[i]);
        if (e != ERR_OK) {
            return e;
        }
        values[i].completion.contexts = to.v;
        values[i].completion.n_contexts = (uint32_t)(to.n / 2);
    }
    return ERR_OK;
}
