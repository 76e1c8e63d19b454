/* `fields`: values of the source through the mapping. What is nested comes object by object, under its nested path. */
#include "engine/collect/value_format.h"
#include "engine/fetch/fetch.h"

#include "common/base/arena_list.h"
#include "common/base/java_hash.h"

struct shown_field {
    const struct field *name;  /* as asked for: may be an alias */
    const struct field *field; /* what it stands for */
    struct value_format format;
    struct str *paths; /* in the source */
    uint32_t n_paths;
};

/* ---- which fields ------------------------------------------------------------------------------------------------------------- */

static bool source_field_seen(const struct shown_field *v, uint32_t n, const struct field *f)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].name == f) {
            return true;
        }
    }
    return false;
}

static bool add_path(struct shown_field *s, size_t *cap, struct str path, struct arena *arena)
{
    for (uint32_t i = 0; i < s->n_paths; i++) {
        if (str_eq(s->paths[i], path)) {
            return true;
        }
    }
    s->paths = arena_grow(arena, s->paths, s->n_paths, cap, sizeof(*s->paths));
    if (s->paths != NULL) {
        s->paths[s->n_paths++] = path;
    }
    return s->paths != NULL;
}

/* Its own path, its parent's for a multi-field, and those that are copied to it. */
static bool find_paths(struct shown_field *s, const struct mapping *m, struct arena *arena)
{
    const struct field *f = s->field;
    size_t cap = 0;
    struct str own = f->is_multi_field ? str_slice(f->path, 0, f->path.n - f->name.n - 1) : f->path;
    if (!add_path(s, &cap, own, arena)) {
        return false;
    }
    for (uint32_t i = 0; i < mapping_field_count(m); i++) {
        const struct field *other = mapping_field_at(m, i);
        for (uint32_t k = 0; k < other->n_copy_to; k++) {
            if (str_eq(other->copy_to[k], own) && !add_path(s, &cap, other->path, arena)) {
                return false;
            }
        }
    }
    java_set_order(s->paths, s->n_paths);
    return true;
}

/* A field named by several patterns is shown once, as the last of them says. */
enum err fetch_source_fields_prepare(struct fetch *f)
{
    struct shown_field *v = NULL;
    size_t cap = 0;
    uint32_t n = 0;
    for (uint32_t i = f->source->n_fields; i-- > 0;) {
        const struct field **fields;
        size_t n_fields;
        if (!mapping_match(f->shard->view->mapping, f->source->fields[i].field, f->arena, &fields,
                           &n_fields)) {
            return err_no_memory(f->em);
        }
        for (size_t k = 0; k < n_fields; k++) {
            struct shown_field s = {.name = fields[k],
                                    .field = fields[k]->class->is_alias ? fields[k]->alias_of : fields[k]};
            if (s.field->class->is_metadata) {
                continue;
            }
            enum err e =
                s.field->class->refuse_fetch != NULL ? s.field->class->refuse_fetch(s.field, f->em) : ERR_OK;
            e = e == ERR_OK
                    ? source_format_new(&s.format, s.field, f->source->fields[i].format, f->arena, f->em)
                    : e;
            if (e != ERR_OK) {
                return e;
            }
            if (source_field_seen(v, n, s.name)) {
                continue;
            }
            v = arena_grow(f->arena, v, n, &cap, sizeof(*v));
            if (v == NULL || !find_paths(&s, f->shard->view->mapping, f->arena)) {
                return err_no_memory(f->em);
            }
            v[n++] = s;
        }
    }
    f->shown = v;
    f->n_shown = n;
    return ERR_OK;
}

/* ---- one field ------------------------------------------------------------------------------------------------------------------ */

struct scope {
    struct fetch *f;
    struct fetch_hit *h;
    const struct json *tree;    /* the object that stands at the nested path */
    const struct field *nested; /* NULL: the whole source */
};

/* A path as seen from the scope; n == 0: it is not inside. */
static struct str relative(const struct scope *s, struct str path)
{
    if (s->nested == NULL) {
        return path;
    }
    size_t n = s->nested->path.n;
    return path.n > n && str_starts(path, s->nested->path) && path.p[n] == '.'
               ? str_slice(path, n + 1, path.n)
               : STR("");
}

/* Points are arrays and objects themselves: what stands at the path is read as it is, through arrays of objects. */
static void write_points(const struct value_format *vf, const struct json *at, struct str path,
                         struct arena *arena, struct jsonw *w)
{
    if (path.n == 0) {
        source_value_write(vf, at, arena, w);
        return;
    }
    if (at->type == JSON_ARRAY) {
        for (uint32_t i = 0; i < at->n; i++) {
            write_points(vf, &at->items[i], path, arena, w);
        }
        return;
    }
    for (uint32_t i = 0; at->type == JSON_OBJECT && i < at->n; i++) {
        struct str key = at->members[i].key;
        bool whole = str_eq(path, key);
        if (whole || (str_starts(path, key) && path.p[key.n] == '.')) {
            write_points(vf, &at->members[i].value, whole ? STR("") : str_slice(path, key.n + 1, path.n),
                         arena, w);
        }
    }
}

/* What stands at a path as XContentMapValues.extractValue() finds it: lists of what their elements have, the first of the
 * ways to read dots that leads to something, `null_value` for null. NULL: nothing, or no memory (*ok false). */
static const struct json *extract(const struct json *v, struct str path, const struct json *null_value,
                                  struct arena *arena, bool *ok)
{
    if (v->type == JSON_ARRAY) {
        struct json *list = ARENA_NEW(arena, struct json), *items = ARENA_ARRAY(arena, struct json, v->n);
        if (list == NULL || items == NULL) {
            *ok = false;
            return NULL;
        }
        *list = (struct json){.type = JSON_ARRAY, .items = items};
        for (uint32_t i = 0; i < v->n; i++) {
            const struct json *one = extract(&v->items[i], path, null_value, arena, ok);
            if (one != NULL) {
                items[list->n++] = *one;
            }
        }
        return list;
    }
    if (path.n == 0) {
        return v->type != JSON_NULL ? v : null_value;
    }
    for (size_t dot = 0; v->type == JSON_OBJECT && dot != SIZE_MAX;) {
        dot = str_find(path, '.', dot);
        struct str key = str_slice(path, 0, dot == SIZE_MAX ? path.n : dot);
        const struct json *at = json_get_str(v, key);
        if (at != NULL && at->type == JSON_NULL) {
            return null_value;
        }
        dot = dot == SIZE_MAX ? dot : dot + 1;
        const struct json *found = at == NULL
                                       ? NULL
                                       : extract(at, dot == SIZE_MAX ? STR("") : str_slice(path, dot, path.n),
                                                 null_value, arena, ok);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

/* Lists within lists are unpacked level by level. */
static bool write_unpacked(const struct value_format *vf, const struct json *v, struct arena *arena,
                           struct jsonw *w)
{
    const struct json **queue = NULL;
    size_t n = 0, cap = 0;
    if (!ARENA_ADD(arena, queue, n, cap, v)) {
        return false;
    }
    for (size_t at = 0; at < n; at++) {
        const struct json *one = queue[at];
        if (one->type != JSON_ARRAY) {
            source_value_write(vf, one, arena, w);
            continue;
        }
        for (uint32_t i = 0; i < one->n; i++) {
            if (!ARENA_ADD(arena, queue, n, cap, &one->items[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool write_path(const struct scope *s, const struct value_format *vf, struct str path, struct jsonw *w)
{
    bool ok = true;
    path = relative(s, path);
    if (path.n == 0) {
        return true;
    }
    if (field_is_point(vf->field)) {
        write_points(vf, s->tree, path, s->h->arena, w);
        return true;
    }
    const struct json *v = extract(s->tree, path, vf->field->null_value, s->h->arena, &ok);
    return ok && (v == NULL || write_unpacked(vf, v, s->h->arena, w));
}

/* Counts of tokens are not in the source: the column has them. */
static void write_counts(const struct scope *s, const struct shown_field *shown, struct jsonw *w)
{
    const struct field *field = shown->field;
    struct num_column c;
    uint64_t first;
    if (s->h->root != NULL || !field->doc_values) {
        return;
    }
    num_column_init(&c, segment_field(s->h->leaf->segment, field->path));
    uint32_t n = num_column_seek(&c, s->h->doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        value_write_num(&shown->format, num_column_value(&c, first + i), w);
    }
}

static bool write_values(const struct scope *s, const struct shown_field *shown, struct jsonw *w)
{
    bool ok = true;
    if (shown->field->class->is_derived) {
        write_counts(s, shown, w);
        return true;
    }
    for (uint32_t i = 0; ok && i < shown->n_paths; i++) {
        ok = write_path(s, &shown->format, shown->paths[i], w);
    }
    return ok;
}

/* ---- a scope, and the nested objects in it ------------------------------------------------------------------------------------ */

static enum err write_scope(const struct scope *s, struct jsonw *w);

/* Writes "name":[...] of what `each` writes; nothing when that is nothing. */
struct member {
    struct buf b;
    struct jsonw w;
};

static void member_begin(struct member *m)
{
    buf_init(&m->b, NULL, BUF_UNLIMITED);
    jsonw_init(&m->w, &m->b, false);
    jw_arr(&m->w);
}

static enum err member_end(struct member *m, bool ok, struct str name, struct jsonw *w, struct errmsg *em)
{
    jw_arr_end(&m->w);
    if (m->b.n > 2) {
        jw_key(w, name);
        jw_raw(w, buf_view(&m->b));
    }
    ok = ok && !m->b.failed;
    buf_fini(&m->b);
    return ok ? ERR_OK : err_no_memory(em);
}

/* Each object at `path` below v (arrays looked through) as {"field":[values] ...}; those without values are left out. */
static enum err write_objects(const struct scope *s, const struct field *nested, const struct json *v,
                              struct str path, struct jsonw *w)
{
    enum err e = ERR_OK;
    if (v->type == JSON_ARRAY) {
        for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
            e = write_objects(s, nested, &v->items[i], path, w);
        }
        return e;
    }
    if (path.n > 0) {
        for (uint32_t i = 0; e == ERR_OK && v->type == JSON_OBJECT && i < v->n; i++) {
            struct str key = v->members[i].key;
            bool whole = str_eq(path, key);
            if (whole || (str_starts(path, key) && path.p[key.n] == '.')) {
                e = write_objects(s, nested, &v->members[i].value,
                                  whole ? STR("") : str_slice(path, key.n + 1, path.n), w);
            }
        }
        return e;
    }
    if (v->type != JSON_OBJECT) {
        return ERR_OK;
    }
    struct buf b;
    struct jsonw inner;
    struct scope below = {s->f, s->h, v, nested};
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&inner, &b, false);
    jw_obj(&inner);
    e = write_scope(&below, &inner);
    jw_obj_end(&inner);
    if (e == ERR_OK && b.n > 2) {
        jw_raw(w, buf_view(&b));
    }
    e = e == ERR_OK && b.failed ? err_no_memory(s->f->em) : e;
    buf_fini(&b);
    return e;
}

/* The nested object directly inside the scope that a field is of; NULL: the field is not of one. */
static const struct field *nested_inside(const struct scope *s, const struct field *field)
{
    const struct field *at = field->nested, *below = NULL;
    while (at != NULL && at != s->nested) {
        below = at;
        at = at->parent != NULL ? at->parent->nested : NULL;
    }
    return at == s->nested ? below : NULL;
}

static bool nested_before(const struct scope *s, uint32_t i, const struct field *nested)
{
    for (uint32_t k = 0; k < i; k++) {
        if (nested_inside(s, s->f->shown[k].field) == nested) {
            return true;
        }
    }
    return false;
}

static enum err write_scope(const struct scope *s, struct jsonw *w)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->f->n_shown; i++) {
        const struct shown_field *shown = &s->f->shown[i];
        const struct field *nested = nested_inside(s, shown->field);
        struct member m;
        if (nested != NULL && !nested_before(s, i, nested)) {
            member_begin(&m);
            e = write_objects(s, nested, s->tree, relative(s, nested->path), &m.w);
            enum err end = member_end(&m, true, relative(s, nested->path), w, s->f->em);
            e = e == ERR_OK ? end : e;
        } else if (nested == NULL && shown->field->nested == s->nested) {
            member_begin(&m);
            bool ok = write_values(s, shown, &m.w);
            struct str name = relative(s, shown->name->path);
            e = member_end(&m, ok, name.n > 0 ? name : shown->name->path, w, s->f->em);
        }
    }
    return e;
}

enum err fetch_source_fields(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    struct scope s = {f, h, f->n_shown > 0 ? fetch_source_tree(f, h) : NULL, NULL};
    return s.tree != NULL ? write_scope(&s, w) : ERR_OK;
}
