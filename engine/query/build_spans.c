/* Queries of spans made with the mapping: each becomes a part of one q_spans. */
#include "common/base/utf8.h"
#include "engine/query/build_graph.h"
#include "engine/query/dsl_spans.h"
#include "engine/query/query_ops.h"
#include "engine/query/spans.h"

static const struct dsl_span *body_of(const struct dsl *d)
{
    return (const struct dsl_span *)(const void *)d;
}

/* The query of a part, which is copied. */
static enum err spans_node(struct builder *b, const struct span_part *part, bool patterns, struct query **out,
                           struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_spans);
    struct span_part *root = ARENA_NEW(b->arena, struct span_part);
    if (q == NULL || root == NULL) {
        return err_no_memory(em);
    }
    *root = *part;
    q->field = part->mapped;
    q->field_name = part->field;
    q->spans.root = root;
    q->spans.prefix = patterns;
    q->spans.written = true;
    return ERR_OK;
}

/* A clause as a part of another query; what has a name keeps it. */
static enum err build_part(struct builder *b, const struct dsl *d, struct span_part *out, bool *patterns,
                           struct errmsg *em)
{
    struct query *q;
    enum err e = build_dsl(b, d, &q, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct query *in = q;
    bool named = q->name.p != NULL;
    while (in->ops == &q_boost) {
        in = in->one.child;
        named = named || in->name.p != NULL;
    }
    if (in->ops != &q_spans) {
        *out = (struct span_part){.kind = SPAN_NONE, .term = STR("No query left after rewrite.")};
        return ERR_OK;
    }
    *out = *in->spans.root;
    out->named = named ? q : NULL;
    *patterns = *patterns || in->spans.prefix;
    return ERR_OK;
}

static struct str part_text(struct builder *b, const struct span_part *p)
{
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    span_print(p, STR_NULL, &text);
    struct str s = text.failed ? STR_NULL : arena_str(b->arena, buf_view(&text));
    buf_fini(&text);
    return s;
}

/* ---- terms ---- */

/* The class of a field's query, where that is neither a term nor a pattern. */
static const char *class_of(const struct query *q)
{
    static const struct {
        const char *type, *points;
    } classes[] = {{"integer", "org.apache.lucene.document.IntPoint$1"},
                   {"short", "org.apache.lucene.document.IntPoint$1"},
                   {"byte", "org.apache.lucene.document.IntPoint$1"},
                   {"double", "org.apache.lucene.document.DoublePoint$1"},
                   {"float", "org.apache.lucene.document.FloatPoint$1"},
                   {"half_float", "org.apache.lucene.document.HalfFloatPoint$1"}};
    if (q->ops == &q_match_all) {
        return "org.apache.lucene.search.MatchAllDocsQuery";
    }
    if (q->ops == &q_match_none) {
        return "org.apache.lucene.search.MatchNoDocsQuery";
    }
    if (q->ops == &q_exists) {
        bool norms = q->field != NULL && q->field->class->is_analysed && q->field->norms;
        return norms ? "org.apache.lucene.search.NormsFieldExistsQuery"
                     : "org.apache.lucene.search.DocValuesFieldExistsQuery";
    }
    if (q->field == NULL || q->ops != &q_num_range || !q->num.point) {
        return "org.apache.lucene.search.IndexOrDocValuesQuery";
    }
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (strcmp(field_shown_type(q->field), classes[i].type) == 0) {
            return classes[i].points;
        }
    }
    return "org.apache.lucene.document.LongPoint$1";
}

static enum err term_of_query(struct builder *b, const struct query *q, struct str *out, struct errmsg *em)
{
    while (q->ops == &q_boost) {
        q = q->one.child;
    }
    if (q->ops == &q_term) {
        *out = q->term.term;
        return ERR_OK;
    }
    if (q->ops == &q_terms && q->terms.n == 1) {
        *out = q->terms.v[0];
        return ERR_OK;
    }
    struct str text = query_text(q, b->arena);
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot extract a term from a query of type class %s: %.*s",
                   class_of(q), STR_ARG(text));
}

enum err build_span_term(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_span *s = body_of(d);
    const struct field *f = build_field(b, s->field);
    struct span_part part = {.kind = SPAN_TERM, .term = json_text(s->value), .field = s->field, .mapped = f};
    if (f != NULL) {
        struct query *term;
        enum err e = field_term(b, f, s->value, &term, em);
        e = e == ERR_OK ? term_of_query(b, term, &part.term, em) : e;
        if (e != ERR_OK) {
            return e;
        }
        part.field = f->path;
    }
    return spans_node(b, &part, false, out, em);
}

enum err build_span_gap(UNUSED struct builder *b, UNUSED const struct dsl *d, UNUSED struct query **out,
                        struct errmsg *em)
{
    return err_set(em, ERR_UNSUPPORTED, "[span_gap] is a clause of [span_near] alone");
}

/* ---- patterns ---- */

static enum err none_part(struct builder *b, struct str field, struct str why, struct query **out,
                          struct errmsg *em)
{
    struct span_part none = {.kind = SPAN_NONE, .term = why, .field = field};
    return spans_node(b, &none, false, out, em);
}

static bool reads_beginnings(const struct field *f, struct str value)
{
    size_t n = utf16_length(value);
    return f->prefix_field != NULL && n >= (size_t)f->prefix_min_chars && n <= (size_t)f->prefix_max_chars
           && f->options >= INDEX_POSITIONS;
}

static enum err span_beginning(struct builder *b, const struct field *f, struct str value, struct str rewrite,
                               struct query **out, struct errmsg *em)
{
    struct query *q = qnode_new(b, &q_prefix);
    struct span_part *term = ARENA_NEW(b->arena, struct span_part);
    if (q == NULL || term == NULL) {
        return err_no_memory(em);
    }
    q->multi.rewrite = REWRITE_CONSTANT;
    enum err e = set_rewrite(q, rewrite, em);
    if (e == ERR_OK && !f->class->is_analysed) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "Can only use span prefix queries on text fields - not on [%.*s] which is of type [%s]",
            STR_ARG(f->path), field_shown_type(f));
    }
    if (e == ERR_OK && !f->index) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot search on field [%.*s] since it is not indexed.",
                       STR_ARG(f->path));
    }
    e = e == ERR_OK ? field_term_bytes(b, f, value, &q->multi.pattern, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    q->field = f;
    q->field_name = f->path;
    if (!reads_beginnings(f, value)) {
        struct span_part multi = {.kind = SPAN_MULTI, .field = f->path, .mapped = f, .multi = q};
        return spans_node(b, &multi, true, out, em);
    }
    *term = (struct span_part){.kind = SPAN_TERM,
                               .term = q->multi.pattern,
                               .field = f->prefix_field->path,
                               .mapped = f->prefix_field};
    struct span_part mask = {.kind = SPAN_MASK, .v = term, .n = 1, .field = f->path, .mapped = f};
    return spans_node(b, &mask, false, out, em);
}

static enum err span_pattern(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    struct query *q, *bare;
    enum err e = build_dsl(b, d, &q, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct query *in = q;
    struct str name = q->name;
    while (in->ops == &q_constant || in->ops == &q_boost) {
        in = in->one.child;
        name = name.p != NULL ? name : in->name;
    }
    if (in->ops == &q_match_none) {
        return none_part(b, d->type->pattern_field(d), query_text(in, b->arena), out, em);
    }
    if (in->ops->matcher == NULL) {
        return err_set(
            em, ERR_UNSUPPORTED,
            "unsupported inner query, should be org.apache.lucene.search.MultiTermQuery but was %s",
            class_of(in));
    }
    bare = ARENA_NEW(b->arena, struct query);
    if (bare == NULL) {
        return err_no_memory(em);
    }
    *bare = *in;
    bare->boost = 1;
    bare->name = name;
    struct span_part multi = {
        .kind = SPAN_MULTI, .field = in->field_name, .mapped = in->field, .multi = bare};
    return spans_node(b, &multi, true, out, em);
}

enum err build_span_multi(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl *in = body_of(d)->first;
    struct str value, rewrite;
    if (dsl_is_none(b, in)) {
        return none_part(b, in->type->pattern_field(in), STR("Inner query rewrote to match_none"), out, em);
    }
    return dsl_is_prefix(in, &value, &rewrite)
               ? span_beginning(b, build_field(b, in->type->pattern_field(in)), value, rewrite, out, em)
               : span_pattern(b, in, out, em);
}

/* ---- several ---- */

static bool is_gap(const struct dsl *d)
{
    return d->type == &dsl_span_gap;
}

static enum err add_gap(struct builder *b, const struct dsl_span *gap, const struct span_part *near,
                        struct span_part *out, struct errmsg *em)
{
    const struct field *f = build_field(b, gap->field);
    if (!str_eq(f != NULL ? f->path : gap->field, near->field)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[span_near] clauses must have same field");
    }
    if (near->unordered) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Gaps can only be added to ordered near queries");
    }
    *out =
        (struct span_part){.kind = SPAN_GAP, .end = gap->end, .field = near->field, .mapped = near->mapped};
    return ERR_OK;
}

static enum err add_near(struct builder *b, const struct dsl *d, struct span_part *near,
                         struct span_part *out, bool *patterns, struct errmsg *em)
{
    if (is_gap(d)) {
        return add_gap(b, body_of(d), near, out, em);
    }
    enum err e = build_part(b, d, out, patterns, em);
    if (e == ERR_OK && !str_eq(out->field, near->field)) {
        struct str text = part_text(b, out);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot add clause %.*s to SpanNearQuery for field %.*s",
                       STR_ARG(text), STR_ARG(near->field));
    }
    return e;
}

enum err build_span_near(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_span *s = body_of(d);
    const struct dsl *first = s->clauses.v[0];
    uint32_t n = (uint32_t)s->clauses.n;
    bool patterns = false;
    if (n == 1) {
        return is_gap(first) ? qnode_none(b, out, em, "No query left after rewrite.")
                             : build_dsl(b, first, out, em);
    }
    struct span_part *v = ARENA_ARRAY(b->arena, struct span_part, n);
    struct span_part near = {.kind = SPAN_NEAR, .v = v, .n = n, .slop = s->slop, .unordered = !s->in_order};
    enum err e = v != NULL ? ERR_OK : err_no_memory(em);
    if (e == ERR_OK && is_gap(first)) {
        near.mapped = build_field(b, body_of(first)->field);
        near.field = near.mapped != NULL ? near.mapped->path : body_of(first)->field;
        e = add_gap(b, body_of(first), &near, &v[0], em);
    } else if (e == ERR_OK) {
        e = build_part(b, first, &v[0], &patterns, em);
        near.field = v[0].field;
        near.mapped = v[0].mapped;
    }
    for (uint32_t i = 1; i < n && e == ERR_OK; i++) {
        e = add_near(b, s->clauses.v[i], &near, &v[i], &patterns, em);
    }
    return e == ERR_OK ? spans_node(b, &near, patterns, out, em) : e;
}

enum err build_span_or(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_span *s = body_of(d);
    uint32_t n = (uint32_t)s->clauses.n;
    bool patterns = false, differ = false;
    struct span_part *v = ARENA_ARRAY(b->arena, struct span_part, n);
    enum err e = v != NULL ? ERR_OK : err_no_memory(em);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        e = build_part(b, s->clauses.v[i], &v[i], &patterns, em);
        differ = differ || !str_eq(v[i].field, v[0].field);
    }
    if (e == ERR_OK && differ) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Clauses must have same field.");
    }
    if (e != ERR_OK) {
        return e;
    }
    struct span_part any = {.kind = SPAN_OR, .v = v, .n = n, .field = v[0].field, .mapped = v[0].mapped};
    return spans_node(b, &any, patterns, out, em);
}

/* Two parts of one field, of which the first one's places count. */
static enum err build_two(struct builder *b, const struct dsl_span *s, const char *differ,
                          struct span_part *part, struct query **out, struct errmsg *em)
{
    bool patterns = false;
    struct span_part *v = ARENA_ARRAY(b->arena, struct span_part, 2);
    enum err e = v != NULL ? ERR_OK : err_no_memory(em);
    e = e == ERR_OK ? build_part(b, s->first, &v[0], &patterns, em) : e;
    e = e == ERR_OK ? build_part(b, s->second, &v[1], &patterns, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (!str_eq(v[0].field, v[1].field)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s", differ);
    }
    part->v = v;
    part->n = 2;
    part->field = v[0].field;
    part->mapped = v[0].mapped;
    return spans_node(b, part, patterns, out, em);
}

enum err build_span_not(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_span *s = body_of(d);
    int32_t both = s->dist;
    struct span_part part = {.kind = SPAN_NOT,
                             .before = MAX_OF(s->before != SPAN_NOT_SET ? s->before : both, 0),
                             .after = MAX_OF(s->after != SPAN_NOT_SET ? s->after : both, 0)};
    return build_two(b, s, "Clauses must have same field.", &part, out, em);
}

enum err build_span_around(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    struct span_part part = {.kind = d->type == &dsl_span_within ? SPAN_WITHIN : SPAN_CONTAINING};
    return build_two(b, body_of(d), "big and little not same field", &part, out, em);
}

/* One part below. */
static enum err build_one(struct builder *b, const struct dsl_span *s, struct span_part *part,
                          struct query **out, struct errmsg *em)
{
    bool patterns = false;
    struct span_part *v = ARENA_NEW(b->arena, struct span_part);
    enum err e = v != NULL ? build_part(b, s->first, v, &patterns, em) : err_no_memory(em);
    if (e != ERR_OK) {
        return e;
    }
    part->v = v;
    part->n = 1;
    if (part->field.p == NULL) {
        part->field = v->field;
        part->mapped = v->mapped;
    }
    return spans_node(b, part, patterns, out, em);
}

enum err build_span_first(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    struct span_part part = {.kind = SPAN_FIRST, .end = body_of(d)->end};
    return build_one(b, body_of(d), &part, out, em);
}

enum err build_span_mask(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct field *f = build_field(b, body_of(d)->field);
    struct span_part part = {
        .kind = SPAN_MASK, .field = f != NULL ? f->path : body_of(d)->field, .mapped = f};
    return build_one(b, body_of(d), &part, out, em);
}
