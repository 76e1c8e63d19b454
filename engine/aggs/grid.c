/* geohash_grid and geotile_grid. */
#include "engine/aggs/grid.h"
#include "engine/aggs/agg_row.h"
#include "engine/aggs/values.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "engine/query/geo_box.h"

#include <math.h>

/* ---- the definition -------------------------------------------------------------------------------------- */

/* "1000km": the geohash length whose cells are no larger. */
static enum err geohash_length(struct agg_parse *p, struct str text, int64_t *out)
{
    double metres;
    enum err e = geo_distance_parse(text, 1, &metres, p->em);
    if (e != ERR_OK) {
        return e;
    }
    static const double earth = 2 * M_PI * 6378137.0;
    int64_t n = GEOHASH_MAX;
    for (int64_t level = 1; level <= GEOHASH_MAX && metres > 0; level++) {
        double cells_x = pow(2, (double)((level * 5 + 1) / 2)), cells_y = pow(2, (double)(level * 5 / 2));
        double width = earth / cells_x, height = M_PI * 6356752.314245 / cells_y;
        if (sqrt(width * width + height * height) <= metres) {
            n = level;
            break;
        }
    }
    *out = n;
    return ERR_OK;
}

static enum err grid_precision(struct agg_parse *p, struct agg *a, const struct json *v)
{
    bool hash = a->type == &agg_geohash_grid;
    int64_t n = 0;
    enum err e;
    if (v->type == JSON_STRING && !num_parse_i64(v->s, &n) && hash) {
        e = geohash_length(p, v->s, &n);
    } else if (v->type == JSON_STRING) {
        e = num_parse_i64(v->s, &n)
                ? ERR_OK
                : err_set(p->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v->s));
    } else {
        int32_t whole = 0;
        e = jr_int(v, &whole, p->em);
        n = whole;
    }
    if (e == ERR_OK && hash && (n < 1 || n > GEOHASH_MAX)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geohash aggregation precision of %lld. Must be between 1 and 12.",
                       (long long)n);
    }
    if (e == ERR_OK && !hash && (n < 0 || n > 29)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geotile_grid precision of %lld. Must be between 0 and 29.", (long long)n);
    }
    grid_params(a)->precision = (int32_t)n;
    return e;
}

static enum err grid_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least_int(p, a, v, "size", 1, &grid_params(a)->size);
}

static enum err grid_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least_int(p, a, v, "shardSize", 1, &grid_params(a)->shard_size);
}

/* A box that lacks a side bounds nothing. */
enum err agg_grid_bounds(struct agg_parse *p, struct grid_params *to, const struct json *v)
{
    struct json_pull cursor;
    struct geo_box *box = &to->box;
    if (!json_pull_init(&cursor, v, p->text, p->arena)) {
        return err_no_memory(p->em);
    }
    json_pull_next(&cursor);
    enum err e = geo_box_read(&cursor, box, p->em);
    p->at = cursor.off;
    to->bounded = !isnan(box->top) && !isnan(box->bottom) && !isnan(box->left) && !isnan(box->right);
    return e;
}

static enum err grid_bounds(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_grid_bounds(p, grid_params(a), v);
}

static const struct agg_param grid_table[] = {{"precision", TK_INT, grid_precision},
                                              {"size", TK_INT, grid_size},
                                              {"shard_size", TK_INT, grid_shard_size},
                                              {"bounds", TK_OBJECT, grid_bounds},
                                              {NULL, 0, NULL}};

static enum err parse_grid(struct agg_parse *p, struct agg *a, const struct json *body)
{
    *grid_params(a) = (struct grid_params){
        .precision = a->type == &agg_geohash_grid ? 5 : 7, .size = 10000, .shard_size = -1};
    enum err e = agg_params(p, a, body, a->type->name, grid_table, agg_field_params);
    return e == ERR_OK ? agg_need_field(p, &a->vs) : e;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

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
    const struct grid_params *q = grid_params(c->agg);
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
    const struct grid_params *q = grid_params(c->agg);
    const uint32_t *list;
    uint32_t n = bucket_map_of(&g->map, owner, &list);
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

static enum err grid_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
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

/* ---- merging, printing, rows ----------------------------------------------------------------------------- */

static enum err reduce_grid(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                            struct agg_result *out)
{
    static const struct agg_order order[] = {{.by = ORDER_COUNT, .asc = false},
                                             {.by = ORDER_KEY, .asc = false}};
    static const struct agg_orders orders = {order, 2};
    enum err e = reduce_by_key(r, a, in, n, &out->buckets, &out->n);
    e = e == ERR_OK ? buckets_sort(r, a, &orders, out->buckets, out->n) : e;
    out->n = (uint32_t)MIN_OF((int64_t)out->n, grid_params(a)->size);
    return e;
}

static void cell_print_bucket(const struct agg_result *r, const struct agg_bucket *b, UNUSED bool keyed,
                              struct jsonw *w)
{
    print_key_text(r, b, w);
}

const struct agg_type agg_geohash_grid = {
    .name = "geohash_grid",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct grid_params),
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
    .params_size = sizeof(struct grid_params),
    .parse = parse_grid,
    .collector = grid_new,
    .factory = "GeoTileGridAggregatorFactory",
    .results = {"InternalGeoTileGrid"},
    .key_no_number = true,
    .reduce = reduce_grid,
    .print_bucket = cell_print_bucket,
};
