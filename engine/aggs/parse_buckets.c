/* Definitions of aggregations with buckets: terms, histograms, ranges, grids. */
#include "engine/aggs/agg_int.h"

#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/query/automaton.h"

#include <math.h>

static enum err whole(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                      int64_t min, int64_t *out)
{
    enum err e = jr_long(v, out, p->em);
    if (e != ERR_OK || *out >= min) {
        return e;
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[%s] must be greater than %s0. Found [%lld] in [%.*s]", what,
                   min == 0 ? "or equal to " : "", (long long)*out, STR_ARG(a->name));
}

/* The same of those that are ints. */
static enum err whole_int(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                          int64_t min, int64_t *out)
{
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    return e == ERR_OK ? whole(p, a, v, what, min, out) : e;
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static enum err terms_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return whole_int(p, a, v, "size", 1, &a->terms.size);
}

static enum err terms_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return whole_int(p, a, v, "shardSize", 1, &a->terms.shard_size);
}

static enum err terms_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return whole(p, a, v, "minDocCount", 0, &a->terms.min_doc_count);
}

static enum err terms_shard_min(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return whole(p, a, v, "shardMinDocCount", 0, &a->terms.shard_min_doc_count);
}

static enum err terms_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &a->terms.orders);
}

static enum err terms_show_error(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->terms.show_error, p->em);
}

static enum err terms_hint(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->terms.execution_hint = json_text(v);
    return ERR_OK;
}

static enum err terms_collect_mode(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)a; /* both modes give the same answer; buckets here are cheap enough not to put them off */
    struct str s = json_text(v);
    if (str_is(s, "breadth_first") || str_is(s, "depth_first")) {
        return ERR_OK;
    }
    return err_set(p->em, ERR_PARSE, "no [collect_mode] found for value [%.*s]", STR_ARG(s));
}

static enum err include_list(struct agg_parse *p, const struct json *v, struct include_list *out)
{
    out->given = true;
    if (v->type == JSON_STRING) {
        out->regex = v->s;
        return regexp_check(v->s, REGEXP_ALL, 0, p->arena, p->em);
    }
    struct str *texts = ARENA_ARRAY(p->arena, struct str, v->n);
    const struct json **raw = ARENA_ARRAY(p->arena, const struct json *, v->n);
    if (texts == NULL || raw == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->items[i].type != JSON_STRING && v->items[i].type != JSON_NUMBER
            && v->items[i].type != JSON_BOOL) {
            return err_set(p->em, ERR_PARSE,
                           "Array elements in include/exclude clauses should be string values");
        }
        texts[i] = json_text(&v->items[i]);
        raw[i] = &v->items[i];
    }
    out->v = texts;
    out->raw = raw;
    out->n = v->n;
    return ERR_OK;
}

static enum err partitions(struct agg_parse *p, struct agg *a, const struct json *v)
{
    int32_t at = -1, of = -1;
    for (uint32_t i = 0; i < v->n; i++) {
        struct str key = v->members[i].key;
        bool is_of = str_is(key, "num_partitions");
        if (!is_of && !str_is(key, "partition")) {
            return err_set(p->em, ERR_PARSE, "Unknown parameter in Include/Exclude clause: %.*s",
                           STR_ARG(key));
        }
        enum err e = jr_int(&v->members[i].value, is_of ? &of : &at, p->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (at == -1) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Missing [partition] parameter for partition-based include");
    }
    if (of == -1) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Missing [num_partitions] parameter for partition-based include");
    }
    if (at < 0 || at >= of) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Partition must be >=0 and < numPartition which is %d",
                       of);
    }
    a->terms.partition = at;
    a->terms.partitions = of;
    return ERR_OK;
}

static enum err no_partition_exclude(struct agg_parse *p, const struct agg *a)
{
    if (a->terms.partitions > 0 && a->terms.exclude.given) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot specify any excludes when using a partition-based include");
    }
    return ERR_OK;
}

static enum err terms_include(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = v->type == JSON_OBJECT ? partitions(p, a, v) : include_list(p, v, &a->terms.include);
    return e == ERR_OK ? no_partition_exclude(p, a) : e;
}

static enum err terms_exclude(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = include_list(p, v, &a->terms.exclude);
    return e == ERR_OK ? no_partition_exclude(p, a) : e;
}

static const struct agg_param terms_params[] = {{"size", TK_INT, terms_size},
                                                {"shard_size", TK_INT, terms_shard_size},
                                                {"min_doc_count", TK_INT, terms_min},
                                                {"shard_min_doc_count", TK_INT, terms_shard_min},
                                                {"order", TK_OBJECT | TK_ARRAY, terms_order},
                                                {"show_term_doc_count_error", TK_FLAG, terms_show_error},
                                                {"execution_hint", TK_STRING, terms_hint},
                                                {"collect_mode", TK_STRING, terms_collect_mode},
                                                {"include", TK_STRING | TK_ARRAY | TK_OBJECT, terms_include},
                                                {"exclude", TK_STRING | TK_ARRAY, terms_exclude},
                                                {NULL, 0, NULL}};

enum err parse_terms(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->terms.size = 10;
    a->terms.shard_size = -1;
    a->terms.min_doc_count = 1;
    enum err e = agg_params(p, a, body, "terms", terms_params, agg_source_params);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    if (e == ERR_OK && a->terms.orders.n == 0) {
        struct agg_order count = {.by = ORDER_COUNT, .asc = false};
        e = agg_orders_make(p, &count, 1, &a->terms.orders);
    }
    return e;
}

static enum err rare_max(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = jr_long(v, &a->terms.size, p->em);
    if (e == ERR_OK && a->terms.size <= 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[max_doc_count] must be greater than 0. Found [%lld] in [%.*s]",
                       (long long)a->terms.size, STR_ARG(a->name));
    }
    if (e == ERR_OK && a->terms.size > 100) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[max_doc_count] must be smaller than 100in [%.*s]",
                       STR_ARG(a->name));
    }
    return e;
}

static enum err rare_precision(struct agg_parse *p, struct agg *a, const struct json *v)
{
    double d = 0; /* of the filter that Elasticsearch remembers frequent terms by; counts here are exact */
    enum err e = jr_double(v, &d, p->em);
    if (e == ERR_OK && d < 0.00001) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[precision] must be greater than 0.00001");
    }
    (void)a;
    return e;
}

static const struct agg_param rare_params[] = {{"max_doc_count", TK_INT, rare_max},
                                               {"precision", TK_INT, rare_precision},
                                               {"include", TK_STRING | TK_ARRAY | TK_OBJECT, terms_include},
                                               {"exclude", TK_STRING | TK_ARRAY, terms_exclude},
                                               {NULL, 0, NULL}};

enum err parse_rare_terms(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->terms.size = 1; /* the most documents that a rare term may have */
    enum err e = agg_params(p, a, body, "rare_terms", rare_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

static enum err sig_background(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->terms.background = v;
    return query_check(v, p->text, p->arena, p->em);
}

static enum err sig_flags(struct agg_parse *p, struct agg *a, const struct json *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool *to = str_is(m->key, "include_negatives")        ? &a->terms.heuristic.include_negatives
                   : str_is(m->key, "background_is_superset") ? &a->terms.heuristic.background_is_superset
                                                              : NULL;
        if (to == NULL) {
            return jr_fail_xc(p->text, m->key_off, p->em, "unknown field [%.*s]", STR_ARG(m->key));
        }
        enum err e = jr_bool(&m->value, to, p->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err sig_jlh(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->terms.heuristic.kind = HEURISTIC_JLH;
    return sig_flags(p, a, v);
}

static enum err sig_mutual(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->terms.heuristic.kind = HEURISTIC_MUTUAL;
    return sig_flags(p, a, v);
}

static enum err sig_chi(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->terms.heuristic.kind = HEURISTIC_CHI;
    return sig_flags(p, a, v);
}

static enum err sig_gnd(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->terms.heuristic.kind = HEURISTIC_GND;
    return sig_flags(p, a, v);
}

static enum err sig_percentage(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->terms.heuristic.kind = HEURISTIC_PERCENTAGE;
    return sig_flags(p, a, v);
}

static const struct agg_param sig_params[] = {{"size", TK_INT, terms_size},
                                              {"shard_size", TK_INT, terms_shard_size},
                                              {"min_doc_count", TK_INT, terms_min},
                                              {"shard_min_doc_count", TK_INT, terms_shard_min},
                                              {"execution_hint", TK_STRING, terms_hint},
                                              {"include", TK_STRING | TK_ARRAY | TK_OBJECT, terms_include},
                                              {"exclude", TK_STRING | TK_ARRAY, terms_exclude},
                                              {"background_filter", TK_OBJECT, sig_background},
                                              {"jlh", TK_OBJECT, sig_jlh},
                                              {"mutual_information", TK_OBJECT, sig_mutual},
                                              {"chi_square", TK_OBJECT, sig_chi},
                                              {"gnd", TK_OBJECT, sig_gnd},
                                              {"percentage", TK_OBJECT, sig_percentage},
                                              {NULL, 0, NULL}};

enum err parse_significant(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->terms.size = 10;
    a->terms.shard_size = -1;
    a->terms.min_doc_count = 3;
    a->terms.heuristic.background_is_superset = true;
    for (uint32_t i = 0; i < body->n;
         i++) { /* what is not a parameter is taken for the name of a heuristic */
        const struct json_member *m = &body->members[i];
        if (!agg_param_known(sig_params, m->key) && !agg_param_known(agg_source_params, m->key)) {
            jr_fail(p->text, m->value.off, p->em, "unknown field [%.*s]", STR_ARG(m->key));
            p->em->frame[0].code = ERR_NAMED_OBJECT;
            p->em->frame[0].line = p->em->frame[0].col = 0;
            return err_wrap(p->em, ERR_X_CONTENT, "[significant_terms] unknown field [%.*s]",
                            STR_ARG(m->key));
        }
    }
    enum err e = agg_params(p, a, body, "significant_terms", sig_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

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
    return whole(p, a, v, "minDocCount", 0, &a->histogram.min_doc_count);
}

static enum err histo_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->histogram.keyed, p->em);
}

static enum err histo_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_orders_parse(p, v, &a->histogram.orders);
}

static enum err double_bounds(struct agg_parse *p, const struct json *v, double *min, double *max)
{
    static const char *const known[] = {"min", "max", NULL};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        double *to = str_is(m->key, "min") ? min : str_is(m->key, "max") ? max : NULL;
        if (to == NULL) {
            return jr_unknown_field(p->text, m->key_off, "double_bounds", m->key, known, p->em);
        }
        enum err e = m->value.type == JSON_NULL ? ERR_OK : jr_double(&m->value, to, p->em);
        if (e != ERR_OK) {
            return jr_wrap_field(p->text, m->value.off, "double_bounds", m->key, p->em);
        }
    }
    if (*min > *max) {
        err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Cannot instantiate a double bound with min > max");
        err_wrap(p->em, ERR_X_CONTENT, "Failed to build [double_bounds] after last required field arrived");
        return jr_wrap_field(p->text, v->end - 1, "double_bounds", STR("max"), p->em);
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
    return whole(p, a, v, "minDocCount", 0, &a->date.min_doc_count);
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

/* ---- ranges ------------------------------------------------------------------------------------------------------------ */

static enum err one_ip_range(struct agg_parse *p, const struct json *v, struct range_spec *r)
{
    uint8_t first[INET_BYTES], last[INET_BYTES];
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        const struct json *val = m->value.type != JSON_NULL ? &m->value : NULL;
        enum err e = ERR_OK;
        if (str_is(m->key, "key")) {
            r->key = json_text(&m->value);
        } else if (str_is(m->key, "from") || str_is(m->key, "to")) {
            *(str_is(m->key, "from") ? &r->from : &r->to) = val;
            e = val != NULL ? inet_parse(json_text(val), first, p->em) : ERR_OK;
        } else if (str_is(m->key, "mask")) {
            r->mask = json_text(&m->value);
            e = inet_cidr(r->mask, first, last, p->em);
        } else {
            e = jr_fail(p->text, m->value.off, p->em, "Unexpected ip range parameter: [%.*s]",
                        STR_ARG(m->key));
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Distances: numbers, or both of them as text. */
static enum err one_distance(struct agg_parse *p, const struct json *v, struct range_spec *r)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        const struct json *val = &m->value;
        bool from = str_is(m->key, "from"), to = str_is(m->key, "to");
        if (val->type != JSON_NUMBER && val->type != JSON_STRING && val->type != JSON_NULL) {
            return jr_fail(p->text, val->off, p->em, "Failed to parse object: unexpected token [%s] found",
                           json_token_name(val));
        }
        if ((from || to) && val->type != JSON_NULL) {
            *(from ? &r->from : &r->to) = val;
        } else if (val->type == JSON_STRING && str_is(m->key, "key")) {
            r->key = json_text(val);
        } else if (val->type != JSON_NULL || !(from || to || str_is(m->key, "key"))) {
            return jr_fail(p->text, val->off, p->em, "Failed to parse object: unknown field [%.*s] found",
                           STR_ARG(m->key));
        }
    }
    double d;
    bool from_text = r->from != NULL && r->from->type == JSON_STRING,
         to_text = r->to != NULL && r->to->type == JSON_STRING;
    if (!from_text && !to_text) {
        return ERR_OK;
    }
    if (!from_text || !to_text) {
        return err_set(p->em, ERR_NULL_POINTER, "Cannot invoke \"String.trim()\" because \"in\" is null");
    }
    enum err e = jr_double(r->from, &d, p->em);
    return e == ERR_OK ? jr_double(r->to, &d, p->em) : e;
}

static enum err one_range(struct agg_parse *p, const struct json *v, struct range_spec *r)
{
    static const char *const known[] = {"key", "from", "to", NULL};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool bound = str_is(m->key, "from") || str_is(m->key, "to");
        if (str_is(m->key, "key")) {
            r->key = json_text(&m->value);
        } else if (bound && (m->value.type == JSON_NUMBER || m->value.type == JSON_STRING)) {
            *(str_is(m->key, "from") ? &r->from : &r->to) = &m->value;
        } else if (bound && m->value.type != JSON_NULL) {
            return jr_fail_xc(p->text, m->value.off, p->em, "[range] %.*s doesn't support values of type: %s",
                              STR_ARG(m->key), json_token_name(&m->value));
        } else if (!bound) {
            return jr_unknown_field(p->text, m->key_off, "range", m->key, known, p->em);
        }
    }
    return ERR_OK;
}

static enum err range_list(struct agg_parse *p, struct agg *a, const struct json *v)
{
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    struct range_spec *list = ARENA_ARRAY(p->arena, struct range_spec, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *r = v->type == JSON_ARRAY ? &v->items[i] : v;
        enum agg_kind k = a->type->kind;
        if (r->type != JSON_OBJECT && k == AGG_GEO_DISTANCE && v->type == JSON_ARRAY) {
            bool last = i + 1 == n;
            return jr_fail(p->text, last ? v->end - 1 : v->items[i + 1].off, p->em,
                           "Failed to parse object: unexpected token [%s] found",
                           last ? "END_ARRAY" : json_token_name(&v->items[i + 1]));
        }
        if (r->type != JSON_OBJECT) {
            return jr_fail_xc(p->text, r->off, p->em, "[range] Expected START_OBJECT but was: %s",
                              json_token_name(r));
        }
        enum err e = k == AGG_IP_RANGE       ? one_ip_range(p, r, &list[i])
                     : k == AGG_GEO_DISTANCE ? one_distance(p, r, &list[i])
                                             : one_range(p, r, &list[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    a->range.v = list;
    a->range.n = n;
    return ERR_OK;
}

static enum err range_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &a->range.keyed, p->em);
}

static const struct agg_param range_params[] = {
    {"ranges", TK_ARRAY | TK_OBJECT, range_list}, {"keyed", TK_FLAG, range_keyed}, {NULL, 0, NULL}};

enum err parse_range(struct agg_parse *p, struct agg *a, const struct json *body)
{
    bool zone = a->type->kind == AGG_DATE_RANGE;
    enum err e = agg_params(p, a, body, a->type->name, range_params,
                            zone ? agg_source_params_zone : agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

static enum err geo_origin(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->range.has_origin = true;
    return geo_point_of_json(&a->range.origin, v, true, p->em);
}

static enum err geo_unit(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return geo_unit_of(json_text(v), &a->range.unit_metres, p->em);
}

static enum err geo_type(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum geo_distance_kind kind;
    if (!geo_distance_kind_of(json_text(v), &kind)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "No geo distance for [%.*s]", STR_ARG(json_text(v)));
    }
    a->range.plane = kind == GEO_PLANE;
    return ERR_OK;
}

static const struct agg_param geo_distance_params[] = {
    {"ranges", TK_ARRAY | TK_OBJECT, range_list},
    {"keyed", TK_FLAG, range_keyed},
    {"origin", TK_VALUE | TK_ARRAY | TK_OBJECT, geo_origin},
    {"unit", TK_STRING, geo_unit},
    {"distance_type", TK_STRING, geo_type},
    {NULL, 0, NULL}};

enum err parse_geo_distance(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->range.unit_metres = 1;
    enum err e = agg_params(p, a, body, "geo_distance", geo_distance_params, agg_source_params);
    e = e == ERR_OK ? agg_need_source(p, &a->vs) : e;
    if (e == ERR_OK && !a->range.has_origin) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Aggregation [%.*s] must define an [origin].",
                       STR_ARG(a->name));
    }
    return e;
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
    bool hash = a->type->kind == AGG_GEOHASH_GRID;
    int64_t n = 0;
    enum err e;
    if (v->type == JSON_STRING && !num_parse_i64(v->s, &n) && hash) {
        e = geohash_length(p, v->s, &n);
    } else {
        e = jr_long(v, &n, p->em);
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
    return whole_int(p, a, v, "size", 1, &a->grid.size);
}

static enum err grid_shard_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return whole_int(p, a, v, "shardSize", 1, &a->grid.shard_size);
}

static enum err grid_bounds(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct geo_point tl = {0, 0}, br = {0, 0}, g;
    struct geo_box *box = &a->grid.box;
    a->grid.bounded = true;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *c = &v->members[i].value;
        struct str key = v->members[i].key;
        double d = 0;
        bool edge =
            str_is(key, "top") || str_is(key, "bottom") || str_is(key, "left") || str_is(key, "right");
        enum err e = edge ? jr_double(c, &d, p->em) : geo_point_of_json(&g, c, true, p->em);
        if (e != ERR_OK) {
            return e;
        }
        if (edge) {
            *(str_is(key, "top")      ? &tl.lat
              : str_is(key, "bottom") ? &br.lat
              : str_is(key, "left")   ? &tl.lon
                                      : &br.lon) = d;
        } else if (str_is(key, "top_left") || str_is(key, "bottom_right")) {
            *(str_is(key, "top_left") ? &tl : &br) = g;
        } else if (str_is(key, "top_right")) {
            tl.lat = g.lat;
            br.lon = g.lon;
        } else if (str_is(key, "bottom_left")) {
            br.lat = g.lat;
            tl.lon = g.lon;
        } else {
            return err_set(p->em, ERR_PARSE, "failed to parse bounding box. unexpected field [%.*s]",
                           STR_ARG(key));
        }
    }
    *box = (struct geo_box){.top = tl.lat, .bottom = br.lat, .left = tl.lon, .right = br.lon};
    return ERR_OK;
}

static const struct agg_param grid_params[] = {{"precision", TK_INT, grid_precision},
                                               {"size", TK_INT, grid_size},
                                               {"shard_size", TK_INT, grid_shard_size},
                                               {"bounds", TK_OBJECT, grid_bounds},
                                               {NULL, 0, NULL}};

enum err parse_grid(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->grid = (struct grid_params){
        .precision = a->type->kind == AGG_GEOHASH_GRID ? 5 : 7, .size = 10000, .shard_size = -1};
    enum err e = agg_params(p, a, body, a->type->name, grid_params, agg_source_params);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}
