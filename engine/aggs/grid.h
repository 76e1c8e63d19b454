/* grid.h - cells of the globe: geohash_grid, geotile_grid, and the tiles of composite. Internal. */
#ifndef ENGINE_AGGS_GRID_H
#define ENGINE_AGGS_GRID_H

#include "engine/aggs/collect.h"

struct grid_params {
    int32_t precision;
    int64_t size, shard_size;
    bool bounded;
    struct geo_box box;
};
AGG_PARAMS(grid_params)

/* Reads `bounds` of a grid; p->at is where it stopped. */
enum err agg_grid_bounds(struct agg_parse *p, struct grid_params *to, const struct json *v);
/* The tile of a zoom level that holds a point, as one number: zoom, x, y. */
int64_t geotile_cell(struct geo_point p, int zoom);
/* Whether a point lies within the bounds of a grid, where it has any. */
bool grid_takes(const struct grid_params *g, struct geo_point p);

#endif
