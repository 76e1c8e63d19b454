#include "engine/mapping/mapping.h"

#include "common/base/arena_list.h"
#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "common/settings/setting_read.h"
#include "engine/mapping/mapping_int.h"

#include <stdlib.h>

/* ---- life ---- */

static void mapping_free(struct mapping *m)
{
    const struct allocator *alloc = m->alloc;
    analysis_unref(m->analysis);
    arena_fini(&m->arena);
    alloc_put(alloc, m);
}

struct mapping *mapping_ref(struct mapping *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void mapping_unref(struct mapping *m)
{
    if (m != NULL && atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1) {
        mapping_free(m);
    }
}

static struct mapping *mapping_alloc(const struct allocator *alloc, struct analysis *analysis,
                                     const struct settings *settings, struct str type)
{
    struct mapping *m = alloc_get(alloc, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    *m = (struct mapping){.alloc = alloc, .analysis = analysis_ref(analysis)};
    atomic_init(&m->refs, 1);
    arena_init(&m->arena, alloc, ARENA_UNLIMITED);
    settings_init(&m->settings, &m->arena);
    map_init(&m->by_path, &m->arena);
    root_def_init(&m->def);
    m->type = arena_str(&m->arena, type);
    if (m->type.p == NULL || (settings != NULL && !settings_merge(&m->settings, settings))) {
        mapping_free(m);
        return NULL;
    }
    return m;
}

static void read_settings(struct mapping *m)
{
    const struct settings *s = &m->settings;
    m->limits = (struct mapping_limits){
        .total_fields = setting_i64(s, SET_INDEX_MAPPING_TOTAL_FIELDS_LIMIT),
        .depth = setting_i64(s, SET_INDEX_MAPPING_DEPTH_LIMIT),
        .nested_fields = setting_i64(s, SET_INDEX_MAPPING_NESTED_FIELDS_LIMIT),
        .nested_objects = setting_i64(s, SET_INDEX_MAPPING_NESTED_OBJECTS_LIMIT),
        .field_name_length = setting_i64(s, SET_INDEX_MAPPING_FIELD_NAME_LENGTH_LIMIT)};
    m->ignore_malformed = setting_bool(s, SET_INDEX_MAPPING_IGNORE_MALFORMED);
    m->coerce = setting_bool(s, SET_INDEX_MAPPING_COERCE);
}

struct builder mapping_builder(const struct mapping *m, struct arena *arena, struct errmsg *em)
{
    return (struct builder){
        .arena = arena,
        .analysis = m->analysis,
        .settings = &m->settings,
        .type = mapping_type(m),
        .ignore_malformed = m->ignore_malformed,
        .coerce = m->coerce,
        .em = em,
    };
}

/* ---- building ---- */

static enum err parse_tree(struct builder *b, const struct json *body, struct node **root,
                           struct root_def *def)
{
    struct errmsg *em = b->em;
    root_def_init(def);
    *root = node_new(b, STR(""), &field_class_object);
    struct json *own = ARENA_NEW(b->arena, struct json);
    if (*root == NULL || own == NULL) {
        return no_memory(b);
    }
    *own = json_mk_object();
    if (body != NULL && body->type == JSON_OBJECT && !json_copy(own, body, b->arena)) {
        return no_memory(b);
    }
    enum err e = root_parse(b, *root, def, own);
    e = e == ERR_OK ? node_build(b, *root) : e;
    e = e == ERR_OK ? node_link(b, *root, NULL) : e;
    if (e != ERR_OK && e != ERR_NO_MEMORY) {
        e = err_wrap(em, ERR_MAPPER_PARSING, "Failed to parse mapping [%.*s]: %s", STR_ARG(b->type),
                     err_reason(em));
    }
    return e;
}

/* Fields are numbered in the order in which they came: those of the old mapping keep theirs. */
static enum err add_field(struct builder *b, struct mapping *m, struct node *n, size_t *cap)
{
    if (map_has(&m->by_path, n->f.path)) {
        return err_set(b->em, ERR_MAPPER_PARSING, "Field [%.*s] is defined more than once",
                       STR_ARG(n->f.path));
    }
    struct field **fields = arena_grow(b->arena, m->fields, m->n_fields, cap, sizeof(*fields));
    if (fields == NULL || !map_put(&m->by_path, n->f.path, n)) {
        return no_memory(b);
    }
    m->fields = fields;
    m->fields[m->n_fields++] = &n->f;
    return ERR_OK;
}

static enum err add_fields(struct builder *b, struct mapping *m, struct node *n, size_t *cap)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < n->n_kids; i++) {
        e = add_field(b, m, n->kids[i], cap);
        m->has_nested |= n->kids[i]->f.class->is_nested;
        e = e == ERR_OK ? add_fields(b, m, n->kids[i], cap) : e;
    }
    return e;
}

static enum err add_metadata(struct builder *b, struct mapping *m, size_t *cap)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < FIELD_CLASS_COUNT; i++) {
        const struct field_class *class = field_class_at(i);
        if (!class->is_metadata) {
            continue;
        }
        struct node *n = node_new(b, str_of(class->name), class);
        if (n == NULL) {
            return no_memory(b);
        }
        n->f.path = n->f.name;
        n->f.boost = 1;
        n->f.parent = &m->root->f;
        n->f.ignore_above = UINT32_MAX;
        n->f.similarity = (struct similarity){SIM_BM25, 1.2F, 0.75F, true};
        n->f.doc_values = class->has_column;
        n->f.index = class->is_indexed;
        n->f.store = class->is_stored;
        if (class == &field_class_meta_type) {
            n->f.const_value = mapping_type(m);
        }
        e = add_field(b, m, n, cap);
    }
    return e;
}

/* Old fields first, at their numbers; new ones behind them. */
static enum err number_fields(struct builder *b, struct mapping *m, const struct mapping *old)
{
    struct field **by_number = ARENA_ARRAY(b->arena, struct field *, m->n_fields);
    if (by_number == NULL) {
        return no_memory(b);
    }
    uint32_t next = old != NULL ? old->n_fields : 0;
    for (uint32_t i = 0; i < m->n_fields; i++) {
        struct field *f = m->fields[i];
        const struct field *was = old != NULL ? map_get(&old->by_path, f->path) : NULL;
        f->number = was != NULL ? was->number : next++;
        by_number[f->number] = f;
    }
    m->fields = by_number;
    return ERR_OK;
}

static uint64_t child_hash(const struct field *object, struct str name)
{
    return hash_str(name) ^ hash_u64((uint64_t)(uintptr_t)object);
}

static enum err index_children(struct builder *b, struct mapping *m)
{
    uint32_t slots = 16;
    while (slots < m->n_fields * 2) {
        slots *= 2;
    }
    m->children = ARENA_ARRAY(b->arena, const struct field *, slots);
    m->children_mask = slots - 1;
    if (m->children == NULL) {
        return no_memory(b);
    }
    for (uint32_t i = 0; i < m->n_fields; i++) {
        const struct field *f = m->fields[i];
        if (f->is_multi_field || f->is_hidden || f->class->is_internal) {
            continue;
        }
        uint64_t at = child_hash(f->parent, f->name);
        while (m->children[at & m->children_mask] != NULL) {
            at++;
        }
        m->children[at & m->children_mask] = f;
    }
    return ERR_OK;
}

const struct field *mapping_child(const struct mapping *m, const struct field *object, struct str name)
{
    for (uint64_t at = child_hash(object, name);; at++) {
        const struct field *f = m->children[at & m->children_mask];
        if (f == NULL || (f->parent == object && str_eq(f->name, name))) {
            return f;
        }
    }
}

static int by_path(const void *x, const void *y)
{
    return str_cmp((*(const struct field *const *)x)->path, (*(const struct field *const *)y)->path);
}

static enum err sort_leaves(struct builder *b, struct mapping *m)
{
    m->sorted = ARENA_ARRAY(b->arena, const struct field *, m->n_fields);
    if (m->sorted == NULL) {
        return no_memory(b);
    }
    for (uint32_t i = 0; i < m->n_fields; i++) {
        if (!m->fields[i]->class->is_object && !m->fields[i]->class->is_metadata) {
            m->sorted[m->n_sorted++] = m->fields[i];
        }
    }
    sort_items(m->sorted, m->n_sorted, sizeof(*m->sorted), by_path);
    return ERR_OK;
}

static enum err set_date_formats(struct builder *b, struct mapping *m)
{
    static const char *const usual[] = {DATE_FORMAT_DEFAULT, "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"};
    m->date_formats = m->def.date_formats;
    m->n_date_formats = m->def.n_date_formats;
    if (m->def.has_date_formats) {
        return ERR_OK;
    }
    const struct date_format **formats = ARENA_ARRAY(b->arena, const struct date_format *, ARRAY_LEN(usual));
    enum err e = formats != NULL ? ERR_OK : no_memory(b);
    for (size_t i = 0; e == ERR_OK && i < ARRAY_LEN(usual); i++) {
        e = date_format_new(&formats[i], str_of(usual[i]), b->arena, b->em);
    }
    m->date_formats = formats;
    m->n_date_formats = ARRAY_LEN(usual);
    return e;
}

static enum err mapping_finish(struct builder *b, struct mapping *m, const struct mapping *old)
{
    size_t cap = 0;
    enum err e = add_metadata(b, m, &cap);
    e = e != ERR_OK ? e : add_fields(b, m, m->root, &cap);
    e = e != ERR_OK ? e : number_fields(b, m, old);
    e = e != ERR_OK ? e : mapping_validate(b, m);
    e = e != ERR_OK ? e : mapping_find_join(b, m);
    e = e != ERR_OK || m->published ? e : mapping_check_limits(b, m);
    e = e != ERR_OK ? e : index_children(b, m);
    e = e != ERR_OK ? e : sort_leaves(b, m);
    e = e != ERR_OK ? e : set_date_formats(b, m);
    return e != ERR_OK ? e : mapping_print(b, m);
}

/* The first mapping of an index, in `m`, which is freed when that fails. */
static enum err make_first(struct mapping **out, struct mapping *m, const struct json *body,
                           struct errmsg *em)
{
    *out = NULL;
    if (m == NULL) {
        return err_no_memory(em);
    }
    read_settings(m);
    struct builder b = mapping_builder(m, &m->arena, em);
    enum err e = similarities_check(&b);
    e = e == ERR_OK ? parse_tree(&b, body, &m->root, &m->def) : e;
    e = e == ERR_OK ? mapping_finish(&b, m, NULL) : e;
    if (e != ERR_OK) {
        mapping_free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

enum err mapping_new_with(struct mapping **out, const struct json *body, struct analysis *analysis,
                          const struct settings *settings, struct str type, const struct allocator *alloc,
                          struct errmsg *em)
{
    return make_first(out, mapping_alloc(alloc, analysis, settings, type), body, em);
}

enum err mapping_new_typed(struct mapping **out, const struct json *body, struct analysis *analysis,
                           const struct settings *settings, struct str type, struct errmsg *em)
{
    return mapping_new_with(out, body, analysis, settings, type, alloc_default(), em);
}

/* The old one and the body, in `m`, which is freed when that fails. */
static enum err make_next(struct mapping **out, struct mapping *m, const struct mapping *old,
                          const struct json *body, struct errmsg *em)
{
    *out = NULL;
    if (m == NULL) {
        return err_no_memory(em);
    }
    read_settings(m);
    struct builder b = mapping_builder(m, &m->arena, em);
    struct node *root;
    struct root_def def;
    enum err e = parse_tree(&b, &old->source, &m->root, &m->def);
    e = e != ERR_OK ? e : parse_tree(&b, body, &root, &def);
    e = e != ERR_OK ? e : node_merge_object(&b, m->root, root);
    e = e != ERR_OK ? e : root_merge(&b, &m->def, &def, old->source.n == 0);
    e = e != ERR_OK ? e : node_link(&b, m->root, NULL);
    e = e != ERR_OK ? e : mapping_finish(&b, m, old);
    if (e != ERR_OK) {
        mapping_free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

enum err mapping_merge(struct mapping **out, const struct mapping *old, const struct json *body,
                       struct errmsg *em)
{
    return make_next(out, mapping_alloc(old->alloc, old->analysis, &old->settings, old->type), old, body, em);
}

enum err mapping_published(struct mapping **out, const struct mapping *old, const struct json *body,
                           struct analysis *analysis, const struct settings *settings, struct str type,
                           struct errmsg *em)
{
    struct mapping *m = mapping_alloc(old != NULL ? old->alloc : alloc_default(), analysis, settings, type);
    if (m != NULL) {
        m->published = true;
        m->absent = body == NULL;
    }
    return old != NULL ? make_next(out, m, old, body, em) : make_first(out, m, body, em);
}

/* ---- reading ---- */

struct str mapping_type(const struct mapping *m)
{
    return m->type.n > 0 ? m->type : STR("_doc");
}

const struct field *mapping_field_raw(const struct mapping *m, struct str path)
{
    return map_get(&m->by_path, path);
}

const struct field *mapping_field(const struct mapping *m, struct str path)
{
    const struct field *f = m->absent ? NULL : map_get(&m->by_path, path);
    return f != NULL && f->class->is_alias ? f->alias_of : f;
}

static const struct field *field_of_key(const struct field *keyed, struct str key, struct arena *arena)
{
    struct field *f = ARENA_NEW(arena, struct field);
    char *prefix = arena_alloc(arena, key.n + 1);
    if (f == NULL || prefix == NULL) {
        return NULL;
    }
    memcpy(prefix, key.p, key.n);
    prefix[key.n] = 0;
    *f = *keyed;
    f->key_prefix = str_mk(prefix, key.n + 1);
    return f;
}

const struct field *mapping_keyed(const struct mapping *m, struct str path, struct str *key)
{
    for (size_t dot = str_find(path, '.', 0); dot != SIZE_MAX; dot = str_find(path, '.', dot + 1)) {
        const struct field *of = mapping_field(m, str_slice(path, 0, dot));
        if (of != NULL && of->keyed != NULL) {
            *key = str_slice(path, dot + 1, path.n);
            return of->keyed;
        }
    }
    return NULL;
}

const struct field *mapping_field_in(const struct mapping *m, struct str path, struct arena *arena)
{
    struct str key;
    const struct field *f = mapping_field(m, path);
    const struct field *keyed = f == NULL ? mapping_keyed(m, path, &key) : NULL;
    return keyed != NULL ? field_of_key(keyed, key, arena) : f;
}

const struct field *mapping_root(const struct mapping *m)
{
    return &m->root->f;
}

uint32_t mapping_field_count(const struct mapping *m)
{
    return m->n_fields;
}

const struct field *mapping_field_at(const struct mapping *m, uint32_t number)
{
    return number < m->n_fields ? m->fields[number] : NULL;
}

bool mapping_match(const struct mapping *m, struct str pattern, struct arena *arena,
                   const struct field ***out, size_t *n)
{
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    if (str_find(pattern, '*', 0) == SIZE_MAX) {
        const struct field *f = m->absent ? NULL : mapping_field_raw(m, pattern);
        f = f != NULL ? f : mapping_field_in(m, pattern, arena);
        if (f == NULL || f->class->is_object) {
            return true;
        }
        *out = arena_grow(arena, NULL, 0, &cap, sizeof(**out));
        if (*out == NULL) {
            return false;
        }
        (*out)[(*n)++] = f;
        return true;
    }
    for (uint32_t i = 0; i < m->n_sorted; i++) {
        if (!str_glob(pattern, m->sorted[i]->path)) {
            continue;
        }
        if (!ARENA_ADD(arena, *out, *n, cap, m->sorted[i])) {
            return false;
        }
    }
    return true;
}

bool mapping_is_absent(const struct mapping *m)
{
    return m->absent;
}

bool mapping_has_nested(const struct mapping *m)
{
    return m->has_nested;
}

const struct field *mapping_join(const struct mapping *m)
{
    return m->absent ? NULL : m->join;
}

struct analysis *mapping_analysis(const struct mapping *m)
{
    return m->analysis;
}

bool mapping_routing_required(const struct mapping *m)
{
    return m->def.routing_required;
}

bool mapping_source_enabled(const struct mapping *m)
{
    return m->def.source_enabled;
}

void mapping_source_filter(const struct mapping *m, const struct str **includes, uint32_t *n_includes,
                           const struct str **excludes, uint32_t *n_excludes)
{
    *includes = m->def.includes;
    *n_includes = m->def.n_includes;
    *excludes = m->def.excludes;
    *n_excludes = m->def.n_excludes;
}
