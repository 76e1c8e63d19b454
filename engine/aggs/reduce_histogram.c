/* Merging histograms, filling their gaps, and choosing the width of automatic ones. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/auto_date.h"

#include "common/base/coerce.h"
#include "engine/aggs/result.h"

#include <math.h>

struct filling {
    struct reduce *r;
    const struct agg *a;
    struct rounding rounding; /* dates */
    bool date;
    struct agg_result *empty; /* sub-results of a bucket without documents */
    struct agg_bucket *v;
    size_t cap;
    uint32_t n;
};

static enum err push(struct filling *f, const struct agg_bucket *b)
{
    enum err e = reduce_count(f->r, 1);
    struct agg_bucket *v = arena_grow(f->r->arena, f->v, f->n, &f->cap, sizeof(*v));
    if (e != ERR_OK || v == NULL) {
        return e != ERR_OK ? e : err_no_memory(f->r->em);
    }
    f->v = v;
    v[f->n++] = *b;
    return ERR_OK;
}

/* Pipelines write into a bucket's results: each empty bucket has its own. */
static enum err push_empty(struct filling *f, struct agg_key key)
{
    struct agg_bucket b = {.key = key};
    enum err e = reduce_subs(f->r, f->a, &f->empty, f->empty != NULL ? 1 : 0, &b.subs);
    return e == ERR_OK ? push(f, &b) : e;
}

static double round_number(const struct filling *f, double x)
{
    const struct histogram_params *p = &f->a->histogram;
    return floor((x - p->offset) / p->interval) * p->interval + p->offset;
}

static struct agg_key next_key(const struct filling *f, struct agg_key k)
{
    double interval = f->a->histogram.interval;
    return f->date ? (struct agg_key){.kind = KEY_I64, .i = rounding_next(&f->rounding, k.i)}
                   : (struct agg_key){.kind = KEY_F64, .d = round_number(f, k.d + interval + interval / 2)};
}

static struct agg_key key_of(const struct filling *f, double x)
{
    return f->date ? (struct agg_key){.kind = KEY_I64, .i = num_double_to_i64(x)}
                   : (struct agg_key){.kind = KEY_F64, .d = round_number(f, x)};
}

static bool below(const struct filling *f, struct agg_key a, double limit)
{
    return f->date ? (double)a.i <= limit : a.d <= limit;
}

static bool before(struct agg_key a, struct agg_key b)
{
    return a.kind == KEY_I64 ? a.i < b.i : a.d < b.d;
}

/* Empty buckets from the lower bound to the upper one, wherever there is none. */
static enum err fill_gaps(struct filling *f, const struct agg_bucket *in, uint32_t n,
                          const struct agg_result *bounds)
{
    bool from = bounds->empty_bounds && isfinite(bounds->ext_min),
         to = bounds->empty_bounds && isfinite(bounds->ext_max);
    struct agg_key at = from    ? key_of(f, bounds->ext_min)
                        : n > 0 ? in[0].key
                                : (struct agg_key){.kind = KEY_NONE};
    enum err e = ERR_OK;
    if (n == 0) {
        for (; e == ERR_OK && from && to && below(f, at, bounds->ext_max); at = next_key(f, at)) {
            e = push_empty(f, at);
        }
        return e;
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        for (; e == ERR_OK && before(at, in[i].key); at = next_key(f, at)) {
            e = push_empty(f, at);
        }
        e = e == ERR_OK ? push(f, &in[i]) : e;
        at = next_key(f, in[i].key);
    }
    for (; e == ERR_OK && to && below(f, at, bounds->ext_max); at = next_key(f, at)) {
        e = push_empty(f, at);
    }
    return e;
}

static enum err start_filling(struct filling *f, struct reduce *r, const struct agg *a,
                              struct agg_result *const *in, uint32_t n)
{
    *f = (struct filling){.r = r, .a = a, .date = a->type != &agg_histogram};
    for (uint32_t i = 0; i < n && f->empty == NULL; i++) {
        f->empty = in[i]->empty;
    }
    return a->type == &agg_date_histogram ? date_rounding(&f->rounding, &a->date, a->vs.zone, r->em) : ERR_OK;
}

/* The bounds that any shard had: those that do not know the field have none. */
static const struct agg_result *bounds_of(struct agg_result *const *in, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (in[i]->empty_bounds) {
            return in[i];
        }
    }
    return in[0];
}

enum err reduce_histogram(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                          struct agg_result *out)
{
    bool date = a->type == &agg_date_histogram;
    int64_t least = date ? a->date.min_doc_count : a->histogram.min_doc_count;
    const struct agg_orders *orders = date ? &a->date.orders : &a->histogram.orders;
    struct agg_bucket *merged;
    struct filling f;
    uint32_t have = 0, total = 0;
    enum err e = reduce_sorted(r, a, in, n, &merged, &total);
    e = e == ERR_OK ? start_filling(&f, r, a, in, n) : e;
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < total; i++) {
        if (merged[i].doc_count >= least) {
            merged[have++] = merged[i];
        }
    }
    if (least == 0 && in[0]->form != RESULT_UNMAPPED) {
        e = fill_gaps(&f, merged, have, bounds_of(in, n));
        merged = f.v;
        have = f.n;
    }
    if (e == ERR_OK && !(orders->v[0].by == ORDER_KEY && orders->v[0].asc)) {
        e = buckets_sort(r, a, orders, merged, have);
    }
    out->buckets = merged;
    out->n = have;
    return e;
}

/* ---- automatic width ----------------------------------------------------------------------------------- */

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
    int64_t target = a->date.buckets, needed = 0;
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
    while ((int64_t)*n > (int64_t)a->date.buckets * auto_units[*unit].inner_max && *unit < AUTO_UNITS - 1) {
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
    static const struct agg_result open = {.empty_bounds = false};
    return e == ERR_OK ? fill_gaps(f, v, *n, &open) : e;
}

enum err reduce_auto_date(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                          struct agg_result *out)
{
    struct filling f;
    struct agg_bucket *v;
    uint32_t have = 0;
    int unit = a->date.minimum_unit;
    out->unit = unit;
    out->inner = 1;
    for (uint32_t i = 0; i < n; i++) {
        unit = MAX_OF(unit, in[i]->unit);
    }
    struct rounding common = unit_rounding(a, unit);
    enum err e = start_filling(&f, r, a, in, n);
    e = e == ERR_OK ? reduce_sorted(r, a, in, n, &v, &have) : e;
    e = e == ERR_OK ? merge_runs(r, a, v, &have, &common, 0) : e; /* shards may have stopped at finer units */
    e = e == ERR_OK ? coarsen(r, a, v, &have, &unit) : e;
    if (e != ERR_OK || have == 0) {
        return e;
    }
    e = fill_span(&f, v, &have, &unit);
    e = e == ERR_OK ? coarsen(r, a, f.v, &f.n, &unit) : e;
    out->unit = unit;
    for (size_t i = 0; e == ERR_OK && f.n > (uint32_t)a->date.buckets && i < ARRAY_LEN(auto_units[0].inner);
         i++) {
        int step = auto_units[unit].inner[i];
        if (step > 0 && (f.n + (uint32_t)step - 1) / (uint32_t)step <= (uint32_t)a->date.buckets) {
            struct rounding to = unit_rounding(a, unit);
            out->inner = step;
            e = merge_runs(r, a, f.v, &f.n, &to, (uint32_t)step);
            break;
        }
    }
    out->buckets = f.v;
    out->n = f.n;
    return e;
}

/* ---- bytes, printing, rows ---- */

static void histogram_put(struct buf *b, const struct agg_result *r)
{
    put_bool(b, r->empty_bounds);
    put_f64(b, r->ext_min);
    put_f64(b, r->ext_max);
}

static enum err histogram_get(const struct result_reading *d, struct agg_result *r)
{
    r->empty_bounds = get_bool(d->in);
    r->ext_min = get_f64(d->in);
    r->ext_max = get_f64(d->in);
    return ERR_OK;
}

static void auto_put(struct buf *b, const struct agg_result *r)
{
    put_u8(b, (uint8_t)r->unit);
}

static enum err auto_get(const struct result_reading *d, struct agg_result *r)
{
    r->unit = get_u8(d->in) % 6;
    return ERR_OK;
}

static void auto_print_interval(const struct agg_result *r, struct jsonw *w)
{
    jw_k(w, "interval");
    jw_strf(w, "%d%s", r->inner, auto_units[r->unit].suffix);
}

static void histogram_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                                   struct jsonw *w)
{
    (void)keyed;
    print_key_as_string(r, b, w);
    print_key(r, b, w);
}

static bool histogram_keyed(const struct agg *a)
{
    return a->histogram.keyed;
}

static bool date_keyed(const struct agg *a)
{
    return a->date.keyed;
}

static bool histogram_gapless(const struct agg *a)
{
    return a->histogram.min_doc_count == 0;
}

static bool date_gapless(const struct agg *a)
{
    return a->date.min_doc_count == 0;
}

static bool auto_gapless(const struct agg *a)
{
    (void)a;
    return true;
}

const struct agg_type agg_histogram = {
    .name = "histogram",
    .class = CLASS_MULTI,
    .parse = parse_histogram,
    .collector = histogram_new,
    .factory = "HistogramAggregatorFactory",
    .results = {"InternalHistogram"},
    .gapless = histogram_gapless,
    .put = histogram_put,
    .get = histogram_get,
    .reduce = reduce_histogram,
    .print_bucket = histogram_print_bucket,
    .keyed = histogram_keyed,
};

const struct agg_type agg_date_histogram = {
    .name = "date_histogram",
    .class = CLASS_MULTI,
    .parse = parse_date_histogram,
    .collector = date_histogram_new,
    .factory = "DateHistogramAggregatorFactory",
    .results = {"InternalDateHistogram"},
    .gapless = date_gapless,
    .put = histogram_put,
    .get = histogram_get,
    .reduce = reduce_histogram,
    .print_bucket = histogram_print_bucket,
    .key_no_number = true,
    .keyed = date_keyed,
};

const struct agg_type agg_auto_date_histogram = {
    .name = "auto_date_histogram",
    .class = CLASS_MULTI,
    .parse = parse_auto_date,
    .collector = auto_date_new,
    .factory = "AutoDateHistogramAggregatorFactory",
    .results = {"InternalAutoDateHistogram"},
    .gapless = auto_gapless,
    .put = auto_put,
    .get = auto_get,
    .reduce = reduce_auto_date,
    .print_bucket = histogram_print_bucket,
    .key_no_number = true,
    .print_after = auto_print_interval,
};
