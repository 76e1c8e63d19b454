/* sampler and diversified_sampler: only the best documents of each bucket go down, chosen when all are known. */
#include "engine/aggs/values.h"

#include <stdlib.h>

#define NO_KEY INT64_MIN

struct sampler {
    struct collector c;
    struct values v; /* diversified */
    bool diversified;
    struct put_off *noted;
    uint32_t n, cap;
    int64_t *counts;
    uint32_t cap_counts;
    int64_t *keys; /* of a batch */
};

static enum err sampler_leaf(struct collector *c, struct errmsg *em)
{
    struct sampler *s = (struct sampler *)c;
    return s->diversified ? values_leaf(&s->v, em) : ERR_OK;
}

/* The one value of each document. */
static bool load_keys(struct sampler *s, const struct doc_run *d)
{
    struct agg_run *r = s->c.run;
    bool text = s->v.kind == SOURCE_TEXT || s->v.kind == SOURCE_IP;
    for (uint32_t i = 0; i < d->n; i++) {
        s->keys[i] = NO_KEY;
    }
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = text ? values_ids(&s->v, d, &pos) : values_longs(&s->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = s->v.at[i];
            if (s->keys[at] != NO_KEY) {
                run_fail(r, err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Sample diversifying key must be a single valued-field"));
                return false;
            }
            s->keys[at] = text ? (int64_t)s->v.id[i] : s->v.i[i];
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
        if (s->diversified && s->keys[i] == NO_KEY) {
            continue;
        }
        if (!run_reserve(c->run, &s->noted, &s->cap, s->n + 1, sizeof(*s->noted))) {
            return;
        }
        s->noted[s->n++] = (struct put_off){.doc = c->run->leaf->base + d->docs[i],
                                            .bucket = run_bucket(d, i),
                                            .score = d->scores != NULL ? d->scores[i] : 0,
                                            .key = s->diversified ? s->keys[i] : 0};
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct put_off *x = a, *y = b;
    if (x->bucket != y->bucket) {
        return x->bucket < y->bucket ? -1 : 1;
    }
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
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

static enum err sampler_finish(struct collector *c, struct errmsg *em)
{
    struct sampler *s = (struct sampler *)c;
    const struct sampler_params *p = &c->agg->sampler;
    struct bucket_map seen; /* how often each value was taken */
    uint32_t kept = 0;
    int64_t taken = 0;
    bucket_map_init(&seen, c->run);
    qsort(s->noted, s->n, sizeof(*s->noted), by_rank);
    for (uint32_t i = 0; i < s->n; i++) {
        struct put_off x = s->noted[i];
        taken = i > 0 && kept > 0 && s->noted[kept - 1].bucket == x.bucket ? taken : 0;
        if (taken >= p->shard_size) {
            continue;
        }
        if (s->diversified) {
            uint32_t b = bucket_map_get(&seen, x.bucket, x.key);
            if (b == NO_BUCKET) {
                return err_no_memory(em);
            }
            if (seen.counts[b] >= p->per_value) {
                continue;
            }
            seen.counts[b]++;
        }
        if (!run_reserve(c->run, &s->counts, &s->cap_counts, x.bucket + 1, sizeof(*s->counts))) {
            return err_no_memory(em);
        }
        taken++;
        s->counts[x.bucket]++;
        s->noted[kept++] = x;
    }
    qsort(s->noted, kept, sizeof(*s->noted), by_doc);
    return collector_replay(c, s->noted, kept, em);
}

static enum err sampler_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    struct sampler *s = (struct sampler *)c;
    out->agg = c->agg;
    out->form = RESULT_PLAIN;
    out->n = 1;
    out->buckets = ARENA_NEW(c->run->arena, struct agg_bucket);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    out->buckets->doc_count = bucket < s->cap_counts ? s->counts[bucket] : 0;
    return collector_subs(c, bucket, &out->buckets->subs, em);
}

/* A parent orders its buckets while samples are chosen already. */
static double sampler_value(struct collector *c, uint32_t bucket, struct str key)
{
    struct sampler *s = (struct sampler *)c;
    (void)key;
    return bucket < s->cap_counts ? (double)s->counts[bucket] : 0;
}

static const struct collector_ops sampler_ops = {.leaf = sampler_leaf,
                                                 .collect = sampler_collect,
                                                 .finish = sampler_finish,
                                                 .build = sampler_build,
                                                 .value = sampler_value};

enum err sampler_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct sampler *s = ARENA_NEW(r->arena, struct sampler);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    s->diversified = a->type->kind == AGG_DIVERSIFIED;
    s->keys = ARENA_ARRAY(r->arena, int64_t, BATCH);
    enum err e = s->keys == NULL ? err_no_memory(em) : collector_init(&s->c, &sampler_ops, r, a, em);
    return e == ERR_OK && s->diversified
               ? values_bind(&s->v, r, a, &a->vs, TAKES_NUMERIC | TAKES_TEXT | TAKES_IP, SOURCE_TEXT, em)
               : e;
}
