/* The slice of a scroll, as a filter around the request's query. */
#include "engine/collect/search_context.h"
#include "engine/query/slice.h"

#include "engine/mapping/field_class.h"

#include "common/base/jsonr.h"
#include "common/settings/setting_read.h"

static struct query *new_query(const struct search_context *cx, const struct query_ops *ops)
{
    struct query *q = ARENA_NEW(cx->arena, struct query);
    if (q != NULL) {
        q->ops = ops;
        q->boost = 1;
    }
    return q;
}

/* The query, and what else must match. */
static enum err add_filter(const struct search_context *cx, const struct query **q,
                           const struct query *filter, struct errmsg *em)
{
    struct bool_clause *v = ARENA_ARRAY(cx->arena, struct bool_clause, 2);
    struct query *outer = new_query(cx, &q_bool);
    if (v == NULL || outer == NULL) {
        return err_no_memory(em);
    }
    v[0] = (struct bool_clause){OCCUR_MUST, *q};
    v[1] = (struct bool_clause){OCCUR_FILTER, filter};
    outer->boolean.v = v;
    outer->boolean.n = 2;
    *q = outer;
    return ERR_OK;
}

/* Does each document have numbers of the field in a column: given, counted, or its own? */
static bool slices_by(const struct field *f)
{
    return f->class->is_metadata ? f->class->has_column && f->class->kind == VALUE_NUMBER
                                 : f->doc_values && field_class_has_numbers(f->class);
}

static enum err check_slice(const struct search_context *cx, struct slice s, struct str name,
                            const struct field *f, struct errmsg *em)
{
    const int64_t max = setting_i64(cx->shard->index_settings, SET_INDEX_MAX_SLICES_PER_SCROLL);
    enum err e = ERR_OK;
    if (!cx->shard->scope.scroll) {
        return err_set(em, ERR_SEARCH, "`slice` cannot be used outside of a scroll context");
    }
    if (s.max > max) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "The number of slices [%d] is too large. It must be less than [%lld]. This limit can be "
                    "set by changing the "
                    "[index.max_slices_per_scroll] index level setting.",
                    (int)s.max, (long long)max);
    }
    if (e == ERR_OK && (f == NULL || f->class->is_object)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "field %.*s not found", STR_ARG(name));
    } else if (e == ERR_OK && !field_is_id(f) && !slices_by(f)) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot load numeric doc values on %.*s", STR_ARG(name));
    }
    return e;
}

enum err search_add_slice(const struct query **q, const struct search_context *cx, struct errmsg *em)
{
    const struct json *id = json_get(cx->source->slice, "id"), *max = json_get(cx->source->slice, "max");
    const struct json *field = json_get(cx->source->slice, "field");
    struct str name = field != NULL ? json_text(field) : STR("_id");
    struct slice s, within;
    enum err e = jr_int(id, &s.id, em);
    e = e == ERR_OK ? jr_int(max, &s.max, em) : e;
    const struct field *f = mapping_field(cx->query.mapping, name);
    e = e == ERR_OK ? check_slice(cx, s, name, f, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    enum slice_scope scope =
        slice_of_shard(s, cx->shard->scope.asked_shard, cx->shard->scope.asked_shards, &within);
    if (scope == SLICE_ALL) {
        return ERR_OK;
    }
    struct query *filter = new_query(cx, scope == SLICE_NOTHING ? &q_match_none : &q_slice);
    if (filter == NULL) {
        return err_no_memory(em);
    }
    if (scope == SLICE_NOTHING) {
        filter->none.reason = STR("this shard is not part of the slice");
        *q = filter;
        return ERR_OK;
    }
    struct slice *own = ARENA_NEW(cx->arena, struct slice);
    if (own == NULL) {
        return err_no_memory(em);
    }
    *own = within;
    filter->field = !field_is_id(f) ? f : NULL;
    filter->field_name = f->path;
    filter->own = own;
    return add_filter(cx, q, filter, em);
}
