/* geo.h - points on the earth: reading them, geohashes, distances, and the integers in which Lucene keeps
 * them.
 *
 * Formulas are those of Lucene 8.8 and Elasticsearch 7.12, in their order of operations, so that distances
 * agree to the last digit. Pure functions; any thread. Degrees unless said otherwise, distances in metres. */
#ifndef BASE_GEO_H
#define BASE_GEO_H

#include "common/base/buf.h"
#include "common/base/json.h"

struct geo_point {
    double lat, lon;
};

struct geo_box {
    double top, bottom, left, right; /* left > right: across the date line */
};

/* ---- reading ---- */

/* Reads one point: {"lat","lon"}, {"geohash"}, "lat,lon", "POINT (lon lat)", a geohash, [lon, lat(, z)]. A
 * third coordinate is an error unless ignore_z. Nothing is range-checked or normalised. ERR_PARSE as
 * Elasticsearch words it, ERR_ILLEGAL_ARGUMENT inside it for a bad geohash. */
enum err geo_point_of_json(struct geo_point *out, const struct json *v, bool ignore_z,
                           struct errmsg *em) NODISCARD;
enum err geo_point_of_text(struct geo_point *out, struct str text, bool ignore_z,
                           struct errmsg *em) NODISCARD;

/* Calls `each` for every point of a geo_point field's value: one point in any form, or an array of them (an
 * array that begins with a number is one point). `each` may fail. */
typedef enum err (*geo_point_fn)(void *self, struct geo_point p, struct errmsg *em);
enum err geo_points_of_json(const struct json *v, bool ignore_z, geo_point_fn each, void *self,
                            struct errmsg *em) NODISCARD;

/* ERR_ILLEGAL_ARGUMENT "invalid latitude ..; must be between -90.0 and 90.0" outside [-90, 90] and
 * [-180, 180], and for NaN, as Lucene's GeoUtils says it. */
enum err geo_point_bounds(struct geo_point p, struct errmsg *em) NODISCARD;
/* The same with "illegal latitude value [..] for <field>", as Elasticsearch's fields of points say it. */
enum err geo_point_check(struct geo_point p, struct str field, struct errmsg *em) NODISCARD;
/* Wraps around poles and the date line, as GeoUtils.normalizePoint; not finite values stay. */
struct geo_point geo_point_normalise(struct geo_point p);
bool geo_lat_ok(double lat);
bool geo_lon_ok(double lon);

/* ---- what is stored (Lucene's GeoEncodingUtils) ---- */

int32_t geo_encode_lat(double lat);
int32_t geo_encode_lon(double lon);
double geo_decode_lat(int32_t v);
double geo_decode_lon(int32_t v);
int32_t geo_encode_lat_ceil(double lat);
int32_t geo_encode_lon_ceil(double lon);
/* A point in one 64-bit doc value: latitude above, longitude below. */
int64_t geo_pack(struct geo_point p);
struct geo_point geo_unpack(int64_t v);

/* ---- geohash ---- */

#define GEOHASH_MAX 12
/* `level` characters (1 ... 12) into `to`, NUL-terminated. */
void geohash_encode(struct geo_point p, int level, char to[GEOHASH_MAX + 1]);
/* The bottom left corner of the cell, as Elasticsearch reads a geohash as a point. ERR_ILLEGAL_ARGUMENT
 * "unsupported symbol [..] in geohash [..]". */
enum err geohash_decode(struct str hash, struct geo_point *out, struct errmsg *em) NODISCARD;
enum err geohash_box(struct str hash, struct geo_box *out, struct errmsg *em) NODISCARD;

/* ---- distances ---- */

#define GEO_EARTH_RADIUS 6371008.7714
enum geo_distance_kind { GEO_ARC, GEO_PLANE };
/* false: neither "arc" nor "plane". */
bool geo_distance_kind_of(struct str text, enum geo_distance_kind *out);
/* Haversine as Lucene's SloppyMath computes it. */
double geo_arc(double lat1, double lon1, double lat2, double lon2);
/* Elasticsearch's flat approximation. */
double geo_plane(double lat1, double lon1, double lat2, double lon2);
double geo_distance(enum geo_distance_kind kind, double lat1, double lon1, double lat2, double lon2);
/* SloppyMath.haversinSortKey: monotonic in the distance, cheap; and the key from which on points are farther
 * than `metres` (SloppyMath.haversinMeters's inverse in GeoUtils.distanceQuerySortKey). */
double geo_sort_key(double lat1, double lon1, double lat2, double lon2);
double geo_sort_key_of(double metres);

/* A number with unit ("5km", "3nmi", "12.5"), in metres; without one, `unit_metres` each. ERR_NUMBER_FORMAT.
 */
enum err geo_distance_parse(struct str text, double unit_metres, double *out, struct errmsg *em) NODISCARD;
/* Metres in one "km", "mi", "nauticalmiles" ...; ERR_ILLEGAL_ARGUMENT "No distance unit match [..]". */
enum err geo_unit_of(struct str text, double *metres, struct errmsg *em) NODISCARD;

/* ---- shapes ---- */

/* Lucene's Rectangle.fromPointDistance: all points within `metres` of p lie inside. */
struct geo_box geo_circle_box(struct geo_point p, double metres);
/* The box as encoded bounds, and the test on encoded values that LatLonPoint's queries make. */
struct geo_box_enc {
    int32_t lat_min, lat_max, lon_min, lon_max;
    bool crosses; /* the date line */
    bool none;    /* holds nothing */
};
struct geo_box_enc geo_box_encode(struct geo_box box);
bool geo_box_has(const struct geo_box_enc *box, int32_t lat, int32_t lon);
/* Even-odd test, edges as in Lucene's Polygon2D (points on an edge count as inside); n points, the first need
 * not be repeated. */
bool geo_polygon_has(const struct geo_point *points, size_t n, double lat, double lon);
struct geo_box geo_polygon_box(const struct geo_point *points, size_t n);

#endif
