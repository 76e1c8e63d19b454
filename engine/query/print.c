/* Queries as Lucene's toString() prints them. */
#include "common/base/inet.h"
#include "common/base/num.h"
#include "engine/query/print_terms.h"
#include "engine/query/query_ops.h"

static void print(const struct query *q, struct buf *out);

static void print_float(struct buf *out, float v)
{
    num_put_float(out, v);
}

static void print_field(const struct query *q, struct buf *out)
{
    buf_str(out, q->field_name);
    buf_char(out, ':');
}

/* A value of a numeric field. */
static void print_num(const struct query *q, int64_t v, struct buf *out)
{
    enum field_type t = q->field != NULL ? q->field->type : FT_LONG;
    if (t == FT_DOUBLE) {
        num_put_double(out, num_to_double(v));
    } else if (t == FT_FLOAT || t == FT_HALF_FLOAT) {
        print_float(out, num_to_float(v));
    } else {
        buf_i64(out, v);
    }
}

static void print_term_range(const struct query *q, struct buf *out)
{
    print_field(q, out);
    buf_char(out, q->term_range.lo_inclusive ? '[' : '{');
    if (q->term_range.lo.p == NULL) {
        buf_char(out, '*');
    } else {
        query_print_bytes(q, q->term_range.lo, out);
    }
    buf_z(out, " TO ");
    if (q->term_range.hi.p == NULL) {
        buf_char(out, '*');
    } else {
        query_print_bytes(q, q->term_range.hi, out);
    }
    buf_char(out, q->term_range.hi_inclusive ? ']' : '}');
}

/* A slot of a SpanNearQuery: a term, or several; those of the last one are another field's. */
static void print_span(const struct query *q, uint32_t slot, struct buf *out)
{
    const struct phrase_term *t = &q->phrase.v[slot];
    bool masked = slot == q->phrase.n - 1;
    buf_z(out, t->n > 1 ? "spanOr([" : "");
    for (uint32_t k = 0; k < t->n; k++) {
        buf_z(out, k > 0 ? ", " : "");
        buf_printf(out, masked ? "mask(%.*s:" : "%.*s:",
                   STR_ARG(masked ? q->phrase.last_field->path : q->field_name));
        buf_str(out, t->terms[k]);
        if (masked) {
            buf_printf(out, ") as %.*s", STR_ARG(q->field_name));
        }
    }
    buf_z(out, t->n > 1 ? "])" : "");
}

static void print_spans(const struct query *q, struct buf *out)
{
    buf_z(out, "spanNear([");
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        int32_t gap = i > 0 ? q->phrase.v[i].position - q->phrase.v[i - 1].position - 1 : 0;
        buf_z(out, i > 0 ? ", " : "");
        if (gap > 0) {
            buf_printf(out, "SpanGap(:%d), ", (int)gap);
        }
        print_span(q, i, out);
    }
    buf_z(out, "], 0, true)");
}

static void print_phrase(const struct query *q, struct buf *out)
{
    int32_t last = q->phrase.n > 0 ? q->phrase.v[0].position : 0;
    if (q->phrase.last_field != NULL) {
        print_spans(q, out);
        return;
    }
    print_field(q, out);
    buf_char(out, '"');
    for (uint32_t i = 0; i < q->phrase.n; i++) {
        const struct phrase_term *t = &q->phrase.v[i];
        if (i > 0) {
            buf_char(out, ' ');
            for (; last + 1 < t->position && !q->phrase.prefix_last; last++) {
                buf_z(out, "? ");
            }
        }
        last = t->position;
        if (t->n > 1) {
            buf_char(out, '(');
        }
        for (uint32_t k = 0; k < t->n; k++) {
            if (k > 0) {
                buf_char(out, ' ');
            }
            buf_str(out, t->terms[k]);
            buf_z(out, q->phrase.prefix_last && i == q->phrase.n - 1 ? "*" : "");
        }
        if (t->n > 1) {
            buf_char(out, ')');
        }
    }
    buf_char(out, '"');
    if (q->phrase.slop != 0) {
        buf_printf(out, "~%u", q->phrase.slop);
    }
}

static bool in_parens(const struct query *q)
{
    return q->ops == &q_bool && q->boolean.common == NULL && q->boost == 1;
}

static void print_common(const struct query *q, struct buf *out)
{
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        query_print(q->boolean.v[i].query, out);
    }
}

static void print_bool(const struct query *q, struct buf *out)
{
    static const char *const marks[] = {"+", "#", "", "-"};
    if (q->boolean.common != NULL) {
        print_common(q, out);
        return;
    }
    if (q->boolean.min_should > 0) {
        buf_char(out, '(');
    }
    for (uint32_t i = 0; i < q->boolean.n; i++) {
        const struct query *c = q->boolean.v[i].query;
        enum bool_occur occur = q->boolean.v[i].occur;
        bool bare = terms_as_clauses(c) && (occur == OCCUR_FILTER || occur == OCCUR_MUST_NOT);
        bool parens = bare || in_parens(c);
        if (i > 0) {
            buf_char(out, ' ');
        }
        buf_z(out, marks[occur]);
        if (parens) {
            buf_char(out, '(');
        }
        if (bare) {
            query_print_terms(c, true, out);
        } else {
            query_print(c, out);
        }
        if (parens) {
            buf_char(out, ')');
        }
    }
    if (q->boolean.min_should > 0) {
        buf_printf(out, ")~%d", q->boolean.min_should);
    }
}

static void print_dis_max(const struct query *q, struct buf *out)
{
    buf_char(out, '(');
    for (uint32_t i = 0; i < q->dis_max.n; i++) {
        const struct query *c = q->dis_max.v[i];
        bool parens = in_parens(c);
        buf_z(out, i > 0 ? " | " : "");
        buf_z(out, parens ? "(" : "");
        query_print(c, out);
        buf_z(out, parens ? ")" : "");
    }
    buf_char(out, ')');
    if (q->dis_max.tie_breaker != 0) {
        buf_char(out, '~');
        print_float(out, q->dis_max.tie_breaker);
    }
}

static void print_synonyms(const struct query *q, struct buf *out)
{
    buf_z(out, "Synonym(");
    for (uint32_t i = 0; i < q->terms.n; i++) {
        if (i > 0) {
            buf_char(out, ' ');
        }
        print_field(q, out);
        buf_str(out, q->terms.v[i]);
    }
    buf_char(out, ')');
}

static void print_numbers(const struct query *q, struct buf *out)
{
    print_field(q, out);
    if (q->ops == &q_num_range) {
        buf_char(out, '[');
        print_num(q, q->num.lo, out);
        buf_z(out, " TO ");
        print_num(q, q->num.hi, out);
        buf_char(out, ']');
        return;
    }
    buf_char(out, '{');
    for (uint32_t i = 0; i < q->num.n; i++) {
        if (i > 0) {
            buf_char(out, ' ');
        }
        print_num(q, q->num.v[i], out);
    }
    buf_char(out, '}');
}

static void print_pattern(const struct query *q, struct buf *out)
{
    print_field(q, out);
    switch (q->ops->kind) {
    case KIND_prefix:
        buf_str(out, q->multi.pattern);
        buf_char(out, '*');
        return;
    case KIND_regexp:
        buf_char(out, '/');
        buf_str(out, q->multi.pattern);
        buf_char(out, '/');
        return;
    case KIND_fuzzy:
        buf_str(out, q->multi.pattern);
        buf_printf(out, "~%u", q->multi.max_edits);
        return;
    default:
        buf_str(out, q->multi.pattern);
    }
}

static void print_exists(const struct query *q, struct buf *out)
{
    const struct field *f = q->field;
    if (f != NULL && !f->doc_values && f->type == FT_TEXT && f->norms) {
        buf_printf(out, "NormsFieldExistsQuery [field=%.*s]", STR_ARG(q->field_name));
    } else if (f == NULL || f->doc_values) { /* without a field: a column of every document */
        buf_printf(out, "DocValuesFieldExistsQuery [field=%.*s]", STR_ARG(q->field_name));
    } else {
        buf_printf(out, "_field_names:%.*s", STR_ARG(q->field_name));
    }
}

static void print_corners(const struct query *q, struct buf *out)
{
    for (uint32_t i = 0; i < q->geo.n; i++) {
        buf_char(out, '[');
        num_put_double(out, q->geo.corners[i].lat);
        buf_z(out, ", ");
        num_put_double(out, q->geo.corners[i].lon);
        buf_z(out, "] ");
    }
}

static void print_geo(const struct query *q, struct buf *out)
{
    if (q->ops == &q_geo_distance) {
        print_field(q, out);
        num_put_double(out, q->geo.lat);
        buf_char(out, ',');
        num_put_double(out, q->geo.lon);
        buf_z(out, " +/- ");
        num_put_double(out, q->geo.distance_m);
        buf_z(out, " meters");
        return;
    }
    if (q->ops == &q_geo_box) {
        print_field(q, out);
        buf_char(out, '[');
        num_put_double(out, geo_decode_lat(geo_encode_lat_ceil(q->geo.bottom)));
        buf_z(out, " TO ");
        num_put_double(out, geo_decode_lat(geo_encode_lat(q->geo.top)));
        buf_z(out, "],[");
        num_put_double(out, geo_decode_lon(geo_encode_lon_ceil(q->geo.left)));
        buf_z(out, " TO ");
        num_put_double(out, geo_decode_lon(geo_encode_lon(q->geo.right)));
        buf_char(out, ']');
        return;
    }
    buf_printf(out, "LatLonPointQuery: field=%.*s:[", STR_ARG(q->field_name));
    print_corners(q, out);
    buf_z(out, ",]");
}

static void print_functions(const struct query *q, struct buf *out)
{
    static const char *const names[] = {"WeightFactorFunction", "FieldValueFactorFunction",
                                        "RandomScoreFunction", "script", "DecayFunction"};
    buf_z(out, "function score (");
    query_print(q->function_score.child, out);
    buf_z(out, ", functions: [");
    for (uint32_t i = 0; i < q->function_score.n; i++) {
        const struct score_function *f = &q->function_score.v[i];
        if (f->kind == FUNC_SCRIPT && f->filter == NULL && !f->has_weight) {
            buf_z(out, "{script");
            query_print_script(f->form, out);
            buf_char(out, '}');
            continue;
        }
        buf_printf(out, "{%s}",
                   f->filter != NULL ? "FilterScoreFunction"
                   : f->has_weight   ? "WeightFactorFunction"
                                     : names[f->kind]);
    }
    buf_z(out, "])");
}

static void print_blended(const struct query *q, struct buf *out)
{
    buf_z(out, "blended(terms:[");
    for (uint32_t i = 0; i < q->blended.n; i++) {
        const struct blended_term *t = &q->blended.v[i];
        buf_printf(out, "%s%.*s:%.*s", i > 0 ? ", " : "", STR_ARG(t->field->path), STR_ARG(t->term));
        if (t->boost != 1) {
            buf_char(out, '^');
            print_float(out, t->boost);
        }
    }
    buf_z(out, "])");
}

static void print_range_field(const struct query *q, struct buf *out)
{
    print_field(q, out);
    buf_z(out, "<ranges:[");
    enum field_type t = q->field->type;
    if (t == FT_IP_RANGE) {
        buf_char(out, '/');
        query_print_address(q->range_field.ip_lo, out);
        buf_z(out, " : /");
        query_print_address(q->range_field.ip_hi, out);
    } else if (t == FT_DOUBLE_RANGE) {
        num_put_double(out, num_to_double(q->range_field.lo));
        buf_z(out, " : ");
        num_put_double(out, num_to_double(q->range_field.hi));
    } else if (t == FT_FLOAT_RANGE) {
        print_float(out, num_to_float(q->range_field.lo));
        buf_z(out, " : ");
        print_float(out, num_to_float(q->range_field.hi));
    } else {
        buf_i64(out, q->range_field.lo);
        buf_z(out, " : ");
        buf_i64(out, q->range_field.hi);
    }
    buf_z(out, "]>");
}

static void print_wrapping(const struct query *q, struct buf *out)
{
    switch (q->ops->kind) {
    case KIND_constant:
        buf_z(out, "ConstantScore(");
        if (terms_as_clauses(q->one.child)) {
            query_print_terms(q->one.child, true, out);
        } else {
            query_print(q->one.child, out);
        }
        buf_char(out, ')');
        return;
    case KIND_boosting:
        buf_z(out, "FunctionScoreQuery(");
        query_print(q->boosting.positive, out);
        buf_z(out, ", scored by boost(queryboost(score(");
        query_print(q->boosting.negative, out);
        buf_z(out, "))^");
        print_float(out, q->boosting.negative_boost);
        buf_z(out, "))");
        return;
    case KIND_script_score:
        buf_z(out, "script_score (");
        query_print(q->script.child, out);
        buf_z(out, ", script: {");
        query_print_script(q->script.form, out);
        buf_char(out, '}');
        return;
    case KIND_script:
        buf_z(out, "ScriptQuery(");
        query_print_script(q->script.form, out);
        buf_char(out, ')');
        return;
    case KIND_nested:
        buf_z(out, "ToParentBlockJoinQuery (");
        query_print(q->nested.filtered != NULL ? q->nested.filtered : q->nested.child, out);
        buf_char(out, ')');
        return;
    default:
        query_print(q->one.child, out); /* q_boost: its boost is printed around it */
    }
}

static void print_distance(const struct query *q, struct buf *out)
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

static void print_term(const struct query *q, struct buf *out)
{
    if (str_is(q->field_name, "_nested_path")) { /* as Elasticsearch 7 indexes it */
        buf_z(out, "_type:__");
    } else {
        print_field(q, out);
    }
    buf_str(out, q->term.term);
}

static void print_slice(const struct query *q, struct buf *out)
{
    buf_printf(out, "SliceQuery[field=%.*s, id=%d, max=%d]", STR_ARG(q->field_name), (int)q->slice.id,
               (int)q->slice.max);
}

static void print(const struct query *q, struct buf *out)
{
    switch (q->ops->kind) {
    case KIND_match_all:
        buf_z(out, "*:*");
        return;
    case KIND_slice:
        print_slice(q, out);
        return;
    case KIND_match_none:
        buf_printf(out, "MatchNoDocsQuery(\"%.*s\")", STR_ARG(q->none.reason));
        return;
    case KIND_term:
        print_term(q, out);
        return;
    case KIND_terms:
    case KIND_ids:
        query_print_terms(q, false, out);
        return;
    case KIND_synonym:
        print_synonyms(q, out);
        return;
    case KIND_phrase:
        print_phrase(q, out);
        return;
    case KIND_spans:
        span_print(q->spans.root, q->field_name, out);
        return;
    case KIND_prefix:
    case KIND_wildcard:
    case KIND_regexp:
    case KIND_fuzzy:
        print_pattern(q, out);
        return;
    case KIND_term_range:
        print_term_range(q, out);
        return;
    case KIND_num_range:
    case KIND_num_set:
        print_numbers(q, out);
        return;
    case KIND_range_field:
        print_range_field(q, out);
        return;
    case KIND_geo_box:
    case KIND_geo_distance:
    case KIND_geo_polygon:
        print_geo(q, out);
        return;
    case KIND_exists:
        print_exists(q, out);
        return;
    case KIND_bool:
        print_bool(q, out);
        return;
    case KIND_dis_max:
        print_dis_max(q, out);
        return;
    case KIND_function_score:
        print_functions(q, out);
        return;
    case KIND_distance_feature:
        print_distance(q, out);
        return;
    case KIND_blended:
        print_blended(q, out);
        return;
    case KIND_constant:
    case KIND_boost:
    case KIND_boosting:
    case KIND_script_score:
    case KIND_script:
    case KIND_nested:
        print_wrapping(q, out);
        return;
    }
}

/* A float's bits, in the order of the numbers. */
static int32_t sortable_float(float f)
{
    int32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits ^ (bits >> 31 & 0x7FFFFFFF);
}

/* The same of a float that half of the bits hold exactly. */
static int32_t sortable_half(float f)
{
    int32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    int32_t exponent = (bits >> 23 & 0xFF) - 112, mantissa = bits & 0x7FFFFF;
    int32_t half = exponent >= 31 ? 0x7C00
                   : exponent > 0 ? exponent << 10 | mantissa >> 13
                                  : (mantissa | 0x800000) >> MIN_OF(14 - exponent, 31);
    return bits < 0 ? (int16_t)((half | 0x8000) ^ 0x7FFF) : half;
}

static int64_t column_number(const struct query *q, int64_t v)
{
    return q->field->type == FT_FLOAT        ? sortable_float(num_to_float(v))
           : q->field->type == FT_HALF_FLOAT ? sortable_half(num_to_float(v))
                                             : v;
}

static void print_geo_column(const struct query *q, struct buf *out)
{
    print_field(q, out);
    if (q->ops == &q_geo_box) {
        buf_z(out, "box(minLat=");
        num_put_double(out, geo_decode_lat(geo_encode_lat_ceil(q->geo.bottom)));
        buf_z(out, ", maxLat=");
        num_put_double(out, geo_decode_lat(geo_encode_lat(q->geo.top)));
        buf_z(out, ", minLon=");
        num_put_double(out, geo_decode_lon(geo_encode_lon_ceil(q->geo.left)));
        buf_z(out, ", maxLon=");
        num_put_double(out, geo_decode_lon(geo_encode_lon(q->geo.right)));
        buf_char(out, ')');
        return;
    }
    buf_z(out, "INTERSECTS:geometries([");
    if (q->ops == &q_geo_distance) {
        buf_z(out, "CIRCLE([");
        num_put_double(out, q->geo.lat);
        buf_char(out, ',');
        num_put_double(out, q->geo.lon);
        buf_z(out, "] radius = ");
        num_put_double(out, q->geo.distance_m);
        buf_z(out, " meters)");
    } else {
        print_corners(q, out);
    }
    buf_z(out, "])");
}

void query_print_column(const struct query *q, struct buf *out)
{
    bool both = q->field != NULL && q->field->doc_values && q->field->index;
    bool fraction =
        both && q->ops == &q_num_range && q->num.lo != q->num.hi
        && (q->field->type == FT_FLOAT || q->field->type == FT_HALF_FLOAT || q->field->type == FT_DOUBLE);
    if (fraction) {
        print_field(q, out);
        buf_char(out, '[');
        buf_i64(out, column_number(q, q->num.lo));
        buf_z(out, " TO ");
        buf_i64(out, column_number(q, q->num.hi));
        buf_char(out, ']');
    } else if (both && (q->ops == &q_geo_box || q->ops == &q_geo_distance || q->ops == &q_geo_polygon)) {
        print_geo_column(q, out);
    } else {
        print(q, out);
    }
}

void query_print(const struct query *q, struct buf *out)
{
    if (q->boost == 1) {
        print(q, out);
        return;
    }
    buf_char(out, '(');
    print(q, out);
    buf_z(out, ")^");
    print_float(out, q->boost);
}
