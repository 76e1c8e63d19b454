/* What the parsers of single aggregations share: parameters by table, sources of values, orders, paths,
 * intervals. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "engine/query/query.h"

#include <math.h>

static unsigned token_of(const struct json *v)
{
    static const unsigned of[] = {
        [JSON_NULL] = TK_NULL,     [JSON_BOOL] = TK_BOOL,   [JSON_NUMBER] = TK_NUMBER,
        [JSON_STRING] = TK_STRING, [JSON_ARRAY] = TK_ARRAY, [JSON_OBJECT] = TK_OBJECT};
    return of[v->type];
}

static const struct agg_param *find_param(const struct agg_param *table, struct str key)
{
    for (; table != NULL && table->name != NULL; table++) {
        if (str_is(key, table->name)) {
            return table;
        }
    }
    return NULL;
}

bool agg_param_known(const struct agg_param *table, struct str key)
{
    return find_param(table, key) != NULL;
}

enum err agg_params(struct agg_parse *p, struct agg *a, const struct json *body, const char *parser,
                    const struct agg_param *table, const struct agg_param *more)
{
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        const struct agg_param *q = find_param(table, m->key);
        q = q != NULL ? q : find_param(more, m->key);
        if (q == NULL) {
            const char *known[64];
            size_t n = 0;
            for (const struct agg_param *t = table; t->name != NULL && n < 32; t++) {
                known[n++] = t->name;
            }
            for (const struct agg_param *t = more; t != NULL && t->name != NULL && n < 63; t++) {
                known[n++] = t->name;
            }
            known[n] = NULL;
            return jr_unknown_field(p->text, m->key_off, parser, m->key, known, p->em);
        }
        if ((q->tokens & token_of(&m->value)) == 0) {
            return jr_fail_xc(p->text, m->value.off, p->em, "[%s] %s doesn't support values of type: %s",
                              parser, q->name, json_token_name(&m->value));
        }
        enum err e = q->set(p, a, &m->value);
        if (e == ERR_NO_MEMORY) {
            return e;
        }
        if (e != ERR_OK) {
            return jr_wrap_field(p->text, m->value.off, parser, m->key, p->em);
        }
    }
    return ERR_OK;
}

/* ---- sources ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum value_type type;
} value_types[] = {{"string", VT_STRING}, {"long", VT_LONG},     {"integer", VT_LONG},
                   {"short", VT_LONG},    {"byte", VT_LONG},     {"double", VT_DOUBLE},
                   {"float", VT_DOUBLE},  {"number", VT_DOUBLE}, {"numeric", VT_DOUBLE},
                   {"date", VT_DATE},     {"ip", VT_IP},         {"boolean", VT_BOOLEAN},
                   {"geo_point", VT_GEO}};

static enum err set_value_type(struct agg_parse *p, struct source_spec *s, const struct json *v)
{
    for (size_t i = 0; i < ARRAY_LEN(value_types); i++) {
        if (str_eq_nocase(json_text(v), str_of(value_types[i].name))) {
            s->value_type = value_types[i].type;
            return ERR_OK;
        }
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Unknown value type [%.*s]", STR_ARG(json_text(v)));
}

enum err agg_zone_parse(struct agg_parse *p, const struct json *v, const struct zone **out)
{
    struct str id = json_text(v);
    int64_t hours;
    if (v->type == JSON_NUMBER && json_i64(v, &hours)) {
        id = arena_printf(p->arena, "%c%02lld:00", hours < 0 ? '-' : '+',
                          (long long)(hours < 0 ? -hours : hours));
        if (id.p == NULL) {
            return err_no_memory(p->em);
        }
    }
    return zone_of(out, id, p->arena, p->em);
}

static enum err set_field(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->vs.field = json_text(v);
    return ERR_OK;
}

static enum err set_missing(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->vs.missing = v->type != JSON_NULL ? v : NULL;
    return ERR_OK;
}

static enum err set_type(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return set_value_type(p, &a->vs, v);
}

static enum err set_format(struct agg_parse *p, struct agg *a, const struct json *v)
{
    (void)p;
    a->vs.format = json_text(v);
    return ERR_OK;
}

static enum err set_script(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->vs.script = v;
    return script_check(v, p->text, p->arena, p->em);
}

static enum err set_zone(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_zone_parse(p, v, &a->vs.zone);
}

const struct agg_param agg_source_params[] = {
    {"field", TK_STRING, set_field},     {"missing", TK_VALUE, set_missing},
    {"value_type", TK_STRING, set_type}, {"format", TK_STRING, set_format},
    {"script", TK_SCRIPT, set_script},   {NULL, 0, NULL}};
const struct agg_param agg_source_params_zone[] = {{"field", TK_STRING, set_field},
                                                   {"missing", TK_VALUE, set_missing},
                                                   {"value_type", TK_STRING, set_type},
                                                   {"format", TK_STRING, set_format},
                                                   {"script", TK_SCRIPT, set_script},
                                                   {"time_zone", TK_INT, set_zone},
                                                   {NULL, 0, NULL}};

enum err agg_source_one(struct agg_parse *p, struct source_spec *s, struct str key, const struct json *v,
                        bool *known)
{
    struct agg scratch = {.vs = *s};
    const struct agg_param *q = find_param(agg_source_params_zone, key);
    *known = q != NULL;
    if (q == NULL) {
        return ERR_OK;
    }
    enum err e = q->set(p, &scratch, v);
    *s = scratch.vs;
    return e;
}

enum err agg_need_source(struct agg_parse *p, const struct source_spec *s)
{
    if (s->field.p != NULL || s->script != NULL) {
        return ERR_OK;
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   "Required one of fields [field, script], but none were specified. ");
}

/* ---- paths and orders ---------------------------------------------------------------------------------- */

/* The last step may name a value: "st.max", "p[95]". */
static bool split_key(struct agg_step *s, bool last)
{
    struct str t = s->name;
    size_t open = str_find(t, '[', 0);
    if (open != SIZE_MAX) {
        if (open == 0 || t.n < open + 3 || t.p[t.n - 1] != ']' || str_find(t, ']', 0) != t.n - 1) {
            return false;
        }
        s->name = str_slice(t, 0, open);
        s->key = str_slice(t, open + 1, t.n - 1);
        return true;
    }
    size_t dot = SIZE_MAX;
    for (size_t i = t.n; last && i-- > 0;) {
        if (t.p[i] == '.') {
            dot = i;
            break;
        }
    }
    if (dot == 0 || (dot != SIZE_MAX && dot + 1 == t.n)) {
        return false;
    }
    if (dot != SIZE_MAX) {
        s->name = str_slice(t, 0, dot);
        s->key = str_slice(t, dot + 1, t.n);
    }
    return true;
}

bool agg_path_parse(struct agg_path *out, struct str text, struct arena *arena, struct errmsg *em,
                    enum err *e)
{
    uint32_t n = 1;
    for (size_t i = 0; i < text.n; i++) {
        n += text.p[i] == '>';
    }
    struct agg_step *v = ARENA_ARRAY(arena, struct agg_step, n);
    *e = v == NULL ? err_no_memory(em) : ERR_OK;
    if (v == NULL) {
        return false;
    }
    struct str rest = text;
    for (uint32_t i = 0; i < n; i++) {
        v[i].name = str_cut(rest, '>', &rest);
        if (v[i].name.n == 0 || !split_key(&v[i], i + 1 == n)) {
            *e = err_set(em, ERR_AGG_EXECUTION, "Invalid path element [%.*s] in path [%.*s]",
                         STR_ARG(v[i].name), STR_ARG(text));
            return false;
        }
    }
    *out = (struct agg_path){text, v, n};
    return true;
}

static enum err order_member(struct agg_parse *p, const struct json_member *m, struct agg_order *o)
{
    if (m->value.type != JSON_STRING) {
        return jr_fail(p->text, m->value.off, p->em, "Unexpected token [%s] for [order]",
                       json_token_name(&m->value));
    }
    o->asc = str_eq_nocase(m->value.s, STR("asc"));
    if (!o->asc && !str_eq_nocase(m->value.s, STR("desc"))) {
        return jr_fail(p->text, m->value.off, p->em, "Unknown order direction [%.*s]", STR_ARG(m->value.s));
    }
    enum err e = ERR_OK;
    if (str_is(m->key, "_count")) {
        o->by = ORDER_COUNT;
    } else if (str_is(m->key, "_key") || str_is(m->key, "_term") || str_is(m->key, "_time")) {
        o->by = ORDER_KEY;
    } else {
        o->by = ORDER_PATH;
        agg_path_parse(&o->path, m->key, p->arena, p->em, &e);
    }
    return e;
}

/* As Elasticsearch's parser does, the last member of an object wins. */
static enum err order_object(struct agg_parse *p, const struct json *v, struct agg_order *o)
{
    if (v->n == 0) {
        return jr_fail(p->text, v->end - 1, p->em, "Must specify at least one field for [order]");
    }
    for (uint32_t i = 0; i < v->n; i++) {
        enum err e = order_member(p, &v->members[i], o);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err agg_orders_make(struct agg_parse *p, const struct agg_order *v, uint32_t n, struct agg_orders *out)
{
    bool keyed = false;
    for (uint32_t i = 0; i < n; i++) {
        keyed |= v[i].by == ORDER_KEY;
    }
    struct agg_order *all = ARENA_ARRAY(p->arena, struct agg_order, n + 1);
    if (all == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        all[i] = v[i];
    }
    if (!keyed) {
        all[n++] = (struct agg_order){.by = ORDER_KEY, .asc = true};
    }
    *out = (struct agg_orders){all, n};
    return ERR_OK;
}

enum err agg_orders_parse(struct agg_parse *p, const struct json *v, struct agg_orders *out)
{
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    if (n == 0) {
        return err_set(p->em, ERR_INDEX_BOUNDS, "Index 0 out of bounds for length 0");
    }
    struct agg_order *list = ARENA_ARRAY(p->arena, struct agg_order, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *o = v->type == JSON_ARRAY ? &v->items[i] : v;
        if (o->type != JSON_OBJECT) {
            bool end = i + 1 == n;
            return jr_fail(p->text, end ? v->end - 1 : v->items[i + 1].off, p->em,
                           "Unexpected token [%s] for [order]",
                           end ? "END_ARRAY" : json_token_name(&v->items[i + 1]));
        }
        enum err e = order_object(p, o, &list[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    return agg_orders_make(p, list, n, out);
}

/* ---- dates --------------------------------------------------------------------------------------------- */

enum err agg_offset_parse(const struct json *v, int64_t *out, struct errmsg *em)
{
    if (v->type == JSON_NUMBER) {
        return jr_long(v, out, em);
    }
    struct str s = json_text(v);
    bool minus = s.n > 0 && s.p[0] == '-';
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        s = str_slice(s, 1, s.n);
    }
    enum err e = fixed_interval_parse(s, "DateHistogramAggregationBuilder.parseOffset", out, em);
    *out = minus ? -*out : *out;
    return e;
}

static enum err interval_twice(struct agg_parse *p, const char *now, const struct date_histogram_params *d)
{
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Cannot use [%s] with [%s] configuration option.", now,
                   d->calendar ? "calendar_interval" : "fixed_interval");
}

enum err agg_calendar_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v)
{
    struct str s = json_text(v);
    if (!date_unit_of(s, &d->unit)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "The supplied interval [%.*s] could not be parsed as a calendar interval.",
                       STR_ARG(s));
    }
    if (d->has_interval) {
        return interval_twice(p, "calendar_interval", d);
    }
    d->has_interval = d->calendar = true;
    return ERR_OK;
}

enum err agg_fixed_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v)
{
    int64_t ms;
    enum err e = fixed_interval_parse(json_text(v), "date_histogram.fixedInterval", &ms, p->em);
    if (e != ERR_OK) {
        return e;
    }
    if (d->has_interval) {
        return interval_twice(p, "fixed_interval", d);
    }
    d->has_interval = true;
    d->fixed_ms = ms;
    return ERR_OK;
}

/* `interval` of before 7.2: a calendar unit, else a fixed length. */
enum err agg_old_interval(struct agg_parse *p, struct date_histogram_params *d, const struct json *v)
{
    if (d->has_interval) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot use [interval] with [fixed_interval] or [calendar_interval] configuration "
                       "options.");
    }
    d->has_interval = true;
    if (v->type == JSON_NUMBER) {
        return jr_long(v, &d->fixed_ms, p->em);
    }
    d->calendar = date_unit_of(json_text(v), &d->unit);
    /* a text that is neither is refused by the shards */
    d->bad_interval =
        !d->calendar && fixed_interval_parse(json_text(v), "interval", &d->fixed_ms, NULL) != ERR_OK
            ? json_text(v)
            : STR_NULL;
    return ERR_OK;
}
