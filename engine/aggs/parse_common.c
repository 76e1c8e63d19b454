/* Functions shared by the parsers of aggregations: parameters by table, sources of values, orders, paths. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "engine/query/query.h"

#include <stdlib.h>

unsigned agg_token(const struct json *v)
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

void agg_param_names(const struct agg_param *table, const struct agg_param *more,
                     const char *known[AGG_NAMES_MAX])
{
    size_t n = 0;
    for (; table->name != NULL && n < AGG_NAMES_MAX - 1; table++) {
        known[n++] = table->name;
    }
    for (; more != NULL && more->name != NULL && n < AGG_NAMES_MAX - 1; more++) {
        known[n++] = more->name;
    }
    known[n] = NULL;
}

static enum err unknown_param(struct agg_parse *p, const struct json_member *m, const char *parser,
                              const struct agg_param *table, const struct agg_param *more)
{
    const char *known[AGG_NAMES_MAX];
    agg_param_names(table, more, known);
    return jr_unknown_field(p->text, m->key_off, parser, m->key, known, p->em);
}

enum err agg_params_one(struct agg_parse *p, struct agg *a, const struct json_member *m, const char *parser,
                        const struct agg_param *table, const struct agg_param *more)
{
    const struct agg_param *q = find_param(table, m->key);
    q = q != NULL ? q : find_param(more, m->key);
    if (q == NULL) {
        return unknown_param(p, m, parser, table, more);
    }
    if ((q->tokens & agg_token(&m->value)) == 0) {
        return jr_fail_xc(p->text, m->value.off, p->em, "[%s] %s doesn't support values of type: %s", parser,
                          q->name, json_token_name(&m->value));
    }
    p->at = m->value.off;
    enum err e = q->set(p, a, &m->value);
    return e == ERR_OK || e == ERR_NO_MEMORY ? e : jr_wrap_field(p->text, p->at, parser, m->key, p->em);
}

enum err agg_params(struct agg_parse *p, struct agg *a, const struct json *body, const char *parser,
                    const struct agg_param *table, const struct agg_param *more)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        e = agg_params_one(p, a, &body->members[i], parser, table, more);
    }
    return e;
}

enum err agg_item(struct agg_parse *p, const struct json *v, uint32_t i, const struct json **out)
{
    *out = v->type == JSON_ARRAY ? &v->items[i] : v;
    p->at = (*out)->off;
    return (*out)->type != JSON_ARRAY
               ? ERR_OK
               : err_set(p->em, ERR_ILLEGAL_STATE, "expected value but got [START_ARRAY]");
}

static enum err at_least(struct agg_parse *p, const struct agg *a, const char *what, int64_t min, int64_t n)
{
    if (n >= min) {
        return ERR_OK;
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[%s] must be greater than %s0. Found [%lld] in [%.*s]", what,
                   min == 0 ? "or equal to " : "", (long long)n, STR_ARG(a->name));
}

enum err agg_at_least(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                      int64_t min, int64_t *out)
{
    enum err e = jr_long(v, out, p->em);
    return e == ERR_OK ? at_least(p, a, what, min, *out) : e;
}

enum err agg_at_least_int(struct agg_parse *p, const struct agg *a, const struct json *v, const char *what,
                          int64_t min, int64_t *out)
{
    int32_t n = 0;
    enum err e = jr_int(v, &n, p->em);
    *out = n;
    return e == ERR_OK ? at_least(p, a, what, min, n) : e;
}

enum err agg_text(struct agg_parse *p, const struct json *v, struct str *out)
{
    uint32_t line, col;
    *out = json_text(v);
    p->at = v->off;
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY && v->type != JSON_NULL) {
        return ERR_OK;
    }
    json_place(p->text, v->off, &line, &col);
    return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_name(v), line,
                   col);
}

enum err agg_query(struct agg_parse *p, struct json_pull *c, const struct json **out)
{
    enum err e = query_check_at(c, out, p->arena, p->em);
    p->at = c->off;
    return e;
}

enum err agg_unknown_key(struct agg_parse *p, const struct agg *a, const struct json_member *m)
{
    return jr_fail(p->text, m->value.off, p->em, "Unknown key for a %s in [%.*s]: [%.*s].",
                   json_token_name(&m->value), STR_ARG(a->name), STR_ARG(m->key));
}

/* ---- sources --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum value_type type;
} value_types[] = {{"string", VT_STRING}, {"long", VT_LONG},     {"integer", VT_LONG},
                   {"short", VT_LONG},    {"byte", VT_LONG},     {"double", VT_DOUBLE},
                   {"float", VT_DOUBLE},  {"number", VT_DOUBLE}, {"numeric", VT_DOUBLE},
                   {"date", VT_DATE},     {"ip", VT_IP},         {"boolean", VT_BOOLEAN}};

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
    if (v->type == JSON_NUMBER) {
        int32_t hours = 0;
        enum err e = jr_int(v, &hours, p->em);
        if (e != ERR_OK) {
            return e;
        }
        id = arena_printf(p->arena, "%c%02lld:00", hours < 0 ? '-' : '+', llabs((long long)hours));
        if (id.p == NULL) {
            return err_no_memory(p->em);
        }
    }
    return zone_of(out, id, p->arena, p->em);
}

enum err agg_set_field(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->vs.field = json_text(v);
    return ERR_OK;
}

enum err agg_set_missing(struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->vs.missing = v;
    return v->type != JSON_NULL
               ? ERR_OK
               : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[missing] must not be null: [%.*s]", STR_ARG(a->name));
}

enum err agg_set_type(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return set_value_type(p, &a->vs, v);
}

enum err agg_set_format(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    a->vs.format = json_text(v);
    return ERR_OK;
}

enum err agg_script(struct agg_parse *p, const struct json *v, const struct json **out)
{
    *out = v;
    p->at = v->type == JSON_OBJECT ? v->end - 1 : v->off;
    return script_check(v, p->text, p->arena, p->em);
}

enum err agg_set_script(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_script(p, v, &a->vs.script);
}

enum err agg_set_zone(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_zone_parse(p, v, &a->vs.zone);
}

#define FIELD_PARAMS                                                             \
    {"field", TK_STRING, agg_set_field}, {"missing", TK_VALUE, agg_set_missing}, \
        {"value_type", TK_STRING, agg_set_type},                                 \
    {                                                                            \
        "valueType", TK_STRING, agg_set_type                                     \
    }
#define SCRIPT_PARAM                        \
    {                                       \
        "script", TK_SCRIPT, agg_set_script \
    }
#define FORMAT_PARAM                        \
    {                                       \
        "format", TK_STRING, agg_set_format \
    }

const struct agg_param agg_field_params[] = {FIELD_PARAMS, {NULL, 0, NULL}};

const struct agg_param agg_plain_params[] = {FIELD_PARAMS, SCRIPT_PARAM, {NULL, 0, NULL}};

const struct agg_param agg_source_params[] = {FIELD_PARAMS, FORMAT_PARAM, SCRIPT_PARAM, {NULL, 0, NULL}};

const struct agg_param agg_source_params_zone[] = {
    FIELD_PARAMS, FORMAT_PARAM, SCRIPT_PARAM, {"time_zone", TK_INT, agg_set_zone}, {NULL, 0, NULL}};

enum err agg_need_source(struct agg_parse *p, const struct source_spec *s)
{
    if (s->field.p != NULL || s->script != NULL) {
        return ERR_OK;
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                   "Required one of fields [field, script], but none were specified. ");
}

enum err agg_need_field(struct agg_parse *p, const struct source_spec *s)
{
    return s->field.p != NULL ? ERR_OK
                              : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                        "Required one of fields [field], but none were specified. ");
}

enum err agg_parse_source(struct agg_parse *p, struct agg *a, const struct json *body)
{
    enum err e = agg_params(p, a, body, a->type->name, agg_source_params, NULL);
    return e == ERR_OK ? agg_need_source(p, &a->vs) : e;
}

/* ---- paths and orders ------------------------------------------------------------------------------------ */

/* The last step may name a value: "st.max", "p[95]". */
static bool split_key(struct agg_step *s, bool last)
{
    struct str t = s->name;
    size_t open = str_rfind(t, '['), dot = last ? str_rfind(t, '.') : SIZE_MAX;
    if (open != SIZE_MAX) {
        if (open == 0 || t.n < open + 3 || t.p[t.n - 1] != ']') {
            return false;
        }
        s->name = str_slice(t, 0, open);
        s->key = str_slice(t, open + 1, t.n - 1);
        return true;
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

enum err agg_path_parse(struct agg_path *out, struct str text, struct arena *arena, struct errmsg *em)
{
    uint32_t n = 1, steps = 0;
    for (size_t i = 0; i < text.n; i++) {
        n += text.p[i] == '>';
    }
    struct agg_step *v = ARENA_ARRAY(arena, struct agg_step, n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    struct str rest = text;
    for (uint32_t i = 0; i < n; i++) { /* empty steps are passed over */
        v[steps].name = str_trim(str_cut(rest, '>', &rest));
        steps += v[steps].name.n > 0;
    }
    for (uint32_t i = 0; i < steps; i++) {
        struct str step = v[i].name;
        if (!split_key(&v[i], i + 1 == steps)) {
            return err_set(em, ERR_AGG_EXECUTION, "Invalid path element [%.*s] in path [%.*s]", STR_ARG(step),
                           STR_ARG(text));
        }
    }
    *out = (struct agg_path){text, v, steps};
    return steps > 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "Invalid path []");
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
    if (str_is(m->key, "_count")) {
        o->by = ORDER_COUNT;
        return ERR_OK;
    }
    o->by =
        str_is(m->key, "_key") || str_is(m->key, "_term") || str_is(m->key, "_time") ? ORDER_KEY : ORDER_PATH;
    return o->by == ORDER_PATH ? agg_path_parse(&o->path, m->key, p->arena, p->em) : ERR_OK;
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
            p->at = v->end - 1;
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
    uint32_t n = agg_items(v);
    if (n == 0) {
        p->at = v->end - 1;
        return err_set(p->em, ERR_INDEX_BOUNDS, "Index 0 out of bounds for length 0");
    }
    struct agg_order *list = ARENA_ARRAY(p->arena, struct agg_order, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *o;
        enum err e = agg_item(p, v, i, &o);
        if (e == ERR_OK && o->type != JSON_OBJECT) {
            size_t at = o->end;
            const char *name = jr_next_token(p->text, &at);
            e = jr_fail(p->text, at, p->em, "Unexpected token [%s] for [order]", name);
        }
        e = e == ERR_OK ? order_object(p, o, &list[i]) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return agg_orders_make(p, list, n, out);
}
