/* join: a document is of a relation, and may have a parent. The name of its relation is a term of the field itself. Beside it
 * stands a hidden field for each relation that has children, "field#parent": it holds the parent's id, in the children and in the
 * parent alike, so that both meet in one term. */
#include "common/settings/setting_read.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/java.h"
#include "engine/mapping/join.h"
#include "engine/mapping/value_format.h"

static const struct param join_params[] = {
    {.name = "eager_global_ordinals",
     .kind = PARAM_BOOL,
     .flags = PARAM_UPDATEABLE | PARAM_ALWAYS,
     .offset = PARAM_AT(eager_ordinals),
     .dflt = 1},
    {.name = "relations", .kind = PARAM_RELATIONS},
    PARAM_ROW_END,
};

/* ---- relations ---- */

const struct join_relation *join_parent(const struct field *join, struct str name)
{
    for (uint32_t i = 0; i < join->n_relations; i++) {
        if (str_eq(join->relations[i].parent, name)) {
            return &join->relations[i];
        }
    }
    return NULL;
}

const struct join_relation *join_child(const struct field *join, struct str name)
{
    for (uint32_t i = 0; i < join->n_relations; i++) {
        for (uint32_t k = 0; k < join->relations[i].n_children; k++) {
            if (str_eq(join->relations[i].children[k], name)) {
                return &join->relations[i];
            }
        }
    }
    return NULL;
}

static enum err child_name(struct builder *b, const struct json *v, struct str *out)
{
    return v->type != JSON_NULL ? param_text(b, v, out)
                                : err_set(b->em, ERR_NULL_POINTER,
                                          "Cannot invoke \"Object.toString()\" because the return value of "
                                          "\"java.util.Map$Entry.getValue()\" is null");
}

/* The children of one relation, each once, in the order of a Java set. */
static enum err take_children(struct builder *b, const struct json *v, struct join_relation *r)
{
    bool list = v->type == JSON_ARRAY;
    uint32_t n = list ? v->n : 1;
    struct str *names = ARENA_ARRAY(b->arena, struct str, n);
    if (names == NULL) {
        return no_memory(b);
    }
    r->children = names;
    for (uint32_t i = 0; i < n; i++) {
        struct str name;
        uint32_t at = 0;
        enum err e = child_name(b, list ? &v->items[i] : v, &name);
        if (e != ERR_OK) {
            return e;
        }
        while (at < r->n_children && !str_eq(names[at], name)) {
            at++;
        }
        names[at] = name;
        r->n_children += at == r->n_children;
    }
    java_set_order(names, r->n_children);
    return ERR_OK;
}

/* As they print: one child stands alone, several are a list. */
static bool put_relation(struct builder *b, struct json *to, const struct join_relation *r)
{
    if (r->n_children == 1) {
        return json_put(to, b->arena, r->parent, json_mk_str(r->children[0]));
    }
    struct json list = {
        .type = JSON_ARRAY, .n = r->n_children, .items = ARENA_ARRAY(b->arena, struct json, r->n_children)};
    for (uint32_t i = 0; list.items != NULL && i < r->n_children; i++) {
        list.items[i] = json_mk_str(r->children[i]);
    }
    return list.items != NULL && json_put(to, b->arena, r->parent, list);
}

/* An index whose shards take several partitions of a routing: its name, as far as the settings say it. */
static enum err refuse_partitions(struct builder *b, const struct node *n)
{
    const struct setting *name =
        b->settings != NULL ? settings_find(b->settings, STR("index.provided_name")) : NULL;
    return err_set(b->em, ERR_ILLEGAL_STATE,
                   "cannot create join field [%.*s] for the partitioned index [%.*s]", STR_ARG(n->f.name),
                   STR_ARG(name != NULL && name->n > 0 ? name->items[0] : STR("")));
}

enum err param_relations(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return err_set(b->em, ERR_PARSE, "relations should be a hash but was of type: class %s",
                       v->type == JSON_ARRAY ? "java.util.ArrayList" : java_class(v));
    }
    const struct json_member **order = java_order(v, b->arena);
    struct join_relation *r = ARENA_ARRAY(b->arena, struct join_relation, v->n);
    struct json shown = json_mk_object();
    if (order == NULL || r == NULL) {
        return no_memory(b);
    }
    for (uint32_t k = 0; k < v->n; k++) {
        r[k].parent = order[k]->key;
        enum err e = take_children(b, &order[k]->value, &r[k]);
        if (e != ERR_OK) {
            return e;
        }
        if (!put_relation(b, &shown, &r[k])) {
            return no_memory(b);
        }
    }
    n->f.relations = r;
    n->f.n_relations = v->n;
    return param_keep(b, n, i, shown);
}

struct str relations_text(const struct node *n, struct arena *arena)
{
    struct buf b;
    buf_init(&b, arena->alloc, ERR_REASON_MAX);
    buf_char(&b, '[');
    for (uint32_t i = 0; i < n->f.n_relations; i++) {
        const struct join_relation *r = &n->f.relations[i];
        buf_printf(&b, "%s%.*s->[", i > 0 ? ", " : "", STR_ARG(r->parent));
        for (uint32_t k = 0; k < r->n_children; k++) {
            buf_printf(&b, "%s%.*s", k > 0 ? ", " : "", STR_ARG(r->children[k]));
        }
        buf_char(&b, ']');
    }
    buf_char(&b, ']');
    struct str s = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return s.p != NULL ? s : STR("");
}

/* ---- changes ---- */

struct names {
    struct str *v;
    uint32_t n;
};

/* The names of parents, or of children, in the order of a Java map. */
static bool names_of(const struct field *f, bool children, struct arena *arena, struct names *out)
{
    size_t all = 0;
    for (uint32_t i = 0; i < f->n_relations; i++) {
        all += children ? f->relations[i].n_children : 1;
    }
    *out = (struct names){.v = ARENA_ARRAY(arena, struct str, all)};
    for (uint32_t i = 0; out->v != NULL && i < f->n_relations; i++) {
        if (!children) {
            out->v[out->n++] = f->relations[i].parent;
        }
        for (uint32_t k = 0; children && k < f->relations[i].n_children; k++) {
            out->v[out->n++] = f->relations[i].children[k];
        }
    }
    java_set_order(out->v, out->n);
    return out->v != NULL;
}

static bool conflict(struct buf *why, const char *before, struct str name, const char *after)
{
    buf_printf(why, "\n\tConflict in parameter [relations]: %s [%.*s]%s", before, STR_ARG(name), after);
    return false;
}

bool relations_may_become(struct builder *b, const struct node *into, const struct node *from,
                          struct buf *why)
{
    const struct field *old = &into->f, *new = &from->f;
    struct names parents, children, new_parents, new_children;
    bool ok = true;
    if (!names_of(old, false, b->arena, &parents) || !names_of(old, true, b->arena, &children)
        || !names_of(new, false, b->arena, &new_parents) || !names_of(new, true, b->arena, &new_children)) {
        return false;
    }
    for (uint32_t i = 0; i < parents.n; i++) {
        if (join_parent(new, parents.v[i]) == NULL) {
            ok = conflict(why, "Cannot remove parent", parents.v[i], "");
        }
    }
    for (uint32_t i = 0; i < children.n; i++) {
        const struct join_relation *now = join_child(new, children.v[i]);
        if (now == NULL) {
            ok = conflict(why, "Cannot remove child", children.v[i], "");
        } else if (!str_eq(now->parent, join_child(old, children.v[i])->parent)) {
            ok = conflict(why, "Cannot change parent of", children.v[i], "");
        }
    }
    for (uint32_t i = 0; i < new_parents.n; i++) {
        if (join_child(old, new_parents.v[i]) != NULL && join_parent(old, new_parents.v[i]) == NULL) {
            ok = conflict(why, "Cannot create parent", new_parents.v[i], " from an existing child");
        }
    }
    for (uint32_t i = 0; i < new_children.n; i++) {
        if (join_parent(old, new_children.v[i]) != NULL && join_child(old, new_children.v[i]) == NULL) {
            ok = conflict(why, "Cannot create child", new_children.v[i], " from an existing root");
        }
    }
    return ok;
}

/* ---- the hidden fields ---- */

static enum err refuse_fetch(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_UNSUPPORTED, "Cannot fetch values for internal field [parent].");
}

static const struct param parent_params[] = {PARAM_ROW_END};

const struct field_class field_class_join_parent = {
    .name = "parent",
    .params = parent_params,
    .kind = VALUE_TEXT,
    .refuse_fetch = refuse_fetch,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_KEYWORD,
    .analysis = FIELD_WHOLE,
    .takes_patterns = true,
};

/* ---- the definition as a whole ---- */

static void join_init(UNUSED struct builder *b, struct node *n)
{
    n->f.doc_values = true;
}

static enum err one_parent_each(struct builder *b, const struct field *f)
{
    for (uint32_t i = 0; i < f->n_relations; i++) {
        for (uint32_t k = 0; k < f->relations[i].n_children; k++) {
            if (join_child(f, f->relations[i].children[k]) != &f->relations[i]) {
                return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] cannot have multiple parents",
                               STR_ARG(f->relations[i].children[k]));
            }
        }
    }
    return ERR_OK;
}

/* Its sub-fields are the hidden ones alone: what the request gave as `fields`, and `copy_to`, has no effect. */
static enum err add_hidden(struct builder *b, struct node *n)
{
    n->n_kids = 0;
    n->kids = NULL;
    n->kids_cap = 0;
    map_init(&n->kids_by_name, b->arena);
    for (uint32_t i = 0; i < n->f.n_relations; i++) {
        struct str name =
            arena_printf(b->arena, "%.*s#%.*s", STR_ARG(n->f.name), STR_ARG(n->f.relations[i].parent));
        struct node *kid = name.p != NULL ? node_new(b, name, &field_class_join_parent) : NULL;
        if (kid == NULL || !node_put_kid(b, n, kid)) {
            return no_memory(b);
        }
        params_init(b, kid);
        kid->f.path = name;
        kid->f.doc_values = true;
        kid->f.is_hidden = true;
        kid->f.similarity = n->f.similarity;
    }
    return ERR_OK;
}

static enum err build_join(struct builder *b, struct node *n)
{
    bool known;
    size_t at = param_find(n->f.class, STR("relations"));
    if (b->settings != NULL && setting_i64(b->settings, SET_INDEX_ROUTING_PARTITION_SIZE) > 1) {
        return refuse_partitions(b, n);
    }
    if (str_find(n->f.path, '.', 0) != SIZE_MAX) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "join field [%.*s] cannot be added inside an object or in a multi-field",
                       STR_ARG(n->f.path));
    }
    enum err e = n->set[at] == NULL ? param_keep(b, n, at, json_mk_object()) : ERR_OK;
    e = e == ERR_OK ? one_parent_each(b, &n->f) : e;
    e = e == ERR_OK ? similarity_of(b, STR("default"), &n->f.similarity, &known) : e;
    n->f.n_copy_to = 0;
    return e == ERR_OK ? add_hidden(b, n) : e;
}

static enum err link_join(struct builder *b, struct node *n)
{
    struct join_relation *r = ARENA_ARRAY(b->arena, struct join_relation, n->f.n_relations);
    if (r == NULL) {
        return no_memory(b);
    }
    for (uint32_t i = 0; i < n->f.n_relations; i++) {
        r[i] = n->f.relations[i];
        struct str name = arena_printf(b->arena, "%.*s#%.*s", STR_ARG(n->f.name), STR_ARG(r[i].parent));
        struct node *kid = name.p != NULL ? node_kid(n, name) : NULL;
        if (kid == NULL) {
            return no_memory(b);
        }
        kid->f.path = kid->f.name = name;
        kid->f.parent = n->f.parent;
        r[i].ids = &kid->f;
    }
    n->f.relations = r;
    n->f.multi_fields = NULL;
    n->f.n_multi_fields = 0;
    return ERR_OK;
}

enum err mapping_find_join(struct builder *b, struct mapping *m)
{
    for (uint32_t i = 0; i < m->n_fields; i++) {
        const struct field *f = m->fields[i]->class->is_alias ? m->fields[i]->alias_of : m->fields[i];
        if (f->class != &field_class_join) {
            continue;
        }
        if (m->join != NULL) {
            bool ordered = str_cmp(m->join->path, f->path) <= 0;
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                           "Only one [parent-join] field can be defined per index, got [%.*s, %.*s]",
                           STR_ARG(ordered ? m->join->path : f->path),
                           STR_ARG(ordered ? f->path : m->join->path));
        }
        m->join = f;
    }
    return ERR_OK;
}

/* ---- a value ---- */

struct join_value {
    struct doc_parser *p;
    const struct field *f;
    struct str name, parent; /* p == NULL: not given */
};

static enum err unknown_member(const struct join_value *j, struct str name)
{
    return err_set(j->p->em, ERR_ILLEGAL_ARGUMENT, "unknown field name [%.*s] in join field [%.*s]",
                   STR_ARG(name), STR_ARG(j->f->path));
}

/* Elasticsearch takes the end of an object in there for the end of the field, and the field's for the document's. */
static enum err ended_early(const struct join_value *j)
{
    return err_set(j->p->em, ERR_ILLEGAL_ARGUMENT,
                   "Malformed content, found extra data after parsing: END_OBJECT");
}

static enum err read_members(struct join_value *j, const struct json *v);

static enum err read_member(struct join_value *j, struct str name, const struct json *v)
{
    enum err e = ERR_OK;
    if (json_is_broken(v)) {
        return doc_broken(j->p);
    }
    switch (v->type) {
    case JSON_STRING:
        if (str_is(name, "name")) {
            j->name = json_text(v);
        } else if (str_is(name, "parent")) {
            j->parent = json_text(v);
        } else {
            return unknown_member(j, name);
        }
        return ERR_OK;
    case JSON_NUMBER:
        if (!str_is(name, "parent")) {
            return unknown_member(j, name);
        }
        j->parent = java_text(v, j->p->arena);
        return j->parent.p != NULL ? ERR_OK : err_no_memory(j->p->em);
    case JSON_ARRAY:
        for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
            e = read_member(j, name, &v->items[i]);
        }
        return e;
    case JSON_OBJECT:
        e = read_members(j, v);
        return e == ERR_OK ? ended_early(j) : e;
    case JSON_BOOL:
    case JSON_NULL:
        break;
    }
    return ERR_OK;
}

static enum err read_members(struct join_value *j, const struct json *v)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = v->members[i].key.p != NULL ? read_member(j, v->members[i].key, &v->members[i].value)
                                        : doc_broken(j->p);
    }
    return e;
}

/* A term of the field or of a hidden one. A second one in the same document is found out when the document is whole. */
static enum err add_name(struct doc_parser *p, const struct field *f, struct str term)
{
    for (size_t i = 0; p->join_twice == NULL && i < p->part->n; i++) {
        p->join_twice = p->part->v[i].field == f ? f : NULL;
    }
    struct doc_value *to = doc_add(p, f, DOC_TERM);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->bytes = term;
    return ERR_OK;
}

static enum err add_relation(struct join_value *j)
{
    struct doc_parser *p = j->p;
    const struct join_relation *child = join_child(j->f, j->name), *parent = join_parent(j->f, j->name);
    enum err e = ERR_OK;
    if (child == NULL && parent == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "unknown join name [%.*s] for field [%.*s]",
                       STR_ARG(j->name), STR_ARG(j->f->path));
    }
    if (child != NULL && j->parent.p == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[parent] is missing for join field [%.*s]",
                       STR_ARG(j->f->path));
    }
    if (child != NULL && p->in->routing.p == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[routing] is missing for join field [%.*s]",
                       STR_ARG(j->f->path));
    }
    if (child != NULL) {
        e = add_name(p, child->ids, j->parent);
    }
    if (e == ERR_OK && parent != NULL) {
        e = add_name(p, parent->ids, p->in->id);
    }
    return e == ERR_OK ? add_name(p, j->f, j->name) : e;
}

static enum err join_document_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct join_value j = {.p = p, .f = f};
    enum err e = ERR_OK;
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type == JSON_OBJECT) {
        e = read_members(&j, v);
    } else if (v->type == JSON_STRING) {
        j.name = json_text(v);
    } else {
        return err_set(p->em, ERR_ILLEGAL_STATE, "[%.*s] expected START_OBJECT or VALUE_STRING but was: %s",
                       STR_ARG(f->path), json_token_name(v));
    }
    if (e == ERR_OK && j.name.p == NULL) {
        e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "null join name in field [%.*s]", STR_ARG(f->path));
    }
    return e == ERR_OK ? add_relation(&j) : e;
}

const struct field_class field_class_join = {
    .name = "join",
    .params = join_params,
    .init = join_init,
    .build = build_join,
    .link = link_join,
    .hides_fields = true,
    .value = join_document_value,
    .takes_whole = true,
    .kind = VALUE_TEXT,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_KEYWORD,
    .analysis = FIELD_WHOLE,
    .takes_patterns = true,
};
