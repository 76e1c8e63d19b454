/* geo_box.h - a bounding box as requests write it: its sides, two of its corners, or WKT. Pure. */
#ifndef ENGINE_QUERY_GEO_BOX_H
#define ENGINE_QUERY_GEO_BOX_H

#include "common/base/geo.h"
#include "common/base/json_pull.h"

/* Reads the object at whose START_OBJECT the cursor stands, to its end; on a mistake the cursor stays there. Sides
 * that are not given are NAN. ERR_PARSE, ERR_NUMBER_FORMAT, ERR_JSON as Elasticsearch words them. */
enum err geo_box_read(struct json_pull *p, struct geo_box *out, struct errmsg *em) NODISCARD;

#endif
