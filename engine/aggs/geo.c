/* geo_bounds, geo_centroid, geohash_grid, geotile_grid. */
#include "common/base/sort_items.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include <math.h>
#include <stdlib.h>

/* ---- bounds and centroid ------------------------------------------------------------------------------- */

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

static void kahan(double *sum, double *error, double x)
{
    double corrected = x - *error, updated = *sum + corrected;
    *error = (updated - *sum) - corrected;
    *sum = updated;
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
                kahan(&a->v[0], &a->v[1], g->v.g[i].lat);
                kahan(&a->v[2], &a->v[3], g->v.g[i].lon);
            }
        }
    }
}

static enum err geo_build(struct collector *c, uint32_t bucket, struct agg_result *out, struct errmsg *em)
{
    struct geo_metric *g = (struct geo_metric *)c;
    (void)em;
    out->agg = c->agg;
    out->form = g->v.none ? RESULT_UNMAPPED : RESULT_PLAIN;
    bool bounds = c->agg->type == &agg_geo_bounds;
    if (bucket >= g->n) {
        return ERR_OK;
    }
    const struct geo_acc *a = &g->acc[bucket];
    out->count = a->count;
    if (bounds) {
        memcpy(out->geo, a->v, sizeof(out->geo));
    } else if (a->count > 0) {
        out->geo[0] = a->v[0] / (double)a->count;
        out->geo[1] = a->v[2] / (double)a->count;
    }
    return ERR_OK;
}

static double geo_order(struct collector *c, uint32_t bucket, struct str key)
{
    (void)c;
    (void)bucket;
    (void)key;
    return NAN; /* refused when the order was bound */
}

static const struct collector_ops geo_ops = {
    .leaf = geo_leaf, .collect = geo_collect, .build = geo_build, .value = geo_order};

enum err geo_metric_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct geo_metric *g = ARENA_NEW(r->arena, struct geo_metric);
    if (g == NULL) {
        return err_no_memory(em);
    }
    *out = &g->c;
    enum err e = collector_init(&g->c, &geo_ops, r, a, em);
    return e == ERR_OK ? values_bind(&g->v, r, a, &a->vs, TAKES_GEO, SOURCE_GEO, em) : e;
}

/* ---- grids --------------------------------------------------------------------------------------------- */

struct grid {
    struct collector c;
    struct values v;
    struct bucket_map map;
};

/* Cells as Elasticsearch numbers them: the order of equal counts goes by it. A geohash is its bits above its
 * length. */
static int64_t hash_cell(struct geo_point p, int precision)
{
    static const char digits[] = "0123456789bcdefghjkmnpqrstuvwxyz";
    char text[GEOHASH_MAX + 1];
    uint64_t bits = 0;
    geohash_encode(p, precision, text);
    for (int i = 0; i < precision; i++) {
        bits = bits << 5 | (uint64_t)(strchr(digits, text[i]) - digits);
    }
    return (int64_t)(bits << 4 | (uint64_t)precision);
}

int64_t geotile_cell(struct geo_point p, int zoom)
{
    int64_t tiles = (int64_t)1 << zoom, last = tiles - 1;
    double lon = geo_point_normalise(p).lon;
    int64_t x = (int64_t)floor((lon + 180.0) / 360.0 * (double)tiles);
    double s = sin(p.lat * M_PI / 180.0);
    int64_t y = (int64_t)floor((0.5 - log((1.0 + s) / (1.0 - s)) / (4.0 * M_PI)) * (double)tiles);
    x = x < 0 ? 0 : MIN_OF(x, last);
    y = y < 0 ? 0 : MIN_OF(y, last);
    return (int64_t)((uint64_t)zoom << 58 | (uint64_t)x << 29 | (uint64_t)y);
}

bool grid_takes(const struct grid_params *g, struct geo_point p)
{
    if (!g->bounded) {
        return true;
    }
    bool lon = g->box.left > g->box.right ? p.lon >= g->box.left || p.lon <= g->box.right
                                          : p.lon >= g->box.left && p.lon <= g->box.right;
    return lon && p.lat <= g->box.top && p.lat >= g->box.bottom;
}

static enum err grid_leaf(struct collector *c, struct errmsg *em)
{
    return values_leaf(&((struct grid *)c)->v, em);
}

static int cmp_cell(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The cells of one document, each once. */
static void grid_doc(struct grid *g, const struct doc_run *d, uint32_t at, int64_t *cells, uint32_t n)
{
    sort_items(cells, n, sizeof(*cells), cmp_cell);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && cells[i] == cells[i - 1]) {
            continue;
        }
        uint32_t b = bucket_map_get(&g->map, run_bucket(d, at), cells[i]);
        if (b == NO_BUCKET) {
            return;
        }
        g->map.counts[b]++;
        collector_send(&g->c, d->docs[at], b, d->scores != NULL ? d->scores[at] : 0);
    }
}

static void grid_collect(struct collector *c, const struct doc_run *d)
{
    struct grid *g = (struct grid *)c;
    const struct grid_params *q = &c->agg->grid;
    bool hash = c->agg->type == &agg_geohash_grid;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_points(&g->v, d, &pos);
        int64_t *cells = &g->v.i[0]; /* written behind what is read: a point is larger than a cell */
        for (uint32_t i = 0; i < n;) {
            uint32_t at = g->v.at[i], have = 0, start = i;
            for (; i < n && g->v.at[i] == at; i++) {
                struct geo_point p = g->v.g[i];
                if (grid_takes(q, p)) {
                    cells[start + have++] = hash ? hash_cell(p, q->precision) : geotile_cell(p, q->precision);
                }
            }
            grid_doc(g, d, at, cells + start, have);
        }
    }
    collector_flush(c);
}

static int by_count(const void *a, const void *b)
{
    const struct agg_bucket *x = a, *y = b;
    if (x->doc_count != y->doc_count) {
        return x->doc_count > y->doc_count ? -1 : 1;
    }
    return x->key.i > y->key.i ? -1 : x->key.i < y->key.i;
}

static enum err grid_build(struct collector *c, uint32_t owner, struct agg_result *out, struct errmsg *em)
{
    struct grid *g = (struct grid *)c;
    const struct grid_params *q = &c->agg->grid;
    const uint32_t *list;
    uint32_t n = bucket_map_of(&g->map, owner, &list);
    out->agg = c->agg;
    out->form = RESULT_I64;
    out->shape = g->v.shape;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, n);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        out->buckets[i].key = (struct agg_key){.kind = KEY_I64, .i = g->map.keys[list[i]]};
        out->buckets[i].doc_count = g->map.counts[list[i]];
    }
    sort_items(out->buckets, n, sizeof(*out->buckets), by_count);
    int64_t keep = q->shard_size > 0 ? MAX_OF(q->shard_size, q->size) : q->size + q->size / 2 + 10;
    out->n = (uint32_t)MIN_OF((int64_t)n, keep);
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t b = bucket_map_find(&g->map, owner, out->buckets[i].key.i);
        enum err e = collector_subs(c, b, &out->buckets[i].subs, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err grid_finish(struct collector *c, struct errmsg *em)
{
    return bucket_map_group(&((struct grid *)c)->map, em);
}

static const struct collector_ops grid_ops = {
    .leaf = grid_leaf, .collect = grid_collect, .finish = grid_finish, .build = grid_build};

enum err grid_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    struct grid *g = ARENA_NEW(r->arena, struct grid);
    if (g == NULL) {
        return err_no_memory(em);
    }
    *out = &g->c;
    bucket_map_init(&g->map, r);
    enum err e = collector_init(&g->c, &grid_ops, r, a, em);
    e = e == ERR_OK ? values_bind(&g->v, r, a, &a->vs, TAKES_GEO, SOURCE_GEO, em) : e;
    if (e == ERR_OK) {
        g->v.shape->kind = a->type == &agg_geohash_grid ? FORMAT_GEOHASH : FORMAT_GEOTILE;
    }
    return e;
}

/* ---- merging, printing, rows ---- */

static enum err reduce_grid(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                            struct agg_result *out)
{
    static const struct agg_order order[] = {{.by = ORDER_COUNT, .asc = false},
                                             {.by = ORDER_KEY, .asc = false}};
    static const struct agg_orders orders = {order, 2};
    enum err e = reduce_by_key(r, a, in, n, &out->buckets, &out->n);
    e = e == ERR_OK ? buckets_sort(r, a, &orders, out->buckets, out->n) : e;
    out->n = (uint32_t)MIN_OF((int64_t)out->n, a->grid.size);
    return e;
}

static enum err reduce_geo(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                           struct agg_result *out)
{
    (void)r;
    static const bool largest[] = {true, false, false, true, false, true};
    bool bounds = a->type == &agg_geo_bounds;
    double sums[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; bounds && in[i]->count > 0 && k < ARRAY_LEN(largest); k++) {
            double x = in[i]->geo[k];
            out->geo[k] = out->count == 0 ? x : largest[k] ? fmax(out->geo[k], x) : fmin(out->geo[k], x);
        }
        for (int k = 0; !bounds && k < 2; k++) {
            sums[k] += in[i]->geo[k] * (double)in[i]->count;
        }
        out->count += in[i]->count;
    }
    for (int k = 0; !bounds && out->count > 0 && k < 2; k++) {
        out->geo[k] = sums[k] / (double)out->count;
    }
    return ERR_OK;
}

struct geo_sides result_sides(const struct agg_result *r)
{
    double pos_left = r->geo[2], pos_right = r->geo[3], neg_left = r->geo[4], neg_right = r->geo[5];
    struct geo_sides box = {r->geo[0], r->geo[1], neg_left, pos_right};
    if (isinf(pos_left)) {
        box.right = neg_right;
    } else if (isinf(neg_left)) {
        box.left = pos_left;
    } else if (r->agg->geo_bounds.wrap && pos_right - neg_left > (180 - pos_left) - (-180 - neg_right)) {
        box.left = pos_left; /* the box around the date line is narrower */
        box.right = neg_right;
    }
    return box;
}

/* Parts of a centroid and sides of a box by their names; those of none are no numbers. */
static bool geo_value(const struct agg_result *r, struct str key, double *out)
{
    bool centroid = r->agg->type == &agg_geo_centroid;
    if (centroid && str_is(key, "count")) {
        *out = (double)r->count;
        return true;
    }
    struct geo_sides box = centroid ? (struct geo_sides){0, 0, 0, 0} : result_sides(r);
    const struct {
        const char *name;
        bool of_centroid;
        double v;
    } parts[] = {{"lat", true, r->geo[0]},      {"lon", true, r->geo[1]},  {"top", false, box.top},
                 {"bottom", false, box.bottom}, {"left", false, box.left}, {"right", false, box.right}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].of_centroid == centroid && str_is(key, parts[i].name)) {
            *out = r->count > 0 ? parts[i].v : NAN;
            return true;
        }
    }
    return false;
}

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

static void geo_put(struct buf *b, const struct agg_result *r)
{
    put_varint(b, (uint64_t)r->count);
    for (size_t i = 0; i < ARRAY_LEN(r->geo); i++) {
        put_f64(b, r->geo[i]);
    }
}

static enum err geo_get(const struct result_reading *d, struct agg_result *r)
{
    r->count = get_size(d);
    for (size_t i = 0; i < ARRAY_LEN(r->geo); i++) {
        r->geo[i] = get_f64(d->in);
    }
    return ERR_OK;
}

static void print_centroid(const struct agg_result *r, struct jsonw *w)
{
    if (r->count > 0) {
        print_point("location", r->geo[0], r->geo[1], w);
    }
    jw_ki64(w, "count", r->count);
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

static void cell_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                              struct jsonw *w)
{
    (void)keyed;
    print_key_text(r, b, w);
}

const struct agg_type agg_geohash_grid = {
    .name = "geohash_grid",
    .class = CLASS_MULTI,
    .parse = parse_grid,
    .collector = grid_new,
    .factory = "GeoHashGridAggregatorFactory",
    .results = {"InternalGeoHashGrid"},
    .key_no_number = true,
    .reduce = reduce_grid,
    .print_bucket = cell_print_bucket,
};

const struct agg_type agg_geotile_grid = {
    .name = "geotile_grid",
    .class = CLASS_MULTI,
    .parse = parse_grid,
    .collector = grid_new,
    .factory = "GeoTileGridAggregatorFactory",
    .results = {"InternalGeoTileGrid"},
    .key_no_number = true,
    .reduce = reduce_grid,
    .print_bucket = cell_print_bucket,
};

const struct agg_type agg_geo_bounds = {
    .name = "geo_bounds",
    .class = CLASS_METRIC,
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
    .parse = parse_metric,
    .collector = geo_metric_new,
    .builder = "metrics.GeoCentroidAggregationBuilder",
    .results = {"InternalGeoCentroid"},
    .put = geo_put,
    .get = geo_get,
    .reduce = reduce_geo,
    .print = print_centroid,
    .value = geo_by_name,
};
