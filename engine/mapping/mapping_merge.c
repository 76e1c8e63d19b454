/* Two trees into one: what may change in a mapping, and what may not. */
#include "engine/mapping/java.h"
#include "engine/mapping/mapping_int.h"

#include <stdio.h>

static struct str shown_value(struct builder *b, const struct node *n, size_t i)
{
    const struct param *p = &n->f.class->params[i];
    const enum param_kind kind = p->kind;
    if (n->set[i] != NULL && kind != PARAM_RELATIONS) {
        return java_text(n->set[i], b->arena);
    }
    if (kind == PARAM_BOOL || kind == PARAM_EXPLICIT_BOOL) {
        return p->dflt != 0 ? STR("true") : STR("false");
    }
    if (kind == PARAM_INT) {
        return arena_printf(b->arena, "%d", (int)p->dflt);
    }
    if (kind == PARAM_ANALYZER) {
        return n->f.class->usual_analyzer != NULL ? str_of(n->f.class->usual_analyzer) : STR("default");
    }
    if (kind == PARAM_RELATIONS) {
        return relations_text(n, b->arena);
    }
    if (kind == PARAM_INDEX_OPTIONS) {
        return n->f.class->usual_options == INDEX_POSITIONS ? STR("positions") : STR("docs");
    }
    return kind == PARAM_FORMAT        ? STR(DATE_FORMAT_DEFAULT)
           : kind == PARAM_TERM_VECTOR ? STR("no")
                                       : STR("null");
}

static bool may_become(const struct param *p, const struct json *from, const struct json *to)
{
    if ((p->flags & PARAM_UPDATEABLE) != 0 || (from == NULL && to == NULL)) {
        return true;
    }
    if (from != NULL && to != NULL && json_equal(from, to)) {
        return true;
    }
    if ((p->flags & PARAM_TO_FALSE)
        != 0) { /* both values differ from one another: only true -> false is left */
        return to != NULL ? !to->b : p->dflt == 0;
    }
    return (p->flags & PARAM_ONCE) != 0 && from == NULL;
}

static enum err check_params(struct builder *b, const struct node *into, const struct node *from)
{
    enum err e = ERR_OK;
    struct buf why;
    buf_init(&why, NULL, ERR_REASON_MAX);
    buf_printf(&why, "Mapper for [%.*s] conflicts with existing mapper:", STR_ARG(into->f.path));
    for (size_t i = 0; into->f.class->params[i].name != NULL; i++) {
        const struct param *p = &into->f.class->params[i];
        if (p->kind == PARAM_RELATIONS ? relations_may_become(b, into, from, &why)
                                       : may_become(p, into->set[i], from->set[i])) {
            continue;
        }
        struct str old = shown_value(b, into, i), new = shown_value(b, from, i);
        buf_printf(&why, "\n\tCannot update parameter [%s] from [%.*s] to [%.*s]",
                   into->f.class->params[i].name, STR_ARG(old), STR_ARG(new));
        e = ERR_ILLEGAL_ARGUMENT;
    }
    e = e == ERR_OK ? e : err_set(b->em, e, "%.*s", STR_ARG(buf_view(&why)));
    buf_fini(&why);
    return e;
}

static const char *kind_name(const struct node *n)
{
    return n->f.class->is_alias ? "FieldAliasMapper" : n->f.class->name;
}

static enum err merge_field(struct builder *b, struct node *into, struct node *from, struct node **out)
{
    if (into->f.class != from->f.class) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "mapper [%.*s] cannot be changed from type [%s] to [%s]",
                       STR_ARG(into->f.path), kind_name(into), kind_name(from));
    }
    enum err e = check_params(b, into, from);
    /* Every value that could not change is equal by now: the new field, with the multi-fields of both. */
    for (size_t i = 0; e == ERR_OK && i < into->n_kids; i++) {
        struct node *new = node_kid(from, into->kids[i]->f.name), *merged = into->kids[i];
        if (new != NULL) {
            e = merge_field(b, into->kids[i], new, &merged);
        }
        if (e == ERR_OK && !node_put_kid(b, from, merged)) {
            return no_memory(b);
        }
    }
    *out = from;
    return e;
}

static bool is_object(const struct node *n)
{
    return n->f.class->is_object;
}

enum err node_merge(struct builder *b, struct node *into, struct node *from, struct node **out)
{
    *out = into;
    if (is_object(into)) {
        return node_merge_object(b, into, from);
    }
    if (is_object(from)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "can't merge a non object mapping [%.*s] with an object mapping",
                       STR_ARG(from->f.path));
    }
    if (into->f.class->is_alias) {
        *out = from;
        return from->f.class->is_alias ? ERR_OK
                                       : err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                                                 "Cannot merge a field alias mapping [%.*s] with a mapping "
                                                 "that is not for a field alias.",
                                                 STR_ARG(into->f.path));
    }
    return merge_field(b, into, from, out);
}

static enum err merge_nested(struct builder *b, const struct node *into, const struct node *from)
{
    if (into->f.class != from->f.class) {
        bool was = into->f.class->is_nested;
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "cannot change object mapping from %s to %s",
                       was ? "nested" : "non-nested", was ? "non-nested" : "nested");
    }
    if (into->f.include_in_parent != from->f.include_in_parent) {
        return err_set(b->em, ERR_MAPPER,
                       "the [include_in_parent] parameter can't be updated on a nested object mapping");
    }
    if (into->f.include_in_root != from->f.include_in_root) {
        return err_set(b->em, ERR_MAPPER,
                       "the [include_in_root] parameter can't be updated on a nested object mapping");
    }
    return ERR_OK;
}

enum err node_merge_object(struct builder *b, struct node *into, struct node *from)
{
    if (!is_object(from)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "can't merge a non object mapping [%.*s] with an object mapping",
                       STR_ARG(from->f.path));
    }
    enum err e = merge_nested(b, into, from);
    if (e != ERR_OK) {
        return e;
    }
    if (from->f.dynamic != DYNAMIC_INHERIT) {
        into->f.dynamic = from->f.dynamic;
    }
    if (from->enabled_given && into->f.enabled != from->f.enabled) {
        return err_set(b->em, ERR_MAPPER,
                       "the [enabled] parameter can't be updated for the object mapping [%.*s]",
                       STR_ARG(into->f.path.n > 0 ? into->f.path : STR("_doc")));
    }
    for (size_t i = 0; i < from->n_kids; i++) {
        struct node *old = node_kid(into, from->kids[i]->f.name), *merged = from->kids[i];
        if (old != NULL && (e = node_merge(b, old, from->kids[i], &merged)) != ERR_OK) {
            return e;
        }
        if (!node_put_kid(b, into, merged)) {
            return no_memory(b);
        }
    }
    return ERR_OK;
}
