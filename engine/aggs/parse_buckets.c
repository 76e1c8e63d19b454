/* Definitions of aggregations with buckets: histograms and grids. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/query/geo_box.h"

#include <math.h>

/* ---- histogram ------------------------------------------------------------------------------------------------------ */

static enum err histo_interval(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_double(v, &a->histogram.interval, p->em);
    if (e == ERR_OK && !(a->histogram.interval > 0)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[interval] must be >0 for histogram aggregation [%.*s]",
                       STR_ARG(a->name));
    }
    return e;
}

static enum err histo_offset(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_double(v, &a->histogram.offset, p->em);
}

static enum err histo_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least(p, a, v, "minDocCount", 0, &a->histogram.min_doc_count);
}

static enum err histo_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->histogram.keyed, p->em);
}

static enum err histo_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &a->histogram.orders);
}

/* Both ends of bounds while they are read: the scratch of the table below. */
static enum err bound_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return v->type == JSON_NULL ? ERR_OK : jr_double(v, &a->histogram.ext_min, p->em);
}

static enum err bound_max(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return v->type == JSON_NULL ? ERR_OK : jr_double(v, &a->histogram.ext_max, p->em);
}

static const struct agg_param bound_params[] = {
    {"min", TK_INT | TK_NULL, bound_min}, {"max", TK_INT | TK_NULL, bound_max}, {NULL, 0, NULL}};

static enum err double_bounds(struct agg_parse *p, const struct json *v, double *min, double *max)
{
    struct agg scratch = {.histogram = {.ext_min = *min, .ext_max = *max}};
    enum err e = agg_params(p, &scratch, v, "double_bounds", bound_params, NULL);
    if (e != ERR_OK) {
        return e;
    }
    *min = scratch.histogram.ext_min;
    *max = scratch.histogram.ext_max;
    if (*min > *max) {
        p->at = v->end - 1;
        struct num_text low = num_text(*min), high = num_text(*max);
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "max bound [%s] must be greater than min bound [%s]", high.s,
                low.s);
        err_wrap(p->em, ERR_X_CONTENT, "Failed to build [double_bounds] after last required field arrived");
        return jr_wrap_field(p->text, p->at, "double_bounds", v->members[v->n - 1].key, p->em);
    }
    return ERR_OK;
}

static enum err histo_extended(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return double_bounds(p, v, &a->histogram.ext_min, &a->histogram.ext_max);
}

static enum err histo_hard(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return double_bounds(p, v, &a->histogram.hard_min, &a->histogram.hard_max);
}

static const struct agg_param histo_params[] = {{"interval", TK_INT, histo_interval},
                                                {"offset", TK_INT, histo_offset},
                                                {"keyed", TK_FLAG, histo_keyed},
                                                {"min_doc_count", TK_INT, histo_min},
                                                {"extended_bounds", TK_OBJECT, histo_extended},
                                                {"hard_bounds", TK_OBJECT, histo_hard},
                                                {"order", TK_OBJECT | TK_ARRAY, histo_order},
                                                {NULL, 0, NULL}};

enum err parse_histogram(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->histogram.ext_min = a->histogram.hard_min = -INFINITY;
    a->histogram.ext_max = a->histogram.hard_max = INFINITY;
    enum err e = agg_params(p, a, body, "histogram", histo_params, agg_source_params);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    return e == ERR_OK && a->histogram.orders.n == 0 ? agg_orders_make(p, NULL, 0, &a->histogram.orders) : e;
}

/* ---- date_histogram -------------------------------------------------------------------------------------------------- */

static enum err date_calendar(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_calendar_interval(p, &a->date, v);
}

static enum err date_fixed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_fixed_interval(p, &a->date, v);
}

static enum err date_interval(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_old_interval(p, &a->date, v);
}

static enum err date_offset(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_offset_parse(v, &a->date.offset_ms, p->em);
}

static enum err date_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least(p, a, v, "minDocCount", 0, &a->date.min_doc_count);
}

static enum err date_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->date.keyed, p->em);
}

static enum err date_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &a->date.orders);
}

static enum err date_bounds(struct agg_parse *p, const struct json *v, struct bound_spec *out)
{
    static const char *const known[] = {"min", "max", NULL};
    out->given = true;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        const struct json **to = str_is(m->key, "min") ? &out->min : str_is(m->key, "max") ? &out->max : NULL;
        if (to == NULL) {
            return jr_unknown_field(p->text, m->key_off, "bounds", m->key, known, p->em);
        }
        if (m->value.type == JSON_OBJECT || m->value.type == JSON_ARRAY || m->value.type == JSON_BOOL) {
            return jr_fail_xc(p->text, m->value.off, p->em,
                              "[bounds] %.*s doesn't support values of type: %s", STR_ARG(m->key),
                              json_token_name(&m->value));
        }
        *to = m->value.type != JSON_NULL ? &m->value : NULL;
    }
    return ERR_OK;
}

static enum err date_extended(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return date_bounds(p, v, &a->date.extended);
}

static enum err date_hard(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return date_bounds(p, v, &a->date.hard);
}

static const struct agg_param date_params[] = {{"calendar_interval", TK_STRING, date_calendar},
                                               {"fixed_interval", TK_STRING, date_fixed},
                                               {"interval", TK_INT, date_interval},
                                               {"offset", TK_INT, date_offset},
                                               {"keyed", TK_FLAG, date_keyed},
                                               {"min_doc_count", TK_INT, date_min},
                                               {"extended_bounds", TK_OBJECT, date_extended},
                                               {"hard_bounds", TK_OBJECT, date_hard},
                                               {"order", TK_OBJECT | TK_ARRAY, date_order},
                                               {NULL, 0, NULL}};

enum err parse_date_histogram(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, "date_histogram", date_params, agg_source_params_zone);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    return e == ERR_OK && a->date.orders.n == 0 ? agg_orders_make(p, NULL, 0, &a->date.orders) : e;
}

static enum err auto_buckets(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_int(v, &a->date.buckets, p->em);
    if (e == ERR_OK && a->date.buckets <= 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "buckets must be greater than 0 for [%.*s]",
                       STR_ARG(a->name));
    }
    return e;
}

static enum err auto_minimum(struct agg_parse *p, struct agg *a, const struct json *v)
{
    static const char *const units[] = {"second", "minute", "hour", "day", "month", "year"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_is(json_text(v), units[i])) {
            a->date.minimum_unit = (int)i;
            return ERR_OK;
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   "minimum_interval must be one of [[hour, minute, year, month, day, second]]");
}

static const struct agg_param auto_params[] = {
    {"buckets", TK_INT, auto_buckets}, {"minimum_interval", TK_STRING, auto_minimum}, {NULL, 0, NULL}};

enum err parse_auto_date(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->date.buckets = 10;
    enum err e = agg_params(p, a, body, "auto_date_histogram", auto_params, agg_source_params_zone);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    return e == ERR_OK ? agg_orders_make(p, NULL, 0, &a->date.orders) : e;
}

/* ---- grids ------------------------------------------------------------------------------------------------------------- */

/* "1000km": the geohash length whose cells are no larger. */
static enum err geohash_length(struct agg_parse *p, struct str text, int64_t *out)
{
    double metres;
    enum err e = geo_distance_parse(text, 1, &metres, p->em);
    if (e != ERR_OK) {
        return e;
    }
    static const double earth = 2 * M_PI * 6378137.0;
    int64_t n = GEOHASH_MAX;
    for (int64_t level = 1; level <= GEOHASH_MAX && metres > 0; level++) {
        double cells_x = pow(2, (double)((level * 5 + 1) / 2)), cells_y = pow(2, (double)(level * 5 / 2));
        double width = earth / cells_x, height = M_PI * 6356752.314245 / cells_y;
        if (sqrt(width * width + height * height) <= metres) {
            n = level;
            break;
        }
    }
    *out = n;
    return ERR_OK;
}

static enum err grid_precision(struct agg_parse *p, struct agg *a, const struct json *v)
{
    bool hash = a->type == &agg_geohash_grid;
    int64_t n = 0;
    enum err e;
    if (v->type == JSON_STRING && !num_parse_i64(v->s, &n) && hash) {
        e = geohash_length(p, v->s, &n);
    } else if (v->type == JSON_STRING) {
        e = num_parse_i64(v->s, &n)
                ? ERR_OK
                : err_set(p->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v->s));
    } else {
        int32_t whole = 0;
        e = jr_int(v, &whole, p->em);
        n = whole;
    }
    if (e == ERR_OK && hash && (n < 1 || n > GEOHASH_MAX)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geohash aggregation precision of %lld. Must be between 1 and 12.",
                       (long long)n);
    }
    if (e == ERR_OK && !hash && (n < 0 || n > 29)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geotile_grid precision of %lld. Must be between 0 and 29.", (long long)n);
    }
    a->grid.precision = (int32_t)n;
    return e;
}

static enum err grid_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least_int(p, a, v, "size", 1, &a->grid.size);
}

static enum err grid_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least_int(p, a, v, "shardSize", 1, &a->grid.shard_size);
}

/* A box that lacks a side bounds nothing. */
enum err agg_grid_bounds(struct agg_parse *p, struct grid_params *to, const struct json *v)
{
    struct json_pull cursor;
    struct geo_box *box = &to->box;
    if (!json_pull_init(&cursor, v, p->text, p->arena)) {
        return err_no_memory(p->em);
    }
    json_pull_next(&cursor);
    enum err e = geo_box_read(&cursor, box, p->em);
    p->at = cursor.off;
    to->bounded = !isnan(box->top) && !isnan(box->bottom) && !isnan(box->left) && !isnan(box->right);
    return e;
}

static enum err grid_bounds(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_grid_bounds(p, &a->grid, v);
}

static const struct agg_param grid_params[] = {{"precision", TK_INT, grid_precision},
                                               {"size", TK_INT, grid_size},
                                               {"shard_size", TK_INT, grid_shard_size},
                                               {"bounds", TK_OBJECT, grid_bounds},
                                               {NULL, 0, NULL}};

enum err parse_grid(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->grid = (struct grid_params){
        .precision = a->type == &agg_geohash_grid ? 5 : 7, .size = 10000, .shard_size = -1};
    enum err e = agg_params(p, a, body, a->type->name, grid_params, agg_field_params);
    return e == ERR_OK ? agg_need_field(p, &a->vs) : e;
}
