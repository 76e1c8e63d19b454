/* geo_shape.h - areas of queries against quantised points and cells of points. Internal to engine/query. */
#ifndef ENGINE_QUERY_GEO_SHAPE_H
#define ENGINE_QUERY_GEO_SHAPE_H

#include "engine/index/segment.h"
#include "engine/query/query.h"

struct geo_corner {
    double lat, lon;
};

enum area_kind { AREA_BOX, AREA_CIRCLE, AREA_POLYGON };

/* Parameters of q_geo_box, q_geo_distance, q_geo_polygon. */
struct geo_area {
    enum area_kind kind;
    double top, left, bottom, right;  /* box */
    double lat, lon, distance_m;      /* distance */
    const struct geo_corner *corners; /* polygon, closed */
    uint32_t n;
};
static inline const struct geo_area *geo_area_of(const struct query *q)
{
    return q->own;
}

struct geo_shape {
    enum area_kind kind;
    struct geo_box_enc box; /* holds the whole area */
    double lat, lon, key;   /* distance: centre, and the sort key of the radius */
    struct geo_box bounds;
    const struct geo_point *points; /* polygon */
    size_t n;
};

/* For q_geo_box, q_geo_distance, q_geo_polygon. false: no memory. */
bool geo_shape_init(struct geo_shape *s, const struct query *q, struct arena *a);
bool geo_shape_has(const struct geo_shape *s, int32_t lat, int32_t lon);
/* `self` is a struct geo_shape. */
struct geo_visitor geo_shape_visitor(const struct geo_shape *s);

#endif
