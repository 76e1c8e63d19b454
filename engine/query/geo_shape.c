#include "engine/query/geo_shape.h"

#include "common/base/stop.h"

#define MANY_POINTS \
    64 /* of a polygon: from here on going through them takes longer than looking at the clock */

bool geo_shape_init(struct geo_shape *s, const struct query *q, struct arena *a)
{
    *s = (struct geo_shape){.kind = geo_area_of(q)->kind};
    if (s->kind == AREA_BOX) {
        s->bounds = (struct geo_box){.top = geo_area_of(q)->top,
                                     .bottom = geo_area_of(q)->bottom,
                                     .left = geo_area_of(q)->left,
                                     .right = geo_area_of(q)->right};
    } else if (s->kind == AREA_CIRCLE) {
        s->lat = geo_area_of(q)->lat;
        s->lon = geo_area_of(q)->lon;
        s->key = geo_sort_key_of(geo_area_of(q)->distance_m);
        s->bounds = geo_circle_box((struct geo_point){s->lat, s->lon}, geo_area_of(q)->distance_m);
    } else {
        struct geo_point *points = ARENA_ARRAY(a, struct geo_point, geo_area_of(q)->n);
        if (points == NULL) {
            return false;
        }
        for (uint32_t i = 0; i < geo_area_of(q)->n; i++) {
            points[i] = (struct geo_point){geo_area_of(q)->corners[i].lat, geo_area_of(q)->corners[i].lon};
        }
        s->points = points;
        s->n = geo_area_of(q)->n;
        s->bounds = geo_polygon_box(points, s->n);
    }
    s->box = geo_box_encode(s->bounds);
    return true;
}

bool geo_shape_has(const struct geo_shape *s, int32_t lat, int32_t lon)
{
    if (!geo_box_has(&s->box, lat, lon)) {
        return false;
    }
    if (s->kind == AREA_BOX) {
        return true;
    }
    if (s->n > MANY_POINTS ? stop_now() : stop_often()) {
        return false;
    }
    double y = geo_decode_lat(lat), x = geo_decode_lon(lon);
    return s->kind == AREA_CIRCLE ? geo_sort_key(s->lat, s->lon, y, x) <= s->key
                                  : geo_polygon_has(s->points, s->n, y, x);
}

static enum cell_relation box_relation(const struct geo_box_enc *b, int32_t lat_lo, int32_t lat_hi,
                                       int32_t lon_lo, int32_t lon_hi)
{
    if (b->none || lat_hi < b->lat_min || lat_lo > b->lat_max) {
        return CELL_OUTSIDE;
    }
    bool lat_in = lat_lo >= b->lat_min && lat_hi <= b->lat_max;
    if (b->crosses) {
        if (lon_hi < b->lon_min && lon_lo > b->lon_max) {
            return CELL_OUTSIDE;
        }
        return lat_in && (lon_lo >= b->lon_min || lon_hi <= b->lon_max) ? CELL_INSIDE : CELL_CROSSES;
    }
    if (lon_hi < b->lon_min || lon_lo > b->lon_max) {
        return CELL_OUTSIDE;
    }
    return lat_in && lon_lo >= b->lon_min && lon_hi <= b->lon_max ? CELL_INSIDE : CELL_CROSSES;
}

/* Small circles hold a cell when they hold its corners (Lucene's GeoUtils.relate). */
static bool circle_holds(const struct geo_shape *s, double lat_lo, double lat_hi, double lon_lo,
                         double lon_hi)
{
    return lon_hi - s->lon < 90 && s->lon - lon_lo < 90
           && geo_sort_key(s->lat, s->lon, lat_lo, lon_lo) <= s->key
           && geo_sort_key(s->lat, s->lon, lat_lo, lon_hi) <= s->key
           && geo_sort_key(s->lat, s->lon, lat_hi, lon_lo) <= s->key
           && geo_sort_key(s->lat, s->lon, lat_hi, lon_hi) <= s->key;
}

/* No edge comes near the cell: it lies inside or outside as a whole. */
static enum cell_relation polygon_relation(const struct geo_shape *s, double lat_lo, double lat_hi,
                                           double lon_lo, double lon_hi)
{
    if (s->n > MANY_POINTS ? stop_now() : stop_often()) {
        return CELL_OUTSIDE;
    }
    for (size_t i = 0; i < s->n; i++) {
        struct geo_point a = s->points[i], b = s->points[(i + 1) % s->n];
        bool apart = (a.lat < lat_lo && b.lat < lat_lo) || (a.lat > lat_hi && b.lat > lat_hi)
                     || (a.lon < lon_lo && b.lon < lon_lo) || (a.lon > lon_hi && b.lon > lon_hi);
        if (!apart) {
            return CELL_CROSSES;
        }
    }
    return geo_polygon_has(s->points, s->n, lat_lo, lon_lo) ? CELL_INSIDE : CELL_OUTSIDE;
}

static enum cell_relation relate(const void *self, int32_t lat_lo, int32_t lat_hi, int32_t lon_lo,
                                 int32_t lon_hi)
{
    const struct geo_shape *s = self;
    enum cell_relation r = box_relation(&s->box, lat_lo, lat_hi, lon_lo, lon_hi);
    if (s->kind == AREA_BOX || r == CELL_OUTSIDE) {
        return r;
    }
    double y0 = geo_decode_lat(lat_lo), y1 = geo_decode_lat(lat_hi), x0 = geo_decode_lon(lon_lo),
           x1 = geo_decode_lon(lon_hi);
    if (s->kind == AREA_POLYGON) {
        return r == CELL_INSIDE || r == CELL_CROSSES ? polygon_relation(s, y0, y1, x0, x1) : r;
    }
    return r == CELL_INSIDE && circle_holds(s, y0, y1, x0, x1) ? CELL_INSIDE : CELL_CROSSES;
}

static bool holds_point(const void *self, int32_t lat, int32_t lon)
{
    return geo_shape_has(self, lat, lon);
}

struct geo_visitor geo_shape_visitor(const struct geo_shape *s)
{
    return (struct geo_visitor){s, relate, holds_point};
}
