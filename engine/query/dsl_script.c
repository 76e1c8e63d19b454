/* script_score, script, distance_feature. */
#include "engine/query/build.h"

#include "common/base/num.h"
#include "common/base/settings.h"
#include "engine/query/script_use.h"

struct dsl_script_body {
    struct dsl dsl;
    struct dsl *query;
    const struct json *script;
    float min_score;
    bool has_min_score;
};

static enum err read_query(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    return dsl_parse_query(p, arena, &((struct dsl_script_body *)base)->query, em);
}

static enum err read_script(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    (void)arena;
    return script_form_parse(p, &((struct dsl_script_body *)base)->script, em);
}

static enum err read_min_score(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct dsl_script_body *q = base;
    (void)arena;
    q->has_min_score = true;
    return json_pull_float(p, &q->min_score, em);
}

static enum err parse_script_score(struct json_pull *p, struct arena *arena, struct dsl **out,
                                   struct errmsg *em)
{
    static const struct object_field fields[] = {
        {"query", OBJ_OBJECT, PARAM_IGNORED, 0, read_query},
        {"script", OBJ_OBJECT, PARAM_IGNORED, 0, read_script},
        {"min_score", OBJ_NUMBER | OBJ_STRING, PARAM_IGNORED, 0, read_min_score},
        {"boost", OBJ_NUMBER | OBJ_STRING, PARAM_BOOST, offsetof(struct dsl, boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, offsetof(struct dsl, name), NULL},
    };
    struct dsl_script_body *q =
        (struct dsl_script_body *)(void *)dsl_new(arena, &dsl_script_score, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    enum err e = dsl_parse_object(p, arena, "script_score", fields, ARRAY_LEN(fields), q, em);
    if (e != ERR_OK) {
        return e;
    }
    if (q->query == NULL || q->script == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [%s]",
                       q->query != NULL    ? "script"
                       : q->script != NULL ? "query"
                                           : "query, script");
    }
    return ERR_OK;
}

static bool script_score_none(struct builder *b, const struct dsl *d)
{
    const struct dsl *query = ((const struct dsl_script_body *)(const void *)d)->query;
    return query != NULL && dsl_is_none(b, query);
}

static enum err build_script_score(struct builder *b, const struct dsl *d, struct query **out,
                                   struct errmsg *em)
{
    const struct dsl_script_body *q = (const struct dsl_script_body *)(const void *)d;
    if (script_score_none(b, d)) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    const struct script *script;
    enum err e = script_of_form(b->cx, q->script, SCRIPT_SCORE, &script, em);
    struct query *child, *n;
    if (e == ERR_OK) {
        e = build_dsl(b, q->query, &child, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    n = *out = qnode_new(b, &q_script_score);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->script.child = child;
    n->script.script = script;
    n->script.params = json_get(q->script, "params");
    n->script.source = script_form_source(q->script);
    n->script.form = q->script;
    n->script.random_salt = random_salt(b->cx);
    n->script.min_score = q->min_score;
    n->script.has_min_score = q->has_min_score;
    return ERR_OK;
}

static enum err parse_script(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    static const struct param params[] = {DSL_COMMON_PARAMS(struct dsl_script_body)};
    struct dsl_script_body *q = (struct dsl_script_body *)(void *)dsl_new(arena, &dsl_script, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        bool known = false;
        enum err e = ERR_OK;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (p->token == TOK_START_ARRAY) {
            return json_pull_err(p, em, ERR_PARSING,
                                 "[script] query does not support an array of scripts. Use a bool query with "
                                 "a clause per script instead.");
        }
        if (str_is(name, "script") && p->token != TOK_NULL) {
            known = true;
            e = script_form_parse(p, &q->script, em);
        } else if (json_token_is_value(p->token)) {
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "script", name, em);
        }
    }
    if (q->script == NULL) {
        return json_pull_err(p, em, ERR_PARSING, "script must be provided with a [script] filter");
    }
    return ERR_OK;
}

static enum err build_script(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_script_body *q = (const struct dsl_script_body *)(const void *)d;
    const struct script *script;
    enum err e = script_of_form(b->cx, q->script, SCRIPT_FILTER, &script, em);
    if (e != ERR_OK) {
        return e;
    }
    struct query *n = *out = qnode_new(b, &q_script);
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->script.script = script;
    n->script.params = json_get(q->script, "params");
    n->script.source = script_form_source(q->script);
    n->script.form = q->script;
    return ERR_OK;
}

/* ---- distance_feature ---- */

struct dsl_distance_body {
    struct dsl dsl;
    struct str field, pivot;
    const struct json *origin;
};

static enum err read_origin(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    (void)arena;
    (void)em;
    ((struct dsl_distance_body *)base)->origin = p->value;
    json_pull_skip(p);
    return ERR_OK;
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
    struct dsl_distance_body *q =
        (struct dsl_distance_body *)(void *)dsl_new(arena, &dsl_distance_feature, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    *out = &q->dsl;
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
    if (n == NULL) {
        return err_no_memory(em);
    }
    n->field = f;
    n->field_name = f->path;
    enum err e;
    if (f->type == FT_GEO_POINT) {
        struct geo_point at;
        e = geo_point_of_json(&at, q->origin, false, em);
        if (e != ERR_OK || (e = geo_point_bounds(at, em)) != ERR_OK) {
            return e;
        }
        n->distance_feature.origin_lat = at.lat;
        n->distance_feature.origin_lon = at.lon;
        e = geo_distance_parse(q->pivot, 1, &n->distance_feature.pivot, em);
        return e == ERR_OK && !(n->distance_feature.pivot > 0)
                   ? no_pivot(n->distance_feature.pivot, false, em)
                   : e;
    }
    if (f->type == FT_DATE || f->type == FT_DATE_NANOS) {
        int64_t origin, pivot;
        e = field_date(b, f, json_text(q->origin), true, NULL, NULL, &origin, em);
        if (e == ERR_OK) {
            e = parse_time_ms(q->pivot, "distance_feature.pivot", &pivot, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        n->distance_feature.origin = (double)origin;
        n->distance_feature.pivot = (double)pivot * (f->type == FT_DATE_NANOS ? 1e6 : 1);
        return pivot > 0 ? ERR_OK : no_pivot(n->distance_feature.pivot, true, em);
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Illegal data type of [%s]![distance_feature] query can only be run on a date, "
                   "date_nanos or geo_point field type!",
                   field_type_name(f->type));
}

const struct dsl_type dsl_script_score = {"script_score", parse_script_score, build_script_score,
                                          script_score_none};
const struct dsl_type dsl_script = {"script", parse_script, build_script, NULL};
const struct dsl_type dsl_distance_feature = {"distance_feature", parse_distance_feature,
                                              build_distance_feature, NULL};
