/* The checks across the fields of a finished mapping: aliases, copy_to, contexts, the limits. */
#include "common/base/utf8.h"
#include "engine/mapping/mapping_int.h"

static bool is_object(const struct field *f)
{
    return f->class->is_object;
}

static enum err bad_alias(struct builder *b, const struct node *n, const char *why)
{
    return err_set(b->em, ERR_MAPPER_PARSING, "Invalid [path] value [%.*s] for field alias [%.*s]: %s",
                   STR_ARG(n->alias_path), STR_ARG(n->f.path), why);
}

static enum err resolve_alias(struct builder *b, struct mapping *m, struct node *n)
{
    const struct field *to = mapping_field_raw(m, n->alias_path);
    if (str_eq(n->alias_path, n->f.path)) {
        return bad_alias(b, n, "an alias cannot refer to itself.");
    }
    if (to != NULL && to->class->is_alias) {
        return bad_alias(b, n, "an alias cannot refer to another alias.");
    }
    if (to == NULL || is_object(to)) {
        return bad_alias(b, n, "an alias must refer to an existing field in the mappings.");
    }
    if (n->f.nested != to->nested) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid [path] value [%.*s] for field alias [%.*s]: an alias must have the same "
                       "nested scope as its "
                       "target.",
                       STR_ARG(n->alias_path), STR_ARG(n->f.path));
    }
    n->f.alias_of = to;
    return ERR_OK;
}

/* The innermost nested object around a path that may not be mapped. */
static const struct field *nested_scope(const struct mapping *m, struct str path)
{
    for (size_t at = path.n; at-- > 0;) {
        if (path.p[at] != '.') {
            continue;
        }
        const struct field *f = mapping_field_raw(m, str_slice(path, 0, at));
        if (f != NULL && f->class->is_nested) {
            return f;
        }
    }
    return NULL;
}

/* Is what encloses the path a field? */
static bool is_below_field(const struct mapping *m, struct str path)
{
    for (size_t at = path.n; at-- > 0;) {
        if (path.p[at] == '.') {
            const struct field *f = mapping_field_raw(m, str_slice(path, 0, at));
            return f != NULL && !is_object(f);
        }
    }
    return false;
}

static enum err check_copy_to(struct builder *b, struct mapping *m, const struct field *f)
{
    if (f->is_multi_field) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "[copy_to] may not be used to copy from a multi-field: [%.*s]", STR_ARG(f->path));
    }
    for (uint32_t i = 0; i < f->n_copy_to; i++) {
        if (f->copy_to[i].p == NULL) {
            return err_set(b->em, ERR_NULL_POINTER,
                           "Cannot invoke \"String.lastIndexOf(int)\" because \"field\" is null");
        }
        const struct field *to = mapping_field_raw(m, f->copy_to[i]);
        if (is_below_field(m, f->copy_to[i])) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                           "[copy_to] may not be used to copy to a multi-field: [%.*s]",
                           STR_ARG(f->copy_to[i]));
        }
        if (to != NULL && is_object(to)) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                           "Cannot copy to field [%.*s] since it is mapped as an object", STR_ARG(to->path));
        }
        const struct field *target = nested_scope(m, f->copy_to[i]), *from = f->nested;
        while (from != NULL && from != target) {
            from = from->parent->nested;
        }
        if (from != target) {
            return err_set(
                b->em, ERR_ILLEGAL_ARGUMENT,
                "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to the "
                "current nested document or any of its parents, however one [copy_to] directive is trying to "
                "copy data from nested object [%.*s] to [%.*s]",
                STR_ARG(f->nested != NULL ? f->nested->path : STR("null")), STR_ARG(target->path));
        }
    }
    return ERR_OK;
}

enum err mapping_validate(struct builder *b, struct mapping *m)
{
    for (uint32_t i = 0; i < m->n_fields; i++) {
        struct field *f = m->fields[i];
        enum err e = ERR_OK;
        if (f->class->is_alias) {
            e = resolve_alias(b, m, CONTAINER_OF(f, struct node, f));
        } else if (f->n_copy_to > 0) {
            e = check_copy_to(b, m, f);
        } else if (f->n_contexts > 0) {
            e = contexts_validate(m, f, b->em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static int64_t depth_of(struct str path)
{
    int64_t depth = 2;
    for (size_t i = 0; i < path.n; i++) {
        depth += path.p[i] == '.';
    }
    return depth;
}

enum err mapping_check_limits(struct builder *b, struct mapping *m)
{
    int64_t total = 0, nested = 0;
    const struct mapping_limits *l = &m->limits;
    for (uint32_t i = 0; i < m->n_fields; i++) {
        total += !m->fields[i]->class->is_metadata;
        nested += m->fields[i]->class->is_nested;
    }
    if (total > l->total_fields) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Limit of total fields [%lld] has been exceeded",
                       (long long)l->total_fields);
    }
    for (uint32_t i = 0; i < m->n_fields; i++) {
        const struct field *f = m->fields[i];
        if (is_object(f) && depth_of(f->path) > l->depth) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                           "Limit of mapping depth [%lld] has been exceeded due to object field [%.*s]",
                           (long long)l->depth, STR_ARG(f->path));
        }
    }
    for (uint32_t i = 0; i < m->n_fields; i++) {
        const struct field *f = m->fields[i];
        if (!f->class->is_metadata && (int64_t)f->name.n > l->field_name_length
            && (int64_t)utf16_length(f->name) > l->field_name_length) {
            return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                           "Field name [%.*s] is longer than the limit of [%lld] characters",
                           STR_ARG(f->name), (long long)l->field_name_length);
        }
    }
    return nested <= l->nested_fields
               ? ERR_OK
               : err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Limit of nested fields [%lld] has been exceeded",
                         (long long)l->nested_fields);
}
