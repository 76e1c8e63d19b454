/* histogram and date_histogram: merging, filling of gaps, bytes and printing of results, and their rows. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/histogram.h"

#include "common/base/coerce.h"

#include <math.h>

static enum err histogram_push(struct filling *f, const struct agg_bucket *b)
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
    return e == ERR_OK ? histogram_push(f, &b) : e;
}

static double round_number(const struct filling *f, double x)
{
    const struct histogram_params *p = histogram_params(f->a);
    return floor((x - p->offset) / p->interval) * p->interval + p->offset;
}

static struct agg_key next_key(const struct filling *f, struct agg_key k)
{
    double interval = histogram_params(f->a)->interval;
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

static bool histogram_before(struct agg_key a, struct agg_key b)
{
    return a.kind == KEY_I64 ? a.i < b.i : a.d < b.d;
}

/* Empty buckets from the lower bound to the upper one, wherever there is none. */
enum err fill_gaps(struct filling *f, const struct agg_bucket *in, uint32_t n,
                   const struct histogram_result *bounds)
{
    bool from = bounds != NULL && isfinite(bounds->ext_min), to = bounds != NULL && isfinite(bounds->ext_max);
    struct agg_key at = from    ? key_of(f, bounds->ext_min)
                        : n > 0 ? in[0].key
                                : (struct agg_key){.kind = KEY_NONE};
    /* what an empty bucket shows is made whether there is one or not, as a script may refuse it */
    struct agg_result *shown;
    enum err e = reduce_subs(f->r, f->a, &f->empty, f->empty != NULL ? 1 : 0, &shown);
    if (n == 0) {
        for (; e == ERR_OK && from && to && below(f, at, bounds->ext_max); at = next_key(f, at)) {
            e = push_empty(f, at);
        }
        return e;
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        for (; e == ERR_OK && histogram_before(at, in[i].key); at = next_key(f, at)) {
            e = push_empty(f, at);
        }
        e = e == ERR_OK ? histogram_push(f, &in[i]) : e;
        at = next_key(f, in[i].key);
    }
    for (; e == ERR_OK && to && below(f, at, bounds->ext_max); at = next_key(f, at)) {
        e = push_empty(f, at);
    }
    return e;
}

void filling_init(struct filling *f, struct reduce *r, const struct agg *a, struct agg_result *const *in,
                  uint32_t n)
{
    *f = (struct filling){.r = r, .a = a};
    for (uint32_t i = 0; i < n && f->empty == NULL; i++) {
        f->empty = in[i]->empty;
    }
}

/* The bounds that any shard had: those that do not know the field have none. */
static const struct histogram_result *bounds_of(struct agg_result *const *in, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (histogram_result(in[i])->has_bounds) {
            return histogram_result(in[i]);
        }
    }
    return NULL;
}

/* Merges, leaves out what has fewer than `least` documents, and fills gaps where none may be left out. */
static enum err merge(struct filling *f, struct agg_result *const *in, uint32_t n, int64_t least,
                      const struct agg_orders *orders, struct agg_result *out)
{
    struct agg_bucket *merged;
    uint32_t have = 0, total = 0;
    enum err e = reduce_sorted(f->r, f->a, in, n, &merged, &total);
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < total; i++) {
        if (merged[i].doc_count >= least) {
            merged[have++] = merged[i];
        }
    }
    if (least == 0 && in[0]->form != RESULT_UNMAPPED) {
        e = fill_gaps(f, merged, have, bounds_of(in, n));
        merged = f->v;
        have = f->n;
    }
    if (e == ERR_OK && !(orders->v[0].by == ORDER_KEY && orders->v[0].asc)) {
        e = buckets_sort(f->r, f->a, orders, merged, have);
    }
    out->buckets = merged;
    out->n = have;
    return e;
}

static enum err reduce_numbers(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                               uint32_t n, struct agg_result *out)
{
    const struct histogram_params *p = histogram_params(a);
    struct filling f;
    filling_init(&f, r, a, in, n);
    return merge(&f, in, n, p->min_doc_count, &p->orders, out);
}

static enum err reduce_dates(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                             struct agg_result *out)
{
    const struct date_histogram_params *p = date_histogram_params(a);
    struct filling f;
    filling_init(&f, r, a, in, n);
    f.date = true;
    enum err e = date_rounding(&f.rounding, p, a->vs.zone, r->em);
    return e == ERR_OK ? merge(&f, in, n, p->min_doc_count, &p->orders, out) : e;
}

/* ---- bytes, printing, rows ------------------------------------------------------------------------------- */

static void histogram_put(struct buf *b, const struct agg_result *r)
{
    const struct histogram_result *own = histogram_result(r);
    put_bool(b, own->has_bounds);
    put_f64(b, own->ext_min);
    put_f64(b, own->ext_max);
}

static enum err histogram_get(const struct result_reading *d, struct agg_result *r)
{
    struct histogram_result *own = histogram_result(r);
    own->has_bounds = get_bool(d->in);
    own->ext_min = get_f64(d->in);
    own->ext_max = get_f64(d->in);
    return ERR_OK;
}

void histogram_print_bucket(const struct agg_result *r, const struct agg_bucket *b, UNUSED bool keyed,
                            struct jsonw *w)
{
    print_key_as_string(r, b, w);
    print_key(r, b, w);
}

static bool histogram_keyed(const struct agg *a)
{
    return histogram_params(a)->keyed;
}

static bool date_keyed(const struct agg *a)
{
    return date_histogram_params(a)->keyed;
}

static bool histogram_gapless(const struct agg *a)
{
    return histogram_params(a)->min_doc_count == 0;
}

static bool date_gapless(const struct agg *a)
{
    return date_histogram_params(a)->min_doc_count == 0;
}

static struct agg_key next_number(const struct agg *a, struct agg_key k)
{
    return (struct agg_key){.kind = KEY_F64, .d = k.d + histogram_params(a)->interval};
}

static struct agg_key next_date(const struct agg *a, struct agg_key k)
{
    struct rounding to;
    if (date_rounding(&to, date_histogram_params(a), a->vs.zone, NULL) == ERR_OK) {
        k.i = rounding_next(&to, k.i);
    }
    return k;
}

const struct agg_type agg_histogram = {
    .name = "histogram",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct histogram_params),
    .result_size = sizeof(struct histogram_result),
    .parse = parse_histogram,
    .collector = histogram_new,
    .factory = "HistogramAggregatorFactory",
    .results = {"InternalHistogram"},
    .gapless = histogram_gapless,
    .next_key = next_number,
    .put = histogram_put,
    .get = histogram_get,
    .reduce = reduce_numbers,
    .print_bucket = histogram_print_bucket,
    .keyed = histogram_keyed,
};

const struct agg_type agg_date_histogram = {
    .name = "date_histogram",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct date_histogram_params),
    .result_size = sizeof(struct histogram_result),
    .parse = parse_date_histogram,
    .collector = date_histogram_new,
    .factory = "DateHistogramAggregatorFactory",
    .results = {"InternalDateHistogram"},
    .gapless = date_gapless,
    .next_key = next_date,
    .put = histogram_put,
    .get = histogram_get,
    .reduce = reduce_dates,
    .print_bucket = histogram_print_bucket,
    .key_no_number = true,
    .keyed = date_keyed,
};
