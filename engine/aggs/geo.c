/* geo_bounds, geo_centroid, geohash_grid, geotile_grid. */
#include "common/base/sort_items.h"
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
        g->acc[g->n] = g->c.agg->type->kind == AGG_GEO_BOUNDS ? none : (struct geo_acc){0};
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
    bool bounds = c->agg->type->kind == AGG_GEO_BOUNDS;
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
    bool bounds = c->agg->type->kind == AGG_GEO_BOUNDS;
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
    bool hash = c->agg->type->kind == AGG_GEOHASH_GRID;
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
        g->v.shape->kind = a->type->kind == AGG_GEOHASH_GRID ? FORMAT_GEOHASH : FORMAT_GEOTILE;
    }
    return e;
}
