/* nested and reverse_nested: from documents to those nested in them, and back. Nested documents stand before
 * their root. */
#include "engine/aggs/agg_row.h"

#include "engine/mapping/field_class.h"

#include "common/base/bits.h"
#include "common/base/jsonr.h"

struct nested_params {
    struct str path;
};
AGG_PARAMS(nested_params)

static enum err parse_nested(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct nested_params *given = nested_params(a);
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (m->value.type != JSON_STRING) {
            return jr_fail(p->text, m->value.off, p->em, "Unexpected token %s in [%.*s].",
                           json_token_name(&m->value), STR_ARG(a->name));
        }
        if (!str_is(m->key, "path")) {
            return agg_unknown_key(p, a, m);
        }
        given->path = m->value.s;
    }
    if (given->path.p == NULL && a->type == &agg_nested) {
        return jr_fail(p->text, body->end - 1, p->em, "Missing [path] field for nested aggregation [%.*s]",
                       STR_ARG(a->name));
    }
    return ERR_OK;
}

struct nested {
    struct collector c;
    bool reverse, unmapped;
    struct str child_path;        /* nested: of the documents below */
    struct str parent_path;       /* nested: of those above; reverse: of the target; n == 0: roots */
    uint64_t *children, *parents; /* bits of the segment */
    uint32_t cap_words;
    int64_t *counts;
    uint32_t *last; /* reverse: the document that the bucket had last, + 1 */
    uint32_t cap, cap_last;
};

static enum err path_bits(struct nested *s, struct str path, uint64_t *bits, UNUSED struct errmsg *em)
{
    const struct leaf *leaf = s->c.run->leaf;
    struct term_info info;
    struct postings p;
    memset(bits, 0, bits_words(leaf->doc_count) * sizeof(*bits));
    if (path.n == 0) {
        const uint64_t *roots = leaf->roots != NULL ? leaf->roots : segment_roots(leaf->segment);
        for (doc_id d = 0; d < leaf->doc_count; d++) {
            if (roots == NULL || bits_test(roots, d)) {
                bits_set(bits, d);
            }
        }
        return ERR_OK;
    }
    const struct seg_field *f = segment_field(leaf->segment, STR("_nested_path"));
    if (f == NULL || !seg_term(f, path, &info)) {
        return ERR_OK;
    }
    postings_init(&p, f, &info, false);
    for (doc_id d = postings_next(&p); d < leaf->doc_count; d = postings_next(&p)) {
        bits_set(bits, d);
    }
    return ERR_OK;
}

static enum err nested_leaf(struct collector *c, struct errmsg *em)
{
    struct nested *s = (struct nested *)c;
    if (s->unmapped) {
        return ERR_OK;
    }
    size_t words = bits_words(c->run->leaf->doc_count);
    if (words > s->cap_words) {
        s->children = ARENA_ARRAY(c->run->arena, uint64_t, words);
        s->parents = ARENA_ARRAY(c->run->arena, uint64_t, words);
        s->cap_words = (uint32_t)words;
        if (s->children == NULL || s->parents == NULL) {
            return err_no_memory(em);
        }
    }
    for (uint32_t i = 0; i < s->cap_last; i++) {
        s->last[i] = 0;
    }
    enum err e = s->reverse ? ERR_OK : path_bits(s, s->child_path, s->children, em);
    return e == ERR_OK ? path_bits(s, s->parent_path, s->parents, em) : e;
}

static void nested_take(struct nested *s, doc_id doc, uint32_t bucket, float score)
{
    if (run_reserve(s->c.run, &s->counts, &s->cap, bucket + 1, sizeof(*s->counts))) {
        s->counts[bucket]++;
        collector_send(&s->c, doc, bucket, score);
    }
}

/* Children of a document lie between the parent before it and itself. They must go down in ascending order
 * whatever buckets their parent falls into: a parent's entries in the batch are neighbours. */
static void down(struct nested *s, const struct doc_run *d)
{
    for (uint32_t i = 0; i < d->n;) {
        doc_id parent = d->docs[i], from = parent;
        uint32_t end = i;
        while (end < d->n && d->docs[end] == parent) {
            end++;
        }
        while (from > 0 && !bits_test(s->parents, from - 1)) {
            from--;
        }
        size_t child = bits_next(s->children, from, parent);
        for (; child < parent; child = bits_next(s->children, child + 1, parent)) {
            for (uint32_t k = i; k < end; k++) {
                nested_take(s, (doc_id)child, run_bucket(d, k), d->scores != NULL ? d->scores[k] : 0);
            }
        }
        i = end;
    }
}

static void up(struct nested *s, const struct doc_run *d)
{
    uint32_t docs = s->c.run->leaf->doc_count;
    for (uint32_t i = 0; i < d->n; i++) {
        size_t parent = bits_next(s->parents, d->docs[i], docs);
        uint32_t b = run_bucket(d, i);
        if (parent >= docs || !run_reserve(s->c.run, &s->last, &s->cap_last, b + 1, sizeof(*s->last))) {
            continue;
        }
        if (s->last[b] != (uint32_t)parent + 1) {
            s->last[b] = (uint32_t)parent + 1;
            nested_take(s, (doc_id)parent, b, d->scores != NULL ? d->scores[i] : 0);
        }
    }
}

static void nested_collect(struct collector *c, const struct doc_run *d)
{
    struct nested *s = (struct nested *)c;
    if (s->unmapped) {
        return;
    }
    if (s->reverse) {
        up(s, d);
    } else {
        down(s, d);
    }
    collector_flush(c);
}

static enum err nested_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    struct nested *s = (struct nested *)c;
    return collector_single(c, bucket, bucket < s->cap ? s->counts[bucket] : 0, out, em);
}

static double nested_value(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    struct nested *s = (struct nested *)c;
    return bucket < s->cap ? (double)s->counts[bucket] : 0;
}

static const struct collector_ops nested_ops = {
    .leaf = nested_leaf, .collect = nested_collect, .build = nested_build, .value = nested_value};

/* The path of the documents that an aggregation's collector gets; n == 0: roots. */
static struct str scope_of(const struct agg *a)
{
    for (; a != NULL; a = a->parent) {
        if (a->type == &agg_nested) {
            return nested_params(a)->path;
        }
        if (a->type == &agg_reverse_nested) {
            return nested_params(a)->path.p != NULL ? nested_params(a)->path : STR("");
        }
    }
    return STR("");
}

static bool inside_nested(const struct agg *a)
{
    for (a = a->parent; a != NULL; a = a->parent) {
        if (a->type == &agg_nested) {
            return true;
        }
    }
    return false;
}

static enum err check_path(struct nested *s, const struct agg *a, struct errmsg *em)
{
    const struct nested_params *given = nested_params(a);
    const struct field *f = mapping_field(s->c.run->cx->query.mapping, given->path);
    const char *kind = s->reverse ? "reverse_nested" : "nested";
    bool object = f != NULL && f->class->is_object;
    s->unmapped = !object;
    if (object && !f->class->is_nested) {
        return err_set(em, ERR_AGG_EXECUTION, "[%s] nested path [%.*s] is not nested", kind,
                       STR_ARG(given->path));
    }
    return ERR_OK;
}

static enum err nested_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct nested_params *given = nested_params(a);
    struct nested *s = ARENA_NEW(r->arena, struct nested);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->reverse = a->type == &agg_reverse_nested;
    enum err e = collector_init(&s->c, &nested_ops, r, a, em);
    if (e == ERR_OK && s->reverse && !inside_nested(a)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Reverse nested aggregation [%.*s] can only be used inside a [nested] aggregation",
                       STR_ARG(a->name));
    }
    if (e == ERR_OK && given->path.p != NULL) {
        e = check_path(s, a, em);
    }
    s->c.single = !s->unmapped;
    s->c.unmapped = s->unmapped;
    s->child_path = s->reverse ? STR("") : given->path;
    s->parent_path = !s->reverse ? scope_of(a->parent) : given->path.p != NULL ? given->path : STR("");
    return e;
}

const struct agg_type agg_nested = {
    .name = "nested",
    .nests = true,
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct nested_params),
    .parse = parse_nested,
    .collector = nested_new,
    .builder = "bucket.nested.NestedAggregationBuilder",
    .factory = "AggregatorFactory",
    .results = {"InternalNested"},
    .reduce = reduce_by_place,
};

const struct agg_type agg_reverse_nested = {
    .name = "reverse_nested",
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct nested_params),
    .parse = parse_nested,
    .collector = nested_new,
    .builder = "bucket.nested.ReverseNestedAggregationBuilder",
    .factory = "ReverseNestedAggregatorFactory",
    .results = {"InternalReverseNested"},
    .reduce = reduce_by_place,
};
