/* range.h - declarations shared by the parts of the ranges. Internal. */
#ifndef ENGINE_AGGS_RANGE_H
#define ENGINE_AGGS_RANGE_H

#include "engine/aggs/collect.h"

struct range_spec {
    struct str key;               /* p == NULL: made of the bounds */
    const struct json *from, *to; /* NULL: open */
    struct str mask;              /* ip_range */
};

struct range_params {
    const struct range_spec *v;
    uint32_t n;
    bool keyed;
    /* geo_distance */
    struct geo_point origin;
    bool has_origin;
    double unit_metres;
    bool plane;
};
AGG_PARAMS(range_params)

enum err parse_range(struct agg_parse *p, struct agg *a, const struct json *body);
enum err parse_geo_distance(struct agg_parse *p, struct agg *a, const struct json *body);

#endif
