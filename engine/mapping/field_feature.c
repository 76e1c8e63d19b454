/* rank_feature and rank_features: positive numbers that scores are made of. Nothing else reads them. */
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/feature.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

#include <float.h>
#include <math.h>

#define FEATURE_SHIFT    15
#define FEATURE_FREQ_MAX 65279U /* of the greatest float */

uint32_t feature_freq(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> FEATURE_SHIFT;
}

float feature_value(float freq)
{
    if (freq > (float)FEATURE_FREQ_MAX) {
        return FLT_MAX;
    }
    uint32_t bits = (uint32_t)freq << FEATURE_SHIFT;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static const struct param feature_params[] = {
    {.name = "positive_score_impact",
     .kind = PARAM_BOOL,
     .offset = PARAM_AT(positive_score_impact),
     .dflt = 1},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static const struct param features_params[] = {PARAM_ROW_META, PARAM_ROW_END};

static void features_init(UNUSED struct builder *b, struct node *n)
{
    n->f.index = false;
}

/* XContentParser.floatValue() */
static enum err read_float(struct doc_parser *p, const struct json *v, float *out)
{
    double d;
    enum err e = jr_double(v, &d, p->em);
    *out = e == ERR_OK ? (float)d : 0;
    return e;
}

/* A document has one value of a feature; `key` is the feature's whole name. */
static enum err check_once(struct doc_parser *p, const struct field *f, struct str key)
{
    bool again = false;
    enum err e = doc_take_name(p, key, &again);
    return e != ERR_OK || !again
               ? e
               : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                         "[%s] fields do not support indexing multiple values for the same %s [%.*s] in the "
                         "same document",
                         f->class->name, f->class == &field_class_rank_feature ? "field" : "rank feature",
                         STR_ARG(key));
}

static enum err refuse_value(struct doc_parser *p, const struct field *f, struct str name, float value)
{
    struct buf shown;
    buf_init(&shown, NULL, KIB);
    num_put_float(&shown, value);
    enum err e =
        isfinite(value)
            ? err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                      "featureValue must be a positive normal float, got: %.*s for feature %.*s on field "
                      "%.*s which is less than the minimum positive normal float: 1.17549435E-38",
                      STR_ARG(buf_view(&shown)), STR_ARG(name), STR_ARG(f->path))
            : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                      "featureValue must be finite, got: %.*s for feature %.*s on field %.*s",
                      STR_ARG(buf_view(&shown)), STR_ARG(name), STR_ARG(f->path));
    buf_fini(&shown);
    return e;
}

static enum err add_feature(struct doc_parser *p, const struct field *f, struct str name, float value)
{
    if (!isfinite(value) || value < FLT_MIN) {
        return refuse_value(p, f, name, value);
    }
    struct doc_value *to = doc_add(p, f, DOC_FEATURE);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->to_index = true;
    to->to_column = to->to_store = false;
    to->feature.name = name;
    to->feature.freq = feature_freq(value);
    return ERR_OK;
}

static enum err feature_value_of(struct doc_parser *p, const struct field *f, const struct json *v)
{
    float value;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = read_float(p, v, &value);
    e = e == ERR_OK ? check_once(p, f, f->path) : e;
    if (e != ERR_OK) {
        return e;
    }
    const struct field *all = mapping_field(p->m, STR(FEATURE_FIELD));
    return add_feature(p, all, f->path, f->positive_score_impact ? value : 1 / value);
}

static enum err features_member(struct doc_parser *p, const struct field *f, const struct json_member *m)
{
    const struct json *v = &m->value;
    float value;
    if (m->key.p == NULL || json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_NUMBER && v->type != JSON_STRING) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[rank_features] fields take hashes that map a feature to a strictly positive float, "
                       "but got unexpected token %s",
                       json_token_name(v));
    }
    struct str key = arena_printf(p->arena, "%.*s.%.*s", STR_ARG(f->path), STR_ARG(m->key));
    if (key.p == NULL) {
        return err_no_memory(p->em);
    }
    enum err e = read_float(p, v, &value);
    e = e == ERR_OK ? check_once(p, f, key) : e;
    return e == ERR_OK ? add_feature(p, f, m->key, value) : e;
}

/* Multi-fields have no values of it. */
static enum err features_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    enum err e = ERR_OK;
    if (v->type != JSON_OBJECT) {
        return json_is_broken(v)
                   ? doc_broken(p)
                   : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                             "[rank_features] fields must be json objects, expected a START_OBJECT but got: "
                             "%s",
                             json_token_name(v));
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = features_member(p, f, &v->members[i]);
    }
    return e;
}

static void show_feature(UNUSED const struct value_format *f, const struct json *v,
                         UNUSED struct arena *arena, struct jsonw *w)
{
    float value;
    if (num_parse_float(json_text(v), &value)) {
        jw_float(w, value);
    }
}

static enum err refuse_terms(const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Queries on [%s] fields are not supported", f->class->name);
}

static enum err refuse_exists(const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] fields do not support [exists] queries", f->class->name);
}

static enum err refuse_values(const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%s] fields do not support sorting, scripting or aggregating",
                   f->class->name);
}

const struct field_class field_class_rank_feature = {
    .name = "rank_feature",
    .params = feature_params,
    .value = feature_value_of,
    .show = show_feature,
    .text = FIELD_TEXT_NONE,
    .exists = EXISTS_FEATURE,
    .refuse_search = refuse_terms,
    .refuse_values = refuse_values,
};

const struct field_class field_class_rank_features = {
    .name = "rank_features",
    .params = features_params,
    .init = features_init,
    .value = features_value,
    .takes_whole = true,
    .show_format = value_no_formats,
    .text = FIELD_TEXT_NONE,
    .exists = EXISTS_REFUSED,
    .refuse_search = refuse_terms,
    .refuse_exists = refuse_exists,
    .refuse_values = refuse_values,
};

/* ---- the field of all of them ---- */

static enum err refuse_direct(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_UNSUPPORTED, "The [" FEATURE_FIELD "] field may not be queried directly");
}

static enum err refuse_direct_exists(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(em, ERR_UNSUPPORTED, "Cannot run exists query on [" FEATURE_FIELD "]");
}

const struct field_class field_class_meta_feature = {
    .name = FEATURE_FIELD,
    .is_metadata = true,
    .text = FIELD_TEXT_NONE,
    .exists = EXISTS_REFUSED,
    .refuse_search = refuse_direct,
    .refuse_exists = refuse_direct_exists,
};
