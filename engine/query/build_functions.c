/* Functions of function_score, with the mapping. */
#include "engine/query/build_functions.h"

#include "common/base/json_pull.h"
#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "engine/query/script_use.h"

/* A decay's own reader begins anew: places are those of its parameters alone. */
static enum err decay_refused(struct errmsg *em, bool before_first, const char *what, struct str field)
{
    return err_set_at(em, ERR_PARSING, 1, before_first ? 0 : 1, "%s [%.*s]", what, STR_ARG(field));
}

enum decay_of { OF_NUMBERS, OF_DATES, OF_POINTS };

struct decay_args {
    enum decay_of kind;
    bool has_origin;
    struct str origin, scale, offset; /* OF_DATES; scale and offset of OF_POINTS too. p == NULL: not given */
    struct geo_point at;              /* OF_POINTS */
    double decay;
};

static enum err read_scale(const struct json_pull *p, const struct decay_args *a, struct str *text,
                           double *number, struct errmsg *em)
{
    *text = STR("");
    return a->kind == OF_NUMBERS ? json_pull_double(p, number, em) : json_pull_text(p, text, em);
}

static enum err read_origin(struct json_pull *p, struct decay_args *a, double *number, struct errmsg *em)
{
    a->has_origin = true;
    if (a->kind == OF_POINTS) {
        enum err e = geo_point_of_json(&a->at, p->value, false, em);
        json_pull_skip(p);
        return e;
    }
    return a->kind == OF_NUMBERS ? json_pull_double(p, number, em) : json_pull_text(p, &a->origin, em);
}

/* Parameters are read one after the other, as they are written without spaces: places are counted there. */
static enum err decay_read(struct builder *b, const struct dsl_function *f, struct decay_args *a,
                           struct score_function *out, struct errmsg *em)
{
    struct buf text;
    struct jsonw w;
    struct json tree;
    struct json_pull p;
    jsonw_start(&w, &text);
    jw_value(&w, f->decay_params);
    struct str own = arena_str(b->arena, buf_view(&text));
    buf_fini(&text);
    enum err e =
        own.p != NULL ? json_parse(&tree, own, b->arena, &json_limits_default, em) : err_no_memory(em);
    if (e == ERR_OK && !json_pull_init(&p, &tree, own, b->arena)) {
        e = err_no_memory(em);
    }
    if (e == ERR_OK) {
        json_pull_next(&p);
    }
    for (struct str name = STR_NULL; e == ERR_OK && json_pull_until(&p, TOK_END_OBJECT);) {
        if (p.token == TOK_FIELD_NAME) {
            name = p.name;
        } else if (str_is(name, "origin")) {
            e = read_origin(&p, a, &out->origin, em);
        } else if (str_is(name, "scale")) {
            e = read_scale(&p, a, &a->scale, &out->scale, em);
        } else if (str_is(name, "offset")) {
            e = read_scale(&p, a, &a->offset, &out->offset, em);
        } else if (str_is(name, "decay")) {
            e = json_pull_double(&p, &a->decay, em);
        } else {
            e = err_set(em, ERR_PARSE, "parameter [%.*s] not supported!", STR_ARG(name));
        }
    }
    return e;
}

static enum err decay_number(const struct decay_args *a, struct errmsg *em)
{
    return a->has_origin && a->scale.p != NULL
               ? ERR_OK
               : err_set(em, ERR_PARSE, "both [scale] and [origin] must be set for numeric fields.");
}

static enum err decay_date(struct builder *b, const struct field *f, const struct decay_args *a,
                           struct score_function *out, struct errmsg *em)
{
    int64_t origin = b->cx->now_ms, ms;
    enum err e = ERR_OK;
    if (a->has_origin) {
        e = field_date(b, f, a->origin, false, NULL, NULL, &origin, em);
        if (f->class->is_nanos) {
            origin /= 1000000;
        }
    }
    if (e == ERR_OK && a->scale.p == NULL) {
        return err_set(em, ERR_PARSE, "[scale] must be set for date fields.");
    }
    out->origin = (double)origin;
    if (e == ERR_OK) {
        e = parse_time_ms(a->scale, "DecayFunctionParser.scale", &ms, em);
        out->scale = (double)ms;
    }
    if (e == ERR_OK && a->offset.p != NULL) {
        e = parse_time_ms(a->offset, "DecayFunctionParser.offset", &ms, em);
        out->offset = (double)ms;
    }
    return e;
}

static enum err decay_geo(const struct decay_args *a, struct score_function *out, struct errmsg *em)
{
    if (!a->has_origin || a->scale.p == NULL) {
        return err_set(em, ERR_PARSE, "[origin] and [scale] must be set for geo fields.");
    }
    out->origin_lat = a->at.lat;
    out->origin_lon = a->at.lon;
    enum err e = geo_distance_parse(a->scale, 1, &out->scale, em);
    return e == ERR_OK && a->offset.p != NULL ? geo_distance_parse(a->offset, 1, &out->offset, em) : e;
}

/* scale becomes what each curve computes with (processScale). */
static enum err decay_check(struct score_function *out, double decay, struct errmsg *em)
{
    if (out->scale <= 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "function_score : scale must be > 0.0.");
    }
    if (decay <= 0 || decay >= 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "function_score : decay must be in the range [0..1].");
    }
    if (out->offset < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "function_score : offset must be > 0.0");
    }
    out->decay_to = decay;
    return ERR_OK;
}

enum err build_column_check(const struct field *f, struct errmsg *em)
{
    if (f->class->needs_fielddata && !f->fielddata) {
        return field_without_values(f->path, em);
    }
    if (f->class->kind == VALUE_NONE) {
        return field_refuses_values(f, em);
    }
    if (field_has_column(f) || f->path.p[0] == '_') {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type "
                   "[%s]. Use doc values instead.",
                   STR_ARG(f->path), field_shown_type(f));
}

static enum err build_decay(struct builder *b, const struct dsl_function *f, struct score_function *out,
                            struct errmsg *em)
{
    out->field = build_field(b, f->field);
    if (out->field == NULL) {
        return decay_refused(em, true, "unknown field", f->field);
    }
    bool date = field_is_date(out->field);
    bool geo = field_is_point(out->field);
    if (!date && !geo && (!out->field->class->is_numeric || out->field->class->form == FORM_SCALED)) {
        return decay_refused(em, false, "only numeric types are supported, not", f->field);
    }
    struct decay_args a = {.kind = date ? OF_DATES : geo ? OF_POINTS : OF_NUMBERS, .decay = 0.5};
    enum err e = decay_read(b, f, &a, out, em);
    if (e == ERR_OK) {
        e = date  ? decay_date(b, out->field, &a, out, em)
            : geo ? decay_geo(&a, out, em)
                  : decay_number(&a, em);
    }
    e = e == ERR_OK ? build_column_check(out->field, em) : e;
    return e == ERR_OK ? decay_check(out, a.decay, em) : e;
}

static int32_t hash_i64(int64_t v)
{
    return (int32_t)(uint32_t)((uint64_t)v ^ ((uint64_t)v >> 32));
}

static enum err build_random(struct builder *b, const struct dsl_function *f, struct score_function *out,
                             struct errmsg *em)
{
    out->random_salt = random_salt(b->cx);
    out->seed = f->has_seed ? f->seed : hash_i64(b->cx->now_ms);
    out->has_seed = f->has_seed;
    if (f->has_seed) {
        struct str name = f->field.p != NULL ? f->field : STR("_id");
        out->field = mapping_field_in(b->cx->mapping, name, b->arena);
        if (out->field == NULL) {
            return err_set(
                em, ERR_ILLEGAL_ARGUMENT,
                "Field [%.*s] is not mapped on [%.*s] and cannot be used as a source of random numbers.",
                STR_ARG(name), STR_ARG(b->cx->index_name));
        }
    }
    return ERR_OK;
}

enum err build_function(struct builder *b, const struct dsl_function *f, struct score_function *out,
                        struct errmsg *em)
{
    out->kind = f->kind;
    out->weight = f->has_weight ? f->weight : 1;
    out->has_weight = f->has_weight;
    out->mode = f->mode;
    out->decay = f->decay;
    switch (f->kind) {
    case FUNC_WEIGHT:
        return ERR_OK;
    case FUNC_FIELD_VALUE:
        out->field = build_field_if(b, f->field);
        out->factor = f->factor;
        out->modifier = f->modifier;
        out->missing = f->missing;
        out->has_missing = f->has_missing;
        if (out->field != NULL && !field_class_has_numbers(out->field->class) && out->field->path.p[0] != '_'
            && (out->field->doc_values || out->field->fielddata)) {
            return err_set(em, ERR_CLASS_CAST, "the values of field [%.*s] cannot be cast to numbers",
                           STR_ARG(f->field));
        }
        if (out->field == NULL && !f->has_missing) {
            return err_set(em, ERR_INTERNAL,
                           "Unable to find a field mapper for field [%.*s]. No 'missing' value defined.",
                           STR_ARG(f->field));
        }
        return out->field != NULL ? build_column_check(out->field, em) : ERR_OK;
    case FUNC_RANDOM:
        return build_random(b, f, out, em);
    case FUNC_SCRIPT:
        out->params = json_get(f->script, "params");
        out->form = f->script;
        out->random_salt = random_salt(b->cx);
        {
            enum err e = script_of_form(b->cx, f->script, SCRIPT_SCORE, &out->script, em);
            if (e != ERR_OK) {
                e = err_wrap(em, ERR_QUERY_SHARD, "script_score: the script could not be loaded");
                err_about_index(em, b->cx->index_name, b->cx->index_uuid);
            }
            return e;
        }
    case FUNC_DECAY:
        return build_decay(b, f, out, em);
    }
    return ERR_OK;
}
