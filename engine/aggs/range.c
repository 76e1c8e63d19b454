/* range, date_range, ip_range, geo_distance: a fixed list of buckets; a document may fall into several. */
#include "engine/aggs/range.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

struct range_def {
    struct str key;
    double from, to;         /* [from, to) */
    struct str from_s, to_s; /* addresses; p == NULL: open */
};

struct ranges {
    struct collector c;
    struct values v;
    struct range_def *r; /* sorted by from, then to; distances as they were given */
    uint32_t n;
    double *max_to;  /* the greatest `to` so far, for the search */
    int64_t *counts; /* owner * n + range */
    uint32_t cap;
    double *keys; /* of a batch's points */
};

static enum err ranges_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct ranges *)c)->v, em);
}

/* ---- collecting ---------------------------------------------------------------------------------------- */

static bool inside(struct ranges *s, const struct range_def *r, uint32_t i)
{
    struct str a = dict_text(&s->v.dict, s->v.id[i]);
    return (r->from_s.p == NULL || str_cmp(a, r->from_s) >= 0)
           && (r->to_s.p == NULL || str_cmp(a, r->to_s) < 0);
}

/* The ranges from *lo on that may hold x: *first to *end. A document's values ascend, so that the search for
 * the next goes on at *lo. Where ranges are out of order, as those of distances may be, it misses some: so
 * does Elasticsearch's. */
static void search(const struct ranges *s, double x, uint32_t *lo, uint32_t *first, uint32_t *end)
{
    uint32_t hi = s->n, mid = *lo;
    while (*lo < hi) {
        mid = *lo + (hi - 1 - *lo) / 2;
        if (x < s->r[mid].from) {
            hi = mid;
        } else if (x >= s->max_to[mid]) {
            *lo = mid + 1;
        } else {
            break;
        }
    }
    *first = *end = *lo;
    if (*lo >= hi) {
        return;
    }
    for (uint32_t to = mid + 1; *first < to;) {
        uint32_t m = *first + (to - 1 - *first) / 2;
        if (x >= s->max_to[m]) {
            *first = m + 1;
        } else {
            to = m;
        }
    }
    *end = mid;
    while (*end < hi) {
        uint32_t m = *end + (hi - 1 - *end) / 2;
        if (x < s->r[m].from) {
            hi = m;
        } else {
            *end = m + 1;
        }
    }
    *lo = *end;
}

static void range_count(struct ranges *s, const struct doc_run *d, uint32_t at, uint32_t k)
{
    uint32_t bucket = run_bucket(d, at) * s->n + k;
    s->counts[bucket]++;
    collector_send(&s->c, d->docs[at], bucket, d->scores != NULL ? d->scores[at] : 0);
}

/* The addresses i to end are one document's. */
static void collect_addresses(struct ranges *s, const struct doc_run *d, uint32_t at, uint32_t i,
                              uint32_t end)
{
    for (uint32_t k = 0; k < s->n; k++) {
        bool in = false;
        for (uint32_t j = i; j < end && !in; j++) {
            in = inside(s, &s->r[k], j);
        }
        if (in) {
            range_count(s, d, at, k);
        }
    }
}

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void collect_numbers(struct ranges *s, const struct doc_run *d, uint32_t at, uint32_t i, uint32_t end)
{
    bool geo = s->c.agg->type == &agg_geo_distance;
    double *x = geo ? s->keys : s->v.d;
    if (geo && end - i > 1) {
        sort_items(x + i, end - i, sizeof(*x), cmp_double);
    }
    uint32_t lo = 0, first, last;
    for (; i < end && !stop_often(); i++) {
        search(s, x[i], &lo, &first, &last);
        for (uint32_t k = first; k < last && !stop_often(); k++) {
            if (x[i] >= s->r[k].from && x[i] < s->r[k].to) {
                range_count(s, d, at, k);
            }
        }
    }
}

static uint32_t next_values(struct ranges *s, const struct doc_run *d, uint32_t *pos)
{
    if (s->v.kind == SOURCE_IP) {
        return values_ids(&s->v, d, pos);
    }
    if (s->c.agg->type != &agg_geo_distance) {
        return values_doubles(&s->v, d, pos);
    }
    const struct range_params *p = range_params(s->c.agg);
    uint32_t n = values_points(&s->v, d, pos);
    s->keys = (double *)(void *)s->v.g; /* a distance takes less room than its point */
    for (uint32_t i = 0; i < n; i++) {
        struct geo_point g = s->v.g[i];
        s->keys[i] = geo_distance(p->plane ? GEO_PLANE : GEO_ARC, p->origin.lat, p->origin.lon, g.lat, g.lon)
                     / p->unit_metres;
    }
    return n;
}

static void ranges_collect(struct collector *c, const struct doc_run *d)
{
    struct ranges *s = (struct ranges *)c;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = next_values(s, d, &pos);
        for (uint32_t i = 0; i < n;) {
            uint32_t at = s->v.at[i], end = i, owner = run_bucket(d, at);
            while (end < n && s->v.at[end] == at) {
                end++;
            }
            if (!run_reserve(c->run, &s->counts, &s->cap, ((uint64_t)owner + 1) * s->n, sizeof(*s->counts))) {
                return;
            }
            if (s->v.kind == SOURCE_IP) {
                collect_addresses(s, d, at, i, end);
            } else {
                collect_numbers(s, d, at, i, end);
            }
            i = end;
        }
    }
    collector_flush(c);
}

static enum err ranges_build(struct collector *c, uint32_t owner, struct agg_result *out, struct errmsg *em)
{
    struct ranges *s = (struct ranges *)c;
    out->form = RESULT_STR;
    out->shape = s->v.shape;
    /* of nothing, addresses have no buckets at all */
    out->n = c->run->empty && s->v.kind == SOURCE_IP ? 0 : s->n;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, s->n);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t k = 0; k < out->n; k++) {
        struct agg_bucket *b = &out->buckets[k];
        bool met = owner != NO_BUCKET && (uint64_t)owner * s->n + k < s->cap;
        uint32_t bucket = met ? owner * s->n + k : NO_BUCKET;
        *b = (struct agg_bucket){.key = {.kind = KEY_STR, .s = s->r[k].key},
                                 .doc_count = met ? s->counts[bucket] : 0,
                                 .from = s->r[k].from,
                                 .to = s->r[k].to,
                                 .from_s = s->r[k].from_s,
                                 .to_s = s->r[k].to_s};
        enum err e = collector_subs(c, bucket, &b->subs, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static const struct collector_ops ranges_ops = {
    .leaf = ranges_leaf, .collect = ranges_collect, .build = ranges_build};

/* ---- binding ------------------------------------------------------------------------------------------- */

static enum err number_bound(struct ranges *s, const struct json *given, double open, double *out,
                             struct errmsg *em)
{
    int64_t whole;
    *out = open;
    if (given == NULL) {
        return ERR_OK;
    }
    if (s->c.agg->type == &agg_geo_distance) {
        return jr_double(given, out, em);
    }
    if (given->type == JSON_NUMBER && s->c.agg->type == &agg_date_range && s->v.shape->kind == FORMAT_DATE
        && json_is_integral(given)) {
        struct json text = json_mk_str(json_text(given)); /* read by the format, as any date */
        return values_parse(&s->v, &text, out, &whole, em);
    }
    return values_parse(&s->v, given, out, &whole, em);
}

static void print_bound(const struct ranges *s, double x, struct buf *out)
{
    if (!isfinite(x)) {
        buf_char(out, '*');
    } else {
        value_shape_print(s->v.shape, x, out);
    }
}

static enum err number_range(struct ranges *s, const struct range_spec *spec, struct range_def *r,
                             struct errmsg *em)
{
    bool geo = s->c.agg->type == &agg_geo_distance;
    enum err e = number_bound(s, spec->from, geo ? 0 : -INFINITY, &r->from, em);
    e = e == ERR_OK ? number_bound(s, spec->to, INFINITY, &r->to, em) : e;
    if (e != ERR_OK || spec->key.p != NULL) {
        return e;
    }
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    print_bound(s, geo && r->from == 0 ? -INFINITY : r->from, &b);
    buf_char(&b, '-');
    print_bound(s, r->to, &b);
    r->key = arena_str(s->c.run->arena, buf_view(&b));
    buf_fini(&b);
    return r->key.p != NULL ? ERR_OK : err_no_memory(em);
}

static enum err address(struct ranges *s, struct str text, struct str *out, struct errmsg *em)
{
    uint8_t *p = arena_alloc(s->c.run->arena, INET_BYTES);
    if (p == NULL) {
        return err_no_memory(em);
    }
    *out = str_mk(p, INET_BYTES);
    return inet_parse(text, p, em);
}

static enum err masked(struct ranges *s, const struct range_spec *spec, struct range_def *r,
                       struct errmsg *em)
{
    uint8_t *first = arena_alloc(s->c.run->arena, INET_BYTES),
            *last = arena_alloc(s->c.run->arena, INET_BYTES);
    if (first == NULL || last == NULL) {
        return err_no_memory(em);
    }
    enum err e = inet_cidr(spec->mask, first, last, em);
    r->from_s = str_mk(first, INET_BYTES);
    r->to_s = inet_next(last) ? str_mk(last, INET_BYTES) : STR_NULL;
    r->key = spec->key.p != NULL ? spec->key : spec->mask;
    return e;
}

static enum err address_range(struct ranges *s, const struct range_spec *spec, struct range_def *r,
                              struct errmsg *em)
{
    if (spec->mask.p != NULL) {
        return masked(s, spec, r, em);
    }
    enum err e = spec->from != NULL ? address(s, json_text(spec->from), &r->from_s, em) : ERR_OK;
    if (e == ERR_OK && spec->to != NULL) {
        e = address(s, json_text(spec->to), &r->to_s, em);
    }
    if (e != ERR_OK || spec->key.p != NULL) {
        return e;
    }
    struct buf b;
    buf_init(&b, NULL, KIB);
    if (r->from_s.p != NULL) {
        inet_print((const uint8_t *)r->from_s.p, &b);
    } else {
        buf_char(&b, '*');
    }
    buf_char(&b, '-');
    if (r->to_s.p != NULL) {
        inet_print((const uint8_t *)r->to_s.p, &b);
    } else {
        buf_char(&b, '*');
    }
    r->key = arena_str(s->c.run->arena, buf_view(&b));
    buf_fini(&b);
    return r->key.p != NULL ? ERR_OK : err_no_memory(em);
}

static int cmp_open(struct str a, struct str b, int open)
{
    if (a.p == NULL || b.p == NULL) {
        return a.p == b.p ? 0 : a.p == NULL ? open : -open;
    }
    return str_cmp(a, b);
}

static int one_cmp(const struct range_def *x, const struct range_def *y)
{
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    int c = cmp_open(x->from_s, y->from_s, -1);
    return c != 0 ? c : cmp_open(x->to_s, y->to_s, 1);
}

/* Stable: equal ranges keep the order of the request. */
static void sort_ranges(struct ranges *s)
{
    for (uint32_t i = 1; i < s->n && !stop_now(); i++) {
        struct range_def x = s->r[i];
        uint32_t at = i;
        for (; at > 0 && one_cmp(&s->r[at - 1], &x) > 0; at--) {
            s->r[at] = s->r[at - 1];
        }
        s->r[at] = x;
    }
}

static enum err range_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct range_params *given = range_params(a);
    struct ranges *s = ARENA_NEW(r->arena, struct ranges);
    if (s == NULL) {
        return err_no_memory(em);
    }
    *out = &s->c;
    const struct agg_type *k = a->type;
    bool ip = k == &agg_ip_range, geo = k == &agg_geo_distance;
    unsigned takes = ip ? TAKES_IP : geo ? TAKES_GEO : TAKES_NUMERIC;
    enum source_kind otherwise = ip                     ? SOURCE_IP
                                 : geo                  ? SOURCE_GEO
                                 : k == &agg_date_range ? SOURCE_DATE
                                                        : SOURCE_NUMBER;
    enum err e = collector_init(&s->c, &ranges_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&s->v, r, a, &a->vs, takes, otherwise, em) : e;
    if (e == ERR_OK && given->n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No [ranges] specified for the [%.*s] aggregation",
                       STR_ARG(a->name));
    }
    s->n = given->n;
    s->c.single = s->n == 1 && !s->v.none;
    s->r = ARENA_ARRAY(r->arena, struct range_def, s->n);
    s->max_to = ARENA_ARRAY(r->arena, double, s->n);
    if (e == ERR_OK && (s->r == NULL || s->max_to == NULL)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        s->r[i].key = given->v[i].key;
        e = ip ? address_range(s, &given->v[i], &s->r[i], em) : number_range(s, &given->v[i], &s->r[i], em);
    }
    if (e == ERR_OK && !geo) {
        sort_ranges(s);
    }
    double most = -INFINITY;
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        s->max_to[i] = most = fmax(most, s->r[i].to);
    }
    return e;
}

/* ---- bytes, printing, rows ---- */

static void range_print_bound(const struct agg_result *r, const char *name, double v, struct jsonw *w)
{
    if (isfinite(v)) {
        jw_kdouble(w, name, v);
        if (result_shaped(r->shape)) {
            print_as_string(w, r->shape, name, v);
        }
    }
}

static void print_address(const char *name, struct str a, struct jsonw *w)
{
    struct buf b;
    if (a.p == NULL || a.n != INET_BYTES) {
        return;
    }
    buf_init(&b, NULL, KIB);
    inet_print((const uint8_t *)a.p, &b);
    jw_kstr(w, name, buf_view(&b));
    buf_fini(&b);
}

static void put_opt_str(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    if (s.p != NULL) {
        put_str(b, s);
    }
}

static struct str get_opt_str(const struct result_reading *d)
{
    return get_bool(d->in) ? get_str(d->in) : STR_NULL;
}

static void range_put_bucket(struct buf *b, UNUSED const struct agg *a, const struct agg_bucket *k)
{
    put_key(b, &k->key);
    put_f64(b, k->from);
    put_f64(b, k->to);
}

static enum err range_get_bucket(const struct result_reading *d, UNUSED const struct agg *a,
                                 struct agg_bucket *k)
{
    get_key(d, &k->key);
    k->from = get_f64(d->in);
    k->to = get_f64(d->in);
    return ERR_OK;
}

static void ip_put_bucket(struct buf *b, UNUSED const struct agg *a, const struct agg_bucket *k)
{
    put_key(b, &k->key);
    put_opt_str(b, k->from_s);
    put_opt_str(b, k->to_s);
}

static enum err ip_get_bucket(const struct result_reading *d, UNUSED const struct agg *a,
                              struct agg_bucket *k)
{
    get_key(d, &k->key);
    k->from_s = get_opt_str(d);
    k->to_s = get_opt_str(d);
    return ERR_OK;
}

static void range_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                               struct jsonw *w)
{
    if (!keyed) {
        print_key(r, b, w);
    }
    range_print_bound(r, "from", b->from, w);
    range_print_bound(r, "to", b->to, w);
}

static void ip_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                            struct jsonw *w)
{
    if (!keyed) {
        print_key(r, b, w);
    }
    print_address("from", b->from_s, w);
    print_address("to", b->to_s, w);
}

static bool range_keyed(const struct agg *a)
{
    return range_params(a)->keyed;
}

const struct agg_type agg_range = {
    .name = "range",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct range_params),
    .parse = parse_range,
    .collector = range_new,
    .factory = "RangeAggregatorFactory",
    .results = {"InternalRange"},
    .put_bucket = range_put_bucket,
    .get_bucket = range_get_bucket,
    .reduce = reduce_by_place,
    .print_bucket = range_print_bucket,
    .keyed = range_keyed,
};

const struct agg_type agg_date_range = {
    .name = "date_range",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct range_params),
    .parse = parse_range,
    .collector = range_new,
    .factory = "DateRangeAggregatorFactory",
    .results = {"InternalDateRange"},
    .put_bucket = range_put_bucket,
    .get_bucket = range_get_bucket,
    .reduce = reduce_by_place,
    .print_bucket = range_print_bucket,
    .keyed = range_keyed,
};

const struct agg_type agg_ip_range = {
    .name = "ip_range",
    .plain_keys = true,
    .class = CLASS_MULTI,
    .params_size = sizeof(struct range_params),
    .parse = parse_range,
    .collector = range_new,
    .factory = "BinaryRangeAggregatorFactory",
    .results = {"InternalBinaryRange"},
    .put_bucket = ip_put_bucket,
    .get_bucket = ip_get_bucket,
    .reduce = reduce_by_place,
    .print_bucket = ip_print_bucket,
    .keyed = range_keyed,
};

const struct agg_type agg_geo_distance = {
    .name = "geo_distance",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct range_params),
    .parse = parse_geo_distance,
    .collector = range_new,
    .factory = "GeoDistanceRangeAggregatorFactory",
    .results = {"InternalGeoDistance"},
    .put_bucket = range_put_bucket,
    .get_bucket = range_get_bucket,
    .reduce = reduce_by_place,
    .print_bucket = range_print_bucket,
    .keyed = range_keyed,
};
