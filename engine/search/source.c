/* The body of a search: its keys, and the parts that are read here. Keys that shape hits are source_hits.c's. */
#include "engine/search/source_int.h"

#include "common/base/jsonr.h"
#include "common/base/settings.h"
#include "engine/aggs/aggs.h"
#include "engine/query/query.h"
#include "engine/search/search.h"
#include "engine/suggest/suggest.h"

static enum err search_after(const struct source_parse *p, struct str key, const struct json *v)
{
    if (v->type != JSON_ARRAY) {
        return source_unknown_key(p, key, v);
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

static enum err track_total(const struct source_parse *p, UNUSED struct str key, const struct json *v)
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

static enum err inner_hits(const struct source_parse *p, const struct json *v)
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

static enum err collapse(const struct source_parse *p, struct str key, const struct json *v)
{
    static const char *const known[] = {"field", "inner_hits", "max_concurrent_group_searches", NULL};
    if (v->type != JSON_OBJECT) {
        return source_unknown_key(p, key, v);
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

static enum err terminate_after(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    int32_t n = 0;
    enum err e = jr_int(v, &n, p->em);
    p->s->terminate_after = n; /* a negative one stops before the first document, as the real thing does */
    return e;
}

static enum err min_score(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    p->s->has_min_score = true;
    return jr_float(v, &p->s->min_score, p->em);
}

static enum err timeout(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return parse_time_ms(json_text(v), "timeout", &p->s->timeout_ms, p->em);
}

static enum err profile(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return jr_bool(v, &p->s->profile, p->em);
}

static enum err stats(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    return jr_strings(v, p->arena, &p->s->stats, &p->s->n_stats) ? ERR_OK : err_no_memory(p->em);
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

static enum err query(const struct source_parse *p, struct str key, const struct json *v)
{
    p->s->names |= mentions(v, "_name");
    p->s->nested_hits |= mentions(v, "inner_hits");
    p->s->percolates |= str_is(key, "query") && mentions(v, "percolate");
    *(str_is(key, "query") ? &p->s->query : &p->s->post_filter) = v;
    return query_check(v, p->text, NULL, p->arena, p->em);
}

static enum err suggest(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    p->s->suggest = v;
    return suggest_parse(&p->s->suggest_spec, v, p->text, p->arena, p->em);
}

static enum err aggs(const struct source_parse *p, UNUSED struct str key, const struct json *v)
{
    p->s->aggs = v;
    return aggs_parse(&p->s->agg_spec, v, p->text, p->arena, p->em);
}

static const struct source_key keys[] = {
    {"terminate_after", SOURCE_SCALAR, terminate_after},
    {"min_score", SOURCE_SCALAR, min_score},
    {"timeout", SOURCE_SCALAR, timeout},
    {"profile", SOURCE_SCALAR, profile},
    {"track_total_hits", SOURCE_SCALAR, track_total},
    {"query", SOURCE_OBJECT, query},
    {"post_filter", SOURCE_OBJECT, query},
    {"aggs", SOURCE_OBJECT, aggs},
    {"aggregations", SOURCE_OBJECT, aggs},
    {"suggest", SOURCE_OBJECT, suggest},
    {"indices_boost", SOURCE_OBJECT | SOURCE_ARRAY, source_indices_boost},
    {"stats", SOURCE_ARRAY, stats},
    {"search_after", SOURCE_ARRAY, search_after},
    {"collapse", SOURCE_OBJECT, collapse},
    {"rescore", SOURCE_OBJECT | SOURCE_ARRAY, source_rescore},
    {"slice", SOURCE_OBJECT, source_slice},
    {"pit", SOURCE_OBJECT, source_point_in_time},
    {"ext", SOURCE_OBJECT, source_ext},
    {"runtime_mappings", SOURCE_OBJECT, source_runtime},
};

static enum err parse_key(const struct source_parse *p, struct str key, const struct json *v)
{
    const struct source_key *row = source_key_find(keys, ARRAY_LEN(keys), key, v);
    return row != NULL ? row->parse(p, key, v) : source_hits_key(p, key, v);
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
    struct source_parse p = {s, text, arena, em};
    for (uint32_t i = 0; i < body->n; i++) {
        enum err e = parse_key(&p, body->members[i].key, &body->members[i].value);
        if (e != ERR_OK) {
            return e;
        }
    }
    s->from = s->size == 0 ? MAX_OF(s->from, (int64_t)0) : s->from; /* no page begins anywhere */
    return s->agg_spec != NULL ? aggs_check(s->agg_spec, em) : ERR_OK;
}
