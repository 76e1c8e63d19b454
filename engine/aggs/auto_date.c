/* Collecting auto_date_histogram: rounded moments are noted while each owner's unit is found; when all are
 * known, documents go down to the sub-aggregations in their final buckets. */
#include "engine/aggs/auto_date.h"

#include "common/base/coerce.h"
#include "common/base/sort_items.h"
#include "engine/aggs/values.h"

#include <math.h>
#include <stdlib.h>

const struct auto_unit auto_units[AUTO_UNITS] = {
    {UNIT_SECOND, "s", 1000, {1, 5, 10, 30}, 30}, {UNIT_MINUTE, "m", 60000, {1, 5, 10, 30}, 30},
    {UNIT_HOUR, "h", 3600000, {1, 3, 12}, 12},    {UNIT_DAY, "d", 86400000, {1, 7}, 7},
    {UNIT_MONTH, "M", 2592000000, {1, 3}, 3},     {UNIT_YEAR, "y", 31536000000, {1, 5, 10, 20, 50, 100}, 100},
};

bool auto_unit_fits(int unit, int64_t n, int64_t min, int64_t max, int32_t target)
{
    const struct auto_unit *u = &auto_units[unit];
    return n <= (int64_t)target * u->inner_max && max - min <= (int64_t)target * u->rough_ms * u->inner_max;
}

struct auto_date {
    struct collector c;
    struct values v;
    /* bucket: the owner; key: a start of the unit that was the owner's then; documents ascending */
    struct put_off *noted;
    uint32_t n, cap;
    struct bucket_map met; /* while collecting: rounded moments by owner */
    struct bucket_map map; /* the result's */
    struct owner *owners;
    uint32_t cap_owners;
    bool single; /* there is one owner only */
};

/* An owner begins with the finest unit and goes over to coarser ones as buckets become too many or too far
 * apart. */
struct owner {
    int unit;
    bool begun;
    int64_t min, max, buckets;
};

static enum err auto_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct auto_date *)c)->v, em);
}

static int64_t round_to(const struct auto_date *h, int unit, int64_t t)
{
    struct rounding r = rounding_calendar(auto_units[unit].unit, h->c.agg->vs.zone, 0);
    return rounding_round(&r, t);
}

static bool fits(const struct auto_date *h, const struct owner *o)
{
    return o->unit == AUTO_UNITS - 1
           || auto_unit_fits(o->unit, o->buckets, o->min, o->max, h->c.agg->date.buckets);
}

/* The one owner's buckets are counted anew with each coarser unit. */
static void coarsen_single(struct auto_date *h, struct owner *o)
{
    while (!fits(h, o)) {
        struct bucket_map old = h->met;
        bucket_map_init(&h->met, h->c.run);
        o->unit++;
        for (uint32_t b = 0; b < old.n; b++) {
            bucket_map_get(&h->met, 0, round_to(h, o->unit, old.keys[b]));
        }
        o->buckets = h->met.n;
    }
}

/* With many owners their numbers of buckets are guessed from the ratio of the units, as Elasticsearch does,
 * and the units follow from the guesses. */
static void coarsen_guessing(struct auto_date *h, struct owner *o)
{
    if (fits(h, o)) {
        return;
    }
    struct owner from = *o;
    do {
        o->unit++;
        double ratio = (double)auto_units[from.unit].rough_ms / (double)auto_units[o->unit].rough_ms;
        o->buckets = (int64_t)ceil((double)from.buckets * ratio);
    } while (!fits(h, o));
    o->min = round_to(h, o->unit, o->min);
    o->max = round_to(h, o->unit, o->max);
}

static bool note(struct auto_date *h, const struct doc_run *d, uint32_t at, int64_t key)
{
    struct agg_run *r = h->c.run;
    uint32_t owner = run_bucket(d, at), before = h->met.n;
    struct owner *o = &h->owners[owner];
    if (!run_reserve(r, &h->noted, &h->cap, (uint64_t)h->n + 1, sizeof(*h->noted))
        || bucket_map_get(&h->met, owner, key) == NO_BUCKET) {
        return false;
    }
    h->noted[h->n++] = (struct put_off){.doc = r->leaf->base + d->docs[at],
                                        .bucket = owner,
                                        .score = d->scores != NULL ? d->scores[at] : 0,
                                        .key = key};
    if (h->met.n == before) {
        return true;
    }
    o->min = o->begun ? MIN_OF(o->min, key) : key;
    o->max = o->begun ? MAX_OF(o->max, key) : key;
    o->begun = true;
    o->buckets++;
    if (h->single) {
        coarsen_single(h, o);
    } else {
        coarsen_guessing(h, o);
    }
    return r->failed == ERR_OK;
}

/* A document counts once in each bucket that its values make at that time; buckets that fall together later
 * add up. */
static void auto_collect(struct collector *c, const struct doc_run *d)
{
    struct auto_date *h = (struct auto_date *)c;
    uint32_t last_at = UINT32_MAX;
    int64_t last = INT64_MIN;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_longs(&h->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = h->v.at[i], owner = run_bucket(d, at), had = h->cap_owners;
            int64_t t = h->v.floating ? num_double_to_i64(num_to_double(h->v.i[i])) : h->v.i[i];
            if (!run_reserve(c->run, &h->owners, &h->cap_owners, (uint64_t)owner + 1, sizeof(*h->owners))) {
                return;
            }
            for (; had < h->cap_owners; had++) {
                h->owners[had].unit = c->agg->date.minimum_unit;
            }
            int64_t key = round_to(h, h->owners[owner].unit, t);
            if (at == last_at && key == last) {
                continue;
            }
            if (!note(h, d, at, key)) {
                return;
            }
            last_at = at;
            last = key;
        }
        if (n == 0 || pos == d->n) {
            last_at = UINT32_MAX;
        }
    }
}

static enum err auto_finish(struct collector *c, struct errmsg *em)
{
    struct auto_date *h = (struct auto_date *)c;
    for (uint32_t i = 0; i < h->n; i++) {
        struct put_off *x = &h->noted[i];
        uint32_t b = bucket_map_get(&h->map, x->bucket, round_to(h, h->owners[x->bucket].unit, x->key));
        if (b == NO_BUCKET) {
            return err_no_memory(em);
        }
        h->map.counts[b]++;
        x->bucket = b;
    }
    enum err e = bucket_map_group(&h->map, em);
    return e == ERR_OK ? collector_replay(c, h->noted, h->n, em) : e;
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
    out->unit = owner < h->cap_owners ? h->owners[owner].unit : c->agg->date.minimum_unit;
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
        sort_items(out->buckets, n, sizeof(*out->buckets), by_key);
    }
    return e;
}

static const struct collector_ops auto_ops = {
    .leaf = auto_leaf, .collect = auto_collect, .finish = auto_finish, .build = auto_build};

/* Limits that follow from the multiples by which buckets may be merged, of all units but the last. */
static enum err check_buckets(const struct agg *a, struct errmsg *em)
{
    int most = 0;
    for (int unit = a->date.minimum_unit; unit < AUTO_UNITS - 1; unit++) {
        most = MAX_OF(most, auto_units[unit].inner_max);
    }
    if (most == 0) {
        return err_set(em, ERR_NO_SUCH_ELEMENT, "No value present");
    }
    return a->date.buckets > AGG_BUCKETS_MAX / most
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "buckets must be less than %d", AGG_BUCKETS_MAX / most)
               : ERR_OK;
}

static bool has_one_bucket(const struct agg *a)
{
    for (; a != NULL && a->type != &agg_type_root; a = a->parent) {
        if (a->type->class != CLASS_SINGLE) {
            return false;
        }
    }
    return true;
}

enum err auto_date_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct auto_date *h = ARENA_NEW(r->arena, struct auto_date);
    if (h == NULL) {
        return err_no_memory(em);
    }
    *out = &h->c;
    h->single = has_one_bucket(a->parent);
    bucket_map_init(&h->met, r);
    bucket_map_init(&h->map, r);
    enum err e = collector_init(&h->c, &auto_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&h->v, r, a, &a->vs, TAKES_NUMERIC, SOURCE_DATE, em) : e;
    return e == ERR_OK ? check_buckets(a, em) : e;
}
