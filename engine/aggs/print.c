/* The answer as Elasticsearch prints it, and the entry point that reduces. */
#include "engine/aggs/auto_date.h"
#include "engine/aggs/result.h"

#include "common/base/inet.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>
#include <stdlib.h>

/* Nobody reads on, or there is no room for more. `before` is where a part of the answer began. */
static bool ends(const struct jsonw *w, size_t before)
{
    return w->out->failed || stop_worked(w->out->n - before + 16);
}

/* ---- small parts ------------------------------------------------------------------------------------------------------ */

static bool shaped(const struct value_shape *s)
{
    return s != NULL && s->kind != FORMAT_RAW;
}

/* What is no finite number is written as text, and null where there is none. */
static void some_number(struct jsonw *w, const char *key, double v, bool there)
{
    jw_k(w, key);
    if (there) {
        jw_double(w, v);
    } else {
        jw_null(w);
    }
}

static void number_or_null(struct jsonw *w, const char *key, double v)
{
    some_number(w, key, v, isfinite(v));
}

/* "<name>_as_string" */
static void as_string(struct jsonw *w, const struct value_shape *s, const char *name, double v)
{
    struct buf b, key;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_init(&key, NULL, KIB);
    buf_printf(&key, "%s_as_string", name);
    value_shape_print(s, v, &b);
    jw_key(w, buf_view(&key));
    jw_str(w, buf_view(&b));
    buf_fini(&b);
    buf_fini(&key);
}

/* Stats of a boolean field print it as JSON booleans. */
static void stats_as_string(struct jsonw *w, const struct value_shape *s, const char *name, double v)
{
    struct buf key;
    if (s->kind != FORMAT_BOOLEAN) {
        as_string(w, s, name, v);
        return;
    }
    buf_init(&key, NULL, KIB);
    buf_printf(&key, "%s_as_string", name);
    jw_key(w, buf_view(&key));
    jw_bool(w, v != 0);
    buf_fini(&key);
}

/* Whether a result is a number, endless or none that it may be: that of documents with values. */
static bool is_number(const struct agg_result *r, double v)
{
    switch (r->agg->type->kind) {
    case AGG_AVG:
        return r->count > 0;
    case AGG_WEIGHTED_AVG:
        return r->weights != 0;
    case AGG_SUM:
        return true;
    default:
        return isfinite(v);
    }
}

static void print_single(const struct agg_result *r, double v, struct jsonw *w)
{
    bool is = is_number(r, v);
    some_number(w, "value", v, is);
    if (is && shaped(r->shape)) {
        as_string(w, r->shape, "value", v);
    }
}

/* ---- stats -------------------------------------------------------------------------------------------------------------- */

static void print_stats(const struct agg_result *r, struct jsonw *w)
{
    bool any = r->count > 0;
    double avg = any ? r->sum / (double)r->count : NAN;
    jw_ki64(w, "count", r->count);
    /* a sum is no number where a value was none, or where both ends are endless */
    bool none = isnan(r->sum) && !(r->min < r->max && isinf(r->min) && isinf(r->max));
    some_number(w, "min", none ? NAN : r->min, any);
    some_number(w, "max", none ? NAN : r->max, any);
    some_number(w, "avg", avg, any);
    jw_k(w, "sum");
    jw_double(w, any ? r->sum : 0);
    if (any && shaped(r->shape)) {
        stats_as_string(w, r->shape, "min", r->min);
        stats_as_string(w, r->shape, "max", r->max);
        stats_as_string(w, r->shape, "avg", avg);
        stats_as_string(w, r->shape, "sum", r->sum);
    }
}

static const char *const extended_names[] = {"sum_of_squares",        "variance",
                                             "variance_population",   "variance_sampling",
                                             "std_deviation",         "std_deviation_population",
                                             "std_deviation_sampling"};
static const char *const bound_names[][2] = {{"upper", "std_upper"},
                                             {"lower", "std_lower"},
                                             {"upper_population", "std_upper_population"},
                                             {"lower_population", "std_lower_population"},
                                             {"upper_sampling", "std_upper_sampling"},
                                             {"lower_sampling", "std_lower_sampling"}};

static void extended_value(const struct agg_result *r, const char *name, double *v)
{
    *v = NAN;
    if (r->count > 0) {
        stats_value(r, str_of(name), v);
    }
}

/* NaN is a number that Jackson writes as text; only without any document there is null. */
static void extended_number(const struct agg_result *r, struct jsonw *w, const char *key, double v)
{
    some_number(w, key, v, r->count > 0);
}

static void print_extended(const struct agg_result *r, struct jsonw *w)
{
    double v;
    print_stats(r, w);
    for (size_t i = 0; i < ARRAY_LEN(extended_names); i++) {
        extended_value(r, extended_names[i], &v);
        extended_number(r, w, extended_names[i], v);
    }
    jw_k(w, "std_deviation_bounds");
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(bound_names); i++) {
        extended_value(r, bound_names[i][1], &v);
        extended_number(r, w, bound_names[i][0], v);
    }
    jw_obj_end(w);
    if (r->count == 0 || !shaped(r->shape)) {
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(extended_names); i++) {
        extended_value(r, extended_names[i], &v);
        if (str_starts(str_of(extended_names[i]), STR("std"))) {
            as_string(w, r->shape, extended_names[i], v);
        } else {
            stats_as_string(w, r->shape, extended_names[i], v);
        }
    }
    jw_k(w, "std_deviation_bounds_as_string");
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(bound_names); i++) {
        struct buf b;
        extended_value(r, bound_names[i][1], &v);
        buf_init(&b, NULL, BUF_UNLIMITED);
        value_shape_print(r->shape, v, &b);
        jw_k(w, bound_names[i][0]);
        jw_str(w, buf_view(&b));
        buf_fini(&b);
    }
    jw_obj_end(w);
}

/* ---- percentiles ----------------------------------------------------------------------------------------------------------- */

static void print_pair(const struct value_shape *s, bool keyed, double at, double v, struct jsonw *w)
{
    struct buf key;
    buf_init(&key, NULL, KIB);
    num_put_double(&key, at);
    if (keyed) {
        jw_key(w, buf_view(&key));
        if (isnan(v)) {
            jw_null(w);
        } else {
            jw_double(w, v);
        }
        if (shaped(s) && !isnan(v)) {
            buf_char(&key, '\0');
            as_string(w, s, key.p, v);
        }
    } else {
        jw_obj(w);
        jw_kdouble(w, "key", at);
        jw_k(w, "value");
        if (isnan(v)) {
            jw_null(w);
        } else {
            jw_double(w, v);
        }
        if (shaped(s) && !isnan(v)) {
            as_string(w, s, "value", v);
        }
        jw_obj_end(w);
    }
    buf_fini(&key);
}

static void print_percentiles(const struct agg_result *r, struct jsonw *w)
{
    bool pipe = r->agg->type->kind == AGG_PERCENTILES_BUCKET;
    bool keyed = pipe ? r->agg->pipe.keyed : r->agg->percentiles.keyed;
    uint32_t n = pipe ? r->n_list : r->agg->percentiles.n;
    const double *at = pipe ? r->agg->pipe.percents : r->agg->percentiles.v;
    jw_k(w, "values");
    if (keyed) {
        jw_obj(w);
    } else {
        jw_arr(w);
    }
    for (uint32_t i = 0; i < n && !ends(w, w->out->n); i++) {
        print_pair(r->shape, keyed, at[i], pipe ? r->list[i] : percentile_value(r, at[i]), w);
    }
    if (keyed) {
        jw_obj_end(w);
    } else {
        jw_arr_end(w);
    }
}

/* ---- geo, hits --------------------------------------------------------------------------------------------------------------- */

static void print_point(const char *name, double lat, double lon, struct jsonw *w)
{
    jw_k(w, name);
    jw_obj(w);
    jw_kdouble(w, "lat", lat);
    jw_kdouble(w, "lon", lon);
    jw_obj_end(w);
}

static void print_geo_bounds(const struct agg_result *r, struct jsonw *w)
{
    if (r->count == 0) {
        return;
    }
    struct geo_sides box = result_sides(r);
    jw_k(w, "bounds");
    jw_obj(w);
    print_point("top_left", box.top, box.left, w);
    print_point("bottom_right", box.bottom, box.right, w);
    jw_obj_end(w);
}

static void print_hits(const struct agg_result *r, struct jsonw *w)
{
    jw_k(w, "hits");
    jw_obj(w);
    jw_k(w, "total");
    jw_obj(w);
    jw_ki64(w, "value", r->count);
    jw_kz(w, "relation", "eq");
    jw_obj_end(w);
    jw_k(w, "max_score");
    if (isnan(r->max_score)) {
        jw_null(w);
    } else {
        jw_float(w, r->max_score);
    }
    jw_k(w, "hits");
    jw_arr(w);
    for (uint32_t i = 0; i < r->n_hits; i++) {
        jw_raw(w, r->hits[i].json);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void print_metric(const struct agg_result *r, struct jsonw *w)
{
    enum agg_kind k = r->agg->type->kind;
    switch (k) {
    case AGG_VALUE_COUNT:
        jw_ki64(w, "value", r->count);
        return;
    case AGG_CARDINALITY:
        jw_ki64(w, "value", (int64_t)metric_value(r));
        return;
    case AGG_STATS:
    case AGG_STATS_BUCKET:
        print_stats(r, w);
        return;
    case AGG_EXTENDED_STATS:
    case AGG_EXTENDED_STATS_BUCKET:
        print_extended(r, w);
        return;
    case AGG_PERCENTILES:
    case AGG_PERCENTILE_RANKS:
    case AGG_PERCENTILES_BUCKET:
        print_percentiles(r, w);
        return;
    case AGG_GEO_BOUNDS:
        print_geo_bounds(r, w);
        return;
    case AGG_GEO_CENTROID:
        if (r->count > 0) {
            print_point("location", r->geo[0], r->geo[1], w);
        }
        jw_ki64(w, "count", r->count);
        return;
    case AGG_TOP_HITS:
        print_hits(r, w);
        return;
    default:
        print_single(r, metric_value(r), w);
    }
    if (k == AGG_MIN_BUCKET || k == AGG_MAX_BUCKET) {
        jw_k(w, "keys");
        jw_arr(w);
        for (uint32_t i = 0; i < r->n_keys; i++) {
            jw_str(w, r->keys[i]);
        }
        jw_arr_end(w);
    }
    if (k == AGG_DERIVATIVE && r->has_normal) {
        number_or_null(w, "normalized_value", r->normal);
        if (isfinite(r->normal) && shaped(r->shape)) {
            as_string(w, r->shape, "normalized_value", r->normal);
        }
    }
}

/* ---- buckets --------------------------------------------------------------------------------------------------------------- */

static void print_subs(const struct agg *a, const struct agg_result *subs, bool typed, struct jsonw *w)
{
    size_t before = w->out->n;
    for (uint32_t i = 0; subs != NULL && i < agg_places(a) && !ends(w, before); i++) {
        before = w->out->n;
        if (subs[i].form != RESULT_ABSENT) {
            result_print(&subs[i], typed, w);
        }
    }
}

static void key_as_string(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    struct buf text;
    if (!shaped(r->shape) || b->key.kind == KEY_STR) {
        return;
    }
    buf_init(&text, NULL, BUF_UNLIMITED);
    bucket_key_text(r, b, &text);
    if (r->agg->type->kind == AGG_SIGNIFICANT_TERMS && r->shape->kind == FORMAT_BOOLEAN) {
        jw_kbool(w, "key_as_string", str_is(buf_view(&text), "true")); /* no text here, of all places */
    } else {
        jw_kstr(w, "key_as_string", buf_view(&text));
    }
    buf_fini(&text);
}

static void print_key(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    struct buf text;
    jw_k(w, "key");
    bool cell = r->agg->type->kind == AGG_GEOHASH_GRID || r->agg->type->kind == AGG_GEOTILE_GRID;
    if (b->key.kind == KEY_I64 && !cell) {
        jw_i64(w, b->key.i);
    } else if (b->key.kind == KEY_F64) {
        jw_double(w, b->key.d);
    } else {
        buf_init(&text, NULL, BUF_UNLIMITED);
        bucket_key_text(r, b, &text);
        jw_str(w, buf_view(&text));
        buf_fini(&text);
    }
}

static void print_bound(const struct agg_result *r, const char *name, double v, struct jsonw *w)
{
    if (isfinite(v)) {
        jw_kdouble(w, name, v);
        if (shaped(r->shape)) {
            as_string(w, r->shape, name, v);
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

static void print_range(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    if (r->agg->type->kind == AGG_IP_RANGE) {
        print_address("from", b->from_s, w);
        print_address("to", b->to_s, w);
    } else {
        print_bound(r, "from", b->from, w);
        print_bound(r, "to", b->to, w);
    }
}

static void print_combination(const struct agg_result *r, const struct agg_key *keys, struct jsonw *w)
{
    jw_obj(w);
    size_t before = w->out->n;
    for (uint32_t i = 0; i < r->agg->composite.n && !ends(w, before); i++) {
        before = w->out->n;
        const struct value_shape *s = r->shapes != NULL && i < r->n_shapes ? r->shapes[i] : NULL;
        struct agg_result one = {.agg = r->agg, .shape = (struct value_shape *)(uintptr_t)s};
        struct agg_bucket b = {.key = keys[i]};
        jw_key(w, r->agg->composite.v[i].name);
        if (keys[i].kind == KEY_NULL || keys[i].kind == KEY_NONE) {
            jw_null(w);
        } else if (s != NULL && s->kind == FORMAT_BOOLEAN && keys[i].kind == KEY_I64) {
            jw_bool(w, keys[i].i != 0);
        } else if (shaped(s) || keys[i].kind == KEY_STR) {
            struct buf text;
            buf_init(&text, NULL, BUF_UNLIMITED);
            bucket_key_text(&one, &b, &text);
            jw_str(w, buf_view(&text));
            buf_fini(&text);
        } else if (keys[i].kind == KEY_F64) {
            jw_double(w, keys[i].d);
        } else {
            jw_i64(w, keys[i].i);
        }
    }
    jw_obj_end(w);
}

static bool is_histogram(enum agg_kind k)
{
    return k == AGG_HISTOGRAM || k == AGG_DATE_HISTOGRAM || k == AGG_AUTO_DATE_HISTOGRAM;
}

static bool is_range(enum agg_kind k)
{
    return k == AGG_RANGE || k == AGG_DATE_RANGE || k == AGG_IP_RANGE || k == AGG_GEO_DISTANCE;
}

/* The members of a bucket up to its sub-aggregations. */
static void print_head(const struct agg_result *r, const struct agg_bucket *b, bool keyed, struct jsonw *w)
{
    enum agg_kind k = r->agg->type->kind;
    if (is_histogram(k)) {
        key_as_string(r, b, w);
        print_key(r, b, w);
    } else if (k == AGG_COMPOSITE) {
        jw_k(w, "key");
        print_combination(r, b->keys, w);
    } else if (is_range(k)) {
        if (!keyed) {
            print_key(r, b, w);
        }
        print_range(r, b, w);
    } else if (k != AGG_FILTERS) {
        print_key(r, b, w);
        bool cell = k == AGG_GEOHASH_GRID || k == AGG_GEOTILE_GRID;
        if (!cell) {
            key_as_string(r, b, w);
        }
    }
    jw_ki64(w, "doc_count", b->doc_count);
    if (k == AGG_TERMS && r->agg->terms.show_error) {
        jw_ki64(w, "doc_count_error_upper_bound", b->error);
    } else if (k == AGG_SIGNIFICANT_TERMS) {
        jw_kdouble(w, "score", b->score);
        jw_ki64(w, "bg_count", b->superset_df);
    }
}

static bool keyed_buckets(const struct agg *a)
{
    switch (a->type->kind) {
    case AGG_HISTOGRAM:
        return a->histogram.keyed;
    case AGG_DATE_HISTOGRAM:
        return a->date.keyed;
    case AGG_FILTERS:
        return a->filters.keyed;
    default:
        return is_range(a->type->kind) && a->range.keyed;
    }
}

static void print_buckets(const struct agg_result *r, bool typed, struct jsonw *w)
{
    bool keyed = keyed_buckets(r->agg);
    struct buf key;
    jw_k(w, "buckets");
    if (keyed) {
        jw_obj(w);
    } else {
        jw_arr(w);
    }
    buf_init(&key, NULL, BUF_UNLIMITED);
    size_t before = w->out->n;
    for (uint32_t i = 0; i < r->n && !ends(w, before); i++) {
        const struct agg_bucket *b = &r->buckets[i];
        before = w->out->n;
        if (keyed) {
            buf_reset(&key);
            bucket_key_text(r, b, &key);
            jw_key(w, buf_view(&key));
        }
        jw_obj(w);
        print_head(r, b, keyed, w);
        print_subs(r->agg, b->subs, typed, w);
        jw_obj_end(w);
    }
    buf_fini(&key);
    if (keyed) {
        jw_obj_end(w);
    } else {
        jw_arr_end(w);
    }
}

static void print_multi(const struct agg_result *r, bool typed, struct jsonw *w)
{
    enum agg_kind k = r->agg->type->kind;
    if (k == AGG_TERMS) {
        jw_ki64(w, "doc_count_error_upper_bound", r->error);
        jw_ki64(w, "sum_other_doc_count", r->other);
    } else if (k == AGG_SIGNIFICANT_TERMS && r->form != RESULT_UNMAPPED) {
        jw_ki64(w, "doc_count", r->subset_size);
        jw_ki64(w, "bg_count", r->superset_size);
    } else if (k == AGG_COMPOSITE && (r->after != NULL || r->n > 0)) {
        jw_k(w, "after_key");
        print_combination(r, r->after != NULL ? r->after : r->buckets[r->n - 1].keys, w);
    }
    print_buckets(r, typed, w);
    if (k == AGG_AUTO_DATE_HISTOGRAM) {
        jw_k(w, "interval");
        jw_strf(w, "%d%s", r->inner, auto_units[r->unit].suffix);
    }
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

static const char *terms_type(const struct agg_result *r, const char *const names[4])
{
    return r->form == RESULT_STR   ? names[0]
           : r->form == RESULT_I64 ? names[1]
           : r->form == RESULT_F64 ? names[2]
                                   : names[3];
}

/* The type that typed_keys shows; the last of each four where no index has the field. */
static const char *type_name(const struct agg_result *r)
{
    static const char *const terms[] = {"sterms", "lterms", "dterms", "sterms"};
    static const char *const rare[] = {"srareterms", "lrareterms", "lrareterms", "sterms"};
    static const char *const significant[] = {"sigsterms", "siglterms", "siglterms", "sigsterms"};
    const struct agg *a = r->agg;
    switch (a->type->kind) {
    case AGG_TERMS:
        return terms_type(r, terms);
    case AGG_RARE_TERMS:
        return terms_type(r, rare);
    case AGG_SIGNIFICANT_TERMS:
        return terms_type(r, significant);
    case AGG_DIVERSIFIED:
        return "sampler";
    case AGG_PERCENTILES:
        return a->percentiles.hdr ? "hdr_percentiles" : "tdigest_percentiles";
    case AGG_PERCENTILE_RANKS:
        return a->percentiles.hdr ? "hdr_percentile_ranks" : "tdigest_percentile_ranks";
    case AGG_MIN_BUCKET:
    case AGG_MAX_BUCKET:
        return "bucket_metric_value";
    case AGG_AVG_BUCKET:
    case AGG_SUM_BUCKET:
    case AGG_CUMULATIVE_SUM:
    case AGG_MOVING_FN:
    case AGG_MOVING_AVG:
    case AGG_SERIAL_DIFF:
    case AGG_BUCKET_SCRIPT:
        return "simple_value";
    default:
        return a->type->name;
    }
}

void result_print(const struct agg_result *r, bool typed, struct jsonw *w)
{
    const struct agg *a = r->agg;
    struct buf name;
    buf_init(&name, NULL, BUF_UNLIMITED);
    if (typed) {
        buf_z(&name, type_name(r));
        buf_char(&name, '#');
    }
    buf_str(&name, a->name);
    jw_key(w, buf_view(&name));
    buf_fini(&name);
    jw_obj(w);
    if (a->meta != NULL) {
        jw_k(w, "meta");
        jw_value(w, a->meta);
    } else if (r->rewritten) {
        jw_k(w, "meta");
        jw_obj(w);
        jw_obj_end(w);
    }
    if (a->type->class == CLASS_SINGLE) {
        jw_ki64(w, "doc_count", r->n == 1 ? r->buckets->doc_count : 0);
        print_subs(a, r->n == 1 ? r->buckets->subs : NULL, typed, w);
    } else if (a->type->class == CLASS_MULTI) {
        print_multi(r, typed, w);
    } else {
        print_metric(r, w);
    }
    jw_obj_end(w);
}

/* ---- the entry point ---------------------------------------------------------------------------------------------------------- */

struct partial {
    uint64_t slot;
    struct bytes_in in;
    struct str bytes;
};

static int by_slot(const void *x, const void *y)
{
    const struct partial *a = x, *b = y;
    return a->slot != b->slot ? (a->slot < b->slot ? -1 : 1) : str_cmp(a->bytes, b->bytes);
}

/* Opens the partial results and puts them in the order of their shards, whichever came first. */
static enum err open_partials(struct reduce *r, const struct str *bytes, uint32_t n, struct partial **out,
                              uint32_t *have)
{
    struct partial *v = ARENA_ARRAY(r->arena, struct partial, n);
    *have = 0;
    *out = v;
    if (v == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (bytes[i].n == 0) {
            continue; /* the shard had nothing to say */
        }
        struct partial *p = &v[(*have)++];
        p->bytes = bytes[i];
        p->in = bytes_in(bytes[i]);
        uint8_t version = get_u8(&p->in);
        p->slot = get_varint(&p->in);
        if (version != 1 || p->in.bad) {
            return err_set(r->em, ERR_CORRUPT, "partial aggregations are malformed");
        }
    }
    sort_items(v, *have, sizeof(*v), by_slot);
    return ERR_OK;
}

static enum err count_tree(struct reduce *r, const struct agg_result *x)
{
    enum err e = x->agg->type->class == CLASS_MULTI ? reduce_count(r, x->n) : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < x->n; i++) {
        const struct agg_result *subs = x->buckets[i].subs;
        for (uint32_t k = 0; e == ERR_OK && subs != NULL && k < x->agg->n_subs; k++) {
            e = agg_has_buckets(subs[k].agg) ? count_tree(r, &subs[k]) : ERR_OK;
        }
    }
    return e;
}

static enum err reduce_root(struct reduce *r, struct partial *parts, uint32_t n, struct agg_result *root)
{
    const struct agg *a = &r->spec->root;
    struct agg_result **subs = ARENA_ARRAY(r->arena, struct agg_result *, n);
    struct agg_bucket *bucket = ARENA_NEW(r->arena, struct agg_bucket);
    if (subs == NULL || bucket == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        subs[i] = ARENA_ARRAY(r->arena, struct agg_result, a->n_subs);
        if (subs[i] == NULL) {
            return err_no_memory(r->em);
        }
        for (uint32_t k = 0; k < a->n_subs; k++) {
            enum err e = result_decode(&subs[i][k], a->subs[k], &parts[i].in, r->arena, r->em);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    *root = (struct agg_result){.agg = a, .form = RESULT_PLAIN, .buckets = bucket, .n = 1};
    enum err e = reduce_subs(r, a, subs, n, &bucket->subs);
    r->buckets = 0;
    e = e == ERR_OK ? count_tree(r, root) : e;
    return e == ERR_OK ? pipelines_run(r, a, root) : e;
}

enum err aggs_reduce(const struct agg_spec *spec, const struct str *partials, uint32_t n,
                     const struct aggs_reduce_opts *opts, struct arena *arena, struct jsonw *w,
                     struct errmsg *em)
{
    struct errmsg own;
    struct reduce r = {
        .spec = spec, .arena = arena, .max_buckets = opts->max_buckets, .em = em != NULL ? em : &own};
    struct agg_result root;
    struct partial *parts;
    uint32_t have;
    err_clear(r.em);
    enum err e = open_partials(&r, partials, n, &parts, &have);
    e = e == ERR_OK ? reduce_root(&r, parts, have, &root) : e;
    if (e != ERR_OK) {
        return e;
    }
    jw_obj(w);
    print_subs(&spec->root, root.buckets->subs, opts->typed_keys, w);
    jw_obj_end(w);
    return ERR_OK;
}
