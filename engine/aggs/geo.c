/* geo_bounds and geo_centroid. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/jsonr.h"
#include "common/base/kahan.h"

#include <math.h>

struct geo_bounds_params {
    bool wrap;
};
AGG_PARAMS(geo_bounds_params)

struct geo_result {
    int64_t count;
    double geo[6]; /* bounds: top, bottom, pos left, pos right, neg left, neg right; centroid: lat, lon */
};
AGG_RESULT(geo_result)

static enum err bounds_wrap(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &geo_bounds_params(a)->wrap, p->em);
}

static const struct agg_param bounds_table[] = {{"wrap_longitude", TK_FLAG, bounds_wrap}, {NULL, 0, NULL}};

static enum err parse_geo_bounds(struct agg_parse *p, struct agg *a, const struct json *body)
{
    geo_bounds_params(a)->wrap = true;
    enum err e = agg_params(p, a, body, "geo_bounds", bounds_table, agg_field_params);
    return e == ERR_OK ? agg_need_field(p, &a->vs) : e;
}

static enum err parse_geo_centroid(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, "geo_centroid", agg_plain_params, NULL);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

enum { TOP, BOTTOM, POS_LEFT, POS_RIGHT, NEG_LEFT, NEG_RIGHT };

struct geo_acc {
    int64_t count;
    double v[6]; /* bounds; centroid: sums and their errors */
};

struct geo_metric {
    struct collector c;
    struct values v;
    struct geo_acc *acc;
    uint32_t cap, n;
};

static enum err geo_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct geo_metric *)c)->v, em);
}

static struct geo_acc *acc_of(struct geo_metric *g, uint32_t bucket)
{
    static const struct geo_acc none = {.v = {-INFINITY, INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY}};
    if (!run_reserve(g->c.run, &g->acc, &g->cap, bucket + 1, sizeof(*g->acc))) {
        return NULL;
    }
    for (; g->n <= bucket; g->n++) {
        g->acc[g->n] = g->c.agg->type == &agg_geo_bounds ? none : (struct geo_acc){0};
    }
    return &g->acc[bucket];
}

static void add_bounds(struct geo_acc *a, struct geo_point p)
{
    a->count++;
    a->v[TOP] = fmax(a->v[TOP], p.lat);
    a->v[BOTTOM] = fmin(a->v[BOTTOM], p.lat);
    if (p.lon >= 0) {
        a->v[POS_LEFT] = fmin(a->v[POS_LEFT], p.lon);
        a->v[POS_RIGHT] = fmax(a->v[POS_RIGHT], p.lon);
    } else {
        a->v[NEG_LEFT] = fmin(a->v[NEG_LEFT], p.lon);
        a->v[NEG_RIGHT] = fmax(a->v[NEG_RIGHT], p.lon);
    }
}

static void geo_collect(struct collector *c, const struct doc_run *d)
{
    struct geo_metric *g = (struct geo_metric *)c;
    bool bounds = c->agg->type == &agg_geo_bounds;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_points(&g->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            struct geo_acc *a = acc_of(g, run_bucket(d, g->v.at[i]));
            if (a == NULL) {
                return;
            }
            if (bounds) {
                add_bounds(a, g->v.g[i]);
            } else {
                a->count++;
                kahan_add(&a->v[0], &a->v[1], g->v.g[i].lat);
                kahan_add(&a->v[2], &a->v[3], g->v.g[i].lon);
            }
        }
    }
}

static enum err geo_build(struct collector *c, uint32_t bucket, struct agg_result *out,
                          UNUSED struct errmsg *em)
{
    struct geo_result *own = geo_result(out);
    struct geo_metric *g = (struct geo_metric *)c;
    out->form = g->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    bool bounds = c->agg->type == &agg_geo_bounds;
    if (bucket >= g->n) {
        return ERR_OK;
    }
    const struct geo_acc *a = &g->acc[bucket];
    own->count = a->count;
    if (bounds) {
        memcpy(own->geo, a->v, sizeof(own->geo));
    } else if (a->count > 0) {
        own->geo[0] = a->v[0] / (double)a->count;
        own->geo[1] = a->v[2] / (double)a->count;
    }
    return ERR_OK;
}

static double geo_order(UNUSED struct collector *c, UNUSED uint32_t bucket, UNUSED struct str key)
{
    return NAN; /* refused when the order was bound */
}

static const struct collector_ops geo_ops = {
    .leaf = geo_leaf, .collect = geo_collect, .build = geo_build, .value = geo_order};

static enum err geo_metric_new(struct collector **out, struct agg_run *r, const struct agg *a,
                               struct errmsg *em)
{
    struct geo_metric *g = ARENA_NEW(r->arena, struct geo_metric);
    if (g == NULL) {
        return err_no_memory(em);
    }
    *out = &g->c;
    enum err e = collector_init(&g->c, &geo_ops, r, a, em);
    return e == ERR_OK ? values_bind(&g->v, r, a, &a->vs, TAKES_GEO, SOURCE_GEO, em) : e;
}

/* ---- merging, bytes, printing, rows ---------------------------------------------------------------------- */

static enum err reduce_geo(UNUSED struct reduce *r, const struct agg *a, struct agg_result *const *in,
                           uint32_t n, struct agg_result *out)
{
    struct geo_result *own = geo_result(out);
    static const bool largest[] = {true, false, false, true, false, true};
    bool bounds = a->type == &agg_geo_bounds;
    double sums[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        const struct geo_result *part = geo_result(in[i]);
        for (size_t k = 0; bounds && part->count > 0 && k < ARRAY_LEN(largest); k++) {
            double x = part->geo[k];
            own->geo[k] = own->count == 0 ? x : largest[k] ? fmax(own->geo[k], x) : fmin(own->geo[k], x);
        }
        for (int k = 0; !bounds && k < 2; k++) {
            sums[k] += part->geo[k] * (double)part->count;
        }
        own->count += part->count;
    }
    for (int k = 0; !bounds && own->count > 0 && k < 2; k++) {
        own->geo[k] = sums[k] / (double)own->count;
    }
    return ERR_OK;
}

/* The sides of what geo_bounds found; the narrower box where it may lie around the date line. */
struct geo_sides {
    double top, bottom, left, right;
};

static struct geo_sides result_sides(const struct agg_result *r)
{
    const struct geo_result *own = geo_result(r);
    double pos_left = own->geo[2], pos_right = own->geo[3], neg_left = own->geo[4], neg_right = own->geo[5];
    struct geo_sides box = {own->geo[0], own->geo[1], neg_left, pos_right};
    if (isinf(pos_left)) {
        box.right = neg_right;
    } else if (isinf(neg_left)) {
        box.left = pos_left;
    } else if (geo_bounds_params(r->agg)->wrap
               && pos_right - neg_left > (180 - pos_left) - (-180 - neg_right)) {
        box.left = pos_left; /* the box around the date line is narrower */
        box.right = neg_right;
    }
    return box;
}

/* Parts of a centroid and sides of a box by their names; those of none are no numbers. */
static bool geo_value(const struct agg_result *r, struct str key, double *out)
{
    const struct geo_result *own = geo_result(r);
    bool centroid = r->agg->type == &agg_geo_centroid;
    if (centroid && str_is(key, "count")) {
        *out = (double)own->count;
        return true;
    }
    struct geo_sides box = centroid ? (struct geo_sides){0, 0, 0, 0} : result_sides(r);
    const struct {
        const char *name;
        bool of_centroid;
        double v;
    } parts[] = {{"lat", true, own->geo[0]},    {"lon", true, own->geo[1]}, {"top", false, box.top},
                 {"bottom", false, box.bottom}, {"left", false, box.left},  {"right", false, box.right}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].of_centroid == centroid && str_is(key, parts[i].name)) {
            *out = own->count > 0 ? parts[i].v : NAN;
            return true;
        }
    }
    return false;
}

static void print_point(const char *name, double lat, double lon, struct jsonw *w)
{
    jw_kobj(w, name);
    jw_kdouble(w, "lat", lat);
    jw_kdouble(w, "lon", lon);
    jw_obj_end(w);
}

static void print_geo_bounds(const struct agg_result *r, struct jsonw *w)
{
    if (geo_result(r)->count == 0) {
        return;
    }
    struct geo_sides box = result_sides(r);
    jw_kobj(w, "bounds");
    print_point("top_left", box.top, box.left, w);
    print_point("bottom_right", box.bottom, box.right, w);
    jw_obj_end(w);
}

static void geo_put(struct buf *b, const struct agg_result *r)
{
    const struct geo_result *own = geo_result(r);
    put_varint(b, (uint64_t)own->count);
    for (size_t i = 0; i < ARRAY_LEN(own->geo); i++) {
        put_f64(b, own->geo[i]);
    }
}

static enum err geo_get(const struct result_reading *d, struct agg_result *r)
{
    struct geo_result *own = geo_result(r);
    own->count = get_size(d);
    for (size_t i = 0; i < ARRAY_LEN(own->geo); i++) {
        own->geo[i] = get_f64(d->in);
    }
    return ERR_OK;
}

static void print_centroid(const struct agg_result *r, struct jsonw *w)
{
    const struct geo_result *own = geo_result(r);
    if (own->count > 0) {
        print_point("location", own->geo[0], own->geo[1], w);
    }
    jw_ki64(w, "count", own->count);
}

static enum err geo_by_name(const struct agg_result *r, struct str key, double *out, struct errmsg *em)
{
    if (geo_value(r, key, out)) {
        return ERR_OK;
    }
    if (r->agg->type == &agg_geo_centroid && str_is(key, "value")) {
        return err_set(em, ERR_AGG_EXECUTION,
                       "buckets_path must reference either a number value or a single value numeric metric "
                       "aggregation, got: [GeoPoint] at aggregation [%.*s]",
                       STR_ARG(r->agg->name));
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Found unknown path element [%.*s] in [%.*s]", STR_ARG(key),
                   STR_ARG(r->agg->name));
}

const struct agg_type agg_geo_bounds = {
    .name = "geo_bounds",
    .class = CLASS_METRIC,
    .params_size = sizeof(struct geo_bounds_params),
    .result_size = sizeof(struct geo_result),
    .parse = parse_geo_bounds,
    .collector = geo_metric_new,
    .builder = "metrics.GeoBoundsAggregationBuilder",
    .results = {"InternalGeoBounds"},
    .put = geo_put,
    .get = geo_get,
    .reduce = reduce_geo,
    .print = print_geo_bounds,
    .value = geo_by_name,
};

const struct agg_type agg_geo_centroid = {
    .name = "geo_centroid",
    .class = CLASS_METRIC,
    .result_size = sizeof(struct geo_result),
    .parse = parse_geo_centroid,
    .collector = geo_metric_new,
    .builder = "metrics.GeoCentroidAggregationBuilder",
    .results = {"InternalGeoCentroid"},
    .put = geo_put,
    .get = geo_get,
    .reduce = reduce_geo,
    .print = print_centroid,
    .value = geo_by_name,
};
