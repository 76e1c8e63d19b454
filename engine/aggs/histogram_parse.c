/* Definitions of histogram and date_histogram, and the intervals that others take as they do. */
#include "engine/aggs/histogram.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

/* ---- histogram ------------------------------------------------------------------------------------------- */

static enum err histo_interval(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct histogram_params *given = histogram_params(a);
    enum err e = jr_double(v, &given->interval, p->em);
    if (e == ERR_OK && !(given->interval > 0)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[interval] must be >0 for histogram aggregation [%.*s]",
                       STR_ARG(a->name));
    }
    return e;
}

static enum err histo_offset(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_double(v, &histogram_params(a)->offset, p->em);
}

static enum err histo_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least(p, a, v, "minDocCount", 0, &histogram_params(a)->min_doc_count);
}

static enum err histo_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &histogram_params(a)->keyed, p->em);
}

static enum err histo_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &histogram_params(a)->orders);
}

/* Both ends of bounds while they are read: the scratch of the table below. */
static enum err bound_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return v->type == JSON_NULL ? ERR_OK : jr_double(v, &histogram_params(a)->ext_min, p->em);
}

static enum err bound_max(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return v->type == JSON_NULL ? ERR_OK : jr_double(v, &histogram_params(a)->ext_max, p->em);
}

static const struct agg_param bound_table[] = {
    {"min", TK_INT | TK_NULL, bound_min}, {"max", TK_INT | TK_NULL, bound_max}, {NULL, 0, NULL}};

static enum err double_bounds(struct agg_parse *p, const struct json *v, double *min, double *max)
{
    struct histogram_params ends = {.ext_min = *min, .ext_max = *max};
    struct agg scratch = {.params = &ends};
    enum err e = agg_params(p, &scratch, v, "double_bounds", bound_table, NULL);
    if (e != ERR_OK) {
        return e;
    }
    *min = ends.ext_min;
    *max = ends.ext_max;
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
    struct histogram_params *given = histogram_params(a);
    return double_bounds(p, v, &given->ext_min, &given->ext_max);
}

static enum err histo_hard(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct histogram_params *given = histogram_params(a);
    return double_bounds(p, v, &given->hard_min, &given->hard_max);
}

static const struct agg_param histo_table[] = {{"interval", TK_INT, histo_interval},
                                               {"offset", TK_INT, histo_offset},
                                               {"keyed", TK_FLAG, histo_keyed},
                                               {"min_doc_count", TK_INT, histo_min},
                                               {"extended_bounds", TK_OBJECT, histo_extended},
                                               {"hard_bounds", TK_OBJECT, histo_hard},
                                               {"order", TK_OBJECT | TK_ARRAY, histo_order},
                                               {NULL, 0, NULL}};

enum err parse_histogram(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct histogram_params *given = histogram_params(a);
    given->ext_min = given->hard_min = -INFINITY;
    given->ext_max = given->hard_max = INFINITY;
    enum err e = agg_params(p, a, body, "histogram", histo_table, agg_source_params);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    return e == ERR_OK && given->orders.n == 0 ? agg_orders_make(p, NULL, 0, &given->orders) : e;
}

/* ---- intervals ------------------------------------------------------------------------------------------- */

enum err agg_offset_parse(const struct json *v, int64_t *out, struct errmsg *em)
{
    if (v->type == JSON_NUMBER) {
        return jr_long(v, out, em);
    }
    struct str s = json_text(v);
    bool minus = s.n > 0 && s.p[0] == '-';
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        s = str_slice(s, 1, s.n);
    }
    enum err e = fixed_interval_parse(s, "DateHistogramAggregationBuilder.parseOffset", out, em);
    *out = minus ? -*out : *out;
    return e;
}

static enum err interval_empty(struct agg_parse *p, const char *what)
{
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[%s] must not be null: [date_histogram]", what);
}

static enum err interval_twice(struct agg_parse *p, const char *now, const struct date_histogram_params *d)
{
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Cannot use [%s] with [%s] configuration option.", now,
                   d->calendar ? "calendar_interval" : "fixed_interval");
}

enum err agg_calendar_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v)
{
    struct str s = json_text(v);
    if (s.n == 0) {
        return interval_empty(p, "interval");
    }
    if (!date_unit_of(s, &d->unit)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "The supplied interval [%.*s] could not be parsed as a calendar interval.",
                       STR_ARG(s));
    }
    if (d->has_interval) {
        return interval_twice(p, "calendar_interval", d);
    }
    d->has_interval = d->calendar = true;
    return ERR_OK;
}

enum err agg_fixed_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v)
{
    int64_t ms;
    if (json_text(v).n == 0) {
        return interval_empty(p, "interval");
    }
    enum err e = fixed_interval_parse(json_text(v), "date_histogram.fixedInterval", &ms, p->em);
    if (e != ERR_OK) {
        return e;
    }
    if (d->has_interval) {
        return interval_twice(p, "fixed_interval", d);
    }
    d->has_interval = true;
    d->fixed_ms = ms;
    return ERR_OK;
}

/* `interval` of before 7.2: a calendar unit, else a fixed length. */
enum err agg_old_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v)
{
    if (d->has_interval) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot use [interval] with [fixed_interval] or [calendar_interval] configuration "
                       "options.");
    }
    d->has_interval = true;
    if (v->type == JSON_NUMBER) {
        enum err e = jr_long(v, &d->fixed_ms, p->em);
        return e != ERR_OK || d->fixed_ms >= 1
                   ? e
                   : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                             "[interval] must be 1 or greater for aggregation [date_histogram]");
    }
    if (json_text(v).n == 0) {
        return interval_empty(p, "dateHistogramInterval");
    }
    d->calendar = date_unit_of(json_text(v), &d->unit);
    /* a text that is neither is refused by the shards */
    d->bad_interval =
        !d->calendar && fixed_interval_parse(json_text(v), "interval", &d->fixed_ms, NULL) != ERR_OK
            ? json_text(v)
            : STR_NULL;
    return ERR_OK;
}

/* ---- date_histogram -------------------------------------------------------------------------------------- */

static enum err date_calendar(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_calendar_interval(p, date_histogram_params(a), v);
}

static enum err date_fixed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_fixed_interval(p, date_histogram_params(a), v);
}

static enum err date_interval(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_old_interval(p, date_histogram_params(a), v);
}

static enum err date_offset(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_offset_parse(v, &date_histogram_params(a)->offset_ms, p->em);
}

static enum err date_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_at_least(p, a, v, "minDocCount", 0, &date_histogram_params(a)->min_doc_count);
}

static enum err date_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &date_histogram_params(a)->keyed, p->em);
}

static enum err date_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &date_histogram_params(a)->orders);
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
    return date_bounds(p, v, &date_histogram_params(a)->extended);
}

static enum err date_hard(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return date_bounds(p, v, &date_histogram_params(a)->hard);
}

static const struct agg_param date_table[] = {{"calendar_interval", TK_STRING, date_calendar},
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
    struct date_histogram_params *given = date_histogram_params(a);
    enum err e = agg_params(p, a, body, "date_histogram", date_table, agg_source_params_zone);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    return e == ERR_OK && given->orders.n == 0 ? agg_orders_make(p, NULL, 0, &given->orders) : e;
}
