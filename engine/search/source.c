#include "engine/search/source_int.h"

#include "common/base/jsonr.h"
#include "common/base/settings.h"
#include "engine/aggs/aggs.h"
#include "engine/highlight/highlight.h"
#include "engine/query/query.h"
#include "engine/suggest/suggest.h"

#include <math.h>

void search_source_init(struct search_source *s)
{
    *s = (struct search_source){.size = SIZE_DEFAULT,
                                .track_total = TRACK_TOTAL_DEFAULT,
                                .timeout_ms = -1,
                                .source = {.enabled = true}};
}

enum err unknown_key(const struct parse *p, struct str key, const struct json *v)
{
    return jr_fail(p->text, v->off, p->em, "Unknown key for a %s in [%.*s].", json_token_name(v),
                   STR_ARG(key));
}

/* ---- _source ------------------------------------------------------------------------------------------------------ */

/* `key` is the list's name; a bare list, which has none, takes numbers and booleans as texts. */
static enum err pattern_list(const struct json *v, struct str key, const struct str **out, uint32_t *n,
                             struct str text, struct arena *arena, struct errmsg *em)
{
    for (uint32_t i = 0; v->type == JSON_ARRAY && i < v->n; i++) {
        const struct json *item = &v->items[i];
        bool text_like = key.p == NULL && (item->type == JSON_NUMBER || item->type == JSON_BOOL);
        if (item->type != JSON_STRING && !text_like) {
            return jr_fail(text, item->off, em, "Unknown key for a %s in [%.*s].", json_token_name(item),
                           STR_ARG(key.p != NULL ? key : STR("null")));
        }
    }
    return jr_strings(v, arena, out, n) ? ERR_OK : err_no_memory(em);
}

static enum err source_object(struct source_filter *f, const struct json *v, struct str text,
                              struct arena *arena, struct errmsg *em)
{
    for (uint32_t i = 0; i < v->n; i++) {
        struct str key = v->members[i].key;
        const struct json *val = &v->members[i].value;
        bool includes = str_is(key, "includes") || str_is(key, "include");
        bool excludes = str_is(key, "excludes") || str_is(key, "exclude");
        if ((!includes && !excludes) || (val->type != JSON_ARRAY && val->type != JSON_STRING)) {
            return jr_fail(text, val->off, em, "Unknown key for a %s in [%.*s].", json_token_name(val),
                           STR_ARG(key));
        }
        enum err e = pattern_list(val, key, includes ? &f->includes : &f->excludes,
                                  includes ? &f->n_includes : &f->n_excludes, text, arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err source_filter_parse(struct source_filter *f, const struct json *v, struct str text,
                             struct arena *arena, struct errmsg *em)
{
    *f = (struct source_filter){.given = true, .enabled = true};
    switch (v->type) {
    case JSON_BOOL:
        f->enabled = v->b;
        return ERR_OK;
    case JSON_STRING:
    case JSON_ARRAY:
        return pattern_list(v, STR_NULL, &f->includes, &f->n_includes, text, arena, em);
    case JSON_OBJECT:
        return source_object(f, v, text, arena, em);
    default:
        return jr_fail(text, v->off, em, "Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [%s]",
                       json_token_name(v));
    }
}

/* ---- small parts -------------------------------------------------------------------------------------------------- */

/* parser.text() of what has none */
static enum err no_text(const struct parse *p, const struct json *v)
{
    uint32_t line, col;
    json_place(p->text, v->off, &line, &col);
    return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_name(v), line,
                   col);
}

static enum err stored_fields(const struct parse *p, const struct json *v)
{
    struct search_source *s = p->s;
    if (v->type != JSON_STRING && v->type != JSON_ARRAY) {
        return jr_fail(p->text, v->off, p->em,
                       "Expected [VALUE_STRING] or [START_ARRAY] in [stored_fields] but found [%s]",
                       json_token_name(v));
    }
    for (uint32_t i = 0; v->type == JSON_ARRAY && i < v->n; i++) {
        if (json_text(&v->items[i]).p == NULL) {
            return no_text(p, &v->items[i]);
        }
    }
    if (!jr_strings(v, p->arena, &s->stored_fields, &s->n_stored_fields)) {
        return err_no_memory(p->em);
    }
    s->stored_fields_given = true;
    for (uint32_t i = 0; i < s->n_stored_fields; i++) {
        s->stored_none |= str_is(s->stored_fields[i], "_none_");
    }
    if (s->stored_none && s->n_stored_fields > 1) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "cannot combine _none_ with other fields");
    }
    return ERR_OK;
}

static enum err field_and_format(const struct parse *p, const struct json *list, struct str key,
                                 const struct json *v, struct field_and_format *out)
{
    static const char *const known[] = {"field", "format", "include_unmapped", NULL};
    out->field = json_text(v);
    if (out->field.p != NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        const struct json *object;
        enum err e = jr_object(p->text, "fetch_field_and_format", v, &object, p->em);
        return e != ERR_OK ? e
                           : jr_fail(p->text, list->end - 1, p->em, "Unknown key for a END_ARRAY in [%.*s].",
                                     STR_ARG(key));
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        bool field = str_is(m->key, "field"), fmt = str_is(m->key, "format");
        if ((field || fmt) && m->value.type != JSON_STRING && !(fmt && m->value.type == JSON_NULL)) {
            return jr_fail_xc(p->text, m->value.off, p->em,
                              "[fetch_field_and_format] %.*s doesn't support values of type: %s",
                              STR_ARG(m->key), json_token_name(&m->value));
        }
        if (field) {
            out->field = json_text(&m->value);
        } else if (fmt) {
            out->format = json_text(&m->value);
        } else if (str_is(m->key, "include_unmapped")) {
            enum err e = jr_bool(&m->value, &out->include_unmapped, p->em);
            if (e != ERR_OK) {
                return jr_wrap_field(p->text, m->value.off, "fetch_field_and_format", m->key, p->em);
            }
        } else {
            return jr_unknown_field(p->text, m->key_off, "fetch_field_and_format", m->key, known, p->em);
        }
    }
    if (out->field.p == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [field]");
    }
    return ERR_OK;
}

static enum err field_list(const struct parse *p, const struct json *v, struct str key,
                           const struct field_and_format **out, uint32_t *n)
{
    if (v->type != JSON_ARRAY) {
        return unknown_key(p, key, v);
    }
    struct field_and_format *list = ARENA_ARRAY(p->arena, struct field_and_format, v->n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        enum err e = field_and_format(p, v, key, &v->items[i], &list[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = list;
    *n = v->n;
    return ERR_OK;
}

static enum err one_script_field(const struct parse *p, const struct json_member *m, struct script_field *out)
{
    out->name = m->key;
    if (m->value.type != JSON_OBJECT) {
        return jr_fail(p->text, m->value.off, p->em, "Expected [START_OBJECT] in [%.*s] but found [%s]",
                       STR_ARG(m->key), json_token_name(&m->value));
    }
    for (uint32_t i = 0; i < m->value.n; i++) {
        const struct json_member *k = &m->value.members[i];
        if (str_is(k->key, "script") && k->value.type != JSON_ARRAY) {
            enum err e = ERR_OK;
            out->script = &k->value;
            if (k->value.type != JSON_STRING) {
                e = jr_object(p->text, "script", &k->value, &out->script, p->em);
            }
            e = e == ERR_OK ? script_check(out->script, p->text, p->arena, p->em) : e;
            if (e != ERR_OK) {
                return e;
            }
        } else if (str_is(k->key, "ignore_failure")) {
            enum err e = jr_bool(&k->value, &out->ignore_failure, p->em);
            if (e != ERR_OK) {
                return e;
            }
        } else {
            return unknown_key(p, k->key, &k->value);
        }
    }
    return ERR_OK; /* without a script it is the shards that fail */
}

static enum err script_fields(const struct parse *p, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return unknown_key(p, STR("script_fields"), v);
    }
    struct script_field *list = ARENA_ARRAY(p->arena, struct script_field, v->n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        enum err e = one_script_field(p, &v->members[i], &list[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    p->s->script_fields = list;
    p->s->n_script_fields = v->n;
    return ERR_OK;
}

static enum err search_after(const struct parse *p, const struct json *v)
{
    if (v->type != JSON_ARRAY) {
        return unknown_key(p, STR("search_after"), v);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->type == JSON_OBJECT || item->type == JSON_ARRAY) {
            return jr_fail(p->text, item->off, p->em,
                           "Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but "
                           "found [%s] inside "
                           "search_after.",
                           json_token_name(item));
        }
    }
    if (v->n == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Values must contains at least one value.");
    }
    p->s->search_after = v;
    return ERR_OK;
}

static enum err track_total(const struct parse *p, const struct json *v)
{
    struct search_source *s = p->s;
    bool on;
    s->track_total_given = true;
    if (v->type == JSON_BOOL || (v->type == JSON_STRING && (str_is(v->s, "true") || str_is(v->s, "false")))) {
        enum err e = jr_bool(v, &on, p->em);
        s->track_total = on ? TRACK_TOTAL_ACCURATE : TRACK_TOTAL_DISABLED;
        return e;
    }
    return jr_int(v, &s->track_total, p->em);
}

/* ---- collapse, rescore, slice, pit ---------------------------------------------------------------------------------- */

static enum err inner_hits(const struct parse *p, const struct json *v)
{
    struct collapse_spec *c = &p->s->collapse;
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        return jr_fail_xc(p->text, v->off, p->em, "[collapse] inner_hits doesn't support values of type: %s",
                          json_token_name(v));
    }
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    struct inner_hits_spec *list = ARENA_ARRAY(p->arena, struct inner_hits_spec, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e =
            inner_hits_parse(&list[i], v->type == JSON_ARRAY ? &v->items[i] : v, p->text, p->arena, p->em);
        if (e != ERR_OK) {
            return jr_wrap_field(p->text, v->off, "collapse", STR("inner_hits"), p->em);
        }
    }
    c->inner = list;
    c->n_inner = n;
    return ERR_OK;
}

static enum err collapse(const struct parse *p, const struct json *v)
{
    static const char *const known[] = {"field", "inner_hits", "max_concurrent_group_searches", NULL};
    if (v->type != JSON_OBJECT) {
        return unknown_key(p, STR("collapse"), v);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        enum err e = ERR_OK;
        if (str_is(m->key, "field")) {
            e = jr_expect(p->text, "collapse", m, JR_STRING, p->em);
            p->s->collapse.field = json_text(&m->value);
            if (e == ERR_OK && p->s->collapse.field.n == 0) {
                err_set(p->em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
                e = jr_wrap_field(p->text, m->value.off, "collapse", m->key, p->em);
            }
        } else if (str_is(m->key, "inner_hits")) {
            e = inner_hits(p, &m->value);
        } else if (str_is(m->key, "max_concurrent_group_searches")) {
            e = jr_expect(p->text, "collapse", m, JR_NUMBER | JR_STRING, p->em);
            if (e != ERR_OK) {
                return e;
            }
            e = jr_int(&m->value, &p->s->collapse.max_concurrent, p->em);
            if (e == ERR_OK && p->s->collapse.max_concurrent < 1) {
                e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "maxConcurrentGroupRequests` must be positive");
            }
            if (e != ERR_OK) {
                e = jr_wrap_field(p->text, m->value.off, "collapse", m->key, p->em);
            }
        } else {
            return jr_unknown_field(p->text, m->key_off, "collapse", m->key, known, p->em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (p->s->collapse.field.p == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [field]");
    }
    return ERR_OK;
}

/* ---- the table of keys ---------------------------------------------------------------------------------------------- */

enum {
    T_SCALAR = 1, /* any value but null */
    T_OBJECT = 2,
    T_ARRAY = 4
};

static enum err key_number(const struct parse *p, struct str key, const struct json *v)
{
    struct search_source *s = p->s;
    int32_t n = 0;
    enum err e = ERR_OK;
    if (str_is(key, "min_score")) {
        s->has_min_score = true;
        return jr_float(v, &s->min_score, p->em);
    }
    e = jr_int(v, &n, p->em);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(key, "from")) {
        s->from = n == -1 ? 0 : n;
    } else if (str_is(key, "size")) {
        s->size = n == -1 ? SIZE_DEFAULT : n;
        s->size_given = n != -1;
    } else {
        s->terminate_after = n; /* a negative one stops before the first document, as the real thing does */
    }
    return ERR_OK;
}

static enum err key_flag(const struct parse *p, struct str key, const struct json *v)
{
    struct search_source *s = p->s;
    bool *to = str_is(key, "version")        ? &s->version
               : str_is(key, "explain")      ? &s->explain
               : str_is(key, "profile")      ? &s->profile
               : str_is(key, "track_scores") ? &s->track_scores
                                             : &s->seq_no_primary_term;
    return jr_bool(v, to, p->em);
}

/* Does a key of this name stand anywhere in v? What a wrapper holds is not seen: it may. */
static bool mentions(const struct json *v, const char *name)
{
    for (uint32_t i = 0; v->type == JSON_ARRAY && i < v->n; i++) {
        if (mentions(&v->items[i], name)) {
            return true;
        }
    }
    for (uint32_t i = 0; v->type == JSON_OBJECT && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (str_is(m->key, name) || str_is(m->key, "wrapper") || mentions(&m->value, name)) {
            return true;
        }
    }
    return false;
}

static enum err key_query(const struct parse *p, struct str key, const struct json *v)
{
    p->s->names |= mentions(v, "_name");
    p->s->nested_hits |= mentions(v, "inner_hits");
    *(str_is(key, "query") ? &p->s->query : &p->s->post_filter) = v;
    return query_check(v, p->text, p->arena, p->em);
}

static enum err key_section(const struct parse *p, struct str key, const struct json *v)
{
    struct search_source *s = p->s;
    if (str_is(key, "highlight")) {
        s->highlight = v;
        return highlight_parse(&s->highlight_spec, v, p->text, p->arena, p->em);
    }
    if (str_is(key, "suggest")) {
        s->suggest = v;
        return suggest_parse(&s->suggest_spec, v, p->text, p->arena, p->em);
    }
    s->aggs = v;
    return aggs_parse(&s->agg_spec, v, p->text, p->arena, p->em);
}

static enum err key_misc(const struct parse *p, struct str key, const struct json *v)
{
    struct search_source *s = p->s;
    if (str_is(key, "timeout")) {
        return parse_time_ms(json_text(v), "timeout", &s->timeout_ms, p->em);
    }
    if (str_is(key, "track_total_hits")) {
        return track_total(p, v);
    }
    if (str_is(key, "_source")) {
        return source_filter_parse(&s->source, v, p->text, p->arena, p->em);
    }
    if (str_is(key, "sort")) {
        s->sort_given = true;
        return sort_parse(&s->sort, &s->n_sort, v, p->text, p->arena, p->em);
    }
    if (str_is(key, "stats")) {
        return jr_strings(v, p->arena, &s->stats, &s->n_stats) ? ERR_OK : err_no_memory(p->em);
    }
    if (str_is(key, "docvalue_fields")) {
        return field_list(p, v, key, &s->docvalue_fields, &s->n_docvalue_fields);
    }
    if (str_is(key, "fields")) {
        return field_list(p, v, key, &s->fields, &s->n_fields);
    }
    return err_set(p->em, ERR_INTERNAL, "key [%.*s] has no parser", STR_ARG(key));
}

static const struct key {
    const char *name;
    unsigned tokens;
    enum err (*with_key)(const struct parse *p, struct str key, const struct json *v);
    enum err (*plain)(const struct parse *p, const struct json *v);
} keys[] = {
    {"from", T_SCALAR, key_number, NULL},
    {"size", T_SCALAR, key_number, NULL},
    {"terminate_after", T_SCALAR, key_number, NULL},
    {"min_score", T_SCALAR, key_number, NULL},
    {"timeout", T_SCALAR, key_misc, NULL},
    {"version", T_SCALAR, key_flag, NULL},
    {"seq_no_primary_term", T_SCALAR, key_flag, NULL},
    {"explain", T_SCALAR, key_flag, NULL},
    {"track_scores", T_SCALAR, key_flag, NULL},
    {"profile", T_SCALAR, key_flag, NULL},
    {"track_total_hits", T_SCALAR, key_misc, NULL},
    {"_source", T_SCALAR | T_OBJECT | T_ARRAY, key_misc, NULL},
    {"sort", T_SCALAR | T_OBJECT | T_ARRAY, key_misc, NULL},
    {"query", T_OBJECT, key_query, NULL},
    {"post_filter", T_OBJECT, key_query, NULL},
    {"aggs", T_OBJECT, key_section, NULL},
    {"aggregations", T_OBJECT, key_section, NULL},
    {"highlight", T_OBJECT, key_section, NULL},
    {"suggest", T_OBJECT, key_section, NULL},
    {"indices_boost", T_OBJECT | T_ARRAY, NULL, source_indices_boost},
    {"stats", T_ARRAY, key_misc, NULL},
    {"docvalue_fields", T_ARRAY, key_misc, NULL},
    {"fields", T_ARRAY, key_misc, NULL},
    {"stored_fields", T_SCALAR | T_ARRAY, NULL, stored_fields},
    {"script_fields", T_OBJECT, NULL, script_fields},
    {"search_after", T_ARRAY, NULL, search_after},
    {"collapse", T_OBJECT, NULL, collapse},
    {"rescore", T_OBJECT | T_ARRAY, NULL, source_rescore},
    {"slice", T_OBJECT, NULL, source_slice},
    {"pit", T_OBJECT, NULL, source_point_in_time},
    {"ext", T_OBJECT, NULL, source_ext},
    {"runtime_mappings", T_OBJECT, NULL, source_runtime},
};

static unsigned token_class(const struct json *v)
{
    return v->type == JSON_OBJECT  ? T_OBJECT
           : v->type == JSON_ARRAY ? T_ARRAY
           : v->type == JSON_NULL  ? 0U
                                   : T_SCALAR;
}

static enum err parse_key(const struct parse *p, struct str key, const struct json *v)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (str_is(key, keys[i].name) && (keys[i].tokens & token_class(v)) != 0) {
            return keys[i].with_key != NULL ? keys[i].with_key(p, key, v) : keys[i].plain(p, v);
        }
    }
    return unknown_key(p, key, v);
}

enum err search_source_key(struct search_source *s, struct str key, const struct json *v, struct str text,
                           struct arena *arena, struct errmsg *em)
{
    struct parse p = {s, text, arena, em};
    return parse_key(&p, key, v);
}

enum err search_source_parse(struct search_source *s, const struct json *body, struct str text,
                             struct arena *arena, struct errmsg *em)
{
    s->text = text;
    s->body = body;
    if (body == NULL) {
        return ERR_OK;
    }
    if (body->type != JSON_OBJECT) {
        return jr_fail(text, body->off, em, "Expected [START_OBJECT] but found [%s]", json_token_name(body));
    }
    struct parse p = {s, text, arena, em};
    for (uint32_t i = 0; i < body->n; i++) {
        enum err e = parse_key(&p, body->members[i].key, &body->members[i].value);
        if (e != ERR_OK) {
            return e;
        }
    }
    s->from = s->size == 0 ? MAX_OF(s->from, (int64_t)0) : s->from; /* no page begins anywhere */
    return s->agg_spec != NULL ? aggs_check(s->agg_spec, em) : ERR_OK;
}
