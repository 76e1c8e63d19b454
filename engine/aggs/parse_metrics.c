/* Definitions of metrics. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"

#include <math.h>
#include <stdlib.h>

static const struct agg_param no_params[] = {{NULL, 0, NULL}};

enum err parse_metric(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, a->type->name, no_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

static enum err stats_sigma(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_double(v, &a->stats.sigma, p->em);
    if (e == ERR_OK && a->stats.sigma < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[sigma] must be greater than or equal to 0. Found [%s] in [%.*s]",
                       num_text(a->stats.sigma).s, STR_ARG(a->name));
    }
    return e;
}

static const struct agg_param stats_params[] = {{"sigma", TK_INT, stats_sigma}, {NULL, 0, NULL}};

enum err parse_stats(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->stats.sigma = 2;
    enum err e = agg_params(p, a, body, a->type->name, stats_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

static enum err cardinality_threshold(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_long(v, &a->cardinality.threshold, p->em);
    if (e == ERR_OK && a->cardinality.threshold < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[precisionThreshold] must be greater than or equal to 0. Found [%lld] in [%.*s]",
                       (long long)a->cardinality.threshold, STR_ARG(a->name));
    }
    return e;
}

static enum err cardinality_rehash(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)a;
    int64_t ignored; /* without effect since Elasticsearch 2, and read as a number */
    return jr_long(v, &ignored, p->em);
}

static const struct agg_param cardinality_params[] = {{"precision_threshold", TK_INT, cardinality_threshold},
                                                      {"rehash", TK_INT, cardinality_rehash},
                                                      {NULL, 0, NULL}};

enum err parse_cardinality(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->cardinality.threshold = -1;
    enum err e = agg_params(p, a, body, "cardinality", cardinality_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- percentiles --------------------------------------------------------------------------------------- */

/* What the parser remembers until the whole definition is read. */
struct pct_state {
    bool list_given, tdigest_given;
};

static enum err pct_list(struct agg_parse *p, struct agg *a, const struct json *v)
{
    uint32_t n = agg_items(v);
    double *list = ARENA_ARRAY(p->arena, double, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *item;
        enum err e = agg_item(p, v, i, &item);
        e = e == ERR_OK ? jr_double(item, &list[i], p->em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    a->percentiles.v = list;
    a->percentiles.n = n;
    return ERR_OK;
}

static enum err pct_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->percentiles.keyed, p->em);
}

static enum err pct_compression(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_double(v, &a->percentiles.compression, p->em);
    if (e == ERR_OK && a->percentiles.compression < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[compression] must be greater than or equal to 0. Found [%s]",
                       num_text(a->percentiles.compression).s);
    }
    return e;
}

static enum err pct_digits(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_int(v, &a->percentiles.digits, p->em);
    if (e == ERR_OK && (a->percentiles.digits < 0 || a->percentiles.digits > 5)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[numberOfSignificantValueDigits] must be between 0 and 5");
    }
    return e;
}

static const struct agg_param tdigest_params[] = {{"compression", TK_INT, pct_compression}, {NULL, 0, NULL}};
static const struct agg_param hdr_params[] = {{"number_of_significant_value_digits", TK_INT, pct_digits},
                                              {NULL, 0, NULL}};

static enum err pct_tdigest(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_params(p, a, v, "tdigest", tdigest_params, NULL);
}

static enum err pct_hdr(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->percentiles.hdr = true;
    return agg_params(p, a, v, "hdr", hdr_params, NULL);
}

static const struct agg_param percentiles_params[] = {{"percents", TK_ARRAY | TK_INT, pct_list},
                                                      {"keyed", TK_FLAG, pct_keyed},
                                                      {"tdigest", TK_OBJECT, pct_tdigest},
                                                      {"TDigest", TK_OBJECT, pct_tdigest},
                                                      {"hdr", TK_OBJECT, pct_hdr},
                                                      {NULL, 0, NULL}};
static const struct agg_param ranks_params[] = {{"values", TK_ARRAY | TK_INT, pct_list},
                                                {"keyed", TK_FLAG, pct_keyed},
                                                {"tdigest", TK_OBJECT, pct_tdigest},
                                                {"TDigest", TK_OBJECT, pct_tdigest},
                                                {"hdr", TK_OBJECT, pct_hdr},
                                                {NULL, 0, NULL}};

static enum err mad_compression(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_double(v, &a->percentiles.compression, p->em);
    if (e == ERR_OK && !(a->percentiles.compression > 0)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[compression] must be greater than 0. Found [%s] in [%.*s]",
                       num_text(a->percentiles.compression).s, STR_ARG(a->name));
    }
    return e;
}

static const struct agg_param mad_params[] = {{"compression", TK_INT, mad_compression}, {NULL, 0, NULL}};

static enum err pct_refuse(struct agg_parse *p, const struct agg *a)
{
    return err_wrap(p->em, ERR_X_CONTENT, "Failed to build [%s] after last required field arrived",
                    a->type->name);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static enum err pct_finish(struct agg_parse *p, struct agg *a, bool given)
{
    static const double defaults[] = {1, 5, 25, 50, 75, 95, 99};
    struct percentiles_params *q = &a->percentiles;
    bool ranks = a->type == &agg_percentile_ranks;
    if (!given && ranks) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[values] must not be null: [%.*s]", STR_ARG(a->name));
        return pct_refuse(p, a);
    }
    if (!given) {
        q->v = defaults;
        q->n = ARRAY_LEN(defaults);
        return ERR_OK;
    }
    if (q->n == 0) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                ranks ? "[values] must not be an empty array: [%.*s]"
                      : "[percents] must not be empty: [%.*s]",
                STR_ARG(a->name));
        return pct_refuse(p, a);
    }
    double *sorted = ARENA_ARRAY(p->arena, double, q->n);
    if (sorted == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < q->n; i++) {
        sorted[i] = q->v[i];
        if (!ranks && !(sorted[i] >= 0 && sorted[i] <= 100)) {
            err_set(p->em, ERR_ILLEGAL_ARGUMENT, "percent must be in [0,100], got [%s]: [%.*s]",
                    num_text(sorted[i]).s, STR_ARG(a->name));
            return pct_refuse(p, a);
        }
    }
    sort_items(sorted, q->n, sizeof(*sorted), by_value);
    q->v = sorted;
    return ERR_OK;
}

enum err parse_percentiles(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->percentiles = (struct percentiles_params){.keyed = true, .compression = 100, .digits = 3};
    bool mad = a->type == &agg_median_absolute_deviation, ranks = a->type == &agg_percentile_ranks;
    if (mad) {
        a->percentiles.compression = 1000;
    }
    enum err e = agg_params(p, a, body, a->type->name,
                            mad     ? mad_params
                            : ranks ? ranks_params
                                    : percentiles_params,
                            agg_source_params);
    bool given = json_get(body, ranks ? "values" : "percents") != NULL;
    if (e == ERR_OK && a->percentiles.hdr && json_get(body, "tdigest") != NULL) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Only one percentiles method should be declared.");
        return pct_refuse(p, a);
    }
    e = e == ERR_OK && !mad ? pct_finish(p, a, given) : e;
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- weighted_avg, geo_bounds, top_hits ---------------------------------------------------------------- */

static enum err config_missing(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->vs.missing = v->type != JSON_NULL ? v : NULL;
    return ERR_OK;
}

static const struct agg_param field_config_params[] = {{"field", TK_STRING, agg_set_field},
                                                       {"missing", TK_VALUE, config_missing},
                                                       {"script", TK_SCRIPT, agg_set_script},
                                                       {"time_zone", TK_INT, agg_set_zone},
                                                       {NULL, 0, NULL}};

static enum err field_config(struct agg_parse *p, const struct json *v, struct source_spec *s)
{
    struct agg scratch = {.vs = *s};
    enum err e = agg_params(p, &scratch, v, "field_config", field_config_params, NULL);
    *s = scratch.vs;
    p->at = v->end - 1;
    if (e != ERR_OK || (s->field.n > 0) != (s->script != NULL)) {
        return e;
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   s->field.n > 0
                       ? "[field] and [script] cannot both be configured.  Please specify one or the other."
                       : "[field] and [script] cannot both be null.  Please specify one or the other.");
}

static enum err weighted_value(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->weighted.has_value = true;
    return field_config(p, v, &a->vs);
}

static enum err weighted_weight(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->weighted.has_weight = true;
    return field_config(p, v, &a->weighted.weight);
}

static const struct agg_param weighted_params[] = {
    {"value", TK_OBJECT, weighted_value},   {"weight", TK_OBJECT, weighted_weight},
    {"format", TK_STRING, agg_set_format},  {"value_type", TK_STRING, agg_set_type},
    {"valueType", TK_STRING, agg_set_type}, {NULL, 0, NULL}};

enum err parse_weighted(struct agg_parse *p, struct agg *a, const struct json *body)
{
    return agg_params(p, a, body, "weighted_avg", weighted_params, NULL);
}

static enum err bounds_wrap(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->geo_bounds.wrap, p->em);
}

static const struct agg_param bounds_params[] = {{"wrap_longitude", TK_FLAG, bounds_wrap}, {NULL, 0, NULL}};

enum err parse_geo_bounds(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->geo_bounds.wrap = true;
    enum err e = agg_params(p, a, body, "geo_bounds", bounds_params, agg_field_params);
    return e == ERR_OK ? agg_need_field(p, &a->vs) : e;
}

/* top_hits takes the part of a search's body that shapes hits. */
enum err parse_top_hits(struct agg_parse *p, struct agg *a, const struct json *body)
{
    static const char *const taken[] = {"from",          "size",
                                        "version",       "seq_no_primary_term",
                                        "explain",       "track_scores",
                                        "_source",       "stored_fields",
                                        "sort",          "docvalue_fields",
                                        "script_fields", "fields",
                                        "highlight",     NULL};
    struct search_source *s = ARENA_NEW(p->arena, struct search_source);
    if (s == NULL) {
        return err_no_memory(p->em);
    }
    search_source_init(s);
    s->size = 3;
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        bool ok = false;
        for (size_t k = 0; taken[k] != NULL; k++) {
            ok |= str_is(m->key, taken[k]);
        }
        if (!ok) {
            return jr_fail(p->text, m->value.off, p->em, "Unknown key for a %s in [%.*s].",
                           json_token_name(&m->value), STR_ARG(m->key));
        }
        int32_t n;
        bool from = str_is(m->key, "from");
        if ((from || str_is(m->key, "size")) && m->value.type == JSON_NUMBER) {
            enum err e = jr_int(&m->value, &n, p->em);
            if (e == ERR_OK && n < 0) {
                e = err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                            "[%.*s] must be greater than or equal to 0. Found [%d] in [%.*s]",
                            STR_ARG(m->key), n, STR_ARG(a->name));
            }
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    a->top_hits.source = s;
    const struct json *scripts = json_get(body, "script_fields");
    for (uint32_t i = 0; json_is(scripts, JSON_OBJECT) && i < scripts->n; i++) {
        const struct json *v = &scripts->members[i].value;
        if (v->type != JSON_OBJECT) {
            return jr_fail(p->text, v->off, p->em,
                           "Expected [START_OBJECT] in [script_fields] but found [%s]", json_token_name(v));
        }
    }
    return search_source_parse(s, body, p->text, p->arena, p->em);
}
