/* filter, filters, adjacency_matrix, missing, global. */
#include "common/settings/setting_read.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/jsonr.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

struct filter_spec {
    struct str name;
    const struct json *query;
};

struct filters_params {
    const struct filter_spec *v; /* in the order of their names when keyed */
    uint32_t n;
    bool keyed, other;
    struct str other_key, separator;
};
AGG_PARAMS(filters_params)

/* ---- definitions ----------------------------------------------------------------------------------------- */

static enum err parse_filter(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct filters_params *given = filters_params(a);
    struct filter_spec *f = ARENA_NEW(p->arena, struct filter_spec);
    if (f == NULL) {
        return err_no_memory(p->em);
    }
    f->query = body;
    given->v = f;
    given->n = 1;
    return query_check(body, p->text, NULL, p->arena, p->em);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct filter_spec *)a)->name, ((const struct filter_spec *)b)->name);
}

/* Named queries (an object) or anonymous ones (an array). The reader of a named one begins at its name, or behind
 * it. */
static enum err query_list(struct agg_parse *p, struct agg *a, const struct json *v, bool from_name)
{
    struct json_pull c;
    struct filters_params *f = filters_params(a);
    struct filter_spec *list = ARENA_ARRAY(p->arena, struct filter_spec, (size_t)v->n + 1);
    if (list == NULL || !json_pull_init(&c, v, p->text, p->arena)) {
        return err_no_memory(p->em);
    }
    f->keyed = v->type == JSON_OBJECT;
    f->v = list;
    f->n = 0;
    json_pull_next(&c);
    while (f->n <= v->n && json_pull_until(&c, f->keyed ? TOK_END_OBJECT : TOK_END_ARRAY)) {
        struct filter_spec *to = &list[f->n++];
        to->name = f->keyed ? c.name : STR_NULL;
        if (f->keyed && !from_name) {
            json_pull_next(&c);
        }
        enum err e = agg_query(p, &c, &to->query);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (c.off != v->end - 1) { /* it ended with a list inside it */
        return jr_fail(p->text, v->end - 1, p->em, "Unknown key for a %s in [%.*s]: [filters].",
                       f->keyed ? "END_OBJECT" : "END_ARRAY", STR_ARG(a->name));
    }
    if (f->keyed) {
        sort_items(list, f->n, sizeof(*list), by_name);
    }
    return ERR_OK;
}

static enum err parse_filters(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct filters_params *given = filters_params(a);
    bool other_given = false, other = false;
    given->other_key = STR("_other_");
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        enum err e = ERR_OK;
        if (str_is(m->key, "filters") && (m->value.type == JSON_OBJECT || m->value.type == JSON_ARRAY)) {
            e = query_list(p, a, &m->value, false);
        } else if (str_is(m->key, "other_bucket") && m->value.type == JSON_BOOL) {
            other_given = true;
            other = m->value.b;
        } else if (str_is(m->key, "other_bucket_key") && m->value.type == JSON_STRING) {
            given->other_key = m->value.s;
            given->other = true;
        } else {
            e = agg_unknown_key(p, a, m);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    given->other = other_given ? other : given->other;
    if (given->n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[filters] cannot be empty.");
    }
    return ERR_OK;
}

static enum err matrix_filters(struct agg_parse *p, struct agg *a, const struct json *v)
{
    if (v->type == JSON_ARRAY) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[filters] doesn't support arrays. Use a single object with multiple fields.");
    }
    enum err e = query_list(p, a, v, true);
    return e == ERR_OK || e == ERR_NO_MEMORY
               ? e
               : jr_wrap_field(p->text, p->at, "filters", v->members[filters_params(a)->n - 1].key, p->em);
}

static enum err matrix_separator(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    filters_params(a)->separator = json_text(v);
    return ERR_OK;
}

static const struct agg_param matrix_table[] = {{"separator", TK_STRING, matrix_separator},
                                                {"filters", TK_OBJECT | TK_ARRAY, matrix_filters},
                                                {NULL, 0, NULL}};

static enum err parse_adjacency(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct filters_params *given = filters_params(a);
    given->separator = STR("&");
    enum err e = agg_params(p, a, body, "adjacency_matrix", matrix_table, NULL);
    if (e == ERR_OK && given->n == 0) {
        return err_set(p->em, ERR_ILLEGAL_STATE, "[%.*s] is missing : filters parameter", STR_ARG(a->name));
    }
    return e;
}

static enum err parse_missing(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, "missing", agg_source_params, NULL);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

static enum err parse_global(struct agg_parse *p, struct agg *a, const struct json *body)
{
    if (body->n > 0) {
        return jr_fail(p->text, body->members[0].value.off, p->em,
                       "Expected [FIELD_NAME] under a [START_OBJECT], but got a [%s] in [%.*s]",
                       json_token_name(&body->members[0].value), STR_ARG(a->name));
    }
    return ERR_OK;
}

/* ---- filter, filters, adjacency_matrix ------------------------------------------------------------------- */

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

static void filters_take(struct filters *s, const struct doc_run *d, uint32_t at, uint32_t place)
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
    bool matrix = c->agg->type == &agg_adjacency_matrix,
         others = c->agg->type == &agg_filters && filters_params(c->agg)->other;
    for (uint32_t at = 0; at < d->n && c->run->failed == ERR_OK && !stop_often(); at++) {
        uint32_t hits = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            if (filter_bits_test(&s->f[i], d->docs[at])) {
                s->hit[hits++] = i;
                filters_take(s, d, at, i);
            }
        }
        if (hits == 0 && others) {
            filters_take(s, d, at, s->n);
        }
        for (uint32_t i = 0; matrix && i < hits && !stop_often(); i++) {
            for (uint32_t j = i + 1; j < hits; j++) {
                filters_take(s, d, at, pair_place(s, s->hit[i], s->hit[j]));
            }
        }
    }
    collector_flush(c);
}

static enum err place_key(const struct filters *s, uint32_t place, struct agg_key *out, struct errmsg *em)
{
    const struct filters_params *p = filters_params(s->c.agg);
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
    out->form =
        k == &agg_filter || (k == &agg_filters && !filters_params(c->agg)->keyed) ? RESULT_PLAIN : RESULT_STR;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, s->buckets);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < s->buckets; i++) {
        uint64_t place = (uint64_t)owner * s->buckets + i;
        bool met = owner != NO_BUCKET && place < s->cap;
        /* one that no document fell into is a bucket as well, to those below it */
        uint32_t bucket = owner != NO_BUCKET && place < NO_BUCKET ? (uint32_t)place : NO_BUCKET;
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

static double filters_value(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    struct filters *s = (struct filters *)c;
    return bucket < s->cap ? (double)s->counts[bucket] : 0;
}

/* Queries are made when all that is below has been. */
static enum err filters_made(struct collector *c, struct errmsg *em)
{
    struct filters *s = (struct filters *)c;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        const struct json *query = filters_params(c->agg)->v[i].query;
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

static enum err filters_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct filters_params *given = filters_params(a);
    struct filters *s = ARENA_NEW(r->arena, struct filters);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->n = given->n;
    const int64_t most = setting_i64(r->cx->shard->index_settings, SET_INDEX_MAX_ADJACENCY_MATRIX_FILTERS);
    if (a->type == &agg_adjacency_matrix && s->n > most) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Number of filters is too large, must be less than or equal to: [%lld] but was [%u]."
                       "This limit can be set by "
                       "changing the [index.max_adjacency_matrix_filters] index level setting.",
                       (long long)most, s->n);
    }
    s->buckets =
        a->type == &agg_adjacency_matrix ? s->n + s->n * (s->n - 1) / 2 : s->n + (given->other ? 1 : 0);
    s->c.single = s->buckets == 1 && a->type != &agg_adjacency_matrix;
    s->f = ARENA_ARRAY(r->arena, struct filter_bits, s->n);
    s->hit = ARENA_ARRAY(r->arena, uint32_t, s->n);
    return s->f != NULL && s->hit != NULL ? collector_init(&s->c, &filters_ops, r, a, em) : err_no_memory(em);
}

/* ---- missing, global ------------------------------------------------------------------------------------- */

struct single {
    struct collector c;
    struct values v; /* missing */
    int64_t *counts;
    uint32_t cap;
};

static void filters_pass(struct single *s, const struct doc_run *d, uint32_t at)
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
            filters_pass(s, d, i);
        }
    }
    collector_flush(c);
}

static void global_collect(struct collector *c, const struct doc_run *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        filters_pass((struct single *)c, d, i);
    }
    collector_flush(c);
}

static enum err single_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    struct single *s = (struct single *)c;
    return collector_single(c, bucket, bucket < s->cap ? s->counts[bucket] : 0, out, em);
}

static double single_value(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    struct single *s = (struct single *)c;
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

static enum err missing_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct single *s = NULL;
    enum err e = single_new(out, &s, &missing_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&s->v, r, a, &a->vs, TAKES_ALL, SOURCE_TEXT, em) : e;
    if (e == ERR_OK) {
        s->c.single = !s->v.none;
    }
    return e;
}

static enum err global_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct single *s = NULL;
    enum err e = single_new(out, &s, &global_ops, r, a, em);
    if (e == ERR_OK) {
        s->c.single = true;
    }
    return e;
}

/* ---- printing, rows -------------------------------------------------------------------------------------- */

static bool filters_keyed(const struct agg *a)
{
    return filters_params(a)->keyed;
}

static void filters_print_bucket(const struct agg_result *r, UNUSED const struct agg_bucket *b,
                                 UNUSED bool keyed, UNUSED struct jsonw *w)
{
    (void)r; /* a name stands before the bucket; without names there are none */
}

static void filters_place_text(const struct agg *a, uint32_t place, struct buf *out)
{
    const struct filters_params *p = filters_params(a);
    if (place < p->n) {
        buf_u64(out, place);
    } else {
        buf_str(out, p->other_key);
    }
}

static bool global_every_document(UNUSED const struct agg *a)
{
    return true;
}

const struct agg_type agg_filter = {
    .name = "filter",
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct filters_params),
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
    .params_size = sizeof(struct filters_params),
    .parse = parse_filters,
    .collector = filters_new,
    .factory = "FiltersAggregatorFactory",
    .results = {"InternalFilters"},
    .reduce = reduce_by_place,
    .print_bucket = filters_print_bucket,
    .keyed = filters_keyed,
    .place_text = filters_place_text,
};

const struct agg_type agg_adjacency_matrix = {
    .name = "adjacency_matrix",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct filters_params),
    .parse = parse_adjacency,
    .collector = filters_new,
    .factory = "AdjacencyMatrixAggregatorFactory",
    .results = {"InternalAdjacencyMatrix"},
    .reduce = reduce_keys,
    .print_bucket = print_keyed_head,
};
