#include "engine/collect/sort.h"

#include "common/base/coerce.h"
#include "common/base/date_math.h"
#include "common/base/geo.h"
#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>
#include <stdlib.h>

/* ---- binding ---------------------------------------------------------------------------------------------------------- */

static bool is_text_type(enum field_type t)
{
    return t == FT_KEYWORD || t == FT_CONSTANT_KEYWORD || t == FT_IP || t == FT_META_ID || t == FT_META_INDEX
           || t == FT_META_TYPE;
}

/* Text sorts by its terms, where they are kept by document. */
static bool has_text_column(const struct field *f)
{
    return f->type == FT_TEXT && f->fielddata;
}

static bool has_num_column(enum field_type t)
{
    return field_type_is_numeric(t) || t == FT_BOOLEAN || t == FT_DATE || t == FT_DATE_NANOS
           || t == FT_META_SEQ_NO || t == FT_TOKEN_COUNT;
}

static enum field_type type_of_name(struct str name)
{
    for (unsigned t = 0; t < FT_TYPES; t++) {
        if (str_is(name, field_type_name((enum field_type)t))) {
            return (enum field_type)t;
        }
    }
    return FT_OBJECT;
}

static int64_t missing_of_text(const struct sort_key *k, enum field_type t, struct str text,
                               bool is_number_token, bool *ok)
{
    double d = 0;
    int64_t l = 0;
    if (k->floating) {
        *ok = num_parse_double(text, &d);
        return k->is_float ? num_from_double((double)(float)d) : num_from_double(d);
    }
    *ok = num_parse_i64(text, &l);
    if (!*ok && is_number_token && t != FT_DATE && t != FT_DATE_NANOS && num_parse_double(text, &d)) {
        *ok = d >= -0x1p63 && d < 0x1p63;
        l = *ok ? (int64_t)d : 0;
    }
    return l;
}

static void bind_missing(struct sort_key *k, enum field_type t)
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
            k->missing_num = missing_of_text(k, t, json_text(m), m->type == JSON_NUMBER, &ok);
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

static enum err bind_unmapped(const struct search_context *cx, struct sort_key *k, enum field_type *t,
                              struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    if (s->unmapped_type.p == NULL) {
        err_set(em, ERR_QUERY_SHARD, "No mapping found for [%.*s] in order to sort on", STR_ARG(s->field));
        err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
        return ERR_QUERY_SHARD;
    }
    *t = type_of_name(s->unmapped_type);
    if (*t == FT_ALIAS) {
        return err_set(em, ERR_MAPPER_PARSING,
                       "The [path] property must be specified for field [__anonymous_].");
    }
    if (*t == FT_SCALED_FLOAT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [scaling_factor] is required");
    }
    if (*t >= FT_INTEGER_RANGE && *t <= FT_IP_RANGE) { /* nothing is there: any texts will do */
        *t = FT_KEYWORD;
    }
    if ((!is_text_type(*t) && !has_num_column(*t)) || *t >= FT_META_ID) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "No mapper found for type [%.*s]",
                       STR_ARG(s->unmapped_type));
    }
    return ERR_OK;
}

static enum err refuse_field(const struct search_context *cx, const struct sort_spec *s,
                             const struct field *f, struct errmsg *em)
{
    if (f->type == FT_TEXT && !f->fielddata) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Text fields are not optimised for operations that require per-document field data "
                       "like aggregations and "
                       "sorting, so these operations are disabled by default. Please use a keyword field "
                       "instead. Alternatively, set "
                       "fielddata=true on [%.*s] in order to load field data by uninverting the inverted "
                       "index. Note that this can use "
                       "significant memory.",
                       STR_ARG(s->field));
    }
    if (f->type == FT_COMPLETION) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Fielddata is not supported on field [%.*s] of type [%s]",
                       STR_ARG(s->field), field_type_name(f->type));
    }
    if (f->type == FT_GEO_POINT && f->doc_values) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "can't sort on geo_point field without using specific sorting feature, like geo_distance");
    }
    if (f->type == FT_OBJECT || f->type == FT_NESTED || f->type == FT_META_NESTED_PATH) {
        err_set(em, ERR_QUERY_SHARD, "No mapping found for [%.*s] in order to sort on", STR_ARG(s->field));
        err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
        return ERR_QUERY_SHARD;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type [%s]. "
                   "Use doc values instead.",
                   STR_ARG(s->field), field_type_name(f->type));
}

static bool is_number(enum field_type t)
{
    return field_type_is_numeric(t) || t == FT_BOOLEAN || t == FT_DATE || t == FT_DATE_NANOS
           || t == FT_META_SEQ_NO || t == FT_TOKEN_COUNT;
}

/* Modes and types that only numbers have. */
static enum err check_number_options(const struct search_context *cx, const struct sort_key *k,
                                     enum field_type t, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    if (is_number(t) || (t < FT_META_ID && k->field != NULL && !k->field->doc_values && t != FT_TEXT)) {
        bool is_date = t == FT_DATE || t == FT_DATE_NANOS,
             has_values = k->field == NULL || k->field->doc_values;
        if (str_is(s->numeric_type, "date_nanos") && is_number(t) && !is_date && has_values) {
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
                field_type_name(t));
    } else {
        err_set(em, ERR_QUERY_SHARD, "we only support AVG, MEDIAN and SUM on number based fields");
    }
    err_about_index(em, cx->shard->index_name, cx->shard->index_uuid);
    return ERR_QUERY_SHARD;
}

/* NULL where nobody maps it, or it is an object. */
static const struct field *leaf_field(const struct search_context *cx, struct str name)
{
    const struct field *f = mapping_field(cx->shard->view->mapping, name);
    return f != NULL && f->type != FT_OBJECT && f->type != FT_NESTED ? f : NULL;
}

static enum err bind_field(const struct search_context *cx, struct sort_key *k, struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->field = leaf_field(cx, s->field);
    enum field_type t = k->field != NULL ? k->field->type : FT_OBJECT;
    if (k->field == NULL) {
        enum err e = bind_unmapped(cx, k, &t, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    bool loaded =
        k->field == NULL
        || ((t != FT_TEXT || k->field->fielddata) && t != FT_OBJECT && t != FT_NESTED && t < FT_META_ID)
        || t == FT_META_TYPE || t == FT_META_ID || t == FT_META_INDEX || t == FT_META_SEQ_NO;
    enum err e = loaded ? check_number_options(cx, k, t, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    if (t == FT_BINARY && k->field != NULL && k->field->doc_values) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "can't sort on binary field");
    }
    if (k->field != NULL && !has_text_column(k->field)
        && ((!is_text_type(t) && !has_num_column(t)) || (!k->field->doc_values && t < FT_META_ID))) {
        return refuse_field(cx, s, k->field, em);
    }
    k->is_id = t == FT_META_ID;
    k->is_text = is_text_type(t) || t == FT_TEXT;
    k->floating = t == FT_DOUBLE || t == FT_FLOAT || t == FT_HALF_FLOAT || t == FT_SCALED_FLOAT;
    k->is_float = t == FT_FLOAT || t == FT_HALF_FLOAT;
    if (str_is(s->numeric_type, "double")) {
        k->floating = true;
        k->is_float = false;
    } else if (s->numeric_type.p != NULL) {
        k->floating = false;
    }
    bind_missing(k, t);
    /* Where a comparator of its own has to be made the value is read by that: sort_plan_check_missing(). */
    bool plain = k->nested == NULL && s->numeric_type.p == NULL && t != FT_HALF_FLOAT && t != FT_SCALED_FLOAT
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
    if (k->field != NULL && k->field->type != FT_GEO_POINT
        && ((k->field->type == FT_TEXT && !k->field->fielddata)
            || (k->field->type != FT_TEXT && !k->field->doc_values && k->field->type < FT_META_ID))) {
        return refuse_field(cx, s, k->field, em);
    }
    if (k->field != NULL && k->field->type != FT_GEO_POINT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "unable to apply geo distance sort to field [%.*s] of type [%s]", STR_ARG(s->field),
                       field_type_name(k->field->type));
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

static enum err bind_key(const struct search_context *cx, struct sort_key *k, struct sort_plan *p,
                         struct errmsg *em)
{
    const struct sort_spec *s = k->spec;
    k->mode = s->mode != SORT_MODE_DEFAULT ? s->mode : s->descending ? SORT_MODE_MAX : SORT_MODE_MIN;
    /* Where the field is not mapped, where it would be nested is not asked. */
    bool unmapped = s->kind == SORT_FIELD && mapping_field(cx->shard->view->mapping, s->field) == NULL;
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

enum err sort_plan_new(struct sort_plan **out, const struct search_context *cx, const struct sort_spec *specs,
                       uint32_t n, struct errmsg *em)
{
    struct sort_plan *p = ARENA_NEW(cx->arena, struct sort_plan);
    struct sort_key *keys = ARENA_ARRAY(cx->arena, struct sort_key, n);
    *out = NULL;
    if (p == NULL || keys == NULL) {
        return err_no_memory(em);
    }
    *p = (struct sort_plan){.cx = cx, .keys = keys, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        keys[i].spec = &specs[i];
        enum err e = bind_key(cx, &keys[i], p, em);
        if (e != ERR_OK) {
            sort_plan_fini(p);
            return e;
        }
    }
    *out = p;
    return ERR_OK;
}

static void close_stored(struct sort_plan *p)
{
    if (p->stored_open) {
        stored_reader_fini(&p->stored);
        p->stored_open = false;
    }
}

void sort_plan_fini(struct sort_plan *p)
{
    if (p != NULL) {
        close_stored(p);
        for (uint32_t i = 0; i < p->n; i++) {
            sort_nested_fini(&p->keys[i]);
        }
    }
}

bool sort_plan_needs_scores(const struct sort_plan *p)
{
    return p->needs_scores;
}

bool sort_plan_shows_scores(const struct sort_plan *p)
{
    return p->shows_scores;
}

enum err sort_plan_leaf(struct sort_plan *p, const struct leaf *leaf, struct scorer *scorer,
                        struct errmsg *em)
{
    p->leaf = leaf;
    p->scorer = scorer;
    for (uint32_t i = 0; i < p->n; i++) {
        struct sort_key *k = &p->keys[i];
        k->seg = k->field != NULL ? segment_field(leaf->segment, k->field->path) : NULL;
        num_column_open(&k->nums, k->is_text ? NULL : k->seg);
        ord_column_open(&k->ords, k->is_text ? k->seg : NULL);
        if (k->is_id) {
            close_stored(p);
            stored_reader_init(&p->stored, leaf->segment);
            p->stored_open = true;
        }
        enum err e = k->is_script ? sort_script_leaf(p, k, leaf, em) : ERR_OK;
        e = e == ERR_OK && k->nested != NULL ? sort_nested_leaf(k, leaf, em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- reading a document's keys ------------------------------------------------------------------------------------------ */

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* As Elasticsearch's MultiValueMode: whole numbers round their averages. */
static double pick_double(enum sort_mode mode, const double *v, size_t n)
{
    double sum = 0;
    switch (mode) {
    case SORT_MODE_MAX:
        return v[n - 1];
    case SORT_MODE_SUM:
    case SORT_MODE_AVG:
        for (size_t i = 0; i < n; i++) {
            sum += v[i];
        }
        return mode == SORT_MODE_AVG ? sum / (double)n : sum;
    case SORT_MODE_MEDIAN:
        return n % 2 == 0 ? (v[n / 2 - 1] + v[n / 2]) / 2 : v[n / 2];
    default:
        return v[0];
    }
}

static int64_t pick_long(enum sort_mode mode, const struct num_column *c, uint64_t first, uint32_t n)
{
    int64_t sum = 0;
    switch (mode) {
    case SORT_MODE_MAX:
        return num_column_value(c, first + n - 1);
    case SORT_MODE_SUM:
    case SORT_MODE_AVG:
        for (uint32_t i = 0; i < n; i++) {
            sum = (int64_t)((uint64_t)sum + (uint64_t)num_column_value(c, first + i));
        }
        return mode == SORT_MODE_AVG && n > 1 ? (int64_t)floor((double)sum / n + 0.5) : sum;
    case SORT_MODE_MEDIAN: {
        int64_t high = num_column_value(c, first + n / 2);
        return n % 2 == 0 ? (int64_t)floor(
                   ((double)num_column_value(c, first + n / 2 - 1) + (double)high) / 2.0 + 0.5)
                          : high;
    }
    default:
        return num_column_value(c, first);
    }
}

#define FEW 64

/* A value as a fraction; nanoseconds become milliseconds. */
double sort_fraction(const struct sort_key *k, int64_t v)
{
    return k->field->type == FT_DATE_NANOS ? (double)v / 1e6 : field_num_to_double(k->field, v);
}

/* Room for n values: `few` when they fit, else to be freed. NULL: no memory, and the plan says so. */
static double *room_for(struct sort_plan *p, size_t n, double *few)
{
    double *v = n <= FEW ? few : alloc_array(memory_allocator(MEMORY_REQUEST), n, sizeof(double));
    if (v == NULL && p->error.n == 0) {
        err_no_memory(&p->error);
    }
    return v;
}

static void done_with(double *v, const double *few)
{
    if (v != few) {
        alloc_put(memory_allocator(MEMORY_REQUEST), v);
    }
}

static int64_t pick_fraction(struct sort_plan *p, const struct sort_key *k, uint64_t first, uint32_t n)
{
    double few[FEW] = {0}, *v = room_for(p, n, few);
    if (v == NULL) {
        return k->missing_num;
    }
    for (uint32_t i = 0; i < n; i++) {
        v[i] = sort_fraction(k, num_column_value(&k->nums, first + i));
    }
    double d = pick_double(k->mode, v, n);
    done_with(v, few);
    return num_from_double(d);
}

static int64_t distance(struct sort_plan *p, const struct sort_key *k, doc_id doc)
{
    uint64_t first;
    uint32_t n = num_column_seek(&k->nums, doc, &first);
    const struct sort_spec *s = k->spec;
    size_t total = (size_t)n * s->n_points;
    if (total == 0) {
        return k->missing_num;
    }
    if (total == 1) {
        struct geo_point g = geo_unpack(num_column_value(&k->nums, first));
        return num_from_double(
            geo_distance(s->plane ? GEO_PLANE : GEO_ARC, s->lats[0], s->lons[0], g.lat, g.lon)
            / s->unit_metres);
    }
    double few[FEW] = {0}, *v = room_for(p, total, few);
    if (v == NULL) {
        return k->missing_num;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct geo_point g = geo_unpack(num_column_value(&k->nums, first + i));
        for (uint32_t j = 0; j < s->n_points && !stop_often(); j++) {
            double metres =
                geo_distance(s->plane ? GEO_PLANE : GEO_ARC, s->lats[j], s->lons[j], g.lat, g.lon);
            v[at++] = metres / s->unit_metres;
        }
    }
    memset(&v[at], 0, (total - at) * sizeof(*v)); /* stopped: nobody reads what comes of it */
    sort_items(v, total, sizeof(double), cmp_double);
    double d = pick_double(k->mode, v, total);
    done_with(v, few);
    return num_from_double(d);
}

#define METRES_PER_DEGREE 111195.0 /* of latitude */

/* A place is no nearer than its latitude is; the slack covers the tables that distances are computed with. */
bool sort_surely_after(const struct sort_plan *p, doc_id doc, const struct sort_cell *bound)
{
    const struct sort_key *k = &p->keys[0];
    const struct sort_spec *s = k->spec;
    uint64_t first;
    if (!k->is_geo || s->descending || s->n_points != 1 || k->nested != NULL
        || num_column_seek(&k->nums, doc, &first) != 1) {
        return false;
    }
    double lat = geo_unpack(num_column_value(&k->nums, first)).lat;
    return fabs(lat - s->lats[0]) * (METRES_PER_DEGREE * 0.999) - 1.0
           > num_to_double(bound->num) * s->unit_metres;
}

#define NANOS_MS_MAX (INT64_MAX / 1000000)

void sort_check_nanos(struct sort_plan *p, const struct sort_key *k, int64_t v)
{
    if (!str_is(k->spec->numeric_type, "date_nanos") || k->field->type != FT_DATE || p->error.n > 0) {
        return;
    }
    if (v < 0) {
        err_set(&p->error, ERR_ILLEGAL_ARGUMENT,
                "milliSeconds [%lld] are before the epoch in 1970 and cannot be converted to nanoseconds",
                (long long)v);
    } else if (v > NANOS_MS_MAX) {
        err_set(&p->error, ERR_ILLEGAL_ARGUMENT,
                "milliSeconds [%lld] are after 2262-04-11T23:47:16.854775807 and cannot be converted to "
                "nanoseconds",
                (long long)v);
    }
}

/* numeric_type: dates as nanoseconds or milliseconds, whole numbers as fractions and back. */
int64_t sort_cast(const struct sort_key *k, int64_t v)
{
    struct str t = k->spec->numeric_type;
    enum field_type from = k->field->type;
    if (str_is(t, "date_nanos") && from == FT_DATE) {
        return v < 0 || v > NANOS_MS_MAX ? 0 : v * 1000000; /* refused by sort_check_nanos() */
    }
    if (str_is(t, "date") && from == FT_DATE_NANOS) {
        return v / 1000000;
    }
    if ((str_is(t, "long") || str_is(t, "date"))
        && (from == FT_DOUBLE || from == FT_FLOAT || from == FT_HALF_FLOAT || from == FT_SCALED_FLOAT)) {
        return num_double_to_i64(field_num_to_double(k->field, v));
    }
    return v;
}

static void load_number(struct sort_plan *p, const struct sort_key *k, doc_id doc, struct sort_cell *out)
{
    uint64_t first;
    uint32_t n = num_column_seek(&k->nums, doc, &first);
    for (uint32_t i = 0; k->spec->numeric_type.p != NULL && i < n; i++) {
        sort_check_nanos(p, k, num_column_value(&k->nums, first + i));
    }
    if (n == 0) {
        out->num = k->missing_num;
    } else if (k->floating) {
        out->num = n == 1 ? num_from_double(sort_fraction(k, num_column_value(&k->nums, first)))
                          : pick_fraction(p, k, first, n);
    } else {
        int64_t v = n == 1 ? num_column_value(&k->nums, first) : pick_long(k->mode, &k->nums, first, n);
        out->num = k->spec->numeric_type.p != NULL ? sort_cast(k, v) : v;
    }
}

static void set_text(struct sort_cell *c, struct str text)
{
    buf_reset(&c->text);
    buf_str(&c->text, text);
    c->leaf = UINT32_MAX;
    c->null = false;
    c->settled = true;
}

static void load_text(struct sort_plan *p, const struct sort_key *k, doc_id doc, struct sort_cell *out)
{
    out->null = true;
    out->settled = false;
    out->leaf = p->leaf->index;
    if (k->field != NULL && k->field->type == FT_CONSTANT_KEYWORD && k->field->const_value.p != NULL) {
        set_text(out, k->field->const_value);
        return;
    }
    if (k->field != NULL && (k->field->type == FT_META_INDEX || k->field->type == FT_META_TYPE)) {
        set_text(out, k->field->type == FT_META_INDEX ? p->cx->shard->index_name : STR("_doc"));
        return;
    }
    if (k->is_id) {
        struct arena scratch;
        struct stored_doc stored;
        arena_init(&scratch, NULL, ARENA_UNLIMITED);
        if (stored_read(&p->stored, doc, STORED_ID, &scratch, &stored, NULL) == ERR_OK) {
            set_text(out, stored.id);
        }
        arena_fini(&scratch);
        return;
    }
    uint64_t first;
    uint32_t n = k->nested == NULL ? ord_column_seek(&k->ords, doc, &first) : 0;
    if (n > 0) {
        out->ord = ord_column_value(&k->ords, k->mode == SORT_MODE_MAX ? first + n - 1 : first);
        out->null = false;
    } else if (k->nested != NULL && sort_nested_ord(k, doc, &out->ord)) {
        out->null = false;
    } else if (k->missing_text.p != NULL) {
        set_text(out, k->missing_text);
    }
}

void sort_cell_load(struct sort_plan *p, uint32_t i, doc_id doc, struct sort_cell *out)
{
    struct sort_key *k = &p->keys[i];
    if (k->is_script) {
        sort_script_load(p, k, doc, out);
    } else if (k->is_text) {
        load_text(p, k, doc, out);
    } else if (k->spec->kind == SORT_SCORE) {
        out->num = num_from_float(p->score);
    } else if (k->spec->kind == SORT_DOC) {
        out->num = (int64_t)p->leaf->base + doc;
    } else if (k->spec->kind == SORT_SHARD_DOC) {
        out->num = (int64_t)p->cx->shard->scope.slot << 32 | (int64_t)(p->leaf->base + doc);
    } else if (k->nested != NULL) {
        sort_nested_number(p, k, doc, out);
    } else if (k->is_geo) {
        out->num = distance(p, k, doc);
    } else {
        load_number(p, k, doc, out);
    }
}

bool sort_cell_settle(struct sort_plan *p, uint32_t i, struct sort_cell *c)
{
    const struct sort_key *k = &p->keys[i];
    if (!k->is_text || c->null || c->settled) {
        return true;
    }
    c->settled = seg_term_by_ord(k->seg, c->ord, &c->text);
    if (!c->settled && p->error.n == 0 && c->text.failed) {
        err_no_memory(&p->error);
    } else if (!c->settled && p->error.n == 0) {
        err_set(&p->error, ERR_CORRUPT, "a term of field [%.*s] cannot be read", STR_ARG(k->field->name));
    }
    return c->settled;
}

int sort_cell_cmp(struct sort_plan *p, uint32_t i, struct sort_cell *a, struct sort_cell *b)
{
    const struct sort_key *k = &p->keys[i];
    int c;
    if (!k->is_text) {
        c = a->num < b->num ? -1 : a->num > b->num;
    } else if (a->null || b->null) { /* where nulls go does not depend on the direction */
        int nulls = (int)a->null - (int)b->null;
        return k->missing_first ? -nulls : nulls;
    } else if (a->leaf == b->leaf && a->leaf != UINT32_MAX) {
        c = a->ord < b->ord ? -1 : a->ord > b->ord;
    } else {
        if (!sort_cell_settle(p, i, a) || !sort_cell_settle(p, i, b)) {
            return 0;
        }
        c = str_cmp(buf_view(&a->text), buf_view(&b->text));
    }
    return k->spec->descending ? -c : c;
}

bool sort_cell_value(const struct sort_plan *p, uint32_t i, const struct sort_cell *c, struct arena *arena,
                     struct sort_value *out)
{
    const struct sort_key *k = &p->keys[i];
    if (k->is_text) {
        out->kind = c->null ? SV_NULL : SV_STR;
        if (c->null) {
            return true;
        }
        struct str text = buf_view(&c->text);
        if (k->field != NULL && k->field->type == FT_IP) { /* `missing` is taken for bytes, too */
            out->kind = SV_IP;
        }
        out->s = arena_str(arena, text);
        return out->s.p != NULL;
    }
    if (k->spec->kind == SORT_SCORE) {
        *out = (struct sort_value){.kind = SV_FLOAT, .d = (double)num_to_float(c->num)};
    } else if (k->floating) {
        *out = (struct sort_value){.kind = k->is_float ? SV_FLOAT : SV_DOUBLE, .d = num_to_double(c->num)};
    } else {
        *out = (struct sort_value){.kind = SV_LONG, .l = c->num};
    }
    return true;
}

bool sort_cell_of_value(const struct sort_plan *p, uint32_t i, const struct sort_value *v,
                        struct sort_cell *out)
{
    const struct sort_key *k = &p->keys[i];
    out->leaf = UINT32_MAX;
    out->settled = true;
    out->null = v->kind == SV_NULL;
    if (sort_value_is_bytes(v)) {
        buf_str(&out->text, v->s);
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        out->num = k->spec->kind == SORT_SCORE ? num_from_float((float)v->d) : num_from_double(v->d);
    } else if (v->kind != SV_NULL) {
        out->num = v->l;
    }
    return !out->text.failed;
}

/* ---- search_after --------------------------------------------------------------------------------------------------------- */

/* The name that Lucene has for a key: none for documents' numbers. */
static struct str key_name(const struct sort_key *k)
{
    switch (k->spec->kind) {
    case SORT_SCORE:
        return STR("_score");
    case SORT_DOC:
        return STR("null");
    case SORT_SCRIPT:
        return STR("_script");
    case SORT_GEO:
        return k->spec->field;
    default:
        return k->field == NULL ? STR("__anonymous_") : k->spec->field;
    }
}

static enum err refuse_after(const struct sort_key *k, struct str text, struct errmsg *em)
{
    jr_bad_double(text, em);
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse search_after value for field [%.*s].",
                    STR_ARG(key_name(k)));
}

static enum err text_after(const struct sort_key *k, const struct json *v, struct sort_cell *out,
                           struct errmsg *em)
{
    struct str text = json_text(v);
    uint8_t ip[16];
    out->null = v->type == JSON_NULL;
    if (k->field != NULL && k->field->type == FT_IP && !out->null) {
        if (inet_parse(text, ip, em) != ERR_OK) {
            return ERR_ILLEGAL_ARGUMENT;
        }
        text = str_mk(ip, 16);
    }
    buf_str(&out->text, text);
    return out->text.failed ? err_no_memory(em) : ERR_OK;
}

static enum err fraction_after(const struct sort_key *k, struct str text, struct sort_cell *out,
                               struct errmsg *em)
{
    double d;
    if (!num_parse_double(text, &d)) {
        return refuse_after(k, text, em);
    }
    out->num = k->spec->kind == SORT_SCORE ? num_from_float((float)d)
                                           : num_from_double(k->is_float ? (double)(float)d : d);
    return ERR_OK;
}

static enum err date_after(const struct sort_key *k, struct str text, struct sort_cell *out,
                           struct errmsg *em)
{
    struct instant t;
    if (str_starts(text, STR("now"))) {
        err_set(em, ERR_ILLEGAL_STATE, "now() is not allowed in [search_after] key");
        return err_wrap(em, ERR_PARSE, "could not read the current timestamp");
    }
    enum err e = date_math(k->field->format, text, DATE_WITHOUT_NOW, NULL, DATE_FILL_MIN, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    if (k->field->type == FT_DATE_NANOS) {
        return instant_to_nanos(t, &out->num, em);
    }
    return instant_to_ms_exact(t, &out->num, em);
}

static enum err whole_after(const struct sort_key *k, const struct json *v, struct sort_cell *out,
                            struct errmsg *em)
{
    struct str text = json_text(v);
    enum field_type t = k->field != NULL ? k->field->type : FT_LONG;
    double d;
    bool truth;
    if (v->type == JSON_NUMBER && num_parse_i64(text, &out->num)) {
        return ERR_OK;
    }
    if (v->type == JSON_NUMBER && num_parse_double(text, &d)) {
        out->num = num_double_to_i64(d);
        return ERR_OK;
    }
    if ((t == FT_DATE || t == FT_DATE_NANOS) && k->field->format != NULL) {
        return date_after(k, text, out, em);
    }
    if (t == FT_BOOLEAN) {
        if (!num_parse_bool(text, &truth) || text.n == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Cannot parse boolean [%.*s], expected either [true] or [false]", STR_ARG(text));
        }
        out->num = truth;
        return ERR_OK;
    }
    if (num_parse_i64(text, &out->num)) {
        return ERR_OK;
    }
    if (!num_parse_double(text, &d)) {
        return refuse_after(k, text, em);
    }
    out->num = num_double_to_i64(floor(d));
    return ERR_OK;
}

enum err sort_cell_parse(const struct sort_plan *p, uint32_t i, const struct json *v, struct sort_cell *out,
                         struct errmsg *em)
{
    const struct sort_key *k = &p->keys[i];
    out->leaf = UINT32_MAX;
    out->settled = true;
    if (k->is_text) {
        return text_after(k, v, out, em);
    }
    if (v->type == JSON_NULL) {
        return refuse_after(k, STR("null"), em);
    }
    if (k->floating || k->spec->kind == SORT_SCORE) {
        return fraction_after(k, json_text(v), out, em);
    }
    return whole_after(k, v, out, em);
}

/* ---- values outside the shard ----------------------------------------------------------------------------------------------- */

static int value_cmp(const struct sort_value *a, const struct sort_value *b)
{
    bool a_bytes = sort_value_is_bytes(a), b_bytes = sort_value_is_bytes(b);
    if (a_bytes
        != b_bytes) { /* a text in one index, a number in another: they have no order, but must not be mistaken */
        return a_bytes ? 1 : -1;
    }
    if (a_bytes) {
        return str_cmp(a->s, b->s);
    }
    if (a->kind == SV_LONG && b->kind == SV_LONG) {
        return a->l < b->l ? -1 : a->l > b->l;
    }
    double x = a->kind == SV_LONG ? (double)a->l : a->d, y = b->kind == SV_LONG ? (double)b->l : b->d;
    int64_t sx = num_from_double(x), sy = num_from_double(y);
    return sx < sy ? -1 : sx > sy;
}

int sort_values_cmp(const struct sort_spec *specs, uint32_t n, const struct sort_value *a,
                    const struct sort_value *b)
{
    for (uint32_t i = 0; i < n; i++) {
        bool an = a[i].kind == SV_NULL, bn = b[i].kind == SV_NULL;
        int c;
        if (an || bn) {
            const struct json *m = specs[i].missing;
            bool first = json_is(m, JSON_STRING) && str_is(m->s, "_first");
            c = (int)an - (int)bn;
            c = first ? -c : c;
        } else {
            c = value_cmp(&a[i], &b[i]);
            c = specs[i].descending ? -c : c;
        }
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

static void write_address(struct str bytes, struct jsonw *w)
{
    uint8_t address[INET_BYTES] = {[10] = 0xff, [11] = 0xff};
    struct buf shown;
    if (!sort_address_is_one(bytes)) { /* refused where hits are put together */
        jw_str(w, bytes);
        return;
    }
    memcpy(address + INET_BYTES - bytes.n, bytes.p, bytes.n);
    buf_init(&shown, NULL, KIB);
    inet_print(address, &shown);
    jw_str(w, buf_view(&shown));
    buf_fini(&shown);
}

void sort_value_write(const struct sort_value *v, struct jsonw *w)
{
    switch (v->kind) {
    case SV_NULL:
        jw_null(w);
        break;
    case SV_LONG:
        jw_i64(w, v->l);
        break;
    case SV_DOUBLE:
        jw_double(w, v->d);
        break;
    case SV_FLOAT:
        jw_float(w, (float)v->d);
        break;
    case SV_STR:
        jw_str(w, v->s);
        break;
    case SV_BOOL:
        jw_bool(w, v->l != 0);
        break;
    case SV_IP:
        write_address(v->s, w);
        break;
    }
}
