/* The object under "inner_hits": a search body in small, read more strictly than a whole one. */
#include "common/base/json_pull.h"
#include "common/base/jsonr.h"
#include "engine/query/source.h"

#define INNER_SIZE_DEFAULT 3

enum { V_STRING = 1, V_BOOL = 2, V_NUMBER = 4, V_OBJECT = 8, V_ARRAY = 16 };

/* What each key takes. */
static const struct inner_key {
    const char *name;
    unsigned values;
} inner_keys[] = {
    {"name", V_STRING},
    {"ignore_unmapped", V_STRING | V_BOOL},
    {"from", V_STRING | V_NUMBER},
    {"size", V_STRING | V_NUMBER},
    {"explain", V_STRING | V_BOOL},
    {"version", V_STRING | V_BOOL},
    {"seq_no_primary_term", V_STRING | V_BOOL},
    {"track_scores", V_STRING | V_BOOL},
    {"stored_fields", V_STRING | V_ARRAY},
    {"docvalue_fields", V_OBJECT | V_ARRAY},
    {"fields", V_OBJECT | V_ARRAY},
    {"script_fields", V_OBJECT},
    {"sort", V_OBJECT | V_ARRAY},
    {"_source", V_OBJECT | V_ARRAY | V_BOOL | V_STRING},
    {"highlight", V_OBJECT},
    {"collapse", V_OBJECT},
};

static unsigned value_class(const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
        return V_STRING;
    case JSON_BOOL:
        return V_BOOL;
    case JSON_NUMBER:
        return V_NUMBER;
    case JSON_OBJECT:
        return V_OBJECT;
    case JSON_ARRAY:
        return V_ARRAY;
    case JSON_NULL:
        break;
    }
    return 0;
}

struct inner_parse {
    struct inner_hits_spec *spec;
    struct search_source *source;
    struct str text;
    struct arena *arena;
    struct errmsg *em;
};

/* A second level of grouping is a field and nothing else. */
static enum err inner_collapse(const struct inner_parse *p, const struct json *v)
{
    uint32_t at = v->end - 1;
    if (v->n > 0) {
        const struct json_member *m = &v->members[0];
        bool is_field = str_is(m->key, "field");
        if (is_field && m->value.type == JSON_STRING && v->n == 1) {
            p->source->collapse.field = m->value.s;
            return ERR_OK;
        }
        at = !is_field ? m->key_off : m->value.type != JSON_STRING ? m->value.off : v->members[1].key_off;
    }
    return jr_fail(p->text, at, p->em, "Invalid token in the inner collapse");
}

static enum err inner_window(const struct inner_parse *p, const char *name, const struct json *v,
                             int64_t *out)
{
    int32_t n;
    enum err e = jr_int(v, &n, p->em);
    if (e == ERR_OK && n < 0) {
        e = err_set(p->em, ERR_ILLEGAL_ARGUMENT, "illegal %s value, at least 0 or higher", name);
    }
    if (e == ERR_OK) {
        *out = n;
    }
    return e;
}

static enum err inner_value(const struct inner_parse *p, const struct json_member *m)
{
    if (str_is(m->key, "name")) {
        p->spec->name = m->value.s;
        return ERR_OK;
    }
    if (str_is(m->key, "ignore_unmapped")) {
        return jr_bool(&m->value, &p->spec->ignore_unmapped, p->em);
    }
    if (str_is(m->key, "from")) {
        return inner_window(p, "from", &m->value, &p->source->from);
    }
    if (str_is(m->key, "size")) {
        return inner_window(p, "size", &m->value, &p->source->size);
    }
    if (str_is(m->key, "collapse")) {
        return inner_collapse(p, &m->value);
    }
    bool list = str_is(m->key, "docvalue_fields") || str_is(m->key, "fields");
    const struct json *v = &m->value;
    struct json *one = NULL;
    if (list && v->type == JSON_OBJECT) { /* one stands for a list */
        one = ARENA_ARRAY(p->arena, struct json, 2);
        if (one == NULL) {
            return err_no_memory(p->em);
        }
        one[0] = one[1] = *v;
        one->type = JSON_ARRAY;
        one->n = 1;
        one->items = &one[1];
        v = one;
    }
    return search_hits_key(p->source, m->key, v, p->text, p->arena, p->em);
}

static enum err inner_member(const struct inner_parse *p, const struct json_member *m)
{
    const char *known[ARRAY_LEN(inner_keys) + 1] = {NULL};
    for (size_t i = 0; i < ARRAY_LEN(inner_keys); i++) {
        if (!str_is(m->key, inner_keys[i].name)) {
            known[i] = inner_keys[i].name;
            continue;
        }
        if ((inner_keys[i].values & value_class(&m->value)) == 0) {
            return jr_fail_xc(p->text, m->value.off, p->em,
                              "[inner_hits] %s doesn't support values of type: %s", inner_keys[i].name,
                              json_token_name(&m->value));
        }
        return inner_value(p, m) == ERR_OK
                   ? ERR_OK
                   : jr_wrap_field(p->text, m->value.off, "inner_hits", m->key, p->em);
    }
    return jr_unknown_field(p->text, m->key_off, "inner_hits", m->key, known, p->em);
}

enum err inner_hits_parse(struct inner_hits_spec *out, const struct json *v, struct str text,
                          struct arena *arena, struct errmsg *em)
{
    struct search_source *s = ARENA_NEW(arena, struct search_source);
    if (s == NULL) {
        return err_no_memory(em);
    }
    search_source_init(s);
    s->text = text;
    s->body = v;
    s->size = INNER_SIZE_DEFAULT;
    *out = (struct inner_hits_spec){.body = v, .source = s};
    if (v->type != JSON_OBJECT) {
        return jr_fail_xc(text, v->off, em, "[inner_hits] Expected START_OBJECT but was: %s",
                          json_token_name(v));
    }
    struct inner_parse p = {out, s, text, arena, em};
    for (uint32_t i = 0; i < v->n; i++) {
        out->at = v->members[i].value.off;
        enum err e = inner_member(&p, &v->members[i]);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err inner_hits_pull(struct json_pull *p, struct inner_hits_spec **out, struct arena *arena,
                         struct errmsg *em)
{
    struct inner_hits_spec *spec = *out = ARENA_NEW(arena, struct inner_hits_spec);
    if (spec == NULL) {
        return err_no_memory(em);
    }
    enum err e = inner_hits_parse(spec, p->value, p->text, arena, em);
    if (e == ERR_OK) {
        json_pull_skip(p);
        return ERR_OK;
    }
    while (p->off < spec->at && json_pull_more(p)) {
    }
    return e;
}
