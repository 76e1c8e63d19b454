/* The part of a search's body that shapes hits: what inner hits and top_hits take as well. */
#include "engine/query/source_int.h"

#include "common/base/jsonr.h"
#include "engine/query/highlight_spec.h"
#include "engine/query/query.h"

void search_source_init(struct search_source *s)
{
    *s = (struct search_source){.size = SIZE_DEFAULT,
                                .track_total = TRACK_TOTAL_DEFAULT,
                                .timeout_ms = -1,
                                .source = {.enabled = true}};
}

enum err source_unknown_key(const struct source_parse *p, struct str key, const struct json *v)
{
    return jr_fail(p->text, v->off, p->em, "Unknown key for a %s in [%.*s].", json_token_name(v),
                   STR_ARG(key));
}

const struct source_key *source_key_find(const struct source_key *keys, size_t n, struct str key,
                                         const struct json *v)
{
    unsigned kind = v->type == JSON_OBJECT  ? SOURCE_OBJECT
                    : v->type == JSON_ARRAY ? SOURCE_ARRAY
                    : v->type == JSON_NULL  ? 0U
                                            : SOURCE_SCALAR;
    for (size_t i = 0; i < n; i++) {
        if (str_is(key, keys[i].name) && (keys[i].takes & kind) != 0) {
            return &keys[i];
        }
    }
    return NULL;
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
    case JSON_NULL:
    case JSON_NUMBER:
        break;
    }
    return jr_fail(text, v->off, em, "Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [%s]",
                   json_token_name(v));
}

/* ---- small parts -------------------------------------------------------------------------------------------------- */

/* parser.text() of what has none */
static enum err no_text(const struct source_parse *p, const struct json *v)
{
    uint32_t line, col;
    json_place(p->text, v->off, &line, &col);
    return err_set(p->em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_name(v), line,
                   col);
}

static enum err stored_fields(const struct source_parse *p, UNUSED struct str key, const struct json *v)
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

static enum err field_and_format(const struct source_parse *p, const struct json *list, struct str key,
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

static enum err field_list(const struct source_parse *p, const struct json *v, struct str key,
                           const struct field_and_format **out, uint32_t *n)
{
    if (v->type != JSON_ARRAY) {
        return source_unknown_key(p, key, v);
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

static enum err one_script_field(const struct source_parse *p, const struct json_member *m,
                                 struct script_field *out)
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
            return source_unknown_key(p, k->key, &k->value);
        }
    }
    return ERR_OK; /* without a script it is the shards that fail */
}

static enum err script_fields(const struct source_parse *p, struct str key, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        return source_unknown_key(p, key, v);
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

/* ---- the table of keys ---------------------------------------------------------------------------------------------- */

static enum err page_bound(const struct source_parse *p, struct str key, const struct json *v)
{
    struct search_source *s = p->s;
    int32_t n = 0;
    enum err e = jr_int(v, &n, p->em);
    if (e != ERR_OK) {
        return e;
    }
    if (str_is(key, "from")) {
        s->from = n == -1 ? 0 : n;
    } else {
        s->size = n == -1 ? SIZE_DEFAULT : n;
        s->size_given = n != -1;
    }
    return ERR_OK;
}

static enum err source_hits_flag(const struct source_parse *p, struct str key, const struct json *v)
{
    struct search_source *s = p->s;
    bool *to = str_is(key, "version")        ? &s->version
               : str_is(key, "explain")      ? &s->explain
               : str_is(key, "track_scores") ? &s->track_scores
                                             : &s->seq_no_primary_term;
    return jr_bool(v, to, p->em);
}

static enum err source_patterns(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return source_filter_parse(&p->s->source, v, p->text, p->arena, p->em);
}

static enum err sort_keys(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return sort_parse(&p->s->sort, &p->s->n_sort, v, p->text, p->arena, p->em);
}

static enum err docvalue_fields(const struct source_parse *p, struct str key, const struct json *v)
{
    return field_list(p, v, key, &p->s->docvalue_fields, &p->s->n_docvalue_fields);
}

static enum err fields(const struct source_parse *p, struct str key, const struct json *v)
{
    return field_list(p, v, key, &p->s->fields, &p->s->n_fields);
}

static enum err highlight(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    p->s->highlight = v;
    return highlight_parse(&p->s->highlight_spec, v, p->text, p->arena, p->em);
}

static const struct source_key hits_keys[] = {
    {"from", SOURCE_SCALAR, page_bound},
    {"size", SOURCE_SCALAR, page_bound},
    {"version", SOURCE_SCALAR, source_hits_flag},
    {"seq_no_primary_term", SOURCE_SCALAR, source_hits_flag},
    {"explain", SOURCE_SCALAR, source_hits_flag},
    {"track_scores", SOURCE_SCALAR, source_hits_flag},
    {"_source", SOURCE_SCALAR | SOURCE_OBJECT | SOURCE_ARRAY, source_patterns},
    {"sort", SOURCE_SCALAR | SOURCE_OBJECT | SOURCE_ARRAY, sort_keys},
    {"highlight", SOURCE_OBJECT, highlight},
    {"docvalue_fields", SOURCE_ARRAY, docvalue_fields},
    {"fields", SOURCE_ARRAY, fields},
    {"stored_fields", SOURCE_SCALAR | SOURCE_ARRAY, stored_fields},
    {"script_fields", SOURCE_OBJECT, script_fields},
};

enum err source_hits_key(const struct source_parse *p, struct str key, const struct json *v)
{
    const struct source_key *row = source_key_find(hits_keys, ARRAY_LEN(hits_keys), key, v);
    return row != NULL ? row->parse(p, key, v) : source_unknown_key(p, key, v);
}

enum err search_hits_key(struct search_source *s, struct str key, const struct json *v, struct str text,
                         struct arena *arena, struct errmsg *em)
{
    struct source_parse p = {s, text, arena, em};
    return source_hits_key(&p, key, v);
}
