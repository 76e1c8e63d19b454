/* Fields that documents bring: what type they get, and the change of the mapping that they ask for. */
#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "common/base/path_join.h"
#include "common/base/sort_items.h"
#include "engine/mapping/document_int.h"

#include <stdio.h>

enum dynamic_mode doc_dynamic(const struct doc_parser *p, const struct field *object)
{
    for (; object != NULL; object = object->parent) {
        if (object->dynamic != DYNAMIC_INHERIT) {
            return object->dynamic;
        }
    }
    return p->in->dynamic_allowed ? DYNAMIC_TRUE : DYNAMIC_STRICT;
}

bool doc_added(struct doc_parser *p, struct str path, const struct json *def)
{
    return ARENA_ADD(p->arena, p->added, p->n_added, p->added_cap, (struct added_field){path, def});
}

static struct str path_in(struct doc_parser *p, const struct field *object, struct str name)
{
    return object->path.n == 0 ? name : path_join(p->arena, object->path, name);
}

/* Makes the field that a definition describes, as if it were in the mapping. */
static enum err make_field(struct doc_parser *p, const struct field *object, struct str name,
                           const struct json *def, struct str date_format, const struct field **out)
{
    struct builder b = mapping_builder(p->m, p->arena, p->em);
    const struct json *type = json_get(def, "type");
    struct node *n = NULL;
    b.date_format = date_format;
    b.from_template = true;
    enum err e =
        node_parse_typed(&b, name, json_is(type, JSON_STRING) ? type->s : STR("object"), def, name, &n);
    e = e != ERR_OK ? e : node_build(&b, n);
    e = e != ERR_OK ? e : node_link(&b, n, object);
    if (e != ERR_OK) {
        return e;
    }
    struct json *shown = json_new(&b, json_mk_object());
    if (shown == NULL) {
        return no_memory(&b);
    }
    e = node_print(&b, n, shown);
    *out = &n->f;
    return e != ERR_OK || doc_added(p, n->f.path, shown) ? e : no_memory(&b);
}

static enum err make_simple(struct doc_parser *p, const struct field *object, struct str name,
                            const char *type, struct str date_format, const struct field **out)
{
    struct json def = json_mk_object(), keyword = json_mk_object(), fields = json_mk_object();
    bool ok = json_put(&def, p->arena, STR("type"), json_mk_str(str_of(type)));
    if (strcmp(type, "text") == 0) {
        struct json above = {.type = JSON_NUMBER, .s = STR("256")};
        ok = ok && json_put(&keyword, p->arena, STR("type"), json_mk_str(STR("keyword")));
        ok = ok && json_put(&keyword, p->arena, STR("ignore_above"), above);
        ok = ok && json_put(&fields, p->arena, STR("keyword"), keyword);
        ok = ok && json_put(&def, p->arena, STR("fields"), fields);
    }
    return ok ? make_field(p, object, name, &def, date_format, out) : err_no_memory(p->em);
}

/* ---- objects ---- */

static enum err from_template(struct doc_parser *p, const struct field *object, struct str name,
                              const char *type, struct str date_format, const struct field **out)
{
    *out = NULL;
    if (p->m->def.n_templates == 0) {
        return ERR_OK;
    }
    struct str path = path_in(p, object, name);
    if (path.p == NULL) {
        return err_no_memory(p->em);
    }
    const struct dynamic_template *t;
    enum err e = mapping_template(&t, p->m, path, name, type, p->em);
    if (e != ERR_OK || t == NULL) {
        return e;
    }
    const struct json *def = template_mapping(t, name, type, p->arena);
    return def != NULL ? make_field(p, object, name, def, date_format, out) : err_no_memory(p->em);
}

enum err doc_dynamic_object(struct doc_parser *p, const struct field *object, struct str name,
                            const struct field **out)
{
    enum err e = from_template(p, object, name, "object", STR_NULL, out);
    return e == ERR_OK && *out == NULL ? make_simple(p, object, name, "object", STR_NULL, out) : e;
}

enum err doc_dynamic_array(struct doc_parser *p, const struct field *object, struct str name,
                           const struct field **out)
{
    size_t before = p->n_added;
    enum err e = from_template(p, object, name, "object", STR_NULL, out);
    if (e == ERR_OK && *out != NULL && !(*out)->class->takes_array) {
        *out = NULL; /* its items are looked at one by one */
        p->n_added = before;
    }
    return e;
}

static enum err not_an_object(struct doc_parser *p, const struct field *there, struct str *names, size_t n)
{
    char joined[ERR_REASON_BYTES] = "";
    for (size_t i = 0, at = 0; i < n && at < sizeof(joined); i++) {
        at +=
            (size_t)snprintf(joined + at, sizeof(joined) - at, "%s%.*s", i > 0 ? "." : "", STR_ARG(names[i]));
    }
    return err_set(p->em, ERR_MAPPER_PARSING,
                   "Could not dynamically add mapping for field [%s]. Existing mapping for [%.*s] must be of "
                   "type object but found [%s].",
                   joined, STR_ARG(there->path), field_shown_type(there));
}

enum err doc_dynamic_parent(struct doc_parser *p, const struct field *object, struct str *names, size_t n,
                            const struct field **parent, bool *stopped)
{
    *parent = object;
    for (size_t i = 0; i + 1 < n; i++) {
        const struct field *next = mapping_child(p->m, *parent, names[i]);
        if (next == NULL) {
            enum dynamic_mode mode = doc_dynamic(p, *parent);
            if (mode == DYNAMIC_FALSE) {
                *stopped = true;
                return ERR_OK;
            }
            if (mode == DYNAMIC_STRICT) {
                return doc_strict(p, *parent, names[i]);
            }
            enum err e = doc_dynamic_object(p, *parent, names[i], &next);
            if (e != ERR_OK) {
                return e;
            }
            if (next->class->is_nested) {
                return err_set(p->em, ERR_MAPPER_PARSING,
                               "It is forbidden to create dynamic nested objects ([%.*s]) through `copy_to` "
                               "or dots in field "
                               "names",
                               STR_ARG(next->path));
            }
        }
        if (!next->class->is_object) {
            return not_an_object(p, next, names, n);
        }
        *parent = next;
    }
    return ERR_OK;
}

/* ---- values ---- */

struct guess {
    const char *match; /* the type that templates see */
    const char *type;  /* the field's, without a template */
    struct str date_format;
};

static struct guess guess_text(const struct doc_parser *p, struct str s)
{
    static const struct guess string = {"string", "text", {NULL, 0}};
    int64_t whole;
    double fraction;
    bool is_whole = num_parse_i64(s, &whole), is_fraction = num_parse_double(s, &fraction);
    if (is_whole || is_fraction) {
        if (p->m->def.numeric_detection != 1) {
            return string;
        }
        return is_whole ? (struct guess){"long", "long", STR_NULL}
                        : (struct guess){"double", "float", STR_NULL};
    }
    for (uint32_t i = 0; p->m->def.date_detection != 0 && i < p->m->n_date_formats; i++) {
        struct instant t;
        if (date_parse(p->m->date_formats[i], s, NULL, DATE_FILL_MIN, &t, NULL) == ERR_OK) {
            return (struct guess){"date", "date", date_format_pattern(p->m->date_formats[i])};
        }
    }
    return string;
}

static struct guess guess_value(const struct doc_parser *p, const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
        return guess_text(p, v->s);
    case JSON_NUMBER:
        return json_is_integral(v) ? (struct guess){"long", "long", STR_NULL}
                                   : (struct guess){"double", "float", STR_NULL};
    case JSON_BOOL:
        return (struct guess){"boolean", "boolean", STR_NULL};
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return (struct guess){"string", "text", STR_NULL};
}

enum err doc_dynamic_scalar(struct doc_parser *p, const struct field *object, struct str name,
                            const struct json *v)
{
    enum dynamic_mode mode = doc_dynamic(p, object);
    bool container =
        v->type == JSON_OBJECT || v->type == JSON_ARRAY; /* a copy of one says nothing of a type */
    bool null = v->type == JSON_NULL && !json_is_broken(v);
    if (mode == DYNAMIC_FALSE || null || container) {
        return ERR_OK;
    }
    if (mode == DYNAMIC_STRICT) {
        return doc_strict(p, object, name);
    }
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    struct guess g = guess_value(p, v);
    const struct field *f;
    enum err e = from_template(p, object, name, g.match, g.date_format, &f);
    if (e == ERR_OK && f == NULL) {
        e = make_simple(p, object, name, g.type, g.date_format, &f);
    }
    return e == ERR_OK ? doc_parse_object_or_field(p, f, v, false) : e;
}

/* ---- the change asked for ---- */

/* Two definitions of one path: they must go together. */
static enum err check_same(struct doc_parser *p, struct str path, const struct json *x, const struct json *y)
{
    struct builder b = mapping_builder(p->m, p->arena, p->em);
    const struct json *defs[2] = {x, y};
    struct node *nodes[2], *merged;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < 2; i++) {
        const struct json *type = json_get(defs[i], "type");
        e = node_parse_typed(&b, path, json_is(type, JSON_STRING) ? type->s : STR("object"), defs[i], path,
                             &nodes[i]);
        e = e != ERR_OK ? e : node_build(&b, nodes[i]);
        e = e != ERR_OK ? e : node_link(&b, nodes[i], NULL);
    }
    return e == ERR_OK ? node_merge(&b, nodes[0], nodes[1], &merged) : e;
}

static bool is_object(const struct json *def)
{
    const struct json *type = json_get(def, "type");
    return type == NULL || str_is(type->s, "object") || str_is(type->s, "nested");
}

static int by_path(const void *x, const void *y)
{
    const struct added_field *a = *(const struct added_field *const *)x,
                             *b = *(const struct added_field *const *)y;
    int order = str_cmp(a->path, b->path);
    return order != 0 ? order : a < b ? -1 : a > b;
}

/* A definition held against an older one of the same path. */
static enum err check_newer(struct doc_parser *p, const struct added_field *newer,
                            const struct added_field *older)
{
    const struct json *leaf = json_get(newer->def, "type");
    if (leaf != NULL && !is_object(newer->def) && is_object(older->def)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "mapper [%.*s] cannot be changed from type [%.*s] to [ObjectMapper]",
                       STR_ARG(newer->path), STR_ARG(leaf->s));
    }
    return check_same(p, newer->path, newer->def, older->def);
}

/* The conflict that is reported: the first by path, each definition held against the one before. Elasticsearch
 * does so the other way round for the very first. */
static enum err check_sorted(struct doc_parser *p)
{
    if (p->added_sorted) {
        return ERR_OK;
    }
    p->added_sorted = true;
    const struct added_field **v = arena_alloc(p->arena, p->n_added * sizeof(*v));
    if (v == NULL) {
        return err_no_memory(p->em);
    }
    for (size_t i = 0; i < p->n_added; i++) {
        v[i] = &p->added[i];
    }
    sort_items(v, p->n_added, sizeof(*v), by_path);
    const struct added_field *late = NULL;
    for (size_t i = 1; i < p->n_added; i++) {
        bool same = str_eq(v[i]->path, v[i - 1]->path);
        if (late != NULL && !str_starts(v[i]->path, late->path)) {
            break;
        }
        if (same && i == 1 && is_object(v[1]->def) && !is_object(v[0]->def)) {
            late = v[1]; /* an object is held against the first once all below it are read */
        } else if (same && !json_equal(v[i]->def, v[i - 1]->def)) {
            enum err e =
                i == 1 ? check_same(p, v[i]->path, v[i - 1]->def, v[i]->def) : check_newer(p, v[i], v[i - 1]);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    return late != NULL ? check_same(p, late->path, v[0]->def, late->def) : ERR_OK; /* which fails */
}

/* The definition of an object on the way to a new field: what must be repeated, and nothing that may have
 * changed meanwhile. */
static bool repeat_object(struct doc_parser *p, const struct field *f, struct json *out)
{
    *out = json_mk_object();
    bool nested = f != NULL && f->class->is_nested;
    bool ok = json_put(out, p->arena, STR("type"), json_mk_str(nested ? STR("nested") : STR("object")));
    if (nested && f->include_in_parent) {
        ok = ok && json_put(out, p->arena, STR("include_in_parent"), json_mk_bool(true));
    }
    if (nested && f->include_in_root) {
        ok = ok && json_put(out, p->arena, STR("include_in_root"), json_mk_bool(true));
    }
    return ok;
}

/* Where the definition of a path is among its parent's properties. */
struct place {
    uint32_t at;
    const struct json *def; /* what was asked for; NULL: an object on the way */
};

static struct json *put_there(struct map *places, struct json *properties, struct str path, size_t from,
                              const struct json *fresh, const struct json *def)
{
    struct place *place = ARENA_NEW(places->arena, struct place);
    if (place == NULL) {
        return NULL;
    }
    *place = (struct place){properties->n, def};
    struct str name = str_slice(path, from, path.n);
    bool ok = json_put_new(properties, places->arena, name, fresh) && map_put(places, path, place);
    return ok ? &properties->members[place->at].value : NULL;
}

static struct json *properties_of(struct doc_parser *p, struct json *object)
{
    struct json *v = json_member_of(object, STR("properties"));
    if (v == NULL && json_put(object, p->arena, STR("properties"), json_mk_object())) {
        v = json_member_of(object, STR("properties"));
    }
    return v;
}

/* places: of each path that is in the body already. */
static enum err put_added(struct doc_parser *p, struct json *body, struct map *places,
                          const struct added_field *a)
{
    struct json *at = body, step;
    size_t from = 0;
    for (;;) {
        size_t dot = str_find(a->path, '.', from);
        at = properties_of(p, at);
        if (at == NULL) {
            return err_no_memory(p->em);
        }
        if (dot == SIZE_MAX) {
            break;
        }
        struct str path = str_slice(a->path, 0, dot);
        const struct place *there = map_get(places, path);
        struct json *next = there != NULL ? &at->members[there->at].value : NULL;
        if (next == NULL && repeat_object(p, mapping_field_raw(p->m, path), &step)) {
            next = put_there(places, at, path, from, &step, NULL);
        }
        at = next;
        from = dot + 1;
        if (at == NULL) {
            return err_no_memory(p->em);
        }
    }
    const struct place *old = map_get(places, a->path);
    if (old != NULL) { /* an object that has got properties since is not read again for each of them */
        bool same = old->def != NULL && json_equal(old->def, a->def);
        enum err e = same ? ERR_OK : check_sorted(p);
        return same || e != ERR_OK ? e : check_same(p, a->path, &at->members[old->at].value, a->def);
    }
    bool ok =
        json_copy(&step, a->def, p->arena) && put_there(places, at, a->path, from, &step, a->def) != NULL;
    return ok ? ERR_OK : err_no_memory(p->em);
}

/* An object this deep cannot be put into the body of a request: two levels each. */
#define ADDED_DEPTH_MAX 400

/* The limits that the new fields alone are beyond: looked at before a body is made of them, whose making takes more than
 * looking. mapping_check_limits() has the last word. */
static enum err check_added(struct doc_parser *p)
{
    const struct mapping_limits *l = &p->m->limits;
    int64_t total = 0;
    struct map seen;
    map_init(&seen, p->arena);
    for (uint32_t i = 0; i < p->m->n_fields; i++) {
        total += !p->m->fields[i]->class->is_metadata;
    }
    for (size_t i = 0; i < p->n_added; i++) {
        struct str path = p->added[i].path;
        int64_t depth = 1; /* of the object that the field is in */
        size_t last = 0;
        for (size_t at = 0; at < path.n; at++) {
            depth += path.p[at] == '.';
            last = path.p[at] == '.' ? at : last;
        }
        if (depth > MAX_OF(l->depth, ADDED_DEPTH_MAX)
            || (depth > ADDED_DEPTH_MAX && l->depth > ADDED_DEPTH_MAX)) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                           "Limit of mapping depth [%lld] has been exceeded due to object field [%.*s]",
                           (long long)MIN_OF(l->depth, ADDED_DEPTH_MAX), STR_ARG(str_slice(path, 0, last)));
        }
        if (!map_has(&seen, path)) {
            const struct json *fields = json_get(p->added[i].def, "fields");
            total += 1 + (fields != NULL ? fields->n : 0);
            if (!map_put(&seen, path, p)) {
                return err_no_memory(p->em);
            }
        }
    }
    return total <= l->total_fields
               ? ERR_OK
               : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Limit of total fields [%lld] has been exceeded",
                         (long long)l->total_fields);
}

enum err doc_mapping_update(struct doc_parser *p, const struct json **out)
{
    *out = NULL;
    if (p->n_added == 0 && !p->m->absent) {
        return ERR_OK;
    }
    enum err bad = check_added(p);
    if (bad != ERR_OK) {
        return bad;
    }
    struct json *body = ARENA_NEW(p->arena, struct json);
    if (body == NULL) {
        return err_no_memory(p->em);
    }
    *body = json_mk_object();
    struct map places;
    map_init(&places, p->arena);
    for (size_t i = 0; i < p->n_added; i++) {
        enum err e = put_added(p, body, &places, &p->added[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = body;
    return ERR_OK;
}
