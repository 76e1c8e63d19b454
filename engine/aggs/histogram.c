/* histogram, date_histogram and auto_date_histogram: buckets of equal or calendar width, made as values fall into them. */
#include "engine/aggs/histogram.h"
#include "engine/aggs/values.h"

#include "common/base/arena_list.h"
#include "common/base/bits.h"
#include "common/base/coerce.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

#define BOUNDARIES_MAX 1024 /* precomputed starts of a date column's buckets */
#define CELLS          2048 /* even parts of the column's range */

#define RANGE_BUCKETS_FEW  1024 /* buckets of one range that nobody asks about before */
#define RANGE_BUCKET_BYTES 32   /* what one takes at least */

struct span {
    double from, to;
};

struct histogram {
    struct collector c;
    struct values v;
    struct bucket_map map; /* keys: sortable doubles, or milliseconds */
    bool date;
    struct rounding rounding; /* dates */
    double interval, offset;  /* numbers */
    bool bounded;
    double hard_min, hard_max, ext_min, ext_max;
    bool has_ext;
    /* of the current segment: where its buckets start, and the bucket of owner 0, + 1 */
    int64_t *starts;
    uint32_t *start_buckets;
    uint32_t n_starts;
    uint16_t *cells; /* the last start at or before each cell's beginning */
    unsigned cell_shift;
    uint32_t *start_counts; /* of whole windows, until the segment ends */
    bool by_window;         /* nothing but counts, of one value a document */
    struct span *spans;     /* of the current document */
    size_t spans_cap;
};

/* ---- keys --------------------------------------------------------------------------------------------------------- */

static bool key_of_number(const struct histogram *h, double x, int64_t *key)
{
    double k = floor((x - h->offset) / h->interval);
    if (h->bounded && !(k * h->interval >= h->hard_min && k * h->interval <= h->hard_max)) {
        return false;
    }
    *key = num_from_double(k);
    return true;
}

static bool key_of_date(const struct histogram *h, int64_t rounded)
{
    return !h->bounded || ((double)rounded >= h->hard_min && (double)rounded < h->hard_max);
}

static void histogram_count(struct histogram *h, const struct doc_run *d, uint32_t at, int64_t key)
{
    uint32_t b = bucket_map_get(&h->map, run_bucket(d, at), key);
    if (b != NO_BUCKET) {
        h->map.counts[b]++;
        collector_send(&h->c, d->docs[at], b, d->scores != NULL ? d->scores[at] : 0);
    }
}

/* ---- collecting ------------------------------------------------------------------------------------------------------ */

static void collect_numbers(struct histogram *h, const struct doc_run *d)
{
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_doubles(&h->v, d, &pos), last_at = UINT32_MAX;
        int64_t last = 0, key;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = h->v.at[i];
            if (!key_of_number(h, h->v.d[i], &key) || (at == last_at && key == last)) {
                continue;
            }
            last_at = at;
            last = key;
            histogram_count(h, d, at, key);
        }
    }
}

/* The last boundary at or before ms; the table covers the column. Cells are narrower than most buckets, so that hardly any step
 * is left to go. */
static inline uint32_t boundary_of(const struct histogram *h, int64_t ms)
{
    uint64_t cell = ((uint64_t)ms - (uint64_t)h->starts[0]) >> h->cell_shift;
    uint32_t i = h->cells[MIN_OF(cell, (uint64_t)CELLS - 1)];
    while (i + 1 < h->n_starts && h->starts[i + 1] <= ms) {
        i++;
    }
    return i;
}

static void count_boundary(struct histogram *h, const struct doc_run *d, uint32_t at, uint32_t start)
{
    if (run_bucket(d, at) != 0) {
        histogram_count(h, d, at, h->starts[start]);
        return;
    }
    if (h->start_buckets[start] == 0) {
        h->start_buckets[start] = bucket_map_get(&h->map, 0, h->starts[start]) + 1;
    }
    uint32_t b = h->start_buckets[start] - 1;
    if (b != NO_BUCKET) {
        h->map.counts[b]++;
        collector_send(&h->c, d->docs[at], b, d->scores != NULL ? d->scores[at] : 0);
    }
}

static void collect_dates(struct histogram *h, const struct doc_run *d)
{
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_longs(&h->v, d, &pos), last_at = UINT32_MAX;
        int64_t last = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = h->v.at[i], start = 0;
            int64_t ms = h->v.floating ? num_double_to_i64(num_to_double(h->v.i[i])) : h->v.i[i];
            bool known = h->n_starts > 0 && ms >= h->starts[0];
            if (known) {
                start = boundary_of(h, ms);
            }
            int64_t key = known ? h->starts[start] : rounding_round(&h->rounding, ms);
            if (!key_of_date(h, key) || (at == last_at && key == last)) {
                continue;
            }
            last_at = at;
            last = key;
            if (known) {
                count_boundary(h, d, at, start);
            } else {
                histogram_count(h, d, at, key);
            }
        }
    }
}

/* Whether so many buckets of one range find room: asked before they are made one by one, and not where they are few. */
static bool room_for(struct histogram *h, double buckets)
{
    if (buckets < RANGE_BUCKETS_FEW) {
        return true;
    }
    bool countable =
        buckets < (double)memory_heap_bytes() / RANGE_BUCKET_BYTES; /* neither endless nor no number */
    uint64_t bytes = countable ? (uint64_t)buckets * RANGE_BUCKET_BYTES : UINT64_MAX / 4;
    countable = memory_room(MEMORY_REQUEST, bytes, NULL) && countable;
    if (!countable) {
        run_no_memory(h->c.run);
    }
    return countable;
}

static inline bool goes_on(const struct histogram *h)
{
    return h->c.run->failed == ERR_OK && !stop_often();
}

static void collect_date_range(struct histogram *h, const struct doc_run *d, uint32_t at, double from,
                               double to, double *last)
{
    int64_t end =
        rounding_round(&h->rounding, num_double_to_i64(fmin(to, h->bounded ? h->hard_max : INFINITY)));
    int64_t key =
        rounding_round(&h->rounding, num_double_to_i64(fmax(from, h->bounded ? h->hard_min : -INFINITY)));
    int64_t next = rounding_next(&h->rounding, key);
    if (next <= key || !room_for(h, ((double)end - (double)key) / ((double)next - (double)key))) {
        return;
    }
    while (key <= end && goes_on(h)) {
        if ((double)key > *last) { /* the bounds have cut the range already */
            histogram_count(h, d, at, key);
        }
        next = rounding_next(&h->rounding, key);
        if (next <= key) { /* the end of time */
            break;
        }
        key = next;
    }
    *last = fmax(*last, (double)end);
}

/* A range counts in every bucket that it touches. */
static void collect_range(struct histogram *h, const struct doc_run *d, uint32_t at, double from, double to,
                          double *last)
{
    const struct histogram_params *p = histogram_params(h->c.agg);
    if (h->date) {
        collect_date_range(h, d, at, from, to, last);
        return;
    }
    double key = floor((fmax(from, h->hard_min) - p->offset) / p->interval);
    double end = floor((fmin(to, h->hard_max) - p->offset) / p->interval);
    double n = end - key; /* counted on its own: far out, a key and one more are the same number */
    if (!room_for(h, n)) {
        return;
    }
    for (double i = 0; i <= n && goes_on(h); i++) {
        if (key + i > *last) {
            histogram_count(h, d, at, num_from_double(key + i));
        }
    }
    *last = fmax(*last, end);
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* The ranges of a document, the one that starts first before the others: a bucket that a range has counted is not counted again
 * by those that follow. */
static uint32_t ranges_of(struct histogram *h, doc_id doc)
{
    double from, to;
    uint32_t n = 0;
    while (values_range(&h->v, doc, n, &from, &to)) {
        if (!ARENA_ADD(h->c.run->arena, h->spans, n, h->spans_cap, (struct span){from, to})) {
            run_no_memory(h->c.run);
            return 0;
        }
    }
    sort_items(h->spans, n, sizeof(*h->spans), by_start);
    return n;
}

static void collect_ranges(struct histogram *h, const struct doc_run *d)
{
    for (uint32_t k = 0; k < d->n && goes_on(h); k++) {
        double last = -INFINITY;
        uint32_t n = ranges_of(h, d->docs[k]);
        for (uint32_t i = 0; i < n; i++) {
            collect_range(h, d, k, h->spans[i].from, h->spans[i].to, &last);
        }
    }
}

static void histogram_collect(struct collector *c, const struct doc_run *d)
{
    struct histogram *h = (struct histogram *)c;
    if (h->v.kind == SOURCE_RANGE) {
        collect_ranges(h, d);
    } else if (h->date) {
        collect_dates(h, d);
    } else {
        collect_numbers(h, d);
    }
    collector_flush(c);
}

static void prepare_cells(struct histogram *h)
{
    uint64_t span = (uint64_t)h->v.nums.max - (uint64_t)h->starts[0];
    uint32_t i = 0;
    h->cell_shift = 0;
    while (span >> h->cell_shift >= CELLS) {
        h->cell_shift++;
    }
    for (uint64_t cell = 0; cell < CELLS; cell++) {
        uint64_t from = cell << h->cell_shift; /* behind the first start */
        while (i + 1 < h->n_starts && (uint64_t)h->starts[i + 1] - (uint64_t)h->starts[0] <= from) {
            i++;
        }
        h->cells[cell] = (uint16_t)i;
    }
}

static void prepare_boundaries(struct histogram *h)
{
    h->n_starts = 0;
    h->by_window = false;
    bool column = h->v.field != NULL && h->v.script == NULL && h->v.nums.field != NULL && !h->v.floating
                  && !h->v.has_missing;
    if (!column || h->v.kind == SOURCE_RANGE || h->v.nanos || h->v.nums.doc_count < 64) {
        return;
    }
    int64_t at = rounding_round(&h->rounding, h->v.nums.min);
    while (at <= h->v.nums.max && h->n_starts < BOUNDARIES_MAX) {
        h->starts[h->n_starts] = at;
        h->start_buckets[h->n_starts++] = 0;
        int64_t next = rounding_next(&h->rounding, at);
        if (next <= at) {
            break;
        }
        at = next;
    }
    if (at <= h->v.nums.max) {
        h->n_starts = 0; /* too many: each value is rounded */
        return;
    }
    prepare_cells(h);
    h->by_window =
        h->v.nums.dense && !h->bounded && h->c.n_subs == 0 && h->c.agg->parent->type == &agg_type_root;
}

/* Whole windows at a time: the plain count of a date column. */
static bool histogram_bits(struct collector *c, doc_id from, const uint64_t *bits, uint32_t n)
{
    struct histogram *h = (struct histogram *)c;
    for (uint32_t w = 0; h->by_window && w < bits_words(n); w++) {
        for (uint64_t word = bits[w]; word != 0; word &= word - 1) {
            doc_id doc = from + w * 64 + (doc_id)__builtin_ctzll(word);
            h->start_counts[boundary_of(h, num_column_value(&h->v.nums, doc))]++;
        }
    }
    return h->by_window;
}

static void histogram_leaf_end(struct collector *c)
{
    struct histogram *h = (struct histogram *)c;
    for (uint32_t i = 0; h->by_window && i < h->n_starts; i++) {
        uint32_t b = h->start_counts[i] > 0 ? bucket_map_get(&h->map, 0, h->starts[i]) : NO_BUCKET;
        if (b != NO_BUCKET) {
            h->map.counts[b] += h->start_counts[i];
        }
        h->start_counts[i] = 0;
    }
}

static enum err histogram_leaf(struct collector *c, struct errmsg *em)
{
    struct histogram *h = (struct histogram *)c;
    enum err e = values_leaf(&h->v, em);
    if (e == ERR_OK && h->date) {
        prepare_boundaries(h);
    }
    return e;
}

/* ---- results --------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    return agg_key_cmp(&((const struct agg_bucket *)a)->key, &((const struct agg_bucket *)b)->key);
}

static enum err histogram_build(struct collector *c, uint32_t owner, struct agg_result *out,
                                struct errmsg *em)
{
    struct histogram_result *own = histogram_result(out);
    struct histogram *h = (struct histogram *)c;
    const struct histogram_params *p = histogram_params(c->agg);
    const uint32_t *list;
    uint32_t n = bucket_map_of(&h->map, owner, &list);
    out->form = h->v.none ? RESULT_UNMAPPED : h->date ? RESULT_I64 : RESULT_F64;
    out->shape = h->v.shape;
    own->has_bounds = h->has_ext;
    own->ext_min = h->ext_min;
    own->ext_max = h->ext_max;
    out->n = n;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, n);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    enum err e = collector_empty_subs(c, &out->empty, em);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct agg_bucket *b = &out->buckets[i];
        int64_t key = h->map.keys[list[i]];
        b->doc_count = h->map.counts[list[i]];
        b->key = h->date
                     ? (struct agg_key){.kind = KEY_I64, .i = key}
                     : (struct agg_key){.kind = KEY_F64, .d = num_to_double(key) * p->interval + p->offset};
        e = collector_subs(c, list[i], &b->subs, em);
    }
    if (e == ERR_OK) {
        sort_items(out->buckets, n, sizeof(*out->buckets), by_key);
    }
    return e;
}

static enum err histogram_finish(struct collector *c, struct errmsg *em)
{
    return bucket_map_group(&((struct histogram *)c)->map, em);
}

/* Orders take effect where shards' results meet; that their paths lead somewhere is found out here. */
static enum err histogram_check_orders(struct collector *c, struct errmsg *em)
{
    const struct agg_orders *orders = ((struct histogram *)c)->date ? &date_histogram_params(c->agg)->orders
                                                                    : &histogram_params(c->agg)->orders;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < orders->n; i++) {
        struct collector *from;
        e = orders->v[i].by == ORDER_PATH ? order_bind(c, &orders->v[i], &from, em) : ERR_OK;
    }
    return e;
}

static const struct collector_ops histogram_ops = {.check_orders = histogram_check_orders,
                                                   .leaf = histogram_leaf,
                                                   .collect = histogram_collect,
                                                   .collect_bits = histogram_bits,
                                                   .leaf_end = histogram_leaf_end,
                                                   .finish = histogram_finish,
                                                   .build = histogram_build};

/* ---- binding ------------------------------------------------------------------------------------------------------------ */

/* Ranges of dates go into date histograms alone, those of addresses into none. `f` may be NULL. */
static enum err check_ranges(const struct field *f, bool date, struct errmsg *em)
{
    bool range = f != NULL && f->class->ends != NULL;
    if (range && date && f->class->ends->kind != VALUE_DATE) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Expected date range type but found range type [%s]",
                       f->class->name);
    }
    if (range && !date && f->class->ends->kind == VALUE_ADDRESS) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Expected numeric range type but found non-numeric range [%s]", f->class->name);
    }
    return ERR_OK;
}

static enum err histogram_bind(struct histogram **out, struct agg_run *r, const struct agg *a, bool date,
                               struct errmsg *em)
{
    struct histogram *h = ARENA_NEW(r->arena, struct histogram);
    if (h == NULL) {
        return err_no_memory(em);
    }
    *out = h;
    h->date = date;
    h->hard_min = -INFINITY;
    h->hard_max = INFINITY;
    bucket_map_init(&h->map, r);
    enum err e = collector_init(&h->c, &histogram_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&h->v, r, a, &a->vs, TAKES_NUMERIC | TAKES_RANGE,
                                  date ? SOURCE_DATE : SOURCE_NUMBER, em)
                    : e;
    return e == ERR_OK ? check_ranges(h->v.field, date, em) : e;
}

/* A bound as Elasticsearch prints it: nothing where none was given. */
static struct num_text bound_text(double v)
{
    return isfinite(v) ? num_text(v) : (struct num_text){""};
}

enum err histogram_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct histogram_params *p = histogram_params(a);
    struct histogram *h = NULL;
    if (!(p->interval > 0)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "interval must be positive, got: %s",
                       num_text(p->interval).s);
    }
    enum err e = histogram_bind(&h, r, a, false, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = &h->c;
    h->interval = p->interval;
    h->offset = p->offset;
    h->hard_min = p->hard_min;
    h->hard_max = p->hard_max;
    h->bounded = isfinite(p->hard_min) || isfinite(p->hard_max);
    h->has_ext = isfinite(p->ext_min) || isfinite(p->ext_max);
    h->ext_min = isfinite(p->ext_min) ? p->ext_min : INFINITY;
    h->ext_max = isfinite(p->ext_max) ? p->ext_max : -INFINITY;
    if (h->bounded && h->has_ext && (h->ext_min < h->hard_min || h->ext_max > h->hard_max)) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "Extended bounds have to be inside hard bounds, hard bounds: [%s--%s], extended bounds: [%s--%s]",
            bound_text(p->hard_min).s, bound_text(p->hard_max).s, bound_text(p->ext_min).s,
            bound_text(p->ext_max).s);
    }
    return ERR_OK;
}

enum err date_rounding(struct rounding *out, const struct date_histogram_params *p, const struct zone *zone,
                       struct errmsg *em)
{
    if (!p->has_interval) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid interval specified, must be non-null and non-empty");
    }
    if (p->bad_interval.p != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unable to parse interval [%.*s]", STR_ARG(p->bad_interval));
    }
    if (p->calendar) {
        *out = rounding_calendar(p->unit, zone, p->offset_ms);
        return ERR_OK;
    }
    return rounding_fixed(out, p->fixed_ms, zone, p->offset_ms, em);
}

static enum err parse_bound(struct values *v, const struct json *given, double otherwise, double *out,
                            struct errmsg *em)
{
    int64_t whole;
    *out = otherwise;
    return given != NULL ? values_parse(v, given, out, &whole, em) : ERR_OK;
}

/* Bounds are moments that fall to the starts of their buckets, as if these had no offset. */
static enum err parse_bounds(struct histogram *h, const struct bound_spec *b, const char *name, double *min,
                             double *max, struct errmsg *em)
{
    struct date_histogram_params without_offset = *date_histogram_params(h->c.agg);
    struct rounding plain = h->rounding;
    without_offset.offset_ms = 0;
    enum err e = date_rounding(&plain, &without_offset, h->c.agg->vs.zone, em);
    e = e == ERR_OK ? parse_bound(&h->v, b->min, -INFINITY, min, em) : e;
    e = e == ERR_OK ? parse_bound(&h->v, b->max, INFINITY, max, em) : e;
    if (e == ERR_OK && *min > *max) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "[%s.min][%lld] cannot be greater than [%s.max][%lld] for histogram aggregation [%.*s]", name,
            (long long)*min, name, (long long)*max, STR_ARG(h->c.agg->name));
    }
    if (e == ERR_OK && isfinite(*min)) {
        *min = (double)rounding_round(&plain, (int64_t)*min);
    }
    if (e == ERR_OK && isfinite(*max)) {
        *max = (double)rounding_round(&plain, (int64_t)*max);
    }
    return e;
}

static enum err bind_bounds(struct histogram *h, struct errmsg *em)
{
    const struct date_histogram_params *p = date_histogram_params(h->c.agg);
    enum err e = ERR_OK;
    if (p->extended.given) {
        h->has_ext = true;
        e = parse_bounds(h, &p->extended, "extended_bounds", &h->ext_min, &h->ext_max, em);
    }
    if (e == ERR_OK && p->hard.given) {
        h->bounded = true;
        e = parse_bounds(h, &p->hard, "hard_bounds", &h->hard_min, &h->hard_max, em);
    }
    if (e != ERR_OK || !p->extended.given) {
        return e;
    }
    bool below = isfinite(h->ext_min) && h->ext_min < h->hard_min,
         above = isfinite(h->ext_max) && h->ext_max > h->hard_max;
    if (e == ERR_OK && h->bounded && (below || above)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Extended bounds have to be inside hard bounds");
    }
    h->ext_min = isfinite(h->ext_min) ? h->ext_min + (double)p->offset_ms : INFINITY;
    h->ext_max = isfinite(h->ext_max) ? h->ext_max + (double)p->offset_ms : -INFINITY;
    return e;
}

/* All moments of an indexed field fall into one bucket: Elasticsearch makes ranges of few known buckets. It does not know them
 * where there is an offset. */
static bool one_bucket(const struct histogram *h)
{
    const struct values *v = &h->v;
    int64_t min, max;
    if (v->field == NULL || v->kind != SOURCE_DATE || !v->field->index || v->script != NULL || v->has_missing
        || date_histogram_params(h->c.agg)->offset_ms != 0 || !values_extremes(v, &min, &max)) {
        return false;
    }
    if (h->hard_min > (double)min) {
        min = num_double_to_i64(h->hard_min);
    }
    if (h->hard_max > (double)min && h->hard_max <= (double)max) {
        max = num_double_to_i64(h->hard_max) - 1; /* itself is outside */
    }
    return min <= max && h->hard_max > (double)min
           && rounding_round(&h->rounding, min) == rounding_round(&h->rounding, max);
}

enum err date_histogram_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct histogram *h = NULL;
    enum err e = histogram_bind(&h, r, a, true, em);
    e = e == ERR_OK ? date_rounding(&h->rounding, date_histogram_params(a), a->vs.zone, em) : e;
    e = e == ERR_OK ? bind_bounds(h, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    *out = &h->c;
    h->c.single = h->c.n_subs > 0 && one_bucket(h);
    h->starts = ARENA_ARRAY(r->arena, int64_t, BOUNDARIES_MAX);
    h->start_buckets = ARENA_ARRAY(r->arena, uint32_t, BOUNDARIES_MAX);
    h->start_counts = ARENA_ARRAY(r->arena, uint32_t, BOUNDARIES_MAX);
    h->cells = ARENA_ARRAY(r->arena, uint16_t, CELLS);
    bool ok = h->starts != NULL && h->start_buckets != NULL && h->start_counts != NULL && h->cells != NULL;
    return ok ? ERR_OK : err_no_memory(em);
}
