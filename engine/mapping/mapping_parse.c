/* Definitions into nodes: objects with their properties, fields with their multi-fields, aliases. */
#include "common/base/path_join.h"
#include "common/base/sort_items.h"
#include "engine/mapping/java.h"
#include "engine/mapping/mapping_int.h"

#include <stdio.h>

struct node *node_new(struct builder *b, struct str name, const struct field_class *class)
{
    struct node *n = ARENA_NEW(b->arena, struct node);
    if (n != NULL) {
        n->f.name = name;
        n->f.class = class;
        n->f.number = FIELD_NO_NUMBER;
        n->f.enabled = true;
        n->def = json_mk_object();
        n->f.def = &n->def;
        map_init(&n->kids_by_name, b->arena);
    }
    return n;
}

struct node *node_kid(const struct node *n, struct str name)
{
    return map_get(&n->kids_by_name, name);
}

/* Where the kid is; n_kids: nowhere. One that was put into another tree since knows its place there, not here. */
static size_t place_of(const struct node *n, const struct node *kid)
{
    if (kid == NULL) {
        return n->n_kids;
    }
    if (kid->at < n->n_kids && n->kids[kid->at] == kid) {
        return kid->at;
    }
    size_t at = 0;
    while (at < n->n_kids && n->kids[at] != kid) {
        at++;
    }
    return at;
}

bool node_put_kid(struct builder *b, struct node *n, struct node *kid)
{
    size_t at = place_of(n, node_kid(n, kid->f.name));
    if (at < n->n_kids) {
        n->kids[at] = kid;
        kid->at = at;
        return map_put(&n->kids_by_name, kid->f.name, kid);
    }
    struct node **kids = arena_grow(b->arena, n->kids, n->n_kids, &n->kids_cap, sizeof(*kids));
    if (kids == NULL || !map_put(&n->kids_by_name, kid->f.name, kid)) {
        return false;
    }
    n->kids = kids;
    kid->at = n->n_kids;
    n->kids[n->n_kids++] = kid;
    return true;
}

/* ---- fields ---- */

static enum err parse_copy_to(struct builder *b, struct node *n, const struct json *v)
{
    const struct json *items = v->type == JSON_ARRAY ? v->items : v;
    uint32_t count = v->type == JSON_ARRAY ? v->n : 1;
    struct str *to = ARENA_ARRAY(b->arena, struct str, count);
    if (to == NULL) {
        return no_memory(b);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].type == JSON_NULL) {
            continue; /* found out only when the mapping is checked as a whole */
        }
        to[i] = java_text(&items[i], b->arena);
        if (to[i].p == NULL) {
            return no_memory(b);
        }
    }
    n->f.copy_to = to;
    n->f.n_copy_to = count;
    return ERR_OK;
}

static enum err parse_multi_field(struct builder *b, struct node *n, const struct json_member *m)
{
    if (str_find(m->key, '.', 0) != SIZE_MAX) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "Field name [%.*s] which is a multi field of [%.*s] cannot contain '.'",
                       STR_ARG(m->key), STR_ARG(n->f.name));
    }
    if (m->value.type != JSON_OBJECT) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "illegal field [%.*s], only fields can be specified inside fields", STR_ARG(m->key));
    }
    const struct json *type_node = json_get(&m->value, "type");
    if (type_node == NULL || type_node->type == JSON_NULL) {
        return err_set(b->em, ERR_MAPPER_PARSING, "no type specified for property [%.*s]", STR_ARG(m->key));
    }
    struct str type = java_text(type_node, b->arena);
    const struct field_class *class = field_class_named(type);
    if (class != NULL && (class->is_object || class->is_alias || class->alone)) {
        return err_set(b->em, ERR_MAPPER_PARSING, "Type [%.*s] cannot be used in multi field", STR_ARG(type));
    }
    if (class == NULL || class->params == NULL) {
        return err_set(b->em, ERR_MAPPER_PARSING, "no handler for type [%.*s] declared on field [%.*s]",
                       STR_ARG(type), STR_ARG(m->key));
    }
    struct node *sub;
    enum err e = node_parse_field(b, m->key, class, &m->value, &sub);
    if (e != ERR_OK) {
        return e;
    }
    sub->f.is_multi_field = true;
    return node_put_kid(b, n, sub) ? ERR_OK : no_memory(b);
}

static enum err parse_multi_fields(struct builder *b, struct node *n, const struct json *v)
{
    if (v->type == JSON_ARRAY && v->n == 0) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        struct str s = java_text(v, b->arena);
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "expected map for property [fields] on field [%.*s] or [fields] but got a class %s",
                       STR_ARG(s), java_class(v));
    }
    const struct json_member **order = java_order(v, b->arena);
    enum err e = order != NULL ? ERR_OK : no_memory(b);
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = parse_multi_field(b, n, order[i]);
    }
    return e;
}

/* Parameters that every field once took: still accepted, without effect, where the type does not have them.
 */
static bool is_obsolete_param(struct str name)
{
    static const char *const names[] = {"store", "meta",          "index",     "doc_values",
                                        "boost", "index_options", "similarity"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static enum err parse_field_param(struct builder *b, struct node *n, const struct json_member *m)
{
    if (str_is(m->key, "type")) {
        return ERR_OK;
    }
    if (str_is(m->key, "fields")) {
        return parse_multi_fields(b, n, &m->value);
    }
    if (str_is(m->key, "copy_to")) {
        return parse_copy_to(b, n, &m->value);
    }
    size_t i = param_find(n->f.class, m->key);
    if (i == SIZE_MAX) {
        return is_obsolete_param(m->key) || b->from_template
                   ? ERR_OK
                   : err_set(b->em, ERR_MAPPER_PARSING,
                             "unknown parameter [%.*s] on mapper [%.*s] of type [%s]", STR_ARG(m->key),
                             STR_ARG(n->f.name), n->f.class->name);
    }
    if (m->value.type == JSON_NULL && (n->f.class->params[i].flags & PARAM_NULL_OK) == 0) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "[%.*s] on mapper [%.*s] of type [%s] must not have a [null] value", STR_ARG(m->key),
                       STR_ARG(n->f.name), n->f.class->name);
    }
    return param_parse(b, n, i, &m->value);
}

/* All that is given beside the type of a field which takes nothing. */
static enum err refuse_params(struct builder *b, struct str name, const struct json_member **v, uint32_t n)
{
    struct buf list;
    buf_init(&list, b->arena->alloc, ERR_REASON_MAX);
    for (uint32_t i = 0; i < n; i++) {
        if (!str_is(v[i]->key, "type")) {
            struct str s = java_text(&v[i]->value, b->arena);
            buf_printf(&list, " [%.*s : %.*s]", STR_ARG(v[i]->key), STR_ARG(s));
        }
    }
    enum err e = list.n == 0 ? ERR_OK
                             : err_set(b->em, ERR_MAPPER_PARSING,
                                       "Mapping definition for [%.*s] has unsupported parameters: %.*s",
                                       STR_ARG(name), STR_ARG(buf_view(&list)));
    buf_fini(&list);
    return e;
}

enum err node_parse_field(struct builder *b, struct str name, const struct field_class *class,
                          const struct json *def, struct node **out)
{
    struct node *n = node_new(b, name, class);
    const struct json_member **order = java_order(def, b->arena);
    *out = n;
    if (n == NULL || order == NULL) {
        return no_memory(b);
    }
    params_init(b, n);
    if (class->alone) {
        return b->from_template ? ERR_OK : refuse_params(b, name, order, def->n);
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < def->n; i++) {
        e = parse_field_param(b, n, order[i]);
    }
    return e;
}

static enum err unsupported(struct builder *b, struct str name, const struct json_member *m)
{
    struct str s = java_text(&m->value, b->arena);
    return err_set(b->em, ERR_MAPPER_PARSING,
                   "Mapping definition for [%.*s] has unsupported parameters:  [%.*s : %.*s]", STR_ARG(name),
                   STR_ARG(m->key), STR_ARG(s));
}

static enum err parse_alias(struct builder *b, struct str name, const struct json *def, struct node **out)
{
    const struct json *path = json_get(def, "path");
    if (path == NULL || path->type == JSON_NULL) {
        return err_set(b->em, ERR_MAPPER_PARSING, "The [path] property must be specified for field [%.*s].",
                       STR_ARG(name));
    }
    struct node *n = node_new(b, name, &field_class_alias);
    *out = n;
    if (n == NULL || (n->alias_path = java_text(path, b->arena)).p == NULL) {
        return no_memory(b);
    }
    for (uint32_t i = 0; i < def->n; i++) {
        if (!str_is(def->members[i].key, "type") && !str_is(def->members[i].key, "path")) {
            return unsupported(b, name, &def->members[i]);
        }
    }
    return ERR_OK;
}

/* ---- objects ---- */

static enum err parse_dynamic(struct builder *b, struct node *n, const struct json *v)
{
    bool on = false;
    if (v->type == JSON_NULL) {
        return err_set(b->em, ERR_NULL_POINTER,
                       "Cannot invoke \"Object.toString()\" because \"fieldNode\" is null");
    }
    if (v->type == JSON_STRING && str_eq_nocase(v->s, STR("strict"))) {
        n->f.dynamic = DYNAMIC_STRICT;
        return ERR_OK;
    }
    if (v->type == JSON_STRING && str_eq_nocase(v->s, STR("runtime"))) {
        return err_set(
            b->em, ERR_ILLEGAL_ARGUMENT,
            "unable to set dynamic:runtime as there is no registered dynamic runtime fields builder");
    }
    enum err e = parse_named_bool(b, "dynamic.dynamic", v, &on);
    n->f.dynamic = on ? DYNAMIC_TRUE : DYNAMIC_FALSE;
    return e;
}

enum err node_parse_object_attribute(struct builder *b, struct node *n, struct str key, const struct json *v,
                                     bool *known)
{
    *known = true;
    if (str_is(key, "dynamic")) {
        return parse_dynamic(b, n, v);
    }
    if (str_is(key, "enabled")) {
        n->enabled_given = true;
        return parse_named_bool(b, "enabled.enabled", v, &n->f.enabled);
    }
    if (str_is(key, "properties")) {
        if (v->type == JSON_ARRAY && v->n == 0) {
            return ERR_OK;
        }
        return v->type == JSON_OBJECT ? node_parse_properties(b, n, v)
                                      : err_set(b->em, ERR_PARSE, "properties must be a map type");
    }
    *known = str_is(key, "include_in_all");
    return ERR_OK;
}

static enum err parse_nested_flag(struct builder *b, struct node *n, const struct json *def, const char *name,
                                  bool *out)
{
    const struct json *v = json_get(def, name);
    if (v == NULL || v->type == JSON_NULL) {
        return ERR_OK;
    }
    char where[260];
    snprintf(where, sizeof(where), "%.*s.%s", STR_ARG(n->f.name), name);
    bool on = false;
    enum err e = parse_named_bool(b, where, v, &on);
    *out = on && n->f.class->is_nested;
    return e;
}

static enum err parse_object(struct builder *b, struct str name, const struct field_class *class,
                             const struct json *def, struct node **out)
{
    struct node *n = node_new(b, name, class);
    const struct json_member **order = java_order(def, b->arena);
    *out = n;
    if (n == NULL || order == NULL) {
        return no_memory(b);
    }
    enum err e = parse_nested_flag(b, n, def, "include_in_parent", &n->f.include_in_parent);
    e = e == ERR_OK ? parse_nested_flag(b, n, def, "include_in_root", &n->f.include_in_root) : e;
    const struct json_member *unknown = NULL;
    for (uint32_t i = 0; e == ERR_OK && i < def->n; i++) {
        struct str key = order[i]->key;
        bool known = str_is(key, "type") || str_starts(key, STR("include_in_"));
        if (!known) {
            e = node_parse_object_attribute(b, n, key, &order[i]->value, &known);
        }
        unknown = !known && unknown == NULL ? order[i] : unknown;
    }
    return e == ERR_OK && unknown != NULL && !b->from_template ? unsupported(b, name, unknown) : e;
}

/* ---- properties ---- */

#define NAME_PARTS_MAX 64

/* Java's "a.b.".split("\\."): empty parts at the end vanish. */
static size_t split_name(struct str name, struct str parts[NAME_PARTS_MAX])
{
    size_t n = 0, kept = 0;
    struct str rest = name;
    while (rest.p != NULL && n < NAME_PARTS_MAX) {
        parts[n++] = str_cut(rest, '.', &rest);
        kept = parts[n - 1].n > 0 ? n : kept;
    }
    return name.n == 0 ? 1 : kept;
}

static enum err property_type(struct builder *b, const struct json_member *m, struct str *type)
{
    const struct json *v = json_get(&m->value, "type");
    if (v != NULL && v->type != JSON_NULL) {
        *type = java_text(v, b->arena);
        return type->p != NULL ? ERR_OK : no_memory(b);
    }
    *type = STR("object");
    const struct json *properties = json_get(&m->value, "properties"),
                      *enabled = json_get(&m->value, "enabled");
    bool has_properties = properties != NULL && properties->type != JSON_NULL;
    if (has_properties || (m->value.n == 1 && enabled != NULL && enabled->type != JSON_NULL)) {
        return ERR_OK;
    }
    return err_set(b->em, ERR_MAPPER_PARSING, "No type specified for field [%.*s]", STR_ARG(m->key));
}

enum err node_parse_typed(struct builder *b, struct str name, struct str type, const struct json *def,
                          struct str shown, struct node **out)
{
    const struct field_class *class = field_class_named(type);
    if (class != NULL && class->is_object) {
        return parse_object(b, name, class, def, out);
    }
    if (class != NULL && class->is_alias) {
        return parse_alias(b, name, def, out);
    }
    if (class == NULL || class->params == NULL) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       b->from_template ? "failed to find type parsed [%.*s] for [%.*s]"
                                        : "No handler for type [%.*s] declared on field [%.*s]",
                       STR_ARG(type), STR_ARG(shown));
    }
    return node_parse_field(b, name, class, def, out);
}

/* Puts it among the properties; one that is there already ("a.b" beside "a") is joined with it once all are read. */
static enum err add_property(struct builder *b, struct node *object, struct node *kid)
{
    struct node *old = node_kid(object, kid->f.name);
    if (old == NULL) {
        return node_put_kid(b, object, kid) ? ERR_OK : no_memory(b);
    }
    while (old->twin != NULL) {
        old = old->twin;
    }
    old->twin = kid;
    return ERR_OK;
}

static enum err parse_property(struct builder *b, struct node *object, const struct json_member *m)
{
    if (m->value.type == JSON_ARRAY && m->value.n == 0) {
        return ERR_OK;
    }
    if (m->value.type != JSON_OBJECT) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "Expected map for property [fields] on field [%.*s] but got a class java.lang.String",
                       STR_ARG(m->key));
    }
    struct str type, parts[NAME_PARTS_MAX];
    enum err e = property_type(b, m, &type);
    if (e != ERR_OK) {
        return e;
    }
    size_t n = split_name(m->key, parts);
    if (n == 0) {
        return err_set(b->em, ERR_ARRAY_BOUNDS, "Index -1 out of bounds for length 0");
    }
    struct node *kid;
    e = node_parse_typed(b, parts[n - 1], type, &m->value, m->key, &kid);
    for (size_t i = n - 1; e == ERR_OK && i-- > 0;) {
        struct node *outer = node_new(b, parts[i], &field_class_object);
        e = outer != NULL && node_put_kid(b, outer, kid) ? ERR_OK : no_memory(b);
        kid = outer;
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        if (parts[i].n == 0) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "name cannot be empty string");
        }
    }
    return e == ERR_OK ? add_property(b, object, kid) : e;
}

enum err node_parse_properties(struct builder *b, struct node *object, const struct json *properties)
{
    const struct json_member **order = java_order(properties, b->arena);
    enum err e = order != NULL ? ERR_OK : no_memory(b);
    for (uint32_t i = 0; e == ERR_OK && i < properties->n; i++) {
        e = parse_property(b, object, order[i]);
    }
    return e;
}

static bool is_object(const struct node *n)
{
    return n->f.class->is_object;
}

/* Two properties of one name become one. */
static enum err join(struct builder *b, struct node *old, struct node *kid, struct node **out)
{
    if (is_object(old) || !is_object(kid)) {
        return node_merge(b, old, kid, out);
    }
    return old->f.class->is_alias
               ? err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                         "Cannot merge a field alias mapping [%.*s] with a mapping that is not for a field "
                         "alias.",
                         STR_ARG(old->f.path))
               : err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                         "mapper [%.*s] cannot be changed from type [%s] to [ObjectMapper]",
                         STR_ARG(old->f.path), old->f.class->name);
}

static enum err build_at(struct builder *b, struct node *n, struct str parent)
{
    n->f.path = parent.n > 0 ? path_join(b->arena, parent, n->f.name) : n->f.name;
    enum err e = n->f.path.p == NULL          ? no_memory(b)
                 : n->f.class->params != NULL ? params_build(b, n)
                                              : ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < n->n_kids; i++) {
        struct node *kid = n->kids[i], *twin = kid->twin;
        e = build_at(b, kid, n->f.path);
        for (; e == ERR_OK && twin != NULL; twin = twin->twin) {
            e = build_at(b, twin, n->f.path);
            e = e == ERR_OK ? join(b, kid, twin, &kid) : e;
            e = e == ERR_OK && !node_put_kid(b, n, kid) ? no_memory(b) : e;
        }
    }
    return e;
}

enum err node_build(struct builder *b, struct node *n)
{
    return build_at(b, n, STR_NULL);
}

/* ---- paths and links ---- */

static int by_name(const void *x, const void *y)
{
    return str_cmp((*(struct node *const *)x)->f.name, (*(struct node *const *)y)->f.name);
}

enum err node_link(struct builder *b, struct node *n, const struct field *parent)
{
    bool of_object = is_object(n);
    n->f.path = n->f.name;
    if (parent != NULL && parent->path.n > 0) {
        n->f.path = path_join(b->arena, parent->path, n->f.name);
        if (n->f.path.p == NULL) {
            return no_memory(b);
        }
        n->f.name = str_slice(n->f.path, n->f.path.n - n->f.name.n, n->f.path.n);
    }
    n->f.parent = parent;
    n->f.nested = n->f.class->is_nested ? &n->f : parent != NULL ? parent->nested : NULL;
    const struct field **kids = ARENA_ARRAY(b->arena, const struct field *, n->n_kids);
    if (kids == NULL) {
        return no_memory(b);
    }
    sort_items(n->kids, n->n_kids, sizeof(*n->kids), by_name);
    for (size_t i = 0; i < n->n_kids; i++) {
        n->kids[i]->at = i;
        enum err e = node_link(b, n->kids[i], &n->f);
        if (e != ERR_OK) {
            return e;
        }
        if (!of_object) { /* a multi-field's enclosing object is that of its main field */
            n->kids[i]->f.parent = n->f.parent;
        }
        kids[i] = &n->kids[i]->f;
    }
    if (of_object) {
        n->f.children = kids;
        n->f.n_children = (uint32_t)n->n_kids;
    } else {
        n->f.multi_fields = kids;
        n->f.n_multi_fields = (uint32_t)n->n_kids;
    }
    return n->f.class->link != NULL ? n->f.class->link(b, n) : ERR_OK;
}
