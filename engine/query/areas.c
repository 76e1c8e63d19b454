/* Areas that points lie in: boxes, circles, polygons. */
#include "engine/query/geo_shape.h"

#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/weight_set.h"

struct geo_weight {
    struct set_weight set;
    struct geo_shape shape;
};

static const struct geo_shape *shape_of(const struct weight *w)
{
    return &((const struct geo_weight *)(const void *)w)->shape;
}

static enum err geo_fill(const struct weight *w, UNUSED const struct scorer_request *rq,
                         const struct seg_field *f, uint64_t *bits)
{
    struct geo_visitor v = geo_shape_visitor(shape_of(w));
    seg_geo_visit(f, &v, bits);
    return ERR_OK;
}

static bool in_shape(void *arg, doc_id doc)
{
    struct column_test *t = arg;
    const struct geo_shape *shape = shape_of(t->w);
    uint64_t first;
    uint32_t n = num_column_seek(&t->column, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = (uint64_t)num_column_value(&t->column, first + i);
        if (geo_shape_has(shape, (int32_t)(uint32_t)(v >> 32), (int32_t)(uint32_t)v)) {
            return true;
        }
    }
    return false;
}

static enum err geo_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct seg_field *f = set_field(w, rq->leaf);
    struct set_known known;
    if (f == NULL) {
        return ERR_OK;
    }
    enum err e = set_known_of(w, rq, &known);
    if (e != ERR_OK
        || (f->has & SEG_GEO) == 0) { /* without points nothing is found, whatever the column has */
        return e;
    }
    if (known.bits == NULL && set_by_column(w, rq, f, SEG_GEO)) {
        return set_column_scorer(w, rq, f, in_shape, out);
    }
    return set_bits_scorer(w, rq, f, &known, geo_fill, out);
}

static const struct weight_ops geo_ops = {.cost = set_cost, .scorer = geo_scorer};

static void geo_key(struct buf *b, const struct query *q)
{
    buf_add(b,
            (const double[]){geo_area_of(q)->top, geo_area_of(q)->left, geo_area_of(q)->bottom,
                             geo_area_of(q)->right, geo_area_of(q)->lat, geo_area_of(q)->lon,
                             geo_area_of(q)->distance_m},
            7 * sizeof(double));
    buf_add(b, geo_area_of(q)->corners, geo_area_of(q)->n * sizeof(*geo_area_of(q)->corners));
}

static enum err geo_weight(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                           const struct weight **out, struct errmsg *em)
{
    struct geo_weight *w = set_weight_new(sh, sizeof(*w), &geo_ops, q, boost, need, geo_key);
    *out = &w->set.base;
    return w != NULL && geo_shape_init(&w->shape, q, sh->cx.arena) ? ERR_OK : err_no_memory(em);
}

/* Is it one that looks at a column, and shows it? */
static bool shows_column(const struct query *q)
{
    return q->field != NULL && q->field->doc_values && q->field->index;
}

/* ---- boxes ---- */

static void box_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_char(out, '[');
    num_put_double(out, geo_decode_lat(geo_encode_lat_ceil(geo_area_of(q)->bottom)));
    buf_z(out, " TO ");
    num_put_double(out, geo_decode_lat(geo_encode_lat(geo_area_of(q)->top)));
    buf_z(out, "],[");
    num_put_double(out, geo_decode_lon(geo_encode_lon_ceil(geo_area_of(q)->left)));
    buf_z(out, " TO ");
    num_put_double(out, geo_decode_lon(geo_encode_lon(geo_area_of(q)->right)));
    buf_char(out, ']');
}

static void box_print_column(const struct query *q, struct buf *out)
{
    if (!shows_column(q)) {
        box_print(q, out);
        return;
    }
    query_print_field(q, out);
    buf_z(out, "box(minLat=");
    num_put_double(out, geo_decode_lat(geo_encode_lat_ceil(geo_area_of(q)->bottom)));
    buf_z(out, ", maxLat=");
    num_put_double(out, geo_decode_lat(geo_encode_lat(geo_area_of(q)->top)));
    buf_z(out, ", minLon=");
    num_put_double(out, geo_decode_lon(geo_encode_lon_ceil(geo_area_of(q)->left)));
    buf_z(out, ", maxLon=");
    num_put_double(out, geo_decode_lon(geo_encode_lon(geo_area_of(q)->right)));
    buf_char(out, ')');
}

const struct query_ops q_geo_box = {.name = "geo_box",
                                    .may = nested_by_field,
                                    .print = box_print,
                                    .print_column = box_print_column,
                                    .weight = geo_weight};

/* ---- circles ---- */

static void distance_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    num_put_double(out, geo_area_of(q)->lat);
    buf_char(out, ',');
    num_put_double(out, geo_area_of(q)->lon);
    buf_z(out, " +/- ");
    num_put_double(out, geo_area_of(q)->distance_m);
    buf_z(out, " meters");
}

static void distance_print_column(const struct query *q, struct buf *out)
{
    if (!shows_column(q)) {
        distance_print(q, out);
        return;
    }
    query_print_field(q, out);
    buf_z(out, "INTERSECTS:geometries([CIRCLE([");
    num_put_double(out, geo_area_of(q)->lat);
    buf_char(out, ',');
    num_put_double(out, geo_area_of(q)->lon);
    buf_z(out, "] radius = ");
    num_put_double(out, geo_area_of(q)->distance_m);
    buf_z(out, " meters)])");
}

const struct query_ops q_geo_distance = {.name = "geo_distance",
                                         .print = distance_print,
                                         .print_column = distance_print_column,
                                         .weight = geo_weight};

/* ---- polygons ---- */

static void print_corners(const struct query *q, struct buf *out)
{
    for (uint32_t i = 0; i < geo_area_of(q)->n; i++) {
        buf_char(out, '[');
        num_put_double(out, geo_area_of(q)->corners[i].lat);
        buf_z(out, ", ");
        num_put_double(out, geo_area_of(q)->corners[i].lon);
        buf_z(out, "] ");
    }
}

static void polygon_print(const struct query *q, struct buf *out)
{
    buf_printf(out, "LatLonPointQuery: field=%.*s:[", STR_ARG(q->field_name));
    print_corners(q, out);
    buf_z(out, ",]");
}

static void polygon_print_column(const struct query *q, struct buf *out)
{
    if (!shows_column(q)) {
        polygon_print(q, out);
        return;
    }
    query_print_field(q, out);
    buf_z(out, "INTERSECTS:geometries([");
    print_corners(q, out);
    buf_z(out, "])");
}

const struct query_ops q_geo_polygon = {.name = "geo_polygon",
                                        .print = polygon_print,
                                        .print_column = polygon_print_column,
                                        .weight = geo_weight};
