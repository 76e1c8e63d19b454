/* distance_feature: the nearer a value is to an origin, the higher the score. */
#include "common/base/num.h"
#include "common/base/settings.h"
#include "engine/query/build.h"
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"

#include <float.h>

struct distance {
    double origin, pivot, origin_lat, origin_lon;
};

static const struct distance *own_of(const struct query *q)
{
    return q->own;
}

static void distance_print(const struct query *q, struct buf *out)
{
    if (field_is_point(q->field)) {
        buf_z(out, "LatLonPointDistanceFeatureQuery(field=,originLat=");
        num_put_double(out, own_of(q)->origin_lat);
        buf_z(out, ",originLon=");
        num_put_double(out, own_of(q)->origin_lon);
        buf_z(out, ",pivotDistance=");
        num_put_double(out, own_of(q)->pivot);
        buf_char(out, ')');
        return;
    }
    buf_printf(out, "LongDistanceFeatureQuery(field=,origin=%lld,pivotDistance=%lld)",
               (long long)own_of(q)->origin, (long long)own_of(q)->pivot);
}

/* ---- weights ---- */

struct distance_scorer {
    struct scorer base;
    struct num_column column;
    const uint64_t *present;
    uint32_t n_docs;
    const struct query *query;
    float boost;
};

static doc_id distance_from(struct scorer *s, size_t from)
{
    struct distance_scorer *d = (struct distance_scorer *)(void *)s;
    size_t at = d->present != NULL ? bits_next(d->present, from, d->n_docs) : from;
    return s->doc = at < d->n_docs ? (doc_id)at : DOC_END;
}

static doc_id distance_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : distance_from(s, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static doc_id distance_seek(struct scorer *s, doc_id target)
{
    return s->doc == DOC_END ? DOC_END : distance_from(s, target);
}

/* The distance of the document's nearest value, which is in *nearest. */
static double nearest_value(struct distance_scorer *d, doc_id doc, int64_t *nearest)
{
    const struct query *q = d->query;
    uint64_t first;
    uint32_t n = num_column_seek(&d->column, doc, &first);
    double best = DBL_MAX;
    *nearest = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = num_column_value(&d->column, first + i);
        double x;
        if (field_is_point(q->field)) {
            struct geo_point p = geo_unpack(v);
            x = geo_arc(own_of(q)->origin_lat, own_of(q)->origin_lon, p.lat, p.lon);
        } else {
            x = (double)v - own_of(q)->origin;
            x = x < 0 ? -x : x;
        }
        if (x < best) {
            best = x;
            *nearest = v;
        }
    }
    return best;
}

/* boost × pivot / (pivot + distance), of the nearest value. */
static float distance_score(struct scorer *s)
{
    struct distance_scorer *d = (struct distance_scorer *)(void *)s;
    const struct query *q = d->query;
    int64_t at;
    double best = nearest_value(d, s->doc, &at);
    return (float)((double)d->boost * (own_of(q)->pivot / (own_of(q)->pivot + best)));
}

static const struct scorer_ops distance_ops = {
    .next = distance_next, .seek = distance_seek, .score = distance_score};

static uint64_t distance_cost(const struct weight *w, const struct leaf *leaf)
{
    return segment_field(leaf->segment, w->query->field_name) != NULL ? leaf->doc_count : 0;
}

static enum err distance_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct seg_field *f = segment_field(rq->leaf->segment, w->query->field_name);
    struct distance_scorer *d = ARENA_NEW(rq->arena, struct distance_scorer);
    if (d == NULL) {
        return err_no_memory(rq->em);
    }
    num_column_init(&d->column, f);
    if (d->column.doc_count == 0 || !w->query->field->index) { /* it is the index that Lucene walks */
        return ERR_OK;
    }
    d->base = (struct scorer){&distance_ops, POSTINGS_UNPOSITIONED, d->column.doc_count};
    d->present = num_column_present(&d->column);
    d->n_docs = rq->leaf->doc_count;
    d->query = w->query;
    d->boost = w->boost;
    *out = &d->base;
    return ERR_OK;
}

/* What the score is made of, of a scorer that stands on the document. */
static struct explanation *distance_details(struct distance_scorer *d, const struct explain_request *rq,
                                            struct explanation *x)
{
    const struct query *q = d->query;
    struct arena *a = rq->arena;
    int64_t at;
    double best = nearest_value(d, rq->doc, &at);
    x = explain_add(a, x, explain_new(a, true, d->boost, "weight"));
    if (!field_is_point(q->field)) {
        x = explain_add(a, x, explain_whole(a, (int64_t)own_of(q)->pivot, "pivotDistance"));
        x = explain_add(a, x, explain_whole(a, (int64_t)own_of(q)->origin, "origin"));
        return explain_add(a, x, explain_whole(a, at, "current value"));
    }
    struct geo_point p = geo_unpack(at);
    x = explain_add(a, x, explain_double(a, own_of(q)->pivot, "pivotDistance"));
    x = explain_add(a, x, explain_double(a, own_of(q)->origin_lat, "originLat"));
    x = explain_add(a, x, explain_double(a, own_of(q)->origin_lon, "originLon"));
    x = explain_add(a, x, explain_double(a, p.lat, "current lat"));
    x = explain_add(a, x, explain_double(a, p.lon, "current lon"));
    return explain_add(a, x, explain_double(a, best, "distance"));
}

static enum err distance_explain(const struct weight *w, const struct explain_request *rq,
                                 struct explanation **out)
{
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s == NULL) {
        *out = explain_new(rq->arena, false, 0, "Document %u doesn't have a value for field %.*s", rq->doc,
                           STR_ARG(w->query->field_name));
        return ERR_OK;
    }
    bool geo = field_is_point(w->query->field);
    *out = explain_new(rq->arena, true, s->ops->score(s),
                       "Distance score, computed as weight * pivotDistance / (pivotDistance + abs(%s)) from:",
                       geo ? "distance" : "value - origin");
    *out = distance_details((struct distance_scorer *)(void *)s, rq, *out);
    return ERR_OK;
}

static const struct weight_ops distance_weight_ops = {
    .cost = distance_cost, .scorer = distance_scorer, .explain = distance_explain};

const struct query_ops q_distance_feature = {
    .name = "distance_feature", .print = distance_print, .plain_weight = &distance_weight_ops};

/* ---- as it is written ---- */

struct dsl_distance_body {
    struct dsl dsl;
    struct str field, pivot;
    const struct json *origin;
};

static enum err read_origin(struct json_pull *p, UNUSED struct arena *arena, void *base, struct errmsg *em)
{
    struct geo_point ignored;
    const struct json *v = p->value;
    bool point = p->token == TOK_START_OBJECT || p->token == TOK_START_ARRAY;
    ((struct dsl_distance_body *)base)->origin = v;
    json_pull_skip(p);
    return point ? geo_point_of_json(&ignored, v, false, em) : ERR_OK;
}

static enum err parse_distance_feature(struct json_pull *p, struct arena *arena, struct dsl **out,
                                       struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"field", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_distance_body, field), NULL},
        {"origin", OBJ_OBJECT | OBJ_ARRAY | OBJ_STRING | OBJ_NUMBER, PARAM_IGNORED, 0, read_origin},
        {"pivot", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl_distance_body, pivot), NULL},
        {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_BOOST, offsetof(struct dsl, boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
    };
    struct dsl_distance_body *q = dsl_new(out, arena, &dsl_distance_feature, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_object(p, arena, "distance_feature", fields, ARRAY_LEN(fields), q, em);
    if (e != ERR_OK) {
        return e;
    }
    const char *const names[] = {"field", "origin", "pivot"};
    const bool missing[] = {q->field.p == NULL, q->origin == NULL, q->pivot.p == NULL};
    e = dsl_required(names, missing, ARRAY_LEN(names), em);
    if (e != ERR_OK) {
        return e;
    }
    return ERR_OK;
}

/* The pivot is a distance: that of moments is a whole number. */
static enum err no_pivot(double pivot, bool whole, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, KIB);
    if (whole) {
        buf_printf(&b, "%lld", (long long)pivot);
    } else {
        num_put_double(&b, pivot);
    }
    enum err e =
        err_set(em, ERR_ILLEGAL_ARGUMENT, "pivotDistance must be > 0, got %.*s", STR_ARG(buf_view(&b)));
    buf_fini(&b);
    return e;
}

static enum err build_distance_feature(struct builder *b, const struct dsl *d, struct query **out,
                                       struct errmsg *em)
{
    const struct dsl_distance_body *q = (const struct dsl_distance_body *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    if (f == NULL) {
        return qnode_none(b, out, em, "Can't run [distance_feature] query on unmapped fields!");
    }
    struct query *n = *out = qnode_new(b, &q_distance_feature);
    struct distance *own = ARENA_NEW(b->arena, struct distance);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    n->own = own;
    n->field = f;
    n->field_name = f->path;
    enum err e;
    if (field_is_point(f)) {
        struct geo_point at;
        e = geo_point_of_json(&at, q->origin, false, em);
        if (e != ERR_OK || (e = geo_point_bounds(at, em)) != ERR_OK) {
            return e;
        }
        own->origin_lat = at.lat;
        own->origin_lon = at.lon;
        e = geo_distance_parse(q->pivot, 1, &own->pivot, em);
        return e == ERR_OK && !(own->pivot > 0) ? no_pivot(own->pivot, false, em) : e;
    }
    if (field_is_date(f)) {
        int64_t origin, pivot;
        e = field_date(b, f, json_text(q->origin), true, NULL, NULL, &origin, em);
        e = e == ERR_OK ? parse_time_ms(q->pivot, "distance_feature.pivot", &pivot, em) : e;
        if (e != ERR_OK) {
            return e;
        }
        own->origin = (double)origin;
        own->pivot = (double)pivot * (f->class->is_nanos ? 1e6 : 1);
        return pivot > 0 ? ERR_OK : no_pivot(own->pivot, true, em);
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Illegal data type of [%s]![distance_feature] query can only be run on a date, "
                   "date_nanos or geo_point field type!",
                   field_shown_type(f));
}

const struct dsl_type dsl_distance_feature = {
    .name = "distance_feature", .parse = parse_distance_feature, .build = build_distance_feature};
