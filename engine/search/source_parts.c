/* Parts of a search's body that stand beside its query: rescoring, slices, points in time, what indices count. */
#include "engine/search/source_int.h"

#include "common/base/jsonr.h"
#include "engine/query/query.h"

/* ---- rescore ------------------------------------------------------------------------------------------- */

static enum err rescore_query(const struct source_parse *p, const struct json *v, struct rescore_spec *r)
{
    static const char *const known[] = {"rescore_query", "query_weight", "rescore_query_weight", "score_mode",
                                        NULL};
    static const char *const modes[] = {"total", "multiply", "avg", "max", "min"};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool query = str_is(m->key, "rescore_query"), how = str_is(m->key, "score_mode"),
             weight = str_is(m->key, "query_weight") || str_is(m->key, "rescore_query_weight");
        enum err e = query || how || weight ? jr_expect(p->text, "query", m,
                                                        query ? JR_OBJECT
                                                        : how ? JR_STRING
                                                              : JR_STRING | JR_NUMBER,
                                                        p->em)
                                            : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
        if (query) {
            size_t at;
            r->query = &m->value;
            e = query_check(r->query, p->text, &at, p->arena, p->em);
            if (e != ERR_OK) {
                return jr_wrap_field(p->text, at, "query", m->key, p->em);
            }
        } else if (weight) {
            e = jr_double(&m->value, str_is(m->key, "query_weight") ? &r->query_weight : &r->rescore_weight,
                          p->em);
            if (e != ERR_OK) {
                return jr_wrap_field(p->text, m->value.off, "query", m->key, p->em);
            }
        } else if (str_is(m->key, "score_mode")) {
            struct str mode = json_text(&m->value);
            unsigned at = 0;
            while (at < ARRAY_LEN(modes) && !str_eq_nocase(mode, str_of(modes[at]))) {
                at++;
            }
            if (at == ARRAY_LEN(modes)) {
                err_set(p->em, ERR_ILLEGAL_ARGUMENT, "illegal score_mode [%.*s]", STR_ARG(mode));
                return jr_wrap_field(p->text, m->value.off, "query", m->key, p->em);
            }
            r->mode = at;
        } else {
            return jr_unknown_field(p->text, m->key_off, "query", m->key, known, p->em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return r->query != NULL ? ERR_OK : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "rescore_query cannot be null");
}

static enum err unknown_rescorer(const struct source_parse *p, size_t off, struct str name)
{
    uint32_t line, col;
    json_place(p->text, off, &line, &col);
    return err_set(p->em, ERR_NAMED_OBJECT, "[%u:%u] unknown field [%.*s]", line, col, STR_ARG(name));
}

static enum err one_rescore(const struct source_parse *p, const struct json *v, struct rescore_spec *r)
{
    *r = (struct rescore_spec){.window = SIZE_DEFAULT, .query_weight = 1, .rescore_weight = 1};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (m->value.type == JSON_ARRAY) {
            return jr_fail(p->text, m->value.off, p->em, "unexpected token [START_ARRAY] after [%.*s]",
                           STR_ARG(m->key));
        }
        if (str_is(m->key, "window_size")) {
            int32_t window = 0;
            enum err e = jr_int(&m->value, &window, p->em);
            if (e == ERR_OK && window < 0) {
                e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "[window_size] cannot be negative, found [%d]",
                            window);
            }
            r->window = window;
            if (e != ERR_OK) {
                return e;
            }
        } else if (str_is(m->key, "query") && m->value.type == JSON_OBJECT) {
            enum err e = rescore_query(p, &m->value, r);
            if (e != ERR_OK) {
                return e;
            }
        } else if (m->value.type == JSON_OBJECT) {
            return unknown_rescorer(p, m->value.off, m->key);
        } else {
            return jr_fail(p->text, m->value.off, p->em, "rescore doesn't support [%.*s]", STR_ARG(m->key));
        }
    }
    if (r->query == NULL) {
        return jr_fail(p->text, v->end - 1, p->em, "missing rescore type");
    }
    return ERR_OK;
}

/* An item of the list that is no object is passed over: what comes next is taken for its parameters. */
static enum err no_rescore(const struct source_parse *p, const struct json *list, uint32_t i)
{
    const struct json *in = list->items[i].type == JSON_ARRAY ? &list->items[i] : list;
    uint32_t behind = in == list ? i + 1 : 0;
    const struct json *v = behind < in->n ? &in->items[behind] : NULL;
    if (v == NULL || v->type == JSON_ARRAY || v->type == JSON_NULL) {
        return jr_fail(p->text, v != NULL ? v->off : in->end - 1, p->em, "unexpected token [%s] after [null]",
                       v != NULL ? json_token_name(v) : "END_ARRAY");
    }
    return v->type == JSON_OBJECT ? unknown_rescorer(p, v->off, STR("null"))
                                  : jr_fail(p->text, v->off, p->em, "rescore doesn't support [null]");
}

enum err source_rescore(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
        return source_unknown_key(p, STR("rescore"), v);
    }
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    struct rescore_spec *list = ARENA_ARRAY(p->arena, struct rescore_spec, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *one = v->type == JSON_ARRAY ? &v->items[i] : v;
        enum err e = one->type == JSON_OBJECT ? one_rescore(p, one, &list[i]) : no_rescore(p, v, i);
        if (e != ERR_OK) {
            return e;
        }
    }
    p->s->rescore = list;
    p->s->n_rescore = n;
    return ERR_OK;
}

/* ---- slice, pit ----------------------------------------------------------------------------------------- */

enum err source_slice(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    static const char *const known[] = {"field", "id", "max", NULL};
    int32_t id = -1, max = -1;
    if (v->type != JSON_OBJECT) {
        return source_unknown_key(p, STR("slice"), v);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool is_id = str_is(m->key, "id"), is_max = str_is(m->key, "max");
        if (!is_id && !is_max && !str_is(m->key, "field")) {
            return jr_unknown_field(p->text, m->key_off, "slice", m->key, known, p->em);
        }
        enum err e =
            jr_expect(p->text, "slice", m, is_id || is_max ? JR_NUMBER | JR_STRING : JR_STRING, p->em);
        if (e != ERR_OK) {
            return e;
        }
        e = is_id ? jr_int(&m->value, &id, p->em) : is_max ? jr_int(&m->value, &max, p->em) : ERR_OK;
        if (e == ERR_OK && is_id && id < 0) {
            e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "id must be greater than or equal to 0");
        } else if (e == ERR_OK && is_max && max <= 1) {
            e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "max must be greater than 1");
        } else if (e == ERR_OK && (is_id || is_max) && id >= 0 && max >= 0 && max <= id) {
            e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "max must be greater than id");
        }
        if (e != ERR_OK) {
            return jr_wrap_field(p->text, m->value.off, "slice", m->key, p->em);
        }
    }
    if (id < 0 || max < 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [id, max]");
    }
    p->s->slice = v;
    return ERR_OK;
}

enum err source_point_in_time(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    static const char *const known[] = {"id", "keep_alive", NULL};
    if (v->type != JSON_OBJECT) {
        return source_unknown_key(p, STR("pit"), v);
    }
    p->s->pit_keep_alive_ms = -1;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool id = str_is(m->key, "id");
        if ((id || str_is(m->key, "keep_alive")) && m->value.type != JSON_STRING) {
            return jr_fail_xc(p->text, m->value.off, p->em, "[pit] %.*s doesn't support values of type: %s",
                              STR_ARG(m->key), json_token_name(&m->value));
        }
        if (id) {
            p->s->pit_id = m->value.s;
        } else if (str_is(m->key, "keep_alive")) {
            enum err e = parse_time_ms(json_text(&m->value), "keep_alive", &p->s->pit_keep_alive_ms, p->em);
            if (e != ERR_OK) {
                return jr_wrap_field(p->text, m->value.off, "pit", m->key, p->em);
            }
        } else {
            return jr_unknown_field(p->text, m->key_off, "pit", m->key, known, p->em);
        }
    }
    return p->s->pit_id.p != NULL ? ERR_OK
                                  : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "point in time id is not provided");
}

/* ---- indices_boost -------------------------------------------------------------------------------------- */

/* One index and what it counts, as lists have them. */
static enum err one_boost(const struct source_parse *p, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return jr_fail(p->text, v->off, p->em, "Expected [START_OBJECT] in [null] but found [%s]",
                       json_token_name(v));
    }
    if (v->n == 0) {
        return jr_fail(p->text, v->end - 1, p->em,
                       "Expected [FIELD_NAME] in [indices_boost] but found [END_OBJECT]");
    }
    const struct json *value = &v->members[0].value;
    if (value->type != JSON_NUMBER) {
        return jr_fail(p->text, value->off, p->em,
                       "Expected [VALUE_NUMBER] in [indices_boost] but found [%s]", json_token_name(value));
    }
    return v->n == 1 ? ERR_OK
                     : jr_fail(p->text, v->members[1].key_off, p->em,
                               "Expected [END_OBJECT] in [indices_boost] but found [FIELD_NAME]");
}

enum err source_indices_boost(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    enum err e = ERR_OK;
    p->s->indices_boost = v;
    for (uint32_t i = 0; e == ERR_OK && v->type == JSON_ARRAY && i < v->n; i++) {
        e = one_boost(p, &v->items[i]);
    }
    for (uint32_t i = 0; e == ERR_OK && v->type == JSON_OBJECT && i < v->n; i++) {
        const struct json *value = &v->members[i].value;
        float boost;
        if (value->type != JSON_NUMBER && value->type != JSON_STRING && value->type != JSON_BOOL) {
            e = source_unknown_key(p, v->members[i].key, value);
        } else {
            e = jr_float(value, &boost, p->em);
        }
    }
    return e;
}

/* ---- what others add ------------------------------------------------------------------------------------ */

enum err source_ext(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return v->n == 0 ? ERR_OK
                     : err_set(p->em, ERR_X_CONTENT,
                               "unknown named object category [org.elasticsearch.search.SearchExtBuilder]");
}

enum err source_runtime(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return v->n == 0
               ? ERR_OK
               : jr_fail(p->text, v->off, p->em, "[runtime_mappings]: runtime fields are not supported");
}
