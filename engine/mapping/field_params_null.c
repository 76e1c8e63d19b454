/* null_value, which each type reads in its own way. */
#include "common/base/coerce.h"
#include "common/base/geo.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/mapping/field_params.h"

static enum err take_null_number(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    struct num num;
    struct json shown;
    double any;
    enum err e = param_text(b, v, &s);
    if (e == ERR_OK && !num_parse_double(s, &any)) {
        return jr_bad_double(s, b->em);
    }
    e = e == ERR_OK ? num_of_text(&num, s, n->f.class->num, false, b->em) : e;
    if (e == ERR_OK) {
        bool single = n->f.class->form == FORM_FLOAT;
        e = num.whole ? param_whole(b, num.i, &shown) : param_fraction(b, num.d, single, &shown);
    }
    return e == ERR_OK ? param_keep(b, n, i, shown) : e;
}

static enum err take_null_point(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct geo_point p;
    enum err e = geo_point_of_json(&p, v, true, b->em);
    if (e != ERR_OK) {
        return e;
    }
    if (!geo_lat_ok(p.lat)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "illegal latitude value [%s]", num_text(p.lat).s);
    }
    if (!geo_lon_ok(p.lon)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "illegal longitude value [%s]", num_text(p.lon).s);
    }
    struct json out = json_mk_object(), lat, lon;
    if ((e = param_fraction(b, p.lat, false, &lat)) != ERR_OK
        || (e = param_fraction(b, p.lon, false, &lon)) != ERR_OK) {
        return e;
    }
    bool ok = json_put(&out, b->arena, STR("lat"), lat) && json_put(&out, b->arena, STR("lon"), lon);
    return ok ? param_keep(b, n, i, out) : no_memory(b);
}

enum err param_null_value(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    n->set[i] = NULL;
    n->f.null_value = NULL;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = ERR_OK;
    struct str s;
    bool flag = false;
    enum param_kind kind = n->f.class->params[i].kind;
    if (kind == PARAM_NULL_NUMBER) {
        e = take_null_number(b, n, i, v);
    } else if (kind == PARAM_NULL_BOOL) {
        e = parse_node_bool(b, v, &flag);
        e = e == ERR_OK ? param_keep(b, n, i, json_mk_bool(flag)) : e;
    } else if (kind == PARAM_NULL_POINT) {
        e = take_null_point(b, n, i, v);
    } else {
        e = param_text(b, v, &s);
        e = e == ERR_OK ? param_keep(b, n, i, json_mk_str(s)) : e;
    }
    n->f.null_value = n->set[i];
    return e;
}
