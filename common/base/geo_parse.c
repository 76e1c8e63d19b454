/* Points as people write them, and geohashes. */
#include "common/base/geo.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

/* ---- geohash: base 32 over interleaved bits, longitude first ---- */

static const char base32[] = "0123456789bcdefghjkmnpqrstuvwxyz";

/* Spreads the low 32 bits out to the even places. */
static uint64_t spread(uint32_t v)
{
    uint64_t x = v;
    x = (x | x << 16) & 0x0000FFFF0000FFFFULL;
    x = (x | x << 8) & 0x00FF00FF00FF00FFULL;
    x = (x | x << 4) & 0x0F0F0F0F0F0F0F0FULL;
    x = (x | x << 2) & 0x3333333333333333ULL;
    return (x | x << 1) & 0x5555555555555555ULL;
}

static uint32_t gather(uint64_t x)
{
    x &= 0x5555555555555555ULL;
    x = (x | x >> 1) & 0x3333333333333333ULL;
    x = (x | x >> 2) & 0x0F0F0F0F0F0F0F0FULL;
    x = (x | x >> 4) & 0x00FF00FF00FF00FFULL;
    x = (x | x >> 8) & 0x0000FFFF0000FFFFULL;
    return (uint32_t)(x | x >> 16);
}

void geohash_encode(struct geo_point p, int level, char to[GEOHASH_MAX + 1])
{
    uint32_t lat = (uint32_t)geo_encode_lat(p.lat) ^ 0x80000000U,
             lon = (uint32_t)geo_encode_lon(p.lon) ^ 0x80000000U;
    uint64_t bits = spread(lat) | spread(lon) << 1;
    for (int i = 0; i < level; i++) {
        to[i] = base32[bits >> 59];
        bits <<= 5;
    }
    to[level] = '\0';
}

#define LAT_SCALE (2147483648.0 / 180.0)
#define LON_SCALE (2147483648.0 / 360.0)

/* The cell's lower corner in 31 bits a coordinate, and how many characters counted. */
static enum err decode(struct str hash, uint32_t *lat, uint32_t *lon, int *level, struct errmsg *em)
{
    uint64_t bits = 0;
    if (hash.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "empty geohash");
    }
    *level = (int)MIN_OF(hash.n, (size_t)GEOHASH_MAX);
    for (int i = 0; i < *level; i++) {
        const char *at = hash.p[i] != '\0' ? strchr(base32, hash.p[i]) : NULL;
        if (at == NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "unsupported symbol [%c] in geohash [%.*s]", hash.p[i],
                           STR_ARG(hash));
        }
        bits |= (uint64_t)(at - base32) << ((11 - i) * 5 + 2);
    }
    *lat = gather(bits);
    *lon = gather(bits >> 1);
    return ERR_OK;
}

enum err geohash_decode(struct str hash, struct geo_point *out, struct errmsg *em)
{
    uint32_t lat, lon;
    int level;
    enum err e = decode(hash, &lat, &lon, &level, em);
    if (e == ERR_OK) {
        *out = (struct geo_point){lat / LAT_SCALE - 90, lon / LON_SCALE - 180};
    }
    return e;
}

enum err geohash_box(struct str hash, struct geo_box *out, struct errmsg *em)
{
    uint32_t lat, lon;
    int level;
    enum err e = decode(hash, &lat, &lon, &level, em);
    if (e != ERR_OK) {
        return e;
    }
    int lat_bits = level * 5 / 2, lon_bits = level * 5 - lat_bits;
    out->bottom = lat / LAT_SCALE - 90;
    out->left = lon / LON_SCALE - 180;
    out->top = (double)((uint64_t)lat + (1ULL << (31 - lat_bits))) / LAT_SCALE - 90;
    out->right = (double)((uint64_t)lon + (1ULL << (31 - lon_bits))) / LON_SCALE - 180;
    return ERR_OK;
}

static enum err point_of_geohash(struct geo_point *out, struct str hash, struct errmsg *em)
{
    enum err e = geohash_decode(hash, out, em);
    return e == ERR_OK ? e : err_wrap(em, ERR_PARSE, "%s", err_reason(em));
}

/* ---- text ---- */

static enum err third(bool ignore_z, double z, struct errmsg *em)
{
    if (ignore_z) {
        return ERR_OK;
    }
    return err_set(
        em, ERR_PARSE,
        "Exception parsing coordinates: found Z value [%s] but [ignore_z_value] parameter is [false]",
        num_text(z).s);
}

static enum err point_of_list(struct geo_point *out, struct str text, bool ignore_z, struct errmsg *em)
{
    struct str part[3] = {STR_NULL, STR_NULL, STR_NULL}, rest = text;
    size_t n = 0;
    while (text.n > 0 && text.p[text.n - 1] == ',') { /* Java's split drops empty parts at the end */
        text.n--;
    }
    for (rest = text; rest.p != NULL && text.n > 0; n++) {
        struct str one = str_cut(rest, ',', &rest);
        if (n < 3) {
            part[n] = one;
        }
    }
    if (n > 3) {
        return err_set(em, ERR_PARSE, "failed to parse [%.*s], expected 2 or 3 coordinates but found: [%zu]",
                       STR_ARG(text), n);
    }
    double z;
    if (n > 0 && !num_parse_double(part[0], &out->lat)) {
        return err_set(em, ERR_PARSE, "latitude must be a number");
    }
    if (n < 2) {
        return err_set(em, ERR_ARRAY_BOUNDS, "Index %zu out of bounds for length %zu", n, n);
    }
    if (!num_parse_double(part[1], &out->lon)) {
        return err_set(em, ERR_PARSE, "longitude must be a number");
    }
    if (n == 3 && !num_parse_double(part[2], &z)) {
        return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(part[2]));
    }
    return n == 3 ? third(ignore_z, z, em) : ERR_OK;
}

static void skip_space(struct str s, size_t *at)
{
    while (*at < s.n && (s.p[*at] == ' ' || s.p[*at] == '\t' || s.p[*at] == '\n' || s.p[*at] == '\r')) {
        (*at)++;
    }
}

static enum err bad_wkt(struct errmsg *em, const char *why)
{
    err_set(em, ERR_PARSE, "%s", why);
    return err_wrap(em, ERR_PARSE, "Invalid WKT format");
}

/* POINT (lon lat [z]) */
static enum err point_of_wkt(struct geo_point *out, struct str text, bool ignore_z, struct errmsg *em)
{
    size_t at = 0;
    double v[3];
    int n = 0;
    skip_space(text, &at);
    struct str word = str_slice(text, at, at + 5);
    if (!str_eq_nocase(word, STR("point"))) {
        size_t open = str_find(text, '(', 0);
        if (open != SIZE_MAX && (str_eq_nocase(str_slice(text, at, at + 10), STR("MULTIPOINT")))) {
            return err_set(em, ERR_PARSE,
                           "[geo_point] supports only POINT among WKT primitives, but found MULTIPOINT");
        }
        return bad_wkt(em, "unknown geometry type");
    }
    at += 5;
    skip_space(text, &at);
    if (str_eq_nocase(str_trim(str_slice(text, at, text.n)),
                      STR("empty"))) { /* Elasticsearch's empty point has these */
        *out = (struct geo_point){0, 0};
        return ERR_OK;
    }
    if (at >= text.n || text.p[at] != '(') {
        return bad_wkt(em, "expected word EMPTY or (");
    }
    at++;
    for (;;) {
        skip_space(text, &at);
        size_t from = at;
        while (at < text.n && text.p[at] != ' ' && text.p[at] != ')' && text.p[at] != ',') {
            at++;
        }
        if (at == from) {
            break;
        }
        if (n == 3 || !num_parse_double(str_slice(text, from, at), &v[n])) {
            return bad_wkt(em, "invalid number found");
        }
        n++;
    }
    bool closed = at < text.n && text.p[at++] == ')';
    skip_space(text, &at);
    if (n < 2 || !closed || at != text.n) {
        return bad_wkt(em, "expected number or )");
    }
    out->lon = v[0];
    out->lat = v[1];
    if (geo_point_bounds(*out, em) != ERR_OK) {
        return err_wrap(em, ERR_PARSE, "Invalid WKT format");
    }
    if (n < 3 || ignore_z) {
        return ERR_OK;
    }
    err_set(em, ERR_ILLEGAL_ARGUMENT, "found Z value [%s] but [ignore_z_value] parameter is [false]",
            num_text(v[2]).s);
    return err_wrap(em, ERR_PARSE, "Invalid WKT format");
}

static bool has_point(struct str s)
{
    for (size_t i = 0; i + 5 <= s.n; i++) {
        if (str_eq_nocase(str_slice(s, i, i + 5), STR("point"))) {
            return true;
        }
    }
    return false;
}

enum err geo_point_of_text(struct geo_point *out, struct str text, bool ignore_z, struct errmsg *em)
{
    if (has_point(text)) {
        return point_of_wkt(out, text, ignore_z, em);
    }
    if (str_find(text, ',', 0) != SIZE_MAX) {
        return point_of_list(out, text, ignore_z, em);
    }
    return point_of_geohash(out, text, em);
}

/* ---- JSON ---- */

struct object_point {
    double lat, lon;
    struct str hash;
    struct str bad; /* the last that is no number */
};

static enum err coordinate(struct object_point *o, double *to, const struct json *v, const char *what,
                           struct errmsg *em)
{
    if (v->type != JSON_NUMBER && v->type != JSON_STRING) {
        return err_set(em, ERR_PARSE, "%s must be a number", what);
    }
    if (v->type == JSON_NUMBER) {
        *to = json_double(v);
    } else if (!num_parse_double(v->s, to)) {
        o->bad = v->s.p != NULL ? v->s : STR("");
    }
    return ERR_OK;
}

static enum err point_of_object(struct geo_point *out, const struct json *v, struct errmsg *em)
{
    struct object_point o = {NAN, NAN, STR_NULL, STR_NULL};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        enum err e = ERR_OK;
        if (str_is(m->key, "lat")) {
            e = coordinate(&o, &o.lat, &m->value, "latitude", em);
        } else if (str_is(m->key, "lon")) {
            e = coordinate(&o, &o.lon, &m->value, "longitude", em);
        } else if (str_is(m->key, "geohash")) {
            if (m->value.type != JSON_STRING) {
                return err_set(em, ERR_PARSE, "geohash must be a string");
            }
            o.hash = m->value.s.p != NULL ? m->value.s : STR("");
        } else {
            return err_set(em, ERR_PARSE, "field must be either [lat], [lon] or [geohash]");
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (o.hash.p != NULL) {
        return isnan(o.lat) && isnan(o.lon)
                   ? point_of_geohash(out, o.hash, em)
                   : err_set(em, ERR_PARSE, "field must be either lat/lon or geohash");
    }
    if (o.bad.p != NULL) {
        jr_bad_double(o.bad, em);
        return err_wrap(em, ERR_PARSE, "[lat] and [lon] must be valid double values");
    }
    if (isnan(o.lat) || isnan(o.lon)) {
        return err_set(em, ERR_PARSE, "field [%s] missing", isnan(o.lat) ? "lat" : "lon");
    }
    *out = (struct geo_point){o.lat, o.lon};
    return ERR_OK;
}

static enum err point_of_array(struct geo_point *out, const struct json *v, bool ignore_z, struct errmsg *em)
{
    double at[3] = {0, 0, 0};
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->items[i].type != JSON_NUMBER) {
            return err_set(em, ERR_PARSE, "numeric value expected");
        }
        if (i == 2 && !ignore_z) {
            return third(false, json_double(&v->items[i]), em);
        }
        if (i > 2) {
            return err_set(em, ERR_PARSE, "[geo_point] field type does not accept > 3 dimensions");
        }
        at[i] = json_double(&v->items[i]);
    }
    *out = (struct geo_point){at[1], at[0]};
    return ERR_OK;
}

enum err geo_point_of_json(struct geo_point *out, const struct json *v, bool ignore_z, struct errmsg *em)
{
    switch (v->type) {
    case JSON_OBJECT:
        return point_of_object(out, v, em);
    case JSON_ARRAY:
        return point_of_array(out, v, ignore_z, em);
    case JSON_STRING:
        return geo_point_of_text(out, v->s, ignore_z, em);
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
        break;
    }
    return err_set(em, ERR_PARSE, "geo_point expected");
}

static enum err number_of(const struct json *v, double *out, struct errmsg *em)
{
    if (v->type == JSON_NUMBER) {
        *out = json_double(v);
        return ERR_OK;
    }
    if (v->type == JSON_STRING) {
        return num_parse_double(v->s, out) ? ERR_OK : jr_bad_double(v->s, em);
    }
    return err_set(em, ERR_JSON, "Current token (%s) not numeric, can not use numeric value accessors",
                   jr_token(v));
}

enum err geo_points_of_json(const struct json *v, bool ignore_z, geo_point_fn each, void *self,
                            struct errmsg *em)
{
    struct geo_point p;
    enum err e;
    if (v->type != JSON_ARRAY) {
        e = geo_point_of_json(&p, v, ignore_z, em);
        return e == ERR_OK ? each(self, p, em) : e;
    }
    if (v->n == 0 || v->items[0].type != JSON_NUMBER) {
        for (uint32_t i = 0; i < v->n; i++) {
            e = geo_point_of_json(&p, &v->items[i], ignore_z, em);
            e = e == ERR_OK ? each(self, p, em) : e;
            if (e != ERR_OK) {
                return e;
            }
        }
        return ERR_OK;
    }
    p.lon = json_double(&v->items[0]);
    if (v->n < 2) {
        return err_set(em, ERR_JSON,
                       "Current token (END_ARRAY) not numeric, can not use numeric value accessors");
    }
    e = number_of(&v->items[1], &p.lat, em);
    if (e == ERR_OK && v->n > 2) {
        e = v->items[2].type == JSON_NUMBER
                ? third(ignore_z, json_double(&v->items[2]), em)
                : err_set(em, ERR_PARSE, "field type does not accept > 3 dimensions");
    }
    e = e == ERR_OK ? each(self, p, em) : e;
    return e == ERR_OK && v->n > 3 ? err_set(em, ERR_PARSE, "geo_point expected") : e;
}
