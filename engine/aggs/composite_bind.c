/* composite: its sources bound to a shard's fields, and the combination that a page begins after. */
#include "engine/aggs/composite.h"
#include "engine/mapping/java.h"

#include "common/base/coerce.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

static enum err parse_tile(struct str text, int64_t *out, struct errmsg *em)
{
    int64_t part[3];
    struct str rest = text;
    for (int i = 0; i < 3; i++) {
        if (rest.p == NULL || !num_parse_i64(str_cut(rest, '/', &rest), &part[i])) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Invalid geotile_grid hash string of %.*s. Must be three integers in a form "
                           "\"zoom/x/y\".",
                           STR_ARG(text));
        }
    }
    *out = (int64_t)((uint64_t)part[0] << 58 | ((uint64_t)part[1] & 0x1FFFFFFF) << 29
                     | ((uint64_t)part[2] & 0x1FFFFFFF));
    return ERR_OK;
}

static enum err after_text(struct source *s, const struct json *given, struct part *out, struct errmsg *em)
{
    struct str text = json_text(given);
    if (given->type != JSON_STRING) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid value, expected string, got %s",
                       java_class_name(given));
    }
    enum err e = values_term(&s->v, text, &text, em);
    if (e != ERR_OK) {
        return e;
    }
    uint32_t id = dict_of_text(&s->v.dict, text);
    out->v = id;
    return id != NO_BUCKET ? ERR_OK : err_no_memory(em);
}

/* A whole number, or what the source's format makes one of. */
static enum err after_whole(struct source *s, const struct json *given, struct part *out, struct errmsg *em)
{
    double d;
    int64_t whole;
    struct json text = json_mk_str(json_text(given)); /* numbers, too, are read in the source's format */
    if (s->v.kind == SOURCE_DATE && s->spec->vs.format.n == 0) { /* which is that of numbers */
        enum err e = num_parse_double(text.s, &d) ? ERR_OK : jr_bad_double(text.s, em);
        out->v = e != ERR_OK || num_parse_i64(text.s, &out->v) ? out->v : num_double_to_i64(floor(d));
        return e;
    }
    enum err e = values_parse(&s->v, &text, &d, &whole, em);
    bool exact = num_parse_i64(text.s, &whole);
    out->v = s->v.kind == SOURCE_NUMBER && !exact && e == ERR_OK ? num_double_to_i64(floor(d)) : whole;
    return e;
}

static enum err after_value(struct source *s, const struct json *given, struct part *out, struct errmsg *em)
{
    double d;
    int64_t whole;
    if (given->type == JSON_NULL && s->spec->missing_bucket) {
        out->null = true;
        return ERR_OK;
    }
    if (given->type == JSON_NULL || given->type == JSON_ARRAY || given->type == JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid value for [after.%.*s], expected comparable, got [%s]",
                       STR_ARG(s->spec->name), java_class_name(given));
    }
    if (s->text) {
        return after_text(s, given, out, em);
    }
    if (s->spec->kind == COMPOSITE_GEOTILE) {
        return given->type == JSON_NUMBER ? jr_long(given, &out->v, em)
                                          : parse_tile(json_text(given), &out->v, em);
    }
    if (s->spec->kind != COMPOSITE_HISTOGRAM && !(s->spec->kind == COMPOSITE_TERMS && s->v.floating)) {
        return after_whole(s, given, out, em);
    }
    struct json text = given->type == JSON_BOOL ? json_mk_str(json_text(given)) : *given;
    enum err e = values_parse(&s->v, &text, &d, &whole, em);
    out->v = num_from_double(d);
    return e;
}

static enum err bind_after(struct composite *m, const struct composite_params *p, struct errmsg *em)
{
    if (p->after == NULL) {
        return ERR_OK;
    }
    if (p->after->n != m->n) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[after] has %u value(s) but [sources] has %u", p->after->n,
                       m->n);
    }
    m->after = ARENA_ARRAY(m->c.run->arena, struct part, m->n);
    if (m->after == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const struct json *v = json_get_str(p->after, m->s[i].spec->name);
        enum err e = v == NULL ? err_set(em, ERR_ILLEGAL_ARGUMENT, "Missing value for [after.%.*s]",
                                         STR_ARG(m->s[i].spec->name))
                               : after_value(&m->s[i], v, &m->after[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err bind_source(struct composite *m, struct source *s, const struct composite_source *spec,
                            struct errmsg *em)
{
    static const enum source_kind otherwise[] = {[COMPOSITE_TERMS] = SOURCE_TEXT,
                                                 [COMPOSITE_HISTOGRAM] = SOURCE_NUMBER,
                                                 [COMPOSITE_DATE] = SOURCE_DATE,
                                                 [COMPOSITE_GEOTILE] = SOURCE_GEO};
    static const unsigned takes[] = {[COMPOSITE_TERMS] = TAKES_NUMERIC | TAKES_TEXT | TAKES_IP,
                                     [COMPOSITE_HISTOGRAM] = TAKES_NUMBER | TAKES_DATE,
                                     [COMPOSITE_DATE] = TAKES_NUMBER | TAKES_DATE,
                                     [COMPOSITE_GEOTILE] = TAKES_GEO};
    static const char *const called[] = {[COMPOSITE_TERMS] = "terms",
                                         [COMPOSITE_HISTOGRAM] = "histogram",
                                         [COMPOSITE_DATE] = "date_histogram",
                                         [COMPOSITE_GEOTILE] = "geotile_grid"};
    struct agg_run *r = m->c.run;
    s->spec = spec;
    s->start = ARENA_ARRAY(r->arena, uint32_t, BATCH + 1);
    if (s->start == NULL) {
        return err_no_memory(em);
    }
    if (spec->vs.field.p == NULL && spec->vs.script == NULL) {
        return err_set(em, ERR_ILLEGAL_STATE,
                       "value source config is invalid; must have either a field or a script");
    }
    enum err e =
        spec->kind == COMPOSITE_DATE ? date_rounding(&s->rounding, &spec->date, spec->vs.zone, em) : ERR_OK;
    e = e == ERR_OK ? values_bind_called(&s->v, r, called[spec->kind], &spec->vs, takes[spec->kind],
                                         otherwise[spec->kind], em)
                    : e;
    s->text = spec->kind == COMPOSITE_TERMS && (s->v.kind == SOURCE_TEXT || s->v.kind == SOURCE_IP);
    return e;
}

enum err composite_bind(struct composite *m, const struct composite_params *p, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < m->n; i++) {
        e = bind_source(m, &m->s[i], &p->v[i], em);
    }
    return e == ERR_OK ? bind_after(m, p, em) : e;
}
