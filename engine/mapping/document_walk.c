/* Walking a document's tree by the mapping: objects, arrays, names with dots, copies, what is not mapped. */
#include "common/base/arena_list.h"
#include "common/base/java_hash.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/java.h"

/* ---- small parts ---- */

struct doc_value *doc_add(struct doc_parser *p, const struct field *f, enum doc_value_kind kind)
{
    struct part_build *part = p->part;
    struct doc_value *v = arena_grow(p->arena, part->v, part->n, &part->cap, sizeof(*v));
    if (v == NULL) {
        return NULL;
    }
    part->v = v;
    v += part->n++;
    *v = (struct doc_value){
        .field = f, .kind = kind, .to_index = f->index, .to_column = f->doc_values, .to_store = f->store};
    return v;
}

bool doc_ignore(struct doc_parser *p, const struct field *f)
{
    for (size_t i = 0; i < p->n_ignored; i++) {
        if (str_eq(p->ignored[i], f->path)) {
            return true;
        }
    }
    return ARENA_ADD(p->arena, p->ignored, p->n_ignored, p->ignored_cap, f->path);
}

enum err doc_broken(struct doc_parser *p)
{
    if (p->em != NULL) {
        err_copy(p->em, p->broken);
    }
    return err_code(p->broken);
}

enum err doc_text(struct doc_parser *p, const struct json *v, struct str *out)
{
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        uint32_t line, col;
        json_place(p->text, v->off, &line, &col);
        return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_name(v), line,
                       col);
    }
    *out = json_text(v);
    if (v->type != JSON_NULL && out->p == NULL) {
        out->p = "";
    }
    return ERR_OK;
}

/* ---- fields ---- */

static struct str preview_of(struct doc_parser *p, const struct field *f, const struct json *v)
{
    bool fraction = field_is_fraction(f);
    int64_t i;
    if (json_is_broken(v)) {
        return STR("");
    }
    if (fraction && json_is_integral(v) && !json_i64(v, &i)) { /* read as a fraction, it has no text */
        return STR("null");
    }
    struct json shown = java_ordered(v, p->arena);
    return str_slice(java_text(&shown, p->arena), 0, ERR_REASON_BYTES / 2);
}

static enum err wrap_field(struct doc_parser *p, const struct field *f, const struct json *v, enum err e)
{
    if (e == ERR_NO_MEMORY) {
        return e;
    }
    struct str preview = preview_of(p, f, p->mistaken != NULL ? p->mistaken : v);
    p->mistaken = NULL;
    return err_wrap(p->em, ERR_MAPPER_PARSING,
                    "failed to parse field [%.*s] of type [%s] in document with id '%.*s'. Preview of "
                    "field's value: '%.*s'",
                    STR_ARG(f->path), field_shown_type(f), STR_ARG(p->in->id), STR_ARG(preview));
}

enum err doc_parse_field(struct doc_parser *p, const struct field *f, const struct json *v)
{
    if (f->class->takes_whole) {
        return f->class->value(p, f, v);
    }
    enum err e;
    if (json_is_broken(v)) {
        e = doc_broken(p);
        return v->b ? wrap_field(p, f, v, e) : e;
    }
    e = f->class->value(p, f, v);
    if (e != ERR_OK) {
        return wrap_field(p, f, v, e);
    }
    for (uint32_t i = 0; e == ERR_OK && i < f->n_multi_fields; i++) {
        e = doc_parse_field(p, f->multi_fields[i], v);
    }
    return e;
}

/* The part to which a path belongs: the innermost around the current one whose object encloses it. */
static struct part_build *part_of_path(struct doc_parser *p, struct str path)
{
    struct part_build *part = p->part;
    for (; part->parent != NULL; part = part->parent) {
        struct str prefix = part->nested->path;
        if (path.n > prefix.n && path.p[prefix.n] == '.' && str_starts(path, prefix)) {
            break;
        }
    }
    return part;
}

#define NAME_PARTS_MAX 256

static enum err split_name(struct doc_parser *p, struct str name, struct str parts[NAME_PARTS_MAX],
                           size_t *n);

static enum err copy_to(struct doc_parser *p, struct str path, const struct json *v)
{
    const struct field *to = mapping_field_raw(p->m, path);
    if (to != NULL && to->class->is_alias) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Cannot copy to a field alias [%.*s].", STR_ARG(path));
    }
    if (to != NULL) {
        return doc_parse_field(p, to, v);
    }
    struct str names[NAME_PARTS_MAX];
    size_t n = 0;
    bool stopped = false;
    const struct field *parent = NULL;
    enum err e = split_name(p, path, names, &n);
    e = e == ERR_OK ? doc_dynamic_parent(p, mapping_root(p->m), names, n, &parent, &stopped) : e;
    return e == ERR_OK ? doc_dynamic_scalar(p, parent, names[n - 1], v) : e;
}

static enum err copy_field(struct doc_parser *p, const struct field *f, const struct json *v)
{
    enum err e = ERR_OK;
    struct part_build *own = p->part;
    p->in_copy = true;
    for (uint32_t i = 0; e == ERR_OK && i < f->n_copy_to; i++) {
        p->part = part_of_path(p, f->copy_to[i]);
        e = copy_to(p, f->copy_to[i], v);
        p->part = own;
    }
    p->in_copy = false;
    return e;
}

static enum err parse_metadata(struct doc_parser *p, const struct field *f, const struct json *v)
{
    enum err e;
    if (json_is_broken(v)) {
        e = doc_broken(p);
    } else if (f->class->value != NULL) {
        e = f->class->value(p, f, v);
    } else {
        e = err_set(p->em, ERR_MAPPER_PARSING,
                    "Field [%.*s] is a metadata field and cannot be added inside a document. Use the index "
                    "API request "
                    "parameters.",
                    STR_ARG(f->path));
    }
    return e == ERR_OK ? e : wrap_field(p, f, v, e);
}

/* ---- objects ---- */

static enum err copy_values(struct doc_parser *p, const struct part_build *from, struct part_build *to)
{
    struct part_build *own = p->part;
    p->part = to;
    for (size_t i = 0; i < from->n; i++) {
        const struct field *f = from->v[i].field;
        bool again = false;
        enum err e = f->class->is_vector ? doc_take_name(p, f->path, &again) : ERR_OK;
        struct doc_value *v = e == ERR_OK ? doc_add(p, f, from->v[i].kind) : NULL;
        if (v == NULL) {
            return err_no_memory(p->em);
        }
        if (again) {
            return err_set(
                p->em, ERR_ILLEGAL_ARGUMENT,
                "DocValuesField \"%.*s\" appears more than once in this document (only one value is "
                "allowed per field)",
                STR_ARG(f->path));
        }
        *v = from->v[i];
    }
    p->part = own;
    return ERR_OK;
}

static enum err end_nested(struct doc_parser *p, const struct field *f, const struct part_build *part)
{
    struct part_build *root = part->parent;
    while (root->parent != NULL) {
        root = root->parent;
    }
    enum err e = ERR_OK;
    if (f->include_in_parent) {
        e = copy_values(p, part, part->parent);
    }
    if (e == ERR_OK && f->include_in_root && (!f->include_in_parent || part->parent != root)) {
        e = copy_values(p, part, root);
    }
    if (!ARENA_ADD(p->arena, p->parts, p->n_parts, p->parts_cap,
                   (struct doc_part){part->v, part->n, part->nested})) {
        return err_no_memory(p->em);
    }
    return e;
}

static enum err parse_nested(struct doc_parser *p, const struct field *f, const struct json *v)
{
    if (++p->n_nested > p->m->limits.nested_objects) {
        return err_set(p->em, ERR_MAPPER_PARSING,
                       "The number of nested documents has exceeded the allowed limit of [%lld]. This limit "
                       "can be set by "
                       "changing the [index.mapping.nested_objects.limit] index level setting.",
                       (long long)p->m->limits.nested_objects);
    }
    struct part_build part = {.nested = f, .parent = p->part};
    p->part = &part;
    enum err e = doc_parse_members(p, f, v);
    e = e == ERR_OK ? end_nested(p, f, &part) : e;
    p->part = part.parent;
    return e;
}

/* `name` is what the document calls it. */
static enum err parse_object(struct doc_parser *p, const struct field *f, const struct json *v,
                             struct str name)
{
    if (!f->enabled) {
        return ERR_OK;
    }
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        return err_set(
            p->em, ERR_MAPPER_PARSING,
            "object mapping for [%.*s] tried to parse field [%.*s] as object, but found a concrete value",
            STR_ARG(f->path), STR_ARG(name));
    }
    return f->class->is_nested ? parse_nested(p, f, v) : doc_parse_members(p, f, v);
}

enum err doc_parse_object_or_field(struct doc_parser *p, const struct field *f, const struct json *v,
                                   bool in_array)
{
    if (f->class->is_object) {
        return parse_object(p, f, v, in_array ? STR("null") : f->name);
    }
    if (f->class->is_alias) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Cannot write to a field alias [%.*s].",
                       STR_ARG(f->path));
    }
    if (f->class->is_metadata) {
        return parse_metadata(p, f, v);
    }
    if (f->class->skips_objects && v->type == JSON_OBJECT && !in_array && !f->store && !f->doc_values) {
        /* Elasticsearch steps into what it does not keep, and takes its end for the end of the document. */
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Malformed content, found extra data after parsing: END_OBJECT");
    }
    p->in_array = in_array;
    enum err e = doc_parse_field(p, f, v);
    return e == ERR_OK && f->n_copy_to > 0 && !p->in_copy ? copy_field(p, f, v) : e;
}

/* ---- names ---- */

static bool is_blank(struct str s)
{
    return str_trim(s).n == 0;
}

/* Java's "a.b.".split("\\."): empty parts at the end vanish. *n may be 0, for "." alone. */
static enum err split_name(struct doc_parser *p, struct str name, struct str parts[NAME_PARTS_MAX], size_t *n)
{
    struct str rest = name;
    size_t kept = 0, all = 0;
    if (name.n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "field name cannot be an empty string");
    }
    while (rest.p != NULL) {
        if (all == NAME_PARTS_MAX) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "a field name of more than %d parts", NAME_PARTS_MAX);
        }
        parts[all++] = str_cut(rest, '.', &rest);
        kept = parts[all - 1].n > 0 ? all : kept;
    }
    for (size_t i = 0; i < kept && all > 1; i++) {
        if (is_blank(parts[i])) {
            return parts[i].n > 0
                       ? err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                 "object field cannot contain only whitespace: ['%.*s']", STR_ARG(name))
                       : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                 "object field starting or ending with a [.] makes object resolution "
                                 "ambiguous: [%.*s]",
                                 STR_ARG(name));
        }
    }
    *n = kept;
    return kept > 0 ? ERR_OK : err_set(p->em, ERR_ARRAY_BOUNDS, "Index -1 out of bounds for length 0");
}

static bool runs_into_disabled(const struct doc_parser *p, const struct field *object,
                               const struct str *names, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        object = mapping_child(p->m, object, names[i]);
        if (object == NULL || !object->class->is_object) {
            return false;
        }
        if (!object->enabled) {
            return true;
        }
    }
    return false;
}

/* The field that a name means within an object; *out NULL: it is not mapped. */
static enum err find_field(struct doc_parser *p, const struct field *object, const struct str *names,
                           size_t n, const struct field **out)
{
    for (size_t i = 0; i + 1 < n; i++) {
        object = mapping_child(p->m, object, names[i]);
        if (object == NULL || !object->class->is_object) {
            *out = NULL;
            return ERR_OK;
        }
        if (object->class->is_nested) {
            *out = NULL;
            return err_set(p->em, ERR_MAPPER_PARSING,
                           "Cannot add a value for field [%.*s] since one of the intermediate objects is "
                           "mapped as a nested "
                           "object: [%.*s]",
                           STR_ARG(names[n - 1]), STR_ARG(object->path));
        }
    }
    *out = mapping_child(p->m, object, names[n - 1]);
    return ERR_OK;
}

/* ---- values ---- */

static enum err parse_items(struct doc_parser *p, const struct field *object, struct str *names, size_t n,
                            const struct json *v)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = doc_parse_value(p, object, names, n, &v->items[i], true);
    }
    return e;
}

enum err doc_strict(struct doc_parser *p, const struct field *object, struct str name)
{
    return err_set(p->em, ERR_STRICT_DYNAMIC,
                   "mapping set to strict, dynamic introduction of [%.*s] within [%.*s] is not allowed",
                   STR_ARG(name), STR_ARG(object->path.n > 0 ? object->path : STR("_doc")));
}

static enum err parse_unmapped_array(struct doc_parser *p, const struct field *parent, struct str name,
                                     const struct json *v)
{
    const struct field *whole = NULL;
    enum err e = doc_dynamic_array(p, parent, name, &whole);
    if (e != ERR_OK) {
        return e;
    }
    return whole != NULL ? doc_parse_object_or_field(p, whole, v, false)
                         : parse_items(p, parent, &name, 1, v);
}

static enum err parse_unmapped(struct doc_parser *p, const struct field *object, struct str *names, size_t n,
                               const struct json *v)
{
    const struct field *parent, *made;
    bool stopped = false;
    enum err e = doc_dynamic_parent(p, object, names, n, &parent, &stopped);
    if (e != ERR_OK) {
        return e;
    }
    struct str name = names[n - 1];
    enum dynamic_mode mode = doc_dynamic(p, parent);
    if (mode == DYNAMIC_STRICT) {
        return doc_strict(p, parent, name);
    }
    if (v->type == JSON_ARRAY) {
        return mode == DYNAMIC_FALSE ? parse_items(p, parent, &name, 1, v)
                                     : parse_unmapped_array(p, parent, name, v);
    }
    if (mode == DYNAMIC_FALSE) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        return doc_dynamic_scalar(p, parent, name, v);
    }
    e = doc_dynamic_object(p, parent, name, &made);
    return e == ERR_OK ? doc_parse_object_or_field(p, made, v, false) : e;
}

enum err doc_parse_value(struct doc_parser *p, const struct field *object, struct str *names, size_t n,
                         const struct json *v, bool in_array)
{
    const struct field *f;
    enum err e = find_field(p, object, names, n, &f);
    if (e != ERR_OK) {
        return e;
    }
    if (f != NULL && v->type == JSON_ARRAY && !f->class->takes_array) {
        return parse_items(p, object, names, n, v);
    }
    if (f != NULL && n > 1 && !in_array && f->class->is_object) { /* by its path: the parts lie in one text */
        const char *end = names[n - 1].p + names[n - 1].n;
        return parse_object(p, f, v, (struct str){names[0].p, (size_t)(end - names[0].p)});
    }
    if (f != NULL) {
        return doc_parse_object_or_field(p, f, v, in_array);
    }
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type == JSON_NULL) { /* only what the object itself says counts here */
        return object->dynamic == DYNAMIC_STRICT ? doc_strict(p, object, names[n - 1]) : ERR_OK;
    }
    return parse_unmapped(p, object, names, n, v);
}

static enum err parse_dotted(struct doc_parser *p, const struct field *object, const struct json_member *m)
{
    struct str names[NAME_PARTS_MAX];
    size_t n;
    enum err e = split_name(p, m->key, names, &n);
    if (e != ERR_OK || runs_into_disabled(p, object, names, n)) {
        return e;
    }
    return doc_parse_value(p, object, names, n, &m->value, false);
}

enum err doc_parse_members(struct doc_parser *p, const struct field *object, const struct json *v)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        struct json_member *m = &v->members[i];
        if (m->key.p == NULL && json_is_broken(&m->value)) {
            return doc_broken(p);
        }
        if (m->key.n == 0 || memchr(m->key.p, '.', m->key.n) != NULL) {
            e = parse_dotted(p, object, m);
        } else {
            struct str name = m->key;
            e = doc_parse_value(p, object, &name, 1, &m->value, false);
        }
    }
    return e;
}
