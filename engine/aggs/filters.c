/* filter, filters, adjacency_matrix, missing, global. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/stop.h"

#define FILTERS_MAX 100 /* of an adjacency matrix: index.max_adjacency_matrix_filters */

/* ---- filter, filters, adjacency_matrix --------------------------------------------------------------------------------- */

struct filters {
    struct collector c;
    struct filter_bits *f;
    uint32_t n;       /* filters */
    uint32_t buckets; /* an owner */
    uint32_t *hit;    /* filters that a document passed */
    int64_t *counts;
    uint32_t cap;
};

static enum err filters_leaf(struct collector *c, struct errmsg *em)
{
    struct filters *s = (struct filters *)c;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        e = filter_bits_leaf(&s->f[i], em);
    }
    return e;
}

static void take(struct filters *s, const struct doc_run *d, uint32_t at, uint32_t place)
{
    uint32_t b = run_bucket(d, at) * s->buckets + place;
    if (run_reserve(s->c.run, &s->counts, &s->cap, (uint64_t)run_bucket(d, at) * s->buckets + place + 1,
                    sizeof(*s->counts))) {
        s->counts[b]++;
        collector_send(&s->c, d->docs[at], b, d->scores != NULL ? d->scores[at] : 0);
    }
}

/* The place of the pair (i, j), i < j, behind the filters themselves. */
static uint32_t pair_place(const struct filters *s, uint32_t i, uint32_t j)
{
    return s->n + i * (2 * s->n - i - 1) / 2 + (j - i - 1);
}

static void filters_collect(struct collector *c, const struct doc_run *d)
{
    struct filters *s = (struct filters *)c;
    const struct agg_type *k = c->agg->type;
    for (uint32_t at = 0; at < d->n && c->run->failed == ERR_OK && !stop_often(); at++) {
        uint32_t hits = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            if (filter_bits_test(&s->f[i], d->docs[at])) {
                s->hit[hits++] = i;
                take(s, d, at, i);
            }
        }
        if (hits == 0 && k == &agg_filters && c->agg->filters.other) {
            take(s, d, at, s->n);
        }
        for (uint32_t i = 0; k == &agg_adjacency_matrix && i < hits && !stop_often(); i++) {
            for (uint32_t j = i + 1; j < hits; j++) {
                take(s, d, at, pair_place(s, s->hit[i], s->hit[j]));
            }
        }
    }
    collector_flush(c);
}

static enum err place_key(const struct filters *s, uint32_t place, struct agg_key *out, struct errmsg *em)
{
    const struct filters_params *p = &s->c.agg->filters;
    const struct agg_type *k = s->c.agg->type;
    *out = (struct agg_key){.kind = KEY_NONE};
    if (k == &agg_filter || (k == &agg_filters && !p->keyed)) {
        return ERR_OK;
    }
    out->kind = KEY_STR;
    if (place < s->n) {
        out->s = p->v[place].name;
        return ERR_OK;
    }
    if (k == &agg_filters) {
        out->s = p->other_key;
        return ERR_OK;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t j = i + 1; j < s->n; j++) {
            if (pair_place(s, i, j) == place) {
                out->s = arena_printf(s->c.run->arena, "%.*s%.*s%.*s", STR_ARG(p->v[i].name),
                                      STR_ARG(p->separator), STR_ARG(p->v[j].name));
            }
        }
    }
    return out->s.p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err filters_build(struct collector *c, uint32_t owner, struct agg_result *out, struct errmsg *em)
{
    struct filters *s = (struct filters *)c;
    const struct agg_type *k = c->agg->type;
    out->agg = c->agg;
    out->form = k == &agg_filter || (k == &agg_filters && !c->agg->filters.keyed) ? RESULT_PLAIN : RESULT_STR;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, s->buckets);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < s->buckets; i++) {
        bool met = owner != NO_BUCKET && (uint64_t)owner * s->buckets + i < s->cap;
        uint32_t bucket = met ? owner * s->buckets + i : NO_BUCKET;
        struct agg_bucket *b = &out->buckets[out->n];
        b->doc_count = met ? s->counts[bucket] : 0;
        if (k == &agg_adjacency_matrix && b->doc_count == 0) {
            continue;
        }
        out->n++;
        enum err e = place_key(s, i, &b->key, em);
        e = e == ERR_OK ? collector_subs(c, bucket, &b->subs, em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static double filters_value(struct collector *c, uint32_t bucket, struct str key)
{
    struct filters *s = (struct filters *)c;
    (void)key;
    return bucket < s->cap ? (double)s->counts[bucket] : 0;
}

/* Queries are made when all that is below has been. */
static enum err filters_made(struct collector *c, struct errmsg *em)
{
    struct filters *s = (struct filters *)c;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        const struct json *query = c->agg->filters.v[i].query;
        e = filter_bits_init(&s->f[i], c->run, query, em);
        c->rewritten |= e == ERR_OK && query_is_rewritten(c->run, query);
    }
    return e;
}

static const struct collector_ops filters_ops = {.made = filters_made,
                                                 .leaf = filters_leaf,
                                                 .collect = filters_collect,
                                                 .build = filters_build,
                                                 .value = filters_value};

enum err filters_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct filters *s = ARENA_NEW(r->arena, struct filters);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->n = a->filters.n;
    int64_t most = FILTERS_MAX;
    enum err e =
        settings_i64(r->cx->shard->index_settings, "max_adjacency_matrix_filters", FILTERS_MAX, &most, em);
    if (e == ERR_OK && a->type == &agg_adjacency_matrix && s->n > most) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Number of filters is too large, must be less than or equal to: [%lld] but was [%u]."
                       "This limit can be set by "
                       "changing the [index.max_adjacency_matrix_filters] index level setting.",
                       (long long)most, s->n);
    }
    s->buckets =
        a->type == &agg_adjacency_matrix ? s->n + s->n * (s->n - 1) / 2 : s->n + (a->filters.other ? 1 : 0);
    s->f = ARENA_ARRAY(r->arena, struct filter_bits, s->n);
    s->hit = ARENA_ARRAY(r->arena, uint32_t, s->n);
    e = e == ERR_OK && (s->f == NULL || s->hit == NULL) ? err_no_memory(em) : e;
    return e == ERR_OK ? collector_init(&s->c, &filters_ops, r, a, em) : e;
}

/* ---- missing, global ------------------------------------------------------------------------------------------------------ */

struct single {
    struct collector c;
    struct values v; /* missing */
    int64_t *counts;
    uint32_t cap;
};

static void pass(struct single *s, const struct doc_run *d, uint32_t at)
{
    uint32_t b = run_bucket(d, at);
    if (run_reserve(s->c.run, &s->counts, &s->cap, b + 1, sizeof(*s->counts))) {
        s->counts[b]++;
        collector_send(&s->c, d->docs[at], b, d->scores != NULL ? d->scores[at] : 0);
    }
}

static enum err missing_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct single *)c)->v, em);
}

static void missing_collect(struct collector *c, const struct doc_run *d)
{
    struct single *s = (struct single *)c;
    uint32_t n = s->v.none ? 0 : values_count(&s->v, d);
    for (uint32_t i = 0; i < d->n; i++) {
        if (s->v.none || (i < n && s->v.at[i] == 0)) {
            pass(s, d, i);
        }
    }
    collector_flush(c);
}

static void global_collect(struct collector *c, const struct doc_run *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        pass((struct single *)c, d, i);
    }
    collector_flush(c);
}

static enum err single_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    struct single *s = (struct single *)c;
    return collector_single(c, bucket, bucket < s->cap ? s->counts[bucket] : 0, out, em);
}

static double single_value(struct collector *c, uint32_t bucket, struct str key)
{
    struct single *s = (struct single *)c;
    (void)key;
    return bucket < s->cap ? (double)s->counts[bucket] : 0;
}

static const struct collector_ops missing_ops = {
    .leaf = missing_leaf, .collect = missing_collect, .build = single_build, .value = single_value};
static const struct collector_ops global_ops = {
    .collect = global_collect, .build = single_build, .value = single_value};

static enum err single_new(struct collector **out, struct single **made, const struct collector_ops *ops,
                           struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct single *s = ARENA_NEW(r->arena, struct single);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    *made = s;
    return collector_init(&s->c, ops, r, a, em);
}

enum err missing_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct single *s = NULL;
    enum err e = single_new(out, &s, &missing_ops, r, a, em);
    return e == ERR_OK ? values_bind(&s->v, r, a, &a->vs, TAKES_ALL, SOURCE_TEXT, em) : e;
}

enum err global_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct single *s = NULL;
    return single_new(out, &s, &global_ops, r, a, em);
}

/* ---- printing, rows ---- */

static bool filters_keyed(const struct agg *a)
{
    return a->filters.keyed;
}

static void filters_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                                 struct jsonw *w)
{
    (void)r; /* a name stands before the bucket; without names there are none */
    (void)b;
    (void)keyed;
    (void)w;
}

static bool global_every_document(const struct agg *a)
{
    (void)a;
    return true;
}

const struct agg_type agg_filter = {
    .name = "filter",
    .class = CLASS_SINGLE,
    .parse = parse_filter,
    .collector = filters_new,
    .builder = "bucket.filter.FilterAggregationBuilder",
    .factory = "FilterAggregatorFactory",
    .results = {"InternalFilter"},
    .reduce = reduce_by_place,
};

const struct agg_type agg_missing = {
    .name = "missing",
    .class = CLASS_SINGLE,
    .parse = parse_missing,
    .collector = missing_new,
    .builder = "bucket.missing.MissingAggregationBuilder",
    .factory = "MissingAggregatorFactory",
    .results = {"InternalMissing"},
    .reduce = reduce_by_place,
};

const struct agg_type agg_global = {
    .name = "global",
    .class = CLASS_SINGLE,
    .parse = parse_global,
    .collector = global_new,
    .builder = "bucket.global.GlobalAggregationBuilder",
    .factory = "GlobalAggregatorFactory",
    .results = {"InternalGlobal"},
    .reduce = reduce_by_place,
    .top_only = true,
    .every_document = global_every_document,
};

const struct agg_type agg_filters = {
    .name = "filters",
    .class = CLASS_MULTI,
    .parse = parse_filters,
    .collector = filters_new,
    .factory = "FiltersAggregatorFactory",
    .results = {"InternalFilters"},
    .reduce = reduce_by_place,
    .print_bucket = filters_print_bucket,
    .keyed = filters_keyed,
};

const struct agg_type agg_adjacency_matrix = {
    .name = "adjacency_matrix",
    .class = CLASS_MULTI,
    .parse = parse_adjacency,
    .collector = filters_new,
    .factory = "AdjacencyMatrixAggregatorFactory",
    .results = {"InternalAdjacencyMatrix"},
    .reduce = reduce_keys,
    .print_bucket = print_keyed_head,
};
