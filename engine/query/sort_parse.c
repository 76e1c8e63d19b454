/* The `sort` section: every form that Elasticsearch reads, into specs; no mapping is asked. */
#include "common/base/geo.h"
#include "common/base/jsonr.h"
#include "engine/query/query.h"
#include "engine/query/source.h"

#include <string.h>

#define MALFORMED_IN_ARRAY \
    "malformed sort format, within the sort array, an object, or an actual string are allowed"

struct parse {
    struct str text;
    struct arena *arena;
    struct errmsg *em;
    size_t *mistake; /* where the value is that was refused; 0: that of the key's own member */
};

static void plain_sort(struct sort_spec *s, struct str name)
{
    *s = (struct sort_spec){.kind = SORT_FIELD, .field = name};
    if (str_is(name, "_score")) {
        s->kind = SORT_SCORE;
        s->descending = true;
    } else if (str_is(name, "_doc")) {
        s->kind = SORT_DOC;
    } else if (str_is(name, "_shard_doc")) {
        s->kind = SORT_SHARD_DOC;
    }
}

static enum err parse_order(struct str text, bool *descending, struct errmsg *em)
{
    *descending = str_eq_nocase(text, STR("desc"));
    if (*descending || str_eq_nocase(text, STR("asc"))) {
        return ERR_OK;
    }
    struct str upper = arena_upper(em->arena, text);
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No enum constant org.elasticsearch.search.sort.SortOrder.%.*s",
                   STR_ARG(upper));
}

static enum err parse_mode(struct str text, enum sort_mode *mode, struct errmsg *em)
{
    static const char *const names[] = {"", "min", "max", "sum", "avg", "median"};
    for (unsigned i = 1; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(text, str_of(names[i]))) {
            *mode = (enum sort_mode)i;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown SortMode [%.*s]", STR_ARG(text));
}

static struct nested_sort_spec *new_nested(const struct parse *p)
{
    struct nested_sort_spec *n = ARENA_NEW(p->arena, struct nested_sort_spec);
    if (n != NULL) {
        n->max_children = INT32_MAX;
    }
    return n;
}

static enum err parse_nested(const struct parse *p, const struct json *v, struct nested_sort_spec **out);

static enum err nested_member(const struct parse *p, const struct json_member *m, struct nested_sort_spec *n)
{
    if (str_is(m->key, "filter")) {
        n->filter = &m->value;
        if (query_check(n->filter, p->text, NULL, p->arena, p->em) == ERR_OK) {
            return ERR_OK;
        }
        const struct err_frame *f = p->em->frame;
        return err_wrap_at(p->em, ERR_PARSING, f->line, f->col, "Expected nested_filter element.");
    }
    if (str_is(m->key, "nested")) {
        struct nested_sort_spec *inside;
        enum err e = parse_nested(p, &m->value, &inside);
        n->inside = inside;
        return e;
    }
    if (str_is(m->key, "path")) {
        n->path = json_text(&m->value);
        if (m->value.type != JSON_ARRAY && m->value.type != JSON_OBJECT) {
            return ERR_OK;
        }
        uint32_t line, col;
        *p->mistake = m->value.off;
        json_place(p->text, m->value.off, &line, &col);
        return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u",
                       json_token_name(&m->value), line, col);
    }
    if (str_is(m->key, "max_children")) {
        return jr_int(&m->value, &n->max_children, p->em);
    }
    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "malformed nested sort format, unknown field name [%.*s]",
            STR_ARG(m->key));
    *p->mistake = m->value.off;
    return ERR_ILLEGAL_ARGUMENT;
}

/* "nested": {"path", "filter", "max_children", "nested"}; what depends on the mapping is bound by the
 * shard. */
static enum err parse_nested(const struct parse *p, const struct json *v, struct nested_sort_spec **out)
{
    enum err e = ERR_OK;
    *out = new_nested(p);
    if (*out == NULL) {
        return err_no_memory(p->em);
    }
    if (v->type != JSON_OBJECT) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "malformed nested sort format, must start with an object");
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = nested_member(p, &v->members[i], *out);
    }
    return e;
}

/* nested_path and nested_filter beside the key: the old form of "nested". */
static enum err old_nested(const struct parse *p, struct sort_spec *s, const struct json_member *m,
                           bool *known)
{
    bool filter = str_is(m->key, "nested_filter");
    *known = filter || str_is(m->key, "nested_path");
    if (!*known) {
        return ERR_OK;
    }
    s->nested = s->nested != NULL ? s->nested : new_nested(p);
    if (s->nested == NULL) {
        return err_no_memory(p->em);
    }
    if (filter) {
        s->nested->filter = &m->value;
        return query_check(&m->value, p->text, NULL, p->arena, p->em);
    }
    s->nested->path = json_text(&m->value);
    return ERR_OK;
}

static unsigned kinds_of_option(struct str key)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } options[] = {{"order", JR_STRING},  {"mode", JR_STRING},          {"unmapped_type", JR_STRING},
                   {"type", JR_STRING},   {"numeric_type", JR_STRING},  {"nested_path", JR_STRING},
                   {"nested", JR_OBJECT}, {"nested_filter", JR_OBJECT}, {"script", JR_STRING | JR_OBJECT},
                   {"missing", JR_VALUE}};
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        if (str_is(key, options[i].name)) {
            return options[i].kinds;
        }
    }
    return JR_VALUE | JR_ARRAY | JR_OBJECT;
}

static enum err numeric_type(const struct parse *p, struct str t)
{
    static const char *const types[] = {"long", "double", "date", "date_nanos"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(t, types[i])) {
            return ERR_OK;
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   "invalid value for [numeric_type], must be [long, double, date, date_nanos], got %.*s",
                   STR_ARG(t));
}

static enum err field_option(const struct parse *p, struct sort_spec *s, const struct json_member *m,
                             bool *known)
{
    struct str t = json_text(&m->value);
    *known = true;
    if (str_is(m->key, "missing")) {
        s->missing = m->value.type == JSON_NULL ? NULL : &m->value;
        return ERR_OK;
    }
    if (str_is(m->key, "unmapped_type")) {
        s->unmapped_type = t;
        return ERR_OK;
    }
    if (str_is(m->key, "mode")) {
        return parse_mode(t, &s->mode, p->em);
    }
    if (str_is(m->key, "numeric_type")) {
        s->numeric_type = t;
        return numeric_type(p, t);
    }
    if (str_is(m->key, "nested")) {
        return parse_nested(p, &m->value, &s->nested);
    }
    return old_nested(p, s, m, known);
}

static enum err field_member(const struct parse *p, struct sort_spec *s, const struct json_member *m,
                             bool is_score)
{
    static const char *const options[] = {"missing",      "unmapped_type", "order",         "mode", "nested",
                                          "numeric_type", "nested_path",   "nested_filter", NULL};
    static const char *const score_options[] = {"order", NULL};
    const char *parser = is_score ? "_score" : "field_sort";
    bool known = true;
    *p->mistake = 0;
    if (is_score && !str_is(m->key, "order")) {
        return jr_unknown_field(p->text, m->key_off, parser, m->key, score_options, p->em);
    }
    enum err e = jr_expect(p->text, parser, m, kinds_of_option(m->key), p->em);
    if (e != ERR_OK) {
        return e;
    }
    e = str_is(m->key, "order") ? parse_order(json_text(&m->value), &s->descending, p->em)
                                : field_option(p, s, m, &known);
    if (e == ERR_OK && !known) {
        return jr_unknown_field(p->text, m->key_off, parser, m->key, options, p->em);
    }
    size_t at = *p->mistake > 0 ? *p->mistake : m->value.off;
    return e == ERR_OK ? e : jr_wrap_field(p->text, at, parser, m->key, p->em);
}

/* What comes behind a place in the body: the offset of the next token, and what it is called where no value
 * stands there. */
static const char *next_token(struct str text, size_t *at)
{
    while (*at < text.n && memchr(" \t\r\n,", text.p[*at], 5) != NULL) {
        (*at)++;
    }
    char c = *at < text.n ? text.p[*at] : '\0';
    return c == '}' ? "END_OBJECT" : c == ']' ? "END_ARRAY" : "FIELD_NAME";
}

/* The object of a key. ObjectParser takes one token when it stands before none, whatever that token was: an array
 * whose first element is an object is that object. */
static enum err object_of(const struct parse *p, const char *parser, const struct json *v,
                          const struct json **out)
{
    *out = v;
    if (v->type == JSON_OBJECT) {
        return ERR_OK;
    }
    if (v->type == JSON_ARRAY && v->n > 0) {
        *out = &v->items[0];
        if (v->items[0].type != JSON_OBJECT) {
            return jr_fail_xc(p->text, v->items[0].off, p->em, "[%s] Expected START_OBJECT but was: %s",
                              parser, json_token_name(&v->items[0]));
        }
        for (uint32_t i = 1; i < v->n; i++) {
            if (v->items[i].type == JSON_OBJECT) {
                return jr_fail(p->text, v->end - 1, p->em, "Unknown key for a END_ARRAY in [sort].");
            }
        }
        return ERR_OK;
    }
    size_t at = v->type == JSON_ARRAY ? v->off + 1 : v->end;
    const char *name = next_token(p->text, &at);
    return jr_fail_xc(p->text, at, p->em, "[%s] Expected START_OBJECT but was: %s", parser, name);
}

static enum err field_object(const struct parse *p, struct sort_spec *s, struct str name,
                             const struct json *v)
{
    plain_sort(s, name);
    enum err e = object_of(p, s->kind == SORT_SCORE ? "_score" : "field_sort", v, &v);
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = field_member(p, s, &v->members[i], s->kind == SORT_SCORE);
    }
    return e;
}

/* ---- _geo_distance ------------------------------------------------------------------------------------- */

struct points {
    struct arena *arena;
    double *lats, *lons;
    uint32_t n;
    size_t lats_cap, lons_cap;
};

static enum err add_point(void *self, struct geo_point g, struct errmsg *em)
{
    struct points *l = self;
    double *lats = arena_grow(l->arena, l->lats, l->n, &l->lats_cap, sizeof(double));
    double *lons = arena_grow(l->arena, l->lons, l->n, &l->lons_cap, sizeof(double));
    if (lats == NULL || lons == NULL) {
        return err_no_memory(em);
    }
    l->lats = lats;
    l->lons = lons;
    l->lats[l->n] = g.lat;
    l->lons[l->n++] = g.lon;
    return ERR_OK;
}

/* A member that gives a point, or several: its name is the field's. */
/* Points; two numbers in turn are one as well, longitude first. */
static enum err geo_list(const struct parse *p, const struct json *v, void *list)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < v->n && e == ERR_OK; i++) {
        struct geo_point g;
        if (v->items[i].type != JSON_NUMBER) {
            e = geo_point_of_json(&g, &v->items[i], false, p->em);
        } else if (i + 1 == v->n || v->items[i + 1].type != JSON_NUMBER) {
            return err_set(p->em, ERR_PARSE, "geo point parsing: expected second number but got [%s] instead",
                           i + 1 == v->n ? "END_ARRAY" : jr_token(&v->items[i + 1]));
        } else {
            g = (struct geo_point){json_double(&v->items[i + 1]), json_double(&v->items[i])};
            i++;
        }
        e = e == ERR_OK ? add_point(list, g, p->em) : e;
    }
    return e;
}

static enum err geo_member(const struct parse *p, struct sort_spec *s, const struct json_member *m,
                           struct points *list)
{
    if (m->value.type == JSON_NULL) {
        return ERR_OK;
    }
    bool other = s->field.p != NULL && !str_eq(s->field, m->key);
    if (other && (m->value.type == JSON_NUMBER || m->value.type == JSON_BOOL)) {
        return jr_fail(p->text, m->value.off, p->em, "[_geo_distance] does not support [%.*s]",
                       STR_ARG(m->key));
    }
    if (m->value.type != JSON_ARRAY && other) {
        return jr_fail(p->text, m->value.off, p->em,
                       "Trying to reset fieldName to [%.*s], already set to [%.*s].", STR_ARG(m->key),
                       STR_ARG(s->field));
    }
    s->field = m->key;
    if (m->value.type == JSON_ARRAY && m->value.n == 1 && m->value.items[0].type == JSON_NUMBER) {
        return err_set(p->em, ERR_PARSE,
                       "geo point parsing: expected second number but got [END_ARRAY] instead");
    }
    return m->value.type == JSON_ARRAY ? geo_list(p, &m->value, list)
                                       : geo_points_of_json(&m->value, false, add_point, list, p->em);
}

static enum err geo_option(const struct parse *p, struct sort_spec *s, struct str key, const struct json *v,
                           bool *known)
{
    struct str t = json_text(v);
    *known =
        v->type != JSON_ARRAY && v->type != JSON_NULL && (v->type != JSON_OBJECT || str_is(key, "nested"));
    if (!*known) {
        return ERR_OK;
    }
    if (str_is(key, "unit")) {
        return geo_unit_of(t, &s->unit_metres, p->em);
    }
    if (str_is(key, "order")) {
        return parse_order(t, &s->descending, p->em);
    }
    if (str_is(key, "distance_type")) {
        enum geo_distance_kind kind;
        if (!geo_distance_kind_of(t, &kind)) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "No geo distance for [%.*s]", STR_ARG(t));
        }
        s->plane = kind == GEO_PLANE;
        return ERR_OK;
    }
    if (str_is(key, "mode") || str_is(key, "sort_mode")) {
        enum err e = parse_mode(t, &s->mode, p->em);
        if (e == ERR_OK && s->mode == SORT_MODE_SUM) {
            e = err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                        "sort_mode [sum] isn't supported for sorting by geo distance");
        }
        return e;
    }
    if (str_is(key, "ignore_unmapped")) {
        return jr_bool(v, &s->ignore_unmapped, p->em);
    }
    if (str_is(key, "validation_method")) {
        if (!str_eq_nocase(t, STR("STRICT")) && !str_eq_nocase(t, STR("COERCE"))
            && !str_eq_nocase(t, STR("IGNORE_MALFORMED"))) {
            return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                           "operator needs to be either [COERCE, IGNORE_MALFORMED, STRICT], but not [%.*s]",
                           STR_ARG(t));
        }
        s->lenient_points = !str_eq_nocase(t, STR("STRICT"));
        return ERR_OK;
    }
    if (str_is(key, "nested")) {
        return parse_nested(p, v, &s->nested);
    }
    *known = false;
    return ERR_OK;
}

/* A list where the object of options stands: its elements are taken for points, and what follows for sorts. */
static enum err refused_geo_list(const struct parse *p, const struct json *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->type == JSON_OBJECT && item->n > 0 && !str_is(item->members[0].key, "lat")
            && !str_is(item->members[0].key, "lon") && !str_is(item->members[0].key, "geohash")) {
            return err_set(p->em, ERR_PARSE, "field must be either [lat], [lon] or [geohash]");
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   v->n > 0 ? MALFORMED_IN_ARRAY : "Geo distance sorting needs at least one point.");
}

static enum err geo_sort(const struct parse *p, struct sort_spec *s, const struct json *v)
{
    if (v->type == JSON_ARRAY) {
        return refused_geo_list(p, v);
    }
    *s = (struct sort_spec){.kind = SORT_GEO, .unit_metres = 1};
    struct points list = {.arena = p->arena};
    for (uint32_t i = 0; v->type == JSON_OBJECT && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool known;
        enum err e = geo_option(p, s, m->key, &m->value, &known);
        e = e == ERR_OK && !known ? old_nested(p, s, m, &known) : e;
        e = e == ERR_OK && !known ? geo_member(p, s, m, &list) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    if (list.n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Geo distance sorting needs at least one point.");
    }
    s->lats = list.lats;
    s->lons = list.lons;
    s->n_points = list.n;
    /* The nearest first, from one point, in metres: Lucene's own sort, which knows no plane. */
    bool nearest =
        !s->descending && (s->mode == SORT_MODE_DEFAULT || s->mode == SORT_MODE_MIN) && s->unit_metres == 1;
    if (nearest && list.n == 1 && s->nested == NULL) {
        s->plane = false;
    }
    return ERR_OK;
}

/* ---- _script ------------------------------------------------------------------------------------------- */

static enum err script_option(const struct parse *p, struct sort_spec *s, const struct json_member *m,
                              bool *known)
{
    struct str t = json_text(&m->value);
    *known = true;
    if (str_is(m->key, "script")) {
        s->script = &m->value;
        enum err e = script_check(s->script, p->text, p->arena, p->em);
        if (e == ERR_ILLEGAL_ARGUMENT && m->value.type == JSON_OBJECT) { /* of the script as a whole */
            *p->mistake = m->value.end - 1;
        }
        return e;
    }
    if (str_is(m->key, "type")) {
        s->script_is_string = str_eq_nocase(t, STR("string"));
        return s->script_is_string || str_eq_nocase(t, STR("number"))
                   ? ERR_OK
                   : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Unknown ScriptSortType [%.*s]", STR_ARG(t));
    }
    if (str_is(m->key, "order")) {
        return parse_order(t, &s->descending, p->em);
    }
    if (str_is(m->key, "mode")) {
        return parse_mode(t, &s->mode, p->em);
    }
    if (str_is(m->key, "nested")) {
        return parse_nested(p, &m->value, &s->nested);
    }
    *known = false;
    return ERR_OK;
}

static enum err script_member(const struct parse *p, struct sort_spec *s, const struct json_member *m)
{
    static const char *const options[] = {"script", "type",        "order",         "mode",
                                          "nested", "nested_path", "nested_filter", NULL};
    bool known;
    *p->mistake = 0;
    enum err e = jr_expect(p->text, "_script", m, kinds_of_option(m->key), p->em);
    if (e != ERR_OK) {
        return e;
    }
    e = script_option(p, s, m, &known);
    if (e == ERR_OK && !known) {
        return jr_unknown_field(p->text, m->key_off, "_script", m->key, options, p->em);
    }
    size_t at = *p->mistake > 0 ? *p->mistake : m->value.off;
    return e == ERR_OK ? e : jr_wrap_field(p->text, at, "_script", m->key, p->em);
}

/* Texts have no sum, and no mean. */
static enum err check_script_mode(const struct parse *p, const struct sort_spec *s, const struct json *mode)
{
    if (!s->script_is_string || s->mode == SORT_MODE_DEFAULT || s->mode == SORT_MODE_MIN
        || s->mode == SORT_MODE_MAX) {
        return ERR_OK;
    }
    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "script sort of type [string] doesn't support mode [%s]",
            s->mode == SORT_MODE_SUM   ? "sum"
            : s->mode == SORT_MODE_AVG ? "avg"
                                       : "median");
    return jr_wrap_field(p->text, mode->off, "_script", STR("mode"), p->em);
}

static enum err script_sort(const struct parse *p, struct sort_spec *s, const struct json *v)
{
    *s = (struct sort_spec){.kind = SORT_SCRIPT};
    enum err e = object_of(p, "_script", v, &v);
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = script_member(p, s, &v->members[i]);
    }
    if (e != ERR_OK) {
        return e;
    }
    bool typed = json_get(v, "type") != NULL;
    if (s->script == NULL || !typed) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [%s]",
                       s->script == NULL ? (typed ? "script" : "script, type") : "type");
    }
    return check_script_mode(p, s, json_get(v, "mode"));
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static enum err one_member(const struct parse *p, struct sort_spec *s, const struct json_member *m)
{
    if (m->value.type == JSON_STRING) {
        plain_sort(s, m->key);
        return parse_order(m->value.s, &s->descending, p->em);
    }
    if (str_is(m->key, "_geo_distance") || str_is(m->key, "_geoDistance")) {
        return geo_sort(p, s, &m->value);
    }
    if (str_is(m->key, "_script")) {
        return script_sort(p, s, &m->value);
    }
    return field_object(p, s, m->key, &m->value);
}

static uint32_t count_keys(const struct json *v)
{
    if (v->type == JSON_OBJECT) {
        return v->n;
    }
    if (v->type != JSON_ARRAY) {
        return 1;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        n += v->items[i].type == JSON_OBJECT ? v->items[i].n : 1;
    }
    return n;
}

static enum err add_one(const struct parse *p, struct sort_spec *list, uint32_t *n, const struct json *v,
                        bool in_array)
{
    if (v->type == JSON_OBJECT) {
        for (uint32_t i = 0; i < v->n; i++) {
            enum err e = one_member(p, &list[(*n)++], &v->members[i]);
            if (e != ERR_OK) {
                return e;
            }
        }
        return ERR_OK;
    }
    bool scalar = v->type == JSON_STRING || (!in_array && (v->type == JSON_NUMBER || v->type == JSON_BOOL));
    if (!scalar) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       in_array
                           ? MALFORMED_IN_ARRAY
                           : "malformed sort format, either start with array, object, or an actual string");
    }
    plain_sort(&list[(*n)++], json_text(v));
    return ERR_OK;
}

enum err sort_parse(const struct sort_spec **out, uint32_t *n, const struct json *v, struct str text,
                    struct arena *arena, struct errmsg *em)
{
    size_t mistake = 0;
    struct parse p = {text, arena, em, &mistake};
    struct sort_spec *list = ARENA_ARRAY(arena, struct sort_spec, (size_t)count_keys(v) + 1);
    if (list == NULL) {
        return err_no_memory(em);
    }
    *n = 0;
    *out = list;
    if (v->type != JSON_ARRAY) {
        return add_one(&p, list, n, v, false);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        enum err e = add_one(&p, list, n, &v->items[i], true);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
