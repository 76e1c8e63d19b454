/* The definition of composite: its sources, each a small definition of its own. */

#include "common/base/json_pull.h"
#include "common/base/jsonr.h"
#include "engine/aggs/composite.h"

static enum err source_order(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct composite_source *given = composite_source(a);
    struct str t = json_text(v);
    given->descending = str_eq_nocase(t, STR("desc"));
    if (!given->descending && !str_eq_nocase(t, STR("asc"))) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "No enum constant org.elasticsearch.search.sort.SortOrder.%.*s", STR_ARG(t));
    }
    return ERR_OK;
}

static enum err source_missing(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return jr_bool(v, &composite_source(a)->missing_bucket, p->em);
}

static enum err source_type(struct agg_parse *p, struct agg *a, const struct json *v)
{
    enum err e = agg_set_type(p, a, v);
    return e == ERR_ILLEGAL_ARGUMENT
               ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[userValueTypeHint] must not be null")
               : e;
}

static enum err histogram_interval(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct composite_source *given = composite_source(a);
    enum err e = jr_double(v, &given->interval, p->em);
    if (e == ERR_OK && !(given->interval > 0)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[interval] must be greater than 0 for [histogram] source");
    }
    return e;
}

static enum err tile_precision(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct composite_source *given = composite_source(a);
    enum err e = jr_int(v, &given->grid.precision, p->em);
    if (e == ERR_OK && (given->grid.precision < 0 || given->grid.precision > 29)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geotile_grid precision of %d. Must be between 0 and 29.",
                       given->grid.precision);
    }
    return e;
}

static enum err tile_bounds(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_grid_bounds(p, &composite_source(a)->grid, v);
}

static enum err date_calendar(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_calendar_interval(p, &composite_source(a)->date, v);
}

static enum err date_fixed(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_fixed_interval(p, &composite_source(a)->date, v);
}

static enum err date_interval(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_old_interval(p, &composite_source(a)->date, v);
}

static enum err date_offset(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return agg_offset_parse(v, &composite_source(a)->date.offset_ms, p->em);
}

static const struct agg_param shared_table[] = {
    {"field", TK_STRING, agg_set_field},    {"missing_bucket", TK_FLAG, source_missing},
    {"value_type", TK_STRING, source_type}, {"script", TK_SCRIPT, agg_set_script},
    {"order", TK_STRING, source_order},     {NULL, 0, NULL}};
static const struct agg_param terms_table[] = {{NULL, 0, NULL}};
static const struct agg_param histogram_table[] = {{"interval", TK_INT, histogram_interval}, {NULL, 0, NULL}};
static const struct agg_param date_table[] = {{"format", TK_STRING, agg_set_format},
                                              {"interval", TK_INT, date_interval},
                                              {"calendar_interval", TK_STRING, date_calendar},
                                              {"fixed_interval", TK_STRING, date_fixed},
                                              {"offset", TK_INT, date_offset},
                                              {"time_zone", TK_INT, agg_set_zone},
                                              {NULL, 0, NULL}};
static const struct agg_param tile_table[] = {
    {"precision", TK_INT, tile_precision}, {"bounds", TK_OBJECT, tile_bounds}, {NULL, 0, NULL}};
static const struct {
    const char *name;
    const struct agg_param *params;
} kinds[] = {[COMPOSITE_TERMS] = {"terms", terms_table},
             [COMPOSITE_HISTOGRAM] = {"histogram", histogram_table},
             [COMPOSITE_DATE] = {"date_histogram", date_table},
             [COMPOSITE_GEOTILE] = {"geotile_grid", tile_table}};

/* The token that must come here. */
static enum err expect(struct agg_parse *p, const struct json_pull *c, enum json_token want)
{
    p->at = c->off;
    return c->token == want
               ? ERR_OK
               : json_pull_err(c, p->em, ERR_PARSING,
                               "Failed to parse object: expecting token of type [%s] but found [%s]",
                               json_token_text(want), json_token_text(c->token));
}

static enum err next_is(struct agg_parse *p, struct json_pull *c, enum json_token want)
{
    json_pull_next(c);
    return expect(p, c, want);
}

static enum err source_body(struct agg_parse *p, struct composite_source *s, struct json_pull *c,
                            struct str kind)
{
    size_t k = 0;
    while (k < ARRAY_LEN(kinds) && !str_is(kind, kinds[k].name)) {
        k++;
    }
    if (k == ARRAY_LEN(kinds)) {
        return json_pull_err(c, p->em, ERR_PARSING, "invalid source type: %.*s", STR_ARG(kind));
    }
    *s = (struct composite_source){.kind = (unsigned)k, .name = s->name, .grid = {.precision = 7}};
    struct agg scratch = {.params = s};
    enum err e = agg_params(p, &scratch, c->value, kinds[k].name, kinds[k].params, shared_table);
    s->vs = scratch.vs;
    return e;
}

/* {"name":{"terms":{...}}}, with the cursor at its beginning. Whatever the two tokens behind the body of a source
 * are, they are passed over as the ends of the objects around it: what else stands there is taken for a source, or
 * for the end of the list. */
static enum err one_source(struct agg_parse *p, struct json_pull *c, struct composite_source *s)
{
    enum err e = expect(p, c, TOK_START_OBJECT);
    e = e == ERR_OK ? next_is(p, c, TOK_FIELD_NAME) : e;
    s->name = c->name;
    e = e == ERR_OK ? next_is(p, c, TOK_START_OBJECT) : e;
    e = e == ERR_OK ? next_is(p, c, TOK_FIELD_NAME) : e;
    struct str kind = c->name;
    e = e == ERR_OK ? next_is(p, c, TOK_START_OBJECT) : e;
    e = e == ERR_OK ? source_body(p, s, c, kind) : e;
    if (e == ERR_OK) {
        json_pull_skip(c);
        json_pull_next(c);
        json_pull_next(c);
    }
    return e;
}

static enum err refuse_sources(struct agg_parse *p, const char *why, struct str name)
{
    err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s%.*s%s", why, STR_ARG(name), name.n > 0 ? "]" : "");
    return err_wrap(p->em, ERR_X_CONTENT, "Failed to build [composite] after last required field arrived");
}

static enum err unique_name(struct agg_parse *p, const struct composite_source *list, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (str_eq(list[k].name, list[i].name)) {
            return refuse_sources(p, "Composite source names must be unique, found duplicates: [",
                                  list[i].name);
        }
    }
    return ERR_OK;
}

/* The list was over before its end: what follows the source is taken for aggregations. */
static enum err list_ended(struct agg_parse *p, const struct json *v, uint32_t n)
{
    size_t at = n > 0 ? v->items[n - 1].end : v->off + 1;
    const char *token = jr_next_token(p->text, &at);
    return jr_fail(p->text, at, p->em,
                   "Unexpected token %s in [aggs]: aggregations definitions must start with the name of the "
                   "aggregation.",
                   token);
}

static enum err set_sources(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct composite_params *given = composite_params(a);
    struct json_pull c;
    struct composite_source *list = ARENA_ARRAY(p->arena, struct composite_source, agg_items(v) + 1);
    if (list == NULL || !json_pull_init(&c, v, p->text, p->arena)) {
        return err_no_memory(p->em);
    }
    bool array = json_pull_next(&c) == TOK_START_ARRAY;
    given->v = list;
    while (given->n <= agg_items(v) && (array ? json_pull_until(&c, TOK_END_ARRAY) : given->n == 0)) {
        p->at = c.off;
        if (c.token != TOK_START_OBJECT && c.token != TOK_NULL && !json_token_is_value(c.token)) {
            return err_set(p->em, ERR_ILLEGAL_STATE, "expected value but got [%s]", json_token_text(c.token));
        }
        enum err e = one_source(p, &c, &list[given->n]);
        e = e == ERR_OK ? unique_name(p, list, given->n) : e;
        if (e != ERR_OK) {
            return e;
        }
        given->n++;
    }
    if (c.off != v->end - 1) {
        return array ? list_ended(p, v, given->n)
                     : err_set(p->em, ERR_ILLEGAL_STATE, "parser for [sources] did not end on END_OBJECT");
    }
    p->at = v->end - 1;
    return given->n > 0 ? ERR_OK : refuse_sources(p, "Composite [sources] cannot be null or empty", STR(""));
}

static enum err set_size(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct composite_params *given = composite_params(a);
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    given->size = e == ERR_OK ? n : given->size;
    return e;
}

static enum err set_after(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    composite_params(a)->after = v;
    return ERR_OK;
}

static const struct agg_param composite_table[] = {{"sources", TK_ARRAY | TK_OBJECT, set_sources},
                                                   {"size", TK_INT, set_size},
                                                   {"after", TK_OBJECT, set_after},
                                                   {NULL, 0, NULL}};

enum err parse_composite(struct agg_parse *p, struct agg *a, const struct json *body)
{
    struct composite_params *given = composite_params(a);
    given->size = 10;
    enum err e = agg_params(p, a, body, "composite", composite_table, NULL);
    if (e == ERR_OK && given->n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [sources]");
    }
    return e;
}
