/* The definition of composite: its sources, each a small definition of its own. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"

static enum err source_order(struct agg_parse *p, struct composite_source *s, const struct json *v)
{
    struct str t = json_text(v);
    s->descending = str_eq_nocase(t, STR("desc"));
    if (!s->descending && !str_eq_nocase(t, STR("asc"))) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "No enum constant org.elasticsearch.search.sort.SortOrder.%.*s", STR_ARG(t));
    }
    return ERR_OK;
}

static enum err histogram_interval(struct agg_parse *p, struct composite_source *s, const struct json *v)
{
    enum err e = jr_double(v, &s->interval, p->em);
    if (e == ERR_OK && !(s->interval > 0)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[interval] must be greater than 0 for [histogram] source");
    }
    return e;
}

static enum err tile_precision(struct agg_parse *p, struct composite_source *s, const struct json *v)
{
    enum err e = jr_int(v, &s->precision, p->em);
    if (e == ERR_OK && (s->precision < 0 || s->precision > 29)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geotile_grid precision of %d. Must be between 0 and 29.", s->precision);
    }
    return e;
}

/* One parameter of a source; *known stays false for what this kind of source has not. */
static enum err source_member(struct agg_parse *p, struct composite_source *s, struct str key,
                              const struct json *v, bool *known)
{
    *known = true;
    if (str_is(key, "order")) {
        return source_order(p, s, v);
    }
    if (str_is(key, "missing_bucket")) {
        return jr_bool(v, &s->missing_bucket, p->em);
    }
    if (s->kind == COMPOSITE_HISTOGRAM && str_is(key, "interval")) {
        return histogram_interval(p, s, v);
    }
    if (s->kind == COMPOSITE_GEOTILE && str_is(key, "precision")) {
        return tile_precision(p, s, v);
    }
    if (s->kind == COMPOSITE_DATE && str_is(key, "calendar_interval")) {
        return agg_calendar_interval(p, &s->date, v);
    }
    if (s->kind == COMPOSITE_DATE && str_is(key, "fixed_interval")) {
        return agg_fixed_interval(p, &s->date, v);
    }
    if (s->kind == COMPOSITE_DATE && str_is(key, "interval")) {
        return agg_old_interval(p, &s->date, v);
    }
    if (s->kind == COMPOSITE_DATE && str_is(key, "offset")) {
        return agg_offset_parse(v, &s->date.offset_ms, p->em);
    }
    bool date_only = str_is(key, "format") || str_is(key, "time_zone");
    if (str_is(key, "missing") || (date_only && s->kind != COMPOSITE_DATE)) {
        *known = false;
        return ERR_OK;
    }
    return agg_source_one(p, &s->vs, key, v, known);
}

static enum err source_body(struct agg_parse *p, struct composite_source *s, const char *kind,
                            const struct json *body)
{
    static const char *const known_names[] = {"field", "script",         "value_type",
                                              "order", "missing_bucket", NULL};
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        bool known = false;
        enum err e = source_member(p, s, m->key, &m->value, &known);
        if (!known) {
            return jr_unknown_field(p->text, m->key_off, kind, m->key, known_names, p->em);
        }
        if (e != ERR_OK) {
            return jr_wrap_field(p->text, m->value.off, kind, m->key, p->em);
        }
    }
    return ERR_OK;
}

static enum err unexpected(struct agg_parse *p, uint32_t off, const char *want, const char *got)
{
    return jr_fail(p->text, off, p->em, "Failed to parse object: expecting token of type [%s] but found [%s]",
                   want, got);
}

/* An object with something in it. */
static enum err expect_object(struct agg_parse *p, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return unexpected(p, v->off, "START_OBJECT", json_token_name(v));
    }
    return v->n > 0 ? ERR_OK : unexpected(p, v->end - 1, "FIELD_NAME", "END_OBJECT");
}

/* {"name":{"terms":{...}}} */
static enum err one_source(struct agg_parse *p, const struct json *v, struct composite_source *s)
{
    static const char *const kinds[] = {"terms", "histogram", "date_histogram", "geotile_grid"};
    enum err shape = expect_object(p, v);
    shape = shape == ERR_OK ? expect_object(p, &v->members[0].value) : shape;
    if (shape != ERR_OK) {
        return shape;
    }
    const struct json *def = &v->members[0].value;
    s->name = v->members[0].key;
    s->precision = 7;
    const struct json_member *m = &def->members[0];
    unsigned kind = 0;
    while (kind < ARRAY_LEN(kinds) && !str_is(m->key, kinds[kind])) {
        kind++;
    }
    if (m->value.type != JSON_OBJECT) {
        return unexpected(p, m->value.off, "START_OBJECT", json_token_name(&m->value));
    }
    if (kind == ARRAY_LEN(kinds)) {
        return jr_fail(p->text, m->value.off, p->em, "invalid source type: %.*s", STR_ARG(m->key));
    }
    s->kind = kind;
    if (def->n > 1 || v->n > 1) {
        enum err e = source_body(p, s, kinds[kind], &m->value);
        /* the parser goes on as if the next name's value were the next source */
        if (e == ERR_OK && def->n == 1) {
            e = expect_object(p, &v->members[1].value);
            const struct json *next = e == ERR_OK ? &v->members[1].value.members[0].value : NULL;
            e = e == ERR_OK ? expect_object(p, next) : e;
            e = e == ERR_OK && next->members[0].value.type != JSON_OBJECT ? unexpected(
                    p, next->members[0].value.off, "START_OBJECT", json_token_name(&next->members[0].value))
                                                                          : e;
        }
        return e != ERR_OK ? e : err_set(p->em, ERR_ILLEGAL_STATE, "expected value but got [END_OBJECT]");
    }
    return source_body(p, s, kinds[kind], &m->value);
}

static enum err refuse_sources(struct agg_parse *p, const char *why, struct str name)
{
    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s%.*s%s", why, STR_ARG(name), name.n > 0 ? "]" : "");
    return err_wrap(p->em, ERR_X_CONTENT, "Failed to build [composite] after last required field arrived");
}

static enum err set_sources(struct agg_parse *p, struct agg *a, const struct json *v)
{
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    struct composite_source *list = ARENA_ARRAY(p->arena, struct composite_source, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = one_source(p, v->type == JSON_ARRAY ? &v->items[i] : v, &list[i]);
        for (uint32_t k = 0; e == ERR_OK && k < i; k++) {
            if (str_eq(list[k].name, list[i].name)) {
                e = refuse_sources(p, "Composite source names must be unique, found duplicates: [",
                                   list[i].name);
            }
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    a->composite.v = list;
    a->composite.n = n;
    return n > 0 ? ERR_OK : refuse_sources(p, "Composite [sources] cannot be null or empty", STR(""));
}

static enum err set_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    a->composite.size = e == ERR_OK ? n : a->composite.size;
    return e;
}

static enum err set_after(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->composite.after = v;
    return ERR_OK;
}

static const struct agg_param composite_params[] = {{"sources", TK_ARRAY | TK_OBJECT, set_sources},
                                                    {"size", TK_INT, set_size},
                                                    {"after", TK_OBJECT, set_after},
                                                    {NULL, 0, NULL}};

enum err parse_composite(struct agg_parse *p, struct agg *a, const struct json *body)
{
    a->composite.size = 10;
    enum err e = agg_params(p, a, body, "composite", composite_params, NULL);
    if (e == ERR_OK && a->composite.n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [sources]");
    }
    return e;
}
