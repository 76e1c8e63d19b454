/* Definitions of range, date_range, ip_range and geo_distance. */
#include "engine/aggs/range.h"

#include "common/base/inet.h"
#include "common/base/jsonr.h"

#include <math.h>

static enum err ip_bounds(struct agg_parse *p, const struct range_spec *r)
{
    uint8_t first[INET_BYTES], last[INET_BYTES];
    if (r->mask.p != NULL) {
        return inet_cidr(r->mask, first, last, p->em);
    }
    enum err e = r->from != NULL ? inet_parse(json_text(r->from), first, p->em) : ERR_OK;
    return e == ERR_OK && r->to != NULL ? inet_parse(json_text(r->to), first, p->em) : e;
}

static enum err one_ip_range(struct agg_parse *p, const struct json *v, struct range_spec *r)
{
    if (v->type != JSON_OBJECT) {
        return jr_fail(p->text, v->off, p->em, "[ranges] must contain objects, but hit a %s",
                       json_token_name(v));
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        struct str text;
        p->at = m->value.off;
        bool bound = str_is(m->key, "from") || str_is(m->key, "to");
        if (!bound && !str_is(m->key, "key") && !str_is(m->key, "mask")) {
            return jr_fail(p->text, m->value.off, p->em, "Unexpected ip range parameter: [%.*s]",
                           STR_ARG(m->key));
        }
        if (bound && m->value.type == JSON_NULL) {
            continue; /* an open end */
        }
        enum err e = agg_text(p, &m->value, &text);
        if (e != ERR_OK) {
            return e;
        }
        if (!bound) {
            *(str_is(m->key, "key") ? &r->key : &r->mask) = text;
        } else {
            *(str_is(m->key, "from") ? &r->from : &r->to) = &m->value;
        }
    }
    p->at = v->end - 1;
    return ip_bounds(p, r);
}

/* Distances: numbers, or both of them as text. */
static enum err one_distance(struct agg_parse *p, const struct json *v, struct range_spec *r)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        const struct json *val = &m->value;
        p->at = val->off;
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
    p->at = v->end - 1;
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
        bool value = m->value.type == JSON_NUMBER || m->value.type == JSON_STRING;
        if (str_is(m->key, "key") && value) {
            r->key = json_text(&m->value);
        } else if (bound && value) {
            *(str_is(m->key, "from") ? &r->from : &r->to) = &m->value;
        } else if (str_is(m->key, "key") || (bound && m->value.type != JSON_NULL)) {
            return jr_fail_xc(p->text, m->value.off, p->em, "[range] %.*s doesn't support values of type: %s",
                              STR_ARG(m->key), json_token_name(&m->value));
        } else if (!bound) {
            return jr_unknown_field(p->text, m->key_off, "range", m->key, known, p->em);
        }
    }
    return ERR_OK;
}

static enum err bad_distance(struct agg_parse *p, const struct json *v)
{
    size_t at = v->end;
    const char *token = jr_next_token(p->text, &at);
    return jr_fail(p->text, at, p->em, "Failed to parse object: unexpected token [%s] found", token);
}

static enum err range_item(struct agg_parse *p, const struct agg *a, const struct json *v,
                           struct range_spec *r)
{
    if (a->type == &agg_ip_range) {
        return one_ip_range(p, v, r);
    }
    if (a->type == &agg_geo_distance) {
        return v->type == JSON_OBJECT ? one_distance(p, v, r) : bad_distance(p, v);
    }
    return one_range(p, v, r);
}

static enum err range_list(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct range_params *given = range_params(a);
    const struct agg_type *k = a->type;
    struct range_spec *list = ARENA_ARRAY(p->arena, struct range_spec, agg_items(v));
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    given->v = list;
    given->n = 0;
    for (uint32_t i = 0; i < agg_items(v); i++) {
        const struct json *r;
        enum err e = agg_item(p, v, i, &r);
        if (e == ERR_OK && (k == &agg_range || k == &agg_date_range)) {
            e = jr_object(p->text, "range", r, &r, p->em);
            r = e == ERR_OK && r == NULL ? &v->items[++i] : r; /* a value before an object is passed over */
        }
        e = e == ERR_OK ? range_item(p, a, r, &list[given->n++]) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err range_keyed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &range_params(a)->keyed, p->em);
}

static const struct agg_param range_table[] = {
    {"ranges", TK_ARRAY | TK_OBJECT, range_list}, {"keyed", TK_FLAG, range_keyed}, {NULL, 0, NULL}};

enum err parse_range(struct agg_parse *p, struct agg *a, const struct json *body)
{
    bool zone = a->type == &agg_date_range, ip = a->type == &agg_ip_range;
    enum err e = agg_params(p, a, body, a->type->name, range_table,
                            zone ? agg_source_params_zone
                            : ip ? agg_field_params
                                 : agg_source_params);
    return e != ERR_OK ? e : ip ? agg_need_field(p, &a->vs) : agg_need_source(p, &a->vs);
}

static enum err origin_of_array(struct agg_parse *p, const struct json *v, struct geo_point *out)
{
    *out = (struct geo_point){.lat = NAN, .lon = NAN};
    for (uint32_t i = 0; i < v->n; i++) {
        p->at = v->items[i].off;
        if (!isnan(out->lat)) {
            return jr_fail(p->text, p->at, p->em,
                           "malformed [origin] geo origin array. a geo point array must be of the form [lon, "
                           "lat]");
        }
        enum err e = jr_double(&v->items[i], isnan(out->lon) ? &out->lon : &out->lat, p->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err origin_of_object(struct agg_parse *p, const struct json *v, struct geo_point *out)
{
    struct str last = STR("null");
    *out = (struct geo_point){.lat = NAN, .lon = NAN};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool lat = str_is(m->key, "lat");
        last = m->key;
        if (m->value.type == JSON_NUMBER && (lat || str_is(m->key, "lon"))) {
            *(lat ? &out->lat : &out->lon) = json_double(&m->value);
        }
    }
    return isnan(out->lat) || isnan(out->lon)
               ? jr_fail(p->text, v->end - 1, p->em,
                         "malformed [%.*s] geo point object. either [lat] or [lon] (or both) are missing",
                         STR_ARG(last))
               : ERR_OK;
}

static enum err geo_origin(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct range_params *given = range_params(a);
    given->has_origin = true;
    return v->type == JSON_ARRAY    ? origin_of_array(p, v, &given->origin)
           : v->type == JSON_OBJECT ? origin_of_object(p, v, &given->origin)
                                    : geo_point_of_json(&given->origin, v, true, p->em);
}

static enum err geo_unit(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return geo_unit_of(json_text(v), &range_params(a)->unit_metres, p->em);
}

static enum err geo_type(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum geo_distance_kind kind;
    if (!geo_distance_kind_of(json_text(v), &kind)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "No geo distance for [%.*s]", STR_ARG(json_text(v)));
    }
    range_params(a)->plane = kind == GEO_PLANE;
    return ERR_OK;
}

static const struct agg_param geo_distance_table[] = {
    {"ranges", TK_ARRAY | TK_OBJECT, range_list},
    {"keyed", TK_FLAG, range_keyed},
    {"origin", TK_STRING | TK_ARRAY | TK_OBJECT, geo_origin},
    {"unit", TK_STRING, geo_unit},
    {"distance_type", TK_STRING, geo_type},
    {NULL, 0, NULL}};

enum err parse_geo_distance(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct range_params *given = range_params(a);
    given->unit_metres = 1;
    enum err e = agg_params(p, a, body, "geo_distance", geo_distance_table, agg_field_params);
    e = e == ERR_OK ? agg_need_field(p, &a->vs) : e;
    if (e == ERR_OK && !given->has_origin) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Aggregation [%.*s] must define an [origin].",
                       STR_ARG(a->name));
    }
    return e;
}
