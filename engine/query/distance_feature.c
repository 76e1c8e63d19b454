/* distance_feature: the nearer a value is to an origin, the higher the score. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"

#include <float.h>

static void distance_print(const struct query *q, struct buf *out)
{
    if (q->field->type == FT_GEO_POINT) {
        buf_z(out, "LatLonPointDistanceFeatureQuery(field=,originLat=");
        num_put_double(out, q->distance_feature.origin_lat);
        buf_z(out, ",originLon=");
        num_put_double(out, q->distance_feature.origin_lon);
        buf_z(out, ",pivotDistance=");
        num_put_double(out, q->distance_feature.pivot);
        buf_char(out, ')');
        return;
    }
    buf_printf(out, "LongDistanceFeatureQuery(field=,origin=%lld,pivotDistance=%lld)",
               (long long)q->distance_feature.origin, (long long)q->distance_feature.pivot);
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
        if (q->field->type == FT_GEO_POINT) {
            struct geo_point p = geo_unpack(v);
            x = geo_arc(q->distance_feature.origin_lat, q->distance_feature.origin_lon, p.lat, p.lon);
        } else {
            x = (double)v - q->distance_feature.origin;
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
    return (float)((double)d->boost * (q->distance_feature.pivot / (q->distance_feature.pivot + best)));
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
    num_column_open(&d->column, f);
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
    if (q->field->type != FT_GEO_POINT) {
        x = explain_add(a, x, explain_whole(a, (int64_t)q->distance_feature.pivot, "pivotDistance"));
        x = explain_add(a, x, explain_whole(a, (int64_t)q->distance_feature.origin, "origin"));
        return explain_add(a, x, explain_whole(a, at, "current value"));
    }
    struct geo_point p = geo_unpack(at);
    x = explain_add(a, x, explain_double(a, q->distance_feature.pivot, "pivotDistance"));
    x = explain_add(a, x, explain_double(a, q->distance_feature.origin_lat, "originLat"));
    x = explain_add(a, x, explain_double(a, q->distance_feature.origin_lon, "originLon"));
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
    bool geo = w->query->field->type == FT_GEO_POINT;
    *out = explain_new(rq->arena, true, s->ops->score(s),
                       "Distance score, computed as weight * pivotDistance / (pivotDistance + abs(%s)) from:",
                       geo ? "distance" : "value - origin");
    *out = distance_details((struct distance_scorer *)(void *)s, rq, *out);
    return ERR_OK;
}

static const struct weight_ops distance_weight_ops = {
    .cost = distance_cost, .scorer = distance_scorer, .explain = distance_explain};

static enum err distance_weight(struct weight_shared *sh, const struct query *q, float boost,
                                enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct weight *w = weight_alloc(sh, sizeof(*w), &distance_weight_ops, q, boost, need);
    *out = w;
    return w != NULL ? ERR_OK : err_no_memory(em);
}

const struct query_ops q_distance_feature = {
    .name = "distance_feature", .print = distance_print, .weight = distance_weight};
