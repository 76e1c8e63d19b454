/* sampler and diversified_sampler: only the best documents of each bucket go down, chosen when all are
 * known. */
#include "common/base/coerce.h"
#include "common/base/heap.h"
#include "common/base/jsonr.h"
#include "common/base/sort_items.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

struct sampler_params {
    int64_t shard_size, per_value;
    struct str
        hint; /* how to remember values: there is one way here, and what is none is refused by shards */
};
AGG_PARAMS(sampler_params)

/* ---- definitions ----------------------------------------------------------------------------------------- */

static enum err parse_sampler(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct sampler_params *given = sampler_params(a);
    given->shard_size = 100;
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (!str_is(m->key, "shard_size") || m->value.type != JSON_NUMBER) {
            return jr_fail(p->text, m->value.off, p->em,
                           "Unsupported property \"%.*s\" for aggregation \"%.*s", STR_ARG(m->key),
                           STR_ARG(a->name));
        }
        int32_t n = 0;
        enum err e = jr_int(&m->value, &n, p->em);
        if (e != ERR_OK) {
            return e;
        }
        given->shard_size = n;
    }
    return ERR_OK;
}

static enum err diversified_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct sampler_params *given = sampler_params(a);
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    given->shard_size = e == ERR_OK ? n : given->shard_size;
    if (e == ERR_OK && given->shard_size < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[shardSize] must be greater than or equal to 0. Found [%lld] in [%.*s]",
                       (long long)given->shard_size, STR_ARG(a->name));
    }
    return e;
}

static enum err diversified_per_value(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct sampler_params *given = sampler_params(a);
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    given->per_value = e == ERR_OK ? n : given->per_value;
    if (e == ERR_OK && given->per_value < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[maxDocsPerValue] must be greater than or equal to 0. Found [%lld] in [%.*s]",
                       (long long)given->per_value, STR_ARG(a->name));
    }
    return e;
}

static enum err diversified_hint(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    sampler_params(a)->hint = json_text(v);
    return ERR_OK;
}

static const struct agg_param diversified_table[] = {{"shard_size", TK_INT, diversified_size},
                                                     {"max_docs_per_value", TK_INT, diversified_per_value},
                                                     {"execution_hint", TK_STRING, diversified_hint},
                                                     {NULL, 0, NULL}};

static enum err parse_diversified(struct agg_parse *p, struct agg *a, const struct json *body)
{
    *sampler_params(a) = (struct sampler_params){.shard_size = 100, .per_value = 1};
    enum err e = agg_params(p, a, body, "diversified_sampler", diversified_table, agg_plain_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

#define NO_KEY INT64_MIN

#define MANY_KEYS (INT64_MIN + 1)

struct sampler {
    struct collector c;
    struct values v; /* diversified */
    bool diversified;
    struct put_off *noted;
    uint32_t n, cap;
    int64_t *counts;
    uint32_t cap_counts;
    int64_t *keys;   /* of a batch */
    int64_t without; /* the key of documents that have none */
    bool found_first;
};

/* The number of the least of a field's texts in the shard, which documents without one count for. */
static enum err find_first(struct sampler *s, struct errmsg *em)
{
    const struct view *view = s->c.run->cx->shard->view;
    struct buf least, b;
    bool any = false;
    enum err e = ERR_OK;
    buf_init(&least, NULL, BUF_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; s->v.field != NULL && i < view->n_leaves; i++) {
        const struct seg_field *f = segment_field_of(view->leaves[i].segment, s->v.field, s->v.run->arena);
        buf_reset(&b);
        if (f == NULL || f->n_terms == 0 || !seg_term_by_ord(f, 0, &b)) {
            continue;
        }
        if (!any || str_cmp(buf_view(&b), buf_view(&least)) < 0) {
            buf_reset(&least);
            buf_str(&least, buf_view(&b));
        }
        any = true;
    }
    if (any && !least.failed) {
        uint32_t id = dict_of_text(&s->v.dict, buf_view(&least));
        e = id != NO_BUCKET ? ERR_OK : err_no_memory(em);
        s->without = id;
    }
    buf_fini(&least);
    buf_fini(&b);
    s->found_first = true;
    return e;
}

static enum err sampler_leaf(struct collector *c, struct errmsg *em)
{
    struct sampler *s = (struct sampler *)c;
    enum err e = s->diversified ? values_leaf(&s->v, em) : ERR_OK;
    return e == ERR_OK && s->diversified && s->v.kind == SOURCE_TEXT && !s->found_first ? find_first(s, em)
                                                                                        : e;
}

/* The one value of each document; without any it counts as 0, or as the first text. */
static bool load_keys(struct sampler *s, const struct doc_run *d)
{
    struct agg_run *r = s->c.run;
    bool text = s->v.kind == SOURCE_TEXT || s->v.kind == SOURCE_IP;
    for (uint32_t i = 0; i < d->n; i++) {
        s->keys[i] = NO_KEY;
    }
    bool fraction = !text && s->v.floating;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = text ? values_ids(&s->v, d, &pos) : values_longs(&s->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = s->v.at[i];
            int64_t key = text       ? (int64_t)s->v.id[i]
                          : fraction ? num_double_to_i64(num_to_double(s->v.i[i]))
                                     : s->v.i[i];
            s->keys[at] = s->keys[at] != NO_KEY ? MANY_KEYS : key;
        }
    }
    return r->failed == ERR_OK;
}

static void sampler_collect(struct collector *c, const struct doc_run *d)
{
    struct sampler *s = (struct sampler *)c;
    if (s->diversified && !load_keys(s, d)) {
        return;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        if (!run_reserve(c->run, &s->noted, &s->cap, s->n + 1, sizeof(*s->noted))) {
            return;
        }
        s->noted[s->n++] = (struct put_off){.doc = c->run->leaf->base + d->docs[i],
                                            .bucket = run_bucket(d, i),
                                            .score = d->scores != NULL ? d->scores[i] : 0,
                                            .key = !s->diversified        ? 0
                                                   : s->keys[i] == NO_KEY ? s->without
                                                                          : s->keys[i]};
    }
}

static int by_bucket(const void *a, const void *b)
{
    const struct put_off *x = a, *y = b;
    if (x->bucket != y->bucket) {
        return x->bucket < y->bucket ? -1 : 1;
    }
    return x->doc < y->doc ? -1 : x->doc > y->doc;
}

static int by_doc(const void *a, const void *b)
{
    const struct put_off *x = a, *y = b;
    if (x->doc != y->doc) {
        return x->doc < y->doc ? -1 : 1;
    }
    return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

struct choice {
    struct put_off *v; /* a heap with the worst first */
    uint32_t n;
    int64_t max, per_key; /* per_key 0: any number */
};

static bool worse(UNUSED const void *cx, const void *x, const void *y)
{
    const struct put_off *a = x, *b = y;
    return a->score != b->score ? a->score < b->score : a->doc > b->doc;
}

static void sampler_put(struct choice *c, uint32_t at, struct put_off x)
{
    c->v[at] = x;
    heap_up(c->v, at, sizeof(x), worse, NULL);
    heap_down(c->v, c->n, at, sizeof(x), worse, NULL);
}

/* Keys are looked at only of documents that are good enough, as in Lucene's collector of diversified hits. */
static bool sampler_choose(struct choice *c, struct put_off x)
{
    bool full = c->n >= c->max;
    if (c->max <= 0 || (full && worse(NULL, &x, &c->v[0]))) {
        return true;
    }
    if (x.key == MANY_KEYS) {
        return false;
    }
    int64_t same = 0;
    uint32_t worst = 0;
    for (uint32_t i = 0; c->per_key > 0 && i < c->n; i++) {
        if (c->v[i].key == x.key) {
            worst = same++ == 0 || worse(NULL, &c->v[i], &c->v[worst]) ? i : worst;
        }
    }
    if (c->per_key > 0 && same >= c->per_key) {
        if (!worse(NULL, &x, &c->v[worst])) {
            sampler_put(c, worst, x);
        }
    } else if (full) {
        sampler_put(c, 0, x);
    } else {
        sampler_put(c, c->n++, x);
    }
    return true;
}

/* Without its field there is nothing to tell documents apart by: no sample, and nothing below it. */
static bool unmapped(const struct sampler *s)
{
    return s->diversified && s->v.none;
}

static enum err sampler_finish(struct collector *c, struct errmsg *em)
{
    struct sampler *s = (struct sampler *)c;
    const struct sampler_params *p = sampler_params(c->agg);
    uint32_t kept = 0;
    if (unmapped(s)) {
        s->n = 0;
        return ERR_OK;
    }
    if (c->n_subs == 0) {
        return err_set(em, ERR_AGG_EXECUTION, "Sampler aggregation must be used with child aggregations.");
    }
    if (p->shard_size <= 0 && !s->diversified) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "numHits must be > 0; please use TotalHitCountCollector if you just need the total hit "
            "count");
    }
    if (s->n == 0) {
        return ERR_OK;
    }
    sort_items(s->noted, s->n, sizeof(*s->noted), by_bucket);
    for (uint32_t i = 0; i < s->n;) {
        uint32_t bucket = s->noted[i].bucket;
        struct choice chosen = {
            .v = s->noted + kept, .max = p->shard_size, .per_key = s->diversified ? p->per_value : 0};
        for (; i < s->n && s->noted[i].bucket == bucket; i++) { /* at or before i: nothing is lost */
            if (!sampler_choose(&chosen, s->noted[i])) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT,
                               "Sample diversifying key must be a single valued-field");
            }
        }
        if (!run_reserve(c->run, &s->counts, &s->cap_counts, (uint64_t)bucket + 1, sizeof(*s->counts))) {
            return err_no_memory(em);
        }
        s->counts[bucket] = chosen.n;
        kept += chosen.n;
    }
    sort_items(s->noted, kept, sizeof(*s->noted), by_doc);
    return collector_replay(c, s->noted, kept, em);
}

static enum err sampler_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    struct sampler *s = (struct sampler *)c;
    if (unmapped(s)) {
        out->form = RESULT_PLAIN;
        out->n = 1;
        out->buckets = ARENA_NEW(c->run->arena, struct agg_bucket);
        return out->buckets != NULL ? ERR_OK : err_no_memory(em);
    }
    return collector_single(c, bucket, bucket < s->cap_counts ? s->counts[bucket] : 0, out, em);
}

/* A parent orders its buckets while samples are chosen already. */
static double sampler_value(struct collector *c, uint32_t bucket, UNUSED struct str key)
{
    struct sampler *s = (struct sampler *)c;
    return bucket < s->cap_counts ? (double)s->counts[bucket] : 0;
}

static const struct collector_ops sampler_ops = {.leaf = sampler_leaf,
                                                 .collect = sampler_collect,
                                                 .finish = sampler_finish,
                                                 .build = sampler_build,
                                                 .value = sampler_value};

static enum err sampler_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct sampler *s = ARENA_NEW(r->arena, struct sampler);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->diversified = a->type == &agg_diversified_sampler;
    s->keys = ARENA_ARRAY(r->arena, int64_t, BATCH);
    enum err e = s->keys == NULL ? err_no_memory(em) : collector_init(&s->c, &sampler_ops, r, a, em);
    if (e == ERR_OK && s->diversified) {
        e = values_bind(&s->v, r, a, &a->vs, TAKES_NUMERIC | TAKES_TEXT, SOURCE_TEXT, em);
    }
    struct str hint = sampler_params(a)->hint;
    bool known = hint.p == NULL || str_is(hint, "map") || str_is(hint, "bytes_hash")
                 || str_is(hint, "global_ordinals");
    return e != ERR_OK || known || s->v.kind != SOURCE_TEXT || s->v.field == NULL
               ? e
               : err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "Unknown `execution_hint`: [%.*s], expected any of [map, bytes_hash, "
                         "global_ordinals]",
                         STR_ARG(hint));
}

static bool sampler_wants_scores(UNUSED const struct agg *a)
{
    return true;
}

const struct agg_type agg_sampler = {
    .name = "sampler",
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct sampler_params),
    .parse = parse_sampler,
    .collector = sampler_new,
    .builder = "bucket.sampler.SamplerAggregationBuilder",
    .factory = "SamplerAggregatorFactory",
    .results = {"InternalSampler"},
    .reduce = reduce_by_place,
    .wants_scores = sampler_wants_scores,
};

const struct agg_type agg_diversified_sampler = {
    .name = "diversified_sampler",
    .class = CLASS_SINGLE,
    .params_size = sizeof(struct sampler_params),
    .parse = parse_diversified,
    .collector = sampler_new,
    .builder = "bucket.sampler.DiversifiedAggregationBuilder",
    .factory = "DiversifiedAggregatorFactory",
    .results = {"InternalSampler"},
    .reduce = reduce_by_place,
    .typed = {"sampler"},
    .wants_scores = sampler_wants_scores,
};
