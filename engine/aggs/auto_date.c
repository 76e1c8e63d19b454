/* Collecting auto_date_histogram: moments are noted first; when all are known each owner's unit is chosen, and documents go
 * down to the sub-aggregations in their final buckets. */
#include "engine/aggs/auto_date.h"

#include "engine/aggs/values.h"

#include <stdlib.h>

const struct auto_unit auto_units[AUTO_UNITS] = {
    {UNIT_SECOND, "s", 1000, {1, 5, 10, 30}, 30},
    {UNIT_MINUTE, "m", 60000, {1, 5, 10, 30}, 30},
    {UNIT_HOUR, "h", 3600000, {1, 3, 12}, 12},
    {UNIT_DAY, "d", 86400000, {1, 7}, 7},
    {UNIT_MONTH, "M", 2592000000, {1, 3}, 3},
    {UNIT_YEAR, "y", 31536000000, {1, 5, 10, 20, 50, 100}, 100},
};

bool auto_unit_fits(int unit, int64_t n, int64_t min, int64_t max, int32_t target)
{
    const struct auto_unit *u = &auto_units[unit];
    return n <= (int64_t)target * u->inner_max && max - min <= (int64_t)target * u->rough_ms * u->inner_max;
}

struct auto_date {
    struct collector c;
    struct values v;
    struct put_off *noted; /* bucket: the owner; key: milliseconds */
    uint32_t n, cap;
    struct bucket_map map;
    uint8_t *units; /* by owner */
    uint32_t cap_units;
};

static enum err auto_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct auto_date *)c)->v, em);
}

static void auto_collect(struct collector *c, const struct doc_run *d)
{
    struct auto_date *h = (struct auto_date *)c;
    uint32_t base = c->run->leaf->base;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_longs(&h->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = h->v.at[i];
            if (!run_reserve(c->run, &h->noted, &h->cap, h->n + 1, sizeof(*h->noted))) {
                return;
            }
            h->noted[h->n++] = (struct put_off){.doc = base + d->docs[at],
                                                .bucket = run_bucket(d, at),
                                                .score = d->scores != NULL ? d->scores[at] : 0,
                                                .key = h->v.floating ? (int64_t)num_to_double(h->v.i[i]) : h->v.i[i]};
        }
    }
}

static int by_owner_key(const void *a, const void *b)
{
    const struct put_off *x = a, *y = b;
    if (x->bucket != y->bucket) {
        return x->bucket < y->bucket ? -1 : 1;
    }
    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_doc(const void *a, const void *b)
{
    const struct put_off *x = a, *y = b;
    if (x->doc != y->doc) {
        return x->doc < y->doc ? -1 : 1;
    }
    return x->bucket != y->bucket ? (x->bucket < y->bucket ? -1 : 1) : x->key < y->key ? -1 : x->key > y->key;
}

/* One owner's moments, sorted: rounded coarser and coarser until they fit. */
static void choose_unit(struct auto_date *h, struct put_off *v, uint32_t n)
{
    const struct date_histogram_params *p = &h->c.agg->date;
    int unit = p->minimum_unit;
    for (;; unit++) {
        struct rounding r = rounding_calendar(auto_units[unit].unit, h->c.agg->vs.zone, 0);
        int64_t buckets = 0;
        for (uint32_t i = 0; i < n; i++) {
            v[i].key = rounding_round(&r, v[i].key);
            buckets += i == 0 || v[i].key != v[i - 1].key;
        }
        if (unit == AUTO_UNITS - 1 || auto_unit_fits(unit, buckets, v[0].key, v[n - 1].key, p->buckets)) {
            break;
        }
    }
    h->units[v[0].bucket] = (uint8_t)unit;
}

static enum err auto_finish(struct collector *c, struct errmsg *em)
{
    struct auto_date *h = (struct auto_date *)c;
    qsort(h->noted, h->n, sizeof(*h->noted), by_owner_key);
    for (uint32_t i = 0; i < h->n;) {
        uint32_t end = i;
        while (end < h->n && h->noted[end].bucket == h->noted[i].bucket) {
            end++;
        }
        if (!run_reserve(c->run, &h->units, &h->cap_units, h->noted[i].bucket + 1, 1)) {
            return err_no_memory(em);
        }
        choose_unit(h, h->noted + i, end - i);
        i = end;
    }
    qsort(h->noted, h->n, sizeof(*h->noted), by_doc);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        struct put_off x = h->noted[i];
        bool again = i > 0 && by_doc(&h->noted[i], &h->noted[i - 1]) == 0;
        uint32_t b = again ? NO_BUCKET : bucket_map_get(&h->map, x.bucket, x.key);
        if (!again && b == NO_BUCKET) {
            return err_no_memory(em);
        }
        if (!again) {
            h->map.counts[b]++;
        }
        if (!again) {
            h->noted[kept++] = x; /* at or before i: the next comparison still sees what it needs */
        }
    }
    for (uint32_t i = 0; i < kept; i++) {
        h->noted[i].bucket = bucket_map_find(&h->map, h->noted[i].bucket, h->noted[i].key);
    }
    enum err e = bucket_map_group(&h->map, em);
    return e == ERR_OK ? collector_replay(c, h->noted, kept, em) : e;
}

static int by_key(const void *a, const void *b)
{
    return agg_key_cmp(&((const struct agg_bucket *)a)->key, &((const struct agg_bucket *)b)->key);
}

static enum err auto_build(struct collector *c, uint32_t owner, struct agg_result *out, struct errmsg *em)
{
    struct auto_date *h = (struct auto_date *)c;
    const uint32_t *list;
    uint32_t n = bucket_map_of(&h->map, owner, &list);
    out->agg = c->agg;
    out->form = h->v.none ? RESULT_UNMAPPED : RESULT_I64;
    out->shape = h->v.shape;
    out->unit = owner < h->cap_units ? MAX_OF(h->units[owner], c->agg->date.minimum_unit) : c->agg->date.minimum_unit;
    out->n = n;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, n);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    enum err e = collector_empty_subs(c, &out->empty, em);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        out->buckets[i].key = (struct agg_key){.kind = KEY_I64, .i = h->map.keys[list[i]]};
        out->buckets[i].doc_count = h->map.counts[list[i]];
        e = collector_subs(c, list[i], &out->buckets[i].subs, em);
    }
    if (e == ERR_OK) {
        qsort(out->buckets, n, sizeof(*out->buckets), by_key);
    }
    return e;
}

static const struct collector_ops auto_ops = {
    .leaf = auto_leaf, .collect = auto_collect, .finish = auto_finish, .build = auto_build};

enum err auto_date_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct auto_date *h = ARENA_NEW(r->arena, struct auto_date);
    if (h == NULL) {
        return err_no_memory(em);
    }
    *out = &h->c;
    bucket_map_init(&h->map, r);
    enum err e = collector_init(&h->c, &auto_ops, r, a, em);
    return e == ERR_OK ? values_bind(&h->v, r, a, &a->vs, TAKES_NUMERIC, SOURCE_DATE, em) : e;
}
