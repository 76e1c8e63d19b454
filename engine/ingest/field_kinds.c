/* Processors that set, move and take away fields: set, append, remove, rename, dot_expander. */
#include "engine/ingest/processor_list.h"

/* ---- set, append --------------------------------------------------------------------------------------- */

struct set_own {
    struct snippet field;
    struct value_source value;
    bool override, ignore_empty, duplicates;
};

static enum err read_set(struct config *c, void *own)
{
    struct set_own *o = own;
    const struct json *v;
    struct str field;
    enum err e = config_str(c, "field", &field);
    e = e == ERR_OK ? config_any(c, "value", &v) : e;
    e = e == ERR_OK ? config_bool(c, "override", true, &o->override) : e;
    e = e == ERR_OK ? snippet_read(c, "field", field, STR_NULL, &o->field) : e;
    e = e == ERR_OK ? config_bool(c, "ignore_empty_value", false, &o->ignore_empty) : e;
    return e == ERR_OK ? value_source_read(c, "value", v, STR_NULL, &o->value) : e;
}

/* May the field be set, as it is now? */
static enum err may_set(const struct set_own *o, struct ingest_doc *d, struct str path, bool *out,
                        struct errmsg *em)
{
    struct json *v;
    *out = true;
    enum err e = o->override ? ERR_OK : ingest_has(d, path, true, out, em);
    if (e != ERR_OK || o->override || !*out) {
        *out = true;
        return e;
    }
    e = ingest_get(d, path, &v, em);
    *out = e == ERR_OK && v->type == JSON_NULL;
    return e;
}

static enum err run_set(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct set_own *o = own;
    struct str path;
    struct json v;
    bool may = false;
    enum err e = snippet_text(&o->field, d, &path, em);
    e = e == ERR_OK ? may_set(o, d, path, &may, em) : e;
    if (e != ERR_OK || !may) {
        return e;
    }
    e = value_source_make(&o->value, d, &v, em);
    if (e != ERR_OK || (o->ignore_empty && o->value.text.t != NULL && v.s.n == 0)) { /* of a snippet */
        return e;
    }
    return ingest_put(d, path, &v, em);
}

const struct processor_row processor_set = {"set", sizeof(struct set_own), read_set, run_set};

static enum err read_append(struct config *c, void *own)
{
    struct set_own *o = own;
    const struct json *v;
    struct str field;
    enum err e = config_str(c, "field", &field);
    e = e == ERR_OK ? config_any(c, "value", &v) : e;
    e = e == ERR_OK ? config_bool(c, "allow_duplicates", true, &o->duplicates) : e;
    e = e == ERR_OK ? snippet_read(c, "field", field, STR_NULL, &o->field) : e;
    return e == ERR_OK ? value_source_read(c, "value", v, STR_NULL, &o->value) : e;
}

static enum err run_append(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct set_own *o = own;
    struct str path;
    struct json v;
    enum err e = snippet_text(&o->field, d, &path, em);
    e = e == ERR_OK ? value_source_make(&o->value, d, &v, em) : e;
    return e == ERR_OK ? ingest_append(d, path, &v, o->duplicates, em) : e;
}

const struct processor_row processor_append = {"append", sizeof(struct set_own), read_append, run_append};

/* ---- remove -------------------------------------------------------------------------------------------- */

struct remove_own {
    struct snippet *fields;
    uint32_t n;
    bool ignore_missing;
};

static enum err read_remove(struct config *c, void *own)
{
    struct remove_own *o = own;
    const struct json *v;
    enum err e = config_any(c, "field", &v);
    if (e != ERR_OK) {
        return e;
    }
    o->n = v->type == JSON_ARRAY ? v->n : 1;
    o->fields = ARENA_ARRAY(c->arena, struct snippet, o->n);
    for (uint32_t i = 0; o->fields != NULL && e == ERR_OK && i < o->n; i++) {
        const struct json *one = v->type == JSON_ARRAY ? &v->items[i] : v;
        if (one->type != JSON_STRING) {
            const char *class = ingest_class(one);
            return err_set(
                c->em, ERR_CLASS_CAST,
                "class %s cannot be cast to class java.lang.String (%s and java.lang.String are in "
                "module java.base of loader 'bootstrap')",
                class, class);
        }
        struct str text = arena_str(c->arena, one->s);
        e = text.p != NULL ? snippet_read(c, "field", text, STR_NULL, &o->fields[i]) : err_no_memory(c->em);
    }
    if (o->fields == NULL) {
        return err_no_memory(c->em);
    }
    return e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
}

static enum err run_remove(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct remove_own *o = own;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < o->n; i++) {
        struct str path;
        bool there = true;
        e = snippet_text(&o->fields[i], d, &path, em);
        if (e == ERR_OK && o->ignore_missing) {
            e = ingest_has(d, path, false, &there, em);
        }
        e = e == ERR_OK && there ? ingest_remove(d, path, em) : e;
    }
    return e;
}

const struct processor_row processor_remove = {"remove", sizeof(struct remove_own), read_remove, run_remove};

/* ---- rename -------------------------------------------------------------------------------------------- */

struct rename_own {
    struct snippet field, target;
    bool ignore_missing;
};

static enum err read_rename(struct config *c, void *own)
{
    struct rename_own *o = own;
    enum err e = config_snippet(c, "field", &o->field);
    e = e == ERR_OK ? config_snippet(c, "target_field", &o->target) : e;
    return e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
}

static enum err rename_to(struct ingest_doc *d, struct str path, struct str target, struct errmsg *em)
{
    struct json *at, value;
    bool there;
    enum err e = ingest_has(d, target, true, &there, em);
    if (e == ERR_OK && there) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] already exists", STR_ARG(target));
    }
    e = e == ERR_OK ? ingest_get(d, path, &at, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    value = *at;
    e = ingest_remove(d, path, em);
    e = e == ERR_OK ? ingest_put(d, target, &value, em) : e;
    if (e != ERR_OK) { /* it stays where it was */
        ERR_LOCAL(unsaid);
        (void)(ingest_put(d, path, &value, &unsaid) == ERR_OK);
    }
    return e;
}

static enum err run_rename(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct rename_own *o = own;
    struct str path, target;
    bool there = false;
    enum err e = snippet_text(&o->field, d, &path, em);
    e = e == ERR_OK ? ingest_has(d, path, true, &there, em) : e;
    if (e != ERR_OK || there) {
        e = e == ERR_OK ? snippet_text(&o->target, d, &target, em) : e;
        return e == ERR_OK ? rename_to(d, path, target, em) : e;
    }
    return o->ignore_missing ? ERR_OK
                             : err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] doesn't exist", STR_ARG(path));
}

const struct processor_row processor_rename = {"rename", sizeof(struct rename_own), read_rename, run_rename};

/* ---- dot_expander -------------------------------------------------------------------------------------- */

struct dots_own {
    struct str field, path;
};

static enum err read_dots(struct config *c, void *own)
{
    struct dots_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    if (e != ERR_OK) {
        return e;
    }
    if (str_find(o->field, '.', 0) == SIZE_MAX) {
        return config_fail(c, "field", "field does not contain a dot");
    }
    if (o->field.p[0] == '.' || o->field.p[o->field.n - 1] == '.') {
        return config_fail(c, "field", "Field can't start or end with a dot");
    }
    size_t first = str_find_str(o->field, STR(".."));
    if (first != SIZE_MAX) {
        return config_fail(c, "field", "No space between dots");
    }
    return config_str_maybe(c, "path", &o->path);
}

/* The object whose member is expanded; NULL: there is null. */
static enum err dots_object(const struct dots_own *o, struct ingest_doc *d, struct json **out,
                            struct errmsg *em)
{
    *out = &d->root;
    return o->path.p != NULL ? ingest_get_as(d, o->path, JSON_OBJECT, false, out, em) : ERR_OK;
}

static enum err run_dots(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct dots_own *o = own;
    struct json *from, *there, value;
    struct str path = o->field;
    bool has = false;
    if (o->path.p != NULL) {
        path = arena_printf(d->arena, "%.*s.%.*s", STR_ARG(o->path), STR_ARG(o->field));
    }
    enum err e = path.p != NULL ? dots_object(o, d, &from, em) : err_no_memory(em);
    if (e != ERR_OK) {
        return e;
    }
    if (from == NULL) {
        return err_set(em, ERR_NULL_POINTER, "%s", "");
    }
    there = json_member_of(from, o->field);
    if (there == NULL) {
        return ERR_OK;
    }
    value = *there;
    e = ingest_has(d, path, false, &has, em);
    if (e == ERR_OK && has) {
        e = ingest_append(d, path, &value, true, em);
    } else if (e == ERR_OK) {
        /* a value in the way of the objects that are needed is told before anything changes */
        for (size_t dot = str_find(path, '.', 0); e == ERR_OK && dot != SIZE_MAX;
             dot = str_find(path, '.', dot + 1)) {
            struct json *at;
            bool part;
            struct str upper = str_slice(path, 0, dot);
            e = ingest_has(d, upper, false, &part, em);
            e = e == ERR_OK && part ? ingest_get(d, upper, &at, em) : e;
            if (e == ERR_OK && part && at->type != JSON_OBJECT) {
                e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                            "cannot expend [%.*s], because [%.*s] is not an object field, but a value field",
                            STR_ARG(path), STR_ARG(upper));
            }
            if (e != ERR_OK || !part) {
                break;
            }
        }
        e = e == ERR_OK ? ingest_put(d, path, &value, em) : e;
    }
    e = e == ERR_OK ? dots_object(o, d, &from, em) : e; /* it may have moved */
    for (uint32_t i = 0; e == ERR_OK && from != NULL && i < from->n; i++) {
        if (str_eq(from->members[i].key, o->field)) {
            ingest_remove_at(from, i);
            break;
        }
    }
    return e;
}

const struct processor_row processor_dot_expander = {"dot_expander", sizeof(struct dots_own), read_dots,
                                                     run_dots};
