/* auto_date_histogram: as many buckets as asked for at most, of the finest unit that gives no more.
 *
 * Rounded moments are noted while each owner's unit is found; when all are known, documents go down to the sub-aggregations
 * in their final buckets. Merging coarsens until there are few enough. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/histogram.h"
#include "engine/aggs/values.h"

#include "common/base/coerce.h"
#include "common/base/jsonr.h"
#include "common/base/sort_items.h"

#include <math.h>

#define AUTO_UNITS 6

struct auto_unit {
    enum date_unit unit;
    const char *suffix;
    int64_t rough_ms;
    int inner[6]; /* multiples that buckets may be merged to; 0: no more */
    int inner_max;
};

struct auto_date_params {
    int32_t buckets;
    int minimum_unit; /* index into the units; 0: seconds */
};
AGG_PARAMS(auto_date_params)

struct auto_date_result {
    int unit, inner; /* the unit, and how many of it a bucket is */
};
AGG_RESULT(auto_date_result)

/* ---- the definition -------------------------------------------------------------------------------------- */

static enum err auto_buckets(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct auto_date_params *given = auto_date_params(a);
    enum err e = jr_int(v, &given->buckets, p->em);
    if (e == ERR_OK && given->buckets <= 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "buckets must be greater than 0 for [%.*s]",
                       STR_ARG(a->name));
    }
    return e;
}

static enum err auto_minimum(struct agg_parse *p, struct agg *a, const struct json *v)
{
    static const char *const units[] = {"second", "minute", "hour", "day", "month", "year"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_is(json_text(v), units[i])) {
            auto_date_params(a)->minimum_unit = (int)i;
            return ERR_OK;
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   "minimum_interval must be one of [[hour, minute, year, month, day, second]]");
}

static const struct agg_param auto_table[] = {
    {"buckets", TK_INT, auto_buckets}, {"minimum_interval", TK_STRING, auto_minimum}, {NULL, 0, NULL}};

static enum err parse_auto_date(struct agg_parse *p, struct agg *a, const struct json *body)
{
    auto_date_params(a)->buckets = 10;
    enum err e = agg_params(p, a, body, "auto_date_histogram", auto_table, agg_source_params_zone);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

static const struct auto_unit auto_units[AUTO_UNITS] = {
    {UNIT_SECOND, "s", 1000, {1, 5, 10, 30}, 30}, {UNIT_MINUTE, "m", 60000, {1, 5, 10, 30}, 30},
    {UNIT_HOUR, "h", 3600000, {1, 3, 12}, 12},    {UNIT_DAY, "d", 86400000, {1, 7}, 7},
    {UNIT_MONTH, "M", 2592000000, {1, 3}, 3},     {UNIT_YEAR, "y", 31536000000, {1, 5, 10, 20, 50, 100}, 100},
};

static bool auto_unit_fits(int unit, int64_t n, int64_t min, int64_t max, int32_t target)
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

static bool rounding_fits(const struct auto_date *h, const struct owner *o)
{
    return o->unit == AUTO_UNITS - 1
           || auto_unit_fits(o->unit, o->buckets, o->min, o->max, auto_date_params(h->c.agg)->buckets);
}

/* The one owner's buckets are counted anew with each coarser unit. */
static void coarsen_single(struct auto_date *h, struct owner *o)
{
    while (!rounding_fits(h, o)) {
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
    if (rounding_fits(h, o)) {
        return;
    }
    struct owner from = *o;
    do {
        o->unit++;
        double ratio = (double)auto_units[from.unit].rough_ms / (double)auto_units[o->unit].rough_ms;
        o->buckets = (int64_t)ceil((double)from.buckets * ratio);
    } while (!rounding_fits(h, o));
    o->min = round_to(h, o->unit, o->min);
    o->max = round_to(h, o->unit, o->max);
}

static bool auto_date_note(struct auto_date *h, const struct doc_run *d, uint32_t at, int64_t key)
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
                h->owners[had].unit = auto_date_params(c->agg)->minimum_unit;
            }
            int64_t key = round_to(h, h->owners[owner].unit, t);
            if (at == last_at && key == last) {
                continue;
            }
            if (!auto_date_note(h, d, at, key)) {
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
    out->form = h->v.none ? RESULT_UNMAPPED : RESULT_I64;
    out->shape = h->v.shape;
    auto_date_result(out)->unit =
        owner < h->cap_owners ? h->owners[owner].unit : auto_date_params(c->agg)->minimum_unit;
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

static enum err auto_check(struct collector *c, UNUSED struct errmsg *em)
{
    ((struct auto_date *)c)->single = collector_asked_once(c);
    return ERR_OK;
}

static const struct collector_ops auto_ops = {.check = auto_check,
                                              .leaf = auto_leaf,
                                              .collect = auto_collect,
                                              .finish = auto_finish,
                                              .build = auto_build};

/* Limits that follow from the multiples by which buckets may be merged, of all units but the last. */
static enum err check_buckets(const struct agg *a, struct errmsg *em)
{
    const struct auto_date_params *given = auto_date_params(a);
    int most = 0;
    for (int unit = given->minimum_unit; unit < AUTO_UNITS - 1; unit++) {
        most = MAX_OF(most, auto_units[unit].inner_max);
    }
    if (most == 0) {
        return err_set(em, ERR_NO_SUCH_ELEMENT, "No value present");
    }
    return given->buckets > AGG_BUCKETS_MAX / most
               ? err_set(em, ERR_ILLEGAL_ARGUMENT, "buckets must be less than %d", AGG_BUCKETS_MAX / most)
               : ERR_OK;
}

static enum err auto_date_new(struct collector **out, struct agg_run *r, const struct agg *a,
                              struct errmsg *em)
{
    struct auto_date *h = ARENA_NEW(r->arena, struct auto_date);
    if (h == NULL) {
        return err_no_memory(em);
    }
    *out = &h->c;
    bucket_map_init(&h->met, r);
    bucket_map_init(&h->map, r);
    enum err e = collector_init(&h->c, &auto_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&h->v, r, a, &a->vs, TAKES_NUMERIC, SOURCE_DATE, em) : e;
    return e == ERR_OK ? check_buckets(a, em) : e;
}

/* ---- merging --------------------------------------------------------------------------------------------- */

static struct rounding unit_rounding(const struct agg *a, int unit)
{
    return rounding_calendar(auto_units[unit].unit, a->vs.zone, 0);
}

/* Neighbours that round to the same key, or every `step` of them, become one. */
static enum err merge_runs(struct reduce *r, const struct agg *a, struct agg_bucket *v, uint32_t *n,
                           const struct rounding *to, uint32_t step)
{
    struct agg_result **subs = ARENA_ARRAY(r->arena, struct agg_result *, *n);
    uint32_t have = 0;
    if (subs == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < *n;) {
        int64_t key = rounding_round(to, v[i].key.i);
        uint32_t end = i, k = 0;
        struct agg_bucket b = {.key = {.kind = KEY_I64, .i = key}};
        for (; end < *n && (step > 0 ? end - i < step : rounding_round(to, v[end].key.i) == key); end++) {
            b.doc_count += v[end].doc_count;
            if (v[end].subs != NULL) {
                subs[k++] = v[end].subs;
            }
        }
        enum err e = reduce_subs(r, a, subs, k, &b.subs);
        if (e != ERR_OK) {
            return e;
        }
        v[have++] = b;
        i = end;
    }
    *n = have;
    return ERR_OK;
}

/* The unit that the whole span needs, empty buckets included. */
static int span_unit(const struct agg *a, int64_t min, int64_t max, int unit)
{
    int64_t target = auto_date_params(a)->buckets, needed = 0;
    int at = unit;
    if (unit == AUTO_UNITS - 1) {
        return unit;
    }
    for (int i = unit + 1; i < AUTO_UNITS; i++) { /* a rough guess first: counting seconds of years is slow */
        if ((max - min) / auto_units[i].rough_ms < target * auto_units[i].inner_max) {
            at = i - 1;
            break;
        }
        at = i;
    }
    do {
        struct rounding r = unit_rounding(a, at);
        needed = 0;
        for (int64_t key = min; key < max && needed <= target * auto_units[at].inner_max;
             key = rounding_next(&r, key)) {
            needed++;
        }
        at++;
    } while (needed > target * auto_units[at - 1].inner_max && at < AUTO_UNITS);
    return at - 1;
}

static enum err coarsen(struct reduce *r, const struct agg *a, struct agg_bucket *v, uint32_t *n, int *unit)
{
    while ((int64_t)*n > (int64_t)auto_date_params(a)->buckets * auto_units[*unit].inner_max
           && *unit < AUTO_UNITS - 1) {
        ++*unit;
        struct rounding to = unit_rounding(a, *unit);
        enum err e = merge_runs(r, a, v, n, &to, 0);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err fill_span(struct filling *f, struct agg_bucket *v, uint32_t *n, int *unit)
{
    *unit = span_unit(f->a, v[0].key.i, v[*n - 1].key.i, *unit);
    f->rounding = unit_rounding(f->a, *unit);
    enum err e = merge_runs(f->r, f->a, v, n, &f->rounding, 0);
    return e == ERR_OK ? fill_gaps(f, v, *n, NULL) : e;
}

static enum err reduce_auto_date(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                 uint32_t n, struct agg_result *out)
{
    const struct auto_date_params *given = auto_date_params(a);
    struct auto_date_result *own = auto_date_result(out);
    struct filling f;
    struct agg_bucket *v;
    uint32_t have = 0;
    int unit = given->minimum_unit;
    own->unit = unit;
    own->inner = 1;
    for (uint32_t i = 0; i < n; i++) {
        unit = MAX_OF(unit, auto_date_result(in[i])->unit);
    }
    struct rounding common = unit_rounding(a, unit);
    filling_init(&f, r, a, in, n);
    f.date = true;
    enum err e = reduce_sorted(r, a, in, n, &v, &have);
    e = e == ERR_OK ? merge_runs(r, a, v, &have, &common, 0) : e; /* shards may have stopped at finer units */
    e = e == ERR_OK ? coarsen(r, a, v, &have, &unit) : e;
    if (e != ERR_OK || have == 0) {
        return e;
    }
    e = fill_span(&f, v, &have, &unit);
    e = e == ERR_OK ? coarsen(r, a, f.v, &f.n, &unit) : e;
    own->unit = unit;
    for (size_t i = 0; e == ERR_OK && f.n > (uint32_t)given->buckets && i < ARRAY_LEN(auto_units[0].inner);
         i++) {
        int step = auto_units[unit].inner[i];
        if (step > 0 && (f.n + (uint32_t)step - 1) / (uint32_t)step <= (uint32_t)given->buckets) {
            struct rounding to = unit_rounding(a, unit);
            own->inner = step;
            e = merge_runs(r, a, f.v, &f.n, &to, (uint32_t)step);
            break;
        }
    }
    out->buckets = f.v;
    out->n = f.n;
    return e;
}

/* ---- bytes, printing, row -------------------------------------------------------------------------------- */

static void auto_put(struct buf *b, const struct agg_result *r)
{
    put_u8(b, (uint8_t)auto_date_result(r)->unit);
}

static enum err auto_get(const struct result_reading *d, struct agg_result *r)
{
    auto_date_result(r)->unit = get_u8(d->in) % 6;
    return ERR_OK;
}

static void auto_print_interval(const struct agg_result *r, struct jsonw *w)
{
    const struct auto_date_result *own = auto_date_result(r);
    jw_k(w, "interval");
    jw_strf(w, "%d%s", own->inner, auto_units[own->unit].suffix);
}

static bool auto_gapless(UNUSED const struct agg *a)
{
    return true;
}

static struct agg_key auto_next_key(UNUSED const struct agg *a, struct agg_key k)
{
    struct rounding days = rounding_calendar(UNIT_DAY, NULL, 0);
    k.i = rounding_next(&days, k.i);
    return k;
}

const struct agg_type agg_auto_date_histogram = {
    .name = "auto_date_histogram",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct auto_date_params),
    .result_size = sizeof(struct auto_date_result),
    .parse = parse_auto_date,
    .collector = auto_date_new,
    .factory = "AutoDateHistogramAggregatorFactory",
    .results = {"InternalAutoDateHistogram"},
    .gapless = auto_gapless,
    .next_key = auto_next_key,
    .put = auto_put,
    .get = auto_get,
    .reduce = reduce_auto_date,
    .print_bucket = histogram_print_bucket,
    .key_no_number = true,
    .print_after = auto_print_interval,
};
