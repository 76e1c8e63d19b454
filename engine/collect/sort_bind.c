/* Sort keys bound to the fields of a view: what sorts, what stands in for missing values, what is refused. */
#include "engine/collect/sort.h"

#include "common/base/coerce.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

/* Text sorts by its terms, where they are kept by document. */
static bool has_text_column(const struct field *f)
{
    return f->class->needs_fielddata && f->fielddata;
}

static int64_t missing_of_text(const struct sort_key *k, const struct field_class *c, struct str text,
                               bool is_number_token, bool *ok)
{
    double d = 0;
    int64_t l = 0;
    if (k->floating) {
        *ok = num_parse_double(text, &d);
        return k->is_float ? num_from_double((double)(float)d) : num_from_double(d);
    }
    *ok = num_parse_i64(text, &l);
    if (!*ok && is_number_token && c->kind != VALUE_DATE && num_parse_double(text, &d)) {
        *ok = d >= -0x1p63 && d < 0x1p63;
        l = *ok ? (int64_t)d : 0;
    }
    return l;
}

static void bind_missing(struct sort_key *k, const struct field_class *c)
{
    const struct json *m = k->spec->missing;
    bool first = json_is(m, JSON_STRING) && str_is(m->s, "_first");
    bool last = m == NULL || (json_is(m, JSON_STRING) && str_is(m->s, "_last"));
    k->missing_first = first;
    if (!first && !last) {
        bool ok = true;
        if (k->is_text) {
            k->missing_text = json_text(m);
        } else {
            k->missing_num = missing_of_text(k, c, json_text(m), m->type == JSON_NUMBER, &ok);
        }
        k->missing_refused = !ok;
        k->missing_first = k->is_text; /* no document is without a value: only search_after may be */
        return;
    }
    /* The extreme that puts them where they belong under the direction. */
    bool greatest = last != k->spec->descending;
    if (k->floating) {
        k->missing_num = num_from_double(greatest ? INFINITY : -INFINITY);
    } else {
        k->missing_num = greatest ? INT64_MAX : INT64_MIN;
    }
}

static enum err refuse_missing(const struct sort_key *k, struct errmsg *em)
{
    struct str text = json_text(k->spec->missing);
    return k->floating ? jr_bad_double(text, em)
                       : err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(text));
}

enum err sort_plan_check_missing(const struct sort_plan *p, struct errmsg *em)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->keys[i].missing_refused) {
            return refuse_missing(&p->keys[i], em);
        }
    }
    return ERR_OK;
}

static enum err bind_unmapped(const struct search_context *cx, struct sort_key *k,
                              const struct field_class **class, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    if (s->unmapped_type.p == NULL) {
        err_set(em, ERR_QUERY_SHARD, "No mapping found for [%.*s] in order to sort on", STR_ARG(s->field));
        err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
        return ERR_QUERY_SHARD;
    }
    const struct field_class *c = field_class_named(s->unmapped_type);
    if (c != NULL && c->is_alias) {
        return err_set(em, ERR_MAPPER_PARSING,
                       "The [path] property must be specified for field [__anonymous_].");
    }
    if (c != NULL && c->form == FORM_SCALED) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [scaling_factor] is required");
    }
    if (c != NULL && c->kind == VALUE_RANGE) { /* nothing is there: any texts will do */
        c = &field_class_keyword;
    }
    if (c == NULL || c->is_metadata || (!field_class_has_texts(c) && !field_class_has_numbers(c))) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No mapper found for type [%.*s]",
                       STR_ARG(s->unmapped_type));
    }
    *class = c;
    return ERR_OK;
}

static enum err refuse_field(const struct search_context *cx, const struct sort_spec *s,
                             const struct field *f, struct errmsg *em)
{
    if (f->class->needs_fielddata && !f->fielddata) {
        return field_without_values(f->path, em);
    }
    if (f->class->is_vector) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "can't sort on the vector field");
    }
    if (f->class->kind == VALUE_NONE) {
        return field_refuses_values(f, em);
    }
    if (field_is_point(f) && f->doc_values) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "can't sort on geo_point field without using specific sorting feature, like geo_distance");
    }
    if (f->class->is_internal) {
        err_set(em, ERR_QUERY_SHARD, "No mapping found for [%.*s] in order to sort on", STR_ARG(s->field));
        err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
        return ERR_QUERY_SHARD;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type [%s]. "
                   "Use doc values instead.",
                   STR_ARG(f->path), f->class->name);
}

/* Modes and types that only numbers have. */
static enum err check_number_options(const struct search_context *cx, const struct sort_key *k,
                                     const struct field_class *c, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    bool number = field_class_has_numbers(c);
    if (number || (k->field != NULL && !c->needs_fielddata && !field_has_column(k->field))) {
        bool has_values = k->field == NULL || k->field->doc_values;
        if (str_is(s->numeric_type, "date_nanos") && number && c->kind != VALUE_DATE && has_values) {
            return err_set(
                em, ERR_ILLEGAL_ARGUMENT,
                "trying to convert a known date time formatter to a nanosecond one, wrong field used?");
        }
        return ERR_OK;
    }
    bool extreme = s->mode == SORT_MODE_DEFAULT || s->mode == SORT_MODE_MIN || s->mode == SORT_MODE_MAX;
    if (extreme && s->numeric_type.p == NULL) {
        return ERR_OK;
    }
    if (extreme) {
        err_set(em, ERR_QUERY_SHARD, "[numeric_type] option cannot be set on a non-numeric field, got %s",
                c->name);
    } else {
        err_set(em, ERR_QUERY_SHARD, "we only support AVG, MEDIAN and SUM on number based fields");
    }
    err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
    return ERR_QUERY_SHARD;
}

/* NULL where nobody maps it, or it is an object. */
static const struct field *leaf_field(const struct search_context *cx, struct str name)
{
    const struct field *f = mapping_field_in(cx->shard->view->mapping, name, cx->arena);
    return f != NULL && !f->class->is_object ? f : NULL;
}

static enum err bind_field(const struct search_context *cx, struct sort_key *k, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->field = leaf_field(cx, s->field);
    const struct field_class *c = k->field != NULL ? k->field->class : NULL;
    if (k->field == NULL) {
        enum err e = bind_unmapped(cx, k, &c, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    bool loaded = k->field == NULL || has_text_column(k->field)
                  || (!c->needs_fielddata && (!c->is_metadata || c->kind != VALUE_NONE));
    enum err e = loaded ? check_number_options(cx, k, c, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    if (c->is_binary && k->field != NULL && k->field->doc_values) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "can't sort on binary field");
    }
    if (k->field != NULL && !has_text_column(k->field)
        && ((!field_class_has_texts(c) && !field_class_has_numbers(c)) || !field_has_column(k->field))) {
        return refuse_field(cx, s, k->field, em);
    }
    k->is_id = c->queries == QUERIES_IDS;
    k->is_text = c->kind == VALUE_TEXT || c->kind == VALUE_ADDRESS;
    k->is_address = c->kind == VALUE_ADDRESS && k->field != NULL;
    k->is_nanos = c->is_nanos;
    k->constant =
        k->field != NULL && c->constant != NULL ? c->constant(k->field, cx->shard->index_name) : STR_NULL;
    k->floating = c->form != FORM_WHOLE;
    k->is_float = c->form == FORM_FLOAT;
    if (str_is(s->numeric_type, "double")) {
        k->floating = true;
        k->is_float = false;
    } else if (s->numeric_type.p != NULL) {
        k->floating = false;
    }
    bind_missing(k, c);
    /* Where a comparator of its own has to be made the value is read by that: sort_plan_check_missing(). */
    bool plain = k->nested == NULL && s->numeric_type.p == NULL && c->num != NUM_HALF_FLOAT
                 && c->form != FORM_SCALED
                 && (s->mode == SORT_MODE_DEFAULT || s->mode == SORT_MODE_MIN || s->mode == SORT_MODE_MAX);
    return plain && k->missing_refused ? refuse_missing(k, em) : ERR_OK;
}

static enum err bind_geo(const struct search_context *cx, struct sort_key *k, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->is_geo = k->floating = true;
    k->field = leaf_field(cx, s->field);
    k->missing_num =
        num_from_double(INFINITY); /* a document without a place is farthest, whatever the direction */
    if (k->field == NULL && !s->ignore_unmapped) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "failed to find mapper for [%.*s] for geo distance based sort", STR_ARG(s->field));
    }
    if (k->field != NULL && !field_is_point(k->field) && !field_has_column(k->field)) {
        return refuse_field(cx, s, k->field, em);
    }
    if (k->field != NULL && !field_is_point(k->field)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "unable to apply geo distance sort to field [%.*s] of type [%s]", STR_ARG(s->field),
                       k->field->class->name);
    }
    if (k->field != NULL && !k->field->doc_values) {
        return refuse_field(cx, s, k->field, em);
    }
    for (uint32_t i = 0; i < s->n_points && !s->lenient_points; i++) {
        bool lat = !geo_lat_ok(s->lats[i]), bad = lat || !geo_lon_ok(s->lons[i]);
        if (bad) {
            struct buf text;
            buf_init(&text, NULL, 64);
            num_put_double(&text, lat ? s->lats[i] : s->lons[i]);
            err_set(em, ERR_PARSE, "illegal %s value [%.*s] for [GeoDistanceSort] for field [%.*s].",
                    lat ? "latitude" : "longitude", STR_ARG(buf_view(&text)), STR_ARG(s->field));
            buf_fini(&text);
            return ERR_PARSE;
        }
    }
    return ERR_OK;
}

enum err sort_key_bind(const struct search_context *cx, struct sort_key *k, struct sort_plan *p,
                       struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->mode = s->mode != SORT_MODE_DEFAULT ? s->mode : s->descending ? SORT_MODE_MAX : SORT_MODE_MIN;
    /* Where the field is not mapped, where it would be nested is not asked. */
    bool unmapped =
        s->kind == SORT_FIELD && mapping_field_in(cx->shard->view->mapping, s->field, cx->arena) == NULL;
    enum err e = unmapped ? ERR_OK : sort_nested_bind(cx, k, em);
    if (e != ERR_OK) {
        return e;
    }
    switch (s->kind) {
    case SORT_SCORE:
        p->needs_scores = p->shows_scores = true;
        k->floating = k->is_float = true;
        return ERR_OK;
    case SORT_DOC:
    case SORT_SHARD_DOC:
        return ERR_OK;
    case SORT_FIELD:
        return bind_field(cx, k, em);
    case SORT_GEO:
        return bind_geo(cx, k, em);
    case SORT_SCRIPT:
        return sort_script_bind(cx, k, p, em);
    }
    return ERR_OK;
}
