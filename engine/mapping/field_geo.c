/* Points on the earth. */
#include "common/base/geo.h"
#include "common/base/num.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

#include <math.h>

static const struct param geo_point_params[] = {
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_INDEX,
    PARAM_ROW_STORE,
    PARAM_ROW_MALFORMED,
    {.name = "ignore_z_value",
     .kind = PARAM_EXPLICIT_BOOL,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(ignore_z),
     .dflt = 1},
    {.name = "null_value", .kind = PARAM_NULL_POINT, .flags = PARAM_NULL_OK},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

struct geo_sink {
    struct doc_parser *p;
    const struct field *f;
    struct buf hashes; /* what multi-fields read */
    uint32_t n;
};

static enum err on_point(void *self, struct geo_point point, struct errmsg *em)
{
    struct geo_sink *sink = self;
    const struct field *f = sink->f;
    if (f->ignore_malformed) {
        if (!isfinite(point.lat) || !isfinite(point.lon)) {
            return err_set(em, ERR_PARSE, "cannot normalize the point - not a number");
        }
        point = geo_point_normalise(point);
    } else {
        enum err e = geo_point_check(point, f->path, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    struct doc_value *to = doc_add(sink->p, f, DOC_GEO);
    if (to == NULL) {
        return err_no_memory(em);
    }
    to->geo.lat = geo_encode_lat(point.lat);
    to->geo.lon = geo_encode_lon(point.lon);
    if (!doc_keep_text(sink->p, to, point.lat, &point.lon)) {
        return err_no_memory(em);
    }
    if (f->n_multi_fields > 0) {
        char hash[GEOHASH_MAX + 1];
        geohash_encode(point, GEOHASH_MAX, hash);
        buf_z(&sink->hashes, sink->n > 0 ? "," : "");
        buf_z(&sink->hashes, hash);
    }
    sink->n++;
    return ERR_OK;
}

/* Multi-fields read the points' geohashes: one, or "[a,b]". */
static enum err geo_multi_fields(struct geo_sink *sink)
{
    struct doc_parser *p = sink->p;
    enum err e = ERR_OK;
    if (sink->f->n_multi_fields == 0 || sink->n == 0) {
        return e;
    }
    struct str s = arena_printf(p->arena, sink->n > 1 ? "[%.*s]" : "%.*s", STR_ARG(buf_view(&sink->hashes)));
    struct json text = json_mk_str(s);
    if (s.p == NULL || sink->hashes.failed) {
        return err_no_memory(p->em);
    }
    p->geohashes = true;
    for (uint32_t i = 0; e == ERR_OK && i < sink->f->n_multi_fields; i++) {
        e = doc_parse_field(p, sink->f->multi_fields[i], &text);
    }
    p->geohashes = false;
    return e;
}

static enum err null_point(struct geo_sink *sink)
{
    if (sink->f->null_value == NULL) {
        return ERR_OK;
    }
    struct geo_point point;
    enum err e = geo_point_of_json(&point, sink->f->null_value, true, sink->p->em);
    return e == ERR_OK ? on_point(sink, point, sink->p->em) : e;
}

/* One point that is an item of an array. */
static enum err item_point(struct geo_sink *sink, const struct json *v)
{
    struct geo_point point = {NAN, NAN};
    bool empty = v->type == JSON_ARRAY && v->n == 0;
    enum err e = empty ? ERR_OK : geo_point_of_json(&point, v, sink->f->ignore_z, sink->p->em);
    return e == ERR_OK ? on_point(sink, point, sink->p->em) : e;
}

/* *rest is where reading stopped: behind the item of an array that was malformed. */
static enum err read_points(struct geo_sink *sink, const struct json *v, uint32_t *rest)
{
    struct doc_parser *p = sink->p;
    *rest = UINT32_MAX;
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type == JSON_NULL) {
        return null_point(sink);
    }
    if (v->type != JSON_ARRAY || v->n == 0 || v->items[0].type == JSON_NUMBER) {
        return geo_points_of_json(v, sink->f->ignore_z, on_point, sink, p->em);
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        *rest = i + 1;
        e = json_is_broken(&v->items[i]) ? doc_broken(p) : item_point(sink, &v->items[i]);
    }
    return e;
}

static enum err geo_value(struct doc_parser *p, const struct field *f, const struct json *v);

/* Elasticsearch's parser goes on behind the malformed item, and takes what is left for values of their own.
 */
static enum err ignore_point(struct doc_parser *p, const struct field *f, const struct json *v, uint32_t rest)
{
    enum err e = doc_ignore_value(p, f);
    for (uint32_t i = rest; e == ERR_OK && v->type == JSON_ARRAY && i < v->n; i++) {
        e = geo_value(p, f, &v->items[i]);
    }
    return e;
}

static enum err geo_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    if (f->is_multi_field && p->geohashes) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                "illegal external value class [java.lang.StringBuilder]. Should be java.util.List");
        return err_wrap(p->em, ERR_MAPPER_PARSING, "failed to parse field [%.*s] of type [geo_point]",
                        STR_ARG(f->path));
    }
    struct geo_sink sink = {.p = p, .f = f};
    size_t before = p->part->n;
    uint32_t rest;
    if (json_is_broken(v) && !v->b) {
        return doc_broken(p);
    }
    buf_init(&sink.hashes, p->arena->alloc, BUF_UNLIMITED);
    enum err e = read_points(&sink, v, &rest);
    e = e == ERR_OK ? geo_multi_fields(&sink) : e;
    buf_fini(&sink.hashes);
    if (e == ERR_OK || e == ERR_NO_MEMORY) {
        return e;
    }
    if (f->ignore_malformed) {
        p->part->n = before;
        return ignore_point(p, f, v, rest);
    }
    return err_wrap(p->em, ERR_MAPPER_PARSING, "failed to parse field [%.*s] of type [geo_point]",
                    STR_ARG(f->path));
}

/* ---- values of the source ---- */

struct shown_points {
    struct jsonw *w;
    bool wkt;
};

static enum err show_point(void *self, struct geo_point p, UNUSED struct errmsg *em)
{
    struct shown_points *s = self;
    if (!geo_lat_ok(p.lat) || !geo_lon_ok(p.lon)) { /* let through as malformed: shown around the globe */
        p = geo_point_normalise(p);
    }
    if (s->wkt) {
        struct buf b;
        buf_init(&b, NULL, KIB);
        buf_z(&b, "POINT (");
        num_put_double(&b, p.lon);
        buf_char(&b, ' ');
        num_put_double(&b, p.lat);
        buf_char(&b, ')');
        value_write_buf(&b, s->w);
        return ERR_OK;
    }
    jw_obj(s->w);
    jw_karr(s->w, "coordinates");
    jw_double(s->w, p.lon);
    jw_double(s->w, p.lat);
    jw_arr_end(s->w);
    jw_kz(s->w, "type", "Point");
    jw_obj_end(s->w);
    return ERR_OK;
}

static enum err point_format(struct value_format *out, struct str format, UNUSED struct arena *arena,
                             UNUSED struct errmsg *em)
{
    out->wkt = str_is(format, "wkt");
    out->nothing = !out->wkt && !str_is(format, "geojson");
    return ERR_OK;
}

static void show_points(const struct value_format *f, const struct json *v, UNUSED struct arena *arena,
                        struct jsonw *w)
{
    struct shown_points points = {w, f->wkt};
    if (f->nothing || geo_points_of_json(v, true, show_point, &points, NULL) != ERR_OK) {
        return; /* malformed ones that were let through are not values */
    }
}

static enum err refuse_point(const struct field *f, struct errmsg *em)
{
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "Geometry fields do not support exact searching, use dedicated geometry queries instead: [%.*s]",
        STR_ARG(f->path));
}

const struct field_class field_class_geo_point = {
    .name = "geo_point",
    .params = geo_point_params,
    .value = geo_value,
    .takes_array = true,
    .takes_whole = true,
    .kind = VALUE_POINT,
    .show_format = point_format,
    .show = show_points,
    .text = FIELD_TEXT_NONE,
    .refuse_search = refuse_point,
};
