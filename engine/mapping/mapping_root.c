/* The root of a mapping: detection, metadata fields, _meta; what stands beside the properties. */
#include "engine/mapping/java.h"
#include "engine/mapping/mapping_int.h"
#include "engine/mapping/templates.h"

void root_def_init(struct root_def *d)
{
    *d = (struct root_def){
        .date_detection = -1, .numeric_detection = -1, .field_names = -1, .source_enabled = true};
}

/* ---- metadata fields ---- */

static const char *const meta_names[] = {
    "_id",     "_routing", "_index", "_source",    "_field_names", "_ignored",
    "_seq_no", "_version", "_type",  "_doc_count", "_feature",
};

static bool is_meta_name(struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(meta_names); i++) {
        if (str_is(key, meta_names[i])) {
            return true;
        }
    }
    return false;
}

static enum err parse_strs(struct builder *b, const struct json *v, const struct str **out, uint32_t *n)
{
    if (v->type != JSON_ARRAY) {
        return err_set(b->em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.List",
                       java_class(v));
    }
    struct str *a = ARENA_ARRAY(b->arena, struct str, v->n);
    for (uint32_t i = 0; a != NULL && i < v->n; i++) {
        a[i] = java_text(&v->items[i], b->arena);
        if (a[i].p == NULL) {
            return no_memory(b);
        }
    }
    *out = a;
    *n = v->n;
    return a != NULL ? ERR_OK : no_memory(b);
}

static enum err parse_meta_param(struct builder *b, struct root_def *d, struct str field,
                                 const struct json_member *m, bool *known)
{
    bool on = false;
    enum err e = ERR_OK;
    *known = true;
    if (str_is(field, "_source") && str_is(m->key, "enabled")) {
        return parse_node_bool(b, &m->value, &d->source_enabled);
    }
    if (str_is(field, "_source") && str_is(m->key, "includes")) {
        return parse_strs(b, &m->value, &d->includes, &d->n_includes);
    }
    if (str_is(field, "_source") && str_is(m->key, "excludes")) {
        return parse_strs(b, &m->value, &d->excludes, &d->n_excludes);
    }
    if (str_is(field, "_routing") && str_is(m->key, "required")) {
        return parse_node_bool(b, &m->value, &d->routing_required);
    }
    if (str_is(field, "_field_names") && str_is(m->key, "enabled")) {
        e = parse_node_bool(b, &m->value, &on);
        d->field_names = on ? 1 : 0;
        return e;
    }
    *known = false;
    return e;
}

static enum err parse_meta_field(struct builder *b, struct root_def *d, struct str name, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[_parent] must be an object containing [type]");
    }
    bool source = str_is(name, "_source"), routing = str_is(name, "_routing"),
         names = str_is(name, "_field_names");
    if (!source && !routing && !names) {
        return err_set(b->em, ERR_MAPPER_PARSING, "%.*s is not configurable", STR_ARG(name));
    }
    d->source_given |= source;
    d->routing_given |= routing;
    d->field_names_given |= names;
    for (uint32_t i = 0; i < v->n; i++) {
        bool known = str_is(v->members[i].key, "type");
        enum err e = known ? ERR_OK : parse_meta_param(b, d, name, &v->members[i], &known);
        if (e == ERR_OK && !known) {
            e = err_set(b->em, ERR_MAPPER_PARSING, "unknown parameter [%.*s] on mapper [%.*s] of type [null]",
                        STR_ARG(v->members[i].key), STR_ARG(name));
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- the object's own ---- */

static enum err parse_date_formats(struct builder *b, struct root_def *d, const struct json *v)
{
    const struct json *items = v->type == JSON_ARRAY ? v->items : v;
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    if (v->type == JSON_STRING && str_is(v->s, "none")) {
        n = 0;
    }
    d->has_date_formats = true;
    d->date_formats = ARENA_ARRAY(b->arena, const struct date_format *, n);
    d->n_date_formats = n;
    enum err e = d->date_formats != NULL ? ERR_OK : no_memory(b);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct str s = java_text(&items[i], b->arena);
        if (s.p != NULL && str_starts(s, STR("epoch_"))) {
            return err_set(b->em, ERR_MAPPER_PARSING, "Epoch [%.*s] is not supported as dynamic date format",
                           STR_ARG(s));
        }
        e = s.p != NULL ? date_format_new(&d->date_formats[i], s, b->arena, b->em) : no_memory(b);
    }
    return e;
}

static enum err parse_detection(struct builder *b, const char *name, const struct json *v, int8_t *out)
{
    bool on = false;
    enum err e = parse_named_bool(b, name, v, &on);
    *out = on ? 1 : 0;
    return e;
}

static enum err parse_runtime(struct builder *b, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return err_set(b->em, ERR_PARSE, "runtime must be a map type");
    }
    if (v->n == 0) {
        return ERR_OK;
    }
    const struct json *type = json_get(&v->members[0].value, "type");
    struct str s = type != NULL ? java_text(type, b->arena) : STR("");
    return err_set(b->em, ERR_MAPPER_PARSING, "No handler for type [%.*s] declared on runtime field [%.*s]",
                   STR_ARG(s), STR_ARG(v->members[0].key));
}

static enum err parse_root_attribute(struct builder *b, struct node *root, struct root_def *d,
                                     const struct json_member *m, bool *known)
{
    enum err e = node_parse_object_attribute(b, root, m->key, &m->value, known);
    if (*known) {
        return e;
    }
    *known = true;
    if (str_is(m->key, "date_formats") || str_is(m->key, "dynamic_date_formats")) {
        return parse_date_formats(b, d, &m->value);
    }
    if (str_is(m->key, "dynamic_templates")) {
        return templates_parse(b, d, &m->value);
    }
    if (str_is(m->key, "date_detection")) {
        return parse_detection(b, "date_detection", &m->value, &d->date_detection);
    }
    if (str_is(m->key, "numeric_detection")) {
        return parse_detection(b, "numeric_detection", &m->value, &d->numeric_detection);
    }
    if (str_is(m->key, "runtime")) {
        return parse_runtime(b, &m->value);
    }
    *known = false;
    return ERR_OK;
}

/* What is left is no parameter: all of it is named. */
static enum err refuse_rest(struct builder *b, const struct json_member **rest, size_t n)
{
    struct buf names;
    enum err e = ERR_OK;
    buf_init(&names, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < n; i++) {
        if (!is_meta_name(rest[i]->key) && !str_is(rest[i]->key, "_meta")) {
            struct str s = java_text(&rest[i]->value, b->arena);
            buf_printf(&names, " [%.*s : %.*s]", STR_ARG(rest[i]->key), STR_ARG(s));
        }
    }
    if (names.failed) {
        e = no_memory(b);
    } else if (names.n > 0) {
        e = err_set(b->em, ERR_MAPPER_PARSING, "Root mapping definition has unsupported parameters: %.*s",
                    STR_ARG(buf_view(&names)));
    }
    buf_fini(&names);
    return e;
}

static enum err parse_rest(struct builder *b, struct root_def *d, const struct json_member **rest, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum err e =
            is_meta_name(rest[i]->key) ? parse_meta_field(b, d, rest[i]->key, &rest[i]->value) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct json *v = &rest[i]->value;
        if (!str_is(rest[i]->key, "_meta") || v->type == JSON_NULL) {
            continue;
        }
        if (v->type != JSON_OBJECT) {
            return err_set(b->em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map",
                           java_class(v));
        }
        d->meta = v;
    }
    return refuse_rest(b, rest, n);
}

enum err root_parse(struct builder *b, struct node *root, struct root_def *d, const struct json *body)
{
    const struct json_member **order = java_order(body, b->arena);
    enum err e = order != NULL ? ERR_OK : no_memory(b);
    size_t rest = 0;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        bool known = false;
        e = parse_root_attribute(b, root, d, order[i], &known);
        if (!known) {
            order[rest++] = order[i];
        }
    }
    return e == ERR_OK ? parse_rest(b, d, order, rest) : e;
}

/* ---- merging ---- */

static bool same_strs(const struct str *a, uint32_t n, const struct str *b, uint32_t m)
{
    bool same = n == m;
    for (uint32_t i = 0; same && i < n; i++) {
        same = str_eq(a[i], b[i]);
    }
    return same;
}

/* What of a metadata field cannot be changed: texts of both values, for each parameter. */
struct meta_conflict {
    struct buf text;
};

static void add_conflict(struct meta_conflict *c, const char *field, const char *param, struct str was,
                         struct str is)
{
    if (c->text.n == 0) {
        buf_printf(&c->text, "Mapper for [%s] conflicts with existing mapper:", field);
    }
    buf_printf(&c->text, "\n\tCannot update parameter [%s] from [%.*s] to [%.*s]", param, STR_ARG(was),
               STR_ARG(is));
}

static void add_bool(struct meta_conflict *c, const char *field, const char *param, bool was, bool is)
{
    if (was != is) {
        add_conflict(c, field, param, str_of(was ? "true" : "false"), str_of(is ? "true" : "false"));
    }
}

/* A list as Java prints it. */
static struct str list_text(struct builder *b, const struct str *v, uint32_t n)
{
    struct buf text;
    buf_init(&text, NULL, 4 * KIB);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&text, "%s%.*s", i > 0 ? ", " : "", STR_ARG(v[i]));
    }
    struct str s = arena_printf(b->arena, "[%.*s]", STR_ARG(buf_view(&text)));
    buf_fini(&text);
    return s;
}

static enum err conflicts_end(struct builder *b, struct meta_conflict *c)
{
    enum err e =
        c->text.n == 0 ? ERR_OK : err_set(b->em, ERR_ILLEGAL_ARGUMENT, "%.*s", STR_ARG(buf_view(&c->text)));
    buf_fini(&c->text);
    return e;
}

static enum err check_source(struct builder *b, const struct root_def *old, const struct root_def *d)
{
    struct meta_conflict c;
    buf_init(&c.text, NULL, 4 * KIB);
    add_bool(&c, "_source", "enabled", old->source_enabled, d->source_enabled);
    if (!same_strs(old->includes, old->n_includes, d->includes, d->n_includes)) {
        add_conflict(&c, "_source", "includes", list_text(b, old->includes, old->n_includes),
                     list_text(b, d->includes, d->n_includes));
    }
    if (!same_strs(old->excludes, old->n_excludes, d->excludes, d->n_excludes)) {
        add_conflict(&c, "_source", "excludes", list_text(b, old->excludes, old->n_excludes),
                     list_text(b, d->excludes, d->n_excludes));
    }
    return conflicts_end(b, &c);
}

/* is_first: there was no mapping, and nothing to conflict with. */
static enum err merge_meta_fields(struct builder *b, struct root_def *old, const struct root_def *d,
                                  bool is_first)
{
    if (d->source_given) {
        enum err e = is_first ? ERR_OK : check_source(b, old, d);
        if (e != ERR_OK) {
            return e;
        }
        old->source_given = true;
        old->source_enabled = d->source_enabled;
        old->includes = d->includes;
        old->n_includes = d->n_includes;
        old->excludes = d->excludes;
        old->n_excludes = d->n_excludes;
    }
    if (d->routing_given && old->routing_required != d->routing_required) {
        if (!is_first) {
            struct meta_conflict c;
            buf_init(&c.text, NULL, 4 * KIB);
            add_bool(&c, "_routing", "required", old->routing_required, d->routing_required);
            return conflicts_end(b, &c);
        }
        old->routing_given = true;
        old->routing_required = d->routing_required;
    }
    if (d->field_names_given) {
        old->field_names = d->field_names;
    }
    return ERR_OK;
}

enum err root_merge(struct builder *b, struct root_def *old, const struct root_def *d, bool is_first)
{
    if (d->has_date_formats) {
        old->has_date_formats = true;
        old->date_formats = d->date_formats;
        old->n_date_formats = d->n_date_formats;
    }
    if (d->has_templates) {
        old->has_templates = true;
        old->templates = d->templates;
        old->n_templates = d->n_templates;
    }
    old->date_detection = d->date_detection >= 0 ? d->date_detection : old->date_detection;
    old->numeric_detection = d->numeric_detection >= 0 ? d->numeric_detection : old->numeric_detection;
    old->meta = d->meta != NULL ? d->meta : old->meta;
    return merge_meta_fields(b, old, d, is_first);
}
