/* geo_bounding_box, geo_distance, geo_polygon. */
#include "engine/query/build.h"
#include "engine/query/geo_shape.h"

#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "engine/query/geo_box.h"

#include <math.h>
#include <stdio.h>

enum geo_validation { GEO_STRICT, GEO_COERCE, GEO_IGNORE };

struct dsl_geo {
    struct dsl dsl;
    struct str field;
    bool ignore_unmapped;
    enum geo_validation validation;
    /* box */
    bool has_box;
    struct geo_box box;
    /* distance */
    const struct json *distance;
    double unit, metres;
    struct geo_point point;
    bool plane;
    /* polygon */
    struct geo_point *points;
    size_t n, cap;
    bool has_points;
};

static const struct param common_params[] = {
    DSL_COMMON_PARAMS(struct dsl_geo),
    {"ignore_unmapped", PARAM_BOOL, offsetof(struct dsl_geo, ignore_unmapped)},
};

static struct dsl_geo *geo_new(struct dsl **out, struct arena *arena, const struct dsl_type *type)
{
    struct dsl_geo *q = dsl_new(out, arena, type, sizeof(*q));
    if (q != NULL) {
        q->unit = 1;
        q->box = (struct geo_box){NAN, NAN, NAN, NAN};
        q->point = (struct geo_point){NAN, NAN};
    }
    return q;
}

static enum err parse_validation(struct json_pull *p, struct dsl_geo *q, struct errmsg *em)
{
    static const char *const names[] = {"STRICT", "COERCE", "IGNORE_MALFORMED"};
    struct str s;
    enum err e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(s, str_of(names[i]))) {
            q->validation = (enum geo_validation)i;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "operator needs to be either [COERCE, IGNORE_MALFORMED, STRICT], but not [%.*s]",
                   STR_ARG(s));
}

/* A point at the cursor, which moves to its end. */
static enum err parse_point(struct json_pull *p, struct geo_point *out, struct errmsg *em)
{
    const struct json *v = p->value;
    json_pull_skip(p);
    return geo_point_of_json(out, v, false, em);
}

struct java_number {
    char text[40];
};

/* A number as Java shows it. */
static struct java_number java_number(double v)
{
    struct java_number n = {"NaN"};
    struct buf b;
    if (!isfinite(v)) {
        snprintf(n.text, sizeof(n.text), "%s", isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return n;
    }
    buf_init(&b, NULL, sizeof(n.text) - 1);
    num_put_double(&b, v);
    snprintf(n.text, sizeof(n.text), "%.*s", STR_ARG(buf_view(&b)));
    buf_fini(&b);
    return n;
}

static enum err check_corners(const struct dsl_geo *q, struct errmsg *em)
{
    const struct {
        const char *what;
        double v;
    } sides[] = {{"top latitude", q->box.top},
                 {"left longitude", q->box.left},
                 {"bottom latitude", q->box.bottom},
                 {"right longitude", q->box.right}};
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (!isfinite(sides[i].v)) {
            struct java_number n = java_number(sides[i].v);
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s is invalid: %s", sides[i].what, n.text);
        }
    }
    struct java_number top = java_number(q->box.top), bottom = java_number(q->box.bottom);
    if (q->box.top < q->box.bottom) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "top is below bottom corner: %s vs. %s", top.text,
                       bottom.text);
    }
    if (q->box.top == q->box.bottom) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "top cannot be the same as bottom: %s == %s", top.text,
                       bottom.text);
    }
    if (q->box.left == q->box.right) {
        struct java_number left = java_number(q->box.left), right = java_number(q->box.right);
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "left cannot be the same as right: %s == %s", left.text,
                       right.text);
    }
    return ERR_OK;
}

static enum err parse_box(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_geo *q = geo_new(out, arena, &dsl_geo_bounding_box);
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL, ignored;
    while (json_pull_member(p, &name)) {
        bool known = true;
        enum err e = ERR_OK;
        if (p->token == TOK_START_OBJECT) {
            q->field = name;
            q->has_box = true;
            if (geo_box_read(p, &q->box, em) != ERR_OK) {
                return err_set(em, ERR_PARSE, "failed to parse [geo_bounding_box] query. [%s]",
                               err_reason(em));
            }
        } else if (json_token_is_value(p->token)) {
            if (str_is(name, "validation_method")) {
                e = parse_validation(p, q, em);
            } else if (str_is(name, "type")) {
                e = json_pull_text(p, &ignored, em);
            } else {
                e = dsl_param(p, name, common_params, ARRAY_LEN(common_params), q, &known, em);
            }
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "failed to parse [geo_bounding_box] query. unexpected field [%.*s]",
                                 STR_ARG(name));
        }
    }
    if (!q->has_box) {
        return err_set(em, ERR_PARSE, "failed to parse [geo_bounding_box] query. bounding box not provided");
    }
    return check_corners(q, em);
}

/* ---- geo_distance ---- */

static enum err parse_point_object(struct json_pull *p, struct dsl_geo *q, struct errmsg *em)
{
    struct str name = STR_NULL;
    bool inside = false; /* an object of the point */
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        inside = inside || p->token == TOK_START_OBJECT;
        if (!json_token_is_value(p->token)) { /* brackets are read over: what is in them is the member's */
            continue;
        }
        if (str_is(name, "lat")) {
            e = json_pull_double(p, &q->point.lat, em);
        } else if (str_is(name, "lon")) {
            e = json_pull_double(p, &q->point.lon, em);
        } else if (str_is(name, "geohash")) {
            e = geohash_decode(json_text(p->value), &q->point, em);
        } else {
            return dsl_unsupported(p, "geo_distance", q->field, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    /* The end of that object is no end of the point: what follows would not be where it is looked for. */
    return inside ? dsl_unsupported(p, "geo_distance", q->field, em) : ERR_OK;
}

static enum err parse_distance_value(struct json_pull *p, struct dsl_geo *q, struct str name,
                                     struct errmsg *em)
{
    bool known;
    struct str s = STR_NULL;
    enum err e = dsl_param(p, name, common_params, ARRAY_LEN(common_params), q, &known, em);
    if (known || e != ERR_OK) {
        return e;
    }
    if (str_is(name, "distance")) {
        q->distance = p->value;
        return ERR_OK;
    }
    if (str_is(name, "validation_method")) {
        return parse_validation(p, q, em);
    }
    e = json_pull_text(p, &s, em);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(name, "unit")) {
        return geo_unit_of(s, &q->unit, em);
    }
    if (str_is(name, "distance_type")) {
        enum geo_distance_kind kind;
        if (!geo_distance_kind_of(s, &kind)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "No geo distance for [%.*s]", STR_ARG(s));
        }
        q->plane = kind == GEO_PLANE;
        return ERR_OK;
    }
    if (str_ends(name, STR(".lat")) || str_ends(name, STR(".lon"))) {
        q->field = str_slice(name, 0, name.n - 4);
        return json_pull_double(p, str_ends(name, STR(".lat")) ? &q->point.lat : &q->point.lon, em);
    }
    if (q->field.p != NULL) {
        return json_pull_err(p, em, ERR_PARSING,
                             "failed to parse [geo_distance] query. unexpected field [%.*s]", STR_ARG(name));
    }
    q->field = name;
    return geo_point_of_text(&q->point, s, false, em);
}

static enum err finish_distance(struct json_pull *p, struct dsl_geo *q, struct errmsg *em)
{
    if (q->distance == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "geo_distance requires 'distance' to be specified");
    }
    if (q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "fieldName must not be null or empty");
    }
    enum err e = geo_distance_parse(json_text(q->distance), q->unit, &q->metres, em);
    if (e == ERR_OK && !(q->metres > 0)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "distance must be greater than zero");
    }
    return e;
}

static enum err parse_distance(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_geo *q = geo_new(out, arena, &dsl_geo_distance);
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        enum err e = ERR_OK;
        if (p->token == TOK_START_ARRAY) {
            q->field = name;
            e = parse_point(p, &q->point, em);
        } else if (p->token == TOK_START_OBJECT) {
            q->field = name;
            e = parse_point_object(p, q, em);
        } else if (json_token_is_value(p->token)) {
            e = parse_distance_value(p, q, name, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return finish_distance(p, q, em);
}

/* ---- geo_polygon ---- */

static enum err parse_polygon_points(struct json_pull *p, struct arena *arena, struct dsl_geo *q,
                                     struct errmsg *em)
{
    q->has_points = true;
    while (json_pull_until(p, TOK_END_ARRAY)) {
        struct geo_point pt;
        enum err e = parse_point(p, &pt, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!ARENA_ADD(arena, q->points, q->n, q->cap, pt)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err parse_polygon_body(struct json_pull *p, struct arena *arena, struct dsl_geo *q,
                                   struct errmsg *em)
{
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        if (p->token != TOK_START_ARRAY) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "[geo_polygon] query does not support token type [%s] under [%.*s]",
                                 json_token_text(p->token), STR_ARG(name));
        }
        if (!str_is(name, "points")) {
            return dsl_unsupported(p, "geo_polygon", name, em);
        }
        enum err e = parse_polygon_points(p, arena, q, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err close_polygon(struct json_pull *p, struct arena *arena, struct dsl_geo *q, struct errmsg *em)
{
    if (!q->has_points) {
        return json_pull_err(p, em, ERR_PARSING, "[geo_polygon] no points defined");
    }
    if (q->n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "polygon must not be null or empty");
    }
    struct geo_point first = q->points[0], last = q->points[q->n - 1];
    bool closed = first.lat == last.lat && first.lon == last.lon;
    if (q->n < (closed ? 4U : 3U)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "too few points defined for geo_polygon query");
    }
    if (!closed) {
        if (!ARENA_ADD(arena, q->points, q->n, q->cap, first)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err parse_polygon(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_geo *q = geo_new(out, arena, &dsl_geo_polygon);
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        bool known = true;
        enum err e = ERR_OK;
        if (p->token == TOK_START_OBJECT) {
            q->field = name;
            e = parse_polygon_body(p, arena, q, em);
        } else if (json_token_is_value(p->token)) {
            if (str_is(name, "validation_method")) {
                e = parse_validation(p, q, em);
            } else {
                e = dsl_param(p, name, common_params, ARRAY_LEN(common_params), q, &known, em);
            }
        } else {
            return json_pull_err(p, em, ERR_PARSING, "[geo_polygon] unexpected token type [%s]",
                                 json_token_text(p->token));
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "geo_polygon", name, em);
        }
    }
    return close_polygon(p, arena, q, em);
}

/* ---- building ---- */

/* The node, and its parameters to be filled in; *own is NULL where it is another that needs none. */
static enum err geo_node(struct builder *b, const struct dsl_geo *q, enum area_kind kind,
                         struct geo_area **own, struct query **out, struct errmsg *em)
{
    static const struct query_ops *const nodes[] = {
        [AREA_BOX] = &q_geo_box, [AREA_CIRCLE] = &q_geo_distance, [AREA_POLYGON] = &q_geo_polygon};
    const struct field *f = build_field(b, q->field);
    *own = NULL;
    if (f == NULL) {
        if (q->ignore_unmapped) {
            return qnode_none(b, out, em, "%s", "");
        }
        return err_query_shard(b, em, "failed to find geo%s field [%.*s]",
                               kind == AREA_POLYGON ? "_point" : "", STR_ARG(q->field));
    }
    if (!field_is_point(f)) {
        if (kind == AREA_POLYGON) {
            return err_query_shard(b, em, "field [%.*s] is not a geo_point field", STR_ARG(q->field));
        }
        return err_query_shard(b, em, "Field [%.*s] is of unsupported type [%s] for [%s] query",
                               STR_ARG(q->field), f->class->name, q->dsl.type->name);
    }
    struct query *n = *out = qnode_new(b, nodes[kind]);
    *own = ARENA_NEW(b->arena, struct geo_area);
    if (n == NULL || *own == NULL) {
        return err_no_memory(em);
    }
    (*own)->kind = kind;
    n->own = *own;
    n->field = f;
    n->field_name = f->path;
    return ERR_OK;
}

static enum err invalid_point(struct builder *b, const struct dsl_geo *q, const char *what, struct str value,
                              struct errmsg *em)
{
    err_set(em, ERR_QUERY_VALIDATION, "Validation Failed: 1: [%s] %s is invalid: %.*s;", q->dsl.type->name,
            what, STR_ARG(value));
    enum err e = err_wrap(em, ERR_QUERY_SHARD, "couldn't validate latitude/ longitude values");
    err_about_index(em, b->cx->index_name, b->cx->index_uuid);
    return e;
}

static enum err build_box(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_geo *q = (const struct dsl_geo *)(const void *)d;
    struct geo_area *own;
    enum err e = geo_node(b, q, AREA_BOX, &own, out, em);
    if (e != ERR_OK || own == NULL) {
        return e;
    }
    struct geo_point tl = {q->box.top, q->box.left}, br = {q->box.bottom, q->box.right};
    if (q->validation == GEO_STRICT) {
        if (!geo_lat_ok(tl.lat)) {
            return invalid_point(b, q, "top latitude", str_of(num_text(tl.lat).s), em);
        }
        if (!geo_lat_ok(br.lat)) {
            return invalid_point(b, q, "bottom latitude", str_of(num_text(br.lat).s), em);
        }
        if (!geo_lon_ok(tl.lon)) {
            return invalid_point(b, q, "left longitude", str_of(num_text(tl.lon).s), em);
        }
        if (!geo_lon_ok(br.lon)) {
            return invalid_point(b, q, "right longitude", str_of(num_text(br.lon).s), em);
        }
    } else {
        bool whole = fmod(br.lon - tl.lon, 360) == 0 && br.lon > tl.lon;
        double left = tl.lon, right = br.lon;
        tl = geo_point_normalise(tl);
        br = geo_point_normalise(br);
        if (whole) {
            tl.lon = -180;
            br.lon = 180;
        } else if (left == right) {
            br.lon = tl.lon;
        }
    }
    own->top = tl.lat;
    own->left = tl.lon;
    own->bottom = br.lat;
    own->right = br.lon;
    return ERR_OK;
}

static enum err build_distance(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_geo *q = (const struct dsl_geo *)(const void *)d;
    struct geo_area *own;
    enum err e = geo_node(b, q, AREA_CIRCLE, &own, out, em);
    if (e != ERR_OK || own == NULL) {
        return e;
    }
    struct geo_point p = q->point;
    if (q->validation == GEO_STRICT) {
        if (!geo_lat_ok(p.lat) && !geo_lon_ok(p.lon)) {
            struct str two =
                arena_printf(b->arena, "%s;2: [geo_distance] center point longitude is invalid: %s",
                             num_text(p.lat).s, num_text(p.lon).s);
            return invalid_point(b, q, "center point latitude", two, em);
        }
        if (!geo_lat_ok(p.lat)) {
            return invalid_point(b, q, "center point latitude", str_of(num_text(p.lat).s), em);
        }
        if (!geo_lon_ok(p.lon)) {
            return invalid_point(b, q, "center point longitude", str_of(num_text(p.lon).s), em);
        }
    } else if (q->validation == GEO_COERCE && !isnan(p.lat) && !isnan(p.lon)) {
        p = geo_point_normalise(p);
    }
    if ((e = geo_point_bounds(p, em)) != ERR_OK) {
        return e;
    }
    own->lat = p.lat;
    own->lon = p.lon;
    own->distance_m = q->metres;
    return ERR_OK;
}

static enum err build_polygon(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_geo *q = (const struct dsl_geo *)(const void *)d;
    struct geo_area *own;
    enum err e = geo_node(b, q, AREA_POLYGON, &own, out, em);
    if (e != ERR_OK || own == NULL) {
        return e;
    }
    struct geo_corner *v = ARENA_ARRAY(b->arena, struct geo_corner, q->n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < q->n; i++) {
        struct geo_point p = q->points[i];
        if (q->validation == GEO_STRICT && (!geo_lat_ok(p.lat) || !geo_lon_ok(p.lon))) {
            bool lat = !geo_lat_ok(p.lat);
            return err_query_shard(b, em, "illegal %s value [%s] for [geo_polygon]",
                                   lat ? "latitude" : "longitude", num_text(lat ? p.lat : p.lon).s);
        }
        p = q->validation == GEO_STRICT ? p : geo_point_normalise(p);
        v[i] = (struct geo_corner){p.lat, p.lon};
    }
    own->corners = v;
    own->n = (uint32_t)q->n;
    return ERR_OK;
}

const struct dsl_type dsl_geo_bounding_box = {
    .name = "geo_bounding_box", .parse = parse_box, .build = build_box};
const struct dsl_type dsl_geo_distance = {
    .name = "geo_distance", .parse = parse_distance, .build = build_distance};
const struct dsl_type dsl_geo_polygon = {
    .name = "geo_polygon", .parse = parse_polygon, .build = build_polygon};
