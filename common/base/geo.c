#include "common/base/geo.h"
#include "common/base/coerce.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>
#include <pthread.h>

#define TO_RADIANS 0.017453292519943295
#define TO_DEGREES 57.29577951308232
#define HALF_PI    1.5707963267948966
#define PI         3.141592653589793

/* ---- sine, cosine, arcsine by tables, as Lucene's SloppyMath has them (after Jafama) ---- */

#define SIN_TAB  2049
#define ASIN_TAB 8193

struct tables {
    double delta_hi, delta_lo, indexer;
    double sin[SIN_TAB], cos[SIN_TAB];
    double asin_max, asin_delta, asin_indexer;
    double asin[ASIN_TAB], der1[ASIN_TAB], der2[ASIN_TAB], der3[ASIN_TAB], der4[ASIN_TAB];
};

static struct tables tab; /* written once, before the first use */
static pthread_once_t tab_once = PTHREAD_ONCE_INIT;

static double bits_to_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static void fill_tables(void)
{
    double hi = bits_to_double(4609753056924401664ULL),
           lo = bits_to_double(4454258360616903473ULL); /* pi / 2 */
    tab.delta_hi = 4 * hi / (SIN_TAB - 1);
    tab.delta_lo = 4 * lo / (SIN_TAB - 1);
    tab.indexer = 1 / (tab.delta_hi + tab.delta_lo);
    for (int i = 0; i < SIN_TAB; i++) {
        double angle = i * tab.delta_hi + i * tab.delta_lo;
        tab.sin[i] = i % 1024 == 0 && i > 0 ? 0 : sin(angle);
        tab.cos[i] = i % 1024 == 512 ? 0 : cos(angle);
    }
    tab.asin_max = sin(73.0 * TO_RADIANS);
    tab.asin_delta = tab.asin_max / (ASIN_TAB - 1);
    tab.asin_indexer = 1 / tab.asin_delta;
    for (int i = 0; i < ASIN_TAB; i++) {
        double x = i * tab.asin_delta;
        double d = 1 / (1 - x * x), d05 = sqrt(d), d15 = d05 * d, d25 = d15 * d, d35 = d25 * d;
        tab.asin[i] = asin(x);
        tab.der1[i] = d05;
        tab.der2[i] = x * d15 * 0.5;
        tab.der3[i] = (1 + 2 * x * x) * d25 * 0.16666666666666666;
        tab.der4[i] = (5 + 2 * x * (2 + x * (5 - 2 * x))) * d35 * 0.041666666666666664;
    }
}

static double sloppy_cos(double a)
{
    a = a < 0 ? -a : a;
    if (!(a <= 4194303.0 / tab.indexer * 0.99)) {
        return cos(a);
    }
    int i = (int)(a * tab.indexer + 0.5);
    double delta = (a - i * tab.delta_hi) - i * tab.delta_lo;
    i &= SIN_TAB - 2;
    double c = tab.cos[i], s = tab.sin[i];
    return c
           + delta
                 * (-s
                    + delta
                          * (-c * 0.5
                             + delta * (s * 0.16666666666666666 + delta * c * 0.041666666666666664)));
}

/* fdlibm's rational approximation, for the steep end of the arcsine. */
static double asin_steep(double a)
{
    static const uint64_t p_bits[] = {4595172819793696085ULL, 13822908529170411389ULL,
                                      4596417465768494165ULL, 13809305468778614587ULL,
                                      4560439845004096136ULL, 4540259411154564873ULL};
    static const uint64_t q_bits[] = {13835966419869248843ULL, 4611733184086379208ULL,
                                      13827746767276147033ULL, 4590215604441354882ULL};
    double t = (1 - a) * 0.5, p = bits_to_double(p_bits[5]), q = bits_to_double(q_bits[3]);
    for (int i = 4; i >= 0; i--) {
        p = bits_to_double(p_bits[i]) + t * p;
    }
    for (int i = 2; i >= 0; i--) {
        q = bits_to_double(q_bits[i]) + t * q;
    }
    p = t * p;
    q = 1 + t * q;
    double s = sqrt(t), z = s + s * (p / q);
    return bits_to_double(4609753056924675352ULL) - ((z + z) - bits_to_double(4364452196894661639ULL));
}

static double sloppy_asin(double a)
{
    bool negative = a < 0;
    double v;
    a = negative ? -a : a;
    if (a <= tab.asin_max) {
        int i = (int)(a * tab.asin_indexer + 0.5);
        double d = a - i * tab.asin_delta;
        v = tab.asin[i] + d * (tab.der1[i] + d * (tab.der2[i] + d * (tab.der3[i] + d * tab.der4[i])));
    } else if (a < 1) {
        v = asin_steep(a);
    } else {
        v = a == 1 ? HALF_PI : NAN;
    }
    return negative ? -v : v;
}

/* ---- distances ---- */

double geo_sort_key(double lat1, double lon1, double lat2, double lon2)
{
    pthread_once(&tab_once, fill_tables);
    double x1 = lat1 * TO_RADIANS, x2 = lat2 * TO_RADIANS;
    double h1 = 1 - sloppy_cos(x1 - x2), h2 = 1 - sloppy_cos((lon1 - lon2) * TO_RADIANS);
    double h = h1 + sloppy_cos(x1) * sloppy_cos(x2) * h2;
    uint64_t bits;
    memcpy(&bits, &h, sizeof(bits));
    return bits_to_double(bits & ~(uint64_t)7); /* the last bits are noise and would not be symmetric */
}

static double key_to_metres(double key)
{
    double r = sqrt(key * 0.5);
    return 12742017.5428 * sloppy_asin(r < 1 ? r : 1);
}

double geo_sort_key_of(double metres)
{
    pthread_once(&tab_once, fill_tables);
    double most = key_to_metres(1.7976931348623157E308);
    if (metres >= most) {
        return most;
    }
    int64_t lo = 0, hi = 0x7FEFFFFFFFFFFFFFLL; /* doubles above zero order as their bits do */
    while (lo <= hi) {
        int64_t mid = (int64_t)(((uint64_t)lo + (uint64_t)hi) >> 1);
        double key = bits_to_double((uint64_t)mid), at = key_to_metres(key);
        if (at == metres) {
            return key;
        }
        if (at > metres) {
            hi = mid - 1;
        } else {
            lo = mid + 1;
        }
    }
    return bits_to_double((uint64_t)lo);
}

double geo_arc(double lat1, double lon1, double lat2, double lon2)
{
    return key_to_metres(geo_sort_key(lat1, lon1, lat2, lon2));
}

double geo_plane(double lat1, double lon1, double lat2, double lon2)
{
    double x = (lon2 - lon1) * TO_RADIANS * cos((lat2 + lat1) / 2.0 * TO_RADIANS);
    double y = (lat2 - lat1) * TO_RADIANS;
    return sqrt(x * x + y * y) * GEO_EARTH_RADIUS;
}

double geo_distance(enum geo_distance_kind kind, double lat1, double lon1, double lat2, double lon2)
{
    return kind == GEO_PLANE ? geo_plane(lat1, lon1, lat2, lon2) : geo_arc(lat1, lon1, lat2, lon2);
}

bool geo_distance_kind_of(struct str text, enum geo_distance_kind *out)
{
    if (str_eq_nocase(text, STR("plane"))) {
        *out = GEO_PLANE;
        return true;
    }
    *out = GEO_ARC;
    return str_eq_nocase(text, STR("arc"));
}

static const struct {
    const char *name;
    double metres;
} units[] = {{"in", 0.0254},
             {"inch", 0.0254},
             {"yd", 0.9144},
             {"yards", 0.9144},
             {"ft", 0.3048},
             {"feet", 0.3048},
             {"km", 1000.0},
             {"kilometers", 1000.0},
             {"NM", 1852.0},
             {"nmi", 1852.0},
             {"nauticalmiles", 1852.0},
             {"mm", 0.001},
             {"millimeters", 0.001},
             {"cm", 0.01},
             {"centimeters", 0.01},
             {"mi", 1609.344},
             {"miles", 1609.344},
             {"m", 1},
             {"meters", 1}};

enum err geo_unit_of(struct str text, double *metres, struct errmsg *em)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_is(text, units[i].name)) {
            *metres = units[i].metres;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No distance unit match [%.*s]", STR_ARG(text));
}

enum err geo_distance_parse(struct str text, double unit_metres, double *out, struct errmsg *em)
{
    double unit = unit_metres;
    struct str number = text;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        struct str name = str_of(units[i].name);
        if (str_ends(text, name)) {
            unit = units[i].metres;
            number = str_slice(text, 0, text.n - name.n);
            break;
        }
    }
    double v;
    if (!num_parse_double(number, &v)) {
        return jr_bad_double(number, em);
    }
    *out = v * unit;
    return ERR_OK;
}

/* ---- ranges and quantisation ---- */

bool geo_lat_ok(double lat)
{
    return lat >= -90 && lat <= 90;
}

bool geo_lon_ok(double lon)
{
    return lon >= -180 && lon <= 180;
}

enum err geo_point_bounds(struct geo_point p, struct errmsg *em)
{
    if (!geo_lat_ok(p.lat)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid latitude %s; must be between -90.0 and 90.0",
                       num_text(p.lat).s);
    }
    if (!geo_lon_ok(p.lon)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid longitude %s; must be between -180.0 and 180.0",
                       num_text(p.lon).s);
    }
    return ERR_OK;
}

enum err geo_point_check(struct geo_point p, struct str field, struct errmsg *em)
{
    bool lat = geo_lat_ok(p.lat);
    if (lat && geo_lon_ok(p.lon)) {
        return ERR_OK;
    }
    double wrong = lat ? p.lon : p.lat;
    if (isnan(wrong)) { /* Elasticsearch compares, Lucene refuses */
        return geo_point_bounds(p, em);
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "illegal %s value [%s] for %.*s", lat ? "longitude" : "latitude",
                   num_text(wrong).s, STR_ARG(field));
}

static double centred(double v, double divisor)
{
    double rest = fmod(v, divisor);
    rest = rest <= 0 ? rest + divisor : rest;
    return rest > divisor / 2 ? rest - divisor : rest;
}

struct geo_point geo_point_normalise(struct geo_point p)
{
    if (!isfinite(p.lat) || !isfinite(p.lon)) {
        return p;
    }
    bool lat = !geo_lat_ok(p.lat), lon = lat || !geo_lon_ok(p.lon);
    if (lat) { /* over a pole, down the other side */
        p.lat = centred(p.lat, 360);
        bool other_side = p.lat < -90 || p.lat > 90;
        p.lat = p.lat < -90 ? -180 - p.lat : p.lat > 90 ? 180 - p.lat : p.lat;
        p.lon += other_side ? 180 : 0;
    }
    if (lon) {
        p.lon = centred(p.lon, 360);
    }
    return p;
}

#define LAT_STEP (180.0 / 4294967296.0)
#define LON_STEP (360.0 / 4294967296.0)

static int32_t saturate(double v)
{
    return num_double_to_i32(v);
}

int32_t geo_encode_lat(double lat)
{
    return saturate(floor((lat == 90 ? nextafter(lat, 0) : lat) / LAT_STEP));
}

int32_t geo_encode_lon(double lon)
{
    return saturate(floor((lon == 180 ? nextafter(lon, 0) : lon) / LON_STEP));
}

int32_t geo_encode_lat_ceil(double lat)
{
    return saturate(ceil((lat == 90 ? nextafter(lat, 0) : lat) / LAT_STEP));
}

int32_t geo_encode_lon_ceil(double lon)
{
    return saturate(ceil((lon == 180 ? nextafter(lon, 0) : lon) / LON_STEP));
}

double geo_decode_lat(int32_t v)
{
    return v * LAT_STEP;
}

double geo_decode_lon(int32_t v)
{
    return v * LON_STEP;
}

int64_t geo_pack(struct geo_point p)
{
    return (int64_t)((uint64_t)(uint32_t)geo_encode_lat(p.lat) << 32 | (uint32_t)geo_encode_lon(p.lon));
}

struct geo_point geo_unpack(int64_t v)
{
    return (struct geo_point){geo_decode_lat((int32_t)(v >> 32)), geo_decode_lon((int32_t)(uint32_t)v)};
}

/* ---- shapes ---- */

struct geo_box geo_circle_box(struct geo_point p, double metres)
{
    pthread_once(&tab_once, fill_tables);
    double lat = p.lat * TO_RADIANS, lon = p.lon * TO_RADIANS;
    double radius = (metres + 0.07) / GEO_EARTH_RADIUS; /* LUCENE-7143's error bound */
    double min_lat = lat - radius, max_lat = lat + radius, min_lon, max_lon;
    if (min_lat > -HALF_PI && max_lat < HALF_PI) {
        double delta = sloppy_asin(sloppy_cos(radius - HALF_PI) / sloppy_cos(lat));
        min_lon = lon - delta;
        min_lon += min_lon < -PI ? 2 * PI : 0;
        max_lon = lon + delta;
        max_lon -= max_lon > PI ? 2 * PI : 0;
    } else { /* a pole is inside */
        min_lat = fmax(min_lat, -HALF_PI);
        max_lat = fmin(max_lat, HALF_PI);
        min_lon = -PI;
        max_lon = PI;
    }
    return (struct geo_box){.top = max_lat * TO_DEGREES,
                            .bottom = min_lat * TO_DEGREES,
                            .left = min_lon * TO_DEGREES,
                            .right = max_lon * TO_DEGREES};
}

struct geo_box_enc geo_box_encode(struct geo_box box)
{
    struct geo_box_enc e = {.crosses = box.right < box.left};
    e.none = box.bottom == 90 || (box.left == 180 && box.right == 180);
    if (box.left == 180 && e.crosses) { /* the encoding has no 180: it begins at the other end */
        box.left = -180;
        e.crosses = false;
    }
    e.lat_min = geo_encode_lat_ceil(box.bottom);
    e.lat_max = geo_encode_lat(box.top);
    e.lon_min = geo_encode_lon_ceil(box.left);
    e.lon_max = geo_encode_lon(box.right);
    return e;
}

bool geo_box_has(const struct geo_box_enc *box, int32_t lat, int32_t lon)
{
    if (box->none || lat < box->lat_min || lat > box->lat_max) {
        return false;
    }
    return box->crosses ? lon >= box->lon_min || lon <= box->lon_max
                        : lon >= box->lon_min && lon <= box->lon_max;
}

static bool on_edge(struct geo_point a, struct geo_point b, double lat, double lon)
{
    if (lon == a.lon && lon == b.lon) {
        return true;
    }
    bool within = (lon <= a.lon && lon >= b.lon) != (lon >= a.lon && lon <= b.lon);
    return within && (b.lon - a.lon) * (lat - a.lat) == (lon - a.lon) * (b.lat - a.lat);
}

bool geo_polygon_has(const struct geo_point *points, size_t n, double lat, double lon)
{
    bool inside = false;
    for (size_t i = 0; i < n; i++) {
        struct geo_point a = points[i], b = points[(i + 1) % n];
        bool beside = (lat == a.lat && lat == b.lat)
                      || ((lat <= a.lat && lat >= b.lat) != (lat >= a.lat && lat <= b.lat));
        if (!beside) {
            continue;
        }
        if (on_edge(a, b, lat, lon)) {
            return true;
        }
        if ((a.lat > lat) != (b.lat > lat)
            && lon < (b.lon - a.lon) * (lat - a.lat) / (b.lat - a.lat) + a.lon) {
            inside = !inside;
        }
    }
    return inside;
}

struct geo_box geo_polygon_box(const struct geo_point *points, size_t n)
{
    struct geo_box box = {-INFINITY, INFINITY, INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        box.top = fmax(box.top, points[i].lat);
        box.bottom = fmin(box.bottom, points[i].lat);
        box.left = fmin(box.left, points[i].lon);
        box.right = fmax(box.right, points[i].lon);
    }
    return box;
}
