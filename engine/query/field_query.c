/* The queries of a field for a term, several terms, a range, existence: MappedFieldType's queries. */
#include "engine/query/field_queries.h"
#include "engine/query/held_query.h"

#include "common/base/java_hash.h"
#include "common/base/settings.h"
#include "common/base/sort_items.h"
#include "engine/mapping/feature.h"

const struct field *build_field_if(const struct builder *b, struct str name)
{
    const struct field *f = mapping_field_in(b->cx->mapping, name, b->arena);
    return f == NULL || f->class->is_object || f->class->is_alias ? NULL : f;
}

const struct field *build_field(const struct builder *b, struct str name)
{
    const struct field *f = build_field_if(b, name);
    if (f == NULL && b->cx->held && mapping_field(b->cx->mapping, name) == NULL) {
        f = held_query_text(b->cx, name, b->arena);
        if (f == NULL && b->unmapped != NULL && b->unmapped->p == NULL) {
            *b->unmapped = name;
        }
    }
    return f;
}

bool index_named(const struct query_context *cx, struct str pattern)
{
    const struct setting *aliases =
        cx->index_settings != NULL ? settings_find(cx->index_settings, STR(INDEX_ALIASES)) : NULL;
    bool named = str_glob(pattern, cx->index_name);
    for (uint32_t i = 0; !named && aliases != NULL && i < aliases->n; i++) {
        named = str_glob(pattern, aliases->items[i]);
    }
    return named;
}

enum err field_constant(struct builder *b, const struct field *f, bool match, struct query **out,
                        struct errmsg *em)
{
    enum err e = match ? qnode_all(b, out, em) : qnode_none(b, out, em, "%s", "");
    if (e == ERR_OK && !match) {
        (*out)->field = f; /* build_dsl() asks whether the whole query is known to be none */
    }
    return e;
}

/* Whether a text is the one value that the field has; an index is known by its aliases and by patterns, too. */
static bool is_constant(const struct builder *b, const struct field *f, struct str text)
{
    struct str value = f->class->constant(f, b->cx->index_name);
    return value.p != NULL
           && (f->class == &field_class_meta_index ? index_named(b->cx, text) : str_eq(text, value));
}

static enum err must_be_indexed(const struct field *f, struct errmsg *em)
{
    if (f->index || f->class->is_metadata || f->class->refuse_search != NULL) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot search on field [%.*s] since it is not indexed.",
                   STR_ARG(f->path));
}

enum err field_term_bytes(struct builder *b, const struct field *f, struct str text, struct str *out,
                          struct errmsg *em)
{
    *out = text;
    return f->class->term != NULL ? f->class->term(f, text, b->arena, out, em) : ERR_OK;
}

/* ---- nodes ---- */

enum err qnode_num_range(struct builder *b, const struct field *f, int64_t lo, int64_t hi, bool point,
                         struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_num_range);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->num.lo = lo;
    q->num.hi = hi;
    q->num.point = point;
    return ERR_OK;
}

enum err qnode_term_range(struct builder *b, const struct field *f, struct str lo, struct str hi, bool lo_in,
                          bool hi_in, struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_term_range);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->term_range.lo = lo;
    q->term_range.hi = hi;
    q->term_range.lo_inclusive = lo_in;
    q->term_range.hi_inclusive = hi_in;
    return ERR_OK;
}

enum err qnode_terms(struct builder *b, const struct field *f, const struct str *v, uint32_t n,
                     struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, field_is_id(f) ? &q_ids : &q_terms);
    if (q == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; field_is_id(f) && i < n; i++) {
        if (v[i].n == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Ids can't be empty");
        }
    }
    q->field = f;
    q->field_name = f->path;
    q->terms.v = v;
    q->terms.n = n;
    return ERR_OK;
}

/* ---- values that cannot be searched for ---- */

static enum err refused_term(struct builder *b, const struct field *f, UNUSED const struct json *v,
                             UNUSED struct query **out, struct errmsg *em)
{
    if (f->class->refuse_search == NULL) {
        return err_query_shard(b, em, "The [%.*s] field is not searchable", STR_ARG(f->path));
    }
    enum err e = f->class->refuse_search(f, em);
    if (e == ERR_QUERY_SHARD) {
        err_about_index(em, b->cx->index_name, b->cx->index_uuid);
    }
    return e;
}

/* ---- terms ---- */

static enum err text_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                          struct errmsg *em)
{
    struct str term;
    enum err e = field_term_bytes(b, f, json_text(v), &term, em);
    e = e == ERR_OK ? qnode_term(b, f, term, out, em) : e;
    return e == ERR_OK && f->class->constant_scores ? qnode_constant(b, *out, out, em) : e;
}

static int cmp_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

uint32_t terms_sorted(struct str *v, uint32_t n)
{
    uint32_t distinct = MIN_OF(n, 1U);
    sort_items(v, n, sizeof(*v), cmp_str);
    for (uint32_t i = 1; i < n; i++) {
        if (!str_eq(v[i], v[distinct - 1])) {
            v[distinct++] = v[i];
        }
    }
    return distinct;
}

static enum err text_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                           struct query **out, struct errmsg *em)
{
    struct str *terms = ARENA_ARRAY(b->arena, struct str, n);
    if (terms == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = field_term_bytes(b, f, json_text(v[i]), &terms[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return qnode_terms(b, f, terms, terms_sorted(terms, n), out, em);
}

static enum err text_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                           struct query **out, struct errmsg *em)
{
    struct str lo = STR_NULL, hi = STR_NULL;
    bool open = r->from == NULL || r->to == NULL;
    enum err e = open && f->class->refuse_open_range != NULL ? f->class->refuse_open_range(f, em) : ERR_OK;
    if (e == ERR_OK && r->from != NULL) {
        e = field_term_bytes(b, f, json_text(r->from), &lo, em);
        lo.p = lo.p != NULL ? lo.p : "";
    }
    if (e == ERR_OK && r->to != NULL) {
        e = field_term_bytes(b, f, json_text(r->to), &hi, em);
        hi.p = hi.p != NULL ? hi.p : "";
    }
    return e == ERR_OK ? qnode_term_range(b, f, lo, hi, r->from_inclusive, r->to_inclusive, out, em) : e;
}

/* ---- identifiers ---- */

static enum err id_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                        struct errmsg *em)
{
    struct str *id = ARENA_NEW(b->arena, struct str);
    if (id == NULL) {
        return err_no_memory(em);
    }
    *id = json_text(v);
    return qnode_terms(b, f, id, 1, out, em);
}

/* ---- one value for the whole index ---- */

static enum err constant_term(struct builder *b, const struct field *f, const struct json *v,
                              struct query **out, struct errmsg *em)
{
    return field_constant(b, f, is_constant(b, f, json_text(v)), out, em);
}

static enum err constant_terms(struct builder *b, const struct field *f, const struct json *const *v,
                               uint32_t n, struct query **out, struct errmsg *em)
{
    bool match = false;
    for (uint32_t i = 0; !match && i < n; i++) {
        match = is_constant(b, f, json_text(v[i]));
    }
    return field_constant(b, f, match, out, em);
}

static enum err refused_range(const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] of type [%s] does not support range queries",
                   STR_ARG(f->path), field_shown_type(f));
}

/* The one type that there is lies within the bounds, or nothing does. Of other constants there are no ranges. */
static enum err constant_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                               struct query **out, struct errmsg *em)
{
    if (f->class != &field_class_meta_type) {
        return refused_range(f, em);
    }
    int low = r->from != NULL ? str_cmp(STR("_doc"), json_text(r->from)) : 1;
    int high = r->to != NULL ? str_cmp(STR("_doc"), json_text(r->to)) : -1;
    bool within =
        (low > 0 || (low == 0 && r->from_inclusive)) && (high < 0 || (high == 0 && r->to_inclusive));
    return field_constant(b, f, within, out, em);
}

/* ---- by kind ---- */

/* All that is no less and no more than a value. */
static enum err term_as_range(struct builder *b, const struct field *f, const struct json *v,
                              struct query **out, struct errmsg *em)
{
    struct range_bounds r = {.from = v, .to = v, .from_inclusive = true, .to_inclusive = true};
    return field_range(b, f, &r, out, em);
}

static const struct value_queries kinds[] = {
    [QUERIES_NONE] = {.term = refused_term},
    [QUERIES_TERMS] = {.term = text_term, .terms = text_terms, .range = text_range},
    [QUERIES_IDS] = {.term = id_term, .terms = text_terms},
    [QUERIES_CONSTANT] = {.term = constant_term, .terms = constant_terms, .range = constant_range},
    [QUERIES_NUMBERS] = {.term = number_term, .terms = number_terms, .range = number_range},
    [QUERIES_DATES] = {.term = term_as_range, .range = date_range, .range_unindexed = true},
    [QUERIES_ADDRESSES] = {.term = address_term,
                           .terms = address_terms,
                           .range = address_range,
                           .terms_unindexed = true},
    [QUERIES_RANGES] = {.term = term_as_range, .range = range_of_ranges},
};

_Static_assert(ARRAY_LEN(kinds) == FIELD_QUERIES_COUNT, "each kind has its queries");

enum err field_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                    struct errmsg *em)
{
    enum err e = must_be_indexed(f, em);
    return e == ERR_OK ? kinds[f->class->queries].term(b, f, v, out, em) : e;
}

enum err field_term_text(struct builder *b, const struct field *f, struct str text, struct query **out,
                         struct errmsg *em)
{
    struct json v = json_mk_str(text);
    return field_term(b, f, &v, out, em);
}

enum err field_term_nocase(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                           struct errmsg *em)
{
    struct str text = json_text(v), term;
    if (f->class->constant != NULL) {
        term = f->class->constant(f, b->cx->index_name);
        return field_constant(b, f, term.p != NULL && str_eq_nocase(text, term), out, em);
    }
    if (f->class->queries != QUERIES_TERMS) {
        return err_query_shard(
            b, em, "[%.*s] field which is of type [%s], does not support case insensitive term queries",
            STR_ARG(f->path), field_shown_type(f));
    }
    enum err e = must_be_indexed(f, em);
    e = e == ERR_OK ? field_term_bytes(b, f, text, &term, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct query *q = *out = pattern_node(b, f, &q_wildcard, term);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->multi.case_insensitive = q->multi.exact = true;
    return ERR_OK;
}

enum err field_any_term(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                        struct query **out, struct errmsg *em)
{
    struct bool_build bb = {0};
    struct query *any;
    for (uint32_t i = 0; i < n; i++) {
        struct query *one;
        enum err e = field_term(b, f, v[i], &one, em);
        e = e == ERR_OK ? bool_add(b, &bb, OCCUR_SHOULD, one, em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    enum err e = bool_done(b, &bb, &any, em);
    return e == ERR_OK ? qnode_constant(b, any, out, em) : e;
}

enum err field_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                     struct query **out, struct errmsg *em)
{
    const struct value_queries *k = &kinds[f->class->queries];
    enum err e = k->terms_unindexed ? ERR_OK : must_be_indexed(f, em);
    if (e != ERR_OK) {
        return e;
    }
    return k->terms != NULL ? k->terms(b, f, v, n, out, em) : field_any_term(b, f, v, n, out, em);
}

enum err field_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                     struct query **out, struct errmsg *em)
{
    const struct value_queries *k = &kinds[f->class->queries];
    *out = NULL;
    enum err e = k->range_unindexed ? ERR_OK : must_be_indexed(f, em);
    if (e != ERR_OK) {
        return e;
    }
    return k->range != NULL && !f->class->refuses_ranges ? k->range(b, f, r, out, em) : refused_range(f, em);
}

/* ---- exists ---- */

static enum err exists_node(struct builder *b, const struct field *f, struct query **out, struct errmsg *em)
{
    const struct query_ops *ops = &q_exists;
    switch (f->class->exists) {
    case EXISTS_NEVER:
        return err_query_shard(b, em, "The %.*s field is not searchable", STR_ARG(f->path));
    case EXISTS_NONE:
        return err_query_shard(b, em, "Field [%.*s] of type [%.*s] does not support exists queries",
                               STR_ARG(f->path), STR_ARG(f->path));
    case EXISTS_REFUSED:
        return f->class->refuse_exists(f, em);
    case EXISTS_FEATURE: {
        enum err e = qnode_term(b, f, f->path, out, em);
        if (e == ERR_OK) {
            (*out)->field_name = STR(FEATURE_FIELD);
        }
        return e;
    }
    case EXISTS_ALL:
        return qnode_all(b, out, em);
    case EXISTS_CONSTANT:
        return field_constant(b, f, f->class->constant(f, b->cx->index_name).p != NULL, out, em);
    case EXISTS_TERMS:
        ops = f->key_prefix.n > 0 ? &q_prefix : &q_term_range;
        break;
    case EXISTS_FORMS:
        break;
    }
    struct query *q = *out = qnode_new(b, ops);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    if (f->key_prefix.n > 0) {
        q->multi.pattern = f->key_prefix;
        q->multi.rewrite = REWRITE_CONSTANT;
    }
    return ERR_OK;
}

static struct str path_of(const void *item)
{
    return (*(const struct field *const *)item)->path;
}

void fields_order(const struct field **fields, size_t n)
{
    java_map_sort(fields, n, sizeof(*fields), path_of, java_map_buckets(n));
}

enum err build_exists(struct builder *b, struct str pattern, struct query **out, struct errmsg *em)
{
    const struct field **fields = NULL, *direct = mapping_field(b->cx->mapping, pattern);
    size_t n = 0;
    struct str like = pattern;
    bool object = direct != NULL && direct->class->is_object;
    const struct field *count = mapping_field(b->cx->mapping, STR("_doc_count"));
    if (!object && count != NULL && str_find(pattern, '*', 0) != SIZE_MAX && str_glob(pattern, count->path)) {
        struct query *none;
        return exists_node(b, count, &none, em); /* refused */
    }
    if (object) {
        like = arena_printf(b->arena, "%.*s.*", STR_ARG(pattern));
    }
    if (like.p == NULL || !mapping_match(b->cx->mapping, like, b->arena, &fields, &n)) {
        return err_no_memory(em);
    }
    if (n == 0) {
        return qnode_none(b, out, em, "unmapped field:%.*s", STR_ARG(pattern));
    }
    fields_order(fields, n);
    struct bool_build bb = {0};
    struct query *one = NULL;
    for (size_t i = 0; i < n; i++) {
        if (fields[i]->class->is_alias) {
            fields[i] = fields[i]->alias_of;
        }
        enum err e = exists_node(b, fields[i], &one, em);
        if (e == ERR_OK && n > 1 && !object) { /* each is a query of its own, under the whole one */
            e = qnode_constant(b, one, &one, em);
        }
        e = e == ERR_OK ? bool_add(b, &bb, OCCUR_SHOULD, one, em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    if (n > 1 || object) {
        enum err e = bool_done(b, &bb, &one, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return qnode_constant(b, one, out, em);
}
